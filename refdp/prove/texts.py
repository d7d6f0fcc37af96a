"""A training text's syntax, and what stands in it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
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
ROOMS = ("refdp.papers", "refdp.own")
"""Where refdp's own texts are."""
_others: list[tuple[str, str]] = []
"""Files and names of the modules of somebody else that are read now."""


@contextmanager
def as_text(module: Any) -> Iterator[None]:
    """Wherever a module is from, it is a training text while it is read: the rules of those that run are for it too."""
    _others.append((str(getattr(module, "__file__", None)), str(getattr(module, "__name__", None))))
    try:
        yield
    finally:
        _others.pop()


def is_text(file: str) -> bool:
    """Whether code of this file is a training text: a paper's, one of refdp's own, or one that is read."""
    name = file.replace("\\", "/")
    of_refdp = "/refdp/papers/" in name or "/refdp/own/" in name or file.startswith("<mutant")
    return of_refdp or any(file == other for other, _ in _others)


def is_text_module(name: str) -> bool:
    """Whether a module of this name is a training text."""
    return name.startswith(ROOMS) or any(name == other for _, other in _others)


def is_refdps(name: str) -> bool:
    """Whether a module of this name is refdp's, but for the reading itself, or a text that is read."""
    return (name.startswith("refdp.") and not name.startswith("refdp.prove")) or is_text_module(name)


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
