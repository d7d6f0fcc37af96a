"""Participants whose records stay where they are, each adding its share of the noise before anything leaves it.

    plan = Asks.of(fedgbdt.train_on, params, schema)
    population = Federation(plan, LocalHost(participants), honest=2)
    model = fedgbdt.train_on(params, schema, population, Curator(NoiseInside(public), params.relation))

Nobody holds an exact sum. What noise belongs to which query follows from the program's text alone: it is run on sums
that are distinct tags, so that every release shows which entries of which query it is about (`Asks`). A program that
releases anything else than entries of sums, once each, is refused by name. Participants make this plan themselves: a
server can ask for no more queries, no other steps and no less noise.

Shares: each of `honest` participants adds enough that theirs together is all that the plan has; a round with fewer
answers is not summed, and stays charged. A participant answers a round once: it keeps number, digests and noisy sums in
a journal, gives the same sums for the same request again and refuses another; and it answers no round whose log has
another past than that of the rounds it answered, nor with other records, since what a record has paid follows from
both, nor under another plan, whose shares are others. A request names the server's plan by a digest, and an answer its
journal: other settings on one side, or one participant at two nodes, end the run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from refdp.data.candidates import Candidates
from refdp.data.kernels import GRID
from refdp.data.nothing import Nothing
from refdp.data.population import (
    Begin,
    Bins,
    Encode,
    Histogram,
    Pay,
    Population,
    Query,
    Refresh,
    RefreshAll,
    Root,
    Step,
    Sums,
    to_json,
    units,
    values,
)
from refdp.data.records import Schema
from refdp.data.shards import Communication, Network
from refdp.data.sparse import AnyRecords
from refdp.documents import parsed
from refdp.engines.journal import ReleaseJournal, described
from refdp.engines.log import (
    UNREADABLE,
    Asked,
    Behind,
    Enter,
    Entry,
    Leave,
    Log,
    Logged,
    Select,
    Shard,
    check_sum,
    repeats,
    total,
)
from refdp.errors import InvalidParameter, InvalidRecords, JournalError, MessageError
from refdp.noise.gridded import DiscreteGaussian, DiscreteLaplace
from refdp.privacy.curator import Array, Assigned, Curator, Request
from refdp.privacy.shares import Shares
from refdp.privacy.sources import AccountSource, Coins, sample_law

LARGEST = 2**52
"""No entry of an honest answer is as large, in units of the grid."""
WIDEST = LARGEST // 64
"""Of a plan's noise, its scale or deviation in these units: an entry beyond `LARGEST` has a chance below 2^-92."""
MOST = 2**63 // LARGEST
"""So many participants' sums have a sum that is an int64."""
HALF = 2**32
"""Nodes are kept by their quotient and rest: Flower's are unsigned numbers of 64 bits, which int64 does not hold."""
_NOBODY = bytes(16)
"""The key of coins that only participants toss."""

Train = Callable[[Any, Schema, Population, Curator], Any]


@dataclass(frozen=True, eq=False)
class Piece:
    """One release of entries of a query's sums. positions: of its entries in the flat sums, in its own shape."""

    request: Request
    positions: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Asking:
    """One query of a program. upto: how many steps come before it. told: what of the query is fixed."""

    upto: int
    kind: str
    told: str
    shape: tuple[int, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, eq=False)
class Asks:
    """What a program asks, and the noise of each query, read from its text. steps: what of every step is fixed."""

    steps: tuple[str, ...]
    asks: tuple[Asking, ...]

    @classmethod
    def of(cls, train: Train, params: Any, schema: Schema) -> Asks:
        """Errors: InvalidParameter for a program that releases anything but entries of sums with additive noise."""
        tagged = _Tagged()
        with np.errstate(all="ignore"):
            train(params, schema, tagged, Curator(tagged.source, params.relation))
        return tagged.finished()

    def digest(self, participants: int, honest: int) -> str:
        """Of the plan with its noise and shares: with another one a sum would have other noise than its sides think."""
        found = hashlib.sha256(repr((self.steps, participants, honest)).encode())
        for one in self.asks:
            found.update(repr((one.upto, one.kind, one.told, one.shape)).encode())
            for piece in one.pieces:
                request = piece.request
                told = (request.name, request.mechanism, request.sensitivity, piece.positions.shape)
                found.update(repr(told).encode() + piece.positions.astype("<i8").tobytes())
        return found.hexdigest()


def fixed(entry: Entry) -> str:
    """What of a step follows from the program's text, whatever is released: its kind, and what it may not change."""
    match entry:
        case Select(scope, Coins() as coins):
            return json.dumps(["select", scope, coins.law])
        case Select(scope, _):
            return json.dumps(["select", scope])
        case Enter(scope, block):
            return json.dumps(["enter", scope, block])
        case Leave():
            return json.dumps(["leave"])
        case Refresh() | RefreshAll():
            return json.dumps(to_json(entry))
        case Begin(contribution):
            body = to_json(entry)
            for name in getattr(contribution, "learnt", ()):
                del body["contribution"]["settings"][name]
            return json.dumps(body)
        case Root(features):
            return json.dumps(["root", len(features), len(set(features))])
    return json.dumps([type(entry).__name__.lower()])


def fixed_query(query: Query, candidates: Candidates | None, features: Sequence[int]) -> str:
    """What of a query follows from the program's text: all but how it splits, and in how many bins it sums up.

    candidates: those that are used. features: of the present tree. Shifted bins would let a record count twice in one
    release.
    """
    body = to_json(query)
    body.pop("splits", None)
    own = body.pop("features", features) if isinstance(query, Bins | Histogram) else ()
    bins = [] if candidates is None else [int(candidates.bins[f]) for f in own]
    return json.dumps([body, bins, len(set(own))], sort_keys=True)


class _Tagged(Nothing):
    """No records, and sums that are distinct tags."""

    def __init__(self) -> None:
        super().__init__()
        self._steps: list[str] = []
        self._asks: list[Asking] = []
        self._pieces: list[Piece] = []
        self._first, self._next = 0, 1
        self.source = _TagSource(self)

    def tell(self, step: Step) -> None:
        if not repeats(step, self._candidates):
            self._steps.append(fixed(step))
        super().tell(step)

    def select(self, scope: int, draw: Callable[[int], Assigned]) -> None:
        self._steps.append(fixed(Select(scope, draw(0))))

    def enter(self, scope: int, block: int) -> None:
        self._steps.append(fixed(Enter(scope, block)))

    def leave(self) -> None:
        self._steps.append(fixed(Leave()))

    def ask(self, query: Query) -> Sums:
        check_sum(query)
        self._close()
        shape = self._shape(query)
        count = int(np.prod(shape))
        self._first, self._next = self._next, self._next + count
        told = fixed_query(query, self._candidates, self._features)
        self._asks.append(Asking(len(self._steps), type(query).__name__.lower(), told, shape, ()))
        return np.arange(self._first, self._next, dtype=np.int64).reshape(shape)

    def released(self, request: Request) -> None:
        assert request.value is not None
        tags = np.asarray(request.value) / GRID
        place = np.rint(tags) - self._first
        count = self._next - self._first
        if not self._asks or not (tags == np.rint(tags)).all() or place.min() < 0 or place.max() >= count:
            raise InvalidParameter(
                f"{request.name}: a function of exact sums is released; where participants add noise nobody has them"
            )
        if not isinstance(request.mechanism, DiscreteGaussian | DiscreteLaplace):
            raise InvalidParameter(f"{request.name}: {type(request.mechanism).__name__}: participants add discrete "
                                   "Laplace or Gaussian noise to sums")  # fmt: skip
        noise, step = request.mechanism, request.mechanism.step
        width = noise.scale if isinstance(noise, DiscreteLaplace) else float(np.max(noise.sd))
        if step % GRID:
            raise InvalidParameter(f"{request.name}: noise in steps of {step}, those of sums are {GRID}")
        if width > WIDEST * GRID:
            raise InvalidParameter(f"{request.name}: noise of {width:.3g}: up to {WIDEST * GRID:.3g} is allowed, which "
                                   "messages can hold; it follows from epsilon and delta")  # fmt: skip
        self._pieces.append(Piece(replace(request, value=None), place.astype(np.intp)))

    def _close(self) -> None:
        """The query before is over: every entry of it is released, once."""
        if self._asks:
            last = self._asks[-1]
            used = np.concatenate([piece.positions.ravel() for piece in self._pieces] or [np.empty(0, dtype=np.intp)])
            if not np.array_equal(np.sort(used), np.arange(self._next - self._first)):
                raise InvalidParameter(f"the {last.kind} before step {last.upto}: not every entry is released once, so "
                                       "that exact sums would be needed")  # fmt: skip
            self._asks[-1] = replace(last, pieces=tuple(self._pieces))
        self._pieces = []

    def finished(self) -> Asks:
        self._close()
        return Asks(tuple(self._steps), tuple(self._asks))


class _TagSource(AccountSource):
    def __init__(self, tagged: _Tagged) -> None:
        self._tagged = tagged

    def release(self, request: Request) -> Array:
        self._tagged.released(request)
        return super().release(request)

    def assign(self, request: Request) -> Any:
        return Coins(_NOBODY, request.law, 0)


# --- A participant ----------------------------------------------------------------------------------------------------


class Participant:
    """One who has records and answers rounds. The journal holds its secret; nothing of it leaves but noisy sums.

    participants, honest: as in the plan of the run, public. load: gives the records, the same ones every time.
    """

    def __init__(
        self, plan: Asks, journal: ReleaseJournal, load: Callable[[], AnyRecords], participants: int, honest: int
    ) -> None:
        if not 1 <= honest <= participants:
            raise InvalidParameter(f"honest = {honest}: 1 to {participants}, the number of participants, is allowed")
        self._plan, self._journal, self._load = plan, journal, load
        self._network = Network(participants)
        self._network.present[1:] = False
        self._honest = honest
        self._log, self._shard = Log(), Shard(load, 0)
        self._digest, self._told = plan.digest(participants, honest), ""

    @property
    def identity(self) -> str:
        """Public name of its journal: who answers under two names would be summed twice, with one noise."""
        return self._journal.identity

    def answer(self, text: str) -> Sums | int:
        """The noisy sums of a round, or how much of the log is known here. text: `Federation` writes it.

        Errors: MessageError or InvalidParameter for a request that is not the next one of the plan or not as planned,
        JournalError for another request under a number that was answered. Nothing is answered then.

        Of the query's shape.
        """
        try:
            body = parsed(text)
        except UNREADABLE:
            body = None
        if not isinstance(body, dict) or set(body) - {"plan"} != {"round", "asked"} or type(body["round"]) is not int:
            raise InvalidParameter("a round's number and its query are needed")
        if body.get("plan", self._digest) != self._digest:
            raise MessageError(
                "another plan than the one here: settings, schema, participants and honest are to be those of the "
                "server's run.json, or the sum has other noise than is thought"
            )
        number, asked = body["round"], Asked.from_json(body["asked"])
        if not 0 <= number < len(self._plan.asks):
            raise MessageError(f"round {number}: the plan has rounds 0 to {len(self._plan.asks) - 1}")
        planned = self._plan.asks[number]
        upto = asked.first + len(asked.entries)
        steps = tuple(fixed(entry) for entry in asked.entries)
        kind = type(asked.query).__name__.lower()
        if upto != planned.upto or kind != planned.kind or steps != self._plan.steps[asked.first : upto]:
            raise MessageError(f"round {number}: other steps or another query than the plan has")
        known = len(self._log)
        try:
            log = self._log.follow(asked)
        except Behind as behind:
            return behind.known
        try:
            self._as_before(number)
        except MessageError:
            self._log.forget(known)
            raise
        self._as_planned(number, planned, log, asked.query)
        what = {"round": number, "plan": self._digest, "log": asked.digest,
                "query": json.dumps(to_json(asked.query)), "records": self._records()}  # fmt: skip
        kept = self._journal.find("round", number)
        place = self._journal.released if kept is None else kept
        return np.asarray(self._journal.once(place, what, lambda: self._noisy(number, planned, log, asked.query)))

    def _records(self) -> str:
        """A digest of the records, with the journal's secret."""
        if not self._told:
            records = self._load()
            x = records.x
            arrays = [x] if isinstance(x, np.ndarray) else [x.starts, x.row, x.value, x.absent]
            self._told = self._journal.keyed("records", *arrays, records.y)
        return self._told

    def _as_before(self, number: int) -> None:
        """Errors: MessageError for another past or plan than that of the rounds that were answered, in whatever life.

        What a record has paid is worked out from the log anew, so that a past that changes would let it pay nothing.
        Sums that are on file have the shares of their plan: under one with fewer honest ones these are too small.
        """
        answered = self._journal.asked()
        if any(kept.get("plan") != self._digest for kept in answered):
            raise MessageError(
                f"round {number}: another plan than that of the rounds that were answered here; a run ends with the "
                "settings, participants and honest with which it began, and others are a run of another name"
            )
        later = [kept["round"] for kept in answered if kept["round"] > number]
        if later and all(kept["round"] != number for kept in answered):
            raise MessageError(f"round {number}: round {later[0]} was answered, and none before it is from then on")
        if any(kept.get("records", self._records()) != self._records() for kept in answered):
            raise MessageError("other records than those of the rounds that were answered here")
        for kept in answered:
            place = self._plan.asks[kept["round"]].upto
            if place < len(self._log.digests) and self._log.digests[place] != kept["log"]:
                raise MessageError(
                    f"round {number}: another log than that of round {kept['round']}, which was answered"
                )

    def _as_planned(self, number: int, planned: Asking, log: Sequence[Entry], query: Query) -> None:
        """Errors: MessageError for other statistics, bounds or bins than the plan's: its noise is not made for them."""
        candidates = next((entry.candidates for entry in reversed(log) if isinstance(entry, Encode)), None)
        features = next((entry.features for entry in reversed(log) if isinstance(entry, Root)), ())
        try:
            told = fixed_query(query, candidates, features)
        except (IndexError, TypeError):
            told = ""
        if told != planned.told:
            raise MessageError(
                f"round {number}: a {planned.kind} of other statistics, bounds or bins than the plan has"
            )

    def _noisy(self, number: int, planned: Asking, log: Sequence[Entry], query: Query) -> Sums:
        sums = self._shard.answer([self._own(p, entry, number) for p, entry in enumerate(log)], query)
        if sums.shape != planned.shape:
            raise MessageError(f"round {number}: sums of shape {sums.shape}, the plan has {planned.shape}")
        generator = self._journal.generator(number)
        count = self._network.participants
        shares = Shares(self._network, self._honest, generator, [generator] * count)
        flat, noisy = values(sums).ravel(), np.empty(sums.size, dtype=np.int64)
        for piece in planned.pieces:
            released = shares.release(replace(piece.request, value=flat[piece.positions]))
            noisy[piece.positions] = units(released)
        return noisy.reshape(sums.shape)

    def _own(self, place: int, entry: Entry, number: int) -> Entry:
        """Secret coins are one's own; a charge of a round that was missed is no charge."""
        if isinstance(entry, Select) and isinstance(entry.assigned, Coins):
            request = Request("assign", ("coins",), law=entry.assigned.law, size=self._load().size, serial=entry.scope)
            return Select(entry.scope, self._journal.coins(request))
        if isinstance(entry, Pay):
            mine = next(k for k, asking in enumerate(self._plan.asks) if asking.upto > place)
            if mine != number and self._journal.find("round", mine) is None:
                return Refresh(_named(self._plan.steps[:place]))
        return entry


def _named(steps: Sequence[str]) -> tuple[str, ...]:
    """The statistics that the last refresh named."""
    last = next(body for step in reversed(steps) if isinstance(body := json.loads(step), dict) and "of" in body)
    return tuple(last["of"])


# --- The server -------------------------------------------------------------------------------------------------------


class Host(Protocol):
    """How participants are reached."""

    def nodes(self) -> Sequence[int]:
        """Who takes part."""

    def send(self, texts: Mapping[int, str]) -> dict[int, Any]:
        """A request to each; the answers of those that answered, sums or how much of the log is known."""


class Known:
    """Whose journal answers at each node: one participant at two nodes is in a sum twice and has one share of noise."""

    def __init__(self) -> None:
        self._node: dict[str, int] = {}
        self._who: dict[int, str] = {}

    def check(self, node: int, who: object) -> None:
        """Errors: MessageError for no journal's name, one that answered elsewhere, or another one than before."""
        if not isinstance(who, str):
            raise MessageError(f"participant {node}: an answer that does not name the journal that it is from")
        if self._node.setdefault(who, node) != node:
            raise MessageError(f"participant {node}: it answers from the journal of participant {self._node[who]}; "
                               "each is needed once, with a journal of its own")  # fmt: skip
        if self._who.setdefault(node, who) != who:
            raise MessageError(f"participant {node}: another journal than before; who lost it is not to go on")


@dataclass
class LocalHost:
    """Participants in this process. absent: whether a node misses a round, counted from 0; of tests."""

    participants: Sequence[Participant]
    absent: Callable[[int, int], bool] = lambda node, number: False

    def __post_init__(self) -> None:
        """Errors: MessageError for a participant that is there twice."""
        known = Known()
        for node, one in enumerate(self.participants):
            known.check(node, one.identity)

    def nodes(self) -> Sequence[int]:
        """Everybody: numbers 0, 1, ...."""
        return range(len(self.participants))

    def send(self, texts: Mapping[int, str]) -> dict[int, Any]:
        """A request to each; the answers of those that do not miss the round."""
        return {
            node: self.participants[node].answer(text)
            for node, text in texts.items()
            if not self.absent(node, json.loads(text)["round"])
        }


def check_participants(count: int) -> None:
    """Errors: InvalidParameter for more than `MOST`."""
    if count > MOST:
        raise InvalidParameter(f"{count} participants: up to {MOST} are allowed, whose sums have a sum of 64 bits")


class Federation(Logged):
    """A `Population` of participants, whose sums have their noise inside. honest: how many answers a round needs.

    journal: of the server. Every round's sums and who is in them are on its disk before they are used, so that a later
    life goes on where this one ends, with the same cohorts.
    """

    def __init__(self, plan: Asks, host: Host, honest: int, journal: ReleaseJournal | None = None) -> None:
        super().__init__()
        self._plan, self._host, self._honest, self._journal = plan, host, honest, journal
        self._known = dict.fromkeys(host.nodes(), 0)
        self._digest = plan.digest(len(self._known), honest)
        self._round = 0
        self.traffic = Communication()
        self.answered: list[tuple[int, ...]] = []
        check_participants(len(self._known))
        if not 1 <= honest <= len(self._known):
            raise InvalidParameter(f"honest = {honest}: 1 to {len(self._known)}, the participants, is allowed")

    @property
    def size(self) -> int:
        """Nobody here knows how many records there are."""
        return 0

    def _sums(self, query: Query) -> Sums:
        number, self._round = self._round, self._round + 1
        if self._journal is None:
            return self._collected(number, query)[1]

        def made() -> Array:
            cohort, sums = self._collected(number, query)
            halves = [half for node in cohort for half in divmod(node, HALF)]
            return np.concatenate([np.array([len(cohort), *halves], dtype=np.int64), sums.ravel()])

        asked = {"round": number, "plan": self._digest, "log": self.log.digests[-1],
                 "query": json.dumps(to_json(query))}  # fmt: skip
        kept = self._journal.find("round", number)
        flat = self._journal.once(self._journal.released if kept is None else kept, asked, made)
        shape = self._plan.asks[number].shape
        end = 1 + 2 * int(flat[0])
        if flat.dtype != np.int64 or flat.size != end + np.prod(shape, dtype=np.int64):
            raise JournalError(f"round {number}: the journal has sums in another form, of another version of refdp")
        if kept is not None:
            halves = flat[1:end].tolist()
            self.answered.append(tuple(high * HALF + low for high, low in zip(halves[::2], halves[1::2], strict=True)))
        return np.asarray(flat[end:].reshape(shape))

    def _collected(self, number: int, query: Query) -> tuple[tuple[int, ...], Sums]:
        """Who answered, and their sum. Errors: InvalidRecords for too few, MessageError for what nobody should send."""
        answers: dict[int, Sums] = {}
        waiting = list(self._known)
        for _ in range(2):  # who is behind is asked once more, with what is missing
            found = self._host.send({node: self._text(node, number, query) for node in waiting})
            waiting = []
            for node, answer in found.items():
                if isinstance(answer, int):
                    self._known[node] = min(max(answer, 0), len(self.log))
                    waiting.append(node)
                else:
                    answers[node] = self._checked(node, number, answer)
                    self._known[node] = len(self.log)
            if not waiting:
                break
        self.answered.append(tuple(sorted(answers)))
        if len(answers) < self._honest:
            raise InvalidRecords(
                f"round {number}: {len(answers)} of {len(self._known)} participants answered, {self._honest} are "
                "needed for enough noise; the round is charged"
            )
        self.traffic.rounds += 1
        self.traffic.sent += sum(one.nbytes for one in answers.values())
        return self.answered[-1], total(answers[node] for node in sorted(answers))

    def _text(self, node: int, number: int, query: Query) -> str:
        asked = self.log.since(self._known[node], query).to_json()
        text = json.dumps({"round": number, "plan": self._digest, "asked": asked})
        self.traffic.received += len(text)
        return text

    def _checked(self, node: int, number: int, answer: Any) -> Sums:
        """Errors: MessageError for sums that no honest participant sends."""
        shape = self._plan.asks[number].shape
        if not isinstance(answer, np.ndarray) or answer.dtype != np.int64 or answer.shape != shape:
            raise MessageError(f"participant {node} in round {number}: int64 sums of shape {shape} are needed")
        if ((answer >= LARGEST) | (answer <= -LARGEST)).any():  # the least int64 has no absolute value
            raise MessageError(f"participant {node} in round {number}: a sum beyond every bound")
        return answer


@dataclass
class NoiseInside:
    """The source of a server to whom sums come with their noise. public: for published draws.

    journal: of the server; draws are then its own, and the same in every life.
    """

    public: np.random.Generator
    requests: list[str] = field(default_factory=list)
    journal: ReleaseJournal | None = None
    _draws: int = 0

    def release(self, request: Request) -> Array:
        """The value as it is, on the grid of its noise. Of the value's shape."""
        assert request.value is not None
        self.requests.append(request.name)
        return np.asarray(request.value)

    def draw(self, request: Request) -> Array:
        """Public randomness of the server. Of the request's shape."""
        if self.journal is None:
            return sample_law(self.public, request.law, request.size)
        journal, number, self._draws = self.journal, self._draws, self._draws + 1
        kept = journal.find("draw", number)
        place = journal.released if kept is None else kept
        asked = {"draw": number, "query": described(request)}
        return journal.once(place, asked, lambda: sample_law(journal.generator(place), request.law, request.size))

    def assign(self, request: Request) -> Coins:
        """Coins that only participants toss."""
        return Coins(_NOBODY, request.law, 0)
