"""Results that are kept: one JSON document a line, written as soon as there is one, so that runs can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "kept"
AUDIT = Path(__file__).parents[3] / "refdp" / "audit"


def load(name: str) -> dict[str, dict[str, Any]]:
    """What is kept under a name, by key."""
    path = HERE / f"{name}.jsonl"
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["key"]: line for line in lines}


def forget(name: str) -> None:
    """Begin anew."""
    (HERE / f"{name}.jsonl").unlink(missing_ok=True)


def keep(name: str, key: str, /, **found: Any) -> None:
    """Append one result."""
    HERE.mkdir(exist_ok=True)
    with (HERE / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"key": key, "program": program(), **found}, sort_keys=True) + "\n")


@cache
def program() -> str:
    """Eight digits that change with any text below refdp/audit: which program judged what is kept."""
    digest = hashlib.sha256()
    for path in sorted(AUDIT.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def programs(rows: Iterable[Mapping[str, Any]]) -> str:
    """How many results are of which program, in words; those of before programs were noted are of earlier ones."""
    counts = Counter(row.get("program", "") for row in rows)
    told = [f"{count} by the audit with digest {name}" for name, count in sorted(counts.items()) if name]
    return ", ".join([*told, *([f"{counts['']} by earlier texts of the audit"] if counts[""] else [])])


def processor_seconds() -> float:
    """Of this process and of its children that ended."""
    return time.process_time() + sum(os.times()[2:4])
