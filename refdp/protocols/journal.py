"""What somebody who answers in rounds has begun, written down, so that a crash can lose budget but not spend it twice.

    with FileJournal(path, run, owner, records) as journal:
        curator = Curator(journal.guard(SampleSource(np.random.default_rng())), relation)
        journal.begin(3, "trees")       # on the disk when it returns; MessageError if it was begun before, by any life
        ...                             # only now may anything be released

The file also keeps the secret division of the records: a record that fell into round 1 in one life must not fall into
round 2 in the next. It is as private as the records. Whoever loses it does not go on with the run.

Not for a second life: a source with a fixed seed. It would give the noise of the first life again, under other values.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from refdp.data.records import Records
from refdp.errors import JournalError, MessageError
from refdp.privacy.curator import Array, Request, Source

VERSION = 1
START = "0" * 16
"""What the first line's digest follows."""


class Journal(Protocol):
    """Who has begun what, and which record is where."""

    def begin(self, number: int, what: str) -> None:
        """Note that `what` of round `number` is begun. Errors: MessageError if it was begun before."""

    def check(self, run: str, owner: int) -> None:
        """Refuse to serve another run or owner, or a curator that does not divide records through it."""


class MemoryJournal:
    """For owners that live and die in one process with their run: no life comes after it."""

    def __init__(self) -> None:
        self.begun: set[tuple[int, str]] = set()

    def begin(self, number: int, what: str) -> None:
        """As `Journal.begin`."""
        self._check_new(number, what)
        self.begun.add((number, what))

    def check(self, run: str, owner: int) -> None:
        """Serves everybody."""

    def _check_new(self, number: int, what: str) -> None:
        if (number, what) in self.begun:
            raise MessageError(f"{what} of round {number} was begun before: its budget is spent")


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


class FileJournal(MemoryJournal):
    """A journal in a file of one run of one owner, held by one process at a time.

    A line is a digest, which chains it to the line before, and JSON. A last line that is not whole was never followed
    by a release, for releases wait until it is; it is cut off. Anything else that does not fit is refused.
    """

    def __init__(self, path: str | Path, run: str, owner: int, records: Records, *, disk: Disk | None = None) -> None:
        """Create the file, or go on with it.

        run: public name of the run. owner: position. records: the owner's, which may not change between lives.
        Errors: JournalError if the file is damaged, another run's, owner's or record set's, or held by a process;
        OSError from the disk.
        """
        super().__init__()
        self.path = Path(os.path.realpath(path))
        self._about = {"journal": VERSION, "run": run, "owner": owner, "records": digest_of(records)}
        self._disk = disk or Disk()
        self._division: dict[str, Any] | None = None
        self._divided = False  # in this life
        self._end, self._digest, self._process = 0, START, os.getpid()
        self._file: int | None = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _lock(self._file, self.path)
            self._read(self._file)
        except BaseException:
            self.close()
            raise

    def begin(self, number: int, what: str) -> None:
        """As `Journal.begin`; it returns when the disk has it. Errors besides: OSError, JournalError after one."""
        self._check_new(number, what)
        self._append({"begin": [number, what]})
        self.begun.add((number, what))

    def check(self, run: str, owner: int) -> None:
        """As `Journal.check`."""
        if (run, owner) != (self._about["run"], self._about["owner"]):
            raise self._error(f"it is of owner {self._about['owner']} in run {self._about['run']!r}, "
                              f"not of owner {owner} in run {run!r}")  # fmt: skip
        if not self._divided:
            raise self._error("the records were divided past it: give the curator `journal.guard(source)`")

    def guard(self, source: Source) -> Source:
        """The same source, but the secret division of the records is that of the first life."""
        return _Guarded(source, self)

    def division(self, request: Request, draw: Callable[[], NDArray[np.int64]]) -> NDArray[np.int64]:
        """The division on file, else a new one, on the disk before it is used."""
        self._divided = True
        size = int(np.prod(request.size))
        asked: dict[str, Any] = {"law": repr(request.law), "size": size}
        if self._division is None:
            member = draw()
            line = {"division": {**asked, "blocks": _packed(member)}}
            self._append(line)
            self._division = line["division"]
            return member
        if {name: self._division[name] for name in asked} != asked:
            raise self._error(f"records were divided by {self._division['law']}, now {asked['law']} is asked")
        return _unpacked(self._division["blocks"], size)

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
                raise self._error("it is not a journal of this owner in this run with these records")
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
        if "begin" in content:
            self.begun.add((content["begin"][0], content["begin"][1]))
        self._division = content.get("division", self._division)
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


class _Guarded:
    """A source whose secret divisions go through a journal."""

    def __init__(self, source: Source, journal: FileJournal) -> None:
        self._source, self._journal = source, journal

    def release(self, request: Request) -> Array:
        return self._source.release(request)

    def draw(self, request: Request) -> Array:
        return self._source.draw(request)

    def assign(self, request: Request) -> NDArray[np.int64]:
        return self._journal.division(request, lambda: self._source.assign(request))


def digest_of(records: Records) -> str:
    """A digest of schema, features and labels. Private: whoever guesses all records can check the guess."""
    digest = hashlib.sha256(repr(records.schema).encode())
    for array in (records.x, records.y):
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()


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
        raise JournalError(f"{path}: another process holds it; one life of an owner at a time") from None


def _packed(member: NDArray[np.int64]) -> str:
    return base64.b64encode(zlib.compress(np.asarray(member).astype("<i4").tobytes())).decode("ascii")


def _unpacked(text: str, size: int) -> NDArray[np.int64]:
    member = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<i4").astype(np.int64)
    return member.reshape(size)
