"""DPBoost (Li, Wu, Wen, He, AAAI 2020): sensitivities of leaf values, with and without geometric clipping."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Proved, Reached
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, ForAll, Real, both
from proofs.checker.tightness import Tight
from proofs.dpboost.gains import CHILD, LAMBDA, TWO_CHILDREN, child, leaf_change, moved_leaves, two_children
from refdp.data.numbers import maximum, minimum
from refdp.papers import dpboost
from refdp.papers.dpboost import leaf_value
from refdp.papers.published import dpboost as printed
from refdp.privacy.events import Relation

CLIP = Real("c")
TWO_CLIPPED = (*TWO_CHILDREN, CLIP)


def clipped(value: Any, clip: Any) -> Any:
    """The value moved into [-clip, clip]."""
    return minimum(maximum(value, -clip), clip)


def clipped_change(n: Any, G: Any, g: Any, lam: Any, c: Any) -> Any:
    """Change of a clipped leaf value when a record of gradient g joins the leaf."""
    return clipped(leaf_value(G + g, n + 1, lam), c) - clipped(leaf_value(G, n, lam), c)


def valued(n: Any, V: Any, lam: Any) -> Any:
    """The gradient sum of a leaf of n records whose value is V, so that leaf_value gives back V without a fraction."""
    return -V * (n + lam)


def valued_change(n: Any, V: Any, g: Any, lam: Any, c: Any) -> tuple[Any, Any]:
    """The change, in both directions, of a leaf given by its value."""
    return both(clipped_change(n, valued(n, V, lam), g, lam, c))


def valued_child(n: Any, V: Any, g: Any, lam: Any, c: Any) -> tuple[Any, ...]:
    """A leaf of n records with value V and a record that joins it, a clip above 0."""
    return *child(n, valued(n, V, lam), g, lam), c > 0


def moved_clipped(n: Any, G: Any, g: Any, m: Any, H: Any, h: Any, lam: Any, c: Any) -> Any:
    """The sum of two clipped leaves' decreases; that of their changes is the same with signs turned."""
    return -clipped_change(n, G, g, lam, c) - clipped_change(m, H, h, lam, c)


def two_clipped(n: Any, G: Any, g: Any, m: Any, H: Any, h: Any, lam: Any, c: Any) -> tuple[Any, ...]:
    """Two leaves with a record each that comes or goes, a clip above 0."""
    return *two_children(n, G, g, m, H, h, lam), c > 0


def worst_leaf(lam: Any, c: Any) -> dict[str, Any]:
    """Where a clipped leaf changes most: an empty leaf, or one record at the clip that a second one opposes."""
    return {"n": 0, "V": 0, "g": 1} if c * (1 + lam) >= 1 else {"n": 1, "V": c, "g": 1}


def worst_pair(lam: Any, c: Any) -> dict[str, Any]:
    """Two such leaves, by their gradient sums."""
    n, value, g = worst_leaf(lam, c).values()
    return {"n": n, "G": valued(n, value, lam), "g": g, "m": n, "H": valued(n, value, lam), "h": g}


def published(lam: Any, c: Any) -> Any:
    """Corollary 2 with g* = 1."""
    return printed.leaf_sensitivity_as_published(1, lam, c)


def repaired(lam: Any, c: Any) -> Any:
    """The repaired bound with g* = 1 under add-remove."""
    return dpboost.leaf_sensitivity(1, lam, c, Relation.ADD_REMOVE)


def repaired_twice(lam: Any, c: Any) -> Any:
    """The repaired bound with g* = 1 under replace-one."""
    return dpboost.leaf_sensitivity(1, lam, c, Relation.REPLACE_ONE)


SINGLE = AtMost(
    (Count("n"), Real("V"), Real("g"), LAMBDA, CLIP), quantity=valued_change, bound=repaired, given=valued_child
)
PAIR = AtMost(TWO_CLIPPED, quantity=moved_clipped, bound=repaired_twice, given=two_clipped)

PROPOSITIONS = (
    Proposition(
        "dpboost/lemma-2",
        "Lemma 2, Corollary 1, Appendix A",
        "Adding or removing a record changes a leaf value by at most g*/(1 + lambda).",
        ADD_REMOVE,
        about=(leaf_value,),
        evidence=(
            Proved(
                AtMost(
                    CHILD,
                    quantity=lambda n, G, g, lam: both(leaf_change(n, G, g, lam)),
                    bound=lambda lam: 1 / (1 + lam),
                    given=child,
                ),
                tight=Tight(
                    "g*/(1 + lambda)",
                    "where a record of g* joins an empty leaf, for every lambda > 0",
                    at=lambda: {"n": 0, "G": 0, "g": 1},
                    given=lambda lam: lam > 0,
                    near={"n": 0, "G": 0, "g": 1, "lam": 1},
                ),
            ),
        ),
        uses=("dpboost/scaling",),
        gloss="A record sits in one leaf, so that this is also the L1 change of all leaves. Counts are integers: "
        "for 0 < n < 1 the last step of Eq. 14 fails.",
    ),
    Proposition(
        "dpboost/lemma-2-replace-one",
        "Lemma 2, Corollary 1, Definition 2",
        "Replacing a record changes the leaf values of a tree by at most g*/(1 + lambda) in sum.",
        REPLACE_ONE,
        about=(leaf_value,),
        evidence=(
            Counterexample(
                AtMost(TWO_CHILDREN, quantity=moved_leaves, bound=lambda lam: 1 / (1 + lam), given=two_children),
                at={"n": 0, "G": 0, "g": 1, "m": 0, "H": 0, "h": 1, "lam": Fraction(1, 10)},
            ),
        ),
        argument="The record leaves one leaf and joins another; Theorem 1 needs the L1 norm over all leaves.",
        repaired_by="dpboost/leaf-sensitivity-replace-one",
    ),
    Proposition(
        "dpboost/leaf-sensitivity-replace-one",
        "Lemma 2, repaired",
        "Replacing a record changes the leaf values of a tree by at most 2 g*/(1 + lambda) in sum.",
        REPLACE_ONE,
        about=(leaf_value,),
        evidence=(
            Proved(
                ForAll(
                    (Real("x"), Real("y"), Real("u")),
                    given=lambda x, y, u: (x <= u, -x <= u, y <= u, -y <= u),
                    holds=lambda x, y, u: (x + y <= 2 * u, x - y <= 2 * u, y - x <= 2 * u, -x - y <= 2 * u),
                ),
                label="two changes of at most u each",
            ),
            Reached(
                AtMost(TWO_CHILDREN, quantity=moved_leaves, bound=lambda lam: 2 / (1 + lam), given=two_children),
                Tight(
                    "2 g*/(1 + lambda)",
                    "where a record of g* alone in a leaf is replaced by one of g* alone in another, for every "
                    "lambda > 0",
                    at=lambda: {"n": 0, "G": 0, "g": 1, "m": 0, "H": 0, "h": 1},
                    given=lambda lam: lam > 0,
                    near={"n": 0, "G": 0, "g": 1, "m": 0, "H": 0, "h": 1, "lam": 1},
                ),
            ),
        ),
        uses=("dpboost/lemma-2", "composition/two-records"),
    ),
    Proposition(
        "dpboost/corollary-2",
        "Corollary 2",
        "With leaves clipped to [-c, c], c = g_l* (1 - eta)^(t-1), adding or removing a record changes a leaf value "
        "by at most min(g_l*/(1 + lambda), 2 c). Valid, though not tight: see dpboost/leaf-clipped-add-remove.",
        ADD_REMOVE,
        about=(leaf_value, printed.leaf_sensitivity_as_published, dpboost.leaf_sensitivity),
        evidence=(
            Proved(
                ForAll(
                    (LAMBDA, CLIP),
                    given=lambda lam, c: (lam > 0, c > 0),
                    holds=lambda lam, c: repaired(lam, c) <= published(lam, c),
                )
            ),
        ),
        uses=("dpboost/leaf-clipped-add-remove",),
    ),
    Proposition(
        "dpboost/corollary-2-replace-one",
        "Corollary 2",
        "Replacing a record changes the clipped leaf values of a tree by at most min(g_l*/(1 + lambda), 2 c) in sum.",
        REPLACE_ONE,
        about=(leaf_value, printed.leaf_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost(TWO_CLIPPED, quantity=moved_clipped, bound=published, given=two_clipped),
                at={"n": 0, "G": 0, "g": 1, "m": 0, "H": 0, "h": 1, "lam": Fraction(1, 10), "c": 1},
            ),
        ),
        repaired_by="dpboost/leaf-clipped-replace-one",
    ),
    Proposition(
        "dpboost/leaf-clipped-add-remove",
        "Corollary 2, tight",
        "With leaves clipped to [-c, c], adding or removing a record changes a leaf value by at most "
        "min(g*/(1 + lambda), (g* + c)/(2 + lambda), 2 c).",
        ADD_REMOVE,
        about=(leaf_value, dpboost.leaf_sensitivity),
        evidence=(
            Proved(
                SINGLE,
                tight=Tight(
                    "min(g*/(1 + lambda), (g* + c)/(2 + lambda), 2 c)",
                    "for all lambda and c > 0: where a record joins an empty leaf (c >= g*/(1 + lambda)), or one "
                    "record at the clip that it opposes (smaller c)",
                    at=worst_leaf,
                    given=lambda lam, c: (lam > 0, c > 0),
                    near={**worst_leaf(1, Fraction(1, 4)), "lam": 1, "c": Fraction(1, 4)},
                ),
            ),
        ),
        uses=("dpboost/scaling",),
        gloss="A record sits in one leaf, so that this is also the L1 change of all leaves.",
    ),
    Proposition(
        "dpboost/leaf-clipped-replace-one",
        "Corollary 2, repaired",
        "Replacing a record changes the clipped leaf values of a tree by at most "
        "2 min(g*/(1 + lambda), (g* + c)/(2 + lambda), 2 c) in sum.",
        REPLACE_ONE,
        about=(leaf_value, dpboost.leaf_sensitivity),
        evidence=(
            Proved(
                ForAll(
                    (Real("x"), Real("y"), LAMBDA, CLIP),
                    given=lambda x, y, lam, c: (
                        *(lam > 0, c > 0, x <= repaired(lam, c), -x <= repaired(lam, c)),
                        *(y <= repaired(lam, c), -y <= repaired(lam, c)),
                    ),
                    holds=lambda x, y, lam, c: (
                        *(x + y <= repaired_twice(lam, c), x - y <= repaired_twice(lam, c)),
                        *(y - x <= repaired_twice(lam, c), -x - y <= repaired_twice(lam, c)),
                    ),
                ),
                label="two changes",
            ),
            Reached(
                PAIR,
                Tight(
                    "2 min(g*/(1 + lambda), (g* + c)/(2 + lambda), 2 c)",
                    "for all lambda and c > 0: where the record leaves and joins leaves that change most",
                    at=worst_pair,
                    given=lambda lam, c: (lam > 0, c > 0),
                    near={**worst_pair(1, Fraction(1, 4)), "lam": 1, "c": Fraction(1, 4)},
                ),
            ),
        ),
        uses=("dpboost/leaf-clipped-add-remove", "composition/two-records"),
    ),
    Proposition(
        "dpboost/algorithm-2-line-14",
        "Algorithm 2, line 14; section 3.2 on EoE",
        "If clipping restarts with every ensemble, at g_l*(1-eta)^(t_e) for the position t_e, noise for line 14's "
        "min(g_l*/(1 + lambda), 2 g_l*(1-eta)^(t-1)) covers the leaves.",
        ADD_REMOVE,
        about=(leaf_value, dpboost.leaf_clip, printed.leaf_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost(
                    (*CHILD, Real("eta")),
                    quantity=lambda n, G, g, lam, eta: both(clipped_change(n, G, g, lam, dpboost.leaf_clip(1, eta, 0))),
                    bound=lambda lam, eta: published(lam, dpboost.leaf_clip(1, eta, 50)),
                    given=lambda n, G, g, lam, eta: (*child(n, G, g, lam), eta > 0, eta < 1),
                ),
                at={"n": 0, "G": 0, "g": 1, "lam": Fraction(1, 10), "eta": Fraction(1, 10)},
            ),
        ),
        argument="The witness is the first tree of the second ensemble of 50 trees: t - 1 = 50, t_e = 0.",
        repaired_by="dpboost/leaf-clipped-add-remove",
    ),
)
