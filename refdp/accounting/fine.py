"""Compositions of discrete Gaussian noise of so many steps that all of it is Gaussian noise but for a known factor.

A release of discrete Gaussian noise of s steps is, within a factor f of every probability, a function of a release of
Gaussian noise of variance s^2 - b^2 (`distributions.discrete_gaussian`, where f <= 1 + 2^-50 follows from b). A data
set's releases M and those functions M' of Gaussian ones then differ by f^N at most, and for every event S

    P(M in S) <= f^N P(M' in S) <= f^N (e^t P(Q' in S) + delta_G(t)) <= f^N (e^t f^N P(Q in S) + delta_G(t)),

Q and Q' those of the neighbour: delta(epsilon) <= f^N delta_G(epsilon - 2 N log f). Only coordinates that differ are
replaced, release by release, each given what was released before, so that releases may follow from earlier ones, and
Gaussian releases compose exactly: the squares of their mu add up. From below as there: with Gaussian noise added, one
coordinate's release is Gaussian within f, and nothing that is added makes releases cost more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from refdp.accounting import gaussian
from refdp.accounting.distributions import smoothing
from refdp.accounting.normal import Node, parts
from refdp.accounting.releases import FINE, DiscreteGaussianCost, GaussianCost
from refdp.accounting.rounding import ceiling, downwards, upwards

FACTOR = Fraction(1, 2**50)
"""f - 1 of one release, and more than log f."""
MOST = 2**30
"""So many releases at most: f^N stays next to 1."""
LONGEST = 2.0**200
"""In steps, of a change."""


@dataclass(frozen=True)
class Fine:
    """What stands for a composition: the mu of two Gaussians, one that costs less and one that costs more, and N."""

    below: GaussianCost
    above: GaussianCost
    releases: int

    @property
    def shift(self) -> float:
        """2 N log f, rounded upwards."""
        return ceiling(2 * self.releases * FACTOR)

    @property
    def factor(self) -> float:
        """f^N, rounded upwards: at most 1 + 2 N (f - 1), since N (f - 1) <= 2^-20."""
        return ceiling(1 + 2 * self.releases * FACTOR)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Lower and upper end of delta at an epsilon from `shift` on."""
        upper = upwards(self.factor * gaussian.delta(self.above.mu, max(downwards(epsilon - self.shift), 0.0)))
        lower = gaussian.delta_below(self.below.mu, upwards(epsilon + self.shift)) / self.factor
        return max(downwards(lower), 0.0), min(upper, 1.0)

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Lower and upper end of epsilon at a delta above 0."""
        upper = gaussian.epsilon(self.above.mu, downwards(delta / self.factor)) + self.shift
        most = gaussian.epsilon(self.below.mu, min(upwards(delta * self.factor), 1.0))
        lower = gaussian.epsilon_below(self.below.mu, min(upwards(delta * self.factor), 1.0), most) - self.shift
        return max(downwards(lower), 0.0), upwards(upper)


def fine(node: Node) -> Fine | None:
    """What stands for a node of nothing but Gaussian and such discrete Gaussian noise; None for any other."""
    below, above, count = Fraction(0), Fraction(0), 0
    for part, times in parts(node):
        if isinstance(part, GaussianCost):
            below, above = below + part.square * times, above + part.square * times
        elif isinstance(part, DiscreteGaussianCost) and part.sigma > FINE - 1 and part.length < LONGEST:
            squares = _squares(part)
            if squares is None:
                return None
            below, above, count = below + squares[0] * times, above + squares[1] * times, count + times
        else:
            return None
    return Fine(GaussianCost(below), GaussianCost(above), count) if 0 < count <= MOST else None


def _squares(part: DiscreteGaussianCost) -> tuple[Fraction, Fraction] | None:
    """mu^2 of the Gaussian release that costs less, and of that which costs more. None where the grid is too coarse.

    As lengths are rounded upwards to whole steps at most, one step less is a change that is possible.
    """
    variance, length = Fraction(part.sigma) ** 2, Fraction(part.length)
    taken, added = (Fraction(upwards(smoothing(one))) for one in (part.length, 1.0))
    if taken * 1024 > variance:
        return None
    less = max(math.floor(length) - 1, 0) ** 2 / (variance + 2 * added)
    return Fraction(float(less)) * (1 - FACTOR), Fraction(ceiling(length * length / (variance - taken)))
