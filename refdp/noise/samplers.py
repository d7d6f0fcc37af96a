"""Exact samplers: no rounding in any decision, many at a time.

Parameters are `Fraction`s, made from floats by their exact value; randomness is unbiased integers. The outputs have
exactly the stated distributions, given that the bits are uniform (Canonne, Kamath, Steinke 2020). Time still depends on
the outcome.

"U < e^-x" and its like are decided from 53 digits of U and a floating-point enclosure of the bound, whose margins are
a thousand times its error (refdp/data/numbers.py: + - * / alone). Where U lies within the margin, about once in 2^35
decisions, more digits are drawn and the bound is enclosed in decimal arithmetic, until the two part
(refdp/noise/rational.py). So each answer is that of real arithmetic, and no law is approximated. Where bits come as
`randbelow` only, or parameters are too large, all is done in rational arithmetic, one question after the other.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain, repeat
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from refdp.data import numbers
from refdp.errors import InvalidParameter
from refdp.noise.draws import Draws, FloatArray, IntArray, check_shape
from refdp.noise.exponential import utilities
from refdp.noise.rational import (
    DIGITS,
    Bits,
    Uniform,
    Words,
    magnitude,
    one_gaussian,
    one_laplace,
    one_option,
    option_of,
)

MARGIN = 2.0**-36
"""Relative room around e^-x, for an error of x of at most 2^-40 (1 + x)."""
LISTED, BUCKETS, UNSURE = 2**12, 17, 2**16 - 1
"""Widest noise whose sums of masses are listed; 2^17 buckets tell 19 of 20 draws where they fall."""
FEW = 64
LARGEST = 2**46
"""Whole parameters below it keep that error when they become floats."""
Flags = NDArray[np.bool_]
_BUCKET, _FRACTION, _LAST = np.uint64(64 - BUCKETS), np.uint64(64 - DIGITS), np.uint64(1)
_WHOLE_WORDS = (np.random.PCG64, np.random.Philox)
"""Generators of 64 bits at a time; a half that is left over from a 32-bit draw comes first."""
_POOL_BYTES = 64  # fetched at once: a call of the generator costs more than the arithmetic on 512 bits


class WordBits(Bits, Words, Protocol):
    """A source of uniform integers and of many 64-bit words at a time."""


class GeneratorBits:
    """Bits of a seeded numpy generator: reproducible, for tests and tapes."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._pool = self._left = 0  # bits fetched but not used yet, and how many

    def randbelow(self, n: int) -> int:
        """Uniform on 0..n-1: as many bits as n-1 has, drawn again until they are below n."""
        size = (n - 1).bit_length()
        while (candidate := self._take(size)) >= n:
            pass
        return candidate

    def words(self, count: int) -> NDArray[np.uint64]:
        """Uniform 64-bit words. Array of shape (count,)."""
        source = self._generator.bit_generator
        if isinstance(source, _WHOLE_WORDS) and not source.state["has_uint32"]:  # the same words, without their copies
            found: NDArray[np.uint64] = source.random_raw(count)
            return found
        return np.frombuffer(self._generator.bytes(8 * count), dtype="<u8").astype(np.uint64, copy=False)

    def _take(self, size: int) -> int:
        while self._left < size:
            self._pool |= int.from_bytes(self._generator.bytes(_POOL_BYTES), "little") << self._left
            self._left += 8 * _POOL_BYTES
        taken = self._pool & ((1 << size) - 1)
        self._pool >>= size
        self._left -= size
        return taken


class SystemBits:
    """Bits of the operating system's entropy: for models that leave the house."""

    def randbelow(self, n: int) -> int:
        """Uniform on 0..n-1."""
        return secrets.randbelow(n)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Uniform 64-bit words. Array of shape (count,)."""
        return np.frombuffer(secrets.token_bytes(8 * count), dtype="<u8").astype(np.uint64)


def discrete_laplace(scale: Fraction, size: int | tuple[int, ...], bits: Bits) -> IntArray:
    """Integers with P(z) proportional to exp(-|z| / scale), exactly. Array of the given shape."""
    _check_parameter("scale", scale)
    many = _many(bits)
    if many is None or scale.numerator >= LARGEST << 10:
        return _fill(size, lambda: one_laplace(scale, bits))
    return laplaces(scale, math.prod(_shape(size)), many).reshape(_shape(size))


def discrete_gaussian(sigma2: Fraction, size: int | tuple[int, ...], bits: Bits) -> IntArray:
    """Integers with P(z) proportional to exp(-z² / (2 sigma2)), exactly. Array of the given shape."""
    _check_parameter("sigma2", sigma2)
    width = _width(sigma2)
    many = _many(bits)
    if many is None or width >= LARGEST:
        return _fill(size, lambda: one_gaussian(sigma2, width, bits))
    return gaussians(sigma2, width, math.prod(_shape(size)), many).reshape(_shape(size))


def sample_exponential(value: ArrayLike, coefficient: float | Fraction, bits: Bits) -> IntArray:
    """Per row of a utility table, option c with probability proportional to exp(coefficient * u_c), exactly.

    Utilities and coefficient count with the exact value of their floats. Shapes (rows, options) -> (rows,); -inf
    excludes an option.
    """
    exact = Fraction(coefficient)
    _check_parameter("coefficient", exact)
    many = _many(bits)
    if many is not None:
        return options(utilities(value), exact, many)
    return np.array([one_option(row, exact, bits) for row in utilities(value)], dtype=np.int64)


def standard_draws(draws: Draws, generator: np.random.Generator, bits: Bits) -> FloatArray | IntArray:
    """The draws that a mechanism asks for: floating kinds from the generator, discrete kinds exactly, from the bits.

    Array of shape draws.shape; int64 for discrete kinds. Errors: InvalidParameter for a kind that is neither listed in
    `Draws` nor brings its sampler, and where the sampler gives another shape.
    """
    if draws.sampler is not None:
        drawn = np.asarray(draws.sampler(generator), dtype=np.float64)
        check_shape("standard draws", drawn.shape, draws.shape)
        return drawn
    match draws.kind:
        case "laplace":
            return np.asarray(generator.laplace(size=draws.shape))
        case "normal":
            return np.asarray(generator.standard_normal(draws.shape))
        case "gumbel":
            return np.asarray(generator.gumbel(size=draws.shape))
        case "exponential":
            return np.asarray(generator.standard_exponential(draws.shape))
        case "discrete-laplace" if isinstance(draws.parameter, Fraction):
            return discrete_laplace(draws.parameter, draws.shape, bits)
        case "discrete-gaussian" if isinstance(draws.parameter, Fraction):
            return discrete_gaussian(draws.parameter, draws.shape, bits)
        case "discrete-gaussian" if isinstance(draws.parameter, tuple):
            return np.stack([discrete_gaussian(one, draws.shape[:-1], bits) for one in draws.parameter], axis=-1)
    raise InvalidParameter(
        f"draws {draws!r}: allowed are the kinds that refdp.noise.draws.Draws lists, discrete with parameter"
    )


def _check_parameter(name: str, parameter: Fraction) -> None:
    if not parameter > 0:
        raise InvalidParameter(f"{name} of a discrete sampler is {parameter!r}: allowed are fractions > 0")


@lru_cache(maxsize=256)
def _width(sigma2: Fraction) -> int:
    """floor(sigma) + 1."""
    return math.isqrt(math.floor(sigma2)) + 1


def _many(bits: Bits | WordBits) -> WordBits | None:
    """The source, if it gives words."""
    return bits if isinstance(bits, (GeneratorBits, SystemBits)) else None


def _shape(size: int | tuple[int, ...]) -> tuple[int, ...]:
    return size if isinstance(size, tuple) else (size,)


def _fill(size: int | tuple[int, ...], one: Callable[[], int]) -> IntArray:
    shape = _shape(size)
    return np.array([one() for _ in range(math.prod(shape))], dtype=np.int64).reshape(shape)


# --- Many decisions at a time -----------------------------------------------------------------------------------------


def uniform_below(n: int, count: int, bits: Words) -> IntArray:
    """Uniform integers in 0..n-1, n <= 2^62: as many bits as n-1 has, drawn again where they are not below n.

    Array of shape (count,).
    """
    mask = np.uint64((1 << (n - 1).bit_length()) - 1)
    found: NDArray[np.uint64] = bits.words(count) & mask
    while (again := np.flatnonzero(found >= n)).size:
        found[again] = bits.words(again.size) & mask
    return found.astype(np.int64)


def bernoulli_exps(gamma: FloatArray, exact: Callable[[int], Fraction], bits: Words) -> Flags:
    """True with probability e^-x in every place, x = exact(place) >= 0; gamma: x, off by at most 2^-40 (1 + x).

    Array of the places' shape.
    """
    digits = bits.words(len(gamma)) >> np.uint64(64 - DIGITS)
    u, p = digits * 2.0**-DIGITS, numbers.exp(-gamma)
    yes = u + 2.0**-DIGITS <= p * (1 - MARGIN)
    no = (u >= p * (1 + MARGIN)) & (digits > 0)
    for place in np.flatnonzero(~(yes | no)):
        yes[place] = Uniform(int(digits[place]), bits).below_exp(exact(int(place)))
    return np.asarray(yes)


def geometrics(count: int, bits: Words) -> IntArray:
    """P(h) = (1 - 1/e) e^-h: how many of e^-1, e^-2, ... a uniform number is below, that is floor(-log U).

    Array of shape (count,).
    """
    digits = bits.words(count) >> np.uint64(64 - DIGITS)
    y = -numbers.log(np.maximum(digits, np.uint64(1)) * 2.0**-DIGITS)
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


def laplaces(scale: Fraction, count: int, bits: Words) -> IntArray:
    """Integers of `discrete_laplace`, by the same algorithm, for numerators below `LARGEST` 2^10.

    Array of shape (count,).
    """
    t, s = scale.numerator, scale.denominator
    kept = [np.empty(0, dtype=np.int64)]
    missing = count
    while missing > 0:
        low = uniform_below(t, 2 * missing + 8, bits)
        low = low[bernoulli_exps(low / t, lambda place, low=low: Fraction(int(low[place]), t), bits)]  # type: ignore[misc]
        high = geometrics(len(low), bits)
        if s >= 2**62 or int(high.max(initial=0)) * t > 2**62:  # once in e^64 draws and less, but for tiny scales
            magnitude = np.array([(int(a) + t * int(b)) // s for a, b in zip(low, high, strict=True)], dtype=np.int64)
        else:
            magnitude = (low + t * high) // s
        negative = (bits.words(len(low)) & np.uint64(1)).astype(bool)
        counted = (magnitude > 0) | ~negative  # zero counts once, not with either sign
        kept.append(np.where(negative, -magnitude, magnitude)[counted])
        missing -= len(kept[-1])
    return np.concatenate(kept)[:count]


def gaussians(sigma2: Fraction, width: int, count: int, bits: Words) -> IntArray:
    """Integers of `discrete_gaussian` for widths floor(sigma) + 1 below `LARGEST`.

    From a table of sums where it is short, else by the same algorithm, one after the other if there are few.
    Array of shape (count,).
    """
    if width <= LISTED:
        return _listed(sigma2, count, bits)
    if count <= FEW:
        return np.array(_one_by_one(sigma2, width, count, bits), dtype=np.int64)
    centre, twice = float(sigma2 / width), float(2 * sigma2)
    kept = [np.empty(0, dtype=np.int64)]
    missing = count
    while missing > 0:
        z = laplaces(Fraction(width), missing + missing // 2 + 8, bits)
        off = np.abs(z) - centre

        def exact(place: int, z: IntArray = z) -> Fraction:
            return Fraction((abs(int(z[place])) - sigma2 / width) ** 2 / (2 * sigma2))

        kept.append(z[bernoulli_exps(off * off / twice, exact, bits)])
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
    """Sums of the masses of |Z| = 0, 1, ...; for every bucket of U the one value that it can mean, or `UNSURE`.

    above, under: U means value k for sure if it lies between above[k] and under[k]. Each sum is off by far less than
    what they keep away from it; the last value is never sure.
    """

    sums: FloatArray
    above: FloatArray
    under: FloatArray
    sure: NDArray[np.uint16]


@lru_cache(maxsize=64)
def _listing(sigma2: Fraction) -> Listing:
    """Masses in whole units of 2^-48 of that of 0: their sums are exact, each mass is off by 2 units at most.

    Arrays are read-only, as they are kept.
    """
    reach = 9 * math.isqrt(math.ceil(sigma2)) + 40  # e^-40 of the mass lies beyond, and no bucket means it surely
    squares = np.arange(float(reach)) ** 2
    masses = np.rint(numbers.exp(-squares / float(2 * sigma2)) * 2.0**49).astype(np.int64)
    masses[0] >>= 1  # either sign
    units = np.cumsum(masses)
    sums, margin = units / float(units[-1]), (8 * reach + 2**12) / float(units[-1])
    edges = np.arange((1 << BUCKETS) + 1) * 2.0**-BUCKETS
    first = np.searchsorted(sums, edges[:-1] - 2 * margin, side="right")
    last = np.searchsorted(sums, edges[1:] + 2 * margin, side="right")
    under = np.append(sums[:-1] - margin - 2.0**-DIGITS, [-1.0, -1.0])
    above = np.append(-1.0, sums + margin)
    found = Listing(sums, above, under, np.where(first == last, first, UNSURE).astype(np.uint16))
    for array in found:
        array.setflags(write=False)
    return found


def _listed(sigma2: Fraction, count: int, bits: Words) -> IntArray:
    """|Z| by where U falls among the sums of masses, and a sign from the last of the word's digits."""
    sums, above, under, sure = _listing(sigma2)
    words = bits.words(count)
    told = sure.take((words >> _BUCKET).view(np.int64))
    unsure = (told == UNSURE).nonzero()[0]
    size = told.astype(np.int64)
    if len(unsure):
        digits = words.take(unsure) >> _FRACTION
        u = digits * 2.0**-DIGITS
        found = sums.searchsorted(u, side="right")
        clear = (u > above.take(found)) & (u < under.take(found))
        if not clear.all():
            for place in np.flatnonzero(~clear):
                found[place] = magnitude(sigma2, Uniform(int(digits[place]), bits))
        size[unsure] = found
    negative = -(words & _LAST).view(np.int64)
    size ^= negative
    size -= negative
    return size


def options(table: FloatArray, coefficient: Fraction, bits: Words) -> IntArray:
    """Per row option c with probability proportional to exp(coefficient u_c): where U times the total of the weights
    falls among their sums."""
    rows, count = table.shape
    with np.errstate(over="ignore"):
        below_best = table - table.max(axis=1, keepdims=True, initial=-np.inf)
        sums = np.cumsum(numbers.exp(float(coefficient) * below_best), axis=1)
    digits = bits.words(rows) >> np.uint64(64 - DIGITS)
    total = sums[:, -1] if rows else np.empty(0)
    low, high = digits * 2.0**-DIGITS * total, (digits + np.uint64(1)) * 2.0**-DIGITS * total
    chosen = np.minimum((sums <= low[:, np.newaxis]).sum(axis=1), count - 1)
    margin = total * ((count + 64) * 2.0**-48)  # the best option weighs 1; each weight errs by 2^-50 of it at most
    place = np.arange(rows)
    before = np.where(chosen > 0, sums[place, np.maximum(chosen - 1, 0)], -np.inf)
    clear = (low - before > margin) & (sums[place, chosen] - high > margin)
    for row in np.flatnonzero(~clear):
        chosen[row] = option_of(table[row], coefficient, Uniform(int(digits[row]), bits))
    return np.asarray(chosen, dtype=np.int64)
