"""Formulas whose float64 value could be far from the real one: numbers of very different sizes, added or multiplied.

The solvers are asked about real numbers, and float64 on exact sums stands for them. That is no more than rounding where
the numbers of a formula are of like sizes. It is not where a large number is added and taken off again, which loses a
sum's digits, or where a product overflows, whatever it is multiplied by next.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import z3

from refdp.prove.asking import name_of, unknowns

APART = 32.0
"""Binary orders of magnitude that lie between what is added: float64 has 53, and 21 of them are left for a sum."""
LARGEST = 200.0
"""Binary orders of magnitude of the product of all numbers in a formula."""
BEYOND = 2000.0
"""Binary orders of magnitude of a range that comes near to 0: below all that float64 has."""
DEGREE = 8
"""Sums that are multiplied with each other; with less than 2^53 each the product stays far below float64's largest."""


STEP = 2.0**800
"""No step of the scores may be larger: beyond it sums of steps, in units of the grid, could be infinite."""


class Size(NamedTuple):
    """Binary orders of magnitude of a term's numbers, least and most, and how many unknowns it multiplies."""

    low: float
    high: float
    degree: int


def moderate(values: Any) -> bool:
    """Whether public numbers are 0 or of a size that formulas may have anywhere."""
    size = np.abs(np.asarray(values, dtype=np.float64))
    return bool(((size == 0) | ((size >= 2.0 ** (-APART / 2)) & (size <= 2.0 ** (APART / 2)))).all())


def steps_stay(*factors: Any) -> bool:
    """Whether a step of the scores, the product of these numbers, is finite and at most `STEP`.

    factors: public numbers and arrays; examples of what was released are of the size of 1.
    """
    with np.errstate(all="ignore"):
        step: Any = 1.0
        for factor in factors:
            step = step * np.asarray(factor, dtype=np.float64)
        return bool((np.abs(step) <= STEP).all())


ranges: dict[str, tuple[float, float]] = {}
"""Of unknowns that are public numbers of a range, by name: least and most. Orders of magnitude spread and grow as
convex functions of theirs, so that both are largest where every one of them is at an end of its range."""


def too_far(terms: Iterable[Any]) -> str:
    """Why float64 could be far from a term's real value, nothing where it is not. terms: of z3."""
    terms = list(terms)
    try:
        for ends in _ends(terms):
            known: dict[int, Size] = {}
            for term in terms:
                _size(term, known, ends)
    except OverflowError as problem:
        return str(problem)
    return ""


def spread(terms: Iterable[Any]) -> tuple[float, float]:
    """Powers of two below and above the size of all numbers in terms, which are not `too_far`."""
    terms = list(terms)
    sizes = [_size(term, {}, ends) for ends in _ends(terms) for term in terms]
    return 2.0 ** math.floor(min(one.low for one in sizes)), 2.0 ** math.ceil(max(one.high for one in sizes))


def _ends(terms: list[Any]) -> Iterator[dict[str, float]]:
    """The ends of the ranges of public numbers in terms, in every combination, as binary orders."""
    names = [name for name in unknowns(terms) if name in ranges] if ranges else []
    sides = [[math.log2(abs(end)) if low * high > 0 else -BEYOND for end in (low, high)]
             for low, high in map(ranges.__getitem__, names)]  # fmt: skip
    for chosen in itertools.product(*sides):
        yield dict(zip(names, chosen, strict=True))


def _size(term: Any, known: dict[int, Size], ends: dict[str, float]) -> Size:
    if term.get_id() not in known:
        known[term.get_id()] = _of(term, [_size(one, known, ends) for one in term.children()], ends)
    return known[term.get_id()]


def _of(term: Any, parts: list[Size], ends: dict[str, float]) -> Size:
    if z3.is_rational_value(term):
        size = _order(term.numerator_as_long()) - _order(term.denominator_as_long())
        return Size(size, size, 0)
    if not parts:
        own = ends.get(name_of(term))
        return Size(0.0, 0.0, 1) if own is None else Size(own, own, 0)
    kind = term.decl().kind()
    if kind in (z3.Z3_OP_MUL, z3.Z3_OP_DIV, z3.Z3_OP_POWER):
        found = parts[0]
        for one in parts[1:]:
            signs = (one.low, one.high) if kind == z3.Z3_OP_MUL else (-one.high, -one.low)
            found = Size(found.low + signs[0], found.high + signs[1], found.degree + one.degree)
    else:
        found = Size(min(p.low for p in parts), max(p.high for p in parts), max(p.degree for p in parts))
    if kind in (z3.Z3_OP_ADD, z3.Z3_OP_SUB) and found.high - found.low > APART:
        raise OverflowError("a formula that adds numbers of such different sizes that float64 loses digits of the sum")
    if max(-found.low, found.high) > LARGEST or found.degree > DEGREE:
        raise OverflowError("a formula with numbers of such sizes that float64 could overflow")
    return found


def _order(number: int) -> float:
    return math.log2(abs(number)) if number else 0.0
