"""`refdp certify`: runs of another implementation, from their transcripts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from refdp.errors import InvalidParameter
from refdp.faces.commands.options import BoundsFile, Json, TargetColumn, public_records
from refdp.faces.commands.output import emit


def certify(
    transcripts: Annotated[list[Path], typer.Argument(metavar="TRANSCRIPT ...", help="JSON lines, one file a run.")],
    data: Annotated[str, typer.Option("--data", metavar="NAME_OR_CSV", help="The records of the runs.")],
    model: Annotated[
        list[Path] | None, typer.Option("--model", metavar="FILE", help="The runs' models, one for each transcript.")
    ] = None,
    target: TargetColumn = None,
    bounds: BoundsFile = None,
    test_size: Annotated[float, typer.Option("--test-size", help="Share that was held out, as in refdp train.")] = 0.2,
    as_json: Json = False,
) -> int:
    """Recompute every true value from a run's outputs; check plan, mechanisms, noise and model.

    Exit status 1 for a violation, 3 where something decisive was not examined.
    """
    from refdp.conform import certify as core
    from refdp.conform import tape_file
    from refdp.faces.commands.train_run import parts
    from refdp.io import datasets

    tapes = [tape_file.read(path) for path in transcripts]
    dataset = datasets.load(data, target=target, bounds=bounds, public=True)
    whole = public_records(dataset)
    training = public_records(parts(dataset, test_size, core.relation_of(tapes[0]))[0]) if test_size else whole
    digest = tapes[0].header.get("records")
    records = training if digest == tape_file.records_digest(training) else whole
    try:
        texts = [path.read_bytes().decode() for path in model or ()]  # line ends too as they are
    except (OSError, ValueError) as error:
        raise InvalidParameter(f"--model: cannot be read: {error}") from error
    found = core.certify(tapes, records, texts)
    lines = [f"{row.verdict!s:13} {row.what}: {row.reason}" + f" (smallest error seen: {row.power})" * bool(row.power)
             for row in found.rows]  # fmt: skip
    emit(found.to_dict(), "\n".join([*lines, f"{found.verdict}. About {core.ABOUT}."]) + "\n", as_json)
    return found.status
