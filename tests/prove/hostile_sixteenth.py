"""Training texts of a sixteenth attack that leak or spend more than they charge and were PROVED, in the small language.

By cause, each with what the reading or `refdp.prove.plain` overlooked. All are of DPBoost's text, with one tree of one
level unless said; each proof takes 0.5 to 4 seconds. Each was run on neighbours as well: "x 9" is a leaf that changes by
nine times what is declared.
"""

# ruff: noqa: E501
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tests.mutants.harness import Mutant, added, edit, instead
from tests.prove.attacks import D
from tests.prove.hostile_fifteenth import ONE, _class, _has
from tests.prove.hostile_thirteenth import (
    ENSEMBLES,
    HALF,
    LAST,
    RETURN,
    START,
    TREE,
    _loop,
    _nine,
)

Patches = dict[str, Callable[[Any], Any]]
Z, P = "refdp.papers.inprivate", "refdp.papers.published.dpboost"
BEGIN = "population.tell(Begin(Contribution(params, schema), (output,)))"
BLOCK = "                with subsets.block(position):\n"
ROOT = "    population.tell(Root(candidates.features))  # Alg. 1, l. 3: the records that are used\n"
USED = 'return Statistics({"g": g}, np.abs(g) <= self.params.gradient_bound)'
DRAWN = 'curator.draw("u", ("uniform",), (1,))[0]'


def _function(source: str, module: str = D, marks: str = "") -> Patches:
    return {f"{module}:+{source.partition('(')[0].removeprefix('def ')}": added(marks + source)}


def _cached(source: str) -> Patches:
    """`@lru_cache(maxsize=64)` on a function of DPBoost's own."""
    return {**_has(D, "lru_cache", "functools"), **_function(source, marks="@lru_cache(maxsize=64)\n")}


def _tree(name: str, lines: str, extra: Patches | None = None) -> Mutant:
    """Lines before a tree's leaves are released, `louder` times as large; `chosen[-1]` has been released."""
    own = "".join(f"    {line}\n" for line in lines.splitlines())
    return Mutant(name, {TREE: edit((LAST, f"{own}    value = value * louder\n{LAST}")), **(extra or {})}, "", ONE)


def _contributes(factor: str, default: str = "1.0") -> Patches:
    """A contribution with a third field, `scale`, to whose labels something is done."""
    text = f'''@dataclass(frozen=True)
class Contribution:
    """Labels."""

    params: Params
    schema: Schema
    scale: Any = {default}

    def label(self, output: int, y: Floats) -> Floats:
        """In [-1, 1]."""
        return self.schema.label(output, y)

    def statistics(self, score: Floats, label: Floats, of: tuple[str, ...]) -> Statistics:
        """One."""
        return Statistics({{"g": on_grid({factor})}})
'''
    return {f"{D}:Contribution": instead(D, text)}


def _later(name: str, before: str, given: str, loud: str, quiet: str, factor: str) -> Mutant:
    """The contribution's scale is 8 while hosts take the statistics (Root), and 1 whenever the reading asks."""
    return Mutant(name, {ENSEMBLES: edit(
        (START, f"    {before}\n    population.tell(Begin(Contribution(params, schema, {given}), (0,)))\n{START}"),
        (BLOCK, f"{BLOCK}                    {loud}\n                    population.tell(Root(candidates.features))\n"
                f"                    {quiet}\n")),
        **_contributes(f"label * {factor}"), TREE: edit((ROOT, ""))}, "", ONE)  # fmt: skip


def _scaled(name: str, scale: str, factor: str) -> Mutant:
    return Mutant(name, {**_contributes(factor), f"{D}:train_on": edit(
        (BEGIN, f"scale = {scale}\n        population.tell(Begin(Contribution(params, schema, scale), (output,)))"))},
        "", ONE)  # fmt: skip


# 1. A state after all: what plain takes for "only read" is held, and what is not changed by a method is rebound.
#    - plain._only_read: a slice of an array (`a[:]`) is a view, and `d.values()` a live view of a dictionary; both may be
#      handed on (here to Begin) before the array or dictionary is changed.
#    - plain._changes: a local name that a lambda (or a nested function) uses is assigned again later: `lambda: scale`.
#    Unknown._statistics asks the contribution at the first question, hosts at Root (Memory._root -> _current): splits and
#    leaves of statistics 8 times too large (utilities change by 43 times their bound).
#    Rules: a Subscript is read only where its index is no slice (or the result is used up in arithmetic); READING without
#    "values" but in a `for`, a comprehension, or list(), tuple(), max(), min(), sum(), sorted(); a name that is free in a
#    lambda or an inner function is bound once in the function around it, in a line before, in no loop.
STATES = (
    _later("a view of an array", "scale = np.ones(1)", "scale[:]", "scale[0] = 8.0", "scale[0] = 1.0", "self.scale[0]"),
    _later("a view of a dictionary's values", 'kept = {"a": 1.0}', "kept.values()", 'kept["a"] = 8.0', 'kept["a"] = 1.0',
           "max(self.scale)"),
    _later("a name that a lambda has is assigned again", "scale = 1.0", "lambda: scale", "scale = 8.0", "scale = 1.0",
           "self.scale()"),
)  # fmt: skip

# 2. Whether two functions (or methods of values) are one object, asked by `==`, `in`, `count`, or as a dictionary's key: the names
#    of a text are exchanged in the reading (exchange.reading: functions, max, min, np, numbers; Known.__getattr__ and
#    _Numbers.__getattr__ make a new object at every look-up). x 9. In a cut loop a lambda is another object than one like
#    it (loops.abstract and _shared look at lists, dictionaries and arrays alone): round 3 of 6 is x 9, and never read.
#    Rules: plain: what stands elsewhere than where it is called, or as an argument, is no function: no Compare, no key
#    and no entry of a table of a function's name, of an attribute of np, numbers or a module, or of a method that is not
#    called; _shared counts functions too. Safest: Compare only of what is shown to be a number, a text, None or a member
#    (the reading can rewrite every `==`, `!=`, `in` of a text to a function that refuses functions at run time).
RULES: Patches = {f"{D}:+RULES": lambda module: (module.splits_of_most_gain, max)}
MADE = _function("def made() -> Any:\n    return lambda: 0.0\n")
SAME_FUNCTION = (
    _tree("a function of numpy is itself", f"louder = {_nine('np.exp == np.exp')}"),
    _tree("a function of numpy is a key", "louder = {np.exp: 9.0}.get(np.exp, 1.0)"),
    _tree("a method of public candidates is itself", f"louder = {_nine('candidates.sides == candidates.sides')}"),
    _tree("a method of a released value is itself", f"louder = {_nine('chosen[-1].copy == chosen[-1].copy')}"),
    _tree("a function of the text is that of a table", f"louder = {_nine('RULES[0] == splits_of_most_gain')}", RULES),
    _tree("a function of the text is in a table", f"louder = {_nine('splits_of_most_gain in RULES')}", RULES),
    _tree("a function of Python is in a table", f"louder = {_nine('max in RULES')}", RULES),
    _tree("a function of Python is counted", "louder = 9.0 if RULES.count(max) == 1 else 1.0", RULES),
    _tree("methods of a released value in tuples", f"louder = {_nine('(chosen[-1].sum,) == (chosen[-1].sum,)')}"),
    _loop("two lambdas are one in a round", "a, b = made(), made()", "", _nine("a == b and number < 5"),
          "b = a if number == 2 else made()", extra=MADE),
)  # fmt: skip

# 3. What the curator gives beside releases is a plain value in the reading, and another one in training.
#    - A partition or sample of a NUMBER of slots: the mask (secret coins!) has as many entries in training, none in the
#      reading (Obligations.assign gives zeros(0)); x 9, or up to four more trees than are charged (the plan's coins are
#      all 0, so block 1 is empty in it as well).
#    - ProofCurator.draw takes a size that is released or drawn (`public(given)`: that of the example), and what it gives
#      is not `varying`: 1 to 9 more trees where the plan has 1 (releases 4 to 18, plan 4).
#    Rules: ProofCurator.partition/subsample: `size` is the reading's own host (Unmodelled otherwise: this refuses objects
#    of the text's own with select/enter/leave too, to which `draw` is handed); ProofCurator.draw: a size with a Known in
#    it (and any but int or a tuple of ints) is Unmodelled.
CALLED = "train_single_tree(params, candidates, epsilon, 1.0, population, curator)"


def _again(before: str, over: str) -> tuple[str, str]:
    return (
        RETURN,
        f"""{before}    for _ in {over}:
        with curator.partition("again", [1.0], population) as again:
            with again.block(0):
                population.tell(Refresh(("g",)))
                {CALLED}
{RETURN}""",
    )


COINS = (
    _tree("how many coins a partition of five slots has", 'with curator.partition("own", [0.5], 5) as own:\n'
          "    with own.block(0) as mask:\n        louder = 9.0 if mask.size > 0 else 1.0"),
    _tree("how many coins a sample of five slots has",
          'with curator.subsample("own", 0.5, 5) as mask:\n    louder = 9.0 if mask.size > 0 else 1.0'),
    Mutant("as many trees as coins say", {ENSEMBLES: edit(_again(
        '    with curator.partition("own", [0.5, 0.5], 5) as coins:\n        with coins.block(1) as mask:\n'
        "            more = int(mask.sum())\n", "(1.0,) * more"))}, "", ONE),
    Mutant("as many draws as a draw says", {ENSEMBLES: edit(HALF, _again(
        '    more = curator.draw("more", ("integers", 9), (1,))[0]\n',
        'curator.draw("rounds", ("uniform",), more + 1)'))}, "", ONE),
    _tree("how long a draw of a drawn size is", 'more = curator.draw("more", ("integers", 9), (1,))[0]\n'
          'louder = 9.0 if curator.draw("rounds", ("uniform",), more).size > 0 else 1.0'),
    Mutant("slots of the text's own are given the coins", {
        **_has(D, "NamedTuple", "typing"),
        **_class(D, "class Slots(NamedTuple):\n    curator: Any\n    charge: Any\n    value: Any\n\n"
                 "    def select(self, scope: int, draw: Any) -> None:\n"
                 '        self.curator.release("leaves", self.charge, self.value * (9.0 if draw(5).size > 0 else 1.0))\n\n'
                 "    def enter(self, scope: int, block: int) -> None:\n        pass\n\n"
                 "    def leave(self) -> None:\n        pass\n"),
        TREE: edit((LAST, f'    with curator.partition("own", [0.5], Slots(curator, for_leaves, value)) as own:\n        pass\n{LAST}')),
        f"{D}:Params.leaf_epsilon": edit(("return epsilon / 2", "return epsilon / 4"))}, "", ONE),
)  # fmt: skip

# 4. Objects of the text's own classes in place of refdp's, without any base: hosts ask of them what the reading does not.
#    - Encode(candidates): Memory calls `candidates.encode(x)` (codes.Dense.of) with ALL records; here a record's bin is
#      whether it is the largest one, so that one record moves others (sums change by 3 times the bound; it could raise or
#      put anything of x into the codes as well). unknown.tell, case Encode / _covers do not look at the class.
#    - Statistics: beyond 32,768 records data/known.py:27 unpacks the tuple, whose second entry is None here: nobody is
#      filtered, |g| <= 2 where the reading and smaller hosts have |g| <= 0.25. unknown._statistics does not look either.
#    Rules: unknown.tell / _statistics: `type(public(candidates)) is Candidates`, `type(found) is Statistics`,
#    `type(found.values) is dict`; in general every field of a step or query is of refdp's own class, a number, text,
#    array or tuple of such, but for the contribution.
OBJECTS = (
    Mutant("candidates of the text's own rank the records", {
        **_class(D, '''@dataclass(frozen=True)
class Ranks:
    thresholds: Any
    categorical: Any
    inner: Any

    @property
    def bins(self) -> Any:
        return self.inner.bins

    @property
    def offsets(self) -> Any:
        return self.inner.offsets

    @property
    def features(self) -> Any:
        return self.inner.features

    def split_codes(self, chosen: Any) -> Any:
        return self.inner.split_codes(chosen)

    def encode(self, x: Any) -> Any:
        order = np.argsort(np.argsort(x[:, 0]))
        return self.inner.encode(np.where(order[:, None] < len(order) - 1, 0.0, 1.0) * np.ones(x.shape))
'''),
        f"{D}:train_on": edit(("    population.tell(Encode(candidates := params.split_candidates(schema, population)))\n",
            "    candidates = grids.uniform(schema, params.bins)\n"
            "    population.tell(Encode(Ranks(candidates.thresholds, candidates.categorical, candidates)))\n"))}, "", ONE),
    Mutant("statistics of the text's own are others where they are unpacked", {
        **_has(D, "NamedTuple", "typing"),
        **_class(D, "class Loud(NamedTuple):\n    values: Any\n    kept: Any = None\n\n    @property\n"
                 '    def used(self) -> Any:\n        return np.abs(self.values["g"]) <= 0.25\n'),
        f"{D}:Contribution.statistics": edit((USED, 'return Loud({"g": g})'))}, "", {**ONE, "gradient_bound": 0.25}),
)  # fmt: skip

# 5. Contributions that are others at a host than in the reading.
#    - A third field: hosts elsewhere are told `Contribution(params, schema)` (population._out/_in), so that its default
#      stands there: from_json(to_json(step)) has scale 9. Rule: unknown.tell, case Begin: the fields of a contribution
#      are params and schema (in this order), and those objects are the text's own arguments; or to_json refuses others.
#    - Begin sets `finite` of a Known whatever it is; data/following._check_finite looks at floats alone. An array without
#      axes (or a np.float32) that is NaN passes, and every record of a node adds -2^63 units (utilities change by 10^24
#      times their bound). Rule: _check_finite refuses arrays and numbers that are no Python floats or np.float64; the
#      reading believes `finite` only then.
#    - np.asarray/np.array of a Known with a kind of numbers gives the same Known back (exchange.array), with `least` and
#      `finite`: 0.5 as a whole number is 0, 256 as uint8 is 0, and g is divided by it. Rule: exchange.array: with any
#      other kind than float64, a new Known without `least` and `finite` (at the converted example).
HOSTS = (
    Mutant("hosts elsewhere have another contribution", {**_contributes("label * self.scale", "9.0"), f"{D}:train_on": edit(
        (BEGIN, "population.tell(Begin(Contribution(params, schema, 1.0), (output,)))"))}, "", ONE),
    _scaled("a scale that is no number, in an array without axes", f"np.asarray(np.maximum(np.sqrt({DRAWN} - 0.5), 1.0))",
            "label / self.scale"),
    _scaled("a scale as a whole number", f"np.asarray(np.maximum({DRAWN}, 0.5), np.int64)", "label * 0.5 / self.scale"),
    _scaled("a scale in eight bits", f"np.array(np.maximum({DRAWN} * 512.0, 256.0), np.uint8)", "label / self.scale"),
)  # fmt: skip

# 6. Texts that nobody reads: reading._peeking takes the files of the functions and classes in the module's namespace.
#    - a function that is imported inside a function, or is asked of a module (`from refdp.papers import inprivate`), is in
#      none of them, nor is what it calls in a third text: it may use `type`, `try`, global names, anything. x 9.
#    - the methods of `refdp.papers.published`'s Params, where a setting is a printed reading that is PROVED as well
#      (clip_position="global"): here split candidates are the records' values.
#    - texts beside the paper's own have Python's isinstance: a Known is no Interval (checked, it says what it is).
#      Here the other text is read, and is within the language. x 9.
#    Rules: _peeking follows every import of refdp.papers/refdp.own in a text, wherever it stands, to that module's whole
#    file, and so on, and the class of params (`type(params).__mro__`); exchange.reading puts `isinstance` (and max, min,
#    float, int, len) into all texts, as it does with np.
KIND = "def kind_of(one: Any) -> float:\n    return 9.0 if isinstance(one, Interval) else 1.0\n"
PEEK = "def louder_of(one: Any) -> float:\n    return 1.0 if type(one).__name__ == 'Known' else 9.0\n"
UNREAD = (
    _tree("a function of another text, imported in a function",
          "from refdp.papers.inprivate import louder_of\nlouder = louder_of(chosen[-1])", _function(PEEK, Z)),
    _tree("a function of another text, by its module",
          "from refdp.papers import inprivate\nlouder = inprivate.louder_of(chosen[-1])", _function(PEEK, Z)),
    _tree("the class of an interval, asked by another text", "louder = kind_of(same(chosen[-1], Interval(0.0, 1.0)))", {
        **_function("def same(noisy: Any, own: Any) -> Any:\n    return own\n"), **_function(KIND, Z),
        f"{D}:+kind_of": lambda _: vars(sys.modules[Z])["kind_of"]}),
    Mutant("a method of printed parameters", {f"{P}:Params.split_candidates": edit(
        ('if self.candidates != "data":', 'if type(population).__name__ in ("Unknown", "Nothing"):'),
        ("super().split_candidates(", "dpboost.Params.split_candidates(self, "))}, "", {**ONE, "clip_position": "global"}),
)  # fmt: skip

# 7. Cached functions (as in the fifteenth attack, 5): keys are equal and their numbers are not (0.0 and -0.0; 1 and 1.0,
#    which `+ 2**53 - 2**53` tells apart: 1 and 0). A run with noise="floating" before that with noise="discrete" in one process
#    leaves 9 instead of 1 for its leaves. And a cached function of the population keeps exact sums beside the model
#    (keeping.kept_beside does not look into caches).
#    Rules: a cached function's arguments are texts, or are looked at as `lru_cache(maxsize=..., typed=True)` and refused
#    where a float 0 can come (simplest: no lru_cache in a text's MARKS but on the functions that the papers have, whose
#    arguments are (params, schema) alone); a cached function takes no population or curator.
CACHED = (
    Mutant("a cache that takes -0.0 for 0.0", {
        **_cached("def kept(sign: float) -> float:\n    return float(5.0 - 4.0 * math.copysign(1.0, sign))\n"),
        f"{D}:Params.leaf_epsilon": edit(
            ("return epsilon / 2", 'return epsilon / 2 * kept(-0.0 if self.noise == "floating" else 0.0)'))},
        "", {**ONE, "noise": "discrete"}),
    Mutant("a cache that takes 1 for 1.0", {
        **_cached("def kept(size: float, more: float) -> float:\n    return float(size + more - more)\n"),
        f"{D}:Params.leaf_epsilon": edit(
            ("return epsilon / 2", 'return epsilon / 2 * (1.0 + 8.0 * kept(1 if self.noise == "floating" else 1.0, 2**53))'))},
        "", {**ONE, "noise": "discrete"}),
    Mutant("exact sums beside the model, in a cache of the population", {
        **_cached('def kept(population: Population) -> Any:\n    return tuple(values(population.ask(Nodes(("g", COUNT)))))\n'),
        TREE: edit(('values(population.ask(Nodes(("g", COUNT))))', "kept(population)"))}, "", ONE),
)  # fmt: skip

# 8. Narrow arrays in a formula of private sums: np.where of two uint8 arrays is uint8, and 200 * 2 is 144 in it; the
#    solvers have 400 (arithmetic._tables.constant takes entries of any kind as real numbers). The factor is 0 in the
#    reading and 9 in training: x 9.9 (gradients of up to 1, for a bound of 1/1.1).
#    Rule: arithmetic._tables: arrays and numbers beside private sums are float64 (or Python's int/float), else Unmodelled.
NARROW = (
    _tree("a product in eight bits", "value = gradient_sum\nlouder = 9.0 * (400.0 - np.where(gradient_sum <= gradient_sum, "
          "np.full(1, 200, np.uint8), np.full(1, 0, np.uint8)) * np.full(1, 2, np.uint8)) / 256.0"),
)  # fmt: skip

SIXTEENTH = (*STATES, *SAME_FUNCTION, *COINS, *OBJECTS, *HOSTS, *UNREAD, *CACHED, *NARROW)
