"""Records most of whose values are absent: training in time and memory proportional to the values that are there.

An absent entry is a zero, as in scipy, or a missing value, as in xgboost; `absent` says which. Either way it has one
code per feature, the same for all records (data/codes.py), and a bin sum of it is the node's sum less that of the other
bins. Sums of statistics on the grid are exact, so that a model is the same to the last bit as from dense records.
Numeric features only: a category has no natural absent value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from refdp.data.records import Categorical, Floats, Numeric, Records, Schema, make_records
from refdp.errors import InvalidParameter, InvalidRecords

Absent = Literal["zero", "missing"]


# --- Records ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SparseFeatures:
    """Present values column by column, clamped to their bounds; NaN is missing.

    starts: where each feature's entries start, shape (features + 1,). row, value: of the entries. rows: of the table.
    absent: the clamped value of absent entries of each feature, shape (features,).
    """

    starts: NDArray[np.intp]
    row: NDArray[np.int32]
    value: Floats
    rows: int
    absent: Floats

    def of(self, feature: int) -> slice:
        """The entries of a feature."""
        return slice(int(self.starts[feature]), int(self.starts[feature + 1]))


@dataclass(frozen=True)
class SparseRecords:
    """Private records like `Records`, with sparse features."""

    schema: Schema
    x: SparseFeatures
    y: Floats

    @property
    def size(self) -> int:
        """Number of records. Private under add-remove."""
        return len(self.y)


AnyRecords = Records | SparseRecords


def make_sparse_records(schema: Schema, x: Any, y: Floats, absent: Absent) -> SparseRecords:
    """Validate and clamp a scipy sparse matrix of shape (rows, features) and labels, like `make_records`.

    Errors: InvalidParameter for a categorical feature or an unknown `absent`; InvalidRecords as `make_records`.
    """
    check_absent(absent)
    named = next((feature.name for feature in schema.features if isinstance(feature, Categorical)), None)
    if named is not None:
        raise InvalidParameter(f"feature {named!r} has categories: sparse records have numeric features only")
    if x.shape[1] != len(schema.features):
        raise InvalidRecords(f"{x.shape[1]} feature columns given, the schema has {len(schema.features)}")
    bare = Schema((Numeric("features", 0.0, 0.0),), schema.target)
    label = make_records(bare, np.zeros((x.shape[0], 1)), y).y
    from scipy.sparse import csc_matrix

    return SparseRecords(schema, _clamped(schema, csc_matrix(x, dtype=np.float64), absent), label)


def check_absent(absent: str) -> None:
    """Errors: InvalidParameter for anything but "zero" and "missing"."""
    if absent not in ("zero", "missing"):
        raise InvalidParameter(f"absent = {absent!r}: 'zero' or 'missing' is allowed")


def _clamped(schema: Schema, x: Any, absent: Absent) -> SparseFeatures:
    x.sum_duplicates()
    bounds = np.array([(f.low, f.high) for f in schema.features if isinstance(f, Numeric)])
    feature = np.repeat(np.arange(x.shape[1]), np.diff(x.indptr))
    infinite = np.isinf(x.data)
    if infinite.any():
        name = schema.names[int(feature[infinite][0])]
        raise InvalidRecords(f"feature {name!r} holds an infinite value; finite values and NaN (missing) are allowed")
    value = np.clip(x.data, bounds[feature, 0], bounds[feature, 1])
    default = np.clip(0.0, bounds[:, 0], bounds[:, 1]) if absent == "zero" else np.full(x.shape[1], np.nan)
    return SparseFeatures(x.indptr.astype(np.intp), x.indices.astype(np.int32), value, x.shape[0], default)
