"""Many slots for a record: both ends against exact laws of randomised responses, and what they buy."""

from __future__ import annotations

import math
from math import comb

import numpy as np
import pytest
from account_plans import ADD_REMOVE, REPLACE_ONE, plan, release

from refdp.accounting import account, allocation
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.events import Partition, Repeat, Subsample, balls_and_bins


def true_delta(slots: int, loss: float, epsilon: float) -> float:
    """δ(ε) of one epoch of randomised responses: how many slots say yes is all that counts."""
    yes = 1 / (1 + math.exp(loss))
    without = np.array([comb(slots, k) * yes**k * (1 - yes) ** (slots - k) for k in range(slots + 1)])
    k = np.arange(slots + 1)
    present = without * (k * math.exp(loss) + (slots - k) * math.exp(-loss)) / slots
    ways = [(present, without), (without, present)]
    return max(float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in ways)


@pytest.mark.parametrize(
    ("slots", "loss", "share"), [(20, 0.1, 0.3), (40, 0.55434, 0.6), (150, 0.3, 0.1), (400, 0.8, 0.2)]
)
def test_epochs_of_randomised_responses(slots: int, loss: float, share: float) -> None:
    """Whatever ε: never below the truth, which both directions make, and below one event for all slots."""
    epsilon = share * loss
    whole = plan(balls_and_bins(release(DiscreteLaplace(1 / loss, 1.0)), slots))
    bound, truth = account(whole, epsilon=epsilon), true_delta(slots, loss, epsilon)
    assert bound.lower <= truth * (1 + 1e-9) + 1e-15
    assert bound.upper >= truth
    assert bound.upper < bound.methods["exact"]


def test_the_slots_that_leave_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: nothing is lost where rates leave their bound. Its δ is below the truth."""
    monkeypatch.setattr(allocation.Above, "failure", lambda self, factor: 0.0)
    whole = plan(balls_and_bins(release(DiscreteLaplace(1 / 0.55434, 1.0)), 40))
    assert account(whole, epsilon=0.2694).upper < true_delta(40, 0.55434, 0.2694)


@pytest.mark.parametrize(("epochs", "low", "high"), [(1, 0.123, 0.240), (10, 0.396, 0.726)])
def test_a_thousand_batches_of_gaussian_noise(epochs: int, low: float, high: float) -> None:
    """Between the largest or the sum of all batches and Poisson samples; one release in the clear costs 4.89."""
    one = release(Gaussian(1.0))
    bound = account(plan(Repeat(balls_and_bins(one, 1000), epochs)), delta=1e-6)
    assert low < bound.lower < bound.upper < high
    assert bound.method == allocation.METHOD
    assert (
        bound.lower <= account(plan(Repeat(Subsample(1 / 1000, one), 1000 * epochs)), delta=1e-6).upper <= bound.upper
    )


def test_other_releases_and_other_slots_beside() -> None:
    """Unequal slots, some records in none, a release beside: between what is left out and what is added."""
    small, large = release(Gaussian(2.0)), release(Gaussian(1.0))
    slots = Partition((0.001,) * 500 + (0.0005,) * 500, (small,) * 500 + (large,) * 500)
    beside = release(Gaussian(10.0))
    bound = account(plan(slots, beside), delta=1e-6)
    assert account(plan(beside), delta=1e-6).lower <= bound.lower
    assert bound.upper < account(plan(Subsample(0.75, large), beside), delta=1e-6).lower


def test_where_nothing_more_is_known() -> None:
    """A replaced record, few slots."""
    one = release(Gaussian(1.0), relation=REPLACE_ONE)
    assert allocation.METHOD not in account(plan(balls_and_bins(one, 100), relation=REPLACE_ONE), delta=1e-6).methods
    few = account(plan(balls_and_bins(release(Gaussian(1.0)), 4), relation=ADD_REMOVE), delta=1e-6)
    assert allocation.METHOD not in few.methods


@pytest.mark.parametrize("slots", [0, -1, 1.5, True])
def test_slots_are_whole(slots: object) -> None:
    with pytest.raises(InvalidParameter, match="slots"):
        balls_and_bins(release(Gaussian(1.0)), slots)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e14, 1e16, 1e17])
def test_slots_of_losses_below_the_rounding_of_1_have_both_ends(scale: float) -> None:
    """Two slots of half of the records each: from below half a slot's loss, from above a slot's ε = μ - 2δ."""
    slots = Partition((0.5, 0.5), (release(Laplace(scale)), release(Laplace(scale))))
    bound = account(plan(slots), delta=1e-20)
    assert 0.45 / scale < bound.lower <= bound.upper <= (1 / scale - 2e-20) * 1.01
