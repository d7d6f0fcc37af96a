"""Filters and odometers against the best adversary, who chooses every cost after seeing the loss so far.

The releases are randomised response, the extremal mechanism of its pure ε. δ of the best adaptive sequence that a
filter lets through is a recursion over the loss so far and the costs spent; it is solved exactly, up to rounding.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from account_plans import REPLACE_ONE, gaussian, laplace, plan, release, sampled_gaussian
from scipy import stats

from refdp.accounting import account, budgets, curves, renyi
from refdp.accounting.filters import IndividualOdometer
from refdp.errors import InvalidParameter, RelationMismatch
from refdp.noise.mechanisms import Gaussian, Laplace

UNIT, SIZES = 0.1, (1, 3)
ORDERS = np.array([3.0, 8.0, 20.0])


def best(room: Callable[[tuple[int, ...]], bool], epsilon: float) -> float:
    """δ at ε of the best adaptive sequence of randomised responses of ε_i = size * UNIT; room: of counts of each."""

    @cache
    def worth(counts: tuple[int, ...], loss: int) -> float:
        found = max(0.0, -math.expm1(epsilon - loss * UNIT))
        for k, size in enumerate(SIZES):
            more = (*counts[:k], counts[k] + 1, *counts[k + 1 :])
            if room(more):
                p = 1 / (1 + math.exp(-size * UNIT))
                found = max(found, p * worth(more, loss + size) + (1 - p) * worth(more, loss - size))
        return found

    return worth((0,) * len(SIZES), 0)


def admits(make: Callable[[], object], cost: Callable[[float], object]) -> Callable[[tuple[int, ...]], bool]:
    """Whether a fresh filter lets all of these through: costs are sums, whatever their order."""

    @cache
    def room(counts: tuple[int, ...]) -> bool:
        one = make()
        sizes = [size for size, count in zip(SIZES, counts, strict=True) for _ in range(count)]
        return all(one.spend(cost(size * UNIT)) for size in sizes)  # type: ignore[attr-defined]

    return room


def response(epsilon: float) -> np.ndarray:
    return curves.randomised_response(epsilon, ORDERS)


def test_pure_filter() -> None:
    room = admits(lambda: budgets.PureFilter(1.0), float)
    assert best(room, 1.0) <= 1e-12
    assert best(room, 0.85) > 0.005
    assert budgets.PureFilter(0.3).spend(laplace(2.0)) is False
    one = budgets.PureFilter(0.3)
    assert [one.spend(0.1), one.spend(0.25), one.spend(laplace(10.0))] == [True, False, True]
    assert one.spent == pytest.approx(0.2)
    assert one.spend(gaussian(1.0)) is False


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.05), (1.0, 1e-2)])
def test_approximate_filter(epsilon: float, delta: float) -> None:
    def mutant() -> budgets.ApproximateFilter:
        one = budgets.ApproximateFilter(epsilon, delta)
        one.rho *= 3.0
        return one

    assert best(admits(lambda: budgets.ApproximateFilter(epsilon, delta), float), epsilon) <= delta
    assert best(admits(mutant, float), epsilon) > delta
    whitehouse = math.sqrt(2 * math.log(1 / delta) * 0.16) + 0.08
    rho = budgets.ApproximateFilter(whitehouse, delta).rho
    assert rho >= 0.08  # no tighter than the closed form of the theorem


def test_failures_of_approximate_releases_add_up() -> None:
    one = budgets.ApproximateFilter(1.0, 1e-5, failures=2e-6)
    assert one.spend(0.1, 1.5e-6)
    assert not one.spend(0.1, 1e-6)
    assert one.spend(0.1, 0.4e-6)
    assert one.guarantee() == (1.0, 1e-5)
    assert one.spent[1] == pytest.approx(1.9e-6)


def test_renyi_filter() -> None:
    limits = 0.06 * ORDERS
    for delta in (1e-2, 1e-4):
        epsilon = budgets.RenyiFilter(ORDERS, limits).guarantee(delta)
        room = admits(lambda: budgets.RenyiFilter(ORDERS, limits), response)
        assert best(room, epsilon) <= delta
        assert best(room, epsilon / 3) > delta
    one = budgets.RenyiFilter(ORDERS, limits)
    whole = sampled_gaussian(0.1, 2.0, 5)
    assert one.spend(whole)
    assert one.spent == pytest.approx(renyi(whole, ORDERS))


def test_gaussian_filter() -> None:
    """Randomised response of ε is μ-GDP with Φ(μ/2) = 1/(1 + e^-ε) (Dong, Roth, Su 2022, Proposition A.1)."""

    def cost(epsilon: float) -> float:
        return 2 * float(stats.norm.ppf(1 / (1 + math.exp(-epsilon)))) * (1 + 1e-12)

    room = admits(lambda: budgets.GaussianFilter(0.6), cost)
    for delta in (1e-1, 1e-2, 1e-4):
        epsilon = budgets.GaussianFilter(0.6).guarantee(delta)
        assert best(room, epsilon) <= delta
    doubled = admits(lambda: budgets.GaussianFilter(0.85), cost)  # the mutant that lets through twice the squares
    assert best(doubled, budgets.GaussianFilter(0.6).guarantee(1e-2)) > 1e-2
    one = budgets.GaussianFilter(1.0)
    assert [one.spend(gaussian(2.0, 2)), one.spend(gaussian(1.0)), one.spend(0.5)] == [True, False, True]
    assert one.spent == pytest.approx(math.sqrt(0.75))
    assert one.spend(laplace(100.0)) is False
    assert one.guarantee(1e-6) == account(gaussian(1.0), delta=1e-6).upper


def crossed(bounds: list[float], size: float) -> float:
    """The probability that a walk of randomised responses of ε = size is ever above its bound, exact."""
    p = 1 / (1 + math.exp(-size))
    law, out = {0: 1.0}, 0.0
    for bound in bounds:
        after: dict[int, float] = {}
        for at, mass in law.items():
            for step, share in ((1, p), (-1, 1 - p)):
                if (at + step) * size > bound:
                    out += mass * share
                else:
                    after[at + step] = after.get(at + step, 0.0) + mass * share
        law = after
    return out


@pytest.mark.parametrize("size", [0.1, 0.4])
def test_odometers_hold_at_all_times(size: float) -> None:
    delta, steps = 0.05, 400
    made = {
        "renyi": (budgets.RenyiOdometer(ORDERS, delta), response(size)),
        "gaussian": (budgets.GaussianOdometer(delta, tuned=1.0), size),
    }
    for name, (odometer, cost) in made.items():
        bounds = []
        for _ in range(steps):
            odometer.spend(cost)  # type: ignore[arg-type]
            bounds.append(odometer.epsilon)
        assert crossed(bounds, size) <= delta, name
        assert all(a <= b for a, b in itertools.pairwise(bounds))
    variance = [size * size * (t + 1) for t in range(steps)]
    fixed = [v / 2 + math.sqrt(2 * v * math.log(1 / delta)) * 0.6 for v in variance]  # the mutant: fixed times only
    assert crossed(fixed, size) > delta
    pure = budgets.PureOdometer()
    for _ in range(3):
        pure.spend(laplace(2.0))
    assert pure.epsilon == 1.5
    pure.spend(gaussian(1.0))
    assert pure.epsilon == math.inf


def test_odometers_of_plans() -> None:
    one = budgets.GaussianOdometer(1e-6, failures=1e-7)
    one.spend(plan(release(Gaussian(3.0))))
    one.spend(plan(release(Laplace(3.0))))
    two = budgets.GaussianOdometer(1e-6, failures=1e-7)
    two.spend(1 / 3)
    two.spend(1 / 3, 1e-7)
    assert one.epsilon == pytest.approx(two.epsilon)
    two.spend(0.0, 1e-9)
    assert two.epsilon == math.inf


@pytest.mark.parametrize(
    "make",
    [
        lambda: budgets.PureFilter(-1.0),
        lambda: budgets.PureFilter(math.inf),
        lambda: budgets.PureFilter(1.0).spend(-0.1),
        lambda: budgets.PureFilter(1.0).spend(math.nan),
        lambda: budgets.RenyiFilter(np.array([1.0]), np.array([1.0])),
        lambda: budgets.RenyiFilter(ORDERS, ORDERS[:2]),
        lambda: budgets.RenyiFilter(ORDERS, ORDERS).spend(np.array([0.1])),
        lambda: budgets.RenyiFilter(ORDERS, ORDERS).spend(-ORDERS),
        lambda: budgets.GaussianFilter("1"),  # type: ignore[arg-type]
        lambda: budgets.ApproximateFilter(1.0, 1e-6, failures=1e-6),
        lambda: budgets.ApproximateFilter(1.0, 0.0),
        lambda: budgets.ApproximateFilter(1.0, 1e-6).spend(0.1, -1e-9),
        lambda: budgets.GaussianOdometer(0.0),
        lambda: budgets.GaussianOdometer(1e-6, tuned=0.0),
        lambda: budgets.RenyiOdometer(ORDERS, 1.0),
    ],
)
def test_bad_input(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidParameter, match="allowed"):
        make()


def test_the_odometer_of_records_adds_what_confidence_costs_at_any_delta_between_0_and_1() -> None:
    """log(1/delta) / (order - 1), to each record's own sum; neither end is a chance that it can fail with."""
    one = IndividualOdometer(2, 3.0)
    one.charge(np.array([0.25, 0.5]))
    assert one.losses(math.exp(-2)) == pytest.approx([1.25, 1.5], rel=1e-12)
    assert one.losses(math.nextafter(1, 0)) == pytest.approx([0.25, 0.5], rel=1e-12)
    for delta in (0.0, 1.0, -0.5, 1.5, math.nan):
        with pytest.raises(InvalidParameter, match="delta"):
            one.losses(delta)


@pytest.mark.parametrize(
    "make",
    [
        lambda: budgets.PureFilter(9.0),
        lambda: budgets.RenyiFilter(ORDERS, 9 * ORDERS),
        lambda: budgets.GaussianFilter(9.0),
        lambda: budgets.ApproximateFilter(9.0, 1e-5),
        budgets.PureOdometer,
        lambda: budgets.RenyiOdometer(ORDERS, 1e-5),
        lambda: budgets.GaussianOdometer(1e-5),
    ],
)
def test_plans_about_other_neighbours_do_not_add_up(make: Callable[[], object]) -> None:
    one = make()
    noise = Gaussian(2.0) if isinstance(one, budgets.GaussianFilter | budgets.GaussianOdometer) else Laplace(2.0)
    added, replaced = plan(release(noise)), plan(release(noise, 1.0, REPLACE_ONE), relation=REPLACE_ONE)
    for _ in range(2):
        one.spend(added)  # type: ignore[attr-defined]
        with pytest.raises(RelationMismatch, match="replace-one"):
            one.spend(replaced)  # type: ignore[attr-defined]
