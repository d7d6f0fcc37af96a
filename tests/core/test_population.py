"""Records seen through sums: every answer is about this tree, this level and these statistics, whatever was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from refdp import kernels
from refdp.candidates import Candidates, uniform
from refdp.population import Holding
from refdp.records import Floats, Interval, Numeric, Records, Schema, make_records

SCHEMA = Schema(tuple(Numeric(name, 0.0, 1.0) for name in "abc"), Interval(-1.0, 1.0))
SIZE = 40


def made_up() -> Records:
    generator = np.random.default_rng(0)
    return make_records(SCHEMA, generator.random((SIZE, 3)), generator.integers(-8, 9, SIZE) / 8)


def by_score(score: Floats, label: Floats) -> tuple[Floats, Floats]:
    """On the grid, and another at every score."""
    return label - score, 1.0 + score


def begun(candidates: Candidates) -> Holding:
    held = Holding(made_up())
    held.begin(lambda y: y, by_score, by_score)
    held.encode(candidates)
    held.refresh()
    return held


FINE, COARSE = uniform(SCHEMA, 7), uniform(SCHEMA, 3)


def scored(held: Holding) -> None:
    held.place([np.array([2])])
    held.advance(np.array([[0.5, -0.25]]), 1.0)
    held.refresh()


STEPS: dict[str, Callable[[Holding], Any]] = {
    "another tree": lambda held: held.root([2, 0]),
    "the same tree again": lambda held: held.root([0, 1]),
    "other candidates": lambda held: held.encode(COARSE),
    "the first candidates": lambda held: held.encode(FINE),
    "other scores": scored,
}


def told(held: Holding, nodes: int) -> list[Floats]:
    """The sums anew, from a holding that was never asked before."""
    fresh = Holding(held.records)
    names = ("_label", "_score", "_statistics", "_hessian", "_g", "_h", "_candidates", "_codes", "_features", "_node")
    for name in names:
        setattr(fresh, name, getattr(held, name))
    return fresh.bin_sums(nodes)


@pytest.mark.parametrize("seed", range(40))
def test_sums_do_not_depend_on_what_was_asked_before(seed: int) -> None:
    generator = np.random.default_rng(seed)
    held, nodes = begun(FINE), 1
    held.root([0, 1])
    for name in generator.choice([*STEPS, *["ask", "descend"] * 5], 30):
        if name == "ask":
            for here, there in zip(held.bin_sums(nodes), told(held, nodes), strict=True):
                np.testing.assert_array_equal(here, there)
        elif name == "descend":
            held.descend(generator.integers(0, 3, nodes))
            nodes *= 2
        else:
            STEPS[name](held)
        if name.endswith(("tree", "again")) or nodes > 8:
            held.root([0, 1] if nodes > 8 else held._features)
            nodes = 1


def test_a_level_that_was_not_asked_is_not_taken_from_an_earlier_one() -> None:
    held = begun(FINE)
    held.root([0, 1])
    held.bin_sums(1)
    held.descend(np.array([3]))
    held.descend(np.array([3, 10]))
    table = held.bin_sums(4)
    assert [sums[1].sum() for sums in table] == [SIZE, SIZE]  # h is 1 for every record


def test_answers_cannot_be_written_into() -> None:
    held = begun(FINE)
    held.root([0])
    with pytest.raises(ValueError, match="read-only"):
        held.bin_sums(1)[0][:] = 0.0


@pytest.mark.parametrize("shape", [(2, 1, 5), (2, 4, 5), (1, 2, 5), (2, 2, 4)])
def test_a_table_of_another_level_is_refused(shape: tuple[int, ...]) -> None:
    codes = np.zeros((1, 6), dtype=np.uint8)
    sums = kernels.BinSums.prepare(codes, kernels.bin_offsets([5]))
    node = np.array([0, 1, 2, 3, 0, 1])
    with pytest.raises(ValueError, match=r"\(2, 2, 5\) of the level above is allowed"):
        sums.sums(node, 4, [np.ones(6), None], np.zeros(shape))
