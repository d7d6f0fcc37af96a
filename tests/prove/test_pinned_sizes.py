"""How far float64 is from a formula, operation by operation: sizes, degrees, errors and grids at their exact values."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")

import z3

from refdp.data.losses import GRID
from refdp.prove import magnitudes
from refdp.prove.asking import name_of, number, real
from refdp.prove.magnitudes import BEYOND, DIGITS, Nature, Size, _total, too_far

pytestmark = pytest.mark.usefixtures("on_grid")
X, Y, Z = real(), real(), real()
ON_GRID = math.log2(GRID)
THREE = math.log2(3)
MANY = (26.0, 26.0)
"""Of a sum over 2^26 records."""
ALL = _total(26.0, 0.0)
"""Of 2^26 records and one more."""
WIDE = Y * 3 * 2**20 + Z
"""From 1 to 3 * 2^20 + 1, and off by two roundings of products and one of the sum."""
MOST = math.log2(3 * 2**20 + 1)


def size(term: Any) -> Size:
    return magnitudes._size(term, {}, {})._replace(thin=0.0, over=frozenset(), sure=frozenset())


def about(term: Any, error: float, grid: float | None) -> bool:
    found = size(term)
    return found.grid == grid and (found.error == error or abs(found.error - error) < 1e-9)


def test_sizes_of_numbers_and_unknowns() -> None:
    assert size(X) == Size(0.0, 0.0, 1, -math.inf, ON_GRID, None, False, 1, 1, crowd=(ON_GRID, 26.0))
    assert size(number(Fraction(3, 4))) == Size(THREE - 2, THREE - 2, 0, -math.inf, None, Fraction(3, 4), True,
                                                crowd=(THREE - 2, THREE - 2), natural=True)  # fmt: skip
    assert size(number(-2)) == Size(1.0, 1.0, 0, -math.inf, None, Fraction(-2), False, crowd=(1.0, 1.0))
    assert size(number(0)) == Size(0.0, 0.0, 0, -math.inf, None, Fraction(0), False, crowd=(-BEYOND, -BEYOND),
                                   natural=True)  # fmt: skip
    assert Size(0.0, 0.0, 0) == Size(
        0.0, 0.0, 0, -math.inf, None, None, False, 0, 0, False, -math.inf, (0.0, 0.0), False
    )


def test_how_far_float64_is_of_sums_of_many_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of 2^26 records: rounding takes the 53rd digit of the largest, by what is surely large."""
    n = real()
    assert size(X).crowd == (ON_GRID, 26.0) and size(X / (n + 1)).crowd[1] == 26 - ON_GRID
    counts = {name_of(one): Nature(records=True, over="these") for one in (X, Y)}
    monkeypatch.setattr(magnitudes, "natures", counts | {name_of(n): Nature(records=True, natural=True, over="these")})
    assert size(n) == size(X)._replace(natural=True)
    none = -math.inf
    for term, far, crowd, natural in (
        (X + Y, none, (26.0, 27.0), False), (-X, none, MANY, False), (n + 1, none, (26.0, ALL), True),
        (X + 1, none, (0.0, ALL), False), (X + Y + n + X, none, (26.0, 28.0), False),
        (n - 1, none, (0.0, ALL), False), (X * 4, none, (28.0, 28.0), False), (X * 3, 26 + THREE - 53, None, False),
        (n * n, -1.0, (52.0, 52.0), True), (X / 3, 26 - THREE - 53, None, False), (X / n, -53.0, (0.0, 0.0), False),
        (X / (n + 1), -53.0, (26 - ALL, 0.0), False), (X / (X + 1), -3.0, (26 - ALL, 50.0), False),
        (X * X / (n + 1), -26.0, (52 - ALL, 26.0), False), (X * X / (X + 1), 24.0, (52 - ALL, 76.0), False),
        (X / (n + 1) + n, _total(-53.0, ALL - 53), (26 - ALL, ALL), False),
        ((X / (n + 1) + n) / (n + 1), _total(_total(-53.0, ALL - 53) - 26, ALL - 79), (26 - 2 * ALL, ALL - 26), False),
        (n / (n + 1) + n, _total(-53.0, ALL - 53), (26.0, ALL), True), (1 / (n * 3), 21.0 - THREE, None, True),
        (z3.If(n >= 1, n, number(1)), none, MANY, True), (z3.If(n >= 1, number(1), n), none, (0.0, 0.0), True),
        (z3.If(n <= 1, n, number(1)), none, (0.0, 0.0), True), (z3.If(n <= 1, number(1), n), none, MANY, True),
        (z3.If(n > 1, n, number(1)), none, MANY, True), (z3.If(n < 1, number(1), n), none, MANY, True),
        (z3.If(X >= 1, X, number(1)), none, (0.0, 26.0), False), (z3.If(n >= 1, n, number(2)), none, (1.0, 26.0), True),
        (z3.If(n == 1, n, number(1)), none, (0.0, 26.0), True),
    ):  # fmt: skip
        found = size(term)
        assert found.far == far or abs(found.far - far) < 1e-9, (term, found)
        assert (crowd is None or found.crowd == crowd) and found.natural is natural, (term, found)
    assert (magnitudes.FAR, magnitudes.RECORDS) == (-20.0, 26)
    for power, told in ((3, False), (4, False), (5, True), (26, True)):  # some 2^-25 of the sum, times 2^power
        assert bool(magnitudes.too_far([(X / (n + 1) + n - n) * 2**power], magnitudes.FAR)) is told, power


def test_products_of_sums_are_added_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(magnitudes, "natures", {name_of(one): Nature(records=True, over="these") for one in (X, Y, Z)})
    for term, times, net, apart in (
        (X * X / Y, 2, 1, False), (X * X / Y + X, 2, 1, False), (X * X, 2, 2, False), (X * X + Y, 2, 2, True),
        (X * X * Y / (Y * Y) - X, 3, 1, True), (X / Y + 1, 1, 0, False),
        (number(1) / X, 0, -1, False), ((X * X + Y) / X, 2, 1, True), (z3.If(X <= Y, X * X, Y), 2, 2, False),
    ):  # fmt: skip
        assert size(term)[7:10] == (times, net, apart), term
        told = magnitudes.too_far([term], magnitudes.FAR)
        assert told.startswith("a formula that adds products of sums") is apart and not magnitudes.too_far([term]), term
        assert bool(told) is (net > 1 or apart), term  # squares of sums of many records have too many digits
    squares = X * X * Y / (Y * Y)
    assert size(squares)[7:10] == (3, 1, False) and not magnitudes.too_far([squares])
    assert magnitudes.too_far([squares], magnitudes.FAR), "a product of numbers of records need not be large"


def test_of_which_records_a_number_is_as_large_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Least where some sums are of nobody, whose sums are in it, and whose number it is no less than."""
    m, n = real(), real()
    counts = {name_of(one): Nature(natural=True, records=True, over=f"{one}") for one in (m, n)}
    monkeypatch.setattr(magnitudes, "natures", counts | {name_of(X): Nature(over="sums")})
    both, first, none = frozenset([f"{m}", f"{n}"]), frozenset([f"{n}"]), frozenset[str]()
    for term, thin, over, sure in (
        (n, ON_GRID, first, first), (X, ON_GRID, {"sums"}, none), (n + 1, 0.0, first, first),
        (n * 4, ON_GRID + 2, first, first), (-n, ON_GRID, first, none),
        (n + m + 2, 1.0, both, both), (n - m, ON_GRID, both, none), (n * m, 2 * ON_GRID, both, none),
        (n / 4, ON_GRID - 2, first, none), (z3.If(n >= 1, n, number(1)), 0.0, first, first),
        (number(8), 3.0, none, none), (n * 4 + number(Fraction(1, 32)) + 0, -5.0, first, first),
        (number(0), -BEYOND, none, none),
        (z3.If(n <= 1, n, number(1)), ON_GRID, first, none), (z3.If(n >= m, n, m), ON_GRID, both, both),
    ):  # fmt: skip
        found = magnitudes._size(term, {}, {})
        assert (found.thin, found.over, found.sure) == (thin, over, sure), term


def test_powers_of_two_move_the_grid_and_round_nothing() -> None:
    for term, grid in ((X * 4, ON_GRID + 2), (X / 4, ON_GRID - 2), (number(-8) * X, ON_GRID + 3), (X + Y, ON_GRID),
                       (-X, ON_GRID), (X / number(Fraction(1, 2)), ON_GRID + 1), (X - Y, ON_GRID)):  # fmt: skip
        assert about(term, -math.inf, grid), term
    assert about(X * 4 + Y, math.log2(5) - 53, None)  # two grids
    assert about(4 / X, -51.0, None)  # no power of two divides
    assert about(X * 3, THREE - DIGITS, None) and about(X * Y, -53.0, None) and about(X * 0, -53.0, None)
    assert about(X * number(Fraction(3, 4)), THREE - 2 - DIGITS, None)
    assert about(X * number(Fraction(2, 3)), 1 - THREE - DIGITS, None)


def test_constants_move_sums_on_their_grid_up_to_2_to_the_44_steps() -> None:
    far = int(GRID * 2**44)
    for constant in (1, GRID, far, -far):
        assert about(X + number(Fraction(constant)), -math.inf, ON_GRID), constant
    assert about(X + number(Fraction(GRID) / 2), math.log2(1 + GRID / 2) - 53, None)
    assert about(X + number(far + 1), math.log2(far + 2) - DIGITS, None)
    assert about(X + number(-far - 1), math.log2(far + 2) - DIGITS, None)
    assert about(z3.If(X <= Y, X, number(1)), -math.inf, ON_GRID)
    assert about(z3.If(X <= Y, X, number(Fraction(GRID) / 2)), -math.inf, None)


def test_errors_of_products_and_quotients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a product, either error times the other's size; of a quotient, the divisor's times a / b^2."""
    monkeypatch.setattr(magnitudes, "natures", {name_of(one): Nature(natural=True) for one in (Y, Z)})
    product, own = THREE + 20 - DIGITS, MOST - DIGITS
    wide = _total(product, own)
    assert about(WIDE, wide, None)
    assert about(X / WIDE, _total(wide, -53.0), None)
    assert about((X * 8) / (WIDE * 4), _total(wide + 2 - 4 + 3, 3 - 2 - 53), None)
    assert about((Y * 8) * (X / WIDE), _total(_total(wide, -53.0) + 3, 3 - 53), None)
    off = _total(wide, -53.0)
    assert about((X / WIDE) * (Y * 6), _total(off + math.log2(6), math.log2(6) - 53, math.log2(6) - 53), None)
    assert about((X / WIDE) / (Y * 6), _total(off - math.log2(6), -math.log2(6) - 53, -math.log2(6) - 53), None)
    assert about((X / WIDE) * 4, off + 2, None) and about((X / WIDE) / 4, off - 2, None)
    found = size(X / WIDE)
    assert (found.low, found.high, found.degree) == (-size(WIDE).high, 0.0, 2) and abs(size(WIDE).high - MOST) < 1e-9


def test_sizes_and_errors_of_a_sum_are_the_totals_of_its_parts() -> None:
    """What is 0 for real numbers, doubled by additions: as by a product with a power of two."""
    lost = X - X * 7 / 7
    doubled = lost
    for _ in range(16):
        doubled = doubled + doubled
    assert size(lost * 2**16).error < size(doubled).error < size(lost * 2**20).error
    assert abs(size(doubled).high - size(lost).high - 16) < 1e-9
    assert too_far([doubled]) == "" and "rounds large" in too_far([z3.Sum([doubled] * 2**9)])
    assert size(z3.Sum([X * 3] * 8)).error > size(X * 3).error + 3 > size(z3.If(X <= Y, X * 3, Y * 3)).error


def test_a_difference_divides_only_where_it_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it is a step of its grid at least. The larger of it and a number is none, nor a size, nor natural ones."""
    for term in (
        X / WIDE,
        X / (X * 3 - Y * 3),
        X / z3.If(X <= Y, X * 3 - Y, Z),
        X / (2 * (X * 3 - Y)),
        X / -(X * 3 - Y),
    ):
        assert too_far([term]).startswith("a divisor of which nothing"), term
    assert size(X / (X - Y)).high == -ON_GRID and size(X / z3.If(X >= Y, X - Y, Y - X)).high == -ON_GRID
    off = X * 3 - Y * 3
    size_of = z3.If(off >= 0, off, -off)
    for term in (X / z3.If(off >= 1, off, number(1)), X / (size_of + 1), X / (z3.If(off > 0, off, -off) + 1), X / Y):
        assert too_far([term]) == "", term
    assert too_far([X / (z3.If(off <= 0, off, -off) + 1)]) != ""
    monkeypatch.setattr(magnitudes, "natures", {name_of(one): Nature(natural=True) for one in (Y, Z)})
    assert too_far([X / WIDE]) == "" and size(X / (Y + 8)).high == -3.0 == size(X / (Y + Z * 0 + 8)).high


def test_exact_sums_have_no_more_steps_than_float64_has_digits() -> None:
    """Of 2^26 records of size 1 each there are 2^50 steps, and 2^53 of eight such sums."""
    assert about(z3.Sum([X] * 8), -math.inf, ON_GRID) and about(z3.Sum([X] * 9), 2 * math.log2(3) + 3 - DIGITS, None)
    large = X + 2**20
    four = (large + large) + (large + large)
    assert size(four).error == -math.inf and size(four).grid == ON_GRID
    assert size(four + four).error > -math.inf and size(four + four).grid is None
    beside = {name_of(X): Nature(steps=24.0)}  # of one record: 2^24 at most, on a grid of 2^-24
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(magnitudes, "natures", beside)
        assert about(z3.Sum([X] * 32), -math.inf, ON_GRID) and "rounds large" in too_far([z3.Sum([X] * 33)])


def test_errors_of_choices_and_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(magnitudes, "natures", {name_of(one): Nature(natural=True) for one in (Y, Z)})
    off = X * 3
    assert about(z3.If(off <= Y, off, Y), THREE - DIGITS, None) and about(z3.If(X <= Y, X, Y), -math.inf, ON_GRID)
    assert about(z3.If(off >= 0, off, -off), THREE - DIGITS, None) and about(-off, THREE - DIGITS, None)
    assert about(z3.If(off < 0, -off, off), THREE - DIGITS, None)
    assert about(z3.If(X <= Y, off, Y * 5), math.log2(5) - DIGITS, None)
    assert about(off + Y * 5, math.log2(3 + 5 + 8) - DIGITS, None)
    assert about(X / WIDE + Y, _total(size(X / WIDE).error, 1.0 - DIGITS), None)
    for condition, then, otherwise in (
        (off <= Y, Y, X), (off <= Y, off, X), (off >= 1, off, -off), (off >= 0, off, -Y), (off >= 0, off, Y),
        (off == Y, off, Y), (off >= Y, number(1), number(0)), (z3.And(off <= Y, X <= Y), X, Y),
        (z3.Or(X <= Y, off <= Y), X, Y), (z3.Not(off <= Y), X, Y),
    ):  # fmt: skip
        assert "a choice by a comparison" in too_far([z3.If(condition, then, otherwise)]), condition
    assert too_far([z3.If(X <= Y, Z, off)]) == "" == too_far([z3.If(z3.And(X <= Y, X > 1), Z, off)])


def test_steps_of_the_grid_are_off_by_less_than_2_to_the_minus_17() -> None:
    """x / 3 times 2^13 is off by 2^-17.6 steps; anything else by 2^-27 at most."""
    step = number(Fraction(GRID))
    assert too_far([X / 3 * 2**13 / step]) == "" and "rounds large" in too_far([X / 3 * 2**14 / step])
    other = number(Fraction(GRID) / 2)
    assert too_far([X / 3 * 2**2 / other]) == "" and "rounds large" in too_far([X / 3 * 2**3 / other])


def test_public_numbers_are_on_no_grid_and_no_degree(monkeypatch: pytest.MonkeyPatch) -> None:
    p, q = real(), real()
    monkeypatch.setitem(magnitudes.ranges, name_of(p), (0.25, 64.0))
    monkeypatch.setattr(magnitudes, "natures", {name_of(q): Nature(free=(0.0, 0.0))})
    pieces = list(magnitudes._pieces([p * X]))
    assert pieces == [{name_of(p): (-2.0, 2.0)}, {name_of(p): (2.0, 6.0)}]
    assert magnitudes._size(p, {}, pieces[1]) == Size(2.0, 6.0, 0, -math.inf, None, None, True,
                                                      crowd=(2.0, 6.0), natural=True, thin=2.0)  # fmt: skip
    assert size(q) == Size(0.0, 0.0, 1, -math.inf, None, None, False)
    assert about(q + X, -52.0, None)
    for low, high, found in ((-1.0, 2.0, (-BEYOND, 1.0)), (0.0, 2.0, (-BEYOND, 1.0)), (-4.0, -2.0, (1.0, 2.0)),
                             (0.0, 0.0, (-BEYOND, -BEYOND)), (3.0, 3.0, (math.log2(3), math.log2(3)))):  # fmt: skip
        monkeypatch.setitem(magnitudes.ranges, name_of(p), (low, high))
        assert [one[name_of(p)] for one in magnitudes._pieces([p])] == [found]
        assert magnitudes._size(p, {}, {name_of(p): (0.0, 0.0)}).positive is (low > 0)
    monkeypatch.setitem(magnitudes.ranges, name_of(p), (0.25, 64.0))
    sized = {name_of(p): (6.0, 6.0)}
    for term, positive in ((p + 1, True), (p + X, False), (p - 1, False), (p * 3, True), (p * X, False), (p / 3, True),
                           (p + number(-1), False), (X * p, False), (-p, False)):  # fmt: skip
        assert magnitudes._size(term, {}, sized).positive is positive, term
    assert magnitudes._size(p + 1, {}, sized).low == 6.0 and magnitudes._size(p - 1, {}, sized).low == 0.0
