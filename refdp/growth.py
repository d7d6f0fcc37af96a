"""Splits chosen by released sums: what the candidates of a level offer, and what is below a split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from refdp.candidates import Candidates
from refdp.reach import Positions, Reach
from refdp.records import Floats

Score = Callable[[Floats, Floats], Floats]
"""Score of splits from sums of (g, h) to the left and to the right, each (2, node, option); shape (node, option)."""


@dataclass(frozen=True)
class Options:
    """Released sums to both sides of the candidates that each node may be split by.

    positions: which candidates, shape (node, option). left, right: sums of (g, h), shape (2, node, option).
    """

    positions: Positions
    left: Floats
    right: Floats

    @classmethod
    def of_bins(cls, candidates: Candidates, features: Sequence[int], tables: Sequence[Floats], nodes: int) -> Options:
        """Every candidate of these features, from sums in bins, shape (2, node, bin) each.

        Features without any candidate (equal bounds) offer the first of all, with everything to its left.
        """
        if not any(len(candidates.thresholds[f]) for f in features):
            total = np.mean([table.sum(axis=-1, keepdims=True) for table in tables], axis=0)
            return cls(np.zeros((nodes, 1), dtype=np.intp), total, np.zeros_like(total))
        pairs = _all_sides(tables, candidates.categorical[list(features)].tolist())
        columns = [np.arange(candidates.starts[f], candidates.starts[f + 1]) for f in features]
        positions = np.broadcast_to(np.concatenate(columns), (nodes, sum(map(len, columns))))
        left, right = (np.concatenate([pair[side] for pair in pairs], axis=-1) for side in (0, 1))
        return cls(positions, left, right)

    @classmethod
    def of_sides(cls, positions: Sequence[Positions], sums: Sequence[Floats]) -> Options:
        """One candidate a node and feature, from sums to its left and right, shape (2, node, 2) each."""
        joint = np.stack(sums, axis=2)
        return cls(np.stack(positions, axis=1), joint[..., 0], joint[..., 1])

    def best(self, score: Score, reach: Reach) -> tuple[Positions, Floats]:
        """The option of the largest score of every node, and that score; -inf where no option separates anything."""
        open_ones = np.take_along_axis(reach.open, self.positions, axis=1)
        scores = np.where(open_ones, score(self.left, self.right), -np.inf)
        chosen = np.argmax(scores, axis=1)
        return chosen, np.take_along_axis(scores, chosen[:, None], axis=1)[:, 0]

    def totals(self) -> Floats:
        """Each node's own sums, shape (2, node): the mean of what its options add up to."""
        return np.asarray((self.left + self.right).mean(axis=-1))

    def chosen(self, option: Positions) -> tuple[Positions, Floats]:
        """The candidate of each node's chosen option, and the sums to its sides, shape (2, node, 2)."""
        node = np.arange(len(option))
        both = np.stack([self.left[:, node, option], self.right[:, node, option]], axis=-1)
        return self.positions[node, option], both


def _all_sides(tables: Sequence[Floats], categorical: Sequence[bool]) -> list[tuple[Floats, Floats]]:
    """`sides` of every feature; at once where all are ordered and have as many bins."""
    if any(categorical) or len({table.shape for table in tables}) > 1:
        return [sides(table, kind) for table, kind in zip(tables, categorical, strict=True)]
    left, right = sides(np.stack(tables, axis=2), categorical=False)
    return [(left.reshape(*left.shape[:2], -1), right.reshape(*right.shape[:2], -1))]


def sides(table: Floats, categorical: bool) -> tuple[Floats, Floats]:
    """Sums to the left and right of every candidate of one feature, from its bins, shape (..., bin)."""
    right = table[..., 1:] if categorical else np.cumsum(table[..., ::-1], axis=-1)[..., ::-1][..., 2:]
    return table.sum(axis=-1, keepdims=True) - right, right


def below(table: Floats, candidates: Candidates, chosen: Positions) -> Floats:
    """Bins of both children of every node, for a tree of one feature: each bin goes to one side as a whole.

    table: shape (2, node, bin); the result has twice the nodes.
    """
    _, code, categorical = candidates.coded(chosen)
    bins = np.arange(table.shape[-1])
    right = np.where(categorical[:, None], bins == code[:, None], bins > code[:, None])
    children = np.stack([table * ~right, table * right], axis=2)
    return children.reshape(2, -1, table.shape[-1])
