"""The page of the audit of anyone's trainer."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.audit.isolated import CAN_FORK
from refdp.audit.page_trainer import trainer_page
from refdp.data.records import Interval, Numeric, Schema
from refdp.faces import cli
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Relation, Sensitivity

SCHEMA = Schema((Numeric("age", 0.0, 100.0),), Interval(-2.0, 2.0))
needs_fork = pytest.mark.skipif(not CAN_FORK, reason="processes are not forked here")


def summed(scale: float) -> Any:
    """The sum of labels, which one record moves by 2, with noise for a change of `scale`."""

    def train(records: Any, curator: Any) -> float:
        declared = Sensitivity(scale, 1, "mine", Relation.ADD_REMOVE)
        total = curator.release("sum", Laplace(scale), np.array([records.y.sum()]), sensitivity=declared)
        return float(total[0])

    return train


half = summed(1.0)


def page(train: Any) -> tuple[str, Any]:
    report = refdp.audit_trainer(train, SCHEMA, 1.0, pairs=2, steps=0, counts=(1, 5))
    return html.unescape(trainer_page("mine:train", train, report, "refdp audit --trainer mine:train").html()), report


@needs_fork
def test_a_violation_leads_with_chances_and_has_its_exact_curve() -> None:
    pytest.importorskip("matplotlib")
    text, report = page(summed(1.0))
    assert report.verdict == "VIOLATION" and "mine:train is not (1, 0) private as run" in text
    assert "7.39 times as likely" in text and "the claim allows 2.72 times" in text
    assert "Exact trade-off curve of sum" in text and "its loss is 2 at most" in text
    assert "first only" in text and "test_trainer_page.py:" in text
    assert "refdp audit --trainer mine:train" in text and f"refdp {refdp.__version__}" in text


@needs_fork
def test_without_a_violation_the_page_says_what_was_looked_at() -> None:
    text, report = page(summed(2.0))
    assert not report.violations and f"{report.verdict}" in text and "Exact trade-off curve" not in text
    assert all(row.what in text for row in report.coverage)


@needs_fork
def test_what_a_trainer_prints_is_no_part_of_the_report(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by `print` nor by a standard output that its module took when it was imported."""
    (tmp_path / "talks.py").write_text(
        "import sys\nfrom tests.audit.test_trainer_page import half\nOUT = sys.stdout\n\n\n"
        "def train(records, curator):\n    print('aloud')\n    OUT.write('quietly\\n')\n"
        "    return half(records, curator)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps({"age": [0, 100], "income": [-2, 2]}))
    options = ["--schema", str(tmp_path / "schema.json"), "--epsilon", "1", "--pairs", "1", "--json"]
    assert cli.run(["audit", "--trainer", "talks:train", *options]) == 1
    found = capfd.readouterr()
    assert json.loads(found.out)["verdict"] == "VIOLATION" and "quietly" in found.err


@needs_fork
def test_the_command_line_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "schema.json").write_text(json.dumps({"age": [0, 100], "income": [-2, 2]}))
    options = ["--schema", str(tmp_path / "schema.json"), "--epsilon", "1", "--pairs", "1", "--json"]
    target = tmp_path / "page.html"
    name = "tests.audit.test_trainer_page:half"
    assert cli.run(["audit", "--trainer", name, *options, "--html", str(target)]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "VIOLATION"
    assert f"--trainer {name} --schema" in target.read_text()
    assert cli.run(["audit", "--trainer", name, *options, "--html", str(tmp_path / "no" / "page.html")]) == 2
    assert "there is no directory" in capsys.readouterr().err
