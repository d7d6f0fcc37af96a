"""Training texts of a twenty-seventh attack that leak more than they declare and were PROVED: of float64's digits.

By cause, each with what the reading overlooked; all were run on neighbours in memory with noise off, but for those of
replace-one without scores.
"""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D, S
from tests.prove.hostile_fifteenth import ONE, _has
from tests.prove.hostile_seventeenth import CLIPPED, LEVELS, TREE
from tests.prove.hostile_twentyfifth import DISCRETE, LABELS, REPLACED, beside, starting
from tests.prove.hostile_twentyfirst import USED
from tests.prove.hostile_twentysixth import STATISTICS, TAKE

HALVES = 'return Statistics({"g": np.clip(g, -1.0, 1.0), "t": np.where(label > 0.5, 4.0, 0.0)}'


def _used(two: str) -> dict[str, Any]:
    """Records of large labels are used where two roundings differ. two: that compute `one` and `two`, and a comparison."""
    lines, differ = two.split("; ")
    return {**LABELS, TREE: edit((CLIPPED, f"{TAKE}\n")),
            STATISTICS: edit((USED, f"{lines}\n    {HALVES}, ({differ}) | (label <= 0.5))"))}  # fmt: skip


def _chosen(differ: str, before: dict[str, Any] = LABELS) -> dict[str, Any]:
    """A statistic that is 4 where something holds, in place of a leaf's value."""
    return {**before, **beside(f'"t": np.where({differ}, 4.0, 0.0)', f"{TAKE}\n")}


def _far(rounded: str, least: str, start: str) -> dict[str, Any]:
    """Scores begin where float64 rounds their sum up to `least`, and records of large labels are used where it does."""
    return {**starting(start), TREE: edit((CLIPPED, f"{TAKE}\n")), STATISTICS: edit((USED, f"""one = {rounded} * GRID
    return Statistics({{"g": on_grid(np.clip(label, -1.0, 1.0)), "t": np.where(label > 0.5, 4.0, 0.0)}}, ((one >= {least}) & (score <= {start})) | (label <= 0.5))"""))}  # fmt: skip


CUBES = "np.rint(label**3 * 2.0**8) != np.rint(label * label * label * 2.0**8)"
EXPONENTIALS = "np.rint(np.exp(label) * 2.0**8) != np.rint(numbers.exp(label) * 2.0**8)"

# 1. A power and a product were one term (prove/terms.py `_power`), and so were two exponentials (prove/arithmetic.py
#    `combined`): numpy has a function for each, whose last digit is another.
ALIKE = (
    Mutant("alike: a cube and a product", _used("one, two = on_grid(label**3), on_grid(label * label * label); one > two"), "", ONE),
    Mutant("alike: numpy's exponential and refdp's", _used("one, two = on_grid(np.exp(label * 8.0)), on_grid(numbers.exp(label * 8.0)); one != two"), "", ONE),
    Mutant("alike: numpy's exponential and refdp's, replaced", _used("one, two = on_grid(np.exp(label * 8.0)), on_grid(numbers.exp(label * 8.0)); one != two"), "", {**ONE, **REPLACED}),
    Mutant("alike: whole numbers of a cube and a product", _chosen(CUBES), "", ONE),
    Mutant("alike: whole numbers of two exponentials", _chosen(EXPONENTIALS), "", ONE),
    Mutant("alike: whole numbers of a cube and a product, S-GBDT", {
        f"{S}:Contribution.label": edit(("    return self.schema.label(output, y)", "    return y")),
        f"{S}:Contribution.statistics": edit(('return Statistics({"g": g, "h": h})', f'return Statistics({{"g": np.where({CUBES}, 64.0, g), "h": h}})'))},
        "", {"target": "regression", "subsample": 1.0}),
)  # fmt: skip

# 2. What float64 rounds of a score was taken to be as near to it as of numbers below 2^36 (prove/contributed.py
#    `_described`): a sum of 2^60 is rounded by up to 64.
FAR = (
    *(Mutant(f"far: a score of 2^60, {name}", _far("np.rint((score + 100.7) / GRID)", "2.0**60", "2.0**60 - 128.0"), "", {**ONE, **more})
      for name, more in (("default", {}), ("replaced", REPLACED), ("discrete noise", DISCRETE))),
    Mutant("far: a score of 2^20, cut to the grid", _far("np.trunc((score + 0.701) / GRID)", "2.0**20", "1048575.299"), "", ONE),
    Mutant("far: whole numbers of a score", _chosen("(np.rint(score + 100.7) >= 2.0**60) & (score <= 2.0**60 - 128.0) & (label > 0.5)", starting("2.0**60 - 128.0")), "", ONE),
)  # fmt: skip

# 3. No records at all were none of the numbers of records that sizes are asked about (prove/magnitudes.py `_crowded`):
#    a divisor is then what is added to it alone.
NOBODY = tuple(
    Mutant(f"nobody: a divisor of nobody's records, {name}", {
        **LABELS, **_has(D, "Laplace", "refdp.noise.mechanisms"),
        STATISTICS: edit((USED, 'return Statistics({"g": np.clip(g, -1.0, 1.0), "a": on_grid(np.clip(label, -1.0, 1.0))}, None)')),
        f"{D}:Params.leaf_epsilon": edit(("return epsilon / 2", "return epsilon / 4")),
        TREE: edit((LEVELS, f"""    population.tell(Refresh(("a",)))
    population.tell(Root(candidates.features))
    own, few = values(population.ask(Nodes(("a", COUNT))))[:, 0]
    lost = ((own + 1.0) / 49.0 * 49.0 - (own + 1.0)) * 2.0**-30 / (few + 2.0**-14) / (few + 2.0**-14)
    curator.release("more", Laplace(2.0**-60 / epsilon), lost, sensitivity=Sensitivity(2.0**-64, 1, "none", params.relation))
    population.tell(Refresh(("g",)))
    population.tell(Root(candidates.features))
{LEVELS}"""))}, "", {**ONE, **more})
    for name, more in (("default", {}), ("replaced", REPLACED))
)  # fmt: skip
TWENTYSEVENTH = (*ALIKE, *FAR, *NOBODY)
