"""Plans to and from the DpEvents of Google's dp_accounting, where such an event exists (extra: oracles)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from refdp.accounting.arrays import Array
from refdp.accounting.conversion import per_order
from refdp.accounting.pairs import DominatingPair, Outcomes
from refdp.accounting.releases import GaussianCost, LaplaceCost, cost
from refdp.accounting.rounding import upwards
from refdp.data.numbers import at_most
from refdp.errors import InvalidParameter, RelationMismatch
from refdp.noise.mechanisms import DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.events import Event, Plan, Relation, Release, Repeat, Sensitivity, Sequential, Subsample, releases

CLAIM = "dp-accounting/event"


def to_dp_event(plan: Plan) -> Any:
    """The DpEvent of a plan.

    Gaussian and Laplace releases become noise multipliers, discrete Laplace ones their decay and integer sensitivity.
    Errors: InvalidParameter for events that dp_accounting does not have (exponential mechanism, parallel, partition,
      sampling of the kind that the plan's relation does not amplify, sensitivities inside samples of another relation).
    """
    if any(release.sensitivity.relation is not plan.relation for release in releases(plan.event)):
        raise InvalidParameter("sensitivities of another relation inside a sample: dp_accounting has no such event")
    return _to(plan.event, plan.relation)


def from_dp_event(event: Any, relation: Relation) -> Plan:
    """The plan of a DpEvent, with unit sensitivities declared under `relation`.

    Errors: InvalidParameter for events that refdp does not have, RelationMismatch if a sampling event does not fit.
    """
    return Plan(relation, _from(event, relation))


def _to(event: Event, relation: Relation) -> Any:
    import dp_accounting as dp

    match event:
        case Release():
            return _release(event)
        case Sequential(events):
            return dp.ComposedDpEvent([_to(child, relation) for child in events]) if events else dp.NoOpDpEvent()
        case Repeat(inner, count):
            return dp.SelfComposedDpEvent(_to(inner, relation), count)
        case Subsample(rate, inner, "poisson") if relation is Relation.ADD_REMOVE:
            return dp.PoissonSampledDpEvent(rate, _to(inner, relation))
        case Subsample(rate, inner, "without-replacement") if relation is Relation.REPLACE_ONE:
            return dp.SampledWithoutReplacementDpEvent(*_sizes(rate), _to(inner, relation))
        case Subsample(_, _, method):
            raise InvalidParameter(f"{method} under the relation {relation.value}: dp_accounting has no such event")
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
        case "NonPrivateDpEvent":
            return _told("not private", NonPrivate(), relation)
        case "GaussianDpEvent" | "LaplaceDpEvent" if event.noise_multiplier == 0:
            return _told("no noise", NonPrivate(), relation)
        case "RandomizedResponseDpEvent":
            return _told("randomised response", _response(event.noise_parameter, event.num_buckets), relation)
        case "ZCDpEvent":
            _check("rho and xi of zCDP", (event.rho, event.xi), 0 <= event.rho < math.inf and 0 <= event.xi < math.inf)
            return _told("zCDP", Concentrated(float(event.rho), float(event.xi)), relation)
        case "MixtureOfGaussiansDpEvent":
            chances = tuple(map(float, event.sampling_probs))
            whole = len(chances) == len(event.sensitivities) and all(0 <= c <= 1 for c in chances)
            fits = whole and abs(math.fsum(chances) - 1) <= 1e-9 and all(map(math.isfinite, event.sensitivities))
            _check(
                "sampling_probs of a Gaussian mixture",
                (event.sensitivities, chances),
                fits,
                "one probability each, sum 1",
            )
            if not event.standard_deviation:
                return _told("no noise", NonPrivate(), relation)
            deviation = event.standard_deviation
            _check("standard deviation of a Gaussian mixture", deviation, 0 < deviation < math.inf)
            changes = tuple(float(c) / deviation for c in event.sensitivities)
            return _told("Gaussian mixture", GaussianMixture(changes, chances), relation)
        case "GaussianDpEvent":
            return Release("gaussian", Gaussian(event.noise_multiplier), Sensitivity(1.0, 2, CLAIM, relation))
        case "LaplaceDpEvent":
            return Release("laplace", Laplace(event.noise_multiplier), Sensitivity(1.0, 1, CLAIM, relation))
        case "DiscreteLaplaceDpEvent":
            parameter = event.noise_parameter
            _check("noise parameter of a discrete Laplace", parameter, 0 < parameter < math.inf, "finite numbers > 0")
            noise = DiscreteLaplace(at_most(1 / Fraction(max(float(parameter), 2.0**-600))), 1.0)  # beyond it refuses
            return Release("discrete laplace", noise, Sensitivity(float(event.sensitivity), 1, CLAIM, relation))
        case "ComposedDpEvent":
            return Sequential(tuple(_from(child, relation) for child in event.events))
        case "SelfComposedDpEvent":
            return Repeat(_from(event.event, relation), event.count)
        case "PoissonSampledDpEvent":
            return _sampled(event, relation)
        case "SampledWithoutReplacementDpEvent":
            sizes = event.sample_size, event.source_dataset_size
            _check("sample and source size", sizes, 0 <= sizes[0] <= sizes[1] > 0, "0 <= sample <= source, source >= 1")
            rate = event.sample_size / event.source_dataset_size
            return Subsample(
                math.nextafter(rate, 1) if rate else 0.0, _from(event.event, relation), "without-replacement"
            )
        case _ if isinstance(event, dp.DpEvent):
            raise InvalidParameter(f"{type(event).__name__}: refdp has no such event")
        case _:
            raise InvalidParameter(f"{event!r}: allowed are DpEvents of dp_accounting")


def _sampled(event: Any, relation: Relation) -> Event:
    if relation is not Relation.ADD_REMOVE:
        raise RelationMismatch(f"a PoissonSampledDpEvent needs add-remove neighbours, not {relation.value}")
    return Subsample(event.sampling_probability, _from(event.event, relation), "poisson")


def _check(name: str, given: object, fits: bool, allowed: str = "finite numbers >= 0") -> None:
    if not fits:
        raise InvalidParameter(f"{name}: {given!r} given, allowed are {allowed}")


def _told(name: str, mechanism: Any, relation: Relation) -> Release:
    return Release(name, mechanism, Sensitivity(1.0, 1, CLAIM, relation))


def _response(noise: float, buckets: int) -> Any:
    if not (0 <= noise <= 1 and buckets >= 1):
        raise InvalidParameter(f"randomised response of noise {noise!r} over {buckets!r}: allowed are [0, 1], >= 1")
    return NonPrivate() if noise == 0 and buckets > 1 else Response(float(noise), int(buckets))


@dataclass(frozen=True)
class _Event:
    """A mechanism that is its own dominating description (`releases.Dominated`)."""

    def dominated(self, sensitivity: Sensitivity) -> Any:
        """Itself: the event says nothing of a sensitivity."""
        return self

    @property
    def pure(self) -> Fraction | None:
        """None: no pure ε."""
        return None

    @property
    def attained(self) -> bool:
        """Without a pair there is nothing to attain."""
        return False

    def pair(self, direction: str) -> DominatingPair | None:
        """None is known."""
        return None


@dataclass(frozen=True)
class NonPrivate(_Event):
    """Everything is revealed."""

    def curve(self, orders: Array) -> Array:
        """Infinite. orders, result: shape (orders,)."""
        return np.full_like(orders, np.inf)


@dataclass(frozen=True)
class Concentrated(_Event):
    """(ξ, ρ)-zCDP: D_α <= ξ + ρα (Bun, Steinke 2016)."""

    rho: float
    xi: float

    def curve(self, orders: Array) -> Array:
        """ξ + ρα. orders, result: shape (orders,)."""
        return (self.xi + self.rho * orders) * (1 + 2.0**-44)


@dataclass(frozen=True)
class GaussianMixture(_Event):
    """N(0, 1) against sum_i p_i N(c_i, 1); changes c_i are in standard deviations."""

    changes: tuple[float, ...]
    chances: tuple[float, ...]

    def curve(self, orders: Array) -> Array:
        """log sum_i p_i e^{α(α-1)c_i²/2} / (α-1), by joint convexity, both directions.

        orders, result: shape (orders,).
        """
        exponents = orders * (orders - 1) / 2 * np.array(self.changes)[:, None] ** 2
        with np.errstate(divide="ignore"):
            weights = np.log(np.array(self.chances))[:, None]
        top = np.max(exponents + weights, axis=0)
        total = top + np.log(np.sum(np.exp(exponents + weights - top), axis=0))
        return per_order(np.maximum(total, 0.0) * (1 + 2.0**-44) + 2.0**-44, orders)


@dataclass(frozen=True)
class Response(_Event):
    """The true one of k buckets with probability 1 - p, else one of all k at random; a record is replaced."""

    noise: float
    buckets: int

    @property
    def _masses(self) -> tuple[tuple[float, float], ...]:
        other = self.noise / self.buckets
        truth = 1 - self.noise + other
        rest = ((self.buckets - 2) * other,) * 2
        return ((truth, other), (other, truth)) + ((rest,) if self.buckets > 2 else ())

    @property
    def pure(self) -> Fraction | None:
        """log((1 - p + p/k) / (p/k)), rounded upwards."""
        if self.buckets == 1 or self.noise == 1:
            return Fraction(0)
        return Fraction(upwards(math.log1p((1 - self.noise) * self.buckets / self.noise)))

    @property
    def attained(self) -> bool:
        """By any two different records."""
        return True

    def pair(self, direction: str) -> DominatingPair:
        """The two buckets that differ, and the others together."""
        return Outcomes(self._masses)

    def curve(self, orders: Array) -> Array:
        """log sum p^α q^{1-α} / (α-1). orders, result: shape (orders,)."""
        p, q = (np.log(np.array(column))[:, None] for column in zip(*self._masses, strict=True))
        exponents = orders * p + (1 - orders) * q
        top = np.max(exponents, axis=0)
        total = top + np.log(np.sum(np.exp(exponents - top), axis=0))
        return per_order(np.maximum(total, 0.0) + 2.0**-44 * (1 + np.abs(total)), orders)
