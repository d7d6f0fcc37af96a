"""The autograder: wrong submissions are refused and right ones accepted; a sample here, all with `-m statistics`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from labs import __main__ as shell
from labs.cheats import CHEATS
from labs.grading import FOLDER, LABS, Lab, lab, submitted
from refdp.audit import grade as grading
from refdp.audit.isolated import CAN_FORK

needs_fork = pytest.mark.skipif(not CAN_FORK, reason="runs have processes of their own by fork")
ALL = [lab(name) for name in LABS]
SHORT: dict[str, Any] = {"pairs": 4}
"""Enough to refuse; a submission passes only after the whole search."""


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_a_lab_is_whole(one: Lab) -> None:
    found = one
    text = (FOLDER / found.name / "README.md").read_text(encoding="utf-8")
    assert len(LABS) >= 20 and len(found.wrong) >= 11 and len(found.right) >= 3
    assert text.count("<summary>Hint") >= 2 and "[starter.py](starter.py)" in text
    assert f"| epsilon | {found.epsilon:g} |" in text.replace(".0 |", " |") and found.relation in text
    assert (f"| delta | {found.delta:g} |" in text) == (found.delta > 0)
    assert f"({found.name}/README.md)" in (FOLDER / "README.md").read_text(encoding="utf-8")


@needs_fork
def test_a_starter_is_refused_and_a_solution_accepted() -> None:
    one = lab("exact_count")
    refused = one.grade(one.wrong["the starter"], first_only=True)
    assert not refused.passed and "no violation" not in refused.text
    assert one.grade(one.right["the solution"]).passed


@needs_fork
def test_a_task_with_a_delta_is_graded_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    one = lab("gaussian")
    assert one.delta == 0.01
    refused = one.grade(one.wrong["the starter"], first_only=True)
    assert "exceeds epsilon 10 with probability" in refused.text

    def speaking(records: Any, curator: Any) -> Any:
        print("a line that is always the same")
        return one.right["the solution"](records, curator)

    one.grade(speaking, **SHORT)
    assert capsys.readouterr().out == ""


@needs_fork
def test_a_cheat_beside_a_right_solution_is_refused() -> None:
    one = lab("scale")
    assert not one.grade(one.wrong["an error that quotes a label"], first_only=True).passed
    assert set(CHEATS) <= set(one.wrong)


@needs_fork
def test_the_shell_grades_a_student_s_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "SEARCH", SHORT)
    mine = tmp_path / "mine.py"
    mine.write_text((FOLDER / "scale/starter.py").read_text(encoding="utf-8"))
    assert shell.main(["scale", str(mine)]) == 1
    assert re.search(r"the whole run can reveal 2, the task allows 0.5", capsys.readouterr().out)
    mine.write_text("train = 1\n")
    assert shell.main(["scale", str(mine)]) == 2
    assert "defines no function `train(records, curator)`" in capsys.readouterr().err
    assert shell.main(["gone"]) == 2
    assert "no lab gone: there are " in capsys.readouterr().err
    assert shell.main(["scale", str(tmp_path / "gone.py")]) == 2


def test_a_file_without_train_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(ValueError, match="is no Python file"):
        submitted(str(tmp_path / "mine.txt"))


@needs_fork
@pytest.mark.statistics
@pytest.mark.parametrize("name", LABS)
def test_every_wrong_submission_is_refused_and_every_right_one_accepted(name: str) -> None:
    """`make labs` prints the same as a table."""
    one = lab(name)
    passed = {title for title, train in one.wrong.items() if one.grade(train, first_only=True).passed}
    failed = {title: grade.text for title, train in one.right.items() if not (grade := one.grade(train)).passed}
    assert (passed, failed) == (set(), {})
