"""How many trees Grove takes: small parts of the shared sets, with 200, 400, 800 and 1,600 trees.

    python -m benchmarks.grove_trees        # adds what is not there to benchmarks/grove_trees.jsonl
    python -m benchmarks.grove write        # the table, on docs/grove.md

All sets took part in choosing Grove's settings; beside the shared regressions, columns of sets of classes are predicted
as in `benchmarks/grove_columns.py`.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import kept_lines
from benchmarks.grove_columns import regression
from benchmarks.league.cells import BINARY, HELD_OUT, REGRESSION, figure, loaded, subset, trained
from refdp.io.datasets import train_test

KEPT = Path(__file__).with_suffix(".jsonl")
TREES, SEEDS = (200, 400, 800, 1600), (0, 1)


@dataclass(frozen=True)
class Case:
    """Sets, of which so many records at most train, and at which epsilons. column: None for the set's own label."""

    task: str
    sets: tuple[tuple[str, int | None], ...]
    rows: int
    epsilons: tuple[float, ...]


COLUMNS = (("credit_default", 4), ("cod_rna", 4), ("higgs", 22), ("adult", 0), ("bank_full", 0))
CASES = (
    Case("two classes", tuple((name, None) for name in BINARY), 6000, (0.05, 0.1, 1.0)),
    Case("regression", (*((name, None) for name in REGRESSION), *COLUMNS), 8000, (0.1, 0.5, 4.0)),
)


def run() -> None:
    """Add what is not there: AUC, or RMSE over the labels' deviation, floating noise."""
    keys = ("task", "data", "column", "epsilon", "trees", "seed")
    there = {tuple(one[key] for key in keys) for one in kept_lines.read(KEPT)}
    for case, seed in itertools.product(CASES, SEEDS):
        for (name, column), epsilon, trees in itertools.product(case.sets, case.epsilons, TREES):
            cell = dict(zip(keys, (case.task, name, column, epsilon, trees, seed), strict=True))
            if tuple(cell.values()) in there:
                continue
            data = loaded(name) if column is None else regression(name, column)
            training, held_out = train_test(data, HELD_OUT, seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                own = subset(training, case.rows, seed)
                scores = trained("grove", own, held_out.x, epsilon, seed, noise="floating", trees=trees)
            kept_lines.append(KEPT, cell | {"figure": round(figure(held_out, scores), 5)})


def rows() -> Iterator[str]:
    """The table: means over sets and seeds, by the number of trees."""
    cells = kept_lines.read(KEPT)
    yield "| task, records that train at most | epsilon | " + " | ".join(f"{one:,} trees" for one in TREES) + " |"
    yield "|---" * (2 + len(TREES)) + "|"
    for case in CASES:
        for epsilon in case.epsilons:
            own = [one for one in cells if (one["task"], one["epsilon"]) == (case.task, epsilon)]
            means = [np.mean([one["figure"] for one in own if one["trees"] == trees]) for trees in TREES]
            told = " | ".join(f"{one:.4f}" for one in means)
            yield f"| {case.task}, {case.rows:,} | {epsilon:g} | {told} |"


if __name__ == "__main__":
    run()
