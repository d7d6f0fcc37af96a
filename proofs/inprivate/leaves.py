"""InPrivate Digging: sensitivities and noise of the leaf queries."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Identity, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Real, within
from proofs.checker.tightness import Tight
from proofs.composition.releases import laplace_losses
from proofs.inprivate.splits import AR, RO
from refdp.data.numbers import absolute
from refdp.papers import inprivate as paper
from refdp.papers.published import inprivate as printed

ONE, TWO = (Real("y"),), (Real("y"), Real("z"))


def both(y: Any, z: Any) -> tuple[Any, ...]:
    """Two residuals of the log loss."""
    return *within(y, 2), *within(z, 2)


def statistics(y: Any) -> Any:
    """What one record adds to both queries of its leaf, L1."""
    return absolute(y) + absolute(paper.curvature(y))


def added_loss(residual: Fraction, curvature: Any, e: Any) -> Any:
    """Loss of a leaf's two noisy queries when a record joins, at the outputs that show it best."""
    scale = printed.leaf_scale_as_published(e)
    return laplace_losses((residual, curvature), (0, 0), (residual, curvature), scale)


def moved_loss(residual: Fraction, curvature: Any, e: Any) -> Any:
    """The same when the record moves from one leaf to another."""
    return 2 * added_loss(residual, curvature, e)


def positive(e: Any) -> Any:
    """A budget."""
    return e > 0


def refuted(slug: str, locus: str, statement: str, relation: str, loss: Any, repaired_by: str, why: str) -> Proposition:
    """A published leaf mechanism whose loss exceeds its budget."""
    return Proposition(
        f"inprivate/{slug}",
        locus,
        statement,
        relation,
        about=(printed.leaf_scale_as_published, paper.curvature),
        evidence=(Counterexample(AtMost((Real("e"),), loss, lambda e: e, positive), {"e": 1}),),
        argument=why,
        repaired_by=repaired_by,
    )


QUERIES = (
    Proposition(
        "inprivate/leaf-sum-sensitivity",
        "section V-A",
        "The sum of a leaf's residuals of log loss has sensitivity 1.",
        ADD_REMOVE,
        about=(paper.residual_at_odds,),
        evidence=(
            Counterexample(
                AtMost((Real("u"),), lambda u: paper.residual_at_odds(1, u), lambda: 1, lambda u: u > 0),
                {"u": Fraction(1, 3)},
            ),
        ),
        repaired_by="inprivate/leaf-joint-sensitivity",
    ),
    Proposition(
        "inprivate/leaf-sum-sensitivity-replace-one",
        "section V-A",
        "The sum of a leaf's residuals has sensitivity 1, even where they lie in [-1, 1].",
        REPLACE_ONE,
        about=(paper.residual_at_odds,),
        evidence=(
            Counterexample(
                AtMost(TWO, lambda y, z: absolute(y - z), lambda: 1, lambda y, z: (*within(y, 1), *within(z, 1))),
                {"y": 1, "z": -1},
            ),
        ),
        repaired_by="inprivate/leaf-joint-sensitivity-replace-one",
    ),
    Proposition(
        "inprivate/leaf-hessian-sensitivity",
        "section V-A",
        "The sum of |residual| (2 - |residual|) of a leaf has sensitivity 1.",
        ADD_REMOVE,
        about=(paper.curvature,),
        evidence=(
            Proved(
                AtMost(ONE, lambda y: absolute(paper.curvature(y)), lambda: 1, lambda y: within(y, 2)),
                tight=Tight("1", "at |residual| = 1, the first tree", lambda: {"y": 1}, {"y": 1}),
            ),
        ),
        uses=("inprivate/residual-bound-repaired",),
    ),
    Proposition(
        "inprivate/leaf-hessian-sensitivity-replace-one",
        "section V-A",
        "The sums of |residual| (2 - |residual|) of all leaves, released together, have L1 sensitivity 1.",
        REPLACE_ONE,
        about=(paper.curvature,),
        evidence=(
            Counterexample(
                AtMost(TWO, lambda y, z: paper.curvature(y) + paper.curvature(z), lambda: 1, both), {"y": 1, "z": 1}
            ),
        ),
        argument="A record that moves changes two leaves. A single leaf changes by at most 1.",
        repaired_by="inprivate/leaf-hessian-sensitivity-repaired-replace-one",
    ),
    Proposition(
        "inprivate/leaf-hessian-sensitivity-repaired-replace-one",
        "section V-A, repaired",
        "The sums of |residual| (2 - |residual|) of all leaves have L1 sensitivity 2.",
        REPLACE_ONE,
        about=(paper.curvature,),
        evidence=(
            Proved(
                AtMost(TWO, lambda y, z: absolute(paper.curvature(y)) + absolute(paper.curvature(z)), lambda: 2, both),
                tight=Tight("2", "moved, both |residuals| 1", lambda: {"y": 1, "z": 1}, {"y": 1, "z": 1}),
                label="moved",
            ),
            Proved(
                AtMost(TWO, lambda y, z: absolute(paper.curvature(y) - paper.curvature(z)), lambda: 1, both),
                label="in the same leaf",
            ),
        ),
    ),
    Proposition(
        "inprivate/leaf-count-sensitivity",
        "section V-B",
        "The number of records of a leaf has sensitivity 1.",
        ADD_REMOVE,
        evidence=(Identity("n", lambda n: (n + 1) - n, lambda n: 1 + 0 * n),),
        gloss="n: the number of records.",
    ),
    Proposition(
        "inprivate/leaf-count-sensitivity-replace-one",
        "section V-B",
        "The numbers of records of all leaves, released together, have L1 sensitivity 1.",
        REPLACE_ONE,
        evidence=(
            Counterexample(
                AtMost(TWO, lambda y, z: absolute(y - (y - 1)) + absolute(z - (z + 1)), lambda: 1), {"y": 1, "z": 0}
            ),
        ),
        repaired_by="inprivate/leaf-regression-sensitivity-replace-one",
    ),
    Proposition(
        "inprivate/leaf-joint-sensitivity",
        "Eq. 11, repaired",
        "Both queries of all leaves together have L1 sensitivity 9/4 for log loss.",
        ADD_REMOVE,
        about=(paper.curvature, paper.classification_leaf_sensitivity),
        evidence=(
            Proved(
                AtMost(ONE, statistics, lambda: paper.classification_leaf_sensitivity(AR), lambda y: within(y, 2)),
                tight=Tight("9/4", "at |residual| = 3/2", lambda: {"y": Fraction(3, 2)}, {"y": Fraction(3, 2)}),
            ),
        ),
        uses=("inprivate/residual-bound-repaired",),
        gloss="The single bounds 2 and 1 are never met by one record.",
    ),
    Proposition(
        "inprivate/leaf-joint-sensitivity-replace-one",
        "Eq. 11, repaired",
        "Both queries of all leaves together have L1 sensitivity 9/2 for log loss.",
        REPLACE_ONE,
        about=(paper.curvature, paper.classification_leaf_sensitivity),
        evidence=(
            Proved(
                AtMost(
                    ONE,
                    lambda y: 2 * statistics(y),
                    lambda: paper.classification_leaf_sensitivity(RO),
                    lambda y: within(y, 2),
                ),
                tight=Tight(
                    "9/2",
                    "moved, both |residuals| 3/2",
                    lambda: {"y": Fraction(3, 2)},
                    {"y": Fraction(3, 2)},
                ),
                label="moved: twice the most that a record adds to a leaf",
            ),
            Proved(
                AtMost(
                    TWO,
                    lambda y, z: absolute(y - z) + absolute(paper.curvature(y) - paper.curvature(z)),
                    lambda: paper.classification_leaf_sensitivity(RO),
                    both,
                ),
                label="in the same leaf",
            ),
        ),
        uses=("inprivate/residual-bound-repaired",),
    ),
    Proposition(
        "inprivate/leaf-regression-sensitivity",
        "Eq. 15, repaired",
        "With residuals within [-B, B], sum and count of all leaves together have L1 sensitivity B + 1.",
        ADD_REMOVE,
        about=(paper.regression_leaf_sensitivity,),
        evidence=(
            Proved(
                AtMost(
                    (Real("y"), Real("B")),
                    lambda y: absolute(y) + 1,
                    lambda B: paper.regression_leaf_sensitivity(B, AR),
                    lambda y, B: (B > 0, *within(y, B)),
                ),
                tight=Tight("B + 1", "at |residual| = B", lambda B: {"y": B}, {"y": 1, "B": 1}, given=lambda B: B > 0),
            ),
        ),
    ),
    Proposition(
        "inprivate/leaf-regression-sensitivity-replace-one",
        "Eq. 15, repaired",
        "With residuals within [-B, B], sum and count of all leaves together have L1 sensitivity 2 B + 2.",
        REPLACE_ONE,
        about=(paper.regression_leaf_sensitivity,),
        evidence=(
            Proved(
                AtMost(
                    (*TWO, Real("B")),
                    lambda y, z: absolute(y) + absolute(z) + 2,
                    lambda B: paper.regression_leaf_sensitivity(B, RO),
                    lambda y, z, B: (B > 0, *within(y, B), *within(z, B)),
                ),
                tight=Tight(
                    "2 B + 2",
                    "moved, both |residuals| B",
                    lambda B: {"y": B, "z": B},
                    {"y": 1, "z": 1, "B": 1},
                    given=lambda B: B > 0,
                ),
                label="moved",
            ),
            Proved(
                AtMost(
                    (*TWO, Real("B")),
                    lambda y, z: absolute(y - z),
                    lambda B: paper.regression_leaf_sensitivity(B, RO),
                    lambda y, z, B: (B > 0, *within(y, B), *within(z, B)),
                ),
                label="in the same leaf",
            ),
        ),
    ),
)

THREE_HALVES = Fraction(3, 2)

MECHANISMS = (
    refuted(
        "eq-11",
        "Eq. 11",
        "Both queries of log loss's leaves with noise Lap(1/(epsilon_2/2)) are epsilon_2-DP.",
        ADD_REMOVE,
        lambda e: added_loss(THREE_HALVES, paper.curvature(THREE_HALVES), e),
        "inprivate/eq-11-repaired",
        "A record of residual 3/2 joins: the loss is 9/8 epsilon_2.",
    ),
    refuted(
        "eq-11-replace-one",
        "Eq. 11",
        "Both queries of log loss's leaves with noise Lap(1/(epsilon_2/2)) are epsilon_2-DP.",
        REPLACE_ONE,
        lambda e: moved_loss(Fraction(1), paper.curvature(Fraction(1)), e),
        "inprivate/eq-11-repaired-replace-one",
        "At the first tree already: a record moves to another leaf, the loss is 2 epsilon_2.",
    ),
    refuted(
        "eq-15",
        "Eq. 15",
        "Sum and count of square loss's leaves with noise Lap(1/(epsilon_2/2)) are epsilon_2-DP.",
        ADD_REMOVE,
        lambda e: added_loss(paper.square_residual(Fraction(1), Fraction(-1)), Fraction(1), e),
        "inprivate/eq-15-repaired",
        "A record of label 1 that the earlier trees predict at -1 joins: the loss is 3/2 epsilon_2.",
    ),
    refuted(
        "eq-15-replace-one",
        "Eq. 15",
        "Sum and count of square loss's leaves with noise Lap(1/(epsilon_2/2)) are epsilon_2-DP.",
        REPLACE_ONE,
        lambda e: moved_loss(Fraction(1), Fraction(1), e),
        "inprivate/eq-15-repaired-replace-one",
        "At the first tree already: a record of label 1 moves to another leaf, the loss is 2 epsilon_2.",
    ),
    Proposition(
        "inprivate/eq-11-first-tree",
        "Eq. 11",
        "At the first tree, where residuals are -1 and 1, Eq. 11 is epsilon_2-DP.",
        ADD_REMOVE,
        about=(printed.leaf_scale_as_published, paper.curvature),
        evidence=(
            Proved(
                AtMost(
                    (Real("e"), Real("o"), Real("v")),
                    lambda e, o, v: laplace_losses(
                        (1, paper.curvature(Fraction(1))), (0, 0), (o, v), printed.leaf_scale_as_published(e)
                    ),
                    lambda e: e,
                    positive,
                ),
                tight=Tight(
                    "epsilon_2",
                    "at outputs beyond both values",
                    lambda: {"o": 1, "v": 1},
                    {"e": 1, "o": 1, "v": 1},
                    given=positive,
                ),
            ),
        ),
        uses=("inprivate/residual-bound-first-tree", "composition/laplace"),
    ),
    *(
        Proposition(
            f"inprivate/{slug}-repaired{suffix}",
            f"{locus}, repaired",
            f"Noise Lap(({constant})/epsilon_2) on both queries of all leaves is epsilon_2-DP.",
            relation,
            about=(bound,),
            evidence=(Identity("e D", lambda e, D: D / (D / e), lambda e: e, positive=True, label="cost"),),
            uses=(f"inprivate/{used}{suffix}", "composition/laplace", *premises),
            argument="The ratio is post-processing.",
        )
        for slug, locus, used, bound, premises, constants in (
            (
                *("eq-11", "Eq. 11", "leaf-joint-sensitivity", paper.classification_leaf_sensitivity),
                (),
                ("9/4", "9/2"),
            ),
            (
                *("eq-15", "Eq. 15", "leaf-regression-sensitivity", paper.regression_leaf_sensitivity),
                ("inprivate/residual-bound-clipped",),
                ("B + 1", "2 B + 2"),
            ),
        )
        for suffix, relation, constant in zip(("", "-replace-one"), (ADD_REMOVE, REPLACE_ONE), constants)
    ),
)

PROPOSITIONS = QUERIES + MECHANISMS
