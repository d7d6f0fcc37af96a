"""Shards in this process behind everything that can go wrong on a network: what the seam has to stand, without one.

    model = train_on(params, schema, Chaos(parts, seed=3), curator)     # the model of one place, byte for byte

By a seed requests and answers are lost, repeated, put in another order and delivered late; shards are killed half-way,
loaded again and moved. Messages travel as JSON text. For tests: there is no protection in it, and no speed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from refdp.data.population import Query, Sums
from refdp.data.sparse import AnyRecords
from refdp.engines.log import Asked, Behind, Log, Logged, Shard, total

FAULTS = ("request lost", "answer lost", "repeated", "late", "killed", "reloaded", "short", "forgotten")
"""What may happen to a request."""


@dataclass
class Place:
    """One process: its shard and what it knows of the log. Both die with it."""

    shard: Shard
    log: Log = field(default_factory=Log)

    def answer(self, text: str) -> Sums:
        """What a request in JSON asks for. Of the query's shape."""
        asked = Asked.from_json(text)
        return self.shard.answer(self.log.follow(asked), asked.query)


class Chaos(Logged):
    """A `Population` of shards to which faults happen. rate: to how many requests; faults: how many of each kind."""

    def __init__(self, parts: Sequence[AnyRecords], seed: int, rate: float = 0.2) -> None:
        super().__init__()
        self._parts, self._rate = tuple(parts), rate
        self._chance = np.random.default_rng(seed)
        self._places = [self._place(number) for number in range(len(parts))]
        self._known = [0] * len(parts)
        self._late: list[tuple[int, str]] = []
        self.faults: Counter[str] = Counter()

    @property
    def size(self) -> int:
        """Number of record slots. Private under add-remove."""
        return sum(part.size for part in self._parts)

    def _place(self, number: int) -> Place:
        start = sum(part.size for part in self._parts[:number])
        return Place(Shard(lambda: self._parts[number], start))

    def _sums(self, query: Query) -> Sums:
        order = self._chance.permutation(len(self._parts))
        answers = {int(number): self._asked(int(number), query) for number in order}
        for number, text in self._late:  # somebody repeats what was asked long ago, and nobody listens
            self._deliver(number, text)
        self._late = [(n, text) for n, text in self._late if self._chance.random() < 0.5][:3]
        return total(answers[number] for number in sorted(answers))

    def _asked(self, number: int, query: Query) -> Sums:
        """One shard's answer, whatever it takes."""
        while True:
            text = self.log.since(self._known[number], query).to_json()
            fault = str(self._chance.choice(FAULTS)) if self._chance.random() < self._rate else ""
            if fault:
                self.faults[fault] += 1
            if fault in FAULTY:
                FAULTY[fault](self, number, text)
            if fault in ("request lost", "answer lost", "short"):
                continue
            found = self._deliver(number, text)
            if isinstance(found, int):
                self._known[number] = found
                continue
            self._known[number] = len(self.log)
            return found

    def _deliver(self, number: int, text: str) -> Sums | int:
        """The answer, or how much of the log is known."""
        try:
            return self._places[number].answer(text)
        except Behind as behind:
            return behind.known

    def _killed(self, number: int, text: str) -> None:
        """Its process dies, and another has the records."""
        self._places[number] = self._place(number)

    def _reloaded(self, number: int, text: str) -> None:
        """The records are loaded again; the log is still known."""
        self._places[number].shard = self._place(number).shard

    def _short(self, number: int, text: str) -> None:
        """It dies half-way through the log: a part of it is told, nothing is answered."""
        asked = Asked.from_json(text)
        half = Log(self.log.entries[:], self.log.digests[:])
        keep = max(1, asked.first + len(asked.entries) // 2)
        half.entries, half.digests = half.entries[:keep], half.digests[: keep + 1]
        self._places[number].log.follow(half.since(0, asked.query))

    def _twice(self, number: int, text: str) -> None:
        self._deliver(number, text)

    def _later(self, number: int, text: str) -> None:
        self._late.append((number, text))

    def _unknown(self, number: int, text: str) -> None:
        """Who asks has forgotten what is known there: the whole log is sent again."""
        self._known[number] = 0


FAULTY: dict[str, Callable[[Chaos, int, str], None]] = {
    "answer lost": Chaos._twice,
    "repeated": Chaos._twice,
    "late": Chaos._later,
    "killed": Chaos._killed,
    "reloaded": Chaos._reloaded,
    "short": Chaos._short,
    "forgotten": Chaos._unknown,
}
