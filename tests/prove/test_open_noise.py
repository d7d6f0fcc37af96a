"""Calibration of bounds that follow from an open parameter: at the example it is the plain one, and what is known of
its grid holds for the plain grid at every other value."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp import checks
from refdp.data import losses, numbers
from refdp.data.losses import GRID
from refdp.errors import InvalidParameter
from refdp.noise import calibration, draws
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Relation, Sensitivity
from refdp.prove import charged, magnitudes
from refdp.prove.asking import evaluated, name_of
from refdp.prove.open import Open
from refdp.prove.terms import Unmodelled
from tests.prove.test_open_numbers import declared, parameter

VALUES = [Fraction(n, 8) for n in (8, 9, 13, 16, 21, 31, 32)]
PLAIN = {name: getattr(calibration, name) for name in ("laplace", "gaussian", "laplace_charge")}


def plain(bound: float, norm: Any = 1) -> Sensitivity:
    return Sensitivity(bound, norm, "a/claim", Relation.ADD_REMOVE)


def at(term: Any, **values: Any) -> Any:
    return evaluated(term, values)


def patched(p: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a reading does; Gaussian noise by a stand-in, which takes an open deviation."""

    class Stand:
        @classmethod
        def calibrated(cls, mu: float, bound: Any, step: Any = None) -> Any:
            return SimpleNamespace(sd=p.opens.operated("divide", (bound, mu)), step=step)

    monkeypatch.setattr(charged, "Gaussian", Stand)
    monkeypatch.setattr(charged, "DiscreteGaussian", Stand)
    for room, name, made in list(charged.exchanged(p.opens, [])):
        monkeypatch.setattr(room, name, made)


def holding(p: Open, one: Open, value: Any, **others: Any) -> bool:
    """Whether what is known of an unknown allows this value."""
    own = name_of(one.term)
    return all(evaluated(fact, {**others, own: Fraction(value)}) for fact in p.opens.known[own])


def test_bounds_are_rounded_up(monkeypatch: pytest.MonkeyPatch) -> None:
    p = parameter(1.0, 4.0, 2.1)
    patched(p, monkeypatch)
    found = numbers.rounded_up(lambda a, b: a / 3 + b, p, 0.1)
    assert isinstance(found, Open) and found.error == "up"
    assert found.example == numbers.at_least(Fraction(2.1) / 3 + Fraction(0.1))
    for value in VALUES:
        assert at(found.term, **{name_of(p.term): value}) == value / 3 + Fraction(0.1)
    near = numbers.rounded_up(lambda a: a / 3, p.opens.operated("add", (p, 1)))
    assert isinstance(near, Open) and near.error == "near"
    assert numbers.rounded_up(lambda a: a / 3, 0.1) == numbers.at_least(Fraction(0.1) / 3)


def test_multiples_of_the_grid_below(monkeypatch: pytest.MonkeyPatch) -> None:
    p, whole = parameter(1.0, 4.0, 2.1), []
    p.opens.whole = whole.append
    patched(p, monkeypatch)
    found: Any = losses.grid_floor(p)  # type: ignore[arg-type]
    assert found.example == math.floor(2.1 / GRID) * GRID and found.error == "exact" and len(whole) == 1
    steps = Open(whole[0], 0, p.opens)
    for value in (Fraction(1), Fraction(2) + Fraction(GRID) / 3, Fraction(31, 8)):
        k, own = math.floor(value / Fraction(GRID)), {name_of(p.term): value}
        assert [holding(p, steps, k + off, **own) for off in (-1, 0, 1)] == [False, True, False]
        assert at(found.term, **{name_of(whole[0]): Fraction(k)}) == k * Fraction(GRID)
    for wrong in (parameter(0.0, 1.0, 0.5), parameter(GRID, 1.0, 0.5)):
        patched(wrong, monkeypatch)
        with pytest.raises(Unmodelled, match="grid's multiple"):
            losses.grid_floor(wrong)  # type: ignore[arg-type]
    with pytest.raises(Unmodelled, match="grid's multiple"):
        losses.grid_floor(p.opens.operated("add", (p, 1)))


def test_checks_of_open_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    p = parameter(1.0, 4.0, 2.0)
    patched(p, monkeypatch)
    check_number = next(made for own, made in charged._functions(p.opens) if own is checks.check_number)
    for fine in ({}, {"above": 0.5}, {"least": 1}, {"below": 5}, {"most": 4}, {"above": 0, "most": 4, "least": 1}):
        check_number("p", p, **fine)
    for wrong in ({"above": 4}, {"least": 5}, {"below": 1}, {"most": 0.5}, {"above": 0, "most": 0.5}):
        with pytest.raises(InvalidParameter):
            check_number("p", p, **wrong)
    for low, high, fine in ((1.0, 2.0**100, True), (1.0, 2.0**101, False), (-2.0, -1.0, False)):  # type: ignore[assignment]
        other = parameter(low, high, low)
        patched(other, monkeypatch)
        if fine:
            draws.check_positive("p", other)
        else:
            with pytest.raises(InvalidParameter):
                draws.check_positive("p", other)
    draws.check_positive("p", 3.0)


def test_noise_without_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    p = parameter(1.0, 4.0, 2.1)
    patched(p, monkeypatch)
    for name, size, spend in (("laplace", "scale", 3.0), ("gaussian", "sd", 0.7)):
        norm = 1 if name == "laplace" else 2
        mechanism, sensitivity = getattr(calibration, name)(spend, declared(p, norm), "floating", touched=1)
        expected, _ = PLAIN[name](spend, plain(2.1, norm), "floating", touched=1)
        scale = getattr(mechanism, size)
        assert sensitivity.bound is p and scale.example == pytest.approx(getattr(expected, size), rel=1e-12)
        for value in VALUES:
            assert at(scale.term, **{name_of(p.term): value}) == value / Fraction(spend)
    over: Any = draws.quotient_at_most(3.0, p)  # type: ignore[arg-type]
    assert over.example == draws.quotient_at_most(3.0, 2.1) and at(over.term, **{name_of(p.term): Fraction(2)}) == 1.5
    for name in ("laplace", "gaussian"):
        with pytest.raises(Unmodelled, match="follows from"):
            getattr(calibration, name)(p, declared(p), "floating", touched=1)


@pytest.mark.parametrize("touched", [1, 3])
def test_noise_on_a_grid(touched: int, monkeypatch: pytest.MonkeyPatch) -> None:
    p = parameter(1.0, 4.0, 2.1)
    patched(p, monkeypatch)
    for name, norm, spend in (("laplace", 1, 3.0), ("gaussian", 2, 0.7)):
        mechanism, sensitivity = getattr(calibration, name)(spend, declared(p, norm), "discrete", touched=touched)
        expected, same = PLAIN[name](spend, plain(2.1, norm), "discrete", touched=touched)
        assert (mechanism.step.example, sensitivity.bound.example) == (expected.step, same.bound)
        if name == "laplace":
            assert mechanism.scale.example == expected.scale
        else:
            assert mechanism.sd.example == pytest.approx(expected.sd)
        own = {name_of(p.term): Fraction(0)}
        for value in VALUES:
            other, charge = PLAIN[name](spend, plain(float(value), norm), "discrete", touched=touched)
            own[name_of(p.term)] = value
            step = Fraction(other.step)
            assert [holding(p, mechanism.step, step * k, **own) for k in (Fraction(1, 4), 1, 4)] == [False, True, False]
            own[name_of(mechanism.step.term)] = step
            if name == "laplace":
                w = Fraction(charge.bound)
                assert [holding(p, sensitivity.bound, w + k * step, **own) for k in (-2, 0, 2)] == [False, True, False]
                assert sensitivity.bound.grid[2] == touched and sensitivity.bound.grid.bound is p.term
            else:
                moved = Fraction(numbers.root(touched)) * step
                assert at(sensitivity.bound.term, **own) == value + moved and sensitivity.bound.error == "up"


def sized(one: Any, size: Fraction) -> bool:
    """Whether the range that an unknown is said to lie in holds this size, and is no wider than it need be."""
    low, high = magnitudes.ranges[name_of(one.term if isinstance(one, Open) else one)]
    assert high <= 200 * low
    return low <= size <= high


@pytest.mark.parametrize("touched", [1, 3])
def test_unknowns_of_a_grid_lie_in_their_ranges(touched: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At every value of the parameter, its ends too: no formula on them may be taken for smaller than it is."""
    p, whole = parameter(1.0, 4.0, 2.1), list[Any]()
    p.opens.whole = whole.append
    patched(p, monkeypatch)
    losses.grid_floor(p)  # type: ignore[arg-type]
    for spend in (3.0, 0.7, 4 / 1024, 1024.0):
        mechanism, sensitivity = calibration.laplace(spend, declared(p, 1), "discrete", touched=touched)
        for value in VALUES:
            other, charge = PLAIN["laplace"](spend, plain(float(value)), "discrete", touched=touched)
            assert sized(mechanism.step, Fraction(other.step)) and sized(sensitivity.bound, Fraction(charge.bound))
            assert sized(whole[0], Fraction(math.floor(value / Fraction(GRID))))


def test_a_step_is_known_up_to_the_rounding_of_its_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where float64 rounds a scale to the next power of two, either step is allowed; elsewhere one alone."""
    p = parameter(1.0, 4.0, 2.1)
    patched(p, monkeypatch)
    mechanism, sensitivity = calibration.laplace(3.0, declared(p, 1), "discrete", touched=2)
    near = Fraction(1, 2**54)
    for value, powers in [(Fraction(3, 2) * (1 - near), {11, 12}), (Fraction(3) * (1 + near), {10, 11}),
                          (Fraction(7, 4), {11}), (Fraction(23, 8), {11}), (Fraction(13, 4), {10})]:  # fmt: skip
        own = {name_of(p.term): value}
        assert {k for k in range(8, 16) if holding(p, mechanism.step, Fraction(1, 2**k), **own)} == powers
        step = Fraction(1, 2**11)
        own[name_of(mechanism.step.term)] = step
        due = math.floor(value / step + 2) * step
        assert [holding(p, sensitivity.bound, due + k * step, **own) for k in (-1, 0)] == [False, True]


def test_a_bound_of_any_number_that_may_be_rounded_down_may_be_so_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    p = parameter(1.0, 4.0, 2.1)
    patched(p, monkeypatch)
    near = p.opens.operated("add", (p, 1))
    for given in ((p, near), (near, p), (near, near)):
        assert numbers.rounded_up(lambda a, b: a / 3 + b, *given).error == "near"  # type: ignore[attr-defined]
    assert numbers.rounded_up(lambda a, b: a / 3 + b, p, p).error == "up"  # type: ignore[attr-defined]


def test_an_open_epsilon_and_a_bound_that_can_be_0_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    p, null = parameter(1.0, 4.0, 2.0), parameter(0.0, 1.0, 0.5)
    patched(p, monkeypatch)
    for function, given in ((draws.smallest_scale, ("sensitivity", p, 1.0)), (draws.quotient_at_most, (p, 2.0)),
                            (draws.quotient_at_most, (p, p))):  # fmt: skip
        with pytest.raises(Unmodelled, match="follows from"):
            function(*given)  # type: ignore[operator]
    patched(null, monkeypatch)
    with pytest.raises(Unmodelled, match="does not say"):
        draws.check_positive("p", null)
    charged.check_cost(p.opens, object(), plain(3.0))  # nothing of it is open


def test_what_a_text_remembers_is_asked_anew_of_open_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    text, calls = ModuleType("text"), list[Any]()

    @cache
    def doubled(one: Any) -> Any:
        calls.append(one)
        return one * 2

    text.doubled = doubled  # type: ignore[attr-defined]
    p = parameter(1.0, 4.0, 2.0)
    (made,) = [one for room, name, one in charged.exchanged(p.opens, [text]) if room is text]
    assert [made(3.0), made(3.0)] == [6.0, 6.0] and calls == [3.0]
    assert isinstance(made(p), Open) and isinstance(made(p), Open) and len(calls) == 3


def test_a_charge_of_two_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    p = parameter(1.0, 4.0, 2.1)
    patched(p, monkeypatch)
    one, other = declared(p), declared(p.opens.operated("maximum", (p, 0.5)))
    same = calibration.laplace_charge(3.0, one, replace_bound(one, p), "discrete", touched=2)
    assert same.proved.bound is same.declared.bound
    two = calibration.laplace_charge(3.0, one, other, "discrete", touched=2)
    expected = PLAIN["laplace_charge"](3.0, plain(2.1), plain(2.1), "discrete", touched=2)
    assert two.proved.bound is not two.declared.bound
    assert two.proved.bound.example == two.declared.bound.example == expected.declared.bound  # type: ignore[attr-defined]
    loose = calibration.laplace_charge(3.0, one, other, "floating", touched=2)
    assert isinstance(loose.mechanism, Laplace) and loose.proved is other and loose.declared is one
    with pytest.raises(Unmodelled, match="declared one does not"):
        calibration.laplace_charge(3.0, plain(2.0), one, "discrete", touched=2)


def test_what_much_arithmetic_rounds_adds_up() -> None:
    p = parameter(1.0, 4.0, 2.0)

    def rounded(one: Any) -> Any:
        return charged.rounded(p.opens, object.__getattribute__(one, "term"))

    def less(one: Any) -> Any:
        return (one * 60.0 + 1.0) - one * 60.0

    grown = [parameter(1.0, 1.0001, 1.0)]
    for _ in range(14):
        grown.append(grown[-1] * grown[-1])
    assert 0 < rounded(p * p + p) < rounded(grown[8]) < charged.ROUNDING < rounded(grown[-1])
    assert rounded(less(p)) < charged.ROUNDING < rounded(less(less(p)))
    with pytest.raises(Unmodelled, match="difference of larger numbers"):
        rounded((p * 600.0 + 1.0) - p * 600.0)


def replace_bound(one: Sensitivity, bound: Any) -> Sensitivity:
    made = replace(one, bound=1.0)
    object.__setattr__(made, "bound", bound)
    return made


def test_grids_that_are_known() -> None:
    for epsilon, touched, fine in ((1.0, 0, True), (2.0**20, 2**20, True), (2.0**20 * 1.01, 1, False), (1.0, -1, False),
                                   (1.0, 2**20 + 1, False), (1.0, 2.0, False), (1.0, True, False)):  # fmt: skip
        if fine:
            charged._on_grid(epsilon, touched)
        else:
            with pytest.raises(Unmodelled, match="not known"):
                charged._on_grid(epsilon, touched)
