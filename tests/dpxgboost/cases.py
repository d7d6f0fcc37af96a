"""Settings and records that the tests of DP-XGBoost share."""

from __future__ import annotations

from typing import Any

import numpy as np

from refdp.audit.replay import Trainer
from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema, Target, make_records
from refdp.papers import dpxgboost, published
from refdp.privacy.events import Relation

FEATURES = (Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y", "z")), Numeric("c", -5.0, 5.0), Numeric("d", 2.0, 2.0))
TARGETS: tuple[Target, ...] = (Interval(-1.0, 1.0), Classes(("no", "yes")), Classes(("p", "q", "r")))
SMALL: dict[str, Any] = {"trees": 3, "depth": 2, "bins": 4, "sketch_bins": 8, "subsample": 0.5, "child_minimum": 2}

REPAIRED: list[dict[str, Any]] = [
    {},
    {"subsample": 1.0},
    {"candidates": "quantiles"},
    {"candidates": "uniform"},
    {"sketch_per": "run"},
    {"sketch_per": "run", "candidates": "quantiles"},
    {"missing": "left"},
    {"leaf": "laplace"},
    {"leaf": "average"},
    {"stopping": "noisy"},
    {"columns": 0.5},
    {"gradients": "clip"},
    {"gradient_bound": 0.5},
    {"sampler": "gumbel"},
    {"level_growth": 0.5, "tree_growth": 1.5, "split_part": 2.0},
    {"noise": "discrete"},
    {"noise": "discrete", "leaf": "average", "stopping": "noisy"},
    {"loss": "log"},
    {"loss": "log", "gain": "count"},
    {"loss": "log", "leaf": "average", "ratio_bound": 8.0},
]
"""Settings that each exercise another part."""


def params(relation: Relation = Relation.ADD_REMOVE, **changes: Any) -> dpxgboost.Params:
    """Small settings, of the paper as printed where a reading is among the changes."""
    found: dpxgboost.Params = published.params(
        "dpxgboost", **{"epsilon": 1.0, "relation": relation, **SMALL, **changes}
    )
    return found


def target_of(changes: dict[str, Any]) -> Target:
    """A regression for square loss, else two classes."""
    return TARGETS[1 if changes.get("loss") == "log" else 0]


def records(target: Target, size: int = 40) -> Records:
    """Records with a missing value in seven, and one feature that is constant."""
    generator = np.random.default_rng(4)
    x = np.column_stack([generator.random(size), generator.integers(0, 3, size), generator.normal(0, 3, size)])
    x[::7, 2] = np.nan
    x[::5, 1] = np.nan
    many = len(target.values) if isinstance(target, Classes) else 0
    y = generator.integers(0, many, size) if many else generator.uniform(-2, 2, size)
    return make_records(Schema(FEATURES, target), np.column_stack([x, np.full(size, 2.0)]), y.astype(np.float64))


def trainer(given: dpxgboost.Params) -> Trainer:
    """Training as the audits call it."""
    return lambda data, curator: dpxgboost.train(given, data, curator)
