"""The order of training of InPrivate Digging (Algorithm 2, section VI): rounds of owners, the end, who fails.

The data miner calls each round, passes over owners that do not answer or send what cannot be read, and gets the trees.
All messages are handed over in this process; `Outcome.log` has every one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from refdp.data.records import Model
from refdp.errors import InvalidParameter, MessageError
from refdp.papers.inprivate import Params, model_of
from refdp.protocols.messages import MINER, Board, Kind, Message, Rules
from refdp.protocols.quality import Control, on_public

Fault = Literal["", "silent", "lost"]
"""What goes wrong in a turn: nothing; the owner does nothing at all; it trains, but its message never arrives."""
Faults = Callable[[int, int], Fault]
"""The fault of (round, owner)."""


class Participant(Protocol):
    """What the run asks of an owner. Every answer is bytes of a message, or a released number."""

    def hear(self, data: bytes) -> None:
        """Take in a message. Errors: MessageError."""

    def answer(self, number: int) -> bytes:
        """Train in round `number`. Errors: MessageError if it was begun before."""

    def judge(self, number: int) -> bytes:
        """At the end of a round: check its last tree."""

    def measure(self, number: int) -> float:
        """At the end of a round: by how much the error fell beyond the threshold, in total, with noise."""


@dataclass(frozen=True)
class Sent:
    """One message on its way. sender, receiver: positions, MINER for the data miner."""

    round: int
    sender: int
    receiver: int
    data: bytes


@dataclass(frozen=True)
class Outcome:
    """What a run gave.

    finished, refused: (round, owner). skipped: likewise, with the reason. advances: of each measured round, with noise
    unless on public records. log: every message.
    """

    model: Model
    finished: tuple[tuple[int, int], ...]
    skipped: dict[tuple[int, int], str]
    refused: tuple[tuple[int, int], ...]
    advances: tuple[float, ...]
    log: tuple[Sent, ...]


def no_faults(number: int, owner: int) -> Fault:
    """Everybody answers."""
    return ""


def conduct(
    params: Params,
    rules: Rules,
    owners: Sequence[Participant],
    *,
    control: Control | None = None,
    broadcast: bool = False,
    faults: Faults = no_faults,
) -> Outcome:
    """Algorithm 2, round by round, as long as the advance exceeds the threshold (section VI-B).

    broadcast: every message goes to all who still need it (section VI-C), else along the order.
    Errors: InvalidParameter unless there is one participant for each of params.owners.
    """
    if len(owners) != params.owners:
        raise InvalidParameter(f"{len(owners)} participants given, owners = {params.owners}: one each is needed")
    run = _Conduct(params, rules, owners, control, broadcast, faults)
    advances: list[float] = []
    for number in range(params.rounds):
        present = run.round(number)
        if control is not None:
            advances.append(run.advance(number, present))
            if advances[-1] <= 0:
                break
    made = [turn for turn in run.miner.turns if turn.trees]
    refused = tuple(turn.place for turn in run.miner.turns if not turn.trees)
    model = model_of(params, rules.schema, [turn.trees for turn in made])
    return Outcome(model, tuple(run.finished), run.skipped, refused, tuple(advances), tuple(run.log))


@dataclass
class _Conduct:
    """The data miner: calls rounds, passes over who does not answer, keeps what it gets."""

    params: Params
    rules: Rules
    owners: Sequence[Participant]
    control: Control | None
    broadcast: bool
    faults: Faults
    log: list[Sent] = field(default_factory=list)
    finished: list[tuple[int, int]] = field(default_factory=list)
    skipped: dict[tuple[int, int], str] = field(default_factory=dict)
    miner: Board = field(init=False)
    _mail: dict[int, list[Sent]] = field(init=False)

    def __post_init__(self) -> None:
        self.miner = Board(self.rules, complete=True)
        self._mail = {position: [] for position in range(len(self.owners))}

    def round(self, number: int) -> list[int]:
        """Alg. 2, l. 3 to 12; who answered."""
        current = self._from_miner(number, "request")
        if self.broadcast:
            self._spread(current, range(len(self.owners)))
        present = []
        for position in range(len(self.owners)):
            data = self._asked(number, position, current)
            refusal = "no answer" if data is None else self._taken(data, (number, position, "trees"))
            if data is None or refusal:
                self.skipped[number, position] = refusal
                continue
            self.finished.append((number, position))
            present.append(position)
            current = Sent(number, position, MINER, data)
            if self.broadcast:
                self._spread(current, self._needing(number, position))
        if current.sender != MINER:
            self.log.append(current)  # Alg. 2, l. 13
        return present

    def advance(self, number: int, present: list[int]) -> float:
        """End of a round: the last tree is checked; total fall of the error in the round beyond the threshold."""
        control = self.control
        assert control is not None
        if control.public is not None:
            self._check_last(number)
            before = [turn for turn in self.miner.turns if turn.round < number]
            return on_public(self.params, control.public, before, self.miner.turns, control.threshold)
        for position in present:
            self._deliver(self._from_miner(number, "end"), position)
            if position == present[0] != present[-1]:
                verdict = Sent(number, position, MINER, self.owners[position].judge(number))
                if not self._taken(verdict.data, (number, position, "verdict")):  # one that cannot be read is none
                    self.log.append(verdict)
        return sum(self.owners[position].measure(number) for position in present)

    def _check_last(self, number: int) -> None:
        """The miner's own check of a round's last tree on public records."""
        assert self.control is not None and self.control.public is not None
        made = [turn for turn in self.miner.turns if turn.round == number and turn.trees]
        if not made:
            return
        before = [turn for turn in self.miner.turns if turn.place < made[-1].place]
        change = on_public(self.params, self.control.public, before, [*before, made[-1]], -self.control.tolerance)
        if change < 0:
            self.miner.refuse(made[-1])

    def _from_miner(self, number: int, kind: Kind) -> Sent:
        """Where everybody gets all messages, the miner only says what was refused; else it sends all trees."""
        turns = tuple(turn for turn in self.miner.turns if not self.broadcast or not turn.trees)
        message = Message(self.rules.run, number, MINER, kind, tuple(sorted(self.miner.known)), turns)
        return Sent(number, MINER, MINER, message.to_bytes())

    def _asked(self, number: int, position: int, current: Sent) -> bytes | None:
        """The answer of an owner, if it comes."""
        fault = self.faults(number, position)
        if fault == "silent":
            return None
        if not self.broadcast:
            self._deliver(current, position)
        self._collect(position)
        data = self.owners[position].answer(number)
        return None if fault == "lost" else data

    def _taken(self, data: bytes, asked: tuple[int, int, Kind]) -> str:
        """Take a message in; else why not, and whoever was asked is passed over.

        asked: round, owner and kind. In another one's name it would be that one's, whose own were then a repetition.
        """
        try:
            message = self.rules.read(data)
            if (message.round, message.sender, message.kind) != asked:
                told = f"{message.kind} of owner {message.sender} in round {message.round}"
                raise MessageError(f"{told}: {asked[2]} of owner {asked[1]} in round {asked[0]} was asked for")
            self.miner.hear(data)
        except MessageError as error:
            return str(error)
        return ""

    def _needing(self, number: int, position: int) -> Iterator[int]:
        """Who gets an owner's message: the owners after it, and where something follows the round, all others."""
        last = number == self.params.rounds - 1 and (self.control is None or not self.control.private)
        return (other for other in range(len(self.owners)) if other > position or (not last and other != position))

    def _spread(self, sent: Sent, receivers: Iterable[int]) -> None:
        for receiver in receivers:
            copy = Sent(sent.round, sent.sender, receiver, sent.data)
            self.log.append(copy)
            self._mail[receiver].append(copy)

    def _deliver(self, sent: Sent, receiver: int) -> None:
        self._collect(receiver)
        self.log.append(Sent(sent.round, sent.sender, receiver, sent.data))
        self.owners[receiver].hear(sent.data)

    def _collect(self, receiver: int) -> None:
        """What was sent to an owner, also while it was away, in the order of sending."""
        for sent in self._mail[receiver]:
            self.owners[receiver].hear(sent.data)
        self._mail[receiver] = []
