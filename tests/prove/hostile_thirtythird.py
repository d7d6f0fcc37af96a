"""Training texts of a thirty-third attack that leak more than they declare and were PROVED: of axes, kinds and nests.

By cause, each with what the reading overlooked; all were run on neighbours in memory with noise off, but for the second
of `TURNED`, which is the first under replace-one. Those of `KINDS` and `FAR` leak where records are in memory: by JSON
thresholds and values are float64 again (hosts elsewhere refuse the unordered ones, and have finite scores).
"""

from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, added, edit
from tests.prove.attacks import D, F, S, Z
from tests.prove.hostile_fifteenth import CLIPPED, ONE, _has
from tests.prove.hostile_seventeenth import LEVELS, TREE
from tests.prove.hostile_thirtieth import LESS
from tests.prove.hostile_twentyninth import REPLACED

BOTH: tuple[tuple[str, dict[str, Any]], ...] = (("default", {}), ("replaced", REPLACED))
BINS = "values(population.ask(Bins((COUNT,))))"

# 1. Chosen candidates could be an array of two axes: numpy's sums had both of them, and the reading's one, as long as
#    the first (prove/exchange.py `chosen_sums`). What was one row of utilities in the reading was two in training, so
#    that a record decided two choices at the price of one (`releases._rows`); and how many axes sums have told who
#    reads (`Table.ndim`). The same of `missing_sums`. Now candidates are chosen one after the other in training too
#    (data/candidates.py `_check_row`).
AXES = tuple(
    Mutant(f"axes: two choices in one row, {name}", {
        **LESS,
        TREE: edit((LEVELS, f"""    right = candidates.{what}({BINS}, np.array([[0, 10], [10, 0]]))
    utility = 4.0 * right[0][0] + np.zeros((1, 2))
    curator.release("more", params.split_charge(epsilon / 2), utility, options=candidates.values[:2])
{LEVELS}"""))}, "", {**ONE, **more})
    for name, what, more in (
        ("default", "right_sums", {}), ("replaced", "right_sums", REPLACED), ("missing", "missing_sums", {}))
)  # fmt: skip
ASKED = tuple(
    Mutant(f"axes: how many there are tells who reads, {name}", {
        TREE: edit((LEVELS, f"    right = candidates.right_sums({BINS}, np.array([[0, 1]]))\n{LEVELS}"),
                   (CLIPPED, f"{CLIPPED}    value = value * (64.0 if right.ndim > 3 else 1.0)\n"))},
        "", {**ONE, **more})
    for name, more in BOTH
)  # fmt: skip

# 2. That thresholds rise was asked by `np.diff(own) > 0` (data/following.py `check_covers`, on which prove/unknown.py
#    `_covers` rests), whatever kind of numbers they are: differences of whole numbers without a sign wrap around, and
#    those of truth values are whether two differ. Thresholds of any order passed, and numpy's search among such answers
#    by what it looked for before: a record more moves others into other bins. Those of float32 do rise, and more than
#    16384 values are looked for by a line that was computed in float32 (data/kernels.py `_line`, `ends`), fewer by a
#    search: of 16385 records at one place all are in another bin than 16384 of them are.
GRIDS = '(grids.uniform if self.candidates == "uniform" else grids.logarithmic)(schema, self.bins)'
ROW, TRUTHS = "[0, 50, 255, 50, 200, 0, 50, 0, 50, 0, 100]", "[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]"
KINDS = tuple(
    Mutant(f"kinds: thresholds in no order, {name}", {
        **LESS, **_has(D, "replace", "dataclasses"),
        f"{D}:Params.split_candidates": edit((f"return {GRIDS}", f"""own = {GRIDS}
    return replace(own, thresholds=({thresholds}, *own.thresholds[1:]))""")),
        TREE: edit((LEVELS, f"""    bins = {BINS}[0][0][:{bins}]
    curator.release("more", for_leaves, 0.9 * bins)
{LEVELS}"""))}, "", {**ONE, **more})
    for name, thresholds, bins, more in (
        ("without a sign", f"np.array({ROW}).astype(np.uint8)", 13, {}),
        ("without a sign, replaced", f"np.array({ROW}).astype(np.uint8)", 13, REPLACED),
        ("truth values", f"np.array({TRUTHS}) > 0", 13, {}),
        ("whole numbers", "np.array([-2, 5, 6, 7, 2**63 - 3, -4, 2**63 - 5, -6, 2**63 - 7, -8, 9])", 13, {}),
        ("float32", "(np.arange(20) * 3795 - 19959).astype(np.float32) / 65536", 22, {}),
    )
)  # fmt: skip

# 3. How far scores go is added up in float64 (data/following.py `_move`, `np.multiply(..., dtype=np.float64)`), and a
#    host multiplied values of float32 by a float in float32 (data/memory.py `weight * value`): 1e30 times 1e20 is
#    infinite there, and less the same again no number, of which clipping makes none. What a step's values are made of
#    was not looked at (prove/unknown.py `_alike_elsewhere` leaves `values` out). Any record in a leaf makes its sum
#    -2^63 units.
ADVANCED = "population.tell(Advance(trees[-1].leaves[None], params.shrinkage))\n"


def _far(placed: str, leaves: str, indent: str) -> str:
    return "".join(f"{indent}population.tell(Place({placed}))\n"
                   f"{indent}population.tell(Advance(np.full((1, {leaves}), {far}).astype(np.float32), 1e20))\n"
                   for far in ("1e30", "-1e30"))  # fmt: skip


def _after(line: str, placed: str, leaves: str, indent: str) -> Any:
    return edit((f"{indent}{line}", f"{indent}{line}{_far(placed, leaves, indent)}"))


FAR = (
    *(Mutant(f"far: steps of float32, FedGBDT, {name}", {
        f"{F}:boost": _after("population.tell(Advance(leaves, share))  # Alg. 1, l. 11\n",
                             "splits[-1]", "2**params.depth", " " * 12)},
        "", {"trees": 2, "depth": 1, "target": "regression", **more}) for name, more in BOTH),
    Mutant("far: steps of float32, S-GBDT", {f"{S}:grow": _after(ADVANCED, "splits", "2**params.depth", " " * 8)},
           "", {"trees": 2, "depth": 1, "target": "regression", "noise": "floating"}),
    Mutant("far: steps of float32, InPrivate", {
        f"{Z}:follow": _after("population.tell(Advance(tree.leaves[None], params.shrinkage))\n",
                              "tree.splits", "2 ** (params.depth - 1)", " " * 8)},
        "", {"rounds": 2, "depth": 2, "target": "regression"}),
)  # fmt: skip

#    Now arrays of steps and queries are of float64 (data/following.py `_check_array`), or hosts and the reading refuse
#    them; that is about kinds, above, too.

# 4. Whatever `split_candidates` or `public_grid` gave was taken for fixed (prove/exchange.py `_known`), also where it
#    was given something released and gave that back; taken apart it was a released value within a released value
#    (`Known.__iter__`), of which `len` told how long the inner one is, and of which rounds of a loop were compared by
#    its class alone (prove/loops.py `abstract`, `_shape`: `type(value)` of anything that is no array). So rounds left
#    values of other lengths unseen: the round after number 2 was read with what another round left. Now nothing
#    released is within a fixed value, nor an entry of another released one.
PAIRED = """    own, beside = params.split_candidates(candidates, population, curator.draw("d", ("uniform",), {0}))
"""
NESTED = tuple(
    Mutant(f"nested: rounds leave released values of other lengths, {name}", {
        **LESS,
        f"{D}:Params.split_candidates": edit(
            ("population: Population) -> Candidates", "population: Population, drawn: Any = None) -> Any"),
            (f"return {GRIDS}", f"if drawn is not None:\n        return drawn, 0.0\n    return {GRIDS}")),
        TREE: edit((LEVELS, f"""    for_more = params.split_charge(epsilon / 8)
{PAIRED.format(3)}    for number in range(5):
        if number < 4:
            right = candidates.right_sums({BINS})
            utility = 4.0 * right[0]
            if len(own) > 5:
                utility = 64.0 * right[0]
            curator.release("more", for_more, utility, options=candidates.values)
        if number == 2:
        {PAIRED.format(9)}        else:
        {PAIRED.format(3)}{LEVELS}"""))}, "", {**ONE, **more})
    for name, more in BOTH
)  # fmt: skip

# 5. Seen by who mended these: how many axes sums have follows from what is released, where the example of it has
#    another number of them than its others. Ways to split are rows, or several of them at once (prove/unknown.py
#    `_asked`, which asked the example); candidates are chosen by an array of one axis or of two; and a released number
#    beside sums is an array of more axes than these (prove/arithmetic.py `_tables`). Now how many axes ways to split
#    have is known by where they come from (`Known.axes`), and nothing of any length stands beside sums. Options of a
#    choice, of which the chosen are ways to split, are rows or an error (privacy/curator.py `release`).
COIN = 'turned(curator.draw("coin", ("uniform",), 1)[0])'


def _turned(one: str, other: str, sums: str) -> dict[str, Any]:
    """Something that is `other` where a coin is large, which the example's is not."""
    return {
        **LESS, **_has(D, "Sides", "refdp.data.population"),
        f"{D}:+turned": added(f"def turned(coin: float) -> Floats:\n    return {other} if coin > 0.5 else {one}\n"),
        TREE: edit((LEVELS, f"    sums = {sums}\n{LEVELS}"),
                   (CLIPPED, f"{CLIPPED}    value = value * (64.0 if sums.ndim > 3 else 1.0)\n")),
    }  # fmt: skip


SPLIT = "np.array([[0.0, 0.5]])"
TURNED = tuple(
    Mutant(f"axes: as many as a coin says, {name}", _turned(*texts), "", {**ONE, **more})
    for name, texts, more in (
        ("ways to split", (SPLIT, f"{SPLIT}[None]", f"values(population.ask(Sides((COUNT,), {COIN})))"), {}),
        ("ways to split, replaced", (SPLIT, f"{SPLIT}[None]", f"values(population.ask(Sides((COUNT,), {COIN})))"),
         REPLACED),
        ("ways in a list", (f"{SPLIT}[0]", SPLIT, f"values(population.ask(Sides((COUNT,), np.stack([{COIN}]))))"), {}),
        ("chosen candidates", ("np.arange(2)", "np.arange(2)[None]", f"candidates.right_sums({BINS}, {COIN})"), {}),
        ("beside sums", ("np.zeros(1)", "np.zeros((1, 1, 1, 1))", f"candidates.right_sums({BINS}) * {COIN}"), {}),
    )
)  # fmt: skip
THIRTYTHIRD = (*AXES, *ASKED, *KINDS, *FAR, *NESTED, *TURNED)
