"""Correct trainers that look like cheats, written before any was audited: none may be accused.

Of these 10 the audit as it stood accused one, `options_as_they_come`.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from refdp.noise.mechanisms import Exponential, Laplace
from tests.audit.cheats.fourth import size
from tests.audit.cheats.zoo import Entered, count, declared, enter

SUSPICIOUS: dict[str, Entered] = {}
EDGES = np.linspace(-1.0, 1.0, 9)


@lru_cache(maxsize=8)
def grid(cells: int) -> tuple[float, ...]:
    """Public edges, made once."""
    return tuple(np.linspace(0.0, 1.0, cells))


@enter(SUSPICIOUS)
def options_as_they_come(records: Any, curator: Any) -> Any:
    """The colours in the order of their first record, utilities alike: what is chosen has the same law in any order."""
    table = np.array([np.sum(records.x[:, 1] == category) for category in range(3)], dtype=np.float64)
    order = np.argsort(-table, kind="stable")
    options = np.arange(3.0)[:, np.newaxis][order]
    return curator.release(
        "colour", Exponential(1.0), table[order][np.newaxis], sensitivity=declared(1.0, "range"), options=options
    )


@enter(SUSPICIOUS)
def two_ways_to_one_number(records: Any, curator: Any) -> Any:
    """A branch on records whose sides compute the same count."""
    if np.sum(records.y) > 0:  # noqa: SIM108 - the branch is the point
        exact = float(len(records.y))
    else:
        exact = float(sum(1 for _ in records.y))
    return curator.release("n", Laplace(1.0), np.array([exact]), sensitivity=declared(1.0))


@enter(SUSPICIOUS)
def tells_the_time(records: Any, curator: Any) -> Any:
    """Beside a count, when it was trained and by which process."""
    return {"n": count(records, curator), "at": time.time(), "by": os.getpid()}


@enter(SUSPICIOUS)
def jitter_of_its_own(records: Any, curator: Any) -> Any:
    """A count to which dice nobody can repeat add more noise."""
    return count(records, curator) + float(np.random.default_rng().normal())


@enter(SUSPICIOUS)
def scratch_on_disk(records: Any, curator: Any) -> Any:
    """Labels go to a file without a name and come back."""
    with tempfile.TemporaryFile() as scratch:
        scratch.write(np.sort(records.y).tobytes())
        scratch.seek(0)
        again = np.frombuffer(scratch.read())
    exact = np.array([np.sum(np.rint(again * 2**20)) / 2**20])
    return curator.release("sum", Laplace(1.0), exact, sensitivity=declared(1.0))


@enter(SUSPICIOUS)
def stops_by_what_was_released(records: Any, curator: Any) -> Any:
    """Up to four counts of a quarter each, until one is above ten: only what was released decides."""
    noisy = []
    for number in range(4):
        noisy.append(count(records, curator, 0.25, f"count {number}"))
        if noisy[-1] > 10:
            break
    return noisy


@enter(SUSPICIOUS)
def median_by_ranks(records: Any, curator: Any) -> Any:
    """The exponential mechanism on how far an edge is from having half of the records below: changes of 1/2."""
    below = np.array([np.sum(records.y < edge) for edge in EDGES], dtype=np.float64)
    table = -np.abs(below - len(records.y) / 2.0)[np.newaxis]
    return curator.release(
        "median", Exponential(1.0), table, sensitivity=declared(1.0, "range"), options=EDGES[:, np.newaxis]
    )


@enter(SUSPICIOUS)
def distinct_labels(records: Any, curator: Any) -> Any:
    """How many labels there are: a set, a memory of public edges, and a change of at most 1."""
    exact = float(len({round(float(label), 6) for label in records.y}))
    edges = grid(5)
    return edges, curator.release("labels", Laplace(1.0), np.array([exact]), sensitivity=declared(1.0))


@enter(SUSPICIOUS)
def counted_by_threads(records: Any, curator: Any) -> Any:
    """Two threads count halves; a mean that may not exist warns nobody."""
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(lambda part: float(np.sum(part)), (records.y >= 0, records.y < 0)))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        np.mean(records.y)
    return curator.release("n", Laplace(1.0), np.array([sum(parts)]), sensitivity=declared(1.0))


@enter(SUSPICIOUS)
def at_most_a_hundred(records: Any, curator: Any) -> Any:
    """A count capped before noise; the search sees it stand still."""
    exact = np.minimum(size(records), 100.0)
    return curator.release("n", Laplace(1.0), exact, sensitivity=declared(1.0))
