"""Functions that know nothing of refdp, for audits by name."""

from __future__ import annotations

from typing import Any

import numpy as np


def noisy_sum(records: Any, seed: int, scale: float = 1.0) -> float:
    """A sum with Laplace noise on a grid: private at epsilon 1 if one record adds at most 1."""
    noise = np.random.default_rng(seed).laplace(scale=scale)
    return float(np.clip(records, -1, 1).sum() + np.rint(noise * 2**20) / 2**20)


def half_the_noise(records: Any, seed: int) -> float:
    """The same at epsilon 2."""
    return noisy_sum(records, seed, 0.5)


def floating_sum(records: Any, seed: int) -> float:
    """The sum with floating-point noise: private but for the last bits."""
    return float(np.clip(records, -1, 1).sum() + np.random.default_rng(seed).laplace())


def reused(records: Any, seed: int) -> list[float]:
    """A sum twice, with one noise."""
    first = noisy_sum(records, seed)
    return [first, first - float(np.clip(records, -1, 1).sum())]
