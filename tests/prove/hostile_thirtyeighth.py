"""Training texts of a thirty-eighth attack, whose releases records pay for, and which were PROVED.

What was asked of all other releases was not asked of these (prove/releases.py `_paid`): whether a value can be beyond
2^52 steps of the noise's grid, which is an error, and whether a change is within what is declared. And a payment was
let be too small by a margin that its cost has many times. Now they are asked like all others.
"""

from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import S
from tests.prove.hostile_thirtysixth import METERED

CHARGE, COST = f"{S}:leaf_charge", f"{S}:Contribution.cost"
NOISE = "return Charge(DiscreteGaussian(deviations, GRID) if discrete"
DECLARED = "proved = Sensitivity(numbers.root(whitened_squared(*bounds, *variances)),"
PAID = "return np.asarray(record_cost(g, hessian, *self.params.bounds(self.schema), r1, squared))"
RARE: dict[str, Any] = {**METERED, "trees": 1, "subsample": 0.01}


def _paid(name: str, text: str, wanted: str, changed: str, settings: dict[str, Any] = METERED) -> Mutant:
    return Mutant(f"paid: {name}", {text: edit((wanted, changed))}, "", settings)


THIRTYEIGHTH = (
    *(_paid(f"steps of 2^-{order} of the grid", CHARGE, NOISE, NOISE.replace("GRID)", f"GRID * 2.0**-{order})"))
      for order in (20, 30)),
    *(_paid(f"declared {name}", CHARGE, DECLARED, DECLARED.replace("variances)),", f"variances)) {change},"))
      for name, change in (("a thousandth", "/ 1000.0"), ("a little less", "* 0.999"))),
    _paid("a little too little", COST, PAID, PAID.replace("squared))", "squared) / (1 + 4.9e-10))"), RARE),
)  # fmt: skip
