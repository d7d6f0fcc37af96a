"""Binomial masses to a relative accuracy that does not depend on the number of trials.

Loader 2000, "Fast and accurate computation of binomial probabilities": with D(x, M) = x log(x/M) - x + M and Stirling's
remainder S(x) = log(x!) - log(sqrt(2πx) (x/e)^x), the logarithm of the mass is

    S(n) - S(x) - S(n - x) - D(x, np) - D(n - x, nq) - log(2π x (n - x)/n) / 2.

All terms are as small as the logarithm itself, whereas the differences of log-gammas cancel.
"""

from __future__ import annotations

import math

import numpy as np

from refdp.accounting.arrays import Array

_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_SMALL = 16


def log_masses_above(successes: Array, trials: int, log_odds: float) -> Array:
    """Upper bounds on log P(X = x), X binomial of `trials` with P(success) = 1/(1 + e^-log_odds).

    successes: whole numbers 0..trials, any shape. log_odds: at least 0. The bound covers the rounding of the
    probabilities (each to 4 units of 2^-53, which moves D(x, M) by that times |x - M|) and of the terms (relative).
    """
    failures = trials - successes
    odds = math.exp(-log_odds)
    yes, no = trials / (1 + odds), max(trials * odds / (1 + odds), 1e-300)
    deviance = _deviance(successes, yes) + _deviance(failures, no)
    inner = (successes > 0) & (failures > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(inner, 0.5 * np.log(2 * math.pi * successes * (failures / trials)), 0.0)
    stirling = _stirling(np.array([float(trials)]))[0] * inner - (_stirling(successes) + _stirling(failures)) * inner
    slack = 2.0**-49 * (np.abs(successes - yes) + deviance + np.abs(spread) + 4)
    bound: Array = stirling - deviance - spread + slack
    return bound


def _stirling(x: Array) -> Array:
    """S(x), the asymptotic series from 16 on (its first omitted term is below 1e-17), a table below; 0 at 0."""
    table = [0.0] + [
        math.lgamma(k + 1) - 0.5 * math.log(2 * math.pi * k) - k * math.log(k) + k for k in range(1, _SMALL)
    ]
    inverse = 1 / np.maximum(x, _SMALL)
    total = np.zeros_like(inverse)
    for coefficient in reversed(_SERIES):
        total = total * inverse * inverse + coefficient
    small = np.array(table)[np.minimum(x, _SMALL - 1).astype(np.int64)]
    value: Array = np.where(x < _SMALL, small, total * inverse)
    return value


def _deviance(x: Array, mean: float) -> Array:
    """D(x, M) = x log(x/M) - x + M: a series in v = (x - M)/(x + M) near the mean, where the closed form cancels."""
    v = (x - mean) / (x + mean)
    near = np.abs(v) < 0.1
    small = np.where(near, v, 0.0)
    total = np.zeros_like(v)
    for k in range(9, 0, -1):
        total = (total + 1 / (2 * k + 1)) * small * small
    series = (x - mean) * small + 2 * x * small * total
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(x > 0, x * np.log(x / mean), 0.0) - x + mean
    value: Array = np.maximum(np.where(near, series, far), 0.0)
    return value
