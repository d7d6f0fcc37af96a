"""Independent runs of a mechanism on both sides of a pair, in chunks whose randomness follows from a seed."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from refdp.audit.alignment import Row, aligned
from refdp.audit.in_floats import in_floats
from refdp.audit.outputs import (
    BESIDE,
    changing,
    first_unread,
    is_error,
    parts_of,
    row_of_error,
    unread,
    unread_of_error,
    whole_row,
    with_score,
    without_numbers,
)
from refdp.audit.same_records import is_same
from refdp.errors import InvalidParameter

Floats = NDArray[np.float64]
Mechanism = Callable[[Any, int], Any]

CHUNK = 50_000
"""Runs of a vectorised mechanism that are made at a time."""
TRIED = 25
"""A function all of whose first runs raise, so many on each side, is taken to be called in the wrong way.

One that refuses in nine of ten runs is by chance 1 in 200.
"""
RAISED = BaseException
"""What code under audit raises counts as one of its outputs: it is foreign, and may raise whatever it likes.

Whoever catches it calls `raise_if_ending` first.
"""
ENDS = (KeyboardInterrupt, SystemExit)
"""What ends the process, and so the audit."""


class NothingToCompare(InvalidParameter):
    """Runs that all raise, or whose outputs have no numbers: nothing that an audit could be about."""


class Batch(Protocol):
    """A mechanism that makes many runs at once."""

    def batch(self, records: Any, count: int, generator: np.random.Generator) -> Floats:
        """Outputs of `count` independent runs, shape (count, outputs)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Vectorised:
    """A function of (records, count, generator) that gives the outputs of many runs, shape (count, outputs)."""

    function: Callable[[Any, int, np.random.Generator], ArrayLike]

    def batch(self, records: Any, count: int, generator: np.random.Generator) -> Floats:
        """Outputs of many runs. Shape (count, columns). Errors: InvalidParameter for another number of rows."""
        rows = rows_of(self.function(records, count, generator))
        if len(rows) != count:
            raise InvalidParameter(f"outputs of {len(rows)} runs came back: {count} were asked for, one row a run")
        return rows

    def __call__(self, records: Any, seed: int) -> Floats:
        """One run."""
        return np.asarray(self.batch(records, 1, np.random.default_rng(seed))[0])


@dataclass(frozen=True)
class Scored:
    """A function of (records, seed), and a score of its output that stands before the output's own numbers.

    An output is read before its score is called, which is foreign and may change it, or raise.
    """

    function: Mechanism
    score: Callable[[Any], Any]
    name: str

    def __call__(self, records: Any, seed: int) -> Any:
        """One run's output, as the function gives it."""
        return self.function(records, seed)


@dataclass(frozen=True)
class InputPair:
    """Two neighbouring data sets, of any type that the mechanism takes."""

    first: Any
    second: Any


def raise_if_ending(error: BaseException) -> None:
    """Errors: the error itself, if it is raised to end the process and no output of what raised it."""
    if isinstance(error, ENDS):
        raise error


def as_pair(pair: Any) -> InputPair:
    """A pair of (first, second), or of an object with methods first() and second(). Errors: InvalidParameter."""
    if isinstance(pair, InputPair):
        return pair
    if callable(getattr(pair, "first", None)) and callable(getattr(pair, "second", None)):
        return InputPair(pair.first(), pair.second())
    if isinstance(pair, Sequence) and len(pair) == 2:
        return InputPair(*pair)
    raise InvalidParameter(f"pair = {type(pair).__name__}: two neighbouring data sets (first, second) are needed")


def as_pairs(pair: Any) -> list[InputPair]:
    """One pair, or a list of them.

    Errors: InvalidParameter for a list that could be a pair of data sets, and for the same data set twice.
    """
    if not isinstance(pair, list):
        found = [as_pair(pair)]
    elif any(isinstance(one, list | np.ndarray) for one in pair):
        raise InvalidParameter("pair is a list of lists: one pair is a tuple (first, second), several a list of tuples")
    else:
        found = [as_pair(one) for one in pair]
    for number, one in enumerate(found):
        if is_same(one.first, one.second):
            raise InvalidParameter(f"pair {number}: both are the same data set; one record has to differ")
    return found


def rows_of(outputs: ArrayLike) -> Floats:
    """Outputs, shape (runs, columns): a vector is one a run. Errors: InvalidParameter for no or other numbers."""
    array = np.asarray(outputs)
    if array.dtype.kind not in "fiub" or not array.ndim or not array.size:
        shown = f"{array.dtype} of shape {array.shape}"
        raise InvalidParameter(f"outputs are {shown}: real numbers are needed, one row a run")
    return array.astype(np.float64).reshape(len(array), -1)


def stacked(outputs: Sequence[Floats], width: int | None = None) -> Floats:
    """Runs of different lengths in one table: padded with not-a-number, the length as the last column.

    Shape (runs, columns); without the last column if all have one length and no width is given.
    """
    lengths = {len(output) for output in outputs}
    if width is None and len(lengths) == 1:
        return np.stack(outputs)
    longest = max(lengths | {width or 0})
    padded = [np.append(np.pad(o, (0, longest - len(o)), constant_values=np.nan), len(o)) for o in outputs]
    return np.stack(padded)


def seed_of(seed: int, run: int) -> int:
    """A seed below 2^32 for each run, different for all runs below 2^32: a bijection of 32 bits applied to the number.

    32 bits, because many libraries take no more.
    """
    number = (run + int(np.random.SeedSequence(seed).generate_state(1)[0])) & 0xFFFFFFFF
    for factor in (0x85EBCA6B, 0xC2B2AE35):  # the finaliser of MurmurHash3, invertible step by step
        number ^= number >> 16 if factor == 0x85EBCA6B else number >> 13
        number = number * factor & 0xFFFFFFFF
    return number ^ number >> 16


def chunk(mechanism: Any, pair: InputPair, seed: int, start: int, stop: int) -> list[list[Floats]]:
    """Outputs of runs start..stop-1 on both sides, each a list of vectors (one of shape (runs, columns) if vectorised).

    Behind a run's numbers stands what else its output is (`refdp.audit.outputs`); a run that raises has that alone.
    Errors: NothingToCompare if all of the first runs raise, or have no numbers; InvalidParameter for a score that is
    no number, or raises on all outputs of the first runs.
    """
    records = pair.first, pair.second
    if hasattr(mechanism, "batch"):
        generators = (np.random.default_rng([seed, side, start]) for side in (0, 1))
        return [
            [mechanism.batch(copy.deepcopy(one), stop - start, generator)]
            for one, generator in zip(records, generators)
        ]
    sides: list[list[Floats]] = [[], []]
    errors: list[BaseException] = []
    bare: list[Any] = []
    unscored: list[BaseException] = []
    for run in range(start, stop):
        begin = seed_of(seed + 1, run) & 1  # turns by a coin: what changes in time does not tell the sides apart
        for side in (begin, 1 - begin):
            sides[side].append(_one(mechanism, records[side], seed_of(seed, 2 * run + side), errors, bare, unscored))
        if run + 1 == TRIED and unscored and len(errors) + len(unscored) == 2 * TRIED:
            told = f"it raised {_named(unscored[-1])} on all of the first {len(unscored)} outputs"
            raise InvalidParameter(f"--score {mechanism.name!r}: {told}") from unscored[-1]
        if run + 1 == min(TRIED, stop) > 1 and len(errors) + len(bare) == 2 * (run + 1):
            if bare:
                raise NothingToCompare(str(without_numbers(bare[-1])))
            raise NothingToCompare(f"all of the first {len(errors)} runs raised {_told(errors[-1])}") from errors[-1]
    return sides


def _one(
    mechanism: Mechanism,
    records: Any,
    seed: int,
    errors: list[BaseException],
    bare: list[Any],
    unscored: list[BaseException],
) -> Floats:
    try:
        output = mechanism(copy.deepcopy(records), seed)  # it may change what it is given
    except RAISED as error:
        raise_if_ending(error)
        errors.append(error)
        return row_of_error(error)
    row = whole_row(output)
    if isinstance(mechanism, Scored):
        try:
            score = mechanism.score(output)
        except RAISED as error:
            raise_if_ending(error)
            unscored.append(error)
            return with_score(row, None)
        return with_score(row, _numbers_of(score, mechanism.name))
    if len(row) == BESIDE:
        bare.append(output)
    return row


def _numbers_of(score: Any, name: str) -> list[float]:
    """A score as a float, and what that does not hold of it. Errors: InvalidParameter unless it is one real number."""
    try:
        array = np.asarray(score)
        if array.size == 1 and array.dtype.kind in "fiubO":
            one = array.item()
            return list(in_floats(one)) if isinstance(one, int) else [float(one)]
    except OverflowError:  # of a fraction
        return [np.inf]
    except RAISED as error:
        raise_if_ending(error)
    raise InvalidParameter(f"--score {name!r}: it gave a {type(score).__name__}, one real number is needed")


def _told(error: BaseException) -> str:
    """An error with its line: the foreign function's, not one of refdp's."""
    return f"{_named(error)}; function(records, seed) is called"


def _named(error: BaseException) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} at {place.filename}:{place.lineno}"


class Runs(Protocol):
    """Somewhere that runs come from."""

    def upto(self, count: int) -> tuple[Floats, Floats]:
        """Outputs of the first `count` runs of both sides, one row a run, as many columns on both sides.

        Shapes (count, columns).
        """


@dataclass
class InProcess:
    """Runs made here, one chunk after another, and kept."""

    mechanism: Any
    pair: InputPair
    seed: int
    size: int = CHUNK
    _sides: tuple[list[Floats], list[Floats]] = field(default_factory=lambda: ([], []), init=False)
    _done: int = field(default=0, init=False)

    def upto(self, count: int) -> tuple[Floats, Floats]:
        """Outputs of the first `count` runs of both sides; runs are made in chunks that end at `count` or before.

        Shapes (count, columns).
        """
        while self._done < count:
            stop = min(self._done + self.size, count)
            for kept, new in zip(self._sides, chunk(self.mechanism, self.pair, self.seed, self._done, stop)):
                kept.extend(new)
            self._done = stop
        return compared(*self._sides, count=count)

    @property
    def unread(self) -> tuple[str, ...]:
        """What of an output was not looked into, and why; empty where no run has such an output."""
        return not_read(self.mechanism, self.pair, self.seed, self._sides)


def not_read(
    mechanism: Any, pair: InputPair, seed: int, sides: tuple[list[Floats], list[Floats]], start: int = 0
) -> tuple[str, ...]:
    """What of the first output that was not looked into everywhere was not, by running it again.

    sides: rows of runs from `start` on.
    """
    found = first_unread(sides)
    if found is None:
        return ()
    side, run = found
    records = copy.deepcopy((pair.first, pair.second)[side])
    try:
        output = mechanism(records, seed_of(seed, 2 * (start + run) + side))
        told = unread(output)
    except RAISED as error:
        raise_if_ending(error)
        told = unread_of_error(error)
    else:
        told += _unscored(mechanism, output)
    return told or ("an output of a run, which is another one when it is run again",)


def _unscored(mechanism: Any, output: Any) -> tuple[str, ...]:
    """That an output has no score, where one was asked for and raised."""
    try:
        if isinstance(mechanism, Scored):
            mechanism.score(output)
    except RAISED as error:
        raise_if_ending(error)
        return (f"the score of an output ({mechanism.name} raised {type(error).__name__})",)
    return ()


def compared(first: list[Floats], second: list[Floats], count: int) -> tuple[Floats, Floats]:
    """`table` of the numbers in rows of runs, and behind them what else changes, and numbers by their places.

    Shapes (count, columns).
    """
    if first[0].ndim == 2:  # many runs at a time are numbers alone
        return table(first, second, count)
    first, second = first[:count], second[:count]
    numbers, told = (table(numbers_of(first, errors), numbers_of(second, errors), count) for errors in (False, True))
    placed = aligned(placed_numbers(first), placed_numbers(second), max(count // 4, 1))
    one, other = (np.hstack(part) for part in zip(numbers, changing(first, second), told, placed))
    if not one.shape[1]:
        return np.zeros((len(one), 1)), np.zeros((len(other), 1))
    return one, other


def numbers_of(rows: Sequence[Floats], errors: bool = False) -> list[Floats]:
    """The numbers of outputs, or those of errors, shape (numbers,) each; of other runs none."""
    return [parts_of(row)[0] if is_error(row) is errors else row[:0] for row in rows]


def placed_numbers(rows: Sequence[Floats]) -> list[Row]:
    """The numbers of outputs and errors, shape (numbers,) each, with the names of their places."""
    return [(*parts_of(row)[:2], is_error(row)) for row in rows]


def table(first: list[Floats], second: list[Floats], count: int) -> tuple[Floats, Floats]:
    """Two tables of shape (count, columns), with the same columns, from vectors or partial tables."""
    if first[0].ndim == 2:
        if len({part.shape[1] for part in (*first, *second)}) == 1:
            return np.concatenate(first)[:count], np.concatenate(second)[:count]
        first, second = ([row for part in side for row in part] for side in (first, second))
    widths = {len(output) for output in (*first, *second)}
    width = max(widths) if len(widths) > 1 else None
    return stacked(first[:count], width), stacked(second[:count], width)
