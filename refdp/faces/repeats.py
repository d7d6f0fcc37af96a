"""Whether records were fitted before while no budget holds the fits together: what a warning can see of it.

Nothing is read of the records. They are known by the object that they are in, and by where an array, a column of a
frame or a sparse matrix has them in memory, so that views with a common element are seen; only what is alive counts,
since memory is used again. Two fits are held together by one budget (or one file of it), or by a stream that knows
whose records come.

Columns of pandas' own types are known by the numpy array below them, those of Arrow, and tables of Arrow, by their
buffers; a frame by its first column of numpy and its first of Arrow. Polars is known by the object alone.

Copies have no memory in common with what they are copies of: `X[train]`, `df[columns]`, `X.astype(float)`. So
estimators are known too: one that is fitted again without a budget, itself or as scikit-learn's clone, as
cross-validation and searches do. Not seen: lists, to which there is no weak reference; what was saved and loaded;
copies, where the estimator is made anew or a budget is given; what was freed between the fits, as a file that is read
twice; what other processes fitted.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from refdp.accounting.budget import PrivacyBudget, ScopedBudget
from refdp.errors import RepeatedFitWarning
from refdp.faces.warned import warn

_WORK = 1000  # steps at most to tell views apart whose ranges overlap; they count as common beyond


@dataclass(frozen=True)
class _View:
    """Where the elements of an array are: as numpy has it, in bytes."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    size: int

    @classmethod
    def of(cls, array: Any) -> _View:
        """Of an array that is not empty."""
        return cls(array.__array_interface__["data"][0], array.shape, array.strides, array.itemsize)

    def bounds(self) -> tuple[int, int]:
        """The first address, and the one after the last."""
        spans = [(length - 1) * stride for length, stride in zip(self.shape, self.strides, strict=True)]
        low = self.address + sum(min(span, 0) for span in spans)
        return low, self.address + sum(max(span, 0) for span in spans) + self.size

    def meets(self, other: _View) -> bool:
        """Whether there is a common element, from addresses alone."""
        (low, high), (its_low, its_high) = self.bounds(), other.bounds()
        if high <= its_low or its_high <= low:
            return False
        try:
            return np.shares_memory(self._shape(), other._shape(), max_work=_WORK)  # type: ignore[arg-type]
        except np.exceptions.TooHardError:
            return True

    def _shape(self) -> Any:
        class Shape:
            __array_interface__ = {
                "data": (self.address, True), "shape": self.shape, "strides": self.strides,
                "typestr": f"|V{self.size}", "version": 3,
            }  # fmt: skip

        return np.asarray(Shape())


@dataclass(frozen=True)
class _Use:
    """A fit. living: the object, or what owns its memory. holder: its budget's file or itself, weakly; a stream."""

    living: weakref.ref[Any]
    view: _View | None
    holder: Any
    scope: str | None


_uses: dict[Any, _Use] = {}


class _Family:
    """What an estimator has in common with its clones alone; in no estimator's state, so that no model shows it."""


_families: dict[int, _Family] = {}
"""By the address of an estimator, while it lives: a subclass may have no hash."""
_alone: weakref.WeakSet[_Family] = weakref.WeakSet()
"""Families of which one estimator was fitted without a budget."""
_part: ContextVar[bool] = ContextVar("_part", default=False)


def repeated(holder: Any, *objects: Any, by: Any = None) -> None:
    """Warns: RepeatedFitWarning for a further fit of records that no one budget holds together, of an estimator by
    which or by whose clones others were fitted without a budget, and of records under a second name of one budget.

    holder: the budget, None, or a stream that knows whose records come. by: the estimator, or a list of them.
    """
    if _part.get():
        return
    mine, scope = _held(holder)
    places = _places_of_all(objects)
    other = None
    if scope is not None:
        other = _met(places, lambda use: use.holder == mine and use.scope not in (None, scope))
    if other is not None:
        text = (
            f"these records were fitted under the name {other.scope!r} of the same budget and now are under "
            f"{scope!r}: names stand for sets without a common record, so that too little is charged"
        )
        warn(text, RepeatedFitWarning)
    elif _met(places, lambda use: mine is None or use.holder != mine):
        text = (
            "these records were fitted before and no budget holds the fits together: every certificate is about its "
            "own fit alone, and every budget about what it was given; give all of them the same "
            "budget=refdp.PrivacyBudget(...), or the batches of a stream ids"
        )
        warn(text, RepeatedFitWarning)
    elif mine is None and any(_family(one) in _alone for one in _each(by)):
        text = (
            "this estimator or a clone of it was fitted before and no budget holds the fits together: where they have "
            "records in common, as in cross-validation and searches, every certificate is about its own fit alone; "
            "give budget=refdp.PrivacyBudget(...)"
        )
        warn(text, RepeatedFitWarning)


def remember(holder: Any, *objects: Any, by: Any = None) -> None:
    """That these records are fitted from now on, and charged where there is a budget. As `repeated`."""
    if _part.get():
        return
    mine, scope = _held(holder)
    for living, view in _places_of_all(objects):
        key = id(living), view, mine, scope
        _uses[key] = _Use(weakref.ref(living, _forgotten(key)), view, mine, scope)
    if mine is None:
        _alone.update(map(_family, _each(by)))


def _each(by: Any) -> Sequence[Any]:
    return by if isinstance(by, list) else [] if by is None else [by]


def related(estimator: Any, clone: Any) -> None:
    """That this is its clone."""
    _belongs(clone, _family(estimator))


def _family(estimator: Any) -> _Family:
    found = _families.get(id(estimator))
    return _belongs(estimator, _Family()) if found is None else found


def _belongs(estimator: Any, family: _Family) -> _Family:
    _families[id(estimator)] = family
    weakref.finalize(estimator, _families.pop, id(estimator), None).atexit = False
    return family


@contextmanager
def parts_of_one() -> Iterator[None]:
    """Fits inside are parts of one that is looked at and remembered itself."""
    token = _part.set(True)
    try:
        yield
    finally:
        _part.reset(token)


def _held(holder: Any) -> tuple[Any, str | None]:
    scope = holder.scope if isinstance(holder, ScopedBudget) else None
    budget = holder.budget if isinstance(holder, ScopedBudget) else holder
    if isinstance(budget, PrivacyBudget) and budget.file is not None:
        return budget.file, scope
    return (weakref.ref(budget) if _is_weak(budget) else None), scope


def _places_of_all(objects: Iterable[Any]) -> list[tuple[Any, _View | None]]:
    return [place for one in objects for place in _places(one)]


def _places(one: Any) -> Iterator[tuple[Any, _View | None]]:
    """Living objects that have the records: the object itself, and what owns the memory of its elements."""
    array = _array(one)
    if _is_weak(one) and array is not one:
        yield one, None
        yield from ((one, view) for view in _arrow_views(one))
    if array is not None and array.size and array.itemsize:
        view = _View.of(array)
        while isinstance(array.base, np.ndarray):
            array = array.base
        yield array, view


def _array(one: Any) -> Any:
    """An array of its memory, or None: of a frame, its first column that rests on one of numpy's."""
    if issparse(one):
        one = getattr(one, "data", None)
    for column in _columns(one):
        if isinstance(column.dtype, np.dtype):
            return column.values
        parts = (getattr(column.array, name, None) for name in ("_data", "_ndarray"))  # a column that may have none
        if (found := next((part for part in parts if isinstance(part, np.ndarray)), None)) is not None:
            return found
    return one if isinstance(one, np.ndarray) else None


def _columns(one: Any) -> Iterator[Any]:
    """The columns of a frame of pandas, or a column itself."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(one, pandas.Series):
        yield one
    elif pandas is not None and isinstance(one, pandas.DataFrame):
        yield from (one.iloc[:, i] for i in range(one.shape[1]))


def _arrow_views(one: Any) -> list[_View]:
    """Where a table or column of Arrow, or what of pandas rests on one, has the first column whose cells have places.

    A view a chunk. They stay where they are, also in copies.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is None:
        return []
    if isinstance(one, arrow.Table | arrow.RecordBatch):
        columns = iter(one.columns)
    elif isinstance(one, arrow.ChunkedArray | arrow.Array):
        columns = iter([one])
    else:
        held = (getattr(column.array, "_pa_array", None) for column in _columns(one))
        columns = (column for column in held if isinstance(column, arrow.ChunkedArray | arrow.Array))
    for column in columns:
        if width := _width(arrow, column.type):
            chunks = column.chunks if isinstance(column, arrow.ChunkedArray) else [column]
            places = [(part.buffers()[1], part.offset, len(part)) for part in chunks if len(part)]
            return [_View(at.address + offset * width, (length,), (width,), width) for at, offset, length in places]
    return []


def _width(arrow: Any, kind: Any) -> int:
    """Bytes a cell, of a text those of where it begins; 0 where cells have no bytes of their own."""
    if arrow.types.is_string(kind) or arrow.types.is_binary(kind):
        return 4
    if arrow.types.is_large_string(kind) or arrow.types.is_large_binary(kind):
        return 8
    number = arrow.types.is_primitive(kind) and kind.bit_width % 8 == 0
    return int(kind.bit_width) // 8 if number else 0


def _met(places: Iterable[tuple[Any, _View | None]], wanted: Callable[[_Use], bool]) -> _Use | None:
    """A fit that is wanted and had records of these places; the first that is found, since to tell views apart takes
    time."""
    uses = [(use, there) for use in list(_uses.values()) if wanted(use) and (there := use.living()) is not None]
    return next((use for living, view in places for use, there in uses if _same(use, there, living, view)), None)


def _same(use: _Use, there: Any, living: Any, view: _View | None) -> bool:
    return there is living if use.view is None or view is None else use.view.meets(view)


def _is_weak(one: Any) -> bool:
    try:
        weakref.ref(one)
    except TypeError:
        return False
    return True


def _forgotten(key: Any) -> Callable[[Any], None]:
    def forget(_: Any) -> None:
        _uses.pop(key, None)

    return forget
