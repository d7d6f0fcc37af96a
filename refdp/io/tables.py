"""Tables of named columns, read from comma-separated files without pandas; one clear error for each fault."""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TypeVar

import numpy as np

from refdp.data.records import Floats
from refdp.errors import InvalidRecords
from refdp.io.cells import codes, is_missing, number_of

Column = Sequence[str] | Floats
Read = TypeVar("Read")
BLOCK = 2**24
"""Bytes of a file that are read as one block; as texts they take ten times as many and more."""
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
            raise absent(self.source, name)
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


def absent(source: str, name: str) -> InvalidRecords:
    """That there is no column of this name. It does not list those that are there: the first line may be a record."""
    return InvalidRecords(f"{source}: no column {name!r}; the first line of a file names its columns")


def read_table(path: Path, *, least: int = 1) -> Table:
    """Read a CSV file in UTF-8 with a header line, compressed by gzip if its name ends in .gz.

    least: so many records are needed, 1 or none.
    Errors: InvalidRecords for a file that cannot be read or has too few records, a repeated name, a record of another
    length; no message has anything of a line in it.
    """
    lines = _read(path, lambda: _whole(path))
    if len(lines) < 1 + least:
        needed = "a header and at least one record are needed" if least else "a header is needed"
        raise InvalidRecords(f"{path}: {len(lines)} lines, {needed}")
    names = _names(str(path), lines.pop(0))
    for row, line in enumerate(lines, 1):
        if len(line) != len(names):
            raise InvalidRecords(f"{path}: record {row} has {len(line)} fields, the header has {len(names)}")
    return _table(str(path), names, lines)


@dataclass(frozen=True)
class Block:
    """The lines of a CSV file that begin in its bytes from start to stop; of a compressed one, all of them.

    A line that ends within quotes is cut where a block ends, and refused. names: of the columns, in the file's order.
    """

    path: Path
    names: tuple[str, ...]
    start: int = 0
    stop: int | None = None

    def table(self) -> Table:
        """Its records; there may be none. Errors: InvalidRecords as `read_table`, naming no record."""
        lines = _read(self.path, lambda: _whole(self.path) if self.stop is None else _rows(self._text(self.stop)))
        if self.start == 0 and lines:
            del lines[0]
        if any(len(line) != len(self.names) for line in lines):
            raise InvalidRecords(f"{self.path}: a record has not the {len(self.names)} fields that the header has")
        return _table(str(self.path), self.names, lines)

    def _text(self, stop: int) -> IO[str]:
        with open(self.path, "rb") as file:
            if self.start > 0:
                file.seek(self.start - 1)
                file.readline()  # of the block before
            data = file.read(max(stop - file.tell(), 0))
            if data and not data.endswith(b"\n"):
                data += file.readline()
        return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8" if self.start else "utf-8-sig", newline="")


def blocks(path: Path, size: int = BLOCK) -> list[Block]:
    """A CSV file in blocks of about so many bytes. Only its first line is read.

    Errors: InvalidRecords for a file that cannot be read or has no header, a repeated name.
    """
    first = _read(path, lambda: _whole(path, 1))
    if not first:
        raise InvalidRecords(f"{path}: 0 lines, a header is needed")
    names = tuple(_names(str(path), first[0]))
    if path.suffix == ".gz":
        return [Block(path, names)]
    end = path.stat().st_size
    return [Block(path, names, start, min(start + size, end)) for start in range(0, end, size)]


def _read(path: Path, reader: Callable[[], Read]) -> Read:
    """What a reader gives. Errors: InvalidRecords in fixed words, since those of decoders quote bytes of records."""
    try:
        return reader()
    except UnicodeDecodeError:
        fault = "it is not in UTF-8"
    except csv.Error as error:
        fault = str(error)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        fault = "it is no whole gzip file"
    except OSError as error:
        fault = error.strerror or "there is no such file"
    raise InvalidRecords(f"{path}: cannot be read as CSV: {fault}")


def _whole(path: Path, count: int | None = None) -> list[list[str]]:
    """The lines of a file, or the first `count` of them."""
    open_text: Callable[..., IO[str]] = gzip.open if path.suffix == ".gz" else open
    with open_text(path, "rt", encoding="utf-8-sig", newline="") as file:
        return _rows(file, count)


def _rows(text: Iterable[str], count: int | None = None) -> list[list[str]]:
    """The lines that are not empty, as fields."""
    lines = (line for line in csv.reader(text, skipinitialspace=True, strict=True) if line)
    return list(islice(lines, count))


def _names(source: str, header: list[str]) -> list[str]:
    """The names of columns. Errors: InvalidRecords, which quotes none: without a header they are a record's values."""
    names = [name.strip() for name in header]
    foreign = next((mark for mark in (";", "\t") if len(names) == 1 and mark in names[0]), None)
    if foreign is not None:
        raise InvalidRecords(f"{source}: fields are separated by commas, and the header has one field with {foreign!r}")
    if len(set(names)) != len(names):
        raise InvalidRecords(f"{source}: a column's name occurs more than once in the first line, the header")
    return names


def _table(source: str, names: Sequence[str], lines: list[list[str]]) -> Table:
    columns = zip(*lines, strict=True) if lines else ((),) * len(names)
    return Table(source, dict(zip(names, columns, strict=True)))
