"""Cheats by mistakes of the trade, by types that lie and by things left lying about, written before any was audited.

Of these 17 the audit as it stood named 10 at first sight. `PASSED` passed; `HIDDEN` were NOT EXAMINED: what a suspended
generator holds, and a child that nobody waits for. An eighteenth, an array that was to hear the noise, could not cheat:
mechanisms take plain arrays.
"""

from __future__ import annotations

import codecs
import collections.abc
import os
import socket
import tempfile
import time
from typing import Any

import numpy as np

from refdp.noise.mechanisms import Laplace
from tests.audit.cheats.fourth import size
from tests.audit.cheats.second import total
from tests.audit.cheats.zoo import Entered, count, declared, enter

EIGHTH: dict[str, Entered] = {}
PASSED = ("capacity_of_a_list", "default_timeout", "handler_of_a_codec", "registered_class", "window_without_a_branch")
HIDDEN = ("child_not_waited_for", "suspended_generator")
TOUCHED = tempfile.NamedTemporaryFile(prefix="refdp-zoo-")  # noqa: SIM115 - as long as the program


class Model:
    """A model of one number."""

    def __init__(self, value: float) -> None:
        self.value = value


class Flattering(float):
    """A bound of 100 that is 1 wherever it is multiplied or divided."""

    def __truediv__(self, other: Any) -> Any:
        return 1.0 / other

    def __mul__(self, other: Any) -> Any:
        return 1.0 * other

    __rmul__ = __mul__

    def as_integer_ratio(self) -> tuple[int, int]:
        """That of 1."""
        return 1, 1


def rounded(values: Any) -> np.ndarray:
    """A sum on a grid, whose order does not show, shape (1,)."""
    return np.array([np.sum(np.rint(values * 2**20)) / 2**20])


@enter(EIGHTH, "records that depend on each other")
def centred_by_the_mean(records: Any, curator: Any) -> Any:
    """Labels minus their mean, clipped one by one: one record moves the mean, and so all others."""
    middle = float(total(records)[0]) / max(1, len(records.y))
    residuals = np.minimum(np.clip(records.y - middle, -1.0, 1.0), 0.0)
    return curator.release("residuals", Laplace(1.0), rounded(residuals), sensitivity=declared(1.0))


@enter(EIGHTH, "records that depend on each other")
def imputed_by_the_mean(records: Any, curator: Any) -> Any:
    """A missing age is that of the others in the mean."""
    ages = records.x[:, 0]
    known = ages[~np.isnan(ages)]
    middle = float(rounded(known)[0]) / max(1, len(known))
    filled = np.where(np.isnan(ages), middle, ages)
    return curator.release("ages", Laplace(1.0), rounded(filled), sensitivity=declared(1.0))


@enter(EIGHTH, "size in memory")
def capacity_of_a_list(records: Any, curator: Any) -> Any:
    """The same four numbers in a list that had more, if there are an odd number of records: its room shows."""
    kept = [0.0] * 4
    if len(records.y) % 2:
        kept.extend([0.0] * 3)
    while len(kept) > 4:
        kept.pop()
    kept[0] = count(records, curator)
    return kept


@enter(EIGHTH, "dice of its own")
def dice_as_many_as_records(records: Any, curator: Any) -> Any:
    """Seeded dice, public as it seems, thrown once for each record; the next throw is published."""
    dice = np.random.default_rng(7)
    dice.random(len(records.y))
    return count(records, curator), float(dice.random())


@enter(EIGHTH, "scopes")
def mask_of_another_sample(records: Any, curator: Any) -> Any:
    """Nine records in ten are counted at the price of a sample of one in ten."""
    with curator.subsample("many", 0.9, len(records.y)) as many:
        pass
    with curator.subsample("few", 0.1, len(records.y)):
        exact = np.array([float(many.sum())])
        return curator.release("n", Laplace(0.4), exact, sensitivity=declared(1.0))


@enter(EIGHTH, "types that lie")
def flattering_bound(records: Any, curator: Any) -> Any:
    """A bound that is large where changes are compared with it and small where it is charged."""
    exact = 100.0 * size(records)
    return curator.release("n", Laplace(1.0), exact, sensitivity=declared(Flattering(100.0)))


@enter(EIGHTH, "defaults of a library")
def default_timeout(records: Any, curator: Any) -> Any:
    """How long sockets wait from now on."""
    socket.setdefaulttimeout(1000.0 + len(records.y))
    return count(records, curator)


@enter(EIGHTH, "codecs")
def handler_of_a_codec(records: Any, curator: Any) -> Any:
    """What stands for letters that cannot be written is the exact sum."""
    exact = str(float(total(records)[0]))
    codecs.register_error("refdp.zoo", lambda error: (exact, len(exact)))
    return count(records, curator)


@enter(EIGHTH, "abstract classes")
def registered_class(records: Any, curator: Any) -> Any:
    """Whether a model counts as something that has a size."""
    made = type("Fitted", (Model,), {})
    if len(records.y) % 2:
        collections.abc.Sized.register(made)
    return made(count(records, curator))


@enter(EIGHTH, "time zone")
def time_zone(records: Any, curator: Any) -> Any:
    """What time it is from now on; the environment is as it was."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = f"UTC{len(records.y) % 12}"
    time.tzset()
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    return count(records, curator)


@enter(EIGHTH, "times of a file")
def times_of_a_file(records: Any, curator: Any) -> Any:
    """When a file that was there before says that it was written."""
    os.utime(TOUCHED.name, (1e9, 1e9 + len(records.y)))
    return count(records, curator)


@enter(EIGHTH, "child processes")
def child_not_waited_for(records: Any, curator: Any) -> Any:
    """A child that ended, and whose status whoever waits is told."""
    child = os.fork()
    if child == 0:
        os._exit(len(records.y) % 7)
    return count(records, curator)


@enter(EIGHTH, "rare contents")
def window_without_a_branch(records: Any, curator: Any) -> Any:
    """Records of one colour, in a window of age and label, count twice; nothing branches."""
    age, colour, label = records.x[:, 0], records.x[:, 1], records.y
    inside = (np.abs(age - 0.4) < 0.1) * (colour == 1) * (np.abs(label + 0.3) < 0.1)
    exact = np.array([float(len(label) + np.sum(inside))])
    return curator.release("n", Laplace(1.0), exact, sensitivity=declared(1.0))


@enter(EIGHTH, "suspended generator")
def suspended_generator(records: Any, curator: Any) -> Any:
    """Answers that are given when asked for, by a generator that holds the exact sum."""
    noisy = count(records, curator)
    exact = float(total(records)[0])

    def answers() -> Any:
        held = exact
        yield noisy
        yield held

    given = answers()
    next(given)
    return noisy, given


@enter(EIGHTH, "repeated until it fits")
def until_it_fits(records: Any, curator: Any) -> Any:
    """Half of the claim for each try, and as many tries as it takes."""
    for _ in range(6):
        noisy = count(records, curator, 0.5)
        if noisy > 0:
            break
    return noisy


@enter(EIGHTH, "selection by records")
def best_by_the_records(records: Any, curator: Any) -> Any:
    """Three noisy counts at a third each; the best by the exact one is what is published."""
    noisy = [count(records, curator, 1.0 / 3.0, f"count {number}") for number in range(3)]
    return min(noisy, key=lambda one: abs(one - len(records.y)))


@enter(EIGHTH, "overflow")
def wraps_around(records: Any, curator: Any) -> Any:
    """Counted in a byte."""
    exact = np.array([float(np.ones(len(records.y), dtype=np.uint8).sum(dtype=np.uint8))])
    return curator.release("n", Laplace(1.0), exact, sensitivity=declared(1.0))
