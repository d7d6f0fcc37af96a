"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refdp.errors import InvalidParameter
from refdp.faces.registry import OWN, PAPERS
from refdp.privacy.events import Relation

if TYPE_CHECKING:
    from refdp.data.records import Records
    from refdp.io.datasets import Dataset


def papers_like(incomplete: str) -> list[str]:
    """For a shell's completion: the papers that begin so."""
    return [name for name in (*PAPERS, *OWN) if name.startswith(incomplete)]


PaperName = Annotated[
    str, typer.Argument(metavar="PAPER", help=f"One of {', '.join((*PAPERS, *OWN))}.", autocompletion=papers_like)
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
RelationOption = Annotated[
    Relation, typer.Option("--relation", metavar="RELATION", help="Neighbours: add-remove or replace-one.")
]
Published = Annotated[bool, typer.Option("--as-published", help="The paper's own constants, refuted ones too.")]
TargetColumn = Annotated[
    str | None, typer.Option("--target", help="Column to predict; a CSV file's last one by default.")
]
BoundsFile = Annotated[
    Path | None,
    typer.Option("--bounds", help="JSON file: {column: \\[low, high] or \\[category, ...]}, the target's too."),
]
Delta = Annotated[float | None, typer.Option("--delta", help="Privacy parameter delta, where the paper has one.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE ...", help="Other parameters of the paper; an unknown KEY brings the list of them."
    ),
]


def written(context: typer.Context, names: Sequence[str]) -> list[str]:
    """Those of a command's parameters that stand on the command line, not at their defaults."""
    return [name for name in names if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"]


def settings(given: Sequence[str] | None, **options: Any) -> dict[str, Any]:
    """Options that are not None, and key=value pairs.

    Errors: InvalidParameter for text of another form, or for what is set twice.
    """
    found = {name: value for name, value in options.items() if value is not None}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InvalidParameter(f"--set {text!r}: key=value is needed")
        if key in found:
            raise InvalidParameter(f"--set {text!r}: {key} is set already, to {found[key]}")
        found[key] = value
    return found


def public_records(dataset: Dataset) -> Records:
    """The records of a data set all of whose bounds are public. Errors: InvalidRecords."""
    from refdp.io.datasets import check_public

    check_public(dataset.name, dataset.sources)
    return dataset.records()
