"""Federated framework (Maddock et al., CCS 2022): rounding, shares of noise, participants, several classes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs.checker.enclosures import Enclosed
from proofs.checker.evidence import Exhibit, Follows, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, ForAll, reals
from proofs.checker.tightness import Tight
from proofs.fedgbdt.loss import gradient, hessian
from refdp.data import losses
from refdp.data.numbers import exp, log
from refdp.papers.fedgbdt import squared_norm

HALF = Fraction(1, 2)


def shares_cost_more() -> Mapping[str, Any] | None:
    """Two discrete Gaussians of variance parameter 1/10 each, a change of 1, order 5/4, against 5/4 / (2 * 1/5).

    With S0, S1 the unnormalised masses of the sum at 0 and 1 and Z a share's normaliser, the outcome 0 alone gives a
    divergence of at least 5 log S0 - log S1 - 8 log Z. The series are cut, their tails bounded by their first terms
    doubled. w = 1 is a dummy variable that makes the formula run on enclosures.
    """
    at: dict[str, tuple[Fraction, Fraction]] = {"w": (Fraction(1), Fraction(1))}
    cost = Enclosed(
        at,
        quantity=lambda w: (
            5 * log(1 + 2 * exp(-10 * w))
            - log(2 * exp(-5 * w) + 4 * exp(-25 * w))
            - 8 * log(1 + 2 * exp(-5 * w) + 4 * exp(-20 * w))
        ),
        bound=lambda w: w * Fraction(25, 8),
    )
    if not cost.fails_at({"w": Fraction(1)}):
        return None
    return {
        "shares": 2,
        "parameter each": "1/10",
        "order": "5/4",
        "published cost": "25/8",
        "cost": "> 4.2 nats",
    }


def leaf_index() -> Mapping[str, Any] | None:
    """Two records with equal gradients in different leaves: the messages have disjoint supports."""
    first, second = (HALF, "leaf 1"), (HALF, "leaf 2")
    return {"record": first, "replaced by": second, "loss": "inf"} if first[1] != second[1] else None


ROUNDING = (
    Proposition(
        "fedgbdt/rounding",
        "Section 2.3, footnote 2, made precise",
        "Rounding g and h to the nearest multiples of 1/N, N a positive integer, keeps g^2 + h^2 <= 1 (log loss).",
        ADD_REMOVE,
        uses=("fedgbdt/hessian-of-gradient", "fedgbdt/gradient-bound"),
        evidence=(
            Proved(
                ForAll(
                    reals("s N k j"),
                    lambda s, N, k, j: j < k + 1,
                    lambda s, N, k, j: (N >= 1, s >= 0, s < 1, N * (1 - s) <= k + HALF, j - HALF <= N * s * (1 - s)),
                ),
                label="h rounds to j/N with j < k + 1, hence j <= k, where |g| = s rounds to 1 - k/N",
            ),
            Proved(
                AtMost(
                    (Count("N", start=1), Count("k"), Count("j")),
                    quantity=lambda N, k, j: squared_norm(1 - k / N, j / N),
                    bound=lambda: Fraction(1),
                    given=lambda N, k, j: (k <= N, j <= k),
                ),
                tight=Tight("1", "at k = j = 0", at=lambda: {"k": 0, "j": 0}, near={"N": 1, "k": 0, "j": 0}),
            ),
        ),
        gloss="h = s (1 - s). However ties are rounded. The grid 2^-24 of refdp is of this kind.",
    ),
    Proposition(
        "fedgbdt/rounding-replace-one",
        "Section 2.3, footnote 2, made precise",
        "After that rounding, replacing a record changes the sums by at most 2, all leaves together (log loss).",
        REPLACE_ONE,
        uses=("fedgbdt/rounding",),
        evidence=(
            Proved(
                AtMost(
                    reals("g h q r"),
                    quantity=lambda g, h, q, r: squared_norm(g - q, h - r),
                    bound=lambda: Fraction(4),
                    given=lambda g, h, q, r: (squared_norm(g, h) <= 1, squared_norm(q, r) <= 1),
                ),
                tight=Tight(
                    "2",
                    "at (1, 0) and (-1, 0) in the same leaf",
                    at=lambda: {"g": 1, "h": 0, "q": -1, "r": 0},
                    near={"g": 1, "h": 0, "q": -1, "r": 0},
                ),
                label="same leaf",
            ),
        ),
        gloss="(g, h) and (q, r): the two records' rounded pairs. In different leaves the squares add up to at most 2.",
    ),
)

NOISE = (
    Proposition(
        "fedgbdt/distributed-noise-honest",
        "Section 2.3, made precise",
        "With Gaussian noise of variance v/h from each client, h honest clients that stay give variance v at least.",
        uses=("fedgbdt/fact-2-1", "fedgbdt/fact-2-4"),
        evidence=(
            Proved(
                AtMost(
                    (Count("h", start=1), Count("n", start=1), *reals("v")),
                    quantity=lambda v: v,
                    bound=lambda h, n, v: n * (v / h),
                    given=lambda h, n, v: (n >= h, v > 0),
                ),
                tight=Tight("v", "at n = h", lambda h: {"n": h}, {"h": 2, "n": 2, "v": 1}, given=lambda v: v > 0),
            ),
        ),
        argument="Sums of independent normal variables are normal; what is more than v is post-processing.",
    ),
    Proposition(
        "fedgbdt/discrete-shares",
        "Section 2.3, each client adding a small amount of discrete noise",
        "Discrete Gaussian shares whose variance parameters add up to v cost at most a/(2v) for a change of 1.",
        evidence=(Exhibit(shares_cost_more, "counterexample in rigorous enclosures", ("arb", "mpmath iv")),),
        argument="A sum of discrete Gaussians is no discrete Gaussian. With large shares the excess is tiny (Kairouz, "
        "Liu, Steinke 2021), but it has to be accounted, for instance by convolving the shares.",
        repaired_by="fedgbdt/distributed-noise-honest",
    ),
    Proposition(
        "fedgbdt/several-records",
        "Section 4, one data item a participant, easily removed",
        "A participant with r records changes the sums by at most r times the sensitivity D of one, in Euclidean norm.",
        ADD_REMOVE,
        evidence=(
            Proved(
                AtMost(
                    (Count("r", start=1), *reals("a b c d D")),
                    quantity=lambda a, b, c, d: squared_norm(a + c, b + d),
                    bound=lambda r, D: (r + 1) * (r + 1) * D * D,
                    given=lambda r, a, b, c, d, D: (
                        D > 0,
                        squared_norm(a, b) <= r * r * D * D,
                        squared_norm(c, d) <= D * D,
                    ),
                ),
                tight=Tight(
                    "r D",
                    "at equal records in one leaf",
                    at=lambda r, D: {"a": r * D, "b": 0, "c": D, "d": 0},
                    near={"r": 1, "D": 1, "a": 1, "b": 0, "c": 1, "d": 0},
                    given=lambda D: D > 0,
                ),
                label="one more record, by induction",
            ),
        ),
        argument="(a, b): change so far, (c, d): of one more record, in the plane of both. tau grows with r^2.",
    ),
    Proposition(
        "fedgbdt/ldp-leaf-index",
        "Section 5.3.2, noised gradients at the root are enough to construct the tree",
        "A user who sends noisy (g, h) together with the leaf or bin it belongs to is protected.",
        REPLACE_ONE,
        evidence=(Exhibit(leaf_index, "exact counterexample"),),
        argument="The server can only place noisy gradients in a tree if it learns the features as well.",
        repaired_by="fedgbdt/ldp-vector",
    ),
    Proposition(
        "fedgbdt/ldp-vector",
        "Section 5.3.2, repaired",
        "A user who sends (g, h) in its leaf's entry and 0 in the others', all noised for sensitivity 2, is protected.",
        REPLACE_ONE,
        uses=("fedgbdt/newton-sensitivity-joint-replace-one", "fedgbdt/fact-2-1", "fedgbdt/theorem-4-1"),
        evidence=(Follows("one query a tree: the user's own vector over all leaves is the sum over a single record"),),
    ),
)

POLICY = (
    Proposition(
        "fedgbdt/initial-score",
        "Algorithm 1, line 4, the score before the first tree",
        "From the initial score 0 every first-round pair is (g, h) = (+-1/2, 1/4), without a query.",
        about=(losses.log_gradient, losses.log_hessian),
        evidence=(
            Proved(
                ForAll(
                    reals("u y"),
                    lambda u, y: (4 * gradient(u, y) * gradient(u, y) == 1, 4 * hessian(u, y) == 1),
                    lambda u, y: (u == 1, y * (1 - y) == 0),
                )
            ),
        ),
        argument="The paper does not say what the initial prediction is; a constant costs nothing.",
    ),
    Proposition(
        "fedgbdt/one-vs-rest-divided",
        "Section 4.2, beyond binary classification",
        "K one-vs-rest models, each (epsilon/K, delta/K)-DP, are (epsilon, delta)-DP together.",
        evidence=(
            Proved(
                ForAll(
                    reals("p q m n"),
                    lambda p, q, m, n: p * q == m * n + (p - m) * q + m * (q - n),
                ),
                label="pointwise",
            ),
            Proved(ForAll((Count("K", start=1), *reals("d")), lambda K, d: K * (d / K) == d), label="K shares"),
        ),
        argument="p, q: masses of the two outputs, m = min(p, exp(eps_1) p'), n likewise, p' and q' the neighbour's. "
        "Summed over outputs, (p - m) q gives at most delta_1, m (q - n) at most delta_2, and m n is at most "
        "exp(eps_1 + eps_2) p' q'. Induction over K.",
    ),
    Proposition(
        "fedgbdt/one-vs-rest-together",
        "Section 4.2, beyond binary classification, by Theorem 4.1",
        "K one-vs-rest models of q queries, each of mu/sqrt(K q), lose at most what one Gaussian query of mu loses.",
        uses=("fedgbdt/exact-composition",),
        evidence=(
            Proved(
                ForAll(
                    (Count("K", start=1), Count("q", start=1), *reals("m")),
                    lambda K, q, m: K * q * (m * m / (K * q)) == m * m,
                ),
                label="K q squares of mu/sqrt(K q)",
            ),
            Follows(
                "a query of the second model is one more query of the same records, chosen after the first's answers"
            ),
        ),
        argument="Dividing (epsilon, delta) between the models takes K compositions of q queries for one of K q.",
    ),
)

PROPOSITIONS = (*ROUNDING, *NOISE, *POLICY)
