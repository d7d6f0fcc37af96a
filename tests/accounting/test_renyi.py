"""Rényi curves: published vectors, quadrature, the lemmas that they rest on, and the three conversions."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from account_plans import ADD_REMOVE, REPLACE_ONE, laplace, plan, release, sampled_gaussian

from refdp.accounting import account, conversion, curves, renyi, renyi_epsilon, sampling
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Parallel, Partition, Plan, Sequential, Subsample

mp.mp.dps = 30
ORDERS = np.array([1.001, 1.3, 2.0, 3.7, 8.0, 31.5, 200.0])


def divergence(p: np.ndarray, q: np.ndarray, order: float) -> float:
    terms = order * np.log(p) + (1 - order) * np.log(q)
    return float((terms.max() + np.log(np.sum(np.exp(terms - terms.max())))) / (order - 1))


@pytest.mark.parametrize(
    ("order", "rho", "delta", "expected"),
    [(4.0, 0.5, 1e-5, (4.3376, 3.5879, 3.7914)), (10.0, 0.05, 1e-5, (1.3292, 0.9680, 0.9606))],
)
def test_conversions(order: float, rho: float, delta: float, expected: tuple[float, float, float]) -> None:
    arguments = np.array([order]), np.array([rho]), delta
    found = [float(f(*arguments)[0]) for f in (conversion.mironov, conversion.canonne, conversion.asoodeh)]
    assert found == pytest.approx(expected, abs=5e-5)
    assert conversion.epsilons(*arguments)[0] == min(found)


def test_conversions_never_undercut_the_exact_gaussian() -> None:
    from refdp.accounting import gaussian

    for mu in (0.05, 0.7, 3.0):
        for delta in (1e-2, 1e-6, 1e-20):
            values = conversion.epsilons(ORDERS, curves.gaussian(mu, ORDERS), delta)
            assert np.all(values >= gaussian.epsilon(mu, delta))


def test_poisson_gaussian_vector() -> None:
    rho = renyi(sampled_gaussian(0.3, math.sqrt(2.5)), np.array([4.0]))[0]
    assert rho == pytest.approx(0.1089817, abs=5e-8)
    assert rho > 0.0587  # the other direction is smaller


@pytest.mark.parametrize(("rate", "sigma"), [(0.01, 1.0), (0.3, 0.4), (0.9, 5.0), (1e-4, 0.7)])
@pytest.mark.parametrize("order", [1.2, 2.0, 5.5, 20.0])
def test_poisson_gaussian_at_every_real_order(rate: float, sigma: float, order: float) -> None:
    """Against quadrature with 30 digits: from above, by less than 1e-10."""

    def integrand(x):
        return mp.npdf(x, 0, sigma) * (1 - rate + rate * mp.exp((2 * x - 1) / (2 * mp.mpf(sigma) ** 2))) ** order

    ends = -14 * sigma, order + 14 * sigma
    points = mp.linspace(*ends, max(8, int((ends[1] - ends[0]) / sigma / 4)))
    exact = mp.log(mp.quad(integrand, points)) / (order - 1)
    found = float(sampling.poisson_gaussian(rate, sigma, np.array([order]))[0])
    assert exact <= found <= exact + 1e-10 / (order - 1)


def test_what_lies_beyond_the_grid_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a grid cut at two deviations the bound is loose, but it still is one."""
    exact = sampling.poisson_gaussian(0.3, 1.0, np.array([3.0]))[0]
    monkeypatch.setattr(sampling, "_REACH", 2.0)
    cut = sampling.poisson_gaussian(0.3, 1.0, np.array([3.0]))[0]
    assert exact * (1 - 1e-12) <= cut <= exact + 0.1


def test_general_poisson_bound_is_the_published_sum() -> None:
    """(1-q)^(α-1) (αq - q + 1) + C(α,2) q² (1-q)^(α-2) e^ρ(2) + 3 sum_{l>=3} C(α,l) q^l (1-q)^(α-l) e^((l-1)ρ(l))."""
    rate, order, rho = 0.05, 5, lambda at: 0.4 * at
    total = (1 - rate) ** (order - 1) * (order * rate - rate + 1)
    total += math.comb(order, 2) * rate**2 * (1 - rate) ** (order - 2) * math.exp(rho(2))
    for k in range(3, order + 1):
        total += 3 * math.comb(order, k) * rate**k * (1 - rate) ** (order - k) * math.exp((k - 1) * rho(k))
    found = sampling.poisson(rate, rho, symmetric=False)[order]
    assert found == pytest.approx(math.log(total), rel=1e-9)
    nested = plan(Subsample(0.05, Subsample(0.5, release(Laplace(1.0)))))  # merges to one rate, hence symmetric
    apart = plan(Subsample(0.05, Sequential((Subsample(0.5, release(Laplace(1.0))), release(Laplace(1e3))))))
    assert renyi(apart, np.array([5.0]))[0] > 1.5 * renyi(nested, np.array([5.0]))[0]


def test_gaussian_sampling_agrees_with_the_binomial_sum() -> None:
    orders = np.arange(2.0, 65.0)
    inside = lambda at: curves.gaussian(1.0, at)  # noqa: E731
    sums = sampling.poisson(0.02, inside, symmetric=True)[2:65] / (orders - 1)
    assert sampling.poisson_gaussian(0.02, 1.0, orders) == pytest.approx(sums, rel=1e-9, abs=1e-11)


def test_mixture_first_is_the_larger_direction_outcome_by_outcome() -> None:
    """The inequality behind the factor 1: w(r)^α + r w(1/r)^α >= w(r)^(1-α) + r w(1/r)^(1-α), w(r) = 1 - q + qr."""
    rate, ratio, order = np.meshgrid(np.linspace(0.01, 0.99, 25), np.geomspace(1e-4, 1e4, 81), np.linspace(1, 12, 45))
    one, other = 1 - rate + rate * ratio, 1 - rate + rate / ratio
    first = one**order + ratio * other**order
    second = one ** (1 - order) + ratio * other ** (1 - order)
    assert np.all(first >= second * (1 - 1e-12))


def test_general_poisson_bound_covers_sampled_laplace_in_both_directions() -> None:
    rate, size = 0.15, 0.7
    x = np.linspace(-40, 41, 400_001)
    p, q = (0.5 * np.exp(-np.abs(x - shift)) * (x[1] - x[0]) for shift in (size, 0.0))
    mixture = (1 - rate) * q + rate * p
    found = renyi(plan(Subsample(rate, release(Laplace(1 / size)))), np.array([2.0, 3.0, 4.5, 12.0]))
    for order, bound in zip((2.0, 3.0, 4.5, 12.0), found, strict=True):
        larger = max(divergence(mixture, q, order), divergence(q, mixture, order))
        assert larger <= bound + 1e-7
        if order == int(order):
            assert bound <= larger + 1e-6


@pytest.mark.parametrize("size", [1e-6, 0.01, 0.9, 6.0])
def test_curves_of_pure_mechanisms(size: float) -> None:
    """In their order, and against 30 digits."""
    for order in ORDERS:
        one = np.array([order])
        a, e = mp.mpf(float(order)), mp.mpf(size)
        lap = mp.log(a / (2 * a - 1) * mp.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * mp.exp(-a * e)) / (a - 1)
        rr = mp.log((mp.exp(a * e) + mp.exp((1 - a) * e)) / (1 + mp.exp(e))) / (a - 1)
        pair = mp.log(mp.sinh((a - 0.5) * e) / ((2 * a - 1) * mp.sinh(e / 2))) / (a - 1)
        assert curves.laplace(size, one)[0] == pytest.approx(float(lap), rel=1e-10)
        assert curves.randomised_response(size, one)[0] == pytest.approx(float(rr), rel=1e-10)
        assert curves.bounded_range_pair(size, one)[0] == pytest.approx(float(pair), rel=1e-6)
        grid = [two_point(size, t * size / 2000, order) for t in range(1, 2000)]
        best = curves.bounded_range(size, one)[0]
        assert max(grid) * (1 - 1e-6) - 1e-15 <= best
        assert best <= max(max(grid) * (1 + 1e-5), order * size**2 / 8) + 1e-15
        assert best <= order * size**2 / 8 * (1 + 1e-15)
        assert best <= curves.bounded_range_pair(size, one)[0] * (1 + 1e-6)
        assert curves.randomised_response(size, one)[0] <= min(size, order * size**2 / 2) * (1 + 1e-12)


def two_point(size: float, top: float, order: float) -> float:
    a, t, e = mp.mpf(float(order)), mp.mpf(top), mp.mpf(size)
    share = (mp.exp(-t) - mp.exp(-e)) / -mp.expm1(-e)
    return float(mp.log(share * mp.exp(a * t) + (1 - share) * mp.exp(a * (t - e))) / (a - 1))


@pytest.mark.parametrize(("rate", "shift"), [(0.3, 1), (0.3, 4), (2.0, 2), (1e-4, 3)])
def test_discrete_laplace_is_the_sum(rate: float, shift: int) -> None:
    reach = min(60_000, math.ceil(40 / rate) + 50)
    z = np.arange(-reach, reach + 1)
    p, q = (np.exp(-rate * np.abs(z - d)) * math.tanh(rate / 2) for d in (0, shift))
    for order in (1.5, 2.0, 7.0):
        expected = divergence(p, q, order) if rate > 1e-3 else order * (rate * shift) ** 2 / 2
        tolerance = {"rel": 1e-9, "abs": 1e-13} if rate > 1e-3 else {"rel": 1e-3}
        assert curves.discrete_laplace(rate, shift, np.array([order]))[0] == pytest.approx(expected, **tolerance)


def test_discrete_gaussian_is_below_the_continuous_curve() -> None:
    sigma, z = 1.1, np.arange(-30, 33)
    p, q = (np.exp(-((z - d) ** 2) / (2 * sigma**2)) for d in (0, 2))
    exact = [divergence(p / p.sum(), q / q.sum(), order) for order in (1.5, 2.0, 6.0)]
    found = renyi(plan(release(DiscreteGaussian(sigma, 1.0), 2.0)), np.array([1.5, 2.0, 6.0]))
    assert np.all(np.array(exact) <= found * (1 + 1e-12))


def test_without_replacement_covers_a_worst_case_and_beats_no_sampling() -> None:
    """A record that only counts when drawn: mixture against base, and the reverse."""
    rate, orders = 0.1, np.array([2.0, 4.0, 9.0])
    sampled = Subsample(rate, release(Laplace(2.0), relation=REPLACE_ONE), "without-replacement")
    found = renyi(Plan(REPLACE_ONE, sampled), orders)
    x = np.linspace(-40, 41, 200_001)
    p, q = (0.5 * np.exp(-np.abs(x - shift)) * (x[1] - x[0]) for shift in (0.5, 0.0))
    mixture = (1 - rate) * q + rate * p
    for order, bound in zip(orders, found, strict=True):
        assert max(divergence(mixture, q, order), divergence(q, mixture, order)) <= bound
    assert np.all(found < curves.laplace(0.5, orders) / 2)


def test_partition_and_parallel() -> None:
    one, two = release(Laplace(2.0)), release(Gaussian(3.0))
    orders = np.array([1.5, 2.0, 8.0])
    a, b = curves.laplace(0.5, orders), curves.gaussian(1 / 3, orders)
    joined = renyi(Plan(ADD_REMOVE, Parallel((one, two))), orders)
    assert joined == pytest.approx(np.maximum(a, b), rel=1e-12)
    split = renyi(Plan(ADD_REMOVE, Partition((0.25, 0.5), (one, two))), orders)
    convex = np.log(0.25 + 0.25 * np.exp((orders - 1) * a) + 0.5 * np.exp((orders - 1) * b)) / (orders - 1)
    assert split == pytest.approx(convex, rel=1e-10)
    moved = Parallel(tuple(release(m, relation=REPLACE_ONE) for m in (Laplace(2.0), Gaussian(3.0), Laplace(9.0))))
    assert renyi(Plan(REPLACE_ONE, moved), orders) == pytest.approx(a + b, rel=1e-12)


def test_curves_grow_with_the_order() -> None:
    kinds = (Laplace(2.0), Gaussian(2.0), Exponential(0.7), DiscreteLaplace(3.0, 1.0))
    for kind in kinds:
        for event in (release(kind), Subsample(0.2, release(kind))):
            curve = renyi(plan(event), np.linspace(1.1, 60, 300))
            assert np.all(np.diff(curve) >= -1e-12)


def test_renyi_epsilon_knows_the_infinite_order() -> None:
    assert renyi_epsilon(laplace(1.0), 0.0) == 1.0
    assert renyi_epsilon(laplace(1e7), 1e-30) == pytest.approx(1e-7)


@pytest.mark.parametrize("shift", [1, 3])
@pytest.mark.parametrize("rate", [1e-12, 1e-8, 1e-4, 0.3])
def test_the_curve_of_discrete_noise_holds_where_losses_are_of_the_size_of_rounding(rate: float, shift: int) -> None:
    """log(1 + 1e-16) is 0 in floats: one release of loss 1.5e-8 had an epsilon of 0 at delta 1.7e-9."""
    for order in (1.01, 2.0, 64.0):
        with mp.workdps(80):
            x, a = mp.exp(-mp.mpf(rate)), mp.mpf(order)
            outer = (x ** (-(a - 1) * shift) + x ** (a * shift)) / (1 + x)
            inner = sum((1 - x) / (1 + x) * x ** (a * z + (1 - a) * (shift - z)) for z in range(1, shift))
            truth = float(mp.log(outer + inner) / (a - 1))
        assert truth <= curves.discrete_laplace(rate, shift, np.array([order]))[0] * (1 + 2.0**-44)
    one = release(DiscreteLaplace(1 / rate, 1.0), float(shift))
    lost = math.tanh(rate / 2)  # delta(0) of one step, at most that of several
    assert account(plan(one), delta=lost / 2).epsilon > 0


@pytest.mark.parametrize("size", [501.0, 745.0, 800.0, 1e4, 1e9])
def test_ranges_whose_shares_underflow_lack_as_much_of_their_size_as_smaller_ones(size: float) -> None:
    """The first term decides, (1 - e^{-d}) e^{(order-1)(size-d)}: how far the curve is below the size is its limit."""
    orders = np.array([1.5, 2.0, 10.0, 1e3, 1e6])
    short = 400.0 - curves.bounded_range(400.0, orders)
    assert size - curves.bounded_range(size, orders) == pytest.approx(short, abs=1e-13 * size)
    assert (curves.bounded_range(np.inf, orders) == np.inf).all()
