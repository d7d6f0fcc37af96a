"""DP-XGBoost: budget, subsampling, whole trees."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy

from proofs.checker.evidence import Counterexample, Follows, Identity, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Real
from proofs.checker.tightness import Tight
from proofs.composition.releases import laplace_loss
from proofs.dpxgboost.splits import TENTH
from refdp.accounting import pure
from refdp.noise.calibration import before_sampling
from refdp.papers import dpxgboost as paper

ODDS, RATE = Real("t"), Real("q")
E = sympy.Symbol("e", positive=True)


def amplified_odds(t: Any, q: Any) -> Any:
    """1 + q (t - 1), t = e^epsilon: the largest likelihood ratio of a mechanism on a sample."""
    return 1 + pure.sampled_excess(t - 1, q)


def tree_total(epsilon: Any, parts: Mapping[str, Any], depth: int) -> Any:
    """What all releases of one tree cost together, the levels' shares any numbers of sum 1."""
    free = [sympy.Symbol(f"w_{level}", positive=True) for level in range(depth - 1)]
    tree = paper.tree_budget(epsilon, parts, [*free, 1 - sum(free)])
    return tree.sketch + sum(tree.splits) + sum(tree.counts) + tree.leaves


BUDGET = (
    Proposition(
        "dpxgboost/budget",
        "section 4.4",
        "A third for the sketch, a third over the h levels and a third for the leaves add up to the tree's epsilon.",
        about=(paper.tree_budget, paper.budget_of),
        evidence=(
            Identity(
                "e",
                lambda e: tree_total(e, {"sketch": 1, "splits": 1, "counts": 0, "leaves": 1}, 4),
                lambda e: e,
                positive=True,
                label="thirds over four levels",
            ),
            Identity(
                "e k s c v",
                lambda e, k, s, c, v: tree_total(e, {"sketch": k, "splits": s, "counts": c, "leaves": v}, 3),
                lambda e: e,
                positive=True,
                label="any other parts, child counts among them, over three levels",
            ),
        ),
        gloss="Levels have shares of sum 1, and each is charged once.",
    ),
    Proposition(
        "dpxgboost/tree",
        "section 4, without minimum child weight, stopping on gain and Algorithm 1",
        "A tree of the maximum depth with Laplace noise g*/(1 + lambda) on its leaves is epsilon-DP.",
        ADD_REMOVE,
        evidence=(
            Follows("each level splits disjoint nodes, each record is in one leaf, and the three thirds compose"),
        ),
        uses=(
            *("dpxgboost/sketch", "dpxgboost/split-selection", "dpxgboost/default-direction"),
            *(
                "dpxgboost/gradient-filter",
                "dpxgboost/leaf-sensitivity",
                "dpxgboost/budget",
                "composition/parallel-add-remove",
                "composition/sequential",
            ),
            "composition/laplace",
        ),
    ),
    *(
        Proposition(
            f"dpxgboost/tree-repaired{suffix}",
            "section 4, repaired",
            "A tree with padded leaves, splits by the range of the gain and this relation's sketch is epsilon-DP.",
            relation,
            evidence=(Follows("L1 bounds over all nodes and leaves are the relation's own, and the thirds compose"),),
            uses=(
                *(sketch, f"dpxgboost/split-selection-repaired{suffix}", f"dpxgboost/default-direction{suffix}"),
                *(
                    f"dpxgboost/gradient-filter{suffix}",
                    f"dpxgboost/padded-leaf{suffix}",
                    "dpxgboost/budget",
                    "composition/sequential",
                    "composition/laplace",
                ),
            ),
        )
        for suffix, relation, sketch in (
            ("", ADD_REMOVE, "dpxgboost/sketch"),
            ("-replace-one", REPLACE_ONE, "dpxgboost/sketch-repaired-replace-one"),
        )
    ),
)

SAMPLED = (Real("without"), Real("sampled"), Real("other"), ODDS, RATE)

SUBSAMPLING = (
    Proposition(
        "dpxgboost/subsampling",
        "section 4.4",
        "An epsilon-DP mechanism on a fraction q of the rows without replacement is log(1 + q (e^epsilon - 1))-DP.",
        ADD_REMOVE,
        about=(pure.sampled_excess, pure.amplified),
        evidence=(
            Counterexample(
                AtMost(
                    (ODDS, RATE),
                    lambda t: (2 + t ** (laplace_loss(1, -1, 1, Fraction(1)))) / 3,
                    lambda t, q: amplified_odds(t, q),
                    lambda t, q: (t >= 1, 2 * q == 1),
                ),
                {"t": 2, "q": Fraction(1, 2)},
            ),
        ),
        argument=(
            "One of the rows -1, -1 (half of two, and half of three rounded down) is released with noise of scale "
            "1/epsilon; the neighbour has 1 as a third row. Under add-remove fixed sizes replace a row: twice the cost."
        ),
        repaired_by="dpxgboost/subsampling-poisson",
    ),
    Proposition(
        "dpxgboost/subsampling-poisson",
        "section 4.4, repaired",
        "An epsilon-DP mechanism on rows kept independently with probability q is log(1 + q (e^epsilon - 1))-DP.",
        ADD_REMOVE,
        about=(pure.sampled_excess, pure.amplified),
        evidence=(
            Proved(
                AtMost(
                    (Real("without"), Real("sampled"), ODDS, RATE),
                    lambda without, sampled, q: ((1 - q) * without + q * sampled) / without,
                    lambda t, q: amplified_odds(t, q),
                    lambda without, sampled, t, q: (without > 0, t >= 1, q > 0, q <= 1, sampled <= t * without),
                ),
                tight=Tight(
                    "log(1 + q (e^epsilon - 1))",
                    "at outputs whose likelihood the record raises by e^epsilon",
                    at=lambda t: {"without": 1, "sampled": t},
                    near={"without": 1, "sampled": 2, "t": 2, "q": Fraction(1, 2)},
                    given=lambda t, q: (t > 1, q > 0, q <= 1),
                ),
                label="density with the record over without it",
            ),
            Proved(
                AtMost(
                    (Real("without"), Real("sampled"), ODDS, RATE),
                    lambda without, sampled, q: without / ((1 - q) * without + q * sampled),
                    lambda t, q: amplified_odds(t, q),
                    lambda without, sampled, t, q: (
                        *(without > 0, sampled > 0, t >= 1, q > 0, q <= 1),
                        without <= t * sampled,
                    ),
                ),
                label="and the other way",
            ),
        ),
        argument="The other rows' inclusion is held fixed; mixtures of both sides keep the bound.",
    ),
    Proposition(
        "dpxgboost/subsampling-replace-one",
        "section 4.4",
        "An epsilon-DP mechanism on a fraction q of the rows without replacement is log(1 + q (e^epsilon - 1))-DP.",
        REPLACE_ONE,
        about=(pure.sampled_excess, pure.amplified),
        evidence=(
            Proved(
                AtMost(
                    SAMPLED,
                    lambda without, sampled, other, q: (
                        ((1 - q) * without + q * sampled) / ((1 - q) * without + q * other)
                    ),
                    lambda t, q: amplified_odds(t, q),
                    lambda without, sampled, other, t, q: (
                        *(without > 0, sampled > 0, other > 0, t >= 1, q > 0, q <= 1),
                        *(sampled <= t * without, sampled <= t * other),
                    ),
                ),
                tight=Tight(
                    "log(1 + q (e^epsilon - 1))",
                    "at outputs whose likelihood one value of the record raises by e^epsilon",
                    at=lambda t: {"without": 1, "sampled": t, "other": 1},
                    near={"without": 1, "sampled": 2, "other": 1, "t": 2, "q": Fraction(1, 2)},
                    given=lambda t, q: (t > 1, q > 0, q <= 1),
                ),
            ),
        ),
        argument=(
            "The mechanism itself is epsilon-DP under replace-one: samples with the record, with its replacement and "
            "with another row in its place differ in one row (Balle, Barthe, Gaboardi 2018)."
        ),
    ),
    Proposition(
        "dpxgboost/subsampling-mixed-replace-one",
        "section 4.4",
        "A mechanism calibrated for added records may be used with sampling without replacement at the same rate.",
        REPLACE_ONE,
        about=(pure.sampled_excess, pure.amplified),
        evidence=(
            Counterexample(
                AtMost(
                    (ODDS, RATE),
                    lambda t, q: amplified_odds(t ** laplace_loss(1, -1, 1, Fraction(1)), q),
                    lambda t, q: amplified_odds(t, q),
                    lambda t, q: (t >= 1, q > 0, q <= 1),
                ),
                {"t": 2, "q": TENTH},
            ),
        ),
        argument="A row 1 in place of -1 changes a sum of noise scale 1/epsilon by twice its add-remove sensitivity.",
        repaired_by="dpxgboost/subsampling-replace-one",
    ),
    Proposition(
        "dpxgboost/subsampling-small",
        "section 4.4",
        "As epsilon gets small the amplified epsilon is of the order of q epsilon.",
        about=(pure.sampled_excess, pure.amplified),
        evidence=(
            Identity(
                "q",
                lambda q: sympy.limit(
                    sympy.log(amplified_odds(sympy.exp(E), q)) / E,
                    E,
                    0,
                ),
                lambda q: q,
                positive=True,
                label="limit of the ratio to epsilon",
            ),
        ),
    ),
    Proposition(
        "dpxgboost/subsampling-calibration",
        "section 4.4",
        "A tree of log(1 + (e^epsilon - 1)/q) is epsilon-DP once subsampled.",
        about=(pure.sampled_excess, pure.unsampled_excess, before_sampling),
        evidence=(
            Identity(
                "t q",
                lambda t, q: amplified_odds(1 + pure.unsampled_excess(t - 1, q), q),
                lambda t: t,
                positive=True,
            ),
        ),
    ),
    Proposition(
        "dpxgboost/square-root-composition",
        "section 4.4",
        "With delta > 0, epsilon grows as the square root of the number of mechanisms composed.",
        reason=(
            "no precise statement: true while the number of mechanisms is below 1/epsilon^2; for a fixed epsilon the "
            "mean loss of randomised response, epsilon tanh(epsilon/2) each, makes the growth linear in the end"
        ),
    ),
)

PROPOSITIONS = BUDGET + SUBSAMPLING
