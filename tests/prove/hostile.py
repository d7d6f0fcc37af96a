"""Eight training texts that leak in ways that no other text here tries; none may be proved.

They were written before any of them was read. Their author had seen the reading's source, so that they are no blind
test of it. Four were proved at first (`AT_FIRST`); of what was mended then `SIBLINGS` shows further cases.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit

D, F, S, X = (f"refdp.papers.{name}" for name in ("dpboost", "fedgbdt", "sgbdt", "dpxgboost"))
TREE, SUMS = f"{D}:train_single_tree", f"{F}:leaf_sums"
LAST = '    return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, value))'
OWN = 'curator.release("leaves", charged, sums[place])'


def _mutant(name: str, path: str, *changes: tuple[str, str], **settings: object) -> Mutant:
    return Mutant(name, {path: edit(*changes)}, "", dict(settings))


HOSTILE: tuple[Mutant, ...] = (
    _mutant("sums are left with the curator, who outlives the run", TREE,
            (LAST, f"    curator.notes = [value]\n{LAST}")),
    _mutant("a queue that a class keeps", TREE,
            (LAST, f'    from collections import deque\n    setattr(Tree, "kept", deque([value]))\n{LAST}')),
    _mutant("louder from the seventeenth call, counted in a dictionary by another name", SUMS,
            ("    released = ", '    seen = WHOLE\n    seen["calls"] = seen.get("calls", 0) + 1\n    released = '),
            (OWN, 'curator.release("leaves", charged, sums[place] * (9.0 if seen["calls"] > 17 else 1.0))')),
    _mutant("statistics as small numbers without a sign", f"{F}:Contribution.statistics",
            ("clip_gradient(on_grid(square_gradient(score, label)), bound)",
             "np.clip(np.rint(square_gradient(score, label)), -bound, bound).astype(np.uint8)")),
    _mutant("digits lost beside a large number", SUMS,
            (OWN, 'curator.release("leaves", charged, sums[place] + 2.0**62 - 2.0**62)')),
    _mutant("an overflow times zero", SUMS,
            (OWN, 'curator.release("leaves", charged, sums[place] + 0.0 * (sums[place] * 1e300 * 1e300))')),
    _mutant("sums of one subset are released in the next", f"{D}:train_ensembles",
            ("    trees: list[Tree] = []", "    trees: list[Tree] = []\n    before = []"),
            ("                    trees.append(",
             "                    population.tell(Root(candidates.features))\n"
             '                    before.append(values(population.ask(Nodes(("g",))))[0])\n'
             "                    if position > 0:\n"
             "                        own = np.clip(before[-2], -block.clip, block.clip)\n"
             '                        curator.release("leaves", params.leaf_charge(epsilon, block.clip), own)\n'
             "                    trees.append("), trees=2, trees_per_ensemble=2),
    _mutant("leaves and their parents at the price of leaves", TREE,
            ("    for level in range(params.depth):", "    above = []\n    for level in range(params.depth):"),
            ("        chosen.append(",
             '        own, size = values(population.ask(Nodes(("g", COUNT))))\n'
             "        above.append(np.clip(leaf_value(own, size, params.regularisation), -clip, clip))\n"
             "        chosen.append("),
            (LAST, "    value = np.concatenate([above[-1], value])\n" + LAST)),
)  # fmt: skip
AT_FIRST = (
    "louder from the seventeenth call, counted in a dictionary by another name",
    "statistics as small numbers without a sign",
    "digits lost beside a large number",
    "an overflow times zero",
)
"""Those that the reading took for private before: of a state under another name, of kinds of numbers, of float64."""
SIBLINGS: tuple[Mutant, ...] = (
    _mutant("one run in a hundred is louder, by numpy's own random numbers", SUMS,
            (OWN, 'curator.release("leaves", charged, sums[place] * (9.0 if np.random.random() < 0.01 else 1.0))')),
    _mutant("louder by numpy's settings", SUMS,
            (OWN, 'curator.release("leaves", charged, sums[place] * (1.0 if np.geterr()["over"] == "warn" else 9.0))')),
    _mutant("numpy by another name", SUMS,
            (OWN, "curator.release(\"leaves\", charged, sums[place] * (9.0 if (other := np).random.random() < 0.01 "
                  "else 1.0))")),
    _mutant("sums as an array of small numbers without a sign", SUMS,
            (OWN, 'curator.release("leaves", charged, np.asarray(sums[place], dtype=np.uint8))')),
    _mutant("digits lost beside a large released number", SUMS,
            (OWN, 'curator.release("leaves", charged, sums[place] if not released else\n'
                  '                    sums[place] + released[0] * 2.0**62 - released[0] * 2.0**62)'),
            trees=2, batch=2),
    _mutant("digits of a record's gradient lost beside a large number", f"{F}:Contribution.statistics",
            ("clip_gradient(on_grid(square_gradient(score, label)), bound)",
             "clip_gradient(on_grid(square_gradient(score, label)), bound) + 2.0**70 - 2.0**70")),
    _mutant("how often a cached function was called", SUMS,
            (OWN, 'curator.release("leaves", charged, sums[place] * (9.0 if charge.cache_info().hits > 17 else 1.0))')),
    _mutant("totals of bins cut one by one, less the total cut", f"{X}:bin_weights",
            ("    return [column[1:]",
             "    cut = [np.minimum(own, 1.0).sum(axis=-1, keepdims=True) -\n"
             "           np.minimum(own.sum(axis=-1, keepdims=True), 1.0) for own in columns]\n"
             "    columns = [own + 1000.0 * more for own, more in zip(columns, cut, strict=True)]\n"
             "    return [column[1:]"), candidates="sketch"),
    _mutant("sides of bins cut one by one, less the sides cut", f"{X}:gains",
            ("    ways = [(left, right)]",
             "    cut = grid.sides(np.minimum(table, 1.0), at)[1] - np.minimum(right, 1.0)\n"
             "    ways = [(left, right + 1000.0 * cut)]")),
    _mutant("medians of weights cut one by one", f"{X}:medians",
            ("median_utilities(weights,", "median_utilities([np.minimum(one, 1.0) for one in weights],"),
            candidates="quantiles"),
    _mutant("medians of all features at the price of one", f"{X}:Params.quantile_charge",
            ("m = self.sketch_size(schema)", "m = 1"), candidates="quantiles"),
    _mutant("medians two per cent dearer than declared", f"{X}:Params.quantile_charge",
            ("m * median_range", "0.98 * m * median_range"), candidates="quantiles"),
    _mutant("every level of medians at the price of all", f"{X}:medians",
            ("epsilon / levels", "epsilon"), candidates="quantiles", bins=7),
)  # fmt: skip
