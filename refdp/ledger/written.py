"""Whether what runs is what its source says: a module's text is executed anew beside it, and has to make the same.

Functions are compared by their code, defaults and what they enclose, classes by all that is in them, anything else by
its class and its parts. So what was put into a module or a class from elsewhere, at an import or later, is told. What a
text does to itself is made anew with it, and is for its digest to tell (`refdp.ledger.proved.text_now`).

What a text imports from refdp is compared too, and each package with what its own text makes: a module comes from the
place of its name, and so does the one beside which it is made anew.

What was taken away again leaves no trace but in caches: whatever they keep is computed anew, once all modules are what
their sources make, and again where it has changed in place since. Of what is kept by a key that says itself what it
equals nobody knows for what it was given, so that it is told as well.
"""

from __future__ import annotations

import ast
import builtins
import gc
import hashlib
import importlib
import inspect
import sys
from collections import deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import Field, fields, is_dataclass, make_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property, partial
from importlib import resources
from itertools import zip_longest
from operator import attrgetter, is_, itemgetter
from pathlib import Path
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
from refdp.ledger.fingerprint import modules_of, parsed_module

LEFT_OUT = frozenset({
    "__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__spec__", "__path__", "__annotations__",
    "__dict__", "__weakref__", "_abc_impl", "__firstlineno__", "__static_attributes__",
    "__non_callable_proto_members__", "__protocol_attrs__", "__slotnames__", "__warningregistry__",
})  # fmt: skip
"""Names in modules and classes that the interpreter and the standard library fill, and notes for people."""
BY_VALUE = (bool, int, float, complex, str, bytes, range, type(None), type(...), Fraction, Decimal, CodeType)
KEYS = frozenset({*BY_VALUE, *np.sctypeDict.values(), np.ndarray})
"""Kinds of which an object equals what its value says; of the last none is a key."""
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


def otherwise(modules: Iterable[str]) -> str:
    """The first name under which something else runs than the modules' sources make, empty where there is none.

    modules: by name. The first time each is executed anew; later it is asked whether its parts are the very same still.
    Where a cache keeps what something else made this is told once, and all caches are emptied.
    """
    found = {name: importlib.import_module(name) for name in sorted(_with_imported(frozenset(modules)))}
    for name, module in found.items():
        if vars(module).get("__name__") != name:
            return f"{name}.__name__"
        if another := _another(module):
            return f"{name}.{another}"
        known = _known(name)
        before = list(known)
        if not before or before[0][0] is not module or not all(map(_unchanged, before)):
            seen: Seen = []
            if place := differs(module, seen):
                known.clear()
                return f"{name}{place}"
            known[:] = seen
    for name, module in found.items():
        if kept := _kept_of_another(module):
            _forget(found.values())
            return f"{name}.{kept}"
    return ""


def _forget(modules: Iterable[ModuleType]) -> None:
    """All that caches keep: of what agrees nobody knows whether it was computed anew from what does not."""
    for module in modules:
        for function in vars(module).copy().values():
            if _is_kept(function, module.__name__):
                function.cache_clear()
    _compared.cache_clear()


COMPARING = frozenset(f"refdp.ledger.{name}" for name in ("claims", "fingerprint", "proved", "written"))
"""What compares, and looks claims up, is not compared by itself."""
FILLED = {
    "refdp.faces.registry": ("_registered",),
    "refdp.faces.repeats": ("_uses", "_families", "_alone"),
    "refdp.accounting.budget_lock": ("_locks",),
}
"""Names of modules in which use keeps what users give, what was fitted and what is locked; no figure is of these."""


def _with_imported(modules: frozenset[str]) -> set[str]:
    """With those that are loaded of what they import, and what these do; and all packages that they are in."""
    found = set(_with_those_of_caches(modules))
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        if name.startswith("refdp."):
            own = {f"{place}.{one}" if f"{place}.{one}" in sys.modules else place for place, one in _imported(name)}
            reached = {one for one in (*own, name.rpartition(".")[0]) if one in sys.modules} - COMPARING - found
            waiting += reached
            found |= reached
    return found


@cache
def _imported(module: str) -> tuple[tuple[str, str], ...]:
    """What a module imports from refdp at its top or inside functions, but for types: modules, and the names in them.

    Empty names where a module is imported; nothing where there is no source of it, which is told elsewhere.
    """
    found: list[tuple[str, str]] = []
    try:
        waiting: list[ast.AST] = [parsed_module(module)]
    except (OSError, TypeError, SyntaxError):
        return ()
    while waiting:
        node: Any = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
        elif isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(str(node.module), alias.name) for alias in node.names]
        else:
            waiting += ast.iter_child_nodes(node)
    return tuple(pair for pair in found if pair[0].partition(".")[0] == "refdp")


@cache
def _with_those_of_caches(modules: frozenset[str]) -> frozenset[str]:
    """Modules, and those of refdp that their functions with caches reach: what is computed anew is then compared."""
    found, waiting = set(modules), list(modules)
    while waiting:
        name = waiting.pop()
        own = vars(importlib.import_module(name)).copy().items() if name.startswith("refdp.") else ()
        reached = {one for key, function in own if _is_kept(function, name) for one in modules_of(f"{name}:{key}")}
        waiting += reached - found
        found |= reached
    return frozenset(found)


def _is_kept(function: Any, module: str) -> bool:
    """Whether it is a module's function with a cache."""
    return hasattr(function, "cache_parameters") and function.__module__ == module


def _kept_of_another(module: ModuleType) -> str:
    """The first function whose cache keeps another result than the function gives now, and why; empty where none does.

    Those that were compared before, and have in them what they had, are not computed again.
    """
    for name, function in vars(module).copy().items():
        if not _is_kept(function, module.__name__):
            continue
        before, now = _compared(f"{module.__name__}.{name}"), {}
        for key, result in _entries(function):
            if not _equals_alike(key):
                return f"{name}, whose cache may be asked with what says itself what it equals"
            known, seen = before.get(key, (ABSENT, []))
            if known is not result or not all(map(_unchanged, seen)):
                seen = []
                if not _gives(function.__wrapped__, key, result, seen):
                    return f"{name}, whose cache keeps what something else made"
            now[key] = result, seen
        before.clear()
        before.update(now)
    return ""


@cache
def _compared(name: str) -> dict[Any, tuple[Any, Seen]]:
    """What was compared of a function with a cache: results, what was in them, by key. In a cache, as of `_known`."""
    return {}


def _entries(function: Any) -> Iterator[tuple[Any, Any]]:
    """What a cache keeps: keys and results, which the interpreter's collector alone can tell."""
    inside = gc.get_referents(function)
    tables = [one for one in inside if type(one) is dict]
    if function.cache_parameters()["maxsize"] is None:
        yield from tables[0].copy().items() if tables else ()
        return
    before, now = None, _linked(tables)
    while now != before:  # another thread asks the same function
        before, inside = now, gc.get_referents(function)
        now = _linked(tables)
    keys, place = now, 0
    while place < len(inside) - 1:
        found = id(inside[place]) in keys
        if found:
            yield inside[place], inside[place + 1]
        place += 1 + found


def _linked(tables: list[dict[Any, Any]]) -> set[int]:
    """Which objects are keys of a cache with a bound."""
    for one in tables:
        links = one.copy()
        if links and all(type(link).__name__ == "_lru_list_elem" for link in links.values()):
            return set(map(id, links))
    return set()


def _equals_alike(value: Any) -> bool:
    """Whether a key of a cache equals only what has its class and parts, so that no other is found in its place."""
    kind = type(value)
    if kind in KEYS:
        return True
    equals = inspect.getattr_static(kind, "__eq__")
    if any(equals is vars(one)["__eq__"] for one in (object, int, float, complex, str, bytes)):
        return True
    if kind in (tuple, frozenset, list, dict, set) or is_refdps(kind):
        return all(_equals_alike(part) for _, part in _parts(value))
    return is_dataclass(kind) and _is_generated(kind, equals)


def is_refdps(kind: type) -> bool:
    """Whether a class is that of its name in a module of refdp."""
    found: Any = sys.modules.get(kind.__module__) if kind.__module__.startswith("refdp.") else None
    for name in kind.__qualname__.split("."):
        found = vars(found).get(name) if isinstance(found, type | ModuleType) else None
    return found is kind


def _is_generated(kind: Any, equals: Any) -> bool:
    """Whether a dataclass's objects equal those of their very class alone, as the standard library makes them."""
    made: Any = make_dataclass("made", [one.name for one in fields(kind) if one.compare])
    written = attrgetter("co_code", "co_consts", "co_names")
    own = all(inspect.getattr_static(kind, name) is vars(object)[name] for name in ("__class__", "__getattribute__"))
    return own and type(equals) is FunctionType and written(equals.__code__) == written(made.__eq__.__code__)


def _gives(function: Any, key: Any, result: Any, seen: Seen | None = None) -> bool:
    """Whether a function gives the same for what a cache knows its arguments by: these, a mark, and those by name.

    seen: gets what was compared.
    """
    given = list(key) if type(key) is tuple else [key]
    mark = next((place for place, one in enumerate(given) if type(one) is object), len(given))
    pairs = given[mark + 1 :]
    try:
        made = function(*given[:mark], **dict(zip(pairs[::2], pairs[1::2], strict=True)))
    except Exception:  # what raises is in no cache
        return False
    return next(_differences(result, made, "", {}, [] if seen is None else seen), None) is None


@cache
def _known(name: str) -> Seen:
    """What was compared of a module by that name, itself first, as it has its source's meaning; empty before.

    In a cache, into which no reading looks: what is noted here is no container that a text could ask for.
    """
    return []


def differs(module: ModuleType, seen: Seen | None = None) -> str:
    """Where a module is not what its source makes, empty where it is. seen: gets what was compared."""
    own = vars(module)
    if module.__name__.partition(".")[0] == "refdp" and _place(module) != _due(module):
        return ", which comes from another file than refdp's own"
    if not any(own.get("__builtins__") is one for one in (builtins, vars(builtins))):
        return ".__builtins__"
    fresh = ModuleType(module.__name__)
    kept = {"__package__", "__file__", "__spec__", "__loader__", "__path__"} & own.keys()
    vars(fresh).update({name: own[name] for name in kept | _loaded(module).keys()})
    try:
        exec(_compiled(module), vars(fresh))
    except Exception as problem:
        return f", whose source cannot be executed anew ({type(problem).__name__})"
    vars(fresh).update({name: own.get(name) for name in FILLED.get(module.__name__, ())})
    met = {(id(own), id(vars(fresh))): (module, fresh)}
    found = next(_differences(module, fresh, "", met, [] if seen is None else seen), None)
    return "" if found is None else found or ", which is of another class"


def _loaded(module: ModuleType) -> dict[str, bool]:
    """Names under which a package has its modules, which its text need not make; and whether it is that of the name."""
    found, own = {}, vars(module).copy().items() if "__path__" in vars(module) else ()
    for name, one in own:
        known = f"{module.__name__}.{name}"
        if isinstance(one, ModuleType) and (known in sys.modules or vars(one).get("__name__") == known):
            found[name] = sys.modules.get(known) is one
    return found


def _another(package: ModuleType) -> str:
    """The first name under which a package has another module than the import of that name gives, empty if none."""
    return next((name for name, same in _loaded(package).items() if not same), "")


def _place(module: ModuleType) -> Path:
    return Path(str(vars(module).get("__file__", ""))).absolute()


def _due(module: ModuleType) -> Path:
    """Where the file of a module of refdp has to be, in an archive too: digests are of the files there."""
    within = Path(str(resources.files("refdp"))).absolute().joinpath(*module.__name__.split(".")[1:])
    return within / "__init__.py" if within.is_dir() or "__path__" in vars(module) else within.with_suffix(".py")


def _compiled(module: ModuleType) -> CodeType:
    """As an import compiles it; pytest's writes assertions anew, in every package that has a plugin for it."""
    tree, hook = parsed_module(module.__name__), sys.modules.get("_pytest.assertion.rewrite")
    loader: Any = getattr(module.__spec__, "loader", None)
    if hook is not None and type(loader) is hook.AssertionRewritingHook:
        source = inspect.getsource(module)
        tree = ast.parse(source)
        hook.rewrite_asserts(tree, source.encode(), module.__file__, loader.config)
    return compile(tree, str(module.__file__), "exec", dont_inherit=True)


def _unchanged(compared: tuple[Any, tuple[Any, ...]]) -> bool:
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
    return type(value), *(part for _, part in _parts(value))


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


def _differences(
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
        yield from _differences(type(one), type(other), f".{type(one).__qualname__}", met, seen)
    if type(one) in BY_VALUE or isinstance(one, np.generic | np.dtype):
        if one != other if isinstance(one, CodeType) else repr(one) != repr(other):
            yield place
        elif type(one) is Fraction:  # whose numbers can be changed in place
            seen.append((one, _glance(one)))
        return
    parts = _parts(one)
    if not parts and _is_closed(one):
        yield place
        return
    if type(one) not in FIXED:
        seen.append((one, _glance(one)))
    for (name, part), (named, made) in zip_longest(parts, _parts(other), fillvalue=("", ABSENT)):
        if name != named or part is ABSENT or made is ABSENT:
            yield f"{place}{name or named}"
            return
        yield from _differences(part, made, f"{place}{name}", met, seen)


def _home(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


def _parts(value: Any) -> Parts:
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
    """In the order of the names: what was taken away and put back comes last."""
    return [(f".{name}", one) for name, one in sorted(vars(value).items(), key=itemgetter(0)) if name not in LEFT_OUT]


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
        kinds = [pair for pair in value._kinds.copy().items() if _is_plain(pair[0])]
        found = [part for part in found if part[1] is not value._kinds] + [("", one) for pair in kinds for one in pair]
    return found


def _is_plain(kind: type) -> bool:
    """Whether training has numbers of a kind, as a kind of kinds may say later: formulas take others beside, by which
    they are proved."""
    return type(kind) is not type or any(isinstance(number, kind) for number in PLAIN_NUMBERS)
