"""Decisions against uniform real numbers whose binary digits are drawn as needed: exact, many at a time.

"U < e^-x" and its like are decided from 53 digits of U and a floating-point enclosure of the bound, whose margins are
a thousand times its error (refdp/data/portable.py: + - * / alone). Where U lies within the margin, about once in 2^35
decisions, more digits are drawn and the bound is enclosed in decimal arithmetic, until the two part. So each answer is
that of real arithmetic, and no law is approximated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, chain, repeat
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from refdp.data import portable
from refdp.noise.draws import FloatArray, IntArray

DIGITS = 53
MARGIN = 2.0**-36
"""Relative room around e^-x, for an error of x of at most 2^-40 (1 + x)."""
LISTED, BUCKETS, UNSURE = 2**12, 17, 2**16 - 1
"""Widest noise whose sums of masses are listed; 2^17 buckets tell 19 of 20 draws where they fall."""
FEW = 64
LARGEST = 2**46
"""Whole parameters below it keep that error when they become floats."""
_FAR = 2**14
Flags = NDArray[np.bool_]


class Words(Protocol):
    """A source of uniform 64-bit words."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """So many of them. Array of shape (count,)."""
        ...


class Uniform:
    """A uniform real number in [0, 1), of which `size` binary digits are known."""

    def __init__(self, digits: int, bits: Words) -> None:
        self._digits, self._size, self._bits = digits, DIGITS, bits

    def bounds(self) -> tuple[Fraction, Fraction]:
        """It is at least the first, and below the second."""
        return Fraction(self._digits, 1 << self._size), Fraction(self._digits + 1, 1 << self._size)

    def refine(self) -> int:
        """64 more digits; the decimals that fit all of them."""
        self._digits = self._digits << 64 | int(self._bits.words(1)[0])
        self._size += 64
        return self._size // 3 + 20

    def below_exp(self, x: Fraction) -> bool:
        """Whether it is below e^-x, x >= 0."""
        decimals = 40
        while True:
            (low, high), (least, most) = self.bounds(), exp_bounds(x, decimals)
            if high <= least:
                return True
            if low >= most:
                return False
            decimals = self.refine()


def exp_bounds(x: Fraction, decimals: int) -> tuple[Fraction, Fraction]:
    """Rational numbers around e^-x, x >= 0, that agree in so many decimals; decimal's exp is correctly rounded.

    Beyond x = 2^14 they are 0 and 2^-(2^14): a uniform number that is no larger has as many zeros.
    """
    if x > _FAR:
        return Fraction(0), Fraction(1, 2**_FAR)
    down, up, near = (
        Context(prec=decimals, rounding=mode, Emin=-(10**17), Emax=10**17)
        for mode in (ROUND_FLOOR, ROUND_CEILING, ROUND_HALF_EVEN)
    )
    parts = Decimal(x.numerator), Decimal(x.denominator)
    least, most = (near.exp(context.divide(*parts).copy_negate()) for context in (up, down))
    return Fraction(near.next_minus(least)), Fraction(near.next_plus(most))


def below(n: int, count: int, bits: Words) -> IntArray:
    """Uniform integers in 0..n-1, n <= 2^62: as many bits as n-1 has, drawn again where they are not below n.

    Array of shape (count,).
    """
    mask = np.uint64((1 << (n - 1).bit_length()) - 1)
    found: NDArray[np.uint64] = bits.words(count) & mask
    while (again := np.flatnonzero(found >= n)).size:
        found[again] = bits.words(again.size) & mask
    return found.astype(np.int64)


def bernoulli_exp(gamma: FloatArray, exact: Callable[[int], Fraction], bits: Words) -> Flags:
    """True with probability e^-x in every place, x = exact(place) >= 0; gamma: x, off by at most 2^-40 (1 + x).

    Array of the places' shape.
    """
    digits = bits.words(len(gamma)) >> np.uint64(64 - DIGITS)
    u, p = digits * 2.0**-DIGITS, portable.exp(-gamma)
    yes = u + 2.0**-DIGITS <= p * (1 - MARGIN)
    no = (u >= p * (1 + MARGIN)) & (digits > 0)
    for place in np.flatnonzero(~(yes | no)):
        yes[place] = Uniform(int(digits[place]), bits).below_exp(exact(int(place)))
    return np.asarray(yes)


def geometric(count: int, bits: Words) -> IntArray:
    """P(h) = (1 - 1/e) e^-h: how many of e^-1, e^-2, ... a uniform number is below, that is floor(-log U).

    Array of shape (count,).
    """
    digits = bits.words(count) >> np.uint64(64 - DIGITS)
    y = -portable.log(np.maximum(digits, np.uint64(1)) * 2.0**-DIGITS)
    found: FloatArray = np.floor(y)
    part = y - found
    clear = (digits >= 2**33) & (part > 2.0**-28) & (part < 1 - 2.0**-28)  # U/2^-53 known to 2^-33, y to 2^-32
    whole: IntArray = found.astype(np.int64)
    for place in np.flatnonzero(~clear):
        uniform, passed = Uniform(int(digits[place]), bits), 0
        while uniform.below_exp(Fraction(passed + 1)):
            passed += 1
        whole[place] = passed
    return whole


def laplace(scale: Fraction, count: int, bits: Words) -> IntArray:
    """As `refdp.noise.samplers.discrete_laplace`, by the same algorithm, for numerators below `LARGEST` 2^10.

    Array of shape (count,).
    """
    t, s = scale.numerator, scale.denominator
    kept = [np.empty(0, dtype=np.int64)]
    missing = count
    while missing > 0:
        low = below(t, 2 * missing + 8, bits)
        low = low[bernoulli_exp(low / t, lambda place, low=low: Fraction(int(low[place]), t), bits)]  # type: ignore[misc]
        high = geometric(len(low), bits)
        if s >= 2**62 or int(high.max(initial=0)) * t > 2**62:  # once in e^64 draws and less, but for tiny scales
            magnitude = np.array([(int(a) + t * int(b)) // s for a, b in zip(low, high, strict=True)], dtype=np.int64)
        else:
            magnitude = (low + t * high) // s
        negative = (bits.words(len(low)) & np.uint64(1)).astype(bool)
        counted = (magnitude > 0) | ~negative  # zero counts once, not with either sign
        kept.append(np.where(negative, -magnitude, magnitude)[counted])
        missing -= len(kept[-1])
    return np.concatenate(kept)[:count]


def gaussian(sigma2: Fraction, width: int, count: int, bits: Words) -> IntArray:
    """As `refdp.noise.samplers.discrete_gaussian`, for widths floor(sigma) + 1 below `LARGEST`: from a table of sums

    Array of shape (count,).
    where it is short, else by the same algorithm, one after the other if there are few."""
    if width <= LISTED:
        return _listed(sigma2, count, bits)
    if count <= FEW:
        return np.array(_one_by_one(sigma2, width, count, bits), dtype=np.int64)
    centre, twice = float(sigma2 / width), float(2 * sigma2)
    kept = [np.empty(0, dtype=np.int64)]
    missing = count
    while missing > 0:
        z = laplace(Fraction(width), missing + missing // 2 + 8, bits)
        off = np.abs(z) - centre

        def exact(place: int, z: IntArray = z) -> Fraction:
            return Fraction((abs(int(z[place])) - sigma2 / width) ** 2 / (2 * sigma2))

        kept.append(z[bernoulli_exp(off * off / twice, exact, bits)])
        missing -= len(kept[-1])
    return np.concatenate(kept)[:count]


def _one_by_one(sigma2: Fraction, width: int, count: int, bits: Words) -> list[int]:
    """The loop of Canonne, Kamath, Steinke 2020, Algorithm 3, on numbers instead of arrays."""
    centre, twice, mask = float(sigma2 / width), float(2 * sigma2), (1 << (width - 1).bit_length()) - 1
    words: Iterator[int] = chain.from_iterable(bits.words(16 + 8 * count).tolist() for _ in repeat(None))

    def below_exp(gamma: float, exact: Callable[[], Fraction]) -> bool:
        digits = next(words) >> (64 - DIGITS)
        u, p = digits * 2.0**-DIGITS, math.exp(-gamma)
        if u + 2.0**-DIGITS <= p * (1 - MARGIN):
            return True
        if digits and u >= p * (1 + MARGIN):
            return False
        return Uniform(digits, bits).below_exp(exact())

    found: list[int] = []
    while len(found) < count:
        low = next(words) & mask
        if low >= width or not below_exp(low / width, lambda low=low: Fraction(low, width)):  # type: ignore[misc]
            continue
        while below_exp(1.0, lambda: Fraction(1)):
            low += width
        negative = next(words) & 1
        if negative and not low:
            continue
        off = low - centre
        if below_exp(off * off / twice, lambda low=low: (low - sigma2 / width) ** 2 / (2 * sigma2)):  # type: ignore[misc]
            found.append(-low if negative else low)
    return found


class Listing(NamedTuple):
    """Sums of the masses of |Z| = 0, 1, ..., of which each is off by `margin` at most; for every bucket of U the one
    value that it can mean, or `UNSURE`."""

    sums: FloatArray
    margin: float
    sure: NDArray[np.uint16]


@lru_cache(maxsize=64)
def _listing(sigma2: Fraction) -> Listing:
    """Masses in whole units of 2^-48 of that of 0: their sums are exact, each mass is off by 2 units at most."""
    reach = 9 * math.isqrt(math.ceil(sigma2)) + 40  # e^-40 of the mass lies beyond, and no bucket means it surely
    squares = np.arange(float(reach)) ** 2
    masses = np.rint(portable.exp(-squares / float(2 * sigma2)) * 2.0**49).astype(np.int64)
    masses[0] >>= 1  # either sign
    units = np.cumsum(masses)
    sums, margin = units / float(units[-1]), (8 * reach + 2**12) / float(units[-1])
    edges = np.arange((1 << BUCKETS) + 1) * 2.0**-BUCKETS
    first = np.searchsorted(sums, edges[:-1] - 2 * margin, side="right")
    last = np.searchsorted(sums, edges[1:] + 2 * margin, side="right")
    return Listing(sums, margin, np.where(first == last, first, UNSURE).astype(np.uint16))


def _listed(sigma2: Fraction, count: int, bits: Words) -> IntArray:
    """|Z| by where U falls among the sums of masses, and a sign from the last of the word's digits."""
    sums, margin, sure = _listing(sigma2)
    words = bits.words(count)
    size = sure.take((words >> np.uint64(64 - BUCKETS)).view(np.int64)).astype(np.int64)
    unsure = np.flatnonzero(size == UNSURE)
    if len(unsure):
        digits = words[unsure] >> np.uint64(64 - DIGITS)
        u = digits * 2.0**-DIGITS
        found = np.searchsorted(sums, u, side="right")
        before = np.where(found > 0, sums[np.maximum(found - 1, 0)], -1.0)
        after = sums[np.minimum(found, len(sums) - 1)]
        clear = (u - before > margin) & (after - u > margin + 2.0**-DIGITS) & (found < len(sums) - 1)
        for place in np.flatnonzero(~clear):
            found[place] = _magnitude(sigma2, Uniform(int(digits[place]), bits))
        size[unsure] = found
    return np.where(words & np.uint64(1), -size, size)


def _magnitude(sigma2: Fraction, uniform: Uniform) -> int:
    """|Z| by enclosures of all masses, in units of 10^-decimals, with a bound of those left out."""
    decimals = 40
    while True:
        reach = math.isqrt(math.ceil(5 * decimals * sigma2)) + 2  # exp(-reach^2 / (2 sigma2)) < 10^-decimals
        near = Context(prec=decimals, rounding=ROUND_HALF_EVEN, Emin=-(10**17), Emax=10**17)
        unit, width = Decimal(10) ** decimals, 2 * sigma2
        listed = [
            int(near.multiply(near.exp(near.divide(-k * k * width.denominator, width.numerator)), unit))
            for k in range(reach)
        ]
        most = list(accumulate((1 + (place > 0)) * (mass + 3) for place, mass in enumerate(listed)))
        least = list(accumulate((1 + (place > 0)) * max(mass - 3, 0) for place, mass in enumerate(listed)))
        beyond = 4 * (math.isqrt(math.ceil(sigma2)) + 2)  # 2 sum of exp(-k^2 / (2 sigma2)), k >= reach, in units
        low, high = uniform.bounds()
        for size in range(reach):
            first = size == 0 or low * least[-1] >= most[size - 1]
            if first and high * (most[-1] + beyond) <= least[size]:
                return size
        decimals = uniform.refine()


def options(table: FloatArray, coefficient: Fraction, bits: Words) -> IntArray:
    """Per row option c with probability proportional to exp(coefficient u_c): where U times the total of the weights
    falls among their sums."""
    rows, count = table.shape
    with np.errstate(over="ignore"):
        below_best = table - table.max(axis=1, keepdims=True, initial=-np.inf)
        sums = np.cumsum(portable.exp(float(coefficient) * below_best), axis=1)
    digits = bits.words(rows) >> np.uint64(64 - DIGITS)
    total = sums[:, -1] if rows else np.empty(0)
    low, high = digits * 2.0**-DIGITS * total, (digits + np.uint64(1)) * 2.0**-DIGITS * total
    chosen = np.minimum((sums <= low[:, np.newaxis]).sum(axis=1), count - 1)
    margin = total * ((count + 64) * 2.0**-48)  # the best option weighs 1; each weight errs by 2^-50 of it at most
    place = np.arange(rows)
    before = np.where(chosen > 0, sums[place, np.maximum(chosen - 1, 0)], -np.inf)
    clear = (low - before > margin) & (sums[place, chosen] - high > margin)
    for row in np.flatnonzero(~clear):
        chosen[row] = _option(table[row], coefficient, Uniform(int(digits[row]), bits))
    return np.asarray(chosen, dtype=np.int64)


def _option(row: FloatArray, coefficient: Fraction, uniform: Uniform) -> int:
    """The same for one row, by enclosures of all weights."""
    allowed = np.flatnonzero(row > -np.inf)
    best = Fraction(float(row.max()))
    gaps = [coefficient * (best - Fraction(float(row[option]))) for option in allowed]
    decimals = 40
    while True:
        balls = [exp_bounds(gap, decimals) for gap in gaps]
        least, most = ([Fraction(0), *accumulate(ends)] for ends in zip(*balls, strict=True))
        low, high = uniform.bounds()
        for place, option in enumerate(allowed):
            first = place == 0 or low * least[-1] >= most[place]
            last = place == len(allowed) - 1 or high * most[-1] <= least[place + 1]
            if first and last:
                return int(option)
        decimals = uniform.refine()
