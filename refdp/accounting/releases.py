"""From a release to the pair of distributions that dominates it: the one place where mechanism meets sensitivity.

A pair (P, Q) dominates a mechanism M if H_γ(M(D) ‖ M(D')) <= H_γ(P ‖ Q) for all neighbours D, D' and all γ >= 0, with
H_γ(P ‖ Q) = sup_S P(S) - γ Q(S). Domination survives adaptive composition (Zhu, Dong, Wang 2022, Theorem 10), so that
one small parameter per release is all that any accountant needs.

Laplace noise on a vector, with L1 sensitivity e scales. The scalar pair Lap(0), Lap(e) dominates. Proof: let the shift
grow along the segment, P_u for u in [0, e]. The log density moves at rate at most one, hence g(u) = P_u(S) has
|g'| <= min(g, 1 - g) for every event S. For the scalar pair and half-lines S the density at the border is exactly
min(g, 1 - g), so that the half-line solves g' = min(g, 1 - g) and no event of any dimension ever gets ahead of it. The
same with unit steps instead of a derivative, each step being e^(step/scale)-close in both directions, gives the scalar
discrete Laplace pair at the same integer shift for integer vectors.

Gaussian noise. Only the whitened Euclidean length of the shift matters (rotation), and the profile grows with it.

Exponential mechanism. Its privacy loss has range at most e = coefficient times the range of the change of utilities
(Dong, Durfee, Rogers 2020), a product over rows has the sum of the ranges, and `pairs.BoundedRange` dominates them all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from refdp.accounting.rounding import ceiling
from refdp.checks import of_numpy
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism
from refdp.privacy.events import Release, Sensitivity

if TYPE_CHECKING:
    from refdp.accounting.arrays import Array
    from refdp.accounting.pairs import DominatingPair


@dataclass(frozen=True)
class LaplaceCost:
    """Dominated by Lap(0), Lap(epsilon)."""

    exact: Fraction

    @cached_property
    def epsilon(self) -> float:
        """The largest privacy loss, rounded upwards."""
        return ceiling(self.exact)


@dataclass(frozen=True)
class DiscreteLaplaceCost:
    """Dominated by two discrete Laplace distributions of decay exp(-step_loss), `shift` integers apart."""

    step_loss: Fraction
    shift: int

    @property
    def rate(self) -> float:
        """step_loss, rounded upwards."""
        return ceiling(self.step_loss)

    @property
    def exact(self) -> Fraction:
        """The largest privacy loss, step_loss * shift."""
        return self.step_loss * self.shift


@dataclass(frozen=True)
class GaussianCost:
    """Dominated by N(0, 1), N(mu, 1)."""

    square: Fraction

    @cached_property
    def mu(self) -> float:
        """The root of `square`, rounded upwards (within two units of the last place); infinite from 2^510 on."""
        if self.square > 2**1020:
            return math.inf
        root = math.sqrt(self.square)
        while Fraction(root) ** 2 < self.square:
            root = math.nextafter(root, math.inf)
        lower = math.nextafter(root, 0)
        return lower if Fraction(lower) ** 2 >= self.square else root


@dataclass(frozen=True)
class DiscreteGaussianCost:
    """Discrete Gaussian noise of deviation `sigma` steps per coordinate, on integer vectors.

    The change has Euclidean length at most `length` steps. norm 1 says that `length` even bounds the sum of changes.
    """

    sigma: float
    length: float
    norm: int

    @property
    def mu(self) -> float:
        """length / sigma, rounded upwards."""
        return ceiling(Fraction(self.length) / Fraction(self.sigma))

    @property
    def scalar(self) -> bool:
        """Whether at most one coordinate changes, by one step: then the pair is scalar and exact."""
        return self.length < 2 if self.norm == 1 else self.length**2 < 2


@dataclass(frozen=True)
class RangeCost:
    """A privacy loss of range at most epsilon."""

    exact: Fraction

    @property
    def epsilon(self) -> float:
        """The range, rounded upwards."""
        return ceiling(self.exact)


@dataclass(frozen=True)
class PureCost:
    """Any mechanism of pure epsilon: dominated by randomised response (Kairouz, Oh, Viswanath 2015)."""

    exact: Fraction

    @property
    def epsilon(self) -> float:
        """The largest privacy loss, rounded upwards."""
        return ceiling(self.exact)


class Dominated(Protocol):
    """What a mechanism that is not one of refdp's own tells about a release: hashable, equal for equal costs.

    Every mechanism with a method `dominated(sensitivity)` that returns this, or one of the costs above, is accounted
    for. All of it must hold in both directions of adjacency.
    """

    @property
    def pure(self) -> Fraction | None:
        """The pure ε, None if there is none."""
        ...

    @property
    def attained(self) -> bool:
        """Whether some records attain `pair`, so that lower bounds may use it."""
        ...

    def curve(self, orders: Array) -> Array:
        """An upper bound on the Rényi divergence at every order > 1; infinite where there is none.

        orders, result: shape (orders,).
        """
        ...

    def pair(self, direction: str) -> DominatingPair | None:
        """A dominating pair with the record in the "first" or in the "second" data set; None if none is known."""
        ...


@dataclass(frozen=True)
class SuppliedCost:
    """Whatever a mechanism of somebody else supplies."""

    dominated: Dominated


Cost = PureCost | LaplaceCost | DiscreteLaplaceCost | GaussianCost | DiscreteGaussianCost | RangeCost | SuppliedCost
_OWN = (PureCost, LaplaceCost, DiscreteLaplaceCost, GaussianCost, DiscreteGaussianCost, RangeCost, SuppliedCost)


def cost(release: Release) -> Cost:
    """The dominating parameters of one release.

    Errors: InvalidParameter if the noise is not positive, if the norm of the sensitivity does not fit the mechanism, or
      for a mechanism that is neither refdp's own nor supplies its cost (`Dominated`).
    """
    sensitivity = release.sensitivity
    bound = Fraction(sensitivity.bound)
    mechanism: object = release.mechanism
    match mechanism:
        case Laplace(scale):
            _allow(release, 1)
            return LaplaceCost(_ratio(bound, _positive("scale", scale, release)))
        case DiscreteLaplace(scale, step):
            _allow(release, 1)
            rate = _ratio(Fraction(_positive("step", step, release)), _positive("scale", scale, release))
            return DiscreteLaplaceCost(rate, _steps(sensitivity.bound, step))
        case Gaussian(sd):
            _allow(release, 1, 2, "whitened")
            least = min(_positive("sd", one, release) for one in (sd if isinstance(sd, tuple) else (sd,)))
            return GaussianCost((bound if sensitivity.norm == "whitened" else _ratio(bound, least)) ** 2)
        case DiscreteGaussian(sd, step) if isinstance(sd, tuple) or sensitivity.norm == "whitened":
            _allow(release, "whitened")
            return _unequal(release, sd if isinstance(sd, tuple) else (sd,), step)
        case DiscreteGaussian(sd, step):
            _allow(release, 1, 2)
            assert not isinstance(sd, tuple)
            sigma = _positive("sd", sd, release) / _positive("step", step, release)
            length = max(1.0, ceiling(bound / Fraction(of_numpy(step)))) if bound else 0.0
            norm = 1 if sensitivity.norm == 1 else 2
            return DiscreteGaussianCost(
                math.nextafter(sigma, 0), float(_steps(length, 1.0)) if norm == 1 else length, norm
            )
        case Exponential(coefficient):
            _allow(release, "range")
            if not 0 <= coefficient < math.inf:
                raise InvalidParameter(
                    f"coefficient {coefficient!r} of {release.name!r}: allowed are finite numbers >= 0"
                )
            return RangeCost(Fraction(of_numpy(coefficient)) * bound)
        case _:
            return _supplied(mechanism, release)


def _supplied(mechanism: object, release: Release) -> Cost:
    told = getattr(mechanism, "dominated", None)
    if not callable(told):
        raise InvalidParameter(
            f"mechanism {type(mechanism).__name__} of {release.name!r}: allowed are refdp's own, and classes with a "
            "method dominated(sensitivity), see refdp.noise.protocol.Supplying"
        )
    found = told(release.sensitivity)
    return found if isinstance(found, _OWN) else SuppliedCost(found)


FINE = 1024
"""Discrete Gaussian noise of several deviations is accounted for if all of them have so many steps."""


def _unequal(release: Release, sds: tuple[float, ...], step: float) -> DiscreteGaussianCost:
    """Noise of several deviations, for a whitened bound b: as if all were the least, s, and the length were b s.

    At every order coordinates add up to at most α b²/2, as they do for equal ones. At most (b S)² of them can change, S
    the greatest deviation in steps, which the Gaussian of variance s² - t that stands for the noise in profiles has to
    know (`distributions.smoothing`): s² is lowered by the difference that S/s makes there.
    """
    sigmas = [Fraction(_positive("sd", sd, release)) / Fraction(_positive("step", step, release)) for sd in sds]
    least, most = min(sigmas), max(sigmas)
    if least < FINE:
        raise InvalidParameter(
            f"{release.name!r}: a deviation of {float(least):g} steps given, from {FINE} steps are allowed"
        )
    bound = Fraction(release.sensitivity.bound)
    if not bound:
        return DiscreteGaussianCost(float(least), 0.0, 2)
    lowered = float(least) ** 2 * (1 - 2.0**-50) - math.log(float(most / least)) / math.pi**2
    return DiscreteGaussianCost(math.sqrt(lowered), max(2.0, ceiling(bound * least)), 2)


def _steps(bound: float, step: float) -> int:
    """The largest number of whole steps that a change of at most `bound` can hold; rounding never lowers it."""
    ratio = bound / step
    return max(math.floor(ratio), math.ceil(ratio - 1e-9))


def _ratio(bound: Fraction, noise: float) -> Fraction:
    return Fraction(0) if noise == math.inf else bound / Fraction(noise)


def _positive(what: str, value: float, release: Release) -> float:
    if not value > 0:
        raise InvalidParameter(f"{what} {value!r} of {release.name!r}: allowed are numbers > 0")
    return float(value)


def _allow(release: Release, *norms: object) -> None:
    sensitivity: Sensitivity = release.sensitivity
    if sensitivity.norm not in norms:
        raise InvalidParameter(
            f"sensitivity norm {sensitivity.norm!r} of {release.name!r}: {type(release.mechanism).__name__} is "
            f"accounted for with {' or '.join(map(repr, norms))}"
        )


__all__ = [
    "Cost",
    "DiscreteGaussianCost",
    "DiscreteLaplaceCost",
    "Dominated",
    "GaussianCost",
    "LaplaceCost",
    "Mechanism",
    "PureCost",
    "RangeCost",
    "SuppliedCost",
    "cost",
]
