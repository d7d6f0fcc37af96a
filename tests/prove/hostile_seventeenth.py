"""Training texts of a seventeenth attack that leak more than they declare and were PROVED: whose sums are which.

By cause, each with what the reading overlooked: sums of which it takes two for one, candidates that are not those which
records were encoded by, bounds that hold at an example alone, and labels of a size that float64 has no digits for.
"""

# ruff: noqa: E501
from __future__ import annotations

from refdp.data.records import Interval, Schema
from tests.mutants.harness import Mutant, added, edit
from tests.mutants.matrix import FEATURES
from tests.prove.attacks import D, S, X, Z
from tests.prove.hostile_fifteenth import ONE, _class, _has

CLIPPED = "value = np.clip(value, -clip, clip)  # Alg. 1, l. 13: geometric leaf clipping\n"
LEVELS = "    for level in range(params.depth):"
SIDES = 'left, right = candidates.sides(values(population.ask(Bins(("g", COUNT)))))  # Alg. 1, l. 6: each split value'
TREE, SPLITS = f"{D}:train_single_tree", f"{D}:splits_of_most_gain"

# 1. A slice of one node (leaf, bin), of which entry 0 is taken, has no axis that says which node it is: prove/tables.py
#    `_picked` gives seat "r0" for every axis of size 1, so that two nodes are the same sum, and a root's less a node's
# has no change. A record is in one of them alone: 8 (n_0 - n_1) changes by 8. Axis("part", 1, of=("some", ...)) is no
# root: an index of it should be refused (or keep its `of` as a seat of its own, which a record can be in or not).
#    measured: L1 change 16.0 or more, declared 0.909 (dpboost); 3 to 15 seconds.
SLICES = (
    Mutant("one node less another", {TREE: edit((CLIPPED, CLIPPED + "    value = value + 8.0 * (count[0:1][0] - count[1:2][0])\n"))}, "", ONE),
    Mutant("the root less a node", {TREE: edit(
        (LEVELS, f"    root = values(population.ask(Nodes((COUNT,))))[0][0]\n{LEVELS}"),
        (CLIPPED, CLIPPED + "    value = value + 8.0 * (root - count[0:1][0])\n"))}, "", ONE),
    Mutant("one bin less another", {TREE: edit(
        (LEVELS, f"    bins = values(population.ask(Bins((COUNT,))))[0][0][: params.bins + 2]\n{LEVELS}"),
        (CLIPPED, CLIPPED + "    value = value + 8.0 * (bins[1:2][0] - bins[2:3][0])\n"))}, "", ONE),
    Mutant("one leaf less another, of records that pay", {f"{S}:grow": edit(
        ("lambda sums: sums[0].T)", "lambda sums: 64.0 * (sums[0][:, 0:1][:, 0] - sums[0][:, 1:2][:, 0]))"),
        ("trees.append(Tree(splits, leaf_values(params, noisy)))", "noisy = np.array([noisy, noisy])\n        trees.append(Tree(splits, leaf_values(params, noisy)))"))},
        "", {"extra_trees": 2, "target": "binary"}),
    Mutant("one node's pair less another's", {f"{Z}:train_tree": edit(
        ('noisy = curator.release_sum("leaves", for_leaves, population, Nodes(queries))',
         "both = values(population.ask(Nodes(queries)))\n    least = 64.0 * (both[:, 0:1][:, 0] - both[:, 1:2][:, 0])\n"
         '    noisy = curator.release("leaves", for_leaves, np.array([least, least]).T)'))},
        "", {"rounds": 1, "depth": 2, "target": "regression", "noise": "floating"}),
)  # fmt: skip

# 2. Sums to the right of candidates that are not those which records were encoded by: prove/exchange.py `right_sums`
#    asks `check_sides` whether the candidates agree with themselves, and nobody whether their offsets are those of
# `table.axes[-1].of.candidates` (symbols.py `_stands_for_all` asks it of released ones alone, by identity of the
# thresholds, whatever `categorical` is). A feature of the other candidates spans bins of two of the real ones, and a
# record is in it twice. Rule: `right_sums` (and `Candidates.apart`, `take`) wants the same thresholds and kinds.
#    measured: range of the change 7.75 and 11.7 of the gains, declared 4; 3 seconds.
WIDE = """population.tell(Encode(candidates := params.split_candidates(schema, population)))
    own = grids.uniform(schema, params.bins)
    most = int(own.bins[1] + own.bins[2]) - 2
    wide = replace(own, thresholds=(own.thresholds[0], np.arange(float(most))), categorical=np.zeros(2, dtype=np.bool_))"""
HEAD = "params: Params, schema: Schema, candidates: Candidates, "
ENCODED = (
    Mutant("a feature of other candidates is two of those that are encoded", {
        **_has(D, "replace", "dataclasses"),
        f"{D}:train_on": edit(
            ("population.tell(Encode(candidates := params.split_candidates(schema, population)))", WIDE),
            ("train_ensembles(params, schema, candidates, ", "train_ensembles(params, schema, candidates, wide, ")),
        f"{D}:train_ensembles": edit((HEAD, HEAD + "wide: Candidates, "),
            ("train_single_tree(params, candidates, ", "train_single_tree(params, candidates, wide, ")),
        TREE: edit(("params: Params, candidates: Candidates, ", "params: Params, candidates: Candidates, wide: Candidates, "),
            ("choose(params, level, for_splits, candidates, ", "choose(params, level, for_splits, wide, "))}, "", ONE),
    Mutant("candidates of other kinds with the same thresholds", {
        **_has(D, "replace", "dataclasses"),
        f"{D}:+plainer": added("def plainer(candidates: Candidates) -> Candidates:\n"
                               "    return replace(candidates, categorical=np.array([False, False, True]))\n"),
        SPLITS: edit((SIDES, SIDES.replace("candidates.sides", "plainer(candidates).sides")))}, "", ONE),
)  # fmt: skip

# 3. What a sum is of is told by the example of released values or public draws: which candidates (exchange.py
#    `right_sums`: `of` from `public(chosen)`), which features (unknown.py `tell`, case Root: `public(features)`), and
# whether bins are those of missing values (tables.py `take`). Two that are the same in the example are the same sum;
# the coin below is always 0.5 in the reading and is above it in every other run. Rule: a released choice is named by
# itself (a serial number of the Known), never by its example; features and bins may not be released at all.
#    measured: range 7.60 and 7.89, declared 4; L1 change 16.0, declared 0.909; 3 seconds.
COIN = 'curator.draw("coin", ("uniform",), 1)[0]'
EXAMPLES = (
    Mutant("left of some candidates, right of others", {SPLITS: edit((SIDES,
        'table, every = values(population.ask(Bins(("g", COUNT)))), np.arange(len(candidates.values))\n'
        f"    coin = {COIN}\n    left, _ = candidates.sides(table, every)\n"
        "    _, right = candidates.sides(table, np.where(coin > 0.5, len(candidates.values) - 1 - every, every))"))}, "", ONE),
    Mutant("bins of features that are drawn", {TREE: edit((CLIPPED, CLIPPED + """    first = 2 * curator.draw("first", ("integers", 2), 1)[0]
    population.tell(Root((first,)))
    one = values(population.ask(Bins((COUNT,))))[0][0]
    second = 2 * curator.draw("second", ("integers", 2), 1)[0]
    population.tell(Root((second,)))
    other = values(population.ask(Bins((COUNT,))))[0][0]
    value = np.clip(8.0 * (one[: params.bins + 2] - other[: params.bins + 2]), -100.0, 100.0)
"""), ('curator.release("leaves", for_leaves, value))', 'curator.release("leaves", for_leaves, value)[:2])'))}, "", ONE),
    Mutant("bins of missing values, or those after them", {
        f"{X}:gains": edit(("at: Positions)", "at: Positions, coin: float)"),
            ("grid.missing_sums(table, at)", "table.take(grid.offsets[grid.feature[at]] + np.where(coin > 0.5, 1, 0), axis=-1)")),
        f"{X}:train_tree": edit(("    table, chosen = sums_at_root", f"    coin = {COIN}\n    table, chosen = sums_at_root"),
            ("*gains(params, grid, table, at)", "*gains(params, grid, table, at, coin)"))}, "", {"subsample": 1.0}),
)  # fmt: skip

# 4. `np.maximum` of a released number and an open parameter is taken to be at least the parameter's *example*:
#    prove/arithmetic.py `combined` puts examples in the place of what is open (line 37) before it takes `least` from
# the plain numbers. The function of the parameter is 1 at both ends, which are read with numbers, and at the settings'
# own value; it is 0 in the middle, where g = label / max(draw, 0) has no bound. Rule: `least` from plain arguments
# alone, those that are open left out (or their range's least).
#    measured at regularisation = 1: range 451 and L1 change 1.0, declared 4 and 0.5; 10 seconds.
LEAST = """@dataclass(frozen=True)
class Scaled:
    params: Params
    schema: Schema
    by: float

    def label(self, output: int, y: Floats) -> Floats:
        return self.schema.label(output, y)

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        least = np.absolute(2.0 * (self.params.regularisation - 1.0))
        return Statistics({"g": on_grid(label / np.maximum(self.by, least))})
"""
OPEN = (
    Mutant("the least of a range is that of the example", {**_class(D, LEAST), f"{D}:train_on": edit(
        ("population.tell(Begin(Contribution(params, schema), (output,)))",
         'by = curator.draw("by", ("uniform",), 1)[0]\n        population.tell(Begin(Scaled(params, schema, by), (output,)))'))},
        "", {**ONE, "regularisation": 1.5}),
)  # fmt: skip
ANYWHERE = {"regularisation": (0.5, 1.5)}
"""With this argument of `prove`: `OPEN`."""

# 5. Labels of the schema's range are taken for numbers of size 1: prove/magnitudes.py `_of` has 2^0 for an unknown that
#    is in no `ranges`, and unknown.py `_begin` says nothing of the range of y. label * 0.7 / 0.7 - label is 0 for real
# numbers; near 1e20 float64 loses 4096 to 8192. Rule: `_begin` puts y into `magnitudes.ranges` (its target's ends), or
# its Kind is ANYWHERE where an end is beyond 2^20.
#    measured for y = 5.650661643592273e19: range of the gains 2.1e7, declared 4; L1 change 1.49, declared 0.909; 2 seconds.
LABELS = (
    Mutant("labels of a large range lose their digits", {
        f"{D}:Contribution.label": edit(("    label = self.schema.label(output, y)\n    return label if isinstance(self.schema.target, Interval) else 2 * label - 1", "    return y")),
        f"{D}:Contribution.statistics": edit(
            ("g = on_grid(square_gradient(score, label))", "g = on_grid(np.clip(label, -1.0, 1.0))"),
            ('return Statistics({"g": g}, ', 'lost = on_grid(label - label * 0.7 / 0.7)\n    return Statistics({"g": g + lost}, '))}, "", ONE),
)  # fmt: skip
LARGE = Schema(FEATURES, Interval(0.0, 1e20))
"""The schema of `LABELS`; all others have that of `tests.prove.page.read`."""

SEVENTEENTH = (*SLICES, *ENCODED, *EXAMPLES)
