"""Gaussian differential privacy, exact: the profile of N(0, 1) against N(mu, 1), its inverses, and calibration.

A Gaussian release has mu = sensitivity / sd, and mu's compose as the root of the sum of their squares (Dong, Roth, Su
2022). Candidates come from floating bisection; whatever is returned was afterwards checked with sixty digits and, where
the check failed, moved until it held.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from refdp.accounting.precise import gaussian_delta
from refdp.accounting.rounding import ceiling
from refdp.data.numbers import greatest, least
from refdp.errors import InvalidParameter

_ROUNDED = 2.0**-50
_ROOT = 2.5066282746310002
"""sqrt(2 π), from below."""
_HUGE = 1e4  # no useful epsilon beyond: it is above 5e7


def delta(mu: float, epsilon: float) -> float:
    """δ(ε) of μ-GDP, rounded upwards to a float."""
    _domain(mu, epsilon)
    if mu == 0:
        return 0.0
    exact = gaussian_delta(mu, epsilon)
    nearest = float(exact)
    return nearest if Decimal(nearest) >= exact > 0 else math.nextafter(nearest, math.inf)


def delta_below(mu: float, epsilon: float) -> float:
    """A lower bound on δ(ε) for every μ that rounds upwards to `mu`."""
    return math.nextafter(delta(mu * (1 - _ROUNDED), epsilon), 0)


def epsilon(mu: float, delta: float) -> float:
    """The ε of μ-GDP at δ, from above; inf at δ = 0 (unless μ = 0).

    Errors: InvalidParameter for delta outside of [0, 1], and mu below 0.
    """
    _domain(mu, 0.0)
    if not 0 <= delta <= 1:
        raise InvalidParameter(f"delta {delta!r}: allowed are numbers in [0, 1]")
    if mu == 0:
        return 0.0
    if delta == 0 or mu > _HUGE:
        return math.inf
    top = mu * (mu / 2 + math.sqrt(2 * -math.log(delta) + 2)) + 1e-300
    start = least(lambda eps: _float_delta(mu, eps) <= delta, 0.0, top, relative=1e-16)
    return _verified_epsilon(mu, delta, start)


def epsilon_below(mu: float, delta: float, hint: float) -> float:
    """A lower bound on the ε of μ-GDP at δ, close below `hint`, for every μ that rounds upwards to `mu`."""
    below = mu * (1 - _ROUNDED)
    if hint == math.inf:
        return 0.0
    for step in range(60):
        candidate = hint * (1 - 2.0 ** (step - 53))
        if candidate > 0 and gaussian_delta(below, candidate) > Decimal(delta):
            return candidate
    return 0.0


def mu_for(epsilon: float, delta: float) -> float:
    """The largest μ, from below, whose δ(ε) is at most δ.

    No less than what δ(ε) <= δ(0) <= μ / sqrt(2 π) allows, for ε and δ so small that floating candidates fail.

    Errors: InvalidParameter unless epsilon >= 0 and 0 < delta < 1: no Gaussian has delta = 0.
    """
    if not 0 <= epsilon < math.inf:
        raise InvalidParameter(f"epsilon {epsilon!r}: allowed are finite numbers >= 0")
    if not 0 < delta < 1:
        raise InvalidParameter(f"delta {delta!r}: a Gaussian needs a number in (0, 1)")
    return _mu_for(epsilon, delta)


@lru_cache(maxsize=64)
def _mu_for(epsilon: float, delta: float) -> float:
    """`mu_for`, which a run asks for every release."""
    certain = -ceiling(-Fraction(delta) * Fraction(_ROOT))
    start = greatest(lambda mu: _float_delta(mu, epsilon) <= delta, 0.0, _HUGE, relative=1e-16)
    for step in range(60):
        candidate = start * (1 - 2.0 ** (step - 53)) if step else start
        if candidate > 0 and gaussian_delta(candidate, epsilon) <= Decimal(delta):
            return max(candidate, certain)
    return certain


def calibrate(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """The least sd, from above, that makes one Gaussian release (ε, δ)-DP (Balle, Wang 2018, by direct inversion).

    Units: those of the sensitivity (Euclidean). Errors: as `mu_for`; sensitivity must be finite and >= 0.
    """
    if not 0 <= sensitivity < math.inf:
        raise InvalidParameter(f"sensitivity {sensitivity!r}: allowed are finite numbers >= 0")
    return ceiling(Fraction(sensitivity) / Fraction(mu_for(epsilon, delta)))


def _verified_epsilon(mu: float, delta: float, start: float) -> float:
    """The first of start, start (1 + 2^-52), start (1 + 2^-51), … that sixty digits confirm."""
    for step in range(60):
        candidate = start * (1 + 2.0 ** (step - 53)) if step else start
        if gaussian_delta(mu, candidate) <= Decimal(delta):
            return candidate
    return math.inf


def _float_delta(mu: float, epsilon: float) -> float:
    """δ by Mills ratios m(x) = P(Z > x) / φ(x): φ(ε/μ - μ/2) (m(ε/μ - μ/2) - m(ε/μ + μ/2))."""
    from scipy import special

    if mu <= 0:
        return 0.0
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if near < -8:
        return float(special.ndtr(-near)) - math.exp(epsilon + float(special.log_ndtr(-far)))
    ratios = float(special.erfcx(near / math.sqrt(2))) - float(special.erfcx(far / math.sqrt(2)))
    return 0.5 * math.exp(-near * near / 2) * ratios


def _domain(mu: float, epsilon: float) -> None:
    if not 0 <= mu < math.inf:
        raise InvalidParameter(f"mu {mu!r}: allowed are finite numbers >= 0")
    if not 0 <= epsilon < math.inf:
        raise InvalidParameter(f"epsilon {epsilon!r}: allowed are finite numbers >= 0")
