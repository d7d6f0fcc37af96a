"""Privacy mutants of the federated framework: each must be caught, and located at the release it concerns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from refdp.data.memory import Memory
from refdp.data.population import Leaves, Query
from refdp.data.records import Numeric, Records
from refdp.papers.published.fedgbdt import quantiles
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from tests.mutants.harness import Mutant, Replacement, edit

PAPER, MEMORY = "refdp.papers.fedgbdt", "refdp.data.memory"
SCORED, LEAVES, SIDES = (f"{PAPER}:{name}" for name in ("scored_splits", "leaf_sums", "random_sides"))
HISTOGRAMS, HESSIAN, TRAIN = (f"{PAPER}:{name}" for name in ("histograms", "hessian_histograms", "train"))
PARAMS, ASK, CHARGE = f"{PAPER}:Params", f"{MEMORY}:Memory.ask", f"{PAPER}:charge"

_LEAVES = 'released.append(curator.release("leaves", charged, sums[place]))'
_HESSIAN = 'curator.release(f"Hessian histogram {i}", charged, own)'
_QUERY = "curator.release(name, charged, own)"
_LOCAL = 'curator.release_sum("leaves", charged, population, Reports(SUMS, place))'


def observed(train: Any) -> Any:
    """Ranges of the features as the records have them."""

    def mutant(params: Any, records: Records, curator: Curator) -> Any:
        features = tuple(
            replace(f, low=float(np.nan_to_num(c).min()), high=float(np.nan_to_num(c).max()))
            if isinstance(f, Numeric)
            else f
            for f, c in zip(records.schema.features, records.x.T, strict=True)
        )
        return train(params, replace(records, schema=replace(records.schema, features=features)), curator)

    return mutant


def by_quantiles(candidates: Any) -> Any:
    """Quantiles of the records, whatever was asked for."""
    return lambda self, schema, host: (
        quantiles(host.exposed(), self.bins) if isinstance(host, Memory) else candidates(self, schema, host)
    )


def from_labels(begin: Any) -> Any:
    """The log odds of the labels' mean as the score of every record."""

    def mutant(self: Memory, contribution: Any, outputs: tuple[int, ...]) -> None:
        begin(self, contribution, outputs)
        for output, label in self._label.items():
            self._score[output] += np.log((label.mean() + 0.01) / (1.01 - label.mean()))

    return mutant


def once_for_each_tree(ask: Any) -> Any:
    """Records are counted in the leaves of a tree as often as the batch has trees."""

    def mutant(self: Memory, query: Query) -> Any:
        return ask(self, query) * (len(self._batch) if isinstance(query, Leaves) else 1)

    return mutant


def not_clipped(statistics: Any) -> Any:
    """Gradients of a regression as they are."""
    return lambda self, score, label, of: statistics(
        replace(self, params=replace(self.params, gradient_bound=8.0)), score, label, of
    )


def of_added(proved: Any) -> Any:
    """The sensitivity of adding a record where one is replaced."""
    return lambda self, kind, bound: replace(
        proved(replace(self, relation=Relation.ADD_REMOVE), kind, bound), relation=self.relation
    )


def printed(proved: Any) -> Any:
    """The root of 2, as printed for gradient updates, whatever the neighbours."""
    return lambda self, kind, bound: replace(proved(self, kind, bound), bound=2**0.5)


def _mutant(name: str, located: str, patches: dict[str, Replacement], **settings: object) -> Mutant:
    return Mutant(name, patches, located, dict(settings))


MUTANTS = (
    _mutant(
        "noise only at the root for k = 1",
        "model",
        {
            SCORED: edit(
                (
                    "bins = [below(bins[0], candidates, levels[-1])]",
                    "bins = candidates.apart(values(population.ask(Bins(SUMS))), features)",
                ),
                ("if len(features) > 1 and level + 1", "if level + 1"),
            )
        },
        splits="histogram",
        features_per_tree=1,
    ),
    _mutant(
        "histogram count wrong by a factor",
        "histogram 0 of level 0",
        {
            f"{PAPER}:split_queries": lambda count: (
                lambda splits, trees, chosen, depth: count(splits, trees, chosen, 1)
            ),
        },
        splits="histogram",
    ),
    _mutant(
        "exact leaf counts kept",
        "model",
        {
            LEAVES: edit(
                (_LEAVES, f"{_LEAVES}\n                released[-1] = np.stack([released[-1][0], sums[place][1]])")
            )
        },
        update="gradient",
    ),
    _mutant("range from the data", "model", {TRAIN: observed}),
    _mutant(
        "quantiles although uniform candidates were asked for", "model", {f"{PARAMS}.split_candidates": by_quantiles}
    ),
    _mutant(
        "one Poisson charge a query instead of a tree",
        "histogram 0 of level 0",
        {
            HISTOGRAMS: edit(
                (
                    f"return [{_QUERY} for name, own in zip(names, bins, strict=True)]",
                    "found = []\n"
                    "    for name, own in zip(names, bins, strict=True):\n"
                    '        with curator.subsample("rows", 0.5, population):\n'
                    f"            found.append({_QUERY})\n"
                    "    return found",
                )
            )
        },
        splits="histogram",
    ),
    _mutant(
        "Hessian noise halved",
        "Hessian histogram 0",
        {
            HESSIAN: edit(
                (
                    _HESSIAN,
                    'curator.release(f"Hessian histogram {i}", '
                    "replace(charged, mechanism=replace(charged.mechanism, sd=charged.mechanism.sd / 2)), own)",
                )
            )
        },
        candidates="iterative-hessian",
    ),
    _mutant(
        "iterative Hessian follows the exact histogram",
        "model",
        {
            HESSIAN: edit(
                (
                    f"return [{_HESSIAN} for i, own in enumerate(bins)]",
                    f"[{_HESSIAN} for i, own in enumerate(bins)]\n    return bins",
                )
            )
        },
        candidates="iterative-hessian",
    ),
    _mutant(
        "Hessian histograms are not counted",
        "Hessian histogram 0",
        {f"{PAPER}:candidate_queries": lambda count: lambda splits, rounds, chosen: 0},
        candidates="iterative-hessian",
    ),
    _mutant(
        "delta not divided between the classes",
        "leaves",
        {f"{PARAMS}.score_delta": lambda share: lambda self, schema: self.delta},
        target="three",
    ),
    _mutant(
        "epsilon not divided between the classes",
        "leaves",
        {f"{PARAMS}.query_mu": edit(("self.epsilon / schema.scores", "self.epsilon"))},
        target="three",
    ),
    _mutant(
        "one budget for all classes, of which each has all",
        "leaves",
        {f"{PARAMS}.query_mu": edit(("schema.scores * self.queries(schema)", "self.queries(schema)"))},
        target="three",
        one_vs_rest="together",
    ),
    _mutant(
        "sensitivity of adding a record where one is replaced",
        "leaves",
        {f"{PARAMS}.proved": of_added},
        relation="replace-one",
    ),
    _mutant(
        "published sensitivity in the repaired variant",
        "leaves",
        {f"{PARAMS}.proved": printed},
        relation="replace-one",
        update="gradient",
    ),
    _mutant(
        "gradient bound of one batch too early",
        "leaves",
        {f"{PAPER}:gradient_bound_after": lambda bound: lambda updates, *step: bound(max(updates - 1, 0), *step)},
        sensitivities="by-round",
    ),
    _mutant(
        "gradients of a regression not clipped",
        "leaves",
        {f"{PAPER}:Contribution.statistics": not_clipped},
        target="regression",
        gradient_bound=0.5,
    ),
    _mutant("initial score from the labels", "leaves", {f"{MEMORY}:Memory._begin": from_labels}),
    _mutant("records counted once for each tree of a batch", "leaves", {ASK: once_for_each_tree}, batch=3),
    _mutant(
        "partially random: the right sides are exact",
        "model",
        {
            SIDES: edit(
                (
                    "return Options.of_sides(positions, released)",
                    "both = [np.stack([n[..., 0], s[..., 1]], axis=-1) for n, s in zip(released, sums)]\n"
                    "    return Options.of_sides(positions, both)",
                )
            )
        },
        splits="partially-random",
    ),
    _mutant(
        "one noise for all leaves",
        "model",
        {
            LEAVES: edit(
                (
                    _LEAVES,
                    f"{_LEAVES}\n                released[-1] = sums[place] + (released[-1] - sums[place])[0, 0]",
                )
            )
        },
    ),
    _mutant(
        "local model: noise for a quarter of the sensitivity",
        "leaves",
        {
            f"{PARAMS}.local_sums": edit(
                (
                    _LOCAL,
                    _LOCAL.replace(
                        "charged,",
                        "replace(charged, mechanism=replace(charged.mechanism, sd=charged.mechanism.sd / 4)),",
                    ),
                )
            )
        },
        noise_by="record",
        relation="replace-one",
    ),
    _mutant(
        "local model: only a record's own leaf is noisy",
        "model",
        {
            f"{PARAMS}.local_sums": edit(
                (
                    f"{_LOCAL}.sum(axis=0)",
                    f"np.where(values(population.ask(Reports(SUMS, place))) != 0, {_LOCAL}, 0).sum(axis=0)",
                )
            )
        },
        noise_by="record",
        relation="replace-one",
    ),
    _mutant(
        "several records of a participant pay for one",
        "leaves",
        {CHARGE: edit(("if each > 1:", "if each > 1_000_000:"))},
        records_each=3,
    ),
)
