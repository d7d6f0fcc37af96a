"""InPrivate Digging: Zhao, Ni, Hu, Chen, Zhou, Xiao, Wu. INFOCOM 2018. Owners train in turn and pass trees on.

Its formulas are in inprivate_formulas.py. Here all owners live in one run; inprivate_owners.py has each of them behind
its own door, with messages in between (inprivate_messages.py).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
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
from refdp.events import Charge, Event, Partition, Plan, Relation, Sensitivity, Sequential
from refdp.losses import GRID, LARGEST, WIDEST, grid_floor, on_grid
from refdp.mechanisms import DiscreteLaplace, Exponential, Laplace, Mechanism
from refdp.papers.inprivate_formulas import (
    classification_leaf_sensitivity,
    clip,
    curvature,
    damped_step,
    down_sample,
    gain,
    gain_range,
    gain_sensitivity_as_published,
    level_epsilon,
    newton_step,
    records_changed,
    regression_leaf_sensitivity,
    residual,
    round_share,
    square_residual,
)
from refdp.portable import rounded_up
from refdp.records import Floats, Interval, Numeric, Records, Schema
from refdp.trees import Ensemble, Model, Tree

PAPER = (
    "Zhao, Ni, Hu, Chen, Zhou, Xiao, Wu: InPrivate Digging: Enabling Tree-based Distributed Data Mining with "
    "Differential Privacy (INFOCOM 2018)"
)


# --- Parameters -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Params:
    """All parameters of a run. They are public.

    epsilon: budget of every owner, whole run. relation: the neighbouring relation of the guarantee.
    owners: n. In one run each record is dealt to one of them at random. rounds: T; with one round an owner uses all its
      records, with more each round takes half of what remains (section VI-B), and 2^-T of them stay unused.
    depth: d, the level of the leaves counted: d - 1 levels of splits. split_share: epsilon_1 / epsilon.
    residual_bound: B, residuals are cut to [-B, B]. Log loss has them within 2, square loss without any bound.
    leaf_bound: coefficients are cut to it. damping: a leaf's noisy denominator counts as at least so many scales of its
      noise, and 1. shrinkage: eta in (0, 1], the weight of a tree; 1 is Eq. 16.
    scheme: "inprivate", or "np": no privacy. candidates: "uniform" or "log" public grids of `bins` thresholds a
      feature, or "triples": means of triples of the records' sorted values (section V-A).
    noise: "discrete", exact samplers on a public grid; or "floating", which risks that the last bits of what is
      released tell more than epsilon (Mironov 2012).

    Where the paper contradicts itself or its guarantee, one reading has to be chosen:
    constants: "proved" (the ledger's), or "published": gain sensitivity 4, noise of scale 1/(epsilon_2/2) on each leaf
      query, residuals and coefficients as they come.
    level_budget: "share": epsilon_1/(d - 1) a level (proof of Theorem 7), or "whole": epsilon_1 (Alg. 1, l. 10).
    halves: "independent": a record falls into round t with probability 2^-t by itself, or "sizes": halves of exact
      sizes, which follow from the number of records.
    """

    epsilon: float
    relation: Relation
    owners: int = 1
    rounds: int = 1
    depth: int = 4
    split_share: float = 0.5
    residual_bound: float = 1.0
    leaf_bound: float = 1.0
    damping: float = 4.0
    shrinkage: float = 0.5
    scheme: Literal["inprivate", "np"] = "inprivate"
    candidates: Literal["uniform", "log", "triples"] = "uniform"
    bins: int = 32
    noise: Literal["floating", "discrete"] = "floating"
    constants: Literal["proved", "published"] = "proved"
    level_budget: Literal["share", "whole"] = "share"
    halves: Literal["independent", "sizes"] = "independent"

    def __post_init__(self) -> None:
        check_choices(self)
        check_number("epsilon", self.epsilon, above=0)
        check_count("owners", self.owners, most=100_000)
        check_count("rounds", self.rounds, most=60)
        check_count("depth", self.depth, most=16)
        check_count("bins", self.bins, most=60_000)
        check_number("split_share", self.split_share, above=0, below=1)
        check_number("residual_bound", self.residual_bound, above=GRID, most=LARGEST)
        check_number("leaf_bound", self.leaf_bound, above=0, most=WIDEST)
        check_number("damping", self.damping, least=0)
        check_number("shrinkage", self.shrinkage, above=0, most=1)


AS_PUBLISHED = {
    "constants": "published",
    "level_budget": "whole",
    "halves": "sizes",
    "candidates": "triples",
    "shrinkage": 1.0,
}
"""The readings that the paper prints, as keyword arguments of Params."""


# --- Plan: what a run releases, from parameters alone -----------------------------------------------------------------

SUFFIX = {Relation.ADD_REMOVE: "", Relation.REPLACE_ONE: "-replace-one"}
GAIN_RANGE = {Relation.ADD_REMOVE: "inprivate/gain-range", Relation.REPLACE_ONE: "inprivate/gain-range-replace-one"}
LEAVES = {
    "classes": ("inprivate/leaf-joint-sensitivity", "inprivate/leaf-joint-sensitivity-replace-one"),
    "regression": ("inprivate/leaf-regression-sensitivity", "inprivate/leaf-regression-sensitivity-replace-one"),
}
PUBLISHED_GAIN = {Relation.ADD_REMOVE: "inprivate/eq-10", Relation.REPLACE_ONE: "inprivate/eq-10-replace-one"}
PUBLISHED_LEAVES = {
    "classes": ("inprivate/eq-11", "inprivate/eq-11-replace-one"),
    "regression": ("inprivate/eq-15", "inprivate/eq-15-replace-one"),
}
THEOREM_7 = {
    Relation.ADD_REMOVE: "inprivate/theorem-7-repaired",
    Relation.REPLACE_ONE: "inprivate/theorem-7-repaired-replace-one",
}
PARTITION = {
    Relation.ADD_REMOVE: "composition/partition-add-remove",
    Relation.REPLACE_ONE: "composition/partition-replace-one",
}
LOG_LOSS_BOUND = 2.0
"""The residual of log loss is within it (inprivate/residual-bound-repaired)."""


def round_shares(params: Params) -> tuple[float, ...]:
    """Share of an owner's records in each round: all of them in a single one, else 2^-t   (section VI-B)."""
    if params.rounds == 1:
        return (1.0,)
    return tuple(portable.share(round_share(number)) for number in range(1, params.rounds + 1))


def turns(params: Params) -> list[tuple[int, int]]:
    """(round, owner) of every turn in training order, both counted from 0   (Alg. 2, l. 3, once a round)."""
    return [(t, owner) for t in range(params.rounds) for owner in range(params.owners)]


def proved_bound(params: Params, schema: Schema) -> float:
    """B of the run: the cut, or, without one, what log loss keeps to."""
    uncut = params.constants == "published" and not isinstance(schema.target, Interval)
    return LOG_LOSS_BOUND if uncut else params.residual_bound


def split_charge(params: Params, schema: Schema, epsilon: float) -> Charge:
    """The choice of all splits of one level, for a tree's budget epsilon (Alg. 1, l. 1 and 10, Eq. 10)."""
    share = params.split_share * epsilon  # Alg. 1, l. 1: epsilon_1
    if params.level_budget == "share":
        share = level_epsilon(share, params.depth)
    relation = params.relation
    bound = rounded_up(gain_range, proved_bound(params, schema), relation)
    proved = Sensitivity(bound, "range", GAIN_RANGE[relation], relation)
    declared = proved
    if params.constants == "published":  # Eq. 10: the exponent is epsilon_1 gain / (2 Delta)
        twice = float(2 * gain_sensitivity_as_published())
        declared = Sensitivity(twice, "range", PUBLISHED_GAIN[relation], relation)
    return Charge(Exponential.calibrated(share, declared.bound), declared, proved)


def leaf_charge(params: Params, schema: Schema, epsilon: float) -> Charge:
    """Both queries of all leaves of one tree, for a tree's budget epsilon (Alg. 1, l. 2 and 12, Eq. 11 and 15)."""
    share = (1 - params.split_share) * epsilon  # Alg. 1, l. 2: epsilon_2
    relation, which = params.relation, params.relation is Relation.REPLACE_ONE
    task = "regression" if isinstance(schema.target, Interval) else "classes"
    bound = rounded_up(classification_leaf_sensitivity, relation)
    if task == "regression":
        bound = rounded_up(regression_leaf_sensitivity, params.residual_bound, relation)
    proved = Sensitivity(bound, 1, LEAVES[task][which], relation)
    declared = proved
    if params.constants == "published":  # two queries of sensitivity 1, half of epsilon_2 each
        declared = Sensitivity(2.0, 1, PUBLISHED_LEAVES[task][which], relation)
    return laplace_charge(share, declared, proved, params.noise, touched=2 * records_changed(relation))


def tree_plan(params: Params, schema: Schema, *, proved: bool = False) -> Event:
    """What one turn releases: one tree, or one for each of more than two classes, which share the budget."""
    epsilon = params.epsilon / schema.scores
    split = split_charge(params, schema, epsilon) if params.depth > 1 else None
    leaf = leaf_charge(params, schema, epsilon)

    levels = tuple(split.release(f"splits of level {level}", proved) for level in range(params.depth - 1) if split)
    return Sequential((*levels, leaf.release("leaves", proved)) * schema.scores)


def plan(params: Params, schema: Schema, *, proved: bool = False) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities instead of the declared ones."""
    trees = (tree_plan(params, schema, proved=proved),) * len(turns(params))
    if proved and by_size(params) and params.relation is Relation.ADD_REMOVE:
        return Plan(params.relation, Sequential(trees))  # one more record can change the size of every half
    return Plan(params.relation, Partition(dealt(params), trees))


def dealt(params: Params) -> tuple[float, ...]:
    """Probability that a record is used in each turn, rounded down so that they sum to at most 1."""
    shares = [portable.share(Fraction(share) / params.owners) for share in round_shares(params)]
    return tuple(shares[t] for t, _ in turns(params))


def by_size(params: Params) -> bool:
    """Whether halves are of exact sizes; one round has none."""
    return params.halves == "sizes" and params.rounds > 1


def breaches(params: Params, schema: Schema) -> tuple[str, ...]:
    """Reasons, known from parameters alone, why no guarantee holds at all."""
    found = []
    if params.scheme == "np":
        found.append("scheme np adds no noise: there is no privacy")
    if params.candidates == "triples":
        found.append("split candidates are means of the records' values (inprivate/down-sampling): they reveal them")
    if params.constants == "published" and isinstance(schema.target, Interval):
        found.append("residuals of square loss have no bound (inprivate/residual-bound-regression) and are not cut")
    return tuple(found)


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: epsilon (Theorem 7, section VI-B). Established: the plan's cost with the ledger's sensitivities."""
    claimed = Guarantee(params.epsilon if params.scheme != "np" else math.inf, 0.0)
    declared, proved = plan(params, schema), plan(params, schema, proved=True)
    return issue("inprivate", claimed, declared, proved, breaches(params, schema),
                 schema=schema, rests_on=premises(params))  # fmt: skip


def premises(params: Params) -> tuple[str, ...]:
    """Claims that the guarantee of a repaired run needs besides those of its sensitivities."""
    run = f"inprivate/run{SUFFIX[params.relation]}"
    if params.constants == "published":
        return (run,)
    return run, THEOREM_7[params.relation], "inprivate/public-candidates", PARTITION[params.relation]


# --- Training ---------------------------------------------------------------------------------------------------------


def train(params: Params, records: Records, curator: Curator) -> Model:
    """Algorithm 2, once a round, all owners in one run. Errors: none that depend on a record."""
    binned = Binned.of(records.x, split_candidates(params, records))
    labels = labels_of(records)
    scores = np.zeros_like(labels)
    trees: list[tuple[Tree, ...]] = []
    shares = dealt(params)
    sizes = [int(share * records.size) for share in shares] if by_size(params) else None
    with curator.partition("owner and round", shares, records.size, sizes) as blocks:
        for number in range(len(shares)):  # Alg. 2, l. 3
            with blocks.block(number) as rows:
                trees.append(new_trees(params, binned, labels, scores, rows, curator, records.schema))
            for score, tree in zip(scores, trees[-1], strict=True):  # Alg. 2, l. 8, and Eq. 16
                score += params.shrinkage * tree.leaves[binned.leaf_index(tree)]
    return model_of(params, records.schema, trees)


def model_of(params: Params, schema: Schema, turns: list[tuple[Tree, ...]]) -> Model:
    """Alg. 2, l. 13: all trees, as the data miner gets them."""
    by_output = zip(*turns, strict=True) if turns else [()] * schema.scores
    ensembles = tuple(Ensemble(0.0, tuple(trees), (params.shrinkage,) * len(turns)) for trees in by_output)
    return Model("inprivate", asdict(params), schema, ensembles)


def new_trees(
    params: Params, binned: Binned, labels: Floats, scores: Floats, rows: Mask, curator: Curator, schema: Schema
) -> tuple[Tree, ...]:
    """One turn (Alg. 2, l. 5 or 9). labels, scores: shape (outputs, rows); rows: mask of the turn's records."""
    made = []
    mine = binned.take(rows)
    for output, (label, score) in enumerate(zip(labels, scores, strict=True)):
        errors = residuals(params, schema, label[rows], score[rows])
        with curator.step(f"score {output}"):
            made.append(train_tree(params, schema, mine, errors, curator))
    return tuple(made)


def train_tree(params: Params, schema: Schema, mine: Binned, errors: Floats, curator: Curator) -> Tree:
    """Algorithm 1. errors: residuals, multiples of the grid, shape (rows,)."""
    epsilon = params.epsilon / schema.scores
    node, table, chosen = mine.root(), None, [np.empty((0, 2))]
    for level in range(params.depth - 1):  # Alg. 1, l. 5
        split = split_charge(params, schema, epsilon)
        left, right, table = mine.split_sums(node, 2**level, (errors, None), table)
        utility = gain(left[0], left[1], right[0], right[1])  # Alg. 1, l. 8
        chosen.append(
            curator.release(
                f"splits of level {level}",
                split.mechanism,  # Alg. 1, l. 10
                utility,
                sensitivity=split.declared,
                options=mine.candidates.values,
            )
        )
        node = mine.route(node, chosen[-1])  # Alg. 1, l. 7
    leaf = leaf_charge(params, schema, epsilon)
    second = None if isinstance(schema.target, Interval) else on_grid(curvature(errors))  # Eq. 15: count; Eq. 11
    sums = mine.leaf_sums(node, 2 ** (params.depth - 1), (errors, second))
    noisy = curator.release("leaves", leaf.mechanism, sums, sensitivity=leaf.declared)  # Alg. 1, l. 12
    return Tree(np.concatenate(chosen), coefficients(params, leaf.mechanism, noisy))


def residuals(params: Params, schema: Schema, label: Floats, score: Floats) -> Floats:
    """Eq. 6 or 13, cut to [-B, B] unless as published, rounded to the grid: a function of each record alone."""
    if isinstance(schema.target, Interval):
        found = square_residual(label, score)
    else:
        with np.errstate(over="ignore"):  # exp(2 y f) = inf gives the limit, residual 0
            found = residual(label, score)
    if params.constants == "published":
        return on_grid(found)
    return on_grid(clip(found, grid_floor(params.residual_bound)))


def coefficients(params: Params, mechanism: Mechanism, noisy: Floats) -> Floats:
    """Eq. 11 or 15 from noisy numerators and denominators, shape (2, leaves); 0 where there is no quotient."""
    if params.scheme == "np":
        return np.asarray(damped_step(noisy[0], noisy[1], GRID, params.leaf_bound))
    if params.constants == "published":
        return np.asarray(newton_step(noisy[0], np.where(noisy[1] == 0, np.inf, noisy[1])))
    assert isinstance(mechanism, Laplace | DiscreteLaplace)
    least = max(1.0, params.damping * mechanism.scale)
    return np.asarray(damped_step(noisy[0], noisy[1], least, params.leaf_bound))


def split_candidates(params: Params, records: Records) -> Candidates:
    """Public grids; or means of triples of the distinct values (Alg. 1, l. 3 and 4), which are not."""
    if params.candidates != "triples":
        make = grids.uniform if params.candidates == "uniform" else grids.logarithmic
        return make(records.schema, params.bins)
    columns = dict(zip(records.schema.names, records.x.T, strict=True))

    def thresholds(feature: Numeric) -> list[float]:
        values = columns[feature.name]
        return down_sample(np.unique(values[~np.isnan(values)]).tolist())

    found = grids.on_bounds(records.schema, thresholds)
    return Candidates(found.thresholds, found.categorical, public=False)


# --- Labels and predictions -------------------------------------------------------------------------------------------


def labels_of(records: Records) -> Floats:
    """Labels in [-1, 1], shape (outputs, rows): scaled by public bounds, or 1 for the class and -1 for the rest."""
    schema = records.schema
    found = np.array([schema.label(output, records.y) for output in range(schema.scores)])
    return found if isinstance(schema.target, Interval) else 2 * found - 1


def predict(model: Model, x: Floats) -> Floats:
    """Regression: values in the target's unit, shape (rows,). Classes: f, half the log odds, shape (rows, outputs)."""
    raw = model.scores(x)
    target = model.schema.target
    return target.unscaled(raw[:, 0]) if isinstance(target, Interval) else raw
