"""Split candidates: their places among bins, codes and sides of records, and thresholds from public bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.data import candidates as grids
from refdp.data.candidates import Candidates, inner_uniform_candidate, iterative_hessian, log_candidate
from refdp.data.records import Categorical, Classes, Numeric, Records, Schema
from refdp.errors import InvalidParameter

TARGET = Classes(("no", "yes"))
MIXED = Schema((Numeric("x", -1.0, 3.0), Categorical("c", ("a", "b", "d")), Numeric("flat", 2.0, 2.0),
                Numeric("z", 0.0, 10.0)), TARGET)  # fmt: skip
OWN = Candidates((np.array([0.0, 1.0]), np.arange(4.0), np.zeros(0), np.array([2.0, 5.0, 7.0])),
                 np.array([False, True, False, False]))  # fmt: skip
X = np.array([[-1.0, 0.0, 2.0, 2.0], [0.0, 2.0, 2.0, 1.0], [0.5, np.nan, np.nan, 9.0], [1.0, 1.0, 2.0, np.nan],
              [np.nan, 1.0, 2.0, 5.0], [3.0, 2.0, 2.0, 6.9]])  # fmt: skip


def right_by_hand(f: int, value: float) -> list[bool]:
    """Which records go right, one at a time."""
    column = X[:, f].tolist()
    return [(x == value if OWN.categorical[f] else x >= value) if not math.isnan(x) else False for x in column]


def bins_by_hand(weight: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Sums of weights in the bins of all features side by side."""
    codes, table = OWN.encode(X), np.zeros(int(OWN.bins.sum()))
    for f in range(4):
        for row in range(len(X)):
            table[int(OWN.bins[:f].sum()) + int(codes[f, row])] += weight[row]
    return table


def test_places_of_candidates_and_bins() -> None:
    """Two thresholds, four categories, none, three thresholds; bins: one for missing values, then those between."""
    assert OWN.bins.tolist() == [4, 5, 2, 5]
    assert OWN.offsets.tolist() == [0, 4, 9, 11, 16]
    assert OWN.starts.tolist() == [0, 2, 6, 6, 9]
    assert OWN.values.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3], [3, 2], [3, 5], [3, 7]]
    assert OWN.feature.tolist() == [0, 0, 1, 1, 1, 1, 3, 3, 3]
    assert OWN.position.tolist() == [2, 3, 5, 6, 7, 8, 13, 14, 15]
    assert OWN.end.tolist() == [4, 4, 9, 9, 9, 9, 16, 16, 16]
    assert OWN.features == (0, 1, 2, 3) and OWN.public


def test_codes_of_values() -> None:
    """0 missing; one more than the thresholds at or below; one more than the category."""
    assert OWN.encode(X).tolist() == [[1, 2, 2, 3, 0, 3], [1, 3, 0, 2, 2, 3], [1, 1, 0, 1, 1, 1], [2, 1, 4, 0, 3, 3]]
    assert OWN.encode(X).dtype == np.uint8
    for bins, kind in ((255, np.uint8), (256, np.uint8), (257, np.uint16)):
        grid = Candidates((np.arange(3.0), np.arange(float(bins - 2))), np.array([False, False]))
        codes = grid.encode(np.array([[1.0, 1e9], [np.nan, -1.0]]))
        assert codes.dtype == kind and codes.tolist() == [[3, 0], [bins - 1, 1]]


def test_sums_on_both_sides_are_those_of_the_records_one_by_one() -> None:
    weights = np.array([[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], [1.0, -1.0, 0.5, 3.0, -2.0, 7.0]])
    table = np.stack([np.stack([bins_by_hand(w), 2 * bins_by_hand(w)]) for w in weights])  # (statistic, node, bin)
    right = [[sum(w[right_by_hand(int(f), v)]) for f, v in OWN.values] for w in weights]
    assert np.allclose(OWN.right_sums(table)[:, 0], right) and np.allclose(
        OWN.right_sums(table)[:, 1], 2 * np.array(right)
    )
    left, same = OWN.sides(table)
    assert np.array_equal(same, OWN.right_sums(table))
    assert np.allclose(left[:, 0], weights.sum(axis=1)[:, None] - np.array(right))
    assert np.allclose(left[:, 1], 2 * (weights.sum(axis=1)[:, None] - np.array(right)))
    for chosen in ([8], [0, 1], [3, 2], [1, 4, 7]):
        some = np.array(chosen)
        assert np.array_equal(OWN.right_sums(table, some), OWN.right_sums(table)[..., some])
        assert np.array_equal(OWN.sides(table, some)[0], left[..., some])
        assert np.array_equal(OWN.missing_sums(table, some), table[..., OWN.offsets[OWN.feature[some]]])
    apart = OWN.apart(table[..., OWN.offsets[1] :], (1, 2, 3))
    assert [one.shape for one in apart] == [(2, 2, 5), (2, 2, 2), (2, 2, 5)]
    assert np.array_equal(np.concatenate(apart, axis=-1), table[..., 4:])


def test_candidates_are_chosen_one_after_the_other() -> None:
    table, indices = np.zeros((2, 16)), (np.array([[0, 1], [1, 0]]), 0, (np.array([0]), None), None, True)
    for chosen in indices:
        for method in (OWN.right_sums, OWN.missing_sums, OWN.sides):
            with pytest.raises(InvalidParameter, match="one after the other"):
                method(table, chosen)  # type: ignore[arg-type]


def test_sums_to_the_right_are_exact_however_many_features_there_are() -> None:
    """Each feature's sums have 53 digits; added up over two features they would have 54."""
    candidates, step = grids.uniform(Schema(tuple(Numeric(one, 0.0, 1.0) for one in "abcd"), TARGET), 2), 2.0**-24
    table = np.tile([0.0, step, 2.0**28, 2.0**28 - step], 4)
    assert np.cumsum(table)[5] - np.cumsum(table)[4] != step
    assert candidates.right_sums(table).tolist() == [2.0**29 - step, 2.0**28 - step] * 4


def test_codes_of_splits() -> None:
    feature, code, kind = OWN.coded(np.array([0, 1, 2, 4, 6, 8]))
    assert feature.tolist() == [0, 0, 1, 1, 3, 3] and code.tolist() == [1, 2, 1, 3, 1, 3]
    assert kind.tolist() == [False, False, True, True, False, False]
    feature, code = OWN.split_codes(np.array([[0, 1.0], [1, 2.0], [3, 2.0], [3, 6.0], [0, -5.0], [3, 99.0]]))
    assert feature.tolist() == [0, 1, 3, 3, 0, 3] and code.tolist() == [2, 3, 1, 3, 1, 4]


# --- Thresholds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3, 4])
def test_uniform_thresholds_part_the_bounds_evenly(count: int) -> None:
    found = grids.uniform(MIXED, count)
    for f, (low, high) in ((0, (-1, 3)), (3, (0, 10))):
        exact = [Fraction(low) + Fraction(q, count + 1) * (high - low) for q in range(1, count + 1)]
        assert found.thresholds[f].tolist() == pytest.approx([float(one) for one in exact])
    assert found.thresholds[1].tolist() == [0, 1, 2] and found.thresholds[2].size == 0
    assert found.categorical.tolist() == [False, True, False, False] and found.public


@pytest.mark.parametrize("count", [1, 4])
def test_logarithmic_thresholds_grow_geometrically(count: int) -> None:
    """In units of a thousandth of the range, log(1 + distance) is evenly spaced up to log 1001."""
    found = grids.logarithmic(MIXED, count)
    for f, (low, width) in ((0, (-1.0, 4.0)), (3, (0.0, 10.0))):
        units = (found.thresholds[f] - low) / width * 1000
        wanted = [q / (count + 1) * math.log(1001) for q in range(1, count + 1)]
        assert np.log1p(units).tolist() == pytest.approx(wanted)
    assert found.thresholds[1].tolist() == [0, 1, 2] and found.thresholds[2].size == 0


@pytest.mark.parametrize("grid", [grids.uniform, grids.logarithmic])
def test_how_many_thresholds_are_allowed(grid: Any) -> None:
    one = Schema((Numeric("x", 0, 1),), TARGET)
    assert len(grid(one, 60_000).thresholds[0]) == 60_000 and len(grid(one, 1).thresholds[0]) == 1
    for count in (0, -1, 60_001):
        with pytest.raises(InvalidParameter, match=f"^{count} split candidates"):
            grid(one, count)


def test_given_thresholds_are_put_in_order() -> None:
    found = grids.given(MIXED, {"x": [2.0, 0.0, 2.0, 1.0], "flat": [2.0], "z": [4.0]})
    assert [own.tolist() for own in found.thresholds] == [[0.0, 1.0, 2.0], [0, 1, 2], [], [4.0]]
    with pytest.raises(InvalidParameter, match=r"features \['x', 'flat'\]"):
        grids.given(MIXED, {"z": [4.0]})


def test_every_value_above_the_least_is_a_candidate_that_is_not_public() -> None:
    found = grids.from_records(Records(MIXED, X, np.zeros(6)))
    assert [own.tolist() for own in found.thresholds] == [[0.0, 0.5, 1.0, 3.0], [0, 1, 2], [], [2.0, 5.0, 6.9, 9.0]]
    assert not found.public and found.categorical.tolist() == [False, True, False, False]


def test_without_any_candidate_there_is_an_error() -> None:
    flat = Schema((Numeric("a", 1.0, 1.0), Numeric("b", 0.0, 0.0)), TARGET)
    with pytest.raises(InvalidParameter, match="no split candidate"):
        grids.uniform(flat, 3)
    assert grids.uniform(Schema((Categorical("c", ("a",)),), TARGET), 3).thresholds[0].tolist() == [0]


def test_features_that_can_be_split_and_splits_that_separate_nothing() -> None:
    assert grids.ordered(MIXED) == [0, 3] and grids.categorical(MIXED) == [1]
    split = grids.no_split(MIXED, 2)
    assert split.tolist() == [0.0, math.nextafter(3.0, math.inf)]
    assert grids.no_split(MIXED, 3).tolist() == [*split.tolist(), 0.0]
    other = Schema((Numeric("flat", 1.0, 1.0), Categorical("c", ("a", "b")), Numeric("x", 0.0, 1.0)), TARGET)
    assert grids.no_split(other, 3).tolist() == [1.0, 2.0, 0.0]


# --- Formulas ---------------------------------------------------------------------------------------------------------


def test_candidates_between_bounds() -> None:
    found = [inner_uniform_candidate(q, 3, Fraction(-1), Fraction(7)) for q in (1, 2, 3)]
    assert found == [1, 3, 5]
    for q in (1, 2, 3):
        true = 2.0 - 1 + math.exp(q * math.log(1 + 9.0 - 2.0) / 4)
        assert log_candidate(q, 3, 2.0, 9.0) == pytest.approx(true) and 2 < log_candidate(q, 3, 2.0, 9.0) < 9


@pytest.mark.parametrize(("edges", "hessians", "count", "found"), [
    ([0, 1, 2, 3, 4], [1, 1, 1, 1], 2, ["3/2", "3"]),            # two bins hold no more than a half of all
    ([0, 1, 2, 4], [-5, 10, 2, 6][:3], 3, ["3/4", "3/2", "2"]),  # -5 counts as 0; a heavy bin is halved
    ([0, 1, 2, 3, 4], [7, 0, 9, 2], 3, ["1", "5/2", "3"]),       # of two heavy bins the larger one comes first
    ([0, 1, 2, 3, 4], [0, 0, 0, 1], 5, ["7/6", "7/3", "7/2", "11/3", "23/6"]),   # what is missing, evenly
    ([0, 1, 2, 3, 4], [0, 0, 0, 1], 4, ["7/6", "7/3", "7/2", "15/4"]),           # one more in the first gap
    ([0, 2], [3], 1, ["1"]),
    ([0, 3, 4], [2, 2], 1, ["2"]),
    ([-4, 0, 4], [5, 1], 2, ["-2", "0"]),
    ([0, 1, 2], [0, 0], 3, ["1/2", "1", "3/2"]),
])  # fmt: skip
def test_refined_thresholds_by_hand(edges: list[int], hessians: list[int], count: int, found: list[str]) -> None:
    given = [Fraction(one) for one in edges], [Fraction(one) for one in hessians]
    assert iterative_hessian(*given, count) == [Fraction(one) for one in found]


@pytest.mark.parametrize("heavy", [1, 2])
def test_refined_thresholds_between_the_greatest_bounds_are_numbers(heavy: int) -> None:
    """The sum of two edges is none; whatever the records are, thresholds are there."""
    edges = [1e308 - 1e301, 1e308 - 5e300, 1e308]
    found = iterative_hessian(edges, [float(heavy == 1), float(heavy == 2)], 2)
    assert all(edges[0] < one < edges[-1] for one in found) and len(found) == 2
    assert found[-1] == edges[1] if heavy == 1 else found[-1] == edges[1] / 2 + edges[2] / 2
