"""Tables of named columns, read from comma-separated files without pandas; one clear error for each fault."""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from refdp.data.records import Floats
from refdp.errors import InvalidRecords
from refdp.io.cells import codes, is_missing, number_of

Column = Sequence[str] | Floats
MISSING_CODES = ("?", "na", "n/a", "none", "null", "<na>", "#n/a", "missing")
"""What files write for a value that is not there. As a label that nobody listed as a class they are refused."""


@dataclass(frozen=True)
class Table:
    """Columns under their names, of text or of numbers; an empty text and NaN are missing values."""

    source: str
    columns: dict[str, Column]

    def column(self, name: str) -> Column:
        """The column of this name. Errors: InvalidRecords if there is none."""
        if name not in self.columns:
            raise InvalidRecords(f"{self.source}: no column {name!r}; it has {', '.join(self.columns)}")
        return self.columns[name]

    def numbers(self, name: str) -> Floats:
        """A column as numbers, NaN where empty. Shape (rows,). Errors: InvalidRecords for text."""
        column = self.column(name)
        if isinstance(column, np.ndarray):
            return column
        if not all(is_number(text) for text in column if text.strip()):
            raise InvalidRecords(
                f"{self.source}: column {name!r} holds text that is no number; a missing value is empty or NaN, "
                "categories are listed in the bounds"
            )
        return np.array([math.nan if is_missing(text) else number_of(text) for text in column], dtype=np.float64)

    def indices(self, name: str, categories: Sequence[str]) -> Floats:
        """The index of each value in the list of categories, NaN where empty or not in the list.

        Blanks around a value do not count, unless a category has them too; numbers are compared as numbers
        (refdp/io/cells.py).

        Shape (rows,).
        """
        return codes(self.column(name), categories)

    def with_missing(self, token: str) -> Table:
        """The table with empty texts where this token stands for a missing value."""
        if not token:
            return self
        return Table(
            self.source,
            {
                name: column if isinstance(column, np.ndarray) else ["" if text == token else text for text in column]
                for name, column in self.columns.items()
            },
        )

    def without(self, names: Sequence[str]) -> Table:
        """The table less some columns."""
        return Table(self.source, {name: column for name, column in self.columns.items() if name not in names})


def is_number(text: str) -> bool:
    """Whether the text is a number, or NaN in any spelling."""
    return number_of(text) is not None or is_missing(text)


def read_table(path: Path) -> Table:
    """Read a CSV file in UTF-8 with a header line, compressed by gzip if its name ends in .gz.

    Errors: InvalidRecords for a file that cannot be read or has no record, a repeated name, a record of another length.
    """
    open_text: Callable[..., IO[str]] = gzip.open if path.suffix == ".gz" else open
    try:
        with open_text(path, "rt", encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file, skipinitialspace=True, strict=True) if line]
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidRecords(f"{path}: cannot be read as CSV: {error}") from error
    if len(lines) < 2:
        raise InvalidRecords(f"{path}: {len(lines)} lines, a header and at least one record are needed")
    return _checked(str(path), lines)


def _checked(source: str, lines: list[list[str]]) -> Table:
    names = [name.strip() for name in lines.pop(0)]
    foreign = next((mark for mark in (";", "\t") if len(names) == 1 and mark in names[0]), None)
    if foreign is not None:
        raise InvalidRecords(f"{source}: fields are separated by commas, and the header has one field with {foreign!r}")
    if len(set(names)) != len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InvalidRecords(f"{source}: column {repeated!r} occurs more than once")
    for row, line in enumerate(lines, 1):
        if len(line) != len(names):
            raise InvalidRecords(f"{source}: record {row} has {len(line)} fields, the header has {len(names)}")
    return Table(source, dict(zip(names, zip(*lines, strict=True), strict=True)))
