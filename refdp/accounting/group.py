"""Groups: k records that change together.

Without samples, blocks and partitions every release of k records has k times the sensitivity, since norms and ranges
obey the triangle inequality: the plan so scaled has both ends. Else there is a path of k steps between the data sets,
and P_0(S) <= e^{ε_1} P_1(S) + δ_1 <= ... gives, in equal steps ε/k,

    δ_k(ε) <= δ(ε/k) (1 + e^{ε/k} + ... + e^{(k-1)ε/k}),    ε_k(0) <= k ε(0).

A group holds every smaller group, hence the lower end of a single record remains one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from refdp.accounting.bound import Bound
from refdp.accounting.rounding import ceiling, is_number, upwards
from refdp.checks import shown
from refdp.data.numbers import least
from refdp.errors import InvalidParameter
from refdp.privacy.events import Event, Plan, Release, Repeat, Sequential


def group_size(group: int) -> int:
    """k as a whole number from 1 to the largest float. Errors: InvalidParameter."""
    if not is_number(group) or not 1 <= group <= sys.float_info.max or int(group) != group:
        raise InvalidParameter(f"group {shown(group)}: allowed are whole numbers >= 1 that are floats")
    return int(group)


def scaled(plan: Plan, group: int) -> Plan | None:
    """The plan whose single records cost what `group` of them cost; None where the path of single steps is needed."""
    event = _scaled(plan.event, group)
    return None if event is None else Plan(plan.relation, event)


def _scaled(event: Event, group: int) -> Event | None:
    match event:
        case Release(name, mechanism, sensitivity):
            if callable(getattr(mechanism, "dominated", None)):
                return None  # what it tells need not grow with the sensitivity
            return Release(name, mechanism, replace(sensitivity, bound=ceiling(group * Fraction(sensitivity.bound))))
        case Sequential(events):
            inner = [_scaled(child, group) for child in events]
            return None if None in inner else Sequential(tuple(one for one in inner if one is not None))
        case Repeat(one, count):
            scaled_one = _scaled(one, group)
            return None if scaled_one is None else Repeat(scaled_one, count)
        case _:
            return None


def along_path(at: Callable[..., Bound], pure: float, group: int, delta: float | None, epsilon: float | None) -> Bound:
    """The bound by k equal steps. at: `account` of single records; pure: their pure ε."""

    def grown(step: float) -> float:
        """δ of the group at ε = k step, from above."""
        if group * step > 700:
            return 1.0 if step < pure else 0.0
        ratio = group if step == 0 else math.expm1(group * step) / math.expm1(step)
        return min(1.0, upwards(at(epsilon=step).upper * ratio))

    basic = upwards(group * pure)
    if delta is None:
        assert epsilon is not None
        lower = at(epsilon=epsilon).lower
        methods = {"basic": 0.0 if basic <= epsilon else 1.0, "path": grown(epsilon / group * (1 - 2.0**-50))}
    else:
        lower = at(delta=delta).lower
        methods = {"basic": basic}
        top = min(pure, 700.0 / group)
        if delta > 0 and grown(top) <= delta:
            methods["path"] = upwards(group * least(lambda step: grown(step) <= delta, 0.0, top, 1e-7))
    best = min(methods, key=lambda name: methods[name])
    value = methods[best]
    known = (value, delta) if delta is not None else (epsilon, value)
    return Bound(*known, min(lower, value), value, best, methods)  # type: ignore[arg-type]
