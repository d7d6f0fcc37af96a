"""Causes of findings: class, severity, what they mean in plain words, how to mend them, where they are known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Class(StrEnum):
    """What a finding is about."""

    INFINITE = "proved infinite"
    SENSITIVITY = "sensitivity"
    BUDGET = "budget"
    FLOATING = "floating point"
    LOOK = "a place to look"


class Severity(StrEnum):
    """From the worst to what is no violation by itself."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    NOTE = "note"


@dataclass(frozen=True)
class Cause:
    """One cause. words: for somebody who does not know the program. advisory: where it was described, "" if nowhere.

    placed: whether a finding's name is also that of its part of the output, so that others of the cause are not it.
    """

    name: str
    title: str
    group: Class
    severity: Severity
    words: str
    remedy: str
    advisory: str = ""
    placed: bool = False


MIRONOV = (
    "Mironov 2012, On significance of the least significant bits for differential privacy; Haney, Desfontaines, "
    "Hartman, Shrestha, Hay 2022, Precision-based attacks and interval refining"
)
CASACUBERTA = (
    "Casacuberta, Shoemate, Vadhan, Wagaman 2022, Widespread underestimation of sensitivity in differentially private "
    "libraries and how to fix it"
)
DEBUGGING = "Tramer, Terzis, Steinke, Song, Jagielski, Carlini 2022, Debugging differential privacy"
RECORD_PLAY = "Cebere, Erb, Desfontaines, Bellet, Fitzsimons 2026 (Re:cord-play) describe the class"

INFINITE, SENSITIVITY, BUDGET, FLOATING, LOOK = Class
CRITICAL, HIGH, MEDIUM, NOTE = Severity

SENSITIVE = Cause(
    "sensitivity-exceeded",
    "One record changes more than the noise is for",
    SENSITIVITY,
    HIGH,
    "Noise is scaled to how far one record can move a number. Here a record moves it further than the code declares, "
    "so that the noise is too small by that factor.",
    "Clamp each record's contribution to public bounds before it is summed, and declare the largest change under the "
    "relation that is claimed: max(|low|, |high|) for a sum where a record is added, high - low where one is replaced.",
    CASACUBERTA,
)
NOT_A_NUMBER = Cause(
    "nan-passes",
    "A record that is not a number makes the output one that is not",
    INFINITE,
    CRITICAL,
    "Noise added to not-a-number is not-a-number: whoever sees that knows that the record is there.",
    "Replace values that are not finite by a public value before clamping.",
    RECORD_PLAY,
)
SCALE = Cause(
    "noise-too-small",
    "The noise is smaller than the declared sensitivity and cost ask for",
    BUDGET,
    HIGH,
    "The call itself says how much a record can move its value and what it costs; the scale that it uses is too small "
    "for that.",
    "Laplace noise needs scale sensitivity / epsilon; Gaussian noise the analytic calibration (Balle, Wang 2018).",
    DEBUGGING,
)
SAMPLER = Cause(
    "noise-drawn-too-small",
    "What is drawn is smaller than the scale says",
    BUDGET,
    HIGH,
    "The scale is right, but the numbers that come out of the generator do not have it.",
    "Test the sampler against its distribution, and draw from a maintained one.",
    DEBUGGING,
)
OVER = Cause(
    "budget-exceeded",
    "The run as a whole loses more than is claimed",
    BUDGET,
    HIGH,
    "Each release costs some of the budget, and together they cost more than the claim.",
    "Divide the budget among all releases that touch the same records, and count partitions as disjoint only where a "
    "record stays in its part whatever the other records are.",
)
UNRELEASED = Cause(
    "unreleased-value",
    "The result holds something that no noise was added to",
    INFINITE,
    CRITICAL,
    "With every noisy number the same, the published object still differs between the neighbours: this part of it "
    "is computed from the records directly.",
    "Publish released values, parameters and what follows from them alone; release counts with noise or leave them "
    "out.",
    RECORD_PLAY,
    placed=True,
)
FLOW = Cause(
    "data-dependent-flow",
    "Which noise is drawn depends on a record",
    BUDGET,
    HIGH,
    "With one record more or less the program asks for other noise, in another order or of another scale. No "
    "accounting of costs along one run covers this.",
    "Let shapes, bounds, scales, options and the number of steps follow from parameters or earlier releases only.",
    RECORD_PLAY,
)
OPTIONS = Cause(
    "data-dependent-options",
    "What can come out depends on a record",
    INFINITE,
    CRITICAL,
    "The choices or the number of values differ between neighbours: some output is possible for one of them only.",
    "Take candidates, categories and shapes from a public domain.",
    RECORD_PLAY,
)
ERROR = Cause(
    "error-on-one-side",
    "The program fails for one of the neighbours only",
    INFINITE,
    CRITICAL,
    "An error is an output, too: whoever sees it knows on which data set the program ran.",
    "Check parameters before records are touched, and clamp records instead of refusing them.",
)
SAME = Cause(
    "no-fresh-noise",
    "Every call gives the same output",
    BUDGET,
    CRITICAL,
    "The output does not vary from run to run and differs between the neighbours: no noise reaches it.",
    "Draw fresh noise in each call, seeded by the operating system.",
)
EXACT = Cause(
    "exact-statistic",
    "The output holds a statistic without noise",
    BUDGET,
    CRITICAL,
    "Beside noisy values there is a number that is the same in all runs and another one for the neighbour.",
    UNRELEASED.remedy,
    RECORD_PLAY,
    placed=True,
)
REUSED = Cause(
    "noise-reused",
    "Two outputs share one draw of noise",
    BUDGET,
    CRITICAL,
    "The noise of two outputs cancels in a combination of them, which then tells the records exactly.",
    "Draw noise for every released number by itself.",
    placed=True,
)
ONE_SIDED = Cause(
    "one-sided-output",
    "Some output was seen for one of the neighbours only",
    BUDGET,
    CRITICAL,
    "An output that comes up again and again for one data set never comes up for the other: whoever sees it knows.",
    "Use noise whose support does not depend on the true value (two-sided, not cut off at it), and domains that are "
    "public.",
    placed=True,
)
BITS = Cause(
    "floating-point-noise",
    "The last bits of noisy numbers tell the true value",
    FLOATING,
    MEDIUM,
    "Floating-point noise reaches different numbers from different true values: an output off the grid that one of "
    "them allows gives it away, whatever the scale of the noise.",
    "Add discrete noise on a public grid, or snap outputs to one that is coarse against the noise.",
    MIRONOV,
)
ROUNDING = Cause(
    "data-dependent-rounding",
    "How finely an output is rounded tells the data sets apart",
    FLOATING,
    HIGH,
    "How many decimals or digits an output has, or on which grid it lies, depends on a record. That shows whatever the "
    "noise is, exact noise too.",
    "Round every output to one public grid, and choose it before the records are seen.",
    placed=True,
)
EPSILON = Cause(
    "epsilon-exceeded",
    "Runs refute the claimed epsilon",
    BUDGET,
    HIGH,
    "An event was chosen on some runs and counted on others: one data set makes it likelier than the claim allows, "
    "beyond what chance explains.",
    "Look at what the event measures: scale, sensitivity under the claimed relation, and noise that is drawn twice.",
    DEBUGGING,
)
RANGE = Cause(
    "output-follows-record",
    "An output follows one record as far as it goes",
    SENSITIVITY,
    HIGH,
    "Records are not clamped: moving one of them far away moves the output with it.",
    SENSITIVE.remedy,
    CASACUBERTA,
    placed=True,
)
ORDER = Cause(
    "order-matters",
    "The outcome depends on the order of the records",
    LOOK,
    NOTE,
    "A partition by position moves other records when one is added; no violation by itself.",
    "Assign records to parts by a random choice of their own, and state the relation that is meant.",
    CASACUBERTA,
)
OTHER = Cause("other", "Something that should be looked at", LOOK, NOTE, "A check names it.", "Read the evidence.")

REPLAY = {
    "sensitivity": SENSITIVE, "NaN": NOT_A_NUMBER, "noise": SCALE, "sampler": SAMPLER, "budget": OVER,
    "result": UNRELEASED, "options": OPTIONS, "shape": OPTIONS, "error": ERROR,
}  # fmt: skip
"""By the kinds of an instrumented replay; any other parts the runs."""
STRUCTURAL = {
    "identical outputs": SAME, "exact statistic": EXACT, "reused noise": REUSED, "support": ONE_SIDED,
    "precision": BITS, "data-dependent range": RANGE, "positional partition": ORDER,
}  # fmt: skip
"""By the kinds of the structural checks."""

BY_NAME = {one.name: one for one in (*REPLAY.values(), *STRUCTURAL.values(), FLOW, ROUNDING, EPSILON, OTHER)}


def of_replay(kind: str) -> Cause:
    """The cause of a violation that a replay shows."""
    return REPLAY.get(kind, FLOW)


def of_structure(kind: str) -> Cause:
    """The cause of a structural finding."""
    return STRUCTURAL.get(kind, OTHER)
