"""Choices by comparisons of what float64 rounds: refused, but for the larger or smaller of two and a number's size."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import pytest
import z3

from refdp.prove.asking import number, real
from refdp.prove.choices import decided, exact, is_continuous
from refdp.prove.magnitudes import (
    Size,
    _is_power,
    _moves,
    _order,
    _product,
    _sum,
    _total,
    describe,
    spread,
    too_far,
)

pytestmark = pytest.mark.usefixtures("on_grid")
near = partial(pytest.approx, abs=1e-9)
CHOICE = "a choice by a comparison of numbers that float64 rounds"


def test_a_choice_by_what_is_rounded_is_refused() -> None:
    """Of exact sums, rounded ones, a constant, but one on both sides; one of exact sums may choose anything."""
    x, y = real(), real()
    exact, rounded, constant = x + y, x / 3 + y, number(2)
    for then, otherwise in itertools.product((exact, rounded, constant), repeat=2):
        refused = "" if then is otherwise else CHOICE
        assert too_far([z3.If(rounded > x, then, otherwise)]) == refused
        assert too_far([z3.If(z3.Not(rounded > x), then, otherwise)]) == refused
        assert too_far([z3.If(exact > x, then, otherwise)]) == ""
    assert too_far([z3.If(z3.And(x > y, rounded > x), x, y)]) == CHOICE


def test_the_larger_of_two_may_be_chosen_by_what_is_rounded() -> None:
    """In either order, by any inequality; an error of what is chosen is followed."""
    x, y = real(), real()
    one = x / 3
    for compared in (one < y, one <= y, one > y, one >= y):
        assert too_far([z3.If(compared, one, y), z3.If(compared, y, one)]) == ""
        assert too_far([z3.If(compared, one, x)]) == CHOICE == too_far([z3.If(compared, x, y)])
    assert too_far([z3.If(one == y, one, y)]) == CHOICE
    for compared in (one < 0, one >= 0):
        assert too_far([z3.If(compared, one, -one), z3.If(compared, -one, one)]) == ""
        assert too_far([z3.If(compared, one, -y)]) == CHOICE
        assert too_far([z3.If(compared, -one, -one)]) == ""
    assert too_far([z3.If(one < 1, one, -one)]) == CHOICE
    large = number(2**28)
    assert "rounds large" in too_far([z3.If(x > y, x, one) * large])
    assert "rounds large" in too_far([z3.If(x > y, one, x) * large])
    assert too_far([z3.If(x > y, x, y) * large]) == ""
    assert not is_continuous(x > 0, x, -y) and is_continuous(x > 0, x, -x) and is_continuous(x > y, y, x)


def test_a_choice_by_what_a_step_of_the_grid_changes_is_refused_where_it_jumps() -> None:
    """As one by what is rounded is, whatever is chosen; the larger of two and a number's size may be."""
    x, y, whole = real(), real(), real()
    describe(whole, steps=24.0, stepped=0.0)
    own = whole * number(Fraction(1, 2**24))
    for then, otherwise in ((own, x), (x, y), (own, own + own), (number(0), number(1))):
        assert too_far([z3.If(own >= y, then, otherwise)]) == CHOICE == too_far([z3.If(own != y, then, otherwise)])
        assert too_far([z3.If(x >= y, then, otherwise)]) == ""
    assert too_far([z3.If(own >= y, own, y), z3.If(own >= y, y, own), z3.If(own >= 0, own, -own)]) == ""


def test_a_choice_that_is_decided_is_none() -> None:
    """By constants, inside each other, and where what is left decides another; others stay as they are written."""
    x, y, one, half = real(), real(), number(1), number(Fraction(1, 2))
    cut = z3.If(z3.If(one == 1, one, number(0)) > half, half, number(Fraction(1, 4)))
    lower = z3.If(x >= -cut, x, -cut)
    found = decided(z3.If(lower <= cut, lower, cut))
    assert is_continuous(*found.children()) and is_continuous(*found.arg(1).children())
    for value in range(-3, 4):
        own = z3.simplify(z3.substitute(found, (x, number(Fraction(value, 4)))))
        assert exact(own) == Fraction(max(min(value, 2), -2), 4)
    assert decided(z3.If(one > 2, x, z3.If(one > 0, y, x))).eq(y)
    for open_one in (z3.If(x > y, x, y), x * 1 + 0, z3.If(x > 0, z3.If(x > 1, x, y), y)):
        assert decided(open_one).eq(open_one)


def test_constants_that_move_sums_without_a_rounding() -> None:
    """Whole steps of the grid, at most 2^44 of them, of either sign."""
    assert _moves(Fraction(3, 4), -2.0) and not _moves(Fraction(3, 8), -2.0) and _moves(Fraction(0), 5.0)
    for sign in (1, -1):
        assert _moves(Fraction(sign * 2**42), -2.0) and not _moves(sign * (Fraction(2**42) + Fraction(1, 4)), -2.0)
    assert [n for n in range(1, 40) if _is_power(Fraction(n))] == [1, 2, 4, 8, 16, 32]
    assert _is_power(Fraction(-1, 8)) and not _is_power(Fraction(4, 3)) and not _is_power(Fraction(3, 4))


def test_errors_and_grids_of_products() -> None:
    """A power of two moves both, in either place of a product and as a divisor; all else rounds, and has no grid."""
    sum_, four = Size(1.0, 3.0, 1, grid=-10.0), Size(2.0, 2.0, 0, number=Fraction(4))
    rounded, part = Size(-1.0, 2.0, 1, error=-50.0), Size(-2.0, -2.0, 0, number=Fraction(-1, 4))
    three = Size(1.5, 1.5, 0, number=Fraction(3))
    for one, other in ((sum_, four), (four, sum_)):
        assert _product(one, other, other.high, False) == (-math.inf, -8.0)
    assert _product(sum_, four, -2.0, True) == (-math.inf, -12.0)
    assert _product(sum_, part, -2.0, False) == (-math.inf, -12.0) == _product(part, sum_, 3.0, False)
    assert _product(sum_, part, 2.0, True) == (-math.inf, -8.0)
    assert _product(rounded, four, 2.0, False) == (-48.0, None) == _product(four, rounded, 2.0, False)
    assert _product(rounded, four, -2.0, True) == (-52.0, None)
    assert _product(four, sum_, -1.0, True) == (2.0 - 1.0 - 53, None)
    assert _product(four, rounded, 1.0, True) == (_total(-50.0 + 2 * 1.0 + 2.0, 2.0 + 1.0 - 53), None)
    assert _product(sum_, three, 1.5, False) == (3.0 + 1.5 - 53, None) == _product(three, sum_, 3.0, False)
    for one, other, high in ((rounded, three, 1.5), (three, rounded, 2.0)):
        assert _product(one, other, high, False) == (near(_total(-48.5, -49.5)), None)
    wide = Size(-1.0, 9.0, 1, error=-50.0)
    for high, divides in ((2.0, False), (2.0, True), (-2.0, False)):  # two errors, and a rounding of the product
        slope = 2 * high + 9.0 if divides else 9.0
        wanted = _total(-50.0 + high, -50.0 + slope, 9.0 + high - 53)
        assert _product(wide, rounded, high, divides) == (wanted, None) and wanted > -50.0 + slope
    assert _product(Size(0.0, 0.0, 1, error=-20.0), rounded, 7.0, False) == (near(-13.0), None)


def test_errors_and_grids_of_sums() -> None:
    """Sums on one grid stay exact, with whole steps of it; on two grids, or of what is on none, they are rounded."""
    x, y, p = real(), real(), real() / 3
    on, other = Size(0.0, 2.0, 1, grid=-10.0), Size(-2.0, 1.0, 1, grid=-12.0)
    none, step = Size(0.0, 4.0, 1), Size(-3.0, -3.0, 0, number=Fraction(1, 8))
    less, rounded = Size(-11.0, -11.0, 0, number=Fraction(1, 2**11)), Size(0.0, 1.0, 1, error=-45.0)
    for term in (x + y, x - y):
        assert _sum(term, [on, on]) == (-math.inf, -10.0) == _sum(term, [on, step]) == _sum(term, [step, on])
        assert _sum(term, [on, other]) == (_total(2.0, 1.0) - 53, None)
        assert _sum(term, [on, less]) == (_total(2.0, -11.0) - 53, None)
        assert _sum(term, [none, none]) == (5.0 - 53, None) and _sum(term, [on, none]) == (_total(2.0, 4.0) - 53, None)
        wanted = _total(-45.0, _total(1.0, 2.0) - 53)
        assert _sum(term, [rounded, on]) == (near(wanted), None) == _sum(term, [on, rounded])
        assert _sum(term, [Size(0.0, 30.0, 1, error=-45.0), on]) == (near(_total(-45.0, _total(30.0, 2.0) - 53)), None)
    assert _total(3.0, 3.0) == 4.0 and _total(3.0, -math.inf) == 3.0 and _total(-math.inf, -math.inf) == -math.inf
    assert _sum(-x, [rounded]) == (-45.0, None) and _sum(-x, [on]) == (-math.inf, -10.0)
    assert _sum(x > y, [on, other]) == (-math.inf, None) and _sum(x > y, [on, rounded]) == (math.inf, None)
    choice = z3.If(x > y, x, y)
    plain, unsure = Size(0.0, 2.0, 1), Size(0.0, 2.0, 1, error=math.inf)
    assert _sum(choice, [plain, on, on]) == (-math.inf, -10.0) == _sum(choice, [unsure, on, on])
    assert _sum(choice, [plain, on, other]) == (-math.inf, None) and _sum(choice, [unsure, rounded, on])[0] == -45.0
    with pytest.raises(OverflowError, match="a choice by a comparison"):
        _sum(z3.If(p > x, x, y), [unsure, on, on])


def test_sizes_of_constants_of_both_signs() -> None:
    x = real()
    for value in (3, -3):
        assert spread([x * number(value)]) == (2.0, 4.0)
        assert spread([x * number(Fraction(value, 8))]) == (0.25, 0.5)
    assert spread([number(0)]) == (1.0, 1.0) and too_far([x + number(-5)]) == ""
    for value, order in ((0, 0.0), (1, 0.0), (-8, 3.0), (1024, 10.0)):
        assert _order(value) == order
