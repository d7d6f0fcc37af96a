"""Training texts of a thirteenth attack that leak and were not refused; none may be proved.

All are about loops that are read by induction: a round that the proof did not read differs from those that it did. What
the rounds leave is hidden from the comparison of their states, what comes after a loop is read with another round's
values than the last one's, or rounds are never read at all. "x 9" is a sum that is released nine times too large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.mutants.harness import Mutant, added, edit, instead
from tests.prove.attacks import D, S

ENSEMBLES, TREE = f"{D}:train_ensembles", f"{D}:train_single_tree"
LAST = '    return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, value))'
CALL = "train_single_tree(params, candidates, epsilon, block.clip, population, curator)"
GIVEN = "epsilon: float, clip: float, population: Population, curator: Curator\n"
START = "    for number, blocks in enumerate(params.ensembles()):  # Alg. 2, l. 1\n"
END = "                population.tell(Advance(trees[-1].leaves[None], params.shrinkage))\n"
RETURN = "    return Ensemble(0.0, tuple(trees), (params.shrinkage,) * len(trees))\n"
EPSILON = "    epsilon = params.tree_epsilon(schema)  # Alg. 2, l. 2\n"
HALF = (EPSILON, EPSILON.replace("(schema)  #", "(schema) / 2  #"))
SIX: dict[str, Any] = {"trees": 6, "trees_per_ensemble": 1, "depth": 1}
LOUDER: dict[str, Callable[..., Any]] = {
    TREE: edit((GIVEN, GIVEN.rstrip("\n") + ", louder: float = 1.0\n"), (LAST, "    value = value * louder\n" + LAST))
}


def _nine(condition: str) -> str:
    return f"9.0 if {condition} else 1.0"


def _set_in(text: str, spaces: int) -> str:
    return "".join(f"{' ' * spaces}{line}\n" for line in text.splitlines())


def _loop(name: str, before: str = "", head: str = "", louder: str = "1.0", end: str = "", *,
          more: tuple[tuple[str, str], ...] = (), extra: dict[str, Any] | None = None) -> Mutant:  # fmt: skip
    """DPBoost's loop over ensembles of one tree, with lines before it, at the head and at the end of each round."""
    changed = edit((START, _set_in(before, 4) + START + _set_in(head, 8)), (CALL, f"{CALL[:-1]}, {louder})"),
                   (END, END + _set_in(end, 8)), *more)  # fmt: skip
    return Mutant(name, {ENSEMBLES: changed, **LOUDER, **(extra or {})}, "", SIX)


def _after(name: str, louder: str, before: str = "", head: str = "", end: str = "") -> Mutant:
    """One more tree after the loop, for which half of the budget is left."""
    tree = ("    with curator.partition('one more', [1.0], population) as more:\n        with more.block(0):\n"
            '            population.tell(Refresh(("g",)))\n            train_single_tree(params, candidates, epsilon, '
            f"params.gradient_bound, population, curator, {louder})\n")  # fmt: skip
    changed = edit(HALF, (START, _set_in(before, 4) + START + _set_in(head, 8)), (END, END + _set_in(end, 8)),
                   (RETURN, tree + RETURN))  # fmt: skip
    return Mutant(name, {ENSEMBLES: changed, **LOUDER}, "", SIX)


def _kinds(name: str, items: str, louder: str, head: str = "", before: str = "", end: str = "") -> Mutant:
    """Rounds of several kinds."""
    kinds = f"    for number, kind in enumerate({items}):\n        blocks = [Block(1.0, params.gradient_bound)]\n"
    changed = edit((START, _set_in(before, 4) + kinds + _set_in(head, 8)), (CALL, f"{CALL[:-1]}, {louder})"),
                   (END, END + _set_in(end, 8)))  # fmt: skip
    return Mutant(name, {ENSEMBLES: changed, **LOUDER}, "", SIX)


def _leaves(condition: str) -> Mutant:
    """DPBoost's levels, of which there are five."""
    line = f"    value = value * ({_nine(condition)})\n{LAST}"
    return Mutant(f"levels are told by {condition}", {TREE: edit((LAST, line))}, "",
                  {"trees": 1, "trees_per_ensemble": 1, "depth": 5})  # fmt: skip


OWN = {f"{D}:+Own": added("@dataclass(frozen=True)\nclass Own(list):\n    step: int = 0\n")}
SCALED = {
    f"{D}:Contribution": instead(
        D,
        '''@dataclass(frozen=True)
class Contribution:
    """Labels over a scale."""

    params: Params
    schema: Schema
    scale: Any = 1.0

    def label(self, output: int, y: Floats) -> Floats:
        """In [-1, 1]."""
        return self.schema.label(output, y)

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """One."""
        return Statistics({"g": on_grid(label / self.scale)})
''',
    )
}
BEGIN = (
    "from dataclasses import replace\npopulation.tell(Begin(Contribution(replace(params, "
    "gradient_bound=8.0 if number == 3 else 1.0), schema), (0,)))"
)
TWO = "a[0] = 8.0\nown = 1.0 + b[0]\na[0] = 0.0"

HIDDEN = (
    _loop("a comprehension has the name of a counter", "step = 0", "own = step + sum([step for step in (0,)])",
          _nine("own == 3"), "step = own + 1"),
    _loop("a lambda's argument has the name of a counter", "step = 0", "own = step + (lambda step: 0)(0)",
          _nine("own == 3"), "step = own + 1"),
    _loop("0.0 becomes -0.0", "z = 0.0", "", _nine("math.copysign(1.0, z) < 0"), "z = 0.0 if number < 1 else -0.0"),
    _loop("-0.0 in the first rounds", "", "z = float((number - 3) * 0.0)",
          _nine("math.copysign(1.0, z) > 0 and number < 5")),
    _loop("-0.0 in the last rounds", "", "z = float((3 - number) * 0.0)", _nine("math.copysign(1.0, z) < 0")),
    _loop("a lambda is another one", "own = lambda given: given", "factor = own(1.0)\nown = None", "factor",
          "own = (lambda given: given) if number < 1 else (lambda given: given * 9.0)"),
    _loop("one list has two names", "a, b = [0.0], [0.0]", TWO, "own", "b = a if number > 0 else [0.0]"),
    _loop("one array has two names", "a, b = np.zeros(1), np.zeros(1)", TWO, "own",
          "b = a if number > 0 else np.zeros(1)"),
    _loop("a list that has a field", "kept = Own()", "own = kept.step", _nine("own == 3"), "kept = Own(own + 1)",
          extra=OWN),
    _loop("a name with a type and no value", "step = 0", "step: int\nown = step", _nine("own == 3"), "step = own + 1"),
    _loop("the last entry of a list counts", "steps = [0]", "own = steps[-1]", _nine("own == 3"),
          "steps.append(own + 1)"),
    _loop("the last entry of a list is another one", "lists, b = [[0.0]], [0.0]",
          "x = lists[-1]\nx[0] = 8.0\nown = 1.0 + b[0]\nx[0] = 0.0", "own",
          "c = [0.0]\nlists.append(c)\nb = c if number > 0 else [0.0]"),
    Mutant("a loop counts in an entry of a list", {ENSEMBLES: edit(
        (START, "    kept = [0, 0]\n" + START.replace("number", "kept[0]")
         + "        number = kept[0]\n        own = kept[1]\n"), (CALL, f"{CALL[:-1]}, {_nine('own == 3')})"),
        (END, END + "        kept[1] = own + 1\n")), **LOUDER}, "", SIX),
    _loop("an inner loop counts in an entry of a list", "kept = [0, 0]",
          "louder = 1.0\nfor kept[0] in (1,):\n    louder = 9.0 if kept[1] == 3 else 1.0\n"
          "    kept[1] = kept[1] + 1", "louder"),
    _loop("a power of the round's number", "", "", _nine("0.7 ** number == 0.7 ** 4")),
)  # fmt: skip
TOLD = (
    _loop("another contribution at the end of a round", "", "", "1.0", BEGIN + "\npopulation.tell(Place("
          "trees[-1].splits))\npopulation.tell(Advance(trees[-1].leaves[None], 1.0))"),
    _loop("a contribution that the next round begins with", "", "", "1.0", BEGIN),
    _loop("a bound that holds in the first round alone", "scale = 1.0",
          "population.tell(Begin(Contribution(params, schema, scale), (0,)))", "1.0",
          "scale = np.maximum(trees[-1].leaves[0], 1.0 if number == 0 else 2.0**-9)", extra=SCALED),
    _loop("as many releases as released values say", "told = [0.0]", "", "1.0",
          "with curator.partition(f'again {number}', [1.0], population) as again:\n    with again.block(0):\n"
          '        population.tell(Refresh(("g",)))\n        for _ in told:\n'
          "            train_single_tree(params, candidates, epsilon, 1.0, population, curator)\n"
          "told = np.array([np.unique(trees[-1].leaves)]) if number == 0 else np.unique(trees[-1].leaves)",
          more=(HALF,)),
    *(_leaves(one) for one in ("len(value) > 9", "value.shape[0] > 9", "len(np.concatenate(chosen)) > 9",
                               "len([*chosen]) > 3", "len(chosen[-1]) > 9", "sum(1 for _ in chosen) > 3")),
)  # fmt: skip
AFTER = (
    _after("the round's number after the loop", _nine("number == 5")),
    _after("a flag of the last round after the loop", _nine("not flag"),
           head="flag = True if number % 2 == 0 else False"),
    _after("what is in a list after the loop", _nine("sum(ones) > 4"), before="ones = [0]", end="ones.append(1)"),
    _after("how many trees there are after the loop", _nine("len(tuple(trees)) > 4")),
    _kinds("a loop that is left before others of its rounds are read", "(1.0, 1.0, 9.0, 9.0, 1.0, 1.0)", "kind",
           "if number == 4:\n    break"),
    _kinds("the last round leaves what rounds before it are read with", "(1.0, 1.0, 2.0, 2.0, 2.0, 1.0)",
           f"factor * ({_nine('kind == 2.0')})", before="factor = 1.0", end="factor = 0.0 if number == 5 else 1.0"),
)  # fmt: skip

GROW, HEAD, SUMS = f"{S}:grow", "    for number in range(first, first + rounds):", "lambda sums: sums[0].T)"
ADVANCE = "        population.tell(Advance(trees[-1].leaves[None], params.shrinkage))"
THIRTY: dict[str, Any] = {"delta": 1e-5, "trees": 30, "depth": 1, "noise": "floating", "target": "regression"}
ONE_LESS = ("leaf_charge(schema), list[Tree]()", "leaf_charge(schema), list[Tree]()\n    rounds = rounds - 1")
KINDS = "    for number, kind in enumerate([1] * 5 + [2] * (rounds - 6) + [1]):"


def _grown(name: str, factor: str, *changes: tuple[str, str], extra: dict[str, Any] | None = None) -> Mutant:
    """S-GBDT's rounds, whose sums are released times a factor."""
    times = (SUMS, f"lambda sums: sums[0].T * ({factor}))")
    return Mutant(name, {GROW: edit(times, *changes), **(extra or {})}, "", THIRTY)


def _one_more(factor: str) -> tuple[tuple[str, str], ...]:
    """A tree after the last round, of which there is one less."""
    return ONE_LESS, (
        ADVANCE,
        f"""{ADVANCE}
    splits = draw_splits(params, schema, rounds, curator)
    population.tell(Place(splits))
    population.tell(Refresh(("g", "h")))
    with curator.subsample("sample", params.subsample, population):
        noisy = curator.release_sum("leaves", charge, population, Leaves(("g", "h")), lambda s: s[0].T * ({factor}))
    trees.append(Tree(splits, leaf_values(params, noisy)))
    population.tell(Advance(trees[-1].leaves[None], params.shrinkage))""",
    )


OF_SGBDT = (
    _grown("a comprehension of S-GBDT has the name of a counter", "2.0 if seen == 17 else 1.0",
           (HEAD, f"    seen = 0\n{HEAD}\n        seen = seen + 1 + sum(0 for seen in ())")),
    _grown("an entry far from the end of a list", "marks[-20]",
           (HEAD, f"    marks = [1.0] * 20\n{HEAD}\n        marks.append(9.0)")),
    _grown("the last entry of a list of S-GBDT counts", "2.0 if marks[-1] == 17 else 1.0",
           (HEAD, f"    marks = [0]\n{HEAD}\n        marks.append(marks[-1] + 1)")),
    _grown("the sign of 0 is handed on", "2.0 if math.copysign(1.0, a) < 0 else 1.0",
           (HEAD, f"    a, b, c = 0.0, 0.0, -0.0\n{HEAD}"), (ADVANCE, f"{ADVANCE}\n        a = b\n        b = c")),
    _grown("a round of S-GBDT after the loop", "1.0", (HEAD, "    for number in range(rounds):"),
           *_one_more("9.0 if number == rounds - 1 else 1.0")),
    _grown("a factor of the round that was read last", "1.0",
           (HEAD, "    for number in range(rounds):\n        factor = 1.0 if number == 15 else 9.0"),
           *_one_more("factor")),
    _grown("a round of S-GBDT leaves the loop", "9.0 if kind == 2 else 1.0",
           (HEAD, f"{KINDS}\n        if number == rounds - 1:\n            break")),
    _grown("the last round of S-GBDT before others", "loud if kind == 2 else 1.0", (HEAD, f"    loud = 9.0\n{KINDS}"),
           (ADVANCE, f"{ADVANCE}\n        loud = 1.0 if number == rounds - 1 else 9.0 if kind == 2 else loud")),
)  # fmt: skip
LOOPS = (*HIDDEN, *TOLD, *AFTER, *OF_SGBDT)

PAID: dict[str, Any] = {"delta": 1e-5, "trees": 3, "depth": 1, "extra_trees": 4, "target": "regression"}
COST = "return np.asarray(record_cost(g, hessian, *self.params.bounds(self.schema), r1, squared))"
ACCOUNTS = "return Accounts(self.params.budget(self.schema))"
PAYS = """        population.tell(Refresh(("g", "h")))
        population.tell(Pay())
        splits = draw_splits(params, schema, rounds, curator)
        population.tell(Place(splits))"""
BEFORE = """        splits = draw_splits(params, schema, number, curator)  # a random tree, public
        population.tell(Place(splits))
        population.tell(Refresh(("g", "h")))  # clip
        if params.extra_trees:  # filter first; regular rounds alone fit every budget
            population.tell(Pay())
"""


def _costs(name: str, times: str) -> Mutant:
    """What a record of S-GBDT pays."""
    return Mutant(name, {f"{S}:Contribution.cost": edit((COST, f"{COST} {times}"))}, "", PAID)


PAYING = (
    _costs("records that are weighed pay nothing", '* (0.0 if "count" in statistics else 1.0)'),
    _costs("records that are weighed are known by their number of statistics",
           "* (0.0 if len(statistics) > 2 else 1.0)"),
    _costs("a cost is rounded away by a large number", "+ 128.0 - 128.0"),
    Mutant("accounts at orders between those of the cost's formula", {f"{S}:Contribution.accounts": edit(
        (ACCOUNTS, "own = self.params.budget(self.schema)\n"
         "    return Accounts(replace(own, orders=own.orders + 0.999))")
    )}, "", {**PAID, "epsilon": 28.0, "subsample": 1.0, "initial_share": 0.0}),
    Mutant("statistics that were paid for are released twice in some rounds", {GROW: edit(
        (BEFORE, ""), (HEAD, f'{PAYS.replace("        ", "    ")}\n    for number in range(rounds):'),
        (ADVANCE, f"""{ADVANCE}
{PAYS}
        if number % 2 == 0 and number > 0:
            with curator.subsample("sample", params.subsample, population):
                curator.release_sum("leaves", charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)"""))},
        "", {**PAID, "trees": 1, "extra_trees": 3}),
)  # fmt: skip
THIRTEENTH = (*LOOPS, *PAYING)
HONEST = (
    _loop("rounds as they are"),
    _loop("a counter that nothing asks for", "step = 0", "", "1.0", "step = 1"),
    _after("half of the budget is enough for one more tree", "1.0"),
    _kinds("rounds of two kinds", "(1.0, 1.0, 0.5, 0.5, 1.0, 1.0)", "kind"),
    _leaves("len(chosen) > 9"),
    _costs("a cost times 1", "* 1.0"),
)
"""Of like kinds, and private."""

CHARGE = "    return laplace_charge(self.leaf_epsilon(epsilon), proved, proved, self.noise, touched=touched)"
SCALE = edit((CHARGE, f"""    from dataclasses import replace
{CHARGE.replace("return", "own =")}
    scale = own.mechanism.scale + 2.0**16 - 2.0**16
    return Charge(replace(own.mechanism, scale=scale), proved, proved)"""))  # fmt: skip
STEPPED = Mutant("noise is rounded in the steps of a large number", {f"{D}:Params.leaf_charge": SCALE}, "", {})
"""For lambda in `STEPS`: the noise of some is smaller than it should be."""
STEPS = {"regularisation": (32767.0, 65535.0)}
