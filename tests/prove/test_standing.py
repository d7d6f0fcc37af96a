"""What may stand in a text outside its functions: nothing in which a state could be kept between two calls."""

from __future__ import annotations

import ast
import inspect
import math
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

from refdp.data import candidates, losses
from refdp.faces.registry import paper
from refdp.prove.standing import changeable, changes_standing
from refdp.prove.syntax import lines
from tests.prove.attacks import SMALL

PUSH = "def push(x):\n    x.append(1)\n"
KEEPING = {
    "a list through a helper": PUSH + "LOG = []\ndef f():\n    push(LOG)\n    return len(LOG)\n",
    "a list of a class": PUSH + "class A:\n    log = []\ndef f():\n    push(A.log)\n    return len(A.log)\n",
    "an array under another name": "LOG = np.zeros(1)\ndef f():\n    x = LOG\n    x[0] += 1\n    return LOG[0]\n",
    "an array through a helper": "LOG = np.zeros(1)\ndef add(x):\n    x += 1\ndef f():\n    add(LOG)\n",
    "numpy's add.at": "LOG = np.zeros(1)\ndef f():\n    np.add.at(LOG, 0, 1)\n    return LOG[0]\n",
    "a bound method": "LOG = []\nnote = LOG.append\ndef f():\n    note(1)\n    return len(LOG)\n",
    "a generator": "TURNS = (i == 6 for i in range(9))\ndef f():\n    for one in TURNS:\n        return one\n",
    "a map": "TURNS = map(int, [0, 0, 1])\ndef f():\n    for one in TURNS:\n        return one\n",
    "reversed": "TURNS = reversed([1, 2])\ndef f():\n    for one in TURNS:\n        return one\n",
    "a list in a tuple": PUSH + "LOG = ([],)\ndef f():\n    push(LOG[0])\n",
    "a list beside a number in a tuple": PUSH + "LOG = (1, [])\ndef f():\n    push(LOG[1])\n",
    "a list as one of two defaults in a tuple": PUSH + "def f(log=(1, [])):\n    push(log[1])\n",
    "a list in a table": PUSH + "LOG = {1: []}\ndef f():\n    push(LOG[1])\n",
    "a table in a table": "LOG = {1: {2: 3}}\ndef f():\n    x = LOG[1]\n    x[2] = 4\n",
    "a table handed on": PUSH + "LOG = {1: 2}\ndef f():\n    push(LOG)\n",
    "a table under another name": "LOG = {1: 2}\ndef f():\n    x = LOG\n    return x[1]\n",
    "a table's method": "LOG = {1: 2}\nchange = LOG.update\n",
    "a table returned": "LOG = {1: 2}\ndef f():\n    return LOG\n",
    "a table as a default": "LOG = {1: 2}\ndef f(x=LOG):\n    x.update(a=1)\n",
    "a default made in place": "def f(log=(x := [])):\n    log.append(1)\n    return len(log)\n",
    "a default in a tuple": PUSH + "def f(log=([],)):\n    push(log[0])\n",
    "a default of a lambda": PUSH + "f = lambda log=[[]][0]: push(log)\n",
    "an instance": PUSH + "class A:\n    x: list = field(default_factory=list)\nB = A()\ndef f():\n    push(B.x)\n",
    "a mark that closes over a list": PUSH + "def mark(g):\n    log = []\n    return lambda: push(log)\n"
    "@mark\ndef f():\n    return 1\n",
    "a function made by another": PUSH + "def make():\n    log = []\n    return lambda: push(log)\nF = make()\n",
    "a cached function that calls another": "from functools import cache\n" + PUSH
    + "def make():\n    return []\n@cache\ndef kept():\n    return make()\ndef f():\n    push(kept())\n",
    "a loop": "for x in (1, 2):\n    pass\n",
    "a branch": "if True:\n    LOG = 1\n",
    "with": "with open('x') as LOG:\n    pass\n",
}  # fmt: skip


@pytest.mark.parametrize("name", KEEPING)
def test_a_place_for_a_state_is_refused(name: str) -> None:
    assert list(lines(KEEPING[name]))


READ = """
import math
from collections.abc import Mapping
A, B = ("a", "b"), -1.5 * math.sqrt(2)
C = frozenset(x for x in range(3))
T: Mapping[str, float] = {"a": 1.0, **{}}
"""
FINE = """
from functools import lru_cache
A, B = ("a", "b"), -1.5 * math.sqrt(2)
NAMES = tuple(f"b{i}" for i in range(3))
TABLE = {"a": 1.0, ("b", A): (1, 2)}
MORE = {**TABLE, "c": 2.0}
NESTED = {"x": MORE, "y": {**TABLE}}
Kind = Callable[[int, list[float]], Mapping[str, float]]
class P:
    x: float = 1.0
    y: float | None = None
    names: ClassVar[tuple[str, ...]] = ("a",)
    @property
    def z(self): return TABLE["a"]
@lru_cache(maxsize=4)
def f(x=1.0, *, y=None, z=A):
    for one in TABLE:
        x = TABLE.get(one, 0)
    return Fraction(sum(TABLE.values()) + len(TABLE) + ("a" in TABLE) + g(**MORE) + sorted(TABLE)[0])
"""


def test_constants_and_tables_that_are_only_read_may_stand() -> None:
    assert not changes_standing(ast.parse(FINE))
    assert changes_standing(ast.parse(READ))  # a table made in place is none that is known


@pytest.mark.parametrize("name", SMALL)
def test_the_own_texts_keep_nothing(name: str) -> None:
    module = paper(name).module
    text = inspect.getsource(module)  # type: ignore[arg-type]
    assert not changes_standing(ast.parse(text)) and not changeable(vars(module), ast.parse(text))


def test_what_is_imported_and_could_change_is_told() -> None:
    """Values that came from elsewhere are looked at, not their text."""
    space = {
        "items": [1], "table": {1: 2}, "array": np.zeros(1), "turns": iter([1]), "queue": deque([1]), "pair": (1, [2]),
        "box": SimpleNamespace(x=1), "math": math, "grids": candidates, "LOG": losses.LOG, "number": 1.0, "f": abs,
    }  # fmt: skip
    used = ast.parse("items, table, array, turns, queue, pair, box, math.pi, grids.uniform, LOG, number, f, absent")
    assert changeable(space, used) == ["array", "box", "items", "pair", "queue", "table", "turns"]
    assert changeable(space, ast.parse("number, f, math.pi")) == []
    assert changeable(space, ast.parse("table = {1: 2}\nx = table[1]")) == []  # the text's own: see above
    through = {"module": SimpleNamespace, "inner": __import__("refdp.data.losses", fromlist=["x"])}
    assert changeable(through, ast.parse("inner.GRID, inner.LOG")) == []
