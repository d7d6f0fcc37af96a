"""InterpretML's DP-EBM: classifier and regressor, default settings but for fewer rounds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

from benchmarks.packages.checks import Check, Table, fitted, from_replay, from_structure, table, violation
from refdp.audit.adapters.interpret import ROUNDING
from refdp.audit.opened_replay import OpenedReport, audit_opened
from refdp.audit.structural import inspect
from refdp.data.records import Categorical
from refdp.io.datasets import load
from refdp.privacy.events import Relation

PACKAGE = "interpret"
BUDGET = "“epsilon: Total privacy budget to be spent. delta: Additive component of differential privacy guarantee.”"
NOMINAL = (
    "“For DP-EBMs, feature_types should be fully specified. […] 'nominal': Categorical where the order has no meaning. "
    "[…] Uses private categorical binning.”"
)
TARGETS = (
    "“privacy_target_min: Known target minimum. 'y' values will be clipped to this min.” and the total budget above"
)
SEEDED = "“random_state: […] Should be set to 'None' for privacy”"
ROUNDS = 20
EPSILON, DELTA = 1.0, 1e-5


def checks() -> Iterator[Check]:
    """Everything that is asked of DP-EBM, on Adult and cod-rna, on Abalone and on songs' years."""
    for name in ("adult", "cod_rna"):
        data = table(name, 2000)
        yield from _classifier(data)
        yield from _state(data, DPExplainableBoostingClassifier)
    for name in ("abalone", "year_prediction_msd_timbre12"):
        data = table(name, 2000)
        yield from _regressor(data)
        yield from _state(data, DPExplainableBoostingRegressor)
    yield _categories("adult", "native-country")
    yield _categories("bank_full", "job")
    yield _seeded(table("adult", 500))


def trainer(data: Table, make: Callable[..., Any], seed: int | None = 1, rounds: int = ROUNDS) -> Callable[..., Any]:
    """A trainer with public types, bounds and target bounds, so that nothing has to be read off the data."""
    settings: dict[str, Any] = {
        "feature_types": ["continuous"] * data.x.shape[1],
        "privacy_bounds": np.column_stack([data.low, data.high]),
        "max_rounds": rounds,
        "n_jobs": 1,
        "epsilon": EPSILON,
        "delta": DELTA,
    }
    if make is DPExplainableBoostingRegressor:
        settings |= {"privacy_target_min": data.target[0], "privacy_target_max": data.target[1]}

    def train(rows: Any, generator: Any = None) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(random_state=seed, **settings).fit(*rows)

    return train


def replayed(data: Table, train: Callable[..., Any], pairs: list[Any], relation: Relation) -> OpenedReport:
    """The replay audit of a trainer, on the fitted attributes."""
    return audit_opened(
        train, pairs, PACKAGE, epsilon=EPSILON, delta=DELTA, relation=relation, published=fitted, rounding=ROUNDING
    )


def _classifier(data: Table) -> Iterator[Check]:
    train = trainer(data, DPExplainableBoostingClassifier)
    removed = replayed(data, train, [(data.rows, data.without(row)) for row in range(5)], Relation.ADD_REMOVE)
    swapped = replayed(data, train, [(data.rows, data.replaced(row)) for row in range(5)], Relation.REPLACE_ONE)
    ask = (PACKAGE, data.name)
    yield from_replay(
        *ask, "classifier, a record removed: what else than noisy values is in the model?", removed, "result", BUDGET
    )
    yield _parting(data, "classifier", removed)
    yield from_replay(
        *ask, "classifier, a record removed: sensitivities of binning and boosting", removed, "sensitivity", BUDGET
    )
    yield from_replay(*ask, "classifier, a record removed: δ of the run at the claimed ε", removed, "budget", BUDGET)
    unit = " (L2, per histogram of a feature)"
    yield from_replay(*ask, "classifier, a record replaced: sensitivities", swapped, "sensitivity", BUDGET, unit)
    yield from_replay(*ask, "classifier, a record replaced: δ of the run at the claimed ε", swapped, "budget", BUDGET)
    yield from_replay(*ask, "classifier, a record replaced: what else is in the model?", swapped, "result", BUDGET)


PARTING = ("control flow", "shape", "mechanism", "error")


def _parting(data: Table, model: str, report: OpenedReport) -> Check:
    """Do runs part although every output was the same (bins are cut at the exact number of records over max_bins)?"""
    question = f"{model}, a record removed: does the control flow part with every output the same?"
    kind = next((kind for kind in PARTING if violation(report, kind)), "control flow")
    return from_replay(PACKAGE, data.name, question, report, kind, BUDGET)


def _regressor(data: Table) -> Iterator[Check]:
    train = trainer(data, DPExplainableBoostingRegressor)
    removed = replayed(data, train, [(data.rows, data.without(row)) for row in range(5)], Relation.ADD_REMOVE)
    swapped = replayed(data, train, [(data.rows, data.replaced(row)) for row in range(5)], Relation.REPLACE_ONE)
    name = f"regressor, target in [{data.target[0]:g}, {data.target[1]:g}]"
    for how, report in (("removed", removed), ("replaced", swapped)):
        ask = (PACKAGE, data.name)
        unit = " (residuals are not bounded by the width of the target's range)"
        question = f"{name}, a record {how}: sensitivity of sums of residuals"
        yield from_replay(*ask, question, _boosting(report), "sensitivity", TARGETS, unit)
        question = f"{name}, a record {how}: δ of the run at the claimed ε = {EPSILON:g}"
        yield from_replay(*ask, question, report, "budget", TARGETS)
        yield from_replay(*ask, f"regressor, a record {how}: what else is in the model?", report, "result", BUDGET)


def _boosting(report: OpenedReport) -> OpenedReport:
    """Only what happened at the noise of boosting."""
    return replace(report, violations=tuple(v for v in report.violations if "_boost.py" in v.release))


def _state(data: Table, make: Callable[..., Any]) -> Iterator[Check]:
    """Structural checks of the published attributes, with fresh randomness and two rounds."""
    small = (data.x[:200], data.y[:200])
    train, calls = trainer(data, make, None, 2), 150
    found = inspect(
        lambda rows, generator: fitted(train(rows)),
        (small, (small[0][1:], small[1][1:])),
        seed=1,
        delta=DELTA,
        calls=calls,
        order=False,
    )
    kind = "regressor" if make is DPExplainableBoostingRegressor else "classifier"
    for question, kinds in (
        ("exact statistics in the fitted attributes", ("exact statistic",)),
        ("outputs possible on one side only", ("support", "identical outputs")),
        ("noise shared between releases", ("reused noise",)),
        ("last bits of noisy values", ("precision",)),
    ):
        yield from_structure(PACKAGE, data.name, f"{kind}: {question}", found, kinds, BUDGET, calls=calls)


CALLS = 1500
"""Fits a side with a lone category, which is published in about a sixth of them."""


def _categories(name: str, column: str) -> Check:
    """A category that one record alone holds: can it be among the published bins only if the record is there?"""
    data = load(name)
    place = [feature.name for feature in data.features].index(column)
    feature = data.features[place]
    assert isinstance(feature, Categorical)
    rows = np.random.default_rng(0).permutation(len(data.y))[:1000]
    texts = np.array(feature.categories, dtype=object)[data.x[rows, place].astype(int)][:, np.newaxis]
    labels = data.y[rows]
    counts = {text: int((texts == text).sum()) for text in feature.categories}
    rarest = min((count, text) for text, count in counts.items() if count)[1]
    alone = texts[:, 0] != rarest
    alone[np.flatnonzero(~alone)[0]] = True  # one record of the rarest category is kept
    with_it, labels = texts[alone], labels[alone]
    lone = int(np.flatnonzero(with_it[:, 0] == rarest)[0])
    pair = (with_it, labels), (np.delete(with_it, lone, axis=0), np.delete(labels, lone))

    def train(records: Any, generator: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = DPExplainableBoostingClassifier(
                feature_types=["nominal"], max_rounds=1, n_jobs=1, epsilon=EPSILON, delta=DELTA
            )
            return {"bins_": [sorted(levels[0]) for levels in model.fit(*records).bins_], "kept": _kept(model, rarest)}

    found = inspect(train, pair, seed=1, delta=DELTA, calls=CALLS, order=False)
    question = (
        f"classifier: {column} as 'nominal', up to 1000 records, one of them {rarest!r}: is that category published?"
    )
    return from_structure(PACKAGE, name, question, found, ("support",), NOMINAL, places="kept", calls=CALLS)


def _kept(model: Any, category: str) -> str:
    return "published" if category in model.bins_[0][0] else "not published"


def _seeded(data: Table) -> Check:
    """A fixed `random_state` fixes the noise: the package warns."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        make = DPExplainableBoostingClassifier
        types = ["continuous"] * data.x.shape[1]
        bounds = np.column_stack([data.low, data.high])
        models = [
            make(random_state=7, feature_types=types, privacy_bounds=bounds, max_rounds=2, n_jobs=1).fit(*data.rows)
            for _ in range(2)
        ]
    same = all(np.array_equal(a, b) for a, b in zip(models[0].term_scores_, models[1].term_scores_))
    told = sum("fixed random_state" in str(warning.message) for warning in seen)
    evidence = f"two fits with random_state=7 are equal: {same}; warned {told} times"
    outcome = "documented" if same and told else "found" if same else "not found"
    return Check(PACKAGE, data.name, "does a fixed seed fix the noise?", outcome, "random_state", evidence, SEEDED)  # type: ignore[arg-type]
