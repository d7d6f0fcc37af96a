"""Noise that is used more than once, found by single values.

Bets that the size of the next draw is that of one before, without its sign. The stake on each size is the share of
earlier draws that have it; what is won is stake over chance, of mean 1 at most for fresh noise, at any number of draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from refdp.conform.follow import Released
from refdp.conform.places import earlier, mixed, places_of, staked
from refdp.noise.draws import FloatArray, sds_along, to_grid
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace

WIDTH = 2.0**-24
"""Sizes within so much of the scale are equal."""
ROUNDED = 2.0**-32
"""Of the scale: what floating noise is rounded to."""
LEAST = 1e-250


@dataclass(frozen=True)
class Sizes:
    """All draws in order. size, scale, step, off: shape (draws,), in units of the outputs.

    step: 0 for floating noise. off: by how much its size may be wrong. normal: whether the law is Gaussian.
    """

    size: FloatArray
    scale: FloatArray
    step: FloatArray
    off: FloatArray
    normal: NDArray[np.bool_]


def sizes_of(releases: Sequence[Released]) -> Sizes:
    """Of releases of values."""
    parts: list[tuple[FloatArray, ...]] = []
    for one in releases:
        shape, mechanism = one.value.shape, one.mechanism
        assert isinstance(mechanism, Laplace | Gaussian | DiscreteLaplace | DiscreteGaussian)
        normal = isinstance(mechanism, Gaussian | DiscreteGaussian)
        width = mechanism.sd if isinstance(mechanism, Gaussian | DiscreteGaussian) else mechanism.scale
        scale = np.broadcast_to(sds_along(width, shape), shape)
        step = getattr(mechanism, "step", 0.0)
        if step:
            size = np.abs(np.rint(one.output / step) - to_grid("value", one.value, step)) * step
            off = np.zeros(shape)
        else:
            size = np.abs(one.output - one.value)
            off = 2 * ROUNDED * scale + 4 * np.spacing(np.maximum(np.abs(one.value), np.abs(one.output)))
        every = (size, scale, step, off, normal)
        parts.append(tuple(np.broadcast_to(part, shape).ravel() for part in every))
    size, scale, step, off, normal_ = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Sizes(size, scale, step, off, normal_.astype(bool))


def _chances(own: Sizes, units: FloatArray, width: float, keys: FloatArray) -> FloatArray:
    """At least the chance of each key: densities fall with the size. units: sizes are divided by. Shape (draws,)."""
    low = np.maximum((keys - 0.5) * width * units - own.off, 0.0)
    high = (keys + 0.5) * width * units + own.off
    grid, step = own.step > 0, np.where(own.step > 0, own.step, 1.0)
    first = np.maximum(np.ceil(low / step - 1e-6), 0.0)
    points = np.maximum(np.floor(high / step + 1e-6) - first + 1, 1.0)
    at = np.where(grid, first * step, low) / own.scale
    density = np.where(own.normal, np.exp(-(at**2) / 2) / math.sqrt(2 * math.pi), np.exp(-at) / 2)
    return np.asarray(np.clip(2 * density * np.where(grid, points * step, high - low) / own.scale, LEAST, 1.0))


def copied(releases: Sequence[Released]) -> tuple[float, str]:
    """log of what is won by betting that draws are earlier ones again, and what was seen. Releases of values."""
    own, places = sizes_of(releases), places_of(releases)
    won, told = [], []
    for units, width in _units(own):
        exact = np.rint(own.size / units / width)
        _, keys = np.unique(exact, return_inverse=True)
        chances = _chances(own, units, width, exact)
        for rule, (same, of) in earlier(places, keys.astype(np.int64)).items():
            hit = np.where(exact > 0, same, 0)  # none at all is told elsewhere
            won.append(staked(hit, of, chances))
            told.append(f"{int((hit > 0).sum())} of {len(hit)} values of noise have a size {rule}")
    best = int(np.argmax(won))
    return mixed(won), f"{told[best]}, e^{won[best]:.3g} times as likely if noise is used twice"


def _units(own: Sizes) -> list[tuple[FloatArray, float]]:
    """In what sizes are compared, and how finely: the outputs' units, and those of the scale."""
    grid = own.step > 0
    least = 2.0 ** math.floor(math.log2(float(own.scale.min())))
    found = [(np.ones_like(own.scale), WIDTH * least)]
    if (own.scale != own.scale[0]).any():
        found.append((own.scale, max(WIDTH, 2 * float((own.step / own.scale).max())) if grid.any() else WIDTH))
    return found
