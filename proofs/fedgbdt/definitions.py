"""Federated framework (Maddock et al., CCS 2022): definitions 2.1 to 2.3 and the conversion of RDP.

A Renyi moment of order a between P and Q is the sum over outcomes of p^a q^(1-a); (a, t)-RDP bounds it by
exp((a - 1) t). Statements about moments are made for one or two outcomes and summed or integrated over all.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy

from proofs.checker.enclosures import Enclosed
from proofs.checker.evidence import Exhibit, Identity, Proved
from proofs.checker.proposition import Proposition
from proofs.checker.statements import Count, ForAll, reals
from refdp.data.numbers import exp, log

HALF = Fraction(1, 2)
Table = Mapping[str, Fraction]


def tail(first: Table, second: Table, odds: Fraction) -> Fraction:
    """P(L >= log odds) for P = first, Q = second, L the privacy loss."""
    return sum((p for o, p in first.items() if p >= odds * second[o]), Fraction(0))


def hockey_stick(first: Table, second: Table, odds: Fraction) -> Fraction:
    """The smallest delta of (log odds, delta)-DP between P and Q in the usual sense."""
    return sum((max(p - odds * second[o], Fraction(0)) for o, p in first.items()), Fraction(0))


def moment(first: Table, second: Table, order: int) -> Fraction:
    """The Renyi moment of integer order."""
    return sum((p**order / second[o] ** (order - 1) for o, p in first.items()), Fraction(0))


def merged(table: Table) -> Table:
    """The first two outcomes made indistinguishable: post-processing."""
    return {"a or b": table["a"] + table["b"], "c": table["c"]}


QUARTERS: tuple[Table, Table] = ({"1": Fraction(3, 4), "0": Fraction(1, 4)}, {"1": Fraction(1, 4), "0": Fraction(3, 4)})
THREE: tuple[Table, Table] = (
    {"a": Fraction(1, 10), "b": Fraction(1, 10), "c": Fraction(8, 10)},
    {"a": Fraction(1, 100), "b": Fraction(9, 100), "c": Fraction(9, 10)},
)


def approximate_is_not_probabilistic() -> Mapping[str, Any] | None:
    """Randomised response with p = 3/4 at epsilon = log 2."""
    delta, probability = hockey_stick(*QUARTERS, Fraction(2)), tail(*QUARTERS, Fraction(2))
    if hockey_stick(QUARTERS[1], QUARTERS[0], Fraction(2)) > delta or probability <= delta:
        return None
    return {"mechanism": "randomised response, p = 3/4", "exp(epsilon)": 2, "delta": delta, "P(L >= eps)": probability}


def printed_definition_is_weaker() -> Mapping[str, Any] | None:
    """P = (1/2, 1/2), Q = (1/100, 99/100), order 2, t = 1/2: E[L] <= exp(t) but E[exp(L)] > exp(t)."""
    first, second = {"1": HALF, "0": HALF}, {"1": Fraction(1, 100), "0": Fraction(99, 100)}
    true_moment = moment(first, second, 2)
    ratio = Fraction(2500, 99)  # E[L] = log(ratio) / 2, the product of both likelihood ratios being `ratio`
    at: dict[str, tuple[Fraction, Fraction]] = {"t": (HALF, HALF)}
    printed = Enclosed(at, quantity=lambda t: -log(ratio + 0 * t) / 2, bound=lambda t: -exp(t))
    real = Enclosed(at, quantity=lambda t: true_moment + 0 * t, bound=lambda t: exp(t))
    if not (printed.fails_at({"t": HALF}) and real.fails_at({"t": HALF})):
        return None
    return {"t": HALF, "order": 2, "E[L]": "log(2500/99)/2 < exp(1/2)", "E[exp(L)]": f"{true_moment} > exp(1/2)"}


def printed_definition_does_not_compose() -> Mapping[str, Any] | None:
    """Two releases with E[L] = 1 meet the printed definition of order 2 with t = 0; together E[L] = 2 > exp(0)."""
    shift_squared = Fraction(2)  # Gaussian of unit variance, E[L] = shift^2 / 2 = 1
    one, both = shift_squared / 2, 2 * (shift_squared / 2)
    return {"E[L] of one": one, "E[L] of both": both, "exp(t1 + t2)": 1} if one <= 1 < both else None


PROPOSITIONS = (
    Proposition(
        "fedgbdt/definition-2-1",
        "Definition 2.1",
        "Gaussian noise of variance v, output z beyond the true value, true values c apart: L = (c^2 + 2 c z)/(2 v).",
        evidence=(
            Proved(
                ForAll(
                    reals("z c v"),
                    lambda z, c, v: ((z + c) ** 2 - z * z) / (2 * v) - (c * c + 2 * c * z) / (2 * v) == 0,
                    lambda v: v > 0,
                )
            ),
        ),
        gloss="Hence L is normal with mean c^2/(2v) and variance c^2/v. The definition needs densities, and leaves "
        "open whether neighbours differ by adding or by replacing one individual: both are treated here.",
    ),
    Proposition(
        "fedgbdt/definition-2-2",
        "Definition 2.2",
        "P(L >= epsilon) <= delta implies (epsilon, delta)-DP in the usual sense, P(S) <= exp(epsilon) Q(S) + delta.",
        evidence=(
            Proved(
                ForAll(
                    reals("p q e"),
                    lambda p, q, e: (p - e * q <= (p if p >= e * q else 0 * p),),
                    lambda p, q, e: (p >= 0, q >= 0, e >= 1),
                )
            ),
        ),
        argument="p, q: densities of one outcome, e = exp(epsilon); summed over the outcomes in S.",
    ),
    Proposition(
        "fedgbdt/definition-2-2-converse",
        "Definition 2.2",
        "Definition 2.2 is (epsilon, delta)-DP: the usual condition implies P(L >= epsilon) <= delta.",
        evidence=(Exhibit(approximate_is_not_probabilistic, "exact counterexample"),),
        argument="Definition 2.2 is probabilistic DP; the cited [5] subtracts exp(epsilon) P(L' <= -epsilon).",
        repaired_by="fedgbdt/definition-2-2",
    ),
    Proposition(
        "fedgbdt/conversion",
        "Section 2.2, conversion by [13], Proposition 12",
        "(a, t)-RDP implies (eps, delta)-DP in the usual sense, delta = exp((a-1)(t-eps)) (1-1/a)^a / (a-1), a > 1.",
        uses=("fedgbdt/power-inequality", "fedgbdt/definition-2-3-repaired"),
        evidence=(
            Proved(
                ForAll(
                    reals("x z a"),
                    lambda x, z, a: x - 1 <= z / (a - 1),
                    lambda x, z, a: (a > 1, z >= 1 + a * (x * (a - 1) / a - 1)),
                ),
                label="x - 1 <= z/(a-1), z = (x (a-1)/a)^a",
            ),
        ),
        argument="x = p/(q exp(eps)); z >= 1 + a (x (a-1)/a - 1) is the power inequality. Times q exp(eps), summed: "
        "P(S) - exp(eps) Q(S) <= (1-1/a)^a/(a-1) exp(-(a-1) eps) times the moment.",
    ),
    Proposition(
        "fedgbdt/definition-2-3",
        "Definition 2.3",
        "E[L^(a-1)] <= exp((a-1) t), as printed, is Renyi DP of order a: it bounds the Renyi divergence by t.",
        evidence=(
            Exhibit(printed_definition_is_weaker, "counterexample in rigorous enclosures", ("arb", "mpmath iv")),
            Exhibit(printed_definition_does_not_compose, "nor does Fact 2.3 hold for it"),
        ),
        argument="The power belongs outside of the exponential: E[exp((a-1) L)].",
        repaired_by="fedgbdt/definition-2-3-repaired",
    ),
    Proposition(
        "fedgbdt/definition-2-3-repaired",
        "Definition 2.3, repaired",
        "E[exp((a-1) L)] <= exp((a-1) t) bounds the Renyi divergence of order a by t.",
        evidence=(
            Identity(
                "p q b",
                left=lambda p, q, b: p * sympy.exp(b * sympy.log(p / q)),
                right=lambda p, q, b: p ** (1 + b) * q ** (-b),
                positive=True,
                label="one outcome's share of the moment, b = a - 1",
            ),
        ),
        gloss="p, q: densities of an outcome.",
    ),
    Proposition(
        "fedgbdt/power-inequality",
        "behind Fact 2.4 and the conversion",
        "y^a >= 1 + a (y - 1) for y > 0 and every real order a > 1.",
        evidence=(
            Identity(
                "y a",
                left=lambda y, a: sympy.diff(y**a - 1 - a * (y - 1), y),
                right=lambda y, a: a * (y ** (a - 1) - 1),
                positive=True,
                label="derivative",
            ),
            Proved(
                ForAll(
                    (Count("a", start=1), *reals("y z")),
                    lambda a, y, z: y * z >= 1 + (a + 1) * (y - 1),
                    lambda a, y, z: (y > 0, z >= 1 + a * (y - 1)),
                ),
                label="integer orders by induction: z = y^a",
            ),
        ),
        argument="The difference is 0 at y = 1; its derivative a (y^(a-1) - 1) is <= 0 before and >= 0 after, because "
        "y^(a-1) increases in y.",
    ),
)
