"""The least noise, or the largest rate or count, with which a plan meets a target; from above, verified after."""

from __future__ import annotations

import math
from collections.abc import Callable

from refdp.accounting.accountant import account
from refdp.accounting.search import greatest, least
from refdp.errors import InvalidParameter
from refdp.events import Plan


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
    if not (0 < epsilon < math.inf and 0 <= delta < 1):
        raise InvalidParameter(f"target epsilon {epsilon!r}, delta {delta!r}: allowed are epsilon > 0, delta in [0, 1)")

    def meets(x: float) -> bool:
        return _meets(plan_of(x), epsilon, delta)

    cheapest = low if increasing else high
    if not meets(cheapest):
        raise InvalidParameter(f"epsilon {epsilon!r} at delta {delta!r} is out of reach: not met at {cheapest!r}")
    return (greatest if increasing else least)(meets, low, high, relative)


def calibrate_count(plan_of: Callable[[int], Plan], epsilon: float, delta: float, *, high: int = 2**40) -> int:
    """The largest n in [0, high] for which plan_of(n) is (epsilon, delta)-DP; 0 if not even one repetition is."""
    step = 1
    while step <= high and _meets(plan_of(step), epsilon, delta):
        step *= 2
    low, top = step // 2, min(step, high + 1)
    while top - low > 1:
        middle = (low + top) // 2
        low, top = (middle, top) if _meets(plan_of(middle), epsilon, delta) else (low, middle)
    return low


def _meets(plan: Plan, epsilon: float, delta: float) -> bool:
    return account(plan, delta=delta).epsilon <= epsilon
