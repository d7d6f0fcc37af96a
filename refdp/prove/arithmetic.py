"""numpy's functions of what stands for numbers in the prove reading."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import z3

from refdp.data.kernels import GRID
from refdp.prove.asking import name_of, number, real
from refdp.prove.kinds import FINITE, Form, form_of, in_float64, of_sums, order_of_sums, together
from refdp.prove.magnitudes import describe, moderate, orders
from refdp.prove.open import Open, example_of
from refdp.prove.symbols import Each, Known, Symbol, privates, public, sized, unchanged, varies
from refdp.prove.tables import (
    ALL,
    UNITS,
    Axis,
    Cell,
    Choices,
    Combined,
    Formula,
    Sum,
    Table,
    is_binned,
    is_of_bins,
    plainly_shaped,
    summands,
    total_of,
)
from refdp.prove.terms import Leak, Unmodelled, operated

PLAIN = {"clip": 3, "where": 3, "rint": 1, "trunc": 1, "ravel": 1, "reshape": 2, "concatenate": 1, "split": 2,
         "shape": 1, "ndim": 1, "size": 1}  # fmt: skip
"""How many arguments a function of private sums has."""
BESIDE = "a formula of private sums and released or large numbers: float64 could be far from it"

WARNING = {"add", "subtract", "multiply", "divide", "square", "power"}
"""Functions of numbers that can be infinite, or none."""


def combined(name: str, arguments: Sequence[Any], ufunc: Any = None) -> Any:
    """A function of numbers, entry by entry. Errors: Leak if a record's value follows from others."""
    if any(isinstance(one, Table) for one in arguments):
        if any(isinstance(one, Each) for one in arguments):
            raise Leak("a value of each record that depends on a sum over other records")
        return _tables(name, arguments)
    each = next((one for one in arguments if isinstance(one, Each)), None)
    if each is not None:
        if ufunc is np.exp:
            raise Unmodelled("numpy's exp of a record's value: not on every machine that of refdp.data.numbers")
        return each.reader.operated(name, arguments)
    plain = [float(one) for one in arguments if isinstance(one, int | float)]
    free = next((one for one in arguments if isinstance(one, Open)), None)
    if free is not None:
        if not any(isinstance(one, Known) for one in arguments):
            return free.opens.operated(name, arguments)
        arguments = [example_of(one) for one in arguments]  # a function of what is released and of the parameter
    with np.errstate(all="ignore"):
        found = (ufunc or getattr(np, name))(*public(tuple(arguments)))
    made = Known(found, varies(tuple(arguments)), max(plain, default=None) if name == "maximum" else None)
    made.finite = name in ("maximum", "minimum") and all(
        one.finite if isinstance(one, Known) else np.isfinite(one).all() for one in arguments
    )
    return made


def _tables(name: str, arguments: Sequence[Any]) -> Table:
    """Entry by entry, as the arguments are now: what a text changes of its arrays later is another number."""
    arguments = [_kept(one) for one in arguments]
    if name == "multiply" and (scaled := _scaled(arguments)) is not None:
        return scaled
    if varies(arguments):
        raise Unmodelled("private sums beside released values, of which these say how many there are, in how many axes")
    shapes = [one.shape if isinstance(one, Table) else np.shape(getattr(one, "example", one)) for one in arguments]
    tables = [one for one in arguments if isinstance(one, Table)]
    for one in tables:
        plainly_shaped(one)
    forms = [_form(one) for one in arguments]
    of = of_sums(name, [one.of for one in forms])
    if name == "power" and not (_is_number(arguments[1]) and arguments[1] == 2):
        raise Unmodelled("a power other than a square of private sums")
    if name == "divide" and not isinstance(arguments[1], Symbol) and not np.all(arguments[1]):
        raise Unmodelled("a quotient of private sums by 0")
    numbers = [None if isinstance(one, Symbol) else one for one in arguments]
    form = Form(of, order_of_sums(name, forms, numbers))
    shape = np.broadcast_shapes(*shapes)
    axes = [_axis(tables, place - len(shape), size) for place, size in enumerate(shape)]
    _as_many(arguments, shapes, axes)
    constants: dict[Any, Any] = {}
    along = all(one.ndim >= len(shape) - place and one.shape[place - len(shape)] == shape[place]
                for one in tables for place, axis in enumerate(axes) if is_binned(axis))  # fmt: skip
    """Whether all have entries of their own along bins; one that is the same for all of them is no summand of each, so
    that the bins' sum has it more than once."""

    def constant(place: int, index: tuple[Any, ...], world: Any) -> Any:
        value, own = arguments[place], index[len(shape) - len(shapes[place]) :]
        if isinstance(value, Open):
            return value.term
        if not isinstance(value, Known):
            value = in_float64(np.asarray(value) if isinstance(value, list | tuple) else value)
            if not np.ndim(value):
                return _plain(value)
            own = tuple(0 if size == 1 else i for i, size in zip(own, shapes[place], strict=True))
            if all(isinstance(i, int) for i in own):
                return _plain(np.asarray(value)[own])
            if moderate(value):
                found = constants.setdefault((place, own), real())  # any public number
                describe(found, free=orders(value))
                if any(isinstance(i, tuple) for i in own):
                    world.reader.optional.add(name_of(found))  # another one for every option
                return found
        raise Unmodelled(BESIDE)

    formula = Formula(name, axes) if name in WARNING and form.order > FINITE else None

    def cell(index: tuple[Any, ...], world: Any) -> Any:
        if formula is not None:
            formula.ask(index)
        found: list[Any] = []
        for place, value in enumerate(arguments):
            if not isinstance(value, Table):
                found.append((constant(place, index, world),) * 2)
                continue
            own = index[len(shape) - value.ndim :]
            found.append(value.cell(tuple(_own(axis, i) for axis, i in zip(value.axes, own, strict=True)), world))
        whole = _joined(name, found) if along or not any(map(is_of_bins, index)) else None
        if whole is not None:
            return whole
        pairs = [world.pair(one) if isinstance(one, Sum) else one for one in found]
        both = Combined(operated(name, [pair[side] for pair in pairs]) for side in (0, 1))
        plain = along and name in ("add", "subtract", "negative") and all(summands(one) for one in found)
        both.sums = tuple(own for one in found for own in summands(one)) if plain else ()
        return both

    return Table(axes, cell, form=form)


def _scaled(arguments: Sequence[Any]) -> Table | None:
    """Sums in units of the grid, times the grid: the same in their own. None for another product."""
    for one, other in (arguments, arguments[::-1]):
        if isinstance(one, Table) and one.form == UNITS and isinstance(other, float) and other == GRID:
            plainly_shaped(one)
            return Table(one.axes, _in_their_own(one.cell))
    return None


def _in_their_own(cell: Cell) -> Cell:
    return lambda index, world: replace(cell(index, world), units=False)


def _form(value: Any) -> Form:
    """That of an argument; a parameter that is open can be a whole number, and large.

    Errors: Unmodelled for what is released, and for numbers that numpy does not keep in float64 beside these.
    """
    if isinstance(value, Table):
        return value.form
    if isinstance(value, Open):
        return Form("whole", math.inf)
    if isinstance(value, Known):
        raise Unmodelled(BESIDE)
    value = in_float64(np.asarray(value) if isinstance(value, list | tuple) else value)
    if np.isnan(value).any():
        raise Unmodelled("what is no number beside private sums")
    return form_of(value)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, np.float64)


def _as_many(arguments: Sequence[Any], shapes: Sequence[tuple[int, ...]], axes: Sequence[Axis]) -> None:
    """No public numbers lie along sums of which there are as many as released values say: one sum would be beside all.

    Errors: Unmodelled where they do.
    """
    for value, shape in zip(arguments, shapes, strict=True):
        along = zip(shape[::-1], axes[::-1], strict=False)
        if not isinstance(value, Table) and any(size != 1 and axis.loose for size, axis in along):
            raise Unmodelled("as many public numbers as an example has private sums, beside these")


def _kept(value: Any) -> Any:
    """An argument of which nothing that a text may change is shared."""
    if isinstance(value, list | tuple):
        return [_kept(one) for one in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def _plain(value: Any) -> Any:
    return z3.BoolVal(bool(value)) if isinstance(value, bool | np.bool_) else number(value)


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
    sided = {axis.of[1] for axis in kinds if axis.kind == "option" and axis.of[0] == "sides"}
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
    plainly_shaped(value)
    last = value.axes[-1]
    if (name, value.form.of, last.kind) != ("add", "float", "part") or axis not in (-1, value.ndim - 1):
        raise Unmodelled(f"numpy's {name} over private sums")
    if last.of[:1] != ("bins",):
        raise Unmodelled(f"numpy's {name} over private sums")

    def cell(index: tuple[Any, ...], world: Any) -> Any:
        return total_of(value.cell((*(index[:-1] if keepdims else index), "whole"), world))

    return Table((*value.axes[:-1], *([Axis("each", 1)] if keepdims else [])), cell, form=value.form)


def called(function: Any, arguments: Any, options: Any) -> Any:
    """A function of arrays. Errors: Leak over records, Unmodelled for private sums."""
    name = function.__name__
    if not any(True for _ in privates((arguments, options))):
        if name in ("clip", "where") and not options and any(isinstance(one, Known) for one in arguments):
            arguments = tuple(example_of(one) for one in arguments)  # entry by entry, as above
        with np.errstate(all="ignore"), unchanged((arguments, options)):
            made = function(*public(arguments), **public(options))
        longer = varies((arguments, options)) or sized(name, arguments, options)
        rows = name == "stack" and len(arguments) == 1 and not options
        found = Known(made, longer, listed=rows)
        if rows and type(arguments[0]) is list:
            found.axes = _stacked([getattr(one, "axes", None) for one in arguments[0]])
        return found
    if name in ("concatenate", "split") and len(arguments) == 2 + (name == "split"):
        arguments, options = arguments[:-1], {**options, "axis": arguments[-1]}
    if len(arguments) != PLAIN.get(name, len(arguments)) or {*options} - (
        {"axis"} if name in ("concatenate", "split") else set()
    ):
        raise Unmodelled(f"numpy's {name} of private sums with further arguments")
    if name == "clip":
        made = combined("minimum", (combined("maximum", (arguments[0], arguments[1])), arguments[2]))
        if isinstance(made, Table):
            return _between(made, arguments[1:])
        return made
    if name == "where":
        return combined("where", arguments)
    if name == "trunc" or name == "rint":
        return combined(name, arguments)
    if name in ("ravel", "reshape") and isinstance(arguments[0], Table):
        if isinstance(arguments[0], Choices):
            raise Unmodelled("utilities of medians in another shape")
        plainly_shaped(arguments[0])
        shape = np.reshape(np.empty(arguments[0].shape, np.int8), *arguments[1:] or (-1,)).shape
        return Table(arguments[0].axes, arguments[0].cell, shape, arguments[0].form)
    if name == "concatenate" and all(isinstance(one, Table) for one in arguments[0]):
        return _side_by_side(list(arguments[0]), options.get("axis", 0))
    if name == "split" and isinstance(arguments[0], Table):
        return _cut(arguments[0], list(arguments[1]), options.get("axis", 0))
    if name in ("shape", "ndim", "size") and isinstance(arguments[0], Table):
        arguments[0].counted()
        return getattr(arguments[0], name)
    if any(isinstance(one, Each) for one in privates((arguments, options))):
        raise Leak(f"numpy's {name} over records")
    raise Unmodelled(f"numpy's {name} of private sums")


def _between(table: Table, ends: Sequence[Any]) -> Table:
    """A new table whose entries are between these."""
    if not any(isinstance(one, Symbol) for one in ends):
        table.form = table.form._replace(order=together([_form(one) for one in ends]).order)
    return table


def _stacked(axes: list[int | None]) -> int | None:
    """How many axes arrays with these have as the entries of another one."""
    one = axes[0] if axes else None
    return one + 1 if one is not None and axes.count(one) == len(axes) else None


def _cut(table: Table, cuts: list[int], axis: int) -> list[Table]:
    """A table of the bins of several features, feature by feature."""
    edges = [0, *(int(one) for one in cuts), None]  # as far as it goes, in every run
    before = [slice(None)] * (axis % table.ndim)
    return [table[(*before, slice(low, high))] for low, high in itertools.pairwise(edges)]


def _side_by_side(tables: list[Table], axis: int) -> Table:
    """Options in several ways, or the parts of several features."""
    if len(tables) == 1:
        return copy(tables[0])  # numpy makes a new one
    for one in tables:
        plainly_shaped(one)
    axis %= tables[0].ndim
    joined = [table.axes[axis] for table in tables]
    others = {table.axes[:axis] + table.axes[axis + 1 :] for table in tables}
    if len(others) > 1 or (joined[0].kind == "each" and len({one.size for one in joined}) > 1):
        raise Unmodelled("private sums of different parts of the records, side by side")
    size, form = sum(one.size for one in joined), together([one.form for one in tables])
    if all(one.kind == "option" and one.ways == 1 for one in joined):
        loose = any(one.loose for one in joined)
        new = Axis("option", size, len(tables), ("ways", *(one.of for one in joined)), loose)

        def cell(index: tuple[Any, ...], world: Any) -> Any:
            way, tag = index[axis]
            return tables[way].cell((*index[:axis], (0, tag), *index[axis + 1 :]), world)

    elif all(one.kind in ("part", "each") for one in joined) and tables[0].ndim == 1:

        def pieces(index: tuple[Any, ...], world: Any) -> Any:
            return tables[index[0]].cell(index[1:], world)

        if len({one.kind for one in joined}) > 1:
            raise Unmodelled("private sums of different kinds, side by side")
        own = replace(joined[0], loose=any(one.loose for one in joined))
        return Table((Axis("each", len(tables)), own), pieces, (size,), form)
    else:
        raise Unmodelled("private sums side by side")
    return Table((*tables[0].axes[:axis], new, *tables[0].axes[axis + 1 :]), cell, form=form)
