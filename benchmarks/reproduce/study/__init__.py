"""What a paper's reproduction consists of, and where to find it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, cast

from benchmarks.reproduce.runs import Metrics, Outcome, Run

STUDIES = {
    "dpboost": "benchmarks.reproduce.study.dpboost",
    "dpxgboost": "benchmarks.reproduce.study.dpxgboost",
    "fedgbdt": "benchmarks.reproduce.study.fedgbdt",
    "inprivate": "benchmarks.reproduce.study.inprivate",
    "sgbdt": "benchmarks.reproduce.study.sgbdt",
}
"""The module of each paper. It offers what `Study` lists."""


SECONDS: Mapping[str, float] = {"dpboost": 0.96, "dpxgboost": 0.80, "fedgbdt": 0.85, "inprivate": 0.64, "sgbdt": 0.52}
"""Processor time of a run on average, as measured on a sample of the runs of each data set."""


class Study(Protocol):
    """The reproduction of one paper."""

    def runs(self, repeats: int) -> list[Run]:
        """Every run, `repeats` times each."""

    def look(self, name: str) -> None:
        """Look whether a data set is at hand and is the one that is expected. Errors: InvalidRecords."""

    def program(self, run: Run) -> str:
        """Digest of the code and the parameters that decide the run's result."""

    def execute(self, run: Run) -> Metrics:
        """Do one run: numbers, or lists of numbers, by name."""

    def write(self, outcomes: Mapping[Run, Outcome], docs: Path) -> Path:
        """Write the page and its figures into the directory docs; the page's path."""


def study(paper: str) -> Study:
    """The study of a paper in STUDIES."""
    return cast(Study, importlib.import_module(STUDIES[paper]))
