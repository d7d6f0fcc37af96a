"""Federated framework (Maddock et al., CCS 2022): leaf weights and split scores."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Proved
from proofs.checker.proposition import Proposition
from proofs.checker.statements import AtMost, Count, ForAll, reals
from proofs.checker.tightness import Tight
from refdp.papers import fedgbdt as paper
from refdp.papers.published import fedgbdt as printed


def newton_objective(G: Any, H: Any, r: Any) -> Any:
    """The second-order objective at the weight of Eq. 4."""
    return paper.second_order_objective(paper.leaf_weight(G, H, r), G, H, r)


def optimal_against(objective: Any, at_weight: Any, given: Any) -> AtMost:
    """The weight's objective is at most that of every other weight w."""
    return AtMost(reals("G H r w"), quantity=at_weight, bound=objective, given=given)


EQ_3 = optimal_against(
    lambda G, r, w: printed.first_order_objective(w, G, r),
    lambda G, H, r: printed.first_order_objective(paper.leaf_weight(G, H, r), G, r),
    lambda H, r: (H >= 1, r > 0),
)
EQ_4 = optimal_against(
    lambda G, H, r, w: paper.second_order_objective(w, G, H, r), newton_objective, lambda H, r: (H + r > 0,)
)
EQ_4_NOISY = optimal_against(
    lambda G, H, r, w: paper.second_order_objective(w, G, H, r), newton_objective, lambda H, r: (H + r != 0, r > 0)
)


def split_score_identity(G: Any, H: Any, M: Any, K: Any, r: Any, c: Any) -> Any:
    """Eq. 5 is the objective of one leaf less that of two, each leaf charged gamma."""
    one_leaf = newton_objective(G + M, H + K, r) + c
    two_leaves = newton_objective(G, H, r) + newton_objective(M, K, r) + 2 * c
    return printed.split_score(G, H, M, K, r, c) - (one_leaf - two_leaves) == 0


PROPOSITIONS = (
    Proposition(
        "fedgbdt/eq-2",
        "Eq. 2",
        "With the earlier trees fixed, Eq. 1 and Eq. 2 rank any two candidates for tree t the same way.",
        evidence=(
            Proved(
                ForAll(reals("a b o p r"), lambda a, b, o, p, r: (a + o + r) - (b + p + r) - ((a + o) - (b + p)) == 0)
            ),
        ),
        gloss="a, b: loss with either tree; o, p: their penalties; r: the earlier trees' penalties, which cancel.",
    ),
    Proposition(
        "fedgbdt/eq-3",
        "Eq. 3",
        "-G/(|I| + lambda) minimises the first-order approximation, for |I| >= 1 and lambda > 0.",
        about=(printed.first_order_objective, paper.leaf_weight),
        evidence=(Counterexample(EQ_3, at={"G": 1, "H": 1, "r": 1, "w": -1}),),
        argument="The first-order optimum is -G/lambda; without lambda there is none.",
        repaired_by="fedgbdt/eq-3-unit-hessian",
    ),
    Proposition(
        "fedgbdt/eq-3-unit-hessian",
        "Eq. 3, repaired",
        "-G/(n + lambda) minimises the second-order approximation whose Hessians are all 1, for n >= 1, lambda >= 0.",
        about=(paper.second_order_objective, paper.leaf_weight),
        evidence=(
            Proved(
                AtMost(
                    (Count("n", start=1), *reals("G r w")),
                    quantity=lambda n, G, r: newton_objective(G, n, r),
                    bound=lambda n, G, r, w: paper.second_order_objective(w, G, n, r),
                    given=lambda r: r >= 0,
                )
            ),
        ),
    ),
    Proposition(
        "fedgbdt/eq-4",
        "Eq. 4",
        "-G/(H + lambda) minimises the second-order approximation, for H + lambda > 0.",
        about=(paper.second_order_objective, paper.leaf_weight),
        evidence=(Proved(EQ_4),),
    ),
    Proposition(
        "fedgbdt/eq-4-noisy",
        "Eq. 4, with noisy sums",
        "-G/(H + lambda) minimises the second-order approximation whatever the noise makes of H, for lambda > 0.",
        about=(paper.second_order_objective, paper.leaf_weight),
        evidence=(Counterexample(EQ_4_NOISY, at={"G": 1, "H": -2, "r": 1, "w": 2}),),
        argument="Where H + lambda < 0 the objective has no minimum, and the weight is its maximum.",
        repaired_by="fedgbdt/eq-4-released",
    ),
    Proposition(
        "fedgbdt/eq-4-released",
        "Eq. 4, made precise",
        "The released leaf weight never points along the released gradient and is at most |G|/lambda.",
        about=(paper.released_leaf_weight,),
        evidence=(
            Proved(
                ForAll(
                    reals("G H r"),
                    lambda G, H, r: (
                        G * paper.released_leaf_weight(G, H, r) <= 0,
                        abs(paper.released_leaf_weight(G, H, r)) * r <= abs(G),
                    ),
                    lambda r: r > 0,
                )
            ),
        ),
    ),
    Proposition(
        "fedgbdt/eq-5",
        "Eq. 5",
        "The split score is the decrease of the second-order objective, at optimal weights, from one leaf to two.",
        about=(printed.split_score, paper.leaf_weight, paper.second_order_objective),
        evidence=(
            Proved(
                ForAll(
                    reals("G H M K r c"), split_score_identity, lambda H, K, r: (H + r > 0, K + r > 0, H + K + r > 0)
                )
            ),
        ),
        gloss="For H, K >= 0 and lambda > 0 the three denominators are positive; h = 1 gives the gradient score.",
    ),
    Proposition(
        "fedgbdt/weight-clip",
        "Section 4.4.3, post-processing of leaf weights",
        "-eta max(w, beta sgn(w)) is at most eta beta in absolute value.",
        about=(printed.update_as_published,),
        evidence=(
            Counterexample(
                AtMost(
                    reals("w b e"),
                    quantity=lambda w, b, e: abs(printed.update_as_published(w, b, e)),
                    bound=lambda b, e: b * e,
                    given=lambda b, e: (b >= 0, e > 0),
                ),
                at={"w": 5, "b": 2, "e": Fraction(3, 10)},
            ),
        ),
        argument="A positive weight is raised to at least beta instead of being cut at beta.",
        repaired_by="fedgbdt/weight-clip-repaired",
    ),
    Proposition(
        "fedgbdt/weight-sign",
        "Section 4.4.3, post-processing of leaf weights",
        "The update -eta max(w, beta sgn(w)) of the optimal w never increases the second-order objective, eta <= 1.",
        about=(printed.update_as_published, paper.leaf_weight, paper.second_order_objective),
        evidence=(
            Counterexample(
                AtMost(
                    reals("G H r b e"),
                    quantity=lambda G, H, r, b, e: paper.second_order_objective(
                        printed.update_as_published(paper.leaf_weight(G, H, r), b, e), G, H, r
                    ),
                    bound=lambda: Fraction(0),
                    given=lambda H, r, b, e: (H >= 0, r > 0, b > 0, e > 0, e <= 1),
                ),
                at={"G": 1, "H": 1, "r": 1, "b": 2, "e": Fraction(3, 10)},
            ),
        ),
        argument="w = -G/(H + lambda) already carries the minus sign; the printed update applies it twice.",
        repaired_by="fedgbdt/weight-clip-repaired",
    ),
    Proposition(
        "fedgbdt/weight-clip-repaired",
        "Section 4.4.3, repaired",
        "eta min(max(w, -beta), beta) is at most eta beta in size and never increases the objective, eta <= 1.",
        about=(paper.update, paper.leaf_weight, paper.second_order_objective),
        evidence=(
            Proved(
                AtMost(
                    reals("w b e"),
                    quantity=lambda w, b, e: abs(paper.update(w, b, e)),
                    bound=lambda b, e: b * e,
                    given=lambda b, e: (b > 0, e > 0),
                ),
                tight=Tight(
                    "eta beta",
                    "at |w| >= beta",
                    at=lambda b: {"w": b},
                    near={"w": 2, "b": 2, "e": 1},
                    given=lambda b, e: (b > 0, e > 0),
                ),
            ),
            Proved(
                ForAll(
                    reals("G s b e"),
                    lambda G, s, b, e: (
                        paper.second_order_objective(paper.update(paper.leaf_weight(G, s, 0 * s), b, e), G, s, 0 * s)
                        <= 0
                    ),
                    lambda s, b, e: (s > 0, b > 0, e > 0, e <= 1),
                ),
                label="descent, s = H + lambda",
            ),
        ),
    ),
    Proposition(
        "fedgbdt/averaging-weight-released",
        "Section 4.4.1, made precise",
        "The released averaging weight lies in [0, 1] whatever the noise.",
        about=(paper.averaging_weight,),
        evidence=(
            Proved(
                ForAll(
                    reals("G H"),
                    lambda G, H: (paper.averaging_weight(G, H) >= 0, paper.averaging_weight(G, H) <= 1),
                )
            ),
        ),
    ),
)
