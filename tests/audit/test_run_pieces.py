"""Runs of foreign functions: piece by piece."""

from __future__ import annotations

import hashlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.audit import runs
from refdp.audit.outputs import BESIDE, one_row
from refdp.audit.runs import (
    InProcess,
    InputPair,
    Vectorised,
    as_pair,
    as_pairs,
    chunk,
    rows_of,
    seed_of,
    stacked,
)
from refdp.errors import InvalidParameter

# --- Runs -------------------------------------------------------------------------------------------------------------


def test_many_runs_at_once_and_single_ones_of_them() -> None:
    def many(records: Any, count: int, generator: np.random.Generator) -> Any:
        return generator.random((count, 2)) + records[0]

    made = Vectorised(many)
    assert (
        made.batch([5.0], 3, np.random.default_rng(1)).tolist()
        == (np.random.default_rng(1).random((3, 2)) + 5).tolist()
    )
    assert made([5.0], 9).tolist() == (np.random.default_rng(9).random((1, 2)) + 5)[0].tolist()
    assert Vectorised(lambda records, count, generator: np.ones(count)).batch(
        [], 3, np.random.default_rng(1)
    ).shape == (3, 1)
    with pytest.raises(InvalidParameter, match="outputs of 4 runs came back: 3 were asked for"):
        Vectorised(lambda records, count, generator: np.ones(4)).batch([], 3, np.random.default_rng(1))
    pair = InputPair([1.0], [2.0])
    (first,), (second,) = chunk(made, pair, 7, 30, 34)
    assert first.tolist() == (np.random.default_rng([7, 0, 30]).random((4, 2)) + 1).tolist()
    assert second.tolist() == (np.random.default_rng([7, 1, 30]).random((4, 2)) + 2).tolist()

    def changing(records: Any, count: int, generator: np.random.Generator) -> Any:
        records.append(0)
        return np.full(count, len(records))

    assert [side[0].tolist() for side in chunk(Vectorised(changing), pair, 7, 0, 1)] == [
        [[2.0]],
        [[2.0]],
    ] and pair.first == [1.0]


def test_what_is_taken_for_a_pair() -> None:
    pair = InputPair(1, 2)
    assert (
        as_pair(pair) is pair
        and as_pair((3, 4)) == InputPair(3, 4) == as_pair([3, 4])
        and as_pair("ab") == InputPair("a", "b")
    )
    methods = SimpleNamespace(first=lambda: 5, second=lambda: 6)
    assert as_pair(methods) == InputPair(5, 6)
    for wrong in ((1,), (1, 2, 3), 7, {1, 2}, SimpleNamespace(first=lambda: 1), SimpleNamespace(second=lambda: 1),
                  SimpleNamespace(first=1, second=lambda: 2)):  # fmt: skip
        with pytest.raises(InvalidParameter, match="two neighbouring data sets"):
            as_pair(wrong)
    assert (
        as_pairs((3, 4)) == [InputPair(3, 4)]
        and as_pairs([(3, 4), pair]) == [InputPair(3, 4), pair]
        and as_pairs([]) == []
    )
    for lists in ([[1], [2]], [(1, 2), np.ones(2)]):
        with pytest.raises(InvalidParameter, match="a list of lists"):
            as_pairs(lists)


def test_outputs_as_rows() -> None:
    assert rows_of([1, 2, 3]).tolist() == [[1.0], [2.0], [3.0]] and rows_of(np.ones((2, 3, 4))).shape == (2, 12)
    for good in (np.array([True]), np.array([1], dtype=np.uint8), np.array([1.5], dtype=np.float32)):
        assert rows_of(good).dtype == np.float64
    for wrong in (3.0, [], ["a"], [1j], np.empty((0, 2)), np.array([None])):
        with pytest.raises(InvalidParameter, match="real numbers are needed"):
            rows_of(wrong)


def test_one_output_as_a_row() -> None:
    """Of what is no array of numbers the numbers, and one more that stands for all names and texts."""
    assert (
        one_row(5).tolist() == [5.0]
        and one_row([[1, 2], [3, 4]]).tolist() == [1, 2, 3, 4]
        and one_row(True).tolist() == [1.0]
    )
    same = [one_row({"a": 1, "b": [2.5, "x"]}), one_row({"a": 7, "b": [8.5, "x"]})]
    assert [row[:2].tolist() for row in same] == [[1.0, 2.5], [7.0, 8.5]] and same[0][2] == same[1][2]
    assert 0 < same[0][2] < 2**48 and same[0][2] == int(same[0][2]) and same[0].shape == (3,)
    told = repr([("['a']", ""), ("['b'][0]", ""), ("['b'][1]", "x")])
    assert same[0][2] == int.from_bytes(hashlib.sha256(told.encode()).digest()[:6], "big")
    others = [one_row({"a": 1, "c": [2.5, "x"]}), one_row({"a": 1, "b": [2.5, "y"]}), one_row([[1], [2, 3]])]
    assert len({same[0][2], *(row[-1] for row in others)}) == 4 and others[2][:3].tolist() == [1, 2, 3]
    for wrong in ([], "x", None, {}, ["a"]):
        with pytest.raises(InvalidParameter, match="without numbers"):
            one_row(wrong)
    assert one_row([1, None])[0] == 1.0 and one_row(np.array([2 + 3j]))[:2].tolist() == [2.0, 3.0]


def test_seeds_of_runs_differ() -> None:
    assert len({seed_of(3, run) for run in range(3000)}) == 3000 and all(
        0 <= seed_of(3, run) < 2**32 for run in range(50)
    )
    assert seed_of(3, 2**32 + 5) == seed_of(3, 5) != seed_of(4, 5)


@pytest.mark.parametrize(
    ("stop", "fails", "told"), [(25, 50, 50), (29, 50, 50), (25, 49, 0), (3, 6, 6), (2, 4, 4), (1, 2, 0), (29, 49, 0)]
)
def test_a_function_that_always_raises_is_called_in_the_wrong_way(stop: int, fails: int, told: int) -> None:
    """25 runs on each side; fewer where there are fewer, but not one."""
    calls: list[int] = []

    def function(records: Any, seed: int) -> float:
        calls.append(seed)
        if len(calls) <= fails:
            raise KeyError(records)
        return 1.0

    if told:
        with pytest.raises(
            InvalidParameter, match=rf"all of the first {told} runs raised KeyError: .*test_run_pieces.py:\d+; function"
        ):
            chunk(function, InputPair("a", "b"), 1, 0, stop)
        assert len(calls) == told
        return
    first, second = chunk(function, InputPair("a", "b"), 1, 0, stop)
    assert len(first) == len(second) == stop and sum(len(row) - BESIDE for row in (*first, *second)) == 2 * stop - fails
    assert {row.shape for row in (*first, *second)} <= {(BESIDE,), (1 + BESIDE,)}


def test_turns_of_both_sides_are_a_coin_of_the_seed() -> None:
    calls: list[str] = []
    chunk(lambda records, seed: calls.append(records) or 1.0, InputPair("a", "b"), 12, 3, 30)
    assert calls == [side for run in range(3, 30) for side in ("ab", "ba")[seed_of(13, run) & 1]]


def test_runs_in_process_are_made_once_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def made(mechanism: Any, pair: Any, seed: int, start: int, stop: int) -> Any:
        asked.append((mechanism, pair, seed, start, stop))
        return [
            [np.array([float(run), *[0] * BESIDE]) for run in range(start, stop)],
            [np.array([-float(run), *[0] * BESIDE]) for run in range(start, stop)],
        ]

    monkeypatch.setattr(runs, "chunk", made)
    pair = InputPair(1, 2)
    one = InProcess("mechanism", pair, 5, 10)
    assert one.upto(4)[0].tolist() == [[0.0], [1.0], [2.0], [3.0]]
    first, second = one.upto(25)
    assert first.ravel().tolist() == list(range(25)) and second.ravel().tolist() == [-float(run) for run in range(25)]
    assert [given[3:] for given in asked] == [(0, 4), (4, 14), (14, 24), (24, 25)] and asked[0][:3] == (
        "mechanism",
        pair,
        5,
    )
    assert one.upto(3)[1].shape == (3, 1) and one.upto(25)[0].shape == (25, 1) and len(asked) == 4
    assert InProcess("m", pair, 1).size == 50_000 == runs.CHUNK


def test_tables_of_runs_of_any_length() -> None:
    rows = [np.array([1.0]), np.array([2.0, 3.0])]
    assert np.array_equal(stacked(rows, 3), [[1, np.nan, np.nan, 1], [2, 3, np.nan, 2]], equal_nan=True)
    assert np.array_equal(stacked(rows, 1), [[1, np.nan, 1], [2, 3, 2]], equal_nan=True) and stacked(
        rows[:1], 0
    ).tolist() == [[1.0, 1.0]]
    assert stacked([np.array([])], 0).tolist() == [[0.0]]
    one, two = runs.table([np.ones((2, 2))], [np.zeros((1, 2)), np.ones((1, 2))], 2)
    assert one.tolist() == [[1, 1], [1, 1]] and two.tolist() == [[0, 0], [1, 1]]
    one, two = runs.table([np.array([1.0]), np.array([2.0])], [np.array([3.0]), np.array([4.0])], 2)
    assert one.tolist() == [[1.0], [2.0]] and two.tolist() == [[3.0], [4.0]]
