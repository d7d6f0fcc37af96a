"""S-GBDT (Kirschte, Peinemann, Stock, Cotrini, Mohammadi): prior work's leaves, counts, weights, the initial score."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, ForAll, Real, both, reals
from proofs.checker.tightness import Tight
from proofs.dpboost.gains import child
from proofs.sgbdt.noise import whitened
from refdp.papers import sgbdt
from refdp.papers.published import sgbdt as printed_sgbdt
from refdp.papers.published.sgbdt import mean_leaf

HALF = Fraction(1, 2)


def leaf_noise(v: Any, b: Any, hb: Any, r1: Any) -> Any:
    """v_g + v^2 v_h, first order in the noise: the variance of a leaf of value v, times its squared support."""
    return sgbdt.gradient_variance(b, r1, 1) + v * v * sgbdt.support_variance(hb, r1, 1)


MEAN = (Count("n"), Real("G"), Real("g"), Real("lam"))
MEAN_REPLACED = (Count("n"), Real("G"), Real("g"), Real("e"), Real("lam"))


def mean_change(n: Any, G: Any, g: Any, lam: Any) -> tuple[Any, Any]:
    """Change of G / max(lambda, n) when a record of gradient g joins n of sum G, both signs."""
    return both(mean_leaf(G + g, n + 1, lam) - mean_leaf(G, n, lam))


def same_leaf(n: Any, G: Any, g: Any, e: Any, lam: Any) -> tuple[Any, Any]:
    """Change when a record of gradient g beside n of sum G is replaced by one of gradient e in the same leaf."""
    return both(mean_leaf(G + g, n + 1, lam) - mean_leaf(G + e, n + 1, lam))


def counted(g: Any, e: Any, b: Any, r1: Any, s2: Any) -> tuple[Any, Any]:
    """Replacing a record where every h is h* = 1: in one leaf, and in two."""
    return whitened(g - e, 0 * g, b, 1, r1, s2), whitened(g, 1, b, 1, r1, s2) + whitened(e, 1, b, 1, r1, s2)


PROPOSITIONS = (
    Proposition(
        "sgbdt/whitened-replace-one-counts",
        "slide Non-spherical noise, as a sensitivity, counts as support",
        "Replacing a record: at most max(2, 4 r2) 2/sigma^2 (squared).",
        REPLACE_ONE,
        about=(sgbdt.whitened_squared, printed_sgbdt.joint_sensitivity_squared_replace_one_counts),
        evidence=(
            Proved(
                AtMost(
                    reals("g e b r1 s2"),
                    given=lambda g, e, b, r1, s2: (
                        *(g - b <= 0, g + b >= 0, e - b <= 0, e + b >= 0),
                        *(b > 0, r1 > 0, r1 < 1, s2 > 0),
                    ),
                    quantity=counted,
                    bound=lambda r1, s2: printed_sgbdt.joint_sensitivity_squared_replace_one_counts(r1, s2),
                ),
                tight=Tight(
                    "max(2, 4 r2) 2 / sigma^2",
                    "for g*, -g* in one leaf if r1 < 1/2, in two leaves otherwise",
                    at=lambda b: {"g": b, "e": -b},
                    given=lambda b, r1, s2: (b > 0, r1 > 0, r1 < 1, s2 > 0),
                    near={"g": 1, "e": -1, "b": 1, "r1": HALF, "s2": 1},
                ),
            ),
        ),
    ),
    Proposition(
        "sgbdt/prior-leaf-sensitivity",
        "slide Differentially private leaf computation",
        "The leaf value of prior work, sum of clipped gradients / max(lambda, |leaf|), has sensitivity g*.",
        ADD_REMOVE,
        about=(mean_leaf, printed_sgbdt.mean_leaf_sensitivity_as_published),
        evidence=(
            Proved(
                AtMost(
                    MEAN,
                    given=child,
                    quantity=mean_change,
                    bound=lambda lam: printed_sgbdt.mean_leaf_sensitivity_as_published(1) + 0 * lam,
                ),
                tight=Tight(
                    "g* (for lambda <= 1; smaller for larger lambda)",
                    "where a record of g* joins an empty leaf, lambda <= 1",
                    at=lambda: {"n": 0, "G": 0, "g": 1},
                    given=lambda lam: (lam > 0, lam <= 1),
                    near={"n": 0, "G": 0, "g": 1, "lam": 1},
                ),
            ),
        ),
        gloss="g* = 1; G / max(lambda, n) scales with the gradients.",
    ),
    Proposition(
        "sgbdt/prior-leaf-sensitivity-tight",
        "slide Differentially private leaf computation, tight",
        "For whole lambda >= 1 the sensitivity is max(1/lambda, 2/(lambda + 1)) g* = 2 g*/(lambda + 1).",
        ADD_REMOVE,
        about=(mean_leaf, printed_sgbdt.mean_leaf_sensitivity),
        evidence=(
            Proved(
                AtMost(
                    (Count("n"), Real("G"), Real("g"), Count("lam", start=1)),
                    given=child,
                    quantity=mean_change,
                    bound=lambda lam: printed_sgbdt.mean_leaf_sensitivity(1, lam),
                ),
                tight=Tight(
                    "2 g*/(lambda + 1)",
                    "where a record of -g* joins lambda records of g*",
                    at=lambda lam: {"n": lam, "G": lam, "g": -1},
                    given=lambda lam: lam >= 1,
                    near={"n": 1, "G": 1, "g": -1, "lam": 1},
                ),
            ),
        ),
    ),
    Proposition(
        "sgbdt/prior-leaf-sensitivity-replaced",
        "slide Differentially private leaf computation, repaired",
        "Replacing a record changes it by at most 2 g*, and all leaf values together by at most 2 g* in sum.",
        REPLACE_ONE,
        about=(mean_leaf, printed_sgbdt.mean_leaf_sensitivity_as_published),
        evidence=(
            Proved(
                AtMost(
                    MEAN_REPLACED,
                    given=lambda n, G, g, e, lam: (*child(n, G, g, lam), e >= -1, e <= 1),
                    quantity=same_leaf,
                    bound=lambda lam: 2 * printed_sgbdt.mean_leaf_sensitivity_as_published(1) + 0 * lam,
                ),
                tight=Tight(
                    "2 g*",
                    "where g* alone in a leaf becomes -g*, lambda <= 1",
                    at=lambda: {"n": 0, "G": 0, "g": 1, "e": -1},
                    given=lambda lam: (lam > 0, lam <= 1),
                    near={"n": 0, "G": 0, "g": 1, "e": -1, "lam": 1},
                ),
            ),
        ),
        uses=("sgbdt/prior-leaf-sensitivity", "composition/two-records"),
    ),
    Proposition(
        "sgbdt/weights",
        "slide Non-spherical noise: budget can be shifted",
        "r1/r2 = |v| h*/g* makes the noise of a leaf of value v smallest, to first order in the noise.",
        about=(sgbdt.gradient_variance, sgbdt.support_variance, printed_sgbdt.optimum_ratio),
        evidence=(
            Proved(
                ForAll(
                    reals("v b hb r1"),
                    given=lambda v, b, hb, r1: (v > 0, b > 0, hb > 0, r1 > 0, r1 < 1),
                    holds=lambda v, b, hb, r1: (
                        leaf_noise(
                            v,
                            b,
                            hb,
                            printed_sgbdt.optimum_ratio(v, b, hb) / (1 + printed_sgbdt.optimum_ratio(v, b, hb)),
                        )
                        <= leaf_noise(v, b, hb, r1)
                    ),
                )
            ),
        ),
    ),
    Proposition(
        "sgbdt/initial-score",
        "full text; slides: Fixing secondary privacy leakages",
        "The count changes by 1, the sum of labels clamped to [-m*, m*] by at most m*, and, given the noisy count n~ "
        ">= 1, the mean sum/n~ by at most m*/n~.",
        ADD_REMOVE,
        evidence=(
            Proved(
                ForAll(
                    reals("S n y m"),
                    given=lambda y, m: (y - m <= 0, y + m >= 0),
                    holds=lambda S, n, y, m: ((S + y) - S <= m, S - (S + y) <= m, (n + 1) - n == 1),
                ),
                label="sum and count",
            ),
            Proved(
                AtMost(
                    reals("S y m c"),
                    given=lambda y, m, c: (y - m <= 0, y + m >= 0, c >= 1),
                    quantity=lambda S, y, c: both((S + y) / c - S / c),
                    bound=lambda m, c: m / c,
                ),
                tight=Tight(
                    "m*/n~",
                    "at |y| = m*",
                    at=lambda m: {"y": m},
                    given=lambda m, c: (m >= 0, c >= 1),
                    near={"S": 0, "y": 1, "m": 1, "c": 1},
                ),
            ),
        ),
        uses=("composition/laplace", "composition/sequential"),
        gloss="S: the sum, y (z): a record's label, b: m*, c: n~. The count is released first; "
        "both releases are part of the cost.",
    ),
    Proposition(
        "sgbdt/initial-score-replace-one",
        "full text; slides: Fixing secondary privacy leakages",
        "When a record is replaced the mean changes by at most 2 m*/n~, and the count not at all.",
        REPLACE_ONE,
        evidence=(
            Proved(
                AtMost(
                    reals("S y z m c"),
                    given=lambda y, z, m, c: (y - m <= 0, y + m >= 0, z - m <= 0, z + m >= 0, c >= 1),
                    quantity=lambda S, y, z, c: both((S + y) / c - (S + z) / c),
                    bound=lambda m, c: 2 * m / c,
                ),
                tight=Tight(
                    "2 m*/n~",
                    "at y = m*, z = -m*",
                    at=lambda m: {"y": m, "z": -m},
                    given=lambda m, c: (m >= 0, c >= 1),
                    near={"S": 0, "y": 1, "z": -1, "m": 1, "c": 1},
                ),
            ),
        ),
        uses=("composition/laplace", "composition/sequential"),
        gloss="S: the sum without the record, y and z: its label before and after; m: m*, c: n~.",
    ),
)
