"""Whether what runs is what its source says: a module's text is executed anew beside it, and has to make the same.

So what was put into a module or a class from elsewhere, at an import or later, is told. What a text does to itself is
made anew with it, and is for its digest to tell (`refdp.ledger.proved.text_now`).

What a text imports from refdp is compared too, and each package with what its own text makes: a module comes from the
place of its name, and so does the one beside which it is made anew. Caches are asked once all modules are what their
sources make (`refdp.ledger.caches`).
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import sys
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from refdp.ledger.caches import forget, kept_of_another, with_those_of_caches
from refdp.ledger.fingerprint import parsed_module, source_of
from refdp.ledger.parts import Seen, differences, unchanged

COMPARING = frozenset(
    f"refdp.ledger.{name}" for name in ("caches", "claims", "fingerprint", "parts", "proved", "written")
)
"""What compares, and looks claims up, is not compared by itself."""
FILLED = {
    "refdp.faces.registry": ("_registered",),
    "refdp.faces.repeats": ("_uses", "_families", "_alone"),
    "refdp.accounting.budget_lock": ("_locks",),
}
"""Names of modules in which use keeps what users give, what was fitted and what is locked; no figure is of these."""


def otherwise(modules: Iterable[str], *, edited: bool = True) -> str:
    """The first name under which something else runs than the modules' sources make, empty where there is none.

    modules: by name. The first time each is executed anew; later it is asked whether its parts are the very same still.
    Where a cache keeps what something else made this is told once, and all caches are emptied. Sources are as they were
    when they were first asked for; where one was edited since, and something differs, that is told once as well: with
    all that was made of the sources before, claims' verdicts too, nothing new is established. edited: False where an
    edited file is no matter, but what differs from the sources as they are now.
    """
    names = frozenset(modules)
    differing = _differing(names)
    place = differing or _kept(names)
    if place and any(map(_was_edited, _with_imported(names))):
        for room in [sys.modules[name] for name in COMPARING if name in sys.modules]:
            for function in [one for one in vars(room).values() if hasattr(one, "cache_clear")]:
                function.cache_clear()
        if differing and not edited:
            place = _differing(names) or _kept(names)
    return place


def _was_edited(name: str) -> bool:
    """Whether a module's file has another text than was first asked for, and one that Python can read."""
    try:
        now = inspect.getsource(importlib.import_module(name))
        return now != source_of(name) and bool(ast.parse(now))
    except (OSError, TypeError, SyntaxError):
        return False


def _found(modules: frozenset[str]) -> dict[str, ModuleType]:
    return {name: importlib.import_module(name) for name in sorted(_with_imported(modules))}


def _differing(modules: frozenset[str]) -> str:
    """The first name in modules, and in what they import, that is not what their sources make."""
    for name, module in _found(modules).items():
        if vars(module).get("__name__") != name:
            return f"{name}.__name__"
        if another := _another(module):
            return f"{name}.{another}"
        known = _known(name)
        before = list(known)
        if not before or before[0][0] is not module or not all(map(unchanged, before)):
            seen: Seen = []
            if place := differs(module, seen):
                known.clear()
                return f"{name}{place}"
            known[:] = seen
    return ""


def _kept(modules: frozenset[str]) -> str:
    """The first of their functions of which a cache keeps another result; all caches are then emptied."""
    found = _found(modules)
    for name, module in found.items():
        if kept := kept_of_another(module):
            forget(found.values())
            return f"{name}.{kept}"
    return ""


def _with_imported(modules: frozenset[str]) -> set[str]:
    """With those that are loaded of what they import, and what these do; and all packages that they are in."""
    found = set(with_those_of_caches(modules))
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        if name.startswith("refdp."):
            own = _loaded_of(_imported(name))
            reached = {one for one in (*own, name.rpartition(".")[0]) if one in sys.modules} - COMPARING - found
            waiting += reached
            found |= reached
    return found


def taken(tree: ast.Module) -> set[str]:
    """Names of the modules of refdp that a text imports, as far as they are loaded."""
    return {one for one in _loaded_of(_imports(tree)) if one in sys.modules} - COMPARING


def _loaded_of(pairs: Iterable[tuple[str, str]]) -> set[str]:
    return {f"{place}.{one}" if f"{place}.{one}" in sys.modules else place for place, one in pairs}


@cache
def _imported(module: str) -> tuple[tuple[str, str], ...]:
    """`_imports` of a module, by name; nothing where there is no source of it, which is told elsewhere."""
    try:
        return _imports(parsed_module(module))
    except (OSError, TypeError, SyntaxError):
        return ()


def _imports(tree: ast.Module) -> tuple[tuple[str, str], ...]:
    """What a text imports from refdp at its top or inside functions, but for types: modules, and the names in them.

    Empty names where a module is imported.
    """
    found: list[tuple[str, str]] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node: Any = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
        elif isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(str(node.module), alias.name) for alias in node.names]
        else:
            waiting += ast.iter_child_nodes(node)
    return tuple(pair for pair in found if pair[0].partition(".")[0] == "refdp")


@cache
def _known(name: str) -> Seen:
    """What was compared of a module by that name, itself first, as it has its source's meaning; empty before.

    In a cache, into which no reading looks: what is noted here is no container that a text could ask for.
    """
    return []


def differs(module: ModuleType, seen: Seen | None = None, text: str | None = None) -> str:
    """Where a module is not what its source makes, empty where it is. seen: gets what was compared.

    text: the source, where it is not that which was first asked for.
    """
    own = vars(module)
    if module.__name__.partition(".")[0] == "refdp" and _place(module) != _due(module):
        return ", which comes from another file than refdp's own"
    if not any(own.get("__builtins__") is one for one in (builtins, vars(builtins))):
        return ".__builtins__"
    fresh = ModuleType(module.__name__)
    kept = {"__package__", "__file__", "__spec__", "__loader__", "__path__"} & own.keys()
    vars(fresh).update({name: own[name] for name in kept | _loaded(module).keys()})
    try:
        exec(compiled(module, text), vars(fresh))
    except Exception as problem:
        return f", whose source cannot be executed anew ({type(problem).__name__})"
    vars(fresh).update({name: own.get(name) for name in FILLED.get(module.__name__, ())})
    met = {(id(own), id(vars(fresh))): (module, fresh)}
    found = next(differences(module, fresh, "", met, [] if seen is None else seen), None)
    return "" if found is None else found or ", which is of another class"


def _loaded(module: ModuleType) -> dict[str, bool]:
    """Names under which a package has its modules, which its text need not make; and whether it is that of the name."""
    found, own = {}, vars(module).copy().items() if "__path__" in vars(module) else ()
    for name, one in own:
        known = f"{module.__name__}.{name}"
        if isinstance(one, ModuleType) and (known in sys.modules or vars(one).get("__name__") == known):
            found[name] = sys.modules.get(known) is one
    return found


def _another(package: ModuleType) -> str:
    """The first name under which a package has another module than the import of that name gives, empty if none."""
    return next((name for name, same in _loaded(package).items() if not same), "")


def _place(module: ModuleType) -> Path:
    return Path(str(vars(module).get("__file__", ""))).absolute()


def _due(module: ModuleType) -> Path:
    """Where the file of a module of refdp has to be, in an archive too: digests are of the files there.

    Beside a file of its name no package is due, which Python takes in the file's place.
    """
    root, names = resources.files("refdp"), module.__name__.split(".")[1:]
    within = Path(str(root)).absolute().joinpath(*names)
    alone = bool(names) and root.joinpath(*names[:-1], f"{names[-1]}.py").is_file()
    package = not alone and (within.is_dir() or "__path__" in vars(module))
    return within / "__init__.py" if package else within.with_suffix(".py")


def compiled(module: ModuleType, text: str | None = None) -> CodeType:
    """As an import compiles it; pytest's writes assertions anew, in every package that has a plugin for it.

    text: as in `differs`.
    """
    tree = parsed_module(module.__name__) if text is None else ast.parse(text)
    hook = sys.modules.get("_pytest.assertion.rewrite")
    loader: Any = getattr(module.__spec__, "loader", None)
    if hook is not None and type(loader) is hook.AssertionRewritingHook:
        source = source_of(module.__name__) if text is None else text
        tree = ast.parse(source)
        hook.rewrite_asserts(tree, source.encode(), module.__file__, loader.config)
    return compile(tree, str(module.__file__), "exec", dont_inherit=True)
