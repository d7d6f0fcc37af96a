"""What is recommended can be constructed and comes from the measured table."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.errors import InvalidParameter
from refdp.faces import cli
from refdp.faces.recommend import ESTIMATORS, TASKS, measured, recommend


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("delta", [None, 0.0, 1e-6])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")
def test_it_can_be_constructed_and_fitted(task: str, delta: float | None, relation: str) -> None:
    found = recommend(1.0, delta, 5000, 2, task, relation=relation)
    generator = np.random.default_rng(0)
    x = generator.random((60, 2))
    kind = getattr(refdp, found.estimator)
    target: dict[str, Any] = {"label_bounds": (0, 1)} if task == "regression" else {"classes": [0, 1]}
    small = {"trees": 3} if "trees" in kind._get_param_names() else {}
    seed = refdp.ReproducibleSeed(0)
    model = kind(bounds={0: (0, 1), 1: (0, 1)}, insecure_seed=seed, **target, **{**found.settings, **small})
    model.fit(x, x[:, 0] if task == "regression" else (x[:, 0] > 0.5).astype(int))
    assert model.certificate_.claimed.delta == (0.0 if delta == 0 else delta or 1e-5)
    assert model.certificate_.relation.value == relation


def test_the_best_of_the_measured_ones_is_recommended() -> None:
    """At a measured case itself, far from all others in features, the answer is that case's best."""
    for case in measured():
        if case["classes"] != 2 or case["epsilon"] != 1.0:
            continue
        found = recommend(1.0, None, case["rows"], case["features"], "binary")
        assert found.expected["metric"] == "auc"
        assert 0.5 < found.expected["low"] <= found.expected["value"] <= found.expected["high"] < 1.0


@pytest.mark.parametrize("task", TASKS)
def test_what_is_expected_lies_within_the_range_that_is_shown(task: str) -> None:
    """Far from all measured cases too, where one case alone is near and the mean of all was outside its range."""
    for rows, features, epsilon in product((10, 10**5, 10**9), (1, 100, 10**5), (0.01, 1.0, 1000.0)):
        for delta in (None, 0.0):
            expected = recommend(epsilon, delta, rows, features, task).expected
            assert expected["low"] <= expected["value"] <= expected["high"], (rows, features, epsilon, delta)


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_classes_that_the_task_does_not_have_are_refused(task: str) -> None:
    with pytest.raises(InvalidParameter, match=f"classes = 3 with task = '{task}'"):
        recommend(1.0, task=task, classes=3)


def test_more_budget_is_expected_to_be_better() -> None:
    weak, strong = (recommend(e, None, 30_000, 14, "classification").expected for e in (0.1, 4.0))
    assert weak["value"] < strong["value"]
    weak, strong = (recommend(e, None, 10_000, 12, "regression").expected for e in (0.1, 4.0))
    assert weak["value"] > strong["value"]
    assert strong["constant"] == 1.0


def test_scores_share_what_the_rows_give() -> None:
    """Three classes expect what six do of twice the rows; three are taken where only the task is told."""
    three, six = (recommend(1.0, None, 5000 * n, 10, "multiclass", classes=3 * n).expected for n in (1, 2))
    assert three == six != recommend(1.0, None, 5000, 10, "multiclass", classes=4).expected
    assert three == recommend(1.0, None, 5000, 10, "multiclass").expected


def test_the_table_holds_every_estimator() -> None:
    for regression in (False, True):
        named = {n for case in measured() if (case["classes"] == 0) == regression for n in case["figures"]}
        assert named == set(ESTIMATORS)


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 0.0}, {"rows": 0}, {"features": 0}, {"task": "x"}, {"delta": 1.0}, {"relation": "x"}]
)
def test_wrong_figures_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        recommend(**{"epsilon": 1.0} | wrong)


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["recommend", "--epsilon", "1", "--delta", "1e-5", "--rows", "30000", "--features", "14", "--task"]
    assert cli.run([*command, "classification", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"estimator", "settings", "expected"}
    assert found["estimator"].endswith("Classifier")
    assert cli.run([*command, "regression"]) == 0
    assert "expected rmse / standard deviation" in capsys.readouterr().out
    assert cli.run([*command, "clustering", "--json"]) == 2
    assert "task = 'clustering'" in json.loads(capsys.readouterr().out)["error"]
