"""The event that promises the best bound, chosen on runs that are not used to test it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from refdp.audit.events_statistics import Ratio, Statistic, learn

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

DOUBT = {False: 1.0, True: 2.0}
"""Standard errors by which an event's forecast is lowered: more for statistics that were learnt (True).

There are many of those, so that by chance some look better than they are.
"""
THRESHOLDS = 200
"""Quantiles that are tried as thresholds of one statistic, beside the extremes."""


@dataclass(frozen=True)
class Event:
    """A set of outputs: those whose statistic compares with a threshold in this way."""

    statistic: Statistic
    comparison: Literal[">=", "<=", "=="]
    threshold: float

    @property
    def words(self) -> str:
        """The event in words."""
        if math.isinf(self.threshold) and self.comparison != "<=":  # statistics count not-a-number as infinity
            return f"{self.statistic.words} is infinite or not a number"
        return f"{self.statistic.words} {self.comparison} {self.threshold:.9g}" + self._cells()

    def happens(self, rows: Floats) -> Mask:
        """Whether each row of outputs is in the set. Shapes (runs, columns) and (runs,)."""
        numbers = self.statistic(rows)
        if self.comparison == "==":
            return np.asarray(numbers == self.threshold)
        return np.asarray(numbers >= self.threshold if self.comparison == ">=" else numbers <= self.threshold)

    def _cells(self) -> str:
        """The values or intervals of a histogram that are in the set, if they are few."""
        if not isinstance(self.statistic, Ratio) or self.statistic.inner.words == "the whole output":
            return ""
        held = self.statistic.scores >= self.threshold
        inside = held if self.comparison == ">=" else self.statistic.scores <= self.threshold
        if not self.statistic.exact or self.comparison == "==" or inside.sum() > 6:
            return ""
        shown = ", ".join(f"{value:g}" for value in self.statistic.values[inside[:-1]])
        return f" ({self.statistic.inner.words} in {{{shown}}})"


@dataclass(frozen=True)
class Choice:
    """What is to be tested: an event, whether the second side has more of it, and its chances there and on the other.

    The chances are cautious estimates from the runs that chose it: one standard error to the disadvantage.
    """

    event: Event
    swapped: bool
    likelier: float
    rarer: float

    def sides(self, first: Floats, second: Floats) -> tuple[Mask, Mask]:
        """Whether the event happened in each run of the side that is said to have more of it, and of the other.

        Shapes (runs, columns); the masks have (runs,).
        """
        here, there = self.event.happens(first), self.event.happens(second)
        return (there, here) if self.swapped else (here, there)


def choose(
    first: Floats,
    second: Floats,
    tested: int,
    delta: float,
    error: float,
    *,
    low_bits: bool = True,
    without: Collection[str] = (),
    further: Sequence[Statistic] = (),
) -> tuple[Choice, Choice]:
    """The event that promises the best bound from `tested` runs a side at this error; the best of the other direction.

    first, second: outputs of equally many runs, one row a run. What is learnt is learnt on their first half and
    compared on the second, so that a classifier that learnt by heart does not win. low_bits, without: as of
    `refdp.audit.events_statistics.learn`. further: statistics to try besides,
    learnt on no run of the second half.

    Shapes (runs, columns).
    """
    half = len(first) // 2
    candidates: list[Promised] = []
    for statistic in [*learn(first[:half], second[:half], low_bits=low_bits, without=without), *further]:
        start = half if statistic.learnt else 0
        candidates += _promised(statistic, first[start:], second[start:], tested, delta, error)
    best = max(candidates, key=_promise_of)[1]
    return best, max((one for one in candidates if one[1].swapped != best.swapped), key=_promise_of)[1]


Promised = tuple[float, Choice]


def _promise_of(candidate: Promised) -> float:
    return candidate[0]


def _promised(
    statistic: Statistic, first: Floats, second: Floats, tested: int, delta: float, error: float
) -> list[Promised]:
    """The most promising events of one statistic, for every comparison and direction."""
    a, b = np.sort(statistic(first)), np.sort(statistic(second))
    found: list[Promised] = []
    for comparison, thresholds in _thresholds(np.sort(np.concatenate([a, b]))):
        counts = [_count(side, comparison, thresholds) for side in (a, b)]
        for swapped in (False, True):
            here, there = counts[::-1] if swapped else counts
            promises = _forecast(here, there, len(a), tested, delta, error, DOUBT[statistic.learnt])
            at = int(np.argmax(promises))
            chances = [float(_wilson(count[at], len(a), z)) for count, z in ((here, -1.0), (there, 1.0))]
            event = Event(statistic, comparison, float(thresholds[at]))
            found.append((float(promises[at]), Choice(event, swapped, *chances)))
    return found


def _thresholds(pooled: Floats) -> list[tuple[Literal[">=", "<=", "=="], Floats]]:
    """Quantiles and ever smaller tails; single values that occur often."""
    size = len(pooled)
    tails = 2 ** np.arange(int(math.log2(size)))
    ranks = np.unique(np.concatenate([np.linspace(0, size - 1, THRESHOLDS).astype(int), tails, size - 1 - tails]))
    found: list[tuple[Literal[">=", "<=", "=="], Floats]] = [(">=", pooled[ranks]), ("<=", pooled[ranks])]
    values, counts = np.unique(pooled, return_counts=True)
    if counts.max() > 2:
        frequent = np.argsort(-counts, kind="stable")[:THRESHOLDS]
        found.append(("==", values[frequent[counts[frequent] > 2]]))
    return found


def _count(ordered: Floats, comparison: str, thresholds: Floats) -> Floats:
    below = np.searchsorted(ordered, thresholds, side="left")
    up_to = np.searchsorted(ordered, thresholds, side="right")
    counts = {">=": len(ordered) - below, "<=": up_to, "==": up_to - below}[comparison]
    return counts.astype(np.float64)


def _forecast(a: Floats, b: Floats, chosen: int, tested: int, delta: float, error: float, doubt: float) -> Floats:
    """Rough forecast of log((p - delta)/q) from below; only the order of events depends on it, never validity.

    doubt: standard errors for what the choice does not know; the test's own margin comes on top.
    """
    p, q = _wilson(a, chosen, -doubt), _wilson(b, chosen, doubt)
    margin = float(-special.ndtri(error / 2))
    low, high = _wilson(p * tested, tested, -margin) - delta, _wilson(q * tested, tested, margin)
    return np.where(low > 0, np.log(np.maximum(low, 1e-300) / high), -1e3 + low)


def _wilson(count: Floats, runs: int, z: float) -> Floats:
    """Wilson's interval end at z standard errors."""
    centre = count + z * z / 2
    reach = z * np.sqrt(np.maximum(count * (runs - count) / runs + z * z / 4, 0.0))
    return np.clip((centre + reach) / (runs + z * z), 0.0, 1.0)
