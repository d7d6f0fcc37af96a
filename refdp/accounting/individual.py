"""Individual Rényi budgets of subsampled Gaussian rounds: order, noise and budget fixed before a run; the accounts.

`initialise` is the procedure "Initialize" of S-GBDT (Kirschte, Peinemann et al. 2023): the least noise for which so
many rounds fit epsilon, and the budget that every record then has. `Accounts` enforces it (Feldman, Zrnic 2021).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from refdp.accounting import conversion
from refdp.accounting.sampling import poisson_gaussian
from refdp.data import numbers
from refdp.data.numbers import Number, log
from refdp.data.records import Floats
from refdp.errors import InvalidParameter
from refdp.privacy.events import Charge

ORDERS = np.arange(2.0, 2001.0)
FEW: Floats = np.unique(np.round(2.0 * numbers.exp(np.arange(60) / 59 * numbers.log(1000.0))))
KNOTS = 1025
"""Costs are tabulated at this many costs t from 0 to the largest, and taken from the chords between them."""
MARGIN = 1e-9
"""Relative room for float64 rounding in the tabulated costs and in their sums."""
LARGEST = 2.0**24
"""No run has a larger sigma."""
JOINT = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Orders of a joint filter, as multiples of the order that one filter would have."""


@dataclass(frozen=True)
class Budget:
    """What `initialise` fixes. rounds: trees that even a record of the largest cost can pay for.

    orders, spendable: each order and what one record may spend at it, B = rounds times the largest cost.
    worst: t = 1 / sigma^2, the largest cost of a round before amplification. knots, costs: the tabulated a(alpha, t),
    costs of shape (orders, knots).
    """

    sigma: float
    rate: float
    rounds: int
    orders: Floats
    spendable: Floats
    knots: Floats
    costs: Floats

    def charges(self, t: Floats) -> Floats:
        """a(alpha, gamma, t) or slightly more, shape (orders, records): the chord of a function that is convex in t."""
        place = t * ((KNOTS - 1) / self.knots[-1])  # the knots are evenly spaced: no search
        index = np.minimum(place.astype(np.intp), KNOTS - 2)
        place -= index
        charges = np.empty((len(self.costs), len(t)))
        for costs, row in zip(self.costs, charges, strict=True):
            np.multiply(np.diff(costs).take(index), place, out=row)
            row += costs.take(index)
        return charges

    def epsilon(self, delta: float, times: int = 1) -> float:
        """The epsilon of `times` runs whose records each spend at most the budget; the best of orders fixed before."""
        return float(np.min(conversion.epsilons(self.orders, times * self.spendable, delta)))


class Accounts:
    """What every record has spent at every order, in place: `accounting.IndividualFilter` with rule "every". PRIVATE.

    A record takes part while it has room at all orders. Rounding is covered by `MARGIN` in the tabulated costs.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._spent = np.zeros((len(budget.orders), 0))

    def open(self, records: int) -> None:
        """Fresh accounts after those that are there."""
        self._spent = np.concatenate([self._spent, np.zeros((len(self._spent), records))], axis=1)

    def charge(self, t: Floats) -> NDArray[np.bool_]:
        """Let every record with room pay for a round of cost t; the mask of those that do. PRIVATE.

        t, result: shape (records,).
        """
        after = self._budget.charges(t)
        after += self._spent
        room: NDArray[np.bool_] = np.logical_and.reduce(after <= self._budget.spendable[:, None])
        np.copyto(self._spent, after, where=room)
        return room

    def shares(self) -> Floats:
        """Largest share of its budget that each record has spent at any order, shape (records,). PRIVATE."""
        return np.asarray(np.max(self._spent / self._budget.spendable[:, None], axis=0))

    def __repr__(self) -> str:
        """Public parameters only."""
        return f"Accounts(orders={self._budget.orders}, budgets={self._budget.spendable})"


@lru_cache(maxsize=64)
def initialise(
    epsilon: float, delta: float, rounds: int, rate: float, times: int = 1, joint: bool = False,
    besides: tuple[Charge, ...] = (),
) -> Budget:  # fmt: skip
    """Initialize: the least sigma over whole orders 2 .. 2000 for which `times` runs of `rounds` rounds fit epsilon.

    rho + log((α-1)/α) - (log δ + log α)/(α-1) <= epsilon, rho = times rounds a(α, γ, 1/σ²).
    joint: budgets at several orders around the best one, all of which a record must be able to pay.
    besides: what each of the runs releases apart from its rounds, whose Rényi costs are added to rho.
    Errors: InvalidParameter where no sigma up to 2^24 suffices.
    """
    sigma = _least_sigma(epsilon, delta, rounds * times, rate, besides * times)
    best = _best_order(sigma, delta, rounds * times, rate, besides * times)
    around = [best * factor for factor in JOINT] if joint else [best]
    orders = np.unique(np.clip(np.round(around), ORDERS[0], ORDERS[-1]))
    knots, costs = table(sigma, rate, orders)
    spendable = rounds * costs[:, -1] * (1 + MARGIN)
    return Budget(sigma, rate, rounds, orders, spendable, knots, costs)


def table(sigma: float, rate: float, orders: Floats) -> tuple[Floats, Floats]:
    """What a record pays: t at the knots, up to the most that a record can have, and a(α, γ, t) for each order there.

    orders: whole numbers. Shapes (KNOTS,), (orders, KNOTS).
    """
    knots = np.linspace(0.0, 1 / sigma**2 * (1 + MARGIN), KNOTS)
    return knots, np.array([tabulated(int(order), rate, knots) for order in orders])


def tabulated(order: int, rate: float, t: Floats) -> Floats:
    """a(alpha, gamma, t) for whole alpha >= 2 by its binomial sum in logarithms, rounded up by `MARGIN`; 0 at t = 0.

    What is summed is the moment minus 1, so that nothing cancels: Σ_l C(α,l) (1-γ)^(α-l) γ^l (e^{l(l-1)t} - 1).
    t, result: any shape.
    """
    if rate == 1:
        return np.asarray(order * t * (1 + MARGIN))
    taken = np.arange(2.0, order + 1)
    ways = np.array([numbers.log_whole(math.comb(order, n)) for n in range(2, order + 1)])
    weights = ways + (order - taken) * numbers.log1p(-rate) + taken * numbers.log(rate)
    terms = weights[:, None] + _log_expm1((taken * (taken - 1))[:, None] * t)
    peak = np.max(terms, axis=0)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    excess = safe + numbers.log(np.maximum(numbers.exp(terms - safe).sum(axis=0), np.finfo(float).tiny))
    larger = np.maximum(excess, 0.0)
    log_moment = np.where(np.isfinite(peak), larger + numbers.log1p(numbers.exp(-np.abs(excess))), 0.0)
    return np.asarray(log_moment / (order - 1) * (1 + MARGIN))


def _log_expm1(x: Floats) -> Floats:
    """log(e^x - 1) for x >= 0."""
    return np.where(x > 40, x, numbers.log(numbers.expm1(np.minimum(x, 40.0))))


def _best_order(sigma: float, delta: float, rounds: int, rate: float, besides: tuple[Charge, ...]) -> float:
    """The whole order of least epsilon; the epsilon falls and then rises with the order."""
    rough = FEW[int(np.argmin(_epsilons(sigma, delta, rounds, rate, besides, FEW)))]
    near = _around(rough)
    return float(near[int(np.argmin(_epsilons(sigma, delta, rounds, rate, besides, near)))])


def _around(order: float) -> Floats:
    """The whole orders within a fifth of one."""
    return ORDERS[np.abs(ORDERS - order) <= 0.2 * order]


def _epsilons(
    sigma: float, delta: float, rounds: int, rate: float, besides: tuple[Charge, ...] = (), orders: Floats = ORDERS
) -> Floats:
    """The epsilon of every order."""
    single = orders / sigma**2 if rate == 1 else poisson_gaussian(rate, sigma / math.sqrt(2), orders)
    return conversion.canonne(orders, rounds * single + _costs(besides, tuple(orders.tolist())), delta)


@lru_cache(maxsize=16)
def _costs(charges: tuple[Charge, ...], orders: tuple[float, ...]) -> Floats:
    """Rényi costs of all charges together. Shape (orders,)."""
    found = np.zeros(len(orders))
    for charge, times in Counter(charges).items():
        found += times * np.array([charge.mechanism.renyi_cost(charge.declared, order) for order in orders])
    return found


def _least_sigma(epsilon: float, delta: float, rounds: int, rate: float, besides: tuple[Charge, ...]) -> float:
    """The least sigma that meets the target, from above: a search over few orders, then over all near the best."""
    target, few = epsilon - 10 * MARGIN, FEW

    def meets(sigma: float, orders: Floats) -> bool:
        return bool(_epsilons(sigma, delta, rounds, rate, besides, orders).min() <= target)

    if not meets(LARGEST, few):
        raise InvalidParameter(
            f"epsilon {epsilon!r} at delta {delta!r} with {rounds} trees: out of reach of any order up to 2000, "
            "whatever the noise: a larger epsilon or delta is needed"
        )
    low = high = LARGEST
    while meets(low, few):
        low, high = low / 2, low
    rough = _bisected(low, high, 1e-4, lambda sigma: meets(sigma, few))
    near = _around(_best_order(rough, delta, rounds, rate, besides))
    return _bisected(0.99 * rough, rough, 1e-7, lambda sigma: meets(sigma, near))


def _bisected(low: float, high: float, accuracy: float, meets: Callable[[float], bool]) -> float:
    """A number that meets, and is within `accuracy` of one that does not; `high` meets."""
    while high > low * (1 + accuracy):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


# --- The exact formula, generic over numbers --------------------------------------------------------------------------


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
