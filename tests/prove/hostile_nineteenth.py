"""Training texts of a nineteenth attack that leak more than they declare and were PROVED, in the small language.

By cause, each with the rule that it breaks. All are of DPBoost's text with one tree of one level.
"""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.mutants.harness import Mutant, added, edit, instead
from tests.prove.attacks import D
from tests.prove.hostile_fifteenth import ONE, _class, _has
from tests.prove.hostile_seventeenth import CLIPPED, LEVELS, SIDES, SPLITS, TREE
from tests.prove.hostile_thirteenth import ENSEMBLES, LAST

Patches = dict[str, Callable[[Any], Any]]
COIN = 'curator.draw("coin", ("uniform",), 1)'
BEGIN = "population.tell(Begin(Contribution(params, schema), (output,)))"
ROOT = "    population.tell(Root(candidates.features))  # Alg. 1, l. 3: the records that are used\n"
RELEASED = 'curator.release("leaves", for_leaves, value))'
USED = 'return Statistics({"g": g}, np.abs(g) <= self.params.gradient_bound)  # Alg. 1, l. 3: gradient-based filtering'


def _in(text: str, spaces: int = 4) -> str:
    return "".join(f"{' ' * spaces}{line}\n" for line in text.splitlines())


def _function(source: str) -> Patches:
    return {f"{D}:+{source.partition('(')[0].removeprefix('def ')}": added(source)}


def _tree(name: str, lines: str, extra: Patches | None = None) -> Mutant:
    """Lines before a tree's leaves are released, `louder` times as large."""
    return Mutant(
        name, {TREE: edit((LAST, f"{_in(lines)}    value = value * louder\n{LAST}")), **(extra or {})}, "", ONE
    )


def _contribution(factor: str, more: str = "") -> Patches:
    """A contribution with the two fields that hosts have, of whatever is put into them."""
    text = f'''@dataclass(frozen=True)
class Contribution:
    """Labels."""

    params: Any
    schema: Schema
{more}
    def label(self, output: int, y: Floats) -> Floats:
        """In [-1, 1]."""
        return self.schema.label(output, y)

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """One."""
        return Statistics({{"g": on_grid({factor})}})
'''
    return {f"{D}:Contribution": instead(D, text)}


GROWN = "train_single_tree(params, candidates, params.tree_epsilon(schema), params.gradient_bound, population, curator)"
END = f"grown = {GROWN}\nreturn Ensemble(0.0, (grown,), (params.shrinkage,))"
SEATED = "population.tell(Root(candidates.features))\n"


def _told(params: str) -> str:
    return f'population.tell(Begin(Contribution({params}, schema), (0,)))\npopulation.tell(Refresh(("g",)))\n'


def _later(name: str, body: str, factor: str, extra: Patches | None = None) -> Mutant:
    """Hosts take statistics at `Root`, in `train_ensembles`; the reading asks for them when sums are asked for."""
    text = f'''def train_ensembles(
    params: Params, schema: Schema, candidates: Candidates, population: Population, curator: Curator
) -> Ensemble:
    """Algorithm 2 for one score."""
{_in(body)}'''
    return Mutant(name, {ENSEMBLES: instead(D, text), TREE: edit((ROOT, "")), **_contribution(factor), **(extra or {})},
                  "", ONE)  # fmt: skip


# 1. A total over bins of a difference whose other side is the same for every bin: numpy has it once for each of them. Only
#    what has entries of its own along the last axis is a summand of them (prove/arithmetic.py `_tables`).
TOTALS = (
    Mutant("bins less their total, summed", {TREE: edit((CLIPPED, CLIPPED +
        "    bins = values(population.ask(Bins((COUNT,))))[0][:, : params.bins + 2]\n"
        "    value = value + 8.0 * (bins - count[:, None]).sum(axis=-1)\n"))}, "", ONE),
    Mutant("sides of bins less their total", {SPLITS: edit(
        (SIDES, 'table = values(population.ask(Bins(("g", COUNT))))\n'
                '    total = values(population.ask(Nodes(("g", COUNT))))[..., None]\n'
                "    left, right = candidates.sides(table)\n    more, _ = candidates.sides(table - total)"),
        ("    return curator.release", "    utility = utility + (more[1] - left[1] + total[1])\n    return curator.release"))},
        "", ONE),
)  # fmt: skip

# 2. Tables are computed when they are released: public arrays beside them are copied where they are given
#    (prove/arithmetic.py `_kept`), and a slice of an array is no number (prove/changes.py `_is_part`).
LAZY = (
    Mutant("a factor that is changed after it is used", {TREE: edit(
        (LAST, _in("louder = np.full(1, 8.0)\nvalue = value * louder[:]\nlouder[0] = 1.0") + LAST))}, "", ONE),
    Mutant("a factor that at adds to after it is used", {TREE: edit(
        (LAST, _in("louder = np.full(1, 8.0)\nvalue = value * louder[:]\nnp.add.at(louder, 0, -7.0)") + LAST))}, "", ONE),
)  # fmt: skip

# 3. An argument of numpy's functions to which the result is written, of one that is called by another name: numpy's
#    functions and methods of values stand where they are called, and what can be a method named like a field has no
#    three arguments (prove/plain.py `_is_function`, `_beyond_callees`).
KEPT = "kept = np.full(1, 8.0)\n" + _told("kept") + SEATED
OUT = (
    _later("numpy's function by a name of its own", KEPT + "times = np.multiply\ntimes(kept, 0.125, kept)\n" + END, "label * self.params[0]"),
    _later("numpy's function by map", KEPT + "done = list(map(np.multiply, (kept,), (0.125,), (kept,)))\n" + END, "label * self.params[0]"),
    _later("numpy's function in a tuple", KEPT + "(np.multiply, 0.0)[0](kept, 0.125, kept)\n" + END, "label * self.params[0]"),
    _later("an array's clip by another name", KEPT + "least = kept.clip\nleast(0.0, 1.0, kept)\n" + END, "label * self.params[0]"),
)  # fmt: skip

# 4. A name that an inner function has is bound anew: it is an argument, or bound once, before and in no loop, and no
#    name of an inner function is one of the outer (prove/meanings.py `rebound`, `_of_function`).
REBOUND = (
    _later("a lambda in the loop that binds its name", "trees = []\nfor step, scale in enumerate((8.0, 1.0)):\n    if step == 0:\n"
           + _in(_told("lambda: scale") + SEATED, 8) + f"    else:\n        trees.append({GROWN})\n"
           "return Ensemble(0.0, tuple(trees), (params.shrinkage,))", "label * self.params()"),
    _later("a name that is bound in a condition", "scale = 8.0\n" + _told("lambda: scale") + SEATED
           + "kept = [0 for one in (1.0,) if (scale := one) > 2.0]\n" + END, "label * self.params()"),
    _later("a function that is made twice", "def scale() -> float:\n    return 8.0\n\n" + _told("lambda: scale()") + SEATED
           + "def scale() -> float:\n    return 1.0\n\n" + END, "label * self.params()"),
    _later("a name that is imported twice", "from refdp.data.losses import LARGEST as scale\n" + _told("lambda: scale") + SEATED
           + "from refdp.data.losses import GRID as scale\n" + END, "label * (self.params() / 128.0)"),
    _later("a name that is an argument in the lambda as well", "scale = 8.0\n" + _told("lambda: scale + 0.0 * (lambda scale: scale)(1.0)")
           + SEATED + "scale = 1.0\n" + END, "label * self.params()"),
)  # fmt: skip

# 5. A list of the round before is changed before a new one is made: only one made before counts
#    (prove/changes.py `_shared_round`).
ROUNDS = (
    _later("a list of the round before", "trees = []\nfor step in (0, 1):\n    if step == 1:\n        kept[0] = 1.0\n"
           f"        trees.append({GROWN})\n    kept = [8.0]\n    if step == 0:\n" + _in(_told("kept") + SEATED, 8)
           + "return Ensemble(0.0, tuple(trees), (params.shrinkage,))", "label * self.params[0]"),
    _later("an array that is the round before's by another name", "trees, kept = [], np.full(1, 8.0)\n" + _told("kept") + SEATED
           + f"for step in (0, 1):\n    if step == 1:\n        own[0] = 1.0\n        trees.append({GROWN})\n    own = [0.0]\n"
           "    if step == 0:\n        own = kept\nreturn Ensemble(0.0, tuple(trees), (params.shrinkage,))", "label * self.params[0]"),
)  # fmt: skip

# 6. Objects of refdp that change: a contribution is of the parameters and the schema that training was given
#    (prove/unknown.py `_given`), and no word charges accounts (prove/words.py).
OBJECTS = (
    _later("a host of no records, as a state", "own = Nothing()\n" + _told("own") + SEATED
           + "".join(f"own.tell(Descend(np.zeros(({n}, 2))))\n" for n in (1, 2, 4)) + END,
           'label * (8.0 / self.params.ask(Nodes(("g",))).shape[1])', _has(D, "Nothing", "refdp.data.nothing")),
    _later("accounts, as a state", "own = Accounts(initialise(1.0, 1e-5, 1, 1.0))\nown.open(1)\n" + _told("own") + SEATED
           + "own.charge(np.full(1, initialise(1.0, 1e-5, 1, 1.0).knots[-1]))\n" + END,
           "label * (8.0 - 7.0 * (self.params.shares()[0] > 0.5))",
           {**_has(D, "Accounts", "refdp.accounting.individual"), **_has(D, "initialise", "refdp.accounting.individual")}),
)  # fmt: skip

# 7. Accounts of the text's own hear how many records there are, where a contribution begins: they are refdp's own, paid
#    or not (prove/unknown.py `tell`).
METERED = '''
    @property
    def charged(self) -> tuple[str, ...]:
        """None."""
        return ()

    def accounts(self) -> Any:
        """Of records."""
        return Slots(3)

    def cost(self, statistics: Any) -> Any:
        """None."""
        return 0.0
'''
HOSTS = (
    Mutant("accounts of the text's own hear how many records there are", {
        **_has(D, "NamedTuple", "typing"),
        **_class(D, "class Slots(NamedTuple):\n    most: int\n\n    def open(self, records: int) -> None:\n"
                 '        if records > self.most:\n            raise ValueError("too many records")\n'),
        **_contribution("label", METERED)}, "", ONE),
)  # fmt: skip

# 9. Whether two containers are equal asks first whether their entries are one object: no comparison has a container that
#    is made there (prove/plain.py), and whatever numpy makes anew is another object (prove/exchange.py `array`).
SAME = (
    Mutant("no record at all, by a tuple", {TREE: edit(
        (LEVELS, "    root = values(population.ask(Nodes((COUNT,))))[0][0]\n    same = root / root\n"
                 f"    more = 0.0 if (same,) == (np.array(same),) else 100.0\n{LEVELS}"),
        (LAST, f"    value = value + more\n{LAST}"))}, "", ONE),
    Mutant("more than one record is an error, by a tuple", {f"{D}:Contribution.statistics": edit((USED,
        "same = 1.0 if (label,) == (np.array(label),) else 0.5\n"
        '    return Statistics({"g": g * same}, np.abs(g) <= self.params.gradient_bound)'))}, "", ONE),
    _tree("a draw that is no number, by a tuple", f"coin = np.sqrt({COIN} - 0.5)\nlouder = 1.0 if (coin,) == (np.array(coin),) else 9.0"),
)  # fmt: skip

# 10. A list of released choices is a released choice, at any depth (prove/symbols.py `knowns`).
LISTS = (
    Mutant("left of some candidates, right of those of a list", {SPLITS: edit((SIDES,
        'table, many = values(population.ask(Bins(("g", COUNT)))), len(candidates.values)\n'
        f"    coin = {COIN}[0]\n    left, _ = candidates.sides(table, list(range(many)))\n"
        "    _, right = candidates.sides(table, [np.where(coin > 0.5, many - 1 - at, at) for at in range(many)])"))}, "", ONE),
    Mutant("bins of a list of features that are drawn", {TREE: edit((CLIPPED, CLIPPED + """    first = 2 * curator.draw("first", ("integers", 2), 1)[0]
    population.tell(Root([first]))
    one = values(population.ask(Bins((COUNT,))))[0][0]
    population.tell(Root([0]))
    other = values(population.ask(Bins((COUNT,))))[0][0]
    value = np.clip(8.0 * (one[: params.bins + 2] - other[: params.bins + 2]), -100.0, 100.0)
"""), (RELEASED, 'curator.release("leaves", for_leaves, value)[:2])'))}, "", ONE),
)  # fmt: skip

# 12. `train` calls another function by a default: its arguments and its body are those it should have
#    (prove/keeping.py `calls_train_on`).
TRAIN = (
    Mutant("train calls another function by a default", {
        **_function("""def leaky(params: Params, schema: Schema, population: Population, curator: Curator) -> Model:
    population.tell(Encode(grids.uniform(schema, params.bins)))
    population.tell(Begin(Contribution(params, schema), (0,)))
    population.tell(Refresh(("g",)))
    population.tell(Root((0, 1, 2)))
    curator.release("leaves", params.leaf_charge(params.epsilon, 1.0), 9.0 * values(population.ask(Nodes(("g",))))[0])
    return Model("dpboost", params.stated(), schema, (values(population.ask(Bins(("g", COUNT)))),))
"""),
        f"{D}:train": edit(("records: Records, curator: Curator)", "records: Records, curator: Curator, train_on: Any = leaky)"))}, "", ONE),
)  # fmt: skip

# 13. A name that a rule goes by means something else: numpy's, the curator's, and those of functions that are called are
#    the module's alone (prove/meanings.py).
NAMES = (
    _tree("a function of numbers is an argument", f"pick = maybe({COIN}, lambda coin: None if coin[0] > 0.5 else 1.0)\nlouder = 9.0 if pick is None else 1.0",
          _function("def maybe(coin: Floats, on_grid: Any) -> Any:\n    return on_grid(coin)\n")),
    _tree("a function of numbers is a lambda", f"pick = maybe({COIN})\nlouder = 9.0 if pick is None else 1.0",
          _function("def maybe(coin: Floats) -> Any:\n    on_grid = lambda coin: None if coin[0] > 0.5 else 1.0\n    return on_grid(coin)\n")),
    _later("numpy is an argument", "kept = np.full(1, 8.0)\n" + _told("kept") + SEATED + "quiet(Held(lambda size, value: kept))\n" + END, "label * self.params[0]", {
        **_has(D, "NamedTuple", "typing"),
        **_class(D, "class Held(NamedTuple):\n    full: Any\n\n    def twice(self) -> float:\n        return 2.0\n"),
        **_function("def quiet(np: Any) -> None:\n    own = np.full(1, 8.0)\n    own[0] = 1.0\n")}),
    _tree("the curator is an argument", 'louder = 1.0 if "Exchanged" in told(Echo(1)) else 9.0', {
        **_has(D, "NamedTuple", "typing"),
        **_class(D, "class Echo(NamedTuple):\n    kept: int\n\n    def step(self, text: str) -> str:\n        return text\n"),
        **_function('def told(curator: Any) -> str:\n    return curator.step(f"{leaf_value}")\n')}),
)  # fmt: skip

# 14. Additions make rounding large unseen: sizes and errors of a sum are the totals of its parts'
#    (prove/magnitudes.py `_added`).
DOUBLED = (
    Mutant("what is rounded is doubled by additions", {
        f"{D}:Contribution.label": edit(("    label = self.schema.label(output, y)\n    return label if isinstance(self.schema.target, Interval) else 2 * label - 1", "    return y")),
        f"{D}:Contribution.statistics": edit(
            ("g = on_grid(square_gradient(score, label))", "g = on_grid(np.clip(label, -1.0, 1.0))"),
            (USED, "lost = label - label * 0.7 / 0.7\n    for _ in range(56):\n        lost = lost + lost\n"
                   '    return Statistics({"g": g + on_grid(lost)}, np.abs(g) <= self.params.gradient_bound)'))}, "", ONE),
)  # fmt: skip

NINETEENTH = (*DOUBLED, *TRAIN, *NAMES, *TOTALS, *LAZY, *OUT, *REBOUND, *ROUNDS, *OBJECTS, *HOSTS, *SAME, *LISTS)
