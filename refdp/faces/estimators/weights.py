"""Weights of records and of classes, for estimators whose releases are sums.

A record's part in every released sum, the count too, is multiplied by its weight in [0, 1] and rounded towards 0. No
entry of it grows, so that neither does its norm: the same noise, plan and certificate hold. Under replace-one the parts
of two records differ by at most the sum of their norms. A sample weight is private like its record; class weights are
public, and divided by the greatest of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from refdp.data.records import Floats
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces.estimators.distributed import elsewhere
from refdp.faces.estimators.settings import constructed
from refdp.io import frames

APART = (
    "each sample weight follows from its own record and public figures alone: none is balanced by counts of classes or "
    "divided by a sum or a maximum of these records"
)
"""What a certificate assumes besides of a fit with weights."""
_REAL = (int, float, np.integer, np.floating)
_LARGEST = float(np.finfo(np.float64).max)


class Weighing:
    """`fit` with `sample_weight`."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on records. X: array or data frame, NaN and None are missing values; y: one label a record;
        sample_weight: shape (rows,), in [0, 1], private; None for 1. Larger ones are divided by a public bound first.
        Each may follow from its own record and public figures alone, which the certificate then assumes.

        Errors: InvalidParameter before any record is touched; InvalidRecords for records that fit no public schema or
        weights outside [0, 1]. Warns: PrivacyWarning about everything that was not given.
        """
        me: Any = self
        weighed = sample_weight is not None or getattr(me, "class_weight", None) is not None
        if weighed and elsewhere(X):
            raise InvalidParameter("weights of records in Dask frames: give arrays or data frames")
        fitted: Self = me._fit(X, y, sample_weight)
        if sample_weight is not None:
            me.certificate_ = me.certificate_.assuming(APART)
        return fitted


@constructed
class WeighingClasses(Weighing):
    """Weights of classes besides.

    class_weight: {class: weight >= 0}, public; what is not named has 1. All are divided by the greatest.
    """

    class_weight: Mapping[Any, float] | None = None

    def _weights(self, given: Any, label: Floats) -> Floats | None:
        """The product of both. label: places in `classes_`."""
        own = sample_weights(given, len(label))
        by_class = class_weights(self.class_weight, getattr(self, "classes_"))  # noqa: B009
        if by_class is None:
            return own
        found = by_class[label.astype(np.intp)]
        return np.asarray(found if own is None else found * own)


def class_weights(given: Mapping[Any, float] | None, classes: Any) -> Floats | None:
    """One weight a class, the greatest 1. Errors: InvalidParameter for other classes or weights, or none above 0.

    Shape (classes,).
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InvalidParameter(
            f"class_weight = {given!r}: a mapping of public weights is allowed; counts of classes are private"
        )
    names = {frames.text_of(one): place for place, one in enumerate(classes)}
    found: Floats = np.ones(len(names))
    for name, weight in given.items():
        if frames.text_of(name) not in names:
            raise InvalidParameter(f"class_weight: {name!r} is not among the classes {list(names)}")
        if isinstance(weight, bool) or not isinstance(weight, _REAL) or not 0 <= weight <= _LARGEST:
            raise InvalidParameter(f"class_weight of {name!r} = {weight!r}: a finite number >= 0 is allowed")
        found[names[frames.text_of(name)]] = weight
    if not found.max() > 0:
        raise InvalidParameter("class_weight: at least one class needs a weight > 0")
    return np.asarray(found / found.max())


def sample_weights(given: Any, rows: int) -> Floats | None:
    """Errors: InvalidRecords for what is no list of so many numbers, or for a masked one. Shape (rows,)."""
    if given is None:
        return None
    found = None if np.ma.is_masked(given) else _real(given)
    if found is None:
        raise InvalidRecords("sample_weight: one number a record is needed")
    if found.ndim != 1:
        raise InvalidRecords(f"sample_weight of shape {found.shape}: Sample weights must be 1D, one for each record")
    if len(found) != rows:
        raise InvalidRecords(f"sample_weight.shape == {found.shape}, expected ({rows},)!")
    return found


def _real(given: Any) -> Floats | None:
    """As float64, None for what is no real number; what Python says of it would quote it."""
    try:
        cells = np.asarray(given)
        return None if cells.dtype.kind in "cmMV" else cells.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
