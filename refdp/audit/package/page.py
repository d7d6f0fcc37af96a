"""The page of a package audit, for somebody who knows neither refdp nor the package; no scripts, nothing loaded."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from refdp.audit.package.causes import Severity
from refdp.audit.package.findings import Finding
from refdp.audit.package.report import Examined, PackageReport
from refdp.audit.package.told import allowed, plain
from refdp.audit.page import COLOURS, STYLE
from refdp.audit.verdicts import Row, Verdict

OWN = """
.chip { display: inline-block; padding: 0 .5rem; border-radius: .6rem; font-size: .85rem; background: #eee; }
.critical, .high { background: #fdecea; } .medium { background: #fff6df; } .note { background: #eef3fb; }
.word { white-space: nowrap; overflow-wrap: normal; } table.pair { width: auto; }
blockquote { margin: .5rem 0; padding-left: .8rem; border-left: .2rem solid #999; color: #333; }
details { margin: 1rem 0; } summary { cursor: pointer; font-weight: 600; } pre { overflow-x: auto; }
article.accepted { border-color: #999; } .scroll { overflow-x: auto; }
@media (max-width: 40rem) { #facts tr, .coverage tr { display: block; padding: .4rem 0; }
#facts th, #facts td, .coverage th, .coverage td { display: block; padding: .1rem .6rem; }
#facts tr:first-child, .coverage tr:first-child { display: none; } }
@media (max-width: 40rem) { figure { overflow-x: auto; } figure svg { min-width: 25rem; } }
@media (prefers-color-scheme: dark) { .chip { background: #333; } .critical, .high { background: #5a1f1b; }
.medium { background: #4d3d0b; } .note { background: #1d2f4d; } blockquote { color: #ccc; } }
@media print { .scroll, .witness { overflow: visible; } details::details-content { content-visibility: visible; } }
"""
WORDS = {
    Verdict.VIOLATION: "A claim is broken, and the evidence can be run again.",
    Verdict.NOT_EXAMINED: "Something that the claim depends on was not looked at.",
    Verdict.NOT_FOUND: "Looked at, and nothing found; that is no proof.",
    Verdict.HOLDS: "Every path to the output is accounted for.",
}
METHOD = (
    "Three examinations of every entry point, in this order. Replay: the package's noise functions are opened, a run "
    "is recorded, and its noisy outputs are given to a run on a neighbouring data set; what then differs is exact "
    "evidence. Structural checks: many runs on both sides, for events that happen again and again on one side and "
    "never on the other. Black box: an event is chosen on some runs and counted on others; a bound above the true "
    "epsilon has chance 1e-9 at most. Every examination of a false claim may miss it: nothing found is no proof."
)
say = html.escape


def page(report: PackageReport) -> str:
    """The whole document."""
    title = f"Privacy audit of {report.scope.package} {report.version}"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{say(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}{OWN}</style></head><body>'
        f"<h1>{say(title)}</h1>"
        f'<p class="verdict {COLOURS[report.verdict]}" id="verdict">{report.verdict}: {say(report.sentence)}</p>'
        f"{''.join(_body(report))}</body></html>\n"
    )


def _body(report: PackageReport) -> Iterator[str]:
    yield f"<p>{WORDS[report.verdict]}</p>{_claim(report)}{_summary(report)}"
    if report.findings:
        yield "<h2>Findings, by cause</h2>"
    curves = {one.entry.name: _curve(one) for one in report.entries}
    for group in report.groups:
        cause = group.cause
        head = group.findings[0]
        yield f"<section><h3>{say(cause.title)} {_chip(head.severity)} <span class=chip>{head.group}</span></h3>"
        yield f"<p>{say(cause.words)}</p><p><b>Remedy.</b> {say(cause.remedy)}</p>"
        yield f"<p><b>Known as.</b> {say(cause.advisory)}.</p>" if cause.advisory else ""
        for one in group.findings:
            yield _finding(one, curves.pop(one.entry, "") if one.stage == "black box" else "")
        yield "</section>"
    yield "<h2>What was examined, and what was not</h2>"
    for entry in report.entries:
        yield _entry(entry, curves.get(entry.entry.name, ""))
    yield f"<h2>Method</h2><p>{say(METHOD)}</p>{_provenance(report.provenance)}"


def _claim(report: PackageReport) -> str:
    claim = report.scope.claim
    rows = [
        ("who is protected", claim.unit),
        ("neighbours", f"{claim.relation.value}: data sets that differ in one such unit"),
        ("claimed", f"epsilon {claim.epsilon:g}, delta {claim.delta:g}: {allowed(claim)}"),
    ]
    table = "".join(f"<tr><th>{say(name)}</th><td>{say(text)}</td></tr>" for name, text in rows)
    other = report.version != report.scope.version
    read = f"<p>Version {say(report.scope.version)} was read for the audit; {say(report.version)} is installed.</p>"
    quoted = f"{read * other}<blockquote>“{say(claim.statement)}”<br><small>{say(claim.address)}</small></blockquote>"
    return f'<h2>The claim</h2>{quoted}<table id="claim">{table}</table>'


def _summary(report: PackageReport) -> str:
    head = "<tr><th>entry point</th><th>claimed</th><th>found</th><th>verdict</th></tr>"
    rows = "".join(
        f'<tr class="{COLOURS[one.verdict]}"><th>{say(one.entry.name)}</th><td>epsilon {one.entry.claim.epsilon:g}</td>'
        f"<td>{say(_shown(one))}</td><td class=word>{one.verdict}</td></tr>"
        for one in report.entries
    )
    return f'<h2>Claim against finding</h2><div class=scroll><table id="facts">{head}{rows}</table></div>'


def _shown(entry: Examined) -> str:
    """The strongest figures of an entry in a few words."""
    told = []
    exact = [one.figures["loss"] for one in entry.findings if one.stage == "replay" and "loss" in one.figures]
    if exact:
        known = [float(loss) for loss in exact if loss != "nan"]
        lost = "more than any epsilon" if math.inf in known else f"epsilon {max(known, default=0.0):g}"
        told.append(f"loses {lost} (exact replay)" if known else "differs (exact replay)")
    told += [one.cause.title.lower() for one in entry.findings if one.stage == "structural" and one.violation][:1]
    bound = entry.figures.get("black box", {}).get("epsilon at least")
    if bound is not None:
        told.append(f"epsilon at least {float(bound):.3g} (black box)")
    return "; ".join(told) or "nothing"


def _chip(severity: Severity) -> str:
    return f'<span class="chip {severity}">{severity}</span>'


def _finding(one: Finding, curve: str) -> str:
    where = f"{one.where}, and {len(one.places) - 1} more places" if len(one.places) > 1 else one.where
    figures = "".join(
        f"<tr><th>{say(str(name))}</th><td>{say(_text(value))}</td></tr>" for name, value in one.figures.items()
    )
    note = (
        "Runs without refdp, in the folder of the audit; it was run again here and showed this."
        if one.witness.standalone and one.witness.ran
        else "Needs refdp; it was run again here and showed this."
        if one.witness.ran
        else "The examination itself, by refdp."
    )
    parts = [
        f"<h3>{say(one.entry)}: {say(where)}</h3>",
        f"<p>Accepted in the baseline: {say(one.accepted)}</p>" if one.accepted else "",
        f"<p>Line of the package: <code>{say(str(one.location))}</code></p>",
        f"<pre>{say(one.location.text)}</pre>" if one.location.text else "",
        f"<p class=claim>Contradicts {say(one.contradicts)}</p>" if one.violation else "",
        f"<p>The neighbours: {say(one.pair)}.</p>{_records(one.records)}",
        f"<p class=plain>{say(plain(one))}</p>",
        curve,
        f"<p class=evidence>{say(one.stage.capitalize())}: {say(one.evidence)}.</p>",
        f'<div class="witness"><table>{figures}</table></div>',
        f"<p>Witness. {note}</p><pre>{say(one.witness.code)}</pre>",
        f"<p><small>Name for a baseline: <code>{one.id}</code></small></p>",
    ]
    return f'<article class="{"accepted" if one.accepted else ""}">{"".join(parts)}</article>'


def _records(sides: Mapping[str, Any]) -> str:
    """Both data sets side by side; records that the other side does not have are marked."""
    if not sides:
        return ""
    known = {name: [tuple(row) for row in rows] for name, rows in sides.items()}
    lines = []
    for name, rows in known.items():
        left = list(known["second" if name == "first" else "first"])
        for row in rows:
            alone = row not in left
            if not alone:
                left.remove(row)
            cells = "".join(f"<td>{value:g}</td>" for value in row)
            lines.append(f"<tr{' class=changed' * alone}><th>{name} data set</th>{cells}</tr>")
        if not rows:
            lines.append(f"<tr><th>{name} data set</th><td>no records</td></tr>")
    caption = "One line a record; coloured are those that the other data set does not have."
    return (
        f'<p><small>{caption}</small></p><div class="witness scroll"><table class=pair>{"".join(lines)}</table></div>'
    )


CURVE = (
    "Somebody is shown one result and says which of the two data sets it came from. Across, how often the first is "
    "taken for the second; up, how often the second is taken for the first. The red line is the least of both that the "
    "claim allows, the dark line what a test on outputs reached, the band what chance can add to that. Where the whole "
    "band lies below the red line, results tell more than is claimed."
)


def _curve(one: Examined) -> str:
    return f"<figure>{one.svg}<figcaption>{say(CURVE)}</figcaption></figure>" if one.svg else ""


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else value if isinstance(value, str) else json.dumps(value)


def _entry(one: Examined, curve: str) -> str:
    beside = [row for row in one.coverage if row.verdict is Verdict.NOT_EXAMINED and not row.decides]
    rows = "".join(_row(row) for row in one.coverage if row not in beside)
    left = ", ".join(row.what for row in beside)
    rest = f"<p>Not examined, and nothing is concluded about: {say(left)}.</p>" if left else ""
    head = "<tr><th>what</th><th>verdict</th><th>reason</th><th>would have shown</th></tr>"
    pairs = "".join(f"<li>{say(words)}</li>" for words in one.pairs)
    target = one.entry.target if isinstance(one.entry.target, str) else " ".join(one.entry.target)
    return (
        f"<h3>{say(one.entry.name)}: {one.verdict}</h3><p>Entered by <code>{say(target)}</code>, package line "
        f"<code>{say(str(one.location))}</code>.</p>{curve}<details><summary>Pairs of data sets that were tried: "
        f"{len(one.pairs)}</summary><ul>{pairs}</ul></details>"
        f'<div class=scroll><table class="coverage">{head}{rows}</table></div>{rest}'
    )


def _row(row: Row) -> str:
    colour = COLOURS[row.verdict] if row.decides else ""
    return (
        f'<tr class="{colour}"><th>{say(row.what)}</th><td class=word>{row.verdict}</td><td>{say(row.reason)}</td>'
        f"<td>{say(row.power)}</td></tr>"
    )


def _provenance(told: Mapping[str, Any]) -> str:
    def lines(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
        if isinstance(value, Mapping):
            for name, inner in value.items():
                yield from lines(inner, f"{path} {name}".strip())
        else:
            yield path, str(value)

    rows = "".join(
        f"<tr><th>{say(name)}</th><td>{say(text)}</td></tr>" for name, text in lines(told) if name != "command"
    )
    return (
        f'<h2>How to reproduce</h2><pre id="reproduce">{say(told["command"])}</pre>'
        f'<h2>Provenance</h2><div class=scroll><table id="provenance">{rows}</table></div>'
    )
