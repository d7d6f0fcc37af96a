"""Selections composed adaptively: against the optimum by brute force, and as narrow as promised."""

from __future__ import annotations

import math

import numpy as np
import pytest
from account_plans import exponential, plan, release
from scipy import integrate

from refdp.accounting import account, adaptive
from refdp.accounting.normal import normalise
from refdp.noise.mechanisms import Exponential, Gaussian, Laplace
from refdp.privacy.events import Plan, Repeat, Subsample

T = np.linspace(0, 1, 1201)


def last(size: float, x: np.ndarray) -> np.ndarray:
    """δ(x) of one selection of range `size`, any sign of x: the best t is (size + x)/2, kept in [0, size]."""
    middle = np.clip((size + x) / 2, 0, size)
    p = -np.expm1(middle - size) / -math.expm1(-size)
    inside = p * -np.expm1(np.minimum(x - middle, 0)) + (1 - p) * -np.expm1(np.minimum(x - middle + size, 0))
    return np.maximum(np.maximum(inside, -np.expm1(x)), 0)


def optimum(size: float, count: int, x: np.ndarray) -> np.ndarray:
    """The recursion by brute force over 1,201 values of t, without any grid of x."""
    if count == 1:
        return last(size, x)
    t = T * size
    p = -np.expm1(t - size) / -math.expm1(-size)
    flat = x.ravel()[:, None]
    worth = p * optimum(size, count - 1, flat - t) + (1 - p) * optimum(size, count - 1, flat - t + size)
    return np.max(worth, axis=1).reshape(x.shape)


@pytest.mark.parametrize(("size", "count"), [(0.1, 2), (1.0, 2), (3.0, 2)])
def test_a_few_selections_by_brute_force(size: float, count: int) -> None:
    for share in (0.05, 0.3, 0.7):
        epsilon = share * size * count
        truth = float(optimum(size, count, np.array([epsilon]))[0])
        bound = account(exponential(size, count), epsilon=epsilon)
        assert bound.method == "adaptive"
        assert bound.lower <= truth * (1 + 1e-6)
        assert bound.upper >= truth
        assert bound.upper - bound.lower <= 2e-3 * truth


@pytest.mark.parametrize("size", [0.2, 1.0])
def test_a_selection_and_laplace_noise(size: float) -> None:
    """Two orders: the selection before the noise costs no more than after it, and both are enclosed."""
    scale = 1 / 0.4
    epsilon = 0.5 * (size + 0.4)

    def noise_after(x: float) -> float:
        """δ of the Laplace pair at any x."""
        return max(0.0, 1 - math.exp(x), -math.expm1((x - 0.4) / 2) if -0.4 < x < 0.4 else 0.0)

    t = T * size
    p = -np.expm1(t - size) / -math.expm1(-size)
    before = max(
        a * noise_after(epsilon - b) + (1 - a) * noise_after(epsilon - b + size) for a, b in zip(p, t, strict=True)
    )

    def worth(loss: float) -> float:
        return float(last(size, np.array([epsilon - loss]))[0])

    middle = integrate.quad(lambda z: 0.25 * math.exp((z - 0.4) / 2) * worth(z), -0.4, 0.4, epsabs=1e-12)[0]
    after = 0.5 * worth(0.4) + 0.5 * math.exp(-0.4) * worth(-0.4) + middle
    bound = account(plan(release(Exponential(size)), release(Laplace(scale))), epsilon=epsilon)
    assert before <= after + 1e-12
    assert bound.lower <= before * (1 + 1e-5)
    assert bound.upper >= after * (1 - 1e-9)
    assert bound.upper <= after * (1 + 3e-3)
    assert bound.lower >= before * (1 - 3e-3)


ROWS = {
    "50 of .1": (exponential(0.1, 50), 1.539),
    "100 of .2": (exponential(0.2, 100), 4.872),
    "120 of .1, 20 Laplace .6": (
        plan(Repeat(release(Exponential(0.1)), 120), Repeat(release(Laplace(1 / 0.6)), 20)),
        12.354,
    ),
    "300 of .05, 100 Laplace .15": (
        plan(Repeat(release(Exponential(0.05)), 300), Repeat(release(Laplace(1 / 0.15)), 100)),
        7.798,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_narrow(name: str) -> None:
    whole, optimal = ROWS[name]
    bound = account(whole, delta=1e-6)
    assert bound.method == "adaptive"
    assert bound.upper - bound.lower <= 1e-3 * bound.upper
    assert bound.lower == pytest.approx(optimal, rel=1e-3)


def test_adapting_pays() -> None:
    """The lower end is above the best fixed mechanism repeated, the upper end below the product of dominating pairs."""
    from refdp.accounting.enclosure import enclose_epsilon

    whole = exponential(0.2, 100)
    fixed = enclose_epsilon(normalise(whole), whole.relation, 1e-6)
    bound = account(whole, delta=1e-6)
    assert fixed.lower < bound.lower * (1 - 1e-3)
    assert bound.upper < fixed.upper * (1 - 3e-2)


MIXED: dict[str, Plan] = {
    "gaussian": plan(Repeat(release(Exponential(0.2)), 20), Repeat(release(Gaussian(5.0)), 10)),
    "sampled": plan(Repeat(release(Exponential(0.2)), 20), Repeat(Subsample(0.1, release(Laplace(1.0))), 30)),
    "tiny": plan(Repeat(release(Exponential(0.3)), 5), Repeat(release(Laplace(100.0)), 300)),
    "large": plan(Repeat(release(Exponential(6.0)), 3), release(Gaussian(0.5))),
}


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("delta", [1e-3, 1e-10])
def test_mixed_with_anything(name: str, delta: float) -> None:
    whole = MIXED[name]
    node = normalise(whole)
    ends = adaptive.enclose_epsilon(node, whole.relation, delta)
    assert ends is not None
    lower, upper = ends
    assert 0 < lower <= upper <= lower * (1 + (4e-2 if name == "tiny" else 2.5e-2))  # selections first, or last
    back = [adaptive.enclose_delta(node, whole.relation, epsilon) for epsilon in (lower, upper)]
    assert all(found is not None for found in back)
    assert back[0][1] >= delta  # type: ignore[index]
    assert back[1][0] <= delta  # type: ignore[index]


def test_several_ranges_are_left_to_other_methods() -> None:
    """In which order selections of different range come matters, and a plan in normal form has none."""
    whole = plan(Repeat(release(Exponential(0.2)), 10), Repeat(release(Exponential(0.3)), 10))
    assert adaptive.enclose_epsilon(normalise(whole), whole.relation, 1e-6) is None
    assert account(whole, delta=1e-6).method == "renyi"


def test_a_policy_that_ignores_the_cells_between_points_is_not_an_upper_end() -> None:
    """The mutant: a supremum over the points of a coarse grid only lies below the truth."""
    chosen = adaptive.selections(normalise(exponential(1.0, 2)))
    assert chosen is not None
    grid = adaptive.Recursion(chosen, 0.37, 5, -40, 20, 1.0, -40.0)
    points, truth = grid.below(), optimum(1.0, 2, grid.x[35:45])
    above = np.array([grid.above("first")(grid.first + i) for i in range(35, 45)])
    assert np.all(above >= truth)
    assert np.all(points[35:45] <= truth * (1 + 1e-6))
    assert np.any(points[35:45] < truth * (1 - 1e-4))
