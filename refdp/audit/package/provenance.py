"""Where a report comes from: command, seeds, versions, hashes of sources and data, date, class of machine."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from refdp import __version__
from refdp.audit.package.entries import Neighbours
from refdp.audit.package.scope import Scope
from refdp.audit.package.sources import Tree

NAMED = ("numpy", "scipy", "scikit-learn")
"""Distributions whose versions an outcome may hang on, besides the audited one."""


def installed(name: str) -> str:
    """The version of a distribution, "" if it is not installed as one."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def digest(files: Iterable[Path]) -> str:
    """Of names and contents of files, in their order."""
    found = hashlib.sha256()
    for file in files:
        found.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def versions(scope: Scope) -> dict[str, str]:
    """Of refdp, Python, the package and what an outcome may hang on besides."""
    return {
        "refdp": __version__,
        "python": platform.python_version(),
        scope.package: installed(scope.package) or scope.version,
        **{name: version for name in NAMED if (version := installed(name))},
    }


def named(scope: Scope) -> list[Path]:
    """The auditor's own files: Python below audit.toml's folder, and scripts, notebooks and data that it names.

    Folders whose name begins with a dot, and installed packages, are left out.
    """
    found = set[Path]()
    for folder, inner, files in os.walk(scope.folder):
        inner[:] = [name for name in inner if not name.startswith(".") and name not in ("site-packages", "__pycache__")]
        found.update(Path(folder, name) for name in files if name.endswith(".py"))
    for entry in scope.entries:
        words = [entry.target] if isinstance(entry.target, str) else entry.target
        for word in (*words, entry.first, entry.second, entry.records):
            if isinstance(word, str) and word and (scope.folder / word).is_file():
                found.add(scope.folder / word)
    return sorted(found)


def provenance(
    scope: Scope, package: Tree, data: Mapping[str, list[Neighbours]], command: str, seconds: float
) -> dict[str, Any]:
    """All of it. data: the pairs of every entry."""
    pairs = {
        name: hashlib.sha256(
            b"".join(repr(side.shape).encode() + side.tobytes() for pair in listed for side in pair.sides)
        ).hexdigest()
        for name, listed in data.items()
    }
    return {
        "command": command,
        "seeds": {"audit": scope.seed},
        "versions": versions(scope),
        "sources": {"files": len(package.files), "sha256": digest(package.files)},
        "audit": {
            "file": scope.path.name,
            "sha256": digest([scope.path]),
            "named": digest(named(scope)),
        },
        "data": pairs,
        "date": today().isoformat(timespec="seconds"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, {sys.byteorder}-endian",
        "seconds": round(seconds, 2),
    }


def today() -> datetime:
    """Now, or what SOURCE_DATE_EPOCH says, so that a report can be made again byte for byte."""
    told = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(told), UTC) if told.isdigit() else datetime.now(UTC)
