"""What submissions need: exact sums, and releases with the sensitivity that they declare.

A lab's `train(records, curator)` reads `records.x`, shape (rows, features), and `records.y`, shape (rows,), and returns
what it publishes. Everything computed from records has to leave through `laplace`, `gaussian` or `choose`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from refdp.noise.exponential import Exponential
from refdp.noise.mechanisms import Gaussian, Laplace
from refdp.privacy.curator import Curator
from refdp.privacy.events import Sensitivity

Array = NDArray[np.float64]
GRID = 2.0**24


def total(values: ArrayLike) -> float:
    """The sum of values rounded to a grid of 2^-24, so that it is exact and the order of records does not matter."""
    return float(np.sum(np.rint(np.asarray(values, dtype=np.float64) * GRID)) / GRID)


def laplace(curator: Curator, name: str, values: ArrayLike, sensitivity: float, epsilon: float) -> Array:
    """Values with Laplace noise of scale sensitivity / epsilon each; sensitivity: of all of them together (L1)."""
    return noised(curator, name, values, sensitivity, sensitivity / epsilon)


def noised(curator: Curator, name: str, values: ArrayLike, sensitivity: float, scale: float) -> Array:
    """Values with Laplace noise of a scale of your own; what that costs follows from the declared sensitivity."""
    declared = Sensitivity(sensitivity, 1, "", curator.relation)
    exact = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return np.asarray(curator.release(name, Laplace(scale), exact, sensitivity=declared), dtype=np.float64)


def gaussian(curator: Curator, name: str, values: ArrayLike, sensitivity: float, sigma: float) -> Array:
    """Values with Gaussian noise of that standard deviation each; sensitivity: the length of their change (L2)."""
    declared = Sensitivity(sensitivity, 2, "", curator.relation)
    exact = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return np.asarray(curator.release(name, Gaussian(sigma), exact, sensitivity=declared), dtype=np.float64)


def choose(
    curator: Curator, name: str, utilities: ArrayLike, options: ArrayLike, spread: float, epsilon: float
) -> float:
    """One of the options, with chance proportional to exp(epsilon utility / spread).

    spread: the range, the largest minus the smallest change of the utilities between neighbours.
    """
    table = np.atleast_2d(np.asarray(utilities, dtype=np.float64))
    rows = np.asarray(options, dtype=np.float64)[:, None]
    declared = Sensitivity(spread, "range", "", curator.relation)
    chosen: Any = curator.release(name, Exponential(epsilon / spread), table, sensitivity=declared, options=rows)
    return float(np.ravel(chosen)[0])
