"""Mechanisms of somebody else: what they supply is accounted for without touching a file of refdp."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import dp_accounting as dp
import numpy as np
import pytest
from account_plans import ADD_REMOVE, REPLACE_ONE, gaussian, laplace, plan, release, sampled_gaussian

from refdp.accounting import account, pure_epsilon, renyi
from refdp.accounting.dp_events import from_dp_event
from refdp.accounting.pairs import DominatingPair, LaplacePair
from refdp.accounting.releases import LaplaceCost, cost
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.events import Plan, Release, Repeat, Sensitivity, Subsample

UNIT = Sensitivity(1.0, 1, "test/declared", ADD_REMOVE)


@dataclass(frozen=True)
class Wrapped:
    """A class that delegates everything to a mechanism of refdp."""

    inner: Laplace

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def dominated(self, sensitivity: Sensitivity) -> object:
        return cost(Release("wrapped", self.inner, sensitivity))


@dataclass(frozen=True)
class Own:
    """Laplace noise, told in its own words: the pair, the curve and the pure ε."""

    scale: float
    attained: bool = True
    known: bool = True

    def dominated(self, sensitivity: Sensitivity) -> Own:
        return self

    @property
    def pure(self) -> Fraction | None:
        return 1 / Fraction(self.scale)

    def curve(self, orders: np.ndarray) -> np.ndarray:
        from refdp.accounting import curves

        return curves.laplace(1 / self.scale, orders)

    def pair(self, direction: str) -> DominatingPair | None:
        return LaplacePair(1 / self.scale) if self.known else None


def test_a_delegating_class_costs_what_it_delegates_to() -> None:
    one = Release("wrapped", Wrapped(Laplace(20.0)), UNIT)  # type: ignore[arg-type]
    assert cost(one) == LaplaceCost(Fraction(1, 20))
    assert account(plan(Repeat(one, 50)), delta=1e-6) == account(laplace(20.0, 50), delta=1e-6)


@pytest.mark.parametrize("sampled", [False, True])
def test_a_supplied_pair_is_composed_like_any(sampled: bool) -> None:
    one = Release("own", Own(20.0), UNIT)  # type: ignore[arg-type]
    theirs = release(Laplace(20.0))
    mine, known = (
        account(plan(Repeat(Subsample(0.2, each) if sampled else each, 50), release(Gaussian(9.0))), delta=1e-6)
        for each in (one, theirs)
    )
    assert mine.upper == pytest.approx(known.upper, rel=1e-5)
    assert mine.lower == pytest.approx(known.lower, rel=1e-5)
    assert pure_epsilon(plan(one)) == 1 / 20


def test_without_a_pair_the_curve_remains_and_without_attaining_no_lower_end() -> None:
    curve_only = Release("own", Own(20.0, known=False), UNIT)  # type: ignore[arg-type]
    bound = account(plan(Repeat(curve_only, 50)), delta=1e-6)
    assert bound.lower == 0
    assert "pld" not in bound.methods
    assert bound.methods["renyi"] == account(laplace(20.0, 50), delta=1e-6).methods["renyi"]
    modest = account(plan(Repeat(Release("own", Own(20.0, attained=False), UNIT), 50)), delta=1e-6)  # type: ignore
    assert modest.lower == 0
    assert modest.method == "pld"


def test_a_class_that_supplies_nothing_is_one_clear_error() -> None:
    with pytest.raises(InvalidParameter, match="mechanism str of 'x': allowed are"):
        account(plan(Release("x", "laplace", UNIT)), delta=1e-6)  # type: ignore[arg-type]


@pytest.mark.parametrize(("noise", "buckets"), [(0.5, 2), (0.3, 4), (0.9, 100)])
def test_randomised_response_of_dp_accounting(noise: float, buckets: int) -> None:
    """Against the hockey-stick divergence of its three outcomes."""
    other = noise / buckets
    p, q = np.array([1 - noise + other, other, (buckets - 2) * other]), None
    q = p[[1, 0, 2]]
    whole = from_dp_event(dp.dp_event.RandomizedResponseDpEvent(noise, buckets), REPLACE_ONE)
    assert pure_epsilon(whole) == pytest.approx(math.log(p[0] / p[1]), rel=1e-12)
    for epsilon in (0.0, 0.3):
        truth = float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
        bound = account(whole, epsilon=epsilon)
        assert bound.lower <= truth * (1 + 1e-12)
        assert truth <= bound.upper <= truth * (1 + 1e-6) + 1e-9
    many = account(Plan(REPLACE_ONE, Repeat(whole.event, 30)), delta=1e-6)
    assert many.upper <= many.lower * (1 + 1e-4)
    orders = np.array([1.5, 2.0, 8.0])
    exact = [math.log(np.sum(p[p > 0] ** a * q[p > 0] ** (1 - a))) / (a - 1) for a in orders]
    assert np.all(renyi(whole, orders) >= exact)
    assert renyi(whole, orders) == pytest.approx(exact, rel=1e-10)


def test_other_events_of_dp_accounting() -> None:
    events = dp.dp_event
    zcdp = from_dp_event(events.ZCDpEvent(0.5), ADD_REMOVE)
    assert account(zcdp, delta=1e-6).upper == pytest.approx(account(gaussian(1.0), delta=1e-6).methods["renyi"])
    for nothing in (
        events.NonPrivateDpEvent(),
        events.GaussianDpEvent(0.0),
        events.LaplaceDpEvent(0.0),
        events.RandomizedResponseDpEvent(0.0, 3),
    ):
        whole = from_dp_event(nothing, ADD_REMOVE)
        assert account(whole, delta=1e-6).upper == math.inf
        assert account(whole, epsilon=5.0).upper == 1
        composed = from_dp_event(events.ComposedDpEvent([nothing, events.GaussianDpEvent(1.0)]), ADD_REMOVE)
        assert account(composed, delta=1e-6).upper == math.inf
    free = from_dp_event(events.RandomizedResponseDpEvent(1.0, 3), REPLACE_ONE)
    assert pure_epsilon(free) == 0
    mixture = from_dp_event(events.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.9, 0.1]), ADD_REMOVE)
    bound = account(mixture, delta=1e-6)
    assert (
        account(sampled_gaussian(0.1, 1.0), delta=1e-6).lower
        <= bound.upper
        <= account(gaussian(1.0), delta=1e-6).methods["renyi"]
    )
    with pytest.raises(InvalidParameter, match="randomised response of noise 2"):
        from_dp_event(events.RandomizedResponseDpEvent(2.0, 3), ADD_REMOVE)
    assert (
        account(
            from_dp_event(events.MixtureOfGaussiansDpEvent(0.0, [0.0, 1.0], [0.9, 0.1]), ADD_REMOVE), delta=0.5
        ).upper
        == math.inf
    )


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("ZCDpEvent", (-1.0,), "rho and xi"),
        ("ZCDpEvent", (0.5, -0.1), "rho and xi"),
        ("ZCDpEvent", (math.nan,), "rho and xi"),
        ("MixtureOfGaussiansDpEvent", (1.0, [0.0, 1.0], [0.5, 0.2]), "sampling_probs"),
        ("MixtureOfGaussiansDpEvent", (1.0, [0.0, 1.0], [1.5, -0.5]), "sampling_probs"),
        ("MixtureOfGaussiansDpEvent", (-1.0, [0.0, 1.0], [0.5, 0.5]), "standard deviation"),
        ("DiscreteLaplaceDpEvent", (0.0, 1), "noise parameter"),
        ("SampledWithoutReplacementDpEvent", (0, 0, dp.GaussianDpEvent(1.0)), "sample and source size"),
        ("SampledWithoutReplacementDpEvent", (2, 3, dp.GaussianDpEvent(1.0)), "sample and source size"),
    ],
)
def test_events_out_of_their_domains_are_refused(name: str, given: tuple[object, ...], message: str) -> None:
    """Probabilities that sum to less than 1 had an epsilon that was too small."""
    with pytest.raises(InvalidParameter, match=message):
        from_dp_event(getattr(dp.dp_event, name)(*given), REPLACE_ONE)


@pytest.mark.parametrize("parameter", [0.1, 0.25, 0.7, 3.0, 1e-9])
def test_discrete_laplace_events_lose_no_last_place(parameter: float) -> None:
    found = pure_epsilon(from_dp_event(dp.dp_event.DiscreteLaplaceDpEvent(parameter, 1), ADD_REMOVE))
    assert parameter <= found <= parameter * (1 + 2.0**-50)
    with pytest.raises(InvalidParameter, match="scale of the discrete Laplace"):
        from_dp_event(dp.dp_event.DiscreteLaplaceDpEvent(1e-310, 1), ADD_REMOVE)
