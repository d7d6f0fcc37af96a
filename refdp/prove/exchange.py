"""The names of a training text, exchanged while it is read on unknown records; the text stays as it is."""

from __future__ import annotations

import builtins
import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NoReturn, cast

import numpy as np

from refdp.data import feasible, sketch
from refdp.data.candidates import Candidates
from refdp.privacy.curator import Curator
from refdp.prove import medians, symbols
from refdp.prove.charged import exchanged
from refdp.prove.kinds import together
from refdp.prove.loops import Carried, Loops, Number, Numbers, alike, settled
from refdp.prove.open import Open, as_float, closed, opened
from refdp.prove.reach import Exchanged
from refdp.prove.symbols import (
    OF_SUMS,
    Fixed,
    Known,
    Private,
    Symbol,
    checked,
    everything,
    is_released,
    kept,
    knowns,
    privates,
    public,
    released,
    unchanged,
    varies,
)
from refdp.prove.tables import Axis, Table, plainly_shaped, sides_of
from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.texts import is_text, is_text_module
from refdp.prove.unknown import Unknown


class _Numpy:
    """numpy, but for what makes arrays of symbols: those stay symbols."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def asarray(value: Any, *given: Any, **named: Any) -> Any:
        """An array, or a symbol as it is."""
        return array(np.asarray, value, *given, **named)

    @staticmethod
    def arange(*given: Any, **named: Any) -> Any:
        """An array, or a symbol as it is."""
        made = np.arange(*public(given), **public(named))
        return Known(made, True) if any(isinstance(one, Known) for one in (*given, *named.values())) else made

    @staticmethod
    def array(value: Any, *given: Any, **named: Any) -> Any:
        """An array, or a symbol as it is."""
        return array(np.array, value, *given, **named)


class _Numbers(Exchanged):
    """numpy as a text has it: whatever its functions give is made of numbers.

    An array of texts takes the text of any object that is put in it, with its address, and one of times reads "now".
    Entries of one of objects can be what something else has, and change where one is changed in place.
    """

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.__wrapped__, name)
        return found if isinstance(found, type) or not callable(found) else _Numbers(found)

    def __call__(self, *given: Any, **named: Any) -> Any:
        found = super().__call__(*given, **named)
        if any(_is_no_number(one) for one in _inside(found)):
            raise Unmodelled("an array of texts, times or several kinds")
        return found


def _is_no_number(made: Any) -> bool:
    found = made.example if isinstance(made, Known) else made
    return isinstance(found, np.ndarray | np.generic) and found.dtype.kind not in "biufc"


def array(make: Any, value: Any, *given: Any, **named: Any) -> Any:
    """An array, or a symbol of the same numbers, which is another object as numpy's array can be.

    Errors: Unmodelled for private values as another kind of numbers.
    """
    kinds = [*given, *(one for key, one in named.items() if key != "copy")]
    another = not all(one in symbols.WIDE for one in kinds)
    if isinstance(value, symbols.Each) and len(kinds) == 1:
        return value.astype(kinds[0])
    if another and isinstance(value, Open):
        raise Unmodelled(f"{value.what}, as another kind of numbers")
    if another and isinstance(value, Symbol | list | tuple) and any(True for _ in privates(value)):
        raise Unmodelled("private values as an array of another kind of numbers")
    if another and isinstance(value, Known):
        return Known(make(value.example, *given, **named), value._varying, listed=value.listed)
    if isinstance(value, Table):
        return _in_kind(copy(value), kinds)
    if isinstance(value, Symbol):
        return copy(value)
    if isinstance(value, list | tuple) and any(isinstance(one, Symbol) for one in value):
        if all(isinstance(one, Table) for one in value):
            return _in_kind(stacked(list(value)), kinds)
        if not any(isinstance(one, Private) for one in value):
            return Known(make(public(value), *given, **named), varies(value), listed=True)
    return make(value, *given, **named)


def _in_kind(table: Table, kinds: list[Any]) -> Table:
    """A new table as the kind of numbers that is said, which can be float64 alone. Errors: Unmodelled for units."""
    if kinds and table.form.of == "units":
        raise Unmodelled("sums in units of the grid as float64, in which they can have too few digits")
    table.form = table.form._replace(of="float") if kinds else table.form
    return table


def stacked(tables: list[Table]) -> Table:
    """Tables of the same axes as the entries of a new first axis. Errors: Unmodelled for parts of different records."""
    if len({table.axes for table in tables}) > 1:
        raise Unmodelled("private sums of different parts of the records, in one array")
    for table in tables:
        plainly_shaped(table)
    each = Axis("each", len(tables))
    form = together([table.form for table in tables])
    return Table((each, *tables[0].axes), lambda index, world: tables[index[0]].cell(index[1:], world), form=form)


def _plain_builtin(function: Any) -> Any:
    """A function of numbers that keeps what is released as such."""

    def kept(*given: Any, **named: Any) -> Any:
        if any(isinstance(one, Number) for one in given):
            return kept(*map(settled, given), **named)
        if any(isinstance(one, Open) for one in given) and function in OF_OPEN and not named:
            return OF_OPEN[function](*given)
        if any(isinstance(one, Known) for one in given):
            with unchanged((given, named)):
                found = function(*public(given), **public(named))
            if not isinstance(found, int | float | np.generic):
                raise Unmodelled(f"{function.__name__} of released values that are no numbers")
            flag = function in (max, min)  # of which one can be a truth value, another index than a number
            return Known(found, flag)
        return function(*given, **named)

    return kept


def asked_kind(value: Any, kinds: Any) -> bool:
    """`isinstance`. Errors: Leak, Unmodelled for what stands for other values, whose kind is the reading's own."""
    if isinstance(value, Private):
        raise Leak(f"the kind of {value.what}")
    if isinstance(value, Symbol | Numbers):
        raise Unmodelled("the kind of a released value, which could follow from it")
    return isinstance(value, kinds)


OF_OPEN: dict[Any, Any] = {float: as_float, max: np.maximum, min: np.minimum}
"""Functions of open parameters: float64's number, and the larger or smaller of two."""
PUBLIC = ("refdp.data.feasible", "refdp.data.sketch", "refdp.data.candidates")
"""Modules whose functions compute with public values."""


def released_only(function: Any) -> Any:
    """A function of released values alone is run on an example of them: whatever it does is known to everybody.

    Errors: Unmodelled for one that could give None for some of them.
    """

    def wrapped(*given: Any, **named: Any) -> Any:
        values = (*given, *named.values())
        if any(isinstance(one, Unknown | Curator) for one in values) or any(True for _ in privates(values)):
            return function(*given, **named)
        if any(isinstance(one, Number | Numbers) for one in _inside(values)):
            return alike(wrapped, given, named)
        if not any(isinstance(one, Known) for one in _inside(values)):
            return function(*given, **named)
        checked(function)
        if is_text(function.__code__.co_filename) and any(one is None for one in _inside(values)):
            raise Unmodelled(f"{function.__name__} of released values and of None, which it could give")
        if any(True for _ in opened(values)):
            return _with_open(function, given, named)
        with unchanged((given, named)):
            found = function(*public(given), **public(named))
        return released(found, function, given, named)

    wrapped.__wrapped__ = function  # type: ignore[attr-defined]
    return wrapped


def _with_open(function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """A function of released values and open parameters: numbers, which are as public and as unknown as its arguments.

    One of arrays and of a parameter itself, or that gives no numbers, is run on its arguments as they are.
    """
    values = (*given, *named.values())
    arrays = any(isinstance(one, Known) and np.ndim(one.example) for one in _inside(values))
    if arrays and any(isinstance(one, Open) for one in values):
        return function(*given, **named)
    found = function(*public(closed(given)), **public({key: closed(one) for key, one in named.items()}))
    if not (isinstance(found, float | np.floating) or (type(found) is np.ndarray and found.dtype.kind in "fiub")):
        return function(*given, **named)
    return Known(found, True)


def _inside(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _inside(one)


def _known(function: Any) -> Any:
    """A function whose result is public: the same in every run, unless something released is in it."""

    def fixed(*given: Any) -> Any:
        found = function(*given)
        if isinstance(found, Symbol):
            return found
        if any(isinstance(one, Symbol) for one in everything(found, kept)):
            raise Unmodelled("a released value within candidates that are taken for the same in every run")
        return Fixed(found)

    return fixed


class _Released:
    """A module whose functions are run on examples of released values."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        return Exchanged(released_only(found)) if isinstance(found, FunctionType) else found


@contextmanager
def reading(module: Any, loops: Loops, host: Unknown) -> Iterator[None]:
    """The names of a paper's text, and of the data modules that it uses, as the prove reading understands them.

    Errors: within, Unmodelled as of `encoders`, and where bins are cut apart by other features than they are of.
    """
    undo: list[tuple[Any, str, Any, bool]] = []

    def put(owner: Any, name: str, value: Any) -> None:
        undo.append((owner, name, vars(owner).get(name), name in vars(owner)))
        of_text = isinstance(owner, ModuleType) and isinstance(value, FunctionType)
        setattr(owner, name, Exchanged(value) if of_text else value)

    plainly = {name: getattr(Candidates, name) for name in OF_SUMS}

    def apart(self: Any, table: Table, features: Any) -> Any:
        own = encoders(self, table)
        if any(map(is_released, knowns(features))) or tuple(public(features)) != table.axes[-1].of.features:
            raise Unmodelled("sums in bins, cut apart by other features than those that the bins are of")
        return plainly["apart"](own, table, features)

    def chosen_sums(self: Any, table: Table, chosen: Any, what: str, sides: str) -> Table:
        picked = encoders(self, table).feature[public(chosen)]
        if np.ndim(picked) != 1:  # nor has numpy's, of whatever was released
            raise Unmodelled("candidates that are chosen in several axes, or in none")
        return sides_of(table, frozenset(sides), len(picked), (what, host.name_of_choice(chosen)), varies(chosen))

    def right_sums(self: Any, table: Table, chosen: Any = slice(None)) -> Table:
        check_sides(public(self), plainly["right_sums"])
        return chosen_sums(self, table, chosen, "sides", "r")

    def missing_sums(self: Any, table: Table, chosen: Any = slice(None)) -> Table:
        return chosen_sums(self, table, chosen, "missing", "m")

    def sides(self: Any, table: Table, chosen: Any = slice(None)) -> Any:
        own = SimpleNamespace(bins=encoders(self, table).bins, right_sums=lambda *of: right_sums(self, *of))
        return plainly["sides"](own, table, chosen)

    texts = [sys.modules[name] for name in list(sys.modules) if is_text_module(name)]
    data = [importlib.import_module(f"refdp.data.{name}") for name in ("records", "losses", "population", "candidates")]
    try:
        for method in (right_sums, missing_sums, sides, apart):
            put(Candidates, method.__name__, of_sums(method, plainly[method.__name__]))
        for text in {id(one): one for one in (*texts, *data)}.values():
            if "np" in vars(text):
                put(text, "np", _Numbers(_Numpy()) if is_text(str(text.__file__)) else _Numpy())
        for room, name, either in exchanged(host.opens, texts) if host.opens else ():
            put(room, name, either)
        for text in {id(one): one for one in (*texts, module)}.values():
            for name in ("float", "int", "max", "min"):
                put(text, name, _plain_builtin(getattr(builtins, name)))
            put(text, "isinstance", asked_kind)
        for name, looped in _loops(loops, host).items():
            put(module, name, looped)
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and value.__module__ in (module.__name__, *PUBLIC):
                put(module, name, released_only(value))
        for name in ("median_utilities", "halved"):
            if name in vars(module) and _is_refdps(vars(module)[name], sketch):
                put(module, name, getattr(medians, name))
        for name in ("public_grid", "split_candidates"):  # public, and picked from by released positions
            if hasattr(module.Params, name):
                put(module.Params, name, _known(getattr(module.Params, name)))
        if "Memory" in vars(module):
            put(module, "Memory", _another_host)
        if "domain" in vars(module):
            domain = module.domain
            put(module, "domain", lambda schema: Known(domain(schema)))
        if "numbers" in vars(module):
            put(module, "numbers", _Released(module.numbers))
        for owner in (feasible.Feasible, feasible.Options):
            for name, value in list(vars(owner).items()):
                if isinstance(value, FunctionType) and not name.startswith("__"):
                    put(owner, name, released_only(value))
                elif isinstance(value, classmethod):
                    put(owner, name, classmethod(released_only(value.__func__)))
        yield
    finally:
        for owner, name, value, existed in reversed(undo):
            if existed:
                setattr(owner, name, value)
            else:
                delattr(owner, name)


def _another_host(*_: Any, **__: Any) -> NoReturn:
    """A population of the text's own records follows what it is told: a state. Errors: Unmodelled."""
    raise Unmodelled("a population that the text makes itself")


def _is_refdps(function: Any, module: Any) -> bool:
    """Whether it is a module's function of that name, and no text's own."""
    own = inspect.unwrap(function)
    return own is vars(module).get(own.__name__)


def _loops(loops: Loops, host: Unknown) -> dict[str, Any]:
    """What a `for` goes over, and what lists of its rounds are long. Two frames up is who calls what is exchanged."""

    def looped_range(*given: Any) -> Any:
        return loops.over(range(*map(settled, given)), sys._getframe(2), host)

    def looped_enumerate(value: Any, start: int = 0) -> Any:
        if any(value is one for one in loops.ended):
            raise Carried("numbers of the entries of a list that rounds append to")
        if type(value) not in (list, tuple) or start:
            return enumerate(value, start)
        return loops.over(list(enumerate(value)), sys._getframe(2), host)

    return {"range": looped_range, "enumerate": looped_enumerate, "len": Exchanged(loops.length)}


_checked: set[int] = set()


def of_sums(method: Any, plainly: Any) -> Any:
    """A method of candidates: that of private sums in their bins, and of anything else refdp's own.

    Errors: Unmodelled for other private values of released candidates, of which the example's numbers would decide.
    """

    def either(self: Any, table: Any, *given: Any, **named: Any) -> Any:
        if isinstance(table, Table):
            return method(self, table, *given, **named)
        if isinstance(self, Known):
            raise Unmodelled(f"{method.__name__} of released candidates, of private values that are no sums in bins")
        return plainly(self, table, *given, **named)

    return either


def encoders(candidates: Any, table: Table) -> Candidates:
    """An example of candidates that are those which records were encoded by, and which the sums in bins are about.

    Where either was released, no others are the same in every run. Errors: Unmodelled for others.
    """
    axis = table.axes[-1]
    if axis.kind != "bins":
        raise Unmodelled("candidates, asked of private sums in anything but bins side by side")
    own, told = public(candidates), axis.of.told
    either = is_released(candidates) or is_released(told)
    if not (candidates is told if either else _alike_candidates(own, axis.of.candidates)):
        raise Unmodelled("sums in bins, by other candidates than those that records were encoded by")
    return cast(Candidates, own)


def _alike_candidates(one: Candidates, other: Any) -> bool:
    return one is other or (
        type(other) is type(one)
        and len(one.thresholds) == len(other.thresholds)
        and all(map(np.array_equal, one.thresholds, other.thresholds))
        and np.array_equal(one.categorical, other.categorical)
    )


def check_sides(candidates: Candidates, right: Any) -> None:
    """Sums to the right of candidates are those over some bins of one feature, asked of one bin after the other.

    Errors: Unmodelled otherwise.
    """
    if id(candidates) in _checked:
        return
    found = right(candidates, np.eye(int(candidates.offsets[-1])))
    home = np.repeat(np.arange(len(candidates.bins)), candidates.bins)
    inside = home[:, None] == candidates.feature[None, :]
    if not (((found == 0) | (found == 1)).all() and not found[~inside].any()):
        raise Unmodelled("sums to the right of a candidate that are no sums over some bins of its feature")
    missing = found[candidates.offsets[candidates.feature], np.arange(found.shape[1])]
    if missing.any():
        raise Unmodelled("missing values to the right of a candidate")
    _checked.add(id(candidates))
