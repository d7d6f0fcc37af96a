"""A small library in the style of those in use, which knows nothing of refdp: noise functions and their uses.

Every broken function stands for a published class of errors; its twin ending in `_right` is correct.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Rows = np.ndarray


class LaplaceNoise:
    """A mechanism object with declared sensitivity and epsilon."""

    def __init__(self, epsilon: float, sensitivity: float) -> None:
        self.epsilon, self.sensitivity = epsilon, sensitivity

    @property
    def scale(self) -> float:
        """sensitivity / epsilon."""
        return self.sensitivity / self.epsilon

    def randomise(self, value: float) -> float:
        """value + Laplace noise."""
        return value + np.random.laplace(0.0, self.scale)  # noqa: NPY002


class TooLittle(LaplaceNoise):
    """The scale upside down: right at epsilon 1 only."""

    @property
    def scale(self) -> float:
        """sensitivity * epsilon, which is wrong."""
        return self.sensitivity * self.epsilon


class SmallerThanItSays(LaplaceNoise):
    """Says the right scale and draws with half of it."""

    def randomise(self, value: float) -> float:
        """value + half of the noise."""
        return value + np.random.laplace(0.0, self.scale / 2)  # noqa: NPY002


def choose(utilities: list[float], coefficient: float, sensitivity: float) -> int:
    """The exponential mechanism by the Gumbel trick."""
    noise = np.random.gumbel(size=len(utilities))  # noqa: NPY002
    return int(np.argmax(coefficient * np.asarray(utilities) + noise))


def gauss(value: Any, sd: float, sensitivity: float) -> Any:
    """value + Gaussian noise."""
    return value + np.random.normal(0.0, sd, np.shape(value))  # noqa: NPY002


def count_right(rows: Rows, mechanism: type[LaplaceNoise] = LaplaceNoise) -> float:
    """Number of records at epsilon 0.5."""
    return mechanism(0.5, 1.0).randomise(float(len(rows)))


def count_miscalibrated(rows: Rows) -> float:
    """Noise miscalibration, visible in the parameters."""
    return count_right(rows, TooLittle)


def count_sampler(rows: Rows) -> list[float]:
    """Noise miscalibration, visible only in what is drawn: one count, and forty of nothing."""
    return [SmallerThanItSays(0.5, 1.0).randomise(float(len(rows) if i == 0 else 0)) for i in range(40)]


def count_sampler_right(rows: Rows) -> list[float]:
    """The same with the noise that it says."""
    return [LaplaceNoise(0.5, 1.0).randomise(float(len(rows) if i == 0 else 0)) for i in range(40)]


def total_unclamped(rows: Rows) -> float:
    """Sensitivity miscalibration: values lie in [0, 1] by assumption only."""
    return LaplaceNoise(0.5, 1.0).randomise(float(rows.sum()))


def total_right(rows: Rows) -> float:
    """A clamped sum."""
    return LaplaceNoise(0.5, 1.0).randomise(float(np.clip(np.nan_to_num(rows, nan=0.5), 0.0, 1.0).sum()))


def histogram_of_seen(rows: Rows) -> dict[float, float]:
    """Domain inferred from data: one count for each value that occurs."""
    return {value: LaplaceNoise(0.5, 1.0).randomise(float((rows == value).sum())) for value in np.unique(rows)}


def histogram_right(rows: Rows) -> dict[float, float]:
    """One count for each value that is allowed."""
    return {value: LaplaceNoise(0.5, 1.0).randomise(float((rows == value).sum())) for value in (0.0, 0.25, 0.5, 1.0)}


def total_between_extremes(rows: Rows) -> float:
    """Domain inferred from data: the range, and with it the scale, is that of the records."""
    return LaplaceNoise(0.5, float(rows.max() - rows.min())).randomise(float(rows.sum()))


def spent_twice(rows: Rows) -> tuple[float, float]:
    """Budget spent twice: the whole of it on each of two questions about the same records."""
    clamped = np.clip(rows, 0.0, 1.0)
    return LaplaceNoise(0.5, 1.0).randomise(float(clamped.sum())), LaplaceNoise(0.5, 1.0).randomise(float(len(rows)))


def spent_once(rows: Rows) -> tuple[float, float]:
    """Half of the budget each."""
    clamped = np.clip(rows, 0.0, 1.0)
    return LaplaceNoise(0.25, 1.0).randomise(float(clamped.sum())), LaplaceNoise(0.25, 1.0).randomise(float(len(rows)))


def total_with_nan(rows: Rows) -> float:
    """NaN injection: clamping leaves NaN, and one NaN is a NaN in the sum."""
    return LaplaceNoise(0.5, 1.0).randomise(float(np.clip(rows, 0.0, 1.0).sum()))


def mean_by_exact_count(rows: Rows) -> float:
    """Buggy private mean: a noisy sum divided by the exact number of records."""
    return total_right(rows) / len(rows)


def mean_of_data_sensitivity(rows: Rows) -> float:
    """Buggy private mean: sensitivity 1 / n with the exact n."""
    return LaplaceNoise(0.5, 1.0 / len(rows)).randomise(float(np.clip(rows, 0.0, 1.0).mean()))


def mean_right(rows: Rows) -> float:
    """A noisy sum divided by a noisy count."""
    total, count = spent_once(rows)
    return total / max(count, 1.0)


def stops_early(rows: Rows) -> list[float]:
    """Control flow from data: as many releases as there are tens of records."""
    return [LaplaceNoise(0.05, 1.0).randomise(0.0) for _ in range(math.ceil(len(rows) / 5))]


def until_it_fits(rows: Rows) -> float:
    """Counts at epsilon 0.25 until one is large, six at most: 0.5 along most paths, 1.5 along one."""
    for _ in range(6):
        noisy = LaplaceNoise(0.25, 1.0).randomise(float(len(rows)))
        if noisy > 10:
            break
    return noisy


def raises_sometimes(rows: Rows) -> float:
    """Counts until one is large, and an error after three that are not."""
    for _ in range(3):
        noisy = LaplaceNoise(0.25, 1.0).randomise(float(len(rows)))
        if noisy > 9:
            return noisy
    raise ArithmeticError
