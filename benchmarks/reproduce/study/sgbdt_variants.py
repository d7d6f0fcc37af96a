"""The rows of S-GBDT's tables: what each variant may set, the published grids, and how it trains on a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from refdp.data.memory import Memory
from refdp.data.population import Begin
from refdp.data.records import Classes, Floats, Model, Records
from refdp.papers import sgbdt
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import NoiselessSource, SampleSource

DELTA = 5e-8
EPSILONS = {"abalone": (0.05, 0.1, 0.2, 0.3, 0.5), "adult": (0.01, 0.02, 0.03, 0.1, 0.5)}

GRIDS: Mapping[str, Sequence[Any]] = {
    "trees": (5, 10, 25, 50, 100, 150, 200, 300, 400, 500, 600),
    "depth": (2, 3, 5, 6),
    "gradient_bound": (0.1, 0.3, 0.5, 0.7, 0.9),
    "hessian_bound": (0.1, 0.25),
    "subsample": (0.005, 0.05, 0.1, 0.2),
    "support_weight": (0.04, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "initial_share": (0.1, 0.3),
    "label_bound": (0.1, 0.5, 1.0),
    "shrinkage": (0.1, 0.2, 0.3),
    "features": ("uniform", "cyclic"),
    "values": ("uniform", "grid"),
    "support": ("additive", "max"),
}
REGULARISATION = {"abalone": (1.0, 15.0), "adult": (1.0, 10.0)}
_NONE: Mapping[str, Any] = {"subsample": 1.0, "initial_share": 0.0, "support_weight": 0.5}
FIXED: Mapping[str, Mapping[str, Any]] = {
    "none": _NONE,
    "subsampling": {"initial_share": 0.0, "support_weight": 0.5},
    "initial score": {"support_weight": 0.5},
    "first": {},
    "r1": {},
    "filter": {},
    "gamma 1": {"subsample": 1.0, "support_weight": 0.5},
    "stream filter": {},
    "stream naive": {},
}
"""Settings that are not tuned: the ablation in the published order, the row of gamma = 1, the streams."""
EXTRA = (0.25, 0.5, 0.75, 1.0)
"""T_extra as shares of T_regular, where a variant has extra rounds."""


def has_extra(variant: str) -> bool:
    """Whether a variant trains on after T_regular."""
    return variant in ("filter", "stream filter", "stream naive")


def grids_of(data: str, variant: str) -> dict[str, Sequence[Any]]:
    """What can be chosen for a variant."""
    grids = {**GRIDS, "regularisation": REGULARISATION[data]} | ({"extra": EXTRA} if has_extra(variant) else {})
    without = {*FIXED[variant], *({"hessian_bound"} if data == "abalone" else ())}
    return {name: grid for name, grid in grids.items() if name not in without}


def moved(
    grids: Mapping[str, Sequence[Any]], point: Mapping[str, Any], generator: np.random.Generator
) -> dict[str, Any]:
    """A point of the grids that differs from `point` in one or two settings."""
    new = dict(point)
    for name in generator.choice(list(grids), 1 + generator.integers(2), replace=False):
        new[name] = grids[name][generator.integers(len(grids[name]))]
    return new


def settings_of(variant: str, point: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a point as `Params` has them."""
    settings = {name: value for name, value in point.items() if name != "extra"} | dict(FIXED[variant])
    if has_extra(variant):
        settings["extra_trees"] = max(1, round(point["extra"] * point["trees"]))
    return settings


def params_of(epsilon: float, settings: Mapping[str, Any]) -> sgbdt.Params:
    """Parameters of a run."""
    return sgbdt.Params(
        epsilon=epsilon, relation=Relation.ADD_REMOVE, delta=DELTA, **({"noise": "floating"} | dict(settings))
    )


def train(variant: str, params: sgbdt.Params, records: Records, generator: np.random.Generator) -> Model:
    """One model of a variant."""
    if variant == "none without noise":
        return sgbdt.train(params, records, Curator(NoiselessSource(generator), params.relation))
    curator = Curator(SampleSource(generator), params.relation)
    if variant == "stream naive":
        return naive(params, parts(records), curator)
    if variant == "stream filter":
        return sgbdt.train_stream(params, parts(records), curator)
    return sgbdt.train(params, records, curator)


def parts(records: Records) -> tuple[Records, Records]:
    """What is there from the start, and what arrives later: labels above the mean, or label 1."""
    later = records.y > records.y.mean() if not isinstance(records.schema.target, Classes) else records.y == 1
    return records.take(np.flatnonzero(~later)), records.take(np.flatnonzero(later))


def naive(params: sgbdt.Params, batches: tuple[Records, Records], curator: Curator) -> Model:
    """The baseline: T_regular trees on old records, then T_extra on the new ones alone, sigma calibrated to T_extra.

    Every record takes part in one of the two phases only, so that the guarantee is the worse one of both (parallel
    composition over the time of arrival).
    """
    old, new = batches
    first = sgbdt.train(replace(params, extra_trees=0), old, curator)
    later = replace(params, trees=params.extra_trees, extra_trees=0)
    population, trees = Memory(new.take([])), list(first.outputs[0].trees)
    population.tell(Begin(sgbdt.Contribution(later, new.schema)))
    population.admit(new, first.outputs)
    sgbdt.grow(later, new.schema, params.extra_trees, trees, population, curator)
    return replace(first, outputs=(sgbdt.ensemble(later, first.outputs[0].initial, trees),))


def rmse(model: Model, x: Floats, y: Floats) -> float:
    """Root of the mean squared error in the target's unit."""
    return float(np.sqrt(np.mean((sgbdt.predict(model, x) - y) ** 2)))


def error(model: Model, held_out: Records) -> float:
    """What hyperparameters are to minimise: RMSE, or 1 - AUC."""
    classes = isinstance(held_out.schema.target, Classes)
    return 1 - auc(model, held_out.x, held_out.y) if classes else rmse(model, held_out.x, held_out.y)


def auc(model: Model, x: Floats, y: Floats) -> float:
    """Area under the curve."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(y, sgbdt.predict(model, x)[:, 0]))
