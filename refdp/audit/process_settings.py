"""Settings of the process that take a line each to read, and the functions that somebody else calls.

Functions are told by their names; one that was not there when `remember_hooks` was called is looked into besides.
"""

from __future__ import annotations

import contextlib
import decimal
import encodings
import faulthandler
import gc
import logging
import math
import os
import signal
import sys
import threading
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from refdp.audit.inside import PLAIN_KINDS, kept_by_name
from refdp.audit.observer import view

try:
    import resource

    LIMITS: tuple[int, ...] = tuple(sorted({kept for name, kept in vars(resource).items() if name[:7] == "RLIMIT_"}))
except ImportError:  # where there is none
    LIMITS = ()

_TIMERS = tuple(getattr(signal, name) for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")
                if hasattr(signal, name))  # fmt: skip
_NAME = Path("/proc/self/comm")
_HOOKS: dict[str, tuple[Any, ...]] = {}


def _scheduling() -> tuple[Any, ...]:
    """How the process yields to others, and where it may run, where the system says so."""
    priority = os.getpriority(os.PRIO_PROCESS, 0) if hasattr(os, "getpriority") else None
    return priority, sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _scheduler() -> tuple[Any, ...] | None:
    if not hasattr(os, "sched_getscheduler"):
        return None
    return os.sched_getscheduler(0), os.sched_getparam(0).sched_priority


def _timers() -> list[tuple[float, ...]]:
    """What is left of each, in whole seconds, and its interval."""
    return [(math.ceil(left), again) for left, again in map(signal.getitimer, _TIMERS)]


def _leads() -> list[bool]:
    """Whether the process leads a group, a session."""
    if not hasattr(os, "getsid"):
        return []
    return [os.getpgrp() == os.getpid(), os.getsid(0) == os.getpid()]


def _process_name() -> str:
    with contextlib.suppress(OSError):
        return _NAME.read_text(errors="backslashreplace")
    return ""


def _masked() -> list[int]:
    return sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])) if hasattr(signal, "pthread_sigmask") else []


def _monitors() -> list[Any]:
    tools = getattr(sys, "monitoring", None)
    return [tools.get_tool(number) for number in range(6)] if tools else []


def _logging() -> list[Any]:
    """Handlers and filters of the root logger, their kinds and what is plain of them: a buffer has times in it."""
    return [_plainly(one) for one in (*logging.root.handlers, *logging.root.filters)]


def _starts() -> str | None:
    """How multiprocessing is to start processes, if anything says so."""
    module = sys.modules.get("multiprocessing")
    return None if module is None else module.get_start_method(allow_none=True)


def _loops() -> Any:
    """What makes loops of events, if anything does, without a loop itself."""
    return _plainly(getattr(sys.modules.get("asyncio.events"), "_event_loop_policy", None))


def _plainly(thing: Any) -> tuple[str, list[tuple[str, Any]]]:
    """Its kind or name, and plain values among its attributes."""
    return named(thing), [(name, one) for name, one in kept_by_name(thing).items() if id(type(one)) in PLAIN_KINDS]


_CODECS: list[Any] = next(
    (one for one in gc.get_objects()
     if type(one) is list and len(one) < 100 and any(held is encodings.search_function for held in one)), []
)  # fmt: skip
"""Python's own list of functions that look for codecs, which has no other way in."""
_CONTEXTS = (decimal.DefaultContext, decimal.BasicContext, decimal.ExtendedContext)

SETTINGS: dict[str, Callable[[], Any]] = {
    "warning filters": lambda: warnings.filters,
    "warnings given once": lambda: view(warnings.onceregistry).lines,  # type: ignore[attr-defined]
    "limits": lambda: (sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()),
    "limits of resources": lambda: [resource.getrlimit(one) for one in LIMITS],
    "priority and processors": _scheduling,
    "scheduler": _scheduler,
    "timers": _timers,
    "groups of processes": _leads,
    "name of the process": _process_name,
    "signals that are held back": _masked,
    "room of threads": threading.stack_size,
    "tracing of memory": lambda: (tracemalloc.is_tracing(), tracemalloc.get_traceback_limit()),
    "origins of coroutines": sys.get_coroutine_origin_tracking_depth,
    "loading of libraries": lambda: sys.getdlopenflags() if hasattr(sys, "getdlopenflags") else None,
    "arguments of the program": lambda: (sys.argv, sys.warnoptions),
    "monitors": _monitors,
    "handlers of the root logger": _logging,
    "tracebacks of faults": faulthandler.is_enabled,
    "start of processes": _starts,
    "maker of loops of events": _loops,
    "decimal contexts to begin with": lambda: _CONTEXTS,
}
"""Name, and how it is read."""
HOOKS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "hooks": lambda: (sys.excepthook, sys.displayhook, sys.unraisablehook, sys.breakpointhook, threading.excepthook),
    "hooks of codecs": lambda: tuple(_CODECS),
    "hooks of tracing": lambda: (sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()),
    "hooks of generators": lambda: tuple(sys.get_asyncgen_hooks()),
    "hooks of the collector": lambda: tuple(gc.callbacks),
    "hooks of imports": lambda: (*sys.meta_path, *sys.path_hooks),
    "standard streams": lambda: (sys.stdin, sys.stdout, sys.stderr),
}
"""Name, and what is there; a library's own ways to import are looked into no further than their names."""
_BY_NAME = frozenset({"hooks of imports"})


def remember_hooks() -> None:
    """What is there before a run: only what a run puts there is looked into."""
    _HOOKS.update({name: read() for name, read in HOOKS.items()})


def settings() -> Iterator[tuple[str, str]]:
    """A line for each setting, and for each kind of hook."""
    for name, read in SETTINGS.items():
        yield name, repr(read())
    for name, hooks in HOOKS.items():
        held = hooks()
        known = _HOOKS.get(name, held)
        new = () if name in _BY_NAME else [one for one in held if not any(one is other for other in known)]
        yield name, repr([named(one) for one in held]) + "".join(repr(view(one).lines) for one in new)


def numerics() -> str:
    """How numpy takes errors of numbers, and the room of its loops. Inside the context of a run."""
    called = np.geterrcall()
    return f"{np.geterr()} {np.getbufsize()} {'' if called is None else view(called).lines}"


def named(handler: Any) -> str:
    """Its name, or its kind where it would tell where it lies."""
    shown = vars(object)["__repr__"] is not getattr(type(handler), "__repr__", None)
    return str(getattr(handler, "__qualname__", handler if shown else type(handler).__qualname__))
