"""`python -m tests.mutants`: print the kill matrix."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from tests.mutants.matrix import rows


def main() -> None:
    """One line a mutant: the checks that caught it, and where each located it."""
    table = Table("mutant", "caught by", "located at", title="Kill matrix of DPBoost")
    for row in rows():
        by = ", ".join(sorted({caught.by for caught in row.caught})) or "NOT CAUGHT"
        where = ", ".join(sorted({caught.where for caught in row.caught}))
        table.add_row(row.mutant.name, by, where if row.located else f"NOT LOCATED: {where}")
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
