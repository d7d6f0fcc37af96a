"""The page of the audit of anyone's trainer: verdict, chances, findings with their data, the exact curve, coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from refdp.audit.exact_curve import exact_change, outcomes
from refdp.audit.page import Figure, Page
from refdp.audit.page_exact import exact_figure
from refdp.audit.page_replay import compared, drawn_violation, page_of
from refdp.audit.page_sources import function_line
from refdp.audit.replay import HasJson
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
    settings = f"{report.relation.value}, epsilon {report.epsilon:g}, delta {report.delta:g}"
    return page_of(
        name, report.relation, report, lambda violation: function_line(train), lambda: _figures(train, report),
        settings, reproduce, METHOD, LIMITS,
    )  # fmt: skip


def _figures(train: Any, report: TrainerReport) -> Sequence[Figure]:
    """Observed against declared, and the exact curve of the release that shows the greatest stated loss."""
    figures = compared(report.violations)
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
