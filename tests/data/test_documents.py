"""A name that stands twice in a file or an answer is refused wherever refdp reads what somebody else wrote."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import refdp
from refdp.audit.package.report import read_baseline
from refdp.conform import files, tape_file
from refdp.conform.client import Client
from refdp.documents import Twice, parsed
from refdp.errors import InvalidParameter
from refdp.faces import cli
from refdp.faces.commands.blackbox import read_pair

LIE = '"epsilon": 1, "epsilon": 9'


@pytest.mark.parametrize(
    "text", [f"{{{LIE}}}", f'[1, {{"a": {{{LIE}}}}}]', f'{{"a": 1, {LIE}}}', f"{{{LIE}}}".encode()]
)
def test_a_name_twice_in_an_object(text: str | bytes) -> None:
    with pytest.raises(Twice, match="'epsilon' occurs more than once"):
        parsed(text)


@pytest.mark.parametrize("value", [{}, {"a": {"a": [{"a": 1}, {"a": 2}]}}, [], 1.5, None, {"a": 1, "b": 1}])
def test_other_texts_say_what_they_say(value: Any) -> None:
    assert parsed(json.dumps(value)) == parsed(json.dumps(value).encode()) == value


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "a" / "one.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_files_of_others(tmp_path: Path) -> None:
    accepted = '{"accepted": [{"id": "a", "reason": "b"}]}'
    assert read_baseline(written(tmp_path, accepted)) == {"a": "b"}
    with pytest.raises(InvalidParameter, match="'accepted' occurs more than once"):
        read_baseline(written(tmp_path, '{"accepted": [], ' + accepted[1:]))
    pair = '{"first": [[1.0]], "second": [[2.0]]}'
    assert read_pair(written(tmp_path, pair)).first.shape == (1, 1)
    with pytest.raises(InvalidParameter, match="'second' occurs more than once"):
        read_pair(written(tmp_path, pair[:-1] + ', "second": [[3.0]]}'))
    with pytest.raises(InvalidParameter, match="'format' occurs more than once"):
        files.read(written(tmp_path, '{"format": 1, "format": 2}').parent.parent)
    with pytest.raises(InvalidParameter, match="not JSON lines"):
        tape_file.read(written(tmp_path, '{"format": 1, "format": 2}\n'))


def test_masks_and_scores_of_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two masks in one file: its reader could see the other one."""
    masks = '"included": [true, false, true, false], "included": [false, true, false, true]'
    path = written(tmp_path, f'{{{masks}, "scores": [1, 0, 1, 0]}}')
    assert cli.run(["audit", "one-run", str(path)]) == 2
    assert "'included' occurs more than once" in " ".join(capsys.readouterr().err.split())


def test_a_budget_file(tmp_path: Path) -> None:
    path = tmp_path / "budget.json"
    refdp.PrivacyBudget(1.0, file=path).charge_known(0.5, 0.0)
    whole = path.read_text()
    path.write_text(whole.rstrip().removesuffix("}") + ', "entries": []}')
    with pytest.raises(InvalidParameter, match="budget file"):
        refdp.PrivacyBudget(1.0, file=path).spent()
    path.write_text(whole)
    assert refdp.PrivacyBudget(1.0, file=path).spent() == 0.5


def test_an_answer_of_a_program(tmp_path: Path) -> None:
    """The last of two values would be compared, and another reader of the same line sees the first."""
    program = tmp_path / "twice.py"
    program.write_text("for line in iter(input, ''):\n    print('{\"values\": [1], \"values\": [2]}', flush=True)\n")
    client = Client(f"{sys.executable} {program}", 20.0)
    with pytest.raises(InvalidParameter, match="'values' occurs more than once"):
        client.start()
