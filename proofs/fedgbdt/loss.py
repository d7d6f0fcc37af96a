"""Federated framework (Maddock et al., CCS 2022): the loss, its bounds and the sensitivities of the (g, h) query.

The score s of a record enters the log loss only through exp(-s), so refdp's own loss runs here on a score that is given
by its odds u = exp(s) > 0: every real score is covered, and all that is left is rational.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from proofs.checker.evidence import Counterexample, Identity, Proved
from proofs.checker.proposition import Proposition
from proofs.checker.statements import AtMost, ForAll, reals
from proofs.checker.tightness import Tight
from refdp.data import losses
from refdp.data.numbers import exp
from refdp.papers import fedgbdt as paper
from refdp.papers.fedgbdt import log_hessian_of
from refdp.privacy.events import Relation

AR, RO = Relation.ADD_REMOVE, Relation.REPLACE_ONE
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Logit:
    """A score s, known by its odds exp(s)."""

    odds: Any

    def __neg__(self) -> Logit:
        return Logit(1 / self.odds)


exp.register(Logit, lambda score: score.odds)


def gradient(u: Any, y: Any) -> Any:
    """refdp's gradient of the log loss at odds u and label y."""
    return losses.log_gradient(Logit(u), y)


def hessian(u: Any, y: Any) -> Any:
    """refdp's Hessian of the log loss at odds u and label y."""
    return losses.log_hessian(Logit(u), y)


def scored(u: Any, y: Any) -> tuple[Any, ...]:
    """Positive odds, a label of 0 or 1."""
    return u > 0, y * (1 - y) == 0


def derivative(sign: int, order: int, formula: Any) -> Identity:
    """The derivative of refdp's log loss at score sign * r, r > 0 (its formula has one case for each sign)."""
    return Identity(
        "r y",
        left=lambda r, y: sympy.diff(losses.log_loss(sign * r, y), r, order) * sign**order,
        right=lambda r, y: formula(sign * r, y),
        positive=True,
        label=f"derivative {order}, {'positive' if sign > 0 else 'negative'} scores",
    )


def printed_gradient(p: Any, y: Any) -> Any:
    """d/dp of y log p + (1 - y) log(1 - p), the loss as printed."""
    return y / p - (1 - y) / (1 - p)


PROPOSITIONS = (
    Proposition(
        "fedgbdt/loss-as-printed",
        "Section 4.2, l(y, yhat) = y log yhat + (1 - y) log(1 - yhat)",
        "The derivative of the printed loss with respect to its argument lies in [-1, 1].",
        evidence=(
            Counterexample(
                ForAll(
                    reals("p y"),
                    lambda p, y: (printed_gradient(p, y) >= -1, printed_gradient(p, y) <= 1),
                    lambda p, y: (p > 0, p < 1, y * (1 - y) == 0),
                ),
                at={"p": HALF, "y": 1},
            ),
        ),
        argument="The minus sign is missing, and the bounds are about the derivative in the score, not in p.",
        repaired_by="fedgbdt/loss-derivatives",
    ),
    Proposition(
        "fedgbdt/loss-derivatives",
        "Section 4.2, repaired",
        "For l = log(1 + exp(s)) - y s the derivatives in the score are g = p - y and h = p (1 - p), p = sigmoid(s).",
        about=(losses.log_loss, losses.log_gradient, losses.log_hessian),
        evidence=(
            derivative(1, 1, losses.log_gradient),
            derivative(-1, 1, losses.log_gradient),
            derivative(1, 2, losses.log_hessian),
            derivative(-1, 2, losses.log_hessian),
        ),
        gloss="Both formulas are continuous at 0. y is any label: positive y is enough, the loss being linear in y.",
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
        "After n updates of size at most eta beta, |g| <= U/(1 + U), U = exp(n eta beta) (log loss, initial score 0).",
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
