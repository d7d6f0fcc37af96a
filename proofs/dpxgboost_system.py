"""DP-XGBoost: gradients and Newton gains, sketch, budget, subsampling, whole trees."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs.dpxgboost_splits import AR, LAMBDA, RO, TENTH, within
from proofs.evidence import Counterexample, Follows, Identity, Proved
from proofs.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.releases import laplace_loss, laplace_losses
from proofs.statements import AtMost, Count, ForAll, Real
from proofs.tightness import Tight
from refdp.generic import absolute, exp
from refdp.papers import dpxgboost as paper

RATIO, HIGHEST, ODDS, RATE = Real("B"), Real("top"), Real("t"), Real("q")
WEIGHTED = (Real("G"), Real("H"), Real("g"), Real("h"), LAMBDA)


def weighted(G: Any, H: Any, g: Any, h: Any, lam: Any) -> tuple[Any, ...]:
    """Records with |g| <= h, B = 1 being the unit of g / h, some of them summed to G and H."""
    return H >= 0, h > 0, lam > 0, *within(G, H), *within(g, h)


def newton_change(G: Any, H: Any, g: Any, h: Any, lam: Any) -> Any:
    """Change of a child's Newton gain when a record joins it."""
    return paper.child_gain(G + g, H + h, lam) - paper.child_gain(G, H, lam)


def log_loss_change(n: Any, p: Any, lam: Any) -> Any:
    """The same for log loss: n records of label 1, all predicted at p, and one more."""
    g, h = paper.log_gradient_at(p, 1), paper.log_hessian_at(p)
    return newton_change(n * g, n * h, g, h, lam)


def newton_range(suffix: str, relation: str, records: int, kind: Any) -> Proposition:
    """The range of clipped Newton gains."""
    return Proposition(
        f"dpxgboost/newton-gain-range{suffix}",
        "Eq. 3 and 5, repaired",
        f"With |g| <= B h and h <= h*, the changes of Newton gains have a range of at most {4 * records} h* B^2.",
        relation,
        about=(paper.newton_gain_range,),
        evidence=(
            Proved(
                AtMost(
                    (*(Real(name) for name in "abcd"), RATIO, HIGHEST),
                    lambda a, b, c, d: (a - b) + (records - 1) * (c - d),
                    lambda B, top: paper.newton_gain_range(B, top, kind),
                    lambda a, b, c, d, B, top: (
                        *(x for v in (a, b, c, d) for x in (v >= -3 * top * B * B, v <= top * B * B)),
                        *(B > 0, top > 0),
                    ),
                )
            ),
        ),
        uses=("dpxgboost/newton-gain-change",),
    )


GRADIENTS = (
    Proposition(
        "dpxgboost/gradient-bound",
        "section 5",
        "With square loss and labels in [-1, 1] gradients at the first tree are within g* = 1.",
        about=(paper.square_gradient,),
        evidence=(
            Proved(
                AtMost(
                    (Real("y"),), lambda y: absolute(paper.square_gradient(0, y)), lambda: 1, lambda y: within(y, 1)
                ),
                tight=Tight("1", "at |y| = 1", at=lambda: {"y": 1}, near={"y": 1}),
            ),
        ),
    ),
    Proposition(
        "dpxgboost/gradient-bound-later",
        "section 5",
        "With square loss and labels in [-1, 1] gradients at later trees are within g* = 1 without the filter.",
        about=(paper.square_gradient,),
        evidence=(
            Counterexample(
                AtMost(
                    (Real("s"), Real("y")),
                    lambda s, y: absolute(paper.square_gradient(s, y)),
                    lambda: 1,
                    lambda s, y: (*within(s, 1), *within(y, 1)),
                ),
                {"s": -1, "y": 1},
            ),
        ),
        argument="So the filter is what bounds them.",
    ),
    Proposition(
        "dpxgboost/log-loss-gradient",
        "Eq. 2",
        "For log loss |g| < 1 and 0 < h <= 1/4.",
        about=(paper.log_gradient_at, paper.log_hessian_at),
        evidence=(
            Proved(
                ForAll(
                    (Real("p"),),
                    lambda p: (
                        *(absolute(paper.log_gradient_at(p, y)) < 1 for y in (0, 1)),
                        paper.log_hessian_at(p) > 0,
                    ),
                    lambda p: (p > 0, p < 1),
                ),
                label="gradient",
            ),
            Proved(
                AtMost((Real("p"),), lambda p: paper.log_hessian_at(p), lambda: Fraction(1, 4)),
                tight=Tight("h* = 1/4", "at p = 1/2", at=lambda: {"p": Fraction(1, 2)}, near={"p": Fraction(1, 2)}),
                label="Hessian",
            ),
        ),
    ),
    Proposition(
        "dpxgboost/newton-gain-sensitivity",
        "Eq. 5 with Eq. 3",
        "The bound 3 g*^2 holds for Newton gains G^2 / (H + lambda) of log loss, |g| <= g* = 1.",
        ADD_REMOVE,
        about=(paper.child_gain, paper.log_gradient_at, paper.log_hessian_at, paper.gain_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost(
                    (Count("n"), Real("p"), LAMBDA),
                    log_loss_change,
                    lambda: paper.gain_sensitivity_as_published(1),
                    lambda p, lam: (p > 0, p < 1, lam > 0),
                ),
                {"n": 10, "p": Fraction(1, 1000), "lam": TENTH},
            ),
        ),
        repaired_by="dpxgboost/newton-gain-range",
    ),
    Proposition(
        "dpxgboost/newton-gain-unbounded",
        "Eq. 5 with Eq. 3",
        "No bound at all holds for Newton gains of log loss: n records of label 1 predicted at 1/n^2 change by over n.",
        ADD_REMOVE,
        about=(paper.child_gain, paper.log_gradient_at, paper.log_hessian_at),
        evidence=(
            Proved(
                AtMost(
                    (Count("n", start=10), LAMBDA),
                    lambda n: n,
                    lambda n, lam: log_loss_change(n, 1 / (n * n), lam),
                    lambda lam: (lam > 0, lam <= 1),
                )
            ),
        ),
    ),
    Proposition(
        "dpxgboost/newton-gain-change",
        "Eq. 3 and 5, repaired",
        "With |g| <= B h, h <= h*, a record raises a Newton gain by at most h* B^2, lowers it by at most 3 h* B^2.",
        ADD_REMOVE,
        about=(paper.child_gain,),
        evidence=(
            Proved(
                AtMost(WEIGHTED, newton_change, lambda h: h, weighted),
                tight=Tight(
                    "h* B^2 up, 3 h* B^2 down",
                    "as the child grows, for records of one ratio B and a new one of ratio B or -B",
                    at=lambda k, h: {"H": k, "G": k, "g": h},
                    near={"H": 10**5, "G": 10**5, "g": 1, "h": 1, "lam": 1},
                    given=lambda h, lam: (h > 0, lam > 0),
                    limit=True,
                ),
                label="up",
            ),
            Proved(
                AtMost(WEIGHTED, lambda G, H, g, h, lam: -newton_change(G, H, g, h, lam), lambda h: 3 * h, weighted),
                tight=Tight(
                    "h* B^2 up, 3 h* B^2 down",
                    "as the child grows, for records of one ratio B and a new one of ratio B or -B",
                    at=lambda k, h: {"H": k, "G": k, "g": -h},
                    near={"H": 10**5, "G": 10**5, "g": -1, "h": 1, "lam": 1},
                    given=lambda h, lam: (h > 0, lam > 0),
                    limit=True,
                ),
                label="down",
            ),
            Identity(
                "G H lam B",
                lambda G, H, lam, B: paper.child_gain(B * G, H, lam),
                lambda G, H, lam, B: B * B * paper.child_gain(G, H, lam),
                label="B = 1 is a choice of unit",
            ),
        ),
    ),
    newton_range("", ADD_REMOVE, 1, AR),
    newton_range("-replace-one", REPLACE_ONE, 2, RO),
    Proposition(
        "dpxgboost/clip-ratio",
        "Eq. 3 and 5, repaired",
        "Cutting g to [-B h, B h] bounds the ratio and leaves gradients within it as they are.",
        about=(paper.clip_ratio,),
        evidence=(
            Proved(
                ForAll(
                    (Real("g"), Real("h"), RATIO),
                    lambda g, h, B: within(paper.clip_ratio(g, h, B), B * h),
                    lambda h, B: (h >= 0, B > 0),
                )
            ),
            Proved(
                ForAll(
                    (Real("g"), Real("h"), RATIO),
                    lambda g, h, B: paper.clip_ratio(g, h, B) == g,
                    lambda g, h, B: (h >= 0, B > 0, *within(g, B * h)),
                )
            ),
        ),
    ),
)

SKETCH = (
    Proposition(
        "dpxgboost/sketch",
        "section 4.1 and 4.4",
        "Histograms of Hessian weights of m features, noise Lap(m/epsilon) on every bin, are epsilon-DP.",
        ADD_REMOVE,
        about=(paper.sketch_scale_as_published, paper.sketch_sensitivity),
        evidence=(
            Proved(
                AtMost(
                    (Count("m", start=1), Real("c"), Real("h"), Real("o"), Real("e")),
                    lambda m, c, h, o, e: m * laplace_loss(c + h, c, o, paper.sketch_scale_as_published(e, m)),
                    lambda e: paper.sketch_sensitivity(1, AR) * e,
                    lambda h, e: (h >= 0, h <= 1, e > 0),
                ),
                tight=Tight(
                    "epsilon",
                    "for weight 1 (square loss); epsilon/4 for log loss",
                    at=lambda c: {"h": 1, "o": c + 1},
                    near={"m": 2, "c": 0, "h": 1, "o": 1, "e": 1},
                    given=lambda m, e: (m >= 1, e > 0),
                ),
                label="one bin in each of m features",
            ),
        ),
        argument="A record is in at most one bin of each feature, none where it is missing.",
    ),
    Proposition(
        "dpxgboost/sketch-replace-one",
        "section 4.1 and 4.4",
        "Histograms of Hessian weights of m features, noise Lap(m/epsilon) on every bin, are epsilon-DP.",
        REPLACE_ONE,
        about=(paper.sketch_scale_as_published,),
        evidence=(
            Counterexample(
                AtMost(
                    (Count("m", start=1), Real("e")),
                    lambda m, e: m * laplace_losses((1, 0), (0, 1), (1, 0), paper.sketch_scale_as_published(e, m)),
                    lambda e: e,
                    lambda e: e > 0,
                ),
                {"m": 1, "e": 1},
            ),
        ),
        argument="A replaced record leaves one bin and enters another.",
        repaired_by="dpxgboost/sketch-repaired-replace-one",
    ),
    Proposition(
        "dpxgboost/sketch-repaired-replace-one",
        "section 4.1 and 4.4, repaired",
        "Weights within h* change all bins of a feature by at most 2 h* (L1): noise Lap(2 h* m/epsilon) is epsilon-DP.",
        REPLACE_ONE,
        about=(paper.sketch_sensitivity,),
        evidence=(
            Proved(
                AtMost(
                    (Real("h"), Real("z"), HIGHEST),
                    lambda h, z: h + z,
                    lambda top: paper.sketch_sensitivity(top, RO),
                    lambda h, z, top: (h >= 0, z >= 0, h <= top, z <= top),
                ),
                tight=Tight(
                    "2 h*",
                    "when a record of weight h* moves to another bin",
                    at=lambda top: {"h": top, "z": top},
                    near={"h": 1, "z": 1, "top": 1},
                    given=lambda top: top > 0,
                ),
                label="moved",
            ),
            Proved(
                AtMost(
                    (Real("h"), Real("z"), HIGHEST),
                    lambda h, z: absolute(h - z),
                    lambda top: paper.sketch_sensitivity(top, RO),
                    lambda h, z, top: (h >= 0, z >= 0, h <= top, z <= top),
                ),
                label="in the same bin",
            ),
        ),
    ),
    Proposition(
        "dpxgboost/sketch-merge",
        "section 4.1",
        "Merging two quantile summaries increases the approximation error.",
        about=(paper.merged_error,),
        evidence=(
            Counterexample(
                ForAll(
                    (Real("a"), Real("v"), Real("b"), Real("w")),
                    lambda a, v, b, w: (paper.merged_error(a, v, b, w) > a, paper.merged_error(a, v, b, w) > b),
                    lambda a, v, b, w: (a >= 0, b >= 0, v > 0, w > 0),
                ),
                {"a": TENTH, "v": 1, "b": TENTH, "w": 1},
            ),
        ),
        repaired_by="dpxgboost/sketch-merge-repaired",
    ),
    Proposition(
        "dpxgboost/sketch-merge-repaired",
        "section 4.1, repaired",
        "Merging keeps the relative error within the larger of the two; absolute rank errors add.",
        about=(paper.merged_error,),
        evidence=(
            Proved(
                AtMost(
                    (Real("a"), Real("v"), Real("b"), Real("w")),
                    lambda a, v, b, w: paper.merged_error(a, v, b, w),
                    lambda a: a,
                    lambda a, v, b, w: (b >= 0, a >= b, v > 0, w > 0),
                ),
                tight=Tight(
                    "max(error_1, error_2)",
                    "at equal errors",
                    at=lambda a: {"b": a},
                    near={"a": 1, "v": 1, "b": 1, "w": 1},
                    given=lambda a, v, w: (a > 0, v > 0, w > 0),
                ),
            ),
        ),
    ),
    Proposition(
        "dpxgboost/sketch-prune",
        "section 4.1",
        "Pruning to b + 1 entries raises the relative error by at most 1/b.",
        about=(paper.pruned_error,),
        evidence=(
            Proved(
                AtMost(
                    (Real("a"), Count("b", start=1), Real("w"), Real("d"), Real("low"), Real("high")),
                    lambda low, high: high - low,
                    lambda a, b, w: paper.pruned_error(a, b) * w,
                    lambda a, b, w, d, low, high: (
                        *(a >= 0, w > 0),
                        *(low >= d - a * w / 2, high <= d + w / b + a * w / 2),
                    ),
                ),
                label="gap between the ranks of the answers to queries at d and d + w/b",
            ),
        ),
        argument="Each query for a rank is answered within half the error times the weight (Chen and Guestrin 2016).",
    ),
)

BUDGET = (
    Proposition(
        "dpxgboost/budget",
        "section 4.4",
        "A third for the sketch, a third over the h levels and a third for the leaves add up to the tree's epsilon.",
        about=(paper.tree_cost, paper.third, paper.level_epsilon),
        evidence=(
            Identity(
                "e h",
                lambda e, h: paper.tree_cost(paper.third(e), paper.level_epsilon(e, h), paper.third(e), h),
                lambda e: e,
                positive=True,
            ),
        ),
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
            *("dpxgboost/leaf-sensitivity", "dpxgboost/budget", "dpxgboost/parallel", "dpxgboost/sequential"),
            "dpxgboost/laplace",
        ),
    ),
    Proposition(
        "dpxgboost/tree-published",
        "section 4",
        "The mechanisms compose to an epsilon-DP tree, with a minimum child weight or Algorithm 1.",
        ADD_REMOVE,
        restates="dpxgboost/min-child-weight",
        repaired_by="dpxgboost/tree-repaired",
    ),
    Proposition(
        "dpxgboost/tree-published-replace-one",
        "section 4",
        "The mechanisms compose to an epsilon-DP tree, with a minimum child weight or Algorithm 1.",
        REPLACE_ONE,
        restates="dpxgboost/min-child-weight-replace-one",
        repaired_by="dpxgboost/tree-repaired-replace-one",
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
                *(f"dpxgboost/padded-leaf{suffix}", "dpxgboost/budget", "dpxgboost/sequential", "dpxgboost/laplace"),
            ),
        )
        for suffix, relation, sketch in (
            ("", ADD_REMOVE, "dpxgboost/sketch"),
            ("-replace-one", REPLACE_ONE, "dpxgboost/sketch-repaired-replace-one"),
        )
    ),
    Proposition(
        "dpxgboost/laplace",
        "section 2",
        "f + Lap(Delta f / epsilon) is epsilon-DP.",
        restates="inprivate/theorem-3",
    ),
    Proposition(
        "dpxgboost/sequential",
        "section 2",
        "Queries of epsilon_1, ..., epsilon_n in sequence are (epsilon_1 + ... + epsilon_n)-DP.",
        restates="inprivate/definition-5",
    ),
    Proposition(
        "dpxgboost/parallel",
        "section 2",
        "Queries on disjoint subsets are max(epsilon_1, ..., epsilon_n)-DP.",
        ADD_REMOVE,
        restates="inprivate/definition-6",
    ),
    Proposition(
        "dpxgboost/parallel-replace-one",
        "section 2",
        "Queries on disjoint subsets are max(epsilon_1, ..., epsilon_n)-DP.",
        REPLACE_ONE,
        restates="inprivate/definition-6-replace-one",
        repaired_by="inprivate/definition-6-repaired-replace-one",
    ),
)

SAMPLED = (Real("without"), Real("sampled"), Real("other"), ODDS, RATE)

SUBSAMPLING = (
    Proposition(
        "dpxgboost/subsampling",
        "section 4.4",
        "An epsilon-DP mechanism on a fraction q of the rows without replacement is log(1 + q (e^epsilon - 1))-DP.",
        ADD_REMOVE,
        about=(paper.amplified_odds,),
        evidence=(
            Counterexample(
                AtMost(
                    (ODDS, RATE),
                    lambda t: (2 + t ** (laplace_loss(1, -1, 1, Fraction(1)))) / 3,
                    lambda t, q: paper.amplified_odds(t, q),
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
        about=(paper.amplified_odds,),
        evidence=(
            Proved(
                AtMost(
                    (Real("without"), Real("sampled"), ODDS, RATE),
                    lambda without, sampled, q: ((1 - q) * without + q * sampled) / without,
                    lambda t, q: paper.amplified_odds(t, q),
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
                    lambda t, q: paper.amplified_odds(t, q),
                    lambda without, sampled, t, q: (
                        *(without > 0, sampled > 0, t >= 1, q > 0, q <= 1),
                        without <= t * sampled,
                    ),
                ),
                label="and the other way",
            ),
            Identity(
                "e q", lambda e, q: sympy.exp(paper.amplified(e, q)), lambda e, q: paper.amplified_odds(exp(e), q)
            ),
        ),
        argument="The other rows' inclusion is held fixed; mixtures of both sides keep the bound.",
    ),
    Proposition(
        "dpxgboost/subsampling-replace-one",
        "section 4.4",
        "An epsilon-DP mechanism on a fraction q of the rows without replacement is log(1 + q (e^epsilon - 1))-DP.",
        REPLACE_ONE,
        about=(paper.amplified_odds,),
        evidence=(
            Proved(
                AtMost(
                    SAMPLED,
                    lambda without, sampled, other, q: (
                        ((1 - q) * without + q * sampled) / ((1 - q) * without + q * other)
                    ),
                    lambda t, q: paper.amplified_odds(t, q),
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
        about=(paper.amplified_odds,),
        evidence=(
            Counterexample(
                AtMost(
                    (ODDS, RATE),
                    lambda t, q: paper.amplified_odds(t ** laplace_loss(1, -1, 1, Fraction(1)), q),
                    lambda t, q: paper.amplified_odds(t, q),
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
        about=(paper.amplified,),
        evidence=(
            Identity(
                "q",
                lambda q: sympy.limit(
                    paper.amplified(sympy.Symbol("e", positive=True), q) / sympy.Symbol("e", positive=True),
                    sympy.Symbol("e", positive=True),
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
        about=(paper.amplified_odds, paper.unamplified_odds),
        evidence=(
            Identity(
                "t q", lambda t, q: paper.amplified_odds(paper.unamplified_odds(t, q), q), lambda t: t, positive=True
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

PROPOSITIONS = GRADIENTS + SKETCH + BUDGET + SUBSAMPLING
