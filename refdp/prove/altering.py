"""Whether a function of a training text may change what it is given.

A function of released values is run on one example of what was released; what it changes in its callers' lists or
arrays would be known to the reading at that example alone.
"""

from __future__ import annotations

import ast
import inspect
from functools import lru_cache
from typing import Any

from refdp.prove.texts import own_classes, tree_of_function

APPENDING = {"append", "extend"}
CHANGING = APPENDING | {"add", "update", "insert", "pop", "remove", "clear", "setdefault", "popitem", "discard", "sort",
                        "reverse", "fill", "put", "resize", "setflags", "send"}  # fmt: skip
ALTERING = CHANGING | {"appendleft", "extendleft", "popleft", "rotate", "move_to_end", "difference_update", "subtract",
                       "intersection_update", "symmetric_difference_update", "partition", "itemset", "byteswap",
                       "setfield", "at"}  # fmt: skip
"""Methods that change an object, and numpy's `at`, which changes its first argument."""
FRESH = {"list", "dict", "set", "sorted", "deque", "range", "len", "float", "int", "abs", "sum", "round"}
VIEWS = {"asarray", "ravel", "reshape", "squeeze", "transpose", "broadcast_to", "split", "expand_dims", "flip", "diag"}
LITERALS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


@lru_cache(maxsize=256)
def alters(function: Any) -> bool:
    """Whether a function of a text, or one that it calls, may change what it is given."""
    texts, waiting = set[Any](), [inspect.unwrap(function)]
    while waiting:
        own = waiting.pop()
        if own in texts or not inspect.isfunction(own):
            continue
        texts.add(own)
        tree = tree_of_function(own)
        if tree is None or any(_alters(one) for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.Lambda)):
            return True
        known = own.__globals__
        names = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
        parts = {one.attr for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
        found = [known.get(name) for name in names] + [
            vars(one).get(part) for one in own_classes(known) for part in parts
        ]
        for each in found:
            each = getattr(each, "fget", None) or getattr(each, "__func__", each)
            each = inspect.unwrap(each) if callable(each) else each
            if inspect.isfunction(each) and each.__module__ == own.__module__:
                waiting.append(each)
    return False


def _alters(function: ast.FunctionDef | ast.Lambda) -> bool:
    made, seen = _fresh(function), set[int]()
    for one in ast.walk(function):  # parents first
        changed: list[ast.expr] = []
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store | ast.Del):
            changed = [one.value]
        elif isinstance(one, ast.AugAssign):
            changed = [one.target]
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in ALTERING:
            seen.add(id(one.func))
            if not _is_numpys(one.func):
                changed = one.args[:1] if one.func.attr == "at" else [one.func.value]
        elif isinstance(one, ast.Compare):  # a field that is called like a method: params.update == "averaging"
            seen.update(map(id, (one.left, *one.comparators)))
        elif isinstance(one, ast.Attribute) and one.attr in ALTERING and id(one) not in seen and not _is_numpys(one):
            changed = [one.value]  # a method that is not called here may be called elsewhere, by another name
        if any(not (isinstance(each, ast.Name) and each.id in made) for each in changed):
            return True
    return False


def _is_numpys(method: ast.Attribute) -> bool:
    return isinstance(method.value, ast.Name) and method.value.id == "np"


def _fresh(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Names that stand for nothing but what the function makes itself."""
    made, other = set[str](), {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
    for one in ast.walk(function):
        pairs: list[tuple[ast.expr, ast.expr | None]] = []
        match one:
            case ast.Assign(targets, value):
                for target in targets:
                    both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                    alike = both and len(target.elts) == len(value.elts)  # type: ignore[attr-defined]
                    pairs += zip(target.elts, value.elts) if alike else [(target, value)]  # type: ignore[attr-defined]
            case ast.AnnAssign(target, _, value) | ast.NamedExpr(target, value):
                pairs = [(target, value)]
            case ast.For(target) | ast.comprehension(target) | ast.withitem(_, ast.expr() as target):
                pairs = [(target, None)]
            case ast.MatchAs(_, str() as name) | ast.MatchStar(str() as name):
                other.add(name)
        for target, value in pairs:
            names = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)
                     and isinstance(each.ctx, ast.Store)}  # fmt: skip
            good = isinstance(target, ast.Name) and value is not None and _is_fresh(value)
            (made if good else other).update(names)
    return made - other


def _is_fresh(value: ast.expr) -> bool:
    if isinstance(value, (*LITERALS, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare)):
        return True
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Name):
        return value.func.id in FRESH
    if not isinstance(value.func, ast.Attribute):
        return False
    return value.func.attr not in VIEWS if _is_numpys(value.func) else value.func.attr == "copy"
