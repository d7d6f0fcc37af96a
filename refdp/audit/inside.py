"""What is in things beside their elements: attributes, slots, what a class or a module has that no name reaches.

What is written in another language shows nothing of this; `foreign` tells which that is.
"""

from __future__ import annotations

import abc
import contextlib
import copyreg
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

from refdp.audit.by_name import HEAP_TYPE, has_its_name

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
CONTAINERS = (dict, list, tuple, set, frozenset, bytearray)
PLAIN_KINDS, CONTAINER_KINDS = (frozenset(map(id, kinds)) for kinds in (PLAIN, CONTAINERS))
"""By identity: a metaclass may say that its types equal any other."""
_OF_CLASSES = frozenset({"__dict__", "__weakref__", "_abc_impl", "__firstlineno__", "__static_attributes__"})
_OF_MODULES = frozenset({"__builtins__", "__loader__", "__spec__"})
"""Names that the interpreter fills, and whose content nobody can read."""
_FOREIGN: dict[int, tuple[type, bool]] = {}
_SLOTS: dict[int, tuple[type, dict[str, Any]]] = {}
"""By identity, with the type itself, so that the identity stays its own."""
_MOST_TYPES = 4096


def attributes(place: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """Attributes and slots, by their places; a slot without anything is told, too."""
    for name, value in kept_by_name(thing).items():
        yield f"{place}.{name}", value
    for kind in type(thing).__mro__:
        for name, slot in slots_of(kind).items():
            try:
                yield f"{place}.{name}", slot.__get__(thing)
            except (AttributeError, KeyError):
                yield f"{place}.{name} (unset)", None


def kept_by_name(thing: Any) -> dict[str, Any]:
    """Its attributes, whatever its class says that they are."""
    for kind in type(thing).__mro__:
        own = vars(kind).get("__dict__")
        if type(own) is types.GetSetDescriptorType:
            held = own.__get__(thing)
            return held if isinstance(held, dict) else {}
        if own is not None:
            state = object.__getstate__(thing)
            held = state[0] if isinstance(state, tuple) else state
            return held if isinstance(held, dict) else {}
    return {}


def of_error(place: str, error: BaseException) -> Iterator[tuple[str, Any]]:
    """What it came from, where it was raised, and what errors of its kind have beside their arguments."""
    for name in ("__cause__", "__context__", "__traceback__"):
        if (held := getattr(BaseException, name).__get__(error)) is not None:
            yield f"{place}.{name}", held
    hidden = BaseException.__suppress_context__.__get__(error)  # type: ignore[attr-defined]
    yield f"{place}.__suppress_context__", hidden
    for kind in type(error).__mro__:
        if kind in (BaseException, object) or kind.__flags__ & HEAP_TYPE:
            continue
        for name, one in vars(kind).items():
            if type(one) is types.MemberDescriptorType:
                yield f"{place}.{name}", one.__get__(error)


def elements(thing: list[Any] | tuple[Any, ...] | set[Any] | frozenset[Any]) -> list[Any]:
    """What is in it, whatever its class says."""
    own: Any = next(kind for kind in (list, tuple, set, frozenset) if isinstance(thing, kind))
    return list(own.__iter__(thing))


OF_PYTHON = ("copyreg", "re")
"""Modules whose ways to pickle are believed; others register ways that leave something out, as of tracebacks."""
_WAYS = ("__reduce_ex__", "__reduce__", "__getstate__")


def reduced(thing: Any) -> Any:
    """What pickle would keep of it, as its part in another language has it. Errors: whatever its class raises."""
    if not any(kind.__module__ == "itertools" for kind in type(thing).__mro__):
        return _reduced(thing)
    with warnings.catch_warnings():  # Python warns of the iterators of itertools alone
        warnings.simplefilter("ignore", DeprecationWarning)
        return _reduced(thing)


def _reduced(thing: Any) -> Any:
    kinds = type(thing).__mro__[:-1]
    ways = [vars(kind)[way] for kind in kinds for way in _WAYS if way in vars(kind)]
    of_python = bool(ways) and isinstance(ways[0], types.FunctionType | staticmethod | classmethod)
    for kind in kinds if of_python else ():
        for way, own in [(way, vars(kind)[way]) for way in _WAYS if way in vars(kind)]:
            # a class of another language may be of the kind that Python's are, as deque is from 3.12 on
            if not kind.__flags__ & HEAP_TYPE or isinstance(own, types.MethodDescriptorType):
                with contextlib.suppress(Exception):  # it is not to be pickled, but its subclass may
                    return _told_by(way, own, thing)
    registered = copyreg.dispatch_table.get(type(thing))
    if registered is not None and registered.__module__ in OF_PYTHON and has_its_name(registered):
        return registered(thing)
    return thing.__reduce_ex__(4)


def _told_by(way: str, method: Any, thing: Any) -> Any:
    kept = method(thing, 4) if way == "__reduce_ex__" else method(thing)
    return (type(thing), kept) if way == "__getstate__" else kept


def slots_of(kind: type) -> dict[str, Any]:
    """A class's slots as they are, whatever its list of them says now; those that were seen once stay known."""
    known = _SLOTS.get(id(kind))
    if known is None:
        members = vars(kind).items() if kind.__flags__ & HEAP_TYPE else ()
        known = kind, {name: one for name, one in members if type(one) is types.MemberDescriptorType}
        if len(_SLOTS) < _MOST_TYPES:
            _SLOTS[id(kind)] = known
    return known[1]


def inside(place: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """What is in a class, a module, code or a bound method that no module has under its name."""
    if isinstance(thing, types.CodeType):
        yield f"{place}.co_consts", thing.co_consts
    elif isinstance(thing, types.BuiltinFunctionType):
        yield f"{place}.__self__", thing.__self__
    elif isinstance(thing, types.ModuleType):
        yield from ((f"{place}.{key}", held) for key, held in vars(thing).items() if key not in _OF_MODULES)
    else:
        yield f"{place}.__bases__", thing.__bases__
        if not has_its_name(type(thing)):
            yield f"{place}.__class__", type(thing)
        slots = slots_of(thing)
        yield f"{place}.__slots__", tuple(slots)
        left = _OF_CLASSES | slots.keys()
        yield from ((f"{place}.{key}", held) for key, held in vars(thing).items() if key not in left)
        if "_abc_impl" in vars(thing):
            yield f"{place} registered", registered_with(thing)


def registered_with(kind: type) -> list[str]:
    """Names of the classes that are registered with an abstract one."""
    if "_abc_impl" not in vars(kind):
        return []
    registered = [one() for one in abc._get_dump(kind)[0]]  # type: ignore[attr-defined]
    return sorted(f"{one.__module__}.{one.__qualname__}" for one in registered if one)


def own_globals(place: str, function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function knows as its module, where that is none."""
    held, module = function.__globals__, sys.modules.get(function.__globals__.get("__name__", ""))
    if module is None or held is not vars(module):
        yield f"{place}.__globals__", {name: one for name, one in held.items() if name not in _OF_MODULES}


def foreign(kind: type) -> bool:
    """Whether a part of the type is written in another language, and holds what no attribute shows."""
    known = _FOREIGN.get(id(kind))
    if known is None:
        known = kind, _is_foreign(kind)
        if len(_FOREIGN) < _MOST_TYPES:
            _FOREIGN[id(kind)] = known
    return known[1]


def _is_foreign(kind: type) -> bool:
    known = {id(object), *PLAIN_KINDS, *CONTAINER_KINDS}
    unknown = [base for base in kind.__mro__ if id(base) not in known]
    return any(not base.__flags__ & HEAP_TYPE or _has_room_of_its_own(base) for base in unknown) or (
        kind.__module__.split(".")[0] != "builtins" and not _written_in_python(kind)
    )


def _has_room_of_its_own(kind: type) -> bool:
    """Whether objects of it have more room than those of its base, its slots and what Python adds."""
    assert kind.__base__ is not None
    word = tuple.__itemsize__
    added = len(slots_of(kind)) + sum(name in vars(kind) for name in ("__dict__", "__weakref__"))
    return kind.__basicsize__ - kind.__base__.__basicsize__ > word * added


def _written_in_python(kind: type) -> bool:
    return any(
        "__dict__" in base.__dict__ or "__slots__" in base.__dict__ or "__annotations__" in base.__dict__
        for base in kind.__mro__[:-1]
    ) or any(id(base) in CONTAINER_KINDS or id(base) in PLAIN_KINDS for base in kind.__mro__)
