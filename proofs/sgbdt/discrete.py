"""S-GBDT (Kirschte, Peinemann, Stock, Cotrini, Mohammadi) with discrete Gaussian noise on the grid of its sums."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import flint

from proofs.checker.evidence import Finite, Identity, Proved
from proofs.checker.proposition import ADD_REMOVE, Proposition
from proofs.checker.statements import ForAll, reals
from refdp.accounting.individual import subsampled_moment

REACH = 70
"""Steps on each side that are summed; what lies beyond is bounded."""
BITS = 200


class Case(NamedTuple):
    """Two sums with noise of variances 1 / taus steps², moved by `shift` whole steps; rate and order of sampling."""

    taus: tuple[Fraction, Fraction]
    shift: tuple[int, int]
    rate: Fraction
    order: int


def cases() -> Iterator[Case]:
    """Noise so coarse that the lattice shows, two unequal variances, shifts in one sum and in both."""
    taus = (Fraction(1, 9), Fraction(3)), (Fraction(1), Fraction(1, 4)), (Fraction(5), Fraction(2))
    rates, orders = (Fraction(1, 100), Fraction(1, 2), Fraction(9, 10)), (2, 3, 7)
    for (one, shift), rate, order in product(zip(taus, ((2, 1), (-1, 3), (1, 0))), rates, orders):
        yield Case(one, shift, rate, order)


def _ball(number: Fraction) -> Any:
    return flint.arb(number.numerator) / number.denominator


def _tail(tau: Any, reach: int) -> Any:
    """At least Σ exp(-tau k²/2) over whole k beyond `reach` on both sides."""
    return 2 * (-tau * reach * reach / 2).exp() / (1 - (-tau * reach).exp())


def moments(case: Case) -> tuple[Any, Any]:
    """Balls around E_Q[(P/Q)^order] and E_P[(Q/P)^order], P the sampled mixture and Q the noise alone."""
    taus = [_ball(tau) for tau in case.taus]
    rate, order = _ball(case.rate), case.order
    lattice = range(-REACH, REACH + 1)
    weights, losses, whole, beyond, moved = [], [], [], [], []
    for tau, shift in zip(taus, case.shift, strict=True):
        own = [(-tau * k * k / 2).exp() for k in lattice]
        tail = _tail(tau, REACH)
        total = sum(own) + tail * flint.arb(0.5, 0.5)
        whole.append(total)
        weights.append([one / total for one in own])
        losses.append([(tau * (2 * k * shift - shift * shift) / 2).exp() for k in lattice])
        beyond.append(tail / total)
        moved.append(_tail(tau, REACH - order * abs(shift)) / total)
    ahead = behind = flint.arb(0)
    for first, second in product(range(len(lattice)), repeat=2):
        weight = weights[0][first] * weights[1][second]
        mixed = 1 - rate + rate * losses[0][first] * losses[1][second]
        ahead += weight * mixed**order
        behind += weight * mixed ** (1 - order)
    mass = beyond[0] + beyond[1]
    largest = mass + growth(case) ** (order * (order - 1)) * (moved[0] + moved[1])  # (1-q+qL)^a <= 1 + L^a
    rest = mass / (1 - rate) ** (order - 1)
    return ahead + largest * flint.arb(0.5, 0.5), behind + rest * flint.arb(0.5, 0.5)


def growth(case: Case) -> Any:
    """e^t with t half the squared shift in deviations."""
    return (sum(_ball(tau) * shift * shift for tau, shift in zip(case.taus, case.shift, strict=True)) / 2).exp()


def covered(case: Case) -> bool:
    """One direction is refdp's sum, to 30 digits; the other is below it."""
    with flint.ctx.workprec(BITS):
        ahead, behind = moments(case)
        accounted = subsampled_moment(case.order, _ball(case.rate), growth(case))
        known = ahead.rad() < accounted * flint.arb(10) ** -30
        return bool(known and (ahead - accounted).contains(0) and behind < accounted)


PROPOSITIONS = (
    Proposition(
        "sgbdt/discrete-subsampled",
        "refdp's reading: discrete Gaussian noise on the grid of the sums",
        "With discrete Gaussian noise of the same two variances, in steps of the grid that the sums lie on, a round "
        "costs at every whole order from 2 on, sampled or not and in both directions, at most what refdp charges.",
        ADD_REMOVE,
        about=(subsampled_moment,),
        evidence=(
            Identity(
                "x v k s",
                left=lambda x, v, k, s: (-(x**2) + k * (x**2 - (x - v) ** 2)) / (2 * s**2),
                right=lambda x, v, k, s: (-((x - k * v) ** 2) + k * (k - 1) * v**2) / (2 * s**2),
                label="E_Q[L^k] = e^(k(k-1)t) theta(k v)/theta(0), and theta(k v) = theta(0) for whole k and v",
            ),
            Identity(
                "x v s",
                left=lambda x, v, s: ((v - x) ** 2 - x**2) / (2 * s**2) + (2 * x * v - v**2) / (2 * s**2),
                right=lambda: 0,
                label="the lattice is its own mirror image about v/2: x to v - x turns L into 1/L",
            ),
            Proved(
                ForAll(
                    reals("x q"),
                    given=lambda x, q: (x >= 1, q >= 0, q <= 1),
                    holds=lambda x, q: ((1 - q + q * x) * (1 - q + q / x) >= 1, 1 / (1 - q + q / x) >= 1),
                ),
                label="the pairs of outcomes of sgbdt/subsampled-cost, whose proof asks for that mirror only",
            ),
            Finite(
                cases=cases,
                holds=covered,
                label="balls of 30 digits around the mixtures' moments on coarse lattices",
                supports=True,
            ),
        ),
        uses=("sgbdt/subsampled-moment", "sgbdt/subsampled-cost", "sgbdt/individual", "sgbdt/filter"),
        argument="Clipped g and h are whole steps, so that sums and shifts are: nothing is rounded and no shift grows. "
        "At whole orders the moments are the Gaussian's exactly; others' sampling is fixed as Renyi moments are "
        "jointly convex. Filter and conversion use one order, fixed before the run and whole.",
    ),
)
