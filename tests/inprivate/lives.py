"""One owner in several lives, each a process of its own that may be killed at any point. Run as a program, see `main`.

A life kills itself (SIGKILL) before, during or after its k-th call of the disk or of the source. Everything that leaves
its door is appended to a file outside by the operating system at once, so that it outlives the process. With a power
cut, what the disk was not told to sync is gone as well.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from refdp.errors import JournalError, MessageError
from refdp.privacy.curator import Array, Request
from refdp.privacy.sources import SampleSource
from refdp.protocols.chained import Disk
from refdp.protocols.journal import FileJournal, MemoryJournal
from refdp.protocols.messages import MINER, Message
from refdp.protocols.owners import Owner, rules_of
from refdp.protocols.quality import Control
from tests.inprivate.cases import BINARY, made_up, params
from tests.recorded import Recorded

P = params(owners=1, rounds=3, depth=2)
CONTROL = Control(threshold=-5.0)
RECORDS = made_up(BINARY, 40, 1)
RULES = rules_of(P, BINARY)
NEVER = 10**9


class Fate:
    """Counts points of a life, and ends it at one of them."""

    def __init__(self, last: int, power_cut: Callable[[], None]) -> None:
        self.passed, self._last, self._power_cut = 0, last, power_cut

    def point(self) -> None:
        if self.passed == self._last:
            self._power_cut()
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed += 1


class FatalDisk(Disk):
    """A disk that knows what it was told to sync: the content of a file, and that its folder lists it."""

    def __init__(self, path: Path, power: bool) -> None:
        self.fate = Fate(NEVER, lambda: None)
        self._path, self._power, self._listed = path, power, path.exists()
        self._safe = path.read_bytes() if self._listed else b""

    def write(self, file: int, data: bytes, offset: int) -> int:
        self.fate.point()
        half = super().write(file, data[: len(data) // 2], offset)
        self.fate.point()
        rest = super().write(file, data[half:], offset + half)
        self.fate.point()
        return half + rest

    def cut(self, file: int, size: int) -> None:
        self.fate.point()
        super().cut(file, size)
        self.fate.point()

    def sync(self, file: int) -> None:
        self.fate.point()
        super().sync(file)
        if os.path.isdir(f"/proc/self/fd/{file}"):
            self._listed = True
        else:
            self._safe = self._path.read_bytes()
        self.fate.point()

    def end(self) -> None:
        """What a power cut leaves."""
        if self._power:
            self._path.write_bytes(self._safe)
            if not self._listed:
                self._path.unlink()


class FatalSource:
    """A source whose releases are seen outside at once."""

    def __init__(self, fate: Fate, outside: Path, life: int) -> None:
        self._fate, self._outside, self._life = fate, outside, life
        self._inner = SampleSource(np.random.default_rng([life, 3]))
        self.round = 0

    def release(self, request: Request) -> Array:
        self._fate.point()
        output = self._inner.release(request)
        self.see({"release": f"{request.name} for round {self.round}"})
        self._fate.point()
        return output

    def draw(self, request: Request) -> Array:
        return self._inner.draw(request)

    def assign(self, request: Request) -> Any:
        self._fate.point()
        return self._inner.assign(request)

    def see(self, what: dict[str, Any]) -> None:
        with open(self._outside, "ab", buffering=0) as file:
            file.write(json.dumps({"life": self._life, **what}).encode() + b"\n")


class Forgetful(MemoryJournal):
    """A mutant: what was begun is kept in memory."""

    def __init__(self, inner: FileJournal) -> None:
        super().__init__()
        self._inner = inner

    def check(self, run: str, owner: int) -> None:
        self._inner.check(run, owner)


class Late(Forgetful):
    """A mutant: written down when the next thing begins."""

    def begin(self, number: int, what: str) -> None:
        for earlier in self.begun - self._inner.begun:
            self._inner.begin(*earlier)
        if (number, what) in self._inner.begun:
            raise MessageError("begun before")
        self.begun.add((number, what))


class Unsynced(FatalDisk):
    """A mutant: files are written and not synced."""

    def sync(self, file: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{file}"):
            super().sync(file)


class Unlisted(FatalDisk):
    """A mutant: the file is synced, its folder is not."""

    def sync(self, file: int) -> None:
        if not os.path.isdir(f"/proc/self/fd/{file}"):
            super().sync(file)


class Redivided(FileJournal):
    """A mutant: every life divides the records anew."""

    def division(self, request: Request, draw: Callable[[], Any]) -> Any:
        self._divided = True
        return draw()


def live(folder: Path, life: int, last: int, power: bool, mutant: str) -> int:
    """One life, which tries every round; how many points it passed."""
    disk = {"unsynced": Unsynced, "unlisted": Unlisted}.get(mutant, FatalDisk)(folder / "journal", power)
    disk.fate = fate = Fate(last, disk.end)
    kind = Redivided if mutant == "redivided" else FileJournal
    journal = kind(folder / "journal", RULES.run, 0, RECORDS, disk=disk)
    source = FatalSource(fate, folder / "outside", life)
    curator = Recorded(journal.guard(source), P.relation)
    with ExitStack() as doors:
        used: Any = {"forgetful": Forgetful, "late": Late}.get(mutant, lambda inner: inner)(journal)
        owner = Owner.behind(doors, RULES, P, 0, RECORDS, curator, used, control=CONTROL)
        division = curator.recorded.entries[0].output
        source.see({"division": division.tolist()})
        for number in range(P.rounds):
            owner.hear(Message(RULES.run, number, MINER, "request", (), ()).to_bytes())
            for act in (owner.answer, owner.measure):
                fate.point()
                source.round = number
                try:
                    act(number)
                except MessageError:
                    source.see({"refused": [number, act.__name__]})
    return fate.passed


def forked(*arguments: Any) -> int | None:
    """A life in a process of its own: the points it passed, None if it was killed."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(live(*arguments)).encode())
        except JournalError as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        told = stream.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return None
    return int(told)


def main() -> None:
    """For every point: a life that ends there, a second one that ends at another, a third to the end.

    Prints a list of [first point, second point, what was seen outside] as JSON.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--mutant", default="")
    parser.add_argument("--stride", type=int, default=1)
    given = parser.parse_args()
    whole = given.folder / "whole"
    whole.mkdir()
    points = forked(whole, 0, NEVER, False, "")
    assert points is not None
    found = []
    for first in range(0, points, given.stride):
        second = (7 * first + 3) % points
        folder = given.folder / str(first)
        folder.mkdir()
        for life, last in enumerate((first, second, NEVER)):
            forked(folder, life, last, given.power, given.mutant)
        lines = (folder / "outside").read_text().splitlines() if (folder / "outside").exists() else []
        found.append([first, second, [json.loads(line) for line in lines]])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
