"""Plans to and from the DpEvents of Google's dp_accounting, where such an event exists (extra: oracles)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from refdp.accounting.releases import GaussianCost, LaplaceCost, cost
from refdp.errors import InvalidParameter, RelationMismatch
from refdp.events import Event, Plan, Relation, Release, Repeat, Sensitivity, Sequential, Subsample
from refdp.mechanisms import DiscreteLaplace, Gaussian, Laplace

CLAIM = "dp-accounting/event"


def to_dp_event(plan: Plan) -> Any:
    """The DpEvent of a plan.

    Gaussian and Laplace releases become noise multipliers, discrete Laplace ones their decay and integer sensitivity.
    Errors: InvalidParameter for events that dp_accounting does not have (exponential mechanism, parallel, partition).
    """
    return _to(plan.event)


def from_dp_event(event: Any, relation: Relation) -> Plan:
    """The plan of a DpEvent, with unit sensitivities declared under `relation`.

    Errors: InvalidParameter for events that refdp does not have, RelationMismatch if a sampling event does not fit.
    """
    return Plan(relation, _from(event, relation))


def _to(event: Event) -> Any:
    import dp_accounting as dp

    match event:
        case Release():
            return _release(event)
        case Sequential(events):
            return dp.ComposedDpEvent([_to(child) for child in events]) if events else dp.NoOpDpEvent()
        case Repeat(inner, count):
            return dp.SelfComposedDpEvent(_to(inner), count)
        case Subsample(rate, inner, "poisson"):
            return dp.PoissonSampledDpEvent(rate, _to(inner))
        case Subsample(rate, inner, "without-replacement"):
            return dp.SampledWithoutReplacementDpEvent(*_sizes(rate), _to(inner))
        case _:
            raise InvalidParameter(f"{type(event).__name__}: dp_accounting has no such event")


def _sizes(rate: float) -> tuple[int, int]:
    """(n, m) with m / n the rate, n at most 10^9."""
    ratio = Fraction(rate).limit_denominator(10**9)
    if abs(float(ratio) - rate) > 2 * math.ulp(rate):
        raise InvalidParameter(f"sampling rate {rate!r}: dp_accounting needs m / n with n at most 10^9")
    return ratio.denominator, ratio.numerator


def _release(release: Release) -> Any:
    import dp_accounting as dp

    price = cost(release)
    match price:
        case GaussianCost():
            return dp.GaussianDpEvent(1 / price.mu) if price.square > 0 else dp.NoOpDpEvent()
        case LaplaceCost():
            return dp.LaplaceDpEvent(1 / price.epsilon) if price.exact > 0 else dp.NoOpDpEvent()
        case _ if isinstance(release.mechanism, DiscreteLaplace):
            return dp.dp_event.DiscreteLaplaceDpEvent(price.rate, price.shift)  # type: ignore[union-attr]
        case _:
            raise InvalidParameter(f"{type(release.mechanism).__name__}: dp_accounting has no such event")


def _from(event: Any, relation: Relation) -> Event:
    import dp_accounting as dp

    match type(event).__name__:
        case "NoOpDpEvent":
            return Sequential(())
        case "GaussianDpEvent":
            return Release("gaussian", Gaussian(event.noise_multiplier), Sensitivity(1.0, 2, CLAIM, relation))
        case "LaplaceDpEvent":
            return Release("laplace", Laplace(event.noise_multiplier), Sensitivity(1.0, 1, CLAIM, relation))
        case "DiscreteLaplaceDpEvent":
            noise = DiscreteLaplace(1 / event.noise_parameter, 1.0)
            return Release("discrete laplace", noise, Sensitivity(float(event.sensitivity), 1, CLAIM, relation))
        case "ComposedDpEvent":
            return Sequential(tuple(_from(child, relation) for child in event.events))
        case "SelfComposedDpEvent":
            return Repeat(_from(event.event, relation), event.count)
        case "PoissonSampledDpEvent":
            return _sampled(event, relation)
        case "SampledWithoutReplacementDpEvent":
            rate = event.sample_size / event.source_dataset_size
            return Subsample(math.nextafter(rate, 1), _from(event.event, relation), "without-replacement")
        case _ if isinstance(event, dp.DpEvent):
            raise InvalidParameter(f"{type(event).__name__}: refdp has no such event")
        case _:
            raise InvalidParameter(f"{event!r}: allowed are DpEvents of dp_accounting")


def _sampled(event: Any, relation: Relation) -> Event:
    if relation is not Relation.ADD_REMOVE:
        raise RelationMismatch(f"a PoissonSampledDpEvent needs add-remove neighbours, not {relation.value}")
    return Subsample(event.sampling_probability, _from(event.event, relation), "poisson")
