"""The population of the prove reading: any records at all.

Its sums are unknowns of which is known what holds for every data set: a sum of n records' statistics lies between n
times their bounds, a record that differs is in one node and one bin of every feature, on one side of every split, and
the sides of a split add up to the node's own sum, which all candidates share. Scores are any numbers, the same on both
neighbours for a common record: whatever has been released moves them, so that every question forgets the rounds
before it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import z3

from refdp.accounting.individual import Accounts, Budget, table
from refdp.data import numbers
from refdp.data.candidates import Candidates
from refdp.data.following import check_covers
from refdp.data.kernels import GRID
from refdp.data.losses import LARGEST
from refdp.data.nothing import Nothing
from refdp.data.population import (
    COUNT,
    Advance,
    Begin,
    Bins,
    Descend,
    Encode,
    Histogram,
    Labels,
    Leaves,
    Members,
    Metered,
    Nodes,
    Pay,
    Place,
    Query,
    Refresh,
    RefreshAll,
    Root,
    Sides,
    Start,
    Statistics,
    Step,
    Turn,
)
from refdp.data.records import Interval, Schema
from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation
from refdp.prove.arithmetic import combined
from refdp.prove.asking import Solvers, name_of, number, parts_of, real, truth, unknowns
from refdp.prove.facts import Facts
from refdp.prove.kinds import ANYWHERE, Kind, followed, kind_of
from refdp.prove.loops import Loops, abstract
from refdp.prove.magnitudes import (
    counted,
    error_of,
    large,
    natural,
    order_of,
    rounded,
    shifted,
    sized,
    step_of,
    stepped,
    steps_of,
    too_far,
)
from refdp.prove.open import Open, Opens, example_of
from refdp.prove.peeking import POPULATION, guarded
from refdp.prove.reach import Host
from refdp.prove.symbols import Each, Fixed, Known, Private, knowns, privates, public, varies
from refdp.prove.tables import ALL, Axis, Binned, Sum, Table, Within
from refdp.prove.terms import Leak, Unmodelled, operated

for _function in (numbers.exp, numbers.log, numbers.sqrt):
    _function.register(Each, lambda value, name=_function.name: combined(name, (value,)))
    _function.register(Known, lambda value, own=_function: Known(own(public(value)), varies(value)))

USUAL = tuple(Fraction(n, 4) for n in (-8, -4, -2, -1, 0, 1, 2, 4, 8))
"""Bounds of a statistic that are tried beside the numbers in its formula."""


NEAR = Fraction(1, 2**16)
"""How far float64 may be from the real value of what is rounded to a whole number, both below 2^36."""
LARGEST_EXPONENT = 700
"""Up to here float64's exponential is finite."""
SMALL_EXPONENT = 16
"""Up to here it is small beside 2^53, so that what is added to it keeps its digits."""


class Units(Table):
    """Sums in units of the grid; times the grid they are in their own."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        scaled = [one for one in inputs if one is not self]
        if (
            (ufunc.__name__, method, options, len(scaled)) == ("multiply", "__call__", {}, 1)
            and scaled[0] == GRID
            and isinstance(scaled[0], float)
        ):
            cell = self.cell
            return Table(self.axes, lambda index, world: replace(cell(index, world), units=False))
        raise Unmodelled("sums in units of the grid in a formula")


def _tabled(budget: Budget) -> None:
    """Accounts take what a record pays from a table of their budget: it has to be that of its sigma, orders and rate.

    Errors: Unmodelled for another one, by which records could pay less.
    """
    may = budget.spendable
    if type(may) is not np.ndarray or may.dtype != np.float64 or may.shape != np.shape(budget.orders) or may.ndim != 1:
        raise Unmodelled("a budget of another form than a number for each order")
    if not (np.isfinite(may).all() and np.min(may) >= 0):
        raise Unmodelled("a budget below 0, or that is no number")
    if {np.asarray(one).dtype.kind + str(np.asarray(one).dtype.itemsize) for one in
                                      (budget.orders, budget.knots, budget.costs)} - {"f8", "i8"}:  # fmt: skip
        raise Unmodelled("a budget in narrow numbers")
    if not (np.array_equal(budget.orders, np.rint(budget.orders)) and np.min(budget.orders) >= 2):
        raise Unmodelled("accounts at orders that are no whole numbers, of which there is no table")
    knots, costs = table(budget.sigma, budget.rate, budget.orders)
    if not (np.array_equal(budget.knots, knots) and np.array_equal(budget.costs, costs)):
        raise Unmodelled("accounts with other costs than those of their budget")


class Unknown(Host):
    """A `Population` of unknown records. weighed: whether they have weights in [0, 1], as `Records.weight` says."""

    def __init__(
        self,
        relation: Relation,
        schema: Schema,
        solvers: Solvers,
        loops: Loops | None = None,
        *,
        weighed: bool = False,
    ) -> None:
        self.relation, self.solvers = relation, solvers
        self._weight = real() if weighed else None
        self._loops = loops or Loops()
        self._shapes = Nothing()
        self._schema = schema
        self._state = itertools.count()
        self._within: list[tuple[int, int]] = []
        self._memo: dict[Any, Any] = {}
        self._infinite: set[str] = set()
        self._whole: set[str] = set()
        self._divided: set[str] = set()
        self._formulas: dict[int, Any] = {}
        self._squares: dict[str, Fraction] = {}
        self._kept: list[Any] = []
        self._tree, self._level, self._placed, self._encoding, self._begun = 0, 0, 0, 0, 0
        self._recoded = self._deeper = False
        self._contribution: Any = None
        self._told: tuple[Any, Schema] | None = None
        self._label: Any = None
        self._output = 0
        self._named: tuple[str, ...] = ()
        self._features: tuple[int, ...] = ()
        self._candidates: Any = None
        self._coded: Any = None
        self.record = Facts([self._weight >= 0, self._weight <= 1] if weighed else [])  # type: ignore[operator]
        """What is known of the unknowns of one record."""
        self.known: dict[str, list[Any]] = {}
        """What is known of the other unknowns, by name."""
        self.indicators: dict[str, tuple[Any, ...]] = {}
        """Truth values that exclude each other, by the name of the one that is `missing`."""
        self.optional: set[str] = set()
        """Unknowns that differ from candidate to candidate, by name."""
        self.used: set[str] = set()
        """Truth values that say whether a record is used, by name."""
        self.paid: dict[int, Budget] = {}
        """States in which records without room in their budget are in no sum, with that budget."""
        self.accounts: dict[tuple[int, int], Budget] = {}
        """The budget of each output's records, where they pay, anew for every `Begin`."""
        self.spent: set[int] = set()
        """Those of these states of which sums have been released."""
        self.ends: dict[Any, int] = {}
        """Where the interval of the changes of a utility was found to lie; where to look first the next time."""
        self.opens: Opens | None = None
        """The parameters that are open, of which `open_up` is told."""
        self._now = next(self._state)

    def open_up(self, ranges: Mapping[str, tuple[float, float]]) -> Opens:
        """Parameters are open, each in its range."""
        refuted = lambda conditions: self.solvers.ask(conditions).refuted  # noqa: E731
        self.opens = Opens(ranges, refuted, self.known, lambda term: self._whole.add(name_of(term)))
        return self.opens

    @property
    def size(self) -> int:
        """Errors: Leak."""
        raise Leak("the number of records")

    def __getattribute__(self, name: str) -> Any:
        return guarded(self, name, POPULATION, Leak)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Leak(f"{name}: the records themselves")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Private) and not name.startswith("_"):
            raise Leak(f"{value.what} is kept with the records, beside every step:")
        super().__setattr__(name, value)

    def tell(self, step: Step) -> None:
        """Take in one step. Errors: Leak for a private value."""
        for one in privates(step):
            raise Leak(f"{one.what} in a step {type(step).__name__}: it moves the records of both neighbours apart")
        with _following():
            self._shapes.tell(_plain(step))
        match step:
            case Begin(contribution, outputs):
                if self._weight is None and getattr(contribution, "weighs", False):  # as a host asks for it
                    raise Unmodelled("a contribution that takes weights of records, and records are read without any")
                own = {each.name: getattr(contribution, each.name) for each in fields(contribution)}  # type: ignore[arg-type]
                of_text = type(contribution).__module__.startswith(("refdp.papers", "refdp.own"))
                if of_text and own.keys() - {"params", "schema"}:
                    raise Unmodelled("a contribution with other fields than parameters and schema: hosts have no other")
                self._given(contribution, own)
                for one in own.values():
                    if isinstance(one, Known):
                        one.finite = True  # or hosts refuse it
                if isinstance(contribution, Metered):
                    self._accounts(contribution)
                self._contribution, self._outputs, self._begun = contribution, outputs, self._begun + 1
                self._begin(outputs[0])
            case Turn(output):
                self._begin(output)
            case Encode(candidates):
                self._candidates, self._encoding, self._coded = public(candidates), self._encoding + 1, candidates
                self._recoded = varies(candidates)
                if type(self._candidates) is not Candidates:
                    raise Unmodelled("candidates of another class than refdp's own, which hosts would ask")
                self._covers()
            case Refresh(of) | RefreshAll(of):
                self._named, self._now = of, next(self._state)
            case Pay():
                self._charge()
            case Root(features):
                self._of_text(features)
                self._features, self._level, self._tree = public(features), 0, self._tree + 1
            case Descend():
                self._level += 1
            case Place(splits):
                self._placed, self._deeper = self._placed + 1, self._deeper or varies(splits)
            case Start(initial):
                self._moved(initial)
            case Advance(values, weight):
                self._moved(values, weight)
                self._deeper = False
            case _:
                raise Unmodelled(f"a step {type(step).__name__}")

    def begin_with(self, params: Any, schema: Schema) -> None:
        """What training was given, of which contributions are; where nobody says, of anything."""
        self._told = params, schema

    def _given(self, contribution: Any, own: Mapping[str, Any]) -> None:
        """Parameters and schema of a contribution are those of the run, but for what it learns from releases: a host
        asks it whenever it likes, and the reading asks it once. Errors: Unmodelled for others."""
        if self._told is None:
            return
        params, schema = self._told
        if own.get("schema", schema) is not schema:
            raise Unmodelled("a contribution of another schema than the run's")
        found = own.get("params", params)
        if found is params:
            return
        of = public(found)
        names = {one.name for one in fields(params)} - {*getattr(type(contribution), "learnt", ())}
        if type(of) is not type(params) or any(getattr(of, one) is not getattr(params, one) for one in names):
            raise Unmodelled("a contribution of other parameters than the run's")
        if any(type(getattr(of, one.name)) not in (float, int, str, bool, type(None)) for one in fields(of)
               if one.name not in names):  # fmt: skip
            raise Unmodelled("a contribution that has learnt something else than a number")

    def _of_text(self, features: Any) -> None:
        """Errors: Unmodelled for features that follow from released values, at any depth."""
        if any(not isinstance(one, Fixed) for one in knowns(features)):
            raise Unmodelled("features that follow from released values")

    def _accounts(self, contribution: Any) -> Accounts:
        """Those of a contribution, refdp's own; hosts tell them how many records there are. Errors: Unmodelled."""
        accounts = contribution.accounts()
        if type(accounts) is not Accounts or type(accounts._budget) is not Budget:
            raise Unmodelled(f"the accounts {type(accounts).__name__}, or their budget, are not refdp's own")
        return accounts

    def _covers(self) -> None:
        """Errors: Unmodelled for candidates that hosts refuse."""
        try:
            check_covers(self._candidates, self._schema)
        except InvalidParameter as problem:
            raise Unmodelled(str(problem)) from None

    def _moved(self, *factors: Any) -> None:
        """Scores were any numbers and are, which hosts keep finite. Errors: Unmodelled for an open step of any size."""
        if any(isinstance(one, Open) and not one.opens.at_most(one, 2.0**100) for one in factors):
            raise Unmodelled("a step of the scores that a parameter can make of any size")

    def _begin(self, output: int) -> None:
        self._named, self._now, self._output = (), next(self._state), output
        y, target = self._target(), self._schema.target
        if not isinstance(target, Interval):
            self.record.append(z3.Or(*(y.term == place for place in range(len(target.values)))))
        self._label = self._contribution.label(output, y)
        self._score = Each(real(), self, ANYWHERE)

    def _target(self) -> Each:
        """A record's entry of the target column; of classes any number, which nothing is said of."""
        y, target = real(), self._schema.target
        if not isinstance(target, Interval):
            return Each(y, self)
        self.record += [number(target.low) <= y, y <= number(target.high)]
        sized[name_of(y)] = math.log2(max(-target.low, target.high, 1.0))
        return Each(y, self, ANYWHERE if max(-target.low, target.high) > 2.0**20 else None)

    def name_of_choice(self, chosen: Any, places: Any) -> Any:
        """Which candidates these are: released ones by themselves, since others could coincide with any."""
        if all(isinstance(one, Fixed) for one in knowns(chosen)):
            return np.asarray(places).tobytes()
        self._kept.append(chosen)
        return "released", id(chosen)

    def _charge(self) -> None:
        """Whether a record has paid is not known; who has not is in no sum."""
        terms, used = self._statistics()
        if self._now in self.paid:
            raise Unmodelled("a charge after a charge, before statistics are taken anew")
        accounts = self._accounts(self._contribution)
        _tabled(accounts._budget)
        if used is not None:
            raise Unmodelled("records that are left out beside records that pay: hosts leave out who has not paid")
        own = {name: None if term is None else Each(term, self) for name, term in terms.items()
               if name != COUNT or self._weight is not None}  # as hosts have it  # fmt: skip
        cost = self._contribution.cost(own)
        if not isinstance(cost, Each):
            raise Unmodelled("a cost that is no value of each record")
        if any(_takes_off(one) for one in parts_of([cost.term])):
            raise Unmodelled("a cost with a difference in it, of which float64 can lose all that is small")
        self._same_unweighed(cost, own)
        self._now = next(self._state)
        self._memo["statistics", self._now] = {**terms, "cost": self._finite(cost.term)}, used
        self.paid[self._now] = accounts._budget
        self.accounts[self._begun, self._output] = accounts._budget

    def _same_unweighed(self, cost: Each, own: Mapping[str, Any]) -> None:
        """Hosts of records without weights give None for a statistic that is 1, hosts of others the weight itself.

        Errors: Unmodelled for a cost that is another one then.
        """
        if self._weight is None:
            return
        plain = {name: None if one is not None and one.term.eq(self._weight) else one for name, one in own.items()
                 if name != COUNT}  # fmt: skip
        other = self._contribution.cost(plain)
        if not isinstance(other, Each):
            raise Unmodelled("a cost that is no value of each record")
        if not self._refuted([self._weight == 1, cost.term != other.term]):
            raise Unmodelled("a cost that is another one for records without weights than for those of weight 1")

    def select(self, scope: int, draw: Callable[[int], Members]) -> None:
        """Attach secret coins: a record may be in any block. Shape (records,)."""
        draw(0)

    def enter(self, scope: int, block: int) -> None:
        """Select the records in one block of a scope."""
        self._within.append((scope, block))

    def leave(self) -> None:
        """The innermost `enter` ends."""
        self._within.pop()

    # --- Values of a record ---

    def operated(self, name: str, arguments: Any) -> Each:
        """A function of a record's values. Errors: Unmodelled for released values beside its score."""
        terms: list[Any] = []
        for one in arguments:
            if not isinstance(one, Each | Open) and np.ndim(public(one)):
                raise Unmodelled("a value of each record that depends on several released values beside its score")
            if isinstance(one, Known):
                terms.append(self._divisor(name, arguments, one, terms))
                continue
            plain = z3.BoolVal(bool(one)) if isinstance(one, bool | np.bool_) else None
            terms.append(one.term if isinstance(one, Each | Open) else number(one) if plain is None else plain)
        plain_ones = [None if isinstance(one, Each | Known | Open) else one for one in arguments]
        kinds = [one.kind if isinstance(one, Each) else Kind() if isinstance(one, Known)
                 else Kind("float", 0 if one.error == "exact" else 2) if isinstance(one, Open) else kind_of(one)
                 for one in arguments]  # fmt: skip
        kind = followed(name, kinds, plain_ones)
        if name in ("exp", "rint", "trunc"):
            found = self._described(name, terms[0], kinds[0].roundings)
            if name == "exp":
                return Each(found, self, Kind("float", 2, above=not self._refuted([terms[0] > SMALL_EXPONENT])))
            return Each(found, self, Kind(below=kinds[0].below, above=kinds[0].above, lost=kinds[0].wide))
        if name == "divide" and kinds[0].wide and isinstance(arguments[1], Each):
            raise Unmodelled("a number of any size, divided by a record's value, which can be infinite in float64")
        if name == "divide" and not self._refuted([terms[1] == 0]):
            raise Unmodelled("a quotient of a record's values whose divisor can be 0")
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

    def _released(self, value: Known) -> Any:
        """Any public number, which may be another one wherever it is used, and not below what `np.maximum` made it."""
        self._kept.append(value)
        key = "released", id(value)
        if key not in self._memo:
            self._memo[key] = real()
            if value.least is not None:
                self.record.append(self._memo[key] >= number(value.least))
        return self._memo[key]

    def _described(self, name: str, x: Any, roundings: int = 0) -> Any:
        """An unknown for a function that is no polynomial, with what is known of it.

        roundings: of x, which may be another number in float64 than in the formula. In units of the grid it is taken
        for its real value: a step more or less is what is rounded anyway, and is not made large (`magnitudes.stepped`).
        How many steps a statistic has is taken for an eighth of what its formula could be at most.
        """
        steps = z3.is_div(x) and z3.is_rational_value(x.arg(1)) and _fraction(x.arg(1)) == Fraction(GRID)
        inexact, roundings, formula = roundings, 0 if steps else roundings, x
        self._kept.append(x)
        key = name, x.get_id()  # of this formula: another one that is equal as real numbers may differ by a digit
        x = z3.simplify(self._finite(x))  # before that, since 0 times infinity is no number
        near = number(NEAR if roundings else Fraction(0))
        self._kept.append(x)
        if key in self._memo:
            return self._memo[key]
        y = self._memo[key] = real()
        if name == "exp":
            rounded[name_of(y)] = 0.0
            natural.add(name_of(y))
            if not self._refuted([x > LARGEST_EXPONENT]):
                if np.geterr()["over"] != "ignore":
                    raise Unmodelled("an exponential that can be infinite, of which a warning would tell")
                self._infinite.add(name_of(y))
            else:
                largest = next(
                    most for most in (0, *(2**n for n in range(10)), LARGEST_EXPONENT) if self._refuted([x > most])
                )
                rounded[name_of(y)] = largest / math.log(2)
            shifted[name_of(y)] = error_of(formula)
            self.record += [y >= 0, z3.Implies(x >= 0, y >= 1), z3.Implies(x <= 0, y <= 1)]
            return y
        self._whole.add(name_of(y))
        counted[name_of(y)] = max(-math.log2(GRID), order_of(formula) - 3) if steps else order_of(formula)
        if steps and inexact:
            stepped[name_of(y)] = steps_of(formula)
        if name == "rint":
            self.record += [2 * (y - x) <= 1 + near, 2 * (x - y) <= 1 + near]
        else:  # what float64 made of x is at most `near` away, which can be on the other side of a whole number
            up, down = z3.And(y >= 0, y <= x + near, x < y + 1 + near), z3.And(x <= y + near, y <= 0, y < x + 1 + near)
            self.record += [z3.If(x >= 0, up, down)]
        for whole in sorted({0, *(int(Fraction(n) / Fraction(GRID)) for n in USUAL)}):
            self.record += [z3.Or(y <= whole - 1, y == whole, y >= whole + 1)]
            nearest = name == "rint" or not roundings  # which is the same after a rounding
            if nearest or whole >= 0:
                self.record += [z3.Implies(x <= whole, y <= whole)]
            if nearest or whole <= 0:
                self.record += [z3.Implies(x >= whole, y >= whole)]
        return y

    def _finite(self, term: Any) -> Any:
        """A term that is a number where exponentials in it are infinite: they are in divisors alone, once in each.

        Errors: Unmodelled for any other.
        """
        waiting = [term] if self._infinite else []
        while waiting:
            one = waiting.pop()
            if not self._infinite & set(unknowns([one])):
                continue
            if z3.is_const(one):
                raise Unmodelled("an exponential that can be infinite or 0, beside a divisor")
            parts = one.children()
            if z3.is_div(one):
                summands = parts[1].children() if z3.is_add(parts[1]) else [parts[1]]
                infinite = [each for each in summands if z3.is_const(each) and name_of(each) in self._infinite]
                parts = [parts[0], *(each for each in summands if len(infinite) > 1 or each not in infinite)]
            waiting += parts
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
                numbers_in = math.prod(_fraction(each) for each in parts or [one] if z3.is_rational_value(each))
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
            if self._shapes._following.all:
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
        if used is not None and not isinstance(used, Each):
            raise Unmodelled("records that are used or not for reasons beside their values")
        terms: dict[str, Any] = {COUNT: None}
        for name, value in found.values.items():
            if name == COUNT:
                raise Unmodelled("a statistic by the name of the count, which would take its place")
            if value is not None and not isinstance(value, Each):
                raise Unmodelled(f"a statistic {name} that is no value of each record")
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
                    f"{name}.{output:d}": None if term is None else z3.simplify(term)
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
                stepped[name_of(own)] = step_of(term)
                self.record.append(z3.If(term >= 0, z3.And(own >= 0, own <= term), z3.And(own >= term, own <= 0)))
                self.record.append(z3.Implies(term == 1, own == self._weight))
        return found

    def _bounds(self, state: int, term: Any, used: Any) -> tuple[Fraction | None, Fraction | None]:
        """The tightest bounds among the numbers in sight that hold for every record that is used."""
        key = "bounds", term.get_id(), None if used is None else used.get_id()
        self._kept += [term, used]
        if key not in self._memo:
            formula = self._formulas.get(term.get_id(), term)
            seen = {*USUAL, *_numerals([formula, *([used] if used is not None else [])])}
            seen |= {value * Fraction(GRID) for value in seen}
            tried = sorted({sign * value for value in seen for sign in (1, -1)})
            given = [] if used is None else [used]
            self._memo[key] = (
                _last(tried, lambda low: self._refuted([*given, term < number(low)])),
                _last(tried[::-1], lambda high: self._refuted([*given, term > number(high)])),
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
        return self.solvers.ask([*self.about_record(conditions), *conditions]).refuted

    def about_record(self, terms: list[Any]) -> list[Any]:
        """What is known of a record, as far as it concerns these terms, and of the parameters in it.

        A weight that statistics have in common makes none of them a concern of the others.
        """
        apart = set() if self._weight is None else {name_of(self._weight)}
        found = self.record.about(set(unknowns(terms)), apart)
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
                self._refuted([*given, term != 0, term != 1]) for term in self._cases(one.state, one.name)
            )
        return Fraction(1) if self._memo[key] else Fraction(GRID)

    # --- Sums ---

    def left(self) -> Any:
        """What later rounds of a loop could tell one round from another by, beside scores."""
        following = self._shapes._following
        told = (
            tuple(following.leaves),
            following.nodes,
            self._features,
            self._output,
            following.still,
            self._named,
            following.all,
        )
        coded = abstract(self._coded), self._recoded, self._deeper
        paid = self._now in self.paid, self._now in self.spent, len(self.accounts)
        return tuple(self._within), told, paid, abstract(self._contribution), coded

    def ask(self, query: Query) -> Any:
        """A private table of sums, which is about the rounds of loops in which it was asked for."""
        found = self._asked(query)
        cell, born = found.cell, self._loops.now()

        def of_this_round(index: tuple[Any, ...], world: Any) -> Any:
            self._loops.alive(born)
            return cell(index, world)

        found.cell = of_this_round
        return found

    def _asked(self, query: Query) -> Any:
        for one in privates(query):
            raise Leak(f"{one.what} in a query")
        plain = _plain(query)
        with _following():
            shape = self._shapes._shape(plain)
        if isinstance(query, Labels):
            return Units((Axis("each", 2),), self._labels(query))
        of = query.of
        terms, _ = self._statistics()
        missing = [name for name in of if name not in terms]
        if missing:
            raise Unmodelled(f"statistics {missing}")
        state, scopes, encoding = self._now, tuple(self._within), self._encoding

        def total(name: str, seats: Any, sides: frozenset[str] = ALL, option: str | None = None) -> Sum:
            return Sum(state, COUNT if terms[name] is None else name, scopes, seats, sides, option, True)

        for name in of:
            self._summed(state, name)
        node = ("root" if self._level == 0 else "node", self._tree, self._level)
        each = Axis("each", len(of))
        part = Axis("part", shape[1] if len(shape) > 1 else 1, of=node)
        match query:
            case Nodes():
                return Units((each, part), lambda index, world: total(of[index[0]], ((node, index[1]),)))
            case Bins() | Histogram():
                self._of_text(() if isinstance(query, Bins) else query.features)
                features = self._features if isinstance(query, Bins) else query.features
                binned = Binned(self._candidates, tuple(features), encoding, self._coded)
                bins = Axis("bins", shape[-1], of=binned, loose=self._recoded)

                def cell(index: tuple[Any, ...], world: Any) -> Sum:
                    seats = ((node, index[1]),) if isinstance(query, Bins) else ()
                    how = index[-1]
                    if how[0] == "side":
                        return total(of[index[0]], seats, how[1], f"{how[2]}, encoding {encoding}")
                    if how[2] == "whole":
                        return total(of[index[0]], seats)
                    if isinstance(how[2], Within):
                        own = (((*how[2].part, encoding), how[2].seat),)
                        option = f"{how[2].option}, encoding {encoding}"
                        return total(of[index[0]], (*seats, *own), how[2].sides, option)
                    return total(of[index[0]], (*seats, (("bins", how[1], encoding), how[2])))

                return Units((each, part, bins) if isinstance(query, Bins) else (each, bins), cell)
            case Sides(_, splits):
                if len(shape) > 3 and varies(splits) and not getattr(splits, "listed", False):
                    raise Unmodelled("as many ways to split as released values say")
                split = f"split{next(self._state)}"
                side = (frozenset("am"), frozenset("r"))
                if len(shape) == 3:
                    return Units(
                        (each, part, Axis("each", 2)),
                        lambda index, world: total(of[index[0]], ((node, index[1]),), side[index[2]], split),
                    )
                return Units(
                    (Axis("each", shape[0]), each, Axis("part", shape[2], of=node), Axis("each", 2)),
                    lambda index, world: total(
                        of[index[1]], ((node, index[2]),), side[index[3]], f"{split}way{index[0]}"
                    ),
                )
            case Leaves():
                first = self._placed - shape[0]
                leaf = Axis("part", shape[2], of=("leaf", self._placed), loose=self._deeper)
                return Units(
                    (Axis("each", shape[0]), each, leaf),
                    lambda index, world: total(of[index[1]], ((("leaf", first + index[0]), index[2]),)),
                )
        raise Unmodelled(f"a query {type(query).__name__}")

    def _labels(self, query: Labels) -> Any:
        """Of all records, whoever is selected: hosts answer so."""
        state, scopes = next(self._state), ()
        label = combined("minimum", (combined("maximum", (self._label, query.low)), query.high))
        whole = combined("multiply", (combined("rint", (combined("divide", (label, GRID)),)), GRID))
        self._memo["statistics", state] = self._shrunk({COUNT: None, "label": whole.term}), None
        self._summed(state, "label")
        return lambda index, world: Sum(state, (COUNT, "label")[index[0]], scopes, (), ALL, None, True)

    def common(self, one: Sum) -> Any:
        """The sum of the records that both neighbours have."""
        group = "sums", one.state, one.scopes, one.seats, one.sides, one.option
        how_many = COUNT if self._weight is None else "records"  # a count of weighed records is a sum like others
        if (group, one.name) not in self._memo:
            count = self._memo.setdefault((group, how_many), real())
            if name_of(count) not in self.known:
                self.known[name_of(count)] = [count >= 0, z3.Or(count == 0, count >= 1)]
                natural.add(name_of(count))
            if one.name != how_many:
                total = self._memo[group, one.name] = real()
                low, high = self._between(one.state, one.name)
                stepped[name_of(total)] = max(step_of(term) for term in self._cases(one.state, one.name))
                large[name_of(total)] = _size_of(low, high)
                facts = [] if low is None else [number(low) * count <= total]
                facts += [] if high is None else [total <= number(high) * count]
                self.known[name_of(total)] = facts
                if low is not None and low >= 0:
                    natural.add(name_of(total))
            if one.option is not None:
                self.optional |= {name_of(self._memo[group, name]) for name in (one.name, how_many)}
        return self._memo[group, one.name]

    def own(self, one: Sum, record: str) -> Any:
        """What a record that differs adds to a sum of whose node or bin it is."""
        inside = self._truth("used", one.state, one.scopes, record)
        self.used.add(name_of(inside))
        if one.sides != ALL:
            place = one.seats, one.option, one.state, record
            right, missing = self._truth("right", *place), self._truth("missing", *place)
            self.indicators[name_of(missing)] = (right, missing)
            at = {"r": right, "m": missing, "a": z3.Not(z3.Or(right, missing))}
            inside = z3.And(inside, z3.Or(*(at[side] for side in sorted(one.sides))))
        return z3.If(inside, self.value(one.state, one.name, record), number(0))

    def value(self, state: int, name: str, record: str) -> Any:
        """A statistic of a record that differs, within its bounds: those of its case, which truth values say."""
        if name == COUNT and self._weight is None:
            return number(1)
        used, cases = self._memo["statistics", state][1], self._cases(state, name)
        own = [
            self._within_bounds(("own" if len(cases) == 1 else f"own {case}", state, name, record), term, used)
            for case, term in enumerate(cases)
        ]
        digit = 0
        while len(own) > 1:  # the first digit says which of two neighbours it is, and so on
            first = self._truth("case", state, record, digit)
            pairs = [own[place : place + 2] for place in range(0, len(own), 2)]
            own = [z3.If(first, *pair) if len(pair) > 1 else pair[0] for pair in pairs]
            digit += 1
        return own[0]

    def _within_bounds(self, key: tuple[Any, ...], term: Any, used: Any) -> Any:
        if key not in self._memo:
            value = self._memo[key] = real()
            low, high = self._bounds(key[1], term, used)
            stepped[name_of(value)], large[name_of(value)] = step_of(term), _size_of(low, high)
            if low is not None and high is not None:
                self._squares[name_of(value)] = max(low * low, high * high)
            facts = [] if low is None else [number(low) <= value]
            if low is not None and low >= 0:
                natural.add(name_of(value))
            self.known[name_of(value)] = facts + ([] if high is None else [value <= number(high)])
        return self._memo[key]

    def square(self, term: Any) -> Any:
        """An unknown for the square of one of `value`, or of its opposite; None for another term.

        It is any number from 0 up to the square of the larger of its bounds.
        """
        if (
            z3.is_mul(term)
            and term.num_args() == 2
            and z3.simplify(term.arg(0) * term.arg(0) == 1).eq(z3.BoolVal(True))
        ):
            term = term.arg(1)
        most = self._squares.get(name_of(term)) if z3.is_const(term) and not z3.is_rational_value(term) else None
        if most is None:
            return None
        key = "square", name_of(term)
        if key not in self._memo:
            one = self._memo[key] = real()
            self.known[name_of(one)] = [one >= 0, one <= number(most)]
        return self._memo[key]

    def described(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Values of unknowns under names for readers."""
        found = {}
        for key, one in self._memo.items():
            if not (z3.is_expr(one) and z3.is_const(one) and name_of(one) in values):
                continue
            if key[0] == "own":
                name = f"{key[2]} of record {key[3]}"
            elif isinstance(key[0], tuple):
                (_, _, _, seats, sides, _), statistic = key
                where = "" if sides == ALL else f", {_SIDES[''.join(sorted(sides))]}"
                place = " of its node" if all(seat == "r0" for _, seat in seats) else " of another node"
                name = f"{statistic} of the other records{place}{where}"
            elif key[0] == "twin":
                name = f"an unknown of record {key[2]}"
            else:
                continue
            found[name if name not in found else f"{name} ({name_of(one)})"] = str(values[name_of(one)])
        return found

    def _truth(self, *key: Any) -> Any:
        return self._memo.setdefault(("truth", *key), truth())

    def facts(self, terms: list[Any]) -> list[Any]:
        """What is known of the unknowns in terms, and of those that this brings in."""
        found: list[Any] = []
        done: set[str] = set()
        waiting = list(unknowns(terms))
        while waiting:
            name = waiting.pop(0)
            if name not in done:
                done.add(name)
                own = self.known.get(name, [])
                found += own
                waiting += unknowns(own)
        return found

    def exactly(self, terms: list[Any]) -> list[Any]:
        """The formulas of the statistics of the records that differ, with what is known of a record that is used."""
        present, found = set(unknowns(terms)), []
        for key, value in list(self._memo.items()):
            if key[0] == "own" and name_of(value) in present:
                _, state, name, record = key
                formulas, used = self._memo["statistics", state]
                conditions = [value == formulas[name], *([] if used is None else [used])]
                conditions += self.about_record(conditions)
                fixed = present | self.opens.own if self.opens else present
                names = {name: one for name, one in unknowns(conditions).items() if name not in fixed}
                swaps = []
                for name, one in names.items():
                    twin = self._memo.setdefault(
                        ("twin", (name, state), record), real() if z3.is_real(one) else truth()
                    )
                    swaps.append((one, twin))
                found += [z3.substitute(condition, *swaps) for condition in conditions]
        return found


_SIDES = {"r": "right", "a": "left, not missing", "m": "missing", "am": "left", "mr": "right or missing"}


@contextmanager
def _following() -> Iterator[None]:
    """Errors: Unmodelled for a step or a query that hosts refuse, since it does not follow those before it."""
    try:
        yield
    except InvalidParameter as problem:
        raise Unmodelled(str(problem)) from None


def _plain(message: Any) -> Any:
    """A step or query with examples in place of released values, for its shapes."""
    values = (getattr(message, name) for name in message.__dataclass_fields__)
    return type(message)(*(public(example_of(one)) for one in values))


def _size_of(low: Fraction | None, high: Fraction | None) -> float:
    """The binary order of the largest number between bounds, 0 at least; of none where there are none."""
    return 0.0 if low is None or high is None else math.log2(float(max(-low, high, Fraction(1))))


def _takes_off(term: Any) -> bool:
    """Whether a part of a formula makes it smaller: a difference, an opposite, a number below 0."""
    if z3.is_rational_value(term):
        return _fraction(term) < 0
    return term.decl().kind() in (z3.Z3_OP_SUB, z3.Z3_OP_UMINUS)


def _fraction(term: Any) -> Fraction:
    return Fraction(term.numerator_as_long(), term.denominator_as_long())


def _numerals(terms: list[Any]) -> set[Fraction]:
    return {_fraction(one) for one in parts_of(terms) if z3.is_rational_value(one)}


def _last(values: list[Fraction], holds: Callable[[Fraction], bool]) -> Fraction | None:
    """The last value for which something holds that holds for all before it."""
    low, high = -1, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(values[middle]) else (low, middle)
    return values[low] if low >= 0 else None
