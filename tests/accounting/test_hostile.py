"""Plans that nobody would choose: each has a sound answer or one clear error."""

from __future__ import annotations

import functools
import math
import warnings
from dataclasses import replace

import pytest
from account_plans import gaussian, laplace, plan, release, sampled_gaussian

from refdp.accounting import account
from refdp.accounting.normal import MOST_TIMES, Mixture, normalise
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.events import Event, Parallel, Partition, Plan, Repeat, Sequential, Subsample, balls_and_bins


@pytest.mark.parametrize("count", [10**30, 10**400, 10**5000, math.inf, math.nan, -1, 2.5], ids=range(7))
def test_counts_that_are_none(count: float) -> None:
    with pytest.raises(InvalidParameter, match="allowed are whole numbers from 0 to"):
        account(plan(Repeat(release(Laplace(1e16)), count)), delta=1e-6)  # type: ignore[arg-type]


def test_counts_multiply_up_to_a_limit() -> None:
    def nested(times: int) -> Plan:
        return plan(Repeat(Repeat(release(Laplace(1e30)), 2**40), times))

    with pytest.raises(InvalidParameter, match=r"made 1\.8e\+16 times"):
        account(nested(2**14), delta=1e-6)
    assert account(nested(2**13), delta=1e-6).upper <= MOST_TIMES * 1e-30 * (1 + 1e-9)


def test_events_that_can_be_gone_through_once_are_refused() -> None:
    """The plan's own check has gone through them: nothing was left to account for, and epsilon was 0."""
    two = (release(Laplace(1.0)), release(Laplace(1.0)))
    events: list[Event] = [
        Sequential(iter(two)),  # type: ignore[arg-type]
        Parallel(one for one in two),  # type: ignore[arg-type]
        Parallel((Parallel(iter(two)),)),  # type: ignore[arg-type]
        Partition((0.5, 0.5), iter(two)),  # type: ignore[arg-type]
        Partition(iter((0.5, 0.5)), two),  # type: ignore[arg-type]
        Repeat(Sequential(map(replace, two)), 3),  # type: ignore[arg-type]
    ]
    for event in events:
        with pytest.raises(InvalidParameter, match="allowed is a tuple"):
            account(plan(event), delta=0.0)
    assert account(plan(Sequential(list(two))), delta=0.0).epsilon == 2.0  # type: ignore[arg-type]


def test_nesting_that_no_interpreter_follows() -> None:
    deep = functools.reduce(lambda event, _: Repeat(event, 1), range(10**4), release(Gaussian(1.0)))
    whole = plan()
    object.__setattr__(whole, "event", deep)
    with pytest.raises(InvalidParameter, match="nested too deeply"):
        account(whole, delta=1e-6)
    with pytest.raises(InvalidParameter, match="nested too deeply"):
        plan(deep)


@pytest.mark.parametrize(
    ("hostile", "below", "above"),
    [
        (plan(release(Laplace(1e-3)), Repeat(release(Laplace(1e9)), 1000), release(Gaussian(1e-2))), 5800.0, 7000.0),
        (sampled_gaussian(1e-12, 1.0, 10**6), 0.0, 0.1),
        (plan(Repeat(release(Laplace(1.0), bound=1e-320), 10)), 0.0, 1e-318),
    ],
    ids=["grids that do not fit", "windows that do not fit", "steps that underflow"],
)
def test_grids_that_cannot_be_built(hostile: Plan, below: float, above: float) -> None:
    """Loss distributions are silent there, and what remains bounds ε from above; below: δ of one part alone."""
    bound = account(hostile, delta=1e-9)
    assert 0 <= bound.lower <= bound.upper
    assert below <= bound.upper <= above


def test_a_huge_epsilon_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert account(sampled_gaussian(0.5, 1.0, 10), epsilon=1e308).upper <= 1e-300


def test_equal_slots_are_normalised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An epoch of a hundred thousand batches: one event, whose cost is asked for once."""
    from refdp.accounting import normal

    asked = []

    def counted(one: Event) -> object:
        asked.append(one)
        return cost(one)

    cost = normal.cost
    monkeypatch.setattr(normal, "cost", counted)
    node = normalise(plan(balls_and_bins(release(Laplace(1.0)), 10**5)))
    assert isinstance(node, Mixture)
    assert node.apart[0][2] == 10**5
    assert len(asked) == 1


@pytest.mark.parametrize("delta", [1 - 2**-53, 1, 1e-6])
def test_the_ends_of_delta(delta: float) -> None:
    whole = plan(release(Gaussian(0.1)), release(Laplace(0.1)))
    bound = account(whole, delta=delta)
    assert 0 <= bound.lower <= bound.upper
    assert bound.upper == 0 or delta < 1 - 2**-60


def test_negative_epsilon_beyond_all_losses() -> None:
    found = [account(laplace(1.0), epsilon=epsilon) for epsilon in (-1e300, -math.inf)]
    assert all((one.lower, one.upper) == pytest.approx((1.0, 1.0), rel=1e-12) for one in found)


def test_nothing_is_released() -> None:
    for event in (Sequential(()), Repeat(release(Gaussian(1.0)), 0), Subsample(0.0, release(Gaussian(1.0)))):
        assert account(plan(event), delta=1e-6).upper == 0
        assert account(plan(event), epsilon=0.5).upper == 0


def test_rates_next_to_zero_and_one() -> None:
    rare, sure = (sampled_gaussian(rate, 10.0, 100) for rate in (1e-12, 1 - 1e-12))
    bound = account(sure, delta=1e-6)
    assert bound.lower <= account(gaussian(10.0, 100), delta=1e-6).upper * (1 + 1e-12)
    assert bound.upper <= account(gaussian(10.0, 100), delta=1e-6).upper * (1 + 1e-12)
    assert account(rare, delta=1e-6).upper < 1e-3
