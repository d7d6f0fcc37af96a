"""Stated public figures that give something away, or promise little. No record is read, so a warning is free."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from refdp.privacy.events import Relation


def doubts(params: Any, rows: int) -> Iterator[str]:
    """What is wrong with a stated number of records, as sentences.

    params: of any paper. Under replace-one the number of records is public; under add-remove an exact one, in a model's
    settings, tells whether a record was there.
    """
    step = int(10 ** (len(str(rows)) - 2))
    if params.relation is Relation.ADD_REMOVE and rows % max(step, 1):
        yield (
            f"rows = {rows} is more exact than two digits, settings that a model shows follow from it, and under "
            f"add-remove the number of records is private: state a round public one, {rows // step * step} say"
        )
    delta = getattr(params, "delta", 0.0)
    if delta > 1 / rows:
        yield (
            f"delta = {delta:g} is more than 1 / rows = {1 / rows:g}: a program that publishes every record with the "
            "chance delta keeps that promise too; state a delta well below 1 / rows"
        )
