"""InPrivate Digging (Zhao et al. 2018): section VII, on Adult and King County house sales, with real messages.

Every run is Algorithm 2 among owners behind their own doors. Its curve has the error after each tree, or each round.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproduce.runs import Metrics, Outcome, Run
from benchmarks.reproduce.runs.program import digest
from refdp.data.records import Interval, Records
from refdp.faces.training import source_for
from refdp.io import datasets
from refdp.io.datasets import Dataset
from refdp.papers import inprivate, published
from refdp.papers.published.inprivate import AS_PUBLISHED
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.protocols.journal import MemoryJournal
from refdp.protocols.messages import Turn
from refdp.protocols.owners import Owner, rules_of
from refdp.protocols.quality import errors, scores_by
from refdp.protocols.rounds import conduct

MODULES = ("refdp.papers.inprivate", "refdp.papers.published.inprivate", "refdp.protocols.quality",
           __name__)  # fmt: skip
FOLDS = 5
DATA = {"adult": "Adult, error rate", "king_county_house_sales": "King County house sales, MAE"}
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "repaired": {},
    "no privacy": {"scheme": "np"},
    "printed": {**AS_PUBLISHED, "depth": 10},
    "printed, no privacy": {"scheme": "np", "candidates": "triples", "depth": 10, "shrinkage": 1.0},
}
OWNERS, EACH = 20, 1_000
SIZES = (100, 500, 1_000, 1_500, 2_000)
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
ROUNDS = 4


@lru_cache(maxsize=2)
def parts(name: str, repeat: int) -> list[tuple[Dataset, Dataset]]:
    """Training and test parts of all folds; every repeat shuffles anew."""
    return list(datasets.folds(datasets.load(name), FOLDS, seed=repeat))


def runs(repeats: int) -> list[Run]:
    """Every cell of section VII, fold by fold."""
    cells: list[tuple[str, dict[str, Any]]] = []
    for variant in VARIANTS:
        cells.append(("participants", {"variant": variant, "owners": OWNERS, "each": EACH, "epsilon": 1.0}))
        cells += [("size", {"variant": variant, "owners": 10, "each": each, "epsilon": 1.0}) for each in SIZES]
        cells.append(("rounds", {"variant": variant, "owners": 5, "each": 2_000, "epsilon": 1.0, "rounds": ROUNDS}))
        if "no privacy" not in variant:
            cells += [("budget", {"variant": variant, "owners": OWNERS, "each": EACH, "epsilon": e}) for e in EPSILONS]
    return [
        Run.of("inprivate", experiment, fold, repeat, dataset=name, **cell)
        for repeat in range(repeats) for experiment, cell in cells for name in DATA for fold in range(FOLDS)
    ]  # fmt: skip


def params_for(run: Run) -> inprivate.Params:
    """The parameters of a run."""
    settings = {**VARIANTS[run["variant"]], "rounds": dict(run.cell).get("rounds", 1)}
    made: inprivate.Params = published.params(
        "inprivate", epsilon=run["epsilon"], relation=Relation.ADD_REMOVE, owners=run["owners"],
        **({"noise": "floating"} | settings),
    )  # fmt: skip
    return made


def dealt(run: Run) -> tuple[list[Records], Records]:
    """Each owner's records, run["each"] of them or as many as there are, and those to test on."""
    training, test = parts(run["dataset"], run.repeat)[run.fold]
    each = min(run["each"], len(training.y) // run["owners"])
    order = np.random.default_rng(run.seed).permutation(len(training.y))
    slices = (order[i * each : (i + 1) * each] for i in range(run["owners"]))
    return [training.take(rows).records() for rows in slices], test.records()


def look(name: str) -> None:
    """Look whether a data set is at hand and is the one that is expected. Errors: InvalidRecords."""
    parts(name, 0)


def execute(run: Run) -> Metrics:
    """Train, then measure after every turn (experiment "rounds": after every round)."""
    params, (records, test) = params_for(run), dealt(run)
    rules = rules_of(params, test.schema)
    seeds = np.random.default_rng([run.seed, 1]).spawn(params.owners)
    with ExitStack() as doors:
        owners = [
            Owner.behind(doors, rules, params, position, part, Curator(source_for(params, seed), params.relation),
                         MemoryJournal(), broadcast=True)
            for position, (part, seed) in enumerate(zip(records, seeds, strict=True))
        ]  # fmt: skip
        outcome = conduct(params, rules, owners, broadcast=True)
    trees = outcome.model.outputs[0].trees
    per_point = params.owners if run.experiment == "rounds" else 1
    return {"curve": curve(params, test, trees)[per_point - 1 :: per_point], "each": records[0].size}


def curve(params: inprivate.Params, test: Records, trees: Any) -> list[float]:
    """Error rate, or mean absolute error of labels in [-1, 1], after each tree."""
    found, scores = [], np.zeros((1, test.size))
    for tree in trees:
        scores = scores + scores_by(params, test, [Turn(0, 0, (tree,))])
        shown = np.clip(scores, -1, 1) if isinstance(test.schema.target, Interval) else scores
        found.append(round(float(np.abs(errors(test, shown)).mean()), 6))
    return found


def program(run: Run) -> str:
    """What decides the result besides the seed: the modules that train, and the parameters."""
    return digest(MODULES, repr(params_for(run)))


def write(outcomes: Mapping[Run, Outcome], docs: Path) -> Path:
    """The page and its figures."""
    from benchmarks.reproduce.page import inprivate as inprivate_page

    return inprivate_page.write(outcomes, docs)
