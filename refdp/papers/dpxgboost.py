"""DP-XGBoost: Grislain and Gonzalvez. Private Machine Learning at Scale. 2021.

Boosted trees whose split candidates come from noisy sketches, whose splits are chosen by the exponential mechanism, and
whose leaves have Laplace noise; every tree on a secret sample of the records.

| symbol | in the code | what it is, unit | where |
|---|---|---|---|
| K, h | trees, depth | number of trees, levels of splits | sections 3, 4.4 |
| g_i, h_i | statistics "g", "h" | derivatives of the loss at the score; h_i = 1 for square loss | Eq. 2 |
| g* | gradient_bound, largest_gradient | bound of the size of g_i of the records that are used | section 4 |
| h* | largest_hessian | bound of h_i: 1 for square loss, 1/4 for log loss | (refdp) |
| lambda | regularisation | added to a leaf's number of records | Eq. 2 |
| I_L, I_R, G | left, right, gain | sums to the sides of a split, and what they are worth | after Eq. 3 |
| V | leaf_value | value of a leaf, in units of the score | Eq. 4 |
| N_min | child_minimum | records that a leaf value counts on at least | section 4.3, Eq. 7 |
| m | sketch_size | numeric features of one sketch | section 4.4 |
| gamma | subsample | share of the records that each tree sees | section 4.4 |
| eps_sketch, ... | TreeBudget | what each release of a tree costs on its sample | section 4.4 |
| B | ratio_bound | bound of g_i / h_i for Newton gains of the log loss | (refdp) |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from refdp.accounting.calibration import calibrate_total
from refdp.checks import check_choices, check_count, check_epsilon, check_number
from refdp.data import candidates as grids
from refdp.data.candidates import Candidates
from refdp.data.losses import GRID, LARGEST, WIDEST, grid_floor, on_grid, sigmoid, square_gradient
from refdp.data.memory import Memory
from refdp.data.numbers import Number, added, maximum, minimum, rounded_up
from refdp.data.population import (
    COUNT,
    Advance,
    Begin,
    Bins,
    Descend,
    Encode,
    Histogram,
    Nodes,
    Place,
    Population,
    Refresh,
    Root,
    Sides,
    Statistics,
    values,
)  # fmt: skip
from refdp.data.reading import plan_of
from refdp.data.records import Ensemble, Floats, Interval, Model, Schema, Tree
from refdp.data.sketch import Positions, halved, median_range, median_utilities, quantile_edges, quantile_levels
from refdp.data.sparse import AnyRecords
from refdp.errors import InvalidParameter
from refdp.ledger.certificate import Certificate, Guarantee, issue
from refdp.noise.calibration import before_sampling, geometric, laplace_charge
from refdp.noise.mechanisms import Exponential
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Norm, Plan, Relation, Sensitivity, records_changed

PAPER = "Grislain, Gonzalvez: DP-XGBoost: Private Machine Learning at Scale (2021, arXiv 2110.12770)"
Ways = list[tuple[Floats, Floats]]
"""Sums to the left and right of every option, (statistic, node, option): missing values left, then right if learned."""


# --- Formulas, generic over numbers -----------------------------------------------------------------------------------


def log_gradient_at(probability: Number, label: Number) -> Number:
    """g = p - y of the log loss with labels 0 and 1, p the predicted probability; |g| < 1."""
    return probability - label


def log_hessian_at(probability: Number) -> Number:
    """h = p (1 - p) of the log loss, in (0, 1/4]."""
    return probability * (1 - probability)


def clip_ratio(gradient: Number, hessian: Number, ratio_bound: Number) -> Number:
    """g cut to [-B h, B h]: a function of the record alone that makes the Newton gain's sensitivity finite."""
    return maximum(-ratio_bound * hessian, minimum(ratio_bound * hessian, gradient))


def child_gain(gradient_sum: Number, hessian_sum: Number, regularisation: Number) -> Number:
    """G^2 / (H + λ), twice what one leaf takes off the objective (Eq. 3). H is the count for square loss."""
    return gradient_sum * gradient_sum / (hessian_sum + regularisation)


def gain(
    left_gradient: Number, left_hessian: Number, right_gradient: Number, right_hessian: Number, regularisation: Number
) -> Number:
    """G(I_L, I_R) = G_L^2 / (|I_L| + λ) + G_R^2 / (|I_R| + λ)   (Grislain and Gonzalvez 2021, after Eq. 3)."""
    left = child_gain(left_gradient, left_hessian, regularisation)
    return left + child_gain(right_gradient, right_hessian, regularisation)


def gain_range(gradient_bound: Number, relation: Relation) -> Number:
    """4 g*^2 (add-remove), 8 g*^2 (replace-one): largest minus smallest change over candidates, summed over nodes.

    One record changes a candidate's gain by more than -3 g*^2 and by at most g*^2.
    """
    return 4 * records_changed(relation) * gradient_bound * gradient_bound


def newton_gain_range(ratio_bound: Number, hessian_bound: Number, relation: Relation) -> Number:
    """4 h* B^2 (add-remove), 8 h* B^2 (replace-one) for Newton gains with |g| <= B h and h <= h*.

    Without a bound of the ratio g / h there is none. h* = 1, B = g* gives `gain_range`.
    """
    return 4 * records_changed(relation) * hessian_bound * ratio_bound * ratio_bound


def leaf_value(gradient_sum: Number, hessian_sum: Number, regularisation: Number) -> Number:
    """V = -G / (|I| + λ)   (Grislain and Gonzalvez 2021, Eq. 4)."""
    return -gradient_sum / (hessian_sum + regularisation)


def padded_leaf_value(gradient_sum: Number, count: Number, least: Number, regularisation: Number) -> Number:
    """V = -G / (max(n, N_min) + λ): the repair of Eq. 7, whose bound holds for every leaf, however few its records."""
    return leaf_value(gradient_sum, maximum(count, least), regularisation)


def leaf_sensitivity(gradient_bound: Number, regularisation: Number, relation: Relation) -> Number:
    """g* / (1 + λ) (add-remove; after Eq. 6), twice that under replace-one: L1 over all leaves of a tree."""
    return records_changed(relation) * gradient_bound / (1 + regularisation)


def leaf_change_as_published(gradient_bound: Number, count: Number, regularisation: Number) -> Number:
    """(2n + λ) g* / ((n + λ)(n + 1 + λ)): largest change of a leaf of n records that gains one   (Eq. 6)."""
    return (2 * count + regularisation) * gradient_bound / ((count + regularisation) * (count + 1 + regularisation))


def padded_leaf_sensitivity(
    gradient_bound: Number, least: Number, regularisation: Number, relation: Relation
) -> Number:
    """Eq. 6 at n = N_min >= 1 (add-remove), twice that under replace-one: L1 over all leaves, attained."""
    return records_changed(relation) * leaf_change_as_published(gradient_bound, least, regularisation)


def noisy_average(gradient_sum: Number, noise: Number, count: Number, bound: Number, regularisation: Number) -> Number:
    """-V, V = (S + noise) / (n + λ) cut to [-g*, g*], noise Lap(2 g* / ε)   (Algorithm 1)."""
    average = (gradient_sum + noise) / (count + regularisation)
    return -maximum(-bound, minimum(bound, average))


def noisy_ratio_sensitivity(gradient_bound: Number, count_weight: Number, relation: Relation) -> Number:
    """g* + w (add-remove), 2 g* + 2 w (replace-one): L1 of (S, w n) over all leaves, the repair of Algorithm 1."""
    return records_changed(relation) * (gradient_bound + count_weight)


def noisy_newton_sensitivity(
    gradient_bound: Number, hessian_bound: Number, hessian_weight: Number, relation: Relation
) -> Number:
    """g* + w h* (add-remove), twice that under replace-one: L1 of (G, w H) over all leaves, Hessians within h*."""
    return records_changed(relation) * (gradient_bound + hessian_weight * hessian_bound)


def large_enough(left_count: Number, right_count: Number, least: Number) -> Number:
    """min(n_L, n_R) >= N_min: whether a split is allowed as published, from exact counts (section 4.3). Not private."""
    return minimum(left_count, right_count) >= least


def child_count_sensitivity(relation: Relation) -> Number:
    """1 (add-remove), 2 (replace-one): L1 of the numbers of records of all children of a level."""
    return records_changed(relation)


def sketch_sensitivity(hessian_bound: Number, relation: Relation) -> Number:
    """h* (add-remove), 2 h* (replace-one): L1 over the bins of a feature. h* = 1 for square loss, 1/4 for log loss."""
    return records_changed(relation) * hessian_bound


# --- Parameters and charges -------------------------------------------------------------------------------------------


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
    noise: Literal["floating", "discrete"] = "discrete"

    def __post_init__(self) -> None:
        check_choices(self)
        check_epsilon(self.epsilon)
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

    # what a run is about, from parameters and public bounds alone

    @property
    def end(self) -> str:
        """How the ledger's ids end under the relation."""
        return "" if self.relation is Relation.ADD_REMOVE else "-replace-one"

    @property
    def newton(self) -> bool:
        """Whether gains divide by Hessians that are not all 1."""
        return self.loss == "log" and self.gain == "newton"

    @property
    def largest_hessian(self) -> float:
        """h*: 1 for square loss, 1/4 for log loss (dpxgboost/log-loss-gradient)."""
        return 1.0 if self.loss == "square" else 0.25

    @property
    def largest_gradient(self) -> float:
        """The bound of |g| of every record that is used: g*, at most 1 for log loss, B h* for clipped Newton ratios."""
        if self.loss == "square":
            return self.gradient_bound
        bound = min(self.gradient_bound, 1.0)
        return min(bound, self.ratio_bound * self.largest_hessian) if self.newton else bound

    @property
    def weight(self) -> float:
        """w of the released pairs (G, w H): one record changes w H by at most count_weight times its gradient bound."""
        return self.count_weight * self.largest_gradient / self.largest_hessian

    @property
    def summed(self) -> tuple[str, ...]:
        """What the gain needs of every bin: sums of g, and of what it divides by."""
        return "g", COUNT if self.loss == "log" and self.gain == "count" else "h"

    @property
    def padding(self) -> int:
        """The number of records that a leaf value counts on at least (section 4.3)."""
        return self.child_minimum if self.leaf == "minimum" else 0

    def drawn(self, features: int) -> int:
        """How many of so many features of one kind each tree sees: the rounded share, at least one."""
        return min(features, max(1, round(self.columns * features)))

    def sketch_size(self, schema: Schema) -> int:
        """m, the number of features that one sketch is about; a sketch for the run is about all."""
        numeric = len(grids.ordered(schema))
        return self.drawn(numeric) if self.sketch_per == "tree" else numeric

    def public_grid(self, schema: Schema) -> Candidates:
        """All thresholds that can ever be candidates: the edges of the sketch's bins, or public candidates."""
        return grids.uniform(schema, self.bins if self.candidates == "uniform" else self.sketch_bins - 1)

    # what it charges

    def sketch_charge(self, schema: Schema, epsilon: float) -> Charge:
        """The noisy histograms of all features of one sketch (section 4.1 and 4.4), as one release."""
        m = self.sketch_size(schema)
        bound = rounded_up(lambda highest: m * sketch_sensitivity(highest, self.relation), self.largest_hessian)
        claim = "sketch-repaired-replace-one" if self.end else "sketch-weights"
        return self._laplace("sketch", schema, epsilon, self.sensitivity(bound, 1, claim), touched=m)

    def quantile_charge(self, schema: Schema, epsilon: float) -> Charge:
        """One choice of the medians of all intervals of all features."""
        m = self.sketch_size(schema)
        bound = rounded_up(lambda highest: m * median_range(highest, self.relation), self.largest_hessian)
        proved = self.sensitivity(bound, "range", f"median-range{self.end:s}")
        return Charge(Exponential.calibrated(epsilon, proved.bound, self.sampler), proved, proved)

    def split_charge(self, schema: Schema, epsilon: float) -> Charge:
        """The choice of all splits of one level (section 4.2)."""
        bound, claim = rounded_up(gain_range, self.largest_gradient, self.relation), "gain-range"
        if self.newton:
            bound = rounded_up(newton_gain_range, self.ratio_bound, self.largest_hessian, self.relation)
            claim = "newton-gain-range"
        proved = self.sensitivity(bound, "range", claim + self.end)
        declared = self.declared("splits", schema, epsilon, proved)
        return Charge(Exponential.calibrated(epsilon, declared.bound, self.sampler), declared, proved)

    def count_charge(self, schema: Schema, epsilon: float) -> Charge:
        """The noisy counts of all children of one level."""
        proved = self.sensitivity(rounded_up(child_count_sensitivity, self.relation), 1, f"child-counts{self.end:s}")
        return self._laplace("counts", schema, epsilon, proved, touched=1)

    def leaf_charge(self, schema: Schema, epsilon: float) -> Charge:
        """The release of all leaf values, or of what they are computed from, of one tree (section 4.3)."""
        bound, shrunk, relation, touched = self.largest_gradient, self.regularisation, self.relation, 1
        if self.leaf == "average" and self.loss == "square":
            changed, claim, touched = (
                rounded_up(noisy_ratio_sensitivity, bound, self.weight, relation),
                "noisy-ratio",
                2,
            )
        elif self.leaf == "average":
            changed = rounded_up(noisy_newton_sensitivity, bound, self.largest_hessian, self.weight, relation)
            claim, touched = "noisy-newton-ratio", 2
        elif self.padding:
            changed = rounded_up(padded_leaf_sensitivity, bound, self.padding, shrunk, relation)
            claim = "padded-leaf"
        else:
            changed, claim = rounded_up(leaf_sensitivity, bound, shrunk, relation), "leaf-sensitivity"
        return self._laplace("leaves", schema, epsilon, self.sensitivity(changed, 1, claim + self.end), touched=touched)

    def sensitivity(self, bound: float, norm: Norm, claim: str) -> Sensitivity:
        """A sensitivity that a claim of this paper justifies."""
        return Sensitivity(bound, norm, f"dpxgboost/{claim:s}", self.relation)

    def declared(self, released: str, schema: Schema, epsilon: float, proved: Sensitivity) -> Sensitivity:
        """What a release of this kind declares: the ledger's sensitivity."""
        return proved

    def _laplace(self, released: str, schema: Schema, epsilon: float, proved: Sensitivity, *, touched: int) -> Charge:
        """Laplace noise for an L1 sensitivity; touched: coordinates that one record is in."""
        declared = self.declared(released, schema, epsilon, proved)
        cells = touched * records_changed(self.relation)
        return laplace_charge(epsilon, declared, proved, self.noise, touched=cells)

    @contextmanager
    def sampled(self, population: Population, curator: Curator) -> Iterator[None]:
        """The secret sample of a tree: the sampling that amplifies the guarantee of the relation (section 4.4)."""
        if self.subsample == 1:
            yield
            return
        method: Literal["poisson", "without-replacement"] = "without-replacement" if self.end else "poisson"
        with curator.subsample("rows", self.subsample, population, method):
            yield

    def offered(self, schema: Schema, options: Floats, utility: Floats, ways: Ways) -> tuple[Floats, Floats]:
        """Utilities, shape (node, option), of what is offered, shape (option, 2 or 3): all. Section 4.3: by counts."""
        return utility, options

    def averages(self, charge: Charge, population: Population, curator: Curator) -> Floats:
        """Leaf values of Algorithm 1, from noisy sums of g and h instead of exact counts. Shape (leaf,)."""
        sums = values(population.ask(Nodes(("g", "h")))) * np.array([[1.0], [self.weight]])
        gradient_sum, weighted = curator.release("leaves", charge, sums)
        size = np.maximum(weighted / self.weight, self.largest_hessian * self.child_minimum)
        bound = self.largest_gradient / self.largest_hessian
        return np.asarray(noisy_average(gradient_sum, 0.0, size, bound, self.regularisation))

    def breaches(self) -> list[str]:
        """Reasons, known from parameters alone, why no guarantee holds at all."""
        return []


# --- Budget -----------------------------------------------------------------------------------------------------------


class TreeBudget(NamedTuple):
    """epsilon of what one tree releases: its sketch, the splits and the child counts of every level, its leaves."""

    sketch: float
    splits: tuple[float, ...]
    counts: tuple[float, ...]
    leaves: float


class Budget(NamedTuple):
    """epsilon of a score's sketch for the whole run (0 for none), and of every tree on its sampled records."""

    sketch: float
    trees: tuple[TreeBudget, ...]


def budget_of(params: Params, schema: Schema) -> Budget:
    """The division of `total_epsilon` (section 4.4).

    By default a third for the sketch, a third over the levels, a third for the leaves. A tree on a share gamma of the
    records may cost more, log(1 + (e^epsilon - 1)/gamma) (dpxgboost/subsampling-calibration).
    """
    asked = params.candidates != "uniform" and bool(grids.ordered(schema))
    parts = {
        "sketch": params.sketch_part if asked else 0.0,
        "splits": params.split_part,
        "counts": params.count_part if params.stopping == "noisy" else 0.0,
        "leaves": params.leaf_part,
    }
    whole, score = added([*parts.values()]), total_epsilon(params, schema) / schema.scores
    once = score * parts.pop("sketch") / whole if params.sketch_per == "run" else 0.0
    shares = geometric(params.tree_growth, params.trees)
    levels = geometric(params.level_growth, params.depth)
    rate, run = params.subsample, score - once
    return Budget(once, tuple(tree_budget(before_sampling(run * share, rate), parts, levels) for share in shares))


def tree_budget(epsilon: Number, parts: Mapping[str, Number], levels: Sequence[Number]) -> TreeBudget:
    """What each release of a tree may cost: epsilon in proportion to the parts, levels with these shares of theirs."""
    unit = epsilon / added([*parts.values()])
    splits = tuple(unit * parts["splits"] * share for share in levels)
    counts = tuple(unit * parts["counts"] / len(levels) for _ in levels) if parts["counts"] else ()
    return TreeBudget(unit * parts.get("sketch", 0.0), splits, counts, unit * parts["leaves"])


def total_epsilon(params: Params, schema: Schema) -> float:
    """What the epsilons of all scores may add up to: epsilon by basic composition (section 4.4); more for a delta."""
    if params.delta == 0:
        return params.epsilon

    def spent(total: float) -> Plan:
        return plan(replace(params, epsilon=total, delta=0.0), schema)

    return calibrate_total(spent, params.epsilon, params.delta, most=1000)


# --- Plan and certificate ---------------------------------------------------------------------------------------------


def plan(params: Params, schema: Schema, *, proved: bool = False) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities instead of the declared ones."""
    return plan_of(train_on, params, schema, proved=proved)


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: epsilon at delta. Established: the plan's cost with the sensitivities that the ledger proves."""
    claimed, declared = Guarantee(params.epsilon, params.delta), plan(params, schema)
    proved = plan(params, schema, proved=True)
    breaches, needed = tuple(params.breaches()), rests_on(params)
    return issue("dpxgboost", claimed, declared, proved, breaches, schema=schema, params=params, rests_on=needed)


def rests_on(params: Params) -> tuple[str, ...]:
    """Claims that a guarantee needs besides those of its sensitivities."""
    end = params.end
    needed = {
        "dpxgboost/budget": True,
        f"dpxgboost/run{end:s}": True,
        f"dpxgboost/gradient-filter{end:s}": params.gradients == "filter",
        f"dpxgboost/default-direction{end:s}": params.missing == "learned",
        "dpxgboost/clip-ratio": params.newton,
        f"dpxgboost/subsampling{end or '-poisson':s}": params.subsample < 1,
    }
    return tuple(claim for claim, holds in needed.items() if holds)


# --- What a record contributes ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contribution:
    """ "g" and "h" of the records that are used: |g| <= largest_gradient, 0 <= h <= largest_hessian."""

    params: Params
    schema: Schema

    def label(self, output: int, y: Floats) -> Floats:
        """In [-1, 1], scaled or +1 for the class and -1 for the rest (section 5); log loss: 1, 0. Shape (rows,)."""
        label = self.schema.label(output, y)
        plain = self.params.loss == "log" or isinstance(self.schema.target, Interval)
        return label if plain else 2 * label - 1

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """g and h at the scores, shape (rows,), on the public grid; h is None where it is 1 for every record."""
        params, bound = self.params, self.params.gradient_bound
        g, h = on_grid(square_gradient(score, label)), None
        if params.loss == "log":
            probability = sigmoid(np.clip(score, -700, 700))
            g, h = on_grid(log_gradient_at(probability, label)), on_grid(log_hessian_at(probability))
        if params.gradients == "clip":
            g = np.clip(g, -grid_floor(bound), grid_floor(bound))
        used = np.abs(g) <= bound  # section 4: gradient-based data filtering
        if h is not None and params.newton:
            g = np.trunc(clip_ratio(g, h, params.ratio_bound) / GRID) * GRID
        return Statistics({"g": g, "h": h}, used)


# --- Training ---------------------------------------------------------------------------------------------------------


def train(params: Params, records: AnyRecords, curator: Curator) -> Model:
    """`train_on` records in memory. Errors: none that depend on a record; parameters and records were validated."""
    return train_on(params, records.schema, Memory(records), curator)


def train_on(params: Params, schema: Schema, population: Population, curator: Curator) -> Model:
    """One ensemble; one each of three classes or more. Errors: InvalidParameter for log loss of values."""
    if params.loss == "log" and isinstance(schema.target, Interval):
        raise InvalidParameter("loss = 'log': it is about classes, a regression needs 'square'")
    population.tell(Encode(grid := params.public_grid(schema)))
    results = []
    for output in range(schema.scores):
        population.tell(Begin(Contribution(params, schema), (output,)))
        with curator.step(f"score {output}"):
            results.append(train_ensemble(params, schema, grid, population, curator))
    return Model("dpxgboost", asdict(params), schema, tuple(results))


def train_ensemble(
    params: Params, schema: Schema, grid: Candidates, population: Population, curator: Curator
) -> Ensemble:
    """Boosting (section 3) for one score. grid: what the population was told to encode."""
    budget, shared = budget_of(params, schema), None
    if params.sketch_per == "run":
        table = sums_at_root(params, grid, population)
        everything = sorted(grids.ordered(schema) + grids.categorical(schema))
        shared = split_candidates(params, schema, grid, everything, budget.sketch, table, population, curator)
    trees: list[Tree] = []
    for number, one in enumerate(budget.trees):
        with curator.step(f"tree {number}"):
            features = drawn_features(params, schema, curator)
            with params.sampled(population, curator):  # section 4.4
                trees.append(train_tree(params, schema, grid, one, features, shared, population, curator))
        population.tell(Place(trees[-1].splits))
        population.tell(Advance(trees[-1].leaves[None], params.shrinkage))
    return Ensemble(0.0, tuple(trees), (params.shrinkage,) * len(trees))


def drawn_features(params: Params, schema: Schema, curator: Curator) -> list[int]:
    """The features of one tree, drawn publicly from the numeric and from the categorical ones."""
    numeric, other = grids.ordered(schema), grids.categorical(schema)
    if params.columns == 1:
        return sorted(numeric + other)
    order = curator.draw("columns", ("uniform",), len(schema.features))
    kinds = [sorted(kind, key=lambda f: float(order[f]))[: params.drawn(len(kind))] for kind in (numeric, other)]
    return sorted(kinds[0] + kinds[1])


def sums_at_root(params: Params, grid: Candidates, population: Population) -> Floats:
    """A new tree at the present scores: its sums in every bin, shape (statistic, 1, bin)."""
    population.tell(Refresh(("g", "h")))
    population.tell(Root(grid.features))
    return values(population.ask(Bins(params.summed)))


def train_tree(
    params: Params, schema: Schema, grid: Candidates, budget: TreeBudget, features: Sequence[int],
    shared: Positions | None, population: Population, curator: Curator,
) -> Tree:  # fmt: skip
    """One tree on the selected records (Figure 3). shared: the run's candidates, shape (candidate,), of one sketch."""
    table, chosen = sums_at_root(params, grid, population), list[Floats]()
    if shared is None:  # section 4.1
        at = split_candidates(params, schema, grid, features, budget.sketch, table, population, curator)
    else:
        at = shared[np.isin(grid.feature[shared], features)]
    options = both_ways(params, grid, at)
    for level, epsilon in enumerate(budget.splits):
        if level:
            table = values(population.ask(Bins(params.summed)))
        utility, offered = params.offered(schema, options, *gains(params, grid, table, at))
        for_splits = params.split_charge(schema, epsilon)
        splits = curator.release(f"splits of level {level}", for_splits, utility, options=offered)  # section 4.2
        if budget.counts:
            for_counts, asked = params.count_charge(schema, budget.counts[level]), Sides((COUNT,), splits)
            noisy = curator.release_sum(f"counts of level {level}", for_counts, population, asked, np.ravel)
            large = large_enough(noisy[0::2], noisy[1::2], params.child_minimum)  # section 4.3, N_min
            splits = np.where(large[:, np.newaxis], splits, grids.no_split(schema, splits.shape[1]))
        chosen.append(splits)
        population.tell(Descend(splits))
    leaves = leaf_values(params, params.leaf_charge(schema, budget.leaves), population, curator)
    return Tree(np.concatenate(chosen), leaves)


def both_ways(params: Params, grid: Candidates, at: Positions) -> Floats:
    """The splits that a node is offered, shape (option, 2 or 3): missing values left, or left and right."""
    if params.missing == "left":
        return grid.values[at]
    return np.concatenate([np.column_stack([grid.values[at], np.full(len(at), side)]) for side in (0.0, 1.0)])


def gains(params: Params, grid: Candidates, table: Floats, at: Positions) -> tuple[Floats, Ways]:
    """What the splits of a level gain, shape (node, option), and the sums to their sides. table: sums in its bins."""
    left, right = grid.sides(table, at)
    ways = [(left, right)]
    if params.missing == "learned":  # the gain twice, with missing values left and right
        missing = grid.missing_sums(table, at)
        ways.append((left - missing, right + missing))
    found = [gain(one[0], one[1], other[0], other[1], params.regularisation) for one, other in ways]  # after Eq. 3
    return np.concatenate(found, axis=-1), ways


def leaf_values(params: Params, charge: Charge, population: Population, curator: Curator) -> Floats:
    """The released leaf values (section 4.3), shape (leaf,)."""
    if params.leaf == "average":
        return params.averages(charge, population, curator)
    gradient_sum, size = values(population.ask(Nodes(("g", COUNT))))
    value = padded_leaf_value(gradient_sum, size, params.padding, params.regularisation)  # Eq. 4
    return curator.release("leaves", charge, value)


# --- Split candidates -------------------------------------------------------------------------------------------------


def split_candidates(
    params: Params, schema: Schema, grid: Candidates, features: Sequence[int], epsilon: float,
    table: Floats, population: Population, curator: Curator,
) -> Positions:  # fmt: skip
    """Candidates, shape (candidate,), of these features. table: sums of all selected, shape (statistic, 1, bin)."""
    found = {f: np.arange(grid.starts[f], grid.starts[f + 1]) for f in features}
    asked = [f for f in features if f in grids.ordered(schema)]
    if params.candidates != "uniform" and asked:
        weights = bin_weights(params, grid, asked, table, population)
        choose = sketch if params.candidates == "sketch" else medians
        edges = choose(params, schema, epsilon, weights, curator)
        found |= {f: grid.starts[f] + own - 1 for f, own in zip(asked, edges, strict=True)}
    return np.concatenate([found[f] for f in features])


def bin_weights(
    params: Params, grid: Candidates, features: list[int], table: Floats, population: Population
) -> list[Floats]:
    """Weights in each feature's bins, shape (bin,): Hessians, counts for square loss. table: (statistic, 1, bin)."""
    if params.summed[1] == "h":
        columns = [table[1, 0, grid.offsets[f] : grid.offsets[f + 1]] for f in features]
    else:
        sums = values(population.ask(Histogram(("h",), tuple(features))))[0]
        columns = np.split(sums, np.cumsum(grid.bins[features])[:-1])
    return [column[1:] for column in columns]  # the first bin is of missing values


def sketch(params: Params, schema: Schema, epsilon: float, weights: list[Floats], curator: Curator) -> list[Positions]:
    """Candidates, shape (edge,), of each feature from its noisy histogram, shape (bin,) (section 4.1)."""
    noisy = curator.release("sketch", params.sketch_charge(schema, epsilon), np.concatenate(weights))
    ends = np.cumsum([len(one) for one in weights])[:-1]
    return [quantile_edges(one, params.bins) for one in np.split(noisy, ends)]


def medians(params: Params, schema: Schema, epsilon: float, weights: list[Floats], curator: Curator) -> list[Positions]:
    """Candidates, shape (edge,), of features by halving intervals in their bins, (bin,) (Kaplan et al. 2022)."""
    levels = quantile_levels(params.bins)
    charge = params.quantile_charge(schema, epsilon / levels)
    options = np.arange(1.0, max(map(len, weights)))[:, np.newaxis]
    edges: list[Positions] = [np.empty(0, dtype=np.intp) for _ in weights]
    for level in range(levels):
        utility = median_utilities(weights, edges)
        chosen = curator.release(f"medians {level}", charge, utility, options=options)
        edges = halved(edges, chosen[:, 0].astype(np.intp))
    return [np.unique(one) for one in edges]


# --- Predictions ------------------------------------------------------------------------------------------------------


def predict(model: Model, x: Floats) -> Floats:
    """Regression: values in the target's unit, shape (rows,). Classes: (rows, scores), expected labels in [-1, 1].

    For log loss that is 2 p - 1, p the predicted probability of the class.
    """
    raw, target = model.scores(x), model.schema.target
    if isinstance(target, Interval):
        return target.unscaled(raw[:, 0])
    return np.tanh(raw / 2) if model.params["loss"] == "log" else raw
