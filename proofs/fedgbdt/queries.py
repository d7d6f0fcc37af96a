"""Federated framework (Maddock et al., CCS 2022): the query counts of Table 1."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proofs.checker.evidence import Follows, Proved, SmallScope
from proofs.checker.proposition import ADD_REMOVE, Proposition
from proofs.checker.statements import Count, ForAll, reals
from refdp.papers import fedgbdt as paper
from refdp.papers.fedgbdt import Splits

TREES, ROUNDS, DEPTH = Count("T", start=1), Count("s"), Count("d", start=1)
FEATURES, CHOSEN = Count("m", start=1), Count("k", start=2)
SENSITIVITIES = (
    "fedgbdt/newton-sensitivity-joint",
    "fedgbdt/gradient-sensitivity",
    "fedgbdt/averaging-sensitivity",
    "fedgbdt/fact-2-1",
)
COUNTED = ("fedgbdt/theorem-4-1-add-remove", *SENSITIVITIES)
EXACT = ("exact arithmetic",)


def walk(splits: Splits, trees: int, chosen: int, depth: int) -> tuple[int, int]:
    """Algorithm 1 with its loops: (split queries, leaf queries), one for each table of sums that it asks for."""
    asked, leaves = 0, 0
    for _ in range(trees):
        if splits is Splits.TOTALLY_RANDOM:
            leaves += 1
        elif chosen == 1:
            asked += 1  # the root's histogram, from which every node's sums follow
        else:
            asked += sum(1 for _level in range(depth) for _feature in range(chosen))
    return asked, leaves


def differs_from_walk(splits: Splits) -> Callable[[], Mapping[str, Any] | None]:
    """A small setting whose counts differ from the loops."""

    def search() -> Mapping[str, Any] | None:
        for trees, chosen, depth in itertools.product(range(1, 5), repeat=3):
            counts = paper.split_queries(splits, trees, chosen, depth), paper.weight_queries(splits, trees)
            if counts != walk(splits, trees, chosen, depth):
                return {"T": trees, "k": chosen, "d": depth, "formula": counts}
        return None

    return search


def loops(splits: Splits) -> SmallScope:
    """Formulas and loops agree on small settings."""
    return SmallScope(differs_from_walk(splits), "all T, k, d = 1..4, against the loops of Algorithm 1", EXACT)


def scored_splits(splits: Splits) -> tuple[Proved, ...]:
    """kappa_s = T k d and kappa_w = 0 for k >= 2, and T k d as what the loops add up to, by induction."""
    return (
        Proved(
            ForAll((TREES, CHOSEN, DEPTH), lambda T, k, d: paper.split_queries(splits, T, k, d) == T * k * d),
            label="kappa_s",
        ),
        Proved(ForAll((TREES,), lambda T: paper.weight_queries(splits, T) == 0), label="kappa_w"),
        Proved(
            ForAll(
                (TREES, CHOSEN, DEPTH),
                lambda T, k, d: ((T + 1) * k * d - T * k * d == k * d, k * (d + 1) - k * d == k, k + 1 - k == 1),
            ),
            label="one more tree, level, feature",
        ),
    )


def total(splits: Splits, trees: Any, chosen: Any, depth: Any) -> Any:
    """kappa_s + kappa_w."""
    return paper.split_queries(splits, trees, chosen, depth) + paper.weight_queries(splits, trees)


def prefix(sums: Sequence[Any], position: int) -> Any:
    """Sum of the first bins."""
    return sum(sums[:position], 0 * sums[0])


def levels(root: int, depth: int) -> int:
    """Rounds of `while depth of the current node <= d` along a path whose root has depth `root`."""
    return len(range(root, depth + 1))


PROPOSITIONS = (
    Proposition(
        "fedgbdt/algorithm-1-depth",
        "Algorithm 1, line 6, made precise",
        "With the root at depth 1, or `<` instead of `<=`, Algorithm 1 splits d levels.",
        evidence=(
            Proved(ForAll((DEPTH,), lambda d: (d - 1 + 1 == d, (d - 1) - 0 + 1 == d)), label="levels 1..d, or 0..d-1"),
            SmallScope(
                lambda: next(({"d": d} for d in range(1, 9) if levels(1, d) != d or levels(0, d - 1) != d), None),
                "d = 1..8, against the loop",
                EXACT,
            ),
        ),
    ),
    Proposition(
        "fedgbdt/table-1-hist",
        "Table 1 (C1) and Section 4.3.1, kappa_s = T m d, kappa_w = 0",
        "Histogram splitting costs T m d queries, and none for the leaves.",
        ADD_REMOVE,
        about=(paper.split_queries, paper.weight_queries),
        uses=(*COUNTED, "fedgbdt/histogram-bins-repaired", "fedgbdt/fact-2-4"),
        evidence=(*scored_splits(Splits.HISTOGRAM), loops(Splits.HISTOGRAM)),
        argument="k = m. A record is in one node a level and in one bin a feature; leaf sums are sums of bins.",
    ),
    Proposition(
        "fedgbdt/table-1-partially-random",
        "Table 1 (C1) and Section 4.3.2, kappa_s = T m d, kappa_w = 0",
        "Partially random splitting costs T m d queries, and none for the leaves, for m >= 2.",
        ADD_REMOVE,
        about=(paper.split_queries, paper.weight_queries),
        uses=(*COUNTED, "fedgbdt/fact-2-4"),
        evidence=scored_splits(Splits.PARTIALLY_RANDOM),
        argument="k = m. For each node and feature the sums of both sides of one candidate; the last are the leaves.",
    ),
    Proposition(
        "fedgbdt/table-1-totally-random",
        "Table 1 (C1, C2) and Section 4.4, kappa_s = 0, kappa_w = T",
        "Totally random trees cost T queries, for the leaves.",
        ADD_REMOVE,
        about=(paper.split_queries, paper.weight_queries),
        uses=COUNTED,
        evidence=(
            Proved(ForAll((TREES, CHOSEN, DEPTH), lambda T, k, d: total(Splits.TOTALLY_RANDOM, T, k, d) == T)),
            loops(Splits.TOTALLY_RANDOM),
        ),
        argument="Splits are drawn from candidates that are public or released; a record is in one leaf a tree.",
    ),
    Proposition(
        "fedgbdt/table-1-averaging",
        "Table 1 (C2), kappa_w for averaging, gradient and Newton updates",
        "The three weight updates need the same number of queries, one pair of sums (g, h) each.",
        ADD_REMOVE,
        about=(paper.weight_queries,),
        uses=COUNTED,
        evidence=(Follows("every update is a function of the released sums of (g, h) of a leaf"),),
    ),
    Proposition(
        "fedgbdt/table-1-k-way",
        "Table 1 (A1) and Section 5.1, kappa_s = T k d",
        "With k >= 2 features a tree, histogram and partially random splitting cost T k d queries.",
        ADD_REMOVE,
        about=(paper.split_queries,),
        uses=("fedgbdt/table-1-hist", "fedgbdt/table-1-partially-random"),
        evidence=(Follows("the k features of a tree take the place of all m"),),
    ),
    Proposition(
        "fedgbdt/table-1-k-1",
        "Table 1 (A1) and Section 5.1, kappa_s = T for k = 1",
        "With one feature a tree, one histogram at the root gives the sums of every node and leaf.",
        ADD_REMOVE,
        about=(paper.split_queries, paper.weight_queries),
        uses=(*COUNTED, "fedgbdt/histogram-bins-repaired", "fedgbdt/fact-2-4"),
        evidence=(
            Proved(ForAll((TREES, DEPTH), lambda T, d: total(Splits.HISTOGRAM, T, 1, d) == T)),
            Proved(
                ForAll(reals("a b c d"), lambda a, b, c, d: b + c == prefix([a, b, c, d], 3) - prefix([a, b, c, d], 1)),
                label="a node's sum from prefix sums",
            ),
        ),
        argument="A node of a one-feature tree is a run of adjacent bins.",
    ),
    Proposition(
        "fedgbdt/table-1-k-1-partially-random-leaves",
        "Table 1 (A1), made precise",
        "With one feature a tree, partially random splitting has no choice to score: T queries, of the leaf sums, do.",
        ADD_REMOVE,
        about=(paper.split_queries, paper.weight_queries),
        uses=("fedgbdt/table-1-totally-random",),
        evidence=(
            Proved(
                ForAll(
                    (TREES, DEPTH),
                    lambda T, d: total(Splits.PARTIALLY_RANDOM, T, 1, d) == total(Splits.TOTALLY_RANDOM, T, 1, d),
                )
            ),
        ),
        argument="One random candidate of one feature is a totally random split; a node's sum is that of its leaves.",
    ),
)
