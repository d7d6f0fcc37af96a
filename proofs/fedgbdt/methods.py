"""Federated framework (Maddock et al., CCS 2022): query counts of iterative Hessian, of Table 2 and Section 5.3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs.checker.evidence import Counterexample, Follows, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, ForAll
from proofs.fedgbdt.queries import CHOSEN, DEPTH, FEATURES, ROUNDS, TREES, total
from refdp.papers import fedgbdt as paper
from refdp.papers.fedgbdt import Splits
from refdp.papers.published import fedgbdt as printed

ITERATIVE = (
    Proposition(
        "fedgbdt/table-1-ih",
        "Table 1 (C3) and Section 4.5.2, kappa_c = s m with totally random splits",
        "s rounds of iterative Hessian over all m features cost s m queries at most.",
        ADD_REMOVE,
        about=(paper.candidate_queries, printed.candidate_queries_as_published),
        uses=(
            "fedgbdt/theorem-4-1-add-remove",
            "fedgbdt/fact-2-1",
            "fedgbdt/hessian-histogram-sensitivity",
            "fedgbdt/iterative-hessian",
        ),
        evidence=(
            Proved(
                ForAll(
                    (ROUNDS, FEATURES),
                    lambda s, m: (
                        paper.candidate_queries(Splits.TOTALLY_RANDOM, s, m)
                        == printed.candidate_queries_as_published(Splits.TOTALLY_RANDOM, s, m)
                    ),
                )
            ),
        ),
        argument="One query a round and feature. At the noise of a (g, h) query of norm 1 each costs 1/16 of it.",
    ),
    Proposition(
        "fedgbdt/table-1-ih-k",
        "Table 1 (A1), kappa_c = s k",
        "With k features a tree, refining only these costs s k <= s m queries.",
        ADD_REMOVE,
        about=(paper.candidate_queries, printed.candidate_queries_as_published),
        uses=("fedgbdt/table-1-ih",),
        evidence=(
            Proved(
                AtMost(
                    (ROUNDS, Count("k", start=1), FEATURES),
                    quantity=lambda s, k: paper.candidate_queries(Splits.TOTALLY_RANDOM, s, k),
                    bound=lambda s, m: printed.candidate_queries_as_published(Splits.TOTALLY_RANDOM, s, m),
                    given=lambda k, m: k <= m,
                )
            ),
        ),
        argument="With cyclical k = 1 and s < m the other m - s features keep their first candidates.",
    ),
    Proposition(
        "fedgbdt/table-1-ih-hist",
        "Table 1 (C3), kappa_c = 0 with histogram splits",
        "Iterative Hessian on the histograms that splitting releases costs nothing more.",
        ADD_REMOVE,
        about=(paper.candidate_queries,),
        uses=("fedgbdt/iterative-hessian", "fedgbdt/table-1-hist"),
        evidence=(
            Proved(ForAll((ROUNDS, FEATURES), lambda s, m: paper.candidate_queries(Splits.HISTOGRAM, s, m) == 0)),
        ),
        argument="The root's histograms of the tree before, of the features that it considered.",
    ),
    Proposition(
        "fedgbdt/table-1-ih-partially-random-repaired",
        "Table 1 (C3), made precise",
        "Iterative Hessian with partially random splits costs s k queries, as with totally random ones.",
        ADD_REMOVE,
        about=(paper.candidate_queries,),
        uses=("fedgbdt/table-1-ih-k",),
        evidence=(
            Proved(
                ForAll(
                    (ROUNDS, FEATURES),
                    lambda s, m: (
                        paper.candidate_queries(Splits.PARTIALLY_RANDOM, s, m)
                        == paper.candidate_queries(Splits.TOTALLY_RANDOM, s, m)
                    ),
                )
            ),
        ),
    ),
    Proposition(
        "fedgbdt/table-1-vector-replace-one",
        "Table 1, repaired",
        "The counts of Table 1 hold with the vector sensitivities of this ledger.",
        REPLACE_ONE,
        uses=("fedgbdt/theorem-4-1-vector-replace-one", "fedgbdt/hessian-histogram-sensitivity-replace-one"),
        evidence=(Follows("the same tables of sums are released, each with its vector sensitivity"),),
    ),
)


def method(name: str, locus: str, statement: str, count: Proved, *uses: str) -> Proposition:
    """A method's total number of queries."""
    about = (paper.split_queries, paper.weight_queries)
    return Proposition(f"fedgbdt/{name}", locus, statement, ADD_REMOVE, about, (count,), uses)


def random_total(trees: Callable[[Any, Any], Any]) -> Proved:
    """A totally random method asks one query a tree."""
    return Proved(
        ForAll((TREES, FEATURES), lambda T, m: total(Splits.TOTALLY_RANDOM, trees(T, m), m, 4) == trees(T, m))
    )


METHODS = (
    method(
        "table-2-dp-ebm",
        "Table 2, DP-EBM: 0 + 0 + Tm",
        "DP-EBM, T m totally random trees with public candidates, costs T m queries.",
        random_total(lambda T, m: T * m),
        "fedgbdt/table-1-totally-random",
        "fedgbdt/table-1-uniform",
    ),
    method(
        "table-2-dp-rf",
        "Table 2, DP-RF: 0 + 0 + T",
        "DP-RF, T totally random trees averaged, costs T queries.",
        random_total(lambda T, m: T),
        "fedgbdt/table-1-totally-random",
        "fedgbdt/table-1-batch",
    ),
    method(
        "table-2-feverless-uniform",
        "Table 2, FEVERLESS, as Section 5.3.2 replaces it",
        "FEVERLESS with uniform candidates costs T m d queries, m >= 2.",
        Proved(ForAll((TREES, CHOSEN, DEPTH), lambda T, k, d: total(Splits.HISTOGRAM, T, k, d) == T * k * d)),
        "fedgbdt/table-1-hist",
        "fedgbdt/table-1-uniform",
    ),
    method(
        "dp-tr-newton",
        "Section 5.3.3, DP-EBM Newton and DP-TR Newton: 0 + 0 + T",
        "DP-EBM Newton and DP-TR Newton cost T queries.",
        random_total(lambda T, m: T),
        "fedgbdt/table-1-totally-random",
        "fedgbdt/table-1-uniform",
    ),
    Proposition(
        "fedgbdt/dp-tr-newton-ih-ebm",
        "Section 5.3.3, DP-TR Newton IH EBM: T + sm",
        "With one feature a tree, s m is the count of candidate queries that Table 1 (A1) gives, s k at k = 1.",
        ADD_REMOVE,
        about=(paper.candidate_queries, printed.candidate_queries_as_published),
        evidence=(
            Counterexample(
                ForAll(
                    (ROUNDS, FEATURES),
                    lambda s, m: (
                        printed.candidate_queries_as_published(Splits.TOTALLY_RANDOM, s, m)
                        == paper.candidate_queries(Splits.TOTALLY_RANDOM, s, 0 * s + 1)
                    ),
                ),
                at={"s": 5, "m": 10},
            ),
        ),
        argument="Both are safe; T + s is enough, because a tree of one feature refines that one only.",
        repaired_by="fedgbdt/dp-tr-newton-ih-ebm-repaired",
    ),
    Proposition(
        "fedgbdt/dp-tr-newton-ih-ebm-repaired",
        "Section 5.3.3, repaired",
        "DP-TR Newton IH EBM, batched or not, costs T + s queries; without EBM, over all features, T + s m.",
        ADD_REMOVE,
        uses=("fedgbdt/table-1-totally-random", "fedgbdt/table-1-ih", "fedgbdt/table-1-ih-k", "fedgbdt/table-1-batch"),
        evidence=(Follows("leaf sums of T trees, and s k Hessian histograms, k = 1 or m"),),
    ),
    Proposition(
        "fedgbdt/algorithm-1",
        "Section 4, the framework is differentially private",
        "With public bounds and no quantile candidates, training is (epsilon, delta)-DP as accounted.",
        ADD_REMOVE,
        uses=(
            "fedgbdt/conversion",
            "fedgbdt/exact-composition",
            "fedgbdt/table-1-hist",
            "fedgbdt/table-1-partially-random",
            "fedgbdt/table-1-totally-random",
            "fedgbdt/table-1-k-1",
            "fedgbdt/table-1-ih-k",
            "fedgbdt/table-1-uniform",
            "fedgbdt/table-1-batch",
            "fedgbdt/initial-score",
        ),
        evidence=(Follows("everything released is counted, and the model is a function of what is released"),),
        argument="One record a participant. Also with the published sensitivities, which are valid here, if not tight.",
    ),
    Proposition(
        "fedgbdt/algorithm-1-vector-replace-one",
        "Section 4, repaired",
        "Training with the vector sensitivities of this ledger is (epsilon, delta)-DP as accounted.",
        REPLACE_ONE,
        uses=("fedgbdt/conversion", "fedgbdt/exact-composition", "fedgbdt/table-1-vector-replace-one"),
        evidence=(Follows("as fedgbdt/algorithm-1, with the sensitivities for replaced records"),),
    ),
)

PROPOSITIONS = (*ITERATIVE, *METHODS)
