"""A package report put together by hand: verdicts, exit status, groups, baselines, SARIF and JUnit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from refdp.audit.package import report as module
from refdp.audit.package.causes import BITS, BUDGET, BY_NAME, EPSILON, ROUNDING, Class, Severity
from refdp.audit.package.findings import Finding, Group, Witness, grouped, once
from refdp.audit.package.report import Examined, PackageReport, accepted, merged
from refdp.audit.package.sarif import _printable, junit, sarif
from refdp.audit.package.scope import Claim, Entry, Scope
from refdp.audit.package.sources import Location
from refdp.audit.verdicts import SUBJECTS, Row, Verdict
from refdp.errors import InvalidParameter
from refdp.privacy.events import Relation

CLAIM = Claim("said", "there", "one record", Relation.ADD_REMOVE, 2.0, 0.0)
FOUND, LOOKED, LEFT = Verdict.VIOLATION, Verdict.NOT_FOUND, Verdict.NOT_EXAMINED


def finding(entry: str = "a", cause: Any = EPSILON, where: str = "w", function: str = "f", **changed: Any) -> Finding:
    given: dict[str, Any] = {
        "figures": {"n": 3, "m": 4},
        "pair": "p",
        "witness": Witness("code", True, True),
        **changed,
    }
    return Finding(
        entry,
        "replay",
        cause,
        "kind",
        where,
        Location("src/x y.py", 7, function, "text"),
        CLAIM,
        "sure",
        package="package",
        **given,
    )


def entry(name: str) -> Entry:
    return Entry(name, "callable", "m:f", CLAIM, 0)


def rows(**verdicts: Verdict) -> tuple[Row, ...]:
    told = {what.replace(" ", "_"): what for what in SUBJECTS}
    return tuple(
        Row(what, verdicts.get(key, LOOKED), f"{key} reason", "power", decides=what != "time")
        for key, what in told.items()
    )


def examined(name: str, *findings: Finding, seconds: Any = 3.0, **verdicts: Verdict) -> Examined:
    figures = {} if seconds is None else {"seconds": seconds}
    return Examined(entry(name), Location("p", 1, "", ""), ("pair",), rows(**verdicts), figures, findings, "svg")


def of_claim(one: Examined, claim: Claim) -> Examined:
    return replace(one, entry=replace(one.entry, claim=claim))


def report(*entries: Examined, claim: Claim = CLAIM, root: str = "", command: str = "") -> PackageReport:
    scope = Scope(
        Path("/x/audit.toml"), "package", "1", ("p",), (), root, claim, tuple(one.entry for one in entries), (), 0
    )
    return PackageReport(scope, "2", entries, {"command": command, "date": "2020-01-02T03:04:05+00:00"})


# --- Verdicts ---------------------------------------------------------------------------------------------------------


def test_a_row_of_several_examinations() -> None:
    """A violation in any; else what one that decides left open; each reason of that verdict once, all of the first."""

    def one(*given: tuple[str, Verdict, str, bool]) -> Row:
        stages = [
            (name, [Row("releases", verdict, reason, f"{name} power", decides)])
            for name, verdict, reason, decides in given
        ]
        return {row.what: row for row in merged(*stages)}["releases"]

    assert one() == Row("releases", LEFT, "", "", False)
    assert one(("a", LEFT, "x", True), ("b", LOOKED, "y", True)) == Row("releases", LEFT, "a: x", "b power", True)
    assert one(("a", LEFT, "x", False), ("b", LOOKED, "y", True)) == Row("releases", LOOKED, "b: y", "b power", True)
    assert one(("a", LEFT, "x", True), ("b", LOOKED, "y", False)) == Row("releases", LEFT, "a: x", "b power", True)
    assert one(("a", LEFT, "x", False), ("b", LOOKED, "y", False)) == Row("releases", LOOKED, "b: y", "b power", False)
    assert one(("a", FOUND, "x", False), ("b", LOOKED, "y", True)) == Row("releases", FOUND, "a: x", "b power", True)
    assert one(("a", FOUND, "x", False)) == Row("releases", FOUND, "a: x", "", True)
    assert one(("a", LOOKED, "x", True), ("b", LOOKED, "", True), ("a", LOOKED, "x", True)) == Row(
        "releases", LOOKED, "a: x", "a power; b power", True
    )
    beside = one(("a", FOUND, "x", False), ("b", LEFT, "y", True), ("c", LEFT, "z", False))
    assert beside == Row("releases", FOUND, "a: x; not examined beside that: b: y", "", True, "b: y")
    assert beside.to_dict()["left"] == "b: y" and "left" not in one(("a", FOUND, "x", True)).to_dict()
    assert [row.what for row in merged()] == list(SUBJECTS)
    blurred = [Row("releases", LEFT, "x", decides=False), Row("time", LOOKED, "t")]
    told = {row.what: row for row in merged(("a", blurred), ("b", [Row("releases", LOOKED, "y")]))}["releases"]
    assert told == Row("releases", LOOKED, "a: x; b: y", "", True)


def test_what_a_violation_covered_is_not_examined_once_it_is_accepted() -> None:
    open_row = Row("releases", FOUND, "x", left="y")
    one = Examined(entry("a"), Location("p", 1, "", ""), (), (open_row, Row("sampler", LOOKED, "s")), {}, ())
    assert report(one).status == 3
    assert report(replace(one, coverage=(replace(open_row, left=""), *one.coverage[1:]))).status == 0


def test_the_weakest_row_of_the_entries() -> None:
    whole = report(examined("a", releases=LEFT), examined("b"), examined("c", releases=LEFT, time=LEFT))
    told = {row.what: row for row in whole.coverage}
    assert told["releases"] == Row("releases", LEFT, "a, c: releases reason", "power", True)
    assert told["time"].verdict is LEFT and told["time"].reason == "c: time reason" and not told["time"].decides
    assert told["sampler"] == Row("sampler", LOOKED, "a, b, c: sampler reason", "power", True)
    mixed = [Examined(entry(n), Location("p", 1, "", ""), (), tuple(Row(what, v, n, n, d) for what in SUBJECTS), {}, ())
             for n, v, d in (("a", LEFT, False), ("b", LOOKED, True))]  # fmt: skip
    assert report(*mixed).coverage[0] == Row(SUBJECTS[0], LOOKED, "b: b", "b", True)
    mixed[0] = Examined(
        entry("a"), Location("p", 1, "", ""), (), tuple(Row(what, FOUND, "a", "", False) for what in SUBJECTS), {}, ()
    )
    assert report(*mixed).coverage[0] == Row(SUBJECTS[0], FOUND, "a: a", "", True)


@pytest.mark.parametrize(("entries", "verdict", "status"), [
    ([{}], LOOKED, 0), ([{"releases": LEFT}], LEFT, 3), ([{}, {"releases": LEFT}], LEFT, 3),
        ([{"releases": FOUND}], FOUND, 0),
    ([{"releases": FOUND, "sampler": LEFT}], FOUND, 3), ([{"time": LEFT}], LOOKED, 0)])  # fmt: skip
def test_status_without_findings(entries: Any, verdict: Verdict, status: int) -> None:
    whole = report(*(examined(f"e{n}", **one) for n, one in enumerate(entries)))
    assert whole.verdict is verdict and whole.status == status and whole.ok is (verdict is LOOKED)


def test_losses_that_a_violation_left_open_are_not_examined() -> None:
    """Last bits ended the black box, and are accepted: the rest is as open as before, until it was gone on."""
    known = replace(finding(accepted="why"), cause=BITS, stage="black box")
    one = examined("a", known, **{"floating point": FOUND})
    early = [replace(row, verdict=LEFT, decides=False) if row.what == "composition" else row for row in one.coverage]
    left = replace(one, coverage=tuple(early))
    assert (report(one).status, report(left).status) == (0, 3)
    assert module.ended_early(left, {known.id: "why"}) and not module.ended_early(left, {"other": "why"})
    gone_on = replace(left, figures={**left.figures, "accepted": [known.id]})
    assert not module.ended_early(gone_on, {known.id: "why", "other": "why"})
    more = replace(gone_on, findings=(known, replace(known, cause=ROUNDING, where="output 1")))
    names = [one.id for one in more.findings]
    assert module.ended_early(more, dict.fromkeys(names, "why")) and names[0] == known.id
    assert [module.ended_early(more, {name: "why"}) for name in names] == [False, True]
    assert not module.ended_early(left, {}) and not module.ended_early(replace(left, findings=()), {known.id: "why"})


def test_status_with_findings() -> None:
    for findings, status in [
        ([finding()], 1),
        ([finding(accepted="why")], 0),
        ([finding(accepted="why"), finding()], 1),
        ([finding(violation=False)], 0),
    ]:
        whole = report(examined("a", *findings, releases=FOUND), examined("b"))
        assert whole.status == status and len(whole.violations) == len([one for one in findings if one.violation])
    assert report(examined("a", finding(accepted="x"), releases=FOUND), examined("b", releases=LEFT)).status == 3


def test_the_verdict_in_a_sentence() -> None:
    broken = report(
        examined("a", finding("a"), finding("a"), releases=FOUND),
        examined("b", finding("b", violation=False)),
        examined("c", finding("c"), releases=FOUND),
    )
    assert broken.sentence == "package 2 does not keep what it claims at 2 of 3 entry points: a, c."
    assert report(examined("a", releases=LEFT)).sentence.endswith("its claim of epsilon 2 depends on was not examined.")
    assert (
        report(examined("a")).sentence
        == "Nothing was found against package 2 and its claim of epsilon 2 at 1 entry points. That is no proof."
    )
    weak = replace(CLAIM, epsilon=40.0, delta=0.25)
    others = [of_claim(examined(name), claim) for name, claim in (("a", weak), ("b", CLAIM), ("c", weak))]
    assert report(*others).sentence == (
        "Nothing was found against package 2 and its claims of single entry points (epsilon 40, delta 0.25 of a, c; "
        "epsilon 2 of b; [claim] is epsilon 2) at 3 entry points. That is no proof."
    )
    left = report(replace(others[0], coverage=rows(releases=LEFT))).sentence
    assert "(epsilon 40, delta 0.25 of a; [claim] is epsilon 2) depends on was not examined." in left
    changes: tuple[dict[str, Any], ...] = ({"relation": Relation.REPLACE_ONE}, {"statement": "other"})
    for changed in changes:
        one = of_claim(others[1], replace(CLAIM, **changed))
        assert ("replace-one neighbours" if "relation" in changed else "another statement") in report(one).sentence
    claim = Claim("said", "there", "one record", Relation.ADD_REMOVE, 2.0, 0.5)
    assert "epsilon 2, delta 0.5 at 1" in report(of_claim(examined("a"), claim), claim=claim).sentence


# --- Findings ---------------------------------------------------------------------------------------------------------


def test_findings_have_names_that_stay() -> None:
    one = finding()
    assert len(one.id) == 16 and one.id == finding(where="other", figures={}).id
    assert len({one.id, finding("b").id, finding(cause=BITS).id, finding(function="g").id}) == 4
    assert replace(one, where="output 7").id == one.id
    rounded = [replace(one, cause=ROUNDING, where=f"output {place}") for place in (0, 1)]
    assert len({one.id, *(each.id for each in rounded)}) == 3
    for cause in ("exact-statistic", "unreleased-value", "one-sided-output", "noise-reused", "output-follows-record"):
        assert len({finding(cause=BY_NAME[cause], where=f"['{place}']").id for place in "ab"}) == 2
    assert finding(where="beside ['a']").id not in (one.id, finding(where="beside ['b']").id)
    assert (one.group, one.severity) == (EPSILON.group, EPSILON.severity) and one.contradicts == "“said” (there)"
    quiet = finding(violation=False)
    assert (quiet.group, quiet.severity) == (Class.LOOK, Severity.NOTE) and quiet.to_dict()["contradicts"] == ""
    assert one.to_dict()["contradicts"] and one.to_dict()["witness"] == {
        "code": "code",
        "standalone": True,
        "ran": True,
    }


def test_a_finding_at_many_places_is_told_once() -> None:
    """Twelve places are named."""
    found = once([finding(where=f"w{n % 14}") for n in range(20)] + [finding("b")])
    assert [(one.entry, len(one.places)) for one in found] == [("a", 12), ("b", 1)] and found[0].places == tuple(
        f"w{n}" for n in range(12)
    )
    assert once([finding(where="w"), finding(where="w")])[0].places == ("w",) and once([]) == []


def test_findings_are_grouped_by_cause_the_worst_first() -> None:
    order = list(Severity)
    given = [
        finding("a", BITS),
        finding("b", EPSILON),
        finding("c", BITS),
        finding("a", EPSILON),
        finding("b", EPSILON),
    ]
    mixed = Group(EPSILON, (finding(), finding(violation=False), finding(violation=False))).to_dict()
    assert (mixed["class"], mixed["severity"]) == (str(EPSILON.group), str(EPSILON.severity))
    groups = grouped(given)
    ranks = [order.index(one.cause.severity) for one in groups]
    assert ranks == sorted(ranks) and {one.cause.name for one in groups} == {BITS.name, EPSILON.name}
    by = {one.cause.name: one for one in groups}
    assert [one.entry for one in by[EPSILON.name].findings] == ["b", "a", "b"] and by[EPSILON.name].to_dict()[
        "entries"
    ] == ["b", "a"]
    assert by[BITS.name].to_dict()["findings"] == [given[0].id, given[2].id] and BUDGET in Class


def test_a_baseline_accepts_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({"accepted": [{"id": "x", "reason": " why "}, {"id": "3", "reason": "so"}]}))
    assert module.read_baseline(path) == {"x": "why", "3": "so"}
    for text, words in [('{"accepted": [{"id": "x", "reason": " "}]}', "x has no reason"), ("{", "is needed"),
        ("{}", "is needed"), ('{"accepted": [3]}', "is needed"),
                        ('{"accepted": [{"id": "x"}]}', "is needed"),
                        ('{"accepted": [{"id": 3, "reason": "so"}]}', "is needed")]:  # fmt: skip
        path.write_text(text)
        with pytest.raises(InvalidParameter, match=words):
            module.read_baseline(path)
    with pytest.raises(InvalidParameter, match="is needed"):
        module.read_baseline(tmp_path / "absent.json")
    one, two = finding("a"), finding("b")
    marked = accepted(report(examined("a", one), examined("b", two)), {two.id: "why", "old": "gone"})
    assert (
        [each.accepted for each in marked.findings] == ["", "why"]
        and marked.stale == ("old",)
        and marked.to_dict()["accepted"] == 1
    )


# --- Other programs ---------------------------------------------------------------------------------------------------


def test_a_log_for_code_hosts() -> None:
    whole = report(
        examined("a", finding("a", BITS), finding("a", EPSILON, figures={"n": "x" * 500})),
        examined("b", finding("b", EPSILON, accepted="why"), finding("b", EPSILON, violation=False)),
        root="/src/",
    )
    (run,) = sarif(whole)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert (
        [rules[one["ruleIndex"]] for one in run["results"]]
        == [one["ruleId"] for one in run["results"]]
        == [BITS.name, EPSILON.name, EPSILON.name, EPSILON.name]
    )
    assert run["invocations"][0] == {
        "executionSuccessful": True,
        "commandLine": "refdp audit package",
        "endTimeUtc": "2020-01-02T03:04:05Z",
    }
    first, second, third, fourth = run["results"]
    place = first["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "src/src/x%20y.py" and place["physicalLocation"][
        "region"
    ] == {"startLine": 7, "snippet": {"text": "text"}}
    assert place["logicalLocations"] == [{"fullyQualifiedName": "f", "kind": "function"}]
    assert (
        "sure. n 3, m 4. Contradicts “said” (there)" in first["message"]["text"]
        and ("n " + "x" * 398 + ". Contradicts") in second["message"]["text"]
    )
    assert third["suppressions"] == [{"kind": "external", "justification": "why"}] and "suppressions" not in second
    assert "Contradicts" not in fourth["message"]["text"] and fourth["level"] == "note"
    (run,) = sarif(report(examined("a", finding(function="")), command="refdp audit package x"))["runs"]
    assert (
        run["invocations"][0]["commandLine"] == "refdp audit package x"
        and "logicalLocations" not in run["results"][0]["locations"][0]
    )
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/x%20y.py"


def test_suites_for_build_servers() -> None:
    whole = report(
        examined("a", finding(), finding(accepted="why"), finding(violation=False), releases=LEFT),
        examined("b", seconds=None, sampler=LEFT),
    )
    root = ElementTree.fromstring(junit(whole).encode())
    count = len(SUBJECTS)
    assert root.attrib == {
        "name": "refdp audit of package",
        "tests": str(2 * count + 3),
        "failures": "1",
        "errors": "0",
        "skipped": "3",
        "time": "3.000000000",
    }
    first, second = root
    assert (first.get("name"), first.get("tests"), first.get("failures"), first.get("skipped"), first.get("time")) == (
        "a",
        str(count + 3),
        "1",
        "2",
        "3.000000000",
    )
    assert (second.get("time"), second.get("failures"), second.get("skipped"), second.get("errors"),
        second.get("timestamp")) == (
        "0.000000000", "0", "1", "0", "2020-01-02T03:04:05")  # fmt: skip
    assert {case.get("time") for case in first} == {f"{3 / (count + 3):.9f}"} and {
        case.get("classname") for case in first
    } == {"a"}
    failure, skipped, quiet = list(first)[:3]
    assert (
        failure[0].tag == "failure"
        and "sure\nn 3, m 4.\n“said” (there)\n\ncode" in (failure[0].text or "")
        and failure[0].get("type") == str(EPSILON.group)
    )
    assert (
        (skipped[0].tag, skipped[0].get("message")) == ("skipped", "accepted: why")
        and quiet[0].tag == "system-out"
        and "code" in (quiet[0].text or "")
    )
    told = [case[0].get("message") for case in first if case.get("name") == "coverage: releases"]
    assert told == [f"{LEFT}: releases reason"] and len(failure) == len(skipped) == len(quiet) == 1


def test_letters_that_xml_cannot_hold() -> None:
    assert _printable("a\n\t \x00\x1f\ufffe\uffff\ud800\udfff\ud7ff\ue000é") == "a\n\t ??????\ud7ff\ue000é"
