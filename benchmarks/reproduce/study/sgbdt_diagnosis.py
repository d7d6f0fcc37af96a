"""What S-GBDT's grids could reach if hyperparameters were chosen on the real records: a diagnosis, not a result.

    python -m benchmarks.reproduce.study.sgbdt_diagnosis [--data abalone adult]

The search is that of `sgbdt_tuning`, started from its choices, but its loss is measured on the folds of the real data.
Such a choice is not charged to any budget, so nothing that is reported as S-GBDT's result uses it. It tells whether a
published figure is missed because of the hyperparameters or whatever they are. The figure is that of the best point in
runs with other noise and other folds than those of the search, on the same records.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproduce.study import sgbdt as study
from benchmarks.reproduce.study.sgbdt_tuning import Effort, Loss, Point, search, starts_of
from benchmarks.reproduce.study.sgbdt_tuning import chosen as chosen_on_public
from benchmarks.reproduce.study.sgbdt_variants import EPSILONS, error, params_of, settings_of, train
from refdp.errors import InvalidParameter

FOUND = Path(__file__).with_name("sgbdt_diagnosis.json")
EFFORT = {"abalone": Effort(20, 10, 2, 3, 6, 25), "adult": Effort(4, 6, 1, 3, 4, 15)}
CHECKS = 20
"""Runs of the best point, in the folds of another repeat."""


def loss_of(data: str, epsilon: float, repeat: int) -> Loss:
    """The loss of one training run on real records; its fold and its noise follow from the seed."""

    def loss(point: Point, seed: int) -> float:
        records, test = study.parts(data, repeat)[seed % study.FOLDS]
        try:
            model = train(
                "r1",
                params_of(epsilon, settings_of("r1", point)),
                records.records(),
                np.random.default_rng([105, seed]),
            )
        except InvalidParameter:
            return np.inf
        return error(model, test.records())

    return loss


def attainable(data: str, epsilon: float) -> dict[str, Any]:
    """The best point found on real records, and what it reaches elsewhere."""
    starts = starts_of(data, "r1", chosen_on_public())
    best = search(data, "r1", loss_of(data, epsilon, 0), starts, EFFORT[data])[0]
    again = [loss_of(data, epsilon, 1)(best, seed) for seed in range(100, 100 + CHECKS)]
    return {"point": best, "runs": again}


def found() -> dict[str, Any]:
    """What was found, by "data/epsilon"."""
    known: dict[str, Any] = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else {}
    return known


def main() -> None:
    """Look for what is not known yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(EPSILONS), choices=list(EPSILONS))
    for data in parser.parse_args().data:
        for epsilon in EPSILONS[data]:
            key = f"{data}/{epsilon:g}"
            if key not in found():
                known = attainable(data, epsilon)
                FOUND.write_text(json.dumps({**found(), key: known}, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
