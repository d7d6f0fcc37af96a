"""DPBoost (Li, Wu, Wen, He, AAAI 2020): filtering, decay of leaves, budgets, shares and the guarantees of Algs. 1, "
"2."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs.checker.conditions import HALF
from proofs.checker.evidence import Counterexample, Finite, Identity, Proved
from proofs.checker.proposition import Proposition
from proofs.checker.statements import AtMost, Count, ForAll, Real, both
from proofs.checker.tightness import Tight
from proofs.dpboost.gains import LAMBDA
from refdp.data.losses import log_gradient, square_gradient, square_loss
from refdp.data.numbers import absolute
from refdp.papers.dpboost import gain, leaf_clip, leaf_value

ETA = Real("eta")


def objective(value: Any, G: Any, n: Any, lam: Any) -> Any:
    """Eq. 2 of one leaf: G V + (n + lambda) V^2 / 2."""
    return G * value + (n + lam) * value * value / 2


def third_leaf(lam: Any, eta: Any) -> Any:
    """The third tree's value of a leaf that always holds one record, label -1, square loss, no noise."""
    score = 0 * lam
    for _ in range(2):
        score = score + eta * leaf_value(square_gradient(score, -1), 1, lam)
    return leaf_value(square_gradient(score, -1), 1, lam)


PROPOSITIONS = (
    Proposition(
        "dpboost/eq-2",
        "Equation 2",
        "Up to constants, the loss after adding f_t is the sum of g_i f_t(x_i) + f_t(x_i)^2 / 2.",
        about=(square_loss, square_gradient),
        evidence=(
            Proved(
                ForAll(
                    (Real("s"), Real("y"), Real("f")),
                    holds=lambda s, y, f: (
                        square_loss(s + f, y) == square_loss(s, y) + square_gradient(s, y) * f + f * f / 2
                    ),
                )
            ),
        ),
        assumes=(HALF,),
    ),
    Proposition(
        "dpboost/eq-3",
        "Equation 3",
        "The gain is minus twice the smallest value of Eq. 2 over the two children's leaf values; it is never "
        "negative, so that the stop at a gain below zero never applies.",
        about=(gain, leaf_value),
        evidence=(
            Proved(
                ForAll(
                    (Real("n"), Real("G"), Real("m"), Real("H"), LAMBDA),
                    given=lambda n, m, lam: (n >= 0, m >= 0, lam > 0),
                    holds=lambda n, G, m, H, lam: (
                        gain(G, n, H, m, lam)
                        == -2 * objective(leaf_value(G, n, lam), G, n, lam)
                        - 2 * objective(leaf_value(H, m, lam), H, m, lam),
                        gain(G, n, H, m, lam) >= 0,
                    ),
                )
            ),
        ),
        uses=("dpboost/eq-4",),
    ),
    Proposition(
        "dpboost/eq-4",
        "Equation 4",
        "V = -G / (n + lambda) minimises Eq. 2 on a leaf.",
        about=(leaf_value,),
        evidence=(
            Proved(
                ForAll(
                    (Real("n"), Real("G"), Real("V"), LAMBDA),
                    given=lambda n, lam: (n >= 0, lam > 0),
                    holds=lambda n, G, V, lam: objective(V, G, n, lam) >= objective(leaf_value(G, n, lam), G, n, lam),
                )
            ),
        ),
    ),
    Proposition(
        "dpboost/gradient-bound",
        "section 3.1, gradient-based data filtering",
        "g_l* = 1 bounds the first gradient of the square loss on labels in [-1, 1], whatever the data.",
        about=(square_gradient,),
        evidence=(
            Proved(
                AtMost(
                    (Real("y"),),
                    given=lambda y: (y >= -1, y <= 1),
                    quantity=lambda y: both(square_gradient(0, y)),
                    bound=lambda y: 1 + 0 * y,
                ),
                tight=Tight("1", "at y = 1 and y = -1", at=lambda: {"y": 1}, near={"y": 1}),
            ),
        ),
        assumes=(HALF,),
    ),
    Proposition(
        "dpboost/gradient-bound-doubled",
        "section 3.1, gradient-based data filtering, repaired",
        "For (y - s)^2 on labels in [-1, 1], g_l* = 2.",
        about=(square_gradient,),
        evidence=(
            Identity(
                "s y",
                left=lambda s, y: sympy.diff(2 * square_loss(s, y), s),
                right=lambda s, y: 2 * square_gradient(s, y),
                label="derivative of (y - s)^2",
            ),
            Proved(
                AtMost(
                    (Real("y"),),
                    given=lambda y: (y >= -1, y <= 1),
                    quantity=lambda y: both(2 * square_gradient(0, y)),
                    bound=lambda y: 2 + 0 * y,
                ),
                tight=Tight("2", "at y = 1 and y = -1", at=lambda: {"y": 1}, near={"y": 1}),
            ),
        ),
    ),
    Proposition(
        "dpboost/gradient-bound-log-loss",
        "section 3.1, gradient-based data filtering",
        "For log loss on labels in {0, 1}, g_l* = 1/2.",
        about=(log_gradient,),
        evidence=(
            Finite(
                cases=lambda: (sympy.Integer(0), sympy.Integer(1)),
                holds=lambda y: bool(absolute(log_gradient(sympy.Integer(0), y)) == sympy.Rational(1, 2)),
                label="labels 0 and 1 at score 0",
            ),
        ),
    ),
    Proposition(
        "dpboost/theorem-5",
        "Theorem 5",
        "Filtering the share p of a leaf's records changes its value by at most p (|mean filtered gradient| + g_l*).",
        about=(leaf_value,),
        evidence=(
            Proved(
                AtMost(
                    (Count("k", start=1, split=0), Count("m"), Real("F"), Real("S"), LAMBDA),
                    given=lambda k, m, S, lam: (S - m <= 0, S + m >= 0, lam >= 0, m + lam > 0),
                    quantity=lambda k, m, F, S, lam: both(leaf_value(F + S, m + k, lam) - leaf_value(S, m, lam)),
                    bound=lambda k, m, F: (absolute(F) + k) / (m + k),
                ),
                tight=Tight(
                    "p (|mean filtered gradient| + g_l*)",
                    "at lambda = 0, all kept gradients g_l*, the filtered ones of opposite sign",
                    at=lambda m, F: {"S": m, "lam": 0},
                    given=lambda k, m, F: (F <= 0, k >= 1, m >= 1),
                    near={"k": 1, "m": 1, "F": -2, "S": 1, "lam": 0},
                ),
            ),
        ),
        gloss="k filtered records with gradient sum F, m kept ones with sum S, |S| <= m; p = k/(m + k), g_l* = 1.",
    ),
    Proposition(
        "dpboost/theorem-6",
        "Theorem 6",
        "If each leaf holds one record throughout, |V_t| <= g_l* (1 - eta)^(t-1).",
        about=(leaf_value, leaf_clip, square_gradient),
        evidence=(
            Counterexample(
                AtMost(
                    (LAMBDA, ETA),
                    given=lambda lam, eta: (lam >= 0, eta > 0, eta <= 1),
                    quantity=lambda lam, eta: both(third_leaf(lam, eta)),
                    bound=lambda eta: leaf_clip(1, eta, 2),
                ),
                at={"lam": 1, "eta": Fraction(1, 2)},
            ),
        ),
        argument="The third tree, label -1. The proof replaces V_1 = -g_l*/(1 + lambda) by -g_l* in the update as "
        "well, where it enters with the other sign.",
        repaired_by="dpboost/theorem-6-regularised",
    ),
    Proposition(
        "dpboost/theorem-6-regularised",
        "Theorem 6, repaired",
        "Then |V_t| = |g_1|/(1 + lambda) (1 - eta/(1 + lambda))^(t-1) for the square loss; for lambda = 0 this is "
        "Theorem 6.",
        about=(leaf_value, square_gradient),
        evidence=(
            Proved(
                ForAll(
                    (Real("s"), Real("y"), LAMBDA, ETA),
                    given=lambda lam: lam >= 0,
                    holds=lambda s, y, lam, eta: (
                        square_gradient(s + eta * leaf_value(square_gradient(s, y), 1, lam), y)
                        == square_gradient(s, y) * (1 - eta / (1 + lam))
                    ),
                ),
                label="one tree multiplies the gradient by 1 - eta/(1 + lambda)",
            ),
        ),
        assumes=(HALF,),
    ),
)
