"""What records cost that fall into one of many slots: `refdp.accounting.allocation`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from proofs.checker.evidence import Finite, Proved
from proofs.checker.proposition import ADD_REMOVE, Proposition
from proofs.checker.statements import ForAll, reals

RATIOS = (Fraction(3, 2), Fraction(5, 4), Fraction(2))
"""dP/dQ of the answer "yes" of a randomised response: each is e^ε."""


@dataclass(frozen=True)
class Slots:
    """Randomised responses in slots: weight and e^ε of each; c and γ of the question."""

    weights: tuple[Fraction, ...]
    ratios: tuple[Fraction, ...]
    factor: Fraction
    gamma: Fraction

    def without(self, outputs: tuple[int, ...]) -> list[Fraction]:
        """Probability of each slot's answer without the record."""
        return [(1 if yes else r) / (1 + r) for yes, r in zip(outputs, self.ratios, strict=True)]

    def likelihoods(self, outputs: tuple[int, ...]) -> list[Fraction]:
        """L of each slot."""
        return [r if yes else 1 / r for yes, r in zip(outputs, self.ratios, strict=True)]

    def laws(self, outputs: tuple[int, ...]) -> tuple[Fraction, Fraction, Fraction]:
        """Probability of the outputs without the record, with it, and with it in Poisson samples of rates c w."""
        none, ratios = prod(self.without(outputs), start=Fraction(1)), self.likelihoods(outputs)
        mixed = 1 + sum((w * (ratio - 1) for w, ratio in zip(self.weights, ratios, strict=True)), Fraction(0))
        rates = [min(Fraction(1), self.factor * w) for w in self.weights]
        sampled = prod((1 + q * (ratio - 1) for q, ratio in zip(rates, ratios, strict=True)), start=Fraction(1))
        return none, none * mixed, none * sampled

    def leaves(self, outputs: tuple[int, ...]) -> bool:
        """Whether 1 + S falls to 1/c or below before some slot."""
        seen, fallen = Fraction(1), False
        for w, ratio in zip(self.weights, self.likelihoods(outputs), strict=True):
            fallen |= seen <= 1 / self.factor
            seen += w * (ratio - 1)
        return fallen


def holds(slots: Slots) -> bool:
    """Both directions of H_γ are at most those of the Poisson samples and the probability of leaving."""
    rows = [(slots.laws(outputs), slots.leaves(outputs)) for outputs in product((0, 1), repeat=len(slots.weights))]
    lost = sum((none for (none, _, _), left in rows if left), Fraction(0))
    left_with = sum((mixed for (_, mixed, _), left in rows if left), Fraction(0))
    first, other = ([row[0][k] for row in rows] for k in (1, 2))
    none = [row[0][0] for row in rows]

    def profile(one: list[Fraction], two: list[Fraction]) -> Fraction:
        return sum((max(Fraction(0), p - slots.gamma * q) for p, q in zip(one, two, strict=True)), Fraction(0))

    return (
        left_with <= lost
        and profile(first, none) <= profile(other, none) + lost
        and profile(none, first) <= profile(none, other) + lost
    )


def cases() -> Iterator[Slots]:
    """Up to six slots, weights alike or not, with or without a rest."""
    for number in (2, 4, 6):
        for weights in (
            (Fraction(1, number),) * number,
            tuple(Fraction(k + 1, number * number) for k in range(number)),
        ):
            for shift in range(3):
                ratios = tuple(RATIOS[(k + shift) % 3] for k in range(number))
                for factor in (Fraction(21, 20), Fraction(6, 5), Fraction(3, 2)):
                    for gamma in (Fraction(4, 5), Fraction(1), Fraction(11, 10), Fraction(3, 2)):
                        yield Slots(weights, ratios, factor, gamma)


PROPOSITIONS = (
    Proposition(
        "composition/allocation",
        "Chua et al. 2024, balls and bins; shared",
        "If every record falls secretly, independently of the others, into slot j with probability w_j, delta(epsilon) "
        "of all slots is at most that of independent Poisson samples of rates c w_j plus the probability, without the "
        "record, that 1 + sum_(i<j) w_i (L_i - 1) falls to 1/c or below, L_i the likelihood ratio of slot i's release.",
        ADD_REMOVE,
        evidence=(
            Proved(
                ForAll(
                    reals("w s c"),
                    given=lambda w, s, c: (w >= 0, s > 0, c > 0, c * s >= 1),
                    holds=lambda w, s, c: w / s <= c * w,
                ),
                label="the posterior rate w / s",
            ),
            Proved(
                ForAll(
                    reals("p q v w"),
                    given=lambda p, q, v, w: (p >= 0, q >= 0, v >= 0, w > 0, v <= w, w <= 1),
                    holds=lambda p, q, v, w: (
                        v / w * ((1 - w) * q + w * p) + (1 - v / w) * q == (1 - v) * q + v * p,
                        v / w <= 1,
                    ),
                ),
                label="a sample of a smaller rate v is one of rate w, made anew without the record now and then",
            ),
            Proved(
                ForAll(
                    reals("p x b q y z c d g"),
                    # p = x + b: the event inside and outside; q = y + z without the record; b, z <= d lost
                    given=lambda p, x, b, q, y, z, c, d, g: (
                        *(p == x + b, q == y + z, x >= 0, y >= 0, b >= 0, z >= 0, b <= d, z <= d, g >= 0),
                        *(x - g * y <= c, y - g * x <= c),
                    ),
                    holds=lambda p, q, c, d, g: (p - g * q <= c + d, q - g * p <= c + d),
                ),
                label="an event, split by whether the rates left their bound",
            ),
            Finite(cases, holds, "randomised responses in up to six slots, all outputs", supports=True),
        ),
        argument="Given the outputs of slots before j, the record is in j with probability w_j over 1 + sum_(i<j) w_i "
        "(L_i - 1); as long as that is at most c w_j the run is an adaptive sequence of samples of rate at most c w_j. "
        "The record makes one L_i likelier to be large, so that leaving is no likelier with it.",
    ),
)
