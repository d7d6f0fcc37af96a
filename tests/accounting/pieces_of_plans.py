"""Plans: their normal forms, the costs of their releases, whole answers, budgets and selections."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import account_plans as plans
import numpy as np
from account_plans import ADD_REMOVE, REPLACE_ONE, gaussian, laplace, plan, release, sampled_gaussian
from pieces_of_pairs import NODES
from pieces_of_steps import refused
from recorded import Cases

from refdp.accounting import budgets, dp_events, extremes, group, normal, precise, releases, selection
from refdp.accounting.accountant import account
from refdp.accounting.filters import IndividualFilter, IndividualOdometer
from refdp.accounting.selection import Repetitions
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Event, Parallel, Partition, Relation, Repeat, Sequential, Subsample, balls_and_bins


def noise(relation: Relation) -> dict[str, Event]:
    """One release each."""
    release = partial(plans.release, relation=relation)
    return {
        "Laplace": release(Laplace(2.0)),
        "Gaussian": release(Gaussian(3.0), 1.5),
        "Gaussians": release(Gaussian((2.0, 5.0)), 0.7, norm="whitened"),
        "Gaussian of another norm": release(Gaussian((2.0, 5.0)), 0.7, norm=1),
        "free": release(Laplace(2.0), 0.0),
        "discrete Laplace": release(DiscreteLaplace(2.0, 0.25), 1.1),
        "discrete Gaussian": release(DiscreteGaussian(4.0, 0.5), 1.3),
        "discrete Gaussian of norm 1": release(DiscreteGaussian(4.0, 0.5), 1.3, norm=1),
        "discrete Gaussian of nothing": release(DiscreteGaussian(4.0, 0.5), 0.0),
        "discrete Gaussians": release(DiscreteGaussian((600.0, 900.0), 0.5), 0.01, norm="whitened"),
        "discrete Gaussians of nothing": release(DiscreteGaussian((600.0, 900.0), 0.5), 0.0, norm="whitened"),
        "too coarse": release(DiscreteGaussian((511.0, 900.0), 0.5), 0.01, norm="whitened"),
        "choice": release(Exponential(0.75), 2.0),
    }


def events(relation: Relation) -> dict[str, Event]:
    """Events of every kind."""
    single = noise(relation)
    one, two, three = single["Laplace"], single["Gaussian"], single["choice"]
    return {
        **single,
        "in sequence": Sequential((one, two, one, Repeat(three, 3))),
        "in parallel": Parallel((one, two, one)),
        "in parallel, nested": Parallel((Sequential((one, one)), Parallel((one, three)), Repeat(two, 2))),
        "none": Sequential(()),
        "no times": Repeat(one, 0),
        "sampled": Subsample(0.25, one),
        "sampled, all": Subsample(1.0, two),
        "sampled, none": Subsample(0.0, two),
        "without replacement": Subsample(0.25, Sequential((one, two)), "without-replacement"),
        "sampled twice": Subsample(0.5, Subsample(0.25, Parallel((one, two)))),
        "partition": Partition((0.25, 0.5, 0.25), (one, two, one)),
        "partition, not whole": Partition((0.25, 0.5), (one, Sequential(()))),
        "partition, sizes fixed": Partition((0.25, 0.5), (one, three), False),
        "bins": balls_and_bins(two, 8),
        "bins of choices": Repeat(balls_and_bins(Sequential((one, one)), 4), 2),
    }


EVENTS = {relation: events(relation) for relation in (ADD_REMOVE, REPLACE_ONE)}
NOISE = noise(ADD_REMOVE)
ONE = NOISE["Laplace"]
QUICK = (
    "Laplace",
    "Gaussian",
    "choice",
    "discrete Laplace",
    "discrete Gaussian",
    "in sequence",
    "in parallel",
    "sampled",
    "sampled, all",
    "without replacement",
    "partition",
    "bins",
    "none",
)
WHOLE = {
    "many Laplace": laplace(3.0, 12),
    "sampled Gaussians": sampled_gaussian(0.05, 2.0, 20),
    "choices": plan(Repeat(release(Exponential(0.25)), 2), ONE),
    "Gaussians": gaussian(2.0, 3),
    "unlike": plan(ONE, Repeat(release(Laplace(5.0)), 3)),
}


def forms(name: str) -> list[Any]:
    """The normal form under both relations, and from both sides."""
    found: list[Any] = []
    for relation, known in EVENTS.items():
        node = refused(lambda known=known, relation=relation: normal.normalise(plan(known[name], relation=relation)))
        found.append(node)
        if not isinstance(node, str):
            found += [*(normal.one_sided(node, up) for up in (True, False)), normal.has_slots(node, relation)]
    return found


def spent(filter: Any, *costs: Any) -> list[Any]:
    """What fits, and what is spent after."""
    found = [
        refused(lambda cost=cost: filter.spend(*cost) if isinstance(cost, tuple) else filter.spend(cost))
        for cost in costs
    ]
    return [
        *found,
        getattr(filter, "spent", None),
        getattr(filter, "epsilon", None) if not hasattr(filter, "orders") else None,
    ]


ORDERS = np.array([1.5, 3.0, 10.0])


def individual(rule: Any) -> list[Any]:
    one = IndividualFilter(3, ORDERS, np.array([0.3, 0.6, 2.0]), rule)
    table = np.array([[0.1, 0.5, 1.0], [0.3, 0.3, 0.3], [-1.0, 9.0, 2.0]])
    return [
        one.charge(np.array([0.1, 0.2, 0.21])),
        one.spent,
        one.charge(table),
        one.room(table),
        one.spent,
        one.guarantee(1e-6),
    ]


def odometer() -> Any:
    one = IndividualOdometer(2, 5.0)
    one.charge(np.array([0.25, -1.0]))
    one.charge(np.array([0.5, 0.5]))
    return one.losses(1e-3)


def gaussian_odometer() -> list[float]:
    one, found = budgets.GaussianOdometer(1e-6, 2.0, 0.01), []
    for cost in ((0.5,), (1.0, 0.01), (gaussian(2.0, 2),), (laplace(4.0),), (0.1, 0.001)):
        one.spend(*cost)
        found.append(one.epsilon)
    return found


def renyi_odometer() -> list[float]:
    one, found = budgets.RenyiOdometer(ORDERS, 1e-4), []
    for cost in (np.array([0.1, 0.2, 0.9]), laplace(4.0)):
        one.spend(cost)
        found.append(one.epsilon)
    return found


def pure_odometer() -> list[float]:
    one, found = budgets.PureOdometer(), []
    for cost in (0.25, laplace(4.0), math.inf, 1.0):
        one.spend(cost)
        found.append(one.epsilon)
    return found


CASES: Cases = {
    **{f"costs of {name}": lambda event=event: refused(lambda: releases.cost(event)) for name, event in NOISE.items()},
    **{f"forms of {name}": lambda name=name: forms(name) for name in EVENTS[ADD_REMOVE]},
    "wrong norms": lambda: [
        refused(lambda m=m, n=n: releases.cost(release(m, norm=n)))
        for m, n in ((Laplace(1.0), 2), (Gaussian(1.0), "range"), (DiscreteLaplace(1.0, 0.5), 2), (Exponential(1.0), 1))
    ],
    "whole steps": lambda: [releases._steps(bound, 0.1) for bound in (0.0, 0.05, 0.1, 0.3, 0.30000000001, 0.35, 1.0)],
    "shares": lambda: (
        [normal._floor(x) for x in ()]
        + [refused(lambda x=x: normal._rate(x, "poisson")) for x in (0.0, 0.3, 1.0, -0.1, 1.1)]
        + [refused(lambda x=x: normal._count(x)) for x in (0, 3, -1)]
    ),  # type: ignore[misc]
    **{
        f"quick {name} {relation.value}": lambda event=EVENTS[relation][name], relation=relation: [
            refused(lambda at=at: account(plan(event, relation=relation), quick=True, **at))
            for at in (
                {"delta": 0.0},
                {"delta": 1e-6},
                {"delta": 0.5},
                {"epsilon": 0.0},
                {"epsilon": 0.7},
                {"epsilon": -0.7},
            )
        ]
        for name in QUICK
        for relation in (ADD_REMOVE, REPLACE_ONE)
    },
    **{
        f"transform whole {name}": lambda one=one: [
            account(one, delta=1e-5),
            account(one, epsilon=1.0),
            account(one, delta=1e-5, both=False),
        ]
        for name, one in WHOLE.items()
    },
    "wrong questions": lambda: [
        refused(lambda at=at: account(laplace(1.0), **at))
        for at in (
            {},
            {"delta": 0.1, "epsilon": 1.0},
            {"delta": -0.1},
            {"delta": 1.1},
            {"delta": True},
            {"epsilon": math.nan},
        )
    ],
    "groups": lambda: (
        [
            account(one, quick=True, group=3, **at)
            for one in (laplace(3.0, 2), sampled_gaussian(0.05, 2.0, 3))
            for at in ({"delta": 0.0}, {"delta": 1e-3}, {"epsilon": 2.0}, {"epsilon": 0.0})
        ]
        + [refused(lambda k=k: group.group_size(k)) for k in (1, 3, 2.0, 0, 1.5, math.inf)]
    ),
    "extremes": lambda: [
        (extremes.is_tame(node), refused(lambda node=node, up=up: extremes.lifted(node, ADD_REMOVE, up)))
        for node in NODES.values()
        for up in (True, False)
    ],
    "60 digits": lambda: [
        float(precise.gaussian_delta(mu, e)) for mu in (0.1, 1.0, 7.0, 40.0) for e in (0.0, 1.0, 30.0)
    ],
    "pure filters": lambda: spent(budgets.PureFilter(1.0), 0.25, 0.5, 0.26, 0.25, 0.0, math.inf, laplace(4.0), -1.0),
    "Rényi filters": lambda: spent(
        budgets.RenyiFilter(ORDERS, np.array([0.3, 0.6, 2.0])),
        np.array([0.1, 0.2, 1.9]),
        np.array([0.2, 0.1, 0.2]),
        np.array([0.1, 0.1, 0.05]),
        laplace(9.0),
        np.array([0.1]),
        np.array([-0.1, 0, 0]),
    ),
    "Rényi filters refused": lambda: [
        refused(lambda o=o, b=b: budgets.RenyiFilter(np.array(o), np.array(b)).guarantee(1e-3))
        for o, b in (
            ([1.0], [1.0]),
            ([2.0], [-1.0]),
            ([2.0, 3.0], [1.0]),
            ([math.inf], [1.0]),
            ([2.0, 9.0], [1.0, 0.0]),
        )
    ],
    "Gaussian filters": lambda: [
        *spent(budgets.GaussianFilter(2.0), 1.0, gaussian(1.0), 1.4, 1.5, laplace(1.0), plan(), math.inf),
        budgets.GaussianFilter(2.0).guarantee(1e-3),
    ],
    "approximate filters": lambda: [
        *spent(
            budgets.ApproximateFilter(2.0, 1e-3, 1e-4),
            (0.1, 5e-5),
            (0.2, 6e-5),
            (0.2, 5e-5),
            (0.3,),
            (9.0,),
            laplace(50.0),
            math.inf,
        ),
        budgets.ApproximateFilter(2.0, 1e-3).rho,
        budgets.ApproximateFilter(2.0, 1e-3, 5e-4).rho,
        budgets.ApproximateFilter(2.0, 1e-3).guarantee(),
        *(refused(lambda f=f: budgets.ApproximateFilter(2.0, 1e-3, f).failures) for f in (1e-3, -1.0, 0.0, True)),
    ],
    "odometers": lambda: [gaussian_odometer(), renyi_odometer(), pure_odometer(), odometer()],
    "wrong odometers": lambda: [
        refused(call)
        for call in (
            lambda: budgets.GaussianOdometer(0.0),
            lambda: budgets.GaussianOdometer(0.1, 0.0),
            lambda: budgets.GaussianOdometer(0.1, 1.0, 1.0),
            lambda: IndividualOdometer(2, 1.0),
            lambda: IndividualOdometer(2, math.inf),
            lambda: IndividualOdometer(2, 2.0).losses(0.0),
            lambda: IndividualOdometer(2, 2.0).losses(1.0),
        )
    ],
    "shares of one": lambda: [
        refused(lambda v=v, least=least: budgets._share("x", v, least))
        for v in (0.0, 1e-9, 0.5, 1.0, -0.1, True, "a")
        for least in (None, 0.0)
    ],
    "individual filters": lambda: [individual(rule) for rule in ("every", "any")],
    "individual targets": lambda: (
        [IndividualFilter.for_target(2, 3.0, 1e-3, np.array(orders)).budgets for orders in ([5.0], [2.0, 5.0, 50.0])]
        + [
            refused(lambda e=e, d=d: IndividualFilter.for_target(2, e, d, ORDERS))
            for e, d in ((0.0, 0.1), (1.0, 0.0), (1.0, 1.0))
        ]
    ),
    "repetitions": lambda: (
        [(one.mean, one.generating(0.3), one.generating(1.0)) for one in (Repetitions(0, 0.2), Repetitions(1, 0.2))]
        + [Repetitions.of_mean(mean, eta) for mean in (1.5, 40.0) for eta in (0, 1)]
    ),
    "repetitions drawn": lambda: [Repetitions(eta, 0.2).draw(np.random.default_rng(3)) for eta in (0, 1)],
    "selected": lambda: (
        [selection.selected(Repetitions(eta, 0.1), lambda a: 0.02 * a, ORDERS) for eta in (0, 1)]
        + [
            selection.selection_epsilon(Repetitions(eta, 0.1), [laplace(9.0), gaussian(9.0)], d)
            for eta in (0, 1)
            for d in (0.0, 1e-6)
        ]
        + [selection.selection_epsilon(Repetitions(0, 0.1), [laplace(9.0)], 0.0)]
    ),
    "orders of selection": lambda: selection.ORDERS,
    "mixtures of Gaussians": lambda: [
        (one.curve(ORDERS), one.pure, one.attained)
        for one in (dp_events.GaussianMixture((0.5, 1.0), (0.25, 0.75)), dp_events.Concentrated(0.2, 0.1))
    ],
    "responses with noise": lambda: [
        refused(lambda p=p, k=k: dp_events._response(p, k))
        for p, k in ((0.25, 2), (0.5, 4), (0.0, 3), (1.0, 3), (0.5, 1))
    ],
    "sizes of samples": lambda: [refused(lambda r=r: dp_events._sizes(r)) for r in (0.25, 1 / 3, 1.0, 0.1234567891234)],
}
