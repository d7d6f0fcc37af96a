"""InPrivate Digging (Zhao et al. 2018): losses, residuals, coefficients."""

from __future__ import annotations

from fractions import Fraction

import sympy

from proofs.checker.enclosures import Enclosed
from proofs.checker.evidence import BoundedCounterexample, Counterexample, Exhibit, Identity, Proved
from proofs.checker.proposition import Proposition
from proofs.checker.statements import AtMost, Count, ForAll, Real, within
from proofs.checker.tightness import Tight
from refdp.data.numbers import absolute
from refdp.papers import inprivate as paper
from refdp.papers.published import inprivate as printed

ODDS, BOUND = Real("u"), Real("B")


CLASSIFICATION = (
    Proposition(
        "inprivate/eq-5",
        "Eq. 5",
        "For labels -1 and 1 the loss is a negative log-likelihood: its two probabilities add up to 1.",
        about=(printed.loss,),
        evidence=(
            Identity(
                "f",
                lambda f: sympy.exp(-printed.loss(1, f)) + sympy.exp(-printed.loss(-1, f)),
                lambda f: 1 + 0 * f,
            ),
        ),
    ),
    Proposition(
        "inprivate/eq-5-label-range",
        "Eq. 5 and section V-A",
        "Labels may lie in [0, 1] without loss of generality.",
        about=(paper.residual_at_odds,),
        evidence=(
            Counterexample(
                ForAll(
                    (Real("y"), ODDS),
                    lambda y, u: paper.residual_at_odds(y, u) != 0,
                    lambda y, u: (y >= 0, y <= 1, u > 0),
                ),
                {"y": 0, "u": 1},
            ),
        ),
        argument="The residual of a label 0 is 0 whatever the prediction: one class would never be learned.",
        repaired_by="inprivate/eq-5",
    ),
    Proposition(
        "inprivate/eq-6",
        "Eq. 6",
        "The residual 2y / (1 + exp(2 y f)) is the negative gradient of the loss.",
        about=(printed.loss, paper.residual),
        evidence=(
            Identity(
                "y f",
                lambda y, f: -sympy.diff(printed.loss(y, f), f),
                lambda y, f: paper.residual(y, f),
            ),
        ),
    ),
    Proposition(
        "inprivate/residual-bound",
        "section V-A",
        "Residuals of the log loss lie in [-1, 1].",
        about=(paper.residual,),
        evidence=(
            BoundedCounterexample(
                Enclosed({"f": (-1, 1)}, lambda f: paper.residual(1, f), lambda f: 1), {"f": Fraction(-1, 2)}
            ),
        ),
        argument="A record of label 1 that the earlier trees score -1/2 has residual 2/(1 + 1/e) = 1.46.",
        repaired_by="inprivate/residual-bound-repaired",
    ),
    Proposition(
        "inprivate/residual-bound-repaired",
        "section V-A, repaired",
        "Residuals of the log loss lie within (-2, 2), for every label in [-1, 1].",
        about=(paper.residual_at_odds,),
        evidence=(
            Proved(
                AtMost(
                    (Real("y"), ODDS),
                    lambda y, u: absolute(paper.residual_at_odds(y, u)),
                    lambda: 2,
                    lambda y, u: (u > 0, *within(y, 1)),
                ),
                tight=Tight(
                    "2",
                    "as y f falls, for labels -1 and 1",
                    at=lambda k: {"y": 1, "u": 1 / k},
                    near={"y": 1, "u": Fraction(1, 10**4)},
                    limit=True,
                ),
            ),
        ),
        gloss="u = exp(2 y f) takes every positive value.",
    ),
    Proposition(
        "inprivate/residual-bound-first-tree",
        "section V-A, first tree",
        "At f = 0, before any tree, residuals of labels -1 and 1 are -1 and 1.",
        about=(paper.residual,),
        evidence=(Identity("y", lambda y: paper.residual(y, 0), lambda y: y),),
    ),
    Proposition(
        "inprivate/residual-bound-clipped",
        "section V-A, repaired",
        "Cut to [-B, B], residuals are within it and those already within it stay as they are.",
        about=(paper.clip,),
        evidence=(
            Proved(ForAll((Real("y"), BOUND), lambda y, B: within(paper.clip(y, B), B), lambda B: B > 0)),
            Proved(ForAll((Real("y"), BOUND), lambda y, B: paper.clip(y, B) == y, lambda y, B: (B > 0, *within(y, B)))),
        ),
    ),
    Proposition(
        "inprivate/eq-7",
        "Eq. 7",
        "The objective of the coefficient is convex, so that a coefficient where its derivative is 0 is the minimum.",
        about=(printed.loss, paper.residual_at_odds),
        evidence=(
            Identity(
                "y f",
                lambda y, f: sympy.diff(printed.loss(y, f), f, 2),
                lambda y, f: 4 * y**2 * sympy.exp(2 * y * f) / (1 + sympy.exp(2 * y * f)) ** 2,
                label="second derivative",
            ),
            Proved(
                ForAll(
                    (Real("y"), ODDS),
                    lambda y, u: 4 * y * y * u / ((1 + u) * (1 + u)) >= 0,
                    lambda u: u > 0,
                ),
                label="which is not negative, u = exp(2 y f)",
            ),
        ),
        argument="A leaf whose records have one label has no minimum; Eq. 8 takes one step instead.",
    ),
    Proposition(
        "inprivate/eq-8",
        "Eq. 8",
        "For labels -1 and 1, Eq. 8 is the Newton step of Eq. 7's objective from 0.",
        about=(paper.residual_at_odds, paper.curvature, paper.newton_step),
        evidence=(
            Proved(
                ForAll(
                    (ODDS,),
                    lambda u: tuple(
                        paper.curvature(paper.residual_at_odds(y, u)) == 4 * u / ((1 + u) * (1 + u)) for y in (-1, 1)
                    ),
                    lambda u: u > 0,
                ),
                label="denominator: the second derivative of Eq. 7",
            ),
        ),
        uses=("inprivate/eq-6", "inprivate/eq-7"),
    ),
    Proposition(
        "inprivate/eq-9",
        "Eq. 9",
        "Both forms of P_+ agree, P_+ + P_- = 1, and P_+ is the likelihood that Eq. 5 gives label 1.",
        about=(printed.probability, printed.probability_at_odds, printed.loss),
        evidence=(
            Identity("f", lambda f: printed.probability(f), lambda f: 1 / (1 + sympy.exp(-2 * f)), label="two forms"),
            Identity("f", lambda f: 1 - printed.probability(f), lambda f: 1 / (1 + sympy.exp(2 * f)), label="P_-"),
            Identity(
                "f", lambda f: printed.probability(f), lambda f: sympy.exp(-printed.loss(1, f)), label="likelihood"
            ),
        ),
    ),
)

REGRESSION = (
    Proposition(
        "inprivate/eq-12",
        "Eq. 12",
        "The regression tree's loss, (y - f)^2 / 2, is a negative binomial log-likelihood, as the text says.",
        about=(printed.square_loss,),
        evidence=(
            Exhibit(
                lambda: (
                    {"shows": "at y = 1, f = -1: square loss 2, Eq. 5 log(1 + e^2) > 2"}
                    if printed.square_loss(Fraction(1), Fraction(-1)) == 2
                    else None
                ),
                "the two losses differ",
            ),
        ),
    ),
    Proposition(
        "inprivate/eq-13",
        "Eq. 13",
        "The residual y - f is the negative gradient of square loss.",
        about=(printed.square_loss, paper.square_residual),
        evidence=(
            Identity(
                "y f", lambda y, f: -sympy.diff(printed.square_loss(y, f), f), lambda y, f: paper.square_residual(y, f)
            ),
        ),
    ),
    Proposition(
        "inprivate/residual-bound-regression",
        "section V-A and V-B",
        "With labels and predictions in [-1, 1], residuals of square loss lie in [-1, 1].",
        about=(paper.square_residual,),
        evidence=(
            Counterexample(
                AtMost(
                    (Real("y"), Real("f")),
                    lambda y, f: absolute(paper.square_residual(y, f)),
                    lambda: 1,
                    lambda y, f: (*within(y, 1), *within(f, 1)),
                ),
                {"y": 1, "f": -1},
            ),
        ),
        argument="With noisy coefficients f is not even bounded, nor is the residual.",
        repaired_by="inprivate/residual-bound-clipped",
    ),
    Proposition(
        "inprivate/eq-14",
        "Eq. 14",
        "The mean of the residuals minimises their square loss, and no other coefficient does.",
        about=(printed.mean_residual,),
        evidence=(
            Proved(
                ForAll(
                    (Count("n", start=1), Real("G"), Real("v")),
                    lambda n, G, v: (
                        n * v * v / 2 - G * v
                        == -G * printed.mean_residual(G, n) / 2
                        + n * (v - printed.mean_residual(G, n)) * (v - printed.mean_residual(G, n)) / 2
                    ),
                ),
                label="sum of (residual - v)^2 / 2, without the part that v does not change",
            ),
        ),
    ),
)


PROPOSITIONS = CLASSIFICATION + REGRESSION
