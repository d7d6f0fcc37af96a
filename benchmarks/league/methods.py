"""The rows of the league. A method: (training part, x of the held-out part, epsilon, seed) -> scores of these rows.

Peers are trained in an environment of their own where they are installed; where one is missing its rows are left out
and the page says so. Their bounds are those of the data sets.

    python -m venv peers && peers/bin/pip install interpret-core diffprivlib==0.6.6 'scikit-learn<1.7' xgboost lightgbm
    PYTHONPATH=. peers/bin/python -m benchmarks.league run --methods "DP-EBM (interpret)" ...

dp-xgboost and dpmm (MST) need Pythons of their own: REFDP_PYTHON_DPXGBOOST and REFDP_PYTHON_DPMM name them.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.league.cells import DELTA, REGRESSION, SEVERAL, constant, trained
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
        found |= {name: partial(dp_ebm, **given) for name, given in DP_EBM.items()}
    if find_spec("diffprivlib"):
        found["logistic or linear regression (diffprivlib)"] = linear
        found["forest (diffprivlib)"] = forest
    if os.environ.get("REFDP_PYTHON_DPXGBOOST"):
        found["dp-xgboost (Sarus)"] = dp_xgboost
    if os.environ.get("REFDP_PYTHON_DPMM") and find_spec("xgboost"):
        found["MST (dpmm), then xgboost"] = synthetic
    if find_spec("xgboost"):
        found["xgboost, no privacy"] = xgboost
    if find_spec("lightgbm"):
        found["LightGBM, no privacy"] = lightgbm
    return found


def methods() -> Mapping[str, Method]:
    """All rows in the order of the page."""
    return own() | peers()


DP_EBM: Mapping[str, Mapping[str, Any]] = {
    "DP-EBM, 16 bins": {"max_bins": 16},
    "DP-EBM, 2 leaves": {"max_leaves": 2},
    "DP-EBM, 100 rounds": {"max_rounds": 100, "learning_rate": 0.03},
    "DP-EBM, 30% for bins": {"bin_budget_frac": 0.3},
}
"""Four more settings of DP-EBM, one changed at a time from its defaults (32 bins, 3 leaves, 300 rounds of rate .01, 10%
for bins)."""
PRIVATE_PEERS = ("DP-EBM (interpret)", *DP_EBM, "logistic or linear regression (diffprivlib)", "forest (diffprivlib)",
                 "dp-xgboost (Sarus)", "MST (dpmm), then xgboost")  # fmt: skip
NOT_PRIVATE = ("constant", "xgboost, no privacy", "LightGBM, no privacy")
"""Rows without noise: one cell for all epsilons."""


UNABLE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("DP-EBM (interpret)", *DP_EBM, "dp-xgboost (Sarus)", "MST (dpmm), then xgboost"), SEVERAL),
    "forest (diffprivlib)": REGRESSION,
}
"""Sets that a method does not offer: DP-EBM and the two others know two classes at most, the forest no regression."""


def dp_ebm(training: Dataset, x: Floats, epsilon: float, seed: int, **settings: Any) -> Floats:
    """interpret's private explainable boosting at its defaults, but for the settings given, with public bounds."""
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    numbers = [isinstance(f, Numeric) for f in training.features]
    given: dict[str, Any] = {
        "epsilon": epsilon, "delta": DELTA, "random_state": seed, "n_jobs": 1,
        "feature_types": ["continuous" if number else "nominal" for number in numbers],
        "privacy_bounds": {i: (f.low, f.high) for i, f in enumerate(training.features) if isinstance(f, Numeric)},
        **settings,
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


DP_XGBOOST = """
import sys, numpy as np, dp_xgboost as xgb
held = np.load(sys.argv[1])
bounds = dict(feature_min=held["low"].tolist(), feature_max=held["high"].tolist())
settings = dict(objective="reg:squarederror", tree_method="approxDP", dp_epsilon_per_tree=float(held["epsilon"]),
                max_depth=4, learning_rate=0.3, base_score=0.5, min_child_weight=500, subsample=1.0, nthread=1,
                verbosity=0, seed=int(held["seed"]))
settings["lambda"] = 0.1
model = xgb.train(settings, xgb.DMatrix(held["x"], label=held["y"], **bounds), num_boost_round=int(held["rounds"]))
np.save(sys.argv[1] + ".npy", model.predict(xgb.DMatrix(held["rows"], **bounds)))
"""
DP_XGBOOST_TREES = 10


def dp_xgboost(training: Dataset, x: Floats, epsilon: float, seed: int) -> Floats:
    """dp-xgboost 0.2.10: trees for labels in [0, 1], each at an equal part of epsilon, settings as in its README."""
    from refdp.audit.adapters.dpxgboost import interpreter

    low, high = _label_range(training)
    held = {
        "x": _numbers(training, training.x), "rows": _numbers(training, x), "y": (training.y - low) / (high - low),
        "low": np.array([f.low if isinstance(f, Numeric) else -1.0 for f in training.features]),
        "high": np.array([f.high if isinstance(f, Numeric) else len(f.categories) for f in training.features]),
        "epsilon": epsilon / DP_XGBOOST_TREES, "rounds": DP_XGBOOST_TREES, "seed": seed,
    }  # fmt: skip
    if isinstance(training.target, Classes) and len(training.target.values) > 2:
        raise NotImplementedError("two classes and regression")
    found = _elsewhere(interpreter(), DP_XGBOOST, held)
    return found if isinstance(training.target, Classes) else np.clip(found, 0, 1) * (high - low) + low


MST = """
import sys, warnings, numpy as np, pandas as pd
warnings.simplefilter("ignore")
from dpmm.pipelines import MSTPipeline
held = np.load(sys.argv[1])
names = ["c%d" % i for i in range(held["table"].shape[1])]
frame = pd.DataFrame(held["table"].astype(int), columns=names)
model = MSTPipeline(epsilon=float(held["epsilon"]), delta=float(held["delta"]), n_jobs=1, disable_processing=True)
model.fit(frame, domain={n: int(k) for n, k in zip(names, held["sizes"])}, random_state=int(held["seed"]))
np.save(sys.argv[1] + ".npy", model.generate(n_records=len(frame), random_state=int(held["seed"]))[names].to_numpy())
"""
MST_BINS = 16


def synthetic(training: Dataset, x: Floats, epsilon: float, seed: int) -> Floats:
    """dpmm's MST on 16 equal bins of every number, then xgboost on as many made-up records."""
    low, high = _label_range(training)
    bins = [len(f.categories) + 1 if isinstance(f, Categorical) else MST_BINS for f in training.features]
    classes = isinstance(training.target, Classes)
    label = training.y if classes else np.clip((training.y - low) / (high - low) * MST_BINS, 0, MST_BINS - 1)
    sizes = [*bins, len(training.target.values) if isinstance(training.target, Classes) else MST_BINS]
    held = {
        "table": np.column_stack([_binned(training, training.x), np.floor(label)]), "sizes": np.array(sizes),
        "epsilon": epsilon, "delta": DELTA, "seed": seed,
    }  # fmt: skip
    made = _elsewhere(os.environ["REFDP_PYTHON_DPMM"], MST, held)
    y = made[:, -1] if classes else (made[:, -1] + 0.5) / MST_BINS * (high - low) + low
    import xgboost as library

    kind = library.XGBClassifier if classes else library.XGBRegressor
    if classes and len(np.unique(y)) < sizes[-1]:
        return np.zeros(len(x))  # a class that the made-up records lack
    model = kind(n_estimators=100, max_depth=4, learning_rate=0.1, n_jobs=1, random_state=seed).fit(made[:, :-1], y)
    if not classes:
        return np.asarray(model.predict(_binned(training, x)))
    found = model.predict_proba(_binned(training, x))
    return np.asarray(found[:, 1] if found.shape[1] == 2 else found)


def _elsewhere(interpreter: str, program: str, held: Mapping[str, Any]) -> Floats:
    """What a program in another Python saves, given arrays."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/held.npz", **held)
        done = subprocess.run(
            [interpreter, "-c", program, f"{folder}/held.npz"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-800:])
        return np.asarray(np.load(f"{folder}/held.npz.npy"), dtype=np.float64)


def _label_range(data: Dataset) -> tuple[float, float]:
    return (0.0, 1.0) if isinstance(data.target, Classes) else (data.target.low, data.target.high)


def _numbers(data: Dataset, x: Floats) -> Floats:
    """Categories as their place, missing values at the low end."""
    low = [f.low if isinstance(f, Numeric) else -1.0 for f in data.features]
    return np.where(np.isnan(x), low, x)


def _binned(data: Dataset, x: Floats) -> Floats:
    """Numbers in 16 equal bins of their bounds, categories as their place, missing ones as a category more."""
    columns = []
    for i, f in enumerate(data.features):
        if isinstance(f, Categorical):
            columns.append(np.where(np.isnan(x[:, i]), len(f.categories), x[:, i]))
        else:
            share = (np.nan_to_num(x[:, i], nan=f.low) - f.low) / (f.high - f.low or 1.0)
            columns.append(np.clip(np.floor(share * MST_BINS), 0, MST_BINS - 1))
    return np.column_stack(columns)


def lightgbm(training: Dataset, x: Floats, epsilon: float, seed: int) -> Floats:
    """200 trees of 31 leaves, without privacy."""
    import lightgbm as library

    kind = library.LGBMClassifier if isinstance(training.target, Classes) else library.LGBMRegressor
    model = kind(n_estimators=200, learning_rate=0.1, n_jobs=1, random_state=seed, verbose=-1)
    model.fit(training.x, training.y)
    if not isinstance(training.target, Classes):
        return np.asarray(model.predict(x))
    found = model.predict_proba(x)
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
