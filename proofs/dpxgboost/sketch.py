"""DP-XGBoost: the private sketch."""

from __future__ import annotations

from typing import Any

from proofs.checker.evidence import Counterexample, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, ForAll, Real
from proofs.checker.tightness import Tight
from proofs.composition.releases import laplace_loss, laplace_losses
from proofs.dpxgboost.splits import AR, RO, TENTH
from refdp.data import sketch
from refdp.data.numbers import absolute
from refdp.papers import dpxgboost as paper
from refdp.papers.published import dpxgboost as printed

HIGHEST = Real("top")
FIRST, SECOND = Real("D"), Real("E")


def median_change(difference: Any, moved: Any) -> Any:
    """Change of the utility of a threshold when L - R moves from `difference` by `moved`."""
    return sketch.median_utility(difference + moved, 0) - sketch.median_utility(difference, 0)


def moved_by(record: Any, top: Any, records: int) -> tuple[Any, ...]:
    """What `records` records of weights within [0, top] can change L - R by."""
    return record >= -records * top, record <= records * top


def median_range(suffix: str, relation: str, records: int, kind: Any) -> Proposition:
    """The range of the median's utility."""
    return Proposition(
        f"dpxgboost/median-range{suffix}",
        "section 4.1, another sketch",
        f"The utilities -|L - R|/2 of all thresholds of disjoint intervals change within ranges of sum {records} h*.",
        relation,
        about=(sketch.median_utility, sketch.median_range),
        evidence=(
            Proved(
                AtMost(
                    (FIRST, SECOND, Real("c"), Real("d"), HIGHEST),
                    lambda D, E, c, d: median_change(D, c) - median_change(E, d),
                    lambda top: sketch.median_range(top, kind),
                    lambda D, E, c, d, top: (*moved_by(c, top, records), *moved_by(d, top, records), top > 0),
                ),
                tight=Tight(
                    f"{records} h*",
                    "where one threshold halves the weight and another has all of it on one side",
                    at=lambda top: {"D": -records * top, "c": records * top, "E": 0 * top, "d": records * top},
                    near={"D": -records, "c": records, "E": 0, "d": records, "top": 1},
                    given=lambda top: top > 0,
                ),
                label="two thresholds of one interval",
            ),
        ),
        argument=(
            "The exponential mechanism pays for the sum of the ranges (composition/exponential-range); a record is in "
            "one interval of each feature, none where it is missing, and a replaced one in at most two, with a range "
            "of h* each."
        ),
        uses=("composition/exponential-range",),
    )


PROPOSITIONS = (
    Proposition(
        "dpxgboost/sketch",
        "section 4.1 and 4.4",
        "Histograms of Hessian weights of m features, noise Lap(m/epsilon) on every bin, are epsilon-DP.",
        ADD_REMOVE,
        about=(printed.sketch_scale_as_published, paper.sketch_sensitivity),
        evidence=(
            Proved(
                AtMost(
                    (Count("m", start=1), Real("c"), Real("h"), Real("o"), Real("e")),
                    lambda m, c, h, o, e: m * laplace_loss(c + h, c, o, printed.sketch_scale_as_published(e, m)),
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
        "dpxgboost/sketch-weights",
        "section 4.1 and 4.4",
        "Weights within h* change all bins of a feature by at most h* (L1): noise Lap(h* m/epsilon) is epsilon-DP.",
        ADD_REMOVE,
        about=(paper.sketch_sensitivity,),
        evidence=(
            Proved(
                AtMost(
                    (Real("h"), HIGHEST),
                    lambda h: absolute(h),
                    lambda top: paper.sketch_sensitivity(top, AR),
                    lambda h, top: (h >= 0, h <= top),
                ),
                tight=Tight(
                    "h*",
                    "at a record of weight h*",
                    at=lambda top: {"h": top},
                    near={"h": 1, "top": 1},
                    given=lambda top: top > 0,
                ),
            ),
        ),
        argument="A record is in at most one bin of each feature, none where it is missing.",
    ),
    Proposition(
        "dpxgboost/sketch-replace-one",
        "section 4.1 and 4.4",
        "Histograms of Hessian weights of m features, noise Lap(m/epsilon) on every bin, are epsilon-DP.",
        REPLACE_ONE,
        about=(printed.sketch_scale_as_published,),
        evidence=(
            Counterexample(
                AtMost(
                    (Count("m", start=1), Real("e")),
                    lambda m, e: m * laplace_losses((1, 0), (0, 1), (1, 0), printed.sketch_scale_as_published(e, m)),
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
        about=(sketch.merged_error,),
        evidence=(
            Counterexample(
                ForAll(
                    (Real("a"), Real("v"), Real("b"), Real("w")),
                    lambda a, v, b, w: (sketch.merged_error(a, v, b, w) > a, sketch.merged_error(a, v, b, w) > b),
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
        about=(sketch.merged_error,),
        evidence=(
            Proved(
                AtMost(
                    (Real("a"), Real("v"), Real("b"), Real("w")),
                    lambda a, v, b, w: sketch.merged_error(a, v, b, w),
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
        about=(sketch.pruned_error,),
        evidence=(
            Proved(
                AtMost(
                    (Real("a"), Count("b", start=1), Real("w"), Real("d"), Real("low"), Real("high")),
                    lambda low, high: high - low,
                    lambda a, b, w: sketch.pruned_error(a, b) * w,
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
    median_range("", ADD_REMOVE, 1, AR),
    median_range("-replace-one", REPLACE_ONE, 2, RO),
)
