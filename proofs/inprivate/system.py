"""InPrivate Digging: budget, Theorem 7, rounds, collusion, quality control."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs.checker.evidence import EXACT, Counterexample, Exhibit, Finite, Follows, Identity, Proved, SmallScope
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, ForAll, Real, reals
from proofs.checker.tightness import Tight
from proofs.composition.releases import laplace_loss
from proofs.inprivate.splits import AR, RO
from refdp.accounting import pure
from refdp.data.numbers import absolute
from refdp.papers import inprivate as paper
from refdp.papers.published import inprivate as printed


def rounds_lost(residuals: tuple[int, ...], added: int) -> Mapping[str, Any] | None:
    """Loss over three rounds of halves by index, each releasing a sum with noise of scale 1/epsilon, in epsilons."""
    neighbour = (added, *residuals)
    sums = [
        [Fraction(sum(rows[k] for k in block)) for block in printed.halves_by_index(len(rows), 3)]
        for rows in (residuals, neighbour)
    ]
    loss = sum(laplace_loss(b, a, b, Fraction(1)) for a, b in zip(*sums))
    if loss <= 1:
        return None
    return {
        "residuals": residuals,
        "neighbour": neighbour,
        "sums of the rounds": f"{', '.join(map(str, sums[0]))} and {', '.join(map(str, sums[1]))}",
        "shows": f"a loss of {loss} epsilon, not 1: records shift from round to round",
    }


def overlap(count: int, rounds: int) -> Mapping[str, Any] | None:
    """A row that is in two rounds."""
    rows = [row for block in printed.halves_by_index(count, rounds) for row in block]
    return {"records": count, "rounds": rounds} if len(set(rows)) < len(rows) else None


def stopped(
    errors: tuple[Fraction, ...], others: tuple[Fraction, ...], threshold: Fraction
) -> Mapping[str, Any] | None:
    """Neighbouring data sets on different sides of the threshold of `advance`."""
    first, second = printed.mean_absolute_error(errors), printed.mean_absolute_error(others)
    if (first > threshold) == (second > threshold):
        return None
    return {
        "mean absolute errors": f"{first} and {second}",
        "threshold": str(threshold),
        "shows": "one more round on one data set, none on the neighbour: infinite loss",
    }


HALF = Fraction(1, 2)

BUDGET = (
    Proposition(
        "inprivate/queries",
        "section V-A",
        "A tree of depth d needs (d - 1) + 2 = d + 1 queries.",
        about=(printed.queries,),
        evidence=(Identity("d", lambda d: printed.queries(d), lambda d: d + 1),),
        gloss="One selection for all nodes of each of d - 1 levels, two queries for all leaves.",
    ),
    Proposition(
        "inprivate/algorithm-1-line-10",
        "Alg. 1, l. 1, 2 and 10",
        "With epsilon_1 in the exponent at every level, the queries add up to epsilon_1 + epsilon_2.",
        gloss="d - 1 levels, then two queries of the leaves.",
        evidence=(
            Counterexample(
                ForAll(
                    (Real("e"), Real("v"), Count("d", start=2)),
                    lambda e, v, d: (d - 1) * e + 2 * (v / 2) == e + v,
                    lambda e, v: (e > 0, v > 0),
                ),
                {"e": HALF, "v": HALF, "d": 6},
            ),
        ),
        repaired_by="inprivate/budget",
    ),
    Proposition(
        "inprivate/budget",
        "Theorem 7, proof",
        "With epsilon_1/(d - 1) a level and epsilon_2/2 a leaf query, the queries add up to epsilon_1 + epsilon_2.",
        about=(paper.level_epsilon,),
        evidence=(
            Identity(
                "e v d",
                lambda e, v, d: (d - 1) * paper.level_epsilon(e, d) + 2 * (v / 2),
                lambda e, v: e + v,
            ),
        ),
    ),
    Proposition(
        "inprivate/theorem-7-first-tree",
        "Theorem 7, first tree of log loss",
        "With public candidates, f = 0 and epsilon_1/(d - 1) at every level, Algorithm 1 is epsilon-DP as published.",
        ADD_REMOVE,
        evidence=(Follows("d - 1 levels of disjoint nodes and two queries on disjoint leaves, in sequence"),),
        uses=(
            *("inprivate/eq-10-unit-residuals", "inprivate/eq-11-first-tree", "inprivate/budget"),
            *("inprivate/public-candidates", "composition/sequential", "composition/parallel-add-remove"),
        ),
    ),
    *(
        Proposition(
            f"inprivate/theorem-7-repaired{suffix}",
            "Theorem 7, repaired",
            "With public candidates, residuals within B and the repaired Eq. 10, 11, 15, Algorithm 1 is epsilon-DP.",
            relation,
            evidence=(Follows("the repaired bounds hold over all nodes of a level, levels in sequence"),),
            uses=(
                *(f"inprivate/eq-10-repaired{suffix}", f"inprivate/eq-11-repaired{suffix}"),
                *(f"inprivate/eq-15-repaired{suffix}", "inprivate/residual-bound-clipped"),
                *("inprivate/public-candidates", "composition/sequential"),
            ),
        )
        for suffix, relation in (("", ADD_REMOVE), ("-replace-one", REPLACE_ONE))
    ),
)

OWNERS_AND_ROUNDS = (
    Proposition(
        "inprivate/rounds-disjoint",
        "section VI-B",
        "Rounds on disjoint halves of what remains, taken by index, cost one round's epsilon in all.",
        ADD_REMOVE,
        about=(printed.halves_by_index,),
        evidence=(Exhibit(lambda: rounds_lost((0, 0, -1, 0, 0), 1), "one added record shifts the halves"),),
        repaired_by="inprivate/rounds-independent",
    ),
    Proposition(
        "inprivate/rounds-disjoint-replace-one",
        "section VI-B",
        "Rounds on disjoint halves of what remains, taken by index, cost one round's epsilon in all.",
        REPLACE_ONE,
        about=(printed.halves_by_index,),
        evidence=(
            SmallScope(
                lambda: next(filter(None, (overlap(n, rounds) for n in range(1, 40) for rounds in range(1, 8))), None),
                "1 to 39 records and 1 to 7 rounds, for a row in two rounds",
                (EXACT,),
            ),
            Follows("a replaced record keeps its row, the rows of a round follow from the number of records alone"),
        ),
    ),
    Proposition(
        "inprivate/rounds-independent",
        "section VI-B, repaired",
        "Where each record falls into round t with probability 2^-t by itself, all rounds cost one round's epsilon.",
        ADD_REMOVE,
        about=(paper.round_share,),
        evidence=(
            Proved(
                AtMost(
                    (Real("p"), Real("q"), Real("t"), Real("w")),
                    lambda p, q, w: w * p + (1 - w) * q,
                    lambda t: t,
                    lambda p, q, t, w: (p <= t, q <= t, w >= 0, w <= 1),
                ),
                label="a mixture over the record's round keeps the bound of each round",
            ),
        ),
        uses=("composition/parallel-add-remove",),
        argument="The other records' rounds are the same on both data sets.",
    ),
    Proposition(
        "inprivate/halves",
        "section VI-B",
        "After T rounds the share 2^-T of the records is left.",
        about=(paper.round_share,),
        evidence=(
            Finite(
                lambda: range(1, 64),
                lambda rounds: 1 - sum(paper.round_share(t) for t in range(1, rounds + 1)) == paper.round_share(rounds),
                "1 to 63 rounds",
            ),
            Identity("r", lambda r: r - r / 2, lambda r: r / 2, label="and each round halves what is left"),
        ),
    ),
    Proposition(
        "inprivate/unused-records",
        "section VI-B, repaired",
        "Over T > 1 rounds, turns of log(1 + (e^epsilon - 1)/(1 - 2^-T)) cost epsilon.",
        ADD_REMOVE,
        about=(paper.round_share, pure.unsampled_excess),
        evidence=(
            Identity(
                "t u",
                lambda t, u: u + (1 - u) * (1 + pure.unsampled_excess(t - 1, 1 - u)),
                lambda t: t,
                label="t = e^epsilon, u = 2^-T",
            ),
            Proved(
                ForAll(
                    reals("u s"),
                    lambda u, s: (u + (1 - u) * s) * (u + (1 - u) / s) >= 1,
                    lambda u, s: (u >= 0, u <= 1, s > 0),
                ),
                label="the other way round, s = e^epsilon of a turn",
            ),
        ),
        uses=("inprivate/rounds-independent", "inprivate/halves"),
        argument="A record is in no turn with probability u, and outputs are then as without it, or in one, where the "
        "likelihood ratio is at most s.",
    ),
    Proposition(
        "inprivate/collusion",
        "section VI-B",
        "Where different owners' data sets are disjoint, what any owners see together costs another owner's record no "
        "more than that owner's own trees.",
        evidence=(
            Identity(
                "a b c p q",
                lambda a, b, c, p: a * p * b * c / (a * b * c),
                lambda p: p,
                positive=True,
                label="all other owners' densities, given the trees before theirs, cancel",
            ),
        ),
        argument="Each owner's tree depends on the trees before it and on that owner's records alone.",
    ),
    Proposition(
        "inprivate/model",
        "section VI-B",
        "If each tree is epsilon-DP and different trees use disjoint data sets, all trees are epsilon-DP together.",
        evidence=(Follows("each record is in the data of one tree"),),
        uses=("inprivate/collusion",),
    ),
    Proposition(
        "inprivate/advance",
        "section VI-B",
        "Stopping when the advance falls below p, measured on the owners' records, costs nothing.",
        ADD_REMOVE,
        about=(printed.mean_absolute_error,),
        evidence=(
            Exhibit(
                lambda: stopped((HALF, Fraction(0)), (HALF, Fraction(0), Fraction(0)), Fraction(1, 5)),
                "neighbours that stop differently",
            ),
        ),
        repaired_by="inprivate/advance-sum",
    ),
    Proposition(
        "inprivate/advance-replace-one",
        "section VI-B",
        "Stopping when the advance falls below p, measured on the owners' records, costs nothing.",
        REPLACE_ONE,
        about=(printed.mean_absolute_error,),
        evidence=(
            Exhibit(
                lambda: stopped((HALF, Fraction(0)), (Fraction(0), Fraction(0)), Fraction(1, 5)),
                "neighbours that stop differently",
            ),
        ),
        repaired_by="inprivate/advance-sum-replace-one",
    ),
    Proposition(
        "inprivate/mean-absolute-error",
        "Eq. 17",
        "A mean of n errors in [0, E], or accuracy with E = 1, changes by at most E/(n + 1) when a record is added.",
        ADD_REMOVE,
        about=(printed.error_sensitivity,),
        evidence=(
            Proved(
                AtMost(
                    (Count("n", start=1), Real("S"), Real("x"), Real("E")),
                    lambda n, S, x: absolute((S + x) / (n + 1) - S / n),
                    lambda n, E: printed.error_sensitivity(E, n, AR),
                    lambda n, S, x, E: (E > 0, S >= 0, n * E >= S, x >= 0, x <= E),
                ),
                tight=Tight(
                    "E/(n + 1)",
                    "for n errors of 0 and a new one of E",
                    at=lambda E: {"S": 0, "x": E},
                    near={"n": 2, "S": 0, "x": 1, "E": 1},
                    given=lambda n, E: (n >= 1, E > 0),
                ),
            ),
        ),
    ),
    Proposition(
        "inprivate/mean-absolute-error-replace-one",
        "Eq. 17",
        "A mean of n errors in [0, E], or accuracy with E = 1, changes by at most E/n when a record is replaced.",
        REPLACE_ONE,
        about=(printed.error_sensitivity,),
        evidence=(
            Proved(
                AtMost(
                    (Count("n", start=1), Real("S"), Real("x"), Real("z"), Real("E")),
                    lambda n, S, x, z: absolute((S + x) / n - (S + z) / n),
                    lambda n, E: printed.error_sensitivity(E, n, RO),
                    lambda x, z, E: (E > 0, x >= 0, x <= E, z >= 0, z <= E),
                ),
                tight=Tight(
                    "E/n",
                    "when an error of 0 becomes E",
                    at=lambda E: {"S": 0, "x": E, "z": 0},
                    near={"n": 2, "S": 0, "x": 1, "z": 0, "E": 1},
                    given=lambda n, E: (n >= 1, E > 0),
                ),
            ),
        ),
    ),
    Proposition(
        "inprivate/eq-16",
        "Eq. 16",
        "Every record falls into exactly one leaf, so that one coefficient is added to its score.",
        evidence=(
            Proved(
                ForAll((Real("x"), Real("v")), lambda x, v: (int(bool(x < v)) + int(bool(x >= v))) == 1),
                label="of x < v and x >= v exactly one holds, at every split of the path",
            ),
        ),
    ),
    Proposition(
        "inprivate/residuals-local",
        "section VI-B",
        "Evaluating earlier trees on own records costs nothing: a record's residual depends on it and released trees.",
        evidence=(Follows("a residual is a function of the record's label and its score by trees already released"),),
    ),
)

PROPOSITIONS = BUDGET + OWNERS_AND_ROUNDS
