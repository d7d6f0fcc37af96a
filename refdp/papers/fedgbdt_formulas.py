"""Formulas of the federated framework (Maddock et al. 2022), generic over numbers; claims are about these functions.

Every query is a sum of (g, h) over the records of a node or a bin. A squared sensitivity is the supremum of the squared
Euclidean change of the whole vector of such sums (all leaves of a tree, or all bins of a feature) between neighbours,
so that it stays exact on rational numbers; the sensitivity is its root.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction

from refdp.events import Relation
from refdp.generic import Number, absolute, exp, log, maximum, minimum


class Splits(StrEnum):
    """(C1) How inner nodes are split."""

    HISTOGRAM = "histogram"
    PARTIALLY_RANDOM = "partially-random"
    TOTALLY_RANDOM = "totally-random"


# --- Leaf weights and split scores (Section 2.1) ----------------------------------------------------------------------


def first_order_objective(weight: Number, gradient_sum: Number, regularisation: Number) -> Number:
    """G w + lambda w^2 / 2: a leaf's share of the first-order approximation (Section 2.1, before Eq. 3)."""
    return gradient_sum * weight + regularisation * weight * weight / 2


def second_order_objective(weight: Number, gradient_sum: Number, hessian_sum: Number, regularisation: Number) -> Number:
    """G w + (H + lambda) w^2 / 2: a leaf's share of the second-order approximation (Section 2.1, before Eq. 4)."""
    return gradient_sum * weight + (hessian_sum + regularisation) * weight * weight / 2


def leaf_weight(gradient_sum: Number, hessian_sum: Number, regularisation: Number) -> Number:
    """w = -G / (H + lambda)   (Eq. 4; Eq. 3 with H the number of records)."""
    return -gradient_sum / (hessian_sum + regularisation)


def released_leaf_weight(gradient_sum: Number, hessian_sum: Number, regularisation: Number) -> Number:
    """0 where the released Hessian sum is not positive, else Eq. 4: noise can make H + lambda negative. One leaf."""
    if hessian_sum <= 0:
        return 0 * gradient_sum
    return leaf_weight(gradient_sum, hessian_sum, regularisation)


def averaging_weight(positives: Number, records: Number) -> Number:
    """1/2 where the released count is not positive, else G / H clipped to [0, 1] (repairs Section 4.4.1). One leaf."""
    if records <= 0:
        return (0 * positives + 1) / 2
    return minimum(maximum(positives / records, 0 * positives), 0 * positives + 1)


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


def update(weight: Number, clip: Number, shrinkage: Number) -> Number:
    """eta min(max(w, -beta), beta). Repairs Section 4.4.3."""
    return shrinkage * minimum(maximum(weight, -clip), clip)


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


def cyclical_features(tree: int, features: int, chosen: int) -> tuple[int, ...]:
    """The next k features, counted from 1, of tree t = 1, 2, ...: 1 + ((t - 1) k + i) mod m, i < k."""
    return tuple(1 + ((tree - 1) * chosen + offset) % features for offset in range(chosen))


# --- Sensitivities of the (g, h) query (Sections 4.2 and 4.4) ---------------------------------------------------------


def squared_norm(gradient: Number, hessian: Number) -> Number:
    """g^2 + h^2: the squared change of the sums when one record is added."""
    return gradient * gradient + hessian * hessian


def log_hessian_of(gradient: Number) -> Number:
    """h = |g| (1 - |g|): for the log loss |g| = p or 1 - p and h = p (1 - p)."""
    size = absolute(gradient)
    return size * (1 - size)


def newton_squared_sensitivity_as_published() -> Fraction:
    """1 + 1/16   (Section 4.2: bounds of g and h taken separately; holds for add-remove, not tight)."""
    return Fraction(17, 16)


def counting_squared_sensitivity_as_published() -> int:
    """2: gradient and averaging updates, where h = 1   (Sections 4.4.1 and 4.4.2; add-remove only)."""
    return 2


def newton_squared_sensitivity(relation: Relation, gradient_bound: Number = 1) -> Number:
    """b^2 + b^2 (1 - b)^2 (add-remove), 4 b^2 (replace-one) for the log loss with |g| <= b, b in [1/2, 1].

    b = 1 holds always; `gradient_bound_after` gives less for the first trees. Claims: fedgbdt/newton-sensitivity-joint,
    fedgbdt/newton-sensitivity-by-round, fedgbdt/newton-sensitivity-joint-replace-one.
    """
    if relation is Relation.REPLACE_ONE:
        return 4 * gradient_bound * gradient_bound
    return squared_norm(gradient_bound, gradient_bound * (1 - gradient_bound))


def gradient_squared_sensitivity(relation: Relation, gradient_bound: Number = 1) -> Number:
    """c^2 + 1 (add-remove), max(4 c^2, 2 c^2 + 2) (replace-one) for |g| <= c and h = 1.

    Claims: fedgbdt/gradient-sensitivity-clipped, fedgbdt/gradient-sensitivity-vector-replace-one.
    """
    one_record = gradient_bound * gradient_bound + 1
    if relation is Relation.REPLACE_ONE:
        return maximum(4 * gradient_bound * gradient_bound, 2 * one_record)
    return one_record


def averaging_squared_sensitivity(relation: Relation) -> int:
    """2 (add-remove), 4 (replace-one) for g = 1{y = 1}, h = 1.

    Claims: fedgbdt/averaging-sensitivity, fedgbdt/averaging-sensitivity-vector-replace-one.
    """
    return 4 if relation is Relation.REPLACE_ONE else 2


def hessian_squared_sensitivity(relation: Relation) -> Fraction:
    """1/16 (add-remove), 1/8 (replace-one): the Hessian histogram of one feature, log loss.

    Claims: fedgbdt/hessian-histogram-sensitivity, fedgbdt/hessian-histogram-sensitivity-replace-one.
    """
    return Fraction(1, 8) if relation is Relation.REPLACE_ONE else Fraction(1, 16)


def gradient_bound_after(updates: int, clip: Number, shrinkage: Number) -> Number:
    """sigmoid(u eta beta): |g| after u updates of size at most eta beta, from the initial score 0 (log loss)."""
    return 1 / (1 + exp(-(updates * (shrinkage * clip))))


def clip_gradient(gradient: Number, bound: Number) -> Number:
    """min(max(g, -c), c): gradient clipping for losses with unbounded gradients (Section 4.2)."""
    return minimum(maximum(gradient, -bound), bound)


# --- Split candidates (Section 4.5) -----------------------------------------------------------------------------------


def uniform_candidate(position: Number, count: Number, low: Number, high: Number) -> Number:
    """s_q = a + (q - 1)(b - a)/(Q - 1), q = 1..Q   (Section 4.5.1; undefined for Q = 1)."""
    return low + (position - 1) * (high - low) / (count - 1)


def inner_uniform_candidate(position: Number, count: Number, low: Number, high: Number) -> Number:
    """a + q (b - a)/(Q + 1), q = 1..Q: every candidate lies strictly between the bounds."""
    return low + position * (high - low) / (count + 1)


def log_candidate(position: Number, count: Number, low: Number, high: Number) -> Number:
    """a - 1 + exp(q log(1 + b - a)/(Q + 1)), q = 1..Q: uniform after a log transform (Section 4.5.1)."""
    return low - 1 + exp(position * log(1 + high - low) / (count + 1))


def iterative_hessian(edges: Sequence[Number], hessians: Sequence[Number], count: int) -> list[Number]:
    """Refined inner thresholds from a feature's released Hessian histogram, exactly `count` at most (Section 4.5.2).

    edges: b_0 < ... < b_r, the public bounds and the thresholds between them; hessians: r released sums. Negative sums
    count as 0. Bins are merged until they hold more than total/Q; a bin that holds more alone is halved, the largest
    first; what is missing is filled by subdividing what lies between these thresholds, into equal parts and evenly.
    """
    masses = [maximum(h, 0 * h) for h in hessians]
    share = sum(masses) / count
    kept, mass = [], 0 * share
    for right, bin_mass in zip(edges[1:], masses, strict=True):
        mass = mass + bin_mass
        if mass > share:
            kept.append(right)
            mass = 0 * share
    heavy = sorted((i for i, bin_mass in enumerate(masses) if bin_mass > share), key=lambda i: -masses[i])
    halves = [(edges[i] + edges[i + 1]) / 2 for i in heavy]
    found = sorted(set(([edge for edge in kept if edge < edges[-1]] + halves)[:count]))
    points, missing = [edges[0], *found, edges[-1]], count - len(found)
    gaps = len(points) - 1
    for gap in range(gaps):
        parts = missing // gaps + (gap < missing % gaps)
        found = found + [inner_uniform_candidate(q, parts, *points[gap : gap + 2]) for q in range(1, parts + 1)]
    return sorted(set(found))


# --- Query counts (Theorem 4.1, Tables 1 and 2) -----------------------------------------------------------------------


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


def split_queries(splits: Splits, trees: Number, chosen: Number, depth: Number) -> Number:
    """kappa_s: T k d, T where k = 1, 0 for totally random   (Table 1; T m d is the case k = m)."""
    if splits is Splits.TOTALLY_RANDOM:
        return 0 * trees
    return trees if chosen == 1 else trees * chosen * depth


def weight_queries(splits: Splits, trees: Number) -> Number:
    """kappa_w: T for totally random, else 0, the last splits' sums being reused   (Table 1)."""
    return trees if splits is Splits.TOTALLY_RANDOM else 0 * trees


def candidate_queries_as_published(splits: Splits, rounds: Number, features: Number) -> Number:
    """kappa_c of iterative Hessian: s m for totally random, 0 for histogram   (Table 1; silent on partially random)."""
    return rounds * features if splits is Splits.TOTALLY_RANDOM else 0 * rounds


def candidate_queries(splits: Splits, rounds: Number, chosen: Number) -> Number:
    """kappa_c of iterative Hessian: s k wherever no histogram is released for the splits, else 0."""
    return 0 * rounds if splits is Splits.HISTOGRAM else rounds * chosen


def communication_rounds(trees: int, batch: int) -> int:
    """ceil(T / B)   (Section 5.2: O(T/B)); totally random trees, without iterative Hessian."""
    return -(-trees // batch)
