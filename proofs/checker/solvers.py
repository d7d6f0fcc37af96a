"""Two independent solvers asked the same question: can these polynomial conditions hold together?

Both get the conditions as polynomials over the reals, already free of division. "unsat" is believed from either, and
the ledger names who said it; "sat" is never believed, its model is re-executed in rational arithmetic.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Literal

import cvc5
import z3
from sympy.polys.rings import PolyElement

from proofs.checker.terms import Operator

Answer = Literal["unsat", "sat", "unknown"]
TIME_LIMIT = 20
"""Seconds that a solver may spend on one question in one way; then its process is killed."""

Monomial = tuple[int, int, tuple[tuple[str, int], ...]]
"""Numerator and denominator of the coefficient, and (name, power) of each variable."""


@dataclass(frozen=True)
class Polynomial:
    """`sum of monomials operator 0`, as plain data."""

    monomials: tuple[Monomial, ...]
    operator: Operator

    @classmethod
    def of(cls, polynomial: PolyElement, operator: Operator) -> Polynomial:
        """From an element of a polynomial ring."""
        names = [str(symbol) for symbol in polynomial.ring.symbols]
        return cls(
            tuple(
                (int(c.numerator), int(c.denominator), tuple((n, k) for n, k in zip(names, powers, strict=True) if k))
                for powers, c in polynomial.terms()
            ),
            operator,
        )


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
        solver.add(_compared(_z3_sum(condition, symbols), condition.operator, z3.RealVal(0)))
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
        left = _cvc5_sum(condition, terms, symbols)
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

LISTENERS: list[Callable[[str, list[Polynomial]], None]] = []
"""Told of every question that a solver refutes, and of the solver."""


def ask(solver: str, conditions: list[Polynomial]) -> Reply:
    """The first decided answer of a solver, its ways tried in turn, in a process that is killed when time is up."""
    for way in range(len(SOLVERS[solver])):
        reply = _worker(solver).answer(way, conditions)
        if reply.answer == "unsat":
            for told in LISTENERS:
                told(solver, conditions)
        if reply.answer != "unknown":
            return reply
    return Reply("unknown")


class _Worker:
    """A process that answers one solver's questions one after the other."""

    def __init__(self, solver: str) -> None:
        self.connection, remote = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=_serve, args=(solver, remote), daemon=True)
        self.process.start()
        remote.close()

    def answer(self, way: int, conditions: list[Polynomial]) -> Reply:
        """The solver's reply, or unknown if time is up or the solver crashed."""
        self.connection.send((way, conditions))
        try:
            if self.connection.poll(TIME_LIMIT):
                reply: Reply = self.connection.recv()
                return reply
        except EOFError:
            pass
        self.process.kill()
        self.process.join()
        self.connection.close()
        return Reply("unknown")


_workers: dict[tuple[int, str], _Worker] = {}


def _worker(solver: str) -> _Worker:
    """This process's running worker for a solver."""
    key = os.getpid(), solver
    if key not in _workers or not _workers[key].process.is_alive():
        _workers[key] = _Worker(solver)
    return _workers[key]


def _serve(solver: str, connection: Connection) -> None:
    """Answer until the other end closes; an orphan that still computes is stopped by its limit of processor time."""
    while True:
        try:
            way, conditions = connection.recv()
        except EOFError:
            return
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + TIME_LIMIT + 5
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        connection.send(SOLVERS[solver][way](conditions))


def _compared(left: Any, operator: Operator, right: Any) -> Any:
    return {"<": left < right, "<=": left <= right, "==": left == right, "!=": left != right}[operator]


def _z3_sum(polynomial: Polynomial, symbols: dict[str, Any]) -> Any:
    total = z3.RealVal(0)
    for numerator, denominator, powers in polynomial.monomials:
        product = z3.Q(numerator, denominator)
        for name, power in powers:
            for _ in range(power):
                product = product * symbols.setdefault(name, z3.Real(name))
        total = total + product
    return total


def _cvc5_sum(polynomial: Polynomial, terms: Any, symbols: dict[str, Any]) -> Any:
    total = terms.mkReal(0)
    for numerator, denominator, powers in polynomial.monomials:
        product = terms.mkReal(numerator, denominator)
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
