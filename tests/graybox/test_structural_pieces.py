"""Structural checks that change the data: every piece by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from refdp.audit import structural_order as order
from refdp.audit import structural_samples as samples

TABLE = np.array([[1.0, -8.0], [3.0, 2.0], [0.5, 0.25]])

# --- An outlier that moves what should be public ----------------------------------------------------------------------


def test_outliers_of_every_column_of_every_table_of_floats() -> None:
    """In the first record, 1e6 and 1e9 times as far as the largest value, which counts as 1 at least."""
    labels, short, nothing = np.array([1, 2, 3]), np.array([0.5, -0.25, 0.0]), np.empty((0, 2))
    found = list(order._outliers((labels, TABLE, nothing, short)))
    assert [name for name, _, _ in found] == ["column 0 of part 1", "column 1 of part 1", "column 0 of part 3"]
    for (_, *moved), (part, column, size) in zip(found, [(1, 0, 8.0), (1, 1, 8.0), (3, 0, 1.0)], strict=True):
        for whole, far in zip(moved, (1e6, 1e9), strict=True):
            assert len(whole) == 4 and whole[0] is labels and whole[2] is nothing
            expected = (labels, TABLE, nothing, short)[part].copy()
            expected.reshape(3, -1)[0, column] = far * size
            assert np.array_equal(whole[part], expected) and whole[part].shape == expected.shape
            assert np.array_equal(whole[4 - part], (short, TABLE)[part == 3])
    [(name, near, far)] = order._outliers([0.5, 2.0])
    assert (name, near.tolist(), far.tolist()) == ("column 0 of part 0", [2e6, 2.0], [2e9, 2.0])
    assert list(order._outliers(labels)) == []


def test_outputs_that_grow_with_an_outlier() -> None:
    """More than a hundredfold and beyond 1e6, by the median of sizes, in every run of both."""
    near = [
        {"a": 1e5, "b": -2.0, "c": 1e4 + 1, "d": 0, "e": 5.0, "f": 1.0, "t": "text", "g": 10001.0, "h": 0.5},
        {"a": -3e5, "b": 2.0, "c": 1e4 + 1, "d": 0, "e": 5.0, "t": "text", "g": 10001.0, "h": 0.5},
        {"a": 2e5, "b": -2.0, "c": 1e4 + 1, "d": 0, "e": 5.0, "f": 1.0, "t": "text", "g": 10001.0, "h": 0.5},
    ]
    far = [
        {
            "a": 3e7,
            "b": 1e6,
            "c": 100 * (1e4 + 1),
            "d": 1e9,
            "e": math.inf,
            "f": 1e9,
            "t": "other",
            "g": 1000101.0,
            "h": 2e6,
        },
        {
            "a": -2.1e7,
            "b": 1e6,
            "c": 100 * (1e4 + 1),
            "d": 1e9,
            "e": math.inf,
            "f": 1e9,
            "t": "o",
            "g": 1000101.0,
            "h": 2e6,
        },
        {
            "a": 1e3,
            "b": -1e6,
            "c": 100 * (1e4 + 1),
            "d": 1e9,
            "e": math.inf,
            "f": 1e9,
            "t": "o",
            "g": 1000101.0,
            "h": 2e6,
        },
    ]
    assert order._followers(near, far) == [("a", 2e5, 2.1e7), ("g", 10001.0, 1000101.0), ("h", 0.5, 2e6)]
    beyond = [{**run, "b": 1000001.0} for run in far]
    assert order._followers(near, beyond)[1] == ("b", 2.0, 1000001.0)


def follows(data: Any, generator: np.random.Generator) -> Any:
    return {"noise": generator.random(), "largest": np.abs(data).max(), "range": float(np.ptp(data[:, 0]))}


@pytest.mark.parametrize(
    ("epsilon", "certain"), [(1.0, True), (3.5, False), (24.9, False), (25.0, False), (30.0, False)]
)
def test_ranges_that_follow_one_record(epsilon: float, certain: bool) -> None:
    seeds = list(range(1, 20))
    found = list(order.ranges(follows, TABLE, seeds, epsilon=epsilon, delta=0.0, alarm=1e-9))
    expected = [
        {"outlier in": "column 0 of part 0", "outputs that follow": 2, "at 1e6": 8e6, "at 1e9": 8e9},
        {"outlier in": "column 1 of part 0", "outputs that follow": 1, "at 1e6": 8e6, "at 1e9": 8e9},
    ]
    assert [one.to_dict() for one in found] == [
        {"kind": "data-dependent range", "where": "['largest']", "evidence": evidence,
         "meaning": order._meaning(certain), "violation": certain} for evidence in expected]  # fmt: skip
    assert ("no violation" in order._meaning(certain)) == (not certain)


def test_who_refuses_outliers_is_not_asked_and_what_is_not_confirmed_not_told() -> None:
    def refusing(data: Any, generator: np.random.Generator) -> Any:
        if data[0, 0] > 1e8:
            raise ValueError("too large")
        return follows(data, generator)

    def at_first(data: Any, generator: np.random.Generator) -> Any:
        calls.append(0)
        return {"largest": np.abs(data).max() if len(calls) <= 10 else 1.0}

    calls: list[int] = []
    seeds = list(range(1, 20))
    [only] = order.ranges(refusing, TABLE, seeds, epsilon=1.0, delta=0.0, alarm=1e-9)
    assert only.evidence["outlier in"] == "column 1 of part 0"
    assert list(order.ranges(at_first, TABLE[:, :1], seeds, epsilon=1.0, delta=0.0, alarm=1e-9)) == []


def test_a_few_runs_screen_and_fresh_ones_confirm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five runs a side with the first seeds; then others, of each column its own, at an equal share of the alarm."""
    asked: list[Any] = []
    screened: list[Any] = []
    monkeypatch.setattr(order, "_confirmed", lambda *given: asked.append(given))
    monkeypatch.setattr(order, "sample",
                        lambda f, d, s: screened.append((f, d, s)) or samples.sample(f, d, s))  # fmt: skip
    seeds = list(range(1, 20))
    found = list(order.ranges(follows, TABLE, seeds, epsilon=0.75, delta=0.125, alarm=0.5))
    assert [one.violation for one in found] == [False, False]
    assert [given[0] is follows and given[2] == seeds[:5] for given in screened] == [True] * 4
    assert [given[1].max() for given in screened] == [8e6, 8e9] * 2
    for number, (function, sides, path, fresh, epsilon, delta, alarm) in enumerate(asked):
        assert function is follows and path == "['largest']" and (epsilon, delta, alarm) == (0.75, 0.125, 0.25)
        assert [side[0, number] for side in sides] == [8e6, 8e9]
        assert fresh == np.random.SeedSequence([1, 2, 3, 4, 5, number]).generate_state(4000).tolist()


def test_a_range_is_confirmed_by_enough_runs_beyond_all_of_the_nearer(monkeypatch: pytest.MonkeyPatch) -> None:
    near, far = [1.0, -3.0, 2.0], [4.0, 3.0, -5.0, -6.0]
    for change, least, certain in [({}, 3, True), ({}, 4, False), ({1: None}, 1, False), ({1: math.inf}, 1, False)]:
        asked: list[Any] = []
        monkeypatch.setattr(order, "needed", lambda *given: asked.append(given) or least - 1)  # noqa: B023
        monkeypatch.setattr(order, "unbounded", lambda *given: asked.append(given) or 1)  # noqa: B023
        sides = [{"p": change.get(j, value)} for j, value in enumerate(near)], [{"p": value} for value in far]
        both = [[{k: v for k, v in run.items() if v is not None} for run in side] for side in sides]
        monkeypatch.setattr(order, "sampled", lambda *given: asked.append(given) or both)  # noqa: B023
        seeds = list(range(4000))
        assert order._confirmed(follows, ("near", "far"), "p", seeds, 0.5, 0.125, 1e-3) is certain
        runs = least + least // 4
        expected = [(1.0, 5e-4), (pytest.approx(0.125 * (1 + math.exp(0.5))), 2000, 5e-4),
                    (follows, [("near", seeds[:runs]), ("far", seeds[2000 : 2000 + runs])])]  # fmt: skip
        assert asked == expected
        assert order._confirmed(follows, ("near", "far"), "p", seeds, 0.5, 0.9, 1e-3) is certain
        assert asked[4][0] == 1.0


def test_confirmation_ends_at_two_thousand_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "sampled", lambda *given: [[{"p": 1.0}], [{"p": 2.0}]])
    for least, found in [(1600, False), (1601, None)]:
        monkeypatch.setattr(order, "needed", lambda *given: least)  # noqa: B023
        assert order._confirmed(follows, (0, 0), "p", [], 1.0, 0.0, 1e-9) is found


# --- Another order of the records -------------------------------------------------------------------------------------


def by_place(data: Any, generator: np.random.Generator) -> Any:
    first = data[0] if isinstance(data, np.ndarray) else data[0][0]
    return [float(np.ravel(first)[0]) + generator.random(), generator.random(), 1.0]


@pytest.mark.parametrize(("count", "half"), [(300, 60), (41, 20)])
def test_an_order_that_matters_is_told(count: int, half: int) -> None:
    """Of each column that is not in order yet: half of the seeds, at most 60 of them, on each order."""
    seeds = [7 * j + 1 for j in range(count)]
    rows = np.array([[5.0, 1.0, 4.0], [2.0, 2.0, 6.0], [3.0, 3.0, 5.0]])
    found = list(order.positional(by_place, rows, seeds, 1e-4))
    chances = []
    for column, first in [(0, 2.0), (2, 5.0)]:
        a, b = ([np.random.default_rng(one).random() + value for one in part]
                for value, part in ((5.0, seeds[:half]), (first, seeds[half : 2 * half])))  # fmt: skip
        chances.append((column, float(mannwhitneyu(a, b, method="asymptotic").pvalue)))
    assert chances[1][1] > 1e-3 or rows[0, 0] == 5  # sorted by the last column the same record comes first
    assert [one.to_dict() for one in found] == [
        {"kind": "positional partition", "where": "[0]", "violation": False, "meaning": order.ORDERED,
         "evidence": {"order": "sorted by column 0 of part 0", "p-value": pytest.approx(chances[0][1], rel=1e-12),
                      "places compared": 2, "runs an order": half}}
    ]  # fmt: skip


def test_the_alarm_is_shared_by_places_and_orders() -> None:
    seeds = list(range(100))
    rows = np.array([[5.0, 9.0, 4.0], [2.0, 2.0, 6.0]])
    found = {one.evidence["order"]: one.evidence for one in order.positional(by_place, rows, seeds, 1.0)}
    worst = found["sorted by column 0 of part 0"]["p-value"]
    level = worst * 2 * 3
    assert len(list(order.positional(by_place, rows, seeds, level))) == 2
    assert list(order.positional(by_place, rows, seeds, level * (1 - 1e-9))) == []
    assert len(list(order.positional(by_place, rows, seeds, level * (1 + 1e-9)))) == 2
    assert list(order.positional(by_place, np.array([1.0, 1.0, 2.0]), seeds, 1.0)) == []


def test_the_place_that_differs_most_is_named() -> None:
    """Of places that vary and hold numbers in every run."""
    numbers = np.random.default_rng(5).normal(size=(2, 12, 4))
    numbers[1, :, 2] += 3
    numbers[0, :, 1] = 4.0
    sides = [[dict(zip("abcd", map(float, row), strict=True)) | {"t": "x"} for row in side] for side in numbers]
    del sides[1][3]["d"]
    expected = float(mannwhitneyu(numbers[0, :, 2], numbers[1, :, 2], method="asymptotic").pvalue)
    assert order._most_different(*sides) == ("c", expected, 2)
    assert order._most_different([{"a": 1.0}] * 3, [{"a": 2.0}] * 3) is None
    assert order._most_different([{"a": 1.0}] * 3, [{"b": 2.0}] * 3) is None
