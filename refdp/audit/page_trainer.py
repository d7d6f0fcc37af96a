"""The page of the audit of anyone's trainer: verdict, chances, findings with their data, the exact curve, coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from refdp.audit.exact_curve import exact_change, outcomes
from refdp.audit.page import Figure, Page, Shown, drawn, ratio_figure
from refdp.audit.page_chances import bars, chances
from refdp.audit.page_exact import exact_figure
from refdp.audit.page_replay import drawn_violation, made, verdict, witness_of
from refdp.audit.page_sources import function_line
from refdp.audit.page_words import claim_in_words, finding_in_words
from refdp.audit.replay import HasJson, Violation, loss_in_words
from refdp.audit.trainer import TrainerReport
from refdp.data.records import Records
from refdp.privacy.curator import Curator

METHOD = (
    "Replay: the outputs of each run were fed back on its neighbour, so that privacy losses are exact, not estimated "
    "(after Re:cord-play, Cebere et al. 2026), and everything else that the run shows was compared. The exact curve is "
    "computed from a release's law on both sides."
)
LIMITS = (
    "An audit covers the pairs and runs that it replayed. That it finds nothing is no proof.",
    "Running time, memory, threads and other processes are not compared.",
)


@dataclass(frozen=True)
class _Silent:
    """Of what a trainer returns, nothing: only its releases are looked at here."""

    def to_json(self) -> str:
        """No text."""
        return ""


def trainer_page(name: str, train: Any, report: TrainerReport, reproduce: str) -> Page:
    """The page of a trainer's audit. name: as it was given. reproduce: the command that gives the same finding."""
    stated = report.max_loss if report.ok and not report.delta else None
    lead = chances(report.violations, report.epsilon, stated)
    figures, undrawn = drawn(lambda: _figures(train, report))
    return Page(
        title=f"Audit of {name}, {report.relation.value} neighbours",
        word=report.verdict,
        verdict=verdict(name, report),
        facts=[
            ("epsilon", f"{report.epsilon:g}", f"greatest {loss_in_words(report.max_loss)}"),
            ("delta", f"{report.delta:g}", ""),
            ("pairs replayed", "", str(report.pairs)),
        ],
        findings=[_shown(train, violation) for violation in report.violations],
        figures=figures,
        method=METHOD,
        limits=LIMITS,
        reproduce=reproduce,
        undrawn=undrawn,
        coverage=report.coverage,
        chances=bars(lead) if lead else "",
        made=f"Settings: {report.relation.value}, epsilon {report.epsilon:g}, delta {report.delta:g}. {made()}",
    )


def _shown(train: Any, violation: Violation) -> Shown:
    evidence = violation.loss_in_words()
    if violation.declared is not None and violation.observed is not None:
        evidence = f"declared {violation.declared:.6g}, observed {violation.observed:.6g}, {evidence}"
    detail = str(violation.witness.get("detail", ""))
    return Shown(
        violation.kind, violation.release, function_line(train), f"{evidence}; {detail}" if detail else evidence,
        finding_in_words(violation.kind, violation.release), claim_in_words(violation.claim),
        witness_of(violation.witness),
    )  # fmt: skip


def _figures(train: Any, report: TrainerReport) -> Sequence[Figure]:
    """Observed against declared, and the exact curve of the release that shows the greatest stated loss."""
    compared = [
        (f"{v.kind}, {v.release}", v.declared, v.observed)
        for v in report.violations
        if v.declared is not None and v.observed is not None
    ]
    figures = [ratio_figure(compared)] if compared else []
    found = drawn_violation(report.violations)
    if found is None:
        return figures

    def silent(records: Records, curator: Curator) -> HasJson:
        train(records, curator)
        return _Silent()

    violation, pair = found
    change = exact_change(silent, pair, violation.release)
    cells = None if change is None else outcomes(change)
    if change is not None and cells is not None:
        which = f'the pair of the finding "{violation.kind} at {violation.release}"'
        figures.append(exact_figure(change, cells, which))
    return figures
