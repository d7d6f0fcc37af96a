"""`refdp conform`: hold another implementation against refdp's vectors, or write these."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from refdp.errors import InvalidParameter
from refdp.faces.commands.options import Json
from refdp.faces.commands.output import bar, check_writable, emit, write_text


def conform(
    command: Annotated[
        str | None, typer.Option("--exec", metavar="COMMAND", help="The program: JSON lines in, JSON lines out.")
    ] = None,
    paper: Annotated[str | None, typer.Option("--paper", help="This paper's vectors only.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Vectors of this kind only.")] = None,
    neighbours: Annotated[
        bool, typer.Option("--neighbours", help="Both sides of pairs on one tape: every true value and the model.")
    ] = False,
    vectors: Annotated[
        Path | None,
        typer.Option("--vectors", metavar="DIR", help="Write all vectors there; with --exec read them there."),
    ] = None,
    fresh: Annotated[
        int | None,
        typer.Option(
            "--fresh",
            metavar="SEED",
            min=0,
            help="Vectors drawn anew from a seed, and wider runs: none that anybody can know before.",
        ),
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds for each answer.")] = 60.0,
    html: Annotated[Path | None, typer.Option("--html", help="File for the report as a page.")] = None,
    as_json: Json = False,
) -> int:
    """Run the vectors through another implementation; exit status 1 if one failed."""
    from refdp.conform import files, page, runner

    if command is None:
        if vectors is None or paper or kind or neighbours or html or fresh is not None:
            raise InvalidParameter("--exec COMMAND is needed, or --vectors DIR alone to write all vectors")
        counts = files.write(vectors)
        total = sum(counts.values())
        emit({"vectors": total, "files": counts}, f"{total} vectors written to {vectors}\n", as_json)
        return 0
    kinds = ("neighbour",) if neighbours else tuple(files.KINDS)
    for option, given, known in (("--paper", paper, files.TEXTS), ("--kind", kind, kinds)):
        if given is not None and given not in known:
            raise InvalidParameter(f"{option} {given}: one of {', '.join(known)} is allowed")
    if not timeout > 0:
        raise InvalidParameter(f"--timeout {timeout}: seconds above 0 are needed")
    if fresh is not None and vectors is not None:
        raise InvalidParameter(f"--fresh {fresh} with --vectors {vectors}: vectors are drawn anew or read, one of them")
    check_writable("--html", html, *command.split())
    where = None if fresh is not None else vectors or files.kept()
    only = "neighbour" if neighbours else kind
    envelopes: list[dict[str, Any]] = files.made(paper, only, fresh) if where is None else files.read(where)
    chosen = [
        body for body in envelopes
        if paper in (None, body["paper"]) and (kind or body["kind"]) == body["kind"] and body["kind"] in kinds
    ]  # fmt: skip
    if not chosen:
        raise InvalidParameter(f"no vectors of paper {paper or 'any'} and kind {kind or 'any'}")
    total = sum(len(body["tests"]) for body in chosen)
    with bar("vectors") as progress:
        numbers = iter(range(1, total + 1))
        report = runner.run(
            command, chosen, timeout=timeout, seed=fresh, progress=lambda: progress(next(numbers), total)
        )
    if html is not None:
        write_text("--html", html, page.page(report))
    emit(report.to_dict(), page.text(report), as_json)
    return 0 if report.ok else 1
