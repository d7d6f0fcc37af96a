"""One cell of the league: a method trained on one part of a data set at one epsilon, and judged on the other part.

A cell's figure is the AUC (one against the rest for several classes), or the root mean squared error over the standard
deviation of the held-out labels: 1 is what the best constant has. Parts, noise and figures follow from (set, seed).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from refdp.data.records import Classes, Floats
from refdp.faces import registry
from refdp.faces.defaults import params_for
from refdp.faces.prediction import LINKS
from refdp.faces.training import source_for
from refdp.io import datasets
from refdp.io.datasets import Dataset
from refdp.privacy.curator import Curator

BINARY = ("adult", "bank_full", "credit_default", "covtype_2", "higgs", "cod_rna", "nomao", "give_me_some_credit")
SEVERAL = ("covtype",)
REGRESSION = ("abalone", "king_county_house_sales", "year_prediction_msd_timbre12", "year_prediction_msd")
SETS = (*BINARY, *SEVERAL, *REGRESSION)
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
DELTA = 1e-5
HELD_OUT = 0.25
LARGEST = 50_000
"""A larger set is cut to so many records at random, the same for every method."""


@dataclass(frozen=True)
class Cell:
    """What is trained and judged."""

    data: str
    method: str
    epsilon: float
    seed: int


@lru_cache(maxsize=2)
def loaded(name: str) -> Dataset:
    """A shared data set; covtype_2 is covtype's commonest class against the rest."""
    whole = datasets.load(name.removesuffix("_2"))
    if len(whole.y) > LARGEST:
        rows = np.sort(np.random.default_rng(0).permutation(len(whole.y))[:LARGEST])
        whole = whole.take(rows)
    return whole.one_against_rest("2") if name.endswith("_2") else whole


def rounded(rows: int) -> int:
    """A public round number of records: one significant digit and a half."""
    step = 5 * 10 ** (len(str(rows)) - 2)
    return max(round(rows / step) * step, 1)


def figure(held_out: Dataset, scores: Floats) -> float:
    """AUC or relative error of scores: (rows,) for two classes and regression, else (rows, classes)."""
    from sklearn.metrics import roc_auc_score

    if not isinstance(held_out.target, Classes):
        return float(np.sqrt(np.mean((scores - held_out.y) ** 2)) / np.std(held_out.y))
    if scores.ndim == 1:
        return float(roc_auc_score(held_out.y, scores))
    aucs = [roc_auc_score(held_out.y == k, scores[:, k]) for k in range(scores.shape[1])]
    return float(np.mean(aucs))


def run(cell: Cell, methods: Mapping[str, Callable[..., Floats]]) -> dict[str, Any]:
    """The cell with its figure and the seconds of fitting and predicting, of processor time."""
    data = loaded(cell.data)
    training, held_out = datasets.train_test(data, HELD_OUT, cell.seed)
    start = time.process_time()
    scores = methods[cell.method](training, held_out.x, cell.epsilon, cell.seed)
    spent = time.process_time() - start
    return vars(cell) | {"figure": round(figure(held_out, scores), 5), "seconds": round(spent, 2)}


def trained(
    paper: str, training: Dataset, x: Floats, epsilon: float, seed: int, *, settings: str = "default", **given: Any
) -> Floats:
    """Scores of rows x by a refdp model: whatever `refdp train` gives, without its certificate, which takes longer."""
    chosen, records = registry.paper(paper), training.records(allow_observed=True)
    stated = {"epsilon": epsilon, "relation": "add-remove", **given}
    params = params_for(chosen, stated, records.schema, settings=settings, rows=rounded(len(training.y)))
    with np.errstate(all="ignore"):
        model = chosen.train(params, records, Curator(source_for(params, 1000 + seed), params.relation))
    raw = chosen.predict(model, x)
    if training.task == "multiclass":
        return LINKS[paper](raw)
    return raw if raw.ndim == 1 else raw[:, 0]


def constant(training: Dataset, x: Floats, epsilon: float, seed: int) -> Floats:
    """The exact mean of the labels, or one score for all: no privacy, and nothing learnt."""
    if training.task == "multiclass":
        return np.zeros((len(x), training.schema(True).scores))
    return np.full(len(x), float(np.mean(training.y)))


def subset(data: Dataset, rows: int, seed: int) -> Dataset:
    """At most so many records, at random."""
    if len(data.y) <= rows:
        return data
    kept = np.sort(np.random.default_rng(seed).permutation(len(data.y))[:rows])
    return replace(data, x=data.x[kept], y=data.y[kept])
