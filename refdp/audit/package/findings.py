"""One finding of a package audit, and findings grouped by cause."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from refdp.audit.package.causes import Cause, Class, Severity
from refdp.audit.package.scope import Claim
from refdp.audit.package.sources import Location

MOST_PLACES = 12
"""Places named of a finding that shows at many."""
BESIDE = "beside "
"""Where a finding is that shows without the outputs that are named behind it, which are accepted."""


@dataclass(frozen=True)
class Witness:
    """Lines that show the finding again, run in the audit's folder.

    standalone: they need no refdp. ran: whether they were run here and showed it.
    """

    code: str
    standalone: bool
    ran: bool

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dict(vars(self))


@dataclass(frozen=True)
class Finding:
    """What was found at one place of one entry point.

    stage: of the examination that found it. where: release or part of the output. evidence: how sure it is, in words.
    figures: what was seen. pair: how the neighbours differ. records: both sides where they are small. violation:
    whether it contradicts the claim. accepted: the reason of the baseline, "" if it is not in it.
    """

    entry: str
    stage: str
    cause: Cause
    kind: str
    where: str
    location: Location
    claim: Claim
    evidence: str
    figures: Mapping[str, Any]
    pair: str
    witness: Witness
    violation: bool = True
    places: tuple[str, ...] = ()
    accepted: str = ""
    package: str = ""
    records: Mapping[str, Any] = field(default_factory=dict)

    @property
    def group(self) -> Class:
        """Its class; what contradicts nothing is a place to look."""
        return self.cause.group if self.violation else Class.LOOK

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return self.cause.severity if self.violation else Severity.NOTE

    @property
    def id(self) -> str:
        """A name that stays when lines move: of package, entry, cause, function and for some causes the output."""
        shown = [self.package, self.entry, self.stage, self.cause.name, self.location.function]
        shown += [self.where] * (self.cause.placed or self.where.startswith(BESIDE))
        return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]

    @property
    def contradicts(self) -> str:
        """The statement and where it stands."""
        return f"“{self.claim.statement}” ({self.claim.address})"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "id": self.id,
            "entry": self.entry,
            "stage": self.stage,
            "cause": self.cause.name,
            "title": self.cause.title,
            "kind": self.kind,
            "class": str(self.group),
            "severity": str(self.severity),
            "violation": self.violation,
            "where": self.where,
            "places": list(self.places),
            "location": self.location.to_dict(),
            "contradicts": self.contradicts if self.violation else "",
            "words": self.cause.words,
            "evidence": self.evidence,
            "figures": dict(self.figures),
            "pair": self.pair,
            "records": dict(self.records),
            "witness": self.witness.to_dict(),
            "remedy": self.cause.remedy,
            "advisory": self.cause.advisory,
            "accepted": self.accepted,
        }


@dataclass(frozen=True)
class Group:
    """Findings of one cause, the worst first."""

    cause: Cause
    findings: tuple[Finding, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """As plain data, findings by their names."""
        return {
            "cause": self.cause.name,
            "title": self.cause.title,
            "class": str(self.findings[0].group),
            "severity": str(self.findings[0].severity),
            "entries": list(dict.fromkeys(one.entry for one in self.findings)),
            "findings": [one.id for one in self.findings],
        }


def once(findings: Sequence[Finding]) -> list[Finding]:
    """One finding for each name; the others' places are told with it."""
    kept: dict[str, Finding] = {}
    for one in findings:
        before = kept.get(one.id)
        if before is None:
            kept[one.id] = replace(one, places=(one.where,))
        elif one.where not in before.places and len(before.places) < MOST_PLACES:
            kept[one.id] = replace(before, places=(*before.places, one.where))
    return list(kept.values())


def grouped(findings: Sequence[Finding]) -> tuple[Group, ...]:
    """By cause, the most severe first."""
    causes = dict.fromkeys(one.cause for one in sorted(findings, key=_rank))
    return tuple(Group(cause, tuple(one for one in findings if one.cause == cause)) for cause in causes)


def _rank(finding: Finding) -> int:
    return list(Severity).index(finding.severity)
