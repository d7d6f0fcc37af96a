"""What it is worth that Grove's c follows the residuals: regressions of columns of sets of classes, with and without.

    python -m benchmarks.grove_columns      # adds what is not there to benchmarks/grove_columns.jsonl
    python -m benchmarks.grove write        # the table, on docs/grove.md

Few shared sets are regressions, and all of these took part in choosing Grove's settings. So a numeric column of a set
of classes is what is predicted from the other columns. None of `COLUMNS` was looked at before the rule was what it is.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks import kept_lines
from benchmarks.league.cells import HELD_OUT, figure, loaded, trained
from refdp.data.records import Interval, Numeric
from refdp.io.datasets import Dataset, train_test
from refdp.own import grove

KEPT = Path(__file__).with_suffix(".jsonl")
COLUMNS = (
    ("covtype_2", 7), ("covtype_2", 9), ("credit_default", 4), ("credit_default", 14), ("cod_rna", 1), ("cod_rna", 4),
    ("nomao", 5), ("nomao", 10), ("higgs", 3), ("higgs", 22), ("adult", 0), ("bank_full", 0),
    ("give_me_some_credit", 1),
)  # fmt: skip
"""Set and place of the column."""
EPSILONS, SEEDS = (0.1, 0.5, 2.0), (0, 1)
RULES: dict[str, float] = {"follows": grove.FOLLOWED, "stays": math.inf}


def regression(name: str, column: int) -> Dataset:
    """The set with this column as target, clipped to its public bounds, without the records that lack it."""
    whole = loaded(name)
    what = whole.features[column]
    assert isinstance(what, Numeric)
    there = np.isfinite(whole.x[:, column])
    x, y = np.delete(whole.x[there], column, axis=1), np.clip(whole.x[there, column], what.low, what.high)
    features = tuple(one for k, one in enumerate(whole.features) if k != column)
    return replace(whole, x=x, y=y, features=features, target=Interval(what.low, what.high), target_name=what.name)


def run() -> None:
    """Add what is not there: RMSE over the labels' deviation, floating noise."""
    there = {(one["data"], one["column"], one["epsilon"], one["seed"], one["rule"]) for one in kept_lines.read(KEPT)}
    for seed, (name, column), epsilon, rule in itertools.product(SEEDS, COLUMNS, EPSILONS, RULES):
        if (name, column, epsilon, seed, rule) in there:
            continue
        training, held_out = train_test(regression(name, column), HELD_OUT, seed)
        with warnings.catch_warnings(), patch.object(grove, "FOLLOWED", RULES[rule]):
            warnings.simplefilter("ignore")
            scores = trained("grove", training, held_out.x, epsilon, seed, noise="floating")
        found: dict[str, Any] = {
            "data": name, "column": column, "what": training.target_name, "epsilon": epsilon, "seed": seed,
            "rule": rule, "figure": round(figure(held_out, scores), 5),
        }  # fmt: skip
        kept_lines.append(KEPT, found)
        print(found, flush=True)


def rows() -> Iterator[str]:
    """The table: means over the seeds, c that follows beside c that stays."""
    cells = kept_lines.read(KEPT)
    yield "| set, column | " + " | ".join(f"at {one:g}, follows / stays" for one in EPSILONS) + " |"
    yield "|---" * (1 + len(EPSILONS)) + "|"
    for name, column in COLUMNS:
        own = of_column(cells, name, column)
        told = [" / ".join(f"{mean(own, epsilon, rule):.3f}" for rule in RULES) for epsilon in EPSILONS]
        yield f"| {name}, {own[0]['what']} | " + " | ".join(told) + " |"


def of_column(cells: list[dict[str, Any]], name: str, column: int) -> list[dict[str, Any]]:
    """The cells of one column."""
    return [one for one in cells if (one["data"], one["column"]) == (name, column)]


def mean(cells: list[dict[str, Any]], epsilon: float, rule: str) -> float:
    """Of the seeds."""
    return float(np.mean([one["figure"] for one in cells if (one["epsilon"], one["rule"]) == (epsilon, rule)]))


def ahead() -> tuple[int, int, float, float]:
    """In how many of how many cells following is better, and the least and largest ratio of the two errors."""
    cells = kept_lines.read(KEPT)
    ratios = []
    for (name, column), epsilon in itertools.product(COLUMNS, EPSILONS):
        own = of_column(cells, name, column)
        ratios.append(mean(own, epsilon, "follows") / mean(own, epsilon, "stays"))
    return sum(one < 1 for one in ratios), len(ratios), min(ratios), max(ratios)


if __name__ == "__main__":
    run()
