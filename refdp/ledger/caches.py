"""Whether what functions keep of earlier calls is what they give: what was taken away again leaves a trace there.

Whatever a cache keeps is computed anew, and again where it has changed in place since. Of what is kept by a key that
says itself what it equals nobody knows for what it was given, so that it is told as well.
"""

from __future__ import annotations

import gc
import importlib
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, make_dataclass
from functools import cache
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from refdp.ledger.fingerprint import modules_of
from refdp.ledger.parts import ABSENT, BY_VALUE, Seen, differences, is_refdps, parts_of, unchanged

KEYS = frozenset({*BY_VALUE, *np.sctypeDict.values(), np.ndarray})
"""Kinds of which an object equals what its value says; of the last none is a key."""


def forget(modules: Iterable[ModuleType]) -> None:
    """All that caches keep: of what agrees nobody knows whether it was computed anew from what does not."""
    for module in modules:
        for function in vars(module).copy().values():
            if is_kept(function, module.__name__):
                function.cache_clear()
    _compared.cache_clear()


@cache
def with_those_of_caches(modules: frozenset[str]) -> frozenset[str]:
    """Modules, and those of refdp that their functions with caches reach: what is computed anew is then compared."""
    found, waiting = set(modules), list(modules)
    while waiting:
        name = waiting.pop()
        own = vars(importlib.import_module(name)).copy().items() if name.startswith("refdp.") else ()
        reached = {one for key, function in own if is_kept(function, name) for one in modules_of(f"{name}:{key}")}
        waiting += reached - found
        found |= reached
    return frozenset(found)


def is_kept(function: Any, module: str) -> bool:
    """Whether it is a module's function with a cache."""
    return hasattr(function, "cache_parameters") and function.__module__ == module


def kept_of_another(module: ModuleType) -> str:
    """The first function whose cache keeps another result than the function gives now, and why; empty where none does.

    Those that were compared before, and have in them what they had, are not computed again.
    """
    for name, function in vars(module).copy().items():
        if not is_kept(function, module.__name__):
            continue
        before, now = _compared(f"{module.__name__}.{name}"), {}
        for key, result in entries(function):
            if not equals_alike(key):
                return f"{name}, whose cache may be asked with what says itself what it equals"
            known, seen = before.get(key, (ABSENT, []))
            if known is not result or not all(map(unchanged, seen)):
                seen = []
                if not gives(function.__wrapped__, key, result, seen):
                    return f"{name}, whose cache keeps what something else made"
            now[key] = result, seen
        before.clear()
        before.update(now)
    return ""


@cache
def _compared(name: str) -> dict[Any, tuple[Any, Seen]]:
    """What was compared of a function with a cache: results, what was in them, by key. Kept where no reading looks."""
    return {}


def entries(function: Any) -> Iterator[tuple[Any, Any]]:
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


def equals_alike(value: Any) -> bool:
    """Whether a key of a cache equals only what has its class and parts, so that no other is found in its place."""
    kind = type(value)
    if kind in KEYS:
        return True
    equals = inspect.getattr_static(kind, "__eq__")
    if equals is vars(object)["__eq__"]:
        return True
    known = kind in (tuple, frozenset, list, dict, set) or is_refdps(kind)
    if not known and not (is_dataclass(kind) and _is_generated(kind, equals)):
        return False
    return all(equals_alike(part) for _, part in parts_of(value))


def _is_generated(kind: Any, equals: Any) -> bool:
    """Whether a dataclass's objects equal those of their very class alone, as the standard library makes them."""
    made: Any = make_dataclass("made", [one.name for one in fields(kind) if one.compare])
    written = attrgetter("co_code", "co_consts", "co_names")
    own = all(inspect.getattr_static(kind, name) is vars(object)[name] for name in ("__class__", "__getattribute__"))
    return own and type(equals) is FunctionType and written(equals.__code__) == written(made.__eq__.__code__)


def gives(function: Any, key: Any, result: Any, seen: Seen | None = None) -> bool:
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
    return next(differences(result, made, "", {}, [] if seen is None else seen), None) is None
