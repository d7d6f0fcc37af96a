"""Assertions for test suites of other projects: privacy, sensitivity, and that nothing slips past the releases.

Each states its false-alarm rate and its cost, and neither depends on how the code under test behaves.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence, MutableSet, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from refdp.audit.blackbox import Bound, epsilon_lower_bound
from refdp.audit.blackbox_rows import short
from refdp.audit.reading import kind_of
from refdp.audit.runs import RAISED, as_pair, as_pairs, raise_if_ending
from refdp.audit.same_records import is_reordered
from refdp.audit.structural_beside import is_frame
from refdp.audit.structural_state import OPAQUE, attributes, read
from refdp.checks import check_number
from refdp.errors import InvalidParameter

Floats = NDArray[np.float64]

SLACK = 1e-9
"""Relative slack for rounding in `assert_sensitivity`."""
BY_TYPE = ("the state of a ", "it comes after ")
"""Of random generators, and of what is so large that its values are compared and not how each is written."""
SHARED = (MutableSequence, MutableMapping, MutableSet, np.ndarray)
"""Of these it is compared which parts are one object: who changes one changes the other."""
COMPARED = (str, bytes, int, float, complex, type(None), np.generic)
"""What is compared by how it is written; other things without parts are read."""
LABELS = ("index", "columns", "names", "name", "attrs", "mask", "fill_value", "_fields")
"""Of results: of tables and columns, masked arrays and named tuples."""
SAME = "not examined: the same records in another order on both sides: no record differs"


def assert_dp(
    mechanism: Any,
    pair: Any,
    epsilon: float,
    delta: float = 0.0,
    *,
    samples: int = 20_000,
    false_alarm: float = 1e-9,
    seed: int = 0,
    low_bits: bool = True,
) -> Bound:
    """Fail if runs of the mechanism on neighbours refute (epsilon, delta) privacy.

    mechanism, pair, low_bits: as of `refdp.audit.epsilon_lower_bound`.
    False alarms: a private mechanism fails with probability at most `false_alarm`, over all seeds and pairs together;
    with a fixed seed it always or never does. Passing proves nothing.
    Cost: at most `samples` runs on each side of each pair.
    Errors: AssertionError with the event and its counts; InvalidParameter where passing would say nothing: too few
    samples to show any violation of epsilon, one output in all runs, outputs that were not looked into, and pairs of
    the same records, in another order too.
    """
    check_number("false_alarm", false_alarm, least=2.0**-52, below=1)
    bound = epsilon_lower_bound(
        mechanism,
        pair,
        delta,
        claimed=epsilon,
        confidence=1 - false_alarm,
        samples=samples,
        seed=seed,
        low_bits=low_bits,
    )
    if bound.refuted:
        here, there = bound.counts
        raise AssertionError(
            f"not ({epsilon:g}, {delta:g}) private: epsilon >= {bound.lower:.4g} at pair {bound.pair}. {bound.event} "
            f"happened in {here} of {bound.tested} runs on the {bound.likelier} side, in {there} on the other "
            f"({bound.test}, false alarms {false_alarm:g})"
        )
    if bound.needed:
        raise InvalidParameter(f"samples = {samples}: {short(bound)}")
    if bound.still:
        raise InvalidParameter("not examined: all runs gave one output, on both sides: nothing was compared")
    if all(is_reordered(one.first, one.second) for one in as_pairs(pair)):
        raise InvalidParameter(SAME)
    if bound.unread:
        raise InvalidParameter(f"not examined: {'; '.join(bound.unread)}: not looked at")
    return bound


def assert_sensitivity(
    function: Callable[[Any], Any],
    pairs: Iterable[Any],
    bound: float,
    *,
    norm: Literal[1, 2, "max"] = 1,
) -> float:
    """Fail if a deterministic function changes by more than `bound` between neighbours; returns the largest change.

    False alarms: none beyond a relative rounding of 1e-9. Cost: three calls a pair.
    Errors: AssertionError naming the pair, also if shapes, labels or masks differ (of counts by value, take
    `reindex` with public values), a value is NaN or infinite, or the function gives another result for the same
    records; InvalidParameter if there is no pair, if all are of the same records, also in another order, or for
    results that are no numbers.
    """
    check_number("bound", bound, least=0)
    if norm not in (1, 2, "max"):
        raise InvalidParameter(f"norm {norm!r}: allowed are 1, 2 and 'max'")
    known = [as_pair(pair) for pair in pairs]
    changes = [_change(function, pair, number, norm) for number, pair in enumerate(known)]
    if not changes:
        raise InvalidParameter("pairs = []: at least one pair of neighbours is needed")
    if all(is_reordered(one.first, one.second) for one in known):
        raise InvalidParameter(SAME)
    worst = max(range(len(changes)), key=lambda number: changes[number])
    if changes[worst] > min(bound * (1 + SLACK), sys.float_info.max):
        raise AssertionError(f"sensitivity {changes[worst]:.9g} at pair {worst}, above the stated {bound:.9g} ({norm})")
    return changes[worst]


def _change(function: Callable[[Any], Any], pair: Any, number: int, norm: Literal[1, 2, "max"]) -> float:
    results = [function(copy.deepcopy(side)) for side in (pair.first, pair.first, pair.second)]
    first, again, second = map(_numbers, results)
    of_first, of_again, of_second = (list(_labels(one)) for one in results)
    same = first.shape == again.shape and _equal(of_first, of_again)
    if not same or not bool(np.all((first == again) | ((first != first) & (again != again)))):
        raise AssertionError(f"pair {number}: the result changes from call to call, so that its change says nothing")
    if first.shape != second.shape:
        raise AssertionError(f"pair {number}: shapes {first.shape} and {second.shape} differ, which gives a side away")
    if not _equal(of_first, of_second):
        raise AssertionError(f"pair {number}: labels, names or masks differ, which gives a side away")
    if not all(_is_finite(one) for one in (first, second)):
        raise AssertionError(f"pair {number}: a value is infinite or not a number, so no change is bounded")
    change = _distances(first, second)
    most = float(change.max(initial=0.0))
    if norm == "max" or most == 0 or not np.isfinite(most):
        return most
    return most * float(np.linalg.norm(change / most, norm))  # squares of small numbers would be 0


def _distances(first: np.ndarray, second: np.ndarray) -> Floats:
    """How far numbers lie apart, shape (numbers,), infinite beyond floats; 0 only where they are equal."""
    with np.errstate(over="ignore"):
        if object in (first.dtype, second.dtype):
            far = [_as_float(abs(_exact(one) - _exact(other))) for one, other in zip(first.flat, second.flat)]
            change = np.array(far, dtype=np.float64)
        else:
            change = np.asarray(abs(first - second), dtype=np.float64).ravel()
    return np.where((change == 0) & (first != second).ravel(), np.nextafter(0.0, 1.0), change)


def _is_finite(numbers: np.ndarray) -> bool:
    if numbers.dtype != object:
        return bool(np.isfinite(numbers).all())
    return all(isinstance(one, int | Fraction) or np.isfinite(one) for one in numbers.flat)


def _exact(number: Any) -> Fraction:
    return Fraction(*number.as_integer_ratio())


def _as_float(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf


def _numbers(result: Any) -> np.ndarray:
    """Numbers as an array of floats; of objects, each as it is, where some are whole numbers or fractions of Python.

    Errors: InvalidParameter for what has others than numbers, or other than rows of one length.
    """
    found = _array(result)
    if found is None:
        raise InvalidParameter(f"result {repr(result)[:60]}: a number or an array of numbers is needed")
    return np.atleast_1d(found)


def _array(thing: Any) -> np.ndarray | None:
    """Each part by its own kind: an array of whole numbers and floats together would round the former."""
    if isinstance(thing, int | Fraction):
        return np.array(int(thing) if isinstance(thing, int) else thing, dtype=object)
    if isinstance(thing, Decimal):
        return np.array(Fraction(thing) if thing.is_finite() else float(thing), dtype=object)
    if is_frame(thing) and hasattr(thing, "columns"):
        columns = _stacked([_array(thing.iloc[:, place]) for place in range(len(thing.columns))])
        return None if columns is None else columns.T
    if isinstance(thing, Sequence) and not isinstance(thing, str | bytes | bytearray):
        return np.array(thing) if {*map(type, thing)} <= {float} else _stacked([_array(one) for one in thing])
    try:
        array = np.asarray(thing)
    except ValueError:  # rows of different lengths
        return None
    if array.dtype == object:
        parts = _stacked([None if one is thing else _array(one) for one in array.flat])
        return None if parts is None or parts.size != array.size else parts.reshape(array.shape)
    if array.dtype.kind not in "fiub":
        return None
    if array.dtype.kind != "f":
        return array.astype(object)  # whole numbers of Python, whose differences are exact
    return array if array.dtype.itemsize > 8 else array.astype(np.float64)


def _labels(thing: Any) -> Iterator[Any]:
    """What says of the numbers of a result what each is of. thing: `_numbers` takes it."""
    if isinstance(thing, Number) or (type(thing) is np.ndarray and thing.dtype != object):
        return
    named = [getattr(thing, name) for name in LABELS if hasattr(type(thing), name)]  # columns of a table are no labels
    yield from (part for part in named if not callable(part))
    yield getattr(getattr(thing, "dtype", None), "categories", None)
    parts: Iterable[Any]
    if is_frame(thing) and hasattr(thing, "columns"):
        parts = [thing.iloc[:, place] for place in range(len(thing.columns))]
    elif isinstance(thing, Sequence):
        parts = () if {*map(type, thing)} <= {bool, int, float} else thing
    else:
        array = np.asarray(thing)
        parts = array.flat if array.dtype == object else ()
    for one in parts:
        yield from () if one is thing else _labels(one)


def _equal(ours: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether labels are; an index of pandas by what it has for this, which is as quick as it is long."""
    for one, other in zip(ours, others):
        if is_frame(one) and hasattr(one, "equals"):
            named = ([list(side.names), getattr(side.dtype, "categories", None)] for side in (one, other))
            if not one.equals(other) or not _equal(*named):
                return False
        elif difference(one, other) is not None:
            return False
    return len(ours) == len(others)


def _stacked(parts: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Nothing where they do not have one shape."""
    arrays = [part for part in parts if part is not None]
    if len(arrays) < len(parts) or len({part.shape for part in arrays}) > 1:
        return None
    return np.stack(arrays) if arrays else np.empty(0)


def assert_noninterference(build: Callable[[Any, Any], Any], pair: Any, released: Iterable[Any]) -> int:
    """Fail if anything built from released values depends on the records in another way.

    build(records, values) must give the same for both neighbours, bit by bit, whatever values were released; returns
    how many were tried. Objects are compared by all that the structural checks of `refdp.audit` read of them, code by
    its text and random generators by their type.
    False alarms: none; `build` is called twice on one side to see that it is deterministic. Cost: three calls a value.
    Errors: AssertionError naming the place of the first difference, also if `build` raises on one side only or
    changes the values;
    InvalidParameter if there is nothing to try, for the same records on both sides, in another order too, and for
    parts that nothing shows.
    """
    sides, tried = as_pair(pair), 0
    if is_reordered(sides.first, sides.second):
        raise InvalidParameter(SAME)
    for number, values in enumerate(released):
        made = [_built(build, side, values) for side in (sides.first, sides.first, sides.second)]
        (first, own), (again, _), (second, others) = made
        if isinstance(first, _Raised) and isinstance(second, _Raised):
            raise first.error
        where = difference(first, again)
        if where is not None:
            raise AssertionError(f"released values {number}: {where or 'the result'} changes from call to call")
        where = difference(first, second)
        if where is not None:
            raised = next((f": {one.error!r}" for one in (first, second) if isinstance(one, _Raised)), "")
            raise AssertionError(f"released values {number}: {where or 'the result'} depends on the records{raised}")
        where = _difference(own, others, "", frozenset(), _Seen())
        if where is not None:
            raise AssertionError(f"released values {number}: {where or 'they'} were changed, depending on the records")
        for place, why in read(first).left.items():
            if not why.startswith(BY_TYPE):
                raise InvalidParameter(f"not examined: {place or 'the result'}: {why}")
        tried = number + 1
    if not tried:
        raise InvalidParameter("released = []: at least one set of released values is needed")
    return tried


@dataclass(frozen=True)
class _Raised:
    """An error instead of a result."""

    error: BaseException


def _built(build: Callable[[Any, Any], Any], records: Any, values: Any) -> tuple[Any, Any]:
    """What is built, and the values afterwards: each call has its own, where they can be copied."""
    with suppress(Exception):
        values = copy.deepcopy(values)
    try:
        return build(copy.deepcopy(records), values), values
    except RAISED as error:
        raise_if_ending(error)
        return _Raised(error), values


@dataclass
class _Seen:
    """Of parts that were compared, by identity, both; and where a part is one seen before on one side alone."""

    parts: tuple[dict[int, Any], dict[int, Any]] = field(default_factory=lambda: ({}, {}))
    apart: list[str] = field(default_factory=list)

    def note(self, first: Any, second: Any, path: str) -> None:
        """Both are kept: another object would have the identity of one that is gone."""
        ours, others = self.parts
        pair = first, second
        if ours.setdefault(id(first), pair)[1] is not second or others.setdefault(id(second), pair)[0] is not first:
            self.apart.append(path)


def difference(first: Any, second: Any, path: str = "") -> str | None:
    """Path of the first place where two nested values differ in type, shape or bits, or in what else is read of them.

    None if nowhere.
    """
    seen = _Seen()
    found = _difference(first, second, path, frozenset(), seen)
    if found is not None or seen.apart:
        return seen.apart[0] if found is None else found
    one, other = read(first, whole=True), read(second, whole=True)
    ours, others = ({place: repr(leaf) for place, leaf in every.leaves.items()} for every in (one, other))
    if ours != others:  # by their texts, as nan is nan here
        return path + next(place for place in (*ours, *others) if ours.get(place) != others.get(place))
    same = (one.form, one.spelled, one.keys) == (other.form, other.spelled, other.keys)
    return None if same else path


def _difference(first: Any, second: Any, path: str, above: frozenset[int], seen: _Seen) -> str | None:
    """Of types, shapes, bits and which parts are one object.

    above: what holds the first one, by identity: what holds itself is compared once.
    """
    if kind_of(type(first)) != kind_of(type(second)):
        return path
    if isinstance(first, SHARED):
        seen.note(first, second, path)
    if id(first) in above or isinstance(first, OPAQUE) or hasattr(first, "__code__") or is_frame(first):
        return None
    above |= {id(first)}
    if isinstance(first, np.ndarray):
        same = first.shape == second.shape and first.dtype == second.dtype
        if same and first.dtype != object:
            return None if first.tobytes() == second.tobytes() else path
        return _first_of(enumerate(zip(first.ravel(), second.ravel())), path, above, seen) if same else path
    if isinstance(first, Mapping):
        keys, others = list(first), list(second)
        same = (one == other or (one != one and other != other) for one, other in zip(keys, others))
        if len(keys) != len(others) or not all(same):
            return path
        return _first_of(((key, (first[key], second[other])) for key, other in zip(keys, others)), path, above, seen)
    if isinstance(first, (set, frozenset)):
        one, other = ([repr(part) for part in side] for side in (first, second))
        in_order = all(isinstance(part, COMPARED) for part in first)  # others are where their addresses put them
        return None if (one == other if in_order else sorted(one) == sorted(other)) else path
    if isinstance(first, Sequence) and not isinstance(first, (str, bytes)):
        if len(first) != len(second):
            return path
        return _first_of(enumerate(zip(first, second)), path, above, seen)
    if hasattr(first, "__dict__") or hasattr(first, "__slots__"):
        return _difference(attributes(first), attributes(second), path, above, seen)
    return None if first is second or not isinstance(first, COMPARED) or repr(first) == repr(second) else path


def _first_of(
    parts: Iterable[tuple[Any, tuple[Any, Any]]],
    path: str,
    above: frozenset[int],
    seen: _Seen,
) -> str | None:
    found = (_difference(first, second, f"{path}[{key!r}]", above, seen) for key, (first, second) in parts)
    return next((where for where in found if where is not None), None)
