"""Lines of the audited package: where a release is made, and where the wrapper enters it."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import linecache
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from refdp.audit.campaign import load
from refdp.errors import InvalidParameter

PLACE = re.compile(r" at (?P<path>\S+):(?P<line>\d+) in (?P<function>\S+)$")


@dataclass(frozen=True)
class Location:
    """A line. path: relative to the folder that the package is installed in, or to the audit's."""

    path: str
    line: int
    function: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dict(vars(self))

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" + (f" in {self.function}" if self.function else "")


@dataclass(frozen=True)
class Tree:
    """The sources of the modules of a package."""

    files: tuple[Path, ...]
    tops: tuple[Path, ...]

    def relative(self, path: Path) -> str:
        """From the folder that the package lies in."""
        for top in self.tops:
            with contextlib.suppress(ValueError):
                return path.relative_to(top.parent).as_posix()
        return path.name

    def holds(self, path: str) -> bool:
        """Whether a file is the package's."""
        return any(path == str(top) or path.startswith(f"{top}/") for top in self.tops)


def tree(modules: Sequence[str]) -> Tree:
    """The source files of installed modules. Errors: InvalidParameter if one is not installed."""
    files: list[Path] = []
    tops: list[Path] = []
    for name in modules:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            spec = None
        if spec is None:
            raise InvalidParameter(f"[package] import {name!r}: no such module is installed in {sys.executable}")
        for place in spec.submodule_search_locations or ():
            tops.append(Path(place))
            files += [path for path in sorted(Path(place).rglob("*")) if path.suffix in (".py", ".pyi", ".so", ".pyd")]
        if not spec.submodule_search_locations and spec.origin:
            tops.append(Path(spec.origin))
            files.append(Path(spec.origin))
    return Tree(tuple(files), tuple(tops))


def release_at(release: str, package: Tree) -> Location | None:
    """The line that an instrumented release names: "function at path:line in caller"."""
    found = PLACE.search(release)
    if found is None:
        return None
    path, line = found["path"], int(found["line"])
    whole = next((one for one in package.files if one.as_posix().endswith(f"/{path}")), None)
    return _at(package, whole, line, found["function"]) if whole else Location(path, line, found["function"], "")


def function_at(name: str, package: Tree, where: str) -> Location:
    """The first line of "module:function". Errors: InvalidParameter."""
    plain = inspect.unwrap(load(name, where))
    try:
        path, (_, line) = inspect.getsourcefile(plain), inspect.getsourcelines(plain)
    except (TypeError, OSError) as error:
        raise InvalidParameter(f"{where} {name!r}: it has no Python source") from error
    return _at(package, Path(str(path)), line, str(getattr(plain, "__qualname__", name)))


def entered(function: Any, records: Any, seed: int, package: Tree) -> Location | None:
    """The last function of the package that a run of the wrapper calls from outside it, which gives what is published.

    Imports do not count; what looks like a constructor or an operator is taken if nothing else is called.
    """
    seen: list[tuple[str, int, str]] = []

    def look(frame: FrameType, event: str, argument: Any) -> None:
        code, above = frame.f_code, frame.f_back
        if event != "call" or code.co_name.startswith("<") or not package.holds(code.co_filename):
            return
        if above is None or not package.holds(above.f_code.co_filename):
            seen.append((code.co_filename, code.co_firstlineno, code.co_qualname))

    with contextlib.suppress(Exception):
        function(records, seed)  # imports happen here
    kept = sys.getprofile()
    sys.setprofile(look)
    try:
        with contextlib.suppress(Exception):
            function(records, seed)
    finally:
        sys.setprofile(kept)
    if not seen:
        return None
    path, line, name = next((one for one in reversed(seen) if "__" not in one[2]), seen[-1])
    return _at(package, Path(path), line, name)


def _at(package: Tree, path: Path, line: int, function: str) -> Location:
    return Location(package.relative(path), line, function, linecache.getline(str(path), line).strip())
