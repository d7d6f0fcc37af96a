"""Training texts of a twenty-fifth attack that leak more than they declare and were PROVED: of scores and exact sums.

By cause, each with what the reading overlooked.
"""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

from refdp.data.population import Start
from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D, F
from tests.prove.hostile_fifteenth import ONE
from tests.prove.hostile_seventeenth import CLIPPED, TREE
from tests.prove.hostile_twentyfirst import LABEL, PLAIN, USED

TWO = {"trees": 2, "trees_per_ensemble": 2, "depth": 1}
REPLACED, DISCRETE = {"relation": "replace-one"}, {"noise": "discrete"}
BEGIN = "population.tell(Begin(Contribution(params, schema), (output,)))"
LABELS = {f"{D}:Contribution.label": edit((LABEL, "    return y"))}
CLASSES = {f"{D}:Contribution.label": edit(PLAIN)}


def starting(initial: str) -> dict[str, Any]:
    """Scores that start somewhere, and labels that are what they are."""
    told = edit((BEGIN, f"{BEGIN}\n        population.tell(Start({initial}))"))
    return {**LABELS, f"{D}:+Start": lambda _: Start, f"{D}:train_on": told}


TINY, HUGE = starting("2.0**-60"), starting("2.0**60")
CUT = "np.trunc(label / GRID) * GRID"
THIRD = "np.trunc(label / 49.0 * 49.0 / GRID) * GRID"
"""The same number, or a step of the grid less."""


def _of(lines: str) -> dict[str, Any]:
    return {f"{D}:Contribution.statistics": edit((USED, f'{lines}\n    return Statistics({{"g": half}}, None)'))}


def beside(more: str, value: str, before: str = "    ") -> dict[str, Any]:
    """More statistics beside "g", and a value of their sums in place of a leaf's."""
    both = f'return Statistics({{"g": np.clip(g, -1.0, 1.0), {more}}}, None)'
    return {f"{D}:Contribution.statistics": edit((USED, before.lstrip() + both)), TREE: edit((CLIPPED, value))}


# 1. Sums on one grid are added without a rounding, however large they become (prove/magnitudes.py `_sum`): a single sum
#    alone was held against 2^53 steps. At 2^30 float64 has steps of 2^-22, and sums are multiples of 2^-24.
DOUBLED = tuple(
    Mutant(f"doubled: {name}", {
        **LABELS, **beside('"b": on_grid(np.clip(label, -1.0, 1.0))', """other = values(population.ask(Nodes(("b",))))[0]
    large = other + 2.0**20
    for _ in range(10):
        large = large + large
    value = (((large + other) - large) - other) * 2.0**27
""")}, "", {**ONE, **more})
    for name, more in (("default", {}), ("replaced", REPLACED), ("discrete noise", DISCRETE))
)  # fmt: skip

# 2. Scores count as multiples of the grid (prove/magnitudes.py `_of`: any unknown of which nothing is known), so that a
#    score between -1 and 1 is added to 1 and taken off again exactly.
SCORE = "t = np.clip({0}, -1.0, 1.0)\n{3}half = np.rint((((t + {1}) - {1}) - t) * 2.0**{2}) * 256.0"
SCORED = (
    *(Mutant(f"score: {name}", _of(SCORE.format("score", constant, order, "    ")), "", {**TWO, **more})
      for name, constant, order, more in (("one", 1.0, 54, {}), ("256", 256.0, 46, {}),
                                          ("replaced", 1.0, 54, {**DISCRETE, **REPLACED}))),
    Mutant("score: of fedgbdt", {f"{F}:Contribution.statistics": edit(
        ("g = on_grid(label) if forest else clip_gradient(on_grid(square_gradient(score, label)), bound)",
         SCORE.format("score * 2.0**-4", 1.0, 54, "        ").replace("half", "g")))}, "",
        {"trees": 2, "depth": 1, "target": "regression"}),
)  # fmt: skip

# 3. Scores count as at least 1 but for 0, and nothing may be left of one (prove/magnitudes.py `_of`: `differs` was of
#    exponentials, labels and sums alone).
TINY_SCORE = (
    Mutant("tiny: what float64 rounds, divided by a cut score", {**TINY, **_of("""s = np.clip(score, 0.0, 1.0)
    away = np.where(s > 0.0, s, 1.0)
    half = np.rint((label / 49.0 * 49.0 - label) / away) * 256.0""")}, "", ONE),
)  # fmt: skip

# 4. What is divided by a number of any size counts as nearer to 0 than what is divided (prove/kinds.py `_width`), also
#    where that number is below 1.
QUOTIENT = (
    Mutant("quotient: by a tiny score", {**TINY, **_of("""away = np.where(score > 0.0, score, 1.0)
    q = label / away
    half = np.rint(q / 49.0 * 49.0 - q) * 256.0""")}, "", ONE),
    Mutant("quotient: by a quotient by what can be large", {**HUGE, **_of("""away = 1.0 / np.maximum(score, 0.5)
    half = np.rint((label / 49.0 * 49.0 - label) / away) * 256.0""")}, "", ONE),
)  # fmt: skip

# 5. The constant 0 counts as of size 1 (prove/magnitudes.py `_order`, `_together`): of what is never negative the largest
#    part counts, so that x + 2^-11 + 0 was at least 1 where x is of no records.
ZERO = tuple(
    Mutant(f"zero: {name}", {
        **LABELS, **beside('"a": on_grid(np.clip(label, 0.0, 1.0)), "b": np.where(label <= 0.0, 8.0, 0.0)',
                            f"""small, own = values(population.ask(Nodes(("a", "b"))))
    away = {away}
    value = (own / 49.0 * 49.0 - own) / away / away
""")}, "", {**ONE, "regularisation": 2.0**9})
    for name, away in (("added", "small + 2.0**-11 + 0.0"), ("maximum", "np.maximum(small, 0.0) + 2.0**-11"))
)  # fmt: skip

# 6. A number of records that is divided by is as large as many make it (prove/magnitudes.py `_crowded`), also where what
#    is divided by it does not grow with them: of few records nothing was held against the noise.
DECREASING = (
    Mutant("decreasing: divided by the number of records again and again", {
        **LABELS, **beside('"a": on_grid(np.clip(label, -1.0, 1.0)) * 1024.0',
                            """own = values(population.ask(Nodes(("a",))))[0]
    own = own * own / (count + 1.0)
    lost = (own / 49.0 * 49.0 - own) * 2.0**18
    value = lost / (count + 1.0) / (count + 1.0) / (count + 1.0)
""")}, "", {**ONE, "regularisation": 2.0**24}),
)  # fmt: skip

# 7. A step of the grid in a divisor is followed for what is divided of size 1 (prove/magnitudes.py `_of`, `step`), and
#    that can be a sum of many records.
STEP = (
    Mutant("step: in a divisor of a sum over many records", {
        **CLASSES, **beside('"n": np.where(label > 0.5, 0.0, 0.5), "t": t',
                             """n, t = values(population.ask(Nodes(("n", "t"))))
    value = n / (t * 2.0**10 + 1.0)
""", f"t = {CUT} - {THIRD}\n    ")}, "", {**ONE, "target": "binary"}),
)  # fmt: skip

# 8. Steps of many records add up: a sum that is 0 or more by its formula is below 0 in float64, and a divisor of it 0
#    (prove/unknown.py `common`: bounds of the formula on sums of float64's numbers).
MANY_STEPS = (
    Mutant("many steps: of many records take a divisor to 0", {
        **CLASSES, **beside('"t": t', """t = values(population.ask(Nodes(("t",))))[0]
    value = 0.25 / (t * 2.0**10 + 1.0)
""", f"t = {THIRD} - {CUT}\n    ")}, "", {**ONE, "target": "binary"}),
)  # fmt: skip
TWENTYFIFTH = (*DOUBLED, *SCORED, *TINY_SCORE, *QUOTIENT, *ZERO, *DECREASING, *STEP, *MANY_STEPS)
