"""Statistics whose thresholds are events, against their definitions on small outputs."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from refdp.audit import events_statistics as events
from refdp.audit.events_statistics import Coordinate, Difference, LowestBit, Ratio, Score, WholeRow

ODD = np.array([[1.5, np.nan, 0.0], [np.inf, np.inf, 6.0], [-2.0, 3.0, 0.1], [np.nan, 3.0, -1.0]])


def test_coordinates_differences_and_last_bits() -> None:
    assert Coordinate(0)(ODD).tolist() == [1.5, np.inf, -2.0, np.inf]
    assert Difference(0, 1)(ODD).tolist() == [0.0, 0.0, -5.0, 0.0]
    assert LowestBit(2)(ODD).tolist() == [2000.0, 1.0, -55.0, 0.0]
    assert LowestBit(0)(ODD).tolist() == [-1.0, 2000.0, 1.0, 2000.0]


def test_equal_rows_have_one_number_and_others_another() -> None:
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [0.0, np.nan], [0.0, -np.nan], [0.0, 2.0]])
    found = WholeRow()(rows)
    assert found[0] == found[1] and found[3] == found[4] and len(set(found.tolist())) == 4
    assert np.all((found >= 0) & (found < 1))
    many = WholeRow()(np.random.default_rng(0).normal(size=(4000, 2)))
    assert len(np.unique(many)) == 4000 and abs(float(many.mean()) - 0.5) < 0.05


def test_a_list_of_values_scores_how_often_each_was_seen() -> None:
    """Half a run is added to each count; values never seen score 0."""
    first, second = np.repeat([1.0, 2.0, np.inf], [5, 3, 2])[:, None], np.repeat([2.0, 5.0], [6, 4])[:, None]
    (ratio,) = events._ratios(Coordinate(0), first, second)
    assert ratio.exact and "by value" in ratio.words
    seen, other = Counter(first.ravel().tolist()), Counter(second.ravel().tolist())
    asked = np.array([[1.0], [2.0], [5.0], [np.inf], [3.0], [0.0], [7.0]])
    truth = [math.log((seen[x] + 0.5) / (other[x] + 0.5)) for x in asked.ravel().tolist()[:4]] + [0.0] * 3
    assert ratio(asked) == pytest.approx(truth)


def test_a_histogram_has_cells_of_equal_mass() -> None:
    first, second = np.arange(0.0, 960.0, 2.0)[:, None], np.arange(1.0, 961.0, 2.0)[:, None]
    second = np.vstack([second, [[100.0], [100.0], [101.0], [np.inf]]])  # three times, and only twice
    exact, cells = events._ratios(Coordinate(0), first, second)
    assert exact.exact and exact.values.tolist() == [100.0] and "by histogram" in cells.words and not cells.exact
    assert len(cells.values) == events.BINS - 1 and len(cells.scores) == events.BINS
    pooled = np.concatenate([first, second]).ravel()
    for place in range(events.BINS):
        low = cells.values[place - 1] if place else -np.inf
        high = cells.values[place] if place < events.BINS - 1 else np.inf
        counts = [int(((side >= low) & (side < high)).sum()) + (high == np.inf) * int(np.isinf(side).sum())
                  for side in (first, second)]  # fmt: skip
        assert sum(counts) == pytest.approx(len(pooled) / events.BINS, abs=3)
        assert cells.scores[place] == pytest.approx(math.log((counts[0] + 0.5) / (counts[1] + 0.5)))
    assert list(events._ratios(WholeRow(), np.random.default_rng(1).random((40, 1)), second[:40])) == []


def test_few_values_are_listed_up_to_a_quarter_of_the_runs() -> None:
    for values, kinds in ((10, [True]), (11, [True, False])):
        rows = (np.arange(40) % values).astype(float)[:, None]
        assert [one.exact for one in events._ratios(Coordinate(0), rows[:20], rows[20:])] == kinds


def test_the_coordinates_that_differ_most_are_looked_at() -> None:
    """By the difference of the means in units of the spread; all of them where they are few."""
    chance = np.random.default_rng(2)
    first, second = chance.normal(size=(2, 200, 40))
    moved = list(range(3, 35, 3))
    second[:, moved] += 2.0
    first[:, 5] *= 1e6
    second[:, 5] = first[:, 5] + 10.0  # far, and nothing beside its spread
    found = events._coordinates(first, second)
    assert len(found) == events.COORDINATES and found == sorted(found) and set(moved) <= set(found) and 5 not in found
    assert events._coordinates(first[:, :24], second[:, :24]) == list(range(24))


@pytest.mark.parametrize("columns", [1, 2, 6, 9, 10])
def test_what_is_tried_of_outputs(columns: int) -> None:
    first, second = np.random.default_rng(3).normal(size=(2, 40, columns))
    found = events.learn(first, second + 1.0)
    kinds = Counter(type(one).__name__ for one in found)
    assert kinds["Coordinate"] == kinds["LowestBit"] == columns
    assert kinds["Difference"] == {1: 0, 2: 1, 6: 15, 9: 15, 10: 0}[columns]
    assert kinds["Score"] == (columns > 1)
    assert not [one for one in events.learn(first, second, low_bits=False) if isinstance(one, LowestBit)]
    scores: list[Any] = [one for one in found if isinstance(one, Score)]
    for one in scores:
        assert one(first).mean() < 0 < one(second + 1.0).mean() or one(first).mean() > 0 > one(second + 1.0).mean()
        assert one(first).mean() > one(second + 1.0).mean()


def test_the_number_of_outputs_is_known_as_such() -> None:
    rows = np.array([[1.0, 2.0, 2.0], [3.0, np.nan, 1.0], [np.nan, np.nan, 0.0]])
    assert events._last_counts(rows)
    for row, length, known in ((0, 1.0, False), (1, 2.0, True), (1, 1.5, False)):  # an output of the run may be NaN
        other = rows.copy()
        other[row, 2] = length
        assert events._last_counts(other) == known
    assert not events._last_counts(rows[:1])
    first = next(one for one in events.learn(np.tile(rows, (4, 1)), np.tile(rows, (4, 1))))
    assert isinstance(first, Coordinate) and first.counts and first.index == 2 and "number of outputs" in first.words
    learnt = events.learn(np.tile(rows, (4, 1)), np.tile(rows, (4, 1)))
    assert [(one.index, one.counts) for one in learnt if isinstance(one, Coordinate)] == [
        (2, True), (0, False), (1, False)]  # fmt: skip


def test_numbers_are_made_finite_for_classifiers() -> None:
    given = np.array([[np.nan, np.inf, -np.inf, 1e13, -1e13, 0.5]])
    assert events._finite(given).tolist() == [[0.0, 1e12, -1e12, 1e12, -1e12, 0.5]]
    assert Ratio(Coordinate(0), np.array([0.0]), np.array([3.0, 0.0]), True)(np.array([[0.0], [1.0]])).tolist() == [
        3,
        0,
    ]
