"""What a text asks for that is otherwise in every process: each form beside its neighbour that is not."""

from __future__ import annotations

import ast
from decimal import localcontext
from functools import partial
from typing import Any

import numpy as np
import pytest

from refdp.prove.chance import by_chance

TEXT, SET, EMPTY = "makes a text", "order of a set", "nobody filled"
NO_FORMAT = "without a format"


def found(text: str) -> list[tuple[int, str]]:
    return list(by_chance(ast.parse(text)))


@pytest.mark.parametrize(("line", "said"), [
    ("b = str(a)", TEXT), ("b = ascii(a)", TEXT), ("print(a)", TEXT), ("b = format(a)", TEXT),
    ("b = 'x'.format(a)", TEXT), ("b = 'x'.format_map(a)", TEXT), ("b = 'x%s' % a", TEXT), ("b = f'x' % a", TEXT),
    ("b = b'x' % a", TEXT), ("b = map(str, a)", TEXT),
    ("b = f'{f}'", NO_FORMAT), ("b = f'{a}'", NO_FORMAT), ("b = f'{a:d} {a}'", NO_FORMAT), ("b = f'{a!r}'", NO_FORMAT),
    ("b = f'{a!s:s}'", NO_FORMAT), ("b = f'{a:}'", NO_FORMAT), ("b = f'{a:{K:s}}'", NO_FORMAT),
    ("b = f'{a!r:>9}'", NO_FORMAT), ("b = f'{3}'", NO_FORMAT), ("b = f'{g()}'", NO_FORMAT),
    ("b = curator.other(f'{f}')", NO_FORMAT), ("b = held.release(f'{f}')", NO_FORMAT),
    ("b = curator.release(1, f'{f}')", NO_FORMAT),
    ("b = {1, a}", SET), ("b = {c for c in a}", SET), ("b = set(a)", SET), ("b = frozenset(a)", SET), ("b = set", SET),
    ("b = list(set(a))", SET), ("b = sorted(set(a))", SET), ("b = len({1, a})", SET), ("b = set(a) == a", SET),
    ("b = set(a) in a", SET), ("b = c in a in set(a) < a", SET), ("b = map(set, a)", SET),
    ("b = np.empty(3)", EMPTY), ("b = np.empty((2, 3))", EMPTY), ("b = np.empty(a)", EMPTY), ("b = np.empty()", EMPTY),
    ("b = np.empty_like(a)", EMPTY), ("b = np.ndarray(0)", EMPTY), ("b = np.empty((1, a))", EMPTY),
])  # fmt: skip
def test_what_is_otherwise_in_every_process(line: str, said: str) -> None:
    text = f"import numpy as np\nclass C: pass\ndef g(a):\n    pass\n\ndef f(a, K):\n    {line}\n"
    told = found(text)
    assert told and all(said in reason for _, reason in told)
    assert {number for number, _ in told} == {6 + len(line.splitlines())}


@pytest.mark.parametrize("line", [
    "b = f'{a:d}'", "b = f'{a.b:s}'", "b = f'{a[0]:.6g}'", "b = f'{a:{K:d}d}'", "b = f'{f():g}'", "b = f'x'",
    "raise ValueError(f'{f}')", "b = curator.release(f'{f}', 1)", "b = curator.step(f'{f()}')",
    "b = curator.release_sum(f'{f}')", "b = curator.draw(f'{f}')", "with curator.partition(f'{f}') as b: pass",
    "b = a % 2", "b = a in {1, 2}", "b = a not in {1, 2}", "b = a in set(a)", "b = a in {c for c in a}",
    "b: set[int] = a", "b: str = a", "for c in a.items(): pass", "b = [c for c in a.items()]",
    "b = list(a.items())", "b = zip(a, a.items())", "b = a.values()", "b = sorted(a)", "b = a - 1",
    "b = np.empty(0)", "b = np.empty((0, 3))", "b = np.empty((3, 0))", "b = np.zeros(3)", "b = a.empty(3)",
    "b = Mapping[str, set]",
])  # fmt: skip
def test_what_is_not(line: str) -> None:
    text = f"import numpy as np\nSIZE = 3\n\ndef f(a: str, *rest: set) -> str:\n    {line}\n"
    assert found(text) == []


@pytest.mark.parametrize("spec", ["s", "d", ".6g", ">9"])
def test_python_refuses_a_format_of_what_has_an_address(spec: str) -> None:
    """What the rule of formats stands on."""

    class Own:
        pass

    things = [object(), Own(), Own, found, found.__call__, lambda: 1, iter(()), enumerate(()), map(abs, ()), zip(),
              {}, [], (), {1}, None, ValueError(found), partial(found), ast, localcontext(), slice(1), np.zeros(2),
              np.array(found), np.array([found]), np.add, np.dtype(float), range(3), property(), list[int], Any,
              (one for one in ()), b"a", reversed(()), {}.items(), np.finfo(float)]  # fmt: skip
    for one in things:
        with pytest.raises(TypeError, match="format"):
            f"{one:{spec}}"
