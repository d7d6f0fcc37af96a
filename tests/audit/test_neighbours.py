"""Shapes of data sets, and the pairs of neighbours made of them."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from refdp.audit import neighbours
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema, make_records
from refdp.privacy.events import Relation
from tests.audit.pinned import digest

MIXED = Schema((Numeric("a", 0, 1), Categorical("c", ("u", "v", "w")), Numeric("b", -3, 5)), Interval(-2, 4))
SORTED = Schema((Numeric("b", -3, 5), Categorical("c", ("u", "v", "w"))), Classes(("x", "y", "z")))
SIZE = 400


def generator(seed: int = 4) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_shares_of_ranges_are_values_and_labels() -> None:
    share = np.array([[0.0, 0.0, 0.0], [0.25, 0.34, 0.25], [0.5, 0.66, 0.75], [1.0, 1.0, 1.0]])
    assert neighbours.features(MIXED, share).tolist() == [[0, 0, -3], [0.25, 1, -1], [0.5, 1, 3], [1, 2, 5]]
    assert neighbours.categorical(MIXED).tolist() == [False, True, False]
    ends = np.array([0.0, 0.25, 0.34, 0.66, 0.67, 1.0])
    assert neighbours.labels(MIXED, ends[[0, 1, 5]]).tolist() == [-2, -0.5, 4]
    assert neighbours.labels(SORTED, ends).tolist() == [0, 0, 1, 1, 2, 2]
    with pytest.raises(ValueError, match="shorter"):
        neighbours.features(MIXED, share[:, :2])


@pytest.mark.parametrize("schema", [MIXED, SORTED], ids=["numbers", "classes"])
def test_shapes_are_what_they_say(schema: Schema) -> None:
    lows = np.array([0.0 if isinstance(f, Categorical) else f.low for f in schema.features])
    highs = np.array([len(f.categories) - 1 if isinstance(f, Categorical) else f.high for f in schema.features])
    sorts = neighbours.categorical(schema)
    bottom, top = neighbours.labels(schema, np.array([0.0, 1.0]))
    for shape in neighbours.SHAPES[:5]:
        x, y = shape(schema, generator(), SIZE)
        assert x.shape == (SIZE, len(schema.features)) and y.shape == (SIZE,)
        assert (x >= np.where(sorts, lows, np.nextafter(lows, -np.inf))).all() and (x <= highs).all()
        assert (y >= bottom).all() and (y <= top).all()
    x, y = neighbours.uniform(schema, generator(), SIZE)
    assert len(np.unique(x[:, ~sorts])) == SIZE * (~sorts).sum() and set(x[:, sorts][:, 0]) == {0, 1, 2}
    for shape in (neighbours.extreme, neighbours.one_sided, neighbours.straddling):
        x, y = shape(schema, generator(), SIZE)
        assert all(set(column) == {low, high} for column, low, high in zip(x.T, lows, highs, strict=True))
        assert set(y) == {bottom, top}
    halves = neighbours.extreme(schema, generator(), SIZE)[1] == top
    assert 0.4 < halves.mean() < 0.6
    sides = set()
    for seed in range(8):
        y = neighbours.one_sided(schema, generator(seed), 5)[1]
        assert len(set(y[:-1])) == 1 and y[-1] == bottom + top - y[0]
        sides.add(y[0])
    assert sides == {bottom, top}
    y = neighbours.straddling(schema, generator(), 5)[1]
    assert y.tolist() == [bottom, top, bottom, top, bottom]


def test_edges_are_where_uniform_candidates_lie() -> None:
    x, y = neighbours.on_edges(MIXED, generator(), 4000)
    for column, low, high in ((0, 0.0, 1.0), (2, -3.0, 5.0)):
        grid = low + np.arange(34) / 33 * (high - low)
        on, below = np.isin(x[:, column], grid), np.isin(x[:, column], np.nextafter(grid, -np.inf))
        assert (on | below).all() and 0.45 < on.mean() < 0.55
        assert len(np.unique(x[:, column])) == 68
    assert set(x[:, 1]) == {0, 1, 2} and len(np.unique(y)) == 4000


@pytest.mark.parametrize("schema", [MIXED, SORTED], ids=["numbers", "classes"])
def test_what_lies_outside_is_far_away_missing_or_inside(schema: Schema) -> None:
    x, y = neighbours.outside(schema, generator(), 20_000)
    for far, share in ((1e12, 0.2), (-1e12, 0.2)):
        assert np.allclose((x == far).mean(axis=0), share, atol=0.012)
    assert np.allclose(np.isnan(x).mean(axis=0), 0.1, atol=0.01)
    inside = np.abs(x) <= 5
    assert np.allclose(inside.mean(axis=0), 0.5, atol=0.015)
    if schema is MIXED:
        assert (y == neighbours.uniform(schema, generator(), 20_000)[1] * 1e6).all()
        assert 3.9e6 < y.max() <= 4e6 and -2e6 <= y.min() < -1.9e6
    else:
        assert set(y) == {0, 1, 2}


@pytest.mark.parametrize("relation", list(Relation))
def test_pairs_take_the_shapes_in_turn(relation: Relation) -> None:
    """Sizes are from 1 on to the most; the last record is the new one, the one before it the old one."""
    found = list(islice(neighbours.pairs(MIXED, relation, 3, 4), 180))
    assert {pair.base.size for pair in found} == {1, 2, 3, 4}
    for pair in found:
        assert pair.relation is relation and 0 <= pair.position <= pair.base.size and pair.new.size == 1
    assert {pair.position - pair.base.size for pair in found} == {0, -1, -2, -3, -4}
    for pair in found[2::6]:  # one-sided
        beside = pair.base.y if pair.old is None else np.append(pair.base.y, pair.old.y)
        assert len(set(beside)) == 1 and pair.new.y[0] == 2 - beside[0]
    for pair in found[3::6]:  # straddling: the new one follows the old one
        labels = [*pair.base.y, *([0.0] if pair.old is None else pair.old.y), *pair.new.y]
        labels[-2] = -2.0 if pair.base.size % 2 == 0 else 4.0
        assert labels == [(-2.0, 4.0)[place % 2] for place in range(pair.base.size + 2)]
    most = {pair.base.size for pair in islice(neighbours.pairs(MIXED, relation, 3), 300)}
    assert most == set(range(1, 13))


@pytest.mark.parametrize("relation", list(Relation))
def test_pairs_of_real_records(relation: Relation) -> None:
    """Every other pair has its audited records at the bounds; all others are different real records."""
    real = make_records(
        MIXED, np.column_stack([np.arange(9) / 16, np.arange(9) % 3, np.arange(9) / 2]), np.arange(9) / 4
    )
    rows = {tuple(row): place for place, row in enumerate(np.column_stack([real.x, real.y]))}
    for size, many in ((5, 5), (20, 7)):
        for turn, pair in enumerate(islice(neighbours.from_records(real, relation, 8, size), 40)):
            assert pair.base.size == many and pair.relation is relation
            places = [rows[*x, y] for x, y in zip(pair.base.x, pair.base.y, strict=True)]
            audited = [one for one in (pair.new, pair.old) if one is not None]
            if turn % 2:
                assert all(one.x[0, 0] in (0, 1) and one.x[0, 2] in (-3, 5) and one.y[0] in (-2, 4) for one in audited)
            else:
                places += [rows[*one.x[0], one.y[0]] for one in audited]
            assert len(set(places)) == len(places)


def test_seeded_pairs_are_as_recorded() -> None:
    """A record of what seeds give, no truth: audits of a seed are to be repeatable."""
    found = [
        list(islice(neighbours.pairs(schema, relation, 11), 12)) for schema in (MIXED, SORTED) for relation in Relation
    ]
    assert digest(found) == "5a68b0134640"
    real = make_records(MIXED, *neighbours.uniform(MIXED, generator(), 12))
    assert (
        digest([list(islice(neighbours.from_records(real, relation, 1, 4), 4)) for relation in Relation])
        == "3c55fe0427fd"
    )
