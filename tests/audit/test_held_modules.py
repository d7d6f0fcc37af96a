"""What a trainer's own module keeps from run to run, of whatever type it is and wherever it lies."""

from __future__ import annotations

import collections
import functools
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from refdp.audit import held
from refdp.audit.held import at_first, held_by

TEXT = """
import abc, array, collections, decimal, functools, io, itertools, json, logging, numpy as np, threading, types, typing
from typing import Literal
Norm = Literal[1, 2, "inf"]
LATE = None
SEEN, COUNTS, CACHE = collections.deque(), collections.Counter(), collections.defaultdict(list)
OWN, LOCK, AGAIN, LOG = threading.local(), threading.Lock(), threading.RLock(), logging.getLogger("keeping")
STEPS, LETTERS = itertools.count(), io.StringIO()
class Keeper(abc.ABC):
    frame = None
    inner = collections.OrderedDict()
    def method(self, kept=collections.deque()): return kept
    @staticmethod
    def plain(): return 1
    @property
    def shown(self): return 2
@functools.lru_cache(maxsize=None)
def prepared(size): return size
@functools.lru_cache(maxsize=2)
def bounded(size): return [size]
def train(kept=collections.deque()): return kept
def around():
    inside = collections.deque()
    def kept(): return inside
    return kept
closed = around()
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made = types.ModuleType("keeping")
    monkeypatch.setitem(sys.modules, "keeping", made)
    exec(TEXT, vars(made))
    at_first("keeping")
    yield made
    held._FIRST.clear()


WAYS = [
    "m.SEEN.append(n)", "m.COUNTS['n'] += n", "m.CACHE['y'].append(n)", "m.OWN.size = n", "m.LATE = m.np.float32(n)",
    "n > 1 and m.LOCK.acquire()", "[m.AGAIN.acquire() for _ in range(n)]", "[next(m.STEPS) for _ in range(n)]",
    "m.LETTERS.write(str(n))", "m.LATE = m.decimal.Decimal(n)", "m.LATE = m.array.array('d', [n])",
    "m.LATE = [m.collections.deque([n])]", "m.LATE = (one for one in [n])", "m.LATE = lambda: n",
    "m.LATE = m.functools.partial(int, n)", "m.LATE = type('K', (), {'n': n})", "m.LOG.setLevel(10 + n)",
    "m.Keeper.frame = m.types.SimpleNamespace(n=n)", "m.Keeper.inner['y'] = n", "m.Keeper.__secret__ = n",
    "m.Keeper.__doc__ = str(n)", "m.Keeper.method.__defaults__[0].append(n)", "m.Keeper.plain.n = n",
    "vars(m.Keeper)['plain'].n = n", "vars(m.Keeper)['shown'].fget.n = n", "n > 1 and m.Keeper.register(int)",
    "m.prepared(n)", "m.bounded(n)", "m.train.__defaults__[0].append(n)", "m.closed().append(n)",
    "m.train.__doc__ = str(n)", "m.train.__annotations__['n'] = n", "m.__secret__ = n", "m.__doc__ = str(n)",
    "m.train.__code__ = (lambda: 1).__code__ if n > 1 else (lambda: 2).__code__",
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_what_is_kept_is_told_whatever_its_type(way: str, module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for size in (1, 2):
        again = types.ModuleType("keeping")
        monkeypatch.setitem(sys.modules, "keeping", again)
        exec(TEXT, vars(again))
        at_first("keeping")
        exec(way, {"m": again, "n": size})
        found = held_by("keeping")
        assert found.opaque == []
        seen.append(found.lines)
    assert seen[0] != seen[1]
    again.LOG.setLevel(0)


def test_what_shows_nothing_is_named(module: Any) -> None:
    module.LATE = np.frompyfunc(len, 1, 1)
    module.Keeper.frame = types.SimpleNamespace(inside=np.frompyfunc(len, 1, 1))
    assert held_by("keeping").opaque == ["keeping.LATE", "keeping.Keeper.frame.inside"]


def test_what_is_imported_is_left_to_its_own_module(module: Any) -> None:
    places = {place.split(".")[1] for place, _ in held_by("keeping").lines}
    assert not places & {"abc", "np", "json", "collections", "functools"} and {"LATE", "Keeper", "Norm"} <= places


def test_a_things_own_code_that_raises_hides_it(module: Any) -> None:
    class Angry:
        def __call__(self) -> None: ...

        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

    module.LATE = Angry()
    assert "keeping.LATE" in held_by("keeping").opaque


def test_what_a_cache_keeps_is_in_its_order() -> None:
    for most in (None, 2):
        cached = functools.lru_cache(maxsize=most)(lambda one: [one])
        cached(7)
        cached(8)
        told = str(held._cached(cached))
        assert "7" in told and "[8]" in told and "lru" not in told


def test_locks_and_this_threads_own_variables() -> None:
    found = held._Held()
    own = threading.local()
    own.kept = collections.deque([3])
    found.look("x", [threading.Lock(), own])
    assert found.opaque == [] and dict(found.lines)["x[0] held"] == "<unlocked"
    assert "int 3" in dict(found.lines).values()


NOTEBOOK = """
import types
class Figure: pass
DATA, STEPS, HELD, ASIDE = [1], {"a": 2}, types.SimpleNamespace(x=0), types.SimpleNamespace(x=0)
FIGURES, IN_TEXT, OF_METHOD = [types.SimpleNamespace(x=0)], types.SimpleNamespace(x=0), types.SimpleNamespace(x=0)
class Trainer:
    def __call__(self, records, curator): OF_METHOD.x = 1
def train(records, curator):
    HELD.x = 1
    return [globals()["IN_TEXT"].x for _ in records]
"""


def test_a_notebook_is_looked_at_where_its_functions_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures and models of other cells are none of a trainer's; a shell's own inputs and outputs are left out."""
    made = types.ModuleType("__main__")
    exec(NOTEBOOK, vars(made))
    vars(made).update(In=["cell"], Out={})
    hidden = {"In": made.In, "Out": {}}  # type: ignore[attr-defined]
    shell = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(user_ns_hidden=hidden))
    monkeypatch.setitem(sys.modules, "__main__", made)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    told = {place.split(".")[1].split("[")[0] for place, _ in held_by("__main__").lines}
    assert {"DATA", "STEPS", "HELD", "IN_TEXT", "OF_METHOD", "Out", "train", "Trainer"} <= told
    assert not told & {"ASIDE", "FIGURES", "In"}
    before = held_by("__main__").lines
    made.HELD.x = 5  # type: ignore[attr-defined]
    assert held_by("__main__").lines != before
    monkeypatch.delitem(sys.modules, "IPython")
    assert any(place.startswith("__main__.In") for place, _ in held_by("__main__").lines)
