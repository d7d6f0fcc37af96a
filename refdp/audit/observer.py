"""Everything that a caller can observe of a run, as text: lines that are equal if and only if nothing differs.

One line for each part: where it is, its type, its exact bits. NaN equals NaN of the same bits; -0.0 is not 0.0; the
order of keys counts, and so do types, dtypes, byte orders, memory layouts and which mutable objects are shared.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from refdp.audit.by_name import has_its_name
from refdp.audit.hidden_memory import behind
from refdp.audit.inside import (
    CONTAINER_KINDS,
    CONTAINERS,
    PLAIN_KINDS,
    attributes,
    elements,
    foreign,
    inside,
    of_error,
    own_globals,
    reduced,
)
from refdp.audit.kept import CACHED
from refdp.audit.kept import room as _room
from refdp.audit.of_indexes import tables_told
from refdp.audit.padding import without_padding

MOST_BITS = 10_000
"""Python writes no longer numbers in decimal."""
LONGEST = 200
"""Longer contents are told by their digest."""


_FRAMES: dict[type, str] = {
    types.GeneratorType: "gi", types.CoroutineType: "cr", types.AsyncGeneratorType: "ag"
}  # fmt: skip
"""What waits in the middle of its text, and how its attributes begin."""


class _Sort(Enum):
    """How things of a type are looked at."""

    NAMED, ENUM, ARRAY, SCALAR, DTYPE, FUNCTION, WRAPPER, SUSPENDED, WEAK, CONTAINER, OTHER = range(11)


_SORTS: tuple[tuple[_Sort, tuple[type, ...]], ...] = (
    (_Sort.NAMED, (type, types.ModuleType, types.BuiltinFunctionType, types.CodeType)),
    (_Sort.ENUM, (Enum,)),
    (_Sort.ARRAY, (np.ndarray,)),
    (_Sort.SCALAR, (np.generic,)),
    (_Sort.DTYPE, (np.dtype,)),
    (_Sort.WRAPPER, (property, classmethod, staticmethod)),
    (_Sort.SUSPENDED, tuple(_FRAMES)),
    (_Sort.WEAK, (weakref.ReferenceType,)),
    (_Sort.FUNCTION, (types.FunctionType, types.MethodType, functools.partial)),
)
_BY_TYPE: dict[int, tuple[_Sort, type]] = {}
"""By identity, with the type itself, so that the identity stays its own."""
_MOST_TYPES = 4096


def _sort(kind: type) -> _Sort:
    """By the type itself, whatever `__class__` a thing says it has, and whatever a metaclass says it equals."""
    known = _BY_TYPE.get(id(kind))
    if known is not None:
        return known[0]
    found = _Sort.CONTAINER if id(kind) in CONTAINER_KINDS and kind is not bytearray else _Sort.OTHER
    for sort, kinds in reversed(_SORTS):
        if issubclass(kind, kinds):
            found = sort
    if len(_BY_TYPE) < _MOST_TYPES:
        _BY_TYPE[id(kind)] = found, kind
    return found


_OF_MEMBERS = frozenset({"_name_", "__objclass__", "_sort_order_"})
_OF_CODE = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_firstlineno",
            "co_name", "co_qualname", "co_filename", "co_linetable", "co_exceptiontable", "co_argcount",
            "co_posonlyargcount", "co_kwonlyargcount", "co_stacksize")  # fmt: skip


@dataclass
class View:
    """lines: place and content, in order. opaque: places whose content nobody can read from outside."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)
    _seen: dict[int, int] = field(default_factory=dict)
    _kept: list[Any] = field(default_factory=list)

    def add(self, place: str, content: str) -> None:
        """One line; content of any length."""
        if len(content) > LONGEST:
            digest = hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()
            content = f"{content[:60]!r} ... {len(content)} characters, {digest}"
        self.lines.append((place, content))

    def look(self, place: str, thing: Any) -> None:
        """Everything that `thing` consists of."""
        stack: list[tuple[str, Any]] = [(place, thing)]
        while stack:
            where, one = stack.pop()
            kind = type(one)
            if id(kind) in PLAIN_KINDS:
                self.add(where, f"{kind.__name__} {_bits(one)}")
            else:
                try:
                    parts = list(self._parts(where, one))
                except Exception as error:  # a thing's own code
                    self.add(where, f"raised {type(error).__name__}")
                    self.opaque.append(where)
                    continue
                parts.reverse()
                stack += parts

    def _parts(self, place: str, thing: Any) -> Iterator[tuple[str, Any]]:
        """Write the line of one thing that is no plain value; what is inside is given back."""
        kind = type(thing)
        sort = _sort(kind)
        if sort is _Sort.NAMED and has_its_name(thing):
            self._named(place, thing)
            return
        if id(thing) in self._seen:
            self.add(place, f"the same as object {self._seen[id(thing)]}")
            return
        self._seen[id(thing)] = len(self._seen)
        self._kept.append(thing)  # an id stays one object's
        name = f"{kind.__module__}.{kind.__qualname__}"
        if sort is _Sort.NAMED:
            self._named(place, thing)
            yield from inside(place, thing)
        elif sort is _Sort.ENUM:
            self.add(place, f"{name}.{thing._name_}")
            yield from ((f"{place}.{key}", held) for key, held in vars(thing).items() if key not in _OF_MEMBERS)
        elif sort is _Sort.ARRAY:
            yield from self._array(place, name, thing)
        elif sort is _Sort.SCALAR:
            exact, padded = without_padding(thing)
            self.add(place, f"{name} {thing.dtype.str} {exact.hex()}")
            if padded:
                self.opaque.append(f"{place}: memory between its numbers")
            if noted := _metadata(thing.dtype):
                yield f"{place}.dtype.metadata", noted
            yield from attributes(place, thing)
        elif sort is _Sort.DTYPE:
            self.add(place, f"{name} {thing.str} {thing.char} {thing.descr if thing.names else ''}{_built(thing)}")
            if noted := _metadata(thing):
                yield f"{place}.metadata", noted
        elif sort is _Sort.FUNCTION:
            yield from self._function(place, name, thing)
        elif sort is _Sort.WRAPPER:
            self.add(place, name)
            held = (thing.fget, thing.fset, thing.fdel) if isinstance(thing, property) else (thing.__func__,)
            yield from ((f"{place}[{number}]", one) for number, one in enumerate(held))
            yield f"{place}.__doc__", getattr(thing, "__doc__", None)
            yield from attributes(place, thing)
        elif sort is _Sort.SUSPENDED:
            yield from self._suspended(place, name, thing)
        elif sort is _Sort.WEAK:
            self.add(place, name)
            yield f"{place}()", weakref.ReferenceType.__call__(thing)
            yield f"{place}.__callback__", thing.__callback__
            yield from attributes(place, thing)
        elif sort is _Sort.CONTAINER:
            self.add(place, f"{name} of {len(thing)}{_room(thing)}")
            yield from _elements(place, thing)
        else:
            self.add(place, name + _content(thing))
            yield from _elements(place, thing)
            yield from attributes(place, thing)
            if isinstance(thing, BaseException):
                yield from of_error(place, thing)
            if isinstance(thing, weakref.finalize):
                yield f"{place}.peek()", weakref.finalize.peek(thing)
                yield f"{place}.atexit", weakref.finalize.atexit.fget(thing)  # type: ignore[attr-defined]
            if issubclass(kind, CACHED):
                self._cache(place, thing)
            elif kind is not types.MappingProxyType and foreign(kind):
                yield from self._reduced(place, thing)
        if not isinstance(thing, type) and not has_its_name(kind):
            yield f"{place}.__class__", kind

    def _named(self, place: str, thing: Any) -> None:
        if isinstance(thing, types.CodeType):
            self.add(place, f"code {' '.join(repr(getattr(thing, name)) for name in _OF_CODE)}")
            return
        self.add(place, f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', thing.__name__)}")

    def _cache(self, place: str, thing: Any) -> None:
        """How a cache was used; what is in one that is no module's own, nobody can read from outside."""
        self.add(f"{place}.cache_info()", f"{CACHED.cache_info(thing)} {thing.cache_parameters()}")
        if CACHED.cache_info(thing).currsize and not has_its_name(thing):
            self.opaque.append(place)

    def _array(self, place: str, name: str, thing: Any) -> Iterator[tuple[str, Any]]:
        flags = thing.flags
        layout = (
            f"{thing.dtype.str} {_described(thing.dtype)} {thing.shape} {'C' * flags.c_contiguous}{'F' * flags.fnc}"
        )
        layout += (
            f" {'writeable' * flags.writeable}{' unaligned' * (not flags.aligned)} {'view' * (thing.base is not None)}"
        )
        if thing.dtype.hasobject:
            self.add(place, f"{name} {layout}")
            yield f"{place}[...]", thing.tolist()
        else:
            exact, padded = without_padding(thing)
            first = np.asarray(thing).flat[:4].tolist()
            self.add(place, f"{name} {layout} {hashlib.sha256(exact).hexdigest()} {first}")
            if padded and not isinstance(thing.base, np.ndarray):
                self.opaque.append(f"{place}: memory between its numbers")
        if noted := _metadata(thing.dtype):
            yield f"{place}.dtype.metadata", noted
        if isinstance(thing.base, np.ndarray):
            yield f"{place}.base", thing.base
        elif (base := behind(thing)) is not None:
            yield f"{place}.base", base
        if isinstance(thing, np.ma.MaskedArray):
            yield f"{place}.mask", np.asarray(np.ma.getmaskarray(thing))
            yield f"{place}.data", np.asarray(thing.data)
        yield from attributes(place, thing)

    def _function(self, place: str, name: str, thing: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(thing, types.MethodType):
            self.add(place, f"{name} {getattr(thing.__func__, '__qualname__', '')}")
            yield f"{place}.__self__", thing.__self__
            if not has_its_name(thing.__func__):
                yield f"{place}.__func__", thing.__func__
            return
        if isinstance(thing, functools.partial):
            self.add(place, name)
            yield f"{place}.func", thing.func
            yield f"{place}.args", thing.args
            yield f"{place}.keywords", thing.keywords
        else:
            self.add(place, f"{name} {thing.__module__}.{thing.__qualname__}")
            yield f"{place}.__code__", thing.__code__
            yield f"{place}.__defaults__", thing.__defaults__
            yield f"{place}.__kwdefaults__", thing.__kwdefaults__
            for number, cell in enumerate(thing.__closure__ or ()):
                yield f"{place}.closure[{number}]", _held(cell)
            if not has_its_name(thing):
                yield f"{place}.__name__", thing.__name__
                yield f"{place}.__doc__", thing.__doc__
                yield f"{place}.__annotations__", thing.__annotations__
            yield from own_globals(place, thing)
        yield from attributes(place, thing)

    def _suspended(self, place: str, name: str, thing: Any) -> Iterator[tuple[str, Any]]:
        """Where it waits, and what it holds there."""
        kind = _FRAMES[type(thing)]
        frame = getattr(thing, f"{kind}_frame")
        self.add(place, f"{name} {thing.__qualname__} {'at its end' if frame is None else f'at {frame.f_lasti}'}")
        yield f"{place}.__code__", getattr(thing, f"{kind}_code")
        yield f"{place}.locals", {} if frame is None else dict(frame.f_locals)
        if kind == "gi":
            yield f"{place}.gi_yieldfrom", thing.gi_yieldfrom

    def _reduced(self, place: str, thing: Any) -> Iterator[tuple[str, Any]]:
        """What pickle would keep of an object that is written in another language."""
        if type(thing).__name__ == "BlockValuesRefs" and has_its_name(type(thing)):
            yield f"{place}.referenced_blocks", thing.referenced_blocks  # tables of pandas that share its memory
            return
        if type(thing).__name__ == "cKDTree" and has_its_name(type(thing)):
            self.opaque.append(f"{place}: memory of its nodes")
            for name in ("data", "indices", "maxes", "mins", "leafsize", "boxsize"):
                yield f"{place}.{name}", getattr(thing, name)
            return
        try:
            kept = thing.__name__ if isinstance(thing, np.ufunc) else reduced(thing)
        except Exception:
            self.opaque.append(place)
            return
        if isinstance(kept, str):
            self.add(f"{place}.__reduce__", kept)
            if not has_its_name(thing, kept):
                self.opaque.append(place)
            return
        for number, part in enumerate(tables_told(thing, kept)):
            listed = list(part) if number > 2 and part is not None and not callable(part) else part
            yield f"{place}.__reduce__" + f"[{number}]" * (number > 0), listed


def view(thing: Any, place: str = "") -> View:
    """A view of one thing, and of the text that it publishes itself as, where it has `to_json`."""
    found = View()
    found.look(place, thing)
    try:
        publish = getattr(thing, "to_json", None)
    except Exception:  # the thing's own code
        publish = None
    if callable(publish) and not isinstance(thing, type):
        try:
            found.add(f"{place}.to_json()", repr(publish()))
        except Exception as error:
            found.add(f"{place}.to_json()", f"raised {type(error).__name__}: {error}")
    return found


def _bits(thing: Any) -> str:
    if isinstance(thing, float):
        return f"{np.float64(thing).tobytes().hex()} {thing!r}"
    if isinstance(thing, complex):
        return f"{np.complex128(thing).tobytes().hex()} {thing!r}"
    if isinstance(thing, int) and abs(thing).bit_length() > MOST_BITS:
        return hex(thing)
    return repr(thing)


_PLAINLY: dict[type, Callable[[Any], Any]] = {
    int: int.__index__, float: float.__float__, str: str.__str__,
    complex: lambda held: complex(complex.real.__get__(held), complex.imag.__get__(held)),
    bytes: lambda held: bytes.__getitem__(held, slice(None)),
}  # fmt: skip
"""What a thing is as one of these types, whatever its own class makes of it."""


def _content(thing: Any) -> str:
    """What a subclass of a plain type or of a container holds by itself."""
    for kind, plain in _PLAINLY.items():
        if isinstance(thing, kind):
            return f" {_bits(plain(thing))}"
    if isinstance(thing, bytearray):
        return f" {bytes(bytearray.__getitem__(thing, slice(None))).hex()}{_room(thing)}"
    if isinstance(thing, datetime.datetime | datetime.time):
        own = datetime.datetime if isinstance(thing, datetime.datetime) else datetime.time
        return f" fold {own.fold.__get__(thing)}"
    return f" of {len(thing)}{_room(thing)}" if isinstance(thing, CONTAINERS) else ""


def _elements(place: str, thing: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, dict | types.MappingProxyType):
        pairs = dict.items(thing) if isinstance(thing, dict) else thing.items()
        for number, (key, value) in enumerate(pairs):
            yield f"{place} key {number}", key
            yield f"{place}[{key!r}]" if _is_short(key) else f"{place}[key {number}]", value
    elif isinstance(thing, list | tuple):
        for number, part in enumerate(elements(thing)):
            yield f"{place}[{number}]", part
    elif isinstance(thing, set | frozenset):
        found = elements(thing)
        if not all(id(type(element)) in PLAIN_KINDS for element in found):  # others may iterate by address
            found.sort(key=lambda element: view(element).lines)
        for number, part in enumerate(found):
            yield f"{place} element {number}", part


def _is_short(key: Any) -> bool:
    return isinstance(key, str) or (isinstance(key, int) and abs(key).bit_length() <= MOST_BITS)


def _described(dtype: Any) -> Any:
    """Fields and their types; a letter where it is another than that of the name, as for two kinds of long integers."""
    described = [*dtype.descr, *([built] if (built := _built(dtype)) else [])]
    return described if np.dtype(dtype.str).char == dtype.char or dtype.names else [*described, dtype.char]


def _built(dtype: Any) -> str:
    """Shape and type of elements that are arrays; which fields were laid out as a compiler of C would."""
    inner: str = f" {dtype.subdtype[1]} of {dtype.subdtype[0].str}{_built(dtype.subdtype[0])}" if dtype.subdtype else ""
    fields = [f"{name}{told}" for name, one in (dtype.fields or {}).items() if (told := _built(one[0]))]
    return inner + " aligned" * bool(dtype.isalignedstruct) + (f" ({', '.join(fields)})" if fields else "")


def _metadata(dtype: Any) -> list[Any]:
    """What is noted on the type of an array and of its fields, which neither its name nor its description shows."""
    inside = [field[0] for field in (dtype.fields or {}).values()]
    parts = [*inside, *([dtype.subdtype[0]] if dtype.subdtype else [])]
    own = [dict(dtype.metadata)] if dtype.metadata else []
    return own + [noted for part in parts for noted in _metadata(part)]


def _held(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "empty cell"
