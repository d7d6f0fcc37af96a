"""Tables of scikit-learn's users, arrays and data frames, as float64 features with a public description.

A category becomes its index in the public list; whatever is missing or not in the list becomes NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from refdp.data.records import Categorical, Feature, Floats
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.io.domains import given_domains, observed_domain
from refdp.io.tables import Table

Bounds = Mapping[Any, Sequence[Any]]


def checked(frame: Any, bounds: Bounds) -> Any:
    """The frame itself, or any other table as a 2-d array: of numbers, or of objects if a column has categories.

    Errors: InvalidParameter for bounds that are no mapping, InvalidRecords for a repeated column or what is no table.
    """
    if not isinstance(bounds, Mapping):
        raise InvalidParameter(f"bounds = {bounds!r}: {{column: (low, high) or [category, ...]}} is allowed")
    if hasattr(frame, "columns"):
        column_names(frame)
        return frame
    kind = object if any(not _is_range(values) for values in bounds.values()) else np.float64
    return _array(frame, kind)


def column_names(frame: Any) -> list[str]:
    """Names of a data frame's columns; x0, x1, ... for an array. Errors: InvalidRecords for a repeated one."""
    names = [str(name) for name in frame.columns] if hasattr(frame, "columns") else _numbered(frame.shape[1])
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InvalidRecords(f"column {repeated!r} occurs more than once")
    return names


def describe(frame: Any, bounds: Bounds) -> tuple[tuple[Feature, ...], list[str]]:
    """The features in column order, and the names of those whose bounds or categories had to be read off the records.

    Errors: InvalidParameter for bounds of a column that is not there, or bounds that are no bounds.
    """
    names = column_names(frame)
    given = {_name(key, frame): values for key, values in bounds.items()}
    stranger = next((name for name in given if name not in names), None)
    if stranger is not None:
        there = f"there is no such column; there are {', '.join(names)}"
        raise InvalidParameter(f"bounds of {stranger!r}: {there}{_lost(stranger, frame, names)}")
    known = given_domains({name: _plain(name, values) for name, values in given.items()})
    observed = [name for name in names if name not in known]
    features = [known[name][0] if name in known else _observed(frame, i, name) for i, name in enumerate(names)]
    return tuple(features), observed


def encode(frame: Any, features: Sequence[Feature]) -> Floats:
    """float64 features of shape (rows, columns). Errors: InvalidRecords for what is no number in a numeric column."""
    numeric = [i for i, feature in enumerate(features) if not isinstance(feature, Categorical)]
    x = np.empty((len(frame), len(features)))
    if numeric:
        part = frame.iloc[:, numeric] if hasattr(frame, "iloc") else _columns(frame, numeric)
        x[:, numeric] = _array(part, np.float64)
    for i, feature in enumerate(features):
        if isinstance(feature, Categorical):
            index = {category: float(code) for code, category in enumerate(feature.categories)}
            x[:, i] = [index.get(text, np.nan) for text in _texts(_column(frame, i))]
    return x


def text_of(value: Any) -> str:
    """The name of a category or class: whole numbers without a decimal point, missing values as the empty text."""
    if value is None or type(value).__name__ == "NAType" or value != value:
        return ""
    return str(int(value)) if isinstance(value, float | np.floating) and float(value).is_integer() else str(value)


def _array(table: Any, kind: Any) -> NDArray[Any]:
    """The table as a 2-d array. Errors: as `unquoted`."""
    return np.asarray(unquoted(check_array, table, dtype=kind, ensure_all_finite=False, ensure_min_samples=0))


def unquoted(check: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """What scikit-learn's check gives. Errors: InvalidRecords; what scikit-learn says would quote values."""
    try:
        return check(*given, **options)
    except (ValueError, OverflowError, np.exceptions.DTypePromotionError) as error:
        lines = str(error).splitlines()
    if lines[0].startswith(("Complex", "Expected", "Found", "y should")):  # of kind or shape; later lines show values
        raise InvalidRecords(" ".join(dict.fromkeys((lines[0], lines[-1] if "Reshape" in lines[-1] else lines[0]))))
    raise InvalidRecords("a numeric column holds what is no number; bounds list categories")


def labels(y: Any) -> NDArray[Any]:
    """One label a record. Errors: InvalidRecords for another shape."""
    return np.asarray(unquoted(column_or_1d, y, warn=True))


def _texts(column: Any) -> list[str]:
    return [text_of(value) for value in column]


def _numbered(count: int) -> list[str]:
    return [f"x{i}" for i in range(count)]


def _name(key: Any, frame: Any) -> str:
    """A data frame's columns may be called by numbers; an array's have positions."""
    position = isinstance(key, int | np.integer) and not hasattr(frame, "columns")
    return f"x{key}" if position else str(key)


def _lost(stranger: str, frame: Any, names: Sequence[str]) -> str:
    """Advice where a transformer in between has dropped or changed the names of the columns."""
    if not hasattr(frame, "columns"):
        return (
            ". An array has no names: after a ColumnTransformer or another transformer keep those of the data frame by "
            "its .set_output(transform='pandas'), or give bounds by position"
        )
    if any(name.endswith(f"__{stranger}") for name in names):
        return ". A ColumnTransformer with verbose_feature_names_out=False keeps the names as they were"
    return ""


def _column(frame: Any, position: int) -> NDArray[Any]:
    if hasattr(frame, "columns"):
        return np.asarray(frame[frame.columns[position]], dtype=object)
    return np.asarray(frame[:, position])


def _columns(frame: Any, positions: list[int]) -> Any:
    return np.column_stack([_column(frame, position) for position in positions])


def _is_range(values: Any) -> bool:
    """Two numbers are a range; anything else is a list of categories."""
    numbers = (int, float, np.integer, np.floating)
    pair = hasattr(values, "__len__") and len(values) == 2
    return pair and all(isinstance(v, numbers) and not isinstance(v, bool) for v in values)


def _plain(name: str, values: Any) -> list[Any]:
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise InvalidParameter(f"bounds of {name!r}: {values!r} given, (low, high) or a list of categories is allowed")
    return [float(v) for v in values] if _is_range(values) else _texts(values)


def _observed(frame: Any, position: int, name: str) -> Feature:
    column = _column(frame, position)
    values = column if column.dtype.kind in "fiub" else np.array(_texts(column), dtype=object)
    return observed_domain(Table("the data", {name: values}), name, False)[0]
