"""Sparse and dense records give the same model to the last bit on the same tape."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix, random_array

from refdp.data import codes as coding
from refdp.data import kernels, sparse
from refdp.data.candidates import uniform
from refdp.data.records import Categorical, Classes, Floats, Interval, Numeric, Schema, Target, make_records
from refdp.errors import InvalidParameter, InvalidRecords, PrivacyWarning
from refdp.faces.estimators import DPXGBoostClassifier, DPXGBoostRegressor
from refdp.faces.seeds import ReproducibleSeed
from refdp.papers import dpxgboost
from refdp.papers.published.dpxgboost import AS_PUBLISHED
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from refdp.privacy.tape import TapeSource
from tests.dpxgboost.cases import REPAIRED, params

pytestmark = pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning")

BOUNDS = ((0.0, 1.0), (-1.0, 1.0), (-3.0, -1.0), (0.5, 2.0), (0.0, 0.0), (-2.0, 0.0))
FEATURES = tuple(Numeric(f"x{f}", low, high) for f, (low, high) in enumerate(BOUNDS))
VALUES, TWO, THREE = Interval(-1.0, 1.0), Classes(("no", "yes")), Classes(("p", "q", "r"))


def some_matrix(rows: int = 120, seed: int = 0) -> Any:
    """Three in ten entries are there: inside and outside the bounds, explicit zeros and NaN among them."""
    generator = np.random.default_rng(seed)
    matrix = random_array((rows, len(BOUNDS)), density=0.3, rng=generator, data_sampler=generator.standard_normal)
    found = csr_matrix(matrix)
    found.data[::9], found.data[4::13] = 0.0, np.nan
    return found


def dense(matrix: Any, absent: str) -> Floats:
    values = np.full(matrix.shape, 0.0 if absent == "zero" else np.nan)
    entries = matrix.tocoo()
    values[entries.row, entries.col] = entries.data
    return values


def labels(target: Target, rows: int) -> Floats:
    generator = np.random.default_rng(5)
    many = len(target.values) if isinstance(target, Classes) else 0
    return generator.integers(0, many, rows).astype(np.float64) if many else generator.uniform(-1, 1, rows)


def models(matrix: Any, target: Target, absent: Any, given: dpxgboost.Params) -> tuple[str, str]:
    """The model of dense records, and that of sparse ones on the tape of the first."""
    schema, y = Schema(FEATURES, target), labels(target, matrix.shape[0])
    source = SampleSource(np.random.default_rng(1), record=True)
    first = dpxgboost.train(given, make_records(schema, dense(matrix, absent), y), Curator(source, given.relation))
    records = sparse.make_sparse_records(schema, matrix, y, absent)
    second = dpxgboost.train(given, records, Curator(TapeSource(source.tape), given.relation))
    return first.to_json(), second.to_json()


PUBLISHED = [{**AS_PUBLISHED, "leaf": leaf} for leaf in ("laplace", "minimum", "average")]


@pytest.mark.parametrize("changes", [*REPAIRED, *PUBLISHED], ids=str)
@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_sparse_and_dense_records_give_the_same_bytes(changes: dict[str, Any], absent: str) -> None:
    target = TWO if changes.get("loss") == "log" else VALUES
    if changes.get("noise") == "discrete":  # exact samplers use no tape of standard draws for choices
        changes = {**changes, "noise": "floating"}
    first, second = models(some_matrix(), target, absent, params(**changes, depth=3, epsilon=20.0))
    assert first == second


@pytest.mark.parametrize("target", [TWO, THREE])
@pytest.mark.parametrize("relation", list(Relation))
def test_classes_and_relations(target: Target, relation: Relation) -> None:
    first, second = models(some_matrix(), target, "zero", params(relation, epsilon=20.0))
    assert first == second


@pytest.mark.parametrize("matrix", [csr_matrix((50, 6)), csr_matrix(np.ones((50, 6))), some_matrix(1)], ids=str)
def test_an_empty_a_full_and_a_single_row(matrix: Any) -> None:
    for absent in ("zero", "missing"):
        first, second = models(matrix, VALUES, absent, params(subsample=1.0))
        assert first == second


def test_two_entries_for_one_place_are_added_as_scipy_does() -> None:
    twice = coo_array(([0.25, 0.5, 1.0], ([0, 0, 3], [0, 0, 1])), shape=(4, 6))
    schema = Schema(FEATURES, VALUES)
    records = sparse.make_sparse_records(schema, csr_array(twice), np.zeros(4), "zero")
    assert records.x.value.tolist() == [0.75, 1.0]


def without_default_bins(correct: Any) -> Any:
    def sums(self: Any, node: Any, nodes: int, stats: Any, parents: Any = None) -> Floats:
        table: Floats = correct(self, node, nodes, stats, parents)
        table[..., self.offsets[:-1] + self.entries.default] = 0.0
        return table

    return sums


DAMAGES: dict[str, tuple[Any, str, Any]] = {
    "default bin": (coding.SparseSums, "sums", without_default_bins),
    "default direction": (
        coding.Sparse, "route", lambda right: lambda self, node, chosen: right(self, node, chosen[:, :2])),
    "absent value not clamped": (
        sparse, "_clamped", lambda right: lambda *given: replace(right(*given), absent=np.zeros(len(BOUNDS)))),
    "row numbers": (
        coding.Entries, "take", lambda right: lambda self, rows: self._only(rows[self.row], self.row % rows.sum())),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_wrong_handling_of_absent_entries_would_be_caught(damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, change = DAMAGES[damage]
    monkeypatch.setattr(place, name, change(getattr(place, name)))
    assert any(differ(seed, absent) for seed in range(3) for absent in ("zero", "missing"))


def differ(seed: int, absent: str) -> bool:
    try:
        first, second = models(some_matrix(seed=seed), VALUES, absent, params(epsilon=20.0, depth=3))
    except InvalidParameter:  # the tape does not fit: other candidates were asked for
        return True
    return first != second


def test_bin_sums_are_those_of_the_dense_kernel() -> None:
    matrix, schema = some_matrix(400), Schema(FEATURES, VALUES)
    records = sparse.make_sparse_records(schema, matrix, np.zeros(400), "zero")
    grid = uniform(schema, 5)
    found = coding.coded(records, grid)
    codes = grid.encode(make_records(schema, dense(matrix, "zero"), np.zeros(400)).x)
    node, stat = np.arange(400) % 4, np.round(np.random.default_rng(0).normal(size=400), 3)
    stat = np.rint(stat / kernels.GRID) * kernels.GRID
    assert np.array_equal(
        found.bin_sums(grid.features, node, 4, (stat, None), None),
        kernels.bin_sums(codes, grid.offsets, node, 4, (stat, None)),
    )


def test_memory_is_proportional_to_the_entries() -> None:
    schema = Schema(tuple(Numeric(f"x{f}", 0.0, 1.0) for f in range(300)), VALUES)
    matrix = random_array((5_000, 300), density=0.04, rng=np.random.default_rng(0))
    grid = uniform(schema, 63)
    coded = coding.coded(sparse.make_sparse_records(schema, matrix, np.zeros(5_000), "zero"), grid)
    assert isinstance(coded, coding.Sparse)
    held = coded.entries
    bytes_held = held.row.nbytes + held.code.nbytes + held.starts.nbytes + held.default.nbytes
    bytes_held += coding.SparseSums.prepare(held, grid.offsets).joined.groups[0].codes.nbytes
    assert bytes_held < 0.1 * 5_000 * 300 * 8  # dense float64


# --- Estimators -------------------------------------------------------------------------------------------------------

PUBLIC = {f"x{f}": bound for f, bound in enumerate(BOUNDS)}
QUICK: dict[str, Any] = {"epsilon": 20.0, "relation": "add-remove", "bounds": PUBLIC, "trees": 3, "depth": 2,
                         "child_minimum": 2}  # fmt: skip


def quick() -> dict[str, Any]:
    """The same noise for every estimator that is made."""
    return QUICK | {"insecure_seed": ReproducibleSeed(0)}


@pytest.mark.parametrize("form", [csr_matrix, csc_matrix, csr_array, coo_array])
@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_estimators_take_any_sparse_format_and_agree_with_dense_input(form: Any, absent: str) -> None:
    matrix = some_matrix(5_000)
    y = np.where(dense(matrix, "zero")[:, 1] > 0.1, "yes", "no")
    first = DPXGBoostClassifier(**quick(), classes=["no", "yes"]).fit(dense(matrix, absent), y)
    second = DPXGBoostClassifier(**quick(), classes=["no", "yes"], absent=absent).fit(form(matrix), y)
    assert first.model_.to_json() == second.model_.to_json()
    assert first.certificate_ == second.certificate_
    for name in ("predict", "predict_proba", "decision_function"):
        expected = getattr(first, name)(dense(matrix, absent))
        assert np.array_equal(getattr(second, name)(form(matrix)), expected)
        assert np.array_equal(getattr(second, name)(dense(matrix, absent)), expected)
    assert len(np.unique(second.decision_function(matrix))) > 1


def test_regressors_too() -> None:
    matrix, y = some_matrix(), labels(VALUES, 120)
    first = DPXGBoostRegressor(**quick(), label_bounds=(-1, 1)).fit(dense(matrix, "zero"), y)
    second = DPXGBoostRegressor(**quick(), label_bounds=(-1, 1)).fit(matrix, y)
    assert np.array_equal(first.predict(dense(matrix, "zero")), second.predict(matrix))


@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_bounds_that_are_not_given_are_the_same_as_of_dense_input_and_warned_about(absent: str) -> None:
    matrix, y = some_matrix(), labels(VALUES, 120)
    public = {"bounds": None, "label_bounds": (-1, 1)}
    with pytest.warns(PrivacyWarning, match="bounds of x0"):
        first = DPXGBoostRegressor(**{**quick(), **public}).fit(dense(matrix, absent), y)
    with pytest.warns(PrivacyWarning, match="bounds of x0"):
        second = DPXGBoostRegressor(**{**quick(), **public}, absent=absent).fit(matrix, y)
    assert first.model_.to_json() == second.model_.to_json()
    assert second.certificate_.established.epsilon == float("inf")


def test_bad_sparse_input() -> None:
    matrix, y = some_matrix(), labels(VALUES, 120)
    model = DPXGBoostRegressor(**quick(), label_bounds=(-1, 1)).fit(matrix, y)
    with pytest.raises(ValueError, match="5 features"):
        model.predict(matrix[:, :5])
    with pytest.raises(InvalidParameter, match="absent = 'none'"):
        DPXGBoostRegressor(**quick(), label_bounds=(-1, 1), absent="none").fit(matrix, y)
    with pytest.raises(InvalidParameter, match="numeric features only"):
        DPXGBoostRegressor(**{**quick(), "bounds": {**PUBLIC, "x0": ["1", "2", "3"]}}, label_bounds=(-1, 1)).fit(
            matrix, y
        )
    broken = matrix.copy()
    broken.data[0] = np.inf
    for call in (
        lambda: DPXGBoostRegressor(**quick(), label_bounds=(-1, 1)).fit(broken, y),
        lambda: model.predict(broken),
    ):
        with pytest.raises(InvalidRecords, match="infinite"):
            call()
    with pytest.raises(InvalidRecords, match="2 feature columns given"):
        sparse.make_sparse_records(Schema(FEATURES, VALUES), matrix[:, :2], y, "zero")
    with pytest.raises(InvalidParameter, match="'c' has categories"):
        sparse.make_sparse_records(Schema((Categorical("c", ("a",)),), VALUES), matrix[:, :1], y, "zero")
