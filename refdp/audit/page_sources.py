"""Where in the source something stands: the release that a violation names, or the function under audit."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def function_line(function: Any) -> str:
    """file:line of a function; its name if it has no source."""
    plain = inspect.unwrap(getattr(function, "function", function))
    try:
        path, line = inspect.getsourcefile(plain), inspect.getsourcelines(plain)[1]
    except (TypeError, OSError):
        return str(getattr(plain, "__qualname__", type(plain).__name__))
    return f"{Path(str(path)).name}:{line}"


RELEASES = ("release", "release_sum")
"""The ways out of a curator."""


def release_line(package: Path, paper: str, release: str) -> str:
    """file:line and text where a release of this name is made, in the modules of a paper; "" if nowhere.

    Calls of a curator's ways out come first, then any text of that form: some names are made elsewhere.
    """
    name = release.rsplit("/", 1)[-1]
    modules = sorted((package / "papers").glob(f"{paper}*.py"))
    for only_calls in (True, False):
        for path in modules:
            text = path.read_text(encoding="utf-8")
            for node, pattern in _texts(ast.parse(text), only_calls):
                if re.fullmatch(pattern, name):
                    shown = textwrap.shorten(ast.get_source_segment(text, node) or "", 160, placeholder=" …")
                    return f"{path.relative_to(package.parent)}:{node.lineno}: {shown}"
    return ""


def _texts(tree: ast.AST, only_calls: bool) -> Iterator[tuple[ast.expr, str]]:
    """Text constants and their patterns; with `only_calls` calls of release, and their first argument's."""
    for node in ast.walk(tree):
        if only_calls and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in RELEASES and node.args and "curator" in ast.unparse(node.func.value):
                yield from ((node, pattern) for pattern in _pattern(node.args[0]))
        elif not only_calls and isinstance(node, (ast.Constant, ast.JoinedStr)):
            yield from ((node, pattern) for pattern in _pattern(node))


def _pattern(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield re.escape(node.value)
    elif isinstance(node, ast.JoinedStr):
        parts = [re.escape(str(p.value)) if isinstance(p, ast.Constant) else ".+" for p in node.values]
        if any(part != ".+" for part in parts):
            yield "".join(parts)
