"""Privacy losses on a grid of multiples of one step, from above. For what is below the truth see `statistic`.

A `Measure` holds P-masses only: the profile of a distribution of losses is E_P[(1 - e^{ε-L})_+], which grows when mass
moves to a larger loss. "Above" means: stochastically larger than the true loss, cell by cell, with the mass that is cut
off at the top counted as an infinite loss, and with a total mass that may exceed 1 by rounding but is never less. This
order survives sums of independent losses, hence composition.

Connect-the-dots (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022): the mass of a cell goes to its two ends so that
the masses under P and under Q are both kept; the profile is exact at the grid and its chord between.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from refdp.accounting.arrays import Array, Mask
from refdp.accounting.pairs import DominatingPair, NoPair, Tails
from refdp.accounting.rounding import SLACK

MOST_CELLS = 2**23
_UNIT = 2.0**-40  # of the sum of up to 2^20 masses that computes the total


@dataclass(frozen=True, eq=False)
class Measure:
    """mass[i] at loss (start + i) * step, `infinity` at an infinite loss.

    above: whether the masses bound the true ones from above, so that they sum to at least 1, or from below.
    blur: every loss may be off by this much, from the rounding of cell borders; the composition adds it to ε.
    """

    start: int
    step: float
    mass: Array
    infinity: float
    blur: float
    above: bool = True

    def __post_init__(self) -> None:
        """Whatever loses or gains probability on the wrong side is stopped here."""
        total = float(np.sum(self.mass)) + self.infinity
        wrong = total < 1 - _UNIT if self.above else total > 1 + _UNIT
        if wrong or not total < math.inf or float(np.min(self.mass)) < 0:
            raise ArithmeticError(
                f"masses that sum to {total!r}, the least {float(np.min(self.mass))!r}: a bound from "
                f"{'above needs at least' if self.above else 'below needs at most'} 1 in all"
            )

    @cached_property
    def losses(self) -> Array:
        """The losses of the entries of `mass`. Shape (losses,)."""
        return (self.start + np.arange(len(self.mass), dtype=float)) * self.step

    @cached_property
    def log_mass(self) -> Array:
        """The logarithms of `mass`, minus infinity at 0. Shape (losses,)."""
        with np.errstate(divide="ignore"):
            return np.log(self.mass)


def pessimistic(pair: DominatingPair, step: float, log_cut: float) -> Measure:
    """Above the pair's loss; mass beyond probability e^log_cut becomes infinite (top) or is moved up (bottom)."""
    first, last = extent(pair, step, log_cut)
    edges: Array = np.arange(first, last + 1, dtype=float) * step
    tails = pair.tails(edges)
    mass, error, mass_q, error_q = cells(tails, pair.rounding.slack)
    scale = np.exp(np.minimum(edges[:-1], 700.0))  # a smaller scale moves mass upwards
    mass = mass + error
    kept = np.maximum(mass_q - error_q, 0.0) * scale * (1 - 2.0**-50)
    upper = np.clip((mass - kept) / -math.expm1(-step) * (1 + 2.0**-50), 0.0, mass)
    total = np.zeros(len(edges))
    total[:-1] += mass - upper
    total[1:] += upper
    total[0] += tails.below[0] * (1 + pair.rounding.slack)
    infinity = float(tails.above[-1]) * (1 + pair.rounding.slack)
    return Measure(first, step, total, infinity, _blur(edges) + pair.rounding.blur)


def cells(tails: Tails, slack: float) -> tuple[Array, Array, Array, Array]:
    """Masses between neighbouring edges under P and Q with bounds on their rounding errors, from the smaller tails.

    Each of shape (edges - 1,).
    """
    mass, error = _differences(tails.above, tails.below, slack)
    mass_q, error_q = _differences(tails.above_q, tails.below_q, slack)
    return mass, error, mass_q, error_q


def _differences(above: Array, below: Array, slack: float) -> tuple[Array, Array]:
    left = below[1:] < above[:-1]
    mass = np.where(left, below[1:] - below[:-1], above[:-1] - above[1:])
    return np.maximum(mass, 0.0), slack * np.where(left, below[1:], above[:-1])


def _blur(losses: Array) -> float:
    return float(2.0**-48 * (1 + np.max(np.abs(losses))))


def extent(pair: DominatingPair, step: float, log_cut: float) -> tuple[int, int]:
    """The first and last grid index that matter: outside lies probability at most e^log_cut at each end, or nothing.

    Errors: NoPair if there are more than MOST_CELLS between them.
    """
    low, high = pair.bounds
    cut = math.exp(max(log_cut, -680.0))
    top = _least(lambda x: pair.tails(x).above <= cut, low, high)
    bottom = -_least(lambda x: pair.tails(-x).below <= max(cut, 1e-19), -high, -low)
    first, last = math.floor(bottom / step), math.ceil(top / step)
    if last - first > MOST_CELLS:
        raise NoPair(f"{last - first:.2g} cells of width {step:g}")
    return first, max(last + (last * step < top), first + 1)


def _least(holds: Callable[[Array], Mask], low: float, high: float) -> float:
    """A point in [low, high] within 2^-20 of it from the least where `holds`, which is monotone and true at high."""
    if not holds(np.array([high - (high - low) * 2.0**-20]))[0]:
        return high
    for _ in range(4):
        points = low + (high - low) * np.arange(1, 32) / 32
        met = np.append(holds(points), True)
        points = np.concatenate(([low], points, [high]))
        index = int(np.argmax(met))
        low, high = float(points[index]), float(points[index + 1])
    return high


def spread_out(measure: Measure, every: int, step: float) -> Measure:
    """A measure on every `every`-th point of a finer grid, as one on all of them."""
    if every == 1:
        return measure
    mass = np.zeros((len(measure.mass) - 1) * every + 1)
    mass[::every] = measure.mass
    return Measure(measure.start * every, step, mass, measure.infinity, _blur_on(measure, every))


def envelope(measures: list[Measure]) -> Measure:
    """The stochastically least measure above all of them (same step): the largest upper tail at every loss."""
    step, start = measures[0].step, min(m.start for m in measures)
    stop = max(m.start + len(m.mass) for m in measures)
    tails = np.zeros(stop - start + 1)
    for measure in measures:
        own = np.full(stop - start + 1, measure.infinity)
        upper = np.cumsum(measure.mass[::-1])[::-1] + measure.infinity
        offset = measure.start - start
        own[offset : offset + len(upper)] = upper
        own[:offset] = upper[0]
        tails = np.maximum(tails, own * (1 + len(own) * 2.0**-52))
    mass = np.maximum(tails[:-1] - tails[1:], 0.0) + SLACK * tails[:-1] * (tails[:-1] > tails[1:])
    return Measure(start, step, mass, float(tails[-1]) * (1 + SLACK), max(m.blur for m in measures))


def weighted(measures: list[tuple[Measure, float]], rest: float, step: float) -> Measure:
    """The mixture with the given weights, `rest` of the mass at loss 0, on the multiples of `step`.

    measures: each on multiples of a step of its own, which is `step` or a multiple of it.
    """
    placed = [(m, weight, round(m.step / step)) for m, weight in measures]
    start = min(0, *(m.start * every for m, _, every in placed))
    stop = max(1, *((m.start + len(m.mass) - 1) * every + 1 for m, _, every in placed))
    total = np.zeros(stop - start)
    total[-start] += rest * (1 + SLACK)
    infinity = 0.0
    for measure, weight, every in placed:
        first, last = measure.start * every - start, (measure.start + len(measure.mass) - 1) * every - start
        total[first : last + 1 : every] += weight * measure.mass * (1 + SLACK)
        infinity += weight * measure.infinity * (1 + SLACK)
    return Measure(start, step, total, infinity, max(_blur_on(m, every) for m, _, every in placed))


def _blur_on(measure: Measure, every: int) -> float:
    """The blur on a grid that is `every` times finer: the two ways to compute a grid point differ by rounding."""
    return measure.blur + (_blur(measure.losses) if every > 1 else 0.0)
