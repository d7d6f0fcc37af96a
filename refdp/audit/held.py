"""What a module keeps from run to run: in its globals, its classes, its functions and their caches.

Everything is looked at, of whatever type; only what was imported is left to the module that it is of. What shows
nothing of itself is named.
"""

from __future__ import annotations

import _thread
import gc
import io
import operator
import re
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refdp.audit.by_name import has_its_name
from refdp.audit.inside import PLAIN_KINDS, attributes, kept_by_name, registered_with, slots_of
from refdp.audit.kept import CACHED, kept_beside
from refdp.audit.observer import View
from refdp.audit.own_code import named_in

_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_STREAMS = (io.TextIOWrapper, io.BufferedWriter, io.BufferedReader, io.BufferedRandom, io.FileIO)
"""What passes through them is told by their descriptors."""
_OF_MODULES = frozenset({"__builtins__", "__loader__", "__spec__", "__cached__"})
_LOADED = ("__loader__", "__spec__", "__cached__")
_WARNED = "__warningregistry__"
_OF_CLASSES = frozenset({"__dict__", "__weakref__", "_abc_impl", "__dataclass_fields__", "__dataclass_params__"})
"""What the interpreter, or a decorator, makes once."""
_OF_WRAPPERS = frozenset({"__module__", "__name__", "__qualname__", "__doc__", "__annotations__", "__wrapped__"})
"""What these take from the function inside."""
_PLAIN = frozenset({"builtins", "collections", "numpy"})
_MANY = 100_000
_FIRST: dict[int, tuple[types.FunctionType, tuple[Any, ...]]] = {}
"""Functions as they were before any run, by identity: with their text, name and what is said of them."""
_FIELDS = "__dataclass_fields__"
_FIELDS_FIRST: dict[int, tuple[type, list[Any]]] = {}
"""Data classes, and what their fields consisted of before any run."""


@dataclass
class _Held(View):
    """A view that knows what locks and this thread's own variables have. looked: classes and functions, by identity."""

    looked: dict[int, Any] = field(default_factory=dict)

    def _reduced(self, place: str, thing: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(thing, _LOCKS):
            self.add(f"{place} held", " ".join(re.findall(r"<\w+|count=\d+", repr(thing))))
        elif isinstance(thing, _thread._local):
            yield f"{place}.__dict__", dict(thing.__dict__)
        elif not isinstance(thing, _STREAMS):
            yield from super()._reduced(place, thing)

    def _cache(self, place: str, thing: Any) -> None:
        self.add(f"{place}.cache_info()", f"{CACHED.cache_info(thing)} {thing.cache_parameters()}")
        if CACHED.cache_info(thing).currsize:
            self.look(f"{place} cached", list(_cached(thing)))


def at_first(module: str) -> None:
    """Remember the functions of a module, unless that was done; before the first run, in the process of all runs."""
    held = vars(sys.modules[module]) if module in sys.modules else {}
    classes = [one for one in held.values() if isinstance(one, type) and one.__module__ == module]
    for kind in classes:
        if (fields := vars(kind).get(_FIELDS)) and id(kind) not in _FIELDS_FIRST:
            _FIELDS_FIRST[id(kind)] = kind, _of_fields(fields)
    for space in (held, *map(vars, classes)):
        for one in list(space.values()):
            one = getattr(one, "__func__", one) if isinstance(one, classmethod | staticmethod) else one
            if type(one) is types.FunctionType and id(one) not in _FIRST:
                _FIRST[id(one)] = one, _of_text(one)


def held_by(module: str, train: Any = None) -> View:
    """What a module keeps in its globals, its classes and its functions; not what it imported.

    In `__main__`, where a notebook or a script keeps figures and models as well: what its code names, that of a trainer
    and what stands behind decorators too, and plain data.
    """
    found = _Held()
    space = vars(sys.modules[module]) if module in sys.modules else {}
    if type(sys.modules.get(module, types)) is not types.ModuleType:
        _look(found, f"{module}.__class__", type(sys.modules[module]), module)
    own, named = (_of_the_shell(), named_in(space, module, train)) if module == "__main__" else ({}, frozenset(space))
    for name, value in list(space.items()):
        if name in _OF_MODULES:
            _of_import(found, f"{module}.{name}", value)
        if name in _OF_MODULES or own.get(name, found) is value:
            continue
        if name == _WARNED and isinstance(value, dict):
            value = {key: one for key, one in value.items() if key != "version"}  # it counts changes of filters
        if name in named or isinstance(value, type | types.FunctionType) or _is_plain(value):
            _look(found, f"{module}.{name}", value, module)
    return found


def held_in(train: Any) -> View:
    """What a trainer keeps on itself: the object that it is or is a method of, its closure, what was given to it."""
    found = _Held()
    _look(found, "trainer", train, getattr(train, "__module__", ""))
    return found


def _of_import(found: _Held, place: str, value: Any) -> None:
    """Plain values on what a module was loaded by: nobody can read all of that."""
    for name, one in {"": value, **kept_by_name(value)}.items() if place.endswith(_LOADED) else ():
        if id(type(one)) in PLAIN_KINDS:
            found.look(f"{place}.{name}" if name else place, one)


def _of_the_shell() -> Mapping[str, Any]:
    """What an interactive shell keeps for itself in a notebook's module: its inputs and outputs, and itself."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    hidden: Mapping[str, Any] = {} if shell is None else shell.user_ns_hidden
    return hidden


def _is_plain(value: Any) -> bool:
    """Whether it is data of Python's or numpy's plain kinds, all that is in it too."""
    waiting, seen = [value], 0
    while waiting:
        one, seen = waiting.pop(), seen + 1
        kind = type(one)
        if isinstance(one, dict) and kind.__module__ in _PLAIN:
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set | frozenset | deque) and kind.__module__ in _PLAIN:
            waiting += one
        elif (kind is np.ndarray and one.dtype.hasobject) or kind.__module__ not in _PLAIN or callable(one):
            return False
        if seen > _MANY:
            return False
    return True


def _look(found: _Held, place: str, value: Any, module: str) -> None:
    """One value; a class and a function once. What a value's own code raises makes it one that shows nothing."""
    try:
        if _imported(value, module):
            return
        kind = type(value)
        if issubclass(kind, type | types.FunctionType | property | classmethod | staticmethod) and _has_parts(value):
            if id(value) not in found.looked:
                found.looked[id(value)] = value
                _in_parts(found, place, value, module)
        elif issubclass(kind, weakref.WeakKeyDictionary | weakref.WeakValueDictionary):
            found.look(place, [tuple(pair) for pair in value.items()])
        elif issubclass(kind, CACHED):
            found._cache(place, value)
            for name, one in kept_by_name(value).items():
                if name not in _OF_WRAPPERS or name == "__wrapped__":
                    _look(found, f"{place}.{name}", one, module)
        elif kind.__module__ == "typing" and has_its_name(kind):
            found.add(place, repr(value))  # what annotations are made of keeps nothing else
        else:
            found.look(place, value)
    except Exception as error:
        found.add(place, f"raised {type(error).__name__}")
        found.opaque.append(place)


def _has_parts(value: Any) -> bool:
    """Whether it is to be taken apart: a class or a function under its name, or what wraps one."""
    return isinstance(value, property | classmethod | staticmethod) or has_its_name(value)


def _in_parts(found: _Held, place: str, value: Any, module: str) -> None:
    if isinstance(value, type):
        _of_class(found, place, value, module)
    elif isinstance(value, types.FunctionType):
        _of_function(found, place, value, module)
    else:
        wrapped = (value.fget, value.fset, value.fdel) if isinstance(value, property) else (value.__func__,)
        for one in wrapped:
            _look(found, place, one, module)
        if isinstance(value, property):
            found.look(f"{place}.__doc__", value.__doc__)
        for name, one in kept_by_name(value).items():
            if name not in _OF_WRAPPERS:
                _look(found, f"{place}.{name}", one, module)


def _imported(value: Any, module: str) -> bool:
    """Whether it is another module, or a class or a function that another module has under its name."""
    if type(value) is types.ModuleType:
        return has_its_name(value)
    return callable(value) and getattr(value, "__module__", module) != module and has_its_name(value)


def _of_class(found: _Held, place: str, kind: type, module: str) -> None:
    found.add(place, f"{kind.__qualname__} of {[base.__qualname__ for base in kind.__bases__]}")
    left = _OF_CLASSES | slots_of(kind).keys()
    for name, value in list(vars(kind).items()):
        if name not in left:
            _look(found, f"{place}.{name}", value, module)
    if fields := vars(kind).get(_FIELDS):
        first, now = _FIELDS_FIRST.get(id(kind), (kind, []))[1], _of_fields(fields)
        if len(first) != len(now) or not all(map(operator.is_, first, now)):
            found.look(f"{place}.{_FIELDS}", fields)
    if registered := registered_with(kind):
        found.look(f"{place} registered", registered)


def _of_fields(fields: Any) -> list[Any]:
    """What the fields of a data class consist of, the objects themselves."""
    held = [(key, field, *(part for _, part in attributes("", field))) for key, field in dict(fields).items()]
    return [part for parts in held for part in parts]


def _of_function(found: _Held, place: str, function: types.FunctionType, module: str) -> None:
    first = _FIRST.get(id(function))
    if first is None or not all(map(operator.is_, first[1], _of_text(function))):
        for name, part in zip(("__code__", "__doc__", "__name__"), _of_text(function), strict=True):
            found.look(f"{place}.{name}", part)
    if function.__annotations__:
        found.look(f"{place}.__annotations__", function.__annotations__)
    for name, value in kept_beside(function).items():
        _look(found, f"{place}[{name!r}]", value, module)


def _of_text(function: types.FunctionType) -> tuple[Any, ...]:
    return function.__code__, function.__doc__, function.__name__


def _cached(thing: Any) -> list[Any]:
    """Arguments and results that a cache has kept, in its own order."""
    apart = {id(getattr(thing, "__wrapped__", None)), id(getattr(thing, "__dict__", None))}
    own = [one for one in gc.get_referents(thing) if id(one) not in apart and not isinstance(one, type)]
    return [[part for pair in one.items() for part in pair if not _is_link(part)] if type(one) is dict else one
            for one in own if not _is_link(one)]  # fmt: skip


def _is_link(thing: Any) -> bool:
    """Whether it only says which argument of a cache was used before which."""
    return type(thing).__name__ == "_lru_list_elem"
