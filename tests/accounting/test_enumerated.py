"""Grids and tests on small laws: against everything enumerated."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from refdp.accounting import grid, statistic
from refdp.accounting.arrays import Array
from refdp.accounting.grid import Measure
from refdp.accounting.pairs import GaussianPair, NoPair, Outcomes
from refdp.accounting.statistic import Power, Statistic

LAW = ((0.125, 0.25), (0.25, 0.375), (0.125, 0.0625), (0.375, 0.25), (0.125, 0.0625))
"""(P, Q) of every outcome, exact floats; losses from -0.69 to 0.69, one of them twice."""
PAIR = Outcomes(LAW)


def profile(law: Any, epsilon: float) -> float:
    """sum (p - e^ε q)_+."""
    return math.fsum(max(0.0, float(p) - math.exp(epsilon) * float(q)) for p, q in law)


# --- Measures on a grid -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0.01, 0.07, 0.5])
def test_a_measure_keeps_both_masses_and_the_profile_at_the_grid(step: float) -> None:
    measure = grid.pessimistic(PAIR, step, -60.0)
    assert measure.start == math.floor(-math.log(2) / step)
    assert measure.start + len(measure.mass) - 1 == math.ceil(math.log(2) / step)
    assert 1 <= float(measure.mass.sum()) <= 1 + 1e-11 and measure.infinity == 0.0
    assert float(measure.mass @ np.exp(-measure.losses)) == pytest.approx(1.0, abs=1e-11)
    for epsilon in measure.losses:
        found = float(measure.mass @ np.maximum(-np.expm1(epsilon - measure.losses), 0.0))
        assert -1e-15 <= found - profile(LAW, epsilon) < 1e-11
    assert PAIR.rounding.blur <= measure.blur <= PAIR.rounding.blur + 2.0**-46


@pytest.mark.parametrize("log_cut", [-5.0, -20.0])
@pytest.mark.parametrize("step", [0.001, 0.3])
def test_the_extent_is_the_least_outside_of_which_little_lies(log_cut: float, step: float) -> None:
    pair, cut = GaussianPair(0.7), math.exp(log_cut)
    first, last = grid.extent(pair, step, log_cut)
    near = step + (pair.bounds[1] - pair.bounds[0]) * 2.0**-18
    assert pair.tails(np.array([last * step])).above[0] <= cut < pair.tails(np.array([last * step - near])).above[0]
    assert pair.tails(np.array([first * step])).below[0] <= cut < pair.tails(np.array([first * step + near])).below[0]
    measure = grid.pessimistic(pair, step, log_cut)
    assert measure.infinity == pytest.approx(float(pair.tails(np.array([last * step])).above[0]), rel=1e-9)


def test_the_most_cells_are_allowed_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    first, last = grid.extent(PAIR, 0.01, -60.0)
    monkeypatch.setattr(grid, "MOST_CELLS", last - first)
    assert grid.extent(PAIR, 0.01, -60.0) == (first, last)
    monkeypatch.setattr(grid, "MOST_CELLS", last - first - 1)
    with pytest.raises(NoPair, match="cells of width"):
        grid.extent(PAIR, 0.01, -60.0)


@pytest.mark.parametrize("share", [0.0, 1e-7, 1 / 32, 0.3, 0.5, 0.97, 1 - 1e-7, 1.0])
def test_where_something_begins_to_hold_is_found(share: float) -> None:
    low, high = -3.0, 5.0
    border = low + share * (high - low)
    found = grid._least(lambda x: x >= border, low, high)
    assert border <= found <= min(high, border + 8 * 2.0**-20 * 1.001)
    assert grid._least(lambda x: x < low, low, high) == high


def test_a_measure_spread_out_stays_where_it_is() -> None:
    measure = Measure(-3, 0.5, np.array([0.25, 0.5, 0.125]), 0.25, 1e-9)
    finer = grid.spread_out(measure, 4, 0.125)
    assert (finer.start, finer.step, finer.infinity, finer.mass.size) == (-12, 0.125, 0.25, 9)
    assert {loss: m for loss, m in zip(finer.losses, finer.mass, strict=True) if m} == dict(
        zip(measure.losses, measure.mass, strict=True)
    )
    assert measure.blur < finer.blur <= measure.blur + 2.0**-45
    assert grid.spread_out(measure, 1, 0.5) is measure


def test_an_envelope_has_the_largest_upper_tail_everywhere() -> None:
    one = Measure(-2, 0.5, np.array([0.5, 0.125, 0.25]), 0.125, 1e-9)
    other = Measure(0, 0.5, np.array([0.25, 0.25, 0.25, 0.25, 0.0]), 0.0, 3e-9)
    third = Measure(-3, 0.5, np.array([0.75, 0.25]), 0.0, 2e-9)
    found = grid.envelope([one, other, third])

    def upper(measure: Measure, loss: float) -> float:
        return float(measure.mass[measure.losses >= loss].sum()) + measure.infinity

    for loss in np.arange(-4, 5) * 0.5:
        truth = max(upper(measure, loss) for measure in (one, other, third))
        assert truth <= upper(found, loss) <= truth * (1 + 1e-11)
    assert found.blur == 3e-9 and found.step == 0.5


def test_a_weighted_sum_of_measures_is_their_mixture() -> None:
    """On a grid that is finer than that of one of them; the rest is at loss 0."""
    fine = Measure(2, 0.25, np.array([0.5, 0.25]), 0.25, 1e-9)
    coarse = Measure(-3, 0.5, np.array([0.25, 0.25, 0.5]), 0.0, 1e-10)
    for given in ([(fine, 0.5), (coarse, 0.25)], [(fine, 0.75)], [(coarse, 0.75)]):
        found = grid.weighted(given, 0.25, 0.25)
        truth: dict[float, float] = {0.0: 0.25}
        for measure, weight in given:
            for loss, mass in zip(measure.losses, measure.mass, strict=True):
                truth[loss] = truth.get(loss, 0.0) + weight * mass
        infinite = sum(weight * measure.infinity for measure, weight in given)
        seen = {loss: mass for loss, mass in zip(found.losses, found.mass, strict=True) if mass}
        assert seen.keys() == truth.keys()
        for loss in truth:
            assert truth[loss] <= seen[loss] <= truth[loss] * (1 + 1e-12)
        assert infinite <= found.infinity <= infinite * (1 + 1e-12)
        assert max(m.blur for m, _ in given) <= found.blur <= max(m.blur for m, _ in given) + 2.0**-45


# --- Tests between two laws -------------------------------------------------------------------------------------------


def enclosed(one: Statistic, truth: dict[int, tuple[float, float]], rel: float = 1e-9) -> None:
    """Both rows of either law enclose the masses, closely. truth: (P, Q) by multiple of the step."""
    places = one.start + np.arange(one.masses.shape[1])
    assert truth.keys() <= set(places.tolist())
    for place, (p_low, p_high, q_low, q_high) in zip(places.tolist(), one.masses.T.tolist(), strict=True):
        p, q = truth.get(place, (0.0, 0.0))
        for low, high, mass in ((p_low, p_high, p), (q_low, q_high, q)):
            assert 0 <= low <= mass <= high
            assert high - low <= rel * mass + 1e-9


def by_place(law: Any, step: float) -> dict[int, tuple[float, float]]:
    """The masses by rounded loss."""
    found: dict[int, tuple[float, float]] = {}
    for p, q in law:
        place = round(math.log(p / q) / step)
        old = found.get(place, (0.0, 0.0))
        found[place] = (old[0] + p, old[1] + q)
    return found


@pytest.mark.parametrize("step", [0.01, 0.3])
def test_a_losss_statistic_has_its_masses_at_rounded_losses(step: float) -> None:
    one = statistic.rounded(PAIR, step, -60.0)
    enclosed(one, by_place(LAW, step))
    assert one.step == step
    truth = sum(p * max(0, place) * step for place, (p, _) in by_place(LAW, step).items())
    assert one.size == pytest.approx(truth, rel=1e-9)


def test_what_is_beyond_the_cut_is_scored_as_the_last() -> None:
    pair = GaussianPair(1.0)
    one = statistic.rounded(pair, 0.05, -4.0)
    low, high = (one.start + 0.5) * 0.05, (one.start + one.masses.shape[1] - 1.5) * 0.05
    for rows, mean in ((slice(0, 2), 0.5), (slice(2, 4), -0.5)):
        assert one.masses[rows, 0] == pytest.approx(norm.cdf(low - mean), rel=1e-9)
        assert one.masses[rows, -1] == pytest.approx(norm.sf(high - mean), rel=1e-9)
        inner = np.diff(norm.cdf(np.arange(one.start + 0.5, one.start + one.masses.shape[1] - 1) * 0.05 - mean))
        for row in one.masses[rows, 1:-1]:
            assert row == pytest.approx(inner, rel=1e-9)
    assert np.all(one.masses[0] < one.masses[1]) and np.all(one.masses[2] < one.masses[3])


@pytest.mark.parametrize("direction", ["first", "second"])
def test_sums_samples_and_slots_of_statistics(direction: str) -> None:
    step, rate = 0.25, 0.3
    one = statistic.rounded(PAIR, step, -60.0)
    law = by_place(LAW, step)
    twice: dict[int, tuple[float, float]] = {}
    for (a, (p, q)), (b, (r, s)) in product(law.items(), law.items()):
        old = twice.get(a + b, (0.0, 0.0))
        twice[a + b] = (old[0] + p * r, old[1] + q * s)
    enclosed(statistic.added([one, one]), twice)
    # A slot that is filled with probability `rate`
    told = {place: (rate * p, rate * q) for place, (p, q) in law.items()}
    old = told.get(0, (0.0, 0.0))
    told[0] = (old[0] + 1 - rate, old[1] + 1 - rate)
    enclosed(statistic._told(one, rate), told)
    # A sample
    view: Any = type("View", (), {"direction": direction, "step": 0.05})
    mixed = [(rate * p + (1 - rate) * q, q) if direction == "first" else (p, rate * q + (1 - rate) * p)
             for p, q in law.values()]  # fmt: skip
    enclosed(statistic._sampled(rate, one, view), by_place(mixed, 0.05))


@pytest.mark.parametrize("weight", [0.1, 0.3, 0.7, 1e-5, 0.9])
def test_no_rounding_puts_a_statistic_on_the_wrong_side(weight: float) -> None:
    """Sums, slots and samples of random masses, with every float taken as the rational that it is."""
    chance, signs = np.random.default_rng(int(weight * 1e6)), (-1, 1, -1, 1)
    first, second = (Statistic(-1, 0.5, chance.uniform(0.1, 0.3, (4, 1)) * np.ones((4, 4))) for _ in range(2))

    def bounds(found: Array, row: int, truth: list[Fraction]) -> None:
        for value, exact in zip(found[row], truth, strict=True):
            assert signs[row] * (Fraction(float(value)) - exact) >= 0

    share = Fraction(weight)
    for row in range(4):
        a, b = ([Fraction(float(m)) for m in one.masses[row]] for one in (first, second))
        slot = [share * m for m in a]
        bounds(statistic._told(first, weight).masses, row, [slot[0], slot[1] + 1 - share, *slot[2:]])
        truth = [sum((a[i] * b[n - i] for i in range(4) if 0 <= n - i < 4), Fraction(0)) for n in range(7)]
        bounds(statistic.added([first, second]).masses, row, truth)
    view: Any = type("View", (), {"direction": "second", "step": 100.0})  # everything is scored 0
    p, q = (Fraction(float(first.masses[row, 0])) for row in (1, 3))
    sampled = statistic._sampled(weight, first, view).masses
    bounds(sampled, 1, [4 * p])
    bounds(sampled, 3, [4 * (share * q + (1 - share) * p)])
    low_p, low_q = (Fraction(float(first.masses[row, 0])) for row in (0, 2))
    bounds(sampled, 2, [4 * (share * low_q + (1 - share) * low_p)])


@pytest.mark.parametrize(("start", "zero"), [(2, 0), (-9, 9)])
def test_a_slot_of_losses_of_one_sign_reaches_to_nothing(start: int, zero: int) -> None:
    one = Statistic(start, 0.5, np.full((4, 3), 1 / 3))
    told = statistic._told(one, 0.75)
    truth = {start + i: (0.25, 0.25) for i in range(3)} | {0: (0.25, 0.25)}
    enclosed(told, truth)
    assert told.masses.shape[1] == max(truth) - min(truth) + 1
    assert told.start + int(zero) == 0


def sums(law: dict[int, tuple[float, float]], count: int) -> dict[int, tuple[float, float]]:
    """The law of the sum of so many."""
    total = {0: (1.0, 1.0)}
    for _ in range(count):
        longer: dict[int, tuple[float, float]] = {}
        for (a, (p, q)), (b, (r, s)) in product(total.items(), law.items()):
            old = longer.get(a + b, (0.0, 0.0))
            longer[a + b] = (old[0] + p * r, old[1] + q * s)
        total = longer
    return total


@pytest.mark.parametrize("tilt", [1.0, 2.0])
@pytest.mark.parametrize("most", [2**17, 7])
def test_tests_on_a_sum_are_those_of_its_thresholds(tilt: float, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """P(T >= t) from below, Q(T >= t) from above, and the best of them. most: thresholds that are tried."""
    monkeypatch.setattr(statistic, "_THRESHOLDS", most)
    step = 0.25
    one, law = statistic.rounded(PAIR, step, -60.0), sums(by_place(LAW, step), 3)
    found = statistic.power_of([(one, 3)], tilt)
    every = statistic.power_of([(one, 3)], tilt, every=True)
    stride = max(1, math.ceil(len(every.above) / len(found.above) - 1e-9))
    assert len(found.above) <= most + 1 and (stride > 1) == (most == 7)
    assert np.array_equal(found.above, every.above[::stride]) and np.array_equal(found.above_q, every.above_q[::stride])
    for i, (above, above_q) in enumerate(zip(every.above, every.above_q, strict=True)):
        p = math.fsum(p for place, (p, _) in law.items() if place >= every.start + i)
        q = math.fsum(q for place, (_, q) in law.items() if place >= every.start + i)
        assert above <= p * (1 + 1e-15) and above_q >= min(1.0, q) * (1 - 1e-15)
        assert p - above < 1e-6 and above_q - q < 1e-6
    assert every.start <= min(law) and every.start + len(every.above) > max(law)
    for epsilon in (0.2, 0.9):
        best = max(sum(p - math.exp(epsilon) * q for place, (p, q) in law.items() if place >= t) for t in law)
        assert best - 1e-5 < every.delta(epsilon) <= best
        assert every.delta(epsilon) >= found.delta(epsilon)
        assert epsilon - 1e-4 < every.epsilon(best) <= epsilon


def test_the_best_test_is_chosen_for_every_question() -> None:
    """P(S) - e^ε Q(S) at given ε, log((P(S) - δ) / Q(S)) at given δ; nothing where no test shows anything."""
    above, above_q = np.array([1.0, 0.75, 0.5, 0.125]), np.array([1.0, 0.5, 0.125, 0.0])
    power = Power(0, above, above_q)
    for epsilon in (0.0, 0.3, 1.2, 30.0):
        best = max(a - math.exp(epsilon) * q for a, q in zip(above, above_q, strict=True))
        assert power.delta(epsilon) == pytest.approx(best, abs=1e-12)
    assert power.delta(701.0) == 0.0
    for delta in (0.13, 0.2, 0.25):
        truth = max(0.0, *(math.log((a - delta) / q) for a, q in zip(above, above_q, strict=True) if a > delta and q))
        assert truth - 1e-9 < power.epsilon(delta) <= truth
    assert Power(0, np.array([0.25]), np.array([0.5])).epsilon(0.25) == 0.0
    assert Power(0, np.array([0.25]), np.array([0.5])).delta(1.0) == 0.0
    assert Power(0, np.array([0.25]), np.array([0.5])).epsilon(0.0) == 0.0
    assert Power(0, np.array([0.0]), np.array([1.0])).delta(-1.0) == pytest.approx(1 - math.exp(-1), abs=1e-12)


@pytest.mark.parametrize("row", [0, 1, 2, 3])
def test_a_sides_ends_hold_mass_and_it_has_two_cells(row: int) -> None:
    masses = np.zeros((4, 9))
    masses[:, 3:7] = 0.25, 0.0, 0.25, 0.5
    side = statistic._side(Statistic(-5, 0.5, masses), row)
    assert (side.start, side.step, side.mass.tolist()) == (-2, 0.5, [0.25, 0.0, 0.25, 0.5])
    assert side.above == (row % 2 == 1) and (side.infinity, side.blur) == (0.0, 0.0)
    for at in (0, 4, 8):
        masses[:] = 0.0
        masses[:, at] = 1.0
        alone = statistic._side(Statistic(-5, 0.5, masses), row)
        assert (alone.start, alone.mass.tolist()) == (at - 5, [1.0, 0.0])
