"""Whether both sides of a pair are the same data set, or the same records in another order: no record differs there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from refdp.audit.padding import without_padding
from refdp.audit.structural_state import read
from refdp.data.records import Records

PLAIN = (bool, int, float, complex, str, bytes, type(None))
WRITTEN = (date, time, timedelta, tzinfo, Decimal, Fraction, UUID, range)
"""Kinds whose text says all that they are."""


class _Unknown(Exception):
    """Something of which nobody can say whether it equals another."""


def is_same(first: Any, second: Any) -> bool:
    """Whether both are one object, or hold the same: numbers, texts, dates, arrays, tables, lists and dictionaries.

    Other things are the same where all that `refdp.audit.structural_state` reads of them is. False where that cannot be
    told, as of what is not read everywhere.
    """
    if first is second:
        return True
    try:
        return _size(first) == _size(second) and _named(first) == _named(second)
    except Exception:  # nobody can say, or a foreign class's own code
        return False


def is_reordered(first: Any, second: Any) -> bool:
    """Whether arrays, tables or lists have the same records, in whatever order; False where that cannot be told.

    So have a table or matrix and what belongs to its rows, in a tuple or a dictionary.
    """
    try:
        if _size(first) != _size(second):
            return False
        if (parts := _rowwise(first)) is not None and (others := _rowwise(second)) is not None:
            return parts[0] == others[0] and Counter(zip(*parts[1])) == Counter(zip(*others[1]))
        return Counter(_records(first)) == Counter(_records(second))
    except Exception:  # nobody can say, or a foreign class's own code
        return False


def _size(thing: Any) -> int:
    """Of a data set; others than the same sizes are not read."""
    if isinstance(thing, Records):
        return thing.size
    shape = getattr(thing, "shape", None)
    return len(thing) if type(thing) in (list, tuple, dict) else shape[0] if isinstance(shape, tuple) and shape else -1


def _rowwise(thing: Any) -> tuple[Hashable, list[list[Hashable]]] | None:
    """Names and rows of parts that have a row for each record, as (X, y) has; None where the parts may be records.

    They are none where one is a table or a matrix and another is none.
    """
    if type(thing) not in (tuple, dict) or len(thing) < 2:
        return None
    parts = list(thing.values() if type(thing) is dict else thing)
    if not all(type(one) is list or _is_table(one) or _is_series(one) or isinstance(one, np.ndarray) for one in parts):
        return None
    wide = [_is_table(one) or getattr(one, "ndim", 1) == 2 for one in parts]
    if len({_size(one) for one in parts}) > 1 or all(wide) or not any(wide):
        return None
    return tuple(thing) if type(thing) is dict else (), [list(_records(one)) for one in parts]


def _records(thing: Any) -> Iterator[Hashable]:
    if isinstance(thing, Records):
        weight = np.ones(thing.size) if thing.weight is None else thing.weight
        yield from _records(np.column_stack([thing.x, thing.y, weight]))
    elif _is_table(thing):
        names = _named(list(thing.columns))
        yield from ((names, *row) for row in zip(_labels(thing), _records(thing.to_numpy(dtype=object))))
    elif _is_series(thing):
        yield from zip(_labels(thing), _records(thing.to_numpy(dtype=object)))
    elif isinstance(thing, np.ma.MaskedArray) and thing.ndim:
        mask = np.ma.getmaskarray(thing)
        yield from ((_named(row), _named(one)) for row, one in zip(np.asarray(thing.data), mask))
    elif isinstance(thing, np.ndarray) and thing.ndim:
        yield from (_named(row) for row in np.asarray(thing))
    elif type(thing) in (list, tuple):
        yield from (_named(one) for one in thing)
    else:
        raise _Unknown


def _labels(thing: Any) -> list[Hashable]:
    """Of the rows of a table; zeros where these are their places, in whatever order."""
    labels = [_named(one) for one in thing.index]
    return [0] * len(labels) if set(labels) == set(range(len(labels))) else labels


def _named(thing: Any) -> Hashable:
    """Equal for what is equal; zeros of both signs are, and whatever is not a number."""
    if isinstance(thing, np.generic) and thing.dtype.kind in "fiubcUS" and thing.dtype.itemsize <= 8:
        thing = thing.item()
    if type(thing) in PLAIN:
        return "not a number" if thing != thing else thing
    if isinstance(thing, WRITTEN):
        return type(thing).__name__, repr(thing)
    if isinstance(thing, np.ma.MaskedArray):
        return "masked", _named(np.asarray(thing.data)), _named(np.ma.getmaskarray(thing))
    if isinstance(thing, np.ndarray | np.generic) and thing.dtype.kind in "fiubcmMUS":
        held = np.asarray(thing)
        return held.dtype.str, held.shape, without_padding(held + 0 if held.dtype.kind in "fiuc" else held)[0]
    if isinstance(thing, np.ndarray) and thing.dtype.names:
        return tuple((name, _named(thing[name])) for name in thing.dtype.names)
    if isinstance(thing, np.ndarray) and not thing.ndim:
        return _named(thing.item())
    if type(thing) is dict:
        return tuple((_named(key), _named(held)) for key, held in thing.items())
    if type(thing) in (set, frozenset):
        return "set", frozenset(map(_named, thing))
    if _is_table(thing) or _is_series(thing):
        return _named(getattr(thing, "name", None)), _named(list(thing.index)), *_records(thing)
    if type(thing) in (list, tuple) or isinstance(thing, np.ndarray | Records):
        return tuple(_records(thing))
    return _read(thing)


def _read(thing: Any) -> Hashable:
    """All that is read of a thing. Errors: _Unknown where that is not everything."""
    found = read(thing)
    if found.left:
        raise _Unknown
    leaves = tuple((path, "not a number" if leaf != leaf else leaf) for path, leaf in found.leaves.items())
    return leaves, tuple(found.form), tuple(found.spelled)


def _is_table(thing: Any) -> bool:
    return all(hasattr(thing, name) for name in ("columns", "index", "to_numpy"))


def _is_series(thing: Any) -> bool:
    return hasattr(thing, "index") and hasattr(thing, "to_numpy") and not hasattr(thing, "columns")
