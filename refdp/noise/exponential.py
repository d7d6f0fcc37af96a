"""The exponential mechanism: its two one-pass samplers, exact probabilities, losses, divergences and costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from refdp.data import numbers
from refdp.errors import InvalidParameter
from refdp.noise.divergences import bounded_range_divergence, log_mean_exp, table_divergence
from refdp.noise.draws import (
    Draws,
    FloatArray,
    IntArray,
    check_norm,
    check_order,
    check_positive,
    check_shape,
    checked_draws,
    quotient_at_most,
)
from refdp.privacy.events import Norm, Sensitivity


@dataclass(frozen=True)
class Exponential:
    """Per row of a utility table, option c with probability proportional to exp(coefficient * utility[c]).

    value: utilities of shape (rows, options); -inf excludes an option, each row keeps at least one. Output: the chosen
    indices, shape (rows,). Rows are independent. Source: McSherry and Talwar 2007.

    Both samplers have exactly this distribution. With weights w_c = exp(coefficient * u_c):
    gumbel: argmax of log w_c + G_c with standard Gumbel G_c.
    racing: argmin of E_c / w_c with standard exponential E_c, taken as log E_c - log w_c (the one-pass "racing trick"
      of the DP-XGBoost paper, section 4.2, after Medina and Gillenwater 2020). E_c / w_c is exponential of rate w_c, so
      P(c is first) = ∫ w_c e^(-w_c s) Π_{j != c} e^(-w_j s) ds = w_c / Σ_j w_j.
    They are one sampler: -log E_c is a standard Gumbel, so that the same E gives the same choice through either.
    """

    coefficient: float
    sampler: Literal["gumbel", "racing"] = "gumbel"

    def __post_init__(self) -> None:
        check_positive("coefficient of the exponential mechanism", self.coefficient)
        if self.sampler not in ("gumbel", "racing"):
            raise InvalidParameter(f"sampler {self.sampler!r}: allowed are 'gumbel' and 'racing'")

    @classmethod
    def calibrated(
        cls, epsilon: float, range_bound: float, sampler: Literal["gumbel", "racing"] = "gumbel"
    ) -> Exponential:
        """coefficient = epsilon / range_bound, rounded down; the bound is on Σ_rows (max - min) of the utility change.

        The classical factor 1 / (2 Δ) is the special case range_bound = 2 Δ: changes of at most Δ in either direction.
        """
        check_positive("epsilon", epsilon)
        check_positive("range bound", range_bound)
        return cls(quotient_at_most(epsilon, range_bound), sampler)

    @property
    def STANDARD(self) -> str:
        """The kind of standard draws: follows from the sampler."""
        return "gumbel" if self.sampler == "gumbel" else "exponential"

    def draws(self, value: ArrayLike) -> Draws:
        """One draw per row and option."""
        return Draws(self.STANDARD, utilities(value).shape)

    def apply(self, value: ArrayLike, standard: ArrayLike) -> IntArray:
        """The chosen option of every row, shape (rows,).

        Errors: InvalidParameter for draws of another shape, or negative ones.
        """
        table = utilities(value)
        draws = checked_draws(standard, table.shape)
        log_weights = self._log_weights(table)
        if self.sampler == "gumbel":
            return np.asarray(np.argmax(log_weights + draws, axis=1), dtype=np.int64)
        if (draws < 0).any():
            raise InvalidParameter("a negative exponential draw: allowed are finite numbers >= 0")
        log_draws = numbers.log(draws)
        times = np.subtract(log_draws, log_weights, out=np.full(table.shape, np.inf), where=log_weights > -np.inf)
        return np.asarray(np.argmin(times, axis=1), dtype=np.int64)

    def log_density(self, value: ArrayLike, output: ArrayLike) -> FloatArray:
        """log P(output), shape (rows,); -inf for an excluded option."""
        table = utilities(value)
        return _chosen(self._log_probabilities(table), output)

    def loss(self, value: ArrayLike, other: ArrayLike, output: ArrayLike) -> FloatArray:
        """ℓ_c = log Σ_j p_j exp(k (d_j - d_c)) with d = other - value and k the coefficient, shape (rows,).

        The difference of the log probabilities, from the changes only, so that utilities of 1e8 cost no digits.
        ±inf where exactly one of the two values excludes the option.

        Errors: InvalidParameter for an option that both values exclude.
        """
        table, changed = _tables(value, other)
        if np.isneginf(_chosen(np.maximum(table, changed), output)).any():
            raise InvalidParameter("output chooses an option that both values exclude: its loss is undefined")
        return _chosen(self._losses(table, changed), output)

    def divergence(self, value: ArrayLike, other: ArrayLike, order: float) -> float:
        """Σ_rows D_α(p || p'), by summing over the options."""
        check_order(order)
        table, changed = _tables(value, other)
        log_p, log_q = self._log_probabilities(table), self._log_probabilities(changed)
        return float(table_divergence(log_p, log_q, self._losses(table, changed), order).sum())

    def worst_loss(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """The largest loss over the options, shape (rows,)."""
        return np.asarray(self._losses(*_tables(value, other)).max(axis=1, initial=-np.inf))

    def worst_output(self, value: ArrayLike, other: ArrayLike) -> IntArray:
        """An option of largest loss in every row. Array of shape (rows,)."""
        return np.asarray(np.argmax(self._losses(*_tables(value, other)), axis=1), dtype=np.int64)

    def observed_change(self, value: ArrayLike, other: ArrayLike, norm: Norm) -> float:
        """Σ_rows (max - min) of the change of the utilities; inf where the excluded options differ."""
        check_norm("the exponential mechanism", norm, ("range",))
        table, changed = _tables(value, other)
        if not np.array_equal(np.isneginf(table), np.isneginf(changed)):
            return math.inf
        change = np.subtract(changed, table, out=np.zeros_like(table), where=table > -np.inf)
        kept = table > -np.inf
        highest = change.max(axis=1, initial=-np.inf, where=kept)
        return float((highest - change.min(axis=1, initial=np.inf, where=kept)).sum())

    def pure_cost(self, sensitivity: Sensitivity) -> float:
        """ε = coefficient * range bound (McSherry and Talwar 2007, with the range in place of 2 Δ)."""
        check_norm("the exponential mechanism", sensitivity.norm, ("range",))
        return self.coefficient * sensitivity.bound

    def renyi_cost(self, sensitivity: Sensitivity, order: float) -> float:
        """The largest D_α of a mechanism whose losses lie in an interval of that length (Dong, Durfee, Rogers 2020)."""
        check_order(order)
        return bounded_range_divergence(order, self.pure_cost(sensitivity))

    def _log_weights(self, table: FloatArray) -> FloatArray:
        """k (u_c - max_j u_j), subtracted before multiplying, so that large utilities keep their digits."""
        return np.asarray(self.coefficient * (table - table.max(axis=1, keepdims=True)))

    def _log_probabilities(self, table: FloatArray) -> FloatArray:
        log_weights = self._log_weights(table)
        return np.asarray(log_weights - np.log(np.exp(log_weights).sum(axis=1, keepdims=True)))

    def _losses(self, table: FloatArray, changed: FloatArray) -> FloatArray:
        """The loss of every option, shape (rows, options); -inf for an option that the value excludes."""
        kept, kept_after = table > -np.inf, changed > -np.inf
        log_p = self._log_probabilities(table)
        change = np.subtract(changed, table, out=np.zeros_like(table), where=kept & kept_after)
        lowest = change.min(axis=1, initial=np.inf, where=kept)
        rise = np.where(kept, self.coefficient * (change - lowest[:, np.newaxis]), 0.0)
        losses = log_mean_exp(log_p, rise)[:, np.newaxis] - rise
        same = (kept == kept_after).all(axis=1, keepdims=True)
        log_q = self._log_probabilities(changed)
        direct = np.subtract(log_p, log_q, out=np.zeros_like(table), where=kept & kept_after)
        losses = np.where(same, losses, direct)  # on different supports the normalisers share no expectation
        return np.asarray(np.where(~kept, -np.inf, np.where(kept_after, losses, np.inf)))


def utilities(value: ArrayLike) -> FloatArray:
    """The value as a utility table of shape (rows, options) whose entries are finite or, excluding an option, -inf.

    Errors: InvalidParameter for another table.
    """
    table = np.asarray(value, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0:
        raise InvalidParameter(f"utilities of shape {table.shape}: allowed is (rows, options) with at least one option")
    if np.isnan(table).any() or np.isposinf(table).any():
        raise InvalidParameter(
            "utilities hold a NaN or +inf: allowed are finite numbers, and -inf for excluded options"
        )
    barren = np.flatnonzero(np.isneginf(table).all(axis=1))
    if barren.size:
        raise InvalidParameter(f"row {barren[0]} of the utilities excludes every option: at least one has to be finite")
    return table


def _tables(value: ArrayLike, other: ArrayLike) -> tuple[FloatArray, FloatArray]:
    table, changed = utilities(value), utilities(other)
    check_shape("other value", changed.shape, table.shape)
    return table, changed


def _chosen(table: FloatArray, output: ArrayLike) -> FloatArray:
    """The entries of a (rows, options) table at the chosen options."""
    index = np.asarray(output)
    check_shape("output", index.shape, table.shape[:1])
    if index.size and not (np.issubdtype(index.dtype, np.integer) and 0 <= index.min() <= index.max() < table.shape[1]):
        raise InvalidParameter(
            f"output holds no valid option indices: allowed are integers from 0 to {table.shape[1] - 1}"
        )
    return np.asarray(np.take_along_axis(table, index.astype(np.int64)[:, np.newaxis], axis=1)[:, 0])
