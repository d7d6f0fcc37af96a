"""What stands for numbers in the prove reading: values of a record, and released values.

`Each` is a value that every record has: a term over the unknowns of one record that stands for all. `Known` is public:
an unknown that is the same on both neighbours, of which one example is at hand; the example decides shapes, never a
question. Sums over records are in `refdp.prove.tables`.

numpy's functions reach all of them by its protocols (`refdp.prove.arithmetic`). Whatever is not listed there cannot be
followed, and what would show a private value (a branch, a length, a conversion, a text) is a leak.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import fields, is_dataclass
from types import BuiltinMethodType, FunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np
import z3
from numpy.lib.mixins import NDArrayOperatorsMixin

from refdp.data.candidates import Candidates
from refdp.data.feasible import Feasible
from refdp.privacy.curator import Curator
from refdp.prove.forms import is_unpacked
from refdp.prove.kinds import Kind
from refdp.prove.nones import can_be_none
from refdp.prove.objects import form_of, is_number, replaced_fields
from refdp.prove.reach import Exchanged, Host, inside
from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.texts import is_text, tree_of_function


def arithmetic() -> Any:
    """The module of numpy's functions, which imports this one."""
    return importlib.import_module("refdp.prove.arithmetic")


class Symbol(NDArrayOperatorsMixin):
    """Whatever numpy computes with in the prove reading."""

    what = "a value"

    def __hash__(self) -> int:
        """A look-up asks for the value. Errors: Leak, Unmodelled."""
        raise Unmodelled(f"a search for {self.what}")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if _is_of_lists(inputs):
            raise Unmodelled(f"numpy's {ufunc.__name__} of a list, which Python may mean otherwise")
        given = {name for name, value in options.items() if value is not None}
        if method not in ("__call__", "reduce") or given - ({"axis", "keepdims"} if method == "reduce" else set()):
            raise Unmodelled(f"numpy's {ufunc.__name__}.{method} of {self.what} with {sorted(given)}")
        if method == "reduce":
            return arithmetic().reduced(ufunc.__name__, inputs[0], **{"axis": 0, **options})
        return arithmetic().combined(ufunc.__name__, inputs, ufunc)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return arithmetic().called(function, arguments, options)


def _is_of_lists(inputs: Any) -> bool:
    """Whether an operator can mean something else than arithmetic: two lists in a row, or one so many times.

    Beside an array, which is numpy's, a list is an array; so it is beside a private value, but for one that is a single
    number, and beside those all lists are refused.
    """
    own = [one.example if isinstance(one, Known) else one for one in inputs]
    lists = [isinstance(one, list | tuple | dict | str | bytes | range) for one in own]
    arrays = [isinstance(one, np.ndarray) and one.ndim > 0 for one, other in zip(own, lists, strict=True) if not other]
    released = any(other and isinstance(one, Known) for one, other in zip(inputs, lists, strict=True))
    return released or (any(lists) and not any(arrays))


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


WIDE = (float, np.float64, "float64", "float")
WHOLE = (int, np.int64, np.intp)
"""Kinds of numbers that keep any number that is at hand, and any whole one: a narrow kind stays what it is beside a
number of the text's, which wraps around in it."""


class Each(Private):
    """A value of every record. term: over the unknowns of the record that stands for all; kind: how numpy keeps it."""

    what = "a value of each record"

    def __init__(self, term: Any, reader: Any, kind: Kind | None = None) -> None:
        self.term, self.reader, self.kind = term, reader, kind or Kind()

    def astype(self, kind: Any, *_: Any, **__: Any) -> Each:
        """A truth value as 0 and 1, a number as it is. Errors: Unmodelled for narrower kinds, or without sign."""
        if kind not in WIDE and not (z3.is_bool(self.term) and kind in WHOLE):
            raise Unmodelled(f"a value of each record as {kind}, which can be another number")
        if z3.is_bool(self.term):
            made = z3.If(self.term, z3.RealVal(1), z3.RealVal(0))
            return Each(made, self.reader, Kind("float" if kind in WIDE else "whole", 0, True))
        if self.kind.of != "float":
            raise Unmodelled("whole numbers of each record as numbers of another kind")
        return copy(self)

    def min(self, *_: Any, **__: Any) -> NoReturn:
        """An aggregate that is no query."""
        self._leak("an aggregate over all records of")

    max = mean = sum = any = all = std = min


OF_SUMS = ("right_sums", "missing_sums", "sides", "apart")
"""What candidates say of private sums in the bins that they encode, whichever candidates were released."""


class Known(Symbol):
    """Released or drawn publicly: the same on both neighbours, and unknown.

    example: one such value. varying: whether lengths of it follow from released values; listed: all but that of its
    first axis, which is a list's; axes: how many it has in every run, None where that is not known. least: what it is
    never below, by the text's own `np.maximum`; finite: whether it is a number that hosts know to be finite.
    """

    what = "a released value"
    finite = listed = False
    axes: int | None = None
    kept: tuple[Known, ...] = ()
    """Released candidates that an object of refdp's own was made of, and gives again as they are."""

    def __init__(
        self, example: Any, varying: bool = False, least: float | None = None, *, listed: bool = False
    ) -> None:
        for one in privates(example):
            raise Leak(f"{one.what} in place of a released one:")
        for within in knowns(example):  # those in fields of an object are not taken out of it
            raise Unmodelled(f"{within.what} within a released one, which has an example of its own")
        if not self._is_number(example):
            raise Unmodelled(
                "a released value that is not made of numbers: another one could be a None, or another object"
            )
        self.example, self._varying, self.least, self.listed = example, varying, least, listed

    def _is_number(self, example: Any) -> bool:
        return is_number(example, deep=True)

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
        if not self.listed:
            self._fixed()
        return len(self.example)

    def __iter__(self) -> Iterator[Any]:
        if not self.listed and not is_unpacked(sys._getframe(1)):  # where it is, another length is an error
            self._fixed()
        return (Known(one, self._varying) for one in self.example)

    def __getitem__(self, key: Any) -> Any:
        if any(isinstance(one, Private) for one in (key if isinstance(key, tuple) else (key,))):
            raise Leak("a private choice among released values")
        found, varying = self.example[public(key)], self._varying or _chooses(key)
        if not any(True for _ in knowns(key)):
            return self._part(found, varying)
        made = Known(found, varying or not isinstance(self.example, np.ndarray))  # entries of a list differ in length
        made.axes = self.axes if isinstance(key, Known) and key.axes == 1 else None
        return made

    def _part(self, found: Any, varying: bool | None = None) -> Known:
        same = next((one for one in self.kept if one.example is found), None)
        return Known(found, self._varying if varying is None else varying) if same is None else same

    def _of_private(self, name: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """What candidates say of private sums in their bins (`refdp.prove.exchange`), whichever candidates these are.

        Errors: Unmodelled for anything else, which would be computed with the numbers and lengths of the example.
        """
        if type(self.example) is not Candidates or name not in OF_SUMS:
            raise Unmodelled(f"{name} of a released value, of private ones: the example's decides nothing")
        return getattr(Candidates, name)(self, *given, **named)

    def __repr__(self) -> str:
        raise Unmodelled("a text of a released value")

    __str__ = __repr__

    def __format__(self, how: str) -> str:
        raise Unmodelled("a text of a released value")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in (
            "example",
            "loop",
            "each",
            "least",
            "listed",
            "finite",
            "axes",
            "kept",
            "_varying",
        ):
            raise AttributeError(name)
        if name == "base":
            raise Unmodelled("whether a released value has memory of its own")
        checked(inspect.getattr_static(type(self.example), name, None), (self.example,))
        found = getattr(self.example, name)
        if found is None:
            raise Unmodelled(f"{name} of a released value, which is None for some of them")
        if name in ("shape", "ndim", "size"):
            self._fixed()
            return found
        if name == "dtype":
            raise Unmodelled("the kind of numbers of a released value, which could follow from it")
        if not callable(found):
            part = self._part(found)
            part.finite = self.finite and gives_field(type(self.example), name)
            part.axes = 2 if type(self.example) is Candidates and name == "values" else None
            return part

        def method(*given: Any, **named: Any) -> Any:
            if any(True for _ in privates((given, named))):
                return self._of_private(name, given, named)
            if given and isinstance(self.example, list | tuple | dict):
                raise Unmodelled(f"{name} of a released list, which could give another entry, or none")
            with unchanged((given, named)):
                made = found(*public(given), **public(named))
            made = released(made, getattr(found, "__func__", found), (self, *given), named)
            made._varying = self._varying or sized(name, (self, *given), named) or varies((given, named))
            return made

        return Exchanged(method)


class Fixed(Known):
    """What follows from parameters and the schema alone, such as a public grid: the same in every run."""

    what = "a public value"

    def _part(self, found: Any, varying: bool | None = None) -> Known:
        return Fixed(found)


class Settings(Known):
    """Parameters of a text with other numbers in some fields, `replace` of the same ones in every run."""

    def _is_number(self, example: Any) -> bool:
        return True


def is_released(value: Any) -> bool:
    """Whether a value is another one in other runs, of which the reading has an example."""
    return isinstance(value, Known) and not isinstance(value, Fixed)


def checked(method: Any, given: Any = ()) -> None:
    """A function of the text's own is run on an example of a released value. given: what a property is asked of.

    Errors: Unmodelled for one that could give None for some of them, or a property objects of several kinds.
    """
    getter = getattr(method, "fget", None) or getattr(method, "func", None)
    own = getter or getattr(method, "__func__", method)
    if isinstance(own, FunctionType) and is_text(own.__code__.co_filename):
        if can_be_none(own):
            raise Unmodelled(f"{own.__name__} of released values, which could give None for some of them")
        if getter:
            _alike(own, given, {})


def released(found: Any, function: Any, given: Any, named: Any) -> Known:
    """What a function gave of released values. given, named: its arguments.

    Errors: Unmodelled for what is not made of numbers, and where a text's function could give another kind of object.
    """
    code = getattr(function, "__code__", None)
    if code is None or not is_text(code.co_filename):
        made = Known(found, True)
        made.axes = 1 if inspect.unwrap(getattr(function, "__func__", function)) in OF_ROWS else None
        own = [each for one in knowns((*given, *named.values())) for each in (one, *one.kept)]
        made.kept = tuple(one for one in own if type(one.example) is Candidates)
        return made
    replaced = replaced_fields(_alike(function, given, named))
    if replaced is None:
        return Known(found, True)
    if not all(is_number(getattr(found, name), deep=True) for name in replaced):
        raise Unmodelled(f"{function.__name__} of released values, which gives settings that are no numbers")
    return Settings(found, True)


OF_ROWS = (Feasible.drawn, Feasible.drawn_of)
"""Functions of refdp's own whose results have one axis, or are errors."""


def _alike(function: Any, given: Any, named: Any) -> Any:
    form = form_of(function, given, named)
    if form is None:
        raise Unmodelled(f"{function.__name__} of released values, which could give another kind of object for others")
    return form


def gives_field(kind: Any, name: str) -> bool:
    """Whether an attribute is a field of a dataclass, or by its text one of its fields or a constant."""
    if not is_dataclass(kind):
        return False
    own = {one.name for one in fields(kind)}
    found = inspect.getattr_static(kind, name, None)
    if name in own and not isinstance(found, property):
        return True
    tree = tree_of_function(found.fget) if isinstance(found, property) else None
    if tree is None or not isinstance(tree.body[0], ast.FunctionDef):
        return False
    *before, last = tree.body[0].body
    plain = all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in before)
    return plain and isinstance(last, ast.Return) and _is_field(last.value, own)


def _is_field(value: ast.expr | None, own: set[str]) -> bool:
    if isinstance(value, ast.BoolOp):
        return all(_is_field(one, own) for one in value.values)
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int | float) and abs(value.value) < np.inf
    by_self = isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "self"
    return by_self and value.attr in own  # type: ignore[union-attr]


VARYING = {"unique", "nonzero", "flatnonzero", "argwhere", "extract", "compress", "trim_zeros", "setdiff1d", "union1d",
           "intersect1d", "setxor1d", "bincount", "arange", "linspace", "zeros", "ones", "full", "empty", "resize",
           "histogram", "histogram_bin_edges", "apply_along_axis", "logspace"}  # fmt: skip
"""Functions whose result can be longer or shorter with other values of their arguments."""
SHAPED = {"where": 3, "clip": 3, "isclose": 2, "isin": 2, "searchsorted": 2, "digitize": 2, "take": 2, "dot": 2,
          "take_along_axis": 2, "matmul": 2, "outer": 2, "einsum": 99}  # fmt: skip
"""Functions of which so many arguments decide by their shapes alone how long the result is; of all others the first."""


def sized(name: str, arguments: Any, options: Any) -> bool:
    """Whether a function of released values can give more or fewer entries with others."""
    if name == "where":
        return len(arguments) == 1
    deciding = (*arguments[SHAPED.get(name, 1) :], *options.values())  # such as a number of entries, or an axis
    return name in VARYING or any(True for _ in knowns(deciding))


def knowns(value: Any) -> Iterator[Known]:
    """Whatever is released in a value, at any depth."""
    if isinstance(value, Known):
        yield value
    elif isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from knowns(one)
    elif isinstance(value, slice):
        yield from knowns((value.start, value.stop, value.step))


def varies(value: Any) -> bool:
    """Whether among arguments is a released value whose length follows from released values."""
    if isinstance(value, Known):
        return value._varying
    if isinstance(value, dict):
        return any(varies(one) for one in value.values())
    return isinstance(value, list | tuple) and any(varies(one) for one in value)


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
    if isinstance(value, Symbol):
        raise Unmodelled(f"{value.what}, in place of a number")
    if holds(value):
        raise Unmodelled("a function of released values that holds the records, the curator or a private value")
    return value


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
        if isinstance(one, BuiltinMethodType) and isinstance(one.__self__, list | dict | set | deque | np.ndarray):
            return True  # what is given to it stays there
        if id(one) not in seen and not _is_plain(one):
            seen.add(id(one))
            waiting += inside(one)
    return False


@contextmanager
def unchanged(values: Any) -> Iterator[None]:
    """Arrays that a function of released values is given cannot be written to: it would write an example's values."""
    found = {id(one): one for one in _arrays(values) if one.flags.writeable}
    for one in found.values():
        one.flags.writeable = False
    try:
        yield
    finally:
        for one in found.values():
            one.flags.writeable = True


def _arrays(value: Any) -> Iterator[Any]:
    return (one for one in everything(value, _examples) if isinstance(one, np.ndarray))


def _examples(value: Any) -> Iterable[Any]:
    if isinstance(value, Known):
        return (value.settled(),)
    return () if isinstance(value, np.ndarray) else _entries(value)


def everything(value: Any, within: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """A value and all that is within it and within that, in order, however deep; what goes round in circles ends."""
    waiting, seen = [value], dict[int, Any]()
    while waiting:
        one = waiting.pop()
        yield one
        if id(one) not in seen and (inner := list(within(one))):
            seen[id(one)] = one
            waiting += reversed(inner)


def _entries(value: Any) -> Iterable[Any]:
    """Entries of a container, keys of a dictionary left out, and fields."""
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, one.name) for one in fields(value)]
    return ()


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) and not (isinstance(value, np.ndarray) and value.dtype.hasobject)


def privates(value: Any) -> Iterator[Private]:
    """Everything private in a value, however deep."""
    return (one for one in everything(value, kept) if isinstance(one, Private))


def kept(value: Any, looked_into: Callable[[Any], bool] = lambda _: True) -> Iterable[Any]:
    """What a container, a dataclass or another object keeps. looked_into: which of the last are."""
    if isinstance(value, np.ndarray):
        return value.ravel() if value.dtype == object else ()
    if isinstance(value, Symbol | ModuleType | str | bytes | int | float | type | None):
        return ()
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset) or is_dataclass(value):
        return _entries(value)
    own = hasattr(value, "__dict__") and not callable(value) and looked_into(value)
    return vars(value).values() if own else ()
