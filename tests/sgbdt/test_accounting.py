"""The accounting vectors and the filter vector of the specification, and the tabulated costs against exact ones."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from refdp.accounting import Bound, IndividualFilter, account, conversion
from refdp.accounting.individual import (
    KNOTS,
    MARGIN,
    Accounts,
    Budget,
    initialise,
    subsampled_cost,
    subsampled_moment,
    tabulated,
)
from refdp.accounting.sampling import poisson_gaussian
from refdp.noise.mechanisms import Gaussian
from refdp.papers.sgbdt import record_cost
from refdp.privacy.events import Plan, Relation, Repeat, Sensitivity, Subsample
from refdp.privacy.events import Release as Released

VECTORS = [
    (150, 0.1, 17.3757, 50, 0.256677, 0.499724),
    (100, 0.1, 139.099, 454, 0.0235647, 0.044965),
    (50, 1.0, 98.7459, 51, 0.261518, 0.499304),
    (400, 0.01, 40.9884, 654, 0.0157013, 0.0299875),
    (200, 0.1, 818.269, 1768, 0.00528356, 0.00999999),
]
DELTA = 5e-8


@pytest.mark.parametrize(("rounds", "rate", "sigma", "order", "rho", "epsilon"), VECTORS)
def test_vectors_of_the_specification(
    rounds: int, rate: float, sigma: float, order: int, rho: float, epsilon: float
) -> None:
    budget = initialise(epsilon, DELTA, rounds, rate)
    assert budget.sigma == pytest.approx(sigma, rel=4e-6)
    assert budget.orders.tolist() == [order]
    assert budget.spendable[0] == pytest.approx(rho, rel=1e-5)  # of the printed epsilon, which has six digits
    assert budget.epsilon(DELTA) == pytest.approx(epsilon, rel=2e-6)
    at_printed = rounds * tabulated(order, rate, np.array([1 / sigma**2]))[0]
    assert at_printed == pytest.approx(rho, rel=3e-6)
    converted = conversion.canonne(np.array([float(order)]), np.array([at_printed]), DELTA)[0]
    assert converted == pytest.approx(epsilon, rel=4e-6)


@pytest.mark.parametrize(("rounds", "rate", "sigma", "order", "rho", "epsilon"), VECTORS)
def test_the_accountant_agrees_that_the_target_is_met(
    rounds: int, rate: float, sigma: float, order: int, rho: float, epsilon: float
) -> None:
    budget, relation = initialise(epsilon, DELTA, rounds, rate), Relation.ADD_REMOVE
    sensitivity = Sensitivity(math.sqrt(2) / budget.sigma, "whitened", "", relation)
    leaves = Released("leaves", Gaussian((1.0, 1.0)), sensitivity)
    bound: Bound = account(Plan(relation, Repeat(Subsample(rate, leaves), rounds)), delta=DELTA)
    assert bound.lower <= budget.epsilon(DELTA) <= epsilon


def filter_vector() -> Budget:
    order, sigma = 126, 26.5993
    knots = np.linspace(0, 1 / sigma**2 * (1 + MARGIN), KNOTS)
    costs = tabulated(order, 0.1, knots)[None, :]
    return Budget(sigma, 0.1, 50, np.array([float(order)]), 50 * costs[:, -1] * (1 + MARGIN), knots, costs)


@pytest.mark.parametrize(("share", "cost", "rounds"), [(0, 5.3961e-4, 170), (0.5, 8.5942e-4, 107), (1, 1.84216e-3, 50)])
def test_filter_vector_of_the_specification(share: float, cost: float, rounds: int) -> None:
    budget = filter_vector()
    assert budget.spendable[0] == pytest.approx(0.0921078, rel=1e-6)
    charge = budget.charges(np.array([record_cost(share * 0.7, 1.0, 0.7, 1.0, 0.3, budget.sigma**2)]))
    assert charge[0, 0] == pytest.approx(cost, rel=1e-5)
    accounts = Accounts(budget)
    accounts.open(1)
    t = np.array([record_cost(share * 0.7, 1.0, 0.7, 1.0, 0.3, budget.sigma**2)])
    assert sum(bool(accounts.charge(t)[0]) for _ in range(200)) == rounds


@pytest.mark.parametrize("joint", [False, True])
def test_accounts_are_those_of_the_individual_filter(joint: bool) -> None:
    """The fast accounts against `accounting.IndividualFilter`: the same records take part in the same rounds."""
    budget, generator = initialise(0.5, DELTA, 10, 0.1, joint=joint), np.random.default_rng(1)
    accounts = Accounts(budget)
    accounts.open(150)
    accounts.open(50)
    other = IndividualFilter(200, budget.orders, budget.spendable, "every")
    masks = []
    for _ in range(40):
        t = generator.random(200) ** 2 / budget.sigma**2
        masks.append(accounts.charge(t))
        assert np.array_equal(masks[-1], other.charge(budget.charges(t).T))
    assert 0 < np.mean(masks) < 1
    assert np.allclose(accounts.shares(), np.max(other.spent / budget.spendable, axis=1), rtol=1e-12)
    assert "spent" not in repr(accounts)


@pytest.mark.parametrize("rate", [0.005, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("order", [2, 3, 17, 126, 700])
def test_tabulated_costs_cover_exact_ones_and_hardly_exceed_them(rate: float, order: int) -> None:
    worst = 0.5 / order
    knots = np.linspace(0, worst, KNOTS)
    budget = Budget(1.0, rate, 1, np.array([float(order)]), np.ones(1), knots, tabulated(order, rate, knots)[None, :])
    for t in np.array([0.013, 0.37, 0.5003, 0.99, 1.0]) * worst:
        with mpmath.workdps(60):
            moment = subsampled_moment(order, mpmath.mpf(rate), mpmath.exp(mpmath.mpf(t)))
            exact = float(mpmath.log(moment) / (order - 1))
        charged = budget.charges(np.array([t]))[0, 0]
        assert exact * (1 - 1e-11) <= charged <= exact * (1 + 2e-4)


def test_tabulated_costs_against_rational_arithmetic() -> None:
    growth = Fraction(11, 10)
    t = np.array([math.log(1.1)])
    for order in (2, 3, 5):
        moment = subsampled_moment(order, Fraction(3, 10), growth)
        assert isinstance(moment, Fraction)
        expected = math.log(moment) / (order - 1)
        assert expected <= tabulated(order, 0.3, t)[0] <= expected * (1 + 3e-9)
        assert subsampled_cost(order, 0.3, 1.1) == pytest.approx(expected, rel=1e-12)
    assert subsampled_cost(4, 0.3, math.exp(0.2)) == pytest.approx(0.1089817, rel=1e-6)


def test_joint_orders_are_fixed_and_no_worse() -> None:
    joint, one = initialise(0.5, DELTA, 50, 0.1, joint=True), initialise(0.5, DELTA, 50, 0.1)
    assert len(joint.orders) == 5
    assert one.orders[0] in joint.orders
    assert joint.epsilon(DELTA) <= one.epsilon(DELTA) * (1 + 1e-9)


@pytest.mark.parametrize(("rounds", "rate", "sigma", "order", "rho", "epsilon"), VECTORS)
def test_the_order_is_the_best_of_all_whole_orders(
    rounds: int, rate: float, sigma: float, order: int, rho: float, epsilon: float
) -> None:
    every = np.arange(2.0, 2001.0)
    single = every / sigma**2 if rate == 1 else poisson_gaussian(rate, sigma / math.sqrt(2), every)
    assert every[int(np.argmin(conversion.canonne(every, rounds * single, DELTA)))] == order
