"""Results that are kept: one JSON document a line, written as soon as there is one, so that runs can be resumed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "kept"


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
        file.write(json.dumps({"key": key, **found}, sort_keys=True) + "\n")


def processor_seconds() -> float:
    """Of this process and of its children that ended."""
    return time.process_time() + sum(os.times()[2:4])
