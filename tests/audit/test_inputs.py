"""Neighbours for trainers that nobody knows: their numbers of records, hints and edges."""

from __future__ import annotations

import functools
import math
from itertools import islice
from typing import Any

import numpy as np
import pytest

from refdp.audit import inputs, neighbours
from refdp.audit.constants import constants
from refdp.audit.replay import Pair
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema, make_records
from refdp.privacy.events import Relation
from tests.audit.pinned import digest

MIXED = Schema((Numeric("a", 0, 1), Categorical("c", ("u", "v", "w")), Numeric("b", -3, 5)), Interval(-2, 4))
SORTED = Schema((Numeric("b", -3, 5), Categorical("c", ("u", "v", "w"))), Classes(("x", "y", "z")))
PUBLIC = Schema((Categorical("c", ("u", "v")),), Interval(1, 4))
ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE


def rows(found: list[Pair]) -> list[list[float]]:
    """Values and label of the new records."""
    return [[*pair.new.x[0].tolist(), float(pair.new.y[0])] for pair in found]


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("schema", [MIXED, SORTED], ids=["numbers", "classes"])
def test_counts_come_after_shapes_and_edges_and_before_hints(schema: Schema, relation: Relation) -> None:
    edges = list(inputs._edges(schema, relation, np.random.default_rng(0)))
    counts, hints = (3, 0, 20, 7), (2.0, 50.0)
    found = list(islice(inputs.inputs(schema, relation, 5, counts, hints), 6 + len(edges) + 4))
    assert all(1 <= pair.base.size <= 12 and pair.relation is relation for pair in found[:6])
    assert [pair.base.size for pair in found[6:-4]] == [5] * len(edges)
    assert [pair.base.size for pair in found[-4:]] == list(counts)
    odd = found[-4].first()
    assert set(odd.y) <= set(neighbours.labels(schema, np.array([0.0, 1.0])))  # at the bounds
    assert len(np.unique(found[-2].base.x[:, 0])) == 20  # anywhere
    assert all(0 <= pair.position <= pair.base.size for pair in found)
    after = list(islice(inputs.inputs(schema, relation, 5, counts, hints), 6 + len(edges) + 4, 40))
    sizes = [pair.base.size for pair in after]
    assert sizes[:3] == [5, 5, 49] if schema is MIXED else sizes[:2] == [5, 49]


def test_numbers_of_records_are_both_sides_of_round_ones() -> None:
    powers = {2**k + side for k in range(5, 11) for side in (-1, 0)} | {99, 100, 999, 1000, 49, 50}
    assert set(inputs.COUNTS) == set(range(17)) | powers - {33} and list(inputs.COUNTS) == sorted(inputs.COUNTS)
    assert (inputs.LARGEST, inputs.MOST_HINTS, inputs.MOST_COMBINED) == (2000, 24, 120)


@pytest.mark.parametrize("relation", list(Relation))
def test_a_hint_is_a_number_of_records_a_label_and_a_value(relation: Relation) -> None:
    def hinted(schema: Schema, hint: float) -> list[Pair]:
        return list(inputs._hinted(schema, relation, np.random.default_rng(1), hint))

    for hint, size in ((17.0, 16), (2000.0, 1999)):
        (one,) = hinted(MIXED, hint)
        assert one.base.size == size and one.relation is relation
    for hint in (16.0, 2001.0, 17.5, -20.0, math.nextafter(5, 6)):
        assert not hinted(MIXED, hint)
    as_label, as_value = hinted(MIXED, 4.0)
    assert as_label.new.y.tolist() == [4.0] and as_value.new.x[0, 2] == 4.0 and as_value.new.x[0, 0] != 4.0
    assert as_label.base.size == as_value.base.size == 5 and as_value.new.y.tolist() != [4.0]
    assert as_value.new.x[0, 1] in (0, 1, 2)
    for edge in (-2.0, -3.0, 5.0, 0.0, 1.0):
        found = hinted(MIXED, edge)
        assert len(found) == 1 + (-2 <= edge <= 4)
        assert (found[-1].new.x[0, [0, 2]] == edge).tolist() == [0 <= edge <= 1, True]
    assert len(hinted(SORTED, 1.0)) == 1 and not hinted(PUBLIC, 0.5) and len(hinted(PUBLIC, 1.0)) == 1


def test_at_most_24_hints_are_tried() -> None:
    hints = tuple(float(place) for place in range(17, 60))
    start = inputs.inputs(PUBLIC, ADD, 0, (), hints)
    edges = len(list(inputs._edges(PUBLIC, ADD, np.random.default_rng(0))))
    assert [pair.base.size for pair in islice(start, 6 + edges, 6 + edges + 24)] == list(range(16, 40))
    assert next(start).base.size <= 12


def test_a_pair_of_a_number_of_records_is_the_same_for_the_same_seed() -> None:
    for count in (0, 1, 9):
        pair = inputs.of_count(MIXED, REPLACE, 3, count)
        assert pair.base.size == count and pair.old is not None
        rows = np.vstack([pair.base.x, pair.old.x, pair.new.x])
        x, _ = neighbours.uniform(MIXED, np.random.default_rng([3, count]), count + 2)
        assert (rows == make_records(MIXED, x, np.zeros(count + 2)).x).all()
    sizes = [pair.base.size for pair in inputs.sized(MIXED, ADD, 3, (4, 0, 2))]
    assert sizes == [4, 0, 2] and all(pair.old is None for pair in inputs.sized(MIXED, ADD, 3, (4, 0)))


def outer(x: float) -> float:
    def inner(y: float) -> float:
        return y * 31.5

    return inner(x) + named(x) + 7 if x > 1 else 0 * math.sqrt(x) - 1 + np.float64(x)


def named(x: float) -> float:
    return x - 2.25 if x != True else outer(x + 12)  # noqa: E712


def test_numbers_in_the_code_are_found_through_calls_inside_the_module() -> None:
    assert set(constants(outer)) == {31.5, 7.0, 2.25, 12.0} and len(constants(outer)) == 4
    assert set(constants(named)) == {31.5, 7.0, 2.25, 12.0}
    assert constants(len) == ()


LIMIT = 1501
EDGES = np.array([0.25, 1502.0])


def limited(x: Any, least: float = 1503, *, most: float = 1504) -> bool:
    return x in (1505, 1506) or x in {1507.0} or x > LIMIT or (x > EDGES).any() or least < x < most


class Limits:
    most = 1508
    __slots__ = ("held",)

    def __init__(self, held: float) -> None:
        self.held = held

    def __call__(self, x: float, y: float) -> bool:
        return x > 1509

    @staticmethod
    def pick(x: float) -> bool:
        return x > 1510

    @property
    def shown(self) -> float:
        return 1511.0


def by_class(x: float) -> bool:
    return Limits.pick(x)


def decorated(train: Any) -> Any:
    @functools.wraps(train)
    def inner(*given: Any) -> Any:
        return train(*given)

    return inner


def closed(limit: float) -> Any:
    return lambda x: x > limit


def test_numbers_are_found_wherever_the_text_has_or_names_them() -> None:
    """Globals, arrays, defaults, containers, attributes, methods, closures; behind decorators, partials and objects."""
    plain = {1501.0, 0.25, 1502.0, 1503.0, 1504.0, 1505.0, 1506.0, 1507.0}
    held = {1508.0, 1509.0, 1510.0, 1511.0}
    for train, numbers in [(limited, plain), (decorated(limited), plain),
                           (functools.partial(limited, least=1512), plain | {1512.0}),
                           (Limits(1513), held | {1513.0}), (Limits(1514).__call__, held | {1514.0}), (by_class, held),
                           (closed(1515), {1515.0}), (decorated(closed(1516)), {1516.0})]:  # fmt: skip
        assert set(constants(train)) == numbers
    assert constants(outer)[0] == 7.0  # what is nearest comes first
    huge = closed(10**400)
    assert constants(huge) == () == constants(closed(math.nan)) == constants(closed(True))


def test_numbers_of_libraries_are_left_out() -> None:
    assert constants(lambda x: math.tau * np.median(x) * make_records(x, x, x)) == ()


@pytest.mark.parametrize("relation", list(Relation))
def test_hints_are_combined_in_every_column_and_the_label(relation: Relation) -> None:
    found = list(inputs.combined(MIXED, relation, 2, (0.5, 3.0, 9.0)))
    every = [[a, c, b, y] for a in (0.5,) for c in (0, 1, 2) for b in (-3, -0.5, 0.5, 3) for y in (-0.5, 0.5, 3)]
    assert sorted(rows(found)) == sorted(every)
    assert {pair.base.size for pair in found} == {0, 1, 2, 3} and {pair.relation for pair in found} == {relation}
    alone = rows(list(inputs.combined(MIXED, relation, 2, (4.0,))))
    assert sorted(alone) == [[0.5, float(c), 4.0, 4.0] for c in (0, 1, 2)]
    middle = rows(list(inputs.combined(MIXED, relation, 2, (5.0,))))
    assert sorted(middle) == [[0.5, float(c), 5.0, 1.0] for c in (0, 1, 2)]
    assert not list(inputs.combined(MIXED, relation, 2, (6.0,))) and not list(inputs.combined(MIXED, relation, 2, ()))
    sorts = rows(list(inputs.combined(SORTED, relation, 2, (0.0,))))
    assert {tuple(row) for row in sorts} == {(0.0, c, y) for c in (0, 1, 2) for y in (0, 1, 2)}
    many = rows(list(inputs.combined(MIXED, relation, 2, tuple(np.linspace(0, 1, 30).tolist()))))
    assert len(many) == 120 and len({tuple(row) for row in many}) == 120
    assert {abs(row[0]) for row in many} <= set(np.linspace(0, 1, 30)[:24].tolist())


@pytest.mark.parametrize("relation", list(Relation))
def test_edges_are_bounds_ulps_zeros_missing_and_rare_values(relation: Relation) -> None:
    found = list(inputs._edges(MIXED, relation, np.random.default_rng(6)))
    base = found[0].base
    assert all((pair.base.x == base.x).all() and pair.relation is relation for pair in found)
    assert (base.x[:, 1] == 0).all() and (base.x[:, 0] <= 0.7).all() and (base.x[:, 2] <= 2.6).all() and base.size == 5
    if relation is REPLACE:
        assert all(pair.old is not None and pair.old.x[0, 1] == 0 for pair in found)
    up, down = math.nextafter, -math.inf
    first, plain = [*base.x[0], base.y[0]], [0.5, 1.0, 1.0]
    expected: list[list[Any]] = [
        first, [0, 0, -3, 1], [*plain, -2], [1, 2, 5, 1], [*plain, 4], [up(1, down), 2, up(5, down), 1],
        [*plain, up(4, down)], [up(0, 1), 0, up(-3, 1), 1], [*plain, up(-2, 1)], [math.nan] * 3 + [1],
        [-0.0, 0, -0.0, 1], [*plain, 0.0], [*plain, -0.0], [0.5, 0, 1, 1], [0.5, 1, 1, 1], [0.5, 2, 1, 1],
    ]  # fmt: skip
    assert [list(map(repr, map(float, row))) for row in rows(found)] == [
        list(map(repr, map(float, row))) for row in expected
    ]


def test_edges_of_other_schemas() -> None:
    """Classes have no ulps; a range of labels without 0 has no zeros; a range from 0 has."""
    sorts = rows(list(inputs._edges(SORTED, ADD, np.random.default_rng(6))))
    assert [row[-1] for row in sorts[1:]] == [1, 0, 1, 2, 1, 1, 1, 1, 1, 1, 1] and len(sorts) == 12
    assert len(list(inputs._edges(PUBLIC, ADD, np.random.default_rng(6)))) == 13
    for low, high, more in ((0, 1, 2), (-1, 0, 2), (0.5, 1, 0), (-1, -0.5, 0)):
        schema = Schema((Numeric("a", 0, 1),), Interval(low, high))
        assert len(list(inputs._edges(schema, ADD, np.random.default_rng(6)))) == 11 + more


def test_seeded_pairs_are_as_recorded() -> None:
    """A record of what seeds give, no truth: audits of a seed are to be repeatable."""
    found = [
        list(islice(inputs.inputs(schema, relation, 9, (3, 4), (2.0, 0.5)), 40))
        for schema in (MIXED, SORTED, PUBLIC)
        for relation in Relation
    ]
    assert digest(found) == "e5226e3309cc"
    combined = [list(inputs.combined(schema, ADD, 9, (2.0, 0.5))) for schema in (MIXED, SORTED)]
    assert digest([combined, list(inputs.sized(MIXED, REPLACE, 4, (0, 3, 5)))]) == "650e2edbb7e0"


def test_numbers_of_records_are_all_small_ones_and_those_about_powers() -> None:
    near = [value for one in (32, 50, 64, 100, 128, 256, 512, 1000, 1024) for value in (one - 1, one)]
    assert (*range(17), *near) == inputs.COUNTS


@pytest.mark.parametrize("relation", list(Relation))
def test_numbers_of_records_lie_on_both_sides_of_hints_and_of_their_halves(relation: Relation) -> None:
    def sizes(*hints: float) -> list[int]:
        return [pair.base.size for pair in inputs.beside(MIXED, relation, 0, hints)]

    assert sizes(1000.0) == [1000, 999, 500, 499] == sizes(-3.0)
    assert sizes(1000.0, 1600.0) == [1000, 999, 1600, 1599, 500, 499, 800, 799]
    assert sizes(2000.0) == [2000, 1999, 1000, 999] and sizes(4001.0) == [2000, 1999]
    assert sizes(17.0) == [17] and sizes(16.0, 0.5, -700.0, -5.0, math.inf) == []
    assert len(sizes(*map(float, range(100, 1900, 7)))) == inputs.MOST_BESIDE
