"""S-GBDT (Kirschte, Peinemann, Stock, Cotrini, Mohammadi): noise of leaves, sensitivities, costs of single records.

r1 weighs the leaf support (sum of h), r2 = 1 - r1 the sum of gradients; s2 is sigma^2, a the order alpha.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, ForAll, reals
from proofs.checker.tightness import Tight
from refdp.data.numbers import maximum
from refdp.papers import sgbdt
from refdp.papers.published import sgbdt as printed_sgbdt
from refdp.papers.published.sgbdt import gaussian_divergence
from refdp.papers.sgbdt import record_cost, record_cost_slides, whitened_squared

HALF, TENTH = Fraction(1, 2), Fraction(1, 10)
RECORD = reals("g h b hb r1 s2 a")
TWO_RECORDS = reals("g h e k b hb r1 s2")


def record(g: Any, h: Any, b: Any, hb: Any, r1: Any, s2: Any) -> tuple[Any, ...]:
    """A clipped record: |g| <= b = g*, 0 <= h <= hb = h*; weights in (0, 1)."""
    return g - b <= 0, g + b >= 0, h >= 0, h - hb <= 0, b > 0, hb > 0, r1 > 0, r1 < 1, s2 > 0


def with_order(g: Any, h: Any, b: Any, hb: Any, r1: Any, s2: Any, a: Any) -> tuple[Any, ...]:
    """A clipped record and an order above 1."""
    return *record(g, h, b, hb, r1, s2), a > 1


def two_records(g: Any, h: Any, e: Any, k: Any, b: Any, hb: Any, r1: Any, s2: Any) -> tuple[Any, ...]:
    """Two clipped records."""
    return *record(g, h, b, hb, r1, s2), e - b <= 0, e + b >= 0, k >= 0, k - hb <= 0


def divergence(g: Any, h: Any, b: Any, hb: Any, r1: Any, s2: Any, a: Any) -> Any:
    """Renyi divergence of order a of a leaf's two noisy sums with and without the record, refdp's variances."""
    return gaussian_divergence(a, g, h, sgbdt.gradient_variance(b, r1, s2), sgbdt.support_variance(hb, r1, s2))


def whitened(g: Any, h: Any, b: Any, hb: Any, r1: Any, s2: Any) -> Any:
    """Squared change of a leaf's two sums in standard deviations."""
    return whitened_squared(g, h, sgbdt.gradient_variance(b, r1, s2), sgbdt.support_variance(hb, r1, s2))


def replaced(g: Any, h: Any, e: Any, k: Any, b: Any, hb: Any, r1: Any, s2: Any) -> tuple[Any, Any]:
    """The same for replacing (g, h) by (e, k): in one leaf, and in two."""
    return whitened(g - e, h - k, b, hb, r1, s2), whitened(g, h, b, hb, r1, s2) + whitened(e, k, b, hb, r1, s2)


def printed_divergence(g: Any, r1: Any, s2: Any, a: Any) -> Any:
    """The divergence with the variances of the leaf formula as printed, counts as support (h = 1)."""
    v_g, v_h = printed_sgbdt.gradient_variance_printed(r1, s2), printed_sgbdt.support_variance_printed(r1, s2)
    return gaussian_divergence(a, g, 1, v_g, v_h)


def worst_replacement(b: Any, hb: Any, r1: Any) -> dict[str, Any]:
    """Two records in two leaves, or, for small r1, in one leaf with opposite gradients and a support that goes away."""
    return {"g": b, "h": hb, "e": b, "k": hb} if r1 * 3 >= 2 else {"g": b, "h": hb, "e": -b, "k": 0 * hb}


PRINTED = AtMost(
    reals("g b r1 s2 a"),
    given=lambda g, b, r1, s2, a: (g - b <= 0, g + b >= 0, b > 0, r1 > 0, r1 < 1, s2 > 0, a > 1),
    quantity=printed_divergence,
    bound=lambda b, r1, s2, a: a * record_cost_slides(b, 1, r1, s2),
)

PROPOSITIONS = (
    Proposition(
        "sgbdt/nonspherical",
        "slide Non-spherical noise",
        "With gradient noise N(0, O(1/r1)) and support noise N(0, O(1/r2)), rho(alpha) = alpha (r1 + r2 g*^2)/sigma^2.",
        ADD_REMOVE,
        about=(gaussian_divergence, record_cost_slides, printed_sgbdt.gradient_variance_printed),
        evidence=(Counterexample(PRINTED, at={"g": HALF, "b": HALF, "r1": TENTH, "s2": 1, "a": 2}),),
        argument="The bound belongs to support noise sigma^2/(2 r1) and gradient noise sigma^2/(2 r2): the weights "
        "of the leaf formula are exchanged. The slide hides the constants in O; these are the ones that fit at r1 = "
        "r2.",
        repaired_by="sgbdt/nonspherical-slides",
    ),
    Proposition(
        "sgbdt/nonspherical-slides",
        "slide Non-spherical noise, repaired in its own weights",
        "Support noise sigma^2/(2 r1) and gradient noise sigma^2/(2 r2) give rho(alpha) = alpha (r1 h^2 + r2 "
        "g^2)/sigma^2.",
        ADD_REMOVE,
        about=(gaussian_divergence, record_cost_slides, sgbdt.gradient_variance_slides, sgbdt.support_variance_slides),
        evidence=(
            Proved(
                ForAll(
                    reals("g h r1 s2 a"),
                    given=lambda r1, s2: (r1 > 0, r1 < 1, s2 > 0),
                    holds=lambda g, h, r1, s2, a: (
                        gaussian_divergence(
                            a, g, h, sgbdt.gradient_variance_slides(r1, s2), sgbdt.support_variance_slides(r1, s2)
                        )
                        == a * record_cost_slides(g, h, r1, s2)
                    ),
                )
            ),
        ),
        uses=("composition/gaussian",),
    ),
    Proposition(
        "sgbdt/nonspherical-repaired",
        "slide Non-spherical noise, repaired (weights relative to the clipping bounds)",
        "Support noise h*^2 sigma^2/(2 r1) and gradient noise g*^2 sigma^2/(2 r2) give rho(alpha) <= alpha / sigma^2.",
        ADD_REMOVE,
        about=(gaussian_divergence, sgbdt.gradient_variance, sgbdt.support_variance),
        evidence=(
            Proved(
                AtMost(RECORD, quantity=divergence, bound=lambda a, s2: a / s2, given=with_order),
                tight=Tight(
                    "alpha / sigma^2",
                    "at |g| = g*, h = h*, for all weights",
                    at=lambda b, hb: {"g": b, "h": hb},
                    given=lambda b, hb, r1, s2, a: (b > 0, hb > 0, r1 > 0, r1 < 1, s2 > 0, a > 1),
                    near={"g": 1, "h": 1, "b": 1, "hb": 1, "r1": HALF, "s2": 1, "a": 2},
                ),
            ),
        ),
        uses=("composition/gaussian",),
    ),
    Proposition(
        "sgbdt/individual",
        "slide Individual Renyi DP (weights relative to the clipping bounds)",
        "A record's own divergence is alpha (r1 h_i^2/h*^2 + r2 g_i^2/g*^2)/sigma^2, whatever the other records.",
        ADD_REMOVE,
        about=(gaussian_divergence, record_cost, sgbdt.gradient_variance, sgbdt.support_variance),
        evidence=(
            Proved(
                ForAll(
                    RECORD,
                    given=with_order,
                    holds=lambda g, h, b, hb, r1, s2, a: (
                        divergence(g, h, b, hb, r1, s2, a) == a * record_cost(g, h, b, hb, r1, s2)
                    ),
                )
            ),
        ),
        uses=("composition/gaussian",),
        argument="A record adds (h_i, g_i) to one leaf. The cost depends on the record and must itself not be "
        "released.",
    ),
    Proposition(
        "sgbdt/individual-printed",
        "slide Individual Renyi DP",
        "With the leaf formula as printed, a record's own divergence is at most alpha (r1 + r2 g_i^2)/sigma^2.",
        ADD_REMOVE,
        about=(gaussian_divergence, record_cost_slides, printed_sgbdt.gradient_variance_printed),
        evidence=(
            Counterexample(
                AtMost(
                    reals("g r1 s2 a"),
                    given=lambda r1, s2, a: (r1 > 0, r1 < 1, s2 > 0, a > 1),
                    quantity=printed_divergence,
                    bound=lambda g, r1, s2, a: a * record_cost_slides(g, 1, r1, s2),
                ),
                at={"g": 0, "r1": TENTH, "s2": 1, "a": 2},
            ),
        ),
        repaired_by="sgbdt/individual",
    ),
    Proposition(
        "sgbdt/joint-sensitivity",
        "slide Dynamic leaf noise scaling",
        "The pair (sum of clipped gradients, count) of a leaf changes by at most Delta = sqrt(1 + g*^2) (squared: 1 "
        "+ g*^2).",
        ADD_REMOVE,
        evidence=(
            Proved(
                AtMost(
                    reals("g b"),
                    given=lambda g, b: (g - b <= 0, g + b >= 0),
                    quantity=lambda g: g * g + 1,
                    bound=lambda b: 1 + b * b,
                ),
                tight=Tight(
                    "1 + g*^2",
                    "at |g| = g*",
                    at=lambda b: {"g": b},
                    given=lambda b: b >= 0,
                    near={"g": 1, "b": 1},
                ),
            ),
        ),
        gloss="b: g*; g: a record's gradient.",
    ),
    Proposition(
        "sgbdt/joint-sensitivity-replaced",
        "slide Dynamic leaf noise scaling, repaired",
        "The pairs change by at most max(4 g*^2, 2 (1 + g*^2)) (squared).",
        REPLACE_ONE,
        evidence=(
            Proved(
                AtMost(
                    reals("g e b"),
                    given=lambda g, e, b: (g - b <= 0, g + b >= 0, e - b <= 0, e + b >= 0),
                    quantity=lambda g, e: ((g - e) * (g - e), g * g + e * e + 2),
                    bound=lambda b: maximum(4 * b * b, 2 * (1 + b * b)),
                ),
                tight=Tight(
                    "max(4 g*^2, 2 (1 + g*^2))",
                    "for g and -g* in one leaf if g* > 1, in two leaves otherwise",
                    at=lambda b: {"g": b, "e": -b},
                    given=lambda b: b >= 0,
                    near={"g": 1, "e": -1, "b": 1},
                ),
            ),
        ),
        gloss="b: g*; g, e: the two records' gradients.",
    ),
    Proposition(
        "sgbdt/whitened-add-remove",
        "slide Non-spherical noise, as a sensitivity",
        "The pairs of sums of all leaves change by at most sqrt(2)/sigma in standard deviations of their noise "
        "(squared).",
        ADD_REMOVE,
        about=(
            whitened_squared,
            printed_sgbdt.joint_sensitivity_squared,
            sgbdt.gradient_variance,
            sgbdt.support_variance,
        ),
        evidence=(
            Proved(
                ForAll(
                    reals("g h b hb v_g v_h"),
                    given=lambda g, h, b, hb, v_g, v_h: (
                        *(g - b <= 0, g + b >= 0, h >= 0, h - hb <= 0),
                        *(v_g > 0, v_h > 0),
                    ),
                    holds=lambda g, h, b, hb, v_g, v_h: (
                        whitened_squared(g, h, v_g, v_h) <= whitened_squared(b, hb, v_g, v_h)
                    ),
                ),
                label="any variances: largest at |g| = g*, h = h*",
            ),
            Proved(
                AtMost(
                    reals("g h b hb r1 s2"),
                    given=record,
                    quantity=whitened,
                    bound=lambda s2: printed_sgbdt.joint_sensitivity_squared(s2),
                ),
                tight=Tight(
                    "2 / sigma^2",
                    "at |g| = g*, h = h*, for all weights",
                    at=lambda b, hb: {"g": b, "h": hb},
                    given=lambda b, hb, r1, s2: (b > 0, hb > 0, r1 > 0, r1 < 1, s2 > 0),
                    near={"g": 1, "h": 1, "b": 1, "hb": 1, "r1": HALF, "s2": 1},
                ),
            ),
        ),
    ),
    Proposition(
        "sgbdt/whitened-replace-one",
        "slide Non-spherical noise, as a sensitivity",
        "Replacing a record: at most max(2, 1 + 3 r2) 2/sigma^2 (squared).",
        REPLACE_ONE,
        about=(whitened_squared, printed_sgbdt.joint_sensitivity_squared_replace_one),
        evidence=(
            Proved(
                AtMost(
                    TWO_RECORDS,
                    given=two_records,
                    quantity=replaced,
                    bound=lambda r1, s2: printed_sgbdt.joint_sensitivity_squared_replace_one(r1, s2),
                ),
                tight=Tight(
                    "max(2, 1 + 3 r2) 2 / sigma^2",
                    "for two records in two leaves if r1 >= 2/3, in one leaf with gradients g*, -g* and h = h*, 0 "
                    "otherwise",
                    at=worst_replacement,
                    given=lambda b, hb, r1, s2: (b > 0, hb > 0, r1 > 0, r1 < 1, s2 > 0),
                    near={**worst_replacement(1, 1, HALF), "b": 1, "hb": 1, "r1": HALF, "s2": 1},
                ),
            ),
        ),
    ),
)
