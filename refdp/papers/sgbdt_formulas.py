"""The formulas of S-GBDT, generic over numbers.

r1 is the weight of the leaf support (sum of Hessians h), r2 = 1 - r1 that of the sum of gradients g. A release of both
sums has Gaussian noise of variances v_h and v_g, so one record costs alpha (h^2 / (2 v_h) + g^2 / (2 v_g)).
"""

from __future__ import annotations

import math

from refdp.generic import Number, log, maximum, minimum


def clipped(value: Number, low: Number, high: Number) -> Number:
    """min(max(value, low), high)."""
    return minimum(maximum(value, low), high)


def record_cost(
    gradient: Number, hessian: Number, gradient_bound: Number, hessian_bound: Number, r1: Number, sigma_squared: Number
) -> Number:
    """t_i = (r1 h_i^2 / h*^2 + r2 g_i^2 / g*^2) / sigma^2: one record costs alpha t_i. At most 1 / sigma^2.

    The weights are relative to the clipping bounds (full text). Slide "Individual Rényi DP" has h = 1 and no bounds.
    """
    relative_gradient, relative_hessian = gradient / gradient_bound, hessian / hessian_bound
    return (r1 * relative_hessian * relative_hessian + (1 - r1) * relative_gradient * relative_gradient) / sigma_squared


def record_cost_slides(gradient: Number, hessian: Number, r1: Number, sigma_squared: Number) -> Number:
    """t_i = (r1 h_i^2 + r2 g_i^2) / sigma^2: the weights of the slides, in units of the sums (h = 1 on the slides)."""
    return (r1 * hessian * hessian + (1 - r1) * gradient * gradient) / sigma_squared


def support_variance(hessian_bound: Number, r1: Number, sigma_squared: Number) -> Number:
    """v_h = h*^2 sigma^2 / (2 r1): what makes `record_cost` exact."""
    return hessian_bound * hessian_bound * sigma_squared / (2 * r1)


def gradient_variance(gradient_bound: Number, r1: Number, sigma_squared: Number) -> Number:
    """v_g = g*^2 sigma^2 / (2 r2): what makes `record_cost` exact."""
    return gradient_bound * gradient_bound * sigma_squared / (2 * (1 - r1))


def support_variance_slides(r1: Number, sigma_squared: Number) -> Number:
    """v_h = sigma^2 / (2 r1): what makes `record_cost_slides` exact."""
    return sigma_squared / (2 * r1)


def gradient_variance_slides(r1: Number, sigma_squared: Number) -> Number:
    """v_g = sigma^2 / (2 r2): what makes `record_cost_slides` exact."""
    return sigma_squared / (2 * (1 - r1))


def support_variance_printed(r1: Number, sigma_squared: Number) -> Number:
    """v_h = sigma^2 / (2 r2): the leaf formula of slide "Non-spherical noise", weights exchanged against its bound."""
    return sigma_squared / (2 * (1 - r1))


def gradient_variance_printed(r1: Number, sigma_squared: Number) -> Number:
    """v_g = sigma^2 / (2 r1): the leaf formula of slide "Non-spherical noise", weights exchanged against its bound."""
    return sigma_squared / (2 * r1)


def whitened_squared(gradient: Number, hessian: Number, v_g: Number, v_h: Number) -> Number:
    """g^2 / v_g + h^2 / v_h: squared change of one leaf's pair of sums, in standard deviations of its noise."""
    return gradient * gradient / v_g + hessian * hessian / v_h


def gaussian_divergence(order: Number, gradient: Number, hessian: Number, v_g: Number, v_h: Number) -> Number:
    """D_alpha = (alpha / 2) (g^2 / v_g + h^2 / v_h) of the noisy sums with and without one record."""
    return order * whitened_squared(gradient, hessian, v_g, v_h) / 2


def joint_sensitivity_squared(sigma_squared: Number) -> Number:
    """2 / sigma^2: supremum of `whitened_squared` over |g| <= g*, 0 <= h <= h*, under add-remove, for r1 + r2 = 1."""
    return 2 / sigma_squared


def joint_sensitivity_squared_replace_one(r1: Number, sigma_squared: Number) -> Number:
    """max(2, 1 + 3 r2) 2 / sigma^2 under replace-one: the two records in two leaves, or in one with opposite gradients.

    In one leaf the gradients can differ by 2 g* and the Hessians, both in [0, h*], by h*.
    """
    return maximum(1 + 3 * (1 - r1), 0 * r1 + 2) * joint_sensitivity_squared(sigma_squared)


def joint_sensitivity_squared_replace_one_counts(r1: Number, sigma_squared: Number) -> Number:
    """max(2, 4 r2) 2 / sigma^2 under replace-one where every Hessian is h* (square loss)."""
    return maximum(4 * (1 - r1), 0 * r1 + 2) * joint_sensitivity_squared(sigma_squared)


def optimum_ratio(value: Number, gradient_bound: Number, hessian_bound: Number) -> Number:
    """r1 / r2 = |v| h* / g*: minimises the noise v_g + v^2 v_h of a leaf of value v (times its squared support).

    First order in the noise: Var(u/w) = (v_g + v^2 v_h) / w^2. At |v| = g*/h*, the largest value, it is 1: r1 = 1/2.
    """
    return maximum(value, -value) * hessian_bound / gradient_bound


def optimum_ratio_slides(value: Number, gradient_bound: Number, hessian_bound: Number) -> Number:
    """r1 / r2 = |v| g* / h* in the weights of the slides, at a fixed worst cost r1 h*^2 + r2 g*^2."""
    return maximum(value, -value) * gradient_bound / hessian_bound


def leaf_noise(value: Number, gradient_bound: Number, hessian_bound: Number, r1: Number) -> Number:
    """(v_g + v^2 v_h) 2 / sigma^2 = g*^2 / r2 + v^2 h*^2 / r1: what `optimum_ratio` minimises over r1 in (0, 1)."""
    return gradient_bound * gradient_bound / (1 - r1) + value * value * hessian_bound * hessian_bound / r1


def support_additive(noisy_support: Number, regularisation: Number) -> Number:
    """w = lambda + noisy support (full text)."""
    return regularisation + noisy_support


def support_max(noisy_support: Number, regularisation: Number) -> Number:
    """w = max(lambda, noisy support) (slides)."""
    return maximum(noisy_support, regularisation)


def leaf_value(gradient_sum: Number, support: Number, clip: Number) -> Number:
    """-u / w clamped to [-beta, beta], with g = dl/ds; for w > 0 (post-processing of the noisy sums)."""
    return clipped(-gradient_sum / support, -clip, clip)


def mean_leaf(gradient_sum: Number, count: Number, regularisation: Number) -> Number:
    """G / max(lambda, n): the leaf value of prior work (slide "Differentially private leaf computation")."""
    return gradient_sum / maximum(count, regularisation)


def mean_leaf_sensitivity_as_published(gradient_bound: Number) -> Number:
    """g*: the sensitivity that the slides state for prior work's clipped mean."""
    return gradient_bound


def mean_leaf_sensitivity(gradient_bound: Number, regularisation: Number) -> Number:
    """max(1 / lambda, 2 / (lambda + 1)) g* for whole lambda >= 1, under add-remove: n = lambda - 1, or n = lambda."""
    return gradient_bound * maximum(1 / regularisation, 2 / (regularisation + 1))


def subsampled_moment(order: int, rate: Number, growth: Number) -> Number:
    """E[(P/Q)^alpha] of a Poisson-subsampled Gaussian against the base, growth = exp(t), for whole alpha >= 2.

    (1-γ)^(α-1) (αγ - γ + 1) + sum_{l=2..α} C(α,l) (1-γ)^(α-l) γ^l growth^(l(l-1))  (Mironov, Talwar, Zhang 2019).
    """
    kept = 1 - rate
    total = kept ** (order - 1) * (order * rate - rate + 1)
    for taken in range(2, order + 1):
        ways = math.comb(order, taken)
        total = total + ways * kept ** (order - taken) * rate**taken * growth ** (taken * (taken - 1))
    return total


def subsampled_cost(order: int, rate: Number, growth: Number) -> Number:
    """a(alpha, gamma, t) = log(subsampled_moment) / (alpha - 1), growth = exp(t); gamma = 1 gives alpha t."""
    return log(subsampled_moment(order, rate, growth)) / (order - 1)
