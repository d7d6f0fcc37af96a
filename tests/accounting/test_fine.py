"""Compositions of fine discrete Gaussian noise, against sums over the lattice, against mpmath, and beside others."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.signal import fftconvolve

from refdp.accounting import account, gaussian
from refdp.accounting.distributions import smoothing
from refdp.accounting.fine import FACTOR, MOST, Fine, fine
from refdp.accounting.normal import compose
from refdp.accounting.releases import DiscreteGaussianCost, GaussianCost, PureCost
from refdp.noise.calibration import total_mu
from refdp.noise.mechanisms import DiscreteGaussian, Laplace
from refdp.privacy.events import Plan, Relation, Release, Repeat, Sensitivity, Sequential


def of_lattice(sigma: float, length: int, times: int, epsilon: float) -> float:
    """delta of `times` releases of one coordinate that each move by `length` steps, by summing over the lattice.

    Their losses are all linear in the sum of the noise, so that the law of that sum decides.
    """
    reach = math.ceil(14 * sigma)
    z = np.arange(-reach, reach + 1, dtype=np.float64)
    mass = np.exp(-0.5 * (z / sigma) ** 2)
    mass /= mass.sum()
    law = mass
    for _ in range(times - 1):
        law = np.maximum(fftconvolve(law, mass), 0.0)
    total = np.arange(len(law)) - (len(law) - 1) / 2
    loss = (2 * total * length + times * length * length) / (2 * sigma * sigma)
    return float(np.sum(law * np.maximum(-np.expm1(epsilon - loss), 0.0)))


@pytest.mark.parametrize(("sigma", "length", "times"), [(1024.0, 300, 1), (1024.0, 200, 3), (1500.0, 1200, 2)])
@pytest.mark.parametrize("epsilon", [0.05, 0.4, 1.5])
def test_what_the_lattice_gives_is_between_the_ends(sigma: float, length: int, times: int, epsilon: float) -> None:
    """Ends are as far apart as one step of the length is; sums of float64 are exact to 1e-12 here."""
    found = fine(compose([(DiscreteGaussianCost(sigma, float(length), 2), times)]))
    assert found is not None and found.releases == times
    low, high = found.delta(epsilon)
    exact = of_lattice(sigma, length, times, epsilon)
    assert low - 1e-12 <= exact <= high + 1e-12
    whole = Fine(GaussianCost(found.above.square), found.above, times)
    assert whole.delta(epsilon)[0] > exact - 1e-4 * exact - 1e-12  # the upper end is a Gaussian next to the truth


@pytest.mark.parametrize("length", [1, 3, 1000])
def test_a_gaussian_of_less_variance_gives_the_discrete_law_within_the_factor(length: int) -> None:
    """What one release stands on: y ~ N(0, s^2 - b^2), then x with probability ∝ exp(-(x - y)^2 / 2 b^2)."""
    with mpmath.workdps(60):
        b2 = mpmath.mpf(smoothing(float(length)))
        eta = mpmath.mpf("2.1") * mpmath.exp(-2 * mpmath.pi**2 * b2)
        root = mpmath.sqrt(2 * mpmath.pi * b2)
        for y in (0, mpmath.mpf(1) / 4, mpmath.mpf(1) / 2):
            sums = mpmath.fsum(mpmath.exp(-((x - y) ** 2) / (2 * b2)) for x in range(-60, 61))
            assert abs(sums / root - 1) <= eta
        factor = ((1 + eta) / (1 - eta)) ** (length**2)
        assert factor - 1 <= mpmath.mpf(FACTOR.numerator) / FACTOR.denominator and mpmath.log(factor) <= factor - 1


def test_the_ends_of_epsilon_and_of_delta_are_inverse() -> None:
    found = fine(compose([(DiscreteGaussianCost(2.0**20, 2.0**15, 2), 7), (GaussianCost(Fraction(1, 50)), 3)]))
    assert found is not None
    low, high = found.epsilon(1e-6)
    assert 0 < low < high < low * (1 + 1e-3)
    assert found.delta(high)[1] <= 1e-6 * (1 + 1e-9) and found.delta(low)[0] >= 1e-6 * (1 - 1e-9)
    assert found.delta(high * (1 - 1e-9))[1] > 1e-6 > found.delta(low * (1 + 1e-9))[0]
    exact = gaussian.epsilon(GaussianCost(Fraction(7, 1024) + Fraction(3, 50)).mu, 1e-6)
    assert exact < high < exact * (1 + 1e-9)
    assert found.shift == 14 * 2.0**-50 and found.factor == 1 + 14 * 2.0**-50


def test_many_releases_cost_their_factors() -> None:
    """A million releases of hardly any noise's change: the factors are what is seen."""
    one = replace(DiscreteGaussianCost(2.0**20, 2.0, 2))
    found = fine(compose([(one, 2**20)]))
    assert found is not None and (found.shift, found.factor) == (2.0**-29, 1 + 2.0**-29)
    assert found.delta(found.shift)[1] > gaussian.delta(found.above.mu, 0.0)
    assert found.delta(1e-3)[1] > gaussian.delta(found.above.mu, 1e-3)
    assert found.epsilon(1e-9)[1] > gaussian.epsilon(found.above.mu, 1e-9) + found.shift / 2


@pytest.mark.parametrize("node", [
    DiscreteGaussianCost(100.0, 5.0, 2), GaussianCost(Fraction(1)), PureCost(Fraction(1)),
    compose([(DiscreteGaussianCost(2.0**20, 5.0, 2), 1), (PureCost(Fraction(1)), 1)]),
    compose([(DiscreteGaussianCost(2.0**20, 5.0, 2), 1), (DiscreteGaussianCost(100.0, 5.0, 2), 1)]),
    compose([(DiscreteGaussianCost(2.0**20, 5.0, 2), MOST + 1)]),
    DiscreteGaussianCost(520.0, 1e200, 2),
])  # fmt: skip
def test_coarse_noise_and_other_noise_is_not_accounted_for_so(node: object) -> None:
    assert fine(node) is None  # type: ignore[arg-type]


def test_the_account_of_a_plan_takes_it_and_no_distribution() -> None:
    """Thousands of steps a deviation at many releases: lists of losses would take gigabytes."""
    release = Release(
        "sums", DiscreteGaussian((30.0, 60.0), 2.0**-24), Sensitivity(1 / 20, "whitened", "x", Relation.ADD_REMOVE)
    )
    plan = Plan(Relation.ADD_REMOVE, Repeat(release, 100))
    found = account(plan, delta=1e-5)
    assert found.method == "exact" and "pld" not in found.methods and 0 < found.lower < found.upper
    assert found.upper == pytest.approx(gaussian.epsilon(0.5, 1e-5), rel=1e-6)
    assert found.upper < 0.94 * found.methods["renyi"]
    assert account(plan, epsilon=found.upper).delta == pytest.approx(1e-5, rel=1e-6)
    pure = Release("counts", Laplace(10.0), Sensitivity(1.0, 1, "x", Relation.ADD_REMOVE))
    mixed = Plan(Relation.ADD_REMOVE, Sequential((plan.event, pure)))
    assert "exact" not in account(mixed, delta=1e-5, quick=True).methods


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (0.1, 1e-5), (1.0, 1e-5), (4.0, 1e-3), (20.0, 1e-6)])
def test_mu_of_fine_noise_is_next_to_that_of_gaussian_noise(epsilon: float, delta: float) -> None:
    exact, less, renyi = (total_mu(epsilon, delta, how) for how in ("exact", "fine", "renyi"))  # type: ignore[arg-type]
    assert exact * (1 - 2.0**-15) < less < exact * (1 - 2.0**-17) and renyi < less
