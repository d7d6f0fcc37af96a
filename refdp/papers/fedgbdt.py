"""The federated framework: Maddock, Cormode, Wang, Maple, Jha. Federated Boosted Decision Trees with Differential
Privacy. CCS 2022.

| symbol | in the code | what it is, unit | where |
|---|---|---|---|
| g_i, h_i | statistics "g", "h" | derivatives of the loss at the score, on a public grid | section 2.1 |
| T, d, m | trees, depth, features | trees, levels of splits, features | Alg. 1 |
| lambda, gamma | regularisation, split_penalty | added to H of a leaf; taken from the score of a split | Eq. 4, Eq. 5 |
| w, beta, eta | leaf_weight, leaf_clip, shrinkage | a leaf's weight, its bound, the step | Eq. 4, section 4.4.3 |
| C1, C2, C3 | splits, update, candidates | how nodes split, leaves are weighed, candidates found | section 4, Table 1 |
| Q, s; k, B | bins, rounds; features_per_tree, batch | candidates; features a tree, trees a batch | sections 4.5, 5 |
| c | gradient_bound | gradients of a regression are clipped to it | section 4.2 |
| kappa_s, kappa_w, kappa_c | split_queries, weight_queries, candidate_queries | numbers of queries | Table 1 |
| mu | query_mu | what one query costs in Gaussian privacy | Theorem 4.1 |
| r | records_each | records a participant has at most | section 4 |

Every query is a sum of (g, h) over the records of a node or a bin. A squared sensitivity is the supremum of the squared
Euclidean change of the whole vector of such sums (all leaves of a tree, or all bins of a feature) between neighbours,
so that it stays exact on rational numbers; the sensitivity is its root.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from refdp.accounting import account
from refdp.checks import check_choices, check_count, check_epsilon, check_number
from refdp.data import candidates as grids
from refdp.data import numbers
from refdp.data.candidates import Candidates, inner_uniform_candidate, iterative_hessian, log_candidate
from refdp.data.feasible import Feasible, Options, Positions, below
from refdp.data.losses import GRID, LARGEST, WIDEST, grid_floor, log_gradient, log_odds, on_grid, square_gradient
from refdp.data.memory import Memory
from refdp.data.numbers import Number, absolute, exp, maximum, minimum
from refdp.data.population import (
    Advance,
    Begin,
    Bins,
    Descend,
    Encode,
    Histogram,
    Leaves,
    Place,
    Population,
    Refresh,
    Reports,
    Root,
    Sides,
    Statistics,
    values,
)
from refdp.data.reading import plan_of
from refdp.data.records import Classes, Ensemble, Floats, Interval, Model, Numeric, Records, Schema, Tree
from refdp.data.shards import check_records_each
from refdp.errors import InvalidParameter
from refdp.ledger.certificate import Certificate, Guarantee, issue
from refdp.noise.calibration import gaussian, total_mu
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Plan, Relation, Sensitivity

PAPER = (
    "Maddock, Cormode, Wang, Maple, Jha: Federated Boosted Decision Trees with Differential Privacy "
    "(CCS 2022, doi 10.1145/3548606.3560687)"
)


# --- Leaf weights and updates (Sections 2.1, 4.4 and 5.1), generic over numbers ---------------------------------------


def leaf_weight(gradient_sum: Number, hessian_sum: Number, regularisation: Number) -> Number:
    """w = -G / (H + lambda)   (Eq. 4; Eq. 3 with H the number of records)."""
    return -gradient_sum / (hessian_sum + regularisation)


def released_leaf_weight(gradient_sum: Number, hessian_sum: Number, regularisation: Number) -> Number:
    """0 where the released Hessian sum is not positive, else Eq. 4: noise can make H + lambda negative. One leaf."""
    if hessian_sum <= 0:
        return 0 * gradient_sum
    return leaf_weight(gradient_sum, hessian_sum, regularisation)


def averaging_weight(positives: Number, records: Number) -> Number:
    """1/2 where the released count is not positive, else G / H clipped to [0, 1] (repairs Section 4.4.1). One leaf."""
    if records <= 0:
        return (0 * positives + 1) / 2
    return minimum(maximum(positives / records, 0 * positives), 0 * positives + 1)


def second_order_objective(weight: Number, gradient_sum: Number, hessian_sum: Number, regularisation: Number) -> Number:
    """G w + (H + lambda) w^2 / 2: a leaf's share of the second-order approximation (Section 2.1, before Eq. 4)."""
    return gradient_sum * weight + (hessian_sum + regularisation) * weight * weight / 2


def update(weight: Number, clip: Number, shrinkage: Number) -> Number:
    """eta min(max(w, -beta), beta). Repairs Section 4.4.3."""
    return shrinkage * minimum(maximum(weight, -clip), clip)


def cyclical_features(tree: int, features: int, chosen: int) -> tuple[int, ...]:
    """The next k features, counted from 1, of tree t = 1, 2, ...: 1 + ((t - 1) k + i) mod m, i < k."""
    return tuple(1 + ((tree - 1) * chosen + offset) % features for offset in range(chosen))


# --- Sensitivities of the (g, h) query (Sections 4.2 and 4.4) ---------------------------------------------------------


def squared_norm(gradient: Number, hessian: Number) -> Number:
    """g^2 + h^2: the squared change of the sums when one record is added."""
    return gradient * gradient + hessian * hessian


def log_hessian_of(gradient: Number) -> Number:
    """h = |g| (1 - |g|): for the log loss |g| = p or 1 - p and h = p (1 - p)."""
    size = absolute(gradient)
    return size * (1 - size)


def newton_squared_sensitivity(relation: Relation, gradient_bound: Number = 1) -> Number:
    """b^2 + b^2 (1 - b)^2 (add-remove), 4 b^2 (replace-one) for the log loss with |g| <= b, b in [1/2, 1].

    b = 1 holds always; `gradient_bound_after` gives less for the first trees. Claims: fedgbdt/newton-sensitivity-joint,
    fedgbdt/newton-sensitivity-by-round, fedgbdt/newton-sensitivity-joint-replace-one.
    """
    if relation is Relation.REPLACE_ONE:
        return 4 * gradient_bound * gradient_bound
    return squared_norm(gradient_bound, gradient_bound * (1 - gradient_bound))


def gradient_squared_sensitivity(relation: Relation, gradient_bound: Number = 1) -> Number:
    """c^2 + 1 (add-remove), max(4 c^2, 2 c^2 + 2) (replace-one) for |g| <= c and h = 1.

    Claims: fedgbdt/gradient-sensitivity-clipped, fedgbdt/gradient-sensitivity-vector-replace-one.
    """
    one_record = gradient_bound * gradient_bound + 1
    if relation is Relation.REPLACE_ONE:
        return maximum(4 * gradient_bound * gradient_bound, 2 * one_record)
    return one_record


def averaging_squared_sensitivity(relation: Relation) -> int:
    """2 (add-remove), 4 (replace-one) for g = 1{y = 1}, h = 1.

    Claims: fedgbdt/averaging-sensitivity, fedgbdt/averaging-sensitivity-vector-replace-one.
    """
    return 4 if relation is Relation.REPLACE_ONE else 2


def hessian_squared_sensitivity(relation: Relation) -> Fraction:
    """1/16 (add-remove), 1/8 (replace-one): the Hessian histogram of one feature, log loss.

    Claims: fedgbdt/hessian-histogram-sensitivity, fedgbdt/hessian-histogram-sensitivity-replace-one.
    """
    return Fraction(1, 8) if relation is Relation.REPLACE_ONE else Fraction(1, 16)


def gradient_bound_after(updates: int, clip: Number, shrinkage: Number) -> Number:
    """sigmoid(u eta beta): |g| after u updates of size at most eta beta, from the initial score 0 (log loss)."""
    return 1 / (1 + exp(-(updates * (shrinkage * clip))))


def clip_gradient(gradient: Number, bound: Number) -> Number:
    """min(max(g, -c), c): gradient clipping for losses with unbounded gradients (Section 4.2)."""
    return minimum(maximum(gradient, -bound), bound)


# --- Numbers of queries (Theorem 4.1, Table 1) ------------------------------------------------------------------------


class Splits(StrEnum):
    """(C1) How inner nodes are split."""

    HISTOGRAM = "histogram"
    PARTIALLY_RANDOM = "partially-random"
    TOTALLY_RANDOM = "totally-random"


def split_queries(splits: Splits, trees: Number, chosen: Number, depth: Number) -> Number:
    """kappa_s: T k d, T where k = 1, 0 for totally random   (Table 1; T m d is the case k = m)."""
    if splits is Splits.TOTALLY_RANDOM:
        return 0 * trees
    return trees if chosen == 1 else trees * chosen * depth


def weight_queries(splits: Splits, trees: Number) -> Number:
    """kappa_w: T for totally random, else 0, the last splits' sums being reused   (Table 1)."""
    return trees if splits is Splits.TOTALLY_RANDOM else 0 * trees


def candidate_queries(splits: Splits, rounds: Number, chosen: Number) -> Number:
    """kappa_c of iterative Hessian: s k wherever no histogram is released for the splits, else 0."""
    return 0 * rounds if splits is Splits.HISTOGRAM else rounds * chosen


# --- Parameters and charges -------------------------------------------------------------------------------------------

SENSITIVITIES: Mapping[tuple[str, Relation], str] = {
    ("averaging", Relation.ADD_REMOVE): "fedgbdt/averaging-sensitivity",
    ("averaging", Relation.REPLACE_ONE): "fedgbdt/averaging-sensitivity-vector-replace-one",
    ("gradient", Relation.ADD_REMOVE): "fedgbdt/gradient-sensitivity-clipped",
    ("gradient", Relation.REPLACE_ONE): "fedgbdt/gradient-sensitivity-vector-replace-one",
    ("newton", Relation.ADD_REMOVE): "fedgbdt/newton-sensitivity-joint",
    ("newton", Relation.REPLACE_ONE): "fedgbdt/newton-sensitivity-joint-replace-one",
    ("hessian", Relation.ADD_REMOVE): "fedgbdt/hessian-histogram-sensitivity",
    ("hessian", Relation.REPLACE_ONE): "fedgbdt/hessian-histogram-sensitivity-replace-one",
}
BY_ROUND, VECTOR, SEVERAL = "fedgbdt/newton-sensitivity-by-round", "fedgbdt/ldp-vector", "fedgbdt/several-records"


@dataclass(frozen=True)
class Params:
    """All parameters of a run. They are public.

    epsilon, delta: total privacy budget; the experiments take delta = 1/n, n public. relation: the neighbours.
    trees, depth: T, d. regularisation: lambda. shrinkage: eta. leaf_clip: beta. split_penalty: gamma. bins: Q.
    splits: C1. update: C2; "averaging" builds a random forest. candidates: C3. rounds: s of "iterative-hessian", at
      most T count.
    features_per_tree: k (A1), all features if not given, taken in turn ("cyclic") or at random.
    trees_per_feature, rounds_per_feature: T trees, s rounds for every feature, T m and s m in all.
    batch: B (A2), at most T count; batch_share: p, for B = p T instead.
    gradient_bound: c, gradients of a regression on labels in [-1, 1] are clipped to it.
    accounting: the noise follows from "exact" Gaussian composition (discrete noise from what is next to it), or from
      "renyi" as in the paper.
    noise: "discrete", exact samplers on a public grid; or "floating", which risks that the last bits of what is
      released tell more than epsilon (Mironov 2012).
    noise_by: "aggregator", a trusted one or shares that add up to it (refdp/privacy/shares.py); or "record": the local
      model, every record adds the whole noise to its own (g, h); totally random trees and replace-one only.
    records_each: r, at most so many records a participant has; neighbours then differ in all records of one of them.
      Above 1 the records of each participant are needed apart, as hosts of `refdp.data.shards.Shards`.
    sensitivities: "joint", the ledger's for (g, h) together; "by-round", smaller where few updates have moved the
      scores.
    one_vs_rest: each of K > 2 models has (epsilon/K, delta/K), "divided"; or "together", the queries of all share
      (epsilon, delta): mu of one model alone over the root of K, where dividing takes about K. The paper has K = 2.
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
    candidates: Literal["uniform", "log", "iterative-hessian"] = "uniform"
    rounds: int = 5
    features_per_tree: int | None = None
    interactions: Literal["cyclic", "random"] = "cyclic"
    trees_per_feature: bool = False
    rounds_per_feature: bool = False
    batch: int = 1
    batch_share: float | None = None
    gradient_bound: float = 1.0
    accounting: Literal["exact", "renyi"] = "exact"
    noise: Literal["floating", "discrete"] = "discrete"
    noise_by: Literal["aggregator", "record"] = "aggregator"
    records_each: int = 1
    sensitivities: Literal["joint", "by-round"] = "joint"
    one_vs_rest: Literal["divided", "together"] = "divided"

    def __post_init__(self) -> None:
        check_choices(self)
        check_epsilon(self.epsilon)
        check_number("delta", self.delta, above=0, below=1)
        check_count("depth", self.depth, most=12)
        check_count("bins", self.bins, most=60_000)
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

    # what the settings amount to for given features

    def chosen(self, schema: Schema) -> int:
        """k. Errors: InvalidParameter if it is more than there are features."""
        features = len(schema.features)
        if self.features_per_tree is None:
            return features
        if self.features_per_tree > features:
            raise InvalidParameter(f"features_per_tree = {self.features_per_tree}: the data have {features} features")
        return self.features_per_tree

    def all_trees(self, schema: Schema) -> int:
        """T, or T m."""
        return self.trees * (len(schema.features) if self.trees_per_feature else 1)

    def all_rounds(self, schema: Schema) -> int:
        """s, or s m, at most the number of trees; 0 without iterative Hessian."""
        if self.candidates != "iterative-hessian":
            return 0
        rounds = self.rounds * (len(schema.features) if self.rounds_per_feature else 1)
        return min(rounds, self.all_trees(schema))

    def batches(self, schema: Schema) -> list[range]:
        """The trees t = 1, 2, ... of every batch; the last one may be smaller."""
        trees = self.all_trees(schema)
        size = self.batch if self.batch_share is None else max(1, int(self.batch_share * trees))
        return [range(first, min(first + size, trees + 1)) for first in range(1, trees + 1, size)]

    def asks_leaves(self, schema: Schema) -> bool:
        """Whether leaves need a query of their own. One random candidate of one feature leaves nothing to score."""
        single = self.splits == "partially-random" and self.chosen(schema) == 1
        return self.splits == "totally-random" or single

    def queries(self, schema: Schema) -> int:
        """kappa_s + kappa_w + kappa_c of one score (Table 1)."""
        splits, trees, chosen = Splits(self.splits), self.all_trees(schema), self.chosen(schema)
        asked = split_queries(splits, trees, chosen, self.depth) + weight_queries(splits, trees)
        return int(asked + candidate_queries(splits, self.all_rounds(schema), chosen))

    def split_candidates(self, schema: Schema, population: Population) -> Candidates:
        """C3 from public bounds, all categories. Iterative Hessian starts from uniform ones."""
        positions = np.arange(1, self.bins + 1)
        found = log_candidate if self.candidates == "log" else inner_uniform_candidate
        return grids.on_bounds(schema, lambda feature: found(positions, self.bins, feature.low, feature.high))

    # what a run charges, from parameters and public bounds alone

    def score_delta(self, schema: Schema) -> float:
        """delta of each of K one-vs-rest models: delta / K (fedgbdt/one-vs-rest-divided)."""
        return self.delta / schema.scores

    def query_mu(self, schema: Schema) -> float:
        """What one query may cost: queries of equal cost compose as the root of their number (exact-composition).

        More than two classes divide epsilon and delta, or are as many queries more (fedgbdt/one-vs-rest-together).
        Discrete Gaussians keep below a Gaussian's Renyi curve, and next to its exact profile.
        """
        accounting: Literal["renyi", "exact", "fine"] = self.accounting
        if accounting == "exact" and self.noise == "discrete":
            accounting = "fine"
        if self.one_vs_rest == "together":
            mu = total_mu(self.epsilon, self.delta, accounting)
            return mu / math.sqrt(schema.scores * self.queries(schema))
        mu = total_mu(self.epsilon / schema.scores, self.score_delta(schema), accounting)
        return mu / math.sqrt(self.queries(schema))

    def sums_charge(self, schema: Schema, mu: float, updates: int) -> Charge:
        """One query of the sums of (g, h). updates: how many batches have moved the scores before it.

        The Hessian of the square loss is 1, so that Newton updates of a regression are gradient updates.
        """
        if isinstance(schema.target, Interval):
            return charge(self, mu, "gradient", 1.0 if self.update == "averaging" else self.gradient_bound)
        if self.update == "averaging":
            return charge(self, mu, "averaging", 1.0)
        kind = "newton" if self.update == "newton" else "gradient"
        moved = self.sensitivities == "by-round"
        return charge(self, mu, kind, gradient_bound_after(updates, self.leaf_clip, self.shrinkage) if moved else 1.0)

    def hessian_charge(self, schema: Schema, mu: float) -> Charge:
        """One Hessian histogram of one feature. The square loss has h = 1 and pays for (g, h)."""
        return self.sums_charge(schema, mu, 0) if isinstance(schema.target, Interval) else charge(self, mu, "hessian")

    def proved(self, kind: str, bound: float) -> Sensitivity:
        """What the ledger proves for one record. kind: "averaging", "gradient", "newton", "hessian"; bound: of |g|."""
        if kind in ("newton", "gradient"):
            bounded = newton_squared_sensitivity if kind == "newton" else gradient_squared_sensitivity
            square = bounded(self.relation, Fraction(bound))
        else:
            counted = averaging_squared_sensitivity if kind == "averaging" else hessian_squared_sensitivity
            square = counted(self.relation)
        root = numbers.root(square)
        found = Sensitivity(root, 2, SENSITIVITIES[kind, self.relation], self.relation)
        if self.sensitivities == "by-round":  # rounding to the grid keeps |g| <= 1 (fedgbdt/rounding), not |g| <= b < 1
            found = replace(found, bound=numbers.at_least(Fraction(root) + 2 * Fraction(GRID)))
            if kind == "newton" and self.relation is Relation.ADD_REMOVE:
                found = replace(found, claim=BY_ROUND)
        return replace(found, claim=VECTOR) if self.noise_by == "record" else found

    def declared(self, kind: str, bound: float) -> Sensitivity:
        """What is charged for one record."""
        return self.proved(kind, bound)

    def local_sums(self, population: Population, curator: Curator, place: int, charged: Charge) -> Floats:
        """Section 5.3.2, LDP: the sum of records' noisy vectors, shape (2, leaf), over tree `place` of the batch."""
        return np.asarray(curator.release_sum("leaves", charged, population, Reports(SUMS, place)).sum(axis=0))

    def breaches(self) -> list[str]:
        """Reasons, known from parameters alone, why no guarantee holds at all."""
        return []


def charge(params: Params, mu: float, kind: str, bound: float = 1.0) -> Charge:
    """One query; mu: its cost in Gaussian privacy; kind, bound: see `Params.proved`."""
    proved, declared, each = params.proved(kind, bound), params.declared(kind, bound), params.records_each
    if each > 1:  # r times the sensitivity of one record (Section 4)
        proved, declared = [
            replace(one, bound=numbers.at_least(each * Fraction(one.bound)), claim=SEVERAL)
            for one in (proved, declared)
        ]
    touched = (1 if kind == "hessian" else 2) * (1 if params.relation is Relation.ADD_REMOVE else 2) * each
    mechanism, rounded = gaussian(mu, declared, params.noise, touched=touched)
    added = Fraction(rounded.bound) - Fraction(declared.bound)
    return Charge(mechanism, rounded, replace(proved, bound=numbers.at_least(Fraction(proved.bound) + added)))


def plan(params: Params, schema: Schema, *, proved: bool = False) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities instead of the declared ones."""
    return plan_of(train_on, params, schema, proved=proved)


WHOLE = {
    Relation.ADD_REMOVE: ("fedgbdt/run", "fedgbdt/rounding"),
    Relation.REPLACE_ONE: ("fedgbdt/run-replace-one", "fedgbdt/rounding-replace-one"),
}
"""Claims on the whole algorithm and on the grid of (g, h)."""


def rests_on(params: Params, schema: Schema) -> tuple[str, ...]:
    """Claims that the guarantee of a run needs besides those of its sensitivities."""
    together = params.one_vs_rest == "together" and schema.scores > 1
    return (*WHOLE[params.relation], *(("fedgbdt/one-vs-rest-together",) if together else ()))


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: (epsilon, delta) (Theorem 4.1). Established: the plan's cost with the ledger's sensitivities."""
    proved = plan(params, schema, proved=True)
    bound = account(proved, delta=params.delta, quick=params.noise == "discrete")  # its distributions take gigabytes
    said = {"exact": "exact Gaussian composition gives", "renyi": "Renyi composition"}
    figures = [f"{how:s} epsilon {bound.methods[name]:.6g}" for name, how in said.items() if name in bound.methods]
    remark = f"established at delta {params.delta:g}: {', '.join(figures):s}"
    return issue(
        "fedgbdt", Guarantee(params.epsilon, params.delta), plan(params, schema), proved, tuple(params.breaches()),
        schema=schema, params=params, established=bound.epsilon, rests_on=rests_on(params, schema), remarks=(remark,),
    )  # fmt: skip


# --- What a record contributes ----------------------------------------------------------------------------------------

SUMS = ("g", "h")


@dataclass(frozen=True)
class Contribution:
    """ "g" and "h" on the public grid (Sections 4.2 and 4.4), h None where it is 1; |g| <= c or 1, 0 <= h <= 1.

    "hessian": h of the loss, whatever the update; iterative Hessian candidates follow it.
    """

    params: Params
    schema: Schema

    def label(self, output: int, y: Floats) -> Floats:
        """In [-1, 1] for a regression; 1 for the class, 0 for the rest. y, result: shape (rows,)."""
        return self.schema.label(output, y)

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """(g, h) at the scores; of a random forest (label, 1). score, label: shape (rows,)."""
        newton, forest, hessian = self.params.update == "newton", self.params.update == "averaging", None
        if isinstance(self.schema.target, Interval):
            bound = grid_floor(self.params.gradient_bound)
            g = on_grid(label) if forest else clip_gradient(on_grid(square_gradient(score, label)), bound)
            return Statistics({"g": np.asarray(g), "h": None, "hessian": None})
        with np.errstate(over="ignore"):  # exp(-s) = inf gives the limit, and a warning would tell of a record's score
            gradient = log_gradient(score, label)
        if newton or "hessian" in of:
            hessian = on_grid(log_hessian_of(gradient))
        g = on_grid(label if forest else gradient)
        return Statistics({"g": g, "h": hessian if newton else None, "hessian": hessian})


# --- Training: Algorithm 1 --------------------------------------------------------------------------------------------


def train(params: Params, records: Records, curator: Curator) -> Model:
    """`train_on` records in memory. Errors: none that depend on a record; parameters and records were validated."""
    return train_on(params, records.schema, Memory(records), curator)


def train_on(params: Params, schema: Schema, population: Population, curator: Curator) -> Model:
    """Algorithm 1, once for regression and two classes, else once for each class."""
    if params.records_each > 1:
        check_records_each(population, params.records_each)
    first = params.split_candidates(schema, population)  # Alg. 1, l. 1
    results = []
    for output in range(schema.scores):
        population.tell(Begin(Contribution(params, schema), (output,)))
        with curator.step(f"score {output}"):
            results.append(boost(params, schema, first, population, curator))
    return Model("fedgbdt", asdict(params), schema, tuple(results))


def boost(params: Params, schema: Schema, candidates: Candidates, population: Population, curator: Curator) -> Ensemble:
    """Algorithm 1 for one score."""
    mu, all_trees = params.query_mu(schema), params.all_trees(schema)
    trees: list[Tree] = []  # Alg. 1, l. 2
    weights: list[float] = []
    for number, batch in enumerate(params.batches(schema)):  # Alg. 1, l. 3
        charged = params.sums_charge(schema, mu, number)
        asks_hessian = batch[0] <= params.all_rounds(schema) and params.splits != "histogram"
        population.tell(Refresh((*SUMS, "hessian") if asks_hessian else SUMS))  # Alg. 1, l. 4
        splits, sums = list[Floats](), list[Floats]()
        for t in batch:
            with curator.step(f"tree {t}"):
                candidates, tree, own = grow(params, schema, t, candidates, mu, charged, population, curator)
            splits.append(tree)
            sums.append(own)
        if params.asks_leaves(schema):
            sums = leaf_sums(params, batch, charged, population, curator)
        leaves = np.array([leaf_values(params, schema, own) for own in sums])  # Alg. 1, l. 10
        trees += [Tree(tree, own) for tree, own in zip(splits, leaves, strict=True)]  # Alg. 1, l. 12
        share = 1 / all_trees if params.update == "averaging" else 1 / len(batch)
        weights += [share] * len(batch)
        if len(trees) < all_trees:
            population.tell(Advance(leaves, share))  # Alg. 1, l. 11
    return Ensemble(0.0, tuple(trees), tuple(weights))


def grow(
    params: Params, schema: Schema, tree: int, candidates: Candidates, mu: float, charged: Charge,
    population: Population, curator: Curator,
) -> tuple[Candidates, Floats, Floats]:  # fmt: skip
    """Tree t = 1, 2, ...: the candidates of the next one, splits as in `Tree`, released sums of the leaves if any.

    Histograms bring those of the Hessian along, after the tree; other ways ask before it. Sums: shape (2, leaf or 0).
    """
    features = tree_features(params, schema, tree, curator)  # Alg. 1, l. 5
    refines = tree <= params.all_rounds(schema)
    population.tell(Encode(candidates))
    if refines and params.splits != "histogram":  # Alg. 1, l. 6
        hessian = hessian_histograms(params.hessian_charge(schema, mu), candidates, features, population, curator)
        population.tell(Encode(candidates := refined(params, schema, candidates, features, hessian)))
    feasible = Feasible.root(candidates, features)
    if params.asks_leaves(schema):
        uniform = curator.draw("splits", ("uniform",), (2**params.depth - 1, 2))
        splits, own = feasible.random_tree(uniform), np.empty((2, 0))  # Section 4.3.2, totally random
    else:
        splits, own, hessian = scored_splits(params, feasible, features, charged, population, curator)
    population.tell(Place(splits))
    if refines and params.splits == "histogram":
        candidates = refined(params, schema, candidates, features, hessian)
    return candidates, splits, own


def tree_features(params: Params, schema: Schema, tree: int, curator: Curator) -> list[int]:
    """Section 5.1: the features of a tree, counted from 0."""
    count, chosen = len(schema.features), params.chosen(schema)
    if params.interactions == "cyclic" or chosen == count:
        return sorted(number - 1 for number in cyclical_features(tree, count, chosen))
    order = np.argsort(curator.draw("features", ("uniform",), count), kind="stable")
    return sorted(order[:chosen].tolist())


def hessian_histograms(
    charged: Charge, candidates: Candidates, features: Sequence[int], population: Population, curator: Curator
) -> list[Floats]:
    """Section 4.5.2, totally random: one query a feature of the tree, shape (bin,), bin 0 of missing values."""
    sums = values(population.ask(Histogram(("hessian",), tuple(features))))[0]
    bins = candidates.apart(sums, features)
    return [curator.release(f"Hessian histogram {i}", charged, own) for i, own in enumerate(bins)]


def refined(
    params: Params, schema: Schema, candidates: Candidates, features: Sequence[int], hessian: Sequence[Floats]
) -> Candidates:
    """Section 4.5.2: iterative Hessian candidates of numeric features. hessian: of each feature, shape (bin,)."""
    thresholds = list(candidates.thresholds)
    for f, bins in zip(features, hessian, strict=True):
        feature = schema.features[f]
        if isinstance(feature, Numeric) and feature.low < feature.high:
            edges = [feature.low, *thresholds[f], feature.high]
            thresholds[f] = np.array(iterative_hessian(edges, bins[1:].tolist(), params.bins))
    return replace(candidates, thresholds=tuple(thresholds))


def scored_splits(
    params: Params, feasible: Feasible, features: list[int], charged: Charge, population: Population, curator: Curator
) -> tuple[Floats, Floats, list[Floats]]:
    """Sections 4.3.1 and 4.3.2: each node is split by the candidate of the largest released score.

    A node whose best score is not positive stays whole: both of its children get its own sums. The splits, the released
    sums of the leaves, shape (2, leaf), and the root's released Hessian histograms, if there are any.
    """
    candidates, levels = feasible.candidates, list[Positions]()
    own, whole = np.zeros((2, 1)), np.zeros(1, dtype=np.bool_)
    bins, hessian = list[Floats](), list[Floats]()
    population.tell(Root(tuple(features)))
    for level in range(params.depth):
        if params.splits == "histogram":
            if len(features) == 1 and level > 0:  # Section 5.1: the root's histogram serves all levels
                bins = [below(bins[0], candidates, levels[-1])]
            else:
                bins = histograms(level, candidates, features, charged, population, curator)
            hessian = hessian or [table[1, 0] for table in bins]
            options = Options.of_bins(candidates, features, bins, 2**level)
        else:
            options = random_sides(level, feasible, features, charged, population, curator)
        best, score = options.best(lambda left, right: split_scores(params, left, right), feasible)
        position, sums = options.chosen(best)
        own, whole = options.totals() if level == 0 else own, whole | (score <= 0)
        own = np.where(whole[:, None], own[:, :, None], sums).reshape(2, -1)
        whole = np.repeat(whole, 2)
        levels.append(position)
        feasible = feasible.split(position)
        if len(features) > 1 and level + 1 < params.depth:
            population.tell(Descend(candidates.values[position]))
    return candidates.values[np.concatenate(levels)], own, hessian


def histograms(
    level: int, candidates: Candidates, features: list[int], charged: Charge, population: Population, curator: Curator
) -> list[Floats]:
    """Section 4.3.1: released bins of every node of a level, shape (2, node, bin), one query a feature."""
    bins = candidates.apart(values(population.ask(Bins(SUMS))), features)
    names = ["histogram" if len(features) == 1 else f"histogram {i:d} of level {level:d}" for i in range(len(features))]
    return [curator.release(name, charged, own) for name, own in zip(names, bins, strict=True)]


def random_sides(
    level: int, feasible: Feasible, features: list[int], charged: Charge, population: Population, curator: Curator
) -> Options:
    """Section 4.3.2, partially random: one random candidate a node and feature, its sides' sums released."""
    uniform = curator.draw(f"candidates of level {level}", ("uniform",), (2**level, len(features)))
    positions = [feasible.drawn_of(f, column) for f, column in zip(features, uniform.T, strict=True)]
    ways = np.stack([feasible.candidates.values[position] for position in positions])
    sums = values(population.ask(Sides(SUMS, ways)))
    released = [curator.release(f"sides {i} of level {level}", charged, own) for i, own in enumerate(sums)]
    return Options.of_sides(positions, released)


def split_scores(params: Params, left: Floats, right: Floats) -> Floats:
    """Eq. 5 at the weights that released sums of shape (2, ...) would give: clipped, and 0 where H is not positive."""
    parent, penalty = decrease(params, left + right), params.split_penalty
    return (decrease(params, left) + decrease(params, right) - parent) / 2 - penalty


def decrease(params: Params, sums: Floats) -> Floats:
    """Twice what nodes' weights lower the objective by; G^2/(H + lambda) without clipping. sums: shape (2, ...)."""
    (g, h), lam, clip = sums, params.regularisation, params.leaf_clip
    positive = np.maximum(h, 0)
    weight = np.where(h > 0, np.clip(leaf_weight(g, positive, lam), -clip, clip), 0.0)
    return np.asarray(-2 * second_order_objective(weight, g, positive, lam))


def leaf_sums(params: Params, batch: range, charged: Charge, population: Population, curator: Curator) -> list[Floats]:
    """Released sums of (g, h) of every leaf of a batch, shape (2, leaf) a tree; one message for the whole batch."""
    released = []
    sums = None if params.noise_by == "record" else values(population.ask(Leaves(SUMS)))
    for place, t in enumerate(batch):
        with curator.step(f"tree {t}"):
            if sums is None:
                released.append(params.local_sums(population, curator, place, charged))
            else:
                released.append(curator.release("leaves", charged, sums[place]))
    return released


def leaf_values(params: Params, schema: Schema, sums: Floats) -> Floats:
    """What each leaf adds to a score, from released sums of shape (2, leaf) (Section 4.4)."""
    if params.update != "averaging":
        weights = [released_leaf_weight(g, h, params.regularisation) for g, h in sums.T]
        return np.asarray(update(np.array(weights), params.leaf_clip, params.shrinkage))
    if isinstance(schema.target, Classes):
        return np.array([averaging_weight(g, h) for g, h in sums.T])
    return np.array([2 * averaging_weight((g + h) / 2, h) - 1 for g, h in sums.T])  # the mean of labels in [-1, 1]


# --- Predictions and the paper's methods by name ----------------------------------------------------------------------


def predict(model: Model, x: Floats) -> Floats:
    """Regression: values in the target's unit, shape (rows,). Classes: log odds, (rows, scores)."""
    raw, target = model.scores(x), model.schema.target
    if isinstance(target, Classes):
        return log_odds(raw) if model.params["update"] == "averaging" else raw
    return target.unscaled(raw[:, 0])


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
