"""What all mechanisms share: the draws they consume, checks of parameters and values, rounding.

Checks raise `InvalidParameter`. A value computed from clamped records is always finite and of a public shape, so that
these errors depend on parameters and never on a record.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from refdp.errors import InvalidParameter

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

SMALLEST, LARGEST = 2.0**-500, 2.0**500  # squares of scales, and grids 2^-32 times as fine, stay normal numbers
LARGEST_INDEX = 2.0**52  # below it every multiple of a step is told apart from its neighbours in a float
GRID_BITS = 32
TAIL = 38.0  # standard deviations; the standard normal density is still a normal double there


@dataclass(frozen=True)
class Draws:
    """The standard draws that one application of a mechanism consumes.

    kind: "laplace", "normal", "gumbel", "exponential" (floating), "discrete-laplace", "discrete-gaussian" (integers).
    shape: shape of the array of draws.
    parameter: discrete kinds only, exact and in units of the step: the scale of "discrete-laplace", the variance
      parameter of "discrete-gaussian", or a tuple of one for each entry of the last axis.
    sampler: of a kind that is not among these: from a generator to an array of the shape.
    """

    kind: str
    shape: tuple[int, ...]
    parameter: Fraction | tuple[Fraction, ...] | None = None
    sampler: Callable[[np.random.Generator], npt.NDArray[np.float64]] | None = field(
        default=None, compare=False, repr=False
    )


def check_positive(name: str, number: object) -> None:
    """Accept real numbers between 2^-500 and 2^500. Errors: InvalidParameter for anything else."""
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float | np.integer | np.floating)
        or not SMALLEST <= number <= LARGEST
    ):
        raise InvalidParameter(
            f"{name} is {number!r}: allowed are finite numbers from 2^-500 to 2^500, so that squares stay finite"
        )


def check_order(order: float) -> None:
    """Accept the orders of a Renyi divergence: 0 < order <= infinity, with 1 the Kullback-Leibler divergence.

    Errors: InvalidParameter for anything else.
    """
    if not order > 0:
        raise InvalidParameter(f"Renyi order {order!r}: allowed are numbers > 0 and infinity (Renyi 1961)")


def finite_array(name: str, numbers: npt.ArrayLike) -> FloatArray:
    """The numbers as a float64 array, all finite. Any shape. Errors: InvalidParameter for a NaN or an infinity."""
    array = np.asarray(numbers, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InvalidParameter(f"{name} holds a NaN or an infinity: allowed are finite numbers")
    return array


def check_shape(name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Require one public shape for values, draws and outputs. Errors: InvalidParameter for another shape."""
    if shape != expected:
        raise InvalidParameter(f"{name} has shape {shape}: allowed is {expected}, the shape that the value fixes")


def check_norm(mechanism: str, norm: object, allowed: tuple[object, ...]) -> None:
    """Require a norm in which the mechanism's cost is a function of the sensitivity.

    Errors: InvalidParameter for another norm.
    """
    if norm not in allowed:
        raise InvalidParameter(f"norm {norm!r} for {mechanism}: allowed are {', '.join(map(repr, allowed))}")


def pair(value: npt.ArrayLike, other: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """A true value and another value (or an output) of equal shape."""
    first, second = finite_array("value", value), finite_array("other value or output", other)
    check_shape("other value or output", second.shape, first.shape)
    return first, second


def checked_draws(standard: npt.ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Finite standard draws of the given shape."""
    draws = finite_array("standard draws", standard)
    check_shape("standard draws", draws.shape, shape)
    return draws


def snap(numbers: FloatArray, scale: npt.ArrayLike) -> FloatArray:
    """Round to multiples of 2^(floor(log2 scale) - 32), half to even.

    A function of the noisy number and of public parameters, hence post-processing. It hides that the logarithm of two
    platforms may differ in the last bit. It is no defence against the floating-point attack of Mironov (2012); the
    discrete mechanisms are.

    Array of the shape of `numbers`; scale: one number or an array that broadcasts to it.
    """
    exponent = np.frexp(np.asarray(scale, dtype=np.float64))[1] - 1 - GRID_BITS
    with np.errstate(over="ignore"):
        steps = np.ldexp(numbers, -exponent)
    coarse = np.abs(steps) >= LARGEST_INDEX  # already multiples of the grid, or beyond what division can represent
    return np.asarray(np.where(coarse, numbers, np.ldexp(np.rint(np.where(coarse, 0.0, steps)), exponent)))


def to_grid(name: str, numbers: npt.ArrayLike, step: float) -> IntArray:
    """The nearest multiple of the step, as its integer index.

    Array of the shape of `numbers`. Errors: InvalidParameter beyond 2^52 steps.
    """
    array = np.asarray(numbers, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        index = np.rint(array / step)
        inside = np.abs(index) <= LARGEST_INDEX  # False for a NaN
    if not inside.all():
        finite_array(name, array)
        raise InvalidParameter(f"{name} is over 2^52 steps of {step!r} from 0: allowed are indices that a float holds")
    return index.astype(np.int64)


def released_index(output: npt.ArrayLike, step: float) -> IntArray:
    """The index of a released multiple of the step; anything else is not an output of a mechanism on this grid.

    Array of the output's shape. Errors: InvalidParameter off the grid.
    """
    index = to_grid("output", output, step)
    if not np.array_equal(step * index, np.asarray(output, dtype=np.float64)):
        raise InvalidParameter(f"output is not a multiple of {step!r}: allowed are the points of the mechanism's grid")
    return index


def quotient_at_least(numerator: float, denominator: float) -> float:
    """A float q with numerator <= q * denominator in exact arithmetic, a few units in the last place too big."""
    quotient = numerator / denominator
    while Fraction(quotient) * Fraction(denominator) < Fraction(numerator):
        quotient = math.nextafter(quotient, math.inf)
    return quotient


def quotient_at_most(numerator: float, denominator: float) -> float:
    """A float q with q * denominator <= numerator in exact arithmetic, a few units in the last place too small."""
    quotient = numerator / denominator
    while Fraction(quotient) * Fraction(denominator) > Fraction(numerator):
        quotient = math.nextafter(quotient, -math.inf)
    return quotient


def smallest_scale(name: str, epsilon: float, bound: float) -> float:
    """The smallest noise that costs at most epsilon for a sensitivity of at most bound, in exact arithmetic."""
    check_positive(name, epsilon)
    check_positive("sensitivity bound", bound)
    return quotient_at_least(bound, epsilon)


def sds_along(sd: float | tuple[float, ...], shape: tuple[int, ...]) -> FloatArray:
    """One standard deviation for all coordinates, or one per entry of the last axis.

    Errors: InvalidParameter where the last axis has another length.
    """
    if not isinstance(sd, tuple):
        return np.asarray(sd, dtype=np.float64)
    if shape[-1:] != (len(sd),):
        raise InvalidParameter(
            f"value of shape {shape}: allowed is a last axis of {len(sd)}, one entry per standard deviation"
        )
    return np.broadcast_to(np.asarray(sd, dtype=np.float64), shape)


def gaussian_cost(order: float, mu: float) -> float:
    """α μ² / 2 (Mironov 2017, Proposition 7); 0 at every order, infinity included, for μ = 0."""
    return 0.5 * order * mu * mu if mu > 0 else 0.0
