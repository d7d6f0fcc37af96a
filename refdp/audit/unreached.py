"""Lines of a trainer that no run of an audit reached, and what could have led there.

A branch counts as led to by records if its condition names what is not known to be public (`private_names`), or waits
for an exception; by outputs, if it names what the curator returned; by the surroundings, if the clock, dice of its own,
or what else a trainer can tell an audit by. Only whole statements are seen, not parts of one line, but for functions
that never ran, and what an expression chooses by the surroundings.
"""

from __future__ import annotations

import ast
import linecache
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from refdp.audit.never_called import never_called
from refdp.audit.private_names import Names, bindings, holds_release, is_released
from refdp.audit.reached import Place
from refdp.audit.surroundings import Function, named, names_around, said, told_apart, with_defaults


def unreached(
    lines: Iterable[Place],
    trainer_line: Place | None,
    fixed: Mapping[str, Any] | None = None,
    globals_: Iterable[str] = (),
) -> list[tuple[str, str]]:
    """First lines of blocks that never ran, as file:line, in functions that did, and what leads there.

    That is "records", "outputs", "surroundings", the first of these that applies, or "". So are asserts on records,
    what they raise was not seen, and functions that never ran, where what is private chooses them. A file without a
    text, or with another than that of what ran, is told by itself, with "unread".

    trainer_line: where the trainer itself begins, whose first parameter holds the records. fixed: values of names
    around it, which settle conditions by themselves. globals_: names of its module, which need not be bound in its
    text, as of a notebook's other cells.
    """
    by_file: dict[str, set[int]] = {}
    for file, line in lines:
        by_file.setdefault(file, set()).add(line)
    found = []
    for file, seen in sorted(by_file.items()):
        tree = _tree(file)
        if tree is None or not seen <= _lines_of(_text(file)):
            found.append((Path(file).name, "unread"))
        functions = _functions(file)
        trainer = next((one for one in functions if trainer_line == (file, _first_line(one))), None)
        if tree is None:
            continue
        names = Names(tree, trainer, globals_ if trainer_line is not None and trainer_line[0] == file else ())
        changed = {name for node in ast.walk(tree) if isinstance(node, ast.Nonlocal) for name in node.names}
        around = names_around(tree)
        above = _around(tree, around)
        for function in functions:
            if seen & (own := _own_lines(function)):
                known = (fixed or {}) if function is trainer else {}
                known = {name: value for name, value in known.items() if name not in changed}
                led = above[function]
                for line, conditions in _skipped(function.body, seen, (), caught=_yields(function)):
                    settled = any(_is_settled(one, known) for one in conditions)
                    by = "" if settled else _leads(conditions, names, function, led)
                    found.append((f"{Path(file).name}:{line}", by))
                asserts = [
                    one for one in ast.walk(function) if isinstance(one, ast.Assert) and one.lineno in own & seen
                ]
                found += [(f"{Path(file).name}:{one.lineno}", "records") for one in asserts
                          if names.private(function, one.test) and not _is_of_types(one.test)]  # fmt: skip
                told = set(told_apart(function, {function.lineno, *own}, led))
                found += [(f"{Path(file).name}:{line}", "surroundings") for line in sorted(told)]
        never = never_called(tree, functions, seen, names)
        found += [(f"{Path(file).name}:{line}", "records") for line in sorted(never) if line not in seen]
    return found


def is_of_text(code: types.CodeType | None) -> bool:
    """Whether the text of a function's file, as it is now, is what this code was made of; where none is, not."""
    if code is None:
        return True  # another language's
    text = _text(code.co_filename)
    alike = (one for one in _codes(text) if (one.co_qualname, one.co_firstlineno) == _named_at(code))
    return any({*_lines(one)} == {*_lines(code)} for one in alike)


def _named_at(code: types.CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _first_line(function: Function) -> int:
    return min([one.lineno for one in function.decorator_list] + [function.lineno])


def _around(tree: ast.Module, around: set[str]) -> dict[Function, set[str]]:
    """Names of the surroundings in every function, also from the functions around it."""
    found: dict[Function, set[str]] = {}
    waiting: list[tuple[ast.AST, set[str]]] = [(tree, around)]
    while waiting:
        node, names = waiting.pop()
        if isinstance(node, Function):
            names = found[node] = _following(node, with_defaults(node, set(names)))
        waiting += [(one, names) for one in ast.iter_child_nodes(node)]
    return found


def _leads(conditions: tuple[ast.expr | None, ...], names: Names, function: Function, around: set[str]) -> str:
    """By what names these conditions are about; an exception may come from records."""
    tests = [one for one in conditions if one is not None]
    if len(tests) < len(conditions) or any(names.private(function, one) for one in tests):
        return "records"
    if any(names.released(function, one) or holds_release(one) for one in tests):
        return "outputs"
    return "surroundings" if any(said(one) & around or _asks_what_it_is(one) for one in tests) else ""


def _is_of_types(test: ast.expr) -> bool:
    """Whether it only asks what a name is an instance of."""
    match test:
        case ast.Call(ast.Name("isinstance"), [ast.Name() | ast.Attribute(ast.Name()), _]):
            return True
    return False


def _asks_what_it_is(condition: ast.expr) -> bool:
    """Whether it looks into the curator, at what nobody is promised."""
    held = [one for one in ast.walk(condition) if isinstance(one, ast.Attribute)]
    return any(
        isinstance(one.value, ast.Name) and one.value.id == "curator" and one.attr.startswith("_") for one in held
    )


def _text(file: str) -> str:
    """As it is now, of a notebook's cell and a module in an archive too; empty where there is none."""
    linecache.checkcache(file)
    if file not in linecache.cache and not Path(file).exists():
        for one in tuple(sys.modules.values()):
            if type(one) is types.ModuleType and vars(one).get("__file__") == file:
                linecache.lazycache(file, vars(one))
    if lines := linecache.getlines(file):
        return "".join(lines)
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _tree(file: str) -> ast.Module | None:
    """None where there is no text, or none of Python's."""
    return _parsed(text) if (text := _text(file)).strip() else None


@lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


@lru_cache(maxsize=64)
def _codes(text: str) -> tuple[types.CodeType, ...]:
    """All code that a text is compiled to."""
    try:
        waiting = [compile(text, "", "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return ()
    for code in waiting:  # grows
        waiting += [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return tuple(waiting)


def _lines(code: types.CodeType) -> set[int]:
    return {line for _, _, line in code.co_lines() if line is not None}


@lru_cache(maxsize=64)
def _lines_of(text: str) -> set[int]:
    return {line for code in _codes(text) for line in _lines(code)}


def _functions(file: str) -> tuple[Function, ...]:
    return tuple(node for node in ast.walk(_tree(file) or ast.Module([], [])) if isinstance(node, Function))


def _yields(function: Function) -> bool:
    """Whether it can be left, and never resumed, at any place."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in ast.walk(function))


def _own_lines(function: Function) -> set[int]:
    """Of its body, functions inside apart."""
    own = set(range(function.body[0].lineno, (function.end_lineno or 0) + 1))
    for node in ast.walk(function):
        if node is not function and isinstance(node, Function):
            own -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return own


def _skipped(
    body: list[ast.stmt], seen: set[int], conditions: tuple[ast.expr | None, ...], *, caught: bool = False
) -> Iterator[tuple[int, tuple[ast.expr | None, ...]]]:
    """The first line of each block that did not run, with the conditions around it; None for an exception.

    What follows a statement by which a block can be left is a block of its own, under the conditions of that statement.
    caught: whether each statement is one, since what it raises is caught, or since it may wait for good.
    """
    running = [one for one in body if not _silent(one)]
    if not running:
        return
    if not any(line in seen for line in range(running[0].lineno, (running[0].end_lineno or 0) + 1)):
        yield running[0].lineno, conditions
        return
    left: tuple[ast.expr | None, ...] = ()
    for one in running:
        if (left or caught) and not any(line in seen for line in range(one.lineno, (one.end_lineno or 0) + 1)):
            yield one.lineno, (*conditions, *(left or (None,)))
            return
        inner = caught or isinstance(one, ast.With | ast.AsyncWith | ast.Try | ast.TryStar)
        for inside, condition in _blocks(one):
            yield from _skipped(inside, seen, (*conditions, *condition), caught=inner)
        left += _leaving(one)


def _leaving(one: ast.stmt) -> tuple[ast.expr | None, ...]:
    """The conditions inside a statement by which its block can be left; empty where it cannot be."""
    if isinstance(one, Function | ast.ClassDef):
        return ()
    nodes = list(ast.walk(one))
    if not any(isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue | ast.Assert) for node in nodes):
        return ()
    return tuple(test for node in nodes if isinstance(node, ast.stmt) for _, tests in _blocks(node) for test in tests)


def _silent(one: ast.stmt) -> bool:
    """Statements that run no line of their own: docstrings, declarations, definitions inside."""
    is_text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    is_declared = isinstance(one, ast.AnnAssign) and one.value is None
    return is_text or is_declared or isinstance(one, ast.Global | ast.Nonlocal | ast.Pass | Function | ast.ClassDef)


def _blocks(one: ast.stmt) -> Iterator[tuple[list[ast.stmt], tuple[ast.expr | None, ...]]]:
    match one:
        case ast.If(test, body, other):
            yield body, (test,)
            yield other, (test,)
        case ast.While(test, body, other):
            yield body, (test,)
            yield other, (test, *(test for line in body for test in _leaving(line)))
        case ast.For(_, iterated, body, other) | ast.AsyncFor(_, iterated, body, other):
            yield body, (iterated,)
            yield other, (iterated, *(test for line in body for test in _leaving(line)))
        case ast.With(_, body) | ast.AsyncWith(_, body):
            yield body, ()
        case ast.Try(body, handlers, other, last) | ast.TryStar(body, handlers, other, last):
            yield body, ()
            yield from ((handler.body, (None,)) for handler in handlers)
            yield other, (None,)
            yield last, ()
        case ast.Match(subject, cases):
            for case in cases:
                yield case.body, (subject, *([] if case.guard is None else [case.guard]))
        case ast.Assert(test):
            yield [], (test,)


def _following(function: Function, names: set[str]) -> set[str]:
    """The names, and those of what was computed from them, but for outputs of the curator."""
    while True:
        before = len(names)
        for node in ast.walk(function):
            for target, value in bindings(node):
                if not is_released(value) and said(value) & names:
                    names |= named(target)
            match node:
                case ast.Call(ast.Attribute(ast.Name() as held, _), arguments):  # held.append(private)
                    put = held.id != "curator" and any(said(one) & names and not is_released(one) for one in arguments)
                    names |= {held.id} if put else set()
        if len(names) == before:
            return names


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
