"""Whether a training module's functions are what its text makes: a text is read by its words, and run as it stands.

Bytecode that is older than its file, a text compiled under another one's name, and what was put in the place of a
function would be executed by the reading, while the rules for texts look at the words in the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import _lru_cache_wrapper, cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

from refdp.ledger.written import compiled
from refdp.prove.obligations import Failure

OF_CODE = ("co_qualname", "co_firstlineno", "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars",
           "co_flags", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_exceptiontable")  # fmt: skip
"""What code has besides its constants; not what the interpreter keeps in it when it runs."""
_ENTERED: Any = contextmanager(iter)
"""What Python makes of a generator that is a context."""


def otherwise_made(module: Any, texts: Mapping[str, str]) -> Iterator[Failure]:
    """Functions of a module that its texts do not make. texts: by file, the module's own among them."""
    made = {file: list(codes_in(_whole(module, file, text))) for file, text in texts.items()}
    contents = {file: {content(code) for code in codes} for file, codes in made.items()}
    own = {code.co_qualname for code in made[str(module.__file__)]}
    for owner in [module, *(one for one in vars(module).values() if isinstance(one, type))]:
        here = owner is module or owner.__module__ == module.__name__
        for name, member in vars(owner).items():
            place, function = name if owner is module else f"{owner.__qualname__}.{name}", within(member)
            code = function.__code__ if isinstance(function, FunctionType) else None
            if code is not None and code.co_filename in texts:
                misplaced = here and place in own and code.co_filename == module.__file__ and code.co_qualname != place
                if content(code) in contents[code.co_filename] and not misplaced:
                    continue
            elif not here or place not in own or isinstance(function, type):
                continue
            yield Failure("", "", "not modelled", f"{place} is not what the text of {module.__name__} makes")


def within(member: Any) -> Any:
    """The function in what Python's own decorators make of one; a wrapper of somebody else stays what it is."""
    if isinstance(member, staticmethod | classmethod):
        member = member.__func__
    if isinstance(member, property):
        member = member.fget
    if isinstance(member, cached_property):
        member = member.func
    if isinstance(member, FunctionType) and member.__code__ is _ENTERED.__code__:
        member = dict(zip(member.__code__.co_freevars, member.__closure__ or ()))["func"].cell_contents
    return member.__wrapped__ if isinstance(member, _lru_cache_wrapper) else member


def content(code: CodeType) -> tuple[Any, ...]:
    """What code does, and the line where it stands."""
    return tuple(getattr(code, part) for part in OF_CODE), str([_constant(one) for one in code.co_consts])


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return content(value)
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The code, and all code that stands in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from codes_in(one)


def _whole(module: Any, file: str, text: str) -> CodeType:
    """A text, as an import compiles it where a module has it."""
    names = {module.__name__, *(getattr(one, "__module__", None) for one in vars(module).values())}
    homes = [sys.modules[name] for name in names if name in sys.modules]
    home = next((one for one in homes if getattr(one, "__file__", None) == file and _is_imported(one)), None)
    return compile(text, file, "exec", dont_inherit=True) if home is None else compiled(home)


def _is_imported(module: ModuleType) -> bool:
    return getattr(module, "__spec__", None) is not None
