"""skeleton, being written"""
from __future__ import annotations
from dataclasses import dataclass
from typing import Literal

@dataclass(frozen=True)
class Laplace:
    """value + scale * standard Laplace, independently per coordinate."""
    scale: float

@dataclass(frozen=True)
class DiscreteLaplace:
    """value (a multiple of step) + step * Z, P(Z = z) proportional to exp(-|z| step / scale)."""
    scale: float
    step: float

@dataclass(frozen=True)
class Gaussian:
    """value + sd * standard normal. sd: one number, or one per entry of the last axis (diagonal covariance)."""
    sd: float | tuple[float, ...]

@dataclass(frozen=True)
class DiscreteGaussian:
    """value (a multiple of step) + step * Z, P(Z = z) proportional to exp(-(z step)^2 / (2 sd^2))."""
    sd: float
    step: float

@dataclass(frozen=True)
class Exponential:
    """Per row of a utility table, option c with probability proportional to exp(coefficient * utility[c])."""
    coefficient: float
    sampler: Literal["gumbel", "racing"] = "gumbel"

Mechanism = Laplace | DiscreteLaplace | Gaussian | DiscreteGaussian | Exponential
