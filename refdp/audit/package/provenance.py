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
        "versions": {
            "refdp": __version__,
            "python": platform.python_version(),
            scope.package: installed(scope.package) or scope.version,
            **{name: version for name in NAMED if (version := installed(name))},
        },
        "sources": {"files": len(package.files), "sha256": digest(package.files)},
        "audit": {
            "file": scope.path.name,
            "sha256": digest([scope.path]),
            "wrappers": digest(sorted(scope.folder.glob("*.py"))),
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
