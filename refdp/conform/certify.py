"""Runs of a foreign program certified from their transcripts, the records and the models.

A pass is about these runs: they are such as a right program has. It is no proof of the program.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refdp.audit.verdicts import Row, Verdict, exit_status, is_ok, summary
from refdp.conform.compare import differences
from refdp.conform.drawn import Drawn, looked_at
from refdp.conform.follow import Parted, Released, claims_less, follow, on_grid
from refdp.conform.implied import REST, Finding, again, chance_of, evidence, noise_tests
from refdp.conform.plain import array_out, schema_digest
from refdp.conform.shared import Run, shared
from refdp.conform.tape_file import Tape, records_digest
from refdp.data.forms import canonical, from_json
from refdp.data.records import Model, Records
from refdp.documents import parsed
from refdp.errors import InvalidParameter, ModelFileError
from refdp.faces import registry
from refdp.noise.mechanisms import Exponential
from refdp.privacy.events import Relation

ERROR = 1e-6
"""How often a right program is accused, all tests of a call together."""
DRAWN = 0.1
"""Of it, what public draws and secret samples take, half each: what is wrong there is coarse."""
ABOUT = "these runs, not the program: it may do otherwise on other records, and draw by a code what looks like chance"


@dataclass(frozen=True)
class Certified:
    """rows: what was checked. verdict: the weakest that decides."""

    rows: tuple[Row, ...]

    @property
    def verdict(self) -> Verdict:
        """One of the four words."""
        return summary(self.rows)

    @property
    def ok(self) -> bool:
        """Whether a script may go on."""
        return is_ok(self.verdict)

    @property
    def status(self) -> int:
        """Of the command."""
        return exit_status(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"verdict": str(self.verdict), "ok": self.ok, "about": ABOUT, "error_rate": ERROR,
                "checks": [row.to_dict() for row in self.rows]}  # fmt: skip


def certify(
    transcripts: Sequence[Tape], records: Records, models: Sequence[str] = (), error: float = ERROR
) -> Certified:
    """transcripts: of runs on these records, each with its own header. models: the texts of the models, one a run.

    Errors: InvalidParameter for transcripts of other records or of no paper, and for another number of models.
    """
    if models and len(models) != len(transcripts):
        raise InvalidParameter(f"{len(models)} models for {len(transcripts)} transcripts: one each is needed, or none")
    rows: list[Row] = []
    runs: list[tuple[Any, Model, list[Released], list[Released] | None]] = []
    drawn: list[list[Drawn]] = []
    for number, tape in enumerate(transcripts, 1):
        paper, params = run_of(tape, records)
        told = f"run {number}"
        try:
            model, released, others = follow(paper, params, records, tape.entries)
        except Parted as parted:
            rows.append(Row("plan", Verdict.VIOLATION, f"{told}: {parted}"))
            continue
        except InvalidParameter as wrong:
            rows.append(
                Row("plan", Verdict.VIOLATION, f"{told}: what is released leads to no run of the text: {wrong}")
            )
            continue
        runs.append((params, model, released, _other_scores(paper, params, records, tape)))
        drawn.append(others)
        rows += _beside_grid(told, released) + _mechanisms(told, released) + _values(told, released)
        rows += _model(told, model, models[number - 1]) if models else []
    if runs and not any(row.what == "plan" for row in rows):
        count = sum(len(released) for _, _, released, _ in runs)
        told = "; ".join(sorted({_claim(params) for params, *_ in runs}))
        reason = f"{count} releases of {len(runs)} runs are those of the text, in order, for what they claim: {told}"
        rows.append(Row("plan", Verdict.HOLDS, reason))
    if drawn:
        rows += [_drawn(what, kind, drawn, records, error * DRAWN / 2) for what, kind in KINDS.items()]
    error *= 1 - DRAWN
    rows += _once([released for _, _, released, _ in runs])
    rows += _noise([released for _, _, released, _ in runs], error)
    rows += _shared([(released, others) for (_, _, released, _), others in zip(runs, drawn, strict=True)], error)
    rows += _scores([(one, other) for _, _, one, other in runs], error)
    if not models:
        rows.append(Row("published object", Verdict.NOT_EXAMINED, "no model was given"))
    return Certified(_joined(rows))


def _claim(params: Any) -> str:
    """What a transcript's header says is kept: nobody else says it."""
    delta = getattr(params, "delta", 0.0)
    return f"epsilon {params.epsilon:g}, {f'delta {delta:g}, ' if delta else ''}{params.relation.value}"


def run_of(tape: Tape, records: Records) -> tuple[str, Any]:
    """Paper and parameters of a transcript, if it is of these records.

    Errors: InvalidParameter for another run, or a header without them.
    """
    header = tape.header
    name, given = header.get("paper"), header.get("params")
    if not isinstance(name, str) or not isinstance(given, dict):
        raise InvalidParameter("a transcript's header needs paper and params")
    releases = [entry for entry in tape.entries if entry.get("kind") == "release"]
    if header.get("private") is False and releases and not any("output" in entry for entry in releases):
        raise InvalidParameter("a tape of draws alone: a transcript has outputs too (refdp train --record, --private)")
    for what, own in (("schema", schema_digest(records.schema)), ("records", records_digest(records))):
        if header.get(what) not in (None, own):
            raise InvalidParameter(f"a transcript of other {what} than those given: {header[what]!r}, not {own!r}")
    paper = registry.paper(name)
    return name, paper.params({**given, "relation": relation_of(tape)}, as_published=False)


def relation_of(tape: Tape) -> Relation:
    """The neighbours that a transcript's parameters name. Errors: InvalidParameter for none, or others."""
    given = tape.header.get("params")
    name = given.get("relation") if isinstance(given, dict) else None
    if name not in list(Relation):
        raise InvalidParameter(f"a transcript's header: params with relation {' or '.join(Relation)} are needed")
    return Relation(name)


def _mechanisms(told: str, released: Sequence[Released]) -> list[Row]:
    claimed = [one for one in released if one.claimed is not None]
    for one in claimed:
        assert one.claimed is not None
        less = claims_less(one.claimed, one.mechanism)
        if less:
            return [Row("mechanisms", Verdict.VIOLATION, f"{told}, {one.name}: {less}")]
    if len(claimed) < len(released):
        return [Row("mechanisms", Verdict.NOT_EXAMINED, f"{told}: the transcript names no mechanisms", decides=False)]
    reason = "every mechanism that is named has the scale that the plan charges, or more"
    return [Row("mechanisms", Verdict.HOLDS, reason, "one bit of a scale")]


def _values(told: str, released: Sequence[Released]) -> list[Row]:
    listed = [one for one in released if one.told is not None]
    for one in listed:
        assert one.told is not None
        found = next(differences(array_out(one.value), array_out(one.told)), None)
        if found is not None:
            reason = (
                f"{told}, {one.name}, {found.path}: {found.expected} from the outputs before it, {found.got} is told"
            )
            return [Row("true values", Verdict.VIOLATION, reason)]
    if len(listed) < len(released):
        return [Row("true values", Verdict.NOT_EXAMINED, f"{told}: the transcript tells none", decides=False)]
    return [Row("true values", Verdict.HOLDS, "every true value is the one recomputed from the outputs", "one bit")]


def _model(told: str, model: Model, text: str) -> list[Row]:
    """All of the file is published: names that refdp does not read, and how it is written, can tell of records."""
    what, own = "published object", model.to_json()
    if text == own:
        return [Row(what, Verdict.HOLDS, "every model file follows from outputs, parameters and schema", "one letter")]
    bare = text.removeprefix("\ufeff")
    try:
        from_json(bare)  # the digest of this spelling too
        given, due = parsed(bare), parsed(own)
        given |= {"model": canonical(given["model"]), "sha256": due["sha256"]}
    except (ModelFileError, ValueError, OverflowError, RecursionError) as error:
        return [Row(what, Verdict.VIOLATION, f"{told}: {error}")]
    if json.dumps(given, sort_keys=True) != json.dumps(due, sort_keys=True):
        return [
            Row(what, Verdict.VIOLATION, f"{told}: the model is not the one that the outputs give, or more than it")
        ]
    reason = "the model is written otherwise than refdp writes it: blanks, order and forms of numbers can tell records"
    return [Row(what, Verdict.NOT_EXAMINED, f"{told}: {reason}")]


def _noise(runs: Sequence[Sequence[Released]], error: float) -> list[Row]:
    pooled = [one for released in runs for one in released]
    if not pooled:
        return [Row("noise", Verdict.NOT_EXAMINED, "no run could be followed")]
    tests = noise_tests(pooled, error)
    seen = any(one.what.endswith(": scale") and not one.needed for one in tests)
    return [_tested(one, len(runs), seen) for one in tests]


def _shared(runs: Sequence[Run], error: float) -> list[Row]:
    if (found := shared(runs)) is None:
        return []
    power = "noise, choices or samples of the public draws' seed, a number each"
    one = Finding("secrets beside public draws", chance_of(found[0]), found[1], power, error / 2 / REST)
    return [_tested(one, len(runs), True)]


def _tested(one: Finding, runs: int, seen: bool) -> Row:
    """seen: whether another law's noise was enough to be examined, as where a first count has noise of its own."""
    alone = "; one run: a fixed seed shows in two" if runs == 1 and one.what.endswith("freshness") else ""
    reason = f"{one.seen}; probability {one.chance:.3g}, tested at {one.allowed:.2g}{alone}"
    if one.chance < one.allowed:
        return Row(one.what, Verdict.VIOLATION, reason, one.power)
    if not one.needed:
        return Row(one.what, Verdict.NOT_FOUND, reason, one.power)
    kind = "choices" if one.what.startswith("choice") else "draws"
    few = f"too few {kind} to tell half of the noise owed: {math.ceil(runs * one.needed)} such runs are needed"
    return Row(one.what, Verdict.NOT_EXAMINED, f"{one.seen}; {few}", decides=kind == "choices" or not seen)


KINDS = {"public draws": "draw", "secret samples": "assign"}


def _drawn(what: str, kind: str, runs: Sequence[Sequence[Drawn]], records: Records, error: float) -> Row:
    """Whether what a run drew beside noise is such as its law gives: the worst of all laws."""
    if not any(one.kind == kind for drawn in runs for one in drawn):
        return Row(what, Verdict.HOLDS, "the text has none")
    found = looked_at(runs, records, kind, error)
    if not found:
        return Row(what, Verdict.HOLDS, "the text leaves no choice, and the transcripts have what it says")
    worst = min(found, key=lambda one: one.chance / one.allowed)
    if worst.wrong:
        return Row(what, Verdict.VIOLATION, worst.seen, worst.power)
    if few := next((one for one in found if not one.enough), None):
        reason = (
            f"{few.seen}; too few to tell a program that always takes the same: more are needed, as from further runs"
        )
        return Row(what, Verdict.NOT_EXAMINED, reason)
    reason = f"{worst.seen}; a code of the records that looks like chance is not looked for"
    return Row(what, Verdict.NOT_FOUND, reason, worst.power)


def _once(runs: Sequence[Sequence[Released]]) -> list[Row]:
    found = again(runs)
    return (
        [] if found is None else [Row(found.what, Verdict.VIOLATION, f"{found.seen}; a run counts once", found.power)]
    )


def _beside_grid(told: str, released: Sequence[Released]) -> list[Row]:
    """Floats that their noise cannot give: in the digits below its grid can be the true values."""
    noisy = [one for one in released if not isinstance(one.mechanism, Exponential)]
    off = next((one for one in noisy if not np.array_equal(on_grid(one.mechanism, one.output), one.output)), None)
    reason = f"{told}: {off.name if off else ''}: an output that is not on the grid of the noise"
    return [] if off is None else [Row("plan", Verdict.VIOLATION, reason)]


def _other_scores(paper: str, params: Any, records: Records, tape: Tape) -> list[Released] | None:
    """The releases as they are if scores move by leaf values without noise; None where that leads nowhere."""
    try:
        return follow(paper, params, records, tape.entries, unnoised=True)[1]
    except (Parted, InvalidParameter):
        return None


def _scores(pairs: Sequence[tuple[list[Released], list[Released] | None]], error: float) -> list[Row]:
    """Half of each run's stake is kept, since all of it is lost where the outputs lead nowhere without noise."""
    if all(other is None for _, other in pairs):
        return [Row("scores move by released values", Verdict.NOT_EXAMINED, "no run could be followed", decides=False)]
    with np.errstate(invalid="ignore"):  # outputs that neither can give
        each = [-math.inf if other is None else evidence(one, other) for one, other in pairs]
        total = sum(float(np.logaddexp(won, 0.0)) - math.log(2) for won in each)
    limit = math.log(2 * REST / error)
    told = [one for released, other in pairs if other is not None for one in released]
    noisy = sum(not isinstance(one.mechanism, Exponential) for one in told)
    reason = (
        f"leaf values without noise are e^{total:.3g} times as likely a cause of {noisy} outputs, e^{limit:.3g} needed"
    )
    verdict = Verdict.NOT_FOUND if total < limit else Verdict.VIOLATION
    return [Row("scores move by released values", verdict, reason, "un-noised leaves, if the outputs tell them apart")]


def _joined(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rows about the same thing as one, the weakest, which is told first."""
    order, found = list(Verdict), dict[str, Row]()
    for row in rows:
        kept = found.get(row.what)
        if kept is None or order.index(row.verdict) < order.index(kept.verdict):
            found[row.what] = row
    return tuple(found.values())
