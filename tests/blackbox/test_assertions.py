"""Assertions for other projects, piece by piece: what differs between two values and where, limits, and errors."""

from __future__ import annotations

import inspect
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refdp import testing
from refdp.errors import InvalidParameter

ONE = ((0.0,), (1.0,))


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("kept",)

    def __init__(self, kept: Any) -> None:
        self.kept = kept


def holding_none() -> Any:
    return lambda: 0


def holding_itself(last: int) -> list[Any]:
    found: list[Any] = [0]
    found += [found, last]
    return found


SAME: list[tuple[Any, Any]] = [
    (1, 1),
    (float("nan"), float("nan")),
    ("text", "text"),
    (b"text", b"text"),
    (None, None),
    ([], []),
    ({}, {}),
    ({1, 2, 3}, {3, 2, 1}),
    (frozenset("ab"), frozenset("ba")),
    (np.arange(3), np.arange(3)),
    (np.array([1, "a"], dtype=object), np.array([1, "a"], dtype=object)),
    (np.random.default_rng(0), np.random.default_rng(1)),
    (random.Random(0), random.Random(1)),
    (holding_none(), holding_none()),
    (pd.DataFrame({"a": ["x", "y"]}), pd.DataFrame({"a": ["x", "y"]})),
    (pd.RangeIndex(3), pd.RangeIndex(3)),
    (int, int),
    (Slotted([1]), Slotted([1])),
    (SimpleNamespace(a=1), SimpleNamespace(a=1)),
    (holding_itself(1), holding_itself(1)),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_values_that_hold_the_same(first: Any, second: Any) -> None:
    assert testing.difference(first, second) is None
    assert testing.difference({"a": first}, {"a": second}) is None


DIFFERENT: list[tuple[Any, Any, str]] = [
    (1, 2, ""),
    (1, 1.0, ""),
    (0.0, -0.0, ""),
    ("text", "texts", ""),
    (b"a", b"b", ""),
    ([1, 2, 3], [1, 2], ""),
    ([1, 2, 3], [1, 5, 4], "[1]"),
    ((1, (2, 3)), (1, (2, 4)), "[1][1]"),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ""),
    ({"a": 1}, {"a": 1, "b": 2}, ""),
    ({"a": [1], "b": [2]}, {"a": [1], "b": [3]}, "['b'][0]"),
    ({1, 2}, {1, 3}, ""),
    (np.arange(3), np.arange(4), ""),
    (np.zeros((2, 3)), np.zeros((3, 2)), ""),
    (np.zeros(3), np.zeros(3, dtype=np.float32), ""),
    (np.zeros(3, dtype=np.int64), np.zeros(3, dtype=object), ""),
    (np.array([0.0]), np.array([-0.0]), ""),
    (np.array([[1, "a"], [2, "b"]], dtype=object), np.array([[1, "a"], [2, "c"]], dtype=object), "[3]"),
    (np.array([1, 2], dtype=object), np.array([1, 2, 3], dtype=object), ""),
    (np.random.default_rng(0), np.random.RandomState(0), ""),
    (Slotted([1, 2]), Slotted([1, 3]), "['kept'][1]"),
    (SimpleNamespace(a=1, b=2), SimpleNamespace(a=1, b=3), "['b']"),
    (SimpleNamespace(a=1), SimpleNamespace(b=1), ""),
    (holding_itself(1), holding_itself(2), "[2]"),
]


@pytest.mark.parametrize(("first", "second", "where"), DIFFERENT)
def test_the_first_place_that_differs_is_named(first: Any, second: Any, where: str) -> None:
    assert testing.difference(first, second) == testing.difference(second, first) == where
    assert testing.difference([0, first], [0, second]) == f"[1]{where}"
    assert testing.difference(first, second, "model") == f"model{where}"


def test_what_two_places_hold_is_compared_at_both() -> None:
    """Only an object inside itself is left out; the same object beside itself is not."""
    shared = [1]
    assert testing.difference([shared, shared], [[1], [2]]) == "[1][0]"


# --- Noninterference --------------------------------------------------------------------------------------------------


def test_errors_of_one_side_or_of_both() -> None:
    def raising(*sides: float) -> Any:
        def build(records: Any, values: Any) -> Any:
            if records[0] in sides:
                raise ValueError(f"no {values}")
            return values

        return build

    assert testing.assert_noninterference(raising(), ONE, [3, 4, 5]) == 3
    for side in (0.0, 1.0):
        with pytest.raises(AssertionError, match=r"values 0: the result depends on the records: ValueError\('no 3'\)"):
            testing.assert_noninterference(raising(side), ONE, [3])
    with pytest.raises(ValueError, match="no 3"):
        testing.assert_noninterference(raising(0.0, 1.0), ONE, [3])
    with pytest.raises(AssertionError, match=r"^released values 1: \['a'\] depends on the records$"):
        testing.assert_noninterference(lambda r, v: {"a": r[0] * v}, ONE, [0, 1])


def test_each_call_has_records_of_its_own() -> None:
    """`build` may spoil them; it is called three times a value."""
    seen = []

    def build(records: list[float], value: int) -> int:
        seen.append((tuple(records), value))
        records.clear()
        return value

    assert testing.assert_noninterference(build, ([0.0], [1.0]), [7, 8]) == 2
    assert seen == [((0.0,), 7), ((0.0,), 7), ((1.0,), 7), ((0.0,), 8), ((0.0,), 8), ((1.0,), 8)]


# --- Sensitivity ------------------------------------------------------------------------------------------------------


def test_a_change_may_be_above_its_bound_by_rounding_alone() -> None:
    """A relative 1e-9."""
    for size, bound in ((1.0, 1.0), (1 + 0.9e-9, 1.0), (4 * (1 + 0.9e-9), 4.0), (0.0, 0.0)):
        assert testing.assert_sensitivity(float, [(0.0, size)], bound) == size
    for size, bound in ((1 + 1.1e-9, 1.0), (4 * (1 + 1.1e-9), 4.0), (1e-12, 0.0)):
        with pytest.raises(AssertionError, match="at pair 0, above the stated"):
            testing.assert_sensitivity(float, [(0.0, size)], bound)


def test_the_largest_of_several_changes() -> None:
    pairs = [(0.0, 1.0), (5.0, 2.0), (0.0, 2.0)]
    assert testing.assert_sensitivity(float, pairs, 3.0) == 3.0
    with pytest.raises(AssertionError, match=r"sensitivity 3 at pair 1, above the stated 2.9 \(1\)"):
        testing.assert_sensitivity(float, pairs, 2.9)


def test_results_of_other_forms() -> None:
    """Truth values and whole numbers are numbers; texts, complex numbers and ragged lists are none."""
    assert testing.assert_sensitivity(lambda v: v > 0, [(0, 1)], 1) == 1.0
    assert testing.assert_sensitivity(lambda v: [[v, 0], [0, v]], [(0, 2)], 4) == 4.0  # no norm of a matrix
    for norm in (1, 2, "max"):
        assert testing.assert_sensitivity(lambda v: [], [(0, 1)], 0, norm=norm) == 0.0
    for result in ("text", 1j, [[1], [1, 2]], None):
        with pytest.raises(InvalidParameter, match="a number or an array of numbers"):
            testing.assert_sensitivity(lambda v: result, [(0, 1)], 1)  # noqa: B023
    for value in (np.inf, -np.inf, np.nan):
        for pair in ((0.0, value), (value, 0.0)):
            with pytest.raises(AssertionError, match="pair 1: a value is infinite"):
                testing.assert_sensitivity(float, [(0.0, 1.0), pair], 1)
    with pytest.raises(AssertionError, match=r"pair 1: shapes \(1,\) and \(2,\) differ"):
        testing.assert_sensitivity(lambda v: v, [([1], [2]), ([1], [1, 2])], 9)
    for wrong in ({"norm": 3}, {"bound": -1.0}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            testing.assert_sensitivity(float, [(0.0, 1.0)], **({"bound": 2.0} | wrong))


def test_a_function_may_spoil_its_records() -> None:
    first, second = [1.0, 2.0], [1.0]
    assert testing.assert_sensitivity(lambda v: (v.append(1.0), sum(v))[1], [(first, second)] * 2, 2.0) == 2.0
    assert (first, second) == ([1.0, 2.0], [1.0])


# --- Privacy ----------------------------------------------------------------------------------------------------------


def test_what_a_bound_is_asked_and_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    bound = SimpleNamespace(refuted=False, lower=2.5, counts=(7, 3), pair=4, event="x", tested=10, likelier="first",
                            test="exact", needed=0, still=False, unread=())  # fmt: skip

    def told(*given: Any, **named: Any) -> Any:
        asked.append((given, named))
        return bound

    monkeypatch.setattr(testing, "epsilon_lower_bound", told)
    plain = {"claimed": 1.5, "confidence": 1 - 1e-9, "samples": 20_000, "seed": 0, "low_bits": True}
    assert testing.assert_dp("mechanism", (3, 4), 1.5) is bound
    assert asked.pop() == (("mechanism", (3, 4), 0.0), plain)
    given: dict[str, Any] = {"samples": 5, "seed": 3, "low_bits": False}
    testing.assert_dp("mechanism", (3, 4), 1.5, 0.25, false_alarm=2.0**-52, **given)
    assert asked.pop() == (("mechanism", (3, 4), 0.25), {**given, "claimed": 1.5, "confidence": 1 - 2.0**-52})
    for wrong in (2.0**-53, 0.0, 1.0):
        with pytest.raises(InvalidParameter, match="false_alarm"):
            testing.assert_dp("mechanism", (3, 4), 1.5, false_alarm=wrong)
    bound.refuted = True
    said = r"not \(1.5, 0.25\) private: epsilon >= 2.5 at pair 4. x happened in 7 of 10 runs on the first side, in 3 on"
    with pytest.raises(AssertionError, match=said):
        testing.assert_dp("mechanism", (3, 4), 1.5, 0.25)
    assert inspect.signature(testing.assert_sensitivity).parameters["norm"].default == 1
