"""Memory that stands behind an array, and holds more than the array shows."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from refdp.audit.by_name import HEAP_TYPE, has_its_name
from refdp.audit.padding import shown


def behind(array: np.ndarray) -> Any:
    """What the memory of an array belongs to, if that holds more than the array; None otherwise.

    A slice of a longer array has the rest behind it, and so have numbers that are read from the middle of bytes, and
    some fields of an array of records.
    """
    base: Any = array.base
    while type(base).__name__ == "DummyArray" and has_its_name(type(base)):  # numpy's, where strides were set by hand
        base = base.base
    if base is None or (type(base).__name__ == "PyCapsule" and not type(base).__flags__ & HEAP_TYPE):
        return None  # nothing of Python's
    if (owner := _of_python(base)) is not None:
        return owner
    whole = array.flags.c_contiguous or array.flags.f_contiguous
    return None if whole and _size(base) == array.nbytes and shown(array.dtype).all() else base


def _of_python(base: Any) -> Any:
    """What memory belongs to, if that is of a class which Python made: its attributes are no memory."""
    while type(base) is memoryview:
        base = base.obj
    kind = type(base)
    made = vars(kind).get("__new__")  # of its own where another language made the class, which no class of Python's has
    if isinstance(made, types.BuiltinFunctionType) and made.__self__ is kind and made.__name__ == "__new__":
        return None
    return base if kind.__flags__ & HEAP_TYPE else None


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
