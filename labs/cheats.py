"""Ways to leak that any correct submission can be given: the autograder has to refuse each of them in every lab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labs.kit import laplace, total

Train = Callable[[Any, Any], Any]


def with_count(train: Train) -> Train:
    """Publishes the number of records beside the result."""
    return lambda records, curator: (train(records, curator), len(records.y))


def with_largest(train: Train) -> Train:
    """Publishes the largest label beside the result."""
    return lambda records, curator: (train(records, curator), float(max(records.y, default=0.0)))


def with_sum(train: Train) -> Train:
    """Publishes an exact sum beside the result, masked by noise of a fixed seed."""
    return lambda records, curator: (
        train(records, curator),
        total(records.y) + float(np.random.default_rng(1).laplace()),
    )


def twice(train: Train) -> Train:
    """Trains twice and publishes both results."""
    return lambda records, curator: (train(records, curator), train(records, curator))


def error_at_the_top(train: Train) -> Train:
    """Stops with an error that quotes the label of a record."""

    def run(records: Any, curator: Any) -> Any:
        if np.any(records.y > 0.5):
            raise ValueError(f"label {max(records.y)} is large")
        return train(records, curator)

    return run


def extra_release(train: Train) -> Train:
    """Has one more release where there are more than three records."""

    def run(records: Any, curator: Any) -> Any:
        found = train(records, curator)
        if len(records.y) > 3:
            laplace(curator, "extra", 0.0, 1.0, 0.01)
        return found

    return run


def first_record(train: Train) -> Train:
    """Publishes whether the mean label is above one half."""
    return lambda records, curator: (train(records, curator), bool(total(records.y) > len(records.y) / 2))


CHEATS: dict[str, Callable[[Train], Train]] = {
    "the number of records beside it": with_count,
    "the largest label beside it": with_largest,
    "an exact sum under noise of a fixed seed": with_sum,
    "trained twice": twice,
    "an error that quotes a label": error_at_the_top,
    "a release more if there are more than three records": extra_release,
    "a comparison of exact numbers beside it": first_record,
}
