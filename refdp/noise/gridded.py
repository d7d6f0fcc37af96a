"""Discrete noise on a public grid, for the exact samplers of `refdp.noise.samplers`: Laplace and Gaussian."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from refdp.errors import InvalidParameter
from refdp.noise.divergences import discrete_gaussian_divergence, laplace_divergence, log_theta
from refdp.noise.draws import (
    TAIL,
    Draws,
    FloatArray,
    IntArray,
    check_norm,
    check_order,
    check_positive,
    check_shape,
    checked_draws,
    gaussian_cost,
    released_index,
    sds_along,
    smallest_scale,
    to_grid,
)
from refdp.privacy.events import Norm, Sensitivity

MOST_STEPS = 2.0**57
"""Of a scale or deviation: draws are whole numbers of 64 bits, and of this one in 2^90 would be larger."""


@dataclass(frozen=True)
class DiscreteLaplace:
    """value (a multiple of step) + step * Z, P(Z = z) proportional to exp(-|z| step / scale).

    Source: Ghosh, Roughgarden, Sundararajan 2009. A value off the grid is rounded to it first, and a declared
    sensitivity is that of the rounded value: `observed_change` measures it, `divergence` and `loss` are about it.
    """

    scale: float
    step: float
    STANDARD: ClassVar[str] = "discrete-laplace"

    def __post_init__(self) -> None:
        check_positive("scale of the discrete Laplace mechanism", self.scale)
        check_positive("step of the discrete Laplace mechanism", self.step)

    @classmethod
    def calibrated(cls, epsilon: float, bound: float, step: float) -> DiscreteLaplace:
        """scale = bound / epsilon, rounded up; bound is the L1 sensitivity on the grid."""
        return cls(smallest_scale("epsilon", epsilon, bound), step)

    def draws(self, value: ArrayLike) -> Draws:
        """One integer per coordinate, of scale scale / step exactly.

        Errors: InvalidParameter for more than 2^57 steps.
        """
        _check_steps("scale of the discrete Laplace mechanism", self.scale, self.step)
        return Draws(self.STANDARD, np.shape(value), Fraction(self.scale) / Fraction(self.step))

    def apply(self, value: ArrayLike, standard: ArrayLike) -> FloatArray:
        """step * (index of the value + draw). Array of the value's shape."""
        return _moved_on_grid(value, standard, self.step)

    def log_density(self, value: ArrayLike, output: ArrayLike) -> FloatArray:
        """-|z| t + log tanh(t/2) with t = step / scale: the masses (1 - r)/(1 + r) r^|z|, r = e^-t, per coordinate."""
        distance = np.abs(_index_pair(value, output, self.step)[2])
        unit = self.step / self.scale
        return np.asarray(-unit * distance + math.log(math.tanh(unit / 2.0)))

    def loss(self, value: ArrayLike, other: ArrayLike, output: ArrayLike) -> FloatArray:
        """(|o - v'| - |o - v|) / scale per coordinate."""
        gaps = _index_pair(value, output, self.step)[2], _index_pair(other, output, self.step)[2]
        return np.asarray((np.abs(gaps[1]) - np.abs(gaps[0])) * (self.step / self.scale))

    def divergence(self, value: ArrayLike, other: ArrayLike, order: float) -> float:
        """Σ of `refdp.noise.divergences.laplace_divergence` with its unit over the coordinates.

        Arrays of one shape in, one number out.
        """
        check_order(order)
        return float(laplace_divergence(order, self.worst_loss(value, other), self.step / self.scale).sum())

    def worst_loss(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """|v - v'| / scale per coordinate."""
        return np.asarray(np.abs(_grid_change(value, other, self.step)) * (self.step / self.scale))

    def worst_output(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """One step beyond the value, on the side away from the other value. Array of the value's shape."""
        change = _grid_change(value, other, self.step)
        return np.asarray(self.step * (to_grid("value", value, self.step) - np.sign(change)))

    def observed_change(self, value: ArrayLike, other: ArrayLike, norm: Norm) -> float:
        """Σ |v - v'| of the values on the grid. Arrays of one shape in, one number out."""
        check_norm("discrete Laplace noise", norm, (1,))
        return float(np.abs(_grid_change(value, other, self.step)).sum() * self.step)

    def pure_cost(self, sensitivity: Sensitivity) -> float:
        """ε = bound / scale."""
        check_norm("discrete Laplace noise", sensitivity.norm, (1,))
        return sensitivity.bound / self.scale

    def renyi_cost(self, sensitivity: Sensitivity, order: float) -> float:
        """D_α of a scalar moved by the whole bound: see `laplace_divergence`."""
        check_order(order)
        return float(laplace_divergence(order, np.asarray(self.pure_cost(sensitivity)), self.step / self.scale))


@dataclass(frozen=True)
class DiscreteGaussian:
    """value (a multiple of step) + step * Z, P(Z = z) proportional to exp(-(z step)^2 / (2 sd^2)).

    sd: one number, or one for each entry of the last axis. Source: Canonne, Kamath, Steinke 2020. A value off the grid
    is rounded to it first, and a declared sensitivity is that of the rounded value.
    """

    sd: float | tuple[float, ...]
    step: float
    STANDARD: ClassVar[str] = "discrete-gaussian"

    def __post_init__(self) -> None:
        if isinstance(self.sd, tuple) and not self.sd:
            raise InvalidParameter("no standard deviations: allowed is one number, or one per entry of the last axis")
        for sd in self.sd if isinstance(self.sd, tuple) else (self.sd,):
            check_positive("standard deviation of the discrete Gaussian mechanism", sd)
        check_positive("step of the discrete Gaussian mechanism", self.step)

    @classmethod
    def calibrated(cls, mu: float, bound: float, step: float) -> DiscreteGaussian:
        """sd = bound / mu, rounded up; bound is the L2 sensitivity. The Renyi cost is at most α mu² / 2 for α >= 1."""
        return cls(smallest_scale("mu", mu, bound), step)

    def draws(self, value: ArrayLike) -> Draws:
        """One integer per coordinate, of variance parameter (sd / step)² exactly.

        Errors: InvalidParameter for a deviation of more than 2^57 steps.
        """
        shape = np.shape(value)
        sds_along(self.sd, shape)
        for sd in self.sd if isinstance(self.sd, tuple) else (self.sd,):
            _check_steps("standard deviation of the discrete Gaussian mechanism", sd, self.step)
        return Draws(self.STANDARD, shape, _variance(self.sd, self.step))

    def apply(self, value: ArrayLike, standard: ArrayLike) -> FloatArray:
        """step * (index of the value + draw). Array of the value's shape."""
        return _moved_on_grid(value, standard, self.step)

    def log_density(self, value: ArrayLike, output: ArrayLike) -> FloatArray:
        """-τ z²/2 - log θ(0) with τ = (step / sd)², per coordinate."""
        distance = _index_pair(value, output, self.step)[2]
        unit = self._units(distance.shape)
        thetas = [log_theta((self.step / sd) ** 2) for sd in (self.sd if isinstance(self.sd, tuple) else (self.sd,))]
        return np.asarray(-0.5 * (unit * distance) ** 2 - np.array(thetas))

    def loss(self, value: ArrayLike, other: ArrayLike, output: ArrayLike) -> FloatArray:
        """(v - v') ((o - v) + (o - v')) / (2 sd²) per coordinate."""
        gap, other_gap = _index_pair(value, output, self.step)[2], _index_pair(other, output, self.step)[2]
        unit = self._units(gap.shape)
        return np.asarray(0.5 * (unit * (other_gap - gap)) * (unit * (gap + other_gap)))

    def divergence(self, value: ArrayLike, other: ArrayLike, order: float) -> float:
        """Σ of `refdp.noise.divergences.discrete_gaussian_divergence` over the coordinates.

        Arrays of one shape in, one number out.
        """
        check_order(order)
        shift = np.abs(_grid_change(value, other, self.step)).astype(np.float64)
        if not isinstance(self.sd, tuple):
            return float(discrete_gaussian_divergence(order, shift, self.step / self.sd).sum())
        self._units(shift.shape)
        columns = zip(np.moveaxis(shift, -1, 0), self.sd, strict=True)
        return float(sum(discrete_gaussian_divergence(order, one, self.step / sd).sum() for one, sd in columns))

    def worst_loss(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """Unbounded where the values differ, 0 elsewhere, per coordinate."""
        return np.asarray(np.where(_grid_change(value, other, self.step) == 0, 0.0, np.inf))

    def worst_output(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """No output attains the supremum: `TAIL` standard deviations, rounded up to the grid, beyond the value.

        Array of the value's shape.
        """
        change = _grid_change(value, other, self.step)
        reach = np.ceil(TAIL / self._units(change.shape)).astype(np.int64)
        return np.asarray(self.step * (to_grid("value", value, self.step) - reach * np.sign(change)))

    def observed_change(self, value: ArrayLike, other: ArrayLike, norm: Norm) -> float:
        """Euclidean norm of v - v' on the grid, for "whitened" in standard deviations.

        Arrays of one shape in, one number out.
        """
        check_norm("discrete Gaussian noise", norm, (2, "whitened"))
        change = _grid_change(value, other, self.step)
        return math.hypot(*(change * (self._units(change.shape) if norm == "whitened" else self.step)).ravel())

    def pure_cost(self, sensitivity: Sensitivity) -> float:
        """inf, unless the value never changes."""
        return gaussian_cost(math.inf, self._mu(sensitivity))

    def renyi_cost(self, sensitivity: Sensitivity, order: float) -> float:
        """max(α, 1) μ² / 2 (Canonne, Kamath, Steinke 2020, Proposition 5).

        Below order 1 the discrete divergence can exceed α μ² / 2; being monotone in the order it stays below μ² / 2.
        """
        check_order(order)
        return gaussian_cost(max(order, 1.0), self._mu(sensitivity))

    def _mu(self, sensitivity: Sensitivity) -> float:
        check_norm("discrete Gaussian noise", sensitivity.norm, (2, "whitened"))
        return sensitivity.bound if sensitivity.norm == "whitened" else sensitivity.bound / float(np.min(self.sd))

    def _units(self, shape: tuple[int, ...]) -> FloatArray:
        """One step in deviations, per coordinate."""
        return np.asarray(self.step / sds_along(self.sd, shape))


def _check_steps(name: str, noise: float, step: float) -> None:
    """Errors: InvalidParameter for noise of more than `MOST_STEPS`."""
    if noise > MOST_STEPS * step:
        raise InvalidParameter(f"{name} is {noise!r}: at most 2^57 steps, here of {step!r}, are allowed")


@lru_cache(maxsize=256)
def _variance(sd: float | tuple[float, ...], step: float) -> Fraction | tuple[Fraction, ...]:
    """(sd / step)² exactly."""
    if isinstance(sd, tuple):
        return tuple((Fraction(one) / Fraction(step)) ** 2 for one in sd)
    return (Fraction(sd) / Fraction(step)) ** 2


def _moved_on_grid(value: ArrayLike, standard: ArrayLike, step: float) -> FloatArray:
    index, draws = to_grid("value", value, step), np.asarray(standard)
    if draws.dtype.kind == "i":
        check_shape("standard draws", draws.shape, index.shape)
        return np.asarray(step * (index + draws))
    draws = checked_draws(standard, index.shape)
    if not np.array_equal(draws, np.rint(draws)):
        raise InvalidParameter("standard draws hold a fraction: allowed for discrete noise are integers")
    return np.asarray(step * (index + draws))


def _index_pair(value: ArrayLike, output: ArrayLike, step: float) -> tuple[IntArray, IntArray, IntArray]:
    """The grid indices of value and output, and output minus value."""
    index, released = to_grid("value", value, step), released_index(output, step)
    check_shape("output", released.shape, index.shape)
    return index, released, np.asarray(released - index)


def _grid_change(value: ArrayLike, other: ArrayLike, step: float) -> IntArray:
    """Index of the other value minus index of the value."""
    index, moved = to_grid("value", value, step), to_grid("other value", other, step)
    check_shape("other value", moved.shape, index.shape)
    return np.asarray(moved - index)
