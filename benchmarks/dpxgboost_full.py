"""DP-XGBoost on 1,000,000 records of 400 columns, coded column by column: `python -m benchmarks.dpxgboost_full`.

Both synthetic tasks of the paper at their full size, by the laws of scikit-learn's generators: the columns that matter
come from them, the others are standard normal, as there. No table of floats is ever held; the codes take 400 MB.
One line of JSON a run goes to benchmarks/reproduce/kept/dpxgboost_full.jsonl, which docs/dpxgboost.md shows.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification, make_regression

from benchmarks import kept_lines
from benchmarks.reproduce.study.dpxgboost import EPSILONS, method
from benchmarks.reproduce.study.dpxgboost_data import FEATURE_BOUND, LABEL_BOUND
from refdp.data.codes import Dense
from refdp.data.memory import Memory
from refdp.data.population import Begin
from refdp.data.records import Classes, Floats, Interval, Numeric, Records, Schema, Target
from refdp.papers import dpxgboost
from refdp.privacy.curator import Curator
from refdp.privacy.sources import SampleSource

FILE = Path(__file__).parent / "reproduce" / "kept" / "dpxgboost_full.jsonl"
ROWS, COLUMNS, TEST = 1_000_000, 400, 200_000
MINIMUM = 500


@dataclass(frozen=True)
class Coded:
    """A synthetic set as codes of the public grid. y: 0 and 1, or values."""

    schema: Schema
    codes: NDArray[Any]
    y: Floats

    @classmethod
    def made(cls, kind: str, params: dpxgboost.Params, rows: int, columns: int) -> Coded:
        """Generate and encode one column after the other."""
        classes, seed = kind == "classes", 0
        known, y = (make_classification(rows, 4, n_informative=2, n_redundant=2, random_state=seed) if classes
                    else make_regression(rows, 10, n_informative=10, random_state=seed))  # fmt: skip
        target: Target = Classes(("0", "1")) if classes else Interval(-LABEL_BOUND, LABEL_BOUND)
        schema = Schema(tuple(Numeric(f"x{i}", -FEATURE_BOUND, FEATURE_BOUND) for i in range(columns)), target)
        grid, generator = params.public_grid(schema), np.random.default_rng(seed)
        codes = np.empty((columns, rows), dtype=np.uint8)
        places = generator.permutation(columns)
        for i, place in enumerate(places):
            column = known[:, i] if i < known.shape[1] else generator.standard_normal(rows)
            codes[place] = grid.encode_feature(int(place), np.clip(column, -FEATURE_BOUND, FEATURE_BOUND))
        clamped = y if classes else np.clip(y, -LABEL_BOUND, LABEL_BOUND)
        return cls(schema, codes, clamped.astype(np.float64))


def part(coded: Coded, params: dpxgboost.Params, rows: slice) -> Dense:
    """Some rows as training and prediction see them."""
    return Dense(params.public_grid(coded.schema), coded.codes[:, rows])


def host(coded: Coded, codes: Dense) -> Memory:
    """Records that are there as codes and labels alone."""
    found = Memory(Records(coded.schema, np.empty((codes.size, 0)), coded.y[: codes.size]))
    found._codes = codes
    return found


def run(kind: str, name: str, epsilon: float, rows: int, columns: int, test: int) -> dict[str, Any]:
    """Train once on all but the test rows and measure on those."""
    params = method(name).params("synthetic-cls" if kind == "classes" else "synthetic-reg", epsilon,
                                 child_minimum=MINIMUM)  # fmt: skip
    coded = Coded.made(kind, params, rows, columns)
    classes = isinstance(coded.schema.target, Classes)
    curator = Curator(SampleSource(np.random.default_rng(1)), params.relation)
    start, used = time.perf_counter(), time.process_time()
    training = part(coded, params, slice(0, rows - test))
    population = host(coded, training)
    population.tell(Begin(dpxgboost.Contribution(params, coded.schema)))
    ensemble = dpxgboost.train_ensemble(params, coded.schema, training.candidates, population, curator)
    seconds, cpu = time.perf_counter() - start, time.process_time() - used
    held = part(coded, params, slice(rows - test, rows))
    score = sum(
        weight * tree.leaves[held.leaf_index(tree.splits)] for tree, weight in zip(ensemble.trees, ensemble.weights)
    )
    y = coded.y[rows - test :]
    found = (np.mean((score > 0) != (y == 1)) if classes
             else np.sqrt(np.mean((np.clip(score, -1, 1) * LABEL_BOUND - y) ** 2)))  # fmt: skip
    spread = min(np.mean(y), 1 - np.mean(y)) if classes else np.std(y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return {"kind": kind, "method": name, "epsilon": epsilon, "rows": rows, "columns": columns, "loss": float(found),
            "constant": float(spread), "seconds": seconds, "cpu seconds": cpu, "peak GB": peak}  # fmt: skip


def main() -> None:
    """All runs at the ends of the paper's budgets, or those of one kind and method: KIND METHOD EPSILON."""
    kinds, names, budgets = ("classes", "values"), ("published", "chosen"), (EPSILONS[0], EPSILONS[-1])
    if len(sys.argv) > 1:
        kinds, names, budgets = (sys.argv[1],), (sys.argv[2],), (float(sys.argv[3]),)  # type: ignore[assignment]
    for kind in kinds:
        for name in names:
            for epsilon in budgets:
                row = run(kind, name, epsilon, ROWS, COLUMNS, TEST)
                print(json.dumps(row), flush=True)
                kept_lines.append(FILE, row)


if __name__ == "__main__":
    main()
