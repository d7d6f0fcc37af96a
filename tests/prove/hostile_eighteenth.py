"""Training texts of an eighteenth attack that leak more than they declare and were PROVED: what one example stands for.

By cause, each with what the reading overlooked: a released value that is no number, a class of released values that is
not looked into, candidates and shapes that are those of the example alone, lengths that follow from released values,
steps of any size, and numbers that hosts do not look at.
"""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, added, edit, instead
from tests.prove.attacks import D, X
from tests.prove.hostile_fifteenth import ONE, _class, _has
from tests.prove.hostile_seventeenth import HEAD

CLIPPED = "value = np.clip(value, -clip, clip)  # Alg. 1, l. 13: geometric leaf clipping\n"
LAST = '    return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, value))'
COIN = '    coin = curator.draw("coin", ("uniform",), 1)[0]\n'
TREE = f"{D}:train_single_tree"
ENCODE = "population.tell(Encode(candidates := params.split_candidates(schema, population)))"
BEGIN = "population.tell(Begin(Contribution(params, schema), (output,)))"
ADVANCE = "                population.tell(Advance(trees[-1].leaves[None], params.shrinkage))\n"
ONE_METHOD = "\n    def one(self) -> float:\n        return 1.0\n"
"""Without a method a class has no code by which the harness's text of it is found."""


def _function(module: str, source: str) -> dict[str, Any]:
    return {f"{module}:+{source.partition('def ')[2].partition('(')[0]}": added(source)}


def _louder(name: str, line: str, condition: str, patches: dict[str, Any] | None = None) -> Mutant:
    """Leaves nine times as large where a condition holds, which is False in every reading: the coin is 0.5 there."""
    lines = f"{CLIPPED}{COIN}    {line}\n    value = value * (9.0 if {condition} else 1.0)\n"
    return Mutant(name, {**(patches or {}), TREE: edit((CLIPPED, lines))}, "", ONE)


# 1. A released value was None, or a member of an enumeration, and `is` is False of what stands for it. A `Known` is made
#    of numbers alone now (prove/symbols.py), and methods of a text's own objects are looked at as functions are.
PICK = _class(D, """@dataclass(frozen=True)
class Flag:
    how: float

    def pick(self, one: Any, other: Any) -> Any:
        return one if self.how > 0.5 else other
""") | _function(D, "def flagged(coin: float) -> Flag:\n    return Flag(coin * 1.0)\n")  # fmt: skip
NO_NUMBERS = (
    _louder("an item of an array of objects is None", "one = np.where(coin > 0.5, None, 1.0).item()", "one is None"),
    _louder("an entry of a list of an array of objects is None",
            "one = np.array([coin, None]).tolist()[np.where(coin > 0.5, 1, 0)]", "one is None"),
    _louder("a method of a released object gives the None that it is given", "one = flagged(coin).pick(None, 1.0)", "one is None", PICK),
    _louder("a method of a released object gives a member of an enumeration",
            "one = flagged(coin).pick(Relation.ADD_REMOVE, Relation.REPLACE_ONE)", "one is Relation.ADD_REMOVE", PICK),
    # as many releases as a coin says: 1.5 spent of 1 at coin 0.95
    Mutant("a further release where an item is None", {TREE: edit((LAST, f"""{COIN}    one = np.where(coin > 0.5, None, 1.0).item()
    if one is None:
        curator.release("leaves", for_leaves, value)
{LAST}"""))}, "", ONE),
)  # fmt: skip

# 2. An object that a function of released values gives was not looked into. Its fields are numbers now, and by the
#    function's syntax every `return` makes it by one class's name, or by `replace` of one parameter (prove/objects.py).
FLAG = _class(D, f"@dataclass(frozen=True)\nclass Flag:\n    how: Relation\n{ONE_METHOD}") | _function(
    D,
    "def flagged(coin: float, one: Relation, other: Relation) -> Flag:\n    return Flag(one if coin > 0.5 else other)\n",
)
PARAMS = _has(D, "replace", "dataclasses") | _function(
    D, "def flagged(coin: float, one: Params, other: Params) -> Params:\n    return other if coin > 0.5 else one\n"
)


def _through(first: str) -> dict[str, Any]:
    """Trees choose among `wide`, and records are encoded by `candidates`."""
    return {
        f"{D}:train_on": edit((ENCODE, first), ("train_ensembles(params, schema, candidates, ", "train_ensembles(params, schema, candidates, wide, ")),
        f"{D}:train_ensembles": edit((HEAD, HEAD + "wide: Candidates, "),
            ("train_single_tree(params, candidates, ", "train_single_tree(params, candidates, wide, ")),
        TREE: edit(("params: Params, candidates: Candidates, ", "params: Params, candidates: Candidates, wide: Candidates, "),
            ("choose(params, level, for_splits, candidates, ", "choose(params, level, for_splits, wide, "))}  # fmt: skip


WIDE = f"""{ENCODE}
    own = grids.uniform(schema, params.bins)
    most = int(own.bins[1] + own.bins[2]) - 2
    other = replace(own, thresholds=(own.thresholds[0], np.arange(float(most))), categorical=np.zeros(2, dtype=np.bool_))
{COIN}    wide = flagged(coin, other, candidates).own"""
HELD = (
    _louder("a field is a member of an enumeration", "flag = flagged(coin, Relation.REPLACE_ONE, Relation.ADD_REMOVE)",
            "flag.how is Relation.REPLACE_ONE", FLAG),
    _louder("parameters that are chosen by a coin have another relation",
            "flag = flagged(coin, params, replace(params, relation=Relation.REPLACE_ONE))", "flag.relation is Relation.REPLACE_ONE", PARAMS),
    Mutant("other candidates than those of the example, in a field", {
        **_has(D, "replace", "dataclasses"),
        **_class(D, f"@dataclass(frozen=True)\nclass Flag:\n    own: Candidates\n{ONE_METHOD}"),
        **_function(D, "def flagged(coin: float, one: Candidates, other: Candidates) -> Flag:\n    return Flag(one if coin > 0.5 else other)\n"),
        **_through(WIDE)}, "", ONE),
)  # fmt: skip

# 3. Released candidates counted as those that records were encoded by where the example's thresholds are the same. Now
#    they have to be the very same released value that `Encode` was told of (prove/symbols.py, `_is_told`).
SPREAD = f"""{ENCODE}
    own = params.split_candidates(schema, population)
    bins = own.bins
    first, second = int(bins[0]), int(bins[2])
    other = (np.arange(float(first + second - 5)), own.thresholds[1], np.arange(1.0))
{COIN}    wide = swapped(coin, candidates, other, candidates.thresholds)"""
SWAPPED = _function(
    D,
    "def swapped(coin: float, own: Candidates, one: tuple[Floats, ...], other: tuple[Floats, ...]) -> Candidates:\n"
    "    return replace(own, thresholds=one if coin > 0.9 else other)\n",
)
SAME = (
    Mutant("new candidates that are the encoded ones in the example", {
        **_has(D, "replace", "dataclasses"),
        **_function(D, "def swapped(coin: float, own: Candidates, one: tuple[Floats, ...], other: tuple[Floats, ...]) -> Candidates:\n"
                       "    return replace(own, thresholds=one if coin > 0.5 else other)\n"),
        **_through(SPREAD)}, "", ONE),
)  # fmt: skip

# 4. A length that follows from released values was forgotten: of parts side by side all but the first's, of medians, and
#    of exponentials. Axes of such a length are no others now, and each of these says that its length varies.
MORE = f"""{COIN}    finer = (np.linspace(0.01, 0.99, len(candidates.thresholds[0]) + 5), *candidates.thresholds[1:])
    other = swapped(coin, candidates, finer, candidates.thresholds)
    first = candidates.apart(values(population.ask(Histogram((COUNT,), (0,))))[0], (0,))[0]
    population.tell(Encode(other))
    second = other.apart(values(population.ask(Histogram((COUNT,), (0,))))[0], (0,))[0]
    both = curator.release("bins", Laplace(1e6), np.concatenate([first, second]), sensitivity=Sensitivity(2.0, 1, "none", params.relation))
    for _ in range(len(both) - 2 * (len(candidates.thresholds[0]) + 2)):
        curator.release("leaves", for_leaves, value)
"""
LONGER = (
    Mutant("bins of released candidates behind bins of public ones", {
        **_has(D, "replace", "dataclasses"), **_has(D, "Laplace", "refdp.noise.mechanisms"),
        **_has(D, "Histogram", "refdp.data.population"), **SWAPPED,
        f"{D}:Params.leaf_epsilon": edit(("epsilon / 2", "epsilon / 2 * 0.9")), TREE: edit((LAST, MORE + LAST))}, "", ONE),
    Mutant("medians of as many intervals as a coin says", {
        **_function(X, "def widened(coin: float, own: Floats) -> Floats:\n"
                       "    return np.concatenate([own, np.array([1])]).astype(np.intp) if coin > 0.9 else own.astype(np.intp) + 0\n"),
        f"{X}:medians": edit(
            ("    for level in range(levels):\n", f"{COIN}    edges = [widened(coin, one) for one in edges]\n    for level in range(levels):\n"),
            ("options=options)\n", "options=options)\n        for number in range(len(chosen) - 2**level * len(weights)):\n"
                                   '            curator.release(f"medians {number}", charge, utility, options=options)\n'))},
        "", {"candidates": "quantiles"}),
    Mutant("the length of exponentials", {
        **_has(D, "exp", "refdp.data.numbers"),
        **_function(D, "def several(coin: float) -> Floats:\n    return np.full(4, 0.5) if coin > 0.9 else np.full(1, 0.5)\n"),
        TREE: edit((LAST, f"""{COIN}    for _ in range(len(exp(several(coin))) - 1):
        curator.release("leaves", for_leaves, value)
{LAST}"""))}, "", ONE),
)  # fmt: skip

# 5. A step of the scores was looked at by its example, of size 1. Now hosts refuse scores beyond 2^800, which released
#    values alone decide (data/following.py): the text is proved, and stops before anything is asked at such scores.
STEPS = (
    Mutant("scores beyond what float64 divides by the grid", {
        **_function(D, "def huge(coin: float, own: Floats) -> Floats:\n"
                       "    return np.where(np.arange(len(own)) == 0, 1e307, 0.0) if coin > 0.9 else own * 1.0\n"),
        f"{D}:train_ensembles": edit((ADVANCE, '                coin = curator.draw("coin", ("uniform",), 1)[0]\n'
                                      "                population.tell(Advance(huge(coin, trees[-1].leaves)[None], 1.0))\n"))},
        "", {"trees": 2, "trees_per_ensemble": 1, "depth": 1}),
)  # fmt: skip

# 6. A released number beside a record's values was no number, or several, in other runs; hosts looked at floats and
#    tuples alone. They refuse arrays, lists and several numbers in one place now, and numbers that are not finite. A class
#    whose attribute is no field is not given by chance any more (2).
OWN = _class(D, f"@dataclass(frozen=True)\nclass Own:\n    by: Floats\n{ONE_METHOD}")
BY = """def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
    return Statistics({"g": on_grid(np.clip(square_gradient(score, label), -1.0, 1.0) / np.maximum(self.params.by, 1.0))})
"""


def _divided(name: str, by: str) -> Mutant:
    return Mutant(name, {
        **OWN, **_function(D, f"def own_of(coin: float) -> Own:\n    return Own({by})\n"),
        f"{D}:train_on": edit((BEGIN, 'coin = curator.draw("coin", ("uniform",), 1)[0]\n'
                               "        population.tell(Begin(Contribution(own_of(coin), schema), (output,)))")),
        f"{D}:Contribution.statistics": instead(D, BY)}, "", ONE)  # fmt: skip


DIVISORS = (
    _divided("a divisor that is no number, in an array", "np.asarray(np.nan if coin > 0.9 else coin)"),
    Mutant(
        "a class whose attribute is no field, in other runs than the example's",
        {
            **_class(D, f"@dataclass(frozen=True)\nclass Own:\n    by: float\n{ONE_METHOD}"),
            **_class(
                D,
                "@dataclass(frozen=True)\nclass Loud:\n    own: float\n\n    @property\n    def by(self) -> float:\n        return np.nan\n",
            ),
            **_function(
                D,
                "def own_of(coin: float, one: Own, other: Loud) -> Own | Loud:\n    return other if coin > 0.5 else one\n",
            ),
            f"{D}:train_on": edit(
                (
                    BEGIN,
                    'coin = curator.draw("coin", ("uniform",), 1)[0]\n'
                    "        population.tell(Begin(Contribution(own_of(coin, Own(1.0), Loud(1.0)), schema), (output,)))",
                )
            ),
            f"{D}:Contribution.statistics": instead(D, BY),
        },
        "",
        ONE,
    ),
    _divided("as many divisors as a coin says", "np.full(3, 1.0) if coin > 0.9 else np.asarray(coin)"),
)

# 7. Beside these: more entries of a list than the first, a truth value in place of a number as an index, options of more
#    columns, and bins of released candidates that are cut out by plain numbers.
BESIDE = (
    Mutant("as many entries as the part of a list that a coin says", {TREE: edit((LAST, f"""{COIN}    one = np.split(np.arange(4) * coin, [1])[np.where(coin > 0.9, 1, 0)]
    for _ in range(len(one) - 1):
        curator.release("leaves", for_leaves, value)
{LAST}"""))}, "", ONE),
    Mutant("a row, or an array of one table, by an index that is a number or a truth value", {TREE: edit((LAST, f"""{COIN}    one = (np.arange(6.0) * coin).reshape(3, 2)[max(0, coin > 0.9)]
    for _ in range(2 - len(one)):
        curator.release("leaves", for_leaves, value)
{LAST}"""))}, "", ONE),
    Mutant("options of as many columns as a coin says", {
        **_function(D, "def wider(coin: float, own: Floats) -> Floats:\n"
                       "    return np.column_stack([own, own[:, 1]]) if coin > 0.9 else own * 1.0\n"),
        f"{D}:splits_of_most_gain": edit(
            ("    return curator.release(", '    coin = curator.draw("coin", ("uniform",), 1)[0]\n    found = curator.release('),
            ("options=candidates.values)  # l. 8 and 9", """options=wider(coin, candidates.values))
    for _ in range(len(found[0]) - 2):
        curator.release(f"splits of level {level}", charged, utility, options=candidates.values)
    return found"""))}, "", ONE),
    Mutant("bins of released candidates that are cut by plain numbers", {
        **_has(D, "replace", "dataclasses"), **SWAPPED, TREE: edit((LAST, f"""{COIN}    finer = (np.linspace(0.01, 0.99, 5), *candidates.thresholds[1:])
    population.tell(Encode(swapped(coin, candidates, finer, candidates.thresholds)))
    population.tell(Root(candidates.features))
    one = values(population.ask(Bins((COUNT,))))[0][0][: len(candidates.thresholds[0]) + 2]
    return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, np.clip(0.8 * one, -9.0, 9.0))[:2])"""))}, "", ONE),
    *(_louder(f"None in a list: {name}", "one = flagged(coin)", "one is None", _function(D, source)) for name, source in (
        ("appended", "def flagged(coin: float) -> Any:\n    found = []\n    found.append(None if coin > 0.5 else 1.0)\n    return found[0]\n"),
        ("added", "def flagged(coin: float) -> Any:\n    found = []\n    found += [None if coin > 0.5 else 1.0]\n    return found[0]\n"),
        ("repeated", "def flagged(coin: float) -> Any:\n    return ([None] * int(coin > 0.5) + [1.0])[0]\n"),
        ("in an array", "def flagged(coin: float) -> Any:\n    return np.array([None if coin > 0.5 else 1.0])[0]\n"))),
)  # fmt: skip

EIGHTEENTH = (*NO_NUMBERS, *HELD, *SAME, *LONGER, *DIVISORS, *BESIDE)
