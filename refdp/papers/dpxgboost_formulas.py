"""The formulas of DP-XGBoost (Grislain and Gonzalvez 2021), generic over numbers."""

from __future__ import annotations

from refdp.events import Relation
from refdp.generic import Number, absolute, exp, log, maximum, minimum

# --- Objective, gain, leaf --------------------------------------------------------------------------------------------


def square_loss(score: Number, label: Number) -> Number:
    """l(ŷ, y) = (ŷ - y)^2 / 2   (Grislain and Gonzalvez 2021, section 3)."""
    return (score - label) * (score - label) / 2


def square_gradient(score: Number, label: Number) -> Number:
    """g = ŷ - y. |g| <= 1 at ŷ = 0 for labels in [-1, 1]; unbounded in ŷ, so records are filtered by |g| <= g*."""
    return score - label


def log_gradient_at(probability: Number, label: Number) -> Number:
    """g = p - y of the log loss with labels 0 and 1, p the predicted probability; |g| < 1."""
    return probability - label


def log_hessian_at(probability: Number) -> Number:
    """h = p (1 - p) of the log loss, in (0, 1/4]."""
    return probability * (1 - probability)


def quadratic_objective(gradient_sum: Number, hessian_sum: Number, value: Number, regularisation: Number) -> Number:
    """G v + (H + λ) v^2 / 2: one leaf's part of Eq. 2, with Ω = (λ/2) v^2."""
    return gradient_sum * value + (hessian_sum + regularisation) * value * value / 2


def child_gain(gradient_sum: Number, hessian_sum: Number, regularisation: Number) -> Number:
    """G^2 / (H + λ), twice what one leaf takes off the objective (Eq. 3). H is the count for square loss."""
    return gradient_sum * gradient_sum / (hessian_sum + regularisation)


def gain(
    left_gradient: Number, left_hessian: Number, right_gradient: Number, right_hessian: Number, regularisation: Number
) -> Number:
    """G(I_L, I_R) = G_L^2 / (|I_L| + λ) + G_R^2 / (|I_R| + λ)   (Grislain and Gonzalvez 2021, after Eq. 3)."""
    return child_gain(left_gradient, left_hessian, regularisation) + child_gain(
        right_gradient, right_hessian, regularisation
    )


def leaf_value(gradient_sum: Number, hessian_sum: Number, regularisation: Number) -> Number:
    """V = -G / (|I| + λ)   (Grislain and Gonzalvez 2021, Eq. 4)."""
    return -gradient_sum / (hessian_sum + regularisation)


def clip_ratio(gradient: Number, hessian: Number, ratio_bound: Number) -> Number:
    """g cut to [-B h, B h]: a function of the record alone that makes the Newton gain's sensitivity finite."""
    return maximum(-ratio_bound * hessian, minimum(ratio_bound * hessian, gradient))


# --- Split selection --------------------------------------------------------------------------------------------------


def gain_sensitivity_as_published(gradient_bound: Number) -> Number:
    """ΔG = 3 g*^2   (Grislain and Gonzalvez 2021, Eq. 5). The supremum under add-remove; 4 g*^2 under replace-one."""
    return 3 * gradient_bound * gradient_bound


def gain_sensitivity(gradient_bound: Number, relation: Relation) -> Number:
    """3 g*^2 (add-remove), 4 g*^2 (replace-one): the supremum of the absolute change of one candidate's gain."""
    return (3 if relation is Relation.ADD_REMOVE else 4) * gradient_bound * gradient_bound


def gain_range(gradient_bound: Number, relation: Relation) -> Number:
    """4 g*^2 (add-remove), 8 g*^2 (replace-one): largest minus smallest change over candidates, summed over nodes.

    One record changes a candidate's gain by more than -3 g*^2 and by at most g*^2.
    """
    return 4 * records_changed(relation) * gradient_bound * gradient_bound


def newton_gain_range(ratio_bound: Number, hessian_bound: Number, relation: Relation) -> Number:
    """4 h* B^2 (add-remove), 8 h* B^2 (replace-one) for Newton gains with |g| <= B h and h <= h*.

    Without a bound of the ratio g / h there is none. h* = 1, B = g* gives `gain_range`.
    """
    return 4 * records_changed(relation) * hessian_bound * ratio_bound * ratio_bound


def split_exponent_section_2(utility: Number, epsilon: Number, sensitivity: Number) -> Number:
    """ε u / Δu: exponent of the exponential mechanism as section 2 prints it. Too large by a factor of 2."""
    return epsilon * utility / sensitivity


def split_exponent(utility: Number, epsilon: Number, sensitivity: Number) -> Number:
    """ε u / (2 Δu): exponent of the exponential mechanism of section 4.2; with Eq. 5, ε G / (6 g*^2)."""
    return epsilon * utility / (2 * sensitivity)


def racing_key(log_weight: Number, uniform: Number) -> Number:
    """log(-log U) - log w: the candidate with the smallest key wins with probability w / Σ w   (section 4.2).

    -log(U) / w is exponential with rate w, and the key its logarithm. -key = log w + Gumbel noise.
    """
    return log(-log(uniform)) - log_weight


# --- Leaf mechanisms --------------------------------------------------------------------------------------------------


def large_enough(left_count: Number, right_count: Number, least: Number) -> Number:
    """min(n_L, n_R) >= N_min: whether a split is allowed as published, from exact counts (section 4.3). Not private."""
    return minimum(left_count, right_count) >= least


def leaf_change_as_published(gradient_bound: Number, count: Number, regularisation: Number) -> Number:
    """(2n + λ) g* / ((n + λ)(n + 1 + λ)): largest change of a leaf of n records that gains one   (Eq. 6)."""
    return (2 * count + regularisation) * gradient_bound / ((count + regularisation) * (count + 1 + regularisation))


def leaf_sensitivity(gradient_bound: Number, regularisation: Number, relation: Relation) -> Number:
    """g* / (1 + λ) (add-remove; after Eq. 6), twice that under replace-one: L1 over all leaves of a tree."""
    return records_changed(relation) * gradient_bound / (1 + regularisation)


def leaf_sensitivity_as_published(gradient_bound: Number, least: Number, regularisation: Number) -> Number:
    """2 g* / (N_min + 1 + λ)   (Grislain and Gonzalvez 2021, Eq. 7)."""
    return 2 * gradient_bound / (least + 1 + regularisation)


def padded_leaf_value(gradient_sum: Number, count: Number, least: Number, regularisation: Number) -> Number:
    """V = -G / (max(n, N_min) + λ): the repair of Eq. 7, whose bound holds for every leaf, however few its records."""
    return leaf_value(gradient_sum, maximum(count, least), regularisation)


def padded_leaf_sensitivity(
    gradient_bound: Number, least: Number, regularisation: Number, relation: Relation
) -> Number:
    """Eq. 6 at n = N_min >= 1 (add-remove), twice that under replace-one: L1 over all leaves, attained."""
    return records_changed(relation) * leaf_change_as_published(gradient_bound, least, regularisation)


def noisy_average(gradient_sum: Number, noise: Number, count: Number, bound: Number, regularisation: Number) -> Number:
    """-V, V = (S + noise) / (n + λ) cut to [-g*, g*], noise Lap(2 g* / ε)   (Algorithm 1)."""
    average = (gradient_sum + noise) / (count + regularisation)
    return -maximum(-bound, minimum(bound, average))


def noisy_average_log_density(
    output: Number, gradient_sum: Number, count: Number, regularisation: Number, scale: Number
) -> Number:
    """log[(n + λ)/(2 b)] - |v (n + λ) - S| / b: log density of V before it is cut, b the scale (Algorithm 1)."""
    size = count + regularisation
    return log(size / (2 * scale)) - absolute(output * size - gradient_sum) / scale


def noisy_average_scale(gradient_bound: Number, epsilon: Number) -> Number:
    """2 g* / ε: scale of the noise on the sum   (Algorithm 1)."""
    return 2 * gradient_bound / epsilon


def noisy_average_loss_bound(epsilon: Number, regularisation: Number) -> Number:
    """max(ε, ε/2 + log((2 + λ)/(1 + λ))): what Algorithm 1 costs under add-remove, leaves never empty; tight.

    The exact count scales the noise, so that one record changes the density by the factor (n + 1 + λ)/(n + λ).
    """
    return maximum(epsilon, epsilon / 2 + log((2 + regularisation) / (1 + regularisation)))


def noisy_ratio_sensitivity(gradient_bound: Number, count_weight: Number, relation: Relation) -> Number:
    """g* + w (add-remove), 2 g* + 2 w (replace-one): L1 of (S, w n) over all leaves, the repair of Algorithm 1."""
    return records_changed(relation) * (gradient_bound + count_weight)


def noisy_newton_sensitivity(
    gradient_bound: Number, hessian_bound: Number, hessian_weight: Number, relation: Relation
) -> Number:
    """g* + w h* (add-remove), twice that under replace-one: L1 of (G, w H) over all leaves, Hessians within h*."""
    return records_changed(relation) * (gradient_bound + hessian_weight * hessian_bound)


def child_count_sensitivity(relation: Relation) -> Number:
    """1 (add-remove), 2 (replace-one): L1 of the numbers of records of all children of a level."""
    return records_changed(relation)


# --- Sketch -----------------------------------------------------------------------------------------------------------


def sketch_scale_as_published(epsilon: Number, features: Number) -> Number:
    """m / ε_sketch: scale of the Laplace noise of every bin   (Grislain and Gonzalvez 2021, section 4.4)."""
    return features / epsilon


def sketch_sensitivity(hessian_bound: Number, relation: Relation) -> Number:
    """h* (add-remove), 2 h* (replace-one): L1 over the bins of a feature. h* = 1 for square loss, 1/4 for log loss."""
    return records_changed(relation) * hessian_bound


def median_utility(left_weight: Number, right_weight: Number) -> Number:
    """-|L - R| / 2: how far from the median a threshold is, L and R the weights on its sides."""
    return -absolute(left_weight - right_weight) / 2


def median_range(hessian_bound: Number, relation: Relation) -> Number:
    """h* (add-remove), 2 h* (replace-one): range of the change of `median_utility`, summed over disjoint intervals."""
    return records_changed(relation) * hessian_bound


def merged_error(first: Number, first_weight: Number, second: Number, second_weight: Number) -> Number:
    """(ε_1 w_1 + ε_2 w_2) / (w_1 + w_2): relative rank error after a merge, at most the larger of the two."""
    return (first * first_weight + second * second_weight) / (first_weight + second_weight)


def pruned_error(error: Number, size: Number) -> Number:
    """ε + 1/b: relative rank error after pruning a summary to b + 1 entries   (Chen and Guestrin 2016, appendix)."""
    return error + 1 / size


# --- Budget and subsampling -------------------------------------------------------------------------------------------


def third(epsilon: Number) -> Number:
    """ε / 3: the part of a tree's budget for the sketch, for all splits, for the leaves   (section 4.4)."""
    return epsilon / 3


def level_epsilon(epsilon: Number, depth: Number) -> Number:
    """ε / (3 h): the part of a tree's budget for the splits of one level, h the maximum depth   (section 4.4)."""
    return third(epsilon) / depth


def tree_cost(sketch: Number, level: Number, leaf: Number, depth: Number) -> Number:
    """ε_sketch + h ε_exponential + ε_leaf: basic composition inside a tree   (section 4.4)."""
    return sketch + depth * level + leaf


def amplified(epsilon: Number, rate: Number) -> Number:
    """log(1 + γ (e^ε - 1))   (Balle, Barthe, Gaboardi 2018; section 4.4).

    Poisson sampling: add-remove for the mechanism and the result. Without replacement: replace-one for both.
    """
    return log(amplified_odds(exp(epsilon), rate))


def amplified_odds(odds: Number, rate: Number) -> Number:
    """1 + γ (t - 1), t = e^ε: amplification as a rational function of the largest likelihood ratio."""
    return 1 + rate * (odds - 1)


def unamplified_odds(odds: Number, rate: Number) -> Number:
    """1 + (t - 1) / γ: the inverse of `amplified_odds`, which calibrates a tree under subsampling."""
    return 1 + (odds - 1) / rate


# --- Relations --------------------------------------------------------------------------------------------------------


def records_changed(relation: Relation) -> int:
    """1 under add-remove; 2 under replace-one, where one record leaves and another arrives."""
    return 1 if relation is Relation.ADD_REMOVE else 2
