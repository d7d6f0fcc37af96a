"""Further training texts that leak, each through a rule of the reading; none may be proved.

Most were proved when they were written; what was mended is the rule, and other texts that rest on it are refused too.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit

D, F, S, X = (f"refdp.papers.{name}" for name in ("dpboost", "fedgbdt", "sgbdt", "dpxgboost"))
SPLITS, SUMS, BOOST = f"{D}:splits_of_most_gain", f"{F}:leaf_sums", f"{F}:boost"
OWN = 'curator.release("leaves", charged, sums[place])'
G = "clip_gradient(on_grid(square_gradient(score, label)), bound)"
LEAVES = "            sums = leaf_sums(params, batch, charged, population, curator)"
FEW = {"target": "regression", "trees": 6, "depth": 1}
TWO = {"target": "regression", "trees": 2, "batch": 2, "depth": 1}


def _mutant(name: str, path: str, *changes: tuple[str, str], **settings: object) -> Mutant:
    return Mutant(name, {path: edit(*changes)}, "", dict(settings))


def _released(name: str, value: str, **settings: object) -> Mutant:
    """Another value in place of the sums of a tree's leaves."""
    return _mutant(name, SUMS, (OWN, f'curator.release("leaves", charged, {value})'), **settings)


def _louder(name: str, when: str, before: str = "pass", after: str = "pass") -> Mutant:
    """Sums of leaves nine times as large in some rounds of boosting."""
    return _mutant(
        name, BOOST,
        ("    trees: list[Tree] = []", f"    trees: list[Tree] = []\n    {before}\n    pass"),
        (LEAVES, f"            factor = 9.0 if {when} else 1.0\n"
                 '            sums = [curator.release("leaves", charged, own * factor)\n'
                 "                    for own in values(population.ask(Leaves(SUMS)))]\n"
                 f"            {after}"), **FEW)  # fmt: skip


ENTRIES: tuple[Mutant, ...] = (
    _mutant("half of the leaves less the other half", SUMS,
            (OWN, 'np.repeat(curator.release("leaves", charged,\n'
                  "                    1000.0 * (sums[place][:, :2] - sums[place][:, 2:])), 2, axis=1)"),
            target="regression", depth=2),
    _mutant("bins less their neighbours", f"{X}:bin_weights",
            ("    return [column[1:]",
             "    columns = [own[2:] + 1000.0 * (own[2:] - own[1:-1]) for own in columns]\n"
             "    return [column[1:]"), candidates="sketch"),
    _released("leaves of one tree less those of another", "sums[place] + 1000.0 * (sums[0] - sums[1])", **TWO),
    _mutant("sides of candidates less those of others", f"{D}:train_ensembles",
            ("                with subsets.block(position):\n"
             "                    trees.append(train_single_tree(params, candidates, epsilon, block.clip, population, "
             "curator))",
             "                from dataclasses import replace\n"
             '                other = replace(params, candidates="log").split_candidates(schema, population)\n'
             "                with subsets.block(position):\n"
             "                    population.tell(Root(candidates.features))\n"
             '                    one, _ = candidates.sides(values(population.ask(Bins(("g", COUNT)))))\n'
             "                    population.tell(Encode(other))\n"
             '                    two, _ = other.sides(values(population.ask(Bins(("g", COUNT)))))\n'
             "                    utility = 1000.0 * (one[0] - two[0])\n"
             "                    charged = params.split_charge(epsilon)\n"
             '                    chosen = curator.release("splits", charged, utility, options=candidates.values)\n'
             "                    trees.append(Tree(chosen, np.zeros(2)))\n"
             "                    population.tell(Encode(candidates))")),
    _mutant("bins less those between other candidates", f"{D}:train_ensembles",
            ("                with subsets.block(position):\n"
             "                    trees.append(train_single_tree(params, candidates, epsilon, block.clip, population, "
             "curator))",
             "                from dataclasses import replace\n"
             '                other = replace(params, candidates="log").split_candidates(schema, population)\n'
             "                with subsets.block(position):\n"
             "                    from refdp.data.population import Histogram\n"
             '                    one = values(population.ask(Histogram(("g",), (0,))))[0]\n'
             "                    population.tell(Encode(other))\n"
             '                    two = values(population.ask(Histogram(("g",), (0,))))[0]\n'
             "                    one, two = candidates.apart(one, [0])[0], other.apart(two, [0])[0]\n"
             "                    charged = params.leaf_charge(epsilon, block.clip)\n"
             '                    chosen = curator.release("bins", charged, 1000.0 * (one - two))\n'
             "                    trees.append(Tree(np.empty((0, 2)), chosen[:1]))\n"
             "                    population.tell(Encode(candidates))")),
    _mutant("utilities that a candidate's number multiplies", SPLITS,
            ("    return curator.release(",
             "    utility = utility + np.arange(utility.shape[1]) * (left[1] + right[1])\n"
             "    return curator.release(")),
    _released("sums in another order, less themselves",
              "(sums[place].T + 1000.0 * (np.reshape(np.reshape(sums[place], (1, 8)).T, (4, 2)) - sums[place].T)).T",
              target="regression", depth=2),
    _mutant("a total over statistics too", f"{X}:bin_weights",
            ("    return [column[1:]",
             "    first = table[:, :, grid.offsets[0] : grid.offsets[1]]\n"
             "    more = 1000.0 * (np.ravel(first).sum(axis=-1) - first.sum(axis=-1))[0][0]\n"
             "    columns = [own + more for own in columns]\n"
             "    return [column[1:]"), candidates="sketch"),
    _released("an index that is a truth value", "sums[place][0] + 1000.0 * (sums[place][True] - sums[place][1])",
              target="regression"),
)  # fmt: skip
FORMULAS: tuple[Mutant, ...] = (
    _released("cut at bounds that are swapped", "sums[place] + 1000.0 * np.clip(0.0, 10.0, sums[place])",
              target="regression"),
    _released("zero times a quotient of empty leaves", "sums[place] + 0.0 * (sums[place] / sums[place])",
              target="regression"),
    _released("truth values that are added",
              "sums[place] + 1000.0 * ((sums[place] > 0) + (sums[place] > 0) - 2 * (sums[place] > 0))",
              target="regression"),
    _mutant("a quotient beside the record that it has none for", f"{F}:Contribution.statistics",
            (G, "np.where(label == 0, 64.0, np.clip(on_grid(1 / label), -bound, bound))"), target="regression"),
    _mutant("truth values of a record that are added", f"{F}:Contribution.statistics",
            (G, "64.0 * ((label > 0) + (label > 0) - 2 * (label > 0))"), target="regression"),
    _mutant("statistics off the grid of sums", f"{F}:Contribution.statistics",
            (G, "np.clip(label, -0.3, 0.3) * 3.0"), target="regression"),
    _mutant("where an exponential is 0", f"{F}:Contribution.statistics",
            (G, "np.where(np.exp(-1000.0 * score) > 0, 0.0, 64.0)"), target="regression"),
    _mutant("an infinite exponential over itself", f"{F}:Contribution.statistics",
            (G, "on_grid(np.exp(score) / (1 + np.exp(score)))"), target="regression"),
)  # fmt: skip
ROUNDS: tuple[Mutant, ...] = (
    _mutant("a release more where a released value has some text", SUMS,
            (f"                released.append({OWN})",
             f"                released.append({OWN})\n"
             '                if f"{np.rint(released[-1][0][0])}" == "3.0":\n'
             f"                    released[-1] = {OWN}"), target="regression"),
    _louder("the text of a round's number", 'f"{number}" == "3"'),
    _louder("the text of a round's number, by str", 'str(number) == "3"'),
    _louder("a released array that grows", "len(grown) > 5", "grown = np.zeros(0)",
            "grown = np.concatenate([grown, sums[0][0]])"),
    _louder("a function that counts a list", "count() > 3", "count = lambda: sum(1 for _ in trees)"),
    _louder("a set that grows", "len(seen) > 3", "seen = set()", "seen.add(len(seen))"),
    _louder("a queue that grows", "len(seen) > 3", "from collections import deque; seen = deque()",
            "seen.appendleft(1)"),
    _louder("an array of lists", "len(kept[0]) > 4", "kept = np.array([[1], [2, 3]], dtype=object)",
            "own = kept[0]; own.append(1)"),
    _louder("a round's number is this object", "number is third", "third = 3"),
    _louder("whether it is true by identity", "(number == 3) is True"),
    _louder("a round's number beyond 64 bits", "number * 2**62 * 4 > 0"),
    _louder("truth values of rounds that are added", "(number >= 1) + (number >= 1) == 2"),
    _mutant("a truth value in a pattern", BOOST,
            (LEAVES, "            factor = 1.0\n            match number == 3:\n"
                     "                case True:\n                    factor = 9.0\n"
                     '            sums = [curator.release("leaves", charged, own * factor)\n'
                     "                    for own in values(population.ask(Leaves(SUMS)))]"), **FEW),
    _mutant("sums of one block released in many", f"{D}:train_ensembles",
            ("            for position, block in enumerate(blocks):  # Alg. 2, l. 3",
             "            for position in range(len(blocks)):\n                block = blocks[0]"),
            ("                with subsets.block(position):",
             "                population.tell(Root(candidates.features))\n"
             "                with subsets.block(np.minimum(position, 1)):\n"
             '                    own, size = values(population.ask(Nodes(("g", COUNT))))\n'
             "                with subsets.block(position):"),
            ("                    trees.append(train_single_tree(params, candidates, epsilon, block.clip, population, "
             "curator))",
             "                    value = leaf_value(own, size, params.regularisation)\n"
             "                    value = np.clip(value, -block.clip, block.clip)\n"
             "                    charged = params.leaf_charge(epsilon, block.clip)\n"
             '                    trees.append(Tree(np.empty((0, 2)), curator.release("leaves", charged, value)))'),
            trees=4, trees_per_ensemble=4),
)  # fmt: skip
PAYING: tuple[Mutant, ...] = (
    _mutant("budgets that begin anew", f"{S}:train_on",
            ("            outputs.append(",
             "            population.tell(Begin(Contribution(params, schema), (output,)))\n"
             "            more = grow(params, schema, 0, params.trees + params.extra_trees, population, curator)\n"
             "            trees = [*trees, *more]\n"
             "            outputs.append("), extra_trees=2),
)  # fmt: skip
FURTHER = (*ENTRIES, *FORMULAS, *ROUNDS, *PAYING)
