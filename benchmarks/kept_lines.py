"""Results that are kept as they come, a line of JSON each, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def read(path: Path) -> list[Any]:
    """What is kept, in its order; nothing where there is no file yet."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def forget_earlier(path: Path, names: Iterable[str]) -> None:
    """Of lines with the same values under these names the last alone stays."""
    names, found = tuple(names), dict[Any, Any]()
    for row in read(path):
        found[tuple(row[name] for name in names)] = row
    path.write_text("".join(json.dumps(row) + "\n" for row in found.values()), encoding="utf-8")


def write_between(page: Path, command: str, lines: Iterable[str]) -> None:
    """These lines on a page, between the comments that name the command that writes them."""
    begin, end = f"<!-- begin: {command} -->\n\n", "\n<!-- end -->"
    head, rest = page.read_text(encoding="utf-8").split(begin)
    page.write_text(head + begin + "\n".join(lines) + "\n" + end + rest.split(end, 1)[1], encoding="utf-8")


def append(path: Path, row: Any) -> None:
    """One more line."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
