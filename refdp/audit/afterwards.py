"""What a run leaves to be done when it is over: by threads and timers, the collector, the process's end, its children.

Only in a process of the run's own, which ends after it: elsewhere all of this may be somebody else's.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import gc
import os
import sys
import threading
import time
import weakref
from typing import Any

PATIENCE = 0.2
"""Seconds that threads, and then children, are waited for."""


def threads() -> int:
    """How many the interpreter counts that `threading` does not know."""
    return max(0, _thread._count() - len(threading.enumerate()) + 1)


def last_words(unknown: int = 0) -> list[str]:
    """Do it now. What cannot be waited for is given back in words. unknown: `threads` before the run."""
    others = [one for one in threading.enumerate() if one is not threading.current_thread()]
    end = time.monotonic() + PATIENCE
    for one in others:
        if isinstance(one, threading.Timer) and not one.finished.is_set():
            one.cancel()
            with contextlib.suppress(Exception):
                one.function(*one.args, **one.kwargs)
        one.join(max(0.0, end - time.monotonic()))
    while threads() > unknown and time.monotonic() < end:
        time.sleep(0.005)
    gc.collect()
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()
    more = ["what a thread does later that `threading` does not know"] if threads() > unknown else []
    return [f"what thread {type(one).__name__} does later" for one in others if one.is_alive()] + more


def at_exit() -> list[Any]:
    """What `threading` and `multiprocessing` are to do at the end, or in a process that is made, besides `atexit`."""
    util = sys.modules.get("multiprocessing.util")
    later = list(getattr(util, "_finalizer_registry", {}).values())
    made = [key[2] for key in list(getattr(util, "_afterfork_registry", {}))]
    return [*getattr(threading, "_threading_atexits", ()), *(getattr(one, "_callback", None) for one in later), *made]


def finalizers() -> list[Any]:
    """What is to be called when something goes, in order: with the end of a process it is called and forgotten."""
    return list(weakref.finalize._registry)  # type: ignore[attr-defined]


def children() -> str:
    """How children ended that nobody waited for, as whoever waits is told, and whether others still run."""
    ended: list[int] = []
    end = time.monotonic() + PATIENCE
    with contextlib.suppress(ChildProcessError):  # there is none any more
        while True:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child:
                ended.append(status)
            elif time.monotonic() > end:
                return f"ended with {sorted(ended)}, others run"
            else:
                time.sleep(0.005)
    return f"ended with {sorted(ended)}"
