"""Weighted quantile summaries: their ranks, and the errors that merging and pruning are stated to have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdp.data.sketch import (
    Summary,
    halved,
    median_range,
    median_utilities,
    merged_error,
    pruned_error,
    quantile_edges,
    quantile_levels,
)
from refdp.privacy.events import Relation

SLACK = 1e-9
POINTS = st.lists(st.tuples(st.integers(0, 40), st.floats(1e-3, 10.0)), min_size=1, max_size=60)
SIZES = st.integers(1, 12)


def weighed(points: list[tuple[int, float]]) -> tuple[Any, Any]:
    """Distinct values and their weights."""
    value = np.unique([v for v, _ in points]).astype(np.float64)
    return value, np.array([sum(w for v, w in points if v == one) for one in value])


def true_error(summary: Summary, value: Any, weight: Any) -> float:
    """How far the summary's answer to any rank is from that rank, over the total; ranks are those of the data."""
    ranks = np.linspace(0, summary.total, 201)
    answers = summary.value[summary.query(ranks)]
    low = np.array([weight[value < answer].sum() for answer in answers])
    high = np.array([weight[value <= answer].sum() for answer in answers])
    return float(np.maximum(np.maximum(low - ranks, ranks - high), 0).max() / summary.total)


def holds_ranks(summary: Summary, value: Any, weight: Any) -> bool:
    """Whether the bounds of every entry are bounds."""
    below = np.array([weight[value < one].sum() for one in summary.value])
    through = np.array([weight[value <= one].sum() for one in summary.value])
    own = through - below
    return bool(
        np.all(summary.below <= below + SLACK)
        and np.all(summary.through >= through - SLACK)
        and np.all(summary.weight <= own + SLACK)
    )


@settings(max_examples=150, deadline=None)
@given(POINTS, SIZES)
def test_pruning_keeps_within_its_stated_error(points: Any, size: int) -> None:
    value, weight = weighed(points)
    exact = Summary.exact(value, weight)
    pruned = exact.pruned(size)
    assert exact.error <= SLACK
    assert pruned.size <= size + 1 and pruned.error <= pruned_error(0, size) + SLACK
    assert holds_ranks(pruned, value, weight)
    assert true_error(pruned, value, weight) <= pruned.error / 2 + SLACK
    twice = pruned.pruned(max(1, size // 2))
    assert twice.error <= pruned_error(pruned.error, max(1, size // 2)) + SLACK


@settings(max_examples=150, deadline=None)
@given(POINTS, POINTS, SIZES, SIZES)
def test_merging_keeps_within_its_stated_error(first: Any, second: Any, size: int, other: int) -> None:
    one, two = (Summary.exact(*weighed(points)).pruned(n) for points, n in ((first, size), (second, other)))
    both = one.merged(two)
    assert both.total == one.total + two.total
    assert both.error <= merged_error(one.error, one.total, two.error, two.total) + SLACK
    assert holds_ranks(both, *weighed([*first, *second]))
    assert true_error(both, *weighed([*first, *second])) <= both.error / 2 + SLACK


def test_a_summary_that_forgets_weights_breaks_the_bound() -> None:
    """The checks above can fail: ranks of the other data set ignored in a merge, and too few entries kept."""
    value, weight = np.arange(20.0), np.ones(20)
    exact = Summary.exact(value, weight)
    careless = Summary(exact.value, exact.below, exact.through, exact.weight, 2 * exact.total)
    assert not holds_ranks(careless, np.sort(np.concatenate([value, value - 0.5])), np.ones(40))
    coarse = exact.pruned(2)
    assert coarse.error > pruned_error(0, 4)
    assert true_error(coarse, value, weight) > pruned_error(0, 10) / 2


def test_merging_with_nothing_changes_nothing() -> None:
    some, none = Summary.exact(np.arange(5.0), np.ones(5)), Summary.exact(np.arange(5.0), np.zeros(5))
    assert none.size == 0 and none.error == 0.0
    for joint in (some.merged(none), none.merged(some)):
        assert np.array_equal(joint.value, some.value) and joint.error <= SLACK and joint.total == 5.0


def test_edges_part_the_weight_evenly() -> None:
    weights = np.array([0.0, 30.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 30.0, 34.0])
    edges = quantile_edges(weights, 4)
    assert edges.tolist() == [8, 9]
    assert quantile_edges(np.ones(64), 8).tolist() == [8, 16, 24, 32, 40, 48, 56, 63]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=70), SIZES)
def test_edges_are_always_candidates(weights: list[float], count: int) -> None:
    edges = quantile_edges(np.array(weights), count)
    assert 1 <= len(edges) <= max(count, 1)
    assert np.all(np.diff(edges) > 0) and edges.min() >= 1 and edges.max() < len(weights)


def test_without_any_positive_weight_all_bins_count_alike() -> None:
    assert quantile_edges(np.full(64, -1.0), 8).tolist() == quantile_edges(np.ones(64), 8).tolist()


def test_halving_finds_the_quantiles_where_nothing_is_noisy() -> None:
    histograms = [np.ones(16), np.array([0.0] * 8 + [8.0, 1.0, 1.0, 6.0])]
    edges: list[Any] = [np.empty(0, dtype=np.intp) for _ in histograms]
    for _ in range(quantile_levels(7)):
        utility = median_utilities(histograms, edges)
        edges = halved(edges, 1 + np.argmax(utility, axis=1))
    assert edges[0].tolist() == [2, 4, 6, 8, 10, 12, 14]
    assert edges[1][3] == 9 and np.all(np.diff(edges[1]) >= 0) and edges[1].max() < 12
    assert [quantile_levels(n) for n in (1, 2, 3, 6, 7, 32)] == [1, 1, 2, 2, 3, 5]


@pytest.mark.parametrize("edges", [[5, 2], [2, 2, 9], [-3, 4]])
def test_a_bin_is_in_one_interval_whatever_the_edges(edges: list[int]) -> None:
    """Edges out of order, or beyond the bins, as no run chooses them: a record would decide several medians."""
    weights, chosen = np.ones(6), [np.array(edges)]
    before = median_utilities([weights], chosen)
    for place in range(6):
        more = weights.copy()
        more[place] += 1
        after = median_utilities([more], chosen)
        assert np.sum(np.any(after != before, axis=1)) == 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 3), min_size=2, max_size=12), st.lists(st.integers(1, 11), max_size=5), st.data())
def test_one_record_changes_medians_within_the_proved_range(weights: list[float], chosen: list[int], data: Any) -> None:
    """dpxgboost/median-range on the function that trains: a record of weight h in any bin."""
    cut = np.array(sorted(min(c, len(weights) - 1) for c in chosen), dtype=np.intp)
    bin_of_record = data.draw(st.integers(0, len(weights) - 1))
    moved = np.array(weights)
    moved[bin_of_record] += 0.25
    before, after = median_utilities([np.array(weights)], [cut]), median_utilities([moved], [cut])
    kept = before > -np.inf
    assert np.array_equal(kept, after > -np.inf)
    change = np.where(kept, after - np.where(kept, before, 0), 0)
    spread = np.where(kept, change, -np.inf).max(axis=1) - np.where(kept, change, np.inf).min(axis=1)
    assert spread.sum() <= float(median_range(0.25, Relation.ADD_REMOVE)) + SLACK
