"""Lines of a trainer that no run of an audit reached, and what could have led there.

A branch counts as led to by records if its condition names what was computed from them; by outputs, if what the curator
returned; by the surroundings, if the clock, dice of its own, or what else a trainer can tell an audit by. Only whole
statements are seen, not parts of one line, but for what an expression chooses by the surroundings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from refdp.audit.reached import Place
from refdp.audit.surroundings import Function, named, names_around, said, told_apart, with_defaults


def unreached(
    lines: Iterable[Place], trainer_line: Place | None, fixed: Mapping[str, Any] | None = None
) -> list[tuple[str, str]]:
    """First lines of blocks that never ran, as file:line, in functions that did, and what leads there.

    That is "records", "outputs", "surroundings", the first of these that applies, or "".

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
                known = (fixed or {}) if first else {}
                around = _following(function, with_defaults(function, names_around(_tree(file))))
                held = _private(function, first), _following(function, set(), outputs=True), around
                for line, conditions in _skipped(function.body, seen, ()):
                    settled = any(_is_settled(one, known) for one in conditions)
                    found.append((f"{Path(file).name}:{line}", "" if settled else _leads(conditions, held)))
                told = set(told_apart(function, {function.lineno, *_own_lines(function)}, around))
                found += [(f"{Path(file).name}:{line}", "surroundings") for line in sorted(told)]
    return found


def _leads(conditions: tuple[ast.expr | None, ...], held: tuple[set[str], set[str], set[str]]) -> str:
    """By what names these conditions are about; an exception may come from records."""
    for what, names in zip(("records", "outputs", "surroundings"), held, strict=True):
        if any((what == "records") if one is None else said(one) & names for one in conditions):
            return what
        if what == "outputs" and any(one is not None and _holds_release(one) for one in conditions):
            return what
    return "surroundings" if any(one is not None and _asks_what_it_is(one) for one in conditions) else ""


def _asks_what_it_is(condition: ast.expr) -> bool:
    """Whether it looks into the curator, at what nobody is promised."""
    held = [one for one in ast.walk(condition) if isinstance(one, ast.Attribute)]
    return any(
        isinstance(one.value, ast.Name) and one.value.id == "curator" and one.attr.startswith("_") for one in held
    )


@cache
def _tree(file: str) -> ast.Module:
    try:
        return ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])


def _functions(file: str) -> tuple[Function, ...]:
    return tuple(node for node in ast.walk(_tree(file)) if isinstance(node, Function))


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
    """The first line of each block that did not run, with the conditions around it; None for an exception.

    What follows a statement by which a block can be left is a block of its own, under the conditions of that statement.
    """
    running = [one for one in body if not _silent(one)]
    if not running:
        return
    if not any(line in seen for line in range(running[0].lineno, (running[0].end_lineno or 0) + 1)):
        yield running[0].lineno, conditions
        return
    left: tuple[ast.expr | None, ...] = ()
    for one in running:
        if left and not any(line in seen for line in range(one.lineno, (one.end_lineno or 0) + 1)):
            yield one.lineno, (*conditions, *left)
            return
        for inside, condition in _blocks(one):
            yield from _skipped(inside, seen, (*conditions, *condition))
        left += _leaving(one)


def _leaving(one: ast.stmt) -> tuple[ast.expr | None, ...]:
    """The conditions inside a statement by which its block can be left; empty where it cannot be."""
    if isinstance(one, Function | ast.ClassDef):
        return ()
    nodes = list(ast.walk(one))
    if not any(isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue) for node in nodes):
        return ()
    return tuple(test for node in nodes if isinstance(node, ast.stmt) for _, tests in _blocks(node) for test in tests)


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
    return _following(function, private)


def _following(function: Function, names: set[str], *, outputs: bool = False) -> set[str]:
    """The names, and those of what was computed from them, but for outputs of the curator; or from these alone."""
    while True:
        before = len(names)
        for node in ast.walk(function):
            for target, value in _bindings(node):
                if (outputs and _holds_release(value)) or (not _released(value) and said(value) & names):
                    names |= named(target)
        if len(names) == before:
            return names


def _holds_release(node: ast.AST) -> bool:
    return any(_released(one) for one in ast.walk(node))


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
    names = named(condition)
    plainly = (bool, int, float, str, type(None))
    values = {name: known[name] for name in names if name in known and type(known[name]) in plainly}
    if set(values) != names:
        return False
    return not eval(compile(ast.Expression(condition), "condition", "eval"), {"__builtins__": {}}, values)


def _released(value: ast.AST) -> bool:
    """Whether this is what a curator returned, or a function that was given one."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Subscript) and _released(value.value)
    given: list[Any] = [value.func, *value.args, *(one.value for one in value.keywords)]
    return any("curator" in named(one) for one in given if isinstance(one, ast.Name | ast.Attribute))
