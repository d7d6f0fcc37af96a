"""Statements about refdp's own formulas: inequalities for all reals and counts, in exact arithmetic.

A statement is written once and read three ways: on Terms (for solvers), on Fractions (to re-execute a witness) and,
for limits, on sympy expressions. Callables name the variables that they want as parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from proofs.checker import terms
from proofs.checker.solvers import SOLVERS, Polynomial, Reply, ask
from proofs.checker.terms import Condition, Path, Term

Rational = Fraction | int
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Real:
    """A real variable, restricted by the statement's `given`."""

    name: str


def reals(names: str) -> tuple[Real, ...]:
    """Real variables of these names."""
    return tuple(Real(name) for name in names.split())


@dataclass(frozen=True)
class Count:
    """An integer >= start. Proved as its first `split` values one by one and every real beyond them."""

    name: str
    start: int = 0
    split: int = 1


Variable = Real | Count


def call(function: Callable[..., Any], values: Values) -> Any:
    """`function` with those of the values that its parameters name; with all of them if it takes any keyword."""
    if isinstance(function, type):
        return function()
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return function(**values)
    return function(**{name: values[name] for name in parameters})


def nothing() -> tuple[()]:
    """No restriction."""
    return ()


def many(found: Any) -> tuple[Any, ...]:
    """One item or several, as a tuple."""
    return tuple(found) if isinstance(found, tuple | list) else (found,)


def both(quantity: Any) -> tuple[Any, Any]:
    """quantity and -quantity: their upper bound is one of the absolute value, without a case distinction."""
    return quantity, -quantity


def within(x: Any, bound: Any) -> tuple[Any, Any]:
    """-bound <= x <= bound."""
    return x >= -bound, x <= bound


@dataclass(frozen=True)
class ForAll:
    """For all values of the variables with all of `given`: all of `holds`. Both return comparisons, one or a tuple."""

    variables: tuple[Variable, ...]
    holds: Callable[..., Any]
    given: Callable[..., Any] = nothing

    def goals(self, values: Values) -> tuple[Any, ...]:
        """What has to hold at these values. Errors: ValueError if nothing is stated."""
        goals = many(call(self.holds, values))
        if not goals:
            raise ValueError("a statement without goals")
        return goals


@dataclass(frozen=True)
class AtMost:
    """For all values of the variables with all of `given`: quantity <= bound (quantity < bound if strict).

    quantity: a number, or a tuple of numbers that are all bounded.
    scale: multiplies the bound; 1 but when a test breaks the proof.
    """

    variables: tuple[Variable, ...]
    quantity: Callable[..., Any]
    bound: Callable[..., Any]
    given: Callable[..., Any] = nothing
    strict: bool = False
    scale: Fraction = Fraction(1)

    def sides(self, values: Values) -> tuple[tuple[Any, ...], Any]:
        """The quantities and their bound at these values."""
        return many(call(self.quantity, values)), self.scale * call(self.bound, values)

    def goals(self, values: Values) -> tuple[Any, ...]:
        """What has to hold at these values."""
        quantities, bound = self.sides(values)
        return tuple(q < bound if self.strict else q <= bound for q in quantities)


Statement = ForAll | AtMost


@dataclass(frozen=True)
class Proof:
    """The outcome of asking the solvers: who refuted every negation, or values at which the statement fails.

    questions: how many they were asked; none if polynomial arithmetic alone makes every goal plain.
    """

    solvers: tuple[str, ...]
    witness: dict[str, Fraction] | None = None
    questions: int = 0

    @property
    def holds(self) -> bool:
        """Whether at least one solver refuted every negation."""
        return self.witness is None and bool(self.solvers)

    @property
    def agreed(self) -> bool:
        """Whether all solvers did."""
        return self.witness is None and len(self.solvers) == len(SOLVERS)


def cases(variables: tuple[Variable, ...]) -> Iterator[tuple[dict[str, Any], tuple[Condition, ...]]]:
    """Values that cover all variables: the small counts one by one, the rest as Terms with their conditions."""
    symbols: dict[str, Any] = dict(terms.variables([v.name for v in variables]))
    one = next(iter(symbols.values())) * 0 + 1
    done: list[tuple[dict[str, Any], tuple[Condition, ...]]] = [(symbols, ())]
    for variable in variables:
        if isinstance(variable, Count):
            name, start, split = variable.name, variable.start, variable.split
            fixed = [(v | {name: one * k}, c) for v, c in done for k in range(start, start + split)]
            done = fixed + [(v, (*c, symbols[name] >= start + split)) for v, c in done]
    yield from done


def prove(statement: Statement) -> Proof:
    """Ask every solver to refute the negation, case by case, path by path, goal by goal."""
    agreeing, questions = list(SOLVERS), 0
    for values, domain in cases(statement.variables):
        for path, (given, goals) in _runs(statement, values):
            known = _Known([*domain, *_undecided(given, values), *path.conditions])
            for goal in _undecided((*_nonzero(path), *goals), values):
                questions += 1
                for solver in list(agreeing):
                    reply = known.refute(goal, solver)
                    witness = _complete(statement, values, reply)
                    if witness is not None and fails_at(statement, witness):
                        return Proof((), witness, questions)
                    if reply.answer != "unsat":
                        agreeing.remove(solver)
    return Proof(tuple(agreeing), None, questions)


def is_inhabited(statement: Statement) -> bool:
    """Whether some values satisfy the conditions, so that the statement says something: z3's model, re-executed."""
    for values, domain in cases(statement.variables):
        counts = [v for v in statement.variables if isinstance(v, Count) and values[v.name].constant() is None]
        smallest = tuple(values[v.name] == v.start + v.split for v in counts)
        for path, (given, _) in _runs(statement, values):
            wanted = _Known([*domain, *_undecided(given, values), *path.conditions])
            witness = _complete(statement, values, wanted.model(list(_undecided(smallest, values))))
            if witness is not None and in_domain(statement, witness):
                return True
    return False


def _runs(statement: Statement, values: Values) -> Iterator[tuple[Path, Any]]:
    """Every path through the statement at these values, with its conditions and goals."""
    return terms.paths(lambda: (many(call(statement.given, values)), statement.goals(values)))


def in_domain(statement: Statement, values: Values) -> bool:
    """Whether the values are exact, counts are integers in range, and `given` holds."""
    for variable in statement.variables:
        value = Fraction(values[variable.name])
        if isinstance(variable, Count) and (value.denominator != 1 or value < variable.start):
            return False
    return all(bool(condition) for condition in many(call(statement.given, values)))


def fails_at(statement: Statement, values: Mapping[str, Rational]) -> bool:
    """Whether these rational values are in the domain and the statement is false there, in exact arithmetic.

    Where it divides by zero it is neither true nor false.
    """
    try:
        return _is_false(statement, {name: Fraction(value) for name, value in values.items()})
    except ZeroDivisionError:
        return False


def _is_false(statement: Statement, exact: Mapping[str, Fraction]) -> bool:
    if not in_domain(statement, exact):
        return False
    if isinstance(statement, AtMost):
        quantities, bound = statement.sides(exact)
        for side in (*quantities, bound):
            if not isinstance(side, int | Fraction):
                raise TypeError(f"not exact at {exact}: {side!r}")
    return not all(bool(goal) for goal in statement.goals(exact))


@dataclass
class _Known:
    """What is known along one path, and the signs of divisors that follow from it."""

    conditions: list[Condition]
    _signs: dict[Any, int] = field(default_factory=dict)

    def refute(self, goal: Condition, solver: str) -> Reply:
        """The solver's answer to: known conditions and the negation of the goal."""
        return ask(solver, [self._cleared(c) for c in [*self.conditions, goal.negated()]])

    def model(self, more: list[Condition]) -> Reply:
        """z3's answer to all that is known and more, with a model."""
        return ask("z3", [self._cleared(c) for c in [*self.conditions, *more]])

    def _cleared(self, condition: Condition) -> Polynomial:
        """The condition times its denominator, whose sign is proved where possible and else squared away."""
        polynomial, term = condition.term.numerator, condition.term
        for factor, times in term.factors.items():
            if times % 2 and condition.operator in ("<", "<="):
                sign = self._sign(factor)
                polynomial = polynomial * (factor if sign == 0 else sign)
        return Polynomial.of(polynomial, condition.operator)

    def _sign(self, factor: Any) -> int:
        """1 or -1 if both solvers derive that sign from the division-free conditions, else 0."""
        if factor not in self._signs:
            plain = [Polynomial.of(c.term.numerator, c.operator) for c in self.conditions if not c.term.factors]
            self._signs[factor] = 0
            for sign in (1, -1):
                asked = [*plain, Polynomial.of(sign * factor, "<=")]
                if all(ask(name, asked).answer == "unsat" for name in SOLVERS):
                    self._signs[factor] = sign
                    break
        return self._signs[factor]


def _nonzero(path: Path) -> list[Condition]:
    """Every divisor of the path differs from zero; plainly false for one that is zero."""
    return [divisor != 0 for divisor in path.divisors]


def _undecided(found: tuple[Any, ...], values: Values) -> Iterator[Condition]:
    """The conditions that are not plainly true; a plainly false one becomes 1 <= 0."""
    one = next(v for v in values.values() if isinstance(v, Term)) * 0 + 1
    for item in found:
        condition = item if isinstance(item, Condition) else one <= (1 if item else 0)
        value = condition.term.constant()
        if value is None or not terms.compare(value, condition.operator):
            yield condition


def _complete(statement: Statement, values: Values, reply: Reply) -> dict[str, Fraction] | None:
    """The solver's model with the values fixed by the case, and 0 for what it did not mention."""
    if reply.model is None:
        return None
    constants = {name: value.constant() for name, value in values.items() if isinstance(value, Term)}
    fixed = {name: constant for name, constant in constants.items() if constant is not None}
    return {v.name: Fraction(fixed.get(v.name, reply.model.get(v.name, Fraction(0)))) for v in statement.variables}
