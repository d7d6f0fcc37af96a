"""Public functions say the shapes of their arrays and the errors that they raise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import refdp

ROOT = Path(refdp.__file__).parent
ARRAYS = re.compile(r"\b(Floats|FloatArray|Integers|IntArray|Array|ArrayLike|NDArray|ndarray|Mask)\b")
SHAPES = re.compile(r"shape|\(rows|coordinate|\bNaN\b|[Aa] number\b|one for each|per row", re.IGNORECASE)
ERRORS = re.compile(r"[Ee]rror|[Rr]aise|[Rr]efuse|or InvalidRecords")
UNSAID = {"StopIteration", "NotImplementedError", "AssertionError", "Exit"}
HELP = "commands"
"""A command's docstring is what its --help shows."""


def public(body: list[ast.stmt], words: str = "") -> Iterator[tuple[ast.FunctionDef, str]]:
    """Public functions and methods, each with its docstring and its class's."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public(node.body, ast.get_docstring(node) or "")
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node, f"{ast.get_docstring(node) or ''} {words}"


def hints(function: ast.FunctionDef) -> str:
    """The annotations of a function in one text."""
    given = [argument.annotation for argument in (*function.args.args, *function.args.kwonlyargs)]
    return " ".join(ast.unparse(one) for one in (*given, function.returns) if one is not None)


def raised(function: ast.FunctionDef) -> set[str]:
    """Names of the errors that the function itself raises."""
    found = [one.exc for one in ast.walk(function) if isinstance(one, ast.Raise) and one.exc is not None]
    names = [ast.unparse(one.func if isinstance(one, ast.Call) else one).split(".")[-1] for one in found]
    return {name for name in names if name[0].isupper()} - UNSAID


def silent(source: str, commands: bool = False) -> list[str]:
    """Functions of a module that leave out a shape or an error."""
    found = []
    for function, words in public(ast.parse(source).body):
        if ARRAYS.search(hints(function)) and not SHAPES.search(words):
            found.append(f"{function.name}: no shape")
        if raised(function) and not ERRORS.search(words) and not commands:
            found.append(f"{function.name}: no error")
    return found


def test_public_functions_say_shapes_and_errors() -> None:
    found = {path: silent(path.read_text(), HELP in path.parts) for path in ROOT.rglob("*.py")}
    assert {str(path.relative_to(ROOT)): names for path, names in found.items() if names} == {}


def test_a_silent_function_is_found() -> None:
    source = 'def halves(x: Floats) -> Floats:\n    """Half of x."""\n    raise InvalidRecords("no")\n'
    assert silent(source) == ["halves: no shape", "halves: no error"]
    assert silent(source.replace("Half of x.", "Half of x, shape (rows,). Errors: InvalidRecords.")) == []
