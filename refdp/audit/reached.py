"""Which lines of somebody's code ran: what steers a search over records, and what a search never reached."""

from __future__ import annotations

import dis
import functools
import inspect
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from refdp.audit.loaded import NOWHERE, is_installed, of_python, where
from refdp.audit.own_code import is_library, packages_of

Place = tuple[str, int]
"""File and line."""

_REFDP = os.path.realpath(Path(__file__).parents[1]) + os.sep
_WRITTEN = ("__create_fn__.", "<attrs generated", "<cattrs generated")
"""How code begins its name, or its file's, that `dataclasses` and attrs write for a class: it is nobody's own."""


def own_code(train: Any, *files: str) -> Callable[[str], bool]:
    """Whether a file is the trainer's own or one beside it: neither Python's, nor another package's, nor refdp's.

    files: followed besides, wherever they lie.
    """
    named = {*files, _file_of(train)}
    packages = tuple(folder for name in packages_of(train) for folder in _folders(name))

    @cache
    def follow(file: str) -> bool:
        if file in named:
            return True
        real = Path(os.path.realpath(file))
        if str(real).startswith(packages):
            return True
        if file.startswith("<frozen") or not real.exists():
            return file.startswith("<ipython") or "ipykernel" in file
        return not (str(real).startswith(_REFDP) or is_installed(real) or of_python(real))

    return follow


def _folders(package: str) -> Iterator[str]:
    """Where a package's files lie, or the one file of a module that is none."""
    file, folders = where(package), getattr(sys.modules.get(package), "__path__", ())
    yield from (os.path.realpath(one) + os.sep for one in folders if isinstance(one, str))
    if file is not None and file != NOWHERE:
        yield os.path.realpath(file.parent) + os.sep if file.name == "__init__.py" else os.path.realpath(file)


def beginning(train: Any) -> Place | None:
    """Where the trainer's own text begins; None where it is not Python's."""
    code = code_of(train)
    return None if code is None else (code.co_filename, code.co_firstlineno)


def fixed(train: Any) -> dict[str, Any]:
    """What a trainer's text names from outside: the variables of the function around it, those of its module apart."""
    while isinstance(train, functools.partial):
        train = train.func
    train = inspect.unwrap(train)
    code, cells = code_of(train), getattr(train, "__closure__", None)
    if code is None or cells is None:
        return {}
    return {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells) if _is_filled(cell)}


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _file_of(train: Any) -> str:
    code = code_of(train)
    return "" if code is None else code.co_filename


def globals_of(train: Any) -> frozenset[str]:
    """Names in the trainer's module as it is before a run."""
    while isinstance(train, functools.partial):
        train = train.func
    train = inspect.unwrap(train)
    function = getattr(train, "__func__", train)
    function = function if isinstance(function, types.FunctionType) else vars(type(train)).get("__call__")
    return frozenset(getattr(function, "__globals__", ()))


def code_of(train: Any) -> types.CodeType | None:
    """The code of what is called in the end, behind partials, decorators and objects; None if it is not Python's."""
    while isinstance(train, functools.partial):
        train = train.func
    train = inspect.unwrap(train)
    code = getattr(getattr(train, "__func__", train), "__code__", None)
    if code is None:
        code = getattr(vars(type(train)).get("__call__"), "__code__", None)
    return code if isinstance(code, types.CodeType) else None


@contextmanager
def followed(follow: Callable[[str], bool] | None, lines: set[Place]) -> Iterator[None]:
    """Meanwhile, the lines that run in files to follow are added to `lines`, on threads that begin meanwhile as well.

    So are those of code of no file, such as an archive's or what `exec` made, that may branch and is no library's.
    """
    if follow is None:
        yield
        return

    def within(frame: Any, event: str, argument: Any) -> Any:
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return within

    def called(frame: Any, event: str, argument: Any) -> Any:
        return within if follow(frame.f_code.co_filename) or is_made(frame) else None

    def is_made(frame: types.FrameType) -> bool:
        if not _branches_without_file(frame.f_code):
            return False
        name, caller = frame.f_globals.get("__name__"), frame.f_back
        if isinstance(name, str):
            return not _is_library(name)
        return caller is not None and (follow(caller.f_code.co_filename) or is_made(caller))

    before, of_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(called)
    threading.settrace(called)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(of_threads)


_is_library = cache(is_library)


@cache
def _branches_without_file(code: types.CodeType) -> bool:
    """Whether code may go more than one way, and has no file that could be read."""
    if code.co_filename.startswith(("<frozen", *_WRITTEN)) or code.co_qualname.startswith(_WRITTEN):
        return False
    jumps = {*dis.hasjrel, *dis.hasjabs}
    branches = code.co_exceptiontable or any(step.opcode in jumps for step in dis.get_instructions(code))
    return bool(branches) and not os.path.exists(code.co_filename)
