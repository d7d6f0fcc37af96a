"""Records under split candidates, as codes: what hosts route and sum. Dense and sparse records answer alike.

Codes are those of kernels.py: 0 missing, else 1 + number of thresholds <= x, or 1 + category.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from refdp.data import kernels
from refdp.data.candidates import Candidates
from refdp.data.records import Floats
from refdp.data.sparse import AnyRecords, SparseFeatures, SparseRecords

Index = NDArray[np.intp]
Nodes = NDArray[Any]
Mask = NDArray[np.bool_]
Table = Sequence[Floats | None]


class Codes(Protocol):
    """Coded records."""

    candidates: Candidates

    @property
    def size(self) -> int:
        """Number of rows."""

    def take(self, rows: Index) -> Codes:
        """These rows. Shape (rows, features)."""

    def bin_sums(
        self, features: tuple[int, ...], node: Nodes, nodes: int, stats: Table, parents: Floats | None
    ) -> Floats:
        """Sums of the statistics (None: count) of every node and bin, shape (statistic, node, bins side by side)."""

    def column(self, feature: int) -> Nodes:
        """The codes of one feature, shape (rows,)."""

    def route(self, node: Nodes, splits: Floats) -> Nodes:
        """One level down; splits: (feature, value[, missing right]) of every node. node, result: shape (rows,)."""

    def leaf_index(self, splits: Floats) -> Nodes:
        """The leaf of every row in a full tree, splits level by level. Shape (rows,)."""


@dataclass
class Dense:
    """Codes of shape (features, rows)."""

    candidates: Candidates
    codes: NDArray[Any]
    _sums: tuple[tuple[int, ...], kernels.BinSums] | None = field(default=None, repr=False)
    _absent: list[NDArray[np.bool_]] = field(default_factory=list, repr=False)  # of these rows and those taken of them

    @classmethod
    def of(cls, x: Floats, candidates: Candidates) -> Dense:
        """Encode clamped features, shape (rows, features)."""
        return cls(candidates, candidates.encode(x))

    def again(self, x: Floats, candidates: Candidates) -> Dense:
        """The same records under other candidates; features whose thresholds stay are not encoded again.

        Shape (features, rows).
        """
        if candidates is self.candidates:
            return self
        if (int(candidates.bins.max()) <= 256) != (self.codes.dtype == np.uint8):
            return Dense.of(x, candidates)
        for f, (old, new) in enumerate(zip(self.candidates.thresholds, candidates.thresholds, strict=True)):
            if old is not new:
                self.codes[f] = candidates.encode_feature(f, x[:, f])
        return Dense(candidates, self.codes, _absent=self._absent)

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    def column(self, feature: int) -> Nodes:
        """The codes of one feature."""
        column: Nodes = self.codes[feature]
        return column

    def take(self, rows: Index) -> Dense:
        """These rows."""
        return Dense(self.candidates, self.codes.take(rows, axis=1), _absent=[self._missing()])

    def bin_sums(
        self, features: tuple[int, ...], node: Nodes, nodes: int, stats: Table, parents: Floats | None
    ) -> Floats:
        """With the level above at hand only the smaller of two siblings is summed. Shape (statistic, node, bin)."""
        if self._sums is None or self._sums[0] != features:  # of the latest features only
            whole = features == tuple(range(len(self.codes)))
            codes = self.codes if whole else self.codes[list(features)]
            offsets = kernels.bin_offsets([int(self.candidates.bins[f]) for f in features])
            self._sums = features, kernels.BinSums.prepare(codes, offsets)
        return self._sums[1].sums(node, nodes, stats, parents)

    def route(self, node: Nodes, splits: Floats) -> Nodes:
        """One level down. node, result: shape (rows,)."""
        feature, code = self.candidates.split_codes(splits)
        child = kernels.route(self.codes, node, feature, code, self.candidates.categorical[feature])
        for k in np.flatnonzero(self._rerouted(splits)):
            child[(self.codes[feature[k]] == 0) & (node == k)] = 2 * k + 1
        return child

    def leaf_index(self, splits: Floats) -> Nodes:
        """Level by level where missing values may go right, else all levels at once. Shape (rows,)."""
        depth = (len(splits) + 1).bit_length() - 1
        if self._rerouted(splits).any():
            return level_by_level(self, splits)
        feature, code = self.candidates.split_codes(splits)
        return kernels.leaf_index(self.codes, feature, code, self.candidates.categorical[feature], depth)

    def _rerouted(self, splits: Floats) -> NDArray[np.bool_]:
        """Which splits send missing values right and can have any: it saves time and decides nothing."""
        right = missing_right(splits)
        if not right.any():
            return right
        return np.asarray(right & self._missing()[splits[:, 0].astype(np.intp)])

    def _missing(self) -> NDArray[np.bool_]:
        """Which features have missing values in these rows, or in those that they were taken of."""
        if not self._absent:
            self._absent.append((self.codes == 0).any(axis=1))
        return self._absent[0]


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
        """Prepared once for many calls. offsets: shape (features + 1,)."""
        bins = int(offsets[-1])
        place = np.repeat(offsets[:-1], np.diff(entries.starts)) + entries.code
        codes: kernels.Codes = place.astype(np.uint16) if bins <= 1 << 16 else place.astype(np.uint32)
        return cls(entries, offsets, kernels.BinSums.prepare(codes[np.newaxis], np.array([0, bins])))

    def sums(self, node: Nodes, nodes: int, stats: Sequence[Floats | None], parents: Floats | None = None) -> Floats:
        """Sums in every bin of every node, shape (statistic, node, bin)."""
        row, absent = self.entries.row, self.offsets[:-1] + self.entries.default
        if parents is not None:  # of the entries alone
            parents = parents.copy()
            parents[..., absent] = 0.0
        own = [None if stat is None else stat.take(row) for stat in stats]
        table = self.joined.sums(node.take(row), nodes, own, parents)
        others = np.add.reduceat(table, self.offsets[:-1], axis=-1)
        table[..., absent] = kernels.leaf_sums(node, nodes, stats)[..., np.newaxis] - others
        return table


@dataclass
class Sparse:
    """Entries that differ from their feature's default code."""

    candidates: Candidates
    entries: Entries
    size: int
    _sums: SparseSums | None = field(default=None, repr=False)

    def column(self, feature: int) -> Nodes:
        """The codes of one feature."""
        codes = np.full(self.size, self.entries.default[feature])
        own = slice(int(self.entries.starts[feature]), int(self.entries.starts[feature + 1]))
        codes[self.entries.row[own]] = self.entries.code[own]
        return codes

    def take(self, rows: Index) -> Sparse:
        """These rows, which have to be in increasing order."""
        mask = np.zeros(self.size, dtype=np.bool_)
        mask[rows] = True
        return Sparse(self.candidates, self.entries.take(mask), len(rows))

    def bin_sums(
        self, features: tuple[int, ...], node: Nodes, nodes: int, stats: Table, parents: Floats | None
    ) -> Floats:
        """The bin of absent values is the total less the rest, which exact sums license.

        Shape (statistic, node, bin).
        """
        if self._sums is None:
            self._sums = SparseSums.prepare(self.entries, self.candidates.offsets)
        table = self._sums.sums(node, nodes, stats, parents)
        if features == tuple(range(len(self.candidates.bins))):
            return table
        offsets = self.candidates.offsets
        return np.concatenate([table[..., offsets[f] : offsets[f + 1]] for f in features], axis=-1)

    def route(self, node: Nodes, splits: Floats) -> Nodes:
        """One level down. node, result: shape (rows,)."""
        feature, bound = self.candidates.split_codes(splits)
        missing = splits[:, 2] > 0 if splits.shape[1] > 2 else np.zeros(len(splits), dtype=np.bool_)
        default = self.entries.default[feature]
        child = np.asarray(2 * node + np.where(default == 0, missing, default > bound)[node])
        for k, f in enumerate(feature):
            own = slice(int(self.entries.starts[f]), int(self.entries.starts[f + 1]))
            here = np.flatnonzero(node[self.entries.row[own]] == k)
            code = self.entries.code[own][here]
            child[self.entries.row[own][here]] = 2 * k + np.where(code == 0, missing[k], code > bound[k])
        return child

    def leaf_index(self, splits: Floats) -> Nodes:
        """Level by level. Shape (rows,)."""
        return level_by_level(self, splits)


def coded(records: AnyRecords, candidates: Candidates, before: Codes | None = None) -> Codes:
    """The records under candidates; before: their codes under others. Shape (rows, features)."""
    if isinstance(records, SparseRecords):
        return Sparse(candidates, Entries.of(records.x, candidates), records.size)
    if isinstance(before, Dense) and before.size == records.size:
        return before.again(records.x, candidates)
    return Dense.of(records.x, candidates)


def missing_right(splits: Floats) -> NDArray[np.bool_]:
    """Which splits send missing values right. splits: shape (count, 2 or 3); result: shape (count,)."""
    return np.asarray(splits[:, 2] > 0) if splits.shape[1] > 2 else np.zeros(len(splits), dtype=np.bool_)


def level_by_level(codes: Codes, splits: Floats) -> Nodes:
    """The leaf of every row by one `route` a level. splits: shape (2^depth - 1, 2 or 3); result: shape (rows,)."""
    node: Nodes = np.zeros(codes.size, dtype=np.int64)
    for level in range((len(splits) + 1).bit_length() - 1):
        node = codes.route(node, splits[2**level - 1 : 2 ** (level + 1) - 1])
    return node


def leaf_of(x: Floats, splits: Floats, categorical: Sequence[bool]) -> Nodes:
    """The leaf of every row of x, shape (rows, features), by values, as `trees.Tree.leaf_index` has it."""
    right = [
        _answer(x[:, int(f)], value, categorical[int(f)], bool(missing))
        for (f, value), missing in zip(splits[:, :2], missing_right(splits), strict=True)
    ]
    leaf = np.zeros(len(x), dtype=np.min_scalar_type(len(splits)))
    turns: list[NDArray[np.bool_]] = []
    start = 0
    while start < len(right):  # all nodes were asked about all rows: keep the answers on each row's path
        here = right[start : 2 * start + 1]
        for turn in reversed(turns):  # pairs of siblings first: their parent's turn decides between them
            here = [left ^ (turn & (left ^ other)) for left, other in zip(here[::2], here[1::2], strict=True)]
        turns.append(here[0])
        leaf += leaf + here[0]
        start = 2 * start + 1
    return leaf


def _answer(column: Floats, value: float, categorical: bool, missing: bool) -> NDArray[np.bool_]:
    """Whether each value goes right; a missing one (NaN) goes left unless `missing`."""
    right = column == value if categorical else column >= value
    return right | np.isnan(column) if missing else right
