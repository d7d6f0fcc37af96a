"""A driver in several lives, each a process of its own that is killed (SIGKILL) at one point. Run as a program.

    python -m tests.engines.lives PAPER FOLDER STEP [careless]

Lives die before, during and after every STEP-th call of the disk, and before and after a release reaches the program,
which is seen outside at once. The last life of each run ends by itself. With a power cut, what the disk was not told to
sync is gone as well. A careless journal gives outputs away that it has not on the disk.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from refdp.engines.chaos import Chaos
from refdp.engines.journal import ReleaseJournal
from refdp.papers import dpboost, sgbdt
from refdp.privacy.curator import Array, Curator, Request
from refdp.privacy.events import Relation
from tests.identity.running import records
from tests.inprivate.lives import NEVER, FatalDisk, Fate

SECRET = bytes(range(32))
SETTINGS: dict[str, Any] = {
    "dpboost": (dpboost, dpboost.Params(4.0, Relation.ADD_REMOVE, trees=2, trees_per_ensemble=2, depth=2, bins=4)),
    "sgbdt": (sgbdt, sgbdt.Params(4.0, Relation.ADD_REMOVE, delta=1e-4, trees=3, extra_trees=2, depth=2)),
}


class Seen:
    """A source whose releases are seen outside as soon as the program has them."""

    def __init__(self, source: Any, fate: Fate, outside: Path) -> None:
        self._source, self._fate, self._outside, self._number = source, fate, outside, 0

    def release(self, request: Request) -> Array:
        self._fate.point()
        output = np.asarray(self._source.release(request))
        with self._outside.open("a") as file:
            file.write(json.dumps([self._number, request.name, output.tolist()]) + "\n")
        self._number += 1
        self._fate.point()
        return output

    def draw(self, request: Request) -> Any:
        return self._source.draw(request)

    def assign(self, request: Request) -> Any:
        return self._source.assign(request)


def life(paper: str, folder: Path, last: int, power: bool) -> int:
    """One life; how many points it passed."""
    program, params = SETTINGS[paper]
    data = records({"target": "binary", "rows": 60, "numeric": 2, "categories": [], "missing": 0.1, "seed": 4})
    path = folder / "journal"
    disk = FatalDisk(path, power)
    disk.fate = Fate(last, disk.end)
    chaos = Chaos([data.take(np.arange(20)), data.take(np.arange(20, 60))], seed=last % 1000)
    with ReleaseJournal(path, "lives", secret=SECRET, disk=disk) as journal:
        source = journal.source(log=lambda: chaos.log.digests[-1])
        curator = Curator(Seen(source, disk.fate, folder / "outside"), params.relation)
        model = program.train_on(params, data.schema, chaos, curator)
    (folder / "model").write_text(model.to_json())
    return disk.fate.passed


def killed(paper: str, folder: Path, last: int, power: bool) -> bool:
    """Whether a life in a process of its own was killed at that point."""
    process = os.fork()
    if process == 0:
        try:
            life(paper, folder, last, power)
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "a life ended with an error"
    return False


def main(paper: str, folder: Path, step: int) -> None:
    """Prints as JSON: points, lives that were killed, models that differ, numbers with two outputs."""
    whole = folder / "whole"
    whole.mkdir()
    points = life(paper, whole, NEVER, False)
    expected = (whole / "outside").read_text()
    lives, models, twice, lost = 0, 0, 0, 0
    for last in range(0, points, step):
        each = folder / str(last)
        each.mkdir()
        point = last
        while killed(paper, each, point, power=last % 2 == 1):  # every life dies; each later than the one before
            lives += 1
            point = point + step if point + step < 3 * points else NEVER
        models += (each / "model").read_text() != (whole / "model").read_text()
        lines = (each / "outside").read_text().splitlines()
        found = {json.loads(line)[0]: line for line in lines}
        twice += len(set(lines)) != len(found)
        lost += sorted(found.values()) != sorted(expected.splitlines())
    print(json.dumps({"points": points, "lives": lives, "models": models, "twice": twice, "lost": lost}))


class Careless(ReleaseJournal):
    """Writes an output down when the next one is asked."""

    waiting: list[dict[str, Any]] = []

    def once(self, number: int, asked: dict[str, Any], made: Callable[[], Array]) -> Array:
        kept = self._append
        for line in self.waiting:
            kept(line)
        self.waiting = []
        self._append = self.waiting.append  # type: ignore[method-assign]
        try:
            return super().once(number, asked, made)
        finally:
            self._append = kept  # type: ignore[method-assign]

    def generator(self, number: int) -> np.random.Generator:
        return np.random.default_rng()


if __name__ == "__main__":
    if "careless" in sys.argv:
        ReleaseJournal = Careless  # type: ignore[misc]
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
