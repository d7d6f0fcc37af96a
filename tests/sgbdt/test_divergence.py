"""Rényi divergence of whole runs at the chosen order, estimated from exact losses, stays below the filter's budget.

E[(P/Q)^α] over runs of Q is at most M = e^{(α-1)B}. The estimate is the mean of n independent terms whose second moment
is at most S = e^{(2α-1) r B}, r the largest ratio of a record's costs at orders 2α and α, at the largest t. By
Cantelli's inequality a correct filter's mean exceeds M + k sqrt(S / n) with probability at most 1 / (1 + k^2): error
rate .01 at k = 10.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.audit.replay import Pair, audit_pair
from refdp.data.records import Categorical, Interval, Records, Schema, make_records
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from tests.mutants.harness import applied
from tests.sgbdt.oracle import cost

SCHEMA = Schema((Categorical("a", ("0", "1")),), Interval(-1.0, 1.0))
RUNS, K = 2000, 10.0
EPSILON = 0.1
SETTINGS: dict[str, Any] = {
    "delta": 0.2, "trees": 4, "extra_trees": 4, "depth": 1, "subsample": 0.5, "support_weight": 0.5,
    "gradient_bound": 1.0, "initial_share": 0.0, "features": "uniform", "values": "uniform",
}  # fmt: skip


def pair() -> Pair:
    """A lone record in a leaf of its own, with the largest gradient."""
    base = make_records(SCHEMA, np.array([[0.0]]), np.array([1.0]))
    return Pair(base, make_records(SCHEMA, np.array([[1.0]]), np.array([-1.0])), None, 1)


def exceeds(module: Any) -> bool:
    """Whether the estimate is above what a filter of the true budget allows, beyond the error rate."""
    params = module.Params(EPSILON, Relation.ADD_REMOVE, **SETTINGS)
    budget = sgbdt.Params(EPSILON, Relation.ADD_REMOVE, **SETTINGS).budget(SCHEMA)
    order, both = int(budget.orders[0]), pair()

    def train(records: Records, door: Curator) -> Any:
        return module.train(params, records, door)

    losses = [
        audit_pair(train, both, SampleSource(np.random.default_rng([5, seed])), np.inf, on_first=False).loss
        for seed in range(RUNS)
    ]
    worst = 1 / budget.sigma**2
    ratio = cost(2 * order, params.subsample, worst) / cost(order, params.subsample, worst)
    second = math.exp((2 * order - 1) * ratio * budget.spendable[0])
    bound = math.exp((order - 1) * budget.spendable[0])
    return bool(np.mean(np.exp(order * np.array(losses))) > bound + K * math.sqrt(second / RUNS))


@pytest.mark.statistics
def test_divergence_of_whole_runs_stays_below_the_budget() -> None:
    assert not exceeds(sgbdt)


@pytest.mark.statistics
def test_a_run_with_a_tenth_of_the_noise_is_rejected() -> None:
    with applied({"refdp.papers.sgbdt:gradient_variance": lambda variance: lambda *given: variance(*given) / 100}):
        assert exceeds(sgbdt)
