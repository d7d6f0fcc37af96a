"""The federated framework: Maddock, Cormode, Wang, Maple, Jha. Federated Boosted Decision Trees with Differential
Privacy. CCS 2022.

Its components are settings in fedgbdt_settings.py, its formulas are in fedgbdt_formulas.py. What a run releases and
charges is planned in fedgbdt_plan.py; fedgbdt_growing.py grows a tree. Here is Algorithm 1 around them.
"""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from functools import partial

import numpy as np

from refdp import candidates as grids
from refdp.candidates import Candidates
from refdp.curator import Curator
from refdp.events import Charge
from refdp.federation import Federation
from refdp.generic import exp
from refdp.losses import grid_floor, log_gradient, on_grid, square_gradient
from refdp.papers.fedgbdt_formulas import (
    averaging_weight,
    clip_gradient,
    inner_uniform_candidate,
    log_candidate,
    log_hessian_of,
    released_leaf_weight,
    uniform_candidate,
    update,
)
from refdp.papers.fedgbdt_growing import Grower, Structure
from refdp.papers.fedgbdt_plan import certificate as certificate
from refdp.papers.fedgbdt_plan import plan as plan
from refdp.papers.fedgbdt_plan import queries as queries
from refdp.papers.fedgbdt_plan import query_mu, sums_charge
from refdp.papers.fedgbdt_settings import AS_PUBLISHED as AS_PUBLISHED
from refdp.papers.fedgbdt_settings import PRESETS as PRESETS
from refdp.papers.fedgbdt_settings import Params as Params
from refdp.papers.fedgbdt_settings import all_trees, batches
from refdp.population import Holding, Population
from refdp.records import Classes, Floats, Interval, Numeric, Records, Schema
from refdp.trees import Ensemble, Model, Tree

PAPER = (
    "Maddock, Cormode, Wang, Maple, Jha: Federated Boosted Decision Trees with Differential Privacy "
    "(CCS 2022, doi 10.1145/3548606.3560687)"
)


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
    if isinstance(population, Federation):
        population.check_records_each(params.records_each)
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
