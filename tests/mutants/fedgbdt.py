"""Privacy mutants of the federated framework: each must be caught, and located at the release it concerns."""

from __future__ import annotations

from tests.mutants.harness import Mutant

PAPER = "refdp.papers.fedgbdt"
PLAN, GROWING = "refdp.papers.fedgbdt_plan", "refdp.papers.fedgbdt_growing"
POPULATION = "refdp.population"
FORMULAS = "refdp.papers.fedgbdt_formulas"

_GROWER = "class Grower:"
_LEAVES = 'released.append(curator.release("leaves", charged.mechanism, value, sensitivity=charged.declared))'
_LOCAL = 'noisy = curator.release("leaves", charged.mechanism, value, sensitivity=charged.declared)'
_QUERY = """            self.curator.release(name, charged.mechanism, value, sensitivity=charged.declared)
            for name, value in zip(names, sums)
"""
_HESSIAN = 'self.curator.release(f"Hessian histogram {i}", charged.mechanism, bins, sensitivity=charged.declared)'
_TRAIN = "return train_on(params, records.schema, Holding(records), curator, candidates)"
_BELOW = "return [below(above[0], candidates, levels[-1])]"
_OBSERVED = """features = tuple(
        replace(f, low=float(np.nan_to_num(c).min()), high=float(np.nan_to_num(c).max()))
        if isinstance(f, Numeric) else f
        for f, c in zip(records.schema.features, records.x.T)
    )
    return train_on(params, replace(records.schema, features=features), Holding(records), curator, candidates)"""


def _mutant(name: str, old: str, new: str, located: str, module: str = PAPER, **settings: object) -> Mutant:
    patches = {module: (old, new)}
    if module in (FORMULAS, PLAN):  # what uses them is executed again as well, unchanged, to see the mistake
        patches = patches | {PLAN: patches.get(PLAN, ("def plan(", "def plan(")), GROWING: (_GROWER, _GROWER)}
    return Mutant(name, tuple((where, *texts) for where, texts in patches.items()), located, dict(settings))


def _changed(release: str, mechanism: str) -> str:
    return release.replace("charged.mechanism", mechanism)


MUTANTS = (
    Mutant(
        "noise only at the root for k = 1",
        (
            (GROWING, _BELOW, "return self.population.bin_sums(2**level)"),
            (GROWING, "if len(features) > 1 and level + 1", "if level + 1"),
        ),
        "model",
        {"splits": "histogram", "features_per_tree": 1},
    ),
    _mutant(
        "histogram count wrong by a factor",
        "return trees if chosen == 1 else trees * chosen * depth",
        "return trees if chosen == 1 else trees * chosen",
        "histogram 0 of level 0",
        module=FORMULAS,
        splits="histogram",
    ),
    _mutant(
        "exact leaf counts kept",
        _LEAVES,
        f"{_LEAVES}\n            released[-1] = np.stack([released[-1][0], value[1]])",
        "model",
        update="gradient",
    ),
    _mutant("range from the data", _TRAIN, _OBSERVED, "model"),
    _mutant(
        "quantiles although uniform candidates were asked for",
        'if params.candidates == "quantiles" else None\n    return',
        "if True else None\n    return",
        "model",
    ),
    _mutant(
        "one Poisson charge a query instead of a tree",
        _QUERY,
        """            self._sampled(name, value, charged)
            for name, value in zip(names, sums)
        ]

    def _sampled(self, name: str, value: Floats, charged: Charge) -> Floats:
        with self.curator.subsample("rows", 0.5, self.population.records.size):
            return self.curator.release(name, charged.mechanism, value, sensitivity=charged.declared)

    def _unused(self) -> list[Floats]:
        return [
""",
        "histogram 0 of level 0",
        splits="histogram",
        module=GROWING,
    ),
    _mutant(
        "Hessian noise halved",
        _HESSIAN,
        _changed(_HESSIAN, "type(charged.mechanism)(charged.mechanism.sd / 2)"),
        "Hessian histogram 0",
        candidates="iterative-hessian",
        module=GROWING,
    ),
    _mutant(
        "iterative Hessian follows the exact histogram",
        "self._refined(candidates, features, self._hessian_histograms(features))",
        "self._refined(candidates, features, self._hessian_histograms(features) and "
        "self.population.hessian_sums(features))",
        "model",
        candidates="iterative-hessian",
        module=GROWING,
    ),
    _mutant(
        "Hessian histograms are not counted",
        "return int(asked + candidate_queries(splits, all_rounds(params, schema), chosen))",
        "return int(asked)",
        "Hessian histogram 0",
        candidates="iterative-hessian",
        module=PLAN,
    ),
    _mutant(
        "delta not divided between the classes",
        'params.delta / models if params.one_vs_rest == "divided" else params.delta',
        "params.delta",
        "leaves",
        target="three",
        module=PLAN,
    ),
    _mutant(
        "epsilon not divided between the classes",
        "total_mu(params.epsilon / models, delta",
        "total_mu(params.epsilon, delta",
        "leaves",
        target="three",
        module=PLAN,
    ),
    _mutant(
        "sensitivity of adding a record where one is replaced",
        "return newton_squared_sensitivity(relation, bound)",
        "return newton_squared_sensitivity(Relation.ADD_REMOVE, bound)",
        "leaves",
        relation="replace-one",
        module=PLAN,
    ),
    _mutant(
        "published sensitivity in the repaired variant",
        'declared = printed if params.sensitivities == "published" else proved',
        "declared = printed",
        "leaves",
        relation="replace-one",
        update="gradient",
        module=PLAN,
    ),
    _mutant(
        "gradient bound of one batch too early",
        "gradient_bound_after(updates, params.leaf_clip",
        "gradient_bound_after(max(updates - 1, 0), params.leaf_clip",
        "leaves",
        sensitivities="by-round",
        module=PLAN,
    ),
    _mutant(
        "gradients of a regression not clipped",
        "np.asarray(clip_gradient(on_grid(gradient), grid_floor(params.gradient_bound))), None",
        "on_grid(gradient), None",
        "leaves",
        target="regression",
        gradient_bound=0.5,
    ),
    _mutant(
        "initial score from the labels",
        "self._score = np.zeros(self.records.size)",
        "self._score = np.full(self.records.size, np.log((self._label.mean() + 0.01) / (1.01 - self._label.mean())))",
        "leaves",
        module=POPULATION,
    ),
    _mutant(
        "records counted once for each tree of a batch",
        "return np.stack([kernels.leaf_sums(leaf, leaves, (self._g, self._h)) for leaf in self._batch])",
        "return np.stack([len(self._batch) * kernels.leaf_sums(leaf, leaves, (self._g, self._h)) "
        "for leaf in self._batch])",
        "leaves",
        module=POPULATION,
        batch=3,
    ),
    _mutant(
        "partially random: the right sides are exact",
        "return Options.of_sides(positions, self._released(level, sums, charged))",
        "noisy = self._released(level, sums, charged)\n"
        "        both = [np.stack([n[..., 0], s[..., 1]], axis=-1) for n, s in zip(noisy, sums)]\n"
        "        return Options.of_sides(positions, both)",
        "model",
        splits="partially-random",
        module=GROWING,
    ),
    _mutant(
        "one noise for all leaves",
        _LEAVES,
        _LEAVES + "\n            released[-1] = value + (released[-1] - value)[0, 0]",
        "model",
    ),
    _mutant(
        "local model: noise for a quarter of the sensitivity",
        _LOCAL,
        _changed(_LOCAL, "type(charged.mechanism)(charged.mechanism.sd / 4)"),
        "leaves",
        noise_by="record",
        relation="replace-one",
    ),
    _mutant(
        "local model: only a record's own leaf is noisy",
        "return np.asarray(noisy.sum(axis=0))",
        "return np.asarray(np.where(value != 0, noisy, 0).sum(axis=0))",
        "model",
        noise_by="record",
        relation="replace-one",
    ),
    _mutant(
        "several records of a participant pay for one",
        "if params.records_each > 1:",
        "if params.records_each > 1_000_000:",
        "leaves",
        records_each=3,
        module=PLAN,
    ),
)
