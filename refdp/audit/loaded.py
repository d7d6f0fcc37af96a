"""What a kept run was made with: the texts of all modules that were loaded, and the versions of installed ones.

Python's own modules are told by its version, installed packages by theirs; of all else, and of packages that name no
version, every loaded file counts. Data that a function reads is no module: nothing here sees that it changes.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

INSTALLED = ("site-packages", "dist-packages")


class Loaded:
    """What a file tells already. told: version or digest by file or package."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        self._names: set[str] = set()

    def new(self) -> dict[str, str]:
        """What was loaded since the last time, and is told from now on."""
        found = {} if "python" in self.told else {"python": platform.python_version()}
        names = sys.modules.keys() - self._names
        self._names |= names
        for name in names:
            top, file = name.partition(".")[0], _file(sys.modules.get(name))
            if top in sys.stdlib_module_names or top == "__main__" or file is None:
                continue
            key = top if _installed(file) and _version(top) else str(file)
            if key not in self.told and key not in found and (told := _told(key)):
                found[key] = told
        self.told |= found
        return found

    def read(self, kept: Any) -> None:
        """What a line of the file tells. Errors: TypeError or ValueError for what no line tells."""
        if not isinstance(kept, dict) or not all(isinstance(one, str) and one for pair in kept.items() for one in pair):
            raise TypeError("loaded: versions and digests by file or package are needed")
        for key, told in kept.items():
            if self.told.setdefault(key, told) != told:
                raise ValueError(f"two texts or versions of {key}")

    def changed(self) -> str:
        """The first file or package that is another now, "" if there is none."""
        return next((key for key, told in self.told.items() if _told(key) != told), "")


def _told(key: str) -> str:
    if key == "python":
        return platform.python_version()
    path = Path(key)
    if not path.is_absolute():
        return _version(key)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _version(top: str) -> str:
    """Of the installed distributions that a package comes from: "" for none. Nothing is imported for it."""
    return ", ".join(f"{name} {metadata.version(name)}" for name in sorted(set(_distributions().get(top, ()))))


@cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _file(module: Any) -> Path | None:
    try:
        file = module.__file__
        return Path(file).absolute() if isinstance(file, str) and Path(file).is_file() else None
    except Exception:  # a module that is no module, or refuses
        return None


def _installed(file: Path) -> bool:
    return any(part in INSTALLED for part in file.parts)
