"""DP-XGBoost (Grislain and Gonzalvez 2021), section 5: Figures 1, 2, 4, and what each part of a run costs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.reproduce.runs import Metrics, Outcome, Run
from benchmarks.reproduce.runs.program import digest
from benchmarks.reproduce.study.dpxgboost_data import FOLDS, TASKS, parts
from benchmarks.reproduce.study.dpxgboost_tuning import chosen, loss
from refdp.data.records import Classes
from refdp.io.datasets import Dataset
from refdp.papers import dpxgboost, published
from refdp.papers.published.dpxgboost import AS_PUBLISHED
from refdp.privacy.curator import Curator, Request
from refdp.privacy.events import Relation
from refdp.privacy.sources import NoiselessSource, SampleSource

MODULES = ("refdp.papers.dpxgboost", "refdp.papers.published.dpxgboost", "refdp.data.memory", "refdp.data.codes",
           "refdp.data.sketch", "refdp.data.candidates", "refdp.noise.exponential",
           "refdp.privacy.sources")  # fmt: skip
EPSILONS = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0)
SOME = (1.0, 4.0, 10.0)
ENDS = (1.0, 10.0)
FEWER_FOLDS = 2
LARGE = 90_000  # records from which on a minimum of 500 is tried too
FLOOR_DEPTHS, BENCHMARK_DEPTHS = (3, 6, 10), (6, 8, 10, 12)
NO_BOUND = 1000.0  # no score gets so far from a label: with this gradient bound nothing is filtered
TREES, RATE = 20, 0.1


# --- Methods ----------------------------------------------------------------------------------------------------------


def first_order(epsilon: float) -> float:
    """What a run really costs whose trees have epsilon / (trees rate): T log(1 + rate (e^(eps/(T rate)) - 1)).

    The authors' published script computes the total as dp_per_tree * n_trees * subsample.
    """
    return TREES * math.log1p(RATE * math.expm1(epsilon / (TREES * RATE)))


PUBLISHED: Mapping[str, Any] = dict(AS_PUBLISHED)
Group = Literal["none", "published", "repaired"]


@dataclass(frozen=True)
class Method:
    """A line of the tables: settings of `dpxgboost.Params`. first_order: the budget as the script spends it.

    halves: labels 0 and 1 around .5 as in the script, which for labels -1 and 1 is a gradient bound of 2.
    """

    title: str
    group: Group
    settings: Mapping[str, Any]
    relation: Relation = Relation.ADD_REMOVE
    first_order: bool = field(default=False, kw_only=True)
    halves: bool = field(default=False, kw_only=True)

    def params(self, name: str, epsilon: float, **more: Any) -> dpxgboost.Params:
        """The parameters of a run on a data set."""
        settings = {"trees": TREES, "subsample": RATE, "child_minimum": TASKS[name].minimum, "noise": "floating",
                    **self.settings, **more}  # fmt: skip
        if self.halves and not name.endswith(("reg", "reg-40")) and name != "abalone":
            settings["gradient_bound"] = 2.0
        total = first_order(epsilon) if self.first_order else epsilon
        found: dpxgboost.Params = published.params("dpxgboost", epsilon=total, relation=self.relation, **settings)
        return found


PLAIN: Mapping[str, Any] = {"leaf": "laplace", "candidates": "uniform", "subsample": 1.0, "gradient_bound": NO_BOUND}
AVERAGE: Mapping[str, Any] = {"leaf": "average"}
METHODS = {
    "xgboost": Method("xgboost, no privacy", "none", {}),
    "none": Method("no noise, no filter, all records", "none", PLAIN),
    "published": Method("as published", "published", PUBLISHED),
    "published-500": Method("as published, minimum 500", "published", {**PUBLISHED, "child_minimum": 500}),
    "script": Method("as in the published script", "published", PUBLISHED, first_order=True, halves=True),
    "minimum": Method("repaired, minimum", "repaired", {}),
    "average": Method("repaired, noisy average", "repaired", AVERAGE),
    "average-replace-one": Method("repaired, noisy average, replace-one", "repaired", AVERAGE, Relation.REPLACE_ONE),
    "chosen": Method("repaired, chosen on made-up data", "repaired", {}),
}


def method(name: str) -> Method:
    """The method; "chosen" has the settings of dpxgboost_tuning."""
    found = METHODS[name]
    return found if name != "chosen" else Method(found.title, found.group, chosen())


# --- Experiments ------------------------------------------------------------------------------------------------------

BESIDE = ("minimum", "average-replace-one")
EXPLAINED = ("covtype", "adult", "synthetic-cls", "synthetic-reg", "abalone")
NOISES = ("sketch", "splits", "leaves", "none")
LADDER: Mapping[str, Mapping[str, Any]] = {
    "all records": PLAIN,
    "+ filter": {**PLAIN, "gradient_bound": 1.0},
    "+ subsampling": {**PLAIN, "gradient_bound": 1.0, "subsample": RATE},
    "+ child minimum": {"leaf": "minimum", "candidates": "uniform"},
    "+ sketch": {"leaf": "minimum"},
}
"""Without noise: each row of the ladder adds one thing of a private run."""
LEAVES: Mapping[str, Mapping[str, Any]] = {
    "laplace": {"leaf": "laplace"},
    "minimum": {"leaf": "minimum"},
    "average": {"leaf": "average"},
    "average, stopping on noisy counts": {"leaf": "average", "stopping": "noisy"},
}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "repaired, noisy average": {},
    "public candidates": {"candidates": "uniform"},
    "quantiles by noisy choices": {"candidates": "quantiles"},
    "one sketch a run": {"sketch_per": "run"},
    "sketch 1/9, splits 4/9, leaves 4/9": {"sketch_part": 0.25},
    "sketch 1/9, splits 6/9, leaves 2/9": {"sketch_part": 0.5, "split_part": 3.0},
    "sketch 1/9, splits 2/9, leaves 6/9": {"sketch_part": 0.5, "leaf_part": 3.0},
    "levels 1.5 times the one above": {"level_growth": 1.5},
    "levels 1/1.5 of the one above": {"level_growth": 1 / 1.5},
    "trees 1.1 times the one before": {"tree_growth": 1.1},
    "trees 1/1.1 of the one before": {"tree_growth": 1 / 1.1},
    "clipped instead of filtered": {"gradients": "clip"},
    "depth 3": {"depth": 3},
    "depth 8": {"depth": 8},
    "all records": {"subsample": 1.0},
    "minimum 10": {"child_minimum": 10},
    "minimum 500": {"child_minimum": 500},
    "delta 1e-6": {"delta": 1e-6},
}
BINS = (4, 8, 16, 32, 64, 128, 255)
FIGURE_1 = ("adult", "covtype")
MINIMA: Mapping[str, Mapping[str, Any]] = {
    "laplace": {"leaf": "laplace"},
    "average": {"leaf": "average"},
    "minimum 32": {"leaf": "minimum", "child_minimum": 32},
    "minimum 96": {"leaf": "minimum", "child_minimum": 96},
    "minimum 200": {"leaf": "minimum", "child_minimum": 200},
    "minimum 600": {"leaf": "minimum", "child_minimum": 600},
}
OPTION_TASKS = ("covtype", "adult", "abalone")


def runs(repeats: int) -> list[Run]:
    """The results table, then what explains it, then the figures; explanations have fewer trials."""
    return [Run.of("dpxgboost", experiment, fold, repeat, **cell)
            for repeat in range(repeats) for fold in range(FOLDS)
            for experiment, cell in (_table() + _explanations() * (fold < FEWER_FOLDS))]  # fmt: skip


Planned = tuple[str, dict[str, Any]]


def _table() -> list[Planned]:
    cells = []
    for data, (name, one) in itertools.product(TASKS, METHODS.items()):
        if name == "published-500" and TASKS[data].rows < LARGE:
            continue
        budgets = ENDS if data not in EXPLAINED or name in BESIDE else EPSILONS
        found = [{}] if one.group == "none" else [{"epsilon": e} for e in budgets]
        cells += [("table", {"dataset": data, "method": name, **cell}) for cell in found]
    return cells


def _explanations() -> list[Planned]:
    cells = [("ladder", {"dataset": name, "step": step}) for name in EXPLAINED for step in LADDER]
    cells += [("noise", {"dataset": name, "epsilon": e, "noise": noisy, "method": "published"})
              for name in EXPLAINED for e in ENDS for noisy in NOISES]  # fmt: skip
    cells += [("floor", {"dataset": name, "depth": depth, "noise": noisy})
              for name in EXPLAINED for depth in FLOOR_DEPTHS for noisy in ("none", "all")]  # fmt: skip
    cells += [("benchmark", {"dataset": "covtype", "depth": depth, "rate": rate})
              for depth in BENCHMARK_DEPTHS for rate in (RATE, 1.0)]  # fmt: skip
    cells += [("leaves", {"dataset": name, "epsilon": e, "leaf": leaf, "constants": constants})
              for name in OPTION_TASKS for e in ENDS for leaf in LEAVES for constants in ("published", "proved")
              if not (constants == "published" and "stopping" in LEAVES[leaf])]  # fmt: skip
    cells += [("options", {"dataset": name, "epsilon": 4.0, "option": option})
              for name in OPTION_TASKS for option in OPTIONS]  # fmt: skip
    cells += [("bins", {"dataset": name, "bins": bins, "noise": noisy})
              for name in FIGURE_1 for bins in BINS for noisy in ("all", "all but sketch")]  # fmt: skip
    return cells + [("minima", {"dataset": "covtype", "epsilon": e, "leaf": leaf, "constants": "published"})
                    for e in SOME for leaf in MINIMA]  # fmt: skip


class PartlyNoisy(SampleSource):
    """Noise on releases of some kinds only. To explain an error; such a model is not private."""

    def __init__(self, generator: np.random.Generator, noisy: str) -> None:
        super().__init__(generator)
        self._quiet = NoiselessSource(generator)
        self._noisy = noisy

    def release(self, request: Request) -> NDArray[Any]:
        """With noise if the request is of a noisy kind."""
        kind = request.path[-1].split()[0]
        others = self._noisy == "all but sketch" and kind != "sketch"
        return super().release(request) if others or kind == self._noisy else self._quiet.release(request)


def params_of(run: Run) -> dpxgboost.Params:
    """The parameters of a run."""
    cell = dict(run.cell)
    data, epsilon = cell["dataset"], cell.get("epsilon", 1.0)
    match run.experiment:
        case "table" | "noise":
            return method(cell["method"]).params(data, epsilon)
        case "ladder":
            return Method("", "none", LADDER[cell["step"]]).params(data, epsilon)
        case "floor":
            return method("chosen").params(data, 10.0, depth=cell["depth"])
        case "options":
            return METHODS["average"].params(data, epsilon, **OPTIONS[cell["option"]])
        case "bins":
            return METHODS["published"].params(data, 1.0, sketch_bins=cell["bins"])
    settings = LEAVES[cell["leaf"]] if run.experiment == "leaves" else MINIMA[cell["leaf"]]
    return METHODS["published" if cell["constants"] == "published" else "minimum"].params(data, epsilon, **settings)


def look(name: str) -> None:
    """Look whether a data set is at hand and is the one that is expected. Errors: InvalidRecords."""
    parts(name, 0)


def execute(run: Run) -> Metrics:
    """Train on the trial's training part, measure on its test part."""
    train, test = parts(run["dataset"], run.repeat)[run.fold]
    if not _ours(run):
        cell = {"depth": 6, "rate": RATE, **dict(run.cell)}
        return {"loss": benchmark(train, test, run.seed, cell["depth"], cell["rate"])}
    params = params_of(run)
    model = dpxgboost.train(params, train.records(), Curator(_source(run), params.relation))
    centre = float(np.mean(train.y))
    classes = isinstance(test.target, Classes)
    constant = np.mean(test.y != (centre > 0.5)) if classes else np.sqrt(np.mean((test.y - centre) ** 2))
    return {"loss": loss(model, test), "constant": float(constant)}


def _ours(run: Run) -> bool:
    return not (run.experiment == "benchmark" or dict(run.cell).get("method") == "xgboost")


def benchmark(train: Dataset, test: Dataset, seed: int, depth: int, rate: float) -> float:
    """xgboost itself, without privacy: as many trees, the same learning rate and lambda, labels -1 and 1."""
    import xgboost

    classes = isinstance(train.target, Classes)
    label = 2 * train.y - 1 if classes else train.y
    settings = {"max_depth": depth, "eta": 0.3, "lambda": 0.1, "subsample": rate, "tree_method": "hist", "nthread": 1,
                "seed": seed % 2**31, "objective": "reg:squarederror"}  # fmt: skip
    booster = xgboost.train(settings, xgboost.DMatrix(train.x, label), TREES)
    found = booster.predict(xgboost.DMatrix(test.x))
    return float(np.mean((found > 0) != (test.y == 1)) if classes else np.sqrt(np.mean((found - test.y) ** 2)))


def _source(run: Run) -> SampleSource:
    generator, cell = np.random.default_rng(run.seed), dict(run.cell)
    quiet = run.experiment == "ladder" or cell.get("method") == "none"
    if quiet:
        return NoiselessSource(generator)
    return SampleSource(generator) if cell.get("noise", "all") == "all" else PartlyNoisy(generator, cell["noise"])


def program(run: Run) -> str:
    """What decides the result besides the seed: the modules that train, and the parameters."""
    if not _ours(run):
        return digest((), repr(run.cell))
    return digest(MODULES, repr(params_of(run)))


def write(outcomes: Mapping[Run, Outcome], docs: Path) -> Path:
    """The page docs/dpxgboost.md with its figures."""
    from benchmarks.reproduce.page import dpxgboost as dpxgboost_page

    return dpxgboost_page.write(outcomes, docs)
