"""Outputs as floats, without what a float does not hold being lost: low digits of large numbers, numbers in a text.

The floats stand where they would without that; what is left of them follows.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w)")
"""A number that stands by itself in a text."""
WHOLE = 2**53
"""Whole numbers up to here are floats."""
LONGEST = 400
"""A longer number in a text is told by its digest."""
NAN = 0x7FF8000000000000


def in_floats(leaf: float | str) -> Iterator[float]:
    """A leaf's numbers: none of a text without any."""
    if isinstance(leaf, str):
        for one in NUMBER.findall(leaf):
            yield from _of_text(one)
    elif isinstance(leaf, int) and abs(leaf) > WHOLE:
        try:
            nearest = float(leaf)
        except OverflowError:
            yield from (float("inf") if leaf > 0 else float("-inf"), _digest(str(hex(leaf))))
        else:
            yield from (nearest, float(leaf - int(nearest)))
    else:
        yield float(leaf)
        yield from digits_left(np.array([leaf]), np.array([leaf], dtype=np.float64))


def _of_text(number: str) -> Iterator[float]:
    """A number in a text, and what a float does not hold of it."""
    nearest = float(number)
    yield nearest
    digits = number.lower().partition("e")[0].strip("+-0.")
    if not np.isfinite(nearest) or len(number) > LONGEST or (nearest == 0 and digits):
        yield _digest(number)
    elif left := Fraction(number) - Fraction(repr(nearest)):
        yield float(left)


def digits_left(array: NDArray[Any], nearest: Floats) -> Floats:
    """What `nearest`, an array as float64, leaves over of large and of long numbers, and the bits of unusual NaNs.

    Shape (numbers,), empty for usual ones.
    """
    left = np.empty(0)
    if array.dtype.kind in "iu" and array.dtype.itemsize > 4:
        large = [int(one) for one in array.ravel() if abs(int(one)) > WHOLE] if np.any(np.abs(nearest) >= WHOLE) else []
        left = np.array([float(one - int(float(one))) for one in large])
    elif array.dtype.kind == "f" and array.dtype.itemsize > 8:
        left = (array - nearest).astype(np.float64).ravel()
    empty = np.isnan(nearest)
    if empty.any():
        bits = np.ascontiguousarray(nearest[empty]).view(np.uint64)
        left = np.append(left, [_digest(str(one)) for one in bits.tolist() if one != NAN])
    return left


def _digest(text: str) -> float:
    return float(int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big"))
