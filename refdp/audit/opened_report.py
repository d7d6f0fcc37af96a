"""What the replay audit of a foreign function reports."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from refdp.audit import CONFIDENCE, opened_floating
from refdp.audit.adaptive_runs import described
from refdp.audit.blackbox import too_few
from refdp.audit.opened_floating import Bits
from refdp.audit.opened_opaque import Opaque
from refdp.audit.replay import Violation, finite_or_name
from refdp.audit.verdicts import Row, Verdict, completed, is_ok, summary
from refdp.privacy.events import Relation


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
    of runs. opaque: noise functions of unknown law, and their declared costs together. known: greatest sum of the
    largest losses of those of known law. bits: noise functions of continuous law, and what their last bits tell.
    dice: what differs between neighbours, but also with draws of functions that were not opened. again: further looks
    along other paths, where runs do not all call the same; alike: how many did, else. unread: what of results was not
    looked into, and why. near: what of results differs by less than `rounding` of 1 or its size, and by more than the
    last places of sums.

    Two verdicts: `verdict` is about ideal noise, which losses are computed of, `floating` about the numbers drawn.
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
    opaque: tuple[tuple[Opaque, ...], tuple[float, float] | None] = ((), (0.0, 0.0))
    relation: Relation = Relation.ADD_REMOVE
    known: float = 0.0
    bits: tuple[Bits, ...] = ()
    dice: tuple[str, ...] = ()
    again: int = 0
    alike: int = 0
    unread: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    rounding: float = 0.0

    @property
    def uncounted(self) -> tuple[str, ...]:
        """Releases whose true value differs, with noise of a law that refdp does not know: losses not counted."""
        return tuple(release.name for release in self.releases if math.isnan(release.worst))

    @property
    def coverage(self) -> tuple[Row, ...]:
        """What was looked at, each with its verdict."""
        return completed(_rows(self))

    @property
    def sums(self) -> tuple[Row, ...]:
        """What the losses of all calls of opened functions add up to, other draws left out."""
        return tuple(_composed(self))

    @property
    def verdict(self) -> Verdict:
        """About ideal noise: the weakest verdict of what the claim depends on, the row on floating point left out."""
        return summary([row for row in self.coverage if row.what != FLOATING])

    @property
    def floating(self) -> Verdict:
        """About the numbers that come out: the row on floating point."""
        return next(row.verdict for row in self.coverage if row.what == FLOATING)

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
            "verdicts": {"ideal noise": str(self.verdict), "floating point": str(self.floating)},
            "runs": self.runs,
            "calls": self.calls,
            "claimed_delta": self.claimed_delta,
            **numbers,
            "uncounted": list(self.uncounted),
            "unread": list(self.unread),
            "near": list(self.near),
            "releases": [release.to_dict() for release in self.releases],
            "violations": [violation.to_dict() for violation in self.violations],
            "coverage": [row.to_dict() for row in self.coverage],
        }


FLOATING = "floating point"
SHOWN = 5
"""Places of results that are named, of those that were not looked into."""
SUBJECT = {
    "sensitivity": "releases", "NaN": "releases", "noise": "noise law and scale", "sampler": "noise law and scale",
    "budget": "composition", "result": "published object", "error": "side channels",
}  # fmt: skip
"""Which row a kind of violation belongs to; any other kind parts the runs: control flow."""


def _rows(report: OpenedReport) -> Iterator[Row]:
    found, looked, left = Verdict.VIOLATION, Verdict.NOT_FOUND, Verdict.NOT_EXAMINED
    for violation in report.violations:
        what = SUBJECT.get(violation.kind, "control flow")
        yield Row(what, found, f"{violation.kind} at {violation.release}")
    if not report.runs:
        return
    tried = f"{report.runs} runs replayed on a neighbour"
    yield Row("releases", looked, f"{report.calls} calls of opened noise functions, {tried}; noise that is added by "
              "functions that were not opened shows as a result", "any excess on these pairs")  # fmt: skip
    yield Row("control flow", looked, f"{tried}: the same calls in the same order", "any difference on these pairs")
    yield Row("published object", looked, f"{tried}: the numbers, names, texts, types and layouts of the result",
              "any difference on these pairs")  # fmt: skip
    if report.unread:
        more = f", and {len(report.unread) - SHOWN:,} more" if len(report.unread) > SHOWN else ""
        yield Row("published object", left, f"not looked into: {'; '.join(report.unread[:SHOWN])}{more}")
    if report.near:
        more = f", and {len(report.near) - SHOWN:,} more" if len(report.near) > SHOWN else ""
        why = f"differs by less than {report.rounding:g} of 1 or its size, which sums in another order may bring about"
        places = f"{', '.join(report.near[:SHOWN])}{more}"
        yield Row("published object", left, f"{why}, and values without noise: {places}")
    yield Row("both directions", looked, "each pair recorded on either side")
    yield Row("record counts", looked, "the pairs given; no others", "what shows on these pairs")
    yield Row("noise law and scale", looked, "scales against declared sensitivities and costs, drawn noise against "
              "smaller scales", "a call whose scale or draws are too small")  # fmt: skip
    for one in report.dice:
        kind = one.partition(" at ")[0]
        yield Row(SUBJECT.get(kind, "control flow"), left, f"{one}: draws of functions that were not opened")
    if report.dice:
        yield Row("composition", left, "what hangs on draws of functions that were not opened is in no sum")
    yield from _opaque(report)
    yield from _composed(report)
    yield from opened_floating.rows(report.bits)
    if not report.bits:
        yield Row(FLOATING, left, "losses are those of ideal noise; no function of continuous noise was played by "
                  "itself, and its last bits may tell more (Mironov 2012)", decides=False)  # fmt: skip
    for what in ("scopes", "secret randomness"):
        yield Row(what, left, "samples and partitions that a package draws itself are not credited: losses are those "
                  "of the recorded coins", decides=False)  # fmt: skip
    yield Row("sampler", left, "repeated draws are the structural checks' affair", decides=False)
    yield Row("side channels", left, "errors are compared; what is printed or written is not", decides=False)
    yield Row("state between calls", left, "runs follow each other in one process", decides=False)
    yield Row("time", left, "how long a run takes was not measured", decides=False)


def _opaque(report: OpenedReport) -> Iterator[Row]:
    for one in report.opaque[0]:
        if not one.samples:
            yield Row(
                "noise law and scale", Verdict.NOT_EXAMINED, f"{one.name}: of unknown law, and not played by itself"
            )
            continue
        if (
            one.declared is not None
            and one.lower <= one.declared[0]
            and too_few(one.samples, *one.declared, CONFIDENCE)
        ):
            yield Row("noise law and scale", Verdict.NOT_EXAMINED, f"{one.name}: of unknown law; {one.samples} runs a "
                      f"side are too few to show a violation of its declared cost {one.declared[0]:g}")  # fmt: skip
            continue
        cost = "no cost is declared" if one.declared is None else f"declared cost {one.declared[0]:g}"
        yield Row("noise law and scale", Verdict.NOT_EXAMINED if one.declared is None else Verdict.NOT_FOUND,
                  f"{one.name}: of unknown law, {cost}; {one.samples} runs a side of it alone show an epsilon of "
                  f"{one.lower:.3g}", "an epsilon of about twice the declared one")  # fmt: skip


def _composed(report: OpenedReport) -> Iterator[Row]:
    looked, left = Verdict.NOT_FOUND, Verdict.NOT_EXAMINED
    declared = report.opaque[1]
    if declared is None or (report.uncounted and not report.opaque[0]):
        yield Row("composition", left, f"no loss can be stated of {', '.join(report.uncounted)}")
        return
    claim = f"epsilon {report.epsilon:g}, delta {report.claimed_delta:g}"
    runs = described(report.again, report.alike)
    if report.claimed_delta == 0:
        total = report.known + declared[0]
        if total > report.epsilon * (1 + 1e-9) + 1e-9 or declared[1] > 0:
            yield Row("composition", left, f"greatest losses along a recorded run, with declared costs, add up to "
                      f"{total:.6g}, an upper end above the claim")  # fmt: skip
        else:
            yield Row("composition", looked, f"greatest losses along {runs} with declared costs of what is opaque "
                      f"they add up to {total:.6g} of {report.epsilon:g}", f"any loss above {claim}")  # fmt: skip
    elif report.delta + declared[1] > report.claimed_delta * (1 + 1e-9) or declared[0] > 0:
        yield Row("composition", left, f"delta at the claimed epsilon is at most {report.delta:.3g} of known "
                  f"laws; others declare {declared[0]:g} besides")  # fmt: skip
    else:
        yield Row("composition", looked, f"delta at the claimed epsilon is at most {report.delta:.3g}, by the "
                  f"accountant, along {runs.rstrip(':')}", f"more than {claim} on these pairs")  # fmt: skip


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
