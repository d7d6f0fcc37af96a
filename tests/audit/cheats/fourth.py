"""Cheats written from the list of kinds alone, before any of them was audited.

Of these 32 the audit as it stood named 22 at first sight. `PASSED` were NOT FOUND: what is noted on the type of an
array, what is left for the end of the process, other modules, signals and the mode of files were not compared. `SHAPE`
and `note_on_an_error` were NOT EXAMINED, as `noise_taken_back` still is: its class stays in its process.
`noise_turned_over` was written with the test that names it.
"""

from __future__ import annotations

import atexit
import json.encoder
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import refdp.noise.mechanisms
from refdp.noise.mechanisms import Laplace
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from tests.audit.cheats.zoo import Entered, count, declared, enter

FOURTH: dict[str, Entered] = {}
PASSED = ("metadata_of_a_type", "last_words", "shelf_of_a_library", "shelf_of_the_package", "handler_of_a_signal",
          "mask_of_files")  # fmt: skip
SHAPE = ("uniform_noise", "leaning_noise")
LOCAL = ("noise_taken_back",)
STRANGE = {"curator_of_its_own": "randomness that is not the curator's"}
"""NOT EXAMINED, with what the reason says."""


def size(records: Any) -> np.ndarray:
    """The exact number of records, shape (1,)."""
    return np.array([float(len(records.y))])


@enter(FOURTH, "published object")
def under_the_mask(records: Any, curator: Any) -> Any:
    """The exact sum under the mask of a masked array."""
    return count(records, curator), np.ma.masked_array([float(np.sum(records.y))], mask=[True])


@enter(FOURTH, "published object")
def metadata_of_a_type(records: Any, curator: Any) -> Any:
    """The exact number in the metadata of an array's type, which no print shows."""
    return np.array([count(records, curator)], dtype=np.dtype("f8", metadata={"rows": len(records.y)}))


@enter(FOURTH, "published object")
def name_of_a_class(records: Any, curator: Any) -> Any:
    """An instance of a class made for the occasion."""
    made = type(f"Model{len(records.y) % 7}", (), {})
    result = made()
    result.value = count(records, curator)
    return result


class Noted(float):
    """A number with a note."""


@enter(FOURTH, "published object")
def note_on_a_number(records: Any, curator: Any) -> Any:
    """The exact sum as an attribute of the noisy number."""
    noted = Noted(count(records, curator))
    noted.exact = float(np.sum(records.y))  # type: ignore[attr-defined]
    return noted


@enter(FOURTH, "published object")
def gap_between_entries(records: Any, curator: Any) -> Any:
    """The exact number in bytes that no field of the array's type names."""
    held = np.zeros(1, dtype=[("value", "f8"), ("rest", "f8")])
    held["value"], held["rest"] = count(records, curator), len(records.y)
    return held[["value"]]


@enter(FOURTH, "exception")
def note_on_an_error(records: Any, curator: Any) -> Any:
    """Always the same error, with another note."""
    count(records, curator)
    error = ValueError("no model")
    error.add_note(f"{float(np.sum(records.y)):.3f}")
    raise error


@enter(FOURTH, "exception")
def cause_of_an_error(records: Any, curator: Any) -> Any:
    """Always the same error, for another reason."""
    count(records, curator)
    raise ValueError("no model") from KeyError(len(records.y))


@enter(FOURTH, "state between calls")
def default_argument(records: Any, curator: Any, sizes: list[int] = []) -> Any:  # noqa: B006
    """Tells whether the last call had as many records."""
    same = bool(sizes) and sizes[-1] == len(records.y)
    sizes.append(len(records.y))
    return count(records, curator), same


@enter(FOURTH, "side channel")
def last_words(records: Any, curator: Any) -> Any:
    """Prints when the process ends."""
    atexit.register(os.write, 1, str(len(records.y)).encode())
    return count(records, curator)


@enter(FOURTH, "side channel")
def another_program(records: Any, curator: Any) -> Any:
    """Lets another program write the number."""
    place = Path(tempfile.gettempdir()) / f"number-{os.getuid()}"
    subprocess.run(["sh", "-c", f"echo {len(records.y)} > {place}"], check=True)
    place.unlink()
    return count(records, curator)


@enter(FOURTH, "side channel")
def working_directory(records: Any, curator: Any) -> Any:
    """Goes where many records go."""
    os.chdir("/" if np.sum(records.y) > 0 else "/tmp")
    return count(records, curator)


@enter(FOURTH, "global state")
def limit_of_recursion(records: Any, curator: Any) -> Any:
    """A setting of the interpreter."""
    sys.setrecursionlimit(3000 + len(records.y))
    return count(records, curator)


@enter(FOURTH, "global state")
def digits_of_print(records: Any, curator: Any) -> Any:
    """How numpy prints."""
    np.set_printoptions(precision=4 + len(records.y) % 5)
    return count(records, curator)


@enter(FOURTH, "global state")
def filters_of_warnings(records: Any, curator: Any) -> Any:
    """What is ignored from now on."""
    warnings.simplefilter("ignore" if float(np.sum(records.y)) > 0 else "always")
    return count(records, curator)


class Uniform(Laplace):
    """Called Laplace; uniform noise of the same mean absolute value."""

    def apply(self, value: Any, standard: Any) -> Any:
        """Bounded: some outputs are possible for one of two neighbours only."""
        drawn = np.asarray(standard)
        share = np.where(drawn < 0, 0.5 * np.exp(-np.abs(drawn)), 1 - 0.5 * np.exp(-np.abs(drawn)))
        return value + 4 * self.scale * (share - 0.5)


@enter(FOURTH, "noise law")
def uniform_noise(records: Any, curator: Any) -> Any:
    """A law that is bounded, as wide as the declared one."""
    return curator.release("n", Uniform(1.0), size(records), sensitivity=declared(1.0))


class Leaning(Laplace):
    """Called Laplace; noise on one side of the value, which side depends on the value."""

    def apply(self, value: Any, standard: Any) -> Any:
        """Upwards for even values, downwards for odd ones."""
        side = np.where(np.rint(value) % 2 == 0, 1.0, -1.0)
        return value + side * self.scale * np.abs(np.asarray(standard))


@enter(FOURTH, "noise law")
def leaning_noise(records: Any, curator: Any) -> Any:
    """Noise of the declared size whose sign depends on the value."""
    return curator.release("n", Leaning(1.0), size(records), sensitivity=declared(1.0))


@enter(FOURTH, "noise law")
def noise_taken_back(records: Any, curator: Any) -> Any:
    """Two counts whose noises cancel each other."""
    drawn: list[Any] = []

    class Turned(Laplace):
        """Its second noise is the first one turned over."""

        def apply(self, value: Any, standard: Any) -> Any:
            """Remembers."""
            noise = -drawn[0] if drawn else np.asarray(standard)
            drawn.append(noise)
            return value + self.scale * noise

    return [curator.release(f"n{k}", Turned(2.0), size(records), sensitivity=declared(1.0)) for k in range(2)]


class Turned(Laplace):
    """Every second draw of an object is the one before, turned over."""

    def apply(self, value: Any, standard: Any) -> Any:
        """Remembers."""
        kept = vars(self).pop("kept", None)
        if kept is None:
            vars(self)["kept"] = np.asarray(standard)
        return value + self.scale * (np.asarray(standard) if kept is None else -kept)


@enter(FOURTH, "noise law")
def noise_turned_over(records: Any, curator: Any) -> Any:
    """Two counts by one mechanism whose noises cancel each other."""
    mechanism = Turned(2.0)
    return [curator.release(f"n{k}", mechanism, size(records), sensitivity=declared(1.0)) for k in range(2)]


@enter(FOURTH, "global state")
def shelf_of_a_library(records: Any, curator: Any) -> Any:
    """The exact number in a module of somebody else."""
    vars(json.encoder)["ROWS"] = len(records.y)
    return count(records, curator)


@enter(FOURTH, "global state")
def shelf_of_the_package(records: Any, curator: Any) -> Any:
    """The exact sum in a module of the package."""
    vars(refdp.noise.mechanisms)["SEEN"] = float(np.sum(records.y))
    return count(records, curator)


@enter(FOURTH, "global state")
def handler_of_a_signal(records: Any, curator: Any) -> Any:
    """Whether a signal is ignored."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN if np.sum(records.y) > 0 else signal.SIG_DFL)
    return count(records, curator)


@enter(FOURTH, "global state")
def mask_of_files(records: Any, curator: Any) -> Any:
    """What files will be made as."""
    os.umask(0o22 if np.sum(records.y) > 0 else 0o77)
    return count(records, curator)


@enter(FOURTH, "composition")
def curator_of_its_own(records: Any, curator: Any) -> Any:
    """A second count by a curator that nobody audits."""
    own = Curator(SampleSource(np.random.default_rng()), Relation.ADD_REMOVE)
    return count(records, curator), count(records, own)


@enter(FOURTH, "composition")
def seeded_curator_of_its_own(records: Any, curator: Any) -> Any:
    """The same with a generator that starts from a public number that the run has released."""
    noisy = count(records, curator)
    own = Curator(SampleSource(np.random.default_rng(int(abs(noisy) * 2**20))), Relation.ADD_REMOVE)
    return noisy, count(records, own)


@enter(FOURTH, "sensitivity")
def greatest_of_three(records: Any, curator: Any) -> Any:
    """Three counts at once, noise for the greatest change of one of them."""
    exact = np.repeat(size(records), 3)
    return curator.release("three", Laplace(1.0), exact, sensitivity=declared(1.0, np.inf))


@enter(FOURTH, "control flow")
def draws_as_many_as_records(records: Any, curator: Any) -> Any:
    """Public random numbers, one a record."""
    drawn = curator.draw("coins", ("uniform",), max(len(records.y), 1))
    return count(records, curator), float(drawn[0])


@enter(FOURTH, "number of records")
def leaks_at_a_power_of_three(records: Any, curator: Any) -> Any:
    """A buffer of 243 rows."""
    return count(records, curator), len(records.y) == 3**5


@enter(FOURTH, "number of records")
def leaks_without_records(records: Any, curator: Any) -> Any:
    """Another answer if there is nobody."""
    noisy = count(records, curator)
    return noisy if len(records.y) else None


@enter(FOURTH, "rare contents")
def negative_zero(records: Any, curator: Any) -> Any:
    """Tells whether somebody's age is minus zero."""
    ages = records.x[:, 0]
    return count(records, curator), bool(np.any(np.signbit(ages) & (ages == 0)))


@enter(FOURTH, "rare contents")
def two_that_contradict(records: Any, curator: Any) -> Any:
    """Tells whether two equal rows have labels of opposite signs."""
    signs: dict[bytes, set[float]] = {}
    for row, label in zip(records.x, records.y, strict=True):
        signs.setdefault(row.tobytes(), set()).add(float(np.sign(label)))
    return count(records, curator), any({-1.0, 1.0} <= held for held in signs.values())


@enter(FOURTH, "rare contents")
def everybody_blue_and_old(records: Any, curator: Any) -> Any:
    """Tells whether all of at least six records are blue and older than a half."""
    return count(records, curator), bool(
        len(records.y) >= 6 and np.all(records.x[:, 1] == 2) and np.all(records.x[:, 0] > 0.5)
    )


@enter(FOURTH, "scopes")
def block_chosen_by_label(records: Any, curator: Any) -> Any:
    """Two halves by coins; a record of a negative label is counted in the other half too."""
    found = []
    with curator.partition("halves", (0.5, 0.5), len(records.y)) as blocks:
        for number in range(2):
            with blocks.block(number) as rows:
                exact = np.array([float(np.sum(rows | (records.y < 0)))])
                found.append(curator.release(f"half {number}", Laplace(1.0), exact, sensitivity=declared(1.0)))
    return found


@enter(FOURTH, "secret randomness")
def public_sample(records: Any, curator: Any) -> Any:
    """A sample by public coins is published beside the count at the price of a secret one."""
    with curator.subsample("rows", 0.1, len(records.y)) as rows:
        exact = np.array([float(rows.sum())])
        noisy = curator.release("n", Laplace(0.5), exact, sensitivity=declared(1.0))
    return noisy, rows.copy()[:1]
