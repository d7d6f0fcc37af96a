"""Choose what the paper leaves open, on made-up data only: `python -m benchmarks.reproduce.study.dpxgboost_tuning`.

Number of trees, learning rate, lambda and subsampling stay as published. The choice is written to
dpxgboost_chosen.json beside this file; the reproduction's method "chosen" reads it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproduce.study.dpxgboost_data import made_up
from refdp.data.records import Classes
from refdp.io.datasets import Dataset
from refdp.papers import dpxgboost
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource

FILE = Path(__file__).with_name("dpxgboost_chosen.json")
EPSILONS = (1.0, 4.0, 10.0)
SEEDS = (1, 2)
GRID: dict[str, tuple[Any, ...]] = {
    "leaf": ("minimum", "average"),
    "gradients": ("filter", "clip"),
    "gradient_bound": (0.5, 1.0),
    "depth": (3, 4, 6),
    "candidates": ("sketch", "uniform"),
}


def points() -> Iterator[dict[str, Any]]:
    """All points of the grid but those that filter at half the bound, which would drop most records."""
    for values in itertools.product(*GRID.values()):
        point = dict(zip(GRID, values, strict=True))
        if not (point["gradients"] == "filter" and point["gradient_bound"] < 1):
            yield point


def loss(model: Any, test: Dataset) -> float:
    """Share of wrong signs for classes, root mean square error in the target's unit otherwise."""
    predicted = dpxgboost.predict(model, test.records().x).reshape(-1)
    if isinstance(test.target, Classes):
        return float(np.mean((predicted > 0) != (test.y == 1)))
    return float(np.sqrt(np.mean((predicted - test.y) ** 2)))


def scores() -> dict[str, float]:
    """For every point the mean logarithm of its loss, over sets, budgets and seeds."""
    sets, found = made_up(), {}
    records = {name: train.records() for name, (train, _) in sets.items()}
    for point in points():
        values = []
        for name, epsilon, seed in itertools.product(sets, EPSILONS, SEEDS):
            params = dpxgboost.Params(epsilon, Relation.ADD_REMOVE, noise="floating", **point)
            curator = Curator(SampleSource(np.random.default_rng(seed)), params.relation)
            values.append(np.log(loss(dpxgboost.train(params, records[name], curator), sets[name][1])))
        found[json.dumps(point)] = float(np.mean(values))
        print(f"{found[json.dumps(point)]:.4f} {point}", flush=True)
    return found


@lru_cache
def chosen() -> dict[str, Any]:
    """The settings that were chosen."""
    settings: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))["settings"]
    return settings


def main() -> None:
    """Walk through the grid and write the best point with all scores."""
    found = scores()
    best = min(found, key=lambda point: found[point])
    document = {"settings": json.loads(best), "mean log loss": found}
    FILE.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
