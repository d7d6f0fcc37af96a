"""S-GBDT (Kirschte, Peinemann, Stock, Cotrini, Mohammadi): definitions, subsampling, composition, individual filter."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb
from typing import Any

import sympy

from proofs.checker.evidence import Exhibit, Finite, Follows, Identity, Proved
from proofs.checker.proposition import ADD_REMOVE, Proposition
from proofs.checker.statements import ForAll, reals
from proofs.checker.terms import Term, variables
from refdp.accounting.individual import subsampled_moment

ORDERS = range(2, 33)


def pointwise_is_not_enough() -> Mapping[str, Any] | None:
    """Uniform on N outcomes against uniform on N others: each outcome within delta = 1/N, yet always told apart."""
    outcomes = 100
    first = dict.fromkeys(range(outcomes), Fraction(1, outcomes))
    second = dict.fromkeys(range(outcomes, 2 * outcomes), Fraction(1, outcomes))
    delta, epsilon_factor = Fraction(1, outcomes), 1
    pointwise = all(p <= epsilon_factor * second.get(o, Fraction(0)) + delta for o, p in first.items())
    event = sum(first.values()) - epsilon_factor * sum(second.get(o, Fraction(0)) for o in first)
    if not pointwise or event <= delta:
        return None
    return {
        "M(D)": "uniform on 100 outcomes",
        "M(D')": "uniform on 100 others",
        "epsilon": 0,
        "delta": delta,
        "tells": event,
    }


def one_direction_is_not_enough() -> Mapping[str, Any] | None:
    """p = (1, 0) and q = (1/2, 1/2): finite divergence of p from q, infinite of q from p."""
    p, q = (Fraction(1), Fraction(0)), (Fraction(1, 2), Fraction(1, 2))
    forward = sum((a * a / b for a, b in zip(p, q)), Fraction(0))
    unbounded = any(a == 0 < b for a, b in zip(p, q))
    if not unbounded:
        return None
    return {"M(D)": p, "M(D with x)": q, "order": 2, "e^divergence": forward, "the other direction": "infinite"}


def expansion(order: int) -> bool:
    """subsampled_moment is sum_l C(alpha,l) (1-q)^(alpha-l) q^l growth^(l(l-1)), as polynomials in q and growth."""
    q, growth = (variables(["q", "growth"])[name] for name in ("q", "growth"))
    terms = [comb(order, k) * (1 - q) ** (order - k) * q**k * growth ** (k * (k - 1)) for k in range(order + 1)]
    return _same(subsampled_moment(order, q, growth), sum(terms[1:], terms[0]))


def unsampled(order: int) -> bool:
    """At rate 1 the moment is growth^(alpha(alpha-1)), hence the cost alpha t."""
    growth = variables(["growth"])["growth"]
    return _same(subsampled_moment(order, growth * 0 + 1, growth), growth ** (order * (order - 1)))


def _same(first: Any, second: Any) -> bool:
    difference: Term = first - second
    return difference.constant() == 0


PROPOSITIONS = (
    Proposition(
        "sgbdt/dp-definition",
        "slide (epsilon, delta)-Differential Privacy",
        "Pr[M(D) = o] <= e^epsilon Pr[M(D') = o] + delta for every output o is (epsilon, delta)-DP.",
        ADD_REMOVE,
        evidence=(Exhibit(pointwise_is_not_enough, "two disjoint uniform distributions"),),
        argument="With delta > 0 the inequality is needed for events, and in both directions. For delta = 0 outputs "
        "suffice.",
        repaired_by="sgbdt/dp-definition-events",
    ),
    Proposition(
        "sgbdt/dp-definition-events",
        "slide (epsilon, delta)-Differential Privacy, repaired",
        "Pr[M(D) in O] <= e^epsilon Pr[M(D') in O] + delta for all events is what sum (p - e^epsilon q)_+ <= delta "
        "says.",
        evidence=(
            Proved(
                ForAll(
                    reals("p q r s a"),
                    given=lambda p, q, r, s, a: (p >= a * q, r <= a * s, a >= 1, q >= 0, s >= 0),
                    holds=lambda p, q, r, s, a: (p - a * q >= (p + r) - a * (q + s), p - a * q >= r - a * s),
                )
            ),
        ),
        argument="The event of all outputs with p > e^epsilon q is the worst; adding others only lowers the "
        "difference.",
    ),
    Proposition(
        "sgbdt/rdp-definition",
        "slide (alpha, rho(alpha))-Renyi Differential Privacy",
        "Bounding D_alpha(M(D) || M(D with x)) for all D and x bounds the other direction as well.",
        ADD_REMOVE,
        evidence=(Exhibit(one_direction_is_not_enough, "a mechanism with two outcomes"),),
        argument="Renyi divergence is not symmetric; both directions have to be bounded.",
        repaired_by="sgbdt/subsampled-cost",
    ),
    Proposition(
        "sgbdt/subsampled-moment",
        "full text; slides: Subsampled tree learning",
        "With Poisson sampling at rate gamma, E[(P/Q)^alpha] of the mixture P against the base Q is refdp's sum.",
        ADD_REMOVE,
        about=(subsampled_moment,),
        evidence=(
            Identity(
                "q",
                integer="a",
                positive=True,
                left=lambda q, a: (1 - q) ** (a + 1) * ((a + 2) * q - q + 1),
                right=lambda q, a: (1 - q) ** (a + 2) + (a + 2) * q * (1 - q) ** (a + 1),
                label="the terms l = 0 and l = 1 together, for alpha = a + 2",
            ),
            Finite(
                cases=lambda: iter(ORDERS),
                holds=expansion,
                label="the loop is the binomial sum, for orders 2 to 32",
                supports=True,
            ),
            Finite(
                cases=lambda: iter(ORDERS),
                holds=unsampled,
                label="rate 1 gives alpha t, for orders 2 to 32",
                supports=True,
            ),
            Identity(
                "x v k s",
                left=lambda x, v, k, s: (-(x**2) + k * (x**2 - (x - v) ** 2)) / (2 * s**2),
                right=lambda x, v, k, s: (-((x - k * v) ** 2) + k * (k - 1) * v**2) / (2 * s**2),
                label="E_Q[L^l] = e^(l(l-1)t): completing the square in the exponent",
            ),
        ),
        argument="(1 - gamma + gamma L)^alpha expanded, L the density ratio of the shifted Gaussian, t = shift^2/(2 "
        "s^2). A record's shift is a vector; only its length matters. Others' sampling is fixed: Renyi moments are "
        "jointly convex.",
    ),
    Proposition(
        "sgbdt/subsampled-cost",
        "full text; slides: Subsampled tree learning",
        "The moment of the base against the mixture is at most that of the mixture against the base, for real alpha "
        ">= 1: a(alpha, gamma, t) bounds both directions.",
        ADD_REMOVE,
        evidence=(
            Proved(
                ForAll(
                    reals("x q"),
                    given=lambda x, q: (x >= 1, q >= 0, q <= 1),
                    holds=lambda x, q: (
                        (1 - q + q * x) * (1 - q + q / x) >= 1,
                        1 - q + q * x >= 1,
                        1 / (1 - q + q / x) >= 1,
                        1 - q + q * x - 1 == ((1 - q) * x + q) * (1 / (1 - q + q / x) - 1),
                        x / (1 / (1 - q + q / x)) == (1 - q) * x + q,
                    ),
                ),
                label="a = 1-q+qx, b = 1-q+q/x, u = 1/b: a >= u >= 1, a - 1 = (x/u)(u - 1)",
            ),
            Identity(
                "s k",
                left=lambda s, k: sympy.exp((k + sympy.Rational(1, 2)) * s) - sympy.exp((sympy.Rational(1, 2) - k) * s),
                right=lambda s, k: 2 * sympy.exp(s / 2) * sympy.sinh(k * s),
                label="phi(e^s) = e^(alpha s) - e^((1-alpha) s) = 2 e^(s/2) sinh(k s), k = alpha - 1/2",
            ),
            Identity(
                "t",
                positive=True,
                left=lambda t: sympy.diff(t * sympy.cosh(t) / sympy.sinh(t), t),
                right=lambda t: (sympy.sinh(2 * t) / 2 - t) / sympy.sinh(t) ** 2,
                label="derivative of t coth t",
            ),
            Identity(
                "t",
                positive=True,
                left=lambda t: sympy.diff(sympy.sinh(2 * t) / 2 - t, t),
                right=lambda t: 2 * sympy.sinh(t) ** 2,
                label="whose numerator grows from 0",
            ),
            Identity(
                "x v s",
                left=lambda x, v, s: ((v - x) ** 2 - x**2) / (2 * s**2) + (2 * x * v - v**2) / (2 * s**2),
                right=lambda: 0,
                label="reflecting x to v - x weighs by e^z = L and turns L into 1/L",
            ),
        ),
        uses=("sgbdt/subsampled-moment",),
        argument="Reflection pairs outcomes of ratio x >= 1 and 1/x with weights 1 and x, so that phi(a) >= (x/u) "
        "phi(u) suffices. sinh(kA)/sinh(kU) grows with k for A >= U because t coth t grows, so that k = 1/2 is the "
        "worst case, and there both sides are equal (Mironov, Talwar, Zhang 2019, Theorem 5, proved here for "
        "Gaussians).",
    ),
    Proposition(
        "sgbdt/filter",
        "slides Tailoring individual Renyi filters",
        "If a record takes part only while the sum of its own costs of order alpha, this round's included, is at "
        "most B, the adaptive sequence of releases has Renyi divergence of order alpha at most B for that record.",
        ADD_REMOVE,
        evidence=(
            Proved(
                ForAll(
                    reals("spent cost B"),
                    given=lambda spent, cost, B: (spent <= B, cost >= 0),
                    holds=lambda spent, cost, B: (spent + cost if spent + cost <= B else spent) <= B,
                ),
                label="the sum never exceeds B, on any path",
            ),
            Proved(
                ForAll(
                    reals("weight moment discount"),
                    given=lambda weight, moment, discount: (weight >= 0, discount > 0, moment * discount <= 1),
                    holds=lambda weight, moment, discount: weight * moment * discount <= weight,
                ),
                label="one history: E[(p/q)^alpha e^(-(alpha-1) spent)] does not grow",
            ),
        ),
        uses=("composition/events",),
        argument="discount = e^(-(alpha-1) cost), moment of the round given the history; an inactive record has "
        "moment 1 and cost 0. At the end E[(p/q)^alpha] <= e^((alpha-1)B) as spent <= B (Feldman and Zrnic 2021, "
        "Theorem 4.5). Costs may depend on released values and the record, the order is fixed before the run.",
    ),
    Proposition(
        "sgbdt/guarantee",
        "slides Tailoring individual Renyi filters; full text",
        "Training with regular and extra rounds and a filter at B = a(alpha, gamma, 1/sigma^2) T_regular is (alpha, "
        "B)-RDP, and (epsilon, delta)-DP by the conversion at that alpha.",
        ADD_REMOVE,
        evidence=(Follows("a round costs each active record its own subsampled cost; the filter bounds the sum"),),
        uses=(
            *("sgbdt/individual", "sgbdt/subsampled-cost", "sgbdt/filter", "sgbdt/whitened-add-remove"),
            *("composition/renyi-sequential", "composition/renyi-to-dp", "composition/post-processing"),
        ),
        argument="Splits are drawn without the records; leaf values and predictions are functions of the noisy sums, "
        "with max(lambda, noisy support) as with lambda + noisy support.",
    ),
)
