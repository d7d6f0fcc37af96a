"""A split rule for DPBoost: the split that divides a node's records most evenly, whatever their labels."""

from __future__ import annotations

from dataclasses import dataclass

from refdp.data.candidates import Candidates
from refdp.data.population import COUNT, Bins, Population, values
from refdp.data.records import Floats
from refdp.noise.mechanisms import Exponential
from refdp.papers import dpboost
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Sensitivity, records_changed


def balanced_splits(
    params: dpboost.Params, level: int, charged: Charge, candidates: Candidates, population: Population,
    curator: Curator,
) -> Floats:  # fmt: skip
    left, right = candidates.sides(values(population.ask(Bins((COUNT,)))))
    utility = -abs(left[0] - right[0])  # moved by at most 1 by one record
    return curator.release(f"splits of level {level}", charged, utility, options=candidates.values)


@dataclass(frozen=True)
class Balanced(dpboost.Params):
    """DPBoost with balanced splits."""

    utility_range: float = 2.0

    def split_rule(self) -> dpboost.SplitRule:
        return balanced_splits

    def split_charge(self, epsilon: float) -> Charge:
        bound = self.utility_range * records_changed(self.relation)
        declared = Sensitivity(bound, "range", "balanced/utility", self.relation)
        return Charge(Exponential.calibrated(epsilon / (2 * self.depth), bound), declared, declared)
