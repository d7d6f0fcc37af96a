"""Changes of coarse discrete noise, rough ranges of losses, and sums over a binomial's rows, by enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from refdp.accounting import sampling
from refdp.accounting.distributions import _enumerated, loss_range, smoothing
from refdp.accounting.individual import KNOTS, Accounts, Budget
from refdp.accounting.normal import Composed, Sampled
from refdp.accounting.pairs import NoPair
from refdp.accounting.releases import DiscreteGaussianCost, GaussianCost, PureCost


@pytest.mark.parametrize(("length", "norm"), [(2.0, 1), (2.5, 1), (3.0, 1), (1.5, 2), (2.0, 2), (math.sqrt(5), 2)])
def test_every_change_up_to_sign_and_order(length: float, norm: int) -> None:
    """Against all integer vectors of as many coordinates as the length allows."""
    most = length if norm == 1 else length * length
    reach = math.floor(most)
    vectors = itertools.product(range(reach + 1), repeat=reach)
    wanted = {tuple(sorted(filter(None, one))) for one in vectors if sum(z**norm for z in one) <= most}
    found = _enumerated(DiscreteGaussianCost(1.0, length, norm))
    assert found is not None and len(found) == len(set(found)) and set(found) == wanted - {()}


def test_which_noise_is_coarse() -> None:
    """sigma^2 up to 16 times the smoothing one; of long changes none is enumerated, and coarse noise has no pair."""
    border = math.sqrt(16 * smoothing(3.0))
    assert _enumerated(DiscreteGaussianCost(border * (1 - 1e-9), 3.0, 2)) is not None
    assert _enumerated(DiscreteGaussianCost(border * (1 + 1e-9), 3.0, 2)) is None
    assert (
        _enumerated(DiscreteGaussianCost(1.0, 1.9, 1)) is None
        and _enumerated(DiscreteGaussianCost(1.0, 1.0, 2)) is None
    )
    assert _enumerated(DiscreteGaussianCost(1.0, math.sqrt(12.0) * (1 - 1e-9), 2)) is not None
    long = 13.0
    border = math.sqrt(2 * smoothing(long))
    assert _enumerated(DiscreteGaussianCost(border * (1 + 1e-9), long, 1)) is None
    with pytest.raises(NoPair, match="for changes of length 13"):
        _enumerated(DiscreteGaussianCost(border * (1 - 1e-9), long, 1))
    assert smoothing(0.5) == smoothing(1.0) == pytest.approx((math.log(9) + 50 * math.log(2)) / (2 * math.pi**2))
    assert smoothing(4.0) - smoothing(1.0) == pytest.approx(math.log(16) / (2 * math.pi**2))


def test_rough_ranges_of_losses() -> None:
    gauss, pure = GaussianCost(Fraction(4)), PureCost(Fraction(1, 2))
    assert loss_range(gauss) == pytest.approx((-28.0, 32.0)) and loss_range(pure) == (-0.5, 0.5)
    assert loss_range(Sampled(0.1, pure, "poisson")) == (-0.5, 0.5)
    assert loss_range(Composed(((gauss, 2), (pure, 3)))) == pytest.approx((-57.5, 65.5))


def test_rows_of_a_binomial() -> None:
    """log of C(a, k) r^k (1-r)^(a-k), whose rows add up to 1; sums of rows have slack, and 0 at first."""
    ways = sampling._log_choose()
    for a, k in itertools.product((0, 1, 2, 7, 30), (0, 1, 2, 5, 30)):
        assert ways[a, k] == (pytest.approx(math.log(math.comb(a, k)), abs=1e-10) if k <= a else -math.inf)
    terms = sampling._log_binomial(0.3)
    assert terms.shape == (257, 257) and terms[3, 2] == pytest.approx(math.log(3 * 0.09 * 0.7))
    sums = sampling._log_row_sums(terms)
    assert (sums[:2] == 0).all() and (sums >= 0).all() and (sums < 1e-10).all()
    rows = np.array([[3.0, 3.0], [3.0, 3.0], [-800.0, -np.inf], [800.0, 800.0]])
    found = sampling._log_row_sums(rows)
    assert found[:2].tolist() == [0.0, 0.0] and found[2] == 0.0 and found[3] == pytest.approx(800 + math.log(2))
    whole, moments = sampling._inner_moments(lambda orders: 0.5 * np.asarray(orders))
    assert whole.tolist() == list(range(257)) and moments[:3].tolist() == [0.0, 0.0, 1.0] and moments[10] == 45.0


def test_a_cost_that_just_fits_is_paid() -> None:
    """Two halves of a budget, and not one more however small."""
    knots = np.linspace(0.0, 1.0, KNOTS)
    accounts = Accounts(Budget(1.0, 0.5, 2, np.array([2.0]), np.array([1.0]), knots, knots[None, :]))
    accounts.open(2)
    for paid in ([True, True], [True, True], [False, True]):
        assert accounts.charge(np.array([0.5, 0.25])).tolist() == paid
    assert accounts.charge(np.array([2.0**-40, 0.25])).tolist() == [False, True]
    assert accounts.shares().tolist() == [1.0, 1.0]
