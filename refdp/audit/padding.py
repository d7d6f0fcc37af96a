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
    kept = shown(held.dtype, numbers=True)
    if kept.all():
        return held.tobytes(), False
    rows = np.frombuffer(held.tobytes(), np.uint8).reshape(-1, len(kept))
    return rows[:, kept].tobytes(), bool(rows[:, ~kept].any())


def odd_truths(array: Any) -> NDArray[np.uint8]:
    """The bytes of all truth values of an array or record, where one is neither 0 nor 1; numpy shows it as true.

    Shape (truth values,), empty where all are usual.
    """
    held = np.asarray(array)
    mask = _truths(held.dtype)
    if not mask.any() or not held.size:
        return np.empty(0, dtype=np.uint8)
    found = np.frombuffer(held.tobytes(), np.uint8).reshape(-1, len(mask))[:, mask].ravel()
    return found if found.max() > 1 else found[:0]


def _truths(dtype: np.dtype[Any]) -> NDArray[np.bool_]:
    """Which bytes of an element are truth values. Shape (itemsize,)."""
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        return np.tile(_truths(element), int(np.prod(shape)))
    mask = np.full(dtype.itemsize, dtype.kind == "b")
    for field, offset, *_ in (dtype.fields or {}).values():
        mask[offset : offset + field.itemsize] |= _truths(field)
    return mask


def shown(dtype: np.dtype[Any], *, numbers: bool = False) -> NDArray[np.bool_]:
    """Which bytes of an element its fields show. numbers: of an extended float those of the number alone.

    Shape (itemsize,).
    """
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        return np.tile(shown(element, numbers=numbers), int(np.prod(shape)))
    if dtype.fields is not None:
        mask = np.zeros(dtype.itemsize, dtype=np.bool_)
        for field, offset, *_ in dtype.fields.values():
            mask[offset : offset + field.itemsize] |= shown(field, numbers=numbers)
        return mask
    if numbers and dtype.char in "gG" and EXTENDED:
        one = np.arange(np.dtype(np.longdouble).itemsize) < EXTENDED
        return np.tile(one if dtype.isnative else one[::-1], dtype.itemsize // len(one))
    return np.ones(dtype.itemsize, dtype=np.bool_)
