"""InPrivate Digging: Zhao, Ni, Hu, Chen, Zhou, Xiao, Wu. Enabling Tree-based Distributed Data Mining with Differential
Privacy. INFOCOM 2018. Owners train in turn and pass trees on.

Here all owners live in one run, each record dealt to one of them at random. Among owners apart, each with its records
behind its own door and messages in between (protocols/owners.py), a turn is the same: `follow` and `new_trees`.

| symbol | in the code | what it is, unit | where |
|---|---|---|---|
| y_i, f | label, score | label in [-1, 1], sum of trees: half the log odds, or the label's unit | Eq. 5, 12, 16 |
| ȳ_i | statistic "r", residual, square_residual | negative derivative of the loss at the score | Eq. 6, 13 |
| abs(ȳ) (2 - abs(ȳ)) | statistic "c", curvature | a record's term of the denominators, in [0, 1] | Eq. 8 |
| B | residual_bound | residuals are cut to [-B, B] | repairs Eq. 10, 15 |
| E - E_L - E_R | gain | gain of a split | section III-B |
| Delta | gain_range | what the gains of all splits of a level can differ by | Eq. 10 |
| gamma_lm | damped_step | coefficient of a leaf, in units of the score | Eq. 11, 15 |
| d | depth | levels of a tree, that of the leaves counted | Alg. 1 |
| n, T | owners, rounds | turns are T rounds of n owners | Alg. 2, section VI-B |
| epsilon_1, epsilon_2 | split_share, 1 - split_share | shares of a tree's budget | Alg. 1, l. 1, 2 |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from refdp.checks import check_choices, check_count, check_epsilon, check_number
from refdp.data import candidates as grids
from refdp.data import numbers
from refdp.data.candidates import Candidates
from refdp.data.losses import GRID, LARGEST, WIDEST, grid_floor, on_grid
from refdp.data.memory import Memory
from refdp.data.numbers import Number, absolute, exp, maximum, minimum, rounded_up
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
    Turn,
    values,
)
from refdp.data.reading import plan_of
from refdp.data.records import Ensemble, Floats, Interval, Model, Records, Schema, Tree
from refdp.ledger.certificate import Certificate, Guarantee, issue
from refdp.noise.calibration import before_sampling, laplace_charge
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Laplace, Mechanism
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Plan, Relation, Sensitivity, records_changed

PAPER = (
    "Zhao, Ni, Hu, Chen, Zhou, Xiao, Wu: InPrivate Digging: Enabling Tree-based Distributed Data Mining with "
    "Differential Privacy (INFOCOM 2018)"
)


# --- Formulas, generic over numbers: residuals and coefficients -------------------------------------------------------


def residual(label: Number, score: Number) -> Number:
    """ȳ = 2 y / (1 + exp(2 y f))   (Zhao et al. 2018, Eq. 6). |ȳ| < 2, and |ȳ| = 1 only at f = 0."""
    return residual_at_odds(label, exp(2 * label * score))


def residual_at_odds(label: Number, odds: Number) -> Number:
    """ȳ = 2 y / (1 + u), u = exp(2 y f) > 0: Eq. 6 as a rational function of the odds."""
    return 2 * label / (1 + odds)


def square_residual(label: Number, score: Number) -> Number:
    """ȳ = y - f   (Zhao et al. 2018, Eq. 13). Unbounded in f."""
    return label - score


def clip(residual: Number, bound: Number) -> Number:
    """The residual cut to [-B, B], a function of the record alone: the repair of the published range."""
    return maximum(-bound, minimum(bound, residual))


def curvature(residual: Number) -> Number:
    """|ȳ| (2 - |ȳ|), in [0, 1] for |ȳ| <= 2   (Zhao et al. 2018, Eq. 8, one term of the denominator)."""
    size = absolute(residual)
    return size * (2 - size)


def newton_step(residual_sum: Number, curvature_sum: Number) -> Number:
    """γ = Σ ȳ / Σ |ȳ| (2 - |ȳ|)   (Zhao et al. 2018, Eq. 8)."""
    return residual_sum / curvature_sum


def damped_step(numerator: Number, denominator: Number, least: Number, bound: Number) -> Number:
    """γ = numerator / max(denominator, least), cut to [-bound, bound]: Eq. 11 and 15 from noisy sums, repaired.

    Noise can bring a denominator near 0 or below it, where the printed quotient is without meaning. Post-processing.
    """
    return clip(newton_step(numerator, maximum(denominator, least)), bound)


# --- Gain of a split --------------------------------------------------------------------------------------------------


def node_score(residual_sum: Number, count: Number) -> Number:
    """G^2 / n, 0 for an empty node: Σ ȳ^2 - E."""
    return nonempty_score(residual_sum, maximum(count, 1))


def nonempty_score(residual_sum: Number, count: Number) -> Number:
    """G^2 / n for n >= 1."""
    return residual_sum * residual_sum / count


def gain(left_sum: Number, left_count: Number, right_sum: Number, right_count: Number) -> Number:
    """E - E_L - E_R = G_L^2/n_L + G_R^2/n_R - G^2/n   (Zhao et al. 2018, section III-B and Alg. 1, l. 8)."""
    parent = node_score(left_sum + right_sum, left_count + right_count)
    return node_score(left_sum, left_count) + node_score(right_sum, right_count) - parent


def gain_range(residual_bound: Number, relation: Relation) -> Number:
    """4 B^2 (add-remove), 8 B^2 (replace-one): largest minus smallest change over candidates, summed over nodes.

    Under add-remove half of twice the sensitivity: the parent's error changes alike for all candidates and cancels.
    """
    return 4 * records_changed(relation) * residual_bound * residual_bound


# --- Leaf queries and budget ------------------------------------------------------------------------------------------


def classification_leaf_sensitivity(relation: Relation) -> Number:
    """9/4 (add-remove), 9/2 (replace-one): L1, both queries and all leaves together, attained at |ȳ| = 3/2.

    |ȳ| + |ȳ| (2 - |ȳ|) is largest inside the range, so the joint bound is below the sum 2 + 1 of the single ones.
    """
    return records_changed(relation) * Fraction(9, 4)


def regression_leaf_sensitivity(residual_bound: Number, relation: Relation) -> Number:
    """B + 1 (add-remove), 2 B + 2 (replace-one): L1, sum and count together over all leaves, attained."""
    return records_changed(relation) * (residual_bound + 1)


def level_epsilon(epsilon: Number, depth: Number) -> Number:
    """ε_1 / (d - 1): the share of one level   (Theorem 7's proof; Alg. 1, l. 10 prints ε_1)."""
    return epsilon / (depth - 1)


def round_share(number: int) -> Number:
    """2^-t: the chance that a record falls into round t = 1, 2, ..., independently of all other records."""
    return Fraction(1, 2**number)


# --- Parameters and charges -------------------------------------------------------------------------------------------

SUFFIX = {Relation.ADD_REMOVE: "", Relation.REPLACE_ONE: "-replace-one"}


@dataclass(frozen=True)
class Params:
    """All parameters of a run. They are public.

    epsilon: budget of every owner, whole run. relation: the neighbouring relation of the guarantee.
    owners: n. In one run each record is dealt to one of them at random. rounds: T; with one round an owner uses all its
      records, with more each round takes half of what remains (section VI-B), and 2^-T of them stay unused.
    depth: d, the level of the leaves counted: d - 1 levels of splits. split_share: epsilon_1 / epsilon; where there are
      no splits (d = 1) the leaves have all of it.
    turn_budget: a turn may cost epsilon, "whole"; or the run costs epsilon, "amplified": under add-remove a turn may
      then cost more, as each record is in no turn with probability 2^-T, T > 1.
    residual_bound: B, residuals are cut to [-B, B]. Log loss has them within 2, square loss without any bound.
    leaf_bound: coefficients are cut to it. damping: a leaf's noisy denominator counts as at least so many scales of its
      noise, and 1. shrinkage: eta in (0, 1], the weight of a tree; 1 is Eq. 16.
    scheme: "inprivate", or "np": no privacy. candidates: "uniform" or "log" public grids of `bins` thresholds a
      feature.
    noise: "discrete", exact samplers on a public grid; or "floating", which risks that the last bits of what is
      released tell more than epsilon (Mironov 2012).
    """

    epsilon: float
    relation: Relation
    owners: int = 1
    rounds: int = 1
    depth: int = 4
    split_share: float = 0.5
    turn_budget: Literal["whole", "amplified"] = "whole"
    residual_bound: float = 1.0
    leaf_bound: float = 1.0
    damping: float = 4.0
    shrinkage: float = 0.5
    scheme: Literal["inprivate", "np"] = "inprivate"
    candidates: Literal["uniform", "log"] = "uniform"
    bins: int = 32
    noise: Literal["floating", "discrete"] = "discrete"

    def __post_init__(self) -> None:
        check_choices(self)
        check_epsilon(self.epsilon)
        check_count("owners", self.owners, most=100_000)
        check_count("rounds", self.rounds, most=60)
        check_count("depth", self.depth, most=16)
        check_count("bins", self.bins, most=60_000)
        check_number("split_share", self.split_share, above=0, below=1)
        check_number("residual_bound", self.residual_bound, above=GRID, most=LARGEST)
        check_number("leaf_bound", self.leaf_bound, above=0, most=WIDEST)
        check_number("damping", self.damping, least=0)
        check_number("shrinkage", self.shrinkage, above=0, most=1)

    # what a run charges, from parameters and public bounds alone

    def round_shares(self) -> tuple[float, ...]:
        """Share of an owner's records in each round: all of them in a single one, else 2^-t   (section VI-B)."""
        if self.rounds == 1:
            return (1.0,)
        return tuple(numbers.share(round_share(number)) for number in range(1, self.rounds + 1))

    def dealt(self) -> tuple[float, ...]:
        """Probability that a record is used in each turn, rounded down so that they sum to at most 1.

        Turns are in training order: the owners one after the other, once a round (Alg. 2, l. 3).
        """
        return tuple(numbers.share(Fraction(s) / self.owners) for s in self.round_shares() for _ in range(self.owners))

    by_size = False
    """Whether turns get fixed numbers of records instead of every record its own coin."""

    def turn_epsilon(self) -> float:
        """A turn's budget: epsilon; or what comes to epsilon over all rounds (inprivate/unused-records)."""
        halved = self.rounds > 1 and not self.by_size and self.relation is Relation.ADD_REMOVE
        if self.turn_budget == "whole" or not halved:
            return self.epsilon
        return before_sampling(self.epsilon, float(1 - round_share(self.rounds)))

    def tree_epsilon(self, schema: Schema) -> float:
        """A tree's budget: that of its turn, divided between the one-vs-rest trees of more than two classes."""
        return self.turn_epsilon() / schema.scores

    def split_epsilon(self, schema: Schema) -> float:
        """A level's share of epsilon_1 (Alg. 1, l. 1; proof of Theorem 7)."""
        return float(level_epsilon(self.split_share * self.tree_epsilon(schema), self.depth))

    def leaf_epsilon(self, schema: Schema) -> float:
        """epsilon_2 (Alg. 1, l. 2); all of a tree's budget where nothing is split."""
        return (1 - (self.split_share if self.depth > 1 else 0)) * self.tree_epsilon(schema)

    def split_charge(self, schema: Schema) -> Charge:
        """The choice of all splits of one level, for depth > 1 (Alg. 1, l. 10, Eq. 10)."""
        bound = rounded_up(gain_range, self.residual_bound, self.relation)
        proved = Sensitivity(bound, "range", f"inprivate/gain-range{SUFFIX[self.relation]:s}", self.relation)
        return Charge(Exponential.calibrated(self.split_epsilon(schema), bound), proved, proved)

    def leaf_charge(self, schema: Schema) -> Charge:
        """Both queries of all leaves of one tree (Alg. 1, l. 12, Eq. 11 and 15)."""
        proved = self.leaf_sensitivity(schema)
        touched = 2 * records_changed(self.relation)
        return laplace_charge(self.leaf_epsilon(schema), proved, proved, self.noise, touched=touched)

    def leaf_sensitivity(self, schema: Schema) -> Sensitivity:
        """L1 change of the sums of a tree's leaves, both queries and all leaves together."""
        claim, bound = "inprivate/leaf-joint-sensitivity", rounded_up(classification_leaf_sensitivity, self.relation)
        if isinstance(schema.target, Interval):
            claim = "inprivate/leaf-regression-sensitivity"
            bound = rounded_up(regression_leaf_sensitivity, self.residual_bound, self.relation)
        return Sensitivity(bound, 1, f"{claim:s}{SUFFIX[self.relation]:s}", self.relation)

    # what a reading of the paper can replace

    def cut(self) -> float:
        """What residuals are cut to, on the public grid."""
        return grid_floor(self.residual_bound)

    def largest_coefficient(self) -> float:
        """No coefficient of a leaf is larger."""
        return self.leaf_bound

    def coefficients(self, mechanism: Mechanism, noisy: Floats) -> Floats:
        """Eq. 11 or 15, shape (leaves,), from noisy numerators and denominators, shape (2, leaves)."""
        least = GRID
        if self.scheme != "np":
            assert isinstance(mechanism, Laplace | DiscreteLaplace)
            least = max(1.0, self.damping * mechanism.scale)
        return np.asarray(damped_step(noisy[0], noisy[1], least, self.leaf_bound))

    def split_candidates(self, schema: Schema, population: Population) -> Candidates:
        """A public grid; Alg. 1, l. 3 and 4, takes values of the records."""
        return (grids.uniform if self.candidates == "uniform" else grids.logarithmic)(schema, self.bins)

    def sizes(self, parts: int, records: int) -> list[int] | None:
        """How many of an owner's records each of `parts` gets, where that is fixed; None: every record its own coin."""
        return None

    def breaches(self, schema: Schema) -> tuple[str, ...]:
        """Reasons, known from parameters alone, why no guarantee holds at all."""
        return ("scheme np adds no noise: there is no privacy",) if self.scheme == "np" else ()

    def premises(self) -> tuple[str, ...]:
        """Claims that the guarantee of a run needs besides those of its sensitivities.

        Of records that are in no turn where turns cost more than the run.
        """
        suffix = SUFFIX[self.relation]
        return (
            f"inprivate/run{suffix:s}",
            f"inprivate/theorem-7-repaired{suffix:s}",
            "inprivate/public-candidates",
            f"composition/partition-{self.relation.value:s}",
            *(("inprivate/unused-records",) if self.turn_epsilon() > self.epsilon else ()),
        )


def plan(params: Params, schema: Schema, *, proved: bool = False) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities instead of the declared ones."""
    return plan_of(train_on, params, schema, proved=proved)


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: epsilon (Theorem 7, section VI-B). Established: the plan's cost with the ledger's sensitivities."""
    claimed = Guarantee(params.epsilon if params.scheme != "np" else math.inf, 0.0)
    declared, proved = plan(params, schema), plan(params, schema, proved=True)
    return issue("inprivate", claimed, declared, proved, params.breaches(schema),
                 schema=schema, params=params, rests_on=params.premises())  # fmt: skip


# --- What a record contributes ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contribution:
    """ "r": the residual, |r| <= B; "c" for log loss: its curvature, in [0, 1]. Both on the public grid."""

    params: Params
    schema: Schema

    @property
    def queries(self) -> tuple[str, str]:
        """Numerator and denominator of a leaf's coefficient (Eq. 11; Eq. 15)."""
        return ("r", COUNT) if isinstance(self.schema.target, Interval) else ("r", "c")

    def label(self, output: int, y: Floats) -> Floats:
        """In [-1, 1]: scaled by public bounds, or 1 for the class and -1 for the rest. y, result: shape (rows,)."""
        label = self.schema.label(output, y)
        return label if isinstance(self.schema.target, Interval) else 2 * label - 1

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """Eq. 6 or 13, cut to [-B, B]; Eq. 8. score, label: shape (rows,)."""
        if isinstance(self.schema.target, Interval):
            return Statistics({"r": on_grid(clip(square_residual(label, score), self.params.cut()))})
        with np.errstate(over="ignore"):  # exp(2 y f) = inf gives the limit, residual 0
            r = on_grid(clip(residual(label, score), self.params.cut()))
        return Statistics({"r": r, "c": on_grid(curvature(r))})


# --- Training ---------------------------------------------------------------------------------------------------------


def train(params: Params, records: Records, curator: Curator) -> Model:
    """`train_on` records in memory. Errors: none that depend on a record; parameters and records were validated."""
    return train_on(params, records.schema, Memory(records), curator)


def train_on(params: Params, schema: Schema, population: Population, curator: Curator) -> Model:
    """Algorithm 2, once a round, all owners in one run."""
    candidates = begin(params, schema, population)
    turns: list[tuple[Tree, ...]] = []
    with curator.partition("owner and round", params.dealt(), population, params.by_size) as blocks:
        for number in range(params.rounds * params.owners):  # Alg. 2, l. 3
            with blocks.block(number):
                turns.append(new_trees(params, schema, candidates, population, curator))  # Alg. 2, l. 5 and 9
            follow(params, population, turns[-1])  # Alg. 2, l. 8
    return model_of(params, schema, turns)


def begin(params: Params, schema: Schema, population: Population) -> Candidates:
    """All scores are 0 (Alg. 2, l. 4); the split candidates."""
    population.tell(Encode(candidates := params.split_candidates(schema, population)))
    population.tell(Begin(Contribution(params, schema), tuple(range(schema.scores))))
    return candidates


def follow(params: Params, population: Population, trees: Sequence[Tree]) -> None:
    """Alg. 2, l. 8, and Eq. 16: the scores after a turn, anybody's, of one tree a score."""
    for output, tree in enumerate(trees):
        population.tell(Turn(output))
        population.tell(Place(tree.splits))
        population.tell(Advance(tree.leaves[None], params.shrinkage))


def new_trees(
    params: Params, schema: Schema, candidates: Candidates, population: Population, curator: Curator
) -> tuple[Tree, ...]:
    """One turn (Alg. 2, l. 5 or 9) on the selected records: one tree a score."""
    made = []
    for output in range(schema.scores):
        population.tell(Turn(output))
        with curator.step(f"score {output}"):
            made.append(train_tree(params, schema, candidates, population, curator))
    return tuple(made)


def train_tree(
    params: Params, schema: Schema, candidates: Candidates, population: Population, curator: Curator
) -> Tree:
    """Algorithm 1 on the selected records, for the present score."""
    for_leaves, queries = params.leaf_charge(schema), Contribution(params, schema).queries
    population.tell(Refresh(queries))  # Eq. 6 or 13
    population.tell(Root(candidates.features))
    chosen = [np.empty((0, 2))]
    for level in range(params.depth - 1):  # Alg. 1, l. 5
        left, right = candidates.sides(values(population.ask(Bins(("r", COUNT)))))
        utility = gain(left[0], left[1], right[0], right[1])  # Alg. 1, l. 8
        for_splits = params.split_charge(schema)
        chosen.append(
            curator.release(f"splits of level {level}", for_splits, utility, options=candidates.values)  # Alg. 1, l. 10
        )
        population.tell(Descend(chosen[-1]))  # Alg. 1, l. 7
    noisy = curator.release_sum("leaves", for_leaves, population, Nodes(queries))  # Alg. 1, l. 12
    return Tree(np.concatenate(chosen), params.coefficients(for_leaves.mechanism, noisy))


def model_of(params: Params, schema: Schema, turns: list[tuple[Tree, ...]]) -> Model:
    """Alg. 2, l. 13: all trees, as the data miner gets them."""
    by_output = list(zip(*turns, strict=True)) if turns else [()] * schema.scores
    ensembles = tuple(Ensemble(0.0, tuple(trees), (params.shrinkage,) * len(turns)) for trees in by_output)
    return Model("inprivate", asdict(params), schema, ensembles)


# --- Predictions ------------------------------------------------------------------------------------------------------


def predict(model: Model, x: Floats) -> Floats:
    """Regression: values in the target's unit, shape (rows,). Classes: f, half the log odds, shape (rows, outputs)."""
    raw = model.scores(x)
    target = model.schema.target
    return target.unscaled(raw[:, 0]) if isinstance(target, Interval) else raw
