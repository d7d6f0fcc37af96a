"""The rows of the league. A method: (training part, x of the held-out part, epsilon, seed) -> scores of these rows.

Peers are trained in an environment of their own where `interpret` and `diffprivlib` are installed (the extra `league`);
where one is missing its rows are left out and the page says so. Their bounds are those of the data sets.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.league.cells import DELTA, constant, trained
from refdp.data.records import Categorical, Classes, Floats, Numeric
from refdp.faces.registry import PAPERS
from refdp.io.datasets import Dataset

Method = Callable[[Dataset, Floats, float, int], Floats]


def own() -> dict[str, Method]:
    """Those of this package, with default and with the papers' settings, and the constant."""
    found: dict[str, Method] = {"grove": partial(trained, "grove")}
    for paper in PAPERS:
        found[paper] = partial(trained, paper)
    for paper in PAPERS:
        found[f"{paper}, paper's settings"] = partial(trained, paper, settings="paper")
    return found | {"constant": constant}


def peers() -> dict[str, Method]:
    """Those that are installed."""
    found: dict[str, Method] = {}
    if find_spec("interpret"):
        found["DP-EBM (interpret)"] = dp_ebm
    if find_spec("diffprivlib"):
        found["logistic or linear regression (diffprivlib)"] = linear
        found["forest (diffprivlib)"] = forest
    if find_spec("xgboost"):
        found["xgboost, no privacy"] = xgboost
    return found


def methods() -> Mapping[str, Method]:
    """All rows in the order of the page."""
    return own() | peers()


PRIVATE_PEERS = ("DP-EBM (interpret)", "logistic or linear regression (diffprivlib)", "forest (diffprivlib)")


def dp_ebm(training: Dataset, x: Floats, epsilon: float, seed: int) -> Floats:
    """interpret's private explainable boosting at its defaults, with public bounds."""
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    numbers = [isinstance(f, Numeric) for f in training.features]
    given: dict[str, Any] = {
        "epsilon": epsilon, "delta": DELTA, "random_state": seed, "n_jobs": 1,
        "feature_types": ["continuous" if number else "nominal" for number in numbers],
        "privacy_bounds": {i: (f.low, f.high) for i, f in enumerate(training.features) if isinstance(f, Numeric)},
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(training.target, Classes):
            model = DPExplainableBoostingClassifier(**given).fit(_filled(training, training.x), training.y.astype(int))
            found = model.predict_proba(_filled(training, x))
            return np.asarray(found[:, 1] if found.shape[1] == 2 else found)
        bounds = (training.target.low, training.target.high)
        model = DPExplainableBoostingRegressor(**given, privacy_target_min=bounds[0], privacy_target_max=bounds[1])
        return np.clip(model.fit(_filled(training, training.x), training.y).predict(_filled(training, x)), *bounds)


def linear(training: Dataset, x: Floats, epsilon: float, seed: int) -> Floats:
    """diffprivlib's logistic regression (rows of norm at most 1), or its linear regression, on scaled features."""
    import diffprivlib.models as private

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here, there = _scaled(training, training.x), _scaled(training, x)
        if not isinstance(training.target, Classes):
            bounds = (training.target.low, training.target.high)
            model = private.LinearRegression(
                epsilon=epsilon, bounds_X=(0.0, 1.0), bounds_y=bounds, random_state=seed
            ).fit(here, training.y)
            return np.clip(model.predict(there), *bounds)
        norm = float(np.sqrt(here.shape[1]))
        model = private.LogisticRegression(epsilon=epsilon, data_norm=norm, random_state=seed)
        found = model.fit(here, training.y.astype(int)).predict_proba(there)
        return np.asarray(found[:, 1] if found.shape[1] == 2 else found)


def forest(training: Dataset, x: Floats, epsilon: float, seed: int) -> Floats:
    """diffprivlib's random forest; for regression there is none."""
    import diffprivlib.models as private

    if not isinstance(training.target, Classes):
        raise NotImplementedError("no regression")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = private.RandomForestClassifier(
            epsilon=epsilon, bounds=(0.0, 1.0), classes=list(range(len(training.target.values))), random_state=seed
        ).fit(_scaled(training, training.x), training.y.astype(int))
        found = model.predict_proba(_scaled(training, x))
        return np.asarray(found[:, 1] if found.shape[1] == 2 else found)


def xgboost(training: Dataset, x: Floats, epsilon: float, seed: int) -> Floats:
    """200 trees of depth 5, without privacy."""
    import xgboost as library

    kind = library.XGBClassifier if isinstance(training.target, Classes) else library.XGBRegressor
    model = kind(n_estimators=200, max_depth=5, learning_rate=0.1, n_jobs=1, random_state=seed)
    model.fit(training.x, training.y)
    if not isinstance(training.target, Classes):
        return np.asarray(model.predict(x))
    found = model.predict_proba(x)
    return np.asarray(found[:, 1] if found.shape[1] == 2 else found)


def _filled(data: Dataset, x: Floats) -> Any:
    """Categories as texts, missing numbers at the low end, numbers clamped to their bounds."""
    columns: list[Any] = []
    for i, feature in enumerate(data.features):
        if isinstance(feature, Categorical):
            texts = np.array([*feature.categories, "missing"], dtype=object)
            columns.append(texts[np.where(np.isnan(x[:, i]), -1, x[:, i]).astype(int)])
        else:
            columns.append(np.clip(np.nan_to_num(x[:, i], nan=feature.low), feature.low, feature.high))
    return np.column_stack([column.astype(object) for column in columns])


def _scaled(data: Dataset, x: Floats) -> Floats:
    """Numbers scaled to [0, 1] by the public bounds, categories as indicators, missing values as 0."""
    columns: list[Floats] = []
    for i, feature in enumerate(data.features):
        if isinstance(feature, Categorical):
            columns += [(x[:, i] == k).astype(np.float64) for k in range(len(feature.categories))]
        else:
            width = feature.high - feature.low or 1.0
            columns.append(np.clip(np.nan_to_num((x[:, i] - feature.low) / width, nan=0.0), 0.0, 1.0))
    return np.column_stack(columns)
