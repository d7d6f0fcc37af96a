"""Places in a module's source where a small mistake can be made, and the sources with the mistake.

Comparisons, arithmetic, constants, limits (min, max, clip), arguments, returned names, indices, axes, conditions. Left
alone are annotations, decorators, messages of errors, assertions and texts.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OPPOSITE = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
LIMITS = frozenset({"min", "max", "clip", "maximum", "minimum", "floor", "ceil", "abs", "nextafter"})
OTHER_LIMIT = {"min": "max", "max": "min", "maximum": "minimum", "minimum": "maximum", "floor": "ceil", "ceil": "floor",
               "argmax": "argmin", "argmin": "argmax", "any": "all", "all": "any"}  # fmt: skip
SYMMETRIC = LIMITS | {"isinstance", "hypot", "getattr", "zip", "print", "partial", "replace"}


@dataclass(frozen=True)
class Site:
    """One mistake: its kind, the line where it stands (from 1), and the span of the source that it changes."""

    kind: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def applied(self, source: str) -> str:
        """The source with the mistake."""
        return source[: self.start] + self.new + source[self.end :]


def sites(source: str) -> list[Site]:
    """Every mistake that can be made, in the order of the source. A few do not parse."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = source.splitlines(keepends=True)

    def place(line: int, column: int) -> int:
        """Columns of the parser count bytes."""
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    found: dict[Site, None] = {}
    for node, names in _nodes(ast.parse(source)):
        for kind, new in _mistakes(node, names):
            at = place(node.lineno, node.col_offset)
            end = place(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
            text = ast.unparse(ast.fix_missing_locations(new))
            if isinstance(node, ast.expr) and not isinstance(new, ast.Constant | ast.Name | ast.Call | ast.Subscript):
                text = f"({text})"
            site = Site(kind, node.lineno, at, end, source[at:end], text)
            found[site] = None
    return sorted(found, key=lambda site: (site.start, site.end, site.kind, site.new))


def parses(source: str) -> bool:
    """Whether it is Python."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _nodes(tree: ast.AST, names: tuple[str, ...] = ()) -> Iterator[tuple[ast.expr | ast.stmt, tuple[str, ...]]]:
    """Expressions and returns that may be changed, each with the names that its function assigns or is given."""
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):
        names = _local_names(tree)
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "bases", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.expr | ast.Return):
                yield child, names
            if isinstance(child, ast.AST):
                yield from _nodes(child, names)


def _local_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    given = [argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)]
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return tuple(name for name in dict.fromkeys([*given, *stored]) if name not in ("self", "cls"))


def _mistakes(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Compare():
            for number, operator in enumerate(node.ops):
                for kind, table in (("boundary", BOUNDARY), ("comparison", OPPOSITE)):
                    if type(operator) in table:
                        changed = copy.deepcopy(node)
                        changed.ops[number] = table[type(operator)]()
                        yield kind, changed
        case ast.BinOp() if type(node.op) in ARITHMETIC and not _text(node.left) and not _text(node.right):
            changed = copy.deepcopy(node)
            changed.op = ARITHMETIC[type(node.op)]()
            yield "arithmetic", changed
        case ast.BoolOp():
            changed = copy.deepcopy(node)
            changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "condition", changed
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
            yield "sign", node.operand
        case ast.IfExp():
            yield "condition", ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case ast.Constant(value=bool()):
            yield "constant", ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            for step in (1, -1):
                yield "constant", ast.Constant(node.value + step)
        case ast.Call():
            yield from _calls(node)
        case ast.Subscript(slice=ast.Name()):
            changed = copy.deepcopy(node)
            changed.slice = ast.BinOp(copy.deepcopy(node.slice), ast.Sub(), ast.Constant(1))
            yield "index", changed
        case ast.Return(value=ast.Name()):
            for other in names:
                if isinstance(node.value, ast.Name) and other != node.value.id:
                    yield "returned name", ast.Return(ast.Name(other, ast.Load()))


def _calls(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in LIMITS and node.args and not isinstance(node.args[0], ast.Starred | ast.GeneratorExp):
        yield "limit removed", node.args[0]
    if name in OTHER_LIMIT:
        changed = copy.deepcopy(node)
        if isinstance(changed.func, ast.Attribute):
            changed.func.attr = OTHER_LIMIT[name]
        else:
            changed.func = ast.Name(OTHER_LIMIT[name], ast.Load())
        yield "other limit", changed
    plain = len(node.args) >= 2 and not any(isinstance(argument, ast.Starred) for argument in node.args)
    if plain and name not in SYMMETRIC and ast.dump(node.args[0]) != ast.dump(node.args[1]):
        changed = copy.deepcopy(node)
        changed.args[:2] = changed.args[1::-1]
        yield "arguments", changed
    for number, keyword in enumerate(node.keywords):
        if keyword.arg == "axis":
            changed = copy.deepcopy(node)
            changed.keywords[number].value = ast.Constant(0 if ast.unparse(keyword.value) != "0" else 1)
            yield "axis", changed


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
