"""An answer held against what a vector expects: equal, acceptable within a stated tolerance, or the first difference.

Exact by default: floats are compared by their bits, -0.0 is not 0.0. With a tolerance of n ulps a float may differ by
so much and is then acceptable, but a noise scale may never be smaller, nor a coefficient of the exponential mechanism
larger, than the specification's: that would be less noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from refdp.conform.plain import floated
from refdp.errors import InvalidParameter

LARGER, SMALLER = ("scale", "sd"), ("coefficient",)
"""Fields that may only be larger, or only smaller, than expected."""
FIRST = ("releases", "value", "sides", "label", "bins")
"""What comes before the rest that follows from it, so that the first difference is the cause."""


@dataclass(frozen=True)
class Difference:
    """path: where in the answer. acceptable: within the tolerance."""

    path: str
    expected: Any
    got: Any
    acceptable: bool = False


def differences(expected: Any, got: Any, ulps: int = 0, path: str = "", name: str = "") -> Iterator[Difference]:
    """Every difference in order; fields that the vector does not list are ignored."""
    if isinstance(expected, dict) and isinstance(got, dict):
        named = f"{path}{_at(expected)}"
        for key, value in sorted(expected.items(), key=lambda item: item[0] not in FIRST):
            inner = f"{named}.{key}" if named else key
            if key not in got:
                yield Difference(inner, value, None)
            else:
                yield from differences(value, got[key], ulps, inner, name if key == "values" else key)
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            yield Difference(f"{path} (length)", len(expected), len(got))
        for place, (one, other) in enumerate(zip(expected, got, strict=False)):
            yield from differences(one, other, ulps, f"{path}[{place}]", name)
    elif not (type(expected) is type(got) and expected == got):
        yield Difference(path, expected, got, _near(expected, got, ulps, name))


def _at(body: dict[str, Any]) -> str:
    """Releases are shown by their path, which says more than their position."""
    found = body.get("path", body.get("release"))
    return f" {found!r}" if isinstance(found, str) else ""


def same_number(expected: Any, got: Any) -> bool:
    """Whether two texts are ways to write the same float. Errors: InvalidParameter for other texts."""
    first, second = floated(expected), floated(got)
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return first == second and math.copysign(1, first) == math.copysign(1, second)


def _near(expected: Any, got: Any, ulps: int, name: str) -> bool:
    try:
        first, second = floated(expected), floated(got)
    except InvalidParameter:
        return False
    if same_number(expected, got):
        return True
    if not ulps or not (math.isfinite(first) and math.isfinite(second)):
        return False
    if (name in LARGER and second < first) or (name in SMALLER and second > first):
        return False
    return abs(first - second) <= ulps * math.ulp(max(abs(first), abs(second)))
