"""`refdp audit package`: each stage finds its fault in a small package, with a witness that re-runs without refdp."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from refdp.audit.dossier import dossier
from refdp.audit.package import audit_package
from refdp.audit.package.page import page
from refdp.audit.package.report import PackageReport
from refdp.audit.package.report import accepted as with_accepted
from refdp.audit.package.told import plain
from refdp.audit.verdicts import Verdict
from refdp.errors import InvalidParameter
from refdp.faces.cli import run
from tests.packages.conftest import TOY


def found(report: PackageReport, entry: str) -> dict[str, str]:
    return {f"{one.stage}/{one.kind}": str(one.group) for one in report.findings if one.entry == entry}


def test_faults_are_found_by_cause(report: PackageReport) -> None:
    assert found(report, "total")["replay/sensitivity"] == "sensitivity"
    assert found(report, "total")["replay/budget"] == "budget"
    assert found(report, "summary")["replay/result"] == "proved infinite"
    assert found(report, "summary")["structural/exact statistic"] == "budget"
    assert found(report, "count") == {"structural/support": "budget"}
    exact = next(one for one in report.findings if one.kind == "sensitivity")
    assert (exact.figures["declared"], exact.figures["observed"], exact.figures["loss"]) == (1.0, 3.0, 3.0)


def test_a_right_function_is_not_accused(report: PackageReport) -> None:
    right = next(one for one in report.entries if one.entry.name == "right")
    assert found(report, "right") == {}
    assert right.verdict is Verdict.NOT_FOUND
    assert right.figures["replay"]["calls"] > 0


def test_noise_that_is_not_opened_is_no_evidence(folder: Path) -> None:
    """A run with a fixed seed repeats its noise: with another noise function opened, nothing may be concluded."""
    text = (folder / "audit.toml").read_text()
    (folder / "other.toml").write_text(text.replace("toydp:laplace", "toydp:unused").replace('"laplace"', '"unused"'))
    seen = audit_package(folder / "other.toml", only="right", stages=("replay",))
    assert seen.findings == ()
    assert seen.verdict is Verdict.NOT_EXAMINED


def test_declared_costs_above_the_claim_are_not_examined_by_runs(folder: Path) -> None:
    """A function of unknown law that says it costs 30: what is rare enough no run of a black box shows."""
    text = (folder / "audit.toml").read_text().replace('law = "laplace"', 'law = "rare"')
    text = text.replace('scale = "toydp:scale_of"', "scale = 1.0").replace("wrappers:total_right", "wrappers:dear")
    (folder / "dear.toml").write_text(text)
    call = "toydp.laplace(float(len(records)), 30.0, 30.0, np.random.default_rng(seed))"
    (folder / "wrappers.py").write_text(
        (TOY / "wrappers.py").read_text() + f"\n\ndef dear(records, seed):\n    return {call}\n"
    )
    sys.modules.pop("wrappers", None)
    seen = audit_package(folder / "dear.toml", only="right")
    told = {row.what: row for row in seen.entries[0].coverage}["composition"]
    assert seen.findings == () and seen.status == 3 and told.verdict is Verdict.NOT_EXAMINED
    assert "add up to 30, an upper end above the claim" in told.reason and seen.entries[0].figures["black box"]["runs"]


def test_a_point_drawn_from_a_chosen_interval_is_no_evidence(folder: Path) -> None:
    """With the generator put back after the choice the point moves with the interval, and would seem a leak."""
    head = (folder / "audit.toml").read_text().partition("[[noise]]")[0]
    noise = '[[noise]]\nfunction = "toydp:interval"\nlaw = "interval"\nvalue = 0.0\nscale = 1.0\ngenerator = "rng"\n'
    entry = '[[entry]]\nname = "midpoint"\ncallable = "wrappers:midpoint"\nfirst = [[0.5], [0.2]]\nsecond = [[0.5]]\n'
    (folder / "interval.toml").write_text(head + noise + entry)
    seen = audit_package(folder / "interval.toml", stages=("replay",))
    assert seen.findings == () and seen.entries[0].figures["replay"]["calls"] > 0
    assert seen.entries[0].figures["replay"]["other randomness"]


def test_an_entry_point_that_fails_is_not_examined(folder: Path) -> None:
    text = (folder / "audit.toml").read_text().replace("wrappers:count", "wrappers:broken")
    (folder / "failing.toml").write_text(text)
    (folder / "wrappers.py").write_text(
        (TOY / "wrappers.py").read_text() + "\n\ndef broken(records, seed):\n    1 / 0\n"
    )
    sys.modules.pop("wrappers", None)
    seen = audit_package(folder / "failing.toml", only="count")
    assert seen.verdict is Verdict.NOT_EXAMINED and seen.status == 3
    assert all("ZeroDivisionError" in row.reason for row in seen.coverage)


def test_locations_are_lines_of_the_package(report: PackageReport) -> None:
    lines = (TOY / "toydp.py").read_text().splitlines()
    for one in report.findings:
        assert one.location.path == "toydp.py"
        assert one.location.text == lines[one.location.line - 1].strip() != ""


def test_witnesses_are_short_and_ran_without_refdp(report: PackageReport, folder: Path) -> None:
    kinds = {(one.entry, one.kind) for one in report.findings if one.witness.standalone and one.witness.ran}
    assert {("total", "sensitivity"), ("summary", "result"), ("count", "support")} <= kinds
    assert all(len(one.witness.code.splitlines()) <= 10 for one in report.findings)
    code = next(one.witness.code for one in report.findings if one.kind == "support")
    alone = "import sys; sys.path.insert(0, ''); sys.modules['refdp'] = None\n" + code
    done = subprocess.run([sys.executable, "-c", alone], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[0, ")


def test_a_relative_path_is_the_same_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    seen = audit_package(Path(folder.name, "audit.toml"), only="count", stages=("structural",))
    assert [one.witness.ran for one in seen.findings] == [True]
    assert Path.cwd() == folder.parent


def test_a_witness_that_does_not_show_it_is_not_kept(folder: Path) -> None:
    from refdp.audit.package import witness
    from refdp.audit.package.scope import read

    scope = read(folder / "audit.toml")
    wrong = iter([("print([3, 3], 'of 9 runs a side')", witness.one_sided)])
    kept = witness.chosen(scope, scope.entries[0], "replay", wrong)
    assert not kept.ran and not kept.standalone and "audit_package" in kept.code


def test_json_names_verdict_coverage_and_provenance(report: PackageReport) -> None:
    told = json.loads(json.dumps(report.to_dict()))
    assert told["verdict"] == "VIOLATION" and told["ok"] is False and report.status == 1
    assert {row["what"] for row in told["coverage"]} >= {"releases", "composition", "floating point"}
    first = told["findings"][0]
    for name in ("class", "severity", "contradicts", "witness", "remedy", "advisory", "location", "id"):
        assert name in first
    kept = told["provenance"]
    assert kept["command"] and kept["date"] and kept["machine"] and len(kept["sources"]["sha256"]) == 64
    assert {"refdp", "python", "numpy", "toydp"} <= set(kept["versions"]) and set(kept["data"]) == {
        "total", "right", "summary", "count"
    }  # fmt: skip


def test_a_baseline_accepts_and_tells_what_is_stale(report: PackageReport, folder: Path, tmp_path: Path) -> None:
    names = [one.id for one in report.findings if one.entry == "count"]
    accepted = [{"id": name, "reason": "documented"} for name in [*names, "0000"]]
    (tmp_path / "baseline.json").write_text(json.dumps({"accepted": accepted}))
    again = audit_package(folder / "audit.toml", only="count", baseline=tmp_path / "baseline.json")
    assert [one.accepted for one in again.findings] == ["documented"]
    assert again.stale == () and again.left_out == ("total", "right", "summary")  # it may be of one of these
    assert again.sentence.endswith("Not asked for, and not examined: total, right, summary.")
    assert "toydp 1.0 without its entry points total, right, summary" in dossier(again.to_dict()).sentence
    whole = with_accepted(report, {"0000": "documented"})
    assert whole.stale == ("0000",) and whole.left_out == () and "Not asked" not in whole.sentence
    assert again.verdict is Verdict.VIOLATION and not again.ok
    assert again.status == 3  # the black box was left out: still not examined
    (tmp_path / "silent.json").write_text(json.dumps({"accepted": [{"id": "1", "reason": " "}]}))
    with pytest.raises(InvalidParameter, match="no reason"):
        audit_package(folder / "audit.toml", baseline=tmp_path / "silent.json")
    for wrong in ({"id": "1", "reason": None}, {"id": "1", "reason": 3}, {"id": None, "reason": "r"}, {"id": "1"}, 3):
        (tmp_path / "wrong.json").write_text(json.dumps({"accepted": [wrong]}))
        with pytest.raises(InvalidParameter, match="--baseline"):
            audit_package(folder / "audit.toml", baseline=tmp_path / "wrong.json")


def test_resumed_is_the_same_and_runs_nothing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept.jsonl"
    first = audit_package(folder / "audit.toml", only="count", resume=kept)
    kept.write_bytes(kept.read_bytes() + b'{"entry": "tot')  # a kill in the middle of a line
    monkeypatch.setattr("refdp.audit.package.run._examined", None)  # would be called
    again = audit_package(folder / "audit.toml", only="count", resume=kept)
    assert json.dumps([one.to_dict() for one in again.findings]) == json.dumps([f.to_dict() for f in first.findings])
    assert again.entries[0].coverage == first.entries[0].coverage
    (folder / "changed.toml").write_text((folder / "audit.toml").read_text() + "\n# other\n")
    with pytest.raises(InvalidParameter, match="--resume"):
        audit_package(folder / "changed.toml", resume=kept)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("epsilon = 1.0", "epsilon = -1"), r"\[claim\] epsilon -1"),
        (("epsilon = 1.0", "epsilon = true"), "epsilon: True, a number is needed"),
        (('relation = "add-remove"', 'relation = "both"'), "relation 'both': allowed are add-remove, replace-one"),
        (('name = "toydp"', 'nam = "toydp"'), "'nam' is not known"),
        (('callable = "wrappers:total"', 'callable = "wrappers"'), "module:function is needed"),
        (('callable = "wrappers:total"', 'callable = "nowhere:total"'), "nowhere"),
        (("bounds = [[2, 3]]", "bounds = [[3, 2]]"), "low < high"),
        (("second = [[0.5]]", "second = [[0.5], [0.25]]"), "differ in exactly one record"),
        (('import = "toydp"', 'import = "absent_package"'), "no such module is installed"),
        (('law = "laplace"', 'law = "laplac"'), "'laplace' is meant"),
        (("[package]", "[package"), "no TOML"),
    ],
)
def test_a_wrong_file_is_one_clear_error(folder: Path, change: tuple[str, str], told: str) -> None:
    text = (folder / "audit.toml").read_text()
    assert change[0] in text
    (folder / "wrong.toml").write_text(text.replace(*change, 1))
    with pytest.raises(InvalidParameter, match=told) as error:
        audit_package(folder / "wrong.toml", stages=("replay",), only="total" if "second" not in change[0] else None)
    assert "\n" not in str(error.value)


def test_the_page_tells_it_all_and_loads_nothing(report: PackageReport) -> None:
    text = page(report)
    assert "http" not in text.replace("http://www.w3.org", "") and "<script" not in text
    for words in ("VIOLATION", "Every function is epsilon-differentially private.", "toydp.py:", "Remedy", "Witness",
                  "What was examined", "NOT EXAMINED", "refdp audit package audit.toml"):  # fmt: skip
        assert words in text, words


def test_a_finding_is_told_in_words_that_ask_for_no_other_page(report: PackageReport) -> None:
    """What was counted on which side, what the claim allows, the two data sets, and the curve beside the finding."""
    text = page(report)
    for words in (
        "no result may be more than 2.72 times as likely with one more or one less",
        "the true value moves by 3; the noise is made for 1.",
        "this part of the result is 2 on the first data set and 1 on the second.",
        "loses more than any epsilon (exact replay)",
        "<tr class=changed><th>first data set</th><td>0.25</td></tr>",
    ):
        assert words in text, words
    box = next(one for one in report.findings if one.stage == "black box")
    likelier = "second" if "second side likelier" in box.figures["event"] else "first"
    assert f"came up {box.figures['counts'][0]} times on the {likelier} and" in plain(box)
    assert "Claimed is" not in plain(replace(box, violation=False))
    entries = tuple(replace(one, svg="<svg></svg>" * (one.entry.name == box.entry)) for one in report.entries)
    shown = page(replace(report, entries=entries))
    assert shown.count("<svg>") == 1 and shown.index("<svg>") < shown.index("What was examined")


def test_the_command_writes_all_of_it(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    outputs = [tmp_path / name for name in ("a.sarif", "a.xml")]
    words = ["audit", "package", str(folder / "audit.toml"), "--entry", "count", "--json"]
    assert run([*words, "--sarif", str(outputs[0]), "--junit", str(outputs[1])]) == 1
    told = json.loads(capfd.readouterr().out)
    assert told["verdict"] == "VIOLATION" and told["entries"][0]["name"] == "count"
    assert json.loads(outputs[0].read_text())["runs"][0]["results"]
    assert ElementTree.parse(outputs[1]).getroot().tag == "testsuites"
    assert run(["audit", "package", str(tmp_path / "absent.toml"), "--json"]) == 2
    assert "cannot be read" in json.loads(capfd.readouterr().out)["error"]
