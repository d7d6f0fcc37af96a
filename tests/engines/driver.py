"""A driver on a Dask cluster that is killed (SIGKILL) when a release has been made. Run as a program.

    python -m tests.engines.driver ADDRESS FOLDER NUMBER

FOLDER has partitions as parquet; the journal, what was seen outside and the model are written there. The life ends
just after release NUMBER is on the disk, before the program has it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
from dask import dataframe as dd
from distributed import Client

from refdp.engines.dask import DaskPopulation
from refdp.engines.frames import Loader
from refdp.engines.journal import ReleaseJournal
from refdp.papers import dpxgboost
from refdp.privacy.curator import Array, Curator, Request
from refdp.privacy.events import Relation
from tests.engines.test_dask import SCHEMA

SECRET = bytes(range(32))
PARAMS = dpxgboost.Params(3.0, Relation.ADD_REMOVE, trees=2, depth=2, subsample=0.5)


class Seen:
    """A source whose releases are seen outside, and whose process dies before one of them is."""

    def __init__(self, source: Any, outside: Path, last: int) -> None:
        self._source, self._outside, self._last, self._number = source, outside, last, 0

    def release(self, request: Request) -> Array:
        output = np.asarray(self._source.release(request))
        if self._number == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        with self._outside.open("a") as file:
            file.write(json.dumps([self._number, request.name, output.tolist()]) + "\n")
        self._number += 1
        return output

    def draw(self, request: Request) -> Any:
        return self._source.draw(request)

    def assign(self, request: Request) -> Any:
        return self._source.assign(request)


def life(population: Any, folder: Path, last: int) -> int:
    """Train to the end or to the death; how many outputs are on file."""
    with ReleaseJournal(folder / "journal", "driver", secret=SECRET) as journal:
        log = getattr(population, "log", None)
        source = journal.source(log=(lambda: log.digests[-1]) if log else str)
        curator = Curator(Seen(source, folder / "outside", last), PARAMS.relation)
        model = dpxgboost.train_on(PARAMS, SCHEMA, population, curator)
        (folder / "model").write_text(model.to_json())
        return journal.released


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    with Client(sys.argv[1]) as client:
        parts = dd.read_parquet(sorted(map(str, folder.glob("*.parquet")))).to_delayed()
        life(DaskPopulation(client, parts, Loader(SCHEMA)), folder, int(sys.argv[3]))
