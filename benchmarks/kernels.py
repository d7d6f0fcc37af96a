"""Time and memory of the array kernels: plain non-private boosting on them against xgboost's histogram method.

    python -m benchmarks.kernels [--rows 10000 80000 1000000] [--features 20] [--repeats 3]

Both train the same model (square loss, depth 4, 100 trees, 32 bins, learning rate 0.1, lambda 0.1, one thread) in the
same process, alternating; a figure is the best of the repeats. Binning and training are timed apart. "memory" is the
peak of what is allocated beyond the input while binning and training, in bytes a row, beside what is allowed: 4 times
the binned matrix and 100 bytes a row.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import xgboost
from rich.console import Console
from rich.progress import track
from rich.table import Table

from refdp.data import kernels

BINS, DEPTH, TREES, RATE, REGULARISATION = 32, 4, 100, 0.1, 0.1
Floats = Any


def made_up(rows: int, features: int) -> tuple[Floats, Floats]:
    """Uniform features, and a target in [-1/2, 1] with interactions and noise."""
    rng = np.random.default_rng(0)
    x = rng.random((rows, features))
    signal = x[:, 0] * x[:, 1] + 0.3 * np.sin(6 * x[:, 2]) + x[:, 3] * (x[:, 4] > 0.5)
    return x, np.clip(signal + 0.1 * rng.standard_normal(rows), -1, 2) / 2


def best_splits(table: Floats) -> tuple[Floats, Floats]:
    """Feature and code of the largest gain G_L²/(n_L + λ) + G_R²/(n_R + λ) of each node (Li et al. 2020, Eq. 3).

    table: sums of gradients and counts, shape (2, node, feature, bin).
    """
    left = table.cumsum(axis=3)
    (g, n), (g_all, n_all) = left[..., :-1], left[:, :, :1, -1:]
    gain = g * g / (n + REGULARISATION) + (g_all - g) ** 2 / (n_all - n + REGULARISATION)
    return np.divmod(gain.reshape(len(gain), -1).argmax(axis=1), gain.shape[2])


def binned(x: Floats) -> Floats:
    """The codes of the features, shape (feature, row)."""
    thresholds = np.linspace(0, 1, BINS + 1)[1:-1]
    return np.stack([kernels.encode_ordered(column, thresholds) for column in x.T])


def boost(codes: Floats, y: Floats, trees: int = TREES) -> Floats:
    """Predictions of non-private boosting for its training rows."""
    sums = kernels.BinSums.prepare(codes, kernels.bin_offsets([BINS + 1] * len(codes)))
    prediction, categorical = np.zeros(len(y)), np.zeros(2**DEPTH, dtype=bool)
    for _ in range(trees):
        gradient = np.rint((prediction - y) / kernels.GRID) * kernels.GRID
        node, table = np.zeros(len(y), dtype=np.int32), None
        for level in range(DEPTH):
            table = sums.sums(node, 2**level, [gradient, None], table)
            feature, code = best_splits(table.reshape(2, 2**level, len(codes), BINS + 1))
            node = kernels.route(codes, node, feature, code, categorical)
        g, n = kernels.leaf_sums(node, 2**DEPTH, [gradient, None])
        prediction += (-RATE * g / (n + REGULARISATION)).take(node)
    return prediction


def binned_by_xgboost(x: Floats, y: Floats) -> Any:
    """xgboost's binned matrix, from the row order that it is fastest with."""
    return xgboost.QuantileDMatrix(x, y, max_bin=BINS, nthread=1)


def boost_by_xgboost(data: Any, trees: int = TREES) -> Any:
    """The same model with xgboost: histogram method, one thread."""
    params = {"tree_method": "hist", "max_depth": DEPTH, "max_bin": BINS, "nthread": 1, "eta": RATE,
              "reg_lambda": REGULARISATION, "min_child_weight": 0, "base_score": 0.0}  # fmt: skip
    return xgboost.train(params, data, trees)


@dataclass(frozen=True)
class Timing:
    """Best seconds of binning and of training, and the root mean square error on the training rows."""

    binning: float = np.inf
    training: float = np.inf
    error: float = np.inf

    def best(self, other: Timing) -> Timing:
        """The smaller figures of two."""
        return Timing(*(min(pair) for pair in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class Measurement:
    """What was measured for one size; peak in bytes beyond the input."""

    rows: int
    features: int
    ours: Timing
    xgboost: Timing
    peak: int

    @property
    def ratio(self) -> float:
        """Our training time in units of xgboost's."""
        return self.ours.training / self.xgboost.training

    @property
    def ratio_with_binning(self) -> float:
        """The same, binning included on both sides."""
        return (self.ours.binning + self.ours.training) / (self.xgboost.binning + self.xgboost.training)

    @property
    def allowed(self) -> int:
        """4 times the binned matrix (one byte a value) and 100 bytes a row."""
        return self.rows * (4 * self.features + 100)


def timed_ours(x: Floats, y: Floats) -> Timing:
    """One run on the kernels."""
    start = time.perf_counter()
    codes = binned(x)
    middle = time.perf_counter()
    prediction = boost(codes, y)
    return Timing(middle - start, time.perf_counter() - middle, rmse(prediction, y))


def timed_xgboost(x: Floats, y: Floats) -> Timing:
    """One run of xgboost; its prediction for the training rows is not timed."""
    start = time.perf_counter()
    data = binned_by_xgboost(x, y)
    middle = time.perf_counter()
    booster = boost_by_xgboost(data)
    return Timing(middle - start, time.perf_counter() - middle, rmse(booster.predict(data), y))


def rmse(prediction: Floats, y: Floats) -> float:
    """Root mean square error."""
    return float(np.sqrt(np.mean((prediction - y) ** 2)))


def measure(rows: int, features: int, repeats: int) -> Measurement:
    """Alternate the two and keep the best of each, so that a busy machine disturbs both alike."""
    x, y = made_up(rows, features)
    by_column = np.asfortranarray(x)
    ours, theirs = Timing(), Timing()
    for _ in range(repeats):
        ours = ours.best(timed_ours(by_column, y))
        theirs = theirs.best(timed_xgboost(x, y))
    return Measurement(rows, features, ours, theirs, peak_memory(by_column, y))


def peak_memory(x: Floats, y: Floats) -> int:
    """Peak of the bytes allocated beyond the input during binning and two trees (all trees are alike)."""
    tracemalloc.start()
    boost(binned(x), y, trees=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def table_of(measurements: list[Measurement]) -> Table:
    """The figures, one line a size."""
    headings = ["rows", "features", "refdp s", "xgboost s", "ratio", "with binning", "ns a cell, tree", "rmse refdp",
                "rmse xgboost", "memory B/row", "allowed B/row"]  # fmt: skip
    table = Table(*headings, title=f"Non-private boosting, depth {DEPTH}, {TREES} trees")
    for m in measurements:
        cells = m.rows * m.features * TREES
        table.add_row(f"{m.rows:,}", str(m.features), f"{m.ours.training:.3f}", f"{m.xgboost.training:.3f}",
                      f"{m.ratio:.2f}", f"{m.ratio_with_binning:.2f}", f"{m.ours.training / cells * 1e9:.2f}",
                      f"{m.ours.error:.4f}", f"{m.xgboost.error:.4f}", f"{m.peak / m.rows:.0f}",
                      f"{m.allowed / m.rows:.0f}")  # fmt: skip
    return table


def main() -> None:
    """Measure every size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 80_000, 100_000, 1_000_000])
    parser.add_argument("--features", type=int, nargs="+", default=[20])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    sizes = [(rows, features) for rows in options.rows for features in options.features]
    errors = Console(stderr=True)
    done = [measure(*size, options.repeats) for size in track(sizes, "measuring", console=errors)]
    Console(width=120).print(table_of(done))


if __name__ == "__main__":
    main()
