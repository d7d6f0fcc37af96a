"""Ends that are rounded outwards: against digits that floats do not have, on many small cases."""

from __future__ import annotations

import math
from itertools import product
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

from refdp.accounting import accountant, adaptive, mixtures, monte_carlo
from refdp.accounting.bound import Bound


def fallen(generator: np.random.Generator) -> list[float]:
    """Eight values of δ that fall, convex in e^x as far as it matters."""
    return sorted((generator.random(8) ** 3).tolist(), reverse=True)


@pytest.mark.parametrize("step", [2.0**-12, 0.03125, 0.75])
def test_a_crossing_is_never_before_its_chord(step: float) -> None:
    generator = np.random.default_rng(5)
    for _ in range(60):
        values = fallen(generator)
        delta = float(generator.uniform(values[-1], values[0]))
        field: Any = SimpleNamespace(first=3, last=10, origin=0.0, step=step)
        found, _ = adaptive._crossing(field, lambda i, seen=values: seen[i - 3], delta)  # type: ignore[misc]
        place = next(i for i in range(7) if values[i + 1] <= delta)
        with mpmath.workdps(40):
            left, right, h = mpmath.mpf(values[place]), mpmath.mpf(values[place + 1]), mpmath.mpf(step)
            share = (left - mpmath.mpf(delta)) / (left - right)
            truth = (place + 3) * h + mpmath.log1p(share * mpmath.expm1(h))
            assert truth <= found <= truth + step * 1e-11 + truth * 1e-13


def test_a_crossing_at_a_point_is_that_point() -> None:
    field: Any = SimpleNamespace(first=0, last=2, origin=0.0, step=0.5)
    values = [0.5, 0.25, 0.125]
    at = [adaptive._crossing(field, values.__getitem__, delta)[0] for delta in (0.5, 0.25, 0.125)]
    assert at[0] == 0.0
    assert 0.5 <= at[1] <= 0.5 * (1 + 1e-11) and 1.0 <= at[2] <= 1 + 1e-11
    assert adaptive._crossing(field, values.__getitem__, 0.1249)[0] == math.inf
    flat: Any = SimpleNamespace(first=-4, last=2, origin=-1.0, step=0.5)  # 0 is at the place 2, the last
    assert adaptive._crossing(flat, lambda i: 0.1, 0.2)[0] == 0.0


@pytest.mark.parametrize("back", [1, 2, 4, 8, 16])
def test_below_is_never_extended_beyond_a_chord(back: int) -> None:
    """Above is known at one point alone, `back` steps before the last point of below: one chord is left."""
    generator, step = np.random.default_rng(back), 0.0625
    for _ in range(40):
        high, low = sorted(generator.random(2).tolist(), reverse=True)
        delta = low * float(generator.uniform(0.2, 0.999))
        below = np.zeros(32)
        below[20] = low
        field: Any = SimpleNamespace(first=-7, x=np.arange(32) * step, step=step)
        known = {-7 + 20 - back: high}
        found = adaptive._extended(field, lambda i, seen=known: seen.get(i, 0.0), below, delta)  # type: ignore[misc]
        with mpmath.workdps(40):
            fall = (mpmath.mpf(high) - mpmath.mpf(low)) / (1 - mpmath.exp(-back * mpmath.mpf(step)))
            truth = 20 * mpmath.mpf(step) + mpmath.log1p((mpmath.mpf(low) - mpmath.mpf(delta)) / fall)
            assert truth * (1 - 1e-11) <= found <= truth


def test_nothing_is_extended_where_below_never_exceeds_delta() -> None:
    field: Any = SimpleNamespace(first=0, x=np.arange(4) * 0.5, step=0.5)
    assert adaptive._extended(field, lambda i: 1.0, np.array([0.25, 0.2, 0.1, 0.0]), 0.25) == 0.0
    field.x = field.x - 2.0  # all of it lies below 0
    assert adaptive._extended(field, lambda i: 0.0, np.array([0.25, 0.2, 0.1, 0.0]), 0.15) == 0.0


def test_tails_of_a_symmetric_pair_by_enumeration() -> None:
    """Losses -1, 0 and 1, each as likely under Q as its opposite under P."""
    p = {1.0: 0.5, 0.0: 0.25, -1.0: 0.25}
    q = {-loss: mass for loss, mass in p.items()}

    def beyond(losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert np.all(losses >= 0)
        return tuple(np.array([sum(m for at, m in law.items() if at > e) for e in losses]) for law in (p, q))  # type: ignore[return-value]

    for loss in (-2.0, -1.0, -0.5, -1e-300, 0.0, 0.5, 1.0, 2.0):
        found = mixtures._mirrored(np.array([loss]), beyond)
        due = [sum(m for at, m in law.items() if (at > loss) is over) for over, law in product((True, False), (p, q))]
        assert [float(tail[0]) for tail in found] == due, loss


@pytest.mark.parametrize("p", [0.75, 0.6])
def test_the_profile_below_zero_by_enumeration(p: float) -> None:
    """Of two answers, p and 1 - p: sums of P - e^ε Q where that is positive."""

    def delta(epsilon: float) -> float:
        pairs = ((p, 1 - p), (1 - p, p))
        return sum(max(0.0, one - math.exp(epsilon) * other) for one, other in pairs)

    for epsilon in (-2.0, -1.0, -0.25):
        turned = delta(-epsilon)
        found = accountant._mirrored(
            Bound(-epsilon, turned, turned / 2, turned, "exact", {"exact": turned, "basic": 1.0}), epsilon
        )
        assert (found.epsilon, found.method, found.delta) == (epsilon, "exact", found.upper)
        assert delta(epsilon) <= found.upper <= delta(epsilon) * (1 + 1e-12)
        assert found.methods == {"exact": found.upper, "basic": 1.0}
        less = delta(epsilon) - math.exp(epsilon) * turned / 2
        assert less * (1 - 1e-12) <= found.lower <= less


def test_the_empirical_bernstein_bound_by_hand() -> None:
    """Half of four gains are 1: their variance is 1/3 with three degrees of freedom."""
    found = monte_carlo._bernstein(np.array([0.0, 1.0, 1.0, 0.0]), 3.0)
    assert found == pytest.approx(math.sqrt(2 * (1 / 3) * 3 / 4) + 7 * 3 / (3 * 3), rel=1e-14)
    assert monte_carlo._bernstein(np.array([0.5, 0.5]), 3.0) == 7.0
    assert monte_carlo._bernstein(np.array([0.5]), 3.0) == 1.0


def test_the_divergence_of_two_coins() -> None:
    assert monte_carlo._divergence(0.5, 0.25) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3), rel=1e-14)
    assert monte_carlo._divergence(0.0, 0.75) == pytest.approx(math.log(4), rel=1e-14)
    assert monte_carlo._divergence(1.0, 0.25) == pytest.approx(math.log(4), rel=1e-14)
    assert [monte_carlo._divergence(p, q) for p, q in ((0.5, 0.0), (0.5, 1.0), (1.0, 0.0), (0.0, 1.0))] == [
        math.inf
    ] * 4
    assert [monte_carlo._divergence(p, p) for p in (0.0, 1.0)] == [0.0, 0.0]


def test_no_and_only_gains_leave_powers_of_the_error() -> None:
    """Of n losses without any gain, (1 - δ)^n is the chance; at 99% each side has half a percent, halved again."""
    none, every = (monte_carlo.estimate_delta(np.full(400, loss), 1.0) for loss in (0.0, math.inf))
    assert (none.estimate, none.lower, none.samples) == (0.0, 0.0, 400)
    assert none.upper == pytest.approx(1 - 0.0025 ** (1 / 400), rel=1e-6)
    assert (every.estimate, every.upper) == (1.0, 1.0)
    assert every.lower == pytest.approx(0.0025 ** (1 / 400), rel=1e-6)


@pytest.mark.parametrize("origin", [0.0, -0.25])
def test_a_crossing_below_zero_is_none(origin: float) -> None:
    """ε is at least 0: a δ that is met before is met there."""
    field: Any = SimpleNamespace(first=-4, last=3, origin=origin, step=0.5)
    found, _ = adaptive._crossing(field, lambda i: 0.9 if i < -2 else 0.1, 0.2)
    assert found == (0.0 if origin == 0 else 0.25)  # the first point of the grid from 0 on
