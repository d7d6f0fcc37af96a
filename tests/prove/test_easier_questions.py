"""Easier questions about an open parameter: each rewriting against values put in, each answer against the solvers'."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

import z3

from refdp.prove import asking, easier
from refdp.prove.asking import Solvers, evaluated, name_of, number, real

SOLVERS = Solvers()
POINTS = [Fraction(n, 4) for n in (-9, -4, -1, 0, 1, 2, 3, 4, 5, 8, 13)]


def values(*pairs: tuple[Any, Fraction]) -> dict[str, Any]:
    return {name_of(one): value for one, value in pairs}


def test_values_that_are_tried_are_in_the_range() -> None:
    assert easier._tried((1.0, 8.0, 3.0)) == [1, 2, 3, Fraction(9, 2), 8]
    assert easier._tried((1.0, 1.5, 1.25)) == [1, Fraction(5, 4), Fraction(3, 2)]
    assert easier._tried((0.25, 4.0, 0.25)) == [Fraction(1, 4), Fraction(1, 2), Fraction(5, 4), Fraction(17, 8), 4]


def test_unknowns_beside_a_parameter() -> None:
    v, n, m, x = (real() for _ in range(4))

    def found(*conditions: Any) -> list[str]:
        return sorted(name_of(one) for one in easier._beside(conditions, v))

    assert found(n + v > 3) == [name_of(n)] and found(x > 3, 1 / z3.Sum([m, v, n]) < x) == sorted(map(name_of, (m, n)))
    assert found(n * v > 3, 2 * n + v > m, n - v < 2, v + 1 > x) == []
    assert found(z3.Or(x > 0, z3.And(v + m <= 2, n > 0))) == [name_of(m)]


def test_facts_beside_a_parameter_are_told_apart_up_to_sixteen_cases() -> None:
    v, n, x = real(), real(), real()
    fact, other, beside = z3.Or(n == 0, n >= 1), z3.Or(x == 0, x >= 1), n + v > 0
    cases = list(easier._cases([fact, other, beside], v))
    assert [[str(one) for one in case] for case in cases] == [
        [str(one), str(other), str(beside)] for one in fact.children()
    ]
    four = [z3.Or(n == 2 * k, n >= 2 * k + 1) for k in range(4)]
    assert len(list(easier._cases([*four, beside], v))) == 16
    whole = list(easier._cases([*four, z3.Or(n < 9, n > 11), beside], v))
    assert len(whole) == 1 and len(whole[0]) == 6


def test_a_linear_condition_is_an_end_of_the_parameter() -> None:
    v, x = real(), real()
    for condition, above in (
        (v <= 3, True), (v < 3, True), (v >= 3, False), (v > x, False), (2 * v - x <= 5, True), (x - 2 * v <= 5, False),
        (z3.Not(v <= 3), False), (z3.Not(v > x), True), (z3.Not(v < x), False), (-v <= 2, False),
        (3 - v * number(Fraction(1, 4)) >= x, True),
    ):  # fmt: skip
        side = easier._linear(condition, v)
        assert side is not None and side.above == above
        for a, b in itertools.product(POINTS, POINTS[::3]):
            at = values((v, a), (x, b))
            end = evaluated(side.end, at)
            assert end is not None
            if end != a:  # whether the end itself belongs to it is left open
                assert evaluated(condition, at) == (a < end if above else a > end)
    for condition in (v * v <= 3, v * x <= 3, x <= 2, v == 3, z3.If(v > 0, v, x) <= 2, x / v <= 1, z3.Or(v <= 1, x > 0),
                      (v - 1) * (v - 1) * v * (v - 2) <= 1, v + x * x >= 2 * v * v, z3.Not(v == 3)):  # fmt: skip
        assert easier._linear(condition, v) is None


def test_polynomials_that_are_sums_and_multiples() -> None:
    v, x = real(), real()
    for term in (v, x, x * x, v + x, 3 * v - x / v * 0 if False else 3 * v - x, -v, v * x, (v + 1) * x, v + v):
        assert easier._polynomial(term, v)
    for term in (v * v, x / v, z3.If(x > 0, v, x), (v + 1) * (v + 2), 1 + v * v):
        assert not easier._polynomial(term, v)


def test_a_condition_with_a_bound_of_the_parameter_alone() -> None:
    v, x, y = real(), real(), real()
    for condition, strict in (
        (x > 1 / v, True), (x >= 1 / v, False), (1 / v < x, True), (1 / v <= x, False), (x * x + y > v * v, True),
        (z3.Not(x <= 1 / v), True), (z3.Not(x < 1 / v), False), (z3.Not(1 / v > x), False), (x - v * v >= 2, False),
        (v * v > x + 1, True), (x + y - 1 > v * v + 2, True),
    ):  # fmt: skip
        bound = easier._bound(condition, v)
        assert bound is not None and bound.strict == strict
        end = number(Fraction(7, 4))
        for a, b, c in itertools.product(POINTS[6::3], POINTS[::3], POINTS[::5]):
            at = values((v, a), (x, b), (y, c))
            rest, own = evaluated(bound.rest, at), evaluated(bound.bound, at)
            assert rest is not None and own is not None
            assert evaluated(condition, at) == (rest > own if strict else rest >= own)
            there = {**at, name_of(v): Fraction(7, 4)}
            assert evaluated(bound.at(end), at) == evaluated(condition, there)
    for condition in (x / v > 1, x * v > y, x == 1 / v, z3.Or(x > v, y > v)):
        assert easier._bound(condition, v) is None


def test_whether_a_bound_rises_or_falls_for_positive_numbers() -> None:
    v, x = real(), real()
    for term, rises, falls in (
        (1 / v, False, True), (v, True, False), (v * v, True, False), (number(3) + 0 * v, True, True),
        (-v * v, False, True),
        (v * (v - 1), False, False), (1 / (v - 1), False, False), (1 / (v + 1), False, True),
        (v / (v + 1), True, False),
    ):  # fmt: skip
        bound = easier._Bound(x, term, v, True)
        assert (bound.rises(SOLVERS), bound.falls(SOLVERS)) == (rises, falls), term


@pytest.mark.parametrize("low", [1.0, 0.25])
def test_answers_are_those_of_the_whole_question(low: float) -> None:
    """Refuted where the solvers refute it, and with values that do hold where they find some."""
    v, n, g, x = (real() for _ in range(4))
    high = 4.0
    facts = [n >= 0, z3.Or(n == 0, n >= 1), v >= number(low), v <= number(high)]
    refuted = 0
    for more in (
        [g <= n, g >= -n, g / (n + v) > 1], [g <= n, g / (n + v) > number(Fraction(1, 2))],
        [g <= n, x <= g / (n + v), x > number(Fraction(4, 5))], [x > 1 / v, x * number(low) <= 1],
        [g <= n + v, g >= n + v + 1], [n + v < number(low)], [n + v > 1000], [x == 3, n + v < x, n >= x],
        [n + v <= number(low), n >= 1], [g >= n, g * 2 <= n + v, n >= 5],
        [x * (n + v) >= 1, x * number(low) < 1, n >= 0],
        [1 / (n + v) - 1 / (n + 1 + v) > 1 / v], [1 / (n + v) > number(2 / low)], [z3.Or(x > n, x < v), n + v > 2],
    ):  # fmt: skip
        conditions = [*facts, *more]
        reply = easier.asked(SOLVERS, conditions, {name_of(v): (low, high, 2.0)})
        whole = SOLVERS.ask(conditions)
        if reply.refuted:
            assert whole.refuted, more
            refuted += 1
        elif any(answer == "sat" for _, answer in reply.answers):
            assert not whole.refuted and low <= reply.values[name_of(v)] <= high
            full = {**{name_of(one): Fraction(0) for one in (n, g, x)}, **reply.values}
            assert all(evaluated(one, full) is not False for one in conditions), more
    assert refuted >= 6


def test_several_or_no_open_parameters_are_left_to_the_solvers() -> None:
    v, w, n = real(), real(), real()
    own = {name_of(one): (1.0, 2.0, 1.5) for one in (v, w)}
    for conditions in ([n > 3, n < 2], [n + v + w < 2, n > 0, v >= 1, w >= 1], [n > 3]):
        assert easier.asked(SOLVERS, conditions, own).answers == SOLVERS.ask(conditions).answers
    negative = {name_of(v): (-1.0, 2.0, 1.5)}
    assert easier.asked(SOLVERS, [n + v > 5, n <= 1, v <= 2, v >= -1], negative).refuted
    assert not easier.asked(SOLVERS, [n + v > 2, n <= 1, v <= 2, v >= -1], negative).refuted
    assert not easier.asked(SOLVERS, [n + v > -5, w > 1 / v, w <= 0, v <= 2, v >= -1], negative).refuted
    small = {name_of(v): (0.25, 0.5, 0.375)}
    for most, refuted in ((number(Fraction(1, 2)), False), (number(Fraction(1, 8)), True)):
        conditions = [n + v <= most, n >= 0, v >= number(0.25), v <= number(0.5)]
        assert easier.asked(SOLVERS, conditions, small).refuted == refuted


def test_values_are_exact_where_they_solve_every_condition_in_rational_arithmetic() -> None:
    """The root of 2 is no fraction, although it is above 0."""
    x = real()
    for square, exact in ((2, False), (4, True)):
        found = asking._asked([x > 0, x * x == square])
        assert found.answers == (("z3", "sat"),) and found.exact is exact
        (value,) = found.values.values()
        assert abs(value * value - square) < Fraction(1, 10**20)
