"""By which names the parts of mappings, tables and lists of rows are known, whatever their places are.

The name of a mapping's value is its key. That of a row are its texts, dates and members of enumerations, or the whole
number in front where it has none; that of a cell of a table of pandas its labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from enum import Enum
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

TEXTS = (str, bytes, Enum, date, time, timedelta, UUID, np.datetime64, np.timedelta64)
"""What names a row wherever it stands there."""
ROWS = 4_000
"""Of more rows of one list or table none has a name."""
LONGEST = 200
"""Characters of a text that may be a name."""
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
DECIMALS = re.compile(r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?")


class Named(str):
    """The name of a part in a path, and what it is known by besides."""

    __slots__ = ("key",)
    key: str

    def __new__(cls, name: str, key: str) -> Named:
        """Both; no key is an empty one."""
        made = super().__new__(cls, name)
        made.key = key
        return made


def key_name(key: Any) -> str:
    """The text that a key or label is known by; an empty one if it has none that is the same in all runs."""
    if isinstance(key, tuple) or type(key) is list:
        return f"({', '.join(map(key_name, key))})"
    if isinstance(key, set | frozenset):
        return f"{{{', '.join(sorted(map(key_name, key)))}}}"
    if isinstance(key, np.generic) and not isinstance(key, str | bytes | float | complex | np.void):
        return str(key)
    if isinstance(key, Enum):
        return f"{type(key).__name__}.{key.name}"
    for kind in (str, bytes, int, float):
        if isinstance(key, kind):
            return kind.__repr__(key) if not isinstance(key, int) or key.bit_length() < LONGEST else ""
    try:
        told = repr(key)
    except Exception:  # foreign code
        return ""
    return "" if ADDRESS.search(told) or len(told) > LONGEST else told


def of_rows(rows: Any) -> list[str]:
    """Names of the rows of a list, of a tuple or of an array, one for each; none where these have no names."""
    if isinstance(rows, np.ndarray):
        return whole_names(rows[:, 0]) if rows.ndim == 2 and rows.shape[1] > 1 and _is_long(rows) else []
    if type(rows) not in (list, tuple) or not 2 <= len(rows) <= ROWS:
        return []
    cells = [_cells(row) for row in rows]
    if not all(cells):
        return []
    named = [[key_name(cell) for cell in row if _is_text(cell)] for row in cells]
    if all(0 < len(texts) < len(row) for texts, row in zip(named, cells)):
        return _told_apart(named, [row[0] for row in cells])
    if any(named) or len(cells) < max(map(len, cells)):
        return []
    return whole_names([row[0] for row in cells])


def of_columns(parts: Iterable[Any]) -> list[str]:
    """Names of rows whose cells are in these parts, lists of one length; none where these have no names."""
    columns = [part for part in parts if _is_column(part)]
    if len(columns) < 2 or len({len(one) for one in columns}) > 1 or not 2 <= len(columns[0]) <= ROWS:
        return []
    texts = [column for column in columns if all(map(_is_text, column))]
    if texts and len(texts) < len(columns):
        return _told_apart([[key_name(cell) for cell in row] for row in zip(*texts)], columns[0])
    return [] if texts else whole_names(columns[0])


def of_table(table: Any) -> list[str]:
    """Names of the rows of a table or column of pandas; none where labels are places, and nothing else tells rows."""
    if not 2 <= len(table) <= ROWS:
        return []
    labels = list(table.index)
    if not all(isinstance(one, int | np.integer) for one in labels):
        return list(map(key_name, labels))
    columns = [_of_pandas(table.iloc[:, place]) for place in range(len(table.columns))] if _is_wide(table) else []
    texts = [column for column in columns if all(map(_is_text, column))]
    if texts or labels == list(range(len(labels))):
        return of_columns(columns)
    return list(map(key_name, labels))


def whole_names(numbers: Sequence[Any] | NDArray[Any]) -> list[str]:
    """Names of rows that begin with these, if they are whole numbers, no two the same, and no places."""
    if not len(numbers) or len(numbers) > ROWS or not all(map(_is_whole, numbers)):
        return []
    found = [int(one) for one in numbers]
    return [] if len(set(found)) < len(found) or found == list(range(len(found))) else list(map(str, found))


def parts_in(thing: Any) -> Iterable[Any]:
    """What may be columns of a table: values of a mapping, or of few lists, fields of an array of records."""
    if isinstance(thing, np.ndarray) and thing.ndim == 1 and thing.dtype.names:
        return [thing[name] for name in thing.dtype.names]
    if isinstance(thing, np.ndarray) and thing.ndim == 2 and not thing.dtype.hasobject:
        return () if _is_long(thing) else list(thing)
    if isinstance(thing, dict):
        return list(dict.values(thing))
    return thing if type(thing) in (list, tuple) and 2 <= len(thing) <= LONGEST else ()


def _told_apart(named: Sequence[Sequence[str]], front: Sequence[Any] | NDArray[Any]) -> list[str]:
    """The first text of each row if these differ; otherwise all, and whole numbers in front."""
    first = [texts[0] for texts in named]
    if len(set(first)) == len(first):
        return first
    wholes = [str(int(one)) for one in front] if all(map(_is_whole, front)) else [""] * len(named)
    return [" ".join([whole, *texts]) for whole, texts in zip(wholes, named)]


def _cells(row: Any) -> list[Any]:
    """Of a row; none of what is none."""
    if isinstance(row, tuple) or type(row) is list:
        return list(row) if len(row) > 1 else []
    if isinstance(row, Mapping):
        return list(dict.values(row)) if isinstance(row, dict) and len(row) > 1 else []
    return list(row.tolist()) if isinstance(row, np.ndarray) and row.ndim == 1 and row.size > 1 else []


def _of_pandas(column: Any) -> Any:
    return column.to_numpy() if isinstance(column.dtype, np.dtype) else list(column)


def _is_wide(table: Any) -> bool:
    return hasattr(table, "columns")


def _is_long(array: NDArray[Any]) -> bool:
    """Whether an array of two dimensions has rows, rather than columns, that lie one below another."""
    return bool(array.shape[0] >= array.shape[1])


def _is_column(part: Any) -> bool:
    return type(part) in (list, tuple) or (isinstance(part, np.ndarray) and part.ndim == 1)


def _is_text(cell: Any) -> bool:
    if isinstance(cell, str):
        return len(cell) <= LONGEST and not DECIMALS.fullmatch(cell)
    return isinstance(cell, TEXTS)


def _is_whole(cell: Any) -> bool:
    if isinstance(cell, bool | np.bool_):
        return False
    if isinstance(cell, float | np.floating):
        return bool(np.isfinite(cell)) and float(cell).is_integer()
    if isinstance(cell, str):
        return cell.isdecimal() and len(cell) < LONGEST
    return isinstance(cell, int | np.integer) and not isinstance(cell, np.timedelta64)
