"""Facts that several papers use: how the costs of releases combine.

Densities are written p, q (on a data set and on its neighbour), bounds on their ratio a, b, ... = e^epsilon. What is
said of two parts follows for any number by induction, the first part being the composition so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Exhibit, Follows, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, ForAll, both, reals
from proofs.checker.tightness import Tight
from refdp.data.numbers import absolute, maximum, minimum


def answer(output: int, count: int) -> Fraction:
    """A mechanism that is (ln 2)-DP: whether a subset is empty, told truthfully with probability 2/3."""
    truth = 1 if count else 0
    return Fraction(2, 3) if output == truth else Fraction(1, 3)


OUTPUTS = ((0, 0), (0, 1), (1, 0), (1, 1))


def ratio_of_two(counts: tuple[int, int], others: tuple[int, int], outputs: tuple[int, int]) -> Fraction:
    """P / P' of two answers about two subsets."""
    result = Fraction(1)
    for count, other, output in zip(counts, others, outputs, strict=True):
        result *= answer(output, count) / answer(output, other)
    return result


def worst_of_two(counts: tuple[int, int], others: tuple[int, int]) -> Mapping[str, Any] | None:
    """The outputs with the largest ratio, if it exceeds 2 = e^epsilon of each single answer."""
    outputs = max(OUTPUTS, key=lambda outputs: ratio_of_two(counts, others, outputs))
    ratio = ratio_of_two(counts, others, outputs)
    if ratio <= 2:
        return None
    return {"counts": counts, "neighbour": others, "outputs": outputs, "ratio": ratio, "claimed ratio": 2}


def sizes(records: int) -> tuple[int, int]:
    """The two subsets of half of the records each, rounded down."""
    return records // 2, records // 2


POSITIVE_TWO = reals("p q r s a b")


def both_bounds(constant: str, where: str) -> Proved:
    """Two releases lose at most the product of their bounds, and do lose it at a place. constant, where: in words."""
    return Proved(
        AtMost(
            POSITIVE_TWO,
            given=lambda p, q, r, s, a, b: (p >= 0, q > 0, r >= 0, s > 0, p <= a * q, r <= b * s),
            quantity=lambda p, q, r, s: p * r / (q * s),
            bound=lambda a, b: a * b,
        ),
        tight=Tight(
            constant,
            where,
            at=lambda q, s, a, b: {"p": a * q, "r": b * s},
            given=lambda q, s, a, b: (q > 0, s > 0, a >= 1, b >= 1),
            near={"p": 2, "q": 1, "r": 3, "s": 1, "a": 2, "b": 3},
        ),
    )


PROPOSITIONS = (
    Proposition(
        "composition/events",
        "used throughout",
        "If the densities satisfy p <= a q everywhere, then Pr[f(D) in O] <= a Pr[f(D') in O] for every event O, and "
        "any function of the output inherits it (post-processing).",
        evidence=(
            Proved(
                ForAll(
                    reals("p q r s a"),
                    given=lambda p, q, r, s, a: (p <= a * q, r <= a * s),
                    holds=lambda p, q, r, s, a: p + r <= a * (q + s),
                )
            ),
        ),
        argument="Events are sums (integrals) of outputs; an event of g(output) is an event of the output.",
    ),
    Proposition(
        "composition/sequential",
        "Li et al. 2020, Theorem 3",
        "Adaptive releases that are each epsilon_i-DP, whatever the earlier outputs, are (sum of epsilon_i)-DP "
        "together.",
        evidence=(both_bounds("e^(epsilon_1 + epsilon_2)", "where both releases attain their bound"),),
        argument="p, q: first output; r, s: second output given the first. The bound on r/s holds for each first "
        "output.",
    ),
    Proposition(
        "composition/parallel-add-remove",
        "Li et al. 2020, Theorem 4",
        "Adaptive releases on disjoint subsets, where a record's subset follows from that record and earlier outputs "
        "alone, are max(epsilon_i)-DP together.",
        ADD_REMOVE,
        evidence=(
            Proved(
                ForAll(
                    POSITIVE_TWO,
                    given=lambda p, q, r, s, a, b: (p >= 0, q > 0, r >= 0, p <= a * q, r == s, a >= 1, b >= 1),
                    holds=lambda p, q, r, s, a, b: p * r <= maximum(a, b) * (q * s),
                ),
            ),
        ),
        argument="The record changes the release on its own subset; on all others the densities r, s are the same.",
    ),
    Proposition(
        "composition/parallel-replace-one",
        "Li et al. 2020, Theorem 4",
        "Releases on disjoint subsets that are each epsilon_i-DP are max(epsilon_i)-DP together.",
        REPLACE_ONE,
        evidence=(
            Exhibit(
                lambda: worst_of_two((1, 0), (0, 1)),
                "a replaced record moves from one subset to the other and changes both, enumerated",
            ),
        ),
        repaired_by="composition/parallel-moved",
    ),
    Proposition(
        "composition/parallel-moved",
        "Li et al. 2020, Theorem 4, repaired",
        "Releases on disjoint subsets, each epsilon_i-DP under adding or removing a record and under replacing one "
        "inside its subset: together epsilon-DP with epsilon the larger of the sum of the two largest and the "
        "largest own one, which is at most twice the subset's cost of adding or removing.",
        REPLACE_ONE,
        evidence=(
            both_bounds(
                "e^(sum of the two largest)",
                "where the record leaves one subset for another, each at its worst output",
            ),
            Proved(
                AtMost(
                    reals("p q r s a b c"),
                    given=lambda p, q, r, s, a, b, c: (
                        *(p >= 0, q > 0, r >= 0, s > 0, a >= 1, b >= 1, p <= c * q, r == s),
                    ),
                    quantity=lambda p, q, r, s: p * r / (q * s),
                    bound=lambda a, b, c: maximum(a * b, c),
                ),
                tight=Tight(
                    "e^(the largest own one)",
                    "where the record is replaced inside the subset that costs most for that",
                    at=lambda q, s, c: {"p": c * q, "r": s},
                    given=lambda q, s, a, b, c: (q > 0, s > 0, a >= 1, b >= 1, c >= a * b),
                    near={"p": 5, "q": 1, "r": 1, "s": 1, "a": 2, "b": 1, "c": 5},
                ),
                label="the record is replaced inside its subset, at the cost c of that",
            ),
            Proved(
                ForAll(
                    reals("p q m a"),
                    given=lambda p, q, m, a: (p >= 0, q > 0, m > 0, a >= 1, p <= a * m, m <= a * q),
                    holds=lambda p, q, a: p <= a * a * q,
                ),
                label="which is at most a removal and an addition, density m between them",
            ),
        ),
        argument="A replaced record changes one subset by replacement, or two: it leaves one and joins another.",
    ),
    Proposition(
        "composition/partition-add-remove",
        "shared",
        "If every record falls secretly, independently of the others, into subset j with probability w_j (sum <= 1), "
        "epsilon_j-DP releases on the subsets are max(epsilon_j)-DP, and more sharply ln(1 + sum w_j (e^epsilon_j - "
        "1)).",
        ADD_REMOVE,
        evidence=(
            Proved(
                AtMost(
                    reals("p r q a b v w"),
                    given=lambda p, r, q, a, b, v, w: (
                        *(p >= 0, r >= 0, q > 0, p <= a * q, r <= b * q, a >= 1, b >= 1),
                        *(v >= 0, w >= 0, v + w <= 1),
                    ),
                    quantity=lambda p, r, q, v, w: (v * p + w * r + (1 - v - w) * q) / q,
                    bound=lambda a, b, v, w: 1 + v * (a - 1) + w * (b - 1),
                ),
                tight=Tight(
                    "1 + sum w_j (e^epsilon_j - 1)",
                    "where every subset attains its bound",
                    at=lambda q, a, b: {"p": a * q, "r": b * q},
                    given=lambda q, a, b, v, w: (q > 0, a >= 1, b >= 1, v >= 0, w >= 0, v + w <= 1),
                    near={"p": 2, "r": 3, "q": 1, "a": 2, "b": 3, "v": Fraction(1, 2), "w": Fraction(1, 2)},
                ),
                label="record present against absent",
            ),
            Proved(
                ForAll(
                    reals("p r q a b v w"),
                    given=lambda p, r, q, a, b, v, w: (
                        *(p > 0, r > 0, q > 0, q <= a * p, q <= b * r, a >= 1, b >= 1),
                        *(v >= 0, w >= 0, v + w <= 1),
                    ),
                    holds=lambda p, r, q, a, b, v, w: (
                        q <= maximum(a, b) * (v * p + w * r + (1 - v - w) * q),
                        1 + v * (a - 1) + w * (b - 1) <= maximum(a, b),
                    ),
                ),
                label="record absent against present, and the maximum",
            ),
        ),
        argument="p, r: densities with the record in either subset, q: without it, given the other records' subsets.",
    ),
    Proposition(
        "composition/partition-replace-one",
        "shared",
        "If subsets are drawn without looking at the records' content, epsilon_j-DP releases on the subsets are "
        "max(epsilon_j)-DP together: a replaced record stays in its place.",
        REPLACE_ONE,
        evidence=(
            Proved(
                ForAll(
                    reals("p q r s a b v w"),
                    given=lambda p, q, r, s, a, b, v, w: (
                        *(p >= 0, r >= 0, q >= 0, s >= 0, p <= a * q, r <= b * s),
                        *(v >= 0, w >= 0),
                    ),
                    holds=lambda p, q, r, s, a, b, v, w: v * p + w * r <= maximum(a, b) * (v * q + w * s),
                )
            ),
        ),
        argument="Given the drawn subsets, one release changes; the mixture over the draws, the same for both data "
        "sets, keeps the largest ratio. Independence of the places is not needed, a public size of the data is.",
    ),
    Proposition(
        "composition/partition-by-size-add-remove",
        "Li et al. 2020, Theorem 8",
        "Random disjoint subsets of round(|D| w_j) records with epsilon-DP releases each are epsilon-DP together.",
        ADD_REMOVE,
        evidence=(
            Exhibit(
                lambda: worst_of_two(sizes(2), sizes(1)),
                "halves of two records against halves of one (rounded down): both subsets change",
            ),
        ),
        repaired_by="composition/partition-add-remove",
    ),
    Proposition(
        "composition/partition-by-size-replace-one",
        "Li et al. 2020, Theorem 8",
        "Random disjoint subsets of round(|D| w_j) records with epsilon-DP releases each are epsilon-DP together.",
        REPLACE_ONE,
        restates="composition/partition-replace-one",
        argument="Replacing a record leaves |D|, hence the sizes and the draw of places, as they are.",
    ),
    Proposition(
        "composition/two-records",
        "shared",
        "A change by replacing a record is at most the change by removing one plus the change by adding one.",
        REPLACE_ONE,
        evidence=(
            Proved(
                ForAll(
                    reals("x y z u v"),
                    given=lambda x, y, z, u, v: (x - y <= u, y - x <= u, y - z <= v, z - y <= v),
                    holds=lambda x, z, u, v: (x - z <= u + v, z - x <= u + v),
                )
            ),
        ),
        gloss="x, z on the neighbours, at most u and v from y on the data without "
        "the record; per coordinate, hence for sums of them.",
    ),
    Proposition(
        "composition/clipping",
        "shared",
        "Clipping to an interval never increases a difference.",
        evidence=(
            Proved(
                AtMost(
                    reals("x y low high"),
                    given=lambda low, high: low <= high,
                    quantity=lambda x, y, low, high: both(
                        minimum(maximum(x, low), high) - minimum(maximum(y, low), high)
                    ),
                    bound=lambda x, y: absolute(x - y),
                ),
                tight=Tight(
                    "|x - y|",
                    "at y = low <= x <= high",
                    at=lambda low: {"y": low},
                    given=lambda x, low, high: (low <= x, x <= high),
                    near={"x": 1, "y": 0, "low": 0, "high": 1},
                ),
            ),
        ),
        gloss="x, y: a number on two neighbours; low, high: the interval's ends.",
    ),
    Proposition(
        "composition/post-processing",
        "shared",
        "Any function of a private output, randomised or not, is as private.",
        evidence=(Follows("an event of the result is an event (or a mixture of events) of the output"),),
        uses=("composition/events",),
    ),
)
