"""Training texts of a fourteenth attack that leak and were PROVED: what Python does and the reading did not see.

By cause, each with what the reading overlooked. Most have a state: an object that is changed while something else holds
it. All but those in the model or in a cache were run on neighbours: leaves of up to nine times what is declared.
"""

# ruff: noqa: E501
from __future__ import annotations

import collections
import enum
import functools
import linecache
import sys
from collections.abc import Callable
from typing import Any

from tests.mutants.harness import Mutant, added, edit
from tests.prove.attacks import D
from tests.prove.hostile_thirteenth import (
    END,
    ENSEMBLES,
    EPSILON,
    HALF,
    LAST,
    LOUDER,
    RETURN,
    SIX,
    START,
    TREE,
    _after,
    _kinds,
    _loop,
    _nine,
)  # fmt: skip

Patches = dict[str, Callable[..., Any]]


def _text(source: str, name: str, **more: Any) -> Callable[[Any], Any]:
    """A class or function, compiled in DPBoost's module. more: what it needs of the standard library."""

    def replacement(_: Any) -> Any:
        text, file, made = f"from __future__ import annotations\n{source}", f"<mutant with {name}>", dict[str, Any]()
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        exec(compile(text, file, "exec"), {**vars(sys.modules[D]), **more} if more else vars(sys.modules[D]), made)
        return made[name]

    return replacement


def _given(**named: Any) -> Patches:
    return {f"{D}:+{name}": (lambda _, value=value: value) for name, value in named.items()}


def _function(source: str) -> Patches:
    return {f"{D}:+{source.partition('(')[0].removeprefix('def ')}": added(source)}


def _class(source: str, name: str = "Own") -> Patches:
    return {f"{D}:{'' if name == 'Contribution' else '+'}{name}": _text(source, name)}


def _tree(name: str, lines: str, extra: Patches | None = None) -> Mutant:
    """Lines before a tree's leaves are released, `louder` times as large; `chosen[-1]` has been released."""
    own = "".join(f"    {line}\n" for line in lines.splitlines())
    return Mutant(name, {TREE: edit((LAST, f"{own}    value = value * louder\n{LAST}")), **(extra or {})}, "", SIX)


OWN = _class("@dataclass(frozen=True)\nclass Own:\n    kept: Any\n    amount: Any = 1.0\n\n"
             "    def first(self) -> Any:\n        return self.kept[0]\n\n"
             "    def copy(self) -> Any:\n        return self.kept\n")  # fmt: skip
SIZED = _class(
    "@dataclass(frozen=True)\nclass Own:\n    size: Any\n\n    def first(self) -> Any:\n        return self.size\n"
)
SAME = _function("def same(noisy: Any, own: Any) -> Any:\n    return own\n")
BLOCK = "                with subsets.block(position):\n"
REFRESH = '                population.tell(Refresh(("g",)))'

# 1. A released value that is no number is a `Known` in the reading: `is` and `isinstance` answer otherwise.
#    symbols.Known / exchange.released_only (wraps whatever the function gives), peeking._found (allows `is Relation.X`
# and isinstance of KINDS).
KNOWN_IS = (
    _tree("a member of an enumeration by way of a released value",
          f"louder = {_nine('same(chosen[-1], params.relation) is Relation.ADD_REMOVE')}", SAME),
    _tree("the class of an interval by way of a released value",
          f"louder = {_nine('isinstance(same(chosen[-1], Interval(0.0, 1.0)), Interval)')}", SAME),
)  # fmt: skip
# 2. A method of a released value, or `max`, gives None, and Known(None) `is None` is False: symbols.Known.__getattr__
# (`method` does not look at what it made, the attribute's branch does), exchange._plain_builtin.
KNOWN_NONE = (
    _tree("a method in place gives None", f"own = chosen[-1].copy()\nlouder = {_nine('own.sort() is None')}"),
    _tree("a method in place gives None, by a pattern", "louder = 1.0\nown = chosen[-1].copy()\nmatch own.sort():\n"
          "    case None:\n        louder = 9.0"),
    _tree("what a released table has not is None",
          f"own = same(chosen[-1], {{0: 1.0}})\nlouder = {_nine('own.get(1) is None')}", SAME),
    _tree("the larger of a released number and None",
          "one = max(chosen[-1][0, 0], None, key=lambda one: 0.5 if one is None else one)\n"
          f"louder = {_nine('one is None')}"),
)  # fmt: skip
# 3. nones._can: an entry of a field is "an entry of an array of candidates" (first `if`), and a field by the name of an
# array's attribute is that array's (the ast.Attribute branch).
FIELD_NONE = (
    _tree("None in a list of an object", f"louder = {_nine('pick(chosen[-1], Own([1.0, None])) is None')}",
          {**OWN, **_function("def pick(noisy: Any, own: Any) -> Any:\n    return own.kept[1 if noisy[0, 0] > 1.5 else 0]\n")}),
    _tree("None in a field named size", f"louder = {_nine('pick(chosen[-1], Own(1.0), Own(None)) is None')}",
          {**SIZED, **_function("def pick(noisy: Any, own: Any, other: Any) -> Any:\n"
                                "    return (other if noisy[0, 0] > 1.5 else own).size\n")}),
)  # fmt: skip
# 4. symbols.public copies lists and dictionaries, so that what a function of released values gives is no longer its
# caller's list: in training it is.
ALIAS = (
    _tree("a list by another name", f"kept = [0.0]\nown = same(chosen[-1], kept)\nown.append(1.0)\nlouder = {_nine('len(kept) == 2')}", SAME),
)  # fmt: skip
# 5. Lists of released values: `+` and `*` are numpy's in the reading and Python's in training (symbols.Symbol has
# numpy's operators for every example; arithmetic.combined).
LISTS = (
    _tree("lists of released values in a row", f"louder = {_nine('len([0.0] + chosen[-1].ravel().tolist()) == 3')}"),
    _tree("a list of released values twice", f"louder = {_nine('len(chosen[-1].ravel().tolist() * 2) == 4')}"),
    _tree("a list of released values in an object, twice", "own = Own(chosen[-1].ravel().tolist())\n"
          f"louder = {_nine('len(own.size + own.size) == 4')}", SIZED),
    _loop("as many trees as a draw says", "", "", "1.0",
          "with curator.partition(f'again {number}', [1.0], population) as again:\n    with again.block(0):\n"
          '        population.tell(Refresh(("g",)))\n'
          "        for _ in [0.0] * curator.draw('more', ('integers', 9), 1)[0]:\n"
          "            train_single_tree(params, candidates, epsilon, 1.0, population, curator)", more=(HALF,)),
)  # fmt: skip
# 6. A Known's length that follows from released values and is not marked: exchange._plain_builtin (`max` of lists,
#    Known(...) without varying), symbols.Known.__getattr__ (`own.extend(varying)` changes own.example, own stays
# _varying=False).
LENGTHS = (
    _tree("the larger of two lists", "long = max(chosen[-1].ravel().tolist(), [0.5, 0.0, 0.0])\n"
          f"louder = {_nine('len(long) == 3')}"),
    _tree("a list that released values make longer", "own = chosen[-1].ravel().tolist()\nown.extend(longer(chosen[-1]))\n"
          f"louder = {_nine('len(own) == 4')}",
          _function("def longer(noisy: Any) -> list[float]:\n    return [0.0, 0.0] if noisy[0, 0] == 0.0 else []\n")),
)  # fmt: skip
# 7. A field of the text's own class by the name of an attribute of `Known` (example, least, listed, finite, what,
#    settled) is answered by the Known, the first even with the plain example. symbols.Known; words._own lets such names
# pass.
SHADOWED = (
    _tree("a field named example", f"louder = {_nine('made(chosen[-1]).example.amount == 0.0')}", {
        **_class("@dataclass(frozen=True)\nclass Own:\n    example: Any\n    amount: Any = 1.0\n\n"
                 "    def first(self) -> Any:\n        return self.amount\n"),
        **_function("def made(noisy: Any) -> Any:\n    return Own(Own(1.0, noisy[0, 0]), noisy[0, 0])\n")}),
    _tree("a field named listed", f"louder = {_nine('made(chosen[-1]).listed')}", {
        **_class("@dataclass(frozen=True)\nclass Own:\n    listed: Any\n    amount: Any = 1.0\n\n"
                 "    def first(self) -> Any:\n        return self.amount\n"),
        **_function("def made(noisy: Any) -> Any:\n    return Own(True)\n")}),
)  # fmt: skip


# 8. A function of released values writes into its caller's list or array: altering._is_fresh takes `sum((), kept)`
#    (FRESH has sum) and `.copy()` of the text's own class for new, altering.VIEWS has no einsum, and np.array(copy=False);
#    nobody knows that `np.add.accumulate/reduce/reduceat` and `x.var` have an `out` by position (forms._writes, WRITING).
# symbols.public does not copy what is in an object, symbols._arrays does not see what a closure has.
def _puts(body: str, given: str) -> Patches:
    return _function(f"def put(noisy: Any, {given}: Any) -> float:\n{body}    return 1.0\n")


WRITES = (
    _tree("the sum of nothing and a list is the list", f"kept = [0.0]\nput(chosen[-1], kept)\nlouder = {_nine('len(kept) == 2')}",
          _puts("    own = sum((), kept)\n    own.append(1.0)\n", "kept")),
    _tree("the same for a list in an object", f"kept = [0.5]\nput(chosen[-1], Own(kept))\nlouder = {_nine('kept[-1] == 0.0')}",
          {**OWN, **_puts("    kept = sum((), own.kept)\n    kept.append(noisy[0, 0])\n", "own")}),
    _tree("a method named copy", f"kept = [0.5]\nput(chosen[-1], Own(kept))\nlouder = {_nine('kept[-1] == 0.0')}",
          {**OWN, **_puts("    kept = own.copy()\n    kept.append(noisy[0, 0])\n", "own")}),
    *(_tree(f"{name} of an array of a closure", "kept = np.zeros(2)\nput(chosen[-1], lambda: kept)\n"
            f"louder = {_nine('kept[0] == 0.0')}", _puts(body, "give"))
      for name, body in (("the result", "    np.add.accumulate(noisy.ravel(), 0, None, give())\n"),
                         ("a view", "    own = np.einsum('i->i', give())\n    own[0] = noisy[0, 0]\n"),
                         ("no copy", "    own = np.array(give(), copy=False)\n    own[0] = noisy[0, 0]\n"))),
    _tree("the result of a variance", "kept = np.ones(1)\nput(chosen[-1], lambda: kept)\n"
          f"louder = {_nine('0.005 < kept[0] < 0.2')}", _puts("    noisy.reshape(2, 1).var(0, None, give())\n", "give")),
)  # fmt: skip
# 9. keeping.plainly: of a list or deque with fields (a dataclass that inherits from one) it sees the fields alone, so
# that exact sums are in the model. symbols.privates, reach.inside and loops.abstract likewise for deque.
ROOTED = ('    population.tell(Refresh(("g",)))\n    population.tell(Root(candidates.features))\n'
          '    sums = values(population.ask(Nodes(("g", COUNT))))[0]\n')  # fmt: skip
FIELDS = "@dataclass(frozen=True)\nclass Own({}):\n    step: Any = 0\n\n    def first(self) -> Any:\n        return self.step\n"
IN_LIST = _class(FIELDS.format("list"))
IN_DEQUE = {**_given(deque=collections.deque), **_class(FIELDS.format("deque"))}


def _model(name: str, how: str, extra: Patches) -> Mutant:
    changed = edit((RETURN, f"{ROOTED}    kept = Own()\n    kept.{how}(sums)\n{RETURN.replace('0.0', 'kept')}"))
    return Mutant(name, {ENSEMBLES: changed, **extra}, "", SIX)


IN_MODEL = (_model("exact sums in the model, in a list with fields", "append", IN_LIST),
            _model("exact sums in the model, in a deque with fields", "appendleft", IN_DEQUE))  # fmt: skip
# 10. A cached function may give an object that has a list in it, or an attribute of one (forms._stays: any call of a
#     name that begins with a capital, any ast.Attribute), also as cached_property, whose result is no field, so that
# loops.abstract does not compare it; keeping.state/kept_beside do not look into caches.
COUNTED = {**OWN, **_given(cache=functools.cache)}
CACHED = {
    **COUNTED,
    f"{D}:+counted": _text("@cache\ndef counted() -> Any:\n    return Own([])\n", "counted", cache=functools.cache),
}
PART = {
    **COUNTED,
    f"{D}:+counted": _text(
        "@cache\ndef counted() -> Any:\n    return Own([]).kept\n", "counted", cache=functools.cache
    ),
}
ONCE = {**_given(cached_property=functools.cached_property), **_class(
    "@dataclass(frozen=True)\nclass Own:\n    kept: Any\n\n    def first(self) -> Any:\n        return self.kept\n\n"
    "    @cached_property\n    def steps(self) -> Any:\n        return Own([]).kept\n")}  # fmt: skip
CACHES = (
    _loop("a cached object counts rounds", "", "steps = counted().kept\nsteps.append(1.0)", _nine("len(steps) % 6 == 4"), extra=CACHED),
    _loop("a part of a cached object counts rounds", "", "steps = counted()\nsteps.append(1.0)", _nine("len(steps) % 6 == 4"), extra=PART),
    _loop("a cached property counts rounds", "own = Own(1.0)", "steps = own.steps\nsteps.append(1.0)", _nine("len(steps) == 4"), extra=ONCE),
    Mutant("exact sums beside the model, in a cache", {ENSEMBLES: edit(
        (RETURN, f"{ROOTED}    kept = counted().kept\n    kept.append(sums)\n{RETURN}")), **CACHED}, "", SIX),
)  # fmt: skip
# 11. loops.abstract takes for equal what a text can tell apart.
TABLES = """population.tell(Refresh(("g",)))
population.tell(Root(candidates.features))
sums, count = values(population.ask(Nodes(("g", COUNT))))
a = np.clip(leaf_value(sums, count, params.regularisation), -1.0, 1.0)
b = a * 9.0
own = a
charge = params.leaf_charge(epsilon, 1.0)"""
LATER, SIMPLE = "factor = {}\nown = None", "own = {0} if number < 1 else {1}"


def _unlike(name: str, first: str, then: str, factor: str, **more: Any) -> Mutant:
    return _loop(name, f"own = {first}", LATER.format(factor), "factor", SIMPLE.format(first, then), **more)


FIXED = {**SIZED, f"{D}:Params.split_candidates": edit(
    ("    return (grids", "    if population is None:\n        return Own(schema)\n    return (grids"))}  # fmt: skip
UNLIKE = (
    _loop("the order of an array in memory", "a = np.array([[1.0, 9.0], [1.0, 9.0]])",
          "factor = 1.0 if a.ravel('K')[1] == 9.0 else 9.0\na = None", "factor",
          "a = np.array([[1.0, 9.0], [1.0, 9.0]]) if number < 1 else np.array([[1.0, 1.0], [9.0, 9.0]]).T"),
    _loop("a view of an array, or a copy", "a = np.zeros((2, 2))",
          "b = a.reshape(4)\nb[0] = 8.0\nown = 9.0 - a[0, 0]\nb[0] = 0.0\na = None", "own",
          "a = np.zeros((2, 2)) if number < 1 else np.zeros((2, 2)).T"),
    _unlike("what a table without entries gives", "defaultdict(lambda: 1.0)", "defaultdict(lambda: 9.0)", "own[0]",
            more=((EPSILON, f"    from collections import defaultdict\n{EPSILON}"),)),
    _unlike("steps of a range of one entry", "range(0, 1, 1)", "range(0, 1, 9)", "own.step * 1.0"),
    _unlike("names of a partial function's arguments", "partial(first_of, a=1.0, b=9.0)",
            "partial(first_of, b=1.0, a=9.0)", "own()", extra={**_given(partial=functools.partial),
            **_function("def first_of(a: float, b: float) -> float:\n    return a\n")}),
    _loop("a deque with fields", "kept = Own()", "kept.appendleft(1.0)", _nine("len(kept) == 4"), extra=IN_DEQUE),
    _loop("a list that is a member of an enumeration", "", "kept = Own.A\nkept.append(1.0)", _nine("len(kept) == 4"),
          more=((RETURN, f"    kept = Own.A\n    kept.clear()\n{RETURN}"),), extra={**_given(Enum=enum.Enum),
          **_class("class Own(list, Enum):\n    A = ()\n\n    def first(self) -> Any:\n        return 0\n")}),
    _loop("a private sum takes the place of another", TABLES, "", "1.0",
          'curator.release("leaves", charge, own)\nown = a if number < 1 else b', more=(HALF,)),
    _unlike("the size of a public value", "params.split_candidates(1.0, None)", "params.split_candidates(9.0, None)",
            "own.size", extra=FIXED),
    _unlike("the size of what a function named domain gives", "domain(1.0)", "domain(9.0)", "own.size",
            extra={**SIZED, **_function("def domain(one: Any) -> Any:\n    return Own(one)\n")}),
)  # fmt: skip
# 12. Which containers are one is not compared: loops._shared ends at depth 12 and takes all views of an array for one
#     thing; items of the loop (_kinds, _item, _changing) and results of `alike` are compared by their entries alone;
# loops._whole puts one and the same entry in for all missing rounds.
DEEP = 15
INNER = "[0]" * DEEP
NESTED = f"{'[' * DEEP}{{}}{']' * DEEP}"
ONE_MORE = """    x = lists[0]
    x.append(1.0)
    louder = 1.0 if len(lists[1]) == 2 else 9.0
    with curator.partition('one more', [1.0], population) as more:
        with more.block(0):
            population.tell(Refresh(("g",)))
            train_single_tree(params, candidates, epsilon, params.gradient_bound, population, curator, louder)
"""
ONE = (
    _loop("one list deep in two", f"a, b = {NESTED.format('[0.0]')}, {NESTED.format('[0.0]')}",
          f"x = a{INNER}\nx[0] = 8.0\nown = 1.0 + b{INNER}[0]\nx[0] = 0.0\nx = None", "own",
          f"c = [0.0]\na = {NESTED.format('c')}\nb = {NESTED.format('c if number > 0 else [0.0]')}\nc = None"),
    _loop("a view of another entry", "a = np.zeros(2)\nb = a[1:2]", "b[0] = 8.0\nown = 1.0 + a[0]\nb[0] = 0.0", "own",
          "b = a[1:2] if number < 1 else a[0:1]"),
    _kinds("an item has another name", "items", "own", "kind[0] = 8.0\nown = 1.0 + kept[0]\nkind[0] = 0.0",
           "kept = [0.0]\nitems = [[0.0], [0.0], [0.0], kept, [0.0], [0.0]]"),
    _loop("a function of the round's number gives one of two lists", "a, b = [0.0], [0.0]",
          "x = either(number, a, b)\nx[0] = 8.0\nown = 1.0 + a[0]\nx[0] = 0.0", "own", extra=_function(
          "def either(number: int, a: list[float], b: list[float]) -> list[float]:\n    return a if number == 3 else b\n")),
    Mutant("entries of a list that are one", {ENSEMBLES: edit(
        HALF, (START, "    lists: list[list[float]] = []\n" + START), (END, END + "        lists.append([0.0])\n"),
        (RETURN, ONE_MORE + RETURN)), **LOUDER}, "", SIX),
)  # fmt: skip
# 13. loops.alike runs a function of the round's number for all rounds, with what it changes in its arguments: only the
# last one's stays.
PUT = _function("def put(kept: list[float], number: int) -> float:\n    kept.clear()\n"
                "    kept.append(9.0 if number == 3 else 1.0)\n    return 1.0\n")  # fmt: skip
FOR_ALL = (_loop("a function of the round's number writes to a list", "", "kept = [1.0]\nput(kept, number)", "kept[0]",
                 extra=PUT),)  # fmt: skip
# 14. forms._form: `-0` counts as an entry from the end (_back), which is the first one; entries before the last `deep`
# are not compared.
FIRST = (_loop("the first entry of a list as its last", "steps = [[0], [0]]",
               "x = steps[-0]\ny = steps[-1]\nown = x[0]\nx[0] = own + 1", _nine("own == 3"), "steps.append([0])"),)  # fmt: skip
# 15. forms._form for what comes after the loop: names stored by `match`, `import` or `class`/`def` are no ast.Name
#     (`stored`), and `continue` is not seen by _through, so that a name after it counts as assigned in every round.
WHERE = "if number == 3:\n    {}\nelif number < 5:\n    {}"
AFTER = (
    _after("a name of a pattern", "x", "x = 1.0", end="if number < 5:\n    match 1.0 if number == 3 else 9.0:\n        case x:\n            pass"),
    _after("a name of an import", "x / math.pi", "x = math.pi", end=WHERE.format("from math import pi as x", "from math import tau as x")),
    _after("a name of a class", "x.amount", "x = Block(1.0, 1.0)", end=WHERE.format("class x:\n        amount = 1.0", "class x:\n        amount = 9.0")),
    _after("a name after continue", "x", "x = 1.0", end="if number == 5:\n    continue\nx = 1.0 if number == 3 else 9.0"),
)  # fmt: skip
# 16. loops.Number / Numbers are not the numbers and ranges of training: a truth value as an index of an array is one of
#     numpy's axes (Number.__index__ gives 0 or 1); whole numbers beyond 2^53 are divided otherwise by numpy
# (ROUNDED_ALIKE has divide); Numbers[a:b] is a Number, and Numbers == range is identity.
RANGES = "[range(2 * n, 2 * n + 2) for n in range(6)]"
NUMBERS = (
    _loop("a truth value as an index", "arr = np.array([1.0, 9.0])", "", _nine("0 < number < 5 and arr[number == 77].size == 0")),
    _loop("a quotient of whole numbers beyond 2^53", "", "", _nine("(number + 2**53 - 2) / 3 == 3002399751580331.0")),
    _kinds("a part of a range", RANGES, _nine("number > 0 and kind[1:] != 2 * number + 1")),
    _kinds("a range that equals another", RANGES, _nine("0 < number < 5 and kind == range(2 * number, 2 * number + 2)")),
)  # fmt: skip
# 17. unknown.Unknown._statistics asks the contribution once for each Refresh, at the first question; hosts ask at Root and
# in every scope. A contribution (or Refresh) with a list in it is another one then.
CONTRIBUTION = '''@dataclass(frozen=True)
class Contribution:
    """Labels."""

    params: Params
    schema: Schema
    kept: Any = (1.0,)

    def label(self, output: int, y: Floats) -> Floats:
        """In [-1, 1]."""
        return self.schema.label(output, y)

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """One."""
        {}return Statistics({{"g": on_grid(label * ({}))}})
'''


def _contributes(factor: str, before: str = "") -> Patches:
    return _class(CONTRIBUTION.format(before, factor), "Contribution")


STEPS = (
    _loop("a contribution's list changes", "scale = [1.0]\npopulation.tell(Begin(Contribution(params, schema, scale), (0,)))",
          extra=_contributes("self.kept[0]"), more=((BLOCK, BLOCK + "                    scale[0] = 8.0\n"
          "                    population.tell(Root(candidates.features))\n                    scale[0] = 1.0\n"),)),
    Mutant("the list of Refresh changes", {ENSEMBLES: edit(
        (REFRESH, '                of = ["g"]\n                population.tell(Refresh(of))'),
        (BLOCK, BLOCK + '                    of.append("x")\n                    population.tell(Root(candidates.features))\n'
         "                    of.pop()\n")), **_contributes('8.0 if "x" in of else 1.0')}, "", SIX),
    Mutant("a contribution counts how often it is asked", {ENSEMBLES: edit(
        (START, "    calls: list[float] = []\n    population.tell(Begin(Contribution(params, schema, calls), (0,)))\n" + START),
        (REFRESH, f"                calls.clear()\n{REFRESH}\n                population.tell(Root(candidates.features))")),
        **_contributes("8.0 if len(calls) % 2 == 0 else 1.0", "calls = self.kept\n        calls.append(1.0)\n        ")},
        "", SIX),
)  # fmt: skip
# 18. exchange.check_sides looks at candidates once, by id (_checked): later their arrays (cached properties) are written
#     to; and a method of private sums of a Known is the example's (symbols._stands_for_all): other released values
# give other candidates.
SIDES = (
    '    left, right = candidates.sides(values(population.ask(Bins(("g", COUNT)))))  # Alg. 1, l. 6: each split value\n'
)
LEVEL = "        population.tell(Descend(chosen[-1]))  # Alg. 1, l. 10\n"
CANDIDATES = (
    Mutant("positions are written to", {f"{D}:splits_of_most_gain": edit(
        (SIDES, f"{SIDES}    own = candidates.position\n    own.fill(0)\n"))}, "", {**SIX, "regularisation": 4.0}),
    Mutant("other candidates for other released values", {TREE: edit(
        (LEVEL, f"{LEVEL}        candidates = pick(chosen[-1], candidates)\n")), **_function(
        "def pick(noisy: Any, candidates: Any) -> Any:\n"
        "    own = Candidates((np.arange(0.0), np.arange(float(candidates.offsets[-1] - 4))), np.array([False, False]))\n"
        "    return own if noisy[0, 0] == 0.0 else candidates\n")}, "",
        {"trees": 2, "trees_per_ensemble": 1, "depth": 2, "regularisation": 4.0}),
)  # fmt: skip
# 19. exchange.array gives a Known back as it is where np.array copies (`if isinstance(value, Symbol): return value`), so
# that a change in place reaches the caller's array in the reading alone.
NO_COPY = (_tree("a copy of an array by way of a released value", "kept = np.full(1, 9.0)\n"
                 "own = np.array(same(chosen[-1], kept))\nown.fill(1.0)\nlouder = kept[0]", SAME),)  # fmt: skip

FOURTEENTH = (*KNOWN_IS, *KNOWN_NONE, *FIELD_NONE, *ALIAS, *LISTS, *LENGTHS, *SHADOWED, *WRITES, *IN_MODEL, *CACHES, *UNLIKE,
         *ONE, *FOR_ALL, *FIRST, *AFTER, *NUMBERS, *STEPS, *CANDIDATES, *NO_COPY)  # fmt: skip
