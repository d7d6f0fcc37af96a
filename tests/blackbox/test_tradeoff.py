"""Trade-off curves: the band encloses the exact curve, and Gaussian bounds are valid where their assumption holds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from refdp.accounting import gaussian
from refdp.audit.tradeoff import GAUSSIAN, allowed, gaussian_lower_bound, trade_off
from refdp.audit.zoo.counts import ONE, noisy, normal
from refdp.errors import InvalidParameter


def test_the_band_encloses_the_exact_curve() -> None:
    """Confidence 1 - 1e-6. Both errors of a threshold t on the count are exact Laplace tails."""
    curve = trade_off(noisy(1.0), ONE, confidence=1 - 1e-6, samples=20_000, seed=1, low_bits=False)
    assert curve.statistic == "output 0"
    for low, high, other_low, other_high in zip(
        curve.lower_alarm, curve.upper_alarm, curve.lower_missed, curve.upper_missed, strict=True
    ):
        reached = stats.laplace.sf(stats.laplace.isf(np.linspace(low, high, 200)) - 1)  # power at that false alarm
        assert (1 - reached).min() - 1e-9 <= other_high and other_low <= (1 - reached).max() + 1e-9
    assert (curve.upper_missed >= allowed(curve.upper_alarm, 1.0)).all()
    assert (curve.upper_missed < allowed(curve.upper_alarm, 0.5)).any()  # half of epsilon is refuted


def test_allowed_errors() -> None:
    x = np.array([0.0, 0.1, 0.5, 1.0])
    assert allowed(x, 0.0).tolist() == pytest.approx((1 - x).tolist())
    assert allowed(np.array([0.0]), 3.0, 0.1)[0] == pytest.approx(0.9)
    assert allowed(np.array([1.0]), 3.0)[0] == 0.0


def test_gaussian_bounds_are_close_and_below() -> None:
    """Each of 20 bounds is above the truth with chance at most 1e-7."""
    for seed in range(20):
        found = gaussian_lower_bound(normal(2.0), ONE, 1e-5, confidence=1 - 1e-7, samples=20_000, seed=seed)
        assert 0.3 < found.mu <= 0.5
        assert found.epsilon <= gaussian.epsilon(0.5, 1e-5)
        assert found.assumption == GAUSSIAN
    assert gaussian_lower_bound(normal(1.0), ONE, 1e-5, samples=20_000).mu > 0.5  # the mutant with half the noise


def test_why_it_is_no_verdict_on_other_mechanisms() -> None:
    """A Laplace count is (1, 0) private; read as Gaussian, the same runs would "show" more than that."""
    assert gaussian_lower_bound(noisy(1.0), ONE, 1e-5, samples=20_000).epsilon > 1.0


def test_bad_input() -> None:
    with pytest.raises(InvalidParameter, match="delta = 0"):
        gaussian_lower_bound(normal(1.0), ONE, 0.0)
