"""Facts that several papers use: what one release costs, and Renyi divergence."""

from __future__ import annotations

from typing import Any

import sympy

from proofs.checker.evidence import Identity, Proved
from proofs.checker.proposition import Proposition
from proofs.checker.statements import AtMost, ForAll, reals
from proofs.checker.tightness import Tight
from proofs.composition.releases import laplace_loss
from refdp.data.numbers import absolute

PROPOSITIONS = (
    Proposition(
        "composition/laplace",
        "Li et al. 2020, Theorem 1",
        "Laplace noise of scale Delta / epsilon on every coordinate is epsilon-DP for values of L1 sensitivity Delta.",
        evidence=(
            Proved(
                AtMost(
                    reals("v w o scale"),
                    given=lambda scale: scale > 0,
                    quantity=lambda v, w, o, scale: laplace_loss(v, w, o, scale),
                    bound=lambda v, w, scale: absolute(v - w) / scale,
                ),
                tight=Tight(
                    "|v - v'| / scale",
                    "for every output at or beyond v, away from v'",
                    at=lambda v: {"o": v},
                    given=lambda scale: scale > 0,
                    near={"v": 1, "w": 0, "o": 2, "scale": 1},
                ),
            ),
        ),
        uses=("composition/events",),
        argument="The privacy loss of a coordinate; independent coordinates add, and sum |v - v'| / scale <= epsilon.",
    ),
    Proposition(
        "composition/exponential-range",
        "Li et al. 2020, Theorem 2, sharpened",
        "Choosing with probability proportional to exp(k u) has privacy loss below k R, R the largest minus the "
        "smallest change of the utilities.",
        evidence=(
            Proved(
                AtMost(
                    reals("w rest e shifted low high"),
                    given=lambda w, rest, e, shifted, low, high: (
                        *(w > 0, rest > 0, low > 0, low < high),
                        *(low <= e, e <= high, low * rest <= shifted, shifted <= high * rest),
                    ),
                    quantity=lambda w, rest, e, shifted: (w / (w + rest)) / (w * e / (w * e + shifted)),
                    bound=lambda low, high: high / low,
                ),
                tight=Tight(
                    "k R",
                    "as the options that gain most come to hold all the weight, for the option that loses most",
                    at=lambda k, low, high: {"w": 1, "rest": k, "e": low, "shifted": high * k},
                    given=lambda low, high: (low > 0, low < high),
                    near={"w": 1, "rest": 10**5, "e": 1, "shifted": 2 * 10**5, "low": 1, "high": 2},
                    limit=True,
                ),
                label="ratio of the chosen option",
            ),
            Proved(
                ForAll(
                    reals("rest shifted w e low high"),
                    given=lambda rest, shifted, w, e, low, high: (
                        *(w > 0, low <= e, e <= high),
                        *(low * rest <= shifted, shifted <= high * rest),
                    ),
                    holds=lambda rest, shifted, w, e, low, high: (
                        low * (rest + w) <= shifted + e * w,
                        shifted + e * w <= high * (rest + w),
                    ),
                ),
                label="induction over the other options",
            ),
        ),
        uses=("composition/events",),
        argument="low, high, e: exp(k change) of the least, the most and the chosen option; rest, shifted: total "
        "weight of the other options on either data set. Excluded options must be the same on both.",
    ),
    Proposition(
        "composition/exponential",
        "Li et al. 2020, Theorem 2",
        "Choosing with probability proportional to exp(epsilon u / (2 Delta u)) is epsilon-DP if no utility changes "
        "by more than Delta u.",
        evidence=(
            Proved(
                ForAll(
                    reals("most least delta epsilon"),
                    given=lambda most, least, delta, epsilon: (
                        *(delta > 0, epsilon > 0, most <= delta, least >= -delta),
                        least <= most,
                    ),
                    holds=lambda most, least, delta, epsilon: epsilon / (2 * delta) * (most - least) <= epsilon,
                ),
                label="range of the changes against twice the largest",
            ),
        ),
        uses=("composition/exponential-range",),
        gloss="most, least: the largest and smallest change of the utilities; delta: Delta u.",
    ),
    Proposition(
        "composition/gaussian",
        "shared",
        "D_alpha(N(v, sd^2) || N(w, sd^2)) = alpha (v - w)^2 / (2 sd^2), and coordinates add.",
        evidence=(
            Identity(
                "x v w a s",
                left=lambda x, v, w, a, s: (a * (x - v) ** 2 + (1 - a) * (x - w) ** 2) / (2 * s**2),
                right=lambda x, v, w, a, s: (
                    (x - (a * v + (1 - a) * w)) ** 2 / (2 * s**2) - (a - 1) * a * (v - w) ** 2 / (2 * s**2)
                ),
                label="completing the square in the exponent of p^alpha q^(1 - alpha)",
            ),
        ),
        argument="The first part integrates to a normal density's 1; the rest is (alpha - 1) times the divergence.",
    ),
    Proposition(
        "composition/renyi-sequential",
        "S-GBDT slides, budget for m trees",
        "If each release, given all earlier outputs, has Renyi divergence of order alpha at most rho_i, the sequence "
        "has at most the sum.",
        evidence=(
            Proved(
                ForAll(
                    reals("moment weight factor bound"),
                    given=lambda moment, weight, factor, bound: (
                        *(weight >= 0, factor >= 0, moment >= 0, bound >= 0),
                        moment <= bound,
                    ),
                    holds=lambda moment, weight, factor, bound: weight * factor * moment <= weight * factor * bound,
                ),
                label="one history: p^alpha q^(1-alpha) of what was before, times the moment of the next release",
            ),
        ),
        uses=("composition/events",),
        argument="Sum over histories: E[(p/q)^alpha] of the sequence is at most the earlier one times e^((alpha-1) "
        "rho).",
    ),
    Proposition(
        "composition/renyi-to-dp",
        "shared",
        "Renyi divergence rho of order alpha > 1 gives (epsilon, delta) with epsilon = rho + log((alpha-1)/alpha) - "
        "(log delta + log alpha)/(alpha-1).",
        evidence=(
            Identity(
                "a",
                left=lambda a: _slope(a).subs("x", (a - 1) / a),
                right=lambda: 0,
                positive=True,
                label="log((1-x) x^(alpha-1)) is stationary at x = (alpha-1)/alpha",
            ),
            Proved(
                ForAll(
                    reals("x a"),
                    given=lambda x, a: (x > 0, x < 1, a > 1),
                    holds=lambda x, a: -1 / ((1 - x) * (1 - x)) - (a - 1) / (x * x) < 0,
                ),
                label="and strictly concave, so that this is its maximum",
            ),
            Identity(
                "rho e b",
                left=lambda rho, e, b: rho + sympy.log(b / (b + 1)) - (_log_delta(rho, e, b) + sympy.log(b + 1)) / b,
                right=lambda e: e,
                positive=True,
                label="solving log delta = (alpha-1)(rho - epsilon) + log of that maximum for epsilon, b = alpha-1",
            ),
        ),
        argument="delta = E[(1 - e^(epsilon - loss))_+] <= max_x (1-x) x^(alpha-1) E[e^((alpha-1)(loss - epsilon))], "
        "x = e^(epsilon - loss) in (0, 1) (Canonne, Kamath, Steinke 2020, Proposition 12).",
    ),
)


def _slope(a: Any) -> Any:
    x = sympy.Symbol("x")
    return sympy.diff(sympy.log(1 - x) + (a - 1) * sympy.log(x), x)


def _log_delta(rho: Any, e: Any, b: Any) -> Any:
    """(alpha-1)(rho - epsilon) + log(1/alpha) + (alpha-1) log((alpha-1)/alpha), alpha = b + 1."""
    return b * (rho - e) - sympy.log(b + 1) + b * sympy.log(b / (b + 1))
