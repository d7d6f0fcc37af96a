"""What a text asks for that is otherwise in every process: each form beside its neighbour that is not."""

from __future__ import annotations

import ast

import pytest

from refdp.prove.chance import by_chance

TEXT, SET, EMPTY = "makes a text", "order of a set", "nobody filled"
NO_NAME = "no plain name or number"


def found(text: str) -> list[tuple[int, str]]:
    return list(by_chance(ast.parse(text)))


@pytest.mark.parametrize(("line", "said"), [
    ("b = str(a)", TEXT), ("b = ascii(a)", TEXT), ("print(a)", TEXT), ("b = format(a)", TEXT),
    ("b = 'x'.format(a)", TEXT), ("b = 'x'.format_map(a)", TEXT), ("b = 'x%s' % a", TEXT), ("b = f'x' % a", TEXT),
    ("b = b'x' % a", TEXT), ("b = map(str, a)", TEXT),
    ("b = f'{f}'", NO_NAME), ("b = f'{g}'", NO_NAME), ("b = f'{a.b().c}'", NO_NAME), ("b = f'{[a]}'", NO_NAME),
    ("b = f'{np}'", NO_NAME), ("b = f'{a + f}'", NO_NAME), ("b = f'{a or f}'", NO_NAME),
    ("c = f\n    b = f'{c}'", NO_NAME),
    ("c, d = f, 1\n    b = f'{c}'", NO_NAME), ("c = [f]\n    b = f'{c}'", NO_NAME),
    ("c = lambda: 1\n    b = f'{c}'", NO_NAME),
    ("c = a if a else f\n    b = f'{c}'", NO_NAME), ("for c in (f, 1):\n        b = f'{c}'", NO_NAME),
    ("b = curator.other(f'{f}')", NO_NAME), ("b = held.release(f'{f}')", NO_NAME),
    ("b = curator.release(1, f'{f}')", NO_NAME), ("b = f'{g()}'", NO_NAME), ("b = f'{C}{K}'", NO_NAME),
    ("b = {1, a}", SET), ("b = {c for c in a}", SET), ("b = set(a)", SET), ("b = frozenset(a)", SET), ("b = set", SET),
    ("b = list(set(a))", SET), ("b = sorted(set(a), key=g)", SET), ("b = set(a) == a", SET), ("b = set(a) in a", SET),
    ("b = c in a in set(a) < a", SET), ("b = map(set, a)", SET),
    ("b = a.keys()", SET), ("b: int = a.items()", SET), ("return a.keys()", SET), ("b = list(a.keys() | c)", SET),
    ("b = list(a.keys() - c)", SET), ("b = list(c & a.items())", SET), ("(b := a.keys())", SET),
    ("b = np.empty(3)", EMPTY), ("b = np.empty((2, 3))", EMPTY), ("b = np.empty(a)", EMPTY), ("b = np.empty()", EMPTY),
    ("b = np.empty_like(a)", EMPTY), ("b = np.ndarray(0)", EMPTY), ("b = np.empty((1, a))", EMPTY),
])  # fmt: skip
def test_what_is_otherwise_in_every_process(line: str, said: str) -> None:
    text = f"import numpy as np\nclass C: pass\ndef g(a):\n    pass\n\ndef f(a, K):\n    {line}\n"
    told = found(text)
    assert told and all(said in reason for _, reason in told)
    assert {number for number, _ in told} == {6 + len(line.splitlines())}


@pytest.mark.parametrize("line", [
    "b = f'{a}'", "b = f'{a.b}'", "b = f'{a[0]}'", "b = f'{a.b[0].c}'", "b = f'{a + 1}'", "b = f'{3}'",
    "b = f'{a or 1}'", "b = f'{\", \".join(a)}'", "b = f'{SIZE}'", "c = 1\n    b = f'{c}'",
    "c, d = 1, f\n    b = f'{c}'",
    "c = f(a)\n    b = f'{c}'", "for c in a:\n        b = f'{c}'", "b = [f'{c}' for c in a]",
    "c: int = 2\n    b = f'{c}'",
    "raise ValueError(f'{f}')", "b = curator.release(f'{f}', 1)", "b = curator.step(f'{f()}')", "b = f'x'",
    "b = curator.release_sum(f'{f}')", "b = curator.draw(f'{f}')", "b = curator.partition(f'{f}')",
    "b = curator.subsample(f'{f}')",
    "b = a % 2", "b = a in {1, 2}", "b = a not in {1, 2}", "b = len(set(a))", "b = sorted({c for c in a})",
    "b = a in set(a)", "b = sorted(frozenset(a))", "b: set[int] = a", "b: str = a", "for c in a.keys(): pass",
    "b = list(a.items())", "b = a.values()", "b = a.keys() * 2", "b = a - 1",
    "b = np.empty(0)", "b = np.empty((0, 3))", "b = np.empty((3, 0))", "b = np.zeros(3)", "b = a.empty(3)",
    "b = Mapping[str, set]",
])  # fmt: skip
def test_what_is_not(line: str) -> None:
    text = f"import numpy as np\nSIZE = 3\n\ndef f(a: str, *rest: set) -> str:\n    {line}\n"
    assert found(text) == []


def test_methods_are_no_objects_of_a_text() -> None:
    """A method's name is that of an attribute, and a parameter of the same name is the text's own."""
    text = "class C:\n    def size(self, a):\n        return f'{a}'\n\ndef f(size):\n    return f'{size}'\n"
    assert found(text) == []
    assert len(found(text.replace("class C:", "def C():"))) == 1
    assert [number for number, _ in found("import a.b as c, d\ndef f(c, d):\n    return f'{c}'\n")] == [3]
    assert [number for number, _ in found("def f(a):\n    return f'{unknown}'\n")] == [2]
