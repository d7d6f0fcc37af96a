"""Who a record belongs to: people and owners by name, so that one of them is never taken for two.

A whole number is its digits whatever its type: 1, numpy's 1 and 1.0 (as pandas writes 1 beside missing values) are the
text "1". Text is itself without spaces around it; capitals and leading zeros count, and "1.0" is not "1". Everything
else is refused: missing values, empty text, truth values, fractions, and objects whose text may change.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from refdp.errors import InvalidRecords

_EXACT = 2.0**53
"""Beyond, different whole numbers are one float."""


def canonical(names: Any, what: str) -> list[str]:
    """One name each, of a list, an array, or a table of one column. what: for errors.

    Errors: InvalidRecords, which quotes no name; they may be private.
    """
    found = [_name(one) for one in _listed(names, what)]
    if None in found:
        raise InvalidRecords(
            f"{what}: a name is missing, empty, or of a kind whose text does not tell who is who; whole numbers, texts "
            "and UUIDs are allowed"
        )
    return [name for name in found if name is not None]


def _listed(names: Any, what: str) -> Iterable[Any]:
    """The names as Python has them. Errors: InvalidRecords for several columns, and for what has no order."""
    if hasattr(names, "columns") and hasattr(names, "__len__"):  # a data frame, or a table of Arrow
        if len(names.columns) != 1:
            raise InvalidRecords(f"{what}: a table of one column is needed, or a list of names")
        names = names[names.columns[0]] if hasattr(names, "dtypes") else names.columns[0]
    if isinstance(names, np.ma.MaskedArray):
        names = np.ma.filled(names.astype(object), np.nan)
    if isinstance(names, np.ndarray) and names.ndim > 1 and names.size == len(names):
        names = names.ravel()
    unordered = isinstance(names, str | bytes | Mapping | Set) or not isinstance(names, Iterable)
    if unordered or getattr(names, "ndim", 1) != 1:
        raise InvalidRecords(f"{what}: a list of names is needed")
    listed: Iterable[Any] = names.to_pylist() if hasattr(names, "to_pylist") else names
    return listed


def _name(value: Any) -> str | None:
    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case bool():
            return None
        case int():
            return str(value)
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < _EXACT else None
        case str():
            return value.strip() or None
        case uuid.UUID():
            return str(value)
    return None
