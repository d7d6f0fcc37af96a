"""The federated framework and S-GBDT as terms: parameters, public decisions, records and answers.

What a run decided in public, its splits and candidates, is written down; deviations are computed here from public
settings, and so is the budget of the individual filter, by the accountant.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from proofs.replay.runs import REGRESSION, RELATIONS, TWO, Recorded, some_records, trained, word
from proofs.replay.terms import Requests, levels, listed, number, numbers, record, truth
from refdp.accounting.individual import initialise
from refdp.data.records import Interval
from refdp.noise.calibration import total_mu
from refdp.papers import fedgbdt, sgbdt
from refdp.privacy.events import Relation


def _data(run: Recorded) -> str:
    labels = run.schema.label(0, run.records.y)
    return listed(record(row, label) for row, label in zip(run.records.x, labels, strict=True))


# --- The federated framework ------------------------------------------------------------------------------------------


def fedgbdt_run(seed: int) -> Recorded:
    """A run of the federated framework: totally random trees, with Hessian candidates or without, or one histogram.

    The log loss is no function of rationals but at the score 0, so classes are for forests and for single batches.
    """
    rng = np.random.default_rng(seed)
    splits = word(rng, "totally-random", "totally-random", "totally-random", "histogram")
    regression, update = bool(rng.random() < 0.75), word(rng, "newton", "gradient", "gradient", "averaging")
    records = some_records(rng, REGRESSION if regression else TWO)
    trees = 1 if splits == "histogram" else int(rng.integers(2, 6))
    once = not regression and update != "averaging"
    iterated = splits != "histogram" and bool(rng.integers(2))
    params = fedgbdt.Params(
        epsilon=float(rng.uniform(0.5, 20)), relation=RELATIONS[int(rng.integers(2))], trees=trees,
        depth=int(rng.integers(1, 4)), regularisation=float(rng.choice([0.1, 1.0, 0.37])),
        shrinkage=float(rng.uniform(0.3, 1.5)), leaf_clip=float(rng.uniform(0.5, 3.0)), bins=int(rng.integers(1, 5)),
        splits=splits, update=update, candidates="iterative-hessian" if iterated else "uniform",
        rounds=int(rng.integers(1, 3)), batch=trees if once else int(rng.integers(1, 3)),
        gradient_bound=float(rng.choice([1.0, 0.6, 1.4])), accounting=word(rng, "renyi", "exact"),
        noise="discrete" if seed % 2 else "floating",
    )  # fmt: skip
    return trained(fedgbdt, params, records, seed)


def fedgbdt_text(run: Recorded) -> tuple[str, Requests]:
    """Deviations: sensitivity over what a query costs, kappa queries of equal cost."""
    p, features = run.params, len(run.schema.features)
    regression, forest = isinstance(run.schema.target, Interval), p.update == "averaging"
    rounds = min(p.rounds, p.trees) if p.candidates == "iterative-hessian" else 0
    asked = 1 if features == 1 else features * p.depth  # the root's histogram of a single feature serves all levels
    queries = asked if p.splits == "histogram" else p.trees + rounds * features
    mu = total_mu(p.epsilon, p.delta, _accounting(p)) / math.sqrt(queries)
    replaced = p.relation is Relation.REPLACE_ONE
    squared, hessian = _squared(p, regression, forest, replaced), 1 / 8 if replaced else 1 / 16
    sums = math.sqrt(squared) / mu
    hessian_sums = sums if regression else math.sqrt(hessian) / mu
    before = [_queries(run, t, t <= rounds, p.splits == "histogram") for t in range(1, p.trees + 1)]
    splits = [levels(tree.splits, run.categorical) for tree in run.model.outputs[0].trees]
    method = "FedGBDT.Newton" if not forest else "FedGBDT.Mean" if regression else "FedGBDT.Forest"
    batches = [list(range(t, min(t + p.batch, p.trees + 1))) for t in range(1, p.trees + 1, p.batch)]
    bound = f"clip (grid_down {number(p.gradient_bound)})"
    if forest:
        derivatives = "(fun _ y => (grid y, 1))"
    elif regression:
        derivatives = f"(fun s y => ({bound} (grid (sub s y)), 1))"
    else:  # at the score 0: p = 1/2
        derivatives = f"(fun s y => (sub (1 # 2) y, {'(1 # 4)' if p.update == 'newton' else '1'}))"
    second = "1" if regression else "(1 # 4)"
    text = (
        f"@FedGBDT.Build_framework Q {number(p.shrinkage)} {number(p.leaf_clip)} {number(p.regularisation)} {method} "
        f"{number(sums)} {number(hessian_sums)} (fun _ x => x) {listed(_whole(b) for b in batches)} "
        f"(fun _ t => nth (t - 1) {listed(before)} []) (fun _ t _ => nth (t - 1) {listed(splits)} []) "
        f"{truth(p.splits != 'histogram')} (fun _ _ _ => []) {derivatives} (fun _ _ => {second}) [(fun r => label r)]"
    )
    return f"FedGBDT.federated ({text}) {_data(run)}", FedRequests(run, replaced)


def _accounting(params: fedgbdt.Params) -> Literal["renyi", "exact", "fine"]:
    """How the noise follows from (epsilon, delta)."""
    if params.accounting == "renyi":
        return "renyi"
    return "exact" if params.noise == "floating" else "fine"


class FedRequests(Requests):
    """Sums of (g, h) touch two coordinates a record, a Hessian histogram one."""

    def __init__(self, run: Recorded, replaced: bool) -> None:
        self._regression = isinstance(run.schema.target, Interval)
        super().__init__(run.transcript, 2 * (1 + replaced))

    def _normal(self, entry: Any, deviation: float, value: float, touched: int) -> str:
        own = "Hessian" in entry.request.path[-1] and not self._regression
        return super()._normal(entry, deviation, value, touched // 2 if own else touched)


def _squared(p: Any, regression: bool, forest: bool, replaced: bool) -> float:
    """The squared sensitivity of (g, h) sums."""
    bound = p.gradient_bound if regression and not forest else 1.0
    if forest and not regression:
        return 4.0 if replaced else 2.0
    if regression or p.update == "gradient":
        return max(4 * bound**2, 2 * bound**2 + 2) if replaced else bound**2 + 1
    return 4.0 if replaced else 1.0


def _whole(values: list[int]) -> str:
    return listed(f"{value}%nat" for value in values)


def _queries(run: Recorded, tree: int, refines: bool, histograms: bool) -> str:
    """What is asked before the splits of a tree are known: one query a feature, of every level or for candidates."""
    encoded = run.encoded
    count = len(run.schema.features)
    if histograms:
        splits = run.model.outputs[0].trees[0].splits
        asked = []
        for level in range(run.params.depth if count > 1 else 1):
            own = levels(splits[: 2**level - 1], run.categorical) if level else "[]"
            for f in range(count):
                bins = int(encoded[0].bins[f])
                cell = f"Some (node {own} r * {bins} + {_code(encoded[0], f)})%nat"
                asked.append(f"@FedGBDT.Build_query Q true {2**level * bins} (fun _ r => {cell})")
        return listed(asked)
    if not refines:
        return "[]"
    # every tree tells its candidates, and a tree that refines them tells the new ones too: this tree's first
    first = 2 * (tree - 1)
    return listed(
        f"@FedGBDT.Build_query Q false {int(encoded[first].bins[f])} (fun _ r => Some {_code(encoded[first], f)})"
        for f in range(count)
    )


def _code(candidates: Any, feature: int) -> str:
    """The bin of a record: 0 without a value, else 1 and how many thresholds are not above it, or its category."""
    if candidates.categorical[feature]:
        inside = "S (Z.to_nat (Qfloor v))"
    else:
        inside = f"S (length (filter (fun e => Qle_bool e v) {numbers(candidates.thresholds[feature])}))"
    return f"(match nth {feature} (features r) None with None => 0%nat | Some v => {inside} end)"


# --- S-GBDT -----------------------------------------------------------------------------------------------------------


def sgbdt_run(seed: int) -> Recorded:
    """A run of S-GBDT with the square loss; few settings that the budget depends on, so that tables are shared."""
    rng = np.random.default_rng(seed)
    records = some_records(rng, REGRESSION, 6)
    params = sgbdt.Params(
        epsilon=float(rng.choice([2.0, 8.0])), relation=Relation.ADD_REMOVE, delta=1e-4, trees=2,
        extra_trees=int(rng.choice([0, 2])), depth=int(rng.integers(1, 3)), shrinkage=float(rng.uniform(0.3, 1.0)),
        regularisation=float(rng.choice([0.5, 2.0, 15.0])), gradient_bound=float(rng.choice([0.5, 1.0])),
        leaf_clip=float(rng.uniform(0.3, 3.0)), subsample=float(rng.choice([0.5, 1.0])),
        support_weight=float(rng.choice([0.3, 0.6])), initial_share=float(rng.choice([0.0, 0.1])),
        label_bound=float(rng.choice([1.0, 0.5])), support=word(rng, "additive", "max"),
        noise=word(rng, "floating", "discrete"),
    )  # fmt: skip
    return trained(sgbdt, params, records, seed)


def sgbdt_text(run: Recorded) -> tuple[str, Requests]:
    """Deviations: roots of the variances that make a record's cost exact."""
    p = run.params
    budget = initialise(p.epsilon * (1 - p.initial_share), p.delta, p.trees, p.subsample, 1, False)
    sigma_squared, r1, bound = budget.sigma**2, p.support_weight, p.gradient_bound
    gradient = math.sqrt(bound**2 * sigma_squared / (2 * (1 - r1)))
    support = math.sqrt(sigma_squared / (2 * r1))
    knots, costs = budget.knots[::64], budget.costs[0][::64]
    table = f"(chord {number(knots[1])} {numbers(costs)})"
    splits = [levels(tree.splits, run.categorical) for tree in run.model.outputs[0].trees]
    each = p.epsilon * p.initial_share
    scales = [most / (each / 2) if each else 1.0 for most in (1.0, p.label_bound)]
    start = f"(fun n s => clip {number(p.label_bound)} (div s (maximum n 1)))"
    text = (
        f"@SGBDT.Build_sgbdt Q {number(p.subsample)} {number(gradient)} {number(support)} {number(bound)} 1 "
        f"{number(r1)} {number(sigma_squared)} {number(p.shrinkage)} {number(p.regularisation)} {number(p.leaf_clip)} "
        f"{truth(p.support == 'additive')} {truth(p.extra_trees > 0)} {number(budget.spendable[0])} {table} "
        f"{p.trees + p.extra_trees} (fun _ k => nth k {listed(splits)} []) "
        f"(fun s y => (clip (grid_down {number(bound)}) (grid (sub s y)), 1)) {truth(p.initial_share > 0)} "
        f"{number(scales[0])} {number(scales[1])} {number(p.label_bound)} (fun _ x => x) {start} [(fun r => label r)]"
    )
    return f"SGBDT.boosted ({text}) {_data(run)}", SumRequests(run.transcript, 1)


class SumRequests(Requests):
    """Leaf sums of shape (leaf, statistic): the text lists all gradient sums first."""

    def arranged(self, values: Any) -> Any:
        """Transposed."""
        return np.asarray(values).T
