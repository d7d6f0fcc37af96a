"""One run's output as numbers, and beside them what else there is of it: how it is written, its form, what is unread.

Behind the numbers of a run stand `BESIDE` more; those that never change are left out of what is compared.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdp.audit import alignment
from refdp.audit.alignment import Numbers, by_rows, of_shape
from refdp.audit.by_name import HEAP_TYPE
from refdp.audit.hidden_memory import behind, metadata
from refdp.audit.in_floats import NUMBER, WHOLE, digits_left
from refdp.audit.inside import attributes
from refdp.audit.reading import Leaf, Reading, kind_of
from refdp.audit.structural_beside import own_class
from refdp.audit.structural_state import read
from refdp.errors import InvalidParameter

Floats = NDArray[np.float64]

BESIDE = 8
"""How many segments of names stand in front of these, by which numbers are aligned where lengths vary
(`refdp.audit.alignment`). Of numbers in texts: how they are written, in which ways, how many and which are whole ones;
the form of the output, whether it is an error, how many places were not looked into."""
OF_ERROR = 16
"""Numbers of an error that are compared as numbers: the first ones, and as many last ones."""
SIMPLE = (bool, int, float, list, tuple)
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


def one_row(output: Any) -> Floats:
    """One run's output as floats, shape (numbers,).

    An array of numbers is flattened. Of anything else (mappings, nested lists, objects, JSON texts) the numbers are
    taken in the order of `refdp.audit.structural_state.leaves`, those in texts too, and one more stands for all names
    and for texts without their numbers. Digits that a float does not hold follow as numbers of their own.
    Errors: InvalidParameter for an output without numbers.
    """
    row = parts_of(whole_row(output))[0]
    if not row.size:
        raise without_numbers(output)
    return row


def without_numbers(output: Any) -> InvalidParameter:
    """The error for an output that nothing can be counted of."""
    shown = type(output).__name__
    return InvalidParameter(f"an output is {shown}, without numbers: the mechanism has to return real numbers")


def whole_row(output: Any) -> Floats:
    """`one_row` and what stands beside it, shape (numbers + BESIDE,); without numbers, its names and texts do."""
    try:
        array = np.asarray(output)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # lists of different lengths, an object's own code
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "fiub" and array.size and _is_simple(output):
        nearest = array.astype(np.float64)
        row = np.append(nearest, digits_left(array, nearest))
        if type(output) in (list, tuple):
            row = np.append(row, [one for part in _short(output) for one in digits_left(part, np.empty(0))])
        if array.dtype.kind == "f" and type(output) is not np.ndarray and np.any(np.abs(nearest) >= WHOLE):
            row = np.append(row, [float(one - int(float(one))) for one in _large(output)])  # floats beside it
        zeros = np.flatnonzero((nearest == 0) & np.signbit(nearest))
        signs = _digest(zeros.tolist()) if zeros.size else 0.0
        segments = by_rows(array, of_shape(array.shape, len(row) - array.size))
        beside_it = [signs, 0.0, 0.0, 0.0, _digest(_kinds(output)), 0.0, 0.0]
        return np.concatenate([row, segments, [len(segments) // 4], beside_it])
    reading = read(output)
    found = Numbers()
    for path, leaf in reading.leaves.items():
        found.add(path, reading.blank.get(path, path), leaf, reading.named.get(path, ""))
    if not found.numbers:
        return np.array([0.0, _digest((list(reading.leaves.items()), reading.spelled)), *_beside(reading)[1:]])
    for name in reading.keys:
        blank = f"key {NUMBER.sub('0', name)}"
        found.add(blank, blank, name)
    names = [
        (reading.blank.get(path, path), NUMBER.sub("0", leaf) if isinstance(leaf, str) else "")
        for path, leaf in reading.leaves.items()
    ]
    found.add("names", "names", _digest(names))
    return _row(found, _beside(reading))


def _row(found: Numbers, beside: Sequence[float]) -> Floats:
    segments = found.segments()
    return np.array([*found.numbers, *segments, len(segments) // 4, *beside], dtype=np.float64)


def with_score(row: Floats, score: Sequence[float] | None) -> Floats:
    """A row of `whole_row` with a score in front, and behind its numbers what a float does not hold of the score.

    score: None where it raised, which counts as a place that was not looked into. Shape (numbers + BESIDE,).
    """
    numbers, segments, beside = parts_of(row)
    if score is None:
        score, beside = [np.nan], np.append(beside[:-1], beside[-1] + 1)
    segments = alignment.with_score(segments, len(numbers), len(score) - 1)
    return np.concatenate([score[:1], numbers, score[1:], segments, [len(segments) // 4], beside])


def row_of_error(error: BaseException) -> Floats:
    """A run that raised: which error it was, and numbers that it tells. Shape (numbers + BESIDE,)."""
    told = [ADDRESS.sub("0x", f"{kind_of(one)}: {one} {getattr(one, '__notes__', '')}") for one in _chain(error)]
    reading = _of_error(error)
    held = ADDRESS.sub("0x", repr((reading.leaves, reading.spelled)))
    for one in told:
        reading.note_numbers(one, "")
    kinds = [NUMBER.sub("0", one) for one in told], reading.form, [type(_alone(one)).__name__ for one in _chain(error)]
    found = Numbers()
    for place, one in enumerate(told):
        found.add(f"raises [{place}]", "raises", one)
    for path, leaf in reading.leaves.items():
        found.add(f"raises {path}", f"raises {path}", leaf)
    found.cut(OF_ERROR)
    _, ways, wholes, _ = _written(reading)
    written = _digest((reading.odd, reading.wholes)) if reading.wholes else 0.0
    whole = _digest((told, held))
    return _row(found, (whole, ways, wholes, written, _digest(kinds), 1.0, float(len(reading.left))))


def leaves_of_error(error: BaseException) -> dict[str, Leaf]:
    """A run that raised as a flat state: the error's text, and what it and those that it came from have besides."""
    told: dict[str, Leaf] = {
        f"raises{f', from error {place}' * (place > 0)}": f"{type(one).__name__}: {one}"
        for place, one in enumerate(_chain(error))
    }
    told |= {f"raises {path}": leaf for path, leaf in _of_error(error).leaves.items() if leaf != "dict"}
    return {path: ADDRESS.sub("0x", leaf) if isinstance(leaf, str) else leaf for path, leaf in told.items()}


def _of_error(error: BaseException) -> Reading:
    """What an error and those that it came from have beside their texts: arguments, attributes, classes."""
    return read([dict(_beside_text(one)) for one in _chain(error)], whole=True)


def _beside_text(error: BaseException) -> Iterator[tuple[str, Any]]:
    """An argument is left out if it is all of the text."""
    text, alone = str(error), _alone(error)
    if type(alone) not in (str, int, float) or text not in (str(alone), repr(alone)):
        yield ".args", error.args
    yield from attributes("", error)
    yield from own_class(error)


def _alone(error: BaseException) -> Any:
    """The argument of an error that has one."""
    return error.args[0] if len(error.args) == 1 else None


def unread_of_error(error: BaseException) -> tuple[str, ...]:
    """What of an error was not looked into, and why, in words."""
    return tuple(f"the error: {path}: {why}" for path, why in _of_error(error).left.items())


def unread(output: Any) -> tuple[str, ...]:
    """What of an output was not looked into, and why, in words."""
    return tuple(f"{path or 'the output'}: {why}" for path, why in read(output).left.items())


def changing(first: Sequence[Floats], second: Sequence[Floats]) -> tuple[Floats, Floats]:
    """What stands beside the rows of both sides, the columns of it that change: shapes (runs, columns).

    Whether they do is read off the first quarter of the runs, on which no event is tested.
    """
    both = [np.array([beside(row) for row in side]).reshape(len(side), BESIDE - 2) for side in (first, second)]
    early = np.concatenate([side[: max(len(side) // 4, 1)] for side in both])
    kept = np.flatnonzero(np.ptp(early, axis=0))
    return both[0][:, kept], both[1][:, kept]


def first_unread(sides: Sequence[Sequence[Floats]]) -> tuple[int, int] | None:
    """Side and run of an output that was not looked into everywhere; None where there is none.

    sides: rows of `whole_row` of every run, each of shape (numbers + BESIDE,).
    """
    for side, rows in enumerate(sides):
        for run, row in enumerate(rows):
            if row.ndim == 1 and row[-1] > 0:
                return side, run
    return None


def _is_simple(output: Any) -> bool:
    """Whether it is nothing but numbers, in lists, tuples and arrays of no class of their own."""
    if type(output) in (list, tuple):
        return all(map(_is_simple, output))
    if type(output) is np.ndarray:
        return behind(output) is None and not any(metadata(output.dtype))
    return type(output) in SIMPLE or (
        isinstance(output, np.number | np.bool_) and not type(output).__flags__ & HEAP_TYPE
    )


def _large(output: Any) -> Iterator[int]:
    """Whole numbers in lists and arrays that are no floats."""
    if type(output) in (list, tuple):
        yield from (whole for one in output for whole in _large(one))
    elif isinstance(output, np.ndarray):
        yield from (whole for one in output.ravel().tolist() for whole in _large(one))
    elif isinstance(output, int | np.integer) and abs(int(output)) > WHOLE:
        yield int(output)


def _short(output: Any) -> Iterator[np.ndarray]:
    """Truth values and short floats in lists, whose bits an array of another type does not keep."""
    if type(output) in (list, tuple):
        yield from (part for one in output for part in _short(one))
    elif isinstance(output, np.ndarray | np.floating) and output.dtype.kind in "bf" and output.dtype.itemsize < 8:
        yield np.asarray(output)


def _kinds(output: Any) -> Any:
    if type(output) in (list, tuple):
        return type(output).__name__, [_kinds(one) for one in output]
    return type(output).__name__ if type(output) in (bool, int, float) else kind_of(output)


def is_error(row: Floats) -> bool:
    """Whether a row of `whole_row` or `row_of_error` is that of a run that raised. row: shape (numbers + BESIDE,)."""
    return bool(row[-2] == 1.0)


def parts_of(row: Floats) -> tuple[Floats, Floats, Floats]:
    """Numbers of a row of `whole_row` or `row_of_error`, their segments, and what stands beside them.

    Shapes (numbers,), (4 * segments,) and (BESIDE - 1,).
    """
    end = len(row) - BESIDE
    start = end - 4 * int(row[end])
    return row[:start], row[start:end], row[end + 1 :]


def beside(row: Floats) -> Floats:
    """What stands beside the numbers of a row and is compared. Shape (BESIDE - 2,)."""
    return row[1 - BESIDE : -1]


def _beside(reading: Reading) -> tuple[float, ...]:
    return *_written(reading), _digest(reading.form), 0.0, float(len(reading.left))


def _written(reading: Reading) -> tuple[float, float, float, float]:
    """How numbers in texts are written: at which places how, in which ways at all, how many as whole ones, and which.

    Ways that vary with noise at many places are few all together.
    """
    spelled = _digest(reading.spelled) if reading.spelled else 0.0
    ways = _digest(sorted(set(reading.odd))) if reading.odd else 0.0
    return spelled, ways, float(sum(reading.wholes)), _digest(reading.wholes) if any(reading.wholes) else 0.0


def _chain(error: BaseException) -> list[BaseException]:
    """An error, and those that it came from."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting and len(found) < 20:
        one = waiting.pop()
        if one is not None and not any(one is known for known in found):
            found.append(one)
            waiting += [one.__context__, one.__cause__]
    return found


def _digest(thing: Any) -> float:
    return float(int.from_bytes(hashlib.sha256(repr(thing).encode(errors="surrogatepass")).digest()[:6], "big"))
