"""Numbers that stand in a trainer's text, or that its text names: what it may branch on."""

from __future__ import annotations

import contextlib
import functools
import math
import numbers
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from refdp.audit.by_name import HEAP_TYPE
from refdp.audit.inside import kept_by_name, slots_of
from refdp.audit.kept import kept_beside
from refdp.audit.own_code import is_library, packages_of

MOST = 256
"""Numbers that are told."""
_MOST_PARTS = 64
"""Of a container or an array, from the front."""
_MOST_THINGS = 5000


def constants(train: Any) -> tuple[float, ...]:
    """Numbers in a trainer's code and in what it leads to, each once: those nearest to the trainer first.

    Those are literals, in containers too; defaults, variables of the function around it, globals, attributes of its
    modules, classes and objects that its code names; and the same of functions, methods and what stands behind
    decorators, partials and objects that are called, of all modules but libraries.
    """
    own, found = packages_of(train), dict[float, None]()
    waiting, seen = deque([train]), dict[int, Any]()
    while waiting and len(seen) < _MOST_THINGS and len(found) < MOST:
        one = waiting.popleft()
        if isinstance(one, numbers.Number | np.generic):
            found.update(dict.fromkeys(_number(one)))
        elif id(one) not in seen:
            seen[id(one)] = one
            with contextlib.suppress(Exception):  # a thing's own code
                waiting += _parts(one, own)
    return tuple(islice(found, MOST))


def _number(one: Any) -> Iterator[float]:
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        plain = not isinstance(one, bool | np.bool_ | complex)
        if plain and (value := float(one)) not in (0, 1, -1) and not math.isnan(value):
            yield value


def _parts(one: Any, own: frozenset[str]) -> list[Any]:
    """What numbers may be in, or that leads to more."""
    kind = type(one)
    if isinstance(one, types.CodeType):
        return [part for part in one.co_consts if not isinstance(part, str | bytes)]
    if isinstance(one, types.FunctionType):
        return [] if _is_left(one.__globals__.get("__name__"), own) else [
            one.__code__, *kept_beside(one).values(), *_named(one, own)]  # fmt: skip
    if isinstance(one, types.MethodType):
        return [one.__func__, one.__self__]
    if isinstance(one, classmethod | staticmethod):
        return [one.__func__]
    if isinstance(one, functools.partial):
        return [one.func, *one.args, *one.keywords.values()]
    if isinstance(one, property):
        return [one.fget, one.fset, one.fdel]
    if isinstance(one, dict | types.MappingProxyType):
        return [part for pair in islice(one.items(), _MOST_PARTS) for part in pair]
    if isinstance(one, list | tuple | set | frozenset | deque | range):
        return [*islice(one, _MOST_PARTS)]
    if isinstance(one, np.ndarray):
        return [*one.ravel()[:_MOST_PARTS].tolist()]
    if isinstance(one, type):
        return [] if _is_left(one.__module__, own) or not one.__flags__ & HEAP_TYPE else [
            *vars(one).values(), *one.__bases__]  # fmt: skip
    if isinstance(one, types.ModuleType) or (_is_left(kind.__module__, own) and not _holds(one)):
        return []
    slots = (slot.__get__(one) for base in kind.__mro__ for slot in slots_of(base).values())
    return [kind, *kept_by_name(one).values(), *_those_there(slots)]


def _holds(one: Any) -> bool:
    """Whether it is a library's thing that holds somebody else's: what it wraps, or plain attributes."""
    return isinstance(one, types.SimpleNamespace) or "__wrapped__" in kept_by_name(one)


def _those_there(slots: Iterator[Any]) -> Iterator[Any]:
    with contextlib.suppress(AttributeError):
        yield from slots


def _named(function: types.FunctionType, own: frozenset[str]) -> Iterator[Any]:
    """What the function's names mean: globals, and attributes of its own modules that are among them."""
    names = [*_names(function.__code__)]
    spaces: Iterable[dict[str, Any]] = [function.__globals__]
    for _ in range(3):  # a module's module's attribute
        held = [space[name] for space in spaces for name in names if name in space]
        yield from (one for one in held if not isinstance(one, types.ModuleType))
        spaces = [vars(one) for one in held if isinstance(one, types.ModuleType) and not _is_left(one.__name__, own)]
    for name in names:  # imported within the function
        if name in sys.modules and name not in function.__globals__ and not _is_left(name, own):
            space = vars(sys.modules[name])
            yield from (space[part] for part in names if part in space)


def _names(code: types.CodeType) -> dict[str, None]:
    inside = [name for part in code.co_consts if isinstance(part, types.CodeType) for name in _names(part)]
    return dict.fromkeys([*code.co_names, *inside])


def _is_left(module: Any, own: frozenset[str]) -> bool:
    """Whether a module is a library's."""
    return isinstance(module, str) and is_library(module, own)
