"""Privacy mutants of S-GBDT: each must be caught, and located at the release it concerns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from refdp.data.losses import LOG, SQUARE, on_grid
from refdp.data.memory import Memory
from refdp.data.population import Start, Step
from refdp.data.records import Classes
from refdp.papers.sgbdt import clipped
from tests.mutants.harness import Mutant, Replacement, edit

PAPER, MEMORY, INDIVIDUAL = "refdp.papers.sgbdt", "refdp.data.memory", "refdp.accounting.individual"
STATISTICS, COST, GROW = f"{PAPER}:Contribution.statistics", f"{PAPER}:Contribution.cost", f"{PAPER}:grow"
TELL, CHARGE = f"{MEMORY}:Memory.tell", f"{MEMORY}:Memory._charge"


def raw(contribution: Any, score: Any, label: Any) -> Any:
    """Derivatives that nobody clipped."""
    loss = LOG if isinstance(contribution.schema.target, Classes) else SQUARE
    return on_grid(loss.gradient(score, label))


def unclipped(statistics: Any) -> Any:
    """Sums of unclipped gradients; the costs are those of clipped ones."""
    return lambda self, score, label, of: statistics(self, score, label, of)._replace(
        values={**statistics(self, score, label, of).values, "g": raw(self, score, label)}
    )


def clipped_cost(cost: Any) -> Any:
    """The cost of the clipped gradient, whatever is summed."""

    def mutant(self: Any, statistics: Any) -> Any:
        bound = self.params.bounds(self.schema)[0]
        return cost(self, {**statistics, "g": clipped(statistics["g"], -bound, bound)})

    return mutant


def cost_of(change: Callable[[Any], Any]) -> Replacement:
    """The cost of another gradient than is summed."""
    return lambda cost: lambda self, statistics: cost(self, {**statistics, "g": change(statistics["g"])})


def telling(change: Callable[[Memory, Step], Step]) -> Replacement:
    """A host that takes in another step than it is told."""
    return lambda tell: lambda self, step: tell(self, change(self, step))


def by_mean(host: Memory, step: Step) -> Step:
    """The exact mean of the labels as the initial score."""
    return Start(float(host._label[host._output].mean())) if isinstance(step, Start) else step


def after_sampling(charge: Any) -> Any:
    """Only sampled records pay: they are drawn before, with coins that follow from the number of the tree."""

    def mutant(self: Memory) -> None:
        charge_now = self._accounts[self._output].charge
        sampled = np.random.default_rng(self.size).random(self.size) < 0.3
        self._accounts[self._output].charge = lambda cost: charge_now(cost * sampled)  # type: ignore[method-assign]
        charge(self)
        self._accounts[self._output].charge = charge_now  # type: ignore[method-assign]

    return mutant


def nobody_leaves(charge: Any) -> Any:
    """Records without room are in the sums all the same."""

    def mutant(self: Memory) -> None:
        charge(self)
        self._paid = np.ones(self.size, dtype=np.bool_)

    return mutant


def _mutant(name: str, located: str, patches: dict[str, Replacement], **settings: object) -> Mutant:
    return Mutant(name, patches, located, dict(settings))


_TOLD = "population.tell(Pay())\n"
_RELEASED = 'noisy = curator.release_sum("leaves", charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)'
_SUMS = 'sums = values(population.ask(Leaves(("g", "h"))))[0].T'
_GROWN = "trees.append(Tree(splits, leaf_values(params, noisy)))"

MUTANTS = (
    _mutant("filter applied after sampling: only sampled records pay", "leaves", {CHARGE: after_sampling}),
    _mutant("sums of unclipped gradients, clipped ones charged", "leaves", {STATISTICS: unclipped, COST: clipped_cost}),
    _mutant("unclipped gradients charged, beyond the table of costs", "leaves", {COST: cost_of(lambda g: 3 * g)}),
    _mutant("inactive records still used", "leaves", {CHARGE: nobody_leaves}),
    _mutant(
        "order chosen after the fact",
        "leaves",
        {f"{INDIVIDUAL}:Accounts.charge": edit(("np.logical_and.reduce", "np.logical_or.reduce"))},
        orders="joint",
    ),
    _mutant(
        "the two noise weights swapped",
        "leaves",
        {
            f"{PAPER}:gradient_variance": lambda variance: lambda bound, r1, squared: variance(bound, 1 - r1, squared),
            f"{PAPER}:support_variance": lambda variance: lambda bound, r1, squared: variance(bound, 1 - r1, squared),
        },
    ),
    _mutant(
        "exact count in the initial score",
        "count",
        {f"{PAPER}:initial_score": edit(('curator.release("count", for_count, np.array([size]))[0]', "size"))},
    ),
    _mutant("exact mean as the initial score", "leaves", {TELL: telling(by_mean)}),
    _mutant(
        "training stops when no record is active",
        "leaves",
        {GROW: edit((_TOLD, _TOLD + "            if not population._paid.any():\n                return trees\n"))},
        extra_trees=40,
    ),
    _mutant("every record charged as if its gradient were zero", "leaves", {COST: cost_of(lambda g: 0 * g)}),
    _mutant(
        "budget of all rounds instead of the regular ones",
        "leaves",
        {f"{INDIVIDUAL}:initialise": edit(("spendable = rounds * costs", "spendable = 2 * rounds * costs"))},
    ),
    _mutant(
        "tree without noise where the active set is empty",
        "leaves",
        {
            GROW: edit(
                (
                    _RELEASED,
                    f"{_SUMS}\n            noisy = sums\n            if sums.any():\n                {_RELEASED}",
                )
            )
        },
    ),
    _mutant(
        "leaf values of sampled leaves only",
        "leaves",
        {
            GROW: edit(
                (_RELEASED, f"{_SUMS}\n            {_RELEASED}"),
                (_GROWN, "trees.append(Tree(splits, np.where(sums[:, 1] > 0, leaf_values(params, noisy), 0.0)))"),
            )
        },
    ),
    _mutant(
        "support without noise",
        "leaves",
        {GROW: edit((_RELEASED, f"{_SUMS}\n            {_RELEASED}.copy()\n            noisy[:, 1] = sums[:, 1]"))},
    ),
    _mutant("gradients not clipped at all", "leaves", {STATISTICS: unclipped}),
)
