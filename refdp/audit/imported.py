"""Whether modules of a user's are still what this process imported: Python runs the old text of an edited file.

A report would name the function of a file that says something else by now, and processes of its own would run the new
text beside the old one. Looked at are the function's module and those that lie beside it or below, not Python's own and
installed ones, and not what a file said before the first call.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

from refdp.audit.loaded import is_installed, of_python
from refdp.errors import InvalidParameter

OWN = ("refdp", "__main__", "__mp_main__")


class Imported:
    """What the files of modules said when they were first seen. Whoever reloads a module is given another spec."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[Any, Path, str]] = {}

    def note(self) -> None:
        """What was imported since the last call, and what was reloaded."""
        for name, module in list(sys.modules.items()):
            spec = getattr(module, "__spec__", None)
            path = _path(name, spec)
            if path is not None and (name not in self._seen or self._seen[name][0] is not spec):
                self._seen[name] = spec, path, _digest(path)

    def check(self, module: str) -> None:
        """Errors: InvalidParameter if the file of a module, or of one beside it, is another, or gone, since then."""
        self.note()
        top = self._seen.get(module.partition(".")[0]) or self._seen.get(module)
        if top is None:
            return
        beside = top[1].parents[1] if top[1].name == "__init__.py" else top[1].parent
        for name, (spec, path, digest) in self._seen.items():
            runs = getattr(sys.modules.get(name), "__spec__", None) is spec and path.is_relative_to(beside)
            if runs and _digest(path) != digest:
                raise InvalidParameter(
                    f"{path} has changed since module {name} was imported, and this process still runs the old text: "
                    "start another one, or reload the module"
                )


def _path(name: str, spec: Any) -> Path | None:
    origin = getattr(spec, "origin", None)
    if name.partition(".")[0] in OWN or not isinstance(origin, str) or not origin.endswith(".py"):
        return None
    path = Path(origin)
    return None if is_installed(path) or of_python(path) else path


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


IMPORTED = Imported()
"""Of this process."""
