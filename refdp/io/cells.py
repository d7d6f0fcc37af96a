"""What a cell of a table means, whatever type its column was read as.

Who reads a file chooses a column's type by all of its cells: whole numbers are floats beside a missing value and texts
beside one text. So that no record changes what another one means, numbers are compared as numbers wherever they stand,
to 15 digits: 1, 1.0, "1", "01", "1.0" and "1e0" are one category, and truth values are 1 and 0, as in arrays, and in
the texts that pandas reads as them. Everything else is its text without blanks around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.data.records import Floats
from refdp.errors import InvalidRecords

_NUMBER = re.compile(r"\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e\s*[+-]?[0-9]+)?|inf(inity)?)\s*", re.IGNORECASE | re.ASCII)
_TRUTH = {"true": 1.0, "false": 0.0}
_MOMENTS = (date, time, timedelta, np.datetime64, np.timedelta64)


def number_of(text: str) -> float | None:
    """The number that a text is where columns of numbers are read, infinite beyond all floats; None for none.

    Stricter than float(): no underscores, no digits of other scripts, no NaN.
    """
    return float("".join(text.split())) if _NUMBER.fullmatch(text) else None


def is_absent(value: Any) -> bool:
    """None, NaN of any kind, pandas' NA and NaT."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or bool(np.ndim(value) == 0 and value != value)
    )


def text_of(value: Any) -> str:
    """The name of a category or class: whole numbers without a decimal point, missing values as the empty text."""
    if is_absent(value):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    try:
        return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    except ValueError:  # Python writes no whole number of thousands of digits
        return str(np.inf if value > 0 else -np.inf)


def meaning(text: str) -> str:
    """What two texts share that are one category."""
    number = _value(text)
    return text.strip() if number is None else f"{number + 0.0:.15g}"


def alike(categories: Iterable[str]) -> tuple[str, str] | None:
    """Two different texts among these that are one number; None if there are none."""
    first: dict[str, str] = {}
    for one in categories:
        if _value(one) is not None and first.setdefault(meaning(one), one) != one:
            return first[meaning(one)], one
    return None


def _value(text: str) -> float | None:
    return _TRUTH.get(text.strip().lower(), number_of(text))


def is_moment(value: Any) -> bool:
    """Whether a cell is a date, a time or a span of it: readers make them of texts only where all of them are some."""
    return isinstance(value, _MOMENTS) and not is_absent(value)


def codes(cells: Iterable[Any], categories: Sequence[str]) -> Floats:
    """The place of each cell's category, NaN where missing or not listed. Shape (cells,).

    Blanks around a text do not count, unless a category has them too. Errors: InvalidRecords for dates.
    """
    exact = {category: float(place) for place, category in enumerate(categories)}
    meant = {meaning(category): float(place) for place, category in reversed(list(enumerate(categories)))}
    known: dict[str, float] = {"": np.nan}
    found = []
    for cell in cells:
        if is_moment(cell):
            raise InvalidRecords("a column with categories holds dates or times; give them as texts, or as numbers")
        text = text_of(cell)
        if text not in known:
            known[text] = exact.get(text, meant.get(meaning(text), np.nan))
        found.append(known[text])
    return np.array(found, dtype=np.float64)


def numbers(cells: Iterable[Any]) -> NDArray[np.object_]:
    """Cells of a numeric column of objects, with NaN for what is missing and the numbers of texts.

    What is neither is left to who makes floats of them. Shape (cells,). Errors: InvalidRecords for other texts, dates.
    """
    found = [
        np.nan if is_absent(cell) else number_of(text_of(cell)) if isinstance(cell, str | bytes) else cell
        for cell in cells
    ]
    if any(value is None or is_moment(value) for value in found):
        raise InvalidRecords("a numeric column holds what is no number; bounds list categories")
    column = np.empty(len(found), dtype=object)
    column[:] = found
    return column
