"""Exact decisions one by one: in rational arithmetic, or by enclosures that are refined until they decide.

`bernoulli_exp` and the samplers after it follow Canonne, Kamath, Steinke 2020 and ask for uniform integers only.
`Uniform` is a real number whose binary digits are drawn as needed: refdp/noise/samplers.py asks it where 53 digits do
not tell.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from refdp.noise.draws import FloatArray

DIGITS = 53

_FAR = 2**14


class Bits(Protocol):
    """A source of uniform integers."""

    def randbelow(self, n: int) -> int:
        """A uniform integer in 0..n-1, without bias, for any n >= 1."""
        ...


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


def magnitude(sigma2: Fraction, uniform: Uniform) -> int:
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


def option_of(row: FloatArray, coefficient: Fraction, uniform: Uniform) -> int:
    """The same for one row, by enclosures of all weights. row: shape (options,)."""
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


def _small_bernoulli_exp(numerator: int, denominator: int, bits: Bits) -> bool:
    """bernoulli_exp for x = numerator / denominator <= 1."""
    place = 1
    while bits.randbelow(denominator * place) < numerator:  # Bernoulli(x / place)
        place += 1
    return place % 2 == 1


def one_laplace(scale: Fraction, bits: Bits) -> int:
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


def one_gaussian(sigma2: Fraction, width: int, bits: Bits) -> int:
    """Algorithm 3 of the same paper: a discrete Laplace proposal of scale t = floor(sigma) + 1, then one rejection."""
    while True:
        proposal = one_laplace(Fraction(width), bits)
        if bernoulli_exp((abs(proposal) - sigma2 / width) ** 2 / (2 * sigma2), bits):
            return proposal


def one_option(row: FloatArray, coefficient: Fraction, bits: Bits) -> int:
    """Proposes a uniform option and accepts it with probability exp(-coefficient (max u - u_c)).

    row: shape (options,).
    """
    allowed = np.flatnonzero(row > -np.inf).tolist()
    best = Fraction(float(row.max()))
    while True:
        option = int(allowed[bits.randbelow(len(allowed))])
        if bernoulli_exp(coefficient * (best - Fraction(float(row[option]))), bits):
            return option
