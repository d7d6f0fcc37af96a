"""What a cell of a table means, whatever type its column was read as.

Who reads a file chooses a column's type by all of its cells: whole numbers are floats beside a missing value and texts
beside one text. So that no record changes what another one means, numbers are compared as numbers wherever they stand,
whole ones below 2^53 exactly and others to 15 digits: 1, 1.0, "1", "01", "1.0" and "1e0" are one category, and truth
values are 1 and 0, as in arrays, and in the texts that pandas reads as them. A number that float32 holds exactly and
that is not whole is the shortest one that float32 reads as it: 0.1 of float32 is 0.1, also where its column became
float64 or texts; of float16 it is another number. Everything else is its text without blanks around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.data.records import Floats
from refdp.errors import InvalidRecords

_NUMBER = re.compile(r"\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e\s*[+-]?[0-9]+)?|inf(inity)?)\s*", re.IGNORECASE | re.ASCII)
_TRUTH = {"true": 1.0, "false": 0.0}
_PLAIN = (str, float, int)
_EXACT = 2.0**53
_LARGEST = float(np.finfo(np.float32).max)
_MOMENTS = (date, time, timedelta, np.datetime64, np.timedelta64)


def number_of(text: str) -> float | None:
    """The number that a text is where columns of numbers are read, infinite beyond all floats; None for none.

    Stricter than float(): no underscores, no digits of other scripts, no NaN.
    """
    if text.isascii() and "_" not in text:
        try:
            number = float(text)
        except ValueError:
            pass
        else:
            return None if number != number else number
    return float("".join(text.split())) if _NUMBER.fullmatch(text) else None


def is_missing(value: object) -> bool:
    """Whether a value is an empty text, blanks or NaN in any spelling: never a category or a class of its own."""
    return str(value).strip().lower() in ("", "nan", "+nan", "-nan")


def is_absent(value: Any) -> bool:
    """None, NaN of any kind, pandas' NA and NaT."""
    if type(value) in _PLAIN:
        return bool(value != value)
    if isinstance(value, Decimal):  # a signalling NaN raises where it is compared
        return value.is_nan()
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
    number = value_of(text)
    if number is None:
        return text.strip()
    return str(int(number)) if number.is_integer() and abs(number) < _EXACT else f"{_shortest(number):.15g}"


def alike(categories: Iterable[str]) -> tuple[str, str] | None:
    """Two different texts among these that are one number; None if there are none."""
    first: dict[str, str] = {}
    for one in categories:
        if value_of(one) is not None and first.setdefault(meaning(one), one) != one:
            return first[meaning(one)], one
    return None


def value_of(text: str) -> float | None:
    """The number that a text is compared as, of truth values 1 and 0; None for none."""
    return _TRUTH.get(text.strip().lower(), number_of(text))


def shortest(numbers: Floats) -> Floats:
    """Each number as it is compared: of float32 the shortest that float32 reads as it. Any shape."""
    found = np.array(numbers, dtype=np.float64)
    with np.errstate(all="ignore"):
        narrow = found.astype(np.float32)
        of_float32 = (narrow == found) & (np.trunc(found) != found)
    found[of_float32] = narrow[of_float32].astype(str).astype(np.float64)
    return found


def _shortest(number: float) -> float:
    if abs(number) > _LARGEST or number.is_integer():
        return number
    narrow = np.float32(number)
    return float(str(narrow)) if float(narrow) == number else number


def is_moment(value: Any) -> bool:
    """Whether a cell is a date, a time or a span of it: readers make them of texts only where all of them are some."""
    return (isinstance(value, _MOMENTS) or type(value).__name__ == "Period") and not is_absent(value)


def places(cells: Iterable[Any], names: Sequence[str]) -> Floats:
    """The place of each cell's very text among the names, NaN where it is none of them. Shape (cells,)."""
    place = {name: float(index) for index, name in enumerate(names)}
    return np.array([place.get(text_of(cell), np.nan) for cell in cells])


def codes(cells: Iterable[Any], categories: Sequence[str]) -> Floats:
    """The place of each cell's category, NaN where missing or not listed. Shape (cells,).

    Blanks around a text do not count, unless a category has them too. Errors: InvalidRecords for dates.
    """
    exact = {category: float(place) for place, category in enumerate(categories)}
    meant = {meaning(category): float(place) for place, category in reversed(list(enumerate(categories)))}
    known: dict[tuple[type, Any], float] = {}
    found = []
    for cell in cells:
        plain = type(cell) in _PLAIN and cell == cell
        key = (type(cell), cell) if plain else (str, "")
        if plain and key in known:
            found.append(known[key])
            continue
        if is_moment(cell):
            raise InvalidRecords("a column with categories holds dates or times; give them as texts, or as numbers")
        text = text_of(cell)
        place = np.nan if text == "" else exact.get(text, meant.get(meaning(text), np.nan))
        if plain:
            known[key] = place
        found.append(place)
    return np.array(found, dtype=np.float64)


def numbers(cells: Iterable[Any]) -> NDArray[np.object_]:
    """Cells of a numeric column of objects, with NaN for what is missing and the numbers of texts.

    What is neither is left to who makes floats of them. Shape (cells,). Errors: InvalidRecords for other texts, dates.
    """
    found = [np.nan if is_absent(cell) else _number(cell) if isinstance(cell, str | bytes) else cell for cell in cells]
    if any(value is None or is_moment(value) for value in found):
        raise InvalidRecords("a numeric column holds what is no number; bounds list categories")
    column = np.empty(len(found), dtype=object)
    column[:] = found
    return column


def _number(cell: str | bytes) -> float | None:
    """NaN for a missing value, as numpy writes it where texts and numbers are in one array."""
    text = text_of(cell)
    number = number_of(text)
    return np.nan if number is None and is_missing(text) else number
