"""How a tree of the federated framework (Maddock et al. 2022) grows: Algorithm 1, lines 5 to 9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refdp.candidates import Candidates
from refdp.curator import Curator
from refdp.events import Charge
from refdp.growth import Options, below
from refdp.papers.fedgbdt_formulas import cyclical_features, iterative_hessian, leaf_weight, second_order_objective
from refdp.papers.fedgbdt_plan import asks_leaves, hessian_charge, split_names
from refdp.papers.fedgbdt_settings import Params, all_rounds, chosen_features
from refdp.population import Population
from refdp.reach import Positions, Reach
from refdp.records import Floats, Numeric, Schema


@dataclass(frozen=True)
class Structure:
    """A grown tree. splits: as in `Tree`. sums: released sums of its leaves if its splits gave them, (2, leaf)."""

    splits: Floats
    sums: Floats | None = None


@dataclass
class Grower:
    """Split methods (C1) on split candidates (C3) of a tree's features (A1), for one score."""

    params: Params
    schema: Schema
    population: Population
    curator: Curator
    mu: float

    def grow(self, tree: int, candidates: Candidates, charged: Charge) -> tuple[Candidates, Structure]:
        """Alg. 1, lines 5 to 9. tree: counted from 1. Returns the candidates of the next tree as well."""
        params, features = self.params, self._features(tree)
        self.population.encode(candidates)
        refining = tree <= all_rounds(params, self.schema)
        if refining and params.splits != "histogram":  # histograms come with the splits then
            candidates = self._refined(candidates, features, self._hessian_histograms(features))
            self.population.encode(candidates)
        reach = Reach.root(candidates, features)
        if asks_leaves(params, chosen_features(params, self.schema)):
            return candidates, self._totally_random(reach)
        structure, hessian = self._scored(reach, features, charged)
        return self._refined(candidates, features, hessian) if refining and hessian else candidates, structure

    def _features(self, tree: int) -> list[int]:
        """Alg. 1, l. 5: the features of a tree, counted from 0 (Section 5.1)."""
        count, chosen = len(self.schema.features), chosen_features(self.params, self.schema)
        if self.params.interactions == "cyclic" or chosen == count:
            return sorted(number - 1 for number in cyclical_features(tree, count, chosen))
        order = np.argsort(self.curator.draw("features", ("uniform",), count), kind="stable")
        return sorted(order[:chosen].tolist())

    def _hessian_histograms(self, features: Sequence[int]) -> list[Floats]:
        """Released Hessian histograms of these features (Section 4.5.2, totally random)."""
        charged = hessian_charge(self.params, self.schema, self.mu)
        return [
            self.curator.release(f"Hessian histogram {i}", charged.mechanism, bins, sensitivity=charged.declared)
            for i, bins in enumerate(self.population.hessian_sums(features))
        ]

    def _refined(self, candidates: Candidates, features: Sequence[int], hessian: list[Floats]) -> Candidates:
        """Iterative Hessian candidates for the numeric ones of these features; bin 0 is that of missing values."""
        thresholds = list(candidates.thresholds)
        for f, bins in zip(features, hessian, strict=True):
            feature = self.schema.features[f]
            if isinstance(feature, Numeric) and feature.low < feature.high:
                edges = [feature.low, *thresholds[f], feature.high]
                thresholds[f] = np.array(iterative_hessian(edges, bins[1:].tolist(), self.params.bins))
        return replace(candidates, thresholds=tuple(thresholds))

    def _totally_random(self, reach: Reach) -> Structure:
        """Section 4.3.2: the whole tree from public draws; then every record goes to its leaf."""
        depth = self.params.depth
        uniform = self.curator.draw("splits", ("uniform",), (2**depth - 1, 2))
        levels: list[Positions] = []
        for level in range(depth):
            levels.append(reach.drawn(uniform[2**level - 1 : 2 ** (level + 1) - 1]))
            reach = reach.split(levels[-1])
        self.population.place(levels)
        return Structure(reach.candidates.values[np.concatenate(levels)])

    def _scored(self, reach: Reach, features: list[int], charged: Charge) -> tuple[Structure, list[Floats]]:
        """Sections 4.3.1 and 4.3.2: each node is split by the candidate of the largest released score.

        A node whose best score is not positive stays whole: both of its children get its own sums. The root's released
        Hessian histograms are returned as well, if there are any.
        """
        candidates, levels = reach.candidates, list[Positions]()
        own, whole = np.zeros((2, 1)), np.zeros(1, dtype=bool)
        bins: list[Floats] = []
        hessian: list[Floats] = []
        self.population.root(features)
        for level in range(self.params.depth):
            if self.params.splits == "histogram":
                bins = self._histograms(level, bins, levels, features, candidates, charged)
                hessian = hessian or [table[1, 0] for table in bins]
                options = Options.of_bins(candidates, features, bins, 2**level)
            else:
                options = self._random_sides(level, reach, features, charged)
            best, score = options.best(self._score, reach)
            position, sums = options.chosen(best)
            own, whole = options.totals() if level == 0 else own, whole | (score <= 0)
            own = np.where(whole[:, None], own[:, :, None], sums).reshape(2, -1)
            whole = np.repeat(whole, 2)
            levels.append(position)
            reach = reach.split(position)
            if len(features) > 1 and level + 1 < self.params.depth:
                self.population.descend(position)
        self.population.place(levels)
        return Structure(candidates.values[np.concatenate(levels)], own), hessian

    def _score(self, left: Floats, right: Floats) -> Floats:
        """Eq. 5 at the weights that the released sums would give: clipped, and 0 where H is not positive."""
        parent, penalty = self._decrease(left + right), self.params.split_penalty
        return (self._decrease(left) + self._decrease(right) - parent) / 2 - penalty

    def _decrease(self, sums: Floats) -> Floats:
        """Twice by how much a node's weight lowers the second-order objective; G^2/(H + lambda) without clipping."""
        (g, h), lam, clip = sums, self.params.regularisation, self.params.leaf_clip
        positive = np.maximum(h, 0)
        weight = np.where(h > 0, np.clip(leaf_weight(g, positive, lam), -clip, clip), 0.0)
        return np.asarray(-2 * second_order_objective(weight, g, positive, lam))

    def _histograms(
        self, level: int, above: list[Floats], levels: list[Positions], features: list[int], candidates: Candidates,
        charged: Charge,
    ) -> list[Floats]:  # fmt: skip
        """Released bins of every node of a level, shape (2, node, bin) for each feature."""
        if len(features) == 1 and level > 0:  # Section 5.1: the root's histogram serves all levels
            return [below(above[0], candidates, levels[-1])]
        return self._released(level, self.population.bin_sums(2**level), charged)

    def _random_sides(self, level: int, reach: Reach, features: list[int], charged: Charge) -> Options:
        """Section 4.3.2, partially random: one random candidate a node and feature, its sides' sums released."""
        uniform = self.curator.draw(f"candidates of level {level}", ("uniform",), (2**level, len(features)))
        positions = [reach.drawn_of(f, column) for f, column in zip(features, uniform.T, strict=True)]
        sums = self.population.side_sums(positions)
        return Options.of_sides(positions, self._released(level, sums, charged))

    def _released(self, level: int, sums: Sequence[Floats], charged: Charge) -> list[Floats]:
        """One query a feature of the tree."""
        names = split_names(self.params, len(sums))[level * len(sums) :]
        return [
            self.curator.release(name, charged.mechanism, value, sensitivity=charged.declared)
            for name, value in zip(names, sums)
        ]
