"""Training texts of a thirty-first attack that leak more than they declare and were PROVED: of order, lines and kinds.

By cause, each with what the reading overlooked; all were run on neighbours in memory with noise off, those of `TOLD`
and `NUMPYS` by a host that is told every step by its JSON form, as those of a federation are. Of accounts that begin
anew a record's payments add up to more than one account has; of `VIEWS` one neighbour trains alone. A ninth cause was
that a schema's bounds could be whole numbers, which hosts elsewhere get as floats (data/records.py): bounds are floats
now, so that no text can tell by them (tests/data/test_records.py).
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D, S
from tests.prove.hostile_fifteenth import CLIPPED, ONE, _has
from tests.prove.hostile_seventeenth import LEVELS, TREE
from tests.prove.hostile_thirtieth import ADVANCED, GIVEN, LESS, PAID, SETTINGS
from tests.prove.hostile_twentyfirst import USED
from tests.prove.hostile_twentyninth import DRAW, FAR, NAMED, REPLACED, STATISTICS

LOUD = 'return Statistics({"g": on_grid(np.clip(label, -1.0, 1.0)) * 64.0}, None)'
TREES = "    trees: list[Tree] = []\n"
SUMMED = {**SETTINGS, "noise": "discrete"}
"""Of S-GBDT, whose participants of a federation add their noise themselves, as those of DPBoost cannot."""


def _held(change: str) -> dict[str, Any]:
    """Statistics are named in a list that is changed after the reading asked for them, and before hosts do again."""
    return {
        f"{D}:train_ensembles": edit((NAMED, ""), (TREES, f"""{TREES}    held = ["g"]
    population.tell(Refresh(held))
    population.tell(Root(()))
    population.ask(Nodes(("g",)))
{change}""")),
        STATISTICS: edit((USED, f"{FAR}{USED}")),
    }  # fmt: skip


def _louder(far: str) -> Any:
    return edit((GIVEN, f'if {far}:\n        return Statistics({{"g": g * 64.0, "h": h}})\n    {GIVEN}'))


# 1. What a name is bound to beside a starred one is found by its place (prove/changes.py `_made`, `zip(..., strict=
#    False)`; `_used_up` has the same): `*other, names = 0, [], held` is taken for `names = []`.
STARRED = tuple(
    Mutant(f"starred: a name after a starred one, {name}", _held(f"    *other, names = 0, [], held\n{change}"), "",
           {**ONE, **more})
    for name, change, more in (
        ("added to", '    names += ["far"]\n', {}),
        ("appended to", '    names.append("far")\n', {}),
        ("replaced", '    names += ["far"]\n', REPLACED),
    )
)  # fmt: skip

# 2. A value is computed before the places that it is stored in, wherever they stand (prove/changes.py `_made` orders a
#    change and another meaning of its name by their lines): here in a later line, and before the change all the same.
BEFORE = tuple(
    Mutant(f"before: a name means something else in the value that is stored, {name}", _held(f"""    names = []
    names[
        0:0
    ] = {value}
"""), "", {**ONE, **more})
    for name, value, more in (
        ("default", '["far"][: len(names := held)]', {}),
        ("replaced", '["far"][: len(names := held)]', REPLACED),
        ("in a tuple", '("far", (names := held))[:1]', {}),
    )
)  # fmt: skip

# 3. Which released values are one and the same is not looked at beyond twelve levels, and nothing says so
#    (prove/loops.py `_shared`: `depth > 12` returns, where `_anew` and `_has_released` refuse): two choices that are
#    one in the rounds that are read, as in the twenty-ninth attack, each in sixteen tuples.
OPEN, CLOSED, INNER = "(" * 16, ",)" * 16, "[0]" * 16
DEEP = tuple(
    Mutant(f"deep: two choices are one in the rounds that are read, {name}", {
        **LESS,
        TREE: edit((LEVELS, f"""    for_more = params.split_charge(epsilon / 8)
    one = other = {OPEN}{DRAW}{CLOSED}
    for number in range(5):
        if number < 4:
            sums = values(population.ask(Bins((COUNT,))))
            utility = (candidates.right_sums(sums, one{INNER})[0] - candidates.right_sums(sums, other{INNER})[0]) * 16.0
            curator.release("more", for_more, utility, options=candidates.values[:2])
        one = {OPEN}{DRAW}{CLOSED}
        other = one
        if number == 2:
            other = {OPEN}{DRAW}{CLOSED}
{LEVELS}"""))}, "", {**ONE, **more})
    for name, more in (("default", {}), ("replaced", REPLACED))
)  # fmt: skip

# 4. Whether a round left accounts that nobody has paid from is asked of the present score alone (prove/unknown.py
#    `left`, `anew`): a round that begins two scores anew, and one that pays for the first of them, both leave the
#    second one, of which nobody ever pays.
OTHERS = tuple(
    Mutant(f"others: accounts of another score begin anew, {name}", {
        f"{S}:train_on": edit(
            ("Begin(Contribution(params, schema), (output,))", "Begin(Contribution(params, schema), (0, 1))")),
        f"{S}:grow": edit(
            ("        splits = draw_splits", "        population.tell(Turn(0))\n        splits = draw_splits"),
            (ADVANCED, """        population.tell(Advance(trees[-1].leaves[None], params.shrinkage))
        if number > 0 and number % 2 == 0:
            population.tell(Begin(Contribution(params, schema), (0, 1)))
        population.tell(Turn(1))
    return trees""")),
        f"{S}:+Turn": lambda _: importlib.import_module("refdp.data.population").Turn,
    }, "", {**PAID, **more})
    for name, more in (("default", {}), ("floating noise", {"noise": "floating"}), ("more rounds", {"extra_trees": 8}))
)  # fmt: skip

# 5. A loop is known by its line (prove/loops.py `Loops.over`, prove/forms.py `is_for`, `form_of`). The second `for` of
#    a comprehension looks like a loop's in the code, and is cut by the form of the loop that begins in its line: of its
#    entries there are as many as rounds that are read, and what its rounds leave is not compared.
MANY = "[population is None for _ in (1,) for number in range(5)]"
SUMS = "values(population.ask(Bins((COUNT,))))"
APART = f"(candidates.right_sums({SUMS}, one)[0] - candidates.right_sums({SUMS}, other)[0]) * 16.0"
MORE = f'curator.release("more", for_more, {APART}, options=candidates.values[:2])'
PAIRS = f"({MORE} if number < 4 else 0, one := {DRAW}, other := ({DRAW} if number == 2 else one))"
PAIRED = f"[{PAIRS} for each in (1,) for number in range(5)]"
LINES = (
    *(Mutant(f"lines: a comprehension in a loop's line, {name}", {TREE: edit(
        (LEVELS, f"    for number in (0,): many = {MANY}\n{LEVELS}"),
        (CLIPPED, f"{CLIPPED}    if len(many) > 3:\n        value = value * 64.0\n"))}, "", {**ONE, **more})
      for name, more in (("default", {}), ("replaced", REPLACED))),
    Mutant("lines: a comprehension that releases, in a loop's line", {**LESS, TREE: edit(
        (LEVELS, f"""    for_more = params.split_charge(epsilon / 8)
    for _ in (0,): each, number, one = 0, 0, {DRAW}; other = one; more = {PAIRED}
{LEVELS}"""))}, "", ONE),
)  # fmt: skip

# 6. Names of statistics can be of any kind (prove/unknown.py `tell`, case Refresh): a host elsewhere is told of a list
#    and gets a tuple, and of a tuple in a tuple and gets a list (data/population.py `_in`), as engines/federated.py
#    tells it.
TOLD = (
    *(Mutant(f"told: names of statistics as {name}", {
        f"{D}:train_ensembles": edit(('Refresh(("g",))', f"Refresh({told})")),
        STATISTICS: edit((USED, f"if {far}:\n        {LOUD}\n    {USED}"))}, "", {**ONE, **more})
      for name, told, far, more in (
        ("a list", '["g"]', 'of == ("g",)', {}),
        ("a list, replaced", '["g"]', 'of == ("g",)', REPLACED),
        ("a tuple in a tuple", '(("g",),)', 'of and of[0] != ("g",)', {}),
    )),
    Mutant("told: names of statistics as a list, sums alone", {
        f"{S}:grow": edit(('Refresh(("g", "h"))', 'Refresh(["g", "h"])')),
        f"{S}:Contribution.statistics": _louder('of == ("g", "h")')}, "", SUMMED),
)  # fmt: skip

# 7. Parameters can be numbers of numpy's kind, which a host elsewhere gets as Python's (prove/unknown.py `_given` looks
#    at the kinds of what a contribution has learnt alone): a root of a number below 0 is none, or a complex number.
NUMPYS = (
    Mutant("numpys: parameters that are Python's numbers elsewhere", {
        STATISTICS: edit((USED, f"""with np.errstate(invalid="ignore"):
        root = (-self.params.gradient_bound) ** 0.5
    if root == root:
        {LOUD}
    {USED}"""))}, "", {**ONE, "gradient_bound": np.float64(1.0)}),
)  # fmt: skip

# 8. Whatever is a copy of something whose name begins with "list" passes for a list, whose entries are objects of their
#    own (prove/changes.py `_escapes`, `ast.unparse(value).startswith("list")`): here it is an array, of which an entry
#    is a view. Candidates remember how many bins there are from before it changes, with which records in the last bin
#    of a feature are in none: training ends in an error where there are any, and tells so.
VIEWS = tuple(
    Mutant(f"views: an array by the name of a list, {name}", {
        **_has(D, "replace", "dataclasses"),
        f"{D}:train_on": edit((
            "    population.tell(Encode(candidates := params.split_candidates(schema, population)))\n",
            """    own = grids.uniform(schema, params.bins)
    listed = np.array([[True, True, False]])
    flags = listed.copy()
    candidates = replace(own, categorical=flags[0])
    most = int(candidates.bins[0])
    flags[0, 0] = False
    population.tell(Encode(candidates))
""")),
    }, "", {**ONE, **more})
    for name, more in (("default", {}), ("replaced", REPLACED))
)  # fmt: skip
THIRTYFIRST = (*STARRED, *BEFORE, *DEEP, *OTHERS, *LINES, *TOLD, *NUMPYS, *VIEWS)
