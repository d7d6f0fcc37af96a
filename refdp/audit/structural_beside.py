"""What stands beside the items and fields of an object, and parts of numbers that are easily passed over.

A subclass of list may have attributes, a dataclass more than its fields: whoever holds the object reads these as well
as the rest.
"""

from __future__ import annotations

import types
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from refdp.audit.by_name import has_its_name
from refdp.audit.inside import attributes, foreign, inside, of_error, reduced
from refdp.audit.kept import kept_beside


def beside(thing: Any) -> Iterator[tuple[str, Any]]:
    """Attributes of a container, further ones of a dataclass, what an exception was made from."""
    if isinstance(thing, BaseException):
        yield ".args", thing.args
        yield from of_error("", thing)
    if isinstance(thing, defaultdict):
        yield ".default_factory", thing.default_factory
    yield from _further(thing)


def own_class(thing: Any) -> Iterator[tuple[str, Any]]:
    """The class of an object, where a run made it: what its methods and attributes know, the object knows."""
    if not has_its_name(type(thing)):
        yield ".__class__", type(thing)


def _further(thing: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, np.ma.MaskedArray):
        known = OF_MASKED
        if thing.hardmask:
            yield ".hardmask", True
        if thing.fill_value != np.ma.default_fill_value(thing.dtype):
            yield ".fill_value", thing.fill_value
    elif is_dataclass(thing):
        known = frozenset(field.name for field in fields(thing))
    elif isinstance(thing, Mapping | list | tuple | set | frozenset | np.ndarray):
        known = frozenset()
    else:
        return
    for place, part in attributes("", thing):
        unsaid = isinstance(thing, np.ma.MaskedArray) and type(part) is dict and not part
        if not unsaid and place[1:].removesuffix(" (unset)") not in known:
            yield place, part


OF_MASKED = frozenset({"_mask", "_data", "_fill_value", "_hardmask", "_sharedmask", "_isfield", "_baseclass"})
"""Attributes of a masked array by which numpy keeps what is read by other names."""


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
        if number.is_nan() and number.as_tuple().digits:
            yield ".digits", str(number.as_tuple().digits)
    else:
        yield from ((".ticks", int(number.astype(np.int64))), (".unit", str(number.dtype)))


def of_code(thing: Any) -> Iterator[tuple[str, Any]]:
    """What functions, methods, classes and modules hold, where no name says it."""
    if isinstance(thing, types.FunctionType):
        yield from ((f".{name}", part) for name, part in kept_beside(thing).items())
        if not has_its_name(thing):
            names: dict[str, Any] = {"__name__": thing.__code__.co_name, "__doc__": None, "__annotations__": {}}
            yield from ((f".{name}", getattr(thing, name)) for name, as_is in names.items()
                        if getattr(thing, name) != as_is)  # fmt: skip
    elif isinstance(thing, types.MethodType):
        yield from ((".__self__", thing.__self__), (".__func__", thing.__func__))
    elif isinstance(thing, types.CodeType):
        yield ".co_consts", thing.co_consts
    elif isinstance(thing, type | types.ModuleType | types.BuiltinFunctionType) and not has_its_name(thing):
        yield from inside("", thing)


def wrapped(thing: property | classmethod[Any, Any, Any] | staticmethod[Any, Any]) -> Iterator[tuple[str, Any]]:
    """The functions in what stands for one in a class."""
    if isinstance(thing, property):
        yield from ((".fget", thing.fget), (".fset", thing.fset), (".fdel", thing.fdel))
    else:
        yield ".__func__", thing.__func__


VIEWS = tuple(
    type(view)
    for made in (dict[str, int](), OrderedDict[str, int]())
    for view in (made.keys(), made.values(), made.items())
)
"""What shows the keys or values of a dictionary, and has all of it."""
WALKED = (*VIEWS, dict, list, tuple, set, frozenset, np.ndarray, np.generic, complex, Decimal, types.MappingProxyType,
          np.ufunc, BaseException, property, classmethod, staticmethod, memoryview)  # fmt: skip
"""What is read by itself, whatever pickle would be given."""


def is_closed(thing: Any) -> bool:
    """Whether nothing can be seen of what something is made of: another language's object that pickle is not given.

    What a module has under the name that it gives itself is the module's.
    """
    if hasattr(type(thing), "cache_info") and not thing.cache_info().currsize:
        return False
    if isinstance(thing, WALKED) or is_frame(thing) or not foreign(type(thing)):
        return False
    try:
        kept = reduced(thing)
    except Exception:  # foreign code
        return True
    return isinstance(kept, str) and not has_its_name(thing, kept)


FRAMES = ("Series", "DataFrame", "Index")
OF_FRAMES = frozenset({"_mgr", "_attrs", "_flags", "_name", "_names", "_data", "_cache", "_id", "_references", "_range",
                       "_levels", "_codes", "_freq", "_item_cache", "_is_copy", "sortorder", "_metadata"})  # fmt: skip
"""Names under which pandas keeps what is read by other names."""


def is_frame(thing: Any) -> bool:
    """Whether it is a table, a column or an index of pandas."""
    return any(one.__name__ in FRAMES and one.__module__.split(".")[0] == "pandas" for one in type(thing).__mro__)


def frame_parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """Values, labels of rows and columns, and whatever else a table of pandas was given."""
    if hasattr(thing, "columns"):
        yield from ((f".iloc[:, {place}]", _values(thing.iloc[:, place])) for place in range(len(thing.columns)))
        yield ".columns", thing.columns
    elif hasattr(thing, "levels"):
        yield "", [tuple(row) for row in thing]
        yield ".levels", list(thing.levels)
    else:
        yield "", _values(thing)
    if hasattr(thing, "index"):
        yield ".index", thing.index
    if hasattr(thing, "attrs"):
        yield ".attrs", dict(thing.attrs)
    if hasattr(thing, "flags"):
        yield ".flags", bool(thing.flags.allows_duplicate_labels)
    if getattr(thing, "freq", None) is not None:
        yield ".freq", str(thing.freq)
    yield ".names", list(thing.names) if hasattr(thing, "names") else getattr(thing, "name", None)
    yield from ((f".{name}", part) for name, part in vars(thing).items() if name not in OF_FRAMES)


def _values(column: Any) -> Any:
    """Texts and numpy's own types as an array; other types of pandas as they are kept, what is under a mask too."""
    plain = isinstance(column.dtype, np.dtype) or column.dtype.type is str
    return column.to_numpy(dtype=object if column.dtype.type is str else None, copy=True) if plain else column.array
