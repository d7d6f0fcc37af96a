"""A function whose file was edited after it was imported: its audit would be of one text and name another."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from refdp.audit.campaign import Job, load, to_run
from refdp.audit.imported import Imported
from refdp.audit.runs import InputPair
from refdp.errors import InvalidParameter
from refdp.faces import cli

OLD, NEW = "def f(records, seed): return 0.0\n", "def f(records, seed): return 1.0\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


def test_the_old_text_is_not_run_for_the_new_one(folder: Path) -> None:
    path = folder / "twice_audited.py"
    path.write_text(OLD)
    assert to_run("twice_audited:f")([], 0) == 0.0
    path.write_text(NEW)
    with pytest.raises(InvalidParameter, match=r"twice_audited\.py has changed since module twice_audited"):
        to_run("twice_audited:f")
    with pytest.raises(InvalidParameter, match="still runs the old text"):
        Job("twice_audited:f", InputPair([0.0], [1.0]), 0).function()
    importlib.invalidate_caches()
    importlib.reload(sys.modules["twice_audited"])
    assert to_run("twice_audited:f")([], 0) == 1.0
    path.unlink()
    with pytest.raises(InvalidParameter, match="has changed"):
        to_run("twice_audited:f")
    path.write_text(NEW)
    assert to_run("twice_audited:f")([], 0) == 1.0  # the same text again


def test_helpers_beside_it_count_and_others_do_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        package = folder / name / f"helped_{name}"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "noise.py").write_text("NOISE = 0.0\n")
        (package / "main.py").write_text(f"from helped_{name}.noise import NOISE\ndef f(records, seed): return NOISE\n")
        monkeypatch.syspath_prepend(folder / name)
        assert to_run(f"helped_{name}.main:f")([], 0) == 0.0
    (folder / "one" / "helped_one" / "noise.py").write_text("NOISE = 9.0\n")
    with pytest.raises(InvalidParameter, match=r"since module helped_one\.noise was imported"):
        to_run("helped_one.main:f")
    assert to_run("helped_two.main:f")([], 0) == 0.0


def test_pythons_own_modules_and_installed_ones_are_not_looked_at() -> None:
    seen = Imported()
    seen.note()
    assert not {"json", "numpy", "refdp", "refdp.errors"} & seen._seen.keys()
    seen.check("json")
    assert load("json:dumps") is to_run("json:dumps")


def test_the_command_refuses_a_second_audit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "second_audit.py").write_text(OLD)
    (folder / "pair.json").write_text('{"first": [[0.0]], "second": [[1.0]]}')
    command = ["audit", "--callable", "second_audit:f", "--pair", str(folder / "pair.json"), "--epsilon", "1"]
    command += ["--samples", "100", "--json"]
    assert cli.run(command) == 3  # all runs give one output
    (folder / "second_audit.py").write_text(NEW)
    assert cli.run(command) == 2
    assert "still runs the old text" in " ".join(capsys.readouterr().err.split())
