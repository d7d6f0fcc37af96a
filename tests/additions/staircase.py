"""Staircase noise on one number: Geng, Viswanath. The optimal noise-adding mechanism in differential privacy. 2015.

| symbol | in the code | what it is |
|---|---|---|
| epsilon | epsilon | pure privacy loss of a change by one step |
| Delta | width | sensitivity, the width of a step |
| gamma | ratio | share of a step at its greater height |
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from refdp.accounting import curves
from refdp.accounting.arrays import Array
from refdp.accounting.pairs import DominatingPair, TwoPoint
from refdp.errors import InvalidParameter
from refdp.noise.draws import Draws, FloatArray, check_norm, check_positive, pair
from refdp.privacy.events import Norm, Sensitivity


@dataclass(frozen=True)
class Staircase:
    """value + X of density a e^(-k epsilon) where k + [fraction of |X|/Delta >= gamma] steps have been gone down.

    One number a release: every coordinate that changes, however little, can lose epsilon.
    """

    epsilon: float
    width: float
    ratio: float = 0.5
    STANDARD: ClassVar[str] = "staircase"
    claim: ClassVar[str] = "staircase/pure"

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)
        check_positive("width", self.width)
        if not 0 < self.ratio <= 1:
            raise InvalidParameter(f"ratio = {self.ratio!r}: numbers in (0, 1] are allowed")

    def draws(self, value: ArrayLike) -> Draws:
        shape = np.shape(value)
        if math.prod(shape) != 1:
            raise InvalidParameter(f"a value of shape {shape}: staircase noise is for one number a release")
        return Draws(self.STANDARD, shape, sampler=lambda generator: self._sample(generator, shape))

    def _sample(self, generator: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """X / Delta: sign, step number, low or high part, place inside (Geng and Viswanath 2015, Algorithm 1)."""
        step = generator.geometric(-math.expm1(-self.epsilon), shape) - 1
        low = generator.random(shape) >= self.ratio / (self.ratio + (1 - self.ratio) * math.exp(-self.epsilon))
        inside = generator.random(shape) * np.where(low, 1 - self.ratio, self.ratio) + np.where(low, self.ratio, 0)
        return np.asarray(np.where(generator.random(shape) < 0.5, -1, 1) * (step + inside))

    def apply(self, value: ArrayLike, standard: ArrayLike) -> FloatArray:
        centre, draws = pair(value, standard)
        return np.asarray(centre + self.width * draws)

    def log_density(self, value: ArrayLike, output: ArrayLike) -> FloatArray:
        centre, noisy = pair(value, output)
        whole = 2 * self.width * (self.ratio + math.exp(-self.epsilon) * (1 - self.ratio))
        top = math.log(-math.expm1(-self.epsilon) / whole)
        return np.asarray(top - self.epsilon * self._down(np.abs(noisy - centre) / self.width))

    def _down(self, distance: FloatArray) -> FloatArray:
        """How many heights lower, at a distance in units of Delta."""
        return np.asarray(np.floor(distance) + (distance % 1 >= self.ratio))

    def loss(self, value: ArrayLike, other: ArrayLike, output: ArrayLike) -> FloatArray:
        return np.asarray(self.log_density(value, output) - self.log_density(other, output))

    def worst_loss(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """A change by d passes at most ceil(d / Delta) heights."""
        centre, moved = pair(value, other)
        return np.asarray(self.epsilon * np.ceil(np.abs(centre - moved) / self.width))

    def worst_output(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """Just before a step down, seen from the value, on the side away from the other value."""
        centre, moved = pair(value, other)
        return np.asarray(centre + np.sign(centre - moved) * self.width * np.nextafter(self.ratio, 0))

    def divergence(self, value: ArrayLike, other: ArrayLike, order: float) -> float:
        """At most that of randomised response of the worst loss; order infinity is that loss itself."""
        worst = float(self.worst_loss(value, other).sum())
        return worst if order == math.inf else self._curve(worst, order)

    def observed_change(self, value: ArrayLike, other: ArrayLike, norm: Norm) -> float:
        check_norm("staircase noise", norm, (1,))
        centre, moved = pair(value, other)
        return float(np.abs(centre - moved).sum())

    def pure_cost(self, sensitivity: Sensitivity) -> float:
        check_norm("staircase noise", sensitivity.norm, (1,))
        return self.epsilon * math.ceil(sensitivity.bound / self.width)

    def renyi_cost(self, sensitivity: Sensitivity, order: float) -> float:
        pure = self.pure_cost(sensitivity)
        return pure if order == math.inf else self._curve(pure, order)

    def _curve(self, pure: float, order: float) -> float:
        if pure == 0 or order <= 1:
            return pure
        return float(curves.randomised_response(pure, np.array([order]))[0])

    def dominated(self, sensitivity: Sensitivity) -> Steps:
        return Steps(self.pure_cost(sensitivity))


@dataclass(frozen=True)
class Steps:
    """What accountants are told: the pair of randomised response dominates every mechanism of that pure loss."""

    epsilon: float
    attained: bool = False

    @property
    def pure(self) -> Fraction:
        return Fraction(self.epsilon)

    def curve(self, orders: Array) -> Array:
        return curves.randomised_response(self.epsilon, orders)

    def pair(self, direction: str) -> DominatingPair:
        return TwoPoint(self.epsilon, 2 * self.epsilon)
