"""What every audited package shares: data, and one line of the page for each thing that was checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from refdp.audit.opened_replay import OpenedReport
from refdp.audit.replay import Violation
from refdp.audit.structural import StructuralFinding
from refdp.data.records import Classes, Floats, Interval, Numeric
from refdp.io.datasets import load

Outcome = Literal["found", "not found", "documented"]


@dataclass(frozen=True)
class Check:
    """One question asked of one package on one data set.

    outcome: "found" (contradicts `statement`), "documented" (found, and the package itself says so when it happens),
    or "not found". where: the line or the place in the model. evidence: the figures. statement: of the package, quoted.
    """

    package: str
    data: str
    question: str
    outcome: Outcome
    where: str
    evidence: str
    statement: str

    def to_dict(self) -> dict[str, str]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Table:
    """Numeric columns of a data set with their public bounds; labels 0, 1 or a number between bounds."""

    name: str
    x: Floats
    y: Floats
    low: Floats
    high: Floats
    target: tuple[float, float]

    @property
    def rows(self) -> tuple[Floats, Floats]:
        """Records and labels."""
        return self.x, self.y

    def without(self, row: int) -> tuple[Floats, Floats]:
        """The neighbour without that record."""
        return np.delete(self.x, row, axis=0), np.delete(self.y, row)

    def replaced(self, row: int) -> tuple[Floats, Floats]:
        """The neighbour with that record's values mirrored between the bounds, and its label as well."""
        x, y = self.x.copy(), self.y.copy()
        x[row] = self.low + self.high - x[row]
        y[row] = self.target[0] + self.target[1] - y[row]
        return x, y

    def relabelled(self, row: int) -> tuple[Floats, Floats]:
        """The neighbour with that record's label only mirrored."""
        y = self.y.copy()
        y[row] = self.target[0] + self.target[1] - y[row]
        return self.x.copy(), y


def table(name: str, count: int, columns: int = 6) -> Table:
    """The first `count` records in a shuffled order (seed 0), first numeric columns, clamped to their bounds."""
    data = load(name)
    numeric = [place for place, feature in enumerate(data.features) if isinstance(feature, Numeric)][:columns]
    bounds = [data.features[place] for place in numeric]
    low = np.array([feature.low for feature in bounds if isinstance(feature, Numeric)])
    high = np.array([feature.high for feature in bounds if isinstance(feature, Numeric)])
    x = np.clip(data.x[:, numeric], low, high)
    whole = np.flatnonzero(np.isfinite(x).all(axis=1))
    rows = np.random.default_rng(0).permutation(whole)[:count]
    target = (data.target.low, data.target.high) if isinstance(data.target, Interval) else (0.0, 1.0)
    assert isinstance(data.target, Interval) or (isinstance(data.target, Classes) and len(data.target.values) == 2)
    return Table(name, x[rows], np.clip(data.y[rows], *target), low, high, target)


def violation(report: OpenedReport, kind: str) -> Violation | None:
    """The worst violation of a kind."""
    found = [violation for violation in report.violations if violation.kind == kind]
    return max(found, key=lambda violation: violation.observed) if found else None


def from_replay(
    package: str, data: str, question: str, report: OpenedReport, kind: str, statement: str, unit: str = ""
) -> Check:
    """A check that a replay decides: is there a violation of this kind?"""
    worst = violation(report, kind)
    if worst is None:
        seen = f"{report.calls} noise calls in {report.runs} replays{_losses(report) if kind == 'budget' else ''}"
        return Check(package, data, question, "not found", "", seen, statement)
    evidence = f"{kind}: allowed {worst.declared:.4g}, seen {worst.observed:.6g}{unit}"
    if kind == "result":
        evidence = f"{worst.witness['first']} against {worst.witness['second']} with every noisy output the same"
    return Check(package, data, question, "found", worst.release, evidence, statement)


def _losses(report: OpenedReport) -> str:
    if report.delta > 0:
        return f"; δ at ε = {report.epsilon:g}: {report.delta:.3g} of {report.claimed_delta:g} allowed"
    return f"; largest sum of losses {report.worst:.4g} of {report.epsilon:g} allowed" if report.worst > 0 else ""


def from_structure(
    package: str,
    data: str,
    question: str,
    found: Sequence[StructuralFinding],
    kinds: Sequence[str],
    statement: str,
    *,
    places: str = "",
    calls: int,
) -> Check:
    """A check that the structural findings decide: is there one of these kinds (at such a place)?"""
    hits = [finding for finding in found if finding.kind in kinds and places in finding.where]
    if not hits:
        return Check(package, data, question, "not found", "", f"{calls} runs a side", statement)
    named = [finding for finding in hits if "equals" in finding.evidence] or hits
    evidence = json.dumps(named[0].to_dict()["evidence"], sort_keys=True)
    more = f" (and {len(hits) - 1} more places)" if len(hits) > 1 else ""
    return Check(package, data, question, "found", named[0].where + more, f"{named[0].kind}: {evidence}", statement)


def fitted(model: Any) -> dict[str, Any]:
    """What scikit-learn calls the fitted attributes of a model: names that end with an underscore."""
    return {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}
