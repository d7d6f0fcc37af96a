"""What Grove is worth on sets that took no part in the choice of its settings, and against S-BDT's published table.

    python -m benchmarks.grove_choice run [--minutes 40]    # adds what is not there to benchmarks/grove_choice.jsonl
    python -m benchmarks.grove write                        # the tables, on docs/grove.md

Looked at were the defaults and one change of them at a time (`CHANGES`). For a set that judges, the settings are those
of the best mean over all other sets of its task and epsilon .1, 1 and 4; then the set judged them once, with other
seeds. S-BDT's protocol (Kirschte, Peinemann et al. 2023, section 6): five folds, delta 5e-8; settings of the best mean
without Abalone and without Adult. Last, Adult with its tuning paid for: `refdp.select` among `TUNED`, .5 in all.

The defaults that are changed took part in other choices, which docs/grove.md lists; the choice among these changes
did not look at the set that judges.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import refdp
from benchmarks import kept_lines
from benchmarks.league.cells import BINARY, HELD_OUT, REGRESSION, figure, loaded, rounded, trained
from benchmarks.reproduce.study.sgbdt import FOLDS, parts
from benchmarks.reproduce.study.sgbdt_variants import DELTA, EPSILONS
from refdp.data.records import Classes, Numeric, Schema
from refdp.io.datasets import Dataset, train_test
from refdp.own.grove import Params
from refdp.privacy.events import Relation

KEPT = Path(__file__).with_suffix(".jsonl")
LEAGUE = Path(__file__).parent / "league" / "runs.jsonl"
MAIN = (0.1, 1.0, 4.0)
JUDGING = (1, 2, 3, 4, 5)
"""Seeds of the judging runs; the choice has seeds from 100 on."""
CHOOSING = {"classes": (100,), "regression": (100, 101)}
PUBLISHED: Mapping[str, tuple[float, ...]] = {
    "abalone": (2.92, 2.754, 2.664, 2.62, 2.582),
    "adult": (0.787, 0.831, 0.849, 0.876, 0.893),
}
"""S-BDT's table, at `EPSILONS`: RMSE in rings, and AUC."""
TUNED: Sequence[Mapping[str, Any]] = ({}, {"trees": 600}, {"depth": 5}, {"explore": 1.0})
"""Candidates of the private selection, not chosen by anything that was seen of Adult."""
RUN_EPSILON, SCORE_EPSILON, MEAN_RUNS, ALLOWED = 0.308, 0.01, 2.0, 0.5
"""Of each run and each score, and the mean number of runs: what `selection_epsilon` leaves room for below ALLOWED."""
Settings = Mapping[str, Any]
CHANGES: Mapping[str, Callable[[Params, Schema], Settings]] = {
    "defaults": lambda usual, schema: {},
    "half the trees": lambda usual, schema: {"trees": usual.rounds(schema) // 2},
    "twice the trees": lambda usual, schema: {"trees": 2 * usual.rounds(schema)},
    "a level less": lambda usual, schema: {"depth": usual.levels(schema) - 1},
    "a level more": lambda usual, schema: {"depth": usual.levels(schema) + 1},
    "step .3": lambda usual, schema: {"shrinkage": 0.3},
    "step .8": lambda usual, schema: {"shrinkage": 0.8},
    "x times .7": lambda usual, schema: {"score_noise": 0.7 * usual.noise_of_score(schema)},
    "x times 1.4": lambda usual, schema: {"score_noise": 1.4 * usual.noise_of_score(schema)},
    "no first pass": lambda usual, schema: {"feature_share": 0.0},
    "first pass times 1.5": lambda usual, schema: {"feature_share": 1.5 * usual.first_part(schema)},
    "16 thresholds": lambda usual, schema: {"bins": 16},
    "5% for thresholds": lambda usual, schema: {"threshold_share": 0.05},
    "start times .5": lambda usual, schema: {"start_share": 0.5 * usual.shares(schema)[1]},
    "start times 2": lambda usual, schema: {"start_share": 2 * usual.shares(schema)[1]},
    "explore .25": lambda usual, schema: {"explore": 0.25},
    "explore 1": lambda usual, schema: {"explore": 1.0},
}
"""One change of the defaults each; the defaults follow from public figures, so that changes do."""


def settings(change: str, training: Dataset, epsilon: float, delta: float = 1e-5) -> Settings:
    """Of one change, for this set."""
    usual = Params(epsilon, Relation.ADD_REMOVE, delta=delta, rows=rounded(len(training.y)))
    return CHANGES[change](usual, training.schema(allow_observed=True))


def task(name: str) -> str:
    """ "classes" (of two) or "regression"."""
    return "regression" if name in REGRESSION else "classes"


def of_task(name: str) -> tuple[str, ...]:
    """All sets of its task."""
    return REGRESSION if name in REGRESSION else BINARY


def cell(data: str, change: str, epsilon: float, seed: int) -> dict[str, Any]:
    """One run of the league's protocol."""
    training, held_out = train_test(loaded(data), HELD_OUT, seed)
    scores = trained("grove", training, held_out.x, epsilon, seed, **settings(change, training, epsilon))
    return {"figure": round(figure(held_out, scores), 5)}


def fold(data: str, change: str, epsilon: float, repeat: int, number: int) -> dict[str, Any]:
    """One run of S-BDT's protocol: RMSE in the label's unit, or AUC."""
    training, held_out = parts(data, repeat)[number]
    own = settings(change, training, epsilon, DELTA)
    scores = trained("grove", training, held_out.x, epsilon, FOLDS * repeat + number, delta=DELTA, **own)
    found = figure(held_out, scores) * (float(np.std(held_out.y)) if data == "abalone" else 1.0)
    return {"figure": round(found, 5)}


def tuned(data: str, repeat: int, number: int) -> dict[str, Any]:
    """A private selection on a fold's training part, the AUC on its test part, and what all of it costs at 1e-5."""
    training, held_out = parts(data, repeat)[number]
    bounds = {f.name: (f.low, f.high) if isinstance(f, Numeric) else list(f.categories) for f in training.features}
    assert isinstance(training.target, Classes)
    public: dict[str, Any] = {
        "epsilon": RUN_EPSILON, "rows": rounded(len(training.y)), "bounds": bounds, "relation": "add-remove",
        "classes": list(training.target.values),
    }  # fmt: skip
    candidates = [refdp.GroveClassifier(**public, **one, insecure_seed=refdp.ReproducibleSeed(number)) for one in TUNED]
    found = refdp.select(candidates, pd.DataFrame(training.columns()), training.labels(),
                         score_epsilon=SCORE_EPSILON, mean_runs=MEAN_RUNS,
                         insecure_seed=refdp.ReproducibleSeed(FOLDS * repeat + number))  # fmt: skip
    if found.epsilon > ALLOWED:
        raise ValueError(f"the selection costs {found.epsilon}")
    scores = found.estimator.predict_proba(pd.DataFrame(held_out.columns()))[:, 1]
    return {"candidate": found.index, "epsilon": found.epsilon, "figure": round(figure(held_out, scores), 5)}


def chosen(without: Sequence[str], of: Sequence[str], there: Sequence[Mapping[str, Any]]) -> str:
    """The change of the best mean over the other sets, of those that were run on all of them."""
    sets = [one for one in of if one not in without]
    wanted = {(one, epsilon, seed) for one in sets for epsilon in MAIN for seed in CHOOSING[task(of[0])]}
    means = {}
    for change in CHANGES:
        own = {(one["data"], one["epsilon"], one["seed"]): one["figure"] for one in there
               if one["what"] == "cell" and one["change"] == change}  # fmt: skip
        if wanted <= own.keys():
            means[change] = float(np.mean([own[key] for key in sorted(wanted)]))
    best = min if of[0] in REGRESSION else max
    return best(means, key=lambda change: means[change])


Job = tuple[Callable[..., dict[str, Any]], dict[str, Any]]


def choosing() -> Iterator[Job]:
    """The runs that choices follow from."""
    for sets, change in itertools.product((REGRESSION, BINARY), CHANGES):
        for data, epsilon in itertools.product(sets, MAIN):
            for seed in CHOOSING[task(data)]:
                yield cell, {"data": data, "change": change, "epsilon": epsilon, "seed": seed}


def judging(there: Sequence[Mapping[str, Any]]) -> Iterator[Job]:
    """Runs of what was chosen, and of the defaults by S-BDT's protocol."""
    for repeat, data, number in itertools.product(range(3), PUBLISHED, range(FOLDS)):
        without = chosen(tuple(PUBLISHED), of_task(data), there)
        for epsilon, change in itertools.product(EPSILONS[data], dict.fromkeys(("defaults", without))):
            yield fold, {"data": data, "change": change, "epsilon": epsilon, "repeat": repeat, "number": number}
    for seed, data, epsilon in itertools.product(JUDGING, (*REGRESSION, *BINARY), MAIN):
        change = chosen((data,), of_task(data), there)
        yield cell, {"data": data, "change": change, "epsilon": epsilon, "seed": seed}
    for number in range(FOLDS):
        yield tuned, {"data": "adult", "repeat": 0, "number": number}


def wanted() -> Iterator[Job]:
    """Runs in order: what is chosen from, and then what judges."""
    yield from choosing()
    yield from judging(kept_lines.read(KEPT))


def run(minutes: float) -> None:
    """Add what is not there."""
    end = time.monotonic() + 60 * minutes
    there = kept_lines.read(KEPT)
    for what, arguments in wanted():
        if any(one["what"] == what.__name__ and arguments.items() <= one.items() for one in there):
            continue  # of this call's beginning: nothing comes twice within one
        if time.monotonic() > end:
            sys.exit("out of time; what was run is kept")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = {"what": what.__name__, **arguments, **what(**arguments)}
        kept_lines.append(KEPT, found)
        print(found, flush=True)


# --- The page's tables ------------------------------------------------------------------------------------------------


def told(figures: Sequence[float]) -> str:
    """Mean and standard error, of a single run its figure."""
    if len(figures) == 1:
        return f"{figures[0]:.3f}"
    return f"{np.mean(figures):.3f} ± {np.std(figures, ddof=1) / len(figures) ** 0.5:.3f}"


def judged() -> Iterator[str]:
    """For each set the change that the others choose, and its figures beside those of the defaults in the league."""
    there = kept_lines.read(KEPT)
    league = kept_lines.read(LEAGUE)
    yield "| set | chosen without it | " + " | ".join(f"at {one:g}, chosen / defaults" for one in MAIN) + " |"
    yield "|---" * (2 + len(MAIN)) + "|"
    for data in (*BINARY, *REGRESSION):
        change, cells = chosen((data,), of_task(data), there), []
        for epsilon in MAIN:
            key = {"data": data, "epsilon": epsilon}
            own = [one["figure"] for one in there if one["what"] == "cell" and one["seed"] in JUDGING
                   and {**key, "change": change}.items() <= one.items()]  # fmt: skip
            usual = [one["figure"] for one in league if {**key, "method": "grove"}.items() <= one.items()]
            cells.append(f"{told(own) if len(own) > 1 else 'not run'} / {told(usual)}")
        yield f"| {data} | {change} | " + " | ".join(cells) + " |"


def beside_published() -> Iterator[str]:
    """Grove under S-BDT's protocol, beside its table."""
    there = kept_lines.read(KEPT)
    yield "| set | epsilon | S-BDT, published | Grove's defaults | runs | | chosen without the two | runs | |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for data, figures in PUBLISHED.items():
        change = chosen(tuple(PUBLISHED), of_task(data), there)
        for epsilon, published in zip(EPSILONS[data], figures, strict=True):
            cells = []
            for what in ("defaults", change):
                key = {"what": "fold", "data": data, "change": what, "epsilon": epsilon}
                own = [one["figure"] for one in there if key.items() <= one.items()]
                ahead = bool(own) and (np.mean(own) < published if data == "abalone" else np.mean(own) > published)
                said = "ahead" if ahead else "behind" if own else "not run"
                cells.append(f"{told(own) if len(own) > 1 else ''} | {len(own)} | {said}")
            yield f"| {data} | {epsilon:g} | {published:g} | {cells[0]} | {cells[1]} |"


def choices() -> str:
    """What was chosen without Abalone and Adult."""
    there = kept_lines.read(KEPT)
    return " and ".join(f"{chosen(tuple(PUBLISHED), of_task(one), there)} ({task(one)})" for one in PUBLISHED)


def paid() -> str:
    """Adult with its tuning paid for."""
    own = [one for one in kept_lines.read(KEPT) if one["what"] == "tuned"]
    figures, cost = [one["figure"] for one in own], max(one["epsilon"] for one in own)
    return f"AUC {told(figures)} over {len(own)} folds; each selection costs epsilon {cost:.4f} at delta 1e-5"


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run"])
    parser.add_argument("--minutes", type=float, default=1e6)
    run(parser.parse_args().minutes)


if __name__ == "__main__":
    main()
