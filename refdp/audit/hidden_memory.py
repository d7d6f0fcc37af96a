"""Memory that stands behind an array, and holds more than the array shows."""

from __future__ import annotations

import datetime
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from refdp.audit.by_name import HEAP_TYPE
from refdp.audit.inside import attributes
from refdp.audit.padding import shown

_STRIDED: Any = np.lib.stride_tricks.as_strided(np.zeros(1))
BY_HAND = type(_STRIDED.base)
"""Numpy's own object around an array whose strides were set by hand."""
CAPSULE = type(datetime.datetime_CAPI)
"""Of memory that is nothing of Python's."""
INTERFACE = frozenset({"data", "typestr", "descr", "shape", "strides", "version"})


def behind(array: np.ndarray) -> Any:
    """What the memory of an array belongs to, if that holds more than the array; None otherwise.

    A slice of a longer array has the rest behind it, and so have numbers that are read from the middle of bytes, and
    some fields of an array of records; so has an object whose class has more than bytes.
    """
    base: Any = array.base
    while type(base) is BY_HAND and type(base) is not np.ndarray and _is_as_made(base):
        base = base.base
    if base is None or type(base) is CAPSULE:
        return None
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
    """Bytes of memory, -1 where that is not known, or where there is more than these."""
    if isinstance(base, np.ndarray):
        alone = type(base) is np.ndarray and behind(base) is None and not any(metadata(base.dtype))
        return base.nbytes if alone else -1
    if type(base).__flags__ & HEAP_TYPE and (_of_python(base) is not None or any(attributes("", base))):
        return -1
    try:
        if type(base) is memoryview and (not base.contiguous or _size(base.obj) != base.nbytes):
            return -1
        return memoryview(base).nbytes
    except TypeError:
        return -1


def _is_as_made(base: Any) -> bool:
    """Whether what numpy put around an array has nothing that numpy did not put there."""
    held = vars(base)
    interface = held.get("__array_interface__", {})
    return held.keys() <= {"__array_interface__", "base"} and type(interface) is dict and interface.keys() <= INTERFACE


def metadata(dtype: np.dtype[Any], place: str = ".dtype") -> Iterator[tuple[str, Any]]:
    """What somebody put beside a type of numbers, or beside that of a field, by places."""
    if dtype.metadata:
        yield f"{place}.metadata", dict(dtype.metadata)
    if dtype.subdtype is not None:
        yield from metadata(dtype.subdtype[0], f"{place}.base")
    for name, field in (dtype.fields or {}).items():
        yield from metadata(field[0], f"{place}[{name!r}]")
