"""Which functions of a text change what they are given, one form of a statement at a time."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from refdp.prove.altering import _alters, _fresh, alters

CHANGING = [
    "a[0] = 1", "a[0][1] = 1", "del a[0]", "a += 1", "a.b += 1", "a.append(1)", "a.sort()", "a.b.append(1)",
    "np.add.at(a, 0, 1)", "b = a\n    b[0] = 1", "b = np.asarray(a)\n    b[0] = 1", "b = a.ravel()\n    b[0] = 1",
    "b = f(a)\n    b[0] = 1", "b = np.split(a)\n    b[0] = 1", "for b in a:\n        b[0] = 1",
    "b, c = a\n    b[0] = 1",
    "b = [1]\n    b = a\n    b[0] = 1", "b = c = a\n    c.pop()", "b, c = [1], a\n    c[0] = 1",
    "with a as b:\n        b[0] = 1", "[b.pop() for b in a]", "b: Any = a\n    b[0] = 1",
    "if (b := a):\n        b[0] = 1",
    "b = [1]\n    match a:\n        case b:\n            b[0] = 1",
    "b = [1]\n    match a:\n        case [*b]:\n            b[0] = 1",
]  # fmt: skip
QUIET = [
    "b = [1]\n    b[0] = 2", "b = {}\n    b[a] = 1", "b = a + 1\n    b += 1", "b = -a\n    b[0] = 1",
    "b = np.zeros(3)\n    b[0] = 1", "b = a.copy()\n    b[0] = 1", "b = list(a)\n    b.append(1)", "return np.sort(a)",
    "np.put(a, 0, 1)", "b, c = [1], {}\n    b[0] = c[1] = 2", "return a[0]", "return a.mean()",
    "b: Any = [1]\n    del b[0]",
    "b = 0\n    np.add.at(b, 0, 1)", "b = a > 1\n    b[0] = 1", "if (b := [1]):\n        b[0] = 2", "b = 1\n    b += a",
]  # fmt: skip


def function(body: str) -> ast.FunctionDef:
    (found,) = ast.parse(f"def f(a):\n    {body}\n").body
    assert isinstance(found, ast.FunctionDef)
    return found


@pytest.mark.parametrize("body", CHANGING)
def test_what_changes_an_argument(body: str) -> None:
    assert _alters(function(body)) is True


@pytest.mark.parametrize("body", QUIET)
def test_what_does_not(body: str) -> None:
    assert _alters(function(body)) is False


def test_names_of_what_a_function_makes_itself() -> None:
    assert _fresh(function("b, (c, d), e = [1], a, {}\n    d = [1]\n    x[b] = [2]")) == {"b", "e"}
    assert _fresh(function("a = [1]\n    b, c = 1, 2, 3\n    d = e = [1]")) == {"d", "e"}
    assert _fresh(function("b = g(a)\n    c = len(a)\n    d = a.b\n    e = a.view()\n    h: int")) == {"c"}


TEXT = '''
import numpy as np

def pure(a):
    return a + 1

def own(a):
    a[0] = 1

def calls(a):
    return own(a)

def later(a):
    b = lambda c: c.pop()
    return b(a)

def free(a):
    b = [1]
    b[0] = 2
    return pure(a)

class Held:
    def method(self):
        self.a.append(1)

    @property
    def shown(self):
        self.a.append(1)
        return 1

    @classmethod
    def made(cls, a):
        a.append(1)

    def still(self):
        return 1

def methods(a):
    return a.method()

def shows(a):
    return a.shown

def makes(a):
    return Held.made(a)

def stays(a):
    return a.still()

def libraries(a):
    return np.sort(a)
'''  # fmt: skip


def test_functions_and_what_they_call(tmp_path: Path) -> None:
    """Functions, methods, properties and class methods of the same text; libraries are not read."""
    path = tmp_path / "altered.py"
    path.write_text(TEXT, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("altered", path)
    assert spec is not None and spec.loader is not None
    text: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(text)
    names = ("own", "calls", "later", "methods", "shows", "makes", "pure", "free", "stays", "libraries")
    found = {name: alters(getattr(text, name)) for name in names}
    assert found == {name: name in names[:6] for name in names}
    assert alters(len) is False
    named: dict[str, Any] = {}
    exec("def without_text(a):\n    return a", named)
    assert alters(named["without_text"]) is True
