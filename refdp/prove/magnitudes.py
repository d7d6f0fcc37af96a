"""Formulas whose float64 value could be far from the real one: numbers of very different sizes, added or multiplied.

The solvers are asked about real numbers, and float64 on exact sums stands for them. That is no more than rounding where
the numbers of a formula are of like sizes. It is not where a large number is added and taken off again, which loses a
sum's digits, or where a product overflows, whatever it is multiplied by next.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import z3

from refdp.data.losses import GRID
from refdp.prove.asking import divisors, name_of, unknowns
from refdp.prove.choices import exact, is_continuous, is_larger, is_size

APART = 32.0
"""Binary orders of magnitude that lie between what is added: float64 has 53, and 21 of them are left for a sum."""
LARGEST = 200.0
"""Binary orders of magnitude of the product of all numbers in a formula."""
BEYOND = 2000.0
"""Binary orders of magnitude of a range that comes near to 0: below all that float64 has."""
DIGITS = 53
"""Binary digits of float64."""
SMALLEST = -1075.0
"""Binary orders of magnitude of half of float64's smallest number."""
DEGREE = 8
"""Sums that are multiplied with each other; with less than 2^53 each the product stays far below float64's largest."""


LOST = -27.0
"""Binary orders of magnitude below a sum of size 1 of what rounding may make of a formula of it: 2^-53 for each
operation, times whatever it is multiplied or divided by afterwards."""
NEAR = -17.0
"""The same of what is counted in steps of the grid, and rounded to a whole number of them: half of what that rounding
takes for possible (`refdp.prove.contributed.NEAR`)."""
STEPS = -21.0
"""Binary orders of magnitude of what one step of the grid more or less, which rounding to whole steps may give where
float64 rounded before, may make of a formula: eight steps."""
RECORDS = 26
"""Binary orders of magnitude of a sum over as many records as a public grid has room for."""
FAR = -20.0
"""Binary orders of magnitude of what rounding may make of a formula where every sum in it is of so many records."""
TOO_LARGE = "a formula that makes large what float64 rounds of sums of many records"
MOVED = 2**44
"""Steps of a sum's grid that a constant may move it by without a rounding; a sum itself has fewer than 2^53."""
PIECE = 4.0
"""Binary orders of magnitude of a range that are looked at together."""
PIECES = 64
"""Pieces of the ranges of all public numbers in a formula; with more of them each is longer."""


class Size(NamedTuple):
    """Binary orders of magnitude of a term's numbers, least and most, and how many unknowns it multiplies.

    error: of how far float64 can be from the term where unknowns are of size 1; -inf where nothing is rounded.
    grid: of the grid that an exact term is on, None where there is none. number: of a constant. positive: whether the
    term is a public number above 0, and a sum of such ones no smaller than the largest. times: how many sums of records
    it multiplies; net: less those that it is divided by. apart: whether products of many sums are added to something.
    far: of how far float64 can be from the term where every sum is of 2^`RECORDS`; -inf where nothing is rounded.
    crowd: the least and most of the term's numbers then; what is never negative, with more added, is of the larger
    one's size. thin: the least where some sums are of no records. over: which records its sums are over. sure: of which
    of these it has as many as there are, or more. natural: whether the term is never negative. differs: whether its
    least is not known, but for its grid: of a difference, a label, a score, an exponential, and of what is divided by
    a number without an end. step: how far a step of the grid
    more or less in `stepped` unknowns can take it; -inf where there are none. stride: the same where every sum is of
    2^`RECORDS`, of which a record that differs is one.
    """

    low: float
    high: float
    degree: int
    error: float = -math.inf
    grid: float | None = None
    number: Fraction | None = None
    positive: bool = False
    times: int = 0
    net: int = 0
    apart: bool = False
    far: float = -math.inf
    crowd: tuple[float, float] = (0.0, 0.0)
    natural: bool = False
    step: float = -math.inf
    differs: bool = False
    thin: float = 0.0
    over: frozenset[Any] = frozenset()
    sure: frozenset[Any] = frozenset()
    stride: float = -math.inf


def moderate(values: Any) -> bool:
    """Whether public numbers are 0 or of a size that formulas may have anywhere."""
    size = np.abs(np.asarray(values, dtype=np.float64))
    return bool(((size == 0) | ((size >= 2.0 ** (-APART / 2)) & (size <= 2.0 ** (APART / 2)))).all())


def orders(values: Any) -> tuple[float, float]:
    """The binary orders of the least and the largest of public numbers but for 0; of nothing else those of 1."""
    size = np.abs(np.asarray(values, dtype=np.float64))
    some = size[size > 0]
    return (math.log2(some.min()), math.log2(some.max())) if some.size else (0.0, 0.0)


@dataclass(frozen=True)
class Nature:
    """What is known of an unknown's numbers in float64, beside the facts that solvers are told. Orders are binary ones.

    free: it stands for a public number, which is on no grid: the orders of the least and the largest that it can be but
    for 0. natural: it is never negative: a number of records, or a sum of what is never negative. over: of a sum, which
    records it is over, by any name. records: it is the number of these.
    exponential: of one, which float64 rounds, the order of the largest. shifted: how far off its argument can be.
    steps: of a whole number that a formula was rounded to, or of a multiple of the grid, the order of the largest.
    stepped: by how many steps it can be off, since it follows from numbers that float64 has rounded.
    label: of one, the order of the largest, 0 at least.
    added: of a sum, and of what a record adds to it, the order of the largest of that, 0 at least.
    anywhere: it is any number of float64, such as a score: on no grid, and nothing may be left of it, or too much.
    endless: of a whole number of such a one, or of a multiple of the grid: it has no largest.
    least: of one that is anywhere from some number above 0 upwards, the order of that number.
    """

    free: tuple[float, float] | None = None
    natural: bool = False
    over: Any = None
    records: bool = False
    exponential: float | None = None
    shifted: float = -math.inf
    steps: float | None = None
    stepped: float = -math.inf
    label: float | None = None
    added: float | None = None
    anywhere: bool = False
    endless: bool = False
    least: float | None = None


natures: dict[str, Nature] = {}
"""Of unknowns that something is known of, by name."""
PLAIN = Nature()
"""Of what is on the grid, and at least of size 1 but for 0."""
UNKNOWN = Nature(anywhere=True)
"""Of what nobody has described."""


def describe(term: Any, **known: Any) -> None:
    """More is known of an unknown. known: fields of `Nature`."""
    natures[name_of(term)] = replace(natures.get(name_of(term), PLAIN), **known)


ranges: dict[str, tuple[float, float]] = {}
"""Of unknowns that are public numbers of a range, by name: least and most. A formula of them can be largest anywhere
within, as 1 / (v + 1 / v) is, so that every piece of a range is looked at, and they are as small and as large at once
as anywhere in it."""


def too_far(terms: Iterable[Any], most: float | None = None, steps: float = math.inf) -> str:
    """Why float64 could be far from a term's real value, nothing where it is not. terms: of z3.

    most, steps: given where their unknowns are sums over records, how far off float64 may be then by its roundings and
    by steps of the grid, of however many records. The product of two, over a third, is of a sum's size; more of them
    have no digits left for a sum that is added and stays when they are taken off again.
    Errors: none, the reason is told.
    """
    terms = list(terms)
    try:
        if most is None:
            for piece in _pieces(terms):
                known: dict[int, list[Size]] = {}
                for term in terms:
                    _size(term, known, piece)
        elif any(one.far > most or one.step > steps for one in rounded(terms)):
            return TOO_LARGE
    except OverflowError as problem:
        return str(problem)
    return ""


class Rounded(NamedTuple):
    """How far float64 can be from terms over sums of however many records, as binary orders: by its roundings, and by
    steps of the grid. piece: of the ranges of their public numbers, of which that is so."""

    piece: dict[str, tuple[float, float]]
    far: float
    step: float


def rounded(terms: Sequence[Any]) -> Iterator[Rounded]:
    """The same piece by piece of the ranges. Errors: OverflowError where it is far whatever is asked for."""
    numbers = _numbers(list(terms))
    for piece in _pieces(list(terms)):
        known: dict[int, list[Size]] = {}
        far = step = -math.inf
        for term in terms:
            for found, records in zip(_of_all(term, known, piece, numbers), numbers, strict=True):
                if found.apart:
                    raise OverflowError("a formula that adds products of sums, beside which float64 loses digits")
                near = 0.0 if records == RECORDS else found.degree / 2
                far, step = max(far, found.far + near), max(step, found.step, found.stride + near)
        yield Rounded(piece, far, step)


def spread(terms: Iterable[Any]) -> tuple[float, float]:
    """Powers of two below and above the size of all numbers in terms, which are not `too_far`."""
    terms = list(terms)
    sizes = [_size(term, {}, ends) for ends in _pieces(terms) for term in terms]
    return 2.0 ** math.floor(min(one.low for one in sizes)), 2.0 ** math.ceil(max(one.high for one in sizes))


def error_of(term: Any) -> float:
    """How far float64 can be from a term where its unknowns are of their sizes, as a binary order."""
    return max(one.error for one in _sizes(term))


def step_of(term: Any) -> float:
    """How far a step of the grid more or less in `stepped` unknowns can take a term, as a binary order."""
    return max(one.step for one in _sizes(term))


def is_off(term: Any) -> bool:
    """Whether float64 can have another number than the formula: of a rounding, or of a step of the grid; yes where it
    is `too_far`."""
    try:
        return error_of(term) > -math.inf or step_of(term) > -math.inf
    except OverflowError:
        return True


def many_of(term: Any) -> float:
    """The binary order of the largest number that a term can be where every sum in it is of up to 2^`RECORDS`."""
    numbers = _numbers([term])
    return max(one.crowd[1] + (0.0 if records == RECORDS else one.degree / 2) for ends in _pieces([term])
               for one, records in zip(_of_all(term, {}, ends, numbers), numbers, strict=True))  # fmt: skip


def order_of(term: Any) -> float:
    """The binary order of the largest number that a term can be, where its unknowns are of their sizes; 0 at least."""
    return max(0.0, *(one.high for one in _sizes(term)))


def _numbers(terms: list[Any]) -> tuple[int, ...]:
    """The binary orders of numbers of records at which terms can be largest: of many, the first.

    What is divided by a number of records is largest of few, and what is divided by the larger of that and a constant
    is largest in between, wherever constants put it. A number of records is half an order from one of these at most,
    so that a term is no more than half its degree larger there.
    """
    return (RECORDS, *range(RECORDS)) if any(map(divisors, terms)) else (RECORDS,)


def _sizes(term: Any) -> list[Size]:
    return [_size(term, {}, ends) for ends in _pieces([term])]


def _pieces(terms: list[Any]) -> Iterator[dict[str, tuple[float, float]]]:
    """Pieces of the ranges of public numbers in terms, in every combination: binary orders of their least and most."""
    names = [name for name in unknowns(terms) if name in ranges] if ranges else []
    sides = [_orders_of(*ranges[name]) for name in names]
    counts = [max(1, math.ceil((high - low) / PIECE)) if low > -BEYOND else 1 for low, high in sides]
    while math.prod(counts) > PIECES:
        counts = [math.ceil(one / 2) for one in counts]
    for chosen in itertools.product(*map(_parted, sides, counts)):
        yield dict(zip(names, chosen, strict=True))


def _orders_of(low: float, high: float) -> tuple[float, float]:
    """The binary orders of the least and the largest size of the numbers between two; the least of a range with 0 in it
    is `BEYOND` all."""
    if low * high > 0:
        least, most = sorted((math.log2(abs(low)), math.log2(abs(high))))
        return least, most
    most = max(abs(low), abs(high))
    return -BEYOND, math.log2(most) if most else -BEYOND


def _parted(side: tuple[float, float], count: int) -> list[tuple[float, float]]:
    """So many pieces of equal length."""
    low, high = side
    ends = [low, *(low + (high - low) * one / count for one in range(1, count)), high]
    return list(itertools.pairwise(ends))


def _size(term: Any, known: dict[int, list[Size]], ends: dict[str, tuple[float, float]]) -> Size:
    return _of_all(term, known, ends, (RECORDS,))[0]


def _of_all(
    term: Any, known: dict[int, list[Size]], ends: dict[str, tuple[float, float]], numbers: tuple[int, ...]
) -> list[Size]:
    """A term's size for each of these numbers of records, as binary orders of how many a sum is of."""
    if term.get_id() not in known:
        parts = [_of_all(one, known, ends, numbers) for one in term.children()]
        if term.decl().kind() in (z3.Z3_OP_MUL, z3.Z3_OP_DIV, z3.Z3_OP_POWER):
            found = _multiplied(term, parts, numbers)
        else:
            each = zip(*parts, strict=True) if parts else itertools.repeat(())
            found = [_of(term, list(own), ends, records) for own, records in zip(each, numbers, strict=False)]
        known[term.get_id()] = [_bounded(term, one) for one in found] if parts else found
    return known[term.get_id()]


def _of(term: Any, parts: list[Size], ends: dict[str, tuple[float, float]], records: int) -> Size:
    if z3.is_rational_value(term):
        value = exact(term)
        size = _order(value.numerator) - _order(value.denominator)
        least = size if value else -BEYOND  # which makes nothing larger that it is added to
        return Size(size, size, 0, number=value, positive=value > 0, crowd=(least, least), natural=value >= 0,
                    thin=least)  # fmt: skip
    if not parts:
        own, known = ends.get(name_of(term)), _nature(term)
        free, inexact = known.free is not None or own is not None, known.exponential is not None
        gridless = free or known.label is not None or known.anywhere or known.least is not None
        upwards = None if known.least is None else max(known.least, 0.0)
        sizes = (own and own[1], known.free and known.free[1], known.exponential, known.steps, upwards, 0.0)
        size = next(one for one in sizes if one is not None)
        positive = own is not None and ranges[name_of(term)][0] > 0
        grid, sums = None if gridless else math.log2(GRID), int(not free)
        low = 0.0 if known.label is not None or known.steps is not None else size
        low = own[0] if own is not None else known.free[0] if known.free is not None else low
        low = known.least if known.least is not None else low
        size = size if known.label is None else max(size, known.label)
        many, error = size + (known.added or 0.0) + records * sums, -math.inf
        many = many if known.steps is None else size  # of one record
        thin = low if free else min(size, math.log2(GRID))
        alone = free or known.added is not None or z3.is_bool(term)
        whose = known.over or (None if alone else name_of(term))
        over = frozenset() if whose is None else frozenset([whose])
        crowd, far = (many if known.records else thin, many), -math.inf
        if inexact:  # exp(x + d) is off by about d times itself
            error = size + _total(-DIGITS, known.shifted)
        if known.over is not None and many > DIGITS + math.log2(GRID):  # more steps than float64 has digits for
            error, far, grid = size - DIGITS, many - DIGITS, None
        some = inexact or known.anywhere or known.label is not None or known.added is not None
        return Size(low, size, int(own is None), error, None if inexact else grid,
                    positive=positive, times=sums, net=sums, far=far, crowd=crowd,
                    natural=positive or known.natural, step=known.stepped,
                    differs=some and not known.records, thin=thin, over=over, stride=known.stepped,
                    sure=over if known.records else frozenset())  # fmt: skip
    kind = term.decl().kind()
    low, high, degree = min(p.low for p in parts), max(p.high for p in parts), max(p.degree for p in parts)
    if kind in (z3.Z3_OP_ADD, z3.Z3_OP_SUB) and high - low > APART:
        raise OverflowError("a formula that adds numbers of such different sizes that float64 loses digits of the sum")
    positive = kind == z3.Z3_OP_ADD and all(one.positive for one in parts)
    if kind == z3.Z3_OP_ADD and all(one.positive or one.natural for one in parts):
        low = max((one.low for one in parts if one.positive), default=low)
    high = min(_added(kind, [p.high for p in parts]), _clipped(term))
    times, net = max(p.times for p in parts), max(p.net for p in parts)
    apart = kind in (z3.Z3_OP_ADD, z3.Z3_OP_SUB) and (net > 1 or times > 2)
    found = Size(low, high, degree, *_sum(term, parts), positive=positive, times=times, net=net, apart=apart)
    far, crowd, thin, sure, never = _together(term, parts)
    crowd = crowd[0], min(crowd[1], _clipped(term))
    far = far if found.error > -math.inf and z3.is_real(term) else -math.inf
    step, stride = (_stepped(term, parts, many) for many in (False, True))
    differs = z3.is_real(term) and _differs(term, parts, never)
    over = frozenset[Any]().union(*(one.over for one in parts))
    found = found._replace(far=far, crowd=crowd, natural=never, step=step, differs=differs,
                           thin=thin, sure=sure, over=over, stride=stride)  # fmt: skip
    return found._replace(apart=found.apart or any(one.apart for one in parts))


def _multiplied(term: Any, parts: list[list[Size]], numbers: tuple[int, ...]) -> list[Size]:
    """The size of a product or quotient for each of these numbers of records. parts: of its factors, likewise."""
    kind, found = term.decl().kind(), parts[0]
    for others in parts[1:]:
        if kind == z3.Z3_OP_POWER:
            others = [one._replace(number=None) for one in others]
        if kind == z3.Z3_OP_DIV:
            others = list(map(_as_divisor, others))
        crowds = _crowded(found, others, kind == z3.Z3_OP_DIV, numbers)
        found = [_times(term, *each) for each in zip(found, others, crowds, strict=True)]
    return found


def _times(term: Any, one: Size, other: Size, crowded: tuple[float, tuple[float, float], float]) -> Size:
    """One factor more, or a divisor."""
    divides, (far, crowd, stride) = term.decl().kind() == z3.Z3_OP_DIV, crowded
    signs, both = ((-other.high, -other.low), -other.net) if divides else ((other.low, other.high), other.net)
    slope = one.high - 2 * other.low if divides else one.high
    error, grid = _product(one, other, signs[1], divides)
    return Size(one.low + signs[0], one.high + signs[1], one.degree + other.degree, error, grid,
                positive=one.positive and other.positive, times=one.times + (0 if divides else other.times),
                net=one.net + both, apart=one.apart or other.apart,
                far=far if error > -math.inf else -math.inf, crowd=crowd, natural=one.natural and other.natural,
                step=max(one.step + signs[1], other.step + slope),
                differs=one.differs or other.differs or (divides and has_no_end(term.arg(1))),
                thin=one.thin + (-other.crowd[1] if divides else other.thin), over=one.over | other.over,
                sure=frozenset() if divides else _scaled(one, other), stride=stride)  # fmt: skip


def _bounded(term: Any, found: Size) -> Size:
    """The size, if float64 is near the term. Errors: OverflowError where it is not."""
    kind = term.decl().kind()
    if max(-found.low, found.high) > LARGEST or found.degree > DEGREE:
        raise OverflowError("a formula with numbers of such sizes that float64 could overflow")
    by = term.arg(1) if kind == z3.Z3_OP_DIV else None
    in_steps = by is not None and z3.is_rational_value(by) and exact(by) == Fraction(GRID)
    if z3.is_real(term) and found.error > (NEAR if in_steps else LOST):
        raise OverflowError("a formula that makes what float64 rounds large")
    of_sums = found.step > -math.inf and any(natures.get(name, PLAIN).added is not None for name in unknowns([term]))
    if z3.is_real(term) and not of_sums and found.step > (STEPS - math.log2(GRID) if in_steps else STEPS):
        raise OverflowError("a formula that makes a step of the grid large, by which float64 can round otherwise")
    return found


def _nature(term: Any) -> Nature:
    """What is known of an unknown. Of a public number of a range its ends are, and a truth value is no number."""
    return natures.get(name_of(term), PLAIN if z3.is_bool(term) or name_of(term) in ranges else UNKNOWN)


def has_no_end(term: Any) -> bool:
    """Whether a term can be larger than any number that is known: nothing may be left of what is divided by it."""
    found = (_nature(one) for one in unknowns([term]).values())
    return any(one.anywhere or one.endless or one.least is not None or one.exponential is not None for one in found)


def _differs(term: Any, parts: Sequence[Size], never: bool) -> bool:
    """Whether the least of anything else is not known, as one of its parts' is: of a sum, but for what is never
    negative with a number above 0 in it, and of anything made of one, but for the larger of it and a number."""
    if term.decl().kind() in (z3.Z3_OP_ADD, z3.Z3_OP_SUB):
        if never:
            return any(one.differs for one in parts) and not any(one.positive for one in parts)
        return any(one.number is None for one in parts)
    own = parts[1:] if term.decl().kind() == z3.Z3_OP_ITE else parts
    above = any(one.number is not None and one.number > 0 for one in own)
    if term.decl().kind() == z3.Z3_OP_ITE and above and is_larger(*term.children()):
        return False
    return any(one.differs for one in own)


def _as_divisor(one: Size) -> Size:
    """What is divided by: an exact difference that is not 0 is at least a step of its grid.

    How far it is off is followed as a share of it, which holds where it is twice as large at least.
    Errors: OverflowError for one that float64 rounds, of which nothing may be left, and for what is on no grid.
    """
    if max(one.step, one.error) > (one.grid if one.differs and one.grid is not None else one.low) - 1:
        raise OverflowError("a divisor that what float64 rounds, or a step of the grid, may take to 0")
    if not one.differs:
        return one
    if one.error > -math.inf or one.grid is None:
        raise OverflowError("a divisor of which nothing may be left: a difference, a label, a score, an exponential")
    return one._replace(low=one.grid, crowd=(one.grid, one.crowd[1]), thin=one.grid)


def _product(one: Size, other: Size, high: float, divides: bool) -> tuple[float, float | None]:
    """Error and grid of a product or quotient. high: the largest order of what is multiplied by.

    A power of two rounds nothing, but where it makes smaller what can be as near to 0 as float64 has numbers.
    """
    for this, that in ((one, other), (other, one)):
        if this is one and divides and that.number is None:
            continue
        if that.number and _is_power(that.number) and not (divides and this is other):
            moved = _order(that.number.numerator) - _order(that.number.denominator)
            moved = -moved if divides else moved
            least = SMALLEST if moved < 0 and this.differs and this.grid is None else -math.inf
            return max(this.error + moved, least), None if this.grid is None else this.grid + moved
    slope = 2 * high + one.high if divides else one.high
    return _total(one.error + high, other.error + slope, one.high + high - DIGITS), None


def _scaled(one: Size, other: Size) -> frozenset[Any]:
    """`Size.sure` of a product: of what is multiplied by a positive number."""
    return one.sure if other.number and other.positive else other.sure if one.number and one.positive else frozenset()


def _stepped(term: Any, parts: Sequence[Size], many: bool) -> float:
    """`Size.step` of anything else, or its `stride`: of a truth value any at all where there is one.

    Errors: OverflowError for a choice by such a truth value that has a jump.
    """
    steps = [one.stride if many else one.step for one in parts]
    if z3.is_bool(term):
        return math.inf if max(steps) > -math.inf else -math.inf
    if term.decl().kind() == z3.Z3_OP_ITE:
        if steps[0] > -math.inf and not is_continuous(*term.children()):
            raise OverflowError("a choice by a comparison of numbers that float64 rounds")
        return max(steps[1:])
    return _added(term.decl().kind(), steps)


def _crowded(
    ones: list[Size], others: list[Size], divides: bool, numbers: tuple[int, ...]
) -> list[tuple[float, tuple[float, float], float]]:
    """Of a product or quotient of sums of many records: how far it can be, its least and most, and its `stride`.

    It is off by what its factors are, by its own rounding, and a quotient by the part of itself that its divisor is.
    A divisor is as large as many records make it only beside sums of the same records, and twice what it is off by;
    one record stands for none as well, where a divisor has what is added to it alone.
    Sums over different records can be of many and of few beside each other: each factor counts as it is at its worst.
    """
    over, own, sure = ones[0].over, others[0].over, others[0].sure
    shared, apart = bool(over) and over <= sure, len(over | own) > 1
    leasts = [other.crowd[0] if shared and records > 0 else other.thin
              for other, records in zip(others, numbers, strict=True)] if divides else [0.0] * len(ones)  # fmt: skip
    far, stride, most = (
        [value - least for value, least in zip(values, leasts, strict=True)]
        for values in zip(*((one.far, one.stride, one.crowd[1]) for one in ones), strict=True)
    )
    beside = [min(leasts)] * len(leasts) if apart and not own <= sure else leasts
    by_far, by_stride = ([value - least for value, least in zip(values, beside, strict=True)]
                         for values in zip(*((other.far, other.stride) for other in others), strict=True))  # fmt: skip
    high = [0.0 if divides else other.crowd[1] for other in others]
    low = [one.crowd[0] + (-other.crowd[1] if divides else other.crowd[0])
           for one, other in zip(ones, others, strict=True)]  # fmt: skip
    if apart:
        far, stride, most, by_far, by_stride, high = (
            [max(values)] * len(values) for values in (far, stride, most, by_far, by_stride, high)
        )
        low = [min(low)] * len(low)
    found = []
    for place in range(len(ones)):
        size = most[place] + high[place]
        off = _total(far[place] + high[place], by_far[place] + most[place], size - DIGITS)
        moved = max(stride[place] + high[place], by_stride[place] + most[place])
        if divides and by_far[place] > -1:
            off = math.inf
        if divides and by_stride[place] > -1:
            moved = math.inf
        found.append((off, (low[place], size), moved))
    return found


def _clipped(term: Any) -> float:
    """The binary order of the larger of the two numbers that a term is clipped to, without end where it is not."""
    ends: dict[bool, Fraction] = {}
    while z3.is_real(term) and term.decl().kind() == z3.Z3_OP_ITE and len(ends) < 2:
        larger, (_, one, other) = is_larger(*term.children()), term.children()
        one, other = (other, one) if z3.is_rational_value(one) else (one, other)
        if larger is None or not z3.is_rational_value(other) or larger in ends:
            break
        ends[larger], term = exact(other), one
    if len(ends) < 2:
        return math.inf
    return max(_order(end.numerator) - _order(end.denominator) for end in ends.values())


def _together(term: Any, parts: Sequence[Size]) -> tuple[float, tuple[float, float], float, frozenset[Any], bool]:
    """Of anything else, of many records: how far it can be, its least and most, `thin` and `sure`, and whether it is
    never negative."""
    kind = term.decl().kind()
    far = _added(kind, [one.far for one in parts])
    own = parts[1:] if kind == z3.Z3_OP_ITE else parts
    never = all(one.natural for one in own) and kind in (z3.Z3_OP_ITE, z3.Z3_OP_ADD)
    never = never or (kind == z3.Z3_OP_ITE and is_size(*term.children()))
    lows, highs, thins = [one.crowd[0] for one in own], [one.crowd[1] for one in own], [one.thin for one in own]
    every, none = frozenset[Any]().union(*(one.sure for one in own)), frozenset[Any]()
    larger = is_larger(*term.children()) if never and kind == z3.Z3_OP_ITE else None
    most = never and (kind != z3.Z3_OP_ITE or bool(larger))
    chosen, sure = (max, every) if most else (min, none)
    low, thin = chosen(lows), chosen(thins)
    if sure:  # of as many of any of these, and few of the others
        low = max(thin, min(max(part.crowd[0] for part in own if one in part.sure) for one in sure))
    if kind == z3.Z3_OP_ITE:
        return far, (low, (min if larger is False else max)(highs)), thin, sure, never
    high = _added(kind, highs)
    rounding = -math.inf if kind == z3.Z3_OP_UMINUS else high + _steps(parts) - DIGITS
    return _total(far, rounding), (low, high), thin, sure, never


def _sum(term: Any, parts: Sequence[Size]) -> tuple[float, float | None]:
    """Error and grid of anything else: a sum, a choice, a comparison.

    Errors: OverflowError for a choice by a comparison of what float64 rounds, but for the larger or smaller of two.
    """
    kind = term.decl().kind()
    error = _added(kind, [one.error for one in parts])
    if z3.is_bool(term):
        return (math.inf if error > -math.inf else error), None
    if kind == z3.Z3_OP_ITE:
        if parts[0].error > -math.inf and not is_continuous(*term.children()):
            raise OverflowError("a choice by a comparison of numbers that float64 rounds")
        parts = parts[1:]
        error = max(one.error for one in parts)
    grids = {one.grid for one in parts if one.number is None}
    grid = grids.pop() if len(grids) == 1 else None
    if grid is not None and not all(_moves(one.number, grid) for one in parts if one.number is not None):
        grid = None
    if kind in (z3.Z3_OP_ITE, z3.Z3_OP_UMINUS):
        return error, grid
    largest = _added(kind, [max(one.high, one.crowd[1]) for one in parts])
    if error == -math.inf and grid is not None and largest - grid <= DIGITS:  # or it has more steps than digits
        return error, grid
    return _total(error, _added(kind, [one.high for one in parts]) + _steps(parts) - DIGITS), None


def _total(*orders: float) -> float:
    """The binary order of what these orders add up to."""
    most = max(orders)
    return most if math.isinf(most) else most + math.log2(math.fsum(2.0 ** (one - most) for one in orders))


def _added(kind: int, orders: Sequence[float]) -> float:
    """The largest order of anything made of these: the total of a sum or difference, else that of one of them."""
    return _total(*orders) if kind in (z3.Z3_OP_ADD, z3.Z3_OP_SUB) else max(orders)


def _steps(parts: Sequence[Size]) -> float:
    """How many roundings a sum of so many parts has, as a binary order."""
    return math.log2(max(len(parts) - 1, 1))


def _moves(number: Fraction, grid: float) -> bool:
    """Whether a constant moves sums on a grid without a rounding."""
    step = Fraction(2) ** int(grid)
    return (number / step).denominator == 1 and abs(number) <= step * MOVED


def _is_power(number: Fraction) -> bool:
    """Whether it is a power of two, or the opposite of one."""
    return all(size & (size - 1) == 0 for size in (abs(number.numerator), number.denominator))


def _order(number: int) -> float:
    return math.log2(abs(number)) if number else 0.0
