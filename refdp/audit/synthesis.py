"""Events that a black box should look at, taken from the exact losses of instrumented runs.

A black box that chooses its event from outputs alone has to learn which outputs are likelier on which side. Replay
knows it: the loss L of a recorded run gives the chance 1 / (1 + e^-L) that the run came from the first side. The best
event of the published object is where the mean of that chance, given what is published, is high; a regression
estimates it.
The event is fixed on these runs, and fresh runs of a black box test it alone, so that Clopper and Pearson's bound holds
without any condition on how it was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from refdp.audit.binomial import Counts, clopper_pearson
from refdp.audit.events_choice import Choice, choose
from refdp.audit.replay import Pair, Trainer, audit_pair
from refdp.audit.runs import seed_of
from refdp.audit.structural_state import leaves, numbers
from refdp.data.records import Records
from refdp.privacy.curator import Curator, Source

Floats = NDArray[np.float64]
Sources = Callable[[int], Source]
RANKING, LEARNING = 4, 160
"""Instrumented runs a side that rank a candidate, and that fix the event."""
UNSTATED = 0.15
"""What a pair counts for whose sides part: outputs may tell them apart, or nothing is known."""


@dataclass(frozen=True)
class Candidate:
    """A trainer with its settings and its claim, and a pair. source: a run's randomness by seed."""

    train: Trainer
    pair: Pair
    source: Sources
    epsilon: float
    delta: float

    def published(self, records: Records, seed: int) -> dict[str, float]:
        """All that a black box sees of one run: every number of the published model, by its path."""
        return numbers(leaves(self.train(records, Curator(self.source(seed), self.pair.relation)).to_json()))

    def sides(self, seed: int, runs: int) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
        """Published numbers of independent runs on either side; no seed occurs twice."""
        first, second = self.pair.first(), self.pair.second()
        seeds = [seed_of(seed, run) for run in range(2 * runs)]
        return [self.published(first, one) for one in seeds[::2]], [self.published(second, one) for one in seeds[1::2]]


@dataclass(frozen=True)
class Told:
    """Instrumented runs. chances: of the first side, given all outputs of a run, NaN without a loss; (side, runs)."""

    chances: Floats

    @property
    def stated(self) -> float:
        """The share of runs with a loss."""
        return float(np.mean(~np.isnan(self.chances)))

    def targets(self) -> Floats:
        """What a regression learns: the chance, or the side itself where no loss is stated. Shape (side, runs)."""
        return np.where(np.isnan(self.chances), np.array([[1.0], [0.0]]), self.chances)

    def excess(self, epsilon: float, delta: float) -> float:
        """How far the delta of these runs at epsilon lies above the claimed one, in the worse direction.

        The mean of max(P - e^epsilon Q, 0) over both sides, P and Q a run's chances, estimates the divergence that
        (epsilon, delta) bounds. UNSTATED where runs have no loss.
        """
        if self.stated < 1:
            return UNSTATED
        both = [np.maximum(p - math.exp(epsilon) * (1 - p), 0).sum() for p in (self.chances, 1 - self.chances)]
        return float(2 * max(both) / self.chances.size - delta)


def told(candidate: Candidate, seed: int, runs: int) -> Told:
    """Record runs on either side and replay each on both."""
    found = np.empty((2, runs))
    for side in (0, 1):
        for run in range(runs):
            source = candidate.source(seed_of(seed, 2 * run + side))
            loss = audit_pair(candidate.train, candidate.pair, source, math.inf, on_first=side == 0).loss
            found[side, run] = math.nan if loss is None else expit(loss)
    return Told(found)


@dataclass(frozen=True)
class Columns:
    """Published numbers as rows: one column for each path that the runs that chose the event have. No value: NaN."""

    paths: tuple[str, ...]

    def rows(self, outputs: Sequence[dict[str, float]]) -> Floats:
        """Shape (runs, columns); the last column counts a run's numbers."""
        return np.array([[*(one.get(path, math.nan) for path in self.paths), len(one)] for one in outputs])


@dataclass(frozen=True)
class FromReplay:
    """The chance of the first side, given what is published: a regression of the exact chances of instrumented runs."""

    learnt: ClassVar[bool] = True
    model: Any = field(repr=False)

    @property
    def words(self) -> str:
        """What the number is."""
        return "chance of the first side by a regression of the replayed losses"

    def __call__(self, rows: Floats) -> Floats:
        """One number for every row."""
        return np.asarray(self.model.predict(rows), dtype=np.float64)


def regression(rows: tuple[Floats, Floats], chances: Floats) -> FromReplay:
    """Boosted trees of the chances. rows: shape (runs, columns) of either side; chances: shape (side, runs)."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        model = HistGradientBoostingRegressor(max_iter=80, max_leaf_nodes=15, learning_rate=0.1, random_state=0)
        return FromReplay(model.fit(np.concatenate(rows), chances.ravel()))


@dataclass(frozen=True)
class Synthesised:
    """An event that was fixed before any run that tests it. promised: the bound that its choice forecasts.

    instrumented: runs that chose it, replays not counted. stated: share of them with an exact loss.
    """

    columns: Columns
    choice: Choice
    promised: float
    instrumented: int
    stated: float

    @property
    def words(self) -> str:
        """The event in words, outputs by their paths in the published object."""
        index = getattr(self.choice.event.statistic, "index", None)
        name = (
            ""
            if index is None or index >= len(self.columns.paths)
            else f", output {index}: {self.columns.paths[index]}"
        )
        return f"{self.choice.event.words}{name}, {'second' if self.choice.swapped else 'first'} side likelier"


def synthesise(
    candidate: Candidate, seed: int, runs: int, tested: int, error: float, *, replayed: bool = True,
    low_bits: bool = False,
) -> Synthesised:  # fmt: skip
    """The event of the published object that promises the best bound from `tested` runs a side.

    The replayed runs have the seeds of the published ones, so that a run's loss and its outputs belong together.
    Half of the runs are learnt from, the other half compare what was learnt. replayed: False learns from outputs alone.
    low_bits: whether the last bits of published numbers are among the events.
    """
    losses = told(candidate, seed, runs) if replayed else Told(np.full((2, runs), math.nan))
    sides = candidate.sides(seed, runs)
    columns = Columns(tuple(dict.fromkeys(path for side in sides for one in side for path in one)))
    rows = columns.rows(sides[0]), columns.rows(sides[1])
    half = runs // 2
    learnt = regression((rows[0][:half], rows[1][:half]), losses.targets()[:, :half])
    choices = choose(*rows, tested, candidate.delta, error, low_bits=low_bits, further=(learnt,))
    promises = [forecast(choice, candidate.delta, tested, error) for choice in choices]
    best = int(np.argmax(promises))
    return Synthesised(columns, choices[best], promises[best], 2 * runs, losses.stated)


def forecast(choice: Choice, delta: float, tested: int, error: float) -> float:
    """The bound of a test whose counts are what the choice expects."""
    return clopper_pearson(Counts(round(choice.likelier * tested), round(choice.rarer * tested), tested), delta, error)


@dataclass(frozen=True)
class Tested:
    """P(lower > the pair's true epsilon at delta) <= error. counts: of the event, likelier side first."""

    lower: float
    counts: Counts


def confirm(candidate: Candidate, event: Synthesised, seed: int, runs: int, error: float) -> Tested:
    """Clopper and Pearson's bound from `runs` fresh black-box runs a side, all of which test the one event."""
    first, second = (event.columns.rows(side) for side in candidate.sides(seed, runs))
    likelier, other = event.choice.sides(first, second)
    counts = Counts(int(likelier.sum()), int(other.sum()), runs)
    return Tested(clopper_pearson(counts, candidate.delta, error), counts)


def best_of(candidates: Sequence[Candidate], seed: int, keep: int) -> list[Candidate]:
    """The candidates whose replayed runs exceed their claims most, in order; the earlier one among equals."""
    excess = [told(one, seed, RANKING).excess(one.epsilon, one.delta) for one in candidates]
    return [candidates[place] for place in np.argsort(-np.array(excess), kind="stable")[:keep]]
