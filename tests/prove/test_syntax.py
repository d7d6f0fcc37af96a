"""What the syntax of a training text shows: each construct that is looked for beside one that is not."""

from __future__ import annotations

import ast
import contextlib
import inspect
import sys
from pathlib import Path
from textwrap import dedent, indent
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource
from refdp.prove import forms, peeking, plain
from refdp.prove.forms import Form, form_of
from refdp.prove.syntax import lines, refused

# --- Places to keep a state in ----------------------------------------------------------------------------------------

ASKING = ("next", "iter", "setattr", "delattr", "vars", "globals", "locals", "exec", "eval", "id", "open")
CHANGING = ("append", "extend", "add", "update", "insert", "pop", "remove", "clear", "setdefault", "popitem", "discard",
            "sort", "reverse", "fill", "put", "resize", "setflags", "send", "appendleft", "popleft", "rotate",
            "partition", "itemset", "byteswap", "setfield")  # fmt: skip
HIDING = [
    "def f():\n    global x\n", "def f():\n    def g():\n        nonlocal x\n", "def f(a):\n    a.b = 1\n",
    "def f(a):\n    del a.b\n", *(f"def f(a):\n    return {name}(a)\n" for name in ASKING),
    "def f(a=[]):\n    return a\n", "def f(a={}):\n    return a\n", "def f(a={1}):\n    return a\n",
    "def f(a=g()):\n    return a\n", "def f(*, a=[]):\n    return a\n", "f = lambda a=[]: a\n",
    "def f(a):\n    a[0] = 1\n", "def f(a):\n    del a[0]\n", "def f():\n    b[0] = 1\n", "def f(a):\n    a.b[0] = 1\n",
    *(f"def f(a):\n    b.{name}(1)\n" for name in CHANGING), "def f(a):\n    a.b.append(1)\n",
    "def f(a):\n    return g(1, out=a)\n", "def f():\n    yield 1\n", "def f():\n    yield from g()\n",
    "from functools import cache as kept\n", "import functools as tools\n@tools.cache\ndef f():\n    return []\n",
    "from functools import lru_cache as contextmanager\n@contextmanager\ndef f():\n    return 1\n",
    "f = cache(g)\n", "f = functools.cache(g)\n", "f = functools.lru_cache(maxsize=1)(g)\n",
    "from functools import lru_cache\ndef f(g):\n    return lru_cache(g)\n",
    *(f"@lru_cache(maxsize=1)\ndef f():\n    return {text}\n"
      for text in ("map(g, h)", "(map(g, h),)", "(x for x in h)")),
]  # fmt: skip
KEPT = "@lru_cache(maxsize=8)\ndef kept(a):\n    return np.array(a), 1\n"
HIDING += [KEPT + text for text in (
    "def f(a):\n    low, high = kept(a)\n    low[0] = 1\n", "def f(a):\n    low = kept(a)[0]\n    low += 1\n",
    "def f(a):\n    low = kept(a)[0]\n    low.sort()\n", "def f(a):\n    for one in kept(a):\n        one[0] = 1\n",
    "def f(a):\n    b = kept(a)\n    c = b[0]\n    c[0] = 1\n",
    "def f(a):\n    if (b := kept(a)[0]).any():\n        b[0] = 1\n",
    "def g(a):\n    return kept(a)[0]\ndef f(a):\n    b = g(a)\n    b[0] = 1\n",
    "def f(a):\n    b: Any = kept(a)[0]\n    del b[0]\n",
    "def g(a):\n    b = kept(a)\n    return b\ndef f(a):\n    b = g(a)[0]\n    b[0] = 1\n",
)]  # fmt: skip

HIDING += [f"def f(a):\n{indent(text, '    ')}\n" for text in (
    "*_, b = 0, [], a\nb += [1]", "b, *_ = [], a\nb += [1]", "b, c = *a, []\nc += [1]",
    "c, b, _ = *a, [], *a\nb += [1]",
    "b = []\nb[\n    0:0\n] = [1][: len(b := a)]", "b = []\nb[0] = (\n    1, (b := a))",
    "b = []\nc = (b.pop()\n     if (b := a) else 0)", "b = []\nif (b.pop()\n        if (b := a) else 0):\n    pass",
    "listed = np.zeros(3)\nb = listed.copy()\nc = b[0]\nb[0] = 1.0",
    "listing = g(a)\nb = listing[0].copy()\nc = b[0]\nb[0] = 1.0",
    "b = np.zeros(2)\n*b[0], c = b[1], 0\nb[1] = 1.0",
)]  # fmt: skip
OWN = [f"def f(a):\n{indent(text, '    ')}\n" for text in (
    "c, b = a, []\nb += [1]", "b = []\nb[0:0] = [1]\nb = a", "b = list(a)\nc = b[0]\nb.append(1)",
    "b = list[int](a)\nc = b[0]\nb.append(1)", "b = []\nif a:\n    b.append(1)\nb = a",
)]  # fmt: skip


@pytest.mark.parametrize("text", HIDING)
def test_texts_with_a_place_for_a_state(text: str) -> None:
    assert list(lines(text))


@pytest.mark.parametrize("text", OWN)
def test_texts_that_change_what_they_have_made(text: str) -> None:
    assert not list(lines(text))


def test_a_text_that_breaks_a_rule_is_not_read(tmp_path: Path) -> None:
    for number, text in enumerate(("def kept():\n    return []\n", "@functools.cache\ndef kept():\n    return []\n")):
        module = ModuleType("text")
        module.__file__ = str(tmp_path / f"text{number}.py")
        Path(module.__file__).write_text("import math\n" + text, encoding="utf-8")
        found = [one.reason for one in refused(module)]
        assert ("kept is marked by functools.cache" in found) == bool(number)
        assert number or found[0].endswith("text0.py, which is imported by no name")


# --- Forms of loops ---------------------------------------------------------------------------------------------------


def form(tmp_path: Path, body: str, before: str = "") -> Form | None:
    """Of a loop `for i in rounds:` with this body."""
    own = dedent(body).strip().splitlines()
    text = f"{before}for i in rounds:\n" + "".join(f"    {line}\n" for line in own)
    path = tmp_path / f"loop{abs(hash(text))}.py"
    path.write_text(text, encoding="utf-8")
    return form_of(str(path), 1 + before.count("\n"))


@pytest.mark.parametrize(("body", "grown", "kept"), [
    ("a = f(i)\nb = a", "", "f"),
    ("b = a\na = i", "", "a"),
    ("a: int = b\nb = 1", "", "b"),
    ("found.append(i)", "found", ""),
    ("found += [i]", "found", ""),
    ("found.append(found[-1] + len(found))", "found", "len"),
    ("found = []\nfound.append(i)\nx = found", "", ""),
    ("x[k] = y", "", "k x y"),
    ("if c:\n    a = 1\nelse:\n    a = 2\nb = a", "", "c"),
    ("if c:\n    a = 1\nb = a", "", "a c"),
    ("if c:\n    a = 1\nelse:\n    d = 2\nb = a", "", "a c"),
    ("if c:\n    pass\nelse:\n    a = 2\nb = a", "", "a c"),
    ("if c:\n    a = e\nelse:\n    a = d\n", "", "c d e"),
    ("for k in ks:\n    a = k\nb = a", "", "a ks"),
    ("for k in ks:\n    a = a + k\nelse:\n    z = y", "", "a ks y"),
    ("with c as d:\n    a = d\nb = a", "", "c"),
    ("with c:\n    a = b", "", "b c"),
    ("with c as d[f]:\n    pass", "", "c d f"),
    ("a = [k + m for k in ks]", "", "k ks m"),  # k may be a name of the text, too
    ("a = lambda k: k + m", "", "k m"),
    ("a, b = c\nd = a + b", "", "c"),
    ("(a, b[k]) = c", "", "b c k"),
    ("a += b", "a", "b"),
    ("a -= b", "", "a b"),
    ("assert a", "", "a"),
    ("return a", None, None),
    ("if a:\n    break", None, None),
    ("for k in ks:\n    break", None, None),
    ("a: int\nb = a", "", "a"),
    ("for k[0] in ks:\n    a = k", "", "k ks"),
])  # fmt: skip
def test_what_rounds_carry_over(body: str, grown: str | None, kept: str | None, tmp_path: Path) -> None:
    found = form(tmp_path, body)
    if grown is None or kept is None:
        assert found is None
    else:
        assert found == Form(frozenset(grown.split()), frozenset(kept.split()))


@pytest.mark.parametrize("body", ["found.append(i)\nx = found", "found.append(found[0])",
        "found.append(i)\ny = found[k]",
                                  "found.append(sum(found))", "y = found\nfound.append(i)"])  # fmt: skip
def test_lists_that_rounds_look_into_have_no_form(body: str, tmp_path: Path) -> None:
    assert form(tmp_path, body) is None


def test_loops_that_have_no_form(tmp_path: Path) -> None:
    body = "a = i"
    assert form(tmp_path, body) is not None and form(tmp_path, body, "x = 1\n") is not None
    path = tmp_path / "more.py"
    path.write_text("for i in a:\n    b = i\nelse:\n    c = 1\n\nfor i in a: b = i\nx = 1\n", encoding="utf-8")
    assert form_of(str(path), 1) is None and form_of(str(path), 7) is None and form_of(str(path), 6) is not None
    assert form_of(str(tmp_path / "none.py"), 1) is None


# --- Loops and names at run time --------------------------------------------------------------------------------------


class Watched:
    """Notes how it is gone over."""

    def __init__(self, seen: list[Any]) -> None:
        self.seen = seen

    def __iter__(self) -> Any:
        frame = inspect.currentframe()
        assert frame is not None and frame.f_back is not None
        above = frame.f_back
        self.seen.append((forms.is_for(above.f_code, above.f_lasti), forms.is_unpacked(above)))
        return iter((1, 2))


def test_what_goes_over_a_value() -> None:
    """A `for` asks for what it goes over by a call just before; names on the left unpack it."""
    seen: list[Any] = []
    watched = Watched(seen)
    a, b = watched
    for _ in watched:
        pass
    list(watched)
    assert [one[1] for one in seen] == [True, False, False] and a + b == 3

    def called() -> Any:
        frame = inspect.currentframe()
        assert frame is not None and frame.f_back is not None
        seen.append(forms.is_for(frame.f_back.f_code, frame.f_back.f_lasti))
        return (1,)

    seen.clear()
    for _ in called():
        pass
    _ = [one + 0 for one in called()]
    called()
    first = called()
    assert seen == [True, False, False, False] and first == (1,)


# --- Who answers ------------------------------------------------------------------------------------------------------

TELLING = [
    *(f"x = {name}(a)" for name in sorted(peeking.ASKING)), "x = np", "f(np)", "x = a.__class__", "x = a._inner",
    *(f"x = a.{name}" for name in sorted(peeking.OTHERS)), "x = np.random_like(a)", "x = np.load(a)",
    "with np.errstate(over='raise'):\n    pass", "with np.errstate('ignore'):\n    pass",
    "with np.errstate(**a):\n    pass", "with np.errstate(over='ignore', under='warn'):\n    pass", "x = np.errstate",
    "x = a is b", "x = a is not b", "x = a is None is not b is c", "match a:\n    case True:\n        pass",
    "Relation = a",
    "Splits = a", "class Relation:\n    pass", "class Splits(Other):\n    pass", "try:\n    pass\nexcept A:\n    pass",
    "def __eq__(a, b):\n    pass", "match a:\n    case A():\n        pass", "match a:\n    case [1, 2]:\n        pass",
    "match a:\n    case {'a': 1}:\n        pass", "import os", "import refdp.prove", "from refdp.prove import open",
    "from os import path", "import numpy", "import numpy as n", "from numpy import random", "import numpy.linalg as np",
    "from math import _inner", "from functools import singledispatch", "x = getattr(a, 'b')",
    "x = getattr(self, 'b', 1)", "x = getattr(self)",
    "x = getattr(self, name)", "x = getattr(self, '__class__')", "x = isinstance(a, Unknown)",
    "x = isinstance(a, (int, Memory))",
]  # fmt: skip
SILENT = [
    "x = np.exp(a)", "x = np.float64", "x = self._inner", "x = cls._inner",
    "with np.errstate(over='ignore'):\n    pass",
    "with np.errstate(over='ignore', under='ignore'):\n    pass", "x = a is None", "x = None is not a", "x = a == b",
    "x = a is Relation.ADD_REMOVE", "x = Splits.A is a", "match a:\n    case None:\n        pass",
    "match a:\n    case 1:\n        pass", "class Relation(StrEnum):\n    pass", "class Other:\n    pass", "other = a",
    "x = Relation", "def __post_init__(self):\n    pass", "def f():\n    pass", "import math", "import numpy as np",
    "from numpy.typing import NDArray", "from __future__ import annotations", "from refdp.data import kernels",
    "for name in ('depth', 'trees'):\n    x = getattr(self, name)", "x = getattr(self, 'depth')",
    f"x = isinstance(a, {sorted(peeking.KINDS)[0]})", "x = a.real", "x = len(a)",
]  # fmt: skip


@pytest.mark.parametrize("text", TELLING)
def test_what_tells_who_answers(text: str) -> None:
    found = peeking.peeks("y = 0\n" + text)
    assert found and all(line >= 2 for line, _ in found) and found[0][1]


@pytest.mark.parametrize("text", SILENT)
def test_what_does_not(text: str) -> None:
    assert peeking.peeks(text) == []


@pytest.mark.parametrize("name", sorted(peeking.PURE - {"errstate", "empty", "empty_like", "ndarray"}))
def test_numpys_functions_of_their_arguments_alone(name: str) -> None:
    assert peeking.peeks(f"x = np.{name}(a)") == [] and ast.parse(name)


@pytest.mark.parametrize(("file", "text"), [
    ("/a/refdp/papers/sgbdt.py", True), ("/a/refdp/own/grove.py", True), ("C:\\a\\refdp\\own\\x.py", True),
    ("<mutant 3>", True), ("/a/refdp/prove/open.py", False), ("/a/refdp/data/kernels.py", False), ("x<mutant", False),
])  # fmt: skip
def test_files_that_are_training_texts(file: str, text: bool) -> None:
    assert peeking.is_text(file) is text


def test_a_text_sees_only_what_the_protocol_has() -> None:
    class Guarded:
        open_one, other = 1, 2

        def __getattribute__(self, name: str) -> Any:
            return peeking.guarded(self, name, {"open_one"}, LookupError)

    own = Guarded()
    assert own.open_one == 1 and own.other == 2
    room: dict[str, Any] = {"own": own}
    exec(compile("x = own.open_one\n", "<mutant>", "exec"), room)
    assert room["x"] == 1
    with pytest.raises(LookupError, match="other of the population or the curator"):
        exec(compile("x = own.other\n", "<mutant>", "exec"), room)
    exec(compile("x = own.other\n", "<elsewhere>", "exec"), room)
    assert room["x"] == 2


# --- Names, and what writes -------------------------------------------------------------------------------------------

NAMED = [
    ('curator.step(f"tree {ask()}")', True),
    ('curator.release(f"leaves {ask()}", 1, 2)', True),
    ('curator.step(\n    f"tree {ask()}"\n)', True),
    ('curator.draw(\n    f"a",\n    ask(),\n)', True),
    ("held = ask()", True),
    ('held = f"tree {ask()}"', False),
    ('curator.release("leaves", f"{ask()}")', False),
    ('curator.step(f"tree"); held = f"{ask()}"', False),
    ('curator.step(f"tree {ask()}", f"more")', False),
    ('curator.event(f"tree {ask()}")', False),
    ('other.step(f"tree {ask()}")', False),
    ('other.curator.step(f"tree {ask()}")', False),
    ('step(f"tree {ask()}")', False),
    ('held = [\n    f"tree {ask()}",\n]', False),
]


@pytest.mark.parametrize(("line", "found"), NAMED)
def test_texts_that_a_curator_gets_as_names_are_told_from_others(line: str, found: bool, tmp_path: Path) -> None:
    """All that are put together in a line are names of the curator's, or none is."""
    told: list[bool] = []

    def ask(*_: Any) -> int:
        told.append(forms.is_name(sys._getframe(1)))
        return 3

    def nothing(*_: Any) -> None:
        pass

    names_of = dict.fromkeys(("step", "release", "draw", "event"), nothing)
    file, quiet = tmp_path / "text.py", SimpleNamespace(**names_of, curator=SimpleNamespace(**names_of))
    file.write_text(f"def run(ask, curator, other, step):\n    x = 1\n    {line.replace(chr(10), chr(10) + '    ')}\n")
    names: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    for curator, due in ((Curator(SampleSource(np.random.default_rng(0)), Relation.ADD_REMOVE), found), (quiet, False)):
        told.clear()
        with contextlib.suppress(Exception):
            names["run"](ask, curator, quiet, nothing)
        assert told == [due]


def out_at(name: str, method: bool) -> int | None:
    """After how many arguments comes the one that the result is written to, as numpy's own signature says."""
    try:
        parameters = list(inspect.signature(getattr(np, name)).parameters.values())
    except (AttributeError, TypeError, ValueError):
        return None
    places = [
        place for place, one in enumerate(parameters) if (one.name, one.kind) == ("out", one.POSITIONAL_OR_KEYWORD)
    ]
    return places[0] - method if places else None


@pytest.mark.parametrize("name", ["multiply", "maximum", "sqrt", "exp", "where", "clip", "sum", "mean", "prod", "any",
                                  "cumsum", "max", "argmax", "take", "trace", "std", "round"])  # fmt: skip
def test_results_that_are_written_to_an_argument_are_seen(name: str) -> None:
    """With as many arguments as numpy's function or the array's method has before it there is no room for it."""
    before = getattr(getattr(np, name), "nin", None) or (3 if name == "where" else out_at(name, False))
    assert before is not None

    def written(start: str, count: int, star: bool = False) -> bool:
        given = ", ".join([f"a{k}" for k in range(count)] + ["*more"] * star)
        found = plain.beyond(ast.parse(f"def f():\n    return {start}.{name}({given})\n"))
        return any("whose result goes to" in reason for _, reason in found)

    assert not written("np", min(before, 2)) and written("np", before + 1)
    assert written("np", 0, star=True) and written("np", 1, star=True)
    at = out_at(name, True)
    if at is not None and hasattr(np.zeros(1), name):
        assert not written("held", min(at, plain.ARGUMENTS[name])) and written("held", at + 1)
        assert written("held", 0, star=True) and written("held", 1, star=True)
