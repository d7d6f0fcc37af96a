"""DP-XGBoost: bounds of gradients, and Newton gains."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Identity, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, ForAll, Real, within
from proofs.checker.tightness import Tight
from proofs.dpxgboost.splits import AR, LAMBDA, RO, TENTH
from refdp.data import losses
from refdp.data.numbers import absolute
from refdp.papers import dpxgboost as paper
from refdp.papers.published import dpxgboost as printed

RATIO, HIGHEST = Real("B"), Real("top")
WEIGHTED = (Real("G"), Real("H"), Real("g"), Real("h"), LAMBDA)


def weighted(G: Any, H: Any, g: Any, h: Any, lam: Any) -> tuple[Any, ...]:
    """Records with |g| <= h, B = 1 being the unit of g / h, some of them summed to G and H."""
    return H >= 0, h > 0, lam > 0, *within(G, H), *within(g, h)


def newton_change(G: Any, H: Any, g: Any, h: Any, lam: Any) -> Any:
    """Change of a child's Newton gain when a record joins it."""
    return paper.child_gain(G + g, H + h, lam) - paper.child_gain(G, H, lam)


def log_loss_change(n: Any, p: Any, lam: Any) -> Any:
    """The same for log loss: n records of label 1, all predicted at p, and one more."""
    g, h = paper.log_gradient_at(p, 1), paper.log_hessian_at(p)
    return newton_change(n * g, n * h, g, h, lam)


def newton_range(suffix: str, relation: str, records: int, kind: Any) -> Proposition:
    """The range of clipped Newton gains."""
    return Proposition(
        f"dpxgboost/newton-gain-range{suffix}",
        "Eq. 3 and 5, repaired",
        f"With |g| <= B h and h <= h*, the changes of Newton gains have a range of at most {4 * records} h* B^2.",
        relation,
        about=(paper.newton_gain_range,),
        evidence=(
            Proved(
                AtMost(
                    (*(Real(name) for name in "abcd"), RATIO, HIGHEST),
                    lambda a, b, c, d: (a - b) + (records - 1) * (c - d),
                    lambda B, top: paper.newton_gain_range(B, top, kind),
                    lambda a, b, c, d, B, top: (
                        *(x for v in (a, b, c, d) for x in (v >= -3 * top * B * B, v <= top * B * B)),
                        *(B > 0, top > 0),
                    ),
                )
            ),
        ),
        uses=("dpxgboost/newton-gain-change",),
    )


def gradient_filter(suffix: str, relation: str, kind: Any) -> Proposition:
    """The filter's claim under one relation."""
    return Proposition(
        f"dpxgboost/gradient-filter{suffix}",
        "section 4",
        "Leaving out records with |g| > g* before each tree costs nothing and leaves gradients within g*.",
        relation,
        about=(paper.gain_range, printed.gain_sensitivity, paper.leaf_sensitivity),
        evidence=(
            Proved(
                ForAll(
                    (RATIO, LAMBDA),
                    lambda B, lam: (
                        paper.gain_range(B, AR) <= paper.gain_range(B, kind),
                        printed.gain_sensitivity(B, AR) <= printed.gain_sensitivity(B, kind),
                        paper.leaf_sensitivity(B, lam, AR) <= paper.leaf_sensitivity(B, lam, kind),
                    ),
                    lambda B, lam: (B > 0, lam > 0),
                ),
                label="where only one of the two records is left out, the other counts as added",
            ),
        ),
        argument="Whether a record is left out follows from that record and the trees already released.",
    )


PROPOSITIONS = (
    Proposition(
        "dpxgboost/gradient-bound",
        "section 5",
        "With square loss and labels in [-1, 1] gradients at the first tree are within g* = 1.",
        about=(losses.square_gradient,),
        evidence=(
            Proved(
                AtMost(
                    (Real("y"),), lambda y: absolute(losses.square_gradient(0, y)), lambda: 1, lambda y: within(y, 1)
                ),
                tight=Tight("1", "at |y| = 1", at=lambda: {"y": 1}, near={"y": 1}),
            ),
        ),
    ),
    gradient_filter("", ADD_REMOVE, AR),
    gradient_filter("-replace-one", REPLACE_ONE, RO),
    Proposition(
        "dpxgboost/log-loss-gradient",
        "Eq. 2",
        "For log loss |g| < 1 and 0 < h <= 1/4.",
        about=(paper.log_gradient_at, paper.log_hessian_at),
        evidence=(
            Proved(
                ForAll(
                    (Real("p"),),
                    lambda p: (
                        *(absolute(paper.log_gradient_at(p, y)) < 1 for y in (0, 1)),
                        paper.log_hessian_at(p) > 0,
                    ),
                    lambda p: (p > 0, p < 1),
                ),
                label="gradient",
            ),
            Proved(
                AtMost((Real("p"),), lambda p: paper.log_hessian_at(p), lambda: Fraction(1, 4)),
                tight=Tight("h* = 1/4", "at p = 1/2", at=lambda: {"p": Fraction(1, 2)}, near={"p": Fraction(1, 2)}),
                label="Hessian",
            ),
        ),
    ),
    Proposition(
        "dpxgboost/newton-gain-sensitivity",
        "Eq. 5 with Eq. 3",
        "The bound 3 g*^2 holds for Newton gains G^2 / (H + lambda) of log loss, |g| <= g* = 1.",
        ADD_REMOVE,
        about=(paper.child_gain, paper.log_gradient_at, paper.log_hessian_at, printed.gain_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost(
                    (Count("n"), Real("p"), LAMBDA),
                    log_loss_change,
                    lambda: printed.gain_sensitivity_as_published(1),
                    lambda p, lam: (p > 0, p < 1, lam > 0),
                ),
                {"n": 10, "p": Fraction(1, 1000), "lam": TENTH},
            ),
        ),
        repaired_by="dpxgboost/newton-gain-range",
    ),
    Proposition(
        "dpxgboost/newton-gain-unbounded",
        "Eq. 5 with Eq. 3",
        "No bound at all holds for Newton gains of log loss: n records of label 1 predicted at 1/n^2 change by over n.",
        ADD_REMOVE,
        about=(paper.child_gain, paper.log_gradient_at, paper.log_hessian_at),
        evidence=(
            Proved(
                AtMost(
                    (Count("n", start=10), LAMBDA),
                    lambda n: n,
                    lambda n, lam: log_loss_change(n, 1 / (n * n), lam),
                    lambda lam: (lam > 0, lam <= 1),
                )
            ),
        ),
    ),
    Proposition(
        "dpxgboost/newton-gain-change",
        "Eq. 3 and 5, repaired",
        "With |g| <= B h, h <= h*, a record raises a Newton gain by at most h* B^2, lowers it by at most 3 h* B^2.",
        ADD_REMOVE,
        about=(paper.child_gain,),
        evidence=(
            Proved(
                AtMost(WEIGHTED, newton_change, lambda h: h, weighted),
                tight=Tight(
                    "h* B^2 up, 3 h* B^2 down",
                    "as the child grows, for records of one ratio B and a new one of ratio B or -B",
                    at=lambda k, h: {"H": k, "G": k, "g": h},
                    near={"H": 10**5, "G": 10**5, "g": 1, "h": 1, "lam": 1},
                    given=lambda h, lam: (h > 0, lam > 0),
                    limit=True,
                ),
                label="up",
            ),
            Proved(
                AtMost(WEIGHTED, lambda G, H, g, h, lam: -newton_change(G, H, g, h, lam), lambda h: 3 * h, weighted),
                tight=Tight(
                    "h* B^2 up, 3 h* B^2 down",
                    "as the child grows, for records of one ratio B and a new one of ratio B or -B",
                    at=lambda k, h: {"H": k, "G": k, "g": -h},
                    near={"H": 10**5, "G": 10**5, "g": -1, "h": 1, "lam": 1},
                    given=lambda h, lam: (h > 0, lam > 0),
                    limit=True,
                ),
                label="down",
            ),
            Identity(
                "G H lam B",
                lambda G, H, lam, B: paper.child_gain(B * G, H, lam),
                lambda G, H, lam, B: B * B * paper.child_gain(G, H, lam),
                label="B = 1 is a choice of unit",
            ),
        ),
    ),
    newton_range("", ADD_REMOVE, 1, AR),
    newton_range("-replace-one", REPLACE_ONE, 2, RO),
    Proposition(
        "dpxgboost/clip-ratio",
        "Eq. 3 and 5, repaired",
        "Cutting g to [-B h, B h] bounds the ratio and leaves gradients within it as they are.",
        about=(paper.clip_ratio,),
        evidence=(
            Proved(
                ForAll(
                    (Real("g"), Real("h"), RATIO),
                    lambda g, h, B: within(paper.clip_ratio(g, h, B), B * h),
                    lambda h, B: (h >= 0, B > 0),
                )
            ),
            Proved(
                ForAll(
                    (Real("g"), Real("h"), RATIO),
                    lambda g, h, B: paper.clip_ratio(g, h, B) == g,
                    lambda g, h, B: (h >= 0, B > 0, *within(g, B * h)),
                )
            ),
        ),
    ),
)
