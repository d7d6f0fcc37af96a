"""DP-XGBoost 0.2.10 on small made-up tables: what decides that a node splits, what a leaf holds, who is sampled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.packages.checks import Check
from refdp.audit.adapters.dpxgboost import Job, Trained, train_all
from refdp.audit.structural_samples import needed
from refdp.data.records import Floats

DATA = "200 made-up records"
LOW, HIGH = np.zeros(1), np.ones(1)
X: Floats = (np.arange(200) % 2).astype(float)[:, np.newaxis]
"""One feature with two values."""
STUMP: dict[str, Any] = {
    "objective": "reg:squarederror",
    "tree_method": "approxDP",
    "dp_epsilon_per_tree": 0.5,
    "max_depth": 1,
    "lambda": 1.0,
    "base_score": 0.5,
    "learning_rate": 1.0,
    "min_child_weight": 1,
    "nthread": 1,
    "verbosity": 0,
}
OUTLIER = 1e6
WITNESS = """import json, numpy as np, dp_xgboost as xgb

x = (np.arange(200.0) % 2).reshape(-1, 1)
settings = {"tree_method": "approxDP", "dp_epsilon_per_tree": 1e4, "max_depth": 1, "min_child_weight": 50,
            "lambda": 1.0, "learning_rate": 1.0, "nthread": 1, "objective": "reg:squarederror", "base_score": 0.5}
for label in (0.4, 1e6):
    y = np.where(x[:, 0] > 0, 0.6, 0.4)
    y[0] = label
    xgb.train(settings, xgb.DMatrix(x, label=y, feature_min=[0.0], feature_max=[1.0]), 1).save_model("model.json")
    tree = json.load(open("model.json"))["learner"]["gradient_booster"]["model"]["trees"][0]
    print(tree["split_conditions"])
"""
"""With dp-xgboost alone: the right leaf follows one label of the left one."""
MASKS = 8


def more(package: str, budget: str) -> Iterator[Check]:
    """Checks of `package` against the statement `budget`."""
    yield _gain(package, budget)
    yield _outlier(package, budget)
    yield _mask(package, budget)


def _gain(package: str, budget: str) -> Check:
    """All gradients 0, or one that is not."""
    calls = needed(STUMP["dp_epsilon_per_tree"], 1e-9)
    still, moved = np.full(len(X), 0.5), np.full(len(X), 0.5)
    moved[0] = 0.95
    _, trained = train_all([Job(X, y, LOW, HIGH, 1, STUMP, tick) for tick in range(calls) for y in (still, moved)])
    splits = [sum(_leaves(one) > 1 for one in trained[place::2]) for place in range(2)]
    evidence = (
        f"all gradients 0: the root splits in {splits[0]} of {calls} runs; one label moved from 0.5 to 0.95: in "
        f"{splits[1]} of {calls} (a chosen split with gain 1e-6 or less makes a leaf, "
        "src/tree/updater_histmaker.cc:1417)"
    )
    found = splits == [0, calls]
    question = "is a node a leaf where the exact gain of the chosen split is 0?"
    return Check(package, DATA, question, "found" if found else "not found", "trees[0]", evidence, budget)


def _outlier(package: str, budget: str) -> Check:
    """One label of a million at a budget that leaves hardly any noise."""
    settings = STUMP | {"dp_epsilon_per_tree": 1e4, "min_child_weight": 50}
    plain = np.where(X[:, 0] > 0, 0.6, 0.4)
    high = plain.copy()
    high[0] = OUTLIER  # a record of the left child
    _, trained = train_all([Job(X, y, LOW, HIGH, 1, settings) for y in (plain, high)])
    leaves = [_values(one) for one in trained]
    change = float(np.max(np.abs(np.subtract(*leaves))))
    declared = 2 / (settings["min_child_weight"] + 1 + settings["lambda"])
    evidence = (
        f"a record of the left child with label {OUTLIER:g}: leaves {leaves[0]} become {leaves[1]}; the code declares "
        f"{declared:.4g} for one record (line 1334), a leaf changes by {change:.3g}, {change / declared:.3g} times as "
        "much: the filter leaves the record out of histograms, but not out of the node's sum (line 1241), from which "
        "the right child is what the left child is not"
    )
    question = "does a gradient that is filtered out reach node statistics and leaves?"
    found = change > 2 * declared
    where = "trees[0].split_conditions"
    return Check(package, DATA, question, "found" if found else "not found", where, evidence, budget)


def _mask(package: str, budget: str) -> Check:
    """Runs in different seconds, without a seed, with half of the records sampled."""
    settings = STUMP | {"subsample": 0.5}
    labels = np.random.default_rng(0).uniform(size=len(X))
    _, trained = train_all([Job(X, labels, LOW, HIGH, 1, settings, tick) for tick in range(MASKS)])
    seen = {json.dumps([one.trees[0]["sum_hessian"][0], one.trees[0]["base_weights"][0]]) for one in trained}
    evidence = (
        f"subsample = 0.5, no seed, labels that tell records apart: {len(seen)} different root of {MASKS} runs in "
        f"different seconds, number of records and weight {', '.join(sorted(seen))}: the sample is the same in every "
        "run, so that everyone knows who is in it, and γ in the budget's formula is 1 for them"
    )
    question = "are the sampled records secret?"
    found = len(seen) == 1
    return Check(package, DATA, question, "found" if found else "not found", "trees[0]", evidence, budget)


def _leaves(one: Trained) -> int:
    return one.trees[0]["left_children"].count(-1)


def _values(one: Trained) -> list[float]:
    tree = one.trees[0]
    pairs = zip(tree["split_conditions"], tree["left_children"], strict=True)
    return [round(float(value), 3) for value, child in pairs if child == -1]
