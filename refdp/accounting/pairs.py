"""Dominating pairs (P, Q) as the tails of their privacy loss L = log dP/dQ.

Each pair gives, for an array of losses ε, the four probabilities P(L > ε), Q(L > ε), P(L <= ε), Q(L <= ε), every one by
a formula of its own without cancellation. Swapping P and Q changes nothing for any of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from refdp.accounting.arrays import Array
from refdp.accounting.rounding import SLACK


class NoPair(Exception):
    """No dominating pair is known for a node, or none that fits into memory: loss distributions do not apply."""


class Tails(NamedTuple):
    """P(L > ε), Q(L > ε), P(L <= ε), Q(L <= ε)."""

    above: Array
    above_q: Array
    below: Array
    below_q: Array


class Rounding(NamedTuple):
    """slack: relative error of the tails. blur: absolute error of the loss at which they are evaluated."""

    slack: float
    blur: float


CLOSED_FORM = Rounding(SLACK, 0.0)
"""Tails by elementary functions only."""


class DominatingPair(Protocol):
    """What discretisation needs to know of a pair."""

    @property
    def rounding(self) -> Rounding:
        """How far the computed tails can be off."""
        ...

    @property
    def bounds(self) -> tuple[float, float]:
        """No loss lies outside [first, second], but for probability below 1e-300."""
        ...

    def tails(self, loss: Array) -> Tails:
        """The four tail probabilities at every loss. loss, each tail: shape (losses,)."""
        ...


@dataclass(frozen=True)
class GaussianPair:
    """N(mu, 1) against N(0, 1): L ~ N(±μ²/2, μ²)."""

    mu: float
    rounding: ClassVar[Rounding] = CLOSED_FORM

    @property
    def bounds(self) -> tuple[float, float]:
        """37.5 standard deviations to either side."""
        reach = self.mu * (self.mu / 2 + 37.5)
        return self.mu**2 - reach, reach

    def tails(self, loss: Array) -> Tails:
        """Normal tails at ε/μ ± μ/2. loss, each tail: shape (losses,)."""
        from scipy import special

        x, half = loss / self.mu, self.mu / 2
        sides = []
        for y in (x - half, x + half):
            small = special.ndtr(-np.abs(y))
            sides += [np.where(y > 0, small, 1 - small), np.where(y > 0, 1 - small, small)]
        above, below, above_q, below_q = sides
        return Tails(above, above_q, below, below_q)


@dataclass(frozen=True)
class LaplacePair:
    """Lap(0) against Lap(epsilon): L = ε - 2x between two atoms at ±epsilon."""

    epsilon: float
    rounding: ClassVar[Rounding] = CLOSED_FORM

    @property
    def bounds(self) -> tuple[float, float]:
        """The two atoms."""
        return -self.epsilon, self.epsilon

    def tails(self, loss: Array) -> Tails:
        """P(L <= ε) = e^{-(e-ε)/2}/2 and Q(L > ε) = e^{-(e+ε)/2}/2 for -e <= ε < e.

        loss, each tail: shape (losses,).
        """
        below = 0.5 * np.exp((np.minimum(loss, self.epsilon) - self.epsilon) / 2)
        above_q = 0.5 * np.exp(-(np.maximum(loss, -self.epsilon) + self.epsilon) / 2)
        return _between_atoms(loss, self.epsilon, below, above_q)


@dataclass(frozen=True)
class DiscreteLaplacePair:
    """P(z) ∝ e^{-r|z|} against its shift by n: L = r(n - 2z), cut at ±rn."""

    rate: float
    shift: int
    rounding: ClassVar[Rounding] = CLOSED_FORM

    @property
    def bounds(self) -> tuple[float, float]:
        """The two extreme atoms."""
        return -self.rate * self.shift, self.rate * self.shift

    def tails(self, loss: Array) -> Tails:
        """L > ε means z <= m with m = ceil((n - ε/r)/2) - 1 in [0, n-1]; P(z > m) = e^{-r(m+1)}/(1 + e^{-r}).

        loss, each tail: shape (losses,).
        """
        last = np.clip(np.ceil((self.shift - loss / self.rate) / 2) - 1, 0, self.shift - 1)
        norm = 1 + math.exp(-self.rate)
        below, above_q = np.exp(-self.rate * (last + 1)) / norm, np.exp(-self.rate * (self.shift - last)) / norm
        return _between_atoms(loss, self.rate * self.shift, below, above_q)


def _between_atoms(loss: Array, end: float, below: Array, above_q: Array) -> Tails:
    """The tails of a loss that lies in [-end, end], from P(L <= ε) and Q(L > ε) for -end <= ε < end."""
    low, high = loss < -end, loss >= end
    below = np.where(low, 0.0, np.where(high, 1.0, below))
    above_q = np.where(low, 1.0, np.where(high, 0.0, above_q))
    return Tails(1 - below, above_q, below, 1 - above_q)


@dataclass(frozen=True)
class BoundedRange:
    """Dominates every mechanism whose privacy loss has range epsilon.

    Each of them is dominated by a two-point pair with losses t and t - e (Dong, Durfee, Rogers 2020). The best t at
    ε is (e + ε)/2, hence sup_t H = (1 - e^{(ε-e)/2})² / (1 - e^{-e}), the profile of a pair with Q-density ∝
    r^{-3/2} of the likelihood ratio r on [e^{-e}, e^{e}].
    """

    epsilon: float
    rounding: ClassVar[Rounding] = CLOSED_FORM

    @property
    def bounds(self) -> tuple[float, float]:
        """±epsilon."""
        return -self.epsilon, self.epsilon

    def tails(self, loss: Array) -> Tails:
        """P(L > ε) = (e^{e/2} - e^{ε/2}) / (2 sinh(e/2)), and its three companions.

        loss, each tail: shape (losses,).
        """
        e = self.epsilon
        x = np.clip(loss, -e, e)
        span = -math.expm1(-e)
        up, down = -np.expm1((x - e) / 2) / span, -np.expm1(-(x + e) / 2) / span
        shrink, grow = np.exp(-(x + e) / 2), np.exp((x - e) / 2)
        return Tails(up, shrink * up, grow * down, down)


@dataclass(frozen=True)
class TwoPoint:
    """Losses `top` > 0 and `top - spread`: one mechanism of that range; randomised response has spread = 2 top."""

    top: float
    spread: float
    rounding: ClassVar[Rounding] = CLOSED_FORM

    @property
    def bounds(self) -> tuple[float, float]:
        """The two atoms."""
        return self.top - self.spread, self.top

    def tails(self, loss: Array) -> Tails:
        """P(top) = (1 - e^{top - spread}) / (1 - e^{-spread}), Q(top) = e^{-top} P(top).

        loss, each tail: shape (losses,).
        """
        span = -math.expm1(-self.spread)
        bottom = self.top - self.spread
        high, low = -math.expm1(bottom) / span, math.exp(bottom) * -math.expm1(-self.top) / span
        high_q, low_q = high * math.exp(-self.top), -math.expm1(-self.top) / span
        outside = [loss >= self.top, loss < bottom]
        return Tails(
            np.select(outside, [0.0, 1.0], high),
            np.select(outside, [0.0, 1.0], high_q),
            np.select(outside, [1.0, 0.0], low),
            np.select(outside, [1.0, 0.0], low_q),
        )


@dataclass(frozen=True)
class Outcomes:
    """Finitely many outcomes: (P-mass, Q-mass) of each, all positive."""

    masses: tuple[tuple[float, float], ...]

    @property
    def rounding(self) -> Rounding:
        """One rounding an outcome, and that of the logarithms."""
        return Rounding(SLACK + len(self.masses) * 2.0**-50, 2.0**-45)

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest loss."""
        return float(self._sorted[0][0]), float(self._sorted[0][-1])

    @cached_property
    def _sorted(self) -> tuple[Array, Array, Array]:
        p, q = np.array(self.masses).T
        order = np.argsort(p / q, kind="stable")
        return np.log(p[order]) - np.log(q[order]), p[order], q[order]

    def tails(self, loss: Array) -> Tails:
        """Step functions, summed from either end. loss, each tail: shape (losses,)."""
        losses, *masses = self._sorted
        count = np.searchsorted(losses, loss, side="right")
        below = [np.append(0.0, np.cumsum(mass))[count] for mass in masses]
        above = [np.append(np.cumsum(mass[::-1])[::-1], 0.0)[count] for mass in masses]
        return Tails(above[0], above[1], below[0], below[1])


@dataclass(frozen=True)
class DiscreteGaussianPair:
    """P(z) ∝ e^{-|z|²/(2σ²)} on integer vectors against its shift by d: L = (|d|² - 2m)/(2σ²) with m = d·z.

    The table is of m over the greatest common divisor g of d: one coordinate takes the same for every shift.
    """

    sigma: float
    shift: tuple[int, ...]

    @property
    def rounding(self) -> Rounding:
        """One rounding a term of the running sums and of the convolution."""
        return Rounding(SLACK + 2 * len(self._table[0]) * 2.0**-52, 0.0)

    @property
    def bounds(self) -> tuple[float, float]:
        """Up to the last m of the table."""
        top = (self._square + 2 * self._unit * self._reach) / (2 * self.sigma**2)
        return -top, top

    @property
    def _square(self) -> int:
        return sum(d * d for d in self.shift)

    @property
    def _unit(self) -> int:
        return math.gcd(*self.shift)

    @property
    def _reach(self) -> int:
        return sum(self.shift) // self._unit * math.ceil(37.5 * self.sigma)

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        """P(m/g < k) and P(m/g >= k) for k = -reach..reach+1, both summed from their small ends; m is symmetric."""
        z = np.arange(-math.ceil(37.5 * self.sigma), math.ceil(37.5 * self.sigma) + 1, dtype=float)
        each = np.exp(-z * z / (2 * self.sigma**2))
        mass = np.ones(1)
        for d in self.shift:
            step = d // self._unit
            spread = np.zeros((len(each) - 1) * step + 1)
            spread[::step] = each / each.sum()
            mass = np.convolve(mass, spread)
        from_left = np.concatenate(([0.0], np.cumsum(mass)))
        return from_left, from_left[::-1].copy()

    def tails(self, loss: Array) -> Tails:
        """L > ε means m < c with c = |d|²/2 - εσ²; under Q, m is larger by |d|². loss, each tail: shape (losses,)."""
        first = np.ceil((self._square / 2 - loss * self.sigma**2) / self._unit)
        left, right = self._table
        top = len(left) - 1
        p = np.clip(first + self._reach, 0, top).astype(np.int64)
        q = np.clip(first - self._square // self._unit + self._reach, 0, top).astype(np.int64)
        return Tails(left[p], left[q], right[p], right[q])
