"""Array kernels: sums of per-record statistics and row routing. No noise, no policy, no private decision.

Layout. `codes` has shape (feature, row), one unsigned integer a cell, rows contiguous: 0 is a missing value, an ordered
feature has 1 + #{thresholds <= x}, a categorical one 1 + index of the category. `bins[f]` is the number of codes of
feature f and `offsets = bin_offsets(bins)` says where its bins start on the joined bin axis.

Exactness. A statistic on the grid of `GRID`, with (rows x largest magnitude) < 2**29, has float64 sums without any
rounding. They do not depend on the order of rows, on chunks, or on whether a node is summed or is its parent minus its
sibling. That is what licenses every shortcut here: they change the time, never a bit of the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.unsignedinteger[Any]]
Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]
Columns = Sequence[Floats | None]

GRID = 2.0**-24  # sums of up to 2**53 multiples of it are exact in float64
_TO_GRID = 1.5 * 2.0**52 * GRID  # x + _TO_GRID rounds x to the grid and has x / GRID in its low bits, for |x| < 2**27
_TO_GRID_BITS = int(np.float64(_TO_GRID).view(np.int64))
_FEW_ROWS = 1 << 14  # values handled at once where thresholds are looked for
_DOUBTFUL = 2.0**-20  # how near to a whole number a guess is not trusted
_CHUNK = 1 << 17  # rows handled at once, so that temporaries stay in the cache
_SELECTED_DEPTH = 5  # levels above: asking every node every row costs less than following every row
_SAMPLE = 1 << 12  # rows that tell which child is likely the smaller one
_JOINT_CELLS = 1 << 11  # the most cells of a joint histogram: it stays in the cache, and its codes fit 16 bits


def bin_offsets(bins: Sequence[int]) -> Integers:
    """Where each feature's bins start on the joined bin axis; the last entry is the total. Shape (features + 1,)."""
    return np.concatenate([[0], np.cumsum(np.asarray(bins, dtype=np.intp))]).astype(np.intp)


def encode_ordered(column: Floats, thresholds: Floats) -> Codes:
    """1 + #{thresholds <= x} of each value x, and 0 for NaN; thresholds ascending, at most 65534.

    column, result: shape (rows,).
    """
    codes = np.empty(len(column), dtype=_code_type(len(thresholds) + 2))
    line = _line(thresholds) if len(column) > _FEW_ROWS else None
    room = np.empty((2, min(_FEW_ROWS, len(column))))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(column), _FEW_ROWS):
            values, own = column[start : start + _FEW_ROWS], codes[start : start + _FEW_ROWS]
            if line is not None:
                _by_line(values, thresholds, line, room[:, : len(values)], own)
            else:
                own[:] = 1 + np.searchsorted(thresholds, values, side="right")
                own[values != values] = 0
    return codes


def _line(thresholds: Floats) -> tuple[float, float] | None:
    """Slope and shift of slope x + shift, about i + 2 at threshold i of 0, 1, ...; None if they are not equally spaced.

    It never falls as x rises, so that it is enough to look at each threshold and at the next value below it: if both
    are within _DOUBTFUL of a whole number, x is on the side of the threshold that the line tells, wherever the line is
    not that near to a whole number.
    """
    count = len(thresholds)
    if count < 2:
        return None
    with np.errstate(all="ignore"):
        slope = float((count - 1) / (thresholds[-1] - thresholds[0]))
        shift = float(2 - thresholds[0] * slope)
        ends = np.stack([thresholds, np.nextafter(thresholds, -np.inf)]) * slope + shift
        near = np.abs(ends - np.arange(2, count + 2)) < _DOUBTFUL
    return (slope, shift) if 0 < slope < math.inf and bool(near.all()) else None


def _by_line(values: Floats, thresholds: Floats, line: tuple[float, float], room: Floats, codes: Codes) -> None:
    """1 + #{thresholds <= x} into codes: the line rounded down; next to a whole number a comparison decides.

    room: shape (2, values), overwritten.
    """
    place, whole = room
    np.multiply(values, line[0], out=place)
    place += line[1]
    np.maximum(place, 1.5, out=place)
    np.minimum(place, len(thresholds) + 1.5, out=place)
    codes[:] = place  # rounded down; of NaN anything
    np.rint(place, out=whole)
    place -= whole
    np.abs(place, out=place)
    known = place >= _DOUBTFUL
    if known.all():
        return
    doubtful = np.flatnonzero(~known)
    near, own = np.fmax(whole.take(doubtful), 2.0).astype(np.intp), values.take(doubtful)
    exact = near - 1 + (thresholds.take(near - 2) <= own)
    exact[own != own] = 0
    codes[doubtful] = exact


def encode_categories(column: Floats, categories: int) -> Codes:
    """1 + index of each category index, and 0 for NaN; at most 65535 categories. column, result: shape (rows,)."""
    codes = np.empty(len(column), dtype=_code_type(categories + 1))
    for rows in _chunks(len(column)):
        codes[rows] = np.where(np.isnan(column[rows]), 0, 1 + column[rows])
    return codes


def leaf_sums(node: Integers, nodes: int, stats: Columns) -> Floats:
    """Sum of each statistic (None counts 1) over the rows of each node; shape (statistic, node)."""
    first = 0 if node.dtype.kind == "u" else 1  # rows of no node go to slot 0, where there can be any
    total = np.zeros((len(stats), nodes))
    for rows in _chunks(len(node)):
        slot = (np.maximum(node[rows], -1) + 1 if first else node[rows]).astype(np.intp)
        for s, stat in enumerate(stats):
            weights = None if stat is None else stat[rows]
            total[s] += np.bincount(slot, weights, minlength=nodes + first)[first:]
    return total


def route(codes: Codes, node: Integers, feature: Integers, code: Integers, categorical: Flags) -> Integers:
    """The node of each row one level further down; feature, code and categorical have one entry for each node.

    The right child 2k + 1 takes rows of node k whose code of feature[k] is > code[k] (== code[k] if categorical[k]);
    all others, and always missing values, go left to 2k. Negative nodes stay as they are. Result: shape (rows,).
    """
    child = np.empty_like(node)
    for rows in _chunks(len(node)):
        parent, out = node[rows], node[rows] < 0
        left_out = bool(out.any())
        known = np.maximum(parent, 0) if left_out else parent
        if len(feature) < 1 << _SELECTED_DEPTH:
            right = _selected(_asked(codes[:, rows], feature, code, categorical), _path(known, len(feature)))
        else:
            right = _followed(codes, rows, known, feature, code, categorical)
        below = 2 * known + right
        child[rows] = np.where(out, parent, below) if left_out else below
    return child


def _asked(codes: Codes, feature: Integers, code: Integers, categorical: Flags) -> list[Flags]:
    """What every node would answer to every row: whether it goes right."""
    questions = zip(feature.tolist(), code.tolist(), categorical.tolist())
    return [codes[f] == (c or -1) if is_category else codes[f] > c for f, c, is_category in questions]


def _selected(nodes: list[Flags], path: list[Flags]) -> Flags:
    """The answer of each row's own node; path: at each level from the top whether the row went right."""
    for above in path:  # keep the half of the nodes that lies on each row's path
        half = len(nodes) // 2
        nodes = [left ^ (above & (left ^ right)) for left, right in zip(nodes[:half], nodes[half:], strict=True)]
    return nodes[0]


def _path(node: Integers, nodes: int) -> list[Flags]:
    """The binary digits of each row's node, the first one first."""
    small = node.astype(np.uint8, copy=False)
    return [(small & (1 << place)) != 0 for place in reversed(range((nodes - 1).bit_length()))]


def _followed(
    codes: Codes, rows: slice, node: Integers, feature: Integers, code: Integers, categorical: Flags
) -> Flags:
    """Whether each row goes right, asking only its own node: a gather, for many nodes."""
    cells, starts = codes.reshape(-1), feature.astype(np.intp) * codes.shape[1]
    seen, bound = cells.take(starts.take(node) + np.arange(rows.start, rows.stop)), code.take(node)
    right: Flags = seen > bound
    return np.where(categorical.take(node), (seen == bound) & (seen > 0), right) if categorical.any() else right


def leaf_index(codes: Codes, feature: Integers, code: Integers, categorical: Flags, depth: int) -> Integers:
    """The leaf, 0..2**depth - 1, of each row in a full tree whose inner nodes are listed level by level.

    Result: shape (rows,).
    """
    leaf: Integers = np.empty(codes.shape[1], dtype=np.uint8 if depth <= _SELECTED_DEPTH else np.int32)
    for rows in _chunks(codes.shape[1]):
        here = codes[:, rows]
        found: Integers = np.zeros(here.shape[1], dtype=leaf.dtype)
        path: list[Flags] = []
        for level in range(depth):
            nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
            split = feature[nodes], code[nodes], categorical[nodes]
            if level < _SELECTED_DEPTH:
                path.append(_selected(_asked(here, *split), path))
            found = 2 * found + (path[level] if level < _SELECTED_DEPTH else _followed(codes, rows, found, *split))
        leaf[rows] = found
    return leaf


def bin_sums(
    codes: Codes, offsets: Integers, node: Integers, nodes: int, stats: Columns, parents: Floats | None = None
) -> Floats:
    """Sum of each statistic over the rows of each node and feature bin; shape (statistic, node, joined bin).

    stats: one float64 a row each, None counts 1. node: 0..nodes - 1, negative for a row that is left out.
    parents: the sums of the same statistics one level up, whose node k holds exactly the rows of 2k and 2k + 1; with
    them only the smaller child of each parent is summed. Statistics off the grid are summed too, but with rounding.
    """
    return BinSums.prepare(codes, offsets).sums(node, nodes, stats, parents)


@dataclass(frozen=True)
class BinSums:
    """`bin_sums` of one code matrix, prepared once for many calls."""

    groups: tuple[_Group, ...]
    total_bins: int

    @classmethod
    def prepare(cls, codes: Codes, offsets: Integers) -> BinSums:
        """Join neighbouring features with few bins into groups: one pass over the rows then serves all of a group.

        codes: shape (rows, features).
        """
        bins = [int(size) for size in np.diff(offsets)]
        limit = min(_JOINT_CELLS, codes.shape[1] // 16)  # with few rows, joint cells cost more than they save
        groups, first = [], 0
        for last in range(1, len(bins) + 1):
            if last == len(bins) or math.prod(bins[first : last + 1]) > limit:
                groups.append(_Group.join(codes, first, tuple(bins[first:last])))
                first = last
        return cls(tuple(groups), int(offsets[-1]))

    def sums(self, node: Integers, nodes: int, stats: Columns, parents: Floats | None = None) -> Floats:
        """Sums in every bin of every node, shape (statistic, node, bin), from kept partial sums.

        Errors: ValueError for parents that are not of the level above.
        """
        if parents is None:
            return self._summed(np.ones(nodes, dtype=bool), 0, node, stats)
        above = len(stats), nodes // 2, self.total_bins
        if nodes % 2 or parents.shape != above:  # of a level that is not the one above, it would be stretched to fit
            raise ValueError(f"parents: a table of shape {parents.shape} given, {above} of the level above is allowed")
        counts = leaf_sums(node[:: 1 + len(node) // _SAMPLE], nodes, [None])[0]  # a guess costs time, never a bit
        smaller = np.arange(0, nodes, 2) + (counts[1::2] < counts[0::2])
        total = np.empty((len(stats), nodes, self.total_bins))
        total[:, smaller] = self._summed(np.isin(np.arange(nodes), smaller), 1, node, stats)
        total[:, smaller ^ 1] = parents - total[:, smaller]
        return total

    def _summed(self, wanted: Flags, shift: int, node: Integers, stats: Columns) -> Floats:
        """Sums over the rows of each slot: node k goes to slot k >> shift, and is left out if it is not wanted."""
        slots = len(wanted) >> shift
        total = np.zeros((len(stats), slots, self.total_bins))
        for rows in _selections(wanted, shift, node):
            passes = _passes([stat if stat is None else rows.of(stat) for stat in stats], len(rows.slot))
            starts = {size: _starts(rows.slot, slots, size) for size in {group.size for group in self.groups}}
            parts = [group.sums(rows, slots, starts[group.size], passes) for group in self.groups]
            for each, sums in zip(passes, zip(*parts, strict=True), strict=True):
                each.add_to(total, np.concatenate(sums, axis=1))
        return total


class _Rows(NamedTuple):
    """Some rows of one chunk (None: all, without a copy), and the slot of each of them."""

    chunk: slice
    inside: npt.NDArray[np.intp] | None
    slot: Integers

    def of(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of the rows."""
        values = column[self.chunk]
        return values if self.inside is None else values.take(self.inside)


def _selections(wanted: Flags, shift: int, node: Integers) -> Iterator[_Rows]:
    for chunk in _chunks(len(node)):
        here = node[chunk]
        inside = _belonging(here, wanted)
        if inside.all():
            yield _Rows(chunk, None, here >> shift)
        elif inside.any():
            rows = np.flatnonzero(inside)
            yield _Rows(chunk, rows, here.take(rows) >> shift)


def _belonging(node: Integers, wanted: Flags) -> Flags:
    """Whether each row's node is a wanted one; a negative node is not."""
    chosen = np.flatnonzero(wanted).tolist()
    if len(chosen) == len(wanted):
        return node >= 0
    if len(chosen) >= 1 << _SELECTED_DEPTH:
        return np.append(wanted, False).take(np.maximum(node, -1), mode="wrap")
    found: Flags = node == chosen[0]
    for k in chosen[1:]:
        found |= node == k
    return found


def _starts(slot: Integers, slots: int, size: int) -> Integers | None:
    """Where the cells of each row's slot start; None if all start at 0. 16 bits while they suffice: four times the
    speed."""
    narrow = np.uint16 if slots * size <= 1 << 16 else np.intp
    return np.multiply(slot.astype(narrow), size, dtype=narrow) if slots > 1 else None


@dataclass(frozen=True)
class _Group:
    """Neighbouring features as one feature, whose code is their codes in mixed radix."""

    bins: tuple[int, ...]
    codes: Codes

    @classmethod
    def join(cls, codes: Codes, first: int, bins: tuple[int, ...]) -> _Group:
        """The group of the features from `first` on that have these bins; one feature alone is not copied."""
        if len(bins) == 1:
            return cls(bins, codes[first])
        joint = np.empty(codes.shape[1], dtype=np.uint16)
        for rows in _chunks(codes.shape[1]):
            joint[rows] = codes[first, rows]
            for f, size in enumerate(bins[1:], first + 1):
                joint[rows] = joint[rows] * np.uint16(size) + codes[f, rows]
        return cls(bins, joint)

    @property
    def size(self) -> int:
        """Number of joint codes."""
        return math.prod(self.bins)

    def sums(self, rows: _Rows, slots: int, starts: Integers | None, passes: Sequence[_Pass]) -> list[npt.NDArray[Any]]:
        """For each pass the sums per slot and feature bin; shape (slot, bins of all features side by side)."""
        codes = rows.of(self.codes)
        cells = (codes if starts is None else np.add(starts, codes)).astype(np.intp, copy=False)
        tables = []
        for each in passes:
            joint = np.zeros(slots * self.size, dtype=each.weights.dtype)
            np.add.at(joint, cells, each.weights)
            tables.append(self._marginals(joint.reshape(slots, *self.bins)))
        return tables

    def _marginals(self, joint: npt.NDArray[Any]) -> npt.NDArray[Any]:
        axes = range(1, joint.ndim)
        if joint.ndim <= 2:
            return joint
        return np.concatenate([np.add.reduce(joint, axis=tuple(a for a in axes if a != kept)) for kept in axes], axis=1)


class _Pass(NamedTuple):
    """One pass over rows: the weights to add up, and the statistics that their sums hold.

    Complex weights hold stats[0] in their real and stats[1] in their imaginary part. With a shift a weight is the
    integer 2**shift + x / GRID, x the value of stats[0], so that one sum holds both the sum of x and the count of rows,
    which is stats[1]. Otherwise there is only stats[0].
    """

    stats: tuple[int, ...]
    weights: npt.NDArray[Any]
    shift: int = 0

    def add_to(self, total: Floats, sums: npt.NDArray[Any]) -> None:
        """Unpack the sums of weights and add them to the totals; total[s] has the shape of sums."""
        if self.shift:
            counts = (sums + (1 << (self.shift - 1))) >> self.shift
            total[self.stats[0]] += (sums - (counts << self.shift)) * GRID
            total[self.stats[1]] += counts
            return
        for s, part in zip(self.stats, (sums.real, sums.imag), strict=False):
            total[s] += part


def _passes(stats: Columns, rows: int) -> list[_Pass]:
    """The passes that sum these statistics, two in one where possible: two float64, or one on the grid and a count."""
    values = [(s, stat) for s, stat in enumerate(stats) if stat is not None]
    counts = [s for s, stat in enumerate(stats) if stat is None]
    passes = []
    if values and counts:
        weights, shift = _packed(values[0][1])
        if shift:
            passes.append(_Pass((values.pop(0)[0], counts.pop(0)), weights, shift))
    for (s, one), (t, other) in zip(values[::2], values[1::2], strict=False):
        both = np.empty(rows, dtype=np.complex128)
        both.real, both.imag = one, other
        passes.append(_Pass((s, t), both))
    if len(values) % 2:
        passes.append(_Pass((values[-1][0],), values[-1][1]))
    return passes + [_Pass((s,), np.broadcast_to(np.int64(1), rows)) for s in counts]


def _packed(values: Floats) -> tuple[npt.NDArray[np.int64], int]:
    """The integers 2**shift + value / GRID; shift 0 when sums of them could overflow, or a value is off the grid."""
    shifted = values + _TO_GRID
    largest = max(values.max(), -values.min())
    fits = largest < 2.0**27 and np.array_equal(shifted - _TO_GRID, values)
    shift = int(len(values) * largest / GRID).bit_length() + 1 if fits else 0
    if len(values).bit_length() + shift > 62:
        shift = 0
    return shifted.view(np.int64) + ((1 << shift) - _TO_GRID_BITS), shift


def _code_type(bins: int) -> type[np.uint8] | type[np.uint16]:
    return np.uint8 if bins <= 1 << 8 else np.uint16


def _chunks(rows: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, rows)) for start in range(0, rows, _CHUNK))
