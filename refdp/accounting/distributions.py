"""From nodes to loss measures from above, in the direction in which the record is first or second.

A measure dominates whatever the plan allows. `pair_of` also gives pairs from below, of one thing that the plan does
allow (for instance a scalar release of full sensitivity), see `statistic`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from typing import Literal

import numpy as np

from refdp.accounting import grid, mixtures, pairs
from refdp.accounting.composition import convolve
from refdp.accounting.grid import Measure
from refdp.accounting.normal import Blocks, Composed, Exchanged, Mixture, Node, Sampled
from refdp.accounting.pairs import NoPair
from refdp.accounting.releases import (
    DiscreteGaussianCost,
    DiscreteLaplaceCost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RangeCost,
    SuppliedCost,
)
from refdp.data.numbers import added

Direction = Literal["first", "second"]
_INNER_CELLS = 4096
_CONVOLVED_CELLS = 16384
_LONGEST_ENUMERATED = 12.0


@dataclass(frozen=True)
class View:
    """How to look at nodes. `tilt` is where a lower bound should be good, `log_cut` what may be cut off at the top."""

    above: bool
    direction: Direction
    step: float
    log_cut: float
    tilt: float


def measure_of(node: Node, view: View) -> Measure:
    """The loss measure of a node.

    Errors: NoPair for vector releases of discrete Gaussian noise that is coarse against the sensitivity.
    """
    match node:
        case Composed(items):
            every, coarse = _convolved(items, view)
            return grid.spread_out(coarse, every, view.step)
        case Blocks():
            return _blocks(node, view)
        case Mixture(slots):
            return grid.weighted([(_slot(inner, view), weight) for inner, weight in slots], node.rest, view.step)
        case DiscreteGaussianCost() if (shifts := _enumerated(node)) is not None:
            return grid.envelope([_discretised(pairs.DiscreteGaussianPair(node.sigma, s), view) for s in shifts])
        case _:
            return _discretised(pair_of(node, view), view)


def pair_of(node: Node, view: View) -> pairs.DominatingPair:
    """The pair of a cost or of a sampled node; for anything else its own measure seen as a pair.

    Errors: NoPair for a cost without a pair on that side.
    """
    match node:
        case GaussianCost():
            return pairs.GaussianPair(node.mu)
        case PureCost():
            return pairs.TwoPoint(node.epsilon, 2 * node.epsilon)
        case LaplaceCost():
            return pairs.LaplacePair(node.epsilon)
        case DiscreteLaplaceCost():
            return pairs.DiscreteLaplacePair(node.rate, node.shift)
        case RangeCost():
            return pairs.BoundedRange(node.epsilon) if view.above else _worst_two_point(node.epsilon, view.tilt)
        case DiscreteGaussianCost() if not view.above or _enumerated(node) is None:
            return discrete_gaussian(node, view.above)
        case SuppliedCost(dominated):
            pair = dominated.pair(view.direction)
            if pair is None or not (view.above or dominated.attained):
                raise NoPair(f"no {'dominating' if view.above else 'attained'} pair of {type(dominated).__name__}")
            return pair
        case Sampled(rate, inner, method):
            return _sampled(rate, inner_pair(inner, view), method, view)
        case Exchanged(rate, near, far):
            view = replace(view, direction="first")
            one = inner_pair(near, view)
            if not view.above and isinstance(one, (pairs.GaussianPair, pairs.LaplacePair, pairs.DiscreteLaplacePair)):
                return mixtures.Opposed(rate, one)
            return mixtures.Exchanged(rate, one, inner_pair(far, view))
        case _:
            return mixtures.MeasuredPair(measure_of(node, view))


def inner_pair(node: Node, view: View) -> pairs.DominatingPair:
    """The pair of a node inside another one, which needs no grid finer than its own losses."""
    if isinstance(node, (Composed, Blocks, Mixture, DiscreteGaussianCost)):
        low, high = loss_range(node)
        view = replace(view, step=max((high - low) / _INNER_CELLS, 1e-9))
    return pair_of(node, view)


def _sampled(rate: float, inner: pairs.DominatingPair, method: str, view: View) -> pairs.DominatingPair:
    if method == "without-replacement":
        return mixtures.FixedSize(rate, inner)
    return mixtures.MixtureFirst(rate, inner) if view.direction == "first" else mixtures.MixtureSecond(rate, inner)


def _slot(node: Node, view: View) -> Measure:
    """The measure of a slot, a composition on a grid that may be coarser: many spread out would fill the memory."""
    return _convolved(node.parts, view)[1] if isinstance(node, Composed) else measure_of(node, view)


def _convolved(items: tuple[tuple[Node, int], ...], view: View) -> tuple[int, Measure]:
    """k and a composition inside another node on every k-th point of the grid: direct convolution is affordable."""
    low, high = loss_range(Composed(items))
    every = max(1, math.ceil((high - low) / (view.step * _CONVOLVED_CELLS)))
    coarse = replace(view, step=every * view.step)
    return every, convolve([(measure_of(inner, coarse), count) for inner, count in items])


def _discretised(pair: pairs.DominatingPair, view: View) -> Measure:
    return grid.pessimistic(pair, view.step, view.log_cut)


def _blocks(node: Blocks, view: View) -> Measure:
    """The envelope of the blocks, or of every two that a record may leave and enter, which are compositions."""
    singles = [inner for inner, count in node.blocks for _ in range(count)]
    if node.at_once == 1:
        return grid.envelope([measure_of(inner, view) for inner, _ in node.blocks])
    twos = dict.fromkeys(combinations(singles, 2))
    return grid.envelope([measure_of(Composed(((one, 1), (other, 1))), view) for one, other in twos])


def _worst_two_point(epsilon: float, tilt: float) -> pairs.TwoPoint:
    """The mechanism of range ε whose Rényi divergence at order 1 + λ is the largest."""
    from refdp.accounting.curves import bounded_range_tilt

    top = float(bounded_range_tilt(epsilon, np.array([1 + tilt]))[0])
    return pairs.TwoPoint(top, epsilon)


def discrete_gaussian(node: DiscreteGaussianCost, above: bool) -> pairs.DominatingPair:
    """One coordinate, one step, noise not too fine to be listed: exact. Else, above: a Gaussian of variance σ² - b².

    Of that the release is a function: draw y ~ N(v, a²), then an integer x with probability ∝ e^{-(x-y)²/(2b²)}. The
    normalising sum over integers is within 1 ± η of its mean, η = 2.1 e^{-2π²b²} (Poisson summation), so x has the
    discrete Gaussian law of variance a² + b² up to (1 + η)/(1 - η) per coordinate that changes, of which there are at
    most length². b² is chosen so that all of these factors together are below 1 + 2^-50, which the blur and the
    relative errors of measures cover.

    Below, one coordinate. Where its lattice is too fine to be listed: with N(0, c²) added a discrete Gaussian is, by
    the same sum, a Gaussian of variance σ² + c², which costs no more.
    """
    fine = node.sigma > FINE
    if fine and not above:
        return pairs.GaussianPair(
            math.floor(node.length) / math.sqrt(node.sigma**2 + 2 * smoothing(1.0)) * (1 - 2.0**-40)
        )
    if not above or (node.scalar and not fine):
        return pairs.DiscreteGaussianPair(node.sigma, (math.floor(node.length),))
    return pairs.GaussianPair(node.length / math.sqrt(node.sigma**2 - smoothing(node.length)) * (1 + 2.0**-50))


FINE = 2.0**16
"""Steps a deviation: noise this fine is accounted for as Gaussian, at both ends."""


def smoothing(length: float) -> float:
    """b² for changes of so many steps."""
    return (math.log(9 * max(length, 1.0) ** 2) + 50 * math.log(2)) / (2 * math.pi**2)


def _enumerated(node: DiscreteGaussianCost) -> list[tuple[int, ...]] | None:
    """All integer shifts up to sign and order, where noise is coarse; None where the Gaussian above does.

    Errors: NoPair if there are too many of them.
    """
    if node.scalar or node.sigma**2 > 16 * smoothing(node.length):
        return None
    budget = node.length if node.norm == 1 else node.length**2
    if budget > _LONGEST_ENUMERATED:
        if node.sigma**2 > 2 * smoothing(node.length):
            return None
        raise NoPair(f"discrete Gaussian noise of {node.sigma:g} steps for changes of length {node.length:g}")
    sizes = range(1, math.floor(budget) + 1)
    shifts = (s for many in sizes for s in combinations_with_replacement(sizes, many))
    return [s for s in shifts if sum(abs(z) ** node.norm for z in s) <= budget]


def loss_range(node: Node) -> tuple[float, float]:
    """A rough range of the losses of a node, for the choice of a grid only."""
    match node:
        case GaussianCost() | DiscreteGaussianCost():
            return -14 * node.mu, node.mu * (node.mu + 14)
        case PureCost() | LaplaceCost() | RangeCost() | DiscreteLaplaceCost():
            return -float(node.exact), float(node.exact)
        case SuppliedCost(dominated):
            pair = dominated.pair("first")
            return (-1.0, 1.0) if pair is None else pair.bounds
        case Sampled(_, inner, _) | Exchanged(_, _, inner):
            return loss_range(inner)
        case Composed(items) | Blocks(items, _):
            each = [(loss_range(inner), count) for inner, count in items]
            return added(c * low for (low, _), c in each), added(c * high for (_, high), c in each)
        case Mixture(slots):
            ranges = [loss_range(inner) for inner, _ in slots]
            return min(low for low, _ in ranges), max(high for _, high in ranges)
