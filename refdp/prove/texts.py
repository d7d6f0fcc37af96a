"""A training text's syntax, and what stands in it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import lru_cache
from typing import Any

CHANGING = {"append", "pop"}
"""Methods that change an object, of those that a text may use."""


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
