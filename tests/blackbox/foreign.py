"""Functions that know nothing of refdp, for audits by name."""

from __future__ import annotations

import atexit
import os
import sys
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


def talking(records: Any, seed: int) -> float:
    """Prints while it works, once past Python."""
    print("training on", len(records))
    os.write(1, b"raw\n")
    return noisy_sum(records, seed)


def ending(records: Any, seed: int) -> float:
    """Prints when everything is over, and has kept where the report goes."""
    atexit.register(print, "at the end")
    sys.__stdout__.write("held ")  # type: ignore[union-attr]
    return noisy_sum(records, seed)


def refusing(records: Any, seed: int) -> float:
    """Refuses what it does not know."""
    if len(records) > 1:
        raise ValueError("too many records")
    return noisy_sum(records, seed)


def by_position(records: Any, seed: int) -> list[float]:
    """Both halves by position, with noise for one record in one of them."""
    return [noisy_sum(half, seed + 7 * place) for place, half in enumerate(np.array_split(np.asarray(records), 2))]


def leaving(records: Any, seed: int) -> float:
    """A script that ends when it is done."""
    raise SystemExit(1)


def wandering(records: Any, seed: int) -> float:
    """Works in a folder of its own."""
    os.chdir(os.path.expanduser("~"))
    return noisy_sum(records, seed)
