"""Training texts of a sixth attack that leak and were not refused; none may be proved.

Formulas and charges are right again. One query is about other records than the selection around it says (`Labels`).
The others are proved by what a reading of one example cannot see: a class asked for under the name of another, a
module by way of refdp's own, what `python -O` leaves out, None in a part of what follows from released values, and what
a function of released values writes into a list or an array of its caller. What follows is one release more, or one
nine times as large, wherever released values or the records' own arrays say so.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit

D, F, S = (f"refdp.papers.{name}" for name in ("dpboost", "fedgbdt", "sgbdt"))
TREE, GROW, VALUES = f"{D}:train_single_tree", f"{S}:grow", f"{S}:leaf_values"
LAST = '    return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, value))'
OWN = 'released.append(curator.release("leaves", charged, sums[place]))'
GIVEN = "    return np.asarray(np.where(positive, value, 0.0))"
SIGNED = "def leaf_values(params: Params, noisy: Floats) -> Floats:"
TREES = "        trees.append(Tree(splits, leaf_values(params, noisy)))"
LEAVES = 'Leaves(("g", "h")), lambda sums: sums[0].T)'
MORE = (
    '            with curator.subsample("sample", params.subsample, population):\n'
    f'                curator.release_sum("leaves", charge, population, {LEAVES}\n'
)


def _mutant(name: str, path: str, *changes: tuple[str, str], **settings: object) -> Mutant:
    return Mutant(name, {path: edit(*changes)}, "", dict(settings))


def _louder(name: str, condition: str, before: str = "pass") -> Mutant:
    """Leaves nine times as large, at the price of leaves, where numpy and not a reading answers."""
    lines = "".join(f"    {line}\n" for line in before.splitlines())
    louder = f"{lines}    value = value * (9.0 if {condition} else 1.0)\n{LAST}"
    return _mutant(name, TREE, (LAST, louder))


def _told(name: str, given: str, test: str, call: str = "leaf_values(params, noisy)", more: str = "",
          before: str = "pass") -> Mutant:  # fmt: skip
    """One release more, which nobody pays, where released values are above 100: the example is below."""
    return Mutant(name, {
        VALUES: edit((SIGNED, SIGNED.replace("noisy: Floats", f"noisy: Floats{more}")), (GIVEN, given)),
        GROW: edit((TREES, f"        {before}\n        found = {call}\n        if {test}:\n{MORE}"
                           "        trees.append(Tree(splits, np.zeros(2)))")),
    }, "", {})  # fmt: skip


def _written(name: str, line: str, test: str = "kept[0] > 100", before: str = "kept = np.zeros(2)") -> Mutant:
    """One release more, which nobody pays, where what was released and written to an array is above 100."""
    return _mutant(name, GROW, (TREES, f"        {before}\n        {line}\n        if {test}:\n{MORE}{TREES}"))


def _many(name: str, draw: str, chosen: str) -> Mutant:
    """Up to nine copies of a tree's gradient sums at the price of the one that the example of a draw chooses."""
    return _mutant(name, f"{F}:leaf_sums",
                   (OWN, f"k = {draw}\n                more = np.array([sums[place][0]] * 9)\n"
                         f'                curator.release("leaves", charged, {chosen})\n'
                         "                released.append(np.zeros((2, 2)))"), target="regression")  # fmt: skip


EVERYBODY: tuple[Mutant, ...] = (
    # A record's label is in the leaves of both trees, and the leaves of one are paid.
    _mutant("labels of everybody in every block", TREE,
            (LAST, "    from refdp.data.population import Labels\n"
                   "    value = 0.5 * values(population.ask(Labels(-0.5, 0.5)))\n" + LAST),
            trees=2, trees_per_ensemble=2),
)  # fmt: skip
NAMED: tuple[Mutant, ...] = (
    _louder("numpy's arrays by the name of a mechanism", "isinstance(value, Laplace)", "Laplace = np.ndarray"),
    _louder("numpy's arrays by the name of a loop", "isinstance(value, Laplace)",
            "for Laplace in (np.ndarray,):\n    pass"),
    _louder("numpy's arrays by the name of a match", "isinstance(value, Laplace)",
            "match np.ndarray:\n    case Laplace:\n        pass"),
    _louder("numpy's arrays by the name of a class", "isinstance(value, Laplace)",
            "class AnEnum(type):\n    def __instancecheck__(cls, value):\n"
            "        return 'ndarray' in str(value.__class__)\n"
            "class Laplace(AnEnum, metaclass=AnEnum):\n    pass"),
    _louder("what has no hash, by the name of a feature", "not isinstance(value, Numeric)",
            "from collections.abc import Hashable as Numeric"),
    _mutant("numpy's arrays in what records contribute", f"{D}:Contribution.statistics",
            ('    return Statistics({"g": g}', "    Numeric = np.ndarray\n"
             '    return Statistics({"g": 9 * g if isinstance(g, Numeric) else g}'), gradients="clip"),
    _louder("isinstance by another name", "kind(value, np.ndarray)", "kind = isinstance"),
    _louder("isinstance of a tuple", "isinstance(*(value, np.ndarray))"),
    _louder("a class by getattr of what is called self", "'ndarray' in str(look(value))",
            "def look(self):\n    return getattr(self, '__class__')"),
    _louder("a class by the built-in names", "'ndarray' in str(__builtins__['type'](value))"),
    _louder("the interpreter by way of a module of refdp",
            "'refdp.prove.reading' not in importlib.import_module('sys').modules",
            "from refdp.data.population import importlib"),
    _louder("how Python was started", "not __debug__"),
    _louder("an assertion that Python may leave out", "loud", "loud = [1]\nassert loud.pop()"),
)  # fmt: skip
NONE: tuple[Mutant, ...] = (
    _louder("whether choices have memory of their own", "chosen[0].base is None"),
    _told("None as a parameter's default", "    return nothing if noisy[0, 0] > 100 else value", "found is None",
          more=", nothing: Floats = None"),
    _told("None that is given", "    return nothing if noisy[0, 0] > 100 else value", "found is None",
          "leaf_values(params, noisy, None)", ", nothing: Floats"),
    _told("None under a name with a kind",
          "    own: Floats = None if noisy[0, 0] > 100 else value\n    return own", "found is None"),
    _told("None by a loop", "    for own in (None,) if noisy[0, 0] > 100 else (value,):\n        pass\n    return own",
          "found is None"),
    _told("None in a tree", "    return Tree(None if noisy[0, 0] > 100 else noisy, value)", "found.splits is None"),
    _told("None that is put into a tree",
          "    return replace(Tree(noisy, value), splits=None if noisy[0, 0] > 100 else noisy)",
          "found.splits is None"),
    _told("None out of a table in a tree", "    return Tree(noisy, {0: value, 1: None}[int(noisy[0, 0] > 100)])",
          "found.leaves is None"),
)  # fmt: skip
KEPT = "leaf_values(params, noisy, kept)"
APPENDED = "    if noisy[0, 0] > 100:\n        kept.append(1)\n" + GIVEN
WRITTEN: tuple[Mutant, ...] = (
    _told("a list of the caller's", APPENDED, "kept", KEPT, ", kept: list", "kept = []"),
    _told("a list in a tuple of the caller's", APPENDED.replace("    if", "    kept, = kept\n    if", 1), "kept[0]",
          KEPT, ", kept: tuple", "kept = ([],)"),
    _told("a dictionary of the caller's", "    kept.update({noisy[0, 0] > 100: 1})\n" + GIVEN, "True in kept", KEPT,
          ", kept: dict", "kept = {}"),
    _told("an array of the caller's", "    kept += noisy[0, 0] > 100\n" + GIVEN, "kept[0] > 0", KEPT,
          ", kept: Floats", "kept = np.zeros(1)"),
    _told("an array of the caller's, by numpy's `at`", "    np.add.at(kept, 0, noisy[0, 0] > 100)\n" + GIVEN,
          "kept[0] > 0", KEPT, ", kept: Floats", "kept = np.zeros(1)"),
    _written("an array as a fourth argument", "np.clip(noisy[0], 0.0, 1e9, kept)"),
    _written("an array as a method's argument", "noisy[0].clip(0.0, 1e9, kept)"),
    _written("an array as an argument that a dictionary names", "np.clip(noisy[0], 0.0, 1e9, **{'out': kept})"),
    _written("an array as an argument that a method's dictionary names", "noisy[0].clip(0.0, 1e9, **{'out': kept})"),
    _written("an array as an argument of a function by another name", "own(noisy[0], 0.0, 1e9, kept)",
             before="kept = np.zeros(2); own = np.clip"),
    _written("an array as an argument by `map`", "list(map(np.clip, [noisy[0]], [0.0], [1e9], [kept]))"),
    _written("a function with a list as its default",
             "np.apply_along_axis(lambda one, kept=kept: kept.append(1) or 0 if one[0] > 100 else 0, 0, noisy)", "kept",
             "kept = []"),
    _written("a list's own method along an axis", "np.apply_along_axis(kept.append, 0, noisy)",
             "kept and kept[0][0] > 100", "kept = []"),
    _written("a key with a list as its default",
             "max(noisy[0, 0], noisy[0, 1], key=lambda one, kept=kept: kept.append(1) or 0 if one > 100 else 0)",
             "kept", "kept = []"),
)  # fmt: skip
LONG: tuple[Mutant, ...] = (
    _many("as many sums as a draw says", 'curator.draw("k", ("integers", 9), ())', "more[: k + 1]"),
    _many("sums from where a function of a draw says",
          'np.where(curator.draw("k", ("uniform",), ()) > 0.6, 0, 8)', "more[k:]"),
    _many("as many sums as a draw says, in an array of another shape", 'curator.draw("k", ("integers", 9), ())',
          "np.reshape(more, (9, 2))[: 1 + k]"),
)  # fmt: skip
SIXTH = (*EVERYBODY, *NAMED, *NONE, *WRITTEN, *LONG)
