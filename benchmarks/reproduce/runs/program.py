"""Which program made a result: a digest of the modules and the settings that decide it."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
from functools import lru_cache


def digest(modules: tuple[str, ...], settings: str) -> str:
    """12 hexadecimal digits of the modules' code without docstrings, comments and layout, and of the settings."""
    return hashlib.sha256((codes(modules) + settings).encode()).hexdigest()[:12]


@lru_cache
def codes(modules: tuple[str, ...]) -> str:
    """The modules' code without docstrings, comments and layout."""
    return "\n".join(_code(inspect.getsource(importlib.import_module(name))) for name in modules)


def _code(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not _is_text(line)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)
