"""What kind of a choice between two terms it is: one that is decided, the larger or the smaller of two, a size.

Where float64 has rounded what is compared, either side may be chosen near the place where they meet; only a choice
without a jump there gives nearly the same number either way.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import z3

from refdp.prove.asking import parts_of

_ORDERED = (z3.Z3_OP_LE, z3.Z3_OP_GE, z3.Z3_OP_LT, z3.Z3_OP_GT)


def decided(term: Any) -> Any:
    """A term without choices whose condition is true, or false, whatever its unknowns are; others stay as written."""
    while True:
        choices = [one for one in parts_of([term]) if one.decl().kind() == z3.Z3_OP_ITE]
        by = [(one, z3.simplify(one.arg(0))) for one in choices]
        swaps = [(one, one.arg(1 if z3.is_true(how) else 2)) for one, how in by if z3.is_true(how) or z3.is_false(how)]
        if not swaps:
            return term
        term = z3.substitute(term, *swaps)


def is_larger(condition: Any, then: Any, otherwise: Any) -> bool | None:
    """Whether a choice is of the larger of two, or of the smaller (False), or neither (None)."""
    kind = condition.decl().kind()
    if kind not in _ORDERED:
        return None
    one, other = (side.get_id() for side in condition.children())
    if {one, other} != {then.get_id(), otherwise.get_id()}:
        return None
    return bool((then.get_id() == one) == (kind in (z3.Z3_OP_GE, z3.Z3_OP_GT)))


def is_continuous(condition: Any, then: Any, otherwise: Any) -> bool:
    """Whether both sides of a choice are equal where its condition changes: the larger of two, a number's size, or one
    that is on both sides."""
    if then.get_id() == otherwise.get_id():
        return True
    if condition.decl().kind() not in _ORDERED:
        return False
    one, other = condition.children()
    if {one.get_id(), other.get_id()} == {then.get_id(), otherwise.get_id()}:
        return True
    return _by_sign(condition, then, otherwise)


def is_size(condition: Any, then: Any, otherwise: Any) -> bool:
    """Whether a choice is |x|: x where that is above 0, and its opposite elsewhere."""
    if condition.decl().kind() not in (z3.Z3_OP_GE, z3.Z3_OP_GT) or not _by_sign(condition, then, otherwise):
        return False
    return bool(condition.arg(0).get_id() == then.get_id())


def _by_sign(condition: Any, then: Any, otherwise: Any) -> bool:
    """Whether a choice between a term and its opposite is by the sign of the term."""
    one, other = condition.children()
    zero = z3.is_rational_value(other) and other.numerator_as_long() == 0
    return zero and any(
        one.get_id() == this.get_id() and that.decl().kind() == z3.Z3_OP_UMINUS and that.arg(0).get_id() == one.get_id()
        for this, that in ((then, otherwise), (otherwise, then))
    )


def exact(one: Any) -> Fraction:
    """A number of z3."""
    return Fraction(one.numerator_as_long(), one.denominator_as_long())
