"""Exact privacy losses of real training runs against the accountant: its delta covers an unbiased estimate.

Each test makes 10 comparisons with confidence 1 - 1e-7 each, so that a correct accountant fails it with probability at
most 1e-6. An accountant that forgets one release is rejected.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refdp.accounting import account
from refdp.accounting.monte_carlo import estimate_delta
from refdp.audit.replay import Pair, sampled
from refdp.data.records import Categorical, Interval, Schema, make_records
from refdp.papers import dpboost
from refdp.privacy.events import Event, Partition, Plan, Relation, Repeat, Sequential, Subsample
from tests.thinned import thinned

SCHEMA = Schema((Categorical("a", ("0", "1")),), Interval(-1.0, 1.0))
CONFIDENCE = 1 - 1e-7


def lone_record(relation: Relation) -> Pair:
    """The audited record falls into a leaf of its own, which changes by all that Lemma 2 allows."""
    base = make_records(SCHEMA, np.array([[0.0]]), np.array([1.0]))
    new, old = (make_records(SCHEMA, np.array([[1.0]]), np.array([y])) for y in (-1.0, 1.0))
    return Pair(base, new, old if relation is Relation.REPLACE_ONE else None, 1)


def losses(params: dpboost.Params, runs: int) -> np.ndarray:
    """log p(with)/p(without) of runs drawn with the record: every seed is even, so that the first side is recorded."""
    pair = lone_record(params.relation)
    train: Any = lambda records, door: dpboost.train(params, records, door)  # noqa: E731
    return np.array([sampled(train, pair, 2 * seed, params.epsilon).loss for seed in range(runs)])


def without_leaves(event: Event) -> Event:
    """The plan of an accountant that forgets the leaf release of every tree."""
    match event:
        case Sequential(events):
            kept = [without_leaves(e) for e in events if getattr(e, "name", "") != "leaves"]
            return Sequential(tuple(kept))
        case Partition(_, events):
            return replace(event, events=tuple(without_leaves(e) for e in events))
        case Repeat(inner, _) | Subsample(_, inner, _):
            return replace(event, event=without_leaves(inner))
    return event


def uncovered(plan: Plan, sample: np.ndarray, epsilons: np.ndarray) -> list[float]:
    """The epsilons at which the accountant's upper bound of delta lies below the estimate's lower bound."""
    return [
        float(epsilon)
        for epsilon in epsilons
        if account(plan, epsilon=float(epsilon)).upper < estimate_delta(sample, float(epsilon), CONFIDENCE).lower
    ]


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(("trees", "ensemble"), thinned([(1, 1), (3, 1), (2, 2)], 2))
def test_accountant_covers_real_runs(relation: Relation, trees: int, ensemble: int) -> None:
    params = dpboost.Params(4.0, relation, trees=trees, trees_per_ensemble=ensemble, depth=1, bins=2)
    plan, sample = dpboost.plan(params, SCHEMA), losses(params, 400)
    epsilons = np.linspace(0.05, 0.95, 10) * params.epsilon
    assert estimate_delta(sample, 0.2, CONFIDENCE).lower > 0  # the runs do reveal something
    assert uncovered(plan, sample, epsilons) == []


def test_an_accountant_that_forgets_the_leaves_is_rejected() -> None:
    params = dpboost.Params(4.0, Relation.ADD_REMOVE, trees=1, trees_per_ensemble=1, depth=1, bins=2)
    plan = dpboost.plan(params, SCHEMA)
    forgetful = Plan(plan.relation, without_leaves(plan.event))
    assert uncovered(forgetful, losses(params, 400), np.linspace(0.05, 0.95, 10) * params.epsilon)
