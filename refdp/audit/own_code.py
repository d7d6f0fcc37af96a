"""The code that is a trainer's own: what is reached through objects, decorators, caches and containers.

A trainer may be an object, a method of one, a closure, a partial; its text may stand behind decorators. Which modules
it is of, and which names its text has, is told by the functions that are found there, never by what they say of
themselves.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from refdp.audit.by_name import HEAP_TYPE, has_its_name
from refdp.audit.inside import PLAIN_KINDS, kept_by_name, slots_of
from refdp.audit.kept import kept_beside
from refdp.audit.loaded import NOWHERE, is_installed, of_python, where

_WRAPPERS = (property, classmethod, staticmethod, functools.cached_property, functools.partialmethod,
             functools.singledispatchmethod)  # fmt: skip
_CODE = (types.FunctionType, types.MethodType, functools.partial, *_WRAPPERS)
_BUILT = frozenset({"builtins", "collections", "functools", "types"})
"""Modules whose containers and wrappers are opened."""
_MOST = 10_000
"""So many things are opened; of more, all names and modules but libraries' count as the trainer's."""
_SPACES: list[tuple[Any, tuple[str, ...]]] = []
"""The last trainer, and its modules as they were before any run."""


def spaces_of(train: Any) -> tuple[str, ...]:
    """Names of the modules of a trainer's functions: its own, and those that it holds or names, but for libraries'.

    A module that its code imports later is among them, and is none of `sys.modules` yet.
    """
    if not _SPACES or _SPACES[0][0] is not train:
        reached = list(_reached([train], ""))
        held = [_space(one) for one in reached if not _is_imported(one, "")]
        every = list(sys.modules) if len(reached) == _MOST else []
        every += _named(reached)
        found = [*_first(train), *(name for name in (*held, *every) if not is_library(name))]
        _SPACES[:] = [(train, tuple(dict.fromkeys(name for name in found if name)))]
    return _SPACES[0][1]


def named_in(space: Mapping[str, Any], module: str, train: Any = None) -> frozenset[str]:
    """Names and texts in the code whose globals these are, in whatever it stands, and in that of a trainer."""
    found: set[str] = set()
    reached = list(_reached([*space.values(), train], module))
    if len(reached) == _MOST:
        return frozenset(space)
    for one in reached:
        waiting = [one.__code__] if isinstance(one, types.FunctionType) and one.__globals__ is space else []
        while waiting:
            code = waiting.pop()
            found.update(code.co_names)
            found.update(text for text in code.co_consts if isinstance(text, str))
            waiting += [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return frozenset(found)


def _named(reached: Iterable[Any]) -> Iterator[str]:
    """Modules of what functions name, of what that names, and so on, as far as it is no library's."""
    stack, walked = list(reached), set[int]()
    seen = {id(one) for one in stack}
    for one in stack:  # grows
        if not isinstance(one, types.FunctionType) or is_library(_space(one)):
            continue
        names, imports = _names_in(one.__code__)
        imported = dict.fromkeys(name for given in imports for name in _absolute(given, one.__globals__))
        yield from (name for name in imported if name not in sys.modules and where(name) is not None)
        spaces: list[Mapping[str, Any]] = [one.__globals__]
        waiting: list[Any] = [sys.modules[name] for name in imported if name in sys.modules]
        looked: set[int] = set()
        while spaces or waiting:
            if spaces:
                space = spaces.pop()
                waiting += [space[name] for name in names if name in space]
                continue
            value = waiting.pop()
            if isinstance(value, types.ModuleType):
                if id(value) not in looked and has_its_name(value) and not is_library(value.__name__):
                    yield value.__name__
                    spaces.append(vars(value))
                looked.add(id(value))
            elif id(type(value)) not in PLAIN_KINDS and id(value) not in walked and len(stack) < _MOST:
                walked.add(id(value))
                further = [part for part in _reached([value], "") if id(part) not in seen]
                seen |= {id(part) for part in further}
                stack += further
                yield from (_space(part) for part in further if not _is_imported(part, ""))
    if len(stack) >= _MOST:
        yield from list(sys.modules)


def _names_in(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Names in code and in the code inside of it, and those of modules, or parts of them, that it imports."""
    names, imports, waiting = set[str](), set[str](), [code]
    while waiting:
        one = waiting.pop()
        names.update(one.co_names)
        waiting += [part for part in one.co_consts if isinstance(part, types.CodeType)]
        module = ""
        for step in dis.get_instructions(one):
            if step.opname == "IMPORT_NAME":
                module = step.argval
                imports.add(module)
            elif step.opname == "IMPORT_FROM":
                imports.add(f"{module}.{step.argval}".strip("."))
    return names, imports - {""}


def _absolute(name: str, space: Mapping[str, Any]) -> Iterator[str]:
    """What a name in an import may mean: itself, and relative to any package that the module is in."""
    yield name
    package = space.get("__package__")
    parts = package.split(".") if isinstance(package, str) and package else []
    yield from (".".join([*parts[:depth], name]) for depth in range(len(parts), 0, -1))


def _first(train: Any) -> Iterator[str]:
    """Modules of what is called first, and of what that was made of, libraries' too."""
    waiting: list[Any] = [train]
    for one in waiting:  # grows
        if isinstance(one, functools.partial):
            waiting.append(one.func)
        elif isinstance(one, types.MethodType):
            waiting += [one.__func__, one.__self__ if isinstance(one.__self__, type) else type(one.__self__)]
        elif isinstance(one, types.FunctionType):
            yield _space(one)
            waiting += [vars(one)["__wrapped__"]] if "__wrapped__" in vars(one) and len(waiting) < _MOST else []
        elif isinstance(one, type):
            inside = [_space(part) for part in vars(one).values() if isinstance(part, types.FunctionType)]
            yield from inside or ([_space(one)] if one.__flags__ & HEAP_TYPE else [])
        else:
            waiting.append(type(one))


def _space(one: Any) -> str:
    """The module of a function by its globals, of a class by what it says; "" of all else."""
    if isinstance(one, types.FunctionType):
        name = one.__globals__.get("__name__")
    else:
        name = vars(one).get("__module__") if isinstance(one, type) else None
    return name if isinstance(name, str) and name in sys.modules else ""


def is_library(name: str) -> bool:
    """Whether a module is Python's, refdp's or an installed one, by where its file is."""
    top = name.split(".")[0]
    if top in ("", "refdp"):
        return top != ""
    file = getattr(sys.modules[name], "__file__", None) if name in sys.modules else where(name) or NOWHERE
    if not isinstance(file, str | Path) or not Path(file).is_file():
        return top in sys.stdlib_module_names and name != "__main__"
    return is_installed(Path(file)) or of_python(Path(file))


def _reached(waiting: Iterable[Any], module: str) -> Iterator[Any]:
    """Functions, classes and what is opened on the way to them, each once."""
    stack, seen = list(waiting), dict[int, Any]()
    while stack and len(seen) < _MOST:
        one = stack.pop()
        if id(type(one)) not in PLAIN_KINDS and id(one) not in seen and type(one) is not types.ModuleType:
            with contextlib.suppress(Exception):  # a thing's own code
                parts = list(_parts(one, module))
                if parts or isinstance(one, _CODE):
                    seen[id(one)] = one
                    yield one
                    stack += parts


def _is_imported(one: Any, module: str) -> bool:
    """Whether it is what another module, of a library where none is given, has under its name."""
    home = getattr(one, "__module__", module)
    return (home != module if module else is_library(_text(home))) and has_its_name(one)


def _text(name: Any) -> str:
    return name if isinstance(name, str) else ""


def _parts(one: Any, module: str) -> Iterator[Any]:
    kind = type(one)
    if isinstance(one, types.FunctionType):
        if not _is_imported(one, module):
            yield from kept_beside(one).values()
    elif isinstance(one, types.MethodType):
        yield one.__func__
        if not _is_imported(type(one.__self__), module):
            yield one.__self__
    elif isinstance(one, functools.partial):
        yield from (one.func, *one.args, *one.keywords.values(), *kept_by_name(one).values())
    elif isinstance(one, property):
        yield from (one.fget, one.fset, one.fdel, *kept_by_name(one).values())
    elif isinstance(one, classmethod | staticmethod):
        yield from (one.__func__, *kept_by_name(one).values())
    elif isinstance(one, type):
        if one.__flags__ & HEAP_TYPE and not _is_imported(one, module):
            yield from (*vars(one).values(), *one.__bases__, kind)
    elif kind.__module__ in _BUILT and isinstance(one, dict | types.MappingProxyType):
        yield from (part for part in one.values() if id(type(part)) not in PLAIN_KINDS)
    elif kind.__module__ in _BUILT and isinstance(one, list | tuple | set | frozenset | deque):
        yield from (part for part in one if id(type(part)) not in PLAIN_KINDS)
    else:
        held = [*kept_by_name(one).values()]
        if _is_imported(kind, module) and kind.__module__ not in _BUILT:  # a library's object: what is called of it
            yield from (part for part in held if isinstance(part, _CODE))
        else:
            yield from (*held, kind)
            for slot in (slot for base in kind.__mro__ for slot in slots_of(base).values()):
                with contextlib.suppress(AttributeError):  # one without anything
                    yield slot.__get__(one)
