"""The federated framework: Maddock, Cormode, Wang, Maple, Jha. Federated Boosted Decision Trees with Differential
Privacy. CCS 2022.

Its formulas are in fedgbdt_formulas.py, its components as settings in fedgbdt_settings.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import groupby

import numpy as np

from refdp import candidates as grids
from refdp.accounting import account
from refdp.calibration import gaussian, total_mu
from refdp.candidates import Candidates
from refdp.certificate import Certificate, Guarantee, issue
from refdp.curator import Curator
from refdp.events import Event, Plan, Relation, Release, Repeat, Sensitivity, Sequential
from refdp.generic import Number, exp
from refdp.growth import Options, below
from refdp.losses import GRID, grid_floor, log_gradient, on_grid, square_gradient
from refdp.mechanisms import Mechanism
from refdp.papers.fedgbdt_formulas import (
    Splits,
    averaging_squared_sensitivity,
    averaging_weight,
    candidate_queries,
    clip_gradient,
    counting_squared_sensitivity_as_published,
    cyclical_features,
    gradient_bound_after,
    gradient_squared_sensitivity,
    hessian_squared_sensitivity,
    inner_uniform_candidate,
    iterative_hessian,
    leaf_weight,
    log_candidate,
    log_hessian_of,
    newton_squared_sensitivity,
    newton_squared_sensitivity_as_published,
    released_leaf_weight,
    second_order_objective,
    split_queries,
    uniform_candidate,
    update,
    weight_queries,
)
from refdp.papers.fedgbdt_settings import AS_PUBLISHED as AS_PUBLISHED
from refdp.papers.fedgbdt_settings import PRESETS as PRESETS
from refdp.papers.fedgbdt_settings import Params as Params
from refdp.papers.fedgbdt_settings import all_rounds, all_trees, batches, chosen_features
from refdp.population import Holding, Population
from refdp.reach import Positions, Reach
from refdp.records import Classes, Floats, Interval, Numeric, Records, Schema
from refdp.trees import Ensemble, Model, Tree

PAPER = (
    "Maddock, Cormode, Wang, Maple, Jha: Federated Boosted Decision Trees with Differential Privacy "
    "(CCS 2022, doi 10.1145/3548606.3560687)"
)


# --- Plan: what a run releases, from parameters alone -----------------------------------------------------------------

CLAIMS: Mapping[tuple[str, str, Relation], str] = {
    ("averaging", "proved", Relation.ADD_REMOVE): "fedgbdt/averaging-sensitivity",
    ("averaging", "proved", Relation.REPLACE_ONE): "fedgbdt/averaging-sensitivity-vector-replace-one",
    ("averaging", "published", Relation.ADD_REMOVE): "fedgbdt/averaging-sensitivity",
    ("averaging", "published", Relation.REPLACE_ONE): "fedgbdt/averaging-sensitivity-replace-one",
    ("gradient", "proved", Relation.ADD_REMOVE): "fedgbdt/gradient-sensitivity-clipped",
    ("gradient", "proved", Relation.REPLACE_ONE): "fedgbdt/gradient-sensitivity-vector-replace-one",
    ("gradient", "published", Relation.ADD_REMOVE): "fedgbdt/gradient-sensitivity",
    ("gradient", "published", Relation.REPLACE_ONE): "fedgbdt/gradient-sensitivity-replace-one",
    ("newton", "proved", Relation.ADD_REMOVE): "fedgbdt/newton-sensitivity-joint",
    ("newton", "proved", Relation.REPLACE_ONE): "fedgbdt/newton-sensitivity-joint-replace-one",
    ("newton", "published", Relation.ADD_REMOVE): "fedgbdt/newton-sensitivity",
    ("newton", "published", Relation.REPLACE_ONE): "fedgbdt/newton-sensitivity-replace-one",
    ("hessian", "proved", Relation.ADD_REMOVE): "fedgbdt/hessian-histogram-sensitivity",
    ("hessian", "proved", Relation.REPLACE_ONE): "fedgbdt/hessian-histogram-sensitivity-replace-one",
    ("hessian", "published", Relation.ADD_REMOVE): "fedgbdt/hessian-histogram-sensitivity",
    ("hessian", "published", Relation.REPLACE_ONE): "fedgbdt/table-1-replace-one",
}


@dataclass(frozen=True)
class Charge:
    """A kind of release: its mechanism, the sensitivity that it declares, and the one that the ledger proves."""

    mechanism: Mechanism
    declared: Sensitivity
    proved: Sensitivity

    def release(self, name: str, proved: bool) -> Release:
        """As planned; proved: with the ledger's sensitivity."""
        return Release(name, self.mechanism, self.proved if proved else self.declared)


def sums_charge(params: Params, schema: Schema, mu: float, updates: int) -> Charge:
    """One query of the sums of (g, h). updates: how many batches have moved the scores before it.

    The Hessian of the square loss is 1, so that Newton updates of a regression are gradient updates.
    """
    if isinstance(schema.target, Interval):
        return charge(params, mu, "gradient", 1.0 if params.update == "averaging" else params.gradient_bound)
    if params.sensitivities != "by-round" or params.update == "averaging":
        return charge(params, mu, params.update, 1.0)
    return charge(params, mu, params.update, gradient_bound_after(updates, params.leaf_clip, params.shrinkage))


def hessian_charge(params: Params, schema: Schema, mu: float) -> Charge:
    """One Hessian histogram of one feature. The square loss has h = 1 and pays for (g, h)."""
    return sums_charge(params, schema, mu, 0) if isinstance(schema.target, Interval) else charge(params, mu, "hessian")


def charge(params: Params, mu: float, kind: str, bound: float = 1.0) -> Charge:
    """kind: "averaging", "gradient", "newton" or "hessian"; bound: of |g|; mu: the cost in Gaussian privacy."""
    relation = params.relation
    proved = Sensitivity(root(proved_square(kind, relation, bound)), 2, CLAIMS[kind, "proved", relation], relation)
    printed = Sensitivity(root(published_square(kind, bound)), 2, CLAIMS[kind, "published", relation], relation)
    if params.sensitivities == "by-round":  # rounding to the grid keeps |g| <= 1 (fedgbdt/rounding), not |g| <= b < 1
        proved = replace(proved, bound=proved.bound + 2 * GRID)
        if kind == "newton" and relation is Relation.ADD_REMOVE:
            proved = replace(proved, claim="fedgbdt/newton-sensitivity-by-round")
    declared = printed if params.sensitivities == "published" else proved
    if params.noise_by == "record":
        claim = "fedgbdt/ldp-vector" if params.local == "vector" else "fedgbdt/ldp-leaf-index"
        proved, declared = replace(proved, claim="fedgbdt/ldp-vector"), replace(declared, claim=claim)
    touched = (1 if kind == "hessian" else 2) * (1 if relation is Relation.ADD_REMOVE else 2) * params.records_each
    if params.records_each > 1:  # r times the sensitivity of one record (Section 4, fedgbdt/several-records)
        proved = replace(proved, bound=params.records_each * proved.bound, claim="fedgbdt/several-records")
        declared = replace(declared, bound=params.records_each * declared.bound, claim="fedgbdt/several-records")
    mechanism, rounded = gaussian(mu, declared, params.noise, touched=touched)
    return Charge(mechanism, rounded, replace(proved, bound=proved.bound + (rounded.bound - declared.bound)))


def proved_square(kind: str, relation: Relation, bound: float) -> Number:
    """The squared sensitivity that the ledger proves."""
    if kind == "newton":
        return newton_squared_sensitivity(relation, bound)
    if kind == "gradient":
        return gradient_squared_sensitivity(relation, bound)
    return averaging_squared_sensitivity(relation) if kind == "averaging" else hessian_squared_sensitivity(relation)


def published_square(kind: str, bound: float) -> Number:
    """The squared sensitivity that the paper gives, whatever the neighbours."""
    if kind == "newton":
        return newton_squared_sensitivity_as_published()
    if kind == "gradient" and bound != 1:
        return bound * bound + 1  # Section 4.2: gradient clipping
    return (
        hessian_squared_sensitivity(Relation.ADD_REMOVE)
        if kind == "hessian"
        else (counting_squared_sensitivity_as_published())
    )


def root(square: Number) -> float:
    """The square root of an exact or floating number, never below the true one."""
    found = math.sqrt(square)
    return found if Fraction(found) ** 2 >= Fraction(square) else math.nextafter(found, math.inf)


def queries(params: Params, schema: Schema) -> int:
    """kappa_s + kappa_w + kappa_c of one score (Table 1, as the ledger repairs it)."""
    splits, trees, chosen = Splits(params.splits), all_trees(params, schema), chosen_features(params, schema)
    asked = split_queries(splits, trees, chosen, params.depth) + weight_queries(splits, trees)
    return int(asked + candidate_queries(splits, all_rounds(params, schema), chosen))


def query_mu(params: Params, schema: Schema) -> float:
    """What one query may cost: queries of equal cost compose as the root of their number (fedgbdt/exact-composition).

    More than two classes share epsilon and delta (fedgbdt/one-vs-rest-divided).
    """
    models = schema.scores
    delta = params.delta / models if params.one_vs_rest == "divided" else params.delta
    return total_mu(params.epsilon / models, delta, params.accounting) / math.sqrt(queries(params, schema))


def plan(params: Params, schema: Schema, *, proved: bool = False) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities instead of the declared ones."""
    mu = query_mu(params, schema)
    hessian = hessian_charge(params, schema, mu)

    def tree(number: int, sums: Charge) -> Iterator[Release]:
        if number <= all_rounds(params, schema) and params.splits != "histogram":
            yield from (hessian.release(f"Hessian histogram {i}", proved) for i in range(chosen))
        yield from (sums.release(name, proved) for name in split_names(params, chosen))

    def batch(number: int, trees: range) -> Event:
        sums = sums_charge(params, schema, mu, number)
        asked = [release for t in trees for release in tree(t, sums)]
        leaves = [sums.release("leaves", proved)] * (len(trees) if asks_leaves(params, chosen) else 0)
        return Sequential((*asked, *leaves))

    chosen = chosen_features(params, schema)
    events = (batch(number, trees) for number, trees in enumerate(batches(params, schema)))
    run = tuple(Repeat(event, len(list(same))) for event, same in groupby(events))
    return Plan(params.relation, Repeat(Sequential(run), schema.scores))


def asks_leaves(params: Params, chosen: int) -> bool:
    """Whether the leaves need a query of their own. One random candidate of one feature leaves nothing to score."""
    return params.splits == "totally-random" or (params.splits == "partially-random" and chosen == 1)


def split_names(params: Params, chosen: int) -> list[str]:
    """The queries of a tree's splits; one histogram serves all levels of a tree of one feature (Section 5.1)."""
    if asks_leaves(params, chosen):
        return []
    if chosen == 1:
        return ["histogram"]
    what = "histogram" if params.splits == "histogram" else "sides"
    return [f"{what} {i} of level {level}" for level in range(params.depth) for i in range(chosen)]


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: (epsilon, delta) (Theorem 4.1). Established: the plan's cost with the ledger's sensitivities."""
    breaches = []
    if params.candidates == "quantiles":
        breaches.append("split candidates are values of the records (fedgbdt/table-1-quantiles): outputs reveal them")
    if params.noise_by == "record" and params.local == "index":
        breaches.append("records send the index of their leaf without noise (fedgbdt/ldp-leaf-index)")
    proved = plan(params, schema, proved=True)
    methods = account(proved, delta=params.delta).methods
    remark = f"established at delta {params.delta:g}: " + ", ".join(
        f"{METHODS[name]} epsilon {methods[name]:.6g}" for name in METHODS
    )
    return issue(
        "fedgbdt",
        Guarantee(params.epsilon, params.delta),
        plan(params, schema),
        proved,
        tuple(breaches),
        rests_on=WHOLE[params.relation],
        remarks=(remark,),
    )


METHODS = {"exact": "exact Gaussian composition gives", "renyi": "Renyi composition"}
WHOLE = {
    Relation.ADD_REMOVE: ("fedgbdt/algorithm-1", "fedgbdt/rounding"),
    Relation.REPLACE_ONE: ("fedgbdt/algorithm-1-vector-replace-one", "fedgbdt/rounding-replace-one"),
}
"""Claims on the whole algorithm and on the grid of (g, h)."""


# --- Training: Algorithm 1 --------------------------------------------------------------------------------------------


def train(params: Params, records: Records, curator: Curator) -> Model:
    """Algorithm 1 with all records in one place, once for regression and two classes, else once for each class.

    Errors: none that depend on a record; parameters and records were validated when they were made.
    """
    candidates = quantiles(records, params.bins) if params.candidates == "quantiles" else None
    return train_on(params, records.schema, Holding(records), curator, candidates)


def train_on(
    params: Params, schema: Schema, population: Population, curator: Curator, candidates: Candidates | None = None
) -> Model:
    """Algorithm 1 on records that are only seen through sums. candidates: others than the parameters say."""
    start = public_candidates(params, schema) if candidates is None else candidates  # Alg. 1, l. 1
    results = []
    for output in range(schema.scores):
        gradients = partial(statistics, params, schema)
        population.begin(partial(schema.label, output), gradients, partial(hessians, params, schema))
        with curator.step(f"score {output}"):
            results.append(boost(params, schema, population, start, curator))
    return Model("fedgbdt", asdict(params), schema, tuple(results))


def boost(params: Params, schema: Schema, population: Population, candidates: Candidates, curator: Curator) -> Ensemble:
    """Algorithm 1 for one score."""
    mu = query_mu(params, schema)
    grower = Grower(params, schema, population, curator, mu)
    trees: list[Tree] = []  # Alg. 1, l. 2
    weights: list[float] = []
    for number, batch in enumerate(batches(params, schema)):  # Alg. 1, l. 3
        population.refresh()  # Alg. 1, l. 4
        charged = sums_charge(params, schema, mu, number)
        grown = []
        for t in batch:
            with curator.step(f"tree {t}"):
                candidates, structure = grower.grow(t, candidates, charged)
            grown.append(structure)
        sums = leaf_sums(params, population, curator, batch, charged, grown)
        values = np.array([leaf_values(params, schema, of_tree) for of_tree in sums])  # Alg. 1, l. 10
        trees += [Tree(structure.splits, leaves) for structure, leaves in zip(grown, values)]  # Alg. 1, l. 12
        share = 1 / all_trees(params, schema) if params.update == "averaging" else 1 / len(batch)
        weights += [share] * len(batch)
        if len(trees) < all_trees(params, schema):
            population.advance(values, share)  # Alg. 1, l. 11
    return Ensemble(0.0, tuple(trees), tuple(weights))


def leaf_sums(
    params: Params, population: Population, curator: Curator, batch: range, charged: Charge, grown: list[Structure]
) -> list[Floats]:
    """Released sums of (g, h) of every leaf of a batch, shape (2, leaf) each; one round of communication."""
    reused = [structure.sums for structure in grown if structure.sums is not None]
    if reused:
        return reused
    leaves = 2**params.depth
    if params.noise_by == "record":
        return [local_sums(params, population, curator, place, t, charged) for place, t in enumerate(batch)]
    released = []
    for t, value in zip(batch, population.leaf_sums(leaves), strict=True):  # one message for the whole batch
        with curator.step(f"tree {t}"):
            released.append(curator.release("leaves", charged.mechanism, value, sensitivity=charged.declared))
    return released


def local_sums(
    params: Params, population: Population, curator: Curator, place: int, tree: int, charged: Charge
) -> Floats:
    """The sums of what every record reports with noise of its own (Section 5.3.2, LDP). place: in the batch."""
    leaves = 2**params.depth
    value = population.leaf_vectors(place, leaves)
    value = value if params.local == "vector" else value.sum(axis=2)
    with curator.step(f"tree {tree}"):
        noisy = curator.release("leaves", charged.mechanism, value, sensitivity=charged.declared)
    if params.local == "vector":
        return np.asarray(noisy.sum(axis=0))
    return np.stack([np.bincount(population.leaf_of(place), pair, leaves) for pair in noisy.T])  # leaves told in clear


def leaf_values(params: Params, schema: Schema, sums: Floats) -> Floats:
    """What each leaf adds to a score, from released sums of shape (2, leaf) (Section 4.4)."""
    if params.update != "averaging":
        weights = [released_leaf_weight(g, h, params.regularisation) for g, h in sums.T]
        return np.asarray(update(np.array(weights), params.leaf_clip, params.shrinkage))
    if isinstance(schema.target, Classes):
        return np.array([averaging_weight(g, h) for g, h in sums.T])
    return np.array([2 * averaging_weight((g + h) / 2, h) - 1 for g, h in sums.T])  # the mean of labels in [-1, 1]


@dataclass(frozen=True)
class Structure:
    """A grown tree. splits: as in `Tree`. sums: released sums of its leaves if its splits gave them, (2, leaf)."""

    splits: Floats
    sums: Floats | None = None


@dataclass
class Grower:
    """Split methods (C1) on split candidates (C3) of a tree's features (A1), for one score."""

    params: Params
    schema: Schema
    population: Population
    curator: Curator
    mu: float

    def grow(self, tree: int, candidates: Candidates, charged: Charge) -> tuple[Candidates, Structure]:
        """Alg. 1, lines 5 to 9. tree: counted from 1. Returns the candidates of the next tree as well."""
        params, features = self.params, self._features(tree)
        self.population.encode(candidates)
        refining = tree <= all_rounds(params, self.schema)
        if refining and params.splits != "histogram":  # histograms come with the splits then
            candidates = self._refined(candidates, features, self._hessian_histograms(features))
            self.population.encode(candidates)
        reach = Reach.root(candidates, features)
        if asks_leaves(params, chosen_features(params, self.schema)):
            return candidates, self._totally_random(reach)
        structure, hessian = self._scored(reach, features, charged)
        return self._refined(candidates, features, hessian) if refining and hessian else candidates, structure

    def _features(self, tree: int) -> list[int]:
        """Alg. 1, l. 5: the features of a tree, counted from 0 (Section 5.1)."""
        count, chosen = len(self.schema.features), chosen_features(self.params, self.schema)
        if self.params.interactions == "cyclic" or chosen == count:
            return sorted(number - 1 for number in cyclical_features(tree, count, chosen))
        order = np.argsort(self.curator.draw("features", ("uniform",), count), kind="stable")
        return sorted(order[:chosen].tolist())

    def _hessian_histograms(self, features: Sequence[int]) -> list[Floats]:
        """Released Hessian histograms of these features (Section 4.5.2, totally random)."""
        charged = hessian_charge(self.params, self.schema, self.mu)
        return [
            self.curator.release(f"Hessian histogram {i}", charged.mechanism, bins, sensitivity=charged.declared)
            for i, bins in enumerate(self.population.hessian_sums(features))
        ]

    def _refined(self, candidates: Candidates, features: Sequence[int], hessian: list[Floats]) -> Candidates:
        """Iterative Hessian candidates for the numeric ones of these features; bin 0 is that of missing values."""
        thresholds = list(candidates.thresholds)
        for f, bins in zip(features, hessian, strict=True):
            feature = self.schema.features[f]
            if isinstance(feature, Numeric) and feature.low < feature.high:
                edges = [feature.low, *thresholds[f], feature.high]
                thresholds[f] = np.array(iterative_hessian(edges, bins[1:].tolist(), self.params.bins))
        return replace(candidates, thresholds=tuple(thresholds))

    def _totally_random(self, reach: Reach) -> Structure:
        """Section 4.3.2: the whole tree from public draws; then every record goes to its leaf."""
        depth = self.params.depth
        uniform = self.curator.draw("splits", ("uniform",), (2**depth - 1, 2))
        levels: list[Positions] = []
        for level in range(depth):
            levels.append(reach.drawn(uniform[2**level - 1 : 2 ** (level + 1) - 1]))
            reach = reach.split(levels[-1])
        self.population.place(levels)
        return Structure(reach.candidates.values[np.concatenate(levels)])

    def _scored(self, reach: Reach, features: list[int], charged: Charge) -> tuple[Structure, list[Floats]]:
        """Sections 4.3.1 and 4.3.2: each node is split by the candidate of the largest released score.

        A node whose best score is not positive stays whole: both of its children get its own sums. The root's released
        Hessian histograms are returned as well, if there are any.
        """
        candidates, levels = reach.candidates, list[Positions]()
        own, whole = np.zeros((2, 1)), np.zeros(1, dtype=bool)
        bins: list[Floats] = []
        hessian: list[Floats] = []
        self.population.root(features)
        for level in range(self.params.depth):
            if self.params.splits == "histogram":
                bins = self._histograms(level, bins, levels, features, candidates, charged)
                hessian = hessian or [table[1, 0] for table in bins]
                options = Options.of_bins(candidates, features, bins, 2**level)
            else:
                options = self._random_sides(level, reach, features, charged)
            best, score = options.best(self._score, reach)
            position, sums = options.chosen(best)
            own, whole = options.totals() if level == 0 else own, whole | (score <= 0)
            own = np.where(whole[:, None], own[:, :, None], sums).reshape(2, -1)
            whole = np.repeat(whole, 2)
            levels.append(position)
            reach = reach.split(position)
            if len(features) > 1 and level + 1 < self.params.depth:
                self.population.descend(position)
        self.population.place(levels)
        return Structure(candidates.values[np.concatenate(levels)], own), hessian

    def _score(self, left: Floats, right: Floats) -> Floats:
        """Eq. 5 at the weights that the released sums would give: clipped, and 0 where H is not positive."""
        parent, penalty = self._decrease(left + right), self.params.split_penalty
        return (self._decrease(left) + self._decrease(right) - parent) / 2 - penalty

    def _decrease(self, sums: Floats) -> Floats:
        """Twice by how much a node's weight lowers the second-order objective; G^2/(H + lambda) without clipping."""
        (g, h), lam, clip = sums, self.params.regularisation, self.params.leaf_clip
        weight = np.where(h > 0, np.clip(leaf_weight(g, np.maximum(h, 0), lam), -clip, clip), 0.0)
        return np.asarray(-2 * second_order_objective(weight, g, np.maximum(h, 0), lam))

    def _histograms(
        self, level: int, above: list[Floats], levels: list[Positions], features: list[int], candidates: Candidates,
        charged: Charge,
    ) -> list[Floats]:  # fmt: skip
        """Released bins of every node of a level, shape (2, node, bin) for each feature."""
        if len(features) == 1 and level > 0:  # Section 5.1: the root's histogram serves all levels
            return [below(above[0], candidates, levels[-1])]
        return self._released(level, self.population.bin_sums(2**level), charged)

    def _random_sides(self, level: int, reach: Reach, features: list[int], charged: Charge) -> Options:
        """Section 4.3.2, partially random: one random candidate a node and feature, its sides' sums released."""
        uniform = self.curator.draw(f"candidates of level {level}", ("uniform",), (2**level, len(features)))
        positions = [reach.drawn_of(f, column) for f, column in zip(features, uniform.T, strict=True)]
        sums = self.population.side_sums(positions)
        return Options.of_sides(positions, self._released(level, sums, charged))

    def _released(self, level: int, sums: Sequence[Floats], charged: Charge) -> list[Floats]:
        """One query a feature of the tree."""
        names = split_names(self.params, len(sums))[level * len(sums) :]
        return [
            self.curator.release(name, charged.mechanism, value, sensitivity=charged.declared)
            for name, value in zip(names, sums)
        ]


def public_candidates(params: Params, schema: Schema) -> Candidates:
    """Split candidates (C3) from public bounds, all categories. Iterative Hessian starts from uniform ones."""
    numbers, count = np.arange(1, params.bins + 1), params.bins
    logarithmic, published = params.candidates == "log", params.grid == "published"

    def thresholds(feature: Numeric) -> Floats:
        low, high = feature.low, feature.high
        if not published:
            found = log_candidate if logarithmic else inner_uniform_candidate
            return np.asarray(found(numbers, count, low, high))
        if logarithmic:
            return after(low - 1 + exp(uniform_candidate(numbers, count, 0.0, math.log(1 + high - low))))
        return after(uniform_candidate(numbers, count, low, high))

    return grids.on_bounds(schema, thresholds)


def after(values: Floats) -> Floats:
    """Thresholds t that send x right for x > s, as the paper does, where refdp's comparison is x >= t."""
    return np.nextafter(values, np.inf)


def quantiles(records: Records, count: int) -> Candidates:
    """Quantiles q/Q, q = 0..Q-1, of the records. Not private."""
    shares = np.arange(count) / count
    columns = dict(zip(records.schema.names, records.x.T, strict=True))
    found = grids.on_bounds(records.schema, lambda f: after(np.nanquantile(columns[f.name], shares)))
    return replace(found, public=False)


# --- Labels, statistics and predictions -------------------------------------------------------------------------------


def statistics(params: Params, schema: Schema, score: Floats, label: Floats) -> tuple[Floats, Floats | None]:
    """(g, h) of every record, on the public grid; h None where it is 1 (Sections 4.2 and 4.4)."""
    if params.update == "averaging":
        return on_grid(label), None
    if isinstance(schema.target, Interval):
        gradient = square_gradient(score, label)
        return np.asarray(clip_gradient(on_grid(gradient), grid_floor(params.gradient_bound))), None
    gradient = log_gradient(score, label)
    return on_grid(gradient), on_grid(log_hessian_of(gradient)) if params.update == "newton" else None


def hessians(params: Params, schema: Schema, score: Floats, label: Floats) -> tuple[Floats, Floats | None]:
    """(g, h) of the loss, whatever the update: iterative Hessian candidates follow its h."""
    return statistics(replace(params, update="newton"), schema, score, label)


def predict(model: Model, x: Floats) -> Floats:
    """Regression: values in the target's unit, shape (rows,). Classes: log odds, (rows, scores)."""
    raw = model.scores(x)
    target = model.schema.target
    if isinstance(target, Classes):
        return log_odds(raw) if model.params["update"] == "averaging" else raw
    return target.unscaled(raw[:, 0])


def log_odds(probability: Floats) -> Floats:
    """log(p / (1 - p)) of the mean of a random forest, p kept 1e-9 away from 0 and 1."""
    p = np.clip(probability, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(p) - np.log1p(-p))
