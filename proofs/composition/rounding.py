"""Rounding to float64: what it does to utilities and values that are computed from exact sums, and what that costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from proofs.checker.evidence import Proved
from proofs.checker.proposition import NONE, Proposition
from proofs.checker.statements import AtMost, ForAll, both, reals
from proofs.checker.tightness import Tight
from refdp.data.numbers import absolute
from refdp.papers import dpboost, dpxgboost, inprivate

UNIT = Fraction(1, 2**53)
"""Half the distance of 1 from the next float64: an operation's relative error, away from underflow and overflow."""


class Rounded:
    """A number whose every operation is off by a relative error of its own, taken from `errors` in order."""

    def __init__(self, value: Any, errors: Iterator[Any]) -> None:
        self.value, self.errors = value, errors

    def _made(self, exact: Any) -> Rounded:
        return Rounded(exact * (1 + next(self.errors)), self.errors)

    def __add__(self, other: Any) -> Rounded:
        return self._made(self.value + _exact(other))

    def __mul__(self, other: Any) -> Rounded:
        return self._made(self.value * _exact(other))

    def __truediv__(self, other: Any) -> Rounded:
        return self._made(self.value / _exact(other))

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.errors)


def _exact(number: Any) -> Any:
    return number.value if isinstance(number, Rounded) else number


def computed(formula: Callable[..., Any], errors: tuple[Any, ...], *operands: Any) -> Any:
    """The formula with every operation rounded. Operands are exact: sums on the public grid, counts, parameters."""
    left = iter(errors)
    return formula(*(Rounded(operand, left) for operand in operands)).value


def child(formula: Callable[..., Any], label: str) -> Proved:
    """One child's term, with its three operations rounded."""
    return Proved(
        AtMost(
            reals("G n lam a b c"),
            lambda G, n, lam, a, b, c: both(computed(formula, (a, b, c), G, n, lam) - formula(G, n, lam)),
            lambda G, n, lam: 4 * UNIT * formula(G, n, lam),
            lambda n, lam, a, b, c: (n >= 0, lam > 0, *(bound for e in (a, b, c) for bound in _small(e))),
        ),
        label=f"one child's term, {label}",
    )


def leaf(formula: Callable[..., Any], label: str) -> Proved:
    """A leaf's value, with its two operations rounded."""
    return Proved(
        AtMost(
            reals("G n lam a b"),
            lambda G, n, lam, a, b: both(computed(formula, (a, b), G, n, lam) - formula(G, n, lam)),
            lambda G, n, lam: 3 * UNIT * absolute(formula(G, n, lam)),
            lambda n, lam, a, b: (n >= 0, lam > 0, *_small(a), *_small(b)),
        ),
        label=label,
    )


def _small(error: Any) -> tuple[Any, Any]:
    return error >= -UNIT, error <= UNIT


SUM = Proved(
    AtMost(
        reals("L R x y a"),
        lambda L, R, x, y, a: both((L * (1 + x) + R * (1 + y)) * (1 + a) - (L + R)),
        lambda L, R: 6 * UNIT * (L + R),
        lambda L, R, x, y, a: (
            *(L >= 0, R >= 0, x >= -4 * UNIT, x <= 4 * UNIT, y >= -4 * UNIT, y <= 4 * UNIT),
            *_small(a),
        ),
    ),
    label="the sum of two terms L, R that are off by factors 1 + x, 1 + y",
)
PARENT = Proved(
    AtMost(
        reals("S P x z b"),
        lambda S, P, x, z, b: both((S * (1 + x) - P * (1 + z)) * (1 + b) - (S - P)),
        lambda S, P: 8 * UNIT * (S + P),
        lambda S, P, x, z, b: (
            *(S >= 0, P >= 0, x >= -6 * UNIT, x <= 6 * UNIT, z >= -4 * UNIT, z <= 4 * UNIT),
            *_small(b),
        ),
    ),
    label="that sum S less the parent's term P, off by factors 1 + x, 1 + z",
)

PROPOSITIONS = (
    Proposition(
        "composition/rounded-utilities",
        "refdp's arithmetic",
        "If computed utilities are within r of the exact ones, the range of their changes grows by at most 4 r.",
        NONE,
        evidence=(
            Proved(
                AtMost(
                    reals("u v s t c d a b R r"),
                    lambda c, d, a, b: (d - c) - (b - a),
                    lambda R, r: R + 4 * r,
                    lambda u, v, s, t, c, d, a, b, R, r: (
                        *(r >= 0, (v - u) - (t - s) <= R),
                        *(bound for x, y in ((u, c), (v, d), (s, a), (t, b)) for bound in (y - x <= r, x - y <= r)),
                    ),
                ),
                tight=Tight(
                    "R + 4 r",
                    "where all four errors point apart",
                    at=lambda R, r: {"u": 0, "v": R, "s": 0, "t": 0, "c": -r, "d": R + r, "a": r, "b": -r},
                    near={"u": 0, "v": 1, "s": 0, "t": 0, "c": -1, "d": 2, "a": 1, "b": -1, "R": 1, "r": 1},
                    given=lambda R, r: (r >= 0, R >= 0),
                ),
            ),
        ),
        gloss="u, v: an option's exact utility on two neighbours, c, d: as computed; s, t and a, b: another option's. "
        "R: the exact range. Nodes whose records are the same compute the same. "
        "By composition/exponential-range the loss grows by 4 k r.",
    ),
    Proposition(
        "composition/rounded-values",
        "refdp's arithmetic",
        "If computed values are within r of the exact ones, a value's change grows by at most 2 r.",
        NONE,
        evidence=(
            Proved(
                AtMost(
                    reals("u v c d r"),
                    lambda c, d: absolute(c - d),
                    lambda u, v, r: absolute(u - v) + 2 * r,
                    lambda u, v, c, d, r: (r >= 0, c - u <= r, u - c <= r, d - v <= r, v - d <= r),
                ),
                tight=Tight(
                    "|u - v| + 2 r",
                    "where both errors point apart",
                    at=lambda u, r: {"v": u - 1, "c": u + r, "d": u - 1 - r},
                    near={"u": 1, "v": 0, "c": 2, "d": -1, "r": 1},
                    given=lambda r: r >= 0,
                ),
            ),
        ),
        gloss="u, v: the exact value on two neighbours, c, d: as computed. Values whose records are the same compute "
        "the same.",
    ),
    Proposition(
        "composition/rounded-gain",
        "refdp's arithmetic",
        "From exact sums the gain of a split is computed within 6 2^-53 of itself, with a parent's term within "
        "8 2^-53 of the sum of the three terms.",
        NONE,
        about=(dpboost.child_gain, dpxgboost.child_gain, inprivate.nonempty_score),
        evidence=(
            child(dpboost.child_gain, "DPBoost"),
            child(dpxgboost.child_gain, "DP-XGBoost"),
            Proved(
                AtMost(
                    reals("G n a b"),
                    lambda G, n, a, b: both(
                        computed(inprivate.nonempty_score, (a, b), G, n) - inprivate.nonempty_score(G, n)
                    ),
                    lambda G, n: 4 * UNIT * inprivate.nonempty_score(G, n),
                    lambda n, a, b: (n >= 1, *_small(a), *_small(b)),
                ),
                label="one node's term, InPrivate",
            ),
            SUM,
            PARENT,
        ),
        gloss="G: a sum of gradients on the grid 2^-24, exact below 2^29 and so at least 2^-24 or 0; n: a count or a "
        "sum of Hessians, also exact. A node of n records with |g| <= g* has G^2/(n + lambda) <= g*^2 n, so that the "
        "loss of a choice grows by less than a factor 1 + 2^-50 n.",
    ),
    Proposition(
        "composition/rounded-leaf",
        "refdp's arithmetic",
        "From exact sums a leaf value -G/(n + lambda) is computed within 3 2^-53 of itself.",
        NONE,
        about=(dpboost.leaf_value, dpxgboost.leaf_value),
        evidence=(leaf(dpboost.leaf_value, "DPBoost"), leaf(dpxgboost.leaf_value, "DP-XGBoost")),
        gloss="G, n as in composition/rounded-gain. Cutting to an interval rounds nothing.",
    ),
    Proposition(
        "composition/grid-sums",
        "refdp's arithmetic",
        "A sum of fewer than 2^53 / (g / 2^-24) multiples of 2^-24, each within g, is at most 2^53 times the grid, as "
        "are all its parts: float64 adds them exactly, in any order.",
        NONE,
        evidence=(
            Proved(
                ForAll(
                    reals("n g S"),
                    lambda S: (S <= 2**53, -S <= 2**53),
                    lambda n, g, S: (n >= 0, g >= 0, n * g >= S, n * g >= -S, n * g <= 2**53),
                )
            ),
        ),
        gloss="n summands of at most g grid units; S: any partial sum in grid units, an integer.",
    ),
)
