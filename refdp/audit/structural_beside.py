"""What stands beside the items and fields of an object, and parts of numbers that are easily passed over.

A subclass of list may have attributes, a dataclass more than its fields: whoever holds the object reads these as well
as the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any

import numpy as np


def beside(thing: Any) -> Iterator[tuple[str, Any]]:
    """Attributes of a container, further ones of a dataclass, and what an exception was made from."""
    if isinstance(thing, BaseException):
        yield ".args", thing.args
    if is_dataclass(thing):
        known = {field.name for field in fields(thing)}
    elif isinstance(thing, Mapping | list | tuple | set | frozenset | np.ndarray):
        known = {"_mask", "_data"}
    else:
        return
    if isinstance(thing, np.ma.MaskedArray):  # its attributes are numpy's own
        return
    yield from ((f".{name}", part) for name, part in getattr(thing, "__dict__", {}).items() if name not in known)


def number_parts(number: complex | Decimal | np.datetime64 | np.timedelta64) -> Iterator[tuple[str, float | int | str]]:
    """A number that is no float, as floats: what the first one leaves over is the second."""
    if isinstance(number, complex):
        yield from ((".real", number.real), (".imag", number.imag))
    elif isinstance(number, Decimal):
        nearest = float(number) if not number.is_nan() else float("nan")
        yield ".float", nearest
        left = number - Decimal(repr(nearest)) if number.is_finite() and np.isfinite(nearest) else Decimal(0)
        if left:
            yield ".left", float(left)
        yield ".exponent", str(number.as_tuple().exponent)
    else:
        yield from ((".ticks", int(number.astype(np.int64))), (".unit", str(number.dtype)))
