"""Bytes of an array that belong to no number: between fields, and behind the ten bytes of an extended float.

They hold what was in memory before, another thing in every run, or what somebody put there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

EXTENDED = 10 if np.finfo(np.longdouble).nmant == 63 else 0
"""Bytes of a float of 80 bits, wherever numpy has these."""


def without_padding(array: Any) -> tuple[bytes, bool]:
    """The bytes of an array, or numpy scalar, that say something; whether there are others that are not zero."""
    held = np.ascontiguousarray(np.asarray(array))
    kept = _kept(held.dtype)
    if kept.all():
        return held.tobytes(), False
    rows = np.frombuffer(held.tobytes(), np.uint8).reshape(-1, len(kept))
    return rows[:, kept].tobytes(), bool(rows[:, ~kept].any())


def _kept(dtype: np.dtype[Any]) -> NDArray[np.bool_]:
    """Which bytes of one element say something. Shape (itemsize,)."""
    kept = np.ones(dtype.itemsize, dtype=np.bool_)
    if dtype.subdtype is not None:
        part = _kept(dtype.subdtype[0])
        return np.tile(part, dtype.itemsize // max(1, len(part))) if len(part) else kept
    if dtype.fields is not None:
        kept[:] = False
        for kind, place, *_ in dtype.fields.values():
            kept[place : place + kind.itemsize] |= _kept(kind)
    elif dtype.char in "gG" and EXTENDED:
        one = np.arange(np.dtype(np.longdouble).itemsize) < EXTENDED
        one = one if dtype.isnative else one[::-1]
        kept = np.tile(one, dtype.itemsize // len(one))
    return kept
