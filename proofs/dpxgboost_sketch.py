"""DP-XGBoost: the private sketch."""

from __future__ import annotations

from proofs.dpxgboost_splits import AR, RO, TENTH
from proofs.evidence import Counterexample, Proved
from proofs.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.releases import laplace_loss, laplace_losses
from proofs.statements import AtMost, Count, ForAll, Real
from proofs.tightness import Tight
from refdp.generic import absolute
from refdp.papers import dpxgboost as paper

HIGHEST = Real("top")

PROPOSITIONS = (
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
