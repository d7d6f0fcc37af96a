"""The settings of DP-XGBoost (Grislain and Gonzalvez 2021), and how a run's budget is divided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, repeat
from operator import mul
from typing import Any, Literal

from refdp import portable
from refdp.checks import check_choices, check_count, check_number
from refdp.errors import InvalidParameter
from refdp.events import Relation
from refdp.losses import GRID, LARGEST, WIDEST
from refdp.records import Categorical, Interval, Numeric, Schema


@dataclass(frozen=True)
class Params:
    """All parameters of a run. They are public.

    epsilon: total privacy budget; delta: 0 for basic composition as in the paper, or > 0, so that the tightest of the
      accountants (bounded range, Rényi, privacy loss distributions) gives every release more. relation: the neighbours.
    trees, depth: K, h. regularisation: lambda > 0. shrinkage: learning rate. gradient_bound: g_l*.
    loss: "square" on labels in [-1, 1], also for classes; or "log" for classes.
    gain: "newton", G^2/(H + lambda); or "count", G^2/(n + lambda). For square loss H = n. ratio_bound: B, for Newton
      gains of the log loss g is cut to [-B h, B h].
    gradients: "filter" leaves out records of |g| > g_l*; "clip" moves g to the bound, at the same cost.
    candidates: "sketch", weighted quantiles of a noisy histogram of `sketch_bins` bins of equal width; "quantiles", by
      the exponential mechanism, halving every interval of bins recursively; "uniform": public, at no cost.
    bins: at most so many candidates a feature. sketch_per: a sketch for every "tree", or one for the "run".
    missing: "learned", a split's default direction is part of the choice; "left", missing values always go left.
    leaf: "laplace" noise on -G/(n + lambda), with a "minimum" of child_minimum records (Eq. 7), or a noisy "average"
      (Algorithm 1), whose denominator is never below child_minimum. count_weight: what one record changes the released
      count by, over what it changes the sum by. stopping: "never", or "noisy": a node is not split further if the noisy
      count of a child is below child_minimum; the counts are charged.
    subsample: share of the records that each tree sees. columns: share of the features, drawn publicly for each tree.
    sketch_part, split_part, leaf_part, count_part: what a tree's budget is divided by, in proportion; parts that
      release nothing get nothing. level_growth, tree_growth: the budget of each level or tree over that of the one
      before. sampler: of the exponential mechanism, "racing" (section 4.2) or "gumbel"; the same distribution.
    noise: "discrete", exact samplers on a public grid; or "floating", which risks that the last bits of what is
      released tell more than epsilon (Mironov 2012).

    Where the paper contradicts itself or the guarantee, one reading has to be chosen:
    constants: "proved" (the ledger's, with leaf values padded to the minimum, or from noisy sums and counts), or
      "published" (Eq. 5 to 7 and Algorithm 1 as printed, the minimum decided on exact counts).
    exponent: of published split selection, "half", epsilon u / (2 Delta u) (section 4.2), or "whole" (section 2).
    sampling: "matching", Poisson for add-remove and without replacement for replace-one; or "without-replacement".
    """

    epsilon: float
    relation: Relation
    delta: float = 0.0
    trees: int = 20
    depth: int = 6
    regularisation: float = 0.1
    shrinkage: float = 0.3
    gradient_bound: float = 1.0
    loss: Literal["square", "log"] = "square"
    gain: Literal["newton", "count"] = "newton"
    ratio_bound: float = 2.0
    gradients: Literal["filter", "clip"] = "filter"
    candidates: Literal["sketch", "quantiles", "uniform"] = "sketch"
    bins: int = 32
    sketch_bins: int = 64
    sketch_per: Literal["tree", "run"] = "tree"
    missing: Literal["learned", "left"] = "learned"
    leaf: Literal["laplace", "minimum", "average"] = "minimum"
    child_minimum: int = 50
    count_weight: float = 0.5
    stopping: Literal["never", "noisy"] = "never"
    subsample: float = 0.1
    columns: float = 1.0
    sketch_part: float = 1.0
    split_part: float = 1.0
    leaf_part: float = 1.0
    count_part: float = 1.0
    level_growth: float = 1.0
    tree_growth: float = 1.0
    sampler: Literal["racing", "gumbel"] = "racing"
    noise: Literal["floating", "discrete"] = "floating"
    constants: Literal["proved", "published"] = "proved"
    exponent: Literal["half", "whole"] = "half"
    sampling: Literal["matching", "without-replacement"] = "matching"

    def __post_init__(self) -> None:
        check_choices(self)
        check_number("epsilon", self.epsilon, above=0)
        check_number("delta", self.delta, least=0, below=1)
        for name, least, most in (("trees", 1, 100_000), ("depth", 1, 12), ("bins", 1, 254), ("sketch_bins", 2, 255)):
            check_count(name, getattr(self, name), least=least, most=most)
        check_count("child_minimum", self.child_minimum, most=1_000_000_000)
        check_number("regularisation", self.regularisation, least=GRID)
        check_number("shrinkage", self.shrinkage, above=0, most=WIDEST)
        for name in ("level_growth", "tree_growth"):
            check_number(name, getattr(self, name), above=0)
        for name in ("sketch_part", "split_part", "leaf_part", "count_part", "count_weight"):
            check_number(name, getattr(self, name), above=0)
        for name in ("subsample", "columns"):
            check_number(name, getattr(self, name), above=0, most=1)
        check_number("gradient_bound", self.gradient_bound, above=GRID, most=LARGEST)
        check_number("ratio_bound", self.ratio_bound, above=GRID)


AS_PUBLISHED: Mapping[str, Any] = {"constants": "published", "sampling": "without-replacement"}
"""The readings that the paper prints, as keyword arguments of Params."""


# --- What the settings amount to for given features -------------------------------------------------------------------


def check_loss(params: Params, schema: Schema) -> None:
    """Errors: InvalidParameter for the log loss of a regression."""
    if params.loss == "log" and isinstance(schema.target, Interval):
        raise InvalidParameter("loss = 'log': it is about classes, a regression needs 'square'")


def sketched(schema: Schema) -> list[int]:
    """The numeric features that can be split at all. Categories are all candidates and need no sketch."""
    return [f for f, one in enumerate(schema.features) if isinstance(one, Numeric) and one.low < one.high]


def drawn(params: Params, features: int) -> int:
    """How many of so many features of one kind each tree sees: the rounded share, at least one."""
    return min(features, max(1, round(params.columns * features)))


def sketch_size(params: Params, schema: Schema) -> int:
    """m, the number of features that one sketch is about; a sketch for the run is about all."""
    numeric = len(sketched(schema))
    return drawn(params, numeric) if params.sketch_per == "tree" else numeric


def categorical(schema: Schema) -> list[int]:
    """The categorical features."""
    return [f for f, one in enumerate(schema.features) if isinstance(one, Categorical)]


# --- Budget -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeBudget:
    """epsilon of what one tree releases: its sketch, the splits and the child counts of every level, its leaves."""

    sketch: float
    splits: tuple[float, ...]
    counts: tuple[float, ...]
    leaves: float


@dataclass(frozen=True)
class Budget:
    """epsilon of a score's sketch for the whole run (0 for none), and of every tree on its sampled records."""

    sketch: float
    trees: tuple[TreeBudget, ...]


def budget_of(params: Params, schema: Schema, total: float) -> Budget:
    """The division of `total`, the sum of epsilons of all scores by basic composition (section 4.4).

    By default a third for the sketch, a third over the levels, a third for the leaves. A tree on a share gamma of the
    records may cost more, log(1 + (e^epsilon - 1)/gamma) (dpxgboost/subsampling-calibration).
    """
    parts = _parts(params, schema)
    whole = sum(parts.values())
    score = total / schema.scores
    once = score * parts.pop("sketch") / whole if params.sketch_per == "run" else 0.0
    shares = _geometric(params.tree_growth, params.trees)
    trees = [before_sampling((score - once) * share, params.subsample) for share in shares]
    return Budget(once, tuple(_tree_budget(params, parts, epsilon) for epsilon in trees))


def before_sampling(epsilon: float, rate: float) -> float:
    """log(1 + (e^epsilon - 1)/rate): the logarithm of `unamplified_odds`, without cancellation or overflow."""
    if epsilon >= 500:
        return float(epsilon - portable.log(rate))
    return float(portable.log1p(portable.expm1(epsilon) / rate))


def _parts(params: Params, schema: Schema) -> dict[str, float]:
    asked = params.candidates != "uniform" and bool(sketched(schema))
    return {
        "sketch": params.sketch_part if asked else 0.0,
        "splits": params.split_part,
        "counts": params.count_part if params.stopping == "noisy" else 0.0,
        "leaves": params.leaf_part,
    }


def _tree_budget(params: Params, parts: Mapping[str, float], epsilon: float) -> TreeBudget:
    unit = epsilon / sum(parts.values())
    levels = _geometric(params.level_growth, params.depth)
    splits = tuple(unit * parts["splits"] * share for share in levels)
    counts = tuple(unit * parts["counts"] / params.depth for _ in levels) if parts["counts"] else ()
    return TreeBudget(unit * parts.get("sketch", 0.0), splits, counts, unit * parts["leaves"])


def _geometric(growth: float, count: int) -> list[float]:
    """Shares of sum 1, each `growth` times the one before."""
    weights = list(accumulate(repeat(growth, count - 1), mul, initial=1.0))  # products are the same on every machine
    whole = sum(weights)
    return [weight / whole for weight in weights]
