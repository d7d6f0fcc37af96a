"""An exported file field by field, as the format of xgboost 2.0 has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from refdp.data.records import Categorical, Classes, Ensemble, Interval, Model, Numeric, Schema, Tree
from refdp.errors import InvalidParameter
from refdp.faces.estimators import DPXGBoostClassifier
from refdp.io.export_xgboost import meaning, output_of, rounding_bound, rounds, to_xgboost

FEATURES = (Numeric("a", -1.0, 1.0), Categorical("c", ("p", "q", "r")), Numeric("b", 2.0, 10.0))
SPLITS = np.array([[2, 4.0, 0], [1, 2.0, 1], [0, 0.1, 1]])
TREE = Tree(SPLITS, np.array([1.0, -2.0, 0.5, 4.0]))
STUMP = Tree(np.array([[0, -1.0, 0]]), np.array([3.0, 0.25]))


def model(target: Any, ensembles: Any, paper: str = "dpxgboost", features: Any = FEATURES, **params: Any) -> Model:
    return Model(paper, {"loss": "log", "update": "boosting"} | params, Schema(features, target), tuple(ensembles))


BINARY = model(Classes(("0", "1")), [Ensemble(0.75, (TREE, STUMP), (0.5, 2.0))])


def test_a_tree_is_its_nodes_in_level_order() -> None:
    body = json.loads(to_xgboost(BINARY))
    assert body["version"] == [2, 0, 0]
    learner = body["learner"]
    start, tree, stump = learner["gradient_booster"]["model"]["trees"]
    assert tree == {
        "base_weights": [0.0] * 7, "categories": [2], "categories_nodes": [1], "categories_segments": [0],
        "categories_sizes": [1], "default_left": [1, 0, 0, 0, 0, 0, 0], "id": 1,
        "left_children": [1, 3, 5, -1, -1, -1, -1], "loss_changes": [0.0] * 7,
        "parents": [2147483647, 0, 0, 1, 1, 2, 2], "right_children": [2, 4, 6, -1, -1, -1, -1],
        "split_conditions": [4.0, 0.0, 0.1, 0.5, -1.0, 0.25, 2.0], "split_indices": [2, 1, 0, 0, 0, 0, 0],
        "split_type": [0, 1, 0, 0, 0, 0, 0], "sum_hessian": [0.0] * 7,
        "tree_param": {"num_deleted": "0", "num_feature": "3", "num_nodes": "7", "size_leaf_vector": "1"},
    }  # fmt: skip
    assert stump["split_conditions"] == [-np.inf, 6.0, 0.5] and stump["id"] == 2 and stump["default_left"] == [1, 0, 0]
    assert start["split_conditions"] == [0.75] and start["left_children"] == [-1] and start["parents"] == [2147483647]


def test_the_rest_of_the_file() -> None:
    learner = json.loads(to_xgboost(BINARY))["learner"]
    booster = learner["gradient_booster"]
    assert booster["name"] == "gbtree" and booster["model"]["tree_info"] == [0, 0, 0]
    assert booster["model"]["gbtree_model_param"] == {"num_parallel_tree": "1", "num_trees": "3"}
    assert booster["model"]["iteration_indptr"] == [0, 1, 2, 3]
    assert learner["attributes"] == {"refdp_paper": "dpxgboost"} and learner["feature_names"] == []
    assert learner["feature_types"] == ["q", "c", "q"]
    assert learner["learner_model_param"] == {"base_score": "5E-1", "boost_from_average": "0", "num_class": "0",
                                              "num_feature": "3", "num_target": "1"}  # fmt: skip
    assert learner["objective"] == {"name": "binary:logistic", "reg_loss_param": {"scale_pos_weight": "1"}}
    assert json.loads(to_xgboost(BINARY, names=True))["learner"]["feature_names"] == ["a", "c", "b"]
    hinge = json.loads(to_xgboost(model(BINARY.schema.target, BINARY.outputs, "grove")))["learner"]
    assert hinge["objective"] == {"name": "binary:hinge"} and hinge["learner_model_param"]["base_score"] == "0E0"
    numeric = model(Interval(0, 1), [Ensemble(0.0, (STUMP,), (1.0,))], features=FEATURES[:1])
    assert json.loads(to_xgboost(numeric))["learner"]["feature_types"] == []


def test_several_scores_take_turns_and_short_ones_are_filled_up() -> None:
    three = model(Classes(("p", "q", "r")), [Ensemble(0.0, (STUMP, STUMP), (1.0, 3.0)), Ensemble(0.0, (), ()),
                                             Ensemble(0.5, (TREE,), (2.0,))])  # fmt: skip
    body = json.loads(to_xgboost(three))["learner"]
    booster = body["gradient_booster"]["model"]
    assert booster["tree_info"] == [0, 1, 2] * 3 and booster["iteration_indptr"] == [0, 3, 6, 9]
    assert body["objective"] == {"name": "multi:softmax", "softmax_multiclass_param": {"num_class": "3"}}
    assert body["learner_model_param"]["num_class"] == "3" and body["learner_model_param"]["base_score"] == "0E0"
    leaves = [tree["split_conditions"][len(tree["split_conditions"]) // 2 :] for tree in booster["trees"]]
    assert leaves == [[0.0], [0.0], [0.5], [3.0, 0.25], [0.0], [2.0, -4.0, 1.0, 8.0], [9.0, 0.75], [0.0], [0.0]]
    assert [(number, scale) for number, _, scale in rounds(three, output_of(three))] == [
        (0, 1.0), (1, 1.0), (2, 1.0), (0, 1.0), (1, 1.0), (2, 2.0), (0, 3.0), (1, 1.0), (2, 1.0)]  # fmt: skip
    unit = (np.array([5, 5, 5])) * 2.0**-24
    expected = unit / (1 - unit) * np.array([12.0, 0.0, 8.5]) + 4 * 2.0**-149
    np.testing.assert_array_equal(rounding_bound(three), expected)
    below = model(Interval(0, 2), [Ensemble(-1.0, (Tree(STUMP.splits, np.array([-9.0, 2.0])),), (1.0,))])
    unit = 3 * 2.0**-24
    np.testing.assert_array_equal(rounding_bound(below), [unit / (1 - unit) * 9.0 + 2 * 2.0**-149])


@pytest.mark.parametrize(
    ("paper", "target", "params", "expected"),
    [
        ("grove", Interval(2, 10), {}, ("reg:squarederror", 4.0, 6.0)),
        ("grove", Classes(("0", "1")), {}, ("binary:hinge", 1.0, 0.0)),
        ("grove", Classes(("0", "1", "2")), {}, ("multi:softmax", 1.0, 0.0)),
        ("dpboost", Classes(("0", "1")), {}, ("reg:squarederror", 0.5, 0.5)),
        ("dpboost", Classes(("0", "1", "2")), {}, ("multi:softmax", 0.5, 0.5)),
        ("dpxgboost", Classes(("0", "1")), {"loss": "square"}, ("reg:squarederror", 0.5, 0.5)),
        ("dpxgboost", Classes(("0", "1")), {}, ("binary:logistic", 1.0, 0.0)),
        ("fedgbdt", Classes(("0", "1")), {"update": "averaging"}, ("reg:squarederror", 1.0, 0.0)),
        ("fedgbdt", Classes(("0", "1")), {}, ("binary:logistic", 1.0, 0.0)),
        ("sgbdt", Classes(("0", "1")), {"update": "averaging"}, ("binary:logistic", 1.0, 0.0)),
        ("sgbdt", Classes(("0", "1")), {"loss": "square"}, ("binary:logistic", 1.0, 0.0)),
        ("inprivate", Classes(("0", "1")), {}, ("binary:logistic", 2.0, 0.0)),
    ],
)
def test_scores_become_predictions(paper: str, target: Any, params: Any, expected: tuple[str, float, float]) -> None:
    ensembles = [Ensemble(0.0, (), ())] * (3 if "2" in getattr(target, "values", ()) else 1)
    found = output_of(model(target, ensembles, paper, **params))
    assert (found.objective, found.scale, found.shift) == expected


@pytest.mark.parametrize(
    ("paper", "target", "params", "said"),
    [
        ("grove", Interval(2, 10), {}, "the value in the target's unit"),
        ("grove", Classes(("0", "1")), {}, "the index of the class, no probability; output_margin=True"),
        ("sgbdt", Classes(("0", "1", "2")), {}, "the index of the class, no probability; output_margin=True"),
        ("dpboost", Classes(("0", "1")), {}, "the expected label, above 0.5 for the second class"),
        ("dpxgboost", Classes(("0", "1")), {"loss": "square"}, "the expected label, above 0.5 for the second class"),
        ("dpxgboost", Classes(("0", "1")), {}, "the probability of the second class"),
        ("fedgbdt", Classes(("0", "1")), {"update": "averaging"}, "the probability of the second class"),
        ("inprivate", Classes(("0", "1")), {}, "the probability of the second class"),
    ],
)
def test_what_the_file_predicts_is_said_in_a_sentence(paper: str, target: Any, params: Any, said: str) -> None:
    ensembles = [Ensemble(0.0, (), ())] * (3 if "2" in getattr(target, "values", ()) else 1)
    assert meaning(model(target, ensembles, paper, **params)).startswith(said)


def test_thresholds_at_bounds_and_missing_values() -> None:
    def conditions(value: float, right: float = 0, absent: Any = "missing", feature: Any = None) -> tuple[float, int]:
        tree = Tree(np.array([[0, value, right]]), np.array([1.0, 2.0]))
        features = (feature or FEATURES[0],)
        made = model(Interval(0, 2), [Ensemble(-1.0, (tree,), (1.0,))], features=features)
        found = json.loads(to_xgboost(made, absent=absent))["learner"]["gradient_booster"]["model"]["trees"][-1]
        return found["split_conditions"][0], found["default_left"][0]

    assert conditions(-1.0) == (-np.inf, 1) and conditions(-0.5) == (-0.5, 1) and conditions(1.0) == (1.0, 1)
    assert conditions(1.5) == (np.inf, 1) and conditions(0.25, 1) == (0.25, 0)
    fifth = conditions(0.2)[0]  # the nearest float32 of 0.2 is above it, that of 0.7 below
    assert np.float32(fifth) == np.float32(0.2) and np.float32(conditions(0.7)[0]) == np.nextafter(
        np.float32(0.7), np.float32(1)
    )
    for value, left in ((0.0, 0), (0.1, 1), (-0.1, 0)):
        for right in (0, 1):
            assert conditions(value, right, "zero")[1] == left
    above, below = Numeric("p", 2, 4), Numeric("n", -4, -2)
    for feature, value, left in ((above, 2.5, 1), (above, 2.0, 0), (below, -2.0, 0), (below, -1.5, 1)):
        assert conditions(value, 0, "zero", feature)[1] == left
    with pytest.raises(InvalidParameter, match="a categorical column has no zero"):
        to_xgboost(BINARY, absent="zero")


def test_an_estimator_writes_its_model_as_it_is_asked(tmp_path: Path) -> None:
    """Without the columns' names unless they are asked for; nothing before it is fitted."""
    estimator = DPXGBoostClassifier()
    file = tmp_path / "model.json"
    with pytest.raises(NotFittedError):
        estimator.to_xgboost(file)
    assert not file.exists()
    estimator.model_ = model(Classes(("0", "1")), [Ensemble(0.0, (STUMP,), (1.0,))], features=FEATURES[:1])
    found = []
    for options in ({}, {"names": True}, {"absent": "zero"}):
        estimator.to_xgboost(file, **options)  # type: ignore[arg-type]
        found.append(file.read_text(encoding="utf-8"))
        assert found[-1] == to_xgboost(estimator.model_, **options)  # type: ignore[arg-type]
    assert len(set(found)) == 3 and json.loads(found[0])["learner"]["feature_names"] == []
    estimator.to_xgboost(str(file))
    assert file.read_text(encoding="utf-8") == found[0]
