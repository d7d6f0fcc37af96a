"""`refdp federate`: an app is written, and Flower's own objects carry it to the bytes of a run without Flower."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from refdp.engines.flower import Run
from refdp.errors import InvalidParameter
from refdp.faces.cli import run
from refdp.faces.commands.federate import EXAMPLE

INSTALLED = importlib.util.find_spec("flwr") is not None
SGBDT: dict[str, Any] = {
    "paper": "sgbdt",
    "settings": {"epsilon": 4.0, "delta": 1e-4, "relation": "add-remove", "trees": 3, "extra_trees": 2, "depth": 2},
}


def app(folder: Path, **other: Any) -> Path:
    assert run(["federate", "new", str(folder), "--json"]) == 0
    place = folder / "refdp_app" / "run.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | other))
    return place


def test_a_new_app_has_its_files_and_a_run_of_its_own(tmp_path: Path, capsys: Any) -> None:
    first, second = app(tmp_path / "a"), app(tmp_path / "b")
    capsys.readouterr()
    assert json.loads(first.read_text())["run"] != json.loads(second.read_text())["run"]
    assert Run.read(first).params.trees == EXAMPLE["settings"]["trees"]
    names = {str(path.relative_to(tmp_path / "a")) for path in (tmp_path / "a").rglob("*") if path.is_file()}
    assert names == {"pyproject.toml", *(f"refdp_app/{name}" for name in
                                         ("__init__.py", "client_app.py", "server_app.py", "run.json"))}  # fmt: skip
    assert run(["federate", "new", str(tmp_path / "a"), "--json"]) == 2
    assert "it is there already" in json.loads(capsys.readouterr().out)["error"]
    assert run(["federate", "old", str(tmp_path / "a")]) == 2


def test_a_paper_that_needs_exact_sums_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="'dpboost': fedgbdt or sgbdt is allowed"):
        Run.read(app(tmp_path, paper="dpboost"))


@pytest.mark.skipif(INSTALLED, reason="Flower is installed")
def test_without_flower_one_line_says_what_to_install(tmp_path: Path, capsys: Any) -> None:
    app(tmp_path)
    capsys.readouterr()
    assert run(["federate", "check", str(tmp_path)]) == 2
    assert "pip install 'refdp[flower]'" in capsys.readouterr().err


@pytest.mark.skipif(not INSTALLED, reason="the extra flower is not installed")
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("other", [{}, SGBDT], ids=["fedgbdt", "sgbdt"])
def test_a_run_on_flower_gives_the_bytes_of_participants_without_it(
    tmp_path: Path, capsys: Any, other: dict[str, Any]
) -> None:
    app(tmp_path, **other)
    capsys.readouterr()
    assert run(["federate", "check", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is True and found["rounds"] > 2
    assert "nothing protects a single participant's message" in found["protection"]
    assert os.environ["FLWR_TELEMETRY_ENABLED"] == "0" and os.environ["FLWR_DISABLE_UPDATE_CHECK"] == "1"
