"""Calibration, filters and loss samples: never overshooting, never revealing, covering what they should."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from account_plans import gaussian, laplace, plan, release, sampled_gaussian

from refdp.accounting import (
    IndividualFilter,
    IndividualOdometer,
    account,
    calibrate,
    calibrate_count,
    calibration,
    conversion,
)
from refdp.accounting import gaussian as exact
from refdp.accounting.calibration import calibrate_total
from refdp.accounting.monte_carlo import estimate_delta
from refdp.accounting.precise import gaussian_delta
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Repeat, Sequential, Subsample, balls_and_bins


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 12.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-14, 1e-30])
def test_gaussian_calibration_is_tight_from_above(epsilon: float, delta: float) -> None:
    sd = exact.calibrate(epsilon, delta, sensitivity=3.0)
    assert gaussian_delta(Decimal(3) / Decimal(sd), epsilon) <= Decimal(delta)
    assert gaussian_delta(Decimal(3) / Decimal(sd * (1 - 1e-12)), epsilon) > Decimal(delta)


@pytest.mark.parametrize(
    ("plan_of", "epsilon", "delta", "increasing"),
    [
        (lambda sd: gaussian(sd, 7), 1.0, 1e-6, False),
        (lambda scale: laplace(scale, 20), 2.0, 1e-5, False),
        (lambda scale: laplace(scale, 20), 2.0, 0.0, False),
        (lambda sd: sampled_gaussian(0.1, sd, 20), 0.7, 1e-6, False),
        (lambda size: plan(Repeat(release(Exponential(size)), 5)), 1.0, 1e-6, True),
        (lambda rate: plan(Repeat(Subsample(min(rate, 1.0), release(Gaussian(1.0))), 10)), 1.0, 1e-5, True),
    ],
)
def test_calibration_meets_the_target_and_no_less_noise_does(plan_of, epsilon, delta, increasing: bool) -> None:
    high = 1.0 if increasing else 1e9
    found = calibrate(plan_of, epsilon, delta, increasing=increasing, high=high, relative=1e-4)
    assert account(plan_of(found), delta=delta).epsilon <= epsilon
    nudged = found * (1 + 2e-4) if increasing else found * (1 - 2e-4)
    assert account(plan_of(nudged), delta=delta).epsilon > epsilon


def test_calibration_of_a_count() -> None:
    count = calibrate_count(lambda n: laplace(20.0, n), 2.0, 1e-5)
    assert account(laplace(20.0, count), delta=1e-5).epsilon <= 2.0
    assert account(laplace(20.0, count + 1), delta=1e-5).epsilon > 2.0
    assert calibrate_count(lambda n: laplace(0.1, n), 1.0, 1e-9) == 0


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """The settings of every question that calibration asks the accountant."""
    seen: list[dict[str, object]] = []

    def counted(plan, **settings):
        seen.append(settings)
        return account(plan, **settings)

    monkeypatch.setattr(calibration, "account", counted)
    return seen


@pytest.mark.parametrize(
    ("plan_of", "high", "increasing"),
    [
        (lambda sd: sampled_gaussian(0.1, sd, 20), 1e9, False),
        (lambda rate: plan(Repeat(Subsample(rate, release(Gaussian(1.0))), 1000)), 1.0, True),
        (lambda sd: plan(balls_and_bins(release(Gaussian(sd)), 20)), 1e9, False),
    ],
    ids=["noise", "rate", "balls and bins"],
)
def test_calibration_asks_seldom_and_for_upper_ends_only(plan_of, high: float, increasing: bool, asked) -> None:
    """Where the quick methods are far off, the line through two answers leads on; no answer is asked for twice."""
    found = calibrate(plan_of, 1.0, 1e-6, high=high, increasing=increasing)
    assert not any(one["both"] for one in asked)
    assert sum(not one["quick"] for one in asked) <= 12
    assert 1 - 1e-5 < account(plan_of(found), delta=1e-6).epsilon <= 1.0


def test_a_target_that_basic_composition_meets_exactly_is_left_at_once(asked) -> None:
    assert calibrate_total(lambda total: laplace(20 / total, 20), 1.0, 1e-300, most=100) == 1.0
    assert sum(not one["quick"] for one in asked) <= 3


@pytest.mark.parametrize(
    "event",
    [
        Repeat(Subsample(0.1, release(Gaussian(1.0))), 10),
        Repeat(release(Exponential(0.1)), 20),
        Sequential((Repeat(release(Exponential(0.1)), 5), release(Exponential(0.2)), release(Laplace(3.0)))),
        balls_and_bins(release(Gaussian(1.0)), 20),
        Sequential((release(Laplace(2.0)), Repeat(release(Laplace(1e7)), 3), release(Gaussian(4.0)))),
    ],
)
@pytest.mark.parametrize("at", [{"delta": 1e-6}, {"epsilon": 0.7}])
def test_the_upper_end_alone_is_the_upper_end(event, at) -> None:
    whole, alone = account(plan(event), **at), account(plan(event), **at, both=False)
    assert alone.upper == whole.upper
    assert alone.lower <= whole.lower


def test_calibration_out_of_reach() -> None:
    with pytest.raises(InvalidParameter, match="search from"):
        calibrate(lambda sd: gaussian(sd), 1.0, 1e-6, low=0.0)
    with pytest.raises(InvalidParameter, match="out of reach"):
        calibrate(lambda sd: gaussian(sd), 1.0, 0.0)


def test_filter_stops_every_record_at_its_own_budget() -> None:
    generator = np.random.default_rng(1)
    one = IndividualFilter.for_target(200, 1.0, 1e-6, np.array([30.0]))
    spent = np.zeros(200)
    for _ in range(300):
        costs = generator.uniform(0, 2e-4, 200)
        spent += np.where(one.charge(costs), costs * 30.0, 0.0)
    assert np.all(spent <= one.budgets[0])
    assert np.any(spent > 0.97 * one.budgets[0])
    assert one.guarantee(1e-6) <= 1.0
    assert one.guarantee(1e-6) == pytest.approx(1.0)


def test_filter_at_all_orders_jointly_guarantees_the_whole_curve() -> None:
    orders = np.array([2.0, 8.0, 64.0])
    joint = IndividualFilter(3, orders, 0.05 * orders, "every")
    table = np.array([[0.05, 0.1, 0.1], [0.0, 0.0, 3.3], [0.01, 0.02, 0.1]])
    assert joint.charge(table).tolist() == [True, False, True]
    assert joint.charge(np.array([[0.06, 0, 0], [0.1, 0.4, 3.2], [0, 0, 0]])).tolist() == [False, False, True]
    assert joint.guarantee(1e-5) == float(np.min(conversion.epsilons(orders, 0.05 * orders, 1e-5)))


def test_filter_with_any_order_pays_a_union_bound() -> None:
    orders = np.array([4.0, 16.0, 64.0])
    several = IndividualFilter.for_target(1, 1.0, 1e-6, orders)
    assert several.rule == "any"
    assert several.guarantee(1e-6) == pytest.approx(1.0)
    single = [float(IndividualFilter.for_target(1, 1.0, 1e-6, orders[i : i + 1]).budgets[0]) for i in range(3)]
    assert np.all(several.budgets <= single)


def test_filter_never_shows_a_record() -> None:
    one = IndividualFilter(2, np.array([2.0]), np.array([1.0]))
    before = repr(one)
    one.charge(np.array([0.5, 7.0]))
    assert repr(one) == before
    odometer = IndividualOdometer(2, 3.0)
    odometer.charge(np.array([0.5, math.inf]))
    assert "0.5" not in repr(odometer)
    assert one.room(np.array([math.nan, 0.0])).tolist() == [False, True]  # no exception that tells


def test_odometer_covers_the_running_loss_of_a_gaussian() -> None:
    """Adaptive stopping at the worst time: the loss exceeds the bound with probability at most δ = 0.05.

    4,000 paths, error rate 1e-6 (5 standard deviations); the mutant without log(1/δ) is rejected.
    """
    generator = np.random.default_rng(11)
    mu, steps, order, delta = 0.3, 60, 6.0, 0.05
    losses = np.cumsum(generator.normal(mu**2 / 2, mu, (4000, steps)), axis=1)
    odometer = IndividualOdometer(1, order)
    bounds = []
    for _ in range(steps):
        odometer.charge(np.array([order * mu**2 / 2]))
        bounds.append(float(odometer.losses(delta)[0]))
    margin = 5 * math.sqrt(delta * (1 - delta) / 4000)
    assert np.mean(np.any(losses > np.array(bounds), axis=1)) <= delta + margin
    mutant = np.array(bounds) - math.log(1 / delta) / (order - 1)
    assert np.mean(np.any(losses > mutant, axis=1)) > delta + margin


def test_loss_samples_estimate_delta() -> None:
    """200 samples of 5,000 losses: 90 % bounds fail in at most 10 % + 5 standard deviations; a mutant is rejected."""
    generator = np.random.default_rng(2)
    truth, failures, estimates = exact.delta(1.0, 1.0), 0, []
    for _ in range(200):
        found = estimate_delta(generator.normal(0.5, 1.0, 5000), 1.0, confidence=0.9)
        failures += not found.lower <= truth <= found.upper
        estimates.append(found.estimate)
        assert found.lower <= found.estimate <= found.upper
    assert failures <= 20 + 5 * math.sqrt(18)
    spread = float(np.std(estimates)) / math.sqrt(200)
    assert abs(np.mean(estimates) - truth) < 5 * spread
    assert abs(np.mean(estimates) - exact.delta(0.98, 1.0)) > 5 * spread  # what 2 % too much noise would claim


def test_loss_samples_at_the_borders() -> None:
    certain = estimate_delta(np.full(1000, math.inf), 3.0)
    assert (certain.estimate, certain.upper) == (1.0, 1.0)
    assert 0.98 < certain.lower < 1
    never = estimate_delta(np.zeros(1000), 0.5)
    assert (never.estimate, never.lower) == (0.0, 0.0)
    assert 0 < never.upper < 0.02
    for bad in (np.array([]), np.array([math.nan])):
        with pytest.raises(InvalidParameter):
            estimate_delta(bad, 1.0)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0])
def test_confidence_domain(confidence: float) -> None:
    with pytest.raises(InvalidParameter, match="confidence"):
        estimate_delta(np.zeros(3), 1.0, confidence)


@pytest.mark.parametrize("orders", [(1.25,), (1.5,), (2.0,), (1.1, 1.5, 2.0, 16.0)])
def test_filters_at_orders_between_one_and_two(orders: tuple[float, ...]) -> None:
    """What a filter promises at low orders is what the conversions of its budgets give, and its records stay inside."""
    table = np.array(orders)
    costs = 0.01 * table
    for rule in ("every", "any"):
        one = IndividualFilter(1, table, 0.555 * table, rule)
        taken = sum(int(one.charge(costs[None, :])[0]) for _ in range(100))
        assert taken == 55
        share = 1e-6 / (len(orders) if rule == "any" else 1)
        each = [float(conversion.mironov(table, 0.555 * table, share)[i]) for i in range(len(orders))]
        assert one.guarantee(1e-6) <= (min(each) if rule == "every" else max(each))
    target = IndividualFilter.for_target(1, 60.0, 1e-3, table)
    assert np.all(target.budgets >= 0)
    assert np.any(target.budgets > 0)
    assert target.guarantee(1e-3) <= 60.0 * (1 + 1e-12)


@pytest.mark.parametrize("both", [True, False])
def test_pure_costs_whose_pairs_no_grid_holds_have_the_other_answers(both: bool) -> None:
    """Losses of 20 beside those of 2 and 3, of which the worst two-point pairs reach farther than a grid has cells."""
    noise = (0.31820064839612655, 0.05, 0.5369278108298141)
    bound = account(plan(*(release(DiscreteLaplace(scale, 1.0)) for scale in noise)), delta=2.298e-07, both=both)
    assert 0 < bound.upper <= sum(1 / scale for scale in noise) * (1 + 1e-12)
