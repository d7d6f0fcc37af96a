"""DPBoost (Li, Wu, Wen, He, AAAI 2020): its statements."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.evidence import Counterexample, Proved
from proofs.proposition import ADD_REMOVE, Proposition
from proofs.statements import AtMost, Count, Real, both
from proofs.tightness import Tight
from refdp.papers import dpboost
from refdp.papers.dpboost import child_gain, leaf_value

COUNT, SUM, RECORD, LAMBDA = Count("n"), Real("G"), Real("g"), Real("l")
ONE_CHILD = (COUNT, SUM, RECORD, LAMBDA)


def one_child(n: Any, G: Any, g: Any, l: Any) -> tuple[Any, ...]:
    """n records of gradients within [-1, 1] that sum to G, one more of gradient g, lambda > 0."""
    return l > 0, -1 <= g, g <= 1, -n <= G, G <= n


def gain_change(n: Any, G: Any, g: Any, l: Any) -> Any:
    """Change of Eq. 3 when a record of gradient g joins a child; the other child cancels."""
    return child_gain(G + g, n + 1, l) - child_gain(G, n, l)


PROPOSITIONS = (
    Proposition(
        "dpboost/lemma-1",
        "Lemma 1",
        "The gain's sensitivity is at most (3l+2)/((l+1)(l+2)) g*^2.",
        ADD_REMOVE,
        about=(child_gain, dpboost.gain_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost(
                    ONE_CHILD,
                    quantity=lambda n, G, g, l: both(gain_change(n, G, g, l)),
                    bound=lambda l: dpboost.gain_sensitivity_as_published(1, l),
                    given=one_child,
                ),
                at={"n": 10, "G": -10, "g": 1, "l": Fraction(1, 10)},
            ),
        ),
        repaired_by="dpboost/gain-change",
    ),
    Proposition(
        "dpboost/gain-change",
        "Lemma 1, repaired",
        "Adding a record changes the gain by less than 3 g*^2 in absolute value.",
        ADD_REMOVE,
        about=(child_gain, dpboost.gain_change_lower),
        evidence=(
            Proved(
                AtMost(
                    ONE_CHILD,
                    quantity=lambda n, G, g, l: both(gain_change(n, G, g, l)),
                    bound=lambda l: -dpboost.gain_change_lower(1),
                    given=one_child,
                ),
                tight=Tight(
                    "3 g*^2",
                    "as n grows, for n records of gradient -g* and a new one of g*",
                    at=lambda k: {"n": k, "G": -k, "g": 1},
                    near={"n": 10**5, "G": -(10**5), "g": 1, "l": 1},
                    given=lambda l: l > 0,
                    limit=True,
                ),
            ),
        ),
    ),
    Proposition(
        "dpboost/lemma-2",
        "Lemma 2",
        "The leaf value's sensitivity is at most g*/(1+l).",
        ADD_REMOVE,
        about=(leaf_value,),
        evidence=(
            Proved(
                AtMost(
                    ONE_CHILD,
                    quantity=lambda n, G, g, l: both(leaf_value(G + g, n + 1, l) - leaf_value(G, n, l)),
                    bound=lambda l: 1 / (1 + l),
                    given=one_child,
                ),
                tight=Tight(
                    "g*/(1+l)",
                    "at n = 0, |g| = g*, for every l > 0",
                    at=lambda: {"n": 0, "G": 0, "g": 1},
                    near={"n": 0, "G": 0, "g": 1, "l": 1},
                    given=lambda l: l > 0,
                ),
            ),
        ),
    ),
)
