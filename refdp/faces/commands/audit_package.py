"""`refdp audit package audit.toml`: the audit of an installed package, with pages for people and for machines."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refdp.errors import InvalidParameter
from refdp.faces.commands.options import Json

if TYPE_CHECKING:
    from refdp.audit.package.report import PackageReport

File = Annotated[Path, typer.Argument(metavar="AUDIT.TOML", help="Scope of the audit: docs/audit-package.md.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write the report as one page.")]
Sarif = Annotated[Path | None, typer.Option("--sarif", help="Write the findings as SARIF 2.1.0.")]
Junit = Annotated[Path | None, typer.Option("--junit", help="Write the findings as JUnit XML.")]
Baseline = Annotated[Path | None, typer.Option("--baseline", help="JSON file of accepted findings with reasons.")]
Resume = Annotated[Path | None, typer.Option("--resume", help="Keep finished entry points here, and go on from it.")]
Only = Annotated[str | None, typer.Option("--entry", metavar="NAME", help="Audit this entry point alone.")]


def audit_package(
    file: File,
    html: Html = None,
    sarif: Sarif = None,
    junit: Junit = None,
    baseline: Baseline = None,
    resume: Resume = None,
    entry: Only = None,
    as_json: Json = False,
) -> int:
    """Audit an installed package: replay, structural checks and black box of the entry points of AUDIT.TOML.

    Exit status 1 for a violation that the baseline does not accept, 3 where something decisive was not examined.
    """
    from refdp.audit.package import audit_package as audit
    from refdp.faces.commands.blackbox import prints_on_standard_error
    from refdp.faces.commands.output import bar, check_outputs, emit, write_page

    outputs = {"--html": html, "--sarif": sarif, "--junit": junit}
    check_outputs(outputs, file, baseline, resume)
    if html is not None:
        from refdp.audit.page import check_drawing

        check_drawing()
    words = ["refdp", "audit", "package", str(file), *(["--entry", entry] if entry else [])]
    try:
        with prints_on_standard_error(), bar("auditing") as progress:
            report = audit(
                file,
                baseline=baseline,
                resume=resume,
                only=entry,
                curves=html is not None,
                command=shlex.join(words),
                progress=lambda done, total, what: progress(done, total, what),
            )
    except SystemExit as error:  # its status would pass for a finding
        raise InvalidParameter(f"{file}: the package ended the program with status {error.code}") from error
    emit(report.to_dict(), _page(report), as_json)
    wrote = [write_page(option, path, _written(option, report)) for option, path in outputs.items() if path is not None]
    return report.status if report.status or all(wrote) else 2


def _written(option: str, report: PackageReport) -> str:
    from refdp.audit.package.page import page
    from refdp.audit.package.sarif import junit, sarif
    from refdp.faces.commands.output import plain

    if option == "--sarif":
        return json.dumps(plain(sarif(report)), indent=1, allow_nan=False) + "\n"
    return page(report) if option == "--html" else junit(report)


def _page(report: PackageReport) -> Any:
    """For people at a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from refdp.audit.verdicts import Verdict
    from refdp.faces.commands.audit_run import STYLES, coverage_table

    lines: list[Any] = [Text(f"{report.verdict}: {report.sentence}", STYLES.get(report.verdict, "bold green"))]
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("entry point", "verdict", "line"):
        table.add_column(title, overflow="fold")
    for one in report.entries:
        table.add_row(one.entry.name, Text(str(one.verdict), STYLES.get(one.verdict, "")), str(one.location))
    lines.append(table)
    for found in report.findings:
        text = Text(f"\n{found.cause.title}", "bold red" if found.violation else "bold yellow")
        text.append(f"  [{found.group}, {found.severity}] {found.entry}: {found.where}\n", "")
        text.append(f"  {found.location}\n  {found.evidence}\n  neighbours: {found.pair}\n")
        text.append("  " + ", ".join(f"{name} {value}" for name, value in found.figures.items()) + "\n")
        text.append(f"  accepted: {found.accepted}" if found.accepted else f"  {found.cause.remedy}")
        code = "\n".join(f"    {line}" for line in found.witness.code.splitlines())
        lines += [text, Text(code, "dim", no_wrap=True, overflow="ignore")]  # to be copied
    beside = [row.what for row in report.coverage if row.verdict is Verdict.NOT_EXAMINED and not row.decides]
    lines += [Text(""), coverage_table(tuple(row for row in report.coverage if row.what not in beside))]
    if beside:
        lines.append(Text(f"Not examined, and nothing is concluded about: {', '.join(beside)}."))
    if report.stale:
        lines.append(Text(f"\nbaseline: nothing found any more for {', '.join(report.stale)}", "yellow"))
    return Group(*lines)
