"""Public functions that take or give arrays name shapes, and those that raise name their errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2] / "refdp"
OURS = re.compile(r"_|AssertionError|NotImplementedError")
"""Errors that no caller sees, or that show a mistake in refdp."""
COMMANDS = "commands"
"""Their docstrings are what --help shows."""
ARRAY = re.compile(r"\b(NDArray|Floats|FloatArray|IntArray|Array|ArrayLike|Sums|Members|Mask|Positions|Flags)\b")
SHAPE = re.compile(
    r"shape|rows|per (row|coordinate|order)|each order|entry|Arrays of one|a number|\bNaN\b", re.IGNORECASE
)


def public(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods whose names, and those of their classes, have no underscore in front."""
    for node in body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public(node.body, f"{prefix}{node.name}.")


def silent(source: str) -> list[str]:
    """What a module's docstrings leave out: "name: no shape" or "name: no errors"."""
    found = []
    for name, node in public(ast.parse(source).body):
        text = ast.get_docstring(node) or ""
        hints = [one.annotation for one in (*node.args.args, *node.args.kwonlyargs)] + [node.returns]
        arrays = any(hint is not None and ARRAY.search(ast.unparse(hint)) for hint in hints)
        raised = [ast.unparse(one.exc) for one in ast.walk(node) if isinstance(one, ast.Raise) and one.exc is not None]
        found += [f"{name}: no shape"] if arrays and not SHAPE.search(text) else []
        found += [f"{name}: no errors"] if "Errors:" not in text and not all(map(OURS.match, raised)) else []
    return found


def test_shapes_and_errors_are_named() -> None:
    paths = [path for path in sorted(ROOT.rglob("*.py")) if COMMANDS not in path.parts]
    assert len(paths) > 100
    missing = {str(path.relative_to(ROOT)): silent(path.read_text(encoding="utf-8")) for path in paths}
    assert {path: lines for path, lines in missing.items() if lines} == {}


def test_what_is_left_out_is_found() -> None:
    source = '''
def f(x: Floats) -> Floats:
    """Twice x."""
    if x.ndim > 1:
        raise InvalidParameter("no")
    return 2 * x
'''
    assert silent(source) == ["f: no shape", "f: no errors"]
    told = source.replace("Twice x.", "Twice x, shape (rows,). Errors: InvalidParameter for a matrix.")
    assert silent(told) == [] and silent(source.replace("def f", "def _f")) == []


def test_every_docstring_says_by_itself_what_is_done() -> None:
    """None that only names another function; `help` shows one at a time."""
    folders = [ROOT, ROOT.parent / "proofs", ROOT.parent / "benchmarks"]
    named = [
        f"{path}:{node.lineno}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (ast.get_docstring(node) or "").startswith("As `")
    ]
    assert named == []


def test_one_name_is_one_class_or_type() -> None:
    """Of public names at the top of modules those that had several meanings have one."""
    one = ("DominatingPair", "InputPair", "Pair", "Statistics", "Target", "RecordSwap")
    homes: dict[str, list[str]] = {name: [] for name in one}
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = [t.id for t in targets if isinstance(t, ast.Name)]
            names += [node.name] if isinstance(node, ast.ClassDef) else []
            for name in names:
                if name in homes:
                    homes[name].append(path.name)
    assert {name: len(found) for name, found in homes.items()} == dict.fromkeys(one, 1)
