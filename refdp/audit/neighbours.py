"""Neighbouring data sets worth replaying: random ones, and directed ones that sit where lemmas break."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from refdp.audit.replay import Pair
from refdp.data.records import Categorical, Classes, Floats, Records, Schema, make_records
from refdp.privacy.events import Relation

Shape = Callable[[Schema, np.random.Generator, int], tuple[Floats, Floats]]


def pairs(schema: Schema, relation: Relation, seed: int, most_records: int = 12) -> Iterator[Pair]:
    """An endless stream of neighbouring pairs, deterministic in the seed; shapes of data sets take turns."""
    generator = np.random.default_rng(seed)
    while True:
        for shape in SHAPES:
            size = int(generator.integers(1, most_records + 1))
            x, y = shape(schema, generator, size + 2)
            yield _pair(make_records(schema, x, y), relation, generator)


def from_records(records: Records, relation: Relation, seed: int, size: int) -> Iterator[Pair]:
    """Pairs made of random subsets of real records and one or two further real records, every other time directed."""
    generator = np.random.default_rng(seed)
    while True:
        rows = generator.choice(records.size, size=min(size, records.size - 2) + 2, replace=False)
        yield _pair(records.take(rows), relation, generator)
        x, y = extreme(records.schema, generator, 2)
        real = records.take(rows[:-2])
        stretched = make_records(records.schema, np.vstack([real.x, x]), np.concatenate([real.y, y]))
        yield _pair(stretched, relation, generator)


def _pair(records: Records, relation: Relation, generator: np.random.Generator) -> Pair:
    """The last two records are the audited ones: the new and, when replacing, the old."""
    last = records.size - 1
    base, new, old = records.take(range(last - 1)), records.take([last]), records.take([last - 1])
    position = int(generator.integers(0, base.size + 1))
    return Pair(base, new, old if relation is Relation.REPLACE_ONE else None, position)


def uniform(schema: Schema, generator: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    """Values anywhere between the bounds. Shapes (size, features) and (size,)."""
    return features(schema, generator.random((size, len(schema.features)))), labels(schema, generator.random(size))


def extreme(schema: Schema, generator: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    """Values and labels at their bounds only: extreme gradients, exact duplicates.

    Shapes (size, features) and (size,).
    """
    share = generator.integers(0, 2, (size, len(schema.features))).astype(np.float64)
    return features(schema, share), labels(schema, generator.integers(0, 2, size).astype(np.float64))


def one_sided(schema: Schema, generator: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    """All labels at one bound and the audited record's at the other: the gain falls by up to three g*^2.

    Shapes (size, features) and (size,).
    """
    x, _ = extreme(schema, generator, size)
    side = float(generator.integers(0, 2))
    y = np.full(size, side)
    y[-1] = 1 - side
    return x, labels(schema, y)


def straddling(schema: Schema, generator: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    """Half of the labels at each bound, so that sums straddle zero and leaf values straddle the clipping threshold.

    Shapes (size, features) and (size,).
    """
    x, _ = extreme(schema, generator, size)
    return x, labels(schema, (np.arange(size) % 2).astype(np.float64))


def on_edges(schema: Schema, generator: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    """Values on multiples of 1/33 of the range, where 32 uniform candidates lie, and one ulp beside them.

    Shapes (size, features) and (size,).
    """
    share = generator.integers(0, 34, (size, len(schema.features))) / 33
    x = features(schema, share)
    nudged = np.where(generator.random(x.shape) < 0.5, np.nextafter(x, -np.inf), x)
    return np.where(categorical(schema), x, nudged), labels(schema, generator.random(size))


def outside(schema: Schema, generator: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    """Outliers far beyond the bounds, missing values, unknown categories: clamping has to catch them.

    Shapes (size, features) and (size,).
    """
    x, y = uniform(schema, generator, size)
    odd = generator.random(x.shape)
    x = np.where(odd < 0.2, 1e12, np.where(odd < 0.4, -1e12, np.where(odd < 0.5, np.nan, x)))
    return x, y if isinstance(schema.target, Classes) else y * 1e6


SHAPES: tuple[Shape, ...] = (uniform, extreme, one_sided, straddling, on_edges, outside)


def categorical(schema: Schema) -> np.ndarray:
    """Mask of the categorical features. Shape (features,)."""
    return np.array([isinstance(feature, Categorical) for feature in schema.features])


def features(schema: Schema, share: Floats) -> Floats:
    """Values at a share in [0, 1] of each feature's range. Shapes of share and result: (size, features)."""
    columns = []
    for feature, column in zip(schema.features, share.T, strict=True):
        if isinstance(feature, Categorical):
            count = len(feature.categories)
            columns.append(np.minimum(np.floor(column * count), count - 1))
        else:
            columns.append(feature.low + column * (feature.high - feature.low))
    return np.column_stack(columns)


def labels(schema: Schema, share: Floats) -> Floats:
    """Labels at a share in [0, 1] of the target's range, or of its classes. Shapes of share and result: (size,)."""
    target = schema.target
    if isinstance(target, Classes):
        return np.minimum(np.floor(share * len(target.values)), len(target.values) - 1)
    return target.low + share * (target.high - target.low)
