"""One run of a reproduction: what it is called, which seed follows from that, and its line in the results file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Value = str | int | float
Metrics = Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """One training run. cell: the settings that make up one cell of a table, as sorted pairs of name and value."""

    paper: str
    experiment: str
    cell: tuple[tuple[str, Value], ...]
    fold: int
    repeat: int

    @classmethod
    def of(cls, paper: str, experiment: str, fold: int, repeat: int, **cell: Value) -> Run:
        """A run from its settings by name."""
        return cls(paper, experiment, tuple(sorted(cell.items())), fold, repeat)

    def __getitem__(self, name: str) -> Any:
        """The setting of that name."""
        return dict(self.cell)[name]

    @property
    def key(self) -> str:
        """Canonical text of all fields, from which the seed follows; the data set stands as `data` in it."""
        cell = [("data" if name == "dataset" else name, value) for name, value in self.cell]
        return json.dumps([self.paper, self.experiment, cell, self.fold, self.repeat])

    @property
    def seed(self) -> int:
        """128 bits from the key. The same run has the same seed on every machine, two runs have unrelated ones."""
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:16], "big")


@dataclass(frozen=True)
class Outcome:
    """A finished run. program: digest of the code that made it, see program.py."""

    run: Run
    metrics: Metrics
    seconds: float
    program: str

    def line(self) -> str:
        """One line of JSON."""
        run = self.run
        record = {"paper": run.paper, "experiment": run.experiment, "cell": dict(run.cell), "fold": run.fold,
                  "repeat": run.repeat, "metrics": dict(self.metrics), "seconds": round(self.seconds, 3),
                  "program": self.program}  # fmt: skip
        return json.dumps(record) + "\n"

    @classmethod
    def read(cls, line: str) -> Outcome:
        """The inverse of `line`. Errors: ValueError, KeyError or TypeError for a line that was cut short."""
        record = json.loads(line)
        run = Run.of(record["paper"], record["experiment"], record["fold"], record["repeat"], **record["cell"])
        return cls(run, record["metrics"], record["seconds"], record["program"])


@dataclass(frozen=True)
class Results:
    """The results file of one paper: one line a finished run, appended in one write each.

    A process that is killed loses at most the runs that it had not finished. A line that was cut short is passed over
    when reading, so that its run is done again. If a run occurs twice, the later line counts.
    """

    path: Path

    def append(self, outcome: Outcome) -> None:
        """Write one line and wait until it is on the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = ("" if self._complete() else "\n") + outcome.line()
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line.encode())
            os.fsync(file)
        finally:
            os.close(file)

    def read(self) -> dict[Run, Outcome]:
        """All finished runs."""
        return {outcome.run: outcome for outcome in self._outcomes()}

    def _outcomes(self) -> Iterator[Outcome]:
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        for line in lines:
            try:
                yield Outcome.read(line)
            except (ValueError, KeyError, TypeError):  # cut short by a kill
                continue

    def _complete(self) -> bool:
        """Whether the file ends with a whole line."""
        if not self.path.exists() or not self.path.stat().st_size:
            return True
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read() == b"\n"


def pending(runs: Iterable[Run], done: Mapping[Run, Outcome], program: Callable[[Run], str] | None = None) -> list[Run]:
    """The runs without a result, in order. program: a result of another program counts as none."""
    return [run for run in runs if run not in done or (program and program(run) != done[run].program)]
