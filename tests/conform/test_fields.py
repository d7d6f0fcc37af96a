"""The specification names every field that vectors have: inputs and outputs by operation, schemas, files."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
COMMON = (ROOT / "docs/spec/common.md").read_text(encoding="utf-8")
CONFORMANCE = (ROOT / "docs/conformance.md").read_text(encoding="utf-8")


@cache
def files() -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "conform").glob("*/*.json"))]


@cache
def rows() -> dict[str, tuple[set[str], set[str]]]:
    """Words of the inputs and outputs of each operation."""
    table = COMMON.partition("## Operations")[2].partition("## Model files")[0]
    found = [line.strip("| \n").split(" | ") for line in table.splitlines() if line.startswith("|")][2:]
    return {name: (set(re.findall(r"\w+", given)), set(re.findall(r"\w+", told))) for name, given, told in found}


def test_every_field_of_an_input_or_an_answer_is_in_its_operations_row() -> None:
    missing = set()
    for body in files():
        for test in body["tests"]:
            for operation in test["operations"]:
                for words, fields in zip(rows()[operation], (test["input"], test["expect"]), strict=True):
                    missing |= {(operation, field) for field in fields if field not in words}
    assert missing == set()


def test_every_field_of_a_schema_is_described() -> None:
    (told,) = [part for part in COMMON.split("\n\n") if part.startswith('A schema is {"features", "target"}')]
    found: set[str] = set()
    for body in files():
        for test in body["tests"]:
            if schema := test["input"].get("schema"):
                found |= {*schema, *schema["target"], *(field for one in schema["features"] for field in one)}
    assert found == set(re.findall(r'"(\w+)"', told.partition("params has")[0]))


@pytest.mark.parametrize(("title", "of"), [("of a file", "files"), ("of a vector", "tests")])
def test_every_field_of_a_file_and_of_a_vector_is_described(title: str, of: str) -> None:
    table = CONFORMANCE.partition(f"| {title} |")[2].partition("\n\n")[0]
    told = {word for line in table.splitlines()[2:] for word in line.strip("| ").split(" | ")[0].split(", ")}
    bodies = files() if of == "files" else [test for body in files() for test in body["tests"]]
    found = {field for body in bodies for field in body} - {"format", "version"}
    assert found == told
