"""A fingerprint of what a function computes: its syntax tree and those of everything in refdp that it calls.

Docstrings, comments, annotations and layout do not count, names and constants do. Claims store the fingerprints of the
functions that they are about, so that a changed formula reopens its claims.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

_IGNORED = frozenset({"annotation", "returns", "ctx", "type_comment", "kind", "type_params", "decorator_list"})


def name_of(function: Callable[..., Any]) -> str:
    """`module:qualified name`, by which `resolve` finds the function again."""
    return f"{function.__module__}:{function.__qualname__}"


def resolve(name: str) -> Any:
    """The object of that name. Errors: ImportError or AttributeError if it is gone."""
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


@cache
def fingerprint(name: str) -> str:
    """16 hexadecimal digits that change when the function, or a function or constant of refdp it uses, changes."""
    digest = hashlib.sha256()
    for callee, text in sorted(_reachable(resolve(name)).items()):
        digest.update(f"{callee}\n{text}\n".encode())
    return digest.hexdigest()[:16]


def current(name: str) -> str | None:
    """The fingerprint as of now, None if the function no longer exists."""
    try:
        return fingerprint(name)
    except (ImportError, AttributeError):
        return None


def tree_text(source: str) -> str:
    """The syntax tree of a definition as text, the same on every supported version of Python."""
    return _text(ast.parse(textwrap.dedent(source)).body[0])


def _reachable(start: Any) -> dict[str, str]:
    texts: dict[str, str] = {}
    waiting = [start]
    while waiting:
        item = waiting.pop()
        name = name_of(item)
        if name in texts:
            continue
        source = inspect.getsource(item)
        texts[name] = tree_text(source)
        constants, callees = _used(item, source)
        texts |= constants
        waiting += callees
    return texts


def _used(item: Any, source: str) -> tuple[dict[str, str], list[Any]]:
    """The module-level constants and the refdp functions and classes that a definition names."""
    scope = vars(importlib.import_module(item.__module__))
    constants: dict[str, str] = {}
    callees: list[Any] = []
    for node in ast.walk(ast.parse(textwrap.dedent(source)).body[0]):
        used = _look_up(node, scope)
        if isinstance(used, int | float | str | tuple) and isinstance(node, ast.Name):
            constants[f"{item.__module__}:{node.id}"] = repr(used)
        elif isinstance(used, FunctionType) and used.__module__.startswith("refdp"):
            callees.append(inspect.unwrap(used))
    return constants, callees


def _look_up(node: ast.AST, scope: dict[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = scope.get(node.value.id)
        return getattr(module, node.attr, None) if isinstance(module, ModuleType) else None
    return None


def _text(node: Any) -> str:
    if isinstance(node, ast.AST):
        fields = ",".join(f"{name}={_text(value)}" for name, value in _fields(node))
        return f"{type(node).__name__}({fields})"
    if isinstance(node, list):
        return "[" + ",".join(_text(item) for item in node) + "]"
    return repr(node)


def _fields(node: ast.AST) -> Iterator[tuple[str, Any]]:
    for name, value in ast.iter_fields(node):
        if name in _IGNORED or value is None or value == []:
            continue
        if name == "body" and isinstance(value, list) and _is_docstring(value[0]):
            yield name, value[1:]
        else:
            yield name, value


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
