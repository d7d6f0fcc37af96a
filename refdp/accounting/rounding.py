"""Directed rounding: what is added so that floating point never makes an upper bound too small.

Three means, from the tightest to the loosest:
- sums of ratios of floats are exact rationals and are rounded once, upwards (`ceiling`);
- a closed form in elementary functions is multiplied by 1 + SLACK (`upwards`), SLACK = 2**-44 (5.7e-14). It covers up
  to about 250 roundings, and the documented errors of the exponential, logarithm, erfc and log gamma functions used
  (at most a few units in the last place each, which the tests compare with 50 digits);
- discretised distributions and their transforms carry error terms of their own (see `grid` and `composition`).
"""

from __future__ import annotations

import math
import numbers
from fractions import Fraction

SLACK = 2.0**-44

TINY = 1e-300
"""Added to every δ that floats computed: more than all that underflow can lose. Below it only logarithms count."""


def is_number(value: object) -> bool:
    """Whether `value` is a real number, of Python or of numpy; neither bool nor text."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def ceiling(value: Fraction) -> float:
    """The least float that is at least `value`."""
    if value > Fraction(1.7976931348623157e308):
        return math.inf
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def upwards(value: float) -> float:
    """A float above every number whose floating evaluation, to relative error SLACK, gave `value`."""
    return value + abs(value) * SLACK


def downwards(value: float) -> float:
    """A float below every number whose floating evaluation, to relative error SLACK, gave `value`."""
    return value - abs(value) * SLACK
