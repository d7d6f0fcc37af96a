"""What expressions mean: polynomials with rational coefficients, and formulas over their signs, in a normal form.

A polynomial is a mapping from monomials to coefficients; a monomial is a sorted tuple of atoms, an atom a name or an
if-then-else of polynomials. `abs` is one, and a purified term is the term itself. A comparison is a statement of the
sign of a polynomial whose leading coefficient is 1, so that `a <= b`, `2 b >= 2 a` and `not (a > b)` are one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from proofs.cpc.expressions import Raw, rational, read

Monomial = tuple[Any, ...]
Formula = Any
"""True, False, or a `Sign`, `Truth` or `Combined`."""
_FLIPPED = str.maketrans("-+", "+-")
_SIGNS = {"<": "-", "<=": "-0", ">": "+", ">=": "0+", "=": "0", "distinct": "-+"}


@dataclass(frozen=True)
class Polynomial:
    """terms: (monomial, coefficient), sorted, none 0."""

    terms: tuple[tuple[Monomial, Fraction], ...]

    @classmethod
    def of(cls, terms: Mapping[Monomial, Fraction]) -> Polynomial:
        return cls(tuple(sorted(((m, c) for m, c in terms.items() if c), key=_order)))

    @cached_property
    def hashed(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self.hashed

    def plus(self, other: Polynomial, times: Fraction = Fraction(1)) -> Polynomial:
        """self + times * other."""
        terms = dict(self.terms)
        for monomial, coefficient in other.terms:
            terms[monomial] = terms.get(monomial, Fraction(0)) + times * coefficient
        return Polynomial.of(terms)

    def scaled(self, by: Fraction) -> Polynomial:
        return Polynomial.of({monomial: by * coefficient for monomial, coefficient in self.terms})

    def times(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, Fraction] = {}
        for one, a in self.terms:
            for two, b in other.terms:
                both = tuple(sorted((*one, *two), key=_text))
                terms[both] = terms.get(both, Fraction(0)) + a * b
        return Polynomial.of(terms)

    @property
    def constant(self) -> Fraction | None:
        """The number that it is, None if it has unknowns."""
        if not self.terms:
            return Fraction(0)
        return self.terms[0][1] if len(self.terms) == 1 and self.terms[0][0] == () else None


@dataclass(frozen=True)
class Chosen:
    """then if the condition holds, otherwise the other: an atom of polynomials."""

    condition: Formula
    then: Polynomial
    other: Polynomial

    @cached_property
    def text(self) -> str:
        return repr((self.condition, self.then, self.other))

    @cached_property
    def hashed(self) -> int:
        return hash((self.condition, self.then, self.other))

    def __hash__(self) -> int:
        return self.hashed


@dataclass(frozen=True)
class Sign:
    """A polynomial, its leading coefficient 1, has one of these signs ("-", "0", "+"; one or two of them)."""

    polynomial: Polynomial
    signs: str


@dataclass(frozen=True)
class Truth:
    """A Boolean unknown, or that it is false."""

    name: str
    holds: bool = True


@dataclass(frozen=True)
class Combined:
    """operator: "and", "or" or "iff" (of two)."""

    operator: str
    parts: tuple[Formula, ...]


Value = Polynomial | Formula
ZERO = Polynomial(())


def number(value: Fraction) -> Polynomial:
    return Polynomial.of({(): value})


def compared(polynomial: Polynomial, signs: str) -> Formula:
    """That a polynomial has one of these signs."""
    if (constant := polynomial.constant) is not None:
        return ("-" if constant < 0 else "+" if constant else "0") in signs
    leading = polynomial.terms[-1][1]
    flipped = signs.translate(_FLIPPED) if leading < 0 else signs
    return Sign(polynomial.scaled(1 / leading), "".join(s for s in "-0+" if s in flipped))


def negated(formula: Formula) -> Formula:
    """Its negation, pushed to the signs."""
    if isinstance(formula, bool):
        return not formula
    if isinstance(formula, Sign):
        return Sign(formula.polynomial, "".join(s for s in "-0+" if s not in formula.signs))
    if isinstance(formula, Truth):
        return Truth(formula.name, not formula.holds)
    if formula.operator == "iff":
        return Combined("iff", (formula.parts[0], negated(formula.parts[1])))
    return combined("or" if formula.operator == "and" else "and", [negated(part) for part in formula.parts])


def combined(operator: str, parts: list[Formula]) -> Formula:
    """And or or of parts, flat, without what decides nothing."""
    whole = operator == "and"
    flat: dict[Formula, None] = {}
    for part in parts:
        if part is (not whole):
            return not whole
        if part is not whole:
            inner = part.parts if isinstance(part, Combined) and part.operator == operator else (part,)
            flat |= dict.fromkeys(inner)
    return whole if not flat else next(iter(flat)) if len(flat) == 1 else Combined(operator, tuple(flat))


def same(one: Formula, two: Formula) -> Formula:
    """One exactly if the other."""
    for a, b in ((one, two), (two, one)):
        if isinstance(a, bool):
            return b if a else negated(b)
    return True if one == two else False if one == negated(two) else Combined("iff", (one, two))


class Meaning:
    """What symbols mean in one question and its proof. Errors: ValueError for what is not known."""

    def __init__(self) -> None:
        self.sorts: dict[str, str] = {}
        self.macros: dict[str, Raw] = {}
        self._known: dict[str, Value] = {}
        self._used: set[str] = set()

    def declare(self, name: str, sort: Raw) -> None:
        """An unknown, Real or Bool. A name is declared once."""
        if sort not in ("Real", "Bool") or self.sorts.get(name, sort) != sort or name in self.macros:
            raise ValueError(f"{name}: {sort}")
        self.sorts[name] = str(sort)

    def define(self, name: str, body: Raw) -> None:
        """An abbreviation of what was declared or defined before. Errors: ValueError if the name was there before."""
        self._used |= set(_symbols(body))
        if name in self.sorts or name in self.macros or name in self._used:
            raise ValueError(f"{name} is defined again, or from itself")
        self.macros[name] = body

    def expanded(self, raw: Raw) -> Raw:
        """An expression whose head is no abbreviation."""
        while isinstance(raw, str) and raw in self.macros:
            raw = self.macros[raw]
        return raw

    def value(self, raw: Raw, local: Mapping[str, Value] | None = None) -> Value:
        """The polynomial or formula that an expression means."""
        if isinstance(raw, str):
            if local and raw in local:
                return local[raw]
            if raw not in self._known:
                self._known[raw] = self.value(self.macros[raw]) if raw in self.macros else self._symbol(raw)
            return self._known[raw]
        head, *rest = raw
        if head == "let":
            bound = {str(pair[0]): self.value(pair[1], local) for pair in rest[0]}
            return self.value(rest[1], {**(local or {}), **bound})
        return self._applied(str(head), [self.value(one, local) for one in rest])

    def formula(self, raw: Raw) -> Formula:
        """The formula that an expression means."""
        value = self.value(raw)
        if isinstance(value, Polynomial):
            raise ValueError("a number where a formula is due")
        return value

    def _symbol(self, name: str) -> Value:
        if name in ("true", "false"):
            return name == "true"
        if (exact := rational(name)) is not None:
            return number(exact)
        if name not in self.sorts:
            raise ValueError(f"unknown symbol {name}")
        return Truth(name) if self.sorts[name] == "Bool" else Polynomial.of({(name,): Fraction(1)})

    def _applied(self, head: str, parts: list[Value]) -> Value:
        if head == "@purify" and len(parts) == 1:
            return parts[0]
        if head == "ite":
            return _if(*parts)
        if head in ("=", "distinct") and len(parts) == 2 and not isinstance(parts[0], Polynomial):
            both = same(_truth(parts[0]), _truth(parts[1]))
            return both if head == "=" else negated(both)
        if head in _SIGNS and len(parts) == 2:
            return compared(_real(parts[0]).plus(_real(parts[1]), Fraction(-1)), _SIGNS[head])
        if head in _LOGIC:
            return _LOGIC[head](*(_truth(part) for part in parts))
        if head in _ARITHMETIC:
            return _ARITHMETIC[head](*(_real(part) for part in parts))
        raise ValueError(f"unknown operator {head}")


def assertions(meaning: Meaning, question: str) -> list[Formula]:
    """What a question in SMT-LIB asserts. Errors: ValueError for commands other than declarations and assertions."""
    asserted = []
    for command in read(question):
        if command[0] == "assert":
            asserted.append(meaning.formula(command[1]))
        elif command[0] == "declare-fun" and command[2] == ():
            meaning.declare(str(command[1]), command[3])
        elif command[0] not in ("set-info", "set-logic", "check-sat"):
            raise ValueError(f"unknown command {command[0]}")
    return asserted


def _symbols(raw: Raw) -> Iterator[str]:
    if isinstance(raw, str):
        yield raw
    else:
        for part in raw:
            yield from _symbols(part)


def _if(condition: Value, then: Value, other: Value) -> Value:
    condition = _truth(condition)
    if isinstance(condition, bool):
        return then if condition else other
    if not isinstance(then, Polynomial):
        yes, no = [negated(condition), _truth(then)], [condition, _truth(other)]
        return combined("and", [combined("or", yes), combined("or", no)])
    return then if then == other else Polynomial.of({(Chosen(condition, then, _real(other)),): Fraction(1)})


def _sum(*parts: Polynomial) -> Polynomial:
    total = ZERO
    for part in parts:
        total = total.plus(part)
    return total


def _product(*parts: Polynomial) -> Polynomial:
    total = number(Fraction(1))
    for part in parts:
        total = total.times(part)
    return total


def _difference(first: Polynomial, *rest: Polynomial) -> Polynomial:
    return first.plus(_sum(*rest), Fraction(-1)) if rest else first.scaled(Fraction(-1))


def _quotient(first: Polynomial, *rest: Polynomial) -> Polynomial:
    for divisor in rest:
        if not divisor.constant:
            raise ValueError("a division by an unknown or by 0")
        first = first.scaled(1 / divisor.constant)
    return first


def _absolute(one: Polynomial) -> Polynomial:
    if (constant := one.constant) is not None:
        return number(abs(constant))
    chosen: Polynomial = _if(compared(one, "0+"), one, one.scaled(Fraction(-1)))
    return chosen


def _implies(*parts: Formula) -> Formula:
    *given, then = parts
    return combined("or", [*map(negated, given), then])


_ARITHMETIC: Mapping[str, Callable[..., Polynomial]] = {
    "+": _sum,
    "*": _product,
    "-": _difference,
    "/": _quotient,
    "abs": _absolute,
    "to_real": _sum,
}
_LOGIC: Mapping[str, Callable[..., Formula]] = {
    "and": lambda *parts: combined("and", list(parts)),
    "or": lambda *parts: combined("or", list(parts)),
    "not": lambda one: negated(one),
    "xor": lambda one, two: negated(same(one, two)),
    "=>": _implies,
}


def _real(value: Value) -> Polynomial:
    if not isinstance(value, Polynomial):
        raise ValueError("a formula where a number is due")
    return value


def _truth(value: Value) -> Formula:
    if isinstance(value, Polynomial):
        raise ValueError("a number where a formula is due")
    return value


def _text(atom: Any) -> str:
    return atom.text if isinstance(atom, Chosen) else str(atom)


def _order(term: tuple[Monomial, Fraction]) -> tuple[int, tuple[str, ...]]:
    return len(term[0]), tuple(map(_text, term[0]))
