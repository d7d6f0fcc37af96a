"""What stands beside the items and fields of an object, and parts of numbers that are easily passed over.

A subclass of list may have attributes, a dataclass more than its fields: whoever holds the object reads these as well
as the rest.
"""

from __future__ import annotations

import contextlib
import gc
import io
import types
import weakref
from array import array
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from refdp.audit.by_name import has_its_name
from refdp.audit.in_floats import of_text
from refdp.audit.inside import attributes, foreign, inside, of_error, reduced
from refdp.audit.kept import CACHED, kept_beside
from refdp.audit.row_names import Named, key_name


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
    elif isinstance(thing, WITH_MORE):
        known = frozenset()
    else:
        return
    for place, part in attributes("", thing):
        unsaid = isinstance(thing, np.ma.MaskedArray) and type(part) is dict and not part
        if not unsaid and place[1:].removesuffix(" (unset)") not in known:
            yield place, part


WITH_MORE = (Mapping, list, tuple, set, frozenset, np.ndarray, complex, np.complexfloating, Decimal, np.datetime64,
             np.timedelta64, property, classmethod, staticmethod)  # fmt: skip
"""Read by what their own class says, so that attributes follow."""
OF_MASKED = frozenset({"_mask", "_data", "_fill_value", "_hardmask", "_sharedmask", "_isfield", "_baseclass"})
"""Attributes of a masked array by which numpy keeps what is read by other names."""


Number = complex | np.complexfloating[Any, Any] | Decimal | np.datetime64 | np.timedelta64


def number_parts(number: Number) -> Iterator[tuple[str, Any]]:
    """A number that is no float, as floats: what the first one leaves over are the others."""
    if isinstance(number, complex | np.complexfloating):
        yield from ((".real", number.real), (".imag", number.imag))
    elif isinstance(number, Decimal):
        parts = [float("nan")] if number.is_nan() else list(of_text(Decimal.__str__(number)))
        yield ".float", parts[0]
        yield from ((f".left{f'[{place}]' * (place > 0)}", part) for place, part in enumerate(parts[1:]))
        yield ".exponent", str(number.as_tuple().exponent)
        if number.is_nan() and (number.as_tuple().digits or number.is_signed()):
            yield ".digits", str((number.as_tuple().sign, number.as_tuple().digits))
    else:
        yield from ((".ticks", int(number.astype(np.int64))), (".unit", str(number.dtype)))


TIMES = (date, time, timedelta)
_OF_TIMES: tuple[tuple[type, tuple[str, ...]], ...] = (
    (timedelta, ("days", "seconds", "microseconds")),
    (date, ("year", "month", "day")),
    (datetime, ("hour", "minute", "second", "microsecond", "fold", "tzinfo")),
    (time, ("hour", "minute", "second", "microsecond", "fold", "tzinfo")),
)
_TICKS = {"days": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000,
          "seconds": 1_000_000, "microsecond": 1, "microseconds": 1}  # fmt: skip


def time_parts(thing: date | time | timedelta) -> Iterator[tuple[str, Any]]:
    """A date, a time of day or a span in microseconds, those since 1970 if it has a date, and its fields."""
    named = [(name, getattr(kind, name).__get__(thing)) for kind, names in _OF_TIMES if isinstance(thing, kind)
             for name in names]  # fmt: skip
    days = date.toordinal(thing) - date(1970, 1, 1).toordinal() if isinstance(thing, date) else 0
    yield ".ticks", days * _TICKS["days"] + sum(_TICKS[name] * held for name, held in named if name in _TICKS)
    yield from ((f".{name}", held) for name, held in named)


def ufunc_parts(thing: np.ufunc) -> Iterator[tuple[str, Any]]:
    """Attributes of a function of numpy's, and the one that it was made of while Python ran."""
    yield from attributes("", thing)
    if not has_its_name(thing, thing.__name__):
        held = [one for one in gc.get_referents(thing) if not isinstance(one, dict)]
        yield from ((".made of", held), (".identity", thing.identity), (".__doc__", thing.__doc__))
        yield ".signature", (thing.nin, thing.nout, thing.signature)


IN_C = (io.BytesIO, io.StringIO, array, weakref.finalize)
"""Read by what their own class says, as a subclass may say otherwise, and attributes do not say it."""


def in_c(thing: Any) -> Iterator[tuple[str, Any]]:
    """What is in memory that is a file, in an array of Python's, in what is called at an object's end; attributes."""
    if isinstance(thing, weakref.finalize):
        yield from ((".peek()", weakref.finalize.peek(thing)), (".atexit", weakref.finalize.atexit.__get__(thing)))
    elif isinstance(thing, array):
        yield from ((".values", array.tolist(thing)), (".typecode", array.typecode.__get__(thing)))
    else:
        kind: Any = io.BytesIO if isinstance(thing, io.BytesIO) else io.StringIO
        closed = kind.closed.__get__(thing)
        yield ".closed", closed
        if not closed:
            yield from ((".getvalue()", kind.getvalue(thing)), (".tell()", kind.tell(thing)))
            if isinstance(thing, io.StringIO):
                state: Any = io.StringIO.__getstate__(thing)
                yield ".newline", state[1]
    yield from attributes("", thing)


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
    """The functions in what stands for one in a class, and what else a property keeps, whatever its class says."""
    if isinstance(thing, property):
        for name in ("fget", "fset", "fdel", "__doc__", "__name__"):  # the last one since Python 3.13
            with contextlib.suppress(AttributeError):
                yield f".{name}", vars(property)[name].__get__(thing) if name in vars(property) else None
    else:
        yield ".__func__", thing.__func__


VIEWS = tuple(
    type(view)
    for made in (dict[str, int](), OrderedDict[str, int]())
    for view in (made.keys(), made.values(), made.items())
)
"""What shows the keys or values of a dictionary, and has all of it."""
WALKED = (*VIEWS, dict, list, tuple, set, frozenset, np.ndarray, np.generic, complex, Decimal, types.MappingProxyType,
          np.ufunc, *IN_C, BaseException, property, classmethod, staticmethod, memoryview)  # fmt: skip
"""What is read by itself, whatever pickle would be given."""


def is_closed(thing: Any) -> bool:
    """Whether nothing can be seen of what something is made of: another language's object that pickle is not given.

    What a module has under the name that it gives itself is the module's.
    """
    if issubclass(type(thing), CACHED) and not CACHED.cache_info(thing).currsize:
        return False
    if isinstance(thing, WALKED) or is_frame(thing) or not foreign(type(thing)):
        return False
    try:
        kept = reduced(thing)
    except Exception:  # foreign code
        return True
    return isinstance(kept, str) and not has_its_name(thing, kept)


FRAMES = ("Series", "DataFrame", "Index")
OF_TABLES = frozenset({"_mgr", "_attrs", "_flags", "_name"})
OF_INDEXES = frozenset({"_name", "_names", "_data", "_range", "_levels", "_codes", "_freq", "sortorder"})
"""Names under which pandas keeps what is read by other names."""
OF_MANAGERS = frozenset({"axes", "blocks", "refs", "_blknos", "_blklocs", "_is_consolidated", "_known_consolidated"})
"""Names under which what holds a table's values has these, and what it computed of them."""
EMPTY = {"_id": "object", "_references": "BlockValuesRefs", "_is_copy": "ReferenceType"}
"""Types of what pandas keeps that is not of the values; of these names None, too."""


def is_frame(thing: Any) -> bool:
    """Whether it is a table, a column or an index of pandas."""
    named = (one for one in type(thing).__mro__ if one.__name__ in FRAMES and one.__module__.split(".")[0] == "pandas")
    return any(map(has_its_name, named))


def frame_parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """Values, labels of rows and columns, and whatever else a table of pandas was given."""
    if hasattr(thing, "columns"):
        for place, label in enumerate(thing.columns):
            yield Named(f".iloc[:, {place}]", key_name(label)), _values(thing.iloc[:, place])
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
    yield from _of_range(thing)
    yield from _of_manager(getattr(thing, "_mgr", None))
    of_pandas = OF_TABLES if hasattr(thing, "index") else OF_INDEXES
    for name, part in vars(thing).items():
        if name == "_cache" and type(part) is dict and not hasattr(thing, "index"):
            own = {key: kept for key, kept in part.items() if not _is_computed(type(thing), key, kept)}
            yield from [(f".{name}", own)] if own else []
        elif name == "_item_cache" and type(part) is dict:
            own = {key: kept for key, kept in part.items() if not _is_column(thing, key, kept)}
            yield from [(f".{name}", own)] if own else []
        elif name not in of_pandas and not (part is None and name in EMPTY) and type(part).__name__ != EMPTY.get(name):
            yield f".{name}", part


def _is_computed(kind: type, name: Any, kept: Any) -> bool:
    """Whether an index keeps there what it computed of its values."""
    return isinstance(name, str) and hasattr(kind, name) and type(kept) not in (int, float, bytes)


def _is_column(table: Any, key: Any, kept: Any) -> bool:
    """Whether a table keeps there a column of its own, as it does once one was asked for."""
    if type(kept).__name__ != "Series" or not is_frame(kept) or kept.attrs or key not in list(table.columns):
        return False
    return bool(kept.equals(table.iloc[:, list(table.columns).index(key)]))


def _of_manager(manager: Any) -> Iterator[tuple[str, Any]]:
    """What was put beside the values of a table."""
    for place, part in attributes("._mgr", manager):
        name = place.rpartition(".")[2].removesuffix(" (unset)")
        if name == "_cache" and type(part) is dict:
            own = {key: kept for key, kept in part.items() if not _is_computed(type(manager), key, kept)}
            yield from [(place, own)] if own else []
        elif name not in OF_MANAGERS:
            yield place, part


def _of_range(index: Any) -> Iterator[tuple[str, Any]]:
    """End and step of a range of labels where the labels do not tell them."""
    if not isinstance(getattr(index, "_range", None), range):
        return
    labels: range = index._range
    step = labels.step if len(labels) > 1 else 1
    if labels != range(0) and (labels.step, labels.stop) == (step, labels.start + step * len(labels)):
        return
    if (labels.start, labels.stop, labels.step) != (0, 0, 1):
        yield from ((".start", labels.start), (".stop", labels.stop), (".step", labels.step))


def frame_kinds(thing: Any) -> str:
    """The types of columns, or of a column or an index, in words."""
    types_of = list(thing.dtypes) if hasattr(thing, "columns") else [getattr(thing, "dtype", "")]
    return " ".join(f"{one} {getattr(one, 'storage', '')} {getattr(one, 'na_value', '')!r}" for one in types_of)


def _values(column: Any) -> Any:
    """Texts and numpy's own types as an array; other types of pandas as they are kept, what is under a mask too."""
    plain = isinstance(column.dtype, np.dtype) or column.dtype.type is str
    return column.to_numpy(dtype=object if column.dtype.type is str else None, copy=True) if plain else column.array
