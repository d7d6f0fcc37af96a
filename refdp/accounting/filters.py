"""Individual Rényi filters and odometers (Feldman, Zrnic 2021): every record has its own account.

A record takes part in a release while its own divergence, from its own sensitivity, still fits its budget. The filter
at order α then guarantees D_α <= budget for the whole adaptive sequence (Feldman, Zrnic 2021, Theorem 4.5), although
which records still take part is decided along the way. That decision is private: the mask goes into the training
step and nowhere else. Hence no method raises, warns or prints anything that depends on a record's state.

Joint orders come in two kinds, both sound:
- rule "every": a record needs room at all orders, and afterwards D_α <= budget(α) holds at all of them, so any
  conversion may use the best order;
- rule "any": room at one order is enough. Which order that is depends on the path, hence the conversion pays a union
  bound: `for_target` splits δ evenly over the orders.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from refdp.accounting import conversion
from refdp.accounting.arrays import Array, Mask
from refdp.errors import InvalidParameter

Rule = Literal["every", "any"]


class IndividualFilter:
    """Per-record Rényi budgets, vectorised: `records` rows, one column an order."""

    def __init__(self, records: int, orders: Array, budgets: Array, rule: Rule = "every") -> None:
        """orders: finite numbers > 1. budgets: D_α allowed at each of them, >= 0, public, the same for all."""
        self.orders = np.atleast_1d(np.asarray(orders, dtype=float))
        self.budgets = np.atleast_1d(np.asarray(budgets, dtype=float))
        if self.orders.shape != self.budgets.shape or not np.all((self.orders > 1) & np.isfinite(self.orders)):
            raise InvalidParameter(
                f"orders {orders!r}, budgets {budgets!r}: allowed are orders > 1, one budget for each"
            )
        if not np.all(self.budgets >= 0):
            raise InvalidParameter(f"budgets {budgets!r}: allowed are numbers >= 0")
        if rule not in ("every", "any"):
            raise InvalidParameter(f"rule {rule!r}: allowed are 'every' and 'any'")
        self.rule = rule
        self._spent = np.zeros((records, len(self.orders)))

    @classmethod
    def for_target(cls, records: int, epsilon: float, delta: float, orders: Array) -> IndividualFilter:
        """The filter whose exhaustion means (epsilon, delta)-DP: one order, or "any" with δ split evenly.

        orders: shape (orders,). Errors: InvalidParameter for a target outside of its domain.
        """
        each = np.atleast_1d(np.asarray(orders, dtype=float))
        if not (epsilon > 0 and 0 < delta < 1):
            raise InvalidParameter(
                f"target epsilon {epsilon!r}, delta {delta!r}: allowed are epsilon > 0, delta in (0, 1)"
            )
        overhead = conversion.mironov(each, np.zeros_like(each), delta / len(each))
        if len(each) == 1:
            overhead = conversion.canonne(each, np.zeros_like(each), delta)
        return cls(records, each, np.maximum((epsilon - overhead) * (1 - 2.0**-44), 0.0), "any")

    def room(self, costs: Array) -> Mask:
        """Which records can pay `costs`: shape (records, orders), or (records,) for costs ρ_i(α) = costs_i * α.

        The second form is that of Gaussian noise, costs_i = sensitivity_i² / (2 sd²). PRIVATE: never release the mask.
        """
        fits = _added(self._spent, self._table(costs)) <= self.budgets
        mask: Mask = np.all(fits, axis=1) if self.rule == "every" else np.any(fits, axis=1)
        return mask

    def charge(self, costs: Array) -> Mask:
        """Let every record with room take part and pay; the mask of those that do. PRIVATE: never release the mask.

        The mask has shape (records,).
        """
        mask = self.room(costs)
        self._spent = _added(self._spent, np.where(mask[:, None], self._table(costs), 0.0))
        return mask

    @property
    def spent(self) -> Array:
        """What every record has spent at every order, shape (records, orders): a copy. PRIVATE: never release it."""
        return self._spent.copy()

    def _table(self, costs: Array) -> Array:
        array = np.asarray(costs, dtype=float)
        table = array[:, None] * self.orders if array.ndim == 1 else array
        if table.shape != self._spent.shape:
            raise InvalidParameter(f"costs of shape {array.shape}: allowed are (records,) and (records, orders)")
        paid: Array = np.where(table >= 0, table, np.inf) * (1 + 2.0**-50)
        return paid

    def guarantee(self, delta: float) -> float:
        """The public ε at δ that holds for every record whatever happened, from the budgets alone.

        With rule "any", an order of budget 0 lets only releases pass that cost the record nothing.
        Errors: InvalidParameter for delta outside of (0, 1).
        """
        _check_delta(delta)
        if self.rule == "every" or len(self.orders) == 1:
            return float(np.min(conversion.epsilons(self.orders, self.budgets, delta)))
        each = conversion.mironov(self.orders, self.budgets, delta / len(self.orders))
        return float(np.max(np.where(self.budgets > 0, each, 0.0)))

    def __repr__(self) -> str:
        """Public parameters only: the state of the records is private."""
        return (
            f"IndividualFilter(records={len(self._spent)}, orders={self.orders}, budgets={self.budgets}, {self.rule!r})"
        )


class IndividualOdometer:
    """A running bound for every record, valid at all times at once, for adaptively chosen costs without a budget.

    exp((α-1)(L_t - sum ρ(α))) is a supermartingale of start 1, L_t the record's privacy loss so far; by Ville's
    inequality L_t <= sum ρ + log(1/δ)/(α-1) at all t except with probability δ, at one fixed order.
    """

    def __init__(self, records: int, order: float) -> None:
        """order: a finite number > 1, fixed for good."""
        if not 1 < order < math.inf:
            raise InvalidParameter(f"order {order!r}: allowed are finite numbers > 1")
        self.order = order
        self._spent = np.zeros(records)

    def charge(self, costs: Array) -> None:
        """Add every record's own D_α of one release, shape (records,)."""
        self._spent = _added(self._spent, np.where(np.asarray(costs) >= 0, costs, np.inf) * (1 + 2.0**-50))

    def losses(self, delta: float) -> Array:
        """Per record, the ε_t that bounds its privacy loss at all times except with probability δ. PRIVATE.

        Shape (records,). Errors: InvalidParameter for delta outside of (0, 1).
        """
        _check_delta(delta)
        losses: Array = self._spent + math.log(1 / delta) / (self.order - 1)
        return losses

    def __repr__(self) -> str:
        """Public parameters only."""
        return f"IndividualOdometer(records={len(self._spent)}, order={self.order})"


def _added(spent: Array, costs: Array) -> Array:
    """Sums from above: half a million small costs would lose as many last places."""
    return np.where(costs > 0, np.nextafter(spent + costs, np.inf), spent)


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise InvalidParameter(f"delta {delta!r}: allowed are numbers in (0, 1)")
