"""What was looked at for the papers' default settings: candidates at several strengths, on the sets of the choice.

    python -m benchmarks.defaults_choice run [--only dpboost-regression ...] [--seeds 3]
    python -m benchmarks.defaults_choice write

`run` adds what is not there yet to defaults_choice.jsonl; `write` makes docs/defaults-choice.md of it. A strength is a
number of records and an epsilon; sets that judge the choice (docs/league.md) are not looked at. "now" is the table of
defaults as it stands, "before" what it was when this program was first run, whose rows are kept.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import textwrap
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks import kept_lines
from benchmarks.grove_columns import regression
from benchmarks.league.cells import HELD_OUT, figure, loaded, trained
from benchmarks.league.targets import mean_over_sets
from refdp.data.records import Schema
from refdp.io.datasets import Dataset, train_test
from refdp.noise.calibration import total_mu
from refdp.papers import dpxgboost

KEPT = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).parent.parent / "docs" / "defaults-choice.md"
CLASSES = ("adult", "bank_full", "credit_default", "covtype_2", "higgs", "cod_rna")
REGRESSIONS = ("abalone", "king_county_house_sales", "year_prediction_msd_timbre12")
COLUMNS = (("covtype_2", 7), ("credit_default", 4), ("cod_rna", 4), ("higgs", 22), ("adult", 0), ("bank_full", 0))
"""Columns of sets of classes, predicted from the others: there are few sets of regressions."""
STRENGTHS = ((4000, 0.1), (4000, 0.25), (4000, 0.5), (4000, 1.0), (4000, 4.0), (12_000, 1.0), (12_000, 4.0))
FIRST_SEED = 900


@dataclass(frozen=True)
class Choice:
    """A paper's settings for a task. candidates: what was run; what they have in common is in `common`."""

    paper: str
    task: str
    candidates: tuple[Mapping[str, Any], ...]
    common: Mapping[str, Any]
    units: str

    @property
    def name(self) -> str:
        return f"{self.paper}-{self.task}"

    def given(self, candidate: Mapping[str, Any], rows: int, epsilon: float) -> dict[str, Any]:
        """The settings of a candidate: those in units of the noise or of rows follow from epsilon and rows."""
        found = {**self.common, **candidate}
        if "lambda e" in found:
            found["regularisation"] = found.pop("lambda e") / epsilon
        if "lambda of a leaf" in found:
            found["regularisation"] = max(found.pop("lambda of a leaf") * rows / 2 ** found["depth"], 1.0)
        if "lambda mu" in found:
            mu = total_mu(epsilon, 1e-5, "exact")
            found["regularisation"] = found.pop("lambda mu") * math.sqrt(found["trees"]) / mu
        if "least e" in found:
            found["child_minimum"] = max(20, int(found.pop("least e") / epsilon))
        if self.paper == "dpboost":
            found["trees_per_ensemble"] = found["trees"] if self.task == "classes" else 1
        return found


def _all(names: tuple[str, ...], *rows: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    return tuple(dict(zip(names, row, strict=True)) for row in rows)


AVERAGES = {"gain": "count", "gradients": "clip", "candidates": "uniform", "leaf": "average", "regularisation": 0.1}
CHOICES = (
    Choice("dpboost", "classes", _all(
        ("trees", "depth", "lambda e"),
        (1, 1, 30.0), (1, 2, 30.0), (1, 3, 30.0), (1, 4, 30.0), (2, 2, 30.0), (3, 2, 30.0), (3, 3, 30.0), (5, 2, 30.0),
        (5, 3, 30.0), (5, 3, 100.0), (5, 4, 100.0), (5, 5, 100.0), (10, 4, 100.0),
    ), {"gradients": "clip", "gradient_bound": 1.0, "candidates": "uniform", "shrinkage": 0.3},
       "one ensemble, gradients clipped to 1, uniform thresholds, shrinkage .3; lambda e is lambda times epsilon"),
    Choice("dpboost", "regression", _all(
        ("trees", "depth", "lambda of a leaf", "candidates", "bins", "gradient_bound", "shrinkage"),
        (12, 1, 0.8, "log", 8, 0.25, 0.6), (20, 1, 1.6, "log", 8, 0.25, 0.6), (5, 1, 0.3, "log", 16, 0.25, 0.95),
        (5, 1, 0.1, "log", 16, 0.25, 0.95), (12, 1, 0.1, "log", 16, 0.125, 0.95),
        (12, 2, 0.1, "log", 32, 0.125, 0.95), (12, 2, 0.1, "uniform", 32, 0.125, 0.95),
        (12, 3, 0.1, "uniform", 32, 0.125, 0.95),
    ), {"gradients": "clip"}, "ensembles of one tree; lambda of a leaf is in units of rows / 2^depth"),
    Choice("dpxgboost", "classes", _all(
        ("trees", "depth", "least e", "subsample", "shrinkage"),
        (160, 3, 1000, 0.3, 0.8), (160, 2, 1000, 0.3, 0.8), (160, 1, 1000, 0.3, 0.8), (80, 3, 700, 0.3, 0.8),
        (80, 2, 700, 0.3, 0.8), (40, 2, 500, 0.3, 0.8),
    ), {**AVERAGES, "gradient_bound": 1.0}, "least e is the least number of records of an average times epsilon"),
    Choice("dpxgboost", "regression", _all(
        ("trees", "depth", "least e", "subsample", "shrinkage", "gradient_bound", "bins", "leaf_part"),
        (160, 3, 1000, 1.0, 0.5, 0.0625, 16, 1.0), (160, 2, 500, 1.0, 0.3, 0.0625, 16, 0.5),
        (160, 2, 1000, 0.3, 0.8, 0.125, 32, 1.0), (160, 2, 1000, 0.3, 0.8, 0.0625, 32, 1.0),
        (160, 1, 1000, 0.3, 0.8, 0.125, 32, 1.0), (20, 1, 500, 1.0, 1.0, 0.125, 32, 0.5),
    ), AVERAGES, "least e is the least number of records of an average times epsilon"),
    Choice("fedgbdt", "regression", _all(
        ("trees", "depth", "lambda mu", "shrinkage", "gradient_bound", "candidates", "features_per_tree"),
        (200, 1, 100.0, 0.4, 0.5, "iterative-hessian", 1), (200, 1, 60.0, 0.4, 0.5, "iterative-hessian", 1),
        (200, 2, 60.0, 0.4, 0.5, "iterative-hessian", 1),
        (200, 2, 60.0, 0.4, 0.25, "iterative-hessian", 1), (400, 2, 60.0, 0.4, 0.25, "iterative-hessian", 1),
        (400, 3, 30.0, 0.2, 0.25, "iterative-hessian", 1), (400, 3, 30.0, 0.2, 0.25, "log", 1),
    ), {"rounds": 1, "leaf_clip": 0.5}, "lambda mu is lambda times mu over the root of the trees"),
    Choice("sgbdt", "regression", _all(
        ("trees", "depth", "lambda mu", "shrinkage", "gradient_bound", "initial_share"),
        (200, 4, 20.0, 0.5, 0.125, 0.1), (200, 5, 10.0, 0.5, 0.125, 0.05), (400, 5, 20.0, 0.5, 0.125, 0.05),
        (400, 4, 10.0, 0.5, 0.125, 0.05), (400, 4, 20.0, 0.8, 0.125, 0.1), (400, 5, 10.0, 0.5, 0.0625, 0.05),
    ), {"support_weight": 0.3}, "lambda mu is lambda times mu over the root of the trees"),
)  # fmt: skip


@contextlib.contextmanager
def budgets_kept() -> Iterator[None]:
    """DP-XGBoost's calibration for a delta takes a second, and is the same for all records and many candidates."""
    kept: dict[Any, float] = {}
    calibrated = dpxgboost.total_epsilon

    def total_epsilon(params: dpxgboost.Params, schema: Schema) -> float:
        same = replace(params, shrinkage=0.5, child_minimum=1, gradient_bound=1.0, bins=1)
        if (same, schema.scores) not in kept:
            kept[same, schema.scores] = calibrated(params, schema)
        return kept[same, schema.scores]

    with patch.object(dpxgboost, "total_epsilon", total_epsilon):
        yield


def read() -> list[dict[str, Any]]:
    """Every cell that was run."""
    return kept_lines.read(KEPT)


def sets_of(task: str) -> Iterator[tuple[str, Dataset]]:
    """Names and sets of the choice for a task."""
    for name in CLASSES if task == "classes" else REGRESSIONS:
        yield name, loaded(name)
    for name, column in () if task == "classes" else COLUMNS:
        yield f"{name} {column}", regression(name, column)


def run(only: list[str], seeds: int, label: str) -> None:
    """Add cells; a seed is a split, the records that are taken, and the noise (floating)."""
    there = {key_of(one) for one in read()}
    for choice in CHOICES:
        if only and choice.name not in only:
            continue
        for (name, whole), seed in itertools.product(sets_of(choice.task), range(FIRST_SEED, FIRST_SEED + seeds)):
            training, held_out = train_test(whole, HELD_OUT, seed)
            order = np.random.default_rng(seed).permutation(len(training.y))
            for (rows, epsilon), candidate in itertools.product(STRENGTHS, ({"table": label}, *choice.candidates)):
                row: dict[str, Any] = {"what": choice.name, "data": name, "rows": rows, "epsilon": epsilon,
                                       "seed": seed, "candidate": candidate}  # fmt: skip
                if key_of(row) in there:
                    continue
                taken = training.take(np.sort(order[:rows]))
                given = {} if "table" in candidate else choice.given(candidate, len(taken.y), epsilon)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    scores = trained(choice.paper, taken, held_out.x, epsilon, seed, noise="floating", **given)
                kept_lines.append(KEPT, {**row, "figure": round(figure(held_out, scores), 4)})


def key_of(one: Mapping[str, Any]) -> str:
    """What tells cells apart."""
    return json.dumps([one[name] for name in ("what", "data", "rows", "epsilon", "seed", "candidate")], sort_keys=True)


def table(choice: Choice, own: list[dict[str, Any]]) -> str:
    """Means over the sets with the standard error of splits and noise; the best candidate of a strength is bold."""
    cells: defaultdict[tuple[str, int, float], defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in own:
        cells[json.dumps(one["candidate"]), one["rows"], one["epsilon"]][one["data"]].append(one["figure"])
    figures = {at: mean_over_sets(by.values()) for at, by in cells.items()}
    better = max if choice.task == "classes" else min
    best = {at: better(round(figures[json.dumps(one), *at][0], 3) for one in choice.candidates) for at in STRENGTHS}
    head = " | ".join(f"{rows:,} at {epsilon:g}" for rows, epsilon in STRENGTHS)
    lines = [f"| settings | {head} |", f"|{'---|' * (len(STRENGTHS) + 1)}"]
    shown: tuple[Mapping[str, Any], ...] = ({"table": "before"}, {"table": "now"}, *choice.candidates)
    for listed in shown:
        said = []
        for at in STRENGTHS:
            mean, error = figures[json.dumps(listed), *at]
            bold = "**" if "table" not in listed and round(mean, 3) == best[at] else ""
            said.append(f"{bold}{mean:.3f}{bold} ± {error:.3f}")
        lines.append(f"| {in_words(listed)} | {' | '.join(said)} |")
    return "\n".join(lines)


def in_words(candidate: Mapping[str, Any]) -> str:
    """A candidate as the page calls it."""
    if "table" in candidate:
        return f"the table of defaults, {candidate['table']}"
    return ", ".join(f"{name} {'all' if value is None else value}" for name, value in candidate.items())


TEXT = """# What the papers' default settings were chosen from

{verdict}

| question | answer |
|---|---|
| what the defaults are | [the table](defaults.md) |
| how they do where they were not chosen | [the league](league.md), whose other sets judge |
| figures | [by paper and task](#dpboost-classes) |

Generated by `python -m benchmarks.defaults_choice write`. Settings that were good in a random search over coarse values
(50 to 70 for a paper and task, one seed, floating noise) and changes of them were run here with other seeds, on 4,000
and 12,000 records, or all there are, of the sets of the choice; "adult 0" is the first column of adult, predicted from
the others. AUC, higher is better, or RMSE over the deviation of the held-out labels, lower is better; means over sets,
± the standard error over splits and noise. The best candidate of a strength is bold. What the table takes follows the
best in coarse steps of rows e or rows mu. For few rows it was held against made-up regressions as well
(`python -m benchmarks.made_up`): a rule that is good on these sets can be far off where labels are skewed.

{tables}
"""


def write() -> None:
    """The page."""
    changes: dict[str, list[str]] = {"classes": [], "regression": []}
    parts, kept = [], read()
    for choice in CHOICES:
        name, own = NAMES[choice.paper], [one for one in kept if one["what"] == choice.name]
        before, now = (
            np.mean([one["figure"] for one in own if one["candidate"].get("table") == label])
            for label in ("before", "now")
        )
        changes[choice.task].append(f"{name}'s {before:.3f} to {now:.3f}")
        sets, seeds = list(dict.fromkeys(one["data"] for one in own)), len({one["seed"] for one in own})
        said = textwrap.fill(f"Of {len(sets)} sets ({', '.join(sets)}), {seeds} seeds; {choice.units}.", 120)
        parts.append(f"## {name}, {choice.task}\n\n{said}\n\n{table(choice, own)}")
    auc, errors = (", ".join(changes[task]) for task in ("classes", "regression"))
    verdict = f"**Over all strengths looked at the mean AUC went from {auc}; mean errors from {errors}.**"
    page = TEXT.format(verdict=textwrap.fill(verdict, 120), tables="\n\n".join(parts))
    PAGE.write_text(page, encoding="utf-8")


NAMES = {"dpboost": "DPBoost", "dpxgboost": "DP-XGBoost", "fedgbdt": "FedGBDT", "sgbdt": "S-GBDT"}


def main() -> None:
    """Run or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "write"])
    parser.add_argument("--only", nargs="*", default=[], help="names of choices")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--label", default="now", choices=["before", "now"])
    options = parser.parse_args()
    if options.command == "write":
        write()
        return
    with budgets_kept():
        run(options.only, options.seeds, options.label)


if __name__ == "__main__":
    main()
