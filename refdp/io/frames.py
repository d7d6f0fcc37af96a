"""Tables of scikit-learn's users, arrays and data frames, as float64 features with a public description.

A category becomes its index in the public list; whatever is missing or not in the list becomes NaN. What a cell means
does not depend on the type of its column (refdp/io/cells.py), which may follow from other records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from refdp.data.records import Categorical, Feature, Floats, as_float
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.io.cells import codes, is_moment, numbers
from refdp.io.cells import text_of as text_of
from refdp.io.domains import MIXED, given_domains, is_mixed, observed_domain
from refdp.io.tables import Table

Bounds = Mapping[Any, Sequence[Any]]
_DASK = ("dask", "dask_expr")
_QUERIES = ("bigframes", "duckdb", "ibis", "pyspark", "snowflake", "vaex")
"""Packages, besides Dask, whose tables are computed when they are read."""
_TEXTS = "OUST"
"""Kinds of numpy's types whose cells are objects or texts."""


_MOMENTS = "mM"
"""Kinds of dates, times and spans of it."""


_NO_NUMBER = "a numeric column holds what is no number; bounds list categories"
_NO_MOMENTS = "an array of dates or times; features are numbers, and bounds list categories"


def check_bounds(bounds: Any) -> Bounds:
    """The bounds, none for None. Errors: InvalidParameter for what is no mapping."""
    if bounds is None:
        return {}
    if not isinstance(bounds, Mapping):
        given = f"a {type(bounds).__name__}" if hasattr(bounds, "__array__") else repr(bounds)
        raise InvalidParameter(f"bounds = {given}: {{column: (low, high) or [category, ...]}} is allowed")
    return bounds


def checked(frame: Any, bounds: Bounds) -> Any:
    """The frame itself, or any other table as a 2-d array: of numbers, or of objects if a column has categories.

    Masked entries of an array are missing values. Errors: InvalidRecords for a repeated column or what is no table.
    """
    check_held(frame)
    if isinstance(frame, str | bytes | Mapping | Set | Iterator) and not issparse(frame):  # some of those are mappings
        raise InvalidRecords(f"a {type(frame).__name__} is no table; an array or a data frame is needed")
    frame = read_once(frame)
    if _is_frame(frame):
        column_names(frame)
        if len({isinstance(name, str) for name in frame.columns}) > 1:
            raise InvalidRecords("some columns are called by texts and others are not; names of one kind are needed")
        return frame
    if any(not _is_range(values) for values in bounds.values()):
        return _array(frame, object)
    if isinstance(frame, list | tuple) or _kind(frame) in _TEXTS:
        cells = _array(frame, object)
        frame = _numeric(cells, list(range(cells.shape[1])))
    return _array(frame, np.float64)


def read_once(table: Any) -> Any:
    """A data frame of a table of Arrow, or of another that makes one: each read might be of other records."""
    return table.to_pandas() if not _is_frame(table) and hasattr(table, "to_pandas") else table


def check_held(table: Any) -> None:
    """That a table's records are there. Errors: InvalidRecords for a query that is still to be run, as of polars."""
    if hasattr(table, "collect") and not hasattr(table, "__len__"):
        raise InvalidRecords(f"a {type(table).__name__} holds no records yet; give what its collect() returns")


def is_dasks(table: Any) -> bool:
    """Whether a table, or a column, is a collection of Dask's own. Nothing is imported for it."""
    return _package(type(table)) in _DASK


def computed_by(table: Any) -> str:
    """The package that computes a table or column whenever it is read, of a class derived from its own too; empty for
    what is in memory."""
    own = next((_package(kind) for kind in type(table).__mro__ if _package(kind) in (*_DASK, *_QUERIES)), "")
    follows = hasattr(type(table), "__dask_graph__") and table.__dask_graph__() is not None
    return own or "dask" * follows


def check_here(*tables: Any) -> None:
    """That tables and columns are in memory. Dask's, and queries, would be computed anew for each of them and for every
    column, and where that gives other rows, as of a table that is drawn or sorted anew, one record would be in several.

    Errors: InvalidRecords.
    """
    for table in tables:
        if package := computed_by(table):
            raise InvalidRecords(
                f"a {type(table).__name__} of {package} where what is in memory is needed: compute one frame "
                "that has all columns, once, and take the table, its labels and what else there is a record from that"
            )


def _package(kind: type) -> str:
    return kind.__module__.split(".")[0]


def column_names(frame: Any) -> list[str]:
    """Names of a data frame's columns; x0, x1, ... for an array. Errors: InvalidRecords for a repeated one."""
    names = [str(name) for name in frame.columns] if _is_frame(frame) else _numbered(frame.shape[1])
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
    if len(given) < len(bounds):
        called = [_name(key, frame) for key in bounds]
        twice = next(name for name in called if called.count(name) > 1)
        raise InvalidParameter(f"bounds of {twice!r} are given twice, by name and by position or number")
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
        x[:, numeric] = _array(_numeric(frame, numeric), np.float64)
    for i, feature in enumerate(features):
        if isinstance(feature, Categorical):
            x[:, i] = codes(_column(frame, i), feature.categories)
    return x


def check_same_columns(frame: Any, names: Sequence[str]) -> None:
    """That a data frame has the columns that a model was fitted on, in their order; scikit-learn looks at texts alone.

    A model of an array has positions for names. Errors: InvalidRecords.
    """
    if not _is_frame(frame):
        return
    given, fitted = column_names(frame), list(names)
    if fitted == _numbered(len(fitted)):  # an array's
        here = [str(position) for position in range(len(given))]
        wrong = given != here and sorted(given) == sorted(here)
    else:
        wrong = given != fitted
    if wrong:
        raise InvalidRecords(
            "the columns of X are not those that the model was fitted on, in the same order: give X[[...]] of "
            f"{', '.join(fitted[:5])}{', ...' * (len(fitted) > 5)}"
        )


def _array(table: Any, kind: Any) -> NDArray[Any]:
    """The table as a 2-d array. Errors: as `unquoted`."""
    table = unmasked(table)
    if any(_kind(one) in _MOMENTS for one in (table, *(table if isinstance(table, list | tuple) else ()))):
        raise InvalidRecords(_NO_MOMENTS)
    return np.asarray(unquoted(check_array, table, dtype=kind, ensure_all_finite=False, ensure_min_samples=0))


def unmasked(table: Any) -> Any:
    """The table with NaN for masked entries, also where it is a list of arrays."""
    if isinstance(table, np.ma.MaskedArray):
        return np.ma.filled(table.astype(object), np.nan)
    if isinstance(table, list | tuple) and any(isinstance(one, np.ma.MaskedArray) for one in table):
        return [unmasked(one) for one in table]
    return table


def unquoted(check: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """What scikit-learn's check gives. Errors: InvalidRecords; what scikit-learn says would quote values.

    options: of the check, and `otherwise`, what is said then. TypeError for a cell that is neither number nor text, as
    scikit-learn has it; it names the type alone.
    """
    otherwise = options.pop("otherwise", _NO_NUMBER)
    try:
        return check(*given, **options)
    except (TypeError, ValueError, OverflowError, np.exceptions.DTypePromotionError) as error:
        lines = str(error).splitlines() or [""]
        if isinstance(error, TypeError) and lines[0].startswith("float() argument must be"):
            raise
    # Of kind or shape; later lines show values.
    if lines[0].startswith(("Complex", "Expected", "Found", "Sparse", "np.matrix", "y should")):
        raise InvalidRecords(" ".join(dict.fromkeys((lines[0], lines[-1] if "Reshape" in lines[-1] else lines[0]))))
    raise InvalidRecords(otherwise)


def labels(y: Any) -> NDArray[Any]:
    """One label a record. Errors: InvalidRecords for another shape, or a masked label."""
    if np.ma.is_masked(y):
        raise InvalidRecords("a label is missing; every record needs one")
    return np.asarray(unquoted(column_or_1d, y, warn=True, otherwise="y: one label a record is needed"))


def real_numbers(y: Any) -> Floats | None:
    """Labels as float64, None for what is no real number: what Python says of it would quote it. Shape (rows,)."""
    try:
        given = np.asarray(y)
        return None if given.dtype.kind in "cmM" else np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _kind(table: Any) -> str:
    """The kind of an array's type, as numpy has it; "-" for anything else."""
    return str(getattr(getattr(table, "dtype", None), "kind", "-"))


def _is_frame(table: Any) -> bool:
    """Whether columns have names; of a table of Arrow `columns` are the values."""
    return hasattr(table, "columns") and hasattr(table, "dtypes")


def _numbered(count: int) -> list[str]:
    return [f"x{i}" for i in range(count)]


def _name(key: Any, frame: Any) -> str:
    """A data frame's columns may be called by numbers; an array's have positions."""
    position = isinstance(key, int | np.integer) and not _is_frame(frame)
    return f"x{key}" if position else str(key)


def _lost(stranger: str, frame: Any, names: Sequence[str]) -> str:
    """Advice where a transformer in between has dropped or changed the names of the columns."""
    if not _is_frame(frame):
        return (
            ". An array has no names: after a ColumnTransformer or another transformer keep those of the data frame by "
            "its .set_output(transform='pandas'), or give bounds by position"
        )
    if any(name.endswith(f"__{stranger}") for name in names):
        return ". A ColumnTransformer with verbose_feature_names_out=False keeps the names as they were"
    return ""


def _column(frame: Any, position: int) -> NDArray[Any]:
    if _is_frame(frame):
        return np.asarray(frame[frame.columns[position]], dtype=object)
    return np.asarray(frame[:, position])


def _numeric(frame: Any, positions: list[int]) -> Any:
    """Numeric columns; in those of objects or texts NaN for what is missing, and numbers for their texts.

    Errors: InvalidRecords for dates and times, whose unit follows from all records of a column.
    """
    if not hasattr(frame, "iloc"):
        columns = [_column(frame, position) for position in positions]
        return np.column_stack([numbers(one) if one.dtype.kind in _TEXTS else one for one in columns])
    part = frame.iloc[:, positions].copy(deep=False)
    for position, kind in enumerate(part.dtypes):
        if kind.kind in _MOMENTS:
            raise InvalidRecords(_NO_MOMENTS)
        if kind.kind in _TEXTS:
            part.isetitem(position, numbers(part.iloc[:, position]))
        elif hasattr(kind, "fill_value"):  # sparse: of a frame that is so throughout scikit-learn makes a scipy matrix
            part.isetitem(position, np.asarray(part.iloc[:, position]))
    return part


def _is_range(values: Any) -> bool:
    """Two numbers are a range; anything else is a list of categories."""
    pair = hasattr(values, "__len__") and len(values) == 2
    return pair and all(isinstance(v, Real | Decimal) and not isinstance(v, bool) for v in values)


def _plain(name: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes | Mapping | Set) or not hasattr(values, "__len__"):
        raise InvalidParameter(f"bounds of {name!r}: {values!r} given, (low, high) or a list of categories is allowed")
    if _is_range(values):
        return [as_float(v) for v in values]
    if any(map(_is_no_category, values)):
        raise InvalidParameter(f"bounds of {name!r}: categories are texts, numbers or truth values")
    if is_mixed(values):
        raise InvalidParameter(f"bounds of {name!r}: {list(values)!r} are {MIXED}")
    return [text_of(v) for v in values]


def _is_no_category(value: Any) -> bool:
    listed = np.iterable(value) and not isinstance(value, str | bytes)
    return listed or is_moment(value) or isinstance(value, complex | np.complexfloating)


def _observed(frame: Any, position: int, name: str) -> Feature:
    column = _column(frame, position)
    values = column if column.dtype.kind in "fiub" else np.array([text_of(v) for v in column], dtype=object)
    return observed_domain(Table("the data", {name: values}), name, False)[0]
