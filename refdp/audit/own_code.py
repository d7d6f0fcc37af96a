"""The code that is a trainer's own: what is reached through objects, decorators, caches and containers.

A trainer may be an object, a method of one, a closure, a partial; its text may stand behind decorators. Which modules
it is of, and which names its text has, is told by the functions that are found there, never by what they say of
themselves.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import os
import re
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from refdp.audit.by_name import HEAP_TYPE, has_its_name
from refdp.audit.inside import PLAIN_KINDS, kept_by_name, slots_of
from refdp.audit.kept import kept_beside
from refdp.audit.loaded import NOWHERE, beside, homes, is_installed, of_python, requires, where

_WRAPPERS = (property, classmethod, staticmethod, functools.cached_property, functools.partialmethod,
             functools.singledispatchmethod)  # fmt: skip
_CODE = (types.FunctionType, types.MethodType, functools.partial, *_WRAPPERS)
_BUILT = frozenset({"builtins", "collections", "functools", "types"})
"""Modules whose containers and wrappers are opened."""
_MOST = 10_000
"""So many things are opened; of more, all names and modules but libraries' count as the trainer's."""
_SPACES: list[tuple[Any, tuple[str, ...], frozenset[str]]] = []
"""The last trainer, its modules, and the installed packages that are its own, as they were before an audit's runs."""


def forget() -> None:
    """Begin another audit: what was noted of a trainer, and of texts, may be otherwise by now."""
    _SPACES.clear()
    _says_refdp.cache_clear()


def spaces_of(train: Any) -> tuple[str, ...]:
    """Names of the modules of a trainer's functions: its own, and those that it holds or names, but for libraries'.

    A module that its code imports later is among them, and is none of `sys.modules` yet.
    """
    return _found(train)[0]


def packages_of(train: Any) -> frozenset[str]:
    """Installed packages that are no libraries of the trainer's, but its own, each with all of its distribution.

    They are those of what is called first, where what a decorator made is of the package of what it decorates, and
    those that the code leads to and that import refdp, within a function too.
    """
    return _found(train)[1]


def _found(train: Any) -> tuple[tuple[str, ...], frozenset[str]]:
    if not _SPACES or _SPACES[0][0] is not train:
        parts = _Own(_whole(_first(train, made=False)))
        size = -1
        while size != len(parts.own):  # a package that is no library leads to others
            size = len(parts.own)
            reached = list(_reached([train], parts.left_out))
            held = [_space(one) for one in reached if not parts.left_out(one)]
            every = list(sys.modules) if len(reached) == _MOST else []
            every += _named(reached, parts)
            parts.own |= _whole(name for name in parts.left if parts.takes_refdp(name))
        found = [*_first(train), *(name for name in (*held, *every) if not is_library(name, parts.own))]
        _SPACES[:] = [(train, tuple(dict.fromkeys(name for name in found if name)), parts.own)]
    return _SPACES[0][1:]


@dataclass
class _Own:
    """Which packages are a trainer's own. left: modules of libraries that its code led to."""

    own: frozenset[str]
    left: set[str] = field(default_factory=set)
    _asked: dict[str, bool] = field(default_factory=dict)

    def is_library(self, name: str) -> bool:
        """Whether a module is a library's, which is noted."""
        found = is_library(name, self.own)
        if found:
            self.left.add(name)
        return found

    def left_out(self, one: Any) -> bool:
        """Whether it is what a library's module has under its name."""
        return self.is_library(_text(getattr(one, "__module__", ""))) and has_its_name(one)

    def takes_refdp(self, name: str) -> bool:
        """Whether the same installed package takes refdp: a loaded module of it has something of refdp's, or a text of
        it, loaded or not, has refdp's name, as imports within functions do, or it says that it requires refdp.
        """
        package = _package(name)
        if package not in self._asked:
            file = where(package) or NOWHERE
            loaded = [sys.modules[one] for one in tuple(sys.modules) if f"{one}.".startswith(f"{package}.")]
            modules = [one for one in loaded if isinstance(one, types.ModuleType)]
            self._asked[package] = (
                any(_is_of_refdp(one) for module in modules for one in tuple(vars(module).values()))
                or (is_installed(file) and (requires(package, "refdp") or _say_refdp(file)))
                or any(map(_says_refdp, (one for one in map(_file_of, modules) if is_installed(Path(one)))))
            )  # fmt: skip
        return self._asked[package]


def _is_of_refdp(one: Any) -> bool:
    """Whether it is a module, class, function or instance of refdp's."""
    if isinstance(one, types.ModuleType):
        return _text(vars(one).get("__name__")).split(".")[0] == "refdp"
    return any(_space(part).split(".")[0] == "refdp" for part in (one, type(one)))


def _file_of(module: types.ModuleType) -> str:
    return _text(vars(module).get("__file__"))


def _say_refdp(file: Path) -> bool:
    """Whether any text of the package whose module this is has refdp's name."""
    if _says_refdp(str(file)) or file.stem != "__init__":
        return _says_refdp(str(file))
    texts = (f"{folder}/{name}" for folder, _, names in os.walk(file.parent) for name in names if name.endswith(".py"))
    return any(map(_says_refdp, texts))


@functools.cache
def _says_refdp(file: str) -> bool:
    with contextlib.suppress(OSError):
        text = Path(file).read_bytes() if file.endswith((".py", ".pyc")) else b""
        return b"refdp" in text and re.search(rb"\brefdp\b", text) is not None
    return False


def _whole(names: Iterable[str]) -> frozenset[str]:
    """The packages of installed modules, with all else of their distributions; of refdp's own modules none."""
    outer = {name for name in names if name.split(".")[0] not in ("", "refdp")}
    found = {_package(name) for name in outer if is_library(name) and is_installed(where(name) or NOWHERE)}
    return frozenset(other for one in found for other in (one, *beside(one)))


def _package(name: str) -> str:
    """The outermost package of a module; of one that several distributions put modules into, the part that it is in."""
    parts = name.split(".")
    heads = [".".join(parts[: depth + 1]) for depth in range(len(parts))]
    if len(homes(heads[0])) < 2:
        return heads[0]
    return next((one for one in heads if where(one) not in (None, NOWHERE)), name)


def named_in(space: Mapping[str, Any], module: str, train: Any = None) -> frozenset[str]:
    """Names and texts in the code whose globals these are, in whatever it stands, and in that of a trainer."""
    found: set[str] = set()
    reached = list(_reached([*space.values(), train], lambda one: _is_imported(one, module)))
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


def _named(reached: Iterable[Any], parts: _Own) -> Iterator[str]:
    """Modules of what functions name, of what that names, and so on, as far as it is no library's."""
    stack, walked = list(reached), set[int]()
    seen = {id(one) for one in stack}
    for one in stack:  # grows
        if not isinstance(one, types.FunctionType) or parts.is_library(_space(one)):
            continue
        names, imports = _names_in(one.__code__)
        imported = dict.fromkeys(name for given in imports for name in _absolute(given, one.__globals__))
        later = [name for name in imported if name not in sys.modules and where(name) is not None]
        yield from (name for name in later if not parts.is_library(name))
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
                if id(value) not in looked and has_its_name(value) and not parts.is_library(value.__name__):
                    yield value.__name__
                    spaces.append(vars(value))
                looked.add(id(value))
            elif id(type(value)) not in PLAIN_KINDS and id(value) not in walked and len(stack) < _MOST:
                walked.add(id(value))
                further = [part for part in _reached([value], parts.left_out) if id(part) not in seen]
                seen |= {id(part) for part in further}
                stack += further
                yield from (_space(part) for part in further if not parts.left_out(part))
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


def _first(train: Any, *, made: bool = True) -> Iterator[str]:
    """Modules of what is called first, and of what that was made of, libraries' too. made: also by decorators."""
    waiting: list[Any] = [train]
    for one in waiting:  # grows
        if isinstance(one, functools.partial):
            waiting.append(one.func)
        elif isinstance(one, types.MethodType):
            waiting += [one.__func__, one.__self__ if isinstance(one.__self__, type) else type(one.__self__)]
        elif isinstance(one, types.FunctionType):
            wrapped = _wrapped(one)
            yield from [_space(one)] if made or not wrapped else []
            waiting += wrapped if len(waiting) < _MOST else []
        elif isinstance(one, type):
            inside: list[Any] = [part for part in vars(one).values() if isinstance(part, types.FunctionType)]
            own = [part for part in inside if made or _is_written_in(part, one)] or inside
            yield from map(_space, own or ([one] if one.__flags__ & HEAP_TYPE else []))
        else:
            wrapped = _wrapped(one)
            waiting += [type(one)] if made or not wrapped else []
            waiting += wrapped if len(waiting) < _MOST else []


def _is_written_in(function: types.FunctionType, kind: type) -> bool:
    """Whether a method's text stands in a class, or in the package of its own one; not what a decorator put there."""
    outer = function.__code__.co_qualname.rpartition(".")[0]
    return (outer != "" and not outer.endswith("<locals>")) or _package(_space(function)) == _package(_space(kind))


def _wrapped(one: Any) -> list[Any]:
    """What a decorator says that it decorated, if it does."""
    with contextlib.suppress(Exception):  # a thing's own code
        return [held["__wrapped__"]] if "__wrapped__" in (held := kept_by_name(one)) else []
    return []


def _space(one: Any) -> str:
    """The module of a function by its globals, of a class by what it says; "" of all else."""
    if isinstance(one, types.FunctionType):
        name = one.__globals__.get("__name__")
    else:
        name = vars(one).get("__module__") if isinstance(one, type) else None
    return name if isinstance(name, str) and name in sys.modules else ""


def is_library(name: str, own: frozenset[str] = frozenset()) -> bool:
    """Whether a module is Python's, refdp's or an installed one, by where its file is. own: packages that are none."""
    top = name.split(".")[0]
    if top in ("", "refdp"):
        return top != ""
    if any(name == one or name.startswith(f"{one}.") for one in own):
        return False
    file = getattr(sys.modules[name], "__file__", None) if name in sys.modules else where(name) or NOWHERE
    if not isinstance(file, str | Path) or not Path(file).is_file():
        return top in sys.stdlib_module_names and name != "__main__"
    return is_installed(Path(file)) or of_python(Path(file))


def _reached(waiting: Iterable[Any], imported: Callable[[Any], bool]) -> Iterator[Any]:
    """Functions, classes and what is opened on the way to them, each once. imported: what is left to other modules."""
    stack, seen = list(waiting), dict[int, Any]()
    while stack and len(seen) < _MOST:
        one = stack.pop()
        if id(type(one)) not in PLAIN_KINDS and id(one) not in seen and type(one) is not types.ModuleType:
            with contextlib.suppress(Exception):  # a thing's own code
                parts = list(_parts(one, imported))
                if parts or isinstance(one, _CODE):
                    seen[id(one)] = one
                    yield one
                    stack += parts


def _is_imported(one: Any, module: str) -> bool:
    """Whether it is what another module has under its name."""
    return getattr(one, "__module__", module) != module and has_its_name(one)


def _text(name: Any) -> str:
    return name if isinstance(name, str) else ""


def _parts(one: Any, imported: Callable[[Any], bool]) -> Iterator[Any]:
    kind = type(one)
    if isinstance(one, types.FunctionType):
        if not imported(one):
            yield from kept_beside(one).values()
    elif isinstance(one, types.MethodType):
        yield one.__func__
        if not imported(type(one.__self__)):
            yield one.__self__
    elif isinstance(one, functools.partial):
        yield from (one.func, *one.args, *one.keywords.values(), *kept_by_name(one).values())
    elif isinstance(one, property):
        yield from (one.fget, one.fset, one.fdel, *kept_by_name(one).values())
    elif isinstance(one, classmethod | staticmethod):
        yield from (one.__func__, *kept_by_name(one).values())
    elif isinstance(one, type):
        if one.__flags__ & HEAP_TYPE and not imported(one):
            yield from (*vars(one).values(), *one.__bases__, kind)
    elif kind.__module__ in _BUILT and isinstance(one, dict | types.MappingProxyType):
        yield from (part for part in one.values() if id(type(part)) not in PLAIN_KINDS)
    elif kind.__module__ in _BUILT and isinstance(one, list | tuple | set | frozenset | deque):
        yield from (part for part in one if id(type(part)) not in PLAIN_KINDS)
    else:
        held = [*kept_by_name(one).values()]
        if imported(kind) and kind.__module__ not in _BUILT:  # a library's object: what is called of it
            yield from (part for part in held if isinstance(part, _CODE))
        else:
            yield from (*held, kind)
            for slot in (slot for base in kind.__mro__ for slot in slots_of(base).values()):
                with contextlib.suppress(AttributeError):  # one without anything
                    yield slot.__get__(one)
