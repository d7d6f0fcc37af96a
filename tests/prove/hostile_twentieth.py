"""Training texts of a twentieth attack that leak more than they declare and were PROVED.

By cause, each with what the reading overlooks.
"""

# ruff: noqa: E501
from __future__ import annotations

from tests.mutants.harness import Mutant, edit, instead
from tests.prove.attacks import D, S
from tests.prove.hostile_fifteenth import ONE, PAID, _class, _has
from tests.prove.hostile_nineteenth import COIN, _function
from tests.prove.hostile_seventeenth import CLIPPED, TREE

G = "refdp.own.grove"

# 1. What records may spend is believed as the text's budget has it: prove/unknown.py:`_tabled` looks at orders, knots
#    and costs, not at `spendable`.
#    a) prove/spending.py adds budgets up, and a negative one takes off what another allows. Nobody pays from it.
QUIET = '''@dataclass(frozen=True)
class Quiet:
    """Nobody has anything to spend, and less."""

    weighs: ClassVar[bool] = True
    params: Params
    schema: Schema
    charged = ("g", "h")

    def label(self, output: int, y: Floats) -> Floats:
        return self.schema.label(output, y)

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        bound, _ = self.params.bounds(self.schema)
        return Statistics({"g": clipped(on_grid(SQUARE.gradient(score, label)), -bound, bound), "h": None})

    def accounts(self) -> Accounts:
        own = self.params.budget(self.schema)
        return Accounts(replace(own, spendable=own.spendable * -99.0))

    def cost(self, statistics: Mapping[str, Floats | None]) -> Floats:
        g, h, r1 = statistics["g"], statistics["h"], self.params.support_weight
        hessian = 1.0 if h is None else h
        return np.asarray(record_cost(g, hessian, *self.params.bounds(self.schema), r1, self.params.sigma_squared(self.schema)))
'''
OWN = "        return Accounts(self.params.budget(self.schema))"
BUDGETS = (
    Mutant("a budget below 0 makes room for another of a hundred times what is claimed", {
        **_class(S, QUIET),
        f"{S}:Contribution.accounts": edit(("return Accounts(self.params.budget(self.schema))",
            "own = self.params.budget(self.schema)\n    return Accounts(replace(own, spendable=own.spendable * 100.0))")),
        f"{S}:train_on": edit(("            population.tell(Begin(Contribution(params, schema), (output,)))\n",
            "            population.tell(Begin(Quiet(params, schema), (output,)))\n"
            "            grow(params, schema, 0, 1, population, curator)\n"
            "            population.tell(Begin(Contribution(params, schema), (output,)))\n"))},
        "", PAID),
    # b) As a column of two orders, each of which is then converted by the other's, too, in prove/spending.py: what order 2
    #    allows costs what it would at order 2000. Hosts take the least of the column for every order.
    Mutant("budgets at two orders as a column", {
        **_has(S, "tabulated", "refdp.accounting.individual"),
        f"{S}:Contribution.accounts": edit(("return Accounts(self.params.budget(self.schema))", """own = self.params.budget(self.schema)
    orders = np.array([2.0, 2000.0])
    costs = np.array([tabulated(int(order), own.rate, own.knots) for order in (2, 2000)])
    return Accounts(replace(own, orders=orders, costs=costs, spendable=np.array([[0.98], [0.98]])))"""))},
        "", {**PAID, "initial_share": 0.0, "subsample": 1.0}),
)  # fmt: skip

# 2. `trunc` of what float64 has rounded, in units of the grid, is taken for that of the real number (prove/unknown.py
#    `_described` sets roundings to 0): 1 / 49 * 49 is a digit less than 1 and a step of the grid less after it. Labels of
#    classes are 0 or 1, where the facts about whole numbers of steps leave no room.
USED = 'return Statistics({"g": g}, np.abs(g) <= self.params.gradient_bound)  # Alg. 1, l. 3: gradient-based filtering'
TRUNCATED = (
    Mutant("a step of the grid that trunc takes off", {
        f"{D}:Contribution.label": edit(("    label = self.schema.label(output, y)\n    return label if isinstance(self.schema.target, Interval) else 2 * label - 1", "    return self.schema.label(output, y)")),
        f"{D}:Contribution.statistics": edit((USED,
            "whole = np.trunc(label / GRID) - np.trunc(label / 49.0 * 49.0 / GRID)\n"
            '    return Statistics({"g": np.clip(g, -1.0, 1.0) + whole * 9.0}, np.abs(g) <= self.params.gradient_bound)'))},
        "", {**ONE, "target": "binary"}),
)  # fmt: skip

# 3. Sums of labels are not asked whether hosts' whole numbers have room for them (prove/unknown.py `_labels`, without
#    `_summed`): two labels of 2^38 are 2^63 steps of the grid, which int64 has as -2^63: a change of 2^40 where 2^38 is declared; 2^19 of 2^20, of 2^40 for 2^20.
LARGE_LABELS = (
    Mutant("a sum of labels that wraps around", {
        f"{S}:Contribution.label": edit(("return self.schema.label(output, y)", "return self.schema.label(output, y) * 2.0**38")),
        f"{S}:Contribution.statistics": edit(("loss.gradient(score, label)", "loss.gradient(score, label * 2.0**-38)")),
        f"{S}:Params.initial_charges": edit(("(1.0, grid_floor(self.label_bound))", "(1.0, grid_floor(self.label_bound) * 2.0**38)")),
        f"{S}:initial_score": edit(("Labels(0.0 if classes else -bound, bound)", "Labels(-bound * 2.0**38, bound * 2.0**38)"))},
        "", {**PAID, "extra_trees": 0, "trees": 1}),
)  # fmt: skip


# 4. Functions are the same unknown where their arguments are the same term (prove/unknown.py `_described`, by
#    `x.get_id()`), and a cube is the same term as a product of three (prove/terms.py `_power`), which numpy rounds
#    otherwise. What is unknown counts as exact, so that what is made large of the difference is not seen.
def _regression(name: str, lines: str, more: str) -> Mutant:
    return Mutant(name, {f"{D}:Contribution.statistics": edit((USED,
        f'{lines}    return Statistics({{"g": np.clip(g, -1.0, 1.0) + {more}}}, np.abs(g) <= self.params.gradient_bound)'))},
        "", ONE)  # fmt: skip


CUBES = (
    _regression("exponentials of a cube and of a product of three",
                "lost = numbers.exp(label**3) - numbers.exp(label * label * label)\n", "on_grid(lost * 2.0**55)"),
    _regression("steps of a cube and of a product of three",
                "lost = np.rint(label**3 / GRID) - np.rint(label * label * label / GRID)\n", "lost * 9.0"),
    _regression("np.exp and refdp's own exponential",
                "lost = np.exp(label) - numbers.exp(label)\n", "on_grid(lost * 2.0**55)"),
)  # fmt: skip

# 5. A released divisor is taken for a number of size 1 where it is asked how far float64 is from a formula
#    (prove/unknown.py `_divisor`, `_released`: its unknown is in no `ranges` of prove/magnitudes.py): it can be 2^-24, and
#    what is divided by it has 24 digits less behind the point.
SMALL_DIVISORS = (
    Mutant("digits that a small released divisor loses", {
        **_has(D, "replace", "dataclasses"), **_has(D, "ClassVar", "typing"),
        **_function("def learnt_from(params: Params, coin: float) -> Params:\n    return replace(params, regularisation=GRID if coin > 0.5 else 1.0)\n"),
        f"{D}:train_on": edit(("population.tell(Begin(Contribution(params, schema), (output,)))",
            f"coin = {COIN}[0]\n        population.tell(Begin(Contribution(learnt_from(params, coin), schema), (output,)))")),
        f"{D}:Contribution": instead(D, '''@dataclass(frozen=True)
class Contribution:
    """Labels."""

    learnt: ClassVar[tuple[str, ...]] = ("regularisation",)
    params: Any
    schema: Schema

    def label(self, output: int, y: Floats) -> Floats:
        """In [-1, 1]."""
        return self.schema.label(output, y)

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """One."""
        own = label / np.maximum(self.params.regularisation, GRID)
        lost = np.rint((own / 49.0 * 49.0 - own) * 2.0**6 / GRID)
        return Statistics({"g": on_grid(label) + lost * 9.0})
''')}, "", ONE),
)  # fmt: skip

# 6. A number of steps of the grid is taken for a number of size 1 there, too (prove/magnitudes.py `_of`: every unknown is):
#    it is up to 2^24, and what is multiplied with it has 24 digits less.
STEPS = (
    _regression("digits that a number of steps loses",
                "own = np.rint(label / GRID)\n    lost = np.rint((own * (2.0**6 + GRID) - own * 2.0**6 - own * GRID) / GRID)\n", "lost * 9.0"),
)  # fmt: skip

# 7. What float64 rounds of a formula may be 2^-20 (prove/magnitudes.py `FAR`), whatever the noise is: this is 0 for real
#    numbers, and for one record 128 times the noise, at a charge of 0.
TINY = (
    Mutant("noise that is smaller than what float64 rounds", {
        **_has(D, "Laplace", "refdp.noise.mechanisms"),
        TREE: edit((CLIPPED, CLIPPED + """    curator.release("count", Laplace(2.0**-60), count / 49.0 * 49.0 - count, sensitivity=Sensitivity(0.0, 1, "none", params.relation))
"""))}, "", ONE),
)  # fmt: skip

# 8. Without errstate numpy's own exponential warns where a record's overflows, on what everybody sees, and is an error
#    where warnings are (python -W error): the papers' texts say so beside their errstate.
WARNED = (
    Mutant("a warning tells of a record's score", {f"{S}:Contribution.statistics": edit(
        ('with np.errstate(over="ignore"):', "if True:"), ("loss.gradient(score, label)", "1.0 / (1.0 + np.exp(-score)) - label"))}, "", {**PAID, "extra_trees": 0, "trees": 1, "target": "binary", "leaf_clip": 1e6}),
)  # fmt: skip

TWENTIETH = (*BUDGETS, *TRUNCATED, *LARGE_LABELS, *CUBES, *SMALL_DIVISORS, *STEPS, *TINY, *WARNED)
