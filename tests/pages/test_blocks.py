"""What the pages of docs print to be copied runs as it stands there; README.md's blocks are in test_readme.py."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import refdp.testing
from labs import __main__ as shell
from refdp.audit.isolated import CAN_FORK
from refdp.audit.verdicts import Verdict
from refdp.faces import cli
from tests.pages.test_readme import blocks

ROOT = Path(__file__).parents[2]


def executed(page: str) -> dict[str, Any]:
    """The names that the page's blocks of Python leave, run one after the other. Errors: those of the blocks."""
    names: dict[str, Any] = {}
    for block in re.findall(
        r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        exec(compile(block, page, "exec"), names)
    assert names
    return names


def test_the_python_of_each_page_runs_and_shows_what_the_page_says() -> None:
    bound = executed("docs/accounting.md")["bound"]
    assert bound.lower <= bound.upper == bound.epsilon
    assert executed("docs/audit.md")["bound"].refuted
    report = executed("docs/verdicts.md")["report"]
    assert (report.verdict, report.floating) == (Verdict.NOT_FOUND, Verdict.VIOLATION)


def test_the_example_of_a_test_suite_passes() -> None:
    names = executed("docs/testing.md")
    fewer = SimpleNamespace(
        assert_sensitivity=refdp.testing.assert_sensitivity, assert_dp=partial(refdp.testing.assert_dp, samples=3000)
    )
    names["test_sum"](fewer)
    names["test_count"](fewer)


def printed_files(page: str) -> dict[str, str]:
    """The blocks of a page after a paragraph that says "here `name`"."""
    found = [
        (re.findall(r"here `([a-z.]+)`", before)[-1:], block) for before, block in blocks((ROOT / page).read_text())
    ]
    return {name[0]: block + "\n" for name, block in found if name}


@pytest.mark.skipif(not CAN_FORK, reason="runs have processes of their own by fork")
def test_the_first_result_of_an_auditor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As printed, but with one pair."""
    page = "docs/auditing.md"
    files = printed_files(page)
    assert set(files) == {"theirs.py", "schema.json"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    [line] = [block for _, block in blocks((ROOT / page).read_text()) if block.startswith("refdp ")]
    assert "exit status 1" in line
    assert cli.run([*shlex.split(line, comments=True)[1:], "--pairs", "1"]) == 1
    assert "published object" in capsys.readouterr().out


def test_students_get_graders_and_no_solutions(tmp_path: Path) -> None:
    """As printed in labs/README.md; graded in a process of its own, since the folder has its own package `labs`."""
    text = (ROOT / "labs/README.md").read_text(encoding="utf-8")
    assert "python -m labs --hand-out students " in text and "python -m labs exact_count mine.py " in text

    students = tmp_path / "students"
    assert shell.main(["--hand-out", str(students)]) == 0
    names = {path.name for path in students.rglob("*.py")}
    assert "starter.py" in names and not names & {"solution.py", "submissions.py"}
    (students / "mine.py").write_text("train = 1\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(students), str(ROOT)])}
    command = [sys.executable, "-m", "labs", "exact_count", "mine.py"]
    refused = subprocess.run(command, cwd=students, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "mine.py defines no function `train(records, curator)`" in refused.stderr
    assert shell.main(["--hand-out", str(students)]) == 2


def test_the_first_result_of_an_implementer_is_about_all_vectors() -> None:
    """The client is compiled and asked in tests/conform; here, that what the page counts are all vectors of DPBoost."""
    page = (ROOT / "docs/conformance.md").read_text(encoding="utf-8")
    [(passed, failed, skipped)] = re.findall(r"status 0: (\d+) passed, (\d+) failed, (\d+) skipped", page)
    files = sorted((ROOT / "conform/dpboost").glob("*.json"))
    vectors = sum(len(json.loads(path.read_text())["tests"]) for path in files)
    assert (int(passed) + int(skipped), failed) == (vectors, "0")
    flags = re.findall(r"g\+\+ (-O2 -std=c\+\+17 -ffp-contract=off)", page)
    assert len(flags) == 2 and (ROOT / "conform/clients/boosted.cpp").exists()


@pytest.mark.parametrize("command", ["audit", "train"])
def test_help_says_what_a_file_of_bounds_holds(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Rich takes [low, high] for markup unless it is escaped, and then --help shows "{column:  or }"."""
    assert cli.run([command, "--help"]) == 0
    shown = re.sub(r"[\s│]+", " ", capsys.readouterr().out)
    assert shown.count("{column: [low, high] or [category, ...]}") == shown.count("{column:") >= 1
