"""What a package audit reports: entries with what was looked at, findings by cause, and what the baseline accepts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from refdp.audit.package.findings import Finding, Group, grouped
from refdp.audit.package.scope import Entry, Scope
from refdp.audit.package.sources import Location
from refdp.audit.verdicts import SUBJECTS, Row, Verdict, exit_status, is_ok, left_beside, summary
from refdp.documents import parsed
from refdp.errors import InvalidParameter

FORMAT = "refdp package audit 1"


@dataclass(frozen=True)
class Examined:
    """One entry point. figures: of replay, structural checks and black box. svg: its curve, "" if none was drawn."""

    entry: Entry
    location: Location
    pairs: tuple[str, ...]
    coverage: tuple[Row, ...]
    figures: Mapping[str, Any]
    findings: tuple[Finding, ...]
    svg: str = ""

    @property
    def verdict(self) -> Verdict:
        """The weakest verdict of what the claim depends on."""
        return summary(self.coverage)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.entry.name,
            "kind": self.entry.kind,
            "target": self.entry.target,
            "verdict": str(self.verdict),
            "claim": self.entry.claim.to_dict(),
            "location": self.location.to_dict(),
            "pairs": list(self.pairs),
            "figures": dict(self.figures),
            "coverage": [row.to_dict() for row in self.coverage],
        }


@dataclass(frozen=True)
class PackageReport:
    """The whole audit. stale: names in the baseline that nothing was found for. left_out: entry points of the file that
    were not asked for."""

    scope: Scope
    version: str
    entries: tuple[Examined, ...]
    provenance: Mapping[str, Any]
    stale: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of all entry points, in their order."""
        return tuple(one for entry in self.entries for one in entry.findings)

    @property
    def groups(self) -> tuple[Group, ...]:
        """By cause, the worst first."""
        return grouped(self.findings)

    @property
    def violations(self) -> tuple[Finding, ...]:
        """Findings that contradict the claim, accepted ones too."""
        return tuple(one for one in self.findings if one.violation)

    @property
    def coverage(self) -> tuple[Row, ...]:
        """For every subject the weakest verdict among the entry points, and whose it is."""
        return tuple(_weakest(what, self.entries) for what in SUBJECTS)

    @property
    def verdict(self) -> Verdict:
        """The weakest of the entries' verdicts."""
        return min((one.verdict for one in self.entries), key=list(Verdict).index)

    @property
    def ok(self) -> bool:
        """Whether nothing was found and nothing left out that decides. Accepted findings are findings."""
        return is_ok(self.verdict)

    @property
    def status(self) -> int:
        """1 for a violation that the baseline does not accept, 3 where something decisive was left out, else 0."""
        if any(not one.accepted for one in self.violations):
            return 1
        words = [
            min(_beside(entry.coverage), key=list(Verdict).index, default=Verdict.NOT_EXAMINED)
            for entry in self.entries
        ]
        return max(exit_status(word) for word in words)

    @property
    def sentence(self) -> str:
        """The verdict in a sentence, and which entry points it is not about."""
        others = f" Not asked for, and not examined: {', '.join(self.left_out)}." if self.left_out else ""
        return self._verdict_in_words + others

    @property
    def _verdict_in_words(self) -> str:
        name = f"{self.scope.package} {self.version}"
        said = _claimed(self.scope, self.entries)
        broken = list(dict.fromkeys(one.entry for one in self.violations))
        if broken:
            return (
                f"{name} does not keep what it claims at {len(broken)} of {len(self.entries)} entry points: "
                f"{', '.join(broken)}."
            )
        if self.verdict is Verdict.NOT_EXAMINED:
            return f"Nothing was found against {name}, but something that {said} depends on was not examined."
        return f"Nothing was found against {name} and {said} at {len(self.entries)} entry points. That is no proof."

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "format": FORMAT,
            "verdict": str(self.verdict),
            "ok": self.ok,
            "sentence": self.sentence,
            "package": {
                "name": self.scope.package,
                "version": self.version,
                "audited_version": self.scope.version,
                "modules": list(self.scope.modules),
            },
            "claim": self.scope.claim.to_dict(),
            "entries": [one.to_dict() for one in self.entries],
            "left_out": list(self.left_out),
            "findings": [one.to_dict() for one in self.findings],
            "groups": [one.to_dict() for one in self.groups],
            "accepted": sum(bool(one.accepted) for one in self.findings),
            "stale_baseline": list(self.stale),
            "coverage": [row.to_dict() for row in self.coverage],
            "provenance": dict(self.provenance),
        }


def _claimed(scope: Scope, entries: Sequence[Examined]) -> str:
    """The claims that were examined; by entry point, beside the file's own, where there are others than that one."""
    whole = scope.claim
    told: dict[str, list[str]] = {}
    for one in entries:
        claim = one.entry.claim
        words = f"epsilon {claim.epsilon:g}" + (f", delta {claim.delta:g}" if claim.delta else "")
        words += f", {claim.relation.value} neighbours" * (claim.relation is not whole.relation)
        words += ", another statement" * (replace(claim, epsilon=whole.epsilon, delta=whole.delta,
                                                  relation=whole.relation) != whole)  # fmt: skip
        told.setdefault(words, []).append(one.entry.name)
    own = f"epsilon {whole.epsilon:g}" + (f", delta {whole.delta:g}" if whole.delta else "")
    if [*told] == [own]:
        return f"its claim of {own}"
    shown = "; ".join(f"{words} of {', '.join(names)}" for words, names in told.items())
    return f"its claims of single entry points ({shown}; [claim] is {own})"


def merged(*stages: tuple[str, Sequence[Row]]) -> tuple[Row, ...]:
    """One row a subject of several examinations, each (name, rows).

    A violation in any is one. Else what an examination that decides left open stays open, whatever another one found;
    what does not decide counts where nothing else does. Of the first examination, if it looked, all reasons are told.
    """
    return tuple(_merged(what, stages) for what in SUBJECTS)


def _merged(what: str, stages: Sequence[tuple[str, Sequence[Row]]]) -> Row:
    rows = [(name, row) for name, listed in stages for row in listed if row.what == what]
    order = list(Verdict).index
    deciding = [row.verdict for _, row in rows if row.decides or row.verdict is Verdict.VIOLATION]
    open_ones = [word for word in (Verdict.VIOLATION, Verdict.NOT_EXAMINED) if word in deciding]
    words = open_ones[:1] or deciding or [row.verdict for _, row in rows]
    counted = max(words, key=order, default=Verdict.NOT_EXAMINED)
    looked = [name for name, listed in stages[:1] if deciding and any(row.decides for row in listed)]
    told = {f"{name}: {row.reason}": None for name, row in rows if row.reason
            and (row.verdict is counted or name in looked)}  # fmt: skip
    powers = dict.fromkeys(row.power for _, row in rows if row.power and row.verdict is Verdict.NOT_FOUND)
    own = [replace(row, reason=f"{name}: {row.reason}") for name, row in rows
           if row.decides or row.verdict is Verdict.VIOLATION]  # fmt: skip
    left = left_beside(own) if counted is Verdict.VIOLATION else ""
    reasons = [*told, *[f"not examined beside that: {left}"] * bool(left)]
    return Row(what, counted, "; ".join(reasons), "; ".join(powers), bool(deciding), left)


def _beside(rows: Sequence[Row]) -> list[Verdict]:
    """What decides, violations left out: for what remains once they are accepted.

    Losses that were left open because a violation ended the black box count as well.
    """
    left = [row for row in rows if row.decides or row.what == "composition"]
    words: list[Verdict] = [row.verdict for row in left if row.verdict is not Verdict.VIOLATION]
    words += [Verdict.NOT_EXAMINED] * any(row.left for row in rows)
    return words or [Verdict.NOT_FOUND]


def ended_early(one: Examined, known: Collection[str]) -> bool:
    """Whether it would go on, as more, or other, of its findings are accepted now than when it was examined."""
    names = sorted(found.id for found in one.findings if found.id in known)
    return bool(names) and names != one.figures.get("accepted", [])


def _weakest(what: str, entries: Sequence[Examined]) -> Row:
    rows = [(one.entry.name, row) for one in entries for row in one.coverage if row.what == what]
    order = list(Verdict).index
    deciding = [(name, row) for name, row in rows if row.decides or row.verdict is Verdict.VIOLATION] or rows
    worst = min((row.verdict for _, row in deciding), key=order)
    told: dict[str, list[str]] = {}
    for name, row in deciding:
        if row.verdict is worst:
            told.setdefault(row.reason, []).append(name)
    reason = "; ".join(f"{', '.join(names)}: {why}" for why, names in told.items())
    powers = dict.fromkeys(row.power for _, row in deciding if row.power and row.verdict is worst)
    return Row(what, worst, reason, "; ".join(powers), any(row.decides for _, row in rows))


def read_baseline(path: Path) -> dict[str, str]:
    """Accepted findings and reasons, from {"accepted": [{"id": ..., "reason": ...}]}. Errors: InvalidParameter."""
    try:
        data = parsed(path.read_text(encoding="utf-8"))
        found = {one["id"]: one["reason"].strip() for one in data["accepted"]}
        if not all(isinstance(name, str) for name in found):
            raise TypeError("an id that is no text")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidParameter(
            f'--baseline {path}: {{"accepted": [{{"id": ..., "reason": ...}}]}} is needed ({error})'
        ) from error
    silent = [name for name, reason in found.items() if not reason]
    if silent:
        raise InvalidParameter(f"--baseline {path}: {silent[0]} has no reason; say why it is accepted")
    return found


def accepted(report: PackageReport, baseline: Mapping[str, str]) -> PackageReport:
    """The report with what the baseline accepts marked so."""
    entries = tuple(
        replace(one, findings=tuple(replace(f, accepted=baseline.get(f.id, "")) for f in one.findings))
        for one in report.entries
    )
    found = {one.id for one in report.findings}
    stale = () if report.left_out else tuple(name for name in baseline if name not in found)  # it may be another's
    return replace(report, entries=entries, stale=stale)
