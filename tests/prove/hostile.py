"""Eight training texts that leak in ways that no other text here tries; none may be proved.

They were written before any of them was read. Their author had seen the reading's source, so that they are no blind
test of it. Four were proved at first (`AT_FIRST`); of what was mended then `SIBLINGS` shows further cases.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit

D, F, S = (f"refdp.papers.{name}" for name in ("dpboost", "fedgbdt", "sgbdt"))
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
)  # fmt: skip
