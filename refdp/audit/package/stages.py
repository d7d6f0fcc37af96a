"""The three examinations of an entry point: instrumented replay, structural checks, black box."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from refdp.audit import structural
from refdp.audit.alignment import farthest
from refdp.audit.blackbox import Bound, bound_from, looks
from refdp.audit.blackbox_rows import Looked, by_last_bits, coverage
from refdp.audit.events_statistics import LOWEST_BITS, digits_of
from refdp.audit.opened_replay import NothingOpened, audit_opened
from refdp.audit.opened_report import OpenedReport
from refdp.audit.outputs import row_of_error, whole_row
from refdp.audit.package.causes import BITS, EPSILON, ROUNDING, Cause, of_replay, of_structure
from refdp.audit.package.entries import Function, Neighbours
from refdp.audit.package.findings import BESIDE, Finding, Witness
from refdp.audit.package.opening import doors, has_other_randomness, rounding, value_arguments
from refdp.audit.package.scope import Entry, Scope
from refdp.audit.package.sources import Location, Tree, release_at
from refdp.audit.package.witness import (
    Shows,
    blackbox_event,
    chosen,
    counting,
    likelier,
    moved,
    one_sided,
    raising,
    structural_event,
    watching,
)
from refdp.audit.replay import finite_or_name
from refdp.audit.runs import RAISED, InProcess, InputPair, compared, raise_if_ending
from refdp.audit.structural_state import read
from refdp.audit.verdicts import SUBJECTS, Row, Verdict
from refdp.errors import RefdpError

STAGES = ("replay", "structural", "black box")
ALARM = 1e-9
"""False alarms of the structural checks, and 1 - confidence of the black box, of one entry point."""
SCORED = 24
"""Runs a side of every pair that choose which pairs are looked at further."""
CHOSEN = 2
"""Pairs that the black box looks at, where several are searched."""
SLOW = 0.2
"""Seconds of a run above which fewer pairs are tried."""
FEW_PAIRS = 5
"""Pairs of a slow entry point that are tried: the first, and the last, which is about the last record."""
WITNESS_SECONDS = 15.0


@dataclass
class Subject:
    """An entry point under audit. pairs: those that are looked at, the most telling first, after `ranked`.

    known: names of findings that are accepted. digits: bounds of the black box by last bits or digits that are
    accepted, without which it went on. refuted: bounds that are accepted, after which it went on without the parts of
    the output that are accepted, `without`. ended: whether there were no such parts.
    """

    scope: Scope
    entry: Entry
    function: Function
    pairs: list[Neighbours]
    package: Tree
    location: Location
    seconds: float = 0.0
    svg: str = ""
    findings: list[Finding] = field(default_factory=list)
    known: Collection[str] = ()
    digits: list[Bound] = field(default_factory=list)
    refuted: list[Bound] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    ended: bool = False

    def found(self, stage: str, cause: Cause, kind: str, where: str, pair: Neighbours, evidence: str,
              figures: dict[str, Any], shown: Witness, location: Location | None = None, *,
              violation: bool = True) -> Finding:  # fmt: skip
        """A finding of this entry."""
        return Finding(
            self.entry.name, stage, cause, kind, where or "returned value", location or self.location,
            self.entry.claim, evidence, figures, pair.words, shown, violation, package=self.scope.package,
            records=pair.shown,
        )  # fmt: skip

    def runs(self, most: int) -> int:
        """Runs a side that a witness has time for."""
        return max(20, min(most, int(WITNESS_SECONDS / 2 / max(self.seconds, 1e-6))))


class Fails(Exception):
    """An entry point that raises on both sides of a pair: there is nothing to examine."""


def ranked(subject: Subject) -> None:
    """Put the most telling pairs first: those whose outputs lie furthest apart in a few runs. Errors: Fails."""
    seed = subject.scope.seed
    start = time.perf_counter()
    errors = [error for side in subject.pairs[0].sides if (error := _error(subject.function, side, seed)) is not None]
    subject.seconds = (time.perf_counter() - start) / 2
    if len(errors) == 2:
        raise Fails(_told(errors[0]))
    if len(subject.pairs) < 2:
        return
    slow = subject.seconds >= SLOW and len(subject.pairs) > FEW_PAIRS
    tried = [*subject.pairs[: FEW_PAIRS - 1], subject.pairs[-1]] if slow else subject.pairs
    generator = np.random.default_rng(seed + 1)
    scores = [_apart(subject.function, pair, generator) for pair in tried]
    subject.pairs = [tried[place] for place in np.argsort([-score for score in scores], kind="stable")]


def _error(function: Function, side: Any, seed: int) -> BaseException | None:
    """What a run raises, if it does. Whatever its class, an entry's error is one of its outputs."""
    try:
        function(side.copy(), seed)
    except RAISED as error:
        raise_if_ending(error)
        return error
    return None


def _apart(function: Function, pair: Neighbours, generator: np.random.Generator) -> float:
    """The largest distance of the distributions of one output, in [0, 1], on few runs: only a guide."""
    here, there = ([_row(function, side, int(generator.integers(2**31))) for _ in range(SCORED)] for side in pair.sides)
    first, second = (np.nan_to_num(side, nan=1e300) for side in compared(here, there, SCORED))
    return max(farthest(a, b) for a, b in zip(first.T, second.T, strict=True))


def _row(function: Function, side: Any, seed: int) -> np.ndarray:
    try:
        output = function(side.copy(), seed)
    except RAISED as error:
        raise_if_ending(error)
        return row_of_error(error)
    return whole_row(output)


def replay(subject: Subject) -> tuple[list[Row], dict[str, Any]]:
    """Record a run on each side of each pair with the noise functions opened, replay it on the other."""
    scope, entry = subject.scope, subject.entry
    opened_functions = doors(scope) if entry.replay and entry.kind != "command" else ()
    if not opened_functions:
        why = "left out by the file" if not entry.replay else "no noise function of the package is opened"
        return _unopened(why), {}
    claim = entry.claim

    def opened(pairs: Sequence[Neighbours]) -> OpenedReport:
        return audit_opened(
            lambda rows: subject.function(rows, _drawn_seed()), [p.sides for p in pairs], *opened_functions,
            epsilon=claim.epsilon, delta=claim.delta, relation=claim.relation, seed=scope.seed,
            rounding=rounding(scope), last_bits=False,  # runs of the whole function look at them
        )  # fmt: skip

    try:
        report, pairs = _replayed(subject, opened)
    except NothingOpened:
        return _unopened(UNCALLED), {}
    except Fails as error:
        return _unopened(str(error)), {}
    if report.runs and not report.calls:
        return _unopened(UNCALLED), {}
    blurred = any(
        has_other_randomness(scope, subject.function, side, opened_functions) for side in subject.pairs[0].sides
    )
    violations = [one for one in report.violations if not (blurred and one.kind in BLURRED)]
    for violation in violations:
        cause = of_replay(violation.kind)
        pair = pairs[int(violation.witness.get("pair", 0))]
        figures = {
            "declared": finite_or_name(violation.declared),
            "observed": finite_or_name(violation.observed),
            "loss": finite_or_name(violation.loss),
            **{key: value for key, value in violation.witness.items() if key != "pair"},
        }
        figures = {key: value for key, value in figures.items() if value is not None}
        shown = chosen(
            scope, entry, "replay", _replay_witnesses(subject, violation.kind, violation.release, figures, pair)
        )
        line = release_at(violation.release, subject.package)
        where = violation.release.partition(" at ")[0] if line else violation.release
        subject.findings.append(
            subject.found(
                "replay",
                cause,
                violation.kind,
                where,
                pair,
                "exact: the outputs of a recorded run, replayed on the neighbour",
                figures,
                shown,
                line,
            )
        )
    rows = list(replace(report, violations=tuple(violations)).coverage)
    if blurred or report.dice:
        rows = [_blurred(row, report.sums) for row in rows]
    return rows, {"runs": report.runs, "calls": report.calls, "loss": finite_or_name(report.worst),
                  "delta": report.delta, **({"other randomness": True} if blurred else {})}  # fmt: skip


def _replayed(
    subject: Subject, audit: Callable[[list[Neighbours]], OpenedReport]
) -> tuple[OpenedReport, list[Neighbours]]:
    """The report, and the pairs that it is about: those on both sides of which the entry raises cannot be replayed.

    Errors: Fails where runs raise on both sides; InvalidParameter where only runs with noise functions opened do.
    """
    try:
        return audit(subject.pairs), subject.pairs
    except NothingOpened:
        raise
    except RAISED as error:
        raise_if_ending(error)
        pairs = [pair for pair in subject.pairs if not _fails(subject, pair)]
        if len(pairs) == len(subject.pairs) and isinstance(error, RefdpError):
            raise
        if len(pairs) in (0, len(subject.pairs)):
            raise Fails(_told(error)) from error
    try:
        return audit(pairs), pairs
    except RefdpError:
        raise
    except RAISED as error:
        raise_if_ending(error)
        raise Fails(_told(error)) from error


def _fails(subject: Subject, pair: Neighbours) -> bool:
    """Whether the entry itself, with nothing opened, raises on both sides of a pair."""
    return all(_error(subject.function, side, subject.scope.seed) is not None for side in pair.sides)


def _told(error: BaseException) -> str:
    return f"it raises on both sides: {type(error).__name__}: {error}"


def _drawn_seed() -> int:
    """Another seed for every recorded run, and the same one for its replay: `audit_opened` seeds NumPy's generator."""
    return int(np.random.randint(2**31))  # noqa: NPY002


UNCALLED = "none of the opened noise functions was called"
BLURRED = ("result", "error")
"""Kinds that randomness which is not opened can bring about."""


def _blurred(row: Row, sums: Sequence[Row]) -> Row:
    """A row about the result or the losses of all releases, where not all randomness is opened: nothing is known.

    A black box may look at it instead, unless already the losses that are known add up to more than the claim.
    """
    if row.what not in ("published object", "composition") or row.verdict is Verdict.VIOLATION:
        return row
    above = [one.reason for one in sums if row.what == one.what and one.verdict is Verdict.NOT_EXAMINED]
    why = "the result depends on randomness that is not opened, so that neither it nor the losses are accounted for"
    return Row(row.what, Verdict.NOT_EXAMINED, "; ".join([*above, why]), decides=bool(above))


def _unopened(why: str) -> list[Row]:
    return [Row(what, Verdict.NOT_EXAMINED, why, decides=False) for what in SUBJECTS]


def _replay_witnesses(
    subject: Subject, kind: str, release: str, figures: dict[str, Any], pair: Neighbours
) -> Iterator[tuple[str, Shows]]:
    if subject.entry.kind != "callable":
        return
    seed, runs = subject.scope.seed + 1, subject.runs(40)
    if kind == "sensitivity":
        for function, value in value_arguments(subject.scope, release.partition(" at ")[0]):
            code = watching(subject.entry, pair, function, value, seed)
            for norm in (1, 2):
                yield code, moved(float(figures["declared"]), norm)
    if kind == "result":
        for side in ("first", "second"):
            event = f"v{release.removeprefix('returned value')} == {figures[side]!r}"
            yield counting(subject.entry, pair, event, runs), one_sided
    if kind == "error":
        yield raising(subject.entry, pair, runs), one_sided


def structure(subject: Subject) -> tuple[list[dict[str, Any]], int]:
    """The structural checks on the most telling pair: what they found, and in how many runs a side.

    Where all of it is accepted, on the other pairs, too: what is accepted may part the first ones as well as anything.
    """
    entry = subject.entry
    if not entry.structural:
        return [], 0
    found, calls = _structure(subject, subject.pairs[0], ALARM, ())
    further = subject.pairs[1:] if subject.seconds < SLOW else subject.pairs[1:CHOSEN]
    for pair in further if subject.known else ():
        broken = [one for one in subject.findings if one.stage == "structural" and one.violation]
        if not broken or not all(one.id in subject.known for one in broken):
            break
        found += _structure(subject, pair, ALARM / len(further), {(one["kind"], one["where"]) for one in found})[0]
    return found, calls


def _structure(
    subject: Subject, pair: Neighbours, alarm: float, known: Collection[tuple[str, str]]
) -> tuple[list[dict[str, Any]], int]:
    """What the checks find on one pair beside kinds and places that are known, and in how many runs a side."""
    entry, scope = subject.entry, subject.scope
    calls, few = structural.calls_for(entry.claim.epsilon, alarm)
    found = structural.inspect(
        lambda rows, generator: subject.function(rows, int(generator.integers(2**31))), pair.sides, scope.seed,
        epsilon=entry.claim.epsilon, delta=entry.claim.delta, calls=calls, alarm=alarm, order=entry.order,
        few=few,
    )  # fmt: skip
    found = [one for one in found if entry.low_bits or one.kind != "precision"]
    found = [one for one in found if (one.kind, one.where) not in known]
    for one in found:
        plain = one.to_dict()
        event = structural_event(one.kind, one.where, one.evidence)
        runs = subject.runs(2_000 if one.kind == "precision" else 300)
        tried: list[tuple[str, Shows]] = []
        if entry.kind == "callable" and one.where == "raises":
            tried = [(raising(entry, pair, runs), one_sided)]
        elif entry.kind == "callable" and event:
            tried = [(counting(entry, pair, event, runs), one_sided)]
        sure = (
            f"a function that keeps the claim is accused with chance at most {alarm:g}, over all checks"
            if one.violation
            else "no violation by itself"
        )
        subject.findings.append(
            subject.found(
                "structural",
                of_structure(one.kind),
                one.kind,
                one.where,
                pair,
                f"{one.meaning}; {sure}",
                plain["evidence"],
                chosen(scope, entry, "structural", iter(tried)),
                violation=one.violation,
            )
        )
    return [one.to_dict() for one in found], calls


def black_box(subject: Subject, curve: bool) -> Bound | None:
    """A lower bound of epsilon on the most telling pairs; None where the file leaves it out.

    Where a bound by last bits of floating-point noise is accepted, or by the digits of an output, it goes on without
    these alone: `subject.digits` are such bounds. Where another one is, it goes on without what is accepted of
    the output.
    """
    entry, scope = subject.entry, subject.scope
    if not entry.samples:
        return None
    claim = entry.claim
    pairs = subject.pairs[:CHOSEN]
    sources = [InProcess(subject.function, InputPair(*p.sides), scope.seed + 7 + n, 500) for n, p in enumerate(pairs)]

    def bounded() -> Bound:
        without = frozenset(digits_of(one.event) for one in subject.digits)
        return bound_from(sources, claim.delta, claimed=claim.epsilon, confidence=1 - ALARM, samples=entry.samples,
                          low_bits=entry.low_bits, without=without)  # fmt: skip

    bound = bounded()
    while bound.refuted:
        subject.findings.append(_refuted(subject, bound, pairs[bound.pair]))
        if not subject.known or subject.findings[-1].id not in subject.known:
            break
        if by_last_bits(bound):
            subject.digits.append(bound)
        else:
            places = sorted(_accepted_places(subject) - set(subject.without))
            if not places:
                subject.ended = True
                break
            subject.refuted.append(bound)
            subject.without += places
            function = without_places(subject.function, tuple(subject.without))
            sources = [InProcess(function, InputPair(*p.sides), scope.seed + 7 + n, 500) for n, p in enumerate(pairs)]
        bound = bounded()
    if curve:
        subject.svg = _curve(sources[bound.pair], bound, entry)
    return bound


def _accepted_places(subject: Subject) -> set[str]:
    """Parts of the output that hold what is accepted."""
    return {one.where for one in subject.findings if one.id in subject.known and one.cause.placed
            and one.stage != "black box" and one.where.startswith(("[", "."))}  # fmt: skip


def without_places(function: Function, places: tuple[str, ...]) -> Function:
    """The function with all that is read of its output, but for these parts of it."""
    within = tuple(f"{place}{mark}" for place in places for mark in ("[", "."))

    def run(rows: Any, seed: int) -> Any:
        reading = read(function(rows, seed))
        kept = {
            path: leaf for path, leaf in reading.leaves.items() if path not in places and not path.startswith(within)
        }
        return {"parts": kept, "kinds": reading.form, "written": reading.spelled}

    return run


def _refuted(subject: Subject, bound: Bound, pair: Neighbours) -> Finding:
    """The finding of a bound above the claim."""
    entry, claim = subject.entry, subject.entry.claim
    event = blackbox_event(bound.event)
    tried: list[tuple[str, Shows]] = []
    if entry.kind == "callable" and event and not subject.without:
        runs = subject.runs(max(bound.tested, 200))
        tried = [(counting(entry, pair, event, runs), likelier(claim.epsilon, claim.delta))]
    beside = f"{BESIDE}{', '.join(subject.without)}" if subject.without else ""
    cause, where = EPSILON, beside or "returned value"
    if by_last_bits(bound):
        told = digits_of(bound.event)
        cause, where = (BITS, where) if told == LOWEST_BITS else (ROUNDING, f"{told} {beside}".strip())
    here, there = bound.counts
    figures = {"epsilon at least": round(bound.lower, 6), "event": bound.words, "counts": [here, there],
               "runs a side": bound.tested}  # fmt: skip
    return subject.found(
        "black box",
        cause,
        "epsilon",
        where,
        pair,
        f"statistical: a bound above the true epsilon has chance at most {ALARM:g} ({bound.test})",
        figures,
        chosen(subject.scope, entry, "black box", iter(tried)),
    )


def _curve(runs: InProcess, bound: Bound, entry: Entry) -> str:
    """The trade-off curve of the pair as SVG; "" where it cannot be drawn."""
    from refdp.audit.page import curve_figure, drawn
    from refdp.audit.tradeoff import curve_from

    def figures() -> list[Any]:
        share = 0.01 / len(looks(entry.samples, 1.0))
        curve = curve_from(*runs.upto(bound.samples), 1 - share, low_bits=entry.low_bits)
        return [curve_figure(curve, entry.claim.epsilon, entry.claim.delta)]

    return "".join(figure.svg for figure in drawn(figures)[0])


def outside_rows(
    subject: Subject, bound: Bound | None, found: Sequence[dict[str, Any]], calls: int, replayed: Sequence[Row] = ()
) -> list[Row]:
    """The coverage of structural checks and black box together. replayed: what the replay says, if no box ran."""
    entry = subject.entry
    sizes = tuple(len(side) for pair in subject.pairs[:CHOSEN] for side in pair.sides)
    if bound is not None:
        few = calls > 0 and structural.calls_for(entry.claim.epsilon, ALARM)[1]
        looked = Looked(sizes, calls, entry.low_bits, min(CHOSEN, len(subject.pairs)), few=few)
        rows = list(coverage(bound, found, looked))
        last = [row for one in subject.digits for row in coverage(one, found, looked) if row.what == "floating point"]
        kept = [row for row in rows if not last or row.what != last[0].what or row.verdict is Verdict.VIOLATION]
        return [*kept, *last, *_accepted_rows(subject, found, looked)]
    rows = [Row("published object", Verdict.VIOLATION, f"{one['kind']}: {one['meaning']}") for one in found
            if one["violation"]]  # fmt: skip
    left = "no black box: the file gives it no runs"
    missed = {"composition"} - {row.what for row in replayed if row.decides}
    return [*rows, *(Row(what, Verdict.NOT_EXAMINED, left, decides=what in missed) for what in SUBJECTS)]


def _accepted_rows(subject: Subject, found: Sequence[dict[str, Any]], looked: Looked) -> Iterator[Row]:
    """What bounds that are accepted said, and what they leave open."""
    for bound in subject.refuted:
        for row in coverage(bound, found, looked):
            of_reading = row.what == "published object" and row.verdict is Verdict.NOT_EXAMINED
            if row.what == "composition" or of_reading:
                yield row
    if subject.ended:
        why = "the audit ended with a bound that is accepted: what runs lose beside that is not known"
        yield Row("composition", Verdict.NOT_EXAMINED, why)
