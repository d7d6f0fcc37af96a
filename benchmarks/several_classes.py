"""What one budget for all classes is worth: columns of the shared sets with three classes and more.

    python -m benchmarks.several_classes          # adds what is not there to benchmarks/several_classes.jsonl
    python -m benchmarks.several_classes write    # the table, on docs/defaults.md

One shared set has more than two classes, and it is a judge. So columns are predicted from the other columns: those with
categories, and numbers in bands. `TARGETS`, bands and all, was written down before anything was run on any of them.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks import kept_lines
from benchmarks.league.cells import HELD_OUT, figure, loaded, subset, trained
from refdp.data.records import Categorical, Classes, Numeric
from refdp.faces import defaults
from refdp.io.datasets import Dataset, train_test

KEPT = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "defaults.md"
TARGETS: Mapping[tuple[str, str], tuple[float, ...]] = {
    ("adult", "relationship"): (), ("adult", "age"): (30, 40, 50), ("bank_full", "job"): (),
    ("bank_full", "education"): (), ("credit_default", "EDUCATION"): (), ("abalone", "Sex"): (),
    ("abalone", "Rings"): (8, 10, 12), ("nomao", "city_equality"): (),
    ("king_county_house_sales", "price"): (300_000, 450_000, 650_000),
    ("year_prediction_msd_timbre12", "Year"): (1980, 1990, 2000),
}  # fmt: skip
"""Set and column; where bands of numbers begin but the first, none for categories."""
ROWS = 12_000
EPSILONS, SEEDS = (0.1, 0.5, 2.0), (0, 1)


RULES: Mapping[tuple[str, str], tuple[Mapping[str, Any], bool]] = {
    ("fedgbdt", "divided"): ({"one_vs_rest": "divided"}, True),
    ("fedgbdt", "together"): ({"one_vs_rest": "together"}, False),
    ("sgbdt", "divided"): ({}, True),
    ("sgbdt", "together"): ({}, False),
}
"""What is given besides the budget, and whether the table of defaults takes the mu of a divided one."""


def classes(name: str, column: str) -> Dataset:
    """The set with this column as classes, without the records that lack it, of the classes with a hundredth."""
    whole, bands = loaded(name), TARGETS[name, column]
    if column == whole.target_name:
        x, features, values = whole.x, whole.features, whole.y
    else:
        place = [one.name for one in whole.features].index(column)
        what = whole.features[place]
        assert isinstance(what, Numeric if bands else Categorical)
        there = np.isfinite(whole.x[:, place]) & (whole.x[:, place] >= 0)
        values = whole.x[there, place]
        x, features = np.delete(whole.x[there], place, axis=1), whole.features[:place] + whole.features[place + 1 :]
    places = np.digitize(values, bands) if bands else values.astype(int)
    common = [one for one in np.unique(places) if np.mean(places == one) >= 0.01]
    kept = np.isin(places, common)
    return replace(whole, x=x[kept], y=np.searchsorted(common, places[kept]).astype(float), features=features,
                   target=Classes(tuple(str(one) for one in range(len(common)))), target_name=column)  # fmt: skip


def run() -> None:
    """Add what is not there: mean AUC of a class against the rest, floating noise."""
    there = {(one["data"], one["column"], one["epsilon"], one["seed"], one["paper"], one["rule"])
             for one in kept_lines.read(KEPT)}  # fmt: skip
    for seed, (name, column), epsilon, (paper, rule) in itertools.product(SEEDS, TARGETS, EPSILONS, RULES):
        if (name, column, epsilon, seed, paper, rule) in there:
            continue
        training, held_out = train_test(subset(classes(name, column), ROWS, seed), HELD_OUT, seed)
        given, divided = RULES[paper, rule]
        mu = defaults.Public.divided_mu if divided else defaults.Public.mu
        with warnings.catch_warnings(), patch.multiple(defaults.Public, mu=mu, divided_mu=mu):
            warnings.simplefilter("ignore")
            scores = trained(paper, training, held_out.x, epsilon, seed, noise="floating", **given)
        found: dict[str, Any] = {
            "data": name, "column": column, "classes": training.schema(True).scores, "epsilon": epsilon, "seed": seed,
            "paper": paper, "rule": rule, "figure": round(figure(held_out, scores), 5),
        }  # fmt: skip
        kept_lines.append(KEPT, found)
        print(found, flush=True)


def rows() -> Iterator[str]:
    """The table: means over the seeds, divided beside together."""
    cells, papers = kept_lines.read(KEPT), ("fedgbdt", "sgbdt")
    pairs = list(itertools.product(papers, EPSILONS))
    yield "| set, column | classes | " + " | ".join(f"{paper} at {one:g}" for paper, one in pairs) + " |"
    yield "|---" * (2 + len(pairs)) + "|"
    for name, column in TARGETS:
        own = [one for one in cells if (one["data"], one["column"]) == (name, column)]
        told = [" / ".join(f"{mean(own, *pair, rule):.3f}" for rule in ("divided", "together")) for pair in pairs]
        yield f"| {name}, {column} | {own[0]['classes']} | " + " | ".join(told) + " |"
    of_all = [" / ".join(f"{mean(cells, *pair, rule):.3f}" for rule in ("divided", "together")) for pair in pairs]
    yield "| all | | " + " | ".join(of_all) + " |"


def mean(cells: list[dict[str, Any]], paper: str, epsilon: float, rule: str) -> float:
    """Over seeds, and columns where there are several."""
    found = [one["figure"] for one in cells if (one["paper"], one["epsilon"], one["rule"]) == (paper, epsilon, rule)]
    return float(np.mean(found))


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        kept_lines.write_between(PAGE, "python -m benchmarks.several_classes write", rows())
    else:
        run()
