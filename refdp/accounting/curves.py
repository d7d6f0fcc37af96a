"""Rényi curves of single mechanisms, vectorised over orders α > 1, in forms that do not cancel for small parameters.

Each function returns ρ(α) = D_α(P ‖ Q) of the dominating pair (symmetric, so both directions), for an array of orders.
"""

from __future__ import annotations

import math

import numpy as np

from refdp.accounting.arrays import Array
from refdp.accounting.conversion import per_order

_FAR = 500.0
"""Ranges beyond have shares near e^-range, which underflow: they are computed by their logarithms."""


def gaussian(mu: float, orders: Array) -> Array:
    """ρ = α μ² / 2   (Mironov 2017, Proposition 7). orders, result: shape (orders,)."""
    return 0.5 * mu * mu * orders


def laplace(epsilon: float | Array, orders: Array) -> Array:
    """ρ = log(α e^{(α-1)ε} / (2α-1) + (α-1) e^{-αε} / (2α-1)) / (α-1)   (Mironov 2017, Proposition 6).

    orders, result: shape (orders,).
    """
    up, down = (orders - 1) * epsilon, -orders * epsilon
    share = orders / (2 * orders - 1)
    near = (up < 1) & (down > -1)
    if near.all():
        up_excess, down_excess = expm1_excess(np.array([up, down]))
        return per_order(np.log1p(share * up_excess + (1 - share) * down_excess), orders)
    up_excess, down_excess = expm1_excess(np.array([np.minimum(up, 1.0), np.maximum(down, -1.0)]))
    small = np.log1p(share * up_excess + (1 - share) * down_excess)
    large = up + np.log(share + (1 - share) * np.exp(down - up))
    return per_order(np.where(near, small, large), orders)


def discrete_laplace(rate: float, shift: int, orders: Array) -> Array:
    """Discrete Laplace of decay e^{-r}, n integers apart; by the three geometric sums of its density ratio.

    E_Q[R^α] = (1 - x)/(1 + x) · (x^{-(α-1)n} + x^{αn}) / (1 - x) + the sum over the n - 1 points between, where
    x = e^{-r} and the point z (0 < z < n) contributes P(z)^α Q(z)^{1-α} = (1 - x)/(1 + x) x^{αz + (1-α)(n-z)}.
    One step is randomised response. The logarithm of sums near 1 is off by what the sums are rounded by, which is
    added; where losses are so small that this is much, the curve of any mechanism of that pure ε is below.
    orders, result: shape (orders,).
    """
    capped = randomised_response(shift * rate * (1 + 2.0**-52), orders)
    if shift == 1:
        return capped
    norm = np.tanh(rate / 2)  # (1 - x) / (1 + x)
    step = (2 * orders - 1) * rate
    outer = np.logaddexp((orders - 1) * shift * rate, -orders * shift * rate) - np.log1p(np.exp(-rate))
    first = np.log(norm) - orders * rate + (orders - 1) * (shift - 1) * rate
    inner = first + np.log(-np.expm1(-(shift - 1) * step)) - np.log(-np.expm1(-step))
    rounding = 2.0**-48 * (4 + 2 * orders * shift * rate + np.abs(np.log(norm)))
    return np.minimum(per_order(np.maximum(np.logaddexp(outer, inner), 0.0) + rounding, orders), capped)


def randomised_response(epsilon: float, orders: Array) -> Array:
    """The largest curve of any ε-DP mechanism: log(s e^{(α-1)ε} + (1-s) e^{-(α-1)ε}) / (α-1), s = 1/(1 + e^{-ε}).

    Always below min(ε, αε²/2) (Bun, Steinke 2016, Proposition 3.3); the pair is extremal (Kairouz, Oh, Viswanath 2015).
    orders, result: shape (orders,).
    """
    if epsilon == np.inf:
        return np.full_like(orders, np.inf)
    share, up = 1 / (1 + np.exp(-epsilon)), (orders - 1) * epsilon
    inside = np.minimum(up, 1.0)
    small = share * expm1_excess(inside) + (1 - share) * expm1_excess(-inside) + np.tanh(epsilon / 2) * inside
    large = up + np.log(share) + np.log1p(np.exp(-epsilon - 2 * up))
    return np.minimum(per_order(np.where(up < 1, np.log1p(small), large), orders), epsilon)


def bounded_range(epsilon: float, orders: Array) -> Array:
    """sup_t log(q e^{αt} + (1-q) e^{α(t-ε)}) / (α-1), q = (e^{-t} - e^{-ε}) / (1 - e^{-ε}), at its stationary t.

    Setting the derivative to zero gives t = ε + log((α-1)/α · (1 - e^{-αε}) / (1 - e^{-(α-1)ε}))   (Dong, Durfee,
    Rogers 2020, Lemma 3.2 for the pair). Always at most αε²/8. orders, result: shape (orders,).
    """
    if epsilon > _FAR:
        return _far_range(epsilon, orders)
    tilt = bounded_range_tilt(epsilon, orders)
    share = -np.exp(-tilt) * np.expm1(tilt - epsilon) / -np.expm1(-epsilon)
    small = np.log1p(share * power_excess(orders, tilt) + (1 - share) * power_excess(orders, tilt - epsilon))
    top = orders * tilt
    with np.errstate(divide="ignore"):
        large = top + np.log(share + (1 - share) * np.exp(-orders * epsilon))
    return np.minimum(per_order(np.where(orders * epsilon < 1, small, large), orders), orders * epsilon**2 / 8)


def _far_range(epsilon: float, orders: Array) -> Array:
    """`bounded_range` by d = ε - t and the logarithms of both terms, the first of which is
    (1 - e^{-d}) e^{(α-1)(ε-d)} / (1 - e^{-ε})."""
    if epsilon == np.inf:
        return np.full_like(orders, np.inf)
    ratio = np.expm1(-orders * epsilon) / np.expm1(-(orders - 1) * epsilon)
    below = np.clip(-np.log1p(-1 / orders) - np.log(ratio), 0.0, epsilon)
    with np.errstate(divide="ignore", under="ignore"):
        first = (orders - 1) * (epsilon - below) + np.log(-np.expm1(-below)) - np.log(-np.expm1(-epsilon))
        return np.minimum(per_order(np.logaddexp(first, -orders * below), orders), epsilon)


def bounded_range_tilt(epsilon: float, orders: Array) -> Array:
    """The t at which the supremum of `bounded_range` is attained. orders, result: shape (orders,)."""
    ratio = np.expm1(-orders * epsilon) / np.expm1(-(orders - 1) * epsilon)
    return np.clip(epsilon + np.log((orders - 1) / orders * ratio), 0.0, epsilon)


def bounded_range_pair(epsilon: float, orders: Array) -> Array:
    """The pair that dominates every mechanism of range ε: E_Q[R^α] = sinh((α-½)ε) / ((2α-1) sinh(ε/2)).

    See `pairs.BoundedRange` for the pair. Larger than `bounded_range`, for uses that need one symmetric pair.
    orders, result: shape (orders,).
    """
    wide = (orders - 0.5) * epsilon
    return per_order(np.maximum(_log_sinhc(wide) - _log_sinhc(np.full_like(orders, epsilon / 2)), 0.0), orders)


_ODD = tuple(1 / math.factorial(k) for k in range(19, 1, -2))
"""The coefficients of (sinh x - x) / x³ in x², the last one first: what is left out is below 1e-19 of it on [-1, 1]."""


def expm1_excess(x: Array) -> Array:
    """e^x - 1 - x = 2 sinh²(x/2) + (sinh x - x) for |x| <= 1, without cancellation: relative error below 2^-50.

    Any shape.
    """
    square = x * x
    odd = np.full_like(x, _ODD[0])
    for coefficient in _ODD[1:]:
        odd *= square
        odd += coefficient
    odd *= square
    odd *= x
    even = np.sinh(0.5 * x)
    even *= even
    even += even
    even += odd
    return even


def power_excess(orders: Array, x: Array) -> Array:
    """e^{αx} - 1 - α(e^x - 1), which averages to E_Q[R^α] - 1 where x is the privacy loss, for α|x| <= 1.

    orders, result: shape (orders,).
    """
    inside = np.clip(orders * x, -1.0, 1.0)
    return expm1_excess(inside) - orders * expm1_excess(np.clip(x, -1.0, 1.0))


def _log_sinhc(x: Array) -> Array:
    """log(sinh(x)/x) for x >= 0: log1p of the series below 1, x + log((1 - e^{-2x}) / (2x)) above."""
    square = np.minimum(x, 1.0) ** 2
    total = np.zeros_like(x)
    for k in range(10, 0, -1):
        total = (total + 1) * square / ((2 * k) * (2 * k + 1))
    large = np.maximum(x, 1.0)
    return np.where(x < 1, np.log1p(total), large + np.log(-np.expm1(-2 * large) / (2 * large)))
