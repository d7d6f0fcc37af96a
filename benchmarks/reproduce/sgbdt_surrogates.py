"""Public records that S-GBDT's hyperparameters are chosen on, in place of Abalone's and Adult's."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import stats

from refdp import datasets
from refdp.records import Categorical, Feature, Floats, Interval, Numeric, Records, Schema, make_records

DRAWS = 4
"""So many independent sets are drawn from Abalone's table."""
SIMILAR = ("bank_full", "credit_default")
"""In place of Adult: public, binary, tens of thousands of persons, numbers and categories."""
HELD_OUT = 3_000
TRAINING = {"abalone": 3_341, "adult": 24_129}

TABLE = {
    "Length": (0.075, 0.815, 0.524, 0.120, 0.557),
    "Diameter": (0.055, 0.650, 0.408, 0.099, 0.575),
    "Height": (0.000, 1.130, 0.140, 0.042, 0.557),
    "Whole weight": (0.002, 2.826, 0.829, 0.490, 0.540),
    "Shucked weight": (0.001, 1.488, 0.359, 0.222, 0.421),
    "Viscera weight": (0.001, 0.760, 0.181, 0.110, 0.504),
    "Shell weight": (0.002, 1.005, 0.239, 0.139, 0.628),
}
"""Abalone's documentation: least, greatest, mean, standard deviation, correlation with the label."""
LABEL = (1, 29, 9.934, 3.224)
EXPLAINED = 0.55
"""1 - (2.163 / 3.224)^2: the part of the label's variance that the published model without privacy explains."""
OWN = 0.1
"""Standard deviation of what is a column's own; the rest is common to all: they measure the same animal's size."""


def task(data: str, seed: int) -> tuple[Records, Records]:
    """Records to train on, as many as a fold of the real data has, and records to judge by; they vary with the seed."""
    return abalone_like(seed % DRAWS) if data == "abalone" else adult_like(SIMILAR[seed % len(SIMILAR)])


@lru_cache(maxsize=DRAWS)
def abalone_like(draw: int) -> tuple[Records, Records]:
    """Records with the table's marginal means, deviations and correlations with the label, and nothing else of it.

    Lengths are normal, weights and the label gamma distributed, joined by normal scores: a common size, correlated
    with the label, and a second factor that explains the rest of what can be explained, in proportions that give every
    column its correlation. The documentation tells nothing about sex but its three values: by size, with errors.
    """
    generator, rows = np.random.default_rng([101, draw]), TRAINING["abalone"] + HELD_OUT
    label, other, second, noise = generator.standard_normal((4, rows))
    shared = float(np.mean([row[4] for row in TABLE.values()]))
    size = shared * label + np.sqrt(1 - shared**2) * other
    rest = np.sqrt((EXPLAINED - shared**2) / (1 - shared**2))
    factor = rest * (label - shared * size) / np.sqrt(1 - shared**2) + np.sqrt(1 - rest**2) * second
    columns = [_column(name, size, factor, shared, rest, generator) for name in TABLE]
    sex = np.where(size + noise < -0.5, 2, generator.integers(0, 2, rows))
    low, high, mean, deviation = LABEL
    y = np.round(np.clip(low + _gamma(label, mean - low, deviation), low, high))
    numbers: tuple[Feature, ...] = tuple(Numeric(name, row[0], row[1]) for name, row in TABLE.items())
    schema = Schema((Categorical("Sex", ("F", "M", "I")), *numbers), Interval(low, high))
    return _split(make_records(schema, np.column_stack([sex, *columns]), y), TRAINING["abalone"])


def _column(
    name: str, size: Floats, factor: Floats, shared: float, rest: float, generator: np.random.Generator
) -> Floats:
    """A column of the table's mean, deviation and correlation: normal score b size + c factor + own."""
    low, high, mean, deviation, correlation = TABLE[name]
    link, total = rest * np.sqrt(1 - shared**2), np.sqrt(1 - OWN**2)
    angle = np.arctan2(link, shared) - np.arccos(np.clip(correlation / total / np.hypot(shared, link), -1, 1))
    score = total * (np.cos(angle) * size + np.sin(angle) * factor) + OWN * generator.standard_normal(len(size))
    value = _gamma(score, mean, deviation) if "weight" in name else mean + deviation * score
    return np.clip(value, low, high)


def _gamma(score: Floats, mean: float, deviation: float) -> Floats:
    """The gamma distributed number whose normal score is given."""
    shape = (mean / deviation) ** 2
    return np.asarray(stats.gamma.ppf(stats.norm.cdf(score), shape, scale=mean / shape))


@lru_cache(maxsize=len(SIMILAR))
def adult_like(name: str) -> tuple[Records, Records]:
    """As many records of another public data set as a fold of Adult has, and some to judge by."""
    dataset = datasets.load(name)
    rows = np.random.default_rng(102).permutation(len(dataset.y))[: TRAINING["adult"] + HELD_OUT]
    return _split(dataset.take(rows).records(), TRAINING["adult"])


def _split(records: Records, training: int) -> tuple[Records, Records]:
    return records.take(np.arange(training)), records.take(np.arange(training, records.size))
