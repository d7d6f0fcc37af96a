"""DP-XGBoost: Algorithm 1, the noisy average, and its repair."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs.checker.conditions import NO_EMPTY_LEAF
from proofs.checker.enclosures import Enclosed
from proofs.checker.evidence import BoundedCounterexample, Exhibit, Identity, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, ForAll, Real, within
from proofs.checker.tightness import Tight
from proofs.dpxgboost.leaves import kept_and_dropped
from proofs.dpxgboost.splits import AR, BOUND, COUNT, LAMBDA, OTHER, RECORD, RO, TENTH
from refdp.data.numbers import absolute, log
from refdp.papers import dpxgboost as paper
from refdp.papers.published import dpxgboost as printed

SUM_S = Real("S")
AVERAGE = (SUM_S, Count("n", start=1), Real("v"), RECORD, LAMBDA)


def average_loss(v: Any, S: Any, n: Any, g: Any, lam: Any, e: Any) -> Any:
    """Loss of Algorithm 1 at V = v when a record of gradient g joins: log density with it minus without it."""
    scale = printed.noisy_average_scale(1, e)
    with_record = printed.noisy_average_log_density(v, S + g, n + 1, lam, scale)
    return with_record - printed.noisy_average_log_density(v, S, n, lam, scale)


def average_excess(S: Any, n: Any, v: Any, g: Any, lam: Any) -> Any:
    """|v (n + lambda) - S| - |v (n + 1 + lambda) - S - g|: the part of that loss in units of the noise's scale."""
    return absolute(v * (n + lam) - S) - absolute(v * (n + 1 + lam) - S - g)


def average_domain(S: Any, n: Any, v: Any, g: Any, lam: Any) -> tuple[Any, ...]:
    """Gradients and outputs within [-1, 1], g* = 1 being the unit."""
    return lam >= 0, *within(g, 1), *within(S, n), *within(v, 1)


def log_ratio(lam: Any) -> Any:
    """log((2 + lambda)/(1 + lambda)), the logarithm of the counts at a leaf of one record."""
    return log((2 + lam) / (1 + lam))


def moved_average_loss(e: Any) -> Any:
    """A record of gradient -1 in a leaf of 10^4 others moves to a leaf of one, as a gradient of 1."""
    many = Fraction(10**4)
    left = -average_loss(Fraction(1), Fraction(0), many, Fraction(-1), TENTH, e)
    return left + average_loss(Fraction(0), Fraction(-1), Fraction(1), Fraction(1), TENTH, e)


def newton_ratio(suffix: str, relation: str, records: int, kind: Any) -> Proposition:
    """Algorithm 1 with Hessians in the place of counts."""
    return Proposition(
        f"dpxgboost/noisy-newton-ratio{suffix}",
        "Algorithm 1, repaired, with Eq. 3",
        f"The pairs (G, w H) of all leaves have L1 sensitivity {'2 g* + 2 w h*' if records == 2 else 'g* + w h*'}.",
        relation,
        about=(paper.noisy_newton_sensitivity,),
        evidence=(
            Proved(
                AtMost(
                    (RECORD, OTHER, Real("h"), Real("z"), BOUND, Real("top"), Real("w")),
                    lambda g, other, h, z, w: absolute(g) + w * h + (records - 1) * (absolute(other) + w * z),
                    lambda B, top, w: paper.noisy_newton_sensitivity(B, top, w, kind),
                    lambda g, other, h, z, B, top, w: (
                        *(B > 0, top > 0, w > 0, h >= 0, h <= top, z >= 0, z <= top),
                        *within(g, B),
                        *within(other, B),
                    ),
                ),
                tight=Tight(
                    "2 g* + 2 w h*" if records == 2 else "g* + w h*",
                    "at |g| = g* and h = h*" + (", when a record moves to another leaf" if records == 2 else ""),
                    at=lambda B, top: {"g": B, "other": B, "h": top, "z": top},
                    near={"g": 1, "other": 1, "h": 1, "z": 1, "B": 1, "top": 1, "w": 1},
                    given=lambda B, top, w: (B > 0, top > 0, w > 0),
                ),
            ),
        ),
        argument="A leaf that keeps a replaced record changes by at most what leaving and joining change.",
    )


def child_counts(suffix: str, relation: str, records: int, kind: Any) -> Proposition:
    """The minimum child weight, decided on noisy counts."""
    return Proposition(
        f"dpxgboost/child-counts{suffix}",
        "section 4.3, repaired",
        f"The numbers of records of all children of a level change by at most {records} (L1).",
        relation,
        about=(paper.child_count_sensitivity,),
        evidence=(
            Proved(
                AtMost(
                    (COUNT, Count("m")),
                    lambda n, m: absolute((n + 1) - n) + (records - 1) * absolute(m - (m + 1)),
                    lambda: paper.child_count_sensitivity(kind),
                ),
                tight=Tight(
                    str(records),
                    "always" if records == 1 else "when a record moves to another child",
                    at=lambda: dict[str, Any](),
                    near={"n": 1, "m": 1},
                ),
            ),
        ),
        argument="Children of a level are disjoint. Which nodes stop follows from the noisy counts alone.",
    )


PROPOSITIONS = (
    Proposition(
        "dpxgboost/noisy-average",
        "Algorithm 1",
        "The noisy average with the exact count is epsilon-DP.",
        ADD_REMOVE,
        about=(printed.noisy_average_log_density, printed.noisy_average_scale),
        evidence=(
            BoundedCounterexample(
                Enclosed(
                    {"e": (TENTH, 1)},
                    lambda e: average_loss(Fraction(0), Fraction(-1), Fraction(1), Fraction(1), TENTH, e),
                    lambda e: e,
                ),
                {"e": 1},
            ),
        ),
        argument="lambda = 1/10, output 0, gradients {-1} and {-1, 1}: the loss is 1/2 + log(21/11) = 1.147.",
        repaired_by="dpxgboost/noisy-average-cost",
    ),
    Proposition(
        "dpxgboost/noisy-average-cost",
        "Algorithm 1, repaired",
        "Without empty leaves Algorithm 1 is max(epsilon, epsilon/2 + log((2+lambda)/(1+lambda)))-DP, and no better.",
        ADD_REMOVE,
        about=(printed.noisy_average_log_density, printed.noisy_average_scale, printed.noisy_average_loss_bound),
        assumes=(NO_EMPTY_LEAF,),
        evidence=(
            Identity(
                "S v g a b c",
                lambda S, v, g, a, b, c: average_loss(v, S, sympy.exp(a), g, sympy.exp(b), sympy.exp(c)),
                lambda S, v, g, a, b, c: (
                    sympy.log((sympy.exp(a) + 1 + sympy.exp(b)) / (sympy.exp(a) + sympy.exp(b)))
                    + sympy.exp(c) / 2 * average_excess(S, sympy.exp(a), v, g, sympy.exp(b))
                ),
                label="the loss, with n = e^a, lambda = e^b, epsilon = e^c positive",
            ),
            Proved(
                AtMost(AVERAGE, average_excess, lambda n, lam: (2 * n + lam) / (n + 1 + lam), average_domain),
                tight=Tight(
                    "max(epsilon, epsilon/2 + log((2 + lambda)/(1 + lambda)))",
                    "at V = 0 for a leaf of one record that gains its opposite; epsilon is approached as leaves grow",
                    at=lambda n, lam: {"S": -n, "g": 1, "v": (1 - n) / (n + 1 + lam)},
                    near={"S": -1, "n": 1, "v": 0, "g": 1, "lam": 1},
                    given=lambda n, lam: (n >= 1, lam > 0),
                ),
                label="exponent of the loss with the record over without it",
            ),
            Proved(
                AtMost(AVERAGE, lambda S, n, v, g, lam: -average_excess(S, n, v, g, lam), lambda: 2, average_domain),
                label="exponent of the loss without the record over with it, whose logarithm of the counts is negative",
            ),
            Proved(
                ForAll(
                    AVERAGE,
                    lambda S, n, g, lam: (
                        *(n + lam - S >= 0, n + 1 + lam - S - g >= 0),
                        *((n + 1 + lam - S - g) - (n + lam - S) >= 0, (n + 1 + lam - S - g) - (n + lam - S) <= 2),
                    ),
                    average_domain,
                ),
                label="exponents of the two tails that the cut to [-g*, g*] turns into atoms",
            ),
            Identity(
                "x e lam",
                lambda x, e, lam: sympy.diff(-sympy.log(1 - x) - e * (2 + lam) * x / 2, x, 2),
                lambda x: 1 / (1 - x) ** 2,
                label="loss - epsilon is convex in x = 1/(n + 1 + lambda), so largest at x = 0 or at n = 1",
            ),
            Identity(
                "n lam e",
                lambda n, lam, e: sympy.log((n + 1 + lam) / (n + lam)) + e / 2 * (2 * n + lam) / (n + 1 + lam) - e,
                lambda n, lam, e: -sympy.log((n + lam) / (n + 1 + lam)) - e * (2 + lam) / (n + 1 + lam) / 2,
                positive=True,
                label="the loss in terms of x",
            ),
            Identity(
                "e lam",
                lambda e, lam: average_loss(0, -1, 1, 1, lam, e),
                lambda e, lam: e / 2 + sympy.log((2 + lam) / (1 + lam)),
                positive=True,
                label="the loss attained at n = 1",
            ),
        ),
        argument="Add e/2 times the exponent's bound to the logarithm of (n + 1 + lambda)/(n + lambda).",
    ),
    Proposition(
        "dpxgboost/noisy-average-condition",
        "Algorithm 1, repaired",
        "Without empty leaves Algorithm 1 is epsilon-DP whenever epsilon >= 2 log((2 + lambda)/(1 + lambda)), 1.2933 "
        "for lambda = 1/10.",
        ADD_REMOVE,
        about=(printed.noisy_average_loss_bound,),
        evidence=(
            Proved(
                ForAll(
                    (Real("e"), Real("c")),
                    lambda e, c: e / 2 + c <= e,
                    lambda e, c: e >= 2 * c,
                ),
                label="epsilon is the larger of the two then",
            ),
            Identity(
                "e d",
                lambda e, d: printed.noisy_average_loss_bound(2 * log_ratio(e) + d, e),
                lambda e, d: 2 * log_ratio(e) + d,
                positive=True,
                label="the bound at epsilon = 2 c + d, for lambda = e and d > 0",
            ),
        ),
        uses=("dpxgboost/noisy-average-cost",),
        gloss="c = log((2 + lambda)/(1 + lambda)). Below that, no scale of the noise helps.",
    ),
    Proposition(
        "dpxgboost/noisy-average-same-leaf-replace-one",
        "Algorithm 1",
        "The noisy average is epsilon-DP where a record's replacement stays in its leaf.",
        REPLACE_ONE,
        about=(printed.noisy_average_log_density, printed.noisy_average_scale),
        evidence=(
            Proved(
                AtMost(
                    (SUM_S, COUNT, Real("v"), RECORD, OTHER, LAMBDA, Real("e")),
                    lambda S, n, v, g, other, lam, e: (
                        (absolute(v * (n + lam) - S - other) - absolute(v * (n + lam) - S - g))
                        / printed.noisy_average_scale(1, e)
                    ),
                    lambda e: e,
                    lambda g, other, lam, e: (lam > 0, e > 0, *within(g, 1), *within(other, 1)),
                ),
                tight=Tight(
                    "epsilon",
                    "for g* against -g*, at every output on the far side",
                    at=lambda n, lam: {"S": 0, "g": 1, "other": -1, "v": 1 / (n + lam)},
                    near={"S": 0, "n": 1, "g": 1, "other": -1, "v": Fraction(1, 2), "lam": 1, "e": 1},
                    given=lambda n, lam, e: (n >= 1, lam > 0, e > 0),
                ),
            ),
        ),
        argument="The count is the same on both data sets.",
    ),
    Proposition(
        "dpxgboost/noisy-average-replace-one",
        "Algorithm 1",
        "The noisy average with the exact count is epsilon-DP for all leaves together.",
        REPLACE_ONE,
        about=(printed.noisy_average_log_density, printed.noisy_average_scale),
        evidence=(BoundedCounterexample(Enclosed({"e": (TENTH, 1)}, moved_average_loss, lambda e: 2 * e), {"e": 1}),),
        argument="A record that moves changes two leaves; at epsilon = 1, lambda = 1/10 the loss exceeds 2 epsilon.",
        repaired_by="dpxgboost/noisy-ratio-replace-one",
    ),
    Proposition(
        "dpxgboost/noisy-ratio",
        "Algorithm 1, repaired",
        "The pairs (S, w n) of all leaves have L1 sensitivity g* + w; their noisy ratio is post-processing.",
        ADD_REMOVE,
        about=(paper.noisy_ratio_sensitivity,),
        evidence=(
            Proved(
                AtMost(
                    (RECORD, BOUND, Real("w")),
                    lambda g, w: absolute(g) + w,
                    lambda B, w: paper.noisy_ratio_sensitivity(B, w, AR),
                    lambda g, B, w: (B > 0, w > 0, *within(g, B)),
                ),
                tight=Tight(
                    "g* + w",
                    "at |g| = g*",
                    at=lambda B: {"g": B},
                    near={"g": 1, "B": 1, "w": 1},
                    given=lambda B, w: (B > 0, w > 0),
                ),
            ),
        ),
    ),
    Proposition(
        "dpxgboost/noisy-ratio-replace-one",
        "Algorithm 1, repaired",
        "The pairs (S, w n) of all leaves have L1 sensitivity 2 g* + 2 w; their noisy ratio is post-processing.",
        REPLACE_ONE,
        about=(paper.noisy_ratio_sensitivity,),
        evidence=(
            Proved(
                AtMost(
                    (RECORD, OTHER, BOUND, Real("w")),
                    lambda g, other, w: absolute(g) + absolute(other) + 2 * w,
                    lambda B, w: paper.noisy_ratio_sensitivity(B, w, RO),
                    lambda g, other, B, w: (B > 0, w > 0, *within(g, B), *within(other, B)),
                ),
                tight=Tight(
                    "2 g* + 2 w",
                    "when a record of gradient g* moves to another leaf",
                    at=lambda B: {"g": B, "other": B},
                    near={"g": 1, "other": 1, "B": 1, "w": 1},
                    given=lambda B, w: (B > 0, w > 0),
                ),
                label="from one leaf to another",
            ),
            Proved(
                AtMost(
                    (RECORD, OTHER, BOUND, Real("w")),
                    lambda g, other: absolute(g - other),
                    lambda B, w: paper.noisy_ratio_sensitivity(B, w, RO),
                    lambda g, other, B, w: (B > 0, w > 0, *within(g, B), *within(other, B)),
                ),
                label="in the same leaf",
            ),
        ),
    ),
    *(newton_ratio(*arguments) for arguments in (("", ADD_REMOVE, 1, AR), ("-replace-one", REPLACE_ONE, 2, RO))),
    *(child_counts(*arguments) for arguments in (("", ADD_REMOVE, 1, AR), ("-replace-one", REPLACE_ONE, 2, RO))),
    Proposition(
        "dpxgboost/empty-leaves",
        "section 4.3",
        "The count of a leaf is never zero, so that Algorithm 1 needs no other case.",
        ADD_REMOVE,
        about=(paper.large_enough,),
        evidence=(Exhibit(lambda: kept_and_dropped((1, 60), (0, 60), 1), "one record fewer empties a leaf"),),
        repaired_by="dpxgboost/noisy-ratio",
    ),
    Proposition(
        "dpxgboost/clamp",
        "Algorithm 1",
        "Cutting the average to [-g*, g*] costs nothing and keeps every value that gradients within g* can have.",
        about=(paper.noisy_average,),
        evidence=(
            Proved(
                ForAll(
                    (SUM_S, COUNT, LAMBDA),
                    lambda S, n, lam: paper.noisy_average(S, 0, n, 1, lam) == -S / (n + lam),
                    lambda S, n, lam: (lam > 0, *within(S, n)),
                ),
                label="no cut without noise",
            ),
        ),
        argument="The cut is a function of the noisy value and public parameters.",
    ),
)
