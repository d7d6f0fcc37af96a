"""What a function of a training text changes: only lists, dictionaries and arrays that it makes itself.

Nothing else has one of them while it is still changed, so that no reading needs to know who else sees a change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from refdp.prove.texts import AT, CHANGING, READING, is_numpy, line_of

MAKING = {"zeros", "ones", "full", "zeros_like", "ones_like", "arange", "linspace", "concatenate", "repeat"}
"""Functions of numpy that make an array that is nobody else's."""
LISTS = (ast.List, ast.Dict, ast.ListComp, ast.DictComp)
Round = tuple[set[int], set[int]]
"""Of a loop the statements that every round comes by, and all that is in it."""


def changes(function: ast.FunctionDef, own: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Changes of what the function has not made itself, or of what something else may hold already."""
    statements = {id(one.value) for one in own if isinstance(one, ast.Expr)}
    changed: list[tuple[ast.expr, ast.AST]] = []
    for one in own:
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store | ast.Del):
            changed.append((one.value, one))
        elif isinstance(one, ast.AugAssign):
            if not isinstance(one.target, ast.Subscript):
                changed.append((one.target, one))
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute):
            if one.func.attr in CHANGING:
                if one.func.attr == "append" and id(one) not in statements:
                    yield one.lineno, "append elsewhere than in a statement of its own"
                changed.append((one.func.value, one))
            elif one.func.attr == AT:
                if id(one) not in statements or not one.args:
                    yield one.lineno, "at elsewhere than in a statement of its own"
                changed += [(each, one) for each in one.args[:1]]
    called = {id(one.func) for one in own if isinstance(one, ast.Call)}
    for one in own:
        if isinstance(one, ast.Attribute) and one.attr in CHANGING | {AT} and id(one) not in called:
            yield one.lineno, f"{one.attr} by another name"
    if not changed:
        return
    around = [(_certain(one.body), {id(each) for each in ast.walk(one)}) for one in ast.walk(function)
              if isinstance(one, ast.For)]  # fmt: skip
    made = _made(function, own, [at for _, at in changed], around)
    of_entry = {id(one.target) for one in own if isinstance(one, ast.AugAssign)}
    within = {id(each) for one in own if isinstance(one, ast.Lambda | ast.ListComp | ast.DictComp | ast.GeneratorExp)
              for each in ast.walk(one)}  # fmt: skip
    for value, at in changed:
        line = getattr(at, "lineno", function.lineno)
        by_at = isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute) and at.func.attr == AT
        if by_at and isinstance(value, ast.Name) and not all(_is_array(one) for _, one in made.get(value.id, ())):
            yield line, f"{value.id}, which is not always zeros, ones or a copy, is added to by at"
        of = made.get(value.id, []) if isinstance(value, ast.Name) and id(at) in of_entry else []
        if isinstance(value, ast.Name) and not all(_of_numpy(one) for _, one in of):
            yield line, f"an entry of {value.id} is changed in place, which something else may have"
        if not (isinstance(value, ast.Name) and value.id in made) or id(at) in within:
            yield line, f"{ast.unparse(value)}, which the function has not made itself, is changed"
    names = {value.id for value, _ in changed if isinstance(value, ast.Name) and value.id in made}
    for name in sorted(names):
        places = [at for value, at in changed if isinstance(value, ast.Name) and value.id == name]
        yield from _escapes(function, own, name, places, around, made[name])


def _made(
    function: ast.FunctionDef, own: list[ast.AST], changed: list[ast.AST], around: list[Round]
) -> dict[str, list[tuple[ast.AST, ast.expr]]]:
    """Names that a function binds to new lists, dictionaries or arrays of its own, where, and to what.

    Whatever else a name is bound to follows all changes, in the round that began with the new object.
    """
    found = dict[str, list[tuple[ast.AST, ast.expr]]]()
    other = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
    inner = {id(each) for one in own if isinstance(one, ast.comprehension) for each in ast.walk(one.target)}
    stored = {id(one): one for one in own if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
              and id(one) not in inner}  # fmt: skip
    for one in own:
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(one, ast.Assign) and len(one.targets) == 1:
            pairs = _paired(one.targets[0], one.value)
        elif isinstance(one, ast.AnnAssign) and one.value is not None:
            pairs = [(one.target, one.value)]
        elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            stored.pop(id(one.target), None)
        for target, value in pairs:
            if isinstance(target, ast.Name) and _is_new(value):
                stored.pop(id(target), None)
                found.setdefault(target.id, []).append((one, value))
    for one in stored.values():
        own_changes = [each for each in changed if any(isinstance(part, ast.Name) and part.id == one.id
                                                       for part in ast.walk(each))]  # fmt: skip
        places = [place for place, _ in found.get(one.id, [])]
        if not places or any(
            _end(own, each)[0] >= one.lineno or _shared_round(each, one, places, around) for each in own_changes
        ):
            other.add(one.id)
    return {name: places for name, places in found.items() if name not in other}


def _paired(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What is stored where, as far as it is seen: beside a starred entry what is in a place is another one."""
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
        return [(target, value)]
    if len(target.elts) != len(value.elts) or any(isinstance(one, ast.Starred) for one in target.elts + value.elts):
        return []
    return [*zip(target.elts, value.elts, strict=True)]


def _shared_round(change: ast.AST, other: ast.AST, made: list[ast.AST], around: list[Round]) -> bool:
    """Whether a loop has both, so that the change is in a later round than the other, and no new object in between:
    one that every round makes before either of them."""
    first = min(_begin(change), _begin(other))
    return any(
        id(change) in inside
        and id(other) in inside
        and not any(id(each) in certain and _last(each) <= first for each in made)
        for certain, inside in around
    )


def _begin(one: ast.AST) -> tuple[int, int]:
    return line_of(one), getattr(one, "col_offset", 0)


def _last(one: ast.AST) -> tuple[int, int]:
    return getattr(one, "end_lineno", 0) or 0, getattr(one, "end_col_offset", 0) or 0


def _certain(body: list[ast.stmt]) -> set[int]:
    """The statements that every round comes by."""
    found = {id(one) for one in body}
    for one in body:
        if isinstance(one, ast.With):
            found |= _certain(one.body)
    return found


def _is_new(value: ast.expr) -> bool:
    if isinstance(value, LISTS):
        return True
    if _is_listed(value):
        return True
    own = value.func if isinstance(value, ast.Call) else None
    if not (isinstance(value, ast.Call) and isinstance(own, ast.Attribute)):
        return False
    return own.attr in MAKING if is_numpy(own.value) else own.attr == "copy" and not value.args and not value.keywords


def _is_listed(value: ast.expr) -> bool:
    """Whether it is `list(...)`, or `list[int](...)`."""
    if not isinstance(value, ast.Call):
        return False
    own = value.func.value if isinstance(value.func, ast.Subscript) else value.func
    return isinstance(own, ast.Name) and own.id == "list"


def _of_numpy(value: ast.expr) -> bool:
    """Whether what is new is numpy's array, whose entries are no objects of their own, as those of a list can be."""
    own = value.func if isinstance(value, ast.Call) else None
    return isinstance(own, ast.Attribute) and is_numpy(own.value)


def _is_array(value: ast.expr) -> bool:
    """Whether what is new is an array of numbers that were there before: zeros, ones, or a copy."""
    own = value.func if isinstance(value, ast.Call) else None
    return isinstance(own, ast.Attribute) and own.attr in ("zeros", "ones", "full", "copy")


def _escapes(
    function: ast.FunctionDef, own: list[ast.AST], name: str, changes: list[ast.AST], around: list[Round],
    made: list[tuple[ast.AST, ast.expr]],
) -> Iterator[tuple[int, str]]:  # fmt: skip
    """Where something else may get hold of an object that is changed afterwards: in a later line, or a later round."""
    entries = all(isinstance(value, LISTS) or _is_listed(value) for _, value in made)
    places = [where for where, _ in made]
    read, ends = _only_read(own, entries), [_end(own, at) for at in changes]
    for one in ast.walk(function):
        if not (isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)) or id(one) in read:
            continue
        place = one.lineno, one.col_offset
        if any(end >= place or _shared_round(at, one, places, around) for at, end in zip(changes, ends, strict=True)):
            yield one.lineno, f"{name} is handed on before it is changed"


def _end(own: list[ast.AST], change: ast.AST) -> tuple[int, int]:
    """Where the statement ends that a change is in, or its head: what is in it can be computed before the change."""
    around = [one for one in own if isinstance(one, ast.stmt) and any(each is change for each in ast.walk(one))]
    if not around:
        return _last(change)
    heads = [one for one in ast.iter_child_nodes(around[-1]) if not isinstance(one, ast.stmt)]
    simple = len(heads) == len([*ast.iter_child_nodes(around[-1])])
    return max(_last(each) for one in ([around[-1]] if simple else heads) for each in ast.walk(one))


def _only_read(own: list[ast.AST], entries: bool) -> set[int]:
    """Names that stand where an object is read, or changed, and not held: x[i], len(x), x.append, x.values().

    entries: whether x[i] is an entry, or new; of an array it can be a view.
    """
    found = set[int]()
    used = _used_up(own)
    for one in own:
        if isinstance(one, ast.Subscript):
            if entries or not isinstance(one.ctx, ast.Load) or id(one) in used:
                found.add(id(one.value))
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute):
            if one.func.attr in READING | CHANGING:
                found.add(id(one.func.value))
            elif one.func.attr == AT and one.args:
                found.add(id(one.args[0]))
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "len":
            found |= {id(each) for each in one.args}
    return found


def _used_up(own: list[ast.AST]) -> set[int]:
    """Expressions of which new numbers are made, or whose entries are copied to others of the same array.

    A part of an array, by a slice, is none of which numbers are made: sums that it stands beside keep it as it is.
    """
    found = set[int]()
    for one in own:
        if isinstance(one, ast.BinOp):
            found |= {id(each) for each in (one.left, one.right) if not _is_part(each)}
        elif isinstance(one, ast.Compare):
            found |= {id(each) for each in (one.left, *one.comparators) if not _is_part(each)}
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in ("float", "int"):
            found |= {id(each) for each in one.args}
        elif isinstance(one, ast.Assign) and len(one.targets) == 1:
            for to, of in _paired(one.targets[0], one.value):
                if isinstance(to, ast.Subscript) and isinstance(of, ast.Subscript) and _same_name(to.value, of.value):
                    found.add(id(of))
    return found


def _is_part(value: ast.expr) -> bool:
    key = value.slice if isinstance(value, ast.Subscript) else None
    keys = key.elts if isinstance(key, ast.Tuple) else [key]
    return any(isinstance(one, ast.Slice) or (isinstance(one, ast.Constant) and one.value is ...) for one in keys)


def _same_name(one: ast.expr, other: ast.expr) -> bool:
    return isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id
