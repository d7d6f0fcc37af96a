"""The vectors are the same without the processor's features, and a difference would be seen."""

from __future__ import annotations

import builtins
import functools
import math
import operator
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from refdp.conform import files, machines
from refdp.data import candidates
from refdp.data.reading import recorded
from refdp.faces.registry import OWN, PAPERS
from refdp.noise import calibration
from refdp.papers import dpxgboost

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


def compensated(values: Iterable[Any], start: Any = 0) -> Any:
    """As Python adds floats from 3.12 on: nearly without rounding."""
    known = list(values)
    floats = bool(known) and all(type(one) is float for one in known)
    return math.fsum([start, *known]) if floats else functools.reduce(operator.add, known, start)


@pytest.mark.parametrize("paper", [*PAPERS, *OWN])
def test_no_plan_rests_on_how_python_adds_floats(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets of unequal trees were others from Python 3.12 on, and models of a seed with them."""
    before = files.made(paper, "plan", 2741)
    for one in (calibration.geometric, candidates.iterative_hessian, dpxgboost.budget_of):
        assert "sum" not in one.__code__.co_names
    recorded.cache_clear()
    monkeypatch.setattr(builtins, "sum", compensated)
    assert files.made(paper, "plan", 2741) == before
    assert sum([0.1] * 10) == 1.0
