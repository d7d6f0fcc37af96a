"""What audit.toml names is there and fits, asked before any function of the package runs.

Noise functions exist and have the arguments that the file names, adapters can be loaded, wrappers take (records, seed),
programs of commands exist, audited functions have a source. Each fault is one InvalidParameter with its place.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from refdp.audit.campaign import load
from refdp.audit.opened_door import PACKAGES, _patches, noise
from refdp.audit.package.entries import Function, function_of
from refdp.audit.package.opening import doors
from refdp.audit.package.scope import Entry, Scope
from refdp.audit.package.sources import Tree, function_at
from refdp.errors import InvalidParameter

ARGUMENTS = ("value", "scale", "sensitivity", "epsilon", "delta", "generator", "options")


def check(scope: Scope, entries: Sequence[Entry], package: Tree) -> dict[str, Function]:
    """The functions of these entry points by their names, with everything that their audit needs looked at.

    Errors: InvalidParameter.
    """
    found = {entry.name: _function(entry) for entry in entries}
    for entry in entries:
        if entry.source:
            function_at(entry.source, package, f"[[entry]] {entry.name!r} source")
    for name in scope.opened:
        _adapter(name)
    for number, table in enumerate(scope.noise, 1):
        _noise(f"[[noise]] {number}", table)
    doors(scope)
    return found


def _function(entry: Entry) -> Function:
    where = f"[[entry]] {entry.name!r}"
    if entry.kind == "command":
        _there(where, *entry.target[:2])
    try:
        found = function_of(entry)
    except InvalidParameter as error:
        named = str(error).startswith(where)
        raise InvalidParameter(str(error) if named else f"{where} {error}") from error
    if entry.kind == "callable":
        _takes_two(found, f"{where} callable {entry.target!r}")
    return found


def _there(where: str, program: str, script: str = "-") -> None:
    """The program of a command, and the file that Python is given to run."""
    if program != "{python}":
        if not shutil.which(program):
            raise InvalidParameter(
                f"{where} command {program!r}: no such program; one that is installed, or {{python}}, is needed"
            )
    elif not script.startswith("-") and not Path(script).is_file():
        raise InvalidParameter(
            f"{where} command {script!r}: no such file for {{python}} to run, from audit.toml's folder"
        )


def _takes_two(function: Callable[..., Any], where: str) -> None:
    try:
        signature = inspect.signature(function)
    except ValueError:  # a function that is not Python's and tells nothing of its arguments
        return
    try:
        signature.bind(None, 0)
    except TypeError as error:
        raise InvalidParameter(
            f"{where}: its arguments are {signature}, but (records, seed) is what it gets"
        ) from error


def _adapter(name: str) -> None:
    if name not in PACKAGES:
        raise InvalidParameter(f"[package] open {name!r}: allowed are {', '.join(PACKAGES)}, or [[noise]] tables")
    try:
        _patches(name)
    except Exception as error:  # whatever importing the package raises
        raise InvalidParameter(f"[package] open {name!r}: it cannot be opened here: {error}") from error


def _noise(where: str, table: dict[str, Any]) -> None:
    """Names of arguments against the function's signature, numbers against what they stand for."""
    function = load(table["function"], f"{where} function")
    where = f"{where} {table['function']!r}"
    try:
        noise(table["law"])
    except InvalidParameter as error:
        raise InvalidParameter(f"{where} {error}") from error
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError as error:
        raise InvalidParameter(f"{where}: its arguments cannot be read, so that it cannot be opened") from error
    known = None if any(one.kind is one.VAR_KEYWORD for one in parameters) else [one.name for one in parameters]
    for key in ARGUMENTS:
        if key in table:
            _argument(f"{where} {key}", key, table[key], known, "caller" in table)


def _argument(where: str, key: str, given: Any, known: Sequence[str] | None, apart: bool) -> None:
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise InvalidParameter(f"{where}: {given!r}, the name of an argument or a number is needed")
    if not isinstance(given, str):
        if given < 0 and key != "value":
            raise InvalidParameter(f"{where}: {given:g}, numbers from 0 on are allowed")
        return
    first, _, rest = given.partition(".")
    if apart and first == "caller" and rest:
        return  # which local variables its callers have is known when they call
    if ":" in given and not apart:
        load(given, where)
    elif known is not None and first not in known:
        more = " or caller.NAME" if apart else ", a number or module:function"
        raise InvalidParameter(f"{where}: no argument {first!r}; allowed are {', '.join(known) or 'none'}{more}")
