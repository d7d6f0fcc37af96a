"""DP-XGBoost 0.2.10: structural checks of the model file that `Booster.save_model` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.packages.checks import Check, Table, from_structure, table
from refdp.audit.adapters.dpxgboost import Job, train_all, trees
from refdp.audit.structural import inspect_samples
from refdp.audit.structural_samples import Samples, needed
from refdp.audit.structural_state import leaves

PACKAGE = "dp-xgboost"
VERSION = "0.2.10"
BUDGET = (
    "README: “the total privacy consumption of the boosted trees is given by n log(1 + γ(e^ε − 1))” with ε = "
    "dp_epsilon_per_tree; “The privacy queries used during training are stored in the model and accessible via "
    "booster.save_model()”"
)
CALLS = 120
ROUNDS = 2
SETTINGS: dict[str, Any] = {
    "objective": "reg:squarederror",
    "tree_method": "approxDP",
    "dp_epsilon_per_tree": 0.5,
    "max_depth": 3,
    "lambda": 0.1,
    "base_score": 0.5,
    "subsample": 1.0,
    "min_child_weight": 50,
    "nthread": 1,
    "verbosity": 0,
}


def checks() -> Iterator[Check]:
    """Everything that is asked of DP-XGBoost, on Adult and Abalone (labels scaled to [0, 1])."""
    for name in ("adult", "abalone"):
        data = _scaled(table(name, 1000))
        yield from _model_file(data)
        yield _default_seed(data)
        yield _threshold(data)


def _scaled(data: Table) -> Table:
    low, high = data.target
    return Table(data.name, data.x, (data.y - low) / (high - low), data.low, data.high, (0.0, 1.0))


def _states(data: Table, sides: Sequence[Any], calls: int, seeded: bool, **settings: Any) -> Samples:
    """Flat model files of `calls` trainings on each side, all seeds different, in one process."""
    jobs = [
        Job(
            x,
            y,
            data.low,
            data.high,
            ROUNDS,
            {**SETTINGS, **settings} | ({"seed": 1 + calls * side + run} if seeded else {}),
        )
        for side, (x, y) in enumerate(sides)
        for run in range(calls)
    ]
    version, models = train_all(jobs)
    assert version == VERSION, version
    states = [leaves({"trees": [_published(tree) for tree in trees(model)], "rest": _rest(model)}) for model in models]
    return Samples(states[:calls], states[calls:])


def _published(tree: dict[str, Any]) -> dict[str, Any]:
    """One tree, its arrays of numbers only."""
    return {name: value for name, value in tree.items() if isinstance(value, list)}


def _rest(model: dict[str, Any]) -> str:
    return json.dumps(model["learner"]["learner_model_param"], sort_keys=True)


def _model_file(data: Table) -> Iterator[Check]:
    """Two trees, 120 seeds a side, one record removed."""
    pair = (data.rows, data.without(0))
    found = inspect_samples(_states(data, pair, CALLS, seeded=True), pair, epsilon=1.0)
    for question, kinds, places in (
        ("model file: exact number of records in a node (sum_hessian)", ("exact statistic",), "sum_hessian"),
        ("model file: unnoised weight of a node (base_weights = -G/(H+λ))", ("exact statistic",), "base_weights"),
        ("model file: noisy leaf values that share a draw", ("reused noise",), "split_conditions"),
        ("model file: outputs possible on one side only", ("support",), ""),
    ):
        yield from_structure(PACKAGE, data.name, question, found, kinds, BUDGET, places=places, calls=CALLS)
    yield _exact_leaves(data)


def _exact_leaves(data: Table) -> Check:
    """Leaves' noisy values stand beside the exact sums that they hide."""
    settings = {**SETTINGS, "seed": 3}
    _, models = train_all([Job(data.x, data.y, data.low, data.high, 1, settings)])
    tree = trees(models[0])[0]
    residual = SETTINGS["base_score"] - data.y
    nodes = [_rows(tree, data.x, node) for node in range(len(tree["base_weights"]))]
    leaf = [node for node, child in enumerate(tree["left_children"]) if child == -1]
    exact = [-float(residual[rows].sum()) / (rows.sum() + SETTINGS["lambda"]) for rows in nodes]
    near = [abs(exact[node] - tree["base_weights"][node]) < 1e-5 for node in leaf]
    noisy = [abs(0.3 * exact[node] - tree["split_conditions"][node]) for node in leaf]
    evidence = (
        f"{sum(near)} of {len(leaf)} leaves hold base_weights equal to -G/(H+λ) of their records to 1e-5, beside noisy "
        f"values that differ by up to {max(noisy):.3g}; sums of sum_hessian are exact counts: "
        f"{sum(rows.sum() == tree['sum_hessian'][node] for node, rows in enumerate(nodes))} of {len(nodes)} nodes"
    )
    question = "model file: are the exact sums under the noisy leaves in it?"
    where = "trees[i].base_weights, trees[i].sum_hessian"
    return Check(PACKAGE, data.name, question, "found" if all(near) else "not found", where, evidence, BUDGET)


def _rows(tree: dict[str, Any], x: np.ndarray, node: int) -> np.ndarray:
    """Mask of the records in a node: from the node up to the root."""
    mask = np.ones(len(x), dtype=bool)
    while node != 0:
        above = tree["parents"][node]
        values = x[:, tree["split_indices"][above]].astype(np.float32)
        left = values < np.float32(tree["split_conditions"][above])
        mask &= left if tree["left_children"][above] == node else ~left
        node = above
    return mask


def _default_seed(data: Table) -> Check:
    """Without a seed in the parameters."""
    pair = (data.rows, data.without(0))
    found = inspect_samples(_states(data, pair, CALLS, seeded=False), pair, epsilon=1.0)
    question = "is noise fresh when no seed is given?"
    return from_structure(PACKAGE, data.name, question, found, ("identical outputs",), BUDGET, calls=CALLS)


def _threshold(data: Table) -> Check:
    """One feature with two values: as many records of the rarer value as min_child_weight, or one less."""
    column = (data.x[:, 0] > np.median(data.x[:, 0])).astype(float)
    ones = np.flatnonzero(column == 1.0)
    x = column[:, np.newaxis]
    one = Table(data.name, x, data.y, np.zeros(1), np.ones(1), (0.0, 1.0))
    weight = int(min(len(ones), len(column) - len(ones)))
    row = int(ones[0] if weight == len(ones) else np.flatnonzero(column == 0.0)[0])
    sides = (one.rows, one.without(row))
    samples = _states(one, sides, CALLS, seeded=True, min_child_weight=weight, max_depth=1)
    counts = [
        sum("['trees'][0]['left_children'][1]" in state for state in side) for side in (samples.first, samples.second)
    ]
    found = counts[0] == CALLS and counts[1] == 0 and needed(SETTINGS["dp_epsilon_per_tree"] * ROUNDS, 1e-9) <= CALLS
    question = f"min_child_weight = {weight}, one two-valued feature: is the threshold held against exact counts?"
    evidence = (
        f"with {weight} records of the rarer value the first tree splits in {counts[0]} of {CALLS} runs, "
        f"with one record less in {counts[1]}"
    )
    return Check(PACKAGE, data.name, question, "found" if found else "not found", "trees[0]", evidence, BUDGET)
