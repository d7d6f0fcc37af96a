"""Federated framework (Maddock et al., CCS 2022): facts 2.1 to 2.4 and Theorem 4.1.

A Renyi moment of order a between P and Q is the sum over outcomes of p^a q^(1-a); (a, t)-RDP bounds it by
exp((a - 1) t). Statements about moments are made for one or two outcomes and summed or integrated over all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofs.checker.evidence import Exhibit, Follows, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, ForAll, reals
from proofs.checker.tightness import Tight
from refdp.papers.published import fedgbdt as printed


def moved_record() -> Mapping[str, Any] | None:
    """M(X) = |X| + N(0, 1) never changes under replace-one; the two counts of a partition do."""
    before, after = (1, 0), (0, 1)
    change = sum((a - b) ** 2 for a, b in zip(after, before, strict=True))
    return (
        {"counts": f"{before} -> {after}", "cost of M": 0, "cost of both blocks": f"{change} a/2"} if change else None
    )


def gaussian_exponent(a: Any, v: Any, c: Any, x: Any) -> Any:
    """-log of N(x; c, v)^a N(x; 0, v)^(1-a), up to the constant that both densities share."""
    return (a * (x - c) ** 2 + (1 - a) * x * x) / (2 * v)


def composed_cost(s: Any, w: Any, c: Any, t: Any, v: Any, x: Any) -> Any:
    """Theorem 4.1's total."""
    return printed.total_renyi(s, w, c, t, v, x)


PROPOSITIONS = (
    Proposition(
        "fedgbdt/fact-2-1",
        "Fact 2.1",
        "Noise N(0, D^2 s^2 I) on a query of L2 sensitivity D gives (a, a/(2 s^2))-RDP for every a > 1 and s > 0.",
        uses=("fedgbdt/definition-2-3-repaired", "fedgbdt/fact-2-3"),
        evidence=(
            Proved(
                ForAll(
                    reals("a v c x"),
                    lambda a, v, c, x: (
                        gaussian_exponent(a, v, c, x) - ((x - a * c) ** 2 - a * (a - 1) * c * c) / (2 * v) == 0
                    ),
                    lambda a, v: (a > 1, v > 0),
                ),
                label="completing the square",
            ),
            Proved(
                AtMost(
                    reals("a c D s"),
                    quantity=lambda a, c, D, s: a * c * c / (2 * D * D * s * s),
                    bound=lambda a, s: a / (2 * s * s),
                    given=lambda a, c, D, s: (a > 1, D > 0, s > 0, c * c <= D * D),
                ),
                tight=Tight(
                    "a/(2 s^2)",
                    "at neighbours that are D apart",
                    at=lambda D: {"c": D},
                    near={"a": 2, "c": 1, "D": 1, "s": 1},
                    given=lambda a, D, s: (a > 1, D > 0, s > 0),
                ),
                label="cost",
            ),
        ),
        argument="The moment is exp(a (a-1) c^2/(2v)) times a Gaussian integral, which is 1; coordinates add up. "
        "There is no restriction of epsilon here. Where D = 0 nothing changes. The maximum has to be a supremum.",
    ),
    Proposition(
        "fedgbdt/fact-2-2-by-record",
        "Fact 2.2, made precise",
        "A mechanism of cost t on the parts of a partition costs t if a record's part follows from that record alone.",
        ADD_REMOVE,
        uses=("fedgbdt/definition-2-3-repaired",),
        evidence=(
            Proved(
                ForAll(
                    reals("m o E"),
                    lambda m, o, E: m * o <= E,
                    lambda m, o, E: (m >= 0, m <= E, o == 1),
                )
            ),
        ),
        argument="One part gains or loses the record, moment m <= E; the others have equal distributions, moment 1; "
        "independent parts' moments multiply.",
    ),
    Proposition(
        "fedgbdt/fact-2-2-replace-one",
        "Fact 2.2",
        "A mechanism of cost t on the parts of a partition costs t, a record's part following from that record alone.",
        REPLACE_ONE,
        evidence=(Exhibit(moved_record, "exact counterexample: the replaced record moves to another part"),),
        repaired_by="fedgbdt/fact-2-2-by-record-replace-one",
    ),
    Proposition(
        "fedgbdt/fact-2-2-by-record-replace-one",
        "Fact 2.2, repaired",
        "The parts together cost at most max(r, 2 t), r: cost of replacing within a part, t: of adding or removing.",
        REPLACE_ONE,
        uses=("fedgbdt/definition-2-3-repaired",),
        evidence=(
            Proved(
                ForAll(
                    reals("m n E R"),
                    lambda m, n, E, R: (m * n <= E * E, m <= (R if R >= E * E else E * E)),
                    lambda m, n, E, R: (m >= 0, n >= 0, m <= E, n <= E, m <= R),
                )
            ),
        ),
        argument="Either one part changes by a replacement, or two parts by one record each and moments multiply; "
        "E = exp((a-1) t), R = exp((a-1) r).",
    ),
    Proposition(
        "fedgbdt/fact-2-3",
        "Fact 2.3",
        "Independent releases of costs t1 and t2 cost t1 + t2.",
        uses=("fedgbdt/definition-2-3-repaired",),
        evidence=(
            Proved(
                ForAll(
                    reals("m n E F"),
                    lambda m, n, E, F: m * n <= E * F,
                    lambda m, n, E, F: (m >= 0, n >= 0, m <= E, n <= F),
                )
            ),
        ),
        argument="Moments of independent releases multiply; E = exp((a-1) t1), F = exp((a-1) t2).",
    ),
    Proposition(
        "fedgbdt/fact-2-3-adaptive",
        "Fact 2.3, as Algorithm 1 needs it",
        "A release of cost t2 that is chosen by the output of one of cost t1 makes t1 + t2 together.",
        uses=("fedgbdt/definition-2-3-repaired",),
        evidence=(
            Proved(
                ForAll(
                    reals("w i n F S"),
                    lambda w, i, n, F, S: S + w * i <= (n + w) * F,
                    lambda w, i, n, F, S: (w >= 0, i >= 0, i <= F, n >= 0, n * F >= S),
                ),
                label="one more first output of weight w and inner moment i",
            ),
            Proved(
                ForAll(reals("n E F"), lambda n, E, F: n * F <= E * F, lambda n, E, F: (n <= E, F >= 0)), label="total"
            ),
        ),
        argument="Sum over the first outputs, weights p^a q^(1-a): by induction at most F times their moment n <= E. "
        "The paper states the fact without adaptivity, but its trees depend on earlier ones.",
    ),
    Proposition(
        "fedgbdt/fact-2-4",
        "Fact 2.4",
        "Post-processing of a release of cost t costs t.",
        uses=("fedgbdt/power-inequality", "fedgbdt/definition-2-3-repaired"),
        evidence=(
            Proved(
                ForAll(
                    reals("q w t u s S G"),
                    lambda q, w, t, u, s, S, G: q * (S + G * (t - s)) + w * (S + G * (u - s)) == (q + w) * S,
                    lambda q, w, t, u, s: (q >= 0, w >= 0, s * (q + w) == q * t + w * u),
                )
            ),
        ),
        argument="Outcomes of ratios t, u merged into one of ratio s: by the power inequality t^a >= S + G (t - s), "
        "S = s^a, G = a s^(a-1), so that the two moments are at least the merged one. Randomness of f is independent.",
    ),
    Proposition(
        "fedgbdt/theorem-4-1",
        "Theorem 4.1",
        "Algorithm 1 costs kappa_c tau_c + kappa_s tau_s + kappa_w tau_w, a query being a whole release of that cost.",
        about=(printed.total_renyi,),
        uses=("fedgbdt/fact-2-3-adaptive", "fedgbdt/fact-2-4"),
        evidence=(
            Proved(
                ForAll(
                    reals("s w c t v x"),
                    lambda s, w, c, t, v, x: (
                        composed_cost(s + 1, w, c, t, v, x) - composed_cost(s, w, c, t, v, x) == t,
                        composed_cost(s, w + 1, c, t, v, x) - composed_cost(s, w, c, t, v, x) == v,
                        composed_cost(s, w, c + 1, t, v, x) - composed_cost(s, w, c, t, v, x) == x,
                        composed_cost(0, 0, 0, t, v, x) == 0,
                    ),
                )
            ),
        ),
        argument="Induction over the queries. Splits, candidates and scores follow from earlier outputs.",
    ),
    Proposition(
        "fedgbdt/theorem-4-1-add-remove",
        "Theorem 4.1 with the counts of Table 1",
        "Sums over all nodes of a level, or bins of a feature, count as one query.",
        ADD_REMOVE,
        uses=("fedgbdt/theorem-4-1", "fedgbdt/fact-2-2-by-record"),
        evidence=(Follows("nodes and bins split the records by their own content and released thresholds"),),
    ),
    Proposition(
        "fedgbdt/theorem-4-1-vector-replace-one",
        "Theorem 4.1, repaired",
        "Sums over all leaves count as one query with the vector sensitivities -replace-one of this ledger.",
        REPLACE_ONE,
        uses=(
            "fedgbdt/theorem-4-1",
            "fedgbdt/fact-2-1",
            "fedgbdt/newton-sensitivity-joint-replace-one",
            "fedgbdt/gradient-sensitivity-vector-replace-one",
            "fedgbdt/averaging-sensitivity-vector-replace-one",
        ),
        evidence=(Follows("a query's vector over all leaves or bins changes by at most its vector sensitivity"),),
    ),
    Proposition(
        "fedgbdt/noise-scale",
        "Section 2.2 and Section 4.1, sigma grows with sqrt(k)",
        "k Gaussian queries with noise multiplier sqrt(k) s cost what one with multiplier s costs.",
        uses=("fedgbdt/fact-2-1", "fedgbdt/theorem-4-1"),
        evidence=(
            Proved(
                ForAll(
                    (Count("k", start=1), *reals("a v")),
                    lambda k, a, v: k * (a / (2 * (k * v))) == a / (2 * v),
                    lambda v: v > 0,
                )
            ),
        ),
        gloss="a: the order; v: the variance; s: the multiplier.",
    ),
    Proposition(
        "fedgbdt/exact-composition",
        "the tight alternative to RDP",
        "k adaptive Gaussian queries, each costing c_i^2/(2v), lose at most what one with c^2 = sum c_i^2 loses.",
        evidence=(
            Proved(
                ForAll(
                    reals("c d v z y"),
                    lambda c, d, v, z, y: (
                        (c * c + 2 * c * z) / (2 * v) + (d * d + 2 * d * y) / (2 * v)
                        == ((c * c + d * d) + 2 * (c * z + d * y)) / (2 * v)
                    ),
                    lambda v: v > 0,
                )
            ),
            Proved(ForAll(reals("k v"), lambda k, v: k * k * v + (1 - k * k) * v == v), label="smaller change"),
        ),
        uses=("fedgbdt/definition-2-1",),
        argument="Losses add; c z + d y is normal with variance (c^2 + d^2) v: again the loss of one Gaussian query. "
        "Adaptively: a change k c, k <= 1, is the change c scaled by k plus noise of variance (1 - k^2) v, so that "
        "by post-processing it loses no more, for every earlier output and every epsilon.",
    ),
)
