"""Foreign code that ends the process, or puts another program in its place, before the audit could say anything.

`os._exit(0)` in an audited function would end `refdp audit` with nothing printed and status 0, which says that nothing
was found. While such code runs in this process, the functions of `os` that do this raise SystemExit in place of it.
What it leaves to be run at the end of the process has no say in the status either. What ends it at another time, as
from a thread that goes on, or by C's `exit` and `quick_exit`, gives 2 where nothing is decided. C's `_exit`, called
past Python, nothing here can change.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any, NoReturn

ENDING = ("_exit", "execv", "execve")
"""What ends a process without a word: all other `os.exec*` call the last two."""
MODULES: tuple[ModuleType, ...] = (os, sys.modules[os.name])
"""Who has these: `os` has them from `posix` or `nt`."""
END = os._exit
UNDECIDED = 2
"""The status of a process that ended before anything was decided."""
_LAST: list[int] = []
"""The status that is decided, of this process."""
_CALLED: list[Any] = []
"""What C calls, which is there as long as this module."""


def keep_status() -> None:
    """From now on what ends this process does it with the status that `leave` is given, and with 2 before.

    To be called before there is foreign code, which can take these functions by other names.
    """
    here = os.getpid()

    def keeping(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **named: _end() if os.getpid() == here else real(*given, **named)

    for module in MODULES:
        for name in ENDING:
            setattr(module, name, keeping(getattr(module, name)))
    _at_exit_of_c(UNDECIDED)
    with suppress(AttributeError, OSError, TypeError):  # its functions are given no status
        _CALLED.append(ctypes.CFUNCTYPE(None)(_end))
        ctypes.CDLL(None).__cxa_at_quick_exit(_CALLED[-1], None)


def _end() -> None:
    if not _LAST:
        with suppress(OSError):
            os.write(2, b"refdp: code that was run ended the program before there was a result\n")
    END(_LAST[-1] if _LAST else UNDECIDED)


def _at_exit_of_c(status: int) -> None:
    """From now on C's `exit` ends this process, and those that it forks, with that status; nothing on Windows."""
    with suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        end = ctypes.cast(library._exit, ctypes.c_void_p)
        library.__cxa_atexit(end, ctypes.c_void_p(status), None)  # the last one that is left there is called first


def leave(status: int) -> NoReturn:
    """End this process with that status, after what was left to be run at its end, which cannot change it.

    Threads that are still there are not waited for.
    """
    _LAST.append(status)
    try:
        _at_exit_of_c(status)
        _run_what_was_left()
        sys.stderr.flush()
    finally:  # streams are what foreign code has put there, and may raise whatever it likes
        END(status)


def _run_what_was_left() -> None:
    try:
        atexit._run_exitfuncs()
    except BaseException as error:  # which Python has printed
        print(f"refdp: what audited code left to be run at the end raised {type(error).__name__}", file=sys.stderr)


@contextmanager
def stays() -> Iterator[None]:
    """This process is ended by no function of Python but a signal inside; processes that it forks may end as they like.

    Errors: SystemExit, with the status or the name of the other program, where that is tried.
    """
    here = os.getpid()
    kept = {(module, name): getattr(module, name) for module in MODULES for name in ENDING}

    def refusing(real: Callable[..., Any]) -> Callable[..., Any]:
        def ended(*given: Any, **named: Any) -> Any:
            if os.getpid() != here or not inside:
                return real(*given, **named)
            raise SystemExit(next(iter((*given, *named.values())), None))

        return ended

    inside = True
    for (module, name), real in kept.items():
        setattr(module, name, refusing(real))
    try:
        yield
    finally:
        inside = False
        for (module, name), real in kept.items():
            setattr(module, name, real)
