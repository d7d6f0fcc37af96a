"""Foreign code that ends the process, or puts another program in its place, before the audit could say anything.

`os._exit(0)` in an audited function would end `refdp audit` with nothing printed and status 0, which says that nothing
was found. While such code runs in this process, the functions of `os` that do this raise SystemExit in place of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

ENDING = ("_exit", "execv", "execve")
"""What ends a process without a word: all other `os.exec*` call the last two."""


@contextmanager
def stays() -> Iterator[None]:
    """This process is ended by nothing of `os` but a signal inside; processes that it forks may end as they like.

    Errors: SystemExit, with the status or the name of the other program, where that is tried.
    """
    here, kept = os.getpid(), {name: getattr(os, name) for name in ENDING}

    def refusing(real: Callable[..., Any]) -> Callable[..., Any]:
        def ended(*given: Any, **named: Any) -> Any:
            if os.getpid() != here or not inside:
                return real(*given, **named)
            raise SystemExit(next(iter((*given, *named.values())), None))

        return ended

    inside = True
    for name, real in kept.items():
        setattr(os, name, refusing(real))
    try:
        yield
    finally:
        inside = False
        for name, real in kept.items():
            setattr(os, name, real)
