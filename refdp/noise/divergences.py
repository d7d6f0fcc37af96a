"""Exact Renyi divergences between the output distributions that mechanisms produce, in forms without cancellation.

    D_α(P || Q) = 1/(α-1) log E_P[exp((α-1) L)],   L = log dP/dQ,   α > 0  (Renyi 1961)

α = 1 is E_P[L] (Kullback-Leibler), α = ∞ the supremum of L. All functions are in nats. With φ(x) = e^x - 1 - x >= 0:

    E_P[exp((α-1) L)] - 1 = E_P[φ((α-1) L)] + (α-1) E_P[φ(-L)]    because E_P[e^-L] = 1 on a common support,

whose terms are of the size of the result, so that log1p of it keeps its digits for budgets of 1e-6 and orders near 1.
Relative errors measured against 80 digits: below 1e-11 for distances above 1e-3, below 1e-8 at 1e-6.
"""

from __future__ import annotations

import math

import numpy as np

from refdp.noise.draws import FloatArray

_SERIES = 14  # terms of φ's series: 0.25^14 / 16! < 1e-21
_THETA = np.arange(1.0, 9.0)  # terms of a theta series: the first one left out is below e^(-28 π)


def phi(x: FloatArray) -> FloatArray:
    """φ(x) = e^x - 1 - x, to full relative precision. Array of x's shape."""
    small = np.abs(x) < 0.25
    y = np.where(small, x, 0.0)
    series = np.ones_like(y)
    for k in range(_SERIES, 2, -1):
        series = 1.0 + series * y / k
    return np.asarray(np.where(small, 0.5 * y * y * series, np.expm1(x) - x))


def log_mean_exp(log_weights: FloatArray, x: FloatArray) -> FloatArray:
    """log Σ_j w_j e^(x_j) along the last axis, for weights that sum to 1 and x >= 0.

    log_weights and x of one shape (..., n); array of shape (...).
    """
    from scipy.special import logsumexp  # loaded on first use: it takes longer than the rest of a command's start

    moderate = x.max(axis=-1, initial=0.0) <= 500.0
    small = np.log1p((np.exp(log_weights) * np.expm1(np.minimum(x, 500.0))).sum(axis=-1))
    return np.asarray(np.where(moderate, small, logsumexp(log_weights + x, axis=-1)))


def table_divergence(log_p: FloatArray, log_q: FloatArray, loss: FloatArray, order: float) -> FloatArray:
    """D_α(P_i || Q_i) of each row i of tables of log masses, with loss = log p - log q where p > 0.

    log_p, log_q, loss: shape (rows, options); log masses may be -inf, loss may be +inf. Returns shape (rows,).
    """
    from scipy.special import logsumexp

    possible = log_p > -np.inf
    loss = np.where(possible, loss, 0.0)
    if order == math.inf:
        return np.asarray(np.where(possible, loss, -np.inf).max(axis=1, initial=0.0))
    if order == 1:
        return _kullback_leibler(log_p, log_q, loss)
    tilt = (order - 1.0) * loss
    near = np.abs(tilt).max(axis=1, initial=0.0) <= 1.0
    log_moment = np.empty(len(loss))
    log_moment[~near] = logsumexp(log_p[~near] + tilt[~near], axis=1)
    excess = (np.exp(log_p[near]) * phi(tilt[near])).sum(axis=1)
    log_moment[near] = np.log1p(excess + (order - 1.0) * _kullback_leibler(log_p[near], log_q[near], loss[near]))
    return np.asarray(np.maximum(log_moment / (order - 1.0), 0.0))


def _kullback_leibler(log_p: FloatArray, log_q: FloatArray, loss: FloatArray) -> FloatArray:
    """Σ_j p_j φ(-L_j) = Σ_j (q_j - p_j + p_j L_j), every term >= 0."""
    p, q = np.exp(log_p), np.exp(log_q)
    small = (np.abs(loss) <= 1.0) & (log_p > -np.inf)
    weighted = np.multiply(p, loss, out=np.zeros_like(p), where=p > 0.0)
    return np.asarray(np.where(small, p * phi(np.where(small, -loss, 0.0)), q - p + weighted).sum(axis=1))


def laplace_divergence(order: float, distance: FloatArray, unit: float = 0.0) -> FloatArray:
    """D_α between Laplace distributions whose centres are `distance` scales apart.

    Continuous (unit = 0; Mironov 2017, Table II), T = distance:
        1/(α-1) log[ α/(2α-1) e^((α-1)T) + (α-1)/(2α-1) e^(-αT) ];   α = 1: T + e^-T - 1;   α = 1/2: T - 2 log(1 + T/2)
    Discrete (unit = t, one step in scales): A e^((α-1)T) + B e^(-αT) in the logarithm, with r = e^-t, w = e^(-(2α-1)t),
        A = (1 - e^(-2αt)) / ((1+r)(1-w)),  B = r (1 - e^(-2(α-1)t)) / ((1+r)(1-w)),  A + B = 1,
    by summing the geometric series left of, between and right of the two centres.

    A vector whose total (L1) distance is T costs at most what a scalar at distance T costs, at every order: D_α is
    convex in T and 0 at T = 0, hence superadditive. For α > 1 both coefficients are positive, and the logarithm of a
    positive sum of exponentials is convex. The moment is the same for α and 1-α; for 1/2 <= α < 1 it is e^((α-1)T)
    times a positive increasing concave function, its logarithm is concave, and 1/(α-1) < 0. α = 1 and ∞ are limits.
    tests/mechanisms/test_exact_divergences.py checks it numerically.

    Array of the shape of `distance`.
    """
    if order == math.inf:
        return distance
    if order == 1:
        share = 1.0 if unit == 0 else 2.0 * unit * math.exp(-unit) / -math.expm1(-2.0 * unit)
        return np.asarray(phi(-distance) - (1.0 - share) * np.expm1(-distance))
    alpha = max(order, 1.0 - order)  # the moment of order 1-α is that of α, by reflection
    near = (1.0 - alpha if alpha < 1 else alpha - 1.0) * distance <= 1.0
    moved = np.where(near, distance, 0.0)
    log_moment = np.where(
        near, np.log1p(_laplace_excess(alpha, moved, unit)), _laplace_log_moment(alpha, distance, unit)
    )
    return np.asarray(np.where(distance > 0, np.maximum(log_moment / (order - 1.0), 0.0), 0.0))


def _laplace_log_moment(alpha: float, distance: FloatArray, unit: float) -> FloatArray:
    """log E_P[exp((α-1)L)] for α >= 1/2, as a sum of positive terms."""
    outer = 1.0 / (1.0 + math.exp(-unit))
    tails = outer * (1.0 + np.exp((1.0 - 2.0 * alpha) * distance))
    return np.asarray((alpha - 1.0) * distance + np.log(tails + _between(alpha, distance, unit)))


def _laplace_excess(alpha: float, distance: FloatArray, unit: float) -> FloatArray:
    """E_P[exp((α-1)L)] - 1 for α >= 1/2."""
    a, c = alpha - 1.0, 2.0 * alpha - 1.0
    outer = 1.0 / (1.0 + math.exp(-unit))
    if c < 0.1:  # the two coefficients diverge at α = 1/2 and cancel
        tails = outer * (np.expm1(a * distance) + np.expm1(-alpha * distance))
        return np.asarray(tails + math.tanh(unit / 2.0) + np.exp(a * distance) * _between(alpha, distance, unit))
    if unit == 0:
        first, second, drift = alpha / c, a / c, 0.0
    else:
        common = outer / -math.expm1(-c * unit)
        first = -math.expm1(-2.0 * alpha * unit) * common
        second = common * _signed_gap(a, unit)
        drift = a * first - alpha * second
    return np.asarray(first * phi(a * distance) + second * phi(-alpha * distance) + drift * distance)


def _signed_gap(a: float, unit: float) -> float:
    """r - w = e^-t - e^(-(2a+1)t) for a >= -1/2, without overflow, precise for small a."""
    if a > 0:
        return -math.exp(-unit) * math.expm1(-2.0 * a * unit)
    return math.exp(-(2.0 * a + 1.0) * unit) * math.expm1(2.0 * a * unit)


def _between(alpha: float, distance: FloatArray, unit: float) -> FloatArray:
    """The share of the moment strictly between the two centres, divided by e^((α-1)T)."""
    from scipy.special import exprel

    c = 2.0 * alpha - 1.0
    if unit == 0:
        return np.asarray(0.5 * distance * exprel(-c * distance))
    x, inner = c * unit, distance / unit - 1.0
    if x > 1.0:
        series = (math.exp(-x) - np.exp(-c * distance)) / -math.expm1(-x)
    else:
        series = math.exp(-x) * inner * exprel(-x * inner) / exprel(-x)
    return np.asarray(math.tanh(unit / 2.0) * series)


def discrete_gaussian_divergence(order: float, shift: FloatArray, unit: float) -> FloatArray:
    """D_α between discrete Gaussians `shift` steps apart, unit = step / sd, τ = unit²:

        α τ shift²/2 + 1/(α-1) log[ θ((1-α) shift) / θ(0) ],   θ(s) = Σ_k exp(-τ (k-s)²/2)

    by completing the square (Canonne, Kamath, Steinke 2020, proof of Proposition 5). α = 1: τ shift²/2.

    Array of the shape of `shift`.
    """
    if order == math.inf:
        return np.asarray(np.where(shift == 0, 0.0, np.inf))
    curve = 0.5 * order * (unit * shift) ** 2
    if order == 1:
        return np.asarray(curve)
    offset = (1.0 - order) * shift
    return np.asarray(curve + _log_theta_ratio(offset - np.rint(offset), unit * unit) / (order - 1.0))


def log_theta(tau: float) -> float:
    """log Σ_k exp(-τ k²/2) over all integers k, directly or by Poisson summation, whichever converges at once."""
    if tau < 2.0 * math.pi:
        dual = float(np.exp(-2.0 * (math.pi * _THETA) ** 2 / tau).sum())
        return 0.5 * math.log(2.0 * math.pi / tau) + math.log1p(2.0 * dual)
    return math.log1p(2.0 * float(np.exp(-0.5 * tau * _THETA**2).sum()))


def _log_theta_ratio(offset: FloatArray, tau: float) -> FloatArray:
    """log θ(s) - log θ(0) for |s| <= 1/2, without cancellation for small s."""
    s = np.abs(offset)[..., np.newaxis]
    if tau < 2.0 * math.pi:
        weights = np.exp(-2.0 * (math.pi * _THETA) ** 2 / tau)
        dip = (weights * np.sin(math.pi * _THETA * s) ** 2).sum(axis=-1)
        return np.asarray(np.log1p(-4.0 * dip / (1.0 + 2.0 * weights.sum())))
    rise = np.exp(-tau * _THETA * (_THETA / 2.0 - s)) * np.expm1(-tau * _THETA * s) ** 2
    scale = 1.0 + 2.0 * np.exp(-0.5 * tau * _THETA**2).sum()
    return np.asarray(-0.5 * tau * offset**2 + np.log1p(rise.sum(axis=-1) / scale))


def bounded_range_divergence(order: float, loss_range: float) -> float:
    """The largest D_α of a pair whose privacy loss lies in some interval of length e = loss_range:

        sup over t in [0, e] of 1/(α-1) log(q e^(αt) + (1-q) e^(α(t-e))),   q = (e^-t - e^-e)/(1 - e^-e)

    (Dong, Durfee, Rogers 2020). The maximiser is t = e + log[ exprel(-αe) / exprel(-(α-1)e) ], exprel(x) = (e^x - 1)/x.
    Losses add up over rows and so do their ranges, hence the sum of the rows' ranges may stand for e.
    """
    e = loss_range
    if e == 0 or order == math.inf:
        return e
    top = min(max(_worst_top(order, e), 0.0), e)
    loss = np.array([[top, top - e]])
    with np.errstate(divide="ignore"):
        log_q = np.log(-np.expm1(np.array([[top - e, -top]]))) - math.log(-math.expm1(-e))
    log_q[0, 0] -= top
    return min(float(table_divergence(log_q + loss, log_q, loss, order)[0]), e)


def _worst_top(order: float, e: float) -> float:
    """The maximiser t; for small e as e/2 + s(αe/2) - s((α-1)e/2), s(y) = log(sinh(y)/y), whose terms shrink with e."""
    if max(order, abs(order - 1.0)) * e < 1.0:
        halves = np.array([order * e, abs(order - 1.0) * e]) / 2.0
        odd = np.divide(phi(halves) - phi(-halves), 2.0 * halves, out=np.zeros(2), where=halves > 0)
        logs = np.log1p(odd)
        return float(e / 2.0 + logs[0] - logs[1])
    return e + _log_exprel(-order * e) - _log_exprel((1.0 - order) * e)


def _log_exprel(x: float) -> float:
    """log((e^x - 1) / x) for any x, from exprel(x) = e^x exprel(-x)."""
    from scipy.special import exprel

    return max(x, 0.0) + math.log(exprel(-abs(x)))
