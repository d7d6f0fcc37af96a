"""Training texts of a twenty-sixth attack that leak more than they declare and were PROVED: of float64 and of sums.

By cause, each with what the reading overlooked. `HONEST` leaked as well, and does not any more.
"""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D
from tests.prove.hostile_fifteenth import ONE, _has
from tests.prove.hostile_seventeenth import CLIPPED, LEVELS, TREE
from tests.prove.hostile_twentyfifth import CUT, DISCRETE, LABELS, REPLACED, THIRD, beside, starting
from tests.prove.hostile_twentyfirst import USED

TAKE = 'value = values(population.ask(Nodes(("t",))))[0]'
LARGER = f"{TAKE} * 2.0**10\n"
STATISTICS, SPLITS = f"{D}:Contribution.statistics", f"{D}:splits_of_most_gain"
BINS = 'left, right = candidates.sides(values(population.ask(Bins(("g", COUNT)))))'
UTILITY = "utility = gain(left[0], left[1], right[0], right[1], params.regularisation)"


def _of(t: str, before: dict[str, Any] = LABELS, value: str = LARGER) -> dict[str, Any]:
    """A statistic t beside "g", whose sum is in place of a leaf's value. t: lines that compute it."""
    return {**before, **beside('"t": t', value, f"{t}\n    ")}


def _beside(more: str, value: str) -> dict[str, Any]:
    """More statistics beside "g", of labels, and a value of their sums in place of a leaf's."""
    return {**LABELS, **beside(more, value)}


def _of_sides(more: str, bins: str, utility: str) -> dict[str, Any]:
    """More statistics beside "g", and a utility of their sums to the sides of candidates."""
    both = f'return Statistics({{"g": np.clip(g, -1.0, 1.0), {more}}}, None)'
    return {**LABELS, STATISTICS: edit((USED, both)), SPLITS: edit((BINS, bins), (UTILITY, utility))}


# 1. A step of the grid decides whether a record is used (prove/contributed.py `_of_one`): what is known of one that is
#    used was what its formula says, also where statistics share unknowns with it.
TAKEN = (
    *(Mutant(f"taken: records are used by a step of the grid, {name}", {
        **LABELS, STATISTICS: edit((USED, f"""one, two = {CUT}, {THIRD}
    return Statistics({{"g": two, "t": np.where(label > 0.5, 0.0, 4.0)}}, ((label >= 0.25) & (two < 0.25)) | (label > 0.5))""")),
        TREE: edit((CLIPPED, f"{TAKE}\n"))}, "", {**ONE, **more})
      for name, more in (("default", {}), ("replaced", REPLACED), ("discrete noise", DISCRETE))),
)  # fmt: skip

# 2. A record's divisor is not 0 by its formula (prove/contributed.py `operated`), and was taken to be far larger than a
#    step of the grid (prove/magnitudes.py `_of`).
NOTHING = tuple(
    Mutant(f"nothing: a step of the grid takes a record's divisor to 0, {name}", _of(f"""two = np.trunc(np.maximum({of}, 0.25) / 49.0 * 49.0 / GRID) * GRID
    away = two - 0.0625 - 0.0625 - 0.0625 - (0.0625 - GRID)
    with np.errstate(divide="ignore"):
        t = on_grid(np.clip(np.maximum({of}, 0.25) * 2.0**-110 / away, 0.0, 1.0))""", before), "", {**ONE, **more})
    for name, of, before, more in (("default", "label", LABELS, {}), ("replaced", "label", LABELS, REPLACED),
                                   ("of scores", "np.clip(score, -1.0, 1.0)", starting("0.25"), {}))
)  # fmt: skip

# 3. Whole numbers beyond 2^53 are what they are (prove/asking.py `number`), and float64 rounds them; other kinds of
#    numbers have more or fewer digits (prove/kinds.py `kind_of`).
WHOLE = (
    Mutant("whole: beyond 2^53, beside a score", _of("t = np.where((score >= 2**53 + 1) & (score <= 2**53), 4.0, 0.0)", starting("2.0**53")), "", ONE),
    Mutant("whole: beyond 2^53, beside a label", _of("""far = np.where(label > 0.5, 2**53 + 1, label)
    t = np.where((label > 0.5) & (far <= 2.0**53), 4.0, 0.0)"""), "", ONE),
    Mutant("whole: a divisor that is a power of two as a float alone", _of("""two = np.trunc(label / (2**53 + 1) * 2.0**53 / GRID) * GRID
    t = np.where((label >= 0.25) & (label <= 0.25) & (two >= 0.25), 4.0, 0.0)"""), "", ONE),
    Mutant("whole: beyond 2^53, beside a sum", _beside('"a": on_grid(np.clip(label, -1.0, 1.0))', """own = values(population.ask(Nodes(("a",))))[0]
    far = np.where(own > 0.5, 2**53 + 1, own)
    value = np.where((own > 0.5) & (far <= 2.0**53), 4096.0, 0.0)
"""), "", ONE),
    Mutant("whole: below -2^53, beside a sum", _beside('"a": on_grid(np.clip(label, -1.0, 1.0))', """own = values(population.ask(Nodes(("a",))))[0]
    far = np.where(own > 0.5, -(2**53) - 1, own)
    value = np.where((own > 0.5) & (far >= -(2.0**53)), 4096.0, 0.0)
"""), "", ONE),
)  # fmt: skip

# 4. A power of two rounds nothing (prove/kinds.py `_roundings`, prove/magnitudes.py `_product`), but half of float64's
#    smallest number is 0.
HALF = "t = np.where(({0} > 0.0) & ({0}{1} <= 0.0), 4.0, 0.0)"
SMALLEST = (
    Mutant("smallest: half of a label is 0", _of(HALF.format("label", " * 0.5")), "", ONE),
    Mutant("smallest: half of a label is 0, replaced", _of(HALF.format("label", " / 2.0")), "", {**ONE, **REPLACED}),
    Mutant("smallest: a quarter of a score is 0", _of(HALF.format("score", " * 0.25"), starting("5e-324")), "", ONE),
    Mutant("smallest: two sizes of a label are one", _of("""away = np.abs(np.minimum(label, 1.0))
    t = np.where((away > 0.0) & (away * -0.5 >= away * -0.25), 4.0, 0.0)"""), "", ONE),
)  # fmt: skip

# 5. Hosts add statistics up as they are kept (prove/contributed.py `_of_one` looked at no kind): those of uint8 wrap
#    around at 256.
SMALL = '"a": (label > 0.0).astype(np.uint8), "b": np.where(label > 0.0, 1.0, 0.0)'
NARROW = (
    *(Mutant(f"narrow: a statistic of uint8, {name}", _of_sides(
        SMALL, 'one, two = values(population.ask(Bins(("a",)))), values(population.ask(Bins(("b",))))\n'
        "    (left, right), (other, more) = candidates.sides(one), candidates.sides(two)",
        "utility = right[0] - more[0]"), "", {**ONE, **more}) for name, more in (("default", {}), ("replaced", REPLACED))),
    Mutant("narrow: a statistic of uint8, of a leaf", _beside(SMALL, """one, two = values(population.ask(Nodes(("a",))))[0], values(population.ask(Nodes(("b",))))[0]
    value = (one - two) * 2.0**10
"""), "", ONE),
)  # fmt: skip

# 6. A constant counts once, however often it is used (prove/magnitudes.py `_numbers`): where a term is largest of some
#    number of records in between was not looked at.
CONSTANTS = tuple(
    Mutant(f"constants: one that is used again and again, {name}", _beside('"a": on_grid(np.clip(label, -1.0, 1.0))', """own = values(population.ask(Nodes(("a",))))[0]
    few = count
    for _ in range(17):
        few = few * 0.5
    lost = own * 0.7 / 0.7 - own
    value = lost * few / (few + 1.0) / (few + 1.0) / (few + 1.0) / (few + 1.0) / (few + 1.0) / (few + 1.0)
    for _ in range(32):
        value = value / 0.5
"""), "", {**ONE, "regularisation": 2.0**15, **more})
    for name, more in (("default", {}), ("replaced", REPLACED))
)  # fmt: skip

# 7. Sums over different records count as sums of as many (prove/magnitudes.py `_crowded`, `_together`): a product was
#    taken to be largest where both are, and a number of either is at least a number of one.
SOME = """return Statistics({"g": np.clip(g, -1.0, 1.0), "b": np.where(label <= 0.0, 1.0, 0.0), "a": on_grid(np.clip(label, -1.0, 1.0))}, label <= 0.0 if "b" in of else None)"""


def _apart(lost: str) -> dict[str, Any]:
    """Released of sums over all records and the number of some, at no price."""
    return {
        **LABELS, STATISTICS: edit((USED, SOME)), **_has(D, "Laplace", "refdp.noise.mechanisms"),
        f"{D}:Params.leaf_epsilon": edit(("return epsilon / 2", "return epsilon / 4")),
        TREE: edit((LEVELS, f"""    population.tell(Refresh(("a",)))
    population.tell(Root(candidates.features))
    own, every = values(population.ask(Nodes(("a", COUNT))))[:, 0]
    population.tell(Refresh(("b",)))
    population.tell(Root(candidates.features))
    few = values(population.ask(Nodes((COUNT,))))[0][0]
    {lost}
    curator.release("more", Laplace(2.0**-16 / epsilon), lost, sensitivity=Sensitivity(2.0**-18, 1, "none", params.relation))
    population.tell(Refresh(("g",)))
    population.tell(Root(candidates.features))
{LEVELS}"""))}  # fmt: skip


APART = (
    Mutant("apart: sums of all records beside a count of some", _apart(
        "lost = (own / 49.0 * 49.0 - own) * (few / (few + 1.0) / (few + 1.0)) * 2.0**17"), "", ONE),
    Mutant("apart: sums of all records beside a count of some, replaced", _apart(
        "lost = (own / 49.0 * 49.0 - own) * (few / (few + 1.0) / (few + 1.0)) * 2.0**17"), "", {**ONE, **REPLACED}),
)  # fmt: skip
TWENTYSIXTH = (*TAKEN, *NOTHING, *WHOLE, *SMALLEST, *NARROW, *CONSTANTS, *APART)

# 8. Sums to the right of a candidate were totals over the bins of all features side by side (data/candidates.py
#    `right_sums`), with more digits than float64 where each feature's own has not. They are each feature's own now.
HONEST = (
    Mutant("totals over the bins of all features", _of_sides(
        '"a": on_grid(np.clip(label, -1.0, 1.0)), "b": np.where(label > 0.0, on_grid(np.clip(label, -1.0, 1.0)), 0.0), "c": np.where(label > 0.0, 0.0, on_grid(np.clip(label, -1.0, 1.0)))',
        'left, right = candidates.sides(values(population.ask(Bins(("a", "b", "c")))))',
        "utility = (right[0] - right[1] - right[2]) * 2.0**60"), "", ONE),
)  # fmt: skip
