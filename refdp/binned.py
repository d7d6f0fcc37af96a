"""Records seen through split candidates. The only query is a sum over records of per-record statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.data import kernels
from refdp.data.candidates import Candidates
from refdp.data.records import Floats
from refdp.data.trees import Tree

Mask = NDArray[np.bool_]
Nodes = NDArray[Any]


@dataclass(frozen=True)
class Binned:
    """Codes of the records, shape (features, rows), under public candidates. Holds records: never part of a model."""

    candidates: Candidates
    codes: NDArray[Any]
    sums: kernels.BinSums

    @classmethod
    def of(cls, x: Floats, candidates: Candidates) -> Binned:
        """Encode clamped features of shape (rows, features)."""
        return cls._prepared(candidates, candidates.encode(x))

    @classmethod
    def _prepared(cls, candidates: Candidates, codes: NDArray[Any]) -> Binned:
        return cls(candidates, codes, kernels.BinSums.prepare(codes, candidates.offsets))

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    def take(self, rows: Mask) -> Binned:
        """The rows of a mask; the same object if that is all of them."""
        if rows.all():
            return self
        return self._prepared(self.candidates, self.codes.take(np.flatnonzero(rows), axis=1))

    def root(self) -> Nodes:
        """Every row at the root, node 0."""
        return np.zeros(self.size, dtype=np.int64)

    def split_sums(
        self, node: Nodes, nodes: int, stats: Sequence[Floats | None], parents: Floats | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """Sums to the left and right of every candidate, each (statistic, node, candidate), and the table of bins.

        stats: per-record statistics, float64 multiples of the grid, or None for a count.
        parents: the table one level up.
        """
        table = self.sums.sums(node, nodes, stats, parents)
        right = self.candidates.right_sums(table)
        first = slice(int(self.candidates.offsets[0]), int(self.candidates.offsets[1]))
        return table[..., first].sum(axis=-1, keepdims=True) - right, right, table

    def leaf_sums(self, node: Nodes, nodes: int, stats: Sequence[Floats | None]) -> Floats:
        """Sums of the statistics (None: count) over the rows of every node, shape (statistic, node)."""
        return kernels.leaf_sums(node, nodes, stats)

    def route(self, node: Nodes, chosen: Floats) -> Nodes:
        """One level down by the chosen (feature, value) of every node; a third column is a default direction."""
        feature, code = self.candidates.split_codes(chosen)
        child = kernels.route(self.codes, node, feature, code, self.candidates.categorical[feature])
        for k in np.flatnonzero(self._missing_right(chosen)):
            child[(self.codes[feature[k]] == 0) & (node == k)] = 2 * k + 1
        return child

    def leaf_index(self, tree: Tree) -> Nodes:
        """The leaf of every row."""
        depth = len(tree.leaves).bit_length() - 1
        if self._missing_right(tree.splits).any():
            node = self.root()
            for level in range(depth):
                node = self.route(node, tree.splits[2**level - 1 : 2 ** (level + 1) - 1])
            return node
        feature, code = self.candidates.split_codes(tree.splits)
        return kernels.leaf_index(self.codes, feature, code, self.candidates.categorical[feature], depth)

    def _missing_right(self, chosen: Floats) -> Mask:
        """Which splits send missing values right, and have any."""
        if chosen.shape[1] == 2:
            return np.zeros(len(chosen), dtype=np.bool_)
        return np.asarray((chosen[:, 2] > 0) & self._has_missing[chosen[:, 0].astype(np.intp)])

    @cached_property
    def _has_missing(self) -> Mask:
        """Which features have missing values; it saves time and decides nothing."""
        return np.asarray((self.codes == 0).any(axis=1))
