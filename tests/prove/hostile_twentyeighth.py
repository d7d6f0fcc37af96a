"""Training texts of a twenty-eighth attack that leak more than they declare and were PROVED: of shapes, sides and budgets.

By cause, each with what the reading overlooked; all were run on neighbours in memory with noise off.
"""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D, S, X, Z
from tests.prove.hostile_fifteenth import ONE
from tests.prove.hostile_fourteenth import SIDES

TREE, SPLITS = f"{Z}:train_tree", f"{D}:splits_of_most_gain"
BOTH = '        left, right = candidates.sides(values(population.ask(Bins(("r", COUNT)))))\n'
RO: dict[str, Any] = {"relation": "replace-one"}
FAR = """        own = values(population.ask(Nodes(("r", COUNT))))[..., np.newaxis]
        left = candidates.right_sums(own - values(population.ask(Bins(("r", COUNT)))))
        right = own - left
"""
# 1. A node's total less the sums in its bins, bin by bin: of all bins on a side numpy has the total once for each of
#    them, and the reading once, as the sum on the other side. That is joined whatever is the same for every bin
#    (prove/arithmetic.py `_tables`, which asks `_joined` without `along`).
JOINED = (
    Mutant("joined: totals less bins, InPrivate", {TREE: edit((BOTH, FAR))}, "", {}),
    Mutant("joined: totals less bins, replaced", {TREE: edit((BOTH, FAR))}, "", RO),
    Mutant("joined: totals less bins, turned", {TREE: edit((BOTH, FAR.replace('own - values(population.ask(Bins(("r", COUNT))))', '(own.T - values(population.ask(Bins(("r", COUNT)))).T).T')))}, "", {}),
    Mutant("joined: totals less bins, classes", {TREE: edit((BOTH, FAR.replace("COUNT", '"c"').replace('"r", "c"', '"r", COUNT')))}, "", {"target": "binary"}),
    Mutant("joined: totals less bins, DPBoost", {SPLITS: edit((SIDES, """    own = values(population.ask(Nodes(("g", COUNT))))[..., np.newaxis]
    left = candidates.right_sums(own - values(population.ask(Bins(("g", COUNT)))))
"""), ("gain(left[0], left[1], right[0], right[1], params.regularisation)", "4.0 * left[1]"))}, "", ONE),
    Mutant("joined: totals less bins, DP-XGBoost", {f"{X}:train_tree": edit(
        ("        utility, offered = params.offered(schema, options, *gains(params, grid, table, at))\n", """        own = values(population.ask(Nodes(params.summed)))[..., np.newaxis]
        utility, offered = 4.0 * grid.right_sums(own - table, at)[1], options
"""))}, "", {"missing": "left"}),
)  # fmt: skip

# 2. Sums in bins in another shape: sides of candidates have that shape in training, and that of the axes in the reading
#    (prove/tables.py `sides_of`, which does not ask `plainly_shaped`).
GAIN = "        utility = gain(left[0], left[1], right[0], right[1])  # Alg. 1, l. 8\n"
CHOSEN = 'curator.release(f"splits of level {level}", for_splits, utility, options=candidates.values)'


def _shaped(of: str, many: int, settings: dict[str, Any], size: float = 4.0) -> dict[str, Any]:
    return {
        TREE: edit(
            (BOTH, f"        bins = np.reshape(values(population.ask(Bins({of}))), (1, {many} * 2**level, -1))\n"),
            (GAIN, f"        utility = {size} * candidates.right_sums(bins)[0]\n"),
            (CHOSEN, f"{CHOSEN}[: 2**level]"),
        )
    }


SHAPED = (
    Mutant("shaped: two choices for one", _shaped('(COUNT, "r")', 2, {}), "", {}),
    Mutant("shaped: two choices for one, deeper", _shaped('(COUNT, "r")', 2, {}), "", {"depth": 3}),
    Mutant("shaped: two choices for one, replaced", _shaped('(COUNT, "r")', 2, {}), "", RO),
    Mutant("shaped: eight choices for one", _shaped("(COUNT,) * 8", 8, {}), "", {}),
)  # fmt: skip

# 3. What a record pays is asked of releases that are about it; a payment that no release is about can be below 0, by which
#    records get back what they have spent (prove/unknown.py `_charge`, of whose cost only prove/releases.py `_paid` asks).
PAID: dict[str, Any] = {"target": "regression", "trees": 1, "extra_trees": 4, "depth": 1, "subsample": 1.0,
                        "initial_share": 0.0, "delta": 1e-5}  # fmt: skip
REFRESH = '        population.tell(Refresh(("g", "h")))  # clip\n'
BACK = {
    f"{S}:grow": edit((REFRESH, f"""        for _ in range(1300):
            population.tell(Refresh(("back",)))
            population.tell(Pay())
{REFRESH}""")),
    f"{S}:Contribution.statistics": edit(("    gradient_bound, hessian_bound = self.params.bounds(self.schema)\n", """    if "back" in of:
        return Statistics({"back": np.where(score > 2.0**90, 0.0, -1.0)})
    gradient_bound, hessian_bound = self.params.bounds(self.schema)
""")),
    f"{S}:Contribution.cost": edit(("    g, h, r1 = statistics", """    if "back" in statistics:
        return statistics["back"] * (0.9 / 1024 / self.params.sigma_squared(self.schema))
    g, h, r1 = statistics""")),
}  # fmt: skip
REPAID = (
    Mutant("repaid: a cost below 0 that no release is about", BACK, "", PAID),
    Mutant("repaid: a cost below 0, floating noise", BACK, "", {**PAID, "noise": "floating"}),
    Mutant("repaid: a cost below 0, classes", BACK, "", {**PAID, "target": "binary"}),
)  # fmt: skip
TWENTYEIGHTH = (*JOINED, *SHAPED, *REPAID)
