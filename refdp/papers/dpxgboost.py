"""DP-XGBoost: Grislain and Gonzalvez. Private Machine Learning at Scale. 2021.

Its formulas are in dpxgboost_formulas.py, its settings in dpxgboost_settings.py, its sketch in dpxgboost_sketch.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from typing import Literal

import numpy as np

from refdp import candidates as grids
from refdp import portable
from refdp.accounting import calibrate
from refdp.binned import Mask
from refdp.candidates import Candidates
from refdp.certificate import Certificate, Guarantee, issue
from refdp.curator import Curator
from refdp.events import Event, Partition, Plan, Relation, Release, Repeat, Sequential, Subsample
from refdp.papers.dpxgboost_charges import (
    count_charge,
    exact_counts,
    leaf_charge,
    newton,
    quantile_charge,
    sketch_charge,
    split_charge,
    suffix,
)
from refdp.papers.dpxgboost_settings import AS_PUBLISHED as AS_PUBLISHED
from refdp.papers.dpxgboost_settings import Params as Params
from refdp.papers.dpxgboost_settings import TreeBudget, budget_of, categorical, check_loss, drawn, sketched
from refdp.papers.dpxgboost_sketch import quantile_levels
from refdp.papers.dpxgboost_tree import Grower, Positions, statistics
from refdp.records import Floats, Interval, Schema
from refdp.sparse import AnyBinned, AnyRecords, binned
from refdp.trees import Ensemble, Model, Tree

PAPER = "Grislain, Gonzalvez: DP-XGBoost: Private Machine Learning at Scale (2021, arXiv 2110.12770)"


# --- Plan: what a run releases, from parameters alone -----------------------------------------------------------------


def plan(params: Params, schema: Schema, *, proved: bool = False) -> Plan:
    """Everything that `train` will release. proved: with the ledger's sensitivities instead of the declared ones."""
    check_loss(params, schema)
    return plan_at(params, schema, total_epsilon(params, schema), proved=proved)


@lru_cache(maxsize=64)
def total_epsilon(params: Params, schema: Schema) -> float:
    """What all epsilons may add up to: epsilon by basic composition (section 4.4), or more for a delta above 0."""
    if params.delta == 0:
        return params.epsilon
    cost = lru_cache(lambda total: plan_at(params, schema, total))
    high = 1000 * params.epsilon
    found = calibrate(cost, params.epsilon, params.delta, low=params.epsilon, high=high, increasing=True, relative=1e-3)
    return max(portable.coarser(found, 16), params.epsilon)


def plan_at(params: Params, schema: Schema, total: float, *, proved: bool = False) -> Plan:
    """The plan whose epsilons add up to `total` by basic composition."""
    budget = budget_of(params, schema, total)
    once = candidate_releases(params, schema, budget.sketch, proved)
    alike = [(one, budget.trees.count(one)) for one in dict.fromkeys(budget.trees)]
    trees = [Repeat(tree_event(params, schema, one, proved), count) for one, count in alike]
    return Plan(params.relation, Repeat(Sequential((*once, *trees)), schema.scores))


def tree_event(params: Params, schema: Schema, budget: TreeBudget, proved: bool) -> Event:
    """One tree, on its sampled records (section 4.4)."""
    events: list[Event] = [*candidate_releases(params, schema, budget.sketch, proved)]
    for level, epsilon in enumerate(budget.splits):
        events.append(split_charge(params, schema, epsilon).release(f"splits of level {level}", proved))
        if budget.counts:
            charge = count_charge(params, budget.counts[level])
            events.append(charge.release(f"counts of level {level}", proved))
    events.append(leaf_charge(params, schema, budget.leaves).release("leaves", proved))
    tree = Sequential(tuple(events))
    if params.subsample == 1 or (proved and mismatched(params)):
        return tree
    if mismatched(params):
        return Partition((params.subsample,), (tree,))
    return Subsample(params.subsample, tree, method_of(params))


def candidate_releases(params: Params, schema: Schema, epsilon: float, proved: bool) -> tuple[Release, ...]:
    """What candidates of one sketch cost; nothing for epsilon 0."""
    if epsilon == 0:
        return ()
    if params.candidates == "sketch":
        return (sketch_charge(params, schema, epsilon).release("sketch", proved),)
    levels = quantile_levels(params.bins)
    charge = quantile_charge(params, schema, epsilon / levels)
    return tuple(charge.release(f"medians {level}", proved) for level in range(levels))


def mismatched(params: Params) -> bool:
    """Whether rows are sampled without replacement although records are added or removed."""
    without = params.sampling == "without-replacement" and params.subsample < 1
    return without and params.relation is Relation.ADD_REMOVE


def method_of(params: Params) -> Literal["poisson", "without-replacement"]:
    """The sampling that amplifies the guarantee of this relation."""
    return "poisson" if params.relation is Relation.ADD_REMOVE else "without-replacement"


def certificate(params: Params, schema: Schema) -> Certificate:
    """Claimed: epsilon at delta. Established: the plan's cost with the sensitivities that the ledger proves."""
    breaches = []
    if mismatched(params):
        breaches.append("rows are sampled without replacement while records are added (dpxgboost/subsampling)")
    if exact_counts(params):
        breaches.append("splits are left out by exact counts of records (dpxgboost/min-child-weight)")
    if params.constants == "published" and params.leaf == "average":
        breaches.append("leaf values are divided by exact counts (dpxgboost/noisy-average)")
    claimed, declared = Guarantee(params.epsilon, params.delta), plan(params, schema)
    proved = plan(params, schema, proved=True)
    return issue("dpxgboost", claimed, declared, proved, tuple(breaches), schema=schema, rests_on=rests_on(params))


def rests_on(params: Params) -> tuple[str, ...]:
    """Claims that a guarantee needs besides those of its sensitivities."""
    end = suffix(params.relation)
    needed = ["dpxgboost/budget", f"dpxgboost/run{end}"]
    if params.gradients == "filter":
        needed.append(f"dpxgboost/gradient-filter{end}")
    if params.missing == "learned":
        needed.append(f"dpxgboost/default-direction{end}")
    if newton(params):
        needed.append("dpxgboost/clip-ratio")
    if params.subsample < 1:
        needed.append(f"dpxgboost/subsampling{end or '-poisson'}")
    return tuple(needed)


# --- Training ---------------------------------------------------------------------------------------------------------


def train(params: Params, records: AnyRecords, curator: Curator) -> Model:
    """One ensemble for regression and two classes, one against the rest for each of more classes.

    Errors: none that depend on a record; parameters and records were validated when they were made.
    """
    check_loss(params, records.schema)
    coded = binned(records, public_grid(params, records.schema))
    results = []
    for output in range(records.schema.scores):
        with curator.step(f"score {output}"):
            results.append(train_ensemble(params, coded, label_of(params, records, output), curator, records.schema))
    return Model("dpxgboost", asdict(params), records.schema, tuple(results))


def train_ensemble(params: Params, coded: AnyBinned, label: Floats, curator: Curator, schema: Schema) -> Ensemble:
    """Boosting (section 3). label: shape (rows,), in [-1, 1] for square loss, 0 and 1 for log loss."""
    budget = budget_of(params, schema, total_epsilon(params, schema))
    score = np.zeros(coded.size)
    shared: Positions | None = None
    if params.sketch_per == "run":
        everything = statistics(params, score, label, np.ones(coded.size, dtype=np.bool_))
        first = Grower.on(params, schema, coded, everything, curator)
        shared = first.candidates(sorted(sketched(schema) + categorical(schema)), budget.sketch)
    trees: list[Tree] = []
    for number, one in enumerate(budget.trees):
        with curator.step(f"tree {number}"):
            features = drawn_features(params, schema, curator)
            with sampled_rows(params, coded.size, curator) as rows:
                grower = Grower.on(params, schema, coded, statistics(params, score, label, rows), curator)
                trees.append(grower.tree(one, features, shared))
        score += params.shrinkage * trees[-1].leaves[coded.leaf_index(trees[-1])]
    return Ensemble(0.0, tuple(trees), (params.shrinkage,) * len(trees))


@contextmanager
def sampled_rows(params: Params, size: int, curator: Curator) -> Iterator[Mask]:
    """The secret sample of a tree, as a mask (section 4.4)."""
    if params.subsample == 1:
        yield np.ones(size, dtype=np.bool_)
    elif mismatched(params):
        share = params.subsample
        with curator.partition("rows", [share], size, [int(share * size)]) as blocks, blocks.block(0) as rows:
            yield rows
    else:
        with curator.subsample("rows", params.subsample, size, method_of(params)) as rows:
            yield rows


def drawn_features(params: Params, schema: Schema, curator: Curator) -> list[int]:
    """The features of one tree, drawn publicly from the numeric and from the categorical ones."""
    numeric, other = sketched(schema), categorical(schema)
    if params.columns == 1:
        return sorted(numeric + other)
    order = curator.draw("columns", ("uniform",), len(schema.features))
    kinds = [sorted(kind, key=lambda f: float(order[f]))[: drawn(params, len(kind))] for kind in (numeric, other)]
    return sorted(kinds[0] + kinds[1])


def public_grid(params: Params, schema: Schema) -> Candidates:
    """All thresholds that can ever be candidates: the edges of the sketch's bins, or public candidates."""
    return grids.uniform(schema, params.bins if params.candidates == "uniform" else params.sketch_bins - 1)


# --- Labels and predictions -------------------------------------------------------------------------------------------


def label_of(params: Params, records: AnyRecords, output: int) -> Floats:
    """Square loss: in [-1, 1], scaled by public bounds, or +1 for the class and -1 for the rest (section 5).

    Log loss: 1 for the class and 0 for the rest.
    """
    label = records.schema.label(output, records.y)
    plain = params.loss == "log" or isinstance(records.schema.target, Interval)
    return label if plain else 2 * label - 1


def predict(model: Model, x: Floats) -> Floats:
    """Regression: values in the target's unit, shape (rows,). Classes: (rows, scores), expected labels in [-1, 1].

    For log loss that is 2 p - 1, p the predicted probability of the class.
    """
    raw, target = model.scores(x), model.schema.target
    if isinstance(target, Interval):
        return target.unscaled(raw[:, 0])
    return np.tanh(raw / 2) if model.params["loss"] == "log" else raw
