"""What a piece of evidence checks, as text: SMT-LIB for inequalities, expressions for identities, a digest for code.

The text is made by running the statement on numbers that write down what is done to them, refdp's formulas included,
so that a condition more, a narrower box or another constant is another text. It is stored and hashed with the claim.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from proofs.checker.statements import AtMost, Count, ForAll, call, many
from proofs.checker.tightness import Tight
from refdp.data import numbers as generic
from refdp.ledger.fingerprint import tree_digest

_paths: list[_Path] = []


class Written:
    """A number that is the text of how it was made."""

    __slots__ = ("text",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        self.text = text

    def __add__(self, other: Any) -> Written:
        return _made("+", self, other)

    def __radd__(self, other: Any) -> Written:
        return _made("+", other, self)

    def __sub__(self, other: Any) -> Written:
        return _made("-", self, other)

    def __rsub__(self, other: Any) -> Written:
        return _made("-", other, self)

    def __mul__(self, other: Any) -> Written:
        return _made("*", self, other)

    def __rmul__(self, other: Any) -> Written:
        return _made("*", other, self)

    def __truediv__(self, other: Any) -> Written:
        return _made("/", self, other)

    def __rtruediv__(self, other: Any) -> Written:
        return _made("/", other, self)

    def __pow__(self, power: Any) -> Written:
        return _made("^", self, power)

    def __rpow__(self, base: Any) -> Written:
        return _made("^", base, self)

    def __neg__(self) -> Written:
        return _made("-", self)

    def __abs__(self) -> Written:
        return _made("abs", self)

    def __lt__(self, other: Any) -> Asked:
        return Asked(_made("<", self, other).text)

    def __le__(self, other: Any) -> Asked:
        return Asked(_made("<=", self, other).text)

    def __gt__(self, other: Any) -> Asked:
        return Asked(_made(">", self, other).text)

    def __ge__(self, other: Any) -> Asked:
        return Asked(_made(">=", self, other).text)

    def __eq__(self, other: Any) -> Asked:  # type: ignore[override]
        return Asked(_made("=", self, other).text)

    def __ne__(self, other: Any) -> Asked:  # type: ignore[override]
        return Asked(_made("distinct", self, other).text)


class Asked:
    """A comparison as text. Code that branches on it is run once for each answer."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __bool__(self) -> bool:
        if not _paths:
            raise TypeError("a written comparison outside of a run")
        return _paths[-1].decide(self.text)


class _Path:
    """One run: the answers planned and given."""

    def __init__(self, planned: list[bool]) -> None:
        self.answers = planned
        self.given: dict[str, bool] = {}

    def decide(self, text: str) -> bool:
        if text not in self.given:
            if len(self.given) == len(self.answers):
                self.answers.append(True)
            self.given[text] = self.answers[len(self.given)]
        return self.given[text]

    def conditions(self) -> list[str]:
        return [text if answer else f"(not {text})" for text, answer in self.given.items()]


def _runs(run: Callable[[], Any]) -> Iterator[tuple[list[str], Any]]:
    waiting: list[list[bool]] = [[]]
    while waiting:
        planned = waiting.pop()
        path = _Path(list(planned))
        _paths.append(path)
        try:
            result = run()
        finally:
            _paths.pop()
        waiting += [[*path.answers[:k], False] for k in range(len(planned), len(path.given))]
        yield path.conditions(), result


def statement_text(statement: AtMost | ForAll) -> str:
    """An SMT-LIB term: for all values with all conditions, all goals; one implication for each way through the code.

    abs, min, max, exp, log, sqrt and ^ stand for themselves.
    """
    values = {v.name: Written(v.name) for v in statement.variables}
    kinds = " ".join(f"({v.name} {'Int' if isinstance(v, Count) else 'Real'})" for v in statement.variables)
    starts = [f"(>= {v.name} {v.start})" for v in statement.variables if isinstance(v, Count)]

    def run() -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return many(call(statement.given, values)), statement.goals(values)

    ways = [
        f"(=> {_all([*starts, *map(_shown, given), *conditions])} {_all([_shown(goal) for goal in goals])})"
        for conditions, (given, goals) in _runs(run)
    ]
    return f"(forall ({kinds}) {_all(ways)})"


def tight_text(statement: AtMost, tight: Tight) -> str:
    """Where a bound is reached, and for which values of the free variables."""
    values = {v.name: Written(v.name) for v in statement.variables} | {"k": Written("k")}
    ways = [
        f"(=> {_all([*map(_shown, given), *conditions])} {_all([f'(= {n} {_shown(v)})' for n, v in at.items()])})"
        for conditions, (given, at) in _runs(lambda: (many(call(tight.given, values)), call(tight.at, values)))
    ]
    return f"(reached {'as k grows ' if tight.limit else ''}{_all(ways)})"


def enclosed_text(box: Mapping[str, tuple[Any, Any]], quantity: Callable[..., Any], bound: Callable[..., Any]) -> str:
    """A strict inequality on a box."""
    values = {name: Written(name) for name in box}
    inside = _all([f"(<= {_shown(low)} {name} {_shown(high)})" for name, (low, high) in box.items()])
    ways = [
        f"(=> {_all([inside, *conditions])} (< {_shown(left)} {_shown(right)}))"
        for conditions, (left, right) in _runs(lambda: (call(quantity, values), call(bound, values)))
    ]
    return f"(forall ({' '.join(f'({name} Real)' for name in box)}) {_all(ways)})"


def expression_text(symbols: Mapping[str, Any], left: Callable[..., Any], right: Callable[..., Any]) -> str:
    """An identity between expressions of symbols, with what is known of them."""
    known = " ".join(f"({name} {'>= 0 integer' if s.is_integer else '> 0' if s.is_positive else 'real'})"
                     for name, s in symbols.items())  # fmt: skip
    written = {name: Written(name) for name in symbols}
    try:
        sides = _shown(call(left, written)), _shown(call(right, written))
    except (TypeError, ValueError, AttributeError):  # sympy's own functions take expressions only
        sides = str(call(left, symbols)), str(call(right, symbols))
    return f"(identity ({known}) {sides[0]} = {sides[1]})"


def code_text(*functions: Callable[..., Any]) -> str:
    """A digest of code of this package, with everything of the package that it names and the values it closes over."""
    found: dict[str, str] = {}
    waiting: list[Any] = list(functions)
    while waiting:
        function = waiting.pop()
        if isinstance(function, FunctionType) and function.__module__.startswith("proofs"):
            tree = _source(function.__code__)
            key = f"{function.__qualname__}:{tree_digest(tree)}"  # no module: a claim survives a move
            if key not in found:
                cells = dict(zip(function.__code__.co_freevars, (c.cell_contents for c in function.__closure__ or ())))
                found[key] = repr(sorted((n, repr(v)) for n, v in cells.items() if not callable(v)))
                waiting += cells.values()
                named = {n: function.__globals__.get(n) for n in sorted(_names(tree))}
                plain = (int, str, Fraction, tuple, range)
                waiting += named.values()
                found |= {f"{key}:{n}": repr(value) for n, value in named.items() if isinstance(value, plain)}
    text = "\n".join(f"{name} {value}" for name, value in sorted(found.items()))
    return f"(code {hashlib.sha256(text.encode()).hexdigest()[:16]})"


def digest(formulas: tuple[str, ...]) -> str:
    """16 hexadecimal digits of all formulas of a claim; empty without any."""
    return hashlib.sha256("\n".join(formulas).encode()).hexdigest()[:16] if formulas else ""


@cache
def _tree(path: str) -> ast.Module:
    with open(path, encoding="utf-8") as file:
        return ast.parse(file.read())


def _source(code: CodeType) -> ast.AST:
    """The syntax tree of a function, or of the innermost lambda whose body ends where its code does."""
    nodes = list(ast.walk(_tree(code.co_filename)))
    if code.co_name != "<lambda>":
        named = [n for n in nodes if isinstance(n, ast.FunctionDef) and n.name == code.co_name]
        return min(named, key=lambda node: abs(node.lineno - code.co_firstlineno))
    last = [place for place in code.co_positions() if None not in place and any(place[2:])][-1]
    line, column = last[0] or 0, last[2] or 0
    fitting = [
        node
        for node in nodes
        if isinstance(node, ast.Lambda)
        and (node.lineno, node.col_offset) <= (line, column) <= (node.end_lineno or 0, node.end_col_offset or 0)
    ]
    return max(fitting, key=lambda node: (node.lineno, node.col_offset))


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _made(operator: str, *operands: Any) -> Written:
    return Written(f"({operator} {' '.join(_shown(operand) for operand in operands)})")


def _shown(value: Any) -> str:
    if isinstance(value, Written | Asked):
        return value.text
    if isinstance(value, bool):
        return str(value).lower()
    number = Fraction(value)
    size = (
        str(abs(number.numerator)) if number.denominator == 1 else f"(/ {abs(number.numerator)} {number.denominator})"
    )
    return f"(- {size})" if number < 0 else size


def _all(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})" if parts else "true"


def _writes(name: str) -> Callable[..., Written]:
    return lambda *operands: _made(name, *operands)


for _generic, _name in ((generic.minimum, "min"), (generic.maximum, "max"), (generic.absolute, "abs"),
                        (generic.exp, "exp"), (generic.log, "log"), (generic.sqrt, "sqrt")):  # fmt: skip
    _generic.register(Written, _writes(_name))
