"""One release, possibly sampled: its profile δ(ε) in closed form, with directed slack on both sides."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from refdp.accounting import pairs
from refdp.accounting.distributions import FINE, discrete_gaussian
from refdp.accounting.mixtures import unmixed_loss
from refdp.accounting.normal import Mixture, Node, Sampled
from refdp.accounting.releases import (
    DiscreteGaussianCost,
    DiscreteLaplaceCost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RangeCost,
)
from refdp.accounting.rounding import SLACK, TINY
from refdp.data.numbers import greatest, least

Profile = Callable[[float], tuple[float, float]]
_LARGEST = 700.0  # of ε, whose exponential is a float; beyond it too little would be subtracted
STRETCH = 1 + 2.0**-48
"""Applied to ε, it makes lower bounds survive that the parameters were rounded upwards."""


def profile_of(node: Node) -> Profile | None:
    """ε >= 0 to (lower, upper) bounds on δ(ε), the larger direction; None if the node is not one (sampled) release."""
    match node:
        case GaussianCost():
            mu = node.mu
            return lambda epsilon: _gaussian(mu, epsilon)
        case LaplaceCost():
            return lambda epsilon: _around(-math.expm1(min(0.0, epsilon - node.epsilon) / 2))
        case RangeCost():
            return lambda epsilon: _range(node.epsilon, epsilon)
        case PureCost():
            return _by_tails(pairs.TwoPoint(node.epsilon, 2 * node.epsilon))
        case DiscreteLaplaceCost():
            return _by_tails(pairs.DiscreteLaplacePair(node.rate, node.shift))
        case DiscreteGaussianCost() if node.scalar and node.sigma > FINE:
            return _as_gaussians(node)
        case DiscreteGaussianCost() if node.scalar:
            return _by_tails(pairs.DiscreteGaussianPair(node.sigma, (1,)))
        case Sampled(rate, inner, _):
            base = profile_of(inner)
            return None if base is None else _sampled(rate, base)
        case Mixture(((inner, weight),), _, True):
            base = profile_of(inner)
            return None if base is None else _told(weight, base)
        case _:
            return None


def epsilon_bounds(profile: Profile, delta: float, top: float) -> tuple[float, float]:
    """(lower, upper) bounds on ε(δ), searched in [0, top]; upper is inf if even `top` does not do."""
    met = profile(top)[1] <= delta
    upper = least(lambda epsilon: profile(epsilon)[1] <= delta, 0.0, top, 1e-15) if met else math.inf
    lower = greatest(lambda epsilon: profile(epsilon * STRETCH)[0] > delta, 0.0, min(upper, top), 1e-15)
    return (lower if profile(lower * STRETCH)[0] > delta else 0.0), upper


def _around(value: float) -> tuple[float, float]:
    return max(0.0, value * (1 - 16 * SLACK) - TINY), value * (1 + SLACK) + TINY


def _range(size: float, epsilon: float) -> tuple[float, float]:
    """(1 - e^{(ε-e)/2})² / (1 - e^{-e}); attained by the two-point pair with t = (e + ε)/2."""
    return _around(math.expm1(min(0.0, epsilon - size) / 2) ** 2 / -math.expm1(-size))


def _gaussian(mu: float, epsilon: float) -> tuple[float, float]:
    """φ(a) (m(a) - m(b)) with Mills ratios m; the slack is relative to the first term."""
    from scipy import special

    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if near < -8:
        first, second = float(special.ndtr(-near)), math.exp(epsilon + float(special.log_ndtr(far * -1)))
    else:
        scale = 0.5 * math.exp(-near * near / 2)
        root = math.sqrt(2)
        first, second = scale * float(special.erfcx(near / root)), scale * float(special.erfcx(far / root))
    return _difference(first, second)


def _as_gaussians(node: DiscreteGaussianCost) -> Profile:
    """Discrete Gaussian noise too fine to be listed, between the two Gaussians of `distributions.discrete_gaussian`."""
    below, above = (discrete_gaussian(node, end) for end in (False, True))
    assert isinstance(below, pairs.GaussianPair) and isinstance(above, pairs.GaussianPair)
    low, high = below.mu, above.mu
    return lambda epsilon: (_gaussian(low, epsilon)[0], _gaussian(high, epsilon)[1])


def _by_tails(pair: pairs.DominatingPair) -> Profile:
    def profile(epsilon: float) -> tuple[float, float]:
        tails = pair.tails(np.array([epsilon]))
        above_q = float(tails.above_q[0])
        low, high = _difference(
            float(tails.above[0]), math.exp(min(epsilon, _LARGEST)) * above_q if above_q > 0 else 0.0
        )
        return (low if epsilon <= _LARGEST else 0.0), high

    return profile


def _difference(first: float, second: float) -> tuple[float, float]:
    slack = SLACK * (first + second)
    return max(0.0, (first - second) * (1 - 16 * SLACK) - slack - TINY), max(0.0, first - second + slack) + TINY


def _sampled(rate: float, base: Profile) -> Profile:
    """q δ(log(1 + (e^ε - 1)/q)): the record in the first data set, which is the larger direction for ε >= 0.

    Balle, Barthe, Gaboardi 2018, Theorem 2: H_γ((1-q)R + qP ‖ (1-q)R + qQ) = q H_γ'(P ‖ (1-β)R + βQ) is at most
    q H_γ'(P ‖ Q) whatever R, hence also where R = P, the other direction. The same for sampling without replacement.
    """

    def profile(epsilon: float) -> tuple[float, float]:
        inner = float(unmixed_loss(np.array([epsilon]), rate)[0])
        low, high = _shaken(base, inner)
        return max(0.0, rate * low * (1 - 16 * SLACK) - TINY), min(rate * high * (1 + SLACK) + TINY, base(epsilon)[1])

    return profile


def _told(rate: float, base: Profile) -> Profile:
    """q δ(ε): the profile where the release was made, and 0 where it was not."""

    def profile(epsilon: float) -> tuple[float, float]:
        low, high = base(epsilon)
        return max(0.0, rate * low * (1 - SLACK) - TINY), rate * high * (1 + SLACK) + TINY

    return profile


def _shaken(base: Profile, epsilon: float) -> tuple[float, float]:
    """The base profile with ε itself only known to a relative error of SLACK."""
    return base(epsilon * (1 + SLACK))[0], base(max(0.0, epsilon * (1 - SLACK)))[1]
