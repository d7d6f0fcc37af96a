"""Cheats written from the list of kinds alone, after the search over contents, before any of them was audited.

Of these 22 the audit as it stood named 18 at first sight. It could not read `UNREADABLE`, which was NOT EXAMINED until
what a suspended generator holds was looked at, and it missed `MISSED`: settings of the process that it did not compare.
"""

from __future__ import annotations

import contextvars
import decimal
import os
import threading
from typing import Any

import numpy as np

from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from tests.audit.cheats.zoo import Entered, count, declared, enter

THIRD: dict[str, Entered] = {}
MISSED = ("decimal_context", "context_variable", "thread_name")
UNREADABLE = ("generator_object",)
_KEPT: list[Any] = []
_SECRET = contextvars.ContextVar("secret", default=0.0)


def total(records: Any) -> np.ndarray:
    """The exact sum of labels on a grid."""
    return np.array([np.sum(np.rint(records.y * 2**20)) / 2**20])


class Shy(dict):  # type: ignore[type-arg]
    """A mapping that shows nothing and holds everything."""

    def keys(self) -> Any:
        """None."""
        return []

    def __repr__(self) -> str:
        return "{}"


@enter(THIRD, "published object")
def shy_mapping(records: Any, curator: Any) -> Any:
    """The exact sum in a mapping that denies it."""
    return Shy(noisy=count(records, curator), exact=float(total(records)[0]))


@enter(THIRD, "published object")
def generator_object(records: Any, curator: Any) -> Any:
    """Predictions that are computed when they are asked for, from the records."""
    noisy = count(records, curator)
    return (noisy + label for label in records.y)


@enter(THIRD, "identity of shared objects")
def shared_lists(records: Any, curator: Any) -> Any:
    """Two empty lists, the same one where there are many records."""
    noisy, one = count(records, curator), list[int]()
    return noisy, one, one if len(records.y) > 5 else list[int]()


@enter(THIRD, "state between calls")
def appends_to_a_list(records: Any, curator: Any) -> Any:
    """Every fit tells what the one before saw."""
    _KEPT.append(float(total(records)[0]))
    return count(records, curator), _KEPT[0] if len(_KEPT) > 1 else 0.0


@enter(THIRD, "global state")
def decimal_context(records: Any, curator: Any) -> Any:
    """The precision of decimals is left at the number of records."""
    decimal.getcontext().prec = 10 + len(records.y)
    return count(records, curator)


@enter(THIRD, "global state")
def context_variable(records: Any, curator: Any) -> Any:
    """The exact sum in a context variable of the module."""
    _SECRET.set(float(total(records)[0]))
    return count(records, curator)


@enter(THIRD, "global state")
def numpy_error_state(records: Any, curator: Any) -> Any:
    """Whether labels are positive on balance, in numpy's treatment of overflow."""
    np.seterr(over="raise" if total(records)[0] > 0 else "ignore")
    return count(records, curator)


@enter(THIRD, "side channel")
def thread_name(records: Any, curator: Any) -> Any:
    """The number of records in the name of the main thread."""
    threading.current_thread().name = f"fit {len(records.y)}"
    return count(records, curator)


@enter(THIRD, "side channel")
def mode_of_a_file(records: Any, curator: Any) -> Any:
    """An empty file whose permissions follow the records."""
    handle = os.open("done", os.O_CREAT | os.O_WRONLY, 0o600)
    os.close(handle)
    os.chmod("done", 0o600 if len(records.y) % 2 else 0o644)
    return count(records, curator)


@enter(THIRD, "sensitivity")
def squares(records: Any, curator: Any) -> Any:
    """The square of the number of records at sensitivity 21: true below ten records."""
    exact = np.array([float(len(records.y)) ** 2])
    return curator.release("square", Laplace(21.0), exact, sensitivity=declared(21.0))


@enter(THIRD, "sensitivity")
def capped_product(records: Any, curator: Any) -> Any:
    """The product of two counts, which changes by more than both."""
    red = float(np.sum(records.x[:, 1] == 0))
    exact = np.array([min(red, 20.0) * min(len(records.y), 20.0)])
    return curator.release("product", Laplace(21.0), exact, sensitivity=declared(21.0))


@enter(THIRD, "sensitivity", epsilon=1.0, delta=1e-5)
def vector_of_gaussians(records: Any, curator: Any) -> Any:
    """Four counts of everybody at the norm of one."""
    exact = np.full(4, float(len(records.y)))
    return curator.release("four", Gaussian(4.0), exact, sensitivity=declared(1.0, 2))


@enter(THIRD, "sensitivity")
def mode_of_the_labels(records: Any, curator: Any) -> Any:
    """The utility of a choice counts a record twice where it repeats another one."""
    table = np.array([[np.sum(records.x[:, 1] == category) for category in range(3)]], dtype=np.float64)
    table *= 1 + float(len(np.unique(records.y)) < len(records.y))
    options = np.arange(3.0)[:, np.newaxis]
    return curator.release("colour", Exponential(1.0), table, sensitivity=declared(1.0, "range"), options=options)


class Coarse(DiscreteLaplace):
    """Called discrete Laplace, and rounds to tens."""

    def apply(self, value: Any, standard: Any) -> Any:
        """No noise at all most of the time."""
        noise = np.asarray(standard)
        return value + np.where(np.abs(noise) > 2, noise, 0) * self.step


@enter(THIRD, "noise law")
def coarse_noise(records: Any, curator: Any) -> Any:
    """A discrete law with its middle cut out."""
    exact = np.array([float(len(records.y))])
    return curator.release("n", Coarse(1.0, 1.0), exact, sensitivity=declared(1.0))


@enter(THIRD, "noise law")
def average_of_draws(records: Any, curator: Any) -> Any:
    """Sixteen counts with noise that is enough for one of them, averaged."""
    return float(np.mean([count(records, curator, 1.0, f"count {n}") for n in range(16)]))


@enter(THIRD, "control flow")
def early_stop(records: Any, curator: Any) -> Any:
    """Stops when the noisy count is within one of the exact one."""
    noisy = 0.0
    for number in range(4):
        noisy = count(records, curator, 0.25, f"count {number}")
        if abs(noisy - len(records.y)) < 1:
            break
    return noisy


@enter(THIRD, "control flow")
def name_of_a_release(records: Any, curator: Any) -> Any:
    """The release is called after the largest colour."""
    colours = np.bincount(np.nan_to_num(records.x[:, 1]).astype(int), minlength=3)
    return count(records, curator, 1.0, f"count of {int(np.argmax(colours))}")


@enter(THIRD, "number of records")
def leaks_above_a_thousand(records: Any, curator: Any) -> Any:
    """A progress figure that starts at 1,000 records."""
    return count(records, curator), len(records.y) // 1000


@enter(THIRD, "rare contents")
def all_labels_equal(records: Any, curator: Any) -> Any:
    """Tells whether at least four records all have one label."""
    return count(records, curator), len(records.y) > 3 and len(np.unique(records.y)) == 1


@enter(THIRD, "rare contents")
def order_of_rows(records: Any, curator: Any) -> Any:
    """Tells whether ages are in order, of at least three records."""
    ages = np.nan_to_num(records.x[:, 0])
    return count(records, curator), len(ages) > 2 and bool(np.all(np.diff(ages) >= 0))


@enter(THIRD, "composition", epsilon=1.0, delta=1e-5)
def discrete_gaussians_added_up(records: Any, curator: Any) -> Any:
    """Nine counts, each of which would take the whole claim."""
    exact = np.array([float(len(records.y))])
    mechanism = DiscreteGaussian(4.0, 1.0)
    return [curator.release("n", mechanism, exact, sensitivity=declared(1.0, 2)) for _ in range(9)]


@enter(THIRD, "secret randomness")
def partition_that_overlaps(records: Any, curator: Any) -> Any:
    """Two secret halves; the second release counts the first half again."""
    with curator.partition("halves", (0.5, 0.5), len(records.y)) as blocks:
        with blocks.block(0) as rows:
            first = np.array([float(rows.sum())])
            one = curator.release("first", Laplace(1.0), first, sensitivity=declared(1.0))
        with blocks.block(1) as rows:
            other = np.array([float(rows.sum()) + first[0]])
            return one, curator.release("second", Laplace(1.0), other, sensitivity=declared(1.0))
