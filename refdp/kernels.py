"""Array kernels: sums of per-record statistics and row routing. No noise, no policy, no private decision.

Layout. `codes` has shape (feature, row), one unsigned integer a cell: 0 is a missing value, an ordered feature has
1 + #{thresholds <= x}, a categorical one 1 + index of the category. `bins[f]` is the number of codes of feature f and
`offsets = bin_offsets(bins)` says where its bins start on the joined bin axis.

Exactness. A statistic on the grid of `GRID`, with (rows x largest magnitude) < 2**29, has float64 sums without any
rounding. They do not depend on the order of rows, on chunks, or on whether a node is summed or is its parent minus its
sibling. That is what licenses every shortcut here: they change the time, never a bit of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.unsignedinteger[Any]]
Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]
Statistics = Sequence[Floats | None]

GRID = 2.0**-24  # sums of multiples of it are exact in float64 up to 2**53 of them
_CHUNK = 1 << 16  # rows handled at once, so that temporaries stay in the cache
_JOINT_CELLS = 1 << 11  # a joint histogram of a group of features stays this small, so that it stays in the cache


def bin_offsets(bins: Sequence[int]) -> Integers:
    """Where each feature's bins start on the joined bin axis; the last entry is the total."""
    return np.concatenate([[0], np.cumsum(np.asarray(bins, dtype=np.intp))]).astype(np.intp)


def encode_ordered(column: Floats, thresholds: Floats) -> Codes:
    """1 + #{thresholds <= x} of each value x, and 0 for NaN; thresholds ascending, at most 65534."""
    codes = np.empty(len(column), dtype=np.uint8 if len(thresholds) <= 254 else np.uint16)
    for rows in _chunks(len(column)):
        values = column[rows]
        codes[rows] = np.where(np.isnan(values), 0, 1 + np.searchsorted(thresholds, values, side="right"))
    return codes


def leaf_sums(node: Integers, nodes: int, stats: Statistics) -> Floats:
    """Sum of each statistic (None counts 1) over the rows of each node; shape (statistic, node)."""
    total = np.zeros((len(stats), nodes))
    for rows in _chunks(len(node)):
        slot = np.maximum(node[rows], -1) + 1  # rows outside go to slot 0
        for s, stat in enumerate(stats):
            weights = None if stat is None else stat[rows]
            total[s] += np.bincount(slot, weights, minlength=nodes + 1)[1:]
    return total


def route(codes: Codes, node: Integers, feature: Integers, code: Integers, categorical: Flags) -> Integers:
    """The node of each row one level further down; feature, code and categorical have one entry for each node.

    The right child 2k + 1 takes rows of node k whose code of feature[k] is > code[k] (== code[k] if categorical[k]);
    all others, and always missing values, go left to 2k. Negative nodes stay as they are.
    """
    child = node.copy()
    for rows in _chunks(codes.shape[1]):
        inside = np.flatnonzero(node[rows] >= 0)
        parent = node[rows][inside]
        seen = codes[feature[parent], rows.start + inside]
        bound = code[parent]
        right = np.where(categorical[parent], (seen == bound) & (seen > 0), seen > bound)
        child[rows.start + inside] = 2 * parent + right
    return child


def leaf_index(codes: Codes, feature: Integers, code: Integers, categorical: Flags, depth: int) -> Integers:
    """The leaf, 0..2**depth - 1, of each row in a full tree whose inner nodes are listed level by level."""
    leaf: Integers = np.zeros(codes.shape[1], dtype=np.int32)
    for level in range(depth):
        nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
        leaf = route(codes, leaf, feature[nodes], code[nodes], categorical[nodes])
    return leaf


def bin_sums(
    codes: Codes, offsets: Integers, node: Integers, nodes: int, stats: Statistics, parents: Floats | None = None
) -> Floats:
    """Sum of each statistic over the rows of each node and feature bin; shape (statistic, node, joined bin).

    A statistic is one float64 a row, None counts 1; a negative node takes a row out. `parents`, the sums of the same
    statistics one level up (where children 2k and 2k + 1 hold exactly the rows of k), saves half of the work.
    """
    return BinSums.prepare(codes, offsets)(node, nodes, stats, parents)


@dataclass(frozen=True)
class BinSums:
    """`bin_sums` of one code matrix, prepared for many calls."""

    codes: Codes
    offsets: Integers

    @classmethod
    def prepare(cls, codes: Codes, offsets: Integers) -> BinSums:
        """Join features with few bins into groups, whose joint histogram is summed once for all of them."""
        return cls(codes, offsets)

    def __call__(self, node: Integers, nodes: int, stats: Statistics, parents: Floats | None = None) -> Floats:
        """As `bin_sums`."""
        total = np.zeros((len(stats), nodes, int(self.offsets[-1])))
        for f, column in enumerate(self.codes):
            first, last = int(self.offsets[f]), int(self.offsets[f + 1])
            for rows in _chunks(len(node)):
                inside = np.flatnonzero(node[rows] >= 0)
                cell = node[rows][inside] * (last - first) + column[rows][inside]
                for s, stat in enumerate(stats):
                    weights = None if stat is None else stat[rows][inside]
                    sums = np.bincount(cell, weights, minlength=nodes * (last - first))
                    total[s, :, first:last] += sums.reshape(nodes, last - first)
        return total


def _chunks(rows: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, rows)) for start in range(0, rows, _CHUNK))
