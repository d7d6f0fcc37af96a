"""The small language that a training text is written in, if it is to be proved.

One reading stands for all data sets, released values and rounds. What could make a run differ from it in a way that no
rule of the reading sees needs a state: an object that is changed while something else holds it. So here the language is
what is allowed, and has no such object: classes are frozen and have no bases, statements are few, and a function
changes only lists, dictionaries and arrays that it makes itself, which nothing else has while it still changes them.
The five papers' texts and Grove's are written so; a text that is not is refused, which is no violation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import numpy as np

from refdp.prove.changes import changes
from refdp.prove.meanings import meanings, names, rebound
from refdp.prove.open import Open
from refdp.prove.symbols import Known
from refdp.prove.texts import AT, CHANGING, NAMING, READING, is_numpy, notes_of, of_function
from refdp.prove.words import BUILTINS, CHARGING

STATEMENTS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.AugAssign,
              ast.Expr, ast.Return, ast.For, ast.If, ast.With, ast.Raise, ast.Assert, ast.Pass)  # fmt: skip
BASES = {"NamedTuple", "StrEnum"}
MARKS = {"property", "contextmanager", "staticmethod", "classmethod"}
ALONE = {"max", "min", "sum", "len", "tuple", "list", "float", "int", "bool", "str", "abs", "range", "all", "any"}
"""Built-in functions that are given no names of arguments."""
NEVER = {"add", "update", "insert", "remove", "clear", "setdefault", "popitem", "extend", "discard", "sort", "reverse",
         "fill", "put", "partition", "resize", "setflags", "setfield", "itemset", "byteswap"}  # fmt: skip
"""Methods that change a container or an array, of which no text needs any; a curator has a `partition` too."""
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
METHODS = frozenset(
    name for kind in (np.ndarray, str, list, tuple, dict, float, int) for name in dir(kind)
    if name[0] != "_" and callable(getattr(kind, name))
)  # fmt: skip
"""Methods of arrays, texts and containers; some of arrays write to an argument."""
OWN = {"clip", "update", "values"}
"""Those that fields of texts and of refdp are called like."""
NO_FIELDS = frozenset(one for kind in (Known, Open) for one in dir(kind) if not one.startswith("__")) | frozenset(
    (*vars(Known(0.0)), "shape", "ndim", "size", "dtype", "base", "T", "loop", "each", *READING - {"values"},
     *CHANGING, *NAMING - {"subsample"}, *METHODS - OWN, *CHARGING)
)  # fmt: skip
"""Names by which arrays, curators, accounts and the reading's own values are asked for what is no field of a class."""


def beyond(tree: ast.Module, beside: Sequence[ast.Module] = ()) -> Iterator[tuple[int, str]]:
    """Lines of a text that are not of the small language, and why. beside: the module's other texts.

    Changes are looked at function by function; outside of functions there are none.
    """
    whole = {id(each) for one in ast.walk(tree) if isinstance(one, ast.Module | ast.FunctionDef) for each in one.body}
    inside = {id(each) for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) for each in of_function(one)}
    bases = {id(each) for one in ast.walk(tree) if isinstance(one, ast.ClassDef) for each in one.bases}
    gone_over = _gone_over(tree)
    called = {id(one.func) for one in ast.walk(tree) if isinstance(one, ast.Call)}
    notes = {id(each) for one in notes_of(tree) for each in ast.walk(one)}
    by_at = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Attribute) and one.attr == AT}
    handed = called | by_at | _handed_to_curator(tree)
    known = {name: of for one in (*beside, tree) for name, of in names(one).items()}
    fields = {name for one in (tree, *beside) for name in _fields(one)}
    yield from meanings(tree, known)
    if "clip" in fields:
        yield from _beyond_callees(tree, {*known, *BUILTINS}, fields)
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
            yield from ((line, why) for why in (*_beyond_identity(one), *_beyond_equality(one)))
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
        elif isinstance(one, ast.Attribute) and id(one) not in notes | handed and _is_function(one, fields):
            yield line, f"{ast.unparse(one)} elsewhere than where it is called"
        elif isinstance(one, ast.Attribute) and (one.attr == "keys" or (one.attr == "items" and id(one) not in called)):
            yield line, f"{one.attr}, views of which can meet and be a set"
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
    own = list(of_function(one))
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own) and "contextmanager" not in marks:
        yield one.lineno, f"{one.name}, a generator"
    nested = [each for each in own if isinstance(each, ast.FunctionDef)]
    if nested and (any(isinstance(each, ast.For) for each in own) or not all(each in one.body for each in nested)):
        yield one.lineno, f"{one.name}, in which a function is made beside or within a loop"
    yield from changes(one, own)
    yield from rebound(one, own)


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


def _beyond_equality(one: ast.Compare) -> Iterator[str]:
    """Containers are equal where their entries are the same objects, which numbers and arrays need not be."""
    sides = [one.left, *one.comparators]
    for how, *pair in zip(one.ops, sides, sides[1:], strict=False):
        if not isinstance(how, ast.Is | ast.IsNot) and any(isinstance(each, CONTAINERS) and not _constant_entries(each)
                                                           for each in pair):  # fmt: skip
            yield "a comparison of a container that is made there, which asks whether entries are one object"


CONTAINERS = (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)


def _constant_entries(value: ast.expr) -> bool:
    return isinstance(value, ast.Tuple | ast.List | ast.Set) and all(isinstance(e, ast.Constant) for e in value.elts)


def _is_function(one: ast.Attribute, fields: set[str]) -> bool:
    """Whether it is, or can be, one of numpy's functions or a method of a value, which may write to an argument."""
    if is_numpy(one.value):
        found = getattr(np, one.attr, None)
        kind = isinstance(found, type) and issubclass(found, np.generic)
        return callable(found) and not kind
    return one.attr in METHODS - {"values", "items", "keys"} and one.attr not in fields


def _fields(tree: ast.Module) -> set[str]:
    """Names of the fields and properties of a text's own classes."""
    found = set[str]()
    for one in ast.walk(tree):
        if isinstance(one, ast.ClassDef):
            found |= {each.target.id for each in one.body if isinstance(each, ast.AnnAssign)
                      and isinstance(each.target, ast.Name)}  # fmt: skip
        elif isinstance(one, ast.FunctionDef) and any(ast.unparse(each) == "property" for each in one.decorator_list):
            found.add(one.name)
    return found


def _handed_to_curator(tree: ast.Module) -> set[int]:
    """What a curator is given, which calls a function with sums alone."""
    return {id(each) for one in ast.walk(tree) if isinstance(one, ast.Call)
            and ast.unparse(one.func) == "curator.release_sum" for each in one.args}  # fmt: skip


def _beyond_callees(tree: ast.Module, known: set[str], fields: set[str]) -> Iterator[tuple[int, str]]:
    """Calls of what can be an array's `clip`, the one method that fields are called like: it writes to its third
    argument. known: names of functions."""
    for one in ast.walk(tree):
        if not isinstance(one, ast.Call):
            continue
        called, *given = one.args if _maps(one) else [one.func, *one.args]
        plain = isinstance(called, ast.Name) and called.id in known
        method = not _maps(one) and isinstance(called, ast.Attribute) and called.attr not in fields - {"clip"}
        starred = any(isinstance(each, ast.Starred) for each in given)
        if not (plain or method) and (len(given) == 3 or starred):
            yield one.lineno, f"{ast.unparse(called)}, which is no function by its name, with three arguments"


def _maps(one: ast.Call) -> bool:
    return isinstance(one.func, ast.Name) and one.func.id == "map" and bool(one.args)


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
    of_numpy, name = is_numpy(one.func.value), one.func.attr
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
    if name in ("count", "index"):
        yield f"{name}, which asks whether entries are one object"
    if name == "get" and len(one.args) != 2:
        yield "get, which gives None where there is nothing"
    if of_numpy and any(each.arg == "copy" for each in one.keywords):
        yield f"{name} that may make no array"


def _beyond_method(one: ast.Attribute, inside: bool) -> Iterator[str]:
    if one.attr in NEVER and not is_numpy(one.value) and ast.unparse(one) != "curator.partition":
        yield f"{one.attr}, which changes what nobody has looked at"
    if isinstance(one.value, ast.Attribute) and is_numpy(one.value.value) and (one.value.attr, one.attr) != ("add", AT):
        yield f"{one.attr} of numpy's {one.value.attr}"
    if one.attr == AT and ast.unparse(one.value) != "np.add":
        yield "at of something else than numpy's add"
    if one.attr in CHANGING | {AT} and not inside:
        yield f"{one.attr} outside of functions"


def _is_zero(value: ast.AST) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is int and value.value == 0
