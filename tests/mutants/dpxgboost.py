"""Privacy mutants of DP-XGBoost: each must be caught, and located at the release it concerns."""

from __future__ import annotations

from tests.mutants.harness import Mutant

PAPER = "refdp.papers.dpxgboost"
FORMULAS, SETTINGS, SKETCH, CHARGES, TREE = (
    f"{PAPER}_{part}" for part in ("formulas", "settings", "sketch", "charges", "tree")
)
SOURCES = "refdp.sources"

CHAIN = {
    FORMULAS: '"""The formulas of DP-XGBoost',
    SETTINGS: '"""The settings of DP-XGBoost',
    SKETCH: '"""The private sketch of DP-XGBoost',
    CHARGES: '"""What each release of DP-XGBoost is charged',
    TREE: '"""One tree of DP-XGBoost',
}
"""The paper's modules in the order of their imports; those after a changed one are run again as they are."""

_STANDARD = "standard = standard_draws(mechanism.draws(value), self._secret, self._bits)"
_SECRET = "child, self._secret = generator.spawn(2)"
_GAIN = "utility = gain(left[0], left[1], right[0], right[1], self.params.regularisation)  # after Eq. 3"
_KEPT = "kept = np.abs(gradient) <= params.gradient_bound  # section 4: gradient-based data filtering"
_LEAVES = 'return self.curator.release("leaves", charge.mechanism, value, sensitivity=charge.declared)'
_LEAF_SUMS = """gradient_sum, size = self.mine.leaf_sums(node, count, (self.gradient, None))
        value"""
_YIELD = "method_of(params)) as rows:\n            yield "
_CHOSEN = "chosen.append(self.split(level, split_charge(params, self.schema, epsilon), table, positions))"


def _mutant(name: str, located: str, *patches: tuple[str, str], module: str = TREE, **settings: object) -> Mutant:
    changes = [(module, old, new) for old, new in patches]
    if module in CHAIN:
        later = list(CHAIN)[list(CHAIN).index(module) + 1 :]
        changes += [(other, CHAIN[other], CHAIN[other]) for other in later]
    return Mutant(name, tuple(changes), located, dict(settings))


MUTANTS = (
    _mutant(
        "sketch noise drawn once and reused",
        "sketch",
        (
            _STANDARD,
            "draws = mechanism.draws(value)\n"
            "        kept = self.__dict__.setdefault('kept', {})\n"
            "        fresh = standard_draws(draws, self._secret, self._bits)\n"
            "        standard = kept.setdefault(draws.shape, fresh) if request.name.endswith('sketch') else fresh",
        ),
        module=SOURCES,
    ),
    _mutant(
        "seed from the clock",
        "leaves",
        (
            _SECRET,
            "child, self._secret = generator, np.random.default_rng(int(__import__('time').time()) // 10**6)",
        ),
        module=SOURCES,
    ),
    _mutant(
        "exact sums in the model file",
        "model",
        (
            "return Ensemble(0.0, tuple(trees)",
            "return Ensemble(float(np.round(label.sum(), 6)), tuple(trees)",
        ),
        module=PAPER,
    ),
    _mutant(
        "filtering skipped for node statistics",
        "splits of level 0",
        (_KEPT, "kept = np.abs(gradient) < np.inf"),
        (
            _LEAF_SUMS,
            "g = np.where(np.abs(self.gradient) <= params.gradient_bound, self.gradient, 0.0)\n"
            "        gradient_sum, size = self.mine.leaf_sums(node, count, (g, None))\n"
            "        value",
        ),
        epsilon=0.1,
        trees=6,
    ),
    _mutant(
        "first-order gain sensitivity on Newton gains",
        "splits of level 0",
        ("    if newton(params):\n        ranged", "    if False:\n        ranged"),
        module=CHARGES,
        loss="log",
        ratio_bound=16.0,
        target="binary",
    ),
    _mutant(
        "child minimum on exact counts",
        "splits of level 0",
        ("if exact_counts(self.params):  # section 4.3", "if True:  # section 4.3"),
    ),
    _mutant(
        "gain above zero required",
        "splits of level 0",
        (
            _GAIN,
            f"{_GAIN}\n"
            "        whole = (left + right)[..., :1]\n"
            "        worth = utility > whole[0] ** 2 / (whole[1] + self.params.regularisation) + 1e-9\n"
            "        utility = np.where(worth | ~worth.any(axis=1, keepdims=True), utility, -np.inf)",
        ),
    ),
    _mutant(
        "one sample of the rows for all trees",
        "sketch",
        (f"{_YIELD}rows", f"{_YIELD}curator.__dict__.setdefault('first_rows', rows)"),
        module=PAPER,
    ),
    _mutant(
        "all rows used while a sample is charged",
        "sketch",
        (f"{_YIELD}rows", f"{_YIELD}rows | True"),
        module=PAPER,
    ),
    _mutant(
        "sketch budget not divided between the features",
        "sketch",
        ("    proved = m * sketch_sensitivity", "    proved = sketch_sensitivity"),
        module=CHARGES,
    ),
    _mutant(
        "candidates from exact weights",
        "splits of level 0",
        ("for one in np.split(noisy, ends)]", "for one in np.split(np.concatenate(weights), ends)]"),
    ),
    _mutant(
        "default direction chosen without noise",
        "model",
        (
            _CHOSEN,
            f"{_CHOSEN}\n"
            "            codes, which = self.mine.codes, chosen[-1][:, 0].astype(int)\n"
            "            chosen[-1][:, 2] = [(codes[f] == 0).sum() > 1 for f in which]",
        ),
    ),
    _mutant(
        "leaf values not padded, padded ones charged",
        "leaves",
        ('params.leaf == "minimum" and params.constants == "proved"', 'params.leaf == "average"'),
    ),
    _mutant(
        "noisy average divided by the exact count",
        "model",
        ("size = np.maximum(weighted / weight", "size = np.maximum(sums[1] / weight"),
        leaf="average",
    ),
    _mutant(
        "noisy minimum decided on exact counts",
        "counts of level 0",
        (
            'noisy = self.curator.release(f"counts of level {level}", charge.mechanism, count, '
            "sensitivity=charge.declared)",
            "noisy = count",
        ),
        stopping="noisy",
    ),
    _mutant("exact leaf values", "leaves", (_LEAVES, f"{_LEAVES} * 0 + value")),
    _mutant(
        "replace-one charged as add-remove",
        "leaves",
        ("return 1 if relation is Relation.ADD_REMOVE else 2", "return 1"),
        module=FORMULAS,
        relation="replace-one",
    ),
    _mutant(
        "Newton ratios not clipped",
        "splits of level 0",
        ("if hessian is not None and newton(params):", "if False:"),
        loss="log",
        ratio_bound=1.0,
        target="binary",
    ),
    _mutant(
        "a level's budget not divided by the depth",
        "splits of level 0",
        ('unit * parts["splits"] * share for', 'unit * parts["splits"] for'),
        module=SETTINGS,
    ),
    _mutant(
        "amplification counted twice",
        "sketch",
        ("math.log1p(math.expm1(epsilon) / rate)", "math.log1p(math.expm1(epsilon) / rate / rate)"),
        module=SETTINGS,
    ),
    _mutant(
        "medians charged once for all features",
        "medians 0",
        ("bound = sketch_size(params, schema) * median_range", "bound = median_range"),
        module=CHARGES,
        candidates="quantiles",
    ),
    _mutant(
        "each tree uses the rows beside those of its sample",
        "sketch",
        (f"{_YIELD}rows", f"{_YIELD}np.roll(rows, 1)"),
        module=PAPER,
    ),
)
