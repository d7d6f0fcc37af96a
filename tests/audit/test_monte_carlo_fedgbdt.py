"""Exact privacy losses of real training runs of the federated framework against its accountant.

As tests/audit/test_monte_carlo.py: each test makes 10 comparisons with confidence 1 - 1e-7 each, so that a correct
accountant fails it with probability at most 1e-6. The runs have a record that changes the sums by all that the ledger's
sensitivity allows, so that there is no slack: an accountant that forgets a tree, and half the noise, are rejected.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from refdp.accounting import account
from refdp.accounting.monte_carlo import estimate_delta
from refdp.audit.replay import Pair, sampled
from refdp.data.records import Categorical, Classes, Records, Schema, make_records
from refdp.noise.mechanisms import Gaussian
from refdp.papers import fedgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Plan, Relation, Release, Repeat, Sequential
from tests.fedgbdt.cases import releases

SCHEMA = Schema((Categorical("a", ("0", "1")),), Classes(("no", "yes")))
EPSILONS = np.linspace(0.2, 3.8, 10)
CONFIDENCE, RUNS = 1 - 1e-7, 200
SETTINGS: dict[str, dict[str, Any]] = {
    "histogram": {"splits": "histogram", "update": "averaging"},
    "partially random": {"splits": "partially-random", "update": "averaging"},
    "totally random": {"update": "averaging"},
    "batch": {"update": "averaging", "batch": 2},
    "first tree of Newton updates": {"update": "newton", "sensitivities": "by-round", "trees": 1},
}


def params(relation: Relation, **settings: Any) -> fedgbdt.Params:
    """With floating noise: the exact profile of the Gaussian has no slack, and takes milliseconds.

    That of discrete noise is compared with enumerations in tests/accounting; here it would take gigabytes.
    """
    return fedgbdt.Params(**{"epsilon": 4.0, "relation": relation, "delta": 0.05, "trees": 2, "depth": 1, "bins": 2,
                             "noise": "floating", **settings})  # fmt: skip


def extreme_record(relation: Relation) -> Pair:
    """The audited record has the largest label in a leaf of its own, and is replaced by one in the other leaf."""
    base = make_records(SCHEMA, np.array([[0.0]]), np.array([0.0]))
    new, old = (make_records(SCHEMA, np.array([[side]]), np.array([1.0])) for side in (1.0, 0.0))
    return Pair(base, new, old if relation is Relation.REPLACE_ONE else None, 1)


class Quieter(Curator):
    """A curator that adds half the noise that it is asked for."""

    def release(self, name: str, mechanism: Any, value: Any, **declared: Any) -> Any:
        halved = replace(mechanism, mechanism=Gaussian(mechanism.mechanism.sd / 2))
        return super().release(name, halved, value, **declared)


@cache
def losses(given: fedgbdt.Params, *, half_the_noise: bool = False) -> np.ndarray:
    """log p(with)/p(without) of runs drawn with the record: every seed is even, so that the first side is recorded."""

    def train(records: Records, door: Curator) -> Any:
        if half_the_noise:
            door.__class__ = Quieter
        return fedgbdt.train(given, records, door)

    pair = extreme_record(given.relation)
    return np.array([sampled(train, pair, 2 * seed, given.epsilon).loss for seed in range(RUNS)])


def uncovered(plan: Plan, sample: np.ndarray) -> list[float]:
    """The epsilons at which the accountant's upper bound of delta lies below the estimate's lower bound."""
    return [
        float(epsilon)
        for epsilon in EPSILONS
        if account(plan, epsilon=float(epsilon)).upper < estimate_delta(sample, float(epsilon), CONFIDENCE).lower
    ]


def last_tree_forgotten(given: fedgbdt.Params) -> Plan:
    """The plan of an accountant that forgets a release, with the noise of the whole plan."""
    asked: list[Release] = releases(fedgbdt.plan(given, SCHEMA).event)
    return Plan(given.relation, Repeat(Sequential(tuple(asked[:-1])), 1))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("name", SETTINGS)
def test_accountant_covers_real_runs(name: str, relation: Relation) -> None:
    given = params(relation, **SETTINGS[name])
    sample = losses(given)
    assert estimate_delta(sample, 0.2, CONFIDENCE).lower > 0.2  # the runs do reveal something
    assert uncovered(fedgbdt.plan(given, SCHEMA), sample) == []


@pytest.mark.parametrize(
    ("name", "relation"),
    [
        ("histogram", Relation.ADD_REMOVE),
        ("batch", Relation.REPLACE_ONE),
        ("first tree of Newton updates", Relation.ADD_REMOVE),
    ],
)
def test_half_the_noise_is_rejected(name: str, relation: Relation) -> None:
    given = params(relation, **SETTINGS[name])
    assert uncovered(fedgbdt.plan(given, SCHEMA), losses(given, half_the_noise=True))


@pytest.mark.parametrize("name", ["histogram", "totally random", "batch"])
def test_an_accountant_that_forgets_a_tree_is_rejected(name: str) -> None:
    given = params(Relation.ADD_REMOVE, **SETTINGS[name])
    assert uncovered(last_tree_forgotten(given), losses(given))


def test_an_accountant_that_takes_a_joint_query_for_one_of_gradients_is_rejected() -> None:
    given = params(Relation.ADD_REMOVE, **SETTINGS["totally random"])
    plan = fedgbdt.plan(given, SCHEMA)
    claimed = [replace(r, sensitivity=replace(r.sensitivity, bound=1.0)) for r in releases(plan.event)]
    assert uncovered(Plan(plan.relation, Sequential(tuple(claimed))), losses(given))
