"""Exported model files under the xgboost library: the same leaf of every tree, the same float32 sum of their values."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost
from scipy.sparse import csr_matrix

from refdp.data.records import (
    Categorical,
    Classes,
    Ensemble,
    Floats,
    Interval,
    Model,
    Numeric,
    Schema,
    Target,
    Tree,
    clamp_features,
    make_records,
)
from refdp.errors import InvalidParameter
from refdp.faces import cli, prediction, registry
from refdp.faces.estimators import DPXGBoostClassifier
from refdp.faces.seeds import ReproducibleSeed
from refdp.io import export_xgboost
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
from refdp.papers.published.dpxgboost import AS_PUBLISHED
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource

FEATURES = (Numeric("a", -1.0, 1.0), Numeric("b", 0.0, 10.0), Categorical("c", ("p", "q", "r")))
TWO, THREE, VALUES = Classes(("0", "1")), Classes(("0", "1", "2")), Interval(2.0, 10.0)
TYPES = ["q", "q", "c"]


def some_tree(generator: np.random.Generator, depth: int = 4, columns: int = 3) -> Tree:
    """Any splits at all, thresholds below, on, between and above the bounds among them."""
    feature = generator.integers(0, 3, 2**depth - 1)
    spread = np.array([[-1.0, 1.0], [0.0, 10.0], [0.0, 2.0]])[feature]
    threshold = generator.uniform(spread[:, 0] - 0.3, spread[:, 1] + 0.3)
    on_bound = generator.random(len(feature)) < 0.2
    threshold = np.where(on_bound, spread[np.arange(len(feature)), generator.integers(0, 2, len(feature))], threshold)
    threshold = np.where(feature == 2, generator.integers(0, 3, len(feature)), threshold)
    splits = np.column_stack([feature, threshold, generator.integers(0, 2, len(feature))])
    return Tree(splits[:, :columns], generator.normal(size=2**depth))


def some_model(target: Target, paper: str = "dpxgboost", seed: int = 0, **params: Any) -> Model:
    generator, schema = np.random.default_rng(seed), Schema(FEATURES, target)
    columns = 3 if paper == "dpxgboost" else 2
    ensembles = [
        Ensemble(0.25 * number, tuple(some_tree(generator, columns=columns) for _ in range(7)), (0.3,) * 7)
        for number in range(schema.scores)
    ]
    return Model(paper, {"loss": "square", **params}, schema, tuple(ensembles))


def hard_inputs(model: Model, rows: int = 3000) -> Floats:
    """float32 values: anywhere inside and outside the bounds, on thresholds and next to them, missing."""
    generator = np.random.default_rng(1)
    tree_splits = np.concatenate([tree.splits[:, :2] for ensemble in model.outputs for tree in ensemble.trees])
    x = np.column_stack(
        [generator.uniform(-2, 2, rows), generator.uniform(-5, 15, rows), generator.integers(0, 3, rows)]
    )
    for f in (0, 1):
        numeric = model.schema.features[f]
        assert isinstance(numeric, Numeric)
        known = [numeric.low, numeric.high, *tree_splits[tree_splits[:, 0] == f, 1]]
        near = np.float32(generator.choice(known, rows))
        steps = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
        x[:, f] = np.choose(generator.integers(0, 6, rows), [*steps, *[x[:, f]] * 3])
    x = np.float32(x).astype(np.float64)
    x[generator.random(x.shape) < 0.2] = np.nan
    return x


def matrix(x: Any, types: Any = TYPES) -> Any:
    return xgboost.DMatrix(x, feature_types=types, enable_categorical=True)


def loaded(text: str, directory: Path) -> Any:
    path = directory / "model.json"
    path.write_text(text)
    return xgboost.Booster(model_file=path)


def compare(model: Model, booster: Any, x: Floats) -> None:
    """Leaf by leaf, then the margins bit for bit, then against refdp's float64 scores."""
    clamped, categorical = clamp_features(model.schema, x), np.array([False, False, True])
    output = export_xgboost.output_of(model)
    leaves = booster.predict(matrix(x), pred_leaf=True).reshape(len(x), -1)
    margin = booster.predict(matrix(x), output_margin=True).reshape(len(x), -1)
    total = np.zeros(margin.shape, dtype=np.float32)
    for place, (number, tree, scale) in enumerate(export_xgboost.rounds(model, output)):
        leaf = tree.leaf_index(clamped, categorical)
        assert np.array_equal(leaves[:, place], leaf + len(tree.leaves) - 1)
        total[:, number] += np.float32(scale * tree.leaves)[leaf]
    assert np.array_equal(margin, total)
    exact = output.shift + output.scale * model.scores(clamped)
    assert (np.abs(margin - exact) <= export_xgboost.rounding_bound(model)).all()


@pytest.mark.parametrize("target", [TWO, THREE, VALUES])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_float32_record_falls_into_the_same_leaves_and_has_the_same_float32_sum(
    target: Target, seed: int, tmp_path: Path
) -> None:
    model = some_model(target, seed=seed)
    compare(model, loaded(export_xgboost.to_xgboost(model), tmp_path), hard_inputs(model))


def test_thresholds_rounded_to_the_nearest_float32_would_be_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = some_model(TWO)
    monkeypatch.setattr(export_xgboost, "_not_below", np.float32)
    booster = loaded(export_xgboost.to_xgboost(model), tmp_path)
    with pytest.raises(AssertionError):
        compare(model, booster, hard_inputs(model))


@pytest.mark.parametrize(
    ("field", "place"), [("default_left", 0), ("split_type", 0), ("categories", 0), ("split_conditions", -1)]
)
def test_a_wrong_direction_kind_category_or_leaf_in_the_file_would_be_caught(
    field: str, place: int, tmp_path: Path
) -> None:
    model = some_model(TWO)
    document = json.loads(export_xgboost.to_xgboost(model))
    for tree in document["learner"]["gradient_booster"]["model"]["trees"][1:]:
        old = tree[field][place]
        tree[field][place] = {"categories": (old + 1) % 3, "split_conditions": old + 1}.get(field, 1 - old)
        if field == "split_type":
            tree |= {name: [] for name in tree if name.startswith("categories")}
            tree["split_type"] = [0] * len(tree["split_type"])
    booster = loaded(json.dumps(document), tmp_path)
    with pytest.raises(AssertionError):
        compare(model, booster, hard_inputs(model))


def second(paper: str, params: Any, m: Floats, several: bool) -> Floats:
    """The module's formulas from margins to `predict_proba`. m: shape (rows,), or (rows, classes) if there are several,
    before they are divided by their sum."""
    with np.errstate(over="ignore", divide="ignore"):
        p = 1 / (1 + np.exp(-m))
        if paper == "dpboost" or params.get("loss") == "square":
            return np.where(m > 0.95, 1 - 1 / (400 * m - 360), np.where(m < 0.05, 1 / (40 - 400 * m), m))
    if paper == "grove" and not several:
        return np.where(p < 0.5, p / (p + 0.5), 1 - (1 - p) / (1 - p + 0.5))
    return m if params.get("update") == "averaging" else p


@pytest.mark.parametrize("target", [TWO, THREE])
@pytest.mark.parametrize(
    ("paper", "params"),
    [("dpboost", {}), ("dpxgboost", {}), ("dpxgboost", {"loss": "log"}), ("fedgbdt", {"update": "newton"}),
     ("fedgbdt", {"update": "averaging"}), ("inprivate", {}), ("sgbdt", {}), ("grove", {})],
)  # fmt: skip
def test_predicted_classes_and_probabilities_are_those_of_the_paper(
    target: Target, paper: str, params: Any, tmp_path: Path
) -> None:
    """A prediction between 0 and 1 that is no probability is one of those that the module names."""
    model = some_model(target, paper, **params)
    if params.get("update") == "averaging":  # the mean of a forest: leaves are probabilities
        trees = [[replace(tree, leaves=(np.sign(tree.leaves) + 1) / 2) for tree in e.trees] for e in model.outputs]
        model = replace(model, outputs=tuple(Ensemble(0.0, tuple(t), (1 / 7,) * 7) for t in trees))
    x = hard_inputs(model)
    booster = loaded(export_xgboost.to_xgboost(model), tmp_path)
    found, margin = booster.predict(matrix(x)), booster.predict(matrix(x), output_margin=True).astype(np.float64)
    ours = prediction.probabilities(model, x)
    formula = second(paper, model.params if paper == "dpxgboost" else params, margin, target is THREE)
    if target is THREE:
        assert np.array_equal(found, prediction.classes(model, x))
        assert np.allclose(formula / formula.sum(axis=1, keepdims=True), ours, atol=3e-6, rtol=0)
        return
    assert np.allclose(formula, ours[:, 1], atol=2e-6, rtol=0)
    assert np.array_equal(found > 0.5, prediction.classes(model, x) == 1)
    if paper == "grove":
        assert set(found.tolist()) == {0.0, 1.0}
        return
    named = paper == "dpboost" or (paper == "dpxgboost" and model.params["loss"] == "square")
    core = np.abs(2 * found - 1) <= (prediction.CORE if named else np.inf)
    assert core.any() and np.allclose(found[core], ours[core, 1], atol=2e-6, rtol=0)


@pytest.mark.parametrize("paper", ["dpboost", "dpxgboost", "fedgbdt", "inprivate", "sgbdt", "grove"])
def test_regression_predicts_in_the_targets_unit_and_the_caller_cuts(paper: str, tmp_path: Path) -> None:
    model = some_model(VALUES, paper, update="newton")
    x = hard_inputs(model)
    found = loaded(export_xgboost.to_xgboost(model), tmp_path).predict(matrix(x))
    assert np.ptp(prediction.scores(model, x)) > 1
    assert np.allclose(np.clip(found, 2, 10), prediction.scores(model, x), atol=1e-5, rtol=0)


TRAINED: list[tuple[Any, dict[str, Any]]] = [
    (dpboost, {"trees": 4, "trees_per_ensemble": 4}),
    (dpxgboost, {"trees": 4}),
    (dpxgboost, {"trees": 4, "leaf": "minimum", **AS_PUBLISHED}),
    (fedgbdt, {"trees": 4}),
    (inprivate, {"trees": 4}),
    (sgbdt, {"regular_trees": 4, "extra_trees": 0}),
]


@pytest.mark.parametrize(("module", "settings"), TRAINED)
@pytest.mark.parametrize("target", [TWO, THREE, VALUES])
def test_trained_models_of_every_paper_are_exported_alike(
    module: Any, settings: dict[str, Any], target: Target, tmp_path: Path
) -> None:
    generator, size = np.random.default_rng(0), 300
    x = np.column_stack([generator.normal(size=size), generator.uniform(0, 10, size), generator.integers(0, 3, size)])
    x[generator.random(x.shape) < 0.1] = np.nan
    y = generator.integers(0, 2 if target is TWO else 3, size).astype(np.float64)
    kind = registry.paper(module.__name__.rpartition(".")[2]).printed.Params
    known = set(kind.__dataclass_fields__)
    given = {name: value for name, value in settings.items() if name in known}
    params = kind(5.0, Relation.ADD_REMOVE, **given, **({"delta": 1e-5} if module in (fedgbdt, sgbdt) else {}))
    curator = Curator(SampleSource(generator), params.relation)
    model = module.train(params, make_records(Schema(FEATURES, target), x, y), curator)
    compare(model, loaded(export_xgboost.to_xgboost(model), tmp_path), hard_inputs(model))


def test_the_file_holds_released_values_only() -> None:
    model = some_model(TWO)
    for tree in json.loads(export_xgboost.to_xgboost(model))["learner"]["gradient_booster"]["model"]["trees"]:
        assert not any(tree["sum_hessian"]) and not any(tree["loss_changes"]) and not any(tree["base_weights"])


def test_absent_entries_can_stand_for_zero(tmp_path: Path) -> None:
    schema = Schema((Numeric("a", -1.0, 1.0), Numeric("b", 0.0, 10.0), Numeric("c", -3.0, -1.0)), TWO)
    whole = some_model(TWO)
    trees = tuple(replace(tree, splits=np.where([True, True, True], tree.splits, 0)) for tree in whole.outputs[0].trees)
    model = replace(whole, schema=schema, outputs=(Ensemble(0.0, trees, (0.3,) * 7),))
    generator = np.random.default_rng(2)
    x = np.where(generator.random((500, 3)) < 0.3, generator.uniform(-2, 4, (500, 3)), 0.0)
    ours = 0.5 + 0.5 * model.scores(clamp_features(schema, x))[:, 0]
    zero = loaded(export_xgboost.to_xgboost(model, absent="zero"), tmp_path)
    missing = loaded(export_xgboost.to_xgboost(model), tmp_path)
    sparse, dense = xgboost.DMatrix(csr_matrix(x)), xgboost.DMatrix(x)
    assert np.allclose(zero.predict(sparse), ours, atol=2e-6)
    assert np.allclose(missing.predict(dense), ours, atol=2e-6)
    assert not np.allclose(missing.predict(sparse), ours, atol=2e-6)
    with pytest.raises(InvalidParameter, match="categorical"):
        export_xgboost.to_xgboost(whole, absent="zero")


@pytest.mark.filterwarnings("ignore:insecure_seed:refdp.errors.PrivacyWarning")
def test_xgboosts_own_classifier_reads_the_file_of_an_estimator(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    x = np.float32(generator.uniform(-1, 1, (400, 2)))
    y = np.where(x[:, 0] > 0.1, "yes", "no")
    model = DPXGBoostClassifier(
        epsilon=50.0, relation="add-remove", bounds={0: (-1, 1), 1: (-1, 1)}, classes=["no", "yes"], child_minimum=5,
        insecure_seed=ReproducibleSeed(0),
    ).fit(x, y)  # fmt: skip
    model.to_xgboost(tmp_path / "model.json")
    theirs = xgboost.XGBClassifier()
    theirs.load_model(tmp_path / "model.json")
    assert np.array_equal(model.classes_[theirs.predict(x).astype(int)], model.predict(x))
    probability = theirs.predict_proba(x)[:, 1]
    core = np.abs(2 * probability - 1) <= prediction.CORE
    assert core.any() and np.allclose(probability[core], model.predict_proba(x)[core, 1], atol=2e-6)
    with pytest.raises(InvalidParameter, match="cannot be written"):
        model.to_xgboost(tmp_path / "no" / "model.json")


def test_names_are_written_on_request() -> None:
    learner = json.loads(export_xgboost.to_xgboost(some_model(TWO), names=True))["learner"]
    assert learner["feature_names"] == ["a", "b", "c"] and learner["feature_types"] == TYPES


def test_the_command_line_writes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.json"
    command = ["train", "dpxgboost", "--data", "breast_cancer", "--epsilon", "5", "--set", "trees=2", "--json"]
    assert cli.run([*command, "--xgboost", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["xgboost_predicts"].startswith("the expected label")
    assert cli.run([*command[:-1], "--xgboost", str(path)]) == 0
    assert "xgboost predicts the expected label" in " ".join(capsys.readouterr().out.split())
    assert xgboost.Booster(model_file=path).num_boosted_rounds() == 3  # the start value and two trees
    assert cli.run([*command, "--xgboost", str(tmp_path / "no" / "model.json")]) == 2
    assert "--xgboost" in capsys.readouterr().err
