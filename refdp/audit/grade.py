"""The replay audit of a trainer, in words for students: what each release did, and what the whole run can reveal.

graded = refdp.grade(train, schema, 1.0, "add-remove")
print(graded.text)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refdp.audit.inputs import inputs
from refdp.audit.isolated import Trainer
from refdp.audit.reached import beginning
from refdp.audit.replay import Violation
from refdp.audit.search import Search
from refdp.audit.trainer import TrainerReport, audit_trainer
from refdp.audit.verdicts import Verdict
from refdp.data.records import Schema
from refdp.privacy.events import Relation

SEARCH: dict[str, Any] = {"pairs": 40, "counts": (0, 1, 2, 7, 15, 49, 50, 99, 999), "steps": 96}
"""A short search, unless told otherwise: small data sets of every shape, special records, a few larger numbers, crowds
at the bounds and changes of the contents that move a release most."""

WORDS = {
    "exception": "an error tells about a record",
    "published object": "what is returned depends on a record by more than what was released",
    "model": "what is returned depends on a record by more than what was released",
    "side channel": "something that the run leaves beside its result depends on a record",
    "global state": "the run leaves a global generator or setting in a state that depends on a record",
    "state between calls": "something is kept from one call to the next",
    "control flow": "which releases there are depends on a record",
    "shape": "the shape of a release depends on a record",
    "options": "what can be chosen depends on a record",
    "mechanism": "the noise of a release depends on a record",
    "noise scale": "the noise has no valid scale",
    "noise law": "the noise that was drawn is not the declared one",
    "reused noise": "the same noise is used twice",
    "seeded noise": "the noise is the same in every run",
    "value": "a released value is not a finite number",
    "block": "a release changes with a record that is not in its block",
    "assignment": "who is in a sample or block depends on a record",
}  # fmt: skip
"""Violations that are no figures. Others are in their own words."""


@dataclass(frozen=True)
class Grade:
    """A graded submission. text: one finding a line, or that there is none. report: the audit it rests on."""

    report: TrainerReport
    text: str

    @property
    def passed(self) -> bool:
        """Whether nothing was violated, and nothing that the claim depends on was left out."""
        return self.report.ok


def grade(
    train: Trainer,
    schema: Schema,
    epsilon: float,
    relation: str | Relation = Relation.ADD_REMOVE,
    delta: float = 0.0,
    **search: Any,
) -> Grade:
    """Audit a submission `train(records, curator)` against the task's budget, and say what was found.

    schema: public bounds of the records that are made up. search: see `refdp.audit_trainer`; `SEARCH` unless given.
    Errors: InvalidParameter for a budget or a search outside the domain.
    """
    report = audit_trainer(train, schema, epsilon, delta, relation, **(SEARCH | search))
    ended = [] if report.ok or report.violations else list(_error(train, schema, report.relation))
    return Grade(report, "\n".join([*lines(report), *ended]))


def _error(train: Trainer, schema: Schema, relation: Relation) -> Iterator[str]:
    """The error that a run on made-up records ends with, and its line of the trainer's file; nothing without one."""
    pair = next(inputs(schema, relation, 0))
    raised = Search(train, 1.0, 0.0, relation, 0).recorded(pair.first(), 1).raised
    if not raised:
        return
    parts, start = dict(raised), beginning(train)
    own = [text for what, text in raised if what == "at" and start and text.startswith(f"{start[0]}:")]
    kind, _, shown = parts.get("error.args[0]", "").partition(" ")
    said = f": {ast.literal_eval(shown)}" if kind == "str" else ""
    yield f"on made-up records `train` ends with {parts['error']}{said}{f' ({Path(own[-1]).name})' if own else ''}"


def lines(report: TrainerReport) -> list[str]:
    """What was found, a line each; one line if there is nothing."""
    if report.ok:
        allowed = f"the task allows {_budget(report)}"
        stated = report.max_loss is not None and not report.delta  # with a delta, losses above epsilon may be allowed
        seen = f"the whole run revealed {report.max_loss:.4g} at most, {allowed}; " if stated else f"{allowed}; "
        return [f"no violation found: {seen}{report.pairs} neighbouring pairs tried"]
    told = {(v.kind, v.release) for v in report.violations}
    found = [
        _said(violation, report)
        for violation in report.violations
        if not (violation.kind.startswith("cost") and ("sensitivity", violation.release) in told)
    ]
    if found:
        return sorted(dict.fromkeys(found), key=lambda line: line.startswith("the whole run"))
    left = [row for row in report.coverage if row.verdict is Verdict.NOT_EXAMINED and row.decides]
    return [f"this cannot be graded: {row.reason} ({row.what})" for row in left]


def _said(violation: Violation, report: TrainerReport) -> str:
    where = f"release '{violation.release}'"
    seen, declared = violation.observed, violation.declared
    about = _record(violation.witness)
    match violation.kind:
        case "sensitivity":
            return f"{where} changes by {seen:.4g} between neighbours, declared {declared:.4g}{about}"
        case "cost" | "cost of order 2":
            order = "" if violation.kind == "cost" else " (of order 2)"
            return f"{where} costs epsilon {seen:.4g}{order}, its noise and sensitivity say {declared:.4g}{about}"
        case "loss":
            return f"the whole run can reveal {seen:.4g}, the task allows {_budget(report)}{about}"
        case "composition":
            return f"the whole run exceeds epsilon {report.epsilon:g} with probability {seen:.4g}, the task allows " + (
                f"{report.delta:g}{about}"
            )
        case "noise law" if seen is not None:
            return f"{where} draws noise of {seen:.4g} times the declared scale"
    detail = f": {violation.witness['detail']}" if "detail" in violation.witness else ""
    said = WORDS.get(violation.kind, f"{violation.kind} depends on a record")
    return f"{said} (at {violation.release or 'the whole run'}){detail}{about}"


def _budget(report: TrainerReport) -> str:
    return f"{report.epsilon:.4g}" + (f" with delta {report.delta:g}" if report.delta else "")


def _record(witness: dict[str, Any]) -> str:
    """The record that shows it, for somebody who wants to try it."""
    if "new_x" not in witness:
        return ""
    row = ", ".join(f"{value:.4g}" for value in witness["new_x"])
    old = ""
    if "old_x" in witness:
        old = f" for ({', '.join(f'{value:.4g}' for value in witness['old_x'])}) -> {witness['old_y']:.4g}"
    return f" [record ({row}) -> {witness['new_y']:.4g}{old}, beside {len(witness['base_y'])} others]"
