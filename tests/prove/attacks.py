"""Training texts that leak by a route beside the formulas: what a proof of the formulas alone would miss.

Each changes one function of a paper. Where the records are unknown all of them behave; where they train they release
more than is charged, or show a record in what is not released.
"""

from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, edit

D, F, S, X, Z = (f"refdp.papers.{name}" for name in ("dpboost", "fedgbdt", "sgbdt", "dpxgboost", "inprivate"))
G = "refdp.own.grove"
TREE, SPLITS = f"{D}:train_single_tree", f"{D}:splits_of_most_gain"
SMALL: dict[str, dict[str, Any]] = {
    "dpboost": {"trees": 1, "trees_per_ensemble": 1, "depth": 1, "noise": "floating"},
    "fedgbdt": {"trees": 1, "depth": 1, "target": "regression", "noise": "floating"},
    "sgbdt": {"trees": 1, "depth": 1, "target": "regression"},
    "dpxgboost": {"trees": 1, "depth": 1, "candidates": "uniform"},
    "inprivate": {"rounds": 1, "depth": 2, "target": "regression"},
    "grove": {"trees": 1, "depth": 1},
}
LAST = '    return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, value))'


def _at_end(more: str) -> tuple[str, str]:
    """Lines before the leaves of DPBoost are released."""
    return LAST, "".join(f"    {line}\n" for line in more.splitlines()) + LAST


def _of_root(more: str) -> tuple[tuple[str, str], ...]:
    """The number of records at hand, before the leaves of DPBoost are released."""
    head = "    for level in range(params.depth):"
    return (head, f"    root = values(population.ask(Nodes((COUNT,))))[0][0]\n{head}"), _at_end(more)


def _mutant(name: str, path: str, *changes: tuple[str, str], **settings: object) -> Mutant:
    return Mutant(name, {path: edit(*changes)}, "", dict(settings))


ATTACKS: tuple[Mutant, ...] = (
    _mutant("sums in units of the grid are taken for sums", TREE,
            ('values(population.ask(Nodes(("g", COUNT))))', 'population.ask(Nodes(("g", COUNT)))')),
    _mutant("sums in units of the grid are released", f"{F}:leaf_sums",
            ("values(population.ask(Leaves(SUMS)))", "population.ask(Leaves(SUMS))")),
    _mutant("every candidate chooses a node", SPLITS, ("charged, utility, options", "charged, utility.T, options")),
    _mutant("two choices at the price of one", SPLITS,
            ("    return curator.release(",
             "    utility = np.array([utility[0], utility[0]])\n    both = curator.release("),
            ("options=candidates.values)  # l. 8 and 9", "options=candidates.values)\n    return both[:1]")),
    _mutant("sums for all candidates at the price of one", TREE,
            ("    gradient_sum, count = values",
             '    left, _ = candidates.sides(values(population.ask(Bins(("g", COUNT)))))\n'
             "    value = np.clip(left[0] / (left[1] + 1), -clip, clip)\n"
             '    return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, value))\n'
             "    gradient_sum, count = values"), regularisation=1.0),
    _mutant("clipped, but for no entry", TREE,
            ("np.clip(value, -clip, clip)", "np.clip(value, -clip, clip, where=False, out=value)")),
    _mutant("an iterator in the model", f"{D}:train_ensembles",
            ("return Ensemble(0.0, tuple(trees),",
             'return Ensemble(iter([values(population.ask(Nodes(("g",))))]), tuple(trees),')),
    _mutant("a function in the model", f"{D}:train_ensembles",
            ("    return Ensemble(0.0, tuple(trees),",
             '    kept = values(population.ask(Nodes(("g",))))\n    return Ensemble(lambda: kept, tuple(trees),')),
    _mutant("an attribute of a function", TREE, _at_end("predict.kept = value")),
    _mutant("a list beside the model", TREE, _at_end("kept = SplitRule.__args__\nkept = [*kept, value]")),
    _mutant("a step is named by a sum", TREE,
            (LAST, "    with curator.step(count):\n    " + LAST)),
    _mutant("a release is named by a sum", TREE, ('curator.release("leaves", for', "curator.release(count, for")),
    _mutant("options are sums", SPLITS, ("options=candidates.values", "options=left[0].T")),
    _mutant("as many releases as released values say", TREE,
            (LAST, '    first = curator.release("leaves", for_leaves, value)\n'
             "    for _ in range(len(first[first > 100])):\n"
             '        curator.release("leaves", for_leaves, value)\n'
             "    return Tree(np.concatenate(chosen), first)")),
    _mutant("as many releases as released values differ", TREE,
            (LAST, '    first = curator.release("leaves", for_leaves, value)\n'
             "    for _ in np.unique(np.rint(first / 100))[1:]:\n"
             '        curator.release("leaves", for_leaves, value)\n'
             "    return Tree(np.concatenate(chosen), first)")),
    _mutant("a function of released values that releases", TREE,
            (LAST, '    first = curator.release("leaves", for_leaves, value)\n'
             '    max(first, key=lambda one: curator.release("leaves", for_leaves, value) if one > 100 else one)\n'
             "    return Tree(np.concatenate(chosen), first)")),
    _mutant("a function along released values that releases", TREE,
            (LAST, '    first = curator.release("leaves", for_leaves, value)\n'
             '    again = lambda one: curator.release("leaves", for_leaves, value) if one[0] > 100 else one\n'
             "    np.apply_along_axis(again, 0, first)\n"
             "    return Tree(np.concatenate(chosen), first)")),
    _mutant("a released value is looked up", TREE,
            (LAST, '    first = curator.release("leaves", for_leaves, value)\n'
             "    for _ in range({0.0: 1}.get(np.rint(first[0]), 0)):\n"
             '        curator.release("leaves", for_leaves, value)\n'
             "    return Tree(np.concatenate(chosen), first)")),
    _mutant("a sum is looked up in a set", TREE, *_of_root("if root in {0.0, 1.0}:\n    value = 9 * value")),
    _mutant("the class of a number", TREE, *_of_root("if isinstance(root, float):\n    value = 9 * value")),
    _mutant("a pattern that asks for a class", TREE,
            *_of_root("match root:\n    case float():\n        value = 9 * value")),
    _mutant("what numpy takes for a number", TREE, *_of_root("if np.isscalar(root):\n    value = 9 * value")),
    _mutant("errors are suppressed", TREE,
            _at_end("from contextlib import suppress\nwith suppress(Exception):\n    value = np.cumsum(9 * value)")),
    _mutant("the population is asked how many slots it has", TREE,
            _at_end("slots = []\npopulation.select(99, lambda n: np.full(n, slots.append(n) or 0))\n"
                    "value = value * (9 if slots[0] > 5 else 1)")),
    _mutant("an attribute that only arrays have", TREE,
            _at_end('value = value * (1 if getattr(count, "__array_interface__", None) is None else 9)')),
    Mutant("`train` looks at the records first", {f"{D}:train": edit(
        ("train_on(params, records.schema, Memory(records), curator)",
         "train_on(params, records.schema, Memory(records), curator) if len(records.y) else None"))}, "", {}),
)  # fmt: skip


def _no_room(path: str, call: str = "self.noise, touched=touched", **settings: object) -> Mutant:
    """Nothing is added to a bound for values that the noise's grid moves."""
    short = path.rpartition(".")[2]
    return _mutant(f"no room for rounding: {short}", path, (call, call.replace("touched=touched", "touched=0")),
                   noise="discrete", **settings)  # fmt: skip


BETWEEN = " + ".join(["np.maximum(0, np.minimum({0}, 1 - {0}))"] * 8)
"""0 for whole numbers from 0, 4 for a half; without a product of two sums, in which float64 could lose digits."""
ROUNDED: tuple[Mutant, ...] = (
    _no_room(f"{D}:Params.leaf_charge"),
    _no_room(f"{Z}:Params.leaf_charge"),
    _no_room(f"{F}:charge", "params.noise, touched=touched"),
    _mutant("no room for rounding: leaves of DP-XGBoost", f"{X}:Params._laplace", ("touched=cells", "touched=0")),
    _mutant("no room for rounding: the sum of labels", f"{S}:Params.initial_charges",
            ("total, total, self.noise, touched=1", "total, total, self.noise, touched=0")),
    _mutant("records pay for sums, and what is released is off the grid", f"{S}:grow",
            ("lambda sums: sums[0].T", "lambda sums: sums[0].T * 0.3"), extra_trees=1),
)  # fmt: skip
"""Values that discrete noise rounds, of which nobody took account."""
WEIGHED: tuple[Mutant, ...] = (
    _mutant("the number of records, taken for whole", f"{S}:Params.initial_charges",
            ("count, count, self.noise, touched=1", "count, count, self.noise, touched=0")),
    _mutant("a number of records between 0 and 1 stands out", f"{S}:initial_score",
            ("np.array([size])", f"np.array([size + {BETWEEN.format('size')}])")),
    _mutant("counts of classes, taken for whole", f"{G}:Params.counts_charge", ("touched=touched)\n", "touched=0)\n")),
)  # fmt: skip
"""Texts that are private where every record counts as 1, and leak where records have weights in [0, 1]."""


def paper_of(mutant: Mutant) -> str:
    """The paper that a mutant changes."""
    return next(iter(mutant.patches)).partition(":")[0].rpartition(".")[2]  # type: ignore[union-attr]
