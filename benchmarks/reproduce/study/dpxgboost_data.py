"""The data sets of DP-XGBoost's section 5, and made-up ones on which settings can be chosen without looking at them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_friedman1, make_regression

from refdp.data.records import Classes, Interval, Numeric, Target
from refdp.errors import InvalidRecords
from refdp.io import datasets
from refdp.io.datasets import Dataset

FOLDS = 5
FEATURE_BOUND = 5.0
LABEL_BOUND = 730.0
"""Four standard deviations of the labels of make_regression: ten coefficients uniform on [0, 100], sqrt(10/3) 100."""


@dataclass(frozen=True)
class Task:
    """A data set as section 5 uses it. rows: how many there are. minimum: of records in a child, 500 above 100,000
    entries and 50 below."""

    title: str
    rows: int
    load: Callable[[], Dataset]
    minimum: int = 50


def synthetic(kind: str, rows: int, columns: int, seed: int) -> Dataset:
    """scikit-learn's generators with their defaults; bounds are chosen from the generators' laws, not from the data."""
    make = make_classification if kind == "classes" else make_regression
    x, y = make(rows, columns, random_state=seed)
    target: Target = Classes(("0", "1")) if kind == "classes" else Interval(-LABEL_BOUND, LABEL_BOUND)
    return bounded(f"synthetic {kind}", x, y, -FEATURE_BOUND, FEATURE_BOUND, target)


def bounded(name: str, x: Any, y: Any, low: float, high: float, target: Target) -> Dataset:
    """A data set whose features all have the same chosen bounds."""
    features = tuple(Numeric(f"x{i}", low, high) for i in range(x.shape[1]))
    sources: Any = dict.fromkeys((*(f.name for f in features), "y"), "chosen")
    return Dataset(name, x, y.astype(np.float64), features, "y", target, sources)


TASKS = {
    "covtype": Task("covtype (16% sample)", 92_962, lambda: datasets.load("covtype").one_against_rest("2")),
    "adult": Task("Adult", 32_561, lambda: datasets.load("adult").take(np.arange(32_561))),
    "synthetic-cls": Task("synthetic cls", 100_000, lambda: synthetic("classes", 100_000, 80, 100)),
    "synthetic-reg": Task("synthetic reg", 100_000, lambda: synthetic("values", 100_000, 70, 100)),
    "abalone": Task("abalone", 4_177, lambda: datasets.load("abalone")),
    "cls-40": Task("synthetic cls, 40 columns", 100_000, lambda: synthetic("classes", 100_000, 40, 0)),
    "reg-40": Task("synthetic reg, 40 columns", 100_000, lambda: synthetic("values", 100_000, 40, 0)),
}
"""The synthetic sets have the shapes and the seed of the authors' published script; those with 40 columns are the
generators' defaults at the size that replaces the paper's million of records."""


@lru_cache(maxsize=2)
def parts(name: str, repeat: int) -> list[tuple[Dataset, Dataset]]:
    """Training and test parts of all trials; every repeat shuffles anew."""
    dataset = TASKS[name].load()
    if len(dataset.y) != TASKS[name].rows:
        raise InvalidRecords(f"{name}: {len(dataset.y)} records found, {TASKS[name].rows} are expected")
    return list(datasets.folds(dataset, FOLDS, seed=repeat))


def made_up() -> dict[str, tuple[Dataset, Dataset]]:
    """Training and test parts of sets that nothing is published about, for choosing settings."""
    x, y = make_friedman1(4_000, 8, noise=1.0, random_state=7)
    few = bounded("friedman", x, y, 0.0, 1.0, Interval(-5.0, 35.0))
    coarse = make_classification(32_000, 14, n_informative=6, flip_y=0.1, random_state=7)
    fine = make_classification(90_000, 54, n_informative=10, flip_y=0.05, random_state=8)
    names = Classes(("0", "1"))
    sets = {
        "friedman": few,
        "classes, 14 columns": bounded("coarse", *coarse, -FEATURE_BOUND, FEATURE_BOUND, names),
        "classes, 54 columns": bounded("fine", *fine, -FEATURE_BOUND, FEATURE_BOUND, names),
        "values, 30 columns": synthetic("values", 100_000, 30, 7),
    }
    return {name: datasets.train_test(one) for name, one in sets.items()}
