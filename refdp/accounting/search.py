"""Bisection that returns the side on which the predicate was seen to hold."""

from __future__ import annotations

import math
from collections.abc import Callable


def least(holds: Callable[[float], bool], low: float, high: float, relative: float = 1e-12) -> float:
    """A point x in [low, high] with holds(x), at most `relative` (of x) above a point where it fails.

    `holds` is taken to be true at `high`, and is not asked there.
    """
    return low if holds(low) else _border(holds, high, low, relative)


def greatest(holds: Callable[[float], bool], low: float, high: float, relative: float = 1e-12) -> float:
    """A point x in [low, high] with holds(x), at most `relative` below a point where it fails; true at `low`."""
    return high if holds(high) else _border(holds, low, high, relative)


def _border(holds: Callable[[float], bool], inside: float, outside: float, relative: float) -> float:
    """A point with holds(x) at most `relative` from one where it fails; it holds at `inside` and fails at `outside`."""
    for _ in range(200):
        low, high = sorted((inside, outside))
        middle = _middle(low, high)
        if high - low <= relative * abs(inside) or not low < middle < high:
            break
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside


def _middle(low: float, high: float) -> float:
    """Geometric while the ends are positive and far apart, so that tiny answers get as many digits as large ones."""
    return math.sqrt(low) * math.sqrt(high) if 0 < 4 * low < high else 0.5 * (low + high)
