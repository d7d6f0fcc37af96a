"""DPBoost: Li, Wu, Wen, He. Privacy-Preserving Gradient Boosting Decision Trees. AAAI 2020."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Literal

import numpy as np

from refdp import candidates as grids
from refdp import portable
from refdp.binned import Binned, Mask
from refdp.calibration import laplace_charge
from refdp.candidates import Candidates
from refdp.certificate import Certificate, Guarantee, issue
from refdp.checks import check_choices, check_count, check_number
from refdp.curator import Curator
from refdp.events import Charge, Event, Partition, Plan, Relation, Repeat, Sensitivity, Sequential
from refdp.generic import Number, minimum
from refdp.losses import GRID, LARGEST, grid_floor, on_grid, square_gradient
from refdp.mechanisms import Exponential
from refdp.portable import rounded_up
from refdp.records import Floats, Interval, Records, Schema
from refdp.trees import Ensemble, Model, Tree

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


def gain_sensitivity_as_published(gradient_bound: Number, regularisation: Number) -> Number:
    """(3 lambda + 2) / ((lambda + 1)(lambda + 2)) g*^2   (Li et al. 2020, Lemma 1 and Corollary 1; refuted)."""
    numerator = 3 * regularisation + 2
    return numerator / ((regularisation + 1) * (regularisation + 2)) * gradient_bound * gradient_bound


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


def leaf_sensitivity_as_published(gradient_bound: Number, regularisation: Number, clip: Number) -> Number:
    """min(g* / (1 + lambda), 2 c)   (Li et al. 2020, Lemma 2 and Corollary 2)."""
    return minimum(gradient_bound / (1 + regularisation), 2 * clip)


def leaf_sensitivity(gradient_bound: Number, regularisation: Number, clip: Number, relation: Relation) -> Number:
    """min(g*/(1 + lambda), (g* + c)/(2 + lambda), 2 c), L1 over the leaves of a tree; twice that under replace-one.

    Tighter than Corollary 2 where c lies between g*/(3 + 2 lambda) and g*/(1 + lambda).
    """
    straddling = (gradient_bound + clip) / (2 + regularisation)
    one_record = minimum(leaf_sensitivity_as_published(gradient_bound, regularisation, clip), straddling)
    return records_changed(relation) * one_record


def records_changed(relation: Relation) -> int:
    """1 under add-remove; 2 under replace-one, where one record leaves and another arrives."""
    return 1 if relation is Relation.ADD_REMOVE else 2


def leaf_clip(gradient_bound: Number, shrinkage: Number, position: int) -> Number:
    """g* (1 - eta)^position, position counted from 0 (Li et al. 2020, section 3.1, geometric leaf clipping)."""
    return gradient_bound * (1 - shrinkage) ** position


def share(shrinkage: Number, position: int, trees_in_ensemble: int) -> Number:
    """eta (1 - eta)^t / (1 - (1 - eta)^T_e)   (Li et al. 2020, section 3.2, before Algorithm 2)."""
    return shrinkage * (1 - shrinkage) ** position / (1 - (1 - shrinkage) ** trees_in_ensemble)


# --- Parameters -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Params:
    """All parameters of a run. They are public.

    epsilon: total privacy budget. relation: the neighbouring relation of the guarantee.
    trees, trees_per_ensemble, depth: T, T_e, Depth_max. regularisation: lambda > 0. shrinkage: eta in [0.001, 1).
    gradient_bound: g_l*, 1 for square loss on labels in [-1, 1].
    scheme: "dpboost", or a baseline of section 4: "np" (no privacy), "para" (parallel), "seq" (sequential).
    candidates: "uniform" or "log" public grids with `bins` thresholds a feature, or "data": every value in the records.
    gradients: "filter" leaves out records of |g| > g_l* (section 3.1); "clip" moves g to the bound, at the same cost.
      With labels of +-1 and scores within +-2, filtering leaves out just the records on the wrong side.
    noise: "discrete", exact samplers on a public grid; or "floating", which risks that the last bits of what is
      released tell more than epsilon (Mironov 2012).

    Where the printed algorithms contradict themselves or the guarantee, one reading has to be chosen:
    constants: "proved" (the ledger's) or "published" (Lemma 1, Corollary 2 and the factor 2 of Theorem 2).
    leaf_budget: "half" of a tree's budget (text, Theorem 7), or "level": eps_t / (2 Depth_max), Alg. 1, line 14.
    clip_position: "ensemble": geometric clipping restarts with every ensemble, or "global": t - 1, Alg. 2, line 14.
    blocks: "independent": every record falls into a tree's subset independently with the paper's share as probability,
      or "sizes": subsets of |D| times share records without replacement, and t_e = t mod T_e, Alg. 2, lines 5 and 8.
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
    candidates: Literal["uniform", "log", "data"] = "uniform"
    bins: int = 32
    gradients: Literal["filter", "clip"] = "filter"
    noise: Literal["floating", "discrete"] = "floating"
    constants: Literal["proved", "published"] = "proved"
    leaf_budget: Literal["half", "level"] = "half"
    clip_position: Literal["ensemble", "global"] = "ensemble"
    blocks: Literal["independent", "sizes"] = "independent"

    def __post_init__(self) -> None:
        check_choices(self)
        check_number("epsilon", self.epsilon, above=0)
        check_count("trees", self.trees)
        check_count("trees_per_ensemble", self.trees_per_ensemble)
        check_count("depth", self.depth, most=16)
        check_count("bins", self.bins, most=60_000)
        check_number("regularisation", self.regularisation, least=GRID)
        check_number("shrinkage", self.shrinkage, least=0.001, below=1)  # below, shares of records lose their digits
        check_number("gradient_bound", self.gradient_bound, above=GRID, most=LARGEST)


AS_PUBLISHED = {
    "constants": "published",
    "leaf_budget": "level",
    "clip_position": "global",
    "blocks": "sizes",
    "candidates": "data",
}
"""The readings that the paper prints, as keyword arguments of Params."""


# --- Plan: what a run releases, from parameters alone -----------------------------------------------------------------

GAIN_RANGE = {
    Relation.ADD_REMOVE: "dpboost/gain-range-add-remove",
    Relation.REPLACE_ONE: "dpboost/gain-range-replace-one",
}
LEAF_CLIPPED = {
    Relation.ADD_REMOVE: "dpboost/leaf-clipped-add-remove",
    Relation.REPLACE_ONE: "dpboost/leaf-clipped-replace-one",
}
RUN = {Relation.ADD_REMOVE: "dpboost/run", Relation.REPLACE_ONE: "dpboost/run-replace-one"}
LEMMA_1 = {Relation.ADD_REMOVE: "dpboost/lemma-1", Relation.REPLACE_ONE: "dpboost/lemma-1-replace-one"}
COROLLARY_2 = {Relation.ADD_REMOVE: "dpboost/corollary-2", Relation.REPLACE_ONE: "dpboost/corollary-2-replace-one"}


@dataclass(frozen=True)
class Block:
    """One tree of an ensemble: its share of the records, rounded down so that shares sum to at most 1, and the
    threshold of its leaf clipping."""

    share: float
    clip: float


def ensembles(params: Params) -> list[list[Block]]:
    """The trees of every ensemble, in training order (Alg. 2, lines 1 and 5 to 8, and the baselines of section 4)."""
    if params.scheme in ("np", "seq"):  # every tree on all records
        return [[Block(1.0, params.gradient_bound)] for _ in range(params.trees)]
    if params.scheme == "para":  # each tree takes half of the unused records
        return [[Block(portable.share(Fraction(1, 2 ** (t + 1))), params.gradient_bound) for t in range(params.trees)]]
    starts = range(0, params.trees, params.trees_per_ensemble)
    sizes = [min(params.trees_per_ensemble, params.trees - start) for start in starts]
    return [[_block(params, start, position, size) for position in range(size)] for start, size in zip(starts, sizes)]


def _block(params: Params, start: int, position: int, size: int) -> Block:
    printed = (position + 1) % size if params.blocks == "sizes" else position  # Alg. 2, l. 5: t_e = t mod T_e
    decay = position + (start if params.clip_position == "global" else 0)  # Alg. 2, l. 14: exponent t - 1
    with localcontext(prec=100):  # powers of floats differ between machines; these digits do not
        shrinkage = Decimal(params.shrinkage)
        clip = leaf_clip(Decimal(params.gradient_bound), shrinkage, decay)
        return Block(portable.share(Fraction(share(shrinkage, printed, size))), float(clip))


def tree_epsilon(params: Params, schema: Schema) -> float:
    """eps_e = eps / N_e (Alg. 2, l. 2), divided again between the one-vs-rest models of more than two classes."""
    return params.epsilon / len(ensembles(params)) / schema.scores


def split_charge(params: Params, epsilon: float) -> Charge:
    """The choice of all splits of one level, for a tree's budget epsilon (Alg. 1, lines 2, 8 and 9)."""
    level_epsilon = epsilon / (2 * params.depth)  # Alg. 1, l. 2: eps_nleaf
    relation = params.relation
    bound = rounded_up(gain_range, params.gradient_bound, relation)
    proved = Sensitivity(bound, "range", GAIN_RANGE[relation], relation)
    declared = proved
    if params.constants == "published":  # Theorem 2: the exponent is eps G / (2 Delta G)
        twice = 2 * rounded_up(gain_sensitivity_as_published, params.gradient_bound, params.regularisation)
        declared = Sensitivity(twice, "range", LEMMA_1[relation], relation)
    return Charge(Exponential.calibrated(level_epsilon, declared.bound), declared, proved)


def leaf_charge(params: Params, epsilon: float, clip: float) -> Charge:
    """The release of all leaf values of one tree, for a tree's budget epsilon (Alg. 1, lines 1 and 14)."""
    leaf_epsilon = epsilon / 2 if params.leaf_budget == "half" else epsilon / (2 * params.depth)  # l. 1 against l. 14
    relation = params.relation
    bound = rounded_up(leaf_sensitivity, params.gradient_bound, params.regularisation, clip, relation)
    proved = Sensitivity(bound, 1, LEAF_CLIPPED[relation], relation)
    declared = proved
    if params.constants == "published":
        printed = rounded_up(leaf_sensitivity_as_published, params.gradient_bound, params.regularisation, clip)
        declared = Sensitivity(printed, 1, COROLLARY_2[relation], relation)
    return laplace_charge(leaf_epsilon, declared, proved, params.noise, touched=records_changed(relation))


def plan(params: Params, schema: Schema, *, proved: bool = False) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities instead of the declared ones."""
    epsilon = tree_epsilon(params, schema)
    split = split_charge(params, epsilon)

    def tree(block: Block) -> Event:
        splits = tuple(split.release(f"splits of level {level}", proved) for level in range(params.depth))
        leaves = leaf_charge(params, epsilon, block.clip).release("leaves", proved)
        return Sequential((*splits, leaves))

    def ensemble(blocks: list[Block]) -> Event:
        trees = tuple(tree(block) for block in blocks)
        if proved and params.blocks == "sizes" and params.relation is Relation.ADD_REMOVE:
            return Sequential(trees)  # one more record can change the size of every subset, hence every tree's records
        return Partition(tuple(block.share for block in blocks), trees)

    run = tuple(ensemble(blocks) for blocks in ensembles(params))
    return Plan(params.relation, Repeat(Sequential(run), schema.scores))


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: epsilon (Theorem 8). Established: the plan's cost with the sensitivities that the ledger proves."""
    breaches = []
    if params.scheme == "np":
        breaches.append("the baseline np adds no noise: there is no privacy")
    if params.candidates == "data":
        breaches.append("split candidates are values of the records (dpboost/candidates): outputs reveal them")
    claimed = Guarantee(params.epsilon if params.scheme != "np" else math.inf, 0.0)
    proved = plan(params, schema, proved=True)
    return issue("dpboost", claimed, plan(params, schema), proved, tuple(breaches),
                 schema=schema, rests_on=(RUN[params.relation],))  # fmt: skip


# --- Training ---------------------------------------------------------------------------------------------------------


def train(params: Params, records: Records, curator: Curator) -> Model:
    """Algorithm 2, once for regression and two classes, once against the rest for each of more classes.

    Errors: none that depend on a record; parameters and records were validated when they were made.
    """
    candidates = split_candidates(params, records)
    binned = Binned.of(records.x, candidates)
    results = []
    for output in range(records.schema.scores):
        label = label_of(records, output)
        with curator.step(f"score {output}"):
            results.append(train_ensembles(params, binned, label, curator, records.schema))
    return Model("dpboost", asdict(params), records.schema, tuple(results))


def train_ensembles(params: Params, binned: Binned, label: Floats, curator: Curator, schema: Schema) -> Ensemble:
    """Algorithm 2 for one score. label: shape (rows,), in [-1, 1]."""
    epsilon = tree_epsilon(params, schema)  # Alg. 2, l. 2
    score = np.zeros(binned.size)
    trees: list[Tree] = []
    for number, blocks in enumerate(ensembles(params)):  # Alg. 2, l. 1
        shares = [block.share for block in blocks]
        sizes = [int(share * binned.size) for share in shares] if params.blocks == "sizes" else None
        with curator.partition(f"ensemble {number}", shares, binned.size, sizes) as subsets:  # Alg. 2, l. 6 to 9
            for position, block in enumerate(blocks):  # Alg. 2, l. 3
                gradient = on_grid(square_gradient(score, label))  # Alg. 2, l. 4
                with subsets.block(position) as rows:
                    trees.append(train_single_tree(params, binned, gradient, rows, epsilon, block.clip, curator))
                score += params.shrinkage * trees[-1].leaves[binned.leaf_index(trees[-1])]
    return Ensemble(0.0, tuple(trees), (params.shrinkage,) * len(trees))


def train_single_tree(
    params: Params, binned: Binned, gradient: Floats, rows: Mask, epsilon: float, clip: float, curator: Curator
) -> Tree:
    """Algorithm 1. gradient: shape (rows,); rows: mask of this tree's records; epsilon: eps_t; clip: leaf threshold."""
    if params.gradients == "clip":
        gradient = np.clip(gradient, -grid_floor(params.gradient_bound), grid_floor(params.gradient_bound))
    used = rows & (np.abs(gradient) <= params.gradient_bound)  # Alg. 1, l. 3: gradient-based data filtering
    mine, g = binned.take(used), gradient[used]
    split, leaf = split_charge(params, epsilon), leaf_charge(params, epsilon, clip)
    node, table, chosen = mine.root(), None, []
    for level in range(params.depth):  # Alg. 1, l. 4 to 6
        left, right, table = mine.split_sums(node, 2**level, (g, None), table)
        utility = gain(left[0], left[1], right[0], right[1], params.regularisation)  # Alg. 1, l. 7, Eq. 3
        chosen.append(
            curator.release(
                f"splits of level {level}",
                split.mechanism,  # Alg. 1, l. 8 and 9
                utility,
                sensitivity=split.declared,
                options=binned.candidates.values,
            )
        )
        node = mine.route(node, chosen[-1])  # Alg. 1, l. 10
    gradient_sum, count = mine.leaf_sums(node, 2**params.depth, (g, None))  # Alg. 1, l. 11
    value = leaf_value(gradient_sum, count, params.regularisation)  # Alg. 1, l. 12, Eq. 4
    value = np.clip(value, -clip, clip)  # Alg. 1, l. 13: geometric leaf clipping
    noisy = curator.release("leaves", leaf.mechanism, value, sensitivity=leaf.declared)  # Alg. 1, l. 14
    return Tree(np.concatenate(chosen), noisy)


def split_candidates(params: Params, records: Records) -> Candidates:
    """Public grids; or every value in the records, which is what "each split value" (Alg. 1, l. 6) prints."""
    if params.candidates == "data":
        return grids.from_records(records)
    make = grids.uniform if params.candidates == "uniform" else grids.logarithmic
    return make(records.schema, params.bins)


# --- Labels and predictions -------------------------------------------------------------------------------------------


def label_of(records: Records, output: int) -> Floats:
    """Labels in [-1, 1] of one score: scaled by public bounds, or +1 for the class, -1 for the rest (section 4)."""
    label = records.schema.label(output, records.y)
    return label if isinstance(records.schema.target, Interval) else 2 * label - 1


def predict(model: Model, x: Floats) -> Floats:
    """Regression: values in the target's unit, shape (rows,). Classes: scores in [-1, 1] roughly, (rows, scores)."""
    raw = model.scores(x)
    target = model.schema.target
    return target.unscaled(raw[:, 0]) if isinstance(target, Interval) else raw
