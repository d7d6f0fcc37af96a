"""The vectors are those that refdp makes, an independent program confirms them, and what they are is counted."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from refdp.conform import files, normative
from refdp.conform.files import TEXTS
from refdp.errors import InvalidParameter
from refdp.faces import cli

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "conform"
CHECKER = VECTORS / "clients" / "reference.py"


@pytest.mark.parametrize("paper", TEXTS)
def test_the_vectors_are_reproduced_byte_for_byte(paper: str) -> None:
    """`refdp conform --vectors conform` writes them anew."""
    made = {kind: text for _, kind, text in files.vectors(paper)}
    kept = {path.stem: path.read_text(encoding="utf-8") for path in (VECTORS / paper).glob("*.json")}
    assert sorted(made) == sorted(kept)
    assert [kind for kind in made if made[kind] != kept[kind]] == []


def test_there_are_enough_of_them_and_they_are_small() -> None:
    envelopes = files.read(VECTORS)
    assert {body["paper"] for body in envelopes} == set(TEXTS)
    assert sum(len(body["tests"]) for body in envelopes) >= 2000
    kinds = {(body["paper"], body["kind"]) for body in envelopes}
    assert {(paper, kind) for paper in TEXTS for kind in files.KINDS} - files.ABSENT == kinds
    assert sum(path.stat().st_size for path in VECTORS.glob("*/*.json")) < 20e6
    for body in envelopes:
        assert all(len(json.dumps(one)) <= 8192 for one in arrays(body["tests"])), "128 leaves of two sums are the most"


ONE_VALUE = {
    "dpboost": set(),
    "inprivate": {"scheme"},
    "dpxgboost": {"delta"},
    "fedgbdt": {"splits", "rounds", "rounds_per_feature", "features_per_tree", "interactions", "sensitivities",
                "noise_by"},
    "sgbdt": {"relation"},
    "grove": set(),
}  # fmt: skip
"""Settings that no plan and no whole run varies: docs/conformance.md names them."""


@pytest.mark.parametrize("kind", ["plan", "train"])
@pytest.mark.parametrize("paper", TEXTS)
def test_every_other_setting_has_several_values_and_is_left_out_where_it_may_be(paper: str, kind: str) -> None:
    """A program that has a value written into it, or does not know what follows from none, is wrong somewhere."""
    body = json.loads((VECTORS / paper / f"{kind}.json").read_text(encoding="utf-8"))
    given = [test["input"]["params"] for test in body["tests"]]
    values = {name: {json.dumps(one[name]) for one in given} for name in given[0]}
    held = {"records_each"} if (paper, kind) == ("fedgbdt", "train") else set()  # not of records in one place
    assert {name for name, found in values.items() if len(found) == 1} == ONE_VALUE[paper] | held
    absent = {name for name, default in body["defaults"].items() if default is None} - ONE_VALUE[paper]
    never = {("grove", "train"): {"trees"}}.get((paper, kind), set())  # at least 200: fresh runs have them
    assert {name for name in absent if "null" not in values[name]} == never
    assert all(len(values[name]) > 2 for name in absent - never)


def arrays(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value] if "dtype" in value else [one for inner in value.values() for one in arrays(inner)]
    return [one for inner in value for one in arrays(inner)] if isinstance(value, list) else []


def fits(schema: dict[str, Any], value: Any) -> bool:
    """The part of JSON schema that `files.SCHEMA` uses."""
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    kinds = {"object": dict, "array": list, "string": str}
    if not isinstance(value, kinds[schema["type"]]):
        return False
    if schema["type"] == "array":
        return all(fits(schema["items"], one) for one in value)
    known = schema.get("properties", {})
    return not isinstance(value, dict) or (
        set(schema.get("required", [])) <= set(value)
        and (schema.get("additionalProperties", True) or set(value) <= set(known))
        and all(fits(known[name], one) for name, one in value.items() if name in known)
    )


def test_files_fit_their_schema() -> None:
    schema = json.loads((VECTORS / "schema.json").read_text())
    assert schema == files.SCHEMA
    envelopes = files.read(VECTORS)
    assert all(fits(schema, body) for body in envelopes)
    broken = {**envelopes[0], "tests": [{**envelopes[0]["tests"][0], "result": "perhaps"}]}
    assert not fits(schema, broken)


def test_ids_are_unique_and_floats_are_hexadecimal() -> None:
    ids = [test["id"] for body in files.read(VECTORS) for test in body["tests"]]
    assert len(set(ids)) == len(ids)
    written = re.compile(r"-?(0x[01]\.?[0-9a-f]*p[+-]\d+|inf)|nan")
    for body in files.read(VECTORS):
        for one in arrays(body["tests"]):
            pattern = re.compile(r"-?\d+") if one["dtype"] == "int64" else written
            assert all(pattern.fullmatch(text) for text in one["values"])


def test_the_specification_digest_follows_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    envelopes = files.read(VECTORS)
    assert {body["specification"] for body in envelopes if body["paper"] == "dpboost"} == {normative.digest("dpboost")}
    plain = normative.source
    monkeypatch.setattr(normative, "source", lambda name: plain(name).replace("regularisation", "lam"))
    assert normative.digest("dpboost") != envelopes[0]["specification"]


def test_an_independent_program_confirms_every_exact_vector() -> None:
    """Standard library, rational arithmetic; it imports neither refdp nor numpy."""
    text = CHECKER.read_text()
    imported = set(re.findall(r"^(?:import|from) (\w+)", text, flags=re.MULTILINE))
    assert imported <= {"__future__", "itertools", "json", "math", "random", "sys", "decimal", "fractions", "pathlib"}
    done = subprocess.run([sys.executable, "-I", str(CHECKER), "--check", str(VECTORS)], capture_output=True, text=True)
    counts = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0 and counts["wrong"] == 0 and counts["confirmed"] >= 3800, done.stdout
    fresh = sum(len(body["tests"]) for body in files.read(VECTORS) if body["kind"] == "statistical")
    assert counts["skipped"] == fresh, "all but those that ask for draws of the program's own are recomputed"


def test_the_independent_program_can_disagree(tmp_path: Path) -> None:
    text = (VECTORS / "dpboost" / "mechanism.json").read_text()
    head, first, *rest = text.splitlines()
    test = json.loads(first.rstrip(","))
    values = test["expect"]["output"]["values"]
    values[0] = float.fromhex(values[0]).__add__(2.0**-40).hex()
    (tmp_path / "dpboost").mkdir()
    (tmp_path / "dpboost" / "mechanism.json").write_text("\n".join([head, json.dumps(test) + ",", *rest]))
    done = subprocess.run([sys.executable, str(CHECKER), "--check", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1 and "wrong: dpboost/mechanism/001" in done.stdout


def test_the_command_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(files, "KINDS", {"grid": files.KINDS["grid"]})
    monkeypatch.setattr(files.vectors, "__defaults__", (None, ("grid",)))
    assert cli.run(["conform", "--vectors", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vectors"] == 336
    assert (tmp_path / "dpboost" / "grid.json").read_bytes() == (VECTORS / "dpboost" / "grid.json").read_bytes()


def test_what_holds_no_vectors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="no vectors in"):
        files.read(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.json").write_text("{")
    with pytest.raises(InvalidParameter, match="cannot be read"):
        files.read(tmp_path)
