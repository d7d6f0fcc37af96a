"""Functions of (records, seed) for the search of pairs."""

from __future__ import annotations

import numpy as np


def unclipped(records: np.ndarray, seed: int, epsilon: float = 1.0) -> float:
    """The sum of the first column, up to 10, with noise for a column up to 1."""
    return float(np.sum(records[:, 0]) + np.random.default_rng(seed).laplace(0.0, 1.0 / epsilon))


def counted(records: np.ndarray, seed: int) -> dict[str, float]:
    """A correct count, in a mapping."""
    return {"n": len(records) + np.random.default_rng(seed).laplace(), "version": 2.0}


def only_of_crowds(records: np.ndarray, seed: int) -> list[float]:
    """A correct count, and the exact one where ten records and more have the same first value."""
    noisy = len(records) + np.random.default_rng(seed).laplace()
    crowd = len(records) >= 10 and np.ptp(records[:, 0]) == 0
    return [noisy, float(len(records) * crowd)]


def normal(records: np.ndarray, seed: int) -> float:
    """A count with Gaussian noise of deviation 1: mu is 1."""
    return float(len(records) + np.random.default_rng(seed).normal())


def first_of(output: dict[str, float]) -> float:
    """The noisy count alone."""
    return output["n"]
