"""The vectors are the same without the processor's features, and a difference would be seen."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from refdp.conform import files, machines

ROOT = Path(__file__).parents[2]


def test_the_features_of_numpy_can_be_switched_off() -> None:
    version, used = machines.features(sys.executable, os.environ)
    assert version.count(".") == 2
    off = {**os.environ, machines.OFF: " ".join(used)}
    assert machines.features(sys.executable, off) == (version, ())
    assert machines.Machine(version, (), ()).line().endswith("none beyond its baseline: every file the same")


def test_a_file_that_differs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make vectors` makes all of them, with and without features and with the oldest numpy."""
    shutil.copytree(
        ROOT / "conform" / "sgbdt", tmp_path / "sgbdt", ignore=lambda _, found: set(found) - {"encode.json"}
    )
    made = list(files.vectors("sgbdt", ("encode",)))
    monkeypatch.setattr(machines, "kept", lambda: tmp_path)
    monkeypatch.setattr(machines, "vectors", lambda paper: made)
    assert machines.differing("sgbdt") == []
    changed = (tmp_path / "sgbdt" / "encode.json").read_text().replace('"1"', '"2"', 1)
    (tmp_path / "sgbdt" / "encode.json").write_text(changed)
    (tmp_path / "sgbdt" / "other.json").write_text("{}")
    assert machines.differing("sgbdt") == ["sgbdt/encode.json", "sgbdt/other.json"]
