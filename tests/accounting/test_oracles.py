"""Random plans against autodp and Google's dp_accounting."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from account_plans import ADD_REMOVE, REPLACE_ONE, random_plan, release

from refdp.accounting import account, pure_epsilon, renyi
from refdp.accounting.dp_events import from_dp_event, to_dp_event
from refdp.accounting.enclosure import enclose_epsilon
from refdp.accounting.normal import normalise
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import Exponential, Gaussian, Laplace
from refdp.privacy.events import Event, Parallel, Plan, Release, Repeat, Sequential, Subsample

ORDERS = np.arange(2.0, 33.0)
GRID = 2e-3
SEED = 4


@pytest.fixture(scope="module")
def autodp() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from autodp import mechanism_zoo, transformer_zoo
    return mechanism_zoo, transformer_zoo


def autodp_of(plan: Plan, zoo: Any) -> Any:
    """The calls of autodp that are sound: Gaussian, Laplace, Poisson sampling with the improved bound, composition."""
    mechanisms, transformers = zoo
    assert isinstance(plan.event, Sequential)
    parts, counts = [], []
    for index, event in enumerate(plan.event.events):
        assert isinstance(event, Repeat)
        part = autodp_part(event.event, mechanisms, transformers)
        part.name = f"part {index}"
        parts.append(part)
        counts.append(event.count)
    return transformers.Composition()(parts, counts)


def autodp_part(event: Event, mechanisms: Any, transformers: Any) -> Any:
    if isinstance(event, Subsample):
        inner = autodp_part(event.event, mechanisms, transformers)
        return transformers.AmplificationBySampling(PoissonSampling=True)(inner, event.rate, improved_bound_flag=True)
    assert isinstance(event, Release)
    if isinstance(event.mechanism, Gaussian):
        return mechanisms.GaussianMechanism(event.mechanism.sd, approxDP_off=True)
    return mechanisms.LaplaceMechanism(event.mechanism.scale)


def google(plan: Plan, delta: float) -> float:
    """Google's pessimistic ε."""
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=GRID)
    accountant.compose(to_dp_event(plan))
    return float(accountant.get_epsilon(delta))


def google_optimistic(plan: Plan, delta: float) -> float:
    """Google's optimistic ε, part by part."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    options = {"value_discretization_interval": GRID, "pessimistic_estimate": False}
    total = pld.identity(**options)
    assert isinstance(plan.event, Sequential)
    for event in plan.event.events:
        assert isinstance(event, Repeat)
        inner, rate = (
            (event.event.event, event.event.rate) if isinstance(event.event, Subsample) else (event.event, 1.0)
        )
        assert isinstance(inner, Release)
        noise, make = (
            (inner.mechanism.sd, pld.from_gaussian_mechanism)
            if isinstance(inner.mechanism, Gaussian)
            else (inner.mechanism.scale, pld.from_laplace_mechanism)
        )
        total = total.compose(
            make(noise, sampling_prob=rate, use_connect_dots=False, **options).self_compose(event.count)
        )
    return float(total.get_epsilon_for_delta(delta))


def check(plan: Plan, delta: float, zoo: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = autodp_of(plan, zoo)
        curve = np.array([other.get_RDP(int(order)) for order in ORDERS])
        their_epsilon = float(other.get_approxDP(delta))
        above, below = google(plan, delta), google_optimistic(plan, delta)
    mine = renyi(plan, ORDERS)
    assert np.all(mine <= curve * (1 + 1e-9) + 1e-9)
    assert np.all(mine >= curve * (1 - 1e-9) - 1e-9)
    bound = account(plan, delta=delta)
    assert bound.lower <= bound.upper <= their_epsilon + 1e-9
    # Two enclosures of the same truth overlap. Google's lower end is without rounding terms, hence the 1e-6.
    assert bound.lower <= above + 1e-9
    assert bound.upper >= below - 1e-6


def plans(count: int) -> list[tuple[Plan, float]]:
    generator = np.random.default_rng(SEED)
    return [(random_plan(generator), float(10 ** generator.uniform(-9, -2))) for _ in range(count)]


@pytest.mark.parametrize("index", range(60))
def test_random_plans(index: int, autodp: Any) -> None:
    plan, delta = plans(60)[index]
    check(plan, delta, autodp)


@pytest.mark.statistics
def test_five_hundred_random_plans(autodp: Any) -> None:
    for plan, delta in plans(500):
        check(plan, delta, autodp)


def test_a_mutant_plan_without_its_last_release_does_not_overlap(autodp: Any) -> None:
    """What the comparison can tell apart: one release of two hundred."""
    rejected = 0
    for plan, delta in plans(12):
        assert isinstance(plan.event, Sequential)
        last = plan.event.events[-1]
        assert isinstance(last, Repeat)
        shorter = Plan(plan.relation, Sequential((*plan.event.events[:-1], Repeat(last.event, last.count - 1))))
        found = enclose_epsilon(normalise(shorter), plan.relation, delta)
        rejected += found.upper < account(plan, delta=delta).lower
    assert rejected >= 6


def test_events_of_dp_accounting_there_and_back() -> None:
    for plan, delta in plans(10):
        again = from_dp_event(to_dp_event(plan), ADD_REMOVE)
        assert account(again, delta=delta, quick=True).upper == pytest.approx(
            account(plan, delta=delta, quick=True).upper, rel=1e-12
        )


def test_fixed_size_batches_there_and_back() -> None:
    one = Subsample(0.125, release(Laplace(2.0), relation=REPLACE_ONE), "without-replacement")
    again = from_dp_event(to_dp_event(Plan(REPLACE_ONE, one)), REPLACE_ONE)
    assert pure_epsilon(again) == pytest.approx(pure_epsilon(Plan(REPLACE_ONE, one)), rel=1e-12)
    for event in (release(Exponential(1.0), relation=REPLACE_ONE), Parallel((one,))):
        with pytest.raises(InvalidParameter, match="no such event"):
            to_dp_event(Plan(REPLACE_ONE, event))
    with pytest.raises(InvalidParameter, match="rate"):
        to_dp_event(Plan(REPLACE_ONE, Subsample(0.1 + 1e-11, one.event, "without-replacement")))


def test_known_bad_calls_of_autodp(autodp: Any) -> None:
    """If autodp repairs one of these, the warning against it in the documentation is out of date."""
    from autodp.calibrator_zoo import ana_gaussian_calibrator

    from refdp.accounting import gaussian as exact

    mechanisms, _ = autodp
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert mechanisms.LaplaceMechanism(1.0).get_pureDP() == math.inf
        sd = ana_gaussian_calibrator()(mechanisms.ExactGaussianMechanism, 1.0, 1e-14).params["sigma"]
        assert mechanisms.PureDP_Mechanism(1e-7).get_RDP(2) < 0
    assert exact.delta(1 / sd, 1.0) > 2e-14
    assert exact.delta(1 / exact.calibrate(1.0, 1e-14), 1.0) <= 1e-14
