"""`refdp audit --trainer ... --witness FILE`: pairs that somebody knows are replayed before all others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refdp
from refdp import Interval, Numeric, Schema
from refdp.audit.isolated import CAN_FORK
from refdp.audit.witnesses import read
from refdp.errors import InvalidParameter
from refdp.faces.cli import run
from refdp.noise.mechanisms import Laplace
from refdp.privacy.events import Relation, Sensitivity

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="runs have processes of their own by fork")
SCHEMA = Schema((Numeric("age", 0.0, 100.0),), Interval(0.0, 1.0))
WITNESS = {
    "schema": {"age": [0.0, 100.0], "label": [0.0, 1.0]},
    "base_x": [[1.0]], "base_y": [0.5], "position": 0, "new_x": [41.25], "new_y": 1.0,
}  # fmt: skip


def train(records: Any, curator: Any) -> float:
    """A count in which one age weighs three times as much: nobody's search looks there."""
    weight = np.where(records.x[:, 0] == 82.5 / 2, 3.0, 1.0)
    declared = Sensitivity(1.0, 1, "mine", Relation.ADD_REMOVE)
    return float(curator.release("count", Laplace(1.0), np.array([weight.sum()]), sensitivity=declared)[0])


def file(folder: Path, **other: Any) -> Path:
    place = folder / "witness.json"
    place.write_text(json.dumps(WITNESS | other))
    return place


def test_a_pair_that_is_known_is_replayed_first(tmp_path: Path) -> None:
    known = read(file(tmp_path), Relation.ADD_REMOVE)
    short: dict[str, Any] = {"pairs": 2, "steps": 0, "counts": (1,)}
    blind = refdp.audit_trainer(train, SCHEMA, 1.0, **short)
    assert not blind.violations and "known witnesses" not in {row.what for row in blind.coverage}
    found = refdp.audit_trainer(train, SCHEMA, 1.0, known=known, first_only=True, **short)
    assert found.pairs == 1 and {"sensitivity", "loss"} <= {one.kind for one in found.violations}
    row = next(one for one in found.coverage if one.what == "known witnesses")
    assert row.verdict == "VIOLATION" and f"a violation is shown by {tmp_path}" in row.reason
    with pytest.raises(InvalidParameter, match="another schema or relation"):
        refdp.audit_trainer(train, SCHEMA, 1.0, relation="replace-one", known=known, **short)


def test_the_shell_takes_a_witness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "schema.json").write_text(json.dumps({"age": [0, 100], "label": [0, 1]}))
    asked = ["audit", "--trainer", f"{__name__}:train", "--schema", str(tmp_path / "schema.json"), "--epsilon", "1",
             "--pairs", "1", "--json"]  # fmt: skip
    assert run([*asked, "--witness", str(file(tmp_path))]) == 1
    assert "known witnesses" in capsys.readouterr().out
    other = {"schema": {"age": [0.0, 99.0], "label": [0.0, 1.0]}}
    assert run([*asked, "--witness", str(file(tmp_path, **other))]) == 2
    assert "its columns and bounds are not those of --schema" in capsys.readouterr().out
