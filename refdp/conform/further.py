"""Settings of the last vectors of each kind: what all others leave at one value, or never leave to the specification.

A program that has such a value written into it, or that does not know what follows where none is given, is right on all
other vectors.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from refdp.privacy.events import Relation


class Further(NamedTuple):
    """target: of its schema. settings: those that are fixed. far: where a few labels are, 1 for high, -1 for low.

    0: labels are as those of other vectors. features: many are three numeric ones that can be split, one
    that cannot, and two categorical ones; categories are the latter alone; even are all of them, the one that cannot
    be split first, categorical ones last. records: at least so many.
    """

    target: str
    settings: dict[str, Any]
    far: int = 0
    features: Literal["drawn", "one", "many", "categories", "even"] = "drawn"
    records: int = 8


SURE: dict[str, Any] = {
    "epsilon": 512.0, "delta": 1e-5, "relation": Relation.ADD_REMOVE, "trees": 2, "depth": None, "residual": None,
    "start_share": None,
}  # fmt: skip
"""Of Grove's regressions that end with a mean which is surely not 0: nu is 28 a row."""
LEFT: dict[str, Any] = {
    "epsilon": 8.0, "delta": 1e-5, "relation": Relation.ADD_REMOVE, "trees": 1, "depth": None, "feature_share": None,
}  # fmt: skip
"""Of Grove's runs on classes whose depth follows nu: 455 for three classes, 4,165 with replaced records, and 5,165."""
FURTHER: dict[str, tuple[Further, ...]] = {
    "dpboost": (),
    "inprivate": (
        Further("classes", {
            "split_share": 0.3, "candidates": "log", "turn_budget": "amplified", "relation": Relation.ADD_REMOVE,
            "rounds": 2,
        }),
        Further("regression", {"split_share": 0.8, "candidates": "log", "turn_budget": "amplified", "rounds": 2}),
    ),
    "dpxgboost": (
        Further("regression", {
            "trees": 2, "depth": 2, "regularisation": 2.0, "shrinkage": 0.75, "split_part": 2.0, "leaf_part": 0.5,
            "count_part": 3.0, "level_growth": 1.5, "tree_growth": 0.5, "count_weight": 0.25, "leaf": "average",
            "sketch_bins": 16, "sketch_part": 2.0, "sketch_per": "run", "gradients": "clip",
        }),
        Further("binary", {
            "trees": 2, "depth": 2, "regularisation": 0.25, "shrinkage": 0.6, "split_part": 0.5, "leaf_part": 3.0,
            "level_growth": 0.7, "tree_growth": 1.4, "count_weight": 1.5, "leaf": "average", "gain": "newton",
            "loss": "log",
        }),
        Further("classes", {"regularisation": 3.0, "leaf": "minimum", "child_minimum": 2, "shrinkage": 0.9}),
    ),
    "fedgbdt": (
        Further("regression", {
            "trees": 2, "gradient_bound": 0.3, "delta": 2.0**-20, "regularisation": 0.25, "accounting": "renyi",
            "split_penalty": 0.5, "update": "newton", "shrinkage": 0.8,
        }),
        Further("classes", {
            "trees": 2, "delta": 2.0**-13, "regularisation": 4.0, "one_vs_rest": "together", "split_penalty": 0.03,
            "update": "newton",
        }),
        Further("regression", {"gradient_bound": 1.5, "update": "gradient", "relation": Relation.REPLACE_ONE}),
    ),
    "sgbdt": (
        Further("binary", {
            "gradient_bound": 0.3, "hessian_bound": 0.15, "label_bound": 0.25, "leaf_clip": 0.125, "shrinkage": 0.7,
            "support_weight": 0.6, "count_share": 0.2, "initial_share": 0.1, "delta": 2.0**-20, "trees": 2,
            "extra_trees": 4, "regularisation": 1.0, "subsample": 0.25, "epsilon": 8.0,
        }),
        Further("regression", {
            "gradient_bound": 0.8, "label_bound": 0.3, "weights": "slides", "support_weight": 0.2, "orders": "joint",
            "count_share": 0.7, "initial_share": 0.2, "trees": 2, "extra_trees": 4, "leaf_clip": 0.5, "shrinkage": 0.4,
            "epsilon": 8.0, "delta": 2.0**-13, "subsample": 0.5,
        }),
        Further("classes", {"hessian_bound": 0.2, "weights": "slides", "delta": 2.0**-13, "subsample": 0.5, "trees": 1,
                            "extra_trees": 3}),
    ),
    "grove": (
        Further("regression", SURE | {"rows": 17}, 1),
        Further("regression", SURE | {"rows": 18, "hessian_weight": 0.6}, -1),
        Further("regression", SURE | {"rows": 107}, 1),
        Further("regression", {"residual": 0.25, "delta": 2.0**-20, "hessian_weight": 2.0}),
        Further("classes", LEFT | {"rows": 350}),
        Further("binary", LEFT | {"rows": 5_000, "relation": Relation.REPLACE_ONE, "hessian_weight": 0.6}),
        Further("binary", LEFT | {"rows": 3_100}),
    ),
}  # fmt: skip
"""By paper, in the order of the vectors."""

SKETCHED: dict[str, Any] = {"sketch_bins": 12, "bins": 3, "stopping": "noisy", "child_minimum": 2, "epsilon": 8.0}
"""Of DP-XGBoost, with noise that now and then turns round whether a node is split."""
WHOLE: dict[str, tuple[Further, ...]] = {
    "dpboost": (
        Further("regression", {
            "trees": 24, "trees_per_ensemble": 12, "depth": 1, "bins": 1, "noise": "floating",
        }, features="one"),
        Further("binary", {"trees": 1, "depth": 7, "bins": 1, "scheme": "dpboost"}, features="one"),
    ),
    "inprivate": (
        Further("regression", {"owners": 3, "rounds": 8, "depth": 2, "bins": 1, "noise": "floating"}),
        Further("binary", {"owners": 1, "rounds": 1, "depth": 7, "bins": 1}, features="one"),
    ),
    "dpxgboost": (
        Further("regression", SKETCHED | {
            "trees": 3, "depth": 2, "candidates": "sketch", "sketch_per": "tree", "columns": 5 / 6,
            "missing": "learned", "leaf": "laplace", "noise": "floating", "loss": "square", "subsample": 1.0,
            "relation": Relation.ADD_REMOVE,
        }, features="many", records=12),
        Further("binary", SKETCHED | {
            "trees": 2, "depth": 2, "candidates": "quantiles", "sketch_per": "tree", "columns": 0.4, "missing": "left",
            "loss": "log", "gain": "newton", "sketch_part": 0.5, "count_part": 2.0, "relation": Relation.REPLACE_ONE,
            "noise": "discrete", "subsample": 0.75,
        }, features="many", records=14),
        Further("classes", SKETCHED | {
            "trees": 2, "depth": 1, "candidates": "sketch", "sketch_per": "run", "columns": 0.7, "loss": "log",
            "gain": "count", "relation": Relation.REPLACE_ONE, "noise": "discrete", "bins": 5, "child_minimum": 3,
            "gradient_bound": 2.0,
        }, features="many", records=12),
        Further("regression", SKETCHED | {
            "trees": 2, "depth": 2, "candidates": "quantiles", "sketch_per": "run", "columns": 0.25, "bins": 7,
            "subsample": 0.5, "sketch_part": 3.0, "relation": Relation.ADD_REMOVE, "noise": "floating",
            "gradients": "filter", "gradient_bound": 0.3,
        }, features="many", records=12),
        Further("binary", SKETCHED | {
            "trees": 2, "depth": 1, "candidates": "sketch", "sketch_per": "tree", "columns": 1.0, "loss": "log",
            "gain": "newton", "bins": 2, "subsample": 0.5, "relation": Relation.ADD_REMOVE, "noise": "floating",
            "stopping": "never", "sketch_bins": 40,
        }, records=20),
        Further("regression", {
            "trees": 24, "depth": 1, "candidates": "sketch", "sketch_bins": 4, "bins": 1,
        }, features="one"),
        Further("binary", {"trees": 1, "depth": 7, "bins": 1, "missing": "left"}, features="one"),
        Further("regression", {
            "trees": 4, "depth": 3, "candidates": "uniform", "bins": 2, "stopping": "noisy", "child_minimum": 4,
            "noise": "floating", "missing": "learned", "subsample": 1.0,
        }, features="many", records=16),
        Further("regression", {"epsilon": 1500.0, "trees": 1, "depth": 1, "subsample": 0.5}),
        Further("binary", {"epsilon": 1100.0, "trees": 2, "depth": 1, "subsample": 0.75, "tree_growth": 1.0}),
    ),
    "fedgbdt": (
        Further("regression", {"trees": 24, "depth": 1, "bins": 2, "noise": "floating"}, features="one"),
        Further("binary", {"trees": 1, "depth": 7, "bins": 2}, features="one"),
    ),
    "sgbdt": (
        Further("regression", {"trees": 18, "extra_trees": 5, "depth": 1, "noise": "floating", "epsilon": 8.0}),
        Further("binary", {
            "trees": 1, "extra_trees": 0, "depth": 7, "noise": "floating", "epsilon": 8.0,
        }, features="one"),
    ),
    "grove": (
        Further("regression", {"trees": 24, "depth": 1, "bins": 2, "noise": "floating", "feature_share": None}),
        Further("binary", {"trees": 1, "depth": 7, "bins": 2, "feature_share": None}, features="one"),
    ),
}  # fmt: skip
"""Of plans and whole runs alone, after those: more than 20 trees and seven levels; what DP-XGBoost sketches."""

BOTH = (Relation.ADD_REMOVE, Relation.REPLACE_ONE)
AVERAGED: tuple[Further, ...] = tuple(
    Further(target, {"gradient_bound": bound, "update": update, "relation": relation, "trees": 2})
    for target, update in (("regression", "averaging"), ("regression", "gradient"), ("binary", "gradient"),
                           ("classes", "averaging"))
    for bound in (0.6, 1.5)
    for relation in BOTH
)  # fmt: skip
"""Of the federated framework: bounds of gradients that are not 1, where they matter and where they do not."""
SPENT: dict[str, Any] = {
    "trees": 1, "extra_trees": 6, "depth": 2, "subsample": 0.5, "epsilon": 1.0, "delta": 1e-5, "initial_share": 0.0,
    "shrinkage": 1.0, "support": "max", "weights": "relative", "orders": "one", "noise": "floating",
    "regularisation": 2.0**-10, "gradient_bound": 0.125, "leaf_clip": 0.125, "support_weight": 2.0**-20,
}  # fmt: skip
"""Of S-GBDT: records that spend all of their budget in one round and next to nothing in another; with another bound,
two costs of sum 0.9998 of it; with joint orders, the least of which is a quarter of 10, and of 11; grids on which
what is ruled out by a split decides two levels below; a noisy count between 1 and 2."""
LAST: dict[str, tuple[Further, ...]] = {
    "dpboost": (
        Further("regression", {"trees": 3, "trees_per_ensemble": 3, "shrinkage": 0.9, "scheme": "dpboost",
                               "gradient_bound": 1.0, "regularisation": 0.1, "depth": 1, "bins": 3}),
    ),
    "inprivate": (Further("binary", {"residual_bound": 0.3, "owners": 1, "rounds": 2, "depth": 1}),),
    "dpxgboost": (
        *(Further("regression", SKETCHED | {
            "trees": 2, "depth": 1, "candidates": candidates, "sketch_per": per, "columns": 1.0, "loss": "square",
        }, features="categories", records=12) for candidates, per in (("sketch", "run"), ("quantiles", "tree"))),
        Further("regression", SKETCHED | {
            "trees": 2, "depth": 2, "candidates": "uniform", "columns": 1.0, "loss": "square", "child_minimum": 4,
        }, features="even", records=12),
    ),
    "fedgbdt": (
        *AVERAGED,
        Further("regression", {"trees": 2, "trees_per_feature": True, "batch": 3, "update": "averaging"},
                features="many"),
        Further("binary", {"trees": 2, "trees_per_feature": True, "batch_share": 0.3, "bins": 3}, features="many"),
        Further("regression", {"trees": 5, "batch_share": 0.5, "candidates": "log", "bins": 3}, features="many"),
        Further("classes", {"trees": 3, "batch_share": 0.75, "candidates": "log", "bins": 4}),
        Further("binary", {"accounting": "renyi", "epsilon": 2.0**-6, "delta": 1e-5, "trees": 1}),
        Further("binary", {"accounting": "renyi", "epsilon": 2.0**-12, "delta": 2.0**-30, "trees": 1}),
        Further("binary", {"accounting": "renyi", "epsilon": 400.0, "delta": 2.0**-4, "trees": 1}),
    ),
    "sgbdt": (
        *(Further(target, {
            "values": "grid", "grid_points": points, "initial_share": 0.3, "epsilon": 2.0**-4, "trees": 2, "depth": 2,
            "subsample": 0.5, "features": "uniform",
        }, features="many", records=10) for target, points in (("regression", 1), ("binary", 5))),
        Further("regression", SPENT, records=36),
        Further("regression", SPENT | {"gradient_bound": 0.62515, "subsample": 1.0}, records=36),
        *(Further("regression", SPENT | {
            "orders": "joint", "epsilon": epsilon, "subsample": rate, "extra_trees": 8, "gradient_bound": 1.0,
            "support_weight": 2.0**-4, "regularisation": 1.0,
        }, records=36) for epsilon, rate in ((1.6, 0.5), (1.2, 0.25))),
        Further("regression", {
            "values": "grid", "grid_points": 12, "trees": 4, "depth": 4, "features": "uniform", "epsilon": 8.0,
        }, records=12),
        Further("regression", {"initial_share": 0.3, "count_share": 0.7, "epsilon": 64.0, "trees": 1}, features="one",
                records=2),
    ),
    "grove": (),
}  # fmt: skip
"""Of statistics, plans and whole runs, the last of all: where several bounds are compared, and rarely used ways."""
SEVERAL: tuple[Further, ...] = tuple(
    Further(target, {"records_each": each, "relation": relation, "noise": noise, "trees": 2})
    for target, each, noise, relation in (
        ("regression", 3, "floating", BOTH[0]), ("binary", 3, "discrete", BOTH[0]), ("classes", 2, "discrete", BOTH[1]),
        ("regression", 5, "discrete", BOTH[1]), ("binary", 2, "floating", BOTH[1]),
    )
)  # fmt: skip
"""Of plans of the federated framework alone: participants with several records, who are not in one place."""
