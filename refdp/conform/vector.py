"""What a vector is, and the JSON that all kinds share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refdp.conform.plain import array_out, hexed, mechanism_out, plain_number
from refdp.conform.tape_file import law_out
from refdp.data.forms import canonical, schema_out
from refdp.data.records import Ensemble, Model, Records, Schema
from refdp.privacy.curator import Transcript
from refdp.privacy.sources import Listed

CHOICES = {"dpboost": {"choices": 4}, "inprivate": {"choices": 4}, "dpxgboost": {"choices": 4}}
"""The tolerance of vectors with choices, by paper; the other papers have none."""


@dataclass(frozen=True)
class Vector:
    """One test. operation: what is asked of the program, with `input`; expect: its answer; flags: mistakes it catches.

    result: "valid"; or "invalid", where the program has to refuse; comment says why. tolerance: {"ulps": n} where the
    specification leaves the last places open, {"choices": n} where a choice may differ by a margin (see `margins`).
    """

    operation: str
    comment: str
    input: dict[str, Any]
    expect: dict[str, Any]
    flags: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    result: str = "valid"
    tolerance: dict[str, int] = field(default_factory=dict)

    def to_json(self, name: str) -> dict[str, Any]:
        """As plain data, under an id."""
        return {
            "id": name,
            "comment": self.comment,
            "flags": list(self.flags),
            "claims": list(self.claims),
            "input": self.input,
            "operations": [self.operation],
            "expect": self.expect,
            "result": self.result,
            **({"tolerance": self.tolerance} if self.tolerance else {}),
        }


def floats(values: Any) -> dict[str, Any]:
    """An array of floats."""
    return array_out(np.asarray(values, dtype=np.float64))


def wholes(values: Any) -> dict[str, Any]:
    """An array of whole numbers."""
    return array_out(np.asarray(values, dtype=np.int64))


def schema_json(schema: Schema) -> dict[str, Any]:
    """A schema with hexadecimal bounds."""
    body = schema_out(schema)
    parts = [*body["features"], body["target"]]
    hexadecimal = [{key: plain_number(value) for key, value in part.items()} for part in parts]
    return {"features": hexadecimal[:-1], "target": hexadecimal[-1]}


def params_json(params: Any) -> dict[str, Any]:
    """All parameters, floats hexadecimal."""
    from dataclasses import asdict

    return {key: plain_number(str(value) if key == "relation" else value) for key, value in asdict(params).items()}


def records_json(records: Records) -> dict[str, Any]:
    """Features and labels."""
    return {"x": floats(records.x), "y": floats(records.y)}


def tape_json(tape: Sequence[Listed], transcript: Transcript) -> list[dict[str, Any]]:
    """A tape's entries, with the mechanisms of the releases: for programs that leave calibration to others."""
    found = []
    for one, entry in zip(tape, transcript.entries, strict=True):
        mechanism = entry.request.mechanism
        body = {"path": one.name, "kind": one.kind, "law": law_out(one.law), **array_out(one.values)}
        found.append(body if mechanism is None else {**body, "mechanism": mechanism_out(mechanism)})
    return found


def outcome_json(model: Model, transcript: Transcript) -> dict[str, Any]:
    """True value and output of every release, in order, and the model."""
    releases = [
        {"path": entry.request.name, "value": array_out(entry.value), "output": array_out(entry.output)}
        for entry in transcript.entries
        if entry.value is not None
    ]
    return {"releases": releases, "model": [ensemble_json(one) for one in model.outputs]}


def ensemble_json(ensemble: Ensemble) -> dict[str, Any]:
    """One score's trees."""
    trees = [{"splits": floats(tree.splits), "leaves": floats(tree.leaves)} for tree in ensemble.trees]
    return {"initial": hexed(ensemble.initial), "weights": [hexed(w) for w in ensemble.weights], "trees": trees}


def defaults_json(params: type) -> dict[str, Any]:
    """The parameters that have a default."""
    from dataclasses import MISSING, fields

    found = {one.name: one.default for one in fields(params) if one.default is not MISSING}
    return {key: plain_number(canonical(value)) for key, value in found.items()}
