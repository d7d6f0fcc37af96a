"""δ(ε) from samples of the privacy loss: an unbiased estimate, with confidence bounds that hold for any sample size.

δ(ε) = E_P[(1 - e^{ε-L})_+] for L = log dP/dQ of the whole run, drawn under P. The summands lie in [0, 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from refdp.accounting.arrays import Array
from refdp.data.numbers import greatest, least
from refdp.errors import InvalidParameter


@dataclass(frozen=True)
class DeltaEstimate:
    """estimate is unbiased; lower <= δ(ε) <= upper, each side failing with probability at most (1 - confidence)/2."""

    epsilon: float
    estimate: float
    lower: float
    upper: float
    confidence: float
    samples: int


def estimate_delta(losses: Array, epsilon: float, confidence: float = 0.99) -> DeltaEstimate:
    """δ(ε) from independent losses under P; an infinite loss is an output that Q cannot produce.

    Bounds: a mean of [0, 1]-valued summands obeys P(mean >= m) <= exp(-n KL(m ‖ δ)) (Hoeffding 1963, Theorem 1);
    inverting it gives the Chernoff interval, as good as Clopper and Pearson's up to a small factor and valid for
    non-binary summands. The other bound used is the empirical Bernstein bound (Maurer, Pontil 2009, Theorem 4),
    better for small variance. Both are computed at half the error each, and the tighter one is taken.
    Errors: InvalidParameter for an empty sample, a NaN, or a confidence outside (0, 1). losses: shape (samples,).
    """
    sample = np.asarray(losses, dtype=float).ravel()
    if sample.size == 0 or bool(np.isnan(sample).any()):
        raise InvalidParameter(f"{sample.size} losses: allowed is a non-empty array without NaN")
    if not 0 < confidence < 1:
        raise InvalidParameter(f"confidence {confidence!r}: allowed are numbers in (0, 1)")
    gains = -np.expm1(np.minimum(0.0, epsilon - sample))
    mean, log_error = float(gains.mean()), math.log(4 / (1 - confidence))
    reach = _bernstein(gains, log_error)
    lower, upper = _chernoff(mean, len(gains), log_error)
    bounds = max(lower, mean - reach, 0.0), min(upper, mean + reach, 1.0)
    return DeltaEstimate(epsilon, mean, *bounds, confidence, len(gains))


def _chernoff(mean: float, count: int, log_error: float) -> tuple[float, float]:
    """The δ below and above `mean` at which exp(-n KL(mean ‖ δ)) is the error allowed on one side."""
    level = log_error / count

    def far(other: float) -> bool:
        return _divergence(mean, other) >= level

    lower = 0.0 if mean == 0 else greatest(lambda x: far(mean * x), 0.0, 1.0, 1e-9) * mean
    return lower, 1.0 if mean == 1 else least(lambda x: x > mean and far(x), mean, 1.0, 1e-9)


def _divergence(p: float, q: float) -> float:
    """KL(p ‖ q) of Bernoulli variables."""
    if (q <= 0 and p > 0) or (q >= 1 and p < 1):
        return math.inf
    first = p * math.log(p / q) if p > 0 else 0.0
    return first + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


def _bernstein(gains: Array, log_error: float) -> float:
    if len(gains) < 2:
        return 1.0
    variance = float(gains.var(ddof=1))
    return math.sqrt(2 * variance * log_error / len(gains)) + 7 * log_error / (3 * (len(gains) - 1))
