"""What vectors say has to be refused is refused by refdp itself, at what is wrong and not at something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.conform.files import TEXTS
from refdp.conform.plain import array_in
from refdp.conform.tape_file import law_in
from refdp.data.records import Categorical, Classes, Interval, Numeric, Schema, make_records
from refdp.errors import RefdpError
from refdp.faces import registry
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import Listed
from refdp.privacy.tape import TapeSource

VECTORS = Path(__file__).parents[2] / "conform"


def number(value: Any) -> Any:
    hexadecimal = isinstance(value, str) and value.lstrip("-").startswith(("0x", "inf", "nan"))
    return float.fromhex(value) if hexadecimal else value


def schema_in(body: dict[str, Any]) -> Schema:
    def of(one: dict[str, Any]) -> Numeric | Categorical:
        if "categories" in one:
            return Categorical(one["name"], tuple(one["categories"]))
        return Numeric(one["name"], number(one["low"]), number(one["high"]))

    target = body["target"]
    found = (
        Classes(tuple(target["values"]))
        if "values" in target
        else Interval(number(target["low"]), number(target["high"]))
    )
    return Schema(tuple(of(one) for one in body["features"]), found)


def answered(paper: str, test: dict[str, Any]) -> None:
    """refdp's own answer. Errors: what it refuses."""
    given, module = test["input"], registry.paper(paper).module
    params = {name: number(value) for name, value in given["params"].items()}
    for name, value in params.items():
        params[name] = tuple(map(number, value)) if isinstance(value, list) else value
    made = module.Params(**{**params, "relation": Relation(params["relation"])})
    if test["operations"] == ["plan"]:
        module.plan(made, schema_in(given["schema"]))
        return
    records = make_records(schema_in(given["schema"]), array_in(given["x"]), array_in(given["y"]))
    tape = [Listed(tuple(one["path"].split("/")), one["kind"], law_in(one["law"]), array_in(one))
            for one in given["tape"]]  # fmt: skip
    source = TapeSource(tape)
    with np.errstate(all="ignore"):
        module.train(made, records, Curator(source, made.relation))
    source.finish()


def listed(paper: str, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((VECTORS / paper / f"{kind}.json").read_text(encoding="utf-8"))["tests"]
    return found


@pytest.mark.parametrize("paper", TEXTS)
def test_refdp_refuses_what_vectors_say_is_refused(paper: str) -> None:
    accepted = []
    for test in listed(paper, "negative"):
        if test["result"] == "valid":
            answered(paper, test)
            continue
        try:
            answered(paper, test)
        except (RefdpError, ValueError) as error:
            assert isinstance(error, RefdpError) or "is not a valid Relation" in str(error), test["id"]
        else:
            accepted.append((test["id"], test["comment"]))
    assert accepted == []


@pytest.mark.parametrize("paper", TEXTS)
def test_the_same_reading_accepts_runs_that_are_right(paper: str) -> None:
    for test in listed(paper, "train")[::7]:
        answered(paper, test)


def test_refusals_are_of_every_kind() -> None:
    """Of some paper at least: each of these is asked."""
    said = " ".join(test["comment"] for paper in TEXTS for test in listed(paper, "negative"))
    for what in ("halves of its shares", "half of its rate", "one number more", "fraction doubled", "fractions doubled",
                 "turned round", "label of nan", "label of 3.0", "log loss of a regression", "no feature can be split",
                 "in place of", "that is nan", "that is inf", "uniform draw of 1", "uniform draw below 0",
                 "does not exist", "below 0", "is excluded", "block below -1", "block that is too large",
                 "relation of another name"):  # fmt: skip
        assert what in said, what
