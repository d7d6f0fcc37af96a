"""What `refdp audit PAPER` audits, and how it shows the findings."""

from __future__ import annotations

import shlex
from dataclasses import fields
from textwrap import shorten
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from refdp.audit import ways
from refdp.audit.replay import Violation
from refdp.audit.report import SMALL, SMALL_MINIMUM, SMALL_OWNERS, Report
from refdp.audit.verdicts import Row, Verdict
from refdp.audit.ways import Way
from refdp.data.records import Records
from refdp.errors import InvalidParameter
from refdp.faces.commands.options import public_records
from refdp.faces.commands.output import figure
from refdp.faces.registry import Paper
from refdp.io import datasets


def small(paper: Paper) -> dict[str, Any]:
    """The settings of an audit that the paper's parameters know."""
    known = {field.name for field in fields(paper.printed.Params)}
    return {
        name: value
        for name, value in {**SMALL, "owners": SMALL_OWNERS, "child_minimum": SMALL_MINIMUM}.items()
        if name in known
    }


STYLES = {Verdict.VIOLATION: "bold red", Verdict.NOT_EXAMINED: "yellow"}
"""Of verdicts; others are green where they decide."""


def audit_page(title: str, report: Report) -> RenderableType:
    """The verdict and figures, what was covered, and a few lines for each violation with the pair that shows it."""
    grid = Table.grid(padding=(0, 2))
    grid.add_row("audit", title)
    grid.add_row("verdict", verdict_text(report.verdict, len(report.violations)))
    grid.add_row("pairs replayed", str(report.pairs))
    grid.add_row("claimed epsilon", figure(report.claimed.epsilon))
    grid.add_row("greatest loss", "none stated" if report.max_loss is None else figure(report.max_loss))
    parts: list[RenderableType] = [grid, Text(""), coverage_table(report.coverage), *map(described, report.violations)]
    if report.violations:
        parts.append(Text("\n`refdp audit --json` gives every witness in full.", style="dim"))
    return Group(*parts)


def verdict_text(verdict: Verdict, violations: int) -> Text:
    """The word, with how many violations there are; green only where nothing that decides was left out."""
    text = Text(str(verdict), STYLES.get(verdict, "bold green"))
    return text.append(f", {violations} violation{'s' * (violations > 1)}") if violations else text


def coverage_table(rows: tuple[Row, ...]) -> Table:
    """What was looked at, with its verdict, reason and power."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("what", "verdict", "reason", "would have shown"):
        table.add_column(title, overflow="fold")
    for row in rows:
        verdict = Text(str(row.verdict), STYLES.get(row.verdict, ""))
        table.add_row(row.what, verdict, row.reason, row.power)
    return table


def described(violation: Violation) -> Text:
    """One violation, for people."""
    text = Text("\n").append(violation.kind, style="bold red").append(f" at {violation.release}", style="bold")
    text.append(f"  {violation.claim}\n")
    compared = {"declared": violation.declared, "observed": violation.observed}
    numbers = [f"{name} {figure(number)}" for name, number in compared.items() if number is not None]
    text.append(f"  {', '.join([*numbers, violation.loss_in_words()])}\n")
    return text.append(f"  {witness_line(violation)}", style="dim")


def witness_line(violation: Violation) -> str:
    """The witness in a few words."""
    witness = violation.witness
    if "base_y" not in witness:
        return f"the same as at {witness['releases'][0]}"
    new = f"with {_numbers(witness['new_x'])} -> {witness['new_y']:g}"
    moved = (
        f"{new} against {_numbers(witness['old_x'])} -> {witness['old_y']:g}"
        if "old_x" in witness
        else f"{new} against without"
    )
    detail = f"; {shorten(witness['detail'], 60, placeholder=' ...')}" if "detail" in witness else ""
    return f"{moved}, beside {len(witness['base_y'])} other records{detail}"


def _numbers(values: list[float]) -> str:
    shown = ", ".join(f"{value:.4g}" for value in values[:3])
    return f"({shown}{', ...' if len(values) > 3 else ''})"


def command_of(paper: str, as_published: bool, set_: list[str] | None, options: dict[str, Any]) -> str:
    """The command that gives the same finding."""
    words = ["refdp", "audit", paper, *["--as-published"] * as_published]
    words += [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
    return shlex.join([*words, *(["--set", *set_] if set_ else [])])


def way_of(paper: Paper, stream: int | None, participants: int | None, owners: int | None) -> Way | None:
    """Another way of training; None for the plain one. Errors: InvalidParameter for two at once."""
    given = [(make, count) for make, count in ((ways.stream, stream), (ways.participants, participants),
                                               (ways.owners, owners)) if count is not None]  # fmt: skip
    if len(given) > 1:
        raise InvalidParameter("--stream, --participants, --owners: one of them at a time is allowed")
    return given[0][0](paper, given[0][1]) if given else None


def records_of(data: str | None, target: str | None, bounds: Any) -> Records | None:
    """The records of --data; None without it. Errors: InvalidParameter for a target or bounds of no data."""
    if data is None:
        if target is not None or bounds is not None:
            raise InvalidParameter("--target and --bounds are about --data, which is not given")
        return None
    return public_records(datasets.load(data, target=target, bounds=bounds, public=True))
