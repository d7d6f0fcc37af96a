"""What a kept run was made with: the texts of all modules that were loaded, and the versions of installed ones.

Python's own modules are told by its version, installed packages by theirs; of all else, and of packages that name no
version, every loaded module counts, by its name and its text, wherever its file lies, in an archive by the archive's.
Code that is no module, as `runpy` and `exec_module` run it, and libraries that `ctypes` opens by a path, count by their
files from the call of `listen` on. Data that a function reads, text that it runs without the name of a file, and
settings of the environment are no modules: nothing here sees that they change.
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
import re
import sys
import sysconfig
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from refdp.errors import InvalidParameter

INSTALLED = ("site-packages", "dist-packages")
DIGITS = hashlib.sha256().digest_size * 2
NOWHERE = Path()
"""Of a module that is there, and has no file."""
_RUN: set[str] = set()
"""Names of files whose code was run in this process since `listen`."""


class Loaded:
    """What a file tells already. told: version by package, digest and path by module."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        self._names: set[str] = set()
        self._run: set[str] = set()

    def new(self) -> dict[str, str]:
        """What was loaded since the last time, and is told from now on.

        Errors: InvalidParameter where a module of this name was told with another text or version.
        """
        found = {} if "python" in self.told else {"python": platform.python_version()}
        names = sys.modules.keys() - self._names
        self._names |= names
        for name in names:
            top, file = name.partition(".")[0], _file(sys.modules.get(name))
            if top in ("__main__", "__mp_main__") or file is None or of_python(file):
                continue
            version = _version(top) if is_installed(file) else ""
            self._tell(found, *((top, version) if version else (name, _of_file(file))), file)
        for file in self._beside_modules():
            self._tell(found, str(file), _of_file(file), file)
        self.told |= found
        return found

    def _tell(self, found: dict[str, str], key: str, told: str, file: Path) -> None:
        if not _is_same(self.told.get(key, told), told):
            raise InvalidParameter(f"--resume: runs of another text or version of {key} than the present one, "
                                   f"{file}; give another file")  # fmt: skip
        if key not in self.told and told:
            found[key] = told

    def _beside_modules(self) -> list[Path]:
        """Files of code that was run since the last time and is of no module."""
        names = _RUN - self._run
        self._run |= names
        files = {file for name in names if (file := _lying(Path(name).absolute())) is not None}
        files -= {_file(module) for module in tuple(sys.modules.values())} if files else set()
        return sorted(file for file in files if not of_python(file) and not is_installed(file))

    def read(self, kept: Any) -> None:
        """What a line of the file tells. Errors: TypeError or ValueError for what no line tells."""
        if not isinstance(kept, dict) or not all(isinstance(one, str) and one for pair in kept.items() for one in pair):
            raise TypeError("loaded: versions and digests by module or package are needed")
        for key, told in kept.items():
            if not _is_same(self.told.setdefault(key, told), told):
                raise ValueError(f"two texts or versions of {key}")

    def changed(self) -> str:
        """The first module or package that is another now, as this process has it or would find it; "" for none."""
        return next((key for key, told in self.told.items() if not _is_same(_now(key, told), told)), "")


@cache
def listen() -> None:
    """From now on files are noted whose code is run, of modules or not. There is no way to end this."""
    sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("exec", "ctypes.dlopen"):
        name = getattr(arguments[0], "co_filename", arguments[0])
        if isinstance(name, str) and not name.startswith("<"):
            _RUN.add(name)


def is_installed(file: Path) -> bool:
    """Whether a file is one of an installed package."""
    return any(part in INSTALLED for part in file.parts)


@cache
def of_python(file: Path) -> bool:
    """Whether a file is Python's own, whatever the name of the module."""
    return not is_installed(file) and any(file.resolve().is_relative_to(home) for home in _homes())


@cache
def _homes() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    return tuple({Path(paths[name]).resolve() for name in ("stdlib", "platstdlib")})


def _now(key: str, told: str) -> str:
    """What would be told of it by this process."""
    if key == "python":
        return platform.python_version()
    if Path(key).is_absolute():
        return _of_file(Path(key))
    file = where(key)
    if _is_text(told):
        return _of_file(Path(told[DIGITS + 1 :]) if file is None else file)
    return _version(key) if file in (None, NOWHERE) or is_installed(file) else ""


def _is_same(told: str, other: str) -> bool:
    """Whether versions, or texts wherever they lie, are the same."""
    return told == other or (_is_text(told) and _is_text(other) and told[:DIGITS] == other[:DIGITS])


def _is_text(told: str) -> bool:
    return set(told[:DIGITS]) <= set("0123456789abcdef") and told[DIGITS : DIGITS + 1] == " "


def _of_file(file: Path) -> str:
    """The digest of a file, and where it lies; "" for none."""
    return f"{hashlib.sha256(file.read_bytes()).hexdigest()} {file}" if file.is_file() else ""


def where(name: str) -> Path | None:
    """The file of a module, or where one would be loaded from; None where none is found. Nothing is imported."""
    if name in sys.modules:
        return _file(sys.modules[name]) or NOWHERE
    spec: Any = None
    parts = name.split(".")
    for depth in range(len(parts)):
        within = spec.submodule_search_locations if spec is not None else None
        if depth and within is None:
            return None
        try:
            asked = (finder.find_spec(".".join(parts[: depth + 1]), within) for finder in sys.meta_path)
            spec = next((found for found in asked if found is not None), None)
        except Exception:  # a finder of somebody's
            return None
        if spec is None:
            return None
    return (_lying(Path(spec.origin).absolute()) if spec.origin else None) or NOWHERE


def _lying(path: Path) -> Path | None:
    """The file of a path, or the archive that it leads into; None for neither."""
    with contextlib.suppress(OSError, ValueError):
        return next((one for one in (path, *path.parents) if one.is_file()), None)
    return None


def _version(top: str) -> str:
    """Of the installed distributions that a package comes from: "" for none. Nothing is imported for it."""
    return ", ".join(f"{name} {metadata.version(name)}" for name in sorted(homes(top)))


def homes(top: str) -> frozenset[str]:
    """The installed distributions that have a part of a top-level package. Nothing is imported for it."""
    return frozenset(_distributions().get(top, ()))


def beside(top: str) -> tuple[str, ...]:
    """What else the distribution of a top-level package installs; nothing where several install parts of either."""
    home = homes(top)
    return tuple(name for name in _distributions() if name != top and homes(name) == home) if len(home) == 1 else ()


def requires(top: str, name: str) -> bool:
    """Whether a distribution that a top-level package comes from says that it needs another one, be it as an extra."""
    needed: list[str] = []
    for home in homes(top):
        with contextlib.suppress(metadata.PackageNotFoundError):
            needed += metadata.requires(home) or ()
    return any(re.match(rf"{re.escape(name)}(?![\w.-])", one.strip(), re.IGNORECASE) is not None for one in needed)


@cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _file(module: Any) -> Path | None:
    try:
        file = module.__file__
        return _lying(Path(file).absolute()) if isinstance(file, str) else None
    except Exception:  # a module that is no module, or refuses
        return None
