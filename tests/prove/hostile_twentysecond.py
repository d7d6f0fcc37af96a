"""Training texts of a twenty-second attack that leak more than they declare and were PROVED.

By cause, each with what the reading overlooks.
"""

# ruff: noqa: E501
from __future__ import annotations

from refdp.data.records import Interval, Schema
from tests.mutants.harness import Mutant, edit
from tests.mutants.matrix import FEATURES
from tests.prove.attacks import D
from tests.prove.hostile_fifteenth import ONE, _has
from tests.prove.hostile_seventeenth import CLIPPED, TREE
from tests.prove.hostile_twentyfirst import LABEL, PLAIN, USED

G = "refdp.own.grove"

# 1. A statistic whose formula is 0 in real numbers, and 2^-30 in float64 where a label is 1, is on the grid once it is
#    simplified (prove/unknown.py `_on_grid`); hosts add it up in float64 and round the sum to units.
SIMPLIFIED = (
    Mutant("a statistic that is on the grid as a real number alone", {
        **_has(D, "Laplace", "refdp.noise.mechanisms"),
        f"{D}:Contribution.label": edit(PLAIN),
        f"{D}:Contribution.statistics": edit((USED,
            'return Statistics({"g": g, "t": (label - label / 49.0 * 49.0) * 2.0**23}, np.abs(g) <= self.params.gradient_bound)')),
        TREE: edit((CLIPPED, CLIPPED + """    more = values(population.ask(Nodes(("t",))))[0]
    curator.release("more", Laplace(1.0), more * 2.0**40, sensitivity=Sensitivity(0.0, 1, "none", params.relation))
"""))}, "", {**ONE, "target": "binary"}),
)  # fmt: skip

# 2. Where it is asked what float64 rounds of many records, the sum of one statistic is of many where that of another is
#    (prove/magnitudes.py `_of`, `crowd`): what is rounded of one counts as divided by 2^36 of the other, which can be 0.
RELEASE = 'noisy = curator.release_sum("leaves", charge, population, Leaves(of), lambda sums: sums[0].T)'
LAST = 'return Statistics({"g": np.asarray(clip(g, CUT)), "h": np.asarray(h)})'
CROWDED = (
    Mutant("a sum that is divided by that of another statistic, which can be 0", {
        f"{G}:Params.mu": edit(("return total_mu(", "return 0.75 * total_mu(")),
        f"{G}:Contribution.statistics": edit((LAST,
            'return Statistics({"g": np.asarray(clip(g, CUT)), "h": np.asarray(h), "big": np.where(label > 0.5, 0.0, 1024.0), '
            '"none": np.where(label > 0.5, 1024.0, 0.0), "u": label * 1.0})')),
        f"{G}:random_trees": edit((RELEASE, RELEASE + """
            population.tell(Refresh(("g", "h")))
            more = values(population.ask(Leaves(("big", "none", "u"))))[0]
            bound = Sensitivity(2.0**-9, 2, "none", params.relation)
            curator.release("more", Charge(Gaussian(2.0**-6), bound, bound), more[2] * 2.0**-9 + (more[0] / 49.0 * 49.0 - more[0]) / (more[1] + 1.0) * 2.0**21)
"""))}, "", {"feature_share": 0.0, "noise": "floating"}),
)  # fmt: skip

# 3. A rounded whole number and an exponential count as their largest where something is divided by them, a label as 1
#    (prove/magnitudes.py `_of`, `low`).


def _half(name: str, lost: str) -> Mutant:
    """Of labels between 0 and 1, or -1 and 1: `lost` is 0 in real numbers, and nearly so for the reading."""
    return Mutant(name, {
        **_has(D, "exp", "refdp.data.numbers"),
        f"{D}:Contribution.label": edit((LABEL, "    return y")),
        f"{D}:Contribution.statistics": edit((USED,
            "g = on_grid(np.clip(label, -1.0, 1.0))\n"
            f"    x = label + 1.0\n    lost = {lost}\n"
            "    half = np.maximum(256.0 - 256.0 * np.rint(lost + 0.75), -1.0)\n"
            '    return Statistics({"g": half}, np.abs(g) <= self.params.gradient_bound)'))}, "", ONE)  # fmt: skip


ROUNDS = "(x * 0.7 + x * 0.5 - x * 1.2)"
QUOTIENTS = (
    _half(
        "divided by a whole number",
        "(label - label * 0.7 / 0.7) / np.rint(np.where(label > 0.5, 2.0**30, 1.0)) * 2.0**51",
    ),
    _half("divided by a small label", f"{ROUNDS} / label * 2.0**20"),
    _half("divided by a small label's square", f"{ROUNDS} / (label * label) * 2.0**20"),
    _half("divided by a small exponential", f"{ROUNDS} / exp(np.where(label > 0.5, 20.0, 0.0)) * 2.0**51"),
)
NARROW = Schema(FEATURES, Interval(2.0**-32, 1.0))
"""The schema of `QUOTIENTS`; `CROWDED` is of two classes of Grove, `SIMPLIFIED` has that of `tests.prove.page.read`."""

TWENTYSECOND = SIMPLIFIED
