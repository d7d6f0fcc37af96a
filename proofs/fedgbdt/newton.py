"""Federated framework: the sensitivity of the (g, h) query for Newton updates (log loss)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, ForAll, reals
from proofs.checker.tightness import Tight
from proofs.fedgbdt.loss import AR, HALF, RO, gradient, hessian, scored
from refdp.data import losses
from refdp.papers import fedgbdt as paper
from refdp.papers.fedgbdt import log_hessian_of, squared_norm
from refdp.papers.published import fedgbdt as printed


def bounded(g: Any, b: Any) -> tuple[Any, ...]:
    """|g| <= b, 1/2 <= b <= 1."""
    return -b <= g, g <= b, b >= HALF, b <= 1


def bounded_pair(g: Any, q: Any, b: Any) -> tuple[Any, ...]:
    """Both gradients within b."""
    return (*bounded(g, b), -b <= q, q <= b)


def record_norm(u: Any, y: Any) -> Any:
    """Squared norm of (g, h) of a record of label y, at the odds u of its score, under the log loss."""
    return squared_norm(gradient(u, y), hessian(u, y))


def pair_norm(g: Any) -> Any:
    """Squared norm of the pair that a record of gradient g contributes under the log loss."""
    return squared_norm(g, log_hessian_of(g))


def replaced_in_leaf(g: Any, q: Any) -> Any:
    """Squared change when gradient g is replaced by q in the same leaf."""
    return squared_norm(g - q, log_hessian_of(g) - log_hessian_of(q))


def a_bound(b: Any) -> tuple[Any, ...]:
    """1/2 <= b <= 1."""
    return b >= HALF, b <= 1


ONE_PAIR = AtMost(
    reals("g b"), quantity=pair_norm, bound=lambda b: paper.newton_squared_sensitivity(AR, b), given=bounded
)
REPLACED_PAIR = AtMost(
    reals("g q b"),
    quantity=replaced_in_leaf,
    bound=lambda b: paper.newton_squared_sensitivity(RO, b),
    given=bounded_pair,
)
MOVED_PAIR = AtMost(
    reals("g q b"),
    quantity=lambda g, q: pair_norm(g) + pair_norm(q),
    bound=lambda b: paper.newton_squared_sensitivity(RO, b),
    given=bounded_pair,
)
LOG_PAIR = ("fedgbdt/hessian-of-gradient", "fedgbdt/gradient-bound")


PROPOSITIONS = (
    Proposition(
        "fedgbdt/newton-sensitivity",
        "Section 4.2, Delta_2(q) = sqrt(1 + 1/16)",
        "Adding a record changes the sums of (g, h) by at most sqrt(17)/4 in Euclidean norm (log loss).",
        ADD_REMOVE,
        about=(
            losses.log_gradient,
            losses.log_hessian,
            printed.newton_squared_sensitivity_as_published,
            squared_norm,
        ),
        uses=("fedgbdt/loss-derivatives",),
        evidence=(
            Proved(
                AtMost(
                    reals("u y"),
                    quantity=record_norm,
                    bound=printed.newton_squared_sensitivity_as_published,
                    given=scored,
                )
            ),
        ),
        gloss="Squares of both sides. Holds, but is not tight: see fedgbdt/newton-sensitivity-joint.",
    ),
    Proposition(
        "fedgbdt/newton-sensitivity-tight",
        "Section 4.2, Hence the sensitivity is sqrt(1 + 1/16)",
        "sqrt(17)/4 is the supremum: some record has g^2 + h^2 > 1 (log loss).",
        ADD_REMOVE,
        about=(losses.log_gradient, losses.log_hessian, squared_norm),
        evidence=(
            Counterexample(
                ForAll(reals("u y"), lambda u, y: record_norm(u, y) > 1, scored),
                at={"u": 99, "y": 0},
            ),
        ),
        argument="Refuted at one record; fedgbdt/newton-sensitivity-joint shows that no record exceeds 1.",
        repaired_by="fedgbdt/newton-sensitivity-joint",
    ),
    Proposition(
        "fedgbdt/newton-sensitivity-joint",
        "Section 4.2, repaired with the tight constant",
        "Adding a record changes the sums of (g, h) by less than 1 in Euclidean norm (log loss, any score).",
        ADD_REMOVE,
        about=(losses.log_gradient, losses.log_hessian, paper.newton_squared_sensitivity, squared_norm),
        uses=("fedgbdt/loss-derivatives",),
        evidence=(
            Proved(
                AtMost(
                    reals("u y"),
                    quantity=record_norm,
                    bound=lambda: Fraction(paper.newton_squared_sensitivity(AR)),
                    given=scored,
                ),
                tight=Tight(
                    "1", "as s grows, y = 0", at=lambda k: {"u": k, "y": 0}, near={"u": 10**4, "y": 0}, limit=True
                ),
            ),
        ),
        gloss="Squares of both sides. Every record is in one leaf, so the vector over all leaves has this norm too.",
    ),
    Proposition(
        "fedgbdt/newton-sensitivity-by-round",
        "Section 4.2, tightened for the first trees",
        "While |g| <= b, adding a record changes the sums by at most sqrt(b^2 + b^2 (1-b)^2), 1/2 <= b <= 1.",
        ADD_REMOVE,
        about=(paper.newton_squared_sensitivity, log_hessian_of, squared_norm),
        uses=("fedgbdt/hessian-of-gradient", "fedgbdt/gradient-bound-by-round"),
        evidence=(
            Proved(
                ONE_PAIR,
                tight=Tight(
                    "sqrt(b^2 + b^2 (1-b)^2); sqrt(5)/4 in the first round, where b = 1/2",
                    "at |g| = b",
                    at=lambda b: {"g": b},
                    near={"g": HALF, "b": HALF},
                    given=a_bound,
                ),
            ),
        ),
    ),
    Proposition(
        "fedgbdt/newton-sensitivity-replace-one",
        "Section 4.2, Delta_2(q) = sqrt(1 + 1/16)",
        "Replacing a record changes the sums of (g, h) by at most sqrt(17)/4 in Euclidean norm (log loss).",
        REPLACE_ONE,
        about=(
            losses.log_gradient,
            losses.log_hessian,
            printed.newton_squared_sensitivity_as_published,
            squared_norm,
        ),
        evidence=(
            Counterexample(
                AtMost(
                    reals("u y v z"),
                    quantity=lambda u, y, v, z: squared_norm(
                        gradient(u, y) - gradient(v, z), hessian(u, y) - hessian(v, z)
                    ),
                    bound=printed.newton_squared_sensitivity_as_published,
                    given=lambda u, y, v, z: (*scored(u, y), *scored(v, z)),
                ),
                at={"u": 99, "y": 0, "v": Fraction(1, 99), "z": 1},
            ),
        ),
        argument="Two records in one leaf whose scores are both badly wrong, in opposite directions.",
        repaired_by="fedgbdt/newton-sensitivity-joint-replace-one",
    ),
    Proposition(
        "fedgbdt/newton-sensitivity-joint-replace-one",
        "Section 4.2, repaired",
        "Replacing a record changes the sums of (g, h), all leaves together, by at most 2 b while |g| <= b (log loss).",
        REPLACE_ONE,
        about=(paper.newton_squared_sensitivity, log_hessian_of, squared_norm),
        uses=LOG_PAIR,
        evidence=(
            Proved(
                REPLACED_PAIR,
                tight=Tight(
                    "2 b; 2 with b = 1, 1 in the first round, where b = 1/2",
                    "at g = b and g' = -b in the same leaf (b = 1 is a supremum over scores)",
                    at=lambda b: {"g": b, "q": -b},
                    near={"g": 1, "q": -1, "b": 1},
                    given=a_bound,
                ),
                label="same leaf",
            ),
            Proved(MOVED_PAIR, label="another leaf"),
        ),
        gloss="Squares of both sides; the replaced record stays in its leaf or moves to another one.",
    ),
)
