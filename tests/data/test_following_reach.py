"""How far scores may move: the sum over trees of the largest step of each, finite in float64."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.data.nothing import Nothing
from refdp.data.population import Advance, Begin, Place, Start, Turn
from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.own import grove
from refdp.privacy.events import Relation

SCHEMA = Schema((Numeric("a", 0, 1),), Interval(-100, 100))
SPLITS = np.array([[0, 0.5]])
HUGE = 6e240


def started(outputs: int = 1) -> Nothing:
    made = Nothing()
    made.tell(Begin(grove.Contribution(grove.Params(1.0, Relation.ADD_REMOVE), SCHEMA), tuple(range(outputs))))
    return made


@pytest.mark.parametrize(
    ("values", "weight", "fits"),
    [
        ([[HUGE, -HUGE]], 1.0, True), ([[HUGE, 0.0], [0.0, HUGE]], 1.0, False), ([[1.0, 2.0]], HUGE, False),
        ([[0.5, -1.0]], HUGE, True), ([[1.0, -2.0]], HUGE, False), ([[HUGE / 2, 1.0], [1.0, -HUGE / 2]], 1.0, True),
        ([[np.nan, 0.0]], 1.0, False), ([[np.inf, 0.0]], 1.0, False),
    ],
)  # fmt: skip
def test_a_step_is_the_largest_of_each_tree(values: list[list[float]], weight: float, fits: bool) -> None:
    made = started()
    for _ in values:
        made.tell(Place(SPLITS))
    if fits:
        made.tell(Advance(np.array(values), weight))
    else:
        with pytest.raises(InvalidParameter, match="a step of the scores too far"):
            made.tell(Advance(np.array(values), weight))


def test_steps_add_up_for_each_output_alone() -> None:
    made = started(2)
    for output, fits in ((0, True), (1, True), (0, False)):
        made.tell(Turn(output))
        made.tell(Place(SPLITS))
        if fits:
            made.tell(Advance(np.array([[HUGE, 0.0]]), 1.0))
        else:
            with pytest.raises(InvalidParameter, match="too far"):
                made.tell(Advance(np.array([[HUGE, 0.0]]), 1.0))


def test_a_batch_has_trees_of_one_depth() -> None:
    made = started()
    made.tell(Place(SPLITS))
    for splits in (np.zeros((3, 2)), np.zeros((2, 2)), np.zeros((0, 2))):
        with pytest.raises(InvalidParameter, match="Place with"):
            made.tell(Place(splits))
    made.tell(Place(SPLITS))
    for values in ([[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]):
        with pytest.raises(InvalidParameter, match=r"the trees of the batch have \(2, 2\)"):
            made.tell(Advance(np.array(values), 1.0))
    with pytest.raises(InvalidParameter, match="one number is needed"):
        made.tell(Advance(np.ones((2, 2)), np.ones(2)))  # type: ignore[arg-type]
    made.tell(Advance(np.ones((2, 2)), 1.0))
    with pytest.raises(InvalidParameter, match=r"the trees of the batch have \(0, 0\)"):
        made.tell(Advance(np.ones((1, 2)), 1.0))
    made.tell(Start(0.5))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_contribution_with_a_number_that_is_none_is_refused(number: float) -> None:
    """A record's statistic would be no number, whatever its bounds."""

    @dataclass(frozen=True)
    class Own:
        params: Any
        kind: type = grove.Params

    made = Nothing()
    for fits in (1.0, np.float64(2.0), 3, True, None, ("text", (None,)), Classes(("a", "b")), Interval(0.0, 1.0)):
        made.tell(Begin(Own(fits)))  # type: ignore[arg-type]
    for wrong in (number, np.float64(number), np.float32(1.0), 10**400, Fraction(1, 2)):
        with pytest.raises(InvalidParameter, match="finite numbers are allowed"):
            made.tell(Begin(Own(wrong)))  # type: ignore[arg-type]
    for several in (np.ones(3), np.asarray(number), [1.0, 2.0, 3.0], {"a": 1.0}, range(3)):
        with pytest.raises(InvalidParameter, match="numbers are allowed"):
            made.tell(Begin(Own(several)))  # type: ignore[arg-type]
    for row in ((1.0, 2.0), (), (("text", (np.True_,)),)):
        with pytest.raises(InvalidParameter, match="several numbers in one"):
            made.tell(Begin(Own(row)))  # type: ignore[arg-type]
