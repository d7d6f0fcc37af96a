"""Numbers computed from a run's output, whose thresholds are events: coordinates, bits, histograms, classifiers.

All that is learnt from data is learnt from the runs given to `learn`, which a test must not use again.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from refdp.audit.alignment import ALIGNED
from refdp.audit.outputs import BESIDE, OF_ERROR

Floats = NDArray[np.float64]

COORDINATES = 24
"""At most this many coordinates are looked at one by one: those whose means differ most; as many others by digits."""
DIGIT_RUNS = 1_000
"""At most this many runs a side say whose digits differ most."""
DIGIT_CELLS = 400_000
"""Numbers whose digits are looked at for that: fewer runs where there are more coordinates, 100 a side at least."""
PAIRED = 6
"""Differences and quotients are looked at of two among so many coordinates that vary, where few more do."""
WRITTEN = 3
"""So many more: how numbers in a text are written stands behind them."""
MODULI = (1_000, 1_024)
RESIDUES = 6
"""Residues are looked at of so many coordinates: whole numbers that lie farther apart than these moduli."""
BINS = 48
"""Bins of a histogram, of equal mass."""
LEARNT = 5_000
"""At most this many runs a side train a classifier."""
ENOUGH = 1_000
"""Runs a side from which on boosted trees are tried beside a linear classifier."""


class Statistic(Protocol):
    """A number for every row of outputs; `words` says which, `learnt` whether it depends on runs."""

    learnt: ClassVar[bool]

    @property
    def words(self) -> str:
        """What the number is."""

    def __call__(self, rows: Floats) -> Floats:
        """One number for every row."""


@dataclass(frozen=True)
class Coordinate:
    """One released number. Not-a-number counts as infinity. counts: it says how many outputs the run had."""

    learnt: ClassVar[bool] = False
    index: int
    counts: bool = False

    @property
    def words(self) -> str:
        """Which output."""
        return "number of outputs (0: an error, or nothing with numbers)" if self.counts else f"output {self.index}"

    def __call__(self, rows: Floats) -> Floats:
        """The column."""
        column = rows[:, self.index]
        return np.where(np.isnan(column), np.inf, column)


@dataclass(frozen=True)
class Difference:
    """Difference of two released numbers: exact if one noise was used for both."""

    learnt: ClassVar[bool] = False
    first: int
    second: int

    @property
    def words(self) -> str:
        """Which outputs."""
        return f"output {self.first} - output {self.second}"

    def __call__(self, rows: Floats) -> Floats:
        """The difference; 0 of equal infinities."""
        with np.errstate(invalid="ignore"):
            difference = rows[:, self.first] - rows[:, self.second]
        return np.where(np.isnan(difference), 0.0, difference)


@dataclass(frozen=True)
class Quotient:
    """Quotient of two released numbers: exact if one noise was multiplied to both."""

    learnt: ClassVar[bool] = False
    first: int
    second: int

    @property
    def words(self) -> str:
        """Which outputs."""
        return f"output {self.second} / output {self.first}"

    def __call__(self, rows: Floats) -> Floats:
        """The quotient; 0 where it is not a number."""
        with np.errstate(all="ignore"):
            quotient = rows[:, self.second] / rows[:, self.first]
        return np.where(np.isnan(quotient), 0.0, quotient)


@dataclass(frozen=True)
class Decimals:
    """Decimals of a number as written, or its digits from the first that is not zero: noise rounded as data say.

    100 for numbers of more digits than a float is sure of, and for what is not finite.
    """

    learnt: ClassVar[bool] = False
    index: int
    significant: bool = False

    @property
    def words(self) -> str:
        """Which output."""
        return f"{'significant digits' if self.significant else 'decimals'} of output {self.index}"

    def __call__(self, rows: Floats) -> Floats:
        """How many digits."""
        column = np.abs(rows[:, self.index])
        usual = np.flatnonzero(np.isfinite(column) & (column > 0))
        found = np.where(column == 0, 0.0, 100.0)
        first = np.zeros(len(column))
        first[usual] = np.floor(np.log10(column[usual]))
        for decimals in range(16):
            usual = usual[(column[usual] < SURE / 10.0**decimals) & (found[usual] == 100.0)]
            scaled = column[usual] * 10.0**decimals
            found[usual[np.abs(scaled - np.rint(scaled)) <= ROUNDED * scaled]] = decimals
        return np.where(found < 100, np.maximum(found + first + 1, 0), found) if self.significant else found


@dataclass(frozen=True)
class Denominator:
    """Denominator of the simplest fraction that a number is, up to rounding: noise on a grid that follows the data.

    0 where no denominator below 2^20 is one.
    """

    learnt: ClassVar[bool] = False
    index: int

    @property
    def words(self) -> str:
        """Which output."""
        return f"denominator of output {self.index}"

    def __call__(self, rows: Floats) -> Floats:
        """By continued fractions."""
        column = rows[:, self.index]
        found = np.zeros(len(column))
        left = np.flatnonzero(np.isfinite(column) & (np.abs(column) < 2.0**30))
        number = column[left]
        rest, before, now = number.copy(), np.zeros(len(left)), np.ones(len(left))
        for _ in range(20):
            fits = np.abs(number * now - np.rint(number * now)) <= ROUNDED * np.abs(number) * now
            found[left[fits]] = now[fits]
            rest = rest - np.floor(rest)
            going = ~fits & (rest > 1e-9) & (now < MOST_DENOMINATOR)
            left = left[going]
            number, rest, before, now = (one[going] for one in (number, rest, before, now))
            if not len(left):
                break
            rest = 1 / rest
            before, now = now, np.floor(rest) * now + before
        return np.where(found < MOST_DENOMINATOR, found, 0.0)


SURE = 2.0**50
"""Scaled numbers below are told from their neighbours."""
ROUNDED = 2.0**-51
"""Relative rounding of what was computed to be on a grid."""
MOST_DENOMINATOR = 2.0**20
DIGITS = ("lowest set bit of output", "decimals of output", "significant digits of output", "denominator of output",
          "grid of output")  # fmt: skip
PARTS = 2.0**20
"""Parts of a step that remainders are told in."""
MOST_STEPS = 2.0**28
"""More steps from zero, rounding blurs them, but not whole ones of whole numbers."""
SURPRISE = 5.0
"""Deviations from chance from which on remainders are looked at."""
STEPPED = 1_000
"""At most this many runs a side show the step that outputs lie apart by."""


LOWEST_BITS = "lowest set bits"
"""Stands for the lowest set bits of all outputs; "output 3" for decimals, digits and denominator of that one."""


def about_digits(event: str) -> bool:
    """Whether an event, in words, is about last bits or digits of floating-point numbers."""
    return any(words in event for words in DIGITS)


def digits_of(event: str) -> str:
    """What an event about digits, in words, can be left out by: `LOWEST_BITS`, or "output 3", which was rounded."""
    return LOWEST_BITS if DIGITS[0] in event else re.findall(r"output \d+", event)[0]


@dataclass(frozen=True)
class LowestBit:
    """log2 of the lowest set bit of a number: floating-point noise leaves a grid that depends on the true value.

    Mironov 2012. 2000 for zero, infinities and not-a-number.
    """

    learnt: ClassVar[bool] = False
    index: int

    @property
    def words(self) -> str:
        """Which output."""
        return f"log2 of the lowest set bit of output {self.index}"

    def __call__(self, rows: Floats) -> Floats:
        """Exponent of the lowest set bit."""
        column = rows[:, self.index]
        usual = np.isfinite(column) & (column != 0)
        mantissa, exponent = np.frexp(np.where(usual, column, 1.0))
        whole = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
        lowest = np.log2((whole & -whole).astype(np.float64))
        return np.where(usual, lowest + exponent - 53, 2000.0)


@dataclass(frozen=True)
class Residue:
    """The last three decimal digits of a whole number, or its last ten bits; infinity of other numbers."""

    learnt: ClassVar[bool] = False
    index: int
    modulus: int

    @property
    def words(self) -> str:
        """Which output."""
        return f"output {self.index} modulo {self.modulus}"

    def __call__(self, rows: Floats) -> Floats:
        """The residue, not negative."""
        column = rows[:, self.index]
        whole = np.isfinite(column) & (column == np.rint(column))
        return np.where(whole, np.mod(np.where(whole, column, 0.0), self.modulus), np.inf)


@dataclass(frozen=True)
class Remainder:
    """What a number leaves modulo the step by which outputs were seen to lie apart.

    Noise of whole numbers leaves the fraction of a sum as it is. Infinity of what is not finite, or too large to tell.
    finer: the other side's step is another one, so that this is about how finely noise was rounded.
    """

    learnt: ClassVar[bool] = True
    index: int
    step: float
    finer: bool = False

    @property
    def words(self) -> str:
        """Which output."""
        return f"{'grid of ' * self.finer}output {self.index} modulo {self.step:.12g}"

    def __call__(self, rows: Floats) -> Floats:
        """From 0 up to the step, rounded to `PARTS` of it, or of 1 where it is a whole number."""
        column, whole = rows[:, self.index], self.step == np.rint(self.step)
        usual = np.abs(column) < MOST_STEPS * self.step
        if whole:
            usual |= (np.abs(column) < 2.0**53) & (column == np.rint(column))
        column = np.where(usual, column, 0.0)
        if whole:
            left = np.mod(np.rint(np.mod(column, self.step) * PARTS) / PARTS, self.step)
        else:
            left = np.mod(np.rint(column / self.step * PARTS), PARTS) * self.step / PARTS
        return np.where(usual, left, np.inf)


@dataclass(frozen=True)
class Picked:
    """Digits of a coordinate that was picked by what runs show of it, and so is compared on others."""

    learnt: ClassVar[bool] = True
    inner: Statistic

    @property
    def words(self) -> str:
        """The same."""
        return self.inner.words

    def __call__(self, rows: Floats) -> Floats:
        """The same."""
        return self.inner(rows)


@dataclass(frozen=True)
class Ratio:
    """log of how often this cell of a statistic was seen on the first side against the second.

    values: sorted; a cell is one of them (exact), or the interval that starts at one. scores has one more for the rest.
    """

    learnt: ClassVar[bool] = True
    inner: Statistic
    values: Floats = field(repr=False)
    scores: Floats = field(repr=False)
    exact: bool

    @property
    def words(self) -> str:
        """Histogram or list of values."""
        return f"log likelihood ratio by {'value' if self.exact else 'histogram'} of {self.inner.words}"

    def __call__(self, rows: Floats) -> Floats:
        """The score of each row's cell; 0 for values never seen."""
        return self.scores[_cells(self.inner(rows), self.values, self.exact)]


@dataclass(frozen=True)
class WholeRow:
    """A number that stands for the whole output: equal for equal rows, and by chance (2^-53) for others."""

    learnt: ClassVar[bool] = False

    @property
    def words(self) -> str:
        """All outputs."""
        return "the whole output"

    def __call__(self, rows: Floats) -> Floats:
        """A hash of each row, in [0, 1)."""
        bits = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows) + 0.0).view(np.uint64)
        total = np.zeros(len(rows), dtype=np.uint64)
        for column in range(rows.shape[1]):
            total = (total ^ bits[:, column]) * np.uint64(0x9E3779B97F4A7C15)
            total ^= total >> np.uint64(29)
        return (total >> np.uint64(11)).astype(np.float64) * 2.0**-53


@dataclass(frozen=True)
class Score:
    """Log odds of the first side that a classifier learnt."""

    learnt: ClassVar[bool] = True
    name: str
    model: Any = field(repr=False)

    @property
    def words(self) -> str:
        """Which classifier."""
        return f"log odds by {self.name}"

    def __call__(self, rows: Floats) -> Floats:
        """Decision function."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            return np.asarray(self.model.decision_function(_finite(rows)), dtype=np.float64)


def learn(first: Floats, second: Floats, *, low_bits: bool = True, without: Collection[str] = ()) -> list[Statistic]:
    """Every statistic that is tried, learnt from these outputs (one row a run) of the two sides.

    first, second: shape (runs, columns). low_bits: look at the lowest set bits and digits of outputs too. without: what
    of these is left out, in words of `digits_of`.
    """
    chosen = _coordinates(first, second)
    counted = _counts_in(np.concatenate([first, second]))
    plain: list[Statistic] = [Coordinate(counted, counts=True)] if counted is not None else []
    plain += [Coordinate(index) for index in chosen if index != counted]
    together = np.concatenate([first, second])
    moving = np.flatnonzero(np.any(together != together[0], axis=0)).tolist()
    pairs = list(combinations(moving[:PAIRED], 2)) if len(moving) <= PAIRED + WRITTEN else []
    plain += [Difference(i, j) for i, j in pairs]
    found: list[Statistic] = [*plain, *(Quotient(i, j) for i, j in pairs)]
    if low_bits:
        whole = _whole(together[:, chosen])
        found += [digits for index, of in zip(chosen, whole) for digits in _digits(index, without, whole=bool(of))]
        others = _by_digits(first, second, chosen, without)
        found += [Picked(digits) for index in others for digits in _digits(index, without)]
    residues = _residues(together, chosen)
    residues += _remainders(first, second, chosen, low_bits, without)
    found += residues
    found += [ratio for statistic in [*plain, *residues, WholeRow()] for ratio in _ratios(statistic, first, second)]
    if first.shape[1] > 1:
        found += _classifiers(first[:LEARNT], second[:LEARNT])
    return found


def _counts_in(rows: Floats) -> int | None:
    """The column that says how many outputs a run had; behind it may stand what an output is besides its numbers."""
    ends = range(rows.shape[1], max(rows.shape[1] - BESIDE - 2 * OF_ERROR - ALIGNED - 1, 0), -1)
    return next((end - 1 for end in ends if _last_counts(rows[:, :end])), None)


def _last_counts(rows: Floats) -> bool:
    """Whether the last column says how many outputs a run had, as `refdp.audit.runs.stacked` pads them."""
    outputs, lengths = rows[:, :-1], rows[:, -1]
    if not np.all((lengths == np.rint(lengths)) & (lengths >= 0) & (lengths <= outputs.shape[1])):
        return False
    there = np.arange(outputs.shape[1]) < lengths[:, np.newaxis]
    return bool(np.isnan(outputs).any() and np.all(there | np.isnan(outputs)))


def _coordinates(first: Floats, second: Floats) -> list[int]:
    count = first.shape[1]
    if count <= COORDINATES:
        return list(range(count))
    gap = np.abs(np.nan_to_num(_finite(first).mean(axis=0) - _finite(second).mean(axis=0)))
    spread = _finite(np.concatenate([first, second])).std(axis=0) + 1e-300
    return sorted(np.argsort(-gap / spread)[:COORDINATES].tolist())


def _residues(rows: Floats, chosen: list[int]) -> list[Statistic]:
    """Of the first of the chosen columns that are wide and whole, whose lowest digits their order does not show."""
    columns = rows[:, chosen]
    whole = _whole(columns)
    wide = whole & (np.ptp(np.where(whole, columns, 0.0), axis=0) > max(MODULI))
    return [Residue(chosen[place], modulus) for place in np.flatnonzero(wide)[:RESIDUES] for modulus in MODULI]


def _remainders(
    first: Floats, second: Floats, chosen: list[int], low_bits: bool, without: Collection[str]
) -> list[Statistic]:
    """Of the chosen columns whose remainders lie farthest apart, by the step of each side and by 1.

    Steps that are not the same are about digits, and left out as these are.
    """
    found: list[tuple[float, Statistic]] = []
    for index in chosen:
        sides = [_steady(side[:STEPPED, index]) for side in (first, second)]
        steps = [_step(side) for side in sides]
        alike = all(steps) and abs(steps[0] / steps[1] - 1) < 1e-6
        tried = {steps[0]} if alike else {*filter(None, steps)}
        if all(len(side) and np.ptp(side) > 2 for side in sides):
            tried.add(1.0)
        finer = any(steps) and not alike
        if finer and (not low_bits or f"output {index}" in without):
            continue
        for step in sorted(tried):
            remainder = Remainder(index, step, finer)
            seen = [remainder(side[:STEPPED]) for side in (first, second)]
            apart = max(_surprise(*seen), _surprise(*(np.floor(side / step * BINS) for side in seen)))
            if apart > SURPRISE:
                found.append((apart, remainder))
    return [one for _, one in sorted(found, key=lambda each: -each[0])[:RESIDUES]]


def _steady(column: Floats) -> Floats:
    """The values of a column that are numbers, each once, in order."""
    return np.unique(column[np.isfinite(column)])


def _step(values: Floats) -> float:
    """The greatest step of which all numbers lie multiples apart, up to rounding; 0 where rounding hides it, or none.

    values: in order, each once. By Euclid's algorithm, on small gaps before large ones, which tell the step better.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if len(values) < 3 or largest > 1e300:
        return 0.0
    gaps = np.sort(np.diff(values))
    if largest < 2.0**53 and np.all(values == np.rint(values)):
        return float(np.gcd.reduce(gaps.astype(np.int64)))
    blurred, least = largest * 2.0**-40, largest / MOST_STEPS
    step = float(gaps[0])
    if step < least:
        return 0.0
    for gap in gaps.tolist():
        rest = abs(gap - round(gap / step) * step)
        if rest <= blurred:
            step = gap / round(gap / step)
            continue
        while rest > blurred:
            step, rest = rest, abs(step - round(step / rest) * rest)
        if step < least:
            return 0.0
    shown = float(f"{step:.12g}")
    return shown if abs(shown - step) <= step * 2.0**-44 else step


def _whole(columns: Floats) -> NDArray[np.bool_]:
    """Which columns are whole numbers, of which digits after the point say nothing, and how many say how large."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.all((columns == np.rint(columns)) & (np.abs(columns) < SURE), axis=0))


def _digits(index: int, without: Collection[str] = (), *, whole: bool = False) -> tuple[Statistic, ...]:
    lowest = () if LOWEST_BITS in without else (LowestBit(index),)
    rounded = (Decimals(index), Decimals(index, significant=True), Denominator(index))
    return (*lowest, *(() if whole or f"output {index}" in without else rounded))


def _by_digits(first: Floats, second: Floats, chosen: list[int], without: Collection[str] = ()) -> list[int]:
    """Other columns whose last bits, decimals or denominators differ most between the sides, on the first runs."""
    columns = np.setdiff1d(np.arange(first.shape[1]), chosen)
    runs = min(max(DIGIT_CELLS // max(len(columns), 1), 100), DIGIT_RUNS, len(first))
    rows = np.concatenate([first[:runs], second[:runs]])
    columns = columns[np.any(rows[:, columns] != rows[0, columns], axis=0)]
    apart = np.zeros(len(columns))
    for part in np.array_split(np.arange(len(columns)), 1 + columns.size * len(rows) // DIGIT_CELLS):
        cells = rows[:, columns[part]].reshape(-1, 1)
        for statistic in _digits(0, {LOWEST_BITS} & {*without}):
            sides = np.split(statistic(cells).reshape(len(rows), -1), 2)
            apart[part] = np.maximum(apart[part], [_surprise(*one) for one in zip(*(side.T for side in sides))])
    return sorted(columns[np.argsort(-apart, kind="stable")[:COORDINATES]].tolist())


def _surprise(first: Floats, second: Floats) -> float:
    """How far two histograms of as many runs lie apart, in deviations from what chance makes of them (chi-square)."""
    values, cells = np.unique(np.concatenate([first, second]), return_inverse=True)
    a, b = (np.bincount(side, minlength=len(values)) for side in np.split(cells.ravel(), [len(first)]))
    return float((np.sum((a - b) ** 2 / (a + b)) - len(values)) / np.sqrt(2 * len(values)))


def _ratios(statistic: Statistic, first: Floats, second: Floats) -> Iterator[Ratio]:
    a, b = statistic(first), statistic(second)
    pooled = np.concatenate([a, b])
    values, counts = np.unique(pooled, return_counts=True)
    if len(values) <= len(pooled) // 4:
        yield _ratio(statistic, values, a, b, exact=True)
    elif not isinstance(statistic, WholeRow):
        if counts.max() > 2:
            yield _ratio(statistic, values[counts > 2], a, b, exact=True)
        finite = pooled[np.isfinite(pooled)]
        edges = np.unique(np.quantile(finite, np.arange(1, BINS) / BINS)) if len(finite) else values[:1]
        yield _ratio(statistic, edges, a, b, exact=False)


def _ratio(statistic: Statistic, values: Floats, first: Floats, second: Floats, *, exact: bool) -> Ratio:
    """Cells with the log ratio of counts, half a run added to each."""
    a, b = (np.bincount(_cells(side, values, exact), minlength=len(values) + 1) for side in (first, second))
    scores = np.log((a + 0.5) / (b + 0.5))
    if exact:
        scores[-1] = 0.0
    return Ratio(statistic, values, scores, exact)


def _cells(numbers: Floats, values: Floats, exact: bool) -> NDArray[np.intp]:
    if not exact:
        return np.searchsorted(values, numbers, side="right")
    place = np.minimum(np.searchsorted(values, numbers), len(values) - 1)
    return np.where(values[place] == numbers, place, len(values))


def _classifiers(first: Floats, second: Floats) -> list[Statistic]:
    """A logistic regression, and boosted trees where there are runs enough; half of the runs are from each side."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    rows = _finite(np.concatenate([first, second]))
    sides = np.repeat([1, 0], [len(first), len(second)])
    models: list[tuple[str, Callable[[], Any]]] = [
        ("logistic regression", lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)))
    ]
    if len(first) >= ENOUGH:
        models.append(
            ("boosted trees", lambda: HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=15, random_state=0))
        )
    with warnings.catch_warnings(), threadpool_limits(1):  # many small fits: threads would cost more than they bring
        warnings.simplefilter("ignore")  # a classifier that has not converged is a worse event, not a wrong one
        return [Score(name, make().fit(rows, sides)) for name, make in models]


def _finite(rows: Floats) -> Floats:
    """Not-a-number as 0, and everything within +-1e12, as classifiers need it."""
    return np.clip(np.nan_to_num(rows, nan=0.0, posinf=1e12, neginf=-1e12), -1e12, 1e12)
