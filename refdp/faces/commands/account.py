"""`refdp account`: what a composition of mechanisms costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from refdp.errors import InvalidParameter
from refdp.faces.commands.options import Json, RelationOption, written
from refdp.privacy.events import Relation

Items = list[str] | None


def _repeated(option: str, form: str, what: str) -> Any:
    return typer.Option(option, metavar=form, help=f"{what}, COUNT times. May be given again.")


def account(
    context: typer.Context,
    gaussian: Annotated[Items, _repeated("--gaussian", "SDxCOUNT", "Gaussian noise of this deviation")] = None,
    laplace: Annotated[Items, _repeated("--laplace", "SCALExCOUNT", "Laplace noise of this scale")] = None,
    exponential: Annotated[
        Items, _repeated("--exponential", "EPSxCOUNT", "Exponential mechanism of this epsilon")
    ] = None,
    poisson: Annotated[
        float | None, typer.Option("--poisson", metavar="RATE", help="All that is released is of Poisson samples.")
    ] = None,
    without_replacement: Annotated[
        float | None,
        typer.Option("--without-replacement", metavar="RATE", help="The same of samples of a fixed size."),
    ] = None,
    relation: RelationOption = Relation.ADD_REMOVE,
    sample_relation: Annotated[
        Relation | None,
        typer.Option("--sample-relation", help="What the unit sensitivities in samples are for, if not --relation."),
    ] = None,
    group: Annotated[int, typer.Option("--group", help="So many records change together.")] = 1,
    delta: Annotated[float | None, typer.Option("--delta", help="Find epsilon at this delta.")] = None,
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="Find delta at this epsilon.")] = None,
    plan: Annotated[Path | None, typer.Option("--plan", metavar="FILE", help="A plan of releases in TOML.")] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE", help="Write the enclosure for python -m proofs.accounting FILE."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Epsilon and delta of mechanisms of unit sensitivity, with an enclosure of the exact figure.

    With both --delta and --epsilon the least noise of one item is found that is given without, such as --gaussian x100.
    """
    from refdp.accounting.report import account_command, render
    from refdp.faces.commands.output import emit

    if plan is not None and written(context, ["relation"]):
        raise InvalidParameter(f"--relation {relation.value}: not allowed with --plan {plan}, which says its relation")
    fields = account_command(
        gaussian=gaussian or (),
        laplace=laplace or (),
        exponential=exponential or (),
        poisson=poisson,
        without_replacement=without_replacement,
        relation=relation,
        sample_relation=sample_relation,
        group=group,
        delta=delta,
        epsilon=epsilon,
        plan_file=plan,
        certificate_file=certificate,
    )
    emit(fields, render(fields), as_json)
