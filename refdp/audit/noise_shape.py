"""Is the noise of the declared shape, the same whatever the value, and is each draw independent of those before it?

Every draw is put through the distribution function of its declared law (a discrete one with a coin for the place inside
its step), which gives independent uniform numbers if and only if the law is as declared. Sums and differences modulo 1
of neighbouring ones are uniform and independent as well. Massart's form of the Dvoretzky-Kiefer-Wolfowitz inequality
bounds how far an empirical distribution function strays from its law: P(sup |F_n - F| > e) <= 2 exp(-2 n e^2). It is
asked at lengths 2^k alone, with an error of its own for each, so that when an audit stops does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from refdp.audit.replay import Violation
from refdp.data.records import Floats
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Array

FALSE_ALARM = 1e-9
"""Of all tests of one audit together."""
LENGTHS = range(6, 31)
"""k of the lengths 2^k that are asked."""
TABLE = 1000.0
"""Up to so many steps a standard deviation the distribution function of a discrete Gaussian is summed up."""


@dataclass(frozen=True)
class Departure:
    """distance: between distribution functions. draws: how many show it. what: in words."""

    distance: float
    draws: int
    what: str


def ranks(mechanism: Any, value: Array, output: Array, index: Array | None, coins: np.random.Generator) -> Floats:
    """One number in [0, 1] a draw, uniform and independent under the declared law. Shape (draws,).

    Draws whose value is so large that rounding eats the noise are left out.
    """
    if isinstance(mechanism, Exponential):
        assert index is not None
        options = np.arange(np.shape(value)[1])
        table = np.exp(np.stack([mechanism.log_density(value, np.full(len(value), one)) for one in options], axis=1))
        below = np.cumsum(table, axis=1) - table
        rows = np.arange(len(index))
        chosen = np.asarray(index, dtype=np.int64)
        return np.asarray(np.clip(below[rows, chosen] + coins.random(len(chosen)) * table[rows, chosen], 0, 1))
    step = getattr(mechanism, "step", None)
    noise = np.asarray(output, dtype=np.float64) - (value if step is None else np.rint(value / step) * step)
    scale = np.broadcast_to(np.asarray(getattr(mechanism, "sd", getattr(mechanism, "scale", None))), noise.shape)
    kept = np.maximum(np.abs(value), np.abs(output)) * 2.0**-52 < 1e-5 * scale
    noise, scale = noise[kept], scale[kept].astype(np.float64)
    inside = coins.random(noise.size)
    match mechanism:
        case Laplace():
            z = noise / scale
            tail = 0.5 * np.exp(-np.abs(z))
            return np.asarray(np.where(z < 0, tail, 1 - tail))
        case Gaussian():
            return np.asarray(special.ndtr(noise / scale))
        case DiscreteLaplace(step=step):
            t, steps = step / scale, np.rint(noise / step)
            upto, below = _two_sided(steps, t), _two_sided(steps - 1, t)
        case DiscreteGaussian(step=step):
            steps = np.rint(noise / step)
            upto, below = np.empty(noise.size), np.empty(noise.size)
            for sigma in np.unique(scale / step):
                own = scale / step == sigma
                upto[own], below[own] = _normal(steps[own], float(sigma)), _normal(steps[own] - 1, float(sigma))
        case _:
            raise AssertionError(f"no law is known of {mechanism}")
    return np.asarray(below + inside * (upto - below))


def _two_sided(steps: Floats, t: Floats) -> Floats:
    """P(noise <= steps) of chances in proportion to exp(-t |steps|)."""
    tail = np.exp(-t * np.where(steps < 0, -steps, steps + 1)) / (1 + np.exp(-t))
    return np.asarray(np.where(steps < 0, tail, 1 - tail))


def _normal(steps: Floats, sigma: float) -> Floats:
    """P(noise <= steps) of a discrete Gaussian of that many steps; far apart from the density's it is nowhere."""
    if sigma > TABLE:
        return np.asarray(special.ndtr((steps + 0.5) / sigma))
    sums = _summed(sigma)
    middle = len(sums) // 2
    return np.asarray(sums[np.clip(steps.astype(np.int64) + middle, 0, len(sums) - 1)])


@lru_cache(maxsize=64)
def _summed(sigma: float) -> Floats:
    reach = math.ceil(12 * sigma) + 2
    chances = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * sigma * sigma))
    return np.asarray(np.cumsum(chances) / chances.sum())


def smallest(draws: int, tests: int) -> float:
    """The distance of distribution functions that so many draws show in 95% of cases."""
    if draws < 2 ** LENGTHS[0]:
        return 1.0
    length = 2 ** int(math.log2(draws))
    return min(1.0, _allowed(length, tests) + math.sqrt(math.log(40) / (2 * length)))


def _allowed(length: int, tests: int) -> float:
    return math.sqrt(math.log(2 * len(LENGTHS) * tests / FALSE_ALARM) / (2 * length))


def departure(uniform: Floats, what: str, tests: int) -> Departure | None:
    """Where the numbers are not uniform; None where nothing shows. tests: of the whole audit.

    numbers: shape (draws,).
    """
    for k in LENGTHS:
        length = 2**k
        if length > len(uniform):
            return None
        ordered = np.sort(uniform[:length])
        above = float(np.max(np.arange(1, length + 1) / length - ordered))
        below = float(np.max(ordered - np.arange(length) / length))
        distance = max(above, below)
        if distance > _allowed(length, tests):
            return Departure(distance, length, what)
    return None


def departures(groups: Iterable[tuple[str, Floats]], tests: int) -> Departure | None:
    """The first of each group's law, and of the dependence of each draw on the one before it. Shape (draws,) each."""
    for what, uniform in groups:
        later, earlier = uniform[1:], uniform[:-1]
        for named, numbers in (
            (f"{what}: another shape than declared", uniform),
            (f"{what}: draws depend on the ones before", (later + earlier) % 1.0),
            (f"{what}: draws depend on the ones before", (later - earlier) % 1.0),
        ):
            found = departure(numbers, named, 3 * tests)
            if found is not None:
                return found
    return None


def refuted(found: Departure, name: str, law: str) -> Violation:
    """The violation of a shape that the draws refute."""
    witness = {"detail": f"{law}: {found.what}", "releases": [name], "draws": found.draws, "distance": found.distance}
    return Violation("noise law", name, 0.0, found.distance, None, "", witness)
