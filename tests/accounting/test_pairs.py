"""Dominating pairs: their tails against sums and quadrature, and what they are said to dominate."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from account_plans import plan, release
from scipy import integrate

from refdp.accounting import account, mixtures, pairs
from refdp.accounting.distributions import View, _enumerated, pair_of
from refdp.accounting.grid import Measure, envelope, pessimistic
from refdp.accounting.normal import normalise
from refdp.accounting.rounding import SLACK
from refdp.accounting.statistic import Power, rounded
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Laplace

GAMMAS = np.exp(np.linspace(-2.5, 2.5, 41))


def hockey_stick(p: np.ndarray, q: np.ndarray, gammas: np.ndarray = GAMMAS) -> np.ndarray:
    """sum (p - γ q)_+ for every γ."""
    return np.array([np.maximum(p - gamma * q, 0).sum() for gamma in gammas])


def pair_profile(pair: pairs.DominatingPair, gammas: np.ndarray = GAMMAS) -> np.ndarray:
    """P(L > ε) - γ Q(L > ε), ε = log γ."""
    tails = pair.tails(np.log(gammas))
    return tails.above - gammas * tails.above_q


def laplace_grid(shift: float, x: np.ndarray) -> np.ndarray:
    return 0.5 * np.exp(-np.abs(x - shift)) * (x[1] - x[0])


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.3, 0.7)])
def test_scalar_laplace_dominates_vectors_of_the_same_l1_shift(shares: tuple[float, float]) -> None:
    total, x = 1.7, np.linspace(-14, 16, 1500)
    one, two = (
        np.outer(laplace_grid(a, x), laplace_grid(b, x)) for a, b in ((0, 0), (total * shares[0], total * shares[1]))
    )
    vector = hockey_stick(one, two)
    scalar = pair_profile(pairs.LaplacePair(total))
    assert np.all(vector <= scalar + 1e-3 * (1 + GAMMAS) * 0.1)
    assert np.max(scalar - vector) > 0.01
    # A mutant that uses the Euclidean length of the shift instead does not dominate.
    mutant = pair_profile(pairs.LaplacePair(total * math.hypot(*shares)))
    assert np.any(vector > mutant + 0.01)


@pytest.mark.parametrize("shift", [(1, 1), (2, 1), (1, 1, 1)])
def test_scalar_discrete_laplace_dominates_integer_vectors(shift: tuple[int, ...]) -> None:
    rate, reach = 0.6, 25
    z = np.arange(-reach, reach + 4)
    mass = [np.exp(-rate * np.abs(z - d)) * math.tanh(rate / 2) for d in (0, *shift)]
    one = _outer([mass[0]] * len(shift))
    two = _outer(mass[1:])
    assert np.all(hockey_stick(one, two) <= pair_profile(pairs.DiscreteLaplacePair(rate, sum(shift))) + 1e-5)


def _outer(parts: list[np.ndarray]) -> np.ndarray:
    total = parts[0]
    for part in parts[1:]:
        total = np.multiply.outer(total, part)
    return total


def test_discrete_laplace_tails_are_sums() -> None:
    rate, shift = 0.4, 3
    z = np.arange(-200, 201)
    p, q = (np.exp(-rate * np.abs(z - d)) * math.tanh(rate / 2) for d in (0, shift))
    loss = rate * (np.abs(z - shift) - np.abs(z))
    for epsilon in np.linspace(-1.5, 1.5, 31) + 1e-6:
        tails = pairs.DiscreteLaplacePair(rate, shift).tails(np.array([epsilon]))
        sums = p[loss > epsilon].sum(), q[loss > epsilon].sum(), p[loss <= epsilon].sum(), q[loss <= epsilon].sum()
        assert np.concatenate(tails) == pytest.approx(sums, abs=1e-12)


@pytest.mark.parametrize("size", [0.05, 1.0, 4.0])
def test_bounded_range_dominates_every_two_point_mechanism_and_no_more(size: float) -> None:
    gammas = np.exp(np.linspace(-size, size, 41)[1:-1])
    profiles = []
    for top in np.linspace(0, size, 401)[1:-1]:
        profiles.append(np.maximum(0, np.maximum(1 - gammas, pair_profile(pairs.TwoPoint(top, size), gammas))))
    best, pair = np.max(profiles, axis=0), pair_profile(pairs.BoundedRange(size), gammas)
    assert np.all(best <= pair + 1e-12)
    assert np.all(pair <= best + 1e-4)


def test_bounded_range_covers_a_real_exponential_mechanism() -> None:
    generator = np.random.default_rng(5)
    for _ in range(200):
        change = generator.uniform(-1, 1, 6)
        utility = generator.normal(size=6)
        p, q = (np.exp(u) / np.exp(u).sum() for u in (utility, utility + change))
        size = float(np.ptp(change))
        assert np.all(hockey_stick(p, q) <= np.maximum(pair_profile(pairs.BoundedRange(size)), 1 - GAMMAS) + 1e-12)


@pytest.mark.parametrize("shift", [(1,), (3,), (1, 1), (2, 1)])
def test_discrete_gaussian_pair_is_exact(shift: tuple[int, ...]) -> None:
    sigma, z = 1.3, np.arange(-30, 31)
    mass = [np.exp(-((z - d) ** 2) / (2 * sigma**2)) for d in (0, *shift)]
    mass = [m / m.sum() for m in mass]
    exact = hockey_stick(_outer([mass[0]] * len(shift)), _outer(mass[1:]))
    assert pair_profile(pairs.DiscreteGaussianPair(sigma, shift)) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("length", [3, 20, 100])
def test_the_slightly_sharper_gaussian_dominates_the_discrete_one(length: int) -> None:
    sigma = 10.0
    cost = normalise(plan(release(DiscreteGaussian(sigma, 1.0), float(length))))
    view = View(True, "first", 1e-3, -40.0, 1.0)
    assert _enumerated(cost) is None  # type: ignore[arg-type]
    above = pair_profile(pair_of(cost, view))
    exact = pair_profile(pairs.DiscreteGaussianPair(sigma, (length,)))
    assert np.all(exact <= above + 1e-13)
    # A mutant without the correction is caught where the lattice shows.
    coarse = pairs.DiscreteGaussianPair(0.6, (1,))
    assert np.any(pair_profile(coarse) > pair_profile(pairs.GaussianPair(1 / 0.6)) + 1e-4)


def test_vectors_of_coarse_discrete_gaussians_are_enumerated() -> None:
    bound = account(plan(release(DiscreteGaussian(1.0, 1.0), math.sqrt(2))), epsilon=0.5)
    worst = max(
        float(pair_profile(pairs.DiscreteGaussianPair(1.0, shift), np.exp([0.5]))[0]) for shift in ((1,), (1, 1))
    )
    assert worst <= bound.upper <= worst + 1e-5


@pytest.mark.parametrize("rate", [0.01, 0.4])
def test_mixtures_of_laplace(rate: float) -> None:
    """By quadrature of (p - γq)_+ over the line, in both directions."""
    size = 0.8

    def density(shift: float, x: float) -> float:
        return 0.5 * math.exp(-abs(x - shift))

    for epsilon in (-0.2, 0.003, 0.2):
        gamma = math.exp(epsilon)
        for pair, p, q in (
            (
                mixtures.MixtureFirst(rate, pairs.LaplacePair(size)),
                lambda x: (1 - rate) * density(0, x) + rate * density(size, x),
                lambda x: density(0, x),
            ),
            (
                mixtures.MixtureSecond(rate, pairs.LaplacePair(size)),
                lambda x: density(0, x),
                lambda x: (1 - rate) * density(0, x) + rate * density(size, x),
            ),
        ):
            total = integrate.quad(
                lambda x, p=p, q=q, g=gamma: max(p(x) - g * q(x), 0), -40, 40, points=[0, size], limit=500
            )[0]
            assert float(pair_profile(pair, np.array([gamma]))[0]) == pytest.approx(total, abs=1e-6)


def test_fixed_size_profile_is_convex_and_above_both_directions() -> None:
    pair = mixtures.FixedSize(0.2, pairs.GaussianPair(1.0))
    profile = pair_profile(pair)
    slopes = np.diff(profile) / np.diff(GAMMAS)
    assert np.all(np.diff(slopes) >= -1e-12)
    reverse = 1 - GAMMAS + GAMMAS * pair_profile(pair, 1 / GAMMAS)
    assert profile == pytest.approx(reverse, abs=1e-12)  # replace-one is symmetric


@pytest.mark.parametrize("mu", [0.01, 0.3, 2.0])
def test_float_tails_keep_their_promised_accuracy(mu: float) -> None:
    """Relative error below SLACK against 50 digits, far into the tails."""
    mp.mp.dps = 50
    pair = pairs.GaussianPair(mu)
    for z in (-12.0, -3.0, -0.1, 0.0, 0.7, 6.0, 12.0):
        loss = mu * (mu / 2 + z)
        exact_x = mp.mpf(loss) / mp.mpf(mu)
        half = mp.mpf(mu) / 2
        exact = [mp.ncdf(half - exact_x), mp.ncdf(-half - exact_x), mp.ncdf(exact_x - half), mp.ncdf(exact_x + half)]
        for found, truth in zip(pair.tails(np.array([loss])), exact, strict=True):
            assert abs(mp.mpf(float(found[0])) / truth - 1) < SLACK


PAIRS = [
    pairs.GaussianPair(0.7),
    pairs.LaplacePair(0.61803),
    pairs.DiscreteLaplacePair(0.3, 2),
    pairs.BoundedRange(1.1),
    pairs.TwoPoint(0.3, 0.9),
    pairs.DiscreteGaussianPair(1.5, (2, 1)),
    mixtures.MixtureFirst(0.1, pairs.GaussianPair(1.0)),
    mixtures.MixtureSecond(0.1, pairs.GaussianPair(1.0)),
    mixtures.FixedSize(0.3, pairs.LaplacePair(1.0)),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair).__name__)
def test_discretisation_encloses_the_profile(pair: pairs.DominatingPair) -> None:
    """Everywhere, also between the grid points, and after composing with another pair exactly."""
    step = 0.013
    above, below = pessimistic(pair, step, -60.0), rounded(pair, step, -60.0)
    tests = Power(below.start, *(np.cumsum(below.masses[row][::-1])[::-1] for row in (0, 3)))
    exact = pair_profile(pair)

    def profile(measure) -> np.ndarray:
        gain = -np.expm1(np.minimum(0, np.log(GAMMAS)[:, None] - measure.losses[None, :]))
        return gain @ measure.mass + measure.infinity

    assert np.all(profile(above) >= exact - 1e-14)
    shown = np.array([tests.delta(epsilon) for epsilon in np.log(GAMMAS)])
    assert np.all(shown <= exact + 1e-14)
    assert np.max(profile(above) - shown) < 4 * step
    assert above.mass.sum() >= 1 - 1e-15
    assert below.masses[0].sum() <= 1 + 1e-15 <= below.masses[3].sum() + 2e-15
    assert np.all(below.masses[0] <= below.masses[1])
    assert np.all(below.masses[2] <= below.masses[3])
    nearest = np.exp(np.arange(-20, 20) * step)  # exact at the grid itself
    gain = -np.expm1(np.minimum(0, np.log(nearest)[:, None] - above.losses[None, :]))
    assert gain @ above.mass + above.infinity == pytest.approx(pair_profile(pair, nearest), abs=1e-9)


def test_rounding_losses_to_the_nearest_grid_point_is_rejected() -> None:
    """The mutant that the test above is there for."""
    pair, step = pairs.LaplacePair(0.61803), 0.013
    exact = pair_profile(pair)
    fine = pessimistic(pair, step / 64, -60.0)
    nearest = np.round(fine.losses / step) * step
    mutant = -np.expm1(np.minimum(0, np.log(GAMMAS)[:, None] - nearest[None, :])) @ fine.mass
    assert np.any(mutant < exact - 1e-9)


def test_a_measure_is_a_pair_again() -> None:
    measure = pessimistic(pairs.LaplacePair(0.5), 0.01, -60.0)
    tails = mixtures.MeasuredPair(measure).tails(np.log(GAMMAS))
    direct = -np.expm1(np.minimum(0, np.log(GAMMAS)[:, None] - measure.losses[None, :])) @ measure.mass
    assert tails.above - GAMMAS * tails.above_q == pytest.approx(direct, abs=1e-13)


def test_envelope_is_above_all_of_its_measures() -> None:
    measures = [pessimistic(pair, 0.01, -60.0) for pair in (pairs.GaussianPair(0.5), pairs.LaplacePair(1.0))]
    joint = envelope(measures)
    for epsilon, measure in itertools.product(np.linspace(-1, 2, 31), measures):
        gain = -np.expm1(np.minimum(0, epsilon - measure.losses)) @ measure.mass
        assert -np.expm1(np.minimum(0, epsilon - joint.losses)) @ joint.mass + joint.infinity >= gain


def test_laplace_plan_takes_the_scalar_pair() -> None:
    """One Laplace release: δ(ε) = 1 - e^{(ε-e)/2}."""
    bound = account(plan(release(Laplace(2.0), 3.0)), epsilon=0.4)
    assert bound.upper == pytest.approx(-math.expm1((0.4 - 1.5) / 2), rel=1e-12)


def test_discrete_laplace_counts_whole_steps() -> None:
    one = account(plan(release(DiscreteLaplace(2.0, 0.5), 1.2)), delta=0.0)
    assert one.upper == pytest.approx(3 * 0.25)  # 2.4 steps of 0.5 / 2 each; rounding of values may add the third


@pytest.mark.parametrize(("mass", "above"), [((0.25, 0.25), True), ((0.5, 0.5001), False), ((1.1, -0.1), True)])
def test_lost_or_added_probability_is_stopped(mass: tuple[float, float], above: bool) -> None:
    with pytest.raises(ArithmeticError, match="sum to"):
        Measure(0, 0.1, np.array(mass), 0.0, 0.0, above)
