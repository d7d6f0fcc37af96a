"""What is recommended can be constructed and comes from the measured table."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.errors import InvalidParameter
from refdp.faces import cli
from refdp.faces.recommend import ESTIMATORS, TASKS, Public, _expected, _nearby, measured, recommend
from refdp.privacy.events import Relation


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
    """Three classes expect what six do of twice the rows, but of Grove, whose scores are one release, of as many; three
    are taken where only the task is told."""
    public = {n: Public(1.0, 1e-5, False, n, 5000, Relation.ADD_REMOVE, 10) for n in (1, 3, 6)}
    more = replace(public[6], rows=10_000)
    assert _nearby("fedgbdt", public[3]) == _nearby("fedgbdt", more) != _nearby("fedgbdt", public[6])
    assert _nearby("grove", public[3]) == _nearby("grove", public[6]) != _nearby("grove", more)
    assert _nearby("grove", public[1]) != _nearby("grove", public[3])
    three, six = (recommend(1.0, None, 5000, 10, "multiclass", classes=n) for n in (3, 6))
    assert three.estimator == "GroveClassifier" and three.expected == six.expected
    assert three == recommend(1.0, None, 5000, 10, "multiclass")


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


@pytest.mark.parametrize(
    ("rows", "round_one"), [(123_457, 120_000), (987_654_321, 980_000_000), (10**12 - 1, 99 * 10**10)]
)
def test_nothing_that_is_recommended_follows_from_an_exact_number_of_records(rows: int, round_one: int) -> None:
    """Under add-remove; delta had it by a tenth of 1 / rows. Under replace-one the number is public."""
    for task in TASKS:
        found = recommend(1.0, rows=rows, task=task)
        assert found == recommend(1.0, rows=round_one, task=task) and found.settings["rows"] == round_one
        swapped = recommend(1.0, rows=rows, task=task, relation="replace-one").settings
        assert swapped["rows"] == rows and swapped.get("delta", 1 / (10 * rows)) == 1 / (10 * rows)
    given = recommend(1.0, 1e-7, rows=rows).settings
    assert given.get("delta", 1e-7) == 1e-7


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["recommend", "--epsilon", "1", "--delta", "1e-5", "--rows", "30000", "--features", "14", "--task"]
    assert cli.run([*command, "classification", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"estimator", "settings", "expected", "doubts"} and found["doubts"] == []
    assert found["estimator"].endswith("Classifier")
    assert cli.run([*command, "regression"]) == 0
    assert "expected rmse / standard deviation" in capsys.readouterr().out
    assert cli.run([*command, "clustering", "--json"]) == 2
    assert "task = 'clustering'" in json.loads(capsys.readouterr().out)["error"]


TABLE: list[dict[str, Any]] = [
    {"data": "a", "rows": 1000, "features": 10, "classes": 2, "epsilon": 1.0,
     "figures": {"dpboost": 0.8, "grove": 0.7, "sgbdt": 0.95}},
    {"data": "b", "rows": 3000, "features": 40, "classes": 2, "epsilon": 2.0,
     "figures": {"dpboost": 0.6, "grove": 0.9}},
    {"data": "c", "rows": 2000, "features": 5, "classes": 4, "epsilon": 1.0, "figures": {"dpboost": 0.5}},
    {"data": "d", "rows": 1000, "features": 10, "classes": 0, "epsilon": 1.0,
     "figures": {"dpboost": 0.9, "grove": 1.2}},
]  # fmt: skip


@pytest.mark.parametrize(("task", "rows", "features", "classes", "scores"), [
    ("binary", 1500, 20, 2, 1), ("multiclass", 9000, 8, 3, 3), ("classification", 800, 10, 5, 5),
    ("regression", 50, 3, 2, 1),
])  # fmt: skip
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_figures_are_weighted_by_how_near_a_case_is(
    task: str, rows: int, features: int, classes: int, scores: int, relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A normal kernel of factors of ten in rows times epsilon of a score and change, and in features."""
    monkeypatch.setattr("refdp.faces.recommend.measured", lambda: TABLE)
    found = recommend(0.7, None, rows, features, task, classes=classes, relation=relation)
    changed, regression = (2 if relation == "replace-one" else 1), task == "regression"
    cells: dict[str, list[tuple[float, float, str]]] = {}

    def scale(name: str, n: int) -> float:
        return 1.64**0.5 if name == "grove" and n > 1 else n

    reached: dict[str, list[float]] = {}
    for case in TABLE:
        for name in case["figures"] if (case["classes"] == 0) == regression else ():
            found_at = case["rows"] * case["epsilon"] / scale(name, 1 + 3 * (case["classes"] == 4))
            reached.setdefault(name, []).append(found_at)
    for case in TABLE:
        if (case["classes"] == 0) != regression:
            continue
        wide = math.log10(case["features"] / features)
        for name, figure in case["figures"].items():
            one, ours = scale(name, 1 + 3 * (case["classes"] == 4)), rows * 0.7 / scale(name, scores) / changed
            ours = min(max(ours, min(reached[name])), max(reached[name]))
            off = 2 * math.log10(case["rows"] * case["epsilon"] / one / ours)
            if (name, relation) != ("sgbdt", "replace-one"):
                cells.setdefault(name, []).append((math.exp(-(off**2 + wide**2) / 2), figure, case["data"]))
    means = {name: sum(w * f for w, f, _ in each) / sum(w for w, _, _ in each) for name, each in cells.items()}
    below = rows * 0.7 / scale("grove", scores) / changed < min(reached["grove"])
    best = "grove" if below else (min if regression else max)(means, key=means.__getitem__)
    assert found.expected["outside"] == "below" or not below
    assert found.estimator == ESTIMATORS[best] + ("Regressor" if regression else "Classifier")
    most = max(w for w, _, _ in cells[best])
    near = [(f, data) for w, f, data in cells[best] if w > most / 10]
    expected = found.expected
    mean = sum(w * f for w, f, _ in cells[best] if w > most / 10) / sum(w for w, _, _ in cells[best] if w > most / 10)
    assert expected["sets"] == sorted(data for _, data in near)
    assert expected["value"] == (expected["constant"] if expected["useless"] else round(mean, 4))
    if not below:
        assert (expected["low"], expected["high"]) == (min(f for f, _ in near), max(f for f, _ in near))
    assert expected["constant"] == (1.0 if regression else 0.5)


@pytest.mark.parametrize(("figure", "useless"), [(0.505, True), (0.515, False), (0.45, True)])
def test_what_is_no_better_than_a_constant_is_told(
    figure: float, useless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refdp.faces.recommend.measured", lambda: [TABLE[0] | {"figures": {"dpboost": figure}},
                                                     TABLE[3] | {"figures": {"dpboost": 2 - figure}}])  # fmt: skip
    found = recommend(1.0, None, 1000, 10, "binary")
    assert found.expected["useless"] == useless
    assert ("no better than a constant" in str(found)) == useless and ("a constant has 0.5" in str(found)) != useless
    assert recommend(1.0, None, 1000, 10, "regression").expected["useless"]
    monkeypatch.setattr("refdp.faces.recommend.measured", lambda: [TABLE[3] | {"figures": {"dpboost": figure}}])
    assert not recommend(1.0, None, 1000, 10, "regression").expected["useless"]


def test_cases_with_more_than_a_tenth_of_the_greatest_weight_are_shown() -> None:
    """One with a tenth of it is not, nor does it move the mean."""
    cells = [(2.0, 0.75, "b"), (0.21, 0.5, "a"), (0.2, 0.25, "c"), (0.02, 0.99, "d")]
    found = _expected(cells, False)
    assert (found["low"], found["high"], found["sets"]) == (0.5, 0.75, ["a", "b"])
    assert found["value"] == round((2.0 * 0.75 + 0.21 * 0.5) / 2.21, 4)


@pytest.mark.parametrize(("epsilon", "rows", "task"), [
    (1e-12, 10, "binary"), (0.001, 100, "binary"), (0.001, 1000, "regression"), (1e-6, 100, "multiclass"),
])  # fmt: skip
def test_below_all_that_was_measured_nothing_is_promised(epsilon: float, rows: int, task: str) -> None:
    """Grove, whose plan can be made, and no more than a constant has."""
    found = recommend(epsilon, None, rows, 3, task)
    assert found.estimator.startswith("Grove") and found.paper == "grove"
    assert found.expected["outside"] == "below" and found.expected["useless"]
    assert found.expected["low"] <= found.expected["value"] == found.expected["constant"] <= found.expected["high"]
    assert "less than was measured" in str(found) and "no better than a constant" in str(found)


def test_near_the_border_and_above_it_the_figures_are_those_next_to_it() -> None:
    few, many = recommend(1.0, None, 400, 3, "binary"), recommend(1000.0, None, 10**8, 3, "binary")
    assert few.expected["outside"] == "below" and not few.expected["useless"] and "expect worse" in str(few)
    assert many.expected["outside"] == "above" and "expect no worse" in str(many)
    assert recommend(1.0, None, 30_000, 14, "binary").expected["outside"] == ""


def test_what_cannot_be_fitted_is_not_recommended(monkeypatch: pytest.MonkeyPatch) -> None:
    """SGBDT's orders do not reach so small an epsilon; the next best is taken."""
    monkeypatch.setattr("refdp.faces.recommend.measured", lambda: [
        TABLE[0] | {"figures": {"sgbdt": 0.95, "dpboost": 0.8}}])  # fmt: skip
    assert recommend(0.001, None, 100, 3, "binary").estimator == "DPBoostClassifier"
    model = refdp.SGBDTClassifier(epsilon=0.001, relation="add-remove", bounds={0: (0, 1)}, classes=[0, 1], rows=100)
    with pytest.raises(InvalidParameter, match="a larger epsilon or delta is needed"):
        model.fit([[0.1], [0.9]], [0, 1])


def test_an_exact_number_of_rows_is_not_handed_on() -> None:
    found = recommend(1.0, rows=37512)
    assert found == recommend(1.0, rows=37000) and found.settings["rows"] == 37000
    assert recommend(1.0, rows=37512, relation="replace-one").settings["rows"] == 37512


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_delta_above_one_over_rows_is_doubted_as_a_fit_does(relation: str) -> None:
    found = refdp.recommend(epsilon=1.0, delta=0.5, rows=1000, relation=relation)
    [doubt] = found.doubts
    assert doubt.startswith("delta = 0.5 is no less than 1 / rows = 0.001:") and str(found).endswith(doubt)
    assert found.to_dict()["doubts"] == (doubt,)
    for delta in (None, 0, 9e-4):
        fine = refdp.recommend(epsilon=1.0, delta=delta, rows=1000, relation=relation)
        assert fine.doubts == () and "1 / rows" not in str(fine)


def test_numbers_of_numpy_are_numbers() -> None:
    numpys: dict[str, Any] = {"epsilon": np.float32(1), "delta": np.float32(0), "rows": np.int64(1000)}
    plain: dict[str, Any] = {"epsilon": 1.0, "delta": 0.0, "rows": 1000}
    assert refdp.recommend(**numpys, features=np.int8(10)) == refdp.recommend(**plain, features=10)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="rows"):
        refdp.recommend(1.0, rows=np.float64(1000))  # type: ignore[arg-type]
