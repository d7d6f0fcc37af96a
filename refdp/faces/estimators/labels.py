"""Labels of classes: the public list, and records' labels of the same kind.

What is predicted is an entry of the list. Where labels are numbers and the list has texts, or the other way round, no
prediction would equal its label, so that this is refused by kind, whatever the values are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.errors import InvalidParameter, InvalidRecords
from refdp.io.cells import is_absent, is_moment, text_of

_KINDS = {"b": "truth values", "i": "numbers", "u": "numbers", "f": "numbers", "U": "texts", "S": "bytes", "T": "texts"}


def public_classes(given: Any) -> NDArray[Any]:
    """The classes in order, each once. Shape (classes,).

    Errors: InvalidParameter for what is no list, fewer than two, missing values, dates, labels of several kinds, or
    whole numbers that no array keeps together.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) > 1:
        raise InvalidParameter(f"classes = {' '.join(repr(given).split())}: a list of labels is needed")
    listed = list(given)
    if any(np.iterable(one) and not isinstance(one, str | bytes) for one in listed):
        raise InvalidParameter(f"classes = {given!r}: a list of labels is needed")
    if any(text_of(one) == "" for one in listed):
        raise InvalidParameter(f"classes = {listed!r}: a missing value or an empty text is no class")
    if any(map(is_moment, listed)):
        raise InvalidParameter(
            f"classes = {listed!r}: dates or times are no classes; give them as texts, or as numbers"
        )
    if len(kinds := sorted(kinds_of(listed))) > 1 or "bytes" in kinds:
        raise InvalidParameter(f"classes = {listed!r}: {' and '.join(kinds)} given, texts or numbers are needed")
    known = np.unique(_together(given if hasattr(given, "__array__") else listed))
    if {text_of(one) for one in listed if isinstance(one, Integral)} - {text_of(one) for one in known}:
        raise InvalidParameter(
            f"classes = {listed!r}: whole numbers that floats round, since no type of whole numbers has all of "
            "them; give them as texts"
        )
    if len(known) < 2:
        raise InvalidParameter(f"classes = {listed!r}: at least two different labels are needed")
    return known


def _together(listed: Any) -> NDArray[Any]:
    """As numpy has them, but whole numbers as such where a type has all of them: numpy makes floats of [7, 2^63]."""
    found = np.asarray(listed)
    if found.dtype.kind == "f" and all(isinstance(one, Integral) for one in listed):
        try:
            return np.array([int(one) for one in listed], dtype=np.uint64)
        except OverflowError:  # some are negative
            pass
    return found


def observed_classes(y: NDArray[Any]) -> NDArray[Any]:
    """The labels that occur. Errors: InvalidRecords, which quotes none of them. Shape (classes,)."""
    if any(text_of(label) in ("", "inf", "-inf") for label in y):
        raise InvalidRecords("a label is missing or infinite; every record needs a label")
    if any(map(is_moment, y)):
        raise InvalidRecords("y holds dates or times; give labels as texts, or as numbers")
    if len(kinds := kinds_of(y)) > 1 or "bytes" in kinds:
        raise InvalidRecords("y holds bytes, or labels of several kinds; texts, numbers or truth values are needed")
    return np.unique(y)


def check_kind(y: NDArray[Any], known: NDArray[Any]) -> None:
    """That labels y, shape (records,), are of the kind of the public classes known, shape (classes,).

    Errors: InvalidRecords, also for floats of a width at which two of the classes are one number.
    """
    (due,) = kinds_of(known)
    if found := sorted(kinds_of(y) - {due}):
        more = renumbered(known) if found == ["numbers"] else ""
        raise InvalidRecords(f"y holds {' and '.join(found)}, classes lists {due}: give both as the same kind{more}")
    if y.dtype.kind == "f" and due == "numbers" and not _tells_apart(y.dtype, known):
        raise InvalidRecords(
            f"y holds numbers of type {y.dtype}, which rounds different public classes to one: give both as whole "
            "numbers of one type, or as texts; a list with one float in it is one of floats"
        )


def _tells_apart(kind: np.dtype[Any], known: NDArray[Any]) -> bool:
    """Whether the classes are different floats of a kind."""
    try:
        with np.errstate(over="ignore"):
            return len(np.unique(known.astype(kind))) == len(known)
    except OverflowError:  # whole numbers beyond all floats
        return False


def renumbered(known: NDArray[Any]) -> str:
    """What to do instead where scikit-learn hands on numbers for labels; "" where the public classes are such numbers.

    They are then no sign of it. To give such numbers is no way out: scikit-learn's encoder numbers numbers anew.

    known: shape (classes,).
    """
    if known.dtype.kind in "iuf" and np.array_equal(known, np.arange(len(known))):
        return ""
    return (
        "; scikit-learn's VotingClassifier, StackingClassifier, BaggingClassifier and cross_val_predict number the "
        "labels that occur anew, numbers too, so that one record of a rare class renames all others: fit each "
        "estimator on the labels themselves, with public classes, and combine the fitted ones' predict_proba by hand; "
        "for folds cross_val_score (docs/choosing.md, Before fit)"
    )


def kinds_of(labels: Any) -> set[str]:
    """ "texts", "numbers", "truth values" or the names of other types; missing values have none."""
    kind = _KINDS.get(getattr(getattr(labels, "dtype", None), "kind", ""))
    if kind is not None:
        return {kind}
    return {_kind(one) for one in labels if not is_absent(one)}


def _kind(label: Any) -> str:
    if isinstance(label, bool | np.bool_):
        return "truth values"
    if isinstance(label, str):
        return "texts"
    if isinstance(label, bytes):
        return "bytes"
    return "numbers" if isinstance(label, Real | np.number) else type(label).__name__
