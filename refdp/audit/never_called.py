"""Functions of a text that never ran, and that code which ran chooses, calls or hands on by what is private."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from refdp.audit.private_names import Names
from refdp.audit.surroundings import Function


def never_called(tree: ast.Module, functions: Iterable[Function], seen: set[int], names: Names) -> set[int]:
    """First lines of functions that never ran, and that an expression which ran names behind a private choice."""
    ran = [
        one for one in functions if any(line in seen for line in range(one.body[0].lineno, (one.end_lineno or 0) + 1))
    ]
    classes = {method: kind for kind in ast.walk(tree) if isinstance(kind, ast.ClassDef) for method in kind.body}
    found = set[int]()
    choices = [(function, *choice) for function in ran for choice in _choices(function, seen, names)]
    for one in functions:
        if one in ran:
            continue
        at_need = one.name in _AT_NEED and one in classes
        carriers = names.carrying(classes[one] if at_need else one, made=at_need)
        if any(names.names(function, chosen, carriers, one.name) and names.private(function, test)
               for function, chosen, test in choices):  # fmt: skip
            found.add(one.body[0].lineno)
    return found


_AT_NEED = frozenset({"__missing__", "__getattr__"})
"""Methods that run where something is not found."""


def _choices(function: Function, seen: set[int], names: Names) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What is chosen in lines that ran, or runs as often as something says, and by what."""
    for node in ast.walk(function):
        if not isinstance(node, ast.expr | ast.stmt) or not any(
            line in seen for line in range(node.lineno, (node.end_lineno or 0) + 1)
        ):
            continue
        match node:
            case ast.IfExp(test, body, other):
                yield from ((body, test), (other, test))
            case ast.BoolOp(_, values):
                for place, value in enumerate(values[1:], 1):
                    yield from ((value, test) for test in values[:place])
            case ast.Subscript(value, index):
                yield value, index
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                each = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
                tests = [test for one in node.generators for test in (one.iter, *one.ifs)]
                yield from ((name, test) for part in each for name in _surely(part) for test in tests)
            case ast.If(test, body) | ast.While(test, body) | ast.For(_, test, body) if (
                body[0].lineno == test.end_lineno
            ):
                yield from ((one, test) for one in body)
            case ast.Call(ast.Attribute(value, "get" | "__getitem__" | "pop"), [key, *_]) | ast.Call(
                ast.Name("getattr"), [value, key, *_]
            ):
                yield value, key
            case _:
                pass
        if isinstance(node, ast.Call) and not names.is_own(function, node.func):
            given = [*node.args, *(one.value for one in node.keywords)]
            others = [*given, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
            yield from ((name, other) for one in given for name in _handed(one) for other in others if other is not one)


def _surely(node: ast.expr) -> Iterator[ast.expr]:
    """Names and attributes that are evaluated whenever the expression is."""
    waiting: list[ast.AST] = [node]
    while waiting:
        match waiting.pop():
            case ast.IfExp(test):
                waiting.append(test)
            case ast.BoolOp(_, values):
                waiting.append(values[0])
            case ast.Lambda():
                pass
            case one:
                if isinstance(one, ast.Name | ast.Attribute):
                    yield one
                waiting += ast.iter_child_nodes(one)


def _handed(node: ast.expr) -> Iterator[ast.expr]:
    """Names and attributes that an argument is, or that stand in its containers."""
    match node:
        case ast.Name() | ast.Attribute():
            yield node
        case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts) | ast.Dict(_, parts):
            yield from (name for part in parts for name in _handed(part))
        case ast.Starred(part) | ast.keyword(_, part):
            yield from _handed(part)
