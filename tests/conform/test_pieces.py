"""Pieces of the conformance tests one by one: reports, levels, questions again, machines, files, certificates' rows."""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refdp.conform import archive, files, machines, page, runner
from refdp.conform.compare import Difference
from refdp.conform.judge import PASSED, Judgement
from refdp.errors import InvalidParameter

# --- Reports ----------------------------------------------------------------------------------------------------------


def reported(counts: dict[tuple[str, str, str], int], **given: Any) -> runner.Report:
    return runner.Report("prog", "1.0", counts=Counter(counts), **given)


def complete(paper: str, *levels: str, **changed: str) -> dict[tuple[str, str, str], int]:
    """Every kind of these levels once, passed unless said otherwise."""
    kinds = [kind for level in levels for kind in files.LEVELS[level] if (paper, kind) not in files.ABSENT]
    return {(paper, kind, changed.get(kind, "passed")): 1 for kind in kinds}


def test_levels_are_reached_in_order() -> None:
    """A level needs all of its kinds and those before it, none failed or skipped; acceptable ones do."""
    order = list(files.LEVELS)
    for number in range(len(order) + 1):
        assert reported(complete("dpboost", *order[:number])).level("dpboost") == ["none", *order][number]
    assert reported(complete("sgbdt", "predict")).level("sgbdt") == "predict"  # which has no vectors of grids
    assert reported(complete("dpboost", "node")).level("dpboost") == "none"
    for outcome, due in (("failed", "predict"), ("skipped", "predict"), ("acceptable", "node")):
        found = reported(complete("dpboost", "predict", "node", mechanism=outcome))
        assert found.level("dpboost") == due and found.level("sgbdt") == "none"
    both = reported({**complete("dpboost", "predict"), **complete("sgbdt", "predict", "node")})
    assert both.levels == {"dpboost": "predict", "sgbdt": "node"}
    assert "dpboost predict, sgbdt node (10 passed, 0 acceptable, 0 failed, 0 skipped)" in both.badge()
    assert reported({("dpboost", "grid", "skipped"): 3}).badge() == (
        "refdp conformance of prog 1.0: no level (0 passed, 0 acceptable, 0 failed, 3 skipped)")  # fmt: skip
    assert "prog 1.0, vectors of seed 0: no level" in reported({}, seed=0).badge()


def test_a_report_is_fine_if_something_was_examined_and_nothing_failed() -> None:
    for outcome, ok in (("passed", True), ("acceptable", True), ("skipped", False), ("failed", False)):
        assert reported({("dpboost", "grid", outcome): 2}).ok is ok
        assert reported({("dpboost", "grid", outcome): 2}).total(outcome) == 2
    assert not reported({}).ok
    assert all(reported({("dpboost", "grid", outcome): 1}).ok for outcome in ("passed", "acceptable"))
    assert not reported({("dpboost", "grid", "passed"): 2, ("dpboost", "node", "failed"): 1}).ok


def test_judgements_are_entered() -> None:
    report = reported({})
    body, test = {"paper": "dpboost", "kind": "grid"}, {"id": "dpboost/grid/001", "flags": ["F"]}
    runner.count(report, body, test, PASSED)
    runner.count(report, body, test, Judgement("skipped", "why"))
    runner.count(report, body, test, Judgement("skipped", "why"))
    runner.count(report, body, test, Judgement("failed", "bad"))
    runner.count(report, body, test, Judgement("failed", "worse", Difference("a[0]", 1, 2)))
    assert report.counts == {("dpboost", "grid", "passed"): 1, ("dpboost", "grid", "skipped"): 2,
                             ("dpboost", "grid", "failed"): 2}  # fmt: skip
    assert report.reasons == {"why": 2}
    told = runner.told_as("dpboost/grid/001")
    plain = {"id": "dpboost/grid/001", "asked": told, "kind": "grid", "flags": ["F"]}
    assert report.failures == [{**plain, "path": "", "expected": None, "got": None, "reason": "bad"},
                               {**plain, "path": "a[0]", "expected": 1, "got": 2, "reason": "worse"}]  # fmt: skip
    told = report.to_dict()
    assert (told["passed"], told["failed"], told["acceptable"], told["skipped"]) == (1, 2, 0, 2)
    assert (told["crashes"], told["seed"], told["skips"], told["failures"]) == (0, None, {"why": 2}, report.failures)
    assert runner.called("a b+c-1.0_x<y>") == "a b+c-1.0_x?y?" and runner.called("x" * 41) == "x" * 40


class Program:
    """A client whose answers are given."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers, self.asked, self.stopped, self.crashes = list(answers), [], 0, 7

    def run(self, message: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(message)
        return self.answers.pop(0)

    def stop(self) -> None:
        self.stopped += 1


def test_a_law_is_asked_again_after_a_new_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a law; draws that were given before fail, and so does an answer after the new start that is wrong."""
    monkeypatch.setattr(runner, "repeats", lambda one, other: one["v"] == other["v"])
    monkeypatch.setattr(runner, "judge", lambda test, kind, answer: (
        PASSED if kind == "statistical" and answer.get("v") else Judgement("failed", "law")))  # fmt: skip
    test: dict[str, Any] = {"id": "1", "expect": {"law": ["laplace"]}, "operations": ["draw"], "input": {}}
    body = {"paper": "dpboost", "kind": "statistical"}

    def told(program: Program, drawn: runner.Drawn) -> Judgement:
        return runner.examined(program, body, test, {"dpboost"}, drawn)  # type: ignore[arg-type]

    drawn: runner.Drawn = {}
    program = Program({"v": 1}, {"v": 2}, {"v": 3}, {"v": 2})
    assert told(program, drawn) is PASSED and program.stopped == 1
    assert drawn == {"['laplace']": [{"v": 1}, {"v": 2}]}
    assert told(program, drawn) is PASSED and program.stopped == 1 and len(drawn["['laplace']"]) == 3
    found = told(program, drawn)
    assert found.outcome == "failed" and "same draws" in found.reason and not program.answers
    assert found.difference == Difference("values", "fresh draws", "draws that were given before")
    assert [one["id"] for one in program.asked] == [runner.told_as("1")] * 4
    assert program.asked[0] == runner.message(body, test)
    assert told(Program({"v": 4}, {"v": 4}), {}).outcome == "failed"
    assert told(Program({"v": 4}, {}), {}) == Judgement("failed", "law")
    assert told(Program({}), {}) == Judgement("failed", "law")
    other = runner.examined(Program(), body, test, {"sgbdt"}, {})  # type: ignore[arg-type]
    assert other == Judgement("skipped", "dpboost is not supported")


def test_pages_tell_what_happened() -> None:
    failure = {"id": "x/1", "kind": "grid", "path": "a[0]", "flags": ["One", "Two"], "expected": 1, "got": "y" * 300,
               "reason": "bad\x1b[31m"}  # fmt: skip
    report = reported({("dpboost", "grid", "failed"): 21, ("dpboost", "node", "passed"): 2,
                       ("dpboost", "node", "skipped"): 1},
                      failures=[failure] * 21, reasons=Counter({"no\x07": 1}), crashes=3)  # fmt: skip
    lines = page.text(report).splitlines()
    assert lines[:2] == [report.badge(), ""]
    assert lines[2:6] == ["dpboost    grid         21 failed", "dpboost    node         2 passed, 1 skipped",
                          "skipped: 1 times, no?", "crashed or timed out: 3 times"]  # fmt: skip
    assert lines[6:12] == ["", "FAILED x/1: bad?[31m", "  at a[0]", "  expected 1", f'  got      "{"y" * 199}...',
                           "  may be   One, Two"]  # fmt: skip
    assert lines.count("FAILED x/1: bad?[31m") == 20 and lines[-1] == "and 1 more failures; --json lists all"
    report.failures, report.crashes = [{**failure, "path": "", "got": "y" * 198}] * 20, 0
    lines = page.text(report).splitlines()
    assert "crashed" not in "".join(lines) and lines.count("  at the answer") == 20
    assert lines[-1] == "  may be   One, Two" and f'  got      "{"y" * 198}"' in lines
    whole = page.page(report)
    assert "<tr><td>dpboost</td><td>grid</td><td>0</td><td>0</td><td>21</td><td>0</td></tr>" in whole
    assert "<tr><td>dpboost</td><td>node</td><td>2</td><td>0</td><td>0</td><td>1</td></tr>" in whole
    assert whole.count("<td>One, Two</td>") == 20


# --- Machines and files -----------------------------------------------------------------------------------------------


def test_each_interpreter_runs_with_all_features_and_with_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was switched off before."""
    ran: list[tuple[list[str], dict[str, str]]] = []

    def run(words: list[str], *, env: dict[str, str], **given: Any) -> Any:
        assert given == {"capture_output": True, "text": True, "check": True}
        ran.append((words, env))
        off = env.get(machines.OFF, "").split()
        if words[1] == "-c":
            return SimpleNamespace(stdout=json.dumps(["2.0.0", [name for name in ("AVX2", "FMA3") if name not in off]]))
        return SimpleNamespace(stdout='a warning\n["x/plan.json"]\n' if off and words[0] == "b" else "[]\n")

    monkeypatch.setattr(machines.subprocess, "run", run)
    monkeypatch.setenv(machines.OFF, "SSE3")
    found = machines.machines(["a", "b"], "dpboost")
    assert [(one.features, one.different) for one in found] == [
        (("AVX2", "FMA3"), ()), ((), ()), (("AVX2", "FMA3"), ()), ((), ("x/plan.json",))]  # fmt: skip
    asked = [words for words, _ in ran if "-m" in words]
    assert asked == [[one, "-m", "refdp.conform.machines", "--differing", "dpboost"] for one in "aabb"]
    assert {env["PYTHONPATH"] for _, env in ran} == {str(Path(machines.__file__).parents[2])}
    assert found[2].line() == "numpy 2.0.0, features AVX2, FMA3: every file the same"
    assert found[3].line() == "numpy 2.0.0, features none beyond its baseline: x/plan.json"
    machines.machines(["a"])
    assert ran[-2][0][-1] == "--differing"


def test_what_the_command_of_machines_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(machines, "differing", lambda paper: asked.append(paper) or ["f"])

    def told(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["machines", *words])
        return machines.main(), capsys.readouterr().out

    assert told("--differing") == told("--differing", "dpboost") == (0, '["f"]\n') and asked == [None, "dpboost"]
    same, other = machines.Machine("1", (), ()), machines.Machine("1", (), ("f",))
    for found, status in (([same, same], 0), ([same, other], 1)):
        monkeypatch.setattr(machines, "machines", lambda pythons: asked.append(pythons) or found)  # noqa: B023
        assert told("--python", "p", "q") == (status, "".join(one.line() + "\n" for one in found))
        assert asked[-1] == [sys.executable, "p", "q"]
    told()
    assert asked[-1] == [sys.executable]
    monkeypatch.undo()
    monkeypatch.setattr(machines, "kept", lambda: None)
    with pytest.raises(FileNotFoundError):
        machines.differing()


def test_an_archive_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """To a file in folders that are made, or to build/; compressed without a time."""
    monkeypatch.setattr(archive, "packed", lambda: b"tar")
    monkeypatch.chdir(tmp_path)
    for words, path in ((["a/b/c.tar.gz"], Path("a/b/c.tar.gz")), ([], Path("build/refdp-vectors-1.tar.gz"))):
        for _ in range(2):
            assert archive.main(words) == 0
        content = path.read_bytes()
        assert gzip.decompress(content) == b"tar" and content[4:8] == bytes(4)
        said = f"{path}: {len(content)} bytes, SHA-256 of the tar inside {hashlib.sha256(b'tar').hexdigest()}\n"
        assert capsys.readouterr().out == said * 2


def test_files_are_read_in_order_of_papers_and_kinds(tmp_path: Path) -> None:
    def put(paper: str, kind: str, **more: Any) -> None:
        (tmp_path / paper).mkdir(exist_ok=True)
        tests = [dict.fromkeys(files.SCHEMA["properties"]["tests"]["items"]["required"], "valid")]
        body = {"format": "refdp-vectors", "version": 1, "paper": paper, "kind": kind, "tests": tests, **more}
        (tmp_path / paper / f"{kind}.json").write_text(json.dumps(body))

    with pytest.raises(InvalidParameter, match="no vectors in"):
        files.read(tmp_path)
    for paper in ("sgbdt", "dpboost"):
        for kind in ("train", "account", "grid", "sampler", "node"):
            put(paper, kind)
    put("dpboost", "other", format="another")
    found = [(body["paper"], body["kind"]) for body in files.read(tmp_path)]
    order = ["grid", "node", "train", "sampler", "account"]
    papers = sorted(("sgbdt", "dpboost"), key=files.TEXTS.index)
    assert found == [(paper, kind) for paper in papers for kind in order]
    put("sgbdt", "node", version=2)
    with pytest.raises(InvalidParameter, match="of another version than 1"):
        files.read(tmp_path)
    (tmp_path / "sgbdt" / "node.json").write_text("{")
    with pytest.raises(InvalidParameter, match="cannot be read"):
        files.read(tmp_path)


def test_which_vectors_are_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Numbered from 1; no file of a kind without tests; how many each has is told."""

    def kind(count: int) -> Any:
        one = SimpleNamespace(to_json=lambda name: {"id": name, "claims": []})
        return lambda paper: [one] * (count if paper == "dpboost" else 1)

    monkeypatch.setattr(files, "TEXTS", ("dpboost", "sgbdt"))
    monkeypatch.setattr(files, "KINDS", {"grid": kind(2), "node": kind(0)})
    made = list(files.vectors(None, ("grid", "node")))
    assert [one[:2] for one in made] == [("dpboost", "grid"), ("sgbdt", "grid"), ("sgbdt", "node")]
    first = json.loads(made[0][2])
    assert [one["id"] for one in first["tests"]] == ["dpboost/grid/001", "dpboost/grid/002"]
    assert (first["format"], first["version"], first["paper"], first["kind"]) == ("refdp-vectors", 1, "dpboost", "grid")
    assert made[0][2].count("\n") == 4 and list(first)[-1] == "tests"
    assert [one[:2] for one in files.vectors("sgbdt", ("grid",))] == [("sgbdt", "grid")]
    monkeypatch.setattr(files, "vectors", lambda: iter(made))
    assert files.write(tmp_path / "v") == {"dpboost/grid": 2, "sgbdt/grid": 1, "sgbdt/node": 1}
    assert (tmp_path / "v" / "sgbdt" / "node.json").read_text() == made[2][2]
    assert json.loads((tmp_path / "v" / "schema.json").read_text()) == files.SCHEMA
    for part in (files.SCHEMA, files.SCHEMA["properties"]["tests"]["items"]):
        assert part["additionalProperties"] is False and set(part["required"]) <= set(part["properties"])
    (tmp_path / "w").write_text("")
    with pytest.raises(InvalidParameter, match="cannot be written"):
        files.write(tmp_path / "w")
