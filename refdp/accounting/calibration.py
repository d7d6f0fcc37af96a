"""The least noise, or the largest rate or count, with which a plan meets a target; from above, verified after."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from refdp.accounting.accountant import account
from refdp.data import numbers
from refdp.errors import InvalidParameter
from refdp.privacy.events import Plan

_EXACT = 2**20  # counts up to here are exact
_STRIDE = 1.2


class Excess(Protocol):
    """log of the plan's ε over the target at x, <= 0 where it is met; with `quick`, as the quick methods see it."""

    def __call__(self, x: float, quick: bool = False) -> float:
        """The excess."""
        ...


def calibrate(
    plan_of: Callable[[float], Plan],
    epsilon: float,
    delta: float,
    *,
    low: float = 1e-6,
    high: float = 1e9,
    increasing: bool = False,
    relative: float = 1e-6,
) -> float:
    """The least x in [low, high] for which plan_of(x) is (epsilon, delta)-DP, to the given relative accuracy.

    plan_of: decreasing in cost with x (a noise scale); with `increasing`, the cost grows with x (a sampling rate, a
      coefficient of the exponential mechanism) and the largest x is returned.
    The returned x was accounted for and met the target: the cost is never overshot.
    Errors: InvalidParameter if even the cheapest end of [low, high] misses the target.
    """
    return _calibrated(plan_of, epsilon, delta, (low, high), increasing, relative, leaps=True)


def _calibrated(
    plan_of: Callable[[float], Plan],
    epsilon: float,
    delta: float,
    ends: tuple[float, float],
    increasing: bool,
    relative: float,
    leaps: bool,
) -> float:
    """leaps: from the answer of the quick methods on, the bracket is looked for where the line through two answers
    points to, else in steps of a fifth."""
    if not (0 < epsilon < math.inf and 0 <= delta < 1):
        raise InvalidParameter(f"target epsilon {epsilon!r}, delta {delta!r}: allowed are epsilon > 0, delta in [0, 1)")
    if not 0 < ends[0] < ends[1] < math.inf:
        raise InvalidParameter(f"search from {ends[0]!r} to {ends[1]!r}: allowed are positive numbers, the larger last")
    cheapest, dearest = ends if increasing else ends[::-1]

    def excess(x: float, quick: bool = False) -> float:
        return _excess(plan_of(x), epsilon, delta, quick)

    if excess(cheapest, True) > 0 and excess(cheapest) > 0:
        raise InvalidParameter(f"epsilon {epsilon!r} at delta {delta!r} is out of reach: not met at {cheapest!r}")
    good, under, stride = _quickly(excess, cheapest, dearest), math.nan, _STRIDE
    while good != dearest:
        bad = min(dearest, good * stride) if increasing else max(dearest, good / stride)
        if (over := excess(bad)) > 0:
            return _falsi(excess, good, bad, excess(good) if math.isnan(under) else under, over, relative)
        if leaps and over > under:
            stride = stride ** min(max(1.05 * over / (under - over), 0.1), 8.0)
        good, under = bad, over
    return dearest


def _quickly(excess: Excess, good: float, bad: float) -> float:
    """The dearest x that the quick methods accept, to 1 %: bisection, geometric where the ends are far apart."""
    if excess(bad, True) <= 0:
        return bad
    while abs(bad - good) > 0.01 * min(abs(good), abs(bad)):
        middle = math.sqrt(good * bad) if good > 0 < bad else 0.5 * (good + bad)
        good, bad = (middle, bad) if excess(middle, True) <= 0 else (good, middle)
    return good


def _falsi(
    excess: Callable[[float], float], good: float, bad: float, under: float, over: float, relative: float
) -> float:
    """False position, keeping `good` on the side where the target was seen to be met.

    Aims alternately just short of and just beyond the crossing, so that both ends of the bracket close in on it. Where
    the target is met exactly at `good`, as by basic composition, the next step is just beyond.
    """
    beyond, exactly = False, under == 0
    while abs(bad - good) > relative * abs(good):
        share = under / (under - over) if under < 0 else 0.5
        aim = (0.4 if beyond else -0.4) * relative * abs(good) / abs(bad - good)
        share, exactly = -aim if exactly else min(max(share + aim, 0.01), 0.99), False
        middle = good + share * (bad - good)
        if middle in (good, bad):
            break
        value = excess(middle)
        beyond = value <= 0
        if beyond:
            good, under = middle, value
        else:
            bad, over = middle, value
    return good


def calibrate_total(plan_of: Callable[[float], Plan], epsilon: float, delta: float, *, most: float) -> float:
    """The pure epsilon, at least `epsilon`, that all releases may have in sum where they may cost epsilon at delta.

    plan_of: the releases for such a sum. most: the search ends at so many times epsilon. Rounded down to a public grid,
    so that the noise is the same on every machine.
    """
    plans = lru_cache(plan_of)
    found = _calibrated(plans, epsilon, delta, (epsilon, most * epsilon), True, 1e-3, leaps=False)
    return max(numbers.coarser(found, 16), epsilon)


def calibrate_count(plan_of: Callable[[int], Plan], epsilon: float, delta: float, *, high: int = 2**40) -> int:
    """The largest n in [0, high] for which plan_of(n) is (epsilon, delta)-DP; 0 if not even one repetition is.

    Exact up to 2^20; above, n meets the target and is at most a millionth below a number that does not.
    The quick methods bracket n, so that the costly ones are asked near the answer only.
    """
    low = _largest(lambda n: _excess(plan_of(n), epsilon, delta, True), 0, high, 1)
    return _largest(lambda n: _both(plan_of(n), epsilon, delta), low, high, max(1, low // 8))


def _largest(excess: Callable[[int], float], low: int, high: int, stride: int) -> int:
    """Galloping from `low`, which meets by assumption; then false position, exact where n is small enough.

    Every other step halves the bracket, whatever the line through its ends says.
    """
    under = math.nan
    while True:
        if low == high:
            return high
        top = min(high, low + stride)
        over = excess(top)
        if over > 0:
            break
        low, under, stride = top, over, 2 * stride
    if low > _EXACT:
        under = excess(low) if math.isnan(under) else under
        return int(_falsi(lambda x: excess(int(x)), float(low), float(top), under, over, 1 / _EXACT))
    halve, beyond = True, True
    while top - low > 1:
        middle = (low + top) // 2
        if not halve and under < 0:
            aim = low + round((top - low) * under / (under - over)) + (0 if beyond else 1)
            middle = min(max(aim, low + 1), top - 1)
        halve, value = not halve, excess(middle)
        beyond = value > 0
        low, under, top, over = (low, under, middle, value) if beyond else (middle, value, top, over)
    return low


def _both(plan: Plan, epsilon: float, delta: float) -> float:
    """The quick methods first: most plans that meet the target do so by them."""
    quick = _excess(plan, epsilon, delta, True)
    return quick if quick <= 0 else _excess(plan, epsilon, delta, False)


def _excess(plan: Plan, epsilon: float, delta: float, quick: bool) -> float:
    found = account(plan, delta=delta, quick=quick, both=False).epsilon
    if found <= epsilon:
        return min(0.0, math.log(max(found, 1e-300) / epsilon))
    return max(5e-324, min(math.log(found) - math.log(epsilon), 50.0))
