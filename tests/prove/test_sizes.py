"""Kinds of numbers, their sizes, terms of functions, and exact arithmetic: every case beside its neighbour."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import z3

from refdp.data.losses import GRID
from refdp.prove import magnitudes
from refdp.prove.asking import Solvers, divisors, evaluated, name_of, number, real, truth, unknowns, without_division
from refdp.prove.kinds import COMPARING, Kind, followed, kind_of
from refdp.prove.magnitudes import moderate, spread, too_far
from refdp.prove.terms import ARITHMETIC, TERMS, Unmodelled, operated

pytestmark = pytest.mark.usefixtures("on_grid")
FLOAT, WHOLE, TRUTH = Kind("float", 0), Kind("whole", 0), Kind("truth", 0, True)
ONCE, TWICE, SMALL = Kind("float", 1), Kind("float", 2), Kind("float", 0, True)


# --- Kinds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "kind"), [
    (True, Kind("truth", 0, True)), (np.bool_(False), Kind("truth", 0, True)), (3, Kind("whole", 0, True)),
    (np.int64(3), Kind("whole", 0, True)), (1024, Kind("whole", 0, True)), (1025, Kind("whole", 0, False)),
    (-1024, Kind("whole", 0, True)), (-1025, Kind("whole", 0, False)), (1024.0, Kind("float", 0, True)),
    (1025.0, Kind("float", 0, False)), (0.5, Kind("float", 0, False)), (np.float64(2.0), Kind("float", 0, True)),
    (np.float32(2.0), Kind("whole", 0, True)), (np.array([1.0, 2.0]), Kind("whole", 0, False)),
])  # fmt: skip
def test_kinds_of_public_numbers(value: Any, kind: Kind) -> None:
    assert kind_of(value) == kind


@pytest.mark.parametrize("name", sorted(COMPARING))
def test_what_is_compared_was_never_rounded(name: str) -> None:
    assert followed(name, [FLOAT, WHOLE], [None, None]) == Kind("truth", 0, False)
    for kinds in ([ONCE, FLOAT], [FLOAT, ONCE], [TWICE, TWICE]):
        with pytest.raises(Unmodelled, match="rounded"):
            followed(name, kinds, [None, None])


@pytest.mark.parametrize(("name", "kinds", "numbers", "found"), [
    ("add", [FLOAT, FLOAT], [None, None], TWICE), ("add", [SMALL, SMALL], [None, None], SMALL),
    ("add", [SMALL, FLOAT], [None, None], TWICE), ("subtract", [SMALL, TRUTH], [None, None], SMALL),
    ("multiply", [SMALL, SMALL], [None, None], SMALL), ("multiply", [FLOAT, SMALL], [None, 4.0], FLOAT),
    ("multiply", [FLOAT, SMALL], [None, 3.0], ONCE), ("multiply", [ONCE, SMALL], [None, 3.0], TWICE),
    ("multiply", [TWICE, SMALL], [None, 3.0], TWICE), ("multiply", [ONCE, SMALL], [None, -0.25], ONCE),
    ("multiply", [FLOAT, FLOAT], [0.5, None], FLOAT), ("multiply", [FLOAT, FLOAT], [3.0, 5.0], TWICE),
    ("multiply", [FLOAT, FLOAT], [None, None], TWICE),
    ("divide", [FLOAT, FLOAT], [None, 2.0], FLOAT), ("divide", [FLOAT, FLOAT], [None, 3.0], ONCE),
    ("divide", [FLOAT, FLOAT], [2.0, None], TWICE), ("divide", [SMALL, SMALL], [None, None], Kind("float", 2, False)),
    ("divide", [SMALL, SMALL], [None, 2.0], Kind("float", 0, False)),
    ("negative", [ONCE], [None], ONCE), ("absolute", [SMALL], [None], SMALL), ("minimum", [ONCE, FLOAT],
    [None, 1.0], ONCE),
    ("maximum", [FLOAT, TWICE], [None, None], TWICE), ("square", [FLOAT], [None], TWICE),
    ("where", [TRUTH, ONCE, FLOAT], [None] * 3, ONCE), ("where", [TRUTH, WHOLE, FLOAT], [None] * 3, FLOAT),
    ("where", [TRUTH, Kind("whole", 0, True), Kind("whole", 0, True)], [None] * 3, Kind("whole", 0, True)),
    ("where", [TRUTH, TRUTH, Kind("whole", 0, False)], [None] * 3, Kind("whole", 0, False)),
    ("where", [TRUTH, TRUTH, TRUTH], [None] * 3, TRUTH), ("logical_and", [TRUTH, TRUTH], [None] * 2, TRUTH),
    ("exp", [FLOAT], [None], TWICE), ("add", [WHOLE, FLOAT], [None, None], TWICE),
])  # fmt: skip
def test_kinds_of_results(name: str, kinds: list[Kind], numbers: list[Any], found: Kind) -> None:
    assert followed(name, kinds, numbers) == found


@pytest.mark.parametrize("name", sorted(ARITHMETIC | {"rint", "trunc", "exp"}))
def test_arithmetic_without_a_float_is_not_followed(name: str) -> None:
    count = 1 if name in ("negative", "absolute", "square", "rint", "trunc", "exp") else 2
    for kind in (TRUTH, WHOLE):
        with pytest.raises(Unmodelled, match="wrap around"):
            followed(name, [kind] * count, [None] * count)
    assert followed(name, [FLOAT] * count, [None] * count).of == "float"


def test_choices_are_by_truth_values() -> None:
    for kind in (FLOAT, WHOLE):
        with pytest.raises(Unmodelled, match="no truth value"):
            followed("where", [kind, FLOAT, FLOAT], [None] * 3)


# --- Sizes ------------------------------------------------------------------------------------------------------------


def test_moderate_numbers() -> None:
    """0, or from 2^-16 to 2^16 in absolute value, all of them."""
    for value in (0, 1, -3.5, 2.0**16, 2.0**-16, -(2.0**16), [0.0, 1.0, 65536.0]):
        assert moderate(value)
    for value in (2.0**16 * 1.001, 2.0**-16 * 0.999, -1e6, [1.0, 1e-9], math.inf, math.nan):
        assert not moderate(value)


def test_numbers_of_like_sizes_are_added() -> None:
    """Up to 32 binary orders apart."""
    x, y = real(), real()
    small, more = number(Fraction(1, 2**32)), number(Fraction(1, 2**33))
    assert too_far([x + small * y]) == "" and "different sizes" in too_far([x + more * y])
    assert "different sizes" in too_far([x - more * y]) and too_far([z3.If(x > more, x, more * y)]) == ""
    assert too_far([x * 2**25 + y]) == "" and "rounds large" in too_far([x * 2**26 + y])
    assert "different sizes" in too_far([x + y * 2**33])
    assert too_far([x, more * y]) == "" and too_far([number(0) + x]) == ""
    assert "different sizes" in too_far([x, y, x + more * y])


def test_products_that_could_overflow() -> None:
    x = real()
    big = number(2**100)
    assert too_far([x * big * big]) == "" and "overflow" in too_far([x * big * big * 2])
    assert too_far([x / big / big]) == "" and "overflow" in too_far([x / big / big / 2])
    assert too_far([x / number(Fraction(1, 2**200))]) == "" and "overflow" in too_far([x / number(Fraction(1, 2**201))])
    eight = x * x * x * x * x * x * x * x
    assert too_far([eight]) == "" and "overflow" in too_far([eight * x])
    assert too_far([z3.If(x > 0, eight, eight)]) == "" == too_far([2 * eight, (eight + 1) * 3])
    assert "overflow" in too_far([(eight + 1) * x]) and "overflow" in too_far([(1 + eight) * x])


def test_the_spread_of_numbers() -> None:
    x, y = real(), real()
    assert spread([x]) == (1.0, 1.0) and spread([3 * x + y]) == (1.0, 4.0) and spread([x / 8, y * 5]) == (0.125, 8.0)
    assert spread([x / 3])[0] == 0.25 and spread([x * number(Fraction(3, 8))])[0] == 0.25


def test_public_numbers_of_a_range_have_the_sizes_of_their_ends() -> None:
    x, p, q = real(), real(), real()
    for name, ends in ((name_of(p), (0.25, 64.0)), (name_of(q), (-1.0, 3.0))):
        magnitudes.ranges[name] = ends
    try:
        assert spread([x * p]) == (0.25, 64.0) and spread([x / p]) == (2.0**-6, 4.0)
        assert too_far([x * p + x / p]) == ""
        assert "overflow" in too_far([x * q])  # comes near to 0
        magnitudes.ranges[name_of(p)] = (2.0**-20, 2.0**13)
        assert "different sizes" in too_far([x * p + x / p])
        magnitudes.ranges[name_of(p)] = (-64.0, -0.25)
        assert spread([x * p]) == (0.25, 64.0)
    finally:
        magnitudes.ranges.clear()


# --- Terms and exact arithmetic ---------------------------------------------------------------------------------------

VALUES = [Fraction(n, 2) for n in (-4, -1, 0, 1, 3)]
TRUE: dict[str, Any] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b if b else None, "minimum": min, "maximum": max, "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b,
}  # fmt: skip
ONE: dict[str, Any] = {"negative": lambda a: -a, "absolute": abs, "square": lambda a: a * a}
LOGIC: dict[str, Any] = {"logical_and": lambda a, b: a and b, "logical_or": lambda a, b: a or b,
                         "bitwise_and": lambda a, b: a and b, "bitwise_or": lambda a, b: a or b}  # fmt: skip


def test_terms_are_numpys_functions() -> None:
    """Every function at every pair of a few numbers, in rational arithmetic."""
    x, y = real(), real()
    p, q = truth(), truth()
    for name, function in TRUE.items():
        term = operated(name, [x, y])
        for a, b in itertools.product(VALUES, repeat=2):
            assert evaluated(term, {name_of(x): a, name_of(y): b}) == function(a, b), (name, a, b)
    for name, function in ONE.items():
        for a in VALUES:
            assert evaluated(operated(name, [x]), {name_of(x): a}) == function(a)
    for name, function in LOGIC.items():
        for a, b in itertools.product((True, False), repeat=2):
            assert evaluated(operated(name, [p, q]), {name_of(p): a, name_of(q): b}) is function(a, b)
    for a in (True, False):
        own = {name_of(p): a, name_of(x): Fraction(2), name_of(y): Fraction(5)}
        assert evaluated(operated("where", [p, x, y]), own) == (2 if a else 5)
        assert evaluated(operated("logical_not", [p]), own) is (not a)
        assert evaluated(operated("invert", [p]), own) is (not a)
        assert (
            evaluated(operated("multiply", [p, x]), own) == 2 * a and evaluated(operated("add", [x, p]), own) == 2 + a
        )
    assert set(TERMS) == {*TRUE, *ONE, *LOGIC, "where", "logical_not", "invert", "power"}
    assert evaluated(operated("power", [x, number(2)]), {name_of(x): Fraction(-3, 2)}) == Fraction(9, 4)
    for wrong in (number(3), number(1), number(Fraction(5, 2)), y):
        with pytest.raises(Unmodelled, match="power"):
            operated("power", [x, wrong])
    for name in sorted(ARITHMETIC - {"power"}):
        with pytest.raises(Unmodelled, match="truth values alone"):
            operated(name, [p] * (1 if name in ONE else 2))
    with pytest.raises(Unmodelled, match="numpy's cosh"):
        operated("cosh", [x])


def test_rational_arithmetic_of_every_connective() -> None:
    x, y = real(), real()
    p, q, r = truth(), truth(), truth()
    names = [name_of(one) for one in (p, q, r)]
    for values in itertools.product((True, False), repeat=3):
        own: dict[str, Any] = dict(zip(names, values, strict=True))
        a, b, c = values
        assert evaluated(z3.And(p, q, r), own) is (a and b and c) and evaluated(z3.Or(p, q, r), own) is (a or b or c)
        assert evaluated(z3.Implies(p, q), own) is (not a or b) and evaluated(z3.If(p, q, r), own) is (b if a else c)
    own = {name_of(x): Fraction(7, 3), name_of(y): Fraction(-2)}
    assert evaluated(x + y + x, own) == Fraction(8, 3) and evaluated(x - y - x, own) == 2
    assert evaluated(x * y * y, own) == Fraction(28, 3) and evaluated(-x, own) == Fraction(-7, 3)
    assert evaluated(x / (y + 2), own) is None and evaluated(x / (y + 2) > 1, own) is None
    assert evaluated(z3.Distinct(x, y), own) is True and evaluated(z3.BoolVal(True), own) is True
    assert evaluated(z3.BoolVal(False), own) is False


def test_numbers_are_terms_at_their_exact_value() -> None:
    for value in (3, Fraction(1, 3), 0.1, np.float64(0.1), -2, np.int64(7)):
        exact = Fraction(value) if isinstance(value, int | Fraction) else Fraction(float(value))
        assert evaluated(number(value), {}) == exact
    x = real()
    assert number(x) is x and name_of(x) != name_of(real()) and z3.is_bool(truth()) and z3.is_real(x)


def test_unknowns_and_divisors_in_their_order() -> None:
    x, y, w, p = real(), real(), real(), truth()
    term = z3.If(p, x / (y + 1), w / 2) + x / w
    assert list(unknowns([term])) == [name_of(one) for one in (p, x, y, w)]
    assert list(unknowns([w, term])) == [name_of(one) for one in (w, p, x, y)]
    assert unknowns([number(3)]) == {} and unknowns([]) == {}
    assert {str(one) for one in divisors(term)} == {str(y + 1), str(w)}
    assert divisors(x / 2 + 1) == []


def test_quotients_are_unknowns_of_their_own() -> None:
    x, y = real(), real()
    found = without_division([x / y > 2, x / y + x / 3 < 5])
    assert len(found) == 3 and not any(divisors(one) for one in found)
    solvers = Solvers()
    assert solvers.possible([x / y > 2, y > 1, x < 3]) and not solvers.possible([x / y > 2, y > 1, x < 2])


def test_questions_that_are_equal_up_to_names_are_asked_once() -> None:
    solvers = Solvers()
    x, y, a, b = real(), real(), real(), real()
    reply = solvers.ask([x > y, y > 3, x < 4])
    assert not reply.refuted and reply.exact and dict(reply.answers) == {"z3": "sat"}
    assert 3 < reply.values[name_of(y)] < reply.values[name_of(x)] < 4
    again = solvers.ask([a > b, b > 3, a < 4])
    assert solvers.questions == 1 and again.values == {
        name_of(a): reply.values[name_of(x)],
        name_of(b): reply.values[name_of(y)],
    }
    assert solvers.counts["z3"] == {"unsat": 0, "sat": 1, "unknown": 0} and solvers.counts["cvc5"]["sat"] == 0
    refuted = solvers.ask([x > y, y > x])
    assert refuted.refuted and not refuted.exact and refuted.values == {} and solvers.questions == 2
    assert dict(refuted.answers) == {"z3": "unsat", "cvc5": "unsat"} and solvers.single == 0
    assert solvers.counts["z3"]["unsat"] == solvers.counts["cvc5"]["unsat"] == 1
    roots = solvers.ask([x * x == 2, x > 0])
    assert not roots.refuted and not roots.exact
    assert abs(float(roots.values[name_of(x)]) - math.sqrt(2)) < 1e-12


def test_sums_of_public_numbers_above_zero_are_no_smaller_than_their_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 / ((50 + v)(51 + v)) for v from 0.01: the divisor is above 2550, however small v is; 50 - v can be small."""
    v = real()
    monkeypatch.setitem(magnitudes.ranges, name_of(v), (0.01, 100.0))
    far = "a divisor of which nothing may be left: a difference, a label, a score, an exponential"
    assert too_far([(100 + v) / ((number(50) + v) * (number(51) + v))]) == ""
    assert too_far([(100 + v) / ((number(50) - v) * (number(51) - v))]) == far
    monkeypatch.setitem(magnitudes.ranges, name_of(v), (-100.0, -0.01))
    assert too_far([(100 + v) / ((number(50) + v) * (number(51) + v))]) == far


def test_formulas_of_a_range_have_their_sizes_within_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 / (v + 1 / v) is a half at 1, and 2^-8 at both ends."""
    x, v = real(), real()
    monkeypatch.setitem(magnitudes.ranges, name_of(v), (2.0**-8, 2.0**8))
    beside = v + 1 / v
    assert spread([1 / beside])[1] >= 0.5 and spread([v / (1 + v) / (1 + v)])[1] >= 0.25
    lost = x / 3 / beside / beside / beside
    assert -60 < magnitudes.error_of(lost) < -45 and too_far([lost * number(2**16)]) == ""
    assert "rounds large" in too_far([lost * number(2**40)])
    clipped = z3.If(v <= 1, v, number(1)) * z3.If(1 / v <= 1, 1 / v, number(1))
    assert spread([clipped])[1] >= 1.0


def test_many_ranges_are_looked_at_in_longer_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    several = [real() for _ in range(8)]
    for one in several:
        monkeypatch.setitem(magnitudes.ranges, name_of(one), (2.0**-8, 2.0**8))
    for many, count in ((1, 4), (3, 64), (4, 16), (7, 1)):
        pieces = list(magnitudes._pieces([sum(several[:many])]))
        assert len(pieces) == count
        assert {ends for piece in pieces for ends in piece.values()} >= {pieces[0][name_of(several[0])]}
        assert min(low for one in pieces for low, _ in one.values()) == -8.0
        assert max(high for one in pieces for _, high in one.values()) == 8.0


def test_steps_of_the_grid_may_be_as_far_as_their_rounding_takes_for_possible() -> None:
    """x / 3 is off by 2^-53, by 2^-29 steps of the grid: rounded to a whole number of them that is nothing."""
    x, step = real(), number(GRID)
    assert too_far([x / 3 * 8 / step]) == ""
    assert too_far([x / 3 * 2**11 / step]) == ""
    assert too_far([x / 3 * 2**15 / step]) != ""
    assert too_far([x / 3 * 8 * number(1 / GRID)]) == ""
    assert too_far([x / 3 * 2**11 * number(1 / GRID)]) != ""


def test_what_is_clipped_to_two_numbers_is_no_larger_than_these() -> None:
    v = real()
    magnitudes.describe(v, anywhere=True, label=26.0)
    larger, smaller = z3.If(v >= -2, v, z3.RealVal(-2)), z3.If(v <= 3, v, z3.RealVal(3))
    for both in (z3.If(larger <= 3, larger, z3.RealVal(3)), z3.If(smaller <= -2, z3.RealVal(-2), smaller)):
        assert magnitudes.order_of(both) == math.log2(3)
        assert magnitudes.many_of(both) == math.log2(3)
        assert too_far([both + 1]) == ""
    twice = z3.If(larger >= 3, larger, z3.RealVal(3))
    by_another = z3.If(v >= 0, larger, z3.RealVal(3))
    for neither in (larger, smaller, twice, by_another):
        assert magnitudes.order_of(neither) == 26
        assert too_far([neither + 1]) == "a formula that makes what float64 rounds large"
