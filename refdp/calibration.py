"""Additive noise for a declared sensitivity: floating, or exact discrete noise on a public grid."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from refdp.events import Sensitivity
from refdp.mechanisms import DiscreteLaplace, Laplace

STEPS = 2**10
"""Discrete noise has a scale of 1 to 2 times this many grid steps."""


def laplace(
    epsilon: float, declared: Sensitivity, noise: Literal["floating", "discrete"], *, touched: int
) -> tuple[Laplace | DiscreteLaplace, Sensitivity]:
    """The Laplace mechanism that costs `epsilon`, and the sensitivity to declare with it.

    touched: how many coordinates can change between neighbours. Discrete noise needs values on its grid; rounding to
    it can add one step to the change of each touched coordinate, which the returned sensitivity includes.
    """
    if noise == "floating":
        return Laplace.calibrated(epsilon, declared.bound), declared
    step = 2.0 ** (math.floor(math.log2(declared.bound / epsilon)) - int(math.log2(STEPS)))
    on_grid = replace(declared, bound=step * math.floor(declared.bound / step + touched))
    return DiscreteLaplace.calibrated(epsilon, on_grid.bound, step), on_grid
