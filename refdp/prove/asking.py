"""Two solvers asked the same question: can these conditions hold together? Needs the extra `proofs`.

Divisions are replaced by unknowns q with q * divisor = dividend, which is the same where no divisor is 0; that none is
has been asked before. Equal questions, up to the names of unknowns, are asked once.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import cvc5
import z3

Answer = Literal["unsat", "sat", "unknown"]
Value = Fraction | bool
Z3_LIMIT, CVC5_LIMIT = 15000, 20000
"""Milliseconds for one question, by the wall's clock: what is proved takes a tenth of it on an idle machine."""
_NAME = re.compile(r"\b[vb]\d+\b")
_numbers = itertools.count()


def real() -> Any:
    """A fresh real unknown."""
    return z3.Real(f"v{next(_numbers)}")


def truth() -> Any:
    """A fresh truth value."""
    return z3.Bool(f"b{next(_numbers)}")


def name_of(unknown: Any) -> str:
    """The name of an unknown."""
    return str(unknown.decl().name())


def number(value: Any) -> Any:
    """A number as a term, at its exact value; a term as it is."""
    if z3.is_expr(value):
        return value
    exact = Fraction(value) if isinstance(value, int | Fraction) else Fraction(float(value))
    return z3.Q(exact.numerator, exact.denominator)


_found: dict[int, tuple[Any, dict[str, Any]]] = {}


def unknowns(terms: Iterable[Any]) -> dict[str, Any]:
    """The unknowns in terms, by name, in order of occurrence."""
    found: dict[str, Any] = {}
    for term in terms:
        if term.get_id() not in _found:
            _found[term.get_id()] = term, _unknowns(term)  # a term that is kept keeps its number
        for name, one in _found[term.get_id()][1].items():
            found.setdefault(name, one)
    return found


def _unknowns(term: Any) -> dict[str, Any]:
    leaves = (one for one in parts_of([term]) if one.num_args() == 0 and one.decl().kind() == z3.Z3_OP_UNINTERPRETED)
    found: dict[str, Any] = {}
    for one in leaves:
        found.setdefault(name_of(one), one)
    return found


def parts_of(terms: Iterable[Any]) -> Iterator[Any]:
    """Terms and all that stands in them, each once, in order of occurrence."""
    seen, waiting = set[int](), list(terms)[::-1]
    while waiting:
        one = waiting.pop()
        if one.get_id() not in seen:
            seen.add(one.get_id())
            yield one
            waiting += one.children()[::-1]


def divisors(term: Any) -> list[Any]:
    """Every divisor in a term that is no number."""
    return [one.arg(1) for one in parts_of([term]) if z3.is_div(one) and not z3.is_rational_value(one.arg(1))]


_said: dict[int, tuple[Any, str]] = {}
"""Texts of terms, by their numbers, which a term that is kept keeps."""


def _text(term: Any) -> str:
    if term.get_id() not in _said:
        _said[term.get_id()] = term, term.sexpr()
    return _said[term.get_id()][1]


_whole: dict[int, Any] = {}
"""Terms without a division, in the same way."""


def without_division(terms: Sequence[Any]) -> list[Any]:
    """The same conditions with an unknown for every quotient."""
    known: dict[int, Any] = {}
    conditions: list[Any] = []
    keep: list[Any] = []

    def purified(term: Any) -> Any:
        number = term.get_id()
        if number in _whole:
            return term
        if number not in known:
            keep.append(term)
            children = term.children()
            parts = [purified(child) for child in children]
            if z3.is_div(term) and not z3.is_rational_value(parts[1]):
                known[number] = quotient = real()
                conditions.append(quotient * parts[1] == parts[0])
            elif all(part is child for part, child in zip(parts, children, strict=True)):
                _whole[number] = known[number] = term
            else:
                known[number] = term.decl()(*parts)
        return known[number]

    changed = [purified(term) for term in terms]
    return conditions + changed


@dataclass(frozen=True)
class Reply:
    """What the solvers said.

    values: of the unknowns, where the conditions hold together; holds: whether they do in rational arithmetic, which
    few want to know.
    """

    answers: tuple[tuple[str, Answer], ...]
    values: dict[str, Value] = field(default_factory=dict)
    holds: Callable[[], bool] = field(default=lambda: False, compare=False, repr=False)

    @property
    def exact(self) -> bool:
        """Whether values were found that hold in rational arithmetic, which they need not where a solver's are roots of
        polynomials."""
        return self.holds()

    @property
    def refuted(self) -> bool:
        """At least one solver proved that the conditions exclude each other, and none found values."""
        said = [answer for _, answer in self.answers]
        return "unsat" in said and "sat" not in said


class Solvers:
    """Asks z3 and cvc5, remembers, and counts."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[Reply, list[str]]] = {}
        self._possible: dict[tuple[str, ...], bool] = {}
        self.questions = 0
        self.counts = {name: {"unsat": 0, "sat": 0, "unknown": 0} for name in ("z3", "cvc5")}
        self.single = 0

    def possible(self, conditions: Sequence[Any]) -> bool:
        """Whether z3 finds values for which the conditions hold together."""
        key = _renamed(tuple(map(_text, conditions)))
        if key not in self._possible:
            solver = z3.SolverFor("QF_NRA")
            solver.set("timeout", Z3_LIMIT)
            solver.add(*without_division(conditions))
            self._possible[key] = solver.check() == z3.sat
        return self._possible[key]

    def ask(self, conditions: Sequence[Any]) -> Reply:
        """Whether the conditions can hold together."""
        texts = tuple(map(_text, conditions))
        key = _renamed(texts)
        if key not in self._known:
            reply = _asked(conditions)
            self.questions += 1
            for name, answer in reply.answers:
                self.counts[name][answer] += 1
            self.single += reply.refuted and len({answer for _, answer in reply.answers}) > 1
            self._known[key] = reply, _names(texts)
        reply, asked = self._known[key]
        names = dict(zip(asked, _names(texts), strict=True))
        return replace(reply, values={names.get(name, name): value for name, value in reply.values.items()})


def _names(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for text in texts for name in _NAME.findall(text)))


def _renamed(texts: tuple[str, ...]) -> tuple[str, ...]:
    order = {name: f"{name[0]}{place}" for place, name in enumerate(_names(texts))}
    return tuple(_NAME.sub(lambda match: order[match.group()], text) for text in texts)


def _asked(conditions: Sequence[Any]) -> Reply:
    """z3's answer, and cvc5's unless z3 found values, which are put into the conditions instead."""
    solver = z3.SolverFor("QF_NRA")
    solver.set("timeout", Z3_LIMIT)
    solver.add(*without_division(conditions))
    answer = str(solver.check())
    if answer != "sat":
        return Reply((("z3", answer), ("cvc5", _cvc5(solver.to_smt2()))))  # type: ignore[arg-type]
    found = solver.model()
    values = {name: _value(found.eval(one, model_completion=True)) for name, one in unknowns(conditions).items()}
    return Reply((("z3", "sat"),), values, lambda: evaluated(z3.And(*conditions), values) is True)


def _value(term: Any) -> Value:
    if z3.is_bool(term):
        return bool(z3.is_true(term))
    rational = term if z3.is_rational_value(term) else term.approx(30)
    return Fraction(rational.numerator_as_long(), rational.denominator_as_long())


_EXACT: dict[int, Callable[..., Any]] = {
    z3.Z3_OP_ADD: lambda *parts: sum(parts),
    z3.Z3_OP_SUB: lambda first, *rest: first - sum(rest),
    z3.Z3_OP_UMINUS: operator.neg,
    z3.Z3_OP_MUL: lambda *parts: math.prod(parts),
    z3.Z3_OP_DIV: lambda a, b: a / b if b else None,
    z3.Z3_OP_LE: operator.le,
    z3.Z3_OP_LT: operator.lt,
    z3.Z3_OP_GE: operator.ge,
    z3.Z3_OP_GT: operator.gt,
    z3.Z3_OP_EQ: operator.eq,
    z3.Z3_OP_DISTINCT: operator.ne,
    z3.Z3_OP_AND: lambda *parts: all(parts),
    z3.Z3_OP_OR: lambda *parts: any(parts),
    z3.Z3_OP_NOT: operator.not_,
    z3.Z3_OP_IMPLIES: lambda a, b: not a or b,
    z3.Z3_OP_ITE: lambda c, a, b: a if c else b,
}


def evaluated(term: Any, values: Mapping[str, Value]) -> Value | None:
    """A term at these values in rational arithmetic, independently of the solver; None where a divisor is 0."""
    known: dict[int, Any] = {}

    def found(one: Any) -> Any:
        if one.get_id() not in known:
            kind = one.decl().kind()
            if z3.is_rational_value(one):
                known[one.get_id()] = _value(one)
            elif kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
                known[one.get_id()] = kind == z3.Z3_OP_TRUE
            elif kind == z3.Z3_OP_UNINTERPRETED:
                known[one.get_id()] = values[name_of(one)]
            else:
                parts = [found(part) for part in one.children()]
                known[one.get_id()] = None if None in parts else _EXACT[kind](*parts)
        return known[one.get_id()]

    result: Value | None = found(term)
    return result


def _cvc5(text: str) -> Answer:
    """cvc5's answer to a question in SMT-LIB."""
    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    solver.setOption("tlimit-per", str(CVC5_LIMIT))
    solver.setOption("nl-cov", "true")
    solver.setLogic("QF_NRA")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text.replace("(check-sat)", ""), "question")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, symbols)
    answer = solver.checkSat()
    return "unsat" if answer.isUnsat() else "sat" if answer.isSat() else "unknown"
