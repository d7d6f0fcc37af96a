"""Bisection that returns the side on which the predicate was seen to hold."""

from __future__ import annotations

import math
from collections.abc import Callable


def least(holds: Callable[[float], bool], low: float, high: float, relative: float = 1e-12) -> float:
    """A point x in [low, high] with holds(x), at most `relative` (of x) above a point where it fails.

    `holds` is taken to be true at `high`, and is not asked there.
    """
    if holds(low):
        return low
    for _ in range(200):
        middle = _middle(low, high)
        if high - low <= relative * abs(high) or not low < middle < high:
            break
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def greatest(holds: Callable[[float], bool], low: float, high: float, relative: float = 1e-12) -> float:
    """A point x in [low, high] with holds(x), at most `relative` below a point where it fails; true at `low`."""
    if holds(high):
        return high
    for _ in range(200):
        middle = _middle(low, high)
        if high - low <= relative * abs(low) or not low < middle < high:
            break
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _middle(low: float, high: float) -> float:
    """Geometric while the ends are positive and far apart, so that tiny answers get as many digits as large ones."""
    return math.sqrt(low) * math.sqrt(high) if 0 < 4 * low < high else 0.5 * (low + high)
