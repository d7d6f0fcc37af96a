"""Private selection (`refdp.select`): what the best of a random number of runs costs.

f is the generating function of K, f'(x) = E K (gamma / t)^(1 + eta) with t = gamma + (1 - gamma) (1 - x). Runs have
outcomes y in increasing order, of mass q and with mass S strictly above: the best of K runs is y with probability

    int_0^1 q f'(1 - s(u)) du,   s(u) = S + (1 - u) q.

Both masses and both s of two neighbours are events of one run, whose cost bounds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from proofs.checker.evidence import Finite, Follows, Proved
from proofs.checker.proposition import Proposition
from proofs.checker.statements import ForAll, reals
from refdp.accounting.selection import Repetitions, geometric, selected

Law = tuple[Fraction, ...]
EIGHTHS = 8
GAMMAS = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
ORDERS = ((2, 2), (2, 8), (3, 2), (3, 8))
"""Orders a and b of the theorem, whole, so that every moment is a fraction."""


def mixed(share: Any, gamma: Any) -> Any:
    """t = gamma + (1 - gamma) s."""
    return gamma + (1 - gamma) * share


def best(gamma: Fraction, law: Law) -> list[Fraction]:
    """Law of the best of K runs, K geometric: E F(y)^K - E F(y-)^K, by the generating function that refdp has."""
    below = tuple(accumulate(law, initial=Fraction(0)))
    return [geometric(gamma, after) - geometric(gamma, before) for before, after in pairwise(below)]


def moment(p: Sequence[Fraction], q: Sequence[Fraction], order: int) -> Fraction:
    """sum p^a q^(1-a)."""
    return sum((x**order / y ** (order - 1) for x, y in zip(p, q, strict=True)), Fraction(0))


def laws() -> Iterator[Law]:
    """All laws of three outcomes in eighths."""
    for first in range(1, EIGHTHS - 1):
        for second in range(1, EIGHTHS - first):
            third = EIGHTHS - first - second
            yield Fraction(first, EIGHTHS), Fraction(second, EIGHTHS), Fraction(third, EIGHTHS)


def renyi_cases() -> Iterator[tuple[Law, Law, Fraction, int, int]]:
    """Two laws of one run, gamma, and both orders."""
    for p in laws():
        for q in laws():
            for gamma in GAMMAS:
                for a, b in ORDERS:
                    if p != q:
                        yield p, q, gamma, a, b


def renyi_bound(gamma: Fraction, one: Fraction, both: Fraction, a: int, b: int) -> Fraction:
    """The theorem's bound of the moment of order a, raised to the power b, for eta = 1.

    (a - 1) times it is log one + (a - 1) 2 (log both + log 1/gamma) / b + log E K, E K = 1/gamma. one: the moment of
    one run at a; both: the larger of its two at b.
    """
    return one**b * (both / gamma) ** (2 * (a - 1)) / gamma**b


def renyi_holds(case: tuple[Law, Law, Fraction, int, int]) -> bool:
    """Whether the exact moment of the selection is at most the bound."""
    p, q, gamma, a, b = case
    both = max(moment(p, q, b), moment(q, p, b))
    return moment(best(gamma, p), best(gamma, q), a) ** b <= renyi_bound(gamma, moment(p, q, a), both, a, b)


def pure_cases() -> Iterator[tuple[Law, Law, Fraction]]:
    """The laws in eighths, and a rare outcome that gets likelier where all above it gets rarer."""
    for p in laws():
        for q in laws():
            yield p, q, Fraction(1, 10)
    rare, above = Fraction(1, 1000), Fraction(1, 10)
    yield (1 - 2 * rare - above / 2, 2 * rare, above / 2), (1 - rare - above, rare, above), Fraction(1, 10_000)


def pure_power(eta: int) -> int:
    """How many times the largest ratio of one run a selection may have."""
    return 2 + eta


def pure_holds(case: tuple[Law, Law, Fraction]) -> bool:
    """Whether no outcome's ratio exceeds the largest of one run to the power 3 (eta = 1)."""
    p, q, gamma = case
    worst = max(max(x / y, y / x) for x, y in zip(p, q, strict=True))
    return all(x <= worst ** pure_power(1) * y for x, y in zip(best(gamma, p), best(gamma, q), strict=True))


PROPOSITIONS = (
    Proposition(
        "composition/selection-pure",
        "Liu, Talwar 2019; Papernot, Steinke 2022, Corollary 3",
        "If one run is epsilon-DP, the best of K runs, K drawn independently by the truncated negative binomial law of "
        "eta = 0 or 1 and not released, is (2 + eta) epsilon-DP.",
        about=(Repetitions.generating, geometric),
        evidence=(
            Proved(
                ForAll(
                    reals("s r b gamma"),
                    given=lambda s, r, b, gamma: (s >= 0, r >= 0, s <= b * r, b >= 1, gamma > 0, gamma <= 1),
                    holds=lambda s, r, b, gamma: mixed(s, gamma) <= b * mixed(r, gamma),
                ),
                label="s <= e^epsilon s' gives t <= e^epsilon t'",
            ),
            Proved(
                ForAll(
                    reals("p q t u b"),
                    given=lambda p, q, t, u, b: (p >= 0, q >= 0, t > 0, u > 0, b >= 1, p <= b * q, t <= b * u),
                    holds=lambda p, q, t, u, b: p * t <= b * b * (q * u),
                ),
                label="q' / t' <= e^(2 epsilon) q / t: eta = 0, and once more t / t' <= e^epsilon for eta = 1",
            ),
            Finite(pure_cases, pure_holds, "geometric K, three outcomes, enumerated exactly", supports=True),
        ),
        uses=("composition/events",),
        argument="Integrand by integrand: q' and s are probabilities of events of one run, f' is E K gamma^(1 + eta) "
        "over t^(1 + eta), and K has the same law on both data sets. Runs of equal scores are exchangeable: the "
        "first of them has the mass q of its outcome and s(u) = S + (1 - u) times that of its score.",
    ),
    Proposition(
        "composition/selection-renyi",
        "Papernot, Steinke 2022, Theorem 2",
        "If one run has Renyi divergence at most eps at the order a and, in both directions, eps' at the order b, the "
        "best of K runs has at the order a at most eps + (1 + eta) (1 - 1/b) eps' + (1 + eta) log(1/gamma) / b + "
        "log(E K) / (a - 1), for K of the truncated negative binomial law of eta = 0 or 1, not released, b > 1.",
        about=(Repetitions.generating, geometric, selected),
        evidence=(
            Proved(
                ForAll(
                    reals("s r gamma"),
                    given=lambda s, r, gamma: (s > 0, r > 0, gamma > 0, gamma <= 1),
                    holds=lambda s, r, gamma: (
                        mixed(r, gamma) ** 2 * s <= mixed(s, gamma) * (gamma * s + (1 - gamma) * r**2)
                    ),
                ),
                label="t'^b t^(1-b) <= gamma + (1 - gamma) s'^b s^(1-b) at b = 2",
            ),
            Finite(renyi_cases, renyi_holds, "geometric K, three outcomes in eighths, whole orders, enumerated exactly",
                   supports=True),
            Follows(
                "r^b s^(1-b) is convex in (r, s) and homogeneous, so that t'^b t^(1-b) <= gamma + (1 - gamma) s'^b "
                "s^(1-b) <= e^((b-1) eps') for every b > 1; with t >= gamma that bounds (t' / t)^b by e^((b-1) eps') / "
                "gamma, and f'(x)^a f'(x')^(1-a) = E K (gamma / t)^(1 + eta) (t' / t)^((1 + eta) (a - 1)) by E K times "
                "the (1 + eta) (a - 1) / b-th power of it"
            ),
        ),
        uses=("composition/events",),
        argument="The moment of two integrals is at most the integral of moments (joint convexity), where q^a q'^(1-a) "
        "adds up to the moment of one run. s^b s'^(1-b) is at most the moment of one run by post-processing.",
    ),
)  # fmt: skip
