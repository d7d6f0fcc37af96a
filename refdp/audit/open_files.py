"""Files that a run writes; also those that were open before it, through which it writes without opening anything.

What goes to those that are open for writing alone ends in a file of the run's own, so that it is seen, and the real one
is left as it was. Of the others it is told how much longer they are, and how far they were read or written.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import io
import mmap
import os
import stat
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_BUFFERED = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)
_LISTED = Path("/proc/self/fd")
MOST_BYTES = 1 << 24
"""So much of what was added to a file is read."""


@dataclass
class _Known:
    """Files that were open at some time, by descriptor and name, and what of Python's writes to them."""

    files: list[tuple[int, str]] = field(default_factory=list)
    streams: list[weakref.ref[Any]] = field(default_factory=list)


_KNOWN = _Known()


def flush_before() -> None:
    """Write out what files of this process still hold back, before another process that is made of it does it too."""
    files = _files()
    if files != _KNOWN.files:
        found = [weakref.ref(one) for one in gc.get_objects() if issubclass(type(one), _BUFFERED)]
        _KNOWN.files, _KNOWN.streams = files, found
    for known in _KNOWN.streams:
        _flush(known())


def flush_after() -> None:
    """The same after a run: of files that were open before, and of those that the run opened and left."""
    for known in _KNOWN.streams:
        _flush(known())
    for one in gc.get_objects():  # those since the process was made: what was there before is set apart
        if issubclass(type(one), _BUFFERED):
            _flush(one)


@dataclass
class OpenFiles:
    """Files above standard error that are open in this process. place: where those of the run's own may be made.

    own: descriptors that write to one of these, with the name of the real one. shared: those for reading and writing,
    read: those for reading, as they were. flags: how each is open, and who may use the file. over: in words, what was
    written over in them, which is not told.
    """

    place: Path
    own: dict[int, str] = field(default_factory=dict)
    shared: dict[int, tuple[str, int, int, int, int]] = field(default_factory=dict)
    read: dict[int, tuple[str, int]] = field(default_factory=dict)
    flags: dict[int, tuple[str, str]] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)

    def begin(self) -> None:
        """Turn what is open for writing alone to files of the run's own."""
        import fcntl

        for number, name in _files():
            if number < 3:
                continue
            mode = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE
            if mode == os.O_WRONLY:
                made = os.open(self._own(number), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
                os.dup2(made, number)
                os.close(made)
                self.own[number] = name
            elif mode == os.O_RDWR:
                self.shared[number] = name, *_state(number)
            else:
                self.read[number] = name, os.lseek(number, 0, os.SEEK_CUR)
            self.flags[number] = name, _flags(number)

    def end(self) -> list[tuple[str, str]]:
        """What was written, as lines of text."""
        told = []
        for number, name in self.own.items():
            body = self._own(number).read_bytes()
            if body:
                told.append((f"file {name}, open before", body.decode(errors="backslashreplace")))
            with contextlib.suppress(OSError):  # closed by the run
                if (left := os.lseek(number, 0, os.SEEK_CUR)) != len(body):
                    told.append((f"file {name}, open before", f"left at {left}"))
        for number, (name, *before) in self.shared.items():
            with contextlib.suppress(OSError):
                after = _state(number)
                if after != tuple(before):
                    added = os.pread(number, min(max(0, after[0] - before[0]), MOST_BYTES), before[0])
                    moved = f"{after[0] - before[0]} bytes longer, {after[1] - before[1]} further"
                    told.append((f"file {name}, open before", f"{moved}, {added!r}"))
                    if after[2:] != tuple(before[2:]) and after[0] <= before[0]:
                        self.over.add(f"what is written over in {name}")
        for number, (name, first) in self.read.items():
            with contextlib.suppress(OSError):
                if (left := os.lseek(number, 0, os.SEEK_CUR)) != first:
                    told.append((f"file {name}, open before", f"read to {left}"))
                    os.lseek(number, first, os.SEEK_SET)  # it is the caller's place, too
        for number, (name, first_flags) in self.flags.items():
            with contextlib.suppress(OSError):
                if (now := _flags(number)) != first_flags:
                    told.append((f"file {name}, open before", f"flags {now}"))
        return told

    def _own(self, number: int) -> Path:
        return self.place / f"descriptor {number}"


def written_files(place: Path, written: list[str]) -> Iterator[tuple[str, str]]:
    """Files that a run wrote, in the order in which it opened them, then others where it was.

    By their numbers, since some names are made up by the system: then what is in a file still tells.
    """
    files = dict.fromkeys([*map(Path, written), *sorted(place.rglob("*"))])
    for number, path in enumerate(files, 1):
        with contextlib.suppress(OSError):
            body = "" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
            yield f"file {number}", body or "directory"
            yield f"name of file {number}", str(path).replace(str(place) + os.sep, "")


def mapped_file(number: int, access: int) -> str:
    """The file whose memory is shared for writing, "" where there is none."""
    if number < 0 or access in (mmap.ACCESS_READ, mmap.ACCESS_COPY):
        return ""
    with contextlib.suppress(OSError):
        path = os.readlink(f"/proc/self/fd/{number}")
        return path if os.path.isabs(path) and os.path.exists(path) else ""
    return ""


def _files() -> list[tuple[int, str]]:
    """Descriptors of ordinary files, and the names of these; nothing where the system does not say."""
    found = []
    with contextlib.suppress(OSError):
        for number in sorted(int(one.name) for one in _LISTED.iterdir()):
            with contextlib.suppress(OSError):
                if stat.S_ISREG(os.fstat(number).st_mode):
                    found.append((number, os.readlink(_LISTED / str(number))))
    return found


def _state(number: int) -> tuple[int, int, int, int]:
    """Bytes, place, and when it was written, as the file says, and when it was touched, as the system does."""
    held = os.fstat(number)
    return held.st_size, os.lseek(number, 0, os.SEEK_CUR), held.st_mtime_ns, held.st_ctime_ns


def _flags(number: int) -> str:
    import fcntl

    how = (fcntl.fcntl(number, fcntl.F_GETFL), fcntl.fcntl(number, fcntl.F_GETFD), os.fstat(number).st_mode)
    return " ".join(map(oct, how))


def _flush(stream: Any) -> None:
    """Of standard streams and ordinary files; what other programs read is left alone."""
    with contextlib.suppress(Exception):
        number = stream.fileno()
        if number < 3 or stat.S_ISREG(os.fstat(number).st_mode):
            stream.flush()
