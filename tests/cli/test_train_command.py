"""`train` on a few records: the part that is trained on, the files that are written, and what is refused before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.conform import run as conform_run
from refdp.data.forms import from_json
from refdp.data.records import Interval, Numeric, Schema
from refdp.faces import cli, prediction, registry
from refdp.faces.commands import output, train_dask
from refdp.faces.commands.options import public_records
from refdp.faces.seeds import SEED_ASSUMPTION
from refdp.faces.training import source_for, train
from refdp.io import datasets
from refdp.io.datasets import Dataset, held_out_by_record, train_test, train_test_by_record
from refdp.io.export_xgboost import to_xgboost
from refdp.privacy.events import Relation

SCHEMA = Schema((Numeric("a", 0.0, 1.0),), Interval(0.0, 1.0))
X = np.random.default_rng(5).random((40, 1))
DATA = Dataset("people", X, X[:, 0] ** 2, SCHEMA.features, "t", SCHEMA.target, {"a": "given", "t": "given"})
SET = ["--set", "trees=2", "trees_per_ensemble=2", "depth=2", "bins=3"]
GIVEN = ["train", "dpboost", "--data", "people", "--epsilon", "9", "--settings", "paper", *SET]
PAPER = registry.paper("dpboost")


@pytest.fixture(autouse=True)
def people(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The records, and how they were asked for."""
    asked: list[Any] = []
    monkeypatch.setattr(datasets, "load", lambda name, **more: asked.append((name, more)) or DATA)
    return asked


@pytest.mark.parametrize("size", ["1", "-0.1", "2", "nan"])
def test_a_share_that_leaves_nothing_is_refused_before_records_are_read(
    capsys: Any, people: list[Any], size: str
) -> None:
    for more in ([], ["--dask"]):
        assert cli.run([*GIVEN, "--test-size", size, *more]) == 2
        said = capsys.readouterr().err
        assert f"--test-size {size}: a share below 1 is allowed, 0 to hold out none" in said
    assert people == []


def test_where_every_record_was_held_out_that_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    held = np.flatnonzero(held_out_by_record(DATA.x, DATA.y, 0.2))[:2]
    monkeypatch.setattr(datasets, "load", lambda name, **more: DATA.take(held))
    assert cli.run(GIVEN) == 2
    assert "--test-size 0.2 held out every record, and none is left to train on" in capsys.readouterr().err
    monkeypatch.setattr(datasets, "load", lambda name, **more: DATA.take(held[:0]))
    assert cli.run(GIVEN) == 2
    assert "held out" not in capsys.readouterr().err


def params(relation: str) -> Any:
    given = {"epsilon": 9.0, "relation": Relation(relation), "trees": 2, "trees_per_ensemble": 2, "depth": 2, "bins": 3}
    return PAPER.params(given, as_published=False)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("size", [0.2, 0.5, 0.0])
def test_metrics_are_of_the_records_that_were_held_out(
    tmp_path: Path, capsys: Any, people: list[Any], relation: Relation, size: float
) -> None:
    """The model is that of the other part, whose neighbours are neighbours of the whole."""
    out, other = tmp_path / "model.json", tmp_path / "xgboost.json"
    given = [*GIVEN, "--relation", relation, "--seed", "3", "--test-size", str(size), "--json", "--out", str(out)]
    assert cli.run([*given, "--xgboost", str(other), "--target", "t", "--bounds", "b.json"]) == 0
    shown = capsys.readouterr()
    said = json.loads(shown.out)
    by_record = relation is Relation.ADD_REMOVE
    parts = train_test_by_record(DATA, size) if by_record and size else train_test(DATA, size, 0) if size else (DATA,)
    own = params(relation)
    expected = train(PAPER, own, public_records(parts[0]), source_for(own, 3))
    assert out.read_text() == expected.model.to_json() and other.read_text() == to_xgboost(expected.model)
    assert said["metrics"] == (prediction.metrics(expected.model, parts[1]) if size else {})
    assert people == [("people", {"target": "t", "bounds": Path("b.json"), "public": True})]
    certificate = said["certificate"]
    assert certificate["assumptions"] == [*expected.certificate.assumptions, SEED_ASSUMPTION]
    assert shown.err.count(SEED_ASSUMPTION) == 1 and said["paper"] == "dpboost"


def test_a_run_without_a_seed_says_nothing_of_seeds(tmp_path: Path, capsys: Any) -> None:
    models = []
    for name in ("a", "b"):
        assert cli.run([*GIVEN, "--out", str(tmp_path / name)]) == 0
        shown = capsys.readouterr()
        assert SEED_ASSUMPTION not in shown.err + shown.out
        assert f"writtento{tmp_path / name}" in "".join(shown.out.split())
        models.append(from_json((tmp_path / name).read_text()))
    assert repr(models[0].outputs) != repr(models[1].outputs)


def test_a_run_is_recorded_and_played(tmp_path: Path, capsys: Any) -> None:
    tape, first, second = (str(tmp_path / name) for name in ("tape", "first", "second"))
    assert cli.run([*GIVEN, "--record", tape, "--private", "--out", first, "--json"]) == 0
    assert conform_run.RECORDED in json.loads(capsys.readouterr().out)["certificate"]["assumptions"]
    header, *entries = map(json.loads, Path(tape).read_text().splitlines())
    assert header["private"] is True and any("output" in entry for entry in entries)
    assert cli.run([*GIVEN, "--tape", tape, "--out", second, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["certificate"]["established"]["epsilon"] == "inf"
    assert Path(first).read_text() == Path(second).read_text()
    assert cli.run([*GIVEN, "--record", tape]) == 0
    assert f"writtento{tape}" in "".join(capsys.readouterr().out.split())  # however wide lines are
    assert not any("output" in json.loads(line) for line in Path(tape).read_text().splitlines()[1:])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--out", "a", "--xgboost", "a"], "--out a and --xgboost a: two different files are needed"),
        (["--out", "a", "--record", "b/../a"], "--out a and --record b/../a: two different files are needed"),
        (["--xgboost", "a", "--record", "a"], "--xgboost a and --record a: two different files are needed"),
        (["--out", "none/a"], "--out none/a: there is no directory none"),
        (["--xgboost", "none/a"], "--xgboost none/a: there is no directory none"),
        (["--record", "none/a"], "--record none/a: there is no directory none"),
        (["--dask", "local", "--record", "a"], "a tape lists the coins of single records"),
        (["--dask", "local", "--tape", "a"], "a tape lists the coins of single records"),
        (["--private"], "--private: it says what --record FILE writes"),
        (["--set", "depth=0"], "depth"),
    ],
)
def test_what_cannot_be_is_refused_before_a_record_is_read(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, people: list[Any], options: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b").mkdir()
    assert cli.run([*GIVEN, *options]) == 2
    assert told in capsys.readouterr().err and people == []
    assert sorted(one.name for one in tmp_path.iterdir()) == ["b"]


@pytest.mark.parametrize("name", ["p.csv", "./b.json", "t.jsonl", "alias", "same"])
@pytest.mark.parametrize("output", ["--out", "--xgboost"])
def test_no_output_goes_over_what_is_read(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, people: list[Any], output: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for read in ("p.csv", "b.json", "t.jsonl"):
        Path(read).write_text("kept", encoding="utf-8")
    Path("alias").symlink_to("p.csv")
    Path("same").hardlink_to("b.json")
    given = [{"people": "p.csv"}.get(word, word) for word in GIVEN]
    assert cli.run([*given, "--bounds", "b.json", "--tape", "t.jsonl", output, name]) == 2
    assert f"{output} {Path(name)}: a file that is read" in capsys.readouterr().err
    assert Path(name).read_text(encoding="utf-8") == "kept" and people == []


@pytest.mark.parametrize(
    ("options", "told"),
    [(["--out", "one", "--xgboost", "two"], "--out one and --xgboost two: two different files are needed"),
     (["--out", "one", "--xgboost", "three"], "--out one and --xgboost three: two different files are needed"),
     (["--out", "mine.py"], "--out mine.py: a .py file is there, which is no earlier output"),
     (["--xgboost", "part.parquet"], "--xgboost part.parquet: a .parquet file is there"),
     (["--out", "sets/people.csv"], f"--out {Path('sets/people.csv')}: a file that is read"),
     (["--out", "sets/MANIFEST.json"], f"--out {Path('sets/MANIFEST.json')}: a file that is read"),
     (["--out", "loop"], "--out loop: "), (["--out", "report"], "--out report: standard output")],
    ids=lambda one: one[1] if isinstance(one, list) else "",
)  # fmt: skip
def test_each_output_is_a_file_of_its_own(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, people: list[Any], options: list[str], told: str
) -> None:
    """By whatever name; nor a file of another kind, a stored data set's, or where standard output goes."""
    monkeypatch.chdir(tmp_path)
    Path("sets").mkdir()
    for name in ("one", "mine.py", "part.parquet", "sets/people.csv", "report"):
        Path(name).write_text("kept", encoding="utf-8")
    Path("sets/MANIFEST.json").write_text('{"datasets": [{"name": "people", "file": "people.csv"}]}', encoding="utf-8")
    monkeypatch.setenv("REFDP_DATA", "sets")
    Path("two").hardlink_to("one")
    Path("three").symlink_to("one")
    Path("loop").symlink_to("loop")
    with Path("report").open("r+") as shown:
        monkeypatch.setattr("refdp.faces.commands.output.sys.stdout", shown) if options[1] == "report" else None
        assert cli.run([*GIVEN, *options]) == 2
        monkeypatch.undo()
    assert told in capsys.readouterr().err and people == []
    kept = ("one", "mine.py", "part.parquet", "sets/people.csv", "report")
    assert all((tmp_path / name).read_text(encoding="utf-8") == "kept" for name in kept)


def test_a_link_to_no_file_yet_stays_one(tmp_path: Path) -> None:
    link, target = tmp_path / "current", tmp_path / "next"
    link.symlink_to(target)
    output.check_writable("--out", link)
    assert link.is_symlink() and not target.exists()


@pytest.mark.parametrize(("place", "address"), [("local", None), ("tcp://a:1", "tcp://a:1")])
def test_a_cluster_is_asked_for_by_its_address(
    capsys: Any, monkeypatch: pytest.MonkeyPatch, people: list[Any], place: str, address: str | None
) -> None:
    asked: list[Any] = []

    def distributed(*given: Any) -> Any:
        asked.append(given)
        own = params("add-remove")
        return DATA, train(PAPER, own, public_records(DATA), source_for(own, 3)), {"rmse": 0.5}

    monkeypatch.setattr(train_dask, "distributed", distributed)
    given = [*GIVEN, "--dask", place, "--target", "t", "--bounds", "b.json", "--test-size", "0.3", "--rows", "500"]
    assert cli.run([*given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"] == {"rmse": 0.5} and people == []
    ((paper, settings, how, data, target, bounds, _, size, relation, where),) = asked
    assert (paper.name, settings["epsilon"], data, target, bounds) == ("dpboost", 9.0, "people", "t", Path("b.json"))
    assert how == {"as_published": False, "settings": "paper", "rows": 500}
    assert (size, relation, where) == (0.3, Relation.ADD_REMOVE, address)
