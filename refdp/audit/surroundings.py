"""Names of a program by which it can tell where it runs: modules, what is imported from them or computed with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

SURROUNDINGS = frozenset(
    ("sys", "os", "time", "datetime", "random", "secrets", "uuid", "platform", "socket", "threading", "multiprocessing",
     "inspect", "gc", "getpass", "signal", "Path", "pathlib", "open", "globals", "locals", "resource", "traceback",
     "__import__", "importlib", "psutil", "ctypes", "tempfile", "subprocess", "weakref", "warnings", "logging",
     "concurrent", "asyncio", "tracemalloc", "pwd", "glob", "builtins",
     "__main__", "hash")
)  # fmt: skip
"""Names that a condition on more than records, outputs and settings has."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def names_around(tree: ast.Module) -> set[str]:
    """SURROUNDINGS; what the module imports of them, by any name; its own names and functions that come from these."""
    names = set(SURROUNDINGS)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= _imported(node)
    while True:
        before = len(names)
        names |= _told_outside(tree.body, names)
        for node in ast.walk(tree):
            if isinstance(node, Function) and any(said(one) & names for one in node.body):
                names.add(node.name)
        if len(names) == before:
            return names


def with_defaults(function: Function, names: set[str]) -> set[str]:
    """The names, and those of arguments whose defaults name one of them."""
    taken = function.args
    placed = [*taken.posonlyargs, *taken.args]
    pairs = [*zip(placed[len(placed) - len(taken.defaults) :], taken.defaults, strict=True),
             *zip(taken.kwonlyargs, taken.kw_defaults, strict=True)]  # fmt: skip
    return names | {one.arg for one, value in pairs if value is not None and said(value) & names}


def said(node: ast.AST) -> set[str]:
    """Names in it, and those of attributes of modules: numpy.random is dice, too."""
    dice = {"random" for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr == "random"}
    return named(node) | dice


def named(node: ast.AST) -> set[str]:
    """Names in it."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Names under which modules of the surroundings, or parts of them, are known from here."""
    if isinstance(node, ast.Import):
        return {one.asname for one in node.names if one.asname and SURROUNDINGS & set(one.name.split("."))}
    parts = set((node.module or "").split("."))
    return {one.asname or one.name for one in node.names if SURROUNDINGS & (parts | {one.name})}


def _told_outside(body: list[ast.stmt], names: set[str], led: bool = False) -> set[str]:
    """Names that are bound outside functions from others, or, led, behind a condition on others."""
    found: set[str] = set()
    for one in body:
        match one:
            case ast.Assign(targets, value) if led or said(value) & names:
                found |= {name for target in targets for name in named(target)}
            case ast.AnnAssign(target, _, ast.expr() as value) | ast.AugAssign(target, _, value):
                found |= named(target) if led or said(value) & names else set()
            case ast.If(test, inside, other):
                found |= _told_outside([*inside, *other], names, led or bool(said(test) & names))
            case ast.Try(inside, handlers, other, last):
                tried = [*inside, *other, *last, *(line for handler in handlers for line in handler.body)]
                found |= _told_outside(tried, names, led or any(isinstance(line, ast.Import | ast.ImportFrom)
                                                                for line in inside))  # fmt: skip
            case ast.ClassDef(name) if _told_outside(one.body, names, led):
                found.add(name)
            case _:
                pass
    return found


def told_apart(function: Function, own: set[int], around: set[str]) -> Iterator[int]:
    """Lines of expressions that choose by the surroundings: which value was taken is not seen.

    own: lines of the function, functions inside apart. Conditions of statements count where what they lead to stands on
    their own line; text that is run, always. Dice are followed in conditional expressions alone.
    """
    tests = {id(inside) for node in ast.walk(function) for test in _of_statement(node) for inside in ast.walk(test)}
    surely = around - {"random"}
    for node in ast.walk(function):
        line = getattr(node, "lineno", 0)
        if line not in own:
            continue
        chosen = isinstance(node, ast.IfExp) and bool(said(node.test) & around)
        if id(node) not in tests:
            chosen = chosen or any(named(one) & surely for one in _choosing(node))
        run = isinstance(node, ast.Call) and bool(named(node.func) & {"exec", "eval"})
        if chosen or run:
            yield line


def _of_statement(node: ast.AST) -> list[ast.expr]:
    """Conditions whose outcome is seen by the lines that ran."""
    if isinstance(node, ast.If | ast.While) and node.body[0].lineno > (node.test.end_lineno or 0):
        return [node.test]
    return [node.test] if isinstance(node, ast.Assert) else []


def _choosing(node: ast.AST) -> list[ast.expr]:
    """Expressions in it whose truth, or place in something, is taken."""
    match node:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(ast.Not()):
            return [node]
        case ast.Subscript(_, index, ast.Load()):
            return [index]
        case ast.Call(ast.Attribute(_, "get"), [key, *_]):
            return [key]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return [test for one in node.generators for test in one.ifs]
        case ast.If(test) | ast.While(test):
            return [] if _of_statement(node) else [test]
    return []
