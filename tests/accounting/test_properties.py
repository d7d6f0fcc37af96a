"""What must hold of every plan: monotone, blind to order, nesting and no-ops; and one clear error for bad input."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from account_plans import ADD_REMOVE, REPLACE_ONE, gaussian, laplace, plan, release, sampled_gaussian
from hypothesis import given, settings
from hypothesis import strategies as st

from refdp.accounting import account, pure_epsilon, renyi, renyi_epsilon
from refdp.errors import InvalidParameter, RelationMismatch
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Event, Parallel, Partition, Plan, Repeat, Sequential, Subsample

NOISE = st.floats(0.8, 30.0)
RELEASES = st.one_of(
    NOISE.map(lambda x: release(Laplace(x))),
    NOISE.map(lambda x: release(Gaussian(x))),
    NOISE.map(lambda x: release(Exponential(1 / x))),
    st.builds(lambda x, n: release(DiscreteLaplace(x, 1.0), float(n)), NOISE, st.integers(1, 3)),
)
EVENTS = st.recursive(
    RELEASES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda events: Sequential(tuple(events))),
        st.builds(Repeat, inner, st.integers(1, 20)),
        st.lists(inner, min_size=1, max_size=3).map(lambda events: Parallel(tuple(events))),
        st.builds(Subsample, st.floats(0.01, 1.0), inner),
    ),
    max_leaves=5,
)
DELTAS = st.floats(-12, -2).map(lambda x: 10.0**x)
MANY = settings(max_examples=60, deadline=None, derandomize=True)
FEW = settings(max_examples=12, deadline=None, derandomize=True)


def quick(event: Event, delta: float) -> float:
    return account(plan(event), delta=delta, quick=True).upper


@MANY
@given(EVENTS, EVENTS, DELTAS)
def test_order_does_not_matter(one: Event, two: Event, delta: float) -> None:
    assert quick(Sequential((one, two)), delta) == quick(Sequential((two, one)), delta)


@MANY
@given(EVENTS, DELTAS)
def test_no_ops_nesting_and_repetition_change_nothing(event: Event, delta: float) -> None:
    expected = quick(event, delta)
    nothing = release(Laplace(1.0), 0.0)
    padded = Sequential((event, nothing, Sequential(()), Repeat(event, 0), Subsample(0.0, event)))
    assert quick(padded, delta) == expected
    assert quick(Repeat(Sequential((event,)), 1), delta) == expected
    assert quick(Parallel((event,)), delta) == expected
    assert quick(Subsample(1.0, event), delta) == expected
    assert quick(Repeat(event, 3), delta) == quick(Sequential((event, Sequential((event, event)))), delta)


@MANY
@given(EVENTS, EVENTS, DELTAS)
def test_more_releases_never_cost_less(event: Event, more: Event, delta: float) -> None:
    """Up to the grid of Rényi orders, which is another where sampling is inside."""
    assert quick(event, delta) <= quick(Sequential((event, more)), delta) * (1 + 1e-6)
    assert quick(event, delta) <= quick(Parallel((event, more)), delta) * (1 + 1e-6)


@MANY
@given(EVENTS, st.floats(0.01, 0.99), st.floats(1.01, 3.0))
def test_sampling_never_costs_more_and_grows_with_the_rate(event: Event, rate: float, factor: float) -> None:
    sampled = pure_epsilon(plan(Subsample(rate, event)))
    assert sampled <= pure_epsilon(plan(event))
    larger = pure_epsilon(plan(Subsample(min(1.0, rate * factor), event)))
    assert sampled <= larger
    orders = np.array([1.5, 2.0, 6.0])
    low, high = (renyi(plan(Subsample(q, event)), orders) for q in (rate, min(1.0, rate * factor)))
    assert np.all(low <= high * (1 + 1e-9) + 1e-12)


@FEW
@given(NOISE, st.floats(1.001, 2.0), st.integers(1, 50), DELTAS)
def test_enclosures_are_monotone_in_noise_and_count(noise: float, factor: float, count: int, delta: float) -> None:
    """The cheaper plan's lower end never exceeds the dearer's upper end, and upper ends are ordered up to the grid."""
    base = account(laplace(noise, count), delta=delta)
    less_noise = account(laplace(noise / factor, count), delta=delta)
    more_times = account(laplace(noise, count + 1), delta=delta)
    assert base.lower <= less_noise.upper
    assert base.lower <= more_times.upper
    assert base.upper <= less_noise.upper + 1e-5
    assert base.upper <= more_times.upper + 1e-5


@FEW
@given(EVENTS, DELTAS)
def test_bounds_are_ordered_whatever_the_plan(event: Event, delta: float) -> None:
    bound = account(plan(event), delta=delta)
    assert 0 <= bound.lower <= bound.upper == bound.epsilon == min(bound.methods.values())
    if 0 < bound.upper < math.inf:
        assert account(plan(event), epsilon=bound.upper * (1 + 1e-9)).lower <= delta * (1 + 1e-6)


def test_relation_without_sampling_changes_nothing_for_sequences() -> None:
    one, two = (plan(release(Gaussian(2.0), relation=r), relation=r) for r in (ADD_REMOVE, REPLACE_ONE))
    assert account(one, delta=1e-6) == account(two, delta=1e-6)


def test_empty_plans_and_the_ends_of_delta() -> None:
    assert account(plan(), delta=1e-6).upper == 0
    assert account(plan(), epsilon=0.0).upper == 0
    assert account(gaussian(1.0), delta=0.0).upper == math.inf
    assert account(gaussian(1.0), delta=1.0).upper == 0
    assert account(laplace(1.0), delta=0.0).upper == 1.0
    assert account(laplace(1.0), epsilon=1.0).upper == 0.0
    assert account(laplace(1.0), epsilon=math.inf).upper == 0.0
    assert renyi_epsilon(gaussian(1.0), 0.0) == math.inf


@pytest.mark.parametrize(
    ("event", "error", "message"),
    [
        (Subsample(1.1, release(Gaussian(1.0))), InvalidParameter, "rate 1.1"),
        (Subsample(0.1, release(Gaussian(1.0)), "bootstrap"), InvalidParameter, "method 'bootstrap'"),  # type: ignore
        (Repeat(release(Gaussian(1.0)), -1), InvalidParameter, "count -1"),
        (Repeat(release(Gaussian(1.0)), 1.5), InvalidParameter, "count 1.5"),  # type: ignore[arg-type]
        (Partition((0.5,), (release(Gaussian(1.0)),) * 2), InvalidParameter, "1 weights and 2 events"),
        (Partition((0.7, 0.7), (release(Gaussian(1.0)),) * 2), InvalidParameter, "sum to"),
        (Partition((-0.1, 0.7), (release(Gaussian(1.0)),) * 2), InvalidParameter, "weight -0.1"),
        (release(Laplace(1.0), norm=2), InvalidParameter, "norm 2"),
        (release(Exponential(1.0), norm=1), InvalidParameter, "norm 1"),
        (release(Gaussian(1.0), norm="range"), InvalidParameter, "norm 'range'"),
    ],
)
def test_bad_plans_give_one_clear_error(event: Event, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        account(plan(event), delta=1e-6)


@pytest.mark.parametrize("make", [lambda: Laplace(-1.0), lambda: Gaussian(-1.0), lambda: DiscreteGaussian(-1.0, 1.0)])
def test_negative_noise_is_an_error(make) -> None:
    with pytest.raises(InvalidParameter):
        account(plan(release(make())), delta=1e-6)


def test_mixed_relations_are_an_error() -> None:
    with pytest.raises(RelationMismatch):
        Plan(ADD_REMOVE, release(Laplace(1.0), relation=REPLACE_ONE))
    with pytest.raises(RelationMismatch):
        Plan(ADD_REMOVE, Subsample(0.1, release(Laplace(1.0), relation=REPLACE_ONE)))


@pytest.mark.parametrize(
    "query", [{}, {"delta": 1e-6, "epsilon": 1.0}, {"delta": -1e-6}, {"delta": 1.1}, {"epsilon": math.nan}]
)
def test_bad_queries(query: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter):
        account(gaussian(1.0), **query)  # type: ignore[arg-type]


def test_bad_orders() -> None:
    for orders in (np.array([1.0]), np.array([[2.0]]), np.array([math.inf]), np.array([math.nan])):
        with pytest.raises(InvalidParameter, match="orders"):
            renyi(gaussian(1.0), orders)


def test_gaussian_with_delta_zero_cannot_be_calibrated() -> None:
    from refdp.accounting import gaussian as exact

    with pytest.raises(InvalidParameter, match=r"delta 0\.0"):
        exact.calibrate(1.0, 0.0)


def test_whitened_and_diagonal_gaussians() -> None:
    assert account(plan(release(Gaussian((1.0, 5.0)), 0.5, norm="whitened")), delta=1e-6).upper == pytest.approx(
        account(gaussian(2.0), delta=1e-6).upper
    )
    assert account(plan(release(Gaussian((2.0, 5.0)))), delta=1e-6).upper == account(gaussian(2.0), delta=1e-6).upper


def test_import_is_light() -> None:
    """No scipy, no matplotlib, no records until something is asked for."""
    modules = "('scipy.special', 'matplotlib', 'numpy')"
    code = f"import sys, refdp.accounting; print(any(m in sys.modules for m in {modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_sampled_gaussian_of_tiny_noise_is_still_accounted() -> None:
    assert math.isfinite(account(sampled_gaussian(0.01, 0.03, 2), delta=1e-6, quick=True).upper)
