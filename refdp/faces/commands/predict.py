"""`refdp predict`: apply a model file to a CSV file."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refdp.errors import ModelFileError
from refdp.faces.commands.options import Json
from refdp.faces.commands.output import emit

if TYPE_CHECKING:
    from refdp.data.records import Model


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file written by train.")],
    data: Annotated[Path, typer.Option("--data", metavar="CSV", help="Records with the model's feature columns.")],
    as_json: Json = False,
) -> None:
    """Predict for every record of a CSV file; columns that the model does not know are ignored."""
    import numpy as np

    from refdp.io.domains import values_of
    from refdp.io.tables import read_table

    read = load_model(model)
    table = read_table(data)
    x = np.column_stack([values_of(table, feature) for feature in read.schema.features])
    document = _document(read, x)
    emit(document, _csv(document), as_json)


def load_model(path: Path) -> Model:
    """The model in a file. Errors: ModelFileError, with the file's name."""
    from refdp.data.forms import from_json

    try:
        return from_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelFileError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, ModelFileError) as error:
        raise ModelFileError(f"{path}: {error}") from error
    except RecursionError as error:
        raise ModelFileError(f"{path}: not a model file of this refdp, nested too deeply") from error


def _document(model: Model, x: Any) -> dict[str, Any]:
    from refdp.data.records import Classes
    from refdp.faces import prediction

    if not isinstance(model.schema.target, Classes):
        return {"paper": model.paper, "predictions": prediction.scores(model, x).tolist()}
    labels = model.schema.target.values
    return {
        "paper": model.paper,
        "classes": list(labels),
        "predictions": [labels[index] for index in prediction.classes(model, x)],
        "probabilities": prediction.probabilities(model, x).tolist(),
    }


def _csv(document: dict[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    labels = document.get("classes", [])
    writer.writerow(["prediction", *(f"probability of {label}" for label in labels)])
    chances = document.get("probabilities", [[]] * len(document["predictions"]))
    writer.writerows([value, *chance] for value, chance in zip(document["predictions"], chances, strict=True))
    return text.getvalue()
