"""Records, their public schema, neighbouring data sets, and the models that training publishes.

A schema is public: bounds, categories and the label's range come from outside the records. Records are clamped to it
when they are made, so that no later step can see a value outside its bound; how many were clamped is counted locally
and never released.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.checks import plain
from refdp.errors import InvalidParameter, InvalidRecords

Floats = NDArray[np.float64]
WIDEST, NARROWEST, FINEST = 2.0**1000, 2.0**-1000, 2.0**-40
"""Between bounds of a numeric feature: the greatest distance, the least, and the least share of the greater bound."""


def _as_floats(bounds: Numeric | Interval) -> bool:
    """Keep bounds as floats: whole numbers would be others than those of the same schema read from a file.

    Whether they are finite numbers.
    """
    low, high = as_float(bounds.low), as_float(bounds.high)
    object.__setattr__(bounds, "low", low)
    object.__setattr__(bounds, "high", high)
    return bool(np.isfinite(low) and np.isfinite(high))


def _keep_plain(described: Any, name: str) -> None:
    """Keep a name, or what is in a list of them, as Python's own texts and numbers: numpy's, and those of classes
    derived from Python's (an enumeration's members), compute in their own way. Anything else stays as it was given.
    """
    given = getattr(described, name)
    kind = type(given)
    object.__setattr__(described, name, kind(map(_plain, given)) if kind in (tuple, list) else _plain(given))


def _plain(value: Any) -> Any:
    return plain(value.item() if isinstance(value, np.generic) else value)


def _shown(bounds: tuple[Any, Any]) -> str:
    """Both bounds as floats, and what is no number as it was given: a text of digits, too."""
    ends = ((bound, as_float(bound)) for bound in bounds)
    return f"[{', '.join(repr(bound) if math.isnan(number) else str(number) for bound, number in ends)}]"


def as_float(bound: Any) -> float:
    """The number as float64, infinite beyond all floats; NaN for what is no number, texts too."""
    try:
        return math.nan if isinstance(bound, str | bytes) else float(bound)
    except OverflowError:
        return math.inf if bound > 0 else -math.inf
    except (TypeError, ValueError):
        return math.nan


def least_width(low: float, high: float) -> float:
    """The least distance of bounds in between which there are thresholds enough."""
    return max(FINEST * max(abs(low), abs(high)), NARROWEST)


@dataclass(frozen=True)
class Numeric:
    """A numeric feature with public bounds low <= high, in the feature's own unit. NaN is a missing value.

    Errors: InvalidParameter unless the bounds are finite numbers. How far apart they may be is for `Schema` to say: a
    target is described in the same way, and has no thresholds.
    """

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        _keep_plain(self, "name")
        given = self.low, self.high
        if not (_as_floats(self) and self.low <= self.high):
            raise InvalidParameter(f"bounds of {self.name!r}: {_shown(given)} given, finite low <= high allowed")


def _check_width(feature: Numeric) -> None:
    """Errors: InvalidParameter for bounds between which there are no thresholds."""
    width, given = feature.high - feature.low, f"bounds of {feature.name!r}: [{feature.low}, {feature.high}] given"
    if width > WIDEST:
        raise InvalidParameter(f"{given}, their distance is too large")
    if 0 < width < least_width(feature.low, feature.high):
        raise InvalidParameter(
            f"{given}, their distance is too small for thresholds between them: take the lower bound off the column, "
            "or give another unit"
        )


@dataclass(frozen=True)
class Categorical:
    """A categorical feature with a public list of categories; a value outside the list is a missing value."""

    name: str
    categories: tuple[str, ...]

    def __post_init__(self) -> None:
        _keep_plain(self, "name")
        _keep_plain(self, "categories")
        if not self.categories or len(set(self.categories)) != len(self.categories):
            raise InvalidParameter(f"categories of {self.name!r}: a non-empty list without repetitions is needed")


@dataclass(frozen=True)
class Interval:
    """A regression target with public range low < high, of which twice the width is a finite number.

    Beyond, scaling would overflow for some labels and not for others.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        given = self.low, self.high
        if not (_as_floats(self) and self.low < self.high):
            raise InvalidParameter(f"label range {_shown(given)} given, finite low < high allowed")
        if not np.isfinite(2 * (self.high - self.low)):
            raise InvalidParameter(f"label range [{self.low}, {self.high}] given, a width up to 8e307 is allowed")

    def scaled(self, y: Floats) -> Floats:
        """Labels moved so that the public range becomes [-1, 1]. Any shape."""
        return np.asarray(2 * (y - self.low) / (self.high - self.low) - 1)

    def unscaled(self, score: Floats) -> Floats:
        """Scores, clipped to [-1, 1], in the target's unit: the inverse of `scaled`. Any shape."""
        return np.asarray(self.low + (np.clip(score, -1, 1) + 1) / 2 * (self.high - self.low))


@dataclass(frozen=True)
class Classes:
    """A classification target with a public list of at least two class labels, the last one positive when two."""

    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _keep_plain(self, "values")
        if len(self.values) < 2 or len(set(self.values)) != len(self.values):
            raise InvalidParameter(f"classes {self.values!r} given, at least two different labels are needed")


Feature = Numeric | Categorical
Target = Interval | Classes


@dataclass(frozen=True)
class Schema:
    """The public description of the records: features in column order and the target.

    Errors: InvalidParameter for a name that comes twice, and unless the distance of a numeric feature's bounds is at
    most `WIDEST`, and nothing or at least `NARROWEST` and `FINEST` of the greater bound: between closer ones thresholds
    would coincide.
    """

    features: tuple[Feature, ...]
    target: Target

    def __post_init__(self) -> None:
        for feature in self.features:
            if isinstance(feature, Numeric):
                _check_width(feature)
        names = [feature.name for feature in self.features]
        if not names or len(set(names)) != len(names):
            raise InvalidParameter(f"feature names {names!r}: at least one, without repetitions")

    @property
    def names(self) -> tuple[str, ...]:
        """Feature names in column order."""
        return tuple(feature.name for feature in self.features)

    @property
    def scores(self) -> int:
        """How many scores are learnt: one for regression and for two classes, one for each class otherwise."""
        return len(self.target.values) if isinstance(self.target, Classes) and len(self.target.values) > 2 else 1

    def label(self, output: int, y: Floats) -> Floats:
        """Labels of one score: scaled to [-1, 1] by the public range, or 1 for its class (of two the last), else 0.

        Shape (rows,).
        """
        if isinstance(self.target, Interval):
            return self.target.scaled(y)
        positive = output if len(self.target.values) > 2 else 1
        return np.asarray(y == positive, dtype=np.float64)


@dataclass(frozen=True)
class Records:
    """Private records, clamped to their schema.

    x: shape (rows, features); a categorical value is its index in the public list; NaN is missing.
    y: shape (rows,); a class is its index in the public list.
    clamped: how many values were moved into their bounds (for the owner's eyes only).
    weight: shape (rows,), in [0, 1]: what a record's part in every sum is multiplied by, the count too; None for 1. It
      is private like the rest of the record. Only trainers whose releases are sums take it (`Contribution.weighs`).
    """

    schema: Schema
    x: Floats
    y: Floats
    clamped: int = 0
    weight: Floats | None = None

    @property
    def size(self) -> int:
        """Number of records. Private under add-remove."""
        return len(self.y)

    def take(self, rows: NDArray[np.intp] | Sequence[int]) -> Records:
        """The records at these positions, in this order. rows: shape (count,)."""
        index = np.asarray(rows, dtype=np.intp)
        return Records(
            self.schema, self.x[index], self.y[index], 0, None if self.weight is None else self.weight[index]
        )

    def insert(self, position: int, other: Records) -> Records:
        """These records with the rows of another set placed before `position`."""
        x, weight = np.insert(self.x, position, other.x, axis=0), self.weight
        if weight is not None or other.weight is not None:
            weight = np.insert(self.weights(), position, other.weights())
        return Records(self.schema, x, np.insert(self.y, position, other.y), 0, weight)

    def weights(self) -> Floats:
        """The weight of every record, shape (rows,)."""
        return np.ones(self.size) if self.weight is None else self.weight


def make_records(schema: Schema, x: Floats, y: Floats) -> Records:
    """Validate shapes and values, then clamp.

    x: (rows, features) float64, categories as indices, NaN missing; y: (rows,) float64, classes as indices.
    Errors: InvalidRecords for no rows, wrong number of columns, infinite features, NaN or infinite labels, class
    indices outside the public list.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 2 or y.shape != x.shape[:1]:
        raise InvalidRecords(f"features of shape {x.shape} and labels of shape {y.shape}: (n, m) and (n,) are needed")
    if x.shape[1] != len(schema.features):
        raise InvalidRecords(f"{x.shape[1]} feature columns given, the schema has {len(schema.features)}")
    if x.shape[0] == 0:
        raise InvalidRecords("0 records given, at least 1 is needed")
    _check_features(schema, x)
    labels = _labels(schema.target, y)
    features = clamp_features(schema, x)
    moved = int(np.sum((features != x) & ~np.isnan(x)) + np.sum(labels != y))
    return Records(schema, features, labels, moved)


def weighed(records: Any, weight: Floats) -> Records:
    """Records with weights. weight: shape (rows,).

    Errors: InvalidRecords for sparse records, another shape or a weight outside [0, 1]; no weight is in the message.
    """
    found = np.asarray(weight, dtype=np.float64)
    if not isinstance(records, Records):
        raise InvalidRecords("weights of sparse records: give dense ones")
    if found.shape != (records.size,):
        raise InvalidRecords(f"weights of shape {found.shape}: one for each of {records.size} records is needed")
    if not ((found >= 0) & (found <= 1)).all():
        raise InvalidRecords("a weight is missing or not in [0, 1]: divide all by a public bound of them")
    return replace(records, weight=found)


def _check_features(schema: Schema, x: Floats) -> None:
    infinite = np.isinf(x).any(axis=0)
    if infinite.any():
        name = schema.names[int(np.argmax(infinite))]
        raise InvalidRecords(f"feature {name!r} holds an infinite value; finite values and NaN (missing) are allowed")


def clamp_features(schema: Schema, x: Floats) -> Floats:
    """Every numeric value moved into its public bounds; category indices outside the list become missing.

    x, result: shape (rows, features).
    """
    out = np.array(x, dtype=np.float64, order="F")
    for column, feature in enumerate(schema.features):
        if isinstance(feature, Numeric):
            out[:, column] = np.clip(out[:, column], feature.low, feature.high)
        else:
            known = (out[:, column] >= 0) & (out[:, column] < len(feature.categories))
            out[:, column] = np.where(known, np.floor(out[:, column]), np.nan)
    return out


def _labels(target: Target, y: Floats) -> Floats:
    if not np.isfinite(y).all():
        raise InvalidRecords("a label is NaN or infinite; every record needs a finite label")
    if isinstance(target, Interval):
        return np.clip(y, target.low, target.high)
    if not np.isin(y, np.arange(len(target.values))).all():
        raise InvalidRecords(f"a class index lies outside 0..{len(target.values) - 1}, the public list {target.values}")
    return y.copy()


# --- What is trained: full binary trees in level order, ensembles, models ---------------------------------------------


@dataclass(frozen=True)
class Tree:
    """A full tree of depth d. Holds released values only.

    splits: shape (2^d - 1, 2), level order: feature index and threshold (or category index) of each inner node; or
      (2^d - 1, 3) with a default direction, 1 where missing values go right. Without one they go left.
    leaves: shape (2^d,), from left to right.
    """

    splits: Floats
    leaves: Floats

    def leaf_index(self, x: Floats, categorical: Any) -> Any:
        """The leaf of every row of x (rows, features): right if x_f >= t, or x_f == v where f is categorical.

        A missing x_f goes in the default direction.
        """
        node = np.zeros(len(x), dtype=np.int64)
        rows = np.arange(len(x))
        for _ in range(len(self.leaves).bit_length() - 1):
            feature = self.splits[node, 0].astype(np.int64)
            value, threshold = x[rows, feature], self.splits[node, 1]
            right = np.where(categorical[feature], value == threshold, value >= threshold)
            if self.splits.shape[1] > 2:
                right |= np.isnan(value) & (self.splits[node, 2] > 0)
            node = 2 * node + 1 + right
        return node - (len(self.leaves) - 1)

    def predict(self, x: Floats, categorical: Any) -> Floats:
        """Leaf value of every row, shape (rows,)."""
        values: Floats = self.leaves[self.leaf_index(x, categorical)]
        return values


@dataclass(frozen=True)
class Ensemble:
    """score = initial + sum over trees of weight times leaf value."""

    initial: float
    trees: tuple[Tree, ...]
    weights: tuple[float, ...]

    def score(self, x: Floats, categorical: Any) -> Floats:
        """Raw score of every row, shape (rows,)."""
        total = np.full(len(x), self.initial)
        for tree, weight in zip(self.trees, self.weights, strict=True):
            total += weight * tree.predict(x, categorical)
        return total


@dataclass(frozen=True, repr=False)
class Model:
    """What a training run publishes: released values, parameters and the public schema.

    outputs: one ensemble, or one for each class.
    """

    paper: str
    params: dict[str, Any]
    schema: Schema
    outputs: tuple[Ensemble, ...]

    def __repr__(self) -> str:
        """One line; `to_json` has everything."""
        from refdp import shown

        return shown.model_line(self)

    def _repr_html_(self) -> str:
        from refdp import shown

        return shown.model_html(self)

    def scores(self, x: Floats) -> Floats:
        """Raw scores, shape (rows, outputs). x must have the schema's columns, categories as indices.

        Errors: InvalidRecords for another number of columns.
        """
        if x.ndim != 2 or x.shape[1] != len(self.schema.features):
            raise InvalidRecords(
                f"features of shape {x.shape}, the model was trained on {len(self.schema.features)} columns"
            )
        categorical = np.array([isinstance(feature, Categorical) for feature in self.schema.features])
        return np.column_stack([ensemble.score(x, categorical) for ensemble in self.outputs])

    def to_json(self) -> str:
        """Canonical text: sorted keys, a checksum, and for equal numbers one way to write them, whatever their types
        (`epsilon=4` and `4.0`, numpy's scalars, -0.0) and for equal sequences too. Equal models give equal bytes."""
        from refdp.data import forms

        return forms.model_text(self)
