"""Whether a function of released values can give None, or nothing.

Such a function is run on one example of what was released. A text may ask whether a value is None, and what the example
gives must then be what all other outputs give: so what a function returns is looked at in its syntax.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from refdp.prove.texts import CHANGING, own_classes, tree_of_function

NUMBERS = {"float", "int", "len", "abs", "sum", "round", "range", "bool"}
ENTRIES = {"tuple", "list", "sorted", "enumerate", "zip", "set", "reversed"}
"""Functions that give the entries of what they are given, which is no None then."""
GIVING = ENTRIES | {"max", "min", "dict"}
"""Functions that give a value of what they are given."""


@lru_cache(maxsize=256)
def can_be_none(function: Any) -> bool:
    """Whether it can, as far as its text shows; a text that shows nothing can."""
    text = tree_of_function(function)
    tree = None if text is None else text.body[0]
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
        return bool(_own(one.value.attr, known))  # else an entry of an array of candidates
    if isinstance(one, ast.Name) and _is_none(one.id, function, known):
        return True
    inner = _first_of(one, function, known) or _parts_of(one, function)
    if inner is not None:
        return any(_can(each, function, known, depth + 1) for each in inner)
    if isinstance(one, ast.Constant):
        return one.value is None
    if isinstance(one, ast.Call):
        return _call(one, function, known, depth)
    if isinstance(one, ast.Attribute):  # of numpy, or what arrays have
        return (
            one.attr == "base"
            or bool(_own(one.attr, known))
            or not (
                hasattr(np.ndarray, one.attr) or (isinstance(one.value, ast.Name) and one.value.id in ("np", "math"))
            )
        )
    return not isinstance(one, ast.BinOp | ast.UnaryOp | ast.Compare | ast.JoinedStr)


def _first_of(one: ast.expr, function: ast.FunctionDef, known: dict[str, Any]) -> list[ast.expr]:
    """What `a or b` can be: a None is passed over, so of the first ones no parameter that the object was given."""
    if not isinstance(one, ast.BoolOp) or not isinstance(one.op, ast.Or) or any(assigned("self", function)):
        return []
    *first, last = one.values

    def is_given(each: ast.expr) -> bool:
        of_self = isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self"
        return of_self and not _methods(each.attr, known)  # type: ignore[attr-defined]

    return [*(each for each in first if not is_given(each)), last]


def _parts_of(one: ast.expr, function: ast.FunctionDef) -> list[ast.expr] | None:
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
            return list(assigned(name, function))
    return None


def assigned(name: str, function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a name stands for in a function; nothing for what it was given, which is no None where it was released."""
    yield from _assigned(function).get(name, ())


@cache
def _assigned(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """The same of all names of a function."""
    found: dict[str, list[ast.expr]] = {}
    for one in ast.walk(function):
        targets: list[Any] = []
        match one:
            case ast.Assign(targets, value):
                pass
            case ast.NamedExpr(target, value) | ast.For(target, value) | ast.comprehension(target, value):
                targets = [target]
            case ast.AnnAssign(target, _, ast.expr() as value) | ast.withitem(value, ast.expr() as target):
                targets = [target]
            case ast.MatchAs(_, str() as own) | ast.MatchStar(str() as own):
                found.setdefault(own, []).append(ast.Constant(None))
                continue
            case _:
                continue
        for name in {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}:
            found.setdefault(name, []).append(value)
    return found


def _is_none(name: str, function: ast.FunctionDef, known: dict[str, Any]) -> bool:
    """Whether a name can be None by a parameter's default, or as one of the text's constants."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [
        *zip(plain[len(plain) - len(given.defaults) :], given.defaults, strict=True),
        *((one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default),
    ]
    for one, default in defaults:
        if one.arg == name:
            return not isinstance(default, ast.Constant) or default.value is None
    local = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
    return name not in local and any(one is None for one in _inside(known.get(name, 0)))


def _inside(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, list | tuple | set | frozenset | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _inside(one)


def _own(name: str, known: dict[str, Any]) -> list[Any]:
    """Methods, properties and fields of this name of the text's own classes."""
    fields_of = [one for one in own_classes(known) if name in getattr(one, "__annotations__", ())]
    return [*_methods(name, known), *fields_of]


def _methods(name: str, known: dict[str, Any]) -> list[Any]:
    found = [vars(one).get(name) for one in own_classes(known)]
    return [one for one in found if callable(one) or hasattr(one, "__get__")]


def _made(kind: type) -> bool:
    """Whether an object can have None where it is made without saying so."""
    own = [one.default for one in fields(kind)] if is_dataclass(kind) else getattr(kind, "_field_defaults", {}).values()
    return any(one is None for one in own)


def _call(one: ast.Call, function: ast.FunctionDef, known: dict[str, Any], depth: int) -> bool:
    given = [*one.args, *(each.value for each in one.keywords)]
    if isinstance(one.func, ast.Attribute):
        numpys = isinstance(one.func.value, ast.Name) and one.func.value.id in ("np", "math", "numbers")
        if one.func.attr in CHANGING or one.func.attr == "get" or (not numpys and _own(one.func.attr, known)):
            return True
        return not (numpys or hasattr(np.ndarray, one.func.attr))
    if not isinstance(one.func, ast.Name):
        return True
    name = one.func.id
    called: Any = known.get(name)
    if name in ENTRIES:
        given = [each for each in given if not isinstance(each, ast.Attribute) or _own(each.attr, known)]
    if name in GIVING or called is replace:
        return any(_can(each, function, known, depth + 1) for each in given)
    if isinstance(called, type):
        return _made(called) or any(_can(each, function, known, depth + 1) for each in given)
    if name in NUMBERS or _of_numbers(called):
        return False
    own = inspect.unwrap(called) if callable(called) else None
    return name == function.name or not inspect.isfunction(own) or can_be_none(own)


def _of_numbers(called: Any) -> bool:
    """Whether it is one of refdp's own functions of numbers."""
    own = called if inspect.isfunction(called) else type(called)
    return str(own.__module__).startswith("refdp.data.")
