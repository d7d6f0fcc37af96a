"""Records that take part in boosting, seen only through sums.

A `Population` answers sum queries about the records' statistics (g, h) and keeps track of their scores and of where
they are in the current trees. Everything that it is told is public: candidates, splits, released leaf values. What it
answers is exact and private: it goes through the curator's door. `Holding` is a population in one place, that is
everybody's records in the central model or one participant's in the federated one (refdp/federation.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from refdp import kernels
from refdp.candidates import Candidates
from refdp.reach import Positions
from refdp.records import Floats, Records

Codes = NDArray[Any]
Leaves = NDArray[Any]
Statistics = Callable[[Floats, Floats], tuple[Floats, Floats | None]]
"""(g, h) of every record from its score and label, on the public grid; h None where it is 1 for every record."""


class Population(Protocol):
    """What training asks of the records. Sums are float64 multiples of the grid, exact."""

    def begin(self, label: Callable[[Floats], Floats], statistics: Statistics, hessian: Statistics) -> None:
        """A new score: labels from the target column, scores 0. hessian: what `hessian_sums` are sums of (its h)."""

    def encode(self, candidates: Candidates) -> None:
        """Use these candidates from now on. Trees placed before keep their leaves."""

    def refresh(self) -> None:
        """(g, h) at the present scores."""

    def root(self, features: Sequence[int]) -> None:
        """Every record at the root of a new tree on these features."""

    def descend(self, chosen: Positions) -> None:
        """One level down by the chosen candidate of each node."""

    def place(self, levels: Sequence[Positions]) -> None:
        """Add a tree to the batch, given by its splits, one array a level: every record goes to its leaf."""

    def bin_sums(self, nodes: int) -> list[Floats]:
        """For each feature of the tree the sums of (g, h) in every bin of every node, shape (2, node, bin)."""

    def side_sums(self, chosen: Sequence[Positions]) -> list[Floats]:
        """For each choice of one candidate a node the sums of (g, h) to its left and right, shape (2, node, 2)."""

    def hessian_sums(self, features: Sequence[int]) -> list[Floats]:
        """For each of these features the sums of h in every bin, shape (bin,)."""

    def leaf_sums(self, leaves: int) -> Floats:
        """Sums of (g, h) in the leaves of every tree of the batch, shape (tree, 2, leaf)."""

    def leaf_vectors(self, tree: int, leaves: int) -> Floats:
        """Every record's own (g, h) in its leaf's entry, 0 elsewhere, shape (record, 2, leaf)."""

    def leaf_of(self, tree: int) -> Leaves:
        """Every record's leaf in a tree of the batch: not a sum, for the local model as it is printed."""

    def advance(self, values: Floats, weight: float) -> None:
        """Add weight times the leaf values (tree, leaf) of the batch to the scores, and start a new batch."""


@dataclass
class Holding:
    """Records in one place."""

    records: Records
    _label: Floats = field(init=False)
    _score: Floats = field(init=False)
    _statistics: Statistics = field(init=False)
    _hessian: Statistics = field(init=False)
    _g: Floats = field(init=False)
    _h: Floats | None = field(init=False)
    _candidates: Candidates | None = field(init=False, default=None)
    _codes: Codes = field(init=False)
    _sums: dict[tuple[int, ...], kernels.BinSums] = field(init=False, default_factory=dict)
    _features: tuple[int, ...] = field(init=False, default=())
    _node: NDArray[Any] = field(init=False)
    _table: Floats | None = field(init=False, default=None)
    _parents: Floats | None = field(init=False, default=None)
    _batch: list[Leaves] = field(init=False, default_factory=list)

    def begin(self, label: Callable[[Floats], Floats], statistics: Statistics, hessian: Statistics) -> None:
        """As `Population.begin`."""
        self._label = label(self.records.y)
        self._score = np.zeros(self.records.size)
        self._statistics, self._hessian = statistics, hessian
        self._batch = []

    def encode(self, candidates: Candidates) -> None:
        """As `Population.encode`; features whose thresholds stay are not encoded again."""
        before, self._candidates = self._candidates, candidates
        if before is None or _code_type(before) != _code_type(candidates):
            self._codes = candidates.encode(self.records.x)
        else:
            for f, (old, new) in enumerate(zip(before.thresholds, candidates.thresholds, strict=True)):
                if old is not new:
                    self._codes[f] = candidates.encode_feature(f, self.records.x[:, f])
        if before is not candidates:
            self._sums = {}
            self._forget()

    def refresh(self) -> None:
        """As `Population.refresh`."""
        with np.errstate(over="ignore"):  # exp(-s) = inf gives the limit, and a warning would tell of a record's score
            self._g, self._h = self._statistics(self._score, self._label)
        self._forget()

    def root(self, features: Sequence[int]) -> None:
        """As `Population.root`."""
        self._features = tuple(features)
        self._forget()
        self._node = np.zeros(self.records.size, dtype=np.int16)  # at most 2**12 nodes (Params.depth)

    def descend(self, chosen: Positions) -> None:
        """As `Population.descend`."""
        feature, code, categorical = self._public().coded(chosen)
        self._node = kernels.route(self._codes, self._node, feature, code, categorical)
        self._table, self._parents = None, self._table  # None where the level above was not asked

    def place(self, levels: Sequence[Positions]) -> None:
        """As `Population.place`."""
        feature, code, categorical = self._public().coded(np.concatenate(levels))
        leaf = kernels.leaf_index(self._codes, feature, code, categorical, len(levels))
        self._batch.append(leaf.astype(np.min_scalar_type(2 ** len(levels) - 1)))

    def bin_sums(self, nodes: int) -> list[Floats]:
        """As `Population.bin_sums`; with the level above at hand only the smaller of two siblings is summed."""
        if self._table is None:
            self._table = self._prepared(self._features).sums(self._node, nodes, (self._g, self._h), self._parents)
            self._table.flags.writeable = False  # the level below is taken from it
        edges = np.cumsum([self._public().bins[f] for f in self._features])[:-1]
        return np.split(self._table, edges, axis=-1)

    def side_sums(self, chosen: Sequence[Positions]) -> list[Floats]:
        """As `Population.side_sums`."""
        return [self._sides(positions) for positions in chosen]

    def _sides(self, chosen: Positions) -> Floats:
        feature, code, categorical = self._public().coded(chosen)
        child = kernels.route(self._codes, self._node, feature, code, categorical)
        return kernels.leaf_sums(child, 2 * len(chosen), (self._g, self._h)).reshape(2, len(chosen), 2)

    def hessian_sums(self, features: Sequence[int]) -> list[Floats]:
        """As `Population.hessian_sums`."""
        with np.errstate(over="ignore"):
            h = self._hessian(self._score, self._label)[1]
        bins = self._public().bins
        return [kernels.leaf_sums(self._codes[f], int(bins[f]), (h,))[0] for f in features]

    def leaf_sums(self, leaves: int) -> Floats:
        """As `Population.leaf_sums`."""
        return np.stack([kernels.leaf_sums(leaf, leaves, (self._g, self._h)) for leaf in self._batch])

    def leaf_vectors(self, tree: int, leaves: int) -> Floats:
        """As `Population.leaf_vectors`."""
        vectors = np.zeros((self.records.size, 2, leaves))
        rows = np.arange(self.records.size)
        vectors[rows, 0, self._batch[tree]] = self._g
        vectors[rows, 1, self._batch[tree]] = 1.0 if self._h is None else self._h
        return vectors

    def leaf_of(self, tree: int) -> Leaves:
        """As `Population.leaf_of`."""
        return self._batch[tree]

    def advance(self, values: Floats, weight: float) -> None:
        """As `Population.advance`."""
        for leaf, value in zip(self._batch, values, strict=True):
            self._score += (weight * value).take(leaf)
        self._batch = []

    def _forget(self) -> None:
        """Tables of bins are of one tree, one level, one (g, h) and one set of candidates."""
        self._table = self._parents = None

    def _public(self) -> Candidates:
        assert self._candidates is not None, "encode comes first"
        return self._candidates

    def _prepared(self, features: tuple[int, ...]) -> kernels.BinSums:
        if features not in self._sums:
            offsets = kernels.bin_offsets([int(self._public().bins[f]) for f in features])
            whole = len(features) == len(self._codes) and list(features) == sorted(features)
            codes = self._codes if whole else self._codes[list(features)]
            self._sums = {features: kernels.BinSums.prepare(codes, offsets)}  # of the latest features only
        return self._sums[features]


def _code_type(candidates: Candidates) -> bool:
    """Whether codes fit eight bits."""
    return int(candidates.bins.max()) <= 256
