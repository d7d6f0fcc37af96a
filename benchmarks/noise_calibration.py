"""Calibration of noise and rates by ratio: processor time of `calibrate` over that of one evaluation of what it found.

    python -m benchmarks.noise_calibration [--repeats 5] [--write]

Half a minute of processor time. Every family in turn, so often; `--write` puts the medians into docs/accounting.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks.accounting import gaussian, laplace, put
from refdp.accounting import account, calibrate
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential
from refdp.privacy.events import (
    Event,
    Parallel,
    Partition,
    Plan,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
    balls_and_bins,
)

HEAD = "| calibrated to ε = 1 at δ = 1e-6 | found | one evaluation, ms | calibration, ms | ratio |"
EPSILON, DELTA = 1.0, 1e-6
ADD_REMOVE, REPLACE_ONE = Relation.ADD_REMOVE, Relation.REPLACE_ONE


def _release(mechanism: Any, norm: Any) -> Release:
    return Release("one", mechanism, Sensitivity(1.0, norm, "benchmark/declared", ADD_REMOVE))


def _selection(size: float) -> Event:
    return Repeat(_release(Exponential(size), "range"), 50)


Family = tuple[Relation, Callable[[float], Event], dict[str, Any]]
"""Neighbours, the events for a noise, a rate or a range, and how `calibrate` is to search."""
RANGES = {"low": 1e-6, "high": 1e3, "increasing": True}
FAMILIES: dict[str, Family] = {
    "100 Gaussian": (ADD_REMOVE, lambda x: Repeat(gaussian(x), 100), {}),
    "100 Laplace": (ADD_REMOVE, lambda x: Repeat(laplace(x), 100), {}),
    "100 discrete Laplace": (ADD_REMOVE, lambda x: Repeat(_release(DiscreteLaplace(x, 1.0), 1), 100), {}),
    "20 discrete Gaussian": (ADD_REMOVE, lambda x: Repeat(_release(DiscreteGaussian(x, 1.0), 2), 20), {"low": 0.8}),
    "100 Laplace with 100 Gaussian": (
        ADD_REMOVE, lambda x: Sequential((Repeat(laplace(x), 100), Repeat(gaussian(x), 100))), {},
    ),
    "1,000 Gaussian, Poisson samples of 0.01": (ADD_REMOVE, lambda x: Repeat(Subsample(0.01, gaussian(x)), 1000), {}),
    "1,000 Laplace, Poisson samples of 0.01": (ADD_REMOVE, lambda x: Repeat(Subsample(0.01, laplace(x)), 1000), {}),
    "1,000 Gaussian, samples of a fixed size of 0.01": (
        REPLACE_ONE, lambda x: Repeat(Subsample(0.01, gaussian(x), "without-replacement"), 1000), {},
    ),
    "100 Gaussian, Poisson samples of 0.1, a record replaced": (
        REPLACE_ONE, lambda x: Repeat(Subsample(0.1, gaussian(x)), 100), {},
    ),
    "10 epochs of balls and bins, 100 batches": (
        ADD_REMOVE, lambda x: Repeat(balls_and_bins(gaussian(x), 100), 10), {},
    ),
    "20 partitions of two slots": (
        ADD_REMOVE, lambda x: Repeat(Partition((0.3, 0.5), (gaussian(x), laplace(x))), 20), {},
    ),
    "20 pairs of blocks": (ADD_REMOVE, lambda x: Repeat(Parallel((gaussian(x), laplace(x))), 20), {}),
    "the rate of 1,000 Poisson samples, Gaussian 1": (
        ADD_REMOVE, lambda q: Repeat(Subsample(q, gaussian(1.0)), 1000), {"high": 1.0, "increasing": True},
    ),
    "the range of 50 selections": (ADD_REMOVE, _selection, RANGES),
    "the range of 50 selections with 20 Laplace": (
        ADD_REMOVE, lambda x: Sequential((_selection(x), Repeat(laplace(1 / x), 20))), RANGES,
    ),
}  # fmt: skip


def measured(name: str) -> tuple[float, float, float]:
    """What calibration found, and seconds: of one evaluation there, both ends of it, and of the calibration."""
    relation, event, how = FAMILIES[name]
    start = time.process_time()
    found = calibrate(lambda x: Plan(relation, event(x)), EPSILON, DELTA, **how)
    middle = time.process_time()
    account(Plan(relation, event(found)), delta=DELTA)
    return found, time.process_time() - middle, middle - start


def table(repeats: int) -> list[str]:
    """Medians over the repeats, the families in turn; the first turn warms up."""
    turns = [{name: measured(name) for name in FAMILIES} for _ in range(repeats + 1)][1:]
    lines = [HEAD, "|---|---|---|---|---|"]
    for name in FAMILIES:
        one, all_of_it = (statistics.median(turn[name][place] for turn in turns) for place in (1, 2))
        found = turns[0][name][0]
        lines.append(f"| {name} | {found:.5g} | {1e3 * one:.1f} | {1e3 * all_of_it:.0f} | {all_of_it / one:.1f} |")
    return lines


def main() -> None:
    """Print the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="into docs/accounting.md")
    options = parser.parse_args()
    lines = table(options.repeats)
    print("\n".join(lines))
    if options.write:
        put(HEAD, lines)


if __name__ == "__main__":
    main()
