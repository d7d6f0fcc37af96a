"""The public interface: where names are found, what constructors take, what is printed."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import refdp
from refdp.data.records import Model
from refdp.errors import InvalidParameter
from refdp.faces import estimators, registry
from refdp.faces.estimators import DPBoostClassifier, DPBoostRegressor
from refdp.ledger.certificate import Certificate, Guarantee
from refdp.privacy.events import Relation
from tests.estimators.test_attacks import ALL, estimator, labels_for, records


def run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=120)
    return done.stdout + done.stderr


# --- Names ------------------------------------------------------------------------------------------------------------


def test_estimators_are_found_at_the_top() -> None:
    for kind in ALL:
        assert getattr(refdp, kind.__name__) is kind and kind.__name__ in refdp.__all__ and kind.__name__ in dir(refdp)
    assert all(getattr(refdp, name) is not None for name in refdp.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        refdp.Nothing  # type: ignore[attr-defined]  # noqa: B018


def test_importing_refdp_alone_loads_nothing() -> None:
    loaded = (
        "; import sys; print([name for name in ('numpy', 'sklearn', 'refdp.faces.estimators') if name in sys.modules])"
    )
    assert run("-c", f"import refdp{loaded}").strip() == "[]"
    assert "'sklearn'" in run("-c", f"from refdp import DPBoostClassifier{loaded}")


# --- Constructors -----------------------------------------------------------------------------------------------------

RIGHT = """
import refdp
from refdp.papers import fedgbdt

refdp.FedGBDTClassifier(epsilon=1, relation="add-remove", bounds={"age": (0, 120), "work": ["a"]}, classes=["n", "y"])
refdp.InPrivateRegressor(owners=["ann", "bob"], label_bounds=(0.0, 1.0), insecure_seed=refdp.ReproducibleSeed(1))
refdp.FedGBDTClassifier(**fedgbdt.PRESETS["DP-EBM Newton"])
refdp.SGBDTClassifier().fit([[1.0]], [0]).partial_fit([[1.0]], [0], ids=[1]).predict_proba([[1.0]])
"""
WRONG = {
    "FedGBDTClassifier(epsilonn=1)": 'Unexpected keyword argument "epsilonn"',
    "DPBoostClassifier(n_estimators=3)": 'Unexpected keyword argument "n_estimators"',
    "DPBoostRegressor(classes=[0, 1])": 'Unexpected keyword argument "classes"',
    "DPBoostClassifier(3)": "Too many positional arguments",
    "SGBDTClassifier(trees='many')": 'Argument "trees" to "SGBDTClassifier" has incompatible type "str"',
    "DPBoostClassifier(noise='none')": 'Argument "noise" to "DPBoostClassifier" has incompatible type',
    "SGBDTRegressor(insecure_seed=7)": 'Argument "insecure_seed" to "SGBDTRegressor" has incompatible type "int"',
    "InPrivateClassifer()": 'Module has no attribute "InPrivateClassifer"',
}


def test_constructors_are_typed(tmp_path: Path) -> None:
    """mypy --strict, as a user has it: right calls pass, and each wrong one is the only error of its line."""
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text("import refdp\n" + "\n".join(f"refdp.{call}" for call in WRONG) + "\n")
    options = ("--strict", "--config-file", str(Path(__file__).parents[2] / "pyproject.toml"), "--no-pretty")
    found = run("-m", "mypy", *options, str(tmp_path / "right.py"), str(tmp_path / "wrong.py")).splitlines()
    told = {int(line.split(":")[1]): line for line in found if "wrong.py:" in line and ": error:" in line}
    assert [line for line in found if "right.py" in line] == []
    assert sorted(told) == list(range(2, 2 + len(WRONG))), found
    for number, message in enumerate(WRONG.values(), 2):
        assert message in told[number], told[number]


THEIRS = {
    "n_estimators": {"InPrivate": "rounds", "": "trees"},
    "num_boost_round": {"InPrivate": "rounds", "": "trees"},
    "max_depth": {"": "depth"},
    "max_leaf_nodes": {"": "depth"},
    "learning_rate": {"": "shrinkage"},
    "eta": {"": "shrinkage"},
    "max_bins": {"SGBDT": "grid_points", "": "bins"},
    "random_state": {"": "insecure_seed=refdp.ReproducibleSeed"},
    "seed": {"": "insecure_seed=refdp.ReproducibleSeed"},
    "epsilonn": {"": "epsilon"},
    "Bounds": {"": "bounds"},
}


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("name", THEIRS)
def test_names_of_other_libraries_are_translated(kind: Any, name: str) -> None:
    ours = next(here for paper, here in THEIRS[name].items() if kind.__name__.startswith(paper))
    with pytest.raises(TypeError, match=f"{kind.__name__} has no parameter '{name}'.*give '?{ours}"):
        kind(**{name: 1})
    with pytest.raises(ValueError, match=name):
        kind().set_params(**{name: 1})


def test_every_name_stands_where_no_counterpart_is() -> None:
    with pytest.raises(TypeError, match="has no parameter 'reg_lambda': give 'regularisation'"):
        DPBoostClassifier(reg_lambda=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="has no parameter 'reg_lambda': there are"):
        estimators.InPrivateClassifier(reg_lambda=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="has no parameter 'n_jobs': there are as_published, bins, blocks"):
        DPBoostClassifier(n_jobs=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="has no parameter 'subsample': there are"):
        DPBoostClassifier(subsample=0.5)  # type: ignore[call-arg]


def test_a_search_over_another_library_s_name_is_told_ours() -> None:
    with pytest.raises(InvalidParameter, match="no parameter 'max_depth': give 'depth'"):
        GridSearchCV(DPBoostClassifier(), {"max_depth": [2, 3]}, cv=2).fit(np.zeros((8, 1)), [0, 1] * 4)


# --- What is printed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_certificates_and_models_are_readable_on_one_line_and_in_html(kind: Any) -> None:
    x, y = records(47)
    model = estimator(kind).fit(x, labels_for(kind, y))
    for shown in (model.certificate_, model.model_):
        line, page = repr(shown), shown._repr_html_()
        assert len(line) < 200 and "\n" not in line and "<" not in line
        assert page.startswith("<table>") and page.endswith("</table>") and page.count("<tr>") == page.count("</tr>")
        assert registry.paper(kind._paper).name in line and "47" not in line.replace("0.47", "")
    assert "established" in repr(model.certificate_)
    assert all(note[:20] in html(model) for note in model.certificate_.notes)
    assert f"{len(model.model_.outputs) * len(model.model_.outputs[0].trees)} trees" in repr(model.model_)
    assert "x1: [0, 1]" in html(model)


def html(model: Any) -> str:
    return str(model.certificate_._repr_html_() + model.model_._repr_html_())


def test_a_certificate_without_guarantee_says_so() -> None:
    none = Guarantee(float("inf"), 0.0)
    claims = (("a/b", "OPEN"),)
    one = Certificate("dpboost", Relation.ADD_REMOVE, Guarantee(1.0, 0.0), none, claims, (), ("note",), ("b",))
    assert "claimed epsilon 1, established no guarantee; 1 claims, 1 notes, 1 assumptions" in repr(one)
    assert "a/b: OPEN" in one._repr_html_()
    assert "delta 1e-05" in repr(replace(one, established=Guarantee(1.0, 1e-5)))


def test_names_cannot_write_html() -> None:
    x, y = records(10)
    table = pd.DataFrame(x, columns=["<script>", "b"])
    given = {"relation": "add-remove", "bounds": {"<script>": (0, 1), "b": (0, 1)}, "label_bounds": (0, 1), "trees": 1}
    model: Model = DPBoostRegressor(**given, depth=1).fit(table, y).model_
    assert "&lt;script&gt;" in model._repr_html_() and "<script>" not in model._repr_html_()


def test_a_stream_and_its_records_are_not_printed() -> None:
    x, y = records(10)
    stream = estimator(estimators.SGBDTRegressor, extra_trees=1).partial_fit(x, y).private_stream_
    for held in (stream, stream._population):
        assert not any(f"{value:.3f}" in repr(held) for value in x.ravel())


# --- Names that a transformer lost ------------------------------------------------------------------------------------


def tables() -> tuple[pd.DataFrame, np.ndarray, dict[str, Any]]:
    x, y = records(20)
    given = {"relation": "add-remove", "bounds": {"age": (-3, 3), "pay": (-3, 3)}, "label_bounds": (0, 1), "trees": 1}
    return pd.DataFrame(x, columns=["age", "pay"]), y, given


def test_names_that_a_column_transformer_lost_are_explained() -> None:
    table, y, given = tables()
    columns = ColumnTransformer([("scaled", StandardScaler(), ["age", "pay"])])
    with pytest.raises(InvalidParameter, match=r"bounds of 'age'.*set_output\(transform='pandas'\)"):
        make_pipeline(columns, DPBoostRegressor(**given)).fit(table, y)
    with pytest.raises(InvalidParameter, match=r"bounds of 'age'.*verbose_feature_names_out=False"):
        make_pipeline(columns.set_output(transform="pandas"), DPBoostRegressor(**given)).fit(table, y)
    columns.set_params(verbose_feature_names_out=False)
    names = make_pipeline(columns, DPBoostRegressor(**given)).fit(table, y)[-1].feature_names_in_
    assert json.dumps(names.tolist()) == '["age", "pay"]'


def test_a_wrong_name_in_a_data_frame_is_only_that() -> None:
    table, y, given = tables()
    with pytest.raises(InvalidParameter, match=r"there are years, pay$"):
        DPBoostRegressor(**given).fit(table.rename(columns={"age": "years"}), y)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_predictions_follow_what_was_fitted_whatever_bounds_are_now() -> None:
    frame = pd.DataFrame({"a": np.arange(20.0), "c": ["u", "v"] * 10})
    y = np.arange(20) % 2
    given: dict[str, Any] = {"relation": "add-remove", "classes": [0, 1], "trees": 2, "depth": 1, "epsilon": 50.0}
    model = refdp.DPBoostClassifier(bounds={"a": (0, 20), "c": ["u", "v"]}, **given).fit(frame, y)
    before = model.decision_function(frame.to_numpy())
    for bounds in (None, {"a": (0, 1)}, [1]):
        model.set_params(bounds=bounds)
        assert (model.decision_function(frame.to_numpy()) == before).all()
    assert len(np.unique(before)) > 1


@pytest.mark.filterwarnings("ignore:insecure_seed")
@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_predictions_take_absent_entries_as_the_fit_did(absent: Any) -> None:
    x = csr_matrix(np.where(np.arange(20.0) > 6, np.arange(20.0), 0)[:, None])
    given: dict[str, Any] = {"relation": "add-remove", "classes": [0, 1], "bounds": {0: (0, 20)}, "trees": 2}
    given["insecure_seed"] = refdp.ReproducibleSeed(1)  # else nothing is split in 1 of 40 runs
    model = refdp.DPXGBoostClassifier(absent=absent, depth=1, **given).fit(x, (np.arange(20) > 9) * 1)
    before = model.decision_function(x)
    model.set_params(absent="missing" if absent == "zero" else "zero")
    assert (model.decision_function(x) == before).all() and model.absent_ == absent
    assert clone(model).fit(x, np.arange(20) % 2).absent_ == model.absent and len(np.unique(before)) > 1
