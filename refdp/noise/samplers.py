"""Exact samplers (Canonne, Kamath, Steinke 2020): no rounding in any decision.

Parameters are `Fraction`s, made from floats by their exact value; randomness is unbiased integers. The outputs have
exactly the stated distributions, given that the bits are uniform. Time still depends on the outcome. Many draws at a
time are decided by refdp/noise/lazy.py; one question after the other, in rational arithmetic, where bits come as
`randbelow` only or parameters are too large for it.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from refdp.errors import InvalidParameter
from refdp.noise import lazy
from refdp.noise.draws import Draws, FloatArray, IntArray, check_shape
from refdp.noise.exponential import utilities
from refdp.noise.lazy import Words

_POOL_BYTES = 64  # fetched at once: a call of the generator costs more than the arithmetic on 512 bits


class Bits(Protocol):
    """A source of uniform integers."""

    def randbelow(self, n: int) -> int:
        """A uniform integer in 0..n-1, without bias, for any n >= 1."""
        ...


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


def bernoulli_exp(x: Fraction, bits: Bits) -> bool:
    """True with probability e^-x, x >= 0 (Canonne, Kamath, Steinke 2020, Algorithm 1).

    For x <= 1: K counts how long Bernoulli(x/1), Bernoulli(x/2), ... succeed; P(K > k) = x^k / k!, so that the first
    failure comes at an odd place with probability Σ_k (-x)^k / k!. Larger x: e^-x = (e^-1)^floor(x) e^-(x - floor(x)).
    """
    whole, rest = divmod(x.numerator, x.denominator)
    for _ in range(whole):
        if not _small_bernoulli_exp(1, 1, bits):
            return False
    return _small_bernoulli_exp(rest, x.denominator, bits)


def discrete_laplace(scale: Fraction, size: int | tuple[int, ...], bits: Bits) -> IntArray:
    """Integers with P(z) proportional to exp(-|z| / scale), exactly. Array of the given shape."""
    _check_parameter("scale", scale)
    many = _many(bits)
    if many is None or scale.numerator >= lazy.LARGEST << 10:
        return _fill(size, lambda: _one_laplace(scale, bits))
    return lazy.laplace(scale, math.prod(_shape(size)), many).reshape(_shape(size))


def discrete_gaussian(sigma2: Fraction, size: int | tuple[int, ...], bits: Bits) -> IntArray:
    """Integers with P(z) proportional to exp(-z² / (2 sigma2)), exactly. Array of the given shape."""
    _check_parameter("sigma2", sigma2)
    width = _width(sigma2)
    many = _many(bits)
    if many is None or width >= lazy.LARGEST:
        return _fill(size, lambda: _one_gaussian(sigma2, width, bits))
    return lazy.gaussian(sigma2, width, math.prod(_shape(size)), many).reshape(_shape(size))


def sample_exponential(value: ArrayLike, coefficient: float | Fraction, bits: Bits) -> IntArray:
    """Per row of a utility table, option c with probability proportional to exp(coefficient * u_c), exactly.

    Utilities and coefficient count with the exact value of their floats. Shapes (rows, options) -> (rows,); -inf
    excludes an option.
    """
    exact = Fraction(coefficient)
    _check_parameter("coefficient", exact)
    many = _many(bits)
    if many is not None:
        return lazy.options(utilities(value), exact, many)
    return np.array([_one_option(row, exact, bits) for row in utilities(value)], dtype=np.int64)


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


def _small_bernoulli_exp(numerator: int, denominator: int, bits: Bits) -> bool:
    """bernoulli_exp for x = numerator / denominator <= 1."""
    place = 1
    while bits.randbelow(denominator * place) < numerator:  # Bernoulli(x / place)
        place += 1
    return place % 2 == 1


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


def _one_laplace(scale: Fraction, bits: Bits) -> int:
    """Algorithm 2 of the same paper, scale = t/s: a geometric number of ratio e^(-1/t), divided by s, with a sign."""
    t, s = scale.numerator, scale.denominator
    while True:
        low = bits.randbelow(t)
        if not _small_bernoulli_exp(low, t, bits):
            continue
        high = 0
        while _small_bernoulli_exp(1, 1, bits):
            high += 1
        magnitude, negative = (low + t * high) // s, bits.randbelow(2) == 1
        if magnitude or not negative:  # zero counts once, not with either sign
            return -magnitude if negative else magnitude


def _one_gaussian(sigma2: Fraction, width: int, bits: Bits) -> int:
    """Algorithm 3 of the same paper: a discrete Laplace proposal of scale t = floor(sigma) + 1, then one rejection."""
    while True:
        proposal = _one_laplace(Fraction(width), bits)
        if bernoulli_exp((abs(proposal) - sigma2 / width) ** 2 / (2 * sigma2), bits):
            return proposal


def _one_option(row: FloatArray, coefficient: Fraction, bits: Bits) -> int:
    """Proposes a uniform option and accepts it with probability exp(-coefficient (max u - u_c))."""
    allowed = np.flatnonzero(row > -np.inf).tolist()
    best = Fraction(float(row.max()))
    while True:
        option = int(allowed[bits.randbelow(len(allowed))])
        if bernoulli_exp(coefficient * (best - Fraction(float(row[option]))), bits):
            return option
