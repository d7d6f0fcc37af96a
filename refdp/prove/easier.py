"""Questions with open parameters as easier ones: an unknown less, by steps that forget and never add.

A parameter v often stands beside a count n only, as n + v. Solvers are slow with both. So a question that conditions
exclude each other is taken apart:

1. A fact "one of these" about an unknown beside v is split: each case on its own.
2. n is written u - v for a new unknown u. Where v is then in facts alone, that are linear in v, it is eliminated: what
   lies below v is below what lies above it (Fourier and Motzkin). Facts that are not linear in v are forgotten.
3. A condition T > B(v), T without v and B of v alone, is kept for the largest v where B falls, which solvers are asked
   first: v is at most h, so B(h) is at most B(v), and T > B(h) for all such h. All this for v > 0.

What is refuted so is refuted. Where it is not, values of the parameters are put in, the ends of their ranges among
them, to find where the conditions hold; else nothing is known.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import z3

from refdp.prove.asking import Reply, Solvers, divisors, name_of, number, parts_of, real, unknowns

ORDERS = (z3.Z3_OP_LE, z3.Z3_OP_LT, z3.Z3_OP_GE, z3.Z3_OP_GT)
CASES = 16
"""More cases of facts than these are not told apart."""


def asked(solvers: Solvers, conditions: Sequence[Any], own: Mapping[str, tuple[float, float, Any]]) -> Reply:
    """Whether conditions can hold together. own: of parameters, by the name of their unknown, least, most, example."""
    names = [name for name in own if name in unknowns(conditions)]
    if len(names) != 1:
        return solvers.ask(conditions)
    (name,), v = names, unknowns(conditions)[names[0]]
    replies = [_answered(solvers, case, v) if own[name][0] > 0 else None for case in _cases(conditions, v)]
    if all(one is not None and one.refuted for one in replies):
        return replies[0]  # type: ignore[return-value]
    for value in _tried(own[name]):
        found = solvers.ask([z3.simplify(z3.substitute(one, (v, number(value)))) for one in conditions])
        if any(answer == "sat" for _, answer in found.answers):
            return replace(found, values={**found.values, name: value})
    if any(one is None for one in replies):
        return solvers.ask(conditions)
    return Reply((("z3", "unknown"), ("cvc5", "unknown")))


def _tried(own: tuple[float, float, Any]) -> list[Fraction]:
    low, high, example = (Fraction(one) for one in own)
    tried = {low, high, example, (low + high) / 2, 2 * low, low + 1}
    return sorted(one for one in tried if low <= one <= high)


def _cases(conditions: Sequence[Any], v: Any) -> Iterator[list[Any]]:
    """The conditions with a case of each fact "one of these" about an unknown beside v."""
    beside = {name_of(one) for one in _beside(conditions, v)}
    ways = [one.children() if z3.is_or(one) and set(unknowns([one])) & beside else [one] for one in conditions]
    many = 1
    for one in ways:
        many *= len(one)
    if many > CASES:
        yield list(conditions)
        return
    for chosen in itertools.product(*ways):
        yield list(chosen)


def _beside(conditions: Sequence[Any], v: Any) -> list[Any]:
    """Unknowns that stand in a sum with v."""
    found: dict[str, Any] = {}
    for one in parts_of(conditions):
        parts = one.children()
        if z3.is_add(one) and any(part.eq(v) for part in parts):
            found |= {name_of(part): part for part in parts if z3.is_const(part) and not z3.is_rational_value(part)
                      and not part.eq(v)}  # fmt: skip
    return list(found.values())


def _answered(solvers: Solvers, conditions: Sequence[Any], v: Any) -> Reply | None:
    """The answer to an easier question, None where there is none: v > 0 is often enough, and has fewer digits."""
    found = _refuted(solvers, conditions, v, number(0))
    return found if found is None or found.refuted else _refuted(solvers, conditions, v, None)


def _refuted(solvers: Solvers, conditions: Sequence[Any], v: Any, least: Any) -> Reply | None:
    """least: in place of a number that v is at least, which it is not above."""
    fixed = {one.arg(0).get_id(): (one.arg(0), one.arg(1)) for one in conditions
             if z3.is_eq(one) and z3.is_const(one.arg(0)) and z3.is_rational_value(one.arg(1))
             and not z3.is_rational_value(one.arg(0))}  # fmt: skip
    conditions = [z3.simplify(z3.substitute(one, *fixed.values())) for one in conditions]
    swaps = [(n, real() - v) for n in _beside(conditions, v)]
    if not swaps:
        return solvers.ask(conditions) if fixed else None
    own = [z3.simplify(z3.substitute(one, *swaps)) for one in conditions]
    about = [one for one in own if name_of(v) in unknowns([one])]
    kept = [one for one in own if name_of(v) not in unknowns([one])]
    sides = [_linear(one, v) for one in about]
    lows = [one.end for one in sides if one is not None and not one.above]
    highs = [one.end for one in sides if one is not None and one.above]
    kept += [(least if least is not None and _positive(low) else low) <= high for low in lows for high in highs]
    for one, side in zip(about, sides, strict=True):
        if side is None and (bound := _bound(one, v)) is not None:
            known = [end for end in lows if _positive(end)]
            ends = highs if bound.falls(solvers) else known if bound.rises(solvers) else None
            if ends is None:
                return None
            kept += [bound.at(end) for end in ends]
        elif side is None and not _is_fact(one):
            return None
    return solvers.ask([z3.simplify(one) for one in kept])


def _positive(end: Any) -> bool:
    return bool(z3.is_rational_value(end)) and end.numerator_as_long() > 0


def _is_fact(one: Any) -> bool:
    """Whether a condition can be forgotten without making the question empty: one of facts, which are many."""
    return bool(z3.is_or(one) or z3.is_implies(one))


class _Order(NamedTuple):
    """small is at most `large`, and below it where the order is strict."""

    small: Any
    large: Any
    strict: bool


def _order(one: Any) -> _Order | None:
    """The order that a condition is, or the contrary of; None where it is none."""
    turned = z3.is_not(one)
    one = one.arg(0) if turned else one
    kind = one.decl().kind()
    if kind not in ORDERS:
        return None
    less = (kind in (z3.Z3_OP_LE, z3.Z3_OP_LT)) != turned
    strict = (kind in (z3.Z3_OP_LT, z3.Z3_OP_GT)) != turned
    small, large = one.children() if less else one.children()[::-1]
    return _Order(small, large, strict)


class _Side(NamedTuple):
    """v is at most `end` (above), or at least."""

    end: Any
    above: bool


def _linear(one: Any, v: Any) -> _Side | None:
    """What a condition says of v where it is linear in it, with a number as the factor."""
    order = _order(one)
    if order is None:
        return None
    term = order.small - order.large  # <= 0
    at = [z3.simplify(z3.substitute(term, (v, number(place)))) for place in (0, 1, 2)]
    factor, again = z3.simplify(at[1] - at[0], som=True), z3.simplify(at[2] - at[1], som=True)
    if not (z3.is_rational_value(factor) and z3.is_rational_value(again) and factor.eq(again)):
        return None
    if not _polynomial(term, v):
        return None
    size = Fraction(factor.numerator_as_long(), factor.denominator_as_long())
    return _Side(z3.simplify(-at[0] / number(size)), size > 0) if size else None


def _polynomial(term: Any, v: Any) -> bool:
    """Whether v is in sums and multiples of a term alone."""
    if name_of(v) not in unknowns([term]) or term.eq(v):
        return True
    if z3.is_mul(term) and sum(name_of(v) in unknowns([part]) for part in term.children()) > 1:
        return False
    plain = term.decl().kind() in (z3.Z3_OP_ADD, z3.Z3_OP_SUB, z3.Z3_OP_UMINUS, z3.Z3_OP_MUL)
    return plain and all(_polynomial(part, v) for part in term.children())


class _Bound(NamedTuple):
    """A condition T > B(v), or T >= B(v)."""

    rest: Any
    bound: Any
    v: Any
    strict: bool

    def at(self, end: Any) -> Any:
        """The condition with an end in place of v."""
        own = z3.substitute(self.bound, (self.v, end))
        return self.rest > own if self.strict else self.rest >= own

    def falls(self, solvers: Solvers) -> bool:
        """Whether B never grows with v, wherever the ends can be: for v > 0."""
        return self._never(solvers, lambda here, there: here < there)

    def rises(self, solvers: Solvers) -> bool:
        """Whether it never falls."""
        return self._never(solvers, lambda here, there: here > there)

    def _never(self, solvers: Solvers, wrong: Any) -> bool:
        x, y = real(), real()
        zeros = [z3.substitute(one, (self.v, x)) == 0 for one in divisors(self.bound)]
        if not all(solvers.ask([x > 0, zero]).refuted for zero in zeros):
            return False
        here, there = (z3.substitute(self.bound, (self.v, one)) for one in (x, y))
        return solvers.ask([x > 0, y >= x, wrong(here, there)]).refuted


def _bound(one: Any, v: Any) -> _Bound | None:
    """A condition in that form: of its two sides one without v, and one of v alone."""
    order = _order(one)
    if order is None:
        return None
    whole: Any = z3.simplify(order.large - order.small)
    parts = whole.children() if z3.is_add(whole) else [whole]
    inside = [part for part in parts if name_of(v) in unknowns([part])]
    if any(set(unknowns([part])) != {name_of(v)} for part in inside):
        return None
    rest = [part for part in parts if name_of(v) not in unknowns([part])]
    return _Bound(z3.Sum([number(0), *rest]), z3.simplify(-z3.Sum(inside)), v, order.strict)
