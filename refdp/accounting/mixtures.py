"""Pairs made from other pairs: sampled ones, and measures seen as pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from refdp.accounting.arrays import Array
from refdp.accounting.grid import Measure
from refdp.accounting.pairs import DiscreteLaplacePair, DominatingPair, GaussianPair, LaplacePair, Rounding, Tails
from refdp.accounting.rounding import SLACK


@dataclass(frozen=True)
class MixtureFirst:
    """((1-q) Q + q P, Q): the record is in the first data set, Poisson sampled (Zhu, Dong, Wang 2022, Theorem 11)."""

    rate: float
    inner: DominatingPair

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
        """L > ε exactly if the inner loss is above log(1 + (e^ε - 1)/q). loss, each tail: shape (losses,)."""
        inner = self.inner.tails(unmixed_loss(loss, self.rate))
        above = _mixed(self.rate, inner.above, inner.above_q)
        return Tails(above, inner.above_q, _mixed(self.rate, inner.below, inner.below_q), inner.below_q)


@dataclass(frozen=True)
class MixtureSecond:
    """(P, (1-q) P + q Q): the record is in the second data set, Poisson sampled (Zhu, Dong, Wang 2022, Theorem 11)."""

    rate: float
    inner: DominatingPair

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
        """L > ε exactly if the inner loss is above -log(1 + (e^{-ε} - 1)/q). loss, each tail: shape (losses,)."""
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
    inner: DominatingPair

    @property
    def rounding(self) -> Rounding:
        """That of the inner pair and of the change of variable."""
        return _mixed_rounding(self.rate, self.inner)

    @property
    def bounds(self) -> tuple[float, float]:
        """From both mixtures."""
        return MixtureSecond(self.rate, self.inner).bounds[0], MixtureFirst(self.rate, self.inner).bounds[1]

    def tails(self, loss: Array) -> Tails:
        """The tails of whichever mixture holds at that loss. loss, each tail: shape (losses,)."""
        first, second = (
            MixtureFirst(self.rate, self.inner).tails(loss),
            MixtureSecond(self.rate, self.inner).tails(loss),
        )
        return Tails(*(np.where(loss >= 0, one, other) for one, other in zip(first, second, strict=True)))


@dataclass(frozen=True)
class Exchanged:
    """Poisson sampling under replace-one: with R the law without either record, (1-q) R + q P against (1-q) R + q Q.

    H_γ of the two is that of q P against (γ-1)(1-q) R + γ q Q. For γ >= 1 it is at most, for every w in [0, 1],

        f(γ, w) = q [w A(u/w) + (1-w) B(γ/(1-w))],    u = (γ-1)(1-q)/q,

    A the profile of `near` (P against R), B of `far` (P against Q): w P is set against R, the rest against Q. With
    w = u / (u + γ) this is the convexity bound of Balle, Barthe, Gaboardi 2018, Theorem 2. Both terms are perspectives
    of convex functions, so the least over w is convex in γ; there both P-tails a, b are equal, which bisection seeks.
    The tails at fixed w are P: q (w a + (1-w) b) + (1-q) a_Q, Q: (1-q) a_Q + q b_Q; any w is sound. The relation is
    symmetric, hence the tails below 0 are those above, mirrored.
    """

    rate: float
    near: DominatingPair
    far: DominatingPair

    @property
    def rounding(self) -> Rounding:
        """That of the pairs and of the change of variable."""
        (one, blur), (other, more) = self.near.rounding, self.far.rounding
        return Rounding(max(one, other) + 2.0**-48, max(blur, more) + 2.0**-46)

    @property
    def bounds(self) -> tuple[float, float]:
        """Up to the largest loss of either pair, mixed."""
        top = max(mixed_loss(pair.bounds[1], self.rate) for pair in (self.near, self.far))
        return -top, top

    def tails(self, loss: Array) -> Tails:
        """Both sides from the tails at |ε|. loss, each tail: shape (losses,)."""
        return _mirrored(loss, self._beyond)

    def _beyond(self, loss: Array) -> tuple[Array, Array]:
        """P(L > ε) and Q(L > ε) for ε >= 0, between the two values of log(w/(1-w)) that bisection ends with."""
        q = self.rate
        with np.errstate(divide="ignore"):
            log_u = np.maximum(loss + np.log(-np.expm1(-loss)) + math.log((1 - q) / q), -_FAR)

        def sides(t: Array) -> tuple[Tails, Tails]:
            return self.near.tails(log_u + np.logaddexp(0.0, -t)), self.far.tails(loss + np.logaddexp(0.0, t))

        low, high = np.full_like(loss, -_FAR), np.full_like(loss, _FAR)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            near, far = sides(middle)
            short = near.above < far.above
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        (a, b), (c, d) = sides(low), sides(high)
        gap, over = b.above - a.above, c.above - d.above
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.nan_to_num(np.clip(gap / (gap + over), 0.0, 1.0))

        def ends(t: Array, near: Tails, far: Tails) -> tuple[Array, Array]:
            w, rest = np.exp(-np.logaddexp(0.0, -t)), np.exp(-np.logaddexp(0.0, t))
            return q * (w * near.above + rest * far.above) + (1 - q) * near.above_q, _mixed(
                q, far.above_q, near.above_q
            )

        one, other = ends(low, a, b), ends(high, c, d)
        above, above_q = ((1 - share) * x + share * y for x, y in zip(one, other, strict=True))
        return np.minimum(above, 1.0), np.minimum(above_q, 1.0)


_FAR = 740.0  # of log(w / (1-w))
_HALVINGS = 38


@dataclass(frozen=True)
class Opposed:
    """(1-q) M(0) + q M(s) against (1-q) M(0) + q M(-s), M additive noise in one dimension: two records pull apart.

    The loss grows with the outcome x and is odd. For ε >= 0 it exceeds ε beyond one border, by a quadratic equation in
    e^{μx} (Gaussian) or a linear one in e^{2x} (Laplace). Both probabilities are those of the one computed border,
    hence tests; `Exchanged` of the same noise is met by them.
    """

    rate: float
    near: GaussianPair | LaplacePair | DiscreteLaplacePair

    @property
    def rounding(self) -> Rounding:
        """That of the noise."""
        return self.near.rounding

    @property
    def bounds(self) -> tuple[float, float]:
        """The loss of the farthest outcome."""
        low, high = self.near.bounds
        top = mixed_loss(high, self.rate) - mixed_loss(low - high, self.rate)
        return -top, top

    def tails(self, loss: Array) -> Tails:
        """Tails of the noise at the border. loss, each tail: shape (losses,)."""
        return _mirrored(loss, self._beyond)

    def _beyond(self, loss: Array) -> tuple[Array, Array]:
        q, near = self.rate, self.near
        far: DominatingPair
        if isinstance(near, GaussianPair):
            grown, reach = -(1 - q) * np.expm1(-loss), 2 * q * math.exp(-near.mu * near.mu / 2)
            twice = 2 * (loss + np.log((grown + np.sqrt(grown * grown + reach * reach * np.exp(-loss))) / reach))
            one, far = 0.5 * (twice - near.mu**2), GaussianPair(2 * near.mu)
        else:
            top = near.bounds[1]
            twice = top + loss + np.log(-(1 - q) * np.expm1(-loss) / q + math.exp(-top))
            if isinstance(near, DiscreteLaplacePair):
                twice = near.rate * (2 * np.floor(twice / (2 * near.rate)) + 1)
                far = DiscreteLaplacePair(near.rate, 2 * near.shift)
            else:
                far = LaplacePair(2 * top)
            twice = np.where(twice < 2 * top * (1 - 2.0**-40), twice, 4 * top)
            one = twice - top
        here, there = near.tails(one), far.tails(twice)
        return _mixed(q, here.above, here.above_q), _mixed(q, there.above_q, here.above_q)


def _mirrored(loss: Array, beyond: Callable[[Array], tuple[Array, Array]]) -> Tails:
    """The tails of a symmetric pair from P(L > ε) and Q(L > ε) at ε >= 0."""
    right = loss >= 0
    with np.errstate(over="ignore"):
        beside = np.maximum(np.nextafter(-loss, -np.inf), 0.0)
    above, above_q = beyond(np.where(right, loss, beside))
    return Tails(
        np.where(right, above, 1 - above_q),
        np.where(right, above_q, 1 - above),
        np.where(right, 1 - above, above_q),
        np.where(right, 1 - above_q, above),
    )


def _mixed(rate: float, included: Array, left_out: Array) -> Array:
    """(1-q) left_out + q included."""
    return (1 - rate) * left_out + rate * included


def _mixed_rounding(rate: float, inner: DominatingPair) -> Rounding:
    """The change of variable loses up to 4 units of 2^-53 / (1 - q) in ε, next to the border -log(1 - q)."""
    slack, blur = inner.rounding
    return Rounding(slack + 2.0**-50, blur + 2.0**-49 / (1 - rate))


def mixed_loss(loss: float, rate: float) -> float:
    """log(1 - q + q e^l)."""
    return loss + math.log(rate + (1 - rate) * math.exp(-loss)) if loss > 1 else math.log1p(rate * math.expm1(loss))


def unmixed_loss(loss: Array, rate: float) -> Array:
    """log(1 + (e^ε - 1)/q), minus infinity below log(1 - q). Any shape."""
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
        """Step functions. loss, each tail: shape (losses,)."""
        count = np.searchsorted(self.measure.losses, loss, side="right")
        return Tails(*(table[count] for table in self._sums))
