"""From Rényi divergence to (ε, δ): three conversions, the smallest taken at every order. Also hockey-stick from ρ."""

from __future__ import annotations

import math

import numpy as np

from refdp.accounting.arrays import Array


def per_order(log_moment: Array, orders: Array) -> Array:
    """ρ(α) = log E[R^α] / (α - 1). log_moment, orders, result: shape (orders,)."""
    rho: Array = log_moment / (orders - 1)
    return rho


def mironov(orders: Array, rho: Array, delta: float) -> Array:
    """ε = ρ + log(1/δ)/(α-1)   (Mironov 2017, Proposition 3). orders, rho, result: shape (orders,)."""
    return rho + per_order(np.full_like(orders, -math.log(delta)), orders)


def canonne(orders: Array, rho: Array, delta: float) -> Array:
    """ε = ρ + log((α-1)/α) - (log δ + log α)/(α-1)   (Canonne, Kamath, Steinke 2020, Proposition 12).

    orders, rho, result: shape (orders,).
    """
    return rho + np.log1p(-1 / orders) - per_order(math.log(delta) + np.log(orders), orders)


def asoodeh(orders: Array, rho: Array, delta: float) -> Array:
    """ε = log(1 + (e^{(α-1)ρ} - 1)/(αδ))/(α-1)   (Asoodeh et al. 2020, Theorem 3).

    For every order and δ: the convex r^α - 1 - α(r - 1) >= 0 has slope α(e^{(α-1)ε} - 1) at r = e^ε, so that its mean
    e^{(α-1)ρ} - 1 is at least that slope times the mean of (r - e^ε)_+, which is δ.
    orders, rho, result: shape (orders,).
    """
    exponent = (orders - 1) * rho
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        log_excess = np.where(exponent > 30, exponent, np.log(np.expm1(np.minimum(exponent, 30))))
        return per_order(np.logaddexp(0.0, log_excess - np.log(orders) - math.log(delta)), orders)


def epsilons(orders: Array, rho: Array, delta: float) -> Array:
    """The smallest of the three at every order, never below 0. orders, rho, result: shape (orders,).

    `canonne` is below `mironov` at every order: log(1 - 1/α) and -log(α)/(α-1) are both negative.
    """
    less, log_orders = orders - 1, np.log(orders)
    share = (math.log(delta) + log_orders) / less
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        exponent = less * rho
        log_excess = exponent + np.log(-np.expm1(-exponent))
        hockey = np.logaddexp(0.0, log_excess - log_orders - math.log(delta)) / less
        best = np.minimum(rho + np.log1p(-1 / orders) - share, hockey)
    clean: Array = np.where(np.isnan(best), np.inf, np.maximum(best, 0.0))
    return clean


def log_deltas(orders: Array, rho: Array, epsilon: float) -> Array:
    """log δ(ε) at every order, by the inverse of `canonne`: (α-1)(ρ - ε) + (α-1) log(1-1/α) - log α, at most 0.

    orders, rho, result: shape (orders,).
    """
    with np.errstate(over="ignore"):
        log_delta = (orders - 1) * (rho - epsilon + np.log1p(-1 / orders)) - np.log(orders)
    clean: Array = np.minimum(np.nan_to_num(log_delta, nan=0.0, posinf=0.0), 0.0)
    return clean
