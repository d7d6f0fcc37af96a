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

# 1. `_indexed` (prove/releases.py) does not ask whether a value stays within 2^52 steps of a grid where the declared
#    bound times 2^26 records does: premise that is not checked: that the value of no records is near 0. A constant
#    offset puts the end of the grid at 100 records: 101 of them are an error (draws.to_grid), 100 are none.
QUARTER = ("return epsilon / 2", "return epsilon / 4")
OFFSET = (
    Mutant(
        "offset: a count whose grid ends at 100 records",
        {
            **_has(D, "DiscreteLaplace", "refdp.noise.mechanisms"),
            f"{D}:Params.leaf_epsilon": edit(QUARTER),
            TREE: edit(
                (
                    CLIPPED,
                    CLIPPED
                    + """    curator.release("more", DiscreteLaplace(4.0 / epsilon, 2.0**-26), count * 0.5 + (2.0**26 - 50.0), sensitivity=Sensitivity(0.51, 1, "none", params.relation))
""",
                )
            ),
        },
        "",
        {**ONE, **NO},
    ),
    Mutant(
        "offset: the same of replaced records",
        {
            **_has(D, "DiscreteLaplace", "refdp.noise.mechanisms"),
            f"{D}:Params.leaf_epsilon": edit(QUARTER),
            TREE: edit(
                (
                    CLIPPED,
                    CLIPPED
                    + """    curator.release("more", DiscreteLaplace(4.0 / epsilon, 2.0**-26), count * 0.25 + (2.0**26 - 25.0), sensitivity=Sensitivity(0.51, 1, "none", params.relation))
""",
                )
            ),
        },
        "",
        {**ONE, **NO, **RO},
    ),
    Mutant(
        "offset: Gaussian noise",
        {
            **_has(F, "DiscreteGaussian", "refdp.noise.mechanisms"),
            **_has(F, "Sensitivity", "refdp.privacy.events"),
            f"{F}:leaf_sums": edit(
                (
                    "    for place, t in enumerate(batch):",
                    """    own = sums[0][1]
    curator.release("more", DiscreteGaussian(4.0, 2.0**-26), own * 0.25 + (2.0**26 - 25.0), sensitivity=Sensitivity(0.26, 2, "none", params.relation))
    for place, t in enumerate(batch):""",
                )
            ),
            f"{F}:Params.query_mu": edit(("return ", "return 0.5 * ")),
        },
        "",
        {"trees": 1, "depth": 1, "target": "regression", **NO},
    ),
)

# 2. Discrete noise rounds a value that no record moves in real numbers, and float64 makes it another one: prove/releases.py
#    counts steps of rounding of `way.moved` alone (`_bounded`: `count`, `_rounded`: `off`), and a cell whose change is 0 once
#    it is simplified is in none. What float64 rounds has to be 2^10 below the noise and the bound (`_room`), not away from
#    half a step: of coarse grids the step is many times both. n * 0.7 / 0.7 - n is 0 or 2^-50, rint(0.5 + it) 0 or 1.
HALF = (
    Mutant(
        "half: digits that float64 rounds are whole steps of many values",
        {
            **_has(D, "DiscreteLaplace", "refdp.noise.mechanisms"),
            f"{D}:Params.leaf_epsilon": edit(QUARTER),
            TREE: edit(
                (
                    CLIPPED,
                    CLIPPED
                    + """    half = (count * 0.7 / 0.7 - count) + 0.5
    more = np.array([half, half, half, half, half, half, half, half, half, half, half, half, half, half, half, half])
    curator.release("more", DiscreteLaplace(4.0 / epsilon, 1.0), more, sensitivity=Sensitivity(1.0, 1, "none", params.relation))
""",
                )
            ),
        },
        "",
        {**ONE, **NO},
    ),
    Mutant(
        "half: replaced",
        {
            **_has(D, "DiscreteLaplace", "refdp.noise.mechanisms"),
            f"{D}:Params.leaf_epsilon": edit(QUARTER),
            TREE: edit(
                (
                    CLIPPED,
                    CLIPPED
                    + """    half = (count * 0.7 / 0.7 - count) + 0.5
    more = np.array([half, half, half, half, half, half, half, half, half, half, half, half, half, half, half, half])
    curator.release("more", DiscreteLaplace(4.0 / epsilon, 1.0), more, sensitivity=Sensitivity(1.0, 1, "none", params.relation))
""",
                )
            ),
        },
        "",
        {**ONE, **NO, **RO},
    ),
    Mutant(
        "half: one cell that moves, others that do not",
        {
            **_has(D, "DiscreteLaplace", "refdp.noise.mechanisms"),
            f"{D}:Params.leaf_epsilon": edit(QUARTER),
            TREE: edit(
                (
                    CLIPPED,
                    CLIPPED
                    + """    g = gradient_sum - gradient_sum * 0.7 / 0.7
    curator.release("more", DiscreteLaplace(8.0 / epsilon, 1.0), np.array([count, g + 0.5, g + 1.5]), sensitivity=Sensitivity(1.0, 1, "none", params.relation))
""",
                )
            ),
        },
        "",
        {**ONE, **NO},
    ),
    Mutant(
        "half: Gaussian noise",
        {
            **_has(F, "DiscreteGaussian", "refdp.noise.mechanisms"),
            **_has(F, "Sensitivity", "refdp.privacy.events"),
            f"{F}:leaf_sums": edit(
                (
                    "    for place, t in enumerate(batch):",
                    """    own = sums[0][1]
    half = (own * 0.7 / 0.7 - own) + 0.5
    more = np.array([half, half, half, half, half, half, half, half, half, half, half, half, half, half, half, half])
    curator.release("more", DiscreteGaussian(512.0, 1.0), more, sensitivity=Sensitivity(1.0, 2, "none", params.relation))
    for place, t in enumerate(batch):""",
                )
            ),
            f"{F}:Params.query_mu": edit(("return ", "return 0.9 * ")),
        },
        "",
        {"trees": 1, "depth": 1, "target": "regression", **NO},
    ),
)

# 2b. The same where prove/spending.py accounts (samples of discrete noise, budgets of records): it charges bound / scale and
#     bound^2 / 2, not whole steps as accounting/releases.py does, so that one value and a coarse grid are enough.
LESS = (
    "epsilon = self.epsilon * self.initial_share / schema.scores",
    "epsilon = self.epsilon * self.initial_share / schema.scores / 4",
)
STEPS = (
    Mutant(
        "steps: one digit is a step of 32 scales",
        {
            **_has(S, "DiscreteLaplace", "refdp.noise.mechanisms"),
            f"{S}:Params.initial_charges": edit(LESS),
            f"{S}:initial_score": edit(
                (
                    "    mean = float(noisy_sum / max(noisy_count, 1.0))",
                    """    half = (size * 0.7 / 0.7 - size) + 0.5
    curator.release("more", DiscreteLaplace(1.0 / 32.0, 1.0), np.array([half]), sensitivity=Sensitivity(2.0**-10, 1, INITIAL, params.relation))
    mean = float(noisy_sum / max(noisy_count, 1.0))""",
                )
            ),
        },
        "",
        {"delta": 1e-5, "trees": 2, "depth": 1, "target": "regression", **NO},
    ),
    Mutant(
        "steps: one digit of a sample is a step of 32 deviations",
        {
            f"{S}:Params.initial_charges": edit(LESS),
            f"{S}:grow": edit(
                (
                    "        trees.append(Tree(splits, leaf_values(params, noisy)))",
                    """        with curator.subsample("more", params.subsample, population):
            own = values(population.ask(Leaves(("h",))))[0][0]
            half = (own * 0.7 / 0.7 - own) + 0.5
            curator.release("more", DiscreteGaussian((1.0 / 32.0, 1.0 / 32.0), 1.0), np.array([half, half]).T, sensitivity=Sensitivity(2.0**-5, "whitened", WHITENED, params.relation))
        trees.append(Tree(splits, leaf_values(params, noisy)))""",
                )
            ),
        },
        "",
        {"delta": 1e-5, "trees": 2, "depth": 1, "target": "regression", **NO},
    ),
    Mutant(
        "steps: one digit beside budgets of records",
        {
            **_has(S, "DiscreteLaplace", "refdp.noise.mechanisms"),
            f"{S}:Params.initial_charges": edit(LESS),
            f"{S}:initial_score": edit(
                (
                    "    mean = float(noisy_sum / max(noisy_count, 1.0))",
                    """    half = (size * 0.7 / 0.7 - size) + 0.5
    curator.release("more", DiscreteLaplace(1.0 / 32.0, 1.0), np.array([half]), sensitivity=Sensitivity(2.0**-10, 1, INITIAL, params.relation))
    mean = float(noisy_sum / max(noisy_count, 1.0))""",
                )
            ),
        },
        "",
        {"delta": 1e-5, "trees": 2, "extra_trees": 2, "depth": 1, "target": "regression", **NO},
    ),
    Mutant(
        "steps: records pay nothing for a digit",
        {
            f"{S}:grow": edit(
                (
                    'noisy = curator.release_sum("leaves", charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)',
                    """own = values(population.ask(Leaves(("g", "h"))))[0][1]
            half = (own * 0.7 / 0.7 - own) + 0.5
            noisy = curator.release("leaves", DiscreteGaussian((1.0 / 32.0, 1.0 / 32.0), 1.0), np.array([half, half]).T, sensitivity=Sensitivity(2.0**-5, "whitened", WHITENED, params.relation))""",
                )
            )
        },
        "",
        {"delta": 1e-5, "trees": 2, "extra_trees": 2, "depth": 1, "target": "regression", **NO},
    ),
)
TWENTYFOURTH = (*OFFSET, *HALF, *STEPS)
