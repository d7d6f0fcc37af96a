"""What the replay audit of a foreign function reports."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from refdp.audit.replay import Violation, finite_or_name
from refdp.audit.verdicts import Verdict, is_ok


@dataclass(frozen=True)
class Seen:
    """One release whose true value differs: largest figures over all pairs. Losses in nats, NaN if the law is unknown.

    loss: of the recorded output. worst: over all outputs. order2: Renyi divergence of order 2.
    """

    name: str
    law: str
    declared: float
    observed: float
    loss: float
    worst: float
    order2: float

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {key: finite_or_name(v) if isinstance(v, float) else v for key, v in asdict(self).items()}


@dataclass(frozen=True)
class OpenedReport:
    """What the replays of a foreign function gave.

    runs: pairs replayed, both ways. calls: noise calls recorded. loss: greatest exact loss of recorded outputs.
    worst: greatest sum, along a recorded run, of the largest losses of its releases. delta: greatest δ at the claimed ε
    of runs whose changed releases are all Gaussian.
    """

    epsilon: float
    claimed_delta: float
    runs: int
    calls: int
    loss: float
    worst: float
    delta: float
    releases: tuple[Seen, ...]
    violations: tuple[Violation, ...]

    @property
    def uncounted(self) -> tuple[str, ...]:
        """Releases whose true value differs, with noise of a law that refdp does not know: losses not counted."""
        return tuple(release.name for release in self.releases if math.isnan(release.worst))

    @property
    def verdict(self) -> Verdict:
        """NOT EXAMINED where losses are not counted: the claim depends on them."""
        if self.violations:
            return Verdict.VIOLATION
        return Verdict.NOT_EXAMINED if self.uncounted else Verdict.NOT_FOUND

    @property
    def ok(self) -> bool:
        """Whether nothing was violated, and every loss that the claim depends on was counted."""
        return is_ok(self.verdict)

    def kinds(self) -> list[str]:
        """The kinds of the violations, sorted."""
        return sorted({violation.kind for violation in self.violations})

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        numbers = {name: finite_or_name(getattr(self, name)) for name in ("epsilon", "loss", "worst", "delta")}
        return {
            "ok": self.ok,
            "verdict": str(self.verdict),
            "runs": self.runs,
            "calls": self.calls,
            "claimed_delta": self.claimed_delta,
            **numbers,
            "uncounted": list(self.uncounted),
            "releases": [release.to_dict() for release in self.releases],
            "violations": [violation.to_dict() for violation in self.violations],
        }


def largest(seen: list[Seen]) -> list[Seen]:
    """For each release and law the pair that moves it most."""
    kept: dict[tuple[str, str], Seen] = {}
    for release in seen:
        before = kept.get((release.name, release.law))
        if before is None or release.observed > before.observed:
            kept[(release.name, release.law)] = release
    return list(kept.values())


def once(found: list[Violation]) -> list[Violation]:
    """Each kind and place once, with the pair that shows most."""
    kept: dict[tuple[str, str], Violation] = {}
    for violation in found:
        before = kept.get((violation.kind, violation.release))
        if before is None or (violation.observed or 0.0) > (before.observed or 0.0):
            kept[(violation.kind, violation.release)] = violation
    return list(kept.values())
