"""DP-XGBoost: leaf values, minimum child weight, noisy average, Newton gains."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Exhibit, Identity, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, within
from proofs.checker.tightness import Tight
from proofs.dpxgboost.splits import (
    AR,
    BOUND,
    CHILD,
    COUNT,
    LAMBDA,
    OTHER,
    RECORD,
    RO,
    SUM,
    TENTH,
    child,
    positive,
)
from refdp.data.numbers import absolute
from refdp.papers import dpxgboost as paper
from refdp.papers.published import dpxgboost as printed

LEAST = Count("N", start=1)
PADDED = (COUNT, LEAST, SUM, RECORD, LAMBDA)


def leaf_change(n: Any, G: Any, g: Any, lam: Any) -> Any:
    """Absolute change of a leaf's value when a record of gradient g joins it."""
    return absolute(paper.leaf_value(G + g, n + 1, lam) - paper.leaf_value(G, n, lam))


def padded_change(n: Any, N: Any, G: Any, g: Any, lam: Any) -> Any:
    """Signed change of a leaf value whose count is padded to N_min."""
    return paper.padded_leaf_value(G, n, N, lam) - paper.padded_leaf_value(G + g, n + 1, N, lam)


def unit_child(n: Any, G: Any, g: Any, lam: Any) -> tuple[Any, ...]:
    """One child's term of the gain, with g* = 1 as the unit of gradients."""
    return lam > 0, *within(g, 1), *within(G, n)


def kept_and_dropped(before: tuple[int, int], after: tuple[int, int], least: int) -> Mapping[str, Any] | None:
    """A split that one data set may choose and its neighbour may not, by exact counts (left, right)."""
    allowed, still = (
        bool(paper.large_enough(Fraction(left), Fraction(right), Fraction(least))) for left, right in (before, after)
    )
    if allowed == still:
        return None
    return {
        "N_min": least,
        "records (left, right)": before,
        "on the neighbour": after,
        "shows": "the split has positive probability on one and none on the other: infinite loss",
    }


PROPOSITIONS = (
    Proposition(
        "dpxgboost/eq-6",
        "Eq. 6",
        "A leaf of n records changes by at most (2n + lambda) g* / ((n + lambda)(n + 1 + lambda)) when one joins.",
        ADD_REMOVE,
        about=(paper.leaf_value, paper.leaf_change_as_published),
        evidence=(
            Proved(
                AtMost(CHILD, leaf_change, lambda n, lam, B: paper.leaf_change_as_published(B, n, lam), child),
                tight=Tight(
                    "(2n + lambda) g* / ((n + lambda)(n + 1 + lambda))",
                    "for n records of gradient -g* and a new one of g*, every n",
                    at=lambda n, B: {"G": -n * B, "g": B},
                    near={"n": 3, "G": -3, "g": 1, "lam": 1, "B": 1},
                    given=positive,
                ),
            ),
        ),
    ),
    Proposition(
        "dpxgboost/leaf-sensitivity",
        "section 4.3, after Eq. 6",
        "Eq. 6 is at most g* / (1 + lambda) for every number of records, so the leaf values' sensitivity is that.",
        ADD_REMOVE,
        about=(paper.leaf_change_as_published, paper.leaf_sensitivity),
        evidence=(
            Proved(
                AtMost(
                    (Count("n", split=2), LAMBDA, BOUND),
                    lambda n, lam, B: paper.leaf_change_as_published(B, n, lam),
                    lambda lam, B: paper.leaf_sensitivity(B, lam, AR),
                    positive,
                ),
                tight=Tight(
                    "g* / (1 + lambda)",
                    "at n = 0 (and n = 1), for every lambda > 0",
                    at=lambda: {"n": 0},
                    near={"n": 0, "lam": 1, "B": 1},
                    given=positive,
                ),
            ),
        ),
        uses=("dpxgboost/eq-6",),
        argument="A record joins one leaf.",
    ),
    Proposition(
        "dpxgboost/leaf-sensitivity-published-replace-one",
        "section 4.3, after Eq. 6",
        "The leaf values' sensitivity is g* / (1 + lambda).",
        REPLACE_ONE,
        about=(paper.leaf_value, paper.leaf_sensitivity),
        evidence=(
            Counterexample(
                AtMost(
                    (*CHILD, OTHER),
                    lambda n, G, g, other, lam: absolute(
                        paper.leaf_value(G + g, n + 1, lam) - paper.leaf_value(G + other, n + 1, lam)
                    ),
                    lambda lam, B: paper.leaf_sensitivity(B, lam, AR),
                    lambda n, G, g, other, lam, B: (*child(n, G, g, lam, B), *within(other, B)),
                ),
                {"n": 0, "G": 0, "g": 1, "other": -1, "lam": TENTH, "B": 1},
            ),
        ),
        repaired_by="dpxgboost/leaf-sensitivity-replace-one",
    ),
    Proposition(
        "dpxgboost/leaf-sensitivity-replace-one",
        "section 4.3, repaired",
        "Replacing a record changes all leaf values together by at most 2 g* / (1 + lambda) (L1).",
        REPLACE_ONE,
        about=(paper.leaf_value, paper.leaf_sensitivity),
        evidence=(
            Proved(
                AtMost(
                    (*CHILD, OTHER),
                    lambda n, G, g, other, lam: absolute(
                        paper.leaf_value(G + g, n + 1, lam) - paper.leaf_value(G + other, n + 1, lam)
                    ),
                    lambda lam, B: paper.leaf_sensitivity(B, lam, RO),
                    lambda n, G, g, other, lam, B: (*child(n, G, g, lam, B), *within(other, B)),
                ),
                tight=Tight(
                    "2 g* / (1 + lambda)",
                    "at a leaf of one record that turns from -g* to g*",
                    at=lambda B: {"n": 0, "G": 0, "g": B, "other": -B},
                    near={"n": 0, "G": 0, "g": 1, "other": -1, "lam": 1, "B": 1},
                    given=positive,
                ),
                label="in the same leaf",
            ),
            Identity(
                "lam B",
                lambda lam, B: 2 * paper.leaf_sensitivity(B, lam, AR),
                lambda lam, B: paper.leaf_sensitivity(B, lam, RO),
                label="from one leaf to another",
            ),
        ),
        uses=("dpxgboost/leaf-sensitivity",),
    ),
    Proposition(
        "dpxgboost/eq-7",
        "Eq. 7",
        "A leaf of at least N_min records on both data sets changes by at most 2 g* / (N_min + 1 + lambda).",
        ADD_REMOVE,
        about=(paper.leaf_change_as_published, printed.leaf_sensitivity_as_published),
        evidence=(
            Proved(
                AtMost(
                    (Count("n", start=1), LEAST, LAMBDA, BOUND),
                    lambda n, lam, B: paper.leaf_change_as_published(B, n, lam),
                    lambda N, lam, B: printed.leaf_sensitivity_as_published(B, N, lam),
                    lambda n, N, lam, B: (n >= N, lam > 0, B > 0),
                ),
            ),
            Proved(
                AtMost(
                    (Count("n", start=1), LEAST, LAMBDA, BOUND),
                    lambda n, lam, B: paper.leaf_change_as_published(B, n, lam),
                    lambda N, lam, B: paper.leaf_change_as_published(B, N, lam),
                    lambda n, N, lam, B: (n >= N, lam > 0, B > 0),
                ),
                tight=Tight(
                    "(2 N_min + lambda) g* / ((N_min + lambda)(N_min + 1 + lambda))",
                    "at n = N_min",
                    at=lambda N: {"n": N},
                    near={"n": 3, "N": 3, "lam": 1, "B": 1},
                    given=lambda N, lam, B: (N >= 1, lam > 0, B > 0),
                ),
                label="the tight form",
            ),
        ),
        uses=("dpxgboost/eq-6",),
        gloss="The bound itself holds; that both data sets meet it does not follow, see min-child-weight.",
    ),
    Proposition(
        "dpxgboost/eq-7-replace-one",
        "Eq. 7",
        "A leaf of at least N_min records on both data sets changes by at most 2 g* / (N_min + 1 + lambda).",
        REPLACE_ONE,
        about=(paper.leaf_value, printed.leaf_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost(
                    (COUNT, SUM, RECORD, OTHER, LAMBDA, LEAST),
                    lambda n, G, g, other, lam: absolute(
                        paper.leaf_value(G + g, n + 1, lam) - paper.leaf_value(G + other, n + 1, lam)
                    ),
                    lambda N, lam: printed.leaf_sensitivity_as_published(1, N, lam),
                    lambda n, G, g, other, lam, N: (n + 1 >= N, *unit_child(n, G, g, lam), *within(other, 1)),
                ),
                {"n": 9, "G": 0, "g": 1, "other": -1, "lam": TENTH, "N": 10},
            ),
        ),
        repaired_by="dpxgboost/padded-leaf-replace-one",
    ),
    Proposition(
        "dpxgboost/min-child-weight",
        "section 4.3",
        "A minimum child weight lets leaves be noised by Eq. 7 at no further cost.",
        ADD_REMOVE,
        about=(paper.large_enough,),
        evidence=(Exhibit(lambda: kept_and_dropped((50, 60), (49, 60), 50), "a split that exists on one side only"),),
        argument="Section 4 composes the mechanisms to a tree, and section 4.4 charges nothing for this decision: with "
        "a minimum child weight that tree has no epsilon.",
        repaired_by="dpxgboost/padded-leaf",
    ),
    Proposition(
        "dpxgboost/min-child-weight-replace-one",
        "section 4.3",
        "A minimum child weight lets leaves be noised by Eq. 7 at no further cost.",
        REPLACE_ONE,
        about=(paper.large_enough,),
        evidence=(Exhibit(lambda: kept_and_dropped((50, 60), (49, 61), 50), "a split that exists on one side only"),),
        argument="Section 4 composes the mechanisms to a tree, and section 4.4 charges nothing for this decision: with "
        "a minimum child weight that tree has no epsilon.",
        repaired_by="dpxgboost/padded-leaf-replace-one",
    ),
    Proposition(
        "dpxgboost/padded-leaf",
        "Eq. 7, repaired",
        "-G / (max(n, N_min) + lambda) has Eq. 6 at N_min as its sensitivity, for every leaf, however small.",
        ADD_REMOVE,
        about=(paper.padded_leaf_value, paper.padded_leaf_sensitivity),
        evidence=(
            Proved(
                AtMost(PADDED, padded_change, lambda N, lam: paper.padded_leaf_sensitivity(1, N, lam, AR), unit_child),
                tight=Tight(
                    "(2 N_min + lambda) g* / ((N_min + lambda)(N_min + 1 + lambda))",
                    "for N_min records of gradient -g* and a new one of g*",
                    at=lambda N: {"n": N, "G": -N, "g": 1},
                    near={"n": 3, "N": 3, "G": -3, "g": 1, "lam": 1},
                    given=lambda N, lam: (N >= 1, lam > 0),
                ),
            ),
            Identity(
                "G n N lam B",
                lambda G, n, N, lam, B: paper.leaf_value(B * G, n + N, lam) - B * paper.leaf_value(G, n + N, lam),
                lambda G: 0 * G,
                label="g* = 1 is a choice of unit, and the change is odd in the gradients (B = -1)",
            ),
        ),
        gloss="No decision depends on a count, and the bound is below Eq. 7's.",
    ),
    Proposition(
        "dpxgboost/padded-leaf-replace-one",
        "Eq. 7, repaired",
        "Replacing a record changes all padded leaf values together by at most twice Eq. 6 at N_min (L1).",
        REPLACE_ONE,
        about=(paper.padded_leaf_value, paper.padded_leaf_sensitivity),
        evidence=(
            Proved(
                AtMost(
                    (COUNT, LEAST, RECORD, OTHER, LAMBDA),
                    lambda n, N, g, other, lam: (
                        paper.padded_leaf_value(g, n + 1, N, lam) - paper.padded_leaf_value(other, n + 1, N, lam)
                    ),
                    lambda N, lam: 2 / (N + lam),
                    lambda g, other, lam: (lam > 0, *within(g, 1), *within(other, 1)),
                ),
                label="in the same leaf, whose other records cancel",
            ),
            Proved(
                AtMost(
                    (LEAST, LAMBDA),
                    lambda N, lam: 2 / (N + lam),
                    lambda N, lam: paper.padded_leaf_sensitivity(1, N, lam, RO),
                    lambda lam: lam > 0,
                ),
                label="which is less than",
            ),
            Proved(
                AtMost(
                    (LEAST, LAMBDA),
                    lambda N, lam: 2 * padded_change(N, N, -N, 1, lam),
                    lambda N, lam: paper.padded_leaf_sensitivity(1, N, lam, RO),
                    lambda lam: lam > 0,
                ),
                tight=Tight(
                    "2 (2 N_min + lambda) g* / ((N_min + lambda)(N_min + 1 + lambda))",
                    "when the record moves between two leaves of N_min others, its sign opposite to both",
                    at=lambda: dict[str, Any](),
                    near={"N": 3, "lam": 1},
                    given=lambda N, lam: (N >= 1, lam > 0),
                ),
                label="from one leaf to another, twice the change of padded-leaf",
            ),
        ),
        uses=("dpxgboost/padded-leaf",),
    ),
)
