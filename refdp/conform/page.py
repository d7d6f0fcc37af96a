"""The report of a runner as text for people, and as one page."""

from __future__ import annotations

import html
import json

from refdp.conform.runner import Report

SHOWN = 20
OUTCOMES = ("passed", "acceptable", "failed", "skipped")


def text(report: Report) -> str:
    """For a terminal."""
    lines = [report.badge(), ""]
    for paper, kind, counted in _table(report):
        shown = ", ".join(f"{counted[one]} {one}" for one in OUTCOMES if counted[one])
        lines.append(f"{paper:10} {kind:12} {shown}")
    lines += [f"skipped: {number} times, {_plain(reason)}" for reason, number in report.reasons.items()]
    if report.crashes:
        lines.append(f"crashed or timed out: {report.crashes} times")
    for failure in report.failures[:SHOWN]:
        lines += ["", f"FAILED {failure['id']}: {_plain(failure['reason'])}",
                  f"  at {_plain(failure['path']) or 'the answer'}",
                  f"  expected {_short(failure['expected'])}", f"  got      {_short(failure['got'])}",
                  f"  may be   {', '.join(failure['flags'])}"]  # fmt: skip
    if len(report.failures) > SHOWN:
        lines.append(f"and {len(report.failures) - SHOWN} more failures; --json lists all")
    return "\n".join(lines) + "\n"


def page(report: Report) -> str:
    """One page without scripts or anything from elsewhere."""
    rows = "".join(
        f"<tr><td>{html.escape(paper)}</td><td>{html.escape(kind)}</td>"
        + "".join(f"<td>{counted[one]}</td>" for one in OUTCOMES)
        + "</tr>"
        for paper, kind, counted in _table(report)
    )
    failures = "".join(
        f"<tr><td>{html.escape(one['id'])}</td><td>{html.escape(one['path'])}</td>"
        f"<td>{html.escape(_short(one['expected']))}</td><td>{html.escape(_short(one['got']))}</td>"
        f"<td>{html.escape(', '.join(one['flags']))}</td></tr>"
        for one in report.failures
    )
    heads = "".join(f"<th>{one}</th>" for one in OUTCOMES)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Conformance</title>'
        "<style>body{font-family:sans-serif;margin:2em}td,th{border:1px solid #999;padding:.2em .6em;text-align:left}"
        "table{border-collapse:collapse;margin:1em 0}</style>"
        f"<h1>Conformance</h1><p>{html.escape(report.badge())}</p>"
        f"<table><tr><th>paper</th><th>kind</th>{heads}</tr>{rows}</table>"
        "<h2>Failures</h2><table><tr><th>id</th><th>path</th><th>expected</th><th>got</th><th>flags</th></tr>"
        f"{failures}</table></html>\n"
    )


def _table(report: Report) -> list[tuple[str, str, dict[str, int]]]:
    kinds = dict.fromkeys((paper, kind) for paper, kind, _ in report.counts)
    return [(p, k, {one: report.counts[p, k, one] for one in OUTCOMES}) for p, k in kinds]


def _plain(told: str) -> str:
    """What a program wrote, without control characters: a terminal would obey them."""
    return "".join(one if one.isprintable() else "?" for one in told)


def _short(value: object) -> str:
    told = json.dumps(value)
    return told if len(told) <= 200 else told[:200] + "..."
