"""The federated framework as the paper prints it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from refdp.checks import check_count
from refdp.data import candidates as grids
from refdp.data import numbers
from refdp.data.candidates import Candidates
from refdp.data.numbers import Number, exp, maximum
from refdp.data.population import COUNT, Population, Reports, values
from refdp.data.records import Floats, Numeric, Records, Schema
from refdp.errors import InvalidParameter
from refdp.papers import fedgbdt
from refdp.papers.fedgbdt import SUMS, VECTOR, Splits, hessian_squared_sensitivity
from refdp.papers.published.exposure import exposed
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Relation, Sensitivity

AS_PUBLISHED: Mapping[str, Any] = {
    "sensitivities": "published",
    "accounting": "renyi",
    "grid": "published",
    "one_vs_rest": "published",
    "local": "index",
}
"""The readings that the paper prints, as keyword arguments of Params."""

SENSITIVITIES: Mapping[tuple[str, Relation], str] = {
    ("averaging", Relation.ADD_REMOVE): "fedgbdt/averaging-sensitivity",
    ("averaging", Relation.REPLACE_ONE): "fedgbdt/averaging-sensitivity-replace-one",
    ("gradient", Relation.ADD_REMOVE): "fedgbdt/gradient-sensitivity",
    ("gradient", Relation.REPLACE_ONE): "fedgbdt/gradient-sensitivity-replace-one",
    ("newton", Relation.ADD_REMOVE): "fedgbdt/newton-sensitivity",
    ("newton", Relation.REPLACE_ONE): "fedgbdt/newton-sensitivity-replace-one",
    ("hessian", Relation.ADD_REMOVE): "fedgbdt/hessian-histogram-sensitivity",
    ("hessian", Relation.REPLACE_ONE): "fedgbdt/fact-2-2-replace-one",
}


@dataclass(frozen=True)
class Params(fedgbdt.Params):
    """What the paper prints and does not hold.

    sensitivities: also "published", the bounds of g and h taken separately, whatever the neighbours.
    grid: uniform candidates strictly "inside" the bounds, or "published", where the first and last separate nothing.
    one_vs_rest: also "published", the budget of each of K models is (epsilon/K, delta).
    local: what a record sends in the local model: its leaf's entry of a "vector", or its leaf's "index" and (g, h).
    candidates: also "quantiles", which are read off the records and refuse to run unless no_privacy is True.
    """

    candidates: Literal["uniform", "log", "quantiles", "iterative-hessian"] = "uniform"  # type: ignore[assignment]
    sensitivities: Literal["joint", "by-round", "published"] = "joint"  # type: ignore[assignment]
    one_vs_rest: Literal["divided", "together", "published"] = "divided"  # type: ignore[assignment]
    grid: Literal["inside", "published"] = "inside"
    local: Literal["vector", "index"] = "vector"
    no_privacy: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grid == "published":
            check_count("bins", self.bins, least=2, most=60_000)
        if self.candidates == "quantiles" and not self.no_privacy:
            raise InvalidParameter(
                "candidates = 'quantiles' are values of the records, which a model then reveals (fedgbdt/table-1-"
                "quantiles): no privacy guarantee holds; no_privacy=True says that this is meant"
            )

    def split_candidates(self, schema: Schema, population: Population) -> Candidates:
        """Section 4.5.1: Q candidates from bound to bound; or Table 1: quantiles of the records."""
        if self.candidates == "quantiles":
            records = exposed(population)
            return super().split_candidates(schema, population) if records is None else quantiles(records, self.bins)
        if self.grid == "inside":
            return super().split_candidates(schema, population)
        positions, count = np.arange(1, self.bins + 1), self.bins

        def thresholds(feature: Numeric) -> Floats:
            low, high = feature.low, feature.high
            if self.candidates == "log":
                return after(low - 1 + exp(uniform_candidate(positions, count, 0.0, math.log(1 + high - low))))
            return after(uniform_candidate(positions, count, low, high))

        return grids.on_bounds(schema, thresholds)

    def score_delta(self, schema: Schema) -> float:
        """Section 4.2, beyond binary classification: epsilon is divided, and nothing is said of delta."""
        return self.delta if self.one_vs_rest == "published" else super().score_delta(schema)

    def declared(self, kind: str, bound: float) -> Sensitivity:
        """Sections 4.2 and 4.4; Section 5.3.2 where records tell their leaf."""
        found = super().declared(kind, bound)
        if self.sensitivities == "published":
            root = numbers.root(_published_square(kind, Fraction(bound)))
            found = replace(found, bound=root, claim=SENSITIVITIES[kind, self.relation])
        if self.noise_by == "record":
            found = replace(found, claim=VECTOR if self.local == "vector" else "fedgbdt/ldp-leaf-index")
        return found

    def local_sums(self, population: Population, curator: Curator, place: int, charged: Charge) -> Floats:
        """Section 5.3.2: "noised gradients at the root", with the leaf that they belong to in the clear.

        Shape (2, leaf).
        """
        if self.local == "vector":
            return super().local_sums(population, curator, place, charged)
        reports = values(population.ask(Reports((*SUMS, COUNT), place)))
        noisy = curator.release("leaves", charged, reports[:, :2].sum(axis=2))
        leaf, leaves = reports[:, 2].argmax(axis=1), reports.shape[2]
        return np.stack([np.bincount(leaf, pair, leaves) for pair in noisy.T])

    def breaches(self) -> list[str]:
        """Candidates that tell values, leaves that are told."""
        found = super().breaches()
        if self.candidates == "quantiles":
            found.append("split candidates are values of the records (fedgbdt/table-1-quantiles): outputs reveal them")
        if self.noise_by == "record" and self.local == "index":
            found.append("records send the index of their leaf without noise (fedgbdt/ldp-leaf-index)")
        return found


def _published_square(kind: str, bound: Number) -> Number:
    """The squared sensitivity that the paper gives, whatever the neighbours."""
    if kind == "newton":
        return newton_squared_sensitivity_as_published()
    if kind == "gradient" and bound != 1:
        return bound * bound + 1  # Section 4.2: gradient clipping
    return (
        hessian_squared_sensitivity(Relation.ADD_REMOVE)
        if kind == "hessian"
        else counting_squared_sensitivity_as_published()
    )


def after(thresholds: Floats) -> Floats:
    """Thresholds t that send x right for x > s, as the paper does, where refdp's comparison is x >= t.

    Of the shape given.
    """
    return np.nextafter(thresholds, np.inf)


def quantiles(records: Records, count: int) -> Candidates:
    """Quantiles q/Q, q = 0..Q-1, of the records. Not private."""
    shares = np.arange(count) / count
    columns = dict(zip(records.schema.names, records.x.T, strict=True))
    found = grids.on_bounds(records.schema, lambda f: after(np.nanquantile(columns[f.name], shares)))
    return replace(found, public=False)


# --- Formulas that the paper prints, and those that claims compare them with ------------------------------------------


def first_order_objective(weight: Number, gradient_sum: Number, regularisation: Number) -> Number:
    """G w + lambda w^2 / 2: a leaf's share of the first-order approximation (Section 2.1, before Eq. 3)."""
    return gradient_sum * weight + regularisation * weight * weight / 2


def leaf_score(gradient_sum: Number, hessian_sum: Number, regularisation: Number) -> Number:
    """G^2 / (H + lambda): one term of Eq. 5."""
    return gradient_sum * gradient_sum / (hessian_sum + regularisation)


def split_score(
    left_gradient: Number,
    left_hessian: Number,
    right_gradient: Number,
    right_hessian: Number,
    regularisation: Number,
    penalty: Number,
) -> Number:
    """SS = (G_1^2/(H_1 + lambda) + G_2^2/(H_2 + lambda) - G^2/(H + lambda)) / 2 - gamma   (Eq. 5)."""
    parent = leaf_score(left_gradient + right_gradient, left_hessian + right_hessian, regularisation)
    left = leaf_score(left_gradient, left_hessian, regularisation)
    right = leaf_score(right_gradient, right_hessian, regularisation)
    return (left + right - parent) / 2 - penalty


def update_as_published(weight: Number, clip: Number, shrinkage: Number) -> Number:
    """-eta max(w, beta sgn(w))   (Section 4.4.3; refuted: it neither bounds w nor keeps its sign)."""
    signed = clip if weight > 0 else -clip if weight < 0 else 0 * clip
    return -shrinkage * maximum(weight, signed)


def batch_terms_as_published(tree: int, batch: int) -> range:
    """The trees k = t - B .. B that the batched update sums over (Section 5.2; refuted)."""
    return range(tree - batch, batch + 1)


def batch_terms(tree: int, batch: int) -> range:
    """The trees k = t - B + 1 .. t of the batch that ends with tree t. Repairs Section 5.2."""
    return range(tree - batch + 1, tree + 1)


def batched_score_as_published(score: Number, mean_weight: Number, shrinkage: Number) -> Number:
    """s + eta sigmoid(mean weight)   (Section 5.2; refuted: a batch of zero weights still moves the score)."""
    return score + shrinkage / (1 + exp(-mean_weight))


def batched_score(score: Number, updates: Sequence[Number]) -> Number:
    """s + (1/B) (sum of the batch's shrunken, clipped leaf weights). Repairs Section 5.2."""
    total = 0 * score
    for value in updates:
        total = total + value
    return score + total / len(updates)


def cyclical_feature_as_published(tree: int, features: int) -> int:
    """t mod m   (Section 5.1; refuted for features 1..m: it gives 0)."""
    return tree % features


def newton_squared_sensitivity_as_published() -> Fraction:
    """1 + 1/16   (Section 4.2: bounds of g and h taken separately; holds for add-remove, not tight)."""
    return Fraction(17, 16)


def counting_squared_sensitivity_as_published() -> int:
    """2: gradient and averaging updates, where h = 1   (Sections 4.4.1 and 4.4.2; add-remove only)."""
    return 2


def uniform_candidate(position: Number, count: Number, low: Number, high: Number) -> Number:
    """s_q = a + (q - 1)(b - a)/(Q - 1), q = 1..Q   (Section 4.5.1; undefined for Q = 1)."""
    return low + (position - 1) * (high - low) / (count - 1)


def total_renyi(
    split_queries: Number,
    weight_queries: Number,
    candidate_queries: Number,
    split_cost: Number,
    weight_cost: Number,
    candidate_cost: Number,
) -> Number:
    """tau = kappa_s tau_s + kappa_w tau_w + kappa_c tau_c   (Theorem 4.1)."""
    return split_queries * split_cost + weight_queries * weight_cost + candidate_queries * candidate_cost


def candidate_queries_as_published(splits: Splits, rounds: Number, features: Number) -> Number:
    """kappa_c of iterative Hessian: s m for totally random, 0 for histogram   (Table 1; silent on partially random)."""
    return rounds * features if splits is Splits.TOTALLY_RANDOM else 0 * rounds


def communication_rounds(trees: int, batch: int) -> int:
    """ceil(T / B)   (Section 5.2: O(T/B)); totally random trees, without iterative Hessian."""
    return -(-trees // batch)
