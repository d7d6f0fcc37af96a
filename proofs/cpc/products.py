"""Checks a refutation by products: of what is at least 0, nonnegative multiples of products add up to nothing.

A question is cut into cases, in each of which every polynomial has signs of its own; a case is refuted by nonnegative
multiples of products of its inequalities and any multiples of its equations whose sum is 0, although one of the
products is positive (Krivine 1964, Stengle 1974: a Positivstellensatz without squares). The cases are made here, from
the question; the multiples come from a search that need not be believed (search.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from proofs.cpc.consequence import Signs, choices, put, settled, split
from proofs.cpc.values import ZERO, Formula, Polynomial, Truth, compared, negated, number

MOST, STEPS = 100, 2000
"""Cases of a question that are looked at, and splits on the way to them."""


@dataclass(frozen=True)
class Case:
    """Polynomials that are 0, and those that are at least 0 or, with True, positive."""

    equations: tuple[Polynomial, ...]
    inequalities: tuple[tuple[Polynomial, bool], ...]


@dataclass(frozen=True)
class Multiples:
    """products: places of inequalities, () for 1, and a multiple; equations: place of one, a factor."""

    products: tuple[tuple[tuple[int, ...], Fraction], ...]
    equations: tuple[tuple[int, Polynomial], ...]


def refutes(multiples: Multiples, case: Case) -> bool:
    """Whether a case is impossible by these multiples."""
    total, positive = ZERO, False
    for places, multiple in multiples.products:
        product, strict = number(multiple), True
        for place in places:
            factor, is_positive = case.inequalities[place]
            product, strict = product.times(factor), strict and is_positive
        if multiple < 0:
            return False
        total, positive = total.plus(product), positive or (strict and multiple > 0)
    for place, factor in multiples.equations:
        total = total.plus(case.equations[place].times(factor))
    return positive and total == ZERO


def cases(asserted: Sequence[Formula]) -> list[Case]:
    """Cases of which one holds if all that is asserted does. Errors: ValueError for more than `MOST`, or `STEPS`."""
    found: list[Case] = []
    for signs in _signed(list(asserted), {}, count()):
        found.append(_case(signs))
        if len(found) > MOST:
            raise ValueError(f"more than {MOST} cases")
    return found


def _case(signs: Signs) -> Case:
    equations = tuple(one for one, s in signs.items() if isinstance(one, Polynomial) and s == "0")
    sides = []
    for one, s in signs.items():
        if isinstance(one, Polynomial) and s in ("0+", "+"):
            sides.append((one, s == "+"))
        elif isinstance(one, Polynomial) and s in ("-0", "-"):
            sides.append((one.scaled(Fraction(-1)), s == "-"))
    return Case(equations, tuple(sides))


def _signed(formulas: list[Formula], known: Signs, step: Iterator[int]) -> Iterator[Signs]:
    """Every way in which the formulas can hold, as signs of polynomials without choices inside."""
    if next(step) > STEPS:
        raise ValueError(f"more than {STEPS} splits")
    left = settled(formulas, known)
    if left is None:
        return
    if left[0]:
        for part in split(*left):
            yield from _signed(left[0], part, step)
        return
    signs = left[1]
    differing = next((key for key, its in signs.items() if its == "-+" and isinstance(key, Polynomial)), None)
    if differing is not None:
        for sign in "-+":
            yield from _signed([], {**signs, differing: sign}, step)
        return
    chosen = next((one for key in signs if isinstance(key, Polynomial) for one in choices(key)), None)
    if chosen is None:
        yield signs
        return
    facts = [compared(key, s) if isinstance(key, Polynomial) else Truth(key, s == "+") for key, s in signs.items()]
    for condition, value in ((chosen.condition, chosen.then), (negated(chosen.condition), chosen.other)):
        yield from _signed([condition, *(put(fact, chosen, value) for fact in facts)], {}, step)
