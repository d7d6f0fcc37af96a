"""What the syntax of a training text shows about its loops: what rounds carry over, and that they hide nothing.

A form is found only where every name of a loop's body is assigned in the round before it is used, or stays what it is,
or is a list that rounds append to and else ask for its last entry and its length; and where the text's file has no
other place to keep a state in (`global`, attributes that are set, entries of parameters, mutable defaults, `next`).
"""

from __future__ import annotations

import ast
import dis
import linecache
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from refdp.privacy.curator import Curator
from refdp.prove.altering import APPENDING, CHANGING, LITERALS
from refdp.prove.texts import tree_of

TAKING = {"clip": 3, "where": 3, "linspace": 7, "arange": 4, "full": 3, "split": 3, "take_along_axis": 3, "isclose": 5,
          "logspace": 6, "searchsorted": 4, "repeat": 3, "diff": 3, "digitize": 3, "einsum": 99}  # fmt: skip
"""Arguments of numpy's functions by position, before one that the result is written to; of others 2."""
WRITING = {"sum": 3, "mean": 3, "std": 3, "prod": 3, "cumsum": 3, "cumprod": 3, "trace": 5, "max": 2, "min": 2,
           "any": 2, "all": 2, "argmax": 2, "argmin": 2, "clip": 3, "take": 3, "dot": 2, "round": 2, "compress": 3,
           "choose": 2}  # fmt: skip
"""Methods of arrays, and which of their arguments by position the result is written to."""
CONTAINERS = {"list", "dict", "set", "bytearray", "deque", "defaultdict", "Counter", "OrderedDict", "copy", "deepcopy"}
ARRAYS = {"array", "asarray", "zeros", "ones", "empty", "full", "arange", "linspace", "zeros_like", "ones_like"}
"""Functions that make an object that its callers can change."""
KEEPABLE = {"calibrate_total", "float", "int", "str", "bool", "tuple", "frozenset"}
"""Functions, beside classes, that give what cannot be changed: a cached function may return what they give."""
HIDING = {"next", "iter", "setattr", "delattr", "vars", "globals", "locals", "exec", "eval", "id", "open"}


@dataclass(frozen=True)
class Form:
    """A loop's names. grown: lists that rounds append to; kept: names that a round uses as it finds them, or that some
    rounds leave and others do not, for what comes after the loop. deep: how many last entries of a list it asks for."""

    grown: frozenset[str]
    kept: frozenset[str]
    deep: int = 1


def is_for(code: Any, at: int) -> bool:
    """Whether what is called at this place of the code is what a `for` goes over, and no comprehension."""
    offsets, names = _instructions(code)
    place = bisect_right(offsets, at)  # `at` can lie within the call, in what it keeps beside it
    return names[place : place + 2] == ["GET_ITER", "FOR_ITER"]


def is_unpacked(frame: Any) -> bool:
    """Whether what a frame iterates over goes to as many names as are written there."""
    offsets, names = _instructions(frame.f_code)
    place = bisect_right(offsets, frame.f_lasti) - 1
    return names[place] == "UNPACK_SEQUENCE"


NAMING = {"step", "release", "release_sum", "draw", "partition", "subsample"}


def is_name(frame: Any) -> bool:
    """Whether the texts that a frame puts together in its line are names that the curator gets, and nothing else."""
    if not isinstance(frame.f_locals.get("curator"), Curator):
        return False
    line, text = frame.f_lineno, "".join(linecache.getlines(frame.f_code.co_filename))
    here = [one for one in ast.walk(tree_of(text)) if isinstance(one, ast.expr) and one.lineno <= line <= _end(one)]
    names = {id(one.args[0]) for one in here if isinstance(one, ast.Call) and one.args and _is_curators(one.func)}
    return all(id(one) in names for one in here if isinstance(one, ast.JoinedStr))


def _end(one: ast.expr) -> int:
    return one.end_lineno or one.lineno


def _is_curators(function: ast.expr) -> bool:
    """Whether a function is one of the curator's whose first argument is a name."""
    if not (isinstance(function, ast.Attribute) and function.attr in NAMING):
        return False
    return isinstance(function.value, ast.Name) and function.value.id == "curator"


@lru_cache(maxsize=256)
def _instructions(code: Any) -> tuple[list[int], list[str]]:
    found = [one for one in dis.get_instructions(code) if one.opname not in ("CACHE", "EXTENDED_ARG")]
    return [one.offset for one in found], [one.opname for one in found]


def form_of(file: str, line: int) -> Form | None:
    """The form of the loop that begins in this line, None where none is found."""
    text = "".join(linecache.getlines(file))
    if not text or hides(text):
        return None
    loops = [one for one in ast.walk(tree_of(text)) if isinstance(one, ast.For) and one.lineno == line]
    if len(loops) != 1 or loops[0].orelse or any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(loops[0])):
        return None
    around = [one for one in ast.walk(tree_of(text)) if isinstance(one, ast.FunctionDef) and loops[0] in ast.walk(one)]
    return _form(loops[0], around[0] if around else tree_of(text))


@lru_cache(maxsize=16)
def hides(text: str) -> bool:
    """Whether a text has a place to keep a state in that is no local name."""
    if _keeps_elsewhere(tree_of(text)) or _changes_kept(tree_of(text)):
        return True
    for one in ast.walk(tree_of(text)):
        if isinstance(one, ast.Global | ast.Nonlocal):
            return True
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store | ast.Del):
            return True
        if isinstance(one, ast.Name) and one.id in HIDING:
            return True
        if isinstance(one, ast.Call) and _writes(one):
            return True
        if isinstance(one, ast.FunctionDef | ast.Lambda) and (_changes_others(one) or _generates(one) or _caches(one)):
            return True
    return False


def _writes(one: ast.Call) -> bool:
    """Whether the result of a function of arrays can go to one of its arguments."""
    if not isinstance(one.func, ast.Attribute):
        return False
    name, starred = one.func.attr, any(isinstance(each, ast.Starred) for each in one.args)
    if isinstance(one.func.value, ast.Name) and one.func.value.id == "np":
        taking = getattr(getattr(np, name, None), "nin", TAKING.get(name, 2))
        return starred or len(one.args) > taking
    return name in WRITING and (starred or len(one.args) >= WRITING[name])


def _caches(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a function gives every caller the same object to change: a cached list or dictionary."""
    marks = function.decorator_list if isinstance(function, ast.FunctionDef) else []
    kept = any(_is_cache(one) for mark in marks for one in ast.walk(mark))
    inner = {id(one) for nested in ast.walk(function) if isinstance(nested, ast.FunctionDef) and nested is not function
             for one in ast.walk(nested)}  # fmt: skip
    given = [one.value for one in ast.walk(function) if isinstance(one, ast.Return) and id(one) not in inner]
    return kept and not all(_stays(one) for one in given)


def _is_cache(one: ast.AST) -> bool:
    """Whether a name is that of something that keeps what a function gave, by itself or as a module's."""
    return "cache" in (one.id if isinstance(one, ast.Name) else one.attr if isinstance(one, ast.Attribute) else "")


def _stays(given: ast.expr | None) -> bool:
    """Whether what a cached function gives is no container that is made in its last line."""
    if isinstance(given, ast.Tuple):
        return not any(isinstance(one, LITERALS) or _makes(one, CONTAINERS) for one in given.elts)
    return isinstance(given, ast.Attribute | ast.Constant) or (
        isinstance(given, ast.Call) and isinstance(given.func, ast.Name) and not _makes(given, CONTAINERS | ARRAYS)
        and (given.func.id[:1].isupper() or given.func.id in KEEPABLE)
    )  # fmt: skip


def _makes(one: ast.expr, names: set[str]) -> bool:
    """Whether it is a call of a function of one of these names, by itself or as a module's."""
    own = one.func if isinstance(one, ast.Call) else None
    return (own.id if isinstance(own, ast.Name) else own.attr if isinstance(own, ast.Attribute) else "") in names


def _keeps_elsewhere(tree: ast.Module) -> bool:
    """Whether a cache is made otherwise than as a mark of a function, or goes by another name."""
    marked = {id(one) for function in ast.walk(tree) if isinstance(function, ast.FunctionDef)
              for mark in function.decorator_list for one in ast.walk(mark)}  # fmt: skip
    for one in ast.walk(tree):
        if isinstance(one, ast.alias) and one.asname is not None and "cache" in one.name:
            return True
        if _is_cache(one) and id(one) not in marked:
            return True
    return False


def _changes_kept(tree: ast.Module) -> bool:
    """Whether a function changes entries of what may be a part of what a cached function gave, such as an array."""
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    giving = {one.name for one in functions if any(_is_cache(mark) for each in one.decorator_list
              for mark in ast.walk(each)) and any(isinstance(each.value, ast.Tuple) for each in ast.walk(one)
              if isinstance(each, ast.Return))}  # fmt: skip
    while True:
        parts = {one.name: _parts(one, giving) for one in functions}
        more = {
            one.name
            for one in functions
            for each in ast.walk(one)
            if isinstance(each, ast.Return) and each.value and _names(each.value) & (giving | parts[one.name])
        }
        if more <= giving:
            return any(_changed(one) & parts[one.name] for one in functions)
        giving |= more


def _parts(function: ast.FunctionDef, giving: set[str]) -> set[str]:
    """Names that a function stores something in that is made of what these functions give, or of such names."""
    stored = [(one.targets, one.value) for one in ast.walk(function) if isinstance(one, ast.Assign)]
    stored += [([one.target], one.iter) for one in ast.walk(function) if isinstance(one, ast.For | ast.comprehension)]
    stored += [([one.target], one.value) for one in ast.walk(function)
               if isinstance(one, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and one.value]  # fmt: skip
    found: set[str] = set()
    while more := {name for targets, value in stored if _names(value) & (giving | found)
                   for target in targets for name in _names(target)} - found:  # fmt: skip
        found |= more
    return found


def _changed(function: ast.FunctionDef) -> set[str]:
    """Names of which a function changes entries, or by a method."""
    found = set[str]()
    for one in ast.walk(function):
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store | ast.Del):
            found |= _names(one.value)
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in CHANGING:
            found |= _names(one.func.value)
        elif isinstance(one, ast.AugAssign):
            found |= _names(one.target)
    return found


def _generates(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a function keeps its state between two values, and is no context manager."""
    marks = function.decorator_list if isinstance(function, ast.FunctionDef) else []
    yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(function))
    return yields and not any(isinstance(one, ast.Name) and one.id == "contextmanager" for one in marks)


def _changes_others(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a function changes an object that it has not made, or has a default that can change."""
    defaults = [*function.args.defaults, *(one for one in function.args.kw_defaults if one is not None)]
    if any(isinstance(one, ast.List | ast.Dict | ast.Set | ast.Call) for one in defaults):
        return True
    own = {one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    parameters = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    for one in ast.walk(function):
        changed = isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store | ast.Del)
        if changed and not (isinstance(one.value, ast.Name) and one.value.id in own):  # type: ignore[attr-defined]
            return True
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in CHANGING:
            base = one.func.value
            if not (isinstance(base, ast.Name) and base.id in own | parameters):
                return True
        if isinstance(one, ast.keyword) and one.arg == "out":
            return True
    return False


def _form(loop: ast.For, around: ast.AST) -> Form | None:
    grown = {name for name, _ in _appended(loop)}
    allowed = {id(node) for _, node in _appended(loop)}
    for one in ast.walk(loop):
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load) and _back(one.slice) is not None:
            allowed.add(id(one.value))
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "len":
            allowed |= {id(argument) for argument in one.args}
    assigned, inside = set[str](), {id(one) for one in ast.walk(loop)}
    used = _stored(loop.target, assigned)
    _through(loop.body, assigned, used)
    stored = {one.id for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    beside = {one.id for one in ast.walk(around) if isinstance(one, ast.Name) and id(one) not in inside}
    used |= (stored - assigned) & beside
    deep = [back for one in ast.walk(loop) if (back := _back(one)) is not None]
    if not all(type(one) is int and one > 0 for one in deep):  # -0 is the first entry
        return None
    for one in ast.walk(loop):
        if isinstance(one, ast.Name) and one.id in grown and id(one) not in allowed:
            if one.id in used:
                return None
            grown.discard(one.id)  # made anew in every round
    return Form(frozenset(grown & used), frozenset(used - grown), max(deep, default=1))


def _appended(loop: ast.For) -> Iterator[tuple[str, ast.Name]]:
    for one in ast.walk(loop):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in APPENDING:
            if isinstance(one.func.value, ast.Name):
                yield one.func.value.id, one.func.value
        elif isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add) and isinstance(one.target, ast.Name):
            yield one.target.id, one.target


def _back(index: ast.AST) -> Any:
    """k of -k, None of anything else."""
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) and isinstance(index.operand, ast.Constant):
        return index.operand.value
    return None


def _names(target: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}


def _loaded(node: ast.AST | None, assigned: set[str]) -> set[str]:
    """Names that an expression uses and that are not assigned before."""
    if node is None:
        return set()
    return _names(node) - assigned  # with names of comprehensions, which can be those of other values as well


def _through(body: Iterable[ast.stmt], assigned: set[str], used: set[str]) -> None:
    """Go through statements: what is certainly assigned after them, and what they use before."""
    for one in body:
        match one:
            case ast.Assign():
                used |= _loaded(one.value, assigned)
                for target in one.targets:
                    used |= _stored(target, assigned)
            case ast.AnnAssign():
                used |= _loaded(one.value, assigned)
                used |= _stored(one.target, assigned if one.value is not None else set())
            case ast.AugAssign():
                used |= _loaded(one.value, assigned) | _loaded(one.target, assigned)
            case ast.For():
                used |= _loaded(one.iter, assigned)
                inner = set(assigned)
                used |= _stored(one.target, inner)
                _through(one.body, inner, used)
                _through(one.orelse, set(assigned), used)
            case ast.If():
                used |= _loaded(one.test, assigned)
                ways = [set(assigned), set(assigned)]
                _through(one.body, ways[0], used)
                _through(one.orelse, ways[1], used)
                assigned |= ways[0] & ways[1]
            case ast.With():
                for item in one.items:
                    used |= _loaded(item.context_expr, assigned)
                    if item.optional_vars is not None:
                        used |= _stored(item.optional_vars, assigned)
                _through(one.body, assigned, used)
            case _:
                used |= _loaded(one, assigned)


def _stored(target: ast.expr, assigned: set[str]) -> set[str]:
    """What storing uses; the names that it assigns are added."""
    found = set[str]()
    for one in ast.walk(target):
        if isinstance(one, ast.Subscript | ast.Attribute):
            found |= _loaded(one, assigned)
    assigned |= {one.id for one in ast.walk(target) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return found
