"""Neighbours for trainers that nobody knows: record counts around round numbers, and contents at every edge."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from refdp.audit.neighbours import SHAPES, Shape, categorical, features, labels, uniform
from refdp.audit.replay import Pair
from refdp.data.records import Categorical, Interval, Records, Schema, make_records
from refdp.privacy.events import Relation

COUNTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 31, 32, 49, 50, 63, 64, 99, 100, 127, 128, 255, 256,
          511, 512, 999, 1000, 1023, 1024)  # fmt: skip
"""Records without the audited one: both sides of powers of 2 and 10, and everything below 17."""


LARGEST = 2000
MOST_HINTS = 24
MOST_COMBINED = 120
"""Pairs of records that consist of hints."""
MOST_BESIDE = 24
"""Pairs with hints as numbers of records."""


def inputs(
    schema: Schema, relation: Relation, seed: int, counts: tuple[int, ...] = COUNTS, hints: tuple[float, ...] = ()
) -> Iterator[Pair]:
    """Small contents first, then every count, then the hints, then shapes of data sets without end.

    hints: numbers to try as a number of records, a label, and a value. Deterministic in the seed.
    """
    generator = np.random.default_rng(seed)
    shaped = _shaped(schema, relation, generator)
    yield from islice(shaped, len(SHAPES))
    yield from _edges(schema, relation, generator)
    for count in counts:
        shape = SHAPES[1] if count % 2 else uniform
        yield _pair(schema, shape, count, relation, generator)
    for hint in hints[:MOST_HINTS]:
        yield from _hinted(schema, relation, generator, hint)
    yield from shaped


def of_count(schema: Schema, relation: Relation, seed: int, count: int) -> Pair:
    """A pair with so many records without the audited one."""
    return _pair(schema, uniform, count, relation, np.random.default_rng([seed, count]))


def beside(schema: Schema, relation: Relation, seed: int, hints: tuple[float, ...]) -> Iterator[Pair]:
    """Pairs on both sides of hints as numbers of records, then of their halves, where rounding to a hint turns.

    At most MOST_BESIDE pairs; a power of ten counts where its exponent, negative, is the hint, as `round` takes it.
    """
    whole = [int(hint) for hint in hints if float(hint).is_integer()]
    ends = [one for hint in whole for one in (hint, 10**-hint if -5 < hint < -1 else 0)]
    places = [*ends, *(one // 2 for one in ends)]
    sizes = dict.fromkeys(size for end in places for size in (end, end - 1) if 16 < size <= LARGEST)
    yield from sized(schema, relation, seed, tuple(islice(sizes, MOST_BESIDE)))


def _hinted(schema: Schema, relation: Relation, generator: np.random.Generator, hint: float) -> Iterator[Pair]:
    """A data set that reaches this number of records, and a record that has it as its label or as a value."""
    if hint == int(hint) and 16 < hint <= LARGEST:
        yield _pair(schema, uniform, int(hint) - 1, relation, generator)
    pair = _pair(schema, uniform, 5, relation, generator)
    target = schema.target
    if isinstance(target, Interval) and target.low <= hint <= target.high:
        yield replace(pair, new=make_records(schema, pair.new.x, np.array([hint])))
    numeric = ~categorical(schema)
    lows, highs = (np.array([getattr(f, end, np.nan) for f in schema.features]) for end in ("low", "high"))
    inside = numeric & (lows <= hint) & (hint <= highs)
    if inside.any():
        yield replace(pair, new=make_records(schema, np.where(inside, hint, pair.new.x), pair.new.y))


def combined(schema: Schema, relation: Relation, seed: int, hints: tuple[float, ...]) -> Iterator[Pair]:
    """Records all of whose columns and label are hints or their opposites: what is done to those in a window of each.

    Every category counts as a hint of its column. At most MOST_COMBINED pairs, drawn from all combinations. No pair
    where no hint lies inside a range.
    """
    generator = np.random.default_rng([seed, 2])
    both = sorted({side * hint for hint in hints[:MOST_HINTS] for side in (1.0, -1.0)})
    columns = [[float(category) for category in range(len(feature.categories))] if isinstance(feature, Categorical)
               else _inside(feature, both) for feature in schema.features]  # fmt: skip
    target = schema.target
    marks = _inside(target, both) if isinstance(target, Interval) else [float(one) for one in range(len(target.values))]
    if not any(_inside(one, both) for one in (*schema.features, target)):
        return
    grids = [column or [float(features(schema, np.full((1, len(columns)), 0.5))[0, place])]
             for place, column in enumerate(columns)]  # fmt: skip
    grids.append(marks or [float(labels(schema, np.array([0.5]))[0])])
    every = math.prod(map(len, grids))
    chosen = generator.choice(every, min(every, MOST_COMBINED), replace=False)
    for places in np.stack(np.unravel_index(chosen, [len(grid) for grid in grids]), axis=1):
        row = [grid[place] for grid, place in zip(grids, places, strict=True)]
        pair = _pair(schema, uniform, int(generator.integers(0, 4)), relation, generator)
        yield replace(pair, new=make_records(schema, np.array([row[:-1]]), np.array([row[-1]])))


def _inside(ranged: Any, hints: list[float]) -> list[float]:
    """Those hints that a numeric feature or a label may be."""
    low, high = getattr(ranged, "low", math.nan), getattr(ranged, "high", math.nan)
    return [hint for hint in hints if low <= hint <= high]


def sized(schema: Schema, relation: Relation, seed: int, counts: tuple[int, ...]) -> Iterator[Pair]:
    """One pair with each of these numbers of records, the audited one not counted."""
    generator = np.random.default_rng([seed, 1])
    for count in counts:
        yield _pair(schema, uniform, count, relation, generator)


def _shaped(schema: Schema, relation: Relation, generator: np.random.Generator) -> Iterator[Pair]:
    while True:
        for shape in SHAPES:
            yield _pair(schema, shape, int(generator.integers(1, 13)), relation, generator)


def _pair(schema: Schema, shape: Shape, count: int, relation: Relation, generator: np.random.Generator) -> Pair:
    x, y = shape(schema, generator, count + 2)
    rows = make_records(schema, x, y)
    return _placed(rows.take(range(count)), rows.take([count + 1]), rows.take([count]), relation, generator)


def _placed(base: Records, new: Records, old: Records, relation: Relation, generator: np.random.Generator) -> Pair:
    position = int(generator.integers(0, base.size + 1))
    return Pair(base, new, old if relation is Relation.REPLACE_ONE else None, position)


def _edges(schema: Schema, relation: Relation, generator: np.random.Generator) -> Iterator[Pair]:
    """Ordinary records, and one that is special: a repetition, a bound, an ulp beside it, zero, missing, rare."""
    middle = np.full((1, len(schema.features)), 0.5)
    x, y = uniform(schema, generator, 6)
    x = np.minimum(x, features(schema, middle * 1.4)) if not categorical(schema).all() else x
    for column, feature in enumerate(schema.features):
        if isinstance(feature, Categorical):
            x[:, column] = 0.0
    base = make_records(schema, x, y)
    old = base.take([5])
    base = base.take(range(5))
    plain = features(schema, middle), labels(schema, np.array([0.5]))
    specials = [(base.x[:1], base.y[:1])]
    for share in (0.0, 1.0):
        specials.append((features(schema, np.full_like(middle, share)), plain[1]))
        specials.append((plain[0], labels(schema, np.array([share]))))
    numeric = ~categorical(schema)
    for bound, toward in ((1.0, -np.inf), (0.0, np.inf)):
        at = features(schema, np.full_like(middle, bound))
        specials.append((np.where(numeric, np.nextafter(at, toward), at), plain[1]))
        if isinstance(schema.target, Interval):
            specials.append((plain[0], np.nextafter(labels(schema, np.array([bound])), toward)))
    specials.append((np.full_like(middle, np.nan), plain[1]))
    specials.append((np.where(numeric, -0.0, 0.0) * np.ones_like(middle), plain[1]))
    if isinstance(schema.target, Interval) and schema.target.low <= 0 <= schema.target.high:
        specials += [(plain[0], np.array([zero])) for zero in (0.0, -0.0)]
    for column, feature in enumerate(schema.features):
        for category in range(len(feature.categories)) if isinstance(feature, Categorical) else ():
            rare = plain[0].copy()
            rare[:, column] = category
            specials.append((rare, plain[1]))
    for new_x, new_y in specials:
        yield _placed(base, make_records(schema, new_x, new_y), old, relation, generator)
