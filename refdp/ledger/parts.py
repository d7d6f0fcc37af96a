"""What a thing is made of, and where two differ of which one runs and the other was made anew from its source.

Functions are compared by their code, defaults and what they enclose, classes by all that is in them, anything else by
its class and its parts.
"""

from __future__ import annotations

import gc
import hashlib
import sys
from collections import deque, namedtuple
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import Field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from itertools import zip_longest
from operator import attrgetter, is_, itemgetter
from re import Pattern
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any, TypeVar

import numpy as np

from refdp.data.numbers import Generic

LEFT_OUT = frozenset({
    "__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__spec__", "__path__", "__annotations__",
    "__dict__", "__weakref__", "_abc_impl", "__firstlineno__", "__static_attributes__",
    "__non_callable_proto_members__", "__protocol_attrs__", "__slotnames__", "__warningregistry__",
})  # fmt: skip
"""Names in modules and classes that the interpreter and the standard library fill, and notes for people."""
BY_VALUE = (bool, int, float, complex, str, bytes, range, type(None), type(...), Fraction, Decimal, CodeType)
OF_FUNCTION = ("__code__", "__defaults__", "__kwdefaults__", "__closure__", "__globals__", "__builtins__",
               "__qualname__", "__module__")  # fmt: skip
PARTS: tuple[tuple[type, tuple[str, ...]], ...] = (
    (FunctionType, OF_FUNCTION),
    (MethodType, ("__func__", "__self__")),
    (staticmethod, ("__func__",)),
    (classmethod, ("__func__",)),
    (property, ("fget", "fset", "fdel")),
    (cached_property, ("func", "attrname")),
    (partial, ("func", "args", "keywords")),
    (GenericAlias, ("__origin__", "__args__")),
    (UnionType, ("__args__",)),
    (Pattern, ("pattern", "flags")),
    (BuiltinFunctionType, ("__name__", "__self__")),
    (MemberDescriptorType, ("__name__", "__objclass__")),
    (GetSetDescriptorType, ("__name__", "__objclass__")),
    (WrapperDescriptorType, ("__name__", "__objclass__")),
    (ContextVar, ("name",)),
    (TypeVar, ("__name__", "__bound__", "__constraints__", "__covariant__", "__contravariant__")),
    (slice, ("start", "stop", "step")),
)
"""What is made of others, and of which."""
PLAIN_NUMBERS = (True, 0, 0.0, np.float64(), np.int64(), np.bool_(), np.zeros(1), Fraction())
Parts = list[tuple[str, Any]]
Seen = list[tuple[Any, tuple[Any, ...]]]
"""What was compared, of what can change, with what was in it."""
FIXED = (tuple, frozenset, property, staticmethod, classmethod, MethodType, GenericAlias, UnionType, Pattern, slice,
         MemberDescriptorType, GetSetDescriptorType, WrapperDescriptorType, BuiltinFunctionType)  # fmt: skip
ABSENT = object()
SEEN_EMPTY = (type, ModuleType, CellType, dict, MappingProxyType, set, frozenset, list, tuple, deque, np.ndarray)
FIELD = type(vars(namedtuple("FIELD", "of"))["of"])
"""What a named tuple's fields are."""


def is_refdps(kind: type) -> bool:
    """Whether a class is that of its name in a module of refdp."""
    found: Any = sys.modules.get(kind.__module__) if kind.__module__.startswith("refdp.") else None
    for name in kind.__qualname__.split("."):
        found = vars(found).get(name) if isinstance(found, type | ModuleType) else None
    return found is kind


def unchanged(compared: tuple[Any, tuple[Any, ...]]) -> bool:
    """Whether there is in something what was in it, the very same."""
    value, before = compared
    now = _glance(value)
    return len(now) == len(before) and (
        all(map(is_, now, before))
        or all(
            one is other or (type(one) in (str, bytes) and one == other) for one, other in zip(now, before, strict=True)
        )
    )


def _glance(value: Any) -> tuple[Any, ...]:
    """Of what class something is, which can be changed in place, and what is in it, quickly."""
    if type(value) in QUICK:
        return type(value), *QUICK[type(value)](value)
    if isinstance(value, type | ModuleType):
        return type(value), *vars(value), *vars(value).values(), *getattr(value, "__bases__", ())
    return type(value), *(part for _, part in parts_of(value))


def _of_array(array: Any) -> tuple[Any, ...]:
    """A digest of the numbers: they may be many, and all of them are asked for whenever a certificate is made."""
    parts = array.ravel().tolist() if array.dtype == object else [hashlib.sha256(array.tobytes()).hexdigest()]
    return array.dtype, str(array.shape), *parts


QUICK: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    np.ndarray: _of_array,
    dict: lambda value: (*value, *value.values()),
    list: tuple,
    Fraction: attrgetter("numerator", "denominator"),
    FunctionType: attrgetter(*OF_FUNCTION),
    Field: attrgetter("name", "type", "default", "default_factory", "init", "kw_only", "_field_type"),
}


def differences(
    one: Any, other: Any, place: str, met: dict[tuple[int, int], tuple[Any, Any]], seen: Seen
) -> Iterator[str]:
    """Places in which two things differ, one running and the other made anew. met: pairs that need no look again."""
    if one is other or (id(one), id(other)) in met:
        return
    met[id(one), id(other)] = one, other
    if type(one) is not type(other):
        if _home(type(one)) != _home(type(other)):
            yield place
            return
        yield from differences(type(one), type(other), f".{type(one).__qualname__}", met, seen)
    if type(one) in BY_VALUE or isinstance(one, np.generic | np.dtype):
        if not same_code(one, other) if isinstance(one, CodeType) else repr(one) != repr(other):
            yield place
        elif type(one) is Fraction:  # whose numbers can be changed in place
            seen.append((one, _glance(one)))
        return
    parts = parts_of(one)
    if not parts and _is_closed(one):
        yield place
        return
    if type(one) not in FIXED:
        seen.append((one, _glance(one)))
    for (name, part), (named, made) in zip_longest(parts, parts_of(other), fillvalue=("", ABSENT)):
        if name != named or part is ABSENT or made is ABSENT:
            yield f"{place}{name or named}"
            return
        yield from differences(part, made, f"{place}{name}", met, seen)


def same_code(one: CodeType, other: CodeType) -> bool:
    """Whether code is the same and of the same file, but for columns, which `python -X no_debug_ranges` leaves out."""
    inner = [[each for each in code.co_consts if isinstance(each, CodeType)] for code in (one, other)]
    alike = one == other or _without_columns(one) == _without_columns(other)
    return alike and one.co_filename == other.co_filename and all(map(same_code, *inner))


def _without_columns(code: CodeType) -> tuple[Any, ...]:
    """A function's own code with its lines, without those of the functions in it."""
    inner = [isinstance(one, CodeType) for one in code.co_consts]
    rest = tuple(one for one in code.co_consts if not isinstance(one, CodeType))
    lines = [line for start, end, line in code.co_lines() for _ in range(start, end, 2)]
    return code.replace(co_linetable=b"", co_consts=rest), inner, lines


def _home(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


def parts_of(value: Any) -> Parts:
    """What something is made of, in order, by the names under which it is there."""
    for kind, names in PARTS:
        if isinstance(value, kind):
            return [("", getattr(value, name, None)) for name in names]
    if isinstance(value, ModuleType):
        return _named(value)
    if isinstance(value, type):
        return [*(("", base) for base in value.__bases__), ("", value.__qualname__), *_named(value)]
    if isinstance(value, CellType):
        return _enclosed(value)
    if isinstance(value, np.ndarray):
        numbers = value.tolist() if value.dtype == object else value.tobytes()
        return [("", value.dtype), ("", str(value.shape)), ("", numbers)]
    if isinstance(value, dict | MappingProxyType):
        return [
            part for key, one in value.copy().items() for part in (("", key), (f"[{key!r}]" * (type(key) is str), one))
        ]
    if isinstance(value, set | frozenset):
        return [("", one) for one in sorted(value, key=lambda one: getattr(one, "__qualname__", repr(one)))]
    if isinstance(value, list | tuple | deque):
        return [("", one) for one in list(value)]
    if isinstance(value, FIELD):
        return [("", value.__reduce__()[1][0])]
    if isinstance(value, np.ufunc):
        return []
    return _kept(value)


def _is_closed(value: Any) -> bool:
    """Whether nothing can be seen of what something is made of: only the very same is then what its source makes."""
    if type(value) is object or isinstance(value, SEEN_EMPTY):
        return False
    if isinstance(value, np.ufunc):
        return True
    return not hasattr(value, "__dict__") and not any("__slots__" in vars(kind) for kind in type(value).__mro__)


def _named(value: Any) -> Parts:
    """In the order of the names: what was taken away and put back comes last. Without a package's own modules, which
    any import puts there at any time."""
    own = vars(value).copy()
    place = own.get("__name__") if isinstance(value, ModuleType) and "__path__" in own else None
    return [
        (f".{name}", one)
        for name, one in sorted(own.items(), key=itemgetter(0))
        if name not in LEFT_OUT and not (place and _is_imported(one, f"{place}.{name}"))
    ]


def _is_imported(value: Any, name: str) -> bool:
    """Whether it is the module that an import of that name gives."""
    return isinstance(value, ModuleType) and sys.modules.get(name) is value


def _enclosed(cell: CellType) -> Parts:
    try:
        return [("", cell.cell_contents)]
    except ValueError:  # nothing is in it
        return []


def _kept(value: Any) -> Parts:
    """What an object keeps in its names and slots."""
    found = [(f".{name}", one) for name, one in getattr(value, "__dict__", {}).copy().items()]
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            found.append((f".{name}", getattr(value, name, None)))
    if hasattr(value, "cache_parameters"):
        calls_it = any(one is value.__wrapped__ for one in gc.get_referents(value))
        found += [("", str(value.cache_parameters())), (".__wrapped__", calls_it)]
    if _home(type(value)) == _home(Generic):
        kinds = [pair for pair in value._kinds.copy().items() if is_plain(pair[0])]
        found = [part for part in found if part[1] is not value._kinds] + [("", one) for pair in kinds for one in pair]
    return found


def is_plain(kind: type) -> bool:
    """Whether training has numbers of a kind, as a kind of kinds may say later: formulas take others beside, by which
    they are proved."""
    return type(kind) is not type or any(isinstance(number, kind) for number in PLAIN_NUMBERS)
