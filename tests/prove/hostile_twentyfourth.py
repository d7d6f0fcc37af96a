"""Training texts of a twenty-fourth attack that leak more than they declare and were PROVED: of noise on a grid.

By cause, each with what the reading overlooked.
"""

# ruff: noqa: E501
from __future__ import annotations

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D, F, S
from tests.prove.hostile_fifteenth import ONE, _has
from tests.prove.hostile_seventeenth import CLIPPED, TREE

RO = {"relation": "replace-one"}
NO = {"noise": "discrete"}
ONE_TREE = {"trees": 1, "depth": 1, "target": "regression", **NO}
BUDGET = {"delta": 1e-5, "trees": 2, "depth": 1, "target": "regression", **NO}
QUARTER = "return epsilon / 2", "return epsilon / 4"
LESS = ("epsilon = self.epsilon * self.initial_share / schema.scores",
        "epsilon = self.epsilon * self.initial_share / schema.scores / 4")  # fmt: skip
EACH, MEAN = "    for place, t in enumerate(batch):", "    mean = float(noisy_sum / max(noisy_count, 1.0))"
GROWN = "        trees.append(Tree(splits, leaf_values(params, noisy)))"
STILL = "({0} * 0.7 / 0.7 - {0}) + 0.5"
"""1/2, and 2^-49 more for some numbers of records."""


def _dpboost(name: str, before: str, mechanism: str, value: str, bound: float, **settings: str) -> Mutant:
    more = (
        f'curator.release("more", {mechanism}, {value}, sensitivity=Sensitivity({bound}, 1, "none", params.relation))'
    )
    return Mutant(name, {
        **_has(D, "DiscreteLaplace", "refdp.noise.mechanisms"), f"{D}:Params.leaf_epsilon": edit(QUARTER),
        TREE: edit((CLIPPED, f"{CLIPPED}{before}    {more}\n"))}, "", {**ONE, **NO, **settings})  # fmt: skip


def _fedgbdt(name: str, sigma: str, value: str, bound: float, share: float) -> Mutant:
    more = f'curator.release("more", DiscreteGaussian({sigma}), {value}, sensitivity=Sensitivity({bound}, 2, "none", params.relation))'
    return Mutant(name, {
        **_has(F, "DiscreteGaussian", "refdp.noise.mechanisms"), **_has(F, "Sensitivity", "refdp.privacy.events"),
        f"{F}:leaf_sums": edit((EACH, f"    own = sums[0][1]\n    half = {STILL.format('own')}\n    {more}\n{EACH}")),
        f"{F}:Params.query_mu": edit(("return mu / math.sqrt(self", f"return {share} * mu / math.sqrt(self"))}, "", ONE_TREE)  # fmt: skip


def _initial(name: str, **settings: int) -> Mutant:
    more = 'curator.release("more", DiscreteLaplace(1.0 / 32.0, 1.0), np.array([half]), sensitivity=Sensitivity(2.0**-10, 1, INITIAL, params.relation))'
    return Mutant(name, {
        **_has(S, "DiscreteLaplace", "refdp.noise.mechanisms"), f"{S}:Params.initial_charges": edit(LESS),
        f"{S}:initial_score": edit((MEAN, f"    half = {STILL.format('size')}\n    {more}\n{MEAN}"))}, "", BUDGET | settings)  # fmt: skip


# 1. `_indexed` (prove/releases.py) did not ask whether a value stays within 2^52 steps of a grid where the declared
#    bound times 2^26 records does, as if the value of no records were near 0. A constant beside the sum puts the end of
#    the grid at 100 records: 101 of them are an error (draws.to_grid), 100 are none.
OFFSET = (
    _dpboost("offset: a count whose grid ends at 100 records", "", "DiscreteLaplace(4.0 / epsilon, 2.0**-26)",
             "count * 0.5 + (2.0**26 - 50.0)", 0.51),
    _dpboost("offset: the same of replaced records", "", "DiscreteLaplace(4.0 / epsilon, 2.0**-26)",
             "count * 0.25 + (2.0**26 - 25.0)", 0.51, **RO),
    _fedgbdt("offset: Gaussian noise", "4.0, 2.0**-26", "own * 0.25 + (2.0**26 - 25.0)", 0.26, 0.5),
)  # fmt: skip

# 2. Discrete noise rounds a value that no record moves in real numbers, and float64 makes it another one:
#    prove/releases.py counted steps of rounding of `way.moved` alone (`_bounded`: `count`, `_rounded`: `off`), and a cell
#    whose change is 0 once it is simplified was in none. What float64 rounds has to be 2^10 below the noise and the bound
#    (`_room`), not away from half a step: of coarse grids the step is many times both.
HALVES, SIXTEEN = f"    half = {STILL.format('count')}\n", "np.array([" + ", ".join(["half"] * 16) + "])"
HALF = (
    _dpboost("half: digits that float64 rounds are whole steps of many values", HALVES,
             "DiscreteLaplace(4.0 / epsilon, 1.0)", SIXTEEN, 1.0),
    _dpboost("half: replaced", HALVES, "DiscreteLaplace(4.0 / epsilon, 1.0)", SIXTEEN, 1.0, **RO),
    _dpboost("half: one cell that moves, others that do not", "    g = gradient_sum - gradient_sum * 0.7 / 0.7\n",
             "DiscreteLaplace(8.0 / epsilon, 1.0)", "np.array([count, g + 0.5, g + 1.5])", 1.0),
    _fedgbdt("half: Gaussian noise", "512.0, 1.0", SIXTEEN, 1.0, 0.9),
)  # fmt: skip

# 2b. The same where prove/spending.py accounts (samples of discrete noise, budgets of records): it charges bound / scale
#     and bound^2 / 2, not whole steps as accounting/releases.py does, so that one value and a coarse grid are enough.
COARSE = 'DiscreteGaussian((1.0 / 32.0, 1.0 / 32.0), 1.0), np.array([half, half]).T, sensitivity=Sensitivity(2.0**-5, "whitened", WHITENED, params.relation))'
STEPS = (
    _initial("steps: one digit is a step of 32 scales"),
    Mutant("steps: one digit of a sample is a step of 32 deviations", {
        f"{S}:Params.initial_charges": edit(LESS),
        f"{S}:grow": edit((GROWN, f"""        with curator.subsample("more", params.subsample, population):
            own = values(population.ask(Leaves(("h",))))[0][0]
            half = {STILL.format('own')}
            curator.release("more", {COARSE}
{GROWN}"""))}, "", BUDGET),
    _initial("steps: one digit beside budgets of records", extra_trees=2),
    Mutant("steps: records pay nothing for a digit", {
        f"{S}:grow": edit(('noisy = curator.release_sum("leaves", charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)',
            f"""own = values(population.ask(Leaves(("g", "h"))))[0][1]
            half = {STILL.format('own')}
            noisy = curator.release("leaves", {COARSE}"""))}, "", BUDGET | {"extra_trees": 2}),
)  # fmt: skip
TWENTYFOURTH = (*OFFSET, *HALF, *STEPS)
