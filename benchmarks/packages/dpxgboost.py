"""DP-XGBoost 0.2.10: structural checks of the model file that `Booster.save_model` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.packages.checks import Check, Table, from_structure, table
from benchmarks.packages.dpxgboost_sides import more as on_made_up_tables
from refdp.audit.adapters.dpxgboost import Job, Trained, train_all
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
CALLS = 75
"""Runs a side, each in a second of its own."""
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
    """Everything that is asked of DP-XGBoost, on Adult and Abalone (labels scaled to [0, 1]).

    Runs on the two sides alternate, each in a second of its own, because the noise of this version follows the clock.
    """
    data = [_scaled(table(name, 1000)) for name in ("adult", "abalone")]
    stumps = [_two_valued(one) for one in data]
    sides = [(one.rows, one.without(0)) for one in data]
    sides += [(stump.rows, stump.without(row)) for stump, row, _ in stumps]
    more: list[dict[str, Any]] = [{}, {}] + [{"min_child_weight": weight, "max_depth": 1} for _, _, weight in stumps]
    first = [
        job
        for tick in range(2 * CALLS)
        for job in _jobs([*data, *(stump for stump, _, _ in stumps)], sides, more, tick)
    ]
    version, trained = train_all(first)
    assert version == VERSION, version
    for place, one in enumerate(data):
        yield from _model_file(one, sides[place], _samples(trained[place :: len(sides)]))
        yield _exact_leaves(one)
        yield _clock(one)
        yield _threshold(one, stumps[place][2], _samples(trained[place + len(data) :: len(sides)]))
    yield from on_made_up_tables(PACKAGE, BUDGET)


def _jobs(tables: Sequence[Table], sides: Sequence[Any], more: Sequence[dict[str, Any]], tick: int) -> list[Job]:
    """One run of each kind, on the first side at even ticks."""
    return [
        Job(*pair[tick % 2], one.low, one.high, ROUNDS, {**SETTINGS, **settings, "seed": tick}, tick)
        for one, pair, settings in zip(tables, sides, more)
    ]


def _samples(trained: Sequence[Trained]) -> Samples:
    """Flat model files of the two sides."""
    states = [leaves({"trees": [_published(tree) for tree in one.trees], "rest": _rest(one.model)}) for one in trained]
    return Samples(states[::2], states[1::2])


def _scaled(data: Table) -> Table:
    low, high = data.target
    return Table(data.name, data.x, (data.y - low) / (high - low), data.low, data.high, (0.0, 1.0))


def _published(tree: dict[str, Any]) -> dict[str, Any]:
    """One tree, its arrays of numbers only."""
    return {name: value for name, value in tree.items() if isinstance(value, list)}


def _rest(model: dict[str, Any]) -> str:
    return json.dumps(model["learner"]["learner_model_param"], sort_keys=True)


def _model_file(data: Table, pair: Any, samples: Samples) -> Iterator[Check]:
    """Two trees, one record removed."""
    found = inspect_samples(samples, pair, epsilon=1.0)
    for question, kinds, places in (
        ("model file: exact number of records in a node (sum_hessian)", ("exact statistic",), "sum_hessian"),
        ("model file: unnoised weight of a node (base_weights = -G/(H+λ))", ("exact statistic",), "base_weights"),
        ("model file: noisy leaf values that share a draw", ("reused noise",), "split_conditions"),
        ("model file: outputs possible on one side only", ("support",), ""),
    ):
        yield from_structure(PACKAGE, data.name, question, found, kinds, BUDGET, places=places, calls=CALLS)


def _exact_leaves(data: Table) -> Check:
    """Leaves' noisy values stand beside the exact sums that they hide."""
    settings = {**SETTINGS, "seed": 3}
    _, models = train_all([Job(data.x, data.y, data.low, data.high, 1, settings)])
    tree = models[0].trees[0]
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


def _clock(data: Table) -> Check:
    """Two processes at the same time, no seed: are models that were trained in the same second the same?"""
    settings = {**SETTINGS, "max_depth": 2}
    jobs = [Job(*data.rows, data.low, data.high, 1, settings, 1 + run // 25) for run in range(200)]  # 8 seconds or more
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: train_all(jobs)[1], range(2)))
    seen: list[dict[int, set[str]]] = [{}, {}]
    for place, trained in enumerate(both):
        for one in trained:
            if one.seconds[0] == one.seconds[1]:
                seen[place].setdefault(one.seconds[0], set()).add(json.dumps(one.trees))
    shared = sorted(set(seen[0]) & set(seen[1]))
    same = [len(seen[0][second] | seen[1][second]) == 1 for second in shared]
    different = len({text for side in seen for texts in side.values() for text in texts})
    found = len(shared) >= 3 and all(same)
    evidence = (
        f"two processes trained without a seed at the same time: in {sum(same)} of {len(shared)} seconds of the clock "
        f"all their models are identical, {different} different models in {len(set(seen[0]) | set(seen[1]))} seconds"
    )
    question = "is noise fresh when no seed is given, or does it follow the clock?"
    return Check(PACKAGE, data.name, question, "found" if found else "not found", "trees", evidence, BUDGET)


def _two_valued(data: Table) -> tuple[Table, int, int]:
    """One feature with two values, a record of the rarer value, and how many records have that."""
    column = (data.x[:, 0] > np.median(data.x[:, 0])).astype(float)
    rarer = float(column.sum() <= len(column) / 2)
    rows = np.flatnonzero(column == rarer)
    return Table(data.name, column[:, np.newaxis], data.y, np.zeros(1), np.ones(1), (0.0, 1.0)), int(rows[0]), len(rows)


def _threshold(data: Table, weight: int, samples: Samples) -> Check:
    """As many records of the rarer value as min_child_weight, or one less."""
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
