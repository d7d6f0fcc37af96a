"""What one record contributes: the formulas of its statistics, and the numbers that they lie between.

A text's contribution is asked once for a score and a label that can be any; what it computes becomes terms of z3, with
unknowns for what is no polynomial. Of all scores at once (`RefreshAll`) there is a formula in each case of the label.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import z3

from refdp.data import numbers
from refdp.data.following import Following
from refdp.data.kernels import GRID
from refdp.data.losses import LARGEST
from refdp.data.population import COUNT, Statistics, named
from refdp.data.records import Interval, Schema
from refdp.prove.arithmetic import combined
from refdp.prove.asking import Reply, Solvers, evaluated, name_of, number, parts_of, real, unknowns
from refdp.prove.choices import decided, exact
from refdp.prove.facts import Facts
from refdp.prove.kinds import ANYWHERE, LABEL, Kind, followed, in_float64, kind_of
from refdp.prove.magnitudes import LARGEST as HIGHEST
from refdp.prove.magnitudes import describe, error_of, is_off, order_of, step_of, too_far
from refdp.prove.open import Open, Opens
from refdp.prove.reach import Host
from refdp.prove.symbols import Each, Known, public, varies
from refdp.prove.tables import Sum
from refdp.prove.terms import Unmodelled, operated

for _function in (numbers.exp, numbers.log, numbers.sqrt):
    _function.register(Each, lambda value, name=_function.name: combined(name, (value,)))
    _function.register(Known, lambda value, own=_function: Known(own(public(value)), varies(value)))

USUAL = tuple(Fraction(n, 4) for n in (-8, -4, -2, -1, 0, 1, 2, 4, 8))
"""Bounds of a statistic that are tried beside the numbers in its formula."""


COST, RECORDS = "cost", "records"
"""What the reading calls a record's payment, and the number of records where they have weights."""
OWN_NAMES = {COST, RECORDS}
"""No statistic of a text has one of these names: hosts would add up that one."""
NEAR = Fraction(1, 2**16)
"""How far float64 may be from the real value of what is rounded to a whole number, both below `REACH`."""
REACH = Fraction(2**36)
"""Beyond this what was rounded is only known to be as large as half of it, with its sign."""
LARGEST_EXPONENT = 700
"""Up to here float64's exponential is finite."""
SMALL_EXPONENT = 16
"""Up to here it is small beside 2^53, so that what is added to it keeps its digits."""


class Contributed(Host):
    """Its state: which statistics are named, of which score, and what is known of a record.

    weighed: whether records have weights in [0, 1], as `Records.weight` says.
    """

    def __init__(self, schema: Schema, solvers: Solvers, *, weighed: bool) -> None:
        self.solvers = solvers
        self._weight = real() if weighed else None
        self._schema = schema
        self._following = Following()
        self._memo: dict[Any, Any] = {}
        self._infinite: set[str] = set()
        self._whole: set[str] = set()
        self._sharp: set[int] = set()
        self._loose: set[int] = set()
        self._divided: set[str] = set()
        self._formulas: dict[int, Any] = {}
        self._kept: list[Any] = []
        self._contribution: Any = None
        self._label: Any = None
        self._score: Any = None
        self._outputs: tuple[int, ...] = ()
        self._named: tuple[str, ...] = ()
        self._now = 0
        self.record = Facts([self._weight >= 0, self._weight <= 1] if weighed else [])  # type: ignore[operator]
        """What is known of the unknowns of one record."""
        self.opens: Opens | None = None
        """The parameters that are open, of which `open_up` is told."""

    def _target(self) -> Each:
        """A record's entry of the target column: of classes the number of one."""
        y, target = real(), self._schema.target
        if not isinstance(target, Interval):
            self.record.append(z3.Or(*(y == place for place in range(len(target.values)))))
            describe(y, steps=math.log2(max(len(target.values) - 1, 1)))
            return Each(y, self)
        self.record += [number(target.low) <= y, y <= number(target.high)]
        describe(y, label=math.log2(max(-target.low, target.high, 1.0)))
        return Each(y, self, ANYWHERE if max(-target.low, target.high) > 2.0**20 else LABEL)

    def operated(self, name: str, arguments: Any) -> Each:
        """A function of a record's values. Errors: Unmodelled for released values beside its score."""
        if name == "power":
            raise Unmodelled("a power of a record's value, which need not have the digits of a product")
        terms: list[Any] = []
        for one in arguments:
            if not isinstance(one, Each | Open) and np.ndim(public(one)):
                raise Unmodelled("a value of each record that depends on several released values beside its score")
            if isinstance(one, Known):
                terms.append(self._divisor(name, arguments, one, terms))
                continue
            if isinstance(one, Each | Open):
                terms.append(one.term)
                continue
            one = in_float64(one)
            terms.append(z3.BoolVal(bool(one)) if isinstance(one, bool | np.bool_) else number(one))
        plain_ones = [None if isinstance(one, Each | Known | Open) else one for one in arguments]
        kinds = [one.kind if isinstance(one, Each) else Kind() if isinstance(one, Known)
                 else Kind("float", 2 * (one.error != "exact"), tiny=True) if isinstance(one, Open) else kind_of(one)
                 for one in arguments]  # fmt: skip
        self._beside_infinite(name, terms, kinds)
        kind = followed(name, kinds, plain_ones)
        if name in ("exp", "rint", "trunc"):
            found = self._described(name, terms[0], kinds[0].roundings, wide=kinds[0].wide)
            if name == "exp":
                return Each(found, self, Kind("float", 2, above=not self._refuted([terms[0] > SMALL_EXPONENT])))
            return Each(found, self, Kind(below=kinds[0].below, above=kinds[0].above, lost=kinds[0].wide))
        if name == "divide" and isinstance(arguments[1], Known) and is_off(terms[0]):
            return self._anything(kind, terms[0], arguments[1])
        if name == "divide" and kinds[0].wide and isinstance(arguments[1], Each):
            raise Unmodelled("a number of any size, divided by a record's value, which can be infinite in float64")
        if name == "divide" and not self._refuted([terms[1] == 0]):
            raise Unmodelled("a quotient of a record's values whose divisor can be 0")
        if name in ("multiply", "divide", "square"):
            _beside_any_size(terms, kinds)
        found = operated(name, terms)
        if why := too_far([found]):
            raise Unmodelled(why)
        if any(isinstance(one, Known) for one in arguments):  # which can be as small as the grid
            kind = kind._replace(below=True, above=True, lost=True)
        return Each(found, self, kind)

    def _divisor(self, name: str, arguments: Any, value: Known, before: list[Any]) -> Any:
        """A released number beside a record's values: one that hosts know to be finite, by which they are divided once.

        Errors: Unmodelled for any other, by which float64 could give no number, or lose digits.
        """
        if (name, arguments[0] is value, value.finite) != ("divide", False, True) or not (value.least or 0) >= GRID:
            raise Unmodelled("a released number beside a record's values, but for a finite divisor away from 0")
        if self._divided & set(unknowns(before)):
            raise Unmodelled("a quotient of a quotient by released numbers, which float64 may have none of")
        found = self._released(value)
        self._divided.add(name_of(found))
        return found

    def _anything(self, kind: Kind, term: Any, divisor: Known) -> Each:
        """What float64 rounds, divided by a released number, which can be small: of the quotient its size is known.

        Errors: Unmodelled for one that could overflow.
        """
        found, order = real(), order_of(term) - min(0.0, math.log2(divisor.least or GRID))
        if order > HIGHEST:
            raise Unmodelled("a quotient by a released number, of such a size that float64 could overflow")
        describe(found, anywhere=True, label=order)
        self._divided.add(name_of(found))
        return Each(found, self, kind._replace(below=True, above=True, lost=True))

    def _released(self, value: Known) -> Any:
        """Any public number, which may be another one wherever it is used, and not below what `np.maximum` made it."""
        self._kept.append(value)
        key = "released", id(value)
        if key not in self._memo:
            self._memo[key] = real()
            if value.least is not None:
                self.record.append(self._memo[key] >= number(value.least))
                if value.least > 0:
                    describe(self._memo[key], least=math.log2(value.least))
        return self._memo[key]

    def _described(self, name: str, x: Any, roundings: int = 0, *, wide: bool = False) -> Any:
        """An unknown for a function that is no polynomial, with what is known of it.

        roundings: of x, which may be another number in float64 than in the formula. In units of the grid it is taken
        for its real value: a step more or less is what is rounded anyway, and is not made large (`magnitudes.Nature`).
        wide: whether x is of any size, so that float64 can be further from it than `NEAR` beyond `REACH`.
        """
        steps = z3.is_div(x) and z3.is_rational_value(x.arg(1)) and exact(x.arg(1)) == Fraction(GRID)
        step = step_of(x)
        inexact, roundings, formula = bool(roundings) or step > -math.inf, 0 if steps else roundings, x
        if name != "exp" and not steps and step > -math.inf:
            raise Unmodelled("a whole number of what can be a step of the grid more or less")
        self._kept.append(x)
        key = name, x.get_id()  # of this formula: another one that is equal as real numbers may differ by a digit
        x = z3.simplify(self._finite(x))  # before that, since 0 times infinity is no number
        self._kept.append(x)
        if key in self._memo:
            return self._memo[key]
        y = self._memo[key] = real()
        if self._divided & set(unknowns([formula])):
            self._divided.add(name_of(y))
        if name == "exp":
            order = 0.0
            if not self._refuted([x > LARGEST_EXPONENT]):
                if np.geterr()["over"] != "ignore":
                    raise Unmodelled("an exponential that can be infinite, of which a warning would tell")
                self._infinite.add(name_of(y))
            else:
                largest = next(
                    most for most in (0, *(2**n for n in range(10)), LARGEST_EXPONENT) if self._refuted([x > most])
                )
                order = largest / math.log(2)
            describe(y, natural=True, exponential=order, shifted=error_of(formula), stepped=order + step)
            self.record += [y >= 0, z3.Implies(x >= 0, y >= 1), z3.Implies(x <= 0, y <= 1)]
            return y
        self._whole.add(name_of(y))
        describe(y, steps=self._steps(formula, x) if steps else order_of(formula), endless=wide)
        if steps and inexact:
            describe(y, stepped=max(0.0, step + 1))  # one step at least
        facts = _whole_of if not (wide and inexact) else _whole_of_any
        own = facts(name, x, y, NEAR if roundings else Fraction(0), name == "rint" or not roundings)
        self.record += own
        if steps and inexact:
            loose = facts(name, x, y, NEAR + 2 * Fraction(2.0**step), step == -math.inf and name == "rint")
            sharp, known = {one.get_id() for one in own}, {one.get_id() for one in loose}
            self._sharp |= sharp - known
            self._loose |= known - sharp
            self.record += [one for one in loose if one.get_id() not in sharp]
        return y

    def _steps(self, formula: Any, x: Any) -> float:
        """The order of the largest number of steps that a formula, x, can be: of 1 where it is never further from 0.

        Nothing is taken off it: a text can round again, and multiply what it has rounded with itself.
        """
        of_one = Fraction(1) / Fraction(GRID)
        order, least = order_of(formula), -math.log2(GRID)
        if order > least and self._refuted([z3.Or(x > number(of_one), x < number(-of_one))]):
            order = least
        return max(order, least)

    def _beside_infinite(self, name: str, terms: list[Any], kinds: list[Kind]) -> None:
        """Errors: Unmodelled for a function of an exponential that can be infinite, but for a sum with one number of a
        size that is known, and for a divisor: times 0, or less itself, it would be no number, and numpy would warn."""
        infinite = [not self._is_finite(one) for one in terms]
        if name in ("exp", "rint", "trunc") or not any(infinite):  # of which `_described` asks
            return
        beside = [kind for kind, own in zip(kinds, infinite, strict=True) if not own]
        summand = name == "add" and len(beside) == 1 and not beside[0].wide
        divisor = name == "divide" and not infinite[0] and self._is_finite(number(1) / terms[1])
        if not (summand or divisor):
            raise Unmodelled("an exponential that can be infinite, but for a divisor: a warning would tell of it")

    def _is_finite(self, term: Any) -> bool:
        """Whether a term is a number where exponentials in it are infinite: in divisors alone, once in each."""
        waiting = [term] if self._infinite else []
        while waiting:
            one = waiting.pop()
            if not self._infinite & set(unknowns([one])):
                continue
            if z3.is_const(one):
                return False
            parts = one.children()
            if z3.is_div(one):
                summands = parts[1].children() if z3.is_add(parts[1]) else [parts[1]]
                infinite = [each for each in summands if z3.is_const(each) and name_of(each) in self._infinite]
                parts = [parts[0], *(each for each in summands if len(infinite) > 1 or each not in infinite)]
            waiting += parts
        return True

    def _finite(self, term: Any) -> Any:
        """The term. Errors: Unmodelled for one that is not `_is_finite`."""
        if not self._is_finite(term):
            raise Unmodelled("an exponential that can be infinite or 0, beside a divisor")
        return term

    def _on_grid(self, term: Any) -> Any:
        """A statistic that is a multiple of the grid, whichever branch it is: hosts add just these up exactly.

        Errors: Unmodelled for a formula of which that is not seen.
        """
        waiting = [z3.simplify(term)]
        while waiting:
            one = waiting.pop()
            parts, kind = one.children(), one.decl().kind()
            if kind == z3.Z3_OP_ITE:
                waiting += parts[1:]
            elif kind in (z3.Z3_OP_ADD, z3.Z3_OP_SUB, z3.Z3_OP_UMINUS):
                waiting += parts
            else:
                numbers_in = math.prod(exact(each) for each in parts or [one] if z3.is_rational_value(each))
                rest = [each for each in parts or [one] if not z3.is_rational_value(each)]
                if kind == z3.Z3_OP_MUL and len(rest) == 1 and Fraction(numbers_in).denominator == 1:
                    waiting += rest
                    continue
                whole = (kind == z3.Z3_OP_MUL or not parts) and all(
                    z3.is_const(each) and name_of(each) in self._whole for each in rest
                )
                if not whole or (numbers_in / Fraction(GRID)).denominator != 1:
                    raise Unmodelled("a statistic that is not seen to be a multiple of the grid")
        return term

    def _statistics(self) -> tuple[dict[str, Any], Any]:
        """The terms of the statistics, None for a count, and of whether a record is used, None for always."""
        key = "statistics", self._now
        if key not in self._memo:
            if self._following.all:
                cases = self._memo["cases", self._now] = self._of_all()
                self._memo[key] = cases[0], None
            else:
                terms, used = self._of_one(self._score, self._label)
                self._memo[key] = self._shrunk(terms), used
        found_terms: tuple[dict[str, Any], Any] = self._memo[key]
        return found_terms

    def _of_one(self, score: Each, label: Any) -> tuple[dict[str, Any], Any]:
        """Those of one score, before weights."""
        found: Any = self._contribution.statistics(score, label, self._named)
        if type(found) is not Statistics or type(found.values) is not dict:
            raise Unmodelled("statistics of another class than refdp's own, which hosts take apart")
        used: Any = found.used
        if used is not None and not (isinstance(used, Each) and used.kind.of == "truth"):
            raise Unmodelled("records that are used or not for reasons beside their values")
        terms: dict[str, Any] = {COUNT: None}
        for name, value in found.values.items():
            if name == COUNT:
                raise Unmodelled("a statistic by the name of the count, which would take its place")
            if type(name) is not str or name in OWN_NAMES:
                raise Unmodelled("a statistic by a name that the reading has for something else")
            if value is not None and not isinstance(value, Each):
                raise Unmodelled(f"a statistic {name} that is no value of each record")
            if value is not None and value.kind.of != "float":  # hosts add up numbers as they are kept
                raise Unmodelled(f"a statistic {name} in whole numbers or truth values, whose sums can wrap around")
            if value is not None and error_of(value.term) > -math.inf:  # which a sum, rounded to units, can make one
                raise Unmodelled("a statistic that float64 rounds: a multiple of the grid as a real number alone")
            terms[name] = None if value is None else self._on_grid(self._finite(value.term))
        return terms, None if used is None else self._finite(used.term)

    def _of_all(self) -> list[dict[str, Any]]:
        """Those of every score, in each case of a record's class: a sum of bounds over scores depends on it.

        Of a regression there is one case.
        """
        target, cases = self._schema.target, []
        for y in (
            [self._target()]
            if isinstance(target, Interval)
            else [Each(number(place), self) for place in range(len(target.values))]
        ):
            terms: dict[str, Any] = {COUNT: None}
            for output in self._outputs:  # of each case by itself: fewer facts concern a question
                score = Each(real(), self, ANYWHERE)
                own, used = self._of_one(score, self._contribution.label(output, y))
                if used is not None:
                    raise Unmodelled("records that are left out beside statistics of all scores, which hosts refuse")
                terms |= {
                    named(name, output): None if term is None else decided(term)
                    for name, term in own.items()
                    if name != COUNT
                }
            cases.append(self._shrunk(terms))
        if len({tuple((name, term is None) for name, term in one.items()) for one in cases}) > 1:
            raise Unmodelled("other statistics for another class")
        return cases

    def _cases(self, state: int, name: str) -> list[Any]:
        """The formulas of a statistic in all cases of a record."""
        whole = self._memo["statistics", state][0]
        return [one[name] for one in self._memo.get(("cases", state), [whole])]

    def _between(self, state: int, name: str) -> tuple[Fraction | None, Fraction | None]:
        """Bounds of a statistic that hold in all cases."""
        used = self._memo["statistics", state][1]
        found = [self._bounds(state, one, used) for one in self._cases(state, name)]
        lows, highs = [low for low, _ in found], [high for _, high in found]
        low = None if None in lows else min(one for one in lows if one is not None)
        return low, None if None in highs else max(one for one in highs if one is not None)

    def _shrunk(self, terms: dict[str, Any]) -> dict[str, Any]:
        """The same statistics times a record's weight, towards 0 on the grid: each between itself and 0, those that
        are 1 the same weight. What else a common weight implies is forgotten, which allows more changes than there are.
        """
        if self._weight is None:
            return terms
        found = {name: self._weight if term is None else self._memo.get(("shrunk", term.get_id()))
                 for name, term in terms.items()}  # fmt: skip
        for name, term in terms.items():
            if found[name] is None:
                own = found[name] = self._memo["shrunk", term.get_id()] = real()
                self._formulas[own.get_id()] = term
                describe(own, stepped=step_of(term), steps=self._size(term))  # on the grid, as the statistic is
                self.record.append(z3.If(term >= 0, z3.And(own >= 0, own <= term), z3.And(own >= term, own <= 0)))
                self.record.append(z3.Implies(term == 1, own == self._weight))
        return found

    def _size(self, term: Any) -> float:
        """The order of the largest that a statistic can be: of 1 where it is never further from 0."""
        order = order_of(term)
        return 0.0 if order > 0 and self._refuted([z3.Or(term > 1, term < -1)]) else order

    def _bounds(self, state: int, term: Any, used: Any) -> tuple[Fraction | None, Fraction | None]:
        """The tightest bounds among the numbers in sight that hold for every record that is used, in float64 too."""
        key = "bounds", term.get_id(), None if used is None else used.get_id()
        self._kept += [term, used]
        if key not in self._memo:
            formula = self._formulas.get(term.get_id(), term)
            seen = {*USUAL, *_numerals([formula, *([used] if used is not None else [])])}
            seen |= {value * Fraction(GRID) for value in seen}
            tried = sorted({sign * value for value in seen for sign in (1, -1)})
            given = [] if used is None else [used]
            self._memo[key] = (
                _last(tried, lambda low: self._beyond([*given, term < number(low)], term)),
                _last(tried[::-1], lambda high: self._beyond([*given, term > number(high)], term)),
            )
        found: tuple[Fraction | None, Fraction | None] = self._memo[key]
        return found

    def _summed(self, state: int, name: str) -> None:
        """A statistic that hosts can add up in whole numbers. Errors: Unmodelled for one that could be too large."""
        terms, _ = self._memo["statistics", state]
        if terms[name] is None:
            return
        low, high = self._between(state, name)
        if low is None or high is None or max(-low, high) > Fraction(LARGEST):
            raise Unmodelled(f"sums of a statistic {name} that is not seen to be at most {LARGEST:g}: hosts' whole "
                             "numbers are not large enough for them")  # fmt: skip

    def _refuted(self, conditions: list[Any]) -> bool:
        """Whether the conditions hold together for no record, in float64."""
        return self._reply(conditions).refuted

    def _reply(self, conditions: list[Any]) -> Reply:
        return self.solvers.ask([*self.about_record(conditions, off=True), *conditions])

    def _beyond(self, conditions: list[Any], term: Any) -> bool | Fraction:
        """Whether the conditions can hold together for a record; what the term is of one for which they do, if known.

        False alone lets a bound be taken; what is known of a record saves to ask about others.
        """
        reply = self._reply(conditions)
        found = evaluated(term, reply.values) if reply.values else None
        return not reply.refuted if found is None or isinstance(found, bool) else found

    def about_record(self, terms: list[Any], *, off: bool) -> list[Any]:
        """What is known of a record, as far as it concerns these terms, and of the parameters in it.

        off: of its numbers in float64, where one that was rounded to the grid can be a step off that of its formula.
        All that is asked is about those, but for what a record that differs adds to a sum: how far a step takes that
        is known (`magnitudes.step_of`), as it is not of what a step decides, such as whether a record is used.
        A weight that statistics have in common makes none of them a concern of the others.
        """
        apart = set() if self._weight is None else {name_of(self._weight)}
        without = self._sharp if off else self._loose
        found = [one for one in self.record.about(set(unknowns(terms)), apart) if one.get_id() not in without]
        return [*found, *self.opens.facts([*terms, *found])] if self.opens else found

    def unit(self, one: Sum) -> Fraction:
        """What a sum is a multiple of: 1 where every record adds 0 or 1, else the grid."""
        if one.name == COUNT and self._weight is None:
            return Fraction(1)
        used = self._memo["statistics", one.state][1]
        key = "whole", one.state, one.name
        if key not in self._memo:
            given = [] if used is None else [used]
            self._memo[key] = all(
                step_of(term) == -math.inf and self._refuted([*given, term != 0, term != 1])
                for term in self._cases(one.state, one.name)
            )
        return Fraction(1) if self._memo[key] else Fraction(GRID)


def _whole_of(name: str, x: Any, y: Any, off: Fraction, nearest: bool) -> list[Any]:
    """What is known of the whole number y that x is rounded to, or cut to, where float64 can be off by so much.

    nearest: whether what is on one side of a whole number stays there.
    """
    near = number(off)
    if name == "rint":
        found = [2 * (y - x) <= 1 + near, 2 * (x - y) <= 1 + near]
    else:  # what float64 made of x is at most `near` away, which can be on the other side of a whole number
        up, down = z3.And(y >= 0, y <= x + near, x < y + 1 + near), z3.And(x <= y + near, y <= 0, y < x + 1 + near)
        found = [z3.If(x >= 0, up, down)]
    for whole in sorted({0, *(int(Fraction(n) / Fraction(GRID)) for n in USUAL)}):
        found += [z3.Or(y <= whole - 1, y == whole, y >= whole + 1)]
        if nearest or whole >= 0:
            found += [z3.Implies(x <= whole, y <= whole)]
        if nearest or whole <= 0:
            found += [z3.Implies(x >= whole, y >= whole)]
    return found


def _whole_of_any(name: str, x: Any, y: Any, off: Fraction, nearest: bool) -> list[Any]:
    """The same where x may be of any size: of one that is far away only that y has its sign and half of it."""
    far, half = number(REACH), number(REACH / 2)
    near = [z3.Implies(z3.And(x >= -far, x <= far), one) for one in _whole_of(name, x, y, off, nearest)]
    return [*near, z3.Implies(x > far, y >= half), z3.Implies(x < -far, y <= -half)]


def _beside_any_size(terms: list[Any], kinds: list[Kind]) -> None:
    """Errors: Unmodelled for a product of a number of any size and of one that float64 rounds."""
    for place, kind in enumerate(kinds):
        others = [other for other in range(len(terms)) if other != place and not kinds[other].small]
        if kind.wide and any(is_off(terms[other]) for other in others):
            raise Unmodelled("what float64 rounds, times or over a number of any size, such as a score")


def _numerals(terms: list[Any]) -> set[Fraction]:
    return {exact(one) for one in parts_of(terms) if z3.is_rational_value(one)}


def _last(values: list[Fraction], beyond: Callable[[Fraction], bool | Fraction]) -> Fraction | None:
    """The last of these bounds that nothing is beyond, as nothing is beyond all before it; None if there is none.

    beyond: False, or True, or a number that is beyond this bound, as it is beyond all later ones up to itself.
    """
    low, high = -1, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        found = beyond(values[middle])
        if found is False:
            low = middle
            continue
        high = middle
        if not isinstance(found, bool):
            side = 1 if values[-1] > values[0] else -1
            high = min(high, max(low + 1, sum(side * value <= side * found for value in values)))
    return values[low] if low >= 0 else None
