"""Noise that is calibrated to a target, against searches and formulas written apart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.errors import InvalidParameter
from refdp.noise import calibration
from refdp.noise.gridded import DiscreteGaussian, DiscreteLaplace
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.events import Relation
from refdp.privacy.events import Sensitivity as Declared


def declared_in(norm: Any, bound: float) -> Declared:
    """Of a made claim."""
    return Declared(bound, norm, "made", Relation.ADD_REMOVE)


def test_discrete_noise_is_calibrated_on_its_grid() -> None:
    """A step is a power of two, 2^10 to 2^11 of them a scale; every coordinate that can change adds one."""
    declared, proved = declared_in(1, 3.0), declared_in(1, 2.5)
    for epsilon in (0.5, 0.75, 1.0, 7.0):
        noise, on_grid = calibration.laplace(epsilon, declared, "discrete", touched=5)
        step = 2.0 ** (math.floor(math.log2(3 / epsilon)) - 10)
        assert isinstance(noise, DiscreteLaplace) and noise.step == step
        assert on_grid.bound == 3 + 5 * step and noise.scale == pytest.approx(on_grid.bound / epsilon)
        charge = calibration.laplace_charge(epsilon, declared, proved, "discrete", touched=5)
        assert charge.declared == on_grid and charge.proved == declared_in(1, 2.5 + 5 * step)
    plain = calibration.laplace_charge(0.5, declared, proved, "floating", touched=5)
    assert plain.declared == declared and plain.proved == proved and plain.mechanism == Laplace(6.0)
    rounded, wide = calibration.gaussian(0.5, declared_in(2, 3.0), "discrete", touched=9)
    assert isinstance(rounded, DiscreteGaussian) and rounded.step == 4 / 2**10
    assert wide.bound == pytest.approx(3 + 3 * rounded.step, rel=1e-15) and rounded.sd == pytest.approx(
        wide.bound / 0.5
    )
    assert calibration.gaussian(0.5, declared_in(2, 3.0), "floating", touched=9) == (Gaussian(6.0), declared_in(2, 3.0))


def test_orders_and_shares_of_calibration() -> None:
    orders = calibration.ORDERS
    assert len(orders) == 251 and orders[:2].tolist() == [1.25, 1.5] and orders[-4:].tolist() == [63, 128, 256, 512]
    assert calibration.LARGE_ORDERS.tolist() == [2.0**k for k in range(10, 41)] and calibration.BITS == 32
    assert calibration.geometric(2.0, 3) == pytest.approx([1 / 7, 2 / 7, 4 / 7]) and calibration.geometric(0.5, 1) == [
        1
    ]
    for epsilon in (0.01, 3.0, 499.0, 500.0, 600.0):
        exact = epsilon - math.log(0.3) + math.log1p(-0.7 * math.exp(-epsilon))
        assert calibration.before_sampling(epsilon, 0.3) == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("times", [0.7, 1.2, 2.2, 20.0])
def test_the_whole_mu_at_a_target_near_what_the_papers_orders_reach(times: float) -> None:
    """At each order alpha the conversion allows mu^2 = 2 (epsilon - what it adds) / alpha; the best order decides."""
    delta = 1e-5
    orders = [*(k / 4 for k in range(5, 253)), *(2.0**k for k in range(7, 41))]
    added = {a: math.log1p(-1 / a) - (math.log(delta) + math.log(a)) / (a - 1) for a in orders}
    epsilon = times * min(more for order, more in added.items() if order <= 512)
    best = math.sqrt(max(2 * (epsilon - more) / order for order, more in added.items()))
    assert calibration.total_mu(epsilon, delta, "renyi") == pytest.approx(best, rel=1e-9)


def test_the_whole_mu_of_a_target() -> None:
    """The largest of which some order meets the target, by a search of ours; few orders reach a tiny epsilon."""
    for epsilon, delta in ((1.0, 1e-6), (0.05, 1e-6), (8.0, 1e-3)):
        orders = np.concatenate([calibration.ORDERS, calibration.LARGE_ORDERS])

        def cost(mu: float, orders: Any = orders, delta: float = delta) -> float:
            return float(np.min(
                orders * mu * mu / 2 + np.log1p(-1 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1)
            ))  # fmt: skip

        mu = calibration.total_mu(epsilon, delta, "renyi")
        assert cost(mu) <= epsilon < cost(mu * (1 + 1e-6)) and mu <= calibration.total_mu(epsilon, delta, "exact")
    with pytest.raises(InvalidParameter, match="out of reach"):
        calibration.total_mu(1e-13, 1e-300, "renyi")
