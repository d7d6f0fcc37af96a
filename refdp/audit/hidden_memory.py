"""Memory that stands behind an array, and holds more than the array shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from refdp.audit.padding import shown


def behind(array: np.ndarray) -> Any:
    """What the memory of an array belongs to, if that holds more than the array; None otherwise.

    A slice of a longer array has the rest behind it, and so have numbers that are read from the middle of bytes, and
    some fields of an array of records.
    """
    base: Any = array.base
    while type(base).__name__ == "DummyArray":  # numpy's own, around an array whose strides were set by hand
        base = base.base
    if base is None or type(base).__name__ == "PyCapsule":  # nothing of Python's
        return None
    whole = array.flags.c_contiguous or array.flags.f_contiguous
    return None if whole and _size(base) == array.nbytes and shown(array.dtype).all() else base


def between(records: np.ndarray | np.void) -> bool:
    """Whether anything stands in bytes of records that no field shows."""
    hidden = ~shown(records.dtype)
    if not hidden.any():
        return False
    return bool(np.frombuffer(records.tobytes(), dtype=np.uint8).reshape(-1, len(hidden))[:, hidden].any())


def _size(base: Any) -> int:
    """Bytes of memory, -1 where that is not known."""
    if isinstance(base, np.ndarray):
        return base.nbytes if type(base) is np.ndarray and behind(base) is None else -1
    try:
        if type(base) is memoryview and (not base.contiguous or _size(base.obj) != base.nbytes):
            return -1
        return memoryview(base).nbytes
    except TypeError:
        return -1
