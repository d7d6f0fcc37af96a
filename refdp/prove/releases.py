"""What has to hold for one release, as questions to the solvers.

For every pair of neighbours: nodes and bins without a record that differs are equal, no divisor is 0, and the change of
the others, measured as the mechanism pays for it, is within the declared sensitivity. The bound is taken exactly; what
rounding to a mechanism's grid can add is taken off it.

Under replace-one the change is first split at the data set without either record, each half within half of the bound.
Where that is not enough, and no record makes a cell smaller, the change is u - v for u, v >= 0, and its square is at
most that of u and that of v together, each within half of the bound's square. Else the two records are put into the
same node or bin, or into different ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import z3

from refdp.data.kernels import GRID
from refdp.data.numbers import root
from refdp.noise.draws import LARGEST_INDEX
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Mechanism
from refdp.privacy.curator import Request
from refdp.privacy.events import Relation, Sensitivity
from refdp.prove.asking import Reply, divisors, name_of, number, real, unknowns
from refdp.prove.charged import NOISE, amount, before_rounding, check_cost, exactly_declared
from refdp.prove.contributed import COST
from refdp.prove.easier import asked
from refdp.prove.magnitudes import FAR, TOO_LARGE, error_of, is_off, many_of, rounded, step_of, too_far
from refdp.prove.open import Opens, example_of, is_open, term_of
from refdp.prove.tables import Choices, Sum, Table, World, summands
from refdp.prove.terms import Leak, Unmodelled
from refdp.prove.unknown import Unknown

BESIDE = 10.0
"""Binary orders of magnitude that what float64 rounds of a formula has to be below the noise."""

NORMS = {Laplace: (1,), DiscreteLaplace: (1,), Gaussian: (2, "whitened"), DiscreteGaussian: (2, "whitened"),
         Exponential: ("range",)}  # fmt: skip
ENDS = 8
"""The interval of the changes of a utility is sought at multiples of its length over this."""
MANY_SQUARES = 4
"""Of so many unknowns solvers do not decide a sum of squares any more."""
ROUNDING = Fraction(1, 2**46)
"""What a record's cost may exceed twice its payment by, as a share of it: deviations and costs are rounded in float64.
Of a round's cost it is up to seventy times as much, at small rates."""


class Unproved(Exception):
    """An obligation is not refuted. found: whether a solver found that it fails; values: of the unknowns where it does,
    none where it fails whatever they are."""

    def __init__(self, what: str, reply: Reply | None = None) -> None:
        self.found = reply is None or any(answer == "sat" for _, answer in reply.answers)
        super().__init__(what if self.found else f"{what}: no solver decides")
        self.values = {} if reply is None else reply.values
        self.exact = reply is not None and reply.exact


@dataclass(frozen=True)
class Cell:
    """Index and change of a cell, and the sums that it is made of if it is a sum or difference of sums. unsure: float64
    can change it where the formula does not, by what it rounds or, where the record is in it, by a step of the grid."""

    index: tuple[Any, ...]
    change: Any
    sums: tuple[Sum, ...]
    unsure: bool


@dataclass(frozen=True)
class Changed:
    """One way in which the records that differ can be used and sit."""

    used: bool
    cells: tuple[Cell, ...]

    @property
    def moved(self) -> list[Cell]:
        """The cells that change, and those that float64 alone can change."""
        return [one for one in self.cells if one.unsure or not _zero(one.change)]


def check(host: Unknown, request: Request) -> None:
    """Every obligation of a release. Errors: Unproved, Leak, Unmodelled."""
    _checked(host, request)
    assert request.sensitivity is not None
    exactly_declared(request.sensitivity.bound)


def _checked(host: Unknown, request: Request) -> None:
    mechanism, declared = request.mechanism, request.sensitivity
    value: Any = request.value
    if not isinstance(value, Table):
        raise Unmodelled("a release of something that is no sum over records")
    if value.form.of != "float":
        raise Unmodelled("a release of whole numbers or truth values")
    if type(mechanism) not in NORMS:
        raise Unmodelled(f"the mechanism {type(mechanism).__name__}")
    assert mechanism is not None and declared is not None
    if host.opens is not None:
        check_cost(host.opens, mechanism, declared)
    if declared.norm not in NORMS[type(mechanism)]:
        raise Unmodelled(f"a sensitivity of norm {declared.norm} for {type(mechanism).__name__} noise")
    if declared.norm == "range":
        _rows(value)
    elif any(axis.kind == "option" for axis in value.axes):
        raise Unmodelled("sums for every candidate in one release: a record is in those of many")
    _along(value, mechanism)
    _placed(host, value)
    one = World(host, (), ("z",))
    _apart(host, value, one)
    _scoped(one, request)
    if states := {each.state for each in one.sums} & set(host.paid):
        _paid(host, value, request, one, states)
        return
    if host.relation is Relation.ADD_REMOVE:
        _bounded(host, value, mechanism, declared, one, 1)
        return
    try:
        _bounded(host, value, mechanism, declared, one, 2)
    except Unproved:
        if declared.norm == "range":
            raise
        if declared.norm == 2 and _grows(host, value, mechanism, declared, one):
            with suppress(Unproved):
                _bounded(host, value, mechanism, declared, one, 2, squares=True)
                return
        for world in _two(host, value):
            _bounded(host, value, mechanism, declared, world, 1)


def _grows(host: Unknown, value: Table, mechanism: Mechanism, declared: Sensitivity, world: World) -> bool:
    """Whether no record that is added makes a cell smaller."""
    try:
        for way in _changes(host, value, world, mechanism, declared):
            for one in way.moved:
                _must(host, "a cell becomes smaller", [one.change < 0])
    except Unproved:
        return False
    return True


def _rows(value: Table) -> None:
    """Every choice is among the candidates of one part of the records, so that a record decides one choice at most, or
    one of each group."""
    if isinstance(value, Choices) and [axis.kind for axis in value.axes] == ["each", "part", "option"]:
        return
    *rows, options = [axis for axis in value.axes if axis.size > 1 or axis.kind != "each"]
    one_each = all(axis.kind == "part" for axis in rows)
    if value.axes[-1] is not options or options.kind != "option" or not one_each:
        raise Unmodelled("utilities of which a record decides several choices")
    if value.shape != tuple(axis.size for axis in value.axes):
        raise Unmodelled("reshaped utilities")


def _along(value: Table, mechanism: Mechanism) -> None:
    """Several deviations go along the last axis, of which every entry has its own."""
    deviations, last = getattr(mechanism, "sd", 0.0), value.axes[-1] if value.axes else None
    if not isinstance(deviations, tuple):
        return
    plain = value.shape == tuple(axis.size for axis in value.axes)
    if last is None or (last.kind, last.size) != ("each", len(deviations)) or not plain:
        raise Unmodelled("noise of several deviations along anything but a few entries of their own")


def _paid(host: Unknown, value: Table, request: Request, world: World, states: set[int]) -> None:
    """A record that is used has paid at least what its own change costs, at the rate that the budget is about."""
    mechanism, (state, *others) = request.mechanism, sorted(states)
    if others or len({each.state for each in world.sums}) > 1 or state in host.spent:
        raise Unproved("records pay once, and more than one release is about it")
    host.spent.add(state)
    budget, scopes = host.paid[state], request.scopes
    if not isinstance(mechanism, Gaussian | DiscreteGaussian) or host.relation is not Relation.ADD_REMOVE:
        raise Unmodelled("budgets of records for anything but Gaussian noise under add-remove")
    rates = [(scope.kind, scope.method, scope.weights[0]) for scope in scopes]
    if rates != [("subsample", "poisson", budget.rate)] and not (budget.rate == 1 and not rates):
        raise Unproved(f"records pay for a sample at rate {budget.rate:g}, and the release is about {rates or 'all'}")
    assert request.sensitivity is not None
    _bounded(host, value, mechanism, request.sensitivity, world, 1)
    paid = host.value(state, COST, "z")
    for way in _changes(host, value, world, mechanism):
        if not all(_fits(host, mechanism, one.sums) for one in way.moved):
            raise Unmodelled("records that pay for values off the grid of the noise")
        squares = [number(1 / Fraction(_deviation(mechanism, one.index)) ** 2) * one.change * one.change
                   for one in way.moved]  # fmt: skip
        if squares:  # (alpha / 2) |change|^2 is to be at most alpha t
            most = number(2 + ROUNDING) * paid
            _must(host, "a record changes the release by more than it pays for", [z3.Sum(squares) > most])


def _two(host: Unknown, value: Table) -> Iterator[World]:
    """The replaced and the new record in the same part of the records or in different ones, of every division."""
    seen = World(host, ("x",), ("z",))
    list(_changes(host, value, seen, None))
    parts = {part for one in seen.sums for part, _ in one.seats if not (isinstance(part, tuple) and part[0] == "root")}
    for apart in itertools.product((False, True), repeat=len(parts)):
        seats = {(part, "z"): "r1" for part, differ in zip(sorted(parts, key=str), apart, strict=True) if differ}
        yield World(host, ("x",), ("z",), seats)


class _Seats(World):
    """Of which parts of the records a cell is, whatever its sums are."""

    def pair(self, one: Sum) -> tuple[Any, Any]:
        self.sums[one] = None
        return real(), real()


def _placed(host: Unknown, value: Table) -> None:
    """An entry along an axis is of one division of the records: in that of another, a record is in another entry.

    Errors: Unmodelled otherwise.
    """
    seats = [f"entry of axis {place}" for place in range(len(value.axes))]
    for index in _indices(value, ("r0",)):
        world = _Seats(host, (), ())
        own = tuple(seat if one == "r0" else one for seat, one in zip(seats, index, strict=True))
        found = value.cell(own, world)
        for seat in seats:
            sums = (found,) if isinstance(found, Sum) else world.sums
            if len({part for one in sums for part, at in one.seats if at == seat}) > 1:
                raise Unmodelled("private sums of different parts of the records, entry by entry")


def _apart(host: Unknown, value: Table, world: World) -> None:
    """Parts without the record are equal on both sides. The world then knows every sum of the value."""
    for index in _indices(value, ("r0", "r9")):
        before, after = _pair(value, index, world)
        if "r9" not in index:
            continue
        if not before.eq(after) and any(map(is_off, (before, after))):
            raise Unmodelled("what float64 rounds of sums over the record, in a part that it is not in")
        for _, (same,) in _assigned(host, [before == after]):
            if not z3.is_true(same):
                _must(host, "a part changes that the record is not in", [z3.Not(same)])


def _scoped(world: World, request: Request) -> None:
    """A value that is released in a block of a secret selection is about the records of that block alone."""
    needed = {(scope.serial, scope.block) for scope in request.scopes}
    for one in world.sums:
        if not needed <= set(one.scopes):
            raise Leak("records outside the secret selection that the charge is about, in")


def _pair(value: Table, index: tuple[Any, ...], world: World) -> tuple[Any, Any]:
    found = value.cell(index, world)
    pair: tuple[Any, Any] = world.pair(found) if isinstance(found, Sum) else found
    return pair


def _indices(value: Table, seats: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Every kind of cell."""
    ranges: list[Sequence[Any]] = []
    for axis in value.axes:
        if axis.kind == "each":
            ranges.append(range(axis.size))
        elif axis.kind == "part":
            ranges.append(seats)
        elif axis.kind == "option":
            ranges.append([(way, "o") for way in range(axis.ways)])
        else:
            raise Unmodelled("a release of the bins of several features, in which one record is several times")
    yield from itertools.product(*ranges)


def _noise(mechanism: Mechanism | None) -> Any:
    """What says how much noise there is, of one entry or of each; None where nothing does."""
    return getattr(mechanism, NOISE.get(type(mechanism), ""), None) if mechanism else None


def _room(mechanism: Mechanism | None, declared: Sensitivity | None, cells: int) -> tuple[float, float]:
    """How far float64 may be from a formula by roundings and by steps of the grid, as binary orders: `BESIDE` below the
    noise and the declared bound, which so many cells share."""
    noise = _noise(mechanism)
    if noise is None:
        return FAR, FAR
    least = float(min(noise) if isinstance(noise, tuple) else noise)
    order = math.log2(least) if least > 0 else -math.inf
    order = -order if isinstance(mechanism, Exponential) else order
    if declared is not None:
        bound = float(declared.bound)
        own = math.log2(bound) if bound > 0 else -math.inf
        order = min(order, own + (order if declared.norm == "whitened" else 0.0)) - _shared(declared, cells)
    return min(FAR, order - BESIDE), order - BESIDE


def _shared(declared: Sensitivity, cells: int) -> float:
    """How much less of a bound there is for each of so many cells, as a binary order."""
    return math.log2(cells) * (1.0 if declared.norm in (1, "range") else 0.5)


def _has_room(opens: Opens, terms: list[Any], mechanism: Mechanism, declared: Sensitivity, cells: int) -> str:
    """The same where noise or bound follow from open parameters: of every piece of their ranges, both are as large as
    what float64 rounds of terms there needs. Returns why not, as `too_far`."""
    noise, bound = term_of(_noise(mechanism)), term_of(declared.bound)
    try:
        for one in rounded(terms):
            need = max(one.far, one.step) + BESIDE + _shared(declared, cells)
            if one.far > FAR or need == math.inf:
                return TOO_LARGE
            if need == -math.inf:
                continue
            least = number(Fraction(2) ** math.ceil(need))
            scarce = noise * least > 1 if isinstance(mechanism, Exponential) else noise < least
            if not opens.never(z3.Or(scarce, bound < least), *opens.within(one.piece)):
                return TOO_LARGE
    except OverflowError as problem:
        return str(problem)
    return ""


def _changes(
    host: Unknown, value: Table, world: World, mechanism: Mechanism | None, declared: Sensitivity | None = None
) -> Iterator[Changed]:
    """The changes of all cells that a record can be in, in every way that it can be used and sit."""
    indices = list(_indices(value, sorted({"r0", *world.seats.values()})))
    found = [value.cell(index, world) for index in indices]
    pairs = [world.pair(one) if isinstance(one, Sum) else one for one in found]
    terms, noise = [term for pair in pairs for term in pair], _noise(mechanism)
    if mechanism and declared and host.opens and (is_open(noise) or is_open(declared.bound)):
        why = _has_room(host.opens, terms, mechanism, declared, len(indices))
    else:
        why = too_far(terms, *_room(mechanism, declared, len(indices)))
    if why:
        raise Unmodelled(why)
    unsure = [not before.eq(after) and (error_of(before) > -math.inf or error_of(after) > -math.inf)
              for before, after in pairs]  # fmt: skip
    stepped = [max(step_of(before), step_of(after)) > -math.inf for before, after in pairs]
    for used, changes in _assigned(host, [after - before for before, after in pairs]):
        off = [one or (two and not _zero(change)) for one, two, change in zip(unsure, stepped, changes, strict=True)]
        yield Changed(used, tuple(map(Cell, indices, changes, map(summands, found), off)))


def _zero(term: Any) -> bool:
    return bool(z3.is_rational_value(term)) and term.numerator_as_long() == 0


def _assigned(host: Unknown, terms: list[Any]) -> Iterator[tuple[bool, list[Any]]]:
    """The terms under every choice of the truth values in them, simplified, and whether every record is used."""
    truths = [one for one in unknowns(terms).values() if z3.is_bool(one)]
    for values in itertools.product((True, False), repeat=len(truths)):
        chosen = {name_of(one): value for one, value in zip(truths, values, strict=True)}
        both = (host.indicators[name] for name in chosen if name in host.indicators)
        if any(all(chosen.get(name_of(one), False) for one in pair) for pair in both):
            continue
        swaps = [(one, z3.BoolVal(value)) for one, value in zip(truths, values, strict=True)]
        used = all(value for name, value in chosen.items() if name in host.used)
        yield used, [z3.simplify(z3.substitute(term, *swaps)) for term in terms]


def _must(host: Unknown, what: str, wrong: list[Any]) -> None:
    """It is refuted that this can go wrong, with the bounds of the statistics or else with their formulas.

    The facts alone can hold together, so that the refutation is not empty.
    """
    wrong = [z3.simplify(one) for one in wrong]
    facts = host.facts(wrong)
    own = host.opens.sides if host.opens else {}
    reply = asked(host.solvers, [*facts, *wrong], own)
    if not reply.refuted and (exact := host.exactly([*wrong, *facts])):
        facts = [*host.facts([*facts, *exact, *wrong]), *exact]
        reply = asked(host.solvers, [*facts, *wrong], own)
    if not reply.refuted:
        raise Unproved(what, reply)
    if not host.solvers.possible(facts):
        raise Unproved("the facts of this question exclude each other, as far as z3 sees: it shows nothing")


def _bounded(
    host: Unknown,
    value: Table,
    mechanism: Mechanism,
    declared: Sensitivity,
    world: World,
    halves: int,
    squares: bool = False,
) -> None:
    """The change is within the bound, or within half of it; or its square within half of the bound's."""
    bound = amount(declared.bound)
    if isinstance(mechanism, DiscreteLaplace | DiscreteGaussian):
        _indexed(host, value, mechanism, world)
    ways = list(_changes(host, value, world, mechanism, declared))
    for divisor in _divisors(host, value, world):
        _must(host, "a divisor can be 0", [divisor == 0])
    if declared.norm == "range":
        groups = value.axes[0].size if isinstance(value, Choices) else 1  # their ranges add up
        for group in range(groups):
            own = [_of_group(way, group) for way in ways] if groups > 1 else ways
            _range(
                host,
                own,
                bound / halves / groups,
                f"the range of the change exceeds {_said(declared, halves * groups)}",
            )
        return
    for way in ways:
        terms = [one.change for one in way.moved]
        if not terms:
            continue
        count = halves * sum(1 for one in way.moved if not _fits(host, mechanism, one.sums))
        if declared.norm == 1:
            _sum_of_sizes(host, terms, mechanism, declared, count, halves)
            continue
        if isinstance(mechanism, DiscreteGaussian) and declared.norm == 2:
            _rounded(host, way, mechanism, declared, halves, squares)
            continue
        limit = bound
        weights = [Fraction(1)] * len(terms)
        if declared.norm == "whitened":
            if not isinstance(mechanism, Gaussian | DiscreteGaussian):
                raise Unmodelled("whitened changes of noise that is not Gaussian")
            if isinstance(mechanism, DiscreteGaussian) and count:
                raise Unmodelled("rounding to the grid of noise of several deviations")
            weights = [1 / Fraction(_deviation(mechanism, one.index)) ** 2 for one in way.moved]
        _squares(host, terms, weights, f"the change exceeds {_said(declared)}", _squared(limit, halves, squares))


def _squared(limit: Any, halves: int, squares: bool) -> Any:
    """The square of a part of the bound, or that part of its square."""
    return limit * limit / (halves if squares else halves * halves)


def _squares(host: Unknown, terms: list[Any], weights: list[Fraction], what: str, most: Any) -> None:
    """A weighted sum of squares is at most that: of many terms first with any numbers up to their largest squares."""

    def upto(squares: list[Any]) -> None:
        total = z3.Sum([number(weight) * one for weight, one in zip(weights, squares, strict=True)])
        _must(host, what, [total > number(most)])

    if len(terms) > MANY_SQUARES and None not in (of_all := [host.square(term) for term in terms]):
        with suppress(Unproved):
            upto(of_all)
            return
    upto([term * term for term in terms])


def _said(declared: Sensitivity, parts: int = 1) -> str:
    """The declared bound, or a part of it, for readers."""
    size = f"{float(Fraction(example_of(declared.bound)) / parts):.9g}"
    return f"{size}, what it is for the settings' own values" if is_open(declared.bound) else size


def _indexed(host: Unknown, value: Table, mechanism: DiscreteLaplace | DiscreteGaussian, world: World) -> None:
    """Noise on a grid is an error beyond 2^52 steps, which a record can bring about.

    Not asked where 2^`RECORDS` records stay within that, whatever is added to their sums.
    """
    step = amount(mechanism.step)
    largest = Fraction(LARGEST_INDEX) * step if isinstance(step, Fraction) else number(LARGEST_INDEX) * step
    most = number(largest)
    for index in _indices(value, sorted({"r0", *world.seats.values()})):
        pair = _pair(value, index, world)
        try:
            size = Fraction(2) ** math.ceil(max(map(many_of, pair)))
        except OverflowError as problem:
            raise Unmodelled(str(problem)) from None
        beyond = number(size) > largest if z3.is_expr(largest) else size > largest
        if host.opens.never(beyond) if z3.is_expr(beyond) and host.opens is not None else not beyond:
            continue
        for _, ends in _assigned(host, list(pair)):
            for one in ends:
                _must(host, "a value over 2^52 steps from 0, which is an error", [z3.Or(one > most, one < -most)])


def _divisors(host: Unknown, value: Table, world: World) -> list[Any]:
    """Every divisor in a cell that a record can be in, on both neighbours, in every way that it can be used and sit."""
    found: dict[str, Any] = {}
    for index in _indices(value, sorted({"r0", *world.seats.values()})):
        before, after = _pair(value, index, world)
        own = [] if before.eq(after) else [*divisors(before), *divisors(after)]
        for _, terms in _assigned(host, own) if own else ():
            found |= {one.sexpr(): one for one in terms if _zero(one) or not z3.is_rational_value(one)}
    return list(found.values())


def _of_group(way: Changed, group: int) -> Changed:
    return Changed(way.used, tuple(one for one in way.cells if one.index[0] == group))


def _rounded(
    host: Unknown, way: Changed, mechanism: DiscreteGaussian, declared: Sensitivity, halves: int, squares: bool
) -> None:
    """L2 of Gaussian noise on a grid: rounding adds up to a step to each cell off the grid that changes at all."""
    bound, step = amount(declared.bound), amount(mechanism.step)
    off = [z3.BoolVal(True) if one.unsure else one.change != 0
           for one in way.moved if not _fits(host, mechanism, one.sums)]  # fmt: skip
    total = z3.Sum([one.change * one.change for one in way.moved])

    def within(count: int, still: list[Any]) -> None:
        left = bound - step * Fraction(root(halves * count))
        room = "the declared bound leaves no room for rounding"
        if z3.is_expr(left):
            _must(host, room, [left < 0])
        elif left < 0:
            raise Unproved(room)
        most = _squared(left, halves, squares)
        _must(host, f"the change exceeds {_said(declared)}", [total > number(most), *still])

    try:
        within(len(off), [])
    except Unproved:
        if len(off) < 2:
            raise
        both = [z3.And(one, other) for one, other in itertools.combinations(off, 2)]
        within(1, [z3.Not(z3.Or(*both))])  # a cell that stays is rounded alike
        _must(host, "rounding moves more values than the bound has room for", [z3.Or(*both)])


def _deviation(mechanism: Gaussian | DiscreteGaussian, index: tuple[Any, ...]) -> float:
    return mechanism.sd[index[-1]] if isinstance(mechanism.sd, tuple) else mechanism.sd


def _fits(host: Unknown, mechanism: Mechanism, sums: tuple[Sum, ...]) -> bool:
    """Whether a sum or difference of these sums, multiples of their units, is not rounded by the mechanism."""
    if not sums or not isinstance(mechanism, DiscreteLaplace | DiscreteGaussian):
        return bool(sums)
    if is_open(mechanism.step):
        return False
    step = Fraction(mechanism.step)
    return (Fraction(GRID) / step).denominator == 1 or all((host.unit(one) / step).denominator == 1 for one in sums)


def _sum_of_sizes(
    host: Unknown, terms: list[Any], mechanism: Mechanism, declared: Sensitivity, count: int, halves: int
) -> None:
    """L1. On a grid of `step` it is a multiple of it, and rounding adds less than a step to each cell."""
    bound = amount(declared.bound)
    strict, limit = True, bound
    if isinstance(mechanism, DiscreteLaplace) and (is_open(declared.bound) or is_open(mechanism.step)):
        limit = before_rounding(declared.bound, mechanism.step, count)
    elif isinstance(mechanism, DiscreteLaplace):
        step = Fraction(mechanism.step)
        whole = bound / step
        limit = (whole.numerator // whole.denominator + 1 - count) * step
        strict = False
    for signs in itertools.product((1, -1), repeat=len(terms)):
        total = z3.simplify(z3.Sum([sign * term for sign, term in zip(signs, terms, strict=True)]))
        most = number(limit / halves)
        wrong = total > most if strict else total >= most
        _must(host, f"the change exceeds {_said(declared)}", [wrong])


def _range(host: Unknown, ways: list[Changed], bound: Any, what: str) -> None:
    """Largest less smallest change over the options of a node. What all options share is left out."""
    if any(not _zero(one.change) for way in ways if not way.used for one in way.cells):
        raise Unmodelled("utilities that a record changes which is not used")
    terms = _without_shared(host, [one.change for way in ways if way.used for one in way.cells])

    def upper(end: int) -> None:
        for term in terms:
            _must(host, what, [term > number(bound * end / ENDS)])

    key = what, len(terms)
    if key not in host.ends:
        for end in range(ENDS + 1):
            try:
                upper(end)
            except Unproved as problem:
                if end == ENDS or not problem.found:
                    raise
            else:
                host.ends[key] = end
                break
    else:
        upper(host.ends[key])
    for term in terms:
        _must(host, what, [term < number(bound * host.ends[key] / ENDS - bound)])


def _without_shared(host: Unknown, terms: list[Any]) -> list[Any]:
    """Changes of utilities without the summands that all have and that are the same for every option."""
    parts = [term.children() if z3.is_add(term) else [term] for term in terms]
    shared = set.intersection(*({part.sexpr() for part in one} for one in parts)) if parts else set()
    fixed = {part.sexpr() for one in parts for part in one if not set(unknowns([part])) & host.optional}
    kept = [[part for part in one if part.sexpr() not in shared & fixed] for one in parts]
    return [z3.Sum(one) if one else number(0) for one in kept]
