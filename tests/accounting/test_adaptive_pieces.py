"""Adaptive selections piece by piece, on grids of a few cells, against enumerations that take milliseconds."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

from refdp.accounting import adaptive, enclosure
from refdp.accounting.adaptive import Recursion, Selections
from refdp.accounting.composition import WindowTooWide, compose
from refdp.accounting.grid import Measure
from refdp.accounting.normal import Composed, Sampled
from refdp.accounting.normal import compose as sequence
from refdp.accounting.releases import GaussianCost, LaplaceCost, RangeCost, SuppliedCost
from refdp.accounting.statistic import Power

T = np.linspace(0, 1, 2001)


def best(size: float, count: int, x: np.ndarray) -> np.ndarray:
    """δ(x) of `count` selections by 2,001 values of t, the last of them in closed form."""
    if count == 0:
        return np.maximum(-np.expm1(x), 0.0)
    t = np.clip((size + x) / 2, 0, size)[..., None] if count == 1 else T * size
    p = -np.expm1(t - size) / -math.expm1(-size)
    worth = p * best(size, count - 1, x[..., None] - t) + (1 - p) * best(size, count - 1, x[..., None] - t + size)
    return np.maximum(worth.max(axis=-1), best(size, count - 1, x))


def grid(size: float, count: int, cells: int, low: float, rest: Any = (), tilt: float = 1.0) -> Recursion:
    step = size / cells
    last = math.ceil((count * size) / step) + 2
    return Recursion(Selections(Fraction(size), count, rest), 0.0, cells, math.floor(low / step), last, tilt, -40.0)


@pytest.mark.parametrize("size", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("count", [1, 2])
def test_both_ends_enclose_the_optimum_at_every_point(size: float, count: int) -> None:
    """At answers of either sign, and closely."""
    one = grid(size, count, 48, -20.0)
    places = np.arange(-58, one.last + 1, 9)
    truth = best(size, count, one.x[places - one.first])
    above, below = one.above("first"), one.below()
    for place, exact in zip(places.tolist(), truth.tolist(), strict=True):
        upper, lower = above(place), float(below[place - one.first])
        assert lower <= exact * (1 + 1e-6) + 1e-15 and exact <= upper * (1 + 1e-12)
        assert upper - lower <= 2e-3 * exact + 1.5 * one.step**2
    assert 0 <= above(one.last) < 1e-299 and np.all(np.diff(below) <= 1e-15)


def exactly(size: float, x: float) -> mpmath.mpf:
    """δ(x) of one selection to 40 digits: the best t is half of size + x, or at an end."""
    with mpmath.workdps(40):
        x, t = mpmath.mpf(x), min(max((mpmath.mpf(size) + x) / 2, 0), size)
        p = -mpmath.expm1(t - size) / -mpmath.expm1(-size)
        worth = p * max(-mpmath.expm1(x - t), 0) + (1 - p) * max(-mpmath.expm1(x - t + size), 0)
        return max(worth, -mpmath.expm1(x), mpmath.mpf(0))


@pytest.mark.parametrize("size", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("low", [-2.0, -0.25, 0.25])
def test_ends_are_rounded_outwards_where_the_grid_has_the_best_choice(size: float, low: float) -> None:
    """There nothing but the rounding of floats lies between the lower end and the truth, wherever the grid begins."""
    one = grid(size, 1, 64, low * size)
    above, below = one.above("first"), one.below()
    for place in range(one.first, 63, 2):
        truth = exactly(size, float(one.x[place - one.first]))
        lower = float(below[place - one.first])
        assert lower <= truth <= above(place) and lower >= truth * (1 - 2.0**-44)


def test_chances_are_those_of_a_mechanism_of_one_range() -> None:
    """p e^-t + (1 - p) e^(η-t) = 1: the other law has mass 1 too."""
    for size, cells in ((0.5, 7), (2.0, 32)):
        chance, other = adaptive._chances(size, cells)
        t = np.arange(cells + 1) * size / cells
        assert np.allclose(chance + other, 1, rtol=1e-14) and chance[0] == 1 and chance[-1] == other[0] == 0
        assert np.allclose(chance * np.exp(-t) + other * np.exp(size - t), 1, rtol=1e-13)


# --- Other releases ---------------------------------------------------------------------------------------------------


def noise(step: float) -> Measure:
    return Measure(-3, step, np.array([0.25, 0.0, 0.125, 0.25, 0.0, 0.25]), 0.125, 1e-12)


@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("start", [-3, 2, -9])
def test_other_releases_are_averaged_term_by_term(start: int, scale: float) -> None:
    """Beyond the grid's lower end everything counts as 1, beyond the upper one as its last value."""
    one = grid(scale, 1, 32, -0.5)
    values = np.exp(-2 * (one.x - one.x[0]))
    measure = Measure(start, one.step, noise(one.step).mass, 0.125, 1e-12)
    found = one._followed(values, measure)
    for i in range(len(values)):
        truth = measure.infinity
        for j, mass in enumerate(measure.mass):
            at = i - start - j
            truth += mass * (1.0 if at < 0 else values[min(at, len(values) - 1)])
        assert min(truth, 1.0) <= found[i] <= min(truth * (1 + 1e-9), 1.0)
    wide = Measure(start, one.step, measure.mass, 0.125, one.step)
    assert one._followed(values, wide).tolist() == [1.0] * len(values)


@pytest.mark.parametrize("tilt", [0.5, 3.0])
@pytest.mark.parametrize("times", [1, 3])
def test_composed_releases_are_averaged_in_one_sum(times: int, tilt: float) -> None:
    """As term by term: every release after the other."""
    one = grid(1.0, 1, 32, -2.0)
    values = np.minimum(np.exp(-2 * (one.x - one.x[0])), best(1.0, 1, one.x) + 1e-9)
    measure = noise(one.step)
    composed = compose([(measure, times)], tilt)
    expected = values
    for _ in range(times):
        expected = one._followed(expected, measure)
    infinite = times * measure.infinity  # counted once for each, also where two are infinite
    for i in [0, 3, *range(12, len(values) - 1, 5), len(values) - 1]:
        seen = one._averaged(values, composed, i)
        law = {0: 1.0}
        for _ in range(times):
            law_after: dict[int, float] = {}
            for place, chance in law.items():
                for j, mass in enumerate(measure.mass):
                    at = place + measure.start + j
                    law_after[at] = law_after.get(at, 0.0) + chance * float(mass)
            law = law_after
        truth = sum(
            chance * (1.0 if place > i else float(values[min(i - place, len(values) - 1)]))
            for place, chance in law.items()
        )
        assert min(1.0, truth + infinite) <= seen * (1 + 1e-12) and seen <= truth + infinite + 1e-7 * truth + 1e-12
        assert expected[i] <= seen * (1 + 1e-9)
    coarse = compose([(Measure(0, one.step, np.array([0.5, 0.5]), 0.0, one.step), 1)], tilt)
    assert one._averaged(values, coarse, 20) == 1.0


def test_what_wraps_around_a_window_is_counted() -> None:
    """By Chernoff with the curve of all selections, so small that it shows at losses far below alone."""
    one, tilt = grid(1.0, 2, 32, -2.0), 20.0
    composed = compose([(noise(one.step), 1)], tilt)
    rho = float(adaptive.curves.bounded_range(1.0, np.array([1 + tilt]))[0])
    for i in (0, 20):
        lost = math.exp(composed.log_scale + tilt * 2 * rho - tilt * float(one.x[i]) - adaptive.WINDOW)
        found = one._averaged(np.zeros(len(one.x)), composed, i) - one._averaged(np.zeros(len(one.x)), composed, 90)
        assert found == pytest.approx(min(lost, 1.0 - composed.outside), rel=1e-4) or i == 0


@pytest.mark.parametrize("count", [1, 2])
def test_other_releases_cost_the_same_term_by_term_and_in_one_sum(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no less than without them."""
    rest = ((LaplaceCost(Fraction(1, 4)), count),)
    one = replace(grid(0.5, 2, 32, -2.0, rest, 2.0), last=32 * 4)
    above = one.above("first")
    alone = grid(0.5, 2, 32, -2.0).above("first")
    monkeypatch.setattr(adaptive, "_LARGEST", 0)
    summed = one.above("first")
    for i in (0, 5, 20, 40, 60):
        assert summed(i) == pytest.approx(above(i), rel=1e-6, abs=1e-12) and above(i) >= alone(i) * (1 - 1e-9)
    below = one.below()
    assert np.all(below <= [above(i) * (1 + 1e-9) for i in range(one.first, one.last + 1)])
    assert below[-one.first] >= 0.98 * alone(0)


def test_every_threshold_next_to_a_point_is_tried() -> None:
    """Gains of tests at the threshold of a point, or one step beside it; nothing where there is none."""
    one = grid(1.0, 1, 8, -1.0)
    chance = np.random.default_rng(4)
    above = np.sort(chance.random(7))[::-1]
    power = Power(-2, above, above * np.exp(-0.3 * np.arange(7)))
    found = one._tested(power)
    for x, value in zip(one.x.tolist(), found.tolist(), strict=True):
        near = [k - power.start for k in (round(x / one.step) + shift for shift in (-1, 0, 1))]
        gains = [above[k] - math.exp(x) * power.above_q[k] for k in near if 0 <= k < 7]
        truth = max([*gains, *([0.0] if len(gains) < 3 else [])])
        assert value == pytest.approx(truth, abs=1e-12) and value <= truth + 1e-16


# --- From a curve to an answer ----------------------------------------------------------------------------------------


def line(at: float, top: float, fall: float) -> float:
    """A δ that is straight in e^x."""
    return max(0.0, top - fall * math.exp(at))


@pytest.mark.parametrize(("origin", "delta"), [(0.0, 0.01), (0.003, 0.2), (-0.02, 0.4)])
def test_the_crossing_of_chords(origin: float, delta: float) -> None:
    """Of a curve that is straight in e^x the chords are the curve itself."""
    field: Any = SimpleNamespace(first=-20, last=60, origin=origin, step=0.05)
    found, _ = adaptive._crossing(field, lambda i: line(origin + 0.05 * i, 0.9, 0.4), delta)
    truth = math.log((0.9 - delta) / 0.4)
    assert truth <= found <= truth * (1 + 1e-10)
    assert adaptive._crossing(field, lambda i: 0.9, delta)[0] == math.inf
    low = max(0.0, origin + 0.05 * math.ceil(-origin / 0.05))
    assert adaptive._crossing(field, lambda i: 0.001, delta)[0] == pytest.approx(low)


def test_a_crossing_lies_inside_its_cell() -> None:
    field: Any = SimpleNamespace(first=0, last=9, origin=0.0, step=0.5)
    steps = {0: 0.9, 1: 0.8, 2: 0.5, 3: 0.1, 4: 0.05}
    found, _ = adaptive._crossing(field, lambda i: steps.get(i, 0.0), 0.3)
    share = (0.5 - 0.3) / (0.5 - 0.1)
    truth = math.log((1 - share) * math.exp(1.0) + share * math.exp(1.5))
    assert truth <= found <= truth * (1 + 1e-10)
    assert adaptive._crossing(field, lambda i: steps.get(i, 0.0), 0.5)[0] == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("top", [1, 3, 24, 40])
def test_below_is_extended_along_chords(top: int) -> None:
    """Where both are one straight curve, exactly; where below is less, the best of its points and chords."""
    x = np.arange(80) * 0.02
    curve = np.array([line(at, 0.9, 0.3) for at in x])
    delta = float(curve[top]) - 1e-4
    field: Any = SimpleNamespace(first=0, x=x, step=0.02)
    truth = math.log((0.9 - delta) / 0.3)
    found = adaptive._extended(field, lambda i: float(curve[i]), curve, delta)
    assert truth * (1 - 1e-10) <= found <= truth
    lower = curve - 1e-3 * np.sin(np.arange(80)) ** 2
    found = adaptive._extended(field, lambda i: float(curve[i]), lower, delta)
    over = [k for k in range(80) if lower[k] > delta]
    choices = [float(x[over[-1]])]
    for k in range(max(0, over[-1] - 24), over[-1] + 1, 4 if over[-1] > 24 else 1):
        choices.append(float(x[k]))
        for back in (1, 2, 4, 8, 16):
            if k >= back:
                slope = (curve[k - back] - lower[k]) / (math.exp(x[k]) - math.exp(x[k - back]))
                choices.append(math.log(math.exp(x[k]) + (lower[k] - delta) / slope))
    assert found == pytest.approx(max(choices), rel=1e-9) and found <= truth
    assert adaptive._extended(field, lambda i: 1.0, curve, 2.0) == 0.0
    flat = np.full(80, 0.5)
    assert adaptive._extended(field, lambda i: 0.5, flat, 0.25) == pytest.approx(x[-1])


def test_smaller_tilts_are_tried_where_the_window_is_too_wide() -> None:
    tried: list[float] = []

    def answer(tilt: float) -> tuple[float, float]:
        tried.append(tilt)
        if len(tried) < 4:
            raise WindowTooWide(1.0)
        return 0.0, tilt

    assert adaptive._retried(answer, 8.0) == (0.0, 1.0) and tried == [8.0, 4.0, 2.0, 1.0]
    assert adaptive._retried(lambda tilt: (tilt, tilt), 1e9) == (1e4, 1e4)
    assert adaptive._retried(lambda tilt: (tilt, tilt), 1e-9) == (0.05, 0.05)
    never: list[float] = []

    def wide(tilt: float) -> None:
        never.append(tilt)
        raise WindowTooWide(1.0)

    assert adaptive._retried(wide, 1.0) is None and len(never) == 12


# --- Grids ------------------------------------------------------------------------------------------------------------

GAUSS, LAPLACE, FINE = GaussianCost(Fraction(1, 9)), LaplaceCost(Fraction(1, 2)), LaplaceCost(Fraction(1, 5))


def test_the_selections_of_a_plan_are_told_from_the_rest() -> None:
    one, other = RangeCost(Fraction(1, 3)), RangeCost(Fraction(1, 2))
    found = adaptive.selections(sequence([(one, 4), (FINE, 2), (LAPLACE, 1)]))
    assert found is not None and (found.exact, found.count) == (Fraction(1, 3), 4)
    assert dict(found.rest) == {FINE: 2, LAPLACE: 1} and found.size >= Fraction(1, 3)
    assert adaptive.selections(sequence([(one, 1), (other, 1)])) is None
    assert adaptive.selections(GAUSS) is None
    assert adaptive.selections(one) == Selections(Fraction(1, 3), 1, ())
    assert dict(adaptive._times(sequence([(FINE, 2), (LAPLACE, 3)]), 5)) == {FINE: 10, LAPLACE: 15}
    assert adaptive._times(GAUSS, 5) == [(GAUSS, 5)]


@pytest.mark.parametrize("rest", [(), ((LAPLACE, 2),), ((LAPLACE, 1), (GAUSS, 3))])
@pytest.mark.parametrize(("size", "answer", "width"), [(0.25, 0.5, 0.7), (2.0, 0.0, 9.0), (1.0, 6.0, 0.1)])
def test_a_grid_is_as_fine_as_every_part_needs_and_no_finer(
    rest: Any, size: float, answer: float, width: float
) -> None:
    chosen = Selections(Fraction(size), 3, rest)
    spreads = {LAPLACE: 2 * 0.5, GAUSS: 2 / 3}
    spread = 3 * size**2 + sum(count * spreads[inner] ** 2 for inner, count in rest)
    wide = max(width, 3.5 * math.sqrt(spread))
    limits = [size / 32, wide / 280, (answer or wide) / 400, *(spreads[inner] / 12 for inner, _ in rest)]
    found = Recursion.choose(chosen, width, 0.0, 2.0, -30.0, answer)
    assert found is not None and (found.tilt, found.log_cut, found.origin) == (2.0, -30.0, 0.0)
    assert found.step <= min(limits) * (1 + 1e-12) and size / (found.cells - 1) > min(limits) * (1 - 1e-12)
    top = 3 * size + (math.inf if len(rest) == 2 else sum(0.5 * count for _, count in rest))
    ends = max(-top - 2 * found.step, -wide, -20.0), min(top + 2 * found.step, answer + wide)
    assert ends[0] - found.step < found.first * found.step <= ends[0] + 1e-12
    assert ends[1] - 1e-12 <= found.last * found.step < ends[1] + found.step
    moved = Recursion.choose(chosen, width, 0.1, 2.0, -30.0, answer)
    assert moved is not None and moved.x[0] <= ends[0] + 1e-12 and moved.x[-1] >= ends[1] - 1e-12
    assert moved.x[0] > ends[0] - found.step and moved.x[-1] < ends[1] + found.step


def test_a_grid_that_would_be_too_large_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = Selections(Fraction(1), 3, ())
    one = Recursion.choose(chosen, 1.0, 0.0, 2.0, -30.0, 1.0)
    assert one is not None
    cost = (one.last - one.first) * one.cells * 3
    monkeypatch.setattr(adaptive, "_LARGEST", cost)
    assert Recursion.choose(chosen, 1.0, 0.0, 2.0, -30.0, 1.0) == one
    monkeypatch.setattr(adaptive, "_LARGEST", cost - 1)
    assert Recursion.choose(chosen, 1.0, 0.0, 2.0, -30.0, 1.0) is None


# --- Directions -------------------------------------------------------------------------------------------------------


def test_both_directions_are_asked_where_a_part_is_or_may_be_asymmetric() -> None:
    supplied, both, alone = SuppliedCost(None), ("first", "second"), ("first",)  # type: ignore[arg-type]
    assert enclosure.directions(GAUSS) == enclosure.directions(sequence([(GAUSS, 2), (LAPLACE, 1)])) == alone
    assert enclosure.directions(supplied) == enclosure.directions(Composed(((GAUSS, 1), (supplied, 2)))) == both
    fixed, poisson = Sampled(0.5, GAUSS, "without-replacement"), Sampled(0.5, GAUSS, "poisson")
    assert enclosure.directions(fixed) == alone and enclosure.directions(poisson) == both
    assert enclosure.directions(Sampled(0.5, supplied, "without-replacement")) == both
