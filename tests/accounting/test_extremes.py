"""Losses at the ends of floating point, noise too fine to be listed, and ε whose exponential is no float."""

from __future__ import annotations

import math
import tracemalloc
from decimal import Decimal
from fractions import Fraction
from functools import reduce

import mpmath as mp
import pytest
from account_plans import plan, release

from refdp.accounting import account, calibrate, pure_epsilon
from refdp.accounting.enclosure import _attempts
from refdp.accounting.gaussian import mu_for
from refdp.accounting.normal import normalise
from refdp.accounting.pairs import DiscreteGaussianPair
from refdp.accounting.precise import gaussian_delta
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism
from refdp.privacy.events import (
    Event,
    Partition,
    Relation,
    Release,
    Repeat,
    Sensitivity,
    Sequential,
    Subsample,
    balls_and_bins,
)

DELTAS = (0.0, 1e-300, 1e-6, 1 - 2.0**-53)
LEAST, MOST = 2.0**-500, 2.0**500
EVENTS = {
    "alone": lambda one: one,
    "seldom": lambda one: Subsample(1e-300, one),
    "sampled": lambda one: Repeat(Subsample(0.5, one), 50),
    "of a fixed size": lambda one: Repeat(Subsample(0.3, one, "without-replacement"), 3),
    "bins": lambda one: balls_and_bins(one, 10),
}


def declared(mechanism: Mechanism, bound: float) -> Release:
    norm = 2 if isinstance(mechanism, Gaussian | DiscreteGaussian) else 1
    return Release("one", mechanism, Sensitivity(bound, norm, "test/declared", Relation.ADD_REMOVE))


@pytest.mark.parametrize("event", EVENTS, ids=str)
@pytest.mark.parametrize("bound", [5e-324, 1e-300, 1.0, 1e300])
@pytest.mark.parametrize("mechanism", [Laplace(MOST), Laplace(LEAST), Gaussian(MOST), Gaussian(LEAST)], ids=repr)
def test_losses_at_the_ends_of_floats(mechanism: Laplace | Gaussian, bound: float, event: str) -> None:
    whole = plan(EVENTS[event](declared(mechanism, bound)))
    loss = bound / (
        mechanism.scale if isinstance(mechanism, Laplace) else MOST if mechanism == Gaussian(MOST) else LEAST
    )
    for delta in DELTAS:
        found = account(whole, delta=delta)
        assert 0 <= found.lower <= found.upper
        if loss < 1e-150 and delta >= 1e-6:
            assert found.upper < 1e-2
    back = account(whole, epsilon=1.0)
    assert 0 <= back.lower <= back.upper <= 1


@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("delta", [0.4, 1e-3])
def test_lower_ends_beyond_the_largest_exponential(rate: float, delta: float) -> None:
    """Randomised response of a loss e: δ(ε) = q p (1 - e^(ε' - e)), e^ε' = 1 + (e^ε - 1) / q."""
    with mp.workdps(500):
        size = 1 / mp.mpf(1e-3)
        p = 1 / (1 + mp.exp(-size))
        inner = size + mp.log(1 - mp.mpf(delta) / rate / p)
        truth = mp.log(1 + rate * (mp.exp(inner) - 1))
        found = account(plan(Subsample(rate, declared(DiscreteLaplace(1e-3, 1.0), 1.0))), delta=delta)
        assert found.lower <= truth <= found.upper


def test_fine_integer_noise_is_bounded_in_no_time_and_no_memory() -> None:
    tracemalloc.start()
    sigma = calibrate(lambda s: plan(declared(DiscreteGaussian(s, 1.0), 1.0)), 1e-6, 1e-6)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2**28
    smooth = calibrate(lambda s: plan(declared(Gaussian(s), 1.0)), 1e-6, 1e-6)
    assert sigma == pytest.approx(smooth, rel=1e-5)


@pytest.mark.parametrize("sigma", [2.0**16 * 0.999, 2.0**16 * 1.001])
def test_fine_integer_noise_is_gaussian_at_both_ends(sigma: float) -> None:
    found = account(plan(declared(DiscreteGaussian(sigma, 1.0), 1.0)), delta=1e-6)
    smooth = account(plan(declared(Gaussian(sigma), 1.0)), delta=1e-6)
    assert found.lower <= found.upper <= found.lower * (1 + 1e-6)
    assert found.upper == pytest.approx(smooth.upper, rel=1e-6)


def test_a_shift_of_many_steps_takes_the_table_of_one() -> None:
    import numpy as np

    long = DiscreteGaussianPair(50.0, (1000,))
    assert len(long._table[0]) == len(DiscreteGaussianPair(50.0, (1,))._table[0])
    z = np.arange(-4000, 5001)
    with np.errstate(under="ignore"):
        p, q = (np.exp(-((z - at) ** 2) / (2 * 50.0**2)) for at in (0, 1000))
    losses = (1000**2 - 2 * 1000 * z) / (2 * 50.0**2)
    border = np.array([-150.2, -3.1, 0.05, 17.7, 199.9])
    tails = long.tails(border)
    for i, one in enumerate(border):
        assert tails.above[i] == pytest.approx(p[losses > one].sum() / p.sum(), rel=1e-12)
        assert tails.above_q[i] == pytest.approx(q[losses > one].sum() / q.sum(), rel=1e-12)


def test_few_tilts_are_tried_where_grids_are_inside_grids() -> None:
    def deeper(event: Event, _: int) -> Event:
        return Partition((0.5, 0.25), (Repeat(Subsample(0.5, event), 2), release(Laplace(3.0))))

    flat, deep = (normalise(plan(reduce(deeper, range(depth), release(Laplace(2.0))))) for depth in (1, 7))
    assert _attempts(flat) == 30
    assert 4 <= _attempts(deep) <= 10


def test_sums_of_large_pure_losses_warn_of_nothing() -> None:
    """Far below the centre of a window tilted weights are no floats; the warning of it is an error in tests."""
    two = plan(Sequential((release(Exponential(100.0), 1.0), release(Laplace(0.01), 1.0))))
    found = account(two, delta=0.0)
    assert 198 < found.lower <= found.epsilon <= 200 * (1 + 1e-12)


def test_pure_losses_that_no_float_has() -> None:
    assert account(plan(Subsample(0.5, declared(Laplace(LEAST), 1e300))), delta=0.0).upper == math.inf


@pytest.mark.parametrize("delta", [5e-324, 1e-300, 1e-100, 1e-20, 1e-15, 1e-10])
@pytest.mark.parametrize("epsilon", [0.0, 1e-30])
def test_the_least_gaussian_noise_of_a_tiny_delta_is_found(delta: float, epsilon: float) -> None:
    """Where epsilon says nothing, delta is the total variation, mu / sqrt(2 pi) up to a part of mu^2 / 24."""
    mu = mu_for(epsilon, delta)
    assert gaussian_delta(mu, epsilon) <= Decimal(delta)
    assert Fraction(mu) <= Fraction(delta) * Fraction("2.5066282746310005025")
    assert mu > delta * 2.5 * (1 - 1e-15) or delta < 1e-322


@pytest.mark.parametrize("size", [701.0, 744.0, 1e4, 1e9])
def test_ranges_beyond_all_exponentials_cost_nearly_their_sum(size: float) -> None:
    """Where shares underflow a curve of minus infinity, or half the truth for a sample, would be said."""
    one = Release("a", Exponential(size), Sensitivity(1.0, "range", "none", Relation.ADD_REMOVE))
    noise = Release("b", Laplace(2 / size), Sensitivity(1.0, 1, "none", Relation.ADD_REMOVE))
    cases: list[tuple[Event, float, float]] = [
        (Repeat(one, 3), 3 * size - 1, 3 * size),
        (Subsample(0.1, one, "poisson"), size - 3, size),
        (Sequential((one, noise)), 1.5 * size - 1, 1.5 * size),
    ]
    for event, least, most in cases:
        found = account(plan(event), delta=1e-5)
        assert least <= found.upper <= most and found.lower <= found.upper
        assert account(plan(event), epsilon=found.upper).upper <= 1e-5 * (1 + 1e-3)


@pytest.mark.parametrize("weight", [1e-50, 1e-70])
def test_a_rare_block_of_a_sample_of_fixed_size_costs_what_a_replaced_record_does(weight: float) -> None:
    """The record that takes another's place falls into the block where it does, and blocks do not shrink that."""
    one = Release("", Laplace(1.0), Sensitivity(1.0, 1, "", Relation.REPLACE_ONE))
    found = plan(Subsample(0.5, Partition((weight,), (one,)), "without-replacement"))
    assert account(found, delta=0.0).epsilon == pure_epsilon(found) >= math.log1p(0.5 * math.expm1(1.0))
