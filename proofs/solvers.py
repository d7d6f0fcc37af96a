"""Two independent solvers asked the same question: can these polynomial conditions hold together?

Both get the conditions as polynomials over the reals, already free of division. "unsat" is believed from either, and
the ledger names who said it; "sat" is never believed, its model is re-executed in rational arithmetic.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Literal

import cvc5
import z3
from sympy.polys.rings import PolyElement

from proofs.terms import Operator

Answer = Literal["unsat", "sat", "unknown"]
TIME_LIMIT = 20
"""Seconds of wall clock that a solver may spend on one question in one way; then its process is killed."""


@dataclass(frozen=True)
class Polynomial:
    """`polynomial operator 0`."""

    polynomial: PolyElement
    operator: Operator


@dataclass(frozen=True)
class Reply:
    """What one solver said, with a rational model if it has one."""

    answer: Answer
    model: dict[str, Fraction] | None = None


def ask_z3(conditions: list[Polynomial]) -> Reply:
    """z3's answer, by its decision procedure for polynomials."""
    solver = z3.SolverFor("QF_NRA")
    symbols: dict[str, Any] = {}
    for condition in conditions:
        solver.add(_compared(_z3_sum(condition.polynomial, symbols), condition.operator, z3.RealVal(0)))
    answer = solver.check()
    if answer == z3.unsat:
        return Reply("unsat")
    return Reply("sat", _z3_model(solver.model(), symbols)) if answer == z3.sat else Reply("unknown")


def ask_cvc5(conditions: list[Polynomial], options: Mapping[str, str]) -> Reply:
    """cvc5's answer, with its options for nonlinear arithmetic."""
    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    for option, value in options.items():
        solver.setOption(option, value)
    solver.setLogic("QF_NRA")
    symbols: dict[str, Any] = {}
    kinds = {"<": cvc5.Kind.LT, "<=": cvc5.Kind.LEQ, "==": cvc5.Kind.EQUAL, "!=": cvc5.Kind.DISTINCT}
    for condition in conditions:
        left = _cvc5_sum(condition.polynomial, terms, symbols)
        solver.assertFormula(terms.mkTerm(kinds[condition.operator], left, terms.mkReal(0)))
    answer = solver.checkSat()
    if answer.isUnsat():
        return Reply("unsat")
    return Reply("sat") if answer.isSat() else Reply("unknown")


Ask = Callable[[list[Polynomial]], Reply]
SOLVERS: Mapping[str, tuple[Ask, ...]] = {
    "z3": (ask_z3,),
    "cvc5": (
        partial(ask_cvc5, options={"nl-ext": "none", "nl-cov": "true"}),
        partial(ask_cvc5, options={"nl-ext-tplanes": "true"}),
    ),
}
"""For each solver the ways to ask it, tried in turn until one decides."""


def ask(solver: str, conditions: list[Polynomial]) -> Reply:
    """The first decided answer of a solver, each way in a process of its own that is killed when time is up."""
    for way in SOLVERS[solver]:
        reply = _in_time(way, conditions)
        if reply.answer != "unknown":
            return reply
    return Reply("unknown")


def _in_time(way: Ask, conditions: list[Polynomial]) -> Reply:
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_answer, args=(way, conditions, sender))
    process.start()
    sender.close()
    try:
        reply: Reply = receiver.recv() if receiver.poll(TIME_LIMIT) else Reply("unknown")
    except EOFError:
        reply = Reply("unknown")
    process.kill()
    process.join()
    process.close()
    receiver.close()
    return reply


def _answer(way: Ask, conditions: list[Polynomial], sender: Connection) -> None:
    sender.send(way(conditions))


def _compared(left: Any, operator: Operator, right: Any) -> Any:
    return {"<": left < right, "<=": left <= right, "==": left == right, "!=": left != right}[operator]


def _monomials(polynomial: PolyElement) -> list[tuple[Any, list[tuple[str, int]]]]:
    names = [str(symbol) for symbol in polynomial.ring.symbols]
    return [
        (coefficient, [(name, power) for name, power in zip(names, powers, strict=True) if power])
        for powers, coefficient in polynomial.terms()
    ]


def _z3_sum(polynomial: PolyElement, symbols: dict[str, Any]) -> Any:
    total = z3.RealVal(0)
    for coefficient, powers in _monomials(polynomial):
        product = z3.Q(int(coefficient.numerator), int(coefficient.denominator))
        for name, power in powers:
            for _ in range(power):
                product = product * symbols.setdefault(name, z3.Real(name))
        total = total + product
    return total


def _cvc5_sum(polynomial: PolyElement, terms: Any, symbols: dict[str, Any]) -> Any:
    total = terms.mkReal(0)
    for coefficient, powers in _monomials(polynomial):
        product = terms.mkReal(int(coefficient.numerator), int(coefficient.denominator))
        for name, power in powers:
            if name not in symbols:
                symbols[name] = terms.mkConst(terms.getRealSort(), name)
            for _ in range(power):
                product = terms.mkTerm(cvc5.Kind.MULT, product, symbols[name])
        total = terms.mkTerm(cvc5.Kind.ADD, total, product)
    return total


def _z3_model(model: Any, symbols: dict[str, Any]) -> dict[str, Fraction]:
    found = {name: model.eval(symbol, model_completion=True) for name, symbol in symbols.items()}
    rational = {name: v if z3.is_rational_value(v) else v.approx(20) for name, v in found.items()}
    return {name: Fraction(v.numerator_as_long(), v.denominator_as_long()) for name, v in rational.items()}
