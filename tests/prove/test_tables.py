"""Tables of private sums, entry by entry: what stands where after a choice, a cut, or side by side."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.prove.arithmetic import called
from refdp.prove.tables import ALL, Axis, Binned, Sum, Table, sides_of
from refdp.prove.terms import Leak, Unmodelled


def named(name: str, *axes: Axis) -> Table:
    """Each entry is a tuple of the name and its place."""
    return Table(axes, lambda index, world: (name, *index))


def at(table: Table, *index: Any) -> Any:
    return table.cell(index, SimpleNamespace())


EACH, PART, OPTION = Axis("each", 3), Axis("part", 4, of=("nodes",)), Axis("option", 5, of=("sides",))


def test_entries_and_slices_of_few_entries() -> None:
    table = named("t", EACH, PART)
    assert table.shape == (3, 4) and table.ndim == 2 and table.size == 12 and len(table) == 3
    assert [at(row, "r2") for row in table] == [("t", 0, "r2"), ("t", 1, "r2"), ("t", 2, "r2")]
    assert at(table[-1], "r2") == ("t", 2, "r2") and at(table[...], 1, "r0") == ("t", 1, "r0")
    some = table[1:]
    assert some.shape == (2, 4) and at(some, 0, "r3") == ("t", 1, "r3") and at(some, 1, "r3") == ("t", 2, "r3")
    assert at(table.T, "r1", 2) == ("t", 2, "r1") and table.T.shape == (4, 3)
    wide = table[:, None]
    assert wide.shape == (3, 1, 4) and at(wide, 2, 0, "r1") == ("t", 2, "r1")
    assert table[..., 1:3].shape == (3, 2)
    for wrong in (True, [0, 1], (slice(None), 2)):
        with pytest.raises(Unmodelled):
            table[wrong]
    with pytest.raises(Leak):
        table[named("u", EACH)]


def test_options_side_by_side_are_options_in_two_ways() -> None:
    """Along the first axis where none is named, as numpy does."""
    one, two = (named(name, OPTION, EACH) for name in "ab")
    for found in (called(np.concatenate, ([one, two],), {}), called(np.concatenate, ([one, two],), {"axis": 0}),
                  called(np.concatenate, ([one, two], -2), {})):  # fmt: skip
        assert found.shape == (10, 3) and (found.axes[0].kind, found.axes[0].ways) == ("option", 2)
        assert at(found, (0, "x"), 1) == ("a", (0, "x"), 1) and at(found, (1, "x"), 2) == ("b", (0, "x"), 2)
    one, two = (named(name, EACH, OPTION) for name in "ab")
    last = called(np.concatenate, ([one, two],), {"axis": 1})
    assert last.shape == (3, 10) and at(last, 2, (1, "x")) == ("b", 2, (0, "x"))
    alone = called(np.concatenate, ([one],), {})
    assert alone is not one and (alone.axes, alone.cell) == (one.axes, one.cell)  # numpy makes a new one
    for first, second, axis in ((named("a", OPTION, EACH), named("b", OPTION, PART), 0), (one, two, 0),
                                (named("a", EACH, PART), named("b", EACH, PART), 1)):  # fmt: skip
        with pytest.raises(Unmodelled):
            called(np.concatenate, ([first, second],), {"axis": axis})


def test_parts_of_several_features_side_by_side() -> None:
    one, two = named("a", PART), named("b", Axis("part", 2, of=("nodes",)))
    found = called(np.concatenate, ([one, two],), {})
    assert found.shape == (6,) and at(found, 0, "r1") == ("a", "r1") and at(found, 1, "r0") == ("b", "r0")
    short, long = named("a", EACH), named("b", Axis("each", 2))
    assert called(np.concatenate, ([short, short],), {}).shape == (6,)
    for others in ([short, long], [short, one]):
        with pytest.raises(Unmodelled):
            called(np.concatenate, (others,), {})


def test_a_table_is_cut_along_its_axis() -> None:
    table = named("t", Axis("each", 5), PART)
    for found in (called(np.split, (table, [2, 3]), {}), called(np.split, (table, [2, 3], 0), {})):
        assert [one.shape for one in found] == [(2, 4), (1, 4), (2, 4)]
        assert [at(one, 0, "r1") for one in found] == [("t", k, "r1") for k in (0, 2, 3)]
    turned = named("t", EACH, Axis("each", 5))
    found = called(np.split, (turned, [1], -1), {})
    assert [one.shape for one in found] == [(3, 1), (3, 4)] and at(found[1], 2, 3) == ("t", 2, 4)


def test_shapes_are_public_and_other_functions_are_not_modelled() -> None:
    table = named("t", EACH, PART)
    assert called(np.shape, (table,), {}) == (3, 4) and called(np.ndim, (table,), {}) == 2
    assert called(np.size, (table,), {}) == 12
    assert called(np.ravel, (table,), {}).shape == (12,) and called(np.reshape, (table, (2, 6)), {}).shape == (2, 6)
    wrong: list[Any] = [(np.sort, (table,), {}), (np.size, (table, 0), {}), (np.shape, (table,), {"axis": 0})]
    for function, given, options in [*wrong, (np.cumsum, (table,), {})]:
        with pytest.raises(Unmodelled):
            called(function, given, options)
    with pytest.raises(Unmodelled):
        called(np.reshape, (table, (2, 6)), {})[0]


def test_a_sum_over_the_bins_of_a_feature_is_its_total() -> None:
    """Of sums over records alone, along the bins alone."""
    one = Sum(0, "count", (), (), ALL, None)
    bins = Axis("part", 6, of=("bins", 0, 0))
    table = Table((EACH, bins), lambda index, world: one if index[1] == "whole" else None)
    total = table.sum(axis=-1)
    assert total.shape == (3,) and at(total, 2) is one
    kept = table.sum(axis=1, keepdims=True)
    assert kept.shape == (3, 1) and at(kept, 2, 0) is one
    for wrong in (0, None):
        with pytest.raises(Unmodelled):
            table.sum(axis=wrong)
    with pytest.raises(Unmodelled):
        named("t", EACH, PART).sum(axis=-1)
    with pytest.raises(Unmodelled, match="a total of what is computed"):
        at(Table((EACH, bins), lambda index, world: ("no", "sum")).sum(axis=-1), 0)


def test_sides_of_candidates_stand_in_the_last_place() -> None:
    """From bins of all features; whatever axes stand before them stay, and every side is the one that was asked for."""
    binned = Binned(SimpleNamespace(features=(0, 1)), (0, 1), 0)
    plain = Sum(0, "count", (), (), ALL, None)
    asked: list[Any] = []

    def cell(index: Any, world: Any) -> Any:
        asked.append(index)
        return plain

    found = sides_of(Table([EACH, PART, Axis("bins", 6, of=binned)], cell), frozenset("m"), 4, ("which",))
    assert found.axes == (EACH, PART, Axis("option", 4, of=("which",))) and found.shape == (3, 4, 4)
    assert at(found, 1, "r2", (0, "c")) is plain and asked == [(1, "r2", ("side", frozenset("m"), "c"))]
    some = Binned(SimpleNamespace(features=(0, 1)), (0,), 0)
    for wrong in (EACH, OPTION, Axis("bins", 6, of=some)):
        with pytest.raises(Unmodelled, match="anything but sums in all bins"):
            sides_of(Table([EACH, wrong], cell), ALL, 4, ())
    computed = sides_of(Table([Axis("bins", 6, of=binned)], lambda index, world: 3), ALL, 4, ())
    with pytest.raises(Unmodelled, match="bin by bin"):
        at(computed, (0, "c"))


def test_choices_of_every_kind_of_axis() -> None:
    """Entries from both ends, parts of one entry alone, some of the parts, and the bins of one feature."""
    table = named("t", EACH, PART)
    assert at(table[-3], "r0") == ("t", 0, "r0") and at(table[np.int64(1)], "r0") == ("t", 1, "r0")
    assert table[None].shape == (1, 3, 4) and table[::2].shape == (2, 4) and at(table[::2], 1, "r1") == ("t", 2, "r1")
    some = table[:, 1:3]
    assert some.axes == (EACH, Axis("part", 2, of=("some", ("nodes",), 1))) and at(some, 2, "r1") == ("t", 2, "r1")
    assert table[:, 1:3:1].shape == (3, 2)
    with pytest.raises(Unmodelled, match="a choice of some"):  # of one node, which could be another one
        named("t", EACH, Axis("part", 1, of=("nodes",)))[:, 0]
    one = named("t", EACH, Axis("part", 1, of=("root", 0, 0)))
    assert at(one[:, 0], 2) == ("t", 2, "r0") and at(one[:, -1], 2) == ("t", 2, "r0")
    for wrong in ((slice(None), slice(0, 4, 2)), (slice(None), 1), False, (slice(None), False)):
        with pytest.raises(Unmodelled):
            table[wrong]
    with pytest.raises(Unmodelled):
        named("t", EACH, OPTION)[:, 1:2]
