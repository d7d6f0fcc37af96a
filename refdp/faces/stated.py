"""Stated public figures that give something away, or promise little. No record is read, so a warning is free."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from refdp.privacy.events import Relation


def rounded(rows: int) -> int:
    """A number of records, down to two digits."""
    step: int = 10 ** max(len(str(rows)) - 2, 0)
    return rows // step * step


def doubts(params: Any, rows: int) -> Iterator[str]:
    """What is wrong with a stated number of records, as sentences.

    params: of any paper. Under replace-one the number of records is public; under add-remove an exact one, in a model's
    settings, tells whether a record was there.
    """
    if params.relation is Relation.ADD_REMOVE and rows != rounded(rows):
        yield (
            f"rows = {rows} is more exact than two digits, settings that a model shows follow from it, and under "
            f"add-remove the number of records is private: state a round public one, {rounded(rows)} say"
        )
    yield from doubts_of_delta(getattr(params, "delta", 0.0), rows)


def doubts_of_delta(delta: float, rows: int) -> Iterator[str]:
    """What is wrong with a delta among so many records, as sentences."""
    if delta >= 1 / rows:
        yield (
            f"delta = {delta:g} is no less than 1 / rows = {1 / rows:g}: a program that publishes every record with "
            "the chance delta keeps that promise too; state a delta well below 1 / rows"
        )
