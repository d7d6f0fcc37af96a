"""Runs of a function that refdp did not write, on both sides of a pair: what the structural checks look at."""

from __future__ import annotations

import copy
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from refdp.audit.outputs import leaves_of_error
from refdp.audit.reading import Leaf
from refdp.audit.replay import finite_or_name
from refdp.audit.runs import RAISED, raise_if_ending
from refdp.audit.structural_state import leaves
from refdp.data.records import Floats
from refdp.errors import InvalidParameter

Data = Any
"""Records: an array whose rows are records, a list of records, or a tuple of arrays with a row for each record."""

Function = Callable[[Data, np.random.Generator], Any]
State = dict[str, Leaf]


class Memory(Protocol):
    """Where the flat states of finished runs are kept, by records and seed."""

    def recall(self, data: Data, seed: int) -> State | None:
        """The state of a run that was made before, or None."""

    def keep(self, data: Data, seed: int, state: State) -> None:
        """Keep the state of a run that has ended."""


@dataclass(frozen=True)
class Remembered:
    """A function whose runs are kept: what was run once is not run again, nor after a kill if the memory is a file."""

    function: Callable[[Data, np.random.Generator], Any]
    memory: Memory

    def __call__(self, data: Data, generator: np.random.Generator) -> Any:
        """One run."""
        return self.function(data, generator)


@dataclass(frozen=True)
class StructuralFinding:
    """Something that no private function does, or at least should not need, shown without estimating anything.

    kind: "identical outputs", "exact statistic", "reused noise", "support", "data-dependent range", "positional
    partition", "precision". where: path inside the output. evidence: the figures that show it. meaning: one sentence.
    violation: whether it refutes the claim; what does not is a place to look at.
    """

    kind: str
    where: str
    evidence: dict[str, Any]
    meaning: str
    violation: bool = True

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**vars(self), "evidence": _plain(self.evidence)}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return finite_or_name(value) if isinstance(value, float) else value


@dataclass(frozen=True)
class Samples:
    """Independent runs on the first and on the second data set, as flat states."""

    first: Sequence[State]
    second: Sequence[State]

    @cached_property
    def paths(self) -> list[str]:
        """Every path seen anywhere, in order of appearance."""
        return list(dict.fromkeys(path for run in (*self.first, *self.second) for path in run))

    @cached_property
    def everywhere(self) -> list[str]:
        """Paths that hold a number in every run."""
        runs = (*self.first, *self.second)
        return [path for path in self.paths if all(isinstance(run.get(path, ""), (int, float)) for run in runs)]

    @cached_property
    def tables(self) -> tuple[Floats, Floats]:
        """The numbers of the paths `everywhere`: shape (runs, paths), one table a side."""

        def table(runs: Sequence[State]) -> Floats:
            return np.array([[float(run[path]) for path in self.everywhere] for run in runs], dtype=np.float64)

        return table(self.first), table(self.second)

    def side(self, path: str) -> tuple[Counter[Leaf | None], Counter[Leaf | None]]:
        """How often each value was seen at a path, None where it is absent."""
        first, second = ([run.get(path) for run in side] for side in (self.first, self.second))
        return Counter(map(one_nan, first)), Counter(map(one_nan, second))


def one_nan(leaf: Leaf | None) -> Leaf | None:
    """The leaf; not-a-number is always the same object, which counts as equal to itself."""
    return math.nan if leaf != leaf else leaf


def sample(function: Function, data: Data, seeds: Sequence[int]) -> list[State]:
    """One run a seed, in their order: see `sampled`."""
    (runs,) = sampled(function, [(data, seeds)])
    return runs


def sampled(function: Function, sides: Sequence[tuple[Data, Sequence[int]]]) -> list[list[State]]:
    """For each data set one run a seed, all of them in a random order: a clock in the output tells no side apart.

    NumPy's and Python's global generators, which foreign code uses, are seeded too and put back.
    """
    places = [(side, place) for side, (_, seeds) in enumerate(sides) for place in range(len(seeds))]
    if len(sides) > 1:
        np.random.default_rng([seeds[0] for _, seeds in sides]).shuffle(places)
    kept = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        runs = {(side, place): _one(function, sides[side][0], sides[side][1][place]) for side, place in places}
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002
    return [[runs[side, place] for place in range(len(seeds))] for side, (_, seeds) in enumerate(sides)]


def _one(function: Function, data: Data, seed: int) -> State:
    memory = function.memory if isinstance(function, Remembered) else None
    if memory is not None and (kept := memory.recall(data, seed)) is not None:
        return kept
    state = _run(function, data, seed)
    if memory is not None:
        memory.keep(data, seed, state)
    return state


def _run(function: Function, data: Data, seed: int) -> State:
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        return leaves(function(copy.deepcopy(data), np.random.default_rng(seed)))
    except RAISED as error:
        raise_if_ending(error)
        return leaves_of_error(error)


def take(data: Data, rows: NDArray[np.int64]) -> Data:
    """The records at these rows, in this order. rows: shape (rows,)."""
    if isinstance(data, tuple):
        return tuple(take(part, rows) for part in data)
    return data[rows] if isinstance(data, np.ndarray) else [data[row] for row in rows]


def size(data: Data) -> int:
    """Number of records."""
    return size(data[0]) if isinstance(data, tuple) else len(data)


def columns(data: Data) -> list[tuple[str, Floats]]:
    """Every numeric column, named. Each of shape (records,)."""
    parts = data if isinstance(data, tuple) else (data,)
    found = []
    for place, part in enumerate(parts):
        table = table_of(part)
        if not table.size or (not np.issubdtype(table.dtype, np.number) and table.dtype != np.bool_):
            continue
        table = table.reshape(len(table), -1).astype(np.float64)
        found += [(f"column {j} of part {place}", table[:, j]) for j in range(table.shape[1])]
    return found


def table_of(part: Any) -> NDArray[Any]:
    """Records as an array; an empty one if they have different lengths. Shape (records, ...)."""
    try:
        return np.asarray(part)
    except ValueError:
        return np.empty(0)


def statistics(data: Data) -> dict[str, float]:
    """Exact statistics that a model might hold: number of records, counts of labels, sums, means, extremes."""
    shown = {"number of records": float(size(data))}
    for name, column in columns(data):
        shown |= {f"{how.__name__} of {name}": float(how(column)) for how in (np.sum, np.mean, np.min, np.max, np.std)}
        values, counts = np.unique(column, return_counts=True)
        if len(values) <= 20:
            shown |= {f"count of {value:g} in {name}": float(count) for value, count in zip(values, counts)}
    return shown


def odds(epsilon: float) -> float:
    """log(e^ε / (1 + e^ε)): how likely, at most, an event that happened once happened on a given one of the sides.

    Errors: InvalidParameter outside [0, 50).
    """
    if not 0 <= epsilon < 50:
        raise InvalidParameter(f"epsilon {epsilon!r} of a structural check: allowed are numbers in [0, 50)")
    return -math.log1p(math.exp(-epsilon))


def needed(epsilon: float, alarm: float) -> int:
    """Occurrences on one side alone, none on the other, that ε-DP explains with probability at most `alarm`.

    Of m independent occurrences of an event, each fell on the first side with probability at most e^ε / (1 + e^ε).
    """
    return math.ceil(math.log(alarm) / odds(epsilon))


def by_chance(epsilon: float, delta: float, runs: int) -> float:
    """Most chance with which an (ε, δ)-DP function gives one output in all runs of one side, another in all others.

    One output of chance a on its side has at most 1 - (a - δ)/e^ε and e^ε (1 - a) + δ for all others on the other one.
    """
    return math.exp(2 * (runs - 1) * math.log1p(-(1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon))))


def unbounded(delta: float, runs: int, alarm: float) -> int:
    """Runs on one side that δ may leave without any bound: exceeded with probability at most `alarm`.

    An (ε, δ)-DP pair is a mixture of an ε-DP pair with weight 1 - δ and of anything with weight δ (Kairouz, Oh,
    Viswanath 2015).
    """
    from scipy.stats import binom  # loaded on first use: a forked run would pay for its memory

    return int(binom.isf(alarm, runs, delta))
