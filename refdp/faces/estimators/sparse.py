"""Sparse input of the estimators: scipy matrices, trained on without ever being made dense.

Absent entries are zeros, as `X.toarray()` says, unless the estimator has absent="missing": then they are missing
values, as xgboost takes them. Entries that are there keep their value, an explicit zero too. Predictions take them as
the fit did (`absent_`), whatever the parameter is afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, issparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from refdp.data.records import Feature, Floats, Schema
from refdp.data.sparse import AnyRecords, check_absent, make_sparse_records
from refdp.faces.estimators.settings import unweighed
from refdp.io.frames import unquoted

_CHUNK = 4096


class SparseInput:
    """Mixed in before an estimator's base."""

    absent: Literal["zero", "missing"]

    @unweighed
    def fit(self, X: Any, y: Any) -> Any:
        """As the base; X may be a scipy sparse matrix or array, whose features are then all numeric.

        Errors: also InvalidParameter for an unknown `absent`, or for categories in sparse input.
        """
        check_absent(self.absent)
        fitted = super().fit(X, y)  # type: ignore[misc]
        self.absent_ = self.absent
        return fitted

    def predict(self, X: Any) -> Any:
        """As the base; X may be sparse."""
        return self._by_rows(super().predict, X)  # type: ignore[misc]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def _validated(self, X: Any, *, reset: bool) -> Any:
        if not issparse(X):
            return super()._validated(X, reset=reset)  # type: ignore[misc]
        how = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False, "ensure_min_samples": 0}
        matrix = unquoted(check_array, X, **how)
        validate_data(self, X=matrix, reset=reset, skip_check_array=True)
        return matrix

    def _described(self, frame: Any) -> tuple[tuple[Feature, ...], list[str]]:
        ends = _ends(frame, self.absent) if issparse(frame) else frame
        return super()._described(ends)  # type: ignore[misc,no-any-return]

    def _records(self, frame: Any, schema: Schema, label: Floats) -> AnyRecords:
        if not issparse(frame):
            return super()._records(frame, schema, label)  # type: ignore[misc,no-any-return]
        return make_sparse_records(schema, frame, label, self.absent)

    def _by_rows(self, method: Callable[[Any], NDArray[Any]], X: Any) -> NDArray[Any]:
        """The method's answers for a sparse X, a few thousand dense rows at a time."""
        if not issparse(X):
            return method(X)
        matrix = self._validated(X, reset=False)
        starts = range(0, max(matrix.shape[0], 1), _CHUNK)
        absent = getattr(self, "absent_", self.absent)  # what was saved earlier has the parameter alone
        return np.concatenate([method(_dense(matrix[start : start + _CHUNK], absent)) for start in starts])


class SparseScores(SparseInput):
    """The same for classifiers, which have scores too."""

    def predict_proba(self, X: Any) -> Floats:
        """As the base; X may be sparse. Shape (rows, classes)."""
        return self._by_rows(super().predict_proba, X)  # type: ignore[misc]

    def decision_function(self, X: Any) -> Floats:
        """As the base; X may be sparse. Shape (rows,), or (rows, classes)."""
        return self._by_rows(super().decision_function, X)  # type: ignore[misc]


def _dense(matrix: Any, absent: str) -> Floats:
    if absent == "zero":
        return np.asarray(matrix.toarray())
    values = np.full(matrix.shape, np.nan)
    entries = matrix.tocoo()
    values[entries.row, entries.col] = entries.data
    return values


def _ends(matrix: Any, absent: str) -> Floats:
    """The least and the greatest value of each column as two rows; bounds that are not given are read off them."""
    columns = csc_matrix(matrix)
    ends = np.full((2, matrix.shape[1]), np.nan)
    for f in range(matrix.shape[1]):
        values = columns.data[columns.indptr[f] : columns.indptr[f + 1]]
        whole = absent == "missing" or len(values) == matrix.shape[0]
        known = values[np.isfinite(values)] if whole else np.append(values[np.isfinite(values)], 0.0)
        if len(known):
            ends[:, f] = known.min(), known.max()
    return ends
