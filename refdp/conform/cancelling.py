"""Noise that cancels within a release: sums along its axes, of aligned blocks of 2, 4, 8 ... values to all.

A tree's subtrees have their sums there, its root the total. Each block's sum is betted on to be too small, or too
large; the blocks of one length are apart, so that what is won has mean 1 at most for independent noise.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from scipy import special, stats

from refdp.conform.follow import Released
from refdp.conform.places import mixed
from refdp.noise.draws import FloatArray, sds_along

WINDOWS = tuple(2.0**-k for k in (1, 3, 6, 10, 14, 20))
"""Within so much, in parts of the deviation, a sum is too small."""
STAKES = (0.5, 0.1, 0.01)
TILTS = (-8.0, -1.0, 0.3, 0.7, 0.95)
"""Of the square of a sum: exp(tilt X^2 / 2) sqrt(1 - tilt) has mean 1 for a normal X."""


def blocks(noise: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Names and the values of blocks, of any shape in, (blocks, values) out: along each axis, and of all values."""
    if noise.size > 1:
        yield "all values", noise.reshape(1, -1)
    for axis in range(1, noise.ndim + 1) if noise.ndim > 1 or noise.shape[-1] > 2 else ():
        lines = np.moveaxis(noise, -axis, -1).reshape(-1, noise.shape[-axis])
        length, which = lines.shape[1], "" if axis == 1 else f" along axis {noise.ndim - axis}"
        if noise.ndim > 1 and 1 < length < noise.size:
            yield f"lines{which}", lines
        size = 2
        while size < length:
            yield f"{size} neighbours{which}", lines[:, : length // size * size].reshape(-1, size)
            size *= 2


def cancelling(noisy: Sequence[tuple[Released, FloatArray]]) -> tuple[float, str]:
    """log of what is won by betting on sums, and where most. noisy: releases of values, uniform numbers of their draws.

    Numbers of shape (draws,). A sum of Laplace noise is bet on to be too small by itself, and to be too large as
    one of normal numbers.
    """
    parts: dict[str, list[FloatArray]] = defaultdict(list)
    for one, u in noisy:
        shape, sd = one.value.shape or (1,), getattr(one.mechanism, "sd", None)
        normal = special.ndtri(u).reshape(shape)
        weights = np.broadcast_to(sds_along(1.0 if sd is None else sd, shape), shape)
        own = stats.laplace.ppf(u).reshape(shape) if sd is None else normal * weights
        every = zip(*map(blocks, (own, normal * weights, weights)), strict=True)
        for (name, sums), (_, normals), (_, weighed) in every:
            deviations = np.sqrt((weighed**2).sum(axis=1))
            peak = _peak(sums.shape[1]) if sd is None else 1 / math.sqrt(2 * math.pi)
            parts[name].append(
                np.array([sums.sum(axis=1) / deviations, normals.sum(axis=1) / deviations, np.full(len(sums), peak)])
            )
    if not parts:
        return 0.0, "no release of two values"
    won, counts = {}, {}
    for name, found in parts.items():
        summed = np.concatenate(found, axis=1)
        logs, counts[name] = _bets(*summed), summed.shape[1]
        won[name] = mixed(logs)
    best = max(won, key=lambda name: won[name])
    seen = f"sums of {best}, {counts[best]} of them"
    return mixed([*won.values()]), f"{seen}: e^{won[best]:.3g} times as likely if their noise is too small or too large"


@lru_cache
def _peak(count: int) -> float:
    """Greatest density of the sum of so many standard Laplace draws over the root of their number."""
    log = special.gammaln(count - 0.5) - special.gammaln(count) - math.log(2 * math.sqrt(math.pi))
    return math.exp(float(log)) * math.sqrt(count)


def _bets(sums: FloatArray, normal: FloatArray, peak: FloatArray) -> FloatArray:
    """log of what each bet wins. peak: density of sums at most. All of shape (blocks,) in, (bets,) out."""
    found = []
    for window in WINDOWS:
        ratio = (np.abs(sums) <= window) / np.minimum(1.0, 2 * window * peak)
        found += [float(np.log1p(stake * (ratio - 1)).sum()) for stake in STAKES]
    found += [float((tilt * normal**2 / 2).sum()) + len(normal) * math.log1p(-tilt) / 2 for tilt in TILTS]
    return np.array(found)
