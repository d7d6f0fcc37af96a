"""InPrivate Digging as the paper prints it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from refdp.data import candidates as grids
from refdp.data.candidates import Candidates
from refdp.data.numbers import Number, absolute, added, exp, log, rounded_up
from refdp.data.population import Population
from refdp.data.records import Floats, Interval, Numeric, Records, Schema
from refdp.noise.calibration import laplace_charge
from refdp.noise.mechanisms import Exponential, Mechanism
from refdp.papers import inprivate
from refdp.papers.inprivate import SUFFIX, gain_range, newton_step
from refdp.papers.published.exposure import exposed
from refdp.privacy.events import Charge, Relation, Sensitivity, records_changed

AS_PUBLISHED = {
    "constants": "published",
    "level_budget": "whole",
    "halves": "sizes",
    "candidates": "triples",
    "shrinkage": 1.0,
}
"""The readings that the paper prints, as keyword arguments of Params."""

LOG_LOSS_BOUND = 2.0
"""The residual of log loss is within it (inprivate/residual-bound-repaired)."""
UNCUT = 2.0**20
"""Where sums on the public grid end: square loss has residuals without any bound."""


@dataclass(frozen=True)
class Params(inprivate.Params):
    """Where the paper contradicts itself or its guarantee, one reading has to be chosen.

    constants: "proved" (the ledger's), or "published": gain sensitivity 4, noise of scale 1/(epsilon_2/2) on each leaf
      query, residuals and coefficients as they come.
    level_budget: "share": epsilon_1/(d - 1) a level (proof of Theorem 7), or "whole": epsilon_1 (Alg. 1, l. 10).
    halves: "independent": a record falls into round t with probability 2^-t by itself, or "sizes": halves of exact
      sizes, which follow from the number of records.
    candidates: also "triples": means of triples of the records' sorted values (section V-A).
    """

    candidates: Literal["uniform", "log", "triples"] = "uniform"  # type: ignore[assignment]
    constants: Literal["proved", "published"] = "proved"
    level_budget: Literal["share", "whole"] = "share"
    halves: Literal["independent", "sizes"] = "independent"

    @property
    def by_size(self) -> bool:  # type: ignore[override]
        """Halves of exact sizes; one round has none."""
        return self.halves == "sizes" and self.rounds > 1

    def sizes(self, parts: int, records: int) -> list[int] | None:
        """Each half of what remains, rounded up."""
        exact = self.halves == "sizes" and parts > 1
        return [len(rows) for rows in halves_by_index(records, parts)] if exact else None

    def split_epsilon(self, schema: Schema) -> float:
        """Alg. 1, l. 10, against the proof of Theorem 7."""
        if self.level_budget == "share":
            return super().split_epsilon(schema)
        return self.split_share * self.tree_epsilon(schema)

    def split_charge(self, schema: Schema) -> Charge:
        """Eq. 10: the exponent is epsilon_1 gain / (2 Delta), Delta = 4. Proved for what residuals keep to."""
        if self.constants == "proved":
            return super().split_charge(schema)
        relation, suffix = self.relation, SUFFIX[self.relation]
        bound = self.residual_bound if isinstance(schema.target, Interval) else LOG_LOSS_BOUND
        proved = Sensitivity(
            rounded_up(gain_range, bound, relation), "range", f"inprivate/gain-range{suffix}", relation
        )
        twice = float(2 * gain_sensitivity_as_published())
        declared = Sensitivity(twice, "range", f"inprivate/eq-10{suffix}", relation)
        return Charge(Exponential.calibrated(self.split_epsilon(schema), twice), declared, proved)

    def leaf_charge(self, schema: Schema) -> Charge:
        """Eq. 11 and 15: two queries of sensitivity 1, half of epsilon_2 each."""
        if self.constants == "proved":
            return super().leaf_charge(schema)
        equation = "eq-15" if isinstance(schema.target, Interval) else "eq-11"
        declared = Sensitivity(2.0, 1, f"inprivate/{equation}{SUFFIX[self.relation]}", self.relation)
        touched = 2 * records_changed(self.relation)
        proved = self.leaf_sensitivity(schema)
        return laplace_charge(self.leaf_epsilon(schema), declared, proved, self.noise, touched=touched)

    def cut(self) -> float:
        """Residuals as they come."""
        return super().cut() if self.constants == "proved" else UNCUT

    def largest_coefficient(self) -> float:
        """Coefficients as they come."""
        return super().largest_coefficient() if self.constants == "proved" or self.scheme == "np" else math.inf

    def coefficients(self, mechanism: Mechanism, noisy: Floats) -> Floats:
        """The quotient of the noisy sums; 0 where there is none. noisy: shape (2, leaf); result: shape (leaf,)."""
        if self.constants == "proved" or self.scheme == "np":
            return super().coefficients(mechanism, noisy)
        return np.asarray(newton_step(noisy[0], np.where(noisy[1] == 0, np.inf, noisy[1])))

    def split_candidates(self, schema: Schema, population: Population) -> Candidates:
        """Public grids; or means of triples of the distinct values (Alg. 1, l. 3 and 4), which are not."""
        if self.candidates != "triples":
            return super().split_candidates(schema, population)
        records = exposed(population)
        return grids.uniform(schema, self.bins) if records is None else triples(records)

    def breaches(self, schema: Schema) -> tuple[str, ...]:
        """Candidates that tell values, and residuals that nothing bounds."""
        found = [*super().breaches(schema)]
        if self.candidates == "triples":
            found.append(
                "split candidates are means of the records' values (inprivate/down-sampling): they reveal them"
            )
        if self.constants == "published" and isinstance(schema.target, Interval):
            found.append("residuals of square loss have no bound (inprivate/residual-bound-regression) and are not cut")
        return tuple(found)

    def premises(self) -> tuple[str, ...]:
        """Nothing of the repairs where the printed constants are used."""
        return super().premises() if self.constants == "proved" else super().premises()[:1]


def triples(records: Records) -> Candidates:
    """Means of triples of the distinct values of every numeric feature. Not private: they reveal values."""
    columns = dict(zip(records.schema.names, records.x.T, strict=True))

    def thresholds(feature: Numeric) -> list[float]:
        values = columns[feature.name]
        return down_sample(np.unique(values[~np.isnan(values)]).tolist())

    found = grids.on_bounds(records.schema, thresholds)
    return Candidates(found.thresholds, found.categorical, public=False)


# --- Formulas that the paper prints, and those that its claims are held against ---------------------------------------


def loss(label: Number, score: Number) -> Number:
    """L(y, f) = log(1 + exp(-2 y f))   (Zhao et al. 2018, Eq. 5). A likelihood only for labels -1 and 1."""
    return log(1 + exp(-2 * label * score))


def probability(score: Number) -> Number:
    """P_+ = 1 / (1 + exp(-2 f))   (Zhao et al. 2018, Eq. 9)."""
    return probability_at_odds(exp(2 * score))


def probability_at_odds(odds: Number) -> Number:
    """P_+ = v / (1 + v), v = exp(2 f) > 0: Eq. 9 as a rational function of the odds of the label 1."""
    return odds / (1 + odds)


def square_loss(label: Number, score: Number) -> Number:
    """L(y, f) = (y - f)^2 / 2   (Zhao et al. 2018, Eq. 12)."""
    return (label - score) * (label - score) / 2


def mean_residual(residual_sum: Number, count: Number) -> Number:
    """γ = Σ ȳ / n   (Zhao et al. 2018, Eq. 14)."""
    return residual_sum / count


def square_error(residuals: Sequence[Number]) -> Number:
    """E = Σ (ȳ - mean(ȳ))^2, 0 for an empty node   (Zhao et al. 2018, section III-B)."""
    if not residuals:
        return 0
    mean = mean_residual(added(residuals), len(residuals))
    return added((r - mean) * (r - mean) for r in residuals)


def gain_sensitivity_as_published() -> Number:
    """Δ = 4   (Zhao et al. 2018, section V-A), from residuals in [-1, 1]."""
    return 4


def gain_change(residual_bound: Number, relation: Relation) -> Number:
    """4 B^2 (add-remove), 8 B^2 (replace-one): the supremum of the absolute change of one candidate's gain."""
    return 4 * records_changed(relation) * residual_bound * residual_bound


def split_exponent(split_gain: Number, epsilon: Number, sensitivity: Number) -> Number:
    """ε gain / (2 Δ): logarithm of the unnormalised probability of a split   (Zhao et al. 2018, Eq. 10)."""
    return epsilon * split_gain / (2 * sensitivity)


def down_sample(values: Sequence[Number]) -> list[Number]:
    """Means of consecutive triples of the sorted values (Zhao et al. 2018, section V-A). They reveal values.

    The paper leaves open what a last group of one or two values gives; here it gives their mean.
    """
    ordered = sorted(values)
    groups = [ordered[start : start + 3] for start in range(0, len(ordered), 3)]
    return [added(group) / len(group) for group in groups]


def leaf_scale_as_published(epsilon: Number) -> Number:
    """1 / (ε_2 / 2): the scale of both Laplace queries of a leaf   (Zhao et al. 2018, Eq. 11 and 15)."""
    return 1 / (epsilon / 2)


def queries(depth: Number) -> Number:
    """(d - 1) + 2 = d + 1 queries a tree, d counting the level of the leaves   (Zhao et al. 2018, section V-A)."""
    return (depth - 1) + 2


def halves_by_index(count: int, rounds: int) -> list[range]:
    """Rows of each round: the first half of what remains, rounded up   (Zhao et al. 2018, section VI-B).

    A reading of the text that is not a per-record assignment: adding a record moves others between rounds.
    """
    result, start = [], 0
    for _ in range(rounds):
        size = (count - start + 1) // 2
        result.append(range(start, start + size))
        start += size
    return result


def mean_absolute_error(errors: Sequence[Number]) -> Number:
    """MAE = (1/n) Σ |y - f(x)|   (Zhao et al. 2018, Eq. 17). errors: y - f(x) of each record."""
    return added(absolute(error) for error in errors) / len(errors)


def error_sensitivity(error_bound: Number, count: Number, relation: Relation) -> Number:
    """E / (n + 1) for an added record, E / n for a replaced one: change of a mean of n values in [0, E], attained."""
    return error_bound / (count + 1 if relation is Relation.ADD_REMOVE else count)
