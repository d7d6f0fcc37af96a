"""Outputs as floats, without what a float does not hold being lost: low digits of large numbers, numbers in a text.

The floats stand where they would without that; what is left of them follows, and of what two floats do not hold either
all digits in groups, so that digits of noise do not hide others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit.padding import odd_truths, without_padding

Floats = NDArray[np.float64]

_POWER = r"(?:[eE][-+]?\d+)?"
_DIGITS = r"(?:\d{1,3}(?:_\d{3})+(?!_?\d)|\d+)"
NUMBER = re.compile(
    rf"(?<![\d.])[-+]?(?:{_DIGITS}\.\d+{_POWER}(?!\d)|\d+[eE][-+]\d+(?![^\W_]))"
    rf"|(?<![\w.])[-+]?(?:\.\d+{_POWER}(?!\d)|\d+\.{_POWER}(?!\w)|{_DIGITS}{_POWER}(?=[^\W\d]*(?!\w)))"
)
"""A number in a text, with underscores between thousands too.

With decimals wherever it stands, or a signed exponent up to the word's end; else one that begins a word, up to the
word's end, or with a unit.
"""
WHOLE = 2**53
"""Whole numbers up to here are floats."""
LONGEST = 400
"""A longer number is told by its digits alone, and as a whole number by its bits alone."""
SHORT = 15
"""Decimals of so many digits are what their float is written as."""
GROUP = 15
"""Decimal digits in a group."""
BYTES = 6
"""Bytes in a group."""


def in_floats(leaf: float | str) -> Iterator[float]:
    """A leaf's numbers: none of a text without any."""
    if isinstance(leaf, str):
        for one in NUMBER.findall(leaf):
            yield from of_text(one)
    elif isinstance(leaf, int) and abs(leaf) > WHOLE:
        yield from _of_whole(leaf)
    else:
        yield float(leaf)
        if type(leaf) not in (int, float, bool) or leaf != leaf:
            yield from digits_left(np.array([leaf]), np.array([leaf], dtype=np.float64))


def _of_whole(number: int) -> Iterator[float]:
    """A large whole number, what its float leaves over, and its bits and digits where that is no float either."""
    try:
        nearest = float(number)
    except OverflowError:
        yield float("inf") if number > 0 else float("-inf")
        yield from _bits_and_digits(abs(number))
        return
    left = number - int(nearest)
    yield from (nearest, float(left))
    if int(float(left)) != left:
        yield from _bits_and_digits(abs(number))


def of_text(number: str) -> Iterator[float]:
    """A number in a text, what a float does not hold of it, and from which alphabet its digits are if not from ours."""
    number = number.replace("_", "")
    foreign = [] if number.isascii() else [ord(one) - int(one) for one in number if one.isdecimal()]
    yield from _of_ascii("".join(str(int(one)) if one.isdecimal() else one for one in number))
    yield from map(float, foreign)


def _of_ascii(number: str) -> Iterator[float]:
    nearest = float(number)
    yield nearest
    mantissa, _, exponent = number.lower().strip("+-").partition("e")
    digits = mantissa.replace(".", "")
    vanished = nearest == 0 and digits.strip("0") != ""
    if len(digits) <= SHORT and (nearest == 0 or 1e-300 < abs(nearest) < 1e300) and not vanished:
        return
    if not np.isfinite(nearest) or vanished or len(number) > LONGEST:
        yield from _groups(digits)
        yield from _groups(exponent.strip("+-"))
    elif left := Fraction(number) - Fraction(repr(nearest)):
        yield float(left)
        if Fraction(repr(float(left))) != left:
            yield from _bits_and_digits(int(digits))


def _bits_and_digits(number: int) -> Iterator[float]:
    """A whole number that is not negative in groups of bits and in groups of decimal digits, the lowest first."""
    raw = number.to_bytes(-(-number.bit_length() // 8), "little")
    yield from (float(int.from_bytes(raw[place : place + BYTES], "little")) for place in range(0, len(raw), BYTES))
    if number < 10**LONGEST:
        yield from _groups(str(number))


def _groups(digits: str) -> Iterator[float]:
    for end in range(len(digits), 0, -GROUP):
        yield float(digits[max(end - GROUP, 0) : end])


def digits_left(array: NDArray[Any], nearest: Floats) -> Floats:
    """What `nearest`, an array as float64, leaves over of large and of long numbers; bits of unusual NaNs and truths.

    Shape (numbers,), empty for usual ones.
    """
    left = np.empty(0)
    if array.dtype.kind in "iu" and array.dtype.itemsize > 4:
        large = [int(one) for one in array.ravel() if abs(int(one)) > WHOLE] if np.any(np.abs(nearest) >= WHOLE) else []
        left = np.array([float(one - int(float(one))) for one in large])
    elif array.dtype.kind == "f" and array.dtype.itemsize > 8:
        left = left_of_long(array, nearest)
    elif array.dtype.kind == "b":
        left = odd_truths(array).astype(np.float64)
    return np.append(left, [_digest(one.hex()) for one in odd_nans(array)])


def odd_nans(array: NDArray[Any]) -> list[bytes]:
    """The bytes of each NaN that is not numpy's own."""
    if array.dtype.kind != "f" or not np.isnan(array).any():
        return []
    usual, _ = without_padding(np.array(np.nan, dtype=array.dtype))
    held, _ = without_padding(array[np.isnan(array)])
    ones = (held[place : place + len(usual)] for place in range(0, len(held), len(usual)))
    return [one for one in ones if one != usual]


def left_of_long(array: NDArray[np.longdouble], nearest: Floats) -> Floats:
    """What `nearest` leaves over of long doubles; mantissas in three parts and exponents where that is no float either.

    Shape (numbers,). The bytes between the numbers, which hold nothing of them, are not read.
    """
    array, nearest = array.ravel(), nearest.ravel()
    with np.errstate(all="ignore"):
        left = np.where(np.isfinite(nearest), array - nearest, 0).astype(np.float64)
        beyond = array[(nearest.astype(array.dtype) + left != array) & ~np.isnan(array)]
        mantissa, exponent = np.frexp(beyond)
        parts = []
        for _ in range(3):
            parts.append(mantissa.astype(np.float64))
            mantissa = mantissa - parts[-1]
    return np.concatenate([left, *parts, exponent.astype(np.float64)])


def _digest(text: str) -> float:
    return float(int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big"))
