"""Data frames in partitions as records: each partition alone, by the public schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refdp.data.records import Classes, Floats, Records, Schema, make_records
from refdp.errors import InvalidRecords
from refdp.io import frames

LABEL = "label of refdp"
"""Name of the column of labels in a partition."""


@dataclass(frozen=True)
class Loader:
    """Records of a pandas frame with the schema's features in order, and the labels under `LABEL`."""

    schema: Schema

    def __call__(self, part: Any) -> Records:
        """Errors: InvalidRecords as in memory; a frame without rows is no error."""
        schema = self.schema
        if len(part) == 0:
            return Records(schema, np.empty((0, len(schema.features)), order="F"), np.empty(0))
        x = frames.encode(part[list(schema.names)], schema.features)
        return make_records(schema, x, labels(part[LABEL], schema))


def labels(column: Any, schema: Schema) -> Floats:
    """Labels as numbers, a class as its position. Errors: InvalidRecords, naming no record."""
    if isinstance(schema.target, Classes):
        place = {name: float(index) for index, name in enumerate(schema.target.values)}
        found = np.array([place.get(frames.text_of(one), np.nan) for one in column])
        if np.isnan(found).any():
            known = ", ".join(schema.target.values)
            raise InvalidRecords(f"a label is missing or not in the public classes {known}; every record needs one of "
                                 "them")  # fmt: skip
        return found
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidRecords("a label is no number; every record needs a finite label") from None
