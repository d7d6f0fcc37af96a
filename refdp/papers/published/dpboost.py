"""DPBoost as the paper prints it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from refdp.accounting.calibration import calibrate_total
from refdp.checks import check_number
from refdp.data import candidates as grids
from refdp.data.candidates import Candidates
from refdp.data.numbers import Number, minimum, rounded_up
from refdp.data.population import Population
from refdp.data.records import Schema
from refdp.noise.calibration import laplace_charge
from refdp.noise.mechanisms import Exponential
from refdp.papers import dpboost
from refdp.papers.dpboost import Block
from refdp.papers.published.exposure import exposed
from refdp.privacy.events import Charge, Plan, Relation, Sensitivity, records_changed

AS_PUBLISHED = {
    "constants": "published",
    "leaf_budget": "level",
    "clip_position": "global",
    "blocks": "sizes",
    "candidates": "data",
}
"""The readings that the paper prints, as keyword arguments of Params."""

LEMMA_1 = {Relation.ADD_REMOVE: "dpboost/lemma-1", Relation.REPLACE_ONE: "dpboost/lemma-1-replace-one"}
COROLLARY_2 = {Relation.ADD_REMOVE: "dpboost/corollary-2", Relation.REPLACE_ONE: "dpboost/corollary-2-replace-one"}


@dataclass(frozen=True)
class Params(dpboost.Params):
    """Where the printed algorithms contradict themselves or the guarantee, one reading has to be chosen.

    constants: "proved" (the ledger's) or "published" (Lemma 1, Corollary 2 and the factor 2 of Theorem 2).
    leaf_budget: "half" of a tree's budget (text, Theorem 7), or "level": eps_t / (2 Depth_max), Alg. 1, line 14.
    clip_position: "ensemble": geometric clipping restarts with every ensemble, or "global": t - 1, Alg. 2, line 14.
    blocks: "independent": every record falls into a tree's subset independently with the paper's share as probability,
      or "sizes": subsets of |D| times share records without replacement, and t_e = t mod T_e, Alg. 2, lines 5 and 8.
    candidates: also "data": every value in the records, which is what "each split value" (Alg. 1, l. 6) prints.
    delta: no reading of the paper, whose guarantee is pure. More than 0, and every release gets more: splits and
      leaves composed by the accountant (the optimum over adaptive selections where it applies) cost epsilon at delta.
    """

    candidates: Literal["uniform", "log", "data"] = "uniform"  # type: ignore[assignment]
    constants: Literal["proved", "published"] = "proved"
    leaf_budget: Literal["half", "level"] = "half"
    clip_position: Literal["ensemble", "global"] = "ensemble"
    blocks: Literal["independent", "sizes"] = "independent"
    delta: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("delta", self.delta, least=0, below=1)

    def stated(self) -> dict[str, Any]:
        """A delta only where there is one: equal runs have equal models."""
        return {name: value for name, value in super().stated().items() if name != "delta" or value > 0}

    def remarks(self) -> tuple[str, ...]:
        """How a delta is accounted."""
        return (COMPOSED,) if self.delta > 0 else ()

    def tree_epsilon(self, schema: Schema) -> float:
        """Alg. 2, l. 2, of what the epsilons of all releases may add up to."""
        if self.delta == 0:
            return super().tree_epsilon(schema)
        return replace(self, epsilon=total_epsilon(self, schema), delta=0.0).tree_epsilon(schema)

    def block(self, start: int, position: int, size: int) -> Block:
        """Alg. 2, l. 5: t_e = t mod T_e; l. 14: exponent t - 1."""
        if self.scheme != "dpboost":
            return super().block(start, position, size)
        share_of = (position + 1) % size if self.blocks == "sizes" else position
        return self.decayed(share_of, position + (start if self.clip_position == "global" else 0), size)

    @property
    def by_size(self) -> bool:  # type: ignore[override]
        """Alg. 2, l. 8: |D| times share records without replacement."""
        return self.blocks == "sizes"

    def leaf_epsilon(self, epsilon: float) -> float:
        """Alg. 1, l. 14 against l. 1."""
        return epsilon / 2 if self.leaf_budget == "half" else epsilon / (2 * self.depth)

    def split_charge(self, epsilon: float) -> Charge:
        """Theorem 2: the exponent is eps G / (2 Delta G), Delta G of Lemma 1."""
        charge = super().split_charge(epsilon)
        if self.constants == "proved":
            return charge
        twice = 2 * rounded_up(gain_sensitivity_as_published, self.gradient_bound, self.regularisation)
        declared = Sensitivity(twice, "range", LEMMA_1[self.relation], self.relation)
        return Charge(Exponential.calibrated(epsilon / (2 * self.depth), twice), declared, charge.proved)

    def leaf_charge(self, epsilon: float, clip: float) -> Charge:
        """Noise for the sensitivity of Corollary 2."""
        if self.constants == "proved":
            return super().leaf_charge(epsilon, clip)
        printed = rounded_up(leaf_sensitivity_as_published, self.gradient_bound, self.regularisation, clip)
        declared = Sensitivity(printed, 1, COROLLARY_2[self.relation], self.relation)
        bound = rounded_up(dpboost.leaf_sensitivity, self.gradient_bound, self.regularisation, clip, self.relation)
        proved = Sensitivity(bound, 1, dpboost.LEAF_CLIPPED[self.relation], self.relation)
        touched = records_changed(self.relation)
        return laplace_charge(self.leaf_epsilon(epsilon), declared, proved, self.noise, touched=touched)

    def split_candidates(self, schema: Schema, population: Population) -> Candidates:
        """Public grids; or every value in the records."""
        if self.candidates != "data":
            return super().split_candidates(schema, population)
        records = exposed(population)
        return grids.uniform(schema, self.bins) if records is None else grids.from_records(records)

    def breaches(self) -> list[str]:
        """Candidates that tell values."""
        found = super().breaches()
        if self.candidates == "data":
            found.append("split candidates are values of the records (dpboost/candidates): outputs reveal them")
        return found


COMPOSED = (
    "epsilon at delta is the accountant's: selections of one range and noisy leaves in sequence cost what the worst "
    "adaptive choices make of them (Dong, Durfee, Rogers 2020), trees on parts of the records what dominates them"
)
"""The note of a run with a delta."""


@lru_cache(maxsize=64)
def total_epsilon(params: Params, schema: Schema) -> float:
    """The pure epsilon whose plan costs params.epsilon at params.delta, at least params.epsilon."""

    def spent(total: float) -> Plan:
        return dpboost.plan(replace(params, epsilon=total, delta=0.0), schema)

    return calibrate_total(spent, params.epsilon, params.delta, most=100)


# --- Formulas that the paper prints -----------------------------------------------------------------------------------


def gain_sensitivity_as_published(gradient_bound: Number, regularisation: Number) -> Number:
    """(3 lambda + 2) / ((lambda + 1)(lambda + 2)) g*^2   (Li et al. 2020, Lemma 1 and Corollary 1; refuted)."""
    numerator = 3 * regularisation + 2
    return numerator / ((regularisation + 1) * (regularisation + 2)) * gradient_bound * gradient_bound


def leaf_sensitivity_as_published(gradient_bound: Number, regularisation: Number, clip: Number) -> Number:
    """min(g* / (1 + lambda), 2 c)   (Li et al. 2020, Lemma 2 and Corollary 2)."""
    return minimum(gradient_bound / (1 + regularisation), 2 * clip)
