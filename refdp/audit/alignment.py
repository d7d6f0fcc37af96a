"""Which numbers of outputs stand at the same place, where their parts differ in length or are not always there.

A number is known by the path of its part, counted from the front or from the end of the lists that it is in, or by the
path without these places; within a text, by the words in front of it. So what is behind a list of noise, which has
another length in each run, is one column. One more name has keys of mappings, labels of tables and names of rows in
place of places (`refdp.audit.row_names`).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from refdp.audit import row_names
from refdp.audit.in_floats import NUMBER, in_floats, of_text
from refdp.audit.reading import Leaf

Floats = NDArray[np.float64]
Key = tuple[float, int]
Row = tuple[Floats, Floats, bool]
"""Numbers of a run, shape (numbers,), their segments, shape (4 * segments,), and whether it raised.

A segment is three names of a run of numbers and how many these are; or, with -1 there, one name each of the next three
numbers, from the first on, by keys.
"""

ALIGNED = 48
"""Columns at most: those whose early runs lie farthest apart."""
EARLY = 250
"""Runs a side that say which columns these are."""
RARELY = 0.02
"""Share of these runs that have a number; others are no columns."""
CANDIDATES = 2_000
"""Columns that are compared on these runs."""
SEGMENTS = 256
"""Of more segments of one output, those in the middle have no names."""
PLACES = 512
"""Numbers are counted up to so many places from either end of parts, over all parts of an output; 4 a part at least."""
KEYED = 4_000
"""Of these numbers of an output, the first ones, keys are kept."""
LABEL = 40
"""Characters in front of a number in a text that tell which one it is."""
INDEX = re.compile(r"\[(\d+)\]")
LAST = re.compile(r"\[\d+\]$")
VECTOR = "[]"
NEW_LINE = "\n"


@dataclass
class Numbers:
    """The numbers of an output, and of each the name of the list or text that it is in, with and without places."""

    numbers: list[float] = field(default_factory=list)
    names: list[tuple[str, str]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def add(self, path: str, blank: str, leaf: Leaf, key: str = "") -> None:
        """All numbers of a leaf. blank: its path without numbers. key: its path by keys, empty where it has none."""
        if not isinstance(leaf, str):
            self._add(LAST.sub("[]", path), blank, in_floats(leaf), LAST.sub("[]", key))
            return
        end, line = 0, ""
        lines = "\n" in leaf
        for one in NUMBER.finditer(leaf):
            between = leaf[end : one.start()]
            words = between[-LABEL:]
            line = "" if lines and (not end or "\n" in between) else line
            named = f"{key or path} {line} {words}" if key or line else ""
            self._add(f"{path} {words}", blank, of_text(one.group()), named)
            if not lines or not line:
                line = f"{words.rpartition(NEW_LINE)[2]}{one.group()}" if one.group().isdecimal() else "." * lines
            end = one.end()

    def _add(self, name: str, blank: str, floats: Iterable[float], key: str) -> None:
        before = len(self.numbers)
        self.numbers += floats
        count = len(self.numbers) - before
        self.names += [(name, blank), *[(f"{name} left", f"{blank} left")] * (count - 1)][:count]
        self.keys += [key, *[""] * (count - 1)][:count]

    def cut(self, most: int) -> None:
        """Leave out those in the middle of more than twice as many."""
        if len(self.numbers) > 2 * most:
            for part in (self.numbers, self.names, self.keys):
                part[most:-most] = []

    def segments(self) -> Floats:
        """Runs of numbers of one name: its three digests and how many there are; keys. Shape (4 * segments,)."""
        runs = _segments([(name, blank, sum(1 for _ in group)) for (name, blank), group in groupby(self.names)])
        return np.append(runs, _of_keys([_digest(key) for key in self.keys[:KEYED]]))


@lru_cache(maxsize=256)
def of_shape(shape: tuple[int, ...], left: int) -> Floats:
    """`Numbers.segments` of an array of this shape, and `left` numbers behind it; none of a vector alone."""
    if len(shape) < 2 and not left:
        return np.empty(0)
    outer = shape[:-1]
    inner = shape[-1] if shape else 1
    lines = ["".join(f"[{one}]" for one in place) + VECTOR for place in np.ndindex(*outer)]
    made = _segments([*((line, line, inner) for line in lines), *[("left", "left", left)] * bool(left)])
    made.flags.writeable = False
    return made


def by_rows(array: NDArray[np.generic], segments: Floats) -> Floats:
    """Segments of an array with these, and keys where its rows begin with whole numbers that differ, or columns do.

    Shape (4 * segments,).
    """
    if array.ndim != 2 or min(array.shape) < 2 or array.size > KEYED:
        return segments
    if rows := row_names.of_rows(array):
        width = array.shape[1]
        keys = [f"{{{row}}}[{place}]" for row in rows for place in range(width)]
    elif columns := row_names.of_columns(row_names.parts_in(array)):
        keys = [f"[{place}]{{{column}}}" for place in range(len(array)) for column in columns]
    else:
        return segments
    return np.append(segments, _of_keys([_digest(key) for key in keys]))


def _of_keys(keys: list[float]) -> Floats:
    """Digests of keys as segments, none if no number has one. Shape (4 * segments,)."""
    if not any(keys):
        return np.empty(0)
    padded = np.zeros((-(-len(keys) // 3), 4))
    padded[:, :3].flat[: len(keys)] = keys
    padded[:, 3] = -1.0
    return padded.ravel()


def _parted(segments: Floats) -> tuple[Floats, list[float]]:
    """Runs of numbers of one name, shape (runs, 4), and keys of the first numbers."""
    lines = segments.reshape(-1, 4)
    of_keys = lines[:, 3] < 0
    return lines[~of_keys], lines[of_keys, :3].ravel().tolist()


def with_score(segments: Floats, count: int, left: int) -> Floats:
    """Segments of a row of `count` numbers with a score in front of these and `left` numbers behind them.

    Shape (4 * segments,).
    """
    own, keys = _parted(segments if segments.size else _segments([(VECTOR, VECTOR, count)]))
    behind = _segments([("score left", "score left", left)] * bool(left))
    return np.concatenate([_segments([("score", "score", 1)]), own.ravel(), behind, _of_keys([0.0, *keys])])


def _segments(runs: list[tuple[str, str, int]]) -> Floats:
    if len(runs) > SEGMENTS:
        half = SEGMENTS // 2
        gap = sum(count for *_, count in runs[half:-half])
        runs = [*runs[:half], ("", "", gap), *runs[-half:]]
    lengths: Counter[str] = Counter()
    for name, *_ in runs:
        for one in INDEX.finditer(name):
            prefix = name[: one.start()]
            lengths[prefix] = max(lengths[prefix], int(one.group(1)) + 1)
    made = [
        (_digest(name), _digest(_from_end(name, lengths)), _digest(INDEX.sub("[]", blank)), float(count))
        for name, blank, count in runs
    ]
    return np.array(made, dtype=np.float64).reshape(-1)


def _from_end(name: str, lengths: Counter[str]) -> str:
    return INDEX.sub(lambda one: f"[-{lengths[name[: one.start()]] - int(one.group(1))}]", name)


@lru_cache(maxsize=1 << 14)
def _digest(name: str) -> float:
    """0 of no name."""
    if not name:
        return 0.0
    data = name.encode(errors="surrogatepass")
    return float(int.from_bytes(hashlib.blake2b(data, digest_size=6).digest(), "big"))


def aligned(first: Sequence[Row], second: Sequence[Row], early: int) -> tuple[Floats, Floats]:
    """Columns of numbers at the same place, where rows are not all made up alike; not-a-number where a run has none.

    early: runs a side, the first ones, of which some say which columns are chosen: no event is to be tested on these.
    Shapes (runs, columns), with at most `ALIGNED` columns, none where all rows have the same parts.
    """
    alike = {(raised, len(numbers), layout.tobytes()) for numbers, layout, raised in (*first, *second)}
    if len(alike) == len({raised for raised, *_ in alike}):
        return np.empty((len(first), 0)), np.empty((len(second), 0))
    early = min(early, EARLY)
    keys = _chosen(first[:early], second[:early])
    one, other = (_columns(side, keys) for side in (first, second))
    return one, other


def _chosen(first: Sequence[Row], second: Sequence[Row]) -> list[Key]:
    """Keys whose columns lie farthest apart, in the order in which they are seen."""
    rows = [*first, *second]
    depth = max(PLACES // max(1, *(int(np.sum(layout[3::4] >= 0)) for _, layout, _ in rows)), 4)
    lengths: dict[float, set[int]] = {}
    seen: Counter[Key] = Counter()
    for found in map(_places, rows):
        for name, places in found.items():
            lengths.setdefault(name, set()).add(len(places))
            reached = range(min(len(places), depth))
            seen.update((name, place) for place in reached)
            seen.update((name, -1 - place) for place in reached)
    least = max(RARELY * len(rows), 2)
    often = [key for key, count in seen.items() if count > least and (key[1] >= 0 or len(lengths[key[0]]) > 1)]
    order = {key: place for place, key in enumerate(often)}
    often = sorted(often, key=lambda key: -seen[key])[:CANDIDATES]
    columns = np.nan_to_num(_columns(rows, often), nan=1e300)
    different: dict[bytes, tuple[float, Key]] = {}
    for key, column in zip(often, columns.T):
        known = column.tobytes()
        if known not in different:
            different[known] = farthest(column[: len(first)], column[len(first) :]), key
    best = sorted(different.values(), key=lambda one: -one[0])[:ALIGNED]
    return sorted((key for _, key in best), key=order.__getitem__)


def _columns(rows: Sequence[Row], keys: Sequence[Key]) -> Floats:
    """The number of each key in each row, shape (rows, keys)."""
    found = np.full((len(rows), len(keys)), np.nan)
    known: dict[tuple[int, bytes], tuple[list[int], list[int]]] = {}
    for row, made in enumerate(rows):
        kind = len(made[0]), made[1].tobytes()
        if kind not in known:
            known[kind] = _indices(_places(made), keys)
        at, places = known[kind]
        found[row, at] = made[0][places]
    return found


def _indices(places: dict[float, list[int]], keys: Sequence[Key]) -> tuple[list[int], list[int]]:
    """Which keys a row has, and which of its numbers these are."""
    at, found = [], []
    for number, (name, place) in enumerate(keys):
        held = places.get(name, ())
        if -len(held) <= place < len(held):
            at.append(number)
            found.append(held[place])
    return at, found


def _places(row: Row) -> dict[float, list[int]]:
    """Which numbers of a row are of each name."""
    numbers, layout, _ = row
    if not layout.size:
        return {_digest(VECTOR): list(range(len(numbers)))} if numbers.size else {}
    found: dict[float, list[int]] = {}
    start = 0
    runs, keys = _parted(layout)
    for place, key in enumerate(keys):
        if key:
            found.setdefault(key, []).append(place)
    for *names, count in runs.tolist():
        for name in dict.fromkeys(names):
            if name:
                found.setdefault(name, []).extend(range(start, start + int(count)))
        start += int(count)
    return found


def farthest(first: Floats, second: Floats) -> float:
    """The largest distance of the distribution functions of two columns, in [0, 1]. Shapes (runs,)."""
    pooled = np.concatenate([first, second])
    steps = [np.searchsorted(np.sort(side), pooled, side="right") / len(side) for side in (first, second)]
    return float(np.max(np.abs(steps[0] - steps[1])))
