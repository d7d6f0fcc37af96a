"""Crowds with a record that disagrees, and random changes of pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from refdp.audit import crowds
from refdp.audit.replay import Pair
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema, make_records
from refdp.privacy.events import Relation
from tests.audit.pinned import digest

MIXED = Schema((Numeric("a", 0, 1), Categorical("c", ("u", "v", "w")), Numeric("b", -3, 5)), Interval(-2, 4))
SORTED = Schema((Numeric("b", -3, 5), Categorical("c", ("u", "v", "w"))), Classes(("x", "y", "z")))
HINTS = (0.25, 2.5, -1.0, 40.0)


@pytest.mark.parametrize("relation", list(Relation))
def test_crowds_are_every_size_label_place_and_company(relation: Relation) -> None:
    schema = Schema((Numeric("a", 0, 2), Numeric("b", -3, 5)), Interval(-2, 4))
    kinds = list(itertools.product((2, 3), (0.0, 1.0), crowds.PLACES, (False, True)))
    found = list(crowds.crowds(schema, relation, (2, 3)))
    assert len(found) == len(kinds) == 48
    for pair, (size, label, (place, own), second) in zip(found, kinds, strict=True):
        shares = [(place, label)] * size + [(1 - place, 1 - label)] * size * second
        assert pair.base.x.tolist() == [[2 * x, 8 * x - 3] for x, _ in shares]
        assert pair.base.y.tolist() == [6 * y - 2 for _, y in shares]
        assert pair.new.x.tolist() == [[2 * own, 8 * own - 3]] and pair.new.y.tolist() == [6 * (1 - label) - 2]
        assert pair.position == len(shares)
        if relation is Relation.ADD_REMOVE:
            assert pair.old is None
        else:
            elsewhere = own if own != place else 1 - own
            assert pair.old is not None and pair.old.y.tolist() == [6 * label - 2]
            assert pair.old.x.tolist() == [[2 * elsewhere, 8 * elsewhere - 3]]


def test_crowds_sizes_and_places() -> None:
    assert crowds.CROWD == (10, 1, 3, 30, 100) and crowds.PLACES[:2] == ((0.0, 0.5), (1.0, 0.5))
    assert sorted(crowds.PLACES[2:]) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    first = next(crowds.crowds(MIXED, Relation.ADD_REMOVE))
    assert first.base.size == 10
    powers = {2**k + d for k in range(3, 11) for d in (-1, 0, 1)} | {10**k + d for k in (2, 3) for d in (-1, 0, 1)}
    assert set(crowds.SIZES) == powers | {1, 2, 4, 10, 11, 50} and list(crowds.SIZES) == sorted(
        powers | {1, 2, 4, 10, 11, 50}
    )


def start(schema: Schema, relation: Relation, size: int) -> Pair:
    x = np.column_stack([np.zeros(size) + place for place in range(len(schema.features))])
    one = make_records(schema, x[:1] if size else np.zeros((1, len(schema.features))), np.array([1.0]))
    base = make_records(schema, x, np.arange(size) % 2.0) if size else one.take([])
    return Pair(base, one, one if relation is Relation.REPLACE_ONE else None, size)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("schema", [MIXED, SORTED], ids=["numbers", "classes"])
def test_changed_pairs_stay_pairs_of_the_schema(schema: Schema, relation: Relation) -> None:
    """Whatever is changed: no more records than the largest, all inside their bounds; all kinds of changes occur."""
    pair, generator, seen = start(schema, relation, 5), np.random.default_rng(3), set()
    for turn in range(500):
        before, pair = pair, crowds.mutated(pair, generator, HINTS, 70)
        was, now = before.witness(), pair.witness()
        seen |= {name for name in was if was[name] != now[name]}
        assert pair.relation is relation and 0 <= pair.position <= pair.base.size <= 73
        again = make_records(schema, pair.base.x, pair.base.y) if pair.base.size else pair.base
        assert again.clamped == 0
        if pair.base.size > 40 and turn % 3:
            pair = start(schema, relation, turn % 7)
    old = {"old_x", "old_y"} if relation is Relation.REPLACE_ONE else set()
    assert seen == {"base_x", "base_y", "new_x", "new_y", "position"} | old


def test_a_value_moves_by_a_step_an_ulp_or_to_the_other_side() -> None:
    now, generator = np.array([1.0]), np.random.default_rng(5)
    steps = np.array([crowds._moved(now, -3.0, 5.0, 5, generator)[0] for _ in range(3000)])
    assert abs(steps.mean() - 1) < 0.06 and abs(steps.std() - 0.8) < 0.05 and steps.min() >= -3 and steps.max() <= 5
    assert crowds._moved(np.array([4.9]), -3.0, 5.0, 5, np.random.default_rng(1)).tolist() <= [5.0]
    ulps = {crowds._moved(now, -3.0, 5.0, 6, generator)[0] for _ in range(40)}
    assert ulps == {np.nextafter(1.0, 5), np.nextafter(1.0, -3)}
    for end in (5.0, -3.0):
        ends = [crowds._moved(np.array([end]), -3.0, 5.0, 6, generator)[0] for _ in range(60)]
        assert set(ends) == {end, np.nextafter(end, 0)}
    assert crowds._moved(now, -3.0, 5.0, 7, generator).tolist() == [1.0]
    assert crowds._moved(np.array([4.0, -2.0]), -3.0, 5.0, 7, generator).tolist() == [-2.0, 4.0]
    anywhere = np.concatenate([crowds._moved(now, -3.0, 5.0, 8, generator) for _ in range(2000)])
    assert anywhere.min() < -2.9 and anywhere.max() > 4.9 and abs(anywhere.mean() - 1) < 0.2


def changed(schema: Schema, relation: Relation) -> str:
    found = []
    for size, largest in ((5, 100), (1, 30), (0, 30), (40, 2000)):
        generator = np.random.default_rng(size)
        pair = start(schema, relation, size)
        for _ in range(120):
            pair = crowds.mutated(pair, generator, HINTS, largest)
            found.append(digest(pair))
    return digest(found)


def test_seeded_changes_are_as_recorded() -> None:
    """A record of what seeds give, no truth: audits of a seed are to be repeatable."""
    assert changed(MIXED, Relation.ADD_REMOVE) == "b9a2a6d446a9"
    assert changed(MIXED, Relation.REPLACE_ONE) == "af31e72efed0"
    assert changed(SORTED, Relation.ADD_REMOVE) == "7a93307c960d"
    assert changed(SORTED, Relation.REPLACE_ONE) == "aaeb55907b6c"
