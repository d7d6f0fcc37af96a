"""Arithmetic of formulas against the C library, rational numbers and searches by hand."""

from __future__ import annotations

import math
from decimal import ROUND_UP, Context, Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.data import numbers
from refdp.data.numbers import _middle, at_least, at_most, coarser, greatest, least, log_whole, root, rounded_up, share

BOTH_SIDES = [Fraction(1, 3), Fraction(-1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(-7, 10), Fraction(10**30 + 1),
              Fraction(1, 3) ** 40, Fraction(-(10**30)) - Fraction(1, 7)]  # fmt: skip


def test_digits_are_the_same_in_every_thread() -> None:
    def decayed(base: Any, exponent: int) -> Any:
        return (1 - base) ** exponent / 3

    near_by = (1 - Fraction(0.1)) ** 40 / 3
    found = numbers.digits(decayed, 0.1, 40)
    assert found != near_by and abs(found / near_by - 1) < Fraction(1, 10**98)
    with localcontext(Context(prec=5, rounding=ROUND_UP, traps=[Inexact])):
        assert numbers.digits(decayed, 0.1, 40) == found
    with localcontext(prec=100):
        assert Fraction(decayed(Decimal.from_float(0.1), 40)) == found
    assert numbers.digits(lambda one, whole: one * whole, 1, 3) == 3
    with pytest.raises(ZeroDivisionError):
        numbers.digits(lambda one: 1 / (one - one), 0.5)


# --- Exponentials and logarithms --------------------------------------------------------------------------------------


def near(found: Any, true: list[float], parts: float = 2.0**-50) -> None:
    for one, other in zip(np.ravel(found).tolist(), true, strict=True):
        assert one == other or abs(one - other) <= parts * abs(other), (one, other)


@pytest.mark.parametrize("count", [1, 2, 8191, 8192, 8193, 16385])
def test_long_arrays_are_those_of_their_pieces(count: int) -> None:
    """Also where a chunk begins or ends."""
    x = np.linspace(-30.0, 40.0, count)
    step = max(count // 50, 1)
    near(numbers.exp(x)[::step], [math.exp(one) for one in x[::step].tolist()])
    near(numbers.exp(x)[-2:], [math.exp(one) for one in x[-2:].tolist()])
    y = np.linspace(0.01, 90.0, count)
    near(numbers.log(y)[::step], [math.log(one) for one in y[::step].tolist()])
    near(numbers.log(y)[-2:], [math.log(one) for one in y[-2:].tolist()])
    for function in (numbers.exp, numbers.log):
        assert np.array_equal(function(y)[:: step + 2], function(y[:: step + 2].copy()))


def test_the_ends_of_the_exponential() -> None:
    """Normal numbers from -708 to 709.78, beyond 0 and infinity, and none of them disturbs its neighbours."""
    below, above = math.nextafter(-708.0, -math.inf), math.nextafter(709.78, math.inf)
    x = np.array([[-708.0, below, -math.inf], [709.78, above, math.inf], [1.0, 0.0, -2.0]])
    found = numbers.exp(x)
    assert found.shape == (3, 3)
    near(found, [math.exp(-708.0), 0.0, 0.0, math.exp(709.78), math.inf, math.inf, math.e, 1.0, math.exp(-2.0)])
    assert numbers.exp(np.array([[0.0]])).shape == (1, 1) and np.ndim(numbers.exp(0.0)) == 0
    assert numbers.exp(np.array([-1e4])).tolist() == [0.0] and numbers.exp(np.array([1e4])).tolist() == [math.inf]


def test_the_ends_of_the_logarithm() -> None:
    x = np.array([[0.0, -0.0, -0.5], [math.inf, math.nan, 1.0], [5e-324, 1.7e308, 2.0**-1022]])
    with np.errstate(all="ignore"):
        found = numbers.log(x)
    assert found.shape == (3, 3)
    assert found[0].tolist()[:2] == [-math.inf, -math.inf] and math.isnan(found[0, 2])
    assert found[1, 0] == math.inf and math.isnan(found[1, 1]) and found[1, 2] == 0.0
    near(found[2], [math.log(5e-324), math.log(1.7e308), -1022 * math.log(2)])
    half = [math.nextafter(math.sqrt(0.5), away) for away in (-math.inf, math.inf)]
    near(numbers.log(np.array([*half, math.sqrt(0.5)])), [math.log(one) for one in (*half, math.sqrt(0.5))])


@pytest.mark.parametrize("number", [1, 2, 3, 10, 2**63, 2**64 - 1, 2**64, 2**64 + 1, 2**65 + 12345, 7**300, 2**5000])
def test_logarithms_of_whole_numbers_of_any_size(number: int) -> None:
    assert log_whole(number) == pytest.approx(math.log(number), rel=4e-16, abs=0)


def test_no_digits_are_lost_next_to_nothing() -> None:
    x = [0.0, 1e-300, -1e-300, 1e-17, -1e-17, 1e-9, -1e-9, 0.3, -0.3, 1.0, -1.0, 30.0, -30.0, 41.0, 42.0, 500.0, -800.0]
    near(numbers.expm1(np.array(x)), [math.expm1(one) for one in x], 2.0**-49)
    assert numbers.expm1(np.array([800.0, math.inf, -math.inf])).tolist() == [math.inf, math.inf, -1.0]
    y = [0.0, 1e-300, -1e-300, 1e-17, -1e-17, 1e-9, -1e-9, 0.3, -0.3, -0.999, 1.0, 2.0, 1e10, 1e300]
    near(numbers.log1p(np.array(y)), [math.log1p(one) for one in y], 2.0**-49)
    with np.errstate(all="ignore"):
        found = numbers.log1p(np.array([-1.0, math.inf, -2.0]))
    assert found[:2].tolist() == [-math.inf, math.inf] and math.isnan(found[2])
    assert np.ndim(numbers.expm1(0.5)) == np.ndim(numbers.log1p(0.5)) == 0
    assert numbers.expm1(np.ones((2, 3))).shape == numbers.log1p(np.ones((2, 3))).shape == (2, 3)


# --- Rounding in a stated direction -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", BOTH_SIDES)
def test_the_floats_on_both_sides_of_a_number(number: Fraction) -> None:
    above, below = at_least(number), at_most(number)
    assert Fraction(below) < number < Fraction(above)
    assert math.nextafter(below, math.inf) == above


@pytest.mark.parametrize("number", [0, 1, -3, 0.1, -0.1, Fraction(3, 8), Fraction(-3, 8), 2**60])
def test_a_float_stays_as_it_is(number: Fraction | int | float) -> None:
    assert at_least(number) == at_most(number) == number


@pytest.mark.parametrize("square", [Fraction(2), Fraction(3), 2.0, 10, Fraction(1, 3), 0.1, 5e-7, 1e300])
def test_a_root_is_not_below_the_true_one(square: Any) -> None:
    found = root(square)
    assert Fraction(found) ** 2 >= Fraction(square)
    two_below = math.nextafter(math.nextafter(found, 0.0), 0.0)
    assert Fraction(two_below) ** 2 < Fraction(square)


@pytest.mark.parametrize("whole", [0, 1, 2, 3, 12])
def test_the_root_of_a_square_is_exact(whole: int) -> None:
    assert root(whole**2) == root(Fraction(whole**2)) == root(float(whole**2)) == whole


def test_a_formula_is_rounded_up_once() -> None:
    """At the exact values of floats; whole numbers and other things are passed on as they are."""
    seen: list[Any] = []

    def formula(a: Any, b: Any, count: int, name: str) -> Any:
        seen.append((a, b, count, name))
        return a * b / count

    found = rounded_up(formula, 0.1, np.float64(0.3), 7, "x")
    exact = Fraction(0.1) * Fraction(0.3) / 7
    assert Fraction(math.nextafter(found, 0.0)) < exact <= Fraction(found)
    assert seen == [(Fraction(0.1), Fraction(0.3), 7, "x")] and type(seen[0][2]) is int
    assert type(seen[0][0]) is type(seen[0][1]) is Fraction
    assert rounded_up(formula, 0.5, 4.0, 2, "") == 1.0


@pytest.mark.parametrize("number", [Fraction(1, 3), 1 / 3, 0.1, 1.0, 0.0, Fraction(1, 2**53), Fraction(3, 2**54), 0.75])
def test_shares_are_on_their_grid_and_not_above(number: Any) -> None:
    whole = math.floor(Fraction(number) * 2**53)
    assert Fraction(share(number)) == Fraction(whole, 2**53)


@pytest.mark.parametrize(("number", "bits", "found"), [(1.0, 3, 1.0), (1.9999, 3, 1.75), (7.9, 2, 6.0), (8.0, 2, 8.0),
                                                       (0.1, 1, 0.0625), (0.1, 4, 0.09375),
                                                       (5.0, 60, 5.0)])  # fmt: skip
def test_numbers_are_rounded_down_to_significant_bits(number: float, bits: int, found: float) -> None:
    assert coarser(number, bits) == found


# --- Bisection --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0.3, 1e-9, 7.25, 9.999])
@pytest.mark.parametrize("relative", [1e-3, 1e-12])
def test_borders_are_found_from_the_side_that_holds(at: float, relative: float) -> None:
    asked: list[float] = []

    def above(x: float) -> bool:
        asked.append(x)
        return x >= at

    found = least(above, 0.0, 10.0, relative)
    assert at <= found <= at * (1 + 2.1 * relative)
    assert 10.0 not in asked and asked[0] == 0.0 and found in {*asked, 10.0}
    asked.clear()
    found = greatest(lambda x: not above(x), 0.0, 10.0, relative)
    assert at * (1 - 2.1 * relative) <= found < at
    assert 0.0 not in asked and asked[0] == 10.0


def test_borders_are_narrow_unless_said_otherwise() -> None:
    for at in (0.1, 3.0, 777.0):
        assert at <= least(lambda x: x >= at, 0.0, 1e3) <= at * (1 + 3e-12)  # noqa: B023
        assert at * (1 - 3e-12) <= greatest(lambda x: x <= at, 0.0, 1e3) <= at  # noqa: B023


def test_ends_that_settle_it_are_the_answer() -> None:
    assert least(lambda x: True, 2.0, 5.0) == 2.0 and greatest(lambda x: True, 2.0, 5.0) == 5.0
    assert least(lambda x: False, 2.0, math.nextafter(2.0, 3.0)) == math.nextafter(2.0, 3.0)
    assert greatest(lambda x: x <= -4.0, -9.0, -1.0) == pytest.approx(-4.0, rel=1e-11)
    assert greatest(lambda x: x <= -4.0, -9.0, -1.0) <= -4.0


def test_positive_ends_far_apart_are_halved_in_their_logarithm() -> None:
    """So that few questions find a tiny number with as many digits."""
    assert _middle(1.0, 4.0) == 2.5 and _middle(1.0, 5.0) == pytest.approx(math.sqrt(5.0))
    assert _middle(0.0, 8.0) == 4.0 and _middle(-2.0, 8.0) == 3.0 and _middle(-8.0, -1.0) == -4.5
    assert _middle(1e-200, 1e-100) == pytest.approx(1e-150) and _middle(1e-300, 1e300) == pytest.approx(1.0)
    asked = 0

    def above(x: float) -> bool:
        nonlocal asked
        asked += 1
        return x >= 1e-250

    assert least(above, 1e-300, 1.0, 1e-9) == pytest.approx(1e-250, rel=3e-9)
    assert asked < 60


# --- Kinds of numbers -------------------------------------------------------------------------------------------------


def test_fractions_stay_exact_and_floats_beside_them_count_exactly() -> None:
    third = Fraction(1, 3)
    for found, true in (
        (numbers.minimum(third, 0.5), third), (numbers.minimum(0.25, third), Fraction(1, 4)),
        (numbers.maximum(third, 0.5), Fraction(1, 2)), (numbers.maximum(0.25, third), third),
        (numbers.absolute(-third), third),
    ):  # fmt: skip
        assert found == true and type(found) is Fraction
    assert numbers.exp(third) == numbers.exp(1 / 3) and numbers.log(third) == numbers.log(1 / 3)
    assert numbers.sqrt(third) == math.sqrt(1 / 3)
    assert numbers.minimum(np.array([1.0, 5.0]), 3.0).tolist() == [1.0, 3.0]
    assert numbers.maximum(np.array([1.0, 5.0]), 3.0).tolist() == [3.0, 5.0]
    assert numbers.absolute(np.array([1.0, -5.0])).tolist() == [1.0, 5.0]
    assert numbers.sqrt(np.array([4.0, 9.0])).tolist() == [2.0, 3.0]


def test_a_kind_of_numbers_joins_and_any_argument_decides() -> None:
    class Own:
        pass

    function = numbers.Generic("sum", lambda *given: sum(given))
    assert function(1, 2) == 3
    function.register(Own, lambda *given: f"{len(given)} of them")
    assert function(Own()) == "1 of them" and function(1, 2, Own()) == "3 of them" and function(1, 2) == 3
