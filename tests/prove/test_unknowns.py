"""What is known of a record's rounded, cut off and exponential values, by asking solvers about single points."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

import z3

from refdp.data.kernels import GRID
from refdp.data.losses import LARGEST
from refdp.data.population import COUNT
from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.privacy.events import Relation
from refdp.prove import contributed as module
from refdp.prove.asking import Solvers, name_of, number, real, unknowns
from refdp.prove.choices import exact
from refdp.prove.contributed import LARGEST_EXPONENT, NEAR, _numerals
from refdp.prove.facts import Facts
from refdp.prove.tables import ALL, Sum
from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.unknown import Unknown

SCHEMA = Schema((Numeric("x", 0.0, 1.0),), Interval(-2.0, 3.0))


def reader(weighed: bool = False) -> Unknown:
    return Unknown(Relation.ADD_REMOVE, SCHEMA, Solvers(), weighed=weighed)


def holds(own: Unknown, *conditions: Any) -> bool:
    """Whether what is known of a record allows these."""
    solver = z3.Solver()
    solver.add(*own.record, *conditions)
    return bool(solver.check() == z3.sat)


def allowed(name: str, x: Fraction, roundings: int = 0) -> list[Fraction]:
    """Which of many values near x the function may have there."""
    own, unknown = reader(), real()
    y = own._described(name, unknown, roundings)
    wholes = {Fraction(k) for k in range(-4, 5)} | {x + Fraction(k, 4) for k in range(-5, 6)}
    return sorted(one for one in wholes if holds(own, unknown == number(x), y == number(one)))


@pytest.mark.parametrize("x", [Fraction(n, 8) for n in (-9, -8, -7, -4, -3, -1, 0, 1, 3, 4, 5, 7, 8, 9)])
def test_rounded_numbers_are_the_nearest_whole_ones(x: Fraction) -> None:
    """Both where x lies between two."""
    wholes = {Fraction(math.floor(x + Fraction(1, 2))), Fraction(math.ceil(x - Fraction(1, 2)))}
    assert [y for y in allowed("rint", x) if abs(y) <= 1] == sorted(y for y in wholes if abs(y) <= 1)
    assert wholes <= {*allowed("rint", x)} and all(abs(y - x) <= Fraction(1, 2) for y in allowed("rint", x))


@pytest.mark.parametrize("x", [Fraction(n, 8) for n in (-9, -8, -7, -1, 0, 1, 7, 8, 9, 15)])
def test_numbers_are_cut_off_towards_0(x: Fraction) -> None:
    found = allowed("trunc", x)
    assert Fraction(math.trunc(x)) in found
    assert all((0 <= y <= x < y + 1) if x >= 0 else (x <= y <= 0 and y - 1 < x) for y in found)
    if abs(x) < 1:
        assert found == [0]


def test_a_value_that_was_rounded_before_may_be_another_one() -> None:
    """By NEAR at most, and beside a whole number it may be cut off to the one below."""
    for off, both in ((NEAR / 2, True), (NEAR * 2, False)):
        found = allowed("rint", Fraction(1, 2) + off, 1)
        assert (0 in found) == both and 1 in found
        assert (1 in allowed("rint", Fraction(1, 2) - off, 1)) == both
        assert 0 not in allowed("rint", Fraction(1, 2) + off) and 1 not in allowed("rint", Fraction(1, 2) - off)
    assert {0, 1} <= {*allowed("trunc", Fraction(1), 1)} and 0 not in allowed("trunc", Fraction(1))
    own, x = reader(), real()
    y = own._described("trunc", x, 1)
    for off, there in ((1, True), (1 + 2 * NEAR, False)):
        assert holds(own, x == 3, y == number(3 - off)) == holds(own, x == -3, y == number(off - 3)) == there
    for off, there in ((NEAR, True), (2 * NEAR, False)):  # never away from 0, but by what was rounded
        assert holds(own, x == 3, y == number(3 + off)) == holds(own, x == -3, y == number(-3 - off)) == there


def test_in_units_of_the_grid_the_real_value_counts() -> None:
    own, x = reader(), real()
    y = own._described("rint", x / number(GRID), 2)
    assert not holds(own, x == number(Fraction(GRID) * Fraction(1, 2) + Fraction(GRID) * NEAR / 4), y == 0)
    assert holds(own, x == number(Fraction(GRID) * Fraction(9, 8)), y == 1)
    other = reader()
    z = other._described("rint", x / number(2 * GRID), 2)
    assert holds(other, x == number(Fraction(GRID) + Fraction(GRID) * NEAR / 4), z == 0)


def test_exponentials_are_positive_and_on_one_side_of_1() -> None:
    for x, least, most in ((-3, 0, 1), (0, 1, 1), (2, 1, None)):
        own, unknown = reader(), real()
        with np.errstate(over="ignore"):
            y = own._described("exp", unknown)
        solver = [unknown == x]
        assert holds(own, *solver, y == least) and not holds(own, *solver, y < least)
        assert holds(own, *solver, y > 1) == (most is None)


def test_one_formula_has_one_value() -> None:
    own, x = reader(), real()
    term = x + 1
    assert own._described("rint", term) is own._described("rint", term)
    assert own._described("trunc", term) is not own._described("rint", term)
    known = len(own.record)
    own._described("rint", term)
    assert len(own.record) == known


@pytest.mark.parametrize(("bound", "infinite"), [(LARGEST_EXPONENT, False), (LARGEST_EXPONENT + 1, True)])
def test_exponentials_that_can_be_infinite_are_in_divisors_alone(bound: int, infinite: bool) -> None:
    own, x = reader(), real()
    own.record.append(x <= bound)
    if infinite:  # of which numpy would warn
        with pytest.raises(Unmodelled, match="a warning would tell"):
            own._described("exp", x)
        own, x = reader(), real()
        own.record.append(x <= bound)
    with np.errstate(over="ignore"):
        y = own._described("exp", x)
    assert (name_of(y) in own._infinite) == infinite
    fine = [1 / (1 + y), x + 2 / (y + 3), 1 / y, z3.If(x > 0, 1 / (1 + y), x)]
    wrong = [y, y + 1, y * x, y / (1 + y), 1 / (1 + 2 * y), 1 / (1 + y + y * 3)]
    for term in fine:
        assert own._finite(term) is term
    for term in wrong:
        if infinite:
            with pytest.raises(Unmodelled, match="infinite or 0"):
                own._finite(term)
        else:
            assert own._finite(term) is term


def test_statistics_are_multiples_of_the_grid() -> None:
    own, x, free = reader(), real(), real()
    y = own._described("rint", x)
    grid, half = number(GRID), number(GRID / 2)
    for term in (y * grid, y, 3 * y, y + grid, -y, y - 5, z3.If(x > 0, y * grid, number(1)), number(0), number(2.5)):
        assert own._on_grid(term) is term
    for term in (
        x,
        y * half,
        y + half,
        free * grid,
        z3.If(x > 0, y, x),
        y * x,
        number(GRID / 2),
        y / 3,
        y * y * half,
        y + x,
    ):
        with pytest.raises(Unmodelled, match="multiple of the grid"):
            own._on_grid(term)


def test_bounds_are_the_tightest_of_the_numbers_in_sight() -> None:
    own, x = reader(), real()
    own.record += [x >= number(Fraction(-3, 8)), x <= number(Fraction(7, 5))]
    assert own._bounds(0, x, None) == (Fraction(-1, 2), Fraction(2))
    named = z3.If(x > number(Fraction(7, 5)), x, x)
    assert own._bounds(0, named, None) == (Fraction(-1, 2), Fraction(7, 5))
    assert own._bounds(0, x + number(0), x <= number(Fraction(1, 4))) == (Fraction(-1, 2), Fraction(1, 4))
    assert own._bounds(0, real(), None) == (None, None)
    assert own._bounds(0, number(GRID) * 0 + number(Fraction(GRID)), None) == (Fraction(GRID), Fraction(GRID))


def summed(term: Any, used: Any = None) -> Unknown:
    own = reader()
    own._memo["statistics", 0] = {COUNT: None, "g": term}, used
    return own


def test_sums_stay_within_hosts_whole_numbers() -> None:
    x = real()
    for bound, fits in ((Fraction(LARGEST), True), (Fraction(LARGEST) * 2, False)):
        for low, high in ((-bound, Fraction(1)), (Fraction(0), bound)):
            own = summed(z3.If(x > number(high), number(high), z3.If(x < number(low), number(low), x)))
            if fits:
                own._summed(0, "g")
            else:
                with pytest.raises(Unmodelled, match="at most 1024"):
                    own._summed(0, "g")
    summed(x)._summed(0, COUNT)
    with pytest.raises(Unmodelled):
        summed(x)._summed(0, "g")


def test_the_unit_of_a_sum() -> None:
    p, x = real(), real()
    one = Sum(0, "g", (), (), ALL, None)
    zero_or_one = summed(z3.If(p > 0, number(1), number(0)))
    assert zero_or_one.unit(one) == 1 and zero_or_one.unit(Sum(0, COUNT, (), (), ALL, None)) == 1
    assert summed(z3.If(p > 0, number(2), number(0))).unit(one) == summed(x).unit(one) == Fraction(GRID)
    assert summed(z3.If(p > 0, number(1), number(0.5))).unit(one) == Fraction(GRID)
    assert summed(z3.If(p > 0, number(1), number(0.5)), p > 0).unit(one) == 1
    heavy = reader(weighed=True)
    heavy._memo["statistics", 0] = {COUNT: heavy._weight, "g": number(1)}, None
    assert heavy.unit(Sum(0, COUNT, (), (), ALL, None)) == Fraction(GRID) and heavy.unit(one) == 1


def test_weights_shrink_statistics_towards_0() -> None:
    own, x = reader(weighed=True), real()
    found = own._shrunk({COUNT: None, "g": x})
    g, weight = found["g"], own._weight
    assert found[COUNT] is weight and reader()._shrunk({"g": x}) == {"g": x}
    for value, inside, outside in ((2, (0, 1, 2), (-1, 3)), (-2, (0, -1, -2), (1, -3)), (0, (0,), (1, -1))):
        for y in inside:
            assert holds(own, x == value, g == y)
        for y in outside:
            assert not holds(own, x == value, g == y)
    assert holds(own, x == 1, g == number(0.5), weight == number(0.5))
    assert not holds(own, x == 1, g == number(0.5), weight == number(0.25))
    assert holds(own, weight == 0) and holds(own, weight == 1)
    assert not holds(own, weight == number(1.25)) and not holds(own, weight == number(-0.25))


def test_common_and_own_parts_of_sums() -> None:
    """Of n records between -1/2 and 2: between -n/2 and 2 n, n is 0 or at least 1; the count counts."""
    x = real()
    own = summed(x)
    own.record += [x >= number(-0.5), x <= 2]
    g, count = own.common(Sum(0, "g", (), (), ALL, None)), own.common(Sum(0, COUNT, (), (), ALL, None))
    facts = own.facts([g])
    assert own.common(Sum(0, "g", (), (), ALL, None)) is g and own.facts([count]) == own.known[name_of(count)]

    def known(*conditions: Any) -> bool:
        solver = z3.Solver()
        solver.add(*facts, *conditions)
        return bool(solver.check() == z3.sat)

    for n, total, fits in (
        (3, 6, True),
        (3, 7, False),
        (3, -1, True),
        (2, -1, True),
        (2, -2, False),
        (0, 0, True),
        (0, 1, False),
    ):
        assert known(count == n, g == total) == fits
    assert not known(count == -1) and not known(count == number(0.5)) and known(count == number(1.5))
    value = own.value(0, "g", "r")
    assert own.value(0, "g", "r") is value and own.value(0, "g", "s") is not value
    assert own.value(0, COUNT, "r").eq(number(1))
    assert {*unknowns(own.facts([value]))} == {name_of(value)}
    side = Sum(0, "g", (), (), frozenset("am"), "split")
    part = own.own(side, "r")
    right, missing = own.indicators[next(iter(own.indicators))]
    used = next(iter(own.used))
    names = {name_of(one): one for one in (right, missing, value)} | {used: z3.Bool(used)}

    def at(r: bool, m: bool, inside: bool) -> Any:
        solver = z3.Solver()
        solver.add(right == r, missing == m, names[used] == inside, value == 5)
        solver.check()
        return solver.model().eval(part, model_completion=True).as_long()

    assert [
        at(*one) for one in ((False, False, True), (False, True, True), (True, False, True), (False, False, False))
    ] == [5, 5, 0, 0]
    option = own.common(side)
    assert name_of(option) in own.optional and name_of(g) not in own.optional and not option.eq(g)


def test_the_label_is_any_that_the_target_allows() -> None:
    assert Unknown(Relation.ADD_REMOVE, Schema(SCHEMA.features, Classes(("a", "b"))), Solvers()).record == []
    with pytest.raises(Leak, match="the number of records"):
        reader().size  # noqa: B018
    with pytest.raises(Leak, match="the records themselves"):
        reader().rows  # noqa: B018
    for name in ("__len__", "__missing__"):
        with pytest.raises(AttributeError):
            getattr(reader(), name)


def test_facts_that_share_unknowns_and_numbers_in_terms() -> None:
    a, b, c, d = (real() for _ in range(4))
    facts = [a < b, c < d, b < c + 1, d > 2]
    assert Facts(facts[:2]).about({name_of(a)}) == [facts[0]]
    assert {str(one) for one in Facts(facts).about({name_of(a)})} == {str(one) for one in facts}
    assert Facts(facts[:2]).about(set()) == []
    weighed = Facts([a < b, b < c])
    weighed += [c < d, b > 0]
    assert weighed.about({name_of(a)}, {name_of(b)}) == [weighed[0]]
    assert weighed.about({name_of(a), name_of(b)}, {name_of(b)}) == [weighed[0], weighed[3]]
    assert weighed.about({name_of(d)}, {name_of(b)}) == weighed[1:3]
    assert _numerals([a + 2, z3.If(b > number(Fraction(1, 3)), c, a + 2)]) >= {Fraction(2), Fraction(1, 3)}
    assert _numerals([a]) == set() and exact(number(Fraction(-7, 3))) == Fraction(-7, 3)
    assert Fraction(2) ** 16 * NEAR == 1 and module.USUAL[0] == -2 and module.USUAL[-1] == 2
