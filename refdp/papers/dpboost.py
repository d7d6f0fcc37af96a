"""DPBoost: Li, Wu, Wen, He. Privacy-Preserving Gradient Boosting Decision Trees. AAAI 2020."""

from __future__ import annotations

from refdp.events import Relation
from refdp.generic import Number, minimum

PAPER = "Li, Wu, Wen, He: Privacy-Preserving Gradient Boosting Decision Trees (AAAI 2020, arXiv 1911.04209)"


# --- Formulas, generic over numbers -----------------------------------------------------------------------------------


def child_gain(gradient_sum: Number, count: Number, regularisation: Number) -> Number:
    """G^2 / (n + lambda): what one child adds to the gain (Li et al. 2020, one term of Eq. 3)."""
    return gradient_sum * gradient_sum / (count + regularisation)


def gain(
    left_gradient: Number, left_count: Number, right_gradient: Number, right_count: Number, regularisation: Number
) -> Number:
    """G(I_L, I_R) = G_L^2 / (n_L + lambda) + G_R^2 / (n_R + lambda)   (Li et al. 2020, Eq. 3)."""
    return child_gain(left_gradient, left_count, regularisation) + child_gain(
        right_gradient, right_count, regularisation
    )


def leaf_value(gradient_sum: Number, count: Number, regularisation: Number) -> Number:
    """V = -G / (n + lambda)   (Li et al. 2020, Eq. 4)."""
    return -gradient_sum / (count + regularisation)


def gain_sensitivity_as_published(gradient_bound: Number, regularisation: Number) -> Number:
    """(3 lambda + 2) / ((lambda + 1)(lambda + 2)) g*^2   (Li et al. 2020, Lemma 1 and Corollary 1; refuted)."""
    numerator = 3 * regularisation + 2
    return numerator / ((regularisation + 1) * (regularisation + 2)) * gradient_bound * gradient_bound


def gain_change_upper(gradient_bound: Number) -> Number:
    """g*^2: the supremum of the change of the gain when one record is added."""
    return gradient_bound * gradient_bound


def gain_change_lower(gradient_bound: Number) -> Number:
    """-3 g*^2: the infimum of the change of the gain when one record is added."""
    return -3 * gradient_bound * gradient_bound


def gain_range(gradient_bound: Number, relation: Relation) -> Number:
    """4 g*^2 (add-remove), 8 g*^2 (replace-one): largest minus smallest change over candidates, summed over nodes.

    Repairs Lemma 1. The exponential mechanism pays for this range, which is below twice the sensitivity 3 g*^2.
    """
    one_record = gain_change_upper(gradient_bound) - gain_change_lower(gradient_bound)
    return records_changed(relation) * one_record


def leaf_sensitivity_as_published(gradient_bound: Number, regularisation: Number, clip: Number) -> Number:
    """min(g* / (1 + lambda), 2 c)   (Li et al. 2020, Lemma 2 and Corollary 2)."""
    return minimum(gradient_bound / (1 + regularisation), 2 * clip)


def leaf_sensitivity(gradient_bound: Number, regularisation: Number, clip: Number, relation: Relation) -> Number:
    """min(g*/(1 + lambda), (g* + c)/(2 + lambda), 2 c), L1 over the leaves of a tree; twice that under replace-one.

    Tighter than Corollary 2 where c lies between g*/(3 + 2 lambda) and g*/(1 + lambda).
    """
    straddling = (gradient_bound + clip) / (2 + regularisation)
    one_record = minimum(leaf_sensitivity_as_published(gradient_bound, regularisation, clip), straddling)
    return records_changed(relation) * one_record


def records_changed(relation: Relation) -> int:
    """1 under add-remove; 2 under replace-one, where one record leaves and another arrives."""
    return 1 if relation is Relation.ADD_REMOVE else 2


def leaf_clip(gradient_bound: Number, shrinkage: Number, position: int) -> Number:
    """g* (1 - eta)^position, position counted from 0 (Li et al. 2020, section 3.1, geometric leaf clipping)."""
    return gradient_bound * (1 - shrinkage) ** position


def share(shrinkage: Number, position: int, trees_in_ensemble: int) -> Number:
    """eta (1 - eta)^t / (1 - (1 - eta)^T_e)   (Li et al. 2020, section 3.2, before Algorithm 2)."""
    return shrinkage * (1 - shrinkage) ** position / (1 - (1 - shrinkage) ** trees_in_ensemble)
