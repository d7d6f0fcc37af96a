"""What an attacker reads off estimators: fitted state, pickles, warnings and errors that depend on one record."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from refdp.audit import structural_state
from refdp.errors import InvalidRecords, RepeatedFitWarning
from refdp.faces import estimators
from refdp.faces.estimators import base as estimators_base
from refdp.faces.estimators import owners as estimators_owners
from refdp.faces.estimators import stream as estimators_stream
from refdp.faces.training import source_for
from refdp.privacy.curator import Array, Request
from refdp.privacy.sources import asked
from refdp.protocols.quality import Control

ALL = [
    getattr(estimators, f"{paper}{kind}")
    for paper in ("DPBoost", "InPrivate", "DPXGBoost", "FedGBDT", "SGBDT")
    for kind in ("Classifier", "Regressor")
]
BOUNDS = {"x0": (0, 1), "x1": (0, 1)}
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "DPBoost": [{}, {"gradients": "clip", "noise": "discrete"}],
    "InPrivate": [{"owners": 2, "rounds": 2}, {"noise": "discrete"}],
    "DPXGBoost": [
        {},
        {"candidates": "quantiles", "leaf": "average", "stopping": "noisy", "sketch_per": "run"},
        {"missing": "left", "leaf": "laplace", "subsample": 1.0, "noise": "discrete"},
    ],
    "FedGBDT": [
        {"features_per_tree": 1},
        {"splits": "histogram", "candidates": "iterative-hessian"},
        {"splits": "partially-random", "update": "averaging"},
        {"update": "gradient", "batch": 2, "noise": "discrete"},
    ],
    "SGBDT": [{}, {"extra_trees": 2, "orders": "joint"}],
}
SMALL = {"trees": 3, "depth": 2, "bins": 4, "child_minimum": 2, "delta": 1e-5}
CASES = [(kind, changes) for kind in ALL for paper, all_of in SETTINGS.items() for changes in all_of
         if kind.__name__.startswith(paper)]  # fmt: skip


def estimator(kind: Any, **changes: Any) -> Any:
    known = kind().get_params()
    target = {"classes": ["a", "b", "c"], "label_bounds": (0.0, 1.0)}
    given = {"relation": "add-remove", "bounds": BOUNDS, **target, **SMALL, **changes}
    if kind.__name__.startswith("DPXGBoost"):
        given["delta"] = 0.0
    return kind(**{name: value for name, value in given.items() if name in known})


def records(rows: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).random((rows, 2))
    return x, np.random.default_rng(1).random(rows)


def labels_for(kind: Any, y: np.ndarray) -> np.ndarray:
    return np.array(["a", "b", "c"])[(3 * y).astype(int)] if kind.__name__.endswith("Classifier") else y


# --- Nothing but outputs decides what is kept ------------------------------------------------------------------------


class Recorded:
    """A source that keeps its answers."""

    def __init__(self, source: Any, kept: list[Array]) -> None:
        self.source, self.kept = source, kept

    def release(self, request: Request) -> Array:
        return self._keep(self.source.release(request))

    def draw(self, request: Request) -> Array:
        return self._keep(self.source.draw(request))

    def assign(self, request: Request) -> Array:
        return self._keep(np.asarray(self.source.assign(request)))

    def _keep(self, answer: Array) -> Array:
        self.kept.append(answer)
        return answer


class Repeated:
    """The answers of an earlier run, for a data set with one more record at the end: every block holds it."""

    def __init__(self, kept: list[Array]) -> None:
        self.kept = iter(kept)

    def release(self, request: Request) -> Array:
        asked(request)
        return next(self.kept)

    def draw(self, request: Request) -> Array:
        return next(self.kept)

    def assign(self, request: Request) -> Array:
        kept = next(self.kept)
        return np.append(kept, np.full(int(np.prod(request.size)) - len(kept), -2))


def published(fitted: Any, folder: Path) -> dict[str, Any]:
    """Everything that leaves the owner: the pickle, all attributes, texts, reports, exported files."""
    file = folder / "model.json"
    fitted.to_xgboost(file)
    state = {name: value for name, value in vars(fitted).items() if name != "private_stream_"}
    reports = [getattr(fitted, name)() for name in ("budget_report",) if hasattr(fitted, name)]
    x = records(20)[0]
    return {
        "state": structural_state.leaves(state),
        "pickle": pickle.dumps(fitted),
        "texts": (repr(fitted), fitted.model_.to_json(), json.dumps(fitted.certificate_.to_dict()), file.read_text()),
        "reports": repr(reports),
        "answers": fitted.predict(x).tolist(),
    }


def fitted_on(kind: Any, changes: dict[str, Any], rows: int, source: Any, fit: Callable[[Any, Any, Any], Any]) -> Any:
    x, y = records(rows)
    with pytest.MonkeyPatch.context() as patch:
        for module in (estimators_base, estimators_stream, estimators_owners):
            patch.setattr(module, "source_for", source)
        return fit(estimator(kind, **changes), x, labels_for(kind, y))


def plain(model: Any, x: Any, y: Any) -> Any:
    return model.fit(x, y)


def stream(model: Any, x: Any, y: Any) -> Any:
    return model.partial_fit(x[:5], y[:5], ids=range(5)).partial_fit(x[5:], y[5:], ids=range(4, len(x) - 1))


def differing(kind: Any, changes: dict[str, Any], fit: Callable[[Any, Any, Any], Any], folder: Path) -> list[str]:
    """What differs between two neighbours although all released outputs and public draws are the same."""
    kept: list[Array] = []
    recorded = fitted_on(kind, changes, 12, lambda p, seed: Recorded(source_for(p, seed), kept), fit)
    answers = Repeated(kept)
    repeated = fitted_on(kind, changes, 13, lambda p, seed: answers, fit)
    assert next(answers.kept, None) is None
    one, other = published(recorded, folder), published(repeated, folder)
    return [name for name in one if one[name] != other[name]]


@pytest.mark.parametrize(("kind", "changes"), CASES)
def test_the_whole_fitted_object_follows_from_the_outputs(kind: Any, changes: dict[str, Any], tmp_path: Path) -> None:
    assert differing(kind, changes, plain, tmp_path) == []


@pytest.mark.parametrize("kind", [estimators.SGBDTClassifier, estimators.SGBDTRegressor])
def test_so_does_an_estimator_that_learns_on_a_stream(kind: Any, tmp_path: Path) -> None:
    assert differing(kind, {"extra_trees": 2}, stream, tmp_path) == []


def leak(what: str) -> Callable[[Any, Any, Any], Any]:
    def fit(model: Any, x: Any, y: Any) -> Any:
        model.fit(x, y).kept_ = len(x) if what == "count" else float(np.sum(x))
        return model

    return fit


@pytest.mark.parametrize("what", ["count", "sum"])
def test_a_kept_count_or_sum_is_noticed(what: str, tmp_path: Path) -> None:
    """The check above can fail."""
    assert "state" in differing(estimators.DPBoostRegressor, {}, leak(what), tmp_path)


# --- Warnings and errors ----------------------------------------------------------------------------------------------


def said(fit: Callable[[], Any]) -> list[str]:
    """All warnings of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", RepeatedFitWarning)
        fit()
    return [str(warning.message) for warning in caught]


def test_how_many_classes_the_records_hold_is_not_warned_about() -> None:
    x, _ = records(40)
    model = estimator(estimators.DPBoostClassifier, classes=list(range(60)), trees=1)
    assert said(lambda: model.fit(x, np.arange(40))) == said(lambda: model.fit(x, np.zeros(40))) == []


def test_classes_that_are_fractions_are_taken_whether_or_not_a_record_has_one() -> None:
    x, _ = records(4)
    model = estimator(estimators.DPBoostClassifier, classes=[0.0, 0.5], trees=1)
    assert said(lambda: model.fit(x, np.zeros(4))) == said(lambda: model.fit(x, np.array([0.0, 0.0, 0.0, 0.5]))) == []


def test_classes_are_found_one_record_at_a_time() -> None:
    """numpy's search turns numbers into text or not, depending on how many records there are."""
    x, _ = records(400)
    names = [str(number) for number in range(60)]
    for rows in (1, 3, 400):
        model = estimator(estimators.DPBoostClassifier, classes=names, trees=1)
        assert said(lambda model=model, rows=rows: model.fit(x[:rows], np.full(rows, "0"))) == []
        with pytest.raises(InvalidRecords, match="y holds numbers, classes lists texts"):
            model.fit(x[:rows], np.zeros(rows, dtype=int))


SECRET = "4711-secret"


@pytest.mark.parametrize(
    "fit",
    [
        lambda: estimator(estimators.DPBoostClassifier).fit(records(2)[0], ["a", SECRET]),
        lambda: estimator(estimators.DPBoostRegressor).fit(records(2)[0], np.array([0.5, SECRET], dtype=object)),
        lambda: estimator(estimators.DPBoostRegressor).fit(np.array([[0.5, SECRET], [0, 1]], dtype=object), [0, 1]),
        lambda: estimator(estimators.DPBoostRegressor).fit(pd.DataFrame({"x0": [0, SECRET], "x1": [0, 1]}), [0, 1]),
        lambda: estimator(estimators.DPBoostRegressor).fit(np.array([47.11, 1.0]), [0, 1]),
        lambda: estimator(estimators.DPBoostRegressor).fit(np.array([[47.11j, 1.0]]), [0]),
        lambda: estimator(estimators.DPBoostRegressor).fit(records(2)[0], np.array([47.11j, 1.0])),
        lambda: estimator(estimators.DPBoostRegressor).fit(records(2)[0], [10**400, 1.0]),
        lambda: estimator(estimators.DPXGBoostRegressor).fit(csr_matrix([[47.11j, 1.0]]), [0]),
    ],
)
def test_errors_quote_no_record(fit: Callable[[], Any]) -> None:
    with pytest.raises(InvalidRecords) as caught:
        fit()
    assert "4711" not in str(caught.value) and "47.11" not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.filterwarnings("ignore::refdp.errors.PrivacyWarning")
def test_without_public_classes_scikit_learn_may_warn() -> None:
    """Then there is no guarantee to keep."""
    x, _ = records(40)
    model = estimator(estimators.DPBoostClassifier, classes=None, trees=1)
    assert any("number of unique classes" in line for line in said(lambda: model.fit(x, np.arange(40))))


@pytest.mark.parametrize("kind", [estimators.InPrivateClassifier, estimators.InPrivateRegressor])
@pytest.mark.parametrize("control", [None, Control(threshold=-0.5)])
def test_so_do_models_and_messages_of_several_owners(kind: Any, control: Control | None, tmp_path: Path) -> None:
    def among_owners(model: Any, x: Any, y: Any) -> Any:
        return model.fit(x, y, groups=np.minimum(np.arange(len(x)) // 4, 2), control=control)

    assert differing(kind, {"rounds": 2, "owners": [0, 1, 2]}, among_owners, tmp_path) == []
