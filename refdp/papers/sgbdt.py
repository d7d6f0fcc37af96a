"""S-GBDT: Kirschte, Peinemann, Stock, Cotrini, Mohammadi. Frugal Differentially Private Gradient Boosting Decision
Trees.

Random trees, noisy leaf sums with two different variances (non-spherical noise), Poisson subsampling for every tree,
and an individual Rényi filter that keeps training on the records that have not yet spent their budget.

| symbol | in the code | what it is, unit | where |
|---|---|---|---|
| T_regular, T_extra | trees, extra_trees | rounds every record can pay, further ones | slide "Training" |
| g_i, h_i | statistics "g", "h" | clipped derivatives of the loss at the score | slide "Leaf computation" |
| g*, h* | gradient_bound, hessian_bound | bounds of size of g_i and h_i | slide "Leaf computation" |
| gamma | subsample | chance of a record to be in a tree's sample | slide "Subsampling" |
| r1, r2 | support_weight, 1 - r1 | weights of support and gradient sum | slide "Non-spherical noise" |
| t_i | record_cost | a record's cost of a round, over alpha | slide "Individual Rényi DP" |
| a(alpha, gamma, t) | accounting.individual.tabulated | that cost after subsampling | slide "Subsampling" |
| u, w | noisy[:, 0], support | noisy gradient sum, noisy support of a leaf | slide "Leaf computation" |
| beta | leaf_clip | bound of a leaf's value, in units of the score | slide "Leaf computation" |
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from refdp.accounting.conversion import epsilons
from refdp.accounting.individual import Accounts, Budget, initialise
from refdp.checks import check_choices, check_count, check_epsilon, check_number
from refdp.data import numbers
from refdp.data.losses import GRID, LOG, SQUARE, WIDEST, grid_floor, on_grid
from refdp.data.memory import Memory
from refdp.data.numbers import Number, maximum, minimum
from refdp.data.population import (
    Advance,
    Begin,
    Labels,
    Leaves,
    Pay,
    Place,
    Population,
    Refresh,
    Start,
    Statistics,
    values,
)
from refdp.data.reading import plan_of
from refdp.data.records import Categorical, Classes, Ensemble, Floats, Model, Numeric, Records, Schema, Tree
from refdp.errors import InvalidParameter
from refdp.ledger.certificate import Certificate, Guarantee, issue
from refdp.noise.calibration import laplace_charge
from refdp.noise.mechanisms import DiscreteGaussian, Gaussian
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Plan, Relation, Sensitivity

PAPER = (
    "Kirschte, Peinemann, Stock, Cotrini, Mohammadi: S-GBDT: Frugal Differentially Private Gradient Boosting Decision "
    "Trees (slides 2023; full text arXiv 2309.12041)"
)


# --- Formulas, generic over numbers -----------------------------------------------------------------------------------


def clipped(value: Number, low: Number, high: Number) -> Number:
    """min(max(value, low), high)."""
    return minimum(maximum(value, low), high)


def record_cost(
    gradient: Number, hessian: Number, gradient_bound: Number, hessian_bound: Number, r1: Number, sigma_squared: Number
) -> Number:
    """t_i = (r1 h_i^2 / h*^2 + r2 g_i^2 / g*^2) / sigma^2: one record costs alpha t_i. At most 1 / sigma^2.

    The weights are relative to the clipping bounds (full text). Slide "Individual Rényi DP" has h = 1 and no bounds.
    """
    relative_gradient, relative_hessian = gradient / gradient_bound, hessian / hessian_bound
    return (r1 * relative_hessian * relative_hessian + (1 - r1) * relative_gradient * relative_gradient) / sigma_squared


def record_cost_slides(gradient: Number, hessian: Number, r1: Number, sigma_squared: Number) -> Number:
    """t_i = (r1 h_i^2 + r2 g_i^2) / sigma^2: the weights of the slides, in units of the sums (h = 1 on the slides)."""
    return (r1 * hessian * hessian + (1 - r1) * gradient * gradient) / sigma_squared


def support_variance(hessian_bound: Number, r1: Number, sigma_squared: Number) -> Number:
    """v_h = h*^2 sigma^2 / (2 r1): what makes `record_cost` exact."""
    return hessian_bound * hessian_bound * sigma_squared / (2 * r1)


def gradient_variance(gradient_bound: Number, r1: Number, sigma_squared: Number) -> Number:
    """v_g = g*^2 sigma^2 / (2 r2): what makes `record_cost` exact."""
    return gradient_bound * gradient_bound * sigma_squared / (2 * (1 - r1))


def support_variance_slides(r1: Number, sigma_squared: Number) -> Number:
    """v_h = sigma^2 / (2 r1): what makes `record_cost_slides` exact."""
    return sigma_squared / (2 * r1)


def gradient_variance_slides(r1: Number, sigma_squared: Number) -> Number:
    """v_g = sigma^2 / (2 r2): what makes `record_cost_slides` exact."""
    return sigma_squared / (2 * (1 - r1))


def whitened_squared(gradient: Number, hessian: Number, v_g: Number, v_h: Number) -> Number:
    """g^2 / v_g + h^2 / v_h: squared change of one leaf's pair of sums, in standard deviations of its noise."""
    return gradient * gradient / v_g + hessian * hessian / v_h


def support_additive(noisy_support: Number, regularisation: Number) -> Number:
    """w = lambda + noisy support (full text)."""
    return regularisation + noisy_support


def support_max(noisy_support: Number, regularisation: Number) -> Number:
    """w = max(lambda, noisy support) (slides)."""
    return maximum(noisy_support, regularisation)


def leaf_value(gradient_sum: Number, support: Number, clip: Number) -> Number:
    """-u / w clamped to [-beta, beta], with g = dl/ds; for w > 0 (post-processing of the noisy sums)."""
    return clipped(-gradient_sum / support, -clip, clip)


# --- Parameters and charges -------------------------------------------------------------------------------------------


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
    features, values, grid_points: how random splits are drawn, see `draw_splits`.
    noise: "discrete", exact samplers on the public grid of the sums; or "floating", which risks that the last bits of
      what is released tell more than epsilon (Mironov 2012).
    support: "additive", w = lambda + noisy support, or "max", w = max(lambda, noisy support), as on the slides.
    weights: "relative" to the clipping bounds (full text), or in the units of the sums ("slides", RDP bound).
    orders: "one" order fixed beforehand for the filter, or "joint": room at several orders is needed. Both give the
      trees the epsilon that the initial score leaves; "shared" is one order at which the Rényi costs of both make up
      epsilon, which leaves nothing over.
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
    features: Literal["uniform", "cyclic"] = "uniform"
    values: Literal["uniform", "grid"] = "grid"
    grid_points: int = 32
    noise: Literal["floating", "discrete"] = "discrete"
    support: Literal["additive", "max"] = "additive"
    weights: Literal["relative", "slides"] = "relative"
    orders: Literal["one", "joint", "shared"] = "one"

    def __post_init__(self) -> None:
        check_choices(self)
        if self.relation is not Relation.ADD_REMOVE:
            raise InvalidParameter(
                f"relation = {self.relation.value!r}: add-remove is allowed; Poisson sampling and the individual "
                "filter are accounted for records that are added or removed"
            )
        check_epsilon(self.epsilon)
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

    # what a run charges, from parameters and public bounds alone

    def bounds(self, schema: Schema) -> tuple[float, float]:
        """g* and h* on the public grid of statistics; h = h* = 1 for square loss."""
        hessian = grid_floor(self.hessian_bound) if isinstance(schema.target, Classes) else 1.0
        return grid_floor(self.gradient_bound), hessian

    def budget(self, schema: Schema) -> Budget:
        """Initialize: order, sigma and individual budget of each score, for the trees' share of epsilon."""
        fixed = self.delta, self.trees, self.subsample, schema.scores
        if self.orders == "shared":
            besides = self.initial_charges(schema) if self.initial_share else ()
            return initialise(self.epsilon, *fixed, besides=besides)
        return initialise(self.epsilon * (1 - self.initial_share), *fixed, joint=self.orders == "joint")

    def sigma_squared(self, schema: Schema) -> float:
        """sigma^2 in the parametrisation of the weights, so that the largest cost is always 1 / budget.sigma^2."""
        squared = self.budget(schema).sigma ** 2
        if self.weights == "relative":
            return squared
        return squared * float(record_cost_slides(*self.bounds(schema), self.support_weight, 1.0))

    def variances(self, schema: Schema) -> tuple[float, float]:
        """v_g, v_h: what makes the cost of every record exact (sgbdt/nonspherical-repaired)."""
        (g, h), r1, squared = self.bounds(schema), self.support_weight, self.sigma_squared(schema)
        if self.weights == "relative":
            return gradient_variance(g, r1, squared), support_variance(h, r1, squared)
        return gradient_variance_slides(r1, squared), support_variance_slides(r1, squared)

    def leaf_charge(self, schema: Schema) -> Charge:
        """A tree's leaf sums: Gaussian noise of two deviations, that of gradient sums and that of supports."""
        return leaf_charge(self, schema)

    def initial_charges(self, schema: Schema) -> tuple[Charge, Charge]:
        """The noisy count and the noisy sum of clamped labels (sgbdt/initial-score)."""
        epsilon = self.epsilon * self.initial_share / schema.scores
        count, total = [Sensitivity(bound, 1, INITIAL, self.relation) for bound in (1.0, grid_floor(self.label_bound))]
        for_count = laplace_charge(epsilon * self.count_share, count, count, self.noise, touched=1)
        for_total = laplace_charge(epsilon * (1 - self.count_share), total, total, self.noise, touched=1)
        return for_count, for_total

    def spendable(self, schema: Schema) -> Floats:
        """What one record can spend at each order of the budget, whatever it holds. Shape (orders,)."""
        return self.budget(schema).spendable

    def stops(self) -> bool:
        """Whether a record that has spent its budget takes part no more, in however many rounds."""
        return True


WHITENED, INITIAL = "sgbdt/whitened-add-remove", "sgbdt/initial-score"
DISCRETE, RUN = "sgbdt/discrete-subsampled", "sgbdt/run"
REPAIRED, INDIVIDUAL, FILTER = "sgbdt/nonspherical-repaired", "sgbdt/individual", "sgbdt/filter"


def leaf_charge(params: Params, schema: Schema) -> Charge:
    """What a round releases and declares, for whatever bounds and variances the parameters give."""
    deviations = tuple(math.sqrt(variance) for variance in params.variances(schema))
    bounds = [Fraction(bound) for bound in params.bounds(schema)]
    variances = [Fraction(deviation) ** 2 for deviation in deviations]
    proved = Sensitivity(numbers.root(whitened_squared(*bounds, *variances)), "whitened", WHITENED, params.relation)
    discrete = params.noise == "discrete"  # the sums are multiples of GRID: nothing is rounded, no shift grows
    return Charge(DiscreteGaussian(deviations, GRID) if discrete else Gaussian(deviations), proved, proved)


def plan(params: Params, schema: Schema, *, proved: bool = False, batches: int = 1) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities. batches: of `train_stream`."""
    rounds = replace(params, extra_trees=params.extra_trees * max(batches - 1, 1))
    return plan_of(train_on, rounds, schema, proved=proved)


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: epsilon at delta. Established: the plan's cost; with extra rounds the cost that the filter enforces.

    With discrete noise as well: whole orders are where its sampled cost is known (sgbdt/discrete-subsampled).
    """
    discrete = params.noise == "discrete"
    filtered = params.extra_trees > 0
    return issue(
        "sgbdt",
        Guarantee(params.epsilon, params.delta),
        plan(params, schema),
        plan(params, schema, proved=True),
        established=filtered_epsilon(params, schema) if filtered or discrete else None,
        schema=schema,
        params=params,
        rests_on=(REPAIRED, RUN, *((INDIVIDUAL, FILTER) if filtered else ()), *((DISCRETE,) if discrete else ())),
        remarks=(_remark(params, schema),) if filtered else (),
    )


def filtered_epsilon(params: Params, schema: Schema) -> float:
    """What the filter enforces: pure cost of the initial score plus the budget at its order, or both at that order."""
    budget, models = params.budget(schema), schema.scores
    rho, pure = models * params.spendable(schema), 0.0
    joint = rho.copy()
    if params.initial_share:
        pure = params.epsilon * params.initial_share
        for charge in params.initial_charges(schema):
            costs = [charge.mechanism.renyi_cost(charge.declared, order) for order in budget.orders]
            joint += models * np.array(costs)
    delta = params.delta
    return float(min(epsilons(budget.orders, joint, delta).min(), pure + epsilons(budget.orders, rho, delta).min()))


def _remark(params: Params, schema: Schema) -> str:
    budget = params.budget(schema)
    return (
        "individual guarantee: all rounds together would cost more, but no record takes part once its own Rényi cost, "
        "computed from its own clipped gradients, would pass the budget "
        f"{budget.spendable[0]:.6g} of order {budget.orders[0]:g}, fixed before the run; so every record, whatever it "
        "holds, has the epsilon established here, and most have less. What a record has spent is private"
    )


# --- What a record contributes ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contribution:
    """ "g" and "h": clipped derivatives of the loss, and what a record pays for them (slide "Individual Rényi DP")."""

    weighs: ClassVar[bool] = True
    params: Params
    schema: Schema
    charged = ("g", "h")

    def label(self, output: int, y: Floats) -> Floats:
        """In [-1, 1] for regression, 0 or 1 for classes. y, result: shape (rows,)."""
        return self.schema.label(output, y)

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """|g| <= g*, 0 <= h <= h*, on the public grid; for square loss every h is 1. score, label: shape (rows,)."""
        gradient_bound, hessian_bound = self.params.bounds(self.schema)
        square = not isinstance(self.schema.target, Classes)
        loss = SQUARE if square else LOG
        with np.errstate(over="ignore"):  # exp(-s) = inf gives the limit, and a warning would tell of a record's score
            g = clipped(on_grid(loss.gradient(score, label)), -gradient_bound, gradient_bound)
            h = None if square else clipped(on_grid(loss.hessian(score, label)), 0.0, hessian_bound)
        return Statistics({"g": g, "h": h})

    def accounts(self) -> Accounts:
        """What every record may spend."""
        return Accounts(self.params.budget(self.schema))

    def cost(self, statistics: Mapping[str, Floats | None]) -> Floats:
        """The t of every record, shape (rows,)."""
        g, h, r1 = statistics["g"], statistics["h"], self.params.support_weight
        assert g is not None
        hessian = 1.0 if h is None else h
        squared = self.params.sigma_squared(self.schema)
        if self.params.weights == "relative":
            return np.asarray(record_cost(g, hessian, *self.params.bounds(self.schema), r1, squared))
        return np.asarray(record_cost_slides(g, hessian, r1, squared))


# --- Training ---------------------------------------------------------------------------------------------------------


def train(params: Params, records: Records, curator: Curator) -> Model:
    """`train_on` records in memory. Errors: none that depend on a record; parameters and records were validated."""
    return train_on(params, records.schema, Memory(records), curator)


def train_on(params: Params, schema: Schema, population: Population, curator: Curator) -> Model:
    """T_regular trees, then T_extra on the records with budget left; once for each score."""
    outputs = []
    for output in range(schema.scores):
        with curator.step(f"score {output}"):
            population.tell(Begin(Contribution(params, schema), (output,)))
            initial = initial_score(params, schema, population, curator)
            trees = grow(params, schema, 0, params.trees + params.extra_trees, population, curator)
            outputs.append(ensemble(params, initial, trees))
    return Model("sgbdt", asdict(params), schema, tuple(outputs))


NO_END = "with these weights records are charged less than they cost, and a stream costs more with every batch"


def check_stream(params: Params) -> None:
    """Errors: InvalidParameter where no budget ends what a record may cost in a stream of any length."""
    if not params.stops():
        raise InvalidParameter(f"weights = {params.weights!r}: {NO_END}; a single batch costs what is certified")


def train_stream(params: Params, batches: Sequence[Records], curator: Curator) -> Model:
    """Train on records that arrive one batch after the other: T_extra trees after each further batch.

    Old records take part with what is left of their budget, new ones with all of it. The first batch alone gives the
    initial score. Errors: InvalidParameter as `check_stream`.
    """
    if len(batches) == 1:
        return train(params, batches[0], curator)
    check_stream(params)
    schema, outputs = batches[0].schema, []
    for output in range(schema.scores):
        with curator.step(f"score {output}"):
            population = Memory(batches[0])
            population.tell(Begin(Contribution(params, schema), (output,)))
            initial = initial_score(params, schema, population, curator)
            trees = grow(params, schema, 0, params.trees, population, curator)
            for batch in batches[1:]:
                population.admit(batch, [ensemble(params, initial, trees)])
                more = grow(params, schema, len(trees), params.extra_trees, population, curator)
                trees = [*trees, *more]
            outputs.append(ensemble(params, initial, trees))
    return Model("sgbdt", asdict(params), schema, tuple(outputs))


def grow(
    params: Params, schema: Schema, first: int, rounds: int, population: Population, curator: Curator
) -> list[Tree]:
    """`rounds` more trees for the present score. first: the number of the first of them, from 0."""
    charge, trees = params.leaf_charge(schema), list[Tree]()
    for number in range(first, first + rounds):
        splits = draw_splits(params, schema, number, curator)  # a random tree, public
        population.tell(Place(splits))
        population.tell(Refresh(("g", "h")))  # clip
        if params.extra_trees:  # filter first; regular rounds alone fit every budget
            population.tell(Pay())
        with curator.subsample("sample", params.subsample, population):  # then subsample
            noisy = curator.release_sum("leaves", charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)
        trees.append(Tree(splits, leaf_values(params, noisy)))
        population.tell(Advance(trees[-1].leaves[None], params.shrinkage))
    return trees


def leaf_values(params: Params, noisy: Floats) -> Floats:
    """Leaf values from noisy sums of shape (leaves, 2); 0 where the noisy support is not positive."""
    form = support_additive if params.support == "additive" else support_max
    support = np.asarray(form(noisy[:, 1], params.regularisation))
    positive = support > 0
    value = leaf_value(noisy[:, 0], np.where(positive, support, 1.0), params.leaf_clip)
    return np.asarray(np.where(positive, value, 0.0))


def ensemble(params: Params, initial: float, trees: Sequence[Tree]) -> Ensemble:
    """The trees so far: released values only."""
    return Ensemble(initial, tuple(trees), (params.shrinkage,) * len(trees))


NEAR_0 = 0.01
"""The initial probability stays this far from 0 and 1."""


def initial_score(params: Params, schema: Schema, population: Population, curator: Curator) -> float:
    """Noisy mean of the clamped labels, or its logit for log loss; from two Laplace releases. 0 without a budget."""
    if not params.initial_share:
        return 0.0
    (for_count, for_total), classes = params.initial_charges(schema), isinstance(schema.target, Classes)
    bound = grid_floor(params.label_bound)
    size, label_sum = values(population.ask(Labels(0.0 if classes else -bound, bound)))
    noisy_count = curator.release("count", for_count, np.array([size]))[0]
    noisy_sum = curator.release("labels", for_total, np.array([label_sum]))[0]
    mean = float(noisy_sum / max(noisy_count, 1.0))
    initial = float(clipped(mean, -bound, bound))
    if classes:
        inside = float(clipped(mean, NEAR_0, 1 - NEAR_0))
        initial = float(numbers.log(inside / (1 - inside)))
    population.tell(Start(initial))
    return initial


# --- Random trees: splits from public randomness alone ----------------------------------------------------------------


def draw_splits(params: Params, schema: Schema, tree: int, curator: Curator) -> Floats:
    """The splits of one full tree, shape (2^depth - 1, 2) in level order: feature, threshold or category index.

    features: drawn for every node, or tree number modulo the number of features for all of them ("cyclic").
    values: uniform on the public bounds, or on `points` grid values low + i (high - low) / points, i = 0 .. points - 1,
      that the path has not ruled out; categories uniform over the public list.
    """
    low, span, categories = domain(schema)
    nodes, width, points = 2**params.depth - 1, len(low), params.grid_points
    if params.features == "uniform":
        feature = curator.draw("features", ("integers", width), nodes)
    else:
        feature = np.full(nodes, tree % width)
    where = curator.draw("values", ("uniform",), nodes)
    share = where if params.values == "uniform" else grid_index(feature, where, width, points) / points
    ordered = low[feature] + share * span[feature]
    category = np.floor(where * categories[feature])
    return np.column_stack([feature, np.where(categories[feature] > 0, category, ordered)]).astype(np.float64)


def domain(schema: Schema) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Lower bound, width and number of categories (0 for a numeric feature) of each feature, shape (features,) each."""
    numeric = [feature if isinstance(feature, Numeric) else None for feature in schema.features]
    listed = [len(f.categories) if isinstance(f, Categorical) else 0 for f in schema.features]
    low, span = [f.low if f else 0.0 for f in numeric], [f.high - f.low if f else 0.0 for f in numeric]
    return np.array(low), np.array(span), np.array(listed, dtype=np.int64)


def grid_index(feature: NDArray[np.int64], where: Floats, width: int, points: int) -> Floats:
    """For every node a grid index uniform among those still reachable: below the path's right turns, above its lefts.

    where: uniform draws in [0, 1). Where a path has used up a feature, the last bound again: all records go one way.
    Shape (node,).
    """
    first = np.zeros((len(feature), width), dtype=np.int64)
    last = np.full((len(feature), width), points - 1)
    index = np.zeros(len(feature))
    for node, f in enumerate(feature):
        left, right = int(first[node, f]), int(last[node, f])
        count = max(right - left + 1, 0)
        index[node] = chosen = min(left + int(where[node] * count), points - 1)
        for child in (2 * node + 1, 2 * node + 2):
            if child < len(feature):
                first[child], last[child] = first[node], last[node]
        if 2 * node + 2 < len(feature):  # right means x >= threshold
            last[2 * node + 1, f] = min(right, chosen - 1)
            first[2 * node + 2, f] = max(left, chosen + 1)
    return index


# --- Predictions ------------------------------------------------------------------------------------------------------


def predict(model: Model, x: Floats) -> Floats:
    """Regression: values in the target's unit, shape (rows,). Classes: log odds of each score, (rows, scores)."""
    raw = model.scores(x)
    target = model.schema.target
    if isinstance(target, Classes):
        return raw
    return target.unscaled(raw[:, 0])
