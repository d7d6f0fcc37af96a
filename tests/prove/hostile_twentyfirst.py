"""Training texts of a twenty-first attack that leak more than they declare and were PROVED.

By cause, each with what the reading overlooks.
"""

# ruff: noqa: E501
from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from refdp.data.numbers import at_least
from refdp.data.records import Interval, Schema
from tests.mutants.harness import Mutant, edit
from tests.mutants.matrix import FEATURES
from tests.prove.attacks import D
from tests.prove.hostile_fifteenth import ONE, _has
from tests.prove.hostile_nineteenth import _function
from tests.prove.hostile_seventeenth import CLIPPED, LEVELS, TREE

X = "refdp.papers.dpxgboost"
LABEL = "    label = self.schema.label(output, y)\n    return label if isinstance(self.schema.target, Interval) else 2 * label - 1"
PLAIN = (LABEL, "    return self.schema.label(output, y)")
USED = 'return Statistics({"g": g}, np.abs(g) <= self.params.gradient_bound)  # Alg. 1, l. 3: gradient-based filtering'

# 1. A statistic that can be off by a step of the grid is summed, and the sum's unknown (prove/unknown.py `common`,
#    `value`) does not say so any more.
SUMMED = (
    Mutant("a step of the grid of a statistic that is 0, made large of its sum", {
        **_has(D, "Laplace", "refdp.noise.mechanisms"),
        f"{D}:Contribution.label": edit(PLAIN),
        f"{D}:Contribution.statistics": edit((USED,
            "one, two = np.trunc(label / GRID) * GRID, np.trunc(label / 49.0 * 49.0 / GRID) * GRID\n"
            '    return Statistics({"g": g, "t": one - two}, np.abs(g) <= self.params.gradient_bound)')),
        TREE: edit((CLIPPED, CLIPPED + """    more = values(population.ask(Nodes(("t",))))[0]
    curator.release("more", Laplace(1.0), more * 2.0**28, sensitivity=Sensitivity(0.0, 1, "none", params.relation))
"""))}, "", {**ONE, "target": "binary"}),
)  # fmt: skip

# 2. Labels of up to 2^20 count as numbers of size 1 where it is asked what float64 rounds (prove/magnitudes.py `_of`).
LABELS = (
    Mutant("labels of a million have 20 digits less than those of 1", {
        f"{D}:Contribution.label": edit((LABEL, "    return y")),
        f"{D}:Contribution.statistics": edit((USED,
            "g = on_grid(np.clip(label, -1.0, 1.0))\n"
            "    lost = (label - label * 0.7 / 0.7) * 2.0**22\n"
            "    half = np.maximum(256.0 - 256.0 * np.rint(lost + (0.5 + 2.0**-13)), -1.0)\n"
            '    return Statistics({"g": half}, np.abs(g) <= self.params.gradient_bound)'))}, "", ONE),
)  # fmt: skip
LARGE = Schema(FEATURES, Interval(-(2.0**20), 2.0**20))
"""The schema of `LABELS`; all others have that of `tests.prove.page.read`."""

# 3. Sums count as sums of 2^26 ones, whatever a record adds; and what float64 rounds is held against the noise alone, so
#    that a charge of 0 covers it again and again (prove/releases.py `_room`).
ROUNDED = (
    Mutant("digits of sums of statistics of 1024", {
        **_has(D, "Laplace", "refdp.noise.mechanisms"),
        f"{D}:Contribution.statistics": edit((USED,
            'return Statistics({"g": g, "t": np.clip(on_grid(label * 1024.0), -1024.0, 1024.0)}, np.abs(g) <= self.params.gradient_bound)')),
        TREE: edit((CLIPPED, CLIPPED + """    more = values(population.ask(Nodes(("t",))))[0]
    curator.release("more", Laplace(2.0**-14), more * 0.7 / 0.7 - more, sensitivity=Sensitivity(0.0, 1, "none", params.relation))
"""))}, "", ONE),
    Mutant("a charge of nothing for what float64 rounds beside the noise, again and again", {
        **_has(D, "Laplace", "refdp.noise.mechanisms"),
        TREE: edit((CLIPPED, CLIPPED + """    for number in range(4096):
        curator.release(f"more {number}", Laplace(2.0**-14), count * 0.7 / 0.7 - count, sensitivity=Sensitivity(0.0, 1, "none", params.relation))
"""))}, "", ONE),
)  # fmt: skip

# 4. `rounded_up` of a formula with floats in it is not rounded up in hosts, and is where a parameter is open
#    (prove/charged.py `rounded_up`): differences of up to 2^7 at each of seven levels, as `check_cost` allows.


def _formula(a: Fraction, depth: int, draws: random.Random) -> str:
    """Text of a formula of b whose real coefficient is a."""
    if depth == 0:
        assert Fraction(float(a)) == a
        return f"b * {float(a)!r}"
    units = int(a * 84 / Fraction(2) ** -52)
    more = (units + draws.randrange(units)) * Fraction(2) ** -52
    return f"({_formula(more + a, depth - 1, draws)} - {_formula(more, depth - 1, draws)})"


TINY = Fraction(2) ** -51


def _share(formula: Any, b: float) -> float:
    """Of the bound that is needed, what hosts declare for this b."""
    try:
        return float(at_least(formula(Fraction(b)))) * b
    except ZeroDivisionError:
        return -1.0


def _sought() -> tuple[str, float, float, float]:
    """A formula, a b for which hosts declare less than half of what is needed, and a range of b around it at whose ends
    they declare enough."""
    for seed in range(50):
        text = f"{float(TINY)!r} / {_formula(TINY, 7, random.Random(seed))}"
        formula = eval("lambda b: " + text)
        found = [(_share(formula, b), b) for b in (1 + k / 997 for k in range(1, 997))]
        share, place = min(one for one in found if one[0] > 0.05)
        if share < 0.4:
            break
    low = max(b for share, b in found if share >= 1 and b < place)
    return text, place, low, min(b for share, b in found if share >= 1 and b > place)


TEXT, INSIDE, LOW, HIGH = _sought()
OPEN = (
    Mutant("a bound that floats in a formula round down", {
        **_function(f"def tiny(b: Number) -> Number:\n    return {TEXT}\n"),
        f"{D}:Params.leaf_charge": edit(("rounded_up(leaf_sensitivity, self.gradient_bound, self.regularisation, clip, self.relation)", "rounded_up(tiny, self.regularisation)")),
        TREE: edit((CLIPPED, "value = count / params.regularisation\n"))}, "", {**ONE, "regularisation": LOW}),
)  # fmt: skip
ANYWHERE = {"regularisation": (LOW, HIGH)}
"""With this argument of `prove`: `OPEN`, which leaks at `INSIDE`."""

# 5. A difference counts as large as its parts where something is divided by it (prove/magnitudes.py `_of`).


def _difference(a: float, b: float, c: float) -> str:
    """Text of x a - x b - (x c - x d), in real numbers x 2^-51."""
    d = float(Fraction(c) - Fraction(a) + Fraction(b) + TINY)
    assert Fraction(a) - Fraction(b) - (Fraction(c) - Fraction(d)) == TINY
    return f"(x * {a!r} - x * {b!r}) - (x * {c!r} - x * {d!r})"


NEARLY = _difference(7.3, 5.1, 3.9)
DIVIDED = (
    Mutant("a statistic that is divided by a difference of nearly equal numbers", {
        f"{D}:Contribution.label": edit(PLAIN),
        f"{D}:Contribution.statistics": edit((USED,
            f"x = label + 3.0\n    away = x * 2.0**-51 / ({NEARLY})\n"
            '    return Statistics({"g": on_grid(64.0 * away) - 64.0}, np.abs(g) <= self.params.gradient_bound)'))}, "", ONE),
    Mutant("leaves that are divided by a difference of nearly equal sums", {
        TREE: edit((CLIPPED, f"x = count + 1.0\n    value = 64.0 * (x * 2.0**-51 / ({NEARLY}))\n"))}, "", ONE),
)  # fmt: skip

# 6. Medians within intervals of released edges are told apart by the edges of an example (prove/medians.py).
MEDIANS = (
    Mutant("utilities of medians within two kinds of intervals that coincide in the example", {
        f"{X}:medians": edit(("        edges = halved", """        if level == 1:
            by = curator.draw("by", ("integers", 4), 1)[0]
            sizes = (len(weights), len(edges[0]) + 1, max(map(len, weights)) - 1)
            one = np.maximum(np.reshape(utility, sizes), -30000.0)[0]
            other = np.maximum(np.reshape(median_utilities(weights, [own + by for own in edges]), sizes), -30000.0)[0]
            curator.release("more", Exponential(1.0), (one - other) * 8.0,
                            sensitivity=Sensitivity(0.0, "range", "none", params.relation), options=options)
        edges = halved"""))}, "", {"candidates": "quantiles", "bins": 3, "sketch_bins": 8, "target": "regression"}),
)  # fmt: skip

# 7. What is put side by side has the axes of its first part, and `reshape` makes a plain table of it
#    (prove/arithmetic.py `_side_by_side`, `called`).
ROWS = (
    Mutant("eight times the same bin, as one row of parts of other lengths", {TREE: edit(
        (LEVELS, "    bins = values(population.ask(Bins((COUNT,))))[0][0][: params.bins + 2]\n"
                 "    parts = [bins[0:8], *[bins[1:2] for _ in range(8)], *[bins[0:15] for _ in range(8)]]\n"
                 f"    rows = np.reshape(np.concatenate(parts), (17, 8))\n{LEVELS}"),
        (CLIPPED, "value = rows[1] * 0.875\n"))}, "", {**ONE, "depth": 3, "bins": 30}),
)  # fmt: skip

# 8. An exponential's error is its own rounding; that of its argument is forgotten, again and again
#    (prove/magnitudes.py `rounded`).
EXPONENTIALS = (
    Mutant("what is rounded is made large by exponentials", {
        f"{D}:Contribution.statistics": edit((USED,
            "lost = (label - label * 0.7 / 0.7) * 2.0**22\n"
            "    lost = (numbers.exp(lost) - 1.0) * 2.0**22\n"
            "    lost = on_grid((numbers.exp(lost) - 1.0) * 2.0**10)\n"
            '    return Statistics({"g": np.clip(g, -1.0, 1.0) + lost}, np.abs(g) <= self.params.gradient_bound)'))}, "", ONE),
)  # fmt: skip

TWENTYFIRST = (*SUMMED, *ROUNDED, *DIVIDED, *MEDIANS, *ROWS, *EXPONENTIALS)
