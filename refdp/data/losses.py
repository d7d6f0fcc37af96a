"""Losses, their derivatives with respect to the score, and absolute bounds of the derivatives.

Formulas are generic over numbers; `on_grid` is what training applies to the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refdp.data import kernels
from refdp.data.numbers import Number, absolute, exp, log, maximum
from refdp.data.records import Floats

GRID = kernels.GRID
"""Spacing of the public grid that per-record statistics are rounded to.

Sums of multiples of GRID are exact in float64 as long as they stay below 2^29, hence independent of the order of the
records, and neighbours' sums differ by exactly one record's statistic. No sensitivity is lost to rounding.
"""

LARGEST = 2.0**10
"""No bound of a statistic is larger: 2^19 records at it have exact sums.

Beyond that sums can be rounded, and an empty node, found as a parent less its sibling, can seem to hold a gradient.
Divided by a regularisation of at least GRID that stays far below any sensitivity.
"""

WIDEST = 1e100
"""No step of a score is larger, so that scores stay finite: a NaN would be an error that only some records bring."""


def on_grid(values: Floats) -> Floats:
    """Every value rounded to the nearest multiple of GRID: a function of each record alone. Any shape."""
    return np.rint(values / GRID) * GRID


def grid_floor(bound: float) -> float:
    """The largest multiple of GRID that is at most `bound` (>= 0)."""
    return float(np.floor(bound / GRID) * GRID)


def square_loss(score: Number, label: Number) -> Number:
    """l(y, s) = (s - y)^2 / 2."""
    return (score - label) * (score - label) / 2


def square_gradient(score: Number, label: Number) -> Number:
    """dl/ds = s - y. Unbounded in s; |g| <= 1 at s = 0 for y in [-1, 1]."""
    return score - label


def square_hessian(score: Number, label: Number) -> Number:
    """d^2 l/ds^2 = 1."""
    return 0 * score + 1


def sigmoid(score: Number) -> Number:
    """p = 1 / (1 + exp(-s)), in (0, 1)."""
    return 1 / (1 + exp(-score))


def log_loss(score: Number, label: Number) -> Number:
    """l(y, s) = log(1 + exp(s)) - y s for y in {0, 1}, written without overflow."""
    return maximum(score, 0 * score) + log(1 + exp(-absolute(score))) - label * score


def log_gradient(score: Number, label: Number) -> Number:
    """dl/ds = p - y, in [-1, 1], for y in {0, 1}."""
    return sigmoid(score) - label


def log_hessian(score: Number, label: Number) -> Number:
    """d^2 l/ds^2 = p (1 - p), in [0, 1/4]."""
    p = sigmoid(score)
    return p * (1 - p)


def signed_log_gradient(score: Number, label: Number) -> Number:
    """dl/ds = -2 y / (1 + exp(2 y s)), in [-2, 2], for l = log(1 + exp(-2 y s)), y in {-1, 1}."""
    return -2 * label / (1 + exp(2 * label * score))


def signed_log_hessian(score: Number, label: Number) -> Number:
    """d^2 l/ds^2 = |g| (2 - |g|), in [0, 1], for l = log(1 + exp(-2 y s)), y in {-1, 1}."""
    size = absolute(signed_log_gradient(score, label))
    return size * (2 - size)


@dataclass(frozen=True)
class Loss:
    """A loss with derivatives; bounds are suprema of |g| and h over all scores and labels (None: unbounded)."""

    name: str
    value: Callable[[Number, Number], Number]
    gradient: Callable[[Number, Number], Number]
    hessian: Callable[[Number, Number], Number]
    gradient_bound: float | None
    hessian_bound: float


SQUARE = Loss("square", square_loss, square_gradient, square_hessian, None, 1.0)
LOG = Loss("log", log_loss, log_gradient, log_hessian, 1.0, 0.25)
SIGNED_LOG = Loss(
    "signed-log",
    lambda score, label: log_loss(2 * label * score, 1),
    signed_log_gradient,
    signed_log_hessian,
    2.0,
    1.0,
)


def log_odds(probability: Floats) -> Floats:
    """log(p / (1 - p)) of probabilities, any shape, kept 1e-9 away from 0 and 1: of the mean of a random forest."""
    p = np.clip(probability, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(p) - np.log1p(-p))
