"""Exact bounds, by exact enumeration: the chance that a bound is wrong never exceeds its error. A mutant's does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from refdp.audit.binomial import Counts, at_least, at_most, clopper_pearson

RUNS = 40


@pytest.mark.parametrize("error", [0.05, 1e-3])
def test_one_sided_bounds_hold_for_every_chance(error: float) -> None:
    counts = np.arange(RUNS + 1)
    lower, upper = at_least(counts, RUNS, error), at_most(counts, RUNS, error)
    for p in np.linspace(0, 1, 201):
        masses = stats.binom.pmf(counts, RUNS, p)
        assert masses[lower > p].sum() <= error * (1 + 1e-9)
        assert masses[upper < p].sum() <= error * (1 + 1e-9)
    assert lower[-1] == pytest.approx(error ** (1 / RUNS))
    assert upper[0] == pytest.approx(1 - error ** (1 / RUNS))


def wrong(bound: Callable[[Counts], float], runs: int, p: float, q: float, epsilon: float) -> float:
    """Exact chance that a bound from independent sides exceeds epsilon."""
    likelier, other = (stats.binom.pmf(np.arange(runs + 1), runs, chance) for chance in (p, q))
    return float(
        sum(
            likelier[here] * other[there] * (bound(Counts(here, there, runs)) > epsilon)
            for here, there in itertools.product(range(runs + 1), repeat=2)
        )
    )


def point_estimate(counts: Counts) -> float:
    """A mutant: the ratio of frequencies, as if there were no chance."""
    return math.log((counts.likelier + 1e-9) / (counts.other + 1e-9))


@pytest.mark.parametrize(("p", "delta"), [(0.5, 0.0), (0.9, 0.0), (0.3, 0.1)])
def test_the_ratio_is_wrong_less_often_than_stated(p: float, delta: float) -> None:
    error, epsilon, runs = 0.05, 1.0, 14
    q = (p - delta) / math.e
    assert wrong(lambda c: clopper_pearson(c, delta, error), runs, p, q, epsilon) <= error
    assert wrong(point_estimate, runs, p, q, epsilon) > error


def test_bounds_grow_with_evidence_and_are_zero_without() -> None:
    none, some, much = Counts(10, 10, 100), Counts(90, 1, 100), Counts(9_000, 100, 10_000)
    assert clopper_pearson(none, 0.0, 1e-6) == 0.0
    assert 0 < clopper_pearson(some, 0.0, 1e-6) < clopper_pearson(much, 0.0, 1e-6) < math.log(90)


def test_the_ratio_is_of_both_bounds_with_half_the_error_each() -> None:
    """By bisection of binomial tails; 0 where the likelier side has no more than delta, or less than the other."""
    for likelier, other, delta, error in ((12, 3, 0.0, 0.1), (14, 2, 0.2, 0.02), (14, 0, 0.0, 0.02), (1, 0, 0.0, 0.1)):
        low, high = 0.0, 1.0
        for _ in range(60):
            p = (low + high) / 2
            low, high = (p, high) if stats.binom.sf(likelier - 1, 14, p) < error / 2 else (low, p)
        least, low, high = low - delta, 0.0, 1.0
        for _ in range(60):
            q = (low + high) / 2
            low, high = (q, high) if stats.binom.cdf(other, 14, q) > error / 2 else (low, q)
        expected = max(0.0, math.log(least / high))
        assert clopper_pearson(Counts(likelier, other, 14), delta, error) == pytest.approx(expected, abs=1e-9)
    assert clopper_pearson(Counts(2, 0, 14), 0.5, 0.1) == 0.0 == clopper_pearson(Counts(0, 0, 14), 0.0, 0.1)
    assert at_least(0, 9, 0.1) == 0.0 and at_most(9, 9, 0.1) == 1.0
    assert at_least(1, 9, 0.1) == pytest.approx(1 - 0.9 ** (1 / 9)) and at_most(8, 9, 0.1) == pytest.approx(
        0.9 ** (1 / 9)
    )
