"""Defaults are a public function of epsilon, task and rows, and are useful; the paper's settings are one word away."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.made_up import error
from refdp import ReproducibleSeed
from refdp.data.records import Classes, Interval, Numeric, Schema
from refdp.errors import InvalidParameter
from refdp.faces import cli, estimators, registry
from refdp.faces.defaults import CHOSEN, Public, params_for, recommended
from refdp.io import datasets
from refdp.privacy.events import Relation
from tests.core.test_constructors import ALL

pytestmark = pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")
CLASSES = {"bounds": {0: (0, 1), 1: (0, 1)}, "relation": "add-remove"}
SCHEMAS = (
    Schema((Numeric("x", 0, 1), Numeric("z", 0, 1)), Classes(("a", "b"))),
    Schema((Numeric("x", 0, 1), Numeric("z", 0, 1)), Classes(("a", "b", "c"))),
    Schema((Numeric("x", 0, 1), Numeric("z", 0, 1)), Interval(0, 1)),
)


def fitted(kind: Any, seed: int, **settings: Any) -> Any:
    generator = np.random.default_rng(seed)
    x = generator.random((80, 2))
    target = {"label_bounds": (0, 2)} if kind._regression else {"classes": [0, 1]}
    y = x.sum(axis=1) if kind._regression else (x[:, 0] > 0.5).astype(int)
    model = kind(insecure_seed=ReproducibleSeed(1), **CLASSES, **target, **settings)
    return model.fit(x, y)


@pytest.mark.parametrize("kind", ALL)
def test_parameters_left_open_follow_the_table_and_no_record(kind: Any) -> None:
    public = Public(1.0, 1 / 300_000, kind._regression, rows=30_000, features=2)
    table = recommended(kind._paper, public)
    assert set(table) == CHOSEN[kind._paper]
    for seed in (0, 1):
        params = fitted(kind, seed, rows=30_000).model_.params
        assert {name: params[name] for name in table} == table


@pytest.mark.parametrize("kind", ALL)
def test_whole_numbers_in_place_of_others_are_the_same_setting(kind: Any) -> None:
    """A proof is about the text of settings, and 1 is 1.0."""
    models = [fitted(kind, 3, epsilon=epsilon) for epsilon in (1, 1.0)]
    first, second = (repr(sorted(one.model_.params.items())) for one in models)
    assert first == second and "'epsilon', 1.0)" in first
    assert [one.line() for one in models[0].certificate_.proofs] == [
        one.line() for one in models[1].certificate_.proofs
    ]


@pytest.mark.parametrize("kind", ALL)
def test_the_settings_of_the_paper_are_one_word_away(kind: Any) -> None:
    params = fitted(kind, 0, settings="paper").model_.params
    defaults = {one.name: one.default for one in fields(registry.paper(kind._paper).module.Params)}
    assert {name: params[name] for name in CHOSEN[kind._paper]} == {
        name: defaults[name] for name in CHOSEN[kind._paper]
    }


@pytest.mark.parametrize("paper", registry.PAPERS)
@pytest.mark.parametrize("schema", SCHEMAS, ids=["two classes", "three classes", "regression"])
@pytest.mark.parametrize("rows", [1, 10**12])
def test_the_table_is_inside_every_domain(paper: str, schema: Schema, rows: int) -> None:
    """At every epsilon that the paper itself takes, also where the formulas would overflow."""
    relations = [Relation.ADD_REMOVE] + [Relation.REPLACE_ONE] * (paper != "sgbdt")
    for relation in relations:
        for epsilon in (1e-6, 0.05, 1.0, 100.0, 1e6):
            params = params_for(registry.paper(paper), {"epsilon": epsilon, "relation": relation}, schema, rows=rows)
            assert params.epsilon == epsilon


def test_what_is_given_comes_first_and_the_rest_follows_it() -> None:
    public = Public(1.0, 1e-5, regression=False)
    few = recommended("fedgbdt", public, {"trees": 50})["regularisation"]
    assert few == pytest.approx(recommended("fedgbdt", public, {"trees": 200})["regularisation"] / 2)
    assert fitted(estimators.FedGBDTClassifier, 0, trees=7, depth=2).model_.params["trees"] == 7


def test_replace_one_is_half_the_strength() -> None:
    one, two = (Public(1.0, 1e-5, regression=False, relation=relation) for relation in Relation)
    assert one.mu == 2 * two.mu
    assert one.e == 2 * two.e


@pytest.mark.parametrize(
    "wrong", [{"settings": "best"}, {"rows": 0}, {"rows": 2.5}, {"rows": True}, {"settings": None}]
)
def test_wrong_settings_and_rows_are_refused_before_any_record(wrong: dict[str, Any]) -> None:
    model = estimators.DPBoostClassifier(**CLASSES, classes=[0, 1], **wrong)
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        model.fit(None, None)


@pytest.mark.parametrize("kind", ALL)
def test_a_fit_at_epsilon_1_is_far_better_than_the_settings_of_the_paper(kind: Any) -> None:
    """On made records that no setting was chosen on. The DPBoost of the paper has AUC .56 here."""
    generator = np.random.default_rng(5)
    x = generator.random((20_000, 6))
    signal = 2 * x[:, 0] + x[:, 1] * x[:, 2] + (x[:, 3] > 0.7)
    bounds = dict.fromkeys(range(6), (0, 1))
    regression = kind._regression
    y = signal + generator.normal(0, 0.4, len(x)) if regression else (signal + generator.normal(0, 0.4, len(x)) > 1.5)
    target = {"label_bounds": (-2, 6)} if regression else {"classes": [False, True]}
    cut = 15_000
    found = []
    for seed in range(1):
        model = kind(
            epsilon=1.0, relation="add-remove", bounds=bounds, rows=cut, insecure_seed=ReproducibleSeed(seed), **target
        ).fit(x[:cut], y[:cut])
        if regression:
            found.append(np.sqrt(np.mean((model.predict(x[cut:]) - y[cut:]) ** 2)) / np.std(y[cut:]))
        else:
            found.append(roc_auc_score(y[cut:], model.decision_function(x[cut:])))
    if regression:
        assert np.mean(found) < 1.0
    else:
        assert np.mean(found) > 0.8


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_regression_on_few_records_is_no_worse_than_the_constant(paper: str) -> None:
    """900 made records whose labels fill a quarter of their bounds, epsilon 1: noise outweighs what a leaf can show.

    Defaults that follow epsilon and not rows have 1.07 to 2.9 here. 1.06: what two runs of a mean may add.
    """
    assert np.mean([error(paper, "narrow", 900, 1.0, seed, {}) for seed in range(2)]) < 1.06


def test_the_command_line_has_both(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refdp.io.datasets.train_test_by_record", datasets.train_test)
    figures = {}
    for words in (["--settings", "default", "--rows", "570"], ["--settings", "paper"], ["--rows", "9000000"]):
        command = ["train", "inprivate", "--data", "breast_cancer", "--epsilon", "1", "--seed", "0", "--json", *words]
        assert cli.run(command) == 0
        figures[words[-1]] = json.loads(capsys.readouterr().out)["certificate"]["releases"]
    assert len({json.dumps(releases) for releases in figures.values()}) == 3
    assert cli.run(["train", "dpboost", "--data", "breast_cancer", "--epsilon", "1", "--settings", "x"]) == 2
    assert "settings = 'x'" in capsys.readouterr().err
