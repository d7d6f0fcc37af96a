"""Code as strangers write it: it raises, nests its outputs, counts its calls, tells the time."""

from __future__ import annotations

import itertools
import json
import time
from typing import Any

import numpy as np
import pytest

from refdp.audit import Vectorised, audit_opened, epsilon_lower_bound, one_run_lower_bound
from refdp.audit.adapters.plain import mechanism
from refdp.audit.outputs import one_row
from refdp.audit.runs import InputPair, chunk
from refdp.audit.structural import inspect
from refdp.errors import InvalidParameter
from refdp.testing import assert_noninterference, assert_sensitivity

ONE = ([[0.0]], [[1.0]])
LEAVES = {"trees": [1, 2.5], "name": "m"}


def count(records: Any, seed: int) -> int:
    """A count with two-sided geometric noise: exactly private at epsilon 1."""
    generator, kept = np.random.default_rng(seed), 1 - np.exp(-1.0)
    return int(sum(row[0] > 0.5 for row in records) + generator.geometric(kept) - generator.geometric(kept))


def refusing(records: Any, seed: int) -> int:
    if records[0][0] > 0.5:
        raise ValueError("label 1 is unknown")
    return count(records, seed)


def failing_at_random(records: Any, seed: int) -> int:
    if np.random.default_rng(seed + 1).random() < 0.3:
        raise RuntimeError("did not converge")
    return count(records, seed)


def failing(records: Any, seed: int) -> int:
    raise KeyError("price")


def test_an_error_on_one_side_alone_is_an_event() -> None:
    bound = epsilon_lower_bound(refusing, ONE, claimed=1.0, samples=1_000)
    assert bound.refuted and bound.lower > 3.0
    assert "number of outputs" in bound.event and "error" in bound.event


def test_errors_that_tell_nothing_are_no_event() -> None:
    assert not epsilon_lower_bound(failing_at_random, ONE, claimed=1.0, samples=4_000).refuted


def test_a_function_that_always_raises_is_refused_with_its_error_and_line() -> None:
    line = failing.__code__.co_firstlineno + 1
    with pytest.raises(InvalidParameter, match=rf"raised KeyError: 'price' at .*test_strangers.py:{line}"):
        epsilon_lower_bound(failing, ONE, samples=1_000)


def test_a_function_of_other_arguments_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="positional argument"):
        epsilon_lower_bound(lambda records: 1.0, ONE, samples=1_000)


def test_nested_outputs_are_read_in_order() -> None:
    row = one_row(LEAVES)
    assert row[:2].tolist() == [1.0, 2.5] and len(row) == 3
    assert one_row(json.dumps(LEAVES)).tolist() == row.tolist()
    assert one_row(LEAVES | {"name": "n"})[2] != row[2]
    assert one_row([[1.0], [2.0, 3.0]])[:3].tolist() == [1.0, 2.0, 3.0]
    assert one_row({"other": [1, 2.5], "name": "m"})[2] != row[2]


@pytest.mark.parametrize("output", ["text", None, {}, {"name": "m"}, []])
def test_outputs_without_numbers_are_refused(output: Any) -> None:
    with pytest.raises(InvalidParameter, match="real numbers"):
        epsilon_lower_bound(lambda records, seed: output, ONE, samples=1_000)


def test_categories_seen_in_the_data_show_in_the_keys() -> None:
    """As many numbers on both sides, under other names."""

    def by_value(records: Any, seed: int) -> dict[str, int]:
        return {str(row[0]): count([], seed) for row in records}

    assert epsilon_lower_bound(by_value, ONE, claimed=1.0, samples=1_000).refuted


def test_a_counter_or_a_clock_in_the_output_is_no_violation() -> None:
    """Sides take turns by a coin, so that whatever only grows with time tells nothing about the side."""
    calls = itertools.count()

    def counting(records: Any, seed: int) -> list[float]:
        return [count(records, seed), next(calls), time.perf_counter()]

    assert not epsilon_lower_bound(counting, ONE, claimed=1.0, samples=4_000).refuted


def test_outputs_do_not_depend_on_the_order_of_the_runs() -> None:
    pair = InputPair(*ONE)
    whole = chunk(count, pair, 3, 0, 8)
    parts = [chunk(count, pair, 3, start, start + 4) for start in (0, 4)]
    assert [np.ravel(side).tolist() for side in whole] == [np.ravel([*a, *b]).tolist() for a, b in zip(*parts)]


def test_functions_with_a_generator_are_mechanisms_too() -> None:
    def noisy(records: Any, generator: np.random.Generator) -> dict[str, float]:
        return {"count": round(len(records) + generator.normal(), 6)}

    bound = epsilon_lower_bound(mechanism(noisy), ([[0.0]], [[0.0], [1.0]]), claimed=5.0, samples=1_000)
    assert not bound.refuted


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (lambda records, runs, generator: np.zeros((runs // 2, 1)), "were asked for"),
        (lambda records, runs, generator: 1.0, "one row a run"),
        (lambda records, runs, generator: ["a"] * runs, "real numbers"),
        (lambda records, runs, generator: np.zeros((runs, 0)), "one row a run"),
    ],
)
def test_batches_of_another_shape_are_refused(output: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        epsilon_lower_bound(Vectorised(output), ONE, samples=400)


def test_batches_of_more_outputs_on_one_side_give_it_away() -> None:
    wider = Vectorised(lambda records, runs, generator: np.zeros((runs, 1 + int(records[0][0]))))
    assert "number of outputs" in epsilon_lower_bound(wider, ONE, claimed=1.0, samples=400).event


@pytest.mark.parametrize("scores", [np.full(20, np.nan), "text", np.zeros(3)])
def test_scores_that_are_no_numbers_are_refused(scores: Any) -> None:
    with pytest.raises(InvalidParameter, match="20 numbers are needed"):
        one_run_lower_bound(lambda records, seed: None, lambda included: None, lambda model: scores, 20)


def spoiling(records: Any, seed: int) -> float:
    """Exact, but for what it does to the records that it was given."""
    shown = float(np.sum(records))
    records[0][0] = 0.0
    return shown


def test_every_run_gets_records_that_no_other_run_has_changed() -> None:
    assert epsilon_lower_bound(spoiling, ([[0.0]], [[1.0]]), claimed=1.0, samples=1_000).refuted
    batch = Vectorised(lambda records, runs, generator: np.full((runs, 1), spoiling(records, 0)))
    assert epsilon_lower_bound(batch, ([[0.0]], [[1.0]]), claimed=1.0, samples=1_000).refuted
    pair = (np.array([[0.0], [2.0]]), np.array([[1.0], [2.0]]))
    found = inspect(lambda rows, generator: spoiling(rows, 0), pair, seed=1, order=False)
    assert [finding.kind for finding in found] == ["identical outputs"]
    assert audit_opened(lambda rows: spoiling(rows, 0), [pair], epsilon=1.0).kinds() == ["result"]
    assert assert_sensitivity(lambda rows: spoiling(rows, 0), [pair, pair], 1.0) == 1.0
    with pytest.raises(AssertionError, match="depends on the records"):
        assert_noninterference(lambda rows, value: spoiling(rows, 0), pair, [1.0])
    assert pair[1][0, 0] == 1.0


def test_a_list_of_lists_is_one_pair_or_several_and_is_refused() -> None:
    records = [[0.0], [1.0]], [[0.0], [0.5]]
    for pair in (list(records), [np.array(records[0]), np.array(records[1])]):
        with pytest.raises(InvalidParameter, match=r"one pair is a tuple \(first, second\)"):
            epsilon_lower_bound(count, pair, samples=1_000)
    assert epsilon_lower_bound(count, [records], samples=1_000).pair == 0


class Unusual(Exception):
    """An error that is of none of Python's kinds."""


def unusual(records: Any, seed: int) -> int:
    if records[0][0] > 0.5:
        raise Unusual
    return count(records, seed)


def test_errors_of_any_kind_are_outputs() -> None:
    assert epsilon_lower_bound(unusual, ONE, claimed=1.0, samples=1_000).refuted


def test_infinite_outputs_are_named() -> None:
    bound = epsilon_lower_bound(
        lambda records, seed: float("nan") if records[0][0] > 0.5 else float(count(records, seed)), ONE, samples=1_000
    )
    assert bound.event == "output 0 is infinite or not a number"
