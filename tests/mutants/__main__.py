"""`python -m tests.mutants`: print the kill matrix."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from tests.mutants.matrix import SUBJECTS, Subject, rows


def matrix(subject: Subject) -> Table:
    """One line a mutant: the checks that caught it, and where each located it."""
    table = Table("mutant", "caught by", "located at", title=f"Kill matrix of {subject.title}")
    for row in rows(subject):
        by = ", ".join(sorted({caught.by for caught in row.caught})) or "NOT CAUGHT"
        where = ", ".join(sorted({caught.where for caught in row.caught}))
        table.add_row(row.mutant.name, by, where if row.located else f"NOT LOCATED: {where}")
    return table


def main() -> None:
    """The kill matrix of every paper that has mutants."""
    for subject in SUBJECTS.values():
        Console(width=150).print(matrix(subject))


if __name__ == "__main__":
    main()
