"""Short names for plans, shared by the tests of accounting."""

from __future__ import annotations

import numpy as np

from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism
from refdp.privacy.events import Event, Norm, Plan, Relation, Release, Repeat, Sensitivity, Sequential, Subsample

ADD_REMOVE, REPLACE_ONE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
NORMS: dict[type, Norm] = {Laplace: 1, DiscreteLaplace: 1, Gaussian: 2, DiscreteGaussian: 2, Exponential: "range"}


def release(
    mechanism: Mechanism, bound: float = 1.0, relation: Relation = ADD_REMOVE, norm: Norm | None = None
) -> Release:
    """One release of the given sensitivity, in the mechanism's own norm unless told otherwise."""
    chosen = NORMS[type(mechanism)] if norm is None else norm
    return Release(type(mechanism).__name__, mechanism, Sensitivity(bound, chosen, "test/declared", relation))


def plan(*events: Event, relation: Relation = ADD_REMOVE) -> Plan:
    """The events in sequence."""
    return Plan(relation, Sequential(events))


def gaussian(sd: float, count: int = 1) -> Plan:
    """`count` Gaussian releases of unit sensitivity."""
    return plan(Repeat(release(Gaussian(sd)), count))


def laplace(scale: float, count: int = 1) -> Plan:
    """`count` Laplace releases of unit sensitivity."""
    return plan(Repeat(release(Laplace(scale)), count))


def exponential(epsilon: float, count: int = 1) -> Plan:
    """`count` selections of range `epsilon`."""
    return plan(Repeat(release(Exponential(epsilon)), count))


def sampled_gaussian(rate: float, sd: float, count: int = 1) -> Plan:
    """`count` Poisson-subsampled Gaussian releases."""
    return plan(Repeat(Subsample(rate, release(Gaussian(sd))), count))


def random_plan(generator: np.random.Generator) -> Plan:
    """One to three kinds of releases, possibly sampled, each up to 200 times, that both other libraries can express."""
    return plan(*(_random_event(generator) for _ in range(generator.integers(1, 4))))


def _random_event(generator: np.random.Generator) -> Event:
    event: Event = release(
        Gaussian(float(generator.uniform(0.7, 30)))
        if generator.random() < 0.5
        else Laplace(float(generator.uniform(0.8, 30)))
    )
    if generator.random() < 0.4:
        event = Subsample(float(10 ** generator.uniform(-3, -0.1)), event)
    return Repeat(event, int(10 ** generator.uniform(0, 2.3)))
