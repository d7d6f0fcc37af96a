"""The coverage table of an audit by one run with canaries: it sees coins and scores, and nothing of the program."""

from __future__ import annotations

from refdp.audit.verdicts import Row, Verdict, completed


def coverage(
    epsilon: float, claimed: float | None, confidence: float, canaries: int, most: float | None
) -> tuple[Row, ...]:
    """The whole table.

    epsilon: the bound from below. claimed: None where nothing was claimed that it could refute. most: the bound that
    the same number of guesses gives where all are right, None where no number limits it.
    """
    refuted = claimed is not None and epsilon > claimed
    reason = f"epsilon is at least {epsilon:.4g} by one run with {canaries} canaries, confidence {confidence:.9g}"
    power = "" if most is None else f"bounds up to {most:.4g}, which need every guess to be right"
    own = Row("composition", Verdict.VIOLATION if refuted else Verdict.NOT_FOUND, reason, power)
    blind = "one run shows coins and scores alone: a claim about their bound does not depend on it"
    return tuple(
        row if row.what == own.what else Row(row.what, Verdict.NOT_EXAMINED, blind, decides=False)
        for row in completed([own])
    )
