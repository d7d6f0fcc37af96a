"""Pieces of the audit of training code by themselves, against what can be enumerated by hand."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.accounting.individual import Budget
from refdp.audit import spending, steered
from refdp.audit.observer import view
from refdp.audit.outputs import BESIDE
from refdp.audit.replay import Pair
from refdp.audit.runs import InputPair, chunk, seed_of, stacked, table
from refdp.audit.search import _parting
from refdp.audit.ways import arranged, group_of, parted
from refdp.data.records import Interval, Numeric, Records, Schema

SCHEMA = Schema((Numeric("a", 0.0, 1.0),), Interval(0.0, 1.0))


def some(*values: float) -> Records:
    return Records(SCHEMA, np.array(values, dtype=float)[:, None], np.array(values, dtype=float) / 2)


def pair(*values: float, new: float = 0.5, position: int = 0) -> Pair:
    return Pair(some(*values), some(new), None, position)


# --- The search over contents -----------------------------------------------------------------------------------------


@dataclass
class Looked:
    """A search that notes what it is asked to look at."""

    pairs: list[Any]

    def look(self, pair: Any, number: int) -> None:
        self.pairs.append((pair, number))


def test_the_greatest_scores_and_then_lines_of_one_side_are_looked_at_in_full() -> None:
    """Each pair once; new lines alone are no reason; after the first that tells, no more."""
    pairs = [pair(0.1 * k) for k in range(30)]
    best: dict[Any, tuple[float, Any]] = {f"release {k}": (float((7 * k) % 11), pairs[k]) for k in range(9)}
    best |= {("line", k): (0.0, pairs[10 + k]) for k in range(3)}
    best |= {("apart", k): (0.0, pairs[15 + k]) for k in range(8)}
    order = sorted(range(9), key=lambda k: -((7 * k) % 11))[: steered.LOOKS]
    due = [pairs[k] for k in order] + [pairs[15 + k] for k in range(steered.LOOKS)]
    best["apart", 1] = 0.0, pairs[order[2]]
    due.remove(pairs[16])
    found = Looked([])
    steered._look_at_best(found, best, 100, steered.Steered(), lambda: False)  # type: ignore[arg-type]
    assert [id(one) for one, _ in found.pairs] == [id(one) for one in due]
    assert len({number for _, number in found.pairs}) == len(due) and all(n >= 100 for _, n in found.pairs)
    first = Looked([])
    steered._look_at_best(first, best, 100, steered.Steered(), lambda: len(first.pairs) == 2)  # type: ignore[arg-type]
    assert [id(one) for one, _ in first.pairs] == [id(one) for one in due[:2]]


def test_a_pair_stands_for_what_it_shows_more_of_than_any_before() -> None:
    """A score that is no number or equals the best changes nothing; of lines that part the first pair stays."""
    one, two, three = pair(0.1), pair(0.2), pair(0.3)
    best: dict[Any, Any] = {}
    seen = steered.Steered()

    def judged(scores: dict[str, float], lines: set[Any], apart: set[Any]) -> Any:
        return steered.Judged(scores, frozenset(), frozenset(lines), frozenset(apart), 0.0)

    steered._kept(best, judged({"s": 0.5, "t": math.nan, "the whole run": 2.0, "u": 0.0}, {1, 2}, {2}), one, seen)
    assert best == {"s": (0.5, one), "the whole run": (2.0, one), ("line", 1): (0.0, one), ("line", 2): (0.0, one),
                    ("apart", 2): (0.0, one)}  # fmt: skip
    assert seen.nearest == {"s": 0.5} and seen.lines == {1, 2}
    steered._kept(best, judged({"s": 0.5, "t": 0.25}, {2, 3}, {2, 3}), two, seen)
    steered._kept(best, judged({"s": 0.75, "t": 0.125}, {1}, {3}), three, seen)
    assert best["s"] == (0.75, three) and best["t"] == (0.25, two)
    assert best["line", 1][1] is one and best["line", 3][1] is two
    assert best["apart", 2][1] is one and best["apart", 3][1] is two
    assert seen.nearest == {"s": 0.75, "t": 0.25} and seen.lines == {1, 2, 3}


# --- What a record spends ---------------------------------------------------------------------------------------------


@dataclass
class Params:
    """Of a run whose budget is two units at order 2, three at order 4."""

    epsilon: float = 1e9
    delta: float = 1e-5
    subsample: float = 1.0
    initial_share: float = 0.0

    def budget(self, schema: Schema) -> Budget:
        nothing = np.zeros((2, 2))
        return Budget(1.0, 1.0, 3, np.array([2.0, 4.0]), np.array([2.0, 3.0]), nothing[0], nothing)

    def initial_charges(self, schema: Schema) -> tuple[Any, ...]:
        return ()


def test_spending_is_compared_at_every_order() -> None:
    """A record in every sample: order times t. At order 4 three units are spent first."""
    ledger, where = spending.Ledger(), pair(0.25, 0.5)
    assert spending._compared(Params(), where, {"0": [0.25, 0.25, 0.125]}, ledger) == []
    assert ledger.most == pytest.approx(2.5 / 3) and ledger.refused == []
    assert spending._compared(Params(), where, {"0": [0.5, 0.25, 0.0, 0.0]}, ledger) == []
    assert ledger.most == pytest.approx(1.0) and ledger.refused == [pytest.approx(1 - 3 / 4)]
    (found,) = spending._compared(Params(), where, {"0": [0.5, 0.5], "1": [0.0, 0.0]}, ledger)
    assert (found.kind, found.release, found.claim) == ("filter", "0/leaves", "sgbdt/filter")
    assert found.witness["order"] == 4.0 and found.witness["costs"] == [0.5, 0.5]
    assert ledger.most == pytest.approx(4 / 3) and len(ledger.refused) == 1


def test_all_scores_together_are_compared_with_the_claim() -> None:
    """Two scores of t = 1/2 each are a Rényi curve of slope 1: below its least conversion nothing is claimed."""
    rounds, where = {"0": [0.25, 0.25], "1": [0.5]}, pair(0.25)
    least = min(order + (math.log(1e5) - math.log(order)) / (order - 1) + math.log1p(-1 / order) for order in (2, 4))
    assert spending._compared(Params(least * 1.001), where, rounds, spending.Ledger()) == []
    (found,) = spending._compared(Params(least * 0.98), where, rounds, spending.Ledger())
    assert found.release == "whole run" and least * 0.98 < found.observed <= least * 1.001
    (found,) = spending._compared(Params(least * 1.001, initial_share=0.25), where, rounds, spending.Ledger())
    assert found.release == "whole run" and found.declared == pytest.approx(least * 1.001 * 0.75)
    assert spending._compared(Params(least), where, {}, spending.Ledger()) == []


def test_violations_carry_the_parameters() -> None:
    chosen = Params(7.0)
    (found,) = spending._compared(chosen, pair(0.25), {"0": [9.0]}, spending.Ledger())[:1]
    (given,) = spending._with_params([found], chosen)
    assert given.witness == {**found.witness, "params": asdict(chosen)} and given.observed == found.observed
    assert spending._with_params([], chosen) == []


def test_what_a_round_costs_is_half_the_squared_change_in_deviations() -> None:
    def entry(path: tuple[str, ...], value: Any, mechanism: Any) -> Any:
        return SimpleNamespace(request=SimpleNamespace(path=path, mechanism=mechanism), value=value)

    def changed(one: Any, other: Any, norm: str) -> float:
        assert norm == "whitened"
        return float(np.sqrt(np.sum(((one - other) / 2.0) ** 2)))

    noise = SimpleNamespace(observed_change=changed)
    values = np.array([[1.0, 2.0], [4.0, 0.0]])
    sides = [
        SimpleNamespace(entries=[entry(("0", "leaves"), v, noise), entry(("1", "leaves"), 2 * v, noise),
                                 entry(("0", "initial"), v, noise), entry(("0", "leaves"), None, noise),
                                 entry(("0", "leaves"), v, None), entry(("0", "leaves"), values[0], noise)])
        for v in values
    ]  # fmt: skip
    found: Any = spending.spent(*sides)  # type: ignore[arg-type]
    assert found == {"0": [pytest.approx((9 + 4) / 4 / 2), 0.0], "1": [pytest.approx((9 + 4) / 2)]}


def test_a_ledger_says_what_it_saw() -> None:
    one = spending.Ledger(3, 0.5)
    assert one.row().verdict.name == "NOT_EXAMINED" and "none of 3 audited records" in one.row().reason
    one.refused = [0.25, 0.125]
    assert one.row().verdict.name == "NOT_FOUND" and "0.5 of the budget at most, 2 had to" in one.row().reason
    assert one.row().power == "a cost understated by 12%"
    one.refused = [0.0]
    assert one.row().power == "a cost understated by 0.0001%"
    one.found = spending._compared(Params(), pair(0.25), {"0": [9.0]}, spending.Ledger())
    assert one.row().verdict.name == "VIOLATION"


# --- Rows of groups ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_records_are_parted_by_what_they_are(groups: int) -> None:
    records = some(*(k / 40 for k in range(40)))
    parts = parted(records, groups)
    assert len(parts) == groups and sorted(v for part in parts for v in part.x[:, 0]) == records.x[:, 0].tolist()
    for number, part in enumerate(parts):
        assert all(group_of(part.take(np.array([k])), groups)[0] == number for k in range(part.size))
        assert part.x[:, 0].tolist() == sorted(part.x[:, 0]) and np.array_equal(part.y, part.x[:, 0] / 2)


@pytest.mark.parametrize("new", [0.01, 0.33, 0.9, 0.77])
def test_rows_stand_group_after_group_around_the_audited_one(new: float) -> None:
    """The audited record stands first in its group."""
    given = pair(*(k / 40 for k in range(40)), new=new, position=7)
    found = arranged(3)(given)
    groups = group_of(found.base, 3).tolist()
    assert groups == sorted(groups) and sorted(found.base.x[:, 0]) == given.base.x[:, 0].tolist()
    own = int(group_of(given.new, 3)[0])
    assert found.position == groups.index(own) and found.new is given.new


def test_two_runs_part_where_lines_true_values_or_their_ends_differ() -> None:
    def outcome(value: Any = 1.0, parted: Any = None, published: Any = ()) -> Any:
        entries = [SimpleNamespace(value=None if value is None else np.array([value]))]
        return SimpleNamespace(transcript=SimpleNamespace(entries=entries), parted=parted, published=published,
                               raised=(), beside=(), state=())  # fmt: skip

    line = (("model", "float 1"),)
    assert _parting(outcome(), outcome()) == [] == _parting(outcome(None, "x", line), outcome(None, "x", line))
    assert _parting(outcome(), outcome(2.0)) == _parting(outcome(0.0), outcome(-0.0)) == ["true values"]
    assert _parting(outcome(), outcome(parted=("x",))) == _parting(outcome(), outcome(None)) == ["true values"]
    assert _parting(outcome(published=line), outcome(published=(("model", "float 2"),))) == ["model"]


# --- Runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "mixed"), [(0, 0), (1, 0x514E28B7), (2, 0x30F4C306), (0xFFFFFFFF, 0x81F16F39)])
def test_seeds_of_runs_are_mixed_as_in_murmurhash3(number: int, mixed: int) -> None:
    """The finaliser's published values."""
    start = int(np.random.SeedSequence(5).generate_state(1)[0])
    assert seed_of(5, (number - start) % 2**32) == mixed


def test_runs_of_different_lengths_stand_in_one_table() -> None:
    rows = [np.array([1.0]), np.array([2.0, 3.0]), np.array([])]
    assert np.array_equal(stacked(rows), [[1, np.nan, 1], [2, 3, 2], [np.nan, np.nan, 0]], equal_nan=True)
    assert np.array_equal(stacked(rows[:1], 2), [[1, np.nan, 1]], equal_nan=True)
    assert stacked(rows[:1]).tolist() == [[1.0]]
    one, two = table([np.array([1.0]), np.array([4.0])], [np.array([2.0, 3.0]), np.array([5.0])], 1)
    assert np.array_equal(one, [[1, np.nan, 1]], equal_nan=True) and two.tolist() == [[2, 3, 2]]
    parts = [np.ones((2, 3)), np.zeros((2, 3))]
    one, two = table(parts, parts[::-1], 3)
    assert one[:, 0].tolist() == [1, 1, 0] and two[:, 0].tolist() == [0, 0, 1]
    one, two = table([np.ones((1, 2))], [np.zeros((1, 1))], 1)
    assert one.tolist() == [[1, 1, 2]] and np.array_equal(two, [[0, np.nan, 1]], equal_nan=True)


def test_both_sides_are_run_as_often_with_seeds_of_their_own() -> None:
    """In either order, each on a copy of the records."""
    calls: list[tuple[str, int]] = []

    def noted(records: list[str], seed: int) -> float:
        calls.append((records[0], seed))
        records.clear()
        return float(seed)

    first, second = chunk(noted, InputPair(["one"], ["two"]), 9, 3, 43)
    assert [row[:-BESIDE].tolist() for row in first] == [[float(seed_of(9, 2 * run))] for run in range(3, 43)]
    assert [row[:-BESIDE].tolist() for row in second] == [[float(seed_of(9, 2 * run + 1))] for run in range(3, 43)]
    began = [name for name, _ in calls[::2]]
    assert 10 < began.count("one") < 30 and {name for name, _ in calls[1::2]} == {"one", "two"}
    assert len({seed for _, seed in calls}) == 80


# --- What can be observed ---------------------------------------------------------------------------------------------


def test_notes_on_types_of_numbers_are_seen_however_deep() -> None:
    def noted(value: int) -> Any:
        return np.dtype(np.float64, metadata={"v": value})

    makers = [
        lambda own: np.zeros(2, own),
        lambda own: np.zeros(2, [("a", "i4"), ("b", own)]),
        lambda own: np.zeros(2, [("a", [("c", own)]), ("b", "f8")]),
        lambda own: np.zeros(2, [("a", (own, (2, 3)))]),
        lambda own: np.dtype([("a", own), ("b", "i8")]),
    ]
    for make in makers:
        one, same, other = (view(make(noted(value))).lines for value in (1, 1, 2))
        assert one == same and one != other
    assert view(np.zeros(2, [("a", noted(1))])).lines != view(np.zeros(2, [("a", "f8")])).lines
