"""What a run leaves in the settings of its process, where the next program in it can read it."""

from __future__ import annotations

import abc
import codecs
import contextlib
import contextvars
import copyreg
import decimal
import functools
import gc
import hashlib
import locale
import logging
import operator
import os
import pickle
import random
import signal
import socket
import sys
import threading
import time
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from refdp.audit.inside import kept_by_name
from refdp.audit.observer import View, view
from refdp.audit.process_settings import named, settings

_BEFORE: dict[str, tuple[Any, ...]] = {}
"""What each module holds, the objects themselves: comparing them allocates nothing, and no identity is given again."""
_NAMES: set[str] = set()
"""Names of modules before a run."""
LONGEST = 1000
"""Of a longer text the beginning is told, and its digest."""
_CLASSES: dict[str, list[type]] = {}
"""Classes of refdp's own, by module, as long as the module holds what it held."""
_PLAIN = frozenset(map(id, (bool, int, float, complex, str, bytes)))
_HANDLERS: tuple[dict[str, Any], ...] = tuple(
    one for one in gc.get_objects()
    if type(one) is dict and one.get("strict") is codecs.strict_errors and one.get("ignore") is codecs.ignore_errors
)  # fmt: skip
"""Python's own register of what stands for letters that cannot be written, which has no other way in."""
_OPTIONS = (("pandas._config.config", "_global_config"), ("matplotlib", "rcParams"))
"""Modules of libraries, and what they keep their options in."""
_IN_PYTHON = (types.FunctionType, types.MethodType, functools.partial)
_SIGNALS = sorted(signal.valid_signals())


def seeded(seed: int) -> None:
    """Seed the global generators of numpy and Python, which are public in an audit."""
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)


def left_behind(thorough: bool = True) -> tuple[tuple[str, str], ...]:
    """Generators, settings, environment, threads, limits and modules, as lines of text.

    thorough: whether modules are looked at, which takes as long as many a run.
    """
    legacy = np.random.get_state()  # noqa: NPY002
    return (
        ("numpy.random", hashlib.sha256(pickle.dumps(legacy)).hexdigest()),
        ("random", hashlib.sha256(repr(random.getstate()).encode()).hexdigest()),
        ("numpy print options", str(np.get_printoptions())),
        ("environment", repr(sorted(os.environ.items()))),
        ("working directory", os.getcwd()),
        ("decimal context", repr(decimal.getcontext())),
        ("threads", repr(sorted(thread.name for thread in threading.enumerate()))),
        ("locale", locale.setlocale(locale.LC_ALL)),
        ("module path", repr(sys.path)),
        ("mode of new files", oct(_umask())),
        ("handlers of codecs", repr([view(one).lines for one in _HANDLERS])),
        ("registered classes", str(abc.get_cache_token())),
        ("patience of sockets", repr(socket.getdefaulttimeout())),
        ("time zone", repr((time.tzname, time.timezone))),
        ("pickling", repr(view(copyreg.dispatch_table).lines)),
        ("collector", repr((gc.get_threshold(), gc.get_debug()))),
        ("logging", repr((logging.root.level, logging.root.manager.disable, _levels()))),
        ("options of libraries", repr(_options())),
        ("handlers of signals", repr([(int(s), *_handler(signal.getsignal(s))) for s in _SIGNALS])),
        *settings(),
        *(_thorough() if thorough else ()),
    )


def remember() -> None:
    """What modules hold before a run: what differs after it is looked at. In the run's own process: whoever makes it
    goes on, and notes the time of a collection, say."""
    _BEFORE.clear()
    _CLASSES.clear()
    _NAMES.clear()
    _NAMES.update(sys.modules)
    for name, held in _modules():
        _BEFORE[name] = tuple(held.values())
        if classes := _own_classes(name, held):
            _CLASSES[name] = classes
            _BEFORE.update({_title(name, one): tuple(vars(one).values()) for one in classes})


def _thorough() -> Iterator[tuple[str, str]]:
    """Plain values in every module that changed or was loaded since `remember`, classes of refdp; the new names."""
    added: list[tuple[str, Any]] = [(name, one) for name, one in sys.modules.items() if name not in _NAMES and _BEFORE]
    for name, module in added:
        yield f"module {name}", type(module).__qualname__
        if not isinstance(module, types.ModuleType):
            yield f"module {name} holds", repr(view(module).lines)
    for name, held in _modules():
        same = _same(_BEFORE.get(name), held)
        if not same:
            yield from _plain(name, held)
        for one in _CLASSES.get(name, []) if same else _own_classes(name, held):
            title = _title(name, one)
            if not _same(_BEFORE.get(title), vars(one)):
                yield from _plain(title, vars(one))


def _plain(name: str, held: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in list(held.items()):
        if id(type(value)) in _PLAIN or isinstance(value, np.generic):
            yield f"{name}.{key}", _short(repr(value))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} {hashlib.sha256(text.encode()).hexdigest()}"


def _same(before: tuple[Any, ...] | None, held: Mapping[str, Any]) -> bool:
    """Whether these are the objects that were there before; no object's own idea of equality is asked."""
    return before is not None and len(before) == len(held) and all(map(operator.is_, before, held.values()))


def _modules() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, module in list(sys.modules.items()):
        held = getattr(module, "__dict__", None)
        if type(held) is dict and name != "__main__":
            yield name, held


def _own_classes(name: str, held: Mapping[str, Any]) -> list[type]:
    if not name.startswith("refdp."):
        return []
    return [one for one in held.values() if isinstance(one, type) and one.__module__ == name]


def _title(name: str, one: type) -> str:
    return f"{name}.{one.__qualname__}"


def of_curator(curator: Any) -> dict[str, frozenset[str]]:
    """Names of a curator's attributes, with those of the attributes of what is there."""
    return {name: frozenset(kept_by_name(kept)) for name, kept in vars(curator).items()}


def on_arguments(found: View, curator: Any, schema: Any, own: Mapping[str, frozenset[str]]) -> None:
    """What a run leaves on what it was given and its caller keeps. own: `of_curator` before the run."""
    for name, kept in vars(curator).items():
        if name not in own:
            found.look(f"curator.{name}", kept)
            continue
        for inner, one in kept_by_name(kept).items():
            if inner not in own[name]:
                found.look(f"curator.{name}.{inner}", one)
    found.look("schema", schema)


def context() -> dict[Any, Any]:
    """What context variables hold."""
    return dict(_context())


def in_context(found: View, before: Mapping[Any, Any] | None = None) -> None:
    """What context variables hold, by their names.

    before: what they held before a run. What shows nothing of itself is named unless it is the object that was there:
    a notebook's own loop of events is in every run's context.
    """
    for held, value in _context():
        own = View()
        own.look(f"context variable {held.name}", value)
        for place, text in own.lines:
            found.add(place, text)
        if before is None or before.get(held, found) is not value:
            found.opaque += own.opaque


def descriptors() -> int:
    """How many descriptors the process holds; 0 where the system does not say."""
    for place in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            return len(os.listdir(place))
    return 0


def _levels() -> list[tuple[str, int, bool]]:
    """Of loggers by name that do not say all that their parents do."""
    known = logging.root.manager.loggerDict.copy().items()
    found = [(name, one.level, one.disabled) for name, one in known if isinstance(one, logging.Logger)]
    return sorted(one for one in found if one[1] or one[2])


def _handler(handler: Any) -> tuple[Any, ...]:
    """A handler's name, and of one in Python what it keeps."""
    return named(handler), view(handler).lines if callable(handler) and type(handler) in _IN_PYTHON else ()


def _umask() -> int:
    mask = os.umask(0o77)
    os.umask(mask)
    return mask


def _options() -> list[Any]:
    return [view(getattr(sys.modules[name], held, None)).lines for name, held in _OPTIONS if name in sys.modules]


def _context() -> list[tuple[contextvars.ContextVar[Any], Any]]:
    """Context variables that are set, by name; numpy's own hold what is told elsewhere."""
    found = [(held, value) for held, value in contextvars.copy_context().items() if not held.name.startswith("numpy")]
    return sorted((one for one in found if one[0].name != "decimal_context"), key=lambda one: one[0].name)
