"""Privacy mutants of DPBoost and of what it stands on: each must be caught, and located at the release it concerns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from refdp.data.candidates import from_records
from refdp.data.losses import on_grid
from refdp.data.memory import Memory
from refdp.data.population import Advance, Step
from refdp.data.records import Interval
from refdp.noise.mechanisms import Exponential, Laplace
from refdp.papers.published import dpboost as printed
from refdp.privacy.events import Charge
from tests.mutants.harness import Mutant, Replacement, edit

PAPER, MEMORY, SOURCES = "refdp.papers.dpboost", "refdp.data.memory", "refdp.privacy.sources"
SPLIT_CHARGE, LEAF_CHARGE = f"{PAPER}:Params.split_charge", f"{PAPER}:Params.leaf_charge"
TREE, STATISTICS = f"{PAPER}:train_single_tree", f"{PAPER}:Contribution.statistics"
TELL, SELECT, SELECTED = f"{MEMORY}:Memory.tell", f"{MEMORY}:Memory.select", f"{MEMORY}:Memory._selected"
RELEASE, GENERATORS = f"{SOURCES}:SampleSource.release", f"{SOURCES}:SampleSource.__init__"
BLOCKS = 3
"""Trees of an ensemble in the audited runs."""

_CLIP = "value = np.clip(value, -clip, clip)"
_NOISY = 'curator.release("leaves", for_leaves, value)'
_RETURN = f"return Tree(np.concatenate(chosen), {_NOISY})"
_DOWN = "population.tell(Descend(chosen[-1]))  # Alg. 1, l. 10\n"
_CHOOSE = "chosen.append(choose(params, level, for_splits, candidates, population, curator))"
_UTILITY = (
    "left, right = candidates.sides(values(population.ask(Bins(('g', COUNT)))))\n"
    "        utility = gain(left[0], left[1], right[0], right[1], params.regularisation)\n"
)
_STANDARD = "standard = self._listed(request, law_of(draws), standard_draws(draws, self._secret, self._bits))"


def _mutant(name: str, located: str, patches: dict[str, Replacement], **settings: object) -> Mutant:
    return Mutant(name, patches, located, dict(settings))


def always(value: Any) -> Replacement:
    """The same, whatever is asked."""
    return lambda function: lambda *arguments: value


def charged(change: Callable[[Any, Charge, float], Charge]) -> Replacement:
    """Another charge of what is released."""
    return lambda charge: lambda self, epsilon, *clip: change(self, charge(self, epsilon, *clip), epsilon)


def quieter(params: Any, charge: Charge, epsilon: float) -> Charge:
    """A little less Laplace noise."""
    assert isinstance(charge.mechanism, Laplace)
    return replace(charge, mechanism=Laplace(charge.mechanism.scale * 0.98))


def twice_as_sharp(params: Any, charge: Charge, epsilon: float) -> Charge:
    """The exponent of a sensitivity in place of that of a range."""
    return replace(charge, mechanism=Exponential.calibrated(epsilon / (2 * params.depth), charge.declared.bound / 2))


def lemma_1(params: Any, charge: Charge, epsilon: float) -> Charge:
    """What the paper prints."""
    if isinstance(params, printed.Params):
        return charge
    return printed.Params(**asdict(params), constants="published").split_charge(epsilon)


def by_mean(begin: Any) -> Any:
    """Scores that begin at the mean of the labels."""

    def mutant(self: Memory, *told: Any) -> None:
        begin(self, *told)
        for output, label in self._label.items():
            self._score[output] += float(on_grid(label.mean()))

    return mutant


def by_index(select: Any) -> Any:
    """Every third record, from the first, second or third on."""

    def mutant(self: Memory, scope: int, draw: Any) -> None:
        select(self, scope, draw)
        self._members[scope] = np.arange(self.size) % BLOCKS

    return mutant


def true_leaves(tell: Any) -> Any:
    """Scores that move by the last tree's values from before the noise."""

    def mutant(self: Any, step: Step) -> None:
        tell(self, Advance(self.last[None], step.weight) if isinstance(step, Advance) else step)

    return mutant


def by_observed_range(label: Any) -> Any:
    """Labels between -1 and 1, as the least and the greatest of the records are."""

    def mutant(self: Any, output: int, y: Any) -> Any:
        known = self.schema.label(output, y)
        if not isinstance(self.schema.target, Interval):
            return label(self, output, y)
        return 2 * (known - known.min()) / max(float(np.ptp(known)), 1e-9) - 1

    return mutant


MUTANTS = (
    _mutant("Laplace scale times .98", "leaves", {LEAF_CHARGE: charged(quieter)}, noise="floating"),
    _mutant("exponential mechanism without the factor 2", "splits of level 0", {SPLIT_CHARGE: charged(twice_as_sharp)}),
    _mutant(
        "published gain sensitivity in the repaired variant", "splits of level 0", {SPLIT_CHARGE: charged(lemma_1)}
    ),
    _mutant(
        "exact count decides that a leaf is empty",
        "model",
        {TREE: edit((_RETURN, f"return Tree(np.concatenate(chosen), np.where(count == 0, 0.0, {_NOISY}))"))},
    ),
    _mutant("initial score from the data", "splits of level 0", {f"{MEMORY}:Memory._begin": by_mean}),
    _mutant(
        "candidates from the data",
        "splits of level 0",
        {f"{PAPER}:Params.split_candidates": lambda _: lambda self, schema, host: from_records(host.exposed())},
    ),
    _mutant(
        "unfiltered gradients",
        "splits of level 0",
        {STATISTICS: lambda all_of: lambda *arguments: all_of(*arguments)._replace(used=None)},
        epsilon=0.1,
    ),
    _mutant(
        "one noise draw reused for all trees",
        "leaves",
        {
            RELEASE: edit(
                (
                    _STANDARD,
                    "draws = mechanism.draws(value)\n"
                    "    kept = self.__dict__.setdefault('kept', {})\n"
                    "    standard = kept.setdefault(draws.shape, standard_draws(draws, self._secret, self._bits))",
                )
            )
        },
    ),
    _mutant(
        "fixed seed noise",
        "leaves",
        {
            GENERATORS: edit(
                (
                    "child, self._secret = generator.spawn(2)",
                    "child, self._secret = generator, np.random.default_rng(0)",
                )
            )
        },
    ),
    _mutant(
        "noise of a fixed seed beside the door",
        "leaves",
        {TREE: edit((_NOISY, "value + np.random.default_rng(0).laplace(size=value.shape)"))},
    ),
    _mutant("no noise on the leaves", "leaves", {TREE: edit((_NOISY, "value"))}),
    _mutant(
        "best split without noise",
        "splits of level 0",
        {f"{PAPER}:splits_of_most_gain": edit(("charged, util", "charged, 1e9 * util"))},
    ),
    _mutant("partition by row index", "splits of level 0", {SELECT: by_index}),
    _mutant("every tree on all records while charged in parallel", "splits of level 0", {SELECTED: always(None)}),
    _mutant(
        "subset sizes that depend on the number of records", "ensemble 0", {f"{PAPER}:Params.by_size": lambda _: True}
    ),
    _mutant(
        "budget split wrong by a level",
        "splits of level 0",
        {SPLIT_CHARGE: edit(("epsilon / (2 * self.depth)", "epsilon / (2 * (self.depth - 1))"))},
    ),
    _mutant(
        "whole tree budget on the leaves",
        "leaves",
        {f"{PAPER}:Params.leaf_epsilon": lambda _: lambda self, epsilon: epsilon},
    ),
    _mutant(
        "budget of each ensemble not divided",
        "splits of level 0",
        {f"{PAPER}:Params.tree_epsilon": lambda _: lambda self, schema: self.epsilon / schema.scores},
    ),
    _mutant("leaf values not clipped", "leaves", {TREE: edit((_CLIP, "pass"))}),
    _mutant(
        "leaf values clipped after the noise only",
        "leaves",
        {
            TREE: edit(
                (_CLIP, "pass"), (_RETURN, f"return Tree(np.concatenate(chosen), np.clip({_NOISY}, -clip, clip))")
            )
        },
    ),
    _mutant(
        "gradients from true leaf values",
        "splits of level 0",
        {TREE: edit((_RETURN, f"population.last = value\n    {_RETURN}")), TELL: true_leaves},
    ),
    _mutant(
        "growth stops where the best gain is small",
        "splits of level 1",
        {
            TREE: edit(
                (_CHOOSE, f"{_UTILITY}        {_CHOOSE}"),
                (
                    _DOWN,
                    _DOWN + "        if utility.max() < 1:\n"
                    "            for below in range(level + 1, params.depth):\n"
                    "                chosen.append(np.repeat(chosen[-1][:1], 2**below, axis=0))\n"
                    "                population.tell(Descend(chosen[-1]))\n"
                    "            break\n",
                ),
            )
        },
    ),
    _mutant(
        "labels scaled by the range of the data",
        "splits of level 0",
        {f"{PAPER}:Contribution.label": by_observed_range},
    ),
    _mutant(
        "leaves released twice and averaged, charged once",
        "splits of level 0",
        {TREE: edit((_RETURN, f"return Tree(np.concatenate(chosen), ({_NOISY} + {_NOISY}) / 2)"))},
    ),
    _mutant(
        "replace-one charged as add-remove",
        "splits of level 0",
        {f"{PAPER}:records_changed": always(1)},
        relation="replace-one",
    ),
    _mutant(
        "discrete leaves without room for rounding",
        "leaves",
        {LEAF_CHARGE: edit(("touched = records_changed(self.relation)", "touched = 0"))},
        noise="discrete",
    ),
)
