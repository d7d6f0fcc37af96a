"""What rounds of a loop leave: values are equal where a training text cannot tell them apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")

from refdp.prove.forms import Form
from refdp.prove.loops import Loop, Loops, Number, abstract
from refdp.prove.symbols import Known


@dataclass(frozen=True)
class Pair:
    a: Any
    b: Any


class Colour(Enum):
    RED = 1
    BLUE = 2


class Whatever:
    pass


def shapes() -> None: ...


def other_shapes() -> None: ...


ALIKE: list[tuple[Any, Any]] = [
    *[(Known(one), Known(other)) for one, other in (
        (np.zeros(3), np.ones(3)), ([1.0, np.zeros(2)], [2.0, np.ones(2)]), ({"a": 1.0}, {"a": 2.0}), (1.0, 2.0),
        (Pair(1, 2.0), Pair(5, 7.0)))],
    (Known(np.zeros(3), True), Known(np.zeros(5), True)), ([1, (2, "a")], [1, (2, "a")]), ({"a": [1]}, {"a": [1]}),
    (np.arange(3), np.arange(3)), (Pair(1, [2]), Pair(1, [2])), (1.5, 1.5), (range(3), range(3)), (None, None),
    (np.array([1, "a"], dtype=object), np.array([1, "a"], dtype=object)),
    (np.array([float("1.5")], dtype=object), np.array([float("1.5")], dtype=object)), (Colour.RED, Colour.RED),
    (int, int), (np, np), (shapes, shapes),
]  # fmt: skip
APART: list[tuple[Any, Any]] = [
    *[(Known(one), Known(other)) for one, other in (
        (np.zeros(3), np.zeros(4)), (np.zeros(3), np.zeros(3, dtype=int)), ([1.0], [1.0, 2.0]), ([1.0], (1.0,)),
        ({"a": 1.0}, {"b": 1.0}), ({"a": 1.0}, {"a": [1.0]}), (1.0, 1), (Pair(1, 2), Pair(1, 2.0)))],
    (Known(1), 1), (Known(np.zeros(3), True), Known(np.zeros(3))), ([1], (1,)), ([1, 2], [1, 3]), ({"a": 1}, {"a": 2}),
    ({"a": 1}, {"b": 1}), (np.arange(3), np.arange(3.0)), (np.arange(4), np.arange(4).reshape(2, 2)), (1, 1.0),
    (np.arange(3), np.array([0, 1, 3])), (Pair(1, 2), Pair(2, 1)), (True, 1), (range(3), range(4)),
    (np.array([1, "a"], dtype=object), np.array([1, "b"], dtype=object)), (iter([1]), iter([1])), (int, float),
    (np.array([[1, "a"]], dtype=object), np.array([1, "a"], dtype=object)), (Colour.RED, Colour.BLUE),
    (Whatever(), Whatever()), (partial(min, 1), partial(min, 1)), (other_shapes, shapes),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(ALIKE)))
def test_what_a_text_cannot_tell_apart_is_equal(place: int) -> None:
    one, other = ALIKE[place]
    assert abstract(one) == abstract(other)


@pytest.mark.parametrize("place", range(len(APART)))
def test_what_a_text_could_tell_apart_is_not(place: int) -> None:
    one, other = APART[place]
    assert abstract(one) != abstract(other)


def test_numbers_of_rounds_and_things_with_a_state_are_never_equal() -> None:
    loop = Loop(Loops(), "a line", range(3), Form(frozenset(), frozenset()), None)
    own, going = Whatever(), iter([1])
    for value in (Number(loop, [1, 2, 3]), own, going):
        assert abstract(value) != abstract(value)


def test_a_function_is_what_it_holds() -> None:
    held = [0]

    def own() -> list[int]:
        return held

    before = abstract(own)
    assert abstract(own) == before
    held[0] = 1
    assert abstract(own) != before
