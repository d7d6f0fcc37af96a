"""`refdp train inprivate --owners N` and `refdp audit inprivate`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refdp.faces import cli
from tests.thinned import thinned


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    status = cli.run([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_owners_train_and_the_certificate_says_epsilon(capsys: pytest.CaptureFixture[str]) -> None:
    status, found = called(capsys, "train", "inprivate", "--data", "breast_cancer", "--epsilon", "4", "--owners", "3",
                           "--seed", "1")  # fmt: skip
    assert status == 0
    counts = {line["name"]: line["count"] for line in found["certificate"]["releases"]}
    assert counts["leaves"] == 3
    assert found["certificate"]["established"]["epsilon"] == pytest.approx(4.0)
    assert found["metrics"]["error"] < 0.3


def test_a_paper_without_owners_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    status, found = called(capsys, "train", "dpboost", "--data", "breast_cancer", "--epsilon", "4", "--owners", "3")
    assert status == 2 and "'owners'" in found["error"]


@pytest.mark.parametrize(("printed", "status"), thinned([((), 0), (("--as-published",), 1)]))
def test_audit(capsys: pytest.CaptureFixture[str], printed: tuple[str, ...], status: int) -> None:
    found = called(capsys, "audit", "inprivate", "--pairs", "6", "--set", "owners=2", *printed)
    assert found[0] == status, [row for row in found[1]["coverage"] if row["verdict"] == "NOT EXAMINED"]
    assert found[1]["ok"] == (status == 0)
    if printed:
        assert found[1]["max_loss"] > 0 and found[1]["without_loss"] > 0
        assert {"options", "sensitivity", "cost", "budget"} <= {v["kind"] for v in found[1]["violations"]}
