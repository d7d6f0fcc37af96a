"""The questions that both ledgers rest on: what `refdp prove` asks of default parameters, and what claims ask."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import z3

from proofs.checker.evidence import Proved
from proofs.checker.solvers import LISTENERS, Polynomial
from proofs.tool.ledger import propositions
from refdp.prove.asking import Reply, Solvers, without_division
from refdp.prove.keep import cases, proved_now

_NAMES = re.compile(r"[?$]?\b[a-z]+\d+\b")
_OPERATORS = {"<": "<", "<=": "<=", "==": "=", "!=": "distinct"}


def of_reading(names: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Papers, relations and targets, each with the questions that were refuted first for it, in SMT-LIB."""
    asked = Recording()
    for name, relation, classes in cases(names):
        before = len(asked.refuted)
        proved_now(name, relation, classes, asked)
        yield f"{name} {relation.value} {'two classes' if classes else 'a regression'}", list(asked.refuted)[before:]


class Recording(Solvers):
    """Remembers what was refuted."""

    def __init__(self) -> None:
        super().__init__()
        self.refuted: dict[str, None] = {}

    def ask(self, conditions: Sequence[Any]) -> Reply:
        reply = super().ask(conditions)
        if reply.refuted:
            solver = z3.SolverFor("QF_NRA")
            solver.add(*without_division(conditions))
            self.refuted.setdefault(_renamed(solver.to_smt2()))
        return reply


def _renamed(text: str) -> str:
    """Names by the order of their occurrence, as the numbers in them are those of one process."""
    order: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        name = match.group()
        return order.setdefault(name, f"{name.rstrip('0123456789')}{len(order)}")

    return _NAMES.sub(renamed, text)


def of_claims(prefix: str = "") -> Iterator[tuple[str, list[str]]]:
    """Claims, each with the polynomial questions of its formulas that z3 refuted."""
    for name, proposition in propositions().items():
        if name.startswith(prefix):
            refuted: dict[str, None] = {}
            for evidence in proposition.evidence:
                if isinstance(evidence, Proved):
                    refuted |= dict.fromkeys(_asked_by(evidence))
            if refuted:
                yield name, list(refuted)


def _asked_by(evidence: Proved) -> list[str]:
    refuted: list[str] = []

    def told(solver: str, conditions: list[Polynomial]) -> None:
        if solver == "z3":
            refuted.append(text_of(conditions))

    LISTENERS.append(told)
    try:
        evidence.check()
    finally:
        LISTENERS.remove(told)
    return refuted


def text_of(conditions: Sequence[Polynomial]) -> str:
    """Polynomial conditions in SMT-LIB."""
    names = sorted({name for one in conditions for _, _, powers in one.monomials for name, _ in powers})
    declared = "".join(f"(declare-fun {name} () Real)\n" for name in names)
    return declared + "".join(f"(assert ({_OPERATORS[one.operator]} {_sum(one)} 0.0))\n" for one in conditions)


def _sum(polynomial: Polynomial) -> str:
    parts = [_product(*one) for one in polynomial.monomials] or ["0.0"]
    return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"


def _product(numerator: int, denominator: int, powers: tuple[tuple[str, int], ...]) -> str:
    size = f"(/ {abs(numerator)}.0 {denominator}.0)"
    factors = [size if numerator >= 0 else f"(- {size})", *(name for name, power in powers for _ in range(power))]
    return factors[0] if len(factors) == 1 else f"(* {' '.join(factors)})"
