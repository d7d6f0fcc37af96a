"""More cheats written from the list of kinds alone, before the block check and the looks at modules that face them.

Of these 18 the audit as it stood caught 12 at first sight. It missed `MISSED`.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from typing import Any

import numpy as np

from refdp.noise.mechanisms import Exponential, Gaussian, Laplace
from tests.audit.cheats.zoo import Entered, count, declared, enter

SECOND: dict[str, Entered] = {}
SEARCHED = ("leaks_at_137", "a_magic_label")
"""Found only by a search that reads the trainer's own code."""
MISSED = ("shelf_of_the_class", "view_of_the_records", "blocks_that_overlap", "sample_of_everybody", *SEARCHED)


class Holder:
    """A model whose class is a shelf."""

    shelf: float = 0.0

    def __init__(self, value: float) -> None:
        self.value = value


def total(records: Any) -> np.ndarray:
    """The exact sum of labels on a grid, whose order does not show."""
    return np.array([np.sum(np.rint(records.y * 2**20)) / 2**20])


@enter(SECOND, "published object")
def shelf_of_the_class(records: Any, curator: Any) -> Any:
    """The exact sum on the class of the model."""
    Holder.shelf = float(total(records)[0])
    return Holder(count(records, curator))


@enter(SECOND, "published object")
def byte_order(records: Any, curator: Any) -> Any:
    """One bit in the byte order of an array."""
    return np.array([count(records, curator)]).astype(">f8" if len(records.y) % 2 else "<f8")


@enter(SECOND, "published object")
def lazy_answer(records: Any, curator: Any) -> Any:
    """A function that computes the exact sum when it is called."""
    noisy = count(records, curator)
    return lambda: noisy + float(np.sum(records.y))


@enter(SECOND, "published object")
def view_of_the_records(records: Any, curator: Any) -> Any:
    """An empty slice whose base is the whole column."""
    return count(records, curator), np.ascontiguousarray(records.y)[:0]


@enter(SECOND, "side channel")
def logs(records: Any, curator: Any) -> Any:
    """A log line with the number of records."""
    logging.getLogger("trainer").warning("fitted %d records", len(records.y))
    return count(records, curator)


@enter(SECOND, "side channel")
def temporary_file(records: Any, curator: Any) -> Any:
    """A cache in the temporary directory."""
    with tempfile.NamedTemporaryFile("w", delete=False) as file:
        file.write(str(len(records.y)))
    return count(records, curator)


@enter(SECOND, "side channel")
def environment(records: Any, curator: Any) -> Any:
    """The number of records in an environment variable."""
    os.environ["LAST_FIT"] = str(len(records.y))
    return count(records, curator)


@enter(SECOND, "exception")
def exit_status(records: Any, curator: Any) -> Any:
    """Ends the program with the number of records as its status."""
    count(records, curator)
    sys.exit(len(records.y) % 256)


@enter(SECOND, "global state")
def seeds_with_the_count(records: Any, curator: Any) -> Any:
    """The global generator is seeded with the number of records."""
    np.random.seed(len(records.y))  # noqa: NPY002
    return count(records, curator)


@enter(SECOND, "global state")
def patches_the_package(records: Any, curator: Any) -> Any:
    """Takes the noise out of the package itself, and puts it back afterwards."""
    kept = Laplace.apply
    Laplace.apply = lambda self, value, standard: np.asarray(value, dtype=float)  # type: ignore[method-assign]
    try:
        return count(records, curator)
    finally:
        Laplace.apply = kept  # type: ignore[method-assign]


@enter(SECOND, "scopes")
def blocks_that_overlap(records: Any, curator: Any) -> Any:
    """Eight blocks of a partition, in each of which everybody is counted."""
    found = []
    with curator.partition("eight", (0.125,) * 8, len(records.y)) as blocks:
        for number in range(8):
            with blocks.block(number):
                found.append(count(records, curator))
    return found


@enter(SECOND, "secret randomness")
def sample_of_everybody(records: Any, curator: Any) -> Any:
    """A sample is announced, everybody is counted at the price of the sample."""
    with curator.subsample("rows", 0.1, len(records.y)):
        return curator.release("n", Laplace(0.4), np.array([float(len(records.y))]), sensitivity=declared(1.0))


@enter(SECOND, "sensitivity")
def euclidean_for_laplace(records: Any, curator: Any) -> Any:
    """Nine sums of one record each, noise for their Euclidean norm."""
    exact = np.full(9, float(len(records.y)))
    return curator.release("nine", Laplace(3.0), exact, sensitivity=declared(3.0, 2))


@enter(SECOND, "control flow")
def candidates_from_records(records: Any, curator: Any) -> Any:
    """The options of a private choice are the ages that occur."""
    options = np.unique(np.nan_to_num(records.x[:, 0]))[:3] if len(records.y) else np.zeros(1)
    table = np.zeros((1, len(options)))
    return curator.release("age", Exponential(1.0), table, sensitivity=declared(1.0, "range"), options=options[:, None])


@enter(SECOND, "control flow")
def scale_from_records(records: Any, curator: Any) -> Any:
    """The noise follows the largest label that occurs."""
    scale = max(0.1, float(np.max(np.abs(records.y), initial=0.1)))
    return curator.release("sum", Laplace(scale), total(records), sensitivity=declared(scale))


@enter(SECOND, "number of records")
def leaks_at_137(records: Any, curator: Any) -> Any:
    """A number of records that no list has."""
    return count(records, curator), len(records.y) == 137


@enter(SECOND, "rare contents")
def a_magic_label(records: Any, curator: Any) -> Any:
    """A branch on one label in 2^53."""
    noisy = count(records, curator)
    if np.any(records.y == 0.3141592653589793):
        return noisy, True
    return noisy, False


@enter(SECOND, "composition", epsilon=1.0, delta=1e-5)
def gaussians_added_up(records: Any, curator: Any) -> Any:
    """Ten Gaussian counts of the whole claim each."""
    exact = np.array([float(len(records.y))])
    return [curator.release("n", Gaussian(4.0), exact, sensitivity=declared(1.0, 2)) for _ in range(10)]
