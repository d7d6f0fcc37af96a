"""Exact bounds, by exact enumeration: the chance that a bound is wrong never exceeds its error. A mutant's does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from refdp.audit.binomial import Block, Counts, at_least, at_most, betting, clopper_pearson, wealth

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
    total = 0.0
    for both, first, second in itertools.product(range(runs + 1), repeat=3):
        neither = runs - both - first - second
        if neither < 0:
            continue
        cells = (p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q))
        chance = stats.multinomial.pmf((both, first, second, neither), runs, cells)
        total += chance * (bound(Counts(both, first, second, runs)) > epsilon)
    return total


def point_estimate(counts: Counts) -> float:
    """A mutant: the ratio of frequencies, as if there were no chance."""
    return math.log((counts.on_first + 1e-9) / (counts.on_second + 1e-9))


@pytest.mark.parametrize(("p", "delta"), [(0.5, 0.0), (0.9, 0.0), (0.3, 0.1)])
def test_both_tests_are_wrong_less_often_than_stated(p: float, delta: float) -> None:
    error, epsilon, runs = 0.05, 1.0, 14
    q = (p - delta) / math.e
    assert wrong(lambda c: clopper_pearson(c, delta, error), runs, p, q, epsilon) <= error
    for bet in (0.05, 0.15, 0.3):
        assert wrong(lambda c, bet=bet: betting([Block(c, bet)], delta, error), runs, p, q, epsilon) <= error  # type: ignore[misc]
    assert wrong(point_estimate, runs, p, q, epsilon) > error


def test_wealth_is_a_fair_game_on_the_boundary_and_falls_with_epsilon() -> None:
    p, epsilon, delta, bet = 0.6, 0.7, 0.05, 0.2
    q = (p - delta) / math.exp(epsilon)
    outcomes = {(1, 0, 0): p * q, (0, 1, 0): p * (1 - q), (0, 0, 1): (1 - p) * q, (0, 0, 0): (1 - p) * (1 - q)}
    mean = sum(chance * math.exp(wealth([Block(Counts(*o, 1), bet)], epsilon, delta)) for o, chance in outcomes.items())
    assert mean == pytest.approx(1.0)
    blocks = [Block(Counts(5, 60, 3, 100), bet), Block(Counts(0, 9, 20, 50), 0.01)]
    values = [wealth(blocks, e, delta) for e in np.linspace(0, 3, 50)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == -math.inf  # a pair could then cost more than there is


def test_bounds_grow_with_evidence_and_are_zero_without() -> None:
    none, some, much = Counts(5, 5, 5, 100), Counts(0, 90, 1, 100), Counts(0, 9_000, 100, 10_000)
    assert clopper_pearson(none, 0.0, 1e-6) == betting([Block(none, 0.2)], 0.0, 1e-6) == 0.0
    assert 0 < clopper_pearson(some, 0.0, 1e-6) < clopper_pearson(much, 0.0, 1e-6) < math.log(90)
    assert 0 < betting([Block(some, 0.2)], 0.0, 1e-6) < math.log(90)
    assert betting([], 0.0, 1e-6) == 0.0
