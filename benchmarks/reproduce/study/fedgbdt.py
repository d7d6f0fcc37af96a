"""The federated framework (Maddock et al. 2022): Tables 4 to 7 and Figure 5, test AUC.

Every cell has the runs 0, 1, ...: run i is on split i mod 5 (70/30, stratified), repeat i div 5. At least 5 runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.reproduce.runs import Metrics, Outcome, Run
from benchmarks.reproduce.study.fedgbdt_scripts import as_in_scripts
from refdp.data.records import Categorical, Classes, Floats, Model, Numeric, Records, Schema, make_records
from refdp.errors import InvalidRecords
from refdp.io import datasets
from refdp.papers import fedgbdt, published
from refdp.papers.published.fedgbdt import AS_PUBLISHED
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource

SPLITS, TEST_SHARE = 5, 0.3

# --- Data sets --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A data set of Table 3. rows: complete rows used, a published figure. note: what differs from the paper's.

    complete: only numeric columns without a missing value, as in the authors' scripts.
    ranked: those scripts replace every value of every column by its rank among the column's distinct values.
    """

    title: str
    rows: int
    take: int | None = None
    note: str = ""
    complete: bool = False
    ranked: bool = False


TASKS = {
    "bank_full": Task("Bank", 45_211, ranked=True),
    "give_me_some_credit": Task("Credit 1", 120_269),
    "credit_default": Task("Credit 2", 30_000),
    "adult": Task("Adult", 32_561, take=32_561, ranked=True),
    "nomao": Task(
        "Nomao", 34_465, note="6 numeric features without missing values here, 10 in the paper", complete=True
    ),
    "higgs": Task("Higgs", 15_978, note="15,978 records here, 200,000 in the paper; only observed bounds exist"),
}
COMPARABLE = ("bank_full", "give_me_some_credit", "credit_default", "adult")


@dataclass(frozen=True)
class Table:
    """Complete rows; categories are integer codes, as in the paper. low, high: the public bounds of the columns."""

    names: tuple[str, ...]
    x: Floats
    y: Floats
    low: Floats
    high: Floats
    target: Any


@lru_cache(maxsize=1)
def table(name: str) -> Table:
    """A data set as the paper uses it."""
    task, dataset = TASKS[name], datasets.load(name)
    dataset = dataset if task.take is None else dataset.take(np.arange(task.take))
    kept = _complete_columns(dataset) if task.complete else np.arange(dataset.x.shape[1])
    features = [dataset.features[column] for column in kept]
    dataset = replace(dataset, x=dataset.x[:, kept])
    dataset = dataset.take(np.flatnonzero(~np.isnan(dataset.x).any(axis=1)))
    if len(dataset.y) != task.rows:
        raise InvalidRecords(f"{name}: {len(dataset.y)} complete records found, {task.rows} are expected")
    bounds = [(0, len(f.categories) - 1) if isinstance(f, Categorical) else (f.low, f.high) for f in features]
    low, high = np.array(bounds, dtype=np.float64).T
    names = tuple(f.name for f in features)
    return Table(names, dataset.x, dataset.y, low, high, dataset.target)


def _complete_columns(dataset: datasets.Dataset) -> Any:
    numeric = [isinstance(feature, Numeric) for feature in dataset.features]
    return np.flatnonzero(numeric & ~np.isnan(dataset.x).any(axis=0))


def as_in(data: Table, name: str, variant: str) -> Table:
    """The data as the variant takes them: ranks instead of values where the authors' scripts have them."""
    if variant != "printed" or not TASKS[name].ranked:
        return data
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in data.x.T])
    return replace(data, x=ranks.astype(np.float64))


@lru_cache(maxsize=1)
def splits(name: str) -> list[tuple[Any, Any]]:
    """Rows for training and for testing of the five splits."""
    kind = StratifiedShuffleSplit(SPLITS, test_size=TEST_SHARE, random_state=0)
    return list(kind.split(table(name).x, table(name).y))


def schema_of(data: Table, train: Any, bounds: str) -> Schema:
    """bounds: "public", or "observed" minimum and maximum of the training records, as in the authors' scripts."""
    low, high = (data.low, data.high) if bounds == "public" else (data.x[train].min(axis=0), data.x[train].max(axis=0))
    columns = zip(data.names, low.tolist(), high.tolist(), strict=True)
    return Schema(tuple(Numeric(*column) for column in columns), data.target)


# --- Methods ----------------------------------------------------------------------------------------------------------

VARIANTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "printed": ("observed", AS_PUBLISHED),
    "public": ("public", AS_PUBLISHED),
    "repaired": ("public", {"grid": "published"}),
    "scripts": ("observed", AS_PUBLISHED),
}
"""Bounds and constants: as printed; the same with public bounds; public bounds, proved constants and exact composition;
as printed, but with the two steps of the released scripts that the text does not have (fedgbdt_scripts.py).

The repaired one keeps the printed grid of candidates, whose first one separates the records at the lower bound from the
rest: that grid costs nothing and is better on skewed features.
"""

RANDOM: Mapping[str, Any] = fedgbdt.PRESETS["DP-TR Newton"]
UPDATES = ("gradient", "averaging", "newton")
SPLIT_METHODS = ("histogram", "partially-random", "totally-random")
CANDIDATES: Mapping[str, Mapping[str, Any]] = {
    "iterative-hessian": {"rounds": 5},
    "quantiles": {"no_privacy": True},
    "log": {},
    "uniform": {},
}
BATCHED: Mapping[str, Mapping[str, Any]] = {
    "B=10": {**RANDOM, "batch": 10},
    "B=20": {**RANDOM, "batch": 20},
    "B=200": {**RANDOM, "batch": 200},
    "DP-RF": fedgbdt.PRESETS["DP-RF"],
    "B=1": RANDOM,
}
RANKED = tuple(name for name in fedgbdt.PRESETS if name not in ("DP-TR Newton", "LDP"))
RANDOM_RANKED = tuple(name for name in RANKED if fedgbdt.PRESETS[name]["splits"] == "totally-random")
EPSILONS = (0.1, 0.5, 1.0)
FIGURE_TREES = (25, 50, 100, 150, 200, 250, 300)
FIVE = ("bank_full", "give_me_some_credit", "credit_default", "adult", "nomao")


def settings(run: Run) -> dict[str, Any]:
    """The settings of a run's method, without epsilon, delta, relation and variant."""
    match run.experiment:
        case "table-4":
            return {**RANDOM, "splits": run["splits"], "update": run["update"], "trees": run["trees"]}
        case "table-5":
            return {**RANDOM, "candidates": run["candidates"], **CANDIDATES[run["candidates"]], "trees": 100}
        case "table-6":
            return {**BATCHED[run["batch"]], "trees": 200}
        case "table-7" | "figure-5":
            method = fedgbdt.PRESETS[run["method"]]
            single = method.get("features_per_tree") == 1 and method["candidates"] == "iterative-hessian"
            trees = 100 if run.experiment == "table-7" else run["trees"]
            return {**method, "trees": trees, "rounds_per_feature": single}  # s m rounds, as in Section 5.3.3
    raise ValueError(f"no experiment {run.experiment!r}")


def cells(variant: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every cell: the experiment and its settings."""
    if variant == "scripts":
        yield from (
            ("table-7", {"dataset": data, "method": method, "epsilon": epsilon})
            for epsilon in EPSILONS[1:]
            for data in TASKS
            for method in RANDOM_RANKED
        )
        return
    public = [name for name in TASKS if name != "higgs" or variant == "printed"]
    five = [name for name in FIVE if name in public]
    for data in public:
        yield from (("table-5", {"dataset": data, "candidates": c, "epsilon": 1.0}) for c in CANDIDATES)
    for data in five:
        yield from (("table-6", {"dataset": data, "batch": b, "epsilon": 0.1}) for b in BATCHED)
    for epsilon in (0.5, 1.0) if variant == "printed" else (0.5,):
        for data in five:
            for split in SPLIT_METHODS:
                for trees in (300, 200) if split == "totally-random" else (25,):
                    cell = {"dataset": data, "splits": split, "trees": trees, "epsilon": epsilon}
                    yield from (("table-4", {**cell, "update": update}) for update in UPDATES)
    for data in public:
        for epsilon in EPSILONS:
            yield from (("table-7", {"dataset": data, "method": method, "epsilon": epsilon}) for method in RANKED)
    if variant == "printed":
        for method in (*RANKED, "DP-TR Newton", "LDP"):
            for trees in FIGURE_TREES:
                yield "figure-5", {"dataset": "give_me_some_credit", "method": method, "trees": trees, "epsilon": 1.0}


def runs(repeats: int) -> list[Run]:
    """Every run; at least one on each of the five splits, RUNS=15 for the paper's 15."""
    numbers = range(max(SPLITS, repeats))
    return [
        Run.of("fedgbdt", experiment, number % SPLITS, number // SPLITS, variant=variant, **cell)
        for variant in VARIANTS
        for experiment, cell in cells(variant)
        for number in numbers
    ]


# --- One run ----------------------------------------------------------------------------------------------------------


def params_of(run: Run, rows: int) -> fedgbdt.Params:
    """The parameters of a run on so many training records: delta = 1/n."""
    method = settings(run)
    local = method.get("noise_by") == "record"
    relation = Relation.REPLACE_ONE if local else Relation.ADD_REMOVE
    given: fedgbdt.Params = published.params(
        "fedgbdt",
        epsilon=run["epsilon"],
        relation=relation,
        delta=1 / rows,
        noise="floating",
        **{**VARIANTS[run["variant"]][1], **method},
    )
    return given


def look(name: str) -> None:
    """Look whether a data set is at hand and is the one that is expected. Errors: InvalidRecords."""
    table(name)


def execute(run: Run) -> Metrics:
    """Train on the split's training part; AUC on its test part."""
    data = as_in(table(run["dataset"]), run["dataset"], run["variant"])
    train, test = splits(run["dataset"])[run.fold]
    schema = schema_of(data, train, VARIANTS[run["variant"]][0])
    params = params_of(run, len(train))
    model = model_of(run["variant"] == "scripts", params, make_records(schema, data.x[train], data.y[train]), run.seed)
    score = fedgbdt.predict(model, make_records(schema, data.x[test], data.y[test]).x)[:, 0]
    return {"auc": float(roc_auc_score(data.y[test], score))}


def program(run: Run) -> str:
    """What decides the result besides the seed: the trees that these settings grow on made-up records, as a digest."""
    return trained(run["variant"] == "scripts", replace(params_of(run, 1000), trees=8))


def model_of(scripts: bool, params: fedgbdt.Params, records: Records, seed: int) -> Model:
    """Train, or train as in the authors' scripts."""
    generator = np.random.default_rng(seed)
    if not scripts:
        return fedgbdt.train(params, records, Curator(SampleSource(generator), params.relation))
    with as_in_scripts(params, records.schema, generator) as source:
        return fedgbdt.train(params, records, Curator(source, params.relation))


@lru_cache
def trained(scripts: bool, params: fedgbdt.Params) -> str:
    """12 hexadecimal digits of the model on 200 skewed records of three features, under a fixed seed."""
    generator = np.random.default_rng(0)
    x = generator.lognormal(size=(200, 3))
    y = (x[:, 0] > x[:, 1] * generator.random(200)).astype(np.float64)
    schema = Schema(tuple(Numeric(name, 0.0, 20.0) for name in "abc"), Classes(("no", "yes")))
    model = model_of(scripts, params, make_records(schema, x, y), 1)
    return hashlib.sha256(repr(model.outputs).encode()).hexdigest()[:12]


def write(outcomes: Mapping[Run, Outcome], docs: Path) -> Path:
    """The page docs/fedgbdt.md with its figures."""
    from benchmarks.reproduce.page import fedgbdt as fedgbdt_page

    return fedgbdt_page.write(outcomes, docs)
