"""What stands for numbers in the prove reading: values of a record, private sums, and released values.

`Each` is a value that every record has: a term over the unknowns of one record that stands for all. `Table` is private:
a cell is a pair of terms, its value on two neighbours. `Known` is public: an unknown that is the same on both, of which
one example is at hand; the example decides shapes, never a question.

numpy's functions reach all three by its protocols. Whatever is not listed here cannot be followed, and what would show
a private value (a branch, a length, a conversion, a text) is a leak.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np
import z3
from numpy.lib.mixins import NDArrayOperatorsMixin

from refdp.privacy.curator import Curator
from refdp.prove.asking import number, real
from refdp.prove.forms import is_unpacked


class Leak(Exception):
    """A private value would reach something that is not a release. raised: those of this reading, handled or not."""

    raised: ClassVar[list[Leak]] = []

    def __init__(self, what: str) -> None:
        super().__init__(what)
        Leak.raised.append(self)


class Unmodelled(Exception):
    """The reading cannot follow this step, so that nothing is proved. raised: as of leaks."""

    raised: ClassVar[list[Unmodelled]] = []

    def __init__(self, what: str) -> None:
        super().__init__(what)
        Unmodelled.raised.append(self)


def _power(base: Any, exponent: Any) -> Any:
    if not (z3.is_rational_value(exponent) and exponent.denominator_as_long() == 1 and exponent.as_long() in (2, 3)):
        raise Unmodelled("a power other than a square or a cube")
    return base * base if exponent.as_long() == 2 else base * base * base


TERMS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negative": lambda a: -a,
    "absolute": lambda a: z3.If(a < 0, -a, a),
    "minimum": lambda a, b: z3.If(a <= b, a, b),
    "maximum": lambda a, b: z3.If(a >= b, a, b),
    "square": lambda a: a * a,
    "power": _power,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "logical_and": z3.And,
    "logical_or": z3.Or,
    "logical_not": z3.Not,
    "bitwise_and": z3.And,
    "bitwise_or": z3.Or,
    "invert": z3.Not,
    "where": z3.If,
}
"""numpy's functions, number by number."""
ARITHMETIC = {"add", "subtract", "multiply", "divide", "negative", "absolute", "minimum", "maximum", "square", "power"}


def operated(name: str, terms: Sequence[Any]) -> Any:
    """A function of terms; truth values count 0 and 1 in arithmetic.

    Errors: Unmodelled for a function that no solver term is known of.
    """
    if name not in TERMS:
        raise Unmodelled(f"numpy's {name} of private values")
    if name in ARITHMETIC:
        terms = [z3.If(term, number(1), number(0)) if z3.is_bool(term) else term for term in terms]
    return TERMS[name](*terms)


class Symbol(NDArrayOperatorsMixin):
    """Whatever numpy computes with in the prove reading."""

    what = "a value"

    def __hash__(self) -> int:
        """A look-up asks for the value. Errors: Leak, Unmodelled."""
        raise Unmodelled(f"a search for {self.what}")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        given = {name for name, value in options.items() if value is not None}
        if method not in ("__call__", "reduce") or given - ({"axis", "keepdims"} if method == "reduce" else set()):
            raise Unmodelled(f"numpy's {ufunc.__name__}.{method} of {self.what} with {sorted(given)}")
        if method == "reduce":
            return reduced(ufunc.__name__, inputs[0], **{"axis": 0, **options})
        return combined(ufunc.__name__, inputs, ufunc)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return called(function, arguments, options)


class Private(Symbol):
    """Nothing of it may show."""

    what = "a private value"

    def _leak(self, how: str) -> NoReturn:
        raise Leak(f"{how} {self.what}")

    def __bool__(self) -> bool:
        self._leak("control flow on")

    def __hash__(self) -> int:
        self._leak("a search for")

    def __float__(self) -> float:
        self._leak("conversion to a number of")

    __int__ = __index__ = __complex__ = __round__ = __float__

    def __array__(self, *_: Any, **__: Any) -> Any:
        self._leak("conversion to an array of")

    def __repr__(self) -> str:
        self._leak("a text of")

    __str__ = __repr__

    def __format__(self, how: str) -> str:
        self._leak("a text of")

    def __iter__(self) -> Iterator[Any]:
        self._leak("a loop over")

    def __len__(self) -> int:
        self._leak("the length of")

    def __contains__(self, _: Any) -> bool:
        self._leak("a search in")

    def __setitem__(self, *_: Any) -> None:
        raise Unmodelled(f"a change in place of {self.what}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unmodelled(f"{name} of {self.what}")


class Each(Private):
    """A value of every record. term: over the unknowns of the record that stands for all."""

    what = "a value of each record"

    def __init__(self, term: Any, reader: Any) -> None:
        self.term, self.reader = term, reader

    def astype(self, *_: Any, **__: Any) -> Each:
        """A truth value as 0 and 1."""
        return combined("add", (self, 0), None)  # type: ignore[no-any-return]

    def min(self, *_: Any, **__: Any) -> NoReturn:
        """An aggregate that is no query."""
        self._leak("an aggregate over all records of")

    max = mean = sum = any = all = std = min


@dataclass(frozen=True)
class Axis:
    """An axis of a table.

    each: a few entries of their own. part: every record is in one entry at most, e.g. a node. option: any of many, e.g.
    candidates, in several `ways`. bins: those of several features side by side, in one of each of which a record is.
    """

    kind: Literal["each", "part", "option", "bins"]
    size: int
    ways: int = 1
    of: Any = None


@dataclass(frozen=True, eq=False)
class Binned:
    """The bins of these features, side by side."""

    candidates: Any
    features: tuple[int, ...]


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


class Combined(tuple[Any, Any]):
    """A sum or difference of sums on both neighbours. sums: those that it is made of."""

    sums: tuple[Sum, ...]


def summands(cell: Any) -> tuple[Sum, ...]:
    """The sums whose sum or difference a cell is; none where it is anything else."""
    return (cell,) if isinstance(cell, Sum) else getattr(cell, "sums", ())


ALL = frozenset("amr")
Cell = Callable[[tuple[Any, ...], Any], Any]
"""From an index (an int, a seat, or a way and an option) and a world to a pair of terms or a `Sum`."""


class Table(Private):
    """Private sums and what is computed from them."""

    what = "a private sum"

    def __init__(self, axes: Sequence[Axis], cell: Cell, shape: tuple[int, ...] | None = None) -> None:
        self.axes, self.cell = tuple(axes), cell
        self.shape = tuple(axis.size for axis in self.axes) if shape is None else shape
        self.ndim, self.size = len(self.shape), int(np.prod(self.shape))

    def __len__(self) -> int:
        return self.shape[0]  # how many nodes, bins or statistics is public

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(self.shape[0]))

    @property
    def T(self) -> Table:
        """Axes in reverse order."""
        return Table(self.axes[::-1], lambda index, world: self.cell(index[::-1], world))

    def __getitem__(self, key: Any) -> Any:
        keys = list(key) if isinstance(key, tuple) else [key]
        if any(isinstance(one, Private) for one in keys):
            self._leak("a private choice among")
        keys = [slice(*public((one.start, one.stop, one.step))) if isinstance(one, slice) else one for one in keys]
        if Ellipsis in [one for one in keys if one is Ellipsis]:
            at = next(place for place, one in enumerate(keys) if one is Ellipsis)
            rest = self.ndim - sum(one is not None for one in keys) + 1
            keys[at : at + 1] = [slice(None)] * rest
        keys += [slice(None)] * (self.ndim - sum(one is not None for one in keys))
        return _picked(self, keys)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Of all bins of a feature: the total."""
        return reduced("add", self, axis=axis, keepdims=keepdims)

    def take(self, indices: Any, axis: int = -1) -> Any:
        """The bins of missing values, one for each candidate. Errors: Unmodelled for any other choice."""
        bins, indices = self.axes[-1], public(indices)
        if bins.kind != "bins" or axis not in (-1, self.ndim - 1):
            raise Unmodelled("a choice among private sums")
        edges = bins.of.candidates.offsets
        if not np.isin(indices, edges[:-1]).all():
            raise Unmodelled("a choice of bins other than those of missing values")
        features = np.searchsorted(edges, indices).astype(np.int64)
        return sides_of(self, frozenset("m"), len(indices), ("missing", features.tobytes()))


def sides_of(table: Table, sides: frozenset[str], options: int, of: tuple[Any, ...]) -> Table:
    """For every candidate the sum over the records on these sides, from sums in bins. of: which candidates.

    Errors: Unmodelled for anything else.
    """
    if table.axes[-1].kind != "bins" or table.axes[-1].of.features != table.axes[-1].of.candidates.features:
        raise Unmodelled("sides of candidates from anything but sums in all bins")

    def cell(index: tuple[Any, ...], world: Any) -> Any:
        return table.cell((*index[:-1], ("side", sides, index[-1][1])), world)

    return Table((*table.axes[:-1], Axis("option", options, of=of)), cell)


def _picked(table: Table, keys: list[Any]) -> Any:
    axes: list[Axis] = []
    picks: list[Any] = []  # for every axis of the table: a fixed entry, or which axis of the result, and how
    ahead = iter(table.axes)
    for key in keys:
        if key is None:
            axes.append(Axis("each", 1))
            continue
        axis = next(ahead)
        if isinstance(key, slice) and key == slice(None):
            picks.append((len(axes), None))
            axes.append(axis)
        elif isinstance(key, int | np.integer) and axis.kind == "each":
            picks.append((None, int(key) % axis.size))
        elif isinstance(key, int | np.integer) and axis.kind == "part" and axis.size == 1:
            picks.append((None, "r0"))
        elif isinstance(key, slice) and axis.kind == "each":
            chosen = range(axis.size)[key]
            picks.append((len(axes), chosen))
            axes.append(Axis("each", len(chosen)))
        elif isinstance(key, slice) and axis.kind == "bins":
            feature = _feature(axis, key)
            picks.append((len(axes), ("bins", feature)))
            axes.append(Axis("part", len(range(axis.size)[key]), of=("bins", feature)))
        elif isinstance(key, slice) and axis.kind == "part" and key.step in (None, 1):
            picks.append((len(axes), None))  # the record may be in none of these: that changes less
            axes.append(Axis("part", len(range(axis.size)[key]), of=("some", axis.of)))
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

    return Table(axes, cell)


def _feature(axis: Axis, key: slice) -> int:
    """The feature whose bins these are."""
    features, chosen = axis.of.features, range(axis.size)[key]
    edges = np.concatenate([[0], np.cumsum([axis.of.candidates.bins[f] for f in features])])
    for feature, low, high in zip(features, edges, edges[1:]):
        if low == chosen.start and chosen.stop == high and chosen.step == 1:
            return int(feature)
    raise Unmodelled("bins that are not those of one feature")


class Known(Symbol):
    """Released or drawn publicly: the same on both neighbours, and unknown. example: one such value."""

    what = "a released value"

    def __init__(self, example: Any, varying: bool = False) -> None:
        for one in privates(example):
            raise Leak(f"{one.what} in place of a released one:")
        self.example, self._varying = example, varying

    def _fixed(self) -> None:
        if self._varying:
            raise Unmodelled("a length that follows from released values: how many rounds or releases there are")

    def settled(self) -> Any:
        """What stands for it where a function is run on it."""
        return self.example

    def _flow(self) -> NoReturn:
        raise Unmodelled("control flow on a released value beside the functions of released values alone")

    def __bool__(self) -> bool:
        self._flow()

    def __float__(self) -> float:
        self._flow()

    __int__ = __index__ = __complex__ = __round__ = __float__

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Unmodelled("conversion of a released value to an array")

    def __len__(self) -> int:
        self._fixed()
        return len(self.example)

    def __iter__(self) -> Iterator[Any]:
        if not is_unpacked(sys._getframe(1)):  # where it is, another length is an error
            self._fixed()
        return (Known(one, self._varying) for one in self.example)

    def __getitem__(self, key: Any) -> Any:
        if any(isinstance(one, Private) for one in (key if isinstance(key, tuple) else (key,))):
            raise Leak("a private choice among released values")
        return Known(self.example[public(key)], self._varying or _chooses(key))

    def __repr__(self) -> str:
        return "a released value"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("example", "loop", "each", "_varying"):
            raise AttributeError(name)
        found = getattr(self.example, name)
        if name in ("shape", "ndim", "size", "dtype"):
            if name != "dtype":
                self._fixed()
            return found
        if not callable(found):
            return Known(found, self._varying)
        return lambda *given, **named: (
            found(*given, **named)
            if any(True for _ in privates((given, named)))
            else Known(
                found(*public(given), **public(named)),
                self._varying or _sized(name, (self, *given), named) or _varies((given, named)),
            )
        )


VARYING = {"unique", "nonzero", "flatnonzero", "argwhere", "extract", "compress", "trim_zeros", "setdiff1d", "union1d",
           "intersect1d", "setxor1d", "bincount", "arange", "linspace", "zeros", "ones", "full", "empty", "resize",
           "histogram", "histogram_bin_edges"}  # fmt: skip
"""Functions whose result can be longer or shorter with other values of their arguments."""
SIZED = {"repeat", "delete", "tile", "pad", "insert", "split", "array_split", "reshape", "broadcast_to"}
"""Functions of which this is so for arguments after the first."""
PLAIN = {"clip": 3, "where": 3, "rint": 1, "trunc": 1, "ravel": 1, "reshape": 2, "concatenate": 1, "split": 2,
         "shape": 1, "ndim": 1, "size": 1}  # fmt: skip
"""How many arguments a function of private sums has."""


def _sized(name: str, arguments: Any, options: Any) -> bool:
    """Whether a function of released values can give more or fewer entries with others."""
    if name == "where":
        return len(arguments) == 1
    return name in VARYING or (name in SIZED and any(True for _ in _knowns((*arguments[1:], *options.values()))))


def _knowns(value: Any) -> Iterator[Known]:
    if isinstance(value, Known):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _knowns(one)


def _varies(value: Any) -> bool:
    """Whether among arguments is a released value whose length follows from released values."""
    if isinstance(value, Known):
        return value._varying
    if isinstance(value, dict):
        return any(_varies(one) for one in value.values())
    return isinstance(value, list | tuple) and any(_varies(one) for one in value)


def _chooses(key: Any) -> bool:
    """Whether an index leaves more or fewer entries with other released values."""
    if isinstance(key, tuple | list):
        return any(_chooses(one) for one in key)
    if isinstance(key, slice):
        return any(isinstance(one, Known) for one in (key.start, key.stop, key.step))
    return isinstance(key, Known) and (key._varying or np.asarray(key.example).dtype == bool)


def public(value: Any) -> Any:
    """Examples in place of what is `Known`. Errors: Leak where anything private is among it."""
    if isinstance(value, Private):
        raise Leak(f"{value.what} in place of a released one")
    if isinstance(value, Known):
        return value.settled()
    if type(value) in (list, tuple):
        return type(value)(public(one) for one in value)
    if type(value) is dict:
        return {key: public(one) for key, one in value.items()}
    if holds(value):
        raise Unmodelled("a function of released values that holds the records, the curator or a private value")
    return value


class Host:
    """What answers for the records, or releases: nothing that holds it is a function of released values alone."""


_PLAIN = (Known, np.ndarray, np.generic, str, bytes, bool, int, float, type(None), type, ModuleType, range)


def holds(value: Any) -> bool:
    """Whether a host, a curator or a private value can be reached from a value that is handed over."""
    if _is_plain(value):
        return False
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Private | Host | Curator | Iterator):
            return True
        if id(one) not in seen and not _is_plain(one):
            seen.add(id(one))
            waiting += inside(one)
    return False


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) and not (isinstance(value, np.ndarray) and value.dtype.hasobject)


def inside(value: Any) -> list[Any]:
    """What a container, a function or an object of refdp keeps."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if isinstance(value, np.ndarray):
        return list(value.ravel()) if value.dtype == object else []
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    value = getattr(value, "__func__", value)
    if isinstance(value, FunctionType):
        kept = [cell.cell_contents for cell in value.__closure__ or () if _filled(cell)]
        return [*vars(value).values(), value.__defaults__, value.__kwdefaults__, *kept]
    own = value.__module__ if isinstance(value, type) else type(value).__module__
    engine = own.startswith("refdp.prove.")
    return list(vars(value).values()) if own.startswith("refdp.") and not engine and hasattr(value, "__dict__") else []


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def privates(value: Any, depth: int = 0) -> Iterator[Private]:
    """Everything private in a value, however deep."""
    if isinstance(value, Private):
        yield value
    elif depth < 12 and not isinstance(value, Known | np.ndarray | ModuleType | str | bytes | int | float | type(None)):
        inner: Any = ()
        if isinstance(value, dict):
            inner = [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            inner = value
        elif isinstance(value, type):
            inner = ()
        elif is_dataclass(value):
            inner = [getattr(value, one.name) for one in fields(value)]
        elif hasattr(value, "__dict__") and not callable(value):
            inner = vars(value).values()
        for one in inner:
            yield from privates(one, depth + 1)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        for one in value.ravel():
            yield from privates(one, depth + 1)


# --- numpy's functions ------------------------------------------------------------------------------------------------


def combined(name: str, arguments: Sequence[Any], ufunc: Any = None) -> Any:
    """A function of numbers, entry by entry. Errors: Leak if a record's value follows from others."""
    if any(isinstance(one, Table) for one in arguments):
        if any(isinstance(one, Each) for one in arguments):
            raise Leak("a value of each record that depends on a sum over other records")
        return _tables(name, arguments)
    each = next((one for one in arguments if isinstance(one, Each)), None)
    if each is not None:
        return each.reader.operated(name, arguments)
    with np.errstate(all="ignore"):
        return Known((ufunc or getattr(np, name))(*public(tuple(arguments))), _varies(tuple(arguments)))


def _tables(name: str, arguments: Sequence[Any]) -> Table:
    shapes = [one.shape if isinstance(one, Table) else np.shape(getattr(one, "example", one)) for one in arguments]
    tables = [one for one in arguments if isinstance(one, Table)]
    if any(one.shape != tuple(axis.size for axis in one.axes) for one in tables):
        raise Unmodelled("arithmetic on reshaped private sums")
    shape = np.broadcast_shapes(*shapes)
    axes = [_axis(tables, place - len(shape), size) for place, size in enumerate(shape)]
    constants: dict[Any, Any] = {}

    def constant(place: int, index: tuple[Any, ...]) -> Any:
        value, own = arguments[place], index[len(shape) - len(shapes[place]) :]
        if not isinstance(value, Known):
            if not np.ndim(value):
                return number(value) if not isinstance(value, bool | np.bool_) else z3.BoolVal(bool(value))
            own = tuple(0 if size == 1 else i for i, size in zip(own, shapes[place], strict=True))
            if all(isinstance(i, int) for i in own):
                return number(np.asarray(value)[own])
        return constants.setdefault((place, own), real())  # any public number

    def cell(index: tuple[Any, ...], world: Any) -> Any:
        found: list[Any] = []
        for place, value in enumerate(arguments):
            if not isinstance(value, Table):
                found.append((constant(place, index),) * 2)
                continue
            own = index[len(shape) - value.ndim :]
            found.append(value.cell(tuple(_own(axis, i) for axis, i in zip(value.axes, own, strict=True)), world))
        whole = _joined(name, found)
        if whole is not None:
            return whole
        pairs = [world.pair(one) if isinstance(one, Sum) else one for one in found]
        both = Combined(operated(name, [pair[side] for pair in pairs]) for side in (0, 1))
        plain = name in ("add", "subtract", "negative") and all(summands(one) for one in found)
        both.sums = tuple(own for one in found for own in summands(one)) if plain else ()
        return both

    return Table(axes, cell)


def _own(axis: Axis, index: Any) -> Any:
    """The entry of a table's own axis that an entry of the result comes from."""
    if axis.kind == "each" and axis.size == 1:
        return 0
    return index


def _axis(tables: Sequence[Table], place: int, size: int) -> Axis:
    found = [table.axes[place] for table in tables if -place <= table.ndim]
    kinds = {axis for axis in found if not (axis.kind == "each" and axis.size == 1)}
    if not kinds:
        return Axis("each", size)
    sided = {axis.of[2] for axis in kinds if axis.kind == "option" and axis.of[0] == "sides"}
    kinds = {axis for axis in kinds if not (axis.kind == "option" and axis.of[0] == "missing" and axis.of[1] in sided)}
    if len(kinds) > 1 or (kind := next(iter(kinds))).size != size:
        raise Unmodelled("private sums of different parts of the records, entry by entry")
    return kind


def _joined(name: str, found: Sequence[Any]) -> Sum | None:
    """A sum over two sets without a common record, or over one without a part of it."""
    if name not in ("add", "subtract") or not all(isinstance(one, Sum) for one in found):
        return None
    a, b = found
    same = (a.state, a.name, a.scopes, a.seats, a.units) == (b.state, b.name, b.scopes, b.seats, b.units)
    option = a.option if a.option is not None else b.option
    if not same or (a.option is not None and b.option is not None and a.option != b.option):
        return None
    if name == "add" and not a.sides & b.sides:
        sides = a.sides | b.sides
    elif name == "subtract" and b.sides < a.sides:
        sides = a.sides - b.sides
    else:
        return None
    return Sum(a.state, a.name, a.scopes, a.seats, sides, None if sides == ALL else option, a.units)


def reduced(name: str, value: Any, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    """A reduction of public values; of private ones the total over the bins of a feature.

    Errors: Leak over records, Unmodelled for other functions.
    """
    if isinstance(value, Known):
        return Known(getattr(np, name).reduce(value.example, axis=axis, keepdims=keepdims), value._varying)
    if not isinstance(value, Table):
        raise Leak(f"{name} over all records")
    last = value.axes[-1]
    if name != "add" or axis not in (-1, value.ndim - 1) or last.of[:1] != ("bins",) or last.kind != "part":
        raise Unmodelled(f"numpy's {name} over private sums")

    def cell(index: tuple[Any, ...], world: Any) -> Any:
        return value.cell((*(index[:-1] if keepdims else index), "whole"), world)

    return Table((*value.axes[:-1], *([Axis("each", 1)] if keepdims else [])), cell)


def called(function: Any, arguments: Any, options: Any) -> Any:
    """A function of arrays. Errors: Leak over records, Unmodelled for private sums."""
    name = function.__name__
    if not any(True for _ in privates((arguments, options))):
        with np.errstate(all="ignore"):
            made = function(*public(arguments), **public(options))
        return Known(made, _varies((arguments, options)) or _sized(name, arguments, options))
    if name in ("concatenate", "split") and len(arguments) == 2 + (name == "split"):
        arguments, options = arguments[:-1], {**options, "axis": arguments[-1]}
    if len(arguments) != PLAIN.get(name, len(arguments)) or {*options} - (
        {"axis"} if name in ("concatenate", "split") else set()
    ):
        raise Unmodelled(f"numpy's {name} of private sums with further arguments")
    if name == "clip":
        return combined("maximum", (combined("minimum", (arguments[0], arguments[2])), arguments[1]))
    if name == "where":
        return combined("where", arguments)
    if name == "trunc" or name == "rint":
        return combined(name, arguments)
    if name in ("ravel", "reshape") and isinstance(arguments[0], Table):
        shape = np.reshape(np.empty(arguments[0].shape, np.int8), *arguments[1:] or (-1,)).shape
        return Table(arguments[0].axes, arguments[0].cell, shape)
    if name == "concatenate" and all(isinstance(one, Table) for one in arguments[0]):
        return _side_by_side(list(arguments[0]), options.get("axis", 0))
    if name == "split" and isinstance(arguments[0], Table):
        return _cut(arguments[0], list(arguments[1]), options.get("axis", 0))
    if name in ("shape", "ndim", "size") and isinstance(arguments[0], Table):
        return getattr(arguments[0], name)
    if any(isinstance(one, Each) for one in privates((arguments, options))):
        raise Leak(f"numpy's {name} over records")
    raise Unmodelled(f"numpy's {name} of private sums")


def _cut(table: Table, cuts: list[int], axis: int) -> list[Table]:
    """A table of the bins of several features, feature by feature."""
    size = table.shape[axis]
    edges = [0, *(int(one) for one in cuts), size]
    before = [slice(None)] * (axis % table.ndim)
    return [table[(*before, slice(low, high))] for low, high in itertools.pairwise(edges)]


def _side_by_side(tables: list[Table], axis: int) -> Table:
    """Options in several ways, or the parts of several features."""
    if len(tables) == 1:
        return tables[0]
    axis %= tables[0].ndim
    joined = [table.axes[axis] for table in tables]
    others = {table.axes[:axis] + table.axes[axis + 1 :] for table in tables}
    if len(others) > 1 or (joined[0].kind == "each" and len({one.size for one in joined}) > 1):
        raise Unmodelled("private sums of different parts of the records, side by side")
    size = sum(one.size for one in joined)
    if all(one.kind == "option" and one.ways == 1 for one in joined):
        new = Axis("option", size, len(tables))

        def cell(index: tuple[Any, ...], world: Any) -> Any:
            way, tag = index[axis]
            return tables[way].cell((*index[:axis], (0, tag), *index[axis + 1 :]), world)

    elif all(one.kind in ("part", "each") for one in joined) and tables[0].ndim == 1:

        def pieces(index: tuple[Any, ...], world: Any) -> Any:
            return tables[index[0]].cell(index[1:], world)

        if len({one.kind for one in joined}) > 1:
            raise Unmodelled("private sums of different kinds, side by side")
        return Table((Axis("each", len(tables)), joined[0]), pieces, (size,))
    else:
        raise Unmodelled("private sums side by side")
    return Table((*tables[0].axes[:axis], new, *tables[0].axes[axis + 1 :]), cell)


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
