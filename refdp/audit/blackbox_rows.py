"""The coverage table of a black-box audit: it sees outputs of one function on one pair, and nothing inside."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refdp.audit.binomial import Counts, clopper_pearson
from refdp.audit.blackbox import Bound
from refdp.audit.events_statistics import COORDINATES, LOWEST_BITS, about_digits, digits_of
from refdp.audit.verdicts import Row, Verdict, completed

FOUND, LOOKED, LEFT = Verdict.VIOLATION, Verdict.NOT_FOUND, Verdict.NOT_EXAMINED
SUBJECT = {"reused noise": "sampler", "identical outputs": "sampler", "precision": "floating point"}
"""Which row a structural finding belongs to; any other is about what is published."""


BESIDES = (
    "and by whether they are the same: names, texts, types, shapes, layouts, order, how numbers are written, and which "
    "error it was"
)
"""What of an output is compared besides its numbers."""
SEARCHED = (
    "if it is one of those searched: values of one number, of a difference or quotient of two of at most six that "
    "vary, its last bits and digits, what it leaves modulo the step of outputs, whole outputs, scores of classifiers"
)
"""Which events a statement of power is about."""
KEPT = (
    "runs follow each other in a process and were not compared by which came before; the bound takes them to be "
    "independent, which those are not that publish what others left"
)
"""Why nothing is said of what a function keeps from one run to the next."""


@dataclass(frozen=True)
class Looked:
    """What was done.

    sizes: records on both sides. calls: runs a side of structural checks. low_bits: whether they were looked at.
    pairs: how many pairs of data sets were tried. score: of outputs, which is output 0 then, "" for none.
    reordered: whether both data sets have the same records. few: whether the claim asks for more runs than the
    structural checks have.
    """

    sizes: tuple[int, ...]
    calls: int
    low_bits: bool
    pairs: int = 1
    score: str = ""
    reordered: bool = False
    few: bool = False


def coverage(bound: Bound, findings: Sequence[Mapping[str, Any]], looked: Looked) -> tuple[Row, ...]:
    """The whole table."""
    return completed(_rows(bound, findings, looked))


def by_last_bits(bound: Bound) -> bool:
    """Whether the claim is refuted by an event about last bits or digits of floating-point noise."""
    return bound.refuted and about_digits(bound.event)


def _rows(bound: Bound, findings: Sequence[Mapping[str, Any]], looked: Looked) -> Iterator[Row]:
    runs = f"{bound.samples:,} runs a side of {looked.pairs} pair{'s' * (looked.pairs > 1)}"
    for finding in findings:
        if finding["violation"]:
            kind = str(finding["kind"])
            what = SUBJECT.get(kind, "published object")
            yield Row(what, FOUND, f"{kind}: {finding['meaning']}")
    if by_last_bits(bound):
        last = digits_of(bound.event) == LOWEST_BITS
        by, of = ("last bits", "ideal noise") if last else (f"digits ({bound.event})", "what is besides")
        yield Row("floating point", FOUND, f"epsilon is at least {bound.lower:.4g} by {by}")
        yield Row("composition", LEFT, f"the audit ended with {by}: nothing is known of {of}", decides=False)
    elif bound.refuted:
        yield Row("composition", FOUND, f"epsilon is at least {bound.lower:.4g}, confidence {bound.confidence:.9g}")
    elif bound.still:
        yield Row("composition", LEFT, f"{runs} gave one output a pair: nothing was compared that could differ")
    elif looked.reordered:
        yield Row("composition", LEFT, "the same records in another order on both sides: no record differs")
    elif bound.needed:
        yield Row("composition", LEFT, f"epsilon is at least {bound.lower:.4g} in {runs}: {short(bound)}")
    else:
        together = "all outputs together" + (f" and the score {looked.score}, output 0" if looked.score else "")
        yield Row("composition", LOOKED, f"epsilon is at least {bound.lower:.4g} in {runs}, {together}",
                  power(bound))  # fmt: skip
    for place in bound.unread:
        yield Row("published object", LEFT, f"{place}: not looked at")
    yield Row("published object", LOOKED, f"{runs}: the numbers in the output, {BESIDES}")
    yield Row("both directions", LOOKED, "every event was tested on either side")
    shown = " and ".join(str(size) for size in sorted(set(looked.sizes)))
    yield Row("record counts", LOOKED, f"data sets of {shown} records; no others", "what shows on these")
    if looked.low_bits:
        of = "outputs" if bound.columns <= COORDINATES else f"at most {2 * COORDINATES} of {bound.columns:,} numbers"
        yield Row("floating point", LOOKED, f"last bits, decimals and denominators of {of} are among the events",
                  decides=False)  # fmt: skip
    else:
        yield Row("floating point", LEFT, "last bits were left out on request: noise is taken as ideal", decides=False)
    checks = f"structural checks in {looked.calls} runs a side"
    if looked.few:
        yield Row("sampler", LEFT, f"{checks}: too few to show a violation of the claim", decides=False)
    elif looked.calls:
        yield Row("sampler", LOOKED, checks, decides=False)
    else:
        yield Row("sampler", LEFT, "structural checks were left out", decides=False)
    yield Row("state between calls", LEFT, KEPT, decides=False)
    for what in ("releases", "scopes", "secret randomness", "noise law and scale", "control flow"):
        yield Row(what, LEFT, "a black box shows its outputs alone: a claim about them does not depend on it",
                  decides=False)  # fmt: skip
    yield Row("side channels", LEFT, "errors are outputs; what is printed, written or kept was not compared",
              decides=False)  # fmt: skip
    yield Row("time", LEFT, "how long a run takes was not measured", decides=False)


def few_of(columns: int) -> str:
    """Which of many numbers are looked at one by one, in words."""
    return (
        f"of {columns:,} numbers one by one those {COORDINATES} whose means lie farthest apart on earlier runs, and of "
        f"{COORDINATES} others, whose digits do, these"
    )


def short(bound: Bound) -> str:
    """That so few runs need not show any violation, and how many would."""
    claim = f"epsilon {bound.claimed:g}" + f" at delta {bound.delta:g}" * (bound.delta > 0)
    needed = f"{bound.needed:,}" if bound.needed < 1e12 else "more than a trillion"
    return (
        f"too few runs to show a violation of {claim}, were it of all runs of one side and none of the other; {needed} "
        "a side are needed"
    )


def power(bound: Bound) -> str:
    """The least epsilon that the last look would have shown with 95%, of an event of which half of one side's runs is.

    By Clopper and Pearson's test at an even share of its error; bets need less. Of other events than those that are
    searched, as the parity of many outputs, nothing is said.
    """
    searched = SEARCHED if bound.columns <= COORDINATES else f"{SEARCHED}, {few_of(bound.columns)}"
    claimed = math.inf if bound.claimed is None else bound.claimed
    runs, error = bound.last, (1 - bound.confidence) / 4 / bound.pairs
    if not math.isfinite(claimed) or runs < 1:
        return ""
    likelier = int(runs / 2 - 1.65 * math.sqrt(runs) / 2)
    for step in range(1, 60):
        epsilon = claimed + 0.05 * 1.15**step
        expected = runs / 2 * math.exp(-epsilon)
        counts = Counts(likelier, min(math.ceil(expected + 1.65 * math.sqrt(expected)), runs), runs)
        if clopper_pearson(counts, bound.delta, error) > claimed:
            return f"epsilon {epsilon:.3g} (95%), by an event that half of one side's runs hit, {searched}"
    return f"no violation of an event that half of one side's runs hit, {searched}: too few runs"
