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
import hashlib
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from refdp.data.records import Records
from refdp.errors import MessageError
from refdp.privacy.curator import Array, Assigned, Request, Source
from refdp.protocols.chained import ChainedFile, Disk

VERSION = 1


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
        """Note, in memory, that `what` of round `number` is begun. Errors: MessageError if it was begun before."""
        self._check_new(number, what)
        self.begun.add((number, what))

    def check(self, run: str, owner: int) -> None:
        """Serves everybody."""

    def _check_new(self, number: int, what: str) -> None:
        if (number, what) in self.begun:
            raise MessageError(f"{what} of round {number} was begun before: its budget is spent")


class FileJournal(MemoryJournal, ChainedFile):
    """A journal in a file of one run of one owner, held by one process at a time.

    A last line that is not whole was never followed by a release, for releases wait until it is.
    """

    def __init__(self, path: str | Path, run: str, owner: int, records: Records, *, disk: Disk | None = None) -> None:
        """Create the file, or go on with it.

        run: public name of the run. owner: position. records: the owner's, which may not change between lives.
        Errors: JournalError if the file is damaged, another run's, owner's or record set's, or held by a process;
        OSError from the disk.
        """
        MemoryJournal.__init__(self)
        self._division: dict[str, Any] | None = None
        self._divided = False  # in this life
        about = {"journal": VERSION, "run": run, "owner": owner, "records": digest_of(records)}
        ChainedFile.__init__(self, path, about, "this owner in this run with these records", disk)

    @property
    def on_file(self) -> bool:
        """Whether any life has divided the records or begun something."""
        return self._division is not None or bool(self.begun)

    def begin(self, number: int, what: str) -> None:
        """Note that `what` of round `number` is begun; it returns when the disk has it.

        Errors: MessageError if it was begun before; OSError for a failed write, JournalError after one.
        """
        self._check_new(number, what)
        self._append({"begin": [number, what]})
        self.begun.add((number, what))

    def check(self, run: str, owner: int) -> None:
        """Refuse to serve another run or owner, or a curator that does not divide records through this journal.

        Errors: JournalError.
        """
        if (run, owner) != (self._about["run"], self._about["owner"]):
            raise self._error(f"it is of owner {self._about['owner']} in run {self._about['run']!r}, "
                              f"not of owner {owner} in run {run!r}")  # fmt: skip
        if not self._divided:
            raise self._error("the records were divided past it: give the curator `journal.guard(source)`")

    def guard(self, source: Source) -> Source:
        """The same source, but the secret division of the records is that of the first life."""
        return _Guarded(source, self)

    def division(self, request: Request, draw: Callable[[], Assigned]) -> NDArray[np.int64]:
        """The division on file, else a new one, on the disk before it is used. Shape (records,).

        Errors: JournalError for another law than that on file.
        """
        self._divided = True
        size = int(np.prod(request.size))
        asked: dict[str, Any] = {"law": repr(request.law), "size": size}
        if self._division is None:
            member = np.asarray(draw())
            line = {"division": {**asked, "blocks": _packed(member)}}
            self._append(line)
            self._division = line["division"]
            return member
        if {name: self._division[name] for name in asked} != asked:
            raise self._error(f"records were divided by {self._division['law']}, now {asked['law']} is asked")
        return _unpacked(self._division["blocks"], size)

    def _note(self, content: dict[str, Any]) -> None:
        if "begin" in content:
            self.begun.add((content["begin"][0], content["begin"][1]))
        self._division = content.get("division", self._division)


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


def _packed(member: NDArray[np.int64]) -> str:
    return base64.b64encode(zlib.compress(np.asarray(member).astype("<i4").tobytes())).decode("ascii")


def _unpacked(text: str, size: int) -> NDArray[np.int64]:
    member = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<i4").astype(np.int64)
    return member.reshape(size)
