"""The small language of training texts: what is of it, and what is not."""

# ruff: noqa: E501

from __future__ import annotations

import ast
import inspect

import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

from refdp.own import grove
from refdp.papers import dpboost, dpxgboost, fedgbdt, inprivate, sgbdt
from refdp.prove.plain import beyond

IN = "def f(y, ys):\n    "
PLAIN = (
    f"{IN}x = []\n    for one in ys:\n        x.append(one)\n        g(x[-1], len(x))\n    return tuple(x)\n",
    f"{IN}for one in ys:\n        x = []\n        x.append(one)\n        g(x)\n",
    f"{IN}for one in ys:\n        with h():\n            x = []\n        x.append(np.empty((2, 0)))\n        g(x)\n",
    f"{IN}x, z = np.zeros(3), list[int]()\n    x[0] = 1.0\n    z += [1]\n    return x, z\n",
    f"{IN}x = np.zeros(3)\n    x[0] += 1\n    return x\n", f"{IN}x = y.copy()\n    np.add.at(x, 0, 1.0)\n    return x\n",
    f"{IN}x = {{}}\n    x |= {{1: y}}\n    z = sum(x.values()) + x.pop(1)\n    return x, z\n",
    f"{IN}for one in ys:\n        x = []\n        x.append(one)\n        x = g(x)\n    return x\n",
    f"{IN}from math import pi\n    return pi if y is None or y is Relation.ADD_REMOVE else y.get(1, 2)\n",
    f"{IN}def g(z):\n        return z + y\n    return g(1)\n", f"{IN}return y in {{'a', 'b'}}, y.clip(0, 1), y.sum(0)\n",
    "@dataclass(frozen=True)\nclass A:\n    b: float = 1.0\n    c = ('g', 'h')\n\n    def d(self):\n        return self.b\n",
    "class A(NamedTuple):\n    b: float\n", "class A(StrEnum):\n    B = 'b'\n",
    f"{IN}x, z = np.zeros(3), y\n    np.add.at(x, 0, 1)\n    return curator.partition(x, np.add(z, 1))\n",
    "@contextmanager\ndef f():\n    yield 1\n", "import math\nx = 1\n", "import numpy as np\nfrom refdp.data import a as b\n",
    f"{IN}x = np.zeros((2, 2))\n    x[1] = x[0]\n    z = float(x[0, 0]) + x[1, 0]\n    x[0] = 1\n    return z\n",
    f"{IN}z = 1\n    for one in ys:\n        g(one, lambda a: a + y + z)\n    return [*zip(y, ys)]\n",
    f"{IN}x = np.intp, np.inf, np.newaxis\n    return curator.release_sum(x, np.ravel), y.T, y.shape, y.values\n",
    "@dataclass(frozen=True)\nclass A:\n    clip: float\n\ndef f(a: A) -> float:\n    return g(a.clip, a.clip)\n",
    f"{IN}for one in ys:\n        x = [0]\n        x[0] = one\n        g(x)\n",
    "def values():\n    return 1\n\ndef f(values):\n    return values[0] + g(values)\n",
    "def f(curator: Curator, population: Population):\n    return curator.step('a')\n",
    "def f(batches):\n    population = Memory(batches[0])\n    return population\n",
    "class A(NamedTuple):\n    b: float\n\n    def c(self):\n        return [self.b for b in (1, 2)]\n",
    f"{IN}return [z for z in y], [z + 1 for z in ys], sorted(y, key=lambda w: -w)\n",
    f"{IN}return y == ys, y == 'a', y in ('a', 'b'), y[1] == (1, 2)\n",
    f"{IN}x = np.zeros(3)\n    z = y * x[0] + x[1]\n    x[0] = 1\n    return z\n",
    f"{IN}x = list(zip(y, ys, strict=True))\n    return tuple(map(f, x)), sum(z for z in y), ','.join(z for z in y)\n",
    f"{IN}x = np.where(y, 1, 2).sum(0)\n    return np.linspace(0, 1, 3), f(*y), [z for z in y.values()]\n",
)  # fmt: skip
BEYOND = {
    # statements
    "while True:\n    pass\n": "kind While", "try:\n    f()\nexcept E:\n    pass\n": "kind Try",
    "match x:\n    case 1:\n        pass\n": "kind Match", "for x in y:\n    continue\n": "kind Continue",
    "for x in y:\n    break\n": "kind Break", "del x\n": "kind Delete", "def f():\n    global x\n": "kind Global",
    f"{IN}if y:\n        import math\n": "import within", "for x[0] in y:\n    f()\n": "a loop over what is no name",
    "x = [1 for y.z in z]\n": "a loop over what is no name", "for x in y:\n    f()\nelse:\n    g()\n": "else after",
    "with f() as (x, y):\n    g()\n": "what a with opens", "x.y = 1\n": "an attribute that is set",
    "x = {y}\n": "a set", "x = {y for y in z}\n": "a set", "x = np.add.accumulate(y)\n": "accumulate of numpy's add",
    # classes
    "class A:\n    b: float\n": "neither", "@dataclass\nclass A:\n    b: float\n": "neither",
    "@dataclass(frozen=True)\nclass A(list):\n    b: float\n": "neither", "class A(Budget):\n    pass\n": "neither",
    "class A(int):\n    b = 1\n": "neither", "@dataclass(frozen=True, eq=False)\nclass A:\n    b: float\n": "neither",
    "def f():\n    @dataclass(frozen=True)\n    class A:\n        b: float\n": "a class within",
    "@dataclass(frozen=True)\nclass A:\n    b: list = g()\n": "no constant",
    "@dataclass(frozen=True)\nclass A:\n    b = []\n": "no constant", "class A(StrEnum):\n    B = auto()\n": "no constant",
    "@dataclass(frozen=True)\nclass A:\n    for x in y:\n        pass\n": "a statement in the class",
    **{f"@dataclass(frozen=True)\nclass A:\n    {name}: float\n": f"{name} of A, which arrays"
       for name in ("example", "listed", "least", "size", "shape", "copy", "loop", "settled", "pop")},
    "@dataclass(frozen=True)\nclass A:\n    def __eq__(self, other):\n        return True\n": "__eq__ of A",
    # functions
    "@lru_cache(maxsize=64)\ndef f():\n    return 1\n": "is marked by", "@cache\ndef f():\n    return 1\n": "is marked by", "@twice\ndef f():\n    return 1\n": "is marked by",
    "def f():\n    yield 1\n": "a generator", f"{IN}for one in ys:\n        def g():\n            return one\n": "within a loop",
    f"{IN}def g():\n        return 1\n    for one in ys:\n        h()\n": "beside or within a loop",
    # calls
    "x = max(y, key=f)\n": "with names", "x = sum((), y)\n": "begins with", "x = y is z\n": "one object",
    "x = y is z is None\n": "one object", "x = y is not Relation.other\n": "one object", "x = y.ravel('K')\n": "with a text",
    "x = np.ravel(y, 'K')\n": "with a text", "x = y.copy('F')\n": "with", "x = y.get(1)\n": "gives None",
    "x = np.array(y, copy=False)\n": "may make no array", "x = np.uint8(3)\n": "kind uint8",
    "x = np.float32(3)\n": "kind float32", "x = y.var(0, None, z)\n": "one of its arguments",
    "x = y.clip(0, 1, z)\n": "one of its arguments", "x = y.sum(0, None)\n": "one of its arguments",
    # changes
    f"{IN}y.append(1)\n": "not made itself", f"{IN}y[0] = 1\n": "not made itself", f"{IN}y += 1\n": "not made itself",
    f"{IN}x = y\n    x[0] = 1\n": "not made itself", f"{IN}x = y[1:]\n    x[0] = 1\n": "not made itself",
    f"{IN}x = np.asarray(y)\n    x[0] = 1\n": "not made itself", f"{IN}x = np.einsum(y)\n    x[0] = 1\n": "not made itself",
    f"{IN}x = sum(y)\n    x.append(1)\n": "not made itself", f"{IN}x = [] if y else ys\n    x.append(1)\n": "not made",
    f"{IN}x = z = []\n    x.append(1)\n": "not made itself", f"{IN}x = []\n    x[0].append(1)\n": "not made itself",
    f"{IN}for x in ys:\n        x.append(1)\n": "not made itself", f"{IN}np.add.at(y, 0, 1)\n": "not made itself",
    f"{IN}x = []\n    x = y\n    x.append(1)\n": "not made itself", f"{IN}x = y.copy(1)\n    x[0] = 1\n": "not made itself",
    f"{IN}x = []\n    for one in ys:\n        x.append(1)\n        x = y\n": "not made itself",
    f"{IN}x = []\n    z = lambda: x.append(1)\n": "elsewhere than in a statement",
    f"{IN}x = []\n    z = [x.append(1) for one in ys]\n": "elsewhere", f"{IN}x = []\n    z = x.append\n": "by another name",
    f"{IN}x = {{}}\n    z = [x.pop(1) for one in ys]\n": "not made itself",
    f"{IN}x = []\n    g(x)\n    x.append(1)\n": "handed on", f"{IN}x = []\n    z = x\n    x.append(1)\n": "handed on",
    f"{IN}x = []\n    z = lambda: x\n    x.append(1)\n": "handed on", f"{IN}x = [0]\n    z = [x]\n    x[0] = 1\n": "handed on",
    f"{IN}x = []\n    for one in ys:\n        x.append(1)\n        g(x)\n": "handed on",
    f"{IN}x = [0]\n    for one in ys:\n        x[0] = one\n        g(x)\n": "handed on",
    f"{IN}for one in ys:\n        if one:\n            x = []\n        x.append(1)\n        g(x)\n": "handed on",
    f"{IN}x = [[0]]\n    x[0] += [1]\n": "in place", f"{IN}x = {{}}\n    x[0] |= y\n": "in place",
    f"{IN}x = list(y)\n    x[0] += 1\n": "in place", f"{IN}x = y.copy()\n    x[0] += 1\n": "in place",
    f"{IN}for x in ys:\n        x[0] = 1\n": "not made itself", f"{IN}with y as x:\n        x[0] = 1\n": "not made itself",
    f"{IN}x = [1]\n    x, z = y\n    x[0] = 1\n": "not made itself", f"{IN}x = y.ravel()\n    x[0] = 1\n": "not made",
    f"{IN}if (x := y):\n        x[0] = 1\n": "not made itself", f"{IN}x: Any = y\n    x[0] = 1\n": "not made itself",
    f"{IN}x = [1, 2]\n    np.add.at(x, 0, 1)\n": "not always zeros", f"{IN}x = np.arange(3)\n    np.add.at(x, 0, 1)\n": "not always",
    f"{IN}z = np.add.at\n": "at by another name", f"{IN}z = [np.add.at]\n": "at by another name",
    "f = lambda x: x.append(1)\n": "stands outside of functions", "def f(g=lambda x: x.append(1)):\n    return g\n": "no name",
    "TABLE[1] = 2\n": "changed outside", "f = lambda: (yield)\n": "no name", f"{IN}x = lambda: (yield)\n": "a generator",
    # iterators
    f"{IN}x = zip(y, ys)\n": "not gone over", f"{IN}x = map(f, y)\n": "not gone over", f"{IN}x = (z for z in y)\n": "not gone over",
    f"{IN}x = enumerate(y)\n": "not gone over", f"{IN}x = reversed(y)\n": "not gone over", f"{IN}return (z for z in y)\n": "not gone",
    f"{IN}x = {{}}\n    z = x.values()\n": "not gone over", f"{IN}z = y.items()\n": "not gone over",
    f"{IN}x = y.keys()\n": "can meet", f"{IN}x = y.keys\n": "can meet", f"{IN}for x in y.keys():\n        pass\n": "can meet",
    f"{IN}x = y.items\n": "can meet", f"{IN}x = list(map(dict.items, y))\n": "can meet", f"{IN}x = list(y.items() | z)\n": "not gone over",
    f"{IN}x = [y.items()]\n": "not gone over", f"{IN}for x in (y.items(), z):\n        pass\n": "not gone over", f"{IN}return y.items()\n": "not gone",
    f"{IN}x = g(map(f, y))\n": "not gone over", f"{IN}x = [map(f, y)]\n": "not gone over", f"{IN}x, z = map(f, y)\n": "not gone over",
    f"{IN}x = np.zeros(3)\n    g(x[:])\n    x[0] = 1\n": "handed on", f"{IN}x = np.zeros(3)\n    z = x[0]\n    x[0] = 1\n": "handed on",
    f"{IN}x = 1\n    g(lambda: x)\n    x = 2\n": "bound anew", f"{IN}for x in ys:\n        g(lambda: x)\n    x = 2\n": "bound anew",
    f"{IN}def g():\n        return x\n    x = 2\n": "bound anew",
    f"{IN}for x in ys:\n        g(lambda: x)\n": "bound anew", f"{IN}x = 1\n    g(lambda: x)\n    z = [0 for w in y if (x := w)]\n": "bound anew",
    f"{IN}z = [lambda: w for w in y]\n": "bound anew", f"{IN}def g():\n        return 1\n    h(lambda: g())\n    def g():\n        return 2\n": "bound anew",
    f"{IN}from math import pi as x\n    h(lambda: x)\n    from math import e as x\n": "bound anew",
    f"{IN}x = 1\n    g(lambda: x + (lambda x: x)(1))\n    return x\n": "x means two things", f"{IN}return lambda y: y\n": "y means two things",
    f"{IN}x = 1\n    def g(x):\n        return x\n": "x means two things", f"{IN}g(lambda: y)\n    y = 2\n": "bound anew",
    f"{IN}with g() as x:\n        h(lambda: x)\n    with g() as x:\n        h(x)\n": "bound anew",
    # what names mean
    "def g():\n    return 1\n\ndef f(g):\n    return g()\n": "g, which f has for something else",
    "def g():\n    return 1\n\ndef f(y):\n    g = lambda: y\n    return g()\n": "g, which f has for something else",
    "def g():\n    return 1\n\ndef f(y):\n    return [g for g in y]\n": "g means two things in f",
    "def g():\n    return 1\n\ndef f(y):\n    return lambda g: y\n": "g means two things in f",
    "from refdp.data import losses\n\ndef f(losses):\n    return losses.GRID\n": "losses, which f has",
    "def g():\n    return 1\n\ndef g():\n    return 2\n": "g means two things", "x = 1\ndef x():\n    return 2\n": "x means two things",
    "from refdp.data.losses import GRID as g\n\ndef g():\n    return 2\n": "g means two things",
    "def g():\n    return 1\n\nx = [1 for g in (1, 2)]\n": "g means two things",
    "from refdp.data import losses as np\n": "np means two things", "from refdp.data.losses import GRID as numbers\n": "numbers means",
    "def f(np):\n    return np\n": "np for something else", "def f(y):\n    return [1 for np in y]\n": "np for something else",
    "def f(y):\n    math = y\n": "math for something else", "def f(curator):\n    return 1\n": "curator for something else",
    "def f(curator: Any):\n    return 1\n": "curator for", "def f(y):\n    curator = y\n": "curator for", "def f(y):\n    population = g(y)\n": "population for",
    "def f(y):\n    return lambda curator: curator\n": "curator for", "def f(y, self):\n    return self\n": "self elsewhere", "def f(y):\n    self = y\n": "self elsewhere",
    "class A(NamedTuple):\n    step: Any\n": "step of A", "class A(NamedTuple):\n    b: int\n\n    def draw(self):\n        return 1\n": "draw of A",
    "class A(NamedTuple):\n    charge: Any\n": "charge of A", "class A(NamedTuple):\n    searchsorted: Any\n": "searchsorted of A",
    # functions and methods as values
    "x = np.multiply\n": "np.multiply elsewhere", "x = (np.clip, 1)[0](y, 0, 1)\n": "np.clip elsewhere", "x = list(map(np.add, y))\n": "np.add elsewhere",
    "x = np.add\n": "np.add elsewhere", "x = y.clip\n": "y.clip elsewhere", "x = list(map(y.clip, z))\n": "y.clip elsewhere", "x = [].index\n": "index elsewhere",
    "x = y.take\n": "y.take elsewhere", "x = {}.get\n": "get elsewhere", "x = curator.release(y, np.ravel)\n": "np.ravel elsewhere",
    **{f"class A(NamedTuple):\n    clip: float\n    b: Any\n\n    @property\n    def c(self):\n        return self.b\n\n{IN}{line}\n": "with three arguments"
       for line in ("x = y.clip\n    x(0, 1, ys)", "(y.clip, 1)[0](0, 1, ys)", "y(*ys)", "list(map(y.clip, ys, ys, ys))", "A(1, y.clip).b(0, 1, ys)",
                    "A(1, y.clip).c(0, 1, ys)", "(y.clip if ys else y)(0, 1, ys)")},
    # rounds
    f"{IN}x = [0]\n    for one in ys:\n        if one:\n            x[0] = 1\n        x = [0]\n        if not one:\n            g(x)\n": "handed on",
    f"{IN}z = []\n    for one in ys:\n        if one:\n            x[0] = 1\n        x = [0]\n        if not one:\n            x = z\n": "not made itself",
    f"{IN}x = np.zeros(3)\n    z = y * x[:]\n    x[0] = 1\n": "handed on", f"{IN}x = np.zeros(3)\n    z = y > x[..., 0]\n    x[0] = 1\n": "handed on",
    # whether entries are one object
    f"{IN}return (y,) == (ys,)\n": "one object", f"{IN}return y in (ys, 1)\n": "one object", f"{IN}return [y] != ys\n": "one object", f"{IN}return (y, 1) < ys\n": "one object",
    f"{IN}return [z for z in y] == ys\n": "one object", f"{IN}return y.count(1)\n": "one object", f"{IN}return y.index(1)\n": "one object",
    'x = NamedTuple("A", [("shape", Any)])\n': "elsewhere than as the base",
    # names and arguments
    "from functools import lru_cache as kept\n": "by another name", "import math as kept\n": "by another name",
    f"{IN}x = np.add(y, 1, ys)\n": "goes to", f"{IN}x = np.add(*y)\n": "goes to",
    f"{IN}x = y.sum(*ys)\n": "goes to", f"{IN}x = g(y, out=ys)\n": "written to", f"{IN}x = y.trace(0, 0)\n": "goes to",
    "@contextmanager\n@lru_cache(maxsize=1)\ndef f():\n    yield 1\n": "is marked by",
    f"{IN}x = g(y)\n    np.add.at(x, 0, 1)\n": "not made itself", f"{IN}np.add.at(g(y), 0, 1)\n": "not made itself",
    f"{IN}x = y.copy()\n    x = y\n    np.add.at(x, 0, 1)\n": "not made itself", f"{IN}y, x = y, y.copy()\n    np.add.at(y, 0, 1)\n": "not made",
    f"{IN}x = y.copy()\n    for x in y:\n        np.add.at(x, 0)\n": "not made itself", "x = np.add.at\n": "outside of functions",
    f"{IN}x = y.copy()\n    return lambda x: np.add.at(x, 0, 1)\n": "elsewhere", "x = y.at(z, 0, 1)\n": "something else than",
    "x = y.insert(0, 1)\n": "nobody has looked at", "x = y.partition(3)\n": "nobody has looked at",
    "x = np.empty(3)\n": "nobody has filled", "x = np.empty((2, y))\n": "nobody has filled", "x = np.empty_like(y)\n": "nobody",
    f"{IN}x = []\n    x.append(x)\n": "handed on", f"{IN}x = [0]\n    x[0] = g(x)\n": "handed on",
    f"{IN}x = []\n    x += [g(x)]\n": "handed on", f"{IN}x = {{}}\n    z = g(x, x.pop(1))\n": "handed on", f"{IN}x = np.zeros(2)\n    z = x.T\n    x[0] = 1\n": "handed on",
}  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_texts_of_the_small_language(text: str) -> None:
    assert list(beyond(ast.parse(text))) == []


@pytest.mark.parametrize("text", BEYOND)
def test_texts_beyond_it(text: str) -> None:
    assert any(BEYOND[text] in reason for _, reason in beyond(ast.parse(text)))


@pytest.mark.parametrize("module", [dpboost, inprivate, dpxgboost, fedgbdt, sgbdt, grove])
def test_the_texts_that_train_are_of_it(module: object) -> None:
    assert list(beyond(ast.parse(inspect.getsource(module)))) == []  # type: ignore[arg-type]
