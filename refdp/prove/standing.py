"""What a text has outside its functions: constants, and tables that are only read.

A text that keeps something between two calls can behave in training otherwise than in the reading, which calls it more
or less often. So what stands in a module or a class is made of what nothing can change, or is a table of it that no
function hands on; functions are marked by known marks alone, and their defaults are constants.
"""

from __future__ import annotations

import ast
import enum
import types
import typing
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

MARKS = {"dataclass", "property", "classmethod", "staticmethod", "overload", "contextmanager", "lru_cache", "cache",
         "cached_property"}  # fmt: skip
GIVING = {"tuple", "frozenset", "float", "int", "str", "bool", "Fraction", "min", "max", "abs", "round",
          "len", "sum", "range", "field"}  # fmt: skip
"""Functions whose results nothing can change; `field` is that of a dataclass."""
TAKING = {"len", "sorted", "list", "tuple", "set", "frozenset", "dict", "sum", "min", "max"}
"""Functions that read a table and keep no hold of it."""
READING = {"get", "items", "keys", "values"}
STATEMENTS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Pass)
FIXED = (bool, int, float, str, bytes, Fraction, enum.Enum, type, types.FunctionType, types.ModuleType,
         types.BuiltinFunctionType, types.GenericAlias, types.UnionType, type(None), range)  # fmt: skip


def changes_standing(tree: ast.Module) -> bool:
    """Whether something that could change stands in a text, or a table of it could be changed by a function."""
    tables, closed = set[str](), set[str]()
    for body in _bodies(tree):
        for one in body:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
                continue
            if not isinstance(one, STATEMENTS):
                return True
            if not isinstance(one, ast.Assign | ast.AnnAssign) or one.value is None:
                continue
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            if isinstance(one.value, ast.Dict) and body is tree.body:
                nested = _table(one.value, tables | closed)
                if nested is None or not all(isinstance(target, ast.Name) for target in targets):
                    return True
                (closed if nested else tables).update(target.id for target in targets if isinstance(target, ast.Name))
            elif not _fixed(one.value, tables | closed):
                return True
    return _handed_on(tree, tables, closed) or any(
        not _fixed(default, tables | closed) for default in _defaults(tree)
    ) or any(not _is_mark(mark) for mark in _marks(tree))  # fmt: skip


def changeable(namespace: Mapping[str, Any], tree: ast.Module) -> list[str]:
    """Names in a text's namespace, and of the modules in it, that stand for what could be changed, and are used in it.

    namespace: of the module. Tables that the text makes itself are not among them: see `changes_standing`.
    """
    own = {target.id for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign)
           for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
           if isinstance(target, ast.Name)}  # fmt: skip
    used = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
    found = {name for name in used & namespace.keys() - own if not _stays(namespace[name])}
    for one in ast.walk(tree):
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
            module = namespace.get(one.value.id)
            if isinstance(module, types.ModuleType) and not _stays(getattr(module, one.attr, None)):
                found.add(f"{one.value.id}.{one.attr}")
    return sorted(found)


def _stays(thing: Any) -> bool:
    """Whether nothing can change it; a function or class of refdp's own is believed."""
    if isinstance(thing, tuple | frozenset):
        return all(map(_stays, thing))
    if isinstance(thing, FIXED) or callable(thing) or typing.get_origin(thing) is not None:
        return True
    frozen = getattr(type(thing), "__dataclass_params__", None)
    return type(thing).__module__ in ("typing", "__future__") or (
        frozen is not None and frozen.frozen and all(map(_stays, vars(thing).values()))
    )


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    yield tree.body
    for one in ast.walk(tree):
        if isinstance(one, ast.ClassDef):
            yield one.body


def _fixed(value: ast.expr, tables: set[str]) -> bool:
    """Whether nothing can change what this gives."""
    if isinstance(value, ast.Constant | ast.Lambda):
        return True
    if isinstance(value, ast.Name):
        return value.id not in tables
    if isinstance(value, ast.Attribute):
        return _fixed(value.value, tables)
    if isinstance(value, ast.Subscript):  # of a table, or a type
        return isinstance(value.value, ast.Name | ast.Attribute) and not any(
            isinstance(one, ast.Call | ast.NamedExpr) for one in ast.walk(value)
        )
    if isinstance(value, ast.Tuple):
        return all(_fixed(one, tables) for one in value.elts)
    if isinstance(value, ast.Call):
        own = value.func
        known = isinstance(own, ast.Name) and own.id in GIVING
        known |= isinstance(own, ast.Attribute) and isinstance(own.value, ast.Name) and own.value.id == "math"
        given = [*value.args, *(one.value for one in value.keywords)]
        made = any(one.arg == "default_factory" for one in value.keywords)
        return known and not made and all(_fixed_or_used_up(one, tables) for one in given)
    if isinstance(value, ast.UnaryOp | ast.BinOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.JoinedStr):
        return all(_fixed(one, tables) for one in ast.iter_child_nodes(value) if isinstance(one, ast.expr))
    return isinstance(value, ast.FormattedValue) and _fixed(value.value, tables)


def _fixed_or_used_up(value: ast.expr, tables: set[str]) -> bool:
    """Whether nothing can change what is given to a function that goes over a generator and keeps none."""
    if not isinstance(value, ast.GeneratorExp):
        return _fixed(value, tables)
    over = [part for one in value.generators for part in (one.iter, *one.ifs)]
    return all(_fixed(one, tables) for one in (value.elt, *over))


def _table(value: ast.Dict, tables: set[str]) -> bool | None:
    """Whether a table has tables in it; None if something in it could change."""
    nested = False
    for key, one in zip(value.keys, value.values, strict=True):
        if key is None:  # **table
            if not isinstance(one, ast.Name) or one.id not in tables:
                return None
        elif not _fixed(key, tables):
            return None
        elif isinstance(one, ast.Dict):
            if _table(one, tables) is None:
                return None
            nested = True
        elif isinstance(one, ast.Name) and one.id in tables:
            nested = True
        elif not _fixed(one, tables):
            return None
    return nested


def _handed_on(tree: ast.Module, tables: set[str], closed: set[str]) -> bool:
    """Whether a table is used otherwise than read: given to a function, under another name, changed."""
    allowed = {id(part) for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign)
               and isinstance(one.value, ast.Dict) for part in ast.walk(one)}  # fmt: skip
    for one in ast.walk(tree):
        read: list[ast.expr | None] = []
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load):
            read = [one.value]
        elif isinstance(one, ast.Compare) and all(isinstance(each, ast.In | ast.NotIn) for each in one.ops):
            read = [*one.comparators]
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in READING:
            read = [one.func.value]
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in TAKING:
            read = [*one.args]
        elif isinstance(one, ast.For | ast.comprehension):
            read = [one.iter]
        elif isinstance(one, ast.Dict):
            read = [value for key, value in zip(one.keys, one.values, strict=True) if key is None]
        elif isinstance(one, ast.keyword) and one.arg is None:
            read = [one.value]
        allowed |= {id(each) for each in read if isinstance(each, ast.Name) and each.id not in closed}
    return any(isinstance(one, ast.Name) and one.id in tables | closed and isinstance(one.ctx, ast.Load | ast.Del)
               and id(one) not in allowed for one in ast.walk(tree))  # fmt: skip


def _defaults(tree: ast.Module) -> Iterator[ast.expr]:
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef | ast.Lambda):
            yield from one.args.defaults
            yield from (default for default in one.args.kw_defaults if default is not None)


def _marks(tree: ast.Module) -> Iterator[ast.expr]:
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef | ast.ClassDef):
            yield from one.decorator_list


def _is_mark(mark: ast.expr) -> bool:
    own = mark.func if isinstance(mark, ast.Call) else mark
    own = own.value if isinstance(own, ast.Attribute) and own.attr in ("setter",) else own
    return (own.id if isinstance(own, ast.Name) else own.attr if isinstance(own, ast.Attribute) else "") in MARKS
