"""Checks of public parameters. Each gives the value, what is allowed, and the parameter's name."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation


def check_number(name: str, value: Any, *, above: float | None = None, least: float | None = None,
                 below: float | None = None, most: float | None = None) -> None:  # fmt: skip
    """A finite real number inside the stated open (above, below) or closed (least, most) bounds.

    Errors: InvalidParameter for anything else.
    """
    allowed = [f"> {above}"] * (above is not None) + [f">= {least}"] * (least is not None)
    allowed += [f"< {below}"] * (below is not None) + [f"<= {most}"] * (most is not None)
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not (
        number
        and (above is None or value > above)
        and (least is None or value >= least)
        and (below is None or value < below)
        and (most is None or value <= most)
    ):
        raise InvalidParameter(f"{name} = {value!r}: a finite number {' and '.join(allowed)} is allowed")


def check_count(name: str, value: Any, *, least: int = 1, most: int = 1_000_000) -> None:
    """A whole number between least and most. Errors: InvalidParameter for anything else."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidParameter(f"{name} = {value!r}: a whole number from {least} to {most} is allowed")


def check_choices(params: Any) -> None:
    """Every field of a dataclass whose type is a Literal or a Relation holds one of the allowed values.

    Errors: InvalidParameter for the first field that does not.
    """
    for name, hint in _hints(type(params)).items():  # type: ignore[arg-type]
        value = getattr(params, name)
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
