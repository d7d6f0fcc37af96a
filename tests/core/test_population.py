"""Records seen through sums: every answer is about this tree, this level and these statistics, whatever was asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from refdp.data import kernels
from refdp.data.candidates import Candidates, uniform
from refdp.data.memory import Memory
from refdp.data.population import (
    Advance,
    Begin,
    Bins,
    Descend,
    Encode,
    Place,
    Population,
    Refresh,
    Root,
    Statistics,
    Step,
    Sums,
)
from refdp.data.records import Floats, Interval, Numeric, Records, Schema, make_records

SCHEMA = Schema(tuple(Numeric(name, 0.0, 1.0) for name in "abc"), Interval(-1.0, 1.0))
SIZE = 40
FINE, COARSE = uniform(SCHEMA, 7), uniform(SCHEMA, 3)
ASKED = Bins(("g", "h"))


@dataclass(frozen=True)
class ByScore:
    """On the grid, and another at every score."""

    def label(self, output: int, y: Floats) -> Floats:
        return y

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        return Statistics({"g": label - score, "h": 1.0 + score})


def made_up() -> Records:
    generator = np.random.default_rng(0)
    return make_records(SCHEMA, generator.random((SIZE, 3)), generator.integers(-8, 9, SIZE) / 8)


def told(*steps: Step) -> Population:
    """A host that was told these steps."""
    host = Memory(made_up())
    for step in (Begin(ByScore()), Encode(FINE), Refresh(("g", "h")), *steps):
        host.tell(step)
    return host


STEPS: dict[str, tuple[Step, ...]] = {
    "another tree": (Root((2, 0)),),
    "the same tree again": (Root((0, 1)),),
    "other candidates": (Encode(COARSE), Root((0, 1))),
    "the first candidates": (Encode(FINE), Root((0, 1))),
    "other scores": (
        Place(FINE.values[2:3]),
        Advance(np.array([[0.5, -0.25]]), 1.0),
        Refresh(("g", "h")),
        Root((0, 1)),
    ),
}


@pytest.mark.parametrize("seed", range(40))
def test_sums_do_not_depend_on_what_was_asked_before(seed: int) -> None:
    """The sums of a host that is asked at many times are those of one that was told the same and never asked."""
    generator = np.random.default_rng(seed)
    steps: list[Step] = [Root((0, 1))]
    asked, nodes = told(*steps), 1
    for name in generator.choice([*STEPS, *["ask", "descend"] * 5], 30):
        if name == "ask":
            np.testing.assert_array_equal(asked.ask(ASKED), told(*steps).ask(ASKED))
            continue
        more = STEPS.get(name, (Descend(COARSE.values[generator.integers(0, 3, nodes)]),))
        nodes = 2 * nodes if name == "descend" else 1
        if nodes > 8:
            more, nodes = (Root((0, 1)),), 1
        for step in more:
            asked.tell(step)
        steps += more


def test_a_level_that_was_not_asked_is_not_taken_from_an_earlier_one() -> None:
    host = told(Root((0, 1)))
    host.ask(ASKED)
    for chosen in ([3], [3, 10]):
        host.tell(Descend(FINE.values[chosen]))
    table = counted(host.ask(ASKED), FINE)
    assert [sums.sum() for sums in table] == [SIZE, SIZE]  # h is 1 for every record


def counted(table: Sums, candidates: Candidates) -> list[Floats]:
    """Sums of h in the bins of features 0 and 1."""
    return candidates.apart(table[1] * kernels.GRID, (0, 1))


def test_answers_that_are_written_into_change_no_later_answer() -> None:
    host = told(Root((0,)))
    first = host.ask(ASKED)
    expected = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(host.ask(ASKED), expected)
    host.tell(Descend(FINE.values[3:4]))
    np.testing.assert_array_equal(host.ask(ASKED), told(Root((0,)), Descend(FINE.values[3:4])).ask(ASKED))


@pytest.mark.parametrize("shape", [(2, 1, 5), (2, 4, 5), (1, 2, 5), (2, 2, 4)])
def test_a_table_of_another_level_is_refused(shape: tuple[int, ...]) -> None:
    codes = np.zeros((1, 6), dtype=np.uint8)
    sums = kernels.BinSums.prepare(codes, kernels.bin_offsets([5]))
    node = np.array([0, 1, 2, 3, 0, 1])
    with pytest.raises(ValueError, match=r"\(2, 2, 5\) of the level above is allowed"):
        sums.sums(node, 4, [np.ones(6), None], np.zeros(shape))
