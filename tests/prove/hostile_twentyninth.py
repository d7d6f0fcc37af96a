"""Training texts of a twenty-ninth attack that leak more than they declare and were PROVED: of which object is which.

By cause, each with what the reading overlooked; all were run on neighbours in memory with noise off.
"""

from __future__ import annotations

from typing import Any

from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import D
from tests.prove.hostile_fifteenth import ONE
from tests.prove.hostile_seventeenth import LEVELS, TREE
from tests.prove.hostile_twentyfirst import USED
from tests.prove.hostile_twentysixth import STATISTICS

REPLACED: dict[str, Any] = {"relation": "replace-one"}
NAMED = '                population.tell(Refresh(("g",)))  # Alg. 2, l. 4\n'
FAR = """if "far" in of:
        return Statistics({"g": on_grid(np.clip(label, -1.0, 1.0)) * 64.0}, None)
    """


def _grows(held: str, entry: str) -> dict[str, Any]:
    """Statistics are named in a list of which the host, inside a block, asks the contribution once more."""
    return {
        f"{D}:train_ensembles": edit((NAMED, f"""                names = {held}
                population.tell(Refresh(names[{entry}]))
                population.tell(Root(()))
                population.ask(Nodes(("g",)))
                names[{entry}] += ["far"]
""")),
        STATISTICS: edit((USED, f"{FAR}{USED}")),
    }  # fmt: skip


# 1. `x[0] += ...` of a list x that a function has made changes the entry itself, which something else may have
#    (prove/changes.py `changes` takes it for a store of another entry): here the names of statistics, of which the
#    reading asks a contribution once and a host in every scope anew.
GROWS = (
    Mutant("grows: names in a list, changed after they were told", _grows('[["g"]]', "0"), "", ONE),
    Mutant("grows: names in a list, replaced", _grows('[["g"]]', "0"), "", {**ONE, **REPLACED}),
    Mutant("grows: names in a dictionary", _grows('{"own": ["g"]}', '"own"'), "", ONE),
    Mutant("grows: names in a list, discrete noise", _grows('[["g"]]', "0"), "", {**ONE, "noise": "discrete"}),
)  # fmt: skip

# 2. Two released choices of candidates are told from each other by which object they are (prove/unknown.py
#    `name_of_choice`), and whether two names of a loop have the same one is no part of what rounds leave
#    (prove/loops.py `_shared`): kinds of rounds are read in another order than they are in training, and none after
#    one that leaves two.
TWO = """sums = values(population.ask(Bins((COUNT,))))
            utility = (candidates.right_sums(sums, one)[0] - candidates.right_sums(sums, other)[0]) * 16.0
            curator.release("more", for_more, utility, options=candidates.values[:2])"""


def _chosen(two: str = TWO) -> dict[str, Any]:
    return {
        f"{D}:Params.leaf_epsilon": edit(("return epsilon / 2", "return epsilon / 4")),
        TREE: edit((LEVELS, f"""    for_more = params.split_charge(epsilon / 8)
    one = other = curator.draw("one", ("integers", 2 * params.bins), 2)
    for number in range(5):
        if number < 4:
            {two}
        one = curator.draw("one", ("integers", 2 * params.bins), 2)
        other = one
        if number == 2:
            other = curator.draw("other", ("integers", 2 * params.bins), 2)
{LEVELS}""")),
    }  # fmt: skip


CHOSEN = (
    Mutant("chosen: two choices are one in the rounds that are read", _chosen(), "", ONE),
    Mutant("chosen: two choices are one, replaced", _chosen(), "", {**ONE, **REPLACED}),
)  # fmt: skip

# 3. After a loop a list that its rounds append to has what the first round appended in the place of all rounds that
#    were not read (prove/loops.py `Loop._whole`): the same object several times, where training has released values of
#    rounds of their own.
REPEATED = tuple(
    Mutant(f"repeated: choices that rounds appended, {name}", {
        f"{D}:Params.leaf_epsilon": edit(("return epsilon / 2", "return epsilon / 4")),
        TREE: edit((LEVELS, f"""    drawn = []
    for _ in range(5):
        drawn.append({entry})
    sums = values(population.ask(Bins((COUNT,))))
    one, other = drawn[1]{of}, drawn[2]{of}
    utility = (candidates.right_sums(sums, one)[0] - candidates.right_sums(sums, other)[0]) * 16.0
    curator.release("more", params.split_charge(epsilon / 2), utility, options=candidates.values[:2])
{LEVELS}"""))}, "", {**ONE, **more})
    for name, entry, of, more in (
        ("default", 'curator.draw("one", ("integers", 2 * params.bins), 2)', "", {}),
        ("replaced", 'curator.draw("one", ("integers", 2 * params.bins), 2)', "", REPLACED),
        ("in a tuple", '(curator.draw("one", ("integers", 2 * params.bins), 2), 1.0)', "[0]", {}),
    )
)  # fmt: skip

# 4. Items of a loop that are released are alike as far as a text can tell (prove/loops.py `_kinds`), and in all rounds
#    that are read together there is the item of the first of them (`_item`), which something else can be as well.
DRAW = 'curator.draw("one", ("integers", 2 * params.bins), 2)'
ITEMS = tuple(
    Mutant(f"items: a choice of one round in all of them, {name}", {
        f"{D}:Params.leaf_epsilon": edit(("return epsilon / 2", "return epsilon / 4")),
        TREE: edit((LEVELS, f"""    drawn = [{DRAW}, {DRAW}, {DRAW}, {DRAW}]
    other = drawn[1]
    for number, one in enumerate(drawn):
        if 0 < number < 3:
            sums = values(population.ask(Bins((COUNT,))))
            utility = (candidates.right_sums(sums, one)[0] - candidates.right_sums(sums, other)[0]) * 16.0
            curator.release("more", params.split_charge(epsilon / 4), utility, options=candidates.values[:2])
{LEVELS}"""))}, "", {**ONE, **more})
    for name, more in (("default", {}), ("replaced", REPLACED))
)  # fmt: skip
TWENTYNINTH = (*GROWS, *CHOSEN, *REPEATED, *ITEMS)
