"""Noise for a declared sensitivity, floating or exact on a public grid, and how a budget is divided."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, repeat
from operator import mul
from typing import Literal

import numpy as np

from refdp.accounting import conversion
from refdp.accounting import gaussian as exact_gaussian
from refdp.accounting.pure import unsampled_excess
from refdp.data import numbers
from refdp.data.numbers import greatest
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.events import Charge, Sensitivity

STEPS = 2**10
"""Discrete noise has a scale of 1 to 2 times this many grid steps."""
ORDERS = np.concatenate([np.arange(1.25, 63.25, 0.25), [128.0, 256.0, 512.0]])
"""Renyi orders 1.25, 1.5, ..., 63, 128, 256, 512: those of Maddock et al. (2022)."""
BITS = 32
"""Significant bits of what searches find: 20 more than those in which machines differ, and at most 2^-31 more noise."""
LESS = 1 - 2.0**-16
"""The part of mu that fine discrete noise is given: it costs up to 2^-18 more than Gaussian noise does."""
LARGE_ORDERS = 2.0 ** np.arange(10, 41)
"""Further orders for an epsilon so small that no order up to 512 reaches it."""


def laplace(
    epsilon: float, declared: Sensitivity, noise: Literal["floating", "discrete"], *, touched: int
) -> tuple[Laplace | DiscreteLaplace, Sensitivity]:
    """The Laplace mechanism that costs `epsilon`, and the sensitivity to declare with it.

    touched: how many coordinates can change between neighbours. Discrete noise needs values on its grid; rounding to
    it can add one step to the change of each touched coordinate, which the returned sensitivity includes.
    """
    if noise == "floating":
        return Laplace.calibrated(epsilon, declared.bound), declared
    step = _step(declared.bound / epsilon)
    on_grid = replace(declared, bound=step * math.floor(declared.bound / step + touched))
    return DiscreteLaplace.calibrated(epsilon, on_grid.bound, step), on_grid


def laplace_charge(
    epsilon: float, declared: Sensitivity, proved: Sensitivity, noise: Literal["floating", "discrete"], *, touched: int
) -> Charge:
    """`laplace` for the declared sensitivity; what the ledger proves, on the same grid if there is one."""
    mechanism, charged = laplace(epsilon, declared, noise, touched=touched)
    if isinstance(mechanism, DiscreteLaplace):
        proved = replace(proved, bound=mechanism.step * math.floor(proved.bound / mechanism.step + touched))
    return Charge(mechanism, charged, proved)


def gaussian(
    mu: float, declared: Sensitivity, noise: Literal["floating", "discrete"], *, touched: int
) -> tuple[Gaussian | DiscreteGaussian, Sensitivity]:
    """The Gaussian mechanism that costs mu (in Gaussian differential privacy), and the sensitivity to declare with it.

    declared: of norm 2. touched: how many coordinates can change between neighbours. Discrete noise needs values on its
    grid; rounding to it can add one step to the change of each touched coordinate, hence sqrt(touched) steps in all.
    """
    if noise == "floating":
        return Gaussian.calibrated(mu, declared.bound), declared
    step = _step(declared.bound / mu)
    moved = Fraction(step) * Fraction(numbers.root(touched))
    on_grid = replace(declared, bound=numbers.at_least(Fraction(declared.bound) + moved))
    return DiscreteGaussian.calibrated(mu, on_grid.bound, step), on_grid


def _step(scale: float) -> float:
    """The power of two with `STEPS` to twice as many steps in a scale: from the bits of the float, exact everywhere."""
    return math.ldexp(1.0, math.frexp(scale)[1] - 1) / STEPS


def total_mu(epsilon: float, delta: float, accounting: Literal["renyi", "exact", "fine"]) -> float:
    """The mu of Gaussian differential privacy that (epsilon, delta) allows, all Gaussian releases together.

    Rounded down to a public grid, so that the noise is the same on every machine.
    exact: from the profile of the Gaussian. fine: as much less as discrete noise of `STEPS` steps and more in every
    deviation costs more (`refdp.accounting.fine`). renyi: from the curve alpha mu^2 / 2 at ORDERS (Maddock et al.
    2022), by the conversion of Canonne, Kamath, Steinke (2020, Proposition 12); never larger.

    Errors: InvalidParameter where no order up to 2^40 reaches epsilon.
    """
    if accounting != "renyi":
        part = 1 if accounting == "exact" else LESS
        return numbers.coarser(exact_gaussian.mu_for(epsilon, delta) * part, BITS)

    reach = conversion.canonne(ORDERS, np.zeros_like(ORDERS), delta).min()
    orders = ORDERS if reach < epsilon / 2 else np.concatenate([ORDERS, LARGE_ORDERS])

    def within(mu: float) -> bool:
        return float(conversion.canonne(orders, orders * mu * mu / 2, delta).min()) <= epsilon

    found = greatest(within, 0.0, 1e4, relative=1e-12)
    if found == 0:
        raise InvalidParameter(f"epsilon {epsilon!r} at delta {delta!r}: out of reach of Renyi orders up to 2^40")
    return numbers.coarser(found, BITS)


def before_sampling(epsilon: float, rate: float) -> float:
    """log(1 + (e^epsilon - 1)/rate): what a tree on a sample may cost, without cancellation or overflow."""
    if epsilon >= 500:
        return float(epsilon - numbers.log(rate))
    return float(numbers.log1p(unsampled_excess(numbers.expm1(epsilon), rate)))


def geometric(ratio: float, count: int) -> list[float]:
    """Shares of sum 1, each `ratio` times the one before."""
    weights = list(accumulate(repeat(ratio, count - 1), mul, initial=1.0))  # products are the same on every machine
    whole = numbers.added(weights)
    return [weight / whole for weight in weights]
