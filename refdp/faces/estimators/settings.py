"""Constructor parameters of the estimators, by paper: the fields of its `Params` with their defaults.

Epsilon and the neighbouring relation are in the base. Readings, where a paper's own choice differs from that of its
repair, default to None and follow `as_published`.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, dataclass_transform

from refdp.errors import InvalidParameter
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt

_T = TypeVar("_T")


@dataclass_transform(kw_only_default=True, eq_default=False)
def constructed(kind: type[_T]) -> type[_T]:
    """A class with a constructor of keywords, one a field, as scikit-learn has it: it keeps what it is given."""
    return dataclass(kw_only=True, eq=False, repr=False)(kind)


@constructed
class DPBoostSettings:
    """Those of DPBoost."""

    trees: int = dpboost.Params.trees
    trees_per_ensemble: int = dpboost.Params.trees_per_ensemble
    depth: int = dpboost.Params.depth
    regularisation: float = dpboost.Params.regularisation
    shrinkage: float = dpboost.Params.shrinkage
    gradient_bound: float = dpboost.Params.gradient_bound
    scheme: Literal["dpboost", "np", "para", "seq"] = dpboost.Params.scheme
    candidates: Literal["uniform", "log", "data"] | None = None
    bins: int = dpboost.Params.bins
    gradients: Literal["filter", "clip"] = dpboost.Params.gradients
    noise: Literal["floating", "discrete"] = dpboost.Params.noise
    constants: Literal["proved", "published"] | None = None
    leaf_budget: Literal["half", "level"] | None = None
    clip_position: Literal["ensemble", "global"] | None = None
    blocks: Literal["independent", "sizes"] | None = None


@constructed
class InPrivateSettings:
    """Those of InPrivate Digging. owners: how many the records are dealt to, or the names of those in `groups`."""

    owners: int | Sequence[Any] = inprivate.Params.owners
    rounds: int = inprivate.Params.rounds
    depth: int = inprivate.Params.depth
    split_share: float = inprivate.Params.split_share
    residual_bound: float = inprivate.Params.residual_bound
    leaf_bound: float = inprivate.Params.leaf_bound
    damping: float = inprivate.Params.damping
    shrinkage: float | None = None
    scheme: Literal["inprivate", "np"] = inprivate.Params.scheme
    candidates: Literal["uniform", "log", "triples"] | None = None
    bins: int = inprivate.Params.bins
    noise: Literal["floating", "discrete"] = inprivate.Params.noise
    constants: Literal["proved", "published"] | None = None
    level_budget: Literal["share", "whole"] | None = None
    halves: Literal["independent", "sizes"] | None = None


@constructed
class DPXGBoostSettings:
    """Those of DP-XGBoost. absent: what a scipy sparse X means by entries that it does not hold: "zero" as scipy, or
    "missing" as xgboost."""

    absent: Literal["zero", "missing"] = "zero"
    delta: float = dpxgboost.Params.delta
    trees: int = dpxgboost.Params.trees
    depth: int = dpxgboost.Params.depth
    regularisation: float = dpxgboost.Params.regularisation
    shrinkage: float = dpxgboost.Params.shrinkage
    gradient_bound: float = dpxgboost.Params.gradient_bound
    loss: Literal["square", "log"] = dpxgboost.Params.loss
    gain: Literal["newton", "count"] = dpxgboost.Params.gain
    ratio_bound: float = dpxgboost.Params.ratio_bound
    gradients: Literal["filter", "clip"] = dpxgboost.Params.gradients
    candidates: Literal["sketch", "quantiles", "uniform"] = dpxgboost.Params.candidates
    bins: int = dpxgboost.Params.bins
    sketch_bins: int = dpxgboost.Params.sketch_bins
    sketch_per: Literal["tree", "run"] = dpxgboost.Params.sketch_per
    missing: Literal["learned", "left"] = dpxgboost.Params.missing
    leaf: Literal["laplace", "minimum", "average"] = dpxgboost.Params.leaf
    child_minimum: int = dpxgboost.Params.child_minimum
    count_weight: float = dpxgboost.Params.count_weight
    stopping: Literal["never", "noisy"] = dpxgboost.Params.stopping
    subsample: float = dpxgboost.Params.subsample
    columns: float = dpxgboost.Params.columns
    sketch_part: float = dpxgboost.Params.sketch_part
    split_part: float = dpxgboost.Params.split_part
    leaf_part: float = dpxgboost.Params.leaf_part
    count_part: float = dpxgboost.Params.count_part
    level_growth: float = dpxgboost.Params.level_growth
    tree_growth: float = dpxgboost.Params.tree_growth
    sampler: Literal["racing", "gumbel"] = dpxgboost.Params.sampler
    noise: Literal["floating", "discrete"] = dpxgboost.Params.noise
    constants: Literal["proved", "published"] | None = None
    exponent: Literal["half", "whole"] = "half"
    sampling: Literal["matching", "without-replacement"] | None = None


@constructed
class FedGBDTSettings:
    """Those of the federated framework."""

    delta: float = fedgbdt.Params.delta
    trees: int = fedgbdt.Params.trees
    depth: int = fedgbdt.Params.depth
    regularisation: float = fedgbdt.Params.regularisation
    shrinkage: float = fedgbdt.Params.shrinkage
    leaf_clip: float = fedgbdt.Params.leaf_clip
    split_penalty: float = fedgbdt.Params.split_penalty
    bins: int = fedgbdt.Params.bins
    splits: Literal["histogram", "partially-random", "totally-random"] = fedgbdt.Params.splits
    update: Literal["averaging", "gradient", "newton"] = fedgbdt.Params.update
    candidates: Literal["uniform", "log", "quantiles", "iterative-hessian"] = fedgbdt.Params.candidates
    rounds: int = fedgbdt.Params.rounds
    features_per_tree: int | None = fedgbdt.Params.features_per_tree
    interactions: Literal["cyclic", "random"] = fedgbdt.Params.interactions
    trees_per_feature: bool = fedgbdt.Params.trees_per_feature
    rounds_per_feature: bool = fedgbdt.Params.rounds_per_feature
    batch: int = fedgbdt.Params.batch
    batch_share: float | None = fedgbdt.Params.batch_share
    gradient_bound: float = fedgbdt.Params.gradient_bound
    accounting: Literal["exact", "renyi"] | None = None
    noise: Literal["floating", "discrete"] = fedgbdt.Params.noise
    noise_by: Literal["aggregator", "record"] = fedgbdt.Params.noise_by
    records_each: int = fedgbdt.Params.records_each
    sensitivities: Literal["joint", "by-round", "published"] | None = None
    grid: Literal["inside", "published"] | None = None
    one_vs_rest: Literal["divided", "published"] | None = None
    local: Literal["vector", "index"] | None = None
    no_privacy: bool = False


@constructed
class SGBDTSettings:
    """Those of S-GBDT."""

    delta: float = sgbdt.Params.delta
    trees: int = sgbdt.Params.trees
    extra_trees: int = sgbdt.Params.extra_trees
    depth: int = sgbdt.Params.depth
    shrinkage: float = sgbdt.Params.shrinkage
    regularisation: float = sgbdt.Params.regularisation
    gradient_bound: float = sgbdt.Params.gradient_bound
    hessian_bound: float = sgbdt.Params.hessian_bound
    leaf_clip: float = sgbdt.Params.leaf_clip
    subsample: float = sgbdt.Params.subsample
    support_weight: float = sgbdt.Params.support_weight
    initial_share: float = sgbdt.Params.initial_share
    count_share: float = sgbdt.Params.count_share
    label_bound: float = sgbdt.Params.label_bound
    features: Literal["uniform", "cyclic"] = sgbdt.Params.features
    values: Literal["uniform", "grid"] = sgbdt.Params.values
    grid_points: int = sgbdt.Params.grid_points
    noise: Literal["floating", "discrete"] = sgbdt.Params.noise
    support: Literal["additive", "max"] | None = None
    weights: Literal["relative", "slides", "printed"] | None = None
    orders: Literal["one", "joint"] = sgbdt.Params.orders


# --- Names of other libraries -----------------------------------------------------------------------------------------

_ELSEWHERE: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("n_estimators", "num_boost_round", "num_trees", "n_trees", "max_iter", "iterations", "boosting_rounds"),
     ("trees", "rounds")),
    (("max_depth", "max_leaf_nodes", "num_leaves", "max_leaves", "tree_depth"), ("depth",)),
    (("learning_rate", "eta"), ("shrinkage",)),
    (("reg_lambda", "lambda_", "lambda_l2", "l2_regularization", "l2_leaf_reg", "regularization"), ("regularisation",)),
    (("max_bin", "max_bins", "n_bins"), ("bins", "grid_points")),
    (("subsample_rate", "bagging_fraction", "sample_rate", "subsample"), ("subsample", "batch_share")),
    (("colsample_bytree", "feature_fraction", "max_features"), ("columns", "features_per_tree")),
    (("min_samples_leaf", "min_child_samples", "min_data_in_leaf", "min_child_weight"), ("child_minimum",)),
    (("objective", "criterion"), ("loss",)),
    (("privacy_budget", "eps", "total_budget"), ("epsilon",)),
    (("feature_bounds", "privacy_bounds", "feature_types", "categorical_features"), ("bounds",)),
    (("random_state", "seed", "random_seed"), ("insecure_seed",)),
)  # fmt: skip
"""What other libraries call a parameter, and what it may be called here: the first name that an estimator has."""


def explained(name: str, estimator: str, known: Collection[str]) -> str:
    """Why there is no parameter of that name, and which one to give instead."""
    meant = next((ours for theirs, ours in _ELSEWHERE if name in theirs), ())
    here = [ours for ours in meant if ours in known] or difflib.get_close_matches(name.lower(), known, 1)
    text = f"{estimator} has no parameter {name!r}: "
    if here == ["insecure_seed"]:
        return text + (
            "noise comes from the operating system's entropy; experiments that have to be repeatable give "
            "insecure_seed=refdp.ReproducibleSeed(number)"
        )
    return text + (f"give {here[0]!r}" if here else f"there are {', '.join(sorted(known))}")


def check_given(estimator: str, given: Collection[str], known: Collection[str]) -> None:
    """Errors: InvalidParameter for a name of another library; other unknown names are scikit-learn's to refuse."""
    for name in given:
        if name not in known and any(name in theirs for theirs, _ in _ELSEWHERE):
            raise InvalidParameter(explained(name, estimator, known))
