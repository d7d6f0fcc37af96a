"""Exact privacy losses of real training runs of S-GBDT against its accountant, the subsample mixed exactly.

As tests/audit/test_monte_carlo.py: each test makes 10 comparisons with confidence 1 - 1e-7 each, so that a correct
accountant fails it with probability at most 1e-6. An accountant that takes the sample for a smaller one, and half the
noise, are rejected.
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
from refdp.data.records import Categorical, Interval, Records, Schema, make_records
from refdp.noise.mechanisms import Gaussian
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Plan, Relation

SCHEMA = Schema((Categorical("a", ("0", "1")),), Interval(-1.0, 1.0))
EPSILONS = np.linspace(0.2, 3.8, 10)
CONFIDENCE, RUNS = 1 - 1e-7, 250


def params(**settings: Any) -> sgbdt.Params:
    small: dict[str, Any] = {"delta": 0.05, "trees": 3, "depth": 1, "subsample": 0.5, "initial_share": 0.0,
                             "gradient_bound": 1.0, "hessian_bound": 1.0, "regularisation": 1.0}  # fmt: skip
    return sgbdt.Params(4.0, Relation.ADD_REMOVE, **{**small, **settings})


def extreme_record() -> Pair:
    """The audited record has the largest label, in a leaf of its own."""
    base, new = (make_records(SCHEMA, np.array([[side]]), np.array([side])) for side in (0.0, 1.0))
    return Pair(base, new, None, 1)


class Quieter(Curator):
    """A curator that adds half the noise that it is asked for."""

    def release(self, name: str, mechanism: Any, value: Any, **declared: Any) -> Any:
        halved = replace(mechanism, mechanism=Gaussian(tuple(one / 2 for one in mechanism.mechanism.sd)))
        return super().release(name, halved, value, **declared)


@cache
def losses(given: sgbdt.Params, *, half_the_noise: bool = False) -> np.ndarray:
    """log p(with)/p(without) of runs drawn with the record: every seed is even, so that the first side is recorded."""

    def train(records: Records, door: Curator) -> Any:
        if half_the_noise:
            door.__class__ = Quieter
        return sgbdt.train(given, records, door)

    pair = extreme_record()
    return np.array([sampled(train, pair, 2 * seed, given.epsilon).loss for seed in range(RUNS)])


def uncovered(plan: Plan, sample: np.ndarray) -> list[float]:
    """The epsilons at which the accountant's upper bound of delta lies below the estimate's lower bound."""
    return [
        float(epsilon)
        for epsilon in EPSILONS
        if account(plan, epsilon=float(epsilon)).upper < estimate_delta(sample, float(epsilon), CONFIDENCE).lower
    ]


@pytest.mark.parametrize("settings", [{}, {"subsample": 1.0}, {"trees": 1}, {"initial_share": 0.3}])
def test_accountant_covers_real_runs(settings: dict[str, Any]) -> None:
    given = params(**settings)
    sample = losses(given)
    assert estimate_delta(sample, 0.2, CONFIDENCE).lower > 0  # the runs do reveal something
    assert uncovered(sgbdt.plan(given, SCHEMA), sample) == []


@pytest.mark.parametrize("settings", [{}, {"subsample": 1.0}])
def test_half_the_noise_is_rejected(settings: dict[str, Any]) -> None:
    given = params(**settings)
    assert uncovered(sgbdt.plan(given, SCHEMA), losses(given, half_the_noise=True))


def test_an_accountant_that_takes_all_records_for_a_tenth_of_them_is_rejected() -> None:
    given = params(subsample=1.0)
    wrong = sgbdt.plan(replace(given, subsample=0.1), SCHEMA)
    right = sgbdt.plan(given, SCHEMA)
    mechanism = given.leaf_charge(SCHEMA).mechanism
    claimed = _with_mechanism(wrong, mechanism)
    assert uncovered(right, losses(given)) == []
    assert uncovered(claimed, losses(given))


def _with_mechanism(plan: Plan, mechanism: Any) -> Plan:
    """The plan with another mechanism in its only kind of release."""

    def changed(event: Any) -> Any:
        if hasattr(event, "mechanism"):
            return replace(event, mechanism=mechanism)
        if hasattr(event, "events"):
            return replace(event, events=tuple(changed(one) for one in event.events))
        return replace(event, event=changed(event.event))

    return replace(plan, event=changed(plan.event))
