"""A fingerprint of what a function computes: its syntax tree and those of everything in refdp that it can reach.

Followed are functions, classes with all their methods and bases, the types that signatures name (so that methods of
arguments count), module constants, dictionaries and what they hold, imports inside functions, and statements of a
module that define nothing. Docstrings, comments, annotations and layout do not count; names, constants and decorators
do. Claims store the fingerprints of the code that they are about, so that a changed formula, or for a whole run
anything that `train` reaches, reopens them.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

_IGNORED = frozenset({"annotation", "returns", "ctx", "type_comment", "kind", "type_params"})
_PLAIN = (bool, int, float, str, type(None))


def name_of(function: Callable[..., Any]) -> str:
    """`module:qualified name`, by which `resolve` finds the function again."""
    return f"{function.__module__}:{function.__qualname__}"


def resolve(name: str) -> Any:
    """The object of that name. Errors: ImportError or AttributeError if it is gone."""
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


@cache
def fingerprint(name: str) -> str:
    """16 hexadecimal digits that change when the function, or anything of refdp that it reaches, changes."""
    if not fingerprint.cache_info().currsize:
        _steps.clear()
    digest = hashlib.sha256()
    for reached, text in sorted(reachable(resolve(name)).items()):
        digest.update(f"{reached}\n{text}\n".encode())
    return digest.hexdigest()[:16]


def current(name: str) -> str | None:
    """The fingerprint as of now, None if the function no longer exists."""
    try:
        return fingerprint(name)
    except (ImportError, AttributeError):
        return None


def modules_of(name: str) -> set[str]:
    """The modules of refdp, by name, of all that a function of that name reaches. Errors: as `resolve`."""
    return {one for one in (found.partition(":")[0] for found in reachable(resolve(name))) if _inside(one)}


def module_digest(module: str) -> str:
    """A digest of all that a module's text says, kinds of arguments included, but for comments and docstrings."""
    return hashlib.sha256(_text(parsed_module(module), _IGNORED - {"annotation", "returns"}).encode()).hexdigest()


def tree_text(source: str) -> str:
    """The syntax tree of a definition as text, the same on every supported version of Python."""
    return _text(ast.parse(textwrap.dedent(source)).body[0])


def reachable(start: Any) -> dict[str, str]:
    """The definitions and constants of refdp that code reaches: a digest of the syntax tree of each, by name."""
    found: dict[str, str] = {}
    waiting: list[tuple[str, str, ast.AST]] = [_definition(start)]
    while waiting:
        name, module, tree = waiting.pop()
        if name in found:
            continue
        found[name] = tree_digest(tree)
        constants, definitions = _step(module, tree)
        found |= constants
        waiting += definitions
    for module in {name.partition(":")[0] for name in found}:
        beside = _beside(module) if _inside(module) else ""
        found |= {f"{module}:": beside} if beside else {}
    return found


_Definitions = list[tuple[str, str, ast.AST]]
_steps: dict[ast.AST, tuple[dict[str, str], _Definitions]] = {}
"""One step from each definition, kept as long as fingerprints are: claims share most of what they reach."""


def _step(module: str, tree: ast.AST) -> tuple[dict[str, str], _Definitions]:
    """The constants and the definitions that one definition names."""
    found = _steps.get(tree)  # another thread may begin anew
    if found is None:
        constants: dict[str, str] = {}
        definitions: _Definitions = []
        for used, value in _used(module, tree):
            constants |= {f"{used} =": repr(value)} if _is_plain(value) else {}
            definitions += _origin(used, value)
        found = _steps[tree] = constants, definitions
    return found


def _definition(item: Any) -> tuple[str, str, ast.AST]:
    """Name, module and syntax tree of a function or class, an empty one where no source makes it.

    A property is its getter.
    """
    item = inspect.unwrap(getattr(item, "fget", item))
    try:
        tree = _index(item.__module__).get(item.__qualname__)
        if tree is None or not _same_place(item, tree):
            tree = ast.parse(textwrap.dedent(inspect.getsource(item))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):  # it was made of another text than is there
        tree = ast.Pass()
    return name_of(item), item.__module__, tree


def _same_place(item: Any, tree: ast.AST) -> bool:
    """Whether an object is what its module's source defines under its name, not something else put there."""
    code = getattr(item, "__code__", None)
    lines = {getattr(tree, "lineno", 0)} | {d.lineno for d in getattr(tree, "decorator_list", ())}
    return code is None or code.co_firstlineno in lines


@cache
def source_of(module: str) -> str:
    """The text of a module, by name, as it was when it was first asked for. Errors: OSError where there is none."""
    return inspect.getsource(importlib.import_module(module))


@cache
def parsed_module(module: str) -> ast.Module:
    """The syntax tree of a module, by name. Errors: OSError where there is no source of it."""
    return ast.parse(source_of(module))


@cache
def _index(module: str) -> dict[str, ast.AST]:
    """Definitions of a module by qualified name, and its constants by name."""
    found: dict[str, ast.AST] = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[prefix + node.name] = node
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign) and not prefix:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
                found.update(dict.fromkeys(names, node))
            elif isinstance(node, ast.If | ast.For | ast.Try):
                visit(node.body, prefix)

    visit(parsed_module(module).body, "")
    return found


@cache
def _beside(module: str) -> str:
    """A digest of a module's statements that define nothing: they run at its import, and can change what does."""
    plain = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)
    others = [one for one in parsed_module(module).body if not isinstance(one, plain) and not _is_docstring(one)]
    return hashlib.sha256(_text(others).encode()).hexdigest() if others else ""


@cache
def _imported(module: str) -> dict[str, tuple[str, str]]:
    """Names that a module imports from others, at its top, for types, or inside functions: module and name there."""
    nodes = [node for node in ast.walk(parsed_module(module)) if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.asname or alias.name: (node.module or "", alias.name) for node in nodes for alias in node.names}


@cache
def tree_digest(tree: ast.AST) -> str:
    """A digest of `tree_text`, of a tree."""
    return hashlib.sha256(_text(tree).encode()).hexdigest()


@cache
def _names(tree: ast.AST) -> tuple[tuple[str, str], ...]:
    """Names that a definition reads: (name, "") or, for an attribute of a name, (name, attribute)."""
    found: set[tuple[str, str]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add((node.id, ""))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add((node.value.id, node.attr))
    return tuple(sorted(found))


def _used(module: str, tree: ast.AST) -> Iterator[tuple[str, Any]]:
    """Names that a definition reads, with what they stand for now."""
    names = _names(tree)
    scope, imported = vars(importlib.import_module(module)), _imported(module) if names else {}
    for name, attribute in names:
        value = scope.get(name)
        if name not in scope and name in imported:
            value = _import(*imported[name])
        if isinstance(value, ModuleType):
            if attribute and hasattr(value, attribute):
                yield f"{value.__name__}:{attribute}", getattr(value, attribute)
        elif not attribute and (name in scope or name in imported):
            yield f"{module}:{name}", value


def _import(module: str, name: str) -> Any:
    """What a module gives under a name, None outside of refdp: other libraries are not looked at."""
    if not module.startswith("refdp"):
        return None
    found = importlib.import_module(module)
    return getattr(found, name) if hasattr(found, name) else importlib.import_module(f"{module}.{name}")


def _origin(name: str, value: Any) -> list[tuple[str, str, ast.AST]]:
    """The definition behind a name: of a function or class, or the assignment of a constant where it is made."""
    if isinstance(value, FunctionType | type) or hasattr(value, "__wrapped__"):
        ours = _inside(getattr(value, "__module__", "") or "") and "<locals>" not in value.__qualname__
        return [_definition(value)] if ours else []
    place, _, own = name.rpartition(":")
    while _inside(place):
        if own in _index(place):
            return [(f"{place}:{own}", place, _index(place)[own])]
        if own not in _imported(place):
            return []
        place, own = _imported(place)[own]
    return []


def _inside(module: str) -> bool:
    return module.partition(".")[0] == "refdp" and module in sys.modules


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) or (isinstance(value, tuple) and all(_is_plain(item) for item in value))


def _text(node: Any, ignored: frozenset[str] = _IGNORED) -> str:
    if isinstance(node, ast.AST):
        fields = ",".join(f"{name}={_text(value, ignored)}" for name, value in _fields(node, ignored))
        return f"{type(node).__name__}({fields})"
    if isinstance(node, list):
        return "[" + ",".join(_text(item, ignored) for item in node) + "]"
    return repr(node)


def _fields(node: ast.AST, ignored: frozenset[str]) -> Iterator[tuple[str, Any]]:
    for name, value in ast.iter_fields(node):
        if name in ignored and not (name == "annotation" and isinstance(node, ast.AnnAssign)):  # classes follow these
            continue
        if value is None or value == []:
            continue
        if name == "body" and isinstance(value, list) and _is_docstring(value[0]):
            yield name, value[1:]
        else:
            yield name, value


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
