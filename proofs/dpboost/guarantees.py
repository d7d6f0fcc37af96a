"""DPBoost (Li, Wu, Wen, He, AAAI 2020): filtering, decay of leaves, budgets, shares and the guarantees of Algs. 1, "
"2."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Exhibit, Follows, Identity, Proved, SmallScope
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import Count, ForAll, Real
from proofs.dpboost.runs import candidates_tell, crowds_lose_more, small_scope
from refdp.papers import dpboost
from refdp.papers.dpboost import share
from refdp.papers.published import dpboost as printed
from refdp.privacy.events import Relation

TENTH = Fraction(1, 10)
CHARGES = (dpboost.Params.split_charge, dpboost.Params.leaf_charge)
PRINTED_CHARGES = (printed.Params.split_charge, printed.Params.leaf_charge, printed.gain_sensitivity_as_published)


def printed_share(eta: Fraction, position: int) -> Fraction:
    """Line 8 of Algorithm 2 as printed, with t_e in the denominator."""
    return eta * (1 - eta) ** position / (1 - (1 - eta) ** position)


def printed_shares_exceed_one() -> Mapping[str, Any] | None:
    """The printed shares of the first trees of an ensemble of 50 at the shrinkage 1/10, if they exceed the data."""
    total = sum((printed_share(TENTH, position) for position in (1, 2)), Fraction(0))
    return {"eta": TENTH, "T_e": 50, "shares of t = 1, 2": total} if total > 1 else None


def never_reset() -> Mapping[str, Any] | None:
    """Ensembles of one tree: whether line 6's condition t mod T_e == 1 is false for every t."""
    return {"T_e": 1, "t mod T_e": "0 for every t, never 1"} if all(t % 1 != 1 for t in range(1, 100)) else None


def one_tree_is_algorithm_1(relation: Relation) -> Mapping[str, Any] | None:
    """Algorithm 2 with T = T_e = 1 gives its single tree all records and all of epsilon."""
    return crowds_lose_more(relation) if share(TENTH, 0, 1) == 1 else None


PUBLISHED_TREE = "depth 1, epsilon_t = 1: enclosed split loss, whole run replayed"
ONE_ENSEMBLE = "two ensembles of one tree of depth 1, epsilon = 1: all neighbours of up to 3 of 6 records, all splits"
ONE_TREE = f"T = T_e = 1: {PUBLISHED_TREE}"
REPLAYED = ("arb", "mpmath iv", "replay")

PROPOSITIONS = (
    Proposition(
        "dpboost/candidates",
        "Algorithm 1, line 6",
        "Choosing among the split values that occur in the records is epsilon-DP.",
        ADD_REMOVE,
        about=(printed.Params.split_candidates,),
        evidence=(Exhibit(candidates_tell, "a value that occurs on one of two neighbours only"),),
        argument="An option of probability 0 on one of two neighbours has infinite loss. Thresholds must be public.",
        repaired_by="dpboost/theorem-7-repaired-add-remove",
    ),
    Proposition(
        "dpboost/algorithm-1-budget",
        "Algorithm 1, lines 1 and 2",
        "eps_leaf = eps_t / 2 and eps_nleaf = eps_t / (2 Depth_max) for each level add up to eps_t.",
        evidence=(
            Proved(
                ForAll(
                    (Real("e"), Count("d", start=1, split=0)),
                    holds=lambda e, d: e / 2 + d * (e / (2 * d)) == e,
                )
            ),
        ),
        gloss="e: eps_t; d: Depth_max.",
    ),
    Proposition(
        "dpboost/theorem-7-sum",
        "Proof of Theorem 7",
        "eps_leaf * Depth_max + eps_nleaf = eps_t.",
        evidence=(
            Counterexample(
                ForAll(
                    (Real("e"), Count("d", start=1)),
                    given=lambda e: e > 0,
                    holds=lambda e, d: e / 2 * d + e / (2 * d) == e,
                ),
                at={"e": 1, "d": 6},
            ),
        ),
        argument="The names are exchanged.",
        repaired_by="dpboost/algorithm-1-budget",
    ),
    Proposition(
        "dpboost/algorithm-1-line-14",
        "Algorithm 1, line 14",
        "Noise of scale Delta V / eps_nleaf, as printed, costs eps_t / (2 Depth_max): the tree stays within eps_t "
        "and leaves eps_t / 2 - eps_t / (2 Depth_max) unused.",
        evidence=(
            Proved(
                ForAll(
                    (Real("e"), Count("d", start=1, split=0)),
                    given=lambda e: e >= 0,
                    holds=lambda e, d: (
                        d * (e / (2 * d)) + e / (2 * d) <= e,
                        e - (d * (e / (2 * d)) + e / (2 * d)) == e / 2 - e / (2 * d),
                    ),
                )
            ),
        ),
        uses=("composition/laplace", "composition/sequential"),
        gloss="e: eps_t; d: Depth_max.",
    ),
    Proposition(
        "dpboost/theorem-7",
        "Theorem 7",
        "The output of Algorithm 1 with Lemma 1's and Corollary 2's constants is eps_t-DP, even with public "
        "thresholds.",
        ADD_REMOVE,
        about=(dpboost.gain, *PRINTED_CHARGES, dpboost.train_single_tree),
        evidence=(Exhibit(lambda: crowds_lose_more(Relation.ADD_REMOVE), PUBLISHED_TREE, REPLAYED),),
        argument="The premise that fails is dpboost/lemma-1.",
        repaired_by="dpboost/theorem-7-repaired-add-remove",
    ),
    Proposition(
        "dpboost/theorem-7-replace-one",
        "Theorem 7",
        "The output of Algorithm 1 with Lemma 1's and Corollary 2's constants is eps_t-DP, even with public "
        "thresholds.",
        REPLACE_ONE,
        about=(dpboost.gain, *PRINTED_CHARGES, dpboost.train_single_tree),
        evidence=(Exhibit(lambda: crowds_lose_more(Relation.REPLACE_ONE), PUBLISHED_TREE, REPLAYED),),
        argument="The premises that fail are dpboost/lemma-1-replace-one and dpboost/corollary-2-replace-one.",
        repaired_by="dpboost/theorem-7-repaired-replace-one",
    ),
    Proposition(
        "dpboost/theorem-7-repaired-add-remove",
        "Theorem 7, repaired",
        "With public thresholds, exponent eps_nleaf G / (4 g*^2) and the leaf sensitivity of leaf-clipped-add-remove, "
        "Algorithm 1 is eps_t-DP.",
        ADD_REMOVE,
        about=(*CHARGES, dpboost.train_single_tree),
        evidence=(
            Follows("a level costs eps_nleaf by the range of the gain, all leaves eps_leaf; they add up in sequence"),
            SmallScope(lambda: small_scope(Relation.ADD_REMOVE), ONE_ENSEMBLE),
        ),
        uses=(
            *("dpboost/gain-range-add-remove", "dpboost/leaf-clipped-add-remove", "dpboost/algorithm-1-budget"),
            *("composition/exponential-range", "composition/laplace", "composition/sequential"),
        ),
        argument="The filter and the routing look at one record each, so that a record reaches one node of each level.",
    ),
    Proposition(
        "dpboost/theorem-7-repaired-replace-one",
        "Theorem 7, repaired",
        "With public thresholds, exponent eps_nleaf G / (8 g*^2) and the leaf sensitivity of leaf-clipped-replace-one, "
        "Algorithm 1 is eps_t-DP.",
        REPLACE_ONE,
        about=(*CHARGES, dpboost.train_single_tree),
        evidence=(
            Follows("a level costs eps_nleaf by the range of the gain, all leaves eps_leaf; they add up in sequence"),
            SmallScope(lambda: small_scope(Relation.REPLACE_ONE), ONE_ENSEMBLE),
        ),
        uses=(
            *("dpboost/gain-range-replace-one", "dpboost/leaf-clipped-replace-one", "dpboost/algorithm-1-budget"),
            *("composition/exponential-range", "composition/laplace", "composition/sequential"),
        ),
        argument="The ranges of the two nodes that the record leaves and joins add up.",
    ),
    Proposition(
        "dpboost/shares",
        "section 3.2, before Algorithm 2",
        "The shares eta (1 - eta)^t / (1 - (1 - eta)^T_e), t = 0 to T_e - 1, are positive and add up to 1.",
        about=(share,),
        evidence=(
            Identity(
                "r",
                integer="t T",
                positive=True,
                left=lambda r, t, T: share(1 - r, t, T),
                right=lambda r, t, T: (1 - r ** (t + 1)) / (1 - r**T) - (1 - r**t) / (1 - r**T),
                label="each share is the step of (1 - r^t)/(1 - r^T), r = 1 - eta, which goes from 0 to 1",
            ),
        ),
        gloss="A last ensemble of fewer trees uses a part of the records.",
    ),
    Proposition(
        "dpboost/algorithm-2-line-8",
        "Algorithm 2, line 8",
        "The printed sizes |D| eta (1-eta)^t_e / (1 - (1-eta)^t_e) fit into |D| (and t_e = 0 divides by zero).",
        evidence=(Exhibit(printed_shares_exceed_one, "two trees take more than all records"),),
        argument="The denominator has to be 1 - (1-eta)^T_e, as in the text.",
        repaired_by="dpboost/shares",
    ),
    Proposition(
        "dpboost/algorithm-2-line-6",
        "Algorithm 2, lines 5 to 7",
        "Every ensemble starts from all records, by t_e = t mod T_e == 1.",
        evidence=(Exhibit(never_reset, "ensembles of one tree"),),
        argument="With positions counted from 0 within the ensemble the reset is at position 0.",
        repaired_by="dpboost/algorithm-2-positions",
    ),
    Proposition(
        "dpboost/algorithm-2-positions",
        "Algorithm 2, lines 5 to 7, repaired",
        "Counting (t - 1) mod T_e from 0, position 0 comes at the first tree of every ensemble and nowhere else.",
        evidence=(
            Proved(
                ForAll(
                    (Count("q"), Count("r"), Count("size", start=1)),
                    given=lambda r, size: r <= size - 1,
                    holds=lambda q, r, size: ((q * size + r) - q * size >= 0, (q * size + r) - q * size < size),
                ),
                label="t - 1 = q T_e + r has remainder r, zero only at r = 0",
            ),
        ),
        gloss="size: T_e; q, r: quotient and remainder of t - 1.",
    ),
    Proposition(
        "dpboost/algorithm-2-budget",
        "Algorithm 2, lines 1 and 2",
        "N_e ensembles of eps / N_e each add up to eps.",
        evidence=(
            Proved(
                ForAll(
                    (Real("e"), Count("ensembles", start=1, split=0)),
                    holds=lambda e, ensembles: ensembles * (e / ensembles) == e,
                )
            ),
        ),
        gloss="e: eps; ensembles: N_e.",
    ),
    Proposition(
        "dpboost/theorem-8",
        "Theorem 8",
        "The output of Algorithm 2 with the printed constants is epsilon-DP, even with public thresholds.",
        ADD_REMOVE,
        about=(share, *PRINTED_CHARGES, dpboost.train_ensembles),
        evidence=(Exhibit(lambda: one_tree_is_algorithm_1(Relation.ADD_REMOVE), ONE_TREE, REPLAYED),),
        argument="Premises that fail: dpboost/theorem-7 and, for T_e > 1, composition/partition-by-size-add-remove.",
        repaired_by="dpboost/theorem-8-repaired-add-remove",
    ),
    Proposition(
        "dpboost/theorem-8-replace-one",
        "Theorem 8",
        "The output of Algorithm 2 with the printed constants is epsilon-DP, even with public thresholds.",
        REPLACE_ONE,
        about=(share, *PRINTED_CHARGES, dpboost.train_ensembles),
        evidence=(Exhibit(lambda: one_tree_is_algorithm_1(Relation.REPLACE_ONE), ONE_TREE, REPLAYED),),
        argument="The premise that fails is dpboost/theorem-7-replace-one.",
        repaired_by="dpboost/theorem-8-repaired-replace-one",
    ),
    Proposition(
        "dpboost/theorem-8-repaired-add-remove",
        "Theorem 8, repaired",
        "With the repaired Algorithm 1 and every record falling into a tree's subset independently, with the share as "
        "probability, Algorithm 2 is epsilon-DP.",
        ADD_REMOVE,
        about=(share, dpboost.plan, dpboost.train_ensembles),
        evidence=(Follows("an ensemble costs one tree's eps / N_e, ensembles add up in sequence"),),
        uses=(
            *("dpboost/theorem-7-repaired-add-remove", "dpboost/shares", "dpboost/algorithm-2-budget"),
            *("composition/partition-add-remove", "composition/sequential"),
        ),
        argument="Later trees of an ensemble see the subset's records through scores that depend on released trees "
        "only.",
    ),
    Proposition(
        "dpboost/theorem-8-repaired-replace-one",
        "Theorem 8, repaired",
        "With the repaired Algorithm 1, Algorithm 2 is epsilon-DP, whether subsets are drawn by size or independently.",
        REPLACE_ONE,
        about=(share, dpboost.plan, dpboost.train_ensembles),
        evidence=(Follows("an ensemble costs one tree's eps / N_e, ensembles add up in sequence"),),
        uses=(
            *("dpboost/theorem-7-repaired-replace-one", "dpboost/shares", "dpboost/algorithm-2-budget"),
            *("composition/partition-replace-one", "composition/sequential"),
        ),
    ),
)
