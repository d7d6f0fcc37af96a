"""Proofs for all values of parameters at once: which ranges are allowed, and what a reading with them is about.

A parameter that is a real number can be open (`refdp.prove.open`); whole numbers, choices, the budget and what shares
of records are made from cannot: how many rounds there are, and what they cost, is accounted in numbers. Where the
reading with open parameters proves, the text is read once more with numbers at the lower and at the upper ends of all
ranges. That is no part of the proof, which needs no values: it would show a text that hides what it looks at.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from refdp import checks
from refdp.errors import InvalidParameter
from refdp.prove.magnitudes import APART
from refdp.prove.open import Opens, opened
from refdp.prove.terms import Unmodelled
from refdp.prove.texts import is_text_module

Range = tuple[float, float]
NEVER = ("epsilon", "delta")
"""The budget, which is accounted in numbers."""
SMALLEST, LARGEST = 2.0 ** (-APART / 2), 2.0 ** (APART / 2)
"""How far a range goes by itself where the parameter's check has no end above 0, or none at all."""
P = TypeVar("P")


def checked(params: Any, anywhere: Mapping[str, Range | None]) -> dict[str, Range]:
    """The range of every open parameter; None for all that its check allows, `SMALLEST` to `LARGEST` where it has no
    end. Errors: InvalidParameter for a parameter that cannot be open, and a range that is none or has not its value.
    """
    found = {}
    for name, given in anywhere.items():
        if name not in (known := {one.name for one in fields(params)}):
            raise InvalidParameter(f"--any {name}: no parameter, which are {', '.join(sorted(known))}")
        value = getattr(params, name)
        number = isinstance(value, float | int) and not isinstance(value, bool)
        if name in NEVER or not number or float not in _kinds(params, name):
            raise InvalidParameter(f"--any {name}: the budget, whole numbers and choices stay what they are")
        low, high = _allowed(params, name) if given is None else map(float, given)
        if not (math.isfinite(low) and math.isfinite(high) and low <= value <= high):
            raise InvalidParameter(f"--any {name}={low:g}..{high:g}: a range is needed that has {value:g}")
        for end in (low, high):
            replace(params, **{name: end})
        found[name] = (low, high)
    return found


def _kinds(params: Any, name: str) -> tuple[Any, ...]:
    hint = get_type_hints(type(params))[name]
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _allowed(params: Any, name: str) -> Range:
    """What a parameter's check says when the parameters are made again."""
    said: list[dict[str, float]] = []

    def listening(own: str, value: Any, **bounds: float) -> None:
        if own == name:
            said.append(bounds)
        checks.check_number(own, value, **bounds)

    with _instead("check_number", listening):
        replace(params)
    lows = [max(one[key] for key in ("least", "above") if key in one) for one in said if {"least", "above"} & set(one)]
    highs = [min(one[key] for key in ("most", "below") if key in one) for one in said if {"most", "below"} & set(one)]
    low, high = max(lows, default=-LARGEST), min(highs, default=LARGEST)
    opened_at = any(one.get("above") == low for one in said), any(one.get("below") == high for one in said)
    low = (max(low, SMALLEST) if low == 0 else math.nextafter(low, math.inf)) if opened_at[0] else low
    return low, math.nextafter(high, -math.inf) if opened_at[1] else high


@contextmanager
def _instead(name: str, made: Callable[..., Any]) -> Iterator[None]:
    own = getattr(checks, name)
    rooms = [one for key, one in list(sys.modules.items()) if is_text_module(key) and vars(one).get(name) is own]
    try:
        for room in rooms:
            setattr(room, name, made)
        yield
    finally:
        for room in rooms:
            setattr(room, name, own)


def given(params: Any, opens: Opens) -> Any:
    """The same parameters, made anew with open numbers, so that what is computed from them is open as well."""
    own = {one.name: getattr(params, one.name) for one in fields(params) if one.init}
    own |= {name: opens.parameter(name, getattr(params, name)) for name in opens.ranges}
    return type(params)(**own)


def stays(what: str, value: P, other: Any) -> P:
    """A value that open parameters leave as it is. Errors: Unmodelled where they do not."""
    if any(True for _ in opened(other)) or other != value:
        raise Unmodelled(f"{what} follows from a parameter that is open")
    return value


def said(ranges: Mapping[str, Range]) -> str:
    """The ranges in words."""
    each = (f"every {name} from {_plainly(low)} to {_plainly(high)}" for name, (low, high) in ranges.items())
    return "for " + " and ".join(each) + ", " if ranges else ""


def _plainly(value: float) -> str:
    return f"{value:.9g}"


def ends(params: Any, ranges: Mapping[str, Range]) -> Iterator[tuple[str, Any]]:
    """Parameters at the lower and at the upper ends of all ranges, with what they are called."""
    for which, side in (("lower", 0), ("upper", 1)):
        at = {name: both[side] for name, both in ranges.items()}
        named = ", ".join(f"{name} = {_plainly(value)}" for name, value in at.items())
        yield f"read with {named}, the {which} end", replace(params, **at)


def about(ranges: Mapping[str, Range]) -> tuple[str, ...]:
    """What a proof with these ranges covers beside."""
    if not ranges:
        return ()
    names = " and ".join(ranges)
    return (f"all values of {names} in the range, as real numbers: the text computes with them and sees none",)


def trusted(ranges: Mapping[str, Range]) -> tuple[str, ...]:
    """What it rests on beside."""
    if not ranges:
        return ()
    return (f"the account for all values of {' and '.join(ranges)}: it is made at the settings' own and at the ends, "
            "and for the others it is shown that no bound is larger beside its noise",)  # fmt: skip
