"""A sixth paper: private stumps. Each round chooses one split by its label sums and releases the sums of both sides.

| symbol | in the code | what it is |
|---|---|---|
| g_i | statistic "g" | gradient of the square loss, cut to [-1, 1] |
| u(s) | utility | abs(G_left) + abs(G_right), moved by at most 1 by one record |
| T | trees | rounds, each of epsilon / T: half for the split, half for the leaves |
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from refdp.checks import check_count, check_number
from refdp.data import candidates as grids
from refdp.data.losses import on_grid, square_gradient
from refdp.data.memory import Memory
from refdp.data.population import (
    COUNT,
    Advance,
    Begin,
    Bins,
    Descend,
    Encode,
    Nodes,
    Place,
    Population,
    Refresh,
    Root,
    Statistics,
    values,
)  # fmt: skip
from refdp.data.reading import plan_of
from refdp.data.records import Ensemble, Floats, Interval, Model, Records, Schema, Tree
from refdp.ledger.certificate import Certificate, Guarantee, issue
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.privacy.curator import Curator
from refdp.privacy.events import Charge, Plan, Relation, Sensitivity, records_changed

PAPER = "A toy of the tests"


@dataclass(frozen=True)
class Params:
    epsilon: float
    relation: Relation
    trees: int = 10
    bins: int = 8
    shrinkage: float = 0.3

    def __post_init__(self) -> None:
        check_number("epsilon", self.epsilon, above=0)
        check_count("trees", self.trees)
        check_count("bins", self.bins)

    def charges(self) -> tuple[Charge, Charge]:
        """The split: u moves by -1 to 1 a record, a range of 2. The leaves: (g, 1) in one leaf, L1 norm 2."""
        each, bound = self.epsilon / self.trees / 2, 2.0 * records_changed(self.relation)
        split = Sensitivity(bound, "range", "stumps/utility", self.relation)
        leaves = Sensitivity(bound, 1, "stumps/leaves", self.relation)
        return (Charge(Exponential.calibrated(each, bound), split, split),
                Charge(Laplace.calibrated(each, bound), leaves, leaves))  # fmt: skip


@dataclass(frozen=True)
class Contribution:
    params: Params
    schema: Schema

    def label(self, output: int, y: Floats) -> Floats:
        label = self.schema.label(output, y)
        return label if isinstance(self.schema.target, Interval) else 2 * label - 1

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        return Statistics({"g": np.clip(on_grid(square_gradient(score, label)), -1, 1)})


def plan(params: Params, schema: Schema, *, proved: bool = False) -> Plan:
    return plan_of(train_on, params, schema, proved=proved)


def certificate(params: Params, schema: Schema) -> Certificate:
    return issue("stumps", Guarantee(params.epsilon, 0.0), plan(params, schema), plan(params, schema, proved=True),
                 params=None)  # fmt: skip


def train(params: Params, records: Records, curator: Curator) -> Model:
    return train_on(params, records.schema, Memory(records), curator)


def train_on(params: Params, schema: Schema, population: Population, curator: Curator) -> Model:
    for_split, for_leaves = params.charges()
    population.tell(Encode(candidates := grids.uniform(schema, params.bins)))
    population.tell(Begin(Contribution(params, schema)))
    trees = []
    for _ in range(params.trees):
        population.tell(Refresh(("g",)))
        population.tell(Root(candidates.features))
        left, right = candidates.sides(values(population.ask(Bins(("g",)))))
        split = curator.release("split", for_split, abs(left[0]) + abs(right[0]), options=candidates.values)
        population.tell(Descend(split))
        total, count = curator.release("leaves", for_leaves, values(population.ask(Nodes(("g", COUNT)))))
        trees.append(Tree(split, -np.clip(total / np.maximum(count, 1), -1, 1)))
        population.tell(Place(split))
        population.tell(Advance(trees[-1].leaves[None], params.shrinkage))
    return Model("stumps", asdict(params), schema, (Ensemble(0.0, tuple(trees), (params.shrinkage,) * len(trees)),))


def predict(model: Model, x: Floats) -> Floats:
    raw, target = model.scores(x), model.schema.target
    return target.unscaled(raw[:, 0]) if isinstance(target, Interval) else raw
