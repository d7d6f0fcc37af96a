"""`refdp dossier`: the questions of an evaluation, answered from a certificate or an audit's report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from refdp.documents import parsed
from refdp.errors import InvalidParameter
from refdp.faces.commands.options import Json

File = Annotated[
    Path,
    typer.Argument(metavar="CERTIFICATE_OR_REPORT", help="What train, audit or audit package print with --json."),
]
Html = Annotated[Path | None, typer.Option("--html", help="Write the dossier as one page.")]


def dossier(file: File, html: Html = None, as_json: Json = False) -> int:
    """Answer every question of an evaluation after NIST SP 800-226: proved, tested, assumed, or not examined.

    Exit status 1 where the document contradicts what is claimed.
    """
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from refdp.audit.dossier import dossier as answered
    from refdp.audit.dossier import page
    from refdp.faces.commands.output import check_writable, emit, write_page

    check_writable("--html", html, file)
    try:
        document = parsed(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidParameter(f"{file}: a JSON document is needed: {error}") from error
    found = answered(document)
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("about", "answer", "what is known"):
        table.add_column(title, overflow="fold")
    for answer in found.answers:
        word = Text(str(answer.word) if answer.holds else f"{answer.word}, contradicted", "" if answer.holds else "red")
        table.add_row(answer.topic, word, answer.text)
    emit(found.to_dict(), Group(Text(found.sentence, "bold"), table), as_json)
    wrote = html is None or write_page("--html", html, page(found, shlex.join(["refdp", "dossier", str(file)])))
    return 0 if found.holds and wrote else 1 if not found.holds else 2
