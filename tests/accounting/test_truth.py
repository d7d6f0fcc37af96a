"""A hundred single mechanisms against mpmath at 50 digits: the truth is enclosed, narrowly."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from account_plans import plan, release

from refdp.accounting import account
from refdp.noise.mechanisms import Exponential, Gaussian, Laplace
from refdp.privacy.events import Subsample

mp.mp.dps = 50


def gaussian_profile(mu, epsilon):
    near = epsilon / mu - mu / 2
    return mp.ncdf(-near) - mp.exp(epsilon) * mp.ncdf(-near - mu)


def laplace_profile(size, epsilon):
    return -mp.expm1((epsilon - size) / 2) if epsilon < size else mp.mpf(0)


def range_profile(size, epsilon):
    """By maximising over the two-point mechanisms t, not by the closed form."""
    if epsilon >= size:
        return mp.mpf(0)

    def gain(t):
        share = (mp.exp(-t) - mp.exp(-size)) / -mp.expm1(-size)
        return share * (mp.exp(t) - mp.exp(epsilon))

    low, high = mp.mpf(max(epsilon, 0)), size
    for _ in range(120):
        third = (high - low) / 3
        low, high = (low + third, high) if gain(low + third) < gain(high - third) else (low, high - third)
    return gain((low + high) / 2)


def sampled_profile(profile, size, rate, epsilon):
    """The larger direction, from the definition: masses of the best event under mixture and base."""
    first = rate * profile(size, mp.log1p(mp.expm1(epsilon) / rate))
    left = 1 - mp.exp(epsilon) * (1 - rate)
    second = left * profile(size, mp.log(mp.exp(epsilon) * rate / left)) if left > 0 else mp.mpf(0)
    return max(first, second)


def cases() -> list[tuple[str, float, float, float]]:
    """(kind, noise, rate, δ): δ from 1e-2 to 1e-30, noise such that ε spans 1e-4 to 50."""
    generator = np.random.default_rng(20240611)
    found = []
    for index in range(100):
        kind = ("gaussian", "laplace", "exponential")[index % 3]
        rate = 1.0 if index % 2 else float(10 ** generator.uniform(-3, -0.05))
        delta = float(10 ** generator.uniform(-30, -2))
        found.append((kind, float(10 ** generator.uniform(-4, 1.2)), rate, delta))
    return found


PROFILES = {"gaussian": gaussian_profile, "laplace": laplace_profile, "exponential": range_profile}


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case[0]}-{case[1]:.2g}-{case[2]:.2g}-{case[3]:.1g}")
def test_truth_is_enclosed(case: tuple[str, float, float, float]) -> None:
    kind, size, rate, delta = case
    mechanism = {"gaussian": Gaussian(1 / size), "laplace": Laplace(1 / size), "exponential": Exponential(size)}[kind]
    one = release(mechanism)
    bound = account(plan(one if rate == 1 else Subsample(rate, one)), delta=delta)
    exact_size = mp.mpf(size) if kind == "exponential" else 1 / mp.mpf(1 / size)

    def truth(epsilon: float):
        profile = PROFILES[kind]
        return (
            profile(exact_size, mp.mpf(epsilon))
            if rate == 1
            else sampled_profile(profile, exact_size, mp.mpf(rate), mp.mpf(epsilon))
        )

    assert truth(bound.upper) <= delta
    assert bound.lower == 0 or truth(bound.lower) >= delta
    assert bound.upper - bound.lower <= 1e-6 * bound.upper + 1e-12
    if bound.lower > 0:  # a mutant that shaves off a millionth is caught
        assert truth(bound.lower * (1 - 1e-6)) > delta


def test_the_cases_span_what_they_should() -> None:
    epsilons = []
    for kind, size, _, delta in cases():
        if kind == "gaussian":
            epsilons.append(account(plan(release(Gaussian(1 / size))), delta=delta).upper)
    assert min(e for e in epsilons if e > 0) < 1e-3
    assert max(epsilons) > 50


@pytest.mark.parametrize(("mu", "epsilon"), [(1.0, 4.0), (0.01, 0.1), (3.0, 60.0), (1e-4, 1e-3)])
def test_delta_queries(mu: float, epsilon: float) -> None:
    bound = account(plan(release(Gaussian(1 / mu))), epsilon=epsilon)
    truth = gaussian_profile(1 / mp.mpf(1 / mu), mp.mpf(epsilon))
    assert bound.lower <= truth <= bound.upper <= bound.lower * (1 + 1e-12)
