"""Numbers that follow from an open parameter: what comparisons of them give, for all values of the parameter or not."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Relation, Sensitivity
from refdp.prove import charged, magnitudes
from refdp.prove.asking import Solvers, evaluated, name_of, number
from refdp.prove.open import Open, Opens, as_float, closed, example_of, is_open, opened, term_of
from refdp.prove.terms import Unmodelled

SOLVERS = Solvers()


@dataclass(frozen=True)
class Holder:
    inside: Any
    other: int = 3


def opens(**ranges: tuple[float, float]) -> Opens:
    return Opens(ranges, lambda conditions: SOLVERS.ask(conditions).refuted, {}, lambda term: None)


def parameter(low: float, high: float, example: float) -> Open:
    return opens(p=(low, high)).parameter("p", example)


def at(one: Any, p: Open, value: Fraction) -> Any:
    return evaluated(term_of(one), {name_of(object.__getattribute__(p, "term")): value})


def test_a_parameter_is_in_its_range() -> None:
    own = opens(p=(1.0, 4.0), q=(-2.0, 0.5))
    p, q = own.parameter("p", 4.0), own.parameter("q", -2.0)
    assert own.said == "p or q" and own.pure and list(own.names.values()) == ["p", "q"]
    assert own.sides == {name_of(p.term): (1.0, 4.0, 4.0), name_of(q.term): (-2.0, 0.5, -2.0)}
    assert own.own == {name_of(p.term), name_of(q.term)} and (p.error, p.grid, p.example) == ("exact", None, 4.0)
    assert magnitudes.ranges[name_of(q.term)] == (-2.0, 0.5)
    for value, inside in ((1, True), (4, True), (Fraction(99, 100), False), (Fraction(401, 100), False)):
        assert all(evaluated(one, {name_of(p.term): Fraction(value)}) for one in own.known[name_of(p.term)]) == inside
    for name, wrong in (("p", 0.99), ("p", 4.01), ("q", 0.6)):
        with pytest.raises(Unmodelled, match="not in the range"):
            own.parameter(name, wrong)
    assert own.described({name_of(q.term): Fraction(1, 2), "other": 3}) == {"q": "1/2"}
    assert len(own.facts([p.term])) == 2 and len(own.facts([p.term + q.term])) == 4
    follows = own.fresh(1.0, lambda term: [term > p.term, term < q.term + 9], 1.0, 9.0)
    assert len(own.facts([follows.term])) == 6 and own.facts([number(3)]) == []


@pytest.mark.parametrize(("name", "other", "found"), [
    ("less", 5, True), ("less", 4, None), ("less", 1, False), ("less", 0, False), ("less_equal", 4, True),
    ("less_equal", 1, None), ("less_equal", 0.5, False), ("less_equal", 3.99, None), ("greater", 0.5, True),
    ("greater", 1, None), ("greater", 4, False), ("greater_equal", 1, True), ("greater_equal", 1.5, None),
    ("greater_equal", 4, None), ("greater_equal", 4.5, False), ("equal", 5, False), ("equal", 2, None),
    ("not_equal", 0, True), ("not_equal", 4, None), ("less", math.inf, True), ("greater", math.inf, False),
    ("greater", -math.inf, True), ("equal", math.inf, False), ("not_equal", -math.inf, True), ("less", math.nan, None),
])  # fmt: skip
def test_comparisons_that_come_out_alike_for_all_values(name: str, other: float, found: bool | None) -> None:
    """p is in [1, 4]; also the other way round."""
    turned = {"less": "greater", "greater": "less", "less_equal": "greater_equal", "greater_equal": "less_equal"}
    p = parameter(1.0, 4.0, 2.0)
    for one, arguments in ((name, (p, other)), (turned.get(name, name), (other, p))):
        if found is None:
            with pytest.raises(Unmodelled):
                p.opens.compared(one, arguments)
        else:
            assert p.opens.operated(one, arguments) is found


def test_one_value_and_truth() -> None:
    p = parameter(2.0, 2.0, 2.0)
    assert p.opens.compared("equal", (p, 2)) and not p.opens.compared("not_equal", (p, 2))
    assert bool(p) and not parameter(0.0, 0.0, 0.0)
    with pytest.raises(Unmodelled, match="decides"):
        bool(parameter(0.0, 1.0, 0.5))


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"])
def test_rounded_numbers_are_told_apart_from_a_distance_on(name: str) -> None:
    """3 p is in [3, 12], up to 2^-44 of the largest number in the comparison."""
    p = parameter(1.0, 4.0, 2.0)
    three = p.opens.operated("multiply", (p, 3))
    assert three.error == "near" and three.example == 6.0
    answers = {"less": (False, True), "less_equal": (False, True), "greater": (True, False),
               "greater_equal": (True, False), "equal": (False, False), "not_equal": (True, True)}[name]  # fmt: skip
    for end, sign, answer in ((3.0, -1, answers[0]), (12.0, 1, answers[1])):
        for off in (2.0**-39, 1.0):
            assert p.opens.compared(name, (three, end + sign * off)) is answer
        for off in (0.0, 2.0**-47, -(2.0**-39)):
            with pytest.raises(Unmodelled):
                p.opens.compared(name, (three, end + sign * off))


def test_arithmetic_of_open_numbers() -> None:
    p = parameter(1.0, 4.0, 2.0)
    own = p.opens
    for name, arguments, example, error in (
        ("add", (p, 3), 5.0, "near"), ("subtract", (0.5, p), -1.5, "near"), ("multiply", (p, p), 4.0, "near"),
        ("divide", (1, p), 0.5, "near"), ("negative", (p,), -2.0, "exact"), ("absolute", (p,), 2.0, "exact"),
        ("minimum", (p, 3), 2.0, "exact"), ("maximum", (p, np.float64(3)), 3.0, "exact"), ("square", (p,), 4.0, "near"),
    ):  # fmt: skip
        found = own.operated(name, arguments)
        assert (found.example, found.error) == (example, error) and found.opens is own
        for value in (Fraction(1), Fraction(7, 3), Fraction(4)):
            plain = [value if one is p else Fraction(one) for one in arguments]
            assert at(found, p, value) == Fraction(getattr(np, name)(*plain))
    again = own.operated("negative", (own.operated("add", (p, 1)),))
    assert again.error == "near"
    for name, wrong in (("divide", (1, own.operated("subtract", (p, 2)))), ("exp", (p,)), ("add", (p, "x")),
                        ("add", (p, True)), ("multiply", (p, 1e200))):  # fmt: skip
        with pytest.raises(Unmodelled):
            own.operated(name, wrong)


def test_float_of_an_exact_number_rounds() -> None:
    p = parameter(1.0, 3.0, 2.0)
    assert as_float(p) is p
    exact = Open(p.term, Fraction(1, 3), p.opens, "up")
    found = as_float(exact)
    assert (found.example, found.error) == (1 / 3, "near") and found.term is p.term
    less = np.minimum(exact, 0.25)  # where it is 1/4, training goes on in float64
    assert isinstance(less.example, float) and isinstance(np.minimum(exact, Fraction(1, 4)).example, Fraction)


def test_how_far_from_0_a_number_can_be() -> None:
    for low, high in ((1.0, 4.0), (-4.0, -1.0), (-4.0, 2.0)):
        p = parameter(low, high, low)
        assert p.opens.at_most(p, 4.0) and p.opens.at_most(p, 9.0) and not p.opens.at_most(p, 3.99)
    assert p.opens.never(p.term > 2) and not p.opens.never(p.term >= 2) and p.opens.never(p.term > 1, p.term < 0)


def test_open_numbers_in_what_is_made_of_them() -> None:
    p = parameter(1.0, 4.0, 2.0)
    nested: Any = p
    for _ in range(40):
        nested = [nested]
    array = np.empty((1, 2), dtype=object)
    array[0, 0], array[0, 1] = 1, p
    for value in (p, [1, p], (p,), {"a": p}, {3: (1, [p])}, array, Holder(p), nested):
        assert [one is p for one in opened(value)] == [True]
    for value in (3, "p", None, [1.0], np.zeros(2), Holder(4), [[nested, 1], 2][0][:0], int):
        assert list(opened(value)) == []
    assert len(list(opened([p, (p, 1)]))) == 2
    assert is_open(p) and not is_open(2.0) and example_of(p) == 2.0 and example_of("x") == "x"
    assert closed([1, (p, "x")]) == [1, (2.0, "x")] and closed(Holder(p)) == Holder(2.0) and closed("x") == "x"
    same = Holder(5)
    assert closed(same) is same and closed(Holder) is Holder
    assert copy.copy(p) is p and copy.deepcopy(p) is p


def test_an_open_number_is_not_looked_at() -> None:
    p = parameter(1.0, 4.0, 2.0)
    for look in (float, int, complex, round, math.trunc, math.floor, math.ceil, hash, repr, str, len, list, iter):
        with pytest.raises(Unmodelled):
            look(p)  # type: ignore[operator]
    with pytest.raises(Unmodelled):
        p.anything  # noqa: B018


# --- Noise for bounds that follow from it -----------------------------------------------------------------------------


def declared(bound: Any, norm: Any = 1) -> Sensitivity:
    made = Sensitivity(1.0, norm, "a/claim", Relation.ADD_REMOVE)
    object.__setattr__(made, "bound", bound)
    return made


def noise(kind: Any, size: Any, *more: Any) -> Any:
    made = kind(1.0, *more)
    object.__setattr__(made, charged.NOISE[kind], size)
    return made


@pytest.mark.parametrize(("kind", "more"), [
    (Laplace, ()), (Gaussian, ()), (DiscreteLaplace, (0.5,)), (DiscreteGaussian, (0.5,)),
])  # fmt: skip
def test_a_release_costs_no_more_than_at_the_example(kind: Any, more: Any) -> None:
    """Its bound over its noise: 2 p over 4 p, p over 3, 3 over p."""
    p = parameter(1.0, 4.0, 2.0)
    own = p.opens
    twice, four = own.operated("multiply", (p, 2)), own.operated("multiply", (p, 4))
    charged.check_cost(own, noise(kind, four, *more), declared(twice))
    charged.check_cost(own, noise(kind, 3.0, *more), declared(1.0))
    for size, bound in ((3.0, p), (p, 3.0), (twice, 1.0)):
        with pytest.raises(Unmodelled, match="costs more"):
            charged.check_cost(own, noise(kind, size, *more), declared(bound))
    most, least = parameter(1.0, 2.0, 2.0), parameter(2.0, 4.0, 2.0)
    charged.check_cost(most.opens, noise(kind, 3.0, *more), declared(most))
    charged.check_cost(least.opens, noise(kind, least, *more), declared(3.0))
    own.pure = False
    if more:
        with pytest.raises(Unmodelled, match="at a delta above 0"):
            charged.check_cost(own, noise(kind, four, *more), declared(twice))
    else:
        charged.check_cost(own, noise(kind, four, *more), declared(twice))


def test_costs_of_choices_and_of_other_noise() -> None:
    p = parameter(1.0, 4.0, 2.0)
    over = p.opens.operated("divide", (3, p))
    charged.check_cost(p.opens, noise(Exponential, over), declared(p, "range"))
    for size, bound in ((p, p), (1.0, p), (over, 1.0)):
        with pytest.raises(Unmodelled, match="costs more"):
            charged.check_cost(p.opens, noise(Exponential, size), declared(bound, "range"))
    with pytest.raises(Unmodelled, match="noise of Gaussian"):
        charged.check_cost(p.opens, noise(Gaussian, p), declared(1.0, "whitened"))
    with pytest.raises(Unmodelled, match="several deviations"):
        charged.check_cost(p.opens, noise(Gaussian, (1.0, 2.0)), declared(p, 2))
    with pytest.raises(Unmodelled, match="noise of Holder"):
        charged.check_cost(p.opens, Holder(p), declared(1.0))


def test_bounds_before_rounding() -> None:
    """On its own grid the bound that it was made of, for as many values as it was made for; else what is left of it."""
    p = parameter(1.0, 4.0, 2.0)
    step = p.opens.fresh(0.5, lambda term: [term > 0], 0.25, 1.0)
    other = p.opens.fresh(0.5, lambda term: [term > 0], 0.25, 1.0)
    made = p.opens.fresh(3.0, lambda term: [term > 0], 1.0, 9.0, charged.OnGrid(p.term, step.term, 2))
    for count in (0, 1, 2):
        assert charged.before_rounding(made, step, count) is p.term
    for size, count in ((step, 3), (other, 2), (0.5, 1)):
        left = charged.before_rounding(made, size, count)
        values: dict[str, Any] = {name_of(one.term): value for one, value in ((made, 7), (step, 2), (other, 3))}
        assert evaluated(left, values) == 7 - count * {id(step): 2, id(other): 3}.get(id(size), Fraction(1, 2))
    assert charged.before_rounding(4.0, 0.5, 3) == Fraction(5, 2)
    assert charged.amount(0.1) == Fraction(0.1) and charged.amount(p) is p.term
    charged.exactly_declared(p), charged.exactly_declared(3.0)
    with pytest.raises(Unmodelled, match="rounded down"):
        charged.exactly_declared(p.opens.operated("add", (p, 1)))
