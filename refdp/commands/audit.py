"""`refdp audit`: replay a paper's algorithm on neighbouring data sets, or run anyone's function on a pair of them."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from refdp import datasets, registry
from refdp.audit.blackbox import CONFIDENCE
from refdp.audit.page_replay import replay_page
from refdp.audit.replay import Violation
from refdp.audit.report import SMALL, SMALL_MINIMUM, SMALL_OWNERS, Report, audit_paper
from refdp.checks import check_count
from refdp.commands.blackbox import Given, audit_callable
from refdp.commands.options import (
    BoundsFile,
    Delta,
    Json,
    Published,
    RelationOption,
    Settings,
    Target,
    public_records,
    written,
)
from refdp.commands.options import settings as read_settings
from refdp.commands.output import bar, check_writable, emit, figure, write_text
from refdp.errors import InvalidParameter
from refdp.events import Relation
from refdp.records import Records
from refdp.registry import Paper

PAIRS = 36
SAMPLES = 100_000

AuditedPaper = Annotated[str | None, typer.Argument(metavar="PAPER", help=f"One of {', '.join(registry.PAPERS)}.")]
Callable = Annotated[
    str | None,
    typer.Option(
        "--callable",
        metavar="MODULE:FUNCTION",
        help="Audit this instead, for an event that one data set of --pair makes likelier than the budget allows.",
    ),
]
PairFile = Annotated[
    Path | None, typer.Option("--pair", help='JSON file: {"first": [[...]], "second": [[...]]}, neighbours.')
]
Confidence = Annotated[
    float | None, typer.Option("--confidence", help=f"Of the bound of --callable, {CONFIDENCE} if not given.")
]
Samples = Annotated[int | None, typer.Option("--samples", help=f"Most runs a side, {SAMPLES} if not given.")]
Jobs = Annotated[int, typer.Option("--jobs", help="Processes that run the function.")]
Resume = Annotated[Path | None, typer.Option("--resume", help="Keep finished runs in this file, and go on from it.")]
Structural = Annotated[
    bool, typer.Option("--structural/--no-structural", help="Also look for reused noise and the like.")
]
Outliers = Annotated[
    bool, typer.Option("--outliers", help="Records may hold any number: also try enormous ones, and other orders.")
]
LowBits = Annotated[
    bool, typer.Option("--low-bits/--no-low-bits", help="Look at the last bits of floating-point outputs too.")
]
Html = Annotated[Path | None, typer.Option("--html", help="Write the report as one page.")]


ABOUT_PAPERS = ("paper", "data", "target", "bounds", "as_published", "pairs", "set_")
ABOUT_CALLABLES = ("pair", "confidence", "samples", "jobs", "resume", "structural", "outliers", "low_bits")


def audit(
    context: typer.Context,
    paper: AuditedPaper = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="NAME_OR_CSV", help="Take the records from here, not at random. Witnesses show them."
        ),
    ] = None,
    target: Target = None,
    bounds: BoundsFile = None,
    epsilon: Annotated[float, typer.Option("--epsilon", help="Claimed privacy budget.")] = 1.0,
    delta: Delta = None,
    relation: RelationOption = Relation.ADD_REMOVE,
    as_published: Published = False,
    pairs: Annotated[int, typer.Option("--pairs", help="Neighbouring pairs to replay.")] = PAIRS,
    seed: Annotated[int, typer.Option("--seed", help="Of the pairs and of the recorded noise.")] = 0,
    set_: Settings = None,
    name: Callable = None,
    pair: PairFile = None,
    confidence: Confidence = None,
    samples: Samples = None,
    jobs: Jobs = 1,
    resume: Resume = None,
    structural: Structural = True,
    outliers: Outliers = False,
    low_bits: LowBits = True,
    html: Html = None,
    as_json: Json = False,
) -> None:
    """Look for privacy violations by exact replay of a PAPER, or by runs of --callable. Exit status 1 for a violation.

    A function(records, seed) returns whatever holds numbers; it is run with many seeds on both data sets of --pair.
    """
    check_writable("--html", html)
    _check_mode(context, name is not None)
    if name is not None:
        if pair is None:
            raise InvalidParameter("--callable: a file with neighbours is needed, --pair FILE")
        check_writable("--resume", resume)
        options = Given(
            name, pair, epsilon, delta or 0.0, CONFIDENCE if confidence is None else confidence,
            SAMPLES if samples is None else samples, seed, jobs, resume, structural, outliers, low_bits,
            html, as_json,
        )  # fmt: skip
        raise typer.Exit(audit_callable(options))
    if paper is None:
        raise InvalidParameter(f"PAPER or --callable is needed; papers are {', '.join(registry.PAPERS)}")
    chosen = registry.paper(paper)
    given = read_settings(set_, epsilon=epsilon, delta=delta, relation=relation)
    params = chosen.params(small(chosen) | given, as_published=as_published)
    check_count("pairs", pairs)
    check_count("seed", seed, least=0)
    records = _records(data, target, bounds)
    with bar("replaying") as progress:
        report = audit_paper(chosen, params, pairs, seed, records=records, progress=progress)
    if html is not None:
        shown = {"data": data, "target": target, "bounds": bounds, "delta": delta}
        command = _command(paper, as_published, set_, shown | {"epsilon": epsilon, "pairs": pairs, "seed": seed})
        with bar("replaying for the figures") as progress:
            page = replay_page(
                chosen, params, report, records, seed, f"{command} --relation {relation.value}", progress
            )
        write_text("--html", html, page.html())
    emit(report.to_dict(), audit_page(f"{paper}, {relation.value} neighbours", report), as_json)
    raise typer.Exit(0 if report.ok else 1)


def small(paper: Paper) -> dict[str, Any]:
    """The settings of an audit that the paper's parameters know."""
    known = {field.name for field in fields(paper.module.Params)}
    return {
        name: value
        for name, value in {**SMALL, "owners": SMALL_OWNERS, "child_minimum": SMALL_MINIMUM}.items()
        if name in known
    }


def audit_page(title: str, report: Report) -> RenderableType:
    """The figures, and a few lines for each violation with the pair that shows it."""
    verdict = Text("no violation", "bold green") if report.ok else Text(_count(report), "bold red")
    grid = Table.grid(padding=(0, 2))
    grid.add_row("audit", title)
    grid.add_row("pairs replayed", str(report.pairs))
    grid.add_row("claimed epsilon", figure(report.claimed.epsilon))
    grid.add_row("greatest loss", figure(report.max_loss))
    grid.add_row("finding", verdict)
    if report.ok:
        return grid
    return Group(
        grid,
        *map(_described, report.violations),
        Text("\n`refdp audit --json` gives every witness in full.", style="dim"),
    )


def _described(violation: Violation) -> Text:
    text = Text("\n").append(violation.kind, style="bold red").append(f" at {violation.release}", style="bold")
    text.append(f"  {violation.claim}\n")
    numbers = [f"{name} {figure(getattr(violation, name))}" for name in ("declared", "observed", "loss")]
    text.append(f"  {', '.join(numbers)}\n")
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


def _count(report: Report) -> str:
    count = len(report.violations)
    return f"{count} violation{'s' if count > 1 else ''}"


def _command(paper: str, as_published: bool, set_: list[str] | None, options: dict[str, Any]) -> str:
    """The command that gives the same finding."""
    words = ["refdp", "audit", paper, *["--as-published"] * as_published]
    words += [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
    return shlex.join([*words, *(["--set", *set_] if set_ else [])])


def _check_mode(context: typer.Context, has_callable: bool) -> None:
    """What is given on the command line and would be ignored is refused."""
    ignored = written(context, ABOUT_PAPERS if has_callable else ABOUT_CALLABLES)
    if ignored:
        named = ", ".join("PAPER" if name == "paper" else _flag(name) for name in ignored)
        why = (
            "are about papers, and not allowed with --callable"
            if has_callable
            else "about --callable, which is not given"
        )
        raise InvalidParameter(f"{named}: {why}")


def _flag(name: str) -> str:
    return "--" + name.rstrip("_").replace("_", "-")


def _records(data: str | None, target: str | None, bounds: Any) -> Records | None:
    if data is None:
        if target is not None or bounds is not None:
            raise InvalidParameter("--target and --bounds are about --data, which is not given")
        return None
    return public_records(datasets.load(data, target=target, bounds=bounds))
