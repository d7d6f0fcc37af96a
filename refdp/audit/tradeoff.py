"""Trade-off curves from runs: what a test of one neighbour against the other can at best achieve.

The confidence band assumes nothing. `gaussian_lower_bound` reads it as Gaussian differential privacy, and everything it
says holds only if the mechanism's own trade-off curve is that of some pair N(0, 1), N(mu, 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from refdp.accounting import gaussian
from refdp.audit.binomial import at_least, at_most
from refdp.audit.events_choice import choose
from refdp.audit.runs import InProcess, as_pair
from refdp.checks import check_count, check_number

Floats = NDArray[np.float64]

POINTS = 41
"""Thresholds at which the curve is measured."""
GAUSSIAN = "the mechanism's trade-off curve is exactly that of N(0, 1) against N(mu, 1) for some mu"


@dataclass(frozen=True)
class Curve:
    """Errors of the tests "second if the statistic is beyond t", at POINTS thresholds fixed beforehand.

    false_alarm: share of first-side runs called second; missed: of second-side runs called first. lower_* and upper_*
    enclose the true ones, all together with probability at least `confidence` (Bonferroni, Clopper and Pearson).
    scores: the statistic's values of the test runs on both sides, larger meaning first.
    """

    statistic: str
    confidence: float
    tested: int
    false_alarm: Floats
    missed: Floats
    lower_alarm: Floats
    upper_alarm: Floats
    lower_missed: Floats
    upper_missed: Floats
    scores: tuple[Floats, Floats]


@dataclass(frozen=True)
class GaussianBound:
    """A lower bound of mu, and of epsilon at delta, under `assumption` only: no verdict on other mechanisms."""

    mu: float
    epsilon: float
    delta: float
    confidence: float
    samples: int
    assumption: str = GAUSSIAN

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dict(vars(self))


def trade_off(
    mechanism: Any, pair: Any, *, confidence: float = 0.99, samples: int = 20_000, seed: int = 0, low_bits: bool = True
) -> Curve:
    """Measure the trade-off curve of one statistic: the one whose best event promises most on the first half of runs.

    Error: all enclosures hold together with probability at least `confidence`, for any mechanism.
    """
    check_count("samples", samples, least=100, most=10**9)
    check_number("confidence", confidence, above=0, below=1)
    return curve_from(*InProcess(mechanism, as_pair(pair), seed).upto(samples), confidence, low_bits=low_bits)


def curve_from(first: Floats, second: Floats, confidence: float, *, low_bits: bool = True) -> Curve:
    """`trade_off` from outputs that are there already, one row a run. first, second: shape (runs, columns)."""
    half = len(first) // 2
    error = (1 - confidence) / (4 * POINTS)
    choice, _ = choose(first[:half], second[:half], len(first) - half, 0.0, error, low_bits=low_bits)
    towards_first = (choice.event.comparison != "<=") != choice.swapped
    a, b = ((1.0 if towards_first else -1.0) * choice.event.statistic(side) for side in (first, second))
    thresholds = np.unique(np.quantile(np.concatenate([a[:half], b[:half]]), np.linspace(0.01, 0.99, POINTS)))
    return curve_of(a[half:], b[half:], thresholds, confidence, choice.event.statistic.words)


def curve_of(first: Floats, second: Floats, thresholds: Floats, confidence: float, statistic: str) -> Curve:
    """The curve of a statistic (larger meaning first) at thresholds that do not come from these runs.

    first, second: shape (runs,); thresholds: shape (thresholds,).
    """
    error, runs = (1 - confidence) / (4 * len(thresholds)), len(first)
    alarms = np.array([np.count_nonzero(first < t) for t in thresholds], dtype=np.float64)
    misses = np.array([np.count_nonzero(second >= t) for t in thresholds], dtype=np.float64)
    return Curve(
        statistic=statistic,
        confidence=confidence,
        tested=runs,
        false_alarm=alarms / runs,
        missed=misses / runs,
        lower_alarm=at_least(alarms, runs, error),
        upper_alarm=at_most(alarms, runs, error),
        lower_missed=at_least(misses, runs, error),
        upper_missed=at_most(misses, runs, error),
        scores=(first, second),
    )


def allowed(false_alarm: Floats, epsilon: float, delta: float = 0.0) -> Floats:
    """f(x) = max(0, 1 - delta - e^epsilon x, e^-epsilon (1 - delta - x)): fewest misses under (epsilon, delta) privacy.

    Wasserman, Zhou 2010; Kairouz, Oh, Viswanath 2015.

    Of the shape of false_alarm.
    """
    steep = 1 - delta - np.exp(epsilon) * false_alarm
    flat = np.exp(-epsilon) * (1 - delta - false_alarm)
    return np.asarray(np.maximum(0.0, np.maximum(steep, flat)))


def gaussian_lower_bound(
    mechanism: Any,
    pair: Any,
    delta: float,
    *,
    confidence: float = 0.99,
    samples: int = 20_000,
    seed: int = 0,
    low_bits: bool = False,
) -> GaussianBound:
    """mu, and epsilon at delta, from below, if the mechanism is Gaussian (see GAUSSIAN); says nothing otherwise.

    mu = quantile(1 - false alarms) - quantile(misses) at every threshold, with both errors' upper bounds; the best of
    them, which is valid because all bounds hold together.
    Error: P(mu > true mu) <= 1 - confidence under the assumption.
    Errors: InvalidParameter for delta outside (0, 1).
    """
    check_number("delta", delta, above=0, below=1)
    curve = trade_off(mechanism, pair, confidence=confidence, samples=samples, seed=seed, low_bits=low_bits)
    mus = -special.ndtri(curve.upper_alarm) - special.ndtri(curve.upper_missed)
    mu = max(0.0, float(np.max(mus)))
    return GaussianBound(mu, gaussian.epsilon(mu, delta) if mu else 0.0, delta, confidence, samples)
