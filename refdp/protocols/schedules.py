"""How long a run of InPrivate Digging takes by either schedule (section VI-C): a deterministic simulation of events.

Each owner works on one thing at a time: it evaluates trees in the order in which they reach it, c1 each, and trains
when it is called and has evaluated all, c2. Along the order (baseline) the call brings all trees; where everybody gets
every tree at once (the speed-up), waiting owners have evaluated most of them by then.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from refdp.checks import check_number
from refdp.data.numbers import Number, maximum
from refdp.protocols.rounds import Outcome

Place = tuple[int, int]


# --- Formulas, generic over numbers -----------------------------------------------------------------------------------


def baseline_time(owners: Number, residual_time: Number, tree_time: Number) -> Number:
    """c(n) = (n^2 - n)/2 c1 + n c2   (Zhao et al. 2018, Eq. 18). The n-th owner waits c(n - 1)."""
    return (owners * owners - owners) / 2 * residual_time + owners * tree_time


def broadcast_time(owners: Number, residual_time: Number, tree_time: Number) -> Number:
    """c(n) = (n - 1) c1 + n c2   (Zhao et al. 2018, Eq. 19). The n-th owner waits c(n - 1)."""
    return (owners - 1) * residual_time + owners * tree_time


def baseline_messages(owners: Number) -> Number:
    """n - 1: every owner but the last sends once, owner i all i trees so far."""
    return owners - 1


def broadcast_messages(owners: Number) -> Number:
    """n (n - 1) / 2: owner i sends one tree to each of the n - i owners after it   (section VI-C)."""
    return owners * (owners - 1) / 2


def finish_times(owners: int, residual_time: Number, tree_time: Number, *, broadcast: bool) -> list[Number]:
    """When each owner has its tree, step by step; an owner works on one thing at a time and starts when it can.

    broadcast: every tree goes to all later owners at once; else owner i gets i - 1 trees when owner i - 1 is done.
    """
    finished: list[Number] = []
    for owner in range(owners):
        free = 0 * tree_time  # when this owner can take up the next tree's residuals
        for tree in range(owner):
            arrival = finished[tree] if broadcast else finished[-1]
            free = maximum(free, arrival) + residual_time
        finished.append(free + tree_time)
    return finished


# --- Simulation -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times:
    """Seconds. residual: c1, evaluating one tree. tree: c2, training one. latency: of a message. timeout: until an
    owner that does not answer is passed over."""

    residual: float
    tree: float
    latency: float = 0.0
    timeout: float = 0.0

    def __post_init__(self) -> None:
        for name in ("residual", "tree", "latency", "timeout"):
            check_number(name, getattr(self, name), least=0)


@dataclass(frozen=True)
class Timeline:
    """called: when each turn's owner was called, which is its waiting time in the first round. finished: when its tree
    was there. total: the end of the last turn."""

    called: dict[Place, float]
    finished: dict[Place, float]
    total: float


def turns_of(outcome: Outcome) -> list[tuple[Place, bool]]:
    """Every turn of a run in order, and whether its owner answered."""
    places = sorted([*outcome.finished, *outcome.skipped])
    return [(place, place in set(outcome.finished)) for place in places]


def simulate(turns: Sequence[tuple[Place, bool]], times: Times, *, broadcast: bool) -> Timeline:
    """The events of these turns, (round, owner) in training order, each with whether the owner answers."""
    run = _Simulation(turns, times, broadcast)
    run.at(0.0, "call", 0)
    run.go()
    return Timeline(run.called, run.finished, run.now)


@dataclass
class _Owner:
    """waiting: trees that arrived and are not evaluated yet. seen: all that ever arrived. turn: what it is to train."""

    waiting: list[Place] = field(default_factory=list)
    seen: set[Place] = field(default_factory=set)
    turn: int | None = None
    busy: bool = False


@dataclass
class _Simulation:
    turns: Sequence[tuple[Place, bool]]
    times: Times
    broadcast: bool
    now: float = 0.0
    called: dict[Place, float] = field(default_factory=dict)
    finished: dict[Place, float] = field(default_factory=dict)
    _owners: dict[int, _Owner] = field(init=False)
    _events: list[tuple[float, int, str, int, tuple[Place, ...]]] = field(default_factory=list)
    _serial: count[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self._owners = {place[1]: _Owner() for place, _ in self.turns}

    def at(self, time: float, what: str, who: int, trees: tuple[Place, ...] = ()) -> None:
        """Let something happen. who: a turn for a call, else an owner. Equal times keep the order of asking."""
        heapq.heappush(self._events, (time, next(self._serial), what, who, trees))

    def go(self) -> None:
        """All events in the order of time."""
        while self._events:
            time, _, what, who, trees = heapq.heappop(self._events)
            if what == "call":
                self._call(time, who)
            else:
                owner = self._owners[who]
                owner.busy = owner.busy and what == "trees"
                new = [tree for tree in trees if tree not in owner.seen]
                owner.waiting += new
                owner.seen |= set(new)
                self._work(time, who)

    def _call(self, time: float, turn: int) -> None:
        place, answers = self.turns[turn]
        self.called[place] = time
        if not answers:
            self.now = time + self.times.timeout
            self._call_next(self.now, turn)
            return
        self._owners[place[1]].turn = turn
        self._work(time, place[1])

    def _work(self, time: float, who: int) -> None:
        """The next thing that an idle owner does."""
        owner = self._owners[who]
        if owner.busy:
            return
        if owner.waiting:
            owner.waiting.pop(0)
            owner.busy = True
            self.at(time + self.times.residual, "idle", who)
        elif owner.turn is not None:
            self._train(time, owner.turn)
            owner.turn = None

    def _train(self, time: float, turn: int) -> None:
        place = self.turns[turn][0]
        done = time + self.times.tree
        self.finished[place], self.now = done, done
        self._owners[place[1]].busy = True
        self.at(done, "idle", place[1], (place,))  # its own tree too, for later rounds
        if self.broadcast:
            for other in self._owners:
                if other != place[1]:
                    self.at(done + self.times.latency, "trees", other, (place,))
        self._call_next(done + self.times.latency, turn)

    def _call_next(self, time: float, turn: int) -> None:
        if turn + 1 < len(self.turns):
            if not self.broadcast:
                self.at(time, "trees", self.turns[turn + 1][0][1], tuple(sorted(self.finished)))
            self.at(time, "call", turn + 1)
