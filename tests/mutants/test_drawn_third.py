"""Places where mistakes of a third draw lived on, and what stands beside them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.conform import judge
from refdp.data.records import Classes, Interval
from refdp.faces import prediction
from refdp.io.datasets import Dataset
from refdp.prove.arithmetic import _joined
from refdp.prove.contributed import _last
from refdp.prove.tables import ALL, Sum

# --- Sums over sets of records ----------------------------------------------------------------------------------------


def cells(one: Sum) -> set[tuple[str, str]]:
    """What a sum is over: sides of two options; a sum over all sides is the same whatever the option."""
    return {(option, side) for option in ("left", "right") for side in one.sides if one.option in (None, option)}


def test_sums_are_joined_where_the_sets_are_disjoint_or_one_holds_the_other() -> None:
    """Every pair of sums over sides of no, one or another option; what is joined is over exactly those records."""
    sides = [frozenset(one) for size in (1, 2, 3) for one in itertools.combinations("amr", size)]
    sums = [Sum(0, "count", (), (), side, None if side == ALL else option)
            for side in sides for option in ("left", "right")]  # fmt: skip
    joined = 0
    for one, other in itertools.product(sums, repeat=2):
        clash = one.option is not None and other.option is not None and one.option != other.option
        for name in ("add", "subtract", "multiply"):
            found = _joined(name, [one, other])
            fits = not one.sides & other.sides if name == "add" else other.sides < one.sides
            assert (found is not None) == (name != "multiply" and fits and not clash), (name, one, other)
            if found is not None:
                assert found.sides == (one.sides | other.sides if name == "add" else one.sides - other.sides)
                assert found.option == (None if found.sides == ALL else one.option or other.option)
                joined += 1
    assert joined > 20


@pytest.mark.parametrize("changed", [{"state": 1}, {"name": "label"}, {"scopes": ((0, 1),)},
                                     {"seats": (("a", "m"),)}, {"units": True}])  # fmt: skip
def test_sums_of_other_kinds_are_not_joined(changed: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"state": 0, "name": "count", "scopes": (), "seats": (), "option": "left", "units": False}
    one, other = Sum(**plain, sides=frozenset("a")), Sum(**{**plain, **changed}, sides=frozenset("r"))
    assert _joined("add", [one, other]) is None and _joined("add", [one, "r"]) is None
    same = _joined("add", [one, Sum(**plain, sides=frozenset("r"))])
    assert same is not None and same.sides == frozenset("ar") and same.option == "left"


def test_the_last_value_for_which_something_holds_is_found() -> None:
    """Also the first, or none."""
    values = [Fraction(k, 3) for k in range(9)]
    for count in range(10):
        found = _last(values, lambda value: value >= Fraction(count, 3))  # noqa: B023
        assert found == (values[count - 1] if count else None)
    assert _last([], lambda value: False) is None


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(
    ("share", "questions"), [(None, 119), (Fraction(0), 99), (Fraction(1, 2), 112), (Fraction(1), 119)]
)
def test_a_record_that_is_beyond_a_bound_saves_questions(share: Fraction | None, questions: int, side: int) -> None:
    """Whatever is told of it, the bound that is found is the same. most: where the furthest record is; share: how far
    from there to the bound the record is that is told of."""
    bounds, asked = [side * Fraction(k) for k in range(-6, 7)], 0
    for most in (Fraction(k, 2) for k in range(-15, 16)):

        def beyond(bound: Fraction) -> bool | Fraction:
            nonlocal asked
            asked += 1
            return side * bound > side * most and (share is None or most + share * (bound - most))  # noqa: B023

        within = [bound for bound in bounds if side * bound <= side * most]
        assert _last(bounds, beyond) == (within[-1] if within else None)
    assert asked == questions


# --- Draws of whole numbers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["discrete-laplace", "discrete-gaussian"])
def test_a_whole_numbers_place_is_inside_its_step(name: str) -> None:
    """Between the law's distribution function before and at the number, by summing its masses."""
    parameter = Fraction(5, 2)
    numbers = np.arange(-40, 41)
    masses = [
        math.exp(-abs(k) / 2.5) if name == "discrete-laplace" else math.exp(-k * k / 5.0) for k in range(-400, 401)
    ]
    whole = math.fsum(masses)
    found = judge._between(name, parameter, numbers.astype(float))
    for number, place in zip(numbers.tolist(), found.tolist(), strict=True):
        before = math.fsum(masses[: number + 400]) / whole
        at = math.fsum(masses[: number + 401]) / whole
        assert before - 1e-12 <= place <= at + 1e-12
    assert np.array_equal(found, judge._between(name, parameter, numbers.astype(float)))
    inside = (found - np.concatenate([[0.0], np.cumsum(masses)])[360:441] / whole)[20:61] / (
        np.array(masses)[380:421] / whole
    )
    assert len(set(np.round(inside, 6))) == 41


# --- Metrics ----------------------------------------------------------------------------------------------------------


def held_out(target: Any, y: list[float]) -> Dataset:
    return Dataset("made", np.arange(len(y), dtype=float)[:, None], np.array(y), (), "y", target, {})


def test_metrics_of_a_regression(monkeypatch: pytest.MonkeyPatch) -> None:
    model: Any = object()

    def scores(given: Any, x: np.ndarray) -> np.ndarray:
        assert given is model
        return x[:, 0] + 1

    monkeypatch.setattr(prediction, "scores", scores)
    found = prediction.metrics(model, held_out(Interval(0.0, 9.0), [1.0, 4.0, 5.0]))  # residuals 0, -2, -2
    assert found == {"rmse": pytest.approx(math.sqrt(8 / 3)), "mae": pytest.approx(4 / 3)}
    assert prediction.metrics(model, held_out(Interval(0.0, 9.0), [])) == {"rmse": None, "mae": None}


def test_metrics_of_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The area under the curve is the share of pairs in the right order, ties by half."""
    model: Any = object()
    raw = np.array([-1.0, 0.5, 0.5, 2.0, 0.0])
    labels = [0.0, 1.0, 0.0, 1.0, 1.0]
    monkeypatch.setattr(prediction, "scores", lambda given, x: raw[x[:, 0].astype(int)][:, None])
    found = prediction.metrics(model, held_out(Classes((0, 1)), labels))
    pairs = [(raw[i], raw[j]) for i in range(5) for j in range(5) if labels[i] == 1 and labels[j] == 0]
    area = sum((p > q) + 0.5 * (p == q) for p, q in pairs) / len(pairs)
    assert found == {"auc": pytest.approx(area), "error": pytest.approx(2 / 5)}
    assert prediction.metrics(model, held_out(Classes((0, 1)), [0.0, 0.0]))["auc"] is None
    assert prediction.metrics(model, held_out(Classes((0, 1)), [])) == {"auc": None, "error": None}
    assert prediction.classes(model, np.array([[4.0], [3.0], [0.0]])).tolist() == [0, 1, 0]
    three = np.array([[0.1, 0.5, 0.2], [2.0, 1.0, 0.0]])
    monkeypatch.setattr(prediction, "scores", lambda given, x: three[x[:, 0].astype(int)])
    assert prediction.classes(model, np.array([[1.0], [0.0]])).tolist() == [0, 1]
