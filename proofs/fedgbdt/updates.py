"""Federated framework (Maddock et al., CCS 2022): feature cycles and batched updates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Exhibit, Follows, Proved, SmallScope
from proofs.checker.proposition import Proposition
from proofs.checker.statements import Count, ForAll, reals
from proofs.fedgbdt.loss import Logit
from refdp.papers import fedgbdt as paper
from refdp.papers.published import fedgbdt as printed


def batch_sum() -> Mapping[str, Any] | None:
    """The trees summed over when the second batch of two ends."""
    said, meant = list(printed.batch_terms_as_published(4, 2)), list(printed.batch_terms(4, 2))
    return {"t": 4, "B": 2, "k runs over": said, "batch": meant} if said != meant else None


def cycles() -> Iterator[tuple[int, int]]:
    """Small numbers of features and features a tree."""
    return ((m, k) for m in range(1, 9) for k in range(1, m + 1))


def repeats(case: tuple[int, int]) -> bool:
    """After m/gcd(m, k) trees the same features recur, all lie in 1..m, and every feature has been used."""
    m, k = case
    period = m // math.gcd(m, k)
    used = [paper.cyclical_features(t, m, k) for t in range(1, period + 2)]
    return used[-1] == used[0] and {f for tree in used for f in tree} == set(range(1, m + 1))


PROPOSITIONS = (
    Proposition(
        "fedgbdt/cyclical-repaired",
        "Section 5.1, made precise",
        "1 + ((t-1) k + i) mod m lies in 1..m and repeats every m/gcd(m, k) trees.",
        about=(paper.cyclical_features,),
        evidence=(
            Proved(
                ForAll(
                    (Count("r"), Count("m", start=1)), lambda r, m: (1 + r >= 1, 1 + r <= m), lambda r, m: r <= m - 1
                )
            ),
            Proved(
                ForAll(
                    (Count("g", start=1), Count("p", start=1), Count("c", start=1)),
                    lambda g, p, c: p * (g * c) == (g * p) * c,
                ),
                label="k = g c, m = g p: after p trees p k is the multiple c of m",
            ),
            SmallScope(
                lambda: next(({"m, k": case} for case in cycles() if not repeats(case)), None),
                "all 1 <= k <= m <= 8",
                ("exact arithmetic",),
            ),
        ),
        argument="r is a remainder modulo m, an integer below m.",
    ),
    Proposition(
        "fedgbdt/batched-update",
        "Section 5.2, the batched update",
        "A batch of trees whose leaf weights are all 0 leaves the prediction as it is.",
        about=(printed.batched_score_as_published,),
        evidence=(
            Counterexample(
                ForAll(
                    reals("s e u"),
                    lambda s, e, u: printed.batched_score_as_published(s, Logit(u), e) == s,
                    lambda e, u: (u == 1, e > 0),
                ),
                at={"s": 0, "e": Fraction(3, 10), "u": 1},
            ),
            Exhibit(batch_sum, "the printed index range is not the batch"),
        ),
        argument="The mean weight is log u = 0. The sigmoid makes every update positive; it belongs on the score.",
        repaired_by="fedgbdt/batched-update-repaired",
    ),
    Proposition(
        "fedgbdt/batched-update-repaired",
        "Section 5.2, repaired",
        "The mean of a batch's shrunken, clipped weights moves a score by at most eta beta, and is boosting for B = 1.",
        about=(printed.batched_score, paper.update),
        uses=("fedgbdt/weight-clip-repaired",),
        evidence=(
            Proved(
                ForAll(
                    reals("s w b e"),
                    lambda s, w, b, e: printed.batched_score(s, [paper.update(w, b, e)]) == s + paper.update(w, b, e),
                    lambda b, e: (b > 0, e > 0),
                ),
                label="B = 1",
            ),
            Proved(
                ForAll(
                    (Count("n", start=1), *reals("S x c")),
                    lambda n, S, x, c: (abs(S + x) <= (n + 1) * c, abs(S / n) <= c),
                    lambda n, S, x, c: (-n * c <= S, n * c >= S, -c <= x, x <= c, c > 0),
                ),
                label="one more tree in the batch, and its mean",
            ),
        ),
        argument="c = eta beta; a last partial batch divides by its own size.",
    ),
    Proposition(
        "fedgbdt/table-1-batch",
        "Table 1 (A2) and Section 5.2, no extra privacy cost",
        "Batching is post-processing: the cost does not depend on B.",
        about=(paper.split_queries, paper.weight_queries, paper.candidate_queries),
        uses=("fedgbdt/theorem-4-1", "fedgbdt/fact-2-4"),
        evidence=(Follows("B changes which gradients are summed, not how many sums are released"),),
        argument="A whole batch uses the scores of before it, so that gradient-bound-by-round counts batches.",
    ),
    Proposition(
        "fedgbdt/batched-rounds",
        "Section 5.2, O(T/B) rounds",
        "ceil(T/B) rounds of communication train totally random trees: at least T/B, less than T/B + 1.",
        about=(printed.communication_rounds,),
        evidence=(
            Proved(
                ForAll(
                    (Count("B", start=1), Count("r"), *reals("T n")),
                    lambda B, r, T, n: (n >= T / B, n < T / B + 1),
                    lambda B, r, T, n: (n * B - r == T, r <= B - 1),
                )
            ),
            SmallScope(
                lambda: next(
                    (
                        {"T": t, "B": b}
                        for t in range(1, 30)
                        for b in range(1, t + 1)
                        if printed.communication_rounds(t, b) != len(range(0, t, b))
                    ),
                    None,
                ),
                "all 1 <= B <= T < 30",
                ("exact arithmetic",),
            ),
        ),
        gloss="n = ceil(T/B), T = n B - r with 0 <= r < B. Other trees need a round a level.",
    ),
    Proposition(
        "fedgbdt/batched-rounds-ih-repaired",
        "Section 5.3.3, made precise",
        "With s rounds of iterative Hessian candidates, s + ceil(T/B) rounds of communication are enough.",
        uses=("fedgbdt/batched-rounds",),
        evidence=(Follows("one round for each Hessian histogram, then one for each batch's leaf sums"),),
    ),
)
