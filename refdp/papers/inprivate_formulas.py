"""The formulas of InPrivate Digging (Zhao et al. 2018), generic over numbers: trained with and proved."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from refdp.events import Relation
from refdp.generic import Number, absolute, exp, log, maximum, minimum

# --- Binary classification: the log loss in its 2yf form --------------------------------------------------------------


def loss(label: Number, score: Number) -> Number:
    """L(y, f) = log(1 + exp(-2 y f))   (Zhao et al. 2018, Eq. 5). A likelihood only for labels -1 and 1."""
    return log(1 + exp(-2 * label * score))


def residual(label: Number, score: Number) -> Number:
    """ȳ = 2 y / (1 + exp(2 y f))   (Zhao et al. 2018, Eq. 6). |ȳ| < 2, and |ȳ| = 1 only at f = 0."""
    return residual_at_odds(label, exp(2 * label * score))


def residual_at_odds(label: Number, odds: Number) -> Number:
    """ȳ = 2 y / (1 + u), u = exp(2 y f) > 0: Eq. 6 as a rational function of the odds."""
    return 2 * label / (1 + odds)


def curvature(residual: Number) -> Number:
    """|ȳ| (2 - |ȳ|), in [0, 1] for |ȳ| <= 2   (Zhao et al. 2018, Eq. 8, one term of the denominator)."""
    size = absolute(residual)
    return size * (2 - size)


def newton_step(residual_sum: Number, curvature_sum: Number) -> Number:
    """γ = Σ ȳ / Σ |ȳ| (2 - |ȳ|)   (Zhao et al. 2018, Eq. 8)."""
    return residual_sum / curvature_sum


def probability(score: Number) -> Number:
    """P_+ = 1 / (1 + exp(-2 f))   (Zhao et al. 2018, Eq. 9)."""
    return probability_at_odds(exp(2 * score))


def probability_at_odds(odds: Number) -> Number:
    """P_+ = v / (1 + v), v = exp(2 f) > 0: Eq. 9 as a rational function of the odds of the label 1."""
    return odds / (1 + odds)


# --- Regression: square loss ------------------------------------------------------------------------------------------


def square_loss(label: Number, score: Number) -> Number:
    """L(y, f) = (y - f)^2 / 2   (Zhao et al. 2018, Eq. 12)."""
    return (label - score) * (label - score) / 2


def square_residual(label: Number, score: Number) -> Number:
    """ȳ = y - f   (Zhao et al. 2018, Eq. 13). Unbounded in f."""
    return label - score


def mean_residual(residual_sum: Number, count: Number) -> Number:
    """γ = Σ ȳ / n   (Zhao et al. 2018, Eq. 14)."""
    return residual_sum / count


def damped_step(numerator: Number, denominator: Number, least: Number, bound: Number) -> Number:
    """γ = numerator / max(denominator, least), cut to [-bound, bound]: Eq. 11 and 15 from noisy sums, repaired.

    Noise can bring a denominator near 0 or below it, where the printed quotient is without meaning. Post-processing.
    """
    return clip(newton_step(numerator, maximum(denominator, least)), bound)


def noisy_step(numerator: Number, numerator_noise: Number, denominator: Number, denominator_noise: Number) -> Number:
    """γ = (numerator + noise) / (denominator + noise)   (Zhao et al. 2018, Eq. 11 and 15)."""
    return newton_step(numerator + numerator_noise, denominator + denominator_noise)


def clip(residual: Number, bound: Number) -> Number:
    """The residual cut to [-B, B], a function of the record alone: the repair of the published range."""
    return maximum(-bound, minimum(bound, residual))


# --- Gain of a split --------------------------------------------------------------------------------------------------


def square_error(residuals: Sequence[Number]) -> Number:
    """E = Σ (ȳ - mean(ȳ))^2, 0 for an empty node   (Zhao et al. 2018, section III-B)."""
    if not residuals:
        return 0
    mean = mean_residual(sum(residuals), len(residuals))
    return sum((r - mean) * (r - mean) for r in residuals)


def node_score(residual_sum: Number, count: Number) -> Number:
    """G^2 / n, 0 for an empty node: Σ ȳ^2 - E."""
    return nonempty_score(residual_sum, maximum(count, 1))


def nonempty_score(residual_sum: Number, count: Number) -> Number:
    """G^2 / n for n >= 1."""
    return residual_sum * residual_sum / count


def gain(left_sum: Number, left_count: Number, right_sum: Number, right_count: Number) -> Number:
    """E - E_L - E_R = G_L^2/n_L + G_R^2/n_R - G^2/n   (Zhao et al. 2018, section III-B and Alg. 1, l. 8)."""
    parent = node_score(left_sum + right_sum, left_count + right_count)
    return node_score(left_sum, left_count) + node_score(right_sum, right_count) - parent


def gain_sensitivity_as_published() -> Number:
    """Δ = 4   (Zhao et al. 2018, section V-A), from residuals in [-1, 1]."""
    return 4


def gain_change(residual_bound: Number, relation: Relation) -> Number:
    """4 B^2 (add-remove), 8 B^2 (replace-one): the supremum of the absolute change of one candidate's gain."""
    return 4 * records_changed(relation) * residual_bound * residual_bound


def gain_range(residual_bound: Number, relation: Relation) -> Number:
    """4 B^2 (add-remove), 8 B^2 (replace-one): largest minus smallest change over candidates, summed over nodes.

    Under add-remove half of twice the sensitivity: the parent's error changes alike for all candidates and cancels.
    """
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
    return [sum(group) / len(group) for group in groups]


# --- Leaf queries -----------------------------------------------------------------------------------------------------


def leaf_scale_as_published(epsilon: Number) -> Number:
    """1 / (ε_2 / 2): the scale of both Laplace queries of a leaf   (Zhao et al. 2018, Eq. 11 and 15)."""
    return 1 / (epsilon / 2)


def classification_leaf_sensitivity(relation: Relation) -> Number:
    """9/4 (add-remove), 9/2 (replace-one): L1, both queries and all leaves together, attained at |ȳ| = 3/2.

    |ȳ| + |ȳ| (2 - |ȳ|) is largest inside the range, so the joint bound is below the sum 2 + 1 of the single ones.
    """
    return records_changed(relation) * Fraction(9, 4)


def regression_leaf_sensitivity(residual_bound: Number, relation: Relation) -> Number:
    """B + 1 (add-remove), 2 B + 2 (replace-one): L1, sum and count together over all leaves, attained."""
    return records_changed(relation) * (residual_bound + 1)


def records_changed(relation: Relation) -> int:
    """1 under add-remove; 2 under replace-one, where one record leaves and another arrives."""
    return 1 if relation is Relation.ADD_REMOVE else 2


# --- Budget -----------------------------------------------------------------------------------------------------------


def queries(depth: Number) -> Number:
    """(d - 1) + 2 = d + 1 queries a tree, d counting the level of the leaves   (Zhao et al. 2018, section V-A)."""
    return (depth - 1) + 2


def tree_cost(split_epsilon: Number, leaf_epsilon: Number, depth: Number) -> Number:
    """(d - 1) split_epsilon + 2 leaf_epsilon: what the queries of one tree add up to   (Theorem 7's proof)."""
    return (depth - 1) * split_epsilon + 2 * leaf_epsilon


def level_epsilon(epsilon: Number, depth: Number) -> Number:
    """ε_1 / (d - 1): the share of one level   (Theorem 7's proof; Alg. 1, l. 10 prints ε_1)."""
    return epsilon / (depth - 1)


# --- Rounds, quality and schedule among owners ------------------------------------------------------------------------


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


def round_share(number: int) -> Number:
    """2^-t: the chance that a record falls into round t = 1, 2, ..., independently of all other records."""
    return Fraction(1, 2**number)


def mean_absolute_error(errors: Sequence[Number]) -> Number:
    """MAE = (1/n) Σ |y - f(x)|   (Zhao et al. 2018, Eq. 17). errors: y - f(x) of each record."""
    return sum(absolute(error) for error in errors) / len(errors)


def error_change(before: Number, after: Number, tolerance: Number, bound: Number) -> Number:
    """|y - f_before| - |y - f_after| - p of a record, cut to [-E, E]: by how much its error falls by more than p.

    before, after: y - f(x); for classes 0 or 1, right or wrong. Sums above 0 mean an advance above p on average
    (Zhao et al. 2018, section VI-B), up to the cut, and need no count of the records.
    """
    return clip(absolute(before) - absolute(after) - tolerance, bound)


def advance_sensitivity(bound: Number, relation: Relation) -> Number:
    """E (add-remove), 2 E (replace-one): change of a sum of values in [-E, E], attained."""
    return records_changed(relation) * bound


def margin(scale: Number, beta: Number) -> Number:
    """b log(1 / (2 β)): Laplace noise of scale b exceeds it with probability β, for β <= 1/2."""
    return scale * log(1 / (2 * beta))


def error_sensitivity(error_bound: Number, count: Number, relation: Relation) -> Number:
    """E / (n + 1) for an added record, E / n for a replaced one: change of a mean of n values in [0, E], attained."""
    return error_bound / (count + 1 if relation is Relation.ADD_REMOVE else count)


def baseline_time(owners: Number, residual_time: Number, tree_time: Number) -> Number:
    """c(n) = (n^2 - n)/2 c1 + n c2   (Zhao et al. 2018, Eq. 18). The n-th owner waits c(n - 1)."""
    return (owners * owners - owners) / 2 * residual_time + owners * tree_time


def broadcast_time(owners: Number, residual_time: Number, tree_time: Number) -> Number:
    """c(n) = (n - 1) c1 + n c2   (Zhao et al. 2018, Eq. 19). The n-th owner waits c(n - 1)."""
    return (owners - 1) * residual_time + owners * tree_time


def baseline_messages(owners: Number) -> Number:
    """n - 1: every owner but the last sends once, owner i all i trees so far."""
    return owners - 1


def broadcast_messages(owners: Number) -> Number:
    """n (n - 1) / 2: owner i sends one tree to each of the n - i owners after it   (section VI-C)."""
    return owners * (owners - 1) / 2


def finish_times(owners: int, residual_time: Number, tree_time: Number, *, broadcast: bool) -> list[Number]:
    """When each owner has its tree, step by step; an owner works on one thing at a time and starts when it can.

    broadcast: every tree goes to all later owners at once; else owner i gets i - 1 trees when owner i - 1 is done.
    """
    finished: list[Number] = []
    for owner in range(owners):
        free = 0 * tree_time  # when this owner can take up the next tree's residuals
        for tree in range(owner):
            arrival = finished[tree] if broadcast else finished[-1]
            free = maximum(free, arrival) + residual_time
        finished.append(free + tree_time)
    return finished
