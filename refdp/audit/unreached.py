"""Lines of a trainer that no run of an audit reached, and whether a record could have led there.

A branch counts as led to by records if its condition names what was computed from them. Outputs of the curator are
public: what is computed from them alone leads nowhere. Only whole statements are seen, not parts of one line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from refdp.audit.reached import Place

Function = ast.FunctionDef | ast.AsyncFunctionDef


def unreached(
    lines: Iterable[Place], trainer_line: Place | None, fixed: Mapping[str, Any] | None = None
) -> list[tuple[str, bool]]:
    """First lines of blocks that never ran, as file:line, in functions that did, and whether records lead there.

    trainer_line: where the trainer itself begins, whose first parameter holds the records. fixed: values of names
    around it, which settle conditions by themselves.
    """
    by_file: dict[str, set[int]] = {}
    for file, line in lines:
        by_file.setdefault(file, set()).add(line)
    found = []
    for file, seen in sorted(by_file.items()):
        for function in _functions(file):
            if seen & _own_lines(function):
                first = trainer_line == (file, min([d.lineno for d in function.decorator_list] + [function.lineno]))
                private, known = _private(function, first), (fixed or {}) if first else {}
                for line, conditions in _skipped(function.body, seen, ()):
                    led = any(one is None or _names(one) & private for one in conditions)
                    led = led and not any(_is_settled(one, known) for one in conditions)
                    found.append((f"{Path(file).name}:{line}", led))
    return found


@cache
def _functions(file: str) -> tuple[Function, ...]:
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, Function))


def _own_lines(function: Function) -> set[int]:
    """Of its body, functions inside apart."""
    own = set(range(function.body[0].lineno, (function.end_lineno or 0) + 1))
    for node in ast.walk(function):
        if node is not function and isinstance(node, Function):
            own -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return own


def _skipped(
    body: list[ast.stmt], seen: set[int], conditions: tuple[ast.expr | None, ...]
) -> Iterator[tuple[int, tuple[ast.expr | None, ...]]]:
    """The first line of each block that did not run, with the conditions around it; None for an exception."""
    running = [one for one in body if not _silent(one)]
    if not running:
        return
    if not any(line in seen for line in range(running[0].lineno, (running[0].end_lineno or 0) + 1)):
        yield running[0].lineno, conditions
        return
    for one in running:
        for inside, condition in _blocks(one):
            yield from _skipped(inside, seen, (*conditions, *condition))


def _silent(one: ast.stmt) -> bool:
    """Statements that run no line of their own: docstrings, declarations, definitions inside."""
    is_text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    return is_text or isinstance(one, ast.Global | ast.Nonlocal | ast.Pass | Function | ast.ClassDef)


def _blocks(one: ast.stmt) -> Iterator[tuple[list[ast.stmt], tuple[ast.expr | None, ...]]]:
    match one:
        case ast.If(test, body, other) | ast.While(test, body, other):
            yield body, (test,)
            yield other, (test,)
        case ast.For(_, iterated, body, other):
            yield body, (iterated,)
            yield other, (iterated,)
        case ast.With(_, body):
            yield body, ()
        case ast.Try(body, handlers, other, last):
            yield body, ()
            yield from ((handler.body, (None,)) for handler in handlers)
            yield other, (None,)
            yield last, ()
        case ast.Match(subject, cases):
            yield from ((case.body, (subject,)) for case in cases)


def _private(function: Function, is_trainer: bool) -> set[str]:
    """Names that may hold what was computed from records."""
    arguments = [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    private = set(arguments[:1] if is_trainer else arguments) - {"curator"}
    while True:
        before = len(private)
        for node in ast.walk(function):
            for target, value in _bindings(node):
                if not _released(value) and _names(value) & private:
                    private |= _names(target)
        if len(private) == before:
            return private


def _bindings(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    match node:
        case ast.Assign(targets, value):
            yield from ((target, value) for target in targets)
        case ast.AugAssign(target, _, value) | ast.NamedExpr(target, value):
            yield target, value
        case ast.AnnAssign(target, _, ast.expr() as value):
            yield target, value
        case ast.For(target, value) | ast.comprehension(target, value):
            yield target, value
        case ast.withitem(value, ast.expr() as target):
            yield target, value
        case ast.Call(ast.Attribute(ast.Name() as held, _), arguments):  # held.append(private)
            yield from ((held, one) for one in arguments if held.id != "curator")


def _is_settled(condition: ast.expr | None, known: Mapping[str, Any]) -> bool:
    """Whether one term of a conjunction is false by what is known around the trainer."""
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
        return any(_is_settled(one, known) for one in condition.values)
    plain = ast.Compare | ast.Name | ast.Constant | ast.UnaryOp | ast.cmpop | ast.unaryop | ast.expr_context
    if condition is None or not all(isinstance(node, plain) for node in ast.walk(condition)):
        return False
    names = _names(condition)
    plainly = (bool, int, float, str, type(None))
    values = {name: known[name] for name in names if name in known and type(known[name]) in plainly}
    if set(values) != names:
        return False
    return not eval(compile(ast.Expression(condition), "condition", "eval"), {"__builtins__": {}}, values)


def _released(value: ast.AST) -> bool:
    """Whether this is what a curator returned, or a function that was given one."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Subscript) and _released(value.value)
    named: list[Any] = [value.func, *value.args, *(one.value for one in value.keywords)]
    return any("curator" in _names(one) for one in named if isinstance(one, ast.Name | ast.Attribute))


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
