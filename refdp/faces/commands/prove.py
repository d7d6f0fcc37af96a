"""`refdp prove`: a paper's training text, read on unknown records, with every release asked of two solvers."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refdp.errors import InvalidParameter
from refdp.faces.commands.options import Delta, Json, PaperName, Published, RelationOption, Settings, settings
from refdp.privacy.events import Relation

if TYPE_CHECKING:
    from refdp.prove.report import Report

ClassCount = Annotated[
    int | None,
    typer.Option("--classes", help="Classes of the target, 0 for a regression. Unless given: a regression, and two."),
]
Ranges = Annotated[
    list[str] | None,
    typer.Option("--any", metavar="NAME=LOW..HIGH", help="Prove it for every value of this parameter in the range, or, "
                 "with NAME alone, for all that is allowed (to 65,536 where no end is). Repeatable."),
]  # fmt: skip


def prove(
    paper: PaperName,
    relation: RelationOption = Relation.ADD_REMOVE,
    epsilon: Annotated[float, typer.Option("--epsilon", help="Claimed privacy budget.")] = 1.0,
    delta: Delta = None,
    as_published: Published = False,
    classes: ClassCount = None,
    set_: Settings = None,
    any_: Ranges = None,
    as_json: Json = False,
) -> int:
    """Prove the privacy of a PAPER's training text for all data sets. Exit status 1 where that is not proved.

    With --any for all values of a parameter at once, as real numbers: PROVED for the whole range, or not.
    """
    if any(importlib.util.find_spec(name) is None for name in ("z3", "cvc5")):
        raise InvalidParameter("prove needs two solvers: install the extra, refdp[proofs]")
    if classes is not None and (classes < 0 or classes == 1):
        raise InvalidParameter(f"--classes {classes}: 0 for a regression, or 2 and more, are allowed")
    from refdp.faces.commands.output import bar, emit
    from refdp.faces.registry import paper as find
    from refdp.prove.report import proved

    chosen = settings(set_, epsilon=epsilon, relation=relation, delta=delta)
    params = find(paper).params(chosen, as_published=as_published)
    targets = (0, 2) if classes is None else (classes,)
    with bar(f"prove {paper}") as progress:
        report = proved(paper, params, targets, lambda done: progress(done, None, f"prove {paper}, releases"),
                        ranges(any_))  # fmt: skip
    emit(report.to_dict(), page(report), as_json)
    return 0 if report.verdict == "PROVED" else 1


def ranges(given: list[str] | None) -> dict[str, tuple[float, float] | None]:
    """From "name=low..high", or "name" for all that is allowed. Errors: InvalidParameter for another form."""
    found: dict[str, tuple[float, float] | None] = {}
    for text in given or ():
        name, equals, ends = text.partition("=")
        low, dots, high = ends.partition("..")
        if name in found or not name or (equals and not dots):
            raise InvalidParameter(f"--any {text!r}: name=low..high is needed, or a name, once each")
        if equals:
            try:
                found[name] = float(low), float(high)
            except ValueError:
                raise InvalidParameter(f"--any {text!r}: {ends!r} are no two numbers") from None
        else:
            found[name] = None
    return found


def page(report: Report) -> Any:
    """For people."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    proved = report.verdict == "PROVED"
    grid.add_row("verdict", Text(report.verdict, "bold green" if proved else "bold red"))
    grid.add_row("paper", f"{report.paper}, {report.relation.value}")
    grid.add_row("statement", report.statement)
    for what, sentences in (("covers", report.covers), ("trusted", report.trusted)):
        for sentence in sentences:
            grid.add_row(what, sentence)
    grid.add_row("questions", f"{report.questions} of {report.releases} releases, {report.single} rest on one solver")
    grid.add_row("seconds", f"{report.seconds:.1f} of processor time")
    lines = [
        Text(f"\n{one.kind} at {one.release or 'the whole'}  {one.line}\n  {one.reason}") for one in report.failures
    ]
    for text, one in zip(lines, report.failures, strict=True):
        for name, value in one.counterexample.items():
            text.append(f"\n  {name} = {value}", style="dim")
    return Group(grid, *lines)
