"""Constructor parameters of the estimators, by paper: the fields of its `Params` with their defaults.

Epsilon and the neighbouring relation are in the base. Readings, where a paper's own choice differs from that of its
repair, default to None and follow `as_published`.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast, dataclass_transform

from refdp.errors import InvalidParameter
from refdp.own import grove
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt

_T = TypeVar("_T")
_Fit = TypeVar("_Fit", bound=Callable[..., Any])


@dataclass_transform(kw_only_default=True, eq_default=False)
def constructed(kind: type[_T]) -> type[_T]:
    """A class with a constructor of keywords, one a field, as scikit-learn has it: it keeps what it is given."""
    return dataclass(kw_only=True, eq=False, repr=False)(kind)


@constructed
class DPBoostSettings:
    """Those of DPBoost. delta: 0 for the paper's pure guarantee; more, and every release gets more of epsilon."""

    trees: int | None = None
    trees_per_ensemble: int | None = None
    depth: int | None = None
    regularisation: float | None = None
    shrinkage: float | None = None
    gradient_bound: float | None = None
    scheme: Literal["dpboost", "np", "para", "seq"] = dpboost.Params.scheme
    candidates: Literal["uniform", "log", "data"] | None = None
    bins: int | None = None
    gradients: Literal["filter", "clip"] | None = None
    noise: Literal["floating", "discrete"] = dpboost.Params.noise
    constants: Literal["proved", "published"] | None = None
    leaf_budget: Literal["half", "level"] | None = None
    clip_position: Literal["ensemble", "global"] | None = None
    blocks: Literal["independent", "sizes"] | None = None
    delta: float = 0.0


@constructed
class InPrivateSettings:
    """Those of InPrivate Digging. owners: how many the records are dealt to, or the names of those in `groups`."""

    owners: int | Sequence[Any] = inprivate.Params.owners
    rounds: int | None = None
    depth: int | None = None
    split_share: float | None = None
    turn_budget: Literal["whole", "amplified"] | None = None
    residual_bound: float | None = None
    leaf_bound: float | None = None
    damping: float | None = None
    shrinkage: float | None = None
    scheme: Literal["inprivate", "np"] = inprivate.Params.scheme
    candidates: Literal["uniform", "log", "triples"] | None = None
    bins: int | None = None
    noise: Literal["floating", "discrete"] = inprivate.Params.noise
    constants: Literal["proved", "published"] | None = None
    level_budget: Literal["share", "whole"] | None = None
    halves: Literal["independent", "sizes"] | None = None


@constructed
class DPXGBoostSettings:
    """Those of DP-XGBoost. absent: what a scipy sparse X means by entries that it does not hold: "zero" as scipy, or
    "missing" as xgboost."""

    absent: Literal["zero", "missing"] = "zero"
    delta: float | None = None
    trees: int | None = None
    depth: int | None = None
    regularisation: float | None = None
    shrinkage: float | None = None
    gradient_bound: float | None = None
    loss: Literal["square", "log"] = dpxgboost.Params.loss
    gain: Literal["newton", "count"] | None = None
    ratio_bound: float = dpxgboost.Params.ratio_bound
    gradients: Literal["filter", "clip"] | None = None
    candidates: Literal["sketch", "quantiles", "uniform"] | None = None
    bins: int | None = None
    sketch_bins: int = dpxgboost.Params.sketch_bins
    sketch_per: Literal["tree", "run"] = dpxgboost.Params.sketch_per
    missing: Literal["learned", "left"] = dpxgboost.Params.missing
    leaf: Literal["laplace", "minimum", "average"] | None = None
    child_minimum: int | None = None
    count_weight: float = dpxgboost.Params.count_weight
    stopping: Literal["never", "noisy"] = dpxgboost.Params.stopping
    subsample: float | None = None
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

    delta: float | None = None
    trees: int | None = None
    depth: int | None = None
    regularisation: float | None = None
    shrinkage: float | None = None
    leaf_clip: float | None = None
    split_penalty: float = fedgbdt.Params.split_penalty
    bins: int = fedgbdt.Params.bins
    splits: Literal["histogram", "partially-random", "totally-random"] = fedgbdt.Params.splits
    update: Literal["averaging", "gradient", "newton"] = fedgbdt.Params.update
    candidates: Literal["uniform", "log", "quantiles", "iterative-hessian"] | None = None
    rounds: int | None = None
    features_per_tree: int | None = None
    interactions: Literal["cyclic", "random"] = fedgbdt.Params.interactions
    trees_per_feature: bool = fedgbdt.Params.trees_per_feature
    rounds_per_feature: bool = fedgbdt.Params.rounds_per_feature
    batch: int = fedgbdt.Params.batch
    batch_share: float | None = fedgbdt.Params.batch_share
    gradient_bound: float | None = None
    accounting: Literal["exact", "renyi"] | None = None
    noise: Literal["floating", "discrete"] = fedgbdt.Params.noise
    noise_by: Literal["aggregator", "record"] = fedgbdt.Params.noise_by
    records_each: int = fedgbdt.Params.records_each
    sensitivities: Literal["joint", "by-round", "published"] | None = None
    grid: Literal["inside", "published"] | None = None
    one_vs_rest: Literal["divided", "together", "published"] | None = None
    local: Literal["vector", "index"] | None = None
    no_privacy: bool = False


@constructed
class SGBDTSettings:
    """Those of S-GBDT."""

    delta: float | None = None
    trees: int | None = None
    extra_trees: int = sgbdt.Params.extra_trees
    depth: int | None = None
    shrinkage: float | None = None
    regularisation: float | None = None
    gradient_bound: float | None = None
    hessian_bound: float = sgbdt.Params.hessian_bound
    leaf_clip: float = sgbdt.Params.leaf_clip
    subsample: float | None = None
    support_weight: float | None = None
    initial_share: float | None = None
    count_share: float = sgbdt.Params.count_share
    label_bound: float = sgbdt.Params.label_bound
    features: Literal["uniform", "cyclic"] = sgbdt.Params.features
    values: Literal["uniform", "grid"] = sgbdt.Params.values
    grid_points: int = sgbdt.Params.grid_points
    noise: Literal["floating", "discrete"] = sgbdt.Params.noise
    support: Literal["additive", "max"] | None = None
    weights: Literal["relative", "slides", "printed"] | None = None
    orders: Literal["one", "joint", "shared"] | None = None


@constructed
class GroveSettings:
    """Those of Grove; what is None follows `rows`."""

    delta: float | None = None
    trees: int | None = None
    depth: int | None = None
    shrinkage: float = grove.Params.shrinkage
    bins: int = grove.Params.bins
    hessian_weight: float | None = None
    threshold_share: float = grove.Params.threshold_share
    start_share: float | None = None
    feature_share: float | None = None
    explore: float = grove.Params.explore
    residual: float | None = None
    score_noise: float | None = None
    noise: Literal["floating", "discrete"] = grove.Params.noise


# --- Names of other libraries -----------------------------------------------------------------------------------------

_WEIGHTS = ("class_weight", "class_weights", "scale_pos_weight", "is_unbalance", "auto_class_weights")
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
    (("bounds_y", "y_bounds", "label_range", "target_bounds", "target_range"), ("label_bounds",)),
    (("monotonic_cst", "monotone_cst", "monotonic_constraints"), ("monotone_constraints",)),
    (("random_state", "seed", "random_seed"), ("insecure_seed",)),
    (_WEIGHTS, ("class_weight",)),
)  # fmt: skip
"""What other libraries call a parameter, and what it may be called here: the first name that an estimator has."""


def explained(name: str, estimator: str, known: Collection[str]) -> str:
    """Why there is no parameter of that name, and which one to give instead."""
    meant = next((ours for theirs, ours in _ELSEWHERE if name in theirs), ())
    here = [ours for ours in meant if ours in known] or difflib.get_close_matches(name.lower(), known, 1)
    text = f"{estimator} has no parameter {name!r}: "
    if name in _WEIGHTS and here != ["class_weight"]:
        return text + "classes are weighed by GroveClassifier and SGBDTClassifier alone (class_weight)"
    if here == ["insecure_seed"]:
        return text + (
            "noise comes from the operating system's entropy; experiments that have to be repeatable give "
            "insecure_seed=refdp.ReproducibleSeed(number)"
        )
    return text + (f"give {here[0]!r}" if here else f"there are {', '.join(sorted(known))}")


def unweighed(fit: _Fit) -> _Fit:
    """A `fit` with the same signature. Errors: TypeError for `sample_weight`, which says which estimators take it."""

    @functools.wraps(fit)
    def checked(self: Any, *given: Any, **named: Any) -> Any:
        if "sample_weight" in named:
            raise TypeError(
                f"{type(self).__name__}.fit has no argument 'sample_weight': records are weighed by Grove's and "
                "S-GBDT's estimators alone"
            )
        return fit(self, *given, **named)

    return cast(_Fit, checked)


def check_given(estimator: str, given: Collection[str], known: Collection[str]) -> None:
    """Errors: InvalidParameter for a name of another library; other unknown names are scikit-learn's to refuse."""
    for name in given:
        if name not in known and any(name in theirs for theirs, _ in _ELSEWHERE):
            raise InvalidParameter(explained(name, estimator, known))
