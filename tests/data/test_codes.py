"""Codes of dense and sparse records against their values, one record at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from refdp.data import codes as coding
from refdp.data.candidates import Candidates
from refdp.data.codes import Dense, Entries, Sparse, coded, leaf_of, level_by_level, missing_right
from refdp.data.kernels import bin_offsets
from refdp.data.records import Classes, Numeric, Schema, Tree, make_records
from refdp.data.sparse import SparseRecords, make_sparse_records
from refdp.errors import InvalidParameter, InvalidRecords

SCHEMA = Schema((Numeric("a", -4.0, 4.0), Numeric("b", 1.0, 9.0), Numeric("c", -2.0, 2.0)), Classes(("n", "y")))
CANDIDATES = Candidates((np.array([-1.0, 0.0, 2.0]), np.array([2.0, 5.0]), np.array([-1.0, 0.5, 1.0, 1.5])),
                        np.zeros(3, dtype=bool))  # fmt: skip
GENERATOR = np.random.default_rng(4)
X = np.where(GENERATOR.random((40, 3)) < 0.4, 0.0, np.round(GENERATOR.uniform(-5, 11, (40, 3)) * 2) / 2)
X[3, 0] = X[17, 2] = X[18, 1] = np.nan
Y = (np.arange(40) % 2).astype(float)
STAT = np.round(GENERATOR.uniform(-8, 8, 40) * 16) / 16


def pair(absent: Any) -> tuple[Dense, Sparse]:
    """The same records dense and sparse."""
    matrix = csr_matrix(X)  # NaN is stored
    sparse = make_sparse_records(SCHEMA, matrix, Y, absent)
    dense = make_records(SCHEMA, X if absent == "zero" else np.where(X == 0, np.nan, X), Y)
    one, other = coded(dense, CANDIDATES), coded(sparse, CANDIDATES)
    assert isinstance(one, Dense) and isinstance(other, Sparse)
    return one, other


def sums_by_hand(codes: Dense, features: Sequence[int], node: np.ndarray[Any, Any], nodes: int) -> Any:
    table = np.zeros((2, nodes, int(CANDIDATES.bins[list(features)].sum())))
    start = 0
    for f in features:
        for row in range(codes.size):
            if node[row] >= 0:
                table[:, node[row], start + int(codes.column(f)[row])] += (STAT[row], 1.0)
        start += int(CANDIDATES.bins[f])
    return table


SPLITS = np.array([[0, -1.0, 1.0], [1, 5.0, 0.0], [2, 0.5, 1.0], [2, 1.5, 0.0], [0, 2.0, 1.0], [1, 2.0, 1.0],
                   [0, 0.0, 0.0]])  # fmt: skip


def leaf_by_hand(row: np.ndarray[Any, Any], splits: np.ndarray[Any, Any]) -> int:
    node = 0
    while node < len(splits):
        x, missing = row[int(splits[node, 0])], splits.shape[1] > 2 and splits[node, 2] > 0
        node = 2 * node + 1 + int(missing if math.isnan(x) else x >= splits[node, 1])
    return node - len(splits)


@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_sparse_records_have_the_codes_of_dense_ones(absent: Any) -> None:
    dense, sparse = pair(absent)
    assert dense.size == sparse.size == 40
    for f in range(3):
        assert sparse.column(f).tolist() == dense.column(f).tolist()
    rows = np.array([0, 3, 4, 17, 18, 30, 39])
    for f in range(3):
        assert sparse.take(rows).column(f).tolist() == dense.take(rows).column(f).tolist()
        assert dense.take(rows).column(f).tolist() == dense.column(f)[rows].tolist()
    assert sparse.take(rows).size == dense.take(rows).size == 7
    assert len(sparse.entries.code) < 120 and (sparse.entries.code != np.repeat(
        sparse.entries.default, np.diff(sparse.entries.starts))).all()  # fmt: skip


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("features", [(0, 1, 2), (2, 0), (1,)])
def test_sums_in_bins_are_those_of_the_records(absent: Any, features: tuple[int, ...]) -> None:
    """Of all features, of some in another order, from scratch and from the level above."""
    node = (np.arange(40) * 7 % 5) % 4
    for codes in pair(absent):
        dense = pair(absent)[0]
        whole = codes.bin_sums(features, node // 2, 2, [STAT, None], None)
        assert np.array_equal(whole, sums_by_hand(dense, features, node // 2, 2))
        parents = whole.copy() if isinstance(codes, Dense) or features == (0, 1, 2) else None
        below = codes.bin_sums(features, node, 4, [STAT, None], parents)
        assert np.array_equal(below, sums_by_hand(dense, features, node, 4))
        assert parents is None or np.array_equal(parents, whole)
        other = codes.bin_sums((0, 1, 2), node, 4, [STAT, None], None)
        assert np.array_equal(other, sums_by_hand(dense, (0, 1, 2), node, 4))
        assert np.array_equal(codes.bin_sums(features, node, 4, [None, STAT], None), below[::-1])


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("columns", [2, 3])
def test_records_go_the_way_of_their_values(absent: Any, columns: int) -> None:
    """Level by level and at once; missing values left, or right where the split says so."""
    splits = SPLITS[:, :columns]
    x = (
        np.clip(X, [-4, 1, -2], [4, 9, 2])
        if absent == "zero"
        else np.clip(np.where(X == 0, np.nan, X), [-4, 1, -2], [4, 9, 2])
    )
    true = [leaf_by_hand(row, splits) for row in x]
    assert len(set(true)) > 4
    for codes in pair(absent):
        assert codes.leaf_index(splits).tolist() == true
        assert level_by_level(codes, splits).tolist() == true
        node: Any = np.zeros(40, dtype=np.int64)
        for level in range(3):
            node = codes.route(node, splits[2**level - 1 : 2 ** (level + 1) - 1])
            assert node.tolist() == [leaf_by_hand(row, splits[: 2 ** (level + 1) - 1]) for row in x]
        assert codes.leaf_index(splits[:0]).tolist() == [0] * 40
    assert leaf_of(x, splits, (False,) * 3).tolist() == true
    assert leaf_of(x, splits[:1], (False,) * 3).tolist() == [leaf_by_hand(row, splits[:1]) for row in x]
    tree = Tree(splits, np.arange(8.0))
    assert tree.leaf_index(x, np.zeros(3, dtype=bool)).tolist() == true
    assert tree.predict(x, np.zeros(3, dtype=bool)).tolist() == true


def test_leaves_by_value_where_features_are_categories() -> None:
    x = np.array([[0.0, 2.0], [1.0, np.nan], [np.nan, 0.0], [2.0, 1.0], [1.0, 2.0]])
    splits = np.array([[0, 1.0], [1, 2.0], [1, 1.0]])
    assert leaf_of(x, splits, (True, True)).tolist() == [1, 2, 0, 0, 2]
    assert leaf_of(x, splits, (False, True)).tolist() == [1, 2, 0, 3, 2]
    right = np.column_stack([splits, [1.0, 1.0, 0.0]])
    assert leaf_of(x, right, (True, True)).tolist() == [1, 2, 2, 0, 2]
    assert Tree(right, np.arange(4.0)).leaf_index(x, np.array([True, True])).tolist() == [1, 2, 2, 0, 2]


def test_which_splits_send_missing_values_right() -> None:
    assert missing_right(np.array([[0, 1.0, 0.0], [0, 1.0, 1.0], [1, 2.0, 0.5]])).tolist() == [False, True, True]
    assert missing_right(np.array([[0, 1.0], [0, 2.0]])).tolist() == [False, False]


def test_features_whose_thresholds_stay_are_not_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    records = make_records(SCHEMA, X, Y)
    before = coded(records, CANDIDATES)
    assert isinstance(before, Dense) and coded(records, CANDIDATES, before) is before
    calls: list[int] = []
    plain = Candidates.encode_feature
    monkeypatch.setattr(Candidates, "encode_feature", lambda self, f, column: calls.append(f) or plain(self, f, column))
    changed = Candidates((CANDIDATES.thresholds[0], np.array([3.0]), CANDIDATES.thresholds[2]), CANDIDATES.categorical)
    after = coded(records, changed, before)
    assert calls == [1] and isinstance(after, Dense) and after.candidates is changed
    assert np.array_equal(after.codes, Dense.of(records.x, changed).codes)
    many = Candidates((np.linspace(-4, 4, 300), *CANDIDATES.thresholds[1:]), CANDIDATES.categorical)
    wide = coded(records, many, after)
    assert isinstance(wide, Dense) and wide.codes.dtype == np.uint16
    assert np.array_equal(wide.codes, Dense.of(records.x, many).codes)
    narrow = coded(records, CANDIDATES, wide)
    assert isinstance(narrow, Dense) and narrow.codes.dtype == np.uint8
    fewer = coded(make_records(SCHEMA, X[:5], Y[:5]), CANDIDATES, narrow)
    assert fewer.size == 5 and fewer.column(0).tolist() == narrow.column(0)[:5].tolist()


def test_missing_values_are_looked_up_once_for_rows_taken_as_well() -> None:
    dense = pair("zero")[0]
    assert dense._missing().tolist() == [True, True, True]
    some = dense.take(np.array([0, 1]))
    assert some._missing() is dense._missing()
    none = Dense.of(np.zeros((2, 3)), CANDIDATES)
    assert none._missing().tolist() == [False] * 3 and not none._rerouted(SPLITS).any()
    mixed = Dense.of(np.array([[0.0, np.nan, 1.0]]), CANDIDATES)
    assert mixed._rerouted(SPLITS).tolist() == [False, False, False, False, False, True, False]
    assert not mixed._rerouted(SPLITS[:, :2]).any()


def test_many_joined_bins_need_more_than_two_bytes() -> None:
    """Places on the bin axis beyond 2^16."""
    thresholds = tuple(np.linspace(-1, 1, 40_000) for _ in range(2))
    schema = Schema((Numeric("a", -1, 1), Numeric("b", -1, 1)), SCHEMA.target)
    grid = Candidates(thresholds, np.zeros(2, dtype=bool))
    x = np.array([[0.9, 0.0], [0.0, 0.99], [-0.7, 1.0]])
    sparse, dense = coded(make_sparse_records(schema, csr_matrix(x), np.zeros(3), "zero"), grid), Dense.of(x, grid)
    node, column = np.zeros(3, dtype=np.int64), np.array([1.0, 2.0, 4.0])
    found = sparse.bin_sums((0, 1), node, 1, [column, None], None)
    assert np.array_equal(found, dense.bin_sums((0, 1), node, 1, [column, None], None))
    assert bin_offsets([3, 2, 5]).tolist() == [0, 3, 5, 10]


# --- Sparse records ---------------------------------------------------------------------------------------------------


def test_sparse_records_are_clamped_like_dense_ones() -> None:
    for absent in ("zero", "missing"):
        found = make_sparse_records(SCHEMA, csr_matrix(X), Y, absent)  # type: ignore[arg-type]
        assert isinstance(found, SparseRecords) and found.size == 40 and found.x.rows == 40
        assert found.y.tolist() == Y.tolist()
        for f, (low, high) in enumerate([(-4, 4), (1, 9), (-2, 2)]):
            own = found.x.of(f)
            rows = [row for row in range(40) if X[row, f] != 0]
            assert found.x.row[own].tolist() == rows
            assert np.array_equal(found.x.value[own], np.clip(X[rows, f], low, high), equal_nan=True)
        wanted = [0.0, 1.0, 0.0] if absent == "zero" else [np.nan] * 3
        assert np.array_equal(found.x.absent, wanted, equal_nan=True)


def test_twice_given_entries_are_added_and_wrong_ones_refused() -> None:
    twice = csr_matrix(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 3))
    assert make_sparse_records(SCHEMA, twice, np.zeros(2), "zero").x.value.tolist() == [3.0]
    with pytest.raises(InvalidRecords, match="'c' holds an infinite"):
        make_sparse_records(SCHEMA, csr_matrix([[1.0, np.nan, np.inf]]), np.zeros(1), "zero")
    with pytest.raises(InvalidRecords, match="2 feature columns given, the schema has 3"):
        make_sparse_records(SCHEMA, csr_matrix([[1.0, 2.0]]), np.zeros(1), "zero")
    with pytest.raises(InvalidParameter, match="absent = 'none'"):
        make_sparse_records(SCHEMA, csr_matrix(X), Y, "none")  # type: ignore[arg-type]
    with pytest.raises(InvalidRecords, match="class index"):
        make_sparse_records(SCHEMA, csr_matrix(X), np.full(40, 2.0), "zero")


def test_entries_of_rows_in_a_mask() -> None:
    sparse = pair("zero")[1]
    mask = np.arange(40) % 3 == 0
    found = sparse.entries.take(mask)
    assert isinstance(found, Entries) and found.default is sparse.entries.default
    for f in range(3):
        own, before = slice(*found.starts[f : f + 2]), slice(*sparse.entries.starts[f : f + 2])
        kept = [(row // 3, code) for row, code in zip(sparse.entries.row[before].tolist(),
                sparse.entries.code[before].tolist(), strict=True) if row % 3 == 0]  # fmt: skip
        assert list(zip(found.row[own].tolist(), found.code[own].tolist(), strict=True)) == kept
    assert coding.SparseSums.prepare(sparse.entries, CANDIDATES.offsets).offsets is CANDIDATES.offsets
