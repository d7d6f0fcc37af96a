"""InPrivate Digging: split selection and down-sampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from proofs.checker.enclosures import Enclosed
from proofs.checker.evidence import BoundedCounterexample, Exhibit, Finite, Follows, Identity, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Real
from proofs.checker.tightness import Tight
from proofs.composition.releases import exponent_costs
from proofs.inprivate.splits import AR, MANY, RO, alone, plain_change
from refdp.data.numbers import exp, log
from refdp.papers import inprivate as paper
from refdp.papers.published import inprivate as printed
from refdp.privacy.events import Relation


def selection_loss(up: Any, down: Any, e: Any) -> Any:
    """Loss of Eq. 10's choice of the candidate that changes by `up`, 1000 others change by `down`, equal before."""
    sensitivity = printed.gain_sensitivity_as_published()
    high, low = (printed.split_exponent(u, e, sensitivity) for u in (up, down))
    return high - log((exp(high) + 1000 * exp(low)) / 1001)


def added_loss(e: Any) -> Any:
    """Residuals within 2 (log loss): 2 joins, alone by one candidate, among 10^4 residuals of -2 by the others."""
    n = MANY
    return selection_loss(4 * alone(n * n - n, n * n + n, 1), 4 * plain_change(-n, n, n * n, n * n, 1), e)


def replaced_loss(e: Any) -> Any:
    """Residuals within 2: -2 becomes 2."""
    n = MANY
    first = plain_change(-n, n, n, n, 1) - plain_change(-n, n, n, n, -1)
    second = plain_change(n, n, -n, n, 1) - plain_change(n, n, -n, n, -1)
    return selection_loss(4 * second, 4 * first, e)


def revealed(values: Sequence[int], neighbour: Sequence[int]) -> Mapping[str, Any] | None:
    """Split values that one data set can output and its neighbour cannot."""
    ours, theirs = ({*printed.down_sample([Fraction(v) for v in column])} for column in (values, neighbour))
    if ours <= theirs:
        return None
    return {
        "feature's values": ", ".join(map(str, values)),
        "on the neighbour": ", ".join(map(str, neighbour)),
        "candidates": ", ".join(map(str, sorted(ours))),
        "candidates on the neighbour": ", ".join(map(str, sorted(theirs))),
        "shows": "a split at a candidate that the neighbour does not have: infinite loss",
    }


def selection(suffix: str, relation: str, kind: Relation, words: str) -> Proposition:
    """What the range of the gain allows."""
    return Proposition(
        f"inprivate/eq-10-repaired{suffix}",
        "Eq. 10, repaired",
        f"With residuals within [-B, B], choosing a split with probability ~ exp(epsilon gain / ({words} B^2)) is "
        "epsilon-DP for all nodes of a level.",
        relation,
        about=(printed.split_exponent, paper.gain_range),
        evidence=(
            exponent_costs(lambda u, e, s: printed.split_exponent(u, e, s), lambda B: paper.gain_range(B, kind)),
        ),
        uses=(f"inprivate/gain-range{suffix}", "composition/exponential-range"),
    )


PROPOSITIONS = (
    Proposition(
        "inprivate/eq-10",
        "Eq. 10",
        "Choosing a split of log loss's residuals with Delta = 4 is epsilon-DP.",
        ADD_REMOVE,
        about=(paper.gain, printed.split_exponent, printed.gain_sensitivity_as_published),
        evidence=(BoundedCounterexample(Enclosed({"e": (Fraction(1, 10), 1)}, added_loss, lambda e: e), {"e": 1}),),
        argument="Residuals near 2 have a range near 16: the loss tends to 2 epsilon. Gains before are made equal.",
        repaired_by="inprivate/eq-10-repaired",
    ),
    Proposition(
        "inprivate/eq-10-replace-one",
        "Eq. 10",
        "Choosing a split of log loss's residuals with Delta = 4 is epsilon-DP.",
        REPLACE_ONE,
        about=(paper.gain, printed.split_exponent, printed.gain_sensitivity_as_published),
        evidence=(BoundedCounterexample(Enclosed({"e": (Fraction(1, 10), 1)}, replaced_loss, lambda e: e), {"e": 1}),),
        argument="Residuals near 2 have a range near 32: the loss tends to 4 epsilon. Gains before are made equal.",
        repaired_by="inprivate/eq-10-repaired-replace-one",
    ),
    selection("", ADD_REMOVE, AR, "4"),
    selection("-replace-one", REPLACE_ONE, RO, "8"),
    *(
        Proposition(
            f"inprivate/eq-10-unit-residuals{suffix}",
            "Eq. 10",
            "Choosing a split of residuals within [-1, 1], as at the first tree, with Delta = 4 is epsilon-DP.",
            relation,
            about=(printed.split_exponent, paper.gain_range, printed.gain_sensitivity_as_published),
            evidence=(_published,),
            uses=(f"inprivate/gain-range{suffix}", "composition/exponential-range"),
        )
        for suffix, relation, _published in (
            (
                "",
                ADD_REMOVE,
                Proved(
                    AtMost(
                        (Real("e"),),
                        lambda e: printed.split_exponent(
                            paper.gain_range(1, AR), e, Fraction(printed.gain_sensitivity_as_published())
                        ),
                        lambda e: e / 2,
                        lambda e: e > 0,
                    ),
                    tight=Tight(
                        "epsilon/2", "for every epsilon", lambda: dict[str, Any](), {"e": 1}, given=lambda e: e > 0
                    ),
                    label="exponent over the range",
                ),
            ),
            (
                "-replace-one",
                REPLACE_ONE,
                Proved(
                    AtMost(
                        (Real("e"),),
                        lambda e: printed.split_exponent(
                            paper.gain_range(1, RO), e, Fraction(printed.gain_sensitivity_as_published())
                        ),
                        lambda e: e,
                        lambda e: e > 0,
                    ),
                    tight=Tight(
                        "epsilon", "for every epsilon", lambda: dict[str, Any](), {"e": 1}, given=lambda e: e > 0
                    ),
                    label="exponent over the range",
                ),
            ),
        )
    ),
    Proposition(
        "inprivate/down-sampling-size",
        "section V-A",
        "Down-sampling reduces a domain of n values, n a multiple of 3, to n/3.",
        about=(printed.down_sample,),
        evidence=(
            Identity("n", lambda n: (3 * n) / 3, lambda n: n, label="each three values give one mean"),
            Finite(
                lambda: range(1, 31),
                lambda n: len(printed.down_sample([Fraction(v) for v in range(3 * n)])) == n,
                "the code, on 3 to 90 values",
            ),
        ),
    ),
    Proposition(
        "inprivate/theorem-7",
        "Theorem 7; Alg. 1, l. 3",
        "Algorithm 1, with down-sampled values as split candidates, is epsilon-DP.",
        ADD_REMOVE,
        about=(printed.down_sample,),
        evidence=(Exhibit(lambda: revealed((0, 3, 6), (0, 3)), "neighbours with different candidates"),),
        argument="Of the means themselves the paper says that they 'can reduce the risk of privacy leakage', no more. "
        "Theorem 7 is refuted again by Eq. 10 and 11 (or 15) after the first tree.",
        repaired_by="inprivate/theorem-7-repaired",
    ),
    Proposition(
        "inprivate/theorem-7-replace-one",
        "Theorem 7; Alg. 1, l. 3",
        "Algorithm 1, with down-sampled values as split candidates, is epsilon-DP.",
        REPLACE_ONE,
        about=(printed.down_sample,),
        evidence=(Exhibit(lambda: revealed((0, 0, 3), (0, 0, 6)), "neighbours with different candidates"),),
        argument="Of the means themselves the paper says that they 'can reduce the risk of privacy leakage', no more. "
        "Theorem 7 is refuted again by Eq. 11 (or 15) at any tree and by Eq. 10 after the first.",
        repaired_by="inprivate/theorem-7-repaired-replace-one",
    ),
    Proposition(
        "inprivate/public-candidates",
        "section V-A, repaired",
        "Candidates made from public bounds alone are the same on all data sets and cost nothing.",
        evidence=(Follows("a constant does not change between neighbours"),),
    ),
)
