"""Training texts of a thirty-second attack that leak more than they declare and were PROVED: of examples.

By cause, each with what the reading overlooked; all were run on neighbours in memory with noise off, but for `FLOATS`
and `BESIDE`: the bound of the first of `FLOATS` was worked out, and the others are what whoever mended saw beside the
attack's, PROVED before and not run. A released value has one example in the reading, and what was decided by it was
decided for all others: here public coins, of which the example is never above a half. Records were released loudly, or
in two parts, where a coin was. `FLOATS` are of one last digit, and were only proved with `ANYWHERE`; by its own number
the same text was refused where the digit is lost.
"""

from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, added, edit
from tests.prove.attacks import D
from tests.prove.hostile_fifteenth import CLIPPED, ONE, _has
from tests.prove.hostile_seventeenth import LEVELS, TREE
from tests.prove.hostile_thirtieth import LESS
from tests.prove.hostile_twentyninth import REPLACED

ENCODED = "    population.tell(Encode(candidates := params.split_candidates(schema, population)))\n"
COIN = 'curator.draw("coin", ("uniform",), 1)[0]'
KINDS: tuple[tuple[str, dict[str, Any]], ...] = (("default", {}), ("replaced", REPLACED))
MOVED = """def moved(own: Candidates, coin: float) -> Candidates:
    found = list(own.thresholds)
    found[0] = own.thresholds[0][:2] if coin > 0.5 else own.thresholds[0]
    found[2] = np.arange(1, 8) / 8 if coin > 0.5 else own.thresholds[2]
    return replace(own, thresholds=tuple(found))
"""
"""Of four thresholds each, numbers 0 and 2 have two and seven where the coin is large."""
REPLACES = _has(D, "replace", "dataclasses")
HISTOGRAM = _has(D, "Histogram", "refdp.data.population")
SUMS = "values(population.ask(Histogram((COUNT,), (0, 2))))[0]"


def _encoded(more: str) -> dict[str, Any]:
    """Records are encoded by released candidates, and something more is released before the levels of a tree."""
    return {
        **LESS, **REPLACES, **HISTOGRAM,
        f"{D}:+moved": added(MOVED),
        f"{D}:train_on": edit((ENCODED, f"""    own = grids.uniform(schema, params.bins)
    population.tell(Encode(candidates := moved(own, {COIN})))
""")),
        TREE: edit(("Root(candidates.features)", "Root((0, 1, 2))"), (LEVELS, f"{more}{LEVELS}")),
    }  # fmt: skip


# 1. Whether records were encoded by released candidates was asked by the kind of what was told, and what a text's
#    function makes by `replace` is of another kind, `Settings` (`type(binned.told) is Known`): any candidates that are
#    those of the example could be asked for the sides of all. Where they are others, a record is in bins of two
#    features of theirs. Now one rule says what is released (prove/symbols.py `is_released`), and where either was, the
#    candidates that are asked are the very ones that `Encode` was told of (prove/exchange.py `encoders`).
TOLD = (
    *(Mutant(f"told: other candidates than the released ones that records are encoded by, {name}", {
        **REPLACES, f"{D}:+moved": added(MOVED),
        f"{D}:train_on": edit((ENCODED, f"""    candidates = grids.uniform(schema, params.bins)
    population.tell(Encode(moved(candidates, {COIN})))
"""))}, "", {**ONE, **more})
      for name, more in KINDS),
    Mutant("told: the same thresholds in the example alone, of candidates that are fixed", {
        **REPLACES,
        f"{D}:+moved": added(MOVED.replace("coin: float", "kept: tuple[Floats, ...], coin: float").replace(
            "tuple(found)", "tuple(found if coin > 0.5 else kept)")),
        f"{D}:train_on": edit((ENCODED, f"""    candidates = params.split_candidates(schema, population)
    population.tell(Encode(moved(candidates, candidates.thresholds, {COIN})))
"""))}, "", ONE),
)  # fmt: skip

# 2. Where a part of sums began, of which there are as many as released values say, was a number of the example: the
#    last three of six were taken for those from the fourth on (prove/tables.py `_picked`, `some.start`), whatever comes
#    after those. Now such a part is known by where the text says that it starts and ends.
SLICED = f"""    last = candidates.apart({SUMS}, (0, 2))[1]
    curator.release("more", for_leaves, 8.0 * (last[-3:] - last[3:6]))
"""
TREES = """def tree_of(coin: float) -> Floats:
    return np.array([[0.0, 0.2]] * (3 if coin > 0.5 else 1))
"""
NOTHING = """def nothing_of(coin: float) -> Floats:
    return np.zeros((1, 4 if coin > 0.5 else 2))
"""
SLICES = (
    *(Mutant(f"slices: the last bins, {name}", _encoded(SLICED), "", {**ONE, **more}) for name, more in KINDS),
    Mutant("slices: the last leaves", {
        **LESS, **_has(D, "Leaves", "refdp.data.population"),
        f"{D}:+tree_of": added(TREES), f"{D}:+nothing_of": added(NOTHING),
        TREE: edit((LEVELS, f"""    coin = {COIN}
    population.tell(Place(tree_of(coin)))
    last = values(population.ask(Leaves((COUNT,))))[0][0]
    curator.release("more", for_leaves, 8.0 * (last[-1:] - last[1:2]))
    population.tell(Advance(nothing_of(coin), 1.0))
    population.tell(Refresh(("g",)))
    population.tell(Root(candidates.features))
{LEVELS}"""))}, "", ONE),
)  # fmt: skip

# 3. A table of bins was cut by the features that a text says, which need not be the table's, or in their order
#    (prove/exchange.py `apart`): where both have as many bins, as in the example, that is the same. Elsewhere a piece
#    is all of one feature's bins and some of another's, and a record is in it twice. Now they are the table's.
CUTS = tuple(
    Mutant(f"cuts: features in another order, {name}", _encoded(f"""    cut = candidates.apart({SUMS}, (2, 0))
    curator.release("more", for_leaves, 0.9 * cut[0])
"""), "", {**ONE, **more})
    for name, more in KINDS
)  # fmt: skip


# 4. Chosen candidates were known by their positions and features in the example, also where the candidates themselves
#    were released and the choice was not (prove/unknown.py `name_of_choice` looked for what is released in the choice
#    alone): number -1 is number 10 of eleven, and of other candidates of another feature. Now they are known by what
#    the text chooses them by.
def _places(what: str, one: str, other: str) -> dict[str, Any]:
    return _encoded(f"""    bins = values(population.ask(Bins((COUNT,))))
    one, other = candidates.{what}(bins, np.array({one})), candidates.{what}(bins, np.array({other}))
    utility = 16.0 * (one[0] - other[0])
    curator.release("more", params.split_charge(epsilon / 2), utility, options=candidates.values[:2])
""")


PLACES = (
    *(Mutant(f"places: of the last candidates, {name}", _places("right_sums", "[-1, -2]", "[10, 9]"), "",
             {**ONE, **more}) for name, more in KINDS),
    Mutant("places: missing values of a candidate's feature", _places("missing_sums", "[2, 0]", "[0, 0]"), "", ONE),
)  # fmt: skip

# 5. Released candidates may be asked about sums in the bins that they encode, and whether they encode them was asked of
#    tables of all bins alone (prove/symbols.py, `hasattr(axis.of, "told")`): those of one feature have no such axis,
#    and were cut by the numbers of the example. Now nothing else can be asked for (prove/exchange.py `encoders`).
CUTTER = """def cutter(own: Candidates, coin: float) -> Candidates:
    found = list(own.thresholds)
    found[0] = own.thresholds[0][:3] if coin > 0.5 else own.thresholds[0][:2]
    return replace(own, thresholds=tuple(found))
"""
PARTS = tuple(
    Mutant(f"parts: bins of one feature, cut by released candidates, {name}", {
        **LESS, **REPLACES, **HISTOGRAM,
        f"{D}:+cutter": added(CUTTER),
        f"{D}:train_on": edit((ENCODED, """    candidates = grids.uniform(schema, params.bins)
    population.tell(Encode(candidates))
""")),
        TREE: edit((LEVELS, f"""    last = candidates.apart({SUMS}, (0, 2))[1]
    ends = cutter(candidates, {COIN}).apart(last, (0, 2))[1]
    curator.release("more", for_leaves, 8.0 * (ends - last[4:6]))
{LEVELS}"""))}, "", {**ONE, **more})
    for name, more in KINDS
)  # fmt: skip

# 6. A method of private values had to be refdp's own, "of candidates, of which any stand for all", and was run on the
#    example: all of refdp's classes of data were taken for such (prove/symbols.py). An interval moves and widens sums
#    by its own ends, which were numbers of the example then. Now four methods of candidates alone take private values
#    (`OF_SUMS`), and each is asked by what was released itself.
WIDER = """def wider(target: Interval, coin: float) -> Interval:
    return replace(target, high=127.0 if coin > 0.5 else 1.0)
"""
NARROWER = WIDER.replace("wider", "narrower").replace("high=127.0", "high=-1.0 + 1 / 64")


def _interval(made: str, how: str) -> dict[str, Any]:
    name = made.partition("(")[0].removeprefix("def ")
    return {**REPLACES, f"{D}:+{name}": added(made), TREE: edit((CLIPPED, (
        f"{CLIPPED}    value = {name}(Interval(-1.0, 1.0), {COIN}).{how}(value)\n")))}  # fmt: skip


INTERVALS = (
    *(Mutant(f"intervals: sums in a released unit, {name}", _interval(WIDER, "unscaled"), "", {**ONE, **more})
      for name, more in KINDS),
    Mutant("intervals: sums scaled by a released range", _interval(NARROWER, "scaled"), "", ONE),
)  # fmt: skip

# 7. What such a method gave was taken for private where anything private was among its arguments, and handed back as it
#    was (prove/symbols.py `Known.__getattr__`, `return found(*given, **named)`): a dictionary of sums is gone over by
#    its keys, and what came back were public arrays, as long as the example says. The text looked how long they are.
#    Now released candidates take sums in bins first, and no other private values (prove/exchange.py `of_sums`).
LENGTHS = tuple(
    Mutant(f"lengths: of public arrays, beside a private sum, {name}", {
        **REPLACES, f"{D}:+moved": added(MOVED),
        TREE: edit((CLIPPED, f"""{CLIPPED}    beside = {{0: count, 2: count}}
    pieces = moved(candidates, {COIN}).apart(np.zeros(12), beside)
    if len(pieces[0]) != 6:
        value = value * 64.0
"""))}, "", {**ONE, **more})
    for name, more in KINDS
)  # fmt: skip

# 8. `float` of an open number was the number itself (prove/exchange.py `OF_OPEN`), also within `rounded_up`, whose
#    formulas have exact fractions in training: there it rounds, down for some, and the bound was said to be rounded up
#    (prove/charged.py `rounded_up`, `exactly`). At regularisation 1.0237706800583701 it is 8e-17 too small. The smaller
#    of a fraction and a float is either, and was the fraction of the example. Now both are floats of the example.
FLOATS = tuple(
    Mutant(f"floats: a formula that makes a float of its number, {made}", {
        f"{D}:leaf_sensitivity": edit((
            "    straddling = ", f"    regularisation = {made} * 3\n    straddling = "))},
        "", {**ONE, "regularisation": 1.0})
    for made in ("float(regularisation / 3)", "np.minimum(regularisation, 2.0) / 3", "min(regularisation, 2) / 3")
)  # fmt: skip
# 9. Public numbers lay along sums of which there are as many as in the example, entry by entry (prove/arithmetic.py
#    `_tables`): where there is one sum, numpy has it beside each of them, and a record is in all. The last piece of
#    `np.split` was as long as in the example. Now no public numbers lie along such sums, and the last piece has no end.
BESIDE = tuple(
    Mutant(f"beside: {name}", _encoded(f"""    last = candidates.apart({SUMS}, (0, 2))[1]
    curator.release("more", for_leaves, {value})
"""), "", ONE)
    for name, value in (
        ("public numbers along sums", "0.9 * (last[1:] + np.zeros(5))"),
        ("a list along sums", "0.9 * (last[1:] + [0.0] * 5)"),
        ("bounds along sums", "np.clip(0.9 * last[1:], np.zeros(5), 1.0)"),
        ("the last piece of some", "8.0 * (np.split(last, [5])[1] - last[5:6])"),
        ("all but the last, and the first", "8.0 * (last[:-5] - last[:1])"),
    )
)  # fmt: skip
ANYWHERE = {"regularisation": (1.0, 3.0)}
"""With this argument of `prove`: `FLOATS`."""
THIRTYSECOND = (*TOLD, *SLICES, *CUTS, *PLACES, *PARTS, *INTERVALS, *LENGTHS, *BESIDE)
