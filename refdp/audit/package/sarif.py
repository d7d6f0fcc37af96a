"""A package report as SARIF 2.1.0, for code hosts, and as JUnit XML, for build servers.

Locations are lines of the audited package, relative to the folder it is installed in; `root` of audit.toml is put
before them where a repository keeps its sources elsewhere.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from refdp import __version__
from refdp.audit.package.causes import Severity
from refdp.audit.package.findings import Finding
from refdp.audit.package.report import Examined, PackageReport
from refdp.audit.verdicts import Verdict

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.CRITICAL: "error", Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.NOTE: "note"}
SCORES = {Severity.CRITICAL: "9.0", Severity.HIGH: "7.5", Severity.MEDIUM: "5.0", Severity.NOTE: "1.0"}
"""What code hosts sort by: security-severity, from 0 to 10."""
COUNTED = {"tests": "", "failures": "failure", "errors": "", "skipped": "skipped"}
"""What a suite counts, with the tag of a test that is counted so."""


def sarif(report: PackageReport) -> dict[str, Any]:
    """The log: one run, a rule for each cause, a result for each finding."""
    causes = [group.cause for group in report.groups]
    names = [cause.name for cause in causes]
    rules = [
        {
            "id": cause.name,
            "name": cause.title,
            "shortDescription": {"text": cause.title},
            "fullDescription": {"text": cause.words},
            "help": {"text": " ".join(filter(None, [cause.remedy, cause.advisory]))},
            "defaultConfiguration": {"level": LEVELS[cause.severity]},
            "properties": {"security-severity": SCORES[cause.severity], "tags": ["security", "privacy"]},
        }
        for cause in causes
    ]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "refdp", "version": __version__, "rules": rules}},
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "commandLine": report.provenance["command"] or "refdp audit package",
                        "endTimeUtc": report.provenance["date"].replace("+00:00", "Z"),
                    }
                ],
                "originalUriBaseIds": {"PACKAGE": {"description": {"text": "The folder the package is installed in."}}},
                "results": [_result(one, names.index(one.cause.name), report.scope.root) for one in report.findings],
                "properties": {"verdict": str(report.verdict), "provenance": dict(report.provenance)},
            }
        ],
    }


def _result(finding: Finding, rule: int, root: str) -> dict[str, Any]:
    said = f"{finding.cause.title} ({finding.entry}). {finding.evidence}. {_figures(finding)}"
    if finding.violation:
        said += f" Contradicts {finding.contradicts}"
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {
                "uri": quote(f"{root.rstrip('/')}/{finding.location.path}".lstrip("/")),
                "uriBaseId": "PACKAGE",
            },
            "region": {"startLine": finding.location.line},
        }
    }
    if finding.location.text:
        location["physicalLocation"]["region"]["snippet"] = {"text": finding.location.text}
    if finding.location.function:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.location.function, "kind": "function"}]
    result: dict[str, Any] = {
        "ruleId": finding.cause.name,
        "ruleIndex": rule,
        "level": LEVELS[finding.severity],
        "message": {"text": said},
        "locations": [location],
        "partialFingerprints": {"refdp/v1": finding.id},
        "properties": {
            "class": str(finding.group),
            "severity": str(finding.severity),
            "witness": finding.witness.code,
            "remedy": finding.cause.remedy,
        },
    }
    if finding.accepted:
        result["suppressions"] = [{"kind": "external", "justification": finding.accepted}]
    return result


def _figures(finding: Finding) -> str:
    return ", ".join(f"{name} {value}" for name, value in finding.figures.items())[:400] + "."


def junit(report: PackageReport) -> str:
    """A suite for each entry point: a test for every finding, and one for every row of its coverage.

    Violations fail; accepted ones and what was not examined are skipped, with the reason. An entry point is timed as a
    whole: its tests have equal shares of that.
    """
    suites = [_suite(entry, report) for entry in report.entries]
    totals = {name: str(sum(int(one.get(name, "0")) for one in suites)) for name in COUNTED}
    seconds = sum(float(one.get("time", "0")) for one in suites)
    named = {"name": f"refdp audit of {report.scope.package}", **totals, "time": _time(seconds)}
    whole = ElementTree.Element("testsuites", named)
    whole.extend(suites)
    for one in whole.iter():
        one.attrib = {name: _printable(text) for name, text in one.attrib.items()}
        one.text = _printable(one.text or "") or None
    ElementTree.indent(whole)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(whole, encoding="unicode") + "\n"


def _suite(entry: Examined, report: PackageReport) -> ElementTree.Element:
    cases = []
    for one in entry.findings:
        case = ElementTree.Element("testcase", name=f"{one.cause.name} {one.id}", classname=entry.entry.name)
        text = "\n".join([str(one.location), one.evidence, _figures(one), one.contradicts, "", one.witness.code])
        if one.accepted:
            ElementTree.SubElement(case, "skipped", message=f"accepted: {one.accepted}")
        elif one.violation:
            told = ElementTree.SubElement(case, "failure", message=one.cause.title, type=str(one.group))
            told.text = text
        else:
            ElementTree.SubElement(case, "system-out").text = text
        cases.append(case)
    for row in entry.coverage:
        case = ElementTree.Element("testcase", name=f"coverage: {row.what}", classname=entry.entry.name)
        if row.verdict is Verdict.NOT_EXAMINED:
            ElementTree.SubElement(case, "skipped", message=f"{row.verdict}: {row.reason}")
        cases.append(case)
    seconds = float(entry.figures.get("seconds", 0))
    for case in cases:
        case.set("time", _time(seconds / len(cases)))
    found = {name: str(sum(case.find(tag) is not None for case in cases)) for name, tag in COUNTED.items() if tag}
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": entry.entry.name,
            "tests": str(len(cases)),
            "errors": "0",
            **found,
            "time": _time(seconds),
            "timestamp": report.provenance["date"].partition("+")[0],
        },
    )
    suite.extend(cases)
    return suite


def _time(seconds: float) -> str:
    return f"{seconds:.9f}"


def _printable(text: str) -> str:
    """Without characters that XML cannot hold, which a package's output may have."""
    return "".join(
        c if c in "\n\t" or (c >= " " and c not in "\ufffe\uffff" and not "\ud800" <= c <= "\udfff") else "?"
        for c in text
    )
