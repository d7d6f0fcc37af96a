"""S-GBDT as the slides print it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from refdp.accounting.individual import tabulated
from refdp.data import numbers
from refdp.data.numbers import Number, maximum
from refdp.data.records import Floats, Schema
from refdp.papers import sgbdt
from refdp.papers.sgbdt import whitened_squared
from refdp.privacy.events import Charge, Sensitivity

AS_PUBLISHED = {"weights": "printed", "support": "max"}
"""The readings that the slides print, as keyword arguments of Params."""

PRINTED = "sgbdt/nonspherical"


@dataclass(frozen=True)
class Params(sgbdt.Params):
    """weights "printed": the slides' leaf formula, whose noise has the weights exchanged against their RDP bound."""

    weights: Literal["relative", "slides", "printed"] = "relative"  # type: ignore[assignment]

    def variances(self, schema: Schema) -> tuple[float, float]:
        """ "printed" exchanges the weights, as the slides do."""
        if self.weights != "printed":
            return super().variances(schema)
        squared = self.sigma_squared(schema)
        return gradient_variance_printed(self.support_weight, squared), support_variance_printed(
            self.support_weight, squared
        )

    def leaf_charge(self, schema: Schema) -> Charge:
        """Declared: what the slides' RDP bound would be, were the weights not exchanged."""
        charge = super().leaf_charge(schema)
        if self.weights != "printed":
            return charge
        printed = numbers.root(joint_sensitivity_squared(Fraction(self.budget(schema).sigma) ** 2))
        return Charge(charge.mechanism, Sensitivity(printed, "whitened", PRINTED, self.relation), charge.proved)

    def spendable(self, schema: Schema) -> Floats:
        """A record is charged less than it costs: all rounds at their largest cost. Shape (orders,)."""
        if self.weights != "printed":
            return super().spendable(schema)
        worst = np.array([self.leaf_charge(schema).proved.bound ** 2 / 2])
        costs = [tabulated(int(order), self.subsample, worst)[0] for order in self.budget(schema).orders]
        return np.asarray((self.trees + self.extra_trees) * np.array(costs))

    def stops(self) -> bool:
        """Not where it is charged less than it costs."""
        return self.weights != "printed"


# --- Formulas that the slides print, and those that claims compare them with ------------------------------------------


def support_variance_printed(r1: Number, sigma_squared: Number) -> Number:
    """v_h = sigma^2 / (2 r2): the leaf formula of slide "Non-spherical noise", weights exchanged against its bound."""
    return sigma_squared / (2 * (1 - r1))


def gradient_variance_printed(r1: Number, sigma_squared: Number) -> Number:
    """v_g = sigma^2 / (2 r1): the leaf formula of slide "Non-spherical noise", weights exchanged against its bound."""
    return sigma_squared / (2 * r1)


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


def mean_leaf(gradient_sum: Number, count: Number, regularisation: Number) -> Number:
    """G / max(lambda, n): the leaf value of prior work (slide "Differentially private leaf computation")."""
    return gradient_sum / maximum(count, regularisation)


def mean_leaf_sensitivity_as_published(gradient_bound: Number) -> Number:
    """g*: the sensitivity that the slides state for prior work's clipped mean."""
    return gradient_bound


def mean_leaf_sensitivity(gradient_bound: Number, regularisation: Number) -> Number:
    """max(1 / lambda, 2 / (lambda + 1)) g* for whole lambda >= 1, under add-remove: n = lambda - 1, or n = lambda."""
    return gradient_bound * maximum(1 / regularisation, 2 / (regularisation + 1))
