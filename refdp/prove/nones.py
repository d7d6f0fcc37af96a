"""Whether a function of released values can give None, or nothing.

Such a function is run on one example of what was released. A text may ask whether a value is None, and what the example
gives must then be what all other outputs give: so what a function returns is looked at in its syntax.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from refdp.prove.forms import CHANGING

NUMBERS = {"float", "int", "len", "abs", "sum", "round", "range", "sorted", "bool", "enumerate", "zip", "set"}
GIVING = {"tuple", "list", "max", "min", "dict"}
"""Functions that give a value of what they are given."""


@lru_cache(maxsize=256)
def can_be_none(function: Any) -> bool:
    """Whether it can, as far as its text shows; a text that shows nothing can."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    except (OSError, TypeError, SyntaxError, IndentationError):
        return True
    if not isinstance(tree, ast.FunctionDef):
        return True
    given = [one.value for one in ast.walk(tree) if isinstance(one, ast.Return)]
    ends = bool(tree.body) and isinstance(tree.body[-1], ast.Return)
    known = inspect.unwrap(function).__globals__
    return not ends or any(one is None or _can(one, tree, known, 0) for one in given)


def _can(one: ast.expr, function: ast.FunctionDef, known: dict[str, Any], depth: int) -> bool:
    if depth > 8:
        return True
    if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Attribute):
        return False  # an entry of an array of candidates
    inner = _parts(one, function)
    if inner is not None:
        return any(_can(each, function, known, depth + 1) for each in inner)
    if isinstance(one, ast.Constant):
        return one.value is None
    if isinstance(one, ast.Call):
        return _call(one, function, known, depth)
    if isinstance(one, ast.Attribute):  # of numpy, or what arrays have
        return not (
            hasattr(np.ndarray, one.attr) or (isinstance(one.value, ast.Name) and one.value.id in ("np", "math"))
        )
    return not isinstance(one, ast.BinOp | ast.UnaryOp | ast.Compare | ast.JoinedStr)


def _parts(one: ast.expr, function: ast.FunctionDef) -> list[ast.expr] | None:
    """The expressions that a value can be, or consists of; None where it is none of these forms."""
    match one:
        case ast.Tuple(elements) | ast.List(elements) | ast.Set(elements) | ast.BoolOp(_, elements):
            return elements
        case ast.IfExp(_, body, orelse):
            return [body, orelse]
        case ast.NamedExpr(_, value) | ast.Starred(value) | ast.Subscript(value):
            return [value]
        case ast.ListComp(value) | ast.GeneratorExp(value) | ast.SetComp(value):
            return [value]
        case ast.Dict(_, elements):
            return elements
        case ast.Name(name):
            return list(_assigned(name, function))
    return None


def _assigned(name: str, function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a name stands for in a function; nothing for what it was given, which is no None where it was released."""
    for one in ast.walk(function):
        targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.NamedExpr) else []
        names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        if isinstance(one, ast.Assign | ast.NamedExpr) and name in names:
            yield one.value


def _call(one: ast.Call, function: ast.FunctionDef, known: dict[str, Any], depth: int) -> bool:
    if isinstance(one.func, ast.Attribute):
        numpys = isinstance(one.func.value, ast.Name) and one.func.value.id in ("np", "math", "numbers")
        return one.func.attr in CHANGING or one.func.attr == "get" or not (numpys or hasattr(np.ndarray, one.func.attr))
    if not isinstance(one.func, ast.Name):
        return True
    name = one.func.id
    if name in GIVING:
        return any(_can(each, function, known, depth + 1) for each in one.args)
    called: Any = known.get(name)
    if name in NUMBERS or isinstance(called, type) or _of_numbers(called):
        return False
    return name == function.name or not inspect.isfunction(inspect.unwrap(called)) or can_be_none(called)


def _of_numbers(called: Any) -> bool:
    """Whether it is one of refdp's own functions of numbers."""
    own = called if inspect.isfunction(called) else type(called)
    return str(own.__module__).startswith("refdp.data.")
