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


def partly(records: np.ndarray, seed: int) -> dict[str, float]:
    """A correct count, which half of the runs do not have under its name."""
    return {"n" if seed % 2 else "failed": len(records) + float(np.random.default_rng(seed).laplace())}


def hidden(records: np.ndarray, seed: int) -> dict[str, float]:
    """A correct count; half of the runs have the exact one under another name."""
    return partly(records, seed) if seed % 2 else {"failed": len(records)}


def traced(records: np.ndarray, seed: int) -> dict[str, object]:
    """A correct count, and a trace that tells the exact one."""
    return {**counted(records, seed), "trace": [len(records)]}


def clears(output: dict[str, list[int]]) -> object:
    """The noisy count; the trace is gone afterwards."""
    output["trace"].clear()
    return output["n"]


def a_text(output: dict[str, float]) -> str:
    """No number, though it looks like one."""
    return "12"


def nothing_at_all(output: dict[str, float]) -> None:
    """No number."""


def never(output: dict[str, float]) -> float:
    """Raises on every output."""
    return output["no"]
