"""One tree of DP-XGBoost: its statistics, candidates, splits and leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refdp.binned import Mask, Nodes
from refdp.curator import Curator
from refdp.events import Charge
from refdp.losses import GRID, grid_floor, on_grid, sigmoid
from refdp.papers.dpxgboost_charges import (
    count_charge,
    count_weight,
    exact_counts,
    gradient_bound,
    hessian_bound,
    leaf_charge,
    newton,
    quantile_charge,
    sketch_charge,
    split_charge,
)
from refdp.papers.dpxgboost_formulas import (
    clip_ratio,
    gain,
    large_enough,
    leaf_value,
    log_gradient_at,
    log_hessian_at,
    noisy_average,
    padded_leaf_value,
    square_gradient,
)
from refdp.papers.dpxgboost_settings import Params, TreeBudget, sketched
from refdp.papers.dpxgboost_sketch import Bins, halved, median_utilities, quantile_edges, quantile_levels
from refdp.records import Floats, Numeric, Schema
from refdp.sparse import AnyBinned
from refdp.trees import Tree

Positions = NDArray[np.intp]
"""Rows of the values of the public grid."""


class Statistics(NamedTuple):
    """Which records a tree uses, as a mask of all, and their g and h, in that order."""

    used: Mask
    gradient: Floats
    hessian: Floats | None


def statistics(params: Params, score: Floats, label: Floats, rows: Mask) -> Statistics:
    """g and h at the current scores, on the public grid; h is None where it is 1 for every record."""
    index = np.flatnonzero(rows)
    score, label = score[index], label[index]
    if params.loss == "square":
        gradient, hessian = on_grid(square_gradient(score, label)), None
    else:
        probability = sigmoid(np.clip(score, -700, 700))
        gradient, hessian = on_grid(log_gradient_at(probability, label)), on_grid(log_hessian_at(probability))
    if params.gradients == "clip":
        gradient = np.clip(gradient, -grid_floor(params.gradient_bound), grid_floor(params.gradient_bound))
    kept = np.abs(gradient) <= params.gradient_bound  # section 4: gradient-based data filtering
    gradient, hessian = gradient[kept], None if hessian is None else hessian[kept]
    if hessian is not None and newton(params):
        gradient = np.trunc(clip_ratio(gradient, hessian, params.ratio_bound) / GRID) * GRID
    used = np.zeros(len(rows), dtype=np.bool_)
    used[index[kept]] = True
    return Statistics(used, gradient, hessian)


@dataclass(frozen=True)
class Grower:
    """What one tree is grown from: its records in bins of the public grid, their g and h, and the door.

    root: sums of g, of what the gain divides by, and of the count of records in every bin, shape (3, 1, bin); where the
    first two suffice, the count is the second.
    """

    params: Params
    schema: Schema
    mine: AnyBinned
    gradient: Floats
    hessian: Floats | None
    root: Floats
    curator: Curator

    @classmethod
    def on(cls, params: Params, schema: Schema, coded: AnyBinned, of: Statistics, curator: Curator) -> Grower:
        """The records of one tree."""
        mine = coded.take(of.used)
        divided = of.hessian if newton(params) else None
        summed = (of.gradient, None) if divided is None else (of.gradient, divided, None)
        return cls(params, schema, mine, of.gradient, of.hessian, mine.sums.sums(mine.root(), 1, summed), curator)

    @property
    def summed(self) -> tuple[Floats | None, ...]:
        """The statistics of `root`."""
        return (self.gradient, None) if len(self.root) == 2 else (self.gradient, self.hessian, None)

    def candidates(self, features: Sequence[int], epsilon: float) -> Positions:
        """Split candidates of these features, as positions on the public grid."""
        grid, numeric = self.mine.candidates, set(sketched(self.schema))
        found = {f: np.arange(grid.starts[f], grid.starts[f + 1]) for f in features}
        asked = [f for f in features if f in numeric]
        if self.params.candidates != "uniform" and asked:
            edges = self.sketch(asked, epsilon) if self.params.candidates == "sketch" else self.medians(asked, epsilon)
            found |= {f: grid.starts[f] + own - 1 for f, own in zip(asked, edges, strict=True)}
        return np.concatenate([found[f] for f in features])

    def histograms(self, features: list[int]) -> list[Floats]:
        """Weight of the records in every bin of each feature: Hessians, that is counts for square loss."""
        weight = self.root[1][0]
        if self.hessian is not None and not newton(self.params):
            weight = self.mine.sums.sums(self.mine.root(), 1, (self.hessian,))[0][0]
        offsets = self.mine.candidates.offsets
        return [weight[offsets[f] + 1 : offsets[f + 1]] for f in features]  # the first bin is of missing values

    def sketch(self, features: list[int], epsilon: float) -> list[Bins]:
        """Candidates of each feature from noisy histograms (section 4.1)."""
        charge, weights = sketch_charge(self.params, self.schema, epsilon), self.histograms(features)
        noisy = self.curator.release("sketch", charge.mechanism, np.concatenate(weights), sensitivity=charge.declared)
        ends = np.cumsum([len(one) for one in weights])[:-1]
        return [quantile_edges(one, self.params.bins) for one in np.split(noisy, ends)]

    def medians(self, features: list[int], epsilon: float) -> list[Bins]:
        """Candidates of each feature by halving intervals with the exponential mechanism (Kaplan et al. 2022)."""
        levels, weights = quantile_levels(self.params.bins), self.histograms(features)
        charge = quantile_charge(self.params, self.schema, epsilon / levels)
        options = np.arange(1.0, max(map(len, weights)))[:, np.newaxis]
        edges: list[Bins] = [np.empty(0, dtype=np.intp) for _ in features]
        for level in range(levels):
            utility = median_utilities(weights, edges)
            chosen = self.curator.release(
                f"medians {level}", charge.mechanism, utility, sensitivity=charge.declared, options=options
            )
            edges = halved(edges, chosen[:, 0].astype(np.intp))
        return [np.unique(one) for one in edges]

    def tree(self, budget: TreeBudget, features: list[int], shared: Positions | None) -> Tree:
        """One tree (Figure 3). shared: candidates of the whole run, if it has one sketch."""
        params = self.params
        if shared is None:
            positions = self.candidates(features, budget.sketch)
        else:
            positions = shared[np.isin(self.mine.candidates.feature[shared], features)]
        node, table, chosen = self.mine.root(), self.root, []
        for level, epsilon in enumerate(budget.splits):
            if level:
                table = self.mine.sums.sums(node, 2**level, self.summed, table)
            chosen.append(self.split(level, split_charge(params, self.schema, epsilon), table, positions))
            child = self.mine.route(node, chosen[-1])
            if budget.counts:
                chosen[-1] = self.stopped(level, count_charge(params, budget.counts[level]), child, chosen[-1])
                child = self.mine.route(node, chosen[-1])
            node = child
        return Tree(np.concatenate(chosen), self.leaves(leaf_charge(params, self.schema, budget.leaves), node))

    def split(self, level: int, charge: Charge, table: Floats, positions: Positions) -> Floats:
        """The released splits of one level, shape (node, 2 or 3) (section 4.2)."""
        options = self.mine.candidates.values[positions]
        if self.params.missing == "learned":  # the gain twice, with missing values left and right
            sides = [np.column_stack([options, np.full(len(options), side)]) for side in (0.0, 1.0)]
            options = np.concatenate(sides)
        left, right = self.sides(table, positions)
        utility = gain(left[0], left[1], right[0], right[1], self.params.regularisation)  # after Eq. 3
        if exact_counts(self.params):  # section 4.3, N_min as published
            allowed = large_enough(left[-1], right[-1], self.params.child_minimum)
            rest = np.where(allowed.any(axis=1, keepdims=True), -np.inf, 0.0)
            utility = np.concatenate([np.where(allowed, utility, -np.inf), rest], axis=1)
            options = np.vstack([options, self.no_split(options.shape[1])])
        return self.curator.release(
            f"splits of level {level}", charge.mechanism, utility, sensitivity=charge.declared, options=options
        )

    def sides(self, table: Floats, positions: Positions) -> tuple[Floats, Floats]:
        """Sums to the left and right of every option, shape (statistic, node, option)."""
        grid = self.mine.candidates
        first = slice(int(grid.offsets[0]), int(grid.offsets[1]))
        right = grid.right_sums(table)[..., positions]
        left = table[..., first].sum(axis=-1, keepdims=True) - right
        if self.params.missing == "left":
            return left, right
        missing = table[..., grid.offsets[grid.feature[positions]]]
        return np.concatenate([left, left - missing], axis=-1), np.concatenate([right, right + missing], axis=-1)

    def no_split(self, columns: int) -> Floats:
        """A split beyond the bounds of its feature, which sends every record left; shape (columns,)."""
        grid = self.mine.candidates
        f = int(grid.feature[0])
        feature = self.schema.features[f]
        beyond = np.nextafter(feature.high, np.inf) if isinstance(feature, Numeric) else len(feature.categories)
        return np.array([f, beyond, 0.0][:columns])

    def stopped(self, level: int, charge: Charge, child: Nodes, chosen: Floats) -> Floats:
        """The splits, without those of nodes with a child whose noisy count is below the minimum (section 4.3)."""
        count = self.mine.leaf_sums(child, 2 * len(chosen), (None,))[0]
        noisy = self.curator.release(f"counts of level {level}", charge.mechanism, count, sensitivity=charge.declared)
        large = large_enough(noisy[0::2], noisy[1::2], self.params.child_minimum)
        return np.where(large[:, np.newaxis], chosen, self.no_split(chosen.shape[1]))

    def leaves(self, charge: Charge, node: Nodes) -> Floats:
        """The released leaf values (section 4.3), shape (leaf,)."""
        params, count = self.params, 2**self.params.depth
        if params.leaf == "average":
            return self.averages(charge, node, count)
        gradient_sum, size = self.mine.leaf_sums(node, count, (self.gradient, None))
        value = leaf_value(gradient_sum, size, params.regularisation)  # Eq. 4
        if params.leaf == "minimum" and params.constants == "proved":
            value = padded_leaf_value(gradient_sum, size, params.child_minimum, params.regularisation)
        return self.curator.release("leaves", charge.mechanism, value, sensitivity=charge.declared)

    def averages(self, charge: Charge, node: Nodes, leaves: int) -> Floats:
        """Algorithm 1: with exact counts as published, else with noisy sums of g and h."""
        params, release = self.params, self.curator.release
        if params.constants == "published":
            gradient_sum, size = self.mine.leaf_sums(node, leaves, (self.gradient, None))
            noisy = release("leaves", charge.mechanism, gradient_sum, sensitivity=charge.declared)
            return np.asarray(noisy_average(noisy, 0.0, size, params.gradient_bound, params.regularisation))
        weight, highest = count_weight(params), hessian_bound(params)
        sums = self.mine.leaf_sums(node, leaves, (self.gradient, self.hessian)) * [[1.0], [weight]]
        gradient_sum, weighted = release("leaves", charge.mechanism, sums, sensitivity=charge.declared)
        size = np.maximum(weighted / weight, highest * params.child_minimum)
        return np.asarray(
            noisy_average(gradient_sum, 0.0, size, gradient_bound(params) / highest, params.regularisation)
        )
