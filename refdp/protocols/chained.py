"""A file of lines, each on the disk before anything follows from it and chained by a digest to the one before."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from refdp.errors import JournalError

START = "0" * 16
"""What the first line's digest follows."""


class Disk:
    """The operating system's calls that a journal rests on."""

    def write(self, file: int, data: bytes, offset: int) -> int:
        """As os.pwrite: how many bytes were written."""
        return os.pwrite(file, data, offset)

    def cut(self, file: int, size: int) -> None:
        """As os.ftruncate."""
        os.ftruncate(file, size)

    def sync(self, file: int) -> None:
        """As os.fsync, of a file or a directory."""
        os.fsync(file)


class ChainedFile:
    """A file of one run, held by one process at a time. Subclasses say what its lines mean: `_note`, `_append`.

    A line is a digest, which chains it to the line before, and JSON. A last line that is not whole was never followed
    by anything, for what follows waits until it is; it is cut off. Anything else that does not fit is refused.
    """

    def __init__(self, path: str | Path, about: dict[str, Any], whose: str, disk: Disk | None) -> None:
        """Create the file, or go on with it. about: its first line. whose: of whom it is, for messages.

        Errors: JournalError if the file is damaged, about something else, or held by a process; OSError from the disk.
        """
        self.path = Path(os.path.realpath(path))
        self._about, self._whose = about, whose
        self._disk = disk or Disk()
        self._end, self._digest, self._process = 0, START, os.getpid()
        self._file: int | None = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _lock(self._file, self.path)
            self._read(self._file)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let another process have it."""
        if self._file is not None:
            os.close(self._file)
        self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _read(self, file: int) -> None:
        """Take in the lines; a new file gets its first one. What an earlier life wrote is on the disk afterwards."""
        with os.fdopen(os.dup(file), "rb") as stream:
            stream.seek(0)
            data = stream.read()
        first, _ = _line(START, self._about)
        if b"\n" not in data:  # not even the first line is whole: nothing was begun, if the file is a journal at all
            if not first.startswith(data):
                raise self._error(f"it is not a journal of {self._whose}")
            self._append(self._about)
        else:
            *lines, torn = data.split(b"\n")
            for number, line in enumerate(lines):
                self._take(number, line)
            if torn:
                self._disk.cut(file, self._end)
            self._disk.sync(file)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            self._disk.sync(folder)
        finally:
            os.close(folder)

    def _note(self, content: dict[str, Any]) -> None:
        """Take in what an earlier life wrote, line by line, the first one too."""
        raise NotImplementedError

    def _take(self, number: int, line: bytes) -> None:
        try:
            content = json.loads(line[17:])
            whole, digest = _line(self._digest, content)
        except ValueError:
            raise self._error(f"line {number + 1} is damaged") from None
        if whole != line + b"\n":
            raise self._error(f"line {number + 1} is damaged, or lines before it are missing")
        if number == 0 and content != self._about:
            differ = [name for name in self._about if content.get(name) != self._about[name]]
            raise self._error(f"it is a journal with another {' and another '.join(differ)}")
        self._note(content)
        self._end, self._digest = self._end + len(whole), digest

    def _append(self, content: dict[str, Any]) -> None:
        """A line on the disk, or an OSError, after which nothing is taken on any more."""
        if self._file is None or self._process != os.getpid():
            raise self._error("it is closed, failed before, or belongs to another process")
        data, digest = _line(self._digest, content)
        try:
            written = 0
            while written < len(data):
                more = self._disk.write(self._file, data[written:], self._end + written)
                if more <= 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
                written += more
            self._disk.sync(self._file)
        except BaseException:
            self.close()  # nobody can tell what is on the disk; a next life reads it
            raise
        self._end, self._digest = self._end + len(data), digest

    def _error(self, detail: str) -> JournalError:
        return JournalError(f"{self.path}: {detail}")


def _line(before: str, content: Any) -> tuple[bytes, str]:
    """A line and its digest, which is also of all lines before it."""
    text = json.dumps(content, sort_keys=True)
    digest = hashlib.sha256(f"{before} {text}".encode()).hexdigest()[:16]
    return f"{digest} {text}\n".encode(), digest


def _lock(file: int, path: Path) -> None:
    """Errors: JournalError if another process, or another journal in this one, has the file."""
    try:
        import fcntl  # not on every system, and needed by nothing else
    except ImportError:  # pragma: no cover
        raise JournalError(
            f"{path}: this system cannot lock files, so that two processes could begin the same"
        ) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise JournalError(f"{path}: another process holds it; one life at a time") from None
