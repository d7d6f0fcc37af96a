"""The words that a training text may use: what is not known here is refused.

`refdp.prove.peeking` looks for words that are known to tell who reads a text. Python has more ways to the interpreter
than anybody lists: the frame of a generator has its built-in functions, and modules of the standard library have other
modules in them. So here the lists are of what is allowed: built-in functions, members of modules, and names of
attributes, which are those of the text's own classes, of refdp's classes that a text may have, of numbers, containers
and arrays. None of them is an attribute of what Python itself runs by: functions, frames, code, modules, classes.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import math
import pkgutil
import types
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from refdp.prove.texts import notes_of

BUILTINS = {
    "abs", "all", "any", "bool", "classmethod", "dict", "divmod", "enumerate", "float", "getattr", "int",
    "isinstance", "len", "list", "map", "max", "min", "pow", "property", "range", "reversed", "round", "sorted",
    "staticmethod", "str", "sum", "tuple", "zip",
    "ArithmeticError", "AssertionError", "AttributeError", "Exception", "IndexError", "KeyError", "LookupError",
    "NotImplementedError", "OverflowError", "RuntimeError", "TypeError", "ValueError", "ZeroDivisionError",
}  # fmt: skip
MEMBERS: dict[str, frozenset[str]] = {
    "__future__": frozenset({"annotations"}),
    "collections.abc": frozenset({"Callable", "Collection", "Iterable", "Iterator", "Mapping", "Sequence", "Sized"}),
    "contextlib": frozenset({"contextmanager"}),
    "dataclasses": frozenset({"asdict", "dataclass", "replace"}),
    "enum": frozenset({"StrEnum"}),
    "fractions": frozenset({"Fraction"}),
    "math": frozenset(one for one in dir(math) if not one.startswith("_")),
    "numpy.typing": frozenset({"ArrayLike", "NDArray"}),
    "typing": frozenset({"Any", "ClassVar", "Final", "Literal", "NamedTuple", "Protocol", "Self", "TypeAlias",
                         "TypeVar", "cast", "overload"}),
}  # fmt: skip
"""Of the standard library and numpy; `np` is looked at by `refdp.prove.peeking`."""
REFDP: dict[str, frozenset[str]] = {
    "refdp.accounting": frozenset({"account"}),
    "refdp.accounting.calibration": frozenset({"calibrate_total"}),
    "refdp.accounting.conversion": frozenset({"epsilons"}),
    "refdp.accounting.individual": frozenset({"Accounts", "Budget", "initialise", "tabulated"}),
    "refdp.checks": frozenset({"check_choices", "check_count", "check_epsilon", "check_number"}),
    "refdp.data": frozenset({"candidates", "losses", "numbers"}),
    "refdp.data.candidates": frozenset({
        "Candidates", "categorical", "from_records", "given", "inner_uniform_candidate", "iterative_hessian",
        "log_candidate", "logarithmic", "no_split", "on_bounds", "ordered", "uniform",
    }),
    "refdp.data.feasible": frozenset({"Feasible", "Options", "Positions", "below", "sides"}),
    "refdp.data.losses": frozenset({
        "GRID", "LARGEST", "LOG", "SQUARE", "WIDEST", "grid_floor", "log_gradient", "log_hessian", "log_loss",
        "log_odds", "on_grid", "sigmoid", "signed_log_gradient", "signed_log_hessian", "square_gradient",
        "square_hessian", "square_loss",
    }),
    "refdp.data.memory": frozenset({"Memory"}),
    "refdp.data.numbers": frozenset({
        "Floats", "Number", "SHARE_GRID", "absolute", "added", "at_least", "at_most", "coarser", "digits", "exp",
        "expm1", "greatest", "least", "log", "log1p", "log_whole", "maximum", "minimum", "root", "rounded_up", "share",
        "sqrt",
    }),
    "refdp.data.population": frozenset({
        "Advance", "Begin", "Bins", "COUNT", "Contribution", "Descend", "Encode", "Histogram", "Labels", "Leaves",
        "Nodes", "Pay", "Place", "Population", "Refresh", "RefreshAll", "Reports", "Root", "Sides", "Start",
        "Statistics", "Turn", "named_all", "values",
    }),
    "refdp.data.reading": frozenset({"plan_of"}),
    "refdp.data.records": frozenset({
        "Categorical", "Classes", "Ensemble", "Floats", "Interval", "Model", "Numeric", "Records", "Schema", "Tree",
    }),
    "refdp.data.shards": frozenset({"check_records_each"}),
    "refdp.data.sketch": frozenset({
        "Positions", "halved", "median_range", "median_utilities", "median_utility", "quantile_edges",
        "quantile_levels",
    }),
    "refdp.data.sparse": frozenset({"AnyRecords"}),
    "refdp.errors": frozenset({"InvalidParameter", "InvalidRecords"}),
    "refdp.ledger.certificate": frozenset({"Certificate", "Guarantee", "issue"}),
    "refdp.noise.calibration": frozenset({
        "before_sampling", "gaussian", "geometric", "laplace", "laplace_charge", "total_mu",
    }),
    "refdp.noise.mechanisms": frozenset({
        "DiscreteGaussian", "DiscreteLaplace", "Exponential", "Gaussian", "Laplace", "Mechanism",
    }),
    "refdp.privacy.curator": frozenset({"Curator"}),
    "refdp.privacy.events": frozenset({
        "Charge", "Norm", "Plan", "Relation", "Sensitivity", "records_changed",
    }),
}  # fmt: skip
"""What a text may have of refdp's modules: none of it reads a file but `issue`, keeps arrays that others get, or asks a
class."""
CERTIFIES = "certificate"
"""The one function of a text that may have `issue`, which reads the results that are kept; and that no text calls."""
TEXTS = ("refdp.own", "refdp.papers")
"""Modules of texts: what they make themselves is read as any text is."""
ROOMS = ("refdp.accounting", "refdp.checks", "refdp.data", "refdp.errors", "refdp.ledger.certificate",
         "refdp.noise.calibration", "refdp.noise.mechanisms", "refdp.own", "refdp.papers", "refdp.privacy.curator",
         "refdp.privacy.events")  # fmt: skip
"""Modules of refdp, with those below them, whose classes have the attributes that a text may ask for."""
CHARGING = {"charge", "open"}
"""Methods of accounts, which change: a text may make some, for hosts, and has no word to open or charge them."""
CALLED = "refdp.data.memory"
"""Where the one host is from that a text may make, of records; a curator it is given, and makes none."""
VALUES = {
    # numbers
    "as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator", "imag", "is_integer",
    "limit_denominator", "numerator", "real",
    # texts
    "endswith", "join", "lower", "lstrip", "removeprefix", "removesuffix", "replace", "rpartition", "rsplit", "rstrip",
    "split", "splitlines", "startswith", "strip", "title", "upper", "zfill", "name",
    # containers
    "append", "copy", "get", "items", "pop", "values",
    # arrays, and numpy's `add.at`
    "T", "all", "any", "argmax", "argmin", "argsort", "astype", "at", "clip", "cumprod", "cumsum", "dot",
    "eps", "flatten", "item", "max", "mean", "min", "ndim", "nonzero", "prod", "ravel",
    "repeat", "reshape", "round", "searchsorted", "shape", "size", "squeeze", "std", "sum",
    "swapaxes", "take", "tiny", "tolist", "trace", "transpose", "var",
}  # fmt: skip
"""Attributes of Python's values and of numpy's arrays, that follow from what they are and ask nothing else.

No method of sets is among them, and `keys` is not, whose views are sets when two of them meet."""
NUMBERS = {"float32", "float64", "int32", "int64", "intp", "bool_", "uint8"}
"""numpy's kinds of numbers that an array may be made of; an array of texts takes the text of whatever is put in it."""
OPTIONS = {"where", "casting", "signature", "sig", "like", "subok", "extobj", "order", "dtype"}
"""Arguments of numpy's functions by which one leaves entries as they were in memory, or reads a text as a time."""


IN_PLACE = {"astype", "at", "items"}
"""Attributes that are looked at where they are called: by any other way a text has none of them."""


def _of(kinds: tuple[Any, ...]) -> frozenset[str]:
    return frozenset(name for kind in kinds for name in dir(kind))


INNER = _of((
    types.FunctionType, types.LambdaType, types.MethodType, types.BuiltinFunctionType, types.GeneratorType,
    types.CoroutineType, types.AsyncGeneratorType, types.FrameType, types.CodeType, types.ModuleType,
    types.TracebackType, types.CellType, types.MappingProxyType, types.GenericAlias, types.MethodWrapperType, type,
    property, staticmethod, classmethod, functools.partial, functools.cached_property,
    contextlib.contextmanager(lambda: iter(()))(), functools.lru_cache(lambda: 0), BaseException, ImportError,
    SystemExit,
)) - {"copy", "get", "items", "name", "values"}  # fmt: skip
"""What Python's own objects have: no attribute of this name is any text's, whoever defines it."""


def foreign(tree: ast.Module, beside: Sequence[ast.Module] = ()) -> list[tuple[int, str]]:
    """Lines of a text with a word that is not known, and which. beside: the module's other texts."""
    return list(_foreign(tree, (tree, *beside)))


def _foreign(tree: ast.Module, trees: Sequence[ast.Module]) -> Iterator[tuple[int, str]]:
    modules = {name: module for one in trees for name, module in _modules(one).items()}
    own, kinds = {name for one in trees for name in _own(one)}, {name for one in trees for name in _kinds(one)}
    known = _attributes()
    noted = {id(part) for one in _annotations(tree) for part in ast.walk(one)}
    classes = {name: kind for one in trees for name, kind in _refdps(one).items()}
    called = {id(one.func) for one in ast.walk(tree) if isinstance(one, ast.Call)}
    named = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
    issuing = _issuing(trees)
    issued = {id(part) for one in tree.body if _is_certificate(one) for part in ast.walk(one)}
    for one in ast.walk(tree):
        if isinstance(one, ast.Import):
            for each in one.names:
                if not (each.name == "numpy" and each.asname == "np") and each.name not in MEMBERS:
                    yield one.lineno, f"{each.name} is no module that is known"
                elif "." in each.name:
                    yield one.lineno, f"{each.name} as a module, by which others are at hand"
        elif isinstance(one, ast.ImportFrom):
            for each in one.names:
                if one.level or not _may_have(one.module or "", each.name):
                    yield one.lineno, f"{each.name} of {one.module or 'beside'} is nothing that a text is known to need"
        elif isinstance(one, ast.Name):
            if (one.id in issuing and id(one) not in issued) or one.id == CERTIFIES:
                yield one.lineno, f"{one.id}, which asks for results that are kept, elsewhere than in a certificate"
            elif one.id in _PYTHONS and one.id not in BUILTINS:
                yield one.lineno, f"{one.id} is no function that a text is known to need"
            elif one.id in kinds and id(one) not in noted:
                yield one.lineno, f"{one.id}, a kind of arrays or containers, stands elsewhere than in an annotation"
            elif (
                classes.get(one.id) in _hosts()
                and id(one) not in noted
                and not (id(one) in called and classes[one.id].__module__ == CALLED)
            ):
                yield one.lineno, f"{one.id}, of which a host is, stands elsewhere than in an annotation"
            elif one.id in modules and (id(one) not in named or not isinstance(one.ctx, ast.Load)):
                yield one.lineno, f"the module {one.id} by another name, or another thing by its name"
        elif isinstance(one, ast.Attribute):
            if one.attr == CERTIFIES:
                yield one.lineno, f"{CERTIFIES}, which asks for results that are kept, elsewhere than in a certificate"
            if one.attr == "ndarray" and id(one) not in noted:
                yield one.lineno, "ndarray, a kind of arrays, stands elsewhere than in an annotation"
            if isinstance(one.value, ast.Name) and _is_unbound(classes.get(one.value.id), one.attr):
                yield one.lineno, f"{one.attr} of {one.value.id}, which takes any object for its own"
            elif isinstance(one.value, ast.Name) and one.value.id in modules:
                if not _may_have(modules[one.value.id], one.attr):
                    yield one.lineno, f"{one.attr} of {modules[one.value.id]} is nothing that a text is known to need"
            elif not (_is_np(one.value) or one.attr in known or (one.attr in own and one.attr not in INNER)):
                yield one.lineno, f"{one.attr} is no attribute that is known here"
            elif one.attr == "astype" and id(one) not in called:
                yield one.lineno, "astype by another name"
        elif isinstance(one, ast.Call):
            yield from ((one.lineno, reason) for reason in _given(one))
            if isinstance(one.func, ast.Name) and one.func.id == "getattr":
                for name in _written(tree, one):
                    if name not in known - IN_PLACE and (name not in own or name in INNER):
                        yield one.lineno, f"{name} is no attribute that is known here"
        elif isinstance(one, ast.ClassDef) and (one.keywords or not all(map(_is_base, one.bases))):
            yield one.lineno, f"{one.name} is made by something else than its bases"
        elif isinstance(one, ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith | ast.Await):
            yield one.lineno, "a coroutine, which has the interpreter's frame"
        elif isinstance(one, ast.comprehension) and one.is_async:
            yield one.target.lineno, "a coroutine, which has the interpreter's frame"
        elif isinstance(one, ast.Delete):
            yield one.lineno, "a name that is taken away, after which a built-in function can be meant by it"


def _is_certificate(one: ast.stmt) -> bool:
    return isinstance(one, ast.FunctionDef) and one.name == CERTIFIES


def _issuing(trees: Sequence[ast.Module]) -> set[str]:
    """Names by which a text has `refdp.ledger.certificate.issue`."""
    imports = [one for tree in trees for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)]
    return {each.asname or each.name for one in imports if one.module == "refdp.ledger.certificate"
            for each in one.names if each.name == "issue"}  # fmt: skip


_PYTHONS = frozenset(dir(__builtins__) if isinstance(__builtins__, types.ModuleType) else __builtins__)


def _given(call: ast.Call) -> Iterator[str]:
    """What a call is given that no text is known to need."""
    for one in call.keywords:
        if one.arg is None:
            yield "** gives a function what its call does not say"
        elif one.arg in OPTIONS and not (one.arg == "dtype" and _is_number(one.value)):
            yield f"{one.arg} makes numpy fill an array in a way that is not known here"
    whole = len(call.args) == 1 and _is_number(call.args[0]) and {one.arg for one in call.keywords} <= {"copy"}
    if isinstance(call.func, ast.Attribute) and call.func.attr == "astype" and not whole:
        yield "astype of another kind than numpy's numbers"


def _is_number(kind: ast.expr) -> bool:
    """Whether an expression is a kind of numbers, written out."""
    if isinstance(kind, ast.Name):
        return kind.id in ("float", "int", "bool")
    return isinstance(kind, ast.Attribute) and _is_np(kind.value) and kind.attr in NUMBERS


def _is_np(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id == "np"


def _is_base(base: ast.expr) -> bool:
    return isinstance(base.value if isinstance(base, ast.Subscript) else base, ast.Name)


def _modules(tree: ast.Module) -> dict[str, str]:
    """Modules that a text has, by the name that it gives them; without np."""
    found: dict[str, str] = {}
    for one in ast.walk(tree):
        if isinstance(one, ast.Import):
            found |= {each.asname or each.name: each.name for each in one.names if each.asname != "np"}
        elif isinstance(one, ast.ImportFrom) and (one.module or "").startswith("refdp"):
            for each in one.names:
                module = _got(one.module or "", each.name)
                if isinstance(module, types.ModuleType):
                    found[each.asname or each.name] = module.__name__
    return found


def _refdps(tree: ast.Module) -> dict[str, type]:
    """Classes of refdp that a text has, by the name that it gives them."""
    found: dict[str, type] = {}
    for one in ast.walk(tree):
        if isinstance(one, ast.ImportFrom) and (one.module or "").startswith("refdp"):
            for each in one.names:
                kind = _got(one.module or "", each.name)
                if isinstance(kind, type):
                    found[each.asname or each.name] = kind
    return found


def _is_unbound(kind: type | None, name: str) -> bool:
    """Whether it is a function of a class's objects, taken from the class: it would ask a host what no text may ask."""
    if kind is None:
        return False
    return isinstance(
        inspect.getattr_static(kind, name, None), types.FunctionType | property | functools.cached_property
    )


@lru_cache(maxsize=1)
def _hosts() -> frozenset[type]:
    """Classes of what answers for records, or releases."""
    rooms = ("refdp.data.population", "refdp.data.memory", "refdp.privacy.curator")
    names = {"Population", "Memory", "Curator"}
    return frozenset(one for one in _classes(rooms) if one.__name__ in names)


def _kinds(tree: ast.Module) -> set[str]:
    """Names that stand for kinds such as `NDArray[np.float64]`: called, one gives an array that nobody filled."""
    found = set[str]()
    for one in ast.walk(tree):
        if isinstance(one, ast.ImportFrom):
            for each in one.names:
                module, name = one.module or "", each.name
                kind = _got(module, name) if module.startswith("refdp") else None
                if module == "numpy.typing" or isinstance(kind, types.GenericAlias | types.UnionType):
                    found.add(each.asname or name)
    return found


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    """Where a kind may stand: annotations, and between brackets, as in `list[Floats]`, if nothing is called there."""
    yield from notes_of(tree)
    for one in ast.walk(tree):
        if isinstance(one, ast.Subscript) and not any(isinstance(part, ast.Call) for part in ast.walk(one.slice)):
            yield one.slice


@lru_cache(maxsize=1024)
def _may_have(module: str, name: str) -> bool:
    """Whether a text may have this member of a module: of a text what it makes itself, or a constant."""
    if not module.startswith("refdp"):
        return name in MEMBERS.get(module, ())
    if not module.startswith(TEXTS):
        return name in REFDP.get(module, ())
    return False  # another text, which nobody reads


@lru_cache(maxsize=1024)
def _got(module: str, name: str) -> Any:
    """What an import from a module of refdp gives, None where there is none."""
    whole = importlib.import_module(module)
    if hasattr(whole, name) or not hasattr(whole, "__path__"):
        return getattr(whole, name, None)
    found = [one.name for one in pkgutil.iter_modules(whole.__path__)]
    return importlib.import_module(f"{module}.{name}") if name in found else None


def _written(tree: ast.Module, call: ast.Call) -> Iterator[str]:
    """The texts that the name asked for by `getattr` can be: its own, or those that its function goes over."""
    for one in call.args[1:]:
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value
        elif isinstance(one, ast.Name):
            for each in ast.walk(tree):
                if isinstance(each, ast.For | ast.comprehension) and one.id in _named(each.target):
                    yield from (own.value for own in ast.walk(each.iter) if isinstance(own, ast.Constant)
                                and isinstance(own.value, str) and own.value.isidentifier())  # fmt: skip


def _named(target: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}


def _own(tree: ast.Module) -> set[str]:
    """Names of what a text's own classes have; inner ones only where nothing of refdp has one of that name."""
    found = set[str]()
    for one in ast.walk(tree):
        if isinstance(one, ast.ClassDef):
            for each in one.body:
                if isinstance(each, ast.FunctionDef):
                    found.add(each.name)
                elif isinstance(each, ast.Assign | ast.AnnAssign):
                    targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                    found |= {name for target in targets for name in _named(target)}
    return {name for name in found if not name.startswith("_") or name not in _refdps_inner()}


@lru_cache(maxsize=1)
def _attributes() -> frozenset[str]:
    """Public attributes of the classes of refdp that a text may have, and of plain values; none of Python's own."""
    found = set(VALUES)
    for kind in _classes(ROOMS):
        if not kind.__module__.startswith(("refdp.papers", "refdp.own")):
            found |= {name for name in {*vars(kind), *vars(kind).get("__annotations__", ())} if name[:1] != "_"}
    return frozenset(found - (INNER - VALUES) - CHARGING)


@lru_cache(maxsize=1)
def _refdps_inner() -> frozenset[str]:
    """Names with an underscore that refdp's classes use, those of the prove reading among them."""
    found = set[str]()
    for kind in _classes((*ROOMS, "refdp.prove")):
        if not kind.__module__.startswith(("refdp.papers", "refdp.own")):
            for one in vars(kind).values():
                code = getattr(getattr(one, "__func__", getattr(one, "fget", one)), "__code__", None)
                found |= {*getattr(code, "co_names", ())}
            found |= {*vars(kind), *vars(kind).get("__annotations__", ())}
    return frozenset(name for name in found if name.startswith("_"))


def _classes(rooms: tuple[str, ...]) -> Iterator[type]:
    """Classes that modules of refdp make."""
    for room in rooms:
        whole = importlib.import_module(room)
        inner = pkgutil.walk_packages(getattr(whole, "__path__", []), room + ".")
        for name in (room, *(one.name for one in inner)):
            if name.startswith(("refdp.papers", "refdp.own")):
                continue
            module = importlib.import_module(name)
            yield from (one for one in vars(module).values() if isinstance(one, type) and one.__module__ == name)
