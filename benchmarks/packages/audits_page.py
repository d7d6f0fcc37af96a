"""docs/audit-packages.md and docs/reports/ from the reports of the index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from benchmarks.packages.kept import Kept

Report = Mapping[str, Any]
HEAD = """# Packages of the field, audited

**{packages} packages at {entries} entry points; {broken} of them do not keep what they state, at {faults} entry
points.**

| question | answer |
|---|---|
| which packages | [the table](#all-packages) |
| how each was audited | [an audit.toml](audit-package.md) |
| four packages on public data | [checks](audit-packages-checks.md) |
| programs of the papers' authors | [their findings](audit-published.md) |
| what is not here | [the end of the page](#what-is-not-here) |

Written by `python -m benchmarks.packages`, which audits every `benchmarks/packages/index/*/audit.toml`
([how](audit-package.md)) with the package as it is installed; no figure is typed by hand. A *violation* contradicts the
quoted statement under the neighbour relation that is named, on the data sets that are named. NOT FOUND means that
replay, structural checks and a lower bound from runs at confidence 1 - 1e-9 showed nothing on the pairs that were
tried, which proves nothing beyond them. Where a package names no relation, the audit says which one it took. Four
packages are examined in more depth, on public data sets, in [audit-packages-checks](audit-packages-checks.md).

Classes: *proved infinite* (exact, no finite epsilon), *sensitivity* (one record moves more than the noise is for),
*budget* (more is lost than claimed), *floating point* (the last bits tell), *a place to look* (no violation by itself).

## All packages

"""
NOT_AUDITED = """
## What is not here

dp-xgboost 0.2.10 needs Python 3.10 and is examined in [audit-packages-checks](audit-packages-checks.md). The published
programs of the five papers' authors have [a page of their own](audit-published.md). No statement about privacy is made
of the following; what is said was seen on {seen}, with pip.

| package | what was seen |
|---|---|
{absent}"""
SEEN_ON = "2026-11-23"
ABSENT = {
    "smartnoise-synth": "1.0.8 is offered; it asks for opacus 0.14, hence PyTorch with its GPU libraries, and for mbi "
    "below 2: not installed, so that its audit.toml, which is in the index, was not run",
    "privsyn-core": "0.1.1 is offered and installs; its audit.toml was not run to its end",
    "dpmm": "0.1.9 is offered and installs with Python 3.11 (it asks for NumPy 1.26.4 and OpenDP 0.12.1); it has no "
    "audit.toml yet",
    "mbi (private-pgm)": "2.0.0 is offered under the name mbi, none under private-pgm; it asks for JAX 0.9: not "
    "installed, no audit.toml yet",
    "dpate": "0.0.1 is listed, but nothing of it is offered for download",
    "diffpriv": "1.0.3 is offered; it asks the network when it is imported, so that nothing of it ran",
}
"""Packages without an audit, unless a report of them is at hand."""


def page(reports: Mapping[str, Report], kept: Mapping[str, Kept] = MappingProxyType({})) -> str:
    """The index page. kept: what the page before says of packages without a report."""
    told = {name: _told(name, report) if "verdict" in report else kept.get(name) for name, report in reports.items()}
    shown = {name: one for name, one in told.items() if one is not None}
    entries, faults = (sum(int(one.cells[column]) for one in shown.values()) for column in (3, 4))
    broken = sum(one.cells[4] != "0" for one in shown.values())
    left = {name: report["error"] for name, report in reports.items() if name not in shown} | ABSENT
    absent = "".join(f"| {name} | {_cell(why)} |\n" for name, why in left.items() if name not in shown)
    head = HEAD.format(packages=len(shown), entries=entries, broken=broken, faults=faults)
    table = "".join([TABLE, *(one.row for one in shown.values())])
    sections = (one.section for one in shown.values())
    return "".join([head, table, *sections, NOT_AUDITED.format(absent=absent, seen=SEEN_ON)])


def _told(name: str, report: Report) -> Kept:
    return Kept(_row(name, report), _section(name, report))


def unaccepted(report: Report) -> list[Mapping[str, Any]]:
    """Violations that no baseline accepts."""
    return [one for one in report["findings"] if one["violation"] and not one["accepted"]]


TABLE = "| package | version | verdict | entry points | with a violation | classes | seconds |\n" + "|---" * 7 + "|\n"


def _row(name: str, report: Report) -> str:
    found = unaccepted(report)
    classes = ", ".join(dict.fromkeys(one["class"] for one in found)) or "-"
    faulty = len({one["entry"] for one in found})
    package = report["package"]
    verdict = report["verdict"] if found or report["verdict"] != "VIOLATION" else "VIOLATION (accepted)"
    cells = [f"[{name}](#{_anchor(name, package)})", package["version"], verdict, len(report["entries"]), faulty,
             classes, f"{_seconds(report):.0f}"]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |\n"


def _seconds(report: Report) -> float:
    """Of all entry points, also where an audit that was broken off went on with what it had."""
    spent = sum(float(entry["figures"].get("seconds", 0.0)) for entry in report["entries"])
    return max(float(report["provenance"]["seconds"]), spent)


def _anchor(name: str, package: Mapping[str, Any]) -> str:
    return f"{name} {package['version']}".lower().replace(".", "").replace(" ", "-")


def _section(name: str, report: Report) -> str:
    package, claim, told = report["package"], report["claim"], report["provenance"]
    versions = ", ".join(f"{key} {value}" for key, value in told["versions"].items() if key != name)
    lines = [
        f"\n## {name} {package['version']}\n\nStatement: “{claim['statement']}” ({claim['address']}). Protected: "
        f"{claim['unit']}; {claim['relation']}; epsilon {claim['epsilon']:g}"
        + (f", delta {claim['delta']:g}" if claim["delta"] else "")
        + f", unless an entry point says otherwise. {versions}; sources sha256 `{told['sources']['sha256'][:16]}`.\n\n",
        "| entry point | line | verdict | found |\n|---|---|---|---|\n",
    ]
    for entry in report["entries"]:
        where = entry["location"]
        cells = [entry["name"], f"`{where['path']}:{where['line']}`", entry["verdict"], _found(entry, report)]
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |\n")
    if unaccepted(report):
        lines.append(f"\nA report for its authors: [reports/{name}.md](reports/{name}.md).\n")
    return "".join([*lines, *_findings(report)])


def _found(entry: Mapping[str, Any], report: Report) -> str:
    own = [one for one in report["findings"] if one["entry"] == entry["name"]]
    told = [_figures(one) for one in own]
    if not told and "error" in entry["figures"]:
        return str(entry["figures"]["error"])
    replay, box = entry["figures"].get("replay") or {}, entry["figures"].get("black box") or {}
    if not told:
        exact = f"{replay['calls']} noise calls replayed" if replay.get("calls") else "noise functions not opened"
        bound = (
            f"epsilon at least {float(box['epsilon at least']):.2f} in {box['runs']} runs a side" if box else "no runs"
        )
        if replay.get("other randomness"):
            exact += ", but the result depends on draws that are not opened"
        return f"nothing; {exact}; {bound}"
    return "; ".join(dict.fromkeys(told))


def _figures(one: Mapping[str, Any]) -> str:
    figures = one["figures"]
    if one["stage"] == "black box":
        return f"epsilon at least {float(figures['epsilon at least']):.2f} by runs"
    if {"declared", "observed"} <= figures.keys() and one["kind"] in ("sensitivity", "budget", "noise"):
        return f"{one['kind']}: {_number(figures['observed'])} for {_number(figures['declared'])} (exact)"
    return f"{one['title'].lower()}"


def _number(value: Any) -> str:
    return f"{float(value):.4g}"


def _findings(report: Report, keys: tuple[str, ...] = ("cause",)) -> Iterator[str]:
    """Each cause once (or each of these keys), in plain words, with a witness."""
    for chosen in dict.fromkeys(tuple(one[key] for key in keys) for one in report["findings"]):
        listed = [one for one in report["findings"] if tuple(one[key] for key in keys) == chosen]
        one = next((f for f in listed if f["witness"]["standalone"] and f["witness"]["ran"]), listed[0])
        entries = ", ".join(dict.fromkeys(f["entry"] for f in listed))
        yield f"\n**{one['title']}** ({one['class']}, {one['severity']}): {entries}. {one['words']} "
        if one["violation"]:
            yield f"Contradicts {one['contradicts']}. "
        if one["accepted"]:
            yield f"Accepted: {one['accepted']}. "
        yield (
            f"At `{one['location']['path']}:{one['location']['line']}`: `{one['location']['text']}`. Neighbours: "
            f"{one['pair']}. {one['evidence'][0].upper()}{one['evidence'][1:]}. Remedy: {one['remedy']}"
            + (f" Known: {one['advisory']}." if one["advisory"] else "")
            + "\n"
        )
        if one["witness"]["ran"]:
            alone = "without refdp" if one["witness"]["standalone"] else "with refdp"
            yield f"\nWitness, run again {alone} in the audit's folder:\n\n```python\n{one['witness']['code']}\n```\n"


def _cell(text: str) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def letter(name: str, report: Report, note: str = "") -> str:
    """A report that can be sent to the authors of a package. note: where we think that the findings come from."""
    package, claim = report["package"], report["claim"]
    head = (
        f"# {name} {package['version']}: statements on privacy that a test contradicts\n\nDear authors of {name},\n\n"
        "thank you for publishing this package. While auditing packages that state differential privacy, we found the "
        "following. Each point names the statement, the line, the data sets that show it, and a few lines that show it "
        "again with your package alone. We may have misread what you mean, in particular which data sets are "
        f"neighbours (we took {claim['relation']}); if so, a sentence in the documentation would help readers.\n"
    )
    return (
        head
        + "".join(_findings({**report, "findings": unaccepted(report)}, ("cause", "entry")))
        + (f"\n## Where it may come from\n\n{note}" if note else "")
        + (
            "\nThe scope of the audit is "
            f"`benchmarks/packages/index/{name}/audit.toml`, its report is part of [the index](../audit-packages.md).\n"
        )
    )
