"""DP-XGBoost (Grislain and Gonzalvez 2021): objective, leaf weight, exponential mechanism, sampler."""

from __future__ import annotations

from fractions import Fraction

import sympy

from proofs.checker.evidence import Counterexample, Identity, Proved
from proofs.checker.proposition import Proposition
from proofs.checker.statements import AtMost, Count, ForAll, Real
from proofs.checker.tightness import Tight
from proofs.composition.releases import selection_odds
from refdp.data import losses
from refdp.papers import dpxgboost as paper
from refdp.papers.published import dpxgboost as printed

COUNT, SUM, LAMBDA = Count("n"), Real("G"), Real("lam")

OBJECTIVE = (
    Proposition(
        "dpxgboost/eq-1-regulariser",
        "Eq. 1 and 3",
        "With Omega the sum of squares of the leaf values, the least objective is Eq. 3, for every lambda.",
        about=(printed.quadratic_objective, paper.child_gain),
        evidence=(
            Counterexample(
                ForAll(
                    (SUM, Real("H"), Real("v"), LAMBDA),
                    lambda G, H, v, lam: printed.quadratic_objective(G, H, v, 2) >= -paper.child_gain(G, H, lam) / 2,
                    lambda H, lam: (H >= 0, lam > 0),
                ),
                {"G": 1, "H": 1, "v": Fraction(-1, 3), "lam": 4},
            ),
        ),
        argument="Omega = sum v^2 is lambda = 2; Eq. 3 has a lambda of its own.",
        repaired_by="dpxgboost/eq-3",
    ),
    Proposition(
        "dpxgboost/eq-2",
        "Eq. 2",
        "For square loss the second-order expansion is exact: loss(s + v) = loss(s) + g v + h v^2 / 2 with h = 1.",
        about=(printed.square_loss, losses.square_gradient),
        evidence=(
            Identity(
                "s y v",
                lambda s, y, v: printed.square_loss(s + v, y),
                lambda s, y, v: printed.square_loss(s, y) + losses.square_gradient(s, y) * v + v * v / 2,
            ),
        ),
    ),
    Proposition(
        "dpxgboost/eq-3",
        "Eq. 3",
        "With Omega = lambda/2 times the sum of squares, -G^2 / (2 (H + lambda)) is the least value of Eq. 2.",
        about=(printed.quadratic_objective, paper.leaf_value, paper.child_gain),
        evidence=(
            Identity(
                "G H lam",
                lambda G, H, lam: printed.quadratic_objective(G, H, paper.leaf_value(G, H, lam), lam),
                lambda G, H, lam: -paper.child_gain(G, H, lam) / 2,
                label="value at the minimiser",
            ),
            Proved(
                ForAll(
                    (SUM, Real("H"), Real("v"), LAMBDA),
                    lambda G, H, v, lam: printed.quadratic_objective(G, H, v, lam) >= -paper.child_gain(G, H, lam) / 2,
                    lambda H, lam: (H >= 0, lam > 0),
                ),
                label="no value below",
            ),
        ),
    ),
    Proposition(
        "dpxgboost/eq-4",
        "Eq. 4",
        "V = -G / (|I| + lambda) is the leaf value that minimises Eq. 2, and no other value does.",
        about=(printed.quadratic_objective, paper.leaf_value),
        evidence=(
            Proved(
                ForAll(
                    (SUM, COUNT, Real("v"), LAMBDA),
                    lambda G, n, v, lam: (
                        printed.quadratic_objective(G, n, v, lam)
                        == printed.quadratic_objective(G, n, paper.leaf_value(G, n, lam), lam)
                        + (n + lam) * (v - paper.leaf_value(G, n, lam)) * (v - paper.leaf_value(G, n, lam)) / 2
                    ),
                    lambda lam: lam > 0,
                )
            ),
        ),
    ),
    Proposition(
        "dpxgboost/gain",
        "section 3, after Eq. 3",
        "The gain without the parent's term orders the splits of a node as the reduction of the objective does.",
        about=(paper.gain, printed.quadratic_objective, paper.leaf_value),
        evidence=(
            Identity(
                "L n R m lam",
                lambda L, n, R, m, lam: (
                    printed.quadratic_objective(L + R, n + m, paper.leaf_value(L + R, n + m, lam), lam)
                    - printed.quadratic_objective(L, n, paper.leaf_value(L, n, lam), lam)
                    - printed.quadratic_objective(R, m, paper.leaf_value(R, m, lam), lam)
                ),
                lambda L, n, R, m, lam: (paper.gain(L, n, R, m, lam) - paper.child_gain(L + R, n + m, lam)) / 2,
                positive=True,
            ),
        ),
        argument="The parent's term is the same for all splits of a node.",
    ),
)

EXPONENTIAL = (
    Proposition(
        "dpxgboost/exponential-section-2",
        "section 2",
        "Selection with probability proportional to exp(epsilon u / Delta u) is epsilon-DP.",
        about=(printed.split_exponent_section_2,),
        evidence=(
            Counterexample(
                AtMost(
                    (Real("t"),),
                    quantity=lambda t: selection_odds(
                        1,
                        1,
                        t ** printed.split_exponent_section_2(-1, Fraction(1), 1),
                        t ** printed.split_exponent_section_2(1, Fraction(1), 1),
                    ),
                    bound=lambda t: t,
                    given=lambda t: t >= 1,
                ),
                {"t": 2},
            ),
        ),
        argument="t = e^epsilon; two options of utility 0, one loses and one gains Delta u on the neighbour.",
        repaired_by="dpxgboost/exponential-section-4-2",
    ),
    Proposition(
        "dpxgboost/exponential-section-4-2",
        "section 4.2",
        "Selection with probability proportional to exp(epsilon u / (2 Delta u)) is epsilon-DP.",
        about=(printed.split_exponent,),
        evidence=(
            Identity(
                "e D",
                lambda e, D: printed.split_exponent(D, e, D),
                lambda e: e / 2,
                label="every weight changes by a factor within exp(+-epsilon/2)",
            ),
            Proved(
                AtMost(
                    (Real("t"), Real("w"), Real("W"), Real("r"), Real("s")),
                    quantity=lambda w, W, r, s: selection_odds(w, W, w * r, W * s),
                    bound=lambda t: t * t,
                    given=lambda t, w, W, r, s: (t > 1, w > 0, W > 0, 1 / t <= r, r <= t, 1 / t <= s, s <= t),
                ),
                tight=Tight(
                    "epsilon",
                    "for one option that falls by Delta u and others, far more likely, that rise by Delta u",
                    at=lambda k, t: {"w": 1, "W": k, "r": 1 / t, "s": t},
                    near={"t": 2, "w": 1, "W": 10**5, "r": Fraction(1, 2), "s": 2},
                    given=lambda t: t > 1,
                    limit=True,
                ),
            ),
        ),
        argument="t = e^(epsilon/2). The options not chosen count by their total weight only, so two are enough.",
    ),
    Proposition(
        "dpxgboost/racing-sampler",
        "section 4.2",
        "The candidate with the smallest log(-log U) - log w wins with probability w / sum w; so does Gumbel's.",
        about=(printed.racing_key,),
        evidence=(
            Identity(
                "x w",
                lambda x, w: sympy.exp(printed.racing_key(sympy.log(w), sympy.exp(-x))),
                lambda x, w: x / w,
                positive=True,
                label="the key is the logarithm of x / w, x = -log U standard exponential",
            ),
            Identity(
                "w W",
                lambda w, W: sympy.integrate(
                    w
                    * sympy.exp(-w * sympy.Symbol("x", positive=True))
                    * sympy.exp(-W * sympy.Symbol("x", positive=True)),
                    (sympy.Symbol("x", positive=True), 0, sympy.oo),
                ),
                lambda w, W: w / (w + W),
                positive=True,
                label="first of exponential clocks of rates w and, for all others together, W",
            ),
            Identity(
                "y x",
                lambda y, x: printed.racing_key(y, sympy.exp(-x)) + y,
                lambda x: sympy.log(x),
                positive=True,
                label="minus the key is log w plus the Gumbel noise -log(-log U)",
            ),
        ),
        argument="The least of independent exponential clocks has the sum of their rates; the logarithm keeps order.",
    ),
)

PROPOSITIONS = OBJECTIVE + EXPONENTIAL
