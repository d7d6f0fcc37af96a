"""What all releases of a reading cost together: by the accountant, or by budgets that records keep to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from refdp.accounting import account
from refdp.accounting.conversion import epsilons
from refdp.accounting.individual import FEW, tabulated
from refdp.data.records import Floats
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.events import Event, Plan, Relation, Release, Repeat, Sequential, Subsample, releases
from refdp.prove.planned import Key, keys
from refdp.prove.terms import Unmodelled
from refdp.prove.unknown import Unknown


def spending(plan: Plan, host: Unknown, delta: float, asked: Mapping[Key, bool]) -> float:
    """Epsilon at delta of all releases.

    Samples of discrete Gaussian noise cost what continuous noise does at whole orders. Where records pay from budgets,
    rounds cost what the budgets allow, and not what the rounds add up to. asked: whether records pay for every release
    of a kind.

    Errors: Unmodelled for what no account is written for.
    """
    sampled = any(isinstance(one, Subsample) for one in _parts(plan.event))
    discrete = any(isinstance(one.mechanism, DiscreteGaussian) for one in releases(plan.event))
    if not host.accounts and not (sampled and discrete):
        return account(plan, delta=delta, quick=discrete, both=delta > 0).epsilon
    if sampled and plan.relation is not Relation.ADD_REMOVE:
        raise Unmodelled("an account of samples under another relation than add-remove")
    rounds: Counter[tuple[float, float]] = Counter()
    rest: list[Release] = []
    for one in _parts(plan.event):
        if isinstance(one, Release) and isinstance(one.mechanism, Laplace | DiscreteLaplace):
            rest.append(one)
            continue
        rate, inner = (one.rate, one.event) if isinstance(one, Subsample) else (1.0, one)
        poisson = getattr(one, "method", "poisson") == "poisson"
        if not (poisson and isinstance(inner, Release) and isinstance(inner.mechanism, Gaussian | DiscreteGaussian)):
            raise Unmodelled("an account of samples of other noise")
        if inner.sensitivity.norm != "whitened":
            raise Unmodelled("an account of samples of noise of one deviation")
        rounds[rate, inner.sensitivity.bound] += 1
    if host.accounts:
        budgets = list(host.accounts.values())
        if not all(asked[key] for key in keys(plan.event) if not isinstance(key.mechanism, Laplace | DiscreteLaplace)):
            raise Unmodelled("an account of rounds that records pay for beside rounds that they do not")
        orders = budgets[0].orders
        if any(not np.array_equal(one.orders, orders) for one in budgets):
            raise Unmodelled("an account of budgets at different orders")
        rho = np.sum([one.spendable for one in budgets], axis=0)
    else:
        orders = FEW
        rho = _rounds(rounds, orders)
        best = orders[int(np.argmin(epsilons(orders, rho, delta)))]
        orders = np.unique(np.clip(np.round(np.arange(0.8, 1.2, 0.4 / 400) * best), 2, None))
        rho = _rounds(rounds, orders)
    pure = sum(one.mechanism.pure_cost(one.sensitivity) for one in rest)
    joint = rho + [sum(one.mechanism.renyi_cost(one.sensitivity, order) for one in rest) for order in orders]
    return float(min(pure + epsilons(orders, rho, delta).min(), epsilons(orders, joint, delta).min()))


def _rounds(rounds: Counter[tuple[float, float]], orders: Floats) -> Floats:
    costs = [[times * tabulated(int(order), rate, np.array([bound * bound / 2]))[0] for order in orders]
             for (rate, bound), times in rounds.items()]  # fmt: skip
    return np.asarray(np.sum(costs, axis=0))


def _parts(event: Event) -> Iterator[Event]:
    if isinstance(event, Repeat):
        for _ in range(event.count):
            yield from _parts(event.event)
    elif isinstance(event, Sequential):
        for one in event.events:
            yield from _parts(one)
    else:
        yield event
