"""DP-XGBoost as the paper prints it, and formulas that claims compare it with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from refdp.data import candidates as grids
from refdp.data.numbers import Number, absolute, log, maximum, rounded_up
from refdp.data.population import COUNT, Nodes, Population, values
from refdp.data.records import Floats, Schema
from refdp.papers import dpxgboost
from refdp.papers.dpxgboost import Ways, large_enough, leaf_sensitivity, noisy_average
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Relation, Sensitivity

AS_PUBLISHED: Mapping[str, Any] = {"constants": "published", "sampling": "without-replacement"}
"""The readings that the paper prints, as keyword arguments of Params."""


@dataclass(frozen=True)
class Params(dpxgboost.Params):
    """Where the paper contradicts itself or the guarantee, one reading has to be chosen.

    constants: "proved" (the ledger's, with leaf values padded to the minimum, or from noisy sums and counts), or
      "published" (Eq. 5 to 7 and Algorithm 1 as printed, the minimum decided on exact counts).
    exponent: of published split selection, "half", epsilon u / (2 Delta u) (section 4.2), or "whole" (section 2).
    sampling: "matching", Poisson for add-remove and without replacement for replace-one; or "without-replacement".
    """

    constants: Literal["proved", "published"] = "proved"
    exponent: Literal["half", "whole"] = "half"
    sampling: Literal["matching", "without-replacement"] = "matching"

    @property
    def exact_counts(self) -> bool:
        """Whether splits are left out by exact counts (section 4.3, N_min)."""
        return self.constants == "published" and self.leaf == "minimum"

    @property
    def mismatched(self) -> bool:
        """Whether rows are sampled without replacement although records are added or removed."""
        without = self.sampling == "without-replacement" and self.subsample < 1
        return without and self.relation is Relation.ADD_REMOVE

    @property
    def summed(self) -> tuple[str, ...]:
        """Counts as well where the minimum is decided on them; for square loss Hessians count."""
        counted = self.loss == "square" or COUNT in super().summed
        return super().summed if counted or not self.exact_counts else (*super().summed, COUNT)

    @property
    def padding(self) -> int:
        """Nothing is padded: the minimum is that of the splits."""
        return 0 if self.constants == "published" else super().padding

    def declared(self, released: str, schema: Schema, epsilon: float, proved: Sensitivity) -> Sensitivity:
        """What the paper prints of sketches (section 4.4), splits (Eq. 5) and leaves (Eq. 6, 7 and Algorithm 1)."""
        if self.constants == "proved" or released == "counts":
            return proved
        if released == "sketch":
            m = self.sketch_size(schema)
            printed = rounded_up(lambda given: given * sketch_scale_as_published(given, m), epsilon)
            return self.sensitivity(printed, 1, f"sketch{self.end}")
        return self._splits() if released == "splits" else self._leaves(epsilon)

    def _splits(self) -> Sensitivity:
        """Section 2: e^(eps u / Delta u); section 4.2: e^(eps u / (2 Delta u))."""
        bound = min(self.gradient_bound, 1.0) if self.newton else self.largest_gradient
        eq_5, whole, claim = rounded_up(gain_sensitivity_as_published, bound), self.exponent == "whole", ""
        if whole:
            claim = "exponential-section-2"
        elif self.end:
            claim = "split-selection-replace-one"
        elif self.exact_counts:
            claim = "min-child-weight"  # Eq. 5 holds, but splits that exact counts leave out have no bound
        else:
            claim = "newton-gain-sensitivity" if self.newton else "split-selection"
        return self.sensitivity(eq_5 if whole else 2 * eq_5, "range", claim)

    def _leaves(self, epsilon: float) -> Sensitivity:
        bound, shrunk, end = self.largest_gradient, self.regularisation, self.end
        if self.leaf == "average":
            printed = rounded_up(lambda *given: given[1] * noisy_average_scale(*given), bound, epsilon)
            return self.sensitivity(printed, 1, f"noisy-average{end}")
        if self.leaf == "laplace":
            printed = rounded_up(leaf_sensitivity, bound, shrunk, Relation.ADD_REMOVE)
            return self.sensitivity(printed, 1, "leaf-sensitivity-published-replace-one" if end else "leaf-sensitivity")
        printed = rounded_up(leaf_sensitivity_as_published, bound, self.child_minimum, shrunk)
        return self.sensitivity(printed, 1, f"min-child-weight{end}")

    @contextmanager
    def sampled(self, population: Population, curator: Curator) -> Iterator[None]:
        """Without replacement, for whichever neighbours."""
        if not self.mismatched:
            with super().sampled(population, curator):
                yield
            return
        with curator.partition("rows", [self.subsample], population, True) as blocks, blocks.block(0):
            yield

    def offered(self, schema: Schema, options: Floats, utility: Floats, ways: Ways) -> tuple[Floats, Floats]:
        """Section 4.3, N_min: splits with a child of fewer records are left out, and none at all is the last option.

        options: shape (option, 2 or 3); utility: shape (node, option).
        """
        if not self.exact_counts:
            return utility, options
        counts = ((left[-1], right[-1]) for left, right in ways)
        allowed = np.concatenate([large_enough(*each, self.child_minimum) for each in counts], axis=-1)
        rest = np.where(allowed.any(axis=1, keepdims=True), -np.inf, 0.0)
        utility = np.concatenate([np.where(allowed, utility, -np.inf), rest], axis=1)
        return utility, np.vstack([options, grids.no_split(schema, options.shape[1])])

    def averages(self, charge: Charge, population: Population, curator: Curator) -> Floats:
        """Algorithm 1: a noisy sum of gradients over the exact count. Shape (leaf,)."""
        if self.constants == "proved":
            return super().averages(charge, population, curator)
        gradient_sum, size = values(population.ask(Nodes(("g", COUNT))))
        noisy = curator.release("leaves", charge, gradient_sum)
        return np.asarray(noisy_average(noisy, 0.0, size, self.gradient_bound, self.regularisation))

    def breaches(self) -> list[str]:
        """What has no bound, or was given away exactly."""
        found = super().breaches()
        if self.mismatched:
            found.append("rows are sampled without replacement while records are added (dpxgboost/subsampling)")
        if self.exact_counts:
            found.append("splits are left out by exact counts of records (dpxgboost/min-child-weight)")
        if self.constants == "published" and self.leaf == "average":
            found.append("leaf values are divided by exact counts (dpxgboost/noisy-average)")
        return found


# --- Formulas that the paper prints, and those that claims compare them with ------------------------------------------


def square_loss(score: Number, label: Number) -> Number:
    """l(ŷ, y) = (ŷ - y)^2 / 2   (Grislain and Gonzalvez 2021, section 3)."""
    return (score - label) * (score - label) / 2


def quadratic_objective(gradient_sum: Number, hessian_sum: Number, value: Number, regularisation: Number) -> Number:
    """G v + (H + λ) v^2 / 2: one leaf's part of Eq. 2, with Ω = (λ/2) v^2."""
    return gradient_sum * value + (hessian_sum + regularisation) * value * value / 2


def gain_sensitivity_as_published(gradient_bound: Number) -> Number:
    """ΔG = 3 g*^2   (Grislain and Gonzalvez 2021, Eq. 5). The supremum under add-remove; 4 g*^2 under replace-one."""
    return 3 * gradient_bound * gradient_bound


def gain_sensitivity(gradient_bound: Number, relation: Relation) -> Number:
    """3 g*^2 (add-remove), 4 g*^2 (replace-one): the supremum of the absolute change of one candidate's gain."""
    return (3 if relation is Relation.ADD_REMOVE else 4) * gradient_bound * gradient_bound


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


def leaf_sensitivity_as_published(gradient_bound: Number, least: Number, regularisation: Number) -> Number:
    """2 g* / (N_min + 1 + λ)   (Grislain and Gonzalvez 2021, Eq. 7)."""
    return 2 * gradient_bound / (least + 1 + regularisation)


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


def sketch_scale_as_published(epsilon: Number, features: Number) -> Number:
    """m / ε_sketch: scale of the Laplace noise of every bin   (Grislain and Gonzalvez 2021, section 4.4)."""
    return features / epsilon
