"""Federated framework: sensitivities of the queries with h = 1, and of the Hessian histogram."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, reals
from proofs.checker.tightness import Tight
from proofs.fedgbdt.loss import AR, RO, gradient, hessian, scored
from refdp.data import losses
from refdp.papers import fedgbdt as paper
from refdp.papers.fedgbdt import squared_norm
from refdp.papers.published import fedgbdt as printed


def counted_ar(g: Any) -> Any:
    """Squared norm of (g, 1)."""
    return squared_norm(g, 1)


def counted_moved(g: Any, q: Any) -> Any:
    """Squared change when a record of gradient g leaves one leaf and one of gradient q joins another."""
    return squared_norm(g, 1) + squared_norm(q, 1)


def clipped(g: Any, c: Any) -> tuple[Any, ...]:
    """|g| <= c."""
    return -c <= g, g <= c, c > 0


def clipped_pair(g: Any, q: Any, c: Any) -> tuple[Any, ...]:
    """|g|, |q| <= c."""
    return (*clipped(g, c), -c <= q, q <= c)


def counted_moved_labels(y: Any, z: Any) -> Any:
    """Squared change when a record of label y leaves one leaf and one of label z joins another."""
    return counted_moved(y, z)


def hessians(h: Any, r: Any) -> tuple[Any, ...]:
    """Hessians within [0, 1/4]."""
    return h >= 0, r >= 0, 4 * h <= 1, 4 * r <= 1


def labels(y: Any, z: Any) -> tuple[Any, ...]:
    """Labels 0 or 1."""
    return y * (1 - y) == 0, z * (1 - z) == 0


PROPOSITIONS = (
    Proposition(
        "fedgbdt/gradient-sensitivity",
        "Section 4.4.2, Delta(q) = sqrt(2)",
        "Adding a record changes the sums of (g, 1) by at most sqrt(2) in Euclidean norm (log loss).",
        ADD_REMOVE,
        about=(losses.log_gradient, printed.counting_squared_sensitivity_as_published, squared_norm),
        uses=("fedgbdt/loss-derivatives",),
        evidence=(
            Proved(
                AtMost(
                    reals("u y"),
                    quantity=lambda u, y: counted_ar(gradient(u, y)),
                    bound=lambda: Fraction(printed.counting_squared_sensitivity_as_published()),
                    given=scored,
                ),
                tight=Tight(
                    "sqrt(2)",
                    "as s grows, y = 0",
                    at=lambda k: {"u": k, "y": 0},
                    near={"u": 10**4, "y": 0},
                    limit=True,
                ),
            ),
        ),
        gloss="Squares of both sides.",
    ),
    Proposition(
        "fedgbdt/gradient-sensitivity-clipped",
        "Section 4.2, gradient clipping",
        "With |g| <= c and h = 1, adding a record changes the sums by at most sqrt(c^2 + 1) in Euclidean norm.",
        ADD_REMOVE,
        about=(paper.gradient_squared_sensitivity, paper.clip_gradient, squared_norm),
        evidence=(
            Proved(
                AtMost(
                    reals("g c"),
                    quantity=lambda g, c: counted_ar(paper.clip_gradient(g, c)),
                    bound=lambda c: paper.gradient_squared_sensitivity(AR, c),
                    given=lambda c: c > 0,
                ),
                tight=Tight(
                    "sqrt(c^2 + 1)", "at |g| = c", at=lambda c: {"g": c}, near={"g": 1, "c": 1}, given=lambda c: c > 0
                ),
            ),
        ),
        gloss="c = 1 is the log loss; c = gradient_bound_after(u, ...) tightens the first trees.",
    ),
    Proposition(
        "fedgbdt/gradient-sensitivity-replace-one",
        "Section 4.4.2, Delta(q) = sqrt(2)",
        "Replacing a record changes the sums of (g, 1) by at most sqrt(2) in Euclidean norm (log loss).",
        REPLACE_ONE,
        about=(losses.log_gradient, printed.counting_squared_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost(
                    reals("u y v z"),
                    quantity=lambda u, y, v, z: (gradient(u, y) - gradient(v, z)) ** 2,
                    bound=lambda: Fraction(printed.counting_squared_sensitivity_as_published()),
                    given=lambda u, y, v, z: (*scored(u, y), *scored(v, z)),
                ),
                at={"u": 99, "y": 0, "v": Fraction(1, 99), "z": 1},
            ),
        ),
        repaired_by="fedgbdt/gradient-sensitivity-vector-replace-one",
    ),
    Proposition(
        "fedgbdt/gradient-sensitivity-vector-replace-one",
        "Section 4.4.2, repaired",
        "With |g| <= c, replacing a record changes the sums of (g, 1), all leaves together, by at most the constant.",
        REPLACE_ONE,
        about=(paper.gradient_squared_sensitivity, squared_norm),
        uses=("fedgbdt/gradient-bound",),
        evidence=(
            Proved(
                AtMost(
                    reals("g q c"),
                    quantity=lambda g, q: (g - q) * (g - q),
                    bound=lambda c: paper.gradient_squared_sensitivity(RO, c),
                    given=clipped_pair,
                ),
                tight=Tight(
                    "max(2 c, sqrt(2 c^2 + 2)); 2 for the log loss, c = 1",
                    "at g = c, g' = -c in the same leaf where c >= 1, in different leaves where c <= 1",
                    at=lambda c: {"g": c, "q": -c},
                    near={"g": 1, "q": -1, "c": 1},
                    given=lambda c: c >= 1,
                ),
                label="same leaf",
            ),
            Proved(
                AtMost(
                    reals("g q c"),
                    quantity=counted_moved,
                    bound=lambda c: paper.gradient_squared_sensitivity(RO, c),
                    given=clipped_pair,
                ),
                tight=Tight(
                    "max(2 c, sqrt(2 c^2 + 2))",
                    "at g = c, g' = -c in different leaves, c <= 1",
                    at=lambda c: {"g": c, "q": -c},
                    near={"g": 1, "q": -1, "c": 1},
                    given=lambda c: (c > 0, c <= 1),
                ),
                label="another leaf",
            ),
        ),
    ),
    Proposition(
        "fedgbdt/averaging-sensitivity",
        "Section 4.4.1, Delta(q) = sqrt(2)",
        "Adding a record changes the sums of (1{y = 1}, 1) by at most sqrt(2) in Euclidean norm.",
        ADD_REMOVE,
        about=(paper.averaging_squared_sensitivity, squared_norm),
        evidence=(
            Proved(
                AtMost(
                    reals("y"),
                    quantity=lambda y: squared_norm(y, 1),
                    bound=lambda: Fraction(paper.averaging_squared_sensitivity(AR)),
                    given=lambda y: y * (1 - y) == 0,
                ),
                tight=Tight("sqrt(2)", "at y = 1", at=lambda: {"y": 1}, near={"y": 1}),
            ),
        ),
    ),
    Proposition(
        "fedgbdt/averaging-sensitivity-replace-one",
        "Section 4.4.1, Delta(q) = sqrt(2)",
        "Replacing a record changes the sums of (1{y = 1}, 1), all leaves together, by at most sqrt(2).",
        REPLACE_ONE,
        about=(printed.counting_squared_sensitivity_as_published, squared_norm),
        evidence=(
            Counterexample(
                AtMost(
                    reals("y z"),
                    quantity=counted_moved_labels,
                    bound=lambda: Fraction(printed.counting_squared_sensitivity_as_published()),
                    given=labels,
                ),
                at={"y": 1, "z": 1},
            ),
        ),
        argument="The record leaves one leaf and joins another: both leaves' sums change.",
        repaired_by="fedgbdt/averaging-sensitivity-vector-replace-one",
    ),
    Proposition(
        "fedgbdt/averaging-sensitivity-vector-replace-one",
        "Section 4.4.1, repaired",
        "Replacing a record changes the sums of (1{y = 1}, 1), all leaves together, by at most 2.",
        REPLACE_ONE,
        about=(paper.averaging_squared_sensitivity, squared_norm),
        evidence=(
            Proved(
                AtMost(
                    reals("y z"),
                    quantity=counted_moved_labels,
                    bound=lambda: Fraction(paper.averaging_squared_sensitivity(RO)),
                    given=labels,
                ),
                tight=Tight(
                    "2", "at y = y' = 1 in different leaves", at=lambda: {"y": 1, "z": 1}, near={"y": 1, "z": 1}
                ),
                label="another leaf",
            ),
            Proved(
                AtMost(
                    reals("y z"),
                    quantity=lambda y, z: (y - z) * (y - z),
                    bound=lambda: Fraction(paper.averaging_squared_sensitivity(RO)),
                    given=labels,
                ),
                label="same leaf",
            ),
        ),
    ),
    Proposition(
        "fedgbdt/hessian-histogram-sensitivity",
        "Section 4.5.2",
        "Adding a record changes the Hessian histogram of one feature by at most 1/4 (log loss).",
        ADD_REMOVE,
        about=(losses.log_hessian, paper.hessian_squared_sensitivity),
        uses=("fedgbdt/loss-derivatives",),
        evidence=(
            Proved(
                AtMost(
                    reals("u y"),
                    quantity=lambda u, y: hessian(u, y) ** 2,
                    bound=lambda: paper.hessian_squared_sensitivity(AR),
                    given=scored,
                ),
                tight=Tight("1/4", "at s = 0", at=lambda: {"u": 1, "y": 0}, near={"u": 1, "y": 0}),
            ),
        ),
        gloss="A quarter of what the (g, h) query may change: at equal noise, 1/16 of its cost.",
    ),
    Proposition(
        "fedgbdt/hessian-histogram-sensitivity-replace-one",
        "Section 4.5.2",
        "Replacing a record changes the Hessian histogram of one feature by at most sqrt(2)/4 (log loss).",
        REPLACE_ONE,
        about=(paper.hessian_squared_sensitivity,),
        uses=("fedgbdt/hessian-bound",),
        evidence=(
            Proved(
                AtMost(
                    reals("h r"),
                    quantity=lambda h, r: h * h + r * r,
                    bound=lambda: paper.hessian_squared_sensitivity(RO),
                    given=hessians,
                ),
                tight=Tight(
                    "sqrt(2)/4",
                    "at s = s' = 0 in different bins",
                    at=lambda: {"h": Fraction(1, 4), "r": Fraction(1, 4)},
                    near={"h": Fraction(1, 4), "r": Fraction(1, 4)},
                ),
                label="another bin",
            ),
            Proved(
                AtMost(
                    reals("h r"),
                    quantity=lambda h, r: (h - r) * (h - r),
                    bound=lambda: paper.hessian_squared_sensitivity(RO),
                    given=hessians,
                ),
                label="same bin",
            ),
        ),
    ),
)
