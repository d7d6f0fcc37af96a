"""Privacy mutants of InPrivate Digging: each must be caught, and located at the release it concerns."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from refdp.data.losses import on_grid
from refdp.data.memory import Memory
from refdp.noise.mechanisms import Exponential
from refdp.papers.inprivate import Params, curvature
from refdp.papers.published.inprivate import triples
from refdp.privacy.events import Charge
from tests.mutants.harness import Mutant, Replacement, edit

PAPER, MEMORY = "refdp.papers.inprivate", "refdp.data.memory"
PARAMS, TRAIN_ON, TRAIN_TREE = f"{PAPER}:Params", f"{PAPER}:train_on", f"{PAPER}:train_tree"
CUT, STATISTICS, SELECTED = f"{PARAMS}.cut", f"{PAPER}:Contribution.statistics", f"{MEMORY}:Memory._selected"


def always(value: Any) -> Replacement:
    """A function of whatever arguments that gives this value."""
    return lambda original: lambda *given: value


def selecting(rows: Callable[[Memory, int, int], Any]) -> Replacement:
    """A host that selects other records in a block: those that `rows` gives for it, its scope and its block."""

    def replacement(selected: Any) -> Any:
        return lambda self: rows(self, *self._within[-1]) if self._within else selected(self)

    return replacement


def by_index(host: Memory, scope: int, block: int) -> Any:
    """Equal parts of the records in their order."""
    blocks = int(host._members[scope].max(initial=0)) + 1
    return np.arange(host.size) * max(blocks, 4) // max(host.size, 1) == block


def twice_curved(statistics: Any) -> Any:
    """Denominators of twice the curvature."""

    def mutant(self: Any, score: Any, label: Any, of: Any) -> Any:
        found = statistics(self, score, label, of)
        return found._replace(values={**found.values, "c": on_grid(2 * curvature(found.values["r"]))})

    return mutant


def quarter_range(split_charge: Any) -> Any:
    """Splits chosen for a quarter of the range."""

    def mutant(self: Params, schema: Any) -> Charge:
        charge = split_charge(self, schema)
        return Charge(Exponential.calibrated(self.split_epsilon(schema), charge.declared.bound / 4),
                      charge.declared, charge.proved)  # fmt: skip

    return mutant


def own_range(label: Any) -> Any:
    """Labels scaled by the range of the data."""

    def mutant(self: Any, output: int, y: Any) -> Any:
        found = label(self, output, y)
        return 2 * (found - found.min()) / max(float(np.ptp(found)), 1e-9) - 1

    return mutant


def _mutant(name: str, located: str, patches: dict[str, Replacement], **settings: object) -> Mutant:
    return Mutant(name, patches, located, dict(settings))


_RELEASED = 'noisy = curator.release_sum("leaves", for_leaves, population, Nodes(queries))'
_SUMS = "values(population.ask(Nodes(queries)))"
_TREE = "params.coefficients(for_leaves.mechanism, noisy)"
_TURN = "for number in range(params.rounds * params.owners):  # Alg. 2, l. 3"

MUTANTS = (
    _mutant("residual range of log loss taken as 1", "splits of level 0", {CUT: always(2.0**20)}),
    _mutant(
        "residual range of square loss taken as 1", "splits of level 0", {CUT: always(2.0**20)}, target="regression"
    ),
    _mutant(
        "candidates from averaged triples",
        "splits of level 0",
        {f"{PARAMS}.split_candidates": lambda _: lambda self, schema, population: triples(population.exposed())},
    ),
    _mutant(
        "epsilon_1 spent at every level",
        "splits of level 0",
        {f"{PARAMS}.split_epsilon": lambda _: lambda self, schema: self.split_share * self.tree_epsilon(schema)},
    ),
    _mutant(
        "rounds that reuse records",
        "splits of level 0",
        {SELECTED: selecting(lambda host, scope, block: np.ones(host.size, dtype=np.bool_))},
    ),
    _mutant(
        "turns cost more than unused records allow",
        "splits of level 0",
        {f"{PARAMS}.turn_epsilon": edit(("round_share(self.rounds)", "round_share(self.rounds - 1)"))},
        rounds=2,
        turn_budget="amplified",
    ),
    _mutant("unequal halves by index", "splits of level 0", {SELECTED: selecting(by_index)}),
    _mutant("halves of exact sizes", "owner and round", {f"{PARAMS}.by_size": lambda _: True}),
    _mutant(
        "exact leaf counts passed on",
        "model",
        {TRAIN_TREE: edit((_TREE, _TREE.replace("noisy", f"np.array([noisy[0], {_SUMS}[1]])")))},
        target="regression",
    ),
    _mutant(
        "coefficients without noise where a leaf is empty",
        "model",
        {TRAIN_TREE: edit((_TREE, f"np.where({_SUMS}[1] == 0, 0.0, {_TREE})"))},
    ),
    _mutant(
        "stopping on private accuracy",
        "splits of level 0",
        {
            TRAIN_ON: edit(
                (
                    _TURN,
                    f"{_TURN}\n            label, score = population._label[0], population._score[0]"
                    "\n            if number > 1 and np.mean(label * score > 0) > 0.5:\n                break",
                )
            )
        },
    ),
    _mutant("leaf queries without noise", "leaves", {TRAIN_TREE: edit((_RELEASED, f"noisy = {_SUMS}"))}),
    _mutant(
        "one query of a leaf charged for both",
        "leaves",
        {f"{PAPER}:classification_leaf_sensitivity": always(Fraction(1))},
    ),
    _mutant("curvature counted twice", "leaves", {STATISTICS: twice_curved}),
    _mutant("gain sensitivity without the factor 4", "splits of level 0", {f"{PARAMS}.split_charge": quarter_range}),
    _mutant(
        "replace-one charged as add-remove",
        "splits of level 0",
        {f"{PAPER}:records_changed": always(1)},
        relation="replace-one",
    ),
    _mutant(
        "whole budget for every class",
        "splits of level 0",
        {f"{PARAMS}.tree_epsilon": lambda _: lambda self, schema: self.epsilon},
        target="three",
        owners=1,
    ),
    _mutant(
        "labels scaled by the range of the data",
        "leaves",
        {f"{PAPER}:Contribution.label": own_range},
        target="regression",
    ),
    _mutant("scores from true leaf sums", "model", {TRAIN_TREE: edit((_TREE, _TREE.replace("noisy", _SUMS)))}),
)
