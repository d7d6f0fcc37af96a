"""Runs of both sides for structural checks, and their leaves: every piece by hand."""

from __future__ import annotations

import json
import math
import pickle
import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from refdp.audit import structural_samples as samples
from refdp.audit import structural_state as state
from refdp.audit.structural_samples import Remembered, Samples, StructuralFinding
from refdp.errors import InvalidParameter

TABLE = np.array([[1.0, -8.0], [3.0, 2.0], [0.5, 0.25]])

# --- Runs on both sides -----------------------------------------------------------------------------------------------


def test_a_finding_as_plain_data() -> None:
    evidence = {1: (math.inf, -math.inf, [math.nan, 2.5]), "n": 3, "t": "x", "none": None, "yes": True}
    found = StructuralFinding("kind", "place", evidence, "said")
    plain = {"1": ["infinity", "-infinity", ["not a number", 2.5]], "n": 3, "t": "x", "none": None, "yes": True}
    told = found.to_dict()
    assert told.keys() == {"kind", "where", "evidence", "meaning", "violation"} and told["violation"] is True
    assert {key: value for key, value in told["evidence"].items() if key != "1"} == {
        key: value for key, value in plain.items() if key != "1"}  # fmt: skip
    assert told["evidence"]["1"][2][1] == 2.5 and all(isinstance(one, str) for one in told["evidence"]["1"][:2])
    json.dumps(told, allow_nan=False)


def test_samples_in_tables() -> None:
    first: Any = [{"b": 1, "a": 2.0}, {"a": 3.0, "b": 4, "t": "x", "c": 1.0}]
    second: Any = [{"b": 5, "a": 6.0, "c": 2.0}, {"t": "y", "b": 8, "a": 7.0}, {"a": 9.0, "b": 0, "t": 1}]
    both = Samples(first, second)
    assert both.paths == ["b", "a", "t", "c"] and both.everywhere == ["b", "a"]
    assert both.tables[0].tolist() == [[1, 2], [4, 3]] and both.tables[1].tolist() == [[5, 6], [8, 7], [0, 9]]
    assert both.tables[0].dtype == np.float64
    assert both.side("t") == (Counter({None: 1, "x": 1}), Counter({None: 1, "y": 1, 1: 1}))


def test_runs_of_both_sides_are_mixed_and_global_generators_put_back() -> None:
    """In a fixed random order of all runs; each with its own seed everywhere; data are copied."""
    calls: list[Any] = []

    def function(data: list[Any], generator: np.random.Generator) -> Any:
        calls.append((data[0], generator.random(), random.random(), np.random.random()))  # noqa: NPY002
        data.append(1)
        if calls[-1][1] > 0.9:
            raise KeyError(data[0])
        return {"x": calls[-1][1], "n": len(data)}

    seeds = [2**40 + 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [5, 6, 2**32 + 9]
    sides = [(["p"], seeds[0]), (["q"], seeds[1])]
    before = random.getstate(), np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    found = samples.sampled(function, sides)
    assert random.getstate() == before[0] and np.array_equal(np.random.get_state()[1], before[1])  # type: ignore[index]  # noqa: NPY002
    places = [(side, place) for side in (0, 1) for place in range(len(seeds[side]))]
    np.random.default_rng([2**40 + 3, 5]).shuffle(places)
    expected, states = [], {}
    for side, place in places:
        seed = seeds[side][place]
        drawn = np.random.default_rng(seed).random()
        expected.append(("pq"[side], drawn, random.Random(seed).random(), np.random.RandomState(seed % 2**32).random()))
        error: Any = {"raises": f"KeyError: '{'pq'[side]}'"}
        states[side, place] = error if drawn > 0.9 else {"['x']": drawn, "['n']": 2}
    assert calls == expected and [one[0] for one in calls] != sorted("p" * 10 + "q" * 3)
    assert found == [[states[0, j] for j in range(10)], [states[1, j] for j in range(3)]]
    assert any("raises" in run for side in found for run in side)
    calls.clear()
    assert samples.sample(function, ["p"], seeds[0]) == found[0]
    assert [one[1] for one in calls] == [np.random.default_rng(one).random() for one in seeds[0]]


def test_an_error_is_told_by_its_text_and_by_what_it_has_besides() -> None:
    def function(data: Any, generator: np.random.Generator) -> Any:
        error = ValueError("a") if data else ValueError(f"{object()!r}", 3)
        error.more = 2.5  # type: ignore[attr-defined]
        raise error from KeyError("b")

    found, other = (samples.sample(function, data, [1])[0] for data in ([1], []))
    texts = {"raises": "ValueError: a", "raises, from error 1": "KeyError: 'b'"}
    assert found == {**texts, "raises [0]['.more']": 2.5}
    assert other["raises [0]['.args'][1]"] == 3 and "0x" in str(other) and samples.sample(function, [], [1]) == [other]


def test_remembered_runs_are_not_run_again() -> None:
    kept: dict[Any, Any] = {("d", 4): {"": 99}}
    memory: Any = SimpleNamespace(recall=lambda data, seed: kept.get((data, seed)),
                                  keep=lambda data, seed, run: kept.update({(data, seed): run}))  # fmt: skip
    calls = []

    def function(data: str, generator: np.random.Generator) -> float:
        calls.append(data)
        return generator.random()

    drawn = np.random.default_rng(5).random()
    found = samples.sample(Remembered(function, memory), "d", [4, 5])
    assert found == [{"": 99}, {"": drawn}] and calls == ["d"] and kept["d", 5] == {"": drawn}
    assert samples.sample(Remembered(function, memory), "d", [5]) == [{"": drawn}] and calls == ["d"]


def test_records_of_every_form() -> None:
    labels = np.array([True, False, True])
    data = (TABLE, labels, ["a", "b", "c"], [[1, 2], [3, 4], [5, 6]], [[1], [2, 3], []])
    rows = np.array([2, 0])
    taken = samples.take(data, rows)
    assert isinstance(taken, tuple) and [np.asarray(one).tolist() if number < 4 else one for number,
        one in enumerate(taken)] == [
        [[0.5, 0.25], [1.0, -8.0]], [True, True], ["c", "a"], [[5, 6], [1, 2]], [[], [1]]]  # fmt: skip
    assert samples.size(data) == samples.size((TABLE[:1], labels)) + 2 == samples.size([1, 2, 3]) == 3
    found = {name: column.tolist() for name, column in samples.columns(data)}
    assert found == {"column 0 of part 0": [1.0, 3.0, 0.5], "column 1 of part 0": [-8.0, 2.0, 0.25],
                     "column 0 of part 1": [1.0, 0.0, 1.0], "column 0 of part 3": [1.0, 3.0, 5.0],
                     "column 1 of part 3": [2.0, 4.0, 6.0]}  # fmt: skip
    assert [name for name, _ in samples.columns(TABLE)] == ["column 0 of part 0", "column 1 of part 0"]
    assert samples.columns(np.empty((0, 2))) == []
    assert samples.table_of([[1], [2, 3]]).size == 0 and samples.table_of([[1, 2]]).shape == (1, 2)


def test_statistics_that_a_model_might_hold() -> None:
    column = [3.0] + [float(j) for j in range(20)]
    found = samples.statistics(np.array(column))
    exact = {"number of records": 21.0, "sum of column 0 of part 0": 193.0, "mean of column 0 of part 0": 193 / 21,
             "min of column 0 of part 0": 0.0, "max of column 0 of part 0": 19.0,
             "std of column 0 of part 0": math.sqrt(Fraction(21 * sum(int(v) ** 2 for v in column) - 193**2, 21**2)),
             **{f"count of {j} in column 0 of part 0": 1.0 + (j == 3) for j in range(20)}}  # fmt: skip
    assert found == pytest.approx(exact, rel=1e-14) and list(found) == list(exact)
    assert not any("count of" in name for name in samples.statistics(np.arange(21.0)))


def test_how_often_is_enough() -> None:
    """The first whole number of occurrences whose chance is low enough."""
    for epsilon in (0.0, 1e-3, 0.5, 1.0, 3.0, 49.9):
        assert samples.odds(epsilon) == pytest.approx(-float((1 + Decimal(-epsilon).exp()).ln()), rel=1e-5)
    for wrong in (-1e-9, -1.0, 50, 50.0, math.nan):
        with pytest.raises(InvalidParameter):
            samples.odds(wrong)
    for epsilon, alarm in [(math.log(3), 1e-9), (1.0, 1e-3), (0.1, 0.5)]:
        chance = math.exp(epsilon) / (1 + math.exp(epsilon))
        assert samples.needed(epsilon, alarm) == next(m for m in range(1000) if chance**m <= alarm)
    for delta, runs, alarm in [(0.01, 500, 1e-6), (0.3, 20, 1e-3)]:
        least = samples.unbounded(delta, runs, alarm)
        assert isinstance(least, int) and binom.sf(least, runs, delta) <= alarm < binom.sf(least - 1, runs, delta)
    assert samples.unbounded(0.0, 500, 1e-6) == 0


# --- Leaves -----------------------------------------------------------------------------------------------------------


class Slotted:
    __slots__ = ("__hidden", "one", "unset")

    def __init__(self) -> None:
        self.one, self.__hidden = 7, 8


class Single(Slotted):
    __slots__ = "word"

    def __init__(self) -> None:
        super().__init__()
        self.word = "w"


def test_every_leaf_has_its_path() -> None:
    fields = np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")])
    thing = {"flag": np.bool_(True), "n": np.int32(4), "x": np.float32(0.5), "t": "plain", "none": None,
             "array": np.array([[1.0, 2.0], [3.0, 4.0]]), "zero": np.array(6.0), "named": fields, "set": {3, 1},
             "object": Single(), "finding": StructuralFinding("k", "w", {}, "m"), "code": test_every_leaf_has_its_path,
             "type": int, "random": random.Random(1), "json": '[1, {"a": "b"}]', "half": "[1,", "open": "{x",
             "bytes": b"abc", "hex": b"\xff\x00", "pickle": pickle.dumps([5, 2.5, True], protocol=2),
             "tuple": (1, [2]), 3: "key"}  # fmt: skip
    assert state.leaves(thing) == {
        "['flag']": 1, "['n']": 4, "['x']": 0.5, "['t']": "plain", "['none']": "NoneType",
        "['array'][0][0]": 1.0, "['array'][0][1]": 2.0, "['array'][1][0]": 3.0, "['array'][1][1]": 4.0, "['zero']": 6.0,
        "['named']['a'][0]": 1, "['named']['b'][0]": 2.5, "['set']{0}": 1, "['set']{1}": 3, "['object'].word": "w",
        "['object'].one": 7, "['object']._Slotted__hidden": 8, "['finding'].evidence": "dict",
        "['finding'].kind": "k", "['finding'].where": "w", "['finding'].meaning": "m",
        "['finding'].violation": 1, "['code']": "function", "['type']": "type", "['random']": "Random",
        "['json'][0]": 1, "['json'][1]['a']": "b", "['half']": "[1,", "['open']": "{x", "['bytes']": "abc",
        "['hex']<bytes>[0]": 255, "['hex']<length>": 2, "['hex']<u1>[0]": 255, "['hex']<u1>[1]": 0,
        "['random'].gauss_next": "NoneType",
        "['pickle']<pickle>[0]": 5, "['pickle']<pickle>[1]": 2.5, "['tuple'][0]": 1,
        "['pickle']<truths>[0]": 1, "['pickle']<places>[0]": 2, "['pickle']<places>[1]": 0,
        "['pickle']<opcodes>[0]": "PROTO EMPTY_LIST BINPUT MARK int float NEWTRUE APPENDS STOP",
        "['tuple'][1][0]": 2, "[3]": "key"}  # fmt: skip
    assert state.leaves(5) == {"": 5} and state.leaves([]) == {"": "list"} and isinstance(state.leaves(True)[""], int)
    assert state.numbers({"a": 1, "b": "t", "c": 0.5}) == {"a": 1.0, "c": 0.5}


def test_what_is_deep_or_holds_itself_or_has_no_end_is_read_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """24 levels, of whatever kind; the first 100000 leaves; a thing inside itself is left out, one twice is not."""
    for levels, seen in [(24, 1), (25, 0)]:
        for inside, wrap in [(1, lambda one: [one]), (1, lambda one: {"k": one}), ("[1]", lambda one: [one])]:
            thing: Any = inside
            for _ in range(levels if inside == 1 else levels - 1 - (inside == "[1]")):
                thing = wrap(thing)  # type: ignore[no-untyped-call]
            assert len(state.leaves(thing)) == seen, (levels, inside)
    packed: Any = pickle.dumps(3.5, protocol=2)
    for levels, seen in [(22, 3), (23, 0)]:
        thing = packed
        for _ in range(levels):
            thing = [thing]
        assert len(state.leaves(thing)) == seen
    shared = [1]
    around: list[Any] = [shared, shared]
    around.append(around)
    assert state.leaves(around) == {"[0][0]": 1, "[1][0]": 1}
    assert state.MOST_LEAVES == 100_000
    monkeypatch.setattr(state, "MOST_LEAVES", 4)
    assert list(state.leaves(list(range(9)))) == ["[0]", "[1]", "[2]", "[3]"]


def test_attributes_where_they_are_kept_elsewhere() -> None:
    class Listed:
        __slots__ = ()

        def tolist(self) -> list[int]:
            return [1]

    class Reduced:
        __slots__ = ()

        def __init__(self, reduced: Any) -> None:
            REDUCED[id(self)] = reduced

        def __reduce_ex__(self, protocol: Any) -> Any:
            asked.append(protocol)
            if isinstance(REDUCED[id(self)], Exception):
                raise REDUCED[id(self)]
            return REDUCED[id(self)]

    asked: list[int] = []
    held = SimpleNamespace(a=1)
    assert state.attributes(held) == {"a": 1} and state.attributes(Listed()) == {"values": [1]}
    for reduced, expected in [((int, (), 5), {"state": 5}), ((int, (), None), {}), ((int, ()), {}), ("name", {}),
                              (TypeError(), {}), (AttributeError(), {}), (pickle.PicklingError(), {}),
                              (ValueError(), {}), ((int, (), 0), {"state": 0})]:  # fmt: skip
        assert state.attributes(Reduced(reduced)) == expected
    assert set(asked) == {4}


REDUCED: dict[int, Any] = {}


def test_constants_of_a_pickle() -> None:
    """Numbers by themselves; bytes as float64 where their length fits, in order; no pickle at all is none."""
    data = pickle.dumps([300, 2**70, -1.5, np.array([0.25, 4.0]), b"12345", b"", "7", 70000], protocol=3)
    found = [one.tolist() if isinstance(one, np.ndarray) else one for one in state._constants(data) or []]
    assert [one for one in found if one in (300, 2**70, -1.5, [0.25, 4.0], 70000)] == [
        300,
        2**70,
        -1.5,
        [0.25, 4.0],
        70000,
    ]
    assert not any(one in (b"12345", b"", []) for one in found) and 7 not in found
    assert state._constants(b"\x80\x03cut") is None
    text = "".join(map(str, state._constants(pickle.dumps([1, 255], protocol=2)) or []))
    assert text == "1255"
    cut = {"<bytes>[0]": int.from_bytes(b"\x80\x03cut", "little"), "<length>": 5}
    cut |= {f"<u1>[{place}]": one for place, one in enumerate(b"\x80\x03cut")}
    assert state.leaves(b"\x80\x03cut") == cut and state.leaves(bytearray(b"[4]")) == {"[0]": 4}
