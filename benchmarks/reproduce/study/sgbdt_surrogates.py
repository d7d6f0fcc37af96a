"""Public records that S-GBDT's hyperparameters are chosen on, in place of Abalone's and Adult's."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import stats

from refdp.data.records import Categorical, Classes, Feature, Floats, Interval, Numeric, Records, Schema, make_records

DRAWS = 4
"""So many independent sets are drawn in place of each data set."""
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

NUMBERS, CATEGORIES = 6, (9, 16, 7, 15, 6, 5, 2, 42)
"""Adult's documentation: six numbers, and so many values of each of the other columns."""
POSITIVE = 0.2478
"""Adult's documentation: the share of label 1 without unknowns."""
CORRELATION, CLEAR = (0.2, 0.95), 2.0
"""Of a column with its hidden factor; how clearly the factors decide the label. Together they make an AUC without
privacy of about .908, the published one."""


def task(data: str, seed: int) -> tuple[Records, Records]:
    """Records to train on, as many as a fold of the real data has, and records to judge by; they vary with the seed."""
    return abalone_like(seed % DRAWS) if data == "abalone" else adult_like(seed % DRAWS)


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


@lru_cache(maxsize=DRAWS)
def adult_like(draw: int) -> tuple[Records, Records]:
    """Records with the schema's kinds of columns and the share of label 1; all else about them is drawn at random.

    Three hidden normal factors decide the label, with weights 3 : 2 : 1 and logistic noise. Every column tells of one
    of them with a random correlation: a number through a random beta distribution on its bounds, a category through
    shares that fall like 1 / rank.
    """
    generator, rows = np.random.default_rng([102, draw]), TRAINING["adult"] + HELD_OUT
    hidden = generator.standard_normal((3, rows))
    odds = CLEAR * np.array([3.0, 2.0, 1.0]) @ hidden + generator.logistic(size=rows)
    y = (odds > np.quantile(odds, 1 - POSITIVE)).astype(np.float64)
    shares = [stats.norm.cdf(_heard(hidden, generator)) for _ in range(NUMBERS + len(CATEGORIES))]
    numbers = [_beta(share, generator) for share in shares[:NUMBERS]]
    lists = [_zipf(share, count, generator) for share, count in zip(shares[NUMBERS:], CATEGORIES, strict=True)]
    features: tuple[Feature, ...] = (
        *(Numeric(f"n{i}", 0.0, 1.0) for i in range(NUMBERS)),
        *(Categorical(f"c{i}", tuple(map(str, range(count)))) for i, count in enumerate(CATEGORIES)),
    )
    schema = Schema(features, Classes(("0", "1")))
    return _split(make_records(schema, np.column_stack([*numbers, *lists]), y), TRAINING["adult"])


def _heard(hidden: Floats, generator: np.random.Generator) -> Floats:
    """A normal score that tells of one hidden factor, with noise."""
    correlation = generator.uniform(*CORRELATION) * generator.choice([-1, 1])
    factor = hidden[generator.integers(len(hidden))]
    return np.asarray(correlation * factor + np.sqrt(1 - correlation**2) * generator.standard_normal(len(factor)))


def _beta(share: Floats, generator: np.random.Generator) -> Floats:
    """Numbers on [0, 1] with these quantiles: most columns use a part of their bounds only."""
    mean = generator.uniform(0.02, 0.6)
    return np.asarray(stats.beta.ppf(share, 4 * mean, 4 * (1 - mean)))


def _zipf(share: Floats, count: int, generator: np.random.Generator) -> Floats:
    """Categories in random order with shares that fall like 1 / rank, taken in that order."""
    weights = generator.permutation(1 / np.arange(1, count + 1))
    return np.searchsorted(np.cumsum(weights) / weights.sum(), share).clip(0, count - 1).astype(np.float64)


def _split(records: Records, training: int) -> tuple[Records, Records]:
    return records.take(np.arange(training)), records.take(np.arange(training, records.size))
