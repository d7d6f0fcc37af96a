"""Parts of a page that was written before, for packages that were not run again: one row of the table, one section."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Kept(NamedTuple):
    """What a page says of one package. row: its line in the table of all packages. section: from its heading on."""

    row: str
    section: str

    @property
    def cells(self) -> list[str]:
        """Of the row."""
        return [cell.strip() for cell in self.row.strip().strip("|").split(" | ")]


def parts(page: Path, names: list[str]) -> dict[str, Kept]:
    """By name, of those that have a row and a section; nothing where there is no page yet."""
    if not page.is_file():
        return {}
    text = page.read_text(encoding="utf-8")
    found = {}
    for name in names:
        rows = re.findall(rf"^\| (?:\[{re.escape(name)}\]\([^)]*\)|{re.escape(name)}) \| .*\n", text, re.M)
        section = re.search(rf"^\n## {re.escape(name)} \d[^\n]*\n.*?(?=^\n## |\Z)", text, re.M | re.S)
        if rows and section:
            found[name] = Kept(max(rows, key=lambda row: row.count("|")), section[0])
    return found
