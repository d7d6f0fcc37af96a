"""InPrivate Digging: gain, its sensitivity and range."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Counterexample, Identity, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Count, ForAll, Real, reals, within
from proofs.checker.tightness import Tight
from refdp.data.numbers import absolute
from refdp.papers import inprivate as paper
from refdp.papers.published import inprivate as printed
from refdp.privacy.events import Relation

AR, RO = Relation.ADD_REMOVE, Relation.REPLACE_ONE
BOUND = Real("B")
NODE = (Real("G"), Count("n"), Real("y"))
SPLIT = (Real("L"), Count("n"), Real("R"), Count("m"), Real("y"), BOUND)
MANY, TWO = Fraction(10**4), Fraction(2)


def as_n_grows(change: Callable[..., Any], bound: Callable[..., Any], constant: str, where: str, label: str) -> Proved:
    """The change on data sets of size n stays below the bound and tends to it. constant, where, label: in words."""
    return Proved(
        AtMost((Count("n", start=1),), change, bound),
        tight=Tight(constant, where, at=lambda k: {"n": k}, near={"n": 10**5}, limit=True),
        label=label,
    )


def node(G: Any, n: Any, y: Any) -> tuple[Any, ...]:
    """n residuals within [-1, 1] that sum to G, and one more, y; B = 1 is the unit of residuals."""
    return *within(G, n), *within(y, 1)


def slack(G: Any, n: Any, y: Any) -> Any:
    """y^2 minus the change of a node's score when the residual y joins it."""
    return y * y - (paper.node_score(G + y, n + 1) - paper.node_score(G, n))


def slacks(**values: Any) -> tuple[Any, ...]:
    """Each is a slack: at least 0 and below 4 (inprivate/node-change)."""
    return tuple(side for value in values.values() for side in (value >= 0, value < 4))


def gain_change(L: Any, n: Any, R: Any, m: Any, y: Any) -> Any:
    """Change of the gain when a residual joins the left child."""
    return paper.gain(L + y, n + 1, R, m) - paper.gain(L, n, R, m)


def plain_gain(L: Any, n: Any, R: Any, m: Any) -> Any:
    """The gain of a split without empty children."""
    score = paper.nonempty_score
    return score(L, n) + score(R, m) - score(L + R, n + m)


def plain_change(L: Any, n: Any, R: Any, m: Any, y: Any) -> Any:
    """Its change when a residual joins the left child."""
    return plain_gain(L + y, n + 1, R, m) - plain_gain(L, n, R, m)


def plain_slack(G: Any, n: Any, y: Any) -> Any:
    """`slack` of a node that is not empty."""
    return y * y - (paper.nonempty_score(G + y, n + 1) - paper.nonempty_score(G, n))


def alone(T: Any, t: Any, y: Any) -> Any:
    """Change of the gain when y is alone in the left child and t residuals of sum T are on the right."""
    return y * y + paper.nonempty_score(T, t) - paper.nonempty_score(T + y, t + 1)


def replaced_change(n: Any) -> Any:
    """Change of the gain when, beside n residuals -1 on the left and n^2 of 1 on the right, a left 1 becomes -1."""
    return plain_change(-n, n, n * n, n * n, -1) - plain_change(-n, n, n * n, n * n, 1)


def two_candidates(n: Any) -> Any:
    """Range over two candidates when 1 joins: alone in an empty child, or among n of -1; n^2 records are 1."""
    return alone(n * n - n, n * n + n, 1) - plain_change(-n, n, n * n, n * n, 1)


def two_candidates_replaced(n: Any) -> Any:
    """The same when -1 becomes 1: one candidate keeps it among n of 1, the other among n of -1."""
    first = plain_change(-n, n, n, n, 1) - plain_change(-n, n, n, n, -1)
    second = plain_change(n, n, -n, n, 1) - plain_change(n, n, -n, n, -1)
    return second - first


def errors_of_split(a: Any, b: Any, c: Any, d: Any) -> Any:
    """E - E_L - E_R from the residuals themselves, two on each side."""
    return printed.square_error([a, b, c, d]) - printed.square_error([a, b]) - printed.square_error([c, d])


PROPOSITIONS = (
    Proposition(
        "inprivate/gain",
        "section III-B and Alg. 1, l. 8",
        "E = (sum of squares) - G^2/n in every node, so E - E_L - E_R = G_L^2/n_L + G_R^2/n_R - G^2/n.",
        about=(printed.square_error, paper.node_score, paper.nonempty_score, paper.gain),
        evidence=(
            Proved(
                ForAll(
                    (Count("n", start=1), Real("G"), Real("Q")),
                    lambda n, G, Q: (
                        Q - 2 * printed.mean_residual(G, n) * G + n * printed.mean_residual(G, n) ** 2
                        == Q - paper.node_score(G, n)
                    ),
                ),
                label="E expanded, for any number of residuals with sum G and sum of squares Q",
            ),
            Proved(
                ForAll(
                    reals("a b c d"),
                    lambda a, b, c, d: (
                        errors_of_split(a, b, c, d) == paper.gain(a + b, Fraction(2), c + d, Fraction(2))
                    ),
                ),
                label="the code, on four residuals",
            ),
        ),
    ),
    Proposition(
        "inprivate/node-change",
        "section V-A",
        "y^2 minus the change of G^2/n lies in [0, 4 B^2) when a residual y joins a node.",
        ADD_REMOVE,
        about=(paper.node_score,),
        evidence=(
            Proved(AtMost(NODE, slack, lambda: 4, node, strict=True), label="from above"),
            as_n_grows(
                lambda n: plain_slack(-n, n, 1),
                lambda: 4,
                "4 B^2",
                "as n grows, for n residuals of -B and a new one of B",
                "a family that approaches it",
            ),
            Proved(AtMost(NODE, lambda G, n, y: -slack(G, n, y), lambda: 0, node), label="from below"),
            Identity(
                "G n B",
                lambda G, n, B: paper.node_score(B * G, n),
                lambda G, n, B: B * B * paper.node_score(G, n),
                label="B = 1 is a choice of unit",
            ),
        ),
    ),
    Proposition(
        "inprivate/gain-sensitivity",
        "section V-A",
        "The gain's sensitivity for log loss is 4.",
        ADD_REMOVE,
        about=(paper.gain, printed.gain_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost(
                    SPLIT,
                    lambda L, n, R, m, y: absolute(gain_change(L, n, R, m, y)),
                    printed.gain_sensitivity_as_published,
                    lambda L, n, R, m, y, B: (B < 2, *within(L, n * B), *within(R, m * B), *within(y, B)),
                ),
                {"L": 0, "n": 0, "R": -15, "m": 10, "y": Fraction(3, 2), "B": Fraction(3, 2)},
            ),
        ),
        uses=("inprivate/residual-bound-repaired",),
        argument="Residuals of 3/2 belong to records that the earlier trees score log(3)/2 on the wrong side.",
        repaired_by="inprivate/gain-sensitivity-repaired",
    ),
    Proposition(
        "inprivate/gain-sensitivity-repaired",
        "section V-A, repaired",
        "With residuals within [-B, B] the gain changes by less than 4 B^2 when a record is added.",
        ADD_REMOVE,
        about=(paper.gain, printed.gain_change),
        evidence=(
            as_n_grows(
                lambda n: alone(-n, n, 1),
                lambda: printed.gain_change(1, AR),
                "4 B^2",
                "as n grows, for n residuals of -B and a new one of B alone in its child",
                "a family that approaches it",
            ),
            Identity(
                "L n R m y",
                plain_change,
                lambda L, n, R, m, y: plain_slack(L + R, n + m, y) - plain_slack(L, n, y),
                positive=True,
                label="the change is the parent's slack minus the child's",
            ),
            Proved(
                ForAll(
                    (Real("R"), Count("m", start=1), Real("y")),
                    lambda R, m, y: (
                        gain_change(0 * y, 0 * y, R, m, y) == plain_slack(R, m, y) - slack(0 * y, 0 * y, y),
                        slack(0 * y, 0 * y, y) == 0,
                    ),
                ),
                label="in an empty child too, whose slack is 0",
            ),
            Proved(
                AtMost(
                    (Real("parent"), Real("child")),
                    lambda parent, child: absolute(parent - child),
                    lambda: printed.gain_change(1, AR),
                    slacks,
                    strict=True,
                ),
                label="so up and down",
            ),
        ),
        uses=("inprivate/node-change",),
    ),
    Proposition(
        "inprivate/gain-sensitivity-replace-one",
        "section V-A",
        "The gain's sensitivity is 4 for residuals in [-1, 1].",
        REPLACE_ONE,
        about=(paper.gain, printed.gain_sensitivity_as_published),
        evidence=(
            Counterexample(
                AtMost((Count("n"),), replaced_change, lambda: printed.gain_sensitivity_as_published()), {"n": 10}
            ),
        ),
        argument="The data sets: n residuals -1 and one 1, or one more -1, on the left; n^2 residuals 1 on the right.",
        repaired_by="inprivate/gain-sensitivity-repaired-replace-one",
    ),
    Proposition(
        "inprivate/gain-sensitivity-repaired-replace-one",
        "section V-A, repaired",
        "With residuals within [-B, B] the gain changes by less than 8 B^2 when a record is replaced.",
        REPLACE_ONE,
        about=(paper.gain, printed.gain_change),
        evidence=(
            as_n_grows(
                replaced_change,
                lambda: printed.gain_change(1, RO),
                "8 B^2",
                "as n grows: a residual B among n of -B, facing n^2 of B, becomes -B",
                "that pair",
            ),
            Proved(
                AtMost(
                    reals("a b c d"),
                    lambda a, b, c, d: absolute((a - b) - (c - d)),
                    lambda: printed.gain_change(1, RO),
                    slacks,
                    strict=True,
                ),
                label="any pair: slacks of parent and child for the record that arrives and the one that leaves",
            ),
        ),
        uses=("inprivate/node-change", "inprivate/gain-sensitivity-repaired"),
    ),
    Proposition(
        "inprivate/gain-range",
        "section V-A, range form",
        "When a record is added, the changes of a node's candidates lie within an interval of length 4 B^2.",
        ADD_REMOVE,
        about=(paper.gain, paper.gain_range),
        evidence=(
            as_n_grows(
                two_candidates,
                lambda: paper.gain_range(1, AR),
                "4 B^2",
                "as n grows: B joins, alone by one candidate, among n of -B by another, n^2 residuals being B",
                "that pair of candidates",
            ),
            Proved(
                AtMost(
                    (Real("parent"), Real("first"), Real("second")),
                    lambda parent, first, second: (parent - second) - (parent - first),
                    lambda: paper.gain_range(1, AR),
                    lambda first, second: slacks(first=first, second=second),
                    strict=True,
                ),
                label="any two: the parent's slack cancels",
            ),
        ),
        uses=("inprivate/node-change", "inprivate/gain-sensitivity-repaired"),
    ),
    Proposition(
        "inprivate/gain-range-replace-one",
        "section V-A, range form",
        "When a record is replaced, the ranges of the changes, summed over the nodes of a level, are at most 8 B^2.",
        REPLACE_ONE,
        about=(paper.gain, paper.gain_range),
        evidence=(
            as_n_grows(
                two_candidates_replaced,
                lambda: paper.gain_range(1, RO),
                "8 B^2",
                "as n grows: -B becomes B, among n of -B by one candidate and among n of B by another",
                "that pair of candidates",
            ),
            Proved(
                AtMost(
                    reals("a b c d"),
                    lambda a, b, c, d: (a - b) + (c - d),
                    lambda: paper.gain_range(1, RO),
                    slacks,
                    strict=True,
                ),
                label="any two, in one node or two: one record leaves, one arrives, parents cancel",
            ),
        ),
        uses=("inprivate/node-change", "inprivate/gain-range"),
    ),
)
