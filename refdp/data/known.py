"""What the records that are in sums now contribute, and the pieces of columns that stay in the cache meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from refdp.data.codes import Index, Mask
from refdp.data.losses import GRID
from refdp.data.population import COUNT, Contribution, Statistics
from refdp.data.records import Floats

_PIECE = 1 << 15
"""Records handled at once: a fresh array of a whole column costs more than the arithmetic in it."""


def statistics(contribution: Contribution, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
    """`Contribution.statistics` piece by piece, which a function of one record each licenses. Shapes as there."""
    if len(score) <= _PIECE:
        return contribution.statistics(score, label, of)
    columns: dict[str, Floats | None] = {}
    taking: Mask | None = None
    for rows in _pieces(len(score)):
        values, mask = contribution.statistics(score[rows], label[rows], of)
        if not rows.start:
            columns = {name: None if one is None else np.empty(len(score)) for name, one in values.items()}
            taking = None if mask is None else np.empty(len(score), dtype=np.bool_)
        assert (mask is None) == (taking is None), "whether records are left out follows from parameters"
        for name, one in values.items():
            if (column := columns[name]) is not None:
                column[rows] = one
        if taking is not None:
            taking[rows] = mask
    return Statistics(columns, taking)


def add_leaves(score: Floats, values: Floats, leaf: NDArray[Any]) -> None:
    """Add the value of each record's leaf to its score. score, leaf: shape (rows,); values: (leaves,)."""
    for rows in _pieces(len(score)):
        score[rows] += values.take(leaf[rows])


def _pieces(rows: int) -> Iterator[slice]:
    return (slice(start, min(start + _PIECE, rows)) for start in range(0, rows, _PIECE))


class Known(NamedTuple):
    """rows: positions, None for all; values: statistics of these rows, with the count where records have weights;
    scope: where they are the selected ones."""

    scope: tuple[tuple[int, int], ...]
    rows: Index | None
    values: Mapping[str, Floats | None]

    def columns(self, of: tuple[str, ...]) -> list[Floats | None]:
        """The statistics of these names, shape (rows,) each; None counts."""
        return [self.values.get(name) if name == COUNT else self.values[name] for name in of]


def toward_zero(values: Floats) -> Floats:
    """On the grid, the magnitude rounded down. Any shape."""
    return np.trunc(values / GRID) * GRID


def used(scope: tuple[tuple[int, int], ...], rows: Index | None, found: Statistics) -> Known:
    """Without the records that take no part."""
    if found.used is None or found.used.all():
        return Known(scope, rows, found.values)
    index = np.flatnonzero(found.used)
    return Known(scope, index if rows is None else rows[index], _taken(found.values, index))


def charged(
    scope: tuple[tuple[int, int], ...], values: Mapping[str, Floats | None], paid: Mask | None, mask: Mask | None
) -> Known:
    """Those that paid, of everyone's statistics, shape (rows,) each."""
    both = paid if mask is None or paid is None else paid & mask
    if both is None or both.all():
        return Known(scope, None, values)
    index = np.flatnonzero(both)
    return Known(scope, index, _taken(values, index))


def _taken(values: Mapping[str, Floats | None], rows: Index) -> dict[str, Floats | None]:
    return {name: None if column is None else column[rows] for name, column in values.items()}
