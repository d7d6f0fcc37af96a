"""Noise for the zoo, many runs at once: on a grid, so that floating-point numbers do not tell what it was added to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GRID = 2.0**-30
"""Noise is rounded to multiples of this. True values are multiples too, so that sums below 2^22 are exact."""


def on_grid(noise: Floats) -> Floats:
    """Every number rounded to the grid. Of the shape of noise."""
    return np.asarray(np.rint(noise / GRID) * GRID, dtype=np.float64)


def laplace(generator: np.random.Generator, scale: float, *shape: int) -> Floats:
    """Laplace noise. Of this shape."""
    return on_grid(generator.laplace(scale=scale, size=shape))


def exponential(generator: np.random.Generator, scale: float, *shape: int) -> Floats:
    """One-sided exponential noise. Of this shape."""
    return on_grid(generator.exponential(scale=scale, size=shape))


def gaussian(generator: np.random.Generator, sd: float, *shape: int) -> Floats:
    """Normal noise. Of this shape."""
    return on_grid(generator.normal(scale=sd, size=shape))


def textbook_laplace(generator: np.random.Generator, scale: float, *shape: int) -> Floats:
    """Laplace noise by inversion of the distribution function in floating point, as textbooks have it.

    Of this shape.
    """
    uniform = generator.random(shape) - 0.5
    return np.asarray(-scale * np.sign(uniform) * np.log1p(-2 * np.abs(uniform)), dtype=np.float64)
