"""Files that somebody edited, with checksums that fit: one error that names what is wrong, and never a model."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.conform import files, tape_file
from refdp.data.forms import from_json
from refdp.data.records import Categorical, Classes, Ensemble, Interval, Model, Numeric, Schema, Tree
from refdp.documents import parsed
from refdp.errors import InvalidParameter, MessageError, ModelFileError
from refdp.faces import cli, registry
from refdp.faces.commands.blackbox import read_pair
from refdp.faces.commands.output import write_text
from refdp.protocols.messages import Rules

DEEP = "[" * 100_000 + "]" * 100_000
HUGE = 10**400
SCHEMA = Schema((Numeric("a", 0.0, 1.0), Categorical("c", ("u", "v"))), Classes(("no", "yes")))
TREE = Tree(np.array([[0.0, 0.5], [1.0, 1.0], [0.0, 0.25]]), np.array([1.0, 2.0, 3.0, 4.0]))
MODEL = Model("sgbdt", {"epsilon": 1.0}, SCHEMA, (Ensemble(0.5, (TREE,), (1.0,)),))
TREE_AT = ("outputs", 0, "trees", 0)
NUMBERS = [("outputs", 0, "initial"), ("outputs", 0, "weights", 0), (*TREE_AT, "leaves", 2), (*TREE_AT, "splits", 1, 1)]


def sealed(body: Any) -> str:
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    return json.dumps({"model": body, "sha256": digest})


def edited(place: tuple[Any, ...], value: Any) -> str:
    body = copy.deepcopy(json.loads(MODEL.to_json())["model"])
    inner = body
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return sealed(body)


def test_a_model_that_is_edited_to_the_same() -> None:
    assert from_json(edited(("outputs", 0, "initial"), 0.5)).to_json() == MODEL.to_json()
    assert from_json(edited(("outputs", 0, "initial"), 2)).scores(np.array([[0.75, 1.0]])) == 2 + 4.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, True, "nan", "1e5", HUGE, [1.0], {}])
@pytest.mark.parametrize("place", NUMBERS)
def test_what_a_model_predicts_with_is_a_finite_number(place: tuple[Any, ...], value: Any) -> None:
    with pytest.raises(ModelFileError, match=r"in place of a finite number|int too large"):
        from_json(edited(place, value))


@pytest.mark.parametrize(("place", "value"), [
    (("params", "epsilon"), HUGE), (("schema", "features", 0, "high"), HUGE), (("version",), True),
    (("schema", "features", 1, "categories"), "uv"), (("schema", "target", "values"), "ny"),
    ((*TREE_AT, "leaves"), "1234"), (("outputs", 0, "weights"), {"1": 1}),
])  # fmt: skip
def test_other_places_of_a_model(place: tuple[Any, ...], value: Any) -> None:
    with pytest.raises(ModelFileError):
        from_json(edited(place, value))


def test_ends_of_a_label_range_are_numbers() -> None:
    regression = Model("sgbdt", {}, Schema(SCHEMA.features, Interval(0.0, 2.0)), MODEL.outputs)
    body = json.loads(regression.to_json())["model"]
    assert from_json(sealed(body)).schema.target == Interval(0.0, 2.0)
    body["schema"]["target"]["high"] = HUGE
    with pytest.raises(ModelFileError, match="int too large"):
        from_json(sealed(body))


def test_depth_is_an_error_of_every_reader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        parsed(DEEP)
    for text in (DEEP, f'{{"model": {DEEP}, "sha256": ""}}'):
        with pytest.raises(ModelFileError, match="not a complete model file"):
            from_json(text)
    rules = Rules("run", SCHEMA, 2, 1, 2, 1.0)
    with pytest.raises(MessageError, match="not a message"):
        rules.read(f'{{"message": {DEEP}, "sha256": ""}}'.encode())
    path = tmp_path / "a" / "deep.json"
    path.parent.mkdir()
    path.write_text(DEEP)
    with pytest.raises(InvalidParameter, match="not JSON lines"):
        tape_file.read(path)
    with pytest.raises(InvalidParameter, match="nested too deeply"):
        files.read(tmp_path)
    for command in (["predict", str(path), "--data", "x.csv"], ["dossier", str(path)], ["audit", "one-run", str(path)]):
        assert cli.run(command) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("score", [HUGE, "1e5", True, None])
def test_scores_of_one_run_are_numbers(score: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"included": [True, False] * 4, "scores": [1.0, 0.0] * 3 + [1.0, score]}))
    assert cli.run(["audit", "one-run", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_numbers_beyond_all_floats_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "pair.json"
    path.write_text(json.dumps({"first": [[HUGE]], "second": [[1.0]]}))
    with pytest.raises(InvalidParameter, match="too large"):
        read_pair(path)
    for paper in ("grove", "sgbdt"):
        for name, given in (("trees", HUGE), ("trees", str(HUGE)), ("epsilon", HUGE), ("epsilon", -HUGE)):
            with pytest.raises(InvalidParameter, match=f"{name} = a whole number of 1329 bits: a"):
                registry.paper(paper).params(
                    {"epsilon": 1.0, "relation": "add-remove", name: given}, as_published=False
                )
        settings = {"epsilon": "1.5", "trees": "3", "relation": "add-remove"}
        read = registry.paper(paper).params(settings, as_published=False)
        assert (read.epsilon, read.trees) == (1.5, 3)


ENVELOPE = json.loads(next(files.vectors("sgbdt", ("encode",)))[2])


@pytest.mark.parametrize(("change", "message"), [
    ({"paper": "other"}, "paper 'other', none of"), ({"kind": None}, "kind None"), ({"paper": []}, "paper"),
    ({"tests": []}, "no list of tests of sgbdt/encode"), ({"tests": None}, "no list of tests"),
    ({"tests": [1]}, "lacks one of id"), ({"tests": [{"id": "a"}]}, "lacks one of id"),
    ({"tests": [{**ENVELOPE["tests"][0], "result": "fine"}]}, "another result than valid"), ({"version": 2}, "version"),
])  # fmt: skip
def test_vectors_that_would_run_nothing(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "sgbdt" / "encode.json"
    path.parent.mkdir()
    path.write_text(json.dumps(ENVELOPE))
    assert files.read(tmp_path) == [ENVELOPE]
    path.write_text(json.dumps(ENVELOPE | change))
    with pytest.raises(InvalidParameter, match=message):
        files.read(tmp_path)


def test_a_page_of_a_text_without_bytes(tmp_path: Path) -> None:
    write_text("--html", tmp_path / "page.html", "a \ud800 b")
    assert (tmp_path / "page.html").read_text() == "a \\ud800 b"
