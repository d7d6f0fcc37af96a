"""Exact bounds from counts, by Clopper and Pearson. No normal approximation anywhere.

The last of them bounds epsilon in p <= exp(epsilon) q + delta from below, where p and q are the chances of one event
under two neighbours; the event has to be chosen without looking at the counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def at_least(count: ArrayLike, runs: int, error: float) -> Floats:
    """Lower bound of a chance seen `count` times in `runs` independent runs; wrong with probability at most `error`.

    Clopper and Pearson 1934: the `error` quantile of Beta(count, runs - count + 1), 0 for count 0.

    Of the shape of count.
    """
    seen = np.asarray(count, dtype=np.float64)
    bound = scipy.stats.beta.ppf(error, np.maximum(seen, 1), runs - seen + 1)
    return np.where(seen == 0, 0.0, bound)


def at_most(count: ArrayLike, runs: int, error: float) -> Floats:
    """Upper bound of a chance seen `count` times in `runs` runs; wrong with probability at most `error`.

    Of the shape of count.
    """
    seen = np.asarray(count, dtype=np.float64)
    bound = scipy.stats.beta.isf(error, seen + 1, np.maximum(runs - seen, 1))
    return np.where(seen == runs, 1.0, bound)


@dataclass(frozen=True)
class Counts:
    """How often an event happened on the side that has more of it, and on the other, in so many runs a side."""

    likelier: int
    other: int
    runs: int


def clopper_pearson(counts: Counts, delta: float, error: float) -> float:
    """log((p - delta) / q), p from below and q from above with error/2 each; 0 if that is negative or p <= delta."""
    low = float(at_least(counts.likelier, counts.runs, error / 2)) - delta
    high = float(at_most(counts.other, counts.runs, error / 2))
    return max(0.0, math.log(low / high)) if low > 0 else 0.0
