"""Models and schemas as files: plain data, and for equal models equal bytes."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np

from refdp.data.records import (
    Categorical,
    Classes,
    Ensemble,
    Feature,
    Floats,
    Interval,
    Model,
    Numeric,
    Schema,
    Target,
    Tree,
)
from refdp.documents import parsed
from refdp.errors import ModelFileError

SCHEMA_VERSION = 1
_WHOLE = 2**53  # up to here every whole number is a float


def model_text(model: Model) -> str:
    """The text of a model file: see `Model.to_json`."""
    body: dict[str, Any] = canonical({
        "version": SCHEMA_VERSION,
        "paper": model.paper,
        "params": model.params,
        "schema": schema_out(model.schema),
        "outputs": [_ensemble_out(ensemble) for ensemble in model.outputs],
    })  # fmt: skip
    return json.dumps({"model": body, "sha256": _digest(body)}, sort_keys=True) + "\n"


def from_json(text: str) -> Model:
    """Read a model written by `Model.to_json`.

    Errors: ModelFileError when truncated, altered or of another version, and for what is no model beside its checksum.
    """
    try:
        document = parsed(text)
        body, digest = document["model"], document["sha256"]
        sound = digest == _digest(body)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ModelFileError("not a complete model file: it is truncated or was not written by refdp") from None
    if not sound:
        raise ModelFileError("the model file was altered: its checksum does not match its content")
    try:
        if type(body["version"]) is not int or body["version"] != SCHEMA_VERSION:
            raise ModelFileError(f"model file of schema version {body['version']}, this refdp reads {SCHEMA_VERSION}")
        outputs = tuple(_ensemble_in(ensemble) for ensemble in body["outputs"])
        model = Model(str(body["paper"]), dict(body["params"]), schema_in(body["schema"]), outputs)
        canonical(model.params)
    except ModelFileError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError, RecursionError) as problem:
        what = f"{type(problem).__name__} {problem}"
        raise ModelFileError(f"not a model file of this refdp, although its checksum fits: {what}") from None
    _check(model)
    return model


def _check(model: Model) -> None:
    """Errors: ModelFileError where predicting would fail or go astray."""
    features = len(model.schema.features)
    if len(model.outputs) != model.schema.scores:
        raise ModelFileError(f"{len(model.outputs)} outputs where the schema's target has {model.schema.scores}")
    for ensemble in model.outputs:
        if len(ensemble.trees) != len(ensemble.weights):
            raise ModelFileError(f"{len(ensemble.trees)} trees with {len(ensemble.weights)} weights")
        for tree in ensemble.trees:
            leaves = tree.leaves.size
            if tree.leaves.ndim != 1 or leaves & (leaves - 1) or len(tree.splits) != leaves - 1:
                raise ModelFileError(f"a tree of {len(tree.splits)} splits and {leaves} leaves: full trees are read")
            if not np.isin(tree.splits[:, 0], np.arange(features)).all() or tree.splits.shape[1] not in (2, 3):
                raise ModelFileError(f"a split by no feature of the schema, which has {features}")


def canonical(data: Any) -> Any:
    """Plain data whose JSON is the same for equal values: whole numbers up to 2^53 as integers, sequences as lists.

    Errors: TypeError for what has no place in a model file.
    """
    match data:
        case bool() | None:
            return data
        case str():
            return str(data)
        case dict():
            return {str(key): canonical(value) for key, value in data.items()}
        case list() | tuple():
            return [canonical(value) for value in data]
        case np.ndarray() | np.generic():
            return canonical(data.tolist())
        case int() | float():
            return _canonical_number(data)
    raise TypeError(f"{data!r} of type {type(data).__name__} has no place in a model file")


def _canonical_number(number: int | float) -> int | float:
    if number != number or abs(number) > _WHOLE:
        return float(number) if float(number) == number else number
    return int(number) if number == int(number) else float(number)


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _ensemble_out(ensemble: Ensemble) -> dict[str, Any]:
    trees = [{"splits": tree.splits.tolist(), "leaves": tree.leaves.tolist()} for tree in ensemble.trees]
    return {"initial": ensemble.initial, "trees": trees, "weights": list(ensemble.weights)}


def _ensemble_in(body: dict[str, Any]) -> Ensemble:
    trees = tuple(Tree(_splits_in(t["splits"]), np.array(_numbers(t["leaves"]))) for t in body["trees"])
    return Ensemble(_number(body["initial"]), trees, tuple(_numbers(body["weights"])))


def _splits_in(rows: list[list[float]]) -> Floats:
    return np.array([_numbers(row) for row in rows]).reshape(len(rows), len(rows[0]) if rows else 2)


def _numbers(values: Any) -> list[float]:
    return [_number(value) for value in _list(values)]


def _number(value: Any) -> float:
    """What a model predicts with: text, null and truth values pass for numbers with numpy, NaN with every comparison.

    Errors: ValueError or OverflowError.
    """
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{value!r} in place of a finite number")
    return float(value)


def _list(values: Any) -> list[Any]:
    if not isinstance(values, (list, tuple)):  # a schema's own form, which was not read from a file, has tuples
        raise ValueError(f"{values!r} in place of a list")
    return list(values)


def schema_out(schema: Schema) -> dict[str, Any]:
    """A schema as plain data."""
    features = [asdict(feature) for feature in schema.features]
    return {"features": features, "target": asdict(schema.target)}


def schema_in(body: dict[str, Any]) -> Schema:
    """The schema that `schema_out` wrote."""
    features: list[Feature] = [
        Categorical(f["name"], tuple(_list(f["categories"])))
        if "categories" in f
        else Numeric(f["name"], float(f["low"]), float(f["high"]))
        for f in body["features"]
    ]
    given = body["target"]
    target: Target = (
        Classes(tuple(_list(given["values"])))
        if "values" in given
        else Interval(float(given["low"]), float(given["high"]))
    )
    return Schema(tuple(features), target)
