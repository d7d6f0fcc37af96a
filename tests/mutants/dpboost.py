"""Privacy mutants of DPBoost and of what it stands on: each must be caught, and located at the release it concerns."""

from __future__ import annotations

from tests.mutants.harness import Mutant

PAPER = "refdp.papers.dpboost"
SOURCES = "refdp.sources"

_LEAVES = 'noisy = curator.release("leaves", leaf.mechanism, value, sensitivity=leaf.declared)  # Alg. 1, l. 14'
_CLIP = "value = np.clip(value, -clip, clip)  # Alg. 1, l. 13: geometric leaf clipping"
_STANDARD = "standard = standard_draws(mechanism.draws(value), self._secret, self._bits)"
_RETURN = "return Tree(np.concatenate(chosen), noisy)"
_SCORE = "score += params.shrinkage * trees[-1].leaves[binned.leaf_index(trees[-1])]"
_ROUTE = "node = mine.route(node, chosen[-1])  # Alg. 1, l. 10"
_USED = "used = rows & (np.abs(gradient) <= params.gradient_bound)"


def _mutant(name: str, old: str, new: str, located: str, module: str = PAPER, **settings: object) -> Mutant:
    return Mutant(name, ((module, old, new),), located, dict(settings))


MUTANTS = (
    _mutant(
        "Laplace scale times .98",
        _LEAVES,
        'noisy = curator.release("leaves", type(leaf.mechanism)(leaf.mechanism.scale * 0.98), value, '
        "sensitivity=leaf.declared)",
        "leaves",
    ),
    _mutant(
        "exponential mechanism without the factor 2",
        "Exponential.calibrated(level_epsilon, declared.bound)",
        "Exponential.calibrated(level_epsilon, declared.bound / 2)",
        "splits of level 0",
    ),
    _mutant(
        "published gain sensitivity in the repaired variant",
        'if params.constants == "published":  # Theorem 2',
        "if True:  # Theorem 2",
        "splits of level 0",
    ),
    _mutant(
        "exact count decides that a leaf is empty",
        _RETURN,
        "return Tree(np.concatenate(chosen), np.where(count == 0, 0.0, noisy))",
        "model",
    ),
    _mutant(
        "initial score from the data",
        "score = np.zeros(binned.size)",
        "score = np.full(binned.size, on_grid(label.mean()))",
        "splits of level 0",
    ),
    _mutant(
        "candidates from the data",
        'if params.candidates == "data":\n        return',
        'if params.candidates == "uniform":\n        return',
        "splits of level 0",
    ),
    _mutant(
        "unfiltered gradients", _USED, "used = rows & (np.abs(gradient) < np.inf)", "splits of level 0", epsilon=0.1
    ),
    _mutant(
        "one noise draw reused for all trees",
        _STANDARD,
        "draws = mechanism.draws(value)\n"
        "        kept = self.__dict__.setdefault('kept', {})\n"
        "        standard = kept.setdefault(draws.shape, standard_draws(draws, self._secret, self._bits))",
        "leaves",
        module=SOURCES,
    ),
    _mutant(
        "fixed seed noise",
        "child, self._secret = generator.spawn(2)",
        "child, self._secret = generator, np.random.default_rng(0)",
        "leaves",
        module=SOURCES,
    ),
    _mutant(
        "noise of a fixed seed beside the door",
        _LEAVES,
        "noisy = value + np.random.default_rng(0).laplace(size=value.shape)",
        "leaves",
    ),
    _mutant("no noise on the leaves", _LEAVES, "noisy = value", "leaves"),
    _mutant(
        "best split without noise",
        "                split.mechanism,  # Alg. 1, l. 8 and 9\n                utility,",
        "                split.mechanism,  # Alg. 1, l. 8 and 9\n                1e9 * utility,",
        "splits of level 0",
    ),
    _mutant(
        "partition by row index",
        "with subsets.block(position) as rows:",
        "with subsets.block(position) as rows:\n"
        "                    rows = np.arange(len(rows)) % len(blocks) == position",
        "splits of level 0",
    ),
    _mutant(
        "every tree on all records while charged in parallel",
        "with subsets.block(position) as rows:",
        "with subsets.block(position) as rows:\n                    rows = np.ones(len(rows), dtype=bool)",
        "splits of level 0",
    ),
    _mutant(
        "subset sizes that depend on the number of records",
        'if params.blocks == "sizes" else None',
        'if params.blocks == "independent" else None',
        "ensemble 0",
    ),
    _mutant(
        "budget split wrong by a level",
        "level_epsilon = epsilon / (2 * params.depth)  # Alg. 1, l. 2: eps_nleaf",
        "level_epsilon = epsilon / (2 * (params.depth - 1))",
        "splits of level 0",
    ),
    _mutant(
        "whole tree budget on the leaves",
        'leaf_epsilon = epsilon / 2 if params.leaf_budget == "half"',
        'leaf_epsilon = epsilon if params.leaf_budget == "half"',
        "leaves",
    ),
    _mutant(
        "budget of each ensemble not divided",
        "return params.epsilon / len(ensembles(params)) / schema.scores",
        "return params.epsilon / schema.scores",
        "splits of level 0",
    ),
    _mutant("leaf values not clipped", _CLIP, "pass", "leaves"),
    _mutant(
        "leaf values clipped after the noise only",
        _CLIP + "\n    " + _LEAVES,
        _LEAVES + "\n    noisy = np.clip(noisy, -clip, clip)",
        "leaves",
    ),
    Mutant(
        "gradients from true leaf values",
        (
            (PAPER, _RETURN, "object.__setattr__(params, 'last', value)\n    " + _RETURN),
            (PAPER, _SCORE, "score += params.shrinkage * params.last[binned.leaf_index(trees[-1])]"),
        ),
        "splits of level 0",
        {},
    ),
    _mutant(
        "growth stops where the best gain is small",
        _ROUTE,
        _ROUTE + "\n        if utility.max() < 1:\n            rest = params.depth - level - 1\n"
        "            chosen += [np.repeat(chosen[-1][:1], 2 ** (level + 1 + i), axis=0) for i in range(rest)]\n"
        "            node = node * 2**rest\n            break",
        "splits of level 1",
    ),
    _mutant(
        "labels scaled by the range of the data",
        "return label if isinstance(records.schema.target, Interval) else 2 * label - 1",
        "return 2 * (label - label.min()) / max(float(np.ptp(label)), 1e-9) - 1",
        "splits of level 0",
    ),
    _mutant(
        "leaves released twice and averaged, charged once",
        _LEAVES,
        _LEAVES
        + '\n    noisy = (noisy + curator.release("leaves", leaf.mechanism, value, sensitivity=leaf.declared)) / 2',
        "splits of level 0",
    ),
    _mutant(
        "replace-one charged as add-remove",
        "return 1 if relation is Relation.ADD_REMOVE else 2",
        "return 1",
        "splits of level 0",
        relation="replace-one",
    ),
    _mutant(
        "discrete leaves without room for rounding",
        "touched=records_changed(relation))",
        "touched=0)",
        "leaves",
        noise="discrete",
    ),
)
