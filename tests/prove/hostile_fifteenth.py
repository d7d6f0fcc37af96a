"""Training texts of a fifteenth attack that leak or spend more than they charge and were PROVED: costs and kinds.

By cause, each with what the reading overlooked: objects and numbers of a text's own classes or of numpy's narrow kinds,
which hosts, samplers and the account take for others than the solvers do.
"""

# ruff: noqa: E501
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from tests.mutants.harness import Mutant, added, edit
from tests.prove.attacks import D, S

G, X = "refdp.own.grove", "refdp.papers.dpxgboost"
ONE: dict[str, Any] = {"trees": 1, "trees_per_ensemble": 1, "depth": 1}
PAID: dict[str, Any] = {"delta": 1e-5, "trees": 3, "depth": 1, "extra_trees": 4, "target": "regression"}
CLIPPED = "value = np.clip(value, -clip, clip)  # Alg. 1, l. 13: geometric leaf clipping\n"
USED = 'return Statistics({"g": g}, '
CHARGED = "return Charge(Exponential.calibrated(level_epsilon, bound), proved, proved)"
ACCOUNTS = "return Accounts(self.params.budget(self.schema))"
DEVIATIONS = "deviations = tuple(math.sqrt(variance) for variance in params.variances(schema))"
BUDGET = 'return initialise(self.epsilon * (1 - self.initial_share), *fixed, joint=self.orders == "joint")'


def _has(module: str, name: str, home: str) -> dict[str, Callable[[Any], Any]]:
    """A name that a module imports; all are on the lists of `refdp.prove.words`."""
    return {f"{module}:+{name}": lambda _: getattr(importlib.import_module(home), name)}


def _class(module: str, source: str) -> dict[str, Callable[[Any], Any]]:
    """A class of a module's own."""
    return {f"{module}:+{source.partition('class ')[2].partition('(')[0].partition(':')[0]}": added(source)}


NINE = "class Nine(int):\n    @property\n    def numerator(self) -> int:\n        return 1\n"
NONE = NINE.replace("return 1", "return 0")


def _quiet(ratio: str) -> str:
    return f"class Quiet(float):\n    def as_integer_ratio(self) -> tuple[int, int]:\n        return {ratio}\n"


# 1. Objects of a text's own classes are handed to hosts, which call or unpack of them what the reading does not.
#    - Budget: prove/unknown.py:97 _tabled looks at knots and costs; Accounts.charge calls `_budget.charges(t)`
# (accounting/individual.py:90).
#    - Candidates: unknown.py `tell`, case Encode / _covers; Memory calls `candidates.encode(x)` (data/codes.py:65) with
# all records.
#    - Statistics and its mapping: unknown.py _statistics reads `.values.items()`, hosts unpack the tuple beyond 32,768
# records (data/known.py:27), and take `values[name]`.
#    - Steps and queries: unknown.py `tell`, `_asked`, `_plain` read a property three times, hosts once.
OBJECTS = (
    Mutant("a budget of the text's own charges nothing", {
        f"{S}:Contribution.accounts": edit((ACCOUNTS, "own = self.params.budget(self.schema)\n    return Accounts("
            "Cheap(own.sigma, own.rate, own.rounds, own.orders, own.spendable, own.knots, own.costs))")),
        **_class(S, "class Cheap(Budget):\n    def charges(self, t: Floats) -> Floats:\n"
                    "        return np.zeros((len(self.costs), len(t)))\n")}, "", PAID),
    Mutant("statistics that are others where they are unpacked", {
        **_class(D, "class Loud(Statistics):\n    @property\n    def values(self) -> dict[str, Floats]:\n        return "
                    "{name: np.clip(one, -1.0, 1.0) for name, one in self[0].items()}\n"),
        f"{D}:Contribution.statistics": edit((USED, 'return Loud({"g": g * 512.0}, '))}, "", ONE),
    Mutant("statistics that are others where they are looked up", {
        **_class(D, "class Loud(dict):\n    def items(self) -> list[tuple[str, Floats]]:\n"
                    '        return [("g", self["t"])]\n'),
        f"{D}:Contribution.statistics": edit((USED, 'return Statistics(Loud({"g": on_grid(512.0 * square_gradient('
                                              'score, label)), "t": g}), '))}, "", {**ONE, "gradients": "clip"}),
    Mutant("a query that counts how often it is asked", {
        **_class(D, "class Turning(Nodes):\n    @property\n    def of(self) -> tuple[str, ...]:\n"
                    "        return self.kept.pop()\n\n    @of.setter\n    def of(self, value: tuple[str, ...]) -> None:"
                    '\n        self.kept = [value] * 9 + [("loud", value[1])]\n'),
        f"{D}:Contribution.statistics": edit((USED, 'return Statistics({"g": g, "loud": on_grid(512.0 * square_gradient('
                                              "score, label))}, ")),
        f"{D}:train_single_tree": edit(('ask(Nodes(("g", COUNT)))', 'ask(Turning(("g", COUNT)))'))}, "", ONE),
)  # fmt: skip

# 2. Releases that compare as equal are folded into one, repeated, whatever they cost: prove/planned.py:35 `planned` by
#    events.folded (groupby ==), and `differences` compares keys and expanded events by the same ==. A subclass of
# Sensitivity says by compare=False that bounds do not count.
EQUAL = (
    Mutant("sensitivities are equal whatever their bounds are", {
        **_has(D, "field", "dataclasses"), **_has(D, "Laplace", "refdp.noise.mechanisms"),
        **_class(D, "@dataclass(frozen=True)\nclass Own(Sensitivity):\n    bound: float = field(compare=False)\n"),
        f"{D}:train_single_tree": edit((CLIPPED, CLIPPED + """    how = Laplace(0.01)
    curator.release("count", how, count * 0.0, sensitivity=Own(0.0, 1, "none", params.relation))
    curator.release("count", how, count, sensitivity=Own(1.0, 1, "none", params.relation))
"""))}, "", ONE),
)  # fmt: skip

# 3. A number of a text's own class is one number to Fraction and another one to float64.
#    - prove/asking.py:44 `number`: Fraction(value) asks an int's subclass for `numerator`; numpy does not.
#    - prove/releases.py (amount, charged.py:60): Fraction(bound) asks a float's subclass for `as_integer_ratio`, as
#      accounting/releases.py:179,211 does for bounds and coefficients; prove/spending.py:46,61 and samplers compute with it.
NUMBERS = (
    Mutant("a whole number of the text's own kind", {
        **_class(D, NINE), f"{D}:train_single_tree": edit((CLIPPED, CLIPPED + "    value = value * Nine(9)\n"))}, "", ONE),
    Mutant("a threshold of the text's own kind", {
        **_class(D, NINE), f"{D}:Contribution.statistics": edit(("<= self.params.gradient_bound)", "<= Nine(900))"))},
        "", ONE),
    Mutant("labels between bounds of the text's own kind", {
        **_has(S, "replace", "dataclasses"), **_class(S, NONE),
        f"{S}:initial_score": edit(("Labels(0.0 if classes else -bound, bound)", "Labels(Nine(0), Nine(1))"),
            ("for_total, np.array([label_sum])", "replace(for_total, mechanism=replace(for_total.mechanism, scale=0.01), "
             "declared=replace(for_total.declared, bound=1e-6)), np.array([label_sum])"))}, "", PAID),
    Mutant("a coefficient of the text's own kind", {
        **_class(D, _quiet("0, 1")), f"{D}:Params.split_charge": edit((CHARGED, CHARGED.replace(
            "Exponential.calibrated(level_epsilon, bound)", "Exponential(Quiet(1e6))")))}, "", ONE),
    Mutant("a bound of the text's own kind", {
        **_class(S, _quiet("16, 1")), f"{S}:leaf_charge": edit(
            (DEVIATIONS, "deviations = tuple(one / 8.0 for one in params.bounds(schema))"),
            ("Sensitivity(numbers.root(whitened_squared(*bounds, *variances)), ", "Sensitivity(Quiet(0.001), "))},
        "", {**PAID, "extra_trees": 0, "initial_share": 0.0}),
)  # fmt: skip

# 4. numpy's narrow or wrapping numbers in charges, rates and budgets; the account computes with them.
#    - accounting/releases.py:211 Fraction(np.int64(2**62)) * Fraction(4) wraps around to 0.
#    - prove/spending.py:61 bound / np.float32(scale) is computed in float32: 0 (noise/mechanisms.py Laplace.pure_cost).
#    - prove/unknown.py:97 _tabled: orders of np.uint8, of which epsilons takes logarithms in float16.
#    - prove/releases.py:146 _paid: a rate of np.float32 equals budget.rate by ==, and is larger.
KINDS = (
    Mutant("a coefficient times a bound wraps around", {f"{D}:Params.split_charge": edit((CHARGED, CHARGED.replace(
        "Exponential.calibrated(level_epsilon, bound)", "Exponential(np.int64(2**62))")))}, "", ONE),
    Mutant("a bound over a scale that is 0 in float32", {
        **_has(S, "Laplace", "refdp.noise.mechanisms"),
        f"{S}:initial_score": edit(("    mean = float(noisy_sum / max(noisy_count, 1.0))", """    how = Laplace(np.float32(2.0**-149))
    one = Sensitivity(2.0**-150, 1, INITIAL, params.relation)
    for _ in (1, 1, 1, 1, 1, 1, 1, 1, 1, 1):
        curator.release("more", how, np.array([size]) * 2.0**-150, sensitivity=one)
    mean = float(noisy_sum / max(noisy_count, 1.0))"""))}, "", PAID),
    Mutant("orders whose logarithms have eleven digits", {f"{S}:Params.budget": edit((BUDGET, "own = " + BUDGET[7:].replace(
        "(1 - self.initial_share)", "1.0001") + "\n    return replace(own, orders=own.orders.astype(np.uint8))"))},
        "", {**PAID, "epsilon": 3.0, "delta": 1e-6, "initial_share": 0.0}),
    Mutant("a rate that equals a smaller one", {
        f"{S}:grow": edit(("params.subsample, population)", "np.float32(params.subsample), population)")),
        f"{S}:Params.budget": edit((BUDGET, BUDGET.replace("self.epsilon * (1 - self.initial_share)", "1.0")))},
        "", {**PAID, "epsilon": 0.99999996, "initial_share": 0.0, "subsample": 0.5 + 0.51 * 2.0**-24}),
)  # fmt: skip

# 5. A cached function keeps what an earlier run in the process gave it: its keys are equal though they differ (a field
#    with compare=False; also 0.0 and -0.0). prove/standing.py and keeping.py `changed` do not look into lru_cache.
CACHED = (
    Mutant("a cache whose keys are equal", {
        **_has(D, "field", "dataclasses"),
        **_class(D, "@dataclass(frozen=True)\nclass Own:\n    size: float = field(compare=False)\n"),
        f"{D}:+kept": lambda module: functools.lru_cache(maxsize=64)(added("def kept(own: Own) -> float:\n    return own.size\n")(module)),
        f"{D}:Params.leaf_epsilon": edit(("return epsilon / 2", "return kept(Own(epsilon / 2))"))}, "", ONE),
)  # fmt: skip

# 6. Samples without replacement under add-remove: floor(rate n) is another size for one neighbour (privacy/sources.py:
#    214), so that sums always change and nothing is amplified; accounting/normal.py:337 takes the size for fixed and
# public. prove/obligations.py:99 `assign` lets it pass.
SIZES = (
    Mutant("samples of a size that follows from the number of records", {
        f"{X}:Params.sampled": edit(('"without-replacement" if self.end else "poisson"', '"without-replacement"')),
        f"{X}:budget_of": edit(("before_sampling(run * share, rate)", "before_sampling(run * share, rate) / 2.1"))},
        "", {"trees": 1, "depth": 1, "candidates": "uniform", "epsilon": 0.05, "leaf": "average"}),
)  # fmt: skip

FIFTEENTH = (*OBJECTS, *EQUAL, *NUMBERS, *KINDS, *CACHED, *SIZES)
