"""Splits for scikit-learn in which every record's part follows from the record alone.

    scores = cross_val_score(model, X, y, cv=KFoldByRecord(5))
    X_train, X_test, y_train, y_test = train_test_split_by_record(X, y, test_size=0.2)

Under add-remove a certificate is about the records that `fit` gets. `train_test_split`, `KFold` and `StratifiedKFold`
follow the number, order or labels of all records: one that is added or removed moves others, a shuffle moves hundreds,
and each of them is one more that changes in what `fit` gets. Here no other record moves.

The price: sizes are random, about their shares, and few records can leave a fold empty; records that are equal are in
one part, and classes have shares as they fall. Scores on the held-out records are without noise, as everywhere.

A number is the same whether its column is read as numbers, truth values or texts (refdp/io/cells.py); dates and complex
numbers are refused. Assumed is what no split can see: that who read the records gave each cell a value that follows
from the cell alone. pandas does not where numbers are written with a decimal comma or marks of thousands
(`decimal=","`, `thousands=","`): one text in the column leaves all of them texts, which are no numbers here. Read such
a column with `dtype=str`. Nor is a float16 the number that its text is.

Under replace-one use `KFold` or `train_test_split` without strata, with a fixed random_state: a position is public
there, while a replaced record could here move to another part, and leave a training set with one record less.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import _safe_indexing, check_consistent_length

from refdp.checks import check_count, check_number
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.io.cells import is_missing, is_moment, meaning, shortest, text_of, value_of
from refdp.io.frames import check_held, check_here, unmasked
from refdp.io.identities import canonical

Cells = NDArray[np.uint64]
_REFUSED = "mMcV"
"""Kinds of numpy's types whose cells say something else beside other ones: dates, complex numbers, fields."""
_WHAT = "a split: dates, times or complex numbers are in a table; give them as texts, or as numbers"


class KFoldByRecord(BaseCrossValidator):  # type: ignore[misc]
    """A cross-validator of scikit-learn, in the place of `KFold` and `StratifiedKFold`, for add-remove neighbours.

    n_splits: how many folds, at least 2. key: bytes that the folds follow besides the records; drawn anew for every
    object if None, and then the same in all its splits. It is chosen without a look at the records; as long as it is
    secret nobody can choose a record's fold. A split within a split needs another key than the one around it.
    """

    __metadata_request__split: ClassVar = {"groups": True}  # where scikit-learn routes metadata, as to its GroupKFold

    def __init__(self, n_splits: int = 5, *, key: bytes | None = None) -> None:
        """Errors: InvalidParameter."""
        check_count("n_splits", n_splits, least=2)
        self.n_splits, self._key = n_splits, _checked(key)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Positions of the training and of the held-out records, fold by fold.

        X, y: arrays, lists, sparse matrices or data frames of as many rows; masked entries are missing values. groups:
        whom each record belongs to; a fold then follows from the name alone, so that all records of one person are in
        one (refdp/io/identities.py).
        Errors: InvalidRecords for tables of different lengths, rows of different lengths, dates, complex numbers, or
        names that are missing.
        """
        place = _fractions((X,) if y is None else (X, y), groups, self._key, "folds")
        fold = (place * self.n_splits).astype(np.intp)
        for number in range(self.n_splits):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds there are, whatever the records are."""
        return self.n_splits

    def __repr__(self) -> str:
        """Without the key."""
        return f"KFoldByRecord(n_splits={self.n_splits})"


def train_test_split_by_record(
    *arrays: Any, test_size: float = 0.25, key: bytes | None = None, groups: Any = None
) -> list[Any]:
    """Each table's training and test rows, as `sklearn.model_selection.train_test_split` returns them.

    arrays: tables of as many rows; a record is its row of all of them. test_size: the chance of a record to be held
    out. key, groups: as in `KFoldByRecord`; the same key gives the same parts.
    Errors: InvalidParameter; InvalidRecords as `KFoldByRecord.split`.
    """
    if not arrays:
        raise InvalidParameter("train_test_split_by_record: at least one table is needed")
    check_number("test_size", test_size, above=0, below=1)
    held_out = _fractions(arrays, groups, _checked(key), "held out") < test_size
    parts = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    return [_safe_indexing(table, part) for table in arrays for part in parts]


def _checked(key: Any) -> bytes:
    if key is None:
        return secrets.token_bytes(32)
    if not isinstance(key, bytes) or not key:
        raise InvalidParameter("key: bytes are allowed, or None")  # what was given may be secret
    return key


def _fractions(tables: tuple[Any, ...], groups: Any, key: bytes, purpose: str) -> NDArray[np.float64]:
    """A number in [0, 1) for each record, evenly spread: keyed BLAKE2b over what it holds, or over its group."""
    check_here(*tables, groups)
    names = None if groups is None else canonical(groups, "groups")
    _check_lengths(*tables, names)
    keyed = hashlib.blake2b(key, person=purpose.encode()).digest()
    rows = _rows(tables) if names is None else [meaning(one).encode(errors="surrogatepass") for one in names]
    drawn = b"".join(hashlib.blake2b(row, key=keyed, digest_size=8).digest() for row in rows)
    return np.asarray((np.frombuffer(drawn, "<u8") >> np.uint64(11)) * 2.0**-53)


def _check_lengths(*tables: Any) -> None:
    for table in tables:
        check_held(table)
    try:
        check_consistent_length(*tables)
        return
    except (TypeError, ValueError):
        pass
    raise InvalidRecords("a split: tables and groups of as many rows are needed")


def _rows(tables: tuple[Any, ...]) -> list[bytes]:
    """What each record holds, whatever type the others give its columns."""
    return [b"".join(parts) for parts in zip(*map(_cells_of_rows, tables), strict=True)]


def _cells_of_rows(table: Any) -> list[bytes]:
    return _sparse(table) if issparse(table) else _dense(table)


def _dense(table: Any) -> list[bytes]:
    if not hasattr(table, "dtypes") and hasattr(table, "to_pandas"):  # a table of Arrow
        table = table.to_pandas()
    if hasattr(table, "columns"):
        names = table.columns
        columns = [table.iloc[:, i] if hasattr(table, "iloc") else table[names[i]] for i in range(len(names))]
    else:
        array = _array(unmasked(table))
        columns = [array] if array.ndim == 1 else list(array.T)
    if not columns:
        raise InvalidRecords("a split: a table without columns says nothing of its records")
    cells = np.column_stack([_cells(column) for column in columns])
    return [row.tobytes() for row in cells]


def _array(table: Any) -> NDArray[Any]:
    """Shape (rows,) or (rows, columns). Errors: InvalidRecords for rows of different lengths, or of more dimensions.

    numpy would make one cell of each row if a single one is longer.
    """
    if isinstance(table, list | tuple):
        for row in table:
            _check_kind(row)
    try:
        array = np.asarray(table) if hasattr(table, "dtype") else np.asarray(table, dtype=object)
    except ValueError:  # rows that are arrays of different shapes
        array = np.empty((0, 0, 0))
    rows = array if array.ndim == 1 and array.dtype.kind == "O" else ()
    if array.ndim not in (1, 2) or any(np.iterable(row) and not isinstance(row, str | bytes) for row in rows):
        raise InvalidRecords("a split: tables have rows, and as many columns in each or one value a row")
    return array


def _check_kind(values: Any) -> None:
    if getattr(getattr(values, "dtype", None), "kind", "-") in _REFUSED and np.ndim(values):
        raise InvalidRecords(_WHAT)


def _sparse(table: Any) -> list[bytes]:
    """Places and values of what is not zero."""
    _check_kind(table)
    matrix = csr_matrix(table, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    ends, places, cells = matrix.indptr, matrix.indices.astype("<i8"), _bits(matrix.data)
    return [places[a:b].tobytes() + cells[a:b].tobytes() for a, b in pairwise(ends)]


def _cells(column: Any) -> Cells:
    """Numbers as the bits of float64, whatever they are written as; other texts as a hash; missing values as NaN.

    Errors: InvalidRecords for dates and times, which readers make of texts only where all of a column are some, and for
    complex numbers, which all others of an array are beside one.
    """
    values = np.asarray(column)
    _check_kind(values)
    if values.dtype.kind in "fiub":
        return _bits(values.astype(np.float64))
    cells = [_cell(value) for value in np.asarray(column, dtype=object)]
    bits = _bits(np.array([0.0 if isinstance(cell, int) else cell for cell in cells]))
    written = np.array([cell if isinstance(cell, int) else 0 for cell in cells], dtype="<u8")
    return np.asarray(bits + written)  # of which one is 0 in each


def _cell(value: Any) -> float | int:
    """A number, or the hash of a text."""
    if is_moment(value):
        raise InvalidRecords(_WHAT)
    if isinstance(value, np.floating):
        return float(value)
    if is_missing(text := text_of(value)):
        return np.nan
    if (found := value_of(text)) is not None:
        return found
    written = text.strip().encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest(), "little")


def _bits(numbers: NDArray[np.float64]) -> Cells:
    """One NaN, and no negative zero."""
    return np.where(np.isnan(numbers), np.nan, shortest(numbers) + 0.0).astype("<f8").view("<u8")
