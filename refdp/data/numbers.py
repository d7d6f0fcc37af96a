"""Arithmetic of formulas: the same bits on every machine, rounding in a stated direction, and any kind of number.

numpy's exp and log differ in the last place between vector units, and the C library's between systems. These are made
of + - * / and of the bits of floats alone, which IEEE 754 fixes. Relative errors stay below 2^-50.

A formula in refdp/papers runs on float64 arrays when training, and on Fractions, solver terms and balls when it is
proved. `+ - * /` are generic by themselves; `minimum` and the others of that kind dispatch on their arguments, so that
other kinds of numbers join by `minimum.register(TheirType, function)` (the proofs do) and refdp needs no solver.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_PARTS = 256
_CHUNK = 1 << 13  # temporaries stay in the cache
_LOW, _HIGH = -708.0, 709.78  # between them results are normal numbers
_ROUND = 1.5 * 2.0**52  # x + _ROUND has the integer nearest to x in its low bits
_INVERSE = _PARTS * 1.4426950408889634
_LN2_HIGH, _LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
_STEP_HIGH, _STEP_LOW = _LN2_HIGH / _PARTS, _LN2_LOW / _PARTS  # 31 bits: times any whole number of steps it is exact
_ROOT_HALF = math.sqrt(0.5)
_ATANH = [1.0 / (2 * k + 1) for k in range(11)]  # 0.1716^22 / 23 is below 2^-60


def _roots_of_two() -> Floats:
    """2^(j/256), correctly rounded, from integer square roots."""
    bits, root = 400, 1 << 401
    for _ in range(8):
        root = math.isqrt(root << bits)
    powers = [1 << bits]
    for _ in range(_PARTS - 1):
        powers.append(powers[-1] * root >> bits)
    return np.array([float(Fraction(power, 1 << bits)) for power in powers])


_POWERS = _roots_of_two()


def _exp(x: ArrayLike) -> Any:
    """e^x, 0 below -708 and inf above 709.78; of the shape of x."""
    given = np.asarray(x, dtype=np.float64)
    flat = given.ravel()
    out = np.empty_like(flat)
    for start in range(0, len(flat), _CHUNK):
        _exp_chunk(flat[start : start + _CHUNK], out[start : start + _CHUNK])
    return out.reshape(given.shape)[()]


def _exp_chunk(x: Floats, out: Floats) -> None:
    """e^x = 2^(k + j/256) e^r with x = (256 k + j) log(2)/256 + r, |r| < 0.00136."""
    r = np.minimum(np.maximum(x, _LOW), _HIGH)
    n = r * _INVERSE
    n += _ROUND
    place = n.view(np.int64)
    part = _POWERS.take(place & (_PARTS - 1))
    power = place >> 8
    power += 1023
    power <<= 52
    n -= _ROUND
    r -= n * _STEP_HIGH
    n *= _STEP_LOW
    r -= n
    np.multiply(r, 1.0 / 24.0, out=out)
    for coefficient in (1.0 / 6.0, 0.5, 1.0):
        out += coefficient
        out *= r
    out *= part
    out += part
    out *= power.view(np.float64)
    if not (x.min() >= _LOW and x.max() <= _HIGH):
        out[x < _LOW] = 0.0
        out[x > _HIGH] = np.inf


def _log(x: ArrayLike) -> Any:
    """log x; -inf at 0, nan below, of the shape of x."""
    given = np.asarray(x, dtype=np.float64)
    flat = given.ravel()
    out = np.empty_like(flat)
    for start in range(0, len(flat), _CHUNK):
        out[start : start + _CHUNK] = _log_chunk(flat[start : start + _CHUNK])
    return out.reshape(given.shape)[()]


def _log_chunk(given: Floats) -> Floats:
    """log x = e log 2 + 2 artanh f with x = 2^e m, m from sqrt(1/2) to sqrt(2), f = (m - 1)/(m + 1)."""
    usable = (given > 0) & (given < np.inf)
    mantissa, exponent = np.frexp(np.where(usable, given, 1.0))
    small = mantissa < _ROOT_HALF
    mantissa *= 1.0 + small
    power = exponent - small
    f = (mantissa - 1.0) / (mantissa + 1.0)
    square = f * f
    series = square * _ATANH[-1]
    for coefficient in _ATANH[-2:0:-1]:
        series += coefficient
        series *= square
    tail = 2.0 * f * series + power * _LN2_LOW
    found = power * _LN2_HIGH + (tail + 2.0 * f)
    if not usable.all():
        special = np.where(given == 0, -np.inf, np.where(given > 0, given, np.nan))
        found = np.where(usable, found, special)
    return found


def log_whole(number: int) -> float:
    """log n of a whole number n >= 1 of any size."""
    shift = max(number.bit_length() - 64, 0)
    return float(_log(float(number >> shift)) + shift * _LN2_LOW + shift * _LN2_HIGH)


def expm1(x: ArrayLike) -> Any:
    """e^x - 1 without cancellation, as (u - 1) x / log u with u = e^x. Of the shape of x."""
    given = np.asarray(x, dtype=np.float64)
    u = np.asarray(exp(given))
    moderate = (u > 0) & (u != 1) & (u < 2.0**60)
    safe = np.where(moderate, u, 2.0)
    found = (safe - 1.0) * (np.where(moderate, given, 0.0) / np.asarray(log(safe)))
    return np.where(moderate, found, np.where(u == 1, given, u - 1.0))[()]


def log1p(x: ArrayLike) -> Any:
    """log(1 + x) without cancellation, as log(u) x / (u - 1) with u = 1 + x. Of the shape of x."""
    given = np.asarray(x, dtype=np.float64)
    u = 1.0 + given
    moderate = (u > 0) & (u != 1) & (u < np.inf)
    safe = np.where(moderate, u, 2.0)
    found = np.asarray(log(safe)) * (np.where(moderate, given, 0.0) / (safe - 1.0))
    return np.where(moderate, found, np.where(u == 1, given, np.asarray(log(u))))[()]


# --- Rounding in a stated direction -----------------------------------------------------------------------------------


def at_least(number: Fraction | int | float) -> float:
    """The smallest float that is not below the number."""
    exact = Fraction(number)
    found = float(exact)
    return found if Fraction(found) >= exact else math.nextafter(found, math.inf)


def at_most(number: Fraction | int | float) -> float:
    """The largest float that is not above the number."""
    return -at_least(-Fraction(number))


def root(square: Fraction | int | float) -> float:
    """A square root, never below the true one and at most an ulp above the nearest float."""
    found = math.sqrt(square)
    return found if Fraction(found) ** 2 >= Fraction(square) else math.nextafter(found, math.inf)


def rounded_up(formula: Callable[..., Any], *arguments: Any) -> float:
    """A formula of real numbers at the exact values of its floats, rounded up to a float: for declared bounds.

    Whole numbers and what is no number are passed on as they are. The formula has to be rational where it is used.
    """
    exact = (Fraction(float(value)) if isinstance(value, float | np.floating) else value for value in arguments)
    return at_least(formula(*exact))


SHARE_GRID = 2.0**-53
"""Secret assignments compare a multiple of it, uniform on [0, 1), with sums of shares."""


DIGITS = 100


def digits(formula: Callable[..., Any], *arguments: float | int) -> Fraction:
    """A formula's value with `DIGITS` digits, the same on every machine and in every thread: powers of floats are not.

    arguments: floats, which the formula gets as decimal numbers, and whole numbers, which stay as they are.
    """
    stops = [InvalidOperation, DivisionByZero, Overflow]
    with localcontext(Context(DIGITS, ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9, traps=stops)):
        return Fraction(formula(*(one if isinstance(one, int) else Decimal(one) for one in arguments)))


def added(values: Iterable[Any]) -> Any:
    """The sum from left to right: from Python 3.12 on `sum` compensates what floats round, so that last places differ.

    0 of nothing.
    """
    found: Any = 0
    for one in values:
        found = found + one
    return found


def share(number: Fraction | float) -> float:
    """A share rounded down to `SHARE_GRID`: sums of such shares up to 1 are exact, and a slot falls into a block with
    exactly the probability that is declared."""
    return math.floor(Fraction(number) / Fraction(SHARE_GRID)) * SHARE_GRID


def coarser(number: float, bits: int) -> float:
    """A positive number rounded down to so many significant bits: hides that the last places of what a search finds
    differ between machines, unless a multiple of the last bit that is kept lies between them."""
    mantissa, exponent = math.frexp(number)
    return math.ldexp(math.floor(mantissa * 2**bits), exponent - bits)


# --- Bisection that returns the side on which the predicate was seen to hold ------------------------------------------


def least(holds: Callable[[float], bool], low: float, high: float, relative: float = 1e-12) -> float:
    """A point x in [low, high] with holds(x), at most `relative` (of x) above a point where it fails.

    `holds` is taken to be true at `high`, and is not asked there.
    """
    return low if holds(low) else _border(holds, high, low, relative)


def greatest(holds: Callable[[float], bool], low: float, high: float, relative: float = 1e-12) -> float:
    """A point x in [low, high] with holds(x), at most `relative` below a point where it fails; true at `low`."""
    return high if holds(high) else _border(holds, low, high, relative)


def _border(holds: Callable[[float], bool], inside: float, outside: float, relative: float) -> float:
    """A point with holds(x) at most `relative` from one where it fails; it holds at `inside` and fails at `outside`."""
    for _ in range(200):
        low, high = sorted((inside, outside))
        middle = _middle(low, high)
        if high - low <= relative * abs(inside) or not low < middle < high:
            break
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside


def _middle(low: float, high: float) -> float:
    """Geometric while the ends are positive and far apart, so that tiny answers get as many digits as large ones."""
    return math.sqrt(low) * math.sqrt(high) if 0 < 4 * low < high else 0.5 * (low + high)


# --- Generic over kinds of numbers ------------------------------------------------------------------------------------

Number = Any


class Generic:
    """A function of numbers with one implementation for each kind of number."""

    def __init__(self, name: str, default: Callable[..., Number]) -> None:
        self.name = name
        self._default = default
        self._kinds: dict[type, Callable[..., Number]] = {}

    def register(self, kind: type, function: Callable[..., Number]) -> None:
        """Use `function` whenever an argument is an instance of `kind`."""
        self._kinds[kind] = function

    def __call__(self, *numbers: Number) -> Number:
        for number in numbers:
            for kind, function in self._kinds.items():
                if isinstance(number, kind):
                    return function(*numbers)
        return self._default(*numbers)


minimum = Generic("minimum", np.minimum)
maximum = Generic("maximum", np.maximum)
absolute = Generic("absolute", np.abs)
exp = Generic("exp", _exp)
log = Generic("log", _log)
sqrt = Generic("sqrt", np.sqrt)


def _exact(function: Callable[..., Number]) -> Callable[..., Number]:
    """The exact counterpart for Fractions; floats that stand beside a Fraction are taken at their exact value."""

    def on_fractions(*numbers: Number) -> Number:
        return function(*(number if type(number) is Fraction else Fraction(number) for number in numbers))

    return on_fractions


minimum.register(Fraction, _exact(min))
maximum.register(Fraction, _exact(max))
absolute.register(Fraction, _exact(abs))
exp.register(Fraction, lambda number: _exp(float(number)))
log.register(Fraction, lambda number: _log(float(number)))
sqrt.register(Fraction, lambda number: np.sqrt(float(number)))
