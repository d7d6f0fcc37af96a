"""Further privacy mutants of the papers' texts, of the kinds that algebra of single formulas does not see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from refdp.data.candidates import from_records
from refdp.data.population import Statistics
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace
from tests.mutants.harness import Mutant, Replacement, edit


def _mutant(name: str, patches: dict[str, Replacement], **settings: object) -> Mutant:
    return Mutant(name, patches, "", dict(settings))


def quieter(charge: Any) -> Any:
    """A tenth of the noise, for the same charge."""

    def mutant(*given: Any) -> Any:
        found = charge(*given)
        mechanism = found.mechanism
        if isinstance(mechanism, DiscreteLaplace):
            return replace(found, mechanism=replace(mechanism, scale=mechanism.scale / 10))
        assert isinstance(mechanism, DiscreteGaussian)
        sd = mechanism.sd
        less = tuple(one / 10 for one in sd) if isinstance(sd, tuple) else sd / 10
        return replace(found, mechanism=replace(mechanism, sd=less))

    return mutant


def everybody(statistics: Any) -> Any:
    """Records are used whatever their gradient is."""
    return lambda *given: statistics(*given)._replace(used=None)


def from_data(_: Any) -> Any:
    """Candidates read off the records."""
    return lambda self, schema, host: from_records(host.exposed())


def doubled(statistics: Any) -> Any:
    """Every statistic is twice as large as its bound says."""

    def mutant(*given: Any) -> Any:
        found = statistics(*given)
        return Statistics({name: None if v is None else 2 * v for name, v in found.values.items()}, found.used)

    return mutant


D, F, S, X, Z = (f"refdp.papers.{name}" for name in ("dpboost", "fedgbdt", "sgbdt", "dpxgboost", "inprivate"))
NEW: Mapping[str, tuple[Mutant, ...]] = {
    "dpboost": (
        _mutant("a tenth of the noise", {f"{D}:Params.leaf_charge": quieter}),
        _mutant("gradients twice their bound", {f"{D}:Contribution.statistics": doubled}),
        _mutant("leaf values without lambda", {f"{D}:train_single_tree": edit(
            ("leaf_value(gradient_sum, count, params.regularisation)", "leaf_value(gradient_sum, count, 0)"))}),
        _mutant("gains without lambda", {f"{D}:splits_of_most_gain": edit(
            ("right[0], right[1], params.regularisation)", "right[0], right[1], 0)"))}),
        _mutant("filter at twice the bound", {f"{D}:Contribution.statistics": edit(
            ("np.abs(g) <= self.params.gradient_bound)", "np.abs(g) <= 2 * self.params.gradient_bound)"))}),
        _mutant("small children are excluded by exact counts", {f"{D}:train_single_tree": edit(
            ("        chosen.append(",
             "        utility = np.where(left[1] < 5, -9, utility)\n        chosen.append("))}),
        _mutant("counts are printed", {f"{D}:train_single_tree": edit(
            ("value = np.clip(value, -clip, clip)", "print(count)\n    value = np.clip(value, -clip, clip)"))}),
        _mutant("leaf values divided by the number of records", {f"{D}:train_single_tree": edit(
            ("value = np.clip(value, -clip, clip)", "value = np.clip(value, -clip, clip) * population.size"))}),
        _mutant("sums of everybody in the block of one tree", {f"{D}:train_ensembles": edit(
            ("population.tell(Refresh((\"g\",)))", "population.tell(Refresh((\"g\",)))\n"
             "                population.tell(Root(candidates.features))\n"
             "                everybody = values(population.ask(Nodes((\"g\", COUNT))))"),
            ("trees.append(train_single_tree(params, candidates, epsilon, block.clip, population, curator))",
             "trees.append(train_single_tree(params, candidates, epsilon, block.clip, population, curator))\n"
             "                    curator.release('leaves', params.leaf_charge(epsilon, block.clip), everybody[0])"))}),
    ),
    "fedgbdt": (
        _mutant("a tenth of the noise", {f"{F}:Params.sums_charge": quieter}),
        _mutant("statistics twice their bound", {f"{F}:Contribution.statistics": doubled}),
        _mutant("candidates from the data", {f"{F}:Params.split_candidates": from_data}),
        _mutant("gradients not clipped", {f"{F}:clip_gradient": lambda _: lambda gradient, bound: gradient},
                target="regression"),
        _mutant("leaves without noise", {f"{F}:leaf_sums": edit(
            ('curator.release("leaves", charged, sums[place])', "sums[place]"))}),
        _mutant("a query more than is charged", {f"{F}:leaf_sums": edit(
            ('released.append(curator.release("leaves", charged, sums[place]))',
             'released.append((curator.release("leaves", charged, sums[place])\n'
             '                    + curator.release("leaves", charged, sums[place])) / 2)'))}),
    ),
    "sgbdt": (
        _mutant("a tenth of the noise", {f"{S}:Params.leaf_charge": quieter}),
        _mutant("gradients twice their bound", {f"{S}:Contribution.statistics": doubled}),
        _mutant("filter off", {f"{S}:grow": edit(("if params.extra_trees:", "if False:"))}, extra_trees=3),
        _mutant("paid once for all rounds", {f"{S}:grow": edit(
            ("        population.tell(Refresh((\"g\", \"h\")))  # clip\n", ""),
            ("            population.tell(Pay())\n",
             "            if not trees:\n"
             "                population.tell(Refresh((\"g\", \"h\")))\n"
             "                population.tell(Pay())\n"))}, extra_trees=3),
        _mutant("costs of half of the gradient", {f"{S}:record_cost": lambda cost: lambda gradient, *rest: cost(
            gradient / 2, *rest)}, extra_trees=3),
        _mutant("leaves without noise", {f"{S}:grow": edit(
            ('curator.release_sum("leaves", charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)',
             'values(population.ask(Leaves(("g", "h"))))[0].T'))}),
        _mutant("noise for a sample, sums of all", {f"{S}:grow": edit(
            ('with curator.subsample("sample", params.subsample, population):',
             'if True:'))}),
        _mutant("amplification by the square of the rate", {f"{S}:Params.budget": edit(
            ("self.trees, self.subsample, schema.scores", "self.trees, self.subsample**2, schema.scores"))}),
        _mutant("the exact number of records in the initial score", {f"{S}:initial_score": edit(
            ('curator.release("count", for_count, np.array([size]))[0]', "size"))}),
    ),
    "dpxgboost": (
        _mutant("a tenth of the noise", {f"{X}:Params.leaf_charge": quieter}),
        _mutant("gradients twice their bound", {f"{X}:Contribution.statistics": doubled}),
        _mutant("filter off", {f"{X}:Contribution.statistics": everybody}),
        _mutant("leaves without noise", {f"{X}:leaf_values": edit(
            ('return curator.release("leaves", charge, value)', "return value"))}),
        _mutant("amplification by the square of the rate", {f"{X}:budget_of": edit(
            ("run * share, rate)", "run * share, rate**2)"))}),
        _mutant("sketch of the exact weights", {f"{X}:sketch": edit(
            ('curator.release("sketch", params.sketch_charge(schema, epsilon), np.concatenate(weights))',
             "np.concatenate(weights)"))}),
    ),
    "inprivate": (
        _mutant("a tenth of the noise", {f"{Z}:Params.leaf_charge": quieter}),
        _mutant("residuals twice their bound", {f"{Z}:Contribution.statistics": doubled}),
        _mutant("candidates from the data", {f"{Z}:Params.split_candidates": from_data}),
        _mutant("residuals not cut", {f"{Z}:clip": lambda _: lambda residual, bound: residual}, target="regression"),
        _mutant("leaves without noise", {f"{Z}:train_tree": edit(
            ('curator.release_sum("leaves", for_leaves, population, Nodes(queries))',
             "values(population.ask(Nodes(queries)))"))}),
        _mutant("every level with the whole share", {f"{Z}:level_epsilon": lambda _: lambda epsilon, depth: epsilon}),
    ),
}  # fmt: skip
