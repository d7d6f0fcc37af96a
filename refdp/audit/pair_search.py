"""Neighbours for a function that nothing is known about, from public bounds or an example.

Every candidate is run a few times on both sides, and the pairs whose outputs lie farthest apart, measured in spreads of
the outputs, are run more often; the pair with the greatest lower bound is the one to audit, on fresh runs. A function
with a setting called `epsilon` is searched at large ones first: what noise hides at 1 shows at 100. The claim is tested
at the setting that the function has by itself.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit.alignment import aligned, farthest
from refdp.audit.blackbox import epsilon_lower_bound
from refdp.audit.outputs import beside
from refdp.audit.runs import InputPair, chunk, numbers_of, placed_numbers, stacked, table
from refdp.data.records import Categorical
from refdp.errors import InvalidParameter
from refdp.io.domains import given_domains
from refdp.privacy.events import Relation

Floats = NDArray[np.float64]
SIZES = (10, 1, 0, 3, 50, 100)
"""Records beside the audited one."""
LARGE = (100.0, 10.0)
"""Settings of epsilon that are searched first."""
RUNS, FINAL_RUNS, FINALISTS = 24, 2_000, 4
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Ranges:
    """The least and greatest value of every column of the records, and the values of those that have a list.

    Errors: InvalidParameter for values farther apart than any float is large.
    """

    low: Floats
    high: Floats
    values: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        with np.errstate(over="ignore"):
            wide = np.flatnonzero(~np.isfinite(self.high - self.low))
        if wide.size:
            low, high = self.low[wide[0]], self.high[wide[0]]
            raise InvalidParameter(
                f"bounds of column {wide[0]}: [{low:g}, {high:g}] given, their distance is too large"
            )

    def at(self, share: Floats) -> Floats:
        """Records at shares in [0, 1] of the columns' ranges, shape (rows, columns)."""
        rows = self.low + share * (self.high - self.low)
        for column, values in enumerate(self.values):
            if values:
                place = np.minimum(np.floor(share[:, column] * len(values)), len(values) - 1)
                rows[:, column] = np.array(values)[place.astype(np.int64)]
        return np.asarray(rows, dtype=np.float64)


def ranges_of_schema(file: Path) -> Ranges:
    """From {column: [low, high] or [category, ...]}; categories that are no numbers are 0, 1, 2, ... in their order.

    Errors: InvalidParameter, InvalidRecords.
    """
    features = [feature for feature, _ in given_domains(file).values()]
    if not features:
        raise InvalidParameter(f"--schema {file}: no columns given, at least 1 is needed")
    values: list[tuple[float, ...]] = []
    for feature in features:
        listed = feature.categories if isinstance(feature, Categorical) else ()
        try:
            values.append(tuple(float(one) for one in listed))
        except ValueError:
            values.append(tuple(float(place) for place in range(len(listed))))
    ends = [(min(v), max(v)) if v else (f.low, f.high)  # type: ignore[union-attr]
            for f, v in zip(features, values, strict=True)]  # fmt: skip
    low, high = np.array(ends, dtype=np.float64).T
    return Ranges(low, high, tuple(values))


def ranges_of_example(file: Path) -> Ranges:
    """From a JSON list of records, one is enough; a column of one value v has the bounds 0 and v, or -1 and 1.

    Errors: InvalidParameter.
    """
    try:
        rows = np.atleast_2d(np.asarray(json.loads(file.read_text(encoding="utf-8")), dtype=np.float64))
        if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
            raise ValueError(f"shape {rows.shape}")
    except (OSError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidParameter(f"--example {file}: a list of records of finite numbers is needed ({error})") from error
    low, high = rows.min(axis=0), rows.max(axis=0)
    flat, zero = low == high, (low == 0) & (high == 0)
    ends = (
        np.where(zero, -1.0, np.where(flat, np.minimum(low, 0), low)),
        np.where(zero, 1.0, np.where(flat, np.maximum(high, 0), high)),
    )
    return Ranges(ends[0], ends[1], ((),) * len(low))


def candidates(columns: Ranges, relation: Relation, seed: int) -> Iterator[InputPair]:
    """Crowds at either bound with a record there, at the other, or in the middle; then records anywhere."""
    generator, width = np.random.default_rng(seed), len(columns.low)
    for size in SIZES:
        for crowd in (0.0, 1.0):
            base = columns.at(np.full((size, width), crowd))
            for own in (1 - crowd, crowd, 0.5):
                yield _pair(base, columns.at(np.array([[own] * width, [1 - own] * width])), relation)
        yield _pair(columns.at(generator.random((size, width))), columns.at(generator.random((2, width))), relation)
        yield _pair(columns.at(generator.integers(0, 2, (size, width)).astype(np.float64)),
                    columns.at(generator.integers(0, 2, (2, width)).astype(np.float64)), relation)  # fmt: skip


def _pair(base: Floats, ends: Floats, relation: Relation) -> InputPair:
    first = np.vstack([base, ends[:1]])
    return InputPair(first, base if relation is Relation.ADD_REMOVE else np.vstack([base, ends[1:]]))


@dataclass(frozen=True)
class Searched:
    """The pair to audit. tried: candidates. settings: of epsilon that were searched besides the function's own."""

    pair: InputPair
    tried: int
    settings: tuple[float, ...]

    def words(self) -> str:
        """For the coverage table."""
        besides = "".join(f", at epsilon {one:g}" for one in self.settings)
        return f"the pair was chosen among {self.tried}{besides} by how far outputs lie apart"


def chosen(
    function: Callable[..., Any], columns: Ranges, relation: Relation, claimed: float, delta: float, seed: int
) -> Searched:
    """Search for the pair on which a function(records, seed) tells most.

    Errors: InvalidParameter for bounds within which no two records differ, where one replaces the other.
    """
    pairs = [pair for pair in candidates(columns, relation, seed) if not np.array_equal(pair.first, pair.second)]
    if not pairs:
        raise InvalidParameter("no two records differ within the bounds: --relation add-remove, or other bounds")
    settings = LARGE if _has_epsilon(function) else ()
    ways: list[Callable[..., Any]] = [*(partial(function, epsilon=one) for one in settings), function]
    best: dict[int, None] = {}
    for turn, way in enumerate(ways):
        scores = [_apart(way, pair, seed + 1 + turn) for pair in pairs]
        best |= dict.fromkeys(np.argsort(scores, kind="stable")[::-1][: FINALISTS // 2 + 1].tolist())
    finalists = [pairs[place] for place in list(best)[: FINALISTS + 2]]
    bounds = [
        epsilon_lower_bound(function, pair, delta=delta, claimed=claimed, confidence=CONFIDENCE, samples=FINAL_RUNS,
                            seed=seed + 7).lower
        for pair in finalists
    ]  # fmt: skip
    return Searched(finalists[int(np.argmax(bounds))], len(pairs), settings)


def _has_epsilon(function: Callable[..., Any]) -> bool:
    """Whether it takes `epsilon` as a setting, with a value of its own unless told otherwise."""
    try:
        found = inspect.signature(function).parameters.get("epsilon")
    except (TypeError, ValueError):
        return False
    return found is not None and found.default is not inspect.Parameter.empty


def _apart(function: Callable[..., Any], pair: InputPair, seed: int) -> float:
    """The greatest distance of medians over columns of the output, in mean distances from the median.

    How many numbers an output has is a column, and where lengths vary the columns are counted from its end too, and by
    the parts that they are in; an error has none. Infinity where few lengths or one part tell the sides apart for sure.
    What stands beside numbers, and numbers of errors, count as `_beside` has it.
    """
    try:
        first, second = chunk(function, pair, seed, 0, RUNS)
    except InvalidParameter:
        return 0.0
    if first[0].ndim == 2:
        return _of_numbers(*([np.nan_to_num(row) for row in np.concatenate(side)] for side in (first, second)))
    sides = [[np.nan_to_num(row) for row in numbers_of(side)] for side in (first, second)]
    placed = aligned(placed_numbers(first), placed_numbers(second), RUNS)
    one, other = (np.isnan(side).mean(axis=0) for side in placed)
    if np.any(np.abs(one - other) == 1.0):  # a part that one side has in all runs, and the other in none
        return np.inf
    return max(_of_numbers(*sides), _beside(first, second), _distance(*placed))


def _of_numbers(first: list[Floats], second: list[Floats]) -> float:
    sides = [first, second]
    lengths = [{len(row) for row in side} for side in sides]
    widest = max(map(max, lengths))
    if lengths[0].isdisjoint(lengths[1]) and max(map(len, lengths)) <= RUNS // 4:
        return np.inf
    if lengths[0] == lengths[1] == {widest}:
        return _distance(*map(np.stack, sides))
    turned = [[row[::-1] for row in side] for side in sides]
    return max(_distance(*(stacked(side, widest) for side in way)) for way in (sides, turned))


def _beside(first: Sequence[Floats], second: Sequence[Floats]) -> float:
    """Of all else in rows of runs: infinity where one column tells the sides apart in all runs, else up to some 24.

    -3 log(1 - d) of distributions at distance d, and 24 times the square of the share of one side's runs with a value
    that comes several times there and never on the other: by chance both are below what distances of medians are.
    """
    others = [np.array([beside(row) for row in side]) for side in (first, second)]
    told = table(numbers_of(first, errors=True), numbers_of(second, errors=True), RUNS)
    found = 0.0
    for column in np.hstack([np.vstack(others), np.nan_to_num(np.vstack(told), nan=1e300)]).T:
        gap = farthest(*np.split(column, [len(first)]))
        values, place = np.unique(column, return_inverse=True)
        one, other = (np.bincount(side, minlength=len(values)) for side in np.split(place.ravel(), [len(first)]))
        often = int(np.max(np.where(np.minimum(one, other) == 0, one + other, 0)))
        share = often / len(first) if often >= RUNS // 4 else 0.0
        found = max(found, np.inf if gap == 1.0 else -3 * math.log1p(-gap), 24 * share**2)
    return found


def _distance(first: Floats, second: Floats) -> float:
    """Of columns that a quarter of the runs has on both sides; not-a-number stands for none. Shapes (runs, columns)."""
    held = [np.count_nonzero(~np.isnan(side), axis=0) for side in (first, second)]
    enough = np.minimum(*held) >= np.ceil(len(first) / 4)
    (middle, spread), (other, spread_of_other) = (_middle(side[:, enough]) for side in (first, second))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gaps = np.abs(middle - other) / ((spread + spread_of_other) / 2)
    return float(np.nan_to_num(gaps, nan=0.0).max(initial=0.0))


def _middle(side: Floats) -> tuple[Floats, Floats]:
    """Medians of columns, and mean distances from them. Shapes (runs, columns) and (columns,)."""
    held = np.count_nonzero(~np.isnan(side), axis=0)
    ordered = np.sort(side, axis=0)
    ends = [np.take_along_axis(ordered, place[np.newaxis], axis=0)[0] for place in ((held - 1) // 2, held // 2)]
    with np.errstate(over="ignore"):
        middle = (ends[0] + ends[1]) / 2
        return middle, np.nansum(np.abs(ordered - middle), axis=0) / held
