"""Groups of records and negative ε, against closed forms and enumerated truths."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from account_plans import ADD_REMOVE, REPLACE_ONE, exponential, gaussian, laplace, plan, release, sampled_gaussian

from refdp.accounting import account
from refdp.accounting import gaussian as exact
from refdp.accounting.plots import trade_off
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.events import Parallel, Plan, Release, Sensitivity, Subsample


def test_groups_without_samples_are_larger_sensitivities() -> None:
    assert account(gaussian(3.0, 4), delta=1e-6, group=3) == account(gaussian(1.0, 4), delta=1e-6)
    assert account(laplace(6.0, 20), delta=1e-6, group=3) == account(laplace(2.0, 20), delta=1e-6)
    assert account(exponential(0.1, 5), delta=0.0, group=2).upper == pytest.approx(1.0)


@pytest.mark.parametrize("group", [2, 3])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_group_in_a_poisson_sample(group: int, rate: float) -> None:
    """The truth: a binomial number of the group is in the sample; above it is the upper end, and the lower not."""
    decay, z = 0.5, np.arange(-80, 81)

    def law(value: int) -> np.ndarray:
        return np.exp(-decay * np.abs(z - value)) * math.tanh(decay / 2)

    mixed = sum(math.comb(group, k) * rate**k * (1 - rate) ** (group - k) * law(k) for k in range(group + 1))
    whole = plan(Subsample(rate, release(DiscreteLaplace(1 / decay, 1.0))))
    for epsilon in (0.0, 0.1, 0.4, 0.8):
        truth = max(
            float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in ((mixed, law(0)), (law(0), mixed))
        )
        bound = account(whole, epsilon=epsilon, group=group)
        assert bound.lower <= truth + 1e-12
        assert bound.upper >= truth - 1e-12
        assert account(whole, epsilon=epsilon).upper < truth or truth < 1e-9  # the mutant that forgets the group
    asked = account(whole, delta=0.01, group=group)
    assert account(whole, epsilon=asked.upper, group=group).upper <= 0.01 * (1 + 1e-4)
    assert account(whole, delta=0.0, group=group).upper == pytest.approx(group * account(whole, delta=0.0).upper)


def test_blocks_of_a_group_go_by_single_steps() -> None:
    """Two records may sit in two blocks: Laplace noise in one, Gaussian in the other, both pay."""
    whole = plan(Parallel((release(Laplace(4.0)), release(Gaussian(4.0)))))
    both = plan(release(Laplace(4.0)), release(Gaussian(4.0)))
    for epsilon in (0.1, 0.5, 1.0):
        assert account(whole, epsilon=epsilon, group=2).upper >= account(both, epsilon=epsilon).lower


def test_a_mechanism_of_somebody_else_goes_by_single_steps() -> None:
    class Fixed:
        """Costs what it costs, whatever the sensitivity is said to be."""

        def dominated(self, sensitivity: Sensitivity) -> object:
            from refdp.accounting.releases import Fraction, LaplaceCost

            return LaplaceCost(Fraction(1, 2))

    one = plan(Release("fixed", Fixed(), Sensitivity(1.0, 1, "test/declared", ADD_REMOVE)))  # type: ignore[arg-type]
    assert account(one, delta=0.0, group=3).upper == pytest.approx(1.5)
    with pytest.raises(InvalidParameter, match="declared for replace-one"):
        account(Plan(ADD_REMOVE, Subsample(0.1, one.event, "without-replacement")), delta=1e-6)


@pytest.mark.parametrize("group", [0, -1, 1.5, "2", True, None, math.nan])
def test_bad_groups(group: object) -> None:
    with pytest.raises(InvalidParameter, match="group"):
        account(gaussian(1.0), delta=1e-6, group=group)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [-1e-9, -0.3, -2.0, -30.0])
def test_negative_epsilon(epsilon: float) -> None:
    """Against the profile of two Gaussians and of sampled ones, by quadrature."""
    x = np.linspace(-12, 13, 200_001)
    p, q = (np.exp(-((x - c) ** 2) / 2) / math.sqrt(2 * math.pi) for c in (0, 1))
    bound = account(gaussian(1.0), epsilon=epsilon)
    truth = float(np.maximum(p - math.exp(epsilon) * q, 0).sum() * (x[1] - x[0]))
    assert bound.lower <= truth + 1e-9
    assert truth - 1e-9 <= bound.upper <= bound.lower + 1e-9
    mixed = 0.9 * p + 0.1 * q
    truth = max(
        float(np.maximum(a - math.exp(epsilon) * b, 0).sum() * (x[1] - x[0])) for a, b in ((mixed, p), (p, mixed))
    )
    bound = account(sampled_gaussian(0.1, 1.0), epsilon=epsilon)
    assert bound.lower - 1e-9 <= truth <= bound.upper + 1e-9
    assert bound.upper - bound.lower < 1e-9
    assert set(bound.methods) == set(account(sampled_gaussian(0.1, 1.0), epsilon=-epsilon).methods)


def test_the_end_of_negative_epsilon() -> None:
    assert account(gaussian(1.0), epsilon=-math.inf).upper == 1
    assert account(plan(), epsilon=-1.0).upper == pytest.approx(-math.expm1(-1.0))


def test_trade_off_curves_are_exact() -> None:
    """Points on both sides of 0 give the curve of a Gaussian; those of ε >= 0 alone give the same by symmetry."""
    from scipy import stats

    alphas, epsilons = np.linspace(0.01, 0.99, 40), np.linspace(-5.0, 5.0, 201)
    deltas = np.array([account(gaussian(1.0), epsilon=float(e)).upper for e in epsilons])
    beta = trade_off(epsilons, deltas, alphas)
    assert np.all(beta <= stats.norm.cdf(stats.norm.isf(alphas) - 1.0) + 1e-12)
    assert beta == pytest.approx(stats.norm.cdf(stats.norm.isf(alphas) - 1.0), abs=1e-3)
    assert beta == pytest.approx(trade_off(epsilons[100:], deltas[100:], alphas), abs=1e-12)


def test_relation_of_a_group_of_replaced_records() -> None:
    one = Plan(REPLACE_ONE, release(Gaussian(2.0), relation=REPLACE_ONE))
    assert account(one, delta=1e-6, group=2).upper == pytest.approx(exact.epsilon(1.0, 1e-6))


def test_groups_cost_no_less_than_their_records_together() -> None:
    generator = np.random.default_rng(2)
    for bound, group in zip(generator.random(100), range(2, 102), strict=True):
        found = account(plan(release(Laplace(1.0), float(bound))), delta=0.0, group=group).epsilon
        assert group * Fraction(bound) <= Fraction(found) <= group * Fraction(bound) * (1 + Fraction(1, 2**51))
