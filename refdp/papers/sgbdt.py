"""S-GBDT: Kirschte, Peinemann, Stock, Cotrini, Mohammadi. Frugal Differentially Private Gradient Boosting Decision
Trees.

Random trees, noisy leaf sums with two different variances (non-spherical noise), Poisson subsampling for every tree,
and an individual Rényi filter that keeps training on the records that have not yet spent their budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np

from refdp import portable
from refdp.accounting.conversion import epsilons
from refdp.calibration import laplace
from refdp.certificate import Certificate, Guarantee, issue
from refdp.checks import check_choices, check_count, check_number
from refdp.curator import Curator
from refdp.errors import InvalidParameter
from refdp.events import Event, Plan, Relation, Release, Repeat, Sensitivity, Sequential, Subsample
from refdp.losses import GRID, LOG, SQUARE, WIDEST, grid_floor
from refdp.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from refdp.papers.sgbdt_budget import Budget, initialise, tabulated
from refdp.papers.sgbdt_formulas import (
    clipped,
    gradient_variance,
    gradient_variance_printed,
    gradient_variance_slides,
    joint_sensitivity_squared,
    leaf_value,
    record_cost,
    record_cost_slides,
    support_additive,
    support_max,
    support_variance,
    support_variance_printed,
    support_variance_slides,
    whitened_squared,
)
from refdp.papers.sgbdt_holder import Held, Holder, Rules
from refdp.papers.sgbdt_splits import Domain, Features, Values, draw_splits
from refdp.records import Classes, Floats, Records, Schema
from refdp.trees import Ensemble, Model, Tree

PAPER = (
    "Kirschte, Peinemann, Stock, Cotrini, Mohammadi: S-GBDT: Frugal Differentially Private Gradient Boosting Decision "
    "Trees (slides 2023; full text arXiv 2309.12041)"
)


# --- Parameters -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Params:
    """All parameters of a run. They are public.

    epsilon, delta: total privacy budget. relation: add-remove; Poisson sampling and the filter are about no other.
    trees: T_regular, which even a record of the largest cost can pay for. extra_trees: T_extra, on the records whose
      individual budget still suffices. depth: levels of splits. shrinkage, regularisation: learning rate, lambda > 0.
    gradient_bound, hessian_bound: g*, h*; for square loss h = h* = 1. leaf_clip: beta.
    subsample: gamma, the chance of every active record to be in a tree's sample. support_weight: r1, with r2 = 1 - r1.
    initial_share: part of epsilon for the initial score, 0 for none; count_share: part of that for the count.
    label_bound: m*, which labels in [-1, 1] or [0, 1] are clamped to for the initial score.
    features, values, grid_points: how random splits are drawn, see `sgbdt_splits.draw_splits`.
    noise: "discrete", exact samplers on the public grid of the sums; or "floating", which risks that the last bits of
      what is released tell more than epsilon (Mironov 2012).
    support: "additive", w = lambda + noisy support, or "max", w = max(lambda, noisy support), as on the slides.
    weights: "relative" to the clipping bounds (full text), in the units of the sums ("slides", RDP bound), or
      "printed": the leaf formula of the slides, whose noise has the weights exchanged against their RDP bound.
    orders: "one" order fixed beforehand for the filter, or "joint": room at several orders is needed.
    """

    epsilon: float
    relation: Relation
    delta: float = 5e-8
    trees: int = 100
    extra_trees: int = 0
    depth: int = 3
    shrinkage: float = 0.2
    regularisation: float = 15.0
    gradient_bound: float = 0.5
    hessian_bound: float = 0.25
    leaf_clip: float = 2.0
    subsample: float = 0.1
    support_weight: float = 0.3
    initial_share: float = 0.1
    count_share: float = 0.5
    label_bound: float = 1.0
    features: Features = "uniform"
    values: Values = "grid"
    grid_points: int = 32
    noise: Literal["floating", "discrete"] = "floating"
    support: Literal["additive", "max"] = "additive"
    weights: Literal["relative", "slides", "printed"] = "relative"
    orders: Literal["one", "joint"] = "one"

    def __post_init__(self) -> None:
        check_choices(self)
        if self.relation is not Relation.ADD_REMOVE:
            raise InvalidParameter(
                f"relation = {self.relation.value!r}: add-remove is allowed; Poisson sampling and the individual "
                "filter are accounted for records that are added or removed"
            )
        check_number("epsilon", self.epsilon, above=0)
        check_number("delta", self.delta, above=0, below=1)
        for name, least, most in (("trees", 1, 10_000), ("extra_trees", 0, 10_000), ("depth", 1, 8)):
            check_count(name, getattr(self, name), least=least, most=most)
        check_count("grid_points", self.grid_points, most=60_000)
        for name in ("subsample", "shrinkage"):
            check_number(name, getattr(self, name), above=0, most=1)
        for name in ("gradient_bound", "hessian_bound", "label_bound"):
            check_number(name, getattr(self, name), least=2 * GRID, most=1)
        check_number("regularisation", self.regularisation, above=0)
        check_number("leaf_clip", self.leaf_clip, above=0, most=WIDEST)
        for name in ("support_weight", "count_share"):
            check_number(name, getattr(self, name), above=0, below=1)
        check_number("initial_share", self.initial_share, least=0, below=1)


AS_PUBLISHED = {"weights": "printed", "support": "max"}
"""The readings that the slides print, as keyword arguments of Params."""


# --- Plan: what a run releases, from parameters alone -----------------------------------------------------------------

WHITENED, PRINTED, INITIAL = "sgbdt/whitened-add-remove", "sgbdt/nonspherical", "sgbdt/initial-score"
DISCRETE = "sgbdt/discrete-subsampled"
REPAIRED, INDIVIDUAL, FILTER = "sgbdt/nonspherical-repaired", "sgbdt/individual", "sgbdt/filter"
RUN = "sgbdt/run"


def budget_of(params: Params, schema: Schema) -> Budget:
    """Order, sigma and individual budget of each score, for the share of epsilon that the trees have."""
    epsilon = params.epsilon * (1 - params.initial_share)
    joint = params.orders == "joint"
    return initialise(epsilon, params.delta, params.trees, params.subsample, schema.scores, joint)


def bounds_of(params: Params, schema: Schema) -> tuple[float, float]:
    """g* and h* on the public grid of statistics; h = h* = 1 for square loss."""
    hessian = grid_floor(params.hessian_bound) if isinstance(schema.target, Classes) else 1.0
    return grid_floor(params.gradient_bound), hessian


@dataclass(frozen=True)
class Noise:
    """The noise of a tree's leaf sums. mechanism: deviations of the sum of gradients and of the support.

    sigma_squared: in the parametrisation of the weights, so that the largest cost is always 1 / budget.sigma^2.
    """

    params: Params
    gradient_bound: float
    hessian_bound: float
    sigma_squared: float
    mechanism: Gaussian | DiscreteGaussian
    declared: Sensitivity
    proved: Sensitivity

    def cost(self, gradient: Floats, hessian: Floats | float) -> Floats:
        """The t of every record, shape (rows,)."""
        r1 = self.params.support_weight
        if self.params.weights == "relative":
            bounds = self.gradient_bound, self.hessian_bound
            return np.asarray(record_cost(gradient, hessian, *bounds, r1, self.sigma_squared))
        return np.asarray(record_cost_slides(gradient, hessian, r1, self.sigma_squared))


@lru_cache(maxsize=64)
def noise_of(params: Params, schema: Schema) -> Noise:
    """The two variances (sgbdt/nonspherical-repaired); "printed" exchanges the weights, as the slides do."""
    sigma, r1 = budget_of(params, schema).sigma, params.support_weight
    g, h = bounds_of(params, schema)
    if params.weights == "relative":
        squared = sigma**2
        v_g, v_h = gradient_variance(g, r1, squared), support_variance(h, r1, squared)
    else:
        squared = sigma**2 * record_cost_slides(g, h, r1, 1.0)
        v_g, v_h = gradient_variance_slides(r1, squared), support_variance_slides(r1, squared)
    if params.weights == "printed":
        v_g, v_h = gradient_variance_printed(r1, squared), support_variance_printed(r1, squared)
    relation = Relation.ADD_REMOVE
    deviations = math.sqrt(v_g), math.sqrt(v_h)
    exact = Fraction(g), Fraction(h), Fraction(deviations[0]) ** 2, Fraction(deviations[1]) ** 2
    proved = Sensitivity(portable.root(whitened_squared(*exact)), "whitened", WHITENED, relation)
    declared = proved
    if params.weights == "printed":
        printed = portable.root(joint_sensitivity_squared(Fraction(sigma) ** 2))
        declared = Sensitivity(printed, "whitened", PRINTED, relation)
    discrete = params.noise == "discrete"  # the sums are multiples of GRID: nothing is rounded, no shift grows
    mechanism = DiscreteGaussian(deviations, GRID) if discrete else Gaussian(deviations)
    return Noise(params, g, h, squared, mechanism, declared, proved)


def rules_of(params: Params, schema: Schema) -> Rules:
    """What the holders of records need to know."""
    noise = noise_of(params, schema)
    loss = LOG if isinstance(schema.target, Classes) else SQUARE
    return Rules(Domain.of(schema), 2**params.depth, loss, noise.gradient_bound, noise.hessian_bound, noise.cost,
                 budget_of(params, schema))  # fmt: skip


def initial_charges(params: Params, schema: Schema) -> list[tuple[Laplace | DiscreteLaplace, Sensitivity]]:
    """Mechanism and sensitivity of the noisy count and of the noisy sum of clamped labels (sgbdt/initial-score)."""
    epsilon = params.epsilon * params.initial_share / schema.scores
    parts = epsilon * params.count_share, epsilon * (1 - params.count_share)
    bounds = (Sensitivity(bound, 1, INITIAL, params.relation) for bound in (1.0, grid_floor(params.label_bound)))
    return [laplace(part, bound, params.noise, touched=1) for part, bound in zip(parts, bounds, strict=True)]


def plan(params: Params, schema: Schema, *, proved: bool = False, batches: int = 1) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities. batches: of `train_stream`."""
    noise = noise_of(params, schema)
    leaves = Release("leaves", noise.mechanism, noise.proved if proved else noise.declared)
    initial: tuple[Event, ...] = ()
    if params.initial_share:
        (count, one), (total, bound) = initial_charges(params, schema)
        initial = (Release("count", count, one), Release("labels", total, bound))
    rounds = params.trees + params.extra_trees * max(batches - 1, 1)
    score = Sequential((*initial, Repeat(Subsample(params.subsample, leaves), rounds)))
    return Plan(params.relation, Repeat(score, schema.scores))


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: epsilon at delta. Established: the plan's cost; with extra rounds the cost that the filter enforces.

    With discrete noise as well: whole orders are where its sampled cost is known (sgbdt/discrete-subsampled).
    """
    claimed, declared = Guarantee(params.epsilon, params.delta), plan(params, schema)
    discrete = (DISCRETE,) if params.noise == "discrete" else ()
    if not params.extra_trees:
        established = filtered_epsilon(params, schema) if discrete else None
        proved = plan(params, schema, proved=True)
        return issue("sgbdt", claimed, declared, proved, established=established, schema=schema,
                     rests_on=(REPAIRED, RUN, *discrete))  # fmt: skip
    return issue(
        "sgbdt", claimed, declared, plan(params, schema, proved=True),
        established=filtered_epsilon(params, schema),
        schema=schema, rests_on=(REPAIRED, INDIVIDUAL, FILTER, RUN, *discrete), remarks=(_remark(params, schema),),
    )  # fmt: skip


def filtered_epsilon(params: Params, schema: Schema) -> float:
    """What the filter enforces: pure cost of the initial score plus the budget at its order, or both at that order.

    With the weights as printed a record is charged less than it costs: then all rounds at their largest cost.
    """
    budget, models = budget_of(params, schema), schema.scores
    spent = budget.spendable
    if params.weights == "printed":
        worst = np.array([noise_of(params, schema).proved.bound ** 2 / 2])
        costs = [tabulated(int(order), params.subsample, worst)[0] for order in budget.orders]
        spent = (params.trees + params.extra_trees) * np.array(costs)
    rho, pure = models * spent, 0.0
    joint = rho.copy()
    if params.initial_share:
        pure = params.epsilon * params.initial_share
        for mechanism, sensitivity in initial_charges(params, schema):
            joint += models * np.array([mechanism.renyi_cost(sensitivity, order) for order in budget.orders])
    delta = params.delta
    return float(min(epsilons(budget.orders, joint, delta).min(), pure + epsilons(budget.orders, rho, delta).min()))


def _remark(params: Params, schema: Schema) -> str:
    budget = budget_of(params, schema)
    return (
        f"individual guarantee: all {params.trees + params.extra_trees} rounds together would cost more, but no record "
        f"takes part once its own Rényi cost, computed from its own clipped gradients, would pass the budget "
        f"{budget.spendable[0]:.6g} of order {budget.orders[0]:g}, fixed before the run; so every record, whatever it "
        "holds, has the epsilon established here, and most have less. What a record has spent is private"
    )


NEAR_0 = 0.01
"""The initial probability stays this far from 0 and 1."""


# --- Training ---------------------------------------------------------------------------------------------------------


def train(params: Params, records: Records, curator: Curator) -> Model:
    """T_regular trees, then T_extra on the records with budget left; once for each score.

    Errors: none that depend on a record; parameters and records were validated when they were made.
    """
    return train_stream(params, (records,), curator)


def train_stream(params: Params, batches: Sequence[Records], curator: Curator) -> Model:
    """As `train`, on records that arrive one batch after the other: T_extra trees after each further batch.

    Old records take part with what is left of their budget, new ones with all of it. The first batch alone gives the
    initial score.
    """
    schema, outputs = batches[0].schema, []
    for output in range(schema.scores):
        with curator.step(f"score {output}"):
            held = Holder(rules_of(params, schema))
            training = Training(params, schema, held)
            for number, batch in enumerate(batches):
                held.admit(batch.x, schema.label(output, batch.y), training.ensemble())
                if not number:
                    training.start(curator)
                training.grow(params.extra_trees if number else params.trees, curator)
            if len(batches) == 1:
                training.grow(params.extra_trees, curator)
            outputs.append(training.ensemble())
    return Model("sgbdt", asdict(params), schema, tuple(outputs))


class Training:
    """One score's training. held: its records, here or with participants; private, never part of a model."""

    def __init__(self, params: Params, schema: Schema, held: Held) -> None:
        self.params, self.schema, self.held = params, schema, held
        self.noise, self.domain = noise_of(params, schema), Domain.of(schema)
        self.initial = 0.0
        self.trees: list[Tree] = []

    def start(self, curator: Curator) -> None:
        """The private initial score, from the records so far."""
        if self.params.initial_share:
            self.initial = initial_score(self.params, self.schema, self.held, curator)
            self.held.begin(self.initial)

    def ensemble(self) -> Ensemble:
        """The trees so far: released values only."""
        return Ensemble(self.initial, tuple(self.trees), (self.params.shrinkage,) * len(self.trees))

    def grow(self, rounds: int, curator: Curator) -> None:
        """`rounds` more trees."""
        for _ in range(rounds):
            self._tree(curator)

    def _tree(self, curator: Curator) -> None:
        params, held = self.params, self.held
        splits = draw_splits(
            curator, self.domain, params.depth, len(self.trees), params.features, params.values, params.grid_points
        )
        held.place(splits)
        if params.extra_trees:  # filter first; regular rounds alone fit every budget
            held.charge()
        with curator.subsample("sample", params.subsample, held.size) as sampled:  # then subsample
            sums = held.sums(sampled)
            noisy = curator.release("leaves", self.noise.mechanism, sums, sensitivity=self.noise.declared)
        self.trees.append(Tree(splits, leaf_values(params, noisy)))
        held.advance(params.shrinkage * self.trees[-1].leaves)


def leaf_values(params: Params, noisy: Floats) -> Floats:
    """Leaf values from noisy sums of shape (leaves, 2); 0 where the noisy support is not positive."""
    form = support_additive if params.support == "additive" else support_max
    support = np.asarray(form(noisy[:, 1], params.regularisation))
    positive = support > 0
    value = leaf_value(noisy[:, 0], np.where(positive, support, 1.0), params.leaf_clip)
    return np.asarray(np.where(positive, value, 0.0))


def initial_score(params: Params, schema: Schema, held: Held, curator: Curator) -> float:
    """Noisy mean of the clamped labels, or its logit for log loss; from two Laplace releases."""
    (count, one), (total, bound) = initial_charges(params, schema)
    classes = isinstance(schema.target, Classes)
    largest = grid_floor(params.label_bound)
    size, label_sum = held.label_sums(0.0 if classes else -largest, largest)
    noisy_count = curator.release("count", count, np.array([size]), sensitivity=one)[0]
    noisy_sum = curator.release("labels", total, np.array([label_sum]), sensitivity=bound)[0]
    mean = float(noisy_sum / max(noisy_count, 1.0))
    if not classes:
        return float(clipped(mean, -largest, largest))
    inside = float(clipped(mean, NEAR_0, 1 - NEAR_0))
    return float(portable.log(inside / (1 - inside)))


# --- Labels and predictions -------------------------------------------------------------------------------------------


def predict(model: Model, x: Floats) -> Floats:
    """Regression: values in the target's unit, shape (rows,). Classes: log odds of each score, (rows, scores)."""
    raw = model.scores(x)
    target = model.schema.target
    if isinstance(target, Classes):
        return raw
    return target.unscaled(raw[:, 0])
