"""Texts that could tell the prove reading from training, and behave in it.

A proof is about the text that trains if it does in both the same. What a text can ask of the population and the curator
is what the two protocols have: any other attribute, and so `isinstance`, which asks for the class, is a leak
(`guarded`). A leak stays one where the text handles the error. What Python offers beside that is looked for in the
text's syntax (`peeks`): `type` and its kin, attributes with two underscores, `try`, and imports of anything but
mathematics and refdp. The plan, read on another host, must have the same releases (`refdp.prove.planned`).

What remains is said under what is trusted: a text that draws its behaviour from refdp's own modules, such as a class
variable that a host sets, is not found here.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any

from refdp.prove.chance import by_chance
from refdp.prove.texts import is_text, tree_of
from refdp.prove.words import BUILTINS

POPULATION = {"tell", "ask", "size"}
CURATOR = {"release", "release_sum", "draw", "step", "partition", "subsample", "relation"}
KINDS = {"Interval", "Classes", "Numeric", "Categorical", "Laplace", "DiscreteLaplace", "Gaussian", "DiscreteGaussian",
         "Exponential"}  # fmt: skip
"""Classes that a text may ask about: of schemas and mechanisms. Numbers are of another class where they are unknown."""
ASKING = {"type", "hasattr", "id", "repr", "vars", "dir", "callable", "issubclass", "globals", "locals", "exec", "eval",
          "open", "__import__", "breakpoint", "input", "memoryview", "hash", "suppress", "ExitStack", "singledispatch",
          "singledispatchmethod"}  # fmt: skip
OTHERS = {"suppress", "ExitStack", "singledispatch", "singledispatchmethod", "cache_info", "cache_clear",
          "cache_parameters", "getcontext", "setcontext", "flags", "traps", "np", "random", "Generic",
          "register"}  # fmt: skip
"""What handles errors, chooses by class, or keeps a state that a text could read: counts of a cache, a context.

`Generic` and its `register` choose by class as `singledispatch` does."""
PURE = {
    "abs", "absolute", "add", "all", "any", "apply_along_axis", "arange", "argmax", "argmin", "argsort", "array",
    "asarray", "bitwise_and", "bitwise_or", "bool_", "broadcast_to", "ceil", "clip", "column_stack", "concatenate",
    "copysign", "cos", "count_nonzero", "cumprod", "cumsum", "diff", "digitize", "divide", "dot", "e",
    "einsum", "empty", "equal", "errstate", "exp", "expand_dims", "expm1", "eye", "finfo", "flatnonzero",
    "flip", "float32", "float64", "floating", "floor", "full", "full_like", "greater", "greater_equal", "hypot", "inf",
    "int32", "int64", "integer", "intp", "isclose", "isfinite", "isin", "isinf", "isnan", "less", "less_equal",
    "linspace", "log", "log1p", "log2", "logical_and", "logical_not", "logical_or", "logspace", "lexsort", "matmul",
    "max", "maximum", "mean", "median", "min", "minimum", "multiply", "nan", "ndarray", "ndim", "negative", "newaxis",
    "nonzero", "not_equal", "number", "ones", "ones_like", "outer", "pi", "power", "prod", "quantile", "ravel",
    "repeat", "reshape", "rint", "round", "searchsorted", "shape", "sign", "sin", "size", "sort", "split", "sqrt",
    "square", "squeeze", "stack", "std", "subtract", "sum", "take", "take_along_axis", "tanh", "tensordot", "tile",
    "trace", "transpose", "tril", "triu", "trunc", "uint8", "unique", "unravel_index", "vstack", "where", "zeros",
    "zeros_like",
}  # fmt: skip
"""What a text may use of numpy: functions of their arguments alone, that ask for no class and write nothing. Others,
such as numpy's random numbers, its clock and its settings, can answer otherwise in training than in the reading."""
ENUMERATIONS = {"Relation", "Splits"}
"""Whose members a text may compare by identity; a number is another object where it is unknown."""
MODULES = {"__future__", "math", "collections", "contextlib", "dataclasses", "enum", "fractions",
           "functools", "typing", "numpy", "refdp"}  # fmt: skip


def for_text() -> bool:
    """Whether a training text asks, by whatever functions of numpy and of the reading, and none of refdp's data."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(("refdp.prove.", "numpy")):
        frame = frame.f_back
    return is_text(frame.f_code.co_filename)


def from_text(depth: int) -> bool:
    """Whether the caller so many frames up is a paper's text."""
    return is_text(sys._getframe(depth + 1).f_code.co_filename)


def line_of_text(frames: Iterable[tuple[Any, int]]) -> str:
    """The innermost line of a paper's text among frames, innermost first."""
    for frame, number in frames:
        name = frame.f_code.co_filename.replace("\\", "/")
        if is_text(name):
            return f"{name.rpartition('/')[2]}:{number}"
    return ""


def frames() -> Iterator[tuple[Any, int]]:
    """Frames and the lines they are at, innermost first: the caller's and those that called it."""
    frame = sys._getframe(1)
    while frame is not None:
        yield frame, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]


def peeks(text: str) -> list[tuple[int, str]]:
    """Lines of a text that could tell who answers it, and why."""
    return list(_peeks(text))


@lru_cache(maxsize=16)
def _peeks(text: str) -> tuple[tuple[int, str], ...]:
    tree = tree_of(text)
    return (*_found(tree), *by_chance(tree))


def _found(tree: ast.Module) -> Iterator[tuple[int, str]]:
    named = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
    called = {id(one.func) for one in ast.walk(tree) if isinstance(one, ast.Call)}
    held = _held(tree)
    quiet = {id(one.func) for one in ast.walk(tree) if isinstance(one, ast.Call) and _ignores(one)}
    for one in ast.walk(tree):
        if isinstance(one, ast.Name) and (one.id in ASKING or (one.id == "np" and id(one) not in named)):
            yield one.lineno, f"{one.id} tells who answers"
        elif isinstance(one, ast.Name) and one.id.startswith("__"):
            yield one.lineno, f"{one.id} tells how Python was started, or what it has"
        elif isinstance(one, ast.Name) and one.id in ("isinstance", "getattr") and id(one) not in called:
            yield one.lineno, f"{one.id} by another name"
        elif isinstance(one, ast.Name) and one.id in held and id(one) not in named:
            yield one.lineno, f"the module {one.id} by another name"
        elif isinstance(one, ast.Attribute) and _leads_out(one, held):
            yield one.lineno, f"{one.attr} of a module of refdp can tell who answers"
        elif isinstance(one, ast.Assert) and _does(one.test):
            yield one.lineno, "an assertion that does something, which python -O leaves out"
        elif isinstance(one, ast.Attribute) and (one.attr.startswith("__") or one.attr in OTHERS or _inner(one)):
            yield one.lineno, f"{one.attr} tells who answers"
        elif isinstance(one, ast.Attribute) and _is_numpy(one.value) and one.attr not in PURE:
            yield one.lineno, f"numpy's {one.attr} is no function of its arguments alone that is known here"
        elif isinstance(one, ast.Attribute) and one.attr == "errstate" and id(one) not in quiet:
            yield one.lineno, "errstate raises or warns where a record's value underflows: only 'ignore' does not"
        elif isinstance(one, ast.Compare | ast.MatchSingleton) and not _same_for_all(one):
            yield one.lineno, "identity tells who answers"
        elif named_so := sorted((KINDS | ENUMERATIONS | BUILTINS) & {*_bound(one), *_imports(one)}):
            yield getattr(one, "lineno", 0), f"{named_so[0]} by another meaning"
        elif isinstance(one, ast.Try | ast.TryStar):
            yield one.lineno, "an error that is handled tells who answers"
        elif isinstance(one, ast.FunctionDef) and one.name.startswith("__") and one.name != "__post_init__":
            yield one.lineno, f"{one.name} can handle an error, or tell who answers"
        elif isinstance(one, ast.MatchClass | ast.MatchSequence | ast.MatchMapping):
            yield one.lineno, "a pattern tells who answers"
        elif isinstance(one, ast.Import | ast.ImportFrom):
            modules = [one.module or ""] if isinstance(one, ast.ImportFrom) else [each.name for each in one.names]
            for name in modules:
                if name.partition(".")[0] not in MODULES or name.startswith("refdp.prove"):
                    yield one.lineno, f"{name} can tell who answers"
                elif name.startswith("refdp") and isinstance(one, ast.Import):
                    yield one.lineno, f"{name} as a module, by which others are at hand"
                elif name.startswith("numpy") and name != "numpy.typing" and not _as_np(one):
                    yield one.lineno, f"{name} under another name than np"
            if any(each.name in OTHERS or each.name.startswith("_") for each in one.names):
                yield one.lineno, "an import of what tells who answers"
            for found in _taken(one):
                if _outside(found):
                    yield one.lineno, f"the module {found.__name__} can tell who answers"
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "getattr":
            if (
                len(one.args) != 2
                or not (isinstance(one.args[0], ast.Name) and one.args[0].id == "self")
                or (not _is_plain_name(one.args[1], tree))
            ):
                yield one.lineno, "getattr of anything but a parameter of self tells who answers"
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "isinstance":
            asked = {each.id for other in one.args[1:] for each in ast.walk(other) if isinstance(each, ast.Name)}
            if len(one.args) != 2 or one.keywords or any(isinstance(each, ast.Starred) for each in one.args):
                yield one.lineno, "isinstance of what is not written there can tell who answers"
            for name in sorted(asked - KINDS):
                yield one.lineno, f"isinstance of {name} can tell who answers"


def _inner(one: ast.Attribute) -> bool:
    """Whether it is an inner part of something that the text did not make: what `minimum` does with which class."""
    return one.attr.startswith("_") and not (isinstance(one.value, ast.Name) and one.value.id in ("self", "cls"))


def _ignores(one: ast.Call) -> bool:
    """Whether all that a call is given is named, and "ignore"."""
    told = [each.value.value if isinstance(each.value, ast.Constant) else None for each in one.keywords]
    return not one.args and set(told) <= {"ignore"} and all(each.arg for each in one.keywords)


def _same_for_all(one: ast.Compare | ast.MatchSingleton) -> bool:
    """Whether no identity is asked for, or that with None or with a member of an enumeration."""
    if isinstance(one, ast.MatchSingleton):
        return one.value is None
    sides = [one.left, *one.comparators]
    return all(
        not isinstance(how, ast.Is | ast.IsNot) or any(_single(side) for side in pair)
        for how, *pair in zip(one.ops, sides, sides[1:], strict=False)
    )


def _single(side: ast.expr) -> bool:
    if isinstance(side, ast.Attribute):
        return isinstance(side.value, ast.Name) and side.value.id in ENUMERATIONS
    return isinstance(side, ast.Constant) and side.value is None


def _is_plain_name(one: ast.expr, tree: ast.Module) -> bool:
    """Whether the name of an attribute is written in the text, and is none of Python's own."""
    if not isinstance(one, ast.Name):
        return isinstance(one, ast.Constant) and not str(one.value).startswith("_")
    around = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and one in ast.walk(each)]
    own_text = around[-1] if around else tree
    stored = [each for each in ast.walk(own_text) if isinstance(each, ast.Name) and each.id == one.id
              and not isinstance(each.ctx, ast.Load)]  # fmt: skip
    over = [each.iter for each in ast.walk(own_text) if isinstance(each, ast.For | ast.comprehension)
            and any(own in stored for own in ast.walk(each.target))]  # fmt: skip
    inside = [each for own in over for each in ast.walk(own)]
    hidden = any(isinstance(each, ast.Constant) and str(each.value).startswith("_") for each in inside)
    plain = all(isinstance(own, ast.Tuple) for own in over)
    made = any(isinstance(each, ast.Call | ast.BinOp | ast.JoinedStr | ast.Starred) for each in inside)
    return len(over) == len(stored) > 0 and plain and not hidden and not made


def _bound(one: ast.AST) -> Iterator[str]:
    """Names that get a meaning here, other than by an import of what refdp has under the same name."""
    match one:
        case ast.Name(name, ast.Store() | ast.Del()):
            yield name
        case ast.arg(name) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
            yield name
        case ast.ClassDef():
            if not any(isinstance(base, ast.Name) and "Enum" in base.id for base in one.bases):
                yield one.name
        case ast.MatchAs() | ast.MatchStar() | ast.ExceptHandler():
            yield one.name or ""
        case ast.MatchMapping():
            yield one.rest or ""
        case ast.Import():
            yield from (each.asname or each.name for each in one.names)
        case ast.ImportFrom():
            own = (one.module or "").startswith("refdp.")
            yield from (each.asname or each.name for each in one.names if each.asname or not own)


def _imports(one: ast.AST) -> Iterator[str]:
    """Names of Python's functions that an import gives another meaning, wherever it is from."""
    if isinstance(one, ast.ImportFrom):
        yield from BUILTINS & {each.asname or each.name for each in one.names}


def _imported(module: str, name: str) -> Any:
    """What a text gets by an import from a module, None where there is none."""
    if not module.startswith("refdp"):
        return None
    whole = importlib.import_module(module)
    if hasattr(whole, name):
        return getattr(whole, name)
    try:
        return importlib.import_module(f"{module}.{name}")
    except ImportError:
        return None


def _outside(found: Any) -> bool:
    """Whether it is a module that a text may not have: by its functions the interpreter can be asked."""
    if not isinstance(found, ModuleType):
        return False
    return found.__name__.startswith("refdp.prove") or found.__name__.partition(".")[0] not in MODULES


def _taken(one: ast.AST) -> list[Any]:
    """The objects of `from module import ...`, in order; of any other statement none."""
    return [_imported(one.module or "", each.name) for each in one.names] if isinstance(one, ast.ImportFrom) else []


def _held(tree: ast.Module) -> dict[str, ModuleType]:
    """The modules of refdp that a text has, by name."""
    found: dict[str, ModuleType] = {}
    for one in ast.walk(tree):
        if isinstance(one, ast.ImportFrom):
            for each, module in zip(one.names, _taken(one), strict=True):
                if isinstance(module, ModuleType):
                    found[each.asname or each.name] = module
    return found


def _leads_out(one: ast.Attribute, held: dict[str, ModuleType]) -> bool:
    """Whether it is a module that a module of refdp has."""
    module = held.get(one.value.id) if isinstance(one.value, ast.Name) else None
    return module is not None and isinstance(getattr(module, one.attr, None), ModuleType)


def _does(test: ast.expr) -> bool:
    """Whether a condition may do something beside being true or not."""
    doing = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    return any(isinstance(one, doing) or (isinstance(one, ast.Call) and not _asks(one)) for one in ast.walk(test))


def _asks(one: ast.Call) -> bool:
    return isinstance(one.func, ast.Name) and one.func.id in ("isinstance", "len")


def _is_numpy(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id == "np"


def _as_np(one: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(one, ast.Import) and [(each.name, each.asname) for each in one.names] == [("numpy", "np")]


def guarded(own: Any, name: str, allowed: set[str], problem: type[Exception]) -> Any:
    """An attribute, for a text only one that the protocol has. To be called by `__getattribute__` alone.

    Errors: the given problem, for any other.
    """
    if name not in allowed and from_text(2):
        raise problem(f"{name} of the population or the curator, which the text does not need:")
    return object.__getattribute__(own, name)
