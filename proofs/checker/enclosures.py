"""Rigorous enclosures for statements with exp, log or erf: ball arithmetic, and interval arithmetic as second opinion.

A box is split until the enclosure of the difference has the right sign on every part. Both arithmetics run the same
refdp function, through refdp.data.numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import mpmath

from proofs.checker.statements import Rational, call
from refdp.data import numbers as generic

Box = tuple[tuple[Fraction, Fraction], ...]
PRECISION = 106
"""Bits that both arithmetics work with."""
MOST_BOXES = 50_000


class Enclosure:
    """A number known up to an interval; subclasses say how the endpoints and functions are computed."""

    __slots__ = ("value",)
    library: str

    def __init__(self, value: Any) -> None:
        self.value = value

    @classmethod
    def between(cls, low: Rational, high: Rational) -> Enclosure:
        """The interval [low, high]."""
        raise NotImplementedError

    def bounds(self) -> tuple[Fraction | None, Fraction | None]:
        """Rational numbers at or outside of the endpoints, None for an infinite one."""
        raise NotImplementedError

    def apply(self, function: str) -> Enclosure:
        """exp, log, sqrt or erf."""
        raise NotImplementedError

    def _lift(self, other: Any) -> Any:
        if isinstance(other, Enclosure):
            return other.value
        if isinstance(other, bool) or not isinstance(other, int | Fraction):
            raise TypeError(f"{other!r} beside an enclosure: formulas to be proved use integers and Fractions only")
        return type(self).between(other, other).value

    def __add__(self, other: Any) -> Enclosure:
        return type(self)(self.value + self._lift(other))

    def __sub__(self, other: Any) -> Enclosure:
        return type(self)(self.value - self._lift(other))

    def __rsub__(self, other: Any) -> Enclosure:
        return type(self)(self._lift(other) - self.value)

    def __mul__(self, other: Any) -> Enclosure:
        return type(self)(self.value * self._lift(other))

    def __truediv__(self, other: Any) -> Enclosure:
        return type(self)(self.value / self._lift(other))

    def __rtruediv__(self, other: Any) -> Enclosure:
        return type(self)(self._lift(other) / self.value)

    def __pow__(self, power: Any) -> Enclosure:
        if isinstance(power, int):
            return type(self)(self.value**power)
        exponent: Enclosure = self.apply("log") * power
        return exponent.apply("exp")

    def __neg__(self) -> Enclosure:
        return type(self)(-self.value)

    __radd__ = __add__
    __rmul__ = __mul__


class Ball(Enclosure):
    """python-flint's arb."""

    __slots__ = ()
    library = "arb"

    @classmethod
    def between(cls, low: Rational, high: Rational) -> Ball:
        first, last = (flint.arb(flint.fmpq(Fraction(end).numerator, Fraction(end).denominator)) for end in (low, high))
        return cls(first.union(last))

    def bounds(self) -> tuple[Fraction | None, Fraction | None]:
        if not self.value.is_finite():
            return None, None
        return _exact(self.value.lower()), _exact(self.value.upper())

    def apply(self, function: str) -> Ball:
        return Ball(getattr(self.value, function)())


class Interval(Enclosure):
    """mpmath's iv."""

    __slots__ = ()
    library = "mpmath iv"

    @classmethod
    def between(cls, low: Rational, high: Rational) -> Interval:
        ends = [mpmath.iv.mpf(Fraction(e).numerator) / mpmath.iv.mpf(Fraction(e).denominator) for e in (low, high)]
        return cls(mpmath.iv.mpf([ends[0].a, ends[1].b]))

    def bounds(self) -> tuple[Fraction | None, Fraction | None]:
        low, high = (_from_mpf(end) for end in self.value._mpi_)
        return low, high

    def apply(self, function: str) -> Interval:
        if function == "log" and not self.value.a > 0:
            return Interval(mpmath.iv.mpf(["-inf", "inf"]))
        return Interval(getattr(mpmath.iv, function)(self.value))


ARITHMETICS: tuple[type[Enclosure], ...] = (Ball, Interval)


@dataclass(frozen=True)
class Enclosed:
    """quantity < bound on a whole box (variable -> [low, high], rational), the tail being other evidence."""

    box: Mapping[str, tuple[Rational, Rational]]
    quantity: Callable[..., Any]
    bound: Callable[..., Any]
    scale: Fraction = Fraction(1)

    def margin(self, arithmetic: type[Enclosure], box: Box) -> tuple[Fraction | None, Fraction | None]:
        """Bounds of bound - quantity on a box."""
        values = {name: arithmetic.between(*ends) for name, ends in zip(self.box, box, strict=True)}
        difference = call(self.bound, values) * self.scale - call(self.quantity, values)
        if isinstance(difference, Enclosure):
            return difference.bounds()
        return Fraction(difference), Fraction(difference)

    def fails_at(self, point: Mapping[str, Rational]) -> bool:
        """Whether both arithmetics show quantity > bound at a rational point of the box."""
        inside = all(low <= point[name] <= high for name, (low, high) in self.box.items())
        box = tuple((Fraction(point[name]), Fraction(point[name])) for name in self.box)
        margins = [high for _, high in self._margins(box)]
        return inside and all(high is not None and high < 0 for high in margins)

    def _margins(self, box: Box) -> Iterator[tuple[Fraction | None, Fraction | None]]:
        for arithmetic in ARITHMETICS:
            with working_precision():
                yield self.margin(arithmetic, box)


def enclose(statement: Enclosed) -> dict[str, int]:
    """Libraries that show the statement on the whole box, each with the number of boxes it took."""
    return {a.library: count for a in ARITHMETICS if (count := _boxes(statement, a)) is not None}


def _boxes(statement: Enclosed, arithmetic: type[Enclosure]) -> int | None:
    waiting: deque[Box] = deque([tuple((Fraction(low), Fraction(high)) for low, high in statement.box.values())])
    count = 0
    with working_precision():
        while waiting:
            box, count = waiting.popleft(), count + 1
            low, high = statement.margin(arithmetic, box)
            if low is not None and low > 0:
                continue
            if count + len(waiting) > MOST_BOXES or (high is not None and high <= 0):
                return None
            waiting += _halves(box)
    return count


def _halves(box: Box) -> list[Box]:
    """The box cut in two across its widest side."""
    widest = max(range(len(box)), key=lambda k: box[k][1] - box[k][0])
    low, high = box[widest]
    middle = (low + high) / 2
    return [(*box[:widest], part, *box[widest + 1 :]) for part in ((low, middle), (middle, high))]


class working_precision:
    """Both libraries at PRECISION bits inside the block."""

    def __enter__(self) -> None:
        self.before = flint.ctx.prec, mpmath.iv.prec
        flint.ctx.prec = mpmath.iv.prec = PRECISION

    def __exit__(self, *exception: object) -> None:
        flint.ctx.prec, mpmath.iv.prec = self.before


def _exact(ball: Any) -> Fraction:
    mantissa, exponent = (int(part) for part in ball.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def _from_mpf(number: Any) -> Fraction | None:
    sign, mantissa, exponent, _ = number
    if not mantissa and exponent:
        return None
    magnitude = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -magnitude if sign else magnitude


for _name in ("exp", "log", "sqrt"):
    getattr(generic, _name).register(Enclosure, lambda x, _function=_name: x.apply(_function))
