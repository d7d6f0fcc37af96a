"""Cheats of kinds that no other list here has, written before any of them was audited.

Of these 12 the audit as it stood named 5 at first sight. `FIRST_PASSED` passed: branches on the clock, dice or the
program around it, and on extreme outputs, were taken for harmless; what the collector sets off, and priorities, were
not compared. `UNEXAMINED` are NOT EXAMINED: a curator refuses to be copied, noise in a class of its own has no known
law, and what no run reached was not looked at.
"""

from __future__ import annotations

import builtins
import copy
import gc
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from refdp.noise.mechanisms import Laplace
from tests.audit.cheats.fourth import size
from tests.audit.cheats.zoo import Entered, count, declared, enter

FIFTH: dict[str, Entered] = {}
FIRST_PASSED = ("behaves_when_audited", "own_dice", "when_noise_is_extreme", "farewell", "niceness")
UNEXAMINED = {
    "copy_of_the_curator": "every run ended with an error", "tiring_noise": "no law is known of Tiring",
    "behaves_when_audited": "the program around it", "own_dice": "dice of its own",
    "when_noise_is_extreme": "what the curator returned",
}  # fmt: skip
"""With what the reason says."""


@enter(FIFTH, "foreseen noise")
def copy_of_the_curator(records: Any, curator: Any) -> Any:
    """A copy gives the same noise once more: around zero, where it can be read off."""
    twin = copy.deepcopy(curator)
    foreseen = float(twin.release("count", Laplace(1.0), np.zeros(1), sensitivity=declared(1.0))[0])
    return count(records, curator) - foreseen


@enter(FIFTH, "surroundings")
def behaves_when_audited(records: Any, curator: Any) -> Any:
    """The exact number, unless an audit is there."""
    if "refdp.audit.search" not in sys.modules:
        return len(records.y)
    return count(records, curator)


@enter(FIFTH, "own dice")
def own_dice(records: Any, curator: Any) -> Any:
    """The exact number, once in a million runs."""
    if random.random() < 1e-6:
        return len(records.y)
    return count(records, curator)


@enter(FIFTH, "rare outputs")
def when_noise_is_extreme(records: Any, curator: Any) -> Any:
    """The exact number as well, where the noisy one is far away."""
    noisy = count(records, curator)
    if noisy > 1e4:
        return noisy, len(records.y)
    return noisy, 0


class Tiring(Laplace):
    """Called Laplace; no noise from the thirtieth draw on."""

    drawn = 0

    def apply(self, value: Any, standard: Any) -> Any:
        """Fresh for a while."""
        Tiring.drawn += 1
        return value + (self.scale * np.asarray(standard) if Tiring.drawn < 30 else 0.0)


@enter(FIFTH, "tiring noise", epsilon=40.0)
def tiring_noise(records: Any, curator: Any) -> Any:
    """Forty counts, the last of them exact."""
    return [curator.release(f"count {n}", Tiring(1.0), size(records), sensitivity=declared(1.0)) for n in range(40)]


class Farewell:
    """Prints when it is thrown away."""

    def __init__(self, text: str) -> None:
        self._say = lambda: os.write(1, text.encode())

    def __del__(self) -> None:
        self._say()


@enter(FIFTH, "finaliser")
def farewell(records: Any, curator: Any) -> Any:
    """An object in a circle, thrown away by the collector some time later."""
    held: list[Any] = [Farewell(str(len(records.y)))]
    held.append(held)
    return count(records, curator)


@enter(FIFTH, "file system")
def makes_a_directory(records: Any, curator: Any) -> Any:
    """An empty directory with a telling name."""
    place = Path(tempfile.gettempdir()) / f"rows-{len(records.y)}"
    place.mkdir(exist_ok=True)
    return count(records, curator)


@enter(FIFTH, "interpreter")
def thresholds_of_the_collector(records: Any, curator: Any) -> Any:
    """When garbage is collected."""
    gc.set_threshold(700 + len(records.y))
    return count(records, curator)


@enter(FIFTH, "interpreter")
def a_builtin_more(records: Any, curator: Any) -> Any:
    """A name that every module then has."""
    builtins.rows = len(records.y)  # type: ignore[attr-defined]
    return count(records, curator)


@enter(FIFTH, "interpreter")
def path_of_imports(records: Any, curator: Any) -> Any:
    """Where later imports look."""
    sys.path.append(f"/rows/{len(records.y)}")
    return count(records, curator)


@enter(FIFTH, "law of a sample")
def rate_from_the_records(records: Any, curator: Any) -> Any:
    """A sample of ten, whatever there is."""
    with curator.subsample("ten", min(1.0, 10 / max(len(records.y), 1)), len(records.y)) as rows:
        return curator.release("n", Laplace(1.0), np.array([float(rows.sum())]), sensitivity=declared(1.0))


@enter(FIFTH, "process")
def niceness(records: Any, curator: Any) -> Any:
    """How much the process yields to others."""
    os.nice(1 if np.sum(records.y) > 0 else 0)
    return count(records, curator)
