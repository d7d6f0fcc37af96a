"""DPBoost: Li, Wu, Wen, He. Privacy-Preserving Gradient Boosting Decision Trees. AAAI 2020.

| symbol | in the code | what it is, unit | where |
|---|---|---|---|
| g_i | statistic "g" | gradient of the square loss at the score, labels in [-1, 1] | section 2.1 |
| g*, g_l* | gradient_bound | largest gradient of a record that is used | section 3.1 |
| lambda | regularisation | added to the number of records of a node | Eq. 3, Eq. 4 |
| G(I_L, I_R) | gain | gain of a split | Eq. 3 |
| V | leaf_value | value of a leaf, in units of the score | Eq. 4 |
| eta | shrinkage | weight of every tree | section 2.1 |
| T, T_e, Depth_max | trees, trees_per_ensemble, depth | sizes | Alg. 1, Alg. 2 |
| eps_e | tree_epsilon | budget of a tree | Alg. 2, l. 2 |
| eps_nleaf, eps_leaf | level_epsilon, leaf_epsilon | of a level's splits, of its leaves | Alg. 1, l. 1 and 2 |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from refdp.checks import check_choices, check_count, check_epsilon, check_number
from refdp.data import candidates as grids
from refdp.data import numbers
from refdp.data.candidates import Candidates
from refdp.data.losses import GRID, LARGEST, grid_floor, on_grid, square_gradient
from refdp.data.memory import Memory
from refdp.data.numbers import Number, minimum, rounded_up
from refdp.data.population import (
    COUNT,
    Advance,
    Begin,
    Bins,
    Descend,
    Encode,
    Nodes,
    Place,
    Population,
    Refresh,
    Root,
    Statistics,
    values,
)
from refdp.data.reading import plan_of
from refdp.data.records import Ensemble, Floats, Interval, Model, Records, Schema, Tree
from refdp.ledger.certificate import Certificate, Guarantee, issue
from refdp.noise.calibration import laplace_charge
from refdp.noise.mechanisms import Exponential
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Plan, Relation, Sensitivity, records_changed

PAPER = "Li, Wu, Wen, He: Privacy-Preserving Gradient Boosting Decision Trees (AAAI 2020, arXiv 1911.04209)"


# --- Formulas, generic over numbers -----------------------------------------------------------------------------------


def child_gain(gradient_sum: Number, count: Number, regularisation: Number) -> Number:
    """G^2 / (n + lambda): what one child adds to the gain (Li et al. 2020, one term of Eq. 3)."""
    return gradient_sum * gradient_sum / (count + regularisation)


def gain(
    left_gradient: Number, left_count: Number, right_gradient: Number, right_count: Number, regularisation: Number
) -> Number:
    """G(I_L, I_R) = G_L^2 / (n_L + lambda) + G_R^2 / (n_R + lambda)   (Li et al. 2020, Eq. 3)."""
    return child_gain(left_gradient, left_count, regularisation) + child_gain(
        right_gradient, right_count, regularisation
    )


def leaf_value(gradient_sum: Number, count: Number, regularisation: Number) -> Number:
    """V = -G / (n + lambda)   (Li et al. 2020, Eq. 4)."""
    return -gradient_sum / (count + regularisation)


def gain_change_upper(gradient_bound: Number) -> Number:
    """g*^2: the supremum of the change of the gain when one record is added."""
    return gradient_bound * gradient_bound


def gain_change_lower(gradient_bound: Number) -> Number:
    """-3 g*^2: the infimum of the change of the gain when one record is added."""
    return -3 * gradient_bound * gradient_bound


def gain_range(gradient_bound: Number, relation: Relation) -> Number:
    """4 g*^2 (add-remove), 8 g*^2 (replace-one): largest minus smallest change over candidates, summed over nodes.

    Repairs Lemma 1. The exponential mechanism pays for this range, which is below twice the sensitivity 3 g*^2.
    """
    one_record = gain_change_upper(gradient_bound) - gain_change_lower(gradient_bound)
    return records_changed(relation) * one_record


def leaf_sensitivity(gradient_bound: Number, regularisation: Number, clip: Number, relation: Relation) -> Number:
    """min(g*/(1 + lambda), (g* + c)/(2 + lambda), 2 c), L1 over the leaves of a tree; twice that under replace-one.

    Tighter than Corollary 2 where c lies between g*/(3 + 2 lambda) and g*/(1 + lambda).
    """
    straddling = (gradient_bound + clip) / (2 + regularisation)
    one_record = minimum(minimum(gradient_bound / (1 + regularisation), 2 * clip), straddling)
    return records_changed(relation) * one_record


def leaf_clip(gradient_bound: Number, shrinkage: Number, position: int) -> Number:
    """g* (1 - eta)^position, position counted from 0 (Li et al. 2020, section 3.1, geometric leaf clipping)."""
    return gradient_bound * (1 - shrinkage) ** position


def share(shrinkage: Number, position: int, trees_in_ensemble: int) -> Number:
    """eta (1 - eta)^t / (1 - (1 - eta)^T_e)   (Li et al. 2020, section 3.2, before Algorithm 2)."""
    return shrinkage * (1 - shrinkage) ** position / (1 - (1 - shrinkage) ** trees_in_ensemble)


# --- Parameters and charges -------------------------------------------------------------------------------------------

GAIN_RANGE = {
    Relation.ADD_REMOVE: "dpboost/gain-range-add-remove",
    Relation.REPLACE_ONE: "dpboost/gain-range-replace-one",
}
LEAF_CLIPPED = {
    Relation.ADD_REMOVE: "dpboost/leaf-clipped-add-remove",
    Relation.REPLACE_ONE: "dpboost/leaf-clipped-replace-one",
}
RUN = {Relation.ADD_REMOVE: "dpboost/run", Relation.REPLACE_ONE: "dpboost/run-replace-one"}


@dataclass(frozen=True)
class Block:
    """One tree of an ensemble: its share of the records, rounded down so that shares sum to at most 1, and the
    threshold of its leaf clipping."""

    share: float
    clip: float


@dataclass(frozen=True)
class Params:
    """All parameters of a run. They are public.

    epsilon: total privacy budget. relation: the neighbouring relation of the guarantee.
    trees, trees_per_ensemble, depth: T, T_e, Depth_max. regularisation: lambda > 0. shrinkage: eta in [0.001, 1).
    gradient_bound: g_l*, 1 for square loss on labels in [-1, 1].
    scheme: "dpboost", or a baseline of section 4: "np" (no privacy), "para" (parallel), "seq" (sequential).
    candidates: "uniform" or "log" public grids with `bins` thresholds a feature.
    gradients: "filter" leaves out records of |g| > g_l* (section 3.1); "clip" moves g to the bound, at the same cost.
      With labels of +-1 and scores within +-2, filtering leaves out just the records on the wrong side.
    noise: "discrete", exact samplers on a public grid; or "floating", which risks that the last bits of what is
      released tell more than epsilon (Mironov 2012).
    """

    epsilon: float
    relation: Relation
    trees: int = 50
    trees_per_ensemble: int = 50
    depth: int = 6
    regularisation: float = 0.1
    shrinkage: float = 0.1
    gradient_bound: float = 1.0
    scheme: Literal["dpboost", "np", "para", "seq"] = "dpboost"
    candidates: Literal["uniform", "log"] = "uniform"
    bins: int = 32
    gradients: Literal["filter", "clip"] = "filter"
    noise: Literal["floating", "discrete"] = "discrete"

    def __post_init__(self) -> None:
        check_choices(self)
        check_epsilon(self.epsilon)
        check_count("trees", self.trees)
        check_count("trees_per_ensemble", self.trees_per_ensemble)
        check_count("depth", self.depth, most=16)
        check_count("bins", self.bins, most=60_000)
        check_number("regularisation", self.regularisation, least=GRID)
        check_number("shrinkage", self.shrinkage, least=0.001, below=1)  # below, shares of records lose their digits
        check_number("gradient_bound", self.gradient_bound, above=GRID, most=LARGEST)

    # what a run charges, from parameters and public bounds alone

    @property
    def ensemble_size(self) -> int:
        """T_e; of the baselines, "np" and "seq" train every tree on all records, "para" has a single ensemble."""
        return {"dpboost": self.trees_per_ensemble, "para": self.trees}.get(self.scheme, 1)

    def ensembles(self) -> list[list[Block]]:
        """The trees of every ensemble, in training order (Alg. 2, l. 1 and 5 to 8, and the baselines of section 4)."""
        starts = range(0, self.trees, self.ensemble_size)
        sizes = [min(self.ensemble_size, self.trees - start) for start in starts]
        return [[self.block(start, t, size) for t in range(size)] for start, size in zip(starts, sizes, strict=True)]

    def block(self, start: int, position: int, size: int) -> Block:
        """Tree number `position`, counted from 0, of an ensemble of `size` trees that begins with tree `start`."""
        if self.scheme == "para":  # each tree takes half of the unused records
            return Block(numbers.share(Fraction(1, 2 ** (position + 1))), self.gradient_bound)
        if self.scheme != "dpboost":
            return Block(1.0, self.gradient_bound)
        return self.decayed(position, position, size)

    def decayed(self, share_of: int, decay: int, size: int) -> Block:
        """The share of tree number `share_of` and the clip after `decay` trees, the same on every machine."""
        clip = numbers.digits(leaf_clip, self.gradient_bound, self.shrinkage, decay)
        return Block(numbers.share(numbers.digits(share, self.shrinkage, share_of, size)), float(clip))

    def tree_epsilon(self, schema: Schema) -> float:
        """eps_e = eps / N_e (Alg. 2, l. 2), divided again between the one-vs-rest models of more than two classes."""
        ensembles = len(range(0, self.trees, self.ensemble_size))
        return self.epsilon / ensembles / schema.scores

    def leaf_epsilon(self, epsilon: float) -> float:
        """Half of a tree's budget (Alg. 1, l. 1; Theorem 7)."""
        return epsilon / 2

    def split_charge(self, epsilon: float) -> Charge:
        """The choice of all splits of one level, for a tree's budget epsilon (Alg. 1, l. 2, 8 and 9)."""
        level_epsilon = epsilon / (2 * self.depth)  # Alg. 1, l. 2: eps_nleaf
        bound = rounded_up(gain_range, self.gradient_bound, self.relation)
        proved = Sensitivity(bound, "range", GAIN_RANGE[self.relation], self.relation)
        return Charge(Exponential.calibrated(level_epsilon, bound), proved, proved)

    def leaf_charge(self, epsilon: float, clip: float) -> Charge:
        """The release of all leaf values of one tree, for a tree's budget epsilon (Alg. 1, l. 1 and 14)."""
        bound = rounded_up(leaf_sensitivity, self.gradient_bound, self.regularisation, clip, self.relation)
        proved = Sensitivity(bound, 1, LEAF_CLIPPED[self.relation], self.relation)
        touched = records_changed(self.relation)
        return laplace_charge(self.leaf_epsilon(epsilon), proved, proved, self.noise, touched=touched)

    delta = 0.0
    """Of the guarantee; more than 0 only where `published.dpboost.Params` is given one."""

    by_size = False
    """Whether subsets of records have fixed sizes instead of every record its own coin."""

    def split_candidates(self, schema: Schema, population: Population) -> Candidates:
        """A public grid; Alg. 1, l. 6, prints "each split value"."""
        return (grids.uniform if self.candidates == "uniform" else grids.logarithmic)(schema, self.bins)

    def split_rule(self) -> SplitRule:
        """How the nodes of a level are split; its cost is `split_charge`."""
        return splits_of_most_gain

    def breaches(self) -> list[str]:
        """Reasons, known from parameters alone, why no guarantee holds at all."""
        return ["the baseline np adds no noise: there is no privacy"] if self.scheme == "np" else []

    def stated(self) -> dict[str, Any]:
        """What a model says of its parameters."""
        return asdict(self)

    def remarks(self) -> tuple[str, ...]:
        """What a certificate says besides."""
        return ()


def plan(params: Params, schema: Schema, *, proved: bool = False) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities instead of the declared ones."""
    return plan_of(train_on, params, schema, proved=proved)


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: epsilon (Theorem 8). Established: the plan's cost with the sensitivities that the ledger proves."""
    claimed = Guarantee(params.epsilon if params.scheme != "np" else math.inf, params.delta)
    proved = plan(params, schema, proved=True)
    return issue("dpboost", claimed, plan(params, schema), proved, tuple(params.breaches()),
                 schema=schema, params=params, rests_on=(RUN[params.relation],),
                 remarks=params.remarks())  # fmt: skip


# --- What a record contributes ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contribution:
    """ "g": the gradient of the square loss, |g| <= g_l* for every record that is used."""

    params: Params
    schema: Schema

    def label(self, output: int, y: Floats) -> Floats:
        """In [-1, 1]: scaled by public bounds, or +1 for the class, -1 for the rest (section 4).

        y, result: shape (rows,).
        """
        label = self.schema.label(output, y)
        return label if isinstance(self.schema.target, Interval) else 2 * label - 1

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """Gradients on the public grid (Alg. 2, l. 4), filtered or clipped (section 3.1).

        score, label: shape (rows,).
        """
        g = on_grid(square_gradient(score, label))
        if self.params.gradients == "clip":
            bound = grid_floor(self.params.gradient_bound)
            g = np.clip(g, -bound, bound)
        return Statistics({"g": g}, np.abs(g) <= self.params.gradient_bound)  # Alg. 1, l. 3: gradient-based filtering


# --- Training ---------------------------------------------------------------------------------------------------------


def train(params: Params, records: Records, curator: Curator) -> Model:
    """`train_on` records in memory. Errors: none that depend on a record; parameters and records were validated."""
    return train_on(params, records.schema, Memory(records), curator)


def train_on(params: Params, schema: Schema, population: Population, curator: Curator) -> Model:
    """Algorithm 2, once for regression and two classes, once against the rest for each of more classes."""
    population.tell(Encode(candidates := params.split_candidates(schema, population)))
    results = []
    for output in range(schema.scores):
        population.tell(Begin(Contribution(params, schema), (output,)))
        with curator.step(f"score {output}"):
            results.append(train_ensembles(params, schema, candidates, population, curator))
    return Model("dpboost", params.stated(), schema, tuple(results))


def train_ensembles(
    params: Params, schema: Schema, candidates: Candidates, population: Population, curator: Curator
) -> Ensemble:
    """Algorithm 2 for one score."""
    epsilon = params.tree_epsilon(schema)  # Alg. 2, l. 2
    trees: list[Tree] = []
    for number, blocks in enumerate(params.ensembles()):  # Alg. 2, l. 1
        shares = [block.share for block in blocks]
        with curator.partition(f"ensemble {number}", shares, population, params.by_size) as subsets:  # l. 6 to 9
            for position, block in enumerate(blocks):  # Alg. 2, l. 3
                population.tell(Refresh(("g",)))  # Alg. 2, l. 4
                with subsets.block(position):
                    trees.append(train_single_tree(params, candidates, epsilon, block.clip, population, curator))
                population.tell(Place(trees[-1].splits))
                population.tell(Advance(trees[-1].leaves[None], params.shrinkage))
    return Ensemble(0.0, tuple(trees), (params.shrinkage,) * len(trees))


def train_single_tree(
    params: Params, candidates: Candidates, epsilon: float, clip: float, population: Population, curator: Curator
) -> Tree:
    """Algorithm 1 on the selected records. epsilon: eps_t; clip: threshold of the leaf clipping."""
    for_splits, for_leaves = params.split_charge(epsilon), params.leaf_charge(epsilon, clip)
    choose, chosen = params.split_rule(), []
    population.tell(Root(candidates.features))  # Alg. 1, l. 3: the records that are used
    for level in range(params.depth):  # Alg. 1, l. 4 to 9
        chosen.append(choose(params, level, for_splits, candidates, population, curator))
        population.tell(Descend(chosen[-1]))  # Alg. 1, l. 10
    gradient_sum, count = values(population.ask(Nodes(("g", COUNT))))  # Alg. 1, l. 11
    value = leaf_value(gradient_sum, count, params.regularisation)  # Alg. 1, l. 12, Eq. 4
    value = np.clip(value, -clip, clip)  # Alg. 1, l. 13: geometric leaf clipping
    return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, value))  # Alg. 1, l. 14


def splits_of_most_gain(
    params: Params, level: int, charged: Charge, candidates: Candidates, population: Population, curator: Curator
) -> Floats:
    """The split of every node of a level, shape (node, 2): (feature, value)."""
    left, right = candidates.sides(values(population.ask(Bins(("g", COUNT)))))  # Alg. 1, l. 6: each split value
    utility = gain(left[0], left[1], right[0], right[1], params.regularisation)  # Alg. 1, l. 7, Eq. 3
    return curator.release(f"splits of level {level}", charged, utility, options=candidates.values)  # l. 8 and 9


SplitRule = Callable[[Params, int, Charge, Candidates, Population, Curator], Floats]
"""Splits of a level, shape (node, 2), from (parameters, level, charge, candidates, population, curator)."""


# --- Predictions ------------------------------------------------------------------------------------------------------


def predict(model: Model, x: Floats) -> Floats:
    """Regression: values in the target's unit, shape (rows,). Classes: scores in [-1, 1] roughly, (rows, scores)."""
    raw = model.scores(x)
    target = model.schema.target
    return target.unscaled(raw[:, 0]) if isinstance(target, Interval) else raw
