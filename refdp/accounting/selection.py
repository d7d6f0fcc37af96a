"""What private selection costs: the best of a random number of runs (Liu, Talwar 2019; Papernot, Steinke 2022).

K runs of one randomised program Q, each with a private score, and the run of the best score is released, K is not. K
follows the truncated negative binomial law TNB(eta, gamma): eta = 1 is the geometric law on 1, 2, ..., eta = 0 the
logarithmic one. If Q has Renyi divergence eps at the order a and eps' at the order b, selection has at the order a

    eps + (1 + eta) (1 - 1/b) eps' + (1 + eta) log(1/gamma) / b + log(E K) / (a - 1)     (Theorem 2 of the second),

for every b >= 1, and (2 + eta) eps if Q is eps-DP (b and a to infinity).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from refdp.accounting import conversion
from refdp.accounting.arrays import Array
from refdp.accounting.divergence import renyi
from refdp.accounting.pure import pure_epsilon
from refdp.accounting.rounding import ceiling
from refdp.checks import check_number
from refdp.data.numbers import Number
from refdp.errors import InvalidParameter, RelationMismatch
from refdp.privacy.events import Plan

ORDERS: Array = np.concatenate([1 + 2.0 ** np.arange(-6, 1), np.arange(3.0, 64.0), 2.0 ** np.arange(6, 21, 0.5)])
ETAS = (0, 1)


@dataclass(frozen=True)
class Repetitions:
    """The law of K. eta: 0 or 1; gamma in (0, 1)."""

    eta: int
    gamma: float

    def __post_init__(self) -> None:
        if isinstance(self.eta, bool) or self.eta not in ETAS:
            raise InvalidParameter(f"eta = {self.eta!r}: 0 (logarithmic) or 1 (geometric) is allowed")
        check_number("gamma", self.gamma, above=0, below=1)

    @classmethod
    def of_mean(cls, mean: float, eta: int = 0) -> Repetitions:
        """The law whose mean is this or slightly less. Errors: InvalidParameter for a mean of at most 1."""
        check_number("mean number of runs", mean, above=1, most=1e9)
        low, high = 1e-15, 1 - 1e-12  # the mean falls with gamma
        for _ in range(200):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if cls(eta, middle).mean > mean else (low, middle)
        return cls(eta, high)

    @property
    def mean(self) -> float:
        """E K: 1 / gamma, or (1/gamma - 1) / log(1/gamma)."""
        return 1 / self.gamma if self.eta else (1 / self.gamma - 1) / math.log(1 / self.gamma)

    def generating(self, x: float) -> float:
        """E x^K, for x in [0, 1]."""
        if self.eta:
            return float(geometric(self.gamma, x))
        return math.log1p(-(1 - self.gamma) * x) / math.log(self.gamma)

    def draw(self, generator: np.random.Generator) -> int:
        """One K."""
        return int(generator.geometric(self.gamma) if self.eta else generator.logseries(1 - self.gamma))


def geometric(gamma: Number, x: Number) -> Number:
    """E x^K of the geometric law on 1, 2, ..."""
    return gamma * x / (1 - (1 - gamma) * x)


def selected(law: Repetitions, curve: Callable[[Array], Array], orders: Array) -> Array:
    """The Renyi cost of selection at these orders. curve: that of one run, for orders above 1.

    orders, result: shape (orders,).
    """
    known = np.asarray(curve(ORDERS))
    factor = 1 + law.eta
    second = np.min(factor * (1 - 1 / ORDERS) * known + factor * math.log(1 / law.gamma) / ORDERS)
    return np.asarray(curve(orders) + second + math.log(law.mean) / (orders - 1))


def selection_epsilon(law: Repetitions, plans: list[Plan], delta: float) -> float:
    """Epsilon at delta of the best run, each run with one of these plans drawn at random; rounded upwards.

    A run's index is drawn without the records, so that one run costs what its dearest plan costs at each order.
    Errors: InvalidParameter for no plan, and for delta outside of [0, 1]; RelationMismatch for plans about different
    neighbours.
    """
    if not plans:
        raise InvalidParameter("no plan to select among: at least one is needed")
    if len({plan.relation for plan in plans}) > 1:
        raise RelationMismatch("plans about different neighbours to select among: allowed is one relation for all")
    check_number("delta", delta, least=0, most=1)
    dearest = max(pure_epsilon(plan) for plan in plans)
    pure = dearest if dearest == math.inf else ceiling(Fraction(2 + law.eta) * Fraction(dearest))
    if delta == 0:
        return pure

    def curve(orders: Array) -> Array:
        return np.asarray(np.max([renyi(plan, orders) for plan in plans], axis=0))

    found = conversion.epsilons(ORDERS, selected(law, curve, ORDERS), delta)
    return float(min(pure, np.min(found) * (1 + 1e-12)))
