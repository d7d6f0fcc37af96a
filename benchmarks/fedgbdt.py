"""Speed and memory of the federated framework's training, against interpret's DP-EBM in one run.

    python -m benchmarks.fedgbdt [--repeats 5] [--rows 80000] [--large 1000000]

80,000 records of 20 features, 32 candidates, depth 4, 100 trees, two cores. Every method takes its turn in each repeat;
a figure is the best of the repeats, from raw arrays to the model. interpret's DP-EBM has 100 trees too: 5 rounds over
20 features. The second table is about rows: seconds and the peak of what is allocated beyond the input, in bytes a row,
beside what is allowed, 4 times the binned matrix and 100 bytes a row.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from refdp.curator import Curator
from refdp.events import Relation
from refdp.papers import fedgbdt
from refdp.records import Classes, Numeric, Schema, make_records
from refdp.sources import SampleSource

TREES, BINS, DEPTH = 100, 32, 4
METHODS: dict[str, dict[str, Any]] = {
    "totally random, Newton": {},
    "iterative Hessian, 5 rounds": {"candidates": "iterative-hessian"},
    "totally random, one feature a tree": {"features_per_tree": 1},
    "histogram": {"splits": "histogram"},
}


def made_up(rows: int, features: int) -> tuple[Any, Any]:
    """Uniform features, and a class that depends on some of them."""
    generator = np.random.default_rng(0)
    x = generator.random((rows, features))
    signal = x[:, 0] * x[:, 1] + 0.5 * x[:, 2] + 0.2 * generator.standard_normal(rows)
    return x, (signal > 0.5).astype(np.float64)


def trained(x: Any, y: Any, **settings: Any) -> Any:
    """One run, from arrays to the model."""
    schema = Schema(tuple(Numeric(f"x{i}", 0.0, 1.0) for i in range(x.shape[1])), Classes(("no", "yes")))
    given = {"trees": TREES, "bins": BINS, "depth": DEPTH, **settings}
    params = fedgbdt.Params(1.0, Relation.ADD_REMOVE, **given)
    curator = Curator(SampleSource(np.random.default_rng(0)), params.relation)
    return fedgbdt.train(params, make_records(schema, x, y), curator)


def by_interpret(x: Any, y: Any) -> Any:
    """interpret's DP-EBM with as many trees."""
    from interpret.privacy import DPExplainableBoostingClassifier

    bounds = np.column_stack([np.zeros(x.shape[1]), np.ones(x.shape[1])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DPExplainableBoostingClassifier(
            epsilon=1.0, delta=1e-5, max_bins=BINS, max_rounds=TREES // x.shape[1], privacy_bounds=bounds, n_jobs=2
        )
        return model.fit(x, y.astype(np.int64))


def seconds(work: Callable[[], Any]) -> float:
    """Wall-clock time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def speed(rows: int, repeats: int, console: Console) -> None:
    """The first table."""
    x, y = made_up(rows, 20)
    works: dict[str, Callable[[], Any]] = {"interpret DP-EBM": partial(by_interpret, x, y)}
    for name, settings in METHODS.items():
        works[name] = partial(trained, x, y, **settings)
    best = dict.fromkeys(works, np.inf)
    for _ in range(repeats):
        for name, work in works.items():
            best[name] = min(best[name], seconds(work))
    table = Table("method", "seconds", "ratio to DP-EBM", "ratio to totally random", title=f"{rows:,} x 20, 100 trees")
    reference, random = best["interpret DP-EBM"], best["totally random, Newton"]
    for name, value in best.items():
        table.add_row(name, f"{value:.3f}", f"{value / reference:.2f}", f"{value / random:.2f}")
    console.print(table)


def memory(x: Any, y: Any, **settings: Any) -> float:
    """Peak allocation beyond the input while training, in bytes a row."""
    schema = Schema(tuple(Numeric(f"x{i}", 0.0, 1.0) for i in range(x.shape[1])), Classes(("no", "yes")))
    records = make_records(schema, x, y)
    params = fedgbdt.Params(1.0, Relation.ADD_REMOVE, trees=10, bins=BINS, depth=DEPTH, **settings)
    tracemalloc.start()
    fedgbdt.train(params, records, Curator(SampleSource(np.random.default_rng(0)), params.relation))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak / len(y))


def scaling(largest: int, console: Console) -> None:
    """The second table."""
    features = 28
    allowed = 4 * features + 100
    table = Table("rows", "method", "seconds", "microseconds a row", "bytes a row", "allowed", title="28 features")
    for rows in (largest // 8, largest):
        x, y = made_up(rows, features)
        for name, settings in METHODS.items():
            taken = seconds(partial(trained, x, y, **settings))
            used = memory(x, y, **settings)
            table.add_row(f"{rows:,}", name, f"{taken:.2f}", f"{1e6 * taken / rows:.1f}", f"{used:.0f}", f"{allowed}")
    console.print(table)


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rows", type=int, default=80_000)
    parser.add_argument("--large", type=int, default=1_000_000, help="0 to leave the second table out")
    options = parser.parse_args()
    console = Console(width=110)
    speed(options.rows, options.repeats, console)
    if options.large:
        scaling(options.large, console)


if __name__ == "__main__":
    main()
