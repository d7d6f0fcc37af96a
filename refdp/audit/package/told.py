"""What a finding says, in words for somebody who knows neither refdp nor the package."""

from __future__ import annotations

import math
from typing import Any

from refdp.audit.package.findings import Finding
from refdp.audit.package.scope import Claim
from refdp.privacy.events import Relation

DECLARED = {
    "sensitivity": "Between these two data sets the true value moves by {observed}; the noise is made for {declared}.",
    "cost": "This release loses {observed} on these data sets; {declared} is what it is declared to cost.",
    "budget": "On these data sets the run loses {observed}; {declared} is what is stated.",
    "loss": "On these data sets the run loses {observed}; {declared} is what is stated.",
    "noise": "The noise that the call asks for needs {observed}; {declared} is what it says it costs.",
    "sampler": "What is drawn has the size {observed}; {declared} is what the call asks for.",
}
"""By the kinds of an instrumented replay."""


def allowed(claim: Claim) -> str:
    """What the claim allows."""
    change = "with one more or one less" if claim.relation is Relation.ADD_REMOVE else "with one exchanged for another"
    apart = f", but for results of total chance {claim.delta:g}" if claim.delta else ""
    return f"no result may be more than {math.exp(claim.epsilon):.3g} times as likely {change}{apart}"


def plain(one: Finding) -> str:
    """What was seen, and what the claim allows; "" where the figures alone can say it."""
    figures = one.figures
    if one.stage == "black box":
        said = _counted(figures)
    elif one.kind == "result" and {"first", "second"} <= figures.keys():
        said = (
            f"With every noisy number the same, this part of the result is {figures['first']} on the first data set "
            f"and {figures['second']} on the second."
        )
    elif one.kind in DECLARED and {"declared", "observed"} <= figures.keys():
        shown = {key: _number(figures[key]) for key in ("declared", "observed")}
        said = DECLARED[one.kind].format(**shown)
    elif one.kind == "support" and {"value", "seen on", "times"} <= figures.keys():
        said = (
            f"The result {figures['value']} came up in {figures['times']} runs on the {figures['seen on']} data set, "
            f"in {figures.get('times on the other side', 0)} on the other."
        )
    elif one.kind == "exact statistic" and {"first", "second"} <= figures.keys():
        said = f"It is {figures['first']} in every run on the first data set, {figures['second']} on the second."
    else:
        return ""
    return f"{said} Claimed is that {allowed(one.claim)}." if one.violation else said


def _counted(figures: Any) -> str:
    event, _, side = str(figures["event"]).rpartition(", ")
    likelier, other = ("first", "second") if side.startswith("first") else ("second", "first")
    if not side.endswith("side likelier"):
        event, likelier, other = str(figures["event"]), "likelier", "other"
    here, there = figures["counts"]
    return (
        f"In {figures['runs a side']} runs on each data set, “{event}” came up {here} times on the {likelier} and "
        f"{there} times on the {other} one."
    )


def _number(value: Any) -> str:
    return {"inf": "more than any number", "nan": "an amount that has no bound"}.get(
        str(value)
    ) or f"{float(value):.4g}"
