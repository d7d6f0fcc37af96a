"""Records most of whose values are absent: training in time and memory proportional to the values that are there.

An absent entry is a zero, as in scipy, or a missing value, as in xgboost; `absent` says which. Either way it has one
code per feature, the same for all records, and a bin sum of it is the node's sum less that of the other bins. Sums of
statistics on the grid are exact (kernels.py), so that a model is the same to the last bit as from dense records.
Numeric features only: a category has no natural absent value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from refdp import kernels
from refdp.binned import Binned, Mask, Nodes
from refdp.candidates import Candidates
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.records import Categorical, Floats, Numeric, Records, Schema, make_records
from refdp.trees import Tree

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


# --- Codes ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entries:
    """The codes that differ from their feature's default code, feature by feature. Holds records.

    starts: shape (features + 1,). row, code: of the entries. default: code of all other rows, shape (features,).
    """

    starts: NDArray[np.intp]
    row: NDArray[np.int32]
    code: NDArray[np.uint16]
    default: NDArray[np.int64]

    @classmethod
    def of(cls, x: SparseFeatures, candidates: Candidates) -> Entries:
        """The entries of sparse features under candidates."""
        default = np.array([int(candidates.encode_feature(f, x.absent[f : f + 1])[0]) for f in range(len(x.absent))])
        code = np.empty(len(x.value), dtype=np.uint16)
        for f in range(len(default)):
            code[x.of(f)] = candidates.encode_feature(f, x.value[x.of(f)])
        kept = code != np.repeat(default, np.diff(x.starts))
        return cls(x.starts, x.row, code, default)._only(kept, x.row)

    def take(self, rows: Mask) -> Entries:
        """Those of the rows of a mask."""
        return self._only(rows[self.row], (np.cumsum(rows) - 1).astype(np.int32)[self.row])

    def _only(self, kept: Mask, row: NDArray[np.int32]) -> Entries:
        starts = np.append(0, np.cumsum(kept))[self.starts]
        return Entries(starts, row[kept], self.code[kept], self.default)


@dataclass(frozen=True)
class SparseSums:
    """`kernels.BinSums` of entries. joined: entries as rows of one column, whose codes are places on the bin axis."""

    entries: Entries
    offsets: NDArray[np.int64]
    joined: kernels.BinSums

    @classmethod
    def prepare(cls, entries: Entries, offsets: NDArray[np.int64]) -> SparseSums:
        """Prepared once for many calls."""
        bins = int(offsets[-1])
        place = np.repeat(offsets[:-1], np.diff(entries.starts)) + entries.code
        codes: kernels.Codes = place.astype(np.uint16) if bins <= 1 << 16 else place.astype(np.uint32)
        return cls(entries, offsets, kernels.BinSums.prepare(codes[np.newaxis], np.array([0, bins])))

    def sums(self, node: Nodes, nodes: int, stats: Sequence[Floats | None], parents: Floats | None = None) -> Floats:
        """As `kernels.bin_sums`."""
        row, absent = self.entries.row, self.offsets[:-1] + self.entries.default
        if parents is not None:  # of the entries alone
            parents = parents.copy()
            parents[..., absent] = 0.0
        own = [None if stat is None else stat.take(row) for stat in stats]
        table = self.joined.sums(node.take(row), nodes, own, parents)
        others = np.add.reduceat(table, self.offsets[:-1], axis=-1)
        table[..., absent] = kernels.leaf_sums(node, nodes, stats)[..., np.newaxis] - others
        return table


@dataclass(frozen=True)
class SparseBinned:
    """What `Binned` is for dense records: the same questions, the same answers."""

    candidates: Candidates
    entries: Entries
    sums: SparseSums
    size: int

    @classmethod
    def of(cls, x: SparseFeatures, candidates: Candidates) -> SparseBinned:
        """Encode clamped features."""
        return cls._prepared(candidates, Entries.of(x, candidates), x.rows)

    @classmethod
    def _prepared(cls, candidates: Candidates, entries: Entries, size: int) -> SparseBinned:
        return cls(candidates, entries, SparseSums.prepare(entries, candidates.offsets), size)

    def take(self, rows: Mask) -> SparseBinned:
        """The rows of a mask; the same object if that is all of them."""
        if rows.all():
            return self
        return self._prepared(self.candidates, self.entries.take(rows), int(np.count_nonzero(rows)))

    def root(self) -> Nodes:
        """Every row at the root, node 0."""
        return np.zeros(self.size, dtype=np.int64)

    def leaf_sums(self, node: Nodes, nodes: int, stats: Sequence[Floats | None]) -> Floats:
        """Sums of the statistics (None: count) over the rows of every node, shape (statistic, node)."""
        return kernels.leaf_sums(node, nodes, stats)

    def route(self, node: Nodes, chosen: Floats) -> Nodes:
        """One level down by the chosen (feature, value) of every node; a third column is a default direction."""
        feature, bound = self.candidates.split_codes(chosen)
        missing = chosen[:, 2] > 0 if chosen.shape[1] > 2 else np.zeros(len(chosen), dtype=np.bool_)
        default = self.entries.default[feature]
        child = np.asarray(2 * node + np.where(default == 0, missing, default > bound)[node])
        for k, f in enumerate(feature):
            own = slice(int(self.entries.starts[f]), int(self.entries.starts[f + 1]))
            here = np.flatnonzero(node[self.entries.row[own]] == k)
            code = self.entries.code[own][here]
            child[self.entries.row[own][here]] = 2 * k + np.where(code == 0, missing[k], code > bound[k])
        return child

    def leaf_index(self, tree: Tree) -> Nodes:
        """The leaf of every row."""
        node = self.root()
        for level in range(len(tree.leaves).bit_length() - 1):
            node = self.route(node, tree.splits[2**level - 1 : 2 ** (level + 1) - 1])
        return node


AnyBinned = Binned | SparseBinned


def binned(records: AnyRecords, candidates: Candidates) -> AnyBinned:
    """The records seen through candidates."""
    if isinstance(records, SparseRecords):
        return SparseBinned.of(records.x, candidates)
    return Binned.of(records.x, candidates)
