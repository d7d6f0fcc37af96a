"""A search over the contents of data sets: what changes a release most, or reaches new code, is changed further.

Each candidate pair is replayed in short: all runs of a batch share one process, and their lines are followed. What
looks like a violation there, and what came nearest to one, is then looked at in full.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from refdp.audit.crowds import mutated
from refdp.audit.declared_filter import shares
from refdp.audit.freshness import release_kind
from refdp.audit.isolated import Outcome, in_child, run_here
from refdp.audit.own_code import spaces_of
from refdp.audit.reached import Place
from refdp.audit.replay import Finding, Pair, changes
from refdp.audit.search import Search
from refdp.data.records import Records
from refdp.privacy.curator import Transcript

STEPS = 240
"""Pairs that are replayed in short, unless told otherwise."""
BATCH, BATCH_SECONDS = 24, 8.0
"""Most pairs of one process, and about how long it may take."""
LARGEST = 1100
"""Most records of a mutated pair; fewer where a run on so many is slow."""
LOOKS = 6
"""Pairs nearest to a violation that are looked at in full, and as many of those that violated in short."""
BASE = 10_000
"""Numbers of these runs begin here: `Search` tells first looks by smaller ones."""


@dataclass(frozen=True)
class Judged:
    """What a short replay showed. scores: by what, and how near to its limit, 1 is reached; kinds: of violations.

    lines: that ran on either side. apart: that ran on one side only, with equal outputs of all releases.
    """

    scores: dict[str, float]
    kinds: frozenset[tuple[str, str]]
    lines: frozenset[Place]
    apart: frozenset[Place]
    seconds: float


@dataclass
class Steered:
    """What the search saw. tried: pairs replayed in short. nearest: the greatest score of each release."""

    tried: int = 0
    failed: str = ""
    nearest: dict[str, float] = field(default_factory=dict)
    lines: set[Place] = field(default_factory=set)
    apart: set[Place] = field(default_factory=set)


@dataclass
class Short(Search):
    """A search whose runs are in this process, with their lines followed; a composition with a delta is not charged."""

    follow: Callable[[str], bool] = lambda file: False
    scores: dict[str, float] = field(default_factory=dict)
    seen: list[frozenset[Place]] = field(default_factory=list)

    def _run(self, records: Records, source: Any, number: int) -> Outcome:
        own = (*self.watched, *spaces_of(self.train))
        outcome = run_here(self.train, records, source, self.relation, number + 1, None, own, self.follow)
        self.seen.append(outcome.lines)
        return outcome

    def _losses(
        self, sides: list[Transcript], pair: Pair, on_first: bool, number: int, *, stated: bool = True
    ) -> Finding:
        finding = super()._losses(sides, pair, on_first, number, stated=stated)
        total = 0.0
        for change in changes(sides[0], sides[-1]):
            declared = change.declared.bound
            moved = float(change.mechanism.observed_change(change.value, change.other, change.declared.norm))
            kind = release_kind(change.entry.request.name)
            self.scores[kind] = max(self.scores.get(kind, 0.0), moved / declared if declared > 0 else math.inf)
            total += float(change.mechanism.divergence(change.value, change.other, 2.0))
        self.scores["the whole run"] = total if finding.worst is None or self.delta else (
            abs(finding.worst) / self.epsilon if self.epsilon else total)  # fmt: skip
        return finding

    def _spent(self, present: Transcript, absent: Transcript, pair: Pair) -> None:
        super()._spent(present, absent, pair)
        self.scores |= shares(self.filters, present, absent, pair)

    def _composed(self, sides: list[Transcript], pair: Pair, on_first: bool, number: int) -> None:
        """Left to the full look."""


def steered(
    search: Search, seeds: Iterable[Pair], follow: Callable[[str], bool], steps: int, hints: tuple[float, ...] = (),
    arranged: Callable[[Pair], Pair] = lambda pair: pair,
    spots: Iterable[Pair] = (), told: Callable[[], bool] = lambda: False,
) -> Steered:  # fmt: skip
    """Replay `steps` pairs in short, the seeds first, then changes of the best; look in full at what stands out.

    spots: pairs that are replayed besides, after the seeds, as many as `steps` at most. told: whether to end, asked
      after each look in full.
    """
    seen, generator = Steered(), np.random.default_rng([search.seed, 7])
    if steps == 0:
        return seen
    best: dict[Any, tuple[float, Pair]] = {}
    besides = list(islice(spots, steps))
    waiting, size, largest, number = [*islice(seeds, max(1, steps // 2)), *besides], 4, LARGEST, BASE
    steps += len(besides)
    looked: set[Any] = set()
    while seen.tried < steps:
        batch = [waiting.pop(0) for _ in range(min(size, len(waiting)))]
        while len(batch) < size and best:
            parents = [pair for _, pair in best.values()]
            batch.append(mutated(parents[int(generator.integers(len(parents)))], generator, hints, largest))
        batch = [arranged(pair) for pair in batch[: steps - seen.tried]]
        if not batch:
            break
        judged, why = in_child(lambda first=number, pairs=batch: _judged(search, pairs, first, follow))  # type: ignore[misc]
        if judged is None:
            seen.failed = why
            if largest > 64 and size == 1:
                break
            size, largest = max(1, size // 4), max(64, largest // 4)
            seen.tried += len(batch)
            number += len(batch)
            continue
        for place, (pair, one) in enumerate(zip(batch, judged, strict=True)):
            seen.tried += 1
            seen.apart |= one.apart
            fresh = one.kinds - looked
            if fresh and len(looked) < 4 * LOOKS:
                looked |= fresh
                search.look(pair, number + place)
                if told():
                    return seen
            _kept(best, one, pair, seen)
        number += len(batch)
        slowest = max(one.seconds for one in judged)
        size = int(np.clip(BATCH_SECONDS / max(slowest, 1e-3) / 2, 1, BATCH))
    _look_at_best(search, best, number, seen, told)
    return seen


def _kept(best: dict[Any, tuple[float, Pair]], one: Judged, pair: Pair, seen: Steered) -> None:
    """The pair stands for what it shows more of than any before it: a score, a new line, a line on one side only."""
    for kind, score in one.scores.items():
        if not math.isnan(score) and score > best.get(kind, (0.0, pair))[0]:
            best[kind] = score, pair
            if kind != "the whole run":
                seen.nearest[kind] = score
    for line in one.lines - seen.lines:
        best["line", line] = 0.0, pair
    for line in one.apart:
        best.setdefault(("apart", line), (0.0, pair))
    seen.lines |= one.lines


def _look_at_best(
    search: Search, best: dict[Any, tuple[float, Pair]], number: int, seen: Steered, told: Callable[[], bool]
) -> None:
    """In full, in both directions where lines part: pairs of the greatest scores, and of lines of one side only."""
    scored = sorted((kind for kind in best if isinstance(kind, str)), key=lambda kind: -best[kind][0])
    parting = [kind for kind in best if not isinstance(kind, str) and kind[0] == "apart"]
    done: list[Pair] = []
    for turn, kind in enumerate([*scored[:LOOKS], *parting[:LOOKS]]):
        pair = best[kind][1]
        if any(pair is one for one in done):
            continue
        done.append(pair)
        search.look(pair, number + turn)
        if told():
            return


def _judged(search: Search, pairs: list[Pair], first: int, follow: Callable[[str], bool]) -> list[Judged]:
    found = []
    for place, pair in enumerate(pairs):
        start = time.perf_counter()
        short = Short(search.train, search.epsilon, search.delta, search.relation, search.seed, source=search.source,
                      watched=search.watched, late=search.late, filters=search.filters, follow=follow)  # fmt: skip
        short.look(pair, first + place)
        kinds = frozenset((one.kind, release_kind(one.release)) for one in short.notes.violations)
        sides = short.seen[1:3]  # the recorded run, then the replays
        apart = sides[0] ^ sides[1] if len(sides) == 2 else frozenset[Place]()
        lines = frozenset[Place]().union(*short.seen)
        found.append(Judged(short.scores, kinds, lines, apart, time.perf_counter() - start))
    return found
