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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import z3

from refdp.accounting.individual import Accounts, Budget, table
from refdp.data.candidates import Candidates
from refdp.data.following import OF_SCHEMA, check_covers
from refdp.data.kernels import GRID
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
    Step,
    Turn,
)
from refdp.data.records import Schema
from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation
from refdp.prove.arithmetic import combined
from refdp.prove.asking import Solvers, name_of, number, parts_of, real, truth, unknowns
from refdp.prove.contributed import COST, RECORDS, Contributed
from refdp.prove.kinds import ANYWHERE
from refdp.prove.loops import Loops, abstract
from refdp.prove.magnitudes import describe, step_of
from refdp.prove.open import Open, Opens, example_of
from refdp.prove.peeking import POPULATION, guarded
from refdp.prove.symbols import Each, Known, Private, is_released, knowns, privates, public, varies
from refdp.prove.tables import ALL, UNITS, Axis, Binned, Cell, Sum, Table, Within
from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.texts import is_text_module

PLAIN = (float, int, str, bool, type(None))
"""Kinds of values that JSON keeps."""
MOVING = ("initial", "weight", "low", "high")
"""Numbers of steps and queries that hosts alone compute with, of which float64's are as good as Python's."""


def _in_units(axes: Sequence[Axis], cell: Cell) -> Table:
    """Sums as hosts answer: in units of the grid, as are all that are picked from them."""
    return Table(axes, cell, form=UNITS)


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


def _numbered(outputs: Any) -> None:
    """Hosts ask for the labels of scores when these begin, and know scores by what is equal to their numbers.

    Errors: Unmodelled for what is no whole number, of which equal ones can be others: -0.0, or a truth value.
    """
    if any(type(public(one)) is not int for one in outputs):
        raise Unmodelled("scores by what is no whole number of Python")


class Unknown(Contributed):
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
        super().__init__(schema, solvers, weighed=weighed)
        self.relation = relation
        self._loops = loops or Loops()
        self._shapes = Nothing()
        self._following = self._shapes._following
        self._state = itertools.count()
        self._within: list[tuple[int, int]] = []
        self._squares: dict[str, Fraction] = {}
        self._tree, self._level, self._placed, self._encoding, self._begun = 0, 0, 0, 0, 0
        self._recoded = self._deeper = False
        self._told: tuple[Any, Schema] | None = None
        self._output = 0
        self._features: tuple[int, ...] = ()
        self._candidates: Any = None
        self._coded: Any = None
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
        plain = _plain(step)
        _alike_elsewhere(plain)
        with _fitting():
            self._shapes.tell(plain)
        match step:
            case Begin(contribution, outputs):
                if self._weight is None and getattr(contribution, "weighs", False):  # as a host asks for it
                    raise Unmodelled("a contribution that takes weights of records, and records are read without any")
                own = {each.name: getattr(contribution, each.name) for each in fields(contribution)}  # type: ignore[arg-type]
                if is_text_module(type(contribution).__module__) and own.keys() - {"params", "schema"}:
                    raise Unmodelled("a contribution with other fields than parameters and schema: hosts have no other")
                self._given(contribution, own)
                for one in own.values():
                    if isinstance(one, Known):
                        one.finite = True  # or hosts refuse it
                if isinstance(contribution, Metered):
                    self._accounts(contribution)
                _numbered(outputs)
                self._contribution, self._outputs, self._begun = contribution, outputs, self._begun + 1
                for output in (*outputs[1:], outputs[0]):  # hosts ask for all their labels at once
                    self._begin(output)
            case Turn(output):
                _numbered((output,))
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
                self._statistics()  # hosts ask for them here: nodes hold the records that are used
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
        _plain_alone(params, schema)
        found = own.get("params", params)
        if found is params:
            return
        of = public(found)
        names = {one.name for one in fields(params)} - {*getattr(type(contribution), "learnt", ())}
        if type(of) is not type(params) or any(getattr(of, one) is not getattr(params, one) for one in names):
            raise Unmodelled("a contribution of other parameters than the run's")
        if any(type(getattr(of, one.name)) not in PLAIN for one in fields(of) if one.name not in names):
            raise Unmodelled("a contribution that has learnt something else than a number")

    def _of_text(self, features: Any) -> None:
        """Errors: Unmodelled for features that follow from released values, at any depth."""
        if any(map(is_released, knowns(features))):
            raise Unmodelled("features that follow from released values")

    def _accounts(self, contribution: Any) -> Accounts:
        """Those of a contribution, refdp's own; hosts tell them how many records there are. Errors: Unmodelled."""
        accounts = contribution.accounts()
        if type(accounts) is not Accounts or type(accounts._budget) is not Budget:
            raise Unmodelled(f"the accounts {type(accounts).__name__}, or their budget, are not refdp's own")
        if accounts._spent.size or contribution.accounts() is accounts:
            raise Unmodelled("accounts that are not fresh ones without a record, as hosts open them")
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
        self._label = self._contribution.label(output, self._target())
        if not isinstance(self._label, Each):
            raise Unmodelled("labels that are not one for each record, as hosts take those of some of them")
        self._score = Each(real(), self, ANYWHERE)

    def name_of_choice(self, chosen: Any) -> Any:
        """Which candidates these are, as the text says it: what that comes to among an example's is not so in all runs.

        Released choices are known by themselves, since others could coincide with any.
        """
        if any(map(is_released, knowns(chosen))):
            self._kept.append(chosen)
            return "released", id(chosen)
        own = public(chosen)
        if isinstance(own, slice):
            return "slice", own.start, own.stop, own.step
        own = np.asarray(own)
        return own.dtype.str, own.shape, own.tobytes()

    def _charge(self) -> None:
        """Whether a record has paid is not known; who has not is in no sum."""
        terms, used = self._statistics()
        if self._now in self.paid:
            raise Unmodelled("a charge after a charge, before statistics are taken anew")
        begun: Any = self._contribution
        if not isinstance(begun, Metered):
            raise Unmodelled("payments to a contribution that keeps no accounts: hosts refuse it")
        accounts = self._accounts(self._contribution)
        _tabled(accounts._budget)
        if used is not None:
            raise Unmodelled("records that are left out beside records that pay: hosts leave out who has not paid")
        for name in terms:  # those that no query names as well: a cost is of all of them
            self._summed(self._now, name)
        own = {name: None if term is None else Each(term, self) for name, term in terms.items()
               if name != COUNT or self._weight is not None}  # as hosts have it  # fmt: skip
        cost = self._contribution.cost(own)
        if not isinstance(cost, Each):
            raise Unmodelled("a cost that is no value of each record")
        if cost.kind.of != "float":
            raise Unmodelled("a cost in whole numbers or truth values, of which sums can wrap around")
        if any(_takes_off(one) for one in parts_of([cost.term])):
            raise Unmodelled("a cost with a difference in it, of which float64 can lose all that is small")
        if not self._refuted([cost.term < 0]):
            raise Unmodelled("a cost that can be below 0, by which records get back what they have paid")
        if not self._refuted([cost.term > number(float(accounts._budget.knots[-1]))]):
            raise Unmodelled("a record's cost lies beyond the table of costs")
        self._same_unweighed(cost, own)
        self._now = next(self._state)
        self._memo["statistics", self._now] = {**terms, COST: self._finite(cost.term)}, used
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

    # --- Sums ---

    def left(self) -> Any:
        """What later rounds of a loop could tell one round from another by, beside scores."""
        following = self._following
        told = (
            tuple(following.leaves),
            following.nodes,
            self._features,
            self._outputs,
            self._output,
            following.still,
            self._named,
            following.all,
        )
        coded = abstract(self._coded), self._recoded, self._deeper
        anew = tuple((self._begun, one) not in self.accounts for one in self._outputs)
        paid = self._now in self.paid, self._now in self.spent, len(self.accounts), anew
        return tuple(self._within), abstract(told), paid, abstract(self._contribution), coded

    def held(self) -> Any:
        """What was told of and is told from other released values by which object it is."""
        return self._coded, self._contribution

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
        _alike_elsewhere(plain)
        with _fitting():
            shape = self._shapes._shape(plain)
        if isinstance(query, Labels):
            return _in_units((Axis("each", 2),), self._labels(query))
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
                return _in_units((each, part), lambda index, world: total(of[index[0]], ((node, index[1]),)))
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

                return _in_units((each, part, bins) if isinstance(query, Bins) else (each, bins), cell)
            case Sides(_, splits):
                if varies(splits) and getattr(splits, "axes", None) is None:
                    raise Unmodelled("ways to split in as many axes as released values say")
                if len(shape) > 3 and varies(splits) and not getattr(splits, "listed", False):
                    raise Unmodelled("as many ways to split as released values say")
                split = f"split{next(self._state)}"
                side = (frozenset("am"), frozenset("r"))
                if len(shape) == 3:
                    return _in_units(
                        (each, part, Axis("each", 2)),
                        lambda index, world: total(of[index[0]], ((node, index[1]),), side[index[2]], split),
                    )
                return _in_units(
                    (Axis("each", shape[0]), each, Axis("part", shape[2], of=node), Axis("each", 2)),
                    lambda index, world: total(
                        of[index[1]], ((node, index[2]),), side[index[3]], f"{split}way{index[0]}"
                    ),
                )
            case Leaves():
                first = self._placed - shape[0]
                leaf = Axis("part", shape[2], of=("leaf", self._placed), loose=self._deeper)
                return _in_units(
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
        how_many = COUNT if self._weight is None else RECORDS  # a count of weighed records is a sum like others
        if (group, one.name) not in self._memo:
            count = self._memo.setdefault((group, how_many), real())
            if name_of(count) not in self.known:
                self.known[name_of(count)] = [count >= 0, z3.Or(count == 0, count >= 1)]
                describe(count, natural=True, records=True, over=group)
            if one.name != how_many:
                total = self._memo[group, one.name] = real()
                low, high = self._between(one.state, one.name)
                stepped = max(step_of(term) for term in self._cases(one.state, one.name))
                positive = low is not None and low >= 0
                describe(total, stepped=stepped, added=_size_of(low, high), natural=positive, over=group)
                facts = [] if low is None else [number(low) * count <= total]
                facts += [] if high is None else [total <= number(high) * count]
                self.known[name_of(total)] = facts
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
            positive = low is not None and low >= 0
            describe(value, stepped=step_of(term), added=_size_of(low, high), natural=positive)
            if low is not None and high is not None:
                self._squares[name_of(value)] = max(low * low, high * high)
            facts = [] if low is None else [number(low) <= value]
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
        present, found = set(unknowns(terms)), list[Any]()
        fixed = present | self.opens.own if self.opens else present
        told: dict[tuple[Any, Any], list[Any]] = {}
        for key, value in list(self._memo.items()):
            if key[0] == "own" and name_of(value) in present:
                _, state, name, record = key
                told.setdefault((state, record), []).append(value == self._memo["statistics", state][0][name])
        for (state, record), conditions in told.items():
            used = self._memo["statistics", state][1]
            conditions += [] if used is None else [used]
            conditions += self.about_record(conditions, off=used is not None and step_of(used) > -math.inf)
            for condition in conditions:
                swaps = [(one, self._twin(one, state, record))
                         for name, one in unknowns([condition]).items() if name not in fixed]  # fmt: skip
                found.append(z3.substitute(condition, *swaps))
        return found

    def _twin(self, one: Any, state: Any, record: Any) -> Any:
        """An unknown of this record's own in place of one that formulas of statistics have."""
        return self._memo.setdefault(("twin", (name_of(one), state), record), real() if z3.is_real(one) else truth())


_SIDES = {"r": "right", "a": "left, not missing", "m": "missing", "am": "left", "mr": "right or missing"}


@contextmanager
def _fitting() -> Iterator[None]:
    """Errors: Unmodelled for a step or a query that hosts refuse, since it does not follow those before it."""
    try:
        yield
    except InvalidParameter as problem:
        raise Unmodelled(str(problem)) from None


def _alike_elsewhere(message: Any) -> None:
    """Hosts elsewhere are told a step's or query's JSON form. What contributions are asked with, and what features
    there are, reads back from it as it was: alone, or in one tuple. Trees and candidates are arrays again, of the same
    numbers. Errors: Unmodelled for what would be of another kind there.
    """
    for one in fields(message):
        value = getattr(message, one.name)
        if one.name in ("contribution", "candidates", "splits", "values"):
            continue
        for each in value if type(value) is tuple else (value,):
            if type(each) not in PLAIN and not (one.name in MOVING and type(each) is np.float64):
                kind = f"a {type(each).__name__} in {type(message).__name__}({one.name})"
                raise Unmodelled(f"{kind}, which is of another kind in JSON")


def _plain_alone(params: Any, schema: Schema) -> None:
    """Hosts elsewhere make parameters and schema of their JSON forms. Errors: Unmodelled for another kind there."""
    for one in fields(params):
        value = getattr(params, one.name)
        kept = (Relation,) if one.name == "relation" else (*PLAIN, Open)
        if type(value) not in kept:
            raise Unmodelled(f"a {type(value).__name__} as {one.name}, which is of another kind in JSON")
    if not _is_plain(schema):
        raise Unmodelled("a schema with what is of another kind in JSON")


def _is_plain(value: Any) -> bool:
    inner = [getattr(value, one.name) for one in fields(value)] if type(value) in OF_SCHEMA else value
    return type(value) in PLAIN or (type(value) in (*OF_SCHEMA, tuple) and all(map(_is_plain, inner)))


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
        return bool(term.numerator_as_long() < 0)
    return term.decl().kind() in (z3.Z3_OP_SUB, z3.Z3_OP_UMINUS)
