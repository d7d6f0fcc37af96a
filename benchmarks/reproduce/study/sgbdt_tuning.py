"""Hyperparameters for S-GBDT from the published grids, chosen on public records only.

    python -m benchmarks.reproduce.study.sgbdt_tuning [--data abalone adult] [--variants r1 ...]

The records are drawn from what the documentation of Abalone and Adult says of them (`sgbdt_surrogates`). What is
minimised is the mean loss over them at the same epsilon and the same number of records. No record of Abalone or Adult
is read.

The search for one variant at one epsilon: random points and what was chosen before (at other epsilons, for the method
itself), raced against each other; then steps that move the best ones by one or two settings.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproduce.study.sgbdt_surrogates import task
from benchmarks.reproduce.study.sgbdt_variants import EPSILONS, error, grids_of, moved, params_of, settings_of, train
from refdp.errors import InvalidParameter

Point = dict[str, Any]
CHOSEN = Path(__file__).with_name("sgbdt_chosen.json")
ORDER = ("first", "r1", "stream filter", "stream naive", "filter", "gamma 1", "none", "subsampling", "initial score")


@dataclass(frozen=True)
class Effort:
    """How much is searched. drawn: random points; first: so many go on; steps: of moves; near: points moved from in a
    step; keep: points that stay in the race; last: runs that decide between the best four."""

    drawn: int
    first: int
    steps: int
    near: int
    keep: int
    last: int


FULL = {"abalone": Effort(120, 20, 4, 5, 8, 48), "adult": Effort(20, 10, 1, 3, 6, 16)}
AGAIN = {"abalone": Effort(0, 8, 2, 3, 6, 48), "adult": Effort(0, 6, 1, 2, 4, 16)}
LIGHT = {"abalone": Effort(12, 8, 1, 2, 4, 12), "adult": Effort(0, 6, 0, 0, 4, 8)}
LEAST = {"abalone": Effort(0, 6, 0, 0, 4, 12), "adult": Effort(0, 6, 0, 0, 4, 8)}
"""FULL for the method's first choice; AGAIN for its second, which starts from the first ones at all epsilons and is the
one reported ("r1"); LIGHT for streams and rows without subsampling, LEAST for the rest of the ablation, which start
from the first ones too (LEAST takes no other points).
"""
AFFORDABLE = {"abalone": {"trees": 600, "depth": 6}, "adult": {"trees": 300, "depth": 5}}
"""The search draws nothing larger: Adult's size makes long runs slow."""
START: Point = {
    "trees": 100, "depth": 2, "gradient_bound": 0.1, "hessian_bound": 0.1, "subsample": 0.005, "support_weight": 0.04,
    "initial_share": 0.1, "label_bound": 1.0, "shrinkage": 0.1, "features": "cyclic", "values": "uniform",
    "support": "max",
}  # fmt: skip
"""Little noise for a leaf's signal: gradients clipped low, most of the budget for them, a support that lambda bounds
from below, large leaves. Adult's short searches and every second one start from it."""
LARGE: Point = START | {"trees": 200, "depth": 5, "gradient_bound": 0.3, "support_weight": 0.3, "shrinkage": 0.2}
"""For large epsilons: more and deeper trees. Adult's second search starts from it."""
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


def search(data: str, variant: str, loss: Loss, starts: Sequence[Point], effort: Effort) -> list[Point]:
    """The best points, best first."""
    generator, race, grids = np.random.default_rng(104), Race(loss), affordable(data, variant)
    drawn = [{name: grid[generator.integers(len(grid))] for name, grid in grids.items()} for _ in range(effort.drawn)]
    alive = race.best(race.best([*starts, *drawn], 2, effort.first), 8, effort.keep)
    for step in range(effort.steps):
        near = [moved(grids, point, generator) for point in alive[: effort.near] for _ in range(4)]
        alive = race.best([*alive, *race.best(near, 4, effort.keep)], 12 + 6 * step, effort.keep)
    return race.best(alive[:4], effort.last, 4)


def affordable(data: str, variant: str) -> dict[str, list[Any]]:
    """The grids of a variant, as far as the search draws from them."""
    most = AFFORDABLE[data] | ({"trees": 200, "depth": 3} if data == "adult" and variant == "first" else {})
    grids = grids_of(data, variant)
    return {name: [value for value in grid if name not in most or value <= most[name]] for name, grid in grids.items()}


def starts_of(data: str, variant: str, done: dict[str, Point]) -> list[Point]:
    """What was chosen for the same variant at other epsilons and for the method in the first search."""
    keys = [f"{data}/{variant}/{e:g}" for e in EPSILONS[data]] + [f"{data}/first/{e:g}" for e in EPSILONS[data]]
    grids = grids_of(data, variant)
    points = (
        [done[key] for key in keys if key in done] + [START] * (data == "adult") + [START, LARGE] * (variant == "r1")
    )
    return [{name: point.get(name, grid[-1]) for name, grid in grids.items()} for point in points]


def _effort(variant: str) -> dict[str, Effort]:
    if "stream" in variant or variant in ("gamma 1", "none"):
        return LIGHT
    return {"first": FULL, "r1": AGAIN}.get(variant, LEAST)


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
                starts, effort = starts_of(data, variant, done), _effort(variant)[data]
                best = search(data, variant, loss_of(data, variant, epsilon), starts, effort)[0]
                CHOSEN.write_text(json.dumps({**chosen(), key: best}, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
