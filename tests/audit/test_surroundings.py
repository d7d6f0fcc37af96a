"""What a trainer can tell an audit by, however it is named, and what follows a way out that was always taken."""

from __future__ import annotations

import ast
import sys
import textwrap
import types
from pathlib import Path

import pytest

from refdp.audit.held import held_by
from refdp.audit.surroundings import names_around
from refdp.audit.unreached import unreached


def told(tmp_path: Path, text: str, beginning: int) -> list[tuple[int, str]]:
    """Line and by what, of a program whose lines that end in #+ ran."""
    path = tmp_path / f"program{len(list(tmp_path.iterdir()))}.py"
    path.write_text(textwrap.dedent(text).lstrip("\n"))
    ran = {(str(path), n) for n, line in enumerate(path.read_text().splitlines(), 1) if line.endswith("#+")}
    return [(int(place.rpartition(":")[2]), by) for place, by in unreached(ran, (str(path), beginning))]


@pytest.mark.parametrize(("condition", "by"), [
    ("'audit' in sys.modules", "surroundings"), ("len(records.y) > 3", "records"), ("setting", ""),
        ("curator._source.kind", "surroundings"), ("curator.delta", ""),
])  # fmt: skip
@pytest.mark.parametrize("way", ["return noisy", "raise ValueError", "break", "continue"])
def test_what_follows_a_way_out_is_a_block(condition: str, by: str, way: str, tmp_path: Path) -> None:
    text = f"""
    def train(records, curator, setting=1):
        noisy = curator.release(records) #+
        for _ in range(2): #+
            if {condition}: #+
                {way} #+
            noisy = len(records.y)
            noisy = noisy + 2
        return noisy #+
    """
    assert told(tmp_path, text, 1) == [(6, by)]
    assert told(tmp_path, text.replace(f"{way} #+", "pass"), 1) == []
    assert told(tmp_path, text.replace("y)\n", "y) #+\n").replace("+ 2\n", "+ 2 #+\n"), 1) == []


@pytest.mark.parametrize("line", [
    "import sys as other\nHERE = other.argv", "from os import environ as HERE",
        "from os import environ\nHERE = environ",
    "import os\nHERE: bool = bool(os.environ)", "HERE = 0\nHERE += len(sys.argv)", "HERE = lambda: sys.argv",
    "import os\ndef HERE():\n    if os.environ:\n        return 1",
        "import os\nasync def a(): return os.name\nHERE = a",
    "import os\nif os.environ:\n    HERE = 1\nelse:\n    pass",
        "try:\n    import flask\nexcept ImportError:\n    HERE = 1",
    "class HERE:\n    a = open('x')", "from numpy.random import default_rng as HERE",
])  # fmt: skip
def test_names_that_come_from_the_surroundings(line: str, tmp_path: Path) -> None:
    assert "HERE" in names_around(ast.parse(line))
    train = "def train(records, curator):\n    if HERE: #+\n        return 1\n    return 2 #+\n"
    first = len(line.splitlines()) + 1
    assert (first + 2, "surroundings") in told(tmp_path, f"{line}\n{train}", first)


@pytest.mark.parametrize("line", [
    "import numpy as HERE", "from numpy import array as HERE", "HERE = 3", "def HERE(a): return a",
        "if 1:\n    HERE = 2",
    "class HERE:\n    a = 1", "try:\n    HERE = 1\nfinally:\n    pass", "HERE: int",
])  # fmt: skip
def test_names_that_do_not(line: str) -> None:
    assert "HERE" not in names_around(ast.parse(line))


@pytest.mark.parametrize(("line", "found"), [
    ("a = b + (sys.x == 1) * c", True), ("a = [b, c][sys.x]", True), ("a = sys.x and c", True),
        ("a = not sys.x", True),
    ("a = [c for _ in b if sys.x]", True), ("a = b.get(sys.x, c)", True), ("exec('a = c')", True),
        ("a = eval('c')", True),
    ("if sys.x: a = c", True), ("while sys.x: break", True), ("a = 1 if sys.x else c", True),
    ("assert sys.x == 1", False), ("a = sys.x + c", False), ("a = random.random(9) < c", False), ("a = b[c]", False),
    ("a = sys.x['one']", False), ("a = b == c", False), ("if b: a = c", False),
])  # fmt: skip
def test_expressions_that_choose_by_the_surroundings(line: str, found: bool, tmp_path: Path) -> None:
    text = f"def train(records, curator):\n    b = c = 1 #+\n    {line} #+\n    return 2 #+\n"
    assert told(tmp_path, text, 1) == ([(3, "surroundings")] if found else [])


def test_defaults_of_arguments_are_surroundings_too(tmp_path: Path) -> None:
    text = """
    def train(records, curator, one=1, here=os.name, *, there=sys.argv, other=2):
        if one: #+
            return 1
        if here: #+
            return 2
        if there: #+
            return 3
        return other #+
    """
    assert told(tmp_path, text, 1) == [(3, ""), (5, "surroundings"), (7, "surroundings")]


@pytest.mark.parametrize("text", [
    "def train(kept=[]):\n    kept.append(7)", "def train(*, kept=[]):\n    kept.append(7)",
        "def around():\n    kept = {}\n    def train():\n        kept['a'] = 7\n    return train\ntrain = around()",
])  # fmt: skip
def test_what_functions_keep_is_looked_at(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("keeping")
    monkeypatch.setitem(sys.modules, "keeping", module)
    exec(text, vars(module))
    before = held_by("keeping").lines
    module.train()
    assert held_by("keeping").lines != before
    plain = types.ModuleType("plain")
    monkeypatch.setitem(sys.modules, "plain", plain)
    exec("def train(kept=3, *, other=None): return kept", vars(plain))
    before = held_by("plain").lines
    plain.train()
    assert held_by("plain").lines == before
