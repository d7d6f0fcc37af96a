"""A short digest of plain values, for records of what seeded searches do: no truth, it tells changes."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from refdp.audit.replay import Pair


def digest(value: Any) -> str:
    """Twelve hexadecimal digits of a value's plain form, numbers to nine digits."""
    return hashlib.sha256(repr(plain(value)).encode()).hexdigest()[:12]


def plain(value: Any) -> Any:
    """Lists, dictionaries and texts alone; numbers as texts of nine digits."""
    match value:
        case Pair():
            return plain(value.witness() | {"target": repr(value.base.schema.target)})
        case np.ndarray():
            return [list(value.shape), plain(value.ravel().tolist())]
        case bool() | str() | None:
            return value
        case int() | float() | np.generic():
            return format(float(value), ".9g")
        case dict():
            return {str(key): plain(one) for key, one in value.items()}
        case frozenset() | set():
            return sorted(map(repr, map(plain, value)))
        case list() | tuple():
            return [plain(one) for one in value]
        case _ if is_dataclass(value):
            return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    return repr(value)
