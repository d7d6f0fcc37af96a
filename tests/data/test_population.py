"""Populations: hosts agree with a computation on arrays, with each other, and with their own replay in any order."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from refdp.data import candidates as grids
from refdp.data.losses import on_grid
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
    Pay,
    Place,
    Population,
    Query,
    Refresh,
    RefreshAll,
    Root,
    Sides,
    Start,
    Statistics,
    Step,
    Turn,
    from_json,
    named_all,
    to_json,
    units,
    values,
)
from refdp.data.records import Categorical, Floats, Interval, Numeric, Records, Schema, make_records
from refdp.data.shards import Network, Shards
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.privacy.curator import Curator
from refdp.privacy.events import Partition, Relation, Sequential
from refdp.privacy.sources import SampleSource

SCHEMA = Schema((Numeric("a", 0, 1), Numeric("b", -2, 3), Categorical("c", ("x", "y", "z"))), Interval(-1.0, 1.0))
GRID = grids.uniform(SCHEMA, 7)
TREE = np.array([[0, 0.5], [2, 1.0], [1, 0.5]])


@dataclass(frozen=True)
class Residual:
    """g = label - score on the grid; records of |g| > 3/4 take no part."""

    used: bool = True

    def label(self, output: int, y: Floats) -> Floats:
        return y * (output + 1)

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        g = on_grid(label - score)
        return Statistics({"g": g, "h": on_grid(g * g)}, np.abs(g) <= 0.75 if self.used else None)


class Purse:
    """Every record can pay 1 in all."""

    def __init__(self) -> None:
        self.spent = np.empty(0)

    def open(self, records: int) -> None:
        self.spent = np.concatenate([self.spent, np.zeros(records)])

    def charge(self, cost: Floats) -> Any:
        room = self.spent + cost <= 1
        self.spent += np.where(room, cost, 0.0)
        return room


@dataclass(frozen=True)
class Paying(Residual):
    """Records pay |g| a round."""

    charged: tuple[str, ...] = ("g",)

    def accounts(self) -> Purse:
        return Purse()

    def cost(self, statistics: Mapping[str, Floats | None]) -> Floats:
        g = statistics["g"]
        assert g is not None
        return np.abs(g)


def some(rows: int = 60, seed: int = 3) -> Records:
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.random(rows), rng.uniform(-2, 3, rows), rng.integers(0, 3, rows)])
    x[::7, 1] = np.nan
    return make_records(SCHEMA, x, rng.uniform(-1, 1, rows))


def told(host: Population, *steps: Step) -> Population:
    for step in steps:
        host.tell(step)
    return host


OPENING: tuple[Step, ...] = (Begin(Residual()), Encode(GRID), Refresh(("g", "h")))
QUERIES: tuple[Query, ...] = (
    Bins(("g", COUNT)),
    Nodes(("g", "h", COUNT)),
    Sides(("g", COUNT), np.array([[1, 0.5], [2, 2.0]])),
    Histogram((COUNT, "g"), (2, 0)),
    Leaves(("g", COUNT)),
    Labels(-0.5, 0.5),
)
SCRIPT: tuple[Step, ...] = (*OPENING, Place(TREE), Root((0, 1, 2)), Descend(TREE[:1]))


def test_sums_are_those_of_the_used_records() -> None:
    records = some()
    host = told(Memory(records), *SCRIPT)
    g = on_grid(records.y)
    used = np.abs(g) <= 0.75
    right = records.x[:, 0] >= 0.5
    expected = [
        [g[used & (right == side)].sum() for side in (False, True)],
        [(used & ~right).sum(), (used & right).sum()],
    ]
    assert np.array_equal(values(host.ask(Nodes(("g", COUNT)))), expected)
    leaf = 2 * right + np.where(right, records.x[:, 1] >= 0.5, records.x[:, 2] == 1)
    assert np.array_equal(values(host.ask(Leaves((COUNT,))))[0, 0], np.bincount(leaf[used], minlength=4))
    assert np.array_equal(values(host.ask(Labels(-0.5, 0.5))), [60, on_grid(np.clip(records.y, -0.5, 0.5)).sum()])
    table = values(host.ask(Histogram((COUNT,), (2,))))
    assert np.array_equal(table[0, 1:], np.bincount(records.x[used, 2].astype(int), minlength=3))


def test_scores_move_by_released_values_alone() -> None:
    records = some()
    host = told(Memory(records), Begin(Residual(used=False)), Start(0.25), Place(TREE), Place(TREE))
    told(host, Advance(np.arange(8.0).reshape(2, 4), 0.5), Refresh(("g",)), Encode(GRID), Root((0,)))
    right = records.x[:, 0] >= 0.5
    leaf = 2 * right + np.where(right, records.x[:, 1] >= 0.5, records.x[:, 2] == 1)
    score = 0.25 + 0.5 * leaf + 0.5 * (leaf + 4)
    assert values(host.ask(Nodes(("g",))))[0, 0] == on_grid(records.y - score).sum()


def levels(host: Population, asked: tuple[int, ...]) -> list[Any]:
    """Bin sums of three levels of a tree, only some of them asked, some twice."""
    told(host, *OPENING, Root((0, 1, 2)))
    found = []
    for level, splits in enumerate((TREE[:1], TREE[1:], np.array([[0, 0.25], [1, 1.0], [0, 0.75], [2, 2.0]]))):
        found += [host.ask(Bins(("g", COUNT))) for _ in range(asked.count(level))]
        host.tell(Descend(splits))
    return found


@pytest.mark.parametrize("asked", [(0, 2), (1, 2), (2,), (0, 1, 1, 2, 2), (0, 0, 2)])
def test_a_level_that_was_not_asked_or_asked_twice_gives_right_sums(asked: tuple[int, ...]) -> None:
    every = levels(Memory(some()), (0, 1, 2))
    found = levels(Memory(some()), asked)
    assert all(np.array_equal(mine, every[level]) for mine, level in zip(found, asked, strict=True))


def test_another_tree_or_other_statistics_never_meet_a_stale_table() -> None:
    host = told(Memory(some()), *OPENING, Root((0, 1)))
    host.ask(Bins(("g", COUNT)))
    told(host, Root((1, 2)), Descend(np.array([[1, 0.5]])))
    fresh = told(Memory(some()), *OPENING, Root((1, 2)), Descend(np.array([[1, 0.5]])))
    assert np.array_equal(host.ask(Bins(("g", COUNT))), fresh.ask(Bins(("g", COUNT))))
    told(host, Descend(np.array([[1, 0.0], [2, 1.0]])))
    told(fresh, Descend(np.array([[1, 0.0], [2, 1.0]])))
    assert np.array_equal(host.ask(Bins(("h",))), fresh.ask(Bins(("h",))))


@pytest.mark.parametrize("cuts", [(60,), (20, 40), (1, 58, 1), (0, 60)])
def test_shards_add_up_to_one_host(cuts: tuple[int, ...]) -> None:
    records, edges = some(), np.cumsum([0, *cuts])
    parts = [Memory(records.take(np.arange(low, high))) for low, high in pairwise(edges)]
    one, many = told(Memory(records), *SCRIPT), told(Shards(parts), *SCRIPT)
    assert all(np.array_equal(one.ask(query), many.ask(query)) for query in QUERIES)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_nothing_answers_in_the_shape_of_somebody(query: Query) -> None:
    answer = told(Nothing(), *SCRIPT).ask(query)
    assert answer.shape == told(Memory(some()), *SCRIPT).ask(query).shape
    assert not answer.any()


@pytest.mark.parametrize(
    "message", [*SCRIPT[1:], *QUERIES, RefreshAll(("g",)), Turn(1), Start(0.1), Pay(), Advance(np.ones((1, 4)), 0.1)]
)
def test_steps_and_queries_read_back_from_json(message: Step | Query) -> None:
    text = json.dumps(to_json(message))
    again = from_json(json.loads(text))
    assert type(again) is type(message)
    assert json.dumps(to_json(again)) == text


def test_other_json_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="not a step or query"):
        from_json({"kind": "reveal"})
    with pytest.raises(InvalidParameter, match="not a step or query"):
        from_json({"kind": "start", "initial": 0.0, "rows": []})
    with pytest.raises(InvalidParameter, match="only Params and Contribution"):
        foreign = {"contribution": "os:system", "params": "os:system", "settings": {}, "schema": {}}
        from_json({"kind": "begin", "contribution": foreign, "outputs": [0]})


def test_a_block_sees_its_records_alone_and_closes_after_an_error() -> None:
    records = some()
    host = told(Memory(records), *OPENING)
    curator = Curator(SampleSource(np.random.default_rng(1)), Relation.ADD_REMOVE)
    counts = []
    with curator.partition("share", (0.25, 0.5), host) as blocks:
        for number in (0, 1):
            with blocks.block(number):
                told(host, Root((0,)))
                counts.append(int(values(host.ask(Nodes((COUNT,))))[0, 0]))
        with pytest.raises(KeyboardInterrupt), blocks.block(0):
            raise KeyboardInterrupt
    told(host, Root((0,)))
    everyone = int(values(host.ask(Nodes((COUNT,))))[0, 0])
    assert 0 < counts[0] < counts[1] and sum(counts) < everyone == int((np.abs(on_grid(records.y)) <= 0.75).sum())
    assert curator.event() == Partition((0.25, 0.5), (Sequential(()), Sequential(())))


@pytest.mark.parametrize("query", [Bins((COUNT,)), Nodes((COUNT,)), Sides((COUNT,), np.array([[0, 0.5]]))])
def test_a_tree_of_one_block_answers_in_no_other(query: Query) -> None:
    """A record would be in the releases of two blocks of a partition, which are charged as if it were in one."""
    host = told(Memory(some()), *OPENING)
    curator = Curator(SampleSource(np.random.default_rng(1)), Relation.ADD_REMOVE)
    with curator.partition("share", (0.5, 0.5), host) as blocks:
        with blocks.block(0):
            told(host, Root((0,))).ask(query)
        with pytest.raises(InvalidParameter, match="Root comes first, inside the block"), blocks.block(1):
            host.ask(query)
        with pytest.raises(InvalidParameter, match="Root comes first, inside the block"):
            host.ask(query)
    paying = told(Memory(some()), Begin(Paying(used=False)), Encode(GRID), Refresh(("g",)), Pay(), Root((0,)))
    paying.ask(query)
    with pytest.raises(InvalidParameter, match="after Refresh, Pay"):
        told(paying, Pay()).ask(query)


def spent(host: Callable[[Records], Population], rounds: int) -> list[int]:
    """How many records are in the sums of each round."""
    population = told(host(some()), Begin(Paying(used=False)), Place(TREE))
    found = []
    for _ in range(rounds):
        told(population, Refresh(("g",)), Pay())
        found.append(int(values(population.ask(Leaves((COUNT,)))).sum()))
    return found


def test_records_pay_until_their_own_budget_is_spent() -> None:
    g = np.abs(on_grid(some().y))
    expected = [int((k * g <= 1).sum()) for k in range(1, 6)]
    assert spent(Memory, 5) == expected
    halves = [list(range(30)), list(range(30, 60))]
    assert spent(lambda records: Shards([Memory(records.take(rows)) for rows in halves]), 5) == expected


def test_who_is_absent_is_in_no_sum_and_pays_nothing() -> None:
    halves = [list(range(30)), list(range(30, 60))]
    alone = spent(lambda records: Memory(records.take(halves[0])), 3)

    def second_is_away(records: Records) -> Population:
        network = Network(2, attendance=lambda number: np.array([True, number > 2]))
        return Shards([Memory(records.take(rows)) for rows in halves], network)

    g = np.abs(on_grid(some().y))[30:]
    after = spent(second_is_away, 4)
    assert after[:3] == alone
    assert after[3] - spent(lambda records: Memory(records.take(halves[0])), 4)[3] == int((g <= 1).sum())


def test_too_few_answers_are_refused() -> None:
    network = Network(2, attendance=lambda number: np.array([True, False]), least=2)
    with pytest.raises(InvalidRecords, match="1 of 2 participants answered, 2 are needed"):
        told(Shards([Memory(some()), Memory(some())], network), *SCRIPT).ask(Nodes((COUNT,)))


def test_splits_that_are_no_candidates_are_followed_by_value() -> None:
    odd = np.array([[0, 0.4371], [1, 0.123], [2, 1.0]])
    beyond = np.array([[0, np.nextafter(1.0, 2)], [1, 0.5], [2, 5.0]])
    for splits in (odd, beyond):
        coded, plain = told(Memory(some()), *OPENING, Place(splits)), told(Memory(some()), Begin(Residual()))
        told(plain, Refresh(("g", "h")), Place(splits))
        assert np.array_equal(coded.ask(Leaves(("g", COUNT))), plain.ask(Leaves(("g", COUNT))))


def test_units_are_the_inverse_of_values() -> None:
    exact = on_grid(np.random.default_rng(0).normal(0, 1000, 100))
    assert np.array_equal(values(units(exact)), exact)


def test_statistics_of_all_scores_are_those_of_each() -> None:
    """One query after `RefreshAll` has the sums that one query of each score has, on any host and in a block, too."""
    begun = (Begin(Residual(used=False), (2, 0, 1)), Encode(GRID), Turn(0), Start(0.25), Turn(2))
    coins = np.arange(60) % 2
    assert named_all(("g", "h"), (2, 0)) == ("g.2", "h.2", "g.0", "h.0")
    whole = some()
    hosts = (Memory(whole), Shards([Memory(whole.take(np.arange(25))), Memory(whole.take(np.arange(25, 60)))]))
    for host in hosts:
        told(host, *begun)
        host.select(1, lambda count: coins)
        for within in (False, True):
            if within:
                host.enter(1, 0)
            told(host, RefreshAll(("g", "h")), Place(TREE))
            found = host.ask(Leaves((*named_all(("g", "h"), (1, 2)), COUNT)))
            apart = []
            for output in (1, 2):
                told(host, Turn(output), Refresh(("g", "h")))
                apart.append(host.ask(Leaves(("g", "h"))))
            assert np.array_equal(found[:, :4], np.concatenate(apart, axis=1)) and found[0, 0].any()
            assert np.array_equal(found[:, 4], host.ask(Leaves((COUNT,)))[:, 0])
            told(host, Advance(np.zeros((1, 4)), 1.0))


def test_a_weight_is_on_the_statistics_of_all_scores() -> None:
    @dataclass(frozen=True)
    class Weighed(Residual):
        weighs: bool = True

    whole = some()
    half = replace(whole, weight=np.full(60, 0.5))
    both = [told(Memory(one), Begin(Weighed(used=False), (0, 1)), RefreshAll(("g",)), Place(TREE)).ask(
        Leaves((*named_all(("g",), (0, 1)), COUNT))) for one in (whole, half)]  # fmt: skip
    assert np.array_equal(both[0][:, 2], 2 * both[1][:, 2])
    assert np.abs(both[0][:, :2] - 2 * both[1][:, :2]).max() <= 2 * 60


@pytest.mark.parametrize("host", [lambda: Memory(some()), Nothing])
def test_records_pay_for_the_sums_of_one_score(host: Callable[[], Population]) -> None:
    """Which `Turn` and `Refresh` say again; and of all scores none leaves a record out."""
    own = told(host(), Begin(Paying(used=False), (0, 1)), RefreshAll(("g",)))
    with pytest.raises(InvalidParameter, match="Pay after RefreshAll"):
        own.tell(Pay())
    told(own, Turn(1), Refresh(("g",)), Pay())
    told(own, RefreshAll(("g",)), Refresh(("g",)), Pay())


def test_records_that_take_no_part_are_refused_beside_all_scores() -> None:
    own = told(Memory(some()), Begin(Residual(), (0, 1)), RefreshAll(("g",)), Place(TREE))
    with pytest.raises(InvalidParameter, match="leaves records out"):
        own.ask(Leaves(("g.0",)))
    moved = told(Memory(some()), Begin(Residual(used=False), (0, 1)), RefreshAll(("g",)), Start(0.5), Place(TREE))
    with pytest.raises(InvalidParameter, match="Refresh comes first"):
        moved.ask(Leaves(("g.0",)))
