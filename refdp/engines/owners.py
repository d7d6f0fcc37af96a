"""InPrivate's owners as clients of a Flower app: the miner calls round by round, messages are those of protocols/.

An owner's ClientApp lives for one call. What outlives it is in two files of its own, its journal, with the division of
its records and the rounds that were begun (`FileJournal`), and the one beside it, with the secret of its noise and the
rounds that it was drawn in, once each and for one run and one set of records. A call brings the message that the owner
is to hear, with all trees so far, and its answer is its own. The miner keeps answers in a file before it uses them
(`MinerJournal`), and goes on from there when it dies.
"""

from __future__ import annotations

import base64
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from refdp.data.records import Records
from refdp.engines.journal import ReleaseJournal
from refdp.errors import InvalidParameter, InvalidRecords, JournalError, MessageError
from refdp.papers.inprivate import Params
from refdp.privacy.curator import Curator
from refdp.privacy.sources import SampleSource
from refdp.protocols.chained import ChainedFile, Disk
from refdp.protocols.journal import FileJournal
from refdp.protocols.messages import Rules
from refdp.protocols.owners import Owner, rules_of
from refdp.protocols.rounds import Outcome, conduct


class Named(Protocol):
    """Of a run: its public name, settings and schema."""

    @property
    def name(self) -> str:
        """Public name."""

    @property
    def params(self) -> Params:
        """Settings."""

    @property
    def schema(self) -> Any:
        """Schema."""


def rules(run: Named) -> Rules:
    """What all owners know beforehand. Errors: InvalidParameter for the scheme without noise."""
    if run.params.scheme == "np":
        raise InvalidParameter("scheme 'np' adds no noise: among owners elsewhere a private scheme is needed")
    return rules_of(run.params, run.schema, run.name)


def answered(run: Named, position: int, load: Callable[[], Records], place: Path, heard: bytes, number: int) -> bytes:
    """What an owner answers in round `number` to a message, in one of its lives. place: of its journal.

    Errors: MessageError for a message that is none or a round that was begun before, JournalError for files of another
    owner, run or record set, or where the journal is gone and the secret is still there. Nothing is released then.
    """
    shared, records = rules(run), load()
    with ReleaseJournal(place.with_name(place.name + ".secret"), f"owner {position} of {run.name}") as secret:
        used = {"run": shared.run, "records": secret.keyed("records", records.x, records.y)}
        _check_same(secret, used)
        with FileJournal(place, shared.run, position, records) as journal, ExitStack() as doors:
            if secret.released and not journal.on_file:
                raise JournalError(f"{place}: it is new, and {secret.path.name} beside it has rounds that were begun: "
                                   f"the journal is lost; {_END}")  # fmt: skip
            exact = run.params.noise == "discrete"
            source = SampleSource(secret.generator(number), exact=exact, assignments=True)  # coins apart from the noise
            curator = Curator(journal.guard(source), run.params.relation)
            owner = Owner.behind(doors, shared, run.params, position, records, curator, journal)
            owner.hear(heard)
            if secret.find("round", number) is not None:
                raise MessageError(f"trees of round {number} was begun before: its budget is spent")
            secret.once(secret.released, {"round": number, **used}, lambda: np.empty(0))  # before any noise of it
            return owner.answer(number)


_END = "who lost it does not go on with this run, and another run has another name and both files anew"


def _check_same(secret: ReleaseJournal, used: Mapping[str, str]) -> None:
    """Errors: JournalError for a run or records other than those that the secret's noise was drawn for."""
    differ = [name for name, value in used.items() if any(kept.get(name) != value for kept in secret.asked())]
    if differ:
        raise JournalError(
            f"{secret.path}: its noise was drawn for another {' and another '.join(differ)}, and the same noise twice "
            "shows what differs; another run has another name and both files anew"
        )


Call = Callable[[bytes, int], bytes | None]
"""Brings an owner a message and a round's number, and gives the owner's answer or nothing."""


class MinerJournal(ChainedFile):
    """What owners answered, on the disk before the miner uses it. It holds released values only."""

    def __init__(self, path: str | Path, run: str, *, disk: Disk | None = None) -> None:
        """Create the file, or go on with it. run: its public name.

        Errors: JournalError if the file is damaged, another run's, or held by a process; OSError from the disk.
        """
        self._kept: dict[tuple[int, int], tuple[str, bytes]] = {}
        super().__init__(path, {"miner": 1, "run": run}, f"the miner of the run {run!r}", disk)

    def kept(self, position: int, call: Call) -> Call:
        """The same call of the owner at that position, not made where its answer, or that there was none, is on file.

        Errors: when called, JournalError if the answer on file was to another message, OSError from the disk.
        """

        def once(heard: bytes, number: int) -> bytes | None:
            digest = hashlib.sha256(heard).hexdigest()
            if (number, position) not in self._kept:
                found = call(heard, number) or b""
                line = {"answer": [number, position, digest, base64.b64encode(found).decode("ascii")]}
                self._append(line)
                self._note(line)
            asked, found = self._kept[number, position]
            if asked != digest:
                raise self._error(f"owner {position} was asked after other messages in round {number}")
            return found or None

        return once

    def _note(self, content: dict[str, Any]) -> None:
        if "answer" in content:
            number, position, digest, found = content["answer"]
            self._kept[number, position] = (digest, base64.b64decode(found))


@dataclass
class Afar:
    """An owner as the miner sees it. size: bytes there and back, and calls, those that a journal answers included."""

    call: Call
    size: list[int] = field(default_factory=lambda: [0, 0, 0])
    _heard: bytes = b""

    def hear(self, data: bytes) -> None:
        """Kept until the owner is called."""
        self._heard = data

    def answer(self, number: int) -> bytes:
        """The owner's message; empty, which is none, if it did not answer."""
        found = self.call(self._heard, number) or b""
        self.size = [self.size[0] + len(self._heard), self.size[1] + len(found), self.size[2] + 1]
        return found

    def judge(self, number: int) -> bytes:
        """Errors: MessageError: owners elsewhere have no quality control."""
        raise MessageError(f"round {number}: owners elsewhere check no trees")

    def measure(self, number: int) -> float:
        """Errors: MessageError: owners elsewhere have no quality control."""
        raise MessageError(f"round {number}: owners elsewhere measure nothing")


def mine(run: Named, owners: Sequence[Afar], journal: MinerJournal | None = None) -> Outcome:
    """The miner's side: Algorithm 2 along the order of owners. journal: of a miner that may die and go on.

    Errors: JournalError if the journal's answers are to other messages than this run's.
    """
    if journal is not None:
        owners = [replace(one, call=journal.kept(position, one.call)) for position, one in enumerate(owners)]
    return conduct(run.params, rules(run), owners)


def usable(load: Callable[[], Records]) -> Records | None:
    """The records, or None where they cannot be read, whatever the reason is; the log of this process alone has it.

    An error would be no answer, so that a cohort, or how many trees there are, followed from what one record is.
    """
    try:
        return load()
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return None


def unusable(who: str) -> InvalidRecords:
    """That somebody's records cannot be used, without anything of them."""
    return InvalidRecords(f"{who}: its records cannot be read, or do not fit the run's schema; its own log says why. "
                          "The run ends, since nobody is left out for what its records are")  # fmt: skip


# --- On Flower --------------------------------------------------------------------------------------------------------


def reply(run: Named, flwr: Any, message: Any, node: tuple[int, Path, Path], load: Callable[[Path], Records]) -> Any:
    """A ClientApp's reply. node: its position, data and journal.

    The first call asks for the position alone, and whether the records can be used, before anybody begins.
    """
    position, data, place = node
    asked = message.content["ask"]
    content: dict[str, int | bytes] = {"position": position}
    records = usable(lambda: load(data))
    if records is None:
        content["refused"] = 1
    elif asked["what"] == "answer":
        number = int(asked["round"])
        content["message"] = answered(run, position, lambda: records, place, bytes(asked["heard"]), number)
    return flwr.app.Message(flwr.app.RecordDict({"own": flwr.app.ConfigRecord(content)}), reply_to=message)


def afar(grid: Any, flwr: Any, nodes: Sequence[int], timeout: float = 300.0) -> list[Afar]:
    """The owners behind a grid, by position.

    Errors: InvalidParameter unless each position is there once; here or when an owner is called, InvalidRecords where
    its records cannot be used, MessageError for an answer of another form.
    """

    def send(node: int, content: dict[str, Any]) -> Any:
        record = flwr.app.RecordDict({"ask": flwr.app.ConfigRecord(content)})
        kind = flwr.app.MessageType.QUERY
        sent = flwr.app.Message(record, dst_node_id=node, message_type=kind)
        for found in grid.send_and_receive([sent], timeout=timeout):
            if not found.has_error():
                return found.content.get("own", {})
        return None

    def read(own: Any, who: str, name: str, kind: type) -> Any:
        if "refused" in own:
            raise unusable(who)
        if type(value := own.get(name)) is not kind:
            raise MessageError(f"{who}: an answer that cannot be read")
        return value

    def called(position: int, node: int) -> Call:
        def call(heard: bytes, number: int) -> bytes | None:
            own = send(node, {"what": "answer", "round": number, "heard": heard})
            return None if own is None else bytes(read(own, f"owner {position}", "message", bytes))

        return call

    places = {}
    for node in nodes:
        if (own := send(node, {"what": "who"})) is not None:
            position = own.get("position")
            who = f"owner {position}" if type(position) is int else f"the owner at node {node}"
            places[read(own, who, "position", int)] = node
    if sorted(places) != list(range(len(nodes))):
        needed = f"each of 0 to {len(nodes) - 1} is needed once, by the node configuration `owner`"
        raise InvalidParameter(f"owners {sorted(places)} are there at {len(nodes)} nodes; {needed}")
    return [Afar(called(position, places[position])) for position in range(len(nodes))]
