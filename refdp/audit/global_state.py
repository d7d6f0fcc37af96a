"""What a run leaves in the settings of its process, where the next program in it can read it."""

from __future__ import annotations

import contextlib
import contextvars
import decimal
import gc
import hashlib
import locale
import logging
import operator
import os
import pickle
import random
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from refdp.audit.observer import view

_BEFORE: dict[str, tuple[Any, ...]] = {}
"""What each module holds, the objects themselves: comparing them allocates nothing, and no identity is given again."""
_PLAIN = (bool, int, float, complex, str, bytes)


def seeded(seed: int) -> None:
    """Seed the global generators of numpy and Python, which are public in an audit."""
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)


def left_behind(thorough: bool = True) -> tuple[tuple[str, str], ...]:
    """Generators, settings, environment, threads, limits, modules and context variables, as lines of text.

    thorough: whether modules are looked at, which takes as long as many a run.
    """
    legacy = np.random.get_state()  # noqa: NPY002
    return (
        ("numpy.random", hashlib.sha256(pickle.dumps(legacy)).hexdigest()),
        ("random", hashlib.sha256(repr(random.getstate()).encode()).hexdigest()),
        ("numpy print options", str(np.get_printoptions())),
        ("environment", repr(sorted(os.environ.items()))),
        ("working directory", os.getcwd()),
        ("warning filters", repr(warnings.filters[:8])),
        ("decimal context", repr(decimal.getcontext())),
        ("threads", repr(sorted(thread.name for thread in threading.enumerate()))),
        ("locale", locale.setlocale(locale.LC_ALL)),
        ("limits", repr((sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()))),
        ("module path", repr(sys.path)),
        ("mode of new files", oct(_umask())),
        ("hooks", repr([_named(hook) for hook in (sys.excepthook, sys.displayhook, sys.unraisablehook)])),
        ("collector", repr((gc.get_threshold(), gc.get_debug()))),
        ("logging", repr((logging.root.level, logging.root.manager.disable))),
        ("limits of resources", repr(_resources())),
        ("priority and processors", repr(_scheduling())),
        ("handlers of signals", repr([(int(s), _named(signal.getsignal(s))) for s in sorted(signal.valid_signals())])),
        *(_thorough() if thorough else ()),
        *(("context variable", f"{held.name}: {view(value).lines}") for held, value in _context()),
    )


def remember() -> None:
    """What modules hold before a run: what differs after it, in a process of its own, is looked at."""
    _BEFORE.clear()  # in the run's own process: its parent goes on between runs, and notes the time, say
    _BEFORE.update({name: tuple(held.values()) for name, held in _holders()})


def _thorough() -> Iterator[tuple[str, str]]:
    """Plain values in every module that changed or was loaded since `remember`, classes of refdp."""
    for name, held in _holders():
        if _same(_BEFORE.get(name), held):
            continue
        for key, value in list(held.items()):
            if type(value) in _PLAIN and not key.startswith("__"):
                yield f"{name}.{key}", repr(value)[:1000]


def _same(before: tuple[Any, ...] | None, held: Mapping[str, Any]) -> bool:
    """Whether these are the objects that were there before; no object's own idea of equality is asked."""
    return before is not None and len(before) == len(held) and all(map(operator.is_, before, held.values()))


def _holders() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, module in list(sys.modules.items()):
        held = getattr(module, "__dict__", None)
        if type(held) is not dict or name == "__main__":
            continue
        yield name, held
        if name.startswith("refdp."):
            own = [one for one in held.values() if isinstance(one, type) and one.__module__ == name]
            yield from ((f"{name}.{one.__qualname__}", vars(one)) for one in own)


def on_arguments(curator: Any, schema: Any, own: frozenset[str]) -> Iterator[tuple[str, str]]:
    """What a run leaves on what it was given and its caller keeps. own: the curator's own attributes."""
    for name, kept in vars(curator).items():
        if name not in own:
            yield f"curator.{name}", repr(view(kept).lines)
    yield "schema", repr(view(schema).lines)


def descriptors() -> int:
    """How many descriptors the process holds; 0 where the system does not say."""
    for place in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            return len(os.listdir(place))
    return 0


def _umask() -> int:
    mask = os.umask(0o77)
    os.umask(mask)
    return mask


def _resources() -> list[tuple[int, int]]:
    try:
        import resource
    except ImportError:  # where there is none
        return []
    return [resource.getrlimit(one) for one in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE, resource.RLIMIT_AS)]


def _scheduling() -> tuple[Any, ...]:
    """How the process yields to others, and where it may run, where the system says so."""
    priority = os.getpriority(os.PRIO_PROCESS, 0) if hasattr(os, "getpriority") else None
    return priority, sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _named(handler: Any) -> str:
    return str(getattr(handler, "__qualname__", handler))


def _context() -> list[tuple[contextvars.ContextVar[Any], Any]]:
    """Context variables that are set, by name; numpy's own hold what is told elsewhere."""
    found = [(held, value) for held, value in contextvars.copy_context().items() if not held.name.startswith("numpy")]
    return sorted((one for one in found if one[0].name != "decimal_context"), key=lambda one: one[0].name)
