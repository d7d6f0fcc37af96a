"""Summaries and quantiles entry by entry, with whole weights."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from refdp.data import sketch
from refdp.data.sketch import Summary, evenly, inside, median_range, median_utilities, median_utility, parted
from refdp.privacy.events import Relation

VALUE, WEIGHT = np.array([1.0, 3.0, 4.0, 8.0]), np.array([2.0, 1.0, 5.0, 4.0])


def lists(one: Summary) -> list[list[float]]:
    return [one.value.tolist(), one.below.tolist(), one.through.tolist(), one.weight.tolist()]


def test_an_exact_summary_has_ranks_without_error() -> None:
    found = Summary.exact(VALUE, WEIGHT)
    assert lists(found) == [[1, 3, 4, 8], [0, 2, 3, 8], [2, 3, 8, 12], [2, 1, 5, 4]]
    assert (found.total, found.size, found.error) == (12.0, 4, 0.0)
    part = Summary.exact(VALUE, np.array([2.0, 0.0, 5.0, 0.0]))
    assert lists(part) == [[1, 4], [0, 2], [2, 7], [2, 5]] and part.total == 7.0
    empty = Summary.exact(VALUE, np.zeros(4))
    assert (empty.size, empty.total, empty.error) == (0, 0.0, 0.0)


def test_the_error_is_the_widest_rank_or_gap() -> None:
    wide = Summary(np.array([1.0, 2.0]), np.array([0.0, 3.0]), np.array([4.0, 10.0]), np.array([2.0, 3.0]), 10.0)
    assert wide.error == pytest.approx(0.5)  # width 4, gap (10 - 3) - (0 + 2) = 5
    gap = Summary(np.array([1.0, 2.0]), np.array([0.0, 6.0]), np.array([2.0, 10.0]), np.array([2.0, 4.0]), 10.0)
    assert gap.error == pytest.approx(0.4)  # widths 0, gap (10 - 4) - (0 + 2) = 4
    alone = Summary(np.array([1.0]), np.array([1.0]), np.array([9.0]), np.array([3.0]), 10.0)
    assert alone.error == pytest.approx(0.5)


def test_merging_adds_ranks() -> None:
    """Of exact summaries the merged one is that of both data sets."""
    other_value, other_weight = np.array([0.0, 3.0, 6.0]), np.array([1.0, 4.0, 2.0])
    found = Summary.exact(VALUE, WEIGHT).merged(Summary.exact(other_value, other_weight))
    joint = sorted({*VALUE.tolist(), *other_value.tolist()})
    both = *zip(VALUE, WEIGHT, strict=True), *zip(other_value, other_weight, strict=True)
    weight = [sum(w for v, w in both if v == one) for one in joint]
    assert lists(found) == lists(Summary.exact(np.array(joint), np.array(weight))) and found.total == 19.0
    rough = Summary(np.array([4.0]), np.array([2.0]), np.array([9.0]), np.array([3.0]), 12.0)
    found = rough.merged(Summary.exact(np.array([1.0, 6.0]), np.array([10.0, 20.0])))
    # of 1: nothing below, at most 9 - 3 through; of 4: its own; of 6: at least 2 + 3 below, at most 12 through
    assert lists(found) == [[1, 4, 6], [0, 12, 15], [16, 19, 42], [10, 3, 20]] and found.total == 42.0
    nothing = Summary.exact(np.zeros(0), np.zeros(0))
    assert lists(nothing.merged(rough)) == lists(rough.merged(nothing)) == lists(rough)


def test_queries_are_answered_by_the_nearer_entry() -> None:
    """By function g of Chen and Guestrin, one rank at a time."""
    one = Summary.exact(VALUE, WEIGHT)
    middle = [(b + t) / 2 for b, t in zip(one.below, one.through, strict=True)]
    for rank in np.arange(0, 12.25, 0.25).tolist():
        if rank < middle[0]:
            true = 0
        elif rank >= middle[-1]:
            true = 3
        else:
            i = max(k for k in range(4) if middle[k] <= rank)
            low, high = one.below[i] + one.weight[i], one.through[i + 1] - one.weight[i + 1]
            true = i if 2 * rank < low + high else i + 1
        assert one.query(np.array([rank])).tolist() == [true], rank
    assert Summary.exact(np.array([5.0]), np.array([2.0])).query(np.array([0.0, 1.0, 2.0])).tolist() == [0, 0, 0]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_pruning_keeps_the_answers_to_even_ranks(size: int) -> None:
    generator = np.random.default_rng(size)
    weight = generator.integers(1, 9, 9).astype(float)
    one = Summary.exact(np.arange(9.0), weight)
    answers = sorted({int(one.query(np.array([one.total * k / size]))[0]) for k in range(size + 1)})
    found = one.pruned(size)
    assert found.value.tolist() == answers and found.total == one.total
    assert lists(found)[1:] == [one.below[answers].tolist(), one.through[answers].tolist(), weight[answers].tolist()]
    for enough in (8, 9, 20):
        assert one.pruned(enough) is one
    assert one.pruned(7) is not one


def test_errors_of_merging_and_pruning() -> None:
    tenth, third = Fraction(1, 10), Fraction(1, 3)
    assert sketch.merged_error(tenth, Fraction(2), third, Fraction(6)) == (tenth * 2 + third * 6) / 8
    assert sketch.pruned_error(tenth, Fraction(4)) == Fraction(7, 20)
    assert median_utility(Fraction(3), Fraction(10)) == Fraction(-7, 2) == median_utility(Fraction(10), Fraction(3))
    assert median_range(Fraction(1, 4), Relation.ADD_REMOVE) == Fraction(1, 4)
    assert median_range(Fraction(1, 4), Relation.REPLACE_ONE) == Fraction(1, 2)
    assert [sketch.quantile_levels(count) for count in (1, 2, 3, 6, 7, 8, 15, 32)] == [1, 1, 2, 2, 3, 3, 4, 5]


def test_edges_part_the_weight() -> None:
    assert parted(np.array([0.0, 4.0, 0.0, 0.0, 4.0, 4.0]), 3).tolist() == [4, 5]
    assert parted(np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.0]), 3).tolist() == [3]  # all in one bin: the middle
    assert parted(np.array([0.0, 7.0]), 5).tolist() == [1]
    assert parted(np.arange(1.0, 5.0), 9).tolist() == [1, 2, 3]
    for bins, count in ((5, 9), (10, 3), (32, 4), (2, 1)):
        found = evenly(bins, count)
        assert found.tolist() == parted(np.ones(bins), count).tolist() and not found.flags.writeable
        assert evenly(bins, count) is found
    assert sketch.quantile_edges(np.array([-1.0, -3.0, 0.0]), 2).tolist() == evenly(3, 2).tolist()
    noisy = np.array([-3.0, 5.0, -1.0, 2.0, 9.0, -8.0])
    assert sketch.quantile_edges(noisy, 2).tolist() == parted(np.maximum(noisy, 0), 2).tolist()


# --- Medians ----------------------------------------------------------------------------------------------------------


def test_utilities_of_medians_interval_by_interval() -> None:
    """Edges inside an interval and its own ends; others are excluded, and beyond a feature's own bins too."""
    generator = np.random.default_rng(1)
    histograms = [generator.integers(0, 20, bins).astype(float) for bins in (6, 4, 7)]
    for chosen in itertools.product(([], [3], [1, 4]), ([], [2], [9, 1]), ([5], [2, 2])):
        edges = [np.array(one, dtype=np.intp) for one in chosen]
        found, rows = median_utilities(histograms, edges), []
        for weights, own in zip(histograms, chosen, strict=True):
            ends = [0, *sorted(min(max(e, 0), len(weights)) for e in own), len(weights)]
            for low, high in itertools.pairwise(ends):
                rows.append([
                    -abs(sum(weights[low:edge]) - sum(weights[edge:high])) / 2
                    if low <= edge <= high and edge < len(weights) else -math.inf
                    for edge in range(1, 7)
                ])  # fmt: skip
        assert found.tolist() == rows


def test_edges_in_order_within_the_bins() -> None:
    assert inside(np.array([7, -2, 3, 3]), 5).tolist() == [0, 3, 3, 5]
    assert inside(np.array([6]), 6).tolist() == [6] and inside(np.array([], dtype=np.intp), 4).tolist() == []


def test_medians_stand_between_the_edges() -> None:
    found = sketch.halved([np.array([4]), np.array([], dtype=np.intp), np.array([2, 6])], np.array([1, 9, 5, 0, 3, 8]))
    assert [one.tolist() for one in found] == [[1, 4, 9], [5], [0, 2, 3, 6, 8]]
