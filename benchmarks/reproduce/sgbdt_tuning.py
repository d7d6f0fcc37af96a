"""Hyperparameters for S-GBDT from the published grids, chosen on public records only.

    python -m benchmarks.reproduce.sgbdt_tuning [--data abalone adult] [--variants r1 ...]

For Abalone the records are drawn from the statistics table of the data set's documentation (`sgbdt_surrogates`); for
Adult they are two other public data sets of its size and kind. What is minimised is the mean loss over these records
at the same epsilon and the same number of records. No record of Abalone or Adult is read.

The search for one variant at one epsilon: random points and what was chosen before (for the neighbouring epsilon, for
the full method), raced against each other; then steps that move the best ones by one or two settings.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproduce.sgbdt_surrogates import task
from benchmarks.reproduce.sgbdt_variants import EPSILONS, error, grids_of, moved, params_of, settings_of, train
from refdp.errors import InvalidParameter

CHOSEN = Path(__file__).with_name("sgbdt_chosen.json")
ORDER = ("r1", "stream filter", "stream naive", "filter", "gamma 1", "none", "subsampling", "initial score")
RANDOM, STEPS = {"abalone": 120, "adult": 60}, {"abalone": 4, "adult": 3}
AFFORDABLE: dict[str, dict[str, int]] = {"abalone": {}, "adult": {"trees": 200, "depth": 5}}
"""The search draws nothing larger: Adult's size makes long runs slow."""
Point = dict[str, Any]
Loss = Callable[[Point, int], float]


class Race:
    """Points and the losses of their runs so far."""

    def __init__(self, loss: Loss) -> None:
        self._loss, self._losses = loss, dict[str, list[float]]()

    def best(self, points: Sequence[Point], runs: int, keep: int) -> list[Point]:
        """The best of these points after so many runs each, by mean loss plus half its standard error."""
        distinct = {_key(point): point for point in points}
        return sorted(distinct.values(), key=lambda point: self.mark(point, runs))[:keep]

    def mark(self, point: Point, runs: int) -> float:
        """Mean loss plus half its standard error after at least so many runs."""
        losses = self._losses.setdefault(_key(point), [])
        losses += [self._loss(point, seed) for seed in range(len(losses), runs)]
        return float(np.mean(losses) + np.std(losses) / np.sqrt(len(losses)) / 2)


def _key(point: Point) -> str:
    return json.dumps(point, sort_keys=True)


def loss_of(data: str, variant: str, epsilon: float) -> Loss:
    """The loss of one training run on public records; infinite where epsilon is out of reach of the parameters."""

    def loss(point: Point, seed: int) -> float:
        records, held_out = task(data, seed)
        params = params_of(epsilon, settings_of(variant, point))
        try:
            model = train(variant, params, records, np.random.default_rng([103, seed]))
        except InvalidParameter:
            return np.inf
        return error(model, held_out)

    return loss


def search(data: str, variant: str, loss: Loss, starts: Sequence[Point]) -> list[Point]:
    """The best points, best first."""
    generator, race, grids = np.random.default_rng(104), Race(loss), affordable(data, variant)
    drawn = [{name: grid[generator.integers(len(grid))] for name, grid in grids.items()} for _ in range(RANDOM[data])]
    alive = race.best(race.best([*starts, *drawn], 2, 16), 8, 8)
    for step in range(STEPS[data]):
        near = [moved(grids, point, generator) for point in alive[:4] for _ in range(4)]
        alive = race.best([*alive, *race.best(near, 4, 6)], 12 + 6 * step, 6)
    return race.best(alive[:4], 40, 4)


def affordable(data: str, variant: str) -> dict[str, list[Any]]:
    """The grids of a variant, as far as the search draws from them."""
    most = AFFORDABLE[data]
    grids = grids_of(data, variant)
    return {name: [value for value in grid if name not in most or value <= most[name]] for name, grid in grids.items()}


def starts_of(data: str, variant: str, epsilon: float, done: dict[str, Point]) -> list[Point]:
    """What was chosen for the same variant at other epsilons and for the full method."""
    keys = [f"{data}/{variant}/{e:g}" for e in EPSILONS[data]] + [f"{data}/r1/{epsilon:g}"]
    start = {name: grid[0] for name, grid in grids_of(data, variant).items()}
    return [{name: done[key].get(name, start[name]) for name in start} for key in keys if key in done]


def chosen() -> dict[str, Point]:
    """Points of the grids by "data/variant/epsilon"."""
    found: dict[str, Point] = json.loads(CHOSEN.read_text(encoding="utf-8")) if CHOSEN.exists() else {}
    return found


def main() -> None:
    """Choose what is not chosen yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(EPSILONS), choices=list(EPSILONS))
    parser.add_argument("--variants", nargs="+", default=list(ORDER), choices=ORDER)
    given = parser.parse_args()
    for data, variant in [(data, variant) for data in given.data for variant in given.variants]:
        for epsilon in EPSILONS[data]:
            key, done = f"{data}/{variant}/{epsilon:g}", chosen()
            if key not in done:
                starts = starts_of(data, variant, epsilon, done)
                best = search(data, variant, loss_of(data, variant, epsilon), starts)[0]
                CHOSEN.write_text(json.dumps({**chosen(), key: best}, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
