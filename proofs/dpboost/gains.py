"""DPBoost (Li, Wu, Wen, He, AAAI 2020): gains, leaf values and their sensitivities.

g* = 1 in the inequalities; `dpboost/scaling` carries them to every g*.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Proved, Reached
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, ForAll, Real, both
from proofs.checker.tightness import Tight
from refdp.papers import dpboost
from refdp.papers.dpboost import child_gain, gain, leaf_value
from refdp.papers.published import dpboost as printed
from refdp.privacy.events import Relation

LAMBDA = Real("lam")
CHILD = (Count("n"), Real("G"), Real("g"), LAMBDA)
TWO_CHILDREN = (Count("n"), Real("G"), Real("g"), Count("m"), Real("H"), Real("h"), LAMBDA)
BIG = 10**5


def child(n: Any, G: Any, g: Any, lam: Any) -> tuple[Any, ...]:
    """n records of gradients within [-1, 1] that sum to G, one more of gradient g, lambda > 0."""
    return lam > 0, g >= -1, g <= 1, G + n >= 0, G - n <= 0


def two_children(n: Any, G: Any, g: Any, m: Any, H: Any, h: Any, lam: Any) -> tuple[Any, ...]:
    """Two nodes with a record each that comes or goes."""
    return *child(n, G, g, lam), *child(m, H, h, lam)


def gain_change(n: Any, G: Any, g: Any, lam: Any) -> Any:
    """Change of one child's part of the gain when a record of gradient g joins it."""
    return child_gain(G + g, n + 1, lam) - child_gain(G, n, lam)


def leaf_change(n: Any, G: Any, g: Any, lam: Any) -> Any:
    """Change of a leaf value when a record of gradient g joins it."""
    return leaf_value(G + g, n + 1, lam) - leaf_value(G, n, lam)


def moved_gain(n: Any, G: Any, g: Any, m: Any, H: Any, h: Any, lam: Any) -> Any:
    """Change of Eq. 3 when a record of gradient g in the left child is replaced by one of h in the right child."""
    return gain(G, n, H + h, m + 1, lam) - gain(G + g, n + 1, H, m, lam)


def moved_leaves(n: Any, G: Any, g: Any, m: Any, H: Any, h: Any, lam: Any) -> tuple[Any, ...]:
    """The sum of two leaves' absolute changes, with every choice of signs."""
    first, second = leaf_change(n, G, g, lam), leaf_change(m, H, h, lam)
    return first + second, first - second, -first + second, -first - second


ALIKE = {"n": BIG, "G": BIG, "g": 1, "lam": 1}
UNLIKE = {"n": BIG, "G": -BIG, "g": 1, "lam": 1}
JOINS_UNLIKE = Tight(
    "3 g*^2",
    "for every lambda > 0, as n grows, where a record of gradient g* joins n of -g*",
    at=lambda k: {"n": k, "G": -k, "g": 1},
    near=UNLIKE,
    given=lambda lam: lam > 0,
    limit=True,
)
"""Where the gain falls most."""

PROPOSITIONS = (
    Proposition(
        "dpboost/scaling",
        "section 3.1",
        "Multiplying all gradients and the clip by g* multiplies gains by g*^2, leaf values by g*, and every bound "
        "alike.",
        about=(
            *(child_gain, leaf_value, printed.gain_sensitivity_as_published, dpboost.gain_range),
            *(printed.leaf_sensitivity_as_published, dpboost.leaf_sensitivity, dpboost.leaf_clip),
        ),
        evidence=(
            Proved(
                ForAll(
                    (Real("n"), Real("G"), LAMBDA, Real("b"), Real("c"), Real("eta")),
                    given=lambda n, lam, b: (n >= 0, lam > 0, b > 0),
                    holds=lambda n, G, lam, b, c, eta: (
                        child_gain(b * G, n, lam) == b * b * child_gain(G, n, lam),
                        leaf_value(b * G, n, lam) == b * leaf_value(G, n, lam),
                        printed.gain_sensitivity_as_published(b, lam)
                        == b * b * printed.gain_sensitivity_as_published(1, lam),
                        dpboost.gain_range(b, Relation.ADD_REMOVE)
                        == b * b * dpboost.gain_range(1, Relation.ADD_REMOVE),
                        dpboost.gain_range(b, Relation.REPLACE_ONE)
                        == b * b * dpboost.gain_range(1, Relation.REPLACE_ONE),
                        dpboost.leaf_clip(b, eta, 3) == b * dpboost.leaf_clip(1, eta, 3),
                    ),
                )
            ),
            Proved(
                ForAll(
                    (LAMBDA, Real("b"), Real("c")),
                    given=lambda lam, b, c: (lam > 0, b > 0, c > 0),
                    holds=lambda lam, b, c: (
                        dpboost.leaf_sensitivity(b, lam, b * c, Relation.ADD_REMOVE)
                        == b * dpboost.leaf_sensitivity(1, lam, c, Relation.ADD_REMOVE)
                    ),
                ),
                label="leaf sensitivity",
            ),
        ),
    ),
    Proposition(
        "dpboost/lemma-1",
        "Lemma 1, Corollary 1",
        "Adding or removing a record changes the gain by at most (3 lambda + 2)/((lambda + 1)(lambda + 2)) g*^2.",
        ADD_REMOVE,
        about=(child_gain, printed.gain_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost(
                    CHILD,
                    quantity=lambda n, G, g, lam: both(gain_change(n, G, g, lam)),
                    bound=lambda lam: printed.gain_sensitivity_as_published(1, lam),
                    given=child,
                ),
                at={"n": 10, "G": -10, "g": 1, "lam": Fraction(1, 10)},
            ),
        ),
        argument="Eq. 10 takes the largest |h| at G = n g*; at G = -n g* it is three times as large. And at n = 0 "
        "the term lambda^2/((n+lambda)(n+lambda+1)) is largest, not smallest. Corollary 1 repeats the bound with g_l*: "
        "filtering looks at one record's gradient, so that neighbours stay neighbours.",
        repaired_by="dpboost/gain-sensitivity",
    ),
    Proposition(
        "dpboost/gain-sensitivity",
        "Lemma 1, repaired",
        "Adding or removing a record changes the gain by less than 3 g*^2.",
        ADD_REMOVE,
        about=(child_gain, dpboost.gain_change_lower),
        evidence=(
            Proved(
                AtMost(
                    CHILD,
                    quantity=lambda n, G, g, lam: both(gain_change(n, G, g, lam)),
                    bound=lambda lam: -dpboost.gain_change_lower(1) + 0 * lam,
                    given=child,
                ),
                tight=JOINS_UNLIKE,
            ),
        ),
        uses=("dpboost/scaling",),
    ),
    Proposition(
        "dpboost/gain-change-upper",
        "Lemma 1, one-sided",
        "Adding a record raises the gain by less than g*^2.",
        ADD_REMOVE,
        about=(child_gain, dpboost.gain_change_upper),
        evidence=(
            Proved(
                AtMost(
                    CHILD,
                    quantity=gain_change,
                    bound=lambda lam: dpboost.gain_change_upper(1) + 0 * lam,
                    given=child,
                ),
                tight=Tight(
                    "g*^2",
                    "for every lambda > 0, as n grows, where a record of gradient g* joins n of g*",
                    at=lambda k: {"n": k, "G": k, "g": 1},
                    near=ALIKE,
                    given=lambda lam: lam > 0,
                    limit=True,
                ),
            ),
        ),
        uses=("dpboost/scaling",),
    ),
    Proposition(
        "dpboost/gain-change-lower",
        "Lemma 1, one-sided",
        "Adding a record lowers the gain by less than 3 g*^2.",
        ADD_REMOVE,
        about=(child_gain, dpboost.gain_change_lower),
        evidence=(
            Proved(
                AtMost(
                    CHILD,
                    quantity=lambda n, G, g, lam: -gain_change(n, G, g, lam),
                    bound=lambda lam: -dpboost.gain_change_lower(1) + 0 * lam,
                    given=child,
                ),
                tight=JOINS_UNLIKE,
            ),
        ),
        uses=("dpboost/scaling",),
    ),
    Proposition(
        "dpboost/gain-range-add-remove",
        "Lemma 1, as the exponential mechanism needs it",
        "Over the candidate splits of a level, the largest minus the smallest change of the gain is below 4 g*^2, "
        "summed over the nodes.",
        ADD_REMOVE,
        about=(gain, child_gain, dpboost.gain_range),
        evidence=(
            Proved(
                ForAll(
                    (*CHILD, Count("m"), Real("H")),
                    given=lambda n, G, g, lam, m, H: (*child(n, G, g, lam), H + m >= 0, H - m <= 0),
                    holds=lambda n, G, g, lam, m, H: (
                        gain(G + g, n + 1, H, m, lam) - gain(G, n, H, m, lam) == gain_change(n, G, g, lam),
                        gain(H, m, G + g, n + 1, lam) - gain(H, m, G, n, lam) == gain_change(n, G, g, lam),
                    ),
                ),
                label="only the record's own child changes",
            ),
            Proved(
                ForAll(
                    (Real("x"), Real("y")),
                    given=lambda x, y: (
                        *(x < dpboost.gain_change_upper(1), y < dpboost.gain_change_upper(1)),
                        *(x > dpboost.gain_change_lower(1), y > dpboost.gain_change_lower(1)),
                    ),
                    holds=lambda x, y: x - y < dpboost.gain_range(1, Relation.ADD_REMOVE),
                ),
                label="difference of two candidates' changes",
            ),
            Reached(
                AtMost(
                    (Count("n", start=1), LAMBDA),
                    quantity=lambda n, lam: (
                        (gain(n + 1, n + 1, -n, n, lam) - gain(n, n, -n, n, lam))
                        - (gain(1 - n, n + 1, n, n, lam) - gain(-n, n, n, n, lam))
                    ),
                    bound=lambda lam: dpboost.gain_range(1, Relation.ADD_REMOVE) + 0 * lam,
                    given=lambda lam: lam > 0,
                ),
                Tight(
                    "4 g*^2",
                    "for every lambda > 0, as n grows, on a node with n records of g* and n of -g*, where a record "
                    "of g* joins its like under one candidate and the others under another",
                    at=lambda k: {"n": k},
                    near={"n": BIG, "lam": 1},
                    given=lambda lam: lam > 0,
                    limit=True,
                ),
            ),
        ),
        uses=("dpboost/gain-change-upper", "dpboost/gain-change-lower", "dpboost/scaling"),
        argument="A record sits in one node of the level, whatever the candidate; the other rows do not change.",
    ),
    Proposition(
        "dpboost/lemma-1-replace-one",
        "Lemma 1, Corollary 1",
        "Replacing a record changes the gain by at most (3 lambda + 2)/((lambda + 1)(lambda + 2)) g*^2.",
        REPLACE_ONE,
        about=(gain, printed.gain_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost(
                    TWO_CHILDREN,
                    quantity=lambda n, G, g, m, H, h, lam: both(moved_gain(n, G, g, m, H, h, lam)),
                    bound=lambda lam: printed.gain_sensitivity_as_published(1, lam),
                    given=two_children,
                ),
                at={"n": 10, "G": -10, "g": 1, "m": 10, "H": 10, "h": 1, "lam": Fraction(1, 10)},
            ),
        ),
        repaired_by="dpboost/gain-sensitivity-replace-one",
    ),
    Proposition(
        "dpboost/gain-sensitivity-replace-one",
        "Lemma 1, repaired",
        "Replacing a record changes the gain by less than 4 g*^2.",
        REPLACE_ONE,
        about=(gain, child_gain, dpboost.gain_change_upper, dpboost.gain_change_lower),
        evidence=(
            Proved(
                ForAll(
                    TWO_CHILDREN,
                    given=two_children,
                    holds=lambda n, G, g, m, H, h, lam: (
                        moved_gain(n, G, g, m, H, h, lam) == gain_change(m, H, h, lam) - gain_change(n, G, g, lam)
                    ),
                ),
                label="one child loses a record, the other gains one",
            ),
            Proved(
                ForAll(
                    (Real("x"), Real("y")),
                    given=lambda x, y: (
                        *(x < dpboost.gain_change_upper(1), y < dpboost.gain_change_upper(1)),
                        *(x > dpboost.gain_change_lower(1), y > dpboost.gain_change_lower(1)),
                    ),
                    holds=lambda x, y: (x - y < 4, y - x < 4),
                ),
                label="difference of two changes; the same child is the case of equal children without the record",
            ),
            Reached(
                AtMost(
                    TWO_CHILDREN,
                    quantity=lambda n, G, g, m, H, h, lam: both(moved_gain(n, G, g, m, H, h, lam)),
                    bound=lambda lam: 4 + 0 * lam,
                    given=two_children,
                ),
                Tight(
                    "4 g*^2",
                    "for every lambda > 0, as n grows, where a record of g* leaves n of -g* and one of g* joins n of "
                    "g*",
                    at=lambda k: {"n": k, "G": -k, "g": 1, "m": k, "H": k, "h": 1},
                    near={"n": BIG, "G": -BIG, "g": 1, "m": BIG, "H": BIG, "h": 1, "lam": 1},
                    given=lambda lam: lam > 0,
                    limit=True,
                ),
            ),
        ),
        uses=("dpboost/gain-change-upper", "dpboost/gain-change-lower", "dpboost/scaling"),
    ),
    Proposition(
        "dpboost/gain-range-replace-one",
        "Lemma 1, as the exponential mechanism needs it",
        "Replacing a record: the largest minus the smallest change of the gain is below 8 g*^2, summed over the nodes.",
        REPLACE_ONE,
        about=(gain, child_gain, dpboost.gain_range),
        evidence=(
            Proved(
                ForAll(
                    (Real("x"), Real("y"), Real("u"), Real("v")),
                    given=lambda x, y, u, v: (
                        *(x - y < dpboost.gain_range(1, Relation.ADD_REMOVE), y - x < 4),
                        *(u - v < dpboost.gain_range(1, Relation.ADD_REMOVE), v - u < 4),
                    ),
                    holds=lambda x, y, u, v: (x - u) - (y - v) < dpboost.gain_range(1, Relation.REPLACE_ONE),
                ),
                label="x, y: the added record's changes under two candidates; u, v: the removed record's",
            ),
            Reached(
                AtMost(
                    (Count("n", start=1), LAMBDA),
                    quantity=lambda n, lam: (
                        (gain(n + 1, n + 1, -n, n, lam) - gain(n, n, 1 - n, n + 1, lam))
                        - (gain(1 - n, n + 1, n, n, lam) - gain(-n, n, n + 1, n + 1, lam))
                    ),
                    bound=lambda lam: dpboost.gain_range(1, Relation.REPLACE_ONE) + 0 * lam,
                    given=lambda lam: lam > 0,
                ),
                Tight(
                    "8 g*^2",
                    "for every lambda > 0, as n grows, where under one candidate the record of g* moves from the -g* "
                    "to the g*, under another the other way",
                    at=lambda k: {"n": k},
                    near={"n": BIG, "lam": 1},
                    given=lambda lam: lam > 0,
                    limit=True,
                ),
            ),
        ),
        uses=("dpboost/gain-range-add-remove", "composition/two-records"),
        argument="Also over two nodes of the level: one loses the record, the other gains one, each with range below "
        "4.",
    ),
)
