"""Laplace and Gaussian noise: functions of standard draws, exact densities, losses, divergences, costs, calibration.

What every mechanism offers is `Mechanism` (refdp/noise/protocol.py). refdp's own are those listed in `__all__`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from refdp.errors import InvalidParameter
from refdp.noise.divergences import laplace_divergence
from refdp.noise.draws import (
    TAIL,
    Draws,
    FloatArray,
    check_norm,
    check_order,
    check_positive,
    checked_draws,
    finite_array,
    gaussian_cost,
    pair,
    sds_along,
    smallest_scale,
    snap,
)
from refdp.noise.exponential import Exponential
from refdp.noise.gridded import DiscreteGaussian, DiscreteLaplace
from refdp.noise.protocol import Mechanism
from refdp.noise.samplers import standard_draws
from refdp.privacy.events import Norm, Sensitivity

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Draws",
    "Exponential",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "standard_draws",
]


@dataclass(frozen=True)
class Laplace:
    """value + scale * standard Laplace, independently per coordinate (Dwork, McSherry, Nissim, Smith 2006).

    The output is rounded to a dyadic grid 2^-32 as fine as the scale (`refdp.noise.draws.snap`): post-processing.
    """

    scale: float
    STANDARD: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        check_positive("scale of the Laplace mechanism", self.scale)

    @classmethod
    def calibrated(cls, epsilon: float, bound: float) -> Laplace:
        """scale = bound / epsilon, rounded up; bound is the L1 sensitivity."""
        return cls(smallest_scale("epsilon", epsilon, bound))

    def draws(self, value: ArrayLike) -> Draws:
        """One standard Laplace draw per coordinate."""
        return Draws(self.STANDARD, np.shape(value))

    def apply(self, value: ArrayLike, standard: ArrayLike) -> FloatArray:
        """value + scale * standard, snapped. Array of the value's shape."""
        centre = finite_array("value", value)
        return snap(centre + self.scale * checked_draws(standard, centre.shape), self.scale)

    def log_density(self, value: ArrayLike, output: ArrayLike) -> FloatArray:
        """-|o - v| / scale - log(2 scale) per coordinate."""
        centre, noisy = pair(value, output)
        return np.asarray(-np.abs(noisy - centre) / self.scale - math.log(2.0 * self.scale))

    def loss(self, value: ArrayLike, other: ArrayLike, output: ArrayLike) -> FloatArray:
        """(|o - v'| - |o - v|) / scale per coordinate."""
        centre, moved = pair(value, other)
        noisy = pair(value, output)[1]
        return _distance_gain(centre - moved, (noisy - centre) + (noisy - moved)) / self.scale

    def divergence(self, value: ArrayLike, other: ArrayLike, order: float) -> float:
        """Σ of `refdp.noise.divergences.laplace_divergence` over the coordinates.

        Arrays of one shape in, one number out.
        """
        check_order(order)
        return float(laplace_divergence(order, self.worst_loss(value, other)).sum())

    def worst_loss(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """|v - v'| / scale per coordinate."""
        centre, moved = pair(value, other)
        return np.asarray(np.abs(centre - moved) / self.scale)

    def worst_output(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """One scale beyond the value, away from the other value; every output there attains the worst loss.

        Array of the value's shape.
        """
        centre, moved = pair(value, other)
        return np.asarray(centre + self.scale * np.sign(centre - moved))

    def observed_change(self, value: ArrayLike, other: ArrayLike, norm: Norm) -> float:
        """Σ |v - v'|. Arrays of one shape in, one number out."""
        check_norm("Laplace noise", norm, (1,))
        centre, moved = pair(value, other)
        return float(np.abs(centre - moved).sum())

    def pure_cost(self, sensitivity: Sensitivity) -> float:
        """ε = bound / scale."""
        check_norm("Laplace noise", sensitivity.norm, (1,))
        return sensitivity.bound / self.scale

    def renyi_cost(self, sensitivity: Sensitivity, order: float) -> float:
        """D_α of a scalar moved by the whole bound, the worst way to spend it: see `laplace_divergence`."""
        check_order(order)
        return float(laplace_divergence(order, np.asarray(self.pure_cost(sensitivity))))


@dataclass(frozen=True)
class Gaussian:
    """value + sd * standard normal. sd: one number, or one per entry of the last axis (diagonal covariance).

    The output is rounded to a dyadic grid 2^-32 as fine as the deviation (`refdp.noise.draws.snap`): post-processing.
    """

    sd: float | tuple[float, ...]
    STANDARD: ClassVar[str] = "normal"

    def __post_init__(self) -> None:
        if isinstance(self.sd, tuple) and not self.sd:
            raise InvalidParameter("no standard deviations: allowed is one number, or one per entry of the last axis")
        for sd in self.sd if isinstance(self.sd, tuple) else (self.sd,):
            check_positive("standard deviation of the Gaussian mechanism", sd)

    @classmethod
    def calibrated(cls, mu: float, bound: float) -> Gaussian:
        """sd = bound / mu, rounded up; bound is the L2 sensitivity, mu that of Gaussian DP (Dong, Roth, Su 2022)."""
        return cls(smallest_scale("mu", mu, bound))

    def draws(self, value: ArrayLike) -> Draws:
        """One standard normal draw per coordinate."""
        self._sds(np.shape(value))
        return Draws(self.STANDARD, np.shape(value))

    def apply(self, value: ArrayLike, standard: ArrayLike) -> FloatArray:
        """value + sd * standard, snapped. Array of the value's shape."""
        centre = finite_array("value", value)
        sds = self._sds(centre.shape)
        return snap(centre + sds * checked_draws(standard, centre.shape), sds)

    def log_density(self, value: ArrayLike, output: ArrayLike) -> FloatArray:
        """-(o - v)² / (2 sd²) - log(sd sqrt(2π)) per coordinate."""
        centre, noisy = pair(value, output)
        sds = self._sds(centre.shape)
        return np.asarray(-0.5 * ((noisy - centre) / sds) ** 2 - np.log(sds) - 0.5 * math.log(2.0 * math.pi))

    def loss(self, value: ArrayLike, other: ArrayLike, output: ArrayLike) -> FloatArray:
        """(v - v') ((o - v) + (o - v')) / (2 sd²) per coordinate."""
        centre, moved = pair(value, other)
        noisy = pair(value, output)[1]
        sds = self._sds(centre.shape)
        return np.asarray(0.5 * ((centre - moved) / sds) * ((noisy - centre) / sds + (noisy - moved) / sds))

    def divergence(self, value: ArrayLike, other: ArrayLike, order: float) -> float:
        """(α/2) Σ ((v - v') / sd)² (Mironov 2017, Proposition 7). Arrays of one shape in, one number out."""
        check_order(order)
        return gaussian_cost(order, self.observed_change(value, other, "whitened"))

    def worst_loss(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """Unbounded where the values differ, 0 elsewhere, per coordinate."""
        centre, moved = pair(value, other)
        return np.asarray(np.where(centre == moved, 0.0, np.inf))

    def worst_output(self, value: ArrayLike, other: ArrayLike) -> FloatArray:
        """No output attains the supremum: `TAIL` standard deviations beyond the value, away from the other value.

        Array of the value's shape.
        """
        centre, moved = pair(value, other)
        return np.asarray(centre + TAIL * self._sds(centre.shape) * np.sign(centre - moved))

    def observed_change(self, value: ArrayLike, other: ArrayLike, norm: Norm) -> float:
        """Euclidean norm of v - v', or of (v - v') / sd for "whitened". Arrays of one shape in, one number out."""
        check_norm("Gaussian noise", norm, (2, "whitened"))
        centre, moved = pair(value, other)
        sds = self._sds(centre.shape)
        return math.hypot(*((centre - moved) / (sds if norm == "whitened" else 1.0)).ravel())  # squares never underflow

    def pure_cost(self, sensitivity: Sensitivity) -> float:
        """inf, unless the value never changes."""
        return gaussian_cost(math.inf, self._mu(sensitivity))

    def renyi_cost(self, sensitivity: Sensitivity, order: float) -> float:
        """α μ² / 2 with μ the sensitivity in standard deviations (for norm 2: in the smallest one)."""
        check_order(order)
        return gaussian_cost(order, self._mu(sensitivity))

    def _mu(self, sensitivity: Sensitivity) -> float:
        check_norm("Gaussian noise", sensitivity.norm, (2, "whitened"))
        return sensitivity.bound if sensitivity.norm == "whitened" else sensitivity.bound / float(np.min(self.sd))

    def _sds(self, shape: tuple[int, ...]) -> FloatArray:
        return sds_along(self.sd, shape)


def _distance_gain(gap: FloatArray, twice_offset: FloatArray) -> FloatArray:
    """|o - v'| - |o - v| from gap = v - v' and (o - v) + (o - v'), exactly |gap| for every output beyond v."""
    reach = np.abs(gap)
    return np.asarray(np.sign(gap) * np.clip(twice_offset, -reach, reach))
