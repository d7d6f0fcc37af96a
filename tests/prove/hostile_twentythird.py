"""Training texts of a twenty-third attack that leak more than they declare and were PROVED: all of what float64 rounds.

By cause, each with what the reading overlooked.
"""

# ruff: noqa: E501
from __future__ import annotations

from refdp.data.population import Start
from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D
from tests.prove.hostile_fifteenth import ONE, _has
from tests.prove.hostile_seventeenth import CLIPPED, LEVELS, TREE
from tests.prove.hostile_twentyfirst import LABEL, PLAIN, USED

G = "refdp.own.grove"
ROOTS = "    root = values(population.ask(Nodes((COUNT,))))[0][0]\n"

# 1. Public numbers along an axis of nodes stand for "any number" of size 1 where it is asked what float64 rounds
#    (prove/magnitudes.py `_of`: names in `anything` have size 0), and are up to 2^16 each (`moderate`).
ARRAYS = (
    Mutant("what float64 rounds times an array of 2^16, four times", {TREE: edit((CLIPPED,
        "many = np.full(2 ** params.depth, 65536.0)\n"
        "    value = np.clip((count / 49.0 * 49.0 - count) * many * many * many * many, -64.0, 64.0)\n"))}, "", ONE),
)  # fmt: skip

# 2. A number of records is of 2^26 where it is asked what float64 rounds of many records, whichever set it is of
#    (prove/magnitudes.py `_of`, `records`): a node can be empty where the root is large.
EMPTY = (
    Mutant("digits of the root, divided by the number of records of a node", {TREE: edit(
        (LEVELS, ROOTS + LEVELS),
        (CLIPPED, "value = np.clip((root / 49.0 * 49.0 - root) / (count + 1.0) * 2.0**18, -64.0, 64.0)\n"))}, "",
        {**ONE, "regularisation": 4000.0}),
)  # fmt: skip

# 3. A released number that values of records are divided by is at least GRID, and counts as one of size 1 where it is
#    asked what float64 rounds (prove/contributed.py `_released`, prove/magnitudes.py `_of`).
SQUARE = "g = on_grid(clip(square_gradient(score, label) / np.maximum(self.params.cut, GRID), 1.0))"
DIVIDED = (
    Mutant("what float64 rounds, divided by a small released number", {
        f"{G}:nearby": edit(("grid_floor(unit * c)", "float(grid_floor(unit * c) * 2.0**-18)")),
        f"{G}:Contribution.statistics": edit((SQUARE,
            "lost = clip((label - label * 0.7 / 0.7) * 2.0**20 / np.maximum(self.params.cut, GRID), 1.0)\n"
            "        g = np.maximum(256.0 - 256.0 * np.rint(lost + (0.5 + 2.0**-13)), -1.0)"))}, "",
        {"target": "regression", "feature_share": 0.0, "rows": 100, "noise": "floating"}),
)  # fmt: skip

# 4. Scores are of any size, and count as numbers of size 1 where it is asked what float64 rounds (prove/magnitudes.py
#    `_of`; prove/contributed.py `_begin`, `_of_all` say nothing of their size).
BEGIN = "population.tell(Begin(Contribution(params, schema), (output,)))"
SCORES = (
    Mutant("what float64 rounds, times a large score", {
        f"{D}:Contribution.label": edit((LABEL, "    return y")),
        f"{D}:train_on": edit((BEGIN, BEGIN + "\n        population.tell(Start(2.0**45))")),
        f"{D}:+Start": lambda _: Start,
        f"{D}:Contribution.statistics": edit((USED,
            "g = on_grid(np.clip(label, -1.0, 1.0))\n"
            "    lost = np.clip((label - label * 0.7 / 0.7) * score, -1.0, 1.0)\n"
            "    half = np.maximum(256.0 - 256.0 * np.rint(lost + (0.5 + 2.0**-13)), -1.0)\n"
            '    return Statistics({"g": half}, np.abs(g) <= self.params.gradient_bound)'))}, "", ONE),
)  # fmt: skip
# 5. Sums are on the grid, so that differences of them count as exact (prove/magnitudes.py `_sum`: error -inf where the
#    grids are the same, `far` then -inf too): a sum of 2^26 records of up to 2^10 has 2^60 steps, and `values` rounds it.
NODES = 'gradient_sum, count = values(population.ask(Nodes(("g", COUNT))))'
FILTERED, ALL = ("g", "np.abs(g) <= self.params.gradient_bound"), ("np.clip(g, -0.5, 0.5)", "None")
"""The gradients, and which records are used: in the former the latter follow from steps of the grid."""
LOSING = tuple(
    Mutant(f"the difference of two sums that have no room for their digits, {used}", {
        f"{D}:Contribution.label": edit((LABEL, "    return y")),
        f"{D}:Contribution.statistics": edit((USED,
            f'return Statistics({{"g": {g}, "a": np.where(label > 0.5, 1024.0, 0.0), "b": np.where(label > 0.5, 1024.0 - 2.0**-24, 0.0)}}, '
            f"{used})")),
        TREE: edit((CLIPPED, """one, other = values(population.ask(Nodes(("a", "b"))))
    value = (one - other) * 2.0**23
"""))}, "", ONE)
    for g, used in (FILTERED, ALL)
)  # fmt: skip
# 6. A number of steps that float64 can round otherwise is compared, and what is chosen by it counts as sure
#    (prove/magnitudes.py `_of`: `step` is -inf of truth values; prove/contributed.py `operated`: no roundings after `trunc`).
COMPARED = (
    Mutant("a choice by steps of the grid that can be one less", {
        f"{D}:Contribution.label": edit((LABEL, "    return y")),
        f"{D}:Contribution.statistics": edit((USED,
            "t = np.trunc(label / 49.0 * 49.0 / GRID) * GRID\n"
            "    half = np.where(t >= 0.5, 0.0, np.where(label >= 0.5, 256.0, 0.0))\n"
            '    return Statistics({"g": half}, np.abs(g) <= self.params.gradient_bound)'))}, "", ONE),
)  # fmt: skip
# 7. What float64 rounds is held against the noise and the bound entry by entry (prove/releases.py `_changes`, `_room`):
#    what is the same in all of 2^16 leaves adds up to as many times that.
EVERYWHERE = (
    Mutant("digits of the root in every one of many leaves", {TREE: edit(
        (LEVELS, ROOTS + LEVELS),
        (CLIPPED, "value = count * 0.0 + (root / 49.0 * 49.0 - root) * 2.0**2\n"))}, "",
        {**ONE, "depth": 16, "regularisation": 1000.0}),
)  # fmt: skip
# 8. A step of the grid more or less in the argument of an exponential is forgotten (prove/contributed.py `_described`:
#    `shifted` is `error_of` the argument, and not its `step_of`).
ARGUMENTS = (
    Mutant("a step of the grid in an exponential, made large", {
        **_has(D, "exp", "refdp.data.numbers"),
        f"{D}:Contribution.label": edit(PLAIN),
        f"{D}:Contribution.statistics": edit((USED,
            "one, two = np.trunc(label / GRID) * GRID, np.trunc(label / 49.0 * 49.0 / GRID) * GRID\n"
            "    lost = (exp((two - one) * 8.0) - 1.0) * 2.0**20\n"
            "    half = np.maximum(256.0 - 256.0 * np.rint(lost + (0.5 + 2.0**-13)), -1.0)\n"
            '    return Statistics({"g": half}, np.abs(g) <= self.params.gradient_bound)'))}, "", {**ONE, "target": "binary"}),
)  # fmt: skip
# 9. What is on the grid by a rounding counts as never rounded, so that a whole number made of it counts as sure, where a
#    step of the grid less is another whole number (prove/contributed.py `_described`: `near` and `stepped` follow the
#    argument's roundings alone, which are 0 after `trunc`, and not its `step_of`).
WHOLE = (
    Mutant("a whole number of what can be a step less", {
        f"{D}:Contribution.label": edit(PLAIN),
        f"{D}:Contribution.statistics": edit((USED,
            "two = np.trunc(label / 49.0 * 49.0 / GRID) * GRID\n"
            "    half = np.where(label > 0.5, 256.0 - 256.0 * np.trunc(two), 0.0)\n"
            '    return Statistics({"g": half}, np.abs(g) <= self.params.gradient_bound)'))}, "", {**ONE, "target": "binary"}),
)  # fmt: skip
# 10. As 6, of sums: whether a sum is above 0 that is 0 but for steps of the grid (prove/magnitudes.py `_of`: `step` is
#     -inf of truth values, and of a choice by one between constants).
ABOVE = tuple(
    Mutant(f"whether a sum is above 0 that is of steps of the grid alone, {used}", {
        f"{D}:Contribution.label": edit(PLAIN),
        f"{D}:Contribution.statistics": edit((USED,
            "one, two = np.trunc(label / GRID) * GRID, np.trunc(label / 49.0 * 49.0 / GRID) * GRID\n"
            f'    return Statistics({{"g": {g}, "t": one - two}}, {used})')),
        TREE: edit((CLIPPED, """more = values(population.ask(Nodes(("t",))))[0]
    value = np.where(more > 0.0, 64.0, count * 0.0)
"""))}, "", {**ONE, "target": "binary"})
    for g, used in (FILTERED, ALL)
)  # fmt: skip

TWENTYTHIRD = (*ARRAYS, *EMPTY, *SCORES, *LOSING, *COMPARED, *EVERYWHERE, *ARGUMENTS, *WHOLE, *ABOVE)
"""All of the schema of `tests.prove.page.read`; `DIVIDED` is of Grove's regression."""
