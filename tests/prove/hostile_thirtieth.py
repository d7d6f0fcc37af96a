"""Training texts of a thirtieth attack that leak more than they declare and were PROVED: of states and names.

By cause, each with what the reading overlooked; all were run on neighbours in memory with noise off, those under
replace-one on pairs of which one has a record more. Of accounts that begin anew the sum over all releases is too large.
"""

from __future__ import annotations

import importlib
from typing import Any

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D, S
from tests.prove.hostile_fifteenth import CLIPPED, ONE
from tests.prove.hostile_seventeenth import LEVELS, TREE
from tests.prove.hostile_twentyfirst import USED
from tests.prove.hostile_twentyninth import DRAW, FAR, NAMED, REPLACED, STATISTICS

LESS = {f"{D}:Params.leaf_epsilon": edit(("return epsilon / 2", "return epsilon / 4"))}


# 1. An entry of numpy's array can be an object that something else has, and a dictionary is changed itself by `|=`
#    (prove/changes.py `_of_numpy` takes all of numpy's arrays for those of numbers, prove/exchange.py `_is_no_number`
#    lets arrays of objects through).
def _joins(made: str) -> dict[str, Any]:
    return {
        f"{D}:train_ensembles": edit((NAMED, f"""                held = {{"g": 1}}
                population.tell(Refresh(held))
                population.tell(Root(()))
                population.ask(Nodes(("g",)))
                names = {made}
                names[0] |= {{"far": 1}}
""")),
        STATISTICS: edit((USED, f"{FAR}{USED}")),
    }  # fmt: skip


JOINS = (
    Mutant("joins: an array of a dictionary", _joins("np.full(1, held)"), "", ONE),
    Mutant("joins: an array of a dictionary, repeated", _joins("np.repeat(held, 1)"), "", ONE),
    Mutant("joins: an array of a dictionary, replaced", _joins("np.full(1, held)"), "", {**ONE, **REPLACED}),
)  # fmt: skip

# 2. The round that is read last can stand for earlier ones, and what it appends to a list is not compared with what the
#    others append (prove/loops.py `Loop._whole`): all rounds that were not read have the first one's in the list.
ENDED = tuple(
    Mutant(f"ended: the last kind of rounds stands in the middle, {name}", {TREE: edit((LEVELS, f"""    marks = []
    for number, kind in enumerate(["a", "a", "b", "a", "b"]):
        marks.append({mark})
        marks.append(0)
{LEVELS}"""), (CLIPPED, f"""{CLIPPED}    if marks[4]:
        value = value * 64.0
"""))}, "", {**ONE, **more})
    for name, mark, more in (
        ("default", 'kind == "b"', {}),
        ("replaced", 'kind == "b"', REPLACED),
    )
)  # fmt: skip


# 3. What rounds append is compared by what it looks like, and not by which released values in it are one and the same
#    (prove/loops.py `_appended`, `_whole`): where rounds were not read, others stand in their places in the list.
def _alike(items: str, body: str, one: str, other: str) -> dict[str, Any]:
    return {
        **LESS,
        TREE: edit((LEVELS, f"""    drawn = []
    for number, kind in enumerate({items}):
{body}
    sums = values(population.ask(Bins((COUNT,))))
    one, other = {one}, {other}
    utility = (candidates.right_sums(sums, one)[0] - candidates.right_sums(sums, other)[0]) * 16.0
    curator.release("more", params.split_charge(epsilon / 2), utility, options=candidates.values[:2])
{LEVELS}""")),
    }  # fmt: skip


OF_ONE = _alike('["a", "a", "b", "b", "a"]', f"""        first = {DRAW}
        second = first
        if kind == "b":
            second = {DRAW}
        drawn.append(first)
        drawn.append(second)
        drawn.append(0.0)""", "drawn[9]", "drawn[10]")  # fmt: skip
IN_PAIRS = _alike('["a", "a", "b", "b", "a"]', f"""        first = {DRAW}
        second = first
        if kind == "b":
            second = {DRAW}
        drawn.append((first, second))
        drawn.append(0.0)""", "drawn[6][0]", "drawn[6][1]")  # fmt: skip
OF_TWO = _alike('["a", "a", "a", "b", "a"]', f"""        if kind == "b":
            drawn.append(drawn[-1])
        else:
            drawn.append({DRAW})""", "drawn[1]", "drawn[2]")  # fmt: skip
ALIKE = (
    Mutant("alike: two entries of one round", OF_ONE, "", ONE),
    Mutant("alike: two entries of one round, replaced", OF_ONE, "", {**ONE, **REPLACED}),
    Mutant("alike: entries of two rounds", OF_TWO, "", ONE),
    Mutant("alike: entries of two rounds, replaced", OF_TWO, "", {**ONE, **REPLACED}),
    Mutant("alike: both of a pair, of another kind of rounds", IN_PAIRS, "", ONE),
)  # fmt: skip

# 4. A round that begins scores anew gives records fresh accounts, which are counted where a round that is read pays
#    from them (prove/unknown.py `left`, in which only how many accounts there are is told): here the rounds that pay
#    are read before those that begin anew.
PAID: dict[str, Any] = {"target": "regression", "trees": 1, "extra_trees": 4, "depth": 1, "subsample": 1.0,
                        "initial_share": 0.0, "delta": 1e-5}  # fmt: skip
ADVANCED = "        population.tell(Advance(trees[-1].leaves[None], params.shrinkage))\n    return trees"
ANEW = tuple(
    Mutant(f"anew: accounts that rounds begin anew, {name}", {f"{S}:grow": edit((ADVANCED,
        """        population.tell(Advance(trees[-1].leaves[None], params.shrinkage))
        if number > 0 and number % 2 == 0:
            population.tell(Begin(Contribution(params, schema), (0,)))
        population.tell(Refresh(("g", "h")))
    return trees"""))}, "", {**PAID, **more})
    for name, more in (("default", {}), ("floating noise", {"noise": "floating"}), ("more rounds", {"extra_trees": 8}))
)  # fmt: skip


# 5. How many rows a released value has may be asked where it is a list's length (prove/symbols.py `Known.listed`), and
#    is no part of what rounds leave where lengths of entries follow from released values (prove/loops.py `abstract`).
def _each(before: str, size: str, after: str) -> str:
    return f"""    for_more = params.split_charge(epsilon / 32)
    {before}
    for number in range(5):
        utility = candidates.right_sums(values(population.ask(Bins((COUNT,)))))[0] * {size}
        curator.release("more", for_more, utility, options=candidates.values)
        {after}
{LEVELS}"""


ROWS = tuple(
    Mutant(f"rows: other numbers of released rows, {name}", {**LESS, TREE: edit((LEVELS, _each(
        """one = max(curator.draw("one", ("uniform",), 1)[0], 1.0)
    rows = np.array([one])""",
        size, "rows = np.array([one]) if number == 0 else np.array([one, one, one])")))}, "", {**ONE, **more})
    for name, size, more in (
        ("default", "(1.0 if len(rows) == 1 else 64.0)", {}),
        ("replaced", "(1.0 if len(rows) == 1 else 64.0)", REPLACED),
        ("gone over", "(1.0 if sum([1 for _ in rows]) == 1 else 64.0)", {}),
    )
)  # fmt: skip

# 6. Names of statistics that are equal, and not the same, are one state (prove/unknown.py `left`, compared by ==).
EQUAL = tuple(
    Mutant(f"equal: names that are equal to others, {name}", {
        **LESS,
        STATISTICS: edit((USED, f"""if of and of[0] != "g" and {far}:
        return Statistics({{"g": on_grid(np.clip(label, -1.0, 1.0)) * 64.0}}, None)
    {USED}""")),
        TREE: edit((LEVELS, f"""    for_more, one, other = params.split_charge(epsilon / 32), {one}, {other}
    population.tell(Refresh((one,)))
    for number in range(5):
        population.tell(Root(candidates.features))
        utility = candidates.right_sums(values(population.ask(Bins(("g",)))))[0]
        curator.release("more", for_more, utility, options=candidates.values)
        population.tell(Refresh((one if number == 0 else other,)))
    population.tell(Refresh(("g",)))
    population.tell(Root(candidates.features))
{LEVELS}"""))}, "", {**ONE, **more})
    for name, one, other, far, more in (
        ("signs of 0", "0.0", "-0.0", "math.copysign(1.0, of[0]) < 0", {}),
        ("replaced", "0.0", "-0.0", "math.copysign(1.0, of[0]) < 0", REPLACED),
        ("kinds of 1", "1", "1.0", "of[0] * 10**17 + 1 - 10**17 == 0", {}),
    )
)  # fmt: skip


# 7. Hosts ask for labels when scores begin, and know scores by what is equal to their numbers: the reading asks again,
#    by the number of the step (prove/unknown.py `tell`, `_begin`).
def _turned(first: str, far: str) -> dict[str, Any]:
    return {
        f"{D}:train_on": edit(("(output,)))\n", f"({first},)))\n        population.tell(Turn(0))\n")),
        f"{D}:Contribution.label": edit((
            "    label = self.schema.label(output, y)\n",
            f"    label = self.schema.label(0, y) * (64.0 if {far} else 1.0)\n")),
        STATISTICS: edit((USED, 'return Statistics({"g": on_grid(np.clip(label, -64.0, 64.0))}, None)')),
        f"{D}:+Turn": lambda _: importlib.import_module("refdp.data.population").Turn,
    }  # fmt: skip


SIGNED = _turned("-0.0", "math.copysign(1.0, output) < 0")
TURNED = (
    Mutant("turned: a score by an equal number", SIGNED, "", ONE),
    Mutant("turned: a score by an equal number, replaced", SIGNED, "", {**ONE, **REPLACED}),
)  # fmt: skip

# 8. The reading calls the number of weighed records "records", which a text's statistic can be called as well
#    (prove/unknown.py `common`): it then knows more of its sum than there is to know.
SETTINGS: dict[str, Any] = {"target": "regression", "trees": 1, "extra_trees": 0, "depth": 1, "noise": "floating",
                            "initial_share": 0.0, "subsample": 1.0, "delta": 1e-5}  # fmt: skip
GIVEN = 'return Statistics({"g": g, "h": h})'
SUMS = 'noisy = curator.release_sum("leaves", charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)'
RECORDS = tuple(
    Mutant(f"records: a statistic of this name, {name}", {
        f"{S}:Contribution.statistics": edit((GIVEN, """t = clipped(on_grid(label), -1.0, 1.0)
    return Statistics({"g": g, "h": h, "t": t, "records": clipped(t, 0.0, 0.0)})""")),
        f"{S}:grow": edit((SUMS, f"""exact = values(population.ask(Leaves(("g", "h", "t", "records"))))[0]
            far = {size} * np.maximum(exact[2] - exact[3] - 1.0, 0.0)
            noisy = curator.release("leaves", charge, np.array([exact[0], exact[1] + far]).T)"""))}, "", SETTINGS)
    for name, size in (("default", "4.0"), ("larger", "16.0"))
)  # fmt: skip

# 9. The reading calls what records pay "cost", and forgets a text's statistic of that name (prove/unknown.py
#    `_charge`).
COST = tuple(
    Mutant(f"cost: a statistic of this name, {name}", {
        f"{S}:Contribution.statistics": edit((GIVEN, """far = on_grid(clipped(label, -1.0, 1.0) * 64.0)
    return Statistics({"g": g, "h": h, "cost": far})""")),
        f"{S}:grow": edit((SUMS, """exact = values(population.ask(Leaves(("g", "h", "cost"))))[0]
            noisy = curator.release("leaves", charge, np.array([exact[2], exact[1] - exact[1]]).T)"""))}, "",
        {**SETTINGS, "extra_trees": 1, **more})
    for name, more in (("default", {}), ("a sample", {"subsample": 0.5}))
)  # fmt: skip
THIRTIETH = (*JOINS, *ENDED, *ALIKE, *ANEW, *ROWS, *EQUAL, *TURNED, *RECORDS, *COST)
