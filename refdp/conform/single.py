"""Single values of noise that are too close to nothing, or never far from it.

By their uniform numbers u: 2 min(u, 1 - u) is the chance of as large a size. Bets that it is above 1 - c, at some share
of the values, win 1/c, of mean 1 at most at any number of draws. That none of n is below m has the chance (1 - m)^n.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from refdp.conform.copied import sizes_of
from refdp.conform.follow import Released
from refdp.conform.places import Places, best, places_of
from refdp.noise.draws import FloatArray

MIDDLES = tuple(2.0**-k for k in (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 24))
SHARES = (0.5, 0.1, 0.03, 0.01, 0.001)


def singles(noisy: Sequence[tuple[Released, FloatArray]]) -> tuple[float, str]:
    """log of the inverse of how likely it is at most that single values are as they are, and what is worst.

    noisy: releases of values, uniform numbers of their draws, of shape (draws,).
    """
    releases, u = [one for one, _ in noisy], np.concatenate([u for _, u in noisy])
    own, places = sizes_of(releases), places_of(releases)
    peak = np.where(own.normal, math.sqrt(2 / math.pi), 1.0)  # density of sizes at 0
    off = np.where(own.step > 0, 0.0, peak * own.off / own.scale)
    middles, tails = best(_middles(u, off), places), _tails(u, off, places)
    worst = max(middles, tails)
    return worst[0] - math.log(2), worst[1]


def _middles(u: FloatArray, off: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """off: by how much a chance of each may be wrong, as outputs are rounded. Shape (draws,)."""
    rare = 2 * np.minimum(u, 1 - u)
    for middle in MIDDLES:
        ratio = np.where(rare > 1 - middle, 1 / np.minimum(middle + off, 1.0), 0.0)
        for share in SHARES:
            yield f"{share:.1%} of values with the least noise, of chance {middle:.2g}", np.log1p(share * (ratio - 1))


def _tails(u: FloatArray, off: FloatArray, own: Places) -> tuple[float, str]:
    """Of tails that no draw reaches: of both sides and of one, of all draws and of those of a run, release or entry."""
    found = []
    for side, rare in (("tails", 2 * np.minimum(u, 1 - u)), ("lower tail", u), ("upper tail", 1 - u)):
        for kind, group in own.groups().items():
            count = np.bincount(group)
            least = np.ones(len(count))
            np.minimum.at(least, group, rare)
            inside = np.minimum(1 - least + np.bincount(group, weights=off) / np.maximum(count, 1), 1.0)
            unlikely = -count * np.log(np.maximum(inside, 1e-300))
            top = int(np.argmax(unlikely))
            seen = f"{count[top]} draws without the {side} of chance {least[top]:.2g}{own.told(kind, top)}"
            found.append((float(unlikely[top]) - math.log(3 * len(count) * (6 if kind else 2)), seen))
    return max(found)
