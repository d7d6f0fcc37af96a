"""Mutants of the prove reading itself: each drops one of its checks, and a leaking text is then taken for private.

With every check in its place none of these texts is proved, so that a reading that loses one of them fails a test.
"""

from __future__ import annotations

import ast
import decimal
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from refdp.data.following import Following
from refdp.prove import (
    arithmetic,
    chance,
    contributed,
    exchange,
    forms,
    kinds,
    loops,
    magnitudes,
    obligations,
    peeking,
    plain,
    reading,
    releases,
    standing,
    symbols,
    syntax,
    tables,
    terms,
    unknown,
)
from refdp.prove.loops import Loop
from tests.mutants.harness import Mutant, edit
from tests.prove.attacks import ATTACKS, SMALL, paper_of
from tests.prove.further import FURTHER
from tests.prove.hostile import HOSTILE, SIBLINGS
from tests.prove.hostile_eighth import EIGHTH
from tests.prove.hostile_eleventh import ALONG, ELEVENTH, FLOATS, LENGTHS, METHODS, NAMES
from tests.prove.hostile_ninth import ADDRESSES, CONTEXTS, NINTH
from tests.prove.hostile_tenth import TABLES, TENTH
from tests.prove.hostile_twelfth import SIGNS, TIMES, TWELFTH
from tests.prove.hostile_twentyfourth import HALF, OFFSET, TWENTYFOURTH
from tests.prove.hostile_twentythird import (
    ABOVE,
    ARRAYS,
    EVERYWHERE,
    SCORES,
    TWENTYTHIRD,
)
from tests.prove.mutants import NEW
from tests.prove.test_loops import LATE
from tests.prove.test_loops import ONE as LONG


class Engine(NamedTuple):
    """What is dropped: (owner, name, what takes its place) each, and the paper, text and settings that show it."""

    what: str
    drops: tuple[tuple[Any, str, Any], ...]
    paper: str
    text: Mutant
    settings: dict[str, Any]


def _nothing(*_: Any, **__: Any) -> Iterator[Any]:
    yield from ()


def _of_example(self: Any, name: str, given: Any, named: Any) -> Any:
    """A method of an example in place of one of whatever was released."""
    return getattr(self.example, name)(*given, **named)


def _attack(name: str) -> tuple[str, Mutant, dict[str, Any]]:
    mutant = next(one for one in ATTACKS if one.name == name)
    return paper_of(mutant), mutant, SMALL[paper_of(mutant)]


def _of(paper: str, name: str) -> tuple[str, Mutant, dict[str, Any]]:
    mutant = next(one for one in (*NEW[paper], *FURTHER[paper]) if one.name == name)
    return paper, mutant, SMALL.get(paper, {"rounds": 1, "owners": 1, "depth": 2, "target": "regression"})


def _late(name: str) -> tuple[str, Mutant, dict[str, Any]]:
    what, path, replacement, settings = next(one for one in LATE if one[0] == name)
    paper = path.partition(":")[0].rpartition(".")[2]
    return paper, Mutant(what, {path: replacement}, "", settings), {**LONG[paper], "noise": "floating"}


def _hostile(name: str) -> tuple[str, Mutant, dict[str, Any]]:
    mutant = next(
        one
        for one in (*HOSTILE, *SIBLINGS, *NINTH, *TENTH, *ELEVENTH, *TWELFTH, *TWENTYTHIRD, *TWENTYFOURTH)
        if one.name == name
    )
    return paper_of(mutant), mutant, SMALL[paper_of(mutant)]


class _Everything:
    """A collection of everything."""

    def __contains__(self, _: Any) -> bool:
        return True


class _Natural(dict[str, magnitudes.Nature]):
    """What is known of unknowns, and that none is ever negative, or less than the number of all records."""

    def get(self, name: str, default: Any = None) -> magnitudes.Nature:
        found = replace(super().get(name, default), natural=True)
        return found if found.over is None else replace(found, records=True, over="all")


class _Ignored:
    """A list that keeps nothing, such as of what was raised."""

    def __get__(self, *_: Any) -> list[Any]:
        return []


def _always(*_: Any, **__: Any) -> bool:
    return True


def _same_world(self: Any, one: Any) -> Any:
    """The second neighbour is the first one: no record differs."""
    self.sums[one] = None
    return (common := self.reader.common(one)), common


INVERSE = Mutant(
    "leaves are inverse counts, infinite where there is no record",
    {"refdp.papers.dpboost:train_single_tree": edit(("value = np.clip(value, -clip, clip)", "value = 0.1 / count"))},
    "",
    {},
)
OUTSIDE = Mutant(
    "sums of all records are released at the price of a sample",
    {"refdp.papers.sgbdt:grow": edit(
        ("        with curator.subsample(",
         '        everybody = values(population.ask(Leaves(("g", "h"))))[0].T\n        with curator.subsample('),
        ('curator.release_sum("leaves", charge, population, Leaves(("g", "h")), lambda sums: sums[0].T)',
         'curator.release("leaves", charge, everybody)'))}, "", {})  # fmt: skip
BARE = Mutant(
    "residuals are divided by a released number that can be 0",
    {"refdp.own.grove:Contribution.statistics": edit((
        "label) / np.maximum(self.params.cut, GRID), 1.0))\n", "label) / self.params.cut, 1.0))\n"))}, "",
    {"target": "regression", "feature_share": 0.0, "rows": 100, "noise": "floating"})  # fmt: skip
AGAIN = (peeking, "_peeks", peeking._peeks.__wrapped__)
"""What was found in a text is not kept."""
WORDS = (syntax, "foreign", _nothing)
"""The list of all that a text may say, which refuses much that another check is about."""
LANGUAGE = (syntax, "beyond", _nothing)
"""The small language, which refuses more still."""
ROUNDED = ((releases, "too_far", lambda *_, **__: ""), (releases, "error_of", lambda _: -math.inf),
           (releases, "step_of", lambda _: -math.inf))  # fmt: skip
"""What float64 rounds of a value that is released."""
ENGINE: tuple[Engine, ...] = (
    Engine("no obligation has to be refuted", ((releases, "_must", _nothing),),
           *_of("dpboost", "leaves are released before clipping, and clipped then")),
    Engine("both neighbours are the same", ((tables.World, "pair", _same_world),),
           *_of("dpboost", "leaves are released before clipping, and clipped then")),
    Engine("no release is checked", ((obligations, "check", _nothing),),
           *_of("dpboost", "the declared bound of leaves 2 % smaller")),
    Engine("divisors may be 0",
           ((releases, "divisors", lambda _: []), (releases, "too_far", lambda *_, **__: "")),  # large of few
           "dpboost", INVERSE, SMALL["dpboost"]),
    Engine("releases are about whoever they are about", ((releases, "_scoped", _nothing),),
           "sgbdt", OUTSIDE, SMALL["sgbdt"]),
    Engine("a record decides any number of choices",
           ((releases, "_rows", _nothing),),
           *_attack("two choices at the price of one")),
    Engine("the cost of all releases is not compared", ((reading, "_overspent", _nothing),),
           *_of("dpboost", "Alg. 1, l. 1: leaves get the whole of a tree's budget")),
    Engine("the model is not looked at", ((reading, "plainly", _nothing), (Following, "_check_still", _nothing)),
           *_attack("a function in the model")),
    Engine("what is kept beside the model is not looked at",
           ((reading, "kept_beside", _nothing), LANGUAGE, WORDS),
           *_attack("an attribute of a function")),
    Engine("`train` may be anything", ((reading, "calls_train_on", _always),),
           *_attack("`train` looks at the records first")),
    Engine("how long released values are is that of the example", ((symbols.Known, "_fixed", lambda _: None),),
           *_attack("as many releases as released values say")),
    Engine("functions of released values may hold anything",
           ((symbols, "holds", lambda _: False), LANGUAGE),
           *_attack("a function along released values that releases")),
    Engine("names may be anything", ((obligations, "_named", lambda _: None),), *_attack("a step is named by a sum")),
    Engine("texts may ask who answers", ((syntax, "peeks", lambda _: []), WORDS),
           *_attack("an attribute that only arrays have")),
    Engine("handled errors are forgotten",
           ((terms.Unmodelled, "raised", _Ignored()), (syntax, "peeks", lambda _: []), WORDS),
           *_attack("errors are suppressed")),
    Engine("containers that outlive the run may change", ((reading, "changed", lambda *_: False), LANGUAGE),
           *_hostile("louder from the seventeenth call, counted in a dictionary by another name")),
    Engine("float64 has any digits and sizes",
           ROUNDED, *_hostile("digits lost beside a large number")),
    Engine("statistics may be of any kind of numbers", ((symbols, "WIDE", _Everything()),),
           *_hostile("statistics as small numbers without a sign")),
    Engine("texts may use numpy's own random numbers", ((syntax, "peeks", lambda _: []), WORDS, LANGUAGE),
           *_hostile("one run in a hundred is louder, by numpy's own random numbers")),
    Engine("any words may be used", (WORDS, LANGUAGE), paper_of(EIGHTH[0]), EIGHTH[0], SMALL["dpboost"]),
    Engine("arrays may be of texts", ((exchange, "_is_no_number", lambda _: False), LANGUAGE),
           *_hostile("own = np.array(['a' * 99])\nown[0] = leaf_value: own[0][-8:] == '2345670>'")),
    Engine("decimal numbers may follow their thread",
           ((reading, "NO_DECIMALS", decimal.Context()), LANGUAGE),
           *_hostile(next(one.name for one in CONTEXTS if one.name.endswith("own[0] / 3 < 0.1")))),
    Engine("texts of anything may be made", ((chance, "_is_plain", lambda _: True), AGAIN, LANGUAGE),
           *_hostile(next(one.name for one in ADDRESSES if one.name.startswith("own = zip")))),
    Engine("generators may stand in defaults",
           ((standing, "_fixed_or_used_up", lambda one, _: isinstance(one, ast.GeneratorExp)), LANGUAGE),
           *_hostile("reversed(range(999)) == 939")),
    Engine("names of Python's functions may mean anything", ((peeking, "BUILTINS", set()), AGAIN),
           *_hostile(NAMES[0].name)),
    Engine("functions are exchanged by their names", ((exchange, "_is_refdps", _always),),
           *_hostile("halved of its own")),
    Engine("several deviations may go along anything", ((releases, "_along", _nothing),), *_hostile(ALONG[0].name)),
    Engine("methods of an example are those of all", ((symbols.Known, "_of_private", _of_example), *ROUNDED),
           *_hostile(METHODS[0].name)),
    Engine("axes and sizes may be released",
           ((arithmetic, "sized", lambda *_: False),), *_hostile(LENGTHS[1].name)),
    Engine("arrays of lists are as long as the example's", ((exchange, "varies", lambda _: False),),
           *_hostile("for np.array([np.flatnonzero(uniform[0] > 0.6)])[0]")),
    Engine("there are as many ways and leaves as in the example", ((unknown, "varies", lambda _: False),),
           *_hostile("as many ways to split as a draw says")),
    Engine("tables are as long as the example's", ((tables.Table, "counted", lambda _: None),),
           *_hostile(LENGTHS[-1].name)),
    Engine("products of sums may be added",
           ((releases, "too_far", lambda terms, most, steps: magnitudes.too_far(terms)),), *_hostile(FLOATS[1].name)),
    Engine("sums are of few records", ((magnitudes, "LOST", math.inf), *ROUNDED),
           *_hostile(TIMES[0].name)),
    Engine("no sum is negative", ((magnitudes, "natures", _Natural()),), *_hostile(SIGNS[0].name)),
    Engine("the smaller of two is as large as the larger", ((magnitudes, "is_larger", _always),),
           *_hostile(SIGNS[1].name)),
    Engine("scores are of the size of 1", ((kinds, "_width", lambda *_: (False, False, False)),),
           *_hostile(next(one.name for one in FLOATS if "score * score" in one.name))),
    Engine("exponentials are small", ((contributed, "SMALL_EXPONENT", 700), (contributed, "too_far", lambda *_: ""),
            (contributed, "error_of", lambda _: -math.inf), (contributed, "order_of", lambda _: 0.0),
            (contributed, "step_of", lambda _: -math.inf)),
           *_hostile(next(one.name for one in FLOATS if "exp(" in one.name))),
    Engine("released numbers may be none",
           ((unknown.Unknown, "_divisor", lambda self, name, given, value, before: self._released(value)),),
           "grove", BARE, {"epsilon": 1.0, **SMALL["grove"]}),
    Engine("records may pay by any table", ((unknown, "_tabled", _nothing),), *_hostile(TABLES[0].name)),
    Engine("all states of rounds are equal",
           ((Loop, "_state", lambda *_: None), (loops, "abstract", lambda _: None), (plain, "rebound", _nothing)),
           *_late("a count of rounds beside the loop")),
    Engine("texts may keep a state beside local names",
           ((loops, "form_of", lambda *_: forms.Form(frozenset({"trees"}), frozenset())),
            LANGUAGE),
           *_late("a count of rounds in a list")),
    Engine("public numbers are of the size of 1", ((arithmetic, "orders", lambda _: (0.0, 0.0)),),
           *_hostile(ARRAYS[0].name)),
    Engine("what is rounded may meet a score", ((contributed, "_beside_any_size", _nothing),),
           *_hostile(SCORES[0].name)),
    Engine("a step of the grid may choose anything", ((magnitudes, "is_continuous", _always),),
           *_hostile(ABOVE[1].name)),
    Engine("parts without the record may be rounded", ((releases, "is_off", lambda _: False),),
           *_hostile(EVERYWHERE[0].name)),
    Engine("the grid has room for whatever is beside sums", ((releases, "many_of", lambda _: 0.0),),
           *_hostile(OFFSET[0].name)),
    Engine("what is still as a real number is rounded alike", ((releases, "error_of", lambda _: -math.inf),),
           *_hostile(HALF[0].name)),
)  # fmt: skip
