"""Loops of a training text, by induction over their rounds.

A `for` over `range` or `enumerate` in whose frame a population is at hand is cut at its head. Round 1 is read from the
state before the loop. Every later round is read from what rounds leave: scores are any function of a record, released
values are any values, constants are what they were, and no private sum of an earlier round is used (`alive`). That each
round leaves the same again is looked at after it (`state`). A round's number stands for all rounds at once; where the
text decides by it, the rounds that decide alike are read together and the others after them. Lists that rounds append
to are longer than what is read of them: their lengths are numbers of this kind too. The last round is read last, once
more if it was read with others: what comes after the loop finds what it leaves, and lists as long as in training.

What the induction needs of the text is seen in its syntax tree (`refdp.prove.forms`) and in the frame at the head; a
loop of which it is not seen is unrolled.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from refdp.privacy.curator import Curator
from refdp.prove.forms import Form, form_of, is_for, is_name
from refdp.prove.open import Open
from refdp.prove.reach import Host, inside
from refdp.prove.symbols import Fixed, Known, Private

ROUNDED_ALIKE = {"add", "subtract", "multiply", "divide", "negative", "positive", "absolute", "sqrt"}
"""Functions whose results IEEE 754 fixes, so that arrays of numbers have those of numbers."""
FEW = 2
"""Loops of so many rounds are read as they are."""


class Carried(Exception):
    """A round would use what the induction forgets, so that loops have to be unrolled."""


@dataclass(frozen=True)
class Cut:
    """A loop by induction. rounds: how many it has at most; read: how many of them; tests: whether its text decides by
    the number of a round."""

    rounds: int
    read: int
    tests: bool


@dataclass
class Loops:
    """The loops of one reading. allowed: whether any is cut; refused: lines of those that are not; whole: of those that
    were not, cut: of those that were; stuck: of the innermost in which something could not be followed."""

    allowed: bool = True
    refused: frozenset[str] = frozenset()
    whole: set[str] = field(default_factory=set)
    cut: dict[str, Cut] = field(default_factory=dict)
    active: list[Loop] = field(default_factory=list)
    ended: list[list[Any]] = field(default_factory=list)
    stuck: str = ""

    def now(self) -> tuple[tuple[Loop, int], ...]:
        """The loops that are open, with the round that is read."""
        return tuple((loop, loop.reading) for loop in self.active)

    def alive(self, born: tuple[tuple[Loop, int], ...]) -> None:
        """A private sum is used in the round in which it was asked for. Errors: Carried."""
        now = self.now()
        if born != now[: len(born)]:
            raise Carried("a private sum of another round")

    def over(self, items: Sequence[Any], frame: Any, host: Any) -> Any:
        """What a `for` goes over, or the same cut."""
        if not any(value is host for value in frame.f_locals.values()) or not is_for(frame.f_code, frame.f_lasti):
            return items
        line = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        able = self.allowed and line not in self.refused and len(items) > FEW
        form = form_of(frame.f_code.co_filename, frame.f_lineno) if able else None
        if form is None:
            self.whole.add(line)
            return items
        return iter(Loop(self, line, items, form, host))

    def length(self, value: Any) -> Any:
        """How long something is; a list that rounds append to, as a number of the round.

        Errors: Carried for a list that two loops append to.
        """
        if type(value) is not list or not (self.active or self.ended):
            return len(value)
        growing = [loop for loop in self.active if any(value is one for one in loop.grown.values())]
        if any(value is one for one in self.ended):
            if growing:
                raise Carried("a list that two loops append to")
            return Length(len(value))
        if len(growing) > 1:
            raise Carried("a list that two loops append to")
        return growing[0].length(value) if growing and growing[0].reading else len(value)


class Length(Known):
    """How long a list is that rounds of a loop have appended to: as in training, but no control flow asks for it."""

    def __mul__(self, other: Any) -> Any:
        """Of a tuple or list of numbers: so many times its entries."""
        if type(other) in (list, tuple) and all(type(one) in (int, float) for one in other):
            return Known(other * self.example, True)
        return super().__mul__(other)

    __rmul__ = __mul__


class Number(Known):
    """A value that follows from the number of a round: one for each, of which `loop.rounds` are read now."""

    def __init__(self, loop: Loop, each: Any) -> None:
        self.loop, self.each = loop, np.asarray(each)

    @property
    def example(self) -> Any:
        """In the first of the rounds that are read."""
        return self.each[self.loop.rounds[0]].item()

    def settled(self) -> Any:
        """Its value; only the rounds that have it are read on."""
        return self.loop.decided(self.each)

    def __bool__(self) -> bool:
        return bool(self.settled())

    def __int__(self) -> int:
        return int(self.settled())

    def __index__(self) -> int:
        if self.each.dtype.kind not in "iu":  # a truth value is another index than 0 or 1
            raise Carried("a truth value about rounds as an index")
        return int(self.settled())

    def __float__(self) -> float:
        return float(self.settled())

    def __repr__(self) -> str:
        return repr(self.settled())

    __str__ = __repr__

    def __format__(self, how: str) -> str:
        if is_name(sys._getframe(1)):  # which nothing but the curator gets
            return "#"
        return format(self.settled(), how)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(isinstance(one, Number) and one.loop is not self.loop for one in inputs):
            raise Carried("numbers of rounds of two loops")
        if method != "__call__" or options or not all(isinstance(one, int | float | Number) for one in inputs):
            return super().__array_ufunc__(ufunc, method, *inputs, **options)
        each = [one.each if isinstance(one, Number) else one for one in inputs]
        if ufunc.__name__ == "divide" and any(np.max(np.abs(np.asarray(one, dtype=object))) > 2**53 for one in each):
            raise Carried("a quotient of numbers of rounds beyond 2^53, which Python rounds otherwise than numpy")
        found = ufunc(*each)
        kind = getattr(getattr(found, "dtype", None), "kind", "O")
        if kind == "f" and ufunc.__name__ not in ROUNDED_ALIKE:
            raise Carried(f"numpy's {ufunc.__name__} of numbers of rounds, which Python may round otherwise")
        if getattr(found, "dtype", None) is None or found.dtype.kind != "f":  # Python's numbers have no largest
            exact = ufunc(*(np.asarray(one, dtype=object) for one in each))
            if not np.array_equal(exact, found):
                raise Carried("numbers of rounds beyond numpy's")
        return Number(self.loop, found)


class Numbers:
    """A range of some size whose start follows from the number of a round."""

    def __init__(self, loop: Loop, starts: Any, size: int) -> None:
        self._loop, self._starts, self._size = loop, np.asarray(starts), size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: int) -> Number:
        if type(place) is not int:
            raise Carried("a part of a range that follows from the number of a round")
        return Number(self._loop, self._starts + range(self._size)[place])

    def __eq__(self, _: object) -> bool:
        raise Carried("whether a range that follows from the number of a round is another one")

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, _: object) -> bool:
        raise Carried("whether a number is in a range that follows from the number of a round")

    def __iter__(self) -> Iterator[Number]:
        return (self[place] for place in range(self._size))


class Loop:
    """One cut loop. reading: how many rounds were read before this one; rounds: those that it stands for, from 0."""

    def __init__(self, loops: Loops, line: str, items: Sequence[Any], form: Form, host: Any) -> None:
        self._loops, self.line, self._items, self._form, self._host = loops, line, items, form, host
        self.reading, self._again = 0, 0
        self.rounds: list[int] = [0]
        self.tests = False
        self.grown: dict[str, list[Any]] = {}
        self._first: dict[str, int] = {}
        self._growth: dict[str, int] = {}
        self._begun: dict[str, int] = {}

    def decided(self, each: Any) -> Any:
        """A value in the first of the rounds that are read; those with another value are read later."""
        self.tests |= len(self.rounds) > 1
        value = each[self.rounds[0]]
        told = abstract(value.item())
        self.rounds = [one for one in self.rounds if abstract(each[one].item()) == told]
        return value.item()

    def length(self, value: list[Any]) -> Number:
        """The length of a list that every round appends as many entries to."""
        name = next(name for name, one in self.grown.items() if one is value)
        since = len(value) - self._begun[name]
        return Number(self, self._first[name] + self._growth[name] * np.arange(len(self._items)) + since)

    def __iter__(self) -> Iterator[Any]:
        frame, loops, last = sys._getframe(1), self._loops, len(self._items) - 1
        self._lists(frame)
        self._first = {name: len(one) for name, one in self.grown.items()}
        loops.active.append(self)
        try:
            yield self._items[0]
            self._lists(frame)
            self._growth = {name: len(one) - self._first[name] for name, one in self.grown.items()}
            chunks = [self._appended(self._first)]
            left_by, kinds, left = self._state(frame), _kinds(self._items), list(range(1, last + 1))
            while True:  # the first that is left, and those like it; the last one in the end, perhaps once more
                self._again = int(not left)
                self.rounds = [one for one in left if kinds[one] == kinds[left[0]]] or [last]
                self.reading += 1
                self._begun = {name: len(one) for name, one in self.grown.items()}
                yield self._item(self.rounds)
                done = set(self.rounds)
                left = [one for one in left if one not in done]
                alone = not left and done == {last}
                if not alone:
                    self._lists(frame)
                    if any(len(one) - self._begun[name] != self._growth[name] for name, one in self.grown.items()):
                        raise Carried("rounds append different numbers of entries to a list")
                    if self._state(frame) != left_by:
                        raise Carried("a round leaves another state than the one before")
                chunks.append(self._appended(self._begun))
                if not left and last in done:
                    break
            self.rounds = [last]
            self._whole(chunks, alone)
        except Carried:
            loops.stuck = loops.stuck or self.line
            raise
        finally:
            if self in loops.active:
                del loops.active[loops.active.index(self) :]
            loops.ended += self.grown.values()
            old = loops.cut.get(self.line, Cut(0, 0, False))
            loops.cut[self.line] = Cut(
                max(old.rounds, len(self._items)),
                max(old.read, self.reading + 1 - self._again),
                old.tests or self.tests,
            )

    def _appended(self, since: dict[str, int]) -> Any:
        """What a round appended, as far as a text can tell."""
        return {name: abstract(one[since[name] :]) for name, one in self.grown.items()}

    def _whole(self, chunks: list[Any], alone: bool) -> None:
        """Lists have as many entries after the loop as they have in training. chunks: what each read round appended.

        Where rounds were not read, those between the first and the last stand in another order, and which released
        values of theirs are one and the same is not known. alone: whether the last one read is of the last round only.

        Errors: Carried where rounds that were not read could have appended something else.
        """
        missing = len(self._items) - len(chunks)
        fleeting = any(abstract(one) != abstract(one) for one in self.grown.values())  # numbers of rounds
        if fleeting or (missing and any(one != chunks[0] for one in (chunks[:-1] if alone else chunks))):
            raise Carried("rounds append different entries to a list")
        for name, one in self.grown.items() if missing else ():
            begin = self._first[name] + self._growth[name]
            own, between = one[self._first[name] : begin], len(self._items) - 2
            one[begin : self._begun[name]] = [_anew(each) for _ in range(between) for each in own]

    def _lists(self, frame: Any) -> None:
        """The lists that rounds append to are the same ones at every head."""
        found = {name: frame.f_locals.get(name) for name in self._form.grown}
        if any(type(one) is not list or one is not self.grown.get(name, one) for name, one in found.items()):
            raise Carried("what rounds add to is no list")
        self.grown = found

    def _item(self, rounds: list[int]) -> Any:
        """What the loop's variables are in these rounds."""
        item = self._items[rounds[0]]
        if len(rounds) == 1:
            return item
        every = np.arange(len(self._items))
        if isinstance(item, int):
            return Number(self, np.asarray(self._items))
        kind = item[1]
        if isinstance(kind, range):
            return Number(self, every + self._items[0][0]), Numbers(self, [x.start for _, x in self._items], len(kind))
        return Number(self, every + self._items[0][0]), kind

    def _state(self, frame: Any) -> Any:
        """What a round leaves, but for what is forgotten."""
        kept = {name: frame.f_locals[name] for name in sorted(self._form.kept & frame.f_locals.keys())}
        kept |= {f"{name}, its end": self.grown[name][-self._form.deep :] for name in sorted(self.grown)}
        told = {name: abstract(one) for name, one in kept.items()}
        return self._host.left(), told, _shared([*kept.values(), self._host.held()]), self._changing()

    def _changing(self) -> Any:
        """What is in the loop's items that rounds could change."""
        if not all(isinstance(one, tuple) for one in self._items):
            return None
        kinds = [abstract(one[1]) for one in self._items]
        return [kind if kind == abstract(one[1]) else None for kind, one in zip(kinds, self._items, strict=True)]


def _anew(value: Any, depth: int = 0) -> Any:
    """The same with other released values in place of its own, each another one: those of another round can be others.

    Errors: Carried for what could hold released values elsewhere, or is too deep to be seen.
    """
    found: Any
    if isinstance(value, Fixed | Enum | np.generic | bool | int | float | str | bytes | range | type(None)):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value
    if depth > 12:
        raise Carried("rounds append what is too deep to be seen")
    if type(value) is list or type(value) is tuple:
        return type(value)(_anew(one, depth + 1) for one in value)
    if type(value) is dict:
        return {key: _anew(one, depth + 1) for key, one in value.items()}
    if isinstance(value, Known):
        found = copy(value)
        found.kept = tuple(_anew(one, depth + 1) for one in value.kept)
        return found
    if is_dataclass(value) and not isinstance(value, type):
        found = copy(value)
        for one in fields(value):
            object.__setattr__(found, one.name, _anew(getattr(value, one.name), depth + 1))
        return found
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_anew(one, depth + 1) for one in value))
    raise Carried("rounds append what could hold released values that are not seen")


def _kinds(items: Sequence[Any]) -> list[int]:
    """Of every round a number, the same for those whose items are alike but for their numbers.

    What is released is another in every item, whatever it looks like."""
    kinds: dict[Any, int] = {}
    found = []
    for item in items:
        kind = None
        if isinstance(item, tuple):
            same = isinstance(item[1], range) and item[1].step == 1
            kind = ("range", len(item[1])) if same else object() if _has_released(item[1]) else abstract(item[1])
        found.append(kinds.setdefault(kind, len(kinds)))
    return found


def _has_released(value: Any, depth: int = 0) -> bool:
    """Whether there is anything released in a value, or it is too deep to be seen."""
    if isinstance(value, Known) or depth > 12:
        return not isinstance(value, Fixed)
    if isinstance(value, Private | Open | Host | Curator | Enum | type | ModuleType):
        return False
    inner = [getattr(value, each.name) for each in fields(value)] if is_dataclass(value) else inside(value)
    return any(_has_released(each, depth + 1) for each in inner)


def _shared(value: Any) -> list[int]:
    """Which of the containers in a value, that a round can change, are one and the same: in order, the first of each.

    Arrays that share memory count as the same. So do released values, which the reading tells from each other by which
    object they are: choices of candidates, what a contribution has learnt, what records were encoded by.

    Errors: Carried for what is too deep to be seen.
    """
    found, seen = list[int](), dict[int, int]()

    def through(one: Any, depth: int) -> None:
        if isinstance(one, np.ndarray):
            while isinstance(one.base, np.ndarray):
                one = one.base
        # a function may be told from another, and what is released
        changes = isinstance(one, list | dict | set | np.ndarray | FunctionType | Known)
        if changes:
            found.append(seen.setdefault(id(one), len(seen)))
        if isinstance(one, Private | Open | Host | Curator | Enum | type | ModuleType):
            return
        if changes and found[-1] != len(seen) - 1 and not isinstance(one, Known):
            return
        inner: Any = one.kept if isinstance(one, Known) else inside(one)
        if is_dataclass(one) and not isinstance(one, Known):
            inner = [getattr(one, each.name) for each in fields(one)]
        if inner and depth > 12:
            raise Carried("a round leaves what is too deep to be seen")
        for each in inner:
            through(each, depth + 1)

    through(value, 0)
    return found


def abstract(value: Any) -> Any:
    """A value with released ones forgotten: equal for two rounds where the text cannot tell them apart by it."""
    if isinstance(value, Number | Private) or hasattr(value, "__next__"):
        return object()  # differs from round to round
    if isinstance(value, Fixed):  # follows from parameters: its attributes may be asked for
        return type(value), abstract(value.example)
    if isinstance(value, Known):
        varying = len(value.example) if value.listed else None  # a text may ask how many rows there are
        shape = varying if value._varying else _shape(value.example)
        return type(value), shape, value.axes, value.least, value.listed, value.finite
    if isinstance(value, Open):
        return type(value), value.term.sexpr(), value.error
    if isinstance(value, Enum):
        return id(value)
    if isinstance(value, list | tuple | dict | bool | int | float | str | bytes) and getattr(value, "__dict__", None):
        return object()  # it has more than its entries
    if isinstance(value, list | tuple):
        return type(value), tuple(abstract(one) for one in value)
    if isinstance(value, dict):
        return type(value), tuple((abstract(key), abstract(one)) for key, one in value.items())
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    if isinstance(value, float):
        return type(value), value, math.copysign(1.0, value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.shape, tuple(abstract(one) for one in value.ravel())
    if isinstance(value, np.ndarray):
        return value.shape, value.strides, value.dtype, value.tobytes()
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), tuple(abstract(getattr(value, one.name)) for one in fields(value))
    if isinstance(value, range):  # equal ranges can have another start or step
        return type(value), value.start, value.stop, value.step
    if value is None or isinstance(value, bool | int | str | bytes):
        return type(value), value
    if isinstance(value, Host | Curator | Enum | type | ModuleType):
        return id(value)
    if isinstance(value, FunctionType) and str(value.__module__).startswith("refdp.prove"):
        return id(value)  # a function of the text's module
    if isinstance(value, FunctionType | MethodType):
        own = value.__code__ if isinstance(value, FunctionType) else type(value)
        return own, tuple(abstract(one) for one in inside(value) if one is not value)
    return object()  # what may have a state of its own


def _shape(value: Any) -> Any:
    """What a text can see of a released value: how long it is, of whatever kind."""
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype)
    if isinstance(value, list | tuple):
        return type(value), tuple(_shape(one) for one in value)
    if isinstance(value, dict):
        return tuple((key, _shape(one)) for key, one in value.items())
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), tuple(_shape(getattr(value, one.name)) for one in fields(value))
    number = isinstance(value, bool | int | float | complex | Fraction | np.generic)
    return type(value) if number else abstract(value)


def alike(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """A function of numbers of rounds of one loop; only the rounds for which it is the same are read on."""
    loops = {one.loop for one in (*given, *named.values()) if isinstance(one, Number)}
    if len(loops) != 1 or any(isinstance(one, Numbers) for one in (*given, *named.values())):
        return function(*map(settled, given), **{key: settled(one) for key, one in named.items()})
    loop = loops.pop()
    found = {}
    for place in loop.rounds:
        at = [one.each[place].item() if isinstance(one, Number) else one for one in given]
        also = {key: one.each[place].item() if isinstance(one, Number) else one for key, one in named.items()}
        found[place] = function(*at, **also)
    kinds = [abstract(one) for one in found.values()]
    first = loop.rounds[0]
    loop.decided({place: np.int64(kinds.index(kind)) for place, kind in zip(found, kinds, strict=True)})
    return found[first]


def settled(value: Any) -> Any:
    """A value with numbers of rounds settled."""
    if isinstance(value, Number):
        return value.settled()
    if type(value) in (list, tuple):
        return type(value)(settled(one) for one in value)
    return list(map(settled, value)) if isinstance(value, Numbers) else value
