"""Filters and odometers: budgets for releases whose costs are chosen along the way, from the outputs so far.

A filter has a budget that is fixed before: `spend(cost)` says whether a release may be made and charges it if so. What
was let through is private as `guarantee` says, whatever the order and the costs, which may depend on earlier outputs.
An odometer has none: `spend` charges, and what it reports holds at all times at once, hence also when one stops.

A cost is a number in the filter's own unit or a `Plan`, which is converted; all plans are about the same neighbours.
Costs and decisions are public: they must follow from outputs and public settings. For accounts of every record see
`refdp.accounting.filters`.

Why adaptivity is free here: with L_t the privacy loss after t releases, e^{λ(L_t - K_t)} is a supermartingale under the
first data set if K_t adds up bounds on the log moments of each release given the past.
- pure: L_t <= sum of ε_i, surely (Rogers, Roth, Ullman, Vadhan 2016).
- Rényi at order α, with λ = α - 1: D_α <= budget for what the filter lets through (Feldman, Zrnic 2021, Theorem 4.3).
- Gaussian: losses that are μ_i-GDP given the past, with a sum of μ_i² <= μ², are together μ-GDP (Koskela, Tobaben,
  Honkela 2023, Theorem 8; Smith, Thakurta 2022).
- (ε, δ): an (ε_i, δ_i)-DP release is, but for probability δ_i, ε_i²/2-zCDP; the zCDP adds up as Rényi costs do at all
  orders, the probabilities by the union bound (Whitehouse, Ramdas, Rogers, Wu 2023, Theorem 1).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from refdp.accounting import conversion
from refdp.accounting.arrays import Array
from refdp.accounting.rounding import ceiling, is_number, upwards
from refdp.data.numbers import greatest
from refdp.errors import InvalidParameter, RelationMismatch
from refdp.privacy.events import Plan, Relation

_ORDERS = 1 + np.geomspace(1e-2, 1e6, 200)


class _OfOneRelation:
    """Whose plans are all about the neighbours of the first: costs about others do not add up."""

    _relation: Relation | None = None

    def _check(self, cost: object) -> None:
        """Errors: RelationMismatch for a plan about other neighbours than the first one."""
        if isinstance(cost, Plan):
            if self._relation not in (None, cost.relation):
                raise RelationMismatch(f"a plan about {cost.relation.value} neighbours: those before are about others")
            self._relation = cost.relation


class PureFilter(_OfOneRelation):
    """Lets through what adds up to at most `epsilon`."""

    def __init__(self, epsilon: float) -> None:
        """epsilon: the budget, finite and >= 0."""
        self.epsilon = _number("epsilon", epsilon)
        self._spent = Fraction(0)

    def spend(self, cost: float | Plan) -> bool:
        """Whether a release of pure ε `cost` (infinite ones never) fits; charged if so."""
        self._check(cost)
        epsilon = _pure(cost)
        if epsilon == math.inf or self._spent + Fraction(epsilon) > Fraction(self.epsilon):
            return False
        self._spent += Fraction(epsilon)
        return True

    @property
    def spent(self) -> float:
        """The sum of the costs let through, rounded upwards."""
        return ceiling(self._spent)

    def guarantee(self, delta: float = 0.0) -> float:
        """The ε of everything that is ever let through, at any δ."""
        return self.epsilon


class RenyiFilter(_OfOneRelation):
    """Lets through what fits the budgets at all of several orders."""

    def __init__(self, orders: Array, budgets: Array) -> None:
        """orders: finite numbers > 1. budgets: D_α allowed at each, >= 0; shape (orders,)."""
        self.orders = np.atleast_1d(np.asarray(orders, dtype=float))
        self.budgets = np.atleast_1d(np.asarray(budgets, dtype=float))
        fits = self.orders.shape == self.budgets.shape and self.orders.ndim == 1
        if not fits or not np.all((self.orders > 1) & np.isfinite(self.orders)) or not np.all(self.budgets >= 0):
            raise InvalidParameter(
                f"orders {orders!r}, budgets {budgets!r}: allowed are orders > 1 and one budget >= 0 for each"
            )
        self._spent = np.zeros_like(self.orders)

    def spend(self, cost: Array | Plan) -> bool:
        """cost: D_α at every order, shape (orders,), or a plan."""
        self._check(cost)
        after = (self._spent + _curve(cost, self.orders)) * (1 + 2.0**-50)
        if not np.all(after <= self.budgets):
            return False
        self._spent = after
        return True

    @property
    def spent(self) -> Array:
        """D_α let through at every order: a copy. Shape (orders,)."""
        return self._spent.copy()

    def guarantee(self, delta: float) -> float:
        """The ε at δ of everything that is ever let through: the best order."""
        return float(np.min(conversion.epsilons(self.orders, self.budgets, _share("delta", delta))))


class GaussianFilter(_OfOneRelation):
    """Lets through what adds up to at most mu-GDP, as roots of sums of squares."""

    def __init__(self, mu: float) -> None:
        """mu: the budget, finite and >= 0."""
        self.mu = _number("mu", mu)
        self._square = Fraction(0)

    def spend(self, cost: float | Plan) -> bool:
        """cost: the μ of a release that is μ-GDP, or a plan of Gaussian releases alone."""
        self._check(cost)
        square = _square(cost)
        if square is None or self._square + square > Fraction(self.mu) ** 2:
            return False
        self._square += square
        return True

    @property
    def spent(self) -> float:
        """The μ of what was let through, rounded upwards."""
        return upwards(math.sqrt(self._square))

    def guarantee(self, delta: float) -> float:
        """The ε at δ of everything that is ever let through."""
        from refdp.accounting import gaussian

        return gaussian.epsilon(self.mu, _share("delta", delta))


class ApproximateFilter(_OfOneRelation):
    """Lets through (ε_i, δ_i)-DP releases, together (epsilon, delta)-DP."""

    def __init__(self, epsilon: float, delta: float, failures: float = 0.0) -> None:
        """failures: the part of delta that the δ_i may use up, 0 <= failures < delta."""
        self.epsilon, self.delta = _number("epsilon", epsilon), _share("delta", delta)
        if not is_number(failures) or not 0 <= failures < delta:
            raise InvalidParameter(f"failures {failures!r}: allowed are numbers in [0, {delta!r})")
        self.failures = float(failures)
        rest = float(self.delta - self.failures) * (1 - 2.0**-50)
        self.rho = greatest(lambda rho: _zcdp(rho, rest) <= self.epsilon, 0.0, self.epsilon + 1.0, 1e-12)
        self._square, self._failed = Fraction(0), Fraction(0)

    def spend(self, cost: float | Plan, delta: float = 0.0) -> bool:
        """A release of (cost, delta)-DP; a plan is taken at its pure ε."""
        self._check(cost)
        epsilon = _pure(cost)
        if epsilon == math.inf:
            return False
        square = self._square + Fraction(epsilon) ** 2
        failed = self._failed + Fraction(_share("delta", delta, 0.0))
        if square > 2 * Fraction(self.rho) or failed > Fraction(self.failures):
            return False
        self._square, self._failed = square, failed
        return True

    @property
    def spent(self) -> tuple[float, float]:
        """The zCDP parameter, half the sum of the ε_i², and the sum of the δ_i, both rounded upwards."""
        return ceiling(self._square / 2), ceiling(self._failed)

    def guarantee(self) -> tuple[float, float]:
        """(ε, δ) of everything that is ever let through."""
        return self.epsilon, self.delta


class PureOdometer(_OfOneRelation):
    """The sum of the pure ε so far: the privacy loss is never above it."""

    def __init__(self) -> None:
        self._spent = Fraction(0)
        self._endless = False

    def spend(self, cost: float | Plan) -> None:
        """Charge a release."""
        self._check(cost)
        epsilon = _pure(cost)
        self._endless |= epsilon == math.inf
        self._spent += 0 if epsilon == math.inf else Fraction(epsilon)

    @property
    def epsilon(self) -> float:
        """The bound now, rounded upwards."""
        return math.inf if self._endless else ceiling(self._spent)


class RenyiOdometer:
    """L_t <= sum of ρ_i(α) + log(orders/δ)/(α-1) at all times but for probability δ, at the best of several orders."""

    def __init__(self, orders: Array, delta: float) -> None:
        """orders: finite numbers > 1, fixed for good; delta: split among them."""
        self._inside = RenyiFilter(orders, np.full_like(np.atleast_1d(np.asarray(orders, dtype=float)), np.inf))
        self.orders, self.delta = self._inside.orders, _share("delta", delta)

    def spend(self, cost: Array | Plan) -> None:
        """Charge D_α at every order, or a plan. cost: shape (orders,)."""
        self._inside.spend(cost)

    @property
    def epsilon(self) -> float:
        """The bound now."""
        rest = math.log(len(self.orders) / self.delta) / (self.orders - 1)
        return float(np.min(self._inside.spent + rest) * (1 + 2.0**-48))


class GaussianOdometer(_OfOneRelation):
    """For μ_i-GDP or, with μ_i = ε_i, (ε_i, δ_i)-DP releases, by Robbins' mixture of normals.

    With V the sum of the μ_i², log E e^{λ(L_t - V/2)} <= λ²V/2 for λ >= 0 (zCDP of V/2). A normal mixture over λ > 0 of
    variance 1/γ (twice its half) gives, at all times but for probability δ (Whitehouse, Ramdas, Rogers, Wu 2023,
    Theorem 4, and Ville's inequality), L_t <= V/2 + sqrt(2 (V + γ) log(sqrt((V + γ)/γ)/δ)).
    """

    def __init__(self, delta: float, tuned: float = 1.0, failures: float = 0.0) -> None:
        """delta: for the mixture. tuned: γ > 0, near the V of interest. failures: room for the δ_i, beside delta."""
        self.delta, self.tuned = _share("delta", delta), _number("tuned", tuned)
        if self.tuned == 0:
            raise InvalidParameter(f"tuned {tuned!r}: allowed are finite numbers > 0")
        self.failures = _share("failures", failures, 0.0)
        self._square: Fraction | None = Fraction(0)
        self._failed = Fraction(0)

    def spend(self, cost: float | Plan, delta: float = 0.0) -> None:
        """Charge a μ-GDP release, a plan of Gaussian releases alone or, at its pure ε, any other plan."""
        self._check(cost)
        square = _square(cost)
        if square is None and (epsilon := _pure(cost)) < math.inf:
            square = Fraction(epsilon) ** 2
        self._square = None if square is None or self._square is None else self._square + square
        self._failed += Fraction(_share("delta", delta, 0.0))

    @property
    def epsilon(self) -> float:
        """The bound now; infinite once the δ_i exceed `failures`."""
        if self._square is None or self._failed > Fraction(self.failures):
            return math.inf
        variance = ceiling(self._square)
        spread = variance + self.tuned
        level = 0.5 * math.log(spread / self.tuned) + math.log(1 / self.delta)
        return upwards(variance / 2 + math.sqrt(2 * spread * level))


def _zcdp(rho: float, delta: float) -> float:
    """The ε of ρ-zCDP at δ, from above."""
    return float(np.min(conversion.epsilons(_ORDERS, rho * _ORDERS, delta))) * (1 + 2.0**-44)


def _pure(cost: float | Plan) -> float:
    from refdp.accounting.pure import pure_epsilon

    return pure_epsilon(cost) if isinstance(cost, Plan) else _number("cost", cost, math.inf)


def _square(cost: float | Plan) -> Fraction | None:
    """μ² of a number or of a plan of Gaussian releases; None for other plans and for infinity."""
    from refdp.accounting.normal import NOTHING, normalise
    from refdp.accounting.releases import GaussianCost

    if not isinstance(cost, Plan):
        mu = _number("cost", cost, math.inf)
        return None if mu == math.inf else Fraction(mu) ** 2
    node = normalise(cost)
    if node == NOTHING:
        return Fraction(0)
    return node.square if isinstance(node, GaussianCost) else None


def _curve(cost: Array | Plan, orders: Array) -> Array:
    from refdp.accounting.divergence import renyi

    found: Array = renyi(cost, orders) if isinstance(cost, Plan) else np.asarray(cost, dtype=float)
    if found.shape != orders.shape or not np.all(found >= 0):
        raise InvalidParameter(f"cost {cost!r}: allowed are numbers >= 0, one for each of the {len(orders)} orders")
    return found


def _number(name: str, value: object, top: float = 1.7976931348623157e308) -> float:
    if not is_number(value) or not 0 <= value <= top:  # type: ignore[operator]
        raise InvalidParameter(f"{name} {value!r}: allowed are {'' if top == math.inf else 'finite '}numbers >= 0")
    return float(value)  # type: ignore[arg-type]


def _share(name: str, value: object, least: float | None = None) -> float:
    inside = is_number(value) and (0 < value < 1 or value == least)  # type: ignore[operator]
    if not inside:
        raise InvalidParameter(f"{name} {value!r}: allowed are numbers in {'(' if least is None else '['}0, 1)")
    return float(value)  # type: ignore[arg-type]
