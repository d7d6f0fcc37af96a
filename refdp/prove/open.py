"""Parameters that stay open in a prove reading: any real number of a range, beside one example.

`Open` is public and the same on both neighbours: a term over the parameter's unknown, of which is known that it lies in
the range. The text computes with it and never sees it: whatever would give it away as a number (a conversion, a text, a
look-up, a length) ends the reading, and so does a comparison that the range does not decide. The example is what the
plan is read with; no question has it.

float64 computes the same as real numbers but for rounding. `error` says how a value was rounded: not at all ("exact"),
to a float that is not below ("up", by `rounded_up`), or somehow ("near").
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, Literal, NoReturn

import numpy as np
import z3

from refdp.prove import magnitudes
from refdp.prove.asking import name_of, number, real, unknowns
from refdp.prove.kinds import COMPARING, in_float64
from refdp.prove.peeking import from_text
from refdp.prove.symbols import Symbol, everything, kept
from refdp.prove.terms import ARITHMETIC, Unmodelled, operated
from refdp.prove.texts import is_refdps

Error = Literal["exact", "up", "near"]
KEEPING = {"negative", "absolute", "minimum", "maximum"}
"""Functions that round nothing."""
EXAMPLES: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "negative": operator.neg, "absolute": abs, "minimum": min, "maximum": max, "power": operator.pow,
    "square": lambda one: one * one,
}  # fmt: skip
"""numpy's functions as Python's, which are exact for Fractions and those of float64 for floats."""
NUMBERS = (int, float, Fraction, np.integer, np.floating)
FURTHER = 2.0**-44
"""Two sides of a comparison of rounded values are further apart than this, of the largest number in it, ..."""
TIMES = 4
"""... and than this many times what float64 rounds of both: numbers that are clipped are small, and as far off as
before."""

EDGE = 2.0**-30
"""Pieces of a range are as much longer, so that none of it lies between two."""


class Open(Symbol):
    """A real number that follows from open parameters alone. term: over their unknowns; opens: what is known of them.

    example: as the settings have it, a float, or a Fraction inside of `rounded_up`. grid: of a bound on a mechanism's
    grid, what it is made of (`refdp.prove.charged`).
    """

    what = "a parameter that is open"

    def __init__(self, term: Any, example: Any, opens: Opens, error: Error = "near", grid: Any = None) -> None:
        self.term, self.example, self.opens, self.error, self.grid = term, example, opens, error, grid

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):  # numpy looks for those in the frame of whoever calls it; a text is refused them
            return object.__getattribute__(self, name)
        if from_text(1):
            raise Unmodelled(f"{name} of a parameter that is open")
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unmodelled(f"{name} of {Open.what}")

    def _looked_at(self, *_: Any, **__: Any) -> NoReturn:
        raise Unmodelled(f"{self.opens.said} is looked at as a number")

    __float__ = __int__ = __index__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = _looked_at
    __hash__ = _looked_at
    __repr__ = __str__ = __format__ = __array__ = __len__ = __iter__ = __contains__ = __getitem__ = _looked_at
    __reduce_ex__ = __reduce__ = _looked_at

    def __bool__(self) -> bool:
        return self.opens.compared("not_equal", (self, 0))

    def __copy__(self) -> Open:
        return self

    def __deepcopy__(self, _: Any) -> Open:
        return self


class Opens:
    """The open parameters of one reading. ranges: of every parameter, least and most.

    refuted: asks the solvers whether conditions exclude each other. known: where what is known of unknowns is kept, by
    name. whole: takes in an unknown that is a whole number.
    """

    def __init__(
        self,
        ranges: Mapping[str, tuple[float, float]],
        refuted: Callable[[list[Any]], bool],
        known: dict[str, list[Any]],
        whole: Callable[[Any], None],
    ) -> None:
        self.ranges, self._refuted, self.known, self.whole = dict(ranges), refuted, known, whole
        self.own: set[str] = set()
        """The unknowns of parameters and of what follows from them, by name."""
        self.names: dict[str, str] = {}
        """Of the parameters' unknowns, what they are called."""
        self.sides: dict[str, tuple[float, float, float]] = {}
        """Least, most and the settings' own value."""
        self.said = " or ".join(self.ranges)
        self.pure = True
        """Whether the budget has a delta of 0."""

    def parameter(self, name: str, example: float) -> Open:
        """The parameter of that name. Errors: Unmodelled for an example beside its range."""
        low, high = self.ranges[name]
        if not low <= example <= high:
            raise Unmodelled(f"{name} = {example!r}, which is not in the range")
        made = self.fresh(example, lambda own: [own >= number(low), own <= number(high)], low, high)
        self.names[name_of(made.term)] = name
        self.sides[name_of(made.term)] = low, high, example
        return made

    def fresh(self, example: Any, facts: Callable[[Any], list[Any]], low: float, high: float, grid: Any = None) -> Open:
        """Another unknown number that follows from the parameters. facts: of it; low, high: how large it is at all."""
        term = real()
        self.own.add(name_of(term))
        self.known[name_of(term)] = facts(term)
        magnitudes.ranges[name_of(term)] = low, high
        return Open(term, example, self, "exact", grid)

    def facts(self, terms: list[Any]) -> list[Any]:
        """What is known of the unknowns in terms, and of those that this brings in."""
        found, done, waiting = list[Any](), set[str](), list(unknowns(terms))
        while waiting:
            name = waiting.pop()
            if name not in done:
                done.add(name)
                found += self.known.get(name, [])
                waiting += unknowns(self.known.get(name, []))
        return found

    def never(self, *conditions: Any) -> bool:
        """Whether it is refuted that the conditions hold together for any values of the parameters."""
        return self._refuted([*self.facts(list(conditions)), *conditions])

    def operated(self, name: str, arguments: Any) -> Any:
        """A function of open and plain numbers. Errors: Unmodelled for any other, or where a divisor can be 0."""
        if not all(isinstance(one, Open) or (isinstance(one, NUMBERS) and not isinstance(one, bool))
                   for one in arguments):  # fmt: skip
            raise Unmodelled(f"numpy's {name} of {self.said} and what is no number")
        if name in COMPARING:
            return self.compared(name, arguments)
        if name not in ARITHMETIC:
            raise Unmodelled(f"numpy's {name} of {self.said}")
        terms = [term_of(one) for one in arguments]
        if name == "divide" and not self.never(terms[1] == 0):
            raise Unmodelled(f"a quotient whose divisor, which follows from {self.said}, can be 0")
        found = operated(name, terms)
        if why := magnitudes.too_far([found]):
            raise Unmodelled(why)
        exact = name in KEEPING and all(not isinstance(one, Open) or one.error == "exact" for one in arguments)
        example = EXAMPLES[name](*map(example_of, arguments))
        if isinstance(example, Fraction) and name in ("minimum", "maximum") and not _all_fractions(arguments):
            example = float(example)  # elsewhere it is the other one, of another kind, which training computes on with
        return Open(found, example, self, "exact" if exact else "near")

    def compared(self, name: str, arguments: Any) -> bool:
        """A comparison, which must come out alike for all values of the parameters. Errors: Unmodelled otherwise."""
        infinite = [isinstance(one, float | np.floating) and not math.isfinite(one) for one in arguments]
        if any(infinite):
            if any(one != one for one in arguments if not isinstance(one, Open)):
                raise Unmodelled(f"a comparison of {self.said} with what is no number")
            sides = [one if away else 0.0 for one, away in zip(arguments, infinite, strict=True)]
            return bool(getattr(np, name)(*sides))
        a, b = map(term_of, arguments)
        rounded = any(isinstance(one, Open) and one.error != "exact" for one in arguments)
        if why := magnitudes.too_far([a, b]):
            raise Unmodelled(why)
        apart = number(_apart(a, b) if rounded else 0.0)
        ways = {  # what has to be refuted for the answer to be yes, and for it to be no
            "less": (a >= b - apart, a < b + apart), "less_equal": (a > b - apart, a <= b + apart),
            "greater": (a <= b + apart, a > b - apart), "greater_equal": (a < b + apart, a >= b - apart),
            "equal": (z3.BoolVal(True) if rounded else a != b, z3.And(a >= b - apart, a <= b + apart)),
            "not_equal": (z3.And(a >= b - apart, a <= b + apart), z3.BoolVal(True) if rounded else a != b),
        }  # fmt: skip
        for answer, wrong in zip((True, False), ways[name], strict=True):
            if self.never(wrong):
                return answer
        raise Unmodelled(f"{self.said} decides: its range does not say what a comparison gives")

    def within(self, piece: Mapping[str, tuple[float, float]]) -> Iterator[Any]:
        """That unknowns lie in a piece of their ranges. piece: binary orders of the least and most, by name."""
        for name, (low, high) in piece.items():
            own, least, most = z3.Real(name), number(2.0**low * (1 - EDGE)), number(2.0**high * (1 + EDGE))
            yield z3.Or(z3.And(least <= own, own <= most), z3.And(-most <= own, own <= -least))

    def at_most(self, one: Open, bound: float) -> bool:
        """Whether no value of the parameters takes a number further from 0 than a bound."""
        return self.never(z3.Or(one.term > number(bound), one.term < number(-bound)))

    def described(self, values: Mapping[str, Any]) -> dict[str, str]:
        """The parameters among the values of unknowns."""
        return {said: str(values[name]) for name, said in self.names.items() if name in values}


def _apart(a: Any, b: Any) -> float:
    """How far the sides of a comparison have to be apart for float64 to say the same of them."""
    off = sum(2.0 ** magnitudes.error_of(side) for side in (a, b))
    return float(FURTHER * magnitudes.spread([a, b])[1] + TIMES * off)


def is_open(value: Any) -> bool:
    """Whether a value is an open number."""
    return isinstance(value, Open)


def term_of(value: Any) -> Any:
    """The term of an open number or of a plain one. Errors: Unmodelled for one that float64 rounds beside it."""
    if isinstance(value, Open):
        return value.term
    return number(value if isinstance(value, Fraction) else in_float64(value))


def example_of(value: Any) -> Any:
    """The example of an open number, and a plain one as it is."""
    return value.example if isinstance(value, Open) else value


def _all_fractions(arguments: Any) -> bool:
    return all(isinstance(example_of(one), Fraction) for one in arguments)


def as_float(one: Open) -> Open:
    """`float` of an open number: the same, but of an exact one of `rounded_up`, which training rounds there."""
    return Open(one.term, float(one.example), one.opens) if isinstance(one.example, Fraction) else one


def opened(value: Any) -> Iterator[Open]:
    """Every open number in a value, however deep."""
    return (one for one in everything(value, lambda one: kept(one, _is_looked_into)) if isinstance(one, Open))


def _is_looked_into(value: Any) -> bool:
    return is_refdps(str(type(value).__module__))


def closed(value: Any) -> Any:
    """A charge, a release, parameters or whatever is made of them at the example."""
    if isinstance(value, Open):
        return value.example
    if type(value) in (tuple, list):
        return type(value)(closed(one) for one in value)
    if is_dataclass(value) and not isinstance(value, type) and any(True for _ in opened(value)):
        return type(value)(**{one.name: closed(getattr(value, one.name)) for one in fields(value) if one.init})
    return value
