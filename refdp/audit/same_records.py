"""Whether both sides of a pair are the same data set, or the same records in another order: no record differs there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np

from refdp.data.records import Records

PLAIN = (bool, int, float, complex, str, bytes, type(None))


class _Unknown(Exception):
    """Something of which nobody can say whether it equals another."""


def is_same(first: Any, second: Any) -> bool:
    """Whether both are one object, or hold the same: numbers, texts, arrays, tables, lists and dictionaries of these.

    False where that cannot be told, as of arrays of other types.
    """
    if first is second:
        return True
    try:
        return _size(first) == _size(second) and _named(first) == _named(second)
    except (_Unknown, RecursionError):
        return False


def is_reordered(first: Any, second: Any) -> bool:
    """Whether arrays, tables or lists have the same records, in whatever order; False where that cannot be told."""
    try:
        return _size(first) == _size(second) and Counter(_records(first)) == Counter(_records(second))
    except (_Unknown, RecursionError):
        return False


def _size(thing: Any) -> int:
    """Of a data set; others than the same sizes are not read."""
    if isinstance(thing, Records):
        return thing.size
    shape = getattr(thing, "shape", None)
    return len(thing) if type(thing) in (list, tuple, dict) else shape[0] if shape else -1


def _records(thing: Any) -> list[Hashable]:
    if isinstance(thing, Records):
        weight = np.ones(thing.size) if thing.weight is None else thing.weight
        return _records(np.column_stack([thing.x, thing.y, weight]))
    if _is_table(thing):
        names = _named(list(thing.columns))
        return [(names, row) for row in _records(thing.to_numpy(dtype=object))]
    if isinstance(thing, np.ndarray) and thing.ndim:
        return [_named(row) for row in thing]
    if type(thing) in (list, tuple):
        return [_named(one) for one in thing]
    raise _Unknown


def _named(thing: Any) -> Hashable:
    """Equal for what is equal; zeros of both signs are, and whatever is not a number."""
    if isinstance(thing, np.generic):
        thing = thing.item()
    if type(thing) in PLAIN:
        return "not a number" if thing != thing else thing
    if isinstance(thing, np.ndarray) and thing.dtype.kind in "fiub":
        return thing.dtype.str, thing.shape, (thing if thing.dtype.kind == "b" else thing + 0).tobytes()
    if isinstance(thing, np.ndarray) and not thing.ndim:
        return _named(thing.item())
    if type(thing) is dict:
        return tuple((key, _named(held)) for key, held in thing.items())
    if _is_table(thing):
        return _named(list(thing.index)), *_records(thing)
    return tuple(_records(thing))


def _is_table(thing: Any) -> bool:
    return all(hasattr(thing, name) for name in ("columns", "index", "to_numpy"))
