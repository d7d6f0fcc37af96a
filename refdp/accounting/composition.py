"""Composition of loss measures by an exponentially tilted FFT, as an enclosure of the profile.

With K(λ) = sum_j c_j log E[e^{λ L_j}], the tilted measures p e^{λl - K_j} are convolved; λ is chosen so that the tilted
sum is centred near the ε in question, where untilting multiplies by e^{K - λε}. Hence the error of the transform is
small against δ(ε) itself, however small that is. Error terms, all of them added to the upper and taken from the lower
end:
- transform: ‖error‖₂ <= amplification (η sum_j c_j ‖p_j‖₂ + (η + power) ‖result‖₂), with η = 8 u log2 N for each
  transform of length N (Higham 2002, Theorem 24.2, with u = 2^-53; the tests measure a tenth of it), and what short
  parts that were summed before bring along (`_merged`). It is met with the 2-norm of the weights;
- wrap-around: tilted mass outside the window, at most e^-WINDOW at each end by Chernoff's bound. It is mass in the
  wrong place, at most e^-WINDOW e^{K-λε}; what belongs above the window is added on its own;
- relative: 2^-49 (4 + max |λl|) for every composed measure, N 2^-50 and 2^-49 (λ + 1) max |l| for the running sums;
- ε: the blur of the cell borders, times the count.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from refdp.accounting.arrays import Array
from refdp.accounting.grid import MOST_CELLS, Measure
from refdp.accounting.pairs import NoPair
from refdp.accounting.rounding import TINY
from refdp.data.numbers import added, least

WINDOW = 34.0
_RANGE = 1200.0
_BLOCKS = 4096
Part = tuple[Measure, int]


class WindowTooWide(Exception):
    """Untilting over the window would leave the range of floats: a smaller tilt is needed."""

    def __init__(self, width: float) -> None:
        super().__init__(f"window of losses of width {width:g}")
        self.width = width


def tilted_masses(measure: Measure, tilt: float) -> tuple[float, Array]:
    """K = log E[e^{λL}; L finite] and p e^{λl - K}. The masses: shape (losses,)."""
    exponent = tilt * measure.losses + measure.log_mass
    top = float(np.max(exponent))
    mass: Array = np.exp(exponent - top)
    total = float(np.sum(mass))
    return top + math.log(total), mass / total


def convolve(parts: list[Part]) -> Measure:
    """Direct convolution (componentwise relative accuracy), for small measures that are composed inside other nodes."""
    total: Measure | None = None
    for measure, count in parts:
        for _ in range(count):
            total = measure if total is None else _convolved(total, measure)
    assert total is not None
    return total


def _convolved(one: Measure, other: Measure) -> Measure:
    """What is too small for floats counts as an infinite loss."""
    mass = np.convolve(one.mass, other.mass)
    rounding = (min(len(one.mass), len(other.mass)) + 4) * 2.0**-52
    keep = np.flatnonzero(mass > 1e-250)
    first, last = int(keep[0]), int(keep[-1]) + 1
    infinity = (one.infinity + other.infinity) * (1 + rounding) + 1e-250 * len(mass)
    blur = one.blur + other.blur
    return Measure(one.start + other.start + first, one.step, mass[first:last] * (1 + rounding), infinity, blur)


@dataclass(frozen=True, eq=False)
class Composition:
    """Tilted masses of the composed loss in a window, with everything needed to bound the profile there.

    The true mass at losses[i] is e^{log_scale - tilt losses[i]} tilted[i], up to the stated errors; sums are kept
    relative to `centre`, the middle of the window.
    """

    losses: Array
    tilted: Array
    tilt: float
    centre: float
    log_scale: float
    transform_error: float
    relative_error: float
    log_top: float
    infinity: float
    blur: float

    def delta_above(self, epsilon: float) -> float:
        """An upper bound on δ(ε), for ε at or above the start of the window."""
        log_factor, total, error = self._terms(epsilon - self.blur)
        return min(
            1.0,
            math.exp(min(log_factor, 700.0)) * (total + error) * (1 + self.relative_error + self._exponents)
            + self.outside
            + TINY,
        )

    def epsilon_above(self, delta: float) -> float:
        """An upper bound on ε(δ): the least ε found in the window, inf if there is none."""
        low, high = max(0.0, float(self.losses[0])), float(self.losses[-1])
        if high <= low or self.delta_above(high) > delta:
            return low if high <= low and self.outside <= delta else math.inf
        return least(lambda epsilon: self.delta_above(epsilon) <= delta, low, high, 1e-11)

    def uncertain(self, epsilon: float) -> float:
        """The share of what the transform can be off by in the bound on δ(ε)."""
        _, total, error = self._terms(epsilon - self.blur)
        return error / (total + error) if error > 0 else 0.0

    def tilt_for(self, epsilon: float) -> float:
        """The tilt whose mean is ε, by a Newton step from this one, at most four times larger or smaller."""
        mean = _mean(self.tilted, self.losses) / float(np.sum(self.tilted))
        offset = self.losses - mean
        variance = _mean(self.tilted, offset * offset) / float(np.sum(self.tilted))
        wanted = self.tilt + (epsilon - mean) / max(variance, self.step**2)
        return min(max(wanted, self.tilt / 4), 4 * self.tilt)

    def upper_tails(self, above: bool, at: slice) -> Array:
        """Bounds on the probability of losses[i] and everything beyond, from above or from below, for the i asked for.

        Shape (losses[at],).
        """
        log_factor = self.log_scale - self.tilt * self.losses[at]
        with np.errstate(invalid="ignore"):  # far below the centre both are beyond floats: nan, and 1 or 0 below
            scaled = self._tails[:-1][at] / self._untilting[at]
        y = math.exp(-2 * self.tilt * self.step)
        reach = math.sqrt(min(len(self.losses), 1 / (1 - y) if y < 1 else math.inf))
        error = (2 * len(self.losses) * 2.0**-51 + self._exponents) * scaled + self.transform_error * reach
        relative = self.relative_error + self._exponents
        if above:
            tails = np.exp(np.minimum(log_factor, 700.0)) * (scaled + error) * (1 + relative) + self.outside + TINY
            return np.where((log_factor < 700) & (tails < 1), tails, 1.0)
        kept = np.maximum(scaled - error - 2 * math.exp(-WINDOW), 0.0)
        tails = np.exp(np.minimum(log_factor, 700.0)) * kept * (1 - relative) - TINY
        return np.where(tails > 0, tails, 0.0)

    @cached_property
    def _exponents(self) -> float:
        """A bound on the relative rounding of e^{-λx} over the window."""
        return float(2.0**-49 * (self.tilt + 1) * (1 + max(-self.losses[0], self.losses[-1])))

    @cached_property
    def step(self) -> float:
        """The distance of neighbouring losses."""
        return float(self.losses[1] - self.losses[0])

    @cached_property
    def outside(self) -> float:
        """A bound on the probability above the window and at infinity."""
        return self.infinity * (1 + self.relative_error) + math.exp(min(self.log_top, 0.0))

    @cached_property
    def _untilting(self) -> Array:
        """e^{-λx}, x = losses[i] - centre."""
        with np.errstate(over="ignore"):
            factor: Array = np.exp(-self.tilt * (self.losses - self.centre))
        return factor

    @cached_property
    def _tails(self) -> Array:
        """Sums over i >= n of tilted[i] e^{-λx}, x = losses[i] - centre. Shape (losses + 1,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return _sums_from(self.tilted * self._untilting)

    @cached_property
    def _steeper_tails(self) -> Array:
        """Sums over i >= n of tilted[i] e^{-(λ+1)x}. Shape (losses + 1,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return _sums_from(self.tilted * self._untilting * np.exp(self.centre - self.losses))

    def _terms(self, epsilon: float) -> tuple[float, float, float]:
        """(λ(centre - ε) + log_scale, sum over losses > ε of tilted e^{-λ(l-ε)} (1 - e^{ε-l}), bound on its error)."""
        start = int(np.searchsorted(self.losses, epsilon, side="right"))
        if start == len(self.losses):
            return self.log_scale - self.tilt * epsilon, 0.0, self.transform_error * self._norm
        offset = epsilon - self.centre
        if (self.tilt + 1) * offset > 700:
            raise NoPair(f"a loss of {epsilon:g} at the tilt {self.tilt:g}: its weight is no float")
        scaled = math.exp(self.tilt * offset) * float(self._tails[start])
        total = scaled - math.exp((self.tilt + 1) * offset) * float(self._steeper_tails[start])
        sums = (2 * len(self.losses) * 2.0**-51 + self._exponents) * scaled
        return self.log_scale - self.tilt * epsilon, max(total, 0.0), sums + self.transform_error * self._norm

    @cached_property
    def _norm(self) -> float:
        """The 2-norm of e^{-λx}(1 - e^{-x}) over x = h, 2h, …: at most h sqrt((1 + y)/(1 - y)³) with y = e^{-2λh}."""
        step, y = self.step, math.exp(-2 * self.tilt * self.step)
        plain = math.sqrt(len(self.losses))
        if y == 1:
            return plain
        return min(plain, math.sqrt(1 / (1 - y)), step * math.sqrt((1 + y) / (1 - y) ** 3))


def _sums_from(values: Array) -> Array:
    """The sums of values[n:], for n up to their number."""
    sums = np.zeros(len(values) + 1)
    np.cumsum(values[::-1], out=sums[-2::-1])
    return sums


def compose(parts: list[Part], tilt: float) -> Composition:
    """The composition of all parts, tilted by λ = `tilt` > 0.

    Errors: WindowTooWide where exponents would overflow, NoPair where the window has more than MOST_CELLS cells.
    """
    from scipy import fft

    step = parts[0][0].step
    tilts = [tilted_masses(measure, tilt) for measure, _ in parts]
    log_scale = added(count * moment for (moment, _), (_, count) in zip(tilts, parts, strict=True))
    masses = [mass for _, mass in tilts]
    low, high, log_top = _window(parts, masses, tilt, log_scale)
    first = math.floor(low / step)
    if (tilt + 1) * (high - low + step) > _RANGE:
        raise WindowTooWide(high - low + step)
    if (cells := math.ceil(high / step) - first + 1) > MOST_CELLS:
        raise NoPair(f"a window of {cells:.2g} cells of width {step:g}")
    length = int(fft.next_fast_len(cells, real=True))
    transformed, input_error, inherited = _transform(_merged(parts, masses, length), first, length)
    tilted = np.maximum(fft.irfft(transformed, length), 0.0)
    losses: Array = (first + np.arange(length, dtype=float)) * step
    count = sum(times for _, times in parts)
    widest = max(abs(tilt) * float(np.max(np.abs(m.losses))) for m, _ in parts)
    return Composition(
        losses=losses,
        tilted=tilted,
        tilt=tilt,
        centre=float(losses[length // 2]),
        log_scale=log_scale,
        transform_error=_transform_error(count, length, input_error, inherited, _norm(tilted)),
        relative_error=count * 2.0**-49 * (4 + widest) + abs(log_scale) * 2.0**-48,
        log_top=log_top,
        infinity=added(times * measure.infinity for measure, times in parts),
        blur=added(times * measure.blur for measure, times in parts) + 2.0**-50 * float(np.max(np.abs(losses))),
    )


def _transform_error(count: int, length: int, input_error: float, inherited: float, norm: float) -> float:
    """The 2-norm of what the two transforms and the powers between them, and the sums before them, can be off by."""
    eta, power = _eta(length), 16 * 2.0**-53 * count
    amplification = math.exp(min(math.sqrt(length) * (eta * input_error + inherited), 700.0))
    return amplification * (eta * input_error + inherited + (eta + power) * (norm + eta)) + math.exp(-60)


def _eta(length: int) -> float:
    return 8 * 2.0**-53 * math.log2(length)


@dataclass(frozen=True, eq=False)
class _Tilted:
    """The tilted masses of one part, or of several that are already summed, from index `start`; `count` times.

    error: a bound on the 2-norm of the difference to the exact masses.
    """

    start: int
    mass: Array
    count: int
    error: float = 0.0


def _merged(parts: list[Part], masses: list[Array], length: int) -> list[_Tilted]:
    """Parts of equal count that are short beside the window are summed two by two, shortest first.

    That takes transforms as long as the sums instead of as long as the window. The exact masses add up to 1, so the
    error of a sum is that of either part (and their product, which is covered by the factor) and that of the
    transforms, as in `_transform_error`.
    """
    from scipy import fft

    kept: list[_Tilted] = []
    for count in sorted({count for _, count in parts}):
        same = [_Tilted(m.start, mass, count) for (m, c), mass in zip(parts, masses, strict=True) if c == count]
        waiting = [(len(one.mass), index, one) for index, one in enumerate(same)]
        heapq.heapify(waiting)
        for index in range(len(same), 2 * len(same) - 1):
            (size, _, one), (other_size, _, other) = heapq.heappop(waiting), heapq.heappop(waiting)
            if 4 * (size + other_size) > length:
                kept += [one, other]
                break
            whole = int(fft.next_fast_len(size + other_size - 1, real=True))
            product = fft.rfft(one.mass, whole) * fft.rfft(other.mass, whole)
            mass = np.maximum(fft.irfft(product, whole)[: size + other_size - 1], 0.0)
            eta, norms = _eta(whole), _norm(one.mass) + _norm(other.mass)
            error = (1 + 2.0**-20) * (one.error + other.error + eta * norms + (eta + 2.0**-48) * _norm(mass))
            both = _Tilted(one.start + other.start, mass, count, error)
            heapq.heappush(waiting, (len(mass), index, both))
        kept += [one for _, _, one in waiting]
    return kept


def _transform(parts: list[_Tilted], first: int, length: int) -> tuple[NDArray[np.complex128], float, float]:
    """The product of the powers of the transforms, shifted so that index 0 is `first`.

    With sum_j c_j ‖p_j‖₂ and sum_j c_j times the errors that the p_j bring. No transform exceeds 1, so frequencies at
    which the parts so far leave less than e^-60 are left out.
    """
    from scipy import fft

    alive: NDArray[np.int64] = np.arange(length // 2 + 1)
    product: NDArray[np.complex128] | None = None
    error, offset = 0.0, -first
    for count, same in itertools.groupby(sorted(parts, key=_count, reverse=True), key=_count):
        once: NDArray[np.complex128] | None = None
        for one in same:
            middle = round(_mean(one.mass, np.arange(len(one.mass), dtype=float)))
            folded = _folded(one.mass, middle, length)
            values = fft.rfft(folded)
            values = values if len(values) == len(alive) else values[alive]
            once = values if once is None else once * values
            loud = np.flatnonzero(once.real**2 + once.imag**2 > math.exp(-120 / count))
            alive, once = alive[loud], once[loud]
            product = None if product is None else product[loud]
            offset += count * (one.start + middle)
            error += count * _norm(folded)
        assert once is not None
        powered = once if count == 1 else np.exp(count * np.log(once))
        product = powered if product is None else product * powered
    assert product is not None
    whole = np.zeros(length // 2 + 1, dtype=complex)
    whole[alive] = product * np.exp(-2j * np.pi / length * ((alive * (offset % length)) % length))
    return whole, error, added(one.count * one.error for one in parts)


def _count(one: _Tilted) -> int:
    return one.count


def _folded(mass: Array, middle: int, length: int) -> Array:
    """The masses around a circle of `length`, the entry `middle` at index 0."""
    rows = -(-len(mass) // length)
    circle: Array = np.pad(mass, (0, rows * length - len(mass))).reshape(rows, length).sum(axis=0)
    return np.roll(circle, -middle)


def _window(parts: list[Part], masses: list[Array], tilt: float, log_scale: float) -> tuple[float, float, float]:
    """(low, high, log of a bound on the untilted mass above high), with tilted mass e^-WINDOW outside at most."""
    least = sum(count * measure.start for measure, count in parts) * parts[0][0].step
    most = sum(count * (m.start + len(m.mass) - 1) for m, count in parts) * parts[0][0].step
    spread = _spread(parts, masses)
    shifts = math.sqrt(2 * WINDOW) / spread * np.array([0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.6])
    shifts = np.append(shifts, tilt * np.array([0.5, 0.9]))  # for rare losses far below, which the tilt makes rarer
    blocks = [(_blocks(m, mass), count) for (m, count), mass in zip(parts, masses, strict=True)]
    highs, lows, tops = [most], [least], [-math.inf]
    ups = sum((count * _log_means(mass, shifts, ends[1]) for (mass, ends), count in blocks), np.zeros_like(shifts))
    downs = sum((count * _log_means(mass, -shifts, ends[0]) for (mass, ends), count in blocks), np.zeros_like(shifts))
    for shift, up, down in zip(shifts.tolist(), ups.tolist(), downs.tolist(), strict=True):
        highs.append((up + WINDOW) / shift)
        lows.append(-(down + WINDOW) / shift)
        tops.append(log_scale + up - (tilt + shift) * highs[-1])
    best = int(np.argmin(highs))
    return max(lows), highs[best], tops[best]


def _blocks(measure: Measure, mass: Array) -> tuple[Array, tuple[Array, Array]]:
    """The tilted masses of blocks of neighbouring losses, and the first and last loss of each: moments from above."""
    size = -(-len(mass) // _BLOCKS)
    starts = np.arange(0, len(mass), size)
    ends = np.minimum(starts + size, len(mass)) - 1
    return np.add.reduceat(mass, starts), (measure.losses[starts], measure.losses[ends])


def _log_means(mass: Array, factors: Array, losses: Array) -> Array:
    """log sum mass e^{factor loss} for every factor."""
    alive = mass > 0
    terms = factors[:, None] * losses[alive] + np.log(mass[alive])
    top = np.max(terms, axis=1)
    means: Array = top + np.log(np.sum(np.exp(terms - top[:, None]), axis=1))
    return means


def _spread(parts: list[Part], masses: list[Array]) -> float:
    """The tilted standard deviation of the sum, at least one step."""
    variance = 0.0
    for (measure, count), mass in zip(parts, masses, strict=True):
        centred = measure.losses - _mean(mass, measure.losses)
        variance += count * _mean(mass, centred * centred)
    return max(math.sqrt(max(variance, 0.0)), parts[0][0].step)


def _mean(mass: Array, values: Array) -> float:
    return float(np.sum(mass * values))


def _norm(values: Array) -> float:
    return math.sqrt(float(np.sum(values * values)))
