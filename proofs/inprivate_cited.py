"""InPrivate Digging: the theorems on mechanisms and composition that it cites."""

from __future__ import annotations

from typing import Any

from proofs.evidence import Counterexample, Proved
from proofs.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.releases import laplace_loss, laplace_losses
from proofs.statements import AtMost, Real, reals
from proofs.tightness import Tight
from refdp.generic import absolute


def laplace_loss_at(a: Any, b: Any, o: Any, s: Any) -> Any:
    """Loss of the value a against b at output o, scale s."""
    return laplace_loss(a, b, o, s)


TWO_RATIOS = AtMost(
    reals("p r q z t w"),
    lambda p, r, q, z: p * r / (q * z),
    lambda t, w: t * w,
    lambda p, r, q, z, t, w: (p > 0, r > 0, q > 0, z > 0, p <= t * q, r <= w * z, t >= 1, w >= 1),
)
"""Two density ratios p/q and r/z, at most t and w, and their product."""

PROPOSITIONS = (
    Proposition(
        "inprivate/theorem-3",
        "Theorem 3",
        "f + Lap(Delta f / epsilon) is epsilon-DP.",
        evidence=(
            Proved(
                AtMost(
                    reals("a b o s"),
                    laplace_loss_at,
                    lambda a, b, s: absolute(a - b) / s,
                    lambda s: s > 0,
                ),
                tight=Tight(
                    "change / scale",
                    "at every output beyond the value",
                    at=lambda a: {"b": a - 1, "o": a},
                    near={"a": 1, "b": 0, "o": 1, "s": 1},
                    given=lambda s: s > 0,
                ),
                label="one coordinate",
            ),
        ),
        argument="The losses of the coordinates add up to at most the L1 change over the scale Delta f / epsilon.",
    ),
    Proposition(
        "inprivate/theorem-4",
        "Theorem 4",
        "Selection with probability proportional to exp(epsilon u / (2 Delta u)) is epsilon-DP.",
        restates="dpxgboost/exponential-section-4-2",
    ),
    Proposition(
        "inprivate/definition-5",
        "Definition 5",
        "Queries of epsilon_1, ..., epsilon_m in sequence are (epsilon_1 + ... + epsilon_m)-DP.",
        evidence=(
            Proved(
                TWO_RATIOS,
                tight=Tight(
                    "the sum",
                    "where both losses are largest at once",
                    at=lambda t, w: {"p": t, "r": w, "q": 1, "z": 1},
                    near={"p": 2, "r": 2, "q": 1, "z": 1, "t": 2, "w": 2},
                    given=lambda t, w: (t > 1, w > 1),
                ),
            ),
        ),
        argument="The density of both outputs is the first's times the second's given the first; then induction.",
    ),
    Proposition(
        "inprivate/definition-6",
        "Definition 6",
        "Queries on disjoint subsets are max(epsilon_1, ..., epsilon_m)-DP.",
        ADD_REMOVE,
        evidence=(
            Proved(
                AtMost(
                    reals("p r q t w"),
                    lambda p, q, r: p * r / (q * r),
                    lambda t, w: (t + w + absolute(t - w)) / 2,
                    lambda p, r, q, t, w: (p > 0, r > 0, q > 0, p <= t * q, t >= 1, w >= 1),
                ),
                label="the record's own block, the other factor r is the same",
            ),
        ),
        argument="The record's block follows from it alone, so all other blocks are the same on both data sets.",
    ),
    Proposition(
        "inprivate/definition-6-replace-one",
        "Definition 6 with Definition 1",
        "Queries on disjoint subsets are max(epsilon_1, ..., epsilon_m)-DP.",
        REPLACE_ONE,
        evidence=(
            Counterexample(
                AtMost(
                    (Real("e"),),
                    lambda e: laplace_losses((1, 0), (0, 1), (1, 0), 1 / e),
                    lambda e: e,
                    lambda e: e > 0,
                ),
                {"e": 1},
            ),
        ),
        argument="Counts of two blocks with Lap(1/epsilon) noise: the replaced record moves from one to the other.",
        repaired_by="inprivate/definition-6-repaired-replace-one",
    ),
    Proposition(
        "inprivate/definition-6-repaired-replace-one",
        "Definition 6, repaired",
        "Blocks that are epsilon_i-DP for an added record cost the two largest together when a record is replaced.",
        REPLACE_ONE,
        evidence=(
            Proved(
                TWO_RATIOS,
                label="the block left and the block entered",
            ),
        ),
        uses=("inprivate/definition-5",),
        argument="In its own block the replacement is a removal and an addition, at most twice that block's cost.",
    ),
)
