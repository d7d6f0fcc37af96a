"""What the names of a training text mean: one thing each, wherever a rule goes by a name.

Rules of the language know numpy by `np`, the curator by `curator`, and a function by the name that its module has for
it. So no name is bound anew where one of them would take it for something else, and a function within a function uses
names that mean the same whenever it is called.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from refdp.prove.texts import line_of

MODULES = {"np": "numpy as np", "math": "math", "numbers": "refdp.data numbers"}
"""Names that only these imports give a meaning."""
GIVEN = {"curator": "Curator", "population": "Population"}
"""Arguments that rules know by their names, and of what kind they are said to be."""
FIRST = {"self", "cls"}
LOOPS = (ast.For, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
COMPREHENSIONS = LOOPS[1:]
INNER = (ast.Lambda, ast.FunctionDef)


def meanings(tree: ast.Module, known: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Lines of a text in which a name gets another meaning than rules take it for, and which.

    known: names that the module has, by this text and others.
    """
    whole = list(_scope(tree))
    often = Counter(name for one in whole for name in binds(one))
    for one in whole:
        for name in binds(one):
            if often[name] > 1 or (name in MODULES and _source(one, name) != MODULES[name]):
                yield line_of(one), f"{name} means two things in the text"
    for each in _functions(tree):
        yield from _of_function(each, known)
    over = {name: one for one in whole if isinstance(one, COMPREHENSIONS) for name in _over(one)}
    yield from ((line_of(one), f"{name} means two things in the text") for name, one in over.items() if name in known)


def names(tree: ast.Module) -> dict[str, str]:
    """The names that a module has by its text, and what is imported under each."""
    return {name: _source(one, name) for one in _scope(tree) for name in binds(one)}


def binds(one: ast.AST) -> Iterator[str]:
    """The names that a piece of syntax itself gives a meaning in its scope."""
    match one:
        case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name) | ast.FunctionDef(name) | ast.ClassDef(name):
            yield name
        case ast.Import(names) | ast.ImportFrom(_, names):
            yield from (each.asname or each.name for each in names)


def rebound(function: ast.FunctionDef, own: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Names of a function that another one in it uses, and that mean something else when that one is called.

    own: what is in the function's body, without the bodies of functions in it. Such a name is an argument, or bound
    once, before the inner function and in no loop.
    """
    looped = {id(each) for one in own if isinstance(one, LOOPS) for each in ast.walk(one)}
    for inner in own:
        if not isinstance(inner, INNER):
            continue
        taken = {name for each in ast.walk(inner) if each is not inner for name in binds(each)}
        used = {each.id for each in ast.walk(inner) if isinstance(each, ast.Name)} - taken
        within = {id(each) for each in ast.walk(inner) if each is not inner}
        for name in sorted(used):
            places = [each for each in ast.walk(function) if name in binds(each) and id(each) not in within]
            given = [each for each in places if isinstance(each, ast.arg)]
            late = [each for each in places if line_of(each) > line_of(inner) or id(each) in looped]
            if len(places) > 1 or (late and not given):
                yield line_of(inner), f"{name}, which a function within another one has, is bound anew"


def _scope(whole: ast.AST) -> Iterator[ast.AST]:
    """What stands in a scope itself: inner functions and classes as such; of comprehensions all but their names."""
    waiting = list(ast.iter_child_nodes(whole))
    while waiting:
        one = waiting.pop(0)
        yield one
        if isinstance(one, ast.comprehension):
            waiting += [one.iter, *one.ifs]
        elif not isinstance(one, (*INNER, ast.ClassDef)):
            waiting += ast.iter_child_nodes(one)


def _over(one: ast.AST) -> Iterator[str]:
    """The names that a comprehension goes over."""
    for each in getattr(one, "generators", ()):
        yield from (name for part in ast.walk(each.target) for name in binds(part))


def _source(one: ast.AST, name: str) -> str:
    """What is imported under a name."""
    each = next((each for each in getattr(one, "names", ()) if name in (each.asname, each.name)), None)
    if each is None:
        return ""
    module = f"{one.module or ''} " if isinstance(one, ast.ImportFrom) else ""
    return f"{module}{each.name}{f' as {each.asname}' if each.asname else ''}"


def _is_the_same(imported: str, other: str | None) -> bool:
    """Whether a name is imported once more."""
    return bool(imported) and imported == other


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The functions that are in no other one: of the text, and of its classes."""
    for one in _scope(tree):
        if isinstance(one, ast.FunctionDef):
            yield one
        elif isinstance(one, ast.ClassDef):
            yield from (each for each in one.body if isinstance(each, ast.FunctionDef))


def _of_function(function: ast.FunctionDef, known: dict[str, str]) -> Iterator[tuple[int, str]]:
    own = list(_scope(function))
    named = {name for one in own for name in binds(one) if not _is_the_same(_source(one, name), known.get(name))}
    named |= {name for one in own for name in _arguments(one, function)}
    over = {name for one in ast.walk(function) if isinstance(one, COMPREHENSIONS) for name in _over(one)}
    inner = {name for one in own if isinstance(one, INNER) for each in ast.walk(one) if each is not one
             for name in binds(each)}  # fmt: skip
    for name in sorted((inner & (named | over)) | ((inner | over) & known.keys())):
        yield function.lineno, f"{name} means two things in {function.name}"
    used = {id(one.func) for one in ast.walk(function) if isinstance(one, ast.Call)}
    used |= {id(one.value) for one in ast.walk(function) if isinstance(one, ast.Attribute)}
    for one in ast.walk(function):
        if isinstance(one, ast.Name) and id(one) in used and one.id in known.keys() & named:
            yield one.lineno, f"{one.id}, which {function.name} has for something else, is called or asked"
        elif one is not function:
            yield from _given(one, function)


def _arguments(one: ast.AST, function: ast.FunctionDef) -> Iterator[str]:
    return (each.arg for each in ast.walk(one) if isinstance(each, ast.arg)) if one is function.args else iter(())


def _given(one: ast.AST, function: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """Names that rules know, bound by something else than what they are known for."""
    for name in binds(one):
        kind = one.annotation if isinstance(one, ast.arg) else None
        written = isinstance(kind, ast.Name) and kind.id == GIVEN.get(name)
        if name in MODULES or (name in GIVEN and not written and not _is_host(one, function)):
            yield line_of(one) or function.lineno, f"{name} for something else"
        elif name in FIRST and one not in function.args.args[:1]:
            yield line_of(one) or function.lineno, f"{name} elsewhere than as the first argument of a method"


def _is_host(one: ast.AST, function: ast.FunctionDef) -> bool:
    """Whether a population is made there, of records in memory."""
    return any(
        isinstance(each, ast.Assign) and each.targets == [one] and isinstance(each.value, ast.Call)
        and isinstance(each.value.func, ast.Name) and each.value.func.id == "Memory"
        for each in ast.walk(function)
    )  # fmt: skip
