"""What the syntax of a training text shows about its loops: what rounds carry over, and that they hide nothing.

A form is found only where every name of a loop's body is assigned in the round before it is used, or stays what it is,
or is a list that rounds append to and else ask for its last entry and its length. That a text has no other place to
keep a state in is looked at before (`refdp.prove.plain`).
"""

from __future__ import annotations

import ast
import dis
import linecache
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from refdp.privacy.curator import Curator
from refdp.prove.texts import NAMING, tree_of


@dataclass(frozen=True)
class Form:
    """A loop's names. grown: lists that rounds append to; kept: names that a round uses as it finds them, or that some
    rounds leave and others do not, for what comes after the loop. deep: how many last entries of a list it asks for."""

    grown: frozenset[str]
    kept: frozenset[str]
    deep: int = 1


def is_for(code: Any, at: int) -> bool:
    """Whether what is called at this place of the code is what a `for` goes over, and no comprehension.

    A comprehension in the loop's line can look like it in the code, since Python 3.12 even in the function's own: what
    is called stands in the text where what the loop goes over does. Where the code does not say so, it is none.
    """
    offsets, names = _instructions(code)
    place = bisect_right(offsets, at)  # `at` can lie within the call, in what it keeps beside it
    return names[place : place + 2] == ["GET_ITER", "FOR_ITER"] and _is_gone_over(code, at)


def _is_gone_over(code: Any, at: int) -> bool:
    where = next(islice(code.co_positions(), at // 2, None), (None,))
    text = "".join(linecache.getlines(code.co_filename))
    if None in where or not text:
        return False
    loops = [one for one in ast.walk(tree_of(text)) if isinstance(one, ast.For) and one.lineno == where[0]]
    return where in [(one.iter.lineno, one.iter.end_lineno, one.iter.col_offset, one.iter.end_col_offset)
                     for one in loops]  # fmt: skip


def is_unpacked(frame: Any) -> bool:
    """Whether what a frame iterates over goes to as many names as are written there."""
    offsets, names = _instructions(frame.f_code)
    place = bisect_right(offsets, frame.f_lasti) - 1
    return names[place] == "UNPACK_SEQUENCE"


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
    if not text:
        return None
    loops = [one for one in ast.walk(tree_of(text)) if isinstance(one, ast.For) and one.lineno == line]
    if len(loops) != 1 or loops[0].orelse or any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(loops[0])):
        return None
    around = [one for one in ast.walk(tree_of(text)) if isinstance(one, ast.FunctionDef) and loops[0] in ast.walk(one)]
    return _form(loops[0], around[0] if around else tree_of(text))


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
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "append":
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
