"""Quantiles of weighted bins: from noisy weights, or by halving intervals with noisy choices (Kaplan et al. 2022).

Weighted quantile summaries, their merge and prune: Chen and Guestrin 2016, appendix. Everything here but
`median_utilities` is post-processing of released values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from refdp.data.numbers import Number, absolute
from refdp.data.records import Floats
from refdp.privacy.events import Relation, records_changed

Positions = NDArray[np.intp]
"""Bins or thresholds, by their number."""


def merged_error(first: Number, first_weight: Number, second: Number, second_weight: Number) -> Number:
    """(ε_1 w_1 + ε_2 w_2) / (w_1 + w_2): relative rank error after a merge, at most the larger of the two."""
    return (first * first_weight + second * second_weight) / (first_weight + second_weight)


def pruned_error(error: Number, size: Number) -> Number:
    """ε + 1/b: relative rank error after pruning a summary to b + 1 entries   (Chen and Guestrin 2016, appendix)."""
    return error + 1 / size


@dataclass(frozen=True)
class Summary:
    """A weighted quantile summary: some values of a weighted data set, with bounds of their ranks.

    value: increasing. below: a lower bound of the weight of all smaller values (r-). through: an upper bound of the
    weight of all values up to and including it (r+). weight: a lower bound of its own. total: of the data set.
    """

    value: Floats
    below: Floats
    through: Floats
    weight: Floats
    total: float

    @classmethod
    def exact(cls, value: Floats, weight: Floats) -> Summary:
        """Of distinct increasing values with weights >= 0, without error; weightless values are left out.

        value, weight: shape (values,).
        """
        kept = weight > 0
        through = np.cumsum(weight[kept])
        return cls(
            value[kept], through - weight[kept], through, weight[kept], float(through[-1]) if len(through) else 0
        )

    @property
    def size(self) -> int:
        """How many values it holds."""
        return len(self.value)

    @property
    def error(self) -> float:
        """The least e such that ranks are known within e times the total: the width of any value's rank, or the weight
        that can lie between two neighbours."""
        inside = self.through - self.below - self.weight
        between = (self.through - self.weight)[1:] - (self.below + self.weight)[:-1]
        widest = max(inside.max(initial=0.0), between.max(initial=0.0))
        return float(widest / self.total) if self.total else 0.0

    def merged(self, other: Summary) -> Summary:
        """A summary of both data sets; its error is at most `merged_error` of the two."""
        value = np.union1d(self.value, other.value)
        one, two = self._extended(value), other._extended(value)
        below, through, weight = (a + b for a, b in zip(one, two, strict=True))
        return Summary(value, below, through, weight, self.total + other.total)

    def _extended(self, value: Floats) -> tuple[Floats, Floats, Floats]:
        """Bounds of the ranks of any values, those of the summary among them."""
        place = np.searchsorted(self.value, value)
        held = np.isin(value, self.value)
        last = np.append(0.0, self.below + self.weight)[place]
        following = np.append(self.through - self.weight, self.total)[place]
        index = np.minimum(place, max(self.size - 1, 0))
        if not self.size:
            return np.zeros(len(value)), np.zeros(len(value)), np.zeros(len(value))
        return (
            np.where(held, self.below[index], last),
            np.where(held, self.through[index], following),
            np.where(held, self.weight[index], 0.0),
        )

    def query(self, rank: Floats) -> Positions:
        """Which entries answer queries for these ranks, 0 to the total, within half the error (function g, ibid.).

        rank, result: shape (ranks,).
        """
        middle = (self.below + self.through) / 2
        index = np.maximum(middle.searchsorted(rank, side="right") - 1, 0)
        after = np.minimum(index + 1, self.size - 1)
        nearer = 2 * rank >= (self.below + self.weight)[index] + (self.through - self.weight)[after]
        inside = (rank >= middle[0]) & (rank < middle[-1])
        return np.asarray(np.where(inside & nearer, after, index), dtype=np.intp)

    def pruned(self, size: int) -> Summary:
        """At most size + 1 entries: the answers for the ranks 0, 1/size, ..., 1; the error grows by 1/size at most."""
        if self.size <= size + 1:
            return self
        answers = self.query(self.total * np.arange(size + 1) / size)
        kept = answers[np.append(True, answers[1:] != answers[:-1])]  # they never fall
        return Summary(self.value[kept], self.below[kept], self.through[kept], self.weight[kept], self.total)


def quantile_edges(weights: Floats, count: int) -> Positions:
    """At most `count` lower edges of bins, 1 to bins - 1, that part the weights evenly; at least one.

    weights: noisy weights of the bins of one feature, shape (bin,), which can be negative; without any positive one all
    count alike.
    """
    kept = np.maximum(weights, 0.0)
    return parted(kept, count) if kept.any() else evenly(len(weights), count)


def parted(weights: Floats, count: int) -> Positions:
    """`quantile_edges` of weights >= 0 of the bins of one feature, shape (bin,), not all of them 0."""
    summary = Summary.exact(np.arange(len(weights), dtype=np.float64), weights)
    edges = summary.pruned(count).value[1:].astype(np.intp)  # nothing lies below the first
    return edges if len(edges) else np.array([len(weights) // 2], dtype=np.intp)


@lru_cache(maxsize=64)
def evenly(bins: int, count: int) -> Positions:
    """`parted` for bins that all count alike: of every feature when a plan is read. Shape (edge,), read-only."""
    edges = parted(np.ones(bins), count)
    edges.setflags(write=False)
    return edges


# --- Quantiles by the exponential mechanism ---------------------------------------------------------------------------


def median_utility(left_weight: Number, right_weight: Number) -> Number:
    """-|L - R| / 2: how far from the median a threshold is, L and R the weights on its sides."""
    return -absolute(left_weight - right_weight) / 2


def median_range(hessian_bound: Number, relation: Relation) -> Number:
    """h* (add-remove), 2 h* (replace-one): range of the change of `median_utility`, summed over disjoint intervals."""
    return records_changed(relation) * hessian_bound


def quantile_levels(count: int) -> int:
    """How often intervals are halved for at most `count` quantiles, 2^levels - 1 of them."""
    return max(1, (count + 1).bit_length() - 1)


def median_utilities(histograms: list[Floats], edges: list[Positions]) -> Floats:
    """Utility of every edge as the median of every interval; shape (features x intervals, widest histogram's edges).

    histograms: private weights of the bins of each feature. edges: what was chosen so far of each feature, increasing.
    An interval's candidates are the edges inside it and its own ends; other edges are excluded.
    """
    most = max(len(weights) for weights in histograms)
    rows = [_medians(weights, chosen, most) for weights, chosen in zip(histograms, edges, strict=True)]
    return np.concatenate(rows)


def inside(edges: Positions, bins: int) -> Positions:
    """Edges in order and within the bins: no two intervals between them have a bin in common. Shape (edge,)."""
    return np.clip(np.sort(edges), 0, bins)


def _medians(weights: Floats, chosen: Positions, most: int) -> Floats:
    sums = np.append(0.0, np.cumsum(weights))
    ends = np.concatenate([[0], inside(chosen, len(weights)), [len(weights)]])
    low, high = ends[:-1, np.newaxis], ends[1:, np.newaxis]
    edge = np.arange(1, most)
    inner = np.minimum(edge, len(weights))
    utility = median_utility(sums[inner] - sums[low], sums[high] - sums[inner])
    allowed = (edge >= low) & (edge <= high) & (edge < len(weights))
    return np.where(allowed, utility, -np.inf)


def halved(edges: list[Positions], middles: Positions) -> list[Positions]:
    """The chosen edges of each feature with the medians of all its intervals between them.

    edges, results: one array a feature, shape (edge,); middles: shape (intervals of all features,).
    """
    result, start = [], 0
    for chosen in edges:
        own = middles[start : start + len(chosen) + 1]
        start += len(own)
        joint = np.empty(len(chosen) + len(own), dtype=np.intp)
        joint[0::2], joint[1::2] = own, chosen
        result.append(joint)
    return result
