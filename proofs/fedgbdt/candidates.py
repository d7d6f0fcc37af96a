"""Federated framework (Maddock et al., CCS 2022): split candidates."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from types import CodeType
from typing import Any

from proofs.checker.evidence import Finite, Identity, Proved, SmallScope
from proofs.checker.proposition import ADD_REMOVE, Proposition
from proofs.checker.statements import Count, ForAll, reals
from refdp.data import candidates as grids

RELEASED_ONLY = frozenset(
    ["maximum", "added", "zip", "append", "enumerate", "sorted", "len", "range", "set", "inner_uniform_candidate"]
)
"""What iterative_hessian may name besides its arguments: arithmetic and its own fill rule."""


def names(code: CodeType) -> Iterator[str]:
    """Every global, builtin and attribute that a function names, nested functions included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names(constant)


def small_histograms() -> Mapping[str, Any] | None:
    """A histogram for which the repaired refinement leaves its bounds, is unordered or too long."""
    for bins, count in itertools.product(range(1, 5), range(1, 5)):
        edges = [Fraction(q * q) for q in range(bins + 1)]
        for hessians in itertools.product((-2, 0, 1, 3), repeat=bins):
            found = grids.iterative_hessian(edges, [Fraction(h) for h in hessians], count)
            inside = all(edges[0] < value < edges[-1] for value in found)
            if not (inside and found == sorted(set(found)) and 1 <= len(found) <= count):
                return {"edges": edges, "Hessians": hessians, "Q": count, "found": found}
    return None


def median(values: Sequence[Fraction]) -> Fraction:
    """The lower median, a quantile candidate."""
    return sorted(values)[(len(values) - 1) // 2]


def quantile_pair() -> tuple[Fraction, Fraction]:
    """The median candidate of neighbours that differ by one added record."""
    return median([Fraction(0), Fraction(1)]), median([Fraction(0), Fraction(1), Fraction(1)])


PROPOSITIONS = (
    Proposition(
        "fedgbdt/uniform-candidates-inner",
        "Section 4.5.1, made precise",
        "a + q (b-a)/(Q+1), q = 1..Q, lies strictly between a and b and increases in q, for every Q >= 1.",
        about=(grids.inner_uniform_candidate,),
        evidence=(
            Proved(
                ForAll(
                    (Count("q", start=1), Count("Q", start=1), *reals("a b")),
                    lambda q, Q, a, b: (
                        a < grids.inner_uniform_candidate(q, Q, a, b),
                        grids.inner_uniform_candidate(q, Q, a, b) < b,
                        grids.inner_uniform_candidate(q, Q, a, b) < grids.inner_uniform_candidate(q + 1, Q, a, b),
                    ),
                    lambda q, Q, a, b: (q <= Q, a < b),
                )
            ),
        ),
    ),
    Proposition(
        "fedgbdt/log-candidates",
        "Section 4.5.1, log transform",
        "Log candidates rise from a at q = 0 to b at q = Q + 1, so that q = 1..Q lie strictly between.",
        about=(grids.log_candidate,),
        evidence=(
            Identity(
                "a c Q",
                lambda a, c, Q: grids.log_candidate(0, Q, a, a + c),
                lambda a: a,
                positive=True,
                label="q = 0",
            ),
            Identity(
                "a c Q",
                lambda a, c, Q: grids.log_candidate(Q + 1, Q, a, a + c),
                lambda a, c: a + c,
                positive=True,
                label="q = Q + 1",
            ),
        ),
        argument="q enters through exp(q log(1 + b - a)/(Q + 1)), which increases because 1 + b - a > 1. The shift by "
        "1 - a avoids the logarithm of values that are not positive, which the text leaves open.",
    ),
    Proposition(
        "fedgbdt/table-1-quantiles",
        "Table 1 and Section 4.5.1, Quantiles (non-private)",
        "Quantile candidates taken from the records have no finite privacy cost.",
        ADD_REMOVE,
        evidence=(Finite(lambda: [quantile_pair()], lambda pair: bool(pair[0] != pair[1]), "one pair of neighbours"),),
        argument="Deterministic thresholds that differ between neighbours have an infinite loss.",
    ),
    Proposition(
        "fedgbdt/table-1-uniform",
        "Table 1, Uniform and Log: kappa_c = 0",
        "Uniform and log candidates between public bounds cost nothing.",
        about=(grids.inner_uniform_candidate, grids.log_candidate),
        evidence=(
            Finite(
                lambda: [
                    *names(grids.inner_uniform_candidate.__code__),
                    *names(grids.log_candidate.__code__),
                ],
                lambda name: name in {"exp", "log"},
                "everything that the formulas name besides q, Q and the public bounds",
            ),
        ),
        argument="Functions of parameters alone. The bounds, and which features are skewed, must be known beforehand.",
    ),
    Proposition(
        "fedgbdt/histogram-bins-repaired",
        "Section 4.3.1, made precise",
        "With s_0 = -infinity and one more bin up to +infinity every record falls into exactly one bin.",
        evidence=(
            Proved(
                ForAll(
                    reals("a b c n"),
                    lambda a, b, c, n: (n + (b - a) == b, b - a >= 0),
                    lambda a, b, c, n: (a * (1 - a) == 0, b * (1 - b) == 0, a <= b, n == a),
                )
            ),
        ),
        argument="a = 1{x <= s_(q-1)}, b = 1{x <= s_q}, n = number of bins up to q-1 that hold x: by induction n = b "
        "after bin q, which is 0 at -infinity and 1 at +infinity.",
    ),
    Proposition(
        "fedgbdt/iterative-hessian",
        "Section 4.5.2, a form of post-processing",
        "Refining candidates by a released Hessian histogram costs nothing beyond the histogram.",
        about=(grids.iterative_hessian,),
        uses=("fedgbdt/fact-2-4",),
        evidence=(
            Finite(
                lambda: names(grids.iterative_hessian.__code__),
                lambda name: name in RELEASED_ONLY,
                "everything that the refinement names besides its arguments",
            ),
        ),
        argument="Its arguments are public bounds, earlier candidates, released sums and Q.",
    ),
    Proposition(
        "fedgbdt/iterative-hessian-count-repaired",
        "Section 4.5.2, made precise",
        "Merging keeps fewer than Q edges, so that halving the largest bins first fits into Q candidates.",
        about=(grids.iterative_hessian,),
        evidence=(
            Proved(
                ForAll(
                    reals("k A m s"),
                    lambda k, A, m, s: (k + 1) * s < A + m,
                    lambda k, A, m, s: (m > s, k * s <= A, s >= 0, k >= 0),
                ),
                label="each kept edge closes more than one share",
            ),
            Proved(
                ForAll(reals("k Q s"), lambda k, Q: k < Q, lambda k, Q, s: (s > 0, k * s < Q * s)),
                label="all shares together are the total",
            ),
            SmallScope(
                small_histograms,
                "all histograms of 1 to 4 bins with sums in {-2, 0, 1, 3}, Q = 1..4",
                ("exact arithmetic",),
            ),
        ),
        argument="The code fills up to Q with equally spaced candidates and cuts at Q.",
    ),
)
