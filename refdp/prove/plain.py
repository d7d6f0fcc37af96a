"""The small language that a training text is written in, if it is to be proved.

One reading stands for all data sets, released values and rounds. What could make a run differ from it in a way that no
rule of the reading sees needs a state: an object that is changed while something else holds it. So here the language is
what is allowed, and has no such object: classes are frozen and have no bases, statements are few, and a function
changes only lists, dictionaries and arrays that it makes itself, which nothing else has while it still changes them.
The five papers' texts and Grove's are written so; a text that is not is refused, which is no violation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from refdp.prove.open import Open
from refdp.prove.symbols import Known
from refdp.prove.texts import CHANGING

STATEMENTS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.AugAssign,
              ast.Expr, ast.Return, ast.For, ast.If, ast.With, ast.Raise, ast.Assert, ast.Pass)  # fmt: skip
BASES = {"NamedTuple", "StrEnum"}
MARKS = {"property", "contextmanager", "staticmethod", "classmethod"}
ALONE = {"max", "min", "sum", "len", "tuple", "list", "float", "int", "bool", "str", "abs", "range", "all", "any"}
"""Built-in functions that are given no names of arguments."""
MAKING = {"zeros", "ones", "full", "zeros_like", "ones_like", "arange", "linspace", "concatenate", "repeat"}
"""Functions of numpy that make an array that is nobody else's."""
READING = {"copy", "get", "items", "values", "sum", "tolist", "min", "max", "any", "all"}
"""Methods by which a list, dictionary or array is read and not held."""
NEVER = {"add", "update", "insert", "remove", "clear", "setdefault", "popitem", "extend", "discard", "sort", "reverse",
         "fill", "put", "partition", "resize", "setflags", "setfield", "itemset", "byteswap"}  # fmt: skip
"""Methods that change a container or an array, of which no text needs any; a curator has a `partition` too."""
AT = "at"
"""numpy's `add.at`, which changes the array that it is given first."""
LISTS = (ast.List, ast.Dict, ast.ListComp, ast.DictComp)
ITERATORS = {"map", "zip", "enumerate", "reversed"}
GOING_OVER = {"list", "tuple", "dict", "sorted", "sum", "any", "all", "max", "min", "len", *ITERATORS}
"""Functions that go over what they are given, or give it on to one that does."""
FIRST_ONLY = ("all", "any", "argmax", "argmin", "argsort", "choose", "cumprod", "cumsum", "dot", "max", "mean", "min",
              "prod", "repeat", "round", "std", "sum", "take", "trace", "var")  # fmt: skip
ARGUMENTS = dict.fromkeys(FIRST_ONLY, 1) | {"clip": 2}
"""Arguments of methods of arrays by position; of one further the result may be written to it."""
TAKING = {"clip": 3, "where": 3, "linspace": 7, "arange": 4, "full": 3, "split": 3, "take_along_axis": 3, "isclose": 5,
          "logspace": 6, "searchsorted": 4, "repeat": 3, "diff": 3, "digitize": 3, "einsum": 99}  # fmt: skip
"""Those of numpy's functions; of others as many as one of them is said to take, or 2."""
NO_FIELDS = frozenset(one for kind in (Known, Open) for one in dir(kind) if not one.startswith("__")) | frozenset(
    (*vars(Known(0.0)), "shape", "ndim", "size", "dtype", "base", "T", "loop", "each", *READING - {"values"},
     *CHANGING)
)  # fmt: skip
"""Names by which arrays and the reading's own values are asked for what is no field of a class."""


Round = tuple[set[int], set[int]]
"""Of a loop the statements that every round comes by, and all that is in it."""


def beyond(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines of a text that are not of the small language, and why.

    Changes are looked at function by function; outside of functions there are none.
    """
    whole = {id(each) for one in ast.walk(tree) if isinstance(one, ast.Module | ast.FunctionDef) for each in one.body}
    inside = {id(each) for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) for each in _of_function(one)}
    bases = {id(each) for one in ast.walk(tree) if isinstance(one, ast.ClassDef) for each in one.bases}
    gone_over = _gone_over(tree)
    compared = {
        id(each) for one in ast.walk(tree) if isinstance(one, ast.Compare) for each in (one.left, *one.comparators)
    }
    for one in ast.walk(tree):
        line = getattr(one, "lineno", 0)
        if isinstance(one, ast.stmt) and not isinstance(one, STATEMENTS):
            yield line, f"a statement of the kind {type(one).__name__}"
        elif isinstance(one, ast.ClassDef):
            yield from _beyond_class(one, tree)
        elif isinstance(one, ast.FunctionDef):
            yield from _beyond_function(one)
        elif isinstance(one, ast.Import | ast.ImportFrom):
            if id(one) not in whole:
                yield line, "an import within a loop or a branch"
            for each in one.names:
                if each.asname and each.name != "numpy" and not (getattr(one, "module", "") or "").startswith("refdp"):
                    yield line, f"{each.name} by another name"
        elif isinstance(one, ast.SetComp) or (
            isinstance(one, ast.Set) and not all(isinstance(each, ast.Constant) for each in one.elts)
        ):
            yield line, "a set that is made of values"
        elif isinstance(one, ast.For | ast.comprehension) and not _only_names(one.target):
            yield one.target.lineno, "a loop over what is no name"
        elif isinstance(one, ast.For) and one.orelse:
            yield line, "an else after a loop"
        elif isinstance(one, ast.With):
            for item in one.items:
                if item.optional_vars is not None and not isinstance(item.optional_vars, ast.Name):
                    yield line, "what a with opens is no name"
        elif isinstance(one, ast.Compare):
            yield from ((line, why) for why in _beyond_identity(one))
        elif isinstance(one, ast.Name) and one.id in BASES and id(one) not in bases:
            yield line, f"{one.id} elsewhere than as the base of a class"
        elif isinstance(one, ast.Lambda) and id(one) not in inside:
            yield line, "a function that stands outside of functions and has no name"
        elif isinstance(one, ast.Lambda) and any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(one)):
            yield line, "a generator without a name"
        elif isinstance(one, ast.Subscript) and not isinstance(one.ctx, ast.Load) and id(one) not in inside:
            yield line, f"{ast.unparse(one.value)} is changed outside of functions"
        elif isinstance(one, ast.GeneratorExp) and id(one) not in gone_over:
            yield line, "a generator that is not gone over where it is made"
        elif isinstance(one, ast.Call):
            if _iterates(one) and id(one) not in gone_over:
                yield line, f"{ast.unparse(one.func)}, which is not gone over where it is made"
            yield from ((line, why) for why in _beyond_call(one))
        elif isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load):
            yield line, "an attribute that is set"
        elif isinstance(one, ast.Attribute) and id(one) not in compared:  # a field may be called like a method
            yield from ((line, why) for why in _beyond_method(one, id(one) in inside))


def _gone_over(tree: ast.Module) -> set[int]:
    """Expressions whose values are gone over where they stand: what goes over them keeps how far it came."""
    found = set[int]()
    for one in ast.walk(tree):
        if isinstance(one, ast.For | ast.comprehension):
            found.add(id(one.iter))
        elif isinstance(one, ast.Starred) and isinstance(one.ctx, ast.Load):
            found.add(id(one.value))
        elif isinstance(one, ast.Call) and (
            (isinstance(one.func, ast.Name) and one.func.id in GOING_OVER)
            or (isinstance(one.func, ast.Attribute) and one.func.attr == "join")
        ):
            found |= {id(each) for each in one.args}
    return found


def _iterates(one: ast.Call) -> bool:
    """Whether it gives an iterator, which is gone over once, or a view of a dictionary, which follows its changes."""
    if isinstance(one.func, ast.Attribute):
        return one.func.attr in ("items", "values")
    return isinstance(one.func, ast.Name) and one.func.id in ITERATORS


def _beyond_class(one: ast.ClassDef, tree: ast.Module) -> Iterator[tuple[int, str]]:
    bases = [ast.unparse(base) for base in one.bases]
    marks = [ast.unparse(mark) for mark in one.decorator_list]
    if one not in tree.body:
        yield one.lineno, f"{one.name}, a class within a function"
    if marks != ([] if bases else ["dataclass(frozen=True)"]) or not set(bases) <= BASES or len(bases) > 1:
        yield one.lineno, f"{one.name}, a class that is neither a frozen dataclass nor a NamedTuple or StrEnum"
    for each in one.body:
        named: list[str] = []
        if isinstance(each, ast.FunctionDef):
            named = [each.name]
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            named = [each.target.id]
            if each.value is not None and not _constant(each.value):
                yield each.lineno, f"{each.target.id} of {one.name}, whose default is no constant"
        elif isinstance(each, ast.Assign):
            named = [target.id for target in each.targets if isinstance(target, ast.Name)]
            if not _constant(each.value):
                yield each.lineno, f"a member of {one.name} that is no constant"
        elif not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)):
            yield each.lineno, f"a statement in the class {one.name}"
        for name in named:
            if name in NO_FIELDS or (name.startswith("__") and name != "__post_init__"):
                yield each.lineno, f"{name} of {one.name}, which arrays or Python itself have"


def _constant(value: ast.expr) -> bool:
    return not any(isinstance(one, ast.List | ast.Dict | ast.Call | ast.Lambda | ast.ListComp | ast.DictComp
                              | ast.SetComp | ast.GeneratorExp) for one in ast.walk(value))  # fmt: skip


def _beyond_function(one: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    marks = {ast.unparse(mark) for mark in one.decorator_list}
    if not marks <= MARKS:
        yield one.lineno, f"{one.name} is marked by {', '.join(sorted(marks))}"
    if "contextmanager" in marks and len(marks) > 1:
        yield one.lineno, f"{one.name} is marked by {', '.join(sorted(marks))}"
    own = list(_of_function(one))
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own) and "contextmanager" not in marks:
        yield one.lineno, f"{one.name}, a generator"
    nested = [each for each in own if isinstance(each, ast.FunctionDef)]
    if nested and (any(isinstance(each, ast.For) for each in own) or not all(each in one.body for each in nested)):
        yield one.lineno, f"{one.name}, in which a function is made beside or within a loop"
    yield from _changes(one, own)
    yield from _rebound(one, own)


def _rebound(function: ast.FunctionDef, own: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Names of a function that another one in it uses, and that mean something else when that one is called."""
    inner = [one for one in own if isinstance(one, ast.Lambda | ast.FunctionDef)]
    within = {id(each) for one in own if isinstance(one, ast.Lambda | ast.comprehension) for each in ast.walk(one)}
    stored = [
        one for one in own if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and id(one) not in within
    ]
    looped = {id(each) for one in own if isinstance(one, ast.For) for each in ast.walk(one)}
    for one in inner:
        given = {each.arg for each in ast.walk(one) if isinstance(each, ast.arg)}
        for name in {each.id for each in ast.walk(one) if isinstance(each, ast.Name)} - given:
            places = [each for each in stored if each.id == name]
            if len(places) > 1 or any(_line(each) > _line(one) or (id(each) in looped and id(one) not in looped)
                                      for each in places):  # fmt: skip
                yield _line(one), f"{name}, which a function within another one has, is bound anew"


def _of_function(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What is in a function's body, without the bodies of functions in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        one = waiting.pop(0)
        yield one
        if not isinstance(one, ast.FunctionDef):
            waiting += ast.iter_child_nodes(one)


def _only_names(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple):
        return all(_only_names(one) for one in target.elts)
    return isinstance(target, ast.Name) or (isinstance(target, ast.Starred) and _only_names(target.value))


def _beyond_identity(one: ast.Compare) -> Iterator[str]:
    """`is` asks for None or for a member of an enumeration: of anything else it is whether two are one object."""
    for how, right in zip(one.ops, one.comparators, strict=True):
        none = isinstance(right, ast.Constant) and right.value is None
        member = isinstance(right, ast.Attribute) and right.attr.isupper() and isinstance(right.value, ast.Name)
        if isinstance(how, ast.Is | ast.IsNot) and not ((none or member) and len(one.ops) == 1):
            yield "whether two values are one object"


def _beyond_call(one: ast.Call) -> Iterator[str]:
    starred = any(isinstance(each, ast.Starred) for each in one.args)
    if any(each.arg == "out" for each in one.keywords):
        yield "out, which is written to"
    if isinstance(one.func, ast.Name):
        if one.func.id in ALONE and one.keywords:
            yield f"{one.func.id} with names of arguments"
        if one.func.id == "sum" and len(one.args) != 1:
            yield "a sum that begins with something"
        return
    if not isinstance(one.func, ast.Attribute):
        return
    of_numpy, name = _is_np(one.func.value), one.func.attr
    if of_numpy and name.startswith("empty") and not any(_is_zero(each) for one_of in one.args[:1] for each in
                                                          ast.walk(one_of)):  # fmt: skip
        yield f"{name} of entries that nobody has filled"
    if of_numpy and isinstance(kind := getattr(np, name, None), type) and issubclass(kind, np.generic):
        yield f"a number of numpy's kind {name}, which others round or wrap around otherwise than Python's"
    texts = [each for each in one.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if texts and (of_numpy or name in ("ravel", "flatten", "copy", "reshape", "transpose", "astype", "argsort")):
        yield f"{name} with a text, which says how an array lies in memory or what is done with it"
    if name in ("ravel", "flatten", "copy") and not of_numpy and (one.args or one.keywords):
        yield f"{name} of an array with arguments"
    taking = getattr(getattr(np, name, None), "nin", TAKING.get(name, 2)) if of_numpy else ARGUMENTS.get(name)
    if taking is not None and (starred or len(one.args) > taking):
        yield f"{name} of an array, whose result goes to one of its arguments"
    if name == "get" and len(one.args) != 2:
        yield "get, which gives None where there is nothing"
    if of_numpy and any(each.arg == "copy" for each in one.keywords):
        yield f"{name} that may make no array"


def _beyond_method(one: ast.Attribute, inside: bool) -> Iterator[str]:
    if one.attr in NEVER and not _is_np(one.value) and ast.unparse(one) != "curator.partition":
        yield f"{one.attr}, which changes what nobody has looked at"
    if isinstance(one.value, ast.Attribute) and _is_np(one.value.value) and (one.value.attr, one.attr) != ("add", AT):
        yield f"{one.attr} of numpy's {one.value.attr}"
    if one.attr == AT and ast.unparse(one.value) != "np.add":
        yield "at of something else than numpy's add"
    if one.attr in CHANGING | {AT} and not inside:
        yield f"{one.attr} outside of functions"


def _is_zero(value: ast.AST) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is int and value.value == 0


# --- What a function changes ------------------------------------------------------------------------------------------


def _changes(function: ast.FunctionDef, own: list[ast.AST]) -> Iterator[tuple[int, str]]:
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
    within = {id(each) for one in own if isinstance(one, ast.Lambda | ast.ListComp | ast.DictComp | ast.GeneratorExp)
              for each in ast.walk(one)}  # fmt: skip
    for value, at in changed:
        line = getattr(at, "lineno", function.lineno)
        by_at = isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute) and at.func.attr == AT
        if by_at and isinstance(value, ast.Name) and not all(_is_array(one) for _, one in made.get(value.id, ())):
            yield line, f"{value.id}, which is not always zeros, ones or a copy, is added to by at"
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
            target, value = one.targets[0], one.value
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = [*zip(target.elts, value.elts, strict=False)] if both else [(target, value)]  # type: ignore[attr-defined]
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
            _line(each) >= one.lineno or _shared_round(each, one, places, around) for each in own_changes
        ):
            other.add(one.id)
    return {name: places for name, places in found.items() if name not in other}


def _shared_round(change: ast.AST, other: ast.AST, made: list[ast.AST], around: list[Round]) -> bool:
    """Whether a loop has both, so that the change is in a later round than the other, and no new object in between."""
    return any(
        id(change) in inside and id(other) in inside and not any(id(each) in certain for each in made)
        for certain, inside in around
    )


def _certain(body: list[ast.stmt]) -> set[int]:
    """The statements that every round comes by."""
    found = {id(one) for one in body}
    for one in body:
        if isinstance(one, ast.With):
            found |= _certain(one.body)
    return found


def _line(one: ast.AST) -> int:
    return int(getattr(one, "lineno", 0))


def _is_new(value: ast.expr) -> bool:
    if isinstance(value, LISTS):
        return True
    if not isinstance(value, ast.Call):
        return False
    own = value.func.value if isinstance(value.func, ast.Subscript) else value.func  # list[int]()
    if isinstance(own, ast.Name):
        return own.id == "list"
    if not isinstance(own, ast.Attribute):
        return False
    return own.attr in MAKING if _is_np(own.value) else own.attr == "copy" and not value.args and not value.keywords


def _is_array(value: ast.expr) -> bool:
    """Whether what is new is an array of numbers that were there before: zeros, ones, or a copy."""
    own = value.func if isinstance(value, ast.Call) else None
    return isinstance(own, ast.Attribute) and own.attr in ("zeros", "ones", "full", "copy")


def _escapes(
    function: ast.FunctionDef, own: list[ast.AST], name: str, changes: list[ast.AST], around: list[Round],
    made: list[tuple[ast.AST, ast.expr]],
) -> Iterator[tuple[int, str]]:  # fmt: skip
    """Where something else may get hold of an object that is changed afterwards: in a later line, or a later round."""
    entries = all(isinstance(value, LISTS) or ast.unparse(value).startswith("list") for _, value in made)
    places = [where for where, _ in made]
    read, ends = _only_read(own, entries), [_end(own, at) for at in changes]
    for one in ast.walk(function):
        if not (isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)) or id(one) in read:
            continue
        place = one.lineno, one.col_offset
        if any(end >= place or _shared_round(at, one, places, around) for at, end in zip(changes, ends, strict=True)):
            yield one.lineno, f"{name} is handed on before it is changed"


def _end(own: list[ast.AST], change: ast.AST) -> tuple[int, int]:
    """Where the statement ends that a change is in: what it hands on is handed on before."""
    around = [one for one in own if isinstance(one, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return)
              and any(each is change for each in ast.walk(one))]  # fmt: skip
    last = around[0] if around else change
    return getattr(last, "end_lineno", 0) or 0, getattr(last, "end_col_offset", 0) or 0


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
    """Expressions of which new numbers are made, or whose entries are copied to others of the same array."""
    found = set[int]()
    for one in own:
        if isinstance(one, ast.BinOp):
            found |= {id(one.left), id(one.right)}
        elif isinstance(one, ast.Compare):
            found |= {id(one.left), *map(id, one.comparators)}
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in ("float", "int"):
            found |= {id(each) for each in one.args}
        elif isinstance(one, ast.Assign) and len(one.targets) == 1:
            target, value = one.targets[0], one.value
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            for to, of in zip(target.elts, value.elts, strict=False) if both else [(target, value)]:  # type: ignore[attr-defined]
                if isinstance(to, ast.Subscript) and isinstance(of, ast.Subscript) and _same_name(to.value, of.value):
                    found.add(id(of))
    return found


def _same_name(one: ast.expr, other: ast.expr) -> bool:
    return isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id


def _is_np(value: Any) -> bool:
    return isinstance(value, ast.Name) and value.id == "np"
