"""Feasible splits: which candidates can still separate records on the path to a node, public random choices among
them, and choices by released sums.

A candidate that an earlier split on the path has settled sends every record of the node the same way. What is settled
follows from the splits alone, so that leaving such candidates out costs no privacy. Everything here is post-processing
of public draws and released sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from refdp.data.candidates import Candidates
from refdp.data.records import Floats
from refdp.errors import InvalidParameter

Positions = NDArray[np.intp]
"""Rows of `Candidates.values`."""
Score = Callable[[Floats, Floats], Floats]
"""Score of splits from sums of (g, h) to the left and to the right, each (2, node, option); shape (node, option)."""


@dataclass(frozen=True)
class Feasible:
    """The nodes of one level. open: shape (node, candidate), what may still be chosen.

    features: those of the tree that have candidates.
    """

    candidates: Candidates
    features: NDArray[np.intp]
    open: NDArray[np.bool_]

    @classmethod
    def root(cls, candidates: Candidates, features: Sequence[int]) -> Feasible:
        """Level 0: every candidate of the given features.

        A tree of features without any candidate (equal bounds) is given the first feature that has some.
        """
        chosen = np.array([f for f in features if len(candidates.thresholds[f])], dtype=np.intp)
        chosen = chosen if len(chosen) else candidates.feature[:1]
        offered = np.zeros(len(candidates.thresholds), dtype=np.bool_)
        offered[chosen] = True
        return cls(candidates, chosen, offered[candidates.feature][None])

    def columns(self, feature: int) -> slice:
        """The positions of a feature's candidates."""
        starts = self.candidates.starts
        return slice(int(starts[feature]), int(starts[feature + 1]))

    def drawn(self, uniform: Floats) -> Positions:
        """One candidate a node: a feature, then a candidate, each uniform among what is open.

        uniform: public draws from [0, 1), shape (node, 2). Where nothing is open all candidates of the tree's features
        are taken to be: one child of such a node is empty, whatever is chosen.
        """
        before = np.concatenate([np.zeros((len(self.open), 1), dtype=np.int64), np.cumsum(self.open, axis=1)], axis=1)
        counts = before[:, self.candidates.starts[self.features + 1]] - before[:, self.candidates.starts[self.features]]
        dead = ~np.asarray(counts.any(axis=1))
        feature = self.features[_nth_true((counts > 0) | dead[:, None], uniform[:, 0])]
        own = self.candidates.feature == feature[:, None]
        mask: NDArray[np.bool_] = (self.open | dead[:, None]) & own
        return _nth_true(mask, uniform[:, 1])

    def random_tree(self, uniform: Floats) -> Floats:
        """The splits of a full tree below these nodes' root, shape (2^depth - 1, 2), each candidate `drawn`.

        uniform: public draws from [0, 1), shape (2^depth - 1, 2), level by level.
        """
        nodes, levels = self, list[Positions]()
        while sum(map(len, levels)) < len(uniform):
            first = sum(map(len, levels))
            nodes = nodes.split(levels[-1]) if levels else nodes
            levels.append(nodes.drawn(uniform[first : 2 * first + 1]))
        return self.candidates.values[np.concatenate(levels)]

    def drawn_of(self, feature: int, uniform: Floats) -> Positions:
        """One candidate of this feature a node, uniform among the open ones, or among all of them if none is open.

        A feature without any candidate gives the first one of all. uniform, result: shape (node,).
        """
        columns = self.columns(feature)
        if columns.start == columns.stop:
            return np.zeros(len(self.open), dtype=np.intp)
        mask = self.open[:, columns]
        dead = ~np.asarray(mask.any(axis=1))
        return np.asarray(columns.start + _nth_true(mask | dead[:, None], uniform))

    def split(self, chosen: Positions) -> Feasible:
        """The next level, when node k is split by candidate chosen[k]; its children are 2 k (left) and 2 k + 1.

        chosen: shape (node,).
        """
        candidates = self.candidates
        position = np.arange(self.open.shape[1])
        same = candidates.feature == candidates.feature[chosen][:, None]
        ordered = ~candidates.categorical[candidates.feature[chosen]][:, None]
        left = np.where(ordered, position < chosen[:, None], position != chosen[:, None])
        right = ordered & (position > chosen[:, None])
        children = np.stack([self.open & (~same | left), self.open & (~same | right)], axis=1)
        return Feasible(candidates, self.features, children.reshape(-1, self.open.shape[1]))


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

    def best(self, score: Score, feasible: Feasible) -> tuple[Positions, Floats]:
        """The option of the largest score of every node, and that score; -inf where no option separates anything.

        Both of shape (node,).
        """
        open_ones = np.take_along_axis(feasible.open, self.positions, axis=1)
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


def _nth_true(mask: NDArray[np.bool_], uniform: Floats) -> Positions:
    """For each row the position of its floor(u * count)-th true entry; every row has one.

    Errors: InvalidParameter for anything but one draw a row.
    """
    rank = np.cumsum(mask, axis=1)
    wanted = np.floor(uniform * rank[:, -1]).astype(np.intp) + 1
    found = np.asarray(np.argmax(rank >= wanted[:, None], axis=1))
    if found.ndim != 1:
        raise InvalidParameter(f"draws of shape {np.shape(uniform)}: one a node is meant")
    return found
