"""Checks of public parameters. Each gives the value, what is allowed, and the parameter's name."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation

MOST_BITS = 1023
"""Of a whole number that is a float for certain."""

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-60, 1e15
"""Beyond, scales of noise or exponentials of accountants leave what is computed exactly."""


def check_number(name: str, value: Any, *, above: float | None = None, least: float | None = None,
                 below: float | None = None, most: float | None = None) -> None:  # fmt: skip
    """A finite real number inside the stated open (above, below) or closed (least, most) bounds.

    Errors: InvalidParameter for anything else.
    """
    allowed = [f"> {above}"] * (above is not None) + [f">= {least}"] * (least is not None)
    allowed += [f"< {below}"] * (below is not None) + [f"<= {most}"] * (most is not None)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    number = number and not _is_beyond_floats(value) and math.isfinite(value)
    if not (
        number
        and (above is None or value > above)
        and (least is None or value >= least)
        and (below is None or value < below)
        and (most is None or value <= most)
    ):
        raise InvalidParameter(f"{name} = {shown(value)}: a finite number {' and '.join(allowed)} is allowed")


def check_epsilon(value: Any) -> None:
    """A privacy budget whose square, parts and exponential the accountants' arithmetic can hold.

    Errors: InvalidParameter for anything else.
    """
    check_number("epsilon", value, above=0)
    check_number("epsilon", value, least=SMALLEST_EPSILON, most=LARGEST_EPSILON)


def check_count(name: str, value: Any, *, least: int = 1, most: int = 1_000_000) -> None:
    """A whole number between least and most. Errors: InvalidParameter for anything else."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidParameter(f"{name} = {shown(value)}: a whole number from {least} to {most} is allowed")


def shown(value: Any) -> str:
    """A value as a message shows it: whole numbers beyond all floats by their size; Python writes no long ones."""
    return f"a whole number of {value.bit_length()} bits" if _is_beyond_floats(value) else repr(value)


def _is_beyond_floats(value: Any) -> bool:
    return isinstance(value, int) and value.bit_length() > MOST_BITS


def of_numpy(value: Any) -> Any:
    """A real number of numpy, or as `plain` has it, as the one of Python, which checks take; anything else as it is,
    bools and arrays too."""
    value = plain(value)
    if type(value).__module__ != "numpy":  # which is not imported for this
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value


def plain(value: Any) -> Any:
    """A number or text of a class derived from Python's as the one of Python that it is made of, without any of that
    class's own text; anything else as it is, and a Relation."""
    kind = type(value)
    if kind in _OWN:
        return value
    return next((made(value) for base, made in _PLAIN.items() if issubclass(kind, base)), value)


_PLAIN: Mapping[type, Callable[[Any], Any]] = {float: float.__pos__, int: int.__pos__, str: str.__str__}
_OWN = (*_PLAIN, bool, Relation)


def check_choices(params: Any) -> None:
    """Every field of a dataclass whose type is a Literal or a Relation holds one of the allowed values.

    Numbers and texts become Python's own (`plain`): one that computes in its own way would equal another in a cache.
    Errors: InvalidParameter for the first field that does not.
    """
    for name, hint in _hints(type(params)).items():  # type: ignore[arg-type]
        given = getattr(params, name)
        value = plain(given)
        if value is not given:
            object.__setattr__(params, name, value)
        if get_origin(hint) is Literal and value not in get_args(hint):
            raise InvalidParameter(f"{name} = {value!r}: one of {', '.join(map(repr, get_args(hint)))} is allowed")
        if hint is Relation and not isinstance(value, Relation):
            raise InvalidParameter(
                f"{name} = {value!r}: a Relation is needed, {' or '.join(r.value for r in Relation)}"
            )


@lru_cache(maxsize=64)
def _hints(kind: type) -> dict[str, Any]:
    """The types of a class's fields."""
    return get_type_hints(kind)
