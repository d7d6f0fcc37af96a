"""The components of the federated framework (Maddock et al. 2022) as settings, and the paper's methods by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from refdp.checks import check_choices, check_count, check_number
from refdp.errors import InvalidParameter
from refdp.events import Relation
from refdp.losses import GRID, LARGEST, WIDEST
from refdp.records import Schema


@dataclass(frozen=True)
class Params:
    """All parameters of a run. They are public.

    epsilon, delta: total privacy budget; the experiments take delta = 1/n, n public. relation: the neighbours.
    trees, depth: T, d. regularisation: lambda. shrinkage: eta. leaf_clip: beta. split_penalty: gamma. bins: Q.
    splits: C1. update: C2; "averaging" builds a random forest. candidates: C3; "quantiles" are read off the records and
      refuse to run unless no_privacy is True. rounds: s of "iterative-hessian", at most T count.
    features_per_tree: k (A1), all features if not given, taken in turn ("cyclic") or at random.
    trees_per_feature, rounds_per_feature: T trees, s rounds for every feature, T m and s m in all.
    batch: B (A2), at most T count; batch_share: p, for B = p T instead.
    gradient_bound: c, gradients of a regression on labels in [-1, 1] are clipped to it.
    accounting: the noise follows from "exact" Gaussian composition, or from "renyi" as in the paper; discrete noise
      always from "renyi".
    noise: "discrete", exact samplers on a public grid; or "floating", which risks that the last bits of what is
      released tell more than epsilon (Mironov 2012).
    noise_by: "aggregator", a trusted one or shares that add up to it (refdp/federation.py); or "record": the local
      model, every record adds the whole noise to its own (g, h); totally random trees and replace-one only.
    records_each: r, at most so many records a participant has; neighbours then differ in all records of one of them.

    sensitivities: "joint", the ledger's for (g, h) together; "by-round", smaller where few updates have moved the
      scores; "published", the bounds of g and h taken separately.
    grid: uniform candidates strictly "inside" the bounds, or "published", where the first and last separate nothing.
    one_vs_rest: the budget of each of K models is (epsilon/K, delta/K), "divided"; or "published",
      (epsilon/K, delta).
    local: what a record sends in the local model: its leaf's entry of a "vector", or its leaf's "index" and (g, h).
    """

    epsilon: float
    relation: Relation
    delta: float = 1e-5
    trees: int = 100
    depth: int = 4
    regularisation: float = 1.0
    shrinkage: float = 0.3
    leaf_clip: float = 2.0
    split_penalty: float = 1e-7
    bins: int = 32
    splits: Literal["histogram", "partially-random", "totally-random"] = "totally-random"
    update: Literal["averaging", "gradient", "newton"] = "newton"
    candidates: Literal["uniform", "log", "quantiles", "iterative-hessian"] = "uniform"
    rounds: int = 5
    features_per_tree: int | None = None
    interactions: Literal["cyclic", "random"] = "cyclic"
    trees_per_feature: bool = False
    rounds_per_feature: bool = False
    batch: int = 1
    batch_share: float | None = None
    gradient_bound: float = 1.0
    accounting: Literal["exact", "renyi"] = "exact"
    noise: Literal["floating", "discrete"] = "floating"
    noise_by: Literal["aggregator", "record"] = "aggregator"
    records_each: int = 1
    sensitivities: Literal["joint", "by-round", "published"] = "joint"
    grid: Literal["inside", "published"] = "inside"
    one_vs_rest: Literal["divided", "published"] = "divided"
    local: Literal["vector", "index"] = "vector"
    no_privacy: bool = False

    def __post_init__(self) -> None:
        check_choices(self)
        check_number("epsilon", self.epsilon, above=0)
        check_number("delta", self.delta, above=0, below=1)
        check_count("depth", self.depth, most=12)
        check_count("bins", self.bins, least=2 if self.grid == "published" else 1, most=60_000)
        for name in ("trees", "rounds", "batch", "records_each"):
            check_count(name, getattr(self, name))
        check_number("regularisation", self.regularisation, above=0)
        for name in ("shrinkage", "leaf_clip"):
            check_number(name, getattr(self, name), above=0, most=WIDEST)
        check_number("split_penalty", self.split_penalty, least=0)
        check_number("gradient_bound", self.gradient_bound, above=GRID, most=LARGEST)
        if self.features_per_tree is not None:
            check_count("features_per_tree", self.features_per_tree)
        if self.batch_share is not None:
            check_number("batch_share", self.batch_share, above=0, most=1)
        self._check_quantiles()
        self._check_local()

    def _check_quantiles(self) -> None:
        if self.candidates == "quantiles" and not self.no_privacy:
            raise InvalidParameter(
                "candidates = 'quantiles' are values of the records, which a model then reveals (fedgbdt/table-1-"
                "quantiles): no privacy guarantee holds; no_privacy=True says that this is meant"
            )

    def _check_local(self) -> None:
        if self.noise_by != "record":
            return
        for name, needed in (("splits", "totally-random"), ("relation", Relation.REPLACE_ONE)):
            if getattr(self, name) != needed:
                raise InvalidParameter(
                    f"{name} = {getattr(self, name)!r} with noise_by = 'record': {needed!r} is needed, as every record "
                    "answers one query a tree and how many there are is known"
                )
        if self.candidates == "iterative-hessian":
            raise InvalidParameter("candidates = 'iterative-hessian' with noise_by = 'record': public ones are needed")


AS_PUBLISHED: Mapping[str, Any] = {
    "sensitivities": "published",
    "accounting": "renyi",
    "grid": "published",
    "one_vs_rest": "published",
    "local": "index",
}
"""The readings that the paper prints, as keyword arguments of Params."""

_RANDOM: Mapping[str, Any] = {"splits": "totally-random", "update": "newton", "candidates": "uniform"}
_IH: Mapping[str, Any] = {**_RANDOM, "candidates": "iterative-hessian", "rounds": 5}
_EBM: Mapping[str, Any] = {"features_per_tree": 1, "interactions": "cyclic"}
_IH_EBM: Mapping[str, Any] = {**_IH, **_EBM}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "FEVERLESS": {"splits": "histogram", "update": "newton", "candidates": "uniform"},
    "DP-GBM": {"splits": "histogram", "update": "gradient", "candidates": "uniform"},
    "DP-EBM": {**_RANDOM, **_EBM, "update": "gradient", "trees_per_feature": True},
    "DP-EBM Newton": {**_RANDOM, **_EBM},
    "DP-RF": {**_RANDOM, "update": "averaging", "batch_share": 1.0},
    "DP-TR Newton": _RANDOM,
    "DP-TR Newton IH": _IH,
    "DP-TR Newton IH EBM": _IH_EBM,
    "DP-TR Batch Newton IH EBM (p=0.25)": {**_IH_EBM, "batch_share": 0.25},
    "DP-TR Batch Newton IH EBM (p=1)": {**_IH_EBM, "batch_share": 1.0},
    "LDP": {**_RANDOM, "noise_by": "record"},
}
"""The methods of Tables 2 and 7 and Section 5.3, as keyword arguments of Params."""


# --- What the settings amount to for given features -------------------------------------------------------------------


def chosen_features(params: Params, schema: Schema) -> int:
    """k. Errors: InvalidParameter if it is more than there are features."""
    features = len(schema.features)
    if params.features_per_tree is None:
        return features
    if params.features_per_tree > features:
        raise InvalidParameter(f"features_per_tree = {params.features_per_tree}: the data have {features} features")
    return params.features_per_tree


def all_trees(params: Params, schema: Schema) -> int:
    """T, or T m."""
    return params.trees * (len(schema.features) if params.trees_per_feature else 1)


def all_rounds(params: Params, schema: Schema) -> int:
    """s, or s m, at most the number of trees; 0 without iterative Hessian."""
    if params.candidates != "iterative-hessian":
        return 0
    rounds = params.rounds * (len(schema.features) if params.rounds_per_feature else 1)
    return min(rounds, all_trees(params, schema))


def batches(params: Params, schema: Schema) -> list[range]:
    """The trees t = 1, 2, ... of every batch; the last one may be smaller."""
    trees = all_trees(params, schema)
    size = params.batch if params.batch_share is None else max(1, int(params.batch_share * trees))
    return [range(first, min(first + size, trees + 1)) for first in range(1, trees + 1, size)]
