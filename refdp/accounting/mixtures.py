"""Pairs made from other pairs: sampled ones, and measures seen as pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from refdp.accounting.arrays import Array
from refdp.accounting.grid import Measure
from refdp.accounting.pairs import Pair, Rounding, Tails
from refdp.accounting.rounding import SLACK


@dataclass(frozen=True)
class MixtureFirst:
    """((1-q) Q + q P, Q): the record is in the first data set, Poisson sampled (Zhu, Dong, Wang 2022, Theorem 11)."""

    rate: float
    inner: Pair

    @property
    def rounding(self) -> Rounding:
        """That of the inner pair and of the change of variable."""
        return _mixed_rounding(self.rate, self.inner)

    @property
    def bounds(self) -> tuple[float, float]:
        """log(1 - q + q e^l) of the inner bounds."""
        low, high = self.inner.bounds
        return mixed_loss(low, self.rate), mixed_loss(high, self.rate)

    def tails(self, loss: Array) -> Tails:
        """L > ε exactly if the inner loss is above log(1 + (e^ε - 1)/q)."""
        inner = self.inner.tails(unmixed_loss(loss, self.rate))
        above = _mixed(self.rate, inner.above, inner.above_q)
        return Tails(above, inner.above_q, _mixed(self.rate, inner.below, inner.below_q), inner.below_q)


@dataclass(frozen=True)
class MixtureSecond:
    """(P, (1-q) P + q Q): the record is in the second data set, Poisson sampled (Zhu, Dong, Wang 2022, Theorem 11)."""

    rate: float
    inner: Pair

    @property
    def rounding(self) -> Rounding:
        """That of the inner pair and of the change of variable."""
        return _mixed_rounding(self.rate, self.inner)

    @property
    def bounds(self) -> tuple[float, float]:
        """-log(1 - q + q e^{-l}) of the inner bounds."""
        low, high = self.inner.bounds
        return -mixed_loss(-low, self.rate), -mixed_loss(-high, self.rate)

    def tails(self, loss: Array) -> Tails:
        """L > ε exactly if the inner loss is above -log(1 + (e^{-ε} - 1)/q)."""
        inner = self.inner.tails(-unmixed_loss(-loss, self.rate))
        above_q = _mixed(self.rate, inner.above_q, inner.above)
        return Tails(inner.above, above_q, inner.below, _mixed(self.rate, inner.below_q, inner.below))


@dataclass(frozen=True)
class FixedSize:
    """Sampling without replacement, replace-one: `MixtureFirst` at losses >= 0, `MixtureSecond` below.

    Zhu, Dong, Wang 2022, Theorem 11: H_γ is at most that of the first mixture for γ >= 1 and of the second for γ < 1;
    together a convex profile, with an atom of loss 0 where its slope jumps.
    """

    rate: float
    inner: Pair

    @property
    def rounding(self) -> Rounding:
        """That of the inner pair and of the change of variable."""
        return _mixed_rounding(self.rate, self.inner)

    @property
    def bounds(self) -> tuple[float, float]:
        """From both mixtures."""
        return MixtureSecond(self.rate, self.inner).bounds[0], MixtureFirst(self.rate, self.inner).bounds[1]

    def tails(self, loss: Array) -> Tails:
        """The tails of whichever mixture holds at that loss."""
        first, second = (
            MixtureFirst(self.rate, self.inner).tails(loss),
            MixtureSecond(self.rate, self.inner).tails(loss),
        )
        return Tails(*(np.where(loss >= 0, one, other) for one, other in zip(first, second, strict=True)))


def _mixed(rate: float, included: Array, left_out: Array) -> Array:
    """(1-q) left_out + q included."""
    return (1 - rate) * left_out + rate * included


def _mixed_rounding(rate: float, inner: Pair) -> Rounding:
    """The change of variable loses up to 4 units of 2^-53 / (1 - q) in ε, next to the border -log(1 - q)."""
    slack, blur = inner.rounding
    return Rounding(slack + 2.0**-50, blur + 2.0**-49 / (1 - rate))


def mixed_loss(loss: float, rate: float) -> float:
    """log(1 - q + q e^l)."""
    return loss + math.log(rate + (1 - rate) * math.exp(-loss)) if loss > 1 else math.log1p(rate * math.expm1(loss))


def unmixed_loss(loss: Array, rate: float) -> Array:
    """log(1 + (e^ε - 1)/q), minus infinity below log(1 - q)."""
    small = np.minimum(loss, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(np.expm1(small) > -rate, np.log1p(np.maximum(np.expm1(small) / rate, -1.0)), -np.inf)
    large = np.maximum(loss, 1.0)
    high = large - math.log(rate) + np.log1p(-(1 - rate) * np.exp(-large))
    result: Array = np.where(loss <= 1, low, high)
    return result


@dataclass(frozen=True, eq=False)
class MeasuredPair:
    """A measure seen as a pair: Q-mass e^{-l} times P-mass, the rest of Q at loss minus infinity."""

    measure: Measure

    @property
    def rounding(self) -> Rounding:
        """One rounding a term of the running sums; the blur of the measure."""
        return Rounding(SLACK + (len(self.measure.mass) + 4) * 2.0**-51, self.measure.blur)

    @property
    def bounds(self) -> tuple[float, float]:
        """The first and the last finite loss."""
        losses = self.measure.losses
        return float(losses[0]), float(losses[-1])

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array, Array]:
        measure = self.measure
        mass_q = measure.mass * np.exp(-measure.losses)
        mass = measure.mass
        rest = max(0.0, 1 - float(mass_q.sum()))
        below, below_q = np.append(0.0, np.cumsum(mass)), rest + np.append(0.0, np.cumsum(mass_q))
        above = np.append(np.cumsum(mass[::-1])[::-1], 0.0) + measure.infinity
        above_q = np.append(np.cumsum(mass_q[::-1])[::-1], 0.0)
        return above, above_q, below, below_q

    def tails(self, loss: Array) -> Tails:
        """Step functions."""
        count = np.searchsorted(self.measure.losses, loss, side="right")
        return Tails(*(table[count] for table in self._sums))
