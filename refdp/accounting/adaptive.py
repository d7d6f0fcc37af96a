"""Selections composed adaptively: the optimum over all mechanisms of one range, between two ends.

A mechanism of range η is dominated by two losses, t with probability p_t = (1 - e^{t-η}) / (1 - e^{-η}) and t - η else
(Dong, Durfee, Rogers 2020); which t, the adversary chooses anew after every output. With V_j(x) the largest δ that j
more of them can still reach when x of ε is left,

    V_j(x) = sup_t p_t V_{j-1}(x - t) + (1 - p_t) V_{j-1}(x - t + η),    V_0(x) = (1 - e^x)_+.

Above: V on a grid of x, between its points by chords in e^x, which lie above since V is convex there; on each cell of t
the bracket is then const - αe^t - βe^-t, whose supremum is closed. The other releases of the plan come first in time:
sup E <= E sup, so that no order of the plan costs more. Their composed loss is averaged over V.
Below: an actual policy t(x) on the grid, playing before the other releases, which every order allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import numpy as np

from refdp.accounting import curves, distributions, divergence
from refdp.accounting.arrays import Array
from refdp.accounting.composition import WINDOW, Composition, WindowTooWide, compose
from refdp.accounting.distributions import Direction, View, measure_of
from refdp.accounting.enclosure import directions
from refdp.accounting.grid import Measure
from refdp.accounting.normal import Node, one_sided, parts
from refdp.accounting.normal import compose as sequence
from refdp.accounting.releases import DiscreteGaussianCost, GaussianCost, RangeCost
from refdp.accounting.rounding import TINY, ceiling
from refdp.accounting.statistic import Power, power
from refdp.data.numbers import added
from refdp.privacy.events import Relation

_CELLS = 32  # of the range, at least
_LARGEST = 4e9  # points times cells times selections
_STEP_ROUNDING = 2.0**-40  # of one selection, relative; also what a critical point that rounding hides can gain


@dataclass(frozen=True)
class Selections:
    """`count` selections of range η among the parts of a node, and the rest of it."""

    exact: Fraction
    count: int
    rest: tuple[tuple[Node, int], ...]

    @property
    def size(self) -> float:
        """η, rounded upwards."""
        return ceiling(self.exact)


def selections(node: Node) -> Selections | None:
    """The selections of a node, if there are any and all of them have one range: the order of others would matter."""
    found = [(inner, count) for inner, count in parts(node) if isinstance(inner, RangeCost)]
    if len(found) != 1:
        return None
    one, count = found[0]
    assert isinstance(one, RangeCost)
    rest = tuple((inner, times) for inner, times in parts(node) if not isinstance(inner, RangeCost))
    return Selections(one.exact, count, rest)


@dataclass(frozen=True)
class Recursion:
    """A grid, x = origin + i h for i = first..last with h = η / cells; tilt and log_cut are for the other releases."""

    chosen: Selections
    origin: float
    cells: int
    first: int
    last: int
    tilt: float
    log_cut: float

    @classmethod
    def choose(
        cls, chosen: Selections, width: float, origin: float, tilt: float, log_cut: float, answer: float
    ) -> Recursion | None:
        """A grid for an answer near `answer`; width: the spread of the whole loss. None if it would be too large."""
        size = chosen.size
        spread = chosen.count * size**2 + added(count * _width(inner) ** 2 for inner, count in chosen.rest)
        width = max(width, 3.5 * math.sqrt(spread))
        smallest = min((_width(inner) for inner, _ in chosen.rest), default=math.inf)
        cells = max(_CELLS, math.ceil(size / min(smallest / 12, width / 280, (answer or width) / 400)))
        step = size / cells
        top = chosen.count * size + added(count * distributions.loss_range(inner)[1] for inner, count in chosen.rest)
        low = max(-top - 2 * step, -width, -20.0)
        high = min(top + 2 * step, answer + width)
        first, last = math.floor((low - origin) / step), math.ceil((high - origin) / step)
        if (last - first) * cells * chosen.count > _LARGEST:
            return None
        return cls(chosen, origin, cells, first, last, tilt, log_cut)

    @property
    def step(self) -> float:
        """h, from a range that is rounded upwards."""
        return self.chosen.size / self.cells

    @cached_property
    def x(self) -> Array:
        """The points of the grid. Shape (points,)."""
        return self.origin + np.arange(self.first, self.last + 1, dtype=float) * self.step

    def above(self, direction: Direction) -> Callable[[int], float]:
        """i to δ from above at x = origin + i h."""
        values = np.maximum(-np.expm1(self.x - 2.0**-48 * (1 + np.abs(self.x))), 0.0) + TINY
        for _ in range(self.chosen.count):
            values = self._worst(values)
        if not self.chosen.rest:
            return lambda i: float(values[i - self.first])
        view = View(True, direction, self.step, self.log_cut, self.tilt)
        rest = [(one_sided(inner, above=True), count) for inner, count in self.chosen.rest]
        measures = [(measure_of(inner, view), count) for node, times in rest for inner, count in _times(node, times)]
        if sum(count * len(measure.mass) for measure, count in measures) * len(values) < _LARGEST:
            for measure, count in measures:
                for _ in range(count):
                    values = self._followed(values, measure)
            return lambda i: float(values[i - self.first])
        composed = compose(measures, self.tilt)
        return cache(lambda i: self._averaged(values, composed, i - self.first))

    def _followed(self, values: Array, measure: Measure) -> Array:
        """E[V(x - L)] for one other release before the selections, term by term."""
        blur = measure.blur + 2.0**-44 * (1 + float(np.max(np.abs(self.x))))
        lower = np.concatenate(([1.0], values[:-1]))
        blurred = values + min(1.0, math.expm1(-blur) / math.expm1(-self.step)) * (lower - values)
        if blur >= self.step:
            return np.ones_like(values)
        last = measure.start + len(measure.mass) - 1
        left, right = max(last, 0), max(-measure.start, 0)
        padded = np.concatenate((np.ones(left), blurred, np.full(right, blurred[-1])))
        begin = left - last
        product = np.convolve(padded[begin : begin + len(values) + len(measure.mass) - 1], measure.mass, "valid")
        return np.minimum(product * (1 + 2.0**-50 * len(measure.mass)) + measure.infinity, 1.0)

    def _worst(self, values: Array) -> Array:
        """One selection more: the supremum over t, on the points of the grid and inside the cells between them.

        On cell k of x, V is at most a_k - b_k y for x = x_k + log y. For t = jh - log y and D = 1 - e^-η the bracket is

            D g = (a - e^-η a') + e^{jh-η} (b - b') - y (b - e^-η b') - e^{jh-η}/y (a - a'),

        primes m cells higher, largest where the last two terms are equal: at y = e^{jh/2} w, w of the cell alone.
        """
        m, size, h = self.cells, self.chosen.size, self.step
        total, decay, span = len(values), math.exp(-size), -math.expm1(-size)
        padded = np.concatenate((np.ones(m), values, np.full(m, values[-1])))
        b = (padded[:-1] - padded[1:]) / -math.expm1(-h)  # entry k: between k and k + 1, y = 1 at the upper end
        a = padded[1:] + b
        apart, steep = np.maximum(a[:-m] - a[m:], 0.0), np.maximum(b[:-m] - decay * b[m:], 0.0)
        rounding = 2.0**-50 * (a[:-m] + b[:-m])
        plain, tilted, root = a[:-m] - decay * a[m:] + rounding, b[:-m] - b[m:] + rounding, 2 * np.sqrt(apart * steep)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            w = math.sqrt(decay) * np.sqrt(np.where(steep > 0, apart / steep, np.inf))
        chance, other = _chances(size, m)
        best, inside = values.copy(), np.zeros(total)
        for j in range(m):
            low, high = slice(m - j, m - j + total), slice(2 * m - j, 2 * m - j + total)
            np.maximum(best, chance[j] * padded[low] + other[j] * padded[high], out=best)
            cell = slice(m - j - 1, m - j - 1 + total)
            k = math.exp(j * h - size)
            y = math.exp(j * h / 2) * w[cell]
            bracket = plain[cell] + k * tilted[cell] - math.sqrt(k) * (1 - 2.0**-50) * root[cell]
            np.maximum(inside, bracket, out=inside, where=(y > math.exp(-h) * (1 - 1e-9)) & (y < 1 + 1e-9))
        bound: Array = np.minimum(np.maximum(best, inside / span) * (1 + _STEP_ROUNDING), 1.0)
        return bound

    def _averaged(self, values: Array, composed: Composition, i: int) -> float:
        """E[V(x_i - L)] over the composed loss L of the other releases, with every error of that composition.

        What wraps around the window from below it is bounded by Chernoff: V(y) <= e^{K - λy} with K of all selections.
        """
        blur = composed.blur + 2.0**-44 * (1 + abs(float(self.x[i])))
        if blur >= self.step:
            return 1.0
        start = round(float(composed.losses[0]) / self.step)
        factor = np.exp(np.clip(composed.log_scale - composed.tilt * composed.losses, -745.0, 700.0))
        index = np.clip(i - start - np.arange(len(factor)), -1, len(values) - 1)
        seen, lower = (np.where(at < 0, 1.0, values[np.maximum(at, 0)]) for at in (index, index - 1))
        weights = factor * (seen + math.expm1(-blur) / math.expm1(-self.step) * (lower - seen))
        rho = curves.bounded_range(self.chosen.size, np.array([1 + composed.tilt]))
        moment = composed.tilt * self.chosen.count * float(rho[0])
        lost = math.exp(min(composed.log_scale + moment - composed.tilt * float(self.x[i]) - WINDOW, 0.0))
        total = float(weights @ composed.tilted) + composed.transform_error * math.sqrt(float(weights @ weights))
        lift = (
            1 + composed.relative_error + 2.0**-44 * (1 + composed.tilt) * (1 + float(np.max(np.abs(composed.losses))))
        )
        return min(1.0, total * lift + lost + composed.outside + TINY)

    def below(self) -> Array:
        """δ from below at every x: a policy on the grid, and then the best tests on the other releases.

        Shape (points,).
        """
        values = np.maximum(-np.expm1(self.x), 0.0) * (1 - 2.0**-50)
        if self.chosen.rest:
            view = View(False, "first", self.step, self.log_cut, self.tilt)
            rest = one_sided(sequence(self.chosen.rest), above=False)
            values = np.maximum(values, self._tested(power(rest, view, every=True)))
        m, total = self.cells, len(self.x)
        chance, other = _chances(self.chosen.size, m)
        left = np.maximum(-np.expm1(self.x[0] - self.step * np.arange(m, 0, -1)), 0.0) * (1 - 2.0**-50)
        for _ in range(self.chosen.count):
            padded = np.concatenate((left, values, np.zeros(m)))
            best = values.copy()
            for j in range(1, m):
                bracket = chance[j] * padded[m - j : m - j + total] + other[j] * padded[2 * m - j : 2 * m - j + total]
                np.maximum(best, bracket, out=best)
            values = best * (1 - 2.0**-49)
        found: Array = values
        return found

    def _tested(self, found: Power) -> Array:
        """P(T > t) - e^x Q(T > t) at the thresholds next to x."""
        gains = []
        near = np.ceil(self.x / self.step).astype(np.int64) - found.start
        for shift in (-1, 0, 1):
            index = np.clip(near + shift, 0, len(found.above) - 1)
            inside = (near + shift >= 0) & (near + shift < len(found.above))
            p, q = found.above[index], found.above_q[index]
            gain = p * (1 - 2.0**-47) - np.exp(np.minimum(self.x, 700.0)) * q
            gains.append(np.where(inside, gain, 0.0))
        best: Array = np.max(np.stack(gains), axis=0)
        return best


def _times(node: Node, times: int) -> list[tuple[Node, int]]:
    return [(inner, count * times) for inner, count in parts(node)]


def _chances(size: float, cells: int) -> tuple[Array, Array]:
    """p_t and 1 - p_t at t = 0, h, …, η, neither by a difference."""
    h = size / cells
    t = np.arange(cells + 1) * h
    span = -math.expm1(-size)
    return -np.expm1(-t[::-1]) / span, math.exp(-size) * np.expm1(t) / span


def enclose_epsilon(node: Node, relation: Relation, delta: float, both: bool = True) -> tuple[float, float] | None:
    """(lower, upper) on ε at δ > 0; lower 0 unless `both` are wanted; None where this is too much. Errors: NoPair."""
    estimate, order = divergence.node_renyi_epsilon(node, relation, delta)
    if not estimate < math.inf:
        return None

    def answer(tilt: float) -> tuple[float, float] | None:
        grid = _grid(node, relation, tilt, math.log(delta) - 16, 0.0, estimate)
        if grid is None:
            return None
        found = [_crossing(grid, grid.above(direction), delta) for direction in directions(node)]
        upper = max(top for top, _ in found)
        if not both:
            return 0.0, upper
        return min(upper, _extended(grid, found[0][1], grid.below(), delta)), upper

    return _retried(answer, order - 1)


def enclose_delta(node: Node, relation: Relation, epsilon: float) -> tuple[float, float] | None:
    """(lower, upper) on δ at ε; None where this does not apply or is too much. Errors: NoPair."""
    delta, order = divergence.node_renyi_delta(node, relation, epsilon)
    log_cut = max(math.log(delta), -600.0) - 20

    def answer(tilt: float) -> tuple[float, float] | None:
        grid = _grid(node, relation, tilt, log_cut, epsilon, epsilon)
        if grid is None:
            return None
        upper = max(grid.above(direction)(0) for direction in directions(node))
        return min(upper, max(0.0, float(grid.below()[-grid.first]) * (1 - 2.0**-34))), upper

    return _retried(answer, order - 1)


def _retried(answer: Callable[[float], tuple[float, float] | None], tilt: float) -> tuple[float, float] | None:
    """At smaller tilts where the window of the other releases is too wide for floats."""
    tilt = min(max(tilt, 0.05), 1e4)
    for _ in range(12):
        try:
            return answer(tilt)
        except WindowTooWide:
            tilt /= 2
    return None


def _grid(
    node: Node, relation: Relation, tilt: float, log_cut: float, origin: float, answer: float
) -> Recursion | None:
    chosen = selections(node)
    if chosen is None:
        return None
    rho = float(divergence.node_curve(node, relation, np.array([1 + tilt]))[0])
    return Recursion.choose(chosen, 7 * math.sqrt(2 * rho / (1 + tilt)), origin, tilt, log_cut, answer)


def _crossing(grid: Recursion, above: Callable[[int], float], delta: float) -> tuple[float, Callable[[int], float]]:
    """The ε at which the chords in e^ε of δ from above cross `delta`."""
    low, high = max(grid.first, math.ceil(-grid.origin / grid.step)), grid.last
    if above(high) > delta:
        return math.inf, above
    if above(low) <= delta:
        return max(0.0, grid.origin + low * grid.step), above
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if above(middle) > delta else (low, middle)
    left, right = above(low), above(high)
    share = min(1.0, (left - delta) / (left - right) * (1 + 2.0**-40) + 2.0**-40)
    x = grid.origin + low * grid.step
    return (x + math.log1p(share * math.expm1(grid.step))) * (1 + 2.0**-48), above


def _extended(grid: Recursion, above: Callable[[int], float], below: Array, delta: float) -> float:
    """The ε up to which δ is certainly larger: δ is convex in e^ε, hence above its chords' extensions to the right."""
    over = np.flatnonzero(below > delta)
    if len(over) == 0:
        return 0.0
    best, top = 0.0, int(over[-1])
    for k in range(max(0, top - 24), top + 1, 4 if top > 24 else 1):
        x = float(grid.x[k])
        best = max(best, x)
        for back in (1, 2, 4, 8, 16):
            if k >= back and (fall := above(grid.first + k - back) - below[k]) > 0:
                slope = fall / -math.expm1(-back * grid.step)  # for each e^x
                best = max(best, x + math.log1p(float((below[k] - delta) / slope) * (1 - 2.0**-40)))
    return max(0.0, best * (1 - 2.0**-48))


def _width(node: Node) -> float:
    """How wide one loss of a node spreads (two deviations at least), for the choice of a grid only."""
    if isinstance(node, (GaussianCost, DiscreteGaussianCost)):
        return 2 * node.mu
    low, high = distributions.loss_range(node)
    return high - low
