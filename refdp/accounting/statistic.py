"""Lower ends: explicit tests between the two distributions of something that the plan allows.

Every event S shows δ(ε) >= P(S) - e^ε Q(S). The events used are {T > t}, T the sum of the parts' privacy losses, each
rounded to the nearest multiple of one step. T is a function of the outcome, so nothing has to be known about how far
rounding moved it: P(T > t) and Q(T > t) are computed apart, and no likelihood ratio of T is ever used. Rounding costs
power of second order in the step only, at atoms as well as elsewhere, since the best t is searched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from refdp.accounting import grid, mixtures
from refdp.accounting.arrays import Array
from refdp.accounting.composition import compose
from refdp.accounting.distributions import View, loss_range, pair_of
from refdp.accounting.grid import Measure
from refdp.accounting.normal import Blocks, Composed, Mixture, Node, Sampled, one_sided, parts
from refdp.accounting.pairs import DominatingPair

_INNER_CELLS = 8192
_THRESHOLDS = 2**17  # that are tried, at most
_MOST_CELLS = 2**21  # on either side of zero; what lies beyond is scored as the last one


@dataclass(frozen=True, eq=False)
class Statistic:
    """Bounds on the masses of a statistic at (start + i) * step: rows P from below, P from above, the same of Q."""

    start: int
    step: float
    masses: Array

    @property
    def size(self) -> float:
        """E_P of the positive part of the statistic: for choosing among what the plan allows."""
        values = (self.start + np.arange(self.masses.shape[1])) * self.step
        return float(self.masses[0] @ np.maximum(values, 0.0))


def rounded(pair: DominatingPair, step: float, log_cut: float) -> Statistic:
    """The loss of a pair, rounded to the nearest multiple of the step; beyond e^log_cut, to the last one."""
    first, last = grid.extent(pair, step, log_cut)
    edges: Array = (np.arange(first, last + 2, dtype=float) - 0.5) * step
    tails = pair.tails(edges)
    slack = pair.rounding.slack + 2.0**-50
    mass, error, mass_q, error_q = grid.cells(tails, slack)
    ends = np.zeros((2, len(mass)))
    ends[:, 0] += (tails.below[0], tails.below_q[0])
    ends[:, -1] += (tails.above[-1], tails.above_q[-1])
    low = np.maximum(np.stack((mass - error, mass_q - error_q)), 0.0) + ends * (1 - slack)
    high = np.stack((mass + error, mass_q + error_q)) + ends * (1 + slack)
    down, up = 1 - 2.0**-50, 1 + 2.0**-50
    return Statistic(first, step, np.stack((low[0] * down, high[0] * up, low[1] * down, high[1] * up)))


def statistic_of(node: Node, view: View) -> Statistic:
    """The statistic of a node, or of something that it allows.

    Errors: NoPair as `distributions.pair_of`.
    """
    match node:
        case Composed(items):
            return _composed(items, view)
        case Blocks(blocks, at_once):
            each = sorted((statistic_of(inner, view) for inner, n in blocks for _ in range(n)), key=lambda s: s.size)
            return added(each[-at_once:])
        case Mixture(((inner, weight),), _, True):
            return _told(statistic_of(inner, view), weight)
        case Mixture():
            return statistic_of(one_sided(node, above=False), view)
        case Sampled(rate, inner, _) if isinstance(inner, (Composed, Blocks, Mixture, Sampled)):
            low, high = loss_range(inner)
            fine = replace(view, step=max((high - low) / _INNER_CELLS, 1e-12))
            return _sampled(rate, statistic_of(inner, fine), view)
        case Sampled(rate, inner, _):
            pair = pair_of(inner, view)
            mixed = mixtures.MixtureFirst if view.direction == "first" else mixtures.MixtureSecond
            return rounded(mixed(rate, pair), view.step, view.log_cut)
        case _:
            return rounded(pair_of(node, view), view.step, view.log_cut)


def _composed(items: tuple[tuple[Node, int], ...], view: View) -> Statistic:
    low, high = loss_range(Composed(items))
    every = max(1, math.ceil((high - low) / (view.step * 2 * _INNER_CELLS)))
    coarse = replace(view, step=every * view.step)
    total = added([one for inner, count in items for one in [statistic_of(inner, coarse)] * count])
    if every == 1:
        return total
    masses = np.zeros((4, (total.masses.shape[1] - 1) * every + 1))
    masses[:, ::every] = total.masses
    return Statistic(total.start * every, view.step, masses)


def _told(inner: Statistic, weight: float) -> Statistic:
    """The statistic where the release was made, 0 where it was not."""
    masses = inner.masses * weight * (1 + np.array([-1.0, 1.0, -1.0, 1.0])[:, None] * 2.0**-51)
    before, after = max(inner.start, 0), max(1 - inner.start - masses.shape[1], 0)
    masses = np.pad(masses, ((0, 0), (before, after)))
    start = min(inner.start, 0)
    masses[:, -start] += (1 - weight) * (1 + np.array([-1.0, 1.0, -1.0, 1.0]) * 2.0**-51)
    return Statistic(start, inner.step, masses)


def added(statistics: list[Statistic]) -> Statistic:
    """The sum of independent statistics, by direct convolution."""
    total = statistics[0]
    for one in statistics[1:]:
        length = min(total.masses.shape[1], one.masses.shape[1])
        rounding = np.array([-1.0, 1.0, -1.0, 1.0])[:, None] * (length + 4) * 2.0**-52
        products = [np.convolve(a, b) for a, b in zip(total.masses, one.masses, strict=True)]
        total = Statistic(total.start + one.start, one.step, np.stack(products) * (1 + rounding))
    return total


def _sampled(rate: float, inner: Statistic, view: View) -> Statistic:
    """Poisson sampling of a statistic: its points scored by their own ratio, and rounded again."""
    p_low, p_high, q_low, q_high = inner.masses
    if view.direction == "first":
        masses = (rate * p_low + (1 - rate) * q_low, rate * p_high + (1 - rate) * q_high, q_low, q_high)
    else:
        masses = (p_low, p_high, rate * q_low + (1 - rate) * p_low, rate * q_high + (1 - rate) * p_high)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.log(masses[0] / masses[3])
    farthest = min((abs(inner.start) + inner.masses.shape[1]) * inner.step, _MOST_CELLS * view.step)
    score = np.clip(np.nan_to_num(score, nan=-farthest), -farthest, farthest)
    index = np.rint(score / view.step).astype(np.int64)
    start = int(index.min())
    rounding = np.array([-1.0, 1.0, -1.0, 1.0])[:, None] * (len(index) + 8) * 2.0**-52
    binned = np.stack([np.bincount(index - start, weights=row) for row in masses])
    return Statistic(start, view.step, binned * (1 + rounding))


@dataclass(frozen=True, eq=False)
class Power:
    """For thresholds (start + i * stride) * step: P(T >= t) from below, Q(T >= t) from above."""

    start: int
    above: Array
    above_q: Array

    def delta(self, epsilon: float) -> float:
        """The best test's P(S) - e^ε Q(S), at an ε that covers the upward rounding of parameters."""
        epsilon = epsilon * (1 + 2.0**-48) + 2.0**-48
        if epsilon > 700:
            return 0.0
        slack = 2.0**-48 * self.above
        return max(0.0, -math.expm1(epsilon), float(np.max(self.above - math.exp(epsilon) * self.above_q - slack)))

    def epsilon(self, delta: float) -> float:
        """The largest ε at which some test's P(S) - e^ε Q(S) is above δ; 0 if there is none."""
        gain = self.above * (1 - 2.0**-50) - delta
        useful = gain > 2.0**-40 * delta
        if not np.any(useful):
            return 0.0
        ratio = np.log(gain[useful]) - np.log(self.above_q[useful] + 1e-307)
        return max(0.0, float(np.max(ratio)) * (1 - 2.0**-50) - 2.0**-48)


def power(node: Node, view: View, every: bool = False) -> Power:
    """The tests on the composed statistic of a node's parts, tilted as the view says.

    every: at every point of the grid, whatever their number (stride 1).
    Errors: WindowTooWide, NoPair.
    """
    return power_of([(statistic_of(inner, view), count) for inner, count in parts(node)], view.tilt, every)


def power_of(found: list[tuple[Statistic, int]], tilt: float, every: bool = False) -> Power:
    """The tests on the sum of independent statistics, each with its count; P tilted by λ, Q by λ + 1."""
    step = found[0][0].step
    sides = [compose([(_side(one, row), count) for one, count in found], at) for row, at in ((0, tilt), (3, tilt + 1))]
    first = round(sides[0].losses[0] / step), round(sides[1].losses[0] / step)
    begin = max(first)
    end = min(f + len(side.losses) for f, side in zip(first, sides, strict=True))
    if end <= begin:
        return Power(begin, np.zeros(1), np.ones(1))
    stride = 1 if every else 1 + (end - begin) // _THRESHOLDS
    one, other = (slice(begin - f, end - f, stride) for f in first)
    return Power(begin, sides[0].upper_tails(False, one), sides[1].upper_tails(True, other))


def _side(one: Statistic, row: int) -> Measure:
    """One row without leading and trailing zeros, two cells or more: its ends are used for choosing windows."""
    mass = np.append(one.masses[row], 0.0)
    keep = np.flatnonzero(mass > 0)
    first, last = int(keep[0]), max(int(keep[-1]) + 1, int(keep[0]) + 2)
    return Measure(one.start + first, one.step, mass[first:last], 0.0, 0.0, above=row in (1, 3))
