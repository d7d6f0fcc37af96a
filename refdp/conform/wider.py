"""Settings, schemas and values of fresh vectors beyond the repository's, which no list of them holds.

Each setting of a paper is drawn anew in half of the cases. Only Python's `random` and arithmetic with powers of 2,
so that a seed means the same vectors everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from refdp.data.records import Categorical, Classes, Feature, Interval, Numeric, Schema

Drawn = Callable[[random.Random], Any]


def _whole(low: int, high: int) -> Drawn:
    return lambda chance: chance.randint(low, high)


def _share(low: float, high: float) -> Drawn:
    return lambda chance: chance.uniform(low, high)


def _one(*choices: str) -> Drawn:
    return lambda chance: chance.choice(choices)


def _spread(low: int, high: int) -> Drawn:
    """From 2^low to 2^(high + 1), every power of 2 as likely."""
    return lambda chance: float(chance.uniform(1.0, 2.0) * 2.0 ** chance.randint(low, high))


_BUDGET: dict[str, Drawn] = {"epsilon": _spread(-5, 4)}
_TINY: dict[str, Drawn] = {"delta": _spread(-34, -8)}
WIDER: dict[str, dict[str, Drawn]] = {
    "dpboost": _BUDGET | {
        "trees": _whole(4, 7), "trees_per_ensemble": _whole(3, 5), "depth": _whole(3, 5), "bins": _whole(5, 40),
        "regularisation": _spread(-6, 4), "shrinkage": _share(0.01, 0.9), "gradient_bound": _spread(-5, 2),
    },
    "inprivate": _BUDGET | {
        "owners": _whole(3, 5), "rounds": _whole(3, 5), "depth": _whole(1, 5), "bins": _whole(5, 40),
        "split_share": _share(0.1, 0.9), "residual_bound": _spread(-5, 2), "leaf_bound": _spread(-5, 2),
        "damping": _share(0.0, 9.0), "shrinkage": _share(0.05, 1.0), "turn_budget": _one("whole", "amplified"),
    },
    "dpxgboost": _BUDGET | {
        "trees": _whole(3, 6), "depth": _whole(3, 5), "bins": _whole(4, 40), "regularisation": _spread(-6, 4),
        "gradient_bound": _spread(-5, 2), "ratio_bound": _spread(-4, 3), "child_minimum": _whole(2, 9),
        "subsample": _share(0.05, 1.0), "shrinkage": _share(0.01, 0.9), "count_weight": _share(0.05, 2.0),
        "count_part": _share(0.2, 3.0), "level_growth": _share(0.6, 1.7), "tree_growth": _share(0.6, 1.7),
        "leaf_part": _share(0.2, 3.0), "split_part": _share(0.2, 3.0),
    },
    "fedgbdt": _BUDGET | _TINY | {
        "trees": _whole(4, 7), "depth": _whole(3, 5), "bins": _whole(5, 40), "batch": _whole(3, 5),
        "regularisation": _spread(-6, 4), "shrinkage": _share(0.01, 0.9), "leaf_clip": _spread(-5, 4),
        "one_vs_rest": _one("divided", "together"),
    },
    "sgbdt": _BUDGET | _TINY | {
        "trees": _whole(3, 5), "extra_trees": _whole(1, 6), "depth": _whole(3, 5), "grid_points": _whole(3, 40),
        "subsample": _share(0.05, 1.0), "shrinkage": _share(0.01, 0.9), "gradient_bound": _share(0.05, 1.0),
        "hessian_bound": _share(0.05, 0.25), "label_bound": _share(0.1, 1.0), "regularisation": _spread(-3, 5),
        "leaf_clip": _spread(-5, 4), "support_weight": _share(0.05, 0.95), "count_share": _share(0.05, 0.95),
        "initial_share": _share(0.01, 0.5),
    },
    "grove": _BUDGET | _TINY | {
        "trees": _whole(4, 7), "depth": _whole(3, 5), "bins": _whole(5, 40), "rows": _whole(20, 100_000),
        "shrinkage": _share(0.01, 0.9), "residual": _share(0.05, 1.0), "hessian_weight": _share(0.05, 3.3),
        "threshold_share": _share(0.01, 0.5), "start_share": _share(0.01, 0.4), "explore": _share(0.05, 1.0),
        "feature_share": _share(0.01, 0.9), "score_noise": _spread(-6, 4),
    },
}  # fmt: skip
"""What each setting of a paper is drawn from."""


def settings(paper: str, chance: random.Random, given: dict[str, Any]) -> dict[str, Any]:
    """The settings of a small run, about half of them anywhere in their domain."""
    return given | {name: drawn(chance) for name, drawn in WIDER[paper].items() if chance.random() < 0.5}


def schema(chance: random.Random, given: Schema, *, numeric_only: bool) -> Schema:
    """Further features after the given ones, other bounds of labels, and more classes, each in half of the cases."""
    further: list[Feature] = []
    if chance.random() < 0.5:
        for number in range(chance.randint(1, 4)):
            if numeric_only or chance.random() < 0.6:
                low = chance.uniform(-100.0, 100.0)
                further.append(Numeric(f"y{number}", low, low + _spread(-5, 9)(chance)))
            else:
                names = tuple(f"k{one}" for one in range(chance.randint(1, 12)))
                further.append(Categorical(f"y{number}", names))
    target = given.target
    if chance.random() < 0.5:
        if isinstance(target, Interval):
            low = chance.uniform(-50.0, 50.0)
            target = Interval(low, low + chance.uniform(0.5, 90.0))
        elif len(target.values) > 2:
            target = Classes(tuple(f"class {one}" for one in range(chance.randint(4, 6))))
    return replace(given, features=(*given.features, *further), target=target)
