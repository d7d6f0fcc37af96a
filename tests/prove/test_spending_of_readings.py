"""What a reading's releases cost together, against Rényi costs summed here at every whole order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.accounting.conversion import epsilons
from refdp.accounting.individual import FEW
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.events import Plan, Relation, Release, Repeat, Sensitivity, Sequential, Subsample
from refdp.prove import spending as module
from refdp.prove.planned import keys
from refdp.prove.spending import spending
from refdp.prove.terms import Unmodelled

ADD = Relation.ADD_REMOVE
NOBODY: Any = SimpleNamespace(accounts={})


def release(mechanism: Any, bound: float = 1.0, norm: Any = "whitened", name: str = "r") -> Release:
    return Release(name, mechanism, Sensitivity(bound, norm, "a/claim", ADD))


def asked(plan: Plan, paid: bool = True) -> dict[Any, bool]:
    return dict.fromkeys(keys(plan.event), paid)


def test_what_needs_no_samples_is_accounted(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []

    def account(plan: Plan, **options: Any) -> Any:
        told.append((plan, options))
        return SimpleNamespace(epsilon=0.5)

    monkeypatch.setattr(module, "account", account)
    for event, delta, quick, both in (
        (release(Gaussian(2.0), norm=2), 1e-5, False, True), (release(Laplace(2.0), norm=1), 0.0, False, False),
        (release(DiscreteGaussian(2.0, 0.5), norm=2), 1e-5, True, True),
        (Subsample(0.5, release(Gaussian(2.0))), 1e-5, False, True),
    ):  # fmt: skip
        plan = Plan(ADD, event)
        assert spending(plan, NOBODY, delta, {}) == 0.5
        assert told.pop() == (plan, {"delta": delta, "quick": quick, "both": both})


def sampled(order: int, rate: float, t: Any) -> Any:
    """In place of the sampled cost, which takes seconds at large orders: anything that grows with all three."""
    return order * rate * rate * t * (1 + 0.01 * order * t)


@pytest.mark.parametrize("pure", [False, True])
def test_samples_of_discrete_noise_cost_what_continuous_noise_does(pure: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least over all whole orders, although only some are tried at first."""
    monkeypatch.setattr(module, "tabulated", sampled)
    one = Subsample(0.25, release(DiscreteGaussian((2.0,), 0.25), 0.5))
    other = Subsample(0.5, release(DiscreteGaussian((2.0,), 0.25), 0.25))
    rest = [release(DiscreteLaplace(20.0, 0.5), 1.0, 1), release(Laplace(10.0), 2.0, 1)] if pure else []
    plan = Plan(ADD, Sequential((Repeat(Sequential((one, other)), 3), one, *rest)))
    orders = np.arange(2.0, 400.0)
    kinds = (4, 0.25, 0.125), (3, 0.5, 0.03125)
    rho = np.sum([[times * sampled(int(k), rate, cost) for k in orders] for times, rate, cost in kinds], axis=0)
    costs = sum(one.mechanism.pure_cost(one.sensitivity) for one in rest)
    joint = rho + [sum(one.mechanism.renyi_cost(one.sensitivity, k) for one in rest) for k in orders]
    better = 0
    for delta in (1e-3, 1e-5, 1e-6, 1e-7, 1e-9, 1e-12):
        least = min(costs + epsilons(orders, rho, delta).min(), epsilons(orders, joint, delta).min())
        found = spending(plan, NOBODY, delta, {})
        assert found == pytest.approx(least, rel=1e-12 if not pure else 1e-3)
        few = np.sum([[times * sampled(int(k), rate, cost) for k in FEW] for times, rate, cost in kinds], axis=0)
        better += least < epsilons(FEW, few, delta).min() * (1 - 1e-9)
    assert better or pure


def test_rounds_that_records_pay_for_cost_what_the_budgets_allow() -> None:
    orders = np.array([2.0, 8.0, 32.0])
    budgets = [SimpleNamespace(orders=orders, spendable=np.array(own)) for own in ((0.1, 0.3, 1.5), (0.2, 0.4, 1.0))]
    host: Any = SimpleNamespace(accounts=dict(enumerate(budgets)))
    rho = np.array([0.1 + 0.2, 0.3 + 0.4, 1.5 + 1.0])
    rounds = Repeat(Subsample(0.5, release(Gaussian((2.0,)), 9.0)), 50)
    plan = Plan(ADD, rounds)
    assert spending(plan, host, 1e-5, asked(plan)) == pytest.approx(epsilons(orders, rho, 1e-5).min())
    unsampled = Plan(ADD, release(DiscreteGaussian((2.0,), 0.5), 9.0))
    assert spending(unsampled, host, 1e-5, asked(unsampled)) == pytest.approx(epsilons(orders, rho, 1e-5).min())
    noise = release(Laplace(3.0), 1.0, 1)
    both = Plan(ADD, Sequential((noise, rounds, noise)))
    joint = rho + [2 * noise.mechanism.renyi_cost(noise.sensitivity, order) for order in orders]
    expected = min(2 / 3 + epsilons(orders, rho, 1e-5).min(), epsilons(orders, joint, 1e-5).min())
    mixed = {key: not isinstance(key.mechanism, Laplace) for key in keys(both.event)}
    assert spending(both, host, 1e-5, mixed) == pytest.approx(expected)
    with pytest.raises(Unmodelled, match="beside rounds"):
        spending(plan, host, 1e-5, asked(plan, False))
    several = Plan(ADD, Sequential((rounds, Subsample(0.5, release(Gaussian((3.0,)), 9.0, name="s")))))
    some = {key: key.name == "r" for key in keys(several.event)}
    with pytest.raises(Unmodelled, match="beside rounds"):
        spending(several, host, 1e-5, some)
    budgets[1].orders = orders + 1
    with pytest.raises(Unmodelled, match="different orders"):
        spending(plan, host, 1e-5, asked(plan))


def test_other_samples_are_refused() -> None:
    gaussian = release(DiscreteGaussian((2.0,), 0.5))
    for event, says in (
        (Subsample(0.5, gaussian, "without-replacement"), "other noise"),
        (Sequential((Subsample(0.5, gaussian), Subsample(0.5, release(Laplace(1.0), norm=1)))), "other noise"),
        (Sequential((Subsample(0.5, gaussian), Subsample(0.5, Repeat(gaussian, 2)))), "other noise"),
        (Subsample(0.5, release(DiscreteGaussian(2.0, 0.5), norm=2)), "one deviation"),
    ):  # fmt: skip
        with pytest.raises(Unmodelled, match=says):
            spending(Plan(ADD, event), NOBODY, 1e-5, {})


def test_parts_of_an_event_in_order() -> None:
    first, second = release(Laplace(1.0), norm=1, name="a"), Subsample(0.5, release(Gaussian(1.0), name="b"))
    event = Sequential((first, Repeat(Sequential((second, first)), 2), Repeat(first, 0), second))
    assert list(module._parts(event)) == [first, second, first, second, first, second]
