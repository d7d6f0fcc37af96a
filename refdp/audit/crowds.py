"""Crowds: many equal records at one bound, and a record that disagrees with all of them; and changes of any pair.

Where gains are squares of sums, the record that disagrees with its crowd changes them most: three times as much as
one that agrees (the witness of the claim dpboost/lemma-1 has ten records).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from refdp.audit.neighbours import categorical, features, labels
from refdp.audit.replay import Pair
from refdp.data.records import Floats, Interval, Records, Schema, make_records
from refdp.privacy.events import Relation

CROWD = (10, 1, 3, 30, 100)
"""Records of a crowd. The change of a gain comes near its limit from ten on."""
PLACES = ((0.0, 0.5), (1.0, 0.5), (0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0))
"""Shares of the ranges where crowd and record lie. Where one is in the middle some splits part them and some do not:
the first gain, the second lose, and an exponential mechanism pays for the difference."""
SIZES = (1, 2, 4, 7, 8, 9, 10, 11, 15, 16, 17, 31, 32, 33, 50, 63, 64, 65, 99, 100, 101, 127, 128, 129, 255, 256, 257,
         511, 512, 513, 999, 1000, 1001, 1023, 1024, 1025)  # fmt: skip
"""Numbers of records that a mutation grows or cuts a data set to."""


def crowds(schema: Schema, relation: Relation, sizes: tuple[int, ...] = CROWD) -> Iterator[Pair]:
    """Pairs of a crowd and one that disagrees: with it, apart from it, between, and beside a crowd of its own label."""
    for size in sizes:
        for label in (0.0, 1.0):
            for place, own in PLACES:
                for second in (False, True):
                    yield _crowd(schema, relation, size, label, place, own, second)


def alone(schema: Schema, relation: Relation) -> Pair:
    """A pair with no record beside the audited ones: what a trainer does where it has none runs too."""
    pair = next(crowds(schema, relation))
    return replace(pair, base=pair.base.take(np.arange(0)), position=0)


def _crowd(schema: Schema, relation: Relation, size: int, label: float, place: float, own: float, second: bool) -> Pair:
    """Shares of the ranges: label and place of the crowd, place of the record. second: a crowd of its label there."""
    x, y = np.full(size, place), np.full(size, label)
    if second:
        x, y = np.concatenate([x, 1 - x]), np.concatenate([y, 1 - y])
    base = _records(schema, x, y)
    new = _records(schema, np.array([own]), np.array([1 - label]))
    old = _records(schema, np.array([own if place != own else 1 - own]), np.array([label]))
    return Pair(base, new, old if relation is Relation.REPLACE_ONE else None, base.size)


def _records(schema: Schema, x: Floats, y: Floats) -> Records:
    shares = np.repeat(x[:, None], len(schema.features), axis=1)
    return make_records(schema, features(schema, shares), labels(schema, y))


def mutated(pair: Pair, generator: np.random.Generator, hints: tuple[float, ...], largest: int) -> Pair:
    """One to three random changes of a pair: of the records beside, of their number, or of the audited ones.

    hints: numbers to try as labels and values. largest: most records.
    """
    for _ in range(int(generator.integers(1, 4))):
        pair = _once(pair, generator, hints, largest)
    return replace(pair, position=min(pair.position, pair.base.size))


def _once(pair: Pair, generator: np.random.Generator, hints: tuple[float, ...], largest: int) -> Pair:
    base, new, old = pair.base, pair.new, pair.old
    match int(generator.integers(0, 9)):
        case 0 | 1:
            new = _changed(new, generator, hints, base)
        case 2 if old is not None:
            old = _changed(old, generator, hints, base)
        case 3 | 2 if base.size:
            base = _some_changed(base, generator, hints)
        case 4 if base.size:  # to another number of records, those there repeated or left out
            allowed = [size for size in SIZES if size <= largest]
            near = [size for size in allowed if base.size / 3 <= size <= 3 * base.size + 2]
            base = base.take(np.resize(generator.permutation(base.size), int(generator.choice(near or allowed))))
        case 5 if base.size:  # one of them repeated
            rows = np.append(np.arange(base.size), np.repeat(generator.integers(base.size), generator.integers(1, 9)))
            base = base.take(rows[-largest:])
        case 6 if base.size > 1:
            base = base.take(np.flatnonzero(generator.random(base.size) < 0.7))
        case 7:  # the audited record joins, and a changed one takes its place
            base, new = base.insert(base.size, new), _changed(new, generator, hints, base)
        case 8 if base.size:  # like one of them, but for the label
            row = base.take([int(generator.integers(base.size))])
            new = make_records(row.schema, row.x, labels(row.schema, np.array([generator.integers(0, 2)])))
    return Pair(base, new, old, pair.position)


def _changed(record: Records, generator: np.random.Generator, hints: tuple[float, ...], others: Records) -> Records:
    schema = record.schema
    x, y = record.x.copy(), record.y.copy()
    if generator.random() < 0.5:
        y[:] = _label(schema, y, generator, hints)
    else:
        column = int(generator.integers(x.shape[1]))
        x[:, column] = _value(schema, x[:, column], column, generator, hints)
        if others.size and generator.random() < 0.2:
            x = others.x[[int(generator.integers(others.size))]]
    return make_records(schema, x, y)


def _some_changed(base: Records, generator: np.random.Generator, hints: tuple[float, ...]) -> Records:
    """A label or a column of all records, of half of them, or of one."""
    x, y = base.x.copy(), base.y.copy()
    share = generator.choice([1.0, 0.5, 0.0])
    rows = generator.random(base.size) < share
    rows[int(generator.integers(base.size))] = True
    if generator.random() < 0.5:
        y[rows] = _label(base.schema, y[rows], generator, hints)
    else:
        column = int(generator.integers(x.shape[1]))
        x[rows, column] = _value(base.schema, x[rows, column], column, generator, hints)
    return make_records(base.schema, x, y)


def _label(schema: Schema, now: Floats, generator: np.random.Generator, hints: tuple[float, ...]) -> Floats:
    kind = int(generator.integers(0, 8))
    target = schema.target
    if kind < 4 or not isinstance(target, Interval):
        share = np.array([generator.integers(0, 2)]) if kind < 4 else generator.random(1)
        return labels(schema, share.astype(np.float64))
    inside = [hint for hint in hints if target.low <= hint <= target.high]
    if kind == 4 and inside:
        return np.array([generator.choice(inside)])
    return _moved(now, target.low, target.high, kind, generator)


def _value(
    schema: Schema, now: Floats, column: int, generator: np.random.Generator, hints: tuple[float, ...]
) -> Floats:
    kind = int(generator.integers(0, 9))
    if kind < 4 or categorical(schema)[column]:
        share = generator.random(1) if kind > 2 else np.array([kind / 2])
        return features(schema, np.full((1, len(schema.features)), share))[:, column]
    if kind == 8:
        return np.array([np.nan])
    feature = schema.features[column]
    low, high = float(getattr(feature, "low")), float(getattr(feature, "high"))  # noqa: B009
    inside = [hint for hint in hints if low <= hint <= high]
    if kind == 4 and inside:
        return np.array([generator.choice(inside)])
    return _moved(now, low, high, kind, generator)


def _moved(now: Floats, low: float, high: float, kind: int, generator: np.random.Generator) -> Floats:
    """A small step, an ulp, the other sign, or anything between the bounds."""
    if kind == 5:
        return np.asarray(np.clip(now + (high - low) * 0.1 * generator.standard_normal(), low, high))
    if kind == 6:
        return np.asarray(np.clip(np.nextafter(now, generator.choice([-np.inf, np.inf])), low, high))
    if kind == 7:
        return np.asarray(np.clip(low + high - now, low, high))
    return low + (high - low) * generator.random(1)
