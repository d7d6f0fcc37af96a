"""What Python gives otherwise in every process, whatever a text's parameters are.

The text of an object has its class or its address in it, the order of a set follows from a key drawn at the start, and
an array that nobody filled holds what was in memory before, such as sums of records. A text that asks for one of them
behaves otherwise in training than in the reading. So texts are made of names and numbers, for releases, claims and
errors; a set is only asked what is in it, and an array without values has no entries.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

TEXTS = {"str", "ascii", "format", "print"}
SETS = {"set", "frozenset"}
ASKING = {"len", "sorted"}
"""Functions that give the same of a set whatever its order is."""
NAMING = {"step", "release", "release_sum", "draw", "partition", "subsample"}
VIEWS = {"keys", "items"}
COMBINING = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)


def by_chance(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines of a text that ask for what is otherwise in every process, and for what."""
    parents = {id(inner): one for one in ast.walk(tree) for inner in ast.iter_child_nodes(one)}
    ignored = {id(each) for one in _notes(tree) for each in ast.walk(one)} | _free(tree)
    said = _said(tree)
    for one in ast.walk(tree):
        if id(one) in ignored:
            continue
        if isinstance(one, ast.Name) and one.id in TEXTS:
            yield one.lineno, f"{one.id} makes a text that could be another one in every process"
        elif isinstance(one, ast.Attribute) and one.attr in ("format", "format_map"):
            yield one.lineno, "format makes a text that could be another one in every process"
        elif isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) and _is_text(one.left):
            yield one.lineno, "% makes a text that could be another one in every process"
        elif isinstance(one, ast.FormattedValue) and not _is_said(one.value, said):
            yield one.lineno, "a text of what is no plain name or number could be another one in every process"
        elif _is_set(one, parents) and not _is_asked(one, parents):
            yield getattr(one, "lineno", 0), "the order of a set is another one in every process"
        elif isinstance(one, ast.Call) and not _is_filled(one):
            yield one.lineno, "an array that nobody filled holds what was in memory before"


def _notes(tree: ast.Module) -> Iterator[ast.expr]:
    """What is said of kinds: it is never run, or makes no text."""
    for one in ast.walk(tree):
        if isinstance(one, ast.arg | ast.AnnAssign) and one.annotation is not None:
            yield one.annotation
        elif isinstance(one, ast.FunctionDef) and one.returns is not None:
            yield one.returns
        elif isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name) and one.value.id[:1].isupper():
            yield one  # Mapping[str, Any]


def _free(tree: ast.Module) -> set[int]:
    """Texts that nobody in the program reads: of errors, which are not handled, and names that the curator gets."""
    found = [one for one in ast.walk(tree) if isinstance(one, ast.Raise)]
    named = [one.args[0] for one in ast.walk(tree) if isinstance(one, ast.Call) and one.args
             and isinstance(one.func, ast.Attribute) and one.func.attr in NAMING
             and isinstance(one.func.value, ast.Name) and one.func.value.id == "curator"]  # fmt: skip
    return {id(each) for one in (*found, *named) for each in ast.walk(one)
            if isinstance(each, ast.FormattedValue)}  # fmt: skip


def _is_text(one: ast.expr) -> bool:
    return isinstance(one, ast.JoinedStr) or (isinstance(one, ast.Constant) and isinstance(one.value, str | bytes))


def _objects(tree: ast.Module) -> set[str]:
    """Names that can stand for a function, a class or a module, whose text has an address in it."""
    methods = {id(one) for kind in ast.walk(tree) if isinstance(kind, ast.ClassDef) for one in kind.body}
    found = {one.name for one in ast.walk(tree) if isinstance(one, ast.ClassDef)
             or (isinstance(one, ast.FunctionDef) and id(one) not in methods)}  # fmt: skip
    for one in ast.walk(tree):
        if isinstance(one, ast.Import | ast.ImportFrom):
            found |= {each.asname or each.name for each in one.names}
    bound = {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    bound |= {name for target, _ in _stored(tree) for name in target}
    found |= {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and not one.id.isupper()} - bound
    while True:
        more = {name for target, value in _stored(tree) if _gives_object(value, found) for name in target} - found
        if not more:
            return found
        found |= more


def _stored(tree: ast.Module) -> Iterator[tuple[list[str], ast.expr]]:
    """Names that get a value, and the expression of it; those of a tuple one by one where both are written so."""
    for one in ast.walk(tree):
        match one:
            case ast.Assign(targets, value):
                pairs = [(target, value) for target in targets]
            case ast.AnnAssign(target, _, ast.expr() as value) | ast.NamedExpr(target, value):
                pairs = [(target, value)]
            case ast.For(target, value) | ast.comprehension(target, value) | ast.withitem(value, ast.expr() as target):
                pairs = [(target, value)]
            case _:
                continue
        for target, value in pairs:
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and not isinstance(one, ast.For)
            if both and len(target.elts) == len(value.elts):  # type: ignore[attr-defined]
                pairs += zip(target.elts, value.elts, strict=True)  # type: ignore[attr-defined]
            else:
                yield [each.id for each in ast.walk(target) if isinstance(each, ast.Name)], value


def _gives_object(value: ast.expr, objects: set[str]) -> bool:
    """Whether an expression is a function, class or module, or one of several or a container of them."""
    match value:
        case ast.Lambda():
            return True
        case ast.Name(name):
            return name in objects
        case ast.Constant() | ast.Call() | ast.Compare() | ast.BinOp() | ast.UnaryOp() | ast.Attribute():
            return False
        case ast.Subscript(inner) | ast.NamedExpr(_, inner) | ast.Starred(inner):
            return _gives_object(inner, objects)
        case ast.IfExp(_, one, other):
            return _gives_object(one, objects) or _gives_object(other, objects)
    return any(_gives_object(one, objects) for one in ast.iter_child_nodes(value) if isinstance(one, ast.expr))


def _said(tree: ast.Module) -> set[str]:
    """Names of a text's own values, of which none stands for such an object."""
    given = {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    stored = {name for target, _ in _stored(tree) for name in target}
    constants = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and one.id.isupper()}
    return (given | stored | constants) - _objects(tree)


def _is_said(value: ast.expr, said: set[str]) -> bool:
    """Whether a text of it is one of a name or number of the text's own."""
    match value:
        case ast.Constant():
            return True
        case ast.Name(name):
            return name in said
        case ast.Attribute(inner) | ast.Subscript(inner):
            return isinstance(inner, ast.Name | ast.Attribute | ast.Subscript) and _is_said(inner, said)
        case ast.BoolOp(_, parts):
            return all(_is_said(one, said) for one in parts)
        case ast.BinOp(left, _, right):
            return _is_said(left, said) and _is_said(right, said)
        case ast.Call(ast.Attribute(ast.Constant(str()), "join")):
            return True
    return False


def _is_set(one: ast.AST, parents: dict[int, ast.AST]) -> bool:
    if isinstance(one, ast.Set | ast.SetComp) or (isinstance(one, ast.Name) and one.id in SETS):
        return True
    if not (isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in VIEWS):
        return False
    above = parents.get(id(one))  # dictionaries have an order, but for what is made of two of their views
    kept = isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.Return | ast.AugAssign)
    return kept or (isinstance(above, ast.BinOp) and isinstance(above.op, COMBINING))


def _is_asked(one: ast.AST, parents: dict[int, ast.AST]) -> bool:
    """Whether a set is asked for nothing but what is in it."""
    above = parents.get(id(one))
    if isinstance(one, ast.Name):  # set(...)
        if not (isinstance(above, ast.Call) and above.func is one):
            return False
        one, above = above, parents.get(id(above))
    if isinstance(above, ast.Compare):
        return one is not above.left and all(isinstance(how, ast.In | ast.NotIn) for how in above.ops)
    named = isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in ASKING
    return named and not above.keywords  # type: ignore[union-attr]


def _is_filled(one: ast.Call) -> bool:
    """Whether what a call makes has all its values, or no entries."""
    if not (isinstance(one.func, ast.Attribute) and isinstance(one.func.value, ast.Name) and one.func.value.id == "np"):
        return True
    if one.func.attr in ("ndarray", "empty_like"):
        return False
    if one.func.attr != "empty":
        return True
    shape = one.args[0] if one.args else ast.Constant(1)
    sizes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
    return any(isinstance(size, ast.Constant) and size.value == 0 for size in sizes)
