"""Grove (refdp/own/grove.py): the joint sensitivity of (g, a h), counts over several features, and whole runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Follows, Proved
from proofs.checker.programs import ProgramProved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, ForAll, reals
from proofs.checker.tightness import Tight
from proofs.composition.runs import BOTH
from refdp.accounting import account
from refdp.own import grove
from refdp.own.grove import (
    CUT,
    log_hessian_of,
    squared_joint_norm,
    squared_log_bound,
    squared_others_bound,
    squared_square_bound,
)

LARGEST = Fraction(33, 10)
STEP = Fraction(1, 2**25)


def of_log_loss(g: Any, t: Any, a: Any) -> Any:
    """Squared norm of (g, a h) of a record of gradient t under the log loss, of which g is left."""
    return squared_joint_norm(g, log_hessian_of(t), a)


def of_square_loss(g: Any, t: Any, a: Any) -> Any:
    """Squared norm of (g, a h) of a clipped residual g in units of its bound, and h = 1; whatever t is."""
    return squared_joint_norm(g, g * 0 + 1, a)


def within_half(g: Any, t: Any, a: Any) -> tuple[Any, ...]:
    """|g| <= 1/2, |t| <= 1, 0 < a <= 3.3."""
    return g >= -Fraction(CUT), g <= Fraction(CUT), t >= -1, t <= 1, a > 0, a <= LARGEST


def of_classes(g: Any, t: Any, p: Any, q: Any, a: Any, k: Any) -> Any:
    """Squared norm of all pairs of a record: of its own class as under the log loss, of the k - 1 others (p, a q)."""
    return of_log_loss(g, t, a) + (k - 1) * squared_joint_norm(p, q, a)


def within_cuts(g: Any, t: Any, p: Any, q: Any, a: Any, b: Any, d: Any, k: Any) -> tuple[Any, ...]:
    """|g| <= 1/2, |t| <= 1, 0 < a <= 3.3, |p| <= b, 0 <= q <= d, k >= 1."""
    return *within_half(g, t, a), p >= -b, p <= b, q >= 0, q <= d, k >= 1, b >= 0, d >= 0


def within(g: Any, t: Any, a: Any) -> tuple[Any, ...]:
    """|g| <= 1, 0 < a <= 3.3."""
    return g >= -1, g <= 1, t >= -1, t <= 1, a > 0, a <= LARGEST


def allowed(a: Any) -> tuple[Any, ...]:
    """0 < a <= 3.3."""
    return a > 0, a <= LARGEST


ROUNDED = Proved(
    ForAll(
        reals("d e a"),
        lambda d, e, a: squared_joint_norm(d, e, a) <= Fraction(1, 2**46),
        lambda d, e, a: (d >= -STEP, d <= STEP, e >= -STEP, e <= STEP, a > 0, a <= LARGEST),
    ),
    label="what rounding both to multiples of 2^-24 changes",
)
ROUNDING = "Rounding to the grid moves the pair by at most 2^-23 < 2^-22, by the triangle inequality."
TWICE = Follows(
    "by the triangle inequality the difference of two records' contributions, in one leaf or in two, is at most the "
    "sum of their norms"
)


SUMS = "the sums (G, a H) of all leaves, or of all bins of a feature,"
WORDS = "A record is in one class, and of the K - 1 others none adds more than the largest. "


def joint(
    name: str, source: str, sums: str, norm: str, proved: Proved, about: tuple[Any, ...], words: str = ""
) -> tuple[Proposition, ...]:
    """The statement about one loss under both relations: what the sums change by, which `proved` says of squares."""
    text = f"{{}} a record changes {sums} by at most {{}}{norm}, 0 < a <= 3.3."
    return (
        Proposition(
            f"composition/{name}",
            f"refdp/own/grove.py, {source}",
            text.format("Adding", ""),
            ADD_REMOVE,
            about=about,
            evidence=(proved, ROUNDED),
            argument=words + ROUNDING,
            gloss="Squares of both sides; the bound that is declared adds 2^-22 for rounding.",
        ),
        Proposition(
            f"composition/{name}-replace-one",
            f"refdp/own/grove.py, {source}",
            text.format("Replacing", "twice "),
            REPLACE_ONE,
            about=about,
            uses=(f"composition/{name}",),
            evidence=(TWICE,),
        ),
    )


PROPOSITIONS = (
    *joint(
        "grove-log-loss",
        "Sensitivity",
        SUMS,
        "sqrt(1/4 + a^2 / 16) + 2^-22 in Euclidean norm under the log loss with gradients cut to 1/2",
        Proved(
            AtMost(reals("g t a"), quantity=of_log_loss, bound=lambda a: squared_log_bound(a), given=within_half),
            tight=Tight(
                "1/4 + a^2 / 16",
                "at a gradient of 1/2",
                at=lambda a: {"g": a * 0 + Fraction(1, 2), "t": a * 0 + Fraction(1, 2)},
                near={"g": Fraction(1, 2), "t": Fraction(1, 2), "a": 1},
                given=allowed,
            ),
        ),
        (grove.squared_joint_norm, grove.squared_log_bound, grove.log_hessian_of),
    ),
    *joint(
        "grove-several-classes",
        "Several classes",
        "the sums (G, a H) of all K scores and all leaves, or of all bins of a feature,",
        "sqrt(1/4 + a^2 / 16 + (K - 1) (b^2 + a^2 d^2)) + 2^-22 in Euclidean norm under the log loss with gradients "
        "cut to 1/2 in the score of the record's class and to b in the others, Hessians there to d",
        Proved(
            AtMost(
                reals("g t p q a b d k"),
                quantity=of_classes,
                bound=lambda a, b, d, k: squared_log_bound(a) + squared_others_bound(a, b, d, k),
                given=within_cuts,
            ),
            tight=Tight(
                "1/4 + a^2 / 16 + (K - 1) (b^2 + a^2 d^2)",
                "at a gradient of 1/2, b in the others, and Hessians of d",
                at=lambda a, b, d: {"g": a * 0 + Fraction(1, 2), "t": a * 0 + Fraction(1, 2), "p": b, "q": d},
                near={
                    "g": Fraction(1, 2),
                    "t": Fraction(1, 2),
                    "p": Fraction(1, 4),
                    "q": Fraction(3, 16),
                    "a": 1,
                    "b": Fraction(1, 4),
                    "d": Fraction(3, 16),
                    "k": 3,
                },
                given=lambda a, b, d, k: (*allowed(a), b >= 0, d >= 0, k >= 1),
            ),
        ),
        (grove.squared_joint_norm, grove.squared_log_bound, grove.squared_others_bound, grove.log_hessian_of),
        WORDS,
    ),
    *joint(
        "grove-square-loss",
        "Sensitivity",
        SUMS,
        "sqrt(1 + a^2) + 2^-22 in Euclidean norm for residuals clipped to 1",
        Proved(
            AtMost(reals("g t a"), quantity=of_square_loss, bound=lambda a: squared_square_bound(a), given=within),
            tight=Tight(
                "1 + a^2",
                "at |g| = 1",
                at=lambda a: {"g": a * 0 + 1, "t": a * 0},
                near={"g": 1, "t": 0, "a": 1},
                given=allowed,
            ),
        ),
        (grove.squared_joint_norm, grove.squared_square_bound),
    ),
    *(
        Proposition(
            f"composition/grove-counts{suffix}",
            "refdp/own/grove.py, 1 and 2",
            f"{how} a record changes counts, m of which count it, by at most sqrt({factor}m) in Euclidean norm.",
            relation,
            evidence=(
                Proved(
                    ForAll(
                        reals("x y"),
                        lambda x, y: (x - y) * (x - y) <= 1,
                        lambda x, y: (x >= 0, x <= 1, y >= 0, y <= 1),
                    ),
                    label="one cell",
                ),
            ),
            argument="A record is in one bin of each of m features, or in one class: so many cells change, each by at "
            "most 1, and under replace-one at most twice as many.",
        )
        for suffix, relation, how, factor in (
            ("", ADD_REMOVE, "Adding", ""),
            ("-replace-one", REPLACE_ONE, "Replacing", "2 "),
        )
    ),
    *(
        Proposition(
            f"composition/grove-run{suffix}",
            "refdp/own/grove.py, Composition",
            "Grove as it stands is (epsilon, delta)-DP as its certificate says.",
            relation,
            about=(grove.train, grove.certificate, account),
            uses=(
                *(
                    f"composition/grove-{name}{suffix}"
                    for name in ("log-loss", "several-classes", "square-loss", "counts")
                ),
                *("composition/discrete-gaussian-fine", "composition/post-processing", "fedgbdt/exact-composition"),
            ),
            evidence=(
                Follows(
                    "thresholds, start, steering and leaf values are functions of releases and public draws, and all "
                    "releases are Gaussian with the sensitivities above"
                ),
                ProgramProved("grove", kind),
            ),
        )
        for suffix, relation, kind in BOTH
    ),
)
