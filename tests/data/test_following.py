"""Steps that do not fit are refused with and without records alike: that they are says nothing about any."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from refdp.data import candidates as grids
from refdp.data.candidates import Candidates
from refdp.data.memory import Memory
from refdp.data.nothing import Nothing
from refdp.data.population import (
    COUNT,
    Advance,
    Begin,
    Bins,
    Descend,
    Encode,
    Histogram,
    Labels,
    Leaves,
    Nodes,
    Place,
    Query,
    Refresh,
    Root,
    Sides,
    Start,
    Step,
)
from refdp.data.records import Categorical, Interval, Numeric, Records, Schema
from refdp.errors import InvalidParameter
from refdp.papers.dpboost import Contribution, Params
from refdp.privacy.events import Relation

SCHEMA = Schema((Numeric("a", 0.0, 1.0), Categorical("b", ("x", "y", "z"))), Interval(-1.0, 1.0))
GRID = grids.uniform(SCHEMA, 3)
SPLIT = np.array([[0.0, 0.5]])
BEGIN = (Begin(Contribution(Params(1.0, Relation.ADD_REMOVE), SCHEMA)), Encode(GRID), Refresh(("g",)))
ROOT = (*BEGIN, Root((0, 1)))
OTHERS = Encode(grids.logarithmic(SCHEMA, 3))


def _memory(rows: int) -> Memory:
    x = np.column_stack([np.linspace(0, 1, rows), np.arange(rows) % 3]).reshape(rows, 2)
    return Memory(Records(SCHEMA, x, np.zeros(rows)))


HOSTS: Sequence[Callable[[], Memory | Nothing]] = (lambda: _memory(0), lambda: _memory(1), lambda: _memory(9), Nothing)
WRONG: dict[str, tuple[tuple[Step, ...], Step | Query]] = {
    "a leaf without a value": ((*BEGIN, Place(SPLIT)), Advance(np.zeros((1, 1)), 1.0)),
    "a value without a leaf": ((*BEGIN, Place(SPLIT)), Advance(np.zeros((1, 3)), 1.0)),
    "values of two trees for one": ((*BEGIN, Place(SPLIT)), Advance(np.zeros((2, 2)), 1.0)),
    "values of no tree": (BEGIN, Advance(np.zeros((1, 2)), 1.0)),
    "values of the batch before": ((*BEGIN, Place(SPLIT), Advance(np.zeros((1, 2)), 1.0)), Advance(np.ones((1, 2)), 1)),
    "a tree that is not full": (BEGIN, Place(SPLIT[[0, 0]])),
    "trees of two depths": ((*BEGIN, Place(SPLIT)), Place(SPLIT[[0, 0, 0]])),
    "a node without a split": ((*ROOT, Descend(SPLIT)), Descend(SPLIT)),
    "sides of too few nodes": ((*ROOT, Descend(SPLIT)), Sides((COUNT,), SPLIT)),
    "ways of too few nodes": ((*ROOT, Descend(SPLIT)), Sides((COUNT,), SPLIT[None])),
    "leaves of no tree": (BEGIN, Leaves((COUNT,))),
    "no number": (BEGIN, Start(np.nan)),
    "an infinite start": (BEGIN, Start(-np.inf)),
    "no number of one leaf": ((*BEGIN, Place(SPLIT)), Advance(np.array([[0.0, np.nan]]), 1.0)),
    "no number as a product": ((*BEGIN, Place(SPLIT)), Advance(np.array([[0.0, 1.0]]), np.inf)),
    "steps that are too large together": ((*BEGIN, Start(5e240)), Start(-5e240)),
    "trees that are too large together": (
        (*BEGIN, Place(SPLIT), Place(SPLIT)), Advance(np.full((2, 2), 1e308), 1.0)),
    "a start of two numbers": (BEGIN, Start(np.zeros(2))),  # type: ignore[arg-type]
    "two weights for a tree": ((*BEGIN, Place(SPLIT)), Advance(np.zeros((1, 2)), np.ones(2))),  # type: ignore[arg-type]
    "bins of other candidates than the root's": ((*ROOT, OTHERS), Bins((COUNT,))),
    "sides of other candidates than the root's": ((*ROOT, OTHERS), Sides((COUNT,), SPLIT)),
    "nodes of other candidates than the root's": ((*ROOT, OTHERS), Nodes((COUNT,))),
    "a split of other candidates than the root's": ((*ROOT, OTHERS), Descend(SPLIT)),
    "candidates that come back": ((*ROOT, OTHERS, Encode(GRID)), Bins((COUNT,))),
    "bins after scores have moved": ((*ROOT, Start(0.5)), Bins((COUNT,))),
    "a histogram after scores have moved": ((*ROOT, Start(0.5)), Histogram((COUNT,), (0,))),
    "leaves after scores have moved": (
        (*BEGIN, Place(SPLIT), Advance(np.ones((1, 2)), 1.0), Place(SPLIT)), Leaves((COUNT,))),
    "a root after scores have moved": ((*BEGIN, Start(0.5)), Root((0, 1))),
    "values of float32": ((*BEGIN, Place(SPLIT)), Advance(np.zeros((1, 2), np.float32), 1.0)),  # type: ignore[arg-type]
    "values in whole numbers": ((*BEGIN, Place(SPLIT)), Advance(np.zeros((1, 2), np.int64), 1.0)),  # type: ignore[arg-type]
    "values of which some are masked": ((*BEGIN, Place(SPLIT)), Advance(np.ma.masked_array(np.zeros((1, 2))), 1.0)),
    "a weight in more digits": ((*BEGIN, Place(SPLIT)), Advance(np.zeros((1, 2)), np.longdouble(1.0))),  # type: ignore[arg-type]
    "a weight beyond float64": ((*BEGIN, Place(SPLIT)), Advance(np.zeros((1, 2)), 10**400)),
    "a start of float32": (BEGIN, Start(np.float32(0.5))),  # type: ignore[arg-type]
    "a tree in whole numbers": (BEGIN, Place(SPLIT.astype(np.int64))),  # type: ignore[arg-type]
    "a tree of one column": (BEGIN, Place(SPLIT[:, :1])),
    "a split in three axes": (ROOT, Descend(SPLIT[None])),
    "sides of a list": (ROOT, Sides((COUNT,), SPLIT.tolist())),  # type: ignore[arg-type]
    "ways in four axes": (ROOT, Sides((COUNT,), SPLIT[None, None])),
    "labels between several numbers": (BEGIN, Labels(np.zeros((2, 1)), 1.0)),  # type: ignore[arg-type]
    "labels below float32": (BEGIN, Labels(0.0, np.float32(1.0))),  # type: ignore[arg-type]
    **{f"thresholds of {kind}": (BEGIN, Encode(Candidates((np.array([0, 1]).astype(kind), GRID.thresholds[1]),
                                                          GRID.categorical)))
       for kind in ("bool", "uint8", "int64", "float16", "float32", "complex128", "object", ">f8")},
    "thresholds in two axes": (BEGIN, Encode(Candidates((np.array([[0.25, 0.5]]), GRID.thresholds[1]),
                                                        GRID.categorical))),
    "kinds of features as numbers": (BEGIN, Encode(Candidates(GRID.thresholds, np.array([0, 1])))),  # type: ignore[arg-type]
}  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", WRONG)
def test_a_step_that_does_not_fit_is_refused_whatever_the_records(
    host: Callable[[], Memory | Nothing], name: str
) -> None:
    before, wrong = WRONG[name]
    population = host()
    for step in before:
        population.tell(step)
    with pytest.raises(InvalidParameter):
        asked = isinstance(wrong, Bins | Histogram | Labels | Leaves | Nodes | Sides)
        population.ask(wrong) if asked else population.tell(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("host", HOSTS)
def test_steps_that_fit_are_followed(host: Callable[[], Memory | Nothing]) -> None:
    population, steps = host(), list[Step]((*ROOT, Descend(SPLIT), Descend(SPLIT[[0, 0]])))
    for step in steps:
        population.tell(step)
    assert population.ask(Nodes((COUNT,))).shape == (1, 4)
    population.tell(Place(SPLIT))
    population.tell(Place(SPLIT))
    assert population.ask(Leaves((COUNT,))).shape == (2, 1, 2)
    population.tell(Start(5e240))
    population.tell(Advance(np.ones((2, 2)), 0.5))
    population.tell(BEGIN[0])  # scores are 0 again
    population.tell(Start(0.5))
    for step in (OTHERS, Refresh(("g",)), Root((0, 1)), Descend(SPLIT)):  # a new tree at the scores as they are
        population.tell(step)
    assert population.ask(Nodes((COUNT,))).shape == (1, 2)
    population.tell(BEGIN[0])
    population.tell(Start(1.2e30))


@pytest.mark.parametrize("rows", [0, 1, 9])
@pytest.mark.parametrize(
    "found",
    [
        Candidates((GRID.thresholds[0], GRID.thresholds[1][:-1]), GRID.categorical),
        Candidates((GRID.thresholds[0], GRID.thresholds[1][::-1]), GRID.categorical),
        Candidates((np.roll(GRID.thresholds[0], 1), GRID.thresholds[1]), GRID.categorical),
        Candidates((np.array([0.5, 0.5]), GRID.thresholds[1]), GRID.categorical),
        Candidates((np.array([0.5, np.nan]), GRID.thresholds[1]), GRID.categorical),
        Candidates(GRID.thresholds, np.array([True, True])),
        Candidates(GRID.thresholds[:1], GRID.categorical[:1]),
    ],
)
def test_candidates_give_every_value_one_bin(rows: int, found: Candidates) -> None:
    with pytest.raises(InvalidParameter):
        _memory(rows).tell(Encode(found))
