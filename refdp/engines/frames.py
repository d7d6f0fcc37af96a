"""Data frames in partitions as records: each partition alone, by the public schema; neighbours together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from refdp.data.records import Classes, Floats, Records, Schema, make_records
from refdp.errors import InvalidRecords
from refdp.io import frames
from refdp.io.cells import codes, places

LABEL = "label of refdp"
"""Name of the column of labels in a partition."""


@dataclass(frozen=True)
class Loader:
    """Records of a pandas frame with the schema's features in order, and the labels under `LABEL`.

    exact: whether a label is a class of the same text, as estimators have it, or one of the same meaning, as files do.
    """

    schema: Schema
    exact: bool = False

    def __call__(self, part: Any) -> Records:
        """Errors: InvalidRecords as in memory; a frame without rows is no error."""
        schema = self.schema
        if len(part) == 0:
            return Records(schema, np.empty((0, len(schema.features)), order="F"), np.empty(0))
        x = frames.encode(part[list(schema.names)], schema.features)
        return make_records(schema, x, labels(part[LABEL], schema, self.exact))


def labels(column: Any, schema: Schema, exact: bool = False) -> Floats:
    """Labels as numbers, a class as its position; `exact` as of `Loader`.

    Errors: InvalidRecords, naming no record. Shape (rows,).
    """
    if isinstance(schema.target, Classes):
        found = (places if exact else codes)(column, schema.target.values)
        if np.isnan(found).any():
            known = ", ".join(schema.target.values)
            raise InvalidRecords(f"a label is missing or not in the public classes {known}; every record needs one of "
                                 "them")  # fmt: skip
        return found
    numbers = frames.real_numbers(column)
    if numbers is None:
        raise InvalidRecords("a label is no number; every record needs a finite label")
    return numbers


def labelled(part: Any, column: Any) -> Any:
    """A partition of a pandas frame with its labels under `LABEL`, by their order; as it is where their index differs.

    An error here would be one of a computation, whose text nobody is told: who loads the partition sees that there are
    none.
    """
    if len(part) != len(column) or not (len(part) == 0 or part.index.equals(column.index)):
        return part
    return part.assign(**{LABEL: column.array})


# --- Neighbouring partitions ---


def runs(places: Mapping[int, tuple[int, int]]) -> list[tuple[int, ...]]:
    """Partitions whose slots follow one another, as tuples. places: first slot and number of records of each.

    One shard of them sums once where each alone would: a table of bins has the same size, however few its records.
    """
    found: list[list[int]] = []
    end = -1
    for number in sorted(places, key=lambda one: (places[one][0], one)):
        start, size = places[number]
        if start != end:
            found.append([])
        found[-1].append(number)
        end = start + size
    return [tuple(run) for run in found]


def joined(parts: list[Records]) -> Records:
    """One after the other; `parts` is emptied, so that little is held twice."""
    if len(parts) == 1:
        return parts.pop()
    first, rows, clamped = parts[0], sum(part.size for part in parts), sum(part.clamped for part in parts)
    x, y = np.empty((rows, first.x.shape[1]), order="F"), np.empty(rows)
    while parts:
        part = parts.pop()
        x[rows - part.size : rows], y[rows - part.size : rows] = part.x, part.y
        rows -= part.size
    return Records(first.schema, x, y, clamped)
