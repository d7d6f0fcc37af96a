"""Federated framework (Maddock et al., CCS 2022): leaf weights, losses and the sensitivities of the (g, h) query.

The score s of a record enters the log loss only through exp(-s), so refdp's own loss runs here on a score that is given
by its odds u = exp(s) > 0: every real score is covered, and all that is left is rational.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from proofs.evidence import Counterexample, Follows, Identity, Proved
from proofs.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.statements import AtMost, Count, ForAll, Real
from proofs.tightness import Tight
from refdp import losses
from refdp.events import Relation
from refdp.generic import exp
from refdp.papers import fedgbdt as paper
from refdp.papers.fedgbdt import log_hessian_of, squared_norm

AR, RO = Relation.ADD_REMOVE, Relation.REPLACE_ONE
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Logit:
    """A score s, known by its odds exp(s)."""

    odds: Any

    def __neg__(self) -> Logit:
        return Logit(1 / self.odds)


exp.register(Logit, lambda score: score.odds)


def reals(names: str) -> tuple[Real, ...]:
    """One real variable for each name."""
    return tuple(Real(name) for name in names.split())


def gradient(u: Any, y: Any) -> Any:
    """refdp's gradient of the log loss at odds u and label y."""
    return losses.log_gradient(Logit(u), y)


def hessian(u: Any, y: Any) -> Any:
    """refdp's Hessian of the log loss at odds u and label y."""
    return losses.log_hessian(Logit(u), y)


def scored(u: Any, y: Any) -> tuple[Any, ...]:
    """Positive odds, a label of 0 or 1."""
    return u > 0, y * (1 - y) == 0


def bounded(g: Any, b: Any) -> tuple[Any, ...]:
    """|g| <= b, 1/2 <= b <= 1."""
    return -b <= g, g <= b, b >= HALF, b <= 1


def bounded_pair(g: Any, q: Any, b: Any) -> tuple[Any, ...]:
    """Both gradients within b."""
    return (*bounded(g, b), -b <= q, q <= b)


def pair_norm(g: Any) -> Any:
    """Squared norm of the pair that a record of gradient g contributes under the log loss."""
    return squared_norm(g, log_hessian_of(g))


def replaced_in_leaf(g: Any, q: Any) -> Any:
    """Squared change when gradient g is replaced by q in the same leaf."""
    return squared_norm(g - q, log_hessian_of(g) - log_hessian_of(q))


def newton_objective(G: Any, H: Any, l: Any) -> Any:
    """The second-order objective at the weight of Eq. 4."""
    return paper.second_order_objective(paper.leaf_weight(G, H, l), G, H, l)


def optimal_against(objective: Any, at_weight: Any, given: Any) -> AtMost:
    """The weight's objective is at most that of every other weight w."""
    return AtMost(reals("G H l w"), quantity=at_weight, bound=objective, given=given)


EQ_3 = optimal_against(
    lambda G, l, w: paper.first_order_objective(w, G, l),
    lambda G, H, l: paper.first_order_objective(paper.leaf_weight(G, H, l), G, l),
    lambda H, l: (H >= 1, l > 0),
)
EQ_4 = optimal_against(
    lambda G, H, l, w: paper.second_order_objective(w, G, H, l), newton_objective, lambda H, l: (H + l > 0,)
)
EQ_4_NOISY = optimal_against(
    lambda G, H, l, w: paper.second_order_objective(w, G, H, l), newton_objective, lambda l: (l > 0,)
)


def split_score_identity(G: Any, H: Any, M: Any, K: Any, l: Any, c: Any) -> Any:
    """Eq. 5 is the objective of one leaf less that of two, each leaf charged gamma."""
    one_leaf = newton_objective(G + M, H + K, l) + c
    two_leaves = newton_objective(G, H, l) + newton_objective(M, K, l) + 2 * c
    return paper.split_score(G, H, M, K, l, c) - (one_leaf - two_leaves) == 0


def derivative(sign: int, order: int) -> Any:
    """The derivative of refdp's log loss at score sign * r, r > 0 (its formula has one case for each sign)."""
    return lambda r, y: sympy.diff(losses.log_loss(sign * r, y), r, order) * sign**order


def printed_gradient(p: Any, y: Any) -> Any:
    """d/dp of y log p + (1 - y) log(1 - p), the loss as printed."""
    return y / p - (1 - y) / (1 - p)


WEIGHTS = (
    Proposition(
        "fedgbdt/eq-2",
        "Eq. 2",
        "With the earlier trees fixed, Eq. 1 and Eq. 2 rank any two candidates for tree t the same way.",
        evidence=(
            Proved(
                ForAll(reals("a b o p r"), lambda a, b, o, p, r: ((a + o + r) - (b + p + r) - ((a + o) - (b + p)) == 0))
            ),
        ),
        argument="a, b: total loss with either tree; o, p: their penalties; r: the earlier trees' penalties, which cancel.",
    ),
    Proposition(
        "fedgbdt/eq-3",
        "Eq. 3",
        "-G/(|I| + lambda) minimises the first-order approximation, for |I| >= 1 and lambda > 0.",
        about=(paper.first_order_objective, paper.leaf_weight),
        evidence=(Counterexample(EQ_3, at={"G": 1, "H": 1, "l": 1, "w": -1}),),
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
                    (Count("n", start=1), *reals("G l w")),
                    quantity=lambda n, G, l: newton_objective(G, n, l),
                    bound=lambda n, G, l, w: paper.second_order_objective(w, G, n, l),
                    given=lambda l: l >= 0,
                )
            ),
        ),
    ),
    Proposition(
        "fedgbdt/eq-4",
        "Eq. 4",
        "-G/(H + lambda) minimises the second-order approximation.",
        about=(paper.second_order_objective, paper.leaf_weight),
        evidence=(Proved(EQ_4),),
        assumes=("H + lambda > 0, which holds for sums over records with lambda > 0 but not for released noisy sums",),
    ),
    Proposition(
        "fedgbdt/eq-4-noisy",
        "Eq. 4, applied to released sums",
        "-G/(H + lambda) minimises the second-order approximation for released H of any sign, lambda > 0.",
        about=(paper.second_order_objective, paper.leaf_weight),
        evidence=(Counterexample(EQ_4_NOISY, at={"G": 1, "H": -2, "l": 1, "w": -1}),),
        repaired_by="fedgbdt/eq-4-released",
    ),
    Proposition(
        "fedgbdt/eq-4-released",
        "Eq. 4, repaired for released sums",
        "The released leaf weight never points along the released gradient and is at most |G|/lambda, whatever the noise.",
        about=(paper.released_leaf_weight,),
        evidence=(
            Proved(
                ForAll(
                    reals("G H l"),
                    lambda G, H, l: (
                        G * paper.released_leaf_weight(G, H, l) <= 0,
                        abs(paper.released_leaf_weight(G, H, l)) * l <= abs(G),
                    ),
                    lambda l: l > 0,
                )
            ),
        ),
    ),
    Proposition(
        "fedgbdt/eq-5",
        "Eq. 5",
        "The split score is the decrease of the second-order objective, at optimal weights, from one leaf to two.",
        about=(paper.split_score, paper.leaf_weight, paper.second_order_objective),
        evidence=(
            Proved(
                ForAll(
                    reals("G H M K l c"), split_score_identity, lambda H, K, l: (H + l > 0, K + l > 0, H + K + l > 0)
                )
            ),
        ),
        argument="For H, K >= 0 and lambda > 0 the three denominators are positive; h = 1 gives the gradient score.",
    ),
    Proposition(
        "fedgbdt/weight-clip",
        "Section 4.4.3, post-processing of leaf weights",
        "-eta max(w, beta sgn(w)) is at most eta beta in absolute value.",
        about=(paper.update_as_published,),
        evidence=(
            Counterexample(
                AtMost(
                    reals("w b e"),
                    quantity=lambda w, b, e: abs(paper.update_as_published(w, b, e)),
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
        about=(paper.update_as_published, paper.leaf_weight, paper.second_order_objective),
        evidence=(
            Counterexample(
                AtMost(
                    reals("G H l b e"),
                    quantity=lambda G, H, l, b, e: paper.second_order_objective(
                        paper.update_as_published(paper.leaf_weight(G, H, l), b, e), G, H, l
                    ),
                    bound=lambda: Fraction(0),
                    given=lambda H, l, b, e: (H >= 0, l > 0, b > 0, e > 0, e <= 1),
                ),
                at={"G": 1, "H": 1, "l": 1, "b": 2, "e": Fraction(3, 10)},
            ),
        ),
        argument="w = -G/(H + lambda) already carries the minus sign; the printed update applies it twice.",
        repaired_by="fedgbdt/weight-clip-repaired",
    ),
    Proposition(
        "fedgbdt/weight-clip-repaired",
        "Section 4.4.3, repaired",
        "eta min(max(w, -beta), beta) is at most eta beta in absolute value and never increases the objective, eta <= 1.",
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
                        paper.second_order_objective(paper.update(paper.leaf_weight(G, s, 0 * s), b, e), G, s, 0 * s) <= 0
                    ),
                    lambda s, b, e: (s > 0, b > 0, e > 0, e <= 1),
                ),
                label="descent, s = H + lambda",
            ),
        ),
    ),
    Proposition(
        "fedgbdt/averaging-weight",
        "Section 4.4.1",
        "The released proportion G/H of positive records lies in [0, 1].",
        about=(paper.leaf_weight,),
        evidence=(
            Counterexample(ForAll(reals("G H"), lambda G, H: (0 <= G / H, G / H <= 1), lambda H: H != 0), {"G": -1, "H": 2}),
        ),
        argument="Exact counts give a proportion, noisy ones need not, and the noisy count can be 0.",
        repaired_by="fedgbdt/averaging-weight-released",
    ),
    Proposition(
        "fedgbdt/averaging-weight-released",
        "Section 4.4.1, repaired",
        "The released averaging weight lies in [0, 1] whatever the noise.",
        about=(paper.averaging_weight,),
        evidence=(
            Proved(
                ForAll(
                    reals("G H"),
                    lambda G, H: (0 <= paper.averaging_weight(G, H), paper.averaging_weight(G, H) <= 1),
                )
            ),
        ),
    ),
)

BOUNDS = (
    Proposition(
        "fedgbdt/loss-as-printed",
        "Section 4.2, l(y, yhat) = y log yhat + (1 - y) log(1 - yhat)",
        "The derivative of the printed loss with respect to its argument lies in [-1, 1].",
        evidence=(
            Counterexample(
                ForAll(
                    reals("p y"),
                    lambda p, y: (-1 <= printed_gradient(p, y), printed_gradient(p, y) <= 1),
                    lambda p, y: (p > 0, p < 1, y * (1 - y) == 0),
                ),
                at={"p": HALF, "y": 1},
            ),
        ),
        argument="The minus sign is missing, and the bounds are about the derivative in the score, not in the probability.",
        repaired_by="fedgbdt/loss-derivatives",
    ),
    Proposition(
        "fedgbdt/loss-derivatives",
        "Section 4.2, repaired",
        "For l = log(1 + exp(s)) - y s the derivatives in the score are g = p - y and h = p (1 - p), p = sigmoid(s).",
        about=(losses.log_loss, losses.log_gradient, losses.log_hessian),
        evidence=tuple(
            Identity(
                "r y",
                left=derivative(sign, order),
                right=lambda r, y, sign=sign, f=f: f(sign * r, y),
                positive=True,
                label=f"derivative {order}, {'positive' if sign > 0 else 'negative'} scores",
            )
            for sign in (1, -1)
            for order, f in ((1, losses.log_gradient), (2, losses.log_hessian))
        ),
        argument="Both formulas are continuous at 0. y is any label: positive y is enough, the loss being linear in y.",
    ),
    Proposition(
        "fedgbdt/gradient-bound",
        "Section 4.2",
        "g lies in [-1, 1] for the log loss.",
        about=(losses.log_gradient,),
        uses=("fedgbdt/loss-derivatives",),
        evidence=(
            Proved(
                AtMost(reals("u y"), lambda u, y: abs(gradient(u, y)), lambda: Fraction(1), scored),
                tight=Tight(
                    "1", "as s grows, y = 0", at=lambda k: {"u": k, "y": 0}, near={"u": 10**6, "y": 0}, limit=True
                ),
            ),
        ),
    ),
    Proposition(
        "fedgbdt/hessian-bound",
        "Section 4.2",
        "h lies in [0, 1/4] for the log loss.",
        about=(losses.log_hessian,),
        uses=("fedgbdt/loss-derivatives",),
        evidence=(
            Proved(
                AtMost(reals("u y"), hessian, lambda: Fraction(1, 4), scored),
                tight=Tight("1/4", "at s = 0", at=lambda: {"u": 1, "y": 0}, near={"u": 1, "y": 0}),
            ),
            Proved(ForAll(reals("u y"), lambda u, y: hessian(u, y) > 0, scored), label="positive"),
        ),
    ),
    Proposition(
        "fedgbdt/hessian-of-gradient",
        "Section 4.2",
        "For the log loss h = |g| (1 - |g|): gradient and Hessian cannot both be extreme.",
        about=(losses.log_gradient, losses.log_hessian, log_hessian_of),
        uses=("fedgbdt/loss-derivatives",),
        evidence=(Proved(ForAll(reals("u y"), lambda u, y: hessian(u, y) == log_hessian_of(gradient(u, y)), scored)),),
    ),
    Proposition(
        "fedgbdt/gradient-bound-by-round",
        "Section 4.2, for the first trees",
        "|g| <= U/(1 + U) while every score lies in [-log U, log U]: after u updates of size eta beta, U = exp(u eta beta).",
        about=(losses.log_gradient, paper.gradient_bound_after),
        uses=("fedgbdt/weight-clip-repaired", "fedgbdt/batched-update-repaired", "fedgbdt/initial-score"),
        evidence=(
            Proved(
                AtMost(
                    reals("u y U"),
                    quantity=lambda u, y: abs(gradient(u, y)),
                    bound=lambda U: U / (1 + U),
                    given=lambda u, y, U: (*scored(u, y), U >= 1, u <= U, u * U >= 1),
                ),
                tight=Tight(
                    "sigmoid(u eta beta)",
                    "at score u eta beta and y = 0",
                    at=lambda U: {"u": U, "y": 0},
                    near={"u": 2, "y": 0, "U": 2},
                    given=lambda U: U >= 1,
                ),
            ),
            Proved(
                ForAll(
                    reals("U"),
                    lambda U: paper.gradient_bound_after(1, Logit(U), Unit()) == U / (1 + U),
                    lambda U: U >= 1,
                ),
                label="refdp's formula, the exponent given by its odds",
            ),
        )
        if False
        else (
            Proved(
                AtMost(
                    reals("u y U"),
                    quantity=lambda u, y: abs(gradient(u, y)),
                    bound=lambda U: U / (1 + U),
                    given=lambda u, y, U: (*scored(u, y), U >= 1, u <= U, u * U >= 1),
                ),
                tight=Tight(
                    "sigmoid(u eta beta)",
                    "at score u eta beta and y = 0",
                    at=lambda U: {"u": U, "y": 0},
                    near={"u": 2, "y": 0, "U": 2},
                    given=lambda U: U >= 1,
                ),
            ),
            Identity(
                "n b e",
                left=lambda n, b, e: paper.gradient_bound_after(n, b, e),
                right=lambda n, b, e: sympy.exp(n * b * e) / (1 + sympy.exp(n * b * e)),
                positive=True,
                label="refdp's formula is U/(1 + U)",
            ),
        ),
        argument="The initial score is 0 and each update, or each whole batch, moves a score by at most eta beta.",
    ),
)
