"""Hyperparameters for S-GBDT from the published grids, chosen on synthetic records only.

    python -m benchmarks.reproduce.sgbdt_tuning

The synthetic sets have the sizes and the kinds of columns that are published for Abalone and Adult and roughly the
published label range, mean, deviation and error without privacy; columns are noisy monotone functions of one or three
hidden variables. For every variant and epsilon a random walk of `STEPS` steps through the grids, which keeps what is
better, starts from the best of a few coarse points and of what was chosen before (the neighbouring epsilon, the plain
variant).
"""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproduce.sgbdt_variants import (
    EPSILONS,
    REGULARISATION,
    auc,
    moved,
    params_of,
    rmse,
    settings_of,
    train,
)
from refdp.records import Categorical, Classes, Feature, Interval, Numeric, Records, Schema, make_records

CHOSEN = Path(__file__).with_name("sgbdt_chosen.json")
Parts = tuple[Records, Records]


@lru_cache(maxsize=2)
def synthetic(data: str) -> Parts:
    """Training and validation records of the synthetic counterpart."""
    return _regression() if data == "abalone" else _binary()


def _regression() -> Parts:
    """3,341 + 3,000 records, 7 numeric columns and one of 3 categories; label in 1..29, mean 10, deviation 3.2."""
    generator, rows = np.random.default_rng(101), 6341
    size, kind = generator.beta(4, 3, rows), generator.integers(0, 3, rows)
    columns = [np.clip(size + generator.normal(0, 0.05, rows), 0, 1) ** power for power in (1, 1, 1, 3, 3, 3, 3)]
    label = 2.7 + 11 * size**1.5 - (kind == 1) + generator.gamma(1.5, 1.75, rows)
    features: tuple[Feature, ...] = tuple(Numeric(f"n{i}", 0.0, 1.0) for i in range(7))
    schema = Schema((*features, Categorical("kind", ("a", "b", "c"))), Interval(1.0, 29.0))
    records = make_records(schema, np.column_stack([*columns, kind]), np.round(label))
    return records.take(np.arange(3341)), records.take(np.arange(3341, rows))


def _binary() -> Parts:
    """24,130 + 6,000 records, 6 numeric columns and 8 of up to 41 categories; a quarter of the labels is 1."""
    generator, rows = np.random.default_rng(102), 30130
    hidden = generator.normal(0, 1, (rows, 3))
    counts = (8, 16, 7, 14, 6, 5, 2, 41)
    numeric = [1 / (1 + np.exp(-hidden[:, i % 3] - generator.normal(0, 0.8, rows))) for i in range(6)]
    listed = [
        np.clip((1 / (1 + np.exp(-hidden[:, i % 3] - generator.normal(0, 1.0, rows))) * k).astype(int), 0, k - 1)
        for i, k in enumerate(counts)
    ]
    chance = 1 / (1 + np.exp(3.2 - 3.5 * hidden[:, 0] - 2.4 * hidden[:, 1] - hidden[:, 2]))
    numbers: tuple[Feature, ...] = tuple(Numeric(f"n{i}", 0.0, 1.0) for i in range(6))
    lists = tuple(Categorical(f"c{i}", tuple(str(v) for v in range(k))) for i, k in enumerate(counts))
    y = (generator.random(rows) < chance).astype(np.float64)
    records = make_records(Schema((*numbers, *lists), Classes(("0", "1"))), np.column_stack([*numeric, *listed]), y)
    return records.take(np.arange(24130)), records.take(np.arange(24130, rows))


def loss(data: str, variant: str, epsilon: float, settings: dict[str, Any], seed: int) -> float:
    """RMSE, or 1 - AUC, of one training run on synthetic records."""
    records, held_out = synthetic(data)
    model = train(variant, params_of(epsilon, settings), records, np.random.default_rng([103, seed]))
    return rmse(model, held_out.x, held_out.y) if data == "abalone" else 1 - auc(model, held_out.x, held_out.y)


START: dict[str, Any] = {
    "trees": 50, "depth": 3, "gradient_bound": 0.3, "hessian_bound": 0.25, "subsample": 0.1, "support_weight": 0.3,
    "initial_share": 0.3, "label_bound": 0.5, "shrinkage": 0.1, "regularisation": 15.0, "extra": 0.5,
}  # fmt: skip
COARSE = {
    "abalone": {"trees": (10, 25, 50), "gradient_bound": (0.1, 0.3), "shrinkage": (0.1, 0.2)},
    "adult": {"trees": (50, 200), "gradient_bound": (0.3, 0.7), "depth": (3, 6), "hessian_bound": (0.1,)},
}
STEPS, RUNS = {"abalone": 16, "adult": 6}, {"abalone": 6, "adult": 1}
"""Steps of the walk and runs for each point: Adult's counterpart has many records and little noise."""


def best(data: str, variant: str, epsilon: float, steps: int, start: dict[str, Any]) -> dict[str, Any]:
    """A walk from the best of `start` and the coarse points: a step is taken if the mean of `RUNS` runs is smaller."""
    generator = np.random.default_rng(104)

    def mean(point: dict[str, Any]) -> float:
        settings = settings_of(variant, point)
        return float(np.mean([loss(data, variant, epsilon, settings, seed) for seed in range(RUNS[data])]))

    names, grid = list(COARSE[data]), product(*COARSE[data].values())
    coarse = [start | dict(zip(names, values, strict=True)) for values in grid]
    point, least = min(((point, mean(point)) for point in [start, *coarse]), key=lambda found: found[1])
    for _ in range(steps):
        other = moved(variant, data, point, generator)
        if (found := mean(other)) < least:
            point, least = other, found
    return point


def start_of(data: str, variant: str, epsilon: float, done: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What was chosen for the same variant at the epsilon before, else for "r1" at this one, else `START`."""
    before = [e for e in EPSILONS[data] if e < epsilon]
    keys = [f"{data}/{variant}/{before[-1]:g}"] if before else []
    start = START | {"regularisation": REGULARISATION[data][-1], "label_bound": 0.5 if data == "abalone" else 1.0}
    return next((done[key] for key in [*keys, f"{data}/r1/{epsilon:g}"] if key in done), start)


def chosen() -> dict[str, dict[str, Any]]:
    """Points of the grids by "data/variant/epsilon"."""
    found: dict[str, dict[str, Any]] = json.loads(CHOSEN.read_text(encoding="utf-8")) if CHOSEN.exists() else {}
    return found


def main() -> None:
    """Choose what is not chosen yet."""
    order = ("r1", "stream filter", "stream naive", "filter", "gamma 1", "none", "subsampling", "initial score")
    for data, variant in [(data, variant) for data in EPSILONS for variant in order]:
        for epsilon in EPSILONS[data]:
            key, done = f"{data}/{variant}/{epsilon:g}", chosen()
            if key not in done:
                done[key] = best(data, variant, epsilon, STEPS[data], start_of(data, variant, epsilon, done))
                CHOSEN.write_text(json.dumps(done, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
