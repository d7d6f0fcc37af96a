"""Solver terms of numpy's functions, and what a reading raises where it can go no further."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import z3

from refdp.prove.asking import number


class Leak(Exception):
    """A private value would reach something that is not a release. raised: those of this reading, handled or not."""

    raised: ClassVar[list[Leak]] = []

    def __init__(self, what: str) -> None:
        super().__init__(what)
        Leak.raised.append(self)


class Unmodelled(Exception):
    """The reading cannot follow this step, so that nothing is proved. raised: as of leaks."""

    raised: ClassVar[list[Unmodelled]] = []

    def __init__(self, what: str) -> None:
        super().__init__(what)
        Unmodelled.raised.append(self)


def _power(base: Any, exponent: Any) -> Any:
    if not (z3.is_rational_value(exponent) and exponent.denominator_as_long() == 1 and exponent.as_long() == 2):
        raise Unmodelled("a power other than a square, which need not have the digits of a product")
    return base * base


TERMS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negative": lambda a: -a,
    "absolute": lambda a: z3.If(a < 0, -a, a),
    "minimum": lambda a, b: z3.If(a <= b, a, b),
    "maximum": lambda a, b: z3.If(a >= b, a, b),
    "square": lambda a: a * a,
    "power": _power,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "logical_and": z3.And,
    "logical_or": z3.Or,
    "logical_not": z3.Not,
    "bitwise_and": z3.And,
    "bitwise_or": z3.Or,
    "invert": z3.Not,
    "where": z3.If,
}
"""numpy's functions, number by number."""
ARITHMETIC = {"add", "subtract", "multiply", "divide", "negative", "absolute", "minimum", "maximum", "square", "power"}


def operated(name: str, terms: Sequence[Any]) -> Any:
    """A function of terms; truth values count 0 and 1 in arithmetic.

    Errors: Unmodelled for a function that no solver term is known of.
    """
    if name not in TERMS:
        raise Unmodelled(f"numpy's {name} of private values")
    if name in ARITHMETIC and all(z3.is_bool(term) for term in terms):
        raise Unmodelled("arithmetic of truth values alone, which numpy does in its own way")
    if name in ARITHMETIC:
        terms = [z3.If(term, number(1), number(0)) if z3.is_bool(term) else term for term in terms]
    return TERMS[name](*terms)
