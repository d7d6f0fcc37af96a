"""Showing that a bound is the supremum: attained at a place, or approached along a family and never attained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from proofs.checker.statements import AtMost, Count, ForAll, Rational, call, fails_at, in_domain, many, nothing, prove
from proofs.checker.symbols import limit, symbols, vanishes
from proofs.checker.terms import Term

LESS = Fraction(999, 1000)
"""A tight bound times this must be refuted."""


@dataclass(frozen=True)
class Tight:
    """The bound of an AtMost is its supremum, for all values of the variables that `at` does not set.

    constant, where: the supremum and the place, in words.
    at: the other variables as a function of these (and, with limit=True, of k): the place where quantity = bound, or a
      family along which the quantity tends to the bound as the integer k grows.
    given: which values of the free variables are meant.
    near: one rational point at which a bound lower by one part in a thousand fails.
    """

    constant: str
    where: str
    at: Callable[..., dict[str, Any]]
    near: Mapping[str, Rational]
    given: Callable[..., Any] = nothing
    limit: bool = False

    def words(self) -> str:
        """The constant with the place."""
        return f"{self.constant}, {'not attained, approached' if self.limit else 'attained'} {self.where}"


def lowered(statement: AtMost) -> AtMost:
    """The statement with a bound one part in a thousand lower."""
    return replace(statement, strict=False, scale=statement.scale * LESS)


def is_reached(statement: AtMost, tight: Tight) -> bool:
    """Whether the place or the family checks for all free variables, and a lower bound fails near it."""
    if not fails_at(lowered(statement), tight.near) or not _inside_and_attained(statement, tight):
        return False
    return not tight.limit or _tends(statement, tight)


def is_tight(statement: AtMost, tight: Tight) -> bool:
    """Whether the bound is reached, and, if only as a limit, never attained."""
    return is_reached(statement, tight) and (not tight.limit or prove(replace(statement, strict=True)).agreed)


def _inside_and_attained(statement: AtMost, tight: Tight) -> bool:
    """Both solvers: for all free variables the place is in the domain, and, without a limit, the bound is reached."""
    near = {name: Fraction(value) for name, value in tight.near.items()}
    fixed = call(tight.at, {**near, "k": Fraction(1000)})
    free = tuple(v for v in statement.variables if v.name not in fixed)
    free += (Count("k", start=1, split=0),) if tight.limit else ()
    inside = in_domain(statement, {**near, **fixed}) and all(many(call(tight.given, near)))

    def holds(**values: Any) -> tuple[Any, ...]:
        filled = {**values, **call(tight.at, values)}
        reached = () if tight.limit else (_reached(statement, filled),)
        return (*_counts(statement, filled), *many(call(statement.given, filled)), *reached)

    proof = prove(ForAll(free, holds, tight.given))
    return inside and proof.agreed


def _reached(statement: AtMost, values: Mapping[str, Any]) -> Any:
    quantities, bound = statement.sides(values)
    return max(quantities) >= bound


def _counts(statement: AtMost, values: Mapping[str, Any]) -> list[Any]:
    """Every count is an integer for all counts it is made of, and not below its start."""
    found: list[Any] = []
    integers = {v.name for v in statement.variables if isinstance(v, Count)} | {"k"}
    for variable in statement.variables:
        if isinstance(variable, Count):
            value = values[variable.name]
            found += [_is_integral(value, integers), value >= variable.start]
    return found


def _is_integral(value: Any, integers: set[str]) -> bool:
    """Whether a term is a polynomial in counts with integer coefficients."""
    if not isinstance(value, Term):
        return Fraction(value).denominator == 1
    names = [str(symbol) for symbol in value.numerator.ring.symbols]
    used = {name for powers, _ in value.numerator.terms() for name, power in zip(names, powers, strict=True) if power}
    whole = all(coefficient.denominator == 1 for _, coefficient in value.numerator.terms())
    return not value.factors and whole and used <= integers


def _tends(statement: AtMost, tight: Tight) -> bool:
    """sympy: a quantity - bound tends to 0 along the family, for all positive free variables."""
    values = symbols(" ".join([*(v.name for v in statement.variables), "k"]), positive=True)
    quantities, bound = statement.sides({**values, **call(tight.at, values)})
    return any(vanishes(limit(quantity - bound, values["k"])) for quantity in quantities)
