"""Contents of data sets that audits try, against lists made by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pytest

from refdp.audit import crowds, inputs
from refdp.audit.replay import Pair
from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema
from refdp.privacy.events import Relation

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
MIXED = Schema((Numeric("a", 2.0, 10.0), Categorical("c", ("x", "y", "z"))), Interval(-1.0, 3.0))
PLAIN = Schema((Numeric("a", 2.0, 10.0),), Interval(1.0, 3.0))
CLASSED = Schema((Numeric("a", 2.0, 10.0),), Classes((0, 1)))


def rows(records: Records) -> list[tuple[str, ...]]:
    """Exact values, not-a-number and the sign of 0 among them."""
    return [tuple(map(repr, (*x, y))) for x, y in zip(records.x.tolist(), records.y.tolist(), strict=True)]


def row(*values: float) -> tuple[str, ...]:
    return tuple(repr(float(value)) for value in values)


def some(count: int) -> Records:
    step = np.arange(count) / max(count, 2)
    return Records(MIXED, np.column_stack([2 + 8 * step, np.arange(count) % 3.0]), -1 + 4 * step)


# --- Every edge -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", list(Relation))
def test_every_edge_of_a_schema_is_tried_once(relation: Relation) -> None:
    """One special record beside five ordinary ones: repeated, at or beside a bound, zero, missing, rare."""
    found = list(inputs._edges(MIXED, relation, np.random.default_rng(1)))
    down, up, nan = math.nextafter(10, -math.inf), math.nextafter(2, math.inf), math.nan
    due = [
        row(2, 0, 1), row(6, 1, -1), row(10, 2, 1), row(6, 1, 3), row(down, 2, 1), row(up, 0, 1),
        row(6, 1, math.nextafter(3, -math.inf)), row(6, 1, math.nextafter(-1, math.inf)), row(nan, nan, 1),
        row(2, 0, 1), row(6, 1, 0.0), row(6, 1, -0.0), row(6, 0, 1), row(6, 1, 1), row(6, 2, 1),
    ]  # fmt: skip
    assert sorted(rows(pair.new)[0] for pair in found[1:]) == sorted(due)
    assert rows(found[0].new)[0] == rows(found[0].base)[0]
    places = {pair.position for pair in found}
    for pair in found:
        assert pair.base is found[0].base and pair.base.size == 5 and (pair.old is None) == (relation is ADD)
        assert np.all(pair.base.x[:, 0] <= 2 + 0.7 * 8) and not pair.base.x[:, 1].any()
    assert len(places) > 3 and places <= set(range(6))


def test_edges_of_labels_that_are_classes_or_never_zero() -> None:
    found = [rows(pair.new)[0] for pair in inputs._edges(PLAIN, ADD, np.random.default_rng(1))][1:]
    assert len(found) == 4 + 4 + 2 and row(6, 0.0) not in found and row(2, 2) in found
    classed = [rows(pair.new)[0] for pair in inputs._edges(CLASSED, ADD, np.random.default_rng(1))][1:]
    assert {one[1] for one in classed} == {"0.0", "1.0"} and len(classed) == 4 + 2 + 2


def test_every_count_comes_after_small_shapes_and_edges_and_then_hints() -> None:
    counts = (0, 7, 31, 64)
    edges = len(list(inputs._edges(PLAIN, ADD, np.random.default_rng(1))))
    found = list(islice(inputs.inputs(PLAIN, ADD, 3, counts, (2.5, 40.0, 2.0)), 6 + edges + 4 + 2 + 1 + 2 + 6))
    assert all(1 <= pair.base.size <= 12 for pair in found[:6])
    assert [pair.base.size for pair in found[6 + edges :]][:4] == list(counts)
    bounds = [set(pair.base.y) <= {1.0, 3.0} for pair in found[6 + edges :]][:4]
    assert bounds == [True, True, True, False]  # odd counts have extreme contents; nothing is extreme anyway
    hinted = found[10 + edges :][:5]
    assert rows(hinted[0].new)[0][1] == "2.5" and rows(hinted[1].new)[0][0] == "2.5"
    assert hinted[2].base.size == 39 and rows(hinted[3].new)[0][1] == "2.0" and rows(hinted[4].new)[0][0] == "2.0"
    assert all(1 <= pair.base.size <= 12 for pair in found[15 + edges :])


@pytest.mark.parametrize(("hint", "size", "label", "value"), [
    (17.0, 16, False, False), (16.0, None, False, False), (2000.0, 1999, False, False), (2001.0, None, False, False),
    (17.5, None, False, False), (1.0, None, True, False), (3.0, None, True, True), (10.0, None, False, True),
    (10.5, None, False, False), (2.0, None, True, True),
])  # fmt: skip
def test_a_hint_is_a_number_of_records_a_label_or_a_value(
    hint: float, size: int | None, label: bool, value: bool
) -> None:
    found = list(inputs._hinted(PLAIN, ADD, np.random.default_rng(2), hint))
    assert [pair.base.size for pair in found] == [size] * (size is not None) + [5] * (label + value)
    ours = found[size is not None :]
    assert [float(pair.new.y[0]) for pair in ours[:label]] == [hint] * label
    assert [float(pair.new.x[0, 0]) for pair in ours[label:]] == [hint] * value


def test_hints_are_combined_with_every_category() -> None:
    found = list(inputs.combined(MIXED, ADD, 3, (3.0, -0.5)))
    seen = sorted(rows(pair.new)[0] for pair in found)
    assert seen == sorted(row(3, c, y) for c in (0, 1, 2) for y in (-0.5, 0.5, 3))
    assert {pair.base.size for pair in found} <= {0, 1, 2, 3}
    assert list(inputs.combined(MIXED, ADD, 3, (99.0,))) == []
    assert sorted(rows(pair.new)[0] for pair in inputs.combined(PLAIN, REPLACE, 3, (5.0,))) == [row(5, 2)]
    assert sorted(rows(pair.new)[0] for pair in inputs.combined(CLASSED, ADD, 3, (5.0,))) == [row(5, 0), row(5, 1)]
    many = list(inputs.combined(MIXED, ADD, 3, tuple(2 + k / 10 for k in range(24))))
    assert len(many) == inputs.MOST_COMBINED == len({rows(pair.new)[0] for pair in many})


# --- Crowds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", list(Relation))
def test_every_crowd_and_its_contrary(relation: Relation) -> None:
    found = list(crowds.crowds(PLAIN, relation, (2, 5)))
    due = [
        (size, label, place, own, second) for size in (2, 5) for label in (0.0, 1.0)
        for place, own in crowds.PLACES for second in (False, True)
    ]  # fmt: skip
    assert len(found) == len(due) == 2 * 2 * 6 * 2
    for pair, (size, label, place, own, second) in zip(found, due, strict=True):
        crowd = [row(2 + 8 * place, 1 + 2 * label)] * size
        if second:
            crowd += [row(2 + 8 * (1 - place), 1 + 2 * (1 - label))] * size
        assert rows(pair.base) == crowd and pair.position == len(crowd)
        assert rows(pair.new) == [row(2 + 8 * own, 1 + 2 * (1 - label))]
        other = 1 - own if place == own else own
        assert (pair.old is None) if relation is ADD else rows(pair.old) == [row(2 + 8 * other, 1 + 2 * label)]


@dataclass
class Turned:
    """A generator whose first whole numbers are chosen; all else is drawn."""

    first: list[int]
    real: Any = field(default_factory=lambda: np.random.default_rng(8))

    def integers(self, *given: Any) -> Any:
        return np.int64(self.first.pop(0)) if self.first else self.real.integers(*given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def once(kind: int, pair: Pair, seed: int = 8, hints: tuple[float, ...] = (), largest: int = 2000) -> Pair:
    return crowds._once(pair, Turned([kind], np.random.default_rng(seed)), hints, largest)  # type: ignore[arg-type]


def given(relation: Relation = REPLACE, count: int = 6) -> Pair:
    records = some(count + 2)
    last = records.take([count]), records.take([count + 1])
    return Pair(records.take(range(count)), last[0], last[1] if relation is REPLACE else None, 2)


@pytest.mark.parametrize("seed", range(6))
def test_each_change_changes_what_it_says(seed: int) -> None:
    """One of: the audited record, the old one, some beside, their number, a repetition, fewer, a move, a likeness."""
    pair = given()
    base, new = rows(pair.base), rows(pair.new)
    assert pair.old is not None
    for kind in (0, 1):
        one = once(kind, pair, seed)
        assert one.base is pair.base and one.old is pair.old and one.new is not pair.new and one.position == 2
    two = once(2, pair, seed)
    assert two.base is pair.base and two.new is pair.new and two.old is not pair.old
    for kind, start in ((3, pair), (2, given(ADD))):
        some_changed = once(kind, start, seed)
        assert some_changed.new is start.new and some_changed.old is start.old
        assert some_changed.base is not start.base and some_changed.base.size == 6
    sizes = {once(4, pair, k).base.size for k in range(60)}
    assert sizes == {size for size in crowds.SIZES if 2 <= size <= 20}
    assert {once(4, pair, k, largest=9).base.size for k in range(60)} == {2, 4, 7, 8, 9}
    grown = once(4, pair, seed)
    assert set(rows(grown.base)) <= set(base)
    assert grown.base.size < 6 or set(rows(grown.base)) == set(base)
    repeated = rows(once(5, pair, seed).base)
    assert repeated[:6] == base and 1 <= len(repeated) - 6 <= 8 and len(set(repeated[6:])) == 1
    assert len(once(5, pair, seed, largest=6).base.y) == 6
    fewer = rows(once(6, given(count=40), seed).base)
    assert fewer == [one for one in rows(given(count=40).base) if one in fewer] and 16 < len(fewer) < 38
    joined = once(7, pair, seed)
    assert rows(joined.base) == base + new
    alike = once(8, pair, seed)
    assert rows(alike.new)[0][:2] in [one[:2] for one in base] and float(alike.new.y[0]) in (-1.0, 3.0)
    assert alike.base is pair.base


def test_where_nothing_stands_beside_only_the_audited_record_changes() -> None:
    empty = given(ADD, 0)
    for kind in (2, 3, 4, 5, 6, 8):
        same = once(kind, empty)
        assert same.base is empty.base and same.new is empty.new
    alone = given(ADD, 1)
    assert once(6, alone).base is alone.base
    assert once(7, empty).base.size == 1


def test_changed_pairs_keep_their_place_inside() -> None:
    """One to three changes."""
    counts = []
    for seed in range(200):
        chance = np.random.default_rng(seed)
        counts.append(int(np.random.default_rng(seed).integers(1, 4)))
        found = crowds.mutated(given(ADD, 6), chance, (0.5,), 40)
        assert 0 <= found.position <= min(2, found.base.size)
    assert set(counts) == {1, 2, 3}


def test_a_value_moves_by_a_step_an_ulp_or_its_sign() -> None:
    now = np.array([3.0, 9.9])
    chance = np.random.default_rng
    step = 0.8 * chance(4).standard_normal()
    assert crowds._moved(now, 2.0, 10.0, 5, chance(4)).tolist() == np.clip(now + step, 2, 10).tolist()
    seen = {tuple(crowds._moved(now, 2.0, 10.0, 6, chance(seed)).tolist()) for seed in range(9)}
    assert seen == {tuple(np.nextafter(now, side).tolist()) for side in (-np.inf, np.inf)}
    assert crowds._moved(np.array([2.0]), 2.0, 10.0, 6, chance(0)).tolist()[0] in (2.0, math.nextafter(2, 3))
    assert crowds._moved(now, 2.0, 10.0, 7, chance(0)).tolist() == [9.0, 12.0 - 9.9]
    assert crowds._moved(now, 2.0, 10.0, 4, chance(5)).tolist() == [2 + 8 * chance(5).random()]


def test_values_and_labels_by_their_kind() -> None:
    """Ends and the middle, anything, hints inside, missing; categories and classes among theirs."""
    now = np.array([4.0])

    def value(kind: int, column: int = 0, hints: tuple[float, ...] = ()) -> float:
        turned: Any = Turned([kind])
        return float(crowds._value(MIXED, now, column, turned, hints)[0])

    assert [value(kind) for kind in range(3)] == [2.0, 6.0, 10.0] and 2 < value(3) < 10
    assert [value(kind, 1) for kind in range(3)] == [0.0, 1.0, 2.0] and value(8, 1) in (0.0, 1.0, 2.0)
    assert math.isnan(value(8)) and value(7) == 8.0
    assert value(4, 0, (1.0, 10.0, 11.0)) == 10.0 and value(4, 0, (2.0,)) == 2.0 and 2 < value(4, 0, (1.0,)) < 10

    def label(kind: int, then: int = 0, schema: Schema = MIXED, hints: tuple[float, ...] = ()) -> float:
        turned: Any = Turned([kind, then])
        return float(crowds._label(schema, np.array([0.0]), turned, hints)[0])

    assert [label(kind, side) for kind in (0, 3) for side in (0, 1)] == [-1.0, 3.0, -1.0, 3.0]
    assert label(4, hints=(5.0, 3.0)) == 3.0 and label(4, hints=(-1.0, -2.0)) == -1.0 and label(7) == 2.0
    assert label(0, 1, CLASSED) == 1.0 and label(5, 0, CLASSED) in (0.0, 1.0)
