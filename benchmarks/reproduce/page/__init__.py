"""What the generated pages share: samples of a cell, Markdown tables, figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from benchmarks.reproduce.runs import Outcome, Run

matplotlib.use("Agg")
from matplotlib import pyplot

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777", "#000000")
STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3,
         "legend.frameon": False, "figure.dpi": 110, "svg.hashsalt": "refdp"}  # fmt: skip


class NotRun(LookupError):
    """A figure was asked for that needs results which are not there."""


@dataclass(frozen=True)
class Sample:
    """Results of one cell over folds and repeats."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Arithmetic mean. Errors: NotRun for no values."""
        if not self.values:
            raise NotRun("a cell without results")
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float:
        """Standard deviation with n - 1. Errors: NotRun for fewer than two values."""
        if len(self.values) < 2:
            raise NotRun("a cell with fewer than two results")
        return float(np.std(self.values, ddof=1))

    @property
    def error(self) -> float:
        """Standard error of the mean if the values were independent. Folds share records, so it is a rough figure."""
        return self.deviation / math.sqrt(len(self.values))

    def text(self, factor: float = 1.0, digits: int = 1) -> str:
        """Mean ± standard deviation, both times a factor."""
        if len(self.values) < 2:
            return "not run"
        return f"{factor * self.mean:.{digits}f} ± {factor * self.deviation:.{digits}f}"


@dataclass(frozen=True)
class Cells:
    """Outcomes by experiment and cell."""

    found: Mapping[tuple[str, tuple[tuple[str, Any], ...]], list[Outcome]]

    @classmethod
    def of(cls, outcomes: Mapping[Run, Outcome]) -> Cells:
        """Sort the outcomes."""
        found: dict[tuple[str, tuple[tuple[str, Any], ...]], list[Outcome]] = {}
        for run, outcome in outcomes.items():
            found.setdefault((run.experiment, run.cell), []).append(outcome)
        return cls(found)

    def sample(self, metric: str, experiment: str, **cell: Any) -> Sample:
        """The values of a metric in exactly this cell."""
        return Sample(tuple(float(o.metrics[metric]) for o in self._outcomes(experiment, cell)))

    def curves(self, metric: str, experiment: str, **cell: Any) -> Any:
        """The values of a metric that is a list, shape (run, position)."""
        return np.array([o.metrics[metric] for o in self._outcomes(experiment, cell)])

    def _outcomes(self, experiment: str, cell: Mapping[str, Any]) -> list[Outcome]:
        return self.found.get((experiment, tuple(sorted(cell.items()))), [])


def or_not_run(figure: Callable[[], object]) -> str:
    """The text of a figure, or that it was not run."""
    try:
        return str(figure())
    except NotRun:
        return "not run"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; columns after the first are right-aligned."""
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def save(figure: Any, path: Path) -> Path:
    """Write a PNG without dates or versions inside, so that equal figures are equal files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None}, bbox_inches="tight")
    pyplot.close(figure)
    return path
