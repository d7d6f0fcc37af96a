"""Private sums: tables of them, what their axes say of the records, and their values on two neighbours.

A cell of a `Table` is a pair of terms, its value on two neighbours, or a `Sum` of which a `World` knows them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np

from refdp.prove.kinds import Form
from refdp.prove.peeking import for_text, frames, from_text, line_of_text
from refdp.prove.symbols import Private, arithmetic, is_released, public
from refdp.prove.terms import Unmodelled


@dataclass(frozen=True)
class Axis:
    """An axis of a table.

    each: a few entries of their own. part: every record is in one entry at most, e.g. a node. option: any of many, e.g.
    candidates, in several `ways`. bins: those of several features side by side, in one of each of which a record is.
    loose: how many entries there are follows from released values, which one axis may not tell of another.
    """

    kind: Literal["each", "part", "option", "bins"]
    size: int
    ways: int = 1
    of: Any = None
    loose: bool = False


@dataclass(frozen=True, eq=False)
class Binned:
    """The bins of these features, side by side. encoding: how many candidates were told of before these.

    candidates: an example of them; told: what `Encode` was told of, which may be released.
    """

    candidates: Any
    features: tuple[int, ...]
    encoding: int
    told: Any = None


@dataclass(frozen=True)
class Sum:
    """A sum over the records of a set: those of `seats`, on the `sides` of option `option` (a, m or r: left, missing,
    right). state: which statistics at which scores; scopes: the secret selections it is restricted to. units: whether
    it is in units of the grid, and no release and no formula may take it for a sum in its own."""

    state: int
    name: str
    scopes: tuple[tuple[int, int], ...]
    seats: tuple[tuple[Any, str], ...]
    sides: frozenset[str]
    option: str | None
    units: bool = False


@dataclass(frozen=True)
class Within:
    """In place of a bin of a feature: the bins of one part of them, on one side of an option. seat: as of an index."""

    part: tuple[Any, ...]
    seat: Any
    sides: frozenset[str]
    option: str


class Combined(tuple[Any, Any]):
    """A sum or difference of sums on both neighbours. sums: those that it is made of."""

    sums: tuple[Sum, ...]


def summands(cell: Any) -> tuple[Sum, ...]:
    """The sums whose sum or difference a cell is; none where it is anything else."""
    return (cell,) if isinstance(cell, Sum) else getattr(cell, "sums", ())


def total_of(cell: Any) -> Any:
    """A cell that is asked for all bins at once. Errors: Unmodelled where that is not the total of what bins have:
    what is computed of the bins' sums one by one, other than sums and differences of them, is no sum over records."""
    if not summands(cell):
        raise Unmodelled("a total of what is computed from private sums bin by bin")
    return cell


def is_binned(axis: Axis) -> bool:
    """Whether a total of an axis' entries can be asked for: of the bins of features, or of some of one of them."""
    of = axis.of[1] if axis.kind == "part" and axis.of[0] == "some" else axis.of
    return axis.kind == "bins" or (axis.kind == "part" and of[0] == "bins")


def is_of_bins(entry: Any) -> bool:
    """Whether an entry of an index is for several bins at once: all of a feature, or those on one side."""
    if isinstance(entry, tuple):
        return entry[0] == "side" or (entry[0] == "seat" and is_of_bins(entry[2]))
    return isinstance(entry, Within) or entry == "whole"


ALL = frozenset("amr")
SUMS, UNITS = Form(), Form("units")
Cell = Callable[[tuple[Any, ...], Any], Any]
"""From an index (an int, a seat, or a way and an option) and a world to a pair of terms or a `Sum`."""


class Table(Private):
    """Private sums and what is computed from them. form: how numpy keeps them (`refdp.prove.kinds`)."""

    what = "a private sum"

    def __init__(
        self, axes: Sequence[Axis], cell: Cell, shape: tuple[int, ...] | None = None, form: Form = SUMS
    ) -> None:
        self.axes, self.cell, self.form = tuple(axes), cell, form
        self._shape = tuple(axis.size for axis in self.axes) if shape is None else shape

    @property
    def ndim(self) -> int:
        """How many axes. Errors: as of `shape`."""
        if from_text(1):
            self.counted()
        return len(self._shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many nodes, bins or statistics there are. Errors: Unmodelled for a text, where that is released."""
        if from_text(1):
            self.counted()
        return self._shape

    @property
    def size(self) -> int:
        """How many entries. Errors: as of `shape`."""
        if from_text(1):
            self.counted()
        return int(np.prod(self._shape))

    def counted(self) -> None:
        """How long it is follows from parameters. Errors: Unmodelled otherwise."""
        if any(axis.loose for axis in self.axes):
            raise Unmodelled("how many private sums there are, which follows from released values")

    def __len__(self) -> int:
        self.counted()
        return self._shape[0]

    def __iter__(self) -> Iterator[Any]:
        if self._shape != tuple(axis.size for axis in self.axes) or self.axes[0].loose:
            self.counted()
        return (self[place] for place in range(self._shape[0]))

    @property
    def T(self) -> Table:
        """Axes in reverse order. Errors: Unmodelled for reshaped sums."""
        plainly_shaped(self)
        return Table(self.axes[::-1], lambda index, world: self.cell(index[::-1], world), form=self.form)

    def __getitem__(self, key: Any) -> Any:
        plainly_shaped(self)
        keys = list(key) if isinstance(key, tuple) else [key]
        if any(isinstance(one, Private) for one in keys):
            self._leak("a private choice among")
        if any(is_released(one) for key in keys if isinstance(key, slice) for one in (key.start, key.stop, key.step)):
            raise Unmodelled(f"as many of {self.what} as released values say")
        keys = [slice(*public((one.start, one.stop, one.step))) if isinstance(one, slice) else one for one in keys]
        if Ellipsis in [one for one in keys if one is Ellipsis]:
            at = next(place for place, one in enumerate(keys) if one is Ellipsis)
            rest = self.ndim - sum(one is not None for one in keys) + 1
            keys[at : at + 1] = [slice(None)] * rest
        keys += [slice(None)] * (self.ndim - sum(one is not None for one in keys))
        return _picked(self, keys)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Of all bins of a feature: the total."""
        return arithmetic().reduced("add", self, axis=axis, keepdims=keepdims)

    def take(self, *given: Any, **named: Any) -> Any:
        """Errors: Unmodelled. Sums of missing values are asked of their candidates (`Candidates.missing_sums`)."""
        raise Unmodelled("a choice among private sums")


class Formula:
    """A function of private sums of which numpy could warn, a quotient or large: every entry is part of a release.

    Releases are asked whether a divisor can be 0 and whether numbers are finite; of what nothing releases nobody asks,
    and a warning, which Python can turn into an error, would tell of it. name: numpy's; line: of the text.
    """

    made: ClassVar[list[Formula]] = []
    """Those of this reading."""

    def __init__(self, name: str, axes: Sequence[Axis]) -> None:
        self._axes, self._asked = tuple(axes), set[tuple[Any, ...]]()
        self.name, self.line = name, line_of_text(frames())
        Formula.made.append(self)

    def ask(self, index: tuple[Any, ...]) -> None:
        """A release has this entry."""
        self._asked |= {*product(*map(_own_entries, self._axes, index))}

    @property
    def released(self) -> bool:
        """Whether all entries are; one seat stands for every part, and one candidate for all options of a way."""
        return len(self._asked) == math.prod(len(_entries(axis)) for axis in self._axes)


def _entries(axis: Axis) -> Sequence[Any]:
    """The entries of an axis of which one does not stand for others."""
    if axis.kind == "bins":
        return tuple(axis.of.features)
    return (0,) if axis.kind == "part" else range(axis.size if axis.kind == "each" else axis.ways)


def _own_entries(axis: Axis, index: Any) -> Sequence[Any]:
    """Those of `_entries` that an entry of an index is about."""
    if axis.kind == "bins" and index[0] != "seat":  # one side of any candidate
        return _entries(axis)
    own: dict[str, Any] = {"bins": index[1:2], "option": index[:1]} if isinstance(index, tuple) else {}
    return (index,) if axis.kind == "each" else own.get(axis.kind, (0,))


def plainly_shaped(table: Table) -> None:
    """An entry's place says what it is of. Errors: Unmodelled for reshaped sums."""
    if table.shape != tuple(axis.size for axis in table.axes):
        raise Unmodelled("a function of reshaped private sums")


class Choices(Table):
    """Utilities of choices of which a record decides one in each group: the groups are the first axis."""


def sides_of(table: Table, sides: frozenset[str], options: int, of: tuple[Any, ...], loose: bool = False) -> Table:
    """For every candidate the sum over the records on these sides, from sums in bins. of: which candidates.

    loose: how many there are follows from released values. Errors: Unmodelled for anything else.
    """
    plainly_shaped(table)
    if table.axes[-1].kind != "bins" or table.axes[-1].of.features != table.axes[-1].of.candidates.features:
        raise Unmodelled("sides of candidates from anything but sums in all bins")

    def cell(index: tuple[Any, ...], world: Any) -> Any:
        return total_of(table.cell((*index[:-1], ("side", sides, index[-1][1])), world))

    loose = loose or table.axes[-1].loose
    return Table((*table.axes[:-1], Axis("option", options, of=of, loose=loose)), cell, form=table.form)


def _picked(table: Table, keys: list[Any]) -> Any:
    axes: list[Axis] = []
    picks: list[Any] = []  # for every axis of the table: a fixed entry, or which axis of the result, and how
    ahead = iter(table.axes)
    for key in keys:
        if key is None:
            axes.append(Axis("each", 1))
            continue
        axis = next(ahead)
        if isinstance(key, bool):
            raise Unmodelled("a truth value as an index of private sums")
        if isinstance(key, slice) and key == slice(None):
            picks.append((len(axes), None))
            axes.append(axis)
        elif isinstance(key, int | np.integer) and axis.kind == "each":
            picks.append((None, int(key) % axis.size))
        elif isinstance(key, int | np.integer) and axis.kind == "part" and axis.size == 1 and axis.of[0] == "root":
            picks.append((None, "r0"))
        elif isinstance(key, slice) and axis.kind == "each":
            chosen = range(axis.size)[key]
            picks.append((len(axes), chosen))
            axes.append(Axis("each", len(chosen)))
        elif isinstance(key, slice) and axis.kind == "bins":
            if axis.loose and for_text():
                raise Unmodelled("some of the bins of released candidates, but by these candidates themselves")
            feature = _feature(axis, key)
            picks.append((len(axes), ("bins", feature)))
            own = range(axis.size)[key]
            axes.append(Axis("part", len(own), of=("bins", feature, axis.of.encoding), loose=axis.loose))
        elif isinstance(key, slice) and axis.kind == "part" and key.step in (None, 1):
            picks.append((len(axes), None))  # the record may be in none of these: that changes less
            some = range(axis.size)[key]
            which = (key.start, key.stop) if axis.loose else (some.start,)  # where others start and end, as it is said
            axes.append(Axis("part", len(some), of=("some", axis.of, *which), loose=axis.loose))
        else:
            raise Unmodelled(f"a choice of some of {table.what}")

    def cell(index: tuple[Any, ...], world: Any) -> Any:
        own = []
        for place, how in picks:
            if place is None:
                own.append(how)
            elif isinstance(how, range):
                own.append(how[index[place]])
            elif how is not None:
                own.append(("seat", how[1], index[place]))
            else:
                own.append(index[place])
        return table.cell(tuple(own), world)

    return Table(axes, cell, form=table.form)


def _feature(axis: Axis, key: slice) -> int:
    """The feature whose bins these are."""
    features, chosen = axis.of.features, range(axis.size)[key]
    edges = np.concatenate([[0], np.cumsum([axis.of.candidates.bins[f] for f in features])])
    for feature, low, high in zip(features, edges, edges[1:]):
        if low == chosen.start and chosen.stop == high and chosen.step == 1:
            return int(feature)
    raise Unmodelled("bins that are not those of one feature")


@dataclass
class World:
    """Which of the records that differ are in which neighbour, where they sit, and what sums are then.

    before, after: names of those records. seats: where each sits, by what is divided; "r0" unless said.
    """

    reader: Any
    before: tuple[str, ...]
    after: tuple[str, ...]
    seats: dict[tuple[Any, str], str] = field(default_factory=dict)
    sums: dict[Sum, None] = field(default_factory=dict)

    def pair(self, one: Sum) -> tuple[Any, Any]:
        """A sum on both neighbours. Errors: Unmodelled for one in units of the grid."""
        if one.units:
            raise Unmodelled("sums in units of the grid in a formula or a release: `values` gives them in their own")
        self.sums[one] = None
        common = self.reader.common(one)
        found = []
        for present in (self.before, self.after):
            total = common
            for record in present:
                if all(self.seats.get((part, record), "r0") == seat for part, seat in one.seats):
                    total = total + self.reader.own(one, record)
            found.append(total)
        return found[0], found[1]
