"""Privacy mutants of DP-XGBoost: each must be caught, and located at the release it concerns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from refdp.data.memory import Memory
from tests.mutants.harness import Mutant, Replacement, edit

PAPER, MEMORY, SOURCES = "refdp.papers.dpxgboost", "refdp.data.memory", "refdp.privacy.sources"
CHARGES, TREE, STATISTICS = f"{PAPER}:Params", f"{PAPER}:train_tree", f"{PAPER}:Contribution.statistics"

_STANDARD = "standard = self._listed(request, law_of(draws), standard_draws(draws, self._secret, self._bits))"
_SECRET = "child, self._secret = generator.spawn(2)"
_SPLITS = 'splits = curator.release(f"splits of level {level}", for_splits, utility, options=offered)  # section 4.2'
_NOISY = 'noisy = curator.release_sum(f"counts of level {level}", for_counts, population, asked, np.ravel)'
_LEAVES = 'return curator.release("leaves", charge, value)'


def _mutant(name: str, located: str, patches: dict[str, Replacement], **settings: object) -> Mutant:
    return Mutant(name, patches, located, dict(settings))


def unfiltered(statistics: Any) -> Any:
    """Sums in bins over all records, those in leaves without the gradients that are too large."""

    def mutant(self: Any, score: Any, label: Any, of: Any) -> Any:
        found = statistics(self, score, label, of)
        return found._replace(used=None)

    return mutant


def filtered_in_leaves(ask: Any) -> Any:
    """Gradients beyond the bound count as none in the sums of nodes."""

    def mutant(self: Memory, query: Any) -> Any:
        if type(query).__name__ != "Nodes":
            return ask(self, query)
        kept, bound = self._current(), self._contribution.params.gradient_bound  # type: ignore[attr-defined]
        g = kept.values["g"]
        assert g is not None
        self._known = kept._replace(values={**kept.values, "g": np.where(np.abs(g) <= bound, g, 0.0)})
        try:
            return ask(self, query)
        finally:
            self._known = kept

    return mutant


def selecting(change: Callable[[Memory, Any], Any]) -> Replacement:
    """A host that selects other records than were drawn."""

    def replacement(selected: Any) -> Any:
        def mutant(self: Memory) -> Any:
            mask = selected(self)
            return mask if mask is None else change(self, mask)

        return mutant

    return replacement


def first_of(host: Memory, mask: Any) -> Any:
    """Those of the first tree, for ever."""
    return host.__dict__.setdefault("first_rows", mask)


def exact_initial(train: Any) -> Any:
    """The exact sum of the labels in the model."""

    def mutant(params: Any, schema: Any, grid: Any, population: Any, curator: Any) -> Any:
        found = train(params, schema, grid, population, curator)
        if not isinstance(population, Memory):
            return found
        return replace(found, initial=float(np.round(population._label[0].sum(), 6)))

    return mutant


def exact_direction(host: Memory, splits: Any) -> Any:
    """Missing values right where there are some."""
    if not isinstance(host, Memory):
        return splits
    codes: Any = host._mine
    splits[:, 2] = [(codes.codes[f] == 0).sum() > 1 for f in splits[:, 0].astype(int)]
    return splits


def gain_above_zero(offered: Any) -> Any:
    """Splits that gain nothing are left out."""

    def mutant(self: Any, schema: Any, options: Any, utility: Any, ways: Any) -> Any:
        whole = (ways[0][0] + ways[0][1])[..., :1]
        worth = utility > whole[0] ** 2 / (whole[1] + self.regularisation) + 1e-9
        return np.where(worth | ~worth.any(axis=1, keepdims=True), utility, -np.inf), options

    return mutant


def least_records(offered: Any) -> Any:
    """Splits with a child of few records are left out, by exact counts."""

    def mutant(self: Any, schema: Any, options: Any, utility: Any, ways: Any) -> Any:
        allowed = np.concatenate([np.minimum(one[-1], two[-1]) >= self.child_minimum for one, two in ways], axis=-1)
        return np.where(allowed | ~allowed.any(axis=1, keepdims=True), utility, -np.inf), options

    return mutant


MUTANTS = (
    _mutant(
        "sketch noise drawn once and reused",
        "sketch",
        {
            f"{SOURCES}:SampleSource.release": edit(
                (
                    _STANDARD,
                    "draws = mechanism.draws(value)\n"
                    "    kept = self.__dict__.setdefault('kept', {})\n"
                    "    fresh = standard_draws(draws, self._secret, self._bits)\n"
                    "    standard = kept.setdefault(draws.shape, fresh) if request.name.endswith('sketch') else fresh",
                )
            )
        },
    ),
    _mutant(
        "seed from the clock",
        "leaves",
        {
            f"{SOURCES}:SampleSource.__init__": edit(
                (
                    _SECRET,
                    "child, self._secret = generator, np.random.default_rng(int(__import__('time').time()) // 10**6)",
                )
            )
        },
    ),
    _mutant("exact sums in the model file", "model", {f"{PAPER}:train_ensemble": exact_initial}),
    _mutant(
        "filtering skipped for node statistics",
        "splits of level 0",
        {STATISTICS: unfiltered, f"{MEMORY}:Memory.ask": filtered_in_leaves},
        epsilon=0.1,
        trees=6,
    ),
    _mutant(
        "first-order gain sensitivity on Newton gains",
        "splits of level 0",
        {f"{CHARGES}.split_charge": edit(("if self.newton:", "if False:"))},
        loss="log",
        ratio_bound=16.0,
        target="binary",
    ),
    _mutant("child minimum on exact counts", "splits of level 0", {f"{CHARGES}.offered": least_records}),
    _mutant("gain above zero required", "splits of level 0", {f"{CHARGES}.offered": gain_above_zero}),
    _mutant("one sample of the rows for all trees", "sketch", {f"{MEMORY}:Memory._selected": selecting(first_of)}),
    _mutant(
        "all rows used while a sample is charged",
        "sketch",
        {f"{MEMORY}:Memory._selected": selecting(lambda host, mask: mask | True)},
    ),
    _mutant(
        "sketch budget not divided between the features",
        "sketch",
        {f"{CHARGES}.sketch_charge": edit(("m * sketch_sensitivity", "sketch_sensitivity"))},
    ),
    _mutant(
        "candidates from exact weights",
        "splits of level 0",
        {f"{PAPER}:sketch": edit(("np.split(noisy, ends)", "np.split(np.concatenate(weights), ends)"))},
    ),
    _mutant(
        "default direction chosen without noise",
        "model",
        {
            TREE: edit(
                (
                    _SPLITS,
                    f"{_SPLITS}\n"
                    "        from tests.mutants.dpxgboost import exact_direction\n"
                    "        splits = exact_direction(population, splits)",
                )
            )
        },
    ),
    _mutant(
        "leaf values not padded, padded ones charged",
        "leaves",
        {f"{PAPER}:leaf_values": edit(("gradient_sum, size, params.padding", "gradient_sum, size, 0"))},
    ),
    _mutant(
        "noisy average divided by the exact count",
        "model",
        {f"{CHARGES}.averages": edit(("np.maximum(weighted / self.weight", "np.maximum(sums[1] / self.weight"))},
        leaf="average",
    ),
    _mutant(
        "noisy minimum decided on exact counts",
        "counts of level 0",
        {TREE: edit((_NOISY, "noisy = np.ravel(values(population.ask(asked)))"))},
        stopping="noisy",
    ),
    _mutant("exact leaf values", "leaves", {f"{PAPER}:leaf_values": edit((_LEAVES, f"{_LEAVES} * 0 + value"))}),
    _mutant(
        "replace-one charged as add-remove",
        "leaves",
        {"refdp.privacy.events:records_changed": lambda right: lambda relation: 1},
        relation="replace-one",
    ),
    _mutant(
        "Newton ratios not clipped",
        "splits of level 0",
        {STATISTICS: edit(("if h is not None and params.newton:", "if False:"))},
        loss="log",
        ratio_bound=1.0,
        target="binary",
    ),
    _mutant(
        "a level's budget not divided by the depth",
        "splits of level 0",
        {f"{PAPER}:tree_budget": edit(('unit * parts["splits"] * share for', 'unit * parts["splits"] for'))},
    ),
    _mutant(
        "amplification counted twice",
        "sketch",
        {"refdp.noise.calibration:before_sampling": edit(("expm1(epsilon), rate", "expm1(epsilon), rate**2"))},
    ),
    _mutant(
        "medians charged once for all features",
        "medians 0",
        {f"{CHARGES}.quantile_charge": edit(("m * median_range", "median_range"))},
        candidates="quantiles",
    ),
    _mutant(
        "each tree uses the rows beside those of its sample",
        "sketch",
        {f"{MEMORY}:Memory._selected": selecting(lambda host, mask: np.roll(mask, 1))},
    ),
)
