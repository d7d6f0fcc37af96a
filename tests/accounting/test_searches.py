"""Searches and series under the accountant, against functions whose answers are known."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

from refdp.accounting import allocation, binomial, calibration, group, monte_carlo
from refdp.accounting.releases import GaussianCost, LaplaceCost

# --- Calibration ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, 1, 2, 6, 7, 8, 63, 64, 1000, 4095])
@pytest.mark.parametrize("shape", ["straight", "steep", "flat", "exact", "step"])
@pytest.mark.parametrize("stride", [1, 5])
def test_the_largest_number_that_meets_a_target_is_found(limit: int, shape: str, stride: int) -> None:
    """Whatever the excess looks like between; and in few steps."""
    asked: list[int] = []

    def excess(n: int) -> float:
        asked.append(n)
        over = n - limit
        shapes = {
            "straight": over - 0.5,
            "steep": math.copysign(math.expm1(min(abs(over - 0.5), 30.0)), over - 0.5),
            "flat": math.cbrt(over - 0.5),
            "exact": float(over),
            "step": 1.0 if over > 0 else -1e-9,
        }
        return shapes[shape]

    assert calibration._largest(excess, 0, 5000, stride) == limit
    assert len(asked) == len(set(asked)) <= 3 * math.log2(limit + 2) + 8
    assert calibration._largest(excess, 0, limit, stride) == limit


def test_the_largest_number_of_many_is_found_to_a_share() -> None:
    for limit in (calibration._EXACT + 1, 1_234_567, 87_654_321):
        found = calibration._largest(lambda n: n - limit - 0.5, 0, 10**9, 1)  # noqa: B023
        assert limit * (1 - 2 / calibration._EXACT) - 1 <= found <= limit
    assert calibration._largest(lambda n: -1.0, 0, 10**9, 1) == 10**9


@pytest.mark.parametrize("curve", ["line", "bent", "jump", "touching"])
@pytest.mark.parametrize("ends", [(1.0, 9.0), (9.0, 1.0)])
def test_false_position_stays_where_the_target_is_met(curve: str, ends: tuple[float, float]) -> None:
    """From either side, to the relative width that is asked for."""
    root = 2.75
    sign = 1.0 if ends[0] < ends[1] else -1.0
    asked: list[float] = []

    def excess(x: float) -> float:
        asked.append(x)
        off = sign * (x - root)
        return {"line": off, "bent": off**3, "jump": -1.0 if off <= 0 else 1e-3,
                "touching": 0.0 if off <= 0 else off}[curve]  # fmt: skip

    found = calibration._falsi(excess, *ends, excess(ends[0]), excess(ends[1]), 1e-6)
    assert excess(found) <= 0 and abs(found - root) <= 1e-6 * root * (1 + 1e-9)
    assert len(asked) <= {"line": 9, "jump": 200}.get(curve, 80)


@pytest.mark.parametrize("root", [0.02, 3.0, 700.0])
@pytest.mark.parametrize("turned", [False, True])
def test_the_dearest_that_quick_methods_accept(root: float, turned: bool) -> None:
    asked: list[float] = []

    def excess(x: float, quick: bool) -> float:
        assert quick
        asked.append(x)
        return (root - x) if turned else (x - root)

    good, bad = (1000.0, 0.01) if turned else (0.01, 1000.0)
    found = calibration._quickly(excess, good, bad)  # type: ignore[arg-type]
    assert excess(found, True) <= 0 and abs(found - root) <= 0.0101 * root
    assert len(asked) <= 18
    assert calibration._quickly(lambda x, quick: -1.0, good, bad) == bad  # type: ignore[arg-type]
    assert calibration._quickly(lambda x, quick: float(x > 3), 0.0, 8.0) == pytest.approx(3.0, rel=0.01)  # type: ignore[arg-type]


# --- Binomial masses --------------------------------------------------------------------------------------------------


def test_stirlings_remainder_to_the_last_digits() -> None:
    x = np.array([0, 1, 2, 7, 14, 15, 16, 17, 40, 1000, 10**6], dtype=float)
    found = binomial._stirling(x)
    assert found[0] == 0.0
    with mpmath.workdps(40):
        for value, got in zip(x[1:].tolist(), found[1:].tolist(), strict=True):
            truth = mpmath.loggamma(value + 1) - mpmath.log(2 * mpmath.pi * value) / 2
            truth -= value * mpmath.log(value) - value
            assert got == pytest.approx(float(truth), rel=1e-13, abs=2e-14)


def test_deviances_keep_their_digits_near_the_mean() -> None:
    for mean in (0.3, 20.0, 1e6):
        x = mean * np.array([0.0, 0.1, 0.8, 0.83, 0.999, 1.0, 1 + 1e-9, 1.2, 1.23, 5.0])
        found = binomial._deviance(x, mean)
        with mpmath.workdps(50):
            for value, got in zip(x.tolist(), found.tolist(), strict=True):
                off = mpmath.mpf(value) / mpmath.mpf(mean)
                truth = mpmath.mpf(mean) * ((off * mpmath.log(off) if value else 0) - off + 1)
                assert got == pytest.approx(float(truth), rel=1e-12, abs=1e-300)


# --- Bounds from runs -------------------------------------------------------------------------------------------------


def test_chernoffs_bounds_solve_the_divergence() -> None:
    for mean, count, log_error in ((0.2, 100, 9.0), (1e-6, 10**7, 20.0), (0.97, 50, 5.0)):
        low, high = monte_carlo._chernoff(mean, count, log_error)
        assert 0 < low < mean < high <= 1
        for end in (low, high):
            exact = mean * math.log(mean / end) + (1 - mean) * math.log((1 - mean) / (1 - end)) if end < 1 else math.inf
            assert count * exact == pytest.approx(log_error, rel=1e-5)
            assert count * exact >= log_error * (1 - 1e-12)
    assert monte_carlo._chernoff(0.0, 10, 3.0) == (0.0, pytest.approx(1 - math.exp(-0.3)))
    assert monte_carlo._chernoff(1.0, 10, 3.0) == (pytest.approx(math.exp(-0.3)), 1.0)
    assert (
        monte_carlo._divergence(0.3, 0.3) == 0.0 == monte_carlo._divergence(0.0, 0.0) == monte_carlo._divergence(1, 1)
    )
    assert monte_carlo._divergence(0.3, 0.0) == monte_carlo._divergence(0.3, 1.0) == math.inf
    assert monte_carlo._divergence(1.0, 0.0) == monte_carlo._divergence(0.0, 1.0) == math.inf
    assert monte_carlo._divergence(0.0, 0.5) == monte_carlo._divergence(1.0, 0.5) == pytest.approx(math.log(2))


# --- Groups -----------------------------------------------------------------------------------------------------------


def single(pure: float) -> Any:
    """δ = (1 - ε/pure)_+/8 of one record, exactly."""

    def at(*, epsilon: float | None = None, delta: float | None = None) -> Any:
        if delta is None:
            assert epsilon is not None
            value = max(0.0, 1 - epsilon / pure) / 8
            return SimpleNamespace(lower=value / 2, upper=value)
        return SimpleNamespace(lower=pure * max(0.0, 1 - 8 * delta), upper=pure)

    return at


@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.5, 3.0, 99.0])
def test_a_group_goes_along_a_path_of_equal_steps(size: int, epsilon: float) -> None:
    """δ of k records at kε is at most δ (1 + e^ε + … + e^((k-1)ε))."""
    found = group.along_path(single(0.5), 0.5, size, None, epsilon)
    step = epsilon / size
    path = min(1.0, max(0.0, 1 - step / 0.5) / 8 * math.fsum(math.exp(step * k) for k in range(size)))
    assert found.upper == pytest.approx(0.0 if 0.5 * size <= epsilon else path, rel=1e-9, abs=1e-15)
    assert found.upper >= (0.0 if 0.5 * size <= epsilon else path)
    assert found.lower == pytest.approx(min(max(0.0, 1 - epsilon / 0.5) / 16, found.upper))


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.1])
def test_a_groups_epsilon_is_the_least_that_its_path_reaches(delta: float) -> None:
    found = group.along_path(single(0.5), 0.5, 3, delta, None)
    assert found.methods["basic"] == pytest.approx(1.5)
    if delta == 0:
        assert found.upper == found.methods["basic"] and set(found.methods) == {"basic"}
        return
    step = found.methods["path"] / 3

    def grown(x: float) -> float:
        return max(0.0, 1 - x / 0.5) / 8 * math.fsum(math.exp(x * k) for k in range(3))

    assert grown(step) <= delta * (1 + 1e-12) and grown(step * (1 - 1e-5)) > delta
    assert found.upper == min(found.methods.values()) and found.method == "path"
    assert found.lower == pytest.approx(min(0.5 * max(0.0, 1 - 8 * delta), found.upper))
    large = group.along_path(single(900.0), 900.0, 2, None, 1600.0)
    assert large.upper == 1.0


# --- Slots ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("node", [GaussianCost(Fraction(1, 4)), LaplaceCost(Fraction(1, 2))])
@pytest.mark.parametrize("weight", [1.0, 0.125])
def test_laplace_transforms_of_likelihood_ratios_from_above(node: Any, weight: float) -> None:
    """E_Q[exp(-λ w (e^L - 1))] by the trapezoid rule over the two laws themselves."""
    x = np.linspace(-12, 13, 20_001)
    if isinstance(node, GaussianCost):
        q, ratio = np.exp(-x * x / 2), np.exp(0.5 * x - 0.125)
    else:
        q, ratio = np.exp(-np.abs(x)), np.exp(np.abs(x) - np.abs(x - 0.5))
    q /= q.sum()
    found = allocation._log_laplace(node, weight)
    for tilt, value in zip(allocation._TILTS.tolist(), found.tolist(), strict=True):
        if tilt * weight < 600:
            truth = math.log(float(q @ np.exp(-tilt * weight * (ratio - 1))))
            assert truth - 1e-6 * (1 + abs(truth)) <= value <= truth + 0.02 * abs(truth) + 1e-3
