"""One thread of one process at a time: a lock for what is kept in memory or in a file.

With a file, two locks are taken: `<file>.lock`, which is there before the file is, and the file itself. Either may be
deleted or exchanged by others meanwhile; what was locked is then no longer what has the name, and is opened again. So
who cleans up lock files costs nobody a charge.

A fork has neither threads nor business of its parent: it begins with a free lock, and lets go of what its parent holds
without setting that free.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from refdp.errors import InvalidParameter

_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


class Lock:
    """file: None for threads of this process alone."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self._open: list[FileIO] = []
        self._threads = threading.Lock()
        _locks.add(self)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else is inside meanwhile. Errors: InvalidParameter where the file's folder cannot be written to."""
        with self._threads:
            try:
                self._let_go()  # of what an interrupt left
                if self.file is not None:
                    self._take(self.file)
                yield
            finally:
                self._let_go()

    def _take(self, file: Path) -> None:
        try:
            self._flock(file.with_name(file.name + ".lock"), os.O_CREAT)
            with suppress(FileNotFoundError):  # not begun, or gone
                self._flock(file, 0)
        except OSError as error:
            raise InvalidParameter(f"budget file {file}: cannot be written: {error.strerror}") from None

    def _flock(self, path: Path, flags: int) -> None:
        import fcntl

        while True:
            self._open.append(FileIO(path, "r+", opener=lambda name, own: os.open(name, own | flags, 0o666)))
            fcntl.flock(self._open[-1], fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._open[-1].fileno()), os.stat(path)):
                    return

    def _let_go(self) -> None:
        if not self._open:
            return
        import fcntl

        while self._open:
            file = self._open[-1]
            if not file.closed:
                fcntl.flock(file, fcntl.LOCK_UN)  # closing alone would leave it with forks that have it open too
                file.close()
            self._open.pop()

    def _forked(self) -> None:
        self._threads = threading.Lock()
        while self._open:
            self._open.pop().close()


def _forked() -> None:
    for lock in list(_locks):
        lock._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
