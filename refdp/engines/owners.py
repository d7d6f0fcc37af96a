"""InPrivate's owners as clients of a Flower app: the miner calls round by round, messages are those of protocols/.

An owner's ClientApp lives for one call. What outlives it is in its own files beside its journal: the division of its
records and the rounds that were begun (`FileJournal`), and the secret of its noise, a function of which is drawn in
each round once. A call brings the message that the owner is to hear, with all trees so far, and its answer is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from refdp.data.records import Records
from refdp.engines.journal import ReleaseJournal
from refdp.errors import InvalidParameter, MessageError
from refdp.papers.inprivate import Params
from refdp.privacy.curator import Curator
from refdp.privacy.sources import SampleSource
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
    owner, run or record set. Nothing is released then.
    """
    shared, records = rules(run), load()
    secret = ReleaseJournal(place.with_name(place.name + ".secret"), f"owner {position} of {run.name}")
    with secret, FileJournal(place, shared.run, position, records) as journal, ExitStack() as doors:
        exact = run.params.noise == "discrete"
        source = SampleSource(secret.generator(number), exact=exact, assignments=True)  # coins apart from the noise
        curator = Curator(journal.guard(source), run.params.relation)
        owner = Owner.behind(doors, shared, run.params, position, records, curator, journal)
        owner.hear(heard)
        return owner.answer(number)


@dataclass
class Afar:
    """An owner as the miner sees it. call: brings a message and a round's number, and gives the answer or nothing.

    size: bytes there and back, and calls.
    """

    call: Callable[[bytes, int], bytes | None]
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


def mine(run: Named, owners: Sequence[Afar]) -> Outcome:
    """The miner's side: Algorithm 2 along the order of owners."""
    return conduct(run.params, rules(run), owners)


# --- On Flower --------------------------------------------------------------------------------------------------------


def reply(run: Named, flwr: Any, message: Any, node: tuple[int, Path, Path], load: Callable[[Path], Records]) -> Any:
    """A ClientApp's reply. node: its position, data and journal. The first call asks for the position alone."""
    position, data, place = node
    asked = message.content["ask"]
    content: dict[str, int | bytes] = {"position": position}
    if asked["what"] == "answer":
        number = int(asked["round"])
        content["message"] = answered(run, position, lambda: load(data), place, bytes(asked["heard"]), number)
    return flwr.app.Message(flwr.app.RecordDict({"own": flwr.app.ConfigRecord(content)}), reply_to=message)


def afar(grid: Any, flwr: Any, nodes: Sequence[int], timeout: float = 300.0) -> list[Afar]:
    """The owners behind a grid, by position. Errors: InvalidParameter unless each position is there once."""

    def send(node: int, content: dict[str, Any]) -> Any:
        record = flwr.app.RecordDict({"ask": flwr.app.ConfigRecord(content)})
        kind = flwr.app.MessageType.QUERY
        sent = flwr.app.Message(record, dst_node_id=node, message_type=kind)
        for found in grid.send_and_receive([sent], timeout=timeout):
            if not found.has_error():
                return found.content["own"]
        return None

    def called(node: int) -> Callable[[bytes, int], bytes | None]:
        def call(heard: bytes, number: int) -> bytes | None:
            own = send(node, {"what": "answer", "round": number, "heard": heard})
            return None if own is None else bytes(own["message"])

        return call

    there = {node: send(node, {"what": "who"}) for node in nodes}
    places = {int(own["position"]): node for node, own in there.items() if own is not None}
    if sorted(places) != list(range(len(nodes))):
        needed = f"each of 0 to {len(nodes) - 1} is needed once, by the node configuration `owner`"
        raise InvalidParameter(f"owners {sorted(places)} are there at {len(nodes)} nodes; {needed}")
    return [Afar(called(places[position])) for position in range(len(nodes))]
