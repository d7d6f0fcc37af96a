"""The coverage table of an audit by one run with canaries: it sees coins and scores, and nothing of the program."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from refdp.audit.onerun_tradeoff import within_floats
from refdp.audit.verdicts import Row, Verdict, completed
from refdp.errors import InvalidParameter

CHANCE = 1e-9
"""What chance does not do: coins less fair than that, and guesses that are wrong more often."""


def coverage(
    epsilon: float, claimed: float | None, confidence: float, canaries: int, most: float | None, blind: str = ""
) -> tuple[Row, ...]:
    """The whole table.

    epsilon: the bound from below. claimed: None where nothing was claimed that it could refute. most: the bound that
    the same number of guesses gives where all are right, None where no number limits it. blind: why these scores could
    not show a violation, if they could not.
    """
    refuted = claimed is not None and epsilon > claimed
    reason = f"epsilon is at least {epsilon:.4g} by one run with {canaries} canaries, confidence {confidence:.9g}"
    power = "" if most is None else f"bounds up to {most:.4g}, which need every guess to be right"
    if claimed is not None and most is not None and most <= claimed:
        blind = (
            blind
            or f"all guesses right would give {most:.4g}, not above the claim: more canaries or guesses are needed"
        )
    quiet = Verdict.NOT_EXAMINED if blind else Verdict.NOT_FOUND
    own = Row("composition", Verdict.VIOLATION if refuted else quiet, f"{reason}; {blind}" if blind else reason, power)
    beyond = "one run shows coins and scores alone: a claim about their bound does not depend on it"
    return tuple(
        row if row.what == own.what else Row(row.what, Verdict.NOT_EXAMINED, beyond, decides=False)
        for row in completed([own])
    )


def check_coins(included: NDArray[np.bool_]) -> None:
    """Errors: InvalidParameter where so many, or so few, canaries are in that the coins were not fair.

    Shape: (canaries,).
    """
    heads = int(np.count_nonzero(included))
    if stats.binomtest(heads, len(included)).pvalue < CHANCE:
        raise InvalidParameter(f"{heads} of {len(included)} canaries are in: fair coins do not fall so")


def blind(scores: NDArray[np.float64], right: int, guesses: int) -> str:
    """Why guesses from such scores, of shape (canaries,), could not show a violation; empty where they could."""
    if len(np.unique(scores)) == 1:
        return "all scores are equal, and tell nothing of the coins"
    if stats.binom.cdf(right, guesses, 0.5) < CHANCE:
        return f"{guesses - right} of {guesses} guesses are wrong, {TURNED}"
    return ""


def blind_alone(included: NDArray[np.bool_], scores: NDArray[np.float64]) -> str:
    """The same of scores that are compared by their deviation. Both of shape (canaries,)."""
    scaled = within_floats(scores)
    inside, outside = scaled[included], scaled[~included]
    if min(len(inside), len(outside)) < 2:
        return "fewer than two canaries are in, or out"
    if len(np.unique(inside)) == len(np.unique(outside)) == 1:
        return "scores without noise are not what is assumed"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # one side's scores are all equal: the other's noise counts
        lower = stats.ttest_ind(inside, outside, alternative="less").pvalue < CHANCE
    if lower:
        return f"scores of canaries that are in are lower, {TURNED}"
    return ""


TURNED = "which chance does not do: a higher score has to be the likelier in"
"""Of scores that say the opposite, such as losses."""
