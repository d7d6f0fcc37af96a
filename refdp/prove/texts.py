"""A training text's syntax, and what stands in it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

CHANGING = {"append", "pop"}
"""Methods that change an object, of those that a text may use."""
READING = {"copy", "get", "items", "values", "sum", "tolist", "min", "max", "any", "all"}
"""Methods by which a list, dictionary or array is read and not held."""
NAMING = {"step", "release", "release_sum", "draw", "partition", "subsample"}
"""Methods of a curator whose first argument is a name."""
AT = "at"
"""numpy's `add.at`, which changes the array that it is given first."""


@lru_cache(maxsize=16)
def tree_of(text: str) -> ast.Module:
    """The syntax of a whole text."""
    return ast.parse(text)


@lru_cache(maxsize=256)
def tree_of_function(function: Any) -> ast.Module | None:
    """The syntax of the statement that makes a function, without its wrappers; None where there is no text of it."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):
        return None


def own_classes(known: dict[str, Any]) -> list[type]:
    """Classes that a module makes itself. known: its names."""
    return [one for one in known.values() if isinstance(one, type) and one.__module__ == known.get("__name__")]


def of_function(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What is in a function's body, without the bodies of functions in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        one = waiting.pop(0)
        yield one
        if not isinstance(one, ast.FunctionDef):
            waiting += ast.iter_child_nodes(one)


def line_of(one: ast.AST) -> int:
    """The line in which a piece of syntax begins."""
    return int(getattr(one, "lineno", 0))


def is_numpy(value: Any) -> bool:
    """Whether an expression is the name that texts have for numpy."""
    return isinstance(value, ast.Name) and value.id == "np"


def notes_of(tree: ast.Module) -> Iterator[ast.expr]:
    """What is said of kinds, of arguments, names and results."""
    for one in ast.walk(tree):
        if isinstance(one, ast.arg | ast.AnnAssign) and one.annotation is not None:
            yield one.annotation
        elif isinstance(one, ast.FunctionDef) and one.returns is not None:
            yield one.returns
