"""DP-XGBoost: sensitivity and range of the gain, split selection, stopping."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs.checker.enclosures import Enclosed
from proofs.checker.evidence import BoundedCounterexample, Counterexample, Exhibit, Follows, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, Real, within
from proofs.checker.tightness import Tight
from proofs.composition.releases import exponent_costs
from refdp.data.numbers import exp, log
from refdp.papers import dpxgboost as paper
from refdp.papers.published import dpxgboost as printed
from refdp.privacy.events import Relation

AR, RO = Relation.ADD_REMOVE, Relation.REPLACE_ONE
TENTH = Fraction(1, 10)
COUNT, SUM, RECORD, OTHER = Count("n"), Real("G"), Real("g"), Real("other")
LAMBDA, BOUND = Real("lam"), Real("B")
CHILD = (COUNT, SUM, RECORD, LAMBDA, BOUND)


def one_sided(B: Any, **changes: Any) -> tuple[Any, ...]:
    """Each is what one added record can change: more than -3 g*^2, at most g*^2."""
    return B > 0, *(side for change in changes.values() for side in (change > -3 * B * B, change <= B * B))


def child(n: Any, G: Any, g: Any, lam: Any, B: Any) -> tuple[Any, ...]:
    """n records of gradients within [-B, B] that sum to G, one more of gradient g, lambda > 0."""
    return lam > 0, B > 0, *within(g, B), *within(G, n * B)


def change(n: Any, G: Any, g: Any, lam: Any) -> Any:
    """Change of one child's part of the gain when a record of gradient g joins it."""
    return paper.child_gain(G + g, n + 1, lam) - paper.child_gain(G, n, lam)


def extreme(n: Any, lam: Any, B: Any) -> tuple[Any, Any]:
    """The changes when a record of gradient B joins n records of gradient B, and n records of gradient -B."""
    return change(n, n * B, B, lam), change(n, -n * B, B, lam)


def positive(lam: Any, B: Any) -> tuple[Any, ...]:
    """lambda and g* are positive."""
    return lam > 0, B > 0


def published_replacement_loss(e: Any) -> Any:
    """Loss of Eq. 5's selection when a record of gradient 1 becomes -1; 1000 candidates oppose the chosen one.

    The chosen split puts the record among 10000 records of gradient 1, all others among 10000 of gradient -1.
    """
    sensitivity = printed.gain_sensitivity_as_published(1)
    up, down = (printed.split_exponent(u, e, sensitivity) for u in extreme(Fraction(10**4), TENTH, Fraction(1)))
    rest, rest_other = 1000 * exp(down), 1000 * exp(up)
    return up - down + log((exp(down) + rest_other) / (exp(up) + rest))


def stopped(threshold: Fraction) -> Mapping[str, Any] | None:
    """A node that is split, and is not without one of its records, because the gain falls below a threshold."""
    full = paper.gain(Fraction(-2), 2, Fraction(2), 2, TENTH)
    less = paper.gain(Fraction(-2), 2, Fraction(1), 1, TENTH)
    if not less < threshold <= full:
        return None
    return {
        "gradients on the left": "-1, -1",
        "gradients on the right": "1, 1",
        "neighbour": "without one record on the right",
        "gains": f"{full} and {less}",
        "shows": f"split on one, leaf on the other for the threshold {threshold}: infinite loss",
    }


def replaced_stop(threshold: Fraction) -> Mapping[str, Any] | None:
    """The same with a record replaced: gradient 1 becomes -1."""
    full = paper.gain(Fraction(-2), 2, Fraction(2), 2, TENTH)
    other = paper.gain(Fraction(-2), 2, Fraction(0), 2, TENTH)
    if not other < threshold <= full:
        return None
    return {
        "gradients on the left": "-1, -1",
        "gradients on the right": "1, 1",
        "neighbour": "1, -1 on the right",
        "gains": f"{full} and {other}",
        "shows": f"split on one, leaf on the other for the threshold {threshold}: infinite loss",
    }


def repaired_selection(suffix: str, relation: str, kind: Relation, constant: str) -> Proposition:
    """The exponent that the range of the gain allows."""
    return Proposition(
        f"dpxgboost/split-selection-repaired{suffix}",
        "section 4.2, repaired",
        f"Choosing a split with probability proportional to exp(epsilon G / ({constant} g*^2)) is epsilon-DP.",
        relation,
        about=(printed.split_exponent, paper.gain_range),
        evidence=(
            exponent_costs(lambda u, e, s: printed.split_exponent(u, e, s), lambda B: paper.gain_range(B, kind)),
        ),
        uses=(f"dpxgboost/gain-range{suffix}", "composition/exponential-range"),
    )


PROPOSITIONS = (
    Proposition(
        "dpxgboost/gain-change-upper",
        "Eq. 5, one-sided",
        "Adding a record raises a candidate's gain by at most g*^2.",
        ADD_REMOVE,
        about=(paper.child_gain,),
        evidence=(
            Proved(
                AtMost(CHILD, change, lambda B: B * B, child),
                tight=Tight(
                    "g*^2",
                    "as n grows, for n + 1 records of gradient g*",
                    at=lambda k, B: {"n": k, "G": k * B, "g": B},
                    near={"n": 10**5, "G": 10**5, "g": 1, "lam": 1, "B": 1},
                    given=positive,
                    limit=True,
                ),
            ),
        ),
    ),
    Proposition(
        "dpxgboost/eq-5",
        "Eq. 5",
        "The gain's sensitivity is 3 g*^2.",
        ADD_REMOVE,
        about=(paper.child_gain, printed.gain_sensitivity_as_published),
        evidence=(
            Proved(
                AtMost(
                    CHILD,
                    lambda n, G, g, lam: abs(change(n, G, g, lam)),
                    lambda B: printed.gain_sensitivity_as_published(B),
                    child,
                ),
                tight=Tight(
                    "3 g*^2",
                    "as n grows, for n records of gradient -g* and a new one of g*",
                    at=lambda k, B: {"n": k, "G": -k * B, "g": B},
                    near={"n": 10**5, "G": -(10**5), "g": 1, "lam": 1, "B": 1},
                    given=positive,
                    limit=True,
                ),
            ),
        ),
        argument="A record joins one child; the other child's term cancels.",
    ),
    Proposition(
        "dpxgboost/eq-5-replace-one",
        "Eq. 5",
        "The gain's sensitivity is 3 g*^2.",
        REPLACE_ONE,
        about=(paper.child_gain, printed.gain_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost(
                    (*CHILD, OTHER),
                    lambda n, G, g, other, lam: abs(change(n, G, g, lam) - change(n, G, other, lam)),
                    lambda B: printed.gain_sensitivity_as_published(B),
                    lambda n, G, g, other, lam, B: (*child(n, G, g, lam, B), *within(other, B)),
                ),
                {"n": 10, "G": 10, "g": 1, "other": -1, "lam": TENTH, "B": 1},
            ),
        ),
        repaired_by="dpxgboost/gain-sensitivity-replace-one",
    ),
    Proposition(
        "dpxgboost/gain-sensitivity-replace-one",
        "Eq. 5, repaired",
        "Replacing a record changes a candidate's gain by less than 4 g*^2, whether it stays in its child or moves.",
        REPLACE_ONE,
        about=(paper.child_gain, printed.gain_sensitivity),
        evidence=(
            Proved(
                AtMost(
                    (*CHILD, OTHER),
                    lambda n, G, g, other, lam: abs(change(n, G, g, lam) - change(n, G, other, lam)),
                    lambda B: printed.gain_sensitivity(B, RO),
                    lambda n, G, g, other, lam, B: (*child(n, G, g, lam, B), *within(other, B)),
                ),
                tight=Tight(
                    "4 g*^2",
                    "as n grows, for n records of gradient g* beside one that turns from -g* to g*",
                    at=lambda k, B: {"n": k, "G": k * B, "g": B, "other": -B},
                    near={"n": 10**5, "G": 10**5, "g": 1, "other": -1, "lam": 1, "B": 1},
                    given=positive,
                    limit=True,
                ),
                label="in the same child",
            ),
            Proved(
                AtMost(
                    (Real("left"), Real("joined"), BOUND),
                    lambda left, joined: abs(joined - left),
                    lambda B: printed.gain_sensitivity(B, RO),
                    one_sided,
                    strict=True,
                ),
                label="moved to the other child",
            ),
        ),
        uses=("dpxgboost/gain-change-upper", "dpxgboost/eq-5"),
    ),
    Proposition(
        "dpxgboost/gain-range",
        "Eq. 5, range form",
        "When a record is added, the changes of a node's candidates lie within an interval of length 4 g*^2.",
        ADD_REMOVE,
        about=(paper.child_gain, paper.gain_range),
        evidence=(
            Proved(
                AtMost(
                    (COUNT, LAMBDA, BOUND),
                    lambda n, lam, B: extreme(n, lam, B)[0] - extreme(n, lam, B)[1],
                    lambda B: paper.gain_range(B, AR),
                    positive,
                ),
                tight=Tight(
                    "4 g*^2",
                    "as n grows: one candidate puts the record among n of its own gradient g*, another among n of -g*",
                    at=lambda k: {"n": k},
                    near={"n": 10**5, "lam": 1, "B": 1},
                    given=positive,
                    limit=True,
                ),
                label="two opposite candidates",
            ),
            Proved(
                AtMost(
                    (Real("first"), Real("second"), BOUND),
                    lambda first, second: first - second,
                    lambda B: paper.gain_range(B, AR),
                    one_sided,
                    strict=True,
                ),
                label="any two candidates",
            ),
        ),
        uses=("dpxgboost/gain-change-upper", "dpxgboost/eq-5"),
    ),
    Proposition(
        "dpxgboost/gain-range-replace-one",
        "Eq. 5, range form",
        "When a record is replaced, the ranges of the changes, summed over the nodes of a level, are at most 8 g*^2.",
        REPLACE_ONE,
        about=(paper.child_gain, paper.gain_range),
        evidence=(
            Proved(
                AtMost(
                    (COUNT, LAMBDA, BOUND),
                    lambda n, lam, B: 2 * (extreme(n, lam, B)[0] - extreme(n, lam, B)[1]),
                    lambda B: paper.gain_range(B, RO),
                    positive,
                ),
                tight=Tight(
                    "8 g*^2",
                    "as n grows: gradient -g* becomes g*, one candidate keeps it among n of g*, another among n of -g*",
                    at=lambda k: {"n": k},
                    near={"n": 10**5, "lam": 1, "B": 1},
                    given=positive,
                    limit=True,
                ),
                label="two opposite candidates of one node, or of two nodes",
            ),
            Proved(
                AtMost(
                    (Real("a"), Real("b"), Real("c"), Real("d"), BOUND),
                    lambda a, b, c, d: (a - b) - (c - d),
                    lambda B: paper.gain_range(B, RO),
                    one_sided,
                    strict=True,
                ),
                label="one record leaves (b, d) and one arrives (a, c), any two candidates",
            ),
        ),
        uses=("dpxgboost/gain-change-upper", "dpxgboost/eq-5"),
    ),
    Proposition(
        "dpxgboost/split-selection",
        "section 4.2, after Eq. 5",
        "Choosing a split with probability proportional to exp(epsilon G / (6 g*^2)) is epsilon-DP.",
        ADD_REMOVE,
        about=(printed.split_exponent, paper.gain_range, printed.gain_sensitivity_as_published),
        evidence=(
            Proved(
                AtMost(
                    (Real("e"), BOUND),
                    lambda e, B: printed.split_exponent(
                        paper.gain_range(B, AR), e, printed.gain_sensitivity_as_published(B)
                    ),
                    lambda e: 2 * e / 3,
                    lambda e, B: (e > 0, B > 0),
                ),
                tight=Tight(
                    "2/3 epsilon",
                    "for all epsilon and g*",
                    at=lambda: dict[str, Any](),
                    near={"e": 1, "B": 1},
                    given=lambda e, B: (e > 0, B > 0),
                ),
                label="exponent over the range",
            ),
        ),
        uses=("dpxgboost/gain-range", "composition/exponential-range"),
        argument="Two thirds of epsilon suffice: the exponent epsilon G / (4 g*^2) costs epsilon.",
    ),
    Proposition(
        "dpxgboost/split-selection-replace-one",
        "section 4.2, after Eq. 5",
        "Choosing a split with probability proportional to exp(epsilon G / (6 g*^2)) is epsilon-DP.",
        REPLACE_ONE,
        about=(printed.split_exponent, paper.child_gain, printed.gain_sensitivity_as_published),
        evidence=(
            BoundedCounterexample(
                Enclosed({"e": (Fraction(1, 100), 1)}, published_replacement_loss, lambda e: e), {"e": 1}
            ),
        ),
        argument="The loss tends to 8/6 epsilon.",
        repaired_by="dpxgboost/split-selection-repaired-replace-one",
    ),
    repaired_selection("", ADD_REMOVE, AR, "4"),
    repaired_selection("-replace-one", REPLACE_ONE, RO, "8"),
    *(
        Proposition(
            f"dpxgboost/default-direction{suffix}",
            "section 4.2",
            "Trying missing values on both sides and letting the choice name the side costs no more.",
            name,
            evidence=(Follows("with a side, each candidate is one way to part the node's records in two children"),),
            uses=(f"dpxgboost/gain-range{suffix}",),
        )
        for suffix, name in (("", ADD_REMOVE), ("-replace-one", REPLACE_ONE))
    ),
    Proposition(
        "dpxgboost/gain-stop",
        "section 3 and 4.3",
        "A node may be made a leaf because its largest gain is below a constant, at no cost.",
        ADD_REMOVE,
        about=(paper.gain,),
        evidence=(Exhibit(lambda: stopped(Fraction(3)), "neighbours with trees of different shape"),),
    ),
    Proposition(
        "dpxgboost/gain-stop-replace-one",
        "section 3 and 4.3",
        "A node may be made a leaf because its largest gain is below a constant, at no cost.",
        REPLACE_ONE,
        about=(paper.gain,),
        evidence=(Exhibit(lambda: replaced_stop(Fraction(3)), "neighbours with trees of different shape"),),
    ),
)
