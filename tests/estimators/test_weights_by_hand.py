"""Weights of classes and records, what a recommendation expects, and the status of a checked app, number by number."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.errors import InvalidParameter, InvalidRecords
from refdp.faces import recommend
from refdp.faces.commands import federate
from refdp.faces.estimators.weights import class_weights, sample_weights
from refdp.privacy.events import Relation


def test_weights_of_classes_have_a_greatest_of_one() -> None:
    """What is not named has 1 before they are divided."""
    for given, due in (({"b": 2.0}, [0.5, 1.0, 0.5]), ({"a": 0.5, "c": 0}, [0.5, 1.0, 0.0]),
                       ({"a": 0, "b": 0, "c": 1e-3}, [0.0, 0.0, 1.0]), ({}, [1.0, 1.0, 1.0])):  # fmt: skip
        found = class_weights(given, np.array(["a", "b", "c"]))
        assert found is not None and found.tolist() == due
    assert class_weights(None, ["a"]) is None
    refused: list[tuple[Any, str]] = [
        ({"d": 1}, "'d' is not among"), ({"a": -1e-9}, "finite number >= 0"), ({"a": True}, "'a' = True"),
        ({"a": math.inf}, "finite number"), ({"a": "1"}, "finite number"), ({"a": 0, "b": 0}, "at least one class"),
        ("balanced", "counts of classes are private"),
    ]  # fmt: skip
    for wrong, told in refused:
        with pytest.raises(InvalidParameter, match=told):
            class_weights(wrong, ["a", "b"])


def test_weights_of_records_and_of_their_classes_are_multiplied() -> None:
    one: Any = refdp.GroveClassifier(epsilon=1.0, class_weight={"b": 2.0})
    one.classes_ = np.array(["a", "b"])
    label = np.array([0.0, 1.0, 1.0])
    assert one._weights([0.5, 0.25, 1.0], label).tolist() == [0.25, 0.25, 1.0]
    assert one._weights(None, label).tolist() == [0.5, 1.0, 1.0]
    one.class_weight = None
    assert one._weights([0.5, 0.0, 1.0], label).tolist() == [0.5, 0.0, 1.0] and one._weights(None, label) is None
    for wrong, told in (([1.0, 2.0], r"expected \(3,\)"), ([[1.0]] * 3, "must be 1D"), (1.0, "must be 1D"),
                        (["x"] * 3, "one number a record")):  # fmt: skip
        with pytest.raises(InvalidRecords, match=told):
            sample_weights(wrong, 3)


# --- Recommendations --------------------------------------------------------------------------------------------------


def test_cases_count_by_how_near_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bell of half a decade of rows times epsilon a score, and of one of features, which never comes to nothing."""
    cases = [{"data": f"d{k}", "rows": rows, "epsilon": epsilon, "features": features, "classes": classes,
              "figures": {"grove": figure} | ({"sgbdt": 0.5} if k else {})}
             for k, (rows, epsilon, features, classes, figure) in enumerate([
                 (1000, 2.0, 10, 2, 0.9), (10_000, 3.0, 100, 3, 0.8), (1000, 1.0, 10, 0, 0.7),
                 (10**9, 10**9, 1, 2, 0.6)])]  # fmt: skip
    monkeypatch.setattr(recommend, "measured", lambda: cases)
    for relation, changed in ((Relation.ADD_REMOVE, 1), (Relation.REPLACE_ONE, 2)):
        public = recommend.Public(4.0, 1e-6, False, 2, 1000, relation, 20)
        ours = 1000 * 4.0 / math.sqrt(1.64) / changed

        def weight(strength: float, features: float) -> float:
            off, wide = math.log10(strength / ours) / 0.5, math.log10(features / 20)  # noqa: B023
            return math.exp(-min((off**2 + wide**2) / 2, 100))

        found = recommend._nearby("grove", public)
        due = [
            (weight(2000, 10), 0.9, "d0"),
            (weight(30_000 / math.sqrt(1.64), 100), 0.8, "d1"),
            (math.exp(-100), 0.6, "d3"),
        ]
        assert [cell[1:] for cell in found] == [cell[1:] for cell in due]
        assert [cell[0] for cell in found] == pytest.approx([cell[0] for cell in due], rel=1e-12)
        assert [cell[2] for cell in recommend._nearby("sgbdt", public)] == ["d1", "d3"]
    regression = recommend.Public(4.0, 1e-6, True, 1, 1000, Relation.ADD_REMOVE, 20)
    assert [cell[2] for cell in recommend._nearby("grove", regression)] == ["d2"]
    assert [recommend._refuses(name, relation) for name in ("sgbdt", "grove") for relation in Relation].count(True) == 1


@pytest.mark.parametrize("regression", [False, True])
def test_what_is_expected_is_the_mean_of_near_cases(regression: bool) -> None:
    """Those of more than a tenth of the nearest one's weight."""
    cells = [(1.0, 0.5, "b"), (0.5, 0.8, "a"), (0.1, 9.0, "far"), (0.1000001, 0.9, "b")]
    found = recommend._expected(cells, regression)
    assert found["value"] == round((0.5 + 0.4 + 0.1000001 * 0.9) / 1.6000001, 4)
    assert (found["low"], found["high"], found["sets"]) == (0.5, 0.9, ["a", "b"])
    assert found["constant"] == (1.0 if regression else 0.5)
    assert found["metric"] == ("rmse / standard deviation" if regression else "auc")
    for value in (0.5, 0.51, 0.5101, 0.999, 1.0, 1.001):
        useless = recommend._expected([(1.0, value, "x")], regression)["useless"]
        assert useless is (value >= 1.0 if regression else value <= 0.51)


# --- Apps -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_json", [False, True])
def test_an_app_whose_run_is_another_is_status_one(
    as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Path] = []
    for ok, status in ((True, 0), (False, 1)):
        result = SimpleNamespace(ok=ok)
        monkeypatch.setattr(federate, "check", lambda path: asked.append(path) or {"ok": result.ok, "rounds": 3})  # noqa: B023
        assert federate.federate("check", Path("app"), as_json) == status
        told = capsys.readouterr().out
        assert told == (f'{{"ok": {str(ok).lower()}, "rounds": 3}}\n' if as_json else f"ok: {ok}\nrounds: 3")
    monkeypatch.setattr(federate, "new", lambda path: asked.append(path) or {"directory": str(path)})
    assert federate.federate("new", Path("other"), as_json) == 0
    assert asked == [Path("app"), Path("app"), Path("other")]
    with pytest.raises(InvalidParameter, match="new or check is allowed"):
        federate.federate("newer", Path("app"), as_json)
