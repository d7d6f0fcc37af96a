"""Laws of privacy losses in ball arithmetic: truths that share nothing with refdp's accountants.

A law tells M(z) = E_P[e^{zL}] and how it decays, and its atoms where it has few. Small products of atoms are
enumerated, repeated atoms on a lattice are powers of a polynomial, the rest is a contour integral
(`proofs.accounting.summed`). Directions: the record in the "first" or in the second data set.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from flint import acb, arb, arb_poly, ctx, fmpq

from proofs.accounting import Part, Rejected, delta_of, summed

PRECISION = 160
_ENUMERATED = 8_000
_LONGEST = 10_000  # coefficients of a power
_FAR = 13  # deviations of discrete Gaussian noise beyond which there is less than e^{-84}
Atoms = list[tuple[arb, arb]]
Beyond = Callable[[arb, arb], arb]


@dataclass
class Law:
    """One kind of loss: M, a bound on |M(c + iy)| for |y| >= Y, and the atoms (loss, P-mass) if there are few.

    lattice: (smallest loss, step, P-masses) where the atoms lie on one. missing: P-mass that the atoms leave out.
    """

    moment: Callable[[Any], Any]
    beyond: Beyond
    atoms: Atoms | None = None
    lattice: tuple[arb, arb, list[arb]] | None = None
    missing: arb = field(default_factory=arb)
    alone: Callable[[int, Fraction], arb] | None = None
    """δ of so many of them by a method of its own."""


Parts = list[tuple[Law, int]]
"""Independent losses, each so many times."""


def ball(value: Fraction | float) -> arb:
    """A number as it is."""
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def profile(parts: Parts, epsilon: float) -> arb:
    """A ball around δ(ε) of independent losses, each so many times. Errors: Rejected if none is narrow."""
    before, ctx.prec = ctx.prec, PRECISION
    try:
        x = ball(epsilon)
        if len(parts) == 1 and (alone := parts[0][0].alone):
            return alone(parts[0][1], Fraction(epsilon))
        if all(law.atoms is not None for law, _ in parts):
            sizes = [math.comb(n + len(law.atoms or ()) - 1, n) for law, n in parts]
            if math.prod(sizes) <= _ENUMERATED:
                return _enumerated(parts, x)
        if len(parts) == 1 and (lattice := parts[0][0].lattice) and len(lattice[2]) * parts[0][1] <= _LONGEST:
            return _power(parts[0][0], parts[0][1], x)
        if all(law.atoms is not None for law, _ in parts):
            raise Rejected("too many atoms to list, and their transform does not decay")
        return summed([(law.moment, law.beyond, count) for law, count in parts], x, arb("1e-10"))
    finally:
        ctx.prec = before


def _gain(loss: arb, x: arb) -> arb:
    gain = 1 - (x - loss).exp()
    if gain > 0 or gain < 0:
        return gain if gain > 0 else arb(0)
    return gain.union(arb(0))


def _enumerated(parts: Parts, x: arb) -> arb:
    each = []
    for law, count in parts:
        atoms, sums = law.atoms or [], []
        for chosen in itertools.combinations_with_replacement(range(len(atoms)), count):
            loss, mass, left = arb(0), arb(1), count
            for k, again in itertools.groupby(chosen):
                times = len(list(again))
                loss, mass = loss + times * atoms[k][0], mass * math.comb(left, times) * atoms[k][1] ** times
                left -= times
            sums.append((loss, mass))
        each.append(sums)
    total = sum((count * law.missing for law, count in parts), arb(0)).union(arb(0))
    for one in itertools.product(*each):
        loss, mass = sum((part[0] for part in one), arb(0)), arb(1)
        for part in one:
            mass *= part[1]
        total += mass * _gain(loss, x)
    return total


def _power(law: Law, count: int, x: arb) -> arb:
    assert law.lattice is not None
    least, step, masses = law.lattice
    total = (count * law.missing).union(arb(0))
    for k, mass in enumerate((arb_poly(masses) ** count).coeffs()):
        total += mass * _gain(count * least + k * step, x)
    return total


def _of_atoms(atoms: Atoms, lattice: tuple[arb, arb, list[arb]] | None = None, missing: arb | None = None) -> Law:
    left = missing if missing is not None else arb(0)

    def moment(z: Any) -> Any:
        return sum((p * (z * loss).exp() for loss, p in atoms), acb(0))

    def beyond(c: arb, _: arb) -> arb:
        return sum((p * (c * loss).exp() for loss, p in atoms), arb(0))

    return Law(moment, beyond, atoms, lattice, left)


def outcomes(masses: list[tuple[arb, arb]]) -> Law:
    """Finitely many outcomes of positive (P, Q)-masses."""
    return _of_atoms([((p / q).log(), p) for p, q in masses])


def answers(size: Fraction, shift: int = 1) -> list[tuple[arb, arb]]:
    """(P, Q)-masses of what integer noise of P(z) ∝ e^{-rz} tells of its shift by n, the two ends lumped together."""
    r = ball(size)
    norm = 1 / (1 + (-r).exp())
    inside = [((1 - (-r).exp()) * norm * (-r * z).exp(), (1 - (-r).exp()) * norm * (-r * (shift - z)).exp())
              for z in range(1, shift)]  # fmt: skip
    ends = (norm, (-r * shift).exp() * norm)
    return [ends, *inside, ends[::-1]]


def stepped(size: Fraction, shift: int = 1) -> Law:
    """Discrete Laplace noise; randomised response for a shift of 1. Losses r(n - 2z)."""
    r, masses = ball(size), answers(size, shift)
    law = outcomes(masses)
    law.lattice = (-r * shift, 2 * r, [p for p, _ in masses[::-1]])
    return law


def integers(variance: Fraction, shift: int) -> list[tuple[arb, arb]]:
    """(P, Q)-masses of the discrete Gaussian and of its shift, on a window beyond which lies less than 1e-38."""
    s2, far = ball(variance), math.ceil(_FAR * math.sqrt(variance)) + 3
    weights = {z: (-(arb(z) ** 2) / (2 * s2)).exp() for z in range(-far - shift, far + shift + 1)}
    norm = sum((weights[z] for z in range(-far, far + 1)), arb(0)) * (1 + arb(0).union(arb("1e-36")))
    return [(weights[z] / norm, weights[z - shift] / norm) for z in range(-far, far + shift + 1)]


def integer_noise(variance: Fraction, shift: int = 1) -> Law:
    """Discrete Gaussian noise on one integer, whose change is n = `shift`: losses (n² - 2nz) / (2σ²).

    What the window leaves out of M(c + iy) is e^{(c + c²) n²/(2σ²)} times the mass of |z + cn| beyond it.
    """
    masses, s2 = integers(variance, shift), ball(variance)
    far = (len(masses) - 1 - shift) // 2
    law = _of_atoms([((p / q).log(), p) for p, q in masses], missing=arb("1e-35"))
    inside = law.moment

    def left_out(c: arb) -> arb:
        room = far - c * shift
        outside = 4 * (-(room**2) / (2 * s2)).exp() if room > 0 else arb(4)
        return ((c + c * c) * shift * shift / (2 * s2)).exp() * outside

    def moment(z: Any) -> Any:
        radius = left_out(acb(z).real)
        return inside(z) + acb(radius.union(-radius), radius.union(-radius))

    law.moment, law.beyond = moment, lambda c, _: abs(moment(acb(c)).real)
    law.lattice = (-shift * (shift + 2 * arb(far)) / (2 * s2), shift / s2, [p for p, _ in masses[::-1]])
    return law


def sampled(masses: list[tuple[arb, arb]], rate: float, first: bool, missing: float = 0.0) -> Law:
    """Poisson sampling: (1-q)Q + qP against Q, or P against (1-q)P + qQ."""
    q = ball(rate)
    mixed = [(q * p + (1 - q) * o, o) if first else (p, q * o + (1 - q) * p) for p, o in masses]
    law = outcomes(mixed)
    law.missing = arb(missing)
    return law


def fixed_size(masses: list[tuple[arb, arb]], rate: float) -> Law:
    """The pair that dominates sampling without replacement: the first mixture above loss 0, the second below."""
    q, kept = ball(rate), []
    for p, o in masses:
        if p > o:
            kept.append((q * p + (1 - q) * o, o))
        elif p < o:
            kept.append((p, q * o + (1 - q) * p))
    law = outcomes(kept)
    rest = 1 - sum((p for p, _ in kept), arb(0))
    return _of_atoms([*(law.atoms or []), (arb(0), rest)])


def gaussian(square: Fraction) -> Law:
    """L ~ N(μ²/2, μ²)."""
    s = ball(square)
    return Law(lambda z: (z * (z + 1) * s / 2).exp(), lambda c, y: ((c * (c + 1) - y * y) * s / 2).exp())


def laplace(size: Fraction) -> Law:
    """Atoms at ±e, density between."""
    e = ball(size)
    return Law(
        lambda z: (z * e).exp() * (1 + z) / (1 + 2 * z) + (-(z + 1) * e).exp() * z / (1 + 2 * z),
        lambda c, y: ((c * e).exp() * (1 + 1 / y) + (-(c + 1) * e).exp() * (1 + 1 / y)) / 2,
        alone=lambda count, epsilon: delta_of([Part("laplace", size, count)], epsilon),
    )


def selections(size: Fraction) -> Law:
    """What dominates every selection of that range: density e^{l/2} / (4 sinh(e/2)) on [-e, e]."""
    e = ball(size)

    def moment(z: Any) -> Any:
        return (e * (z + 0.5)).sinh() / ((2 * z + 1) * (e / 2).sinh())

    return Law(moment, lambda c, y: (e * (c + 0.5)).cosh() / (2 * y * (e / 2).sinh()))


def selection(size: Fraction, top: arb) -> Law:
    """One selection of that range: losses `top` and `top` minus the range."""
    e = ball(size)
    span = 1 - (-e).exp()
    return _of_atoms([(top, (1 - (top - e).exp()) / span), (top - e, (top - e).exp() * (1 - (-top).exp()) / span)])
