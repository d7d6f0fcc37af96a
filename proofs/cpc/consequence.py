"""Whether a formula follows from others by the signs of their polynomials, and by cases of what is chosen.

A refutation of the premises with the negated conclusion: every polynomial has one sign, every Boolean one truth, both
sides of a chosen polynomial are looked at. Nothing is known of how polynomials are related (that is what steps with
sums and products are for), so "follows" is certain, and "does not" says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from proofs.cpc.values import (
    Chosen,
    Combined,
    Formula,
    Polynomial,
    Sign,
    Truth,
    combined,
    compared,
    negated,
    number,
    same,
)

CASES = 4000
"""Splits that are tried for one step."""
Signs = dict[Any, str]
"""Signs that are left to a polynomial, or "+" and "-" to the name of a true and a false Boolean."""


def follows(premises: Iterable[Formula], conclusion: Formula) -> bool:
    """Whether the premises exclude that the conclusion is false."""
    left = _Left()
    formulas = [*premises, negated(conclusion)]
    return _refuted(formulas, {}, left) or _by_choices(formulas, left)


class _Left:
    """How many splits are left."""

    def __init__(self) -> None:
        self.cases = CASES

    def none(self) -> bool:
        """One more is begun: whether it is one too many."""
        self.cases -= 1
        return self.cases < 0


def settled(formulas: list[Formula], known: Signs) -> tuple[list[Formula], Signs] | None:
    """Formulas that are left when what stands alone is put into the signs; None if a polynomial has no sign left."""
    known = dict(known)
    changed = True
    while changed and formulas:
        rest: list[Formula] = []
        changed = False
        for formula in formulas:
            simple = _simplified(formula, known)
            if simple is False:
                return None
            for part in simple.parts if isinstance(simple, Combined) and simple.operator == "and" else (simple,):
                if isinstance(part, Sign | Truth):
                    key, signs = _literal(part)
                    known[key] = "".join(s for s in left_to(key, known) if s in signs)
                    changed = True
                    if not known[key]:
                        return None
                elif part is not True:
                    rest.append(part)
        formulas = rest
    return formulas, known


def split(formulas: list[Formula], known: Signs) -> tuple[Signs, Signs]:
    """Two cases: a part of the shortest formula holds, or not."""
    key, signs = _literal(_first(min(formulas, key=_size)))
    now = left_to(key, known)
    inside, outside = ("".join(s for s in now if (s in signs) is wanted) for wanted in (True, False))
    return {**known, key: inside}, {**known, key: outside}


def _refuted(formulas: list[Formula], known: Signs, left: _Left) -> bool:
    """Whether no signs make all formulas true."""
    found = settled(formulas, known)
    if found is None:
        return True
    if not found[0] or left.none():
        return False
    return all(_refuted(found[0], signs, left) for signs in split(*found))


def left_to(key: Any, known: Mapping[Any, str]) -> str:
    """The signs that a polynomial can have, "+" or "-" for a Boolean."""
    return known.get(key, "-0+" if isinstance(key, Polynomial) else "-+")


def _literal(one: Sign | Truth) -> tuple[Any, str]:
    return (one.polynomial, one.signs) if isinstance(one, Sign) else (one.name, "+" if one.holds else "-")


def _simplified(formula: Formula, known: Mapping[Any, str]) -> Formula:
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, Sign | Truth):
        key, signs = _literal(formula)
        open_ = left_to(key, known)
        inner = [s for s in open_ if s in signs]
        return True if len(inner) == len(open_) else formula if inner else False
    parts = [_simplified(part, known) for part in formula.parts]
    return same(*parts) if formula.operator == "iff" else combined(formula.operator, parts)


def _first(formula: Formula) -> Sign | Truth:
    while isinstance(formula, Combined):
        formula = formula.parts[0]
    found: Sign | Truth = formula
    return found


def _size(formula: Formula) -> int:
    return sum(map(_size, formula.parts)) if isinstance(formula, Combined) else 1


# --- Chosen polynomials -----------------------------------------------------------------------------------------------


def _by_choices(formulas: list[Formula], left: _Left) -> bool:
    """The same, after both cases of one chosen polynomial that has no other inside, and so on for the rest."""
    chosen = next((one for formula in formulas for one in chosen_in(formula)), None)
    if chosen is None or left.none():
        return False
    for condition, value in ((chosen.condition, chosen.then), (negated(chosen.condition), chosen.other)):
        case = [condition, *(put(formula, chosen, value) for formula in formulas)]
        if not _refuted(case, {}, left) and not _by_choices(case, left):
            return False
    return True


def chosen_in(formula: Formula) -> Iterable[Chosen]:
    """Chosen polynomials in a formula, those without others inside only."""
    if isinstance(formula, Combined):
        for part in formula.parts:
            yield from chosen_in(part)
    elif isinstance(formula, Sign):
        yield from choices(formula.polynomial)


def choices(polynomial: Polynomial) -> Iterable[Chosen]:
    for monomial, _ in polynomial.terms:
        for atom in monomial:
            if isinstance(atom, Chosen):
                inside = [*chosen_in(atom.condition), *choices(atom.then), *choices(atom.other)]
                yield from inside or (atom,)


def put(formula: Formula, chosen: Chosen, value: Polynomial) -> Formula:
    """A formula with a value in the place of what is chosen."""
    if isinstance(formula, bool | Truth):
        return formula
    if isinstance(formula, Sign):
        return compared(_put_in(formula.polynomial, chosen, value), formula.signs)
    parts = [put(part, chosen, value) for part in formula.parts]
    return same(*parts) if formula.operator == "iff" else combined(formula.operator, parts)


def _put_in(polynomial: Polynomial, chosen: Chosen, value: Polynomial) -> Polynomial:
    total = Polynomial(())
    for monomial, coefficient in polynomial.terms:
        product = number(coefficient)
        for atom in monomial:
            product = product.times(value if atom == chosen else _atom(atom, chosen, value))
        total = total.plus(product)
    return total


def _atom(atom: Any, chosen: Chosen, value: Polynomial) -> Polynomial:
    """An atom, with the value inside it too."""
    if not isinstance(atom, Chosen):
        return Polynomial.of({(atom,): Fraction(1)})
    condition = put(atom.condition, chosen, value)
    then, other = _put_in(atom.then, chosen, value), _put_in(atom.other, chosen, value)
    if isinstance(condition, bool):
        return then if condition else other
    return then if then == other else Polynomial.of({(Chosen(condition, then, other),): Fraction(1)})
