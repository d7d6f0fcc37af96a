"""`refdp recommend`: which estimator with which settings, and what to expect, from public figures."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from refdp.faces.commands.options import Delta, Json, RelationOption
from refdp.faces.commands.output import emit
from refdp.privacy.events import Relation


def recommend(
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy budget.")],
    rows: Annotated[int, typer.Option("--rows", help="Public round number of records.")],
    features: Annotated[int, typer.Option("--features", help="Number of features.")],
    task: Annotated[
        str, typer.Option("--task", metavar="TASK", help="classification (binary), multiclass or regression.")
    ],
    delta: Delta = None,
    classes: Annotated[int, typer.Option("--classes", help="Number of classes.")] = 2,
    relation: RelationOption = Relation.ADD_REMOVE,
    as_json: Json = False,
) -> None:
    """Say which estimator to use, with which settings, and what to expect, from a table of measured runs."""
    from refdp.faces.recommend import recommend as recommended

    found = recommended(epsilon, delta, rows, features, task, classes=classes, relation=relation)
    emit(found.to_dict(), Text(str(found)), as_json)
