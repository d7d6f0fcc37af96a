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
    f"{IN}x = list(y)\n    x[0] += 1\n    return x\n", f"{IN}x = y.copy()\n    np.add.at(x, 0, 1.0)\n    return x\n",
    f"{IN}x = {{}}\n    x |= {{1: y}}\n    z = sum(x.values()) + x.pop(1)\n    return x, z\n",
    f"{IN}for one in ys:\n        x = []\n        x.append(one)\n        x = g(x)\n    return x\n",
    f"{IN}from math import pi\n    return pi if y is None or y is Relation.ADD_REMOVE else y.get(1, 2)\n",
    f"{IN}def g(z):\n        return z + y\n    return g(1)\n", f"{IN}return y in {{'a', 'b'}}, y.clip(0, 1), y.sum(0)\n",
    "@dataclass(frozen=True)\nclass A:\n    b: float = 1.0\n    c = ('g', 'h')\n\n    def d(self):\n        return self.b\n",
    "class A(NamedTuple):\n    b: float\n", "class A(StrEnum):\n    B = 'b'\n", "@lru_cache(maxsize=64)\ndef f():\n    return 1\n",
    "@contextmanager\ndef f():\n    yield 1\n", "import math\nx = 1\n",
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
    "@cache\ndef f():\n    return 1\n": "is marked by", "@twice\ndef f():\n    return 1\n": "is marked by",
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
