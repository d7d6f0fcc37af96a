"""Noise for bounds that follow from open parameters, and what has to hold of it for all their values.

Bounds. `rounded_up` of a formula is not below the formula, so that what is asked of the formula holds for the float.

Laplace noise on a grid. The step s is the power of two with 2^10 to 2^11 steps in the scale, and for a bound B the
declared one is w = s floor(B / s + t), t the number of values that can change. Claim: if the changes of the values add
up to at most B before they are rounded, and k <= t of them are rounded, then they add up to at most w after it.
Rounding moves the change of a value by less than s, so that they add up to less than B + k s; on the grid that is a
multiple of s, so at most s (ceil(B / s) - 1 + k) <= s (floor(B / s) + k) <= w. In float64 B / s is exact, and adding t
to it rounds to no less than the whole number below, if B / s is small beside 2^52: `LARGEST_EPSILON` sees to that.

Gaussian noise on a grid. The declared bound is B + s sqrt(t), rounded up, and rounding moves k values by at most
s sqrt(k) together, which is asked of the terms themselves.

Cost. The plan is accounted at the example. A release costs as much for all other values if the ratio of its bound to
its noise is at most that of the example (`check_cost`), up to `ROUNDING`, as which calibration rounds it. That is so of
noise without a grid, and of Laplace noise on a grid where delta is 0: a pure epsilon is that ratio. At a delta above 0
the grid has a part in the cost, and its step is between 2^-11 and 2^-10 of the scale: there it is not known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from types import ModuleType
from typing import Any, NamedTuple

import z3

from refdp import checks
from refdp.data import losses, numbers
from refdp.data.losses import GRID
from refdp.errors import InvalidParameter
from refdp.noise import calibration, draws, exponential, gridded, mechanisms
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.events import Charge, Sensitivity
from refdp.prove.asking import number, parts_of
from refdp.prove.magnitudes import spread
from refdp.prove.open import Open, Opens, example_of, opened, term_of
from refdp.prove.terms import Unmodelled

SHRINKS = 2**8
"""No sum in a formula of noise is smaller beside its summands."""
ULP = Fraction(1, 2**52)
"""Relative, twice what one step in float64 rounds by."""
EXACT = (z3.Z3_OP_ANUM, z3.Z3_OP_UMINUS, z3.Z3_OP_TO_REAL, z3.Z3_OP_ITE)
ROUNDING = Fraction(1, 2**40)
"""Relative, of noise that calibration rounds."""
LARGEST_EPSILON = 2.0**20
"""Of one release on a grid: B / s is at most 2^11 times as large."""


class OnGrid(NamedTuple):
    """What a bound on a grid is made of: the term of B, the grid's step, and how many values can change."""

    bound: Any
    step: Any
    touched: int


def amount(bound: Any) -> Any:
    """A declared bound for a question: exact, or a term. `exactly_declared` says whether a float is not below it."""
    return bound.term if isinstance(bound, Open) else Fraction(bound)


def before_rounding(bound: Any, step: Any, count: int) -> Any:
    """What the changes may add up to, in L1, of which so many are rounded to a grid whose step follows from parameters.

    For a bound that is made for this grid the B of the head of this module; for any other what is left of it.
    """
    grid = bound.grid if isinstance(bound, Open) else None
    if grid is not None and isinstance(step, Open) and grid.step.eq(step.term) and count <= grid.touched:
        return grid.bound
    return amount(bound) - count * amount(step)


def exactly_declared(bound: Any) -> None:
    """Errors: Unmodelled for an open bound that float64 may have rounded down."""
    if isinstance(bound, Open) and bound.error == "near":
        raise Unmodelled(
            f"a bound that follows from {bound.opens.said} and may be rounded down: `rounded_up` rounds up"
        )


def check_cost(opens: Opens, mechanism: Any, declared: Sensitivity) -> None:
    """A release costs no more than at the example. Errors: Unmodelled where that is not refuted to fail, or not known.

    What a release pays is its bound over its noise: over scale or deviation, or times the coefficient of choices.
    """
    if not any(True for _ in opened((mechanism, declared))):
        return
    if declared.norm == "whitened" or type(mechanism) not in NOISE:
        raise Unmodelled(f"noise of {type(mechanism).__name__} that follows from {opens.said}")
    if isinstance(mechanism, DiscreteLaplace | DiscreteGaussian) and not opens.pure:
        raise Unmodelled(f"noise on a grid that follows from {opens.said}, at a delta above 0: what it costs for other "
                         "values than the settings' own depends on its grid")  # fmt: skip
    noise = getattr(mechanism, NOISE[type(mechanism)])
    if isinstance(noise, tuple):
        raise Unmodelled(f"noise of several deviations that follows from {opens.said}")
    if rounded(opens, term_of(noise)) > ROUNDING:
        raise Unmodelled(f"noise that follows from {opens.said} by so much arithmetic that its rounding may add up")
    bound, size = Fraction(example_of(declared.bound)), Fraction(example_of(noise))
    if isinstance(mechanism, Exponential):
        paid, most = term_of(noise) * term_of(declared.bound), number(bound * size * (1 + ROUNDING))
    else:
        paid, most = term_of(declared.bound), number(bound / size * (1 + ROUNDING)) * term_of(noise)
    if not opens.never(paid > most):
        raise Unmodelled(f"a release costs more for another {opens.said} than for the one that is accounted")


def rounded(opens: Opens, term: Any) -> Fraction:
    """How far what float64 computes may be from a term, relative: parameters and numbers are what they are.

    Errors of factors add up, those of summands count as often as they are larger than the sum.
    Errors: Unmodelled for summands that may be more than `SHRINKS` times as large.
    """
    known: dict[int, Fraction] = {}
    for part in reversed(list(parents_first(term))):
        own = [(known[one.get_id()], one) for one in part.children() if z3.is_arith(one)]
        kind = part.decl().kind()
        if kind in (z3.Z3_OP_ADD, z3.Z3_OP_SUB):
            own = [(wrong * times_larger(opens, one, part), one) for wrong, one in own]
        steps = 0 if kind in EXACT else max(len(own), 1)
        known[part.get_id()] = sum((wrong for wrong, _ in own), steps * ULP)
    return known[term.get_id()]


def parents_first(term: Any) -> Iterator[Any]:
    """All that stands in a term, each once and before what stands in it."""
    uses = Counter(one.get_id() for part in parts_of([term]) for one in part.children())
    waiting = [term]
    while waiting:
        part = waiting.pop()
        yield part
        for one in part.children():
            uses[one.get_id()] -= 1
            if uses[one.get_id()] == 0:
                waiting.append(one)


def times_larger(opens: Opens, one: Any, whole: Any) -> int:
    """1 for a summand that is never larger than its sum, `SHRINKS` for one that is never so many times as large.

    Errors: Unmodelled for one that may be larger.
    """
    size = z3.If(whole < 0, -whole, whole)
    for times in (1, SHRINKS):
        if opens.never(z3.Or(one > times * size, -one > times * size)):
            return times
    raise Unmodelled(f"noise that follows from {opens.said} by a difference of larger numbers")


NOISE = {Laplace: "scale", DiscreteLaplace: "scale", Gaussian: "sd", DiscreteGaussian: "sd",
         Exponential: "coefficient"}  # fmt: skip


def exchanged(opens: Opens, texts: list[ModuleType]) -> Iterator[tuple[ModuleType, str, Any]]:
    """Modules, names and what takes their place while open parameters are read: functions that look at numbers."""
    instead: Mapping[Any, Any] = {id(own): (own, made) for own, made in _functions(opens)}
    rooms = [calibration, numbers, losses, draws, exponential, gridded, mechanisms, *texts]
    for room in {id(one): one for one in rooms}.values():
        for name, value in list(vars(room).items()):
            if id(value) in instead:
                yield room, name, _for_open(*instead[id(value)])
            elif callable(getattr(value, "cache_info", None)):
                yield room, name, _for_open(value, value.__wrapped__)


def _for_open(own: Callable[..., Any], made: Callable[..., Any]) -> Callable[..., Any]:
    """A function of refdp, and what it is of open numbers."""

    def either(*given: Any, **named: Any) -> Any:
        return (made if any(True for _ in opened((given, named))) else own)(*given, **named)

    return either


def _functions(opens: Opens) -> Iterator[tuple[Any, Any]]:
    def plain(value: Any, what: str) -> None:
        if any(True for _ in opened(value)):
            raise Unmodelled(f"{what} that follows from {opens.said}")

    def rounded_up(formula: Callable[..., Any], *arguments: Any) -> Any:
        exact = [_exact(one, opens) for one in arguments]
        found = formula(*exact)
        if not isinstance(found, Open):
            return numbers.at_least(found)
        exactly = isinstance(found.example, Fraction | int)  # of which the formula itself has made no float
        up = exactly and all(one.error == "exact" for one in opened(list(arguments)))
        return Open(found.term, numbers.at_least(found.example), opens, "up" if up else "near")

    def grid_floor(bound: Open) -> Open:
        """GRID times a whole number k, of which no more is known than what it lies between."""
        low, high = _spread(bound)
        steps = opens.fresh(
            math.floor(bound.example / GRID), lambda k: [k >= 0, number(GRID) * k <= bound.term,
            number(GRID) * k + number(GRID) > bound.term], max(low / GRID, 1.0), high / GRID + 1)  # fmt: skip
        if bound.error != "exact" or not opens.never(bound.term <= number(GRID)):
            raise Unmodelled(f"a grid's multiple below what follows from {opens.said}")
        opens.whole(steps.term)
        return Open(number(GRID) * steps.term, losses.grid_floor(bound.example), opens, "exact")

    def check_positive(name: str, value: Any) -> None:
        if not (value > 0 and opens.at_most(value, 2.0**100)):
            raise InvalidParameter(f"{name}, which follows from {opens.said}, is out of bounds")

    def check_number(name: str, value: Any, *, above: Any = None, least: Any = None, below: Any = None,
                     most: Any = None) -> None:  # fmt: skip
        if not ((above is None or value > above) and (least is None or value >= least)
                and (below is None or value < below) and (most is None or value <= most)):  # fmt: skip
            raise InvalidParameter(f"{name}: some of the range is not allowed")

    def smallest_scale(name: str, epsilon: Any, bound: Any) -> Any:
        plain(epsilon, name)
        check_positive("sensitivity bound", bound)
        return Open((bound / epsilon).term, draws.quotient_at_least(bound.example, epsilon), opens)

    def quotient_at_most(numerator: Any, denominator: Any) -> Any:
        plain(numerator, "an epsilon")
        return Open((numerator / denominator).term, draws.quotient_at_most(numerator, denominator.example), opens)

    def step_of(scale: Any, example: float) -> Open:
        """The grid's step: the power of two, 2^10 to 2^11 of which are in the scale, as near as float64 knows it."""
        most, least = (number(calibration.STEPS * one) for one in (1 - ROUNDING, 2 * (1 + ROUNDING)))
        low, high = _spread(scale)
        return opens.fresh(example, lambda s: [s > 0, most * s <= scale.term, least * s >= scale.term],
                           low / calibration.STEPS / 4, high / calibration.STEPS * 2)  # fmt: skip

    def on_grid(declared: Any, step: Any, touched: int) -> Any:
        exactly_declared(declared.bound)
        whole = step.example * math.floor(example_of(declared.bound) / step.example + touched)
        before, (low, high) = term_of(declared.bound), _spread(declared.bound)

        def facts(w: Any) -> list[Any]:
            return [w > before + (touched - 1) * step.term, w <= before + (touched + 1) * step.term]

        made = opens.fresh(whole, facts, low, high * (touched + 2), OnGrid(before, step.term, touched))
        return replace(declared, bound=made)

    def laplace(epsilon: Any, declared: Any, noise: str, *, touched: Any) -> tuple[Any, Any]:
        plain((epsilon, noise, touched), "an epsilon")
        if noise == "floating":
            return Laplace.calibrated(epsilon, declared.bound), declared
        _on_grid(epsilon, touched)
        step: Any = step_of(declared.bound / epsilon, calibration._step(example_of(declared.bound) / epsilon))
        charged = on_grid(declared, step, touched)
        return DiscreteLaplace.calibrated(epsilon, charged.bound, step), charged

    def laplace_charge(epsilon: Any, declared: Any, proved: Any, noise: str, *, touched: Any) -> Charge:
        if not isinstance(declared.bound, Open):
            raise Unmodelled(f"a proved bound that follows from {opens.said}, and the declared one does not")
        mechanism, charged = laplace(epsilon, declared, noise, touched=touched)
        if isinstance(mechanism, DiscreteLaplace):
            same = proved.bound is declared.bound
            proved = replace(proved, bound=charged.bound) if same else on_grid(proved, mechanism.step, touched)
        return Charge(mechanism, charged, proved)

    def gaussian(mu: Any, declared: Any, noise: str, *, touched: Any) -> tuple[Any, Any]:
        plain((mu, noise, touched), "a mu")
        if noise == "floating":
            return Gaussian.calibrated(mu, declared.bound), declared
        _on_grid(mu, touched)
        exactly_declared(declared.bound)
        step: Any = step_of(declared.bound / mu, calibration._step(example_of(declared.bound) / mu))
        moved = Fraction(numbers.root(touched))
        example = numbers.at_least(Fraction(example_of(declared.bound)) + Fraction(step.example) * moved)
        bound: Any = Open(term_of(declared.bound) + step.term * number(moved), example, opens, "up")
        return DiscreteGaussian.calibrated(mu, bound, step), replace(declared, bound=bound)

    yield from (
        (numbers.rounded_up, rounded_up), (losses.grid_floor, grid_floor), (draws.check_positive, check_positive),
        (checks.check_number, check_number), (draws.smallest_scale, smallest_scale),
        (draws.quotient_at_most, quotient_at_most), (calibration.laplace, laplace), (calibration.gaussian, gaussian),
        (calibration.laplace_charge, laplace_charge),
    )  # fmt: skip


def _on_grid(epsilon: float, touched: Any) -> None:
    if not (type(touched) is int and 0 <= touched <= 2**20 and epsilon <= LARGEST_EPSILON):
        raise Unmodelled("a grid of noise that is not known here")


def _exact(value: Any, opens: Opens) -> Any:
    """An argument of `rounded_up` at its exact value, floats too: formulas choose by the kind of their numbers."""
    if isinstance(value, Open):
        return Open(value.term, Fraction(value.example), opens, value.error)
    if isinstance(value, float) or hasattr(value, "dtype"):
        return Open(number(Fraction(float(value))), Fraction(float(value)), opens, "exact")
    return value


def _spread(value: Open) -> tuple[float, float]:
    """Powers of two that a number lies between, for all values of the parameters.

    Errors: Unmodelled where that is not refuted to fail: a difference can be smaller than what it is made of.
    """
    low, high = spread([value.term])
    if not value.opens.never(z3.Or(value.term < number(low), value.term > number(high))):
        raise Unmodelled(f"how small a bound or noise is that follows from {value.opens.said}")
    return low, high
