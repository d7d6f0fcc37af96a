"""Which split candidates can still separate records on the path to a node, and public random choices among them.

A candidate that an earlier split on the path has settled sends every record of the node the same way. What is settled
follows from the splits alone, so that leaving such candidates out costs no privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from refdp.candidates import Candidates
from refdp.records import Floats

Positions = NDArray[np.intp]
"""Rows of `Candidates.values`."""


@dataclass(frozen=True)
class Reach:
    """The nodes of one level. open: shape (node, candidate), what may still be chosen; features: those of the tree."""

    candidates: Candidates
    features: NDArray[np.intp]
    open: NDArray[np.bool_]

    @classmethod
    def root(cls, candidates: Candidates, features: Sequence[int]) -> Reach:
        """Level 0: every candidate of the given features.

        A tree of features without any candidate (equal bounds) is given the first feature that has some.
        """
        chosen = np.array([f for f in features if len(candidates.thresholds[f])], dtype=np.intp)
        chosen = chosen if len(chosen) else candidates.feature[:1]
        return cls(candidates, chosen, np.isin(candidates.feature, chosen)[None])

    def columns(self, feature: int) -> slice:
        """The positions of a feature's candidates."""
        starts = self.candidates.starts
        return slice(int(starts[feature]), int(starts[feature + 1]))

    def drawn(self, uniform: Floats) -> Positions:
        """One candidate a node: a feature, then a candidate, each uniform among what is open.

        uniform: public draws from [0, 1), shape (node, 2). Where nothing is open all candidates of the tree's features
        are taken to be: one child of such a node is empty, whatever is chosen.
        """
        counts = np.stack([self.open[:, self.columns(f)].sum(axis=1) for f in self.features], axis=1)
        dead = ~np.asarray(counts.any(axis=1))
        feature = self.features[_nth_true((counts > 0) | dead[:, None], uniform[:, 0])]
        own = self.candidates.feature == feature[:, None]
        mask: NDArray[np.bool_] = (self.open | dead[:, None]) & own
        return _nth_true(mask, uniform[:, 1])

    def drawn_of(self, feature: int, uniform: Floats) -> Positions:
        """One candidate of this feature a node, uniform among the open ones, or among all of them if none is open.

        A feature without any candidate gives the first one of all.
        """
        columns = self.columns(feature)
        if columns.start == columns.stop:
            return np.zeros(len(self.open), dtype=np.intp)
        mask = self.open[:, columns]
        dead = ~np.asarray(mask.any(axis=1))
        return np.asarray(columns.start + _nth_true(mask | dead[:, None], uniform))

    def split(self, chosen: Positions) -> Reach:
        """The next level, when node k is split by candidate chosen[k]; its children are 2 k (left) and 2 k + 1."""
        candidates = self.candidates
        position = np.arange(self.open.shape[1])
        same = candidates.feature == candidates.feature[chosen][:, None]
        ordered = ~candidates.categorical[candidates.feature[chosen]][:, None]
        left = np.where(ordered, position < chosen[:, None], position != chosen[:, None])
        right = ordered & (position > chosen[:, None])
        children = np.stack([self.open & (~same | left), self.open & (~same | right)], axis=1)
        return Reach(candidates, self.features, children.reshape(-1, self.open.shape[1]))


def _nth_true(mask: NDArray[np.bool_], uniform: Floats) -> Positions:
    """For each row the position of its floor(u * count)-th true entry; every row has one."""
    rank = np.cumsum(mask, axis=1)
    wanted = np.floor(uniform * rank[:, -1]).astype(np.intp) + 1
    return np.asarray(np.argmax(rank >= wanted[:, None], axis=1))
