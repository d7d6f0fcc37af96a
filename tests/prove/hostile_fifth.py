"""Training texts of a fifth attack that show a record and were not refused; none may be proved.

Again their formulas are right, and hosts follow the steps in ways that the order of the steps does not tell. Codes of
records change under a tree that has been begun, in place where every record is used and in a copy where one is left
out. Scores move between two sums of one tree, and a host that looks at another selection in between has the statistics
of both moments. A start has one number for each of several records. And noise on a grid that is too fine is an error
for values that only some records bring.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit

D, F, S, X, OWNERS = (f"refdp.papers.{name}" for name in ("dpboost", "fedgbdt", "sgbdt", "dpxgboost", "inprivate"))
ROOT = "    population.tell(Root(candidates.features))  # Alg. 1, l. 3: the records that are used\n"
DOWN = "        population.tell(Descend(chosen[-1]))  # Alg. 1, l. 10\n"
ADVANCE = "population.tell(Advance(trees[-1].leaves[None], params.shrinkage))"
OTHERWISE = (
    "        from refdp.data.population import Histogram, Start\n"
    "        population.tell(Start(0.5))\n"
    "        with curator.subsample('other', 0.5, population):\n"
    "            other = population.ask(Histogram(('count',), (0,)))\n"
)


def _mutant(name: str, path: str, *changes: tuple[str, str], **settings: object) -> Mutant:
    return Mutant(name, {path: edit(*changes)}, "", dict(settings))


def _recoded(name: str, old: str, new: str, **settings: object) -> Mutant:
    """DPBoost's tree with other candidates at hand; with this bound a record can be left out of the first tree."""
    paired = "train_single_tree(params, (candidates, grids.logarithmic(schema, params.bins)),"
    return Mutant(name, {
        f"{D}:train_ensembles": edit(("train_single_tree(params, candidates,", paired)),
        f"{D}:train_single_tree": edit(
            ("    for_splits, for_leaves =", "    candidates, others = candidates\n    for_splits, for_leaves ="),
            (old, new),
        ),
    }, "", {"gradient_bound": 0.5, **settings})  # fmt: skip


def _started(name: str, path: str, old: str, new: str, **settings: object) -> Mutant:
    """A start, with the class at hand in a trainer that has none."""
    return _mutant(name, path, (old, f"from refdp.data.population import Start; {new}"), **settings)


RECODED: tuple[Mutant, ...] = (
    _recoded("other candidates after the root", ROOT, ROOT + "    population.tell(Encode(others))\n"),
    _recoded("other candidates after the root, told in another selection", ROOT,
             ROOT + "    with curator.subsample('other', 0.5, population):\n        population.tell(Encode(others))\n"),
    _recoded("other candidates between the choice and its step", DOWN,
             "        population.tell(Encode(others))\n" + DOWN, depth=2),
    _recoded("other candidates one level down", DOWN, DOWN + "        population.tell(Encode(others))\n", depth=2),
    _mutant("other candidates after the sums at the root", f"{X}:train_tree",
            ("    options = both_ways(params, grid, at)\n",
             "    options = both_ways(params, grid, at)\n"
             "    population.tell(Encode(grids.logarithmic(schema, params.bins)))\n"),
            depth=2, subsample=1.0, gradient_bound=0.5),
    _mutant("other candidates after a level's counts", f"{X}:train_tree",
            ("        chosen.append(splits)\n",
             "        chosen.append(splits)\n"
             "        population.tell(Encode(grids.logarithmic(schema, params.bins)))\n"),
            depth=2, subsample=1.0, gradient_bound=0.5, stopping="noisy"),
)  # fmt: skip
MOVED: tuple[Mutant, ...] = (
    _mutant("scores move in a tree, and another selection is looked at", f"{D}:train_single_tree",
            (DOWN, OTHERWISE + DOWN), gradient_bound=0.5, depth=2),
    _mutant("scores move by a tree that joins none", f"{D}:train_single_tree",
            (ROOT, ROOT + "    from refdp.data.population import Histogram\n"
                          "    population.tell(Place(candidates.values[:1]))\n"
                          "    population.tell(Advance(np.array([[0.5, -0.5]]), 1.0))\n"
                          "    with curator.partition('other', (0.5, 0.5), population) as two, two.block(0):\n"
                          "        other = population.ask(Histogram(('g',), (0,)))\n"),
            gradient_bound=0.5),
    _mutant("parents of one moment, children of another", f"{F}:scored_splits",
            ("        levels.append(position)\n", "        levels.append(position)\n" + OTHERWISE),
            splits="histogram", depth=2),
    _mutant("parents of one moment, children of another, of an owner", f"{OWNERS}:train_tree",
            ("        population.tell(Descend(chosen[-1]))  # Alg. 1, l. 7\n",
             "        population.tell(Descend(chosen[-1]))\n" + OTHERWISE), depth=3),
    _mutant("parents of one moment, children of another, of a sample", f"{X}:train_tree",
            ("        chosen.append(splits)\n", "        chosen.append(splits)\n" + OTHERWISE),
            depth=2, gradients="clip"),
)  # fmt: skip
SEVERAL: tuple[Mutant, ...] = (
    _mutant("one start for each of two records", f"{S}:initial_score",
            ("population.tell(Start(initial))", "population.tell(Start(np.array([initial, initial])))"), trees=2),
    _mutant("one start for each of two records, as a list", f"{S}:initial_score",
            ("population.tell(Start(initial))", "population.tell(Start([initial, initial]))"), trees=2),
    _started("a start by a tree's leaves", f"{D}:train_ensembles", ADVANCE,
             "population.tell(Start(trees[-1].leaves)); " + ADVANCE, trees=2, trees_per_ensemble=2),
    _started("a start by a sampled tree's leaves", f"{X}:train_ensemble", ADVANCE,
             "population.tell(Start(trees[-1].leaves)); " + ADVANCE, trees=2),
)  # fmt: skip
FINE: tuple[Mutant, ...] = (
    _mutant("a grid on which values above a quarter have no place", f"{D}:Params.leaf_charge",
            ("return laplace_charge(self.leaf_epsilon(epsilon), proved, proved, self.noise, touched=touched)",
             "from refdp.noise.mechanisms import DiscreteLaplace\n"
             "    made = laplace_charge(self.leaf_epsilon(epsilon), proved, proved, 'floating', touched=touched)\n"
             "    return Charge(DiscreteLaplace(made.mechanism.scale, 2.0**-54), made.declared, made.proved)")),
)  # fmt: skip
FIFTH = (*RECODED, *MOVED, *SEVERAL, *FINE)
