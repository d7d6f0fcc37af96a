"""Splits that codes answer as values do; and what a model file may not be."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from refdp.data import forms
from refdp.data.candidates import Candidates, uniform
from refdp.data.memory import among
from refdp.data.records import Categorical, Classes, Ensemble, Interval, Model, Numeric, Schema, Tree
from refdp.errors import ModelFileError

SCHEMA = Schema((Numeric("a", 0, 4), Categorical("c", ("x", "y", "z")), Numeric("b", -8, 8)), Classes(("no", "yes")))


@pytest.mark.parametrize(
    ("split", "answered"),
    [
        ((0, 1.0), True), ((0, 3.0), True), ((0, 1.5), False), ((0, 0.5), False), ((0, 3.5), False), ((0, 4.0), False),
        ((0, 4.5), True), ((0, 4.0000001), True), ((2, -4.0), True), ((2, 4.0), True), ((2, 3.0), False),
        ((2, 8.0), False), ((2, 8.5), True), ((1, 0.0), True), ((1, 2.0), True), ((1, 2.5), True), ((1, 1.5), False),
        ((2, 1.0), False), ((0, -4.0), False),
    ],
    ids=str,
)  # fmt: skip
def test_a_split_is_a_candidate_or_above_all_that_can_be(split: tuple[int, float], answered: bool) -> None:
    made: Candidates = uniform(SCHEMA, 3)
    assert [one.tolist() for one in made.thresholds] == [[1, 2, 3], [0, 1, 2], [-4, 0, 4]]
    assert among(made, SCHEMA, np.array([split])) is answered
    others = np.array([[0, 2.0], [2, 0.0], [1, 1.0], split])
    assert among(made, SCHEMA, others) is answered
    assert among(made, SCHEMA, np.column_stack([others, np.ones(4)])) is answered


def test_no_splits_are_among_them() -> None:
    assert among(uniform(SCHEMA, 3), SCHEMA, np.empty((0, 2))) is True


# --- Model files ------------------------------------------------------------------------------------------------------


def made(splits: Any = ((0, 1.0), (1, 2.0), (2, 0.5)), leaves: Any = (1.0, 2.0, 3.0, 4.0), weights: Any = (0.5,),
         outputs: int = 1, target: Any = None) -> Model:  # fmt: skip
    tree = Tree(np.asarray(splits, dtype=float), np.asarray(leaves, dtype=float))
    schema = Schema(SCHEMA.features, target or SCHEMA.target)
    return Model("grove", {"b": 1, "a": 2}, schema, tuple(Ensemble(0.25, (tree,), weights) for _ in range(outputs)))


def test_a_model_file_is_sorted_and_reads_back() -> None:
    text = made().to_json()
    body = json.loads(text)
    assert text == json.dumps(body, sort_keys=True) + "\n"
    assert forms.from_json(text).to_json() == text
    stump = made(np.empty((0, 2)), (1.0,))
    assert forms.from_json(stump.to_json()).to_json() == stump.to_json()
    for change in ({"splits": [(0, 1.0)], "leaves": (1.0, 2.0)}, {"splits": [(2, 1.0, 1.0)], "leaves": (1.0, 2.0)},
                   {"target": Interval(0, 1)}, {"outputs": 3, "target": Classes(("p", "q", "r"))}):  # fmt: skip
        text = made(**change).to_json()
        assert forms.from_json(text).to_json() == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outputs": 2}, "2 outputs where the schema's target has 1"),
        ({"outputs": 2, "target": Classes(("p", "q", "r"))}, "2 outputs where the schema's target has 3"),
        ({"weights": (0.5, 0.5)}, "1 trees with 2 weights"),
        ({"leaves": (1.0, 2.0, 3.0)}, "a tree of 3 splits and 3 leaves: full trees are read"),
        ({"splits": ((0, 1.0), (1, 2.0))}, "a tree of 2 splits and 4 leaves: full trees are read"),
        ({"splits": ((0, 1.0), (1, 2.0)), "leaves": (1.0, 2.0, 3.0)}, "a tree of 2 splits and 3 leaves"),
        ({"splits": ((0, 1.0), (1, 2.0), (3, 0.5))}, "a split by no feature of the schema, which has 3"),
        ({"splits": ((0, 1.0), (-1, 2.0), (2, 0.5))}, "a split by no feature of the schema, which has 3"),
        ({"splits": ((0, 1.0), (0.5, 2.0), (2, 0.5))}, "a split by no feature of the schema, which has 3"),
        ({"splits": ((0, 1.0, 0, 0), (1, 2.0, 0, 0), (2, 0.5, 0, 0))}, "a split by no feature"),
    ],
    ids=lambda one: str(one)[:40],
)
def test_a_model_file_that_would_predict_astray_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        forms.from_json(made(**change).to_json())
