"""What a training text is written in: what can be seen of it before it is read.

Four rules, each a module of its own: the text is of the small language (`plain`), has no words but known ones
(`words`), asks nobody who answers it (`peeking`, `chance`), and nothing outside its functions can change (`standing`).
A text that breaks one is not read: no solver is asked. Nor is one that makes something else than what runs (`made`).
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from refdp.prove.made import otherwise_made
from refdp.prove.obligations import Failure
from refdp.prove.peeking import peeks
from refdp.prove.plain import beyond
from refdp.prove.standing import changeable, changes_standing
from refdp.prove.texts import is_text, tree_of
from refdp.prove.words import foreign


def refused(module: Any, paper: str = "") -> list[Failure]:
    """Why a module's texts are not read: lines that break a rule, or else what runs that they do not make.

    paper: the name under which the module is found.
    """
    if not isinstance(module, ModuleType):
        return [Failure("", "", "not modelled", "an object in a module's place, of which there is no text")]
    if not __debug__:
        return [Failure("", "", "not modelled", "`python -O`, which leaves assertions out that another Python has")]
    functions = [inspect.unwrap(one) for one in _members(module) if callable(one)]
    codes = [one.__code__ for one in functions if isinstance(one, FunctionType)]
    files = {code.co_filename for code in codes if is_text(code.co_filename)} | {str(getattr(module, "__file__", None))}
    spaces = [vars(module), *(one.__globals__ for one in functions if isinstance(one, FunctionType))]
    homes = {file: next((one for one in spaces if one.get("__file__") == file), {}) for file in sorted(files)}
    texts = {file: _text(file, home) for file, home in homes.items()}
    for file in [file for file, text in texts.items() if not text]:
        return [Failure("", "", "not modelled", f"{file}, of which there is no text")]
    return list(_broken(module, texts, homes)) or list(otherwise_made(module, texts, paper))


def _members(module: Any) -> list[Any]:
    """What is in a module and in its classes, of properties what computes them."""
    return [getattr(one, "fget", None) or one for owner in (module, *_classes(module)) for one in vars(owner).values()]


def _classes(module: Any) -> list[type]:
    return [one for one in vars(module).values() if isinstance(one, type)]


def _text(file: str, home: dict[str, Any]) -> str:
    """What stands in a file now: not what was kept of it when one of its lines was shown. home: the module's names."""
    linecache.checkcache(file)
    return "".join(linecache.getlines(file, home))


def _broken(module: Any, texts: Mapping[str, str], homes: Mapping[str, dict[str, Any]]) -> Iterator[Failure]:
    """Lines of texts that are not of the small language, or could tell the reading from training."""
    written = {one.name for text in texts.values() for one in ast.walk(tree_of(text)) if isinstance(one, ast.ClassDef)}
    for one in _classes(module):
        if one.__module__ == module.__name__ and one.__name__ not in written:
            yield Failure("", "", "not modelled", f"{one.__name__}, a class of which there is no text")
    for name, one in vars(module).items():
        if hasattr(one, "cache_info") and is_text(inspect.unwrap(one).__code__.co_filename):
            yield Failure("", "", "not modelled", f"{name} keeps what it gave, for arguments that are only equal")
    for file, text in texts.items():
        for number, kind, reason in lines(text, [tree_of(one) for one in texts.values()]):
            yield Failure("", f"{file.rpartition('/')[2]}:{number}", kind, reason)
        for name in changeable(homes[file], tree_of(text)):
            yield Failure("", file.rpartition("/")[2], "not modelled", f"{name} is a value that the text could change")


def lines(text: str, beside: Sequence[ast.Module] = ()) -> Iterator[tuple[int, str, str]]:
    """Lines of one text that break a rule, the kind of failure, and why. beside: the module's texts."""
    tree = tree_of(text)
    yield from ((number, "leak", reason) for number, reason in (*peeks(text), *foreign(tree, beside)))
    yield from ((number, "not modelled", reason) for number, reason in beyond(tree, beside))
    if changes_standing(tree):
        yield 1, "not modelled", "what stands outside of functions could change"
