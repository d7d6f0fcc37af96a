"""Split candidates: the public list of (feature, value) pairs that a split may be chosen from.

An ordered candidate (f, t) sends a record right if x_f >= t; a categorical one (f, v) if x_f == v; a missing value
always goes left. Training on codes and prediction on raw values use this one comparison.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from refdp.data import kernels, numbers
from refdp.data.numbers import Number, added, exp, log, maximum
from refdp.data.records import Categorical, Floats, Numeric, Records, Schema
from refdp.errors import InvalidParameter


@dataclass(frozen=True)
class Candidates:
    """thresholds[f]: increasing thresholds of an ordered feature, or 0..k-1 for a categorical one with k categories.

    public: False where they were read off the records, so that no guarantee holds.
    """

    thresholds: tuple[Floats, ...]
    categorical: NDArray[np.bool_]
    public: bool = True

    @cached_property
    def values(self) -> Floats:
        """All candidates, shape (candidates, 2): feature index and threshold or category index."""
        pairs = [np.column_stack([np.full(len(t), f), t]) for f, t in enumerate(self.thresholds)]
        return np.concatenate(pairs).astype(np.float64)

    @cached_property
    def bins(self) -> NDArray[np.int64]:
        """Number of codes of each feature: 0 for missing, then the bins between thresholds (or the categories).

        Shape (features,).
        """
        ordered = np.where(self.categorical, 1, 2)
        return np.array([len(t) for t in self.thresholds], dtype=np.int64) + ordered

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Position of each feature's first bin in a flat table of bins, shape (features + 1,)."""
        return np.concatenate([[0], np.cumsum(self.bins)]).astype(np.int64)

    @cached_property
    def _alike(self) -> list[tuple[int, int, int]]:
        """Where the bins of neighbouring features that have as many of them start and end, and how many that is."""
        edges = [0, *(np.flatnonzero(np.diff(self.bins)) + 1).tolist(), len(self.bins)]
        return [(int(self.offsets[a]), int(self.offsets[b]), int(self.bins[a])) for a, b in itertools.pairwise(edges)]

    @cached_property
    def position(self) -> NDArray[np.int64]:
        """For each candidate the flat position of the first bin on its right-hand side. Shape (candidates,)."""
        right = [
            self.offsets[f] + np.arange(len(t)) + (1 if self.categorical[f] else 2)
            for f, t in enumerate(self.thresholds)
        ]
        return np.concatenate(right).astype(np.int64)

    @cached_property
    def end(self) -> NDArray[np.int64]:
        """For each candidate the flat position after the last bin of its feature. Shape (candidates,)."""
        return self.offsets[self.feature + 1].astype(np.int64)

    @cached_property
    def feature(self) -> NDArray[np.int64]:
        """Feature of each candidate. Shape (candidates,)."""
        return self.values[:, 0].astype(np.int64)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Position of each feature's first candidate in `values`, shape (features + 1,)."""
        return np.concatenate([[0], np.cumsum([len(t) for t in self.thresholds])]).astype(np.int64)

    def encode(self, x: Floats) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """Codes of shape (features, rows): 0 missing, else 1 + number of thresholds <= x (or 1 + category)."""
        kind = np.uint8 if int(self.bins.max()) <= 256 else np.uint16
        codes = np.empty((x.shape[1], x.shape[0]), dtype=kind)
        for f in range(len(self.thresholds)):
            codes[f] = self.encode_feature(f, x[:, f])
        return codes

    def encode_feature(self, feature: int, column: Floats) -> NDArray[Any]:
        """The codes of one feature's values. column, result: shape (rows,)."""
        if self.categorical[feature]:
            return kernels.encode_categories(column, len(self.thresholds[feature]))
        return kernels.encode_ordered(column, self.thresholds[feature])

    def right_sums(self, table: Floats, chosen: NDArray[np.intp] | slice = slice(None)) -> Floats:
        """Per candidate the sum over records that go right, from bin sums of shape (..., bins). chosen: which ones.

        Feature by feature: a total over the bins of all can have more digits than float64 where no feature's own has.
        Errors: InvalidParameter for an index by which several axes, or none, take the place of the bins'.
        """
        _check_row(kind := self.categorical[self.feature[chosen]])
        position, end = self.position[chosen], self.end[chosen]
        before = np.zeros((*table.shape[:-1], table.shape[-1] + 1))
        for low, high, bins in self._alike:
            shape = (*table.shape[:-1], (high - low) // bins, bins)
            np.cumsum(table[..., low:high].reshape(shape), axis=-1, out=before[..., low + 1 : high + 1].reshape(shape))
        ordered = before.take(end, axis=-1)
        ordered -= before.take(position, axis=-1)
        return np.where(kind, table[..., position], ordered) if kind.any() else ordered

    def missing_sums(self, table: Floats, chosen: NDArray[np.intp] | slice = slice(None)) -> Floats:
        """Per candidate the sum over records without a value of its feature, from bin sums of shape (..., bins).

        Errors: InvalidParameter as of `right_sums`.
        """
        _check_row(feature := self.feature[chosen])
        return table.take(self.offsets[feature], axis=-1)

    def sides(self, table: Floats, chosen: NDArray[np.intp] | slice = slice(None)) -> tuple[Floats, Floats]:
        """Sums to the left and right of every candidate, (..., candidates) each, from bin sums of shape (..., bins)."""
        right = self.right_sums(table, chosen)
        return table[..., : int(self.bins[0])].sum(axis=-1, keepdims=True) - right, right

    def apart(self, table: Floats, features: Sequence[int]) -> list[Floats]:
        """A table of these features' bins side by side, shape (..., bins), cut into one table for each feature."""
        return np.split(table, np.cumsum([self.bins[f] for f in features])[:-1], axis=-1)

    @property
    def features(self) -> tuple[int, ...]:
        """All features, in order."""
        return tuple(range(len(self.thresholds)))

    def coded(self, chosen: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Feature, code and kind of chosen candidates, given by their position: what `kernels.route` needs.

        chosen and each result: shape (nodes,).
        """
        feature = self.feature[chosen]
        return feature, 1 + chosen - self.starts[feature], self.categorical[feature]

    def split_codes(self, chosen: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Feature and code of chosen (feature, value) rows: right if code > c (ordered) or code == c (categorical).

        Shape (chosen,) each.
        """
        feature = chosen[:, 0].astype(np.int64)
        code = [
            1 + (int(value) if self.categorical[f] else int(np.searchsorted(self.thresholds[f], value)))
            for f, value in zip(feature, chosen[:, 1], strict=True)
        ]
        return feature, np.array(code, dtype=np.int64)


def uniform(schema: Schema, count: int) -> Candidates:
    """`count` equally spaced inner thresholds between the public bounds of every numeric feature; all categories."""
    _check_count(count)
    inner = np.arange(1, count + 1) / (count + 1)
    return on_bounds(schema, lambda feature: feature.low + inner * (feature.high - feature.low))


def logarithmic(schema: Schema, count: int) -> Candidates:
    """`count` thresholds whose distances from the lower bound grow geometrically, in units of 1/1000 of the range."""
    _check_count(count)
    inner = numbers.expm1(np.arange(1, count + 1) / (count + 1) * numbers.log(1001.0)) / 1000.0
    return on_bounds(schema, lambda feature: feature.low + inner * (feature.high - feature.low))


def given(schema: Schema, thresholds: Mapping[str, Sequence[float]]) -> Candidates:
    """Thresholds named by the user for every numeric feature; all categories. Sorted, repetitions dropped.

    Errors: InvalidParameter for a numeric feature without thresholds.
    """
    missing = [f.name for f in schema.features if isinstance(f, Numeric) and f.name not in thresholds]
    if missing:
        raise InvalidParameter(f"no thresholds given for numeric features {missing}; give a list for each")
    return on_bounds(schema, lambda feature: np.asarray(thresholds[feature.name], dtype=np.float64))


def from_records(records: Records) -> Candidates:
    """Every distinct value of every numeric feature, as DPBoost and LightGBM do. Not private: it reveals values."""
    columns = {
        feature.name: np.unique(column[~np.isnan(column)])[1:]
        for feature, column in zip(records.schema.features, records.x.T, strict=True)
        if isinstance(feature, Numeric)
    }
    found = on_bounds(records.schema, lambda feature: columns[feature.name])
    return Candidates(found.thresholds, found.categorical, public=False)


def _check_row(chosen: NDArray[Any]) -> None:
    if np.ndim(chosen) != 1:
        raise InvalidParameter(f"candidates chosen in shape {np.shape(chosen)}: one after the other is meant")


def _check_count(count: int) -> None:
    if not 1 <= count <= 60_000:
        raise InvalidParameter(f"{count} split candidates per feature given, 1 to 60000 are allowed")


def on_bounds(schema: Schema, thresholds_of: Callable[[Numeric], ArrayLike]) -> Candidates:
    """Thresholds of every numeric feature from its public description, sorted, repetitions dropped; all categories.

    A feature whose bounds are equal has none. Errors: InvalidParameter if there is no candidate at all.
    thresholds_of gives an array of shape (count,).
    """
    thresholds: list[Floats] = []
    for feature in schema.features:
        if isinstance(feature, Categorical):
            thresholds.append(np.arange(len(feature.categories), dtype=np.float64))
        else:
            found = np.unique(np.asarray(thresholds_of(feature), dtype=np.float64))
            thresholds.append(found if feature.low < feature.high else found[:0])
    if not sum(len(t) for t in thresholds):
        raise InvalidParameter("no split candidate at all: every feature has equal lower and upper bound")
    return Candidates(tuple(thresholds), np.array([isinstance(f, Categorical) for f in schema.features]))


def ordered(schema: Schema) -> list[int]:
    """The numeric features that can be split at all. Categories are all candidates."""
    return [f for f, one in enumerate(schema.features) if isinstance(one, Numeric) and one.low < one.high]


def categorical(schema: Schema) -> list[int]:
    """The categorical features."""
    return [f for f, one in enumerate(schema.features) if isinstance(one, Categorical)]


def no_split(schema: Schema, columns: int) -> Floats:
    """A split beyond the bounds of its feature, which sends every record left; shape (columns,)."""
    f = min(ordered(schema) + categorical(schema))
    feature = schema.features[f]
    beyond = np.nextafter(feature.high, np.inf) if isinstance(feature, Numeric) else len(feature.categories)
    return np.array([f, beyond, 0.0][:columns])


# --- Formulas, generic over numbers -----------------------------------------------------------------------------------


def inner_uniform_candidate(position: Number, count: Number, low: Number, high: Number) -> Number:
    """a + q (b - a)/(Q + 1), q = 1..Q: every candidate lies strictly between the bounds."""
    return low + position * (high - low) / (count + 1)


def log_candidate(position: Number, count: Number, low: Number, high: Number) -> Number:
    """a - 1 + exp(q log(1 + b - a)/(Q + 1)), q = 1..Q: uniform after a log transform.

    Maddock et al. 2022, Section 4.5.1.
    """
    return low - 1 + exp(position * log(1 + high - low) / (count + 1))


def iterative_hessian(edges: Sequence[Number], hessians: Sequence[Number], count: int) -> list[Number]:
    """Refined inner thresholds from a feature's released Hessian histogram, `count` at most.

    Maddock et al. 2022, Section 4.5.2.

    edges: b_0 < ... < b_r, the public bounds and the thresholds between them; hessians: r released sums. Negative sums
    count as 0. Bins are merged until they hold more than total/Q; a bin that holds more alone is halved, the largest
    first; what is missing is filled by subdividing what lies between these thresholds, into equal parts and evenly.
    """
    masses = [maximum(h, 0 * h) for h in hessians]
    share = added(masses) / count
    kept, mass = [], 0 * share
    for right, bin_mass in zip(edges[1:], masses, strict=True):
        mass = mass + bin_mass
        if mass > share:
            kept.append(right)
            mass = 0 * share
    heavy = sorted((i for i, bin_mass in enumerate(masses) if bin_mass > share), key=lambda i: -masses[i])
    halves = [edges[i] / 2 + edges[i + 1] / 2 for i in heavy]
    found = sorted(set(([edge for edge in kept if edge < edges[-1]] + halves)[:count]))
    points, missing = [edges[0], *found, edges[-1]], count - len(found)
    gaps = len(points) - 1
    for gap in range(gaps):
        parts = missing // gaps + (gap < missing % gaps)
        found = found + [inner_uniform_candidate(q, parts, *points[gap : gap + 2]) for q in range(1, parts + 1)]
    return sorted(set(found))
