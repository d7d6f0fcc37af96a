"""S-GBDT: Abalone's RMSE and Adult's AUC at the published epsilons, the ablation, learning on streams, and Adult with
the authors' settings (`sgbdt_limits`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproduce.runs import Metrics, Outcome, Run
from benchmarks.reproduce.runs.program import digest
from benchmarks.reproduce.study import sgbdt_limits as limits
from benchmarks.reproduce.study.sgbdt_tuning import chosen
from benchmarks.reproduce.study.sgbdt_variants import EPSILONS, auc, params_of, rmse, settings_of, train
from refdp.errors import InvalidRecords
from refdp.io import datasets
from refdp.io.datasets import Dataset
from refdp.papers import sgbdt

MODULES = ("refdp.papers.sgbdt", "refdp.accounting.individual", "refdp.papers.sgbdt",
           "refdp.papers.sgbdt", "refdp.data.memory",
           "benchmarks.reproduce.study.sgbdt_variants")  # fmt: skip
FOLDS = 5
VARIANTS = ("r1", "gamma 1", "none", "subsampling", "initial score", "filter")
STREAMS = ("stream filter", "stream naive")
LIMITS = "limits"
OFTEN = (limits.METHOD_ROW, "additive", limits.BASELINE_ROW)
"""These rows of `sgbdt_limits` are compared with published figures."""
ADULT_TRAINING_FILE = 32_561
ROWS = {"abalone": 4_177, "adult": 30_162}


@lru_cache(maxsize=2)
def parts(name: str, repeat: int) -> list[tuple[Dataset, Dataset]]:
    """Training and test parts of all folds; every repeat shuffles anew. Adult: its training file without "?"."""
    dataset = datasets.load(name)
    if name == "adult":
        dataset = dataset.take(np.arange(ADULT_TRAINING_FILE))
        unknown = [(f, values.categories.index("?")) for f, values in enumerate(dataset.features)
                   if "?" in getattr(values, "categories", ())]  # fmt: skip
        known = np.all([dataset.x[:, f] != code for f, code in unknown], axis=0)
        dataset = dataset.take(np.flatnonzero(known & ~np.isnan(dataset.x).any(axis=1)))
    if len(dataset.y) != ROWS[name]:
        raise InvalidRecords(f"{name}: {len(dataset.y)} records found, {ROWS[name]} are expected")
    return list(datasets.folds(dataset, FOLDS, seed=repeat))


def runs(repeats: int) -> list[Run]:
    """Every variant whose hyperparameters were chosen, at every epsilon; then `sgbdt_limits`, all on Adult.

    Its rows `OFTEN` are run twice as often.
    """
    known = chosen()
    cells = [
        (experiment, {"dataset": name, "variant": variant, "epsilon": epsilon})
        for experiment, variants in (("main", VARIANTS), ("stream", STREAMS))
        for variant in variants for name in EPSILONS for epsilon in EPSILONS[name]
        if f"{name}/{variant}/{epsilon:g}" in known
    ]  # fmt: skip
    return [
        Run.of("sgbdt", experiment, fold, repeat, **cell)
        for repeat in range(repeats) for experiment, cell in cells for fold in range(FOLDS)
    ] + [
        Run.of("sgbdt", LIMITS, fold, repeat, dataset="adult", variant=row, epsilon=epsilon)
        for repeat in range(2 * repeats) for row in (limits.CHANGES if repeat < repeats else OFTEN)
        for epsilon in EPSILONS["adult"] for fold in range(FOLDS)
    ]  # fmt: skip


def params_for(run: Run) -> sgbdt.Params:
    """The parameters of a run."""
    if run.experiment == LIMITS:
        return limits.params_for(run["variant"], run["epsilon"])
    point = chosen()[f"{run['dataset']}/{run['variant']}/{run['epsilon']:g}"]
    return params_of(run["epsilon"], settings_of(run["variant"], point))


def look(name: str) -> None:
    """Look whether a data set is at hand and is the one that is expected. Errors: InvalidRecords."""
    parts(name, 0)


def execute(run: Run) -> Metrics:
    """Train on the fold's training part, measure on its test part."""
    records, test = parts(run["dataset"], run.repeat)[run.fold]
    if run.experiment == LIMITS:
        return {"auc": limits.auc(run["variant"], run["epsilon"], records.records(), test.records(), run.seed)}
    model = train(run["variant"], params_for(run), records.records(), np.random.default_rng(run.seed))
    held_out = test.records()
    if run["dataset"] == "abalone":
        return {"rmse": rmse(model, held_out.x, held_out.y)}
    return {"auc": auc(model, held_out.x, held_out.y)}


def program(run: Run) -> str:
    """What decides the result besides the seed: the modules that train, and the parameters."""
    own = ("benchmarks.reproduce.study.sgbdt_limits",) if run.experiment == LIMITS else ()
    return digest(MODULES + own, repr(params_for(run)))


def write(outcomes: Mapping[Run, Outcome], docs: Path) -> Path:
    """The page and its figures."""
    from benchmarks.reproduce.page import sgbdt as sgbdt_page

    return sgbdt_page.write(outcomes, docs)


def settings_rows() -> list[dict[str, Any]]:
    """The chosen points, for the page."""
    return [{"key": key, **point} for key, point in sorted(chosen().items())]
