"""`refdp claims`: the ledger of machine-checked claims."""

from __future__ import annotations

from typing import Annotated

import typer

from refdp.errors import InvalidParameter
from refdp.faces.commands.options import Json
from refdp.faces.registry import PAPERS


def ledgers_like(incomplete: str) -> list[str]:
    """For a shell's completion: what of the ledger begins so; what is refdp's own has its claims under composition."""
    return [name for name in (*PAPERS, "composition") if name.startswith(incomplete)]


def claims(
    paper: Annotated[
        str | None, typer.Option("--paper", metavar="P", help="Only this paper's claims.", autocompletion=ledgers_like)
    ] = None,
    show: Annotated[str | None, typer.Option("--show", metavar="ID", help="One claim in full.")] = None,
    as_json: Json = False,
) -> None:
    """List the claims of the papers with their derived verdicts, or show one."""
    from refdp.faces.commands.output import emit
    from refdp.ledger import claims as ledger

    found = [ledger.get(show)] if show is not None else ledger.load(paper)
    if paper is not None and found[0].paper != paper:
        raise InvalidParameter(f"--show {show}: a claim of {found[0].paper}, and --paper {paper} is given")
    page = ledger.show(show) if show is not None else ledger.table(found)
    emit([claim.to_dict() for claim in found], page, as_json)
