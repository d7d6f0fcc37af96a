"""Full binary trees in level order, ensembles, and their JSON form."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from refdp import shown
from refdp.data.records import Categorical, Classes, Feature, Floats, Interval, Numeric, Schema, Target
from refdp.errors import InvalidRecords, ModelFileError

SCHEMA_VERSION = 1
_WHOLE = 2**53  # up to here every whole number is a float


@dataclass(frozen=True)
class Tree:
    """A full tree of depth d. Holds released values only.

    splits: shape (2^d - 1, 2), level order: feature index and threshold (or category index) of each inner node; or
      (2^d - 1, 3) with a default direction, 1 where missing values go right. Without one they go left.
    leaves: shape (2^d,), from left to right.
    """

    splits: Floats
    leaves: Floats

    def leaf_index(self, x: Floats, categorical: Any) -> Any:
        """The leaf of every row of x (rows, features): right if x_f >= t, or x_f == v where f is categorical.

        A missing x_f goes in the default direction.
        """
        node = np.zeros(len(x), dtype=np.int64)
        rows = np.arange(len(x))
        for _ in range(len(self.leaves).bit_length() - 1):
            feature = self.splits[node, 0].astype(np.int64)
            value, threshold = x[rows, feature], self.splits[node, 1]
            right = np.where(categorical[feature], value == threshold, value >= threshold)
            if self.splits.shape[1] > 2:
                right |= np.isnan(value) & (self.splits[node, 2] > 0)
            node = 2 * node + 1 + right
        return node - (len(self.leaves) - 1)

    def predict(self, x: Floats, categorical: Any) -> Floats:
        """Leaf value of every row, shape (rows,)."""
        values: Floats = self.leaves[self.leaf_index(x, categorical)]
        return values


@dataclass(frozen=True)
class Ensemble:
    """score = initial + sum over trees of weight times leaf value."""

    initial: float
    trees: tuple[Tree, ...]
    weights: tuple[float, ...]

    def score(self, x: Floats, categorical: Any) -> Floats:
        """Raw score of every row, shape (rows,)."""
        total = np.full(len(x), self.initial)
        for tree, weight in zip(self.trees, self.weights, strict=True):
            total += weight * tree.predict(x, categorical)
        return total


@dataclass(frozen=True, repr=False)
class Model:
    """What a training run publishes: released values, parameters and the public schema.

    outputs: one ensemble, or one for each class.
    """

    paper: str
    params: dict[str, Any]
    schema: Schema
    outputs: tuple[Ensemble, ...]

    def __repr__(self) -> str:
        """One line; `to_json` has everything."""
        return shown.model_line(self)

    def _repr_html_(self) -> str:
        return shown.model_html(self)

    def scores(self, x: Floats) -> Floats:
        """Raw scores, shape (rows, outputs). x must have the schema's columns, categories as indices."""
        if x.ndim != 2 or x.shape[1] != len(self.schema.features):
            raise InvalidRecords(
                f"features of shape {x.shape}, the model was trained on {len(self.schema.features)} columns"
            )
        categorical = np.array([isinstance(feature, Categorical) for feature in self.schema.features])
        return np.column_stack([ensemble.score(x, categorical) for ensemble in self.outputs])

    def to_json(self) -> str:
        """Canonical text: sorted keys, a checksum, and for equal numbers one way to write them, whatever their types
        (`epsilon=4` and `4.0`, numpy's scalars, -0.0) and for equal sequences too. Equal models give equal bytes."""
        body: dict[str, Any] = canonical({
            "version": SCHEMA_VERSION,
            "paper": self.paper,
            "params": self.params,
            "schema": schema_out(self.schema),
            "outputs": [_ensemble_out(ensemble) for ensemble in self.outputs],
        })  # fmt: skip
        return json.dumps({"model": body, "sha256": _digest(body)}, sort_keys=True) + "\n"


def from_json(text: str) -> Model:
    """Read a model written by `Model.to_json`. Errors: ModelFileError when truncated, altered or of another version."""
    try:
        document = json.loads(text)
        body, digest = document["model"], document["sha256"]
    except (ValueError, KeyError, TypeError):
        raise ModelFileError("not a complete model file: it is truncated or was not written by refdp") from None
    if digest != _digest(body):
        raise ModelFileError("the model file was altered: its checksum does not match its content")
    if body["version"] != SCHEMA_VERSION:
        raise ModelFileError(f"model file of schema version {body['version']}, this refdp reads {SCHEMA_VERSION}")
    outputs = tuple(_ensemble_in(ensemble) for ensemble in body["outputs"])
    return Model(body["paper"], body["params"], schema_in(body["schema"]), outputs)


def canonical(data: Any) -> Any:
    """Plain data whose JSON is the same for equal values: whole numbers up to 2^53 as integers, sequences as lists."""
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
    trees = tuple(Tree(_splits_in(t["splits"]), np.array(t["leaves"], dtype=np.float64)) for t in body["trees"])
    return Ensemble(float(body["initial"]), trees, tuple(map(float, body["weights"])))


def _splits_in(rows: list[list[float]]) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(rows[0]) if rows else 2)


def schema_out(schema: Schema) -> dict[str, Any]:
    """A schema as plain data."""
    features = [asdict(feature) for feature in schema.features]
    return {"features": features, "target": asdict(schema.target)}


def schema_in(body: dict[str, Any]) -> Schema:
    """The schema that `schema_out` wrote."""
    features: list[Feature] = [
        Categorical(f["name"], tuple(f["categories"]))
        if "categories" in f
        else Numeric(f["name"], float(f["low"]), float(f["high"]))
        for f in body["features"]
    ]
    given = body["target"]
    target: Target = (
        Classes(tuple(given["values"])) if "values" in given else Interval(float(given["low"]), float(given["high"]))
    )
    return Schema(tuple(features), target)
