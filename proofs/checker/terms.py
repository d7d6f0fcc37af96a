"""Rational functions as numbers, so that refdp's own formulas run on them: the terms that solvers reason about.

A Term is a polynomial over a product of factors. Running ordinary Python code on Terms is symbolic execution: where
the code asks whether a comparison is true (`if`, `min`, `max`, `abs`), `paths` runs it once for each answer and notes
the answers as conditions of that path. Every divisor is kept, so that the checker can prove that it is never zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, SupportsInt

from sympy import QQ
from sympy.polys.rings import PolyElement, PolyRing

from refdp.data.numbers import absolute, maximum, minimum

Operator = Literal["<", "<=", "==", "!="]
_NEGATED: dict[Operator, tuple[Operator, int]] = {"<": ("<=", -1), "<=": ("<", -1), "==": ("!=", 1), "!=": ("==", 1)}


@dataclass(frozen=True)
class Condition:
    """`term operator 0`."""

    term: Term
    operator: Operator

    def negated(self) -> Condition:
        """The condition that holds exactly where this one does not."""
        operator, sign = _NEGATED[self.operator]
        return Condition(sign * self.term, operator)

    def key(self) -> tuple[Any, ...]:
        """Equal for the same question asked again."""
        return self.operator, self.term.numerator, frozenset(self.term.factors.items())

    def __bool__(self) -> bool:
        value = self.term.constant()
        if value is not None:
            return compare(value, self.operator)
        return _current_path().decide(self)


def compare(value: Fraction, operator: Operator) -> bool:
    """Whether `value operator 0`."""
    return {"<": value < 0, "<=": value <= 0, "==": value == 0, "!=": value != 0}[operator]


class Term:
    """numerator / (product of factor^multiplicity), polynomials with rational coefficients in one ring."""

    __slots__ = ("factors", "numerator")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, numerator: PolyElement, factors: dict[PolyElement, int] | None = None) -> None:
        self.factors: dict[PolyElement, int] = {}
        for factor, times in (factors or {}).items() if numerator else ():
            left = times
            while left and not (division := numerator.div([factor]))[1]:
                numerator, left = division[0][0], left - 1
            if left:
                self.factors[factor] = left
        self.numerator = numerator

    def constant(self) -> Fraction | None:
        """The value of a term without variables, None for any other."""
        if not self.factors and self.numerator.is_ground:
            return _fraction(self.numerator.coeff(1))
        return None

    def _lift(self, other: Any) -> Term:
        if isinstance(other, Term):
            return other
        return Term(self.numerator.ring(_rational(other)))

    def __add__(self, other: Any) -> Term:
        that = self._lift(other)
        common = {f: max(self.factors.get(f, 0), that.factors.get(f, 0)) for f in self.factors | that.factors}
        return Term(_scaled(self, common) + _scaled(that, common), common)

    def __mul__(self, other: Any) -> Term:
        that = self._lift(other)
        product = {f: self.factors.get(f, 0) + that.factors.get(f, 0) for f in self.factors | that.factors}
        return Term(self.numerator * that.numerator, product)

    def __truediv__(self, other: Any) -> Term:
        that = self._lift(other)
        value = that.constant()
        if value:
            return Term(self.numerator * (1 / _rational(value)), self.factors)
        _current_path().divisors.append(that)
        if value == 0:
            return that
        inverse = Term(_product(that.numerator.ring, that.factors))
        return self * Term(inverse.numerator, {that.numerator: 1})

    def __pow__(self, power: SupportsInt) -> Term:
        result = self._lift(1)
        for _ in range(abs(int(power))):
            result = result * self
        return result if int(power) >= 0 else 1 / result

    def __neg__(self) -> Term:
        return Term(-self.numerator, self.factors)

    def __sub__(self, other: Any) -> Term:
        return self + (-self._lift(other))

    def __rsub__(self, other: Any) -> Term:
        return self._lift(other) - self

    def __rtruediv__(self, other: Any) -> Term:
        return self._lift(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def __abs__(self) -> Term:
        return -self if self < 0 else self

    def __lt__(self, other: Any) -> Condition:
        return Condition(self - other, "<")

    def __le__(self, other: Any) -> Condition:
        return Condition(self - other, "<=")

    def __gt__(self, other: Any) -> Condition:
        return Condition(other - self, "<")

    def __ge__(self, other: Any) -> Condition:
        return Condition(other - self, "<=")

    def __eq__(self, other: Any) -> Condition:  # type: ignore[override]
        return Condition(self - other, "==")

    def __ne__(self, other: Any) -> Condition:  # type: ignore[override]
        return Condition(self - other, "!=")


class Path:
    """One run through code that branches on Terms: the answers given so far, and the divisors met."""

    def __init__(self, answers: list[bool]) -> None:
        self.answers = answers
        self.conditions: list[Condition] = []
        self.divisors: list[Term] = []
        self._answered: dict[Any, bool] = {}

    def decide(self, condition: Condition) -> bool:
        """The answer already given to this question, else the one planned for the next, True for a new one."""
        if condition.key() in self._answered:
            return self._answered[condition.key()]
        position = len(self.conditions)
        if position == len(self.answers):
            self.answers.append(True)
        answer = self.answers[position]
        self.conditions.append(condition if answer else condition.negated())
        self._answered |= {condition.key(): answer, condition.negated().key(): not answer}
        return answer


_paths: list[Path] = []


def _current_path() -> Path:
    if not _paths:
        raise TypeError("a comparison or division of symbolic terms outside of `paths`")
    return _paths[-1]


def paths(run: Callable[[], Any]) -> Iterator[tuple[Path, Any]]:
    """Every path through `run` with its result. The conditions of the paths together cover all cases."""
    waiting: list[list[bool]] = [[]]
    while waiting:
        planned = waiting.pop()
        path = Path(list(planned))
        _paths.append(path)
        try:
            result = run()
        finally:
            _paths.pop()
        waiting += [[*path.answers[:k], False] for k in range(len(planned), len(path.conditions))]
        yield path, result


def variables(names: list[str]) -> dict[str, Term]:
    """One Term for each name, in a common ring."""
    ring = PolyRing(names or ["unused"], QQ)
    return {str(symbol): Term(generator) for symbol, generator in zip(ring.symbols, ring.gens, strict=True)}


def _rational(number: Any) -> Any:
    if isinstance(number, bool) or not isinstance(number, int | Fraction):
        raise TypeError(f"{number!r} beside a symbolic term: formulas to be proved use integers and Fractions only")
    return QQ(number) if isinstance(number, int) else QQ(number.numerator, number.denominator)


def _fraction(number: Any) -> Fraction:
    return Fraction(int(number.numerator), int(number.denominator))


def _product(ring: PolyRing, factors: dict[PolyElement, int]) -> PolyElement:
    result = ring(1)
    for factor, times in factors.items():
        result = result * factor**times
    return result


def _scaled(term: Term, common: dict[PolyElement, int]) -> PolyElement:
    missing = {f: times - term.factors.get(f, 0) for f, times in common.items()}
    return term.numerator * _product(term.numerator.ring, missing)


def _least(*terms: Any) -> Term:
    return _lifted(min(terms), terms)


def _greatest(*terms: Any) -> Term:
    return _lifted(max(terms), terms)


def _lifted(chosen: Any, terms: tuple[Any, ...]) -> Term:
    """The chosen number as a term, also where it is an integer."""
    zero: Term = next(term for term in terms if isinstance(term, Term)) * 0
    return zero._lift(chosen)


minimum.register(Term, _least)
maximum.register(Term, _greatest)
absolute.register(Term, abs)
