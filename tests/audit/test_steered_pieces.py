"""The search over contents: in which batches, with which numbers, what is looked at in full, and how it ends."""

from __future__ import annotations

import math
from collections import Counter
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import steered
from refdp.audit.replay import Finding, Pair
from refdp.audit.search import Search
from refdp.audit.steered import Judged, Short
from refdp.data.records import Interval, Numeric, Records, Schema
from refdp.privacy.events import Relation

SCHEMA = Schema((Numeric("a", 0.0, 1.0),), Interval(0.0, 1.0))


def pair(value: float) -> Pair:
    return Pair(
        Records(SCHEMA, np.array([[value]]), np.array([0.0])),
        Records(SCHEMA, np.array([[0.5]]), np.array([0.5])),
        None,
        0,
    )


class Play:
    """A search without runs: every batch answers with what `answers` says of its number, or not at all."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: Any = None, seed: int = 3) -> None:
        self.batches: list[tuple[int, list[Any]]] = []
        self.mutations: list[Any] = []
        self.looked: list[Any] = []
        self.seed = seed
        self.answers = answers or (lambda turn, place: judged())
        monkeypatch.setattr(steered, "in_child", self.child)
        monkeypatch.setattr(steered, "_judged", self.judged)
        monkeypatch.setattr(steered, "mutated", self.mutated)

    def child(self, function: Any) -> Any:
        found = function()
        return (None, f"ended {len(self.batches)}") if any(one is None for one in found) else (found, "")

    def judged(self, search: Any, pairs: list[Any], first: int, follow: Any) -> Any:
        assert search is self and follow("x") == "followed x"
        self.batches.append((first, list(pairs)))
        return [self.answers(len(self.batches), place) for place in range(len(pairs))]

    def mutated(self, parent: Any, generator: np.random.Generator, hints: Any, largest: int) -> Any:
        self.mutations.append((parent, hints, largest, generator.bit_generator.state["state"]["state"]))
        return f"changed {len(self.mutations)}"

    def look(self, one: Any, number: int) -> None:
        self.looked.append((one, number))

    def go(self, seeds: Any, steps: int, **given: Any) -> steered.Steered:
        return steered.steered(self, seeds, lambda name: f"followed {name}", steps, **given)  # type: ignore[arg-type, return-value]


def judged(seconds: float = 1.0, scores: Any = None, kinds: Any = (), lines: Any = (), apart: Any = ()) -> Judged:
    return Judged(scores or {}, frozenset(kinds), frozenset(lines), frozenset(apart), seconds)


def names(start: int = 0) -> Any:
    return (f"seed {k}" for k in count(start))


def test_no_steps_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Play(monkeypatch)
    assert play.go(names(), 0) == steered.Steered() == steered.Steered(0, "", {}, set(), set()) and play.batches == []
    assert play.go([], 5).tried == 0 and play.batches == []


@pytest.mark.parametrize(("steps", "own"), [(1, 1), (2, 1), (3, 1), (9, 4)])
def test_half_of_the_steps_are_seeds_and_spots_come_besides(
    steps: int, own: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing stands out there is nothing to change, and the search ends."""
    play = Play(monkeypatch)
    seen = play.go(names(), steps, spots=(f"spot {k}" for k in count()), arranged=lambda one: f"{one}!")
    told = [one for _, batch in play.batches for one in batch]
    assert told == [f"seed {k}!" for k in range(own)] + [f"spot {k}!" for k in range(steps)]
    assert seen.tried == own + steps and not seen.failed and play.looked == []


def test_batches_last_about_eight_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first has four pairs; then half of what eight seconds allow by the slowest, 1 to 24. Numbers go on."""
    seconds = [[0.5, 0.25], [3.0, 0.1], [5.0, 1.0], [0.0, 0.0], [1.3, 0.2]]
    play = Play(monkeypatch, lambda turn, place: judged(seconds[min(turn, 5) - 1][place % 2]))
    seen = play.go(names(), 200)
    sizes = [len(batch) for _, batch in play.batches]
    assert sizes[:6] == [4, 8, 1, 1, 24, 3] and sum(sizes) == 100 == seen.tried
    starts = [first for first, _ in play.batches]
    assert starts == [10_000 + sum(sizes[:k]) for k in range(len(sizes))]
    assert [one for _, batch in play.batches for one in batch] == [f"seed {k}" for k in range(100)]


def test_what_stood_out_is_changed_until_the_steps_are_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Play(monkeypatch, lambda turn, place: judged(scores={f"s {place % 3}": float(turn + place)}), seed=8)
    seen = play.go(names(), 10, hints=(0.5, 7.0))
    assert seen.tried == 10 and [len(batch) for _, batch in play.batches] == [4, 4, 2]
    assert [one for _, batch in play.batches for one in batch] == [f"seed {k}" for k in range(5)] + [
        f"changed {k}" for k in range(1, 6)]  # fmt: skip
    assert {(hints, largest) for _, hints, largest, _ in play.mutations} == {((0.5, 7.0), 1100)}
    generator = np.random.default_rng([8, 7])
    after_one = {"s 0": "seed 3", "s 1": "seed 1", "s 2": "seed 2"}
    for parent, *_, state in play.mutations[:3]:
        drawn = list(after_one.values())[int(generator.integers(3))]
        assert parent == drawn and state == generator.bit_generator.state["state"]["state"]
    best = sorted(seen.nearest.items())
    assert [score for _, score in best] == [
        max(float(t + p) for t in (1, 2, 3) for p in range((4, 4, 2)[t - 1]) if p % 3 == k) for k in range(3)
    ]
    assert play.looked and [number for _, number in play.looked] == [10_010 + k for k in range(len(play.looked))]


def test_fewer_and_smaller_pairs_where_a_batch_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter as many, of a quarter of the records; at one pair it ends, unless records cannot be fewer."""
    fails = {2, 4, 6, 7, 8}
    scores = {"s": 1.0}
    play = Play(monkeypatch, lambda turn, place: None if turn in fails else judged(0.0 if turn != 5 else 0.6, scores))
    seen = play.go(names(), 90)
    sizes = [len(batch) for _, batch in play.batches]
    assert sizes[:7] == [4, 24, 6, 24, 6, 6, 1] and seen.failed == "ended 8" and seen.tried == 90
    largest = [given[2] for given in play.mutations]
    assert Counter(largest) == {275: 13, 68: 12, 64: 27} and largest == sorted(largest, reverse=True)
    starts = [first for first, _ in play.batches]
    assert starts == [10_000 + sum(sizes[:k]) for k in range(len(sizes))]
    early = Play(monkeypatch, lambda turn, place: None)
    seen = early.go(names(), 90)
    assert [len(batch) for _, batch in early.batches] == [4, 1] and seen.tried == 4 and seen.failed == "ended 2"


def test_a_new_kind_of_violation_is_looked_at_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {(1, 0): ["a"], (1, 2): ["a", "b"], (2, 1): ["b"], (2, 3): ["c"]}
    play = Play(monkeypatch, lambda turn, place: judged(kinds=kinds.get((turn, place), ()), apart=[(turn, place)]))
    seen = play.go(names(), 16)
    assert play.looked[:3] == [("seed 0", 10_000), ("seed 2", 10_002), ("seed 7", 10_007)]
    later = [number for _, number in play.looked[3:]]
    assert seen.tried == 16 and later and later == sorted(set(later)) and later[0] >= 10_016
    assert {(1, 0), (1, 3), (2, 3)} <= seen.apart
    told = Play(monkeypatch, lambda turn, place: judged(kinds=kinds.get((turn, place), ()), scores={"s": 1.0}))
    seen = told.go(names(), 16, told=lambda: len(told.looked) == 2)
    assert [one for one, _ in told.looked] == ["seed 0", "seed 2"] and seen.tried == 3 and seen.nearest == {"s": 1.0}


def test_at_most_so_many_kinds_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times six; what is new in one pair counts together."""
    play = Play(
        monkeypatch,
        lambda turn, place: judged(0.0, kinds=[(turn, place, 0)] + ([(turn, place, 1)] if turn == 1 else [])),
    )
    play.go(names(), 120)
    assert len(play.looked) == 4 + 4 * 6 - 8


def test_nothing_is_looked_at_again_at_the_end_once_told(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Play(monkeypatch, lambda turn, place: judged(scores={f"s {place}": 1.0}))
    play.go(names(), 8, told=lambda: True)
    assert len(play.looked) == 1 and play.looked[0][1] >= 10_008 - 8


# --- A short replay ---------------------------------------------------------------------------------------------------


def test_short_replays_are_judged_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    lines = [[{1}, {2, 3}, {3, 4}], [{1}, {2}], [{5}, {6, 7}, {6}, {8}]]

    class Noted:
        def __init__(self, *given: Any, **named: Any) -> None:
            made.append((given, named))
            self.number = len(made) - 1
            self.scores = {"s": float(self.number)}
            self.seen: list[frozenset[int]] = []
            self.notes = SimpleNamespace(violations=[])

        def look(self, pair: Any, number: int) -> None:
            self.looked = pair, number
            made[self.number] += (self.looked,)
            self.seen = [frozenset(one) for one in lines[self.number]]
            self.notes.violations = [
                SimpleNamespace(kind="k", release=f"run {n}/split {n}") for n in range(self.number)
            ]

    ticks = iter([10.0, 12.0, 20.0, 21.5, 30.0, 34.0])
    monkeypatch.setattr(steered, "Short", Noted)
    monkeypatch.setattr(steered, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    fields = {name: object() for name in ("source", "watched", "late", "filters")}
    search: Any = SimpleNamespace(train="train", epsilon=1.0, delta=0.5, relation="relation", seed=4, **fields)
    follow: Any = object()
    found = steered._judged(search, ["p", "q", "r"], 70, follow)  # type: ignore[list-item]
    assert [one[0] for one in made] == [("train", 1.0, 0.5, "relation", 4)] * 3
    assert all(one[1] == {**fields, "follow": follow} for one in made)
    assert [one[2] for one in made] == [("p", 70), ("q", 71), ("r", 72)]
    assert [one.seconds for one in found] == [2.0, 1.5, 4.0] and [one.scores["s"] for one in found] == [0.0, 1.0, 2.0]
    assert [set(one.lines) for one in found] == [{1, 2, 3, 4}, {1, 2}, {5, 6, 7, 8}]
    assert [set(one.apart) for one in found] == [{2, 4}, set(), {7}]
    assert [one.kinds for one in found] == [frozenset(), {("k", "split #")}, {("k", "split #")}]


def short(**given: Any) -> Short:
    settings = {"epsilon": 2.0, "delta": 0.0, "relation": Relation.ADD_REMOVE, "seed": 1, **given}
    return Short(lambda records, curator: None, **settings)


def test_runs_of_a_short_replay_follow_lines_of_the_trainers_module(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def here(*given: Any) -> Any:
        asked.append(given)
        return SimpleNamespace(lines=frozenset({len(asked)}))

    monkeypatch.setattr(steered, "run_here", here)
    one = short(watched=("other",), follow=str.isupper)
    assert not Short.__dataclass_fields__["follow"].default("any")
    assert one._run("records", "source", 5).lines == {1} and one._run("r", "s", 6).lines == {2}  # type: ignore[arg-type]
    assert one.seen == [{1}, {2}]
    assert asked[0] == (one.train, "records", "source", Relation.ADD_REMOVE, 6, None, ("other", __name__), str.isupper)
    one.train = SimpleNamespace()  # type: ignore[assignment]
    one._run("r", "s", 0)  # type: ignore[arg-type]
    assert asked[2][4:7] == (1, None, ("other",))


class Law:
    def observed_change(self, value: float, other: float, norm: int) -> float:
        return (value - other) * norm

    def divergence(self, value: float, other: float, order: float) -> float:
        return (value - 2 * other) * order


def change(name: str, value: float, other: float, bound: float, norm: int) -> Any:
    return SimpleNamespace(mechanism=Law(), value=value, other=other, declared=SimpleNamespace(bound=bound, norm=norm),
                           entry=SimpleNamespace(request=SimpleNamespace(name=name)))  # fmt: skip


@pytest.mark.parametrize(("delta", "epsilon", "worst", "whole"), [
    (0.0, 2.0, 3.0, 1.5), (0.0, 2.0, -3.0, 1.5), (0.0, 0.0, 3.0, 28.0), (0.5, 2.0, 3.0, 28.0),
        (0.0, 2.0, None, 28.0)])  # fmt: skip
def test_scores_are_shares_of_what_is_declared(
    delta: float, epsilon: float, worst: Any, whole: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each kind of release the greatest; of the run its loss by epsilon, or else all divergences at order 2."""
    asked: list[Any] = []
    sides: Any = ["first", "middle", "last"]

    def losses(self: Any, *given: Any, **named: Any) -> Finding:
        asked.append((given, named))
        return Finding(None, worst, ())

    def changed(one: Any, other: Any) -> Any:
        asked.append((one, other))
        return [change("a/split 1", 5.0, 1.0, 2.0, 1), change("b/split 2", 4.0, 1.0, 8.0, 4),
            change("c/leaf", 9.0, 1.0, 0.0, 1),
                change("d/sum", 3.0, 1.0, 0.25, 1), change("e/node", 3.0, 1.0, 8.0, 1)]  # fmt: skip

    monkeypatch.setattr(Search, "_losses", losses)
    monkeypatch.setattr(steered, "changes", changed)
    one = short(delta=delta, epsilon=epsilon)
    one.scores["sum"] = 9.0
    where = pair(0.25)
    assert one._losses(sides, where, True, 7, stated=False).worst == worst
    assert asked == [((sides, where, True, 7), {"stated": False}), ("first", "last")]
    assert one.scores == {"split #": 2.0, "leaf": math.inf, "sum": 9.0, "node": 0.25, "the whole run": whole}
    one._losses(sides, where, True, 7)
    assert asked[2][1] == {"stated": True}


def test_spending_scores_too_and_compositions_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(Search, "_spent", lambda self, *given: asked.append(given))
    monkeypatch.setattr(steered, "shares", lambda *given: asked.append(given) or {"filter": 0.5})
    one = short(filters=())
    one.scores["s"] = 1.0
    one._spent("present", "absent", "pair")  # type: ignore[arg-type]
    assert asked == [("present", "absent", "pair"), ((), "present", "absent", "pair")]
    assert one.scores == {"s": 1.0, "filter": 0.5}
    one._composed([], pair(0.5), True, 1)
    assert len(asked) == 2


def test_the_best_of_text_kinds_stand_before_parting_lines_in_full_looks() -> None:
    """Numbers of the looks go on by turn, also where a pair was looked at before."""
    pairs = [pair(0.1 * k) for k in range(4)]
    looked: list[Any] = []
    search: Any = SimpleNamespace(look=lambda one, number: looked.append((pairs.index(one), number)))
    best: dict[Any, Any] = {"low": (0.5, pairs[0]), ("line", 3): (0.0, pairs[3]), "high": (2.0, pairs[1]),
                            "same": (1.0, pairs[1]), ("apart", 2): (0.0, pairs[2])}  # fmt: skip
    steered._look_at_best(search, best, 50, steered.Steered(), lambda: False)
    assert looked == [(1, 50), (0, 52), (2, 53)]
