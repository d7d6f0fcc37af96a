"""Rényi curves of sampled mechanisms.

Poisson sampling, Gaussian inside: the mixture against the base, at every real order, by the trapezoidal rule with an
explicit error bound; the mixture-first direction is the larger one (Mironov, Talwar, Zhang 2019, Theorem 5).

Poisson sampling in general: at integer orders the binomial expansion, exact for the mixture-first direction, and valid
for both directions when the pair inside is symmetric (the same Theorem 5, whose proof pairs the outcomes of ratios r
and 1/r). Otherwise the bound of Zhu, Wang 2019, Theorem 5, with its factor 3. Between integers the convexity of
(α-1)ρ(α) in α bounds by the chord; above the largest integer order only the curve inside remains (joint
quasi-convexity).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import numpy as np

from refdp.accounting.arrays import Array
from refdp.accounting.conversion import per_order

LARGEST_INTEGER = 256
_EXPONENT = 45.0  # discretisation error e^-45 relative, truncation handled explicitly
_REACH = 9.5  # standard deviations beyond the two means
Curve: TypeAlias = Callable[[Array], Array]


def poisson_gaussian(rate: float, sigma: float, orders: Array) -> Array:
    """log A(α) / (α-1), A = E[(1 - q + q e^{(2x-1)/(2σ²)})^α] over x ~ N(0, σ²)   (Mironov, Talwar, Zhang 2019).

    The integrand is analytic in the strip |Im x| < πσ². There its modulus is at most e^{y²/(2σ²)} times its value on
    the real line, so step h errs by a factor of at most 1 + 2 e^{a²/(2σ²)} / (e^{2πa/h} - 1) for any a < πσ²;
    `_step` makes this 1 + 2e^-45. What lies beyond the grid is bounded by the slope of the log integrand and added.
    orders, result: shape (orders,).
    """
    step = _step(sigma)
    counts = np.ceil((orders + 2 * _REACH * sigma) / step).astype(np.int64) + 1
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    owner = np.repeat(np.arange(len(orders)), counts)
    x = (np.arange(counts.sum(), dtype=np.float64) - starts[owner]) * step - _REACH * sigma
    log_f = _log_integrand(x, orders[owner], rate, sigma)
    peak = np.maximum.reduceat(log_f, starts)
    mass = np.add.reduceat(np.exp(log_f - peak[owner]), starts) * step
    ends = np.array([log_f[starts + counts - 1], log_f[starts]]) - peak
    beyond = np.exp(ends) * sigma / _REACH  # both slopes are at least REACH / sigma
    log_moment = peak + np.log(mass + beyond.sum(axis=0)) - 0.5 * math.log(2 * math.pi) - math.log(sigma)
    slack = 2.0**-44 * (1 + 2.0**-6 * orders) + 2.0**-49 * np.abs(log_moment)
    return per_order(np.maximum(log_moment + slack, 0.0), orders)


def _log_integrand(x: Array, order: Array, rate: float, sigma: float) -> Array:
    exponent = (2 * x - 1) / (2 * sigma**2)
    low = np.log1p(rate * np.expm1(np.minimum(exponent, 1.0)))
    high = np.maximum(exponent, 1.0) + np.log(rate + (1 - rate) * np.exp(-np.maximum(exponent, 1.0)))
    return order * np.where(exponent < 1, low, high) - x * x / (2 * sigma**2)


def _step(sigma: float) -> float:
    """h with 2 exp(a²/(2σ²) - 2πa/h) <= 2e^-45, a the best of the strip: 2πσ²/h, or its border πσ²."""
    free = sigma * math.pi * math.sqrt(2 / _EXPONENT)
    edge = 0.999 * math.pi * sigma**2
    if 2 * math.pi * sigma**2 / free <= edge:
        return free
    return 2 * math.pi * edge / (_EXPONENT + edge**2 / (2 * sigma**2))


def poisson(rate: float, inside: Curve, *, symmetric: bool) -> Array:
    """The binomial bound on (α-1)ρ(α) at whole orders: log sum_k C(α,k) (1-q)^(α-k) q^k c_k e^((k-1)ρ(k)).

    c_k = 1 for symmetric pairs (exact there), else 3 from k = 3 on (Zhu, Wang 2019, Theorem 5).
    result: shape (LARGEST_INTEGER + 1,).
    """
    whole, moments = _inner_moments(inside)
    factor = np.zeros(len(whole)) if symmetric else np.where(whole >= 3, math.log(3.0), 0.0)
    return _log_row_sums(_log_binomial(rate) + (moments + factor)[None, :])


def without_replacement(rate: float, inside: Curve, pure: float) -> Array:
    """(α-1)ρ(α) of m of n, replace-one (Wang, Balle, Kasiviswanathan 2019, Theorem 9), q = m/n; `pure` is ρ(∞) inside.

    result, at whole orders: shape (LARGEST_INTEGER + 1,).
    """
    whole, moments = _inner_moments(inside)
    log_excess = math.log(math.expm1(min(pure, 50.0))) if pure > 0 else -math.inf
    caps = np.minimum(math.log(2.0), np.concatenate(([0.0], whole[1:] * log_excess)))
    caps[2] = _log(min(-4 * math.expm1(-moments[2]), math.exp(caps[2])))
    caps[:2] = 0.0, -np.inf
    return _log_row_sums(_log_choose() + whole[None, :] * math.log(rate) + (moments + caps)[None, :])


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _inner_moments(inside: Curve) -> tuple[Array, Array]:
    """k = 0..K and (k-1)ρ(k), which is 0 at k = 0 and 1."""
    whole = np.arange(LARGEST_INTEGER + 1, dtype=float)
    moments = np.zeros_like(whole)
    moments[2:] = (whole[2:] - 1) * inside(whole[2:])
    return whole, moments


@cache
def _log_choose() -> Array:
    """log C(α, k) for α, k = 0..K, minus infinity for k > α."""
    from scipy import special

    whole = np.arange(LARGEST_INTEGER + 1, dtype=float)
    alpha, k = whole[:, None], whole[None, :]
    with np.errstate(invalid="ignore"):
        ways = special.gammaln(alpha + 1) - special.gammaln(k + 1) - special.gammaln(np.maximum(alpha - k, 0.0) + 1)
    return np.where(k <= alpha, ways, -np.inf)


def _log_binomial(rate: float) -> Array:
    whole = np.arange(LARGEST_INTEGER + 1, dtype=float)
    rest = np.maximum(whole[:, None] - whole[None, :], 0.0)
    return _log_choose() + whole[None, :] * math.log(rate) + rest * math.log1p(-rate)


def _log_row_sums(terms: Array) -> Array:
    """log sum exp of every row α >= 2, and 0 for α = 0, 1: the values of (α-1)ρ(α) at whole orders, with slack."""
    peak = np.max(terms, axis=1)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    total = safe + np.log(np.sum(np.exp(terms - safe[:, None]), axis=1))
    total = np.where(np.isfinite(peak), total, peak) + 2.0**-44 * (1 + 2.0**-6 * np.arange(len(peak)))
    total[:2] = 0.0
    clipped: Array = np.maximum(total, 0.0)
    return clipped


def chords(orders: Array, whole_values: Array, inside: Curve) -> Array:
    """ρ(α) at any order from (α-1)ρ(α) at whole ones; never above the curve inside (joint quasi-convexity).

    whole_values: shape (LARGEST_INTEGER + 1,). orders, result: shape (orders,).
    """
    reachable = orders <= LARGEST_INTEGER
    left = np.minimum(np.floor(orders).astype(np.int64), LARGEST_INTEGER - 1)
    share: Array = np.clip(orders - left, 0.0, 1.0)
    low, high = whole_values[left], whole_values[left + 1]
    with np.errstate(invalid="ignore"):
        chord: Array = np.where(share == 0, low, np.where(share == 1, high, (1 - share) * low + share * high))
    bound, unsampled = per_order(chord, orders), inside(orders)
    least: Array = np.where(reachable, np.minimum(bound, unsampled), unsampled)
    return least
