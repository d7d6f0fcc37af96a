"""(epsilon, delta): what replay charges the worst pair of a random plan agrees with the accountant.

At the accountant's epsilon the enclosure of delta does not exceed the claim from below, and with noise 1.01 times too
small it does: no false accusation, and none missed. Noise below the declared one shows in the releases' own costs too.
"""

from __future__ import annotations

import numpy as np
import pytest

from refdp.accounting import account
from refdp.audit.charge import Cost, Item, composed
from refdp.noise.mechanisms import DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.events import Event, Plan, Relation, Release, Sensitivity, Sequential

DELTA = 1e-5
Drawn = list[tuple[str, float, float]]
"""Kind of noise, scale, sensitivity, of each release."""


def drawn(number: int) -> Drawn:
    """1 to 30 releases of one or two kinds of noise, at changing scales."""
    generator = np.random.default_rng([16, number])
    kinds = list(generator.permutation(["laplace", "gaussian", "discrete"])[: int(generator.integers(1, 3))])
    releases = []
    for kind in kinds:
        scale, bound = float(np.round(generator.uniform(4, 40), 1)), float(generator.choice([1.0, 2.0]))
        releases += [(str(kind), scale, bound)] * int(generator.integers(1, 16))
    return releases


def mechanism(kind: str, scale: float) -> Laplace | Gaussian | DiscreteLaplace:
    """Of this kind and scale."""
    if kind == "discrete":
        return DiscreteLaplace(scale, 1.0)
    return Laplace(scale) if kind == "laplace" else Gaussian(scale)


def accounted(releases: Drawn) -> float:
    """The accountant's epsilon."""
    events: list[Event] = [
        Release("", mechanism(kind, scale), Sensitivity(bound, 2 if kind == "gaussian" else 1, "", Relation.ADD_REMOVE))
        for kind, scale, bound in releases
    ]
    return float(account(Plan(Relation.ADD_REMOVE, Sequential(tuple(events))), delta=DELTA).epsilon)


def charged(releases: Drawn, epsilon: float, smaller: float = 1.0) -> Cost:
    """What the audit says of the pair that changes every release by its sensitivity; noise is `smaller` times less."""
    items = [Item(mechanism(kind, scale / smaller), np.zeros(1), np.array([bound])) for kind, scale, bound in releases]
    return composed(items, Relation.ADD_REMOVE, epsilon, DELTA)


def check(number: int) -> None:
    releases = drawn(number)
    epsilon = accounted(releases)
    honest, cheat = charged(releases, epsilon), charged(releases, epsilon, 1.01)
    assert honest.lower <= DELTA * (1 + 1e-9), "accused although it keeps its claim"
    assert honest.upper <= DELTA * 1.02, "the enclosure is wider than the accountant's"
    assert cheat.lower > DELTA * (1 + 1e-9), "1.01 times too little noise passed"


@pytest.mark.parametrize("number", range(6))
def test_the_enclosure_agrees_with_the_accountant(number: int) -> None:
    check(number)


@pytest.mark.statistics
@pytest.mark.parametrize("number", range(6, 200))
def test_the_enclosure_agrees_with_the_accountant_on_many(number: int) -> None:
    check(number)
